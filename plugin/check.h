/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the plugin relies on before tables go to the switches.  No OpenSM. */
#ifndef DL_PLUGIN_CHECK_H
#define DL_PLUGIN_CHECK_H

#include "dateline/route.h"

/*
 * Check what routing promises: tables and a tree of this fabric, entries that
 * name ports of their switches, and in proven mode a verification without
 * loss and credit loop.  0, or -EPROTO (logged): a broken invariant.
 * O(switches x LIDs).
 */
int dl_check_routed(const struct dl_fabric *f, const struct dl_route_result *r, bool proven,
		    const struct dl_log *log);

#endif
