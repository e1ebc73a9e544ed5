/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The rule for one ring (rules A4): the shorter way round, ties towards the
 * way that does not wrap; the other way when a failure lies on that one.  A
 * packet for a coordinate whose switch is missing goes on towards it, and
 * turns into the next dimension beside it.
 *
 * Invariant: following the ways from any live switch of a ring that is in
 * one piece ends at the target, or beside it when it is missing.  A packet
 * never turns round on a ring: once it takes the long way it has passed the
 * target's antipode or stays cut off from the shorter way by the same break.
 *
 * Whole rings of a dimension are all alike and share one table, so the
 * tables take radix^2 bytes a dimension plus that for each broken ring.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "route/internal.h"

uint32_t dl_route_ring(const struct dl_torus_grid *g, uint32_t site,
		       unsigned int dim)
{
	uint32_t stride = 1;
	unsigned int d;

	for (d = 0; d < dim; d++)
		stride *= g->radix[d];
	return site % stride + site / (stride * g->radix[dim]) * stride;
}

uint32_t dl_route_ring_site(const struct dl_torus_grid *g, uint32_t ring,
			    unsigned int dim, uint32_t coord)
{
	uint32_t stride = 1;
	unsigned int d;

	for (d = 0; d < dim; d++)
		stride *= g->radix[d];
	return ring % stride + ring / stride * stride * g->radix[dim] +
	       coord * stride;
}

bool dl_route_hop_alive(const struct dl_torus *t, uint32_t site,
			unsigned int dir)
{
	uint32_t sw = t->site_sw[site];

	return sw != DL_NONE && dl_torus_group_size(t, sw, dir) > 0;
}

unsigned int dl_route_ring_regions(const struct dl_torus *t, uint32_t ring,
				   unsigned int dim)
{
	const struct dl_torus_grid *g = &t->grid;
	uint32_t i, alive = 0, hops = 0;

	for (i = 0; i < g->radix[dim]; i++) {
		uint32_t site = dl_route_ring_site(g, ring, dim, i);

		alive += t->site_sw[site] != DL_NONE;
		hops += dl_route_hop_alive(t, site, dl_torus_dir(dim, false));
	}
	/* A closed ring is one region; each live hop of a path joins two. */
	return hops == alive && alive ? 1 : alive - hops;
}

static bool ring_whole(const struct dl_torus *t, uint32_t ring,
		       unsigned int dim)
{
	const struct dl_torus_grid *g = &t->grid;
	uint32_t i;

	for (i = 0; i < g->radix[dim]; i++) {
		uint32_t site = dl_route_ring_site(g, ring, dim, i);
		bool last = g->mesh[dim] && i == g->radix[dim] - 1;

		if (t->site_sw[site] == DL_NONE ||
		    (!last &&
		     !dl_route_hop_alive(t, site, dl_torus_dir(dim, false))))
			return false;
	}
	return true;
}

/* One ring under construction, by coordinate. */
struct ring {
	uint32_t radix;
	bool mesh;
	bool sw[DL_TORUS_MAX_RADIX]; /* is there a switch? */
	/* How many hops can a packet go that way before a gap? */
	uint32_t reach
		[2]
		[DL_TORUS_MAX_RADIX]; /* DL_ROUTE_WAY_PLUS, DL_ROUTE_WAY_MINUS */
};

static bool passable(const struct ring *r, uint32_t from, enum dl_route_way way,
		     uint32_t hops)
{
	return hops <= r->reach[way][from];
}

static enum dl_route_way choose_way(const struct ring *r, uint32_t from,
				    uint32_t to)
{
	uint32_t hops[2];
	enum dl_route_way first, second;

	if (from == to)
		return DL_ROUTE_WAY_HERE;
	hops[DL_ROUTE_WAY_PLUS] = (to + r->radix - from) % r->radix;
	hops[DL_ROUTE_WAY_MINUS] = r->radix - hops[DL_ROUTE_WAY_PLUS];
	first = to > from ? DL_ROUTE_WAY_PLUS : DL_ROUTE_WAY_MINUS;
	second = to > from ? DL_ROUTE_WAY_MINUS : DL_ROUTE_WAY_PLUS;
	if (!r->mesh && hops[second] < hops[first]) {
		enum dl_route_way shorter = second;

		second = first;
		first = shorter;
	}
	if (!r->sw[to]) {
		/* Stop one hop short of the hole. */
		hops[DL_ROUTE_WAY_PLUS]--;
		hops[DL_ROUTE_WAY_MINUS]--;
		if (!hops[first])
			return DL_ROUTE_WAY_TURN;
	}
	if (passable(r, from, first, hops[first]))
		return first;
	if (r->mesh)
		return DL_ROUTE_WAY_CUT;
	if (!r->sw[to] && !hops[second])
		return DL_ROUTE_WAY_TURN;
	return passable(r, from, second, hops[second]) ? second :
							 DL_ROUTE_WAY_CUT;
}

static void ring_ways(const struct ring *r, uint8_t *ways)
{
	uint32_t from, to;

	for (from = 0; from < r->radix; from++)
		for (to = 0; to < r->radix; to++)
			*ways++ = choose_way(r, from, to);
}

/* From the live hops (`hop[i]`: a cable from i to i + 1) to the reaches. */
static void measure_reach(struct ring *r, const bool *hop)
{
	uint32_t n = r->radix, i, here, plus = 0, minus = 0;

	/* Twice round, so that what lies across the end is counted too. */
	for (i = 0; i < 2 * n; i++) {
		here = i % n;
		r->reach[DL_ROUTE_WAY_MINUS][here] = minus < n ? minus : n;
		minus = hop[here] ? minus + 1 : 0;
		here = (2 * n - 1 - i) % n;
		plus = hop[here] ? plus + 1 : 0;
		r->reach[DL_ROUTE_WAY_PLUS][here] = plus < n ? plus : n;
	}
}

static void fill_ring(const struct dl_torus *t, unsigned int dim, uint32_t ring,
		      bool whole, uint8_t *ways)
{
	const struct dl_torus_grid *g = &t->grid;
	struct ring r = { .radix = g->radix[dim], .mesh = g->mesh[dim] };
	bool hop[DL_TORUS_MAX_RADIX];
	uint32_t i;

	for (i = 0; i < r.radix; i++) {
		uint32_t site = dl_route_ring_site(g, ring, dim, i);

		r.sw[i] = whole || t->site_sw[site] != DL_NONE;
		hop[i] = whole ||
			 dl_route_hop_alive(t, site, dl_torus_dir(dim, false));
	}
	measure_reach(&r, hop);
	ring_ways(&r, ways);
}

int dl_route_rings_new(const struct dl_torus *t, struct dl_route_rings **out)
{
	const struct dl_torus_grid *g = &t->grid;
	struct dl_route_rings *r = calloc(1, sizeof(*r));
	uint32_t ring, total = 0, whole[DL_TORUS_DIMS];
	unsigned int d;

	if (!r)
		return -ENOMEM;
	r->torus = t;
	for (d = 0; d < DL_TORUS_DIMS; d++) {
		uint32_t size = g->radix[d] * g->radix[d];

		r->nrings[d] = t->nsites / g->radix[d];
		r->table[d] = malloc(r->nrings[d] * sizeof(*r->table[d]));
		if (!r->table[d])
			goto no_memory;
		whole[d] = total;
		total += size;
		for (ring = 0; ring < r->nrings[d]; ring++) {
			r->table[d][ring] = whole[d];
			if (ring_whole(t, ring, d))
				continue;
			r->table[d][ring] = total;
			total += size;
		}
	}
	r->ways = malloc(total);
	if (!r->ways)
		goto no_memory;
	for (d = 0; d < DL_TORUS_DIMS; d++) {
		fill_ring(t, d, 0, true, r->ways + whole[d]);
		for (ring = 0; ring < r->nrings[d]; ring++)
			if (r->table[d][ring] != whole[d])
				fill_ring(t, d, ring, false,
					  r->ways + r->table[d][ring]);
	}
	*out = r;
	return 0;

no_memory:
	dl_route_rings_free(r);
	return -ENOMEM;
}

void dl_route_rings_free(struct dl_route_rings *r)
{
	unsigned int d;

	if (!r)
		return;
	for (d = 0; d < DL_TORUS_DIMS; d++)
		free(r->table[d]);
	free(r->ways);
	free(r);
}
