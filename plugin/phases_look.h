/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What OpenSM sees of the subnet when tables are to change. */
#ifndef DL_PLUGIN_PHASES_LOOK_H
#define DL_PLUGIN_PHASES_LOOK_H

#include "phases.h"

/*
 * Note what matters for a change: cables, doubts, and whether switches have any group: one
 * that comes meanwhile is written last.  Takes OpenSM's lock.  0 or -ENOMEM.
 */
int dl_phases_look(const struct dl_engine *e, struct dl_phases *p);

/* What a switch does not, where its path SLs may have followed from another place. */
#define DL_PHASES_PLACE_DOUBT \
	"have a place that its mark shows, so path SLs may not be those granted before"

/* The switches of a sweep of which this is so; no plan is needed.  Holding OpenSM's lock. */
void dl_phases_find_doubtful_places(const struct dl_engine *e, const struct dl_sweep *next,
				    struct dl_osm_names *names);

/* Has a cable between switches come, or been down?  Takes the lock. */
bool dl_phases_have_waiting_links(const struct dl_engine *e, const struct dl_fabric *f);

/*
 * Is the link at a port to another switch up and not active?  Leave it so until the next
 * sweep.  Holding OpenSM's lock.
 */
bool dl_phases_link_waits(const struct dl_engine *e, const struct dl_fabric *f, uint32_t s,
			  unsigned int o);
void dl_phases_hold_link(struct dl_engine *e, const struct dl_fabric *f, uint32_t s,
			 unsigned int o);

/*
 * Links between switches that have been down since the change was planned wait for the next
 * sweep; or all links of switches.  Takes the lock.
 */
void dl_phases_hold_links(struct dl_engine *e, const struct dl_phases *p, bool all);

/*
 * Active ports of a fabric whose cable OpenSM does not see; the link manager takes them
 * down.  Names their switches as those that do not confirm.  Holding OpenSM's lock.
 */
uint32_t dl_phases_count_ghosts(struct dl_engine *e, const struct dl_fabric *f);

#endif
