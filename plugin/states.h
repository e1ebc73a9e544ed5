/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a sweep and a change of tables can be in; states.c draws what follows what. */
#ifndef DL_PLUGIN_STATES_H
#define DL_PLUGIN_STATES_H

#include <stdbool.h>

struct dl_engine;

/* The sweep, from OpenSM's request for tables until its report that the subnet is up. */
enum dl_sweep_state {
	DL_SWEEP_IDLE,	    /* nothing has been asked for since the subnet was up */
	DL_SWEEP_COMPUTING, /* OpenSM has asked for tables */
	DL_SWEEP_WRITING,   /* OpenSM writes new tables */
	DL_SWEEP_KEEPING,   /* refused: OpenSM writes the last good tables again */
	DL_SWEEP_ASIDE,	    /* refused: no tables are in force, another engine routes */
	DL_SWEEP_BROKEN,    /* a state was entered that must not follow: no tables are given */
	DL_SWEEP_STATES
};

/* The change from the tables that the switches hold to those in force. */
enum dl_change_state {
	DL_CHANGE_UNKNOWN,  /* what the switches hold may be no part of the tables in force */
	DL_CHANGE_SETTLED,  /* the switches hold the tables in force, or a part of them */
	DL_CHANGE_WRITING,  /* OpenSM writes new tables without a plan */
	DL_CHANGE_WAITING,  /* ... for OpenSM's report, then for packets of the change before */
	DL_CHANGE_GROUPS,   /* groups get the ports of both trees only */
	DL_CHANGE_LINKS,    /* links go active, ports without a cable down */
	DL_CHANGE_MOVING,   /* entries are written as the plan's steps say */
	DL_CHANGE_DRAINING, /* packets that met entries which have changed leave */
	DL_CHANGE_MAPS,	    /* the new SL-to-VL maps are written */
	DL_CHANGE_OPENING,  /* the last new entries are written */
	DL_CHANGE_STATES
};

/* May one state follow another? */
bool dl_sweep_state_follows(enum dl_sweep_state from, enum dl_sweep_state to);
bool dl_change_state_follows(enum dl_change_state from, enum dl_change_state to);

/*
 * Enter a state: the only functions that change one.  False: it must not follow
 * (logged); the engine then gives no tables until OpenSM asks again, which it is
 * made to do.
 */
bool dl_sweep_enter(struct dl_engine *e, enum dl_sweep_state to);
bool dl_change_enter(struct dl_engine *e, enum dl_change_state to);

#endif
