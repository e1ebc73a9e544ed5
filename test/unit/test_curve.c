/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The space-filling curve: every site once, every step to a neighbour, and
 * stretches of it more compact than those of the orders that come to mind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "grid_fabric.h"
#include "dateline/torus.h"

#define MAX_STRETCH 64

/* Hops by walking: the slow and obvious distance. */
static uint32_t walk_distance(const struct dl_torus_grid *g, uint32_t a, uint32_t b)
{
	uint32_t n = dl_torus_grid_sites(g), *queue = malloc(n * sizeof(*queue));
	uint32_t *hops = malloc(n * sizeof(*hops)), head, tail = 0, found;
	unsigned int dir;

	assert_true(queue && hops);
	memset(hops, 0xFF, n * sizeof(*hops));
	queue[tail++] = a;
	hops[a] = 0;
	for (head = 0; head < tail; head++) {
		for (dir = 0; dir < DL_TORUS_DIRS; dir++) {
			uint32_t next = dl_torus_site_next(g, queue[head], dir);

			if (next == DL_NONE || hops[next] != DL_NONE)
				continue;
			hops[next] = hops[queue[head]] + 1;
			queue[tail++] = next;
		}
	}
	found = hops[b];
	free(queue);
	free(hops);
	return found;
}

static void distance_is_the_hops(void **state)
{
	struct test_random r = { .seed = test_seed(11) };
	unsigned int i, d;

	(void)state;
	for (i = 0; i < 300; i++) {
		struct dl_torus_grid g;
		uint32_t a, b;

		for (d = 0; d < DL_TORUS_DIMS; d++) {
			g.radix[d] = 1 + test_random(&r, 7);
			g.mesh[d] = test_random(&r, 2);
		}
		a = test_random(&r, dl_torus_grid_sites(&g));
		b = test_random(&r, dl_torus_grid_sites(&g));
		assert_int_equal(dl_torus_site_distance(&g, a, b), walk_distance(&g, a, b));
	}
}

/* Every site once, each next to the one before it, also in a mesh. */
static void check_walk(uint32_t x, uint32_t y, uint32_t z)
{
	struct dl_torus_grid g = { { x, y, z }, { true, true, true } };
	uint32_t n = dl_torus_grid_sites(&g), i, *order = calloc(n, sizeof(*order));
	bool *seen = calloc(n, sizeof(*seen));

	assert_true(order && seen);
	assert_int_equal(dl_torus_curve(&g, order), 0);
	assert_true(order[0] == 0 || n > 2);
	for (i = 0; i < n; i++) {
		assert_true(order[i] < n && !seen[order[i]]);
		seen[order[i]] = true;
		if (i && dl_torus_site_distance(&g, order[i - 1], order[i]) != 1)
			fail_msg("%ux%ux%u: step %u is none", x, y, z, i);
	}
	free(order);
	free(seen);
}

static void every_box_is_walked(void **state)
{
	struct test_random r = { .seed = test_seed(12) };
	uint32_t x, y, z, i;

	(void)state;
	for (x = 1; x <= 7; x++)
		for (y = 1; y <= 7; y++)
			for (z = 1; z <= 7; z++)
				check_walk(x, y, z);
	for (x = 1; x <= 18; x++)
		for (y = 1; y <= 18; y++) {
			check_walk(x, y, 1);
			check_walk(1, x, y);
			check_walk(y, 1, x);
		}
	for (i = 0; i < 20; i++)
		check_walk(1 + test_random(&r, 40), 1 + test_random(&r, 33),
			   1 + test_random(&r, 37));
	check_walk(255, 61, 1);
	check_walk(255, 1, 1);
	check_walk(9, 7, 255);
}

/* ---- how compact ------------------------------------------------------- */

/* The order of the numbers. */
static void count_up(const struct dl_torus_grid *g, uint32_t *order)
{
	uint32_t i;

	for (i = 0; i < dl_torus_grid_sites(g); i++)
		order[i] = i;
}

/* To and fro along x, then along y. */
static void snake(const struct dl_torus_grid *g, uint32_t *order)
{
	uint32_t n = 0, c[DL_TORUS_DIMS], y, x;

	for (c[2] = 0; c[2] < g->radix[2]; c[2]++)
		for (y = 0; y < g->radix[1]; y++)
			for (x = 0; x < g->radix[0]; x++) {
				c[1] = c[2] % 2 ? g->radix[1] - 1 - y : y;
				c[0] = n / g->radix[0] % 2 ? g->radix[0] - 1 - x : x;
				order[n++] = dl_torus_site(g, c);
			}
}

/*
 * Mean hops between two sites of a stretch, over all stretches of so many; and
 * the sum of that over lengths 4, 8, ... up to 64 or half of all.
 */
static double spread(const struct dl_torus_grid *g, const uint32_t *order, uint32_t length)
{
	uint32_t n = dl_torus_grid_sites(g), i, a, b, pairs = 0;
	double hops = 0;

	for (i = 0; i + length <= n; i++)
		for (a = 0; a < length; a++)
			for (b = a + 1; b < length; b++, pairs++)
				hops += dl_torus_site_distance(g, order[i + a], order[i + b]);
	return hops / pairs;
}

static double spread_sum(const struct dl_torus_grid *g, const uint32_t *order)
{
	uint32_t length;
	double sum = 0;

	for (length = 4; length <= MAX_STRETCH && 2 * length <= dl_torus_grid_sites(g); length *= 2)
		sum += spread(g, order, length);
	return sum;
}

/*
 * Not at each length: a stretch of some whole rings, which to and fro has by
 * chance, is hard to beat.
 */
static void stretches_are_compact(void **state)
{
	static const struct dl_torus_grid boxes[] = {
		{ { 8, 8, 8 }, { false } },	   { { 6, 5, 4 }, { false } },
		{ { 10, 9, 7 }, { false } },	   { { 16, 16, 1 }, { false } },
		{ { 13, 11, 1 }, { true, true } }, { { 12, 6, 6 }, { false, true, false } },
		{ { 20, 4, 3 }, { false } },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(boxes) / sizeof(*boxes); i++) {
		const struct dl_torus_grid *g = &boxes[i];
		uint32_t *order = calloc(dl_torus_grid_sites(g), sizeof(*order));
		double curve, fro, number;

		assert_non_null(order);
		assert_int_equal(dl_torus_curve(g, order), 0);
		curve = spread_sum(g, order);
		snake(g, order);
		fro = spread_sum(g, order);
		count_up(g, order);
		number = spread_sum(g, order);
		print_message("%ux%ux%u: %.3f, to and fro %.3f, by number "
			      "%.3f\n",
			      g->radix[0], g->radix[1], g->radix[2], curve, fro, number);
		assert_true(curve < fro);
		assert_true(curve < number);
		free(order);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distance_is_the_hops),
		cmocka_unit_test(every_box_is_walked),
		cmocka_unit_test(stretches_are_compact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
