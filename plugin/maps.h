/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* SL-to-VL maps and VL arbitration tables, port by port, as OpenSM writes them. */
#ifndef DL_PLUGIN_MAPS_H
#define DL_PLUGIN_MAPS_H

#include <stdint.h>

#include "opensm.h"

#include "dateline/tables.h"

struct dl_engine;
struct dl_osm_names;
struct dl_sweep;

/* OpenSM asks for the map from one port of a switch to another, or of an adapter's port. */
void dl_maps_update(void *context, osm_physp_t *physp, uint8_t in, uint8_t out,
		    ib_slvl_table_t *table);

/* OpenSM asks for a block of a port's arbitration tables. */
void dl_maps_update_arbitration(void *context, osm_physp_t *physp, uint8_t port_num,
				ib_vl_arb_table_t *block, unsigned int block_length,
				unsigned int block_num);

/* The map that OpenSM is to write now; false: its own. */
bool dl_maps_find(const struct dl_engine *e, const osm_physp_t *physp, uint8_t in, uint8_t out,
		  dl_tables_sl2vl_row *row);

/*
 * Count the ports whose SL-to-VL maps OpenSM is going to cut in this sweep,
 * because OperVLs is still smaller than it will be; and name the switch for each of
 * them that works already, between switches, unless `working` is NULL.  0 or -ENOMEM.
 */
int dl_maps_count_cut(const struct dl_engine *e, struct dl_sweep *sweep,
		      struct dl_osm_names *working);

/*
 * SL-to-VL maps of ports in use that switches have not confirmed as they should
 * be, cut to OperVLs as OpenSM does.  Holding OpenSM's lock.
 */
uint64_t dl_maps_count_missing(struct dl_engine *e);

#endif
