/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Torus and mesh fabrics made to a plan, with failures. */
#ifndef DL_GENERATE_H
#define DL_GENERATE_H

#include "torus/torus.h"

/* Cables missing between a site and its neighbour in a direction. */
struct dl_failed_hop {
	uint32_t site;
	uint8_t dir;
	uint8_t cables;		/* how many; 0: all of them */
};

struct dl_plan {
	struct dl_grid grid;
	uint32_t hosts;		/* adapters at each switch */
	uint32_t parallel;	/* cables in each direction, at least 1 */
	bool scramble;		/* ports, GUIDs and order by `seed`? */
	uint64_t seed;
	const uint32_t *failed_sites;	/* in any order, also repeated */
	uint32_t nfailed_sites;
	const struct dl_failed_hop *failed_hops;	/* they add up */
	uint32_t nfailed_hops;
};

/*
 * Make the fabric of a plan and a configuration that describes it.  Both are
 * the caller's.  Returns 0, -EINVAL (reported: too many ports, nodes or
 * failures, no such hop), -ENOMEM.
 */
int dl_generate(const struct dl_plan *plan, const struct dl_log *log,
		struct dl_fabric **fabric, struct dl_torus_config **config);

#endif
