/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Dependencies between channels, one by one, never a cycle.
 *
 * Problem.  Routes are added and taken back while a fabric is repaired, and
 * after each addition the dependencies must still be free of cycles.
 *
 * Representation.  Dependencies are counted (how many kinds of packets cause
 * each), in a matrix of VLs for each pair of hops that meet at a switch.  Once
 * there are some, every channel has a position such that all dependencies go
 * from lower to higher.  A new one that does so too costs one comparison.  One
 * that does not makes the channels between the two positions change places
 * (Pearce and Kelly, A dynamic topological sort algorithm for directed acyclic
 * graphs, 2006), unless its end leads back to its start: then it is refused.
 * Taking dependencies away never spoils the order.
 *
 * Invariant once ordered: position(x) < position(y) for every dependency of
 * y on x with a count above 0.
 *
 * Complexity: a dependency against the order costs a search of the channels
 * between the two positions that are connected with them; memory is 64 bytes
 * a pair of hops and 32 a channel.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "route/proven/internal.h"

int dl_repair_cdg_init(struct dl_repair_cdg *g, const struct dl_repair_net *net)
{
	size_t n = (size_t)net->nhops * DL_REPAIR_VLS;

	memset(g, 0, sizeof(*g));
	g->net = net;
	g->nchannels = n;
	g->count = calloc(net->npairs + 1, sizeof(*g->count));
	g->mask = calloc(net->npairs + 1, sizeof(*g->mask));
	g->kept = calloc(net->npairs + 1, sizeof(*g->kept));
	g->at = malloc((n + 1) * sizeof(*g->at));
	g->pos = malloc((n + 1) * sizeof(*g->pos));
	g->seen = calloc(n + 1, sizeof(*g->seen));
	g->before = malloc((n + 1) * sizeof(*g->before));
	g->after = malloc((n + 1) * sizeof(*g->after));
	g->stack = malloc((n + 1) * sizeof(*g->stack));
	g->bits = calloc(n / 64 + 1, sizeof(*g->bits));
	if (!g->count || !g->mask || !g->kept || !g->at || !g->pos ||
	    !g->seen || !g->before || !g->after || !g->stack || !g->bits) {
		dl_repair_cdg_release(g);
		return -ENOMEM;
	}
	return 0;
}

void dl_repair_cdg_release(struct dl_repair_cdg *g)
{
	free(g->count);
	free(g->mask);
	free(g->kept);
	free(g->at);
	free(g->pos);
	free(g->seen);
	free(g->before);
	free(g->after);
	free(g->stack);
	free(g->bits);
	memset(g, 0, sizeof(*g));
}

void dl_repair_cdg_clear(struct dl_repair_cdg *g)
{
	memset(g->count, 0, g->net->npairs * sizeof(*g->count));
	memset(g->mask, 0, g->net->npairs * sizeof(*g->mask));
	memset(g->kept, 0, g->net->npairs * sizeof(*g->kept));
	g->ordered = false;
}

/* ---- neighbours of a channel ------------------------------------------- */

/* The VLs of hop `slot` beyond `hop` that wait for VL `vl` of it. */
static unsigned int waiting(const struct dl_repair_cdg *g,
			    const struct dl_repair_link *hop, unsigned int slot,
			    unsigned int vl)
{
	return g->mask[hop->pair + slot] >> (DL_REPAIR_VLS * vl) & 15;
}

/* Call `visit` for all channels that channel c leads to; false stops. */
static inline bool successors(struct dl_repair_cdg *g, uint32_t c,
			      bool (*visit)(struct dl_repair_cdg *g, uint32_t c,
					    void *context),
			      void *context)
{
	const struct dl_repair_net *net = g->net;
	const struct dl_repair_link *hop = &net->hops[c / DL_REPAIR_VLS];
	uint32_t first = net->first[hop->to],
		 k = dl_repair_nlinks(net, hop->to), j;
	unsigned int vls;

	for (j = 0; j < k; j++)
		for (vls = waiting(g, hop, j, c % DL_REPAIR_VLS); vls;
		     vls &= vls - 1)
			if (!visit(g,
				   (first + j) * DL_REPAIR_VLS +
					   __builtin_ctz(vls),
				   context))
				return false;
	return true;
}

static inline bool predecessors(struct dl_repair_cdg *g, uint32_t c,
				bool (*visit)(struct dl_repair_cdg *g,
					      uint32_t c, void *context),
				void *context)
{
	const struct dl_repair_net *net = g->net;
	const struct dl_repair_link *hop = &net->hops[c / DL_REPAIR_VLS];
	uint32_t first = net->first[hop->from],
		 k = dl_repair_nlinks(net, hop->from), i;
	unsigned int vl, out = c % DL_REPAIR_VLS;

	for (i = 0; i < k; i++) {
		uint32_t in = net->hops[first + i].back;
		unsigned int mask = g->mask[net->hops[in].pair + hop->slot];

		for (vl = 0; mask && vl < DL_REPAIR_VLS; vl++)
			if (mask >> (DL_REPAIR_VLS * vl + out) & 1 &&
			    !visit(g, in * DL_REPAIR_VLS + vl, context))
				return false;
	}
	return true;
}

/* ---- the order of all -------------------------------------------------- */

struct sort {
	uint32_t n; /* channels that have a position */
};

static bool count_in(struct dl_repair_cdg *g, uint32_t c, void *context)
{
	(void)context;
	g->stack[c]++;
	return true;
}

static bool release_one(struct dl_repair_cdg *g, uint32_t c, void *context)
{
	struct sort *s = context;

	if (!--g->stack[c])
		g->at[s->n++] = c;
	return true;
}

bool dl_repair_cdg_order(struct dl_repair_cdg *g)
{
	struct sort s = { 0 };
	uint32_t c, i;

	/* g->stack serves as the number of channels waited for. */
	memset(g->stack, 0, g->nchannels * sizeof(*g->stack));
	for (c = 0; c < g->nchannels; c++)
		successors(g, c, count_in, NULL);
	for (c = 0; c < g->nchannels; c++)
		if (!g->stack[c])
			g->at[s.n++] = c;
	for (i = 0; i < s.n; i++) {
		g->pos[g->at[i]] = i;
		successors(g, g->at[i], release_one, &s);
	}
	g->ordered = s.n == g->nchannels;
	return g->ordered;
}

/* ---- one more dependency ----------------------------------------------- */

struct reach {
	uint32_t limit;	   /* a position */
	uint32_t goal;	   /* a channel */
	uint32_t *list, n; /* positions found */
	uint32_t top;	   /* of the stack */
};

static bool meet(struct dl_repair_cdg *g, struct reach *r, uint32_t c)
{
	if (g->seen[c] != g->epoch) {
		g->seen[c] = g->epoch;
		r->list[r->n++] = g->pos[c];
		g->stack[r->top++] = c;
	}
	return true;
}

static bool meet_after(struct dl_repair_cdg *g, uint32_t c, void *context)
{
	struct reach *r = context;

	if (c == r->goal)
		return false;
	return g->pos[c] > r->limit || meet(g, r, c);
}

static bool meet_before(struct dl_repair_cdg *g, uint32_t c, void *context)
{
	struct reach *r = context;

	return g->pos[c] < r->limit || meet(g, r, c);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Sort positions from `first` to `last`, all different. */
static void sort_positions(struct dl_repair_cdg *g, uint32_t *list, uint32_t n,
			   uint32_t first, uint32_t last)
{
	uint32_t words = (last - first) / 64 + 1, i, w, k = 0;

	if (n < words) {
		qsort(list, n, sizeof(*list), by_number);
		return;
	}
	for (i = 0; i < n; i++)
		g->bits[(list[i] - first) / 64] |= UINT64_C(1)
						<< (list[i] - first) % 64;
	for (w = 0; w < words; w++)
		for (; g->bits[w]; g->bits[w] &= g->bits[w] - 1)
			list[k++] =
				first + 64 * w + __builtin_ctzll(g->bits[w]);
}

/*
 * Give the channels at positions before[] and after[] each other's places:
 * first those that lead to x, then those that y leads to.
 */
static void change_places(struct dl_repair_cdg *g, uint32_t nbefore,
			  uint32_t nafter, uint32_t first, uint32_t last)
{
	uint32_t n = nbefore + nafter, i, a = 0, b = 0;
	uint32_t *channels = g->stack;

	sort_positions(g, g->before, nbefore, first, last);
	sort_positions(g, g->after, nafter, first, last);
	for (i = 0; i < nbefore; i++)
		channels[i] = g->at[g->before[i]];
	for (i = 0; i < nafter; i++)
		channels[nbefore + i] = g->at[g->after[i]];
	for (i = 0; i < n; i++) {
		uint32_t place = a == nafter || (b < nbefore &&
						 g->before[b] < g->after[a]) ?
					 g->before[b++] :
					 g->after[a++];

		g->at[place] = channels[i];
		g->pos[channels[i]] = place;
	}
}

bool dl_repair_cdg_reorder(struct dl_repair_cdg *g, uint32_t x, uint32_t y)
{
	struct reach fore = { .limit = g->pos[x], .goal = x, .list = g->after };
	struct reach back = { .limit = g->pos[y],
			      .goal = y,
			      .list = g->before };

	if (x == y)
		return false;
	g->epoch++;
	meet(g, &fore, y);
	while (fore.top)
		if (!successors(g, g->stack[--fore.top], meet_after, &fore))
			return false;
	meet(g, &back, x);
	while (back.top)
		predecessors(g, g->stack[--back.top], meet_before, &back);
	change_places(g, back.n, fore.n, back.limit, fore.limit);
	return true;
}
