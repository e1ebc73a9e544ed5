/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Forwarding tables by dimension order. */
#ifndef DL_UNICAST_H
#define DL_UNICAST_H

#include "route/rings.h"
#include "tables/tables.h"

/*
 * Fill every switch's forwarding table.  Entries that the rule cannot fill
 * stay DL_NO_PORT.  Returns 0 or -ENOMEM.
 */
int dl_route_unicast(const struct dl_rings *r, const struct dl_torus_config *c,
		     struct dl_tables *t);

#endif
