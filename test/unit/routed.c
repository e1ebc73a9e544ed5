/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "routed.h"
#include "dateline/verify.h"

const struct dl_torus_grid routed_shapes[ROUTED_SHAPES] = {
	{ { 6, 5, 1 }, { 0 } },
	{ { 5, 4, 3 }, { 0 } },
	{ { 4, 4, 4 }, { 0 } },
	{ { 2, 5, 4 }, { 0 } },
	{ { 1, 7, 8 }, { 0 } },
	{ { 2, 2, 2 }, { 0 } },
	{ { 3, 3, 3 }, { true, true, true } },
	{ { 5, 4, 3 }, { false, true, false } },
	{ { 6, 6, 1 }, { true, false, false } },
};

/* May this site seed discovery: has it a cable in every dimension? */
static bool can_seed(const struct grid_fabric *g, uint32_t site)
{
	unsigned int d;

	for (d = 0; d < DL_TORUS_DIMS; d++)
		if (g->grid.radix[d] > 1 && !grid_hop(g, site, dl_torus_dir(d, false)) &&
		    !grid_hop(g, site, dl_torus_dir(d, true)))
			return false;
	return true;
}

uint32_t routed_seed(const struct grid_fabric *g)
{
	uint32_t site, sites = dl_torus_grid_sites(&g->grid);

	for (site = 0; site < sites; site++)
		if (can_seed(g, site))
			return site;
	return DL_NONE;
}

/* Route in classic mode; again, if it is routed already. */
void routed_again(struct routed *r)
{
	struct dl_route_options o;

	dl_route_result_release(&r->out);
	dl_route_options_init(&o);
	o.mode = DL_ROUTE_CLASSIC;
	r->err = dl_route(r->torus, &r->g.config, &o, NULL, &r->out);
	r->tables = r->out.tables;
}

void routed_make(struct routed *r)
{
	uint32_t seed = routed_seed(&r->g);

	grid_build(&r->g);
	grid_seed(&r->g, seed, true);
	assert_int_equal(dl_torus_discover(r->g.fabric, &r->g.config, NULL, &r->torus), 0);
	routed_again(r);
}

void routed_release(struct routed *r)
{
	dl_route_result_release(&r->out);
	dl_torus_free(r->torus);
	grid_free(&r->g);
	memset(r, 0, sizeof(*r));
}

uint32_t routed_site(const struct routed *r, uint32_t x, uint32_t y, uint32_t z)
{
	uint32_t c[DL_TORUS_DIMS] = { x, y, z };

	return dl_torus_site(&r->g.grid, c);
}

uint8_t routed_direction(const struct routed *r, uint32_t site, uint8_t port)
{
	uint32_t node = r->g.node[site];

	return r->torus->port_dir[r->g.fabric->nodes[node].first_port + port];
}

uint16_t routed_lid(const struct routed *r, uint32_t site)
{
	const struct dl_fabric *f = r->g.fabric;

	return f->ports[f->nodes[r->g.node[site]].first_port].lid;
}

/* Follow the tables from a switch to a LID; returns hops, or DL_NONE. */
uint32_t routed_follow(const struct routed *r, uint32_t sw, uint16_t lid)
{
	const struct dl_fabric *f = r->g.fabric;
	uint32_t hops;

	for (hops = 0; hops < 4 * r->torus->nsites; hops++) {
		uint8_t out = dl_tables_lft(r->tables, sw, lid);
		uint32_t port = f->nodes[f->switches[sw]].first_port + out;
		uint32_t in;

		if (out > f->nodes[f->switches[sw]].nports)
			return DL_NONE;
		in = out ? f->ports[port].peer : port;
		if (in == DL_NONE)
			return DL_NONE;
		if (dl_fabric_is_end_port(f, in))
			return f->lid_port[lid] == in ? hops : DL_NONE;
		sw = dl_fabric_peer_switch(f, port);
	}
	return DL_NONE;
}

void assert_routed_delivered(const struct routed *r)
{
	uint32_t s, lid;

	for (s = 0; s < r->g.fabric->nswitches; s++)
		for (lid = 1; lid <= r->g.fabric->top_lid; lid++)
			if (r->g.fabric->lid_port[lid] != DL_NONE)
				assert_true(routed_follow(r, s, lid) != DL_NONE);
}

void assert_routed_safe(const struct dl_tables *t, enum dl_route_mode mode)
{
	struct dl_verify_options how;
	struct dl_verify_result *v;

	dl_verify_options_init(&how);
	how.sls = mode == DL_ROUTE_ANY_SL ? DL_VERIFY_ANY_SL : 0;
	assert_int_equal(dl_verify(t, &how, NULL, &v), 0);
	assert_true(v->delivered);
	assert_false(v->credit_loop);
	dl_verify_result_free(v);
}
