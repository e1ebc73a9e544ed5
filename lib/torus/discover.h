/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef DL_DISCOVER_H
#define DL_DISCOVER_H

#include "torus/torus.h"

/*
 * Fill in t->site_sw, t->sw_site, t->nplaced and t->seed; t->grid, t->fabric
 * and the arrays must be there.  Returns 0, -EINVAL (no usable seed), -ENOMEM.
 */
int dl_find_sites(struct dl_torus *t, const struct dl_torus_config *c,
		  const struct dl_log *log);

#endif
