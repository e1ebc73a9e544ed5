/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What unicast tables ask of the cables: how many pairs of end ports go over
 * each, and how many hops a packet makes on average.
 */
#ifndef DL_LOAD_H
#define DL_LOAD_H

#include "tables/tables.h"

struct dl_load {
	/*
	 * By port index: pairs (source end port, destination LID) that leave
	 * a switch by this port towards another switch.  0 for other ports.
	 */
	uint64_t *flows;
	uint64_t busiest;	/* the largest of them */
	uint64_t pairs;		/* delivered pairs */
	uint64_t hops;		/* cables between switches that they pass */
	/* The same for those pairs that other tables deliver, too. */
	uint64_t common_pairs, common_hops, common_busiest;
};

/*
 * Count.  Pairs whose packets do not arrive are left out, as are a port's
 * packets to itself; a switch's own port 0 counts as an end port.  The fabric
 * needs LIDs.  `other` are other tables of the same fabric to compare with, or
 * NULL.  O(switches) for each LID in use.  Returns 0 or -ENOMEM; released with
 * dl_load_release().
 */
int dl_load_count(const struct dl_tables *t, const struct dl_tables *other,
		  struct dl_load *out);
void dl_load_release(struct dl_load *l);

#endif
