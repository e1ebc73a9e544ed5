/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Fabrics with known coordinates, routed in classic mode, for tests. */
#ifndef TEST_ROUTED_H
#define TEST_ROUTED_H

#include "grid_fabric.h"
#include "dateline/route.h"

#define ROUTED_SHAPES 9

extern const struct dl_torus_grid routed_shapes[ROUTED_SHAPES];

/* A fabric on its way through routing. */
struct routed {
	struct grid_fabric g;
	struct dl_torus *torus;
	struct dl_route_result out;
	struct dl_tables *tables; /* of the result */
	int err;		  /* what dl_route() returned */
};

/* The first site that can seed discovery, or DL_NONE. */
uint32_t routed_seed(const struct grid_fabric *g);

/* Route in classic mode; again, if it is routed already. */
void routed_again(struct routed *r);

/* Build, discover and route. */
void routed_make(struct routed *r);
void routed_release(struct routed *r);

/* The site of coordinates. */
uint32_t routed_site(const struct routed *r, uint32_t x, uint32_t y, uint32_t z);
uint8_t routed_direction(const struct routed *r, uint32_t site, uint8_t port);
uint16_t routed_lid(const struct routed *r, uint32_t site);

/* Follow the tables from a switch to a LID; returns hops, or DL_NONE. */
uint32_t routed_follow(const struct routed *r, uint32_t sw, uint16_t lid);
void assert_routed_delivered(const struct routed *r);

/* Delivered and free of credit loops, with the SLs of the mode. */
void assert_routed_safe(const struct dl_tables *t, enum dl_route_mode mode);

#endif
