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

/* What lies between two sets of tables. */
struct dl_transition {
	/* All three are tables of the new fabric; `opened` is borrowed. */
	struct dl_tables *held;	  /* what the switches hold */
	struct dl_tables *closed; /* ... while the rest is closed */
	const struct dl_tables *opened;
	uint64_t entries_closed; /* forwarding entries, ports in masks */
	/* By dl_transition_interrupted(): */
	uint64_t pairs_interrupted; /* work before and after, not in between */
	uint32_t longest_route;	    /* to a LID with a closed entry; switches */
	/* Blocks that differ, forwarding and multicast: SMPs. */
	uint64_t writes; /* at once */
	uint64_t writes_close, writes_open;
	uint32_t maps_changed; /* SL-to-VL maps of pairs of ports in use */
	bool *on_ring;	       /* by switch: not on a branch; NULL: no map changes */
};

/*
 * Plan a transition from tables of one fabric to those of another; nodes are
 * the same when their GUIDs are.  Cables that are not there any more carry
 * nothing; an entry for a port whose cable leads elsewhere now is closed from
 * the beginning.  0 or -ENOMEM.  O(switches x LIDs).
 */
int dl_transition_plan(const struct dl_tables *from, const struct dl_tables *to,
		       struct dl_transition *out);
void dl_transition_release(struct dl_transition *t);

/* Fill in whom it interrupts.  0 or -ENOMEM. */
int dl_transition_interrupted(struct dl_transition *t);

/*
 * How many pairs of an end port and a LID must reconnect, since their path SL changes and
 * the new tables can close a credit loop with the SLs that were granted before.  0,
 * -ENOMEM or -EPROTO as dl_verify().
 */
int dl_transition_reconnect(const struct dl_transition *t, uint64_t *pairs);

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
	bool phased;			/* the phase that closes, in any order; of a plan */
	struct dl_verify_mixture found; /* what is wrong at that moment */
	uint64_t writes;
	uint64_t at_write; /* writes sent by then; 0: safe, or any order */
};

/*
 * Check the writes from what a plan begins with to what it ends with, and the phase that
 * closes.  By OpenSM's order each state is checked as it is; by any order they are
 * checked together, and a loop may need two LIDs of one block to change at different
 * moments.  `log` hears progress.  Returns 0, -ENOMEM, -EPROTO; release with
 * dl_verify_mixture_release().
 */
int dl_transition_check_plan(const struct dl_transition *t, enum dl_transition_order order,
			     const struct dl_log *log, struct dl_transition_result *out);

/*
 * Is the phase that opens safe, in any order?  `verified`: dl_verify() finds no
 * fault in what is opened, which saves work and changes nothing.  0, -ENOMEM,
 * -EPROTO.
 */
int dl_transition_check_opening(const struct dl_transition *t, bool verified, bool *safe);

#ifdef __cplusplus
}
#endif
#endif
