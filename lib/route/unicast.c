/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Forwarding tables by dimension order (SPEC A4).
 *
 * A switch sends a packet along its own x ring until it is at the target's x
 * (or beside a hole there), then along its own y ring, then z.  What it does
 * with a target therefore depends on three short rows only: the ways out of
 * it along each dimension, by the target's coordinate.  The whole forwarding
 * table is their product:
 *
 *     direction(x, y, z) = first of ways_x[x], ways_y[y], ways_z[z] that moves
 *
 * First that is spread over all sites (bytes, branch-free, a row of x at a
 * time), then one gather a LID turns sites into ports.  Parallel cables are
 * used in turn by the end ports of the target's switch, in the order of
 * port_order, so every direction carries the same share of each target's
 * adapters on each of its cables.
 *
 * Cost: one byte written and two small lookups an entry; memory besides the
 * tables themselves is a few bytes a LID and a site.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "route/unicast.h"

#define NOWHERE DL_DIRS		/* direction of a target that has no way */
#define NCODES (DL_DIRS + 1)
#define NRANKS 256

struct unicast {
	const struct dl_rings *rings;
	const struct dl_torus *torus;
	struct dl_tables *tables;
	/* By LID: its site (nsites: none), its rank at its switch. */
	uint16_t *lid_site;
	uint8_t *lid_rank;
	uint8_t *direction;		/* by site, and NOWHERE at nsites */
	uint8_t port[NCODES * NRANKS];	/* by direction and rank */
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
	for (i = 0; i <= DL_MAX_PORTS; i++)
		if (!listed[i])
			order[n++] = i;
}

static void number_lids(struct unicast *u, uint32_t end_port, uint32_t rank)
{
	const struct dl_port *p = &u->torus->fabric->ports[end_port];
	uint32_t sw = dl_access_switch(u->torus->fabric, end_port);
	uint32_t lid, nlids = UINT32_C(1) << p->lmc;

	for (lid = p->lid; p->lid && lid < p->lid + nlids; lid++) {
		u->lid_site[lid] = u->torus->sw_site[sw];
		u->lid_rank[lid] = (rank << p->lmc) + (lid - p->lid);
	}
}

static void number_targets(struct unicast *u, const struct dl_torus_config *c)
{
	const struct dl_fabric *f = u->torus->fabric;
	uint8_t order[256];
	uint32_t s, lid;
	unsigned int i;

	for (lid = 0; lid <= f->top_lid; lid++)
		u->lid_site[lid] = u->torus->nsites;
	memset(u->lid_rank, 0, (size_t)f->top_lid + 1);
	visit_order(c, order);
	for (s = 0; s < f->nswitches; s++) {
		const struct dl_node *n = &f->nodes[f->switches[s]];
		uint32_t rank = 0;

		if (u->torus->sw_site[s] == DL_NONE)
			continue;
		for (i = 0; i <= DL_MAX_PORTS; i++) {
			uint32_t port = n->first_port + order[i];

			if (order[i] > n->nports)
				continue;
			if (order[i])
				port = f->ports[port].peer;
			if (port != DL_NONE && dl_is_end_port(f, port) &&
			    (!order[i] || !dl_is_switch(f, f->ports[port].node)))
				number_lids(u, port, rank++);
		}
	}
}

/* The direction to every site, as the product of the rows of ways. */
static void spread_directions(struct unicast *u, uint32_t site)
{
	const struct dl_grid *g = &u->torus->grid;
	uint8_t move[DL_DIMS][DL_MAX_RADIX], pass[DL_DIMS][DL_MAX_RADIX];
	uint8_t *out = u->direction;
	uint32_t x, y, z;
	unsigned int d;

	/* pass: 0xFF where the next dimension decides, and move is 0 there. */
	for (d = 0; d < DL_DIMS; d++) {
		const uint8_t *ways = dl_ways(u->rings, site, d);
		uint32_t i;

		for (i = 0; i < g->radix[d]; i++) {
			bool later = ways[i] == DL_WAY_HERE ||
				     ways[i] == DL_WAY_TURN;

			pass[d][i] = later ? 0xFF : 0;
			move[d][i] = later	 ? 0 :
				     ways[i] < 2 ? dl_dir(d, ways[i]) :
						   NOWHERE;
		}
	}
	for (z = 0; z < g->radix[2]; z++) {
		uint8_t in_z = move[2][z] | (pass[2][z] & NOWHERE);

		for (y = 0; y < g->radix[1]; y++) {
			uint8_t in_y = move[1][y] | (pass[1][y] & in_z);

			for (x = 0; x < g->radix[0]; x++)
				*out++ = move[0][x] | (pass[0][x] & in_y);
		}
	}
}

/* The port for each direction and rank out of a switch. */
static void spread_ports(struct unicast *u, uint32_t sw)
{
	unsigned int dir, rank;

	memset(u->port, DL_NO_PORT, sizeof(u->port));
	for (dir = 0; dir < DL_DIRS; dir++) {
		uint32_t n = dl_group_size(u->torus, sw, dir);
		const uint8_t *ports = dl_group(u->torus, sw, dir);

		for (rank = 0; n && rank < NRANKS; rank++)
			u->port[dir * NRANKS + rank] = ports[rank % n];
	}
}

/* The LIDs that end at this very switch. */
static void local_lids(struct unicast *u, uint32_t sw, uint8_t *row)
{
	const struct dl_fabric *f = u->torus->fabric;
	const struct dl_node *n = &f->nodes[f->switches[sw]];
	unsigned int p;

	for (p = 0; p <= n->nports; p++) {
		uint32_t end = n->first_port + p;
		const struct dl_port *e;

		if (p)
			end = f->ports[end].peer;
		if (end == DL_NONE || !dl_is_end_port(f, end))
			continue;
		e = &f->ports[end];
		if (e->lid && (!p || !dl_is_switch(f, e->node)))
			memset(row + e->lid, p, (size_t)1 << e->lmc);
	}
}

static void fill_row(struct unicast *u, uint32_t sw)
{
	uint8_t *restrict row = u->tables->lft + sw * (size_t)u->tables->stride;
	const uint8_t *restrict direction = u->direction;
	const uint16_t *restrict lid_site = u->lid_site;
	const uint8_t *restrict lid_rank = u->lid_rank;
	uint32_t lid, top = u->tables->top_lid;

	spread_directions(u, u->torus->sw_site[sw]);
	spread_ports(u, sw);
	for (lid = 0; lid <= top; lid++)
		row[lid] = u->port[direction[lid_site[lid]] * NRANKS +
				   lid_rank[lid]];
	local_lids(u, sw, row);
}

int dl_route_unicast(const struct dl_rings *r, const struct dl_torus_config *c,
		     struct dl_tables *t)
{
	const struct dl_torus *torus = r->torus;
	struct unicast u = { .rings = r, .torus = torus, .tables = t };
	size_t nlids = (size_t)t->top_lid + 1;
	int err = -ENOMEM;
	uint32_t s;

	u.lid_site = malloc(nlids * sizeof(*u.lid_site));
	u.lid_rank = malloc(nlids);
	u.direction = malloc(torus->nsites + 1);
	if (!u.lid_site || !u.lid_rank || !u.direction)
		goto out;
	number_targets(&u, c);
	u.direction[torus->nsites] = NOWHERE;
	for (s = 0; s < torus->fabric->nswitches; s++)
		if (torus->sw_site[s] != DL_NONE)
			fill_row(&u, s);
	err = 0;
out:
	free(u.lid_site);
	free(u.lid_rank);
	free(u.direction);
	return err;
}
