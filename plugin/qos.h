/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The user's QoS options. */
#ifndef DL_PLUGIN_QOS_H
#define DL_PLUGIN_QOS_H

#include <stdint.h>

struct dl_engine;
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

#endif
