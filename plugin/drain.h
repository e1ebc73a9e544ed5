/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How long packets that met entries which have changed since may still be under way. */
#ifndef DL_PLUGIN_DRAIN_H
#define DL_PLUGIN_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "dateline/transition.h"

struct dl_engine;
struct dl_fabric_match;
struct dl_drain_counters;

/* Which packets that met other entries are under way. */
struct dl_drain_left {
	double since;  /* monotonic: all writes were confirmed; 0: none */
	uint32_t hops; /* switches that such a packet can still pass, at most */
	bool known;    /* they have met what the history says, and nothing else */
};

struct dl_drain {
	struct dl_drain_left left;
	struct dl_drain_left before; /* when the change began; of those that are still under way */
	bool given_up;		     /* has the last change been, in a wait? */
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

/* A change begins; it has been given up, and no entry has moved: as it was when it began. */
void dl_drain_mark(struct dl_engine *e);
void dl_drain_return(struct dl_engine *e);

/* They have met what a plan notes, and nothing else: takes its history and groups. */
void dl_drain_remember(struct dl_engine *e, struct dl_transition *plan);

/* ... of a plan that has been given up while they were to leave: takes its history. */
void dl_drain_remember_back(struct dl_engine *e, struct dl_transition *plan,
			    const struct dl_fabric_match *old);

/* Is there anything to wait for? */
bool dl_drain_is_due(const struct dl_engine *e);

/*
 * Wait until they have left.  They are in these switches only; NULL: in any.  `paths` are
 * theirs by now; without groups, if they have any, nobody knows.
 * 0, -EINTR (OpenSM ends), or, if the change may be given up, -EAGAIN: a link has failed or
 * come meanwhile, and a switch that could tell does not answer.  Not if the last change was.
 */
int dl_drain_wait(struct dl_engine *e, const struct dl_tables *paths, const bool *switches,
		  bool may_give_up, enum dl_drain_end *how);

/*
 * All is as it should be: look, for a second at most, whether they have left, so that the
 * next change need not wait, perhaps for switches that it has yet to make reachable.
 */
void dl_drain_look(struct dl_engine *e);

/* Nothing is under way. */
void dl_drain_forget(struct dl_engine *e);
void dl_drain_release(struct dl_engine *e);

#endif
