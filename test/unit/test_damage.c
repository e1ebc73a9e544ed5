/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Discovery on heavily damaged tori, with the configuration that was written
 * when they were whole: how much is placed, and that nothing is misplaced.
 * And on tori that switches of other kinds hang off.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "grid_fabric.h"

#define SEEDS 3 /* as many as dateline gen writes */

static const struct damage {
	struct dl_torus_grid grid;
	uint32_t switches, cables;
	unsigned int at_least; /* per cent placed, ports wired by a plan */
} damages[] = {
	{ { { 6, 5, 1 }, { 0 } }, 8, 0, 98 },	{ { { 6, 5, 1 }, { 0 } }, 0, 25, 98 },
	{ { { 5, 5, 5 }, { 0 } }, 8, 0, 100 },	{ { { 5, 5, 5 }, { 0 } }, 0, 32, 100 },
	{ { { 4, 6, 7 }, { 0 } }, 8, 32, 100 }, { { { 8, 8, 8 }, { 0 } }, 8, 32, 100 },
};
#define NDAMAGES (sizeof(damages) / sizeof(*damages))

static void draw(struct grid_fabric *g, const struct damage *d, struct test_random *r)
{
	uint32_t i, site, dim;

	do {
		memset(g->dead_switch, 0, sizeof(g->dead_switch));
		memset(g->dead_hop, 0, sizeof(g->dead_hop));
		for (i = 0; i < d->switches;
		     i += !g->dead_switch[site], g->dead_switch[site] = true)
			site = test_random(r, dl_torus_grid_sites(&g->grid));
		for (i = 0; i < d->cables; i++) {
			do {
				site = test_random(r, dl_torus_grid_sites(&g->grid));
				dim = test_random(r, DL_TORUS_DIMS);
			} while (g->grid.radix[dim] < 2 || g->dead_hop[site][dim]);
			g->dead_hop[site][dim] = true;
		}
	} while (!grid_connected(g));
}

/* The configuration of the whole torus, from its true coordinates. */
static struct dl_torus_config *describe_whole(const struct dl_torus_grid *grid,
					      const struct test_random *wiring)
{
	struct test_random w = *wiring;
	struct grid_fabric g = { .grid = *grid, .parallel = 1, .shuffle = w.seed ? &w : NULL };
	struct dl_torus_config *c;
	struct dl_torus *t;

	grid_build(&g);
	grid_seed(&g, 0, true);
	assert_int_equal(dl_torus_discover(g.fabric, &g.config, NULL, &t), 0);
	assert_int_equal(t->nplaced, t->nsites);
	assert_int_equal(dl_torus_describe(t, SEEDS, &c), 0);
	dl_torus_free(t);
	grid_free(&g);
	return c;
}

struct count {
	uint32_t scenarios, complete, placed, wrong, alive;
};

static void try(const struct damage *d, struct test_random *r, const struct test_random *wiring,
		struct count *n)
{
	struct dl_torus_config *c = describe_whole(&d->grid, wiring);
	struct test_random w = *wiring;
	struct grid_fabric g = { .grid = d->grid, .parallel = 1, .shuffle = w.seed ? &w : NULL };
	struct dl_torus *t = NULL;
	uint32_t i;
	int err;

	draw(&g, d, r);
	grid_build(&g);
	n->scenarios++;
	n->alive += g.fabric->nswitches;
	err = dl_torus_discover(g.fabric, c, NULL, &t);
	/* All that the seeds name may have failed. */
	assert_true(!err || err == -EINVAL);
	for (i = 0; !err && i < t->nsites; i++) {
		if (t->site_sw[i] == DL_NONE)
			continue;
		n->placed++;
		n->wrong += g.fabric->switches[t->site_sw[i]] != g.node[i];
	}
	n->complete += !err && !t->nunplaced;
	dl_torus_free(t);
	dl_torus_config_free(c);
	grid_free(&g);
}

static void run(const struct damage *d, struct test_random *r, bool shuffled, struct count *n)
{
	uint32_t k, rounds = 20000 / dl_torus_grid_sites(&d->grid);

	for (k = 0; k < (rounds < 100 ? rounds : 100); k++) {
		struct test_random wiring = { shuffled ? 1 + k : 0, 0 };

		try(d, r, &wiring, n);
	}
	print_message("%ux%ux%u, %u switches and %u cables failed, ports %s: "
		      "%u of %u switches placed, %u wrong; %u of %u complete\n",
		      d->grid.radix[0], d->grid.radix[1], d->grid.radix[2], d->switches, d->cables,
		      shuffled ? "mixed" : "by plan", n->placed, n->alive, n->wrong, n->complete,
		      n->scenarios);
	assert_int_equal(n->wrong, 0);
}

/* Every port number leads the same way. */
static void by_plan(void **state)
{
	struct test_random r = { test_seed(1), 0 };
	unsigned int i;

	(void)state;
	for (i = 0; i < NDAMAGES; i++) {
		struct count n = { 0 };

		run(&damages[i], &r, false, &n);
		assert_true(n.placed * 100 >= n.alive * damages[i].at_least);
	}
}

/* Port numbers mean nothing: only what is certain is placed. */
static void mixed(void **state)
{
	struct test_random r = { test_seed(2), 0 };
	unsigned int i;

	(void)state;
	for (i = 0; i < NDAMAGES; i++) {
		struct count n = { 0 };

		run(&damages[i], &r, true, &n);
	}
}

/* A cable between the first free ports of two switches. */
static void join(struct dl_fabric *f, uint32_t a, uint32_t b)
{
	uint32_t p = f->nodes[a].first_port + 1;
	uint32_t q = f->nodes[b].first_port + 1;

	while (f->ports[p].peer != DL_NONE)
		p++;
	while (f->ports[q].peer != DL_NONE)
		q++;
	assert_int_equal(dl_fabric_connect(f, p, q), 0);
}

static uint32_t add_switch(struct dl_fabric *f, uint64_t guid)
{
	uint32_t node;
	char id[32];

	snprintf(id, sizeof(id), "S%u", (unsigned int)guid);
	assert_int_equal(dl_fabric_add_node(f, DL_FABRIC_SWITCH, 16, guid, id, &node), 0);
	return node;
}

#define ODD 6

/* Hang a leaf, a chain and a fork onto three switches. */
static void add_odd(struct dl_fabric *f, uint64_t guid, const uint32_t at[3], uint32_t odd[ODD])
{
	static const unsigned int on[ODD] = { 0, 1, 6, 2, 8, 8 };
	unsigned int i;

	/* Numbers from 5 on are off-torus switches. */
	for (i = 0; i < ODD; i++) {
		odd[i] = add_switch(f, guid + i);
		join(f, odd[i], on[i] < 5 ? at[on[i]] : odd[on[i] - 5]);
	}
}

static void check_odd(const struct dl_torus *t, const uint32_t *node, const uint32_t at[3],
		      const uint32_t odd[ODD])
{
	static const unsigned int home[ODD] = { 0, 1, 1, 2, 2, 2 };
	const struct dl_fabric *f = t->fabric;
	uint32_t i;

	assert_int_equal(t->nplaced, t->nsites);
	assert_int_equal(t->nunplaced, ODD);
	for (i = 0; i < t->nsites; i++)
		assert_true(t->sw_site[f->nodes[node[i]].sw] != DL_NONE);
	for (i = 0; i < ODD; i++)
		assert_int_equal(t->sw_site[f->nodes[odd[i]].sw], DL_NONE);
	for (i = 0; i < ODD; i++)
		assert_int_equal(t->attachment[f->nodes[odd[i]].sw],
				 t->sw_site[f->nodes[at[home[i]]].sw]);
}

/*
 * With a configuration and without, all of the torus is placed, and the odd
 * ones are listed and go by the site of the switch they hang on.
 */
static void odd_switches(void **state)
{
	static const struct dl_torus_grid grids[] = { { { 6, 5, 1 }, { 0 } },
						      { { 5, 3, 5 }, { 0 } },
						      { { 3, 6, 5 }, { true } } };
	struct test_random r = { test_seed(3), 0 };
	uint32_t k, i, at[3], odd[ODD], node[GRID_MAX_SITES];
	unsigned int d;

	(void)state;
	for (k = 0; k < 60; k++) {
		const struct dl_torus_grid *g = &grids[k % 3];
		uint32_t sites = dl_torus_grid_sites(g);
		struct dl_torus_config given = { .grid = *g, .nseeds = 1 }, *c;
		struct dl_torus_seed seed = { .from = 1000 };
		struct dl_fabric *f;
		struct dl_torus *t;

		assert_int_equal(dl_fabric_new(&f), 0);
		for (i = 0; i < sites; i++)
			node[i] = add_switch(f, 1000 + i);
		for (i = 0; i < 3; i++)
			at[i] = node[i * (sites / 3) + test_random(&r, sites / 3)];
		/* Odd GUIDs before all others or behind; cables likewise. */
		if (k & 1)
			add_odd(f, 1, at, odd);
		for (i = 0; i < sites * DL_TORUS_DIMS; i++) {
			uint32_t next = dl_torus_site_next(g, i / DL_TORUS_DIMS,
							   dl_torus_dir(i % DL_TORUS_DIMS, false));

			if (next != DL_NONE)
				join(f, node[i / DL_TORUS_DIMS], node[next]);
		}
		if (!(k & 1))
			add_odd(f, 5000, at, odd);
		assert_int_equal(dl_fabric_finish(f, NULL), 0);

		for (d = 0; d < DL_TORUS_DIMS; d++) {
			uint32_t next = dl_torus_site_next(g, 0, dl_torus_dir(d, false));

			if (next != DL_NONE)
				seed.to[dl_torus_dir(d, false)] = 1000 + next;
		}
		/* An open dimension without one is searched wider. */
		for (d = 0; d < DL_TORUS_DIMS; d++)
			seed.has_dateline[d] = true;
		given.seeds = &seed;
		assert_int_equal(dl_torus_discover(f, &given, NULL, &t), 0);
		check_odd(t, node, at, odd);
		for (i = 0; i < sites; i++)
			assert_int_equal(t->sw_site[f->nodes[node[i]].sw], i);
		dl_torus_free(t);

		assert_int_equal(dl_torus_infer(f, NULL, &c), 0);
		assert_int_equal(dl_torus_discover(f, c, NULL, &t), 0);
		check_odd(t, node, at, odd);
		dl_torus_free(t);
		dl_torus_config_free(c);
		dl_fabric_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_plan),
		cmocka_unit_test(mixed),
		cmocka_unit_test(odd_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
