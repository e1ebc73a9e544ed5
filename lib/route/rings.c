/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * DOR on one ring: on a whole one by the rule of the mode (ties.c); on a broken
 * one the shorter way round, the other one when a failure lies on that one.  A packet for a
 * coordinate whose switch is missing goes on towards it, and turns into the
 * next dimension beside it.
 *
 * Invariant: following the moves from any live switch of a ring that is in one
 * piece ends at the target, or beside it when it is missing.  A packet never
 * turns round on a ring: once it takes the long way it has passed the target's
 * antipode or stays cut off from the shorter way by the same break.
 *
 * Complexity: whole rings of a dimension are all alike and share one table, so time
 * and memory are radix^2 for each dimension and for each broken ring.
 */
#include <errno.h>

#include "route/internal.h"

/* Sites between neighbours along a dimension. */
static uint32_t rings_stride_of(const struct dl_torus_grid *g, unsigned int dim)
{
	return (dim > 0 ? g->radix[0] : 1) * (dim > 1 ? g->radix[1] : 1);
}

uint32_t dl_route_ring(const struct dl_torus_grid *g, uint32_t site, unsigned int dim)
{
	uint32_t stride = rings_stride_of(g, dim);

	return site % stride + site / (stride * g->radix[dim]) * stride;
}

uint32_t dl_route_ring_site(const struct dl_torus_grid *g, uint32_t ring, unsigned int dim,
			    uint32_t coord)
{
	uint32_t stride = rings_stride_of(g, dim);

	return ring % stride + ring / stride * stride * g->radix[dim] + coord * stride;
}

bool dl_route_link_alive(const struct dl_torus *t, uint32_t site, unsigned int dir)
{
	uint32_t sw = t->site_sw[site];

	return sw != DL_NONE && dl_torus_group_size(t, sw, dir) > 0;
}

unsigned int dl_route_ring_regions(const struct dl_torus *t, uint32_t ring, unsigned int dim)
{
	const struct dl_torus_grid *g = &t->grid;
	uint32_t i, alive = 0, links = 0;

	for (i = 0; i < g->radix[dim]; i++) {
		uint32_t site = dl_route_ring_site(g, ring, dim, i);

		alive += t->site_sw[site] != DL_NONE;
		links += dl_route_link_alive(t, site, dl_torus_dir(dim, false));
	}
	/* A closed ring is one region; each live link of a line joins two. */
	return links == alive && alive ? 1 : alive - links;
}

/* One ring, by coordinate. */
struct ring {
	uint32_t radix;
	bool mesh;
	bool sw[DL_TORUS_MAX_RADIX];   /* is there a switch? */
	bool link[DL_TORUS_MAX_RADIX]; /* a live cable to the next? */
	/* Hops that a packet can go (DL_ROUTE_PLUS, _MINUS) before a gap. */
	uint32_t reach[2][DL_TORUS_MAX_RADIX];
	bool spared[2][DL_TORUS_MAX_RADIX]; /* is the hop from here that way spared? */
	bool spares;			    /* ... or any of them? */
};

static void measure_reach(struct ring *r)
{
	uint32_t n = r->radix, i, here, plus = 0, minus = 0;

	/* Twice round, so that what lies across the end is counted too. */
	for (i = 0; i < 2 * n; i++) {
		here = i % n;
		r->reach[DL_ROUTE_MINUS][here] = minus < n ? minus : n;
		minus = r->link[here] ? minus + 1 : 0;
		here = (2 * n - 1 - i) % n;
		plus = r->link[here] ? plus + 1 : 0;
		r->reach[DL_ROUTE_PLUS][here] = plus < n ? plus : n;
	}
}

/* Returns whether nothing is missing.  Of what is avoided, `own` is there. */
static bool read_ring(const struct dl_route_rings *rings, unsigned int dim, uint32_t number,
		      uint32_t own, struct ring *r)
{
	const struct dl_torus *t = rings->torus;
	bool whole = true;
	uint32_t i, site, sw;

	r->radix = t->grid.radix[dim];
	r->mesh = t->grid.mesh[dim];
	r->spares = false;
	for (i = 0; i < r->radix; i++) {
		sw = t->site_sw[dl_route_ring_site(&t->grid, number, dim, i)];
		for (unsigned int way = 0; way < 2; way++) {
			r->spared[way][i] =
				rings->spared && sw != DL_NONE &&
				rings->spared[sw * DL_TORUS_DIRS + dl_torus_dir(dim, way)];
			r->spares |= r->spared[way][i];
		}
		r->sw[i] = sw != DL_NONE && (!rings->leaf || !rings->leaf[sw] || sw == own);
	}
	for (i = 0; i < r->radix; i++) {
		site = dl_route_ring_site(&t->grid, number, dim, i);
		r->link[i] = r->sw[i] && r->sw[(i + 1) % r->radix] &&
			     dl_route_link_alive(t, site, dl_torus_dir(dim, false));
		whole &= r->sw[i] && (r->link[i] || (r->mesh && i == r->radix - 1));
	}
	measure_reach(r);
	return whole;
}

static enum dl_route_move choose_move(const struct ring *r, uint32_t from, uint32_t to)
{
	enum dl_route_move first = to > from ? DL_ROUTE_PLUS : DL_ROUTE_MINUS;
	uint32_t hops[2];

	hops[DL_ROUTE_PLUS] = (to + r->radix - from) % r->radix;
	hops[DL_ROUTE_MINUS] = r->radix - hops[DL_ROUTE_PLUS];
	if (!r->mesh && hops[!first] < hops[first])
		first = !first;
	if (!r->sw[to]) {
		/* Stop one hop short of the hole. */
		hops[DL_ROUTE_PLUS]--;
		hops[DL_ROUTE_MINUS]--;
		if (!hops[first])
			return DL_ROUTE_TURN;
	}
	if (hops[first] <= r->reach[first][from])
		return first;
	if (r->mesh)
		return DL_ROUTE_CUT;
	if (!r->sw[to] && !hops[!first])
		return DL_ROUTE_TURN;
	return hops[!first] <= r->reach[!first][from] ? !first : DL_ROUTE_CUT;
}

/* ---- ties that spare a slow hop ------------------------------------------ */

/* A whole ring whose moves are changed. */
struct ring_ties {
	const struct ring *r;
	const struct dl_route_rule *rule;
	/*
	 * By way and VL: packets that go straight on at a switch and keep the VL.  A ring
	 * has no cycle on a VL if there are none at some switch.
	 */
	uint32_t (*straight)[2][DL_TORUS_MAX_RADIX];
};

static uint32_t ties_next(const struct ring *r, uint32_t at, unsigned int way)
{
	return way == DL_ROUTE_PLUS ? (at + 1) % r->radix : (at + r->radix - 1) % r->radix;
}

/*
 * Count the packets from one switch to another that way; by the rule they go `ruled`.
 * Their VL follows from that (rules A6), or is that of packets that go straight on (A13).
 * Returns whether they cross a spared hop.
 */
static bool ties_count(struct ring_ties *t, uint32_t from, uint32_t to, unsigned int way,
		       unsigned int ruled, int count)
{
	unsigned int vl = !t->rule->any_sl && (ruled == DL_ROUTE_PLUS ? to < from : to > from);
	uint32_t first = t->rule->any_sl && t->rule->vls > 1 ? 2 : 1, hops = 0;
	bool spared = false;

	for (uint32_t at = from; at != to; at = ties_next(t->r, at, way), hops++) {
		spared |= t->r->spared[way][at];
		if (hops >= first)
			t->straight[way][vl][at] += count;
	}
	return spared;
}

static bool ties_closed(const struct ring_ties *t, unsigned int way)
{
	for (unsigned int vl = 0; vl < 2; vl++) {
		uint32_t at = 0;

		while (at < t->r->radix && t->straight[way][vl][at])
			at++;
		if (at == t->r->radix)
			return true;
	}
	return false;
}

/* Send a tie the other way, if that spares a hop, is safe, and the next switch agrees. */
static void ties_turn(struct ring_ties *t, uint8_t *square, uint32_t from, uint32_t to)
{
	uint32_t n = t->r->radix;
	unsigned int way = square[from * n + to], other = !way;

	if (square[ties_next(t->r, from, other) * n + to] != other && n > 2)
		return;
	if (ties_count(t, from, to, other, way, 0) || !ties_count(t, from, to, way, way, 0))
		return;
	ties_count(t, from, to, way, way, -1);
	ties_count(t, from, to, other, way, 1);
	if (ties_closed(t, other)) {
		ties_count(t, from, to, other, way, -1);
		ties_count(t, from, to, way, way, 1);
	} else {
		square[from * n + to] = other;
	}
}

/*
 * Packets for which both ways are equally long leave the spared hops alone, as far as
 * their path SLs allow: those say which way the rule goes.
 */
static int ties_spare(const struct ring *r, const struct dl_route_rule *rule,
		      struct dl_arena *arena, uint8_t *moves)
{
	uint32_t n = r->radix, from, to;
	struct ring_ties t = { .r = r, .rule = rule };
	unsigned int square;

	t.straight = dl_arena_array(arena, 2, sizeof(*t.straight));
	if (!t.straight)
		return -ENOMEM;
	for (square = 0; square < DL_ROUTE_BESIDE; square++)
		for (from = 0; from < n; from++)
			for (to = 0; to < n; to++)
				if (from != to) {
					unsigned int way = moves[(square * n + from) * n + to];

					ties_count(&t, from, to, way, way, 1);
				}
	for (square = 0; n % 2 == 0 && square < DL_ROUTE_BESIDE; square++)
		for (from = 0; from < n; from++)
			ties_turn(&t, moves + square * n * n, from, (from + n / 2) % n);
	return 0;
}

/*
 * The moves of one ring, or (by a rule) of all whole rings; NULL: no memory.
 * A packet beside a hole makes one hop along a whole ring, on which it passes
 * the hole: in any-SL mode it may take the shorter way, as no dateline is near.
 */
static uint8_t *make_moves(const struct ring *r, struct dl_arena *arena,
			   const struct dl_route_rule *rule)
{
	static const struct dl_route_rule shorter = { .balanced = true };
	const struct dl_route_rule *own = rule;
	uint32_t from, to, n = r->radix;
	uint8_t *moves = dl_arena_alloc(arena, DL_ROUTE_SQUARES * n * n), *move = moves;
	unsigned int square;

	for (square = 0; moves && square < DL_ROUTE_SQUARES; square++) {
		if (square == DL_ROUTE_BESIDE && rule && rule->any_sl)
			rule = &shorter;
		for (from = 0; from < n; from++)
			for (to = 0; to < n; to++, move++)
				*move = from == to ?
						DL_ROUTE_HERE :
					rule && !r->mesh ?
						dl_route_goes_minus(rule, n, from, to, square & 1) :
						choose_move(r, from, to);
	}
	if (moves && own && !r->mesh && r->spares && ties_spare(r, own, arena, moves))
		return NULL;
	return moves;
}

/* The moves of avoided switches' own rings. */
static int make_own_moves(struct dl_route_rings *r, struct dl_arena *arena,
			  const struct dl_route_rule *rule)
{
	const struct dl_torus *t = r->torus;
	uint32_t nsw = t->fabric->nswitches;
	struct ring ring;
	unsigned int d;

	if (!r->leaf)
		return 0;
	r->own = dl_arena_array(arena, nsw * (size_t)DL_TORUS_DIMS, sizeof(*r->own));
	for (uint32_t s = 0; r->own && s < nsw; s++) {
		for (d = 0; r->leaf[s] && t->sw_site[s] != DL_NONE && d < DL_TORUS_DIMS; d++) {
			uint32_t number = dl_route_ring(&t->grid, t->sw_site[s], d);
			bool whole = read_ring(r, d, number, s, &ring);
			uint8_t *moves = make_moves(&ring, arena, whole ? rule : NULL);

			if (!moves)
				return -ENOMEM;
			r->own[s * DL_TORUS_DIMS + d] = moves;
		}
	}
	return r->own ? 0 : -ENOMEM;
}

int dl_route_rings_init(struct dl_route_pass *p)
{
	const struct dl_torus *t = p->torus;
	struct dl_route_rings *r = &p->rings;
	uint32_t number, nrings;
	struct ring ring;
	unsigned int d;

	*r = (struct dl_route_rings){ .torus = t, .leaf = p->leaf, .spared = p->spared };
	for (d = 0; d < DL_TORUS_DIMS; d++) {
		uint8_t *shared = NULL, *moves;

		nrings = t->nsites / t->grid.radix[d];
		r->moves[d] = dl_arena_array(&p->arena, nrings, sizeof(*r->moves[d]));
		if (!r->moves[d])
			return -ENOMEM;
		for (number = 0; number < nrings; number++) {
			bool whole = read_ring(r, d, number, DL_NONE, &ring);
			bool usual = whole && !ring.spares;

			moves = usual && shared ?
					shared :
					make_moves(&ring, &p->arena, whole ? &p->rule : NULL);
			if (!moves)
				return -ENOMEM;
			if (usual)
				shared = moves;
			r->moves[d][number] = moves;
		}
	}
	return make_own_moves(r, &p->arena, &p->rule);
}
