/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Other ways to one destination, for the switches that have none.
 *
 * Problem.  Some switches have no entry for a destination: the rule has none,
 * or its way would close a cycle, or runs through such a switch.  They are to
 * get one with as few changes against the rule as possible, closing no cycle.
 *
 * Method.  Outwards from the switches that do deliver, like Prim's: of all
 * hops from a switch without a way to one with, the best is tried first; it
 * is taken if its packets close no cycle, else dropped for good.  Best is
 *
 * 1. the hop that the rule names: no change at all;
 * 2. a hop out of a switch whose own rule has failed: there a change is due,
 *    and those behind it may be able to stay with the rule;
 * 3. any other hop;
 *
 * and among equals the shorter way, then the lower number of the switch.
 *
 * Complexity: each hop is tried once a destination, twice at most.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "route/proven/internal.h"

enum { BY_RULE, AFTER_RULE, BEFORE_RULE }; /* the three ranks */

#define SW_BITS 20 /* more switches than LIDs do not exist */

int dl_repair_init(struct dl_repair *m, struct dl_repair_flows *flows)
{
	size_t n = flows->net->nsw + 1;

	memset(m, 0, sizeof(*m));
	m->flows = flows;
	m->heap =
		malloc((2 * (size_t)flows->net->nhops + 1) * sizeof(*m->heap));
	m->hops = malloc(n * sizeof(*m->hops));
	m->rule = malloc(n);
	m->sls = malloc(n);
	m->fates = malloc(n);
	m->refused = malloc(n * sizeof(*m->refused));
	m->order = malloc(n * sizeof(*m->order));
	if (!m->heap || !m->hops || !m->rule || !m->sls || !m->fates ||
	    !m->refused || !m->order) {
		dl_repair_release(m);
		return -ENOMEM;
	}
	return 0;
}

void dl_repair_release(struct dl_repair *m)
{
	free(m->heap);
	free(m->hops);
	free(m->rule);
	free(m->sls);
	free(m->fates);
	free(m->refused);
	free(m->order);
	memset(m, 0, sizeof(*m));
}

/* ---- a heap of candidates ---------------------------------------------- */

/* Rank, hops, switch, slot: the smallest number is the best candidate. */
static uint64_t candidate(unsigned int rank, uint32_t hops, uint32_t sw,
			  unsigned int slot)
{
	return (uint64_t)rank << 60 | (uint64_t)hops << (SW_BITS + 8) |
	       (uint64_t)sw << 8 | slot;
}

static void push(struct dl_repair *m, uint64_t c)
{
	uint32_t i = m->nheap++;

	for (; i && m->heap[(i - 1) / 2] > c; i = (i - 1) / 2)
		m->heap[i] = m->heap[(i - 1) / 2];
	m->heap[i] = c;
}

static uint64_t pop(struct dl_repair *m)
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

/* ---- mending ----------------------------------------------------------- */

static const uint8_t *via(const struct dl_repair *m, uint32_t to)
{
	return &m->flows->via[to * (size_t)m->flows->net->nsw];
}

static bool has_way(const struct dl_repair *m, uint32_t to, uint32_t sw)
{
	return sw == to || via(m, to)[sw] != DL_REPAIR_NO_LINK;
}

/* Offer a hop out of a switch without a way to one with. */
static void offer(struct dl_repair *m, uint32_t h)
{
	const struct dl_repair_link *hop = &m->flows->net->hops[h];
	unsigned int rank = BEFORE_RULE;

	if (m->rule[hop->from] == hop->slot) {
		if (m->refused[hop->from])
			return;
		rank = BY_RULE;
	} else if (m->refused[hop->from]) {
		rank = AFTER_RULE;
	}
	push(m, candidate(rank, m->hops[hop->to] + 1, hop->from, hop->slot));
}

/* A switch has got a way: offer it to its neighbours. */
static void offer_to_neighbours(struct dl_repair *m, uint32_t to, uint32_t sw)
{
	const struct dl_repair_net *net = m->flows->net;
	uint32_t h;

	for (h = net->first[sw]; h < net->first[sw + 1]; h++)
		if (!has_way(m, to, net->hops[h].to))
			offer(m, net->hops[h].back);
}

/* A switch's rule has failed: its other hops may be tried. */
static void refuse(struct dl_repair *m, uint32_t to, uint32_t sw)
{
	const struct dl_repair_net *net = m->flows->net;
	uint32_t h;

	m->refused[sw] = true;
	for (h = net->first[sw]; h < net->first[sw + 1]; h++)
		if (has_way(m, to, net->hops[h].to) &&
		    net->hops[h].slot != m->rule[sw])
			offer(m, h);
}

/* Hops of the switches that have a way. */
static void measure(struct dl_repair *m, uint32_t to)
{
	const struct dl_repair_net *net = m->flows->net;
	const uint8_t *slots = via(m, to);
	uint32_t n = net->nsw, s, at, top;

	memset(m->hops, 0xFF, n * sizeof(*m->hops));
	m->hops[to] = 0;
	for (s = 0; s < n; s++) {
		top = 0;
		for (at = s;
		     slots[at] != DL_REPAIR_NO_LINK && m->hops[at] == DL_NONE;
		     at = net->hops[net->first[at] + slots[at]].to)
			m->order[top++] = at;
		while (top--) {
			at = m->order[top];
			m->hops[at] =
				m->hops[net->hops[net->first[at] + slots[at]]
						.to] +
				1;
		}
	}
}

uint32_t dl_repair_destination(struct dl_repair *m, uint32_t to)
{
	const struct dl_repair_net *net = m->flows->net;
	uint32_t s, left = 0;

	dl_repair_flows_dor(m->flows, to, m->rule);
	dl_repair_flows_sls(m->flows, to, m->sls);
	measure(m, to);
	m->nheap = 0;
	for (s = 0; s < net->nsw; s++) {
		m->refused[s] = m->rule[s] == DL_REPAIR_NO_LINK;
		left += !has_way(m, to, s);
	}
	for (s = 0; s < net->nsw; s++)
		if (has_way(m, to, s))
			offer_to_neighbours(m, to, s);
	while (m->nheap && left) {
		uint64_t c = pop(m);
		unsigned int slot = c & 0xFF;
		const struct dl_repair_link *hop;

		s = c >> 8 & ((1u << SW_BITS) - 1);
		hop = &net->hops[net->first[s] + slot];
		if (has_way(m, to, s))
			continue;
		if (dl_repair_flow_add(m->flows, to, s, slot, m->sls[s])) {
			left--;
			m->hops[s] = m->hops[hop->to] + 1;
			offer_to_neighbours(m, to, s);
		} else if (slot == m->rule[s]) {
			refuse(m, to, s);
		}
	}
	return left;
}

bool dl_repair_by_tree(struct dl_repair *m, const struct dl_repair_span *span,
		       uint32_t to)
{
	struct dl_repair_flows *f = m->flows;
	uint32_t i,
		n = dl_repair_span_links(f->net, span, to, m->rule, m->order);

	dl_repair_flows_sls(f, to, m->sls);
	for (i = 1; i < n; i++) {
		uint32_t s = m->order[i];

		if (!dl_repair_flow_add(f, to, s, m->rule[s], m->sls[s])) {
			dl_repair_flows_remove(f, to);
			return false;
		}
	}
	return true;
}
