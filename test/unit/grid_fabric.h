/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Tori and meshes with known coordinates and failures, for tests. */
#ifndef TEST_GRID_FABRIC_H
#define TEST_GRID_FABRIC_H

#include "dateline/torus.h"

#include "random.h"

#define GRID_MAX_SITES 1024

struct grid_fabric {
	/* What to build: */
	struct dl_torus_grid grid;
	unsigned int hosts, parallel, lmc;
	unsigned int spare; /* free ports beyond one */
	bool dead_switch[GRID_MAX_SITES];
	bool dead_hop[GRID_MAX_SITES][DL_TORUS_DIMS]; /* in the positive direction */
	struct test_random *shuffle;		      /* NULL: all in order */
	/* What was built: */
	struct dl_fabric *fabric;
	uint32_t node[GRID_MAX_SITES]; /* by site; DL_NONE: dead */
	struct dl_torus_seed seed;
	struct dl_torus_config config;
};

/* Is there a cable from this site in this direction? */
bool grid_hop(const struct grid_fabric *g, uint32_t site, unsigned int dir);

/* Are there switches, and cables between all of them? */
bool grid_connected(const struct grid_fabric *g);

/* Build the fabric with LIDs.  Failures of the build fail the test. */
void grid_build(struct grid_fabric *g);

/*
 * Fill in the configuration: one seed at `site`, with every direction that
 * has a cable, or with one a dimension.
 */
void grid_seed(struct grid_fabric *g, uint32_t site, bool both_ways);

void grid_free(struct grid_fabric *g);

/* A seed that prints itself: from the environment, or `fallback`. */
uint32_t test_seed(uint32_t fallback);

#endif
