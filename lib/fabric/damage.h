/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The same fabric after failures. */
#ifndef DL_DAMAGE_H
#define DL_DAMAGE_H

#include "fabric/fabric.h"

/*
 * What is left of a finished fabric without the dead nodes (`dead`, by node)
 * and without the cables cut at a port (`cut`, by port index; one of the two
 * ends is enough).  Adapters and routers that are left without a single cable
 * go, too; ports that lose theirs lose their LIDs.  All else stays: order,
 * names, LIDs.  Returns 0 or -ENOMEM.
 */
int dl_fabric_damaged(const struct dl_fabric *f, const bool *dead,
		      const bool *cut, struct dl_fabric **out);

/*
 * Is there a way between all end ports that have a LID?  Returns 1, 0 or
 * -ENOMEM.  O(ports).
 */
int dl_fabric_is_connected(const struct dl_fabric *f);

#endif
