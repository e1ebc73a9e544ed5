/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What else is known of where switches sit, when the cables around one seed
 * do not tell it: see anchors.c.
 */
#ifndef DL_ANCHORS_H
#define DL_ANCHORS_H

#include "torus/search.h"

/*
 * Place the switches that all seeds name whose position relative to the
 * origin is known.  `main` is the seed that was grown from, or DL_NONE.
 * Returns how many were placed.
 */
uint32_t dl_anchor_seeds(struct dl_search *s, const struct dl_torus_config *c,
			 uint32_t main);

/*
 * Place the switches that were known before, in a grid of the same shape, and
 * whose cables do not contradict it.  Into an empty search.
 */
void dl_anchor_before(struct dl_search *s, const struct dl_torus *before);

/* Do all seeds agree with what is placed? */
bool dl_anchors_agree(const struct dl_search *s,
		      const struct dl_torus_config *c);

/*
 * Place switches by port numbers, if these mean the same direction on all
 * switches.  Returns how many were placed.
 */
uint32_t dl_anchor_ports(struct dl_search *s);

#endif
