/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Multicast groups on the tree in force. */
#ifndef DL_PLUGIN_MCAST_H
#define DL_PLUGIN_MCAST_H

#include "opensm.h"

struct dl_engine;

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
