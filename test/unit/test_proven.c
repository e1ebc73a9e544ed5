/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Proven mode on tori with random failures: every connected one is routed,
 * and the result is verified here again, with a group of all end ports and,
 * where the fabric is small, by the verifier's reference model, which walks
 * packet by packet.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "grid_fabric.h"
#include "dateline/route.h"
#include "dateline/verify.h"
#include "verify_model.h"

#define MODEL_SITES 30

struct proven {
	struct grid_fabric g;
	struct dl_torus *torus;
	struct dl_route_result r;
	bool timed;	    /* with a clock that ticks when it is read */
	unsigned int ticks; /* until the time is over */
};

/* ---- scenarios --------------------------------------------------------- */

static uint32_t live_cables(const struct grid_fabric *g, uint32_t site)
{
	uint32_t n = 0, dir;

	for (dir = 0; dir < DL_TORUS_DIRS; dir++)
		n += grid_hop(g, site, dir);
	return n;
}

/* The site with most cables that has one in every dimension. */
static uint32_t seed_site(const struct grid_fabric *g)
{
	uint32_t sites = dl_torus_grid_sites(&g->grid), s, best = DL_NONE, most = 0;
	unsigned int d;

	for (s = 0; s < sites; s++) {
		for (d = 0; d < DL_TORUS_DIMS; d++)
			if (g->grid.radix[d] > 1 && !grid_hop(g, s, dl_torus_dir(d, false)) &&
			    !grid_hop(g, s, dl_torus_dir(d, true)))
				break;
		if (d == DL_TORUS_DIMS && live_cables(g, s) > most) {
			most = live_cables(g, s);
			best = s;
		}
	}
	return best;
}

static void fail_switch(struct grid_fabric *g, struct test_random *r)
{
	g->dead_switch[test_random(r, dl_torus_grid_sites(&g->grid))] = true;
}

static void fail_cable(struct grid_fabric *g, struct test_random *r)
{
	uint32_t site, dim;

	do {
		site = test_random(r, dl_torus_grid_sites(&g->grid));
		dim = test_random(r, DL_TORUS_DIMS);
	} while (g->grid.radix[dim] < 2 || g->dead_hop[site][dim]);
	g->dead_hop[site][dim] = true;
}

/* Draw failures until the fabric is connected and has a seed. */
static void draw_failures(struct grid_fabric *g, struct test_random *r, uint32_t switches,
			  uint32_t cables)
{
	uint32_t i;

	do {
		memset(g->dead_switch, 0, sizeof(g->dead_switch));
		memset(g->dead_hop, 0, sizeof(g->dead_hop));
		for (i = 0; i < switches; i++)
			fail_switch(g, r);
		for (i = 0; i < cables; i++)
			fail_cable(g, r);
	} while (!grid_connected(g) || seed_site(g) == DL_NONE);
}

/* ---- routing and checking ----------------------------------------------- */

static void build(struct proven *p)
{
	grid_build(&p->g);
	grid_seed(&p->g, seed_site(&p->g), true);
	assert_int_equal(dl_torus_discover(p->g.fabric, &p->g.config, NULL, &p->torus), 0);
}

static double ticks;

static double tick(void)
{
	return ticks++;
}

static int route(struct proven *p)
{
	struct dl_route_options o;

	dl_route_options_init(&o);
	if (p->timed) {
		ticks = 0;
		o.clock = tick;
		o.repair_seconds = p->ticks;
	}
	return dl_route(p->torus, &p->g.config, &o, NULL, &p->r);
}

static void release(struct proven *p)
{
	dl_route_result_release(&p->r);
	dl_torus_free(p->torus);
	grid_free(&p->g);
	memset(p, 0, sizeof(*p));
}

/* One group of all end ports. */
static void add_group(struct proven *p, uint16_t mlid)
{
	const struct dl_fabric *f = p->g.fabric;
	uint32_t *members = malloc(f->nports * sizeof(*members)), n = 0, i;
	struct dl_tables_mcast_group *group = dl_tables_group(p->r.tables, mlid);

	assert_true(members && group);
	for (i = 0; i < f->nports; i++)
		if (f->ports[i].lid && dl_fabric_is_end_port(f, i))
			members[n++] = i;
	assert_int_equal(dl_route_tree_group(p->r.tree, f, mlid, members, n, &group->masks), 0);
	free(members);
}

/* Rules A5; switches that have no coordinates go by the nearest that have. */
static void check_sls(const struct proven *p)
{
	const struct dl_fabric *f = p->g.fabric;
	uint32_t a, b;

	for (a = 0; a < f->nswitches; a++) {
		uint32_t from = p->torus->attachment[a];
		uint32_t src = f->nodes[f->switches[a]].first_port;

		for (b = 0; b < f->nswitches; b++) {
			uint32_t to = p->torus->attachment[b];
			uint32_t dst = f->nodes[f->switches[b]].first_port;
			unsigned int sl = from == DL_NONE || to == DL_NONE ?
						  0 :
						  dl_route_sl(&p->g.grid, from, to);

			assert_int_equal(dl_tables_path_sl(p->r.tables, src, f->ports[dst].lid),
					 sl);
		}
	}
}

static void check_verified(const struct proven *p)
{
	struct dl_verify_result *v;

	assert_int_equal(dl_verify(p->r.tables, NULL, NULL, &v), 0);
	assert_true(v->delivered);
	assert_false(v->credit_loop);
	assert_true(v->sl_known);
	assert_int_equal(v->without_sl, 0);
	assert_int_equal(v->without_vl, 0);
	assert_int_equal(v->groups, p->r.tables->ngroups);
	dl_verify_result_free(v);
}

static void check_model(const struct proven *p)
{
	struct model w = { .t = p->r.tables, .multicast_sls = 1u << 0 | 1u << 8, .levels = 2 };

	model_make(&w);
	assert_int_equal(w.lost, 0);
	assert_int_equal(w.groups_lost, 0);
	assert_int_equal(w.shortest, 0);
	model_free(&w);
}

/* The same input gives the same bytes. */
static void check_same(struct proven *p)
{
	struct dl_route_result first = p->r;
	uint32_t nsw = p->g.fabric->nswitches;

	assert_int_equal(route(p), 0);
	assert_memory_equal(first.tables->lft, p->r.tables->lft,
			    (size_t)nsw * first.tables->stride);
	assert_int_equal(first.tree->root, p->r.tree->root);
	assert_memory_equal(first.tree->parent, p->r.tree->parent,
			    nsw * sizeof(*first.tree->parent));
	dl_route_result_release(&first);
}

static void check(struct proven *p, bool model)
{
	unsigned int i;

	for (i = 0; i < p->g.parallel; i++)
		add_group(p, DL_TABLES_MCAST_LID + i);
	check_sls(p);
	check_verified(p);
	if (model)
		check_model(p);
}

static void run(struct proven *p, bool model)
{
	build(p);
	assert_int_equal(route(p), 0);
	assert_int_equal(p->r.tables->ngroups, 0);
	check(p, model);
}

/* ---- tests ------------------------------------------------------------- */

static const struct shape {
	uint32_t radix[DL_TORUS_DIMS];
	bool mesh[DL_TORUS_DIMS];
	unsigned int runs, switches, cables; /* at most so many failures */
} shapes[] = {
	{ { 6, 5, 1 }, { 0 }, 60, 8, 20 },
	{ { 5, 5, 5 }, { 0 }, 12, 8, 32 },
	{ { 4, 6, 7 }, { 0 }, 10, 8, 32 },
	{ { 2, 4, 3 }, { 0 }, 15, 3, 8 },
	{ { 5, 4, 1 }, { true, true, true }, 15, 2, 4 },
	{ { 4, 3, 4 }, { false, true, false }, 15, 4, 10 },
};

static void test_random_failures(void **state)
{
	struct test_random r = { .seed = test_seed(1) };
	struct proven p = { 0 };
	size_t i;
	unsigned int run_no;

	(void)state;
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		const struct shape *s = &shapes[i];

		for (run_no = 0; run_no < s->runs; run_no++) {
			uint32_t kinds = 1 + test_random(&r, 3);

			memcpy(p.g.grid.radix, s->radix, sizeof(s->radix));
			memcpy(p.g.grid.mesh, s->mesh, sizeof(s->mesh));
			p.g.hosts = 1 + test_random(&r, 2);
			p.g.parallel = 1 + test_random(&r, 4) / 3;
			draw_failures(&p.g, &r, kinds & 1 ? 1 + test_random(&r, s->switches) : 0,
				      kinds & 2 ? 1 + test_random(&r, s->cables) : 0);
			p.g.shuffle = &r;
			run(&p, dl_torus_grid_sites(&p.g.grid) <= MODEL_SITES && p.g.parallel == 1);
			if (run_no % 4 == 0)
				check_same(&p);
			release(&p);
		}
	}
}

/* A whole torus is left as it is, and so is one with a failed switch. */
static void test_plain_where_safe(void **state)
{
	struct proven p = { .g = { .grid = { { 6, 5, 1 }, { 0 } }, .hosts = 1, .parallel = 1 } };
	uint32_t dead;

	(void)state;
	for (dead = 0; dead <= 30; dead++) {
		memset(p.g.dead_switch, 0, sizeof(p.g.dead_switch));
		if (dead < 30)
			p.g.dead_switch[dead] = true;
		p.g.grid = (struct dl_torus_grid){ { 6, 5, 1 }, { 0 } };
		p.g.hosts = p.g.parallel = 1;
		run(&p, dead % 10 == 0);
		assert_int_equal(p.r.report.changed, 0);
		assert_int_equal(p.r.report.entries_changed, 0);
		assert_int_equal(p.r.report.tree_routed, 0);
		if (dead == 30)
			assert_int_equal(p.r.report.moved, 0);
		release(&p);
	}
}

/* doc/findings.md: 6x5 with (3,2) failed; the tree of rules A9 closes a loop. */
static void test_loop_of_findings(void **state)
{
	struct proven p = { .g = { .grid = { { 6, 5, 1 }, { 0 } }, .hosts = 1, .parallel = 1 } };
	struct dl_route_result proven, documented;
	struct dl_route_options o;
	struct dl_verify_result *v;

	(void)state;
	p.g.dead_switch[3 + 6 * 2] = true;
	build(&p);
	assert_int_equal(route(&p), 0);
	assert_true(p.r.report.moved > 0);

	/* The documented tree with the same forwarding tables. */
	dl_route_options_init(&o);
	o.mode = DL_ROUTE_CLASSIC;
	assert_int_equal(dl_route(p.torus, &p.g.config, &o, NULL, &documented), 0);
	proven = p.r;
	p.r.tree = documented.tree;
	add_group(&p, DL_TABLES_MCAST_LID);
	assert_int_equal(dl_verify(p.r.tables, NULL, NULL, &v), 0);
	assert_true(v->credit_loop);
	dl_verify_result_free(v);

	p.r = proven;
	dl_route_result_release(&documented);
	check(&p, true);
	release(&p);
}

static void set_vls(struct proven *p, unsigned int vls)
{
	uint32_t i;

	for (i = 0; i < p->g.fabric->nports; i++)
		p->g.fabric->ports[i].vls = vls;
}

static void test_few_vls(void **state)
{
	struct test_random r = { .seed = test_seed(2) };
	unsigned int vls, i;

	(void)state;
	for (vls = 1; vls <= 4; vls *= 2) {
		for (i = 0; i < 10; i++) {
			struct proven p = {
				.g = { .grid = { { 6, 5, 1 }, { 0 } }, .hosts = 1, .parallel = 1 },
			};

			draw_failures(&p.g, &r, test_random(&r, 4), test_random(&r, 8));
			build(&p);
			set_vls(&p, vls);
			if (vls < 2) {
				assert_int_equal(route(&p), -ENOTSUP);
			} else {
				assert_int_equal(route(&p), 0);
				check(&p, true);
			}
			release(&p);
		}
	}
}

/*
 * The time is over at once, or soon: what is not repaired is routed along the tree,
 * and all of it is as safe as ever.
 */
static void test_out_of_time(void **state)
{
	struct test_random r = { .seed = test_seed(3) };
	unsigned int i, timed_out = 0, in_time = 0, up_down = 0;

	(void)state;
	for (i = 0; i < 60; i++) {
		struct proven p = {
			.g = { .grid = { { 5, 5, 1 + i % 4 }, { 0 } }, .hosts = 1, .parallel = 1 },
			.timed = true,
			.ticks = i % 3 ? i : 0,
		};

		draw_failures(&p.g, &r, test_random(&r, 5), test_random(&r, 9));
		run(&p, i % 4 == 0);
		if (p.r.report.timed_out)
			timed_out++;
		else
			in_time++;
		up_down += p.r.report.tree_routed == p.g.fabric->nswitches;
		release(&p);
	}
	assert_true(timed_out && in_time && up_down);
}

static void test_not_connected(void **state)
{
	struct proven p = { .g = { .grid = { { 5, 5, 1 }, { 0 } }, .hosts = 1, .parallel = 1 } };
	unsigned int i;

	(void)state;
	/* Two columns fail: what lies between them is disconnected. */
	for (i = 0; i < 5; i++)
		p.g.dead_switch[5 * i] = p.g.dead_switch[5 * i + 2] = true;
	grid_build(&p.g);
	grid_seed(&p.g, 3, true);
	assert_int_equal(dl_torus_discover(p.g.fabric, &p.g.config, NULL, &p.torus), 0);
	assert_int_equal(route(&p), -ENOTSUP);
	assert_int_equal(p.r.refusal, DL_ROUTE_NOT_CONNECTED);
	assert_null(p.r.tables);
	assert_null(p.r.tree);
	release(&p);
}

static void pull(struct dl_fabric *f, uint32_t port)
{
	f->ports[f->ports[port].peer].peer = DL_NONE;
	f->ports[port].peer = DL_NONE;
}

/* A switch without cables, and without a LID; or an adapter that has kept its own. */
static void test_torn_off(void **state)
{
	for (int adapter = 0; adapter < 2; adapter++) {
		struct proven p = {
			.g = { .grid = { { 5, 4, 1 }, { 0 } }, .hosts = 1, .parallel = 1 }
		};
		const struct dl_fabric_node *n;
		struct dl_fabric *f;
		uint32_t port;

		(void)state;
		grid_build(&p.g);
		grid_seed(&p.g, 7, true);
		f = p.g.fabric;
		n = &f->nodes[p.g.node[0]];
		for (port = n->first_port; port <= n->first_port + n->nports; port++) {
			if (f->ports[port].peer == DL_NONE)
				continue;
			if (!dl_fabric_is_switch(f, f->ports[f->ports[port].peer].node)) {
				if (!adapter)
					f->ports[f->ports[port].peer].lid = 0;
				pull(f, port);
			} else if (!adapter) {
				pull(f, port);
			}
		}
		if (!adapter)
			f->ports[n->first_port].lid = 0;
		assert_int_equal(dl_fabric_finish(f, NULL), 0);
		assert_int_equal(dl_torus_discover(f, &p.g.config, NULL, &p.torus), 0);
		assert_int_equal(route(&p), -ENOTSUP);
		assert_int_equal(p.r.refusal, DL_ROUTE_NOT_CONNECTED);
		release(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_where_safe), cmocka_unit_test(test_loop_of_findings),
		cmocka_unit_test(test_random_failures),	 cmocka_unit_test(test_few_vls),
		cmocka_unit_test(test_out_of_time),	 cmocka_unit_test(test_not_connected),
		cmocka_unit_test(test_torn_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
