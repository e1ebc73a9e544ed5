/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A stand-in for OpenSM: its structures, and the functions that the plugin calls,
 * so that every file of the plugin can be tested without a subnet manager.
 *
 * A subnet is made of a fabric.  What the switches themselves hold is kept apart
 * from what the subnet manager knows of them (struct osm_fixture_switch): it outlives
 * osm_fixture_restart(), and a silent switch neither takes a write nor answers.
 * Queries and writes are answered at once.
 */
#ifndef TEST_OSM_FIXTURE_H
#define TEST_OSM_FIXTURE_H

#include "plugin/opensm.h"
#include <opensm/osm_event_plugin.h>
#include <opensm/osm_mcast_mgr.h>

#include "grid_fabric.h"
#include "plugin/engine.h"

#define OSM_FIXTURE_LIDS 1024
#define OSM_FIXTURE_PORTS 16
#define OSM_FIXTURE_GROUPS 32
#define OSM_FIXTURE_LOG 65536

struct osm_fixture_switch {
	uint64_t guid;
	bool silent;
	unsigned int silent_after;   /* from this question on; 0: never */
	const osm_switch_t *reached; /* what answers along the path to it; NULL: itself */
	uint16_t top;		     /* LinearFDBTop; 0: never set up */
	uint8_t lft[OSM_FIXTURE_LIDS];
	ib_slvl_table_t maps[OSM_FIXTURE_PORTS][OSM_FIXTURE_PORTS]; /* by in, out */
	uint16_t groups[OSM_FIXTURE_GROUPS];			    /* port bits, by MLID */
};

struct osm_fixture_group {
	osm_mgrp_box_t box;
	osm_mgrp_t group;
	osm_port_t *members[64];
	unsigned int nmembers;
};

struct osm_fixture {
	struct osm_opensm *osm;
	struct grid_fabric g;	  /* of osm_fixture_torus() */
	struct dl_engine *engine; /* the plugin's, between start and stop */
	struct osm_fixture_switch *switches;
	unsigned int nswitches;
	struct osm_fixture_group *groups[OSM_FIXTURE_GROUPS];
	const osm_physp_t *throttled; /* a port that runs below its rate, or NULL */
	bool no_lids;		      /* has OpenSM's list of LIDs nothing? */
	cl_status_t registered;	      /* what registering an engine returns */
	/* What is counted: */
	unsigned int blocks, gets, sweeps_asked, group_passes;
	/* The switch that falls silent after so many more written blocks. */
	struct osm_fixture_switch *dies;
	unsigned int dies_after;
	bool low_vls; /* does OperVLs not rise? */
	unsigned int
		mft_claim; /* entries of multicast tables that switches claim; 0: those they have */
	/* Called after each block that is written, and when a link goes active, unless NULL. */
	void (*watch)(struct osm_fixture *x);
	void (*raised)(struct osm_fixture *x, osm_physp_t *p);
	char log[OSM_FIXTURE_LOG];
};

/*
 * A subnet manager for a fabric; one at a time.  For a torus of x by y switches, with
 * an adapter each, the plugin is loaded, too, with these options.
 */
struct osm_fixture *osm_fixture_new(const struct dl_fabric *f);
struct osm_fixture *osm_fixture_torus(unsigned int x, unsigned int y, const char *options);
void osm_fixture_free(struct osm_fixture *x);

/* Load the plugin with these options; a heavy sweep; unload it. */
void osm_fixture_start(struct osm_fixture *x, const char *options);
/* Returns whether dateline routes, and OpenSM reports that the subnet is up. */
bool osm_fixture_sweep(struct osm_fixture *x);
void osm_fixture_stop(struct osm_fixture *x);

/* Another OpenSM with the same switches, which it finds as they are. */
void osm_fixture_restart(struct osm_fixture *x, const char *options);

/* Lines of the log since it was last cleared that hold a text. */
unsigned int osm_fixture_logged(const struct osm_fixture *x, const char *text);

osm_switch_t *osm_fixture_switch(struct osm_fixture *x, unsigned int s);
struct osm_fixture_switch *osm_fixture_hardware(struct osm_fixture *x, const osm_switch_t *sw);
osm_port_t *osm_fixture_adapter(struct osm_fixture *x, unsigned int n);

/* The n-th port of a switch that leads to a switch. */
osm_physp_t *osm_fixture_link(osm_switch_t *sw, unsigned int n);

/* A cable goes, from OpenSM's view, too; it comes back, with links down. */
void osm_fixture_cut(osm_physp_t *p);
void osm_fixture_mend(osm_physp_t *a, osm_physp_t *b);

/* OpenSM drops a switch, as if it had never been there. */
void osm_fixture_drop(struct osm_fixture *x, osm_switch_t *sw);

/* Adapters first to last - 1 are members of a group with an SL. */
void osm_fixture_join(struct osm_fixture *x, uint16_t mlid, unsigned int sl, unsigned int first,
		      unsigned int last);

/* Is each pair of adapters connected by what the switches themselves hold? */
bool osm_fixture_delivers(struct osm_fixture *x);

/* For OpenSM's functions (osm_functions.c), which get no context of their own. */
extern struct osm_fixture *osm_fixture_current;
void osm_fixture_map_init(cl_qmap_t *map);
void osm_fixture_map_add(cl_qmap_t *map, uint64_t key, cl_map_item_t *item);
void osm_fixture_list_init(cl_qlist_t *list);

#endif
