/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From one set of tables to the next without an unsafe moment (rules A14).
 *
 * A subnet manager writes block after block, and in between each switch holds
 * old or new entries, LID by LID.  Two safe sets can mix into a credit loop.
 * Close, drain, open: write the entries on which both sets agree and "no path"
 * for the others; let the packets that went by old entries leave; write the new
 * ones.  What the switches hold is then at every moment a part of one safe set.
 * The essay is in lib/transition/plan.c.
 *
 * Like the other judges, this knows fabrics and tables, and no torus.
 */
#ifndef DATELINE_TRANSITION_H
#define DATELINE_TRANSITION_H

#include "tables.h"
#include "verify.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The map by which a switch sends on what had come in by a port whose cable has gone: no one
 * writes another one while it has none.
 */
struct dl_transition_map {
	uint32_t sw;
	uint8_t in, out;
	dl_tables_sl2vl_row row;
};

/*
 * What packets that may still be under way have met since they were last known to have left:
 * ports that forwarding entries had, and cables that have gone.  Of the fabric of the tables
 * that were written last.
 */
struct dl_transition_history {
	bool whole; /* nothing else has changed meanwhile: or nobody knows what they met */
	struct dl_verify_earlier *earlier; /* by LID, switch and time */
	struct dl_verify_orphan *orphans;
	uint32_t nearlier, earlier_cap, norphans;
	uint32_t times;			/* barriers that were passed, each the end of a time */
	struct dl_transition_map *maps; /* other than those of the tables */
	uint32_t nmaps, maps_cap;
};

/* What lies between two sets of tables. */
struct dl_transition {
	/* All three are tables of the new fabric; `opened` is borrowed, or `wide`. */
	struct dl_tables *held;	  /* what the switches hold */
	struct dl_tables *closed; /* ... while the rest is closed */
	const struct dl_tables *opened;
	struct dl_tables *wide; /* `opened`, if the old tables have higher LIDs; or NULL */
	struct dl_verify_orphans orphans;
	struct dl_transition_history history; /* of the new fabric; its orphans are above */
	uint64_t entries_closed;	      /* forwarding entries */
	uint64_t mask_ports_closed;	      /* ports of groups */
	/* By dl_transition_interrupted(): */
	uint64_t pairs_interrupted; /* work before and after, not in between */
	/* Blocks that differ, forwarding and multicast: SMPs. */
	uint64_t writes; /* at once */
	uint64_t writes_close, writes_open;
	uint32_t maps_changed; /* SL-to-VL maps of pairs of ports in use */
	bool *on_ring;	       /* by switch: not on a branch; NULL: no map changes */
};

/*
 * Tables as a fabric holds them, with groups, and path SLs to LIDs that nobody or
 * another port owns there.  0 or -ENOMEM; dl_tables_free() releases *out.
 */
int dl_transition_hold(const struct dl_tables *from, const struct dl_fabric *f,
		       struct dl_tables **out);

/*
 * Plan a transition from tables of one fabric to those of another; nodes are
 * the same when their GUIDs are.  Cables that are not there any more carry
 * nothing; an entry for a port whose cable leads elsewhere now is closed from
 * the beginning.  LIDs above those of the new fabric count as others that nobody has any
 * more: packets to them may be under way.  0 or -ENOMEM.  O(switches x LIDs).
 */
int dl_transition_plan(const struct dl_tables *from, const struct dl_tables *to,
		       struct dl_transition *out);
void dl_transition_release(struct dl_transition *t);

/* The member `wide` of a plan, for those who keep it longer, with its fabric; or NULL. */
void dl_transition_free_wide(struct dl_tables *wide);

/*
 * ... while packets may be under way that met earlier entries; of the fabric of `from`, or
 * NULL.  Then out->history.whole says whether the plan counts them: else they must leave
 * before its first step.  Of LIDs above those of the new fabric nothing is known here
 * (dl_fabric_widen()).
 */
int dl_transition_plan_after(const struct dl_tables *from, const struct dl_tables *to,
			     const struct dl_transition_history *history,
			     struct dl_transition *out);

/* An entry gets another port now, until the next barrier; `port` is the one before. */
void dl_transition_history_add(struct dl_transition_history *h, uint32_t sw, uint16_t lid,
			       uint8_t port);

/* All writes are confirmed: from now on packets meet the new ports only. */
void dl_transition_history_next(struct dl_transition_history *h);

/* Packets that met what changed have left. */
void dl_transition_history_clear(struct dl_transition_history *h);
void dl_transition_history_release(struct dl_transition_history *h);

/*
 * Do ports and LIDs that both tables have keep their path SLs, and are no LIDs given to other
 * ports?  Else packets may be under way with SLs that a history does not have.  False without
 * memory, too.
 */
bool dl_transition_keeps_sls(const struct dl_tables *from, const struct dl_tables *to);

/* The history that a plan leaves, with the orphans, when it has been carried out. */
void dl_transition_history_take(struct dl_transition *t, struct dl_transition_history *out);

/*
 * ... when it has been given up between two barriers: of the fabric of the old tables, in which
 * `old` finds that of the new ones.  LIDs have not moved: see dl_transition_keeps_sls().
 */
void dl_transition_history_take_back(struct dl_transition *t, const struct dl_fabric_match *old,
				     struct dl_transition_history *out);

/* Fill in whom it interrupts, and name some in `out`, unless it is NULL.  0 or -ENOMEM. */
struct dl_transition_waves;
int dl_transition_interrupted(struct dl_transition *t, struct dl_transition_waves *out);

/* Adapters' ports whose path SLs to others change, into an array with room for all ports; how many. */
uint32_t dl_transition_reconnect_ends(const struct dl_transition *t, uint32_t *ends);

/*
 * Leave entries for ports without a cable as they are, in place of closing them
 * for a write each: packets take these ports only if the cable is still there,
 * and a switch that does not answer behind it.
 */
void dl_transition_spare(struct dl_transition *t);

/*
 * Does a map of packets that leave through a switch's port change, and may they
 * wait in a loop there?  Groups must not use it between both sets.
 */
bool dl_transition_changes_map(const struct dl_transition *t, uint32_t sw, unsigned int port);

/* One SMP: a block of 64 LIDs of a switch, or of 32 groups for 16 ports. */
struct dl_transition_write {
	uint32_t sw;
	uint16_t block;
	uint8_t position; /* of the 16 ports; multicast only */
	bool multicast;
};

/*
 * The writes that lead from `a` to `b`, tables of one fabric, in OpenSM's
 * order (below).  *out is the caller's to free().  0 or -ENOMEM.
 */
int dl_transition_writes(const struct dl_tables *a, const struct dl_tables *b,
			 struct dl_transition_write **out, uint32_t *n);

/* A copy of tables, with room for the groups of others, too.  0 or -ENOMEM. */
int dl_transition_copy(const struct dl_tables *t, const struct dl_tables *other,
		       struct dl_tables **out);

/* Let a copy hold what one write brings from the tables `from`.  0 or -ENOMEM. */
int dl_transition_put(struct dl_tables *t, const struct dl_tables *from,
		      const struct dl_transition_write *w);

/* In what order writes take effect. */
enum dl_transition_order {
	/*
	 * OpenSM's: forwarding block by block, within a block switch by switch
	 * as their GUIDs stand on the wire; multicast tables afterwards; up to
	 * four SMPs under way, which may arrive in any order.
	 */
	DL_TRANSITION_OPENSM,
	DL_TRANSITION_ANY,
	DL_TRANSITION_ANY_QUICK /* ... where one finding is enough */
};

/* Whether writes can go wrong, and the first moment at which they do. */
struct dl_transition_result {
	bool safe;
	bool any_order;			/* ... in any order, too */
	bool maps_changed;		/* ... which alone decides: nothing else was checked */
	struct dl_verify_mixture found; /* what is wrong at that moment */
	uint64_t writes;
	uint64_t at_write; /* writes sent by then; 0: safe, or any order */
};

/*
 * Check the writes from what a plan begins with to what it ends with.  By OpenSM's order
 * each state is checked as it is; by any order they are checked together, and a loop may
 * need two LIDs of one block to change at different moments.  `log` hears progress.
 * Returns 0, -ENOMEM, -EPROTO; release with dl_verify_mixture_release().
 */
int dl_transition_check_plan(const struct dl_transition *t, enum dl_transition_order order,
			     const struct dl_log *log, struct dl_transition_result *out);

/* Are both the phase that closes and the one that opens safe, in any order?  As above. */
int dl_transition_check_phases(const struct dl_transition *t, bool *safe);

/* ---- in waves (waves.c) ------------------------------------------------------- */

enum dl_transition_kind {
	DL_TRANSITION_MOVE,   /* entries get the port of the new tables */
	DL_TRANSITION_DETOUR, /* ... a third port, for a while */
	DL_TRANSITION_CLOSE,  /* ... none */
	DL_TRANSITION_MAPS,   /* SL-to-VL maps are written */
	DL_TRANSITION_OPEN,   /* entries that were closed get the new port */
	DL_TRANSITION_WAIT    /* nothing: orphans must leave before anything can move */
};

/* Writes between waits.  Within a step, moves after a barrier wait for those before it. */
struct dl_transition_step {
	enum dl_transition_kind kind;
	bool drain; /* wait afterwards, until all packets that met an old entry have left */
	uint32_t barriers;
	uint64_t entries; /* forwarding entries, ports in masks; or maps */
	uint64_t writes;  /* blocks; each counts once between two barriers */
};

/* One forwarding entry, written in a step before its barrier number `barrier` (from 0). */
struct dl_transition_move {
	uint32_t step, barrier, sw;
	uint16_t lid;
	uint8_t port;
};

#define DL_TRANSITION_STOPS 65536

/* All end ports of a switch are interrupted on their way to a LID. */
struct dl_transition_stop {
	uint32_t sw;
	uint16_t lid;
};

struct dl_transition_waves {
	bool safe; /* at every moment */
	bool needs_drain;
	bool in_phases;	     /* close, drain, open: by the plan's tables, not by `moves` */
	bool closes_groups;  /* the first step leaves groups the ports of both sets only, */
	bool empties_groups; /* ... or none */
	bool grants_late;    /* new path SLs are granted when the first step is over */
	struct dl_transition_step *steps;
	uint32_t nsteps, steps_cap;
	struct dl_transition_move *moves; /* forwarding; step by step, barrier by barrier */
	uint32_t nmoves, moves_cap;
	uint64_t writes;	    /* blocks */
	uint64_t entries_closed;    /* forwarding entries */
	uint64_t mask_ports_closed; /* ports of groups */
	uint64_t pairs_interrupted;
	struct dl_transition_stop *stops; /* the first of them, up to DL_TRANSITION_STOPS */
	uint32_t nstops, stops_cap;
	uint64_t interrupted_writes; /* ... while so many are sent, at most */
	/*
	 * Pairs of an end port and a LID that must reconnect, since their path SL changes and
	 * the new tables can close a credit loop with the SLs that were granted before.
	 */
	uint64_t reconnect_pairs;
	bool reconnect_adapters; /* not only those with a switch's own port */
	uint64_t followed;	 /* how often packets were, across a link, in all tries */
};

/*
 * Plan a change so that hardly anything is closed: the essay is in lib/transition/waves.c.
 * `work` limits how often packets are followed across a link; what has no place in the
 * order by then is closed, and with no work at all every entry that differs (in_phases).
 * 0, -ENOMEM or -EPROTO as dl_verify(); release the result.
 */
int dl_transition_waves(struct dl_transition *t, uint64_t work, struct dl_transition_waves *out);

/*
 * The work that commands and the engine allow for each plan: 3 million links, and one more for
 * each entry; in a storm about 1 s of CPU on 8x8x8 and 10 s on 16x16x16.
 */
uint64_t dl_transition_work(const struct dl_transition *t);

void dl_transition_waves_release(struct dl_transition_waves *w);

/* ---- packets that met an entry which has changed since (leftovers.c) -------------- */

struct dl_transition_leftovers {
	bool *lids;	/* by LID: an entry changes */
	bool *switches; /* of the new fabric: such packets may be in it */
};

/*
 * Where a plan's leftover packets can wait, in any of its steps; before any of them is
 * taken.  0 or -ENOMEM; release the result.
 */
int dl_transition_leftovers(const struct dl_transition *t, const struct dl_transition_waves *w,
			    struct dl_transition_leftovers *out);
void dl_transition_leftovers_release(struct dl_transition_leftovers *l);

/*
 * Switches on the longest path to the LIDs of a list (NULL: to any), and of any group: as many
 * a packet passes at most until it has left.  Those of an array by switch count (NULL:
 * all).  0 or -ENOMEM.
 */
int dl_transition_longest(const struct dl_tables *t, const bool *lids, const bool *counted,
			  uint32_t *hops);

#ifdef __cplusplus
}
#endif
#endif
