/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the files share that plan waves; the essay is in waves.c. */
#ifndef DL_TRANSITION_WAVES_H
#define DL_TRANSITION_WAVES_H

#include "transition/internal.h"

/*
 * What is known of a switch's path to a LID: of the new one, whether it is written, or waits
 * to be; of the present one, whether it ends at a closed entry, or goes on.
 */
enum waves_state {
	WAVES_UNKNOWN,
	WAVES_ON_PATH,
	WAVES_WRITTEN,
	WAVES_WAITING,
	WAVES_STOPPED,
	WAVES_GOES_ON,
};

struct waves {
	const struct dl_transition *t;
	const struct dl_fabric *f;
	uint64_t work;	   /* dl_transition_waves() */
	uint64_t followed; /* by earlier tries */
	struct dl_transition_waves *out;
	struct dl_verify_moving *moving;
	bool detoured;	   /* were detours asked of all entries? */
	bool drains_first; /* groups are closed, and old packets leave, before entries move */
	struct dl_arena arena;
	uint32_t nlids, *order; /* LIDs, in the order of tries */
	bool **refused;		/* by LID and entry: since the last drain */
	bool **closed;		/* by LID and entry: was it closed? */
	bool **stopped;		/* by LID and switch: are its packets, or were they?  NULL: none */
	uint32_t *ends;		/* by switch: end ports with a LID */
	unsigned int barrier;	/* since the last drain */
	unsigned int barriers;	/* ... that the moves planned since then take */
	uint32_t *entry_at;	/* by switch: number of the LID's entry there, or DL_NONE */
	uint8_t *state;		/* by switch */
	uint8_t *times;		/* by entry of one LID */
	uint32_t *path;
	uint32_t home;	   /* the LID's switch */
	uint64_t *block;   /* by switch: barrier and block written last */
	uint64_t *written; /* by switch and block: barriers at which it is, as bits */
	struct dl_verify_move *ready;
	struct dl_verify_blocker *blockers;
	/* What the next plan goes on with: */
	bool *used;    /* by port: do the old tables or the new ones lead there?  NULL: not known */
	bool *transit; /* by switch: ... and through it to others? */
	struct dl_verify_extra *wanted; /* for detours */
	uint32_t nwanted, wanted_cap;
	uint64_t *is_wanted; /* by switch and LID, a bit */
	uint64_t *kept;	     /* what entries that stay cause: dl_verify_change.kept */
};

/* Move entries of a LID, and note when blocks are written.  1: they move; 0, -ENOMEM. */
int dl_waves_move(struct waves *w, uint32_t i, const struct dl_verify_move *moves, uint32_t n);

/* After dl_verify_moving_new().  0 or -ENOMEM. */
int dl_waves_init(struct waves *w);

/*
 * Plan waves until all entries have moved.  0, -ENOMEM, or -ELOOP: nothing is in the way,
 * and still the new tables do not fit beside the groups.
 */
int dl_waves_run(struct waves *w);

/* Has it cost as much as it may? */
bool dl_waves_are_spent(const struct waves *w);

/* ---- detours (waves_detour.c) ---------------------------------------------------- */

/* Let an entry take a third port, by which packets arrive.  1: it does; 0, -ENOMEM. */
int dl_waves_detour(struct waves *w, const struct dl_verify_blocker *b);

/*
 * Let all old entries do so that can; the others have the next plan ask their neighbours.
 * How many do, or -ENOMEM.
 */
int dl_waves_detour_all(struct waves *w);

/* ---- steps, and whom they interrupt (waves_steps.c) ----------------------------- */

/* Where a LID's block stands in written[]. */
size_t dl_waves_block(const struct waves *w, uint32_t s, uint16_t lid);

/* The switch that a port leads to, or DL_NONE. */
uint32_t dl_waves_next(const struct waves *w, uint32_t s, unsigned int port);

/* Note where the entries of a LID are, in entry_at[] and state[]. */
void dl_waves_look_at(struct waves *w, const struct dl_verify_entry *entries, uint32_t n);

/* The port of a switch for a LID that was looked at, as last written. */
unsigned int dl_waves_port(const struct waves *w, const struct dl_verify_entry *entries,
			   uint16_t lid, uint32_t s);

/* A LID that was looked at. */
struct waves_column {
	const struct dl_verify_entry *entries;
	uint32_t i;
	uint16_t lid;
};

/* What a switch says of the path through it; WAVES_UNKNOWN: what the next one says. */
typedef enum waves_state (*waves_look)(struct waves *w, const struct waves_column *c, uint32_t s,
				       uint32_t *next);

/* What the path from a switch on is, and it is noted; `in_circle` where it has no end. */
enum waves_state dl_waves_walk(struct waves *w, const struct waves_column *c, waves_look look,
			       enum waves_state in_circle, uint32_t s);

/* Append a step; NULL: no memory. */
struct dl_transition_step *dl_waves_step(struct waves *w, enum dl_transition_kind kind);

/* All that was planned since the last drain; detours before what is closed.  0 or -ENOMEM. */
int dl_waves_emit(struct waves *w);

/* What was planned is written, and old packets leave.  0 or -ENOMEM. */
int dl_waves_drain(struct waves *w);

/* Pairs to the LIDs with closed entries: those stopped by now, each once.  0 or -ENOMEM. */
int dl_waves_count_interrupted(struct waves *w);

#endif
