/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The routing engine inside OpenSM.
 *
 * Data flow of a sweep: OpenSM's subnet -> fabric (import.c) -> torus ->
 * tables and tree (sweep.c) -> OpenSM's forwarding tables, SL-to-VL maps,
 * arbitration tables, path SLs and multicast tables (engine.c, mcast.c).
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

#include "metrics.h"
#include "opensm.h"
#include "options.h"
#include "recall.h"

#include "dateline/tables.h"

struct dl_phases;
struct dl_sweep;
struct dl_writer;

struct dl_engine {
	struct osm_opensm *osm;
	struct dl_plugin_options options;
	struct dl_sweep *in_force; /* NULL unless we are the engine in use */
	bool sweeping;		   /* is a heavy sweep writing our tables? */
	bool clear_groups;	   /* ... and tables of switches without groups? */
	bool retry;		   /* was this sweep refused? */
	struct dl_phases *phases;  /* NULL: none under way */
	const char *unproven;	   /* why this sweep's transition is, or NULL */
	bool again;		   /* is the next sweep to follow at once? */
	bool hurried;		   /* ... as this one has? */
	uint32_t cut_before;	   /* dl_sweep.cut of the sweep before */
	struct dl_recall recall;
	struct dl_writer *writer; /* NULL: nothing was written yet */
	char *qos_seen;		  /* QoS options when last checked */
	struct dl_metrics_state metrics;
};

/* Set up the callbacks: for osm_register_external_routing_engine(). */
int dl_engine_setup(struct osm_routing_engine *re, struct osm_opensm *osm);

/* A heavy sweep has ended: if it was refused, let the next be heavy, too. */
void dl_engine_retry(struct dl_engine *e);
/* The same where what has ended is no sweep. */
void dl_engine_ask_again(struct dl_engine *e);

/* The map that OpenSM is to write now; false: its own. */
bool dl_engine_find_map(const struct dl_engine *e, const osm_physp_t *physp, uint8_t in,
			uint8_t out, dl_tables_sl2vl_row *row);

#endif
