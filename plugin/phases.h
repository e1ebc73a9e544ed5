/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* New tables step by step, from routing until the report that it is done. */
#ifndef DL_PLUGIN_PHASES_H
#define DL_PLUGIN_PHASES_H

#include "drain.h"
#include "log.h"

#include "dateline/tables.h"
#include "dateline/transition.h"

struct dl_engine;
struct dl_sweep;

/* Where the old tables come from. */
enum dl_phases_origin {
	DL_PHASES_FROM_FORCE,	 /* they are those in force */
	DL_PHASES_FROM_SWITCHES, /* they were read from the switches, and have no tree */
	DL_PHASES_FROM_NOTHING	 /* the switches had never been set up */
};

struct dl_phases {
	enum dl_phases_origin origin;
	struct dl_sweep *from;	   /* the old tables; borrowed where they are those in force */
	struct dl_sweep *next;	   /* the new ones, borrowed */
	struct dl_tables opened;   /* their forwarding, with groups of all end ports */
	struct dl_transition plan; /* plan.held: what switches hold, step by step */
	struct dl_tables paths;	   /* those of plan.held, but groups on the old tree only */
	struct dl_transition_waves steps;
	struct dl_transition_leftovers left; /* where a wait is a step */
	struct dl_fabric_match old_of;	     /* the fabric of `next` in that of `from` */
	/* What was found out about the subnet: */
	bool links_come;   /* cables that come must be active before entries name them, */
	bool links_return; /* ... and those that were down are not active, and named */
	bool old_branches; /* they may meet old multicast branches */
	bool has_groups;   /* switches may */
	bool groups_shut;  /* those may not fit what else the switches hold */
	bool *waits;	   /* ports of `next` between switches that are not active */
	bool ghost_ports;  /* ports without a cable are still active */
	bool dead_trees;   /* groups have ports whose cable has gone */
	bool blind; /* what is under way is not known, and groups may have been closed for it */
	bool trees_differ; /* the old tree has cables that the new one lacks */
	bool close_groups; /* so groups keep the ports of both trees only, or none, until the end */
	bool direct;	   /* any mixture is safe: there are no steps */
	bool grants_late;  /* until the first step is over path queries get what they got before */
	const char *doubt; /* why it is not proven, whatever comes; NULL: it may be */
	struct dl_osm_names doubtful; /* ... and for which switches' sake */
	/* As it is carried out: */
	bool mixed; /* switches hold entries of both sets */
	unsigned int drains;
	enum dl_drain_end drained;    /* how the waits ended, the least sure */
	double closed_at, closed_for; /* s */
};

/*
 * OpenSM is about to get tables that are not in force yet: complete the plan, if
 * there is one, and hand it the old ones instead.  OpenSM's lock is held.
 */
void dl_phases_begin(struct dl_engine *e, struct dl_sweep *next, struct dl_phases *planned);

/*
 * OpenSM reports that unicast routing is done, at the end of a heavy sweep's
 * part of it, or of a pass that only routes again: carry out the plan.  Takes
 * OpenSM's lock, and waits for answers without it.
 */
void dl_phases_run(struct dl_engine *e, bool rerouted);

/*
 * The tables in force are written once more, in place of new ones that were refused: over
 * what nobody knows, unless the switches are known to hold them.
 */
void dl_phases_keep(struct dl_engine *e);

/* Does OpenSM write the old SL-to-VL maps for now? */
bool dl_phases_hold_maps(const struct dl_engine *e);

/* Whose path SLs are granted?  OpenSM's lock is held. */
const struct dl_sweep *dl_phases_granting(const struct dl_engine *e);

/* A change that was not finished is given up: the old tables are in force again. */
void dl_phases_abandon(struct dl_engine *e);

/* The switches hold nothing but the tables in force, or a part of them; or nobody knows. */
void dl_phases_forget_mixture(struct dl_engine *e);

#endif
