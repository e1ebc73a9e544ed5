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

/* What port numbers mean, if they mean the same direction on all switches. */
struct dl_port_meaning {
	uint8_t dir[DL_MAX_PORTS + 1];	/* of a port number, or DL_DIRS */
};

/* Learn it from the placed switches.  False: there is nothing to learn. */
bool dl_ports_learn(const struct dl_search *s, struct dl_port_meaning *m);

/*
 * What do the ports that a switch hangs on say to its sitting at a site next
 * to those of its placed neighbours?
 */
enum dl_opinion { DL_SILENT, DL_AGREE, DL_DISAGREE };
enum dl_opinion dl_ports_agree(const struct dl_search *s,
			       const struct dl_port_meaning *m, uint32_t sw,
			       uint32_t site);

/*
 * Place switches by port numbers, if these mean the same direction on all
 * switches.  Returns how many were placed.
 */
uint32_t dl_anchor_ports(struct dl_search *s);

#endif
