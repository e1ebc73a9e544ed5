/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any-SL mode (rules A13), judged by a checker of its own (anysl_checker.c).  Then the
 * load of rings against the optimum of a linear program, and repairs against those of
 * proven mode.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dateline/route.h"
#include "dateline/verify.h"
#include "anysl_checker.h"
#include "grid_fabric.h"
#include "share.h"

#define RUNS share(1000)
#define MOST_SITES 100
#define IGRAPH_EVERY 10

/* ---- scenarios --------------------------------------------------------- */

struct scenario {
	struct grid_fabric g;
	struct dl_torus *torus;
	struct dl_route_result r;
};

static uint32_t seed_site(const struct grid_fabric *g)
{
	uint32_t sites = dl_torus_grid_sites(&g->grid), s, best = DL_NONE, most = 0, n;
	unsigned int d, dir;

	for (s = 0; s < sites; s++) {
		for (d = 0; d < DL_TORUS_DIMS; d++)
			if (g->grid.radix[d] > 1 && !grid_hop(g, s, dl_torus_dir(d, false)) &&
			    !grid_hop(g, s, dl_torus_dir(d, true)))
				break;
		for (dir = n = 0; dir < DL_TORUS_DIRS; dir++)
			n += grid_hop(g, s, dir);
		if (d == DL_TORUS_DIMS && n > most) {
			most = n;
			best = s;
		}
	}
	return best;
}

static void draw_shape(struct grid_fabric *g, struct test_random *r)
{
	unsigned int dims, d;

	do {
		dims = 1 + test_random(r, 3);
		for (d = 0; d < DL_TORUS_DIMS; d++) {
			g->grid.radix[d] = d < dims ? 2 + test_random(r, 8) : 1;
			g->grid.mesh[d] = !test_random(r, 5);
		}
	} while (dl_torus_grid_sites(&g->grid) > MOST_SITES);
	g->hosts = test_random(r, 4);
	g->parallel = 1 + test_random(r, 4) / 3;
	g->lmc = test_random(r, 6) / 5;
	if (dl_torus_grid_sites(&g->grid) > 30) {
		g->hosts = g->hosts > 1;
		g->lmc = 0;
	}
}

/* Up to a third of the switches, or of the cables, or some of both. */
static void draw_failures(struct grid_fabric *g, struct test_random *r)
{
	uint32_t sites = dl_torus_grid_sites(&g->grid), s, of, part;
	unsigned int d, kinds;

	do {
		memset(g->dead_switch, 0, sizeof(g->dead_switch));
		memset(g->dead_hop, 0, sizeof(g->dead_hop));
		kinds = test_random(r, 4);
		part = test_random(r, 34);
		for (s = 0; s < sites; s++) {
			of = test_random(r, 100);
			g->dead_switch[s] = kinds & 1 && of < part;
			for (d = 0; d < DL_TORUS_DIMS; d++)
				g->dead_hop[s][d] = kinds & 2 && test_random(r, 100) < part;
		}
	} while (!grid_connected(g) || seed_site(g) == DL_NONE);
}

static void set_vls(struct dl_fabric *f, unsigned int vls)
{
	uint32_t i;

	for (i = 0; i < f->nports; i++)
		f->ports[i].vls = vls;
}

static void build(struct scenario *s, unsigned int vls)
{
	grid_build(&s->g);
	set_vls(s->g.fabric, vls);
	grid_seed(&s->g, seed_site(&s->g), true);
	assert_int_equal(dl_torus_discover(s->g.fabric, &s->g.config, NULL, &s->torus), 0);
}

static void route(struct scenario *s, enum dl_route_mode mode, enum dl_route_ties ties)
{
	struct dl_route_options o;

	dl_route_options_init(&o);
	o.mode = mode;
	o.ties = ties;
	assert_int_equal(dl_route(s->torus, &s->g.config, &o, NULL, &s->r), 0);
}

static void add_groups(struct scenario *s)
{
	const struct dl_fabric *f = s->g.fabric;
	uint32_t *members = malloc(f->nports * sizeof(*members)), n = 0, i;

	for (i = 0; i < f->nports; i++)
		if (checker_is_end(f, i))
			members[n++] = i;
	for (i = 0; i < s->g.parallel; i++) {
		uint16_t mlid = DL_TABLES_MCAST_LID + i;
		struct dl_tables_mcast_group *group = dl_tables_group(s->r.tables, mlid);

		assert_int_equal(dl_route_tree_group(s->r.tree, f, mlid, members, n, &group->masks),
				 0);
	}
	free(members);
}

static void release(struct scenario *s)
{
	dl_route_result_release(&s->r);
	dl_torus_free(s->torus);
	grid_free(&s->g);
	memset(s, 0, sizeof(*s));
}

/* ---- tests: safety ----------------------------------------------------- */

static void check_path_sls(const struct scenario *s)
{
	const struct dl_fabric *f = s->g.fabric;
	uint32_t src, lid;

	for (src = 0; src < f->nports; src++)
		for (lid = 1; checker_is_end(f, src) && lid <= f->top_lid; lid++)
			if (f->lid_port[lid] != DL_NONE)
				assert_int_equal(dl_tables_path_sl(s->r.tables, src, lid), 0);
}

static void test_random_tori(void **state)
{
	static const unsigned int vls[] = { 8, 8, 8, 4, 4, 2, 2, 1 };
	struct test_random r = { .seed = test_seed(14) };
	struct scenario s = { 0 };
	unsigned int i, repaired = 0;

	(void)state;
	for (i = 0; i < RUNS; i++) {
		draw_shape(&s.g, &r);
		draw_failures(&s.g, &r);
		s.g.shuffle = &r;
		build(&s, vls[test_random(&r, 8)]);
		route(&s, DL_ROUTE_ANY_SL, DL_ROUTE_TIES_CONFIGURED);
		add_groups(&s);
		assert_false(has_credit_loop(s.r.tables, i % IGRAPH_EVERY == 0));
		check_path_sls(&s);
		repaired += s.r.report.changed > 0;
		release(&s);
	}
	assert_true(repaired > RUNS / 20);
}

/* The checker sees what any-SL mode is there for. */
static void test_proven_mode_needs_path_sls(void **state)
{
	struct scenario s = { .g = { .grid = { { 6, 5, 1 }, { 0 } }, .hosts = 2, .parallel = 1 } };

	(void)state;
	build(&s, 8);
	route(&s, DL_ROUTE_PROVEN, DL_ROUTE_TIES_CONFIGURED);
	add_groups(&s);
	assert_true(has_credit_loop(s.r.tables, true));
	release(&s);
}

/* ---- tests: ties ------------------------------------------------------- */

/* Does the path of a pair cross the dateline of a dimension? */
static unsigned int crossed(const struct scenario *s, uint32_t src, uint16_t lid)
{
	const struct dl_fabric *f = s->g.fabric;
	uint32_t sw = dl_fabric_access_switch(f, src), c[DL_TORUS_DIMS];
	uint32_t to = dl_fabric_access_switch(f, f->lid_port[lid]), port;
	unsigned int sl = 0, dir;

	while (sw != to) {
		port = f->nodes[f->switches[sw]].first_port + dl_tables_lft(s->r.tables, sw, lid);
		dir = s->torus->port_dir[port];
		dl_torus_site_coord(&s->g.grid, s->torus->sw_site[sw], c);
		if (c[dir / 2] == (dir & 1 ? 0 : s->g.grid.radix[dir / 2] - 1))
			sl |= 1u << dir / 2;
		sw = f->nodes[f->ports[f->ports[port].peer].node].sw;
	}
	return sl;
}

/*
 * Balanced ties in proven mode: the path SL names the datelines that the path
 * crosses on the whole torus; failures change no SL; all is proven.
 */
static void test_balanced_ties(void **state)
{
	struct test_random r = { .seed = test_seed(15) };
	struct scenario s = { 0 }, hurt = { 0 };
	struct dl_verify_result *v;
	unsigned int i;
	uint32_t src, lid;

	(void)state;
	for (i = 0; i < share(60); i++) {
		draw_shape(&s.g, &r);
		s.g.shuffle = NULL;
		hurt.g = s.g;
		build(&s, 8);
		route(&s, DL_ROUTE_PROVEN, DL_ROUTE_TIES_BALANCED);
		for (src = 0; src < s.g.fabric->nports; src++)
			for (lid = 1; checker_is_end(s.g.fabric, src) && lid <= s.g.fabric->top_lid;
			     lid++)
				if (s.g.fabric->lid_port[lid] != DL_NONE)
					assert_int_equal(dl_tables_path_sl(s.r.tables, src, lid),
							 crossed(&s, src, lid));
		draw_failures(&hurt.g, &r);
		build(&hurt, 8);
		route(&hurt, DL_ROUTE_PROVEN, DL_ROUTE_TIES_BALANCED);
		assert_int_equal(dl_route_verify_sls(hurt.r.tables, hurt.r.tree, 0,
						     DL_ROUTE_MULTICAST_SLS, &v),
				 0);
		assert_true(v->delivered && !v->credit_loop);
		dl_verify_result_free(v);
		release(&hurt);
		release(&s);
	}
}

/* Do the SLs to any LID at a switch differ?  Are there adapters at ports of both parities? */
static bool sls_differ(const struct dl_tables *a, const struct dl_tables *b, uint32_t from,
		       uint32_t to, bool *both)
{
	const struct dl_fabric *f = a->fabric;
	uint32_t src = dl_fabric_switch_node(f, from)->first_port;
	bool differ = false, seen[2] = { false };

	for (uint32_t lid = 1; lid <= f->top_lid; lid++) {
		uint32_t end = f->lid_port[lid];

		if (end == DL_NONE || dl_fabric_access_switch(f, end) != to)
			continue;
		differ |= dl_tables_path_sl(a, src, lid) != dl_tables_path_sl(b, src, lid);
		if (!dl_fabric_is_switch(f, f->ports[end].node))
			seen[f->ports[f->ports[end].peer].num & 1] = true;
	}
	*both = seen[0] && seen[1];
	return differ;
}

/* dl_route_sl_differs() against the tables of both rules. */
static void test_other_ties(void **state)
{
	struct test_random r = { .seed = test_seed(16) };
	struct scenario s = { 0 };
	uint32_t seen = 0;

	(void)state;
	for (unsigned int i = 0; i < share(40); i++) {
		struct dl_route_sl_rule even, odd;
		struct dl_route_result was;

		draw_shape(&s.g, &r);
		s.g.shuffle = NULL;
		build(&s, 8);
		even = (struct dl_route_sl_rule){ &s.torus->grid, true };
		odd = (struct dl_route_sl_rule){ &s.torus->grid, false };
		route(&s, DL_ROUTE_PROVEN, DL_ROUTE_TIES_BALANCED);
		was = s.r;
		memset(&s.r, 0, sizeof(s.r));
		route(&s, DL_ROUTE_PROVEN, DL_ROUTE_TIES_TORUS_2QOS);
		for (uint32_t a = 0; a < s.g.fabric->nswitches; a++)
			for (uint32_t b = 0; b < s.g.fabric->nswitches; b++) {
				const uint32_t at[2] = { s.torus->sw_site[a], s.torus->sw_site[b] };
				bool both, is = sls_differ(s.r.tables, was.tables, a, b, &both),
					   says = dl_route_sl_differs(&odd, at, &even, at);

				assert_true(both ? is == says : !is || says);
				assert_false(dl_route_sl_differs(&even, at, &even, at));
				seen += both && is;
			}
		dl_route_result_release(&was);
		release(&s);
	}
	assert_true(seen > 0);
}

/* ---- tests: load ------------------------------------------------------- */

/*
 * Flows on the busiest channel of a ring, all pairs once: the optimum of a
 * linear program over which way each source goes to each target, with the cut
 * of rules A13 (found with GLPK).
 */
static const double optimum[17] = {
	[3] = 1,   [4] = 2,   [5] = 3,	 [6] = 4.5, [7] = 6.5, [8] = 9,	  [9] = 12,
	[10] = 16, [11] = 20, [12] = 25, [13] = 30, [14] = 36, [15] = 42, [16] = 49,
};

/* The busiest channel between adapters in each dimension, for one pair each. */
static void busiest(struct scenario *s, double most[DL_TORUS_DIMS])
{
	const struct dl_fabric *f = s->g.fabric;
	uint64_t *load = calloc(f->nports, sizeof(*load));
	uint32_t src, lid, sw, port, i, sites = dl_torus_grid_sites(&s->g.grid);
	double share;

	for (src = 0; src < f->nports; src++)
		for (lid = 1; checker_is_end(f, src) && f->ports[src].num && lid <= f->top_lid;
		     lid++) {
			if (f->lid_port[lid] == DL_NONE || !f->ports[f->lid_port[lid]].num ||
			    f->lid_port[lid] == src)
				continue;
			for (sw = dl_fabric_access_switch(f, src);; sw = f->nodes[i].sw) {
				port = f->nodes[f->switches[sw]].first_port +
				       dl_tables_lft(s->r.tables, sw, lid);
				i = f->ports[f->ports[port].peer].node;
				if (f->nodes[i].type != DL_FABRIC_SWITCH)
					break;
				load[port]++;
			}
		}
	memset(most, 0, DL_TORUS_DIMS * sizeof(*most));
	for (i = 0; i < f->nports; i++) {
		unsigned int dim = s->torus->port_dir[i] / 2;

		if (s->torus->port_dir[i] == DL_TORUS_DIRS)
			continue;
		share = (double)load[i] / s->g.hosts / s->g.hosts / (1u << s->g.lmc) *
			s->g.grid.radix[dim] / sites;
		if (share > most[dim])
			most[dim] = share;
	}
	free(load);
}

/*
 * With one adapter at each switch, all that comes to a switch of the last
 * dimension for a target goes one way: flows are whole numbers, and the optimum
 * of the linear program is out of reach where it is none.
 */
static void test_one_adapter(void **state)
{
	uint32_t k;
	double most[DL_TORUS_DIMS];

	(void)state;
	for (k = 3; k <= 16; k++) {
		struct scenario s = {
			.g = { .grid = { { k, 4 + k % 3, 1 }, { 0 } }, .hosts = 1, .parallel = 1 }
		};
		uint32_t last = s.g.grid.radix[1];

		build(&s, 8);
		route(&s, DL_ROUTE_ANY_SL, DL_ROUTE_TIES_CONFIGURED);
		busiest(&s, most);
		assert_true(most[0] <= 1.05 * optimum[k]);
		assert_true(most[1] <= (unsigned int)(optimum[last] + 0.5));
		release(&s);
	}
}

/* Do packets that go straight on twice wait for each other all round the ring? */
static bool closes_ring(const unsigned int *plus, unsigned int k, bool minus)
{
	unsigned int twice = 0, to, i, hops;

	/* Bit i: straight on at switch i and at the next one. */
	for (to = 0; to < k; to++) {
		hops = minus ? k - 1 - plus[to] : plus[to];
		for (i = 2; i < hops; i++)
			twice |= 1u << (minus ? to + i : to + k - i) % k;
	}
	return twice == (1u << k) - 1;
}

static unsigned int busiest_of(const unsigned int *plus, unsigned int k)
{
	unsigned int load[2][16] = { { 0 } }, most = 0, to, i;

	for (to = 0; to < k; to++) {
		for (i = 1; i <= plus[to]; i++)
			load[0][(to + k - i) % k] += plus[to] + 1 - i;
		for (i = 1; i <= k - 1 - plus[to]; i++)
			load[1][(to + i) % k] += k - i - plus[to];
	}
	for (i = 0; i < 2 * k; i++)
		if (load[i / k][i % k] > most)
			most = load[i / k][i % k];
	return most;
}

/*
 * All tables of a ring with one LID at each switch: from how many switches the
 * positive way is taken to each target.
 */
static void test_whole_numbers(void **state)
{
	unsigned int k, i, least, n;
	uint32_t tables, t;

	(void)state;
	for (k = 3; k <= 7; k++) {
		unsigned int plus[7];

		for (tables = 1, i = 0; i < k; i++)
			tables *= k;
		for (least = k * k, t = 0; t < tables; t++) {
			for (n = t, i = 0; i < k; i++, n /= k)
				plus[i] = n % k;
			n = busiest_of(plus, k);
			if (n < least && !closes_ring(plus, k, false) &&
			    !closes_ring(plus, k, true))
				least = n;
		}
		assert_int_equal(least, (unsigned int)(optimum[k] + 0.5));
	}
}

static void test_busiest_channel(void **state)
{
	struct test_random r = { .seed = test_seed(16) };
	uint32_t k, j;
	unsigned int d;
	double most[DL_TORUS_DIMS];

	(void)state;
	for (k = 3; k <= 16; k++) {
		for (j = 3; j <= 16; j += k % 3 + 2) {
			struct scenario s = {
				.g = { .grid = { { k, j, 1 + (k + j) % 2 }, { 0 } },
				       .hosts = 2 + k % 3,
				       .parallel = 1,
				       .lmc = (k + j) % 4 == 0,
				       .shuffle = &r },
			};

			build(&s, 8);
			route(&s, DL_ROUTE_ANY_SL, DL_ROUTE_TIES_CONFIGURED);
			busiest(&s, most);
			for (d = 0; d < 2; d++)
				assert_true(most[d] <= 1.05 * optimum[s.g.grid.radix[d]]);
			release(&s);
		}
	}
}

/* ---- tests: repairs ---------------------------------------------------- */

struct cost {
	uint64_t changed, busiest;
	double hops; /* of a pair */
};

static void add_cost(struct scenario *s, enum dl_route_mode mode, struct cost *cost)
{
	struct dl_tables_load l;

	route(s, mode, DL_ROUTE_TIES_CONFIGURED);
	assert_int_equal(dl_tables_load_count(s->r.tables, NULL, NULL, NULL, &l), 0);
	cost->changed += s->r.report.entries_changed;
	cost->busiest += l.busiest;
	cost->hops += (double)l.hops / l.pairs;
	dl_tables_load_release(&l);
	dl_route_result_release(&s->r);
}

/* Both modes on the same fabric. */
static void add_costs(const struct grid_fabric *g, struct cost *proven, struct cost *any_sl)
{
	struct scenario s = { .g = *g };

	build(&s, 8);
	add_cost(&s, DL_ROUTE_PROVEN, proven);
	add_cost(&s, DL_ROUTE_ANY_SL, any_sl);
	release(&s);
}

/* Without any single switch the busiest channel carries no more than in proven mode. */
static void test_one_switch_against_proven_mode(void **state)
{
	static const struct dl_torus_grid grids[] = {
		{ { 8, 8, 1 }, { 0 } }, { { 6, 5, 1 }, { 0 } }, { { 7, 9, 1 }, { 0 } },
		{ { 8, 4, 3 }, { 0 } }, { { 4, 7, 5 }, { 0 } },
	};
	unsigned int i;
	uint32_t site;

	(void)state;
	for (i = 0; i < sizeof(grids) / sizeof(grids[0]); i++)
		for (site = 0; site < dl_torus_grid_sites(&grids[i]); site += 1 + 2 * (i > 2)) {
			struct grid_fabric g = { .grid = grids[i], .hosts = 1, .parallel = 1 };
			struct cost proven = { 0 }, any_sl = { 0 };

			g.dead_switch[site] = true;
			add_costs(&g, &proven, &any_sl);
			assert_int_equal(any_sl.changed, 0);
			assert_true(any_sl.busiest <= proven.busiest);
		}
}

static void fail_at_random(struct grid_fabric *g, struct test_random *r, unsigned int switches,
			   unsigned int links)
{
	uint32_t sites = dl_torus_grid_sites(&g->grid);
	unsigned int i, d;

	do {
		memset(g->dead_switch, 0, sizeof(g->dead_switch));
		memset(g->dead_hop, 0, sizeof(g->dead_hop));
		for (i = 0; i < switches; i++)
			g->dead_switch[test_random(r, sites)] = true;
		for (i = 0; i < links; i++) {
			do
				d = test_random(r, DL_TORUS_DIMS);
			while (g->grid.radix[d] < 2);
			g->dead_hop[test_random(r, sites)][d] = true;
		}
	} while (!grid_connected(g) || seed_site(g) == DL_NONE);
}

/*
 * The same random failures in both modes, on average: no more entries changed
 * and no more flows on the busiest channel than in proven mode (each torus may
 * be a little above).  Paths are longer by no more than the rule makes them on
 * the whole torus, and not at all up to radix 6.
 */
static void test_repairs_against_proven_mode(void **state)
{
	static const struct dl_torus_grid grids[] = {
		{ { 6, 5, 1 }, { 0 } }, { { 8, 8, 1 }, { 0 } }, { { 5, 5, 5 }, { 0 } },
		{ { 4, 4, 4 }, { 0 } }, { { 8, 8, 4 }, { 0 } },
	};
	static const unsigned int failures[][2] = { { 0, 4 }, { 0, 8 }, { 2, 0 }, { 1, 4 } };
	struct test_random r = { .seed = test_seed(17) };
	unsigned int i, k, ngrids = sizeof(grids) / sizeof(grids[0]);
	double ratio, sum = 0;

	(void)state;
	for (i = 0; i < ngrids; i++) {
		struct grid_fabric g = { .grid = grids[i], .hosts = 1, .parallel = 1 };
		struct cost whole[2] = { { 0 } }, proven = { 0 }, any_sl = { 0 };

		add_costs(&g, &whole[0], &whole[1]);
		for (k = 0; k < 80; k++) {
			fail_at_random(&g, &r, failures[k % 4][0], failures[k % 4][1]);
			add_costs(&g, &proven, &any_sl);
		}
		assert_true(any_sl.changed <= proven.changed);
		assert_true(any_sl.hops / proven.hops <= 1.0005 * whole[1].hops / whole[0].hops);
		ratio = (double)any_sl.busiest / proven.busiest;
		assert_true(ratio < 1.01);
		sum += ratio;
	}
	assert_true(sum <= ngrids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_proven_mode_needs_path_sls),
		cmocka_unit_test(test_random_tori),
		cmocka_unit_test(test_balanced_ties),
		cmocka_unit_test(test_other_ties),
		cmocka_unit_test(test_busiest_channel),
		cmocka_unit_test(test_one_adapter),
		cmocka_unit_test(test_whole_numbers),
		cmocka_unit_test(test_one_switch_against_proven_mode),
		cmocka_unit_test(test_repairs_against_proven_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
