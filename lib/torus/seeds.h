/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef DL_SEEDS_H
#define DL_SEEDS_H

#include "torus/torus.h"

/*
 * Seeds for a fabric whose live switches and cables are given: dead[site],
 * and cables[site * DL_DIMS + d] towards +d.  guids[site] names the switches.
 * Stores at most `max` seeds and their number.  Returns 0 or -ENOMEM.
 */
int dl_choose_seeds(const struct dl_grid *g, const bool *dead,
		    const uint8_t *cables, const uint64_t *guids,
		    struct dl_seed *seeds, uint32_t max, uint32_t *count);

#endif
