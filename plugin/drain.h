/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How long packets that met entries which have changed since may still be under way. */
#ifndef DL_PLUGIN_DRAIN_H
#define DL_PLUGIN_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "dateline/transition.h"

struct dl_engine;
struct dl_fabric;
struct dl_drain_counters;

struct dl_drain {
	double since;  /* monotonic: all writes were confirmed; 0: nothing old is under way */
	uint32_t hops; /* switches that such a packet can still pass, at most */
	/* What they have met: of the fabric in force, with groups on the trees before. */
	struct dl_transition_history history;
	struct dl_tables groups;
	struct dl_drain_counters *counters; /* how they are read; NULL: not yet */
};

/* How a wait ended, the surest first. */
enum dl_drain_end {
	DL_DRAIN_NONE,	   /* nothing old was under way */
	DL_DRAIN_SEEN,	   /* counters show that nothing has waited */
	DL_DRAIN_BOUND,	   /* no switch keeps a packet so long */
	DL_DRAIN_FIXED,	   /* drain_ms, which nothing says to be enough */
	DL_DRAIN_UNPROVEN, /* drain_seconds were over before */
	DL_DRAIN_ENDS
};

/*
 * Entries have been written, all is confirmed: packets that met others are under way, and
 * pass `hops` switches at most.
 */
void dl_drain_begin(struct dl_engine *e, uint32_t hops);

/* They have met what a plan notes, and nothing else: takes its history and groups. */
void dl_drain_remember(struct dl_engine *e, struct dl_transition *plan);

/* Is there anything to wait for? */
bool dl_drain_is_due(const struct dl_engine *e);

/*
 * Wait until they have left.  They are in these switches of `f` only; NULL: in any.
 * 0, or -EINTR (OpenSM ends).
 */
int dl_drain_wait(struct dl_engine *e, const struct dl_fabric *f, const bool *switches,
		  enum dl_drain_end *how);

/*
 * All is as it should be: look, for a second at most, whether they have left, so that the
 * next change need not wait, perhaps for switches that it has yet to make reachable.
 */
void dl_drain_look(struct dl_engine *e);

void dl_drain_release(struct dl_engine *e);

#endif
