/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Cables and switches that the file of avoid= takes out of use (rules A15). */
#ifndef DL_PLUGIN_AVOID_H
#define DL_PLUGIN_AVOID_H

#include <stdbool.h>
#include <sys/stat.h>

#include "dateline/base.h"
#include "dateline/route.h"

struct dl_engine;
struct dl_sweep;

struct dl_avoid {
	struct dl_route_avoid *list; /* the last good one, or NULL */
	struct stat seen;	     /* the file when it was last read */
};

/* Is the file another one than was read last? */
bool dl_avoid_file_has_changed(const struct dl_engine *e);

/* Read the file again, and find out what of it this sweep avoids.  0 or -ENOMEM. */
int dl_avoid_resolve(struct dl_engine *e, const struct dl_log *log, struct dl_sweep *sweep);

/* The subnet is up: log what nothing uses any more.  Takes OpenSM's lock. */
void dl_avoid_report(struct dl_engine *e);

void dl_avoid_release(struct dl_avoid *a);

#endif
