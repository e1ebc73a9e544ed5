/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Coordinates for reports on a snapshot: where each switch sits, if that can
 * be known.  What is judged does not depend on it.
 */
#ifndef DL_SITES_H
#define DL_SITES_H

#include "tool.h"
#include "dateline/torus.h"

struct tool_coords {
	struct dl_torus_grid grid;
	uint32_t *site; /* by switch, or DL_NONE; NULL: none known */
	bool certain;	/* as the routing engine saw them */
};

/*
 * Find coordinates: from a torus-2QoS.conf if one is given, else from the
 * list that a torus engine left in the folder `dir`, else from the cabling.
 * Finding none is no error.  Returns 0 or a negative errno, reported.
 */
int tool_coords_find(const struct tool *tool, const struct dl_fabric *f,
		     const char *config, const char *dir,
		     struct tool_coords *c);
void tool_coords_free(struct tool_coords *c);

/* The coordinates of a switch; false when they are not known. */
bool tool_coords_of(const struct tool_coords *c, uint32_t sw,
		    uint32_t out[DL_TORUS_DIMS]);

/*
 * Give tables without path SLs those of the documents' rule (rules A5).
 * Returns 0 or -ENOMEM.
 */
int tool_coords_path_sls(const struct tool_coords *c, struct dl_tables *t);

/*
 * The same for a folder of torus-2QoS, which has no path SLs but all that
 * makes them; says so.  Tables that have path SLs are left alone.
 */
int tool_coords_complete_sls(const struct tool *tool,
			     const struct tool_coords *coords,
			     struct dl_tables *t);

#endif
