/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One sweep: its fabric, torus and tables. */
#ifndef DL_PLUGIN_SWEEP_H
#define DL_PLUGIN_SWEEP_H

#include "opensm.h"

#include "dateline/base.h"
#include "dateline/fabric.h"
#include "dateline/route.h"
#include "dateline/torus.h"

struct dl_engine;

/* All that one sweep found out and decided. */
struct dl_sweep {
	struct dl_arena arena; /* of the sweep itself, and its small pieces */
	unsigned int shares;   /* other holders; atomic */
	struct dl_fabric *fabric;
	struct dl_torus_config *config;
	struct dl_torus *torus;
	bool provisional;		  /* coordinates that serve this sweep only */
	bool proven;			  /* and verified, by proven or any-SL mode? */
	uint32_t cut;			  /* ports whose SL-to-VL maps OpenSM cuts for now */
	struct dl_route_avoided *avoided; /* or NULL: there is no list */
	struct dl_route_result routed;
	struct dl_tables_masks masks; /* scratch: of one group */
	/* SLs that groups may use, verified together; others that failed. */
	uint16_t safe_sls, unsafe_sls;
	uint8_t *refused; /* by MLID from 0xC000 on: has it been named? */
	bool dumped;	  /* is its snapshot written, or about to be?  Atomic */
};

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

/* All switches have entries for the LIDs below: the lowest LinearFDBCap, or UINT32_MAX. */
uint32_t dl_sweep_lid_limit(const struct dl_fabric *f);

/* Is it a switch that OpenSM knows, and the fabric does not have? */
bool dl_sweep_leaves_out(const struct dl_fabric *f, const osm_node_t *node);

/*
 * Does the cable at a port of one of its switches lead elsewhere than a sweep's fabric says?
 * OpenSM may not know yet where a cable that was moved ends; but a link that is up and
 * not yet active has been down since it was routed.
 */
bool dl_sweep_is_recabled(const struct dl_fabric *f, uint32_t port, const osm_switch_t *sw);

/* The end port that owns a LID, which is in network order; or DL_NONE. */
uint32_t dl_sweep_lid_owner(const struct dl_sweep *sweep, ib_net16_t lid);

/* Log the result and what was routed, in one line. */
void dl_sweep_report(const struct dl_engine *e, const struct dl_sweep *sweep, double seconds);

#endif
