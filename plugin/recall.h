/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What switches hold when this subnet manager becomes the master. */
#ifndef DL_PLUGIN_RECALL_H
#define DL_PLUGIN_RECALL_H

#include "log.h"
#include "opensm.h"

#include "dateline/tables.h"

struct dl_engine;
struct dl_sweep;
struct dl_route_tree;

/* Ports that any multicast group has at a switch. */
struct dl_recall_groups {
	uint64_t guid, ports[DL_TABLES_MASK_WORDS];
};

struct dl_recall_mark;

/* What a start or takeover found. */
struct dl_recall {
	bool set_up_before;	    /* did they hold tables? */
	bool known;		    /* ... and have all been read? */
	struct dl_osm_names silent; /* of which not all have been */
	struct dl_recall_groups *groups;
	uint32_t ngroups;
	struct dl_recall_mark *marks; /* by GUID; of switches that are not in force */
	uint32_t nmarks;
	unsigned int forced; /* OpenSM's need_update, while it is set aside */
};

/*
 * Between discovery and routing, when this subnet manager becomes the master:
 * ask all switches for their marks and tables, and wait for them.  Later, ask those for
 * their marks that the tables in force do not hold.  Takes OpenSM's lock.
 */
void dl_recall_ask(struct dl_engine *e);

/*
 * Read forwarding tables and maps of switches without an active port: one that loses
 * power while it is written has confirmed what it holds no more.  OpenSM then knows what
 * it holds.  Takes OpenSM's lock.
 */
void dl_recall_read_back(struct dl_engine *e);

/* Forget the answers, marks included. */
void dl_recall_release(struct dl_recall *r);

/*
 * Let OpenSM, which would write all tables at a start or takeover, write only what
 * differs from what has been read, up to this LID.  Its lock is held.
 */
void dl_recall_spare(struct dl_engine *e, uint32_t top_lid);

/*
 * Unicast routing is done: give OpenSM its need_update back, which what comes next
 * asks for, too.  Takes its lock.
 */
void dl_recall_spare_end(struct dl_engine *e);

/* Does OpenSM know what a port holds?  It forgets it of one that it drops. */
bool dl_recall_knows_map(const ib_slvl_table_t *held);

/* ---- recall_held.c ----------------------------------------------------------- */

/*
 * The tables that the switches held, as a sweep with fabric and tables only; its
 * cables are those that are active.  `next` has the maps where OpenSM sets none.
 * 0, -EINVAL (not known), -ENOMEM.
 */
int dl_recall_held(const struct dl_engine *e, const struct dl_sweep *next, struct dl_sweep **out);

/* All ports of any group that switches held, into empty masks.  0 or -ENOMEM. */
int dl_recall_groups(const struct dl_engine *e, const struct dl_fabric *f,
		     struct dl_tables_masks *masks);

/*
 * Do the groups that switches held have members, and all of the tree that joins these?  A
 * group that is empty at some switches looks like one with fewer members.
 */
bool dl_recall_groups_span(const struct dl_engine *e, const struct dl_fabric *f,
			   const struct dl_route_tree *tree);

/* Are the groups that switches held a part of one with these masks? */
bool dl_recall_groups_fit(const struct dl_engine *e, const struct dl_fabric *f,
			  const struct dl_tables_masks *masks);

/* A port of a switch, if it has a cable or may have one, or is port 0; else NULL. */
osm_physp_t *dl_recall_port_in_use(const osm_switch_t *sw, unsigned int port);

/* Does a switch that has been set up have SL-to-VL maps? */
bool dl_recall_has_maps(const osm_switch_t *sw);

/* ---- for marks.c ------------------------------------------------------------- */

#ifdef HAVE_OSM_REQ_TIMEOUT
#define DL_OSM_TIMEOUT 0,
#else /* OpenSM 3.3.20 knows of no timeout other than its own. */
#define DL_OSM_TIMEOUT
#endif

/*
 * LinearFDBTop; 0 where there is nothing to ask for: the switch was never set up, or
 * this sweep has not seen it.  One that died under another subnet manager is still in
 * OpenSM's table, which drops it after this.
 */
uint32_t dl_recall_top(const osm_switch_t *sw);

/*
 * Make room for the entries below `size`, as OpenSM does.  False: the switch claims to have
 * fewer, or there is no memory, which is said.
 */
bool dl_recall_reserve(const struct dl_engine *e, osm_switch_t *sw, uint32_t size);

/* Ask for an attribute of a switch, by its path or another one. */
osm_madw_context_t dl_recall_context(const osm_switch_t *sw, bool set);
void dl_recall_get(struct dl_engine *e, const osm_switch_t *sw, ib_net16_t attribute,
		   uint32_t modifier, const osm_madw_context_t *context);
void dl_recall_get_along(struct dl_engine *e, const osm_switch_t *sw, const osm_dr_path_t *path,
			 ib_net16_t attribute, uint32_t modifier,
			 const osm_madw_context_t *context);

#endif
