/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Other subnet managers, which may have been the master meanwhile. */
#ifndef DL_PLUGIN_RIVALS_H
#define DL_PLUGIN_RIVALS_H

#include <stdbool.h>
#include <stdint.h>

struct dl_engine;

#define DL_RIVALS 8

struct dl_rivals {
	struct dl_rival {
		uint64_t guid; /* 0: none */
		uint32_t sent; /* SMPs, when it was asked last */
	} list[DL_RIVALS];
};

/*
 * Has another subnet manager been at work since the last call?  Where a failure lay between
 * them it may have been the master, too, and have written tables.  Its SMInfo tells how many
 * SMPs it has sent: one that stands by sends one every few seconds.  More of them than there
 * is room for are always at work.  OpenSM's lock is held.
 */
bool dl_rivals_at_work(struct dl_engine *e);

#endif
