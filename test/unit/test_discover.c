/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Discovery against the truth: fabrics are built from known coordinates,
 * with ports, GUIDs and order shuffled, whole and damaged.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "grid_fabric.h"

static const struct dl_torus_grid shapes[] = {
	{ { 6, 5, 1 }, { 0 } },
	{ { 5, 4, 3 }, { 0 } },
	{ { 4, 4, 4 }, { 0 } },
	{ { 2, 5, 4 }, { 0 } },
	{ { 3, 3, 3 }, { 0 } },
	{ { 2, 2, 2 }, { 0 } },
	{ { 2, 1, 1 }, { 0 } },
	{ { 1, 1, 1 }, { 0 } },
	{ { 9, 1, 1 }, { 0 } },
	{ { 1, 4, 5 }, { 0 } },
	{ { 7, 8, 6 }, { 0 } },
	{ { 4, 3, 1 }, { true, true, false } },
	{ { 3, 3, 3 }, { true, true, true } },
	{ { 5, 4, 3 }, { false, true, false } },
	{ { 4, 4, 2 }, { false, false, true } },
	{ { 3, 4, 5 }, { true, false, true } },
};
#define NSHAPES (sizeof(shapes) / sizeof(*shapes))

/* Are all cables of the fabric between neighbouring sites? */
static void assert_consistent(const struct dl_torus *t)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t port, cables = 0;

	for (port = 0; port < f->nports; port++) {
		uint32_t far = dl_fabric_peer_switch(f, port), sw;
		unsigned int dir, found = 0;

		sw = f->nodes[f->ports[port].node].sw;
		if (sw == DL_NONE || far == DL_NONE)
			continue;
		cables++;
		assert_true(t->sw_site[sw] != DL_NONE);
		assert_int_equal(t->site_sw[t->sw_site[sw]], sw);
		for (dir = 0; dir < DL_TORUS_DIRS; dir++)
			found |= dl_torus_site_next(&t->grid, t->sw_site[sw], dir) ==
				 t->sw_site[far];
		assert_true(found);
	}
	assert_int_equal(t->nlinks, cables / 2);
	assert_int_equal(t->noff_links, 0);
	assert_int_equal(t->nunplaced, 0);
}

static struct dl_torus *discover(struct grid_fabric *g)
{
	struct dl_torus *t = NULL;

	assert_int_equal(dl_torus_discover(g->fabric, &g->config, NULL, &t), 0);
	return t;
}

/* Any seed on a whole fabric, both ways given: exactly the truth. */
static void whole(void **state)
{
	struct test_random r = { test_seed(1), 0 };
	unsigned int s, k;

	(void)state;
	for (s = 0; s < NSHAPES; s++) {
		for (k = 0; k < 6; k++) {
			struct grid_fabric g = { .grid = shapes[s],
						 .hosts = k % 3,
						 .parallel = 1 + k % 2,
						 .shuffle = &r };
			uint32_t sites = dl_torus_grid_sites(&g.grid), i;
			struct dl_torus *t;

			grid_build(&g);
			grid_seed(&g, test_random(&r, sites), true);
			t = discover(&g);
			assert_consistent(t);
			for (i = 0; i < sites; i++)
				assert_int_equal(t->site_sw[i], g.fabric->nodes[g.node[i]].sw);
			dl_torus_free(t);
			grid_free(&g);
		}
	}
}

/*
 * One direction a dimension: exact where no radix is 4, and some consistent
 * labelling where one is.
 */
static void one_way(void **state)
{
	struct test_random r = { test_seed(2), 0 };
	unsigned int s, k, d;

	(void)state;
	for (s = 0; s < NSHAPES; s++) {
		for (k = 0; k < 6; k++) {
			struct grid_fabric g = { .grid = shapes[s], .parallel = 1, .shuffle = &r };
			uint32_t sites = dl_torus_grid_sites(&g.grid), i;
			bool ambiguous = false;
			struct dl_torus *t;

			grid_build(&g);
			grid_seed(&g, test_random(&r, sites), false);
			t = discover(&g);
			assert_consistent(t);
			for (d = 0; d < DL_TORUS_DIMS; d++)
				ambiguous |= g.grid.radix[d] == 4;
			for (i = 0; i < sites && !ambiguous; i++)
				assert_int_equal(t->site_sw[i], g.fabric->nodes[g.node[i]].sw);
			dl_torus_free(t);
			grid_free(&g);
		}
	}
}

/* Where a dateline is not given, a mesh's seed may stand anywhere. */
static void mesh_seed_anywhere(void **state)
{
	struct test_random r = { test_seed(3), 0 };
	unsigned int s, d;

	(void)state;
	for (s = 0; s < NSHAPES; s++) {
		struct grid_fabric g = { .grid = shapes[s], .parallel = 1, .shuffle = &r };
		struct dl_torus *t;
		uint32_t i;

		grid_build(&g);
		grid_seed(&g, test_random(&r, dl_torus_grid_sites(&g.grid)), true);
		for (d = 0; d < DL_TORUS_DIMS; d++)
			if (g.grid.mesh[d])
				g.seed.has_dateline[d] = false;
		t = discover(&g);
		assert_consistent(t);
		for (i = 0; i < t->nsites; i++)
			assert_int_equal(t->site_sw[i], g.fabric->nodes[g.node[i]].sw);
		dl_torus_free(t);
		grid_free(&g);
	}
}

/* Failures: nothing is ever misplaced, and hardly anything is not placed. */
static void damaged(void **state)
{
	struct test_random r = { test_seed(4), 0 };
	uint32_t tried = 0, placed = 0, total = 0;
	unsigned int k;

	(void)state;
	for (k = 0; k < 600; k++) {
		struct grid_fabric g = { .grid = shapes[k % NSHAPES],
					 .parallel = 1,
					 .shuffle = &r };
		uint32_t sites = dl_torus_grid_sites(&g.grid), i, n, seed;
		struct dl_torus *t;
		unsigned int dir;

		for (n = test_random(&r, 1 + sites / 8); n; n--)
			g.dead_switch[test_random(&r, sites)] = true;
		for (n = test_random(&r, 1 + sites / 4); n; n--)
			g.dead_hop[test_random(&r, sites)][test_random(&r, DL_TORUS_DIMS)] = true;
		seed = test_random(&r, sites);
		for (dir = 0; dir < DL_TORUS_DIRS; dir++)
			if (dl_torus_site_next(&g.grid, seed, dir) != DL_NONE &&
			    !grid_hop(&g, seed, dir))
				break;
		if (dir < DL_TORUS_DIRS)
			continue; /* the seed itself is damaged */
		tried++;
		grid_build(&g);
		grid_seed(&g, seed, true);
		t = discover(&g);
		for (i = 0; i < sites; i++) {
			uint32_t sw = t->site_sw[i];

			total += !g.dead_switch[i];
			if (sw == DL_NONE)
				continue;
			placed++;
			assert_int_equal(g.fabric->switches[sw], g.node[i]);
		}
		dl_torus_free(t);
		grid_free(&g);
	}
	print_message("%u damaged fabrics, %u of %u switches placed\n", tried, placed, total);
	assert_true(tried > 100);
	assert_true(placed > total * 0.97);
}

/* Has every hop at least one cable left? */
static bool undamaged(const struct grid_fabric *g)
{
	uint32_t site, sites = dl_torus_grid_sites(&g->grid);
	unsigned int d;

	for (site = 0; site < sites; site++)
		for (d = 0; d < DL_TORUS_DIMS; d++)
			if (dl_torus_site_next(&g->grid, site, dl_torus_dir(d, false)) != DL_NONE &&
			    !grid_hop(g, site, dl_torus_dir(d, false)) &&
			    (g->grid.radix[d] > 2 || !grid_hop(g, site, dl_torus_dir(d, true))))
				return false;
	return true;
}

/*
 * All switches there but cables missing: what one direction in a dimension of
 * radix 4 or 2 leaves open is left open, not guessed.
 */
static void damaged_one_way(void **state)
{
	static const struct dl_torus_grid small[] = { { { 1, 5, 2 }, { 0 } },
						      { { 4, 3, 1 }, { 0 } },
						      { { 4, 4, 1 }, { 0 } },
						      { { 4, 2, 3 }, { 0 } } };
	struct test_random r = { test_seed(7), 0 };
	unsigned int k, d;

	(void)state;
	for (k = 0; k < 2000; k++) {
		struct grid_fabric g = { .grid = small[k % 4], .parallel = 1, .shuffle = &r };
		uint32_t sites = dl_torus_grid_sites(&g.grid), i, seed, n;
		struct dl_torus *t = NULL;

		for (n = 1 + test_random(&r, 4); n; n--)
			g.dead_hop[test_random(&r, sites)][test_random(&r, DL_TORUS_DIMS)] = true;
		seed = test_random(&r, sites);
		for (d = 0; d < DL_TORUS_DIMS; d++)
			if (g.grid.radix[d] > 1 && !grid_hop(&g, seed, dl_torus_dir(d, false)))
				break;
		if (d < DL_TORUS_DIMS)
			continue;
		grid_build(&g);
		grid_seed(&g, seed, false);
		t = discover(&g);
		for (i = 0; i < sites && !undamaged(&g); i++) {
			uint32_t sw = t->site_sw[i];

			if (sw != DL_NONE)
				assert_int_equal(g.fabric->switches[sw], g.node[i]);
		}
		dl_torus_free(t);
		grid_free(&g);
	}
}

/* Stray cables and a wrong radix are listed, not taken for the torus. */
static void unplaceable(void **state)
{
	struct test_random r = { test_seed(5), 0 };
	struct grid_fabric g = {
		.grid = { { 6, 5, 4 }, { 0 } }, .hosts = 1, .parallel = 1, .shuffle = &r
	};
	struct dl_torus *t;
	uint32_t i, a, b;

	(void)state;
	grid_build(&g);
	/* The spare port of two switches that are no neighbours. */
	a = g.fabric->nodes[g.node[0]].first_port;
	b = g.fabric->nodes[g.node[2 + 6 * 2]].first_port;
	for (i = 1; g.fabric->ports[a + i].peer != DL_NONE; i++)
		;
	a += i;
	for (i = 1; g.fabric->ports[b + i].peer != DL_NONE; i++)
		;
	b += i;
	assert_int_equal(dl_fabric_connect(g.fabric, a, b), 0);
	grid_seed(&g, 7, true);
	t = discover(&g);
	assert_int_equal(t->nunplaced, 0);
	assert_int_equal(t->noff_links, 1);
	assert_true(t->off_links[0] == a || t->off_links[0] == b);
	for (i = 0; i < t->nsites; i++)
		assert_int_equal(t->site_sw[i], g.fabric->nodes[g.node[i]].sw);
	dl_torus_free(t);

	g.config.grid.radix[0] = 5;
	t = discover(&g);
	assert_true(t->nunplaced + t->noff_links > 0);
	dl_torus_free(t);
	grid_free(&g);
}

static int by_radix(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(uint32_t));
}

/*
 * Nothing but the cabling: a grid of the same radices in some order, with
 * every switch and cable in it; the same again from another file order.
 */
static void no_configuration(void **state)
{
	struct test_random r = { test_seed(6), 0 };
	unsigned int s, k, d;

	(void)state;
	for (s = 0; s < NSHAPES; s++) {
		for (k = 0; k < 4; k++) {
			struct grid_fabric g = { .grid = shapes[s],
						 .hosts = k % 2,
						 .parallel = 1 + k / 2,
						 .shuffle = &r };
			uint32_t found[DL_TORUS_DIMS], want[DL_TORUS_DIMS];
			struct dl_torus_config *c;
			struct dl_torus *t;
			bool fours = false;

			grid_build(&g);
			assert_int_equal(dl_torus_infer(g.fabric, NULL, &c), 0);
			assert_int_equal(dl_torus_discover(g.fabric, c, NULL, &t), 0);
			assert_consistent(t);
			for (d = 0; d < DL_TORUS_DIMS; d++) {
				found[d] = c->grid.radix[d];
				want[d] = g.grid.radix[d];
				fours |= want[d] == 2;
			}
			/* Two dimensions of radix 2 make one of radix 4. */
			if (!fours) {
				qsort(found, DL_TORUS_DIMS, 4, by_radix);
				qsort(want, DL_TORUS_DIMS, 4, by_radix);
				assert_memory_equal(found, want, sizeof(want));
			}
			assert_int_equal(t->nplaced, t->nsites);
			dl_torus_free(t);
			dl_torus_config_free(c);

			/* The geometry alone, in its own order. */
			g.config = (struct dl_torus_config){ .grid = g.grid };
			if (!fours) {
				t = discover(&g);
				assert_consistent(t);
				assert_memory_equal(t->grid.radix, g.grid.radix,
						    sizeof(t->grid.radix));
				dl_torus_free(t);
			}
			grid_free(&g);
		}
	}
}

/* A tree is no torus, and says so. */
static void no_torus(void **state)
{
	struct dl_torus_config *c = NULL;
	struct dl_fabric *f;
	uint32_t hub, leaf, i;
	char id[8];

	(void)state;
	assert_int_equal(dl_fabric_new(&f), 0);
	assert_int_equal(dl_fabric_add_node(f, DL_FABRIC_SWITCH, 36, 1, "hub", &hub), 0);
	for (i = 0; i < 9; i++) {
		snprintf(id, sizeof(id), "leaf%u", i);
		assert_int_equal(dl_fabric_add_node(f, DL_FABRIC_SWITCH, 36, 2 + i, id, &leaf), 0);
		assert_int_equal(dl_fabric_connect(f, f->nodes[hub].first_port + 1 + i,
						   f->nodes[leaf].first_port + 1),
				 0);
	}
	assert_int_equal(dl_fabric_finish(f, NULL), 0);
	assert_int_equal(dl_torus_infer(f, NULL, &c), -ENOTSUP);
	assert_null(c);
	dl_fabric_free(f);
}

/*
 * The switch of the only seed is not there: its neighbours say as much.  If
 * hardly any of them is there either, that is no damage but a mistake.
 */
static void no_usable_seed(void **state)
{
	struct grid_fabric g = { .grid = { { 5, 5, 1 }, { 0 } }, .parallel = 1 };
	struct dl_torus *t = NULL;
	uint32_t i;

	(void)state;
	grid_build(&g);
	grid_seed(&g, 3, true);
	g.seed.from = 0xdead;
	t = discover(&g);
	for (i = 0; i < t->nsites; i++)
		assert_int_equal(t->site_sw[i], g.fabric->nodes[g.node[i]].sw);
	dl_torus_free(t);
	t = NULL;
	for (i = 1; i < DL_TORUS_DIRS; i++)
		g.seed.to[i] = 0xdead + i;
	assert_int_equal(dl_torus_discover(g.fabric, &g.config, NULL, &t), -EINVAL);
	assert_null(t);
	grid_free(&g);
}

/*
 * Half of it fails, seeds too.  Port numbers that mean the same everywhere
 * tell where the rest sits, also when it is seen for the first time; and a
 * subnet manager that has seen it whole needs none of it.
 */
static void heavily_damaged(void **state)
{
	struct test_random r = { test_seed(8), 0 };
	uint32_t k, i, n, placed = 0, total = 0;

	(void)state;
	for (k = 0; k < 400; k++) {
		struct grid_fabric whole_one = { .grid = shapes[k % NSHAPES],
						 .parallel = 1,
						 .shuffle = k & 1 ? &r : NULL };
		struct grid_fabric g = whole_one;
		uint32_t sites = dl_torus_grid_sites(&g.grid);
		struct test_random same = r;
		struct dl_torus *before, *t;

		if (g.shuffle)
			g.shuffle = &same;
		grid_build(&whole_one);
		grid_seed(&whole_one, test_random(&r, sites), true);
		before = discover(&whole_one);
		for (n = test_random(&r, 1 + sites / 3); n; n--)
			g.dead_switch[test_random(&r, sites)] = true;
		for (n = test_random(&r, 1 + sites / 2); n; n--)
			g.dead_hop[test_random(&r, sites)][test_random(&r, DL_TORUS_DIMS)] = true;
		grid_build(&g);
		/* By memory: everything, and all of it right. */
		assert_int_equal(
			dl_torus_discover_again(g.fabric, &whole_one.config, before, NULL, &t), 0);
		for (i = 0; i < sites; i++)
			assert_int_equal(t->site_sw[i] == DL_NONE, g.dead_switch[i]);
		for (i = 0; i < sites; i++)
			if (!g.dead_switch[i])
				assert_int_equal(g.fabric->switches[t->site_sw[i]], g.node[i]);
		dl_torus_free(t);
		/* Without. */
		t = NULL;
		if (!g.shuffle && !dl_torus_discover(g.fabric, &whole_one.config, NULL, &t)) {
			for (i = 0; i < sites; i++) {
				uint32_t sw = t->site_sw[i];

				total += !g.dead_switch[i];
				placed += sw != DL_NONE && g.fabric->switches[sw] == g.node[i];
			}
			dl_torus_free(t);
		}
		dl_torus_free(before);
		grid_free(&whole_one);
		grid_free(&g);
	}
	print_message("first seen: %u of %u switches placed\n", placed, total);
	assert_true(total > 1000 && placed > total * 0.9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole),
		cmocka_unit_test(one_way),
		cmocka_unit_test(mesh_seed_anywhere),
		cmocka_unit_test(damaged),
		cmocka_unit_test(damaged_one_way),
		cmocka_unit_test(heavily_damaged),
		cmocka_unit_test(unplaceable),
		cmocka_unit_test(no_configuration),
		cmocka_unit_test(no_torus),
		cmocka_unit_test(no_usable_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
