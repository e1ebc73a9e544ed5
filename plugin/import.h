/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* From OpenSM's subnet to a fabric. */
#ifndef DL_PLUGIN_IMPORT_H
#define DL_PLUGIN_IMPORT_H

#include "opensm.h"

#include "dateline/fabric.h"

/*
 * Copy OpenSM's view of what is connected to it into a fabric, with LIDs and VLs as
 * it is about to program them; `arena` is for the work.  What could keep the rest
 * from being routed is left out (dl_fabric_main_part()), and named unless `log` is
 * NULL.  Returns 0, -EINVAL (GUIDs or LIDs clash), -ENOMEM.
 */
int dl_import(struct osm_opensm *osm, struct dl_arena *arena, bool needs_two_vls,
	      const struct dl_log *log, struct dl_fabric **out);

#endif
