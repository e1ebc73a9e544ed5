/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * damage X Y Z [SWITCHES [CABLES [SEED]]]
 *
 * What failures cost: the time to find the coordinates of a torus and to route
 * it in classic mode, tree included, whole and with some switches (side by
 * side along z) and cables missing at random.  Prints both times and their
 * ratio; exit status 1 when damage costs more than the whole twice.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dateline/route.h"
#include "dateline/torus.h"
#include "../test/unit/random.h"

#define RUNS 5
#define TRIES 1000 /* draws of failures until the rules accept one */
#define MOST 1000  /* switches or cables */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Discover and route once; negative when it is refused. */
static double once(const struct dl_fabric *f, const struct dl_torus_config *c)
{
	struct dl_route_options o;
	struct dl_route_result r = { 0 };
	struct dl_torus *torus = NULL;
	double start = now(), seconds;
	int err;

	dl_route_options_init(&o);
	o.mode = DL_ROUTE_CLASSIC;
	err = dl_torus_discover(f, c, NULL, &torus);
	if (!err)
		err = dl_route(torus, c, &o, NULL, &r);
	seconds = now() - start;
	dl_route_result_release(&r);
	dl_torus_free(torus);
	return err ? -1 : seconds;
}

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The median of some runs; negative when the plan cannot be routed. */
static double measure(const struct dl_torus_plan *plan)
{
	struct dl_torus_config *c = NULL;
	struct dl_fabric *f = NULL;
	double t[RUNS] = { -1 };
	int i;

	if (!dl_torus_generate(plan, NULL, &f, &c) && !dl_fabric_assign_lids(f, 0)) {
		for (i = 0; i < RUNS; i++) {
			t[i] = once(f, c);
			if (t[i] < 0) {
				t[RUNS / 2] = -1;
				break;
			}
		}
		if (i == RUNS)
			qsort(t, RUNS, sizeof(*t), ascending);
	} else {
		t[RUNS / 2] = -1;
	}
	dl_torus_config_free(c);
	dl_fabric_free(f);
	return t[RUNS / 2];
}

/* Draw failures into a plan. */
static void draw(struct dl_torus_plan *plan, uint32_t *sites, struct dl_torus_failed_hop *hops,
		 struct test_random *random)
{
	uint32_t nsites = dl_torus_grid_sites(&plan->grid), i;

	for (i = 0; i < plan->nfailed_sites; i++)
		sites[i] =
			i ? dl_torus_site_next(&plan->grid, sites[i - 1], dl_torus_dir(2, false)) :
			    test_random(random, nsites);
	for (i = 0; i < plan->nfailed_hops; i++)
		hops[i] = (struct dl_torus_failed_hop){
			.site = test_random(random, nsites),
			.dir = dl_torus_dir(test_random(random, DL_TORUS_DIMS), false),
		};
}

static uint32_t number(int argc, char **argv, int i, uint32_t fallback)
{
	return argc > i ? strtoul(argv[i], NULL, 10) : fallback;
}

int main(int argc, char **argv)
{
	struct dl_torus_plan whole = { .hosts = 1, .parallel = 1 }, damaged;
	static struct dl_torus_failed_hop hops[MOST];
	static uint32_t sites[MOST];
	struct test_random random = { number(argc, argv, 6, 1), 0 };
	double plain, hurt = -1;
	int i;

	for (i = 0; i < DL_TORUS_DIMS; i++)
		whole.grid.radix[i] = number(argc, argv, 1 + i, 16);
	damaged = whole;
	damaged.failed_sites = sites;
	damaged.nfailed_sites = number(argc, argv, 4, 0);
	damaged.failed_hops = hops;
	damaged.nfailed_hops = number(argc, argv, 5, 20);
	if (damaged.nfailed_sites > MOST || damaged.nfailed_hops > MOST)
		return 2;
	plain = measure(&whole);
	for (i = 0; i < TRIES && hurt < 0; i++) {
		draw(&damaged, sites, hops, &random);
		hurt = measure(&damaged);
	}
	if (plain < 0 || hurt < 0) {
		fprintf(stderr, "damage: this cannot be routed\n");
		return 2;
	}
	printf("%ux%ux%u whole: %.3f s; without %u switches and %u cables: "
	       "%.3f s; ratio %.2f (seed %u, draw %d)\n",
	       whole.grid.radix[0], whole.grid.radix[1], whole.grid.radix[2], plain,
	       damaged.nfailed_sites, damaged.nfailed_hops, hurt, hurt / plain, random.seed, i);
	return hurt > 2 * plain;
}
