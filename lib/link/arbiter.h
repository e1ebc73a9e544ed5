/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * VL arbitration of one transmit port (SPEC part B, IBA 7.6.9).
 *
 * Two structures.  `struct dl_arb_program` is what a subnet manager wrote,
 * compiled for fast decisions: read-only, 800 bytes, and shared by all
 * ports with the same tables.  `struct dl_arbiter` is the state of one port:
 * some 30 bytes, plain data, copied freely.
 *
 * At every packet boundary the port calls dl_arbiter_pick() with the set of
 * VLs that are sendable, sends what it was told to send, and charges it with
 * dl_arbiter_charge().  Picking twice without charging gives the same answer.
 */
#ifndef DL_ARBITER_H
#define DL_ARBITER_H

#include <stdbool.h>
#include <stdint.h>

#include "tables/tables.h"

#define DL_DATA_VLS 15		/* data VLs are 0..14 */
#define DL_VL_SMP 15		/* the VL of subnet management packets */
#define DL_ARB_ENTRIES 64	/* entries of one table, at most */
#define DL_ARB_UNLIMITED 255	/* VLHighLimit: the high table is unbounded */

/* How much the low table may send in one turn (B5). */
enum dl_low_turn { DL_LOW_PACKET, DL_LOW_WEIGHT };

/* An entry that names VL 15 or a VL the port lacks or has off (B7). */
enum dl_bad_entry { DL_BAD_SKIP, DL_BAD_ANY };

/* Packets of a data VL that no entry names (B7). */
enum dl_unlisted_vl { DL_UNLISTED_HOLD, DL_UNLISTED_IDLE, DL_UNLISTED_DROP };

struct dl_arb_options {
	uint8_t nvls;		/* enabled data VLs: 1, 2, 4, 8 or 15 */
	uint8_t high_cap;	/* VLArbitrationHighCap, 0..64 */
	uint8_t low_cap;	/* VLArbitrationLowCap, 0..64 */
	uint8_t low_turn;	/* enum dl_low_turn */
	uint8_t bad_entry;	/* enum dl_bad_entry */
	uint8_t unlisted_vl;	/* enum dl_unlisted_vl */
};

enum dl_arb_side { DL_ARB_HIGH, DL_ARB_LOW, DL_ARB_NONE };

/* One table.  In masks of entries, bit e stands for entry e. */
struct dl_arb_table {
	uint64_t naming[DL_DATA_VLS];	/* the usable entries that name a VL */
	uint64_t wild;			/* those that may send any VL (B7) */
	uint16_t sends[DL_ARB_ENTRIES];	/* the VLs that an entry may send */
	struct dl_vlarb_entry entry[DL_ARB_ENTRIES];
	uint8_t n;			/* entries after the cut to the cap */
};

struct dl_arb_program {
	struct dl_arb_table table[2];	/* by enum dl_arb_side */
	struct dl_arb_options options;
	uint16_t enabled;		/* VLs 0..nvls-1 */
	uint16_t listed;		/* VLs that a usable entry names */
	uint8_t high_limit;
	bool programmed;	/* false: power-up contents (B8) */
};

/* Where a table stands. */
struct dl_arb_place {
	int32_t left;	/* remaining weight in blocks, while `live` */
	uint8_t at;	/* the entry pointed to */
	bool live;	/* false: `left` is loaded when `at` is visited */
};

struct dl_arbiter {
	const struct dl_arb_program *program;
	int32_t counter;	/* HighPriCounter, in 4-byte words */
	struct dl_arb_place place[2];
	uint8_t turn;		/* private to arbiter.c */
};

enum dl_kind { DL_KIND_NOTHING, DL_KIND_SMP, DL_KIND_FCP, DL_KIND_DATA };

/* A decision. */
struct dl_pick {
	uint8_t kind;	/* enum dl_kind */
	uint8_t vl;	/* of data packets; DL_VL_SMP for SMPs */
	uint8_t side;	/* enum dl_arb_side; NONE: sent by no entry */
	uint8_t entry;	/* its index, where `side` is a table */
};

/* What stands in the registers after a packet, before any reload. */
struct dl_arb_after {
	int32_t weight;		/* of the entry; undefined for side NONE */
	int32_t counter;	/* undefined while the limit is 255 */
};

/* The defaults: 8 VLs, full tables, packet, skip, hold. */
void dl_arb_options_init(struct dl_arb_options *o);

/*
 * Compile what stands in a port's tables.  Entries beyond the caps are cut,
 * and so are VL numbers above 15 (the field has 4 bits).
 */
void dl_arb_compile(const struct dl_vlarb *arb, const struct dl_arb_options *o,
		    struct dl_arb_program *out);

/*
 * The contents of a port's tables at power-up (B8): undefined, therefore
 * drawn from `seed` for the port with this number.  The program compiled from
 * them should have `programmed` set to false by the caller.
 */
void dl_arb_undefined(uint64_t seed, uint64_t port, struct dl_vlarb *out);

/*
 * A port that starts with this program, which must outlive it.  (May be a
 * structure of zeroes until then.)
 */
void dl_arbiter_init(struct dl_arbiter *a, const struct dl_arb_program *p);

/*
 * The tables, the limit or the options change under traffic (B8), between two
 * packets.  A table whose entries differ is started at its first entry; one
 * that was written with what it already held goes on undisturbed.  A new limit
 * holds from the counter's next reload, except that 255 ("unlimited") begins
 * and ends at once.  The old program must still be there during the call.
 */
void dl_arbiter_change(struct dl_arbiter *a, const struct dl_arb_program *p);

/*
 * Decide what to send next (B1-B7).  `smp`, `fcp`: is one queued?  Bit v of
 * `sendable`: VL v has a packet queued and credits for all of it (B6).
 * Returns the kind; *out is filled in unless that is DL_KIND_NOTHING.
 * About 10 ns, whatever the tables hold; no memory.
 */
enum dl_kind dl_arbiter_pick(struct dl_arbiter *a, bool smp, bool fcp,
			     unsigned int sendable, struct dl_pick *out);

/*
 * The picked packet of `bytes` (1 or more) is on its way: charge it to the
 * entry in 64-byte blocks and, in the high table, to the counter in 4-byte
 * words, both rounded up.  `after` may be NULL.
 */
void dl_arbiter_charge(struct dl_arbiter *a, const struct dl_pick *pick,
		       uint32_t bytes, struct dl_arb_after *after);

/* Are packets of this data VL to be thrown away (B7, `drop`)? */
static inline bool dl_arb_drops(const struct dl_arb_program *p,
				unsigned int vl)
{
	return p->options.unlisted_vl == DL_UNLISTED_DROP &&
	       p->options.nvls > 1 && !(p->listed >> vl & 1);
}

#endif
