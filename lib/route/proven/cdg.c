/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The channel dependency graph, edge by edge, never a cycle.
 *
 * Problem.  Paths are added and taken back while a fabric is repaired, and
 * after each addition the dependencies must still be free of cycles.
 *
 * Representation.  Edges are counted (how many classes of packets cause each),
 * in a matrix of VLs for each pair of links that meet at a switch and has edges:
 * where switches have hundreds of links, few pairs have.  Once they are ordered,
 * every channel has a position such that all edges go from lower to higher.  A
 * new one that does so too costs one comparison.  One that does not makes the
 * channels between the two positions change places (Pearce and Kelly, A dynamic
 * topological sort algorithm for directed acyclic graphs, 2006), unless its end
 * leads back to its start: then it is refused.  Taking edges away never spoils the
 * order.
 *
 * Invariant once ordered: position(x) < position(y) for every edge from x to y
 * with a count above 0.
 *
 * Complexity: an edge against the order costs a search of the channels between
 * the two positions that are connected with them; memory is 8 bytes a pair of
 * links, 64 a pair with edges and 32 a channel.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "route/proven/internal.h"

/* Channels next to one: more than a switch has. */
#define NEIGHBOURS (DL_REPAIR_VLS * DL_FABRIC_MAX_PORTS)

/*
 * No more pairs have edges at a time: a target's paths go on at each switch by one
 * link, and their permanent edges may stay when other paths take their place; a
 * tree's links are two for each switch, and each meets a switch's others.
 */
static uint32_t most_used(const struct dl_repair_net *net)
{
	uint64_t n = 2 * (uint64_t)net->nsw * net->ntargets + dl_repair_tree_pairs(net);

	return n < net->npairs ? n : net->npairs;
}

int dl_repair_cdg_init(struct dl_repair_cdg *g, struct dl_arena *arena,
		       const struct dl_repair_net *net)
{
	size_t n = (size_t)net->nlinks * DL_REPAIR_VLS;

	memset(g, 0, sizeof(*g));
	g->net = net;
	g->nchannels = n;
	g->nrows = most_used(net);
	if (!(DL_REPAIR_NEW(arena, g->count, g->nrows) &&
	      DL_REPAIR_NEW(arena, g->row, net->npairs) &&
	      DL_REPAIR_NEW(arena, g->mask, net->npairs) &&
	      DL_REPAIR_NEW(arena, g->permanent, net->npairs) && DL_REPAIR_NEW(arena, g->at, n) &&
	      DL_REPAIR_NEW(arena, g->pos, n) && DL_REPAIR_NEW(arena, g->seen, n) &&
	      DL_REPAIR_NEW(arena, g->before, n) && DL_REPAIR_NEW(arena, g->after, n) &&
	      DL_REPAIR_NEW(arena, g->stack, n) && DL_REPAIR_NEW(arena, g->bits, n / 64)))
		return -ENOMEM;
	g->free_row = DL_NONE;
	return 0;
}

bool dl_repair_cdg_take_row(struct dl_repair_cdg *g, uint32_t pair)
{
	uint32_t row = g->free_row;

	if (row != DL_NONE)
		g->free_row = g->count[row][0];
	else if (g->rows_used < g->nrows)
		row = g->rows_used++;
	else
		return false;
	memset(g->count[row], 0, sizeof(*g->count));
	g->row[pair] = row;
	return true;
}

void dl_repair_cdg_clear(struct dl_repair_cdg *g)
{
	g->rows_used = 0;
	g->free_row = DL_NONE;
	memset(g->mask, 0, g->net->npairs * sizeof(*g->mask));
	memset(g->permanent, 0, g->net->npairs * sizeof(*g->permanent));
	g->ordered = false;
}

/* List the channels that channel c leads to, or those that lead to it. */
static uint32_t neighbours(const struct dl_repair_cdg *g, uint32_t c, bool forward,
			   uint32_t list[NEIGHBOURS])
{
	const struct dl_repair_net *net = g->net;
	const struct dl_repair_link *link = &net->links[c / DL_REPAIR_VLS];
	uint32_t at = forward ? link->to : link->from, l, n = 0;
	unsigned int own = c % DL_REPAIR_VLS, vl, vls;

	for (l = net->first[at]; forward && l < net->first[at + 1]; l++) {
		vls = g->mask[link->pair + net->links[l].index] >> DL_REPAIR_VLS * own;
		for (vls &= 15; vls; vls &= vls - 1)
			list[n++] = l * DL_REPAIR_VLS + __builtin_ctz(vls);
	}
	for (; !forward && l < net->first[at + 1]; l++) {
		uint32_t in = net->links[l].back;

		vls = g->mask[net->links[in].pair + link->index];
		for (vl = 0; vls && vl < DL_REPAIR_VLS; vl++)
			if (vls >> (DL_REPAIR_VLS * vl + own) & 1)
				list[n++] = in * DL_REPAIR_VLS + vl;
	}
	return n;
}

bool dl_repair_cdg_order(struct dl_repair_cdg *g)
{
	uint32_t *waiting = g->stack; /* for so many channels */
	uint32_t list[NEIGHBOURS], c, i, k, n = 0;

	memset(waiting, 0, g->nchannels * sizeof(*waiting));
	for (c = 0; c < g->nchannels; c++)
		for (k = neighbours(g, c, true, list); k--;)
			waiting[list[k]]++;
	for (c = 0; c < g->nchannels; c++)
		if (!waiting[c])
			g->at[n++] = c;
	for (c = 0; c < n; c++) {
		g->pos[g->at[c]] = c;
		k = neighbours(g, g->at[c], true, list);
		for (i = 0; i < k; i++)
			if (!--waiting[list[i]])
				g->at[n++] = list[i];
	}
	g->ordered = n == g->nchannels;
	return g->ordered;
}

/* ---- one more edge ----------------------------------------------------- */

/*
 * List the positions of all channels from `start` on in one direction, not
 * beyond position `limit`.  False: `goal` is among them.
 */
static bool search(struct dl_repair_cdg *g, uint32_t start, uint32_t limit, uint32_t goal,
		   bool forward, uint32_t *found, uint32_t *n)
{
	uint32_t list[NEIGHBOURS], top = 0, k, c;

	*n = 0;
	g->seen[start] = g->epoch;
	found[(*n)++] = g->pos[start];
	g->stack[top++] = start;
	while (top) {
		for (k = neighbours(g, g->stack[--top], forward, list); k--;) {
			c = list[k];
			if (c == goal)
				return false;
			if (g->seen[c] == g->epoch ||
			    (forward ? g->pos[c] > limit : g->pos[c] < limit))
				continue;
			g->seen[c] = g->epoch;
			found[(*n)++] = g->pos[c];
			g->stack[top++] = c;
		}
	}
	return true;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Sort positions from `first` to `last`, all different. */
static void sort_positions(struct dl_repair_cdg *g, uint32_t *list, uint32_t n, uint32_t first,
			   uint32_t last)
{
	uint32_t words = (last - first) / 64 + 1, i, w, k = 0;

	if (n < words) {
		qsort(list, n, sizeof(*list), by_number);
		return;
	}
	for (i = 0; i < n; i++)
		g->bits[(list[i] - first) / 64] |= UINT64_C(1) << (list[i] - first) % 64;
	for (w = 0; w < words; w++)
		for (; g->bits[w]; g->bits[w] &= g->bits[w] - 1)
			list[k++] = first + 64 * w + __builtin_ctzll(g->bits[w]);
}

/*
 * Give the channels at positions before[] and after[] each other's places:
 * first those that lead to x, then those that y leads to.
 */
static void change_places(struct dl_repair_cdg *g, uint32_t nbefore, uint32_t nafter)
{
	uint32_t n = nbefore + nafter, i, a = 0, b = 0;
	uint32_t *channels = g->stack;

	for (i = 0; i < nbefore; i++)
		channels[i] = g->at[g->before[i]];
	for (i = 0; i < nafter; i++)
		channels[nbefore + i] = g->at[g->after[i]];
	for (i = 0; i < n; i++) {
		uint32_t place = a == nafter || (b < nbefore && g->before[b] < g->after[a]) ?
					 g->before[b++] :
					 g->after[a++];

		g->at[place] = channels[i];
		g->pos[channels[i]] = place;
	}
}

bool dl_repair_cdg_reorder(struct dl_repair_cdg *g, uint32_t x, uint32_t y)
{
	uint32_t first = g->pos[y], last = g->pos[x], nbefore, nafter;

	g->epoch++;
	if (x == y || !search(g, y, last, x, true, g->after, &nafter))
		return false;
	search(g, x, first, y, false, g->before, &nbefore);
	sort_positions(g, g->before, nbefore, first, last);
	sort_positions(g, g->after, nafter, first, last);
	change_places(g, nbefore, nafter);
	return true;
}
