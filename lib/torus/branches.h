/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Switches that join hardly anything; see branches.c. */
#ifndef DL_BRANCHES_H
#define DL_BRANCHES_H

#include "torus/anchors.h"

enum { DL_OUTSIDE = 1, DL_THIN };	/* s->branch[] */

/* Fill in s->branch; s->adj must be there.  Returns 0 or -ENOMEM. */
int dl_find_branches(struct dl_search *s);

/* What the placed switches say about the others. */
struct dl_evidence {
	bool gathered;
	uint32_t missing;	/* hops that have no cable */
	bool ports;		/* do port numbers mean anything? */
	struct dl_port_meaning meaning;
};

void dl_evidence_gather(const struct dl_search *s, struct dl_evidence *e);

/*
 * Is a branch likely to be the switch of this site, the only one left?  0: no;
 * else the more, the sooner it should be placed.
 */
unsigned int dl_belief(const struct dl_search *s, const struct dl_evidence *e,
		       uint32_t sw, uint32_t site);

#endif
