/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What hangs on the rest of the fabric by a single switch.
 *
 * A block is a part of the graph that no single switch holds together; two
 * blocks share one switch at most.  A whole torus or mesh of two dimensions
 * or more is one block, and whatever hangs on one of its switches, a leaf, a
 * chain or an island of any shape, is in others.  So the largest block is the
 * torus, and all outside of it may be odd.
 *
 * Method.  Depth-first search; `low` is the earliest switch that a subtree
 * has a cable to.  Where a child's is not before its parent, the parent holds
 * the subtree: what has been stacked since makes a block with it.
 *
 * Complexity: linear, without recursion, for fabrics may be long rings.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "torus/internal.h"

struct walk {
	const struct dl_torus_adjacency *adj;
	uint32_t *seen; /* when it was met, from 1; 0: not yet */
	uint32_t *low;
	uint32_t *at;	 /* the next neighbour to look at */
	uint32_t *path;	 /* the way from the root */
	uint32_t *stack; /* met, and in no block yet */
	uint32_t npath, nstack, time;
	uint32_t most;	 /* switches of the largest block so far */
	uint32_t *block; /* ... and these */
};

static void meet(struct walk *w, uint32_t sw)
{
	w->seen[sw] = w->low[sw] = ++w->time;
	w->at[sw] = w->adj->first[sw];
	w->path[w->npath++] = sw;
	w->stack[w->nstack++] = sw;
}

/* A block: all since `child` on the stack, and the switch that holds them. */
static void close_block(struct walk *w, uint32_t child, uint32_t parent)
{
	uint32_t from = w->nstack, n;

	while (w->stack[--from] != child)
		;
	n = w->nstack - from + 1;
	if (n > w->most) {
		memcpy(w->block, &w->stack[from], (n - 1) * sizeof(*w->block));
		w->block[n - 1] = parent;
		w->most = n;
	}
	w->nstack = from;
}

static void leave(struct walk *w)
{
	uint32_t sw = w->path[--w->npath], parent;

	if (!w->npath) {
		w->nstack = 0;
		return;
	}
	parent = w->path[w->npath - 1];
	if (w->low[sw] >= w->seen[parent])
		close_block(w, sw, parent);
	else if (w->low[sw] < w->low[parent])
		w->low[parent] = w->low[sw];
}

static void walk_from(struct walk *w, uint32_t root)
{
	meet(w, root);
	while (w->npath) {
		uint32_t sw = w->path[w->npath - 1], next;

		if (w->at[sw] == w->adj->first[sw + 1]) {
			leave(w);
			continue;
		}
		next = w->adj->list[w->at[sw]++];
		if (!w->seen[next])
			meet(w, next);
		else if (w->seen[next] < w->low[sw])
			w->low[sw] = w->seen[next];
	}
}

int dl_torus_find_outside(const struct dl_torus_adjacency *adj, uint32_t n,
			  const uint32_t *order, bool *outside)
{
	struct walk w = { .adj = adj };
	uint32_t i, *all = calloc((size_t)n + 1, 6 * sizeof(*all));

	if (!all)
		return -ENOMEM;
	w.seen = all;
	w.low = all + n;
	w.at = all + 2 * (size_t)n;
	w.path = all + 3 * (size_t)n;
	w.stack = all + 4 * (size_t)n;
	w.block = all + 5 * (size_t)n;
	for (i = 0; i < n; i++)
		if (!w.seen[order[i]])
			walk_from(&w, order[i]);
	memset(outside, w.most > 0, n * sizeof(*outside));
	for (i = 0; i < w.most; i++)
		outside[w.block[i]] = false;
	free(all);
	return 0;
}
