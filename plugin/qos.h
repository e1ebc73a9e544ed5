/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The user's QoS options, and SL-to-VL maps as OpenSM writes them. */
#ifndef DL_PLUGIN_QOS_H
#define DL_PLUGIN_QOS_H

#include <stdint.h>

struct dl_engine;
struct dl_osm_names;
struct dl_sweep;

/*
 * Put the user's QoS options into new tables, and warn about those that
 * cannot be followed, once for each change of them.  Returns 0 or a negative
 * errno.
 */
int dl_qos_apply(struct dl_engine *e, struct dl_sweep *sweep);

/*
 * Warn about an SL of the QoS policy that selects no level, once for each change:
 * bits 0 to 2 of a path SL are the routing's (rules A5).
 */
void dl_qos_check_policy(struct dl_engine *e);

/*
 * Count the ports whose SL-to-VL maps OpenSM is going to cut in this sweep,
 * because OperVLs is still smaller than it will be; and name the switch for each of
 * them that works already, between switches, unless `working` is NULL.  0 or -ENOMEM.
 */
int dl_qos_count_cut(const struct dl_engine *e, struct dl_sweep *sweep,
		     struct dl_osm_names *working);

/*
 * SL-to-VL maps of ports in use that switches have not confirmed as they should
 * be, cut to OperVLs as OpenSM does.  Holding OpenSM's lock.
 */
uint64_t dl_qos_count_missing_maps(struct dl_engine *e);

#endif
