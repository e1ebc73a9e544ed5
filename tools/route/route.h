/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * `dateline route`.
 *
 *   route.c             the command
 *   route_conf.c        opensm.conf, read and written
 *   route_partitions.c  would the engine refuse groups of partitions.conf?
 */
#ifndef TOOL_ROUTE_H
#define TOOL_ROUTE_H

#include "dateline/route.h"
#include "tools/common/fail.h"

/* What the engine takes from an opensm.conf; from zeroed memory. */
struct route_conf {
	struct dl_arena arena; /* of the texts */
	struct dl_route_arb_config arb;
	char *plugin; /* event_plugin_options, or NULL */
};

/*
 * Read an opensm.conf as OpenSM does: of an option that is given twice the last one
 * counts, and its own default counts as not given.  0 or a negative errno, reported.
 */
int route_conf_read(const char *path, const struct dl_log *log, struct route_conf *c);

/*
 * Add the note dateline-opensm.conf to a snapshot: the lines of opensm.conf with
 * which OpenSM routes by Dateline, and unless `given` a QoS configuration that is
 * sound for Dateline and the built-in torus engine alike.  0 or a negative errno.
 */
int route_add_conf(struct dl_snapshot *s, const struct dl_route_options *o, bool given);

/*
 * Check the SLs of all groups of a file against a routing with a tree.  What would be
 * refused is reported with its line.  A file that does not exist has no groups of
 * its own.  Returns 0, -ENOTSUP (groups would be refused), or another negative errno.
 */
int route_check_partitions(const char *path, const struct dl_route_result *routed,
			   const struct dl_log *log);

#endif
