/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What hangs on the rest of a graph by one node, against a reference model: two
 * edges that meet are of one block if their far ends are still connected when
 * the node where they meet is taken away.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "grid_fabric.h"
#include "torus/internal.h"

#define MAX 14

struct graph {
	uint32_t n;
	bool edge[MAX][MAX];
};

static bool connected(const struct graph *g, uint32_t a, uint32_t b, uint32_t without)
{
	bool seen[MAX] = { false }, changed = true;
	uint32_t i, j;

	seen[a] = true;
	while (changed) {
		changed = false;
		for (i = 0; i < g->n; i++)
			for (j = 0; j < g->n; j++)
				if (seen[i] && !seen[j] && g->edge[i][j] && j != without)
					seen[j] = changed = true;
	}
	return seen[b];
}

/* Give one number to all edges of a block. */
static void number_blocks(const struct graph *g, uint32_t block[MAX][MAX])
{
	uint32_t a, b, c, i, j, was, is;

	for (i = 0; i < g->n; i++)
		for (j = 0; j < g->n; j++)
			block[i][j] = i < j ? i * MAX + j : j * MAX + i;
	for (b = 0; b < g->n; b++)
		for (a = 0; a < g->n; a++)
			for (c = 0; c < a; c++) {
				if (!g->edge[a][b] || !g->edge[b][c] || !connected(g, a, c, b))
					continue;
				was = block[b][c];
				is = block[a][b];
				for (i = 0; i < g->n; i++)
					for (j = 0; j < g->n; j++)
						if (block[i][j] == was)
							block[i][j] = is;
			}
}

/* Nodes of a block, as bits. */
static uint32_t nodes_of(const struct graph *g, uint32_t block[MAX][MAX], uint32_t which)
{
	uint32_t i, j, bits = 0;

	for (i = 0; i < g->n; i++)
		for (j = 0; j < g->n; j++)
			if (g->edge[i][j] && block[i][j] == which)
				bits |= 1u << i | 1u << j;
	return bits;
}

static void check(const struct graph *g, struct test_random *r)
{
	uint32_t first[MAX + 1], list[MAX * MAX], order[MAX], i, j, k = 0;
	uint32_t block[MAX][MAX], inside = 0, most = 0, bits;
	struct dl_torus_graph adj = { first, list };
	bool outside[MAX], found = false;

	for (i = 0; i < g->n; i++) {
		first[i] = k;
		order[i] = i;
		for (j = 0; j < g->n; j++)
			if (g->edge[i][j])
				list[k++] = j;
	}
	first[i] = k;
	for (i = g->n; i-- > 1;) {
		uint32_t swap = order[i], with = test_random(r, i + 1);

		order[i] = order[with];
		order[with] = swap;
	}
	assert_int_equal(dl_torus_find_appendages(&adj, g->n, order, outside), 0);
	for (i = 0; i < g->n; i++)
		inside |= !outside[i] << i;
	number_blocks(g, block);
	for (i = 0; i < g->n; i++)
		for (j = 0; j < g->n; j++) {
			if (!g->edge[i][j])
				continue;
			bits = nodes_of(g, block, block[i][j]);
			found |= bits == inside;
			if (__builtin_popcount(bits) > (int)most)
				most = __builtin_popcount(bits);
		}
	/* Without edges there are no blocks, and nothing is outside. */
	assert_true(found || !k);
	assert_int_equal(__builtin_popcount(inside), k ? most : g->n);
}

static void random_graphs(void **state)
{
	struct test_random r = { test_seed(41), 0 };
	uint32_t k, i, j;

	(void)state;
	for (k = 0; k < 3000; k++) {
		struct graph g = { .n = 1 + test_random(&r, MAX) };
		uint32_t density = 1 + test_random(&r, 10);

		for (i = 0; i < g.n; i++)
			for (j = 0; j < i; j++)
				g.edge[i][j] = g.edge[j][i] = test_random(&r, 20) < density;
		check(&g, &r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
