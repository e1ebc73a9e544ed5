/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which way round a whole ring.
 *
 * The two rules of A4 take the shorter way.  Ties go the way that does not
 * wrap or, balanced, half of the targets one way and half the other.
 *
 * The rule of any-SL mode (A13).  A switch knows by which port a packet came, so
 * the first hop in a dimension is on one VL (A) and every further hop straight
 * on is on another (B), whatever the SL.  In one direction of a ring A leads to
 * B and B to B.  The chain of Bs is cut at the dateline: no packet comes there
 * on B to go on over it on B.  A path that wraps therefore crosses the dateline
 * with its first or second hop; with one VL, where A is B, with its first.
 *
 * Forwarding goes by the target.  For each target one number, P, tells all: the
 * sources at most P hops before it send in the positive direction, all others
 * in the negative one.  P - to is the number of sources that wrap in the
 * positive direction or, negative, in the other: by the cut at most 2, next to
 * the dateline.  A packet never turns round, since sources nearer to the target
 * agree with those behind them.
 *
 * These numbers decide how evenly a ring is loaded.  From radix 8 on the
 * busiest channel is least when all sources that may wrap do so, up to the
 * middle; the best numbers of the smaller rings are listed.  Where a list has
 * two rows, each carries half of the targets.  A test compares them all with
 * the optimum of the linear program.
 */
#include <errno.h>

#include "route/internal.h"

#define SMALL 7 /* rings up to this radix are listed */

static const int8_t small[SMALL + 1][2][SMALL] = {
	[2] = { { 0, -1 }, { 1, 0 } },
	[3] = { { 1, 0, -1 }, { 1, 0, -1 } },
	[4] = { { 2, 0, 0, -2 }, { 1, 1, -1, -1 } },
	[5] = { { 2, 1, 0, -1, -2 }, { 2, 1, 0, -1, -2 } },
	[6] = { { 2, 1, 1, -1, -2, -2 }, { 2, 2, 1, -1, -1, -2 } },
	[7] = { { 2, 2, 2, 0, -1, -2, -2 }, { 2, 2, 1, 0, -2, -2, -2 } },
};

/* How many sources wrap on their way to `to`; negative: to the negative side. */
static int ties_wrapping(const struct dl_route_rule *r, uint32_t radix, uint32_t to,
			 unsigned int parity)
{
	int ahead = (int)radix - 1 - 2 * (int)to, most = r->vls > 1 ? 2 : 1;

	if (radix <= (r->vls > 1 ? SMALL : 3))
		return small[radix][parity][to];
	return ahead == 0 ? 0 : ahead == 1 ? 1 : ahead == -1 ? -1 : ahead > 0 ? most : -most;
}

bool dl_route_goes_minus(const struct dl_route_rule *r, uint32_t radix, uint32_t from, uint32_t to,
			 unsigned int parity)
{
	uint32_t plus = (to + radix - from) % radix;

	if (r->any_sl)
		return (int)plus > (int)to + ties_wrapping(r, radix, to, parity);
	if (2 * plus != radix)
		return 2 * plus > radix;
	return r->balanced ? (to + parity) & 1 : to < from;
}

bool dl_route_has_balanced_ties(const struct dl_route_options *o, const struct dl_torus_config *c)
{
	return o->mode == DL_ROUTE_PROVEN &&
	       (o->ties == DL_ROUTE_TIES_BALANCED ||
		(o->ties == DL_ROUTE_TIES_CONFIGURED && c->balanced_ties));
}

unsigned int dl_route_mark(const struct dl_route_options *o, const struct dl_torus_config *c)
{
	return dl_route_has_balanced_ties(o, c) ? DL_ROUTE_MARK_BALANCED : o->mode;
}

void dl_route_options_of_mark(unsigned int mark, struct dl_route_options *o)
{
	bool balanced = mark == DL_ROUTE_MARK_BALANCED;

	o->mode = balanced ? DL_ROUTE_PROVEN : mark;
	o->ties = balanced ? DL_ROUTE_TIES_BALANCED : DL_ROUTE_TIES_TORUS_2QOS;
}

struct dl_route_rule dl_route_rule(const struct dl_route_options *o,
				   const struct dl_torus_config *c, const struct dl_torus_grid *g,
				   unsigned int vls)
{
	struct dl_route_rule r = { .any_sl = o->mode == DL_ROUTE_ANY_SL, .vls = vls };
	unsigned int d;
	uint32_t from, to;

	r.balanced = dl_route_has_balanced_ties(o, c);
	for (d = 0; d < DL_TORUS_DIMS; d++)
		for (from = 0; !g->mesh[d] && from < g->radix[d]; from++)
			for (to = 0; to < g->radix[d]; to++)
				r.by_parity |=
					from != to &&
					dl_route_goes_minus(&r, g->radix[d], from, to, 0) !=
						dl_route_goes_minus(&r, g->radix[d], from, to, 1);
	return r;
}

/* ---- parities ---------------------------------------------------------- */

static void set_parities(const struct dl_fabric_port *end, unsigned int rank, uint8_t *parity)
{
	uint32_t i;

	for (i = 0; end->lid && i >> end->lmc == 0; i++)
		parity[end->lid + i] = (rank + i) & 1;
}

/*
 * The LIDs of one adapter alternate, and so do the adapters of a switch.  In
 * any-SL mode these are counted.  Balanced ties decide about path SLs, which
 * must not depend on what is up or down: there the port's number counts.
 */
int dl_route_lid_parities(const struct dl_route_rule *r, const struct dl_fabric *f,
			  struct dl_arena *arena, uint8_t **out)
{
	uint8_t *parity = dl_arena_array(arena, f->top_lid + UINT32_C(1), sizeof(*parity));
	uint32_t s, port;
	unsigned int p, rank;

	for (s = 0; parity && s < f->nswitches; s++) {
		const struct dl_fabric_node *n = dl_fabric_switch_node(f, s);

		for (p = 1, rank = 0; p <= n->nports; p++) {
			port = dl_fabric_end_at(f, n, p);
			if (port != DL_NONE)
				set_parities(&f->ports[port], r->any_sl ? rank++ : p, parity);
		}
		set_parities(&f->ports[n->first_port], rank, parity);
	}
	*out = parity;
	return parity ? 0 : -ENOMEM;
}
