/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A walk through all sites of a grid that keeps neighbours together. */
#ifndef DL_CURVE_H
#define DL_CURVE_H

#include "torus/torus.h"

/*
 * Fill `order` with all sites of the grid, each once, along a space-filling
 * curve that begins near site 0: each is a neighbour of the one before, and
 * any stretch of the walk lies in a compact part of the grid.  Returns 0 or
 * -ENOMEM.
 */
int dl_curve(const struct dl_grid *g, uint32_t *order);

/* Hops between two sites, the shorter way round. */
uint32_t dl_site_distance(const struct dl_grid *g, uint32_t a, uint32_t b);

#endif
