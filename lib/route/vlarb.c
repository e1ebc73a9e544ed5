/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * VL arbitration tables (rules A7).
 *
 * Deadlock freedom rests on every VL being served, and QoS on the levels'
 * shares.  So every VL in use stands in the table, all VLs of one level with
 * the same weight, in the high table and in the low one alike: whatever the
 * high limit makes of the two tables, the shares of the levels stay the same.
 *
 * A port whose high table is too short for that has them in the low table alone, and
 * in the high one those for which the low one is too short.
 *
 * Weights count blocks of 64 bytes, and a VL gives up what it did not use
 * when its turn ends.  Multiples of 64 let the largest packets (4096 bytes)
 * use a turn up exactly, so shares are exact for them; ratios that do not fit
 * into 255 that way get the largest whole multiple.
 */
#include <string.h>

#include "route/internal.h"

#define LARGEST_PACKET 64 /* blocks */
#define WEIGHT_MAX 255

static unsigned int vlarb_scale(const struct dl_route_options *o)
{
	unsigned int most = o->weights[0] > o->weights[1] ? o->weights[0] : o->weights[1];

	return most * LARGEST_PACKET <= WEIGHT_MAX ? LARGEST_PACKET : WEIGHT_MAX / most;
}

void dl_route_vlarb(const struct dl_route_options *o, const struct dl_route_vls *vls, bool between,
		    unsigned int high_cap, unsigned int low_cap, struct dl_tables_vlarb *out)
{
	unsigned int nvls = between ? vls->between : vls->end >= 2 ? 2 : 1;
	unsigned int per_level = between ? vls->any_sl ? nvls / dl_route_levels(vls) : 4 : 1;
	unsigned int vl, first, k = vlarb_scale(o);

	memset(out, 0, sizeof(*out));
	out->high_limit = o->high_limit;
	out->nlow = nvls < low_cap ? nvls : low_cap;
	first = nvls <= high_cap ? 0 : out->nlow;
	out->nhigh = nvls - first < high_cap ? nvls - first : high_cap;
	for (vl = 0; vl < nvls; vl++) {
		struct dl_tables_vlarb_entry e = { vl, k * o->weights[vl / per_level] };

		if (vl < out->nlow)
			out->low[vl] = e;
		if (vl >= first && vl - first < out->nhigh)
			out->high[vl - first] = e;
	}
}
