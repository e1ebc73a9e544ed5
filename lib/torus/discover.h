/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef DL_DISCOVER_H
#define DL_DISCOVER_H

#include "torus/torus.h"

/* The distinct neighbours of switch s: list[first[s]] to list[first[s + 1]]. */
struct dl_adjacency {
	uint32_t *first, *list;
};

/* Returns 0 or -ENOMEM. */
int dl_adjacency_build(const struct dl_fabric *f, struct dl_adjacency *a);
void dl_adjacency_free(struct dl_adjacency *a);

/*
 * Which switches are outside of the largest part that no single switch holds
 * together (blocks.c)?  Of equals, the one counts that is met first from the
 * switches in this order.  outside[] has room for all n.  0 or -ENOMEM.
 */
int dl_find_outside(const struct dl_adjacency *adj, uint32_t n,
		    const uint32_t *order, bool *outside);

/*
 * Fill in t->site_sw, t->sw_site, t->nplaced and t->seed; t->grid, t->fabric
 * and the arrays must be there.  `before` is a torus of the same configuration
 * as it was known before, or NULL.  Returns 0, -EINVAL (no usable seed),
 * -ENOMEM.
 */
int dl_find_sites(struct dl_torus *t, const struct dl_torus_config *c,
		  const struct dl_torus *before, const struct dl_log *log);

/*
 * dl_torus_infer() for a grid whose radices and kinds are known: `wanted`, or
 * NULL for any.
 */
int dl_infer_as_wanted(const struct dl_fabric *f, const struct dl_grid *wanted,
		       const struct dl_log *log, struct dl_torus_config **out);

#endif
