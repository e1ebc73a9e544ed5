/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the files share that plan entries on the move; the essay is in moving.c. */
#ifndef DL_VERIFY_MOVING_H
#define DL_VERIFY_MOVING_H

#include "dateline/base.h"
#include "verify/internal.h"

#define MOVING_REFUSALS 65536			 /* that are remembered */
#define MOVING_HOPS (DL_VERIFY_MOST_EARLIER + 2) /* of an entry: with those before and after */

/* Dependencies of one link on another that are not permanent: a word of their matrix. */
struct moving_dep {
	uint32_t from, to; /* links */
	uint32_t word;
	uint64_t bits;
};

/* Packets that come to an entry that differs by entries that do not. */
struct moving_seed {
	uint32_t link, set;
};

/* A LID with entries that change. */
struct moving_lid {
	uint16_t lid;
	uint32_t owner;
	uint32_t n;
	struct dl_verify_entry *entries; /* by switch */
	const uint8_t *column;		 /* entries that do not change, by switch */
	struct moving_seed *seeds;
	uint32_t nseeds, seeds_cap;
	struct moving_dep *deps; /* of its packets, as counted */
	uint32_t ndeps, deps_cap;
	uint32_t first_orphan, norphans; /* none after a drain */
	bool moved; /* since the last drain; or there are orphans, or earlier ports */
};

/* Packets on a link that have not been followed further yet. */
struct moving_item {
	uint32_t link, set, next;
};

/* A dependency on which a refusal stands, and how many do. */
struct moving_vote {
	uint32_t from, to; /* channels */
	uint32_t votes;
};

struct dl_verify_moving {
	struct dl_arena arena;
	struct dl_verify_net net;
	const struct dl_tables *held, *opened;
	const struct dl_verify_change *change; /* while it begins */
	struct dl_tables kept; /* entries on which both agree, and the groups that count */
	uint16_t multicast_sls;
	struct dl_verify_flow flow; /* of packets that go by entries that stay, and its sets */
	const struct dl_verify_orphans *orphans; /* or NULL */
	unsigned int since;	   /* what the moves call time 0, as packets are followed */
	struct moving_lid leaving; /* groups that count until the first drain: their deps */
	struct moving_lid *lids;
	uint32_t nlids, nmoving; /* those with entries come first */
	uint16_t *count;	 /* by pair and bit */
	uint64_t *live;		 /* by pair and word: which counts are not 0 */
	uint64_t vl_column;	 /* bits of a matrix of one word that stand for VL 0 of `to` */
	struct dl_order order;
	/* One LID: */
	uint32_t *entry_at;	    /* by switch: number of the entry plus 1; 0: it stays */
	uint32_t *queue;	    /* of switches */
	uint8_t *out;		    /* by switch: entries whose packets come to one that differs */
	struct dl_verify_set *seen; /* by link */
	uint32_t *links, nlinks;    /* links with any */
	struct moving_item *items;
	uint32_t nitems, items_cap;
	uint32_t first[DL_VERIFY_STAYS]; /* item by time; 0: none */
	unsigned int last;		 /* highest time with items */
	uint64_t *found;		 /* by pair and word: dependencies */
	struct moving_dep *edges;	 /* words with any; their bits are in found[] */
	uint32_t nedges;
	struct moving_vote *votes;
	uint32_t nvotes, votes_cap;
	bool voting;
	uint64_t *refused; /* since the last drain: keys of what would close a cycle, by slot */
	uint64_t followed; /* groups of packets on a link, in all */
};

/* ---- the graph, and who is under way (moving_follow.c) ------------------------- */

/* Where a word of a pair's matrix stands in deps[], live[] and found[]. */
size_t dl_verify_moving_word(const struct dl_verify_moving *m, const struct moving_dep *d);

/* For dl_order_init(). */
uint32_t dl_verify_moving_neighbours(const void *context, uint32_t channel, bool forward,
				     uint32_t *list);

/* Count some dependencies of a word once less. */
void dl_verify_moving_drop(struct dl_verify_moving *m, size_t at, uint64_t bits);

/* Insert the bits of some words, or nothing: false, if they close a cycle of the order. */
bool dl_verify_moving_add(struct dl_verify_moving *m, const struct moving_dep *deps, uint32_t n,
			  bool ordered);

/*
 * What all packets to a LID since the last drain make wait for what, beyond what is
 * permanent: into edges[], with their bits.  found[] is clear before and after.
 */
void dl_verify_moving_follow(struct dl_verify_moving *m, const struct moving_lid *l);

/* Have entry_at[] tell where a LID's entries are; or no more. */
void dl_verify_moving_mark(struct dl_verify_moving *m, const struct moving_lid *l, bool here);

/* Begin to follow packets.  0 or -ENOMEM. */
int dl_verify_moving_begin_flow(struct dl_verify_moving *m);

/* The packets that come to entries that differ.  0; -ELOOP: some go in a circle; -ENOMEM. */
int dl_verify_moving_find_seeds(struct dl_verify_moving *m, struct moving_lid *l);

#endif
