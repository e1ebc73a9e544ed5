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

/* Hide from path queries what the old tables of a change lack.  Its lock is held. */
void dl_phases_hide(const struct dl_engine *e, const struct dl_phases *p);

/* Blocks that switches have not confirmed as these tables have them. */
uint64_t dl_phases_missing_blocks(struct dl_engine *e, const struct dl_tables *t);

/* By which tables path queries are answered while steps are taken; NULL: by none. */
const struct dl_tables *dl_phases_shown(const struct dl_phases *p);

/* Write tables; path queries are answered by `shown`, or NULL: by none. */
int dl_phases_write_tables(struct dl_engine *e, const struct dl_tables *t,
			   const struct dl_tables *shown);

/* All multicast tables. */
int dl_phases_write_groups(struct dl_engine *e);

/* SL-to-VL maps: no entry leads where a switch may still have another one. */
int dl_phases_confirm_maps(struct dl_engine *e);

/* Links go active, with the maps that packets cross them by. */
int dl_phases_raise_links(struct dl_engine *e, const struct dl_phases *p);

/* Links that have come since the change was planned stay down until the next sweep. */
int dl_phases_look_at_links(struct dl_engine *e, const struct dl_phases *p);

/*
 * Has what was written reached the switches that it was meant for?  A cable that was moved
 * leads it to another one, which confirms it.
 */
int dl_phases_confirm_paths(struct dl_engine *e);

/* Ports go down whose cable OpenSM does not see. */
int dl_phases_drop_links(struct dl_engine *e);

#endif
