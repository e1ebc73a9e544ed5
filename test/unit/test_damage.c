/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Discovery on heavily damaged tori, with the configuration that was written
 * when they were whole: how much is placed, and that nothing is misplaced.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "grid_fabric.h"

#define SEEDS 3	/* as many as dateline gen writes */

static const struct damage {
	struct dl_grid grid;
	uint32_t switches, cables;
	unsigned int at_least;	/* per cent placed, ports wired by a plan */
} damages[] = {
	{ { { 6, 5, 1 }, { 0 } }, 8, 0, 98 },
	{ { { 6, 5, 1 }, { 0 } }, 0, 25, 98 },
	{ { { 5, 5, 5 }, { 0 } }, 8, 0, 100 },
	{ { { 5, 5, 5 }, { 0 } }, 0, 32, 100 },
	{ { { 4, 6, 7 }, { 0 } }, 8, 32, 100 },
	{ { { 8, 8, 8 }, { 0 } }, 8, 32, 100 },
};
#define NDAMAGES (sizeof(damages) / sizeof(*damages))

/* Can every live switch be reached from every other? */
static bool connected(const struct grid_fabric *g)
{
	uint32_t queue[GRID_MAX_SITES], n = 0, i, dir, alive = 0;
	uint32_t sites = dl_grid_sites(&g->grid);
	bool seen[GRID_MAX_SITES] = { false };

	for (i = 0; i < sites; i++) {
		if (g->dead_switch[i])
			continue;
		if (!alive++) {
			queue[n++] = i;
			seen[i] = true;
		}
	}
	for (i = 0; i < n; i++) {
		for (dir = 0; dir < DL_DIRS; dir++) {
			uint32_t next = dl_site_next(&g->grid, queue[i], dir);

			if (!grid_hop(g, queue[i], dir) || seen[next])
				continue;
			seen[next] = true;
			queue[n++] = next;
		}
	}
	return n == alive;
}

static void draw(struct grid_fabric *g, const struct damage *d,
		 struct test_random *r)
{
	uint32_t i, site, dim;

	do {
		memset(g->dead_switch, 0, sizeof(g->dead_switch));
		memset(g->dead_hop, 0, sizeof(g->dead_hop));
		for (i = 0; i < d->switches; i += !g->dead_switch[site],
		    g->dead_switch[site] = true)
			site = test_random(r, dl_grid_sites(&g->grid));
		for (i = 0; i < d->cables; i++) {
			do {
				site = test_random(r, dl_grid_sites(&g->grid));
				dim = test_random(r, DL_DIMS);
			} while (g->grid.radix[dim] < 2 ||
				 g->dead_hop[site][dim]);
			g->dead_hop[site][dim] = true;
		}
	} while (!connected(g));
}

/* The configuration of the whole torus, from its true coordinates. */
static struct dl_torus_config *describe_whole(const struct dl_grid *grid,
					      const struct test_random *wiring)
{
	struct test_random w = *wiring;
	struct grid_fabric g = { .grid = *grid, .parallel = 1,
				 .shuffle = w.seed ? &w : NULL };
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

static void try(const struct damage *d, struct test_random *r,
		const struct test_random *wiring, struct count *n)
{
	struct dl_torus_config *c = describe_whole(&d->grid, wiring);
	struct test_random w = *wiring;
	struct grid_fabric g = { .grid = d->grid, .parallel = 1,
				 .shuffle = w.seed ? &w : NULL };
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

static void run(const struct damage *d, struct test_random *r, bool shuffled,
		struct count *n)
{
	uint32_t k, rounds = 20000 / dl_grid_sites(&d->grid);

	for (k = 0; k < (rounds < 100 ? rounds : 100); k++) {
		struct test_random wiring = { shuffled ? 1 + k : 0, 0 };

		try(d, r, &wiring, n);
	}
	print_message("%ux%ux%u, %u switches and %u cables failed, ports %s: "
		      "%u of %u switches placed, %u wrong; %u of %u complete\n",
		      d->grid.radix[0], d->grid.radix[1], d->grid.radix[2],
		      d->switches, d->cables, shuffled ? "mixed" : "by plan",
		      n->placed, n->alive, n->wrong, n->complete,
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_plan),
		cmocka_unit_test(mixed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
