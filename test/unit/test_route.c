/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Routing against reference models that follow the rules a hop at a time. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "routed.h"
#include "share.h"
#include "route/internal.h"

/* ---- the reference model ----------------------------------------------- */

/* Can one walk from a to b in this direction only? Counts the hops. */
static bool walk(const struct grid_fabric *g, uint32_t a, uint32_t b, unsigned int dir,
		 uint32_t *hops)
{
	for (*hops = 0; a != b; ++*hops) {
		if (!grid_hop(g, a, dir))
			return false;
		a = dl_torus_site_next(&g->grid, a, dir);
	}
	return true;
}

/* Steps from coordinate a to b in a direction, failures left aside. */
static uint32_t steps(const struct grid_fabric *g, unsigned int dir, uint32_t a, uint32_t b)
{
	uint32_t n = g->grid.radix[dl_torus_dir_dim(dir)];

	return dir & 1 ? (a + n - b) % n : (b + n - a) % n;
}

/*
 * The direction in which rules A4 sends a packet at site `s` for site `t`, or
 * DL_NONE when it names none.
 */
static uint32_t model_direction(const struct grid_fabric *g, uint32_t s, uint32_t t)
{
	uint32_t a[DL_TORUS_DIMS], b[DL_TORUS_DIMS], goal[DL_TORUS_DIMS], hops, site, gap;
	unsigned int d, dir, k;

	dl_torus_site_coord(&g->grid, s, a);
	dl_torus_site_coord(&g->grid, t, b);
	for (d = 0; d < DL_TORUS_DIMS; d++) {
		unsigned int up = dl_torus_dir(d, false), down = dl_torus_dir(d, true);
		unsigned int prefer;

		if (a[d] == b[d])
			continue;
		memcpy(goal, a, sizeof(goal));
		goal[d] = b[d];
		site = dl_torus_site(&g->grid, goal);
		prefer = b[d] > a[d] ? up : down; /* does not wrap */
		if (!g->grid.mesh[d] && g->grid.radix[d] > 2 &&
		    steps(g, dl_torus_opposite(prefer), a[d], b[d]) < steps(g, prefer, a[d], b[d]))
			prefer = dl_torus_opposite(prefer);
		for (k = 0; k < 2; k++) {
			dir = k ? dl_torus_opposite(prefer) : prefer;
			if (k && g->grid.mesh[d])
				return DL_NONE;
			if (!g->dead_switch[site]) {
				/* With two coordinates both ways are one. */
				if (walk(g, s, site, dir, &hops))
					return g->grid.radix[d] == 2 ? prefer : dir;
				continue;
			}
			/* Towards the hole: up to the switch beside it. */
			gap = dl_torus_site_next(&g->grid, site, dl_torus_opposite(dir));
			if (gap == s)
				break; /* turn here */
			if (walk(g, s, gap, dir, &hops))
				return dir;
		}
		if (k == 2)
			return DL_NONE;
	}
	return DL_NONE;
}

static void assert_model_agrees(const struct routed *r)
{
	uint32_t sites = r->torus->nsites, s, t;

	for (s = 0; s < sites; s++) {
		if (r->g.dead_switch[s])
			continue;
		for (t = 0; t < sites; t++) {
			uint32_t want;
			uint8_t port;

			if (r->g.dead_switch[t])
				continue;
			port = dl_tables_lft(r->tables, r->torus->site_sw[s], routed_lid(r, t));
			if (s == t) {
				assert_int_equal(port, 0);
				continue;
			}
			want = model_direction(&r->g, s, t);
			if (want == DL_NONE)
				assert_int_equal(port, DL_TABLES_NO_PORT);
			else
				assert_int_equal(routed_direction(r, s, port), want);
		}
	}
}

static void assert_sls(const struct routed *r)
{
	const struct dl_fabric *f = r->g.fabric;
	uint32_t s, t, d;

	for (s = 0; s < r->torus->nsites; s++) {
		for (t = 0; t < r->torus->nsites; t++) {
			uint32_t a[DL_TORUS_DIMS], b[DL_TORUS_DIMS], want = 0;

			if (r->g.dead_switch[s] || r->g.dead_switch[t])
				continue;
			dl_torus_site_coord(&r->g.grid, s, a);
			dl_torus_site_coord(&r->g.grid, t, b);
			for (d = 0; d < DL_TORUS_DIMS; d++)
				if (!r->g.grid.mesh[d] &&
				    abs((int)a[d] - (int)b[d]) * 2 > (int)r->g.grid.radix[d])
					want |= 1 << d;
			assert_int_equal(dl_tables_path_sl(r->tables,
							   f->nodes[r->g.node[s]].first_port,
							   routed_lid(r, t)),
					 want);
			assert_int_equal(dl_route_sl(&r->torus->grid, s, t), want);
		}
	}
}

/* ---- tests ------------------------------------------------------------- */

static void whole_fabrics(void **state)
{
	struct test_random random = { test_seed(11), 0 };
	unsigned int s;

	(void)state;
	for (s = 0; s < ROUTED_SHAPES; s++) {
		struct routed r = { .g = { .grid = routed_shapes[s],
					   .hosts = s % 3,
					   .parallel = 1 + s % 3,
					   .lmc = s % 2,
					   .shuffle = &random } };

		routed_make(&r);
		assert_int_equal(r.err, 0);
		assert_model_agrees(&r);
		assert_routed_delivered(&r);
		assert_sls(&r);
		routed_release(&r);
	}
}

/* Does the torus-2QoS document route this damage?  The obvious way. */
static bool model_accepts(const struct routed *r)
{
	const struct grid_fabric *g = &r->g;
	uint32_t sites = r->torus->nsites, s, t, hops, d, last = 0;
	uint32_t ndead = 0, c[2][DL_TORUS_DIMS];

	for (d = 0; d < DL_TORUS_DIMS; d++)
		if (g->grid.radix[d] > 1)
			last = d;
	for (s = 0; s < sites; s++) {
		if (g->dead_switch[s]) {
			ndead++;
			dl_torus_site_coord(&g->grid, s, c[ndead > 1]);
			for (d = 0; ndead > 1 && d < DL_TORUS_DIMS; d++)
				if (d != last && c[0][d] != c[1][d])
					return false;
			continue;
		}
		/* Every switch of a ring reaches every other along it. */
		for (t = 0; t < sites; t++) {
			unsigned int differ = 0, dim = 0;

			dl_torus_site_coord(&g->grid, s, c[1]);
			if (!g->dead_switch[t]) {
				uint32_t b[DL_TORUS_DIMS];

				dl_torus_site_coord(&g->grid, t, b);
				for (d = 0; d < DL_TORUS_DIMS; d++)
					if (b[d] != c[1][d]) {
						differ++;
						dim = d;
					}
			}
			if (differ == 1 && !walk(g, s, t, dl_torus_dir(dim, false), &hops) &&
			    !walk(g, s, t, dl_torus_dir(dim, true), &hops))
				return false;
		}
	}
	return true;
}

static void damaged_fabrics(void **state)
{
	struct test_random random = { test_seed(12), 0 };
	unsigned int k, accepted = 0, tried = 0, with_dead = 0;

	(void)state;
	for (k = 0; k < share(2400); k++) {
		struct routed r = { .g = { .grid = routed_shapes[k % ROUTED_SHAPES],
					   .hosts = 1,
					   .parallel = 1,
					   .shuffle = &random } };
		uint32_t sites = dl_torus_grid_sites(&r.g.grid), n, s;

		n = test_random(&random, 3);
		s = test_random(&random, sites);
		while (n-- && s != DL_NONE) {
			r.g.dead_switch[s] = true;
			s = dl_torus_site_next(&r.g.grid, s, test_random(&random, DL_TORUS_DIRS));
		}
		for (n = test_random(&random, 4); n; n--)
			r.g.dead_hop[test_random(&random, sites)]
				    [test_random(&random, DL_TORUS_DIMS)] = true;
		if (routed_seed(&r.g) == DL_NONE)
			continue;
		routed_make(&r);
		/* What discovery could not place is no matter for the rules. */
		if (!r.torus->nunplaced) {
			tried++;
			assert_int_equal(r.err == 0, model_accepts(&r));
		}
		if (!r.err)
			assert_routed_delivered(&r);
		if (!r.err && !r.torus->nunplaced) {
			accepted++;
			with_dead += r.torus->nplaced < sites;
			assert_model_agrees(&r);
			assert_sls(&r);
		}
		routed_release(&r);
	}
	print_message("%u fabrics, %u accepted, %u of them with missing "
		      "switches\n",
		      tried, accepted, with_dead);
	assert_true(accepted > tried / 5 && accepted < tried);
	assert_true(with_dead > share(50));
}

/* To each target, every hop's parallel cables carry the same share. */
static void parallel_cables(void **state)
{
	struct test_random random = { test_seed(13), 0 };
	struct routed r = { .g = { .grid = { { 4, 4, 4 }, { 0 } },
				   .hosts = 17,
				   .parallel = 3,
				   .shuffle = &random } };
	const struct dl_fabric *f;
	uint32_t s, t, h, p;

	(void)state;
	routed_make(&r);
	assert_int_equal(r.err, 0);
	assert_routed_delivered(&r);
	f = r.g.fabric;
	for (s = 0; s < r.torus->nsites; s++) {
		for (t = 0; t < r.torus->nsites; t++) {
			const struct dl_fabric_node *target = &f->nodes[r.g.node[t]];
			uint32_t used[DL_FABRIC_MAX_PORTS + 1] = { 0 };
			uint32_t least = DL_NONE, most = 0;
			unsigned int dir;

			if (s == t)
				continue;
			for (h = 1; h <= target->nports; h++) {
				p = f->ports[target->first_port + h].peer;
				if (p != DL_NONE && dl_fabric_is_end_port(f, p))
					used[dl_tables_lft(r.tables, r.torus->site_sw[s],
							   f->ports[p].lid)]++;
			}
			dir = model_direction(&r.g, s, t);
			for (h = 0; h < 3; h++) {
				uint8_t port = dl_torus_group(r.torus, r.torus->site_sw[s], dir)[h];

				if (used[port] < least)
					least = used[port];
				if (used[port] > most)
					most = used[port];
			}
			assert_true(least >= 5 && most <= 6);
		}
	}
	routed_release(&r);
}

/* Over all targets too, a hop's cables carry like numbers of adapters. */
static void cables_over_all_targets(void **state)
{
	static const unsigned int hosts[] = { 1, 2, 3, 5 };
	struct test_random random = { test_seed(15), 0 };
	unsigned int k, dir, i;

	(void)state;
	for (k = 0; k < 16; k++) {
		struct routed r = { .g = { .grid = { { 6, 5, 4 }, { 0 } },
					   .hosts = hosts[k % 4],
					   .parallel = 2 + k / 4,
					   .lmc = k % 2,
					   .shuffle = &random } };
		const struct dl_fabric *f;
		uint32_t s, lid;

		routed_make(&r);
		f = r.g.fabric;
		for (s = 0; s < f->nswitches; s++) {
			uint32_t used[DL_FABRIC_MAX_PORTS + 1] = { 0 };

			for (lid = 1; lid <= f->top_lid; lid++)
				if (f->lid_port[lid] != DL_NONE && f->ports[f->lid_port[lid]].num)
					used[dl_tables_lft(r.tables, s, lid)]++;
			for (dir = 0; dir < DL_TORUS_DIRS; dir++) {
				const uint8_t *p = dl_torus_group(r.torus, s, dir);
				uint32_t n = dl_torus_group_size(r.torus, s, dir);
				uint32_t least = used[p[0]], most = used[p[0]];

				for (i = 1; i < n; i++) {
					if (used[p[i]] < least)
						least = used[p[i]];
					if (used[p[i]] > most)
						most = used[p[i]];
				}
				assert_int_equal(n, r.g.parallel);
				assert_true(most - least <= 2 + most / 8);
			}
		}
		routed_release(&r);
	}
}

/* port_order decides which adapter takes which cable. */
static void port_order(void **state)
{
	struct routed r = { .g = { .grid = { { 5, 1, 1 }, { 0 } }, .hosts = 4, .parallel = 2 } };
	const struct dl_fabric *f;
	/* Ports 15, 13, 16, 14 in turn: cables 0, 1, 0, 1. */
	const uint8_t want[4] = { [15 - 13] = 0, [13 - 13] = 1, [16 - 13] = 0, [14 - 13] = 1 };
	uint32_t first, h;

	(void)state;
	routed_make(&r);
	f = r.g.fabric;
	/* Without shuffling, the hosts are on ports 13 to 16. */
	r.g.config.port_order[0] = 15;
	r.g.config.port_order[1] = 13;
	r.g.config.port_order[2] = 16;
	r.g.config.port_order[3] = 14;
	r.g.config.nport_order = 4;
	routed_again(&r);
	assert_int_equal(r.err, 0);
	first = f->nodes[r.g.node[1]].first_port;
	for (h = 0; h < 4; h++) {
		uint32_t p = f->ports[first + 13 + h].peer;

		assert_int_equal(dl_tables_lft(r.tables, r.torus->site_sw[0], f->ports[p].lid),
				 1 + want[h]);
	}
	routed_release(&r);
}

/* Rules A6, from the packet's point of view. */
static void sl2vl(void **state)
{
	unsigned int in, out, sl, vls;

	(void)state;
	for (vls = 2; vls <= 8; vls *= 2) {
		struct dl_route_vls budget = { vls, vls, false };

		for (in = 0; in <= DL_TORUS_DIRS; in++) {
			for (out = 0; out <= DL_TORUS_DIRS; out++) {
				dl_tables_sl2vl_row row = dl_route_sl2vl(in, out, &budget);

				for (sl = 0; sl < 16; sl++) {
					unsigned int vl = sl >> (out / 2) & 1;

					if (in < 6 && in / 2 > out / 2)
						vl += 2;
					if (sl >= 8)
						vl += 4;
					if (out == DL_TORUS_DIRS)
						vl = sl >= 8;
					assert_int_equal(dl_tables_sl2vl_get(row, sl),
							 out == DL_TORUS_DIRS ? vl : vl % vls);
				}
			}
		}
	}
}

static void vl_arbitration(void **state)
{
	const struct dl_route_vls vls = { 8, 8, false };
	struct dl_route_options o;
	struct dl_tables_vlarb arb;
	unsigned int vl;

	(void)state;
	dl_route_options_init(&o);
	o.weights[1] = 3;
	dl_route_vlarb(&o, &vls, true, 8, 8, &arb);
	assert_int_equal(arb.nhigh, 8);
	assert_int_equal(arb.nlow, 8);
	for (vl = 0; vl < 8; vl++) {
		assert_int_equal(arb.low[vl].vl, vl);
		assert_int_equal(arb.low[vl].weight, vl < 4 ? 64 : 192);
		assert_memory_equal(&arb.low[vl], &arb.high[vl], 2);
	}
	dl_route_vlarb(&o, &vls, false, 64, 64, &arb);
	assert_int_equal(arb.nlow, 2);
	assert_int_equal(arb.low[1].weight, 3 * arb.low[0].weight);
	o.weights[0] = 255;
	dl_route_vlarb(&o, &vls, true, 4, 64, &arb);
	assert_int_equal(arb.nhigh, 0);
	assert_int_equal(arb.nlow, 8);
	assert_int_equal(arb.low[0].weight, 255);
	assert_int_equal(arb.low[4].weight, 3);
}

/* Every packet finds its VL on every port it leaves by, and a share of it. */
static void assert_vls_exist(const struct routed *r)
{
	const struct dl_tables *t = r->tables;
	const struct dl_fabric *f = r->g.fabric;
	uint32_t p, in, sl, i;

	for (p = 0; p < f->nports; p++) {
		const struct dl_fabric_port *port = &f->ports[p];
		const struct dl_fabric_node *node = &f->nodes[port->node];
		const struct dl_tables_vlarb *arb;
		bool weighed[16] = { false };

		if (port->peer == DL_NONE || !port->num)
			continue;
		if (port->vls > 1) {
			assert_int_not_equal(t->vlarb[p], DL_TABLES_NO_ROW);
			arb = &t->arbs[t->vlarb[p]];
			for (i = 0; i < arb->nlow; i++) {
				assert_true(arb->low[i].vl < port->vls);
				weighed[arb->low[i].vl] = arb->low[i].weight;
			}
			for (i = 0; i < arb->nhigh; i++)
				assert_true(arb->high[i].vl < port->vls);
		}
		for (in = 0; in <= (node->sw == DL_NONE ? 0 : node->nports); in++) {
			uint16_t row = node->sw == DL_NONE ?
					       t->end_sl2vl[p] :
					       t->sl2vl[t->sl2vl_first[node->sw] +
							in * (node->nports + 1u) + port->num];

			for (sl = 0; sl < 16 && row != DL_TABLES_NO_ROW; sl++) {
				i = dl_tables_sl2vl_get(t->rows[row], sl);
				assert_true(i < port->vls);
				assert_true(weighed[i] || port->vls == 1);
			}
		}
	}
}

/* Ports of 2, 4, 8 and 15 data VLs in one fabric, both ends of a cable alike. */
static void mixed_vls(void **state)
{
	static const uint8_t counts[] = { 2, 4, 8, 15 };
	struct test_random random = { test_seed(16), 0 };
	unsigned int k, least;
	uint32_t p;

	(void)state;
	for (k = 0; k < 60; k++) {
		struct routed r = { .g = { .grid = routed_shapes[k % ROUTED_SHAPES],
					   .hosts = 2,
					   .parallel = 1,
					   .shuffle = &random } };

		routed_make(&r);
		least = k / 20; /* some of 2, or none below 4, or 8 */
		for (p = 0; p < r.g.fabric->nports; p++) {
			struct dl_fabric_port *port = &r.g.fabric->ports[p];

			port->vls = counts[least + test_random(&random, 4 - least)];
			if (port->peer != DL_NONE)
				r.g.fabric->ports[port->peer].vls = port->vls;
		}
		routed_again(&r);
		assert_int_equal(r.err, 0);
		assert_vls_exist(&r);
		assert_routed_delivered(&r);
		assert_sls(&r);
		routed_release(&r);
	}
}

/* The map of an output port at switch or adapter, as 16 VLs in a number. */
static dl_tables_sl2vl_row map_of(const struct dl_tables *t, uint32_t p, unsigned int in)
{
	const struct dl_fabric_node *n = &t->fabric->nodes[t->fabric->ports[p].node];
	uint16_t row = n->sw == DL_NONE ? t->end_sl2vl[p] :
					  t->sl2vl[t->sl2vl_first[n->sw] + in * (n->nports + 1u) +
						   t->fabric->ports[p].num];

	return row == DL_TABLES_NO_ROW ? 0 : t->rows[row];
}

/* How many maps put levels 0 and 1 on one VL? */
static unsigned int without_levels(const struct dl_tables *t)
{
	const struct dl_fabric *f = t->fabric;
	unsigned int n = 0, in;

	for (uint32_t p = 0; p < f->nports; p++) {
		const struct dl_fabric_node *node = &f->nodes[f->ports[p].node];

		for (in = 0;
		     f->ports[p].peer != DL_NONE && in <= (node->sw == DL_NONE ? 0u : node->nports);
		     in++)
			n += dl_tables_sl2vl_get(map_of(t, p, in), 0) ==
			     dl_tables_sl2vl_get(map_of(t, p, in), 8);
	}
	return n;
}

/* One adapter with one VL: only what leads to it and from it has no levels. */
static void one_vl_adapter(void **state)
{
	struct routed r = { .g = { .grid = { { 4, 3, 2 }, { 0 } }, .hosts = 2, .parallel = 1 } };
	struct dl_fabric *f;
	uint32_t p = 0, far;

	(void)state;
	routed_make(&r);
	f = r.g.fabric;
	assert_int_equal(without_levels(r.tables), 0);
	while (!(f->ports[p].num && f->ports[p].peer != DL_NONE && dl_fabric_is_end_port(f, p)))
		p++;
	far = f->ports[p].peer;
	f->ports[p].vls = 1;
	routed_again(&r);
	assert_int_equal(r.err, 0);
	assert_int_equal(without_levels(r.tables), 1 + f->nodes[f->ports[far].node].nports + 1);
	assert_int_equal(r.tables->vlarb[p], DL_TABLES_NO_ROW);
	routed_release(&r);
}

static void too_few_vls(void **state)
{
	struct routed r = { .g = { .grid = { { 5, 5, 1 }, { 0 } }, .hosts = 1, .parallel = 1 } };
	uint32_t p;

	(void)state;
	routed_make(&r);
	assert_int_equal(r.err, 0);
	for (p = 0; p < r.g.fabric->nports; p++)
		r.g.fabric->ports[p].vls = 1;
	routed_again(&r);
	assert_int_equal(r.err, -ENOTSUP);
	assert_int_equal(r.out.refusal, DL_ROUTE_TOO_FEW_VLS);
	routed_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_fabrics),   cmocka_unit_test(damaged_fabrics),
		cmocka_unit_test(parallel_cables), cmocka_unit_test(cables_over_all_targets),
		cmocka_unit_test(port_order),	   cmocka_unit_test(sl2vl),
		cmocka_unit_test(vl_arbitration),  cmocka_unit_test(mixed_vls),
		cmocka_unit_test(one_vl_adapter),  cmocka_unit_test(too_few_vls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
