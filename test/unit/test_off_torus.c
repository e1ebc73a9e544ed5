/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tori and meshes with off-torus switches: leaves, chains, pairs, and dual-homed
 * ones.  What is part of the torus is known; uplinks and kinds have a
 * reference model.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "grid_fabric.h"
#include "share.h"
#include "dateline/route.h"
#include "dateline/verify.h"
#include "verify_model.h"

#define MAX_OFF 32
#define SPARE 6

static const struct dl_torus_grid shapes[] = {
	{ { 6, 5, 1 }, { 0 } },
	{ { 5, 4, 3 }, { 0 } },
	{ { 5, 4, 2 }, { 0 } },
	{ { 4, 4, 4 }, { 0 } },
	{ { 6, 4, 1 }, { true, true, false } },
	{ { 4, 3, 3 }, { true, true, true } },
	{ { 5, 4, 3 }, { false, true, false } },
	{ { 3, 4, 5 }, { true, false, true } },
};
#define NSHAPES (sizeof(shapes) / sizeof(*shapes))
#define FLAT_MESH 4

struct fixture {
	struct grid_fabric g;
	uint32_t off[MAX_OFF]; /* node numbers */
	uint32_t noff;
};

/* ---- off-torus switches ------------------------------------------------ */

/* From the last one down: a port of a dead hop is not used for others. */
static uint32_t free_port(const struct dl_fabric *f, uint32_t node)
{
	uint32_t p = f->nodes[node].first_port + f->nodes[node].nports;

	while (f->ports[p].num && f->ports[p].peer != DL_NONE)
		p--;
	assert_true(f->ports[p].num);
	return p;
}

static void join(struct dl_fabric *f, uint32_t a, uint32_t b)
{
	assert_int_equal(dl_fabric_connect(f, free_port(f, a), free_port(f, b)), 0);
}

/* A switch with one adapter, on another one by one or two cables. */
static uint32_t hang(struct fixture *w, struct test_random *r, uint32_t on)
{
	struct dl_fabric *f = w->g.fabric;
	/* Before all GUIDs of the torus, or behind them. */
	uint64_t guid = (test_random(r, 2) ? 0x10 : 0xf000000) + w->noff;
	uint32_t node, ca, cables = 1 + test_random(r, 2);
	char id[32];

	snprintf(id, sizeof(id), "off%u", w->noff);
	assert_int_equal(dl_fabric_add_node(f, DL_FABRIC_SWITCH, 12, guid, id, &node), 0);
	snprintf(id, sizeof(id), "login%u", w->noff);
	assert_int_equal(dl_fabric_add_node(f, DL_FABRIC_CA, 1, 0xfe00000 + w->noff, id, &ca), 0);
	join(f, ca, node);
	while (cables--)
		join(f, node, on);
	w->off[w->noff++] = node;
	return node;
}

/* A live switch of the torus that still has room. */
static uint32_t draw_switch(struct fixture *w, struct test_random *r)
{
	const struct dl_fabric *f = w->g.fabric;
	uint32_t site, node, p, left;

	do {
		do
			site = test_random(r, dl_torus_grid_sites(&w->g.grid));
		while (w->g.dead_switch[site]);
		node = w->g.node[site];
		for (p = 1, left = 0; p <= f->nodes[node].nports; p++)
			left += f->ports[f->nodes[node].first_port + p].peer == DL_NONE;
	} while (left < 5);
	return node;
}

enum part { LEAF, CHAIN, PAIR, DUAL_HOMED, NPARTS };

static void add_part(struct fixture *w, struct test_random *r, enum part part)
{
	uint32_t home = draw_switch(w, r), far, at;

	at = hang(w, r, home);
	switch (part) {
	case CHAIN:
		hang(w, r, hang(w, r, at));
		break;
	case PAIR:
		join(w->g.fabric, hang(w, r, home), at);
		break;
	case DUAL_HOMED:
		do
			far = draw_switch(w, r);
		while (far == home);
		join(w->g.fabric, at, far);
		break;
	default:
		break;
	}
}

static void finish(struct fixture *w)
{
	struct dl_fabric *f = w->g.fabric;
	uint32_t p;

	for (p = 0; p < f->nports; p++) {
		f->ports[p].vls = 8;
		f->ports[p].arb_high_cap = f->ports[p].arb_low_cap = 8;
	}
	assert_int_equal(dl_fabric_finish(f, NULL), 0);
	assert_int_equal(dl_fabric_assign_lids(f, 0), 0);
}

static void add_parts(struct fixture *w, struct test_random *r, uint32_t parts, bool dual_homed)
{
	/* Across a corner of two dimensions such a one is a corner itself. */
	dual_homed &= w->g.grid.radix[2] > 1 || !w->g.grid.mesh[0];
	/* At most one switch in four is off the torus. */
	while (parts-- && 4 * (w->noff + 3) < dl_torus_grid_sites(&w->g.grid))
		add_part(w, r, test_random(r, dual_homed ? NPARTS : DUAL_HOMED));
	finish(w);
}

static bool is_off_torus(const struct fixture *w, uint32_t node)
{
	uint32_t i;

	for (i = 0; i < w->noff; i++)
		if (w->off[i] == node)
			return true;
	return false;
}

/* ---- the reference models ---------------------------------------------- */

static bool cabled(const struct dl_fabric *f, uint32_t a, uint32_t b)
{
	const struct dl_fabric_node *n = &f->nodes[f->switches[a]];
	unsigned int p;

	for (p = 1; p <= n->nports; p++)
		if (dl_fabric_peer_switch(f, n->first_port + p) == b)
			return true;
	return false;
}

/* Hops to the nearest placed switch, by relaxation. */
static void assert_uplinks(const struct dl_torus *t)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t n = f->nswitches, a, b, *far = calloc(n, sizeof(*far));
	bool changed = true;

	assert_non_null(far);
	for (a = 0; a < n; a++)
		far[a] = t->sw_site[a] == DL_NONE ? n : 0;
	while (changed) {
		changed = false;
		for (a = 0; a < n; a++)
			for (b = 0; b < n; b++)
				if (cabled(f, a, b) && far[b] + 1 < far[a]) {
					far[a] = far[b] + 1;
					changed = true;
				}
	}
	for (a = 0; a < n; a++) {
		uint32_t next = dl_torus_uplink_switch(t, a);

		if (!far[a] || far[a] == n) {
			assert_int_equal(next, DL_NONE);
			continue;
		}
		assert_int_equal(far[next], far[a] - 1);
		assert_int_equal(t->attachment[a], t->attachment[next]);
	}
	free(far);
}

/* How many placed switches does the part of an off-torus one touch? */
static uint32_t count_homes(const struct dl_torus *t, uint32_t sw)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t n = f->nswitches, a, b, homes = 0;
	bool *part = calloc(n, sizeof(*part)), changed = true;

	assert_non_null(part);
	part[sw] = true;
	while (changed) {
		changed = false;
		for (a = 0; a < n; a++)
			for (b = 0; b < n; b++)
				if (part[a] && t->sw_site[a] == DL_NONE && !part[b] &&
				    cabled(f, a, b))
					part[b] = changed = true;
	}
	for (a = 0; a < n; a++)
		homes += part[a] && t->sw_site[a] != DL_NONE;
	free(part);
	return homes;
}

static void assert_kinds(const struct dl_torus *t)
{
	static const enum dl_torus_off_kind want[] = { DL_TORUS_DISCONNECTED, DL_TORUS_LEAF,
						       DL_TORUS_DUAL_HOMED, DL_TORUS_UNPLACEABLE };
	uint32_t i, n;

	for (i = 0; i < t->nunplaced; i++) {
		n = count_homes(t, t->unplaced[i]);
		assert_int_equal(t->off_kind[t->unplaced[i]], want[n < 3 ? n : 3]);
	}
}

/* ---- what must hold ---------------------------------------------------- */

/*
 * All of the torus is placed, and nothing else.  With `exact` each at its
 * true site.
 */
static void assert_places(const struct fixture *w, const struct dl_torus *t, bool exact)
{
	const struct dl_fabric *f = w->g.fabric;
	uint32_t i;

	assert_int_equal(t->nunplaced, w->noff);
	for (i = 0; i < f->nswitches; i++)
		assert_int_equal(t->sw_site[i] == DL_NONE, is_off_torus(w, f->switches[i]));
	for (i = 0; exact && i < t->nsites; i++)
		assert_true(w->g.dead_switch[i] ? t->site_sw[i] == DL_NONE :
						  f->switches[t->site_sw[i]] == w->g.node[i]);
	for (i = 1; i < t->nunplaced; i++)
		assert_true(f->nodes[f->switches[t->unplaced[i - 1]]].guid <
			    f->nodes[f->switches[t->unplaced[i]]].guid);
}

/* On path SLs, or (`sls`) on these; `model`: by the reference model, too. */
static void assert_safe(struct dl_tables *tables, const struct dl_route_tree *tree, uint16_t sls,
			bool model)
{
	struct dl_verify_options o;
	struct dl_verify_result *v;

	dl_verify_options_init(&o);
	if (sls)
		o.sls = o.multicast_sls = sls;
	assert_int_equal(dl_route_tree_group_all(tree, tables), 0);
	assert_int_equal(dl_verify(tables, &o, NULL, &v), 0);
	assert_true(v->delivered);
	assert_false(v->credit_loop);
	assert_int_equal(v->groups_lost, 0);
	assert_int_equal(v->without_sl, 0);
	assert_int_equal(v->without_vl, 0);
	dl_verify_result_free(v);
	if (model) {
		struct model w = { .t = tables,
				   .levels = 2,
				   .sls = sls,
				   .multicast_sls = sls ? sls : 1u << 0 | 1u << 8 };

		model_make(&w);
		assert_int_equal(w.lost, 0);
		assert_int_equal(w.groups_lost, 0);
		assert_int_equal(w.shortest, 0);
		model_free(&w);
	}
}

/* Routes a fabric. */
static struct dl_route_result route(const struct fixture *w, const struct dl_torus *t,
				    enum dl_route_mode mode)
{
	struct dl_route_result r;
	struct dl_route_options o;

	dl_route_options_init(&o);
	o.mode = mode;
	assert_int_equal(dl_route(t, &w->g.config, &o, NULL, &r), 0);
	return r;
}

/* The torus' own entries are what they are without off-torus switches. */
static void assert_undisturbed(const struct fixture *w, const struct dl_torus *t,
			       const struct dl_tables *tables, struct test_random wiring)
{
	struct fixture bare = { .g = w->g };
	const struct dl_fabric *f = w->g.fabric, *b;
	struct dl_route_result want;
	struct dl_torus *alone;
	uint32_t s, lid, port;

	(void)t;
	bare.g.shuffle = w->g.shuffle ? &wiring : NULL;
	grid_build(&bare.g);
	b = bare.g.fabric;
	assert_int_equal(dl_torus_discover(b, &w->g.config, NULL, &alone), 0);
	want = route(&bare, alone, DL_ROUTE_CLASSIC);
	for (s = 0; s < b->nswitches; s++)
		for (lid = 1; lid <= b->top_lid; lid++) {
			port = f->lid_port[lid];
			assert_true(port != DL_NONE && b->lid_port[lid] != DL_NONE);
			assert_int_equal(dl_tables_lft(tables, s, lid),
					 dl_tables_lft(want.tables, s, lid));
		}
	dl_route_result_release(&want);
	dl_torus_free(alone);
	grid_free(&bare.g);
}

static void draw_fixture(struct fixture *w, struct test_random *r, unsigned int k)
{
	memset(w, 0, sizeof(*w));
	w->g.grid = shapes[k % NSHAPES];
	w->g.hosts = 1;
	w->g.parallel = 1 + k / NSHAPES % 2;
	w->g.spare = SPARE;
	w->g.shuffle = k / NSHAPES % 3 ? r : NULL;
}

static struct dl_torus *discover(const struct fixture *w)
{
	struct dl_torus *t;

	assert_int_equal(dl_torus_discover(w->g.fabric, &w->g.config, NULL, &t), 0);
	return t;
}

/* A live site with a hop in each dimension. */
static uint32_t draw_seed(const struct grid_fabric *g, struct test_random *r)
{
	unsigned int d;
	uint32_t site;

	do {
		site = test_random(r, dl_torus_grid_sites(&g->grid));
		for (d = 0; d < DL_TORUS_DIMS && !g->dead_switch[site]; d++)
			if (g->grid.radix[d] > 1 && !grid_hop(g, site, dl_torus_dir(d, false)) &&
			    !grid_hop(g, site, dl_torus_dir(d, true)))
				break;
	} while (d < DL_TORUS_DIMS);
	return site;
}

/* ---- tests ------------------------------------------------------------- */

/*
 * With a configuration, also one that leaves open where in an open dimension
 * its seed stands: exact places; both modes route all of it.
 */
static void whole(void **state)
{
	struct test_random r = { test_seed(31), 0 };
	unsigned int k, d;

	(void)state;
	for (k = 0; k < share(160); k++) {
		struct test_random wiring;
		struct fixture *w = calloc(1, sizeof(*w));
		struct dl_route_result routed;
		struct dl_torus *t;

		assert_non_null(w);
		draw_fixture(w, &r, k);
		wiring = r;
		grid_build(&w->g);
		add_parts(w, &r, 1 + test_random(&r, 5), true);
		grid_seed(&w->g, test_random(&r, dl_torus_grid_sites(&w->g.grid)), true);
		for (d = 0; d < DL_TORUS_DIMS; d++)
			if (w->g.grid.mesh[d] && test_random(&r, 2))
				w->g.seed.has_dateline[d] = false;
		t = discover(w);
		assert_places(w, t, true);
		assert_uplinks(t);
		assert_kinds(t);
		routed = route(w, t, DL_ROUTE_PROVEN);
		assert_safe(routed.tables, routed.tree, 0, k % 16 == 0);
		assert_int_equal(routed.report.changed, 0);
		assert_int_equal(routed.report.moved + routed.report.lost, 0);
		dl_route_result_release(&routed);
		routed = route(w, t, DL_ROUTE_ANY_SL);
		assert_safe(routed.tables, routed.tree, DL_VERIFY_ANY_SL, k % 16 == 8);
		dl_route_result_release(&routed);
		if (dl_torus_count_off_torus(t, DL_TORUS_UNPLACEABLE) == 0) {
			routed = route(w, t, DL_ROUTE_CLASSIC);
			assert_safe(routed.tables, routed.tree, 0, false);
			assert_undisturbed(w, t, routed.tables, wiring);
			dl_route_result_release(&routed);
		}
		dl_torus_free(t);
		grid_free(&w->g);
		free(w);
	}
}

/* From the cabling alone: the same radices, and nothing else in the grid. */
static void no_configuration(void **state)
{
	struct test_random r = { test_seed(32), 0 };
	unsigned int k;

	(void)state;
	for (k = 0; k < share(160); k++) {
		struct fixture *w = calloc(1, sizeof(*w));
		struct dl_torus_config *c;
		struct dl_torus *t;

		assert_non_null(w);
		draw_fixture(w, &r, k);
		grid_build(&w->g);
		add_parts(w, &r, 1 + test_random(&r, 4), false);
		assert_int_equal(dl_torus_infer(w->g.fabric, NULL, &c), 0);
		assert_int_equal(dl_torus_grid_sites(&c->grid), dl_torus_grid_sites(&w->g.grid));
		assert_int_equal(dl_torus_discover(w->g.fabric, c, NULL, &t), 0);
		assert_places(w, t, false);
		assert_int_equal(t->nplaced, t->nsites);
		dl_torus_free(t);
		dl_torus_config_free(c);
		grid_free(&w->g);
		free(w);
	}
}

/*
 * A leaf on a neighbour of a failed switch, the rest whole: it does not take
 * the empty site, with a configuration or without, but is said to be able to.
 */
static void beside_a_failed_switch(void **state)
{
	struct test_random r = { test_seed(33), 0 };
	uint32_t dead, next, home;
	unsigned int k, dir;

	(void)state;
	for (k = 0; k < share(240); k++) {
		struct fixture *w = calloc(1, sizeof(*w));
		struct dl_torus_config *c = NULL;
		struct dl_torus *t;

		assert_non_null(w);
		draw_fixture(w, &r, k);
		dead = test_random(&r, dl_torus_grid_sites(&w->g.grid));
		dir = test_random(&r, DL_TORUS_DIRS);
		next = dl_torus_site_next(&w->g.grid, dead, dir);
		/* A corner of two dimensions has two hops: one is no less. */
		if (next == DL_NONE || k % NSHAPES == FLAT_MESH) {
			free(w);
			continue;
		}
		w->g.dead_switch[dead] = true;
		grid_build(&w->g);
		home = w->g.node[next];
		hang(w, &r, home);
		finish(w);
		grid_seed(&w->g, draw_seed(&w->g, &r), true);
		t = discover(w);
		assert_places(w, t, true);
		assert_int_equal(dl_torus_possible_site(t, t->unplaced[0]), dead);
		dl_torus_free(t);
		assert_int_equal(dl_torus_infer(w->g.fabric, NULL, &c), 0);
		assert_int_equal(dl_torus_discover(w->g.fabric, c, NULL, &t), 0);
		assert_int_equal(t->nsites, dl_torus_grid_sites(&w->g.grid));
		assert_places(w, t, false);
		dl_torus_free(t);
		dl_torus_config_free(c);
		grid_free(&w->g);
		free(w);
	}
}

/* A switch with one hop left: only port numbers tell it from a leaf. */
static void one_hop_left(void **state)
{
	struct test_random r = { test_seed(34), 0 };
	uint32_t site, next;
	unsigned int k, d;

	(void)state;
	for (k = 0; k < share(60); k++) {
		struct grid_fabric *g = calloc(1, sizeof(*g));
		bool shuffled = k & 1;
		struct dl_torus *t;

		assert_non_null(g);
		g->grid = shapes[k % 4];
		g->parallel = 1;
		g->shuffle = shuffled ? &r : NULL;
		site = test_random(&r, dl_torus_grid_sites(&g->grid));
		for (d = 0; d < DL_TORUS_DIMS; d++) {
			next = dl_torus_site_next(&g->grid, site, dl_torus_dir(d, true));
			if (next != DL_NONE)
				g->dead_hop[next][d] = true;
			g->dead_hop[site][d] = d > 0;
		}
		grid_build(g);
		/* Far enough away. */
		next = dl_torus_site_next(&g->grid, site, dl_torus_dir(0, false));
		next = dl_torus_site_next(&g->grid, next, dl_torus_dir(0, false));
		next = dl_torus_site_next(&g->grid, next, dl_torus_dir(1, false));
		grid_seed(g, next, true);
		assert_int_equal(dl_torus_discover(g->fabric, &g->config, NULL, &t), 0);
		if (shuffled) {
			assert_int_equal(t->nunplaced, 1);
			assert_int_equal(dl_torus_possible_site(t, t->unplaced[0]), site);
		} else {
			assert_int_equal(t->nunplaced, 0);
		}
		dl_torus_free(t);
		grid_free(g);
		free(g);
	}
}

/* ---- failures all over ------------------------------------------------- */

struct count {
	uint32_t off, wrong, placed, misplaced, routed;
};

/* A fabric when it was whole, and now; the same parts beside it. */
static void draw_failures(struct fixture *then, struct fixture *now, struct test_random *r,
			  unsigned int k)
{
	uint32_t n, sites;
	struct test_random wiring[2], parts[2];

	draw_fixture(then, r, k);
	sites = dl_torus_grid_sites(&then->g.grid);
	wiring[0] = wiring[1] = *r;
	r->count += 100000;
	*now = *then;
	for (n = test_random(r, 3); n; n--)
		now->g.dead_switch[test_random(r, sites)] = true;
	for (n = test_random(r, 4); n; n--)
		now->g.dead_hop[test_random(r, sites)][test_random(r, DL_TORUS_DIMS)] = true;
	now->g.dead_switch[0] = false;
	if (then->g.shuffle) {
		then->g.shuffle = &wiring[0];
		now->g.shuffle = &wiring[1];
	}
	grid_build(&then->g);
	grid_build(&now->g);
	/* On switches that stay. */
	memcpy(then->g.dead_switch, now->g.dead_switch, sizeof(now->g.dead_switch));
	n = 1 + test_random(r, 4);
	parts[0] = parts[1] = *r;
	r->count += 1000;
	add_parts(then, &parts[0], n, true);
	add_parts(now, &parts[1], n, true);
	memset(then->g.dead_switch, 0, sizeof(then->g.dead_switch));
	then->g.shuffle = now->g.shuffle = NULL;
	grid_seed(&then->g, 0, true);
	now->g.config = then->g.config;
}

/* Seen for the first time. */
static void count_places(const struct fixture *w, struct count *n)
{
	struct dl_torus *t;
	uint32_t i, node;

	if (dl_torus_discover(w->g.fabric, &w->g.config, NULL, &t))
		return;
	for (i = 0; i < t->nsites; i++) {
		if (t->site_sw[i] == DL_NONE)
			continue;
		node = w->g.fabric->switches[t->site_sw[i]];
		n->placed++;
		if (is_off_torus(w, node))
			n->wrong++;
		else if (node != w->g.node[i])
			n->misplaced++;
	}
	n->off += w->noff;
	dl_torus_free(t);
}

/* A fabric in pieces is refused. */
static void route_damaged(const struct fixture *w, const struct dl_torus *t,
			  enum dl_route_mode mode, bool model, struct count *n)
{
	struct dl_route_result r;
	struct dl_route_options o;
	int err;

	dl_route_options_init(&o);
	o.mode = mode;
	err = dl_route(t, &w->g.config, &o, NULL, &r);
	assert_true(!err || err == -ENOTSUP);
	if (!err)
		assert_safe(r.tables, r.tree, mode == DL_ROUTE_ANY_SL ? DL_VERIFY_ANY_SL : 0,
			    model);
	n->routed += !err;
	dl_route_result_release(&r);
}

/*
 * Hardly any switch of the torus is misplaced, nor any other placed; by
 * memory none of either; and all of it is routed.
 */
static void damaged(void **state)
{
	struct test_random r = { test_seed(35), 0 };
	struct count n = { 0 };
	unsigned int k;

	(void)state;
	for (k = 0; k < 240; k++) {
		struct fixture *then = calloc(1, sizeof(*then));
		struct fixture *now = calloc(1, sizeof(*now));
		struct dl_torus *before, *t;

		assert_true(then && now);
		draw_failures(then, now, &r, k);
		before = discover(then);
		assert_places(then, before, true);
		count_places(now, &n);
		assert_int_equal(dl_torus_discover_again(now->g.fabric, &now->g.config, before,
							 NULL, &t),
				 0);
		assert_places(now, t, true);
		assert_uplinks(t);
		assert_kinds(t);
		route_damaged(now, t, DL_ROUTE_PROVEN, k % 24 == 0, &n);
		route_damaged(now, t, DL_ROUTE_ANY_SL, k % 24 == 12, &n);
		dl_torus_free(t);
		dl_torus_free(before);
		grid_free(&then->g);
		grid_free(&now->g);
		free(then);
		free(now);
	}
	print_message("%u off-torus switches, %u taken for others; %u of %u placed "
		      "switches misplaced; %u fabrics routed\n",
		      n.off, n.wrong, n.misplaced, n.placed, n.routed);
	assert_true(n.off > 300 && n.wrong * 20 < n.off);
	assert_true(n.misplaced * 100 < n.placed && n.routed > 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole),
		cmocka_unit_test(no_configuration),
		cmocka_unit_test(beside_a_failed_switch),
		cmocka_unit_test(one_hop_left),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
