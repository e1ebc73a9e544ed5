/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Which steps a change of tables takes. */
#ifndef DL_PLUGIN_PHASES_PLAN_H
#define DL_PLUGIN_PHASES_PLAN_H

#include "phases.h"

/* Do two sweeps route the same fabric the same way? */
bool dl_phases_same_routing(const struct dl_sweep *a, const struct dl_sweep *b);

/* Is it known what the switches hold: the tables in force, a part of them, or a mixture? */
bool dl_phases_are_known(const struct dl_engine *e);

/* ... and do they hold the tables of this sweep? */
bool dl_phases_hold_already(const struct dl_engine *e, const struct dl_sweep *next);

/*
 * Plan the steps from the tables in force to these; takes OpenSM's lock for a moment.
 * 0, and *out stays as it is where there is nothing to change, or it cannot be proven; or
 * -ENOMEM.
 */
int dl_phases_plan(const struct dl_engine *e, struct dl_sweep *next, struct dl_phases **out);

/* Leave of a group's masks what the old ones, `before`, have as well.  0 or -ENOMEM. */
int dl_phases_close_group(const struct dl_phases *p, const struct dl_tables_masks *before,
			  struct dl_tables_masks *masks);

/*
 * A change stops: remember what the switches hold in place of the old tables, which groups
 * on the old tree may not fit, unless it is known what is left.  False: there is no memory.
 */
bool dl_phases_keep_mixture(struct dl_engine *e, const struct dl_phases *p);

/* Forget a plan that was not begun. */
void dl_phases_discard(struct dl_phases *planned);
void dl_phases_free(struct dl_phases *p);

#endif
