/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The most compact choice of hosts, against all choices there are, on small
 * tori with random free hosts; and on large ones against boxes.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "dateline/torus.h"
#include "random.h"
#include "tools/hops/compact.h"

#define MAX_PLACES 12

static uint16_t *distances(const struct dl_torus_grid *g, uint32_t n)
{
	uint16_t *d = calloc((size_t)n * n, sizeof(*d));

	for (uint32_t p = 0; p < n; p++)
		for (uint32_t q = 0; q < n; q++)
			d[p * (size_t)n + q] = dl_torus_site_distance(g, p, q);
	return d;
}

static uint64_t value_of(const struct compact *c, const uint32_t *take)
{
	uint64_t sum = 0;

	for (uint32_t p = 0; p < c->n; p++)
		for (uint32_t q = 0; q < p; q++)
			sum += (uint64_t)take[p] * take[q] * c->distance[p * (size_t)c->n + q];
	return sum;
}

/* Try everything from place `p` on. */
static void try_all(const struct compact *c, uint32_t *take, uint32_t p, uint32_t left,
		    uint64_t *best)
{
	if (!left) {
		uint64_t v = value_of(c, take);

		if (v < *best)
			*best = v;
		return;
	}
	if (p == c->n)
		return;
	for (take[p] = 0; take[p] <= c->room[p] && take[p] <= left; take[p]++)
		try_all(c, take, p + 1, left - take[p], best);
	take[p] = 0;
}

static void check_choice(const struct compact *c, const uint32_t *take, uint64_t said)
{
	uint32_t n = 0;

	for (uint32_t p = 0; p < c->n; p++) {
		assert_true(take[p] <= c->room[p]);
		n += take[p];
	}
	assert_int_equal(n, c->want);
	assert_int_equal(value_of(c, take), said);
}

static void all_choices(void **state)
{
	struct test_random random = { 7, 0 };
	unsigned int rounds = 0, best = 0;
	const unsigned int nearly_all = 98; /* per cent */

	(void)state;
	for (int round = 0; round < 600; round++) {
		struct dl_torus_grid g = { 0 };
		uint32_t room[MAX_PLACES], take[MAX_PLACES], all = 0;
		uint64_t exact = UINT64_MAX, have;
		struct compact c = { .room = room };

		do {
			for (int d = 0; d < 3; d++) {
				g.radix[d] = 1 + test_random(&random, 6);
				g.mesh[d] = test_random(&random, 3) == 0;
			}
			c.n = dl_torus_grid_sites(&g);
		} while (c.n < 6 || c.n > MAX_PLACES);
		for (uint32_t p = 0; p < c.n; p++)
			all += room[p] = test_random(&random, 3) ? 1 + test_random(&random, 2) : 0;
		if (!all)
			continue;
		c.want = 1 + test_random(&random, all < 6 ? all : 6);
		c.distance = distances(&g, c.n);
		memset(take, 0, sizeof(take));
		try_all(&c, take, 0, c.want, &exact);
		assert_int_equal(compact_choose(&c, take, &have), 0);
		check_choice(&c, take, have);
		assert_false(have < exact);
		rounds++;
		best += have == exact;
		assert_true(10 * have <= 11 * exact);
		free((void *)c.distance);
	}
	assert_true(rounds > 500);
	assert_true(100 * best >= nearly_all * rounds);
}

/* In a whole torus, at least as good as a box, or nearly. */
static void boxes(void **state)
{
	static const uint32_t sides[][DL_TORUS_DIMS] = {
		{ 3, 3, 3 },
		{ 4, 4, 4 },
		{ 8, 8, 4 },
	};
	struct dl_torus_grid g = { .radix = { 8, 8, 8 } };
	uint32_t n = dl_torus_grid_sites(&g);
	uint32_t *room = calloc(n, sizeof(*room)), *take = calloc(n, sizeof(*take));
	struct compact c = { .n = n, .room = room, .distance = distances(&g, n) };
	uint64_t have, box;

	(void)state;
	for (unsigned int i = 0; i < sizeof(sides) / sizeof(*sides); i++) {
		const uint32_t *side = sides[i];

		c.want = side[0] * side[1] * side[2];
		for (uint32_t p = 0; p < n; p++) {
			uint32_t x[DL_TORUS_DIMS];

			dl_torus_site_coord(&g, p, x);
			room[p] = 1;
			take[p] = x[0] < side[0] && x[1] < side[1] && x[2] < side[2];
		}
		box = value_of(&c, take);
		assert_int_equal(compact_choose(&c, take, &have), 0);
		check_choice(&c, take, have);
		assert_true(100 * have <= 103 * box);
	}
	free((void *)c.distance);
	free(room);
	free(take);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_choices),
		cmocka_unit_test(boxes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
