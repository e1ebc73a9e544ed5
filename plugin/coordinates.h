/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The coordinates of a sweep, kept from one sweep to the next. */
#ifndef DL_PLUGIN_COORDINATES_H
#define DL_PLUGIN_COORDINATES_H

#include <stdbool.h>

struct dl_engine;
struct dl_log;
struct dl_sweep;

/*
 * Is there a configuration: a torus_config of the user's, or a file where OpenSM
 * looks by default?
 */
bool dl_coordinates_are_configured(const char *torus_config);

/*
 * Find the sweep's torus without a configuration, from known coordinates or from
 * the cabling; the sweep gets a configuration of it.  0 or a negative errno.
 */
int dl_coordinates_discover(const struct dl_engine *e, const struct dl_log *log,
			    struct dl_sweep *sweep);

/* Find the sweep's torus by its configuration and by known coordinates. */
int dl_coordinates_complete(const struct dl_engine *e, const struct dl_log *log,
			    struct dl_sweep *sweep);

/* This fabric is routed after another engine, which granted path SLs of its own: say so. */
void dl_coordinates_report_return(const struct dl_engine *e);

#endif
