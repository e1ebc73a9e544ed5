/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Every connected fabric is routed at a cold start (rules A12): random tori and
 * meshes down to half of their cables, with a configuration of which no seed may be
 * whole, and without one.  The result is verified, with a group of all adapters;
 * in any-SL mode over all SLs.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "routed.h"
#include "share.h"
#include "dateline/route.h"

#define ROUNDS 1000 /* in a whole check */
#define KEPT_ROUNDS 2000
#define MOST_DEAD 4 /* switches */

static uint32_t seed;

static const struct dl_torus_grid shapes[] = {
	{ { 3, 3, 3 }, { false, false, false } }, { { 6, 5, 1 }, { false, false, false } },
	{ { 4, 4, 1 }, { false, false, false } }, { { 5, 4, 3 }, { true, false, false } },
	{ { 2, 3, 4 }, { false, false, false } }, { { 7, 3, 1 }, { false, true, false } },
	{ { 4, 4, 4 }, { false, false, false } },
};

/* That look like others when some cables are gone. */
static const struct dl_torus_grid small_shapes[] = {
	{ { 4, 4, 1 }, { false, true, false } },  { { 4, 4, 1 }, { true, false, false } },
	{ { 4, 3, 1 }, { false, false, false } }, { { 6, 5, 1 }, { false, true, false } },
	{ { 5, 4, 1 }, { true, true, false } },
};

/* Draw failures, up to half of the cables, until the fabric is connected. */
static void draw_damage(struct grid_fabric *g, struct test_random *r)
{
	uint32_t sites = dl_torus_grid_sites(&g->grid), percent;

	do {
		memset(g->dead_switch, 0, sizeof(g->dead_switch));
		percent = test_random(r, 51);
		for (uint32_t n = test_random(r, MOST_DEAD); n; n--)
			g->dead_switch[test_random(r, sites)] = true;
		for (uint32_t site = 0; site < sites; site++)
			for (unsigned int d = 0; d < DL_TORUS_DIMS; d++)
				g->dead_hop[site][d] = test_random(r, 100) < percent;
	} while (!grid_connected(g));
}

static uint32_t draw_live_site(const struct grid_fabric *g, struct test_random *r)
{
	uint32_t site;

	do
		site = test_random(r, dl_torus_grid_sites(&g->grid));
	while (g->dead_switch[site]);
	return site;
}

static void check_routed(const struct dl_torus *t, const struct dl_torus_config *c,
			 enum dl_route_mode mode)
{
	struct dl_route_result r = { 0 };
	struct dl_route_options o;

	dl_route_options_init(&o);
	o.mode = mode;
	assert_int_equal(dl_route(t, c, &o, NULL, &r), 0);
	assert_int_equal(dl_route_tree_group_all(r.tree, r.tables), 0);
	assert_routed_safe(r.tables, mode);
	dl_route_result_release(&r);
}

/* Returns whether the fabric has coordinates. */
static bool check_discovered(const struct dl_fabric *f, const struct dl_torus_config *given)
{
	struct dl_torus_config *found = NULL;
	struct dl_torus *t;
	bool rooted;
	int err = given ? dl_torus_discover(f, given, NULL, &t) : -EINVAL;

	if (err) {
		assert_int_equal(err, -EINVAL);
		assert_int_equal(dl_torus_discover_any(f, given ? &given->grid : NULL, NULL,
						       given ? NULL : &found, &t),
				 0);
	}
	assert_true(given ? !found : found != NULL);
	assert_int_equal(dl_torus_count_off_torus(t, DL_TORUS_DISCONNECTED), 0);
	rooted = dl_torus_is_rooted(t);
	assert_int_equal(rooted, t->nsites == 1 && f->nswitches > 1);
	check_routed(t, given ? given : found, DL_ROUTE_PROVEN);
	check_routed(t, given ? given : found, DL_ROUTE_ANY_SL);
	dl_torus_free(t);
	dl_torus_config_free(found);
	return !rooted;
}

static void every_connected_fabric_is_routed(void **state)
{
	struct grid_fabric *g = calloc(1, sizeof(*g));
	struct test_random r = { seed, 0 };
	uint32_t rounds = share(ROUNDS), configured = 0, inferred = 0;

	(void)state;
	for (uint32_t i = 0; i < rounds; i++) {
		memset(g, 0, sizeof(*g));
		g->grid = shapes[i % (sizeof(shapes) / sizeof(*shapes))];
		g->hosts = g->parallel = 1;
		g->shuffle = &r;
		draw_damage(g, &r);
		grid_build(g);
		grid_seed(g, draw_live_site(g, &r), true);
		configured += check_discovered(g->fabric, &g->config);
		inferred += check_discovered(g->fabric, NULL);
		grid_free(g);
	}
	print_message("with coordinates: %u of %u configured, %u without a configuration\n",
		      configured, rounds, inferred);
	assert_true(rounds < 100 || (configured < rounds && inferred && inferred < rounds));
	free(g);
}

/* Whoever is still placed is where it was; returns whether some were not placed before. */
static bool check_kept(const struct dl_fabric *f, const struct dl_torus *known)
{
	struct dl_torus_config *c = NULL;
	struct dl_torus *t = NULL;
	bool kept;

	assert_int_equal(dl_torus_discover_known(f, known, true, NULL, &c, &t), 0);
	kept = !dl_torus_is_rooted(t);
	if (kept)
		assert_memory_equal(t->grid.radix, known->grid.radix, sizeof(t->grid.radix));
	for (uint32_t s = 0; kept && s < f->nswitches; s++)
		assert_true(t->sw_site[s] == DL_NONE || t->sw_site[s] == known->sw_site[s]);
	dl_torus_free(t);
	dl_torus_config_free(c);
	return kept && known->nunplaced;
}

/* One cable after another goes from a damaged fabric: it stays the torus that it was. */
static void nothing_that_goes_makes_another_torus(void **state)
{
	struct grid_fabric *g = calloc(1, sizeof(*g));
	struct test_random r = { seed, 0 };
	uint32_t rounds = share(KEPT_ROUNDS), partial = 0;

	(void)state;
	for (uint32_t i = 0; i < rounds; i++) {
		struct dl_torus_config *c = NULL;
		struct dl_torus *known = NULL;
		struct dl_fabric *f;

		memset(g, 0, sizeof(*g));
		g->grid = small_shapes[i % (sizeof(small_shapes) / sizeof(*small_shapes))];
		g->hosts = g->parallel = 1;
		g->shuffle = &r;
		for (uint32_t n = 1 + test_random(&r, 3); n; n--)
			g->dead_hop[test_random(&r, dl_torus_grid_sites(&g->grid))]
				   [test_random(&r, 2)] = true;
		grid_build(g);
		f = g->fabric;
		if (!dl_torus_discover_any(f, NULL, NULL, &c, &known) &&
		    !dl_torus_is_rooted(known)) {
			bool *cut = calloc(f->nports, 1), *dead = calloc(f->nnodes, 1);
			uint32_t port;

			do
				port = test_random(&r, f->nports);
			while (!dl_fabric_joins_switches(f, port));
			cut[port] = true;
			assert_int_equal(dl_fabric_degrade(f, dead, cut, &f), 0);
			if (dl_fabric_is_connected(f) == 1)
				partial += check_kept(f, known);
			dl_fabric_free(f);
			free(cut);
			free(dead);
		}
		dl_torus_free(known);
		dl_torus_config_free(c);
		grid_free(g);
	}
	assert_true(rounds < 100 || partial);
	free(g);
}

/*
 * A row and, from its middle, a column of a mesh: whichever end of the row is the
 * farther one, the middle of the longest path is on the column.
 */
static void the_root_is_in_the_middle(void **state)
{
	struct grid_fabric *g = calloc(1, sizeof(*g));
	struct test_random r = { seed, 0 };
	uint32_t rooted = 0;

	(void)state;
	for (uint32_t n = 5; n < 18; n += 4) {
		struct dl_torus_config *found = NULL;
		struct dl_torus *t;

		memset(g, 0, sizeof(*g));
		g->grid = (struct dl_torus_grid){ { n, n, 1 }, { true, true, true } };
		g->hosts = g->parallel = 1;
		g->shuffle = &r;
		for (uint32_t site = 0; site < n * n; site++)
			g->dead_switch[site] = site / n && site % n != n / 2;
		grid_build(g);
		assert_int_equal(dl_torus_discover_any(g->fabric, NULL, NULL, &found, &t), 0);
		if (dl_torus_is_rooted(t)) {
			rooted++;
			assert_int_equal(t->site_sw[0],
					 g->fabric->nodes[g->node[n / 2 + n * (n / 4)]].sw);
		}
		dl_torus_free(t);
		dl_torus_config_free(found);
		grid_free(g);
	}
	assert_true(rooted);
	free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_connected_fabric_is_routed),
		cmocka_unit_test(nothing_that_goes_makes_another_torus),
		cmocka_unit_test(the_root_is_in_the_middle),
	};

	seed = test_seed(27);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
