/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Forwarding tables by dimension order (rules A4).
 *
 * A switch sends a packet along its own x ring until it is at the target's x
 * (or beside a hole there), then along its own y ring, then z.  What it does
 * with a target therefore depends on three short rows only: its moves along
 * each dimension, by the target's coordinate.  The whole forwarding table is
 * their product:
 *
 *     direction(x, y, z) = first of x_moves[x], y_moves[y], z_moves[z] that
 *                          leaves the switch
 *
 * There are two rows a dimension where the rule shares targets out by parity
 * (ties.c), and then two products, one for even LIDs and one for odd ones.
 *
 * First that is spread over all sites (a row of x at a time: the same bytes
 * but where x leaves the choice to y and z), then one gather turns sites into
 * the LIDs' ports.  Parallel cables are used in turn by the end ports of the
 * target's switch, in the order of port_order, so every direction carries the
 * same share of each target's adapters on each of its cables.
 *
 * An off-torus switch sends everything over its uplink, and is reached as the
 * switch that it is attached to; from there the uplinks lead down to it.
 *
 * Cost: one byte written and one small lookup an entry, two where a switch
 * has parallel cables; memory besides the tables themselves is a few bytes a
 * LID and a site.
 */
#include <errno.h>
#include <string.h>

#include "route/internal.h"

#define NOWHERE DL_TORUS_DIRS /* direction of an unreachable target */
#define NCODES (DL_TORUS_DIRS + 1)
/*
 * Ranks count modulo this; a multiple of every number of cables up to 8, so
 * that turns go on evenly where the count starts again.
 */
#define NRANKS 840

struct unicast {
	const struct dl_route_pass *pass;
	const struct dl_torus *torus;
	struct dl_tables *tables;
	/*
	 * By LID: its site, or where it is attached (nsites: none), with its
	 * parity if the rule goes by it: nsites + 1 more; its rank at its switch.
	 */
	uint32_t *lid_site;
	uint16_t *lid_rank;
	unsigned int nranks;  /* ranks in use, at most NRANKS */
	bool unequal[NCODES]; /* by direction: its cables have turns by LID, not by rank */
	/*
	 * By site, and what leads nowhere at nsites: directions, or ports; for
	 * parity 0, then for parity 1.
	 */
	uint8_t *spread;
	/* By parity of the dimension, and whether an earlier one has a hole. */
	uint8_t *scratch[2][2];
	uint8_t port[NCODES * NRANKS]; /* by direction and rank */
};

/* The place of each port number in the order of visits. */
static void visit_order(const struct dl_torus_config *c, uint8_t order[256])
{
	bool listed[256] = { false };
	unsigned int i, n = 0;

	for (i = 0; i < c->nport_order; i++) {
		if (listed[c->port_order[i]])
			continue;
		listed[c->port_order[i]] = true;
		order[n++] = c->port_order[i];
	}
	for (i = 0; i <= DL_FABRIC_MAX_PORTS; i++)
		if (!listed[i])
			order[n++] = i;
}

static void number_lids(struct unicast *u, uint32_t end_port, uint32_t site, uint32_t rank)
{
	const struct dl_fabric_port *p = &u->torus->fabric->ports[end_port];
	uint32_t lid, nlids = UINT32_C(1) << p->lmc;

	for (lid = p->lid; p->lid && lid < p->lid + nlids; lid++) {
		uint32_t r = ((rank << p->lmc) + lid - p->lid) % NRANKS;

		u->lid_site[lid] = site;
		if (dl_route_lid_parity(u->pass, lid))
			u->lid_site[lid] += u->torus->nsites + 1;
		u->lid_rank[lid] = r;
		if (r >= u->nranks)
			u->nranks = r + 1;
	}
}

/*
 * Ranks go on from one switch to the next along every dimension, so that the
 * turns at parallel cables are even not only among the adapters of one target
 * but also from target to target.  A switch's own port carries little and
 * takes the turn of its first adapter.
 */
static void number_switch(struct unicast *u, uint32_t sw, const uint8_t order[256])
{
	const struct dl_fabric *f = u->torus->fabric;
	const struct dl_fabric_node *n = dl_fabric_switch_node(f, sw);
	uint32_t c[DL_TORUS_DIMS], site = u->torus->attachment[sw], hosts = 0, rank, end;
	unsigned int i;

	for (i = 1; i <= n->nports; i++)
		hosts += dl_fabric_end_at(f, n, i) != DL_NONE;
	dl_torus_site_coord(&u->torus->grid, site, c);
	rank = (c[0] + c[1] + c[2]) * hosts;
	number_lids(u, n->first_port, site, rank);
	for (i = 0; i <= DL_FABRIC_MAX_PORTS; i++) {
		if (!order[i] || order[i] > n->nports)
			continue;
		end = dl_fabric_end_at(f, n, order[i]);
		if (end != DL_NONE)
			number_lids(u, end, site, rank++);
	}
}

static void number_targets(struct unicast *u, const struct dl_torus_config *c)
{
	const struct dl_fabric *f = u->torus->fabric;
	uint8_t order[256];
	uint32_t s, lid;

	for (lid = 0; lid <= f->top_lid; lid++) {
		u->lid_site[lid] = u->torus->nsites;
		u->lid_rank[lid] = 0;
	}
	visit_order(c, order);
	for (s = 0; s < f->nswitches; s++)
		if (u->torus->attachment[s] != DL_NONE)
			number_switch(u, s, order);
}

/* A row of moves, split into those that decide and those that do not. */
struct row {
	uint8_t code[DL_TORUS_MAX_RADIX]; /* what to do where this row decides */
	uint8_t open[DL_TORUS_MAX_RADIX]; /* coordinates where it does not */
	bool hole[DL_TORUS_MAX_RADIX];	  /* ... because a switch is missing */
	uint32_t nopen;
};

/* The parity along a dimension of the n-th set of later coordinates. */
static unsigned int parity_of(const uint32_t *radix, unsigned int dim, uint32_t n)
{
	unsigned int sum = 0;

	for (dim++; dim < DL_TORUS_DIMS; dim++) {
		sum += n % radix[dim];
		n /= radix[dim];
	}
	return sum & 1;
}

/* `code` translates directions, and NOWHERE, into the bytes that are spread. */
static void split_row(struct row *r, const uint8_t *moves, uint32_t radix, unsigned int dim,
		      const uint8_t code[NCODES])
{
	uint32_t i;

	r->nopen = 0;
	for (i = 0; i < radix; i++) {
		r->code[i] = code[NOWHERE];
		r->hole[r->nopen] = moves[i] == DL_ROUTE_TURN;
		if (moves[i] == DL_ROUTE_HERE || moves[i] == DL_ROUTE_TURN)
			r->open[r->nopen++] = i;
		else if (moves[i] != DL_ROUTE_CUT)
			r->code[i] = code[dl_torus_dir(dim, moves[i] == DL_ROUTE_MINUS)];
	}
}

/*
 * What a dimension and all later ones decide, an element for each of their
 * coordinates: a copy of this dimension's row, its gaps filled by what the
 * later ones decide, `later[1]` for packets beside a hole.
 */
static void fill_gaps(const struct row rows[2], unsigned int parity, const uint32_t *radix,
		      unsigned int dim, uint32_t n, uint8_t *const later[2], uint8_t *out)
{
	uint32_t i, k;

	for (i = 0; i < n; i++, out += radix[dim]) {
		const struct row *r = &rows[parity ^ parity_of(radix, dim, i)];

		memcpy(out, r->code, radix[dim]);
		for (k = 0; k < r->nopen; k++)
			out[r->open[k]] = later[r->hole[k]][i];
	}
}

/*
 * What to do with a packet for every site: the product of the rows, built up
 * from the last dimension to the first.
 */
static void spread_parity(struct unicast *u, uint32_t site, const uint8_t code[NCODES],
			  unsigned int parity, uint8_t *spread)
{
	const uint32_t *radix = u->torus->grid.radix;
	uint8_t *const *later = u->scratch[DL_TORUS_DIMS & 1];
	struct row rows[DL_ROUTE_SQUARES];
	unsigned int d, square;
	uint32_t n = 1;

	*later[0] = *later[1] = code[NOWHERE];
	for (d = DL_TORUS_DIMS; d-- > 0; n *= radix[d]) {
		const uint8_t *moves = dl_route_moves(&u->pass->rings, site, d);

		for (square = 0; square < DL_ROUTE_SQUARES; square++)
			split_row(&rows[square], moves + square * radix[d] * radix[d], radix[d], d,
				  code);
		if (!d)
			break;
		fill_gaps(rows, parity, radix, d, n, later, u->scratch[d & 1][0]);
		/* Once beside a hole, always. */
		fill_gaps(rows + DL_ROUTE_BESIDE, parity, radix, d, n,
			  (uint8_t *const[]){ later[1], later[1] }, u->scratch[d & 1][1]);
		later = u->scratch[d & 1];
	}
	fill_gaps(rows, parity, radix, 0, n, later, spread);
	spread[n * radix[0]] = code[NOWHERE];
}

static void unicast_spread(struct unicast *u, uint32_t site, const uint8_t code[NCODES])
{
	spread_parity(u, site, code, 0, u->spread);
	if (u->pass->lid_parity)
		spread_parity(u, site, code, 1, u->spread + u->torus->nsites + 1);
}

/* Ports by direction and rank; returns whether ranks make a difference. */
static bool ports_by_rank(struct unicast *u, uint32_t sw)
{
	unsigned int dir;
	bool parallel = false;

	memset(u->port, DL_TABLES_NO_PORT, sizeof(u->port));
	for (dir = 0; dir < DL_TORUS_DIRS; dir++) {
		uint32_t n = dl_torus_group_size(u->torus, sw, dir);

		parallel |= n > 1;
		u->unequal[dir] = n && dl_route_take_turns(u->pass, sw,
							   dl_torus_group(u->torus, sw, dir), n,
							   &u->port[dir * NRANKS],
							   u->pass->rate ? NRANKS : u->nranks);
	}
	return parallel;
}

/* Without parallel cables a site's port is the same for all its LIDs. */
static void gather_single(struct unicast *u, uint32_t sw, uint8_t *restrict row)
{
	const uint32_t *restrict lid_site = u->lid_site;
	const uint8_t *restrict port_to;
	uint32_t lid, top = u->tables->top_lid;
	uint8_t code[NCODES];
	unsigned int dir;

	for (dir = 0; dir < NCODES; dir++)
		code[dir] = u->port[dir * NRANKS];
	unicast_spread(u, u->torus->sw_site[sw], code);
	port_to = u->spread;
	for (lid = 0; lid <= top; lid++)
		row[lid] = port_to[lid_site[lid]];
}

static void gather_parallel(struct unicast *u, uint32_t sw, uint8_t *restrict row)
{
	static const uint8_t itself[NCODES] = { 0, 1, 2, 3, 4, 5, NOWHERE };
	const uint32_t *restrict lid_site = u->lid_site;
	const uint16_t *restrict lid_rank = u->lid_rank;
	const uint8_t *restrict direction;
	uint32_t lid, top = u->tables->top_lid;

	unicast_spread(u, u->torus->sw_site[sw], itself);
	direction = u->spread;
	for (lid = 0; lid <= top; lid++)
		row[lid] = u->port[direction[lid_site[lid]] * NRANKS + lid_rank[lid]];
}

/* Few ranks lead in one direction: turns from LID to LID keep to the proportion. */
static void share_unequal(const struct unicast *u, uint8_t *row)
{
	const uint8_t *direction = u->spread;
	uint32_t next[NCODES] = { 0 };

	for (uint32_t lid = 0; lid <= u->tables->top_lid; lid++) {
		unsigned int dir = direction[u->lid_site[lid]];

		if (u->unequal[dir])
			row[lid] = u->port[dir * NRANKS + next[dir]++ % NRANKS];
	}
}

/* The LIDs that end at this very switch. */
static void local_lids(struct unicast *u, uint32_t sw, uint8_t *row)
{
	const struct dl_fabric *f = u->torus->fabric;
	const struct dl_fabric_node *n = dl_fabric_switch_node(f, sw);
	unsigned int p;

	for (p = 0; p <= n->nports; p++) {
		uint32_t end = dl_fabric_end_at(f, n, p);

		if (end != DL_NONE && f->ports[end].lid)
			memset(row + f->ports[end].lid, p, (size_t)1 << f->ports[end].lmc);
	}
}

static void fill_row(struct unicast *u, uint32_t sw)
{
	uint8_t *row = u->tables->lft + sw * (size_t)u->tables->stride;

	if (ports_by_rank(u, sw)) {
		gather_parallel(u, sw, row);
		if (u->pass->rate)
			share_unequal(u, row);
	} else {
		gather_single(u, sw, row);
	}
	local_lids(u, sw, row);
}

/* ---- avoided switches -------------------------------------------------- */

/* Along one of its rings to an end port of an avoided switch, over this switch's port. */
static void fill_towards(struct unicast *u, const struct dl_fabric_port *end, uint32_t sw,
			 uint32_t to, unsigned int dim)
{
	const struct dl_torus *t = u->torus;
	uint8_t *row = u->tables->lft + sw * (size_t)u->tables->stride;
	uint32_t at[DL_TORUS_DIMS], c[DL_TORUS_DIMS], lid, i;

	dl_torus_site_coord(&t->grid, t->sw_site[sw], at);
	dl_torus_site_coord(&t->grid, t->sw_site[to], c);
	for (i = 0; end->lid && i >> end->lmc == 0; i++) {
		unsigned int parity =
			dl_route_parity(dl_route_lid_parity(u->pass, end->lid + i), c, dim);
		enum dl_route_move move =
			dl_route_move_to(&u->pass->rings, to, dim, at[dim], parity);
		unsigned int dir = move == DL_ROUTE_CUT ? NOWHERE :
							  dl_torus_dir(dim, move == DL_ROUTE_MINUS);

		lid = end->lid + i;
		row[lid] = u->port[dir * NRANKS + u->lid_rank[lid]];
	}
}

/* An avoided switch is a hole in its rings, but to packets that end there. */
static void fill_own_rings(struct unicast *u, uint32_t to)
{
	const struct dl_torus *t = u->torus;
	const struct dl_fabric *f = t->fabric;
	const struct dl_fabric_node *n = dl_fabric_switch_node(f, to);

	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++) {
		uint32_t ring = dl_route_ring(&t->grid, t->sw_site[to], d);

		for (uint32_t i = 0; i < t->grid.radix[d]; i++) {
			uint32_t sw = t->site_sw[dl_route_ring_site(&t->grid, ring, d, i)];

			if (sw == DL_NONE || sw == to)
				continue;
			ports_by_rank(u, sw);
			for (unsigned int p = 0; p <= n->nports; p++) {
				uint32_t end = dl_fabric_end_at(f, n, p);

				if (end != DL_NONE)
					fill_towards(u, &f->ports[end], sw, to, d);
			}
		}
	}
}

/* ---- off-torus switches ------------------------------------------------ */

/* Everything over the uplink. */
static void fill_up(struct unicast *u, uint32_t sw)
{
	uint8_t *row = u->tables->lft + sw * (size_t)u->tables->stride;
	uint8_t ports[DL_FABRIC_MAX_PORTS];
	unsigned int n = dl_torus_uplink_cables(u->torus, sw, ports, NULL);
	uint32_t lid;

	if (n)
		dl_route_take_turns(u->pass, sw, ports, n, u->port, u->nranks);
	for (lid = 1; n && lid <= u->tables->top_lid; lid++)
		if (u->lid_site[lid] != u->torus->nsites)
			row[lid] = u->port[u->lid_rank[lid]];
}

/* What ends here, and along the uplinks what leads here. */
static void fill_down(struct unicast *u, uint32_t sw)
{
	const struct dl_fabric *f = u->torus->fabric;
	const struct dl_fabric_node *n = dl_fabric_switch_node(f, sw);
	uint8_t ports[DL_FABRIC_MAX_PORTS];
	uint32_t at, next;
	unsigned int p, k;

	local_lids(u, sw, u->tables->lft + sw * (size_t)u->tables->stride);
	for (at = sw; (next = dl_torus_uplink_switch(u->torus, at)) != DL_NONE; at = next) {
		uint8_t *row = u->tables->lft + next * (size_t)u->tables->stride;

		k = dl_torus_uplink_cables(u->torus, at, NULL, ports);
		dl_route_take_turns(u->pass, next, ports, k, u->port, u->nranks);
		for (p = 0; p <= n->nports; p++) {
			uint32_t end = dl_fabric_end_at(f, n, p), lid, i;

			lid = end == DL_NONE ? 0 : f->ports[end].lid;
			for (i = 0; lid && i >> f->ports[end].lmc == 0; i++)
				row[lid + i] = u->port[u->lid_rank[lid + i]];
		}
	}
}

int dl_route_unicast(struct dl_route_pass *p, struct dl_tables *t)
{
	const struct dl_torus *torus = p->torus;
	struct unicast u = { .pass = p, .torus = torus, .tables = t };
	size_t nlids = (size_t)t->top_lid + 1;
	uint32_t s;

	u.lid_site = dl_arena_alloc(&p->arena, nlids * sizeof(*u.lid_site));
	u.lid_rank = dl_arena_alloc(&p->arena, nlids * sizeof(*u.lid_rank));
	u.spread = dl_arena_alloc(&p->arena, 2 * (torus->nsites + (size_t)1));
	for (s = 0; s < 4; s++)
		if (!(u.scratch[s / 2][s % 2] = dl_arena_alloc(&p->arena, torus->nsites + 1)))
			return -ENOMEM;
	if (!u.lid_site || !u.lid_rank || !u.spread)
		return -ENOMEM;
	number_targets(&u, p->config);
	for (s = 0; s < torus->fabric->nswitches; s++) {
		dl_progress(p->log, "routing", " switches", s, torus->fabric->nswitches);
		if (torus->sw_site[s] != DL_NONE)
			fill_row(&u, s);
	}
	dl_progress(p->log, "routing", " switches", 1, 1);
	for (s = 0; p->leaf && s < torus->fabric->nswitches; s++)
		if (p->leaf[s] && torus->sw_site[s] != DL_NONE)
			fill_own_rings(&u, s);
	for (s = 0; s < torus->nunplaced; s++)
		fill_up(&u, torus->unplaced[s]);
	for (s = 0; s < torus->nunplaced; s++)
		fill_down(&u, torus->unplaced[s]);
	return 0;
}
