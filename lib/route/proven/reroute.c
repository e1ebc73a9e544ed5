/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Other paths to one target, for the switches that have none.
 *
 * Problem.  Some switches have no entry for a target: DOR has none, or its
 * path would close a cycle, or runs through such a switch.  They are to get one
 * with as few changes against DOR as possible, closing no cycle.
 *
 * Method.  Outwards from the switches that do deliver, like Prim's: of all
 * links from a switch without a path to one with, the best is tried first; it
 * is taken if its packets close no cycle, else dropped for good.  Best is
 *
 * 1. the link that DOR names: no change at all;
 * 2. a link out of a switch whose own DOR path has failed: there a change is
 *    due, and those behind it may be able to stay with DOR;
 * 3. any other link;
 *
 * and among equals the shorter path, then the lower number of the switch.
 *
 * Complexity: each link is tried once a target, twice at most.
 */
#include <errno.h>
#include <string.h>

#include "route/proven/internal.h"

enum { BY_DOR, AFTER_DOR, BEFORE_DOR }; /* the three ranks */

#define SW_BITS 20 /* more switches than LIDs do not exist */

int dl_repair_rerouter_init(struct dl_repair_rerouter *m, struct dl_arena *arena,
			    struct dl_repair_paths *paths)
{
	uint32_t nsw = paths->net->nsw;

	m->paths = paths;
	if (dl_repair_dor_init(&m->dor, arena, nsw) ||
	    !(DL_REPAIR_NEW(arena, m->heap, 2 * (size_t)paths->net->nlinks) &&
	      DL_REPAIR_NEW(arena, m->hops, nsw) && DL_REPAIR_NEW(arena, m->refused, nsw)))
		return -ENOMEM;
	return 0;
}

/* ---- a heap of candidates ---------------------------------------------- */

/* Rank, hops, switch, link: the smallest number is the best candidate. */
static uint64_t reroute_candidate(unsigned int rank, uint32_t hops, uint32_t sw, unsigned int index)
{
	return (uint64_t)rank << 60 | (uint64_t)hops << (SW_BITS + 8) | (uint64_t)sw << 8 | index;
}

static void reroute_push(struct dl_repair_rerouter *m, uint64_t c)
{
	uint32_t i = m->nheap++;

	for (; i && m->heap[(i - 1) / 2] > c; i = (i - 1) / 2)
		m->heap[i] = m->heap[(i - 1) / 2];
	m->heap[i] = c;
}

static uint64_t reroute_pop(struct dl_repair_rerouter *m)
{
	uint64_t best = m->heap[0], last = m->heap[--m->nheap];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < m->nheap) {
		if (child + 1 < m->nheap && m->heap[child + 1] < m->heap[child])
			child++;
		if (m->heap[child] >= last)
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = last;
	return best;
}

/* ---- rerouting --------------------------------------------------------- */

/* Offer a link out of a switch without a path to one with. */
static void reroute_offer(struct dl_repair_rerouter *m, uint32_t l)
{
	const struct dl_repair_link *link = &m->paths->net->links[l];
	bool refused = m->refused[link->from];
	unsigned int rank = refused ? AFTER_DOR : BEFORE_DOR;

	if (!dl_repair_may_enter(m->paths->net, link->to, m->dor.to))
		return;
	if (m->dor.next[link->from] == link->index) {
		if (refused)
			return;
		rank = BY_DOR;
	}
	reroute_push(m, reroute_candidate(rank, m->hops[link->to] + 1, link->from, link->index));
}

/* A switch has got a path: offer it to its neighbours. */
static void offer_to_neighbours(struct dl_repair_rerouter *m, uint32_t sw)
{
	const struct dl_repair_net *net = m->paths->net;
	uint32_t l;

	for (l = net->first[sw]; l < net->first[sw + 1]; l++)
		if (!dl_repair_has_path(m->paths, m->dor.target, net->links[l].to))
			reroute_offer(m, net->links[l].back);
}

/* DOR has failed at a switch: its other links may be tried. */
static void reroute_refuse(struct dl_repair_rerouter *m, uint32_t sw)
{
	const struct dl_repair_net *net = m->paths->net;
	uint32_t l;

	m->refused[sw] = true;
	for (l = net->first[sw]; l < net->first[sw + 1]; l++)
		if (net->links[l].index != m->dor.next[sw] &&
		    dl_repair_has_path(m->paths, m->dor.target, net->links[l].to))
			reroute_offer(m, l);
}

/* Hops of the switches that have a path. */
static void reroute_measure(struct dl_repair_rerouter *m, uint32_t target)
{
	const struct dl_repair_net *net = m->paths->net;
	uint32_t s, at, l, top, hops;

	memset(m->hops, 0xFF, net->nsw * sizeof(*m->hops));
	m->hops[net->target_sw[target]] = 0;
	for (s = 0; s < net->nsw; s++) {
		top = 0;
		for (at = s; m->hops[at] == DL_NONE; at = net->links[l].to) {
			l = dl_repair_next(m->paths, target, at);
			if (l == DL_NONE)
				break;
			m->dor.order[top++] = at;
		}
		for (hops = m->hops[at]; top--;)
			m->hops[m->dor.order[top]] = ++hops;
	}
}

uint32_t dl_repair_reroute(struct dl_repair_rerouter *m, uint32_t target)
{
	const struct dl_repair_net *net = m->paths->net;
	uint32_t s, l, left = 0;

	dl_repair_dor_find(m->paths, target, &m->dor);
	reroute_measure(m, target);
	m->nheap = 0;
	for (s = 0; s < net->nsw; s++) {
		m->refused[s] = m->dor.next[s] == DL_REPAIR_NO_LINK;
		left += !dl_repair_has_path(m->paths, target, s);
	}
	for (s = 0; s < net->nsw; s++)
		if (dl_repair_has_path(m->paths, target, s))
			offer_to_neighbours(m, s);
	while (m->nheap && left) {
		uint64_t c = reroute_pop(m);

		s = c >> 8 & ((1u << SW_BITS) - 1);
		l = net->first[s] + (c & 0xFF);
		if (dl_repair_has_path(m->paths, target, s))
			continue;
		if (dl_repair_paths_add(m->paths, target, l, m->dor.sls[s])) {
			left--;
			m->hops[s] = m->hops[net->links[l].to] + 1;
			offer_to_neighbours(m, s);
		} else if (net->links[l].index == m->dor.next[s]) {
			reroute_refuse(m, s);
		}
	}
	return left;
}

bool dl_repair_reroute_by_tree(struct dl_repair_rerouter *m, const struct dl_repair_tree *tree,
			       uint32_t target)
{
	struct dl_repair_paths *p = m->paths;
	struct dl_repair_dor *d = &m->dor;
	uint32_t i, n;

	dl_repair_dor_find(p, target, d);
	n = dl_repair_tree_paths(tree, d->to, d->next, d->order);
	for (i = 1; i < n; i++) {
		uint32_t s = d->order[i];

		if (!dl_repair_paths_add(p, target, p->net->first[s] + d->next[s], d->sls[s])) {
			dl_repair_paths_remove(p, target);
			return false;
		}
	}
	return true;
}

/* ---- up and down --------------------------------------------------------- */

/* Let a switch take the shortest way by a link up, or by one down. */
static void reroute_choose(struct dl_repair_rerouter *m, const struct dl_repair_tree *tree,
			   uint32_t target, uint32_t sw, bool down)
{
	const struct dl_repair_net *net = m->paths->net;
	uint8_t *next = &m->paths->next[target * (size_t)net->nsw + sw];

	for (uint32_t l = net->first[sw]; l < net->first[sw + 1]; l++) {
		uint32_t to = net->links[l].to;

		if ((tree->place[to] > tree->place[sw]) != down || m->hops[to] == DL_NONE ||
		    !dl_repair_may_enter(net, to, net->target_sw[target]) ||
		    m->hops[to] + 1 > m->hops[sw] ||
		    /* Of equals the first or the last, in turn. */
		    (m->hops[to] + 1 == m->hops[sw] && (target ^ sw) % 2))
			continue;
		m->hops[sw] = m->hops[to] + 1;
		*next = net->links[l].index;
	}
}

void dl_repair_up_down(struct dl_repair_rerouter *m, const struct dl_repair_tree *tree,
		       uint32_t target)
{
	const struct dl_repair_net *net = m->paths->net;
	uint32_t to = net->target_sw[target], i;

	memset(&m->paths->next[target * (size_t)net->nsw], DL_REPAIR_NO_LINK, net->nsw);
	memset(m->hops, 0xFF, net->nsw * sizeof(*m->hops));
	m->hops[to] = 0;
	/* Who can go down all the way must: packets may have come down to it. */
	for (i = tree->place[to]; i-- > 0;)
		reroute_choose(m, tree, target, tree->order[i], true);
	for (i = 0; i < tree->norder; i++)
		if (m->hops[tree->order[i]] == DL_NONE)
			reroute_choose(m, tree, target, tree->order[i], false);
}
