/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline route`: would the engine refuse groups of partitions.conf? */
#ifndef TOOL_ROUTE_PARTITIONS_H
#define TOOL_ROUTE_PARTITIONS_H

#include "dateline/base.h"
#include "dateline/route.h"

/*
 * Check the SLs of all groups of a file against a routing with a tree.  What would be
 * refused is reported with its line.  A file that does not exist has no groups of
 * its own.  Returns 0, -ENOTSUP (groups would be refused), or another negative errno.
 */
int route_check_partitions(const char *path, const struct dl_route_result *routed,
			   const struct dl_log *log);

#endif
