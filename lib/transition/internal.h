/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the files of this room share. */
#ifndef DL_TRANSITION_INTERNAL_H
#define DL_TRANSITION_INTERNAL_H

#include <errno.h>

#include "dateline/transition.h"

#define DL_TRANSITION_LFT_BLOCK 64   /* LIDs in one SMP */
#define DL_TRANSITION_MFT_BLOCK 32   /* multicast LIDs in one SMP ... */
#define DL_TRANSITION_MFT_PORTS 16   /* ... for so many ports */
#define DL_TRANSITION_MFT_BLOCKS 512 /* MLIDs 0xC000 to 0xFFFF */

/* A group's masks; none, if there is no such group. */
const struct dl_tables_masks *dl_transition_masks(const struct dl_tables *t, uint16_t mlid);

/*
 * Tables with entries and masks of their own, which share all else with `t`.
 * 0 or -ENOMEM; release in either case.
 */
int dl_transition_share(const struct dl_tables *t, struct dl_tables *out);
void dl_transition_unshare(struct dl_tables *t);
int dl_transition_add_groups(const struct dl_tables *from, struct dl_tables *to);

/*
 * Packets of a plan that had passed a cable which has gone: into t->orphans.  `held` stands
 * already, and has the maps that they meet.  Those of the history are among them, and its ports
 * in t->history, as the new fabric has them.  0 or -ENOMEM.
 */
int dl_transition_find_orphans(const struct dl_tables *from,
			       const struct dl_transition_history *history,
			       struct dl_transition *t);

/* In the order in which a plan wants it; not whole if an entry had too many ports. */
void dl_transition_history_sort(struct dl_transition_history *h);

/*
 * Maps of a history, of an old fabric that `now` finds in the new one, into t->held and
 * t->history.  0 or -ENOMEM.
 */
int dl_transition_history_bring_maps(const struct dl_transition_history *h,
				     const struct dl_fabric_match *now, struct dl_transition *t);

/* Take ports of a switch out of all groups.  0 or -ENOMEM. */
int dl_transition_close_in_groups(struct dl_tables *t, uint32_t s, const uint64_t *ports);

/* By LID, into zeroed memory: does an entry differ?  Row by row, as they lie in memory. */
void dl_transition_changed_lids(const struct dl_tables *a, const struct dl_tables *b, bool *lids);

/* Note that what a switch sends to a LID is interrupted, if `out` lists it.  0 or -ENOMEM. */
static inline int dl_transition_note_stop(struct dl_transition_waves *out, uint32_t sw,
					  uint16_t lid)
{
	if (!out || out->nstops == DL_TRANSITION_STOPS)
		return 0;
	if (!dl_array_room(out->stops, out->nstops, 1, &out->stops_cap))
		return -ENOMEM;
	out->stops[out->nstops++] = (struct dl_transition_stop){ sw, lid };
	return 0;
}

/* End ports with a LID, by switch, into zeroed memory. */
void dl_transition_count_ends(const struct dl_fabric *f, uint32_t *ends);

/* Maps towards an output port in use that differ, from input ports in use. */
uint32_t dl_transition_count_maps(const struct dl_tables *a, const struct dl_tables *b, uint32_t s,
				  unsigned int out);

/*
 * Count maps that change, and close what packets cross them by another VL; when
 * entries that differ are closed.  0 or -ENOMEM.
 */
int dl_transition_close_maps(struct dl_transition *t);

/*
 * Of 64 switches from `first` on: at which positions, a bit each, does a multicast
 * block differ?  Returns false if at none.
 */
bool dl_transition_mft_differs(const struct dl_tables *a, const struct dl_tables *b,
			       unsigned int block, uint32_t first, uint16_t *positions);

/* Ports in masks of `a` that those of `b` lack. */
uint64_t dl_transition_mask_ports(const struct dl_tables *a, const struct dl_tables *b);

/* Multicast blocks that differ. */
uint64_t dl_transition_mft_writes(const struct dl_tables *a, const struct dl_tables *b);

#endif
