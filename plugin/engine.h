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
 *
 * Errors carry numbers, DL01 to DL99, each from one place; osmdateline(8)
 * lists them.
 */
#ifndef DL_PLUGIN_ENGINE_H
#define DL_PLUGIN_ENGINE_H

/*
 * OpenSM's headers use stdio without including it, and leave it to others to
 * include osm_config.h, on which the layout of its structures depends.
 */
#include <stdio.h>
#include <opensm/osm_config.h>

#include <opensm/osm_opensm.h>
#include <opensm/osm_log.h>

#include "dateline/base.h"
#include "dateline/fabric.h"
#include "metrics_text.h"
#include "options.h"
#include "dateline/route.h"
#include "dateline/torus.h"
#include "dateline/transition.h"

/* One line in OpenSM's log. */
#define DL_SAY(osm, level, format, ...) \
	osm_log(&(osm)->log, (level), "dateline: " format "\n", ##__VA_ARGS__)

/* Functions of OpenSM without a place in its installed headers may be missing. */
#define DL_OPENSM __attribute__((weak))
extern int wait_for_pending_transactions(osm_stats_t *stats) DL_OPENSM;

/* All that one sweep found out and decided. */
struct dl_sweep {
	struct dl_arena arena; /* of the sweep itself, and its small pieces */
	unsigned int shares;   /* who else holds it; atomic */
	struct dl_fabric *fabric;
	struct dl_torus_config *config;
	struct dl_torus *torus;
	bool contradicted; /* is torus_config wrong about this fabric? */
	bool proven;	   /* and verified, by proven or any-SL mode? */
	uint32_t cut;	   /* ports whose SL-to-VL maps OpenSM cuts for now */
	struct dl_route_result routed;
	struct dl_tables_masks masks; /* scratch: of one group */
	/* SLs that groups may use, verified together; others that failed. */
	uint16_t safe_sls, unsafe_sls;
	uint8_t *refused; /* by MLID from 0xC000 on: has it been named? */
	bool dumped;	  /* is its snapshot written, or about to be?  Atomic */
	bool placed;	  /* do the switches hold nothing but a part of it? */
};

/* New tables in phases, from routing until the report that it is done. */
struct dl_phases {
	struct dl_sweep *from;	 /* what the switches hold; NULL: nothing */
	struct dl_sweep *next;	 /* the tables in force, borrowed */
	struct dl_tables opened; /* its forwarding, without groups */
	struct dl_transition plan;
	bool direct;	   /* any mixture is safe: nothing is closed */
	bool activate;	   /* cables that come must be active first */
	bool branches;	   /* they may meet old multicast branches */
	bool haunted;	   /* a port without a cable is still active */
	bool close_groups; /* the old tree has cables that the new one lacks */
	bool closing;	   /* do groups get the ports of both trees only? */
	bool old_maps;	   /* do SL-to-VL maps still have to wait? */
	bool recalled;	   /* `from` was read from the switches: it has no tree */
	bool fresh;	   /* ... which had never been set up */
	bool unproven;	   /* ... and could not be closed */
	double closed_at;
};

struct dl_metrics_state {
	struct dl_metrics now;
	double last;  /* the end of the stage before, monotonic */
	bool failing; /* was the last write refused? */
};

struct dl_writer; /* snapshot.c */

/* Ports that any multicast group had at a switch at a start or takeover. */
struct dl_recall_groups {
	uint64_t guid, ports[DL_TABLES_MASK_WORDS];
};

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
	bool set_up_before;	   /* did switches hold tables at a start or takeover? */
	bool held_known;	   /* ... and have all been read? */
	struct dl_recall_groups *held_groups;
	uint32_t nheld_groups;
	unsigned int forced;	  /* OpenSM's need_update, while it is set aside */
	struct dl_writer *writer; /* NULL: nothing was written yet */
	char *qos_seen;		  /* QoS options when last checked */
	struct dl_metrics_state metrics;
};

/* Where the library's messages go: OpenSM's log, errors with a number. */
struct dl_osm_log {
	struct dl_log log; /* to be handed to the library */
	struct osm_opensm *osm;
	const char *number;   /* "DL13" */
	osm_log_level_t info; /* level of the library's information */
	unsigned int errors;  /* reported so far */
};

void dl_osm_log_init(struct dl_osm_log *l, struct osm_opensm *osm, const char *number);

/*
 * Copy OpenSM's view of what is connected to it into a fabric, LIDs and VLs as
 * it is about to program them; `arena` is for the work.  What could keep the rest
 * from being routed is left out (dl_fabric_main_part()), and named unless `log` is
 * NULL.  Returns 0, -EINVAL (GUIDs or LIDs clash),
 * -ENOMEM.
 */
int dl_import(struct osm_opensm *osm, struct dl_arena *arena, bool needs_two_vls,
	      const struct dl_log *log, struct dl_fabric **out);

/*
 * Take over the subnet as it is (OpenSM's lock is held), and compute tables for
 * it (it is not).  On failure the log says why and the result is negative;
 * -EPROTO: a fault of Dateline's own.
 */
int dl_sweep_begin(struct dl_engine *e, struct dl_sweep **out);
int dl_sweep_run(struct dl_engine *e, struct dl_sweep *sweep);
void dl_sweep_free(struct dl_sweep *sweep);

/* One more holder, who frees it as well. */
struct dl_sweep *dl_sweep_share(struct dl_sweep *sweep);

/* OpenSM's switch for the fabric's switch number s; NULL if it is gone. */
osm_switch_t *dl_sweep_switch(const struct dl_engine *e, const struct dl_fabric *f, uint32_t s);

/* The end port that owns a LID, which is in network order; or DL_NONE. */
uint32_t dl_sweep_lid_owner(const struct dl_sweep *sweep, ib_net16_t lid);

/* Log the result and what was routed, in one line. */
void dl_sweep_report(const struct dl_engine *e, const struct dl_sweep *sweep, double seconds);

/* Does OpenSM know what a port holds?  It forgets it of one that it drops. */
bool dl_recall_knows_map(const ib_slvl_table_t *held);

/*
 * Between discovery and routing, when this subnet manager becomes the master:
 * ask all switches for their marks, and wait for them.  Takes OpenSM's lock.
 */
void dl_recall_ask(struct dl_engine *e);

/*
 * The torus that the marks tell: grid, fabric, nsites and site_sw are set, for
 * dl_torus_free(); and the mode in which they were made.  NULL: none do, or
 * others know better.  Returns 0 or -ENOMEM.
 */
int dl_recall_torus(const struct dl_engine *e, struct dl_arena *arena, const struct dl_fabric *f,
		    unsigned int *mode, struct dl_torus **out);

/*
 * The tables that the switches held at a start or takeover, as a sweep with
 * fabric and tables only; its cables are those that are active.  `next` has the
 * maps where OpenSM sets none.  0, -EINVAL (not known), -ENOMEM.
 */
int dl_recall_held(const struct dl_engine *e, const struct dl_sweep *next, struct dl_sweep **out);

/* Are the groups that switches held a part of one with these masks? */
bool dl_recall_groups_fit(const struct dl_engine *e, const struct dl_fabric *f,
			  const struct dl_tables_masks *masks);

/*
 * Let OpenSM, which would write all tables at a start or takeover, write only what
 * differs from what has been read, up to this LID.  Its lock is held; whoever calls
 * this gives need_update back when unicast routing is done.
 */
void dl_recall_spare(struct dl_engine *e, uint32_t top_lid);

/* Put the mark of switch s into the table that OpenSM is going to write. */
void dl_recall_mark(struct dl_engine *e, const struct dl_sweep *sweep, uint32_t s,
		    osm_switch_t *sw);

/*
 * Put the user's QoS options into new tables, and warn about those that
 * cannot be followed, once for each change of them.  Returns 0 or a negative
 * errno.
 */
int dl_qos_apply(struct dl_engine *e, struct dl_sweep *sweep);

/*
 * Count the ports whose SL-to-VL maps OpenSM is going to cut in this sweep,
 * because OperVLs is still smaller than it will be.  0 or -ENOMEM.
 */
int dl_qos_count_cut(const struct dl_engine *e, struct dl_sweep *sweep);

/*
 * Have the snapshot in force written to dump_dir, if there is one and it is
 * new; and wait until all are.
 */
void dl_dump_dir_write(struct dl_engine *e);
void dl_dump_dir_end(struct dl_engine *e);

/*
 * Metrics: begin a sweep, account the time since the end of the stage before
 * to a stage, and end the sweep.
 */
void dl_metrics_begin(struct dl_engine *e);
void dl_metrics_stage_done(struct dl_engine *e, enum dl_metrics_stage stage);
void dl_metrics_end(struct dl_engine *e, enum dl_metrics_sweep_result what);

/* OpenSM starts, ends, or reports something.  Takes OpenSM's lock. */
void dl_metrics_start(struct dl_engine *e);
void dl_metrics_stop(struct dl_engine *e);
void dl_metrics_event(struct dl_engine *e, osm_epi_event_id_t event);

/* Write the switches' coordinates as dateline-torus.dump into a directory. */
void dl_coordinates_write(struct osm_opensm *osm, const struct dl_sweep *sweep, const char *dir);

/* A heavy sweep has ended: if it was refused, let the next be heavy, too. */
void dl_engine_retry(struct dl_engine *e);
/* The same where what has ended is no sweep. */
void dl_engine_ask_again(struct dl_engine *e);

/* An OpenSM that hides these gets its tables at once. */
extern int osm_link_mgr_process(osm_sm_t *sm, const uint8_t state) DL_OPENSM;
extern int osm_qos_setup(osm_opensm_t *osm) DL_OPENSM;
extern int osm_mcast_mgr_process(osm_sm_t *sm, boolean_t all) DL_OPENSM;

/*
 * SL-to-VL maps of ports in use that switches have not confirmed as they should
 * be, cut to OperVLs as OpenSM does.  Holding OpenSM's lock.
 */
uint64_t dl_qos_count_missing_maps(const struct dl_engine *e);

/* The map that OpenSM is to write now; false: its own. */
bool dl_engine_find_map(const struct dl_engine *e, const osm_physp_t *physp, uint8_t in,
			uint8_t out, dl_tables_sl2vl_row *row);

/* Do two sweeps route the same fabric the same way? */
bool dl_phases_same_routing(const struct dl_sweep *a, const struct dl_sweep *b);

/* Is what the switches hold a part of the tables in force? */
bool dl_phases_are_known(const struct dl_engine *e);

/* Must groups be closed, too?  Holding OpenSM's lock. */
void dl_phases_look_at_groups(const struct dl_engine *e, struct dl_phases *p);

/*
 * Plan the phases from the tables in force to these, but for the groups; takes
 * OpenSM's lock for a moment.  0, and *out stays as it is where there is nothing
 * to change, or it cannot be proven; or -ENOMEM.
 */
int dl_phases_plan(const struct dl_engine *e, struct dl_sweep *next, struct dl_phases **out);

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

/* Forget a plan that was not begun. */
void dl_phases_discard(struct dl_phases *planned);

/* What has begun and was not finished: the old tables are in force again. */
void dl_phases_abandon(struct dl_engine *e);
void dl_phases_free(struct dl_phases *p);

/* Leave of a group's masks what the old ones, `before`, have as well.  0 or -ENOMEM. */
int dl_phases_close_group(const struct dl_phases *p, const struct dl_fabric *f,
			  const struct dl_tables_masks *before, struct dl_tables_masks *masks);

/* Set up the callbacks: for osm_register_external_routing_engine(). */
int dl_engine_setup(struct osm_routing_engine *re, struct osm_opensm *osm);

/* Set the multicast forwarding entries of one MLID. */
ib_api_status_t dl_mcast_build(void *engine, osm_mgrp_box_t *box);

/*
 * A heavy sweep has ended: let joins and leaves write only what is in use.
 * Takes OpenSM's lock.
 */
void dl_mcast_rest(struct dl_engine *e);

/*
 * Drop groups that OpenSM has none of any more from those kept for the
 * snapshot.  Takes OpenSM's lock.
 */
void dl_mcast_prune(const struct dl_engine *e);

#endif
