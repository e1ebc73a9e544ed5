/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The routing engine inside OpenSM.
 *
 * Data flow of a sweep: OpenSM's subnet -> fabric (import.c) -> torus ->
 * tables and tree (sweep.c) -> OpenSM's forwarding tables, SL-to-VL maps,
 * arbitration tables, path SLs and multicast tables (engine.c, maps.c, mcast.c).
 *
 * Nothing here keeps a pointer into OpenSM's subnet from one callback to the
 * next: nodes are found again by GUID and ports by number or LID.
 *
 * Locks.  OpenSM builds tables and multicast trees, and frees nothing, under
 * its lock held exclusively, and asks for path SLs with that lock shared;
 * tables are therefore swapped and released without a lock of our own.  They
 * are computed without OpenSM's, which is given back for that time (engine.c).
 */
#ifndef DL_PLUGIN_ENGINE_H
#define DL_PLUGIN_ENGINE_H

#include "avoid.h"
#include "drain.h"
#include "metrics.h"
#include "opensm.h"
#include "options.h"
#include "recall.h"
#include "rivals.h"
#include "states.h"

#include "dateline/tables.h"

struct dl_phases;
struct dl_sweep;
struct dl_writer;

/* What a sweep asks for that could not do all of its work. */
enum dl_next_sweep {
	DL_NEXT_AS_USUAL,
	DL_NEXT_HEAVY,	/* OpenSM's next sweep does all the work again */
	DL_NEXT_AT_ONCE /* ... and begins now, unless this one began so */
};

struct dl_engine {
	struct osm_opensm *osm;
	struct dl_plugin_options options;
	enum dl_sweep_state sweep; /* states.c changes these two */
	enum dl_change_state change;
	enum dl_next_sweep next_sweep;	   /* what this sweep has asked for, */
	enum dl_next_sweep last_asked_for; /* and the one before it */
	struct dl_sweep *in_force;	   /* NULL unless we are the engine in use */
	struct dl_phases *phases;	   /* of a change under way, or NULL */
	uint8_t *mixture; /* what switches hold in place of in_force's lft; NULL: that, or a part */
	bool groups_shut; /* until the next change: there is a mixture that they may not fit */
	bool branches_left; /* switches may hold some of an old tree, until a sweep ends without errors */
	struct dl_drain drain; /* of packets that met entries which have changed since */
	bool wrote;	       /* has the last sweep's change written anything? */
	bool clear_groups;     /* does this sweep write tables of switches without groups? */
	struct dl_osm_names unconfirmed; /* of the last count of blocks or maps */
	uint32_t cut_before;		 /* dl_sweep.cut of the sweep before */
	struct dl_recall recall;
	struct dl_rivals rivals;
	struct dl_avoid avoid;
	struct dl_writer *writer; /* NULL: nothing was written yet */
	char *qos_seen;		  /* QoS options when last checked */
	uint8_t policy_sl;	  /* of the QoS policy, that was warned about; 0: none */
	struct dl_metrics_state metrics;
};

/* Set up the callbacks: for osm_register_external_routing_engine(). */
int dl_engine_setup(struct osm_routing_engine *re, struct osm_opensm *osm);

/* The tables that OpenSM's queries are answered from; NULL: it does without. */
const struct dl_sweep *dl_engine_tables(const struct dl_engine *e);

/*
 * A heavy sweep begins: OpenSM, with use_ucast_cache, must not reuse tables of a change that
 * has not been finished, or that were made with another list of what to avoid.
 */
void dl_engine_begin(struct dl_engine *e);

/*
 * OpenSM has discovered the subnet.  A cable that was moved while the last sweep wrote has
 * led writes to a switch that they were not for, which confirmed them: what switches hold
 * counts as unknown.  Takes OpenSM's lock.
 */
void dl_engine_distrust(struct dl_engine *e);

/* OpenSM reports that the subnet is up: the heavy sweep has ended.  Takes its lock. */
void dl_engine_subnet_up(struct dl_engine *e);

/* Have OpenSM asked for the sweep that something needs: when a sweep has ended, or outside. */
void dl_engine_ask_again(struct dl_engine *e);

#endif
