/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Proposals: radices and a seed from the surroundings of one switch
 * (rules A3).
 *
 * Problem.  Without a configuration it is unknown which neighbours of a switch
 * are opposite each other, and how long the rings are.
 *
 * Method.  Take a switch as origin.  Two of its neighbours at right angles
 * have exactly one more common neighbour; two opposite ones have none, except
 * on rings of four.  So opposite neighbours pair up by themselves, and what
 * is left pairs up as rings of four or stands alone at the end of an open
 * dimension: all ways to do so are tried, most pairs first.  For each, walk
 * out along every dimension, carrying the frame of directions along: across
 * the square that two directions span, each one's neighbour is the other's
 * too, and the one neighbour that is left over is straight ahead.  Where the
 * walk comes home the ring is closed and its length known; where nothing is
 * left over the dimension ends.
 *
 * Invariant.  Origins and their neighbours go by GUID, so every run proposes
 * the same, whatever the ports and wherever the subnet manager is.
 *
 * Limits.  The surroundings of at least one origin, out to the ends of its
 * rings but one, must be undamaged; the length of that one follows from the
 * number of switches.  A 4-ring and a 2x2 square are the same graph; a
 * ring is what is proposed.
 *
 * Complexity.  At most 15 pairings an origin, and a walk along each ring.
 */
#include <string.h>

#include "torus/internal.h"

#define MISSING 10 /* one switch in so many, where the number of switches is asked */

struct proposer {
	const struct dl_torus_solver *s;
	const struct dl_torus_graph *g;
	bool (*accept)(void *context, const struct dl_torus_proposal *p);
	void *context;
	struct dl_torus_proposal p; /* the one in the making */
	bool guesses;		    /* may one dimension be left to propose_rest()? */
};

/* A switch's neighbours by direction, DL_NONE where there is none. */
struct frame {
	uint32_t to[DIRS];
};

static uint64_t propose_guid_of(const struct proposer *n, uint32_t sw)
{
	return sw == DL_NONE ? 0 : dl_fabric_switch_node(n->s->f, sw)->guid;
}

/* The common neighbour of a and b besides `not`, if there is just one. */
static uint32_t propose_across(const struct proposer *n, uint32_t a, uint32_t b, uint32_t not )
{
	uint32_t found = DL_NONE;
	const uint32_t *c, *end;

	for (c = dl_torus_neighbours(n->g, a, &end); c < end; c++) {
		if (*c == not || !dl_torus_cabled(n->g, *c, b))
			continue;
		if (found != DL_NONE)
			return DL_NONE;
		found = *c;
	}
	return found;
}

static bool in_frame(const struct frame *f, uint32_t sw)
{
	for (unsigned int dir = 0; dir < DIRS; dir++)
		if (f->to[dir] == sw)
			return true;
	return false;
}

/*
 * Carry the frame of `sw` one step along `dir`.  Returns the switch stepped
 * to, or DL_NONE when the surroundings do not determine its frame.
 */
static uint32_t propose_step(const struct proposer *n, uint32_t sw, struct frame *f,
			     unsigned int dir)
{
	uint32_t next = f->to[dir];
	const uint32_t *c, *end;
	struct frame g;

	c = dl_torus_neighbours(n->g, next, &end);
	if (end - c > DIRS)
		return DL_NONE; /* some would be left over */
	memset(&g, 0xFF, sizeof(g));
	for (unsigned int e = 0; e < DIRS; e++) {
		if (dl_torus_dir_dim(e) == dl_torus_dir_dim(dir) || f->to[e] == DL_NONE)
			continue;
		g.to[e] = propose_across(n, next, f->to[e], sw);
		if (g.to[e] == DL_NONE || in_frame(f, g.to[e]))
			return DL_NONE;
	}
	g.to[dl_torus_opposite(dir)] = sw;
	for (; c < end; c++) {
		if (in_frame(&g, *c))
			continue;
		if (g.to[dir] != DL_NONE)
			return DL_NONE; /* two are left over */
		g.to[dir] = *c;
	}
	*f = g;
	return next;
}

/*
 * Walk from the origin along `dir`: the number of steps home (`closed`), or
 * to the end of an open dimension.  Returns false if neither is certain.
 */
static bool propose_walk(const struct proposer *n, uint32_t origin, const struct frame *at,
			 unsigned int dir, uint32_t *steps, bool *closed)
{
	struct frame f = *at;
	uint32_t sw = origin;

	*closed = false;
	for (*steps = 0; !*closed && f.to[dir] != DL_NONE;) {
		sw = propose_step(n, sw, &f, dir);
		if (sw == DL_NONE || ++*steps > DL_TORUS_MAX_RADIX)
			return false;
		*closed = sw == origin;
	}
	return true;
}

/* Radix, kind and dateline of one dimension of the frame. */
static bool propose_measure(struct proposer *n, uint32_t origin, const struct frame *f,
			    unsigned int dim)
{
	uint32_t ahead, behind = 0, *radix = &n->p.grid.radix[dim];
	bool closed;

	if (!propose_walk(n, origin, f, dl_torus_dir(dim, false), &ahead, &closed))
		return false;
	if (!closed && !propose_walk(n, origin, f, dl_torus_dir(dim, true), &behind, &closed))
		return false;
	*radix = closed ? ahead : ahead + behind + 1;
	n->p.grid.mesh[dim] = !closed && *radix > 2;
	n->p.seed.dateline[dim] = -(int32_t)behind;
	n->p.seed.has_dateline[dim] = true;
	return *radix <= DL_TORUS_MAX_RADIX;
}

/*
 * Take one dimension that cannot be measured for as long as the number of
 * switches says, of which a few may be missing: open, or else closed.
 */
static bool propose_rest(struct proposer *n, unsigned int dim)
{
	uint32_t *radix = &n->p.grid.radix[dim], others;

	*radix = 1;
	others = dl_torus_grid_sites(&n->p.grid);
	if (others < 2)
		return false;
	n->p.seed.dateline[dim] = 0;
	for (*radix = (n->s->n + others - 1) / others;
	     *radix >= 3 && *radix <= DL_TORUS_MAX_RADIX &&
	     (*radix * others - n->s->n) * MISSING <= n->s->n;
	     ++*radix)
		for (unsigned int closed = 0; closed < 2; closed++) {
			n->p.grid.mesh[dim] = !closed;
			n->p.seed.has_dateline[dim] = closed;
			if (n->accept(n->context, &n->p))
				return true;
		}
	return false;
}

static bool propose_frame(struct proposer *n, uint32_t origin, const struct frame *f)
{
	unsigned int unknown = DIMS;

	n->p.seed.from = propose_guid_of(n, origin);
	for (unsigned int dir = 0; dir < DIRS; dir++)
		n->p.seed.to[dir] = propose_guid_of(n, f->to[dir]);
	for (unsigned int d = 0; d < DIMS; d++) {
		if (propose_measure(n, origin, f, d))
			continue;
		if (!n->guesses || unknown < DIMS)
			return false;
		unknown = d;
	}
	return unknown < DIMS ? propose_rest(n, unknown) : n->accept(n->context, &n->p);
}

/* Are two neighbours opposite each other for sure (and no ring of four)? */
static bool propose_is_straight(const struct proposer *n, uint32_t origin, uint32_t a, uint32_t b)
{
	return dl_torus_cabled(n->g, a, b) || propose_across(n, a, b, origin) == DL_NONE;
}

static unsigned int propose_count_cables(const struct proposer *n, uint32_t a, uint32_t b)
{
	const struct dl_fabric_node *node = dl_fabric_switch_node(n->s->f, a);
	unsigned int count = 0;

	for (unsigned int k = 1; k <= node->nports; k++)
		count += dl_fabric_peer_switch(n->s->f, node->first_port + k) == b;
	return count;
}

/*
 * The order in which list[1..count) may be opposite list[0], ending with
 * `count`, none: who is opposite for sure; else those with as many cables, then
 * none, then the rest.  A closed dimension of radix 2 has twice as many as
 * rings, and a ring of four by its side could be taken for it.
 */
static unsigned int order_opposite(const struct proposer *n, uint32_t origin, const uint32_t *list,
				   unsigned int count, unsigned int order[DIRS])
{
	unsigned int cables = propose_count_cables(n, origin, list[0]), k = 0;

	for (unsigned int i = 1; i < count; i++)
		if (propose_is_straight(n, origin, list[0], list[i])) {
			order[0] = i;
			k = 1;
		}
	if (k)
		return k;
	for (unsigned int i = 1; i < count; i++)
		if (propose_count_cables(n, origin, list[i]) == cables)
			order[k++] = i;
	order[k++] = count;
	for (unsigned int i = 1; i < count; i++)
		if (propose_count_cables(n, origin, list[i]) != cables)
			order[k++] = i;
	return k;
}

/*
 * Turn the origin's neighbours list[0..count) into directions from dimension
 * `dim` on: the first one is positive, and its opposite is one that may be,
 * or none.
 */
static bool pair_up(struct proposer *n, uint32_t origin, const uint32_t *list, unsigned int count,
		    unsigned int dim, struct frame *f)
{
	uint32_t rest[DIRS], *two = &f->to[dl_torus_dir(dim, false)];
	unsigned int order[DIRS], norder, left;

	if (!count)
		return propose_frame(n, origin, f);
	if (dim == DIMS)
		return false;
	two[0] = list[0];
	norder = order_opposite(n, origin, list, count, order);
	for (unsigned int i = 0; i < norder; i++) {
		two[1] = order[i] == count ? DL_NONE : list[order[i]];
		left = 0;
		for (unsigned int k = 1; k < count; k++)
			if (k != order[i])
				rest[left++] = list[k];
		if (pair_up(n, origin, rest, left, dim + 1, f))
			return true;
	}
	two[0] = two[1] = DL_NONE;
	return false;
}

static bool try_origin(struct proposer *n, uint32_t origin)
{
	const uint32_t *c, *end;
	uint32_t list[DIRS];
	unsigned int count = 0, i;
	struct frame f;

	c = dl_torus_neighbours(n->g, origin, &end);
	if (end - c > DIRS || (c == end && n->s->n > 1))
		return false;
	for (; c < end; c++, count++) {
		for (i = count; i && propose_guid_of(n, list[i - 1]) > propose_guid_of(n, *c); i--)
			list[i] = list[i - 1];
		list[i] = *c;
	}
	memset(&f, 0xFF, sizeof(f));
	return pair_up(n, origin, list, count, 0, &f);
}

bool dl_torus_propose(const struct dl_torus_solver *s, const struct dl_torus_graph *g,
		      const bool *without, bool guess,
		      bool (*accept)(void *context, const struct dl_torus_proposal *p),
		      void *context)
{
	struct proposer n = {
		.s = s, .g = g, .accept = accept, .context = context, .guesses = guess
	};

	for (uint32_t i = 0; i < s->n; i++)
		if (!without[s->by_guid[i]] && try_origin(&n, s->by_guid[i]))
			return true;
	return false;
}
