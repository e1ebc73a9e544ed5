/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The graph of switches, parallel cables taken together, and its appendages:
 * what is attached to the rest of the fabric by a single switch.
 *
 * A biconnected component is a part of the graph that stays connected without
 * any one of its switches; two components share one switch at most.  A whole
 * torus or mesh of two dimensions or more is one component, and whatever is
 * attached to one of its switches, a leaf, a chain or an island of any shape,
 * is in others.  So the largest component is the torus, and all outside of it
 * may be no part of it (rules A3).
 *
 * Method.  Depth-first search; `low` is the earliest switch that a subtree has
 * a cable to.  Where a child's is not before its parent, what has been
 * stacked since the child makes a component with the parent.
 *
 * Complexity: linear, without recursion, since rings may be long.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "torus/internal.h"

int dl_torus_graph_build(const struct dl_fabric *f, const bool *without, struct dl_torus_graph *g)
{
	size_t n = f->nswitches;
	uint32_t *seen = malloc((n + 1) * sizeof(*seen)), total = 0;

	g->first = malloc((n + 1 + f->nports) * sizeof(*g->first));
	if (!seen || !g->first) {
		free(seen);
		dl_torus_graph_free(g);
		return -ENOMEM;
	}
	g->list = g->first + n + 1;
	memset(seen, 0xFF, n * sizeof(*seen));
	for (uint32_t s = 0; s < n; s++) {
		const struct dl_fabric_node *node = dl_fabric_switch_node(f, s);

		g->first[s] = total;
		for (unsigned int p = 1; p <= node->nports; p++) {
			uint32_t far = dl_fabric_peer_switch(f, node->first_port + p);

			if (far == DL_NONE || far == s || seen[far] == s ||
			    (without && (without[s] || without[far])))
				continue;
			seen[far] = s;
			g->list[total++] = far;
		}
	}
	g->first[n] = total;
	free(seen);
	return 0;
}

void dl_torus_graph_free(struct dl_torus_graph *g)
{
	free(g->first);
	g->first = g->list = NULL;
}

bool dl_torus_cabled(const struct dl_torus_graph *g, uint32_t a, uint32_t b)
{
	bool swap = dl_torus_degree(g, a) > dl_torus_degree(g, b);
	uint32_t wanted = swap ? a : b;
	const uint32_t *n, *end;

	for (n = dl_torus_neighbours(g, swap ? b : a, &end); n < end; n++)
		if (*n == wanted)
			return true;
	return false;
}

uint32_t dl_torus_graph_search(const struct dl_torus_graph *g, uint32_t start, uint32_t *from,
			       uint32_t *queue)
{
	const uint32_t *n, *end;
	uint32_t tail = 0;

	from[start] = start;
	queue[tail++] = start;
	for (uint32_t head = 0; head < tail; head++) {
		for (n = dl_torus_neighbours(g, queue[head], &end); n < end; n++) {
			if (from[*n] != DL_NONE)
				continue;
			from[*n] = queue[head];
			queue[tail++] = *n;
		}
	}
	return tail;
}

/* ---- biconnected components -------------------------------------------- */

struct walk {
	const struct dl_torus_graph *g;
	uint32_t *seen; /* when it was met, from 1; 0: not yet */
	uint32_t *low;
	uint32_t *at;	 /* the next neighbour to look at */
	uint32_t *path;	 /* from the root */
	uint32_t *stack; /* met, and in no component yet */
	uint32_t npath, nstack, time;
	uint32_t most;	   /* switches of the largest component so far */
	uint32_t *largest; /* ... and these */
};

static void graph_visit(struct walk *w, uint32_t sw)
{
	w->seen[sw] = w->low[sw] = ++w->time;
	w->at[sw] = w->g->first[sw];
	w->path[w->npath++] = sw;
	w->stack[w->nstack++] = sw;
}

/* A component: all since `child` on the stack, and the parent. */
static void graph_close_component(struct walk *w, uint32_t child, uint32_t parent)
{
	uint32_t from = w->nstack, n;

	while (w->stack[--from] != child)
		;
	n = w->nstack - from + 1;
	if (n > w->most) {
		memcpy(w->largest, &w->stack[from], (n - 1) * sizeof(*w->largest));
		w->largest[n - 1] = parent;
		w->most = n;
	}
	w->nstack = from;
}

static void graph_leave(struct walk *w)
{
	uint32_t sw = w->path[--w->npath], parent;

	if (!w->npath) {
		w->nstack = 0;
		return;
	}
	parent = w->path[w->npath - 1];
	if (w->low[sw] >= w->seen[parent])
		graph_close_component(w, sw, parent);
	else if (w->low[sw] < w->low[parent])
		w->low[parent] = w->low[sw];
}

static void walk_from(struct walk *w, uint32_t root)
{
	graph_visit(w, root);
	while (w->npath) {
		uint32_t sw = w->path[w->npath - 1], next;

		if (w->at[sw] == w->g->first[sw + 1]) {
			graph_leave(w);
			continue;
		}
		next = w->g->list[w->at[sw]++];
		if (!w->seen[next])
			graph_visit(w, next);
		else if (w->seen[next] < w->low[sw])
			w->low[sw] = w->seen[next];
	}
}

int dl_torus_find_appendages(const struct dl_torus_graph *g, uint32_t n, const uint32_t *order,
			     bool *appendage)
{
	uint32_t *all = calloc((size_t)n + 1, 6 * sizeof(*all));
	struct walk w = { .g = g, .seen = all };

	if (!all)
		return -ENOMEM;
	w.low = w.seen + n;
	w.at = w.low + n;
	w.path = w.at + n;
	w.stack = w.path + n;
	w.largest = w.stack + n;
	for (uint32_t i = 0; i < n; i++)
		if (!w.seen[order[i]])
			walk_from(&w, order[i]);
	memset(appendage, w.most > 0, n * sizeof(*appendage));
	for (uint32_t i = 0; i < w.most; i++)
		appendage[w.largest[i]] = false;
	free(all);
	return 0;
}
