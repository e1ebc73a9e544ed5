/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a change of tables has OpenSM write, until all switches have confirmed it.
 *
 * Functions that wait return 0, -EIO (some switch does not confirm: e->unconfirmed names
 * it) or -EINTR (OpenSM ends).
 */
#ifndef DL_PLUGIN_PHASES_WRITE_H
#define DL_PLUGIN_PHASES_WRITE_H

#include "dateline/tables.h"

struct dl_engine;
struct dl_phases;

/* Tables into OpenSM's.  Its lock is held. */
void dl_phases_fill_all(const struct dl_engine *e, const struct dl_tables *t);

/* Blocks that switches have not confirmed as these tables have them. */
uint64_t dl_phases_missing_blocks(struct dl_engine *e, const struct dl_tables *t);

/* Write tables; path queries are answered by `shown`. */
int dl_phases_write_tables(struct dl_engine *e, const struct dl_tables *t,
			   const struct dl_tables *shown);

/* All multicast tables. */
int dl_phases_write_groups(struct dl_engine *e);

/* SL-to-VL maps: no entry leads where a switch may still have another one. */
int dl_phases_confirm_maps(struct dl_engine *e);

/* Links go active, with the maps that packets cross them by. */
int dl_phases_raise_links(struct dl_engine *e, const struct dl_phases *p);

/* Ports go down whose cable OpenSM does not see. */
int dl_phases_drop_links(struct dl_engine *e);

#endif
