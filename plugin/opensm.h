/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* OpenSM, as all files of the plugin see it. */
#ifndef DL_PLUGIN_OPENSM_H
#define DL_PLUGIN_OPENSM_H

/*
 * OpenSM's headers use stdio without including it, and leave it to others to
 * include osm_config.h, on which the layout of its structures depends.
 */
#include <stdio.h>
#include <opensm/osm_config.h>

#include <opensm/osm_opensm.h>

/*
 * Functions of OpenSM without a place in its installed headers may be missing.
 * An OpenSM that hides these gets new tables at once.
 */
#define DL_OPENSM __attribute__((weak))
extern int wait_for_pending_transactions(osm_stats_t *stats) DL_OPENSM;
extern int osm_link_mgr_process(osm_sm_t *sm, const uint8_t state) DL_OPENSM;
extern int osm_qos_setup(osm_opensm_t *osm) DL_OPENSM;
extern int osm_mcast_mgr_process(osm_sm_t *sm, boolean_t all) DL_OPENSM;

/* These are in libraries of OpenSM's; a test may do without. */
#pragma weak osm_vendor_bind
#pragma weak osm_vendor_unbind
#pragma weak osm_vendor_send
#pragma weak osm_mad_pool_get
#pragma weak osm_mad_pool_put

/* The switch behind `sw` in OpenSM's table, the first one for NULL; or NULL. */
static inline osm_switch_t *dl_opensm_next(const struct osm_opensm *osm, const osm_switch_t *sw)
{
	const cl_qmap_t *table = &osm->subn.sw_guid_tbl;
	cl_map_item_t *item = sw ? cl_qmap_next(&sw->map_item) : cl_qmap_head(table);

	return item == cl_qmap_end(table) ? NULL : (osm_switch_t *)item;
}

/* ... and of nodes: switches among them of which OpenSM knows nothing else. */
static inline osm_node_t *dl_opensm_next_node(const struct osm_opensm *osm, const osm_node_t *node)
{
	const cl_qmap_t *table = &osm->subn.node_guid_tbl;
	cl_map_item_t *item = node ? cl_qmap_next(&node->map_item) : cl_qmap_head(table);

	return item == cl_qmap_end(table) ? NULL : (osm_node_t *)item;
}

#endif
