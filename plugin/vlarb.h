/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The user's VL arbitration tables, as opensm.conf holds them, put in place of
 * the routing's own (rules A7).  No OpenSM in here.
 */
#ifndef DL_PLUGIN_VLARB_H
#define DL_PLUGIN_VLARB_H

#include "dateline/tables.h"

/* The kinds of ports with options of their own in opensm.conf. */
enum dl_port_kind { DL_CA_PORTS, DL_SW0_PORTS, DL_SWE_PORTS, DL_RTR_PORTS, DL_PORT_KINDS };

/* What is configured for one kind; NULL or -1: nothing but the default. */
struct dl_vlarb_words {
	const char *high, *low; /* "VL:WEIGHT,VL:WEIGHT,..." */
	int high_limit;
};

struct dl_vlarb_config {
	struct dl_vlarb_words all; /* for kinds that say nothing */
	struct dl_vlarb_words kind[DL_PORT_KINDS];
	/*
	 * VLHighLimit of ports that have tables of the user's but no limit of
	 * the user's; -1: the routing's.
	 */
	int default_high_limit;
	unsigned int vls; /* data VLs between switches, 0: unknown */
};

/* The middle of an option's name: "ca_" in qos_ca_vlarb_high. */
extern const char *const dl_port_kind_names[DL_PORT_KINDS];

/*
 * Put the user's tables and limits in place of the routing's on every port
 * that has arbitration tables.  A table that the user did not write stays.  Where
 * VLs that the routing uses would starve (rules B10), the user's tables are changed
 * so that they do not, and one error names the VLs.  Returns 0, -ENOMEM or -ENOSPC.
 */
int dl_vlarb_apply(const struct dl_vlarb_config *c, struct dl_tables *t, const struct dl_log *log);

/*
 * Report what is malformed, unfair within a QoS level, too short, or lost on end
 * ports: at most one warning an option.
 */
void dl_vlarb_check(const struct dl_vlarb_config *c, const struct dl_log *log);

#endif
