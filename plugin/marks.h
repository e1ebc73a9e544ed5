/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Coordinates that are stored in the switches. */
#ifndef DL_PLUGIN_MARKS_H
#define DL_PLUGIN_MARKS_H

#include "opensm.h"

#include "dateline/torus.h"

struct dl_engine;
struct dl_recall;
struct dl_sweep;

/* What the marks of a sweep's switches say of path SLs (dl_route_mark()). */
unsigned int dl_marks_mode(const struct dl_engine *e, const struct dl_sweep *sweep);

/*
 * Ask a switch for its mark; `anew`: what OpenSM has read or written before counts for
 * nothing.  Returns whether the switch has been set up before.
 */
bool dl_marks_ask(struct dl_engine *e, osm_switch_t *sw, bool anew);

/*
 * The answers have come: keep the marks, and those of before where none has been read.
 * Takes OpenSM's lock.
 */
void dl_marks_keep(struct dl_engine *e);
void dl_marks_drop(struct dl_recall *r);

/* Remember the places and SLs of switches that a sweep has and the `next` (may be NULL) not. */
void dl_marks_remember(struct dl_engine *e, const struct dl_sweep *gone,
		       const struct dl_sweep *next);

/* A sweep begins: what the tables in force tell is not kept twice. */
void dl_marks_settle(struct dl_engine *e);

/* Somebody else grants SLs from now on: forget what was remembered. */
void dl_marks_disown(struct dl_engine *e);

/*
 * By which coordinates were SLs granted to a switch that has left the tables in force?  The
 * site is that of its attachment; DL_NONE: it has not.
 */
struct dl_torus_mark dl_marks_granted(const struct dl_engine *e, uint64_t guid);

/*
 * Another master has ruled meanwhile: by which mode does the mark that it left in a switch of
 * the tables in force grant SLs, and is the place another one?  Its site is DL_NONE if the mark
 * is that of the tables in force, or none has been read in this sweep.
 */
struct dl_torus_mark dl_marks_foreign(const struct dl_engine *e, uint64_t guid);

/* Is there any mark, or are there tables in force by which coordinates are known? */
bool dl_marks_exist(const struct dl_engine *e);

/*
 * Do the tables in force hold a switch, with a place or without, or did they, or is there a
 * mark that fits?
 */
bool dl_marks_know(const struct dl_engine *e, uint64_t guid);

/*
 * The torus of the marks, for dl_torus_free(), and the modes in which they were made, a bit
 * each: not all may be of the same change.  With tables in force, of their torus and the marks
 * of switches that it does not have, and *modes stays.  NULL: there are none.  Returns 0 or
 * -ENOMEM.
 */
int dl_marks_torus(const struct dl_engine *e, struct dl_arena *arena, const struct dl_fabric *f,
		   unsigned int *modes, struct dl_torus **out);

/*
 * LIDs have come behind the highest one: clear what switches hold for these.  OpenSM's lock
 * is held.  Returns whether there are writes to wait for.
 */
bool dl_marks_clear(struct dl_engine *e);

/* Put the mark of switch s into the table that OpenSM is going to write. */
void dl_marks_write(struct dl_engine *e, const struct dl_sweep *sweep, uint32_t s,
		    osm_switch_t *sw);

/* A switch is left out, and OpenSM empties its table: its mark stays. */
void dl_marks_preserve(struct dl_engine *e, osm_switch_t *sw);

#endif
