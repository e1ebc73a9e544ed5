/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The routing engine inside OpenSM.
 *
 * Data flow of a sweep: OpenSM's subnet -> fabric (import.c) -> torus ->
 * tables and tree (plan.c) -> OpenSM's forwarding tables, SL-to-VL maps,
 * arbitration tables, path SLs and multicast tables (engine.c).
 *
 * Nothing here keeps a pointer into OpenSM's subnet from one callback to the
 * next: nodes are found again by GUID and ports by number or LID.
 *
 * Locks.  OpenSM builds tables and multicast trees, and frees nothing, under
 * its lock held exclusively, and asks for path SLs with that lock shared; a
 * plan is therefore swapped and released without a lock of our own.
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

#include <pthread.h>

#include "dateline/fabric.h"
#include "metrics_text.h"
#include "options.h"
#include "dateline/route.h"
#include "dateline/torus.h"

/* One line in OpenSM's log. */
#define DL_SAY(osm, level, format, ...) \
	osm_log(&(osm)->log, (level), "dateline: " format "\n", ##__VA_ARGS__)

/* All that one sweep found out and decided. */
struct dl_sweep_plan {
	struct dl_fabric *fabric;
	struct dl_torus_config *config;
	struct dl_torus *torus;
	bool proven; /* by proven mode? */
	struct dl_route_result routed;
	uint64_t *masks; /* scratch: port masks of one group */
	bool written;	 /* is its snapshot on disk? */
};

/* Numbers for monitoring, as they are gathered and as last written. */
struct dl_gather {
	struct dl_metrics now;
	double last;	      /* the end of the stage before, monotonic */
	pthread_mutex_t lock; /* of what follows */
	struct dl_metrics written;
	bool failing;	      /* was the last write refused? */
	pthread_t thread;     /* writes again now and then ... */
	bool beating;	      /* ... if there is one ... */
	pthread_cond_t ended; /* ... until this */
};

struct dl_engine {
	struct osm_opensm *osm;
	struct dl_plugin_options options;
	struct dl_sweep_plan *plan; /* NULL unless we are the engine in use */
	char *qos_seen;		    /* QoS options when last checked */
	struct dl_gather gather;
};

/* Where the library's messages go: OpenSM's log, errors with a number. */
struct dl_osm_log {
	struct dl_log log; /* to be handed to the library */
	struct osm_opensm *osm;
	const char *number;  /* "DL13" */
	unsigned int errors; /* reported so far */
};

void dl_osm_log_init(struct dl_osm_log *l, struct osm_opensm *osm,
		     const char *number);

/*
 * Copy OpenSM's view of the subnet into a fabric, LIDs and VLs as it is about
 * to program them.  Returns 0, -EINVAL (GUIDs or LIDs clash), -ENOMEM.
 */
int dl_import(struct osm_opensm *osm, const struct dl_log *log,
	      struct dl_fabric **out);

/*
 * Make a plan for the subnet as it is.  On failure the log says why and the
 * result is negative.
 */
int dl_plan_make(struct dl_engine *e, struct dl_sweep_plan **out);
void dl_plan_free(struct dl_sweep_plan *p);

/*
 * Is there no configuration: neither a torus_config of the user's, nor a file
 * where OpenSM looks by default?
 */
bool dl_cache_wanted(const char *torus_config);

/*
 * Find the plan's configuration and torus without one, from what is
 * remembered or from the cabling.  Returns 0 or a negative errno.
 */
int dl_cache_discover(const struct dl_engine *e, const struct dl_log *log,
		      struct dl_sweep_plan *p);

/* Find the plan's torus by its configuration, and by what is remembered. */
int dl_cache_complete(const struct dl_engine *e, const struct dl_log *log,
		      struct dl_sweep_plan *p);

/* The torus of the sweep before, if switches are to stay where they were. */
const struct dl_torus *dl_torus_before(const struct dl_engine *e);

/* Tell what changed from one plan to the next. */
void dl_plan_report_changes(const struct dl_engine *e,
			    const struct dl_sweep_plan *before,
			    const struct dl_sweep_plan *after);

/* The end port that owns a LID, which is in network order; or DL_NONE. */
uint32_t dl_plan_lid_owner(const struct dl_sweep_plan *p, ib_net16_t lid);

/* Tell what was routed, in one line. */
void dl_plan_report(const struct dl_engine *e, const struct dl_sweep_plan *p,
		    double seconds);

/*
 * Put the user's QoS options into a new plan, and warn about those that
 * cannot be followed, once for each change of them.  Returns 0 or a negative
 * errno.
 */
int dl_qos_apply(struct dl_engine *e, struct dl_sweep_plan *p);

/* Write the plan's snapshot to dump_dir, if there is one and it is new. */
void dl_dump_dir_write(const struct dl_engine *e);

/*
 * Numbers: begin a sweep, account the time since the end of the stage before
 * to a stage, note why the sweep is refused, and end it.
 */
void dl_gather_begin(struct dl_gather *g);
void dl_gather_stage(struct dl_gather *g, enum dl_metrics_stage stage);
void dl_gather_refusal(struct dl_gather *g, const char *number);
void dl_gather_end(struct dl_engine *e, enum dl_metrics_sweep_result what);

/* OpenSM starts, ends, or reports something.  Takes OpenSM's lock. */
void dl_gather_start(struct dl_engine *e);
void dl_gather_stop(struct dl_engine *e);
void dl_gather_event(struct dl_engine *e, osm_epi_event_id_t event);

/* Write the switches' coordinates as dateline-torus.dump into a folder. */
void dl_coordinates_write(struct osm_opensm *osm, const struct dl_sweep_plan *p,
			  const char *dir);

/* Set up the callbacks: for osm_register_external_routing_engine(). */
int dl_engine_setup(struct osm_routing_engine *re, struct osm_opensm *osm);

/* Set the multicast forwarding entries of one MLID. */
ib_api_status_t dl_mcast_build(void *engine, osm_mgrp_box_t *box);

/*
 * Drop groups that OpenSM has none of any more from those kept for the
 * snapshot.  Takes OpenSM's lock.
 */
void dl_mcast_prune(const struct dl_engine *e);

#endif
