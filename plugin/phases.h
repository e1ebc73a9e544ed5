/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* New tables in phases, from routing until the report that it is done. */
#ifndef DL_PLUGIN_PHASES_H
#define DL_PLUGIN_PHASES_H

#include "dateline/tables.h"
#include "dateline/transition.h"

struct dl_engine;
struct dl_sweep;

struct dl_phases {
	struct dl_sweep *from;	 /* what the switches hold; NULL: nothing */
	struct dl_sweep *next;	 /* the tables in force, borrowed */
	struct dl_tables opened; /* its forwarding, without groups */
	struct dl_transition plan;
	struct dl_fabric_match old_of; /* the fabric of `next` in that of `from` */
	bool direct;		       /* any mixture is safe: nothing is closed */
	bool activate;		       /* cables that come must be active first */
	bool branches;		       /* they may meet old multicast branches */
	bool haunted;		       /* a port without a cable is still active */
	bool close_groups;	       /* the old tree has cables that the new one lacks */
	bool closing;		       /* do groups get the ports of both trees only? */
	bool old_maps;		       /* do SL-to-VL maps still have to wait? */
	bool recalled;		       /* `from` was read from the switches: it has no tree */
	bool fresh;		       /* ... which had never been set up */
	bool unproven;		       /* ... and could not be closed */
	double closed_at;
};

/*
 * OpenSM is about to get tables that are not in force yet: complete the plan, if
 * there is one, and hand it the old ones instead.  OpenSM's lock is held.
 */
void dl_phases_begin(struct dl_engine *e, struct dl_sweep *next, struct dl_phases *planned);

/*
 * OpenSM reports that unicast routing is done, at the end of a heavy sweep's
 * part of it, or of a pass that only routes again: run the phases.  Takes
 * OpenSM's lock, and waits for answers without it.
 */
void dl_phases_run(struct dl_engine *e, bool rerouted);

/* What has begun and was not finished: the old tables are in force again. */
void dl_phases_abandon(struct dl_engine *e);

#endif
