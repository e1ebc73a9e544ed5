/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One link: VL arbitration, flow control, flow-control packets.
 */
#ifndef DATELINE_LINK_H
#define DATELINE_LINK_H

#include <errno.h>

#include "tables.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- VL arbitration --------------------------------------------------------- */

/*
 * VL arbitration of one transmit port (rules part B, IBA 7.6.9).
 *
 * Two structures.  `struct dl_link_arb_program` is what a subnet manager wrote,
 * compiled for fast decisions: read-only, 6.5 KB, and shared by all
 * ports with the same tables.  `struct dl_link_arbiter` is the state of one port:
 * some 30 bytes, plain data, copied freely.
 *
 * At every packet boundary the port calls dl_link_arbiter_pick() with the set of
 * VLs that are sendable, sends the packet that was picked, and charges it with
 * dl_link_arbiter_charge().  Picking twice without charging gives the same answer.
 */

#define DL_LINK_DATA_VLS 15	  /* data VLs are 0..14 */
#define DL_LINK_VL_SMP 15	  /* the VL of subnet management packets */
#define DL_LINK_VCRC 2		  /* bytes on the wire that LRH:PktLen leaves out */
#define DL_LINK_ARB_ENTRIES 64	  /* entries of one table, at most */
#define DL_LINK_ARB_UNLIMITED 255 /* VLHighLimit: the high table is unbounded */

/* How much the low table may send in one turn (B5). */
enum dl_link_low_turn { DL_LINK_LOW_PACKET, DL_LINK_LOW_WEIGHT };

/* An entry that names VL 15 or a VL the port lacks or has off (B7). */
enum dl_link_bad_entry { DL_LINK_BAD_SKIP, DL_LINK_BAD_ANY };

/* Packets of a data VL that no entry names (B7). */
enum dl_link_unlisted_vl { DL_LINK_UNLISTED_HOLD, DL_LINK_UNLISTED_IDLE, DL_LINK_UNLISTED_DROP };

struct dl_link_arb_options {
	uint8_t nvls;	     /* enabled data VLs: 1, 2, 4, 8 or 15 */
	uint8_t high_cap;    /* VLArbitrationHighCap, 0..64 */
	uint8_t low_cap;     /* VLArbitrationLowCap, 0..64 */
	uint8_t low_turn;    /* enum dl_link_low_turn */
	uint8_t bad_entry;   /* enum dl_link_bad_entry */
	uint8_t unlisted_vl; /* enum dl_link_unlisted_vl */
};

enum dl_link_arb_side { DL_LINK_ARB_HIGH, DL_LINK_ARB_LOW, DL_LINK_ARB_NONE };

/* One table.  In masks of entries, bit e stands for entry e. */
struct dl_link_arb_table {
	/* The entries that could send, by the set of VLs that could: 0-7, 8-14. */
	uint64_t ready[1 << 8], ready_upper[1 << 7];
	uint16_t sends[DL_LINK_ARB_ENTRIES]; /* the VLs that an entry may send */
	struct dl_tables_vlarb_entry entry[DL_LINK_ARB_ENTRIES];
	uint8_t n; /* entries after the cut to the cap */
};

struct dl_link_arb_program {
	struct dl_link_arb_table table[2]; /* by enum dl_link_arb_side */
	struct dl_link_arb_options options;
	uint16_t enabled;    /* VLs 0..nvls-1 */
	uint16_t listed;     /* VLs that a usable entry names */
	uint32_t counted[2]; /* of a packet's words: all bits, or none */
	int32_t limit;	     /* VLHighLimit counts 4096 bytes, HighPriCounter words of four */
	uint8_t high_limit;
};

/* Where a table stands. */
struct dl_link_arb_position {
	int32_t left; /* remaining weight in blocks, while `live` */
	uint8_t at;   /* the entry pointed to; behind the last one: the first */
	bool live;    /* false: `left` is loaded when `at` is visited */
};

struct dl_link_arbiter {
	const struct dl_link_arb_program *program;
	int32_t counter; /* HighPriCounter, in 4-byte words */
	struct dl_link_arb_position place[2];
	uint8_t turn; /* enum dl_link_arb_turn */
};

/* Of the low table: one packet, or one and then more (B5). */
enum dl_link_arb_turn { DL_LINK_TURN_HIGH, DL_LINK_TURN_LOW, DL_LINK_TURN_LOW_MORE };

enum dl_link_kind { DL_LINK_NOTHING, DL_LINK_SMP, DL_LINK_FCP, DL_LINK_DATA };

/* A decision. */
struct dl_link_pick {
	unsigned int kind;  /* enum dl_link_kind */
	unsigned int vl;    /* of data packets; DL_LINK_VL_SMP for SMPs */
	unsigned int side;  /* enum dl_link_arb_side; NONE: sent by no entry */
	unsigned int entry; /* its index, where `side` is a table */
};

/* What stands in the registers after a packet, before any reload. */
struct dl_link_arb_after {
	int32_t weight;	 /* of the entry; undefined for side NONE */
	int32_t counter; /* undefined while the limit is 255 */
};

/* The defaults: 8 VLs, full tables, packet, skip, hold. */
void dl_link_arb_options_init(struct dl_link_arb_options *o);

/*
 * Compile what stands in a port's tables.  Entries beyond the caps are cut,
 * and so are VL numbers above 15 (the field has 4 bits).
 */
void dl_link_arb_compile(const struct dl_tables_vlarb *arb, const struct dl_link_arb_options *o,
			 struct dl_link_arb_program *out);

/*
 * The contents of a port's tables at power-up (B8): undefined, therefore
 * drawn from `seed` for the port with this number.
 */
void dl_link_arb_undefined(uint64_t seed, uint64_t port, struct dl_tables_vlarb *out);

/*
 * A port that starts with this program, which must outlive it.  (May be a
 * structure of zeroes until then.)
 */
void dl_link_arbiter_init(struct dl_link_arbiter *a, const struct dl_link_arb_program *p);

/*
 * The tables, the limit or the options change under traffic (B8), between two
 * packets.  A table whose entries differ is started at its first entry; one
 * that was written with what it already held goes on undisturbed.  A new limit
 * holds from the counter's next reload, except that 255 ("unlimited") begins
 * and ends at once.  The old program must still be there during the call.
 */
void dl_link_arbiter_change(struct dl_link_arbiter *a, const struct dl_link_arb_program *p);

/* The entries of a table that could send now. */
static inline uint64_t dl_link_arb_ready(const struct dl_link_arb_table *t, unsigned int sendable)
{
	return t->ready[sendable & 0xFF] | t->ready_upper[sendable >> 8];
}

/*
 * Decide which data packet to send (B3-B7): see dl_link_arbiter_pick().  There
 * is a choice between high and low in nearly every decision, which no branch
 * predictor knows: so it is computed without branches.
 */
static inline __attribute__((always_inline)) enum dl_link_kind
dl_link_arbiter_pick_data(struct dl_link_arbiter *a, unsigned int sendable,
			  struct dl_link_pick *out)
{
	const struct dl_link_arb_program *p = a->program;
	const struct dl_link_arb_position *low_at = &a->place[DL_LINK_ARB_LOW];
	const struct dl_link_arb_table *t = p->table;
	uint64_t high, low, ready;
	bool stays, reload;
	unsigned int side, at;

	sendable &= p->enabled;
	out->kind = DL_LINK_DATA;
	out->side = DL_LINK_ARB_NONE;
	out->entry = 0;
	high = dl_link_arb_ready(&t[DL_LINK_ARB_HIGH], sendable);
	low = dl_link_arb_ready(&t[DL_LINK_ARB_LOW], sendable);
	if (__builtin_expect(!(high | low), 0)) { /* no entry sends */
		if (p->options.nvls > 1) {
			a->turn = DL_LINK_TURN_HIGH;
			a->counter = p->limit;
			if (p->options.unlisted_vl != DL_LINK_UNLISTED_IDLE)
				return DL_LINK_NOTHING;
		}
		if (!sendable)
			return DL_LINK_NOTHING;
		out->vl = __builtin_ctz(sendable);
		return DL_LINK_DATA;
	}
	stays = (a->turn == DL_LINK_TURN_LOW) & (low != 0);
	if (__builtin_expect(a->turn == DL_LINK_TURN_LOW_MORE, 0))
		stays = low_at->live &&
			(sendable & t[DL_LINK_ARB_LOW].sends[low_at->at]); /* goes on */
	reload = (!stays) & ((a->counter < 0) | !high);
	side = stays | (reload & (low != 0));
	a->counter = reload ? p->limit : a->counter;
	a->turn = stays ? a->turn : side;
	ready = side ? low : high;
	at = a->place[side].at;
	ready = ready >> (at & 63) | ready << (-at & 63);
	at = (at + __builtin_ctzll(ready)) & 63;
	out->vl = __builtin_ctz(sendable & t[side].sends[at]);
	out->side = side;
	out->entry = at;
	return DL_LINK_DATA;
}

/* A port had nothing to send since its last packet, so also no high entry had (B5). */
static inline void dl_link_arbiter_idle(struct dl_link_arbiter *a)
{
	a->turn = DL_LINK_TURN_HIGH;
	a->counter = a->program->limit;
}

/*
 * Decide what to send next (B1-B7).  `smp`, `fcp`: is one queued?  Bit v of
 * `sendable`: VL v has a packet queued and credits for all of it (B6).
 * Returns the kind; *out is filled in unless that is DL_LINK_NOTHING.
 * About 5 ns, whatever the tables hold; no memory.
 */
static inline enum dl_link_kind dl_link_arbiter_pick(struct dl_link_arbiter *a, bool smp, bool fcp,
						     unsigned int sendable,
						     struct dl_link_pick *out)
{
	if (!smp && !fcp)
		return dl_link_arbiter_pick_data(a, sendable, out);
	out->kind = smp ? DL_LINK_SMP : DL_LINK_FCP;
	out->vl = smp ? DL_LINK_VL_SMP : 0;
	out->side = DL_LINK_ARB_NONE;
	out->entry = 0;
	return smp ? DL_LINK_SMP : DL_LINK_FCP;
}

/*
 * The picked packet is on its way.  `bytes` (1 or more) is its size as LRH:PktLen
 * counts it, from the LRH to the ICRC (rules B3): charge it to the entry in 64-byte
 * blocks and, in the high table, to the counter in 4-byte words, both rounded
 * up.  `after` may be NULL.
 */
static inline __attribute__((always_inline)) void
dl_link_arbiter_charge(struct dl_link_arbiter *a, const struct dl_link_pick *pick, uint32_t bytes,
		       struct dl_link_arb_after *after)
{
	const struct dl_link_arb_program *p = a->program;
	bool low = pick->side == DL_LINK_ARB_LOW;

	if (pick->kind == DL_LINK_DATA && pick->side != DL_LINK_ARB_NONE) {
		const struct dl_link_arb_table *t = &p->table[pick->side];
		struct dl_link_arb_position *place = &a->place[pick->side];
		/* Masks instead of branches, which cannot be predicted here. */
		uint32_t weight = t->entry[pick->entry].weight;
		uint32_t goes_on = -(uint32_t)(place->live & (place->at == pick->entry));
		int32_t left = (weight ^ ((weight ^ place->left) & goes_on)) - (bytes + 63) / 64;

		place->left = left;
		place->live = left > 0;
		place->at = pick->entry + !place->live;
		a->counter -= (bytes + 3) / 4 & p->counted[pick->side];
		if (low)
			a->turn = place->live && p->options.low_turn == DL_LINK_LOW_WEIGHT ?
					  DL_LINK_TURN_LOW_MORE :
					  DL_LINK_TURN_HIGH;
		if (after)
			after->weight = place->left;
	}
	if (after)
		after->counter = a->counter;
}

/* Are packets of this data VL to be thrown away (B7, `drop`)? */
static inline bool dl_link_arb_drops(const struct dl_link_arb_program *p, unsigned int vl)
{
	return p->options.unlisted_vl == DL_LINK_UNLISTED_DROP && p->options.nvls > 1 &&
	       !(p->listed >> vl & 1);
}

/* Does any entry, or an idle port, send packets of this data VL? */
static inline bool dl_link_arb_sends(const struct dl_link_arb_program *p, unsigned int vl)
{
	return p->options.nvls == 1 || p->options.unlisted_vl == DL_LINK_UNLISTED_IDLE ||
	       dl_link_arb_ready(&p->table[DL_LINK_ARB_HIGH], 1u << vl) ||
	       dl_link_arb_ready(&p->table[DL_LINK_ARB_LOW], 1u << vl);
}

/* ---- flow control ----------------------------------------------------------- */

/*
 * Link-level flow control of one virtual lane: InfiniBand's and the PCI
 * Express style scheme (rules C and E1, IBA 7.9.4).
 *
 * A link has a `struct dl_link_credit_tx` at its sending end and a
 * `struct dl_link_credit_rx` at its receiving end for each VL and direction.
 * The emulator has one of each in every VL of every port, so they are small,
 * and what touches them for every packet is here.  What both ends know from
 * the start is in a `struct dl_link_credit_terms`, one for all that are alike.
 *
 * Flow-control packets carry two numbers of 12 bits:
 *
 *                      IBA                       PCI Express style
 *   rx -> tx, credit   FCCL                      Fwd_Cnt
 *   tx -> rx, sync     FCTBS                     Tx_Cnt
 *
 * Both schemes keep the same registers; Fwd_Cnt is FCCL less Buf_Alloc.
 * Amounts are in the scheme's unit, which dl_link_credit_units() gives: blocks
 * of 64 bytes for IBA, packets for the other.
 */

/*
 * The counters' width.  It is 12; the model checker's test compiles the same
 * source at the model's width.
 */
#ifndef DL_LINK_CREDIT_BITS
#define DL_LINK_CREDIT_BITS 12
#endif
#define DL_LINK_CREDIT_MODULUS (1u << DL_LINK_CREDIT_BITS)
#define DL_LINK_CREDIT_MASK (DL_LINK_CREDIT_MODULUS - 1)
#define DL_LINK_CREDIT_WINDOW (DL_LINK_CREDIT_MODULUS / 2) /* most ever promised */

enum dl_link_credit_scheme { DL_LINK_CREDIT_IBA, DL_LINK_CREDIT_PCIE };

struct dl_link_credit_terms {
	uint32_t size;	  /* of the buffer: chunks */
	uint32_t chunk;	  /* units in a chunk; PCIe: 1 */
	uint16_t alloc;	  /* PCIe: Buf_Alloc; IBA: 0 */
	uint16_t report;  /* new credit that is worth a flow-control packet */
	uint16_t largest; /* units of the largest packet */
};

struct dl_link_credit_tx {
	uint16_t sent;	/* FCTBS; Tx_Cnt */
	uint16_t limit; /* CL; Tx_Cnt + Crd_Bal */
};

struct dl_link_credit_rx {
	uint32_t free;	     /* chunks */
	uint16_t received;   /* ABR; Fwd_Cnt + packets in the buffer */
	uint16_t advertised; /* the limit last sent to the sender */
};

/*
 * The credit that a packet takes: `bytes` from after the local route header
 * up to, not including, the variant CRC.
 */
static inline uint32_t dl_link_credit_units(enum dl_link_credit_scheme scheme, uint32_t bytes)
{
	return scheme == DL_LINK_CREDIT_PCIE ? 1 : (bytes + 63) / 64;
}

/*
 * A buffer of `buffer` units, handed out in chunks of `chunk` units (1 or
 * more; what does not fill a chunk cannot be used), for packets of at most
 * `largest` units, which is also what `report` begins as.  PCIe: at most
 * DL_LINK_CREDIT_WINDOW places, chunk 1.  Returns 0 or -EINVAL.
 */
int dl_link_credit_terms_init(struct dl_link_credit_terms *t, enum dl_link_credit_scheme scheme,
			      uint32_t buffer, uint32_t chunk, uint32_t largest);

/* What every mix of packets can use of the free space. */
static inline uint32_t dl_link_credit_promise(uint32_t chunks)
{
	return chunks < DL_LINK_CREDIT_WINDOW ? chunks : DL_LINK_CREDIT_WINDOW;
}

/* The total up to which the receiver lets its sender send: FCCL of IBA. */
static inline uint32_t dl_link_credit_limit(const struct dl_link_credit_rx *rx)
{
	return (rx->received + dl_link_credit_promise(rx->free)) & DL_LINK_CREDIT_MASK;
}

/* The number by which a flow-control packet says so: FCCL, Fwd_Cnt. */
static inline uint32_t dl_link_credit_of(const struct dl_link_credit_terms *t,
					 const struct dl_link_credit_rx *rx)
{
	return (dl_link_credit_limit(rx) - t->alloc) & DL_LINK_CREDIT_MASK;
}

/* That number has reached the sender. */
static inline void dl_link_credit_update(const struct dl_link_credit_terms *t,
					 struct dl_link_credit_tx *tx, uint32_t credit)
{
	tx->limit = (credit + t->alloc) & DL_LINK_CREDIT_MASK;
}

/*
 * FCTBS or Tx_Cnt has reached the receiver, behind all data that was sent
 * before it.  What was lost on the wire no longer counts as in the buffer.
 */
static inline void dl_link_credit_sync(struct dl_link_credit_rx *rx, uint32_t sync)
{
	rx->received = sync & DL_LINK_CREDIT_MASK;
}

/* A link comes up: the counters start, and the sender has credit for what is free. */
static inline void dl_link_credit_start(const struct dl_link_credit_terms *t,
					struct dl_link_credit_tx *tx, struct dl_link_credit_rx *rx)
{
	rx->received = 0;
	rx->advertised = dl_link_credit_limit(rx);
	tx->sent = 0;
	dl_link_credit_update(t, tx, dl_link_credit_of(t, rx));
}

/*
 * May a packet of this many units leave?  The comparison is exact for packets
 * below DL_LINK_CREDIT_WINDOW units; real ones have 66 blocks at most.
 */
static inline bool dl_link_credit_may_send(const struct dl_link_credit_tx *tx, uint32_t units)
{
	return ((tx->limit - (tx->sent + units)) & DL_LINK_CREDIT_MASK) <= DL_LINK_CREDIT_WINDOW;
}

/* It leaves. */
static inline void dl_link_credit_spend(struct dl_link_credit_tx *tx, uint32_t units)
{
	tx->sent = (tx->sent + units) & DL_LINK_CREDIT_MASK;
}

/* How many units the sender may still send: Crd_Bal. */
static inline uint32_t dl_link_credit_balance(const struct dl_link_credit_tx *tx)
{
	uint32_t left = (tx->limit - tx->sent) & DL_LINK_CREDIT_MASK;

	return left <= DL_LINK_CREDIT_WINDOW ? left : 0;
}

/* Chunks that a packet of this many units takes. */
static inline uint32_t dl_link_credit_chunks(const struct dl_link_credit_terms *t, uint32_t units)
{
	return t->chunk == 1 ? units : (units + t->chunk - 1) / t->chunk;
}

/*
 * A packet has arrived.  Returns true when it is stored; false when it finds
 * no room: the caller discards and counts it (C5).
 */
static inline bool dl_link_credit_receive(const struct dl_link_credit_terms *t,
					  struct dl_link_credit_rx *rx, uint32_t units)
{
	uint32_t chunks = dl_link_credit_chunks(t, units);

	if (chunks > rx->free)
		return false;
	rx->free -= chunks;
	rx->received = (rx->received + units) & DL_LINK_CREDIT_MASK;
	return true;
}

/* Give back chunks of stored packets that have moved on. */
static inline void dl_link_credit_release_chunks(struct dl_link_credit_rx *rx, uint32_t chunks)
{
	rx->free += chunks;
}

/*
 * A stored packet has moved on out of the buffer.  (PCIe, `units` packets
 * have.)
 */
static inline void dl_link_credit_release(const struct dl_link_credit_terms *t,
					  struct dl_link_credit_rx *rx, uint32_t units)
{
	dl_link_credit_release_chunks(rx, dl_link_credit_chunks(t, units));
}

/* Credit that the receiver has not advertised yet. */
static inline uint32_t dl_link_credit_unsent(const struct dl_link_credit_rx *rx)
{
	uint32_t more = (dl_link_credit_limit(rx) - rx->advertised) & DL_LINK_CREDIT_MASK;

	return more <= DL_LINK_CREDIT_WINDOW ? more : 0;
}

/* Of what it has advertised, what the sender has left at most; is that a packet? */
static inline bool dl_link_credit_suffices(const struct dl_link_credit_terms *t,
					   const struct dl_link_credit_rx *rx)
{
	uint32_t left = (rx->advertised - rx->received) & DL_LINK_CREDIT_MASK;

	return left >= t->largest && left <= DL_LINK_CREDIT_WINDOW;
}

/*
 * Should the receiver report now rather than at the deadline (C2)?  Yes when
 * the new credit amounts to `report`, or the sender may have to wait for it.
 */
static inline bool dl_link_credit_should_report(const struct dl_link_credit_terms *t,
						const struct dl_link_credit_rx *rx)
{
	uint32_t more = dl_link_credit_unsent(rx);

	return more && (more >= t->report || !dl_link_credit_suffices(t, rx));
}

/* ---- flow-control packets --------------------------------------------------- */

/*
 * The flow-control packet (rules C2, IBA 7.9.4): its bits, its check sum, and
 * what it does at both ends of a link.
 *
 * One packet serves both directions of a VL: FCTBS is what this port has sent,
 * for the far receiver; FCCL is what the far port may send.  Under
 * the PCI Express style scheme the same fields hold Tx_Cnt and Fwd_Cnt.
 */

#define DL_LINK_FCP_BYTES 6	   /* four of fields, two of CRC */
#define DL_LINK_FCP_SYMBOLS 8	   /* on the wire, with its delimiters */
#define DL_LINK_FCP_DEADLINE 65536 /* symbol times between two of one VL */

enum dl_link_fcp_op { DL_LINK_FCP_NORMAL, DL_LINK_FCP_INITIALISE };

enum dl_link_state { DL_LINK_DOWN, DL_LINK_INITIALISE, DL_LINK_ARM, DL_LINK_ACTIVE };

struct dl_link_fcp {
	uint8_t op;	/* enum dl_link_fcp_op, 4 bits */
	uint8_t vl;	/* 0..14, 4 bits */
	uint16_t fctbs; /* 12 bits */
	uint16_t fccl;	/* 12 bits */
};

/*
 * IBA's 16-bit CRC (polynomial 100Bh, start FFFFh, complemented): the link
 * packet CRC, and a data packet's variant CRC.  The low byte goes first on
 * the wire.
 */
uint16_t dl_link_crc16(const uint8_t *bytes, size_t n);

/* Write the packet as it goes over the wire. */
void dl_link_fcp_encode(const struct dl_link_fcp *fcp, uint8_t wire[DL_LINK_FCP_BYTES]);

/*
 * Read one.  Returns 0; -EBADMSG: the CRC is wrong; -EPROTO: a reserved
 * operand, or VL 15, which has no flow control.  Such packets are discarded.
 */
int dl_link_fcp_decode(const uint8_t wire[DL_LINK_FCP_BYTES], struct dl_link_fcp *out);

/*
 * Make the packet for a VL, from this port's sender and receiver of it, which
 * has advertised its credit then.  Returns 0, or -ENOTCONN while the link is
 * down.
 */
static inline int dl_link_fcp_make(enum dl_link_state state, unsigned int vl,
				   const struct dl_link_credit_terms *t,
				   const struct dl_link_credit_tx *tx, struct dl_link_credit_rx *rx,
				   struct dl_link_fcp *out)
{
	if (state == DL_LINK_DOWN)
		return -ENOTCONN;
	rx->advertised = dl_link_credit_limit(rx);
	out->op = state == DL_LINK_INITIALISE ? DL_LINK_FCP_INITIALISE : DL_LINK_FCP_NORMAL;
	out->vl = vl;
	out->fctbs = tx->sent;
	out->fccl = dl_link_credit_of(t, rx);
	return 0;
}

/*
 * A packet of this VL has arrived.  Returns 0; -ENOTCONN while the link is
 * down (it is discarded); -ECONNRESET when the packet initialises a link that
 * is active here: the far end has restarted, nothing is changed, and the port
 * has to leave that state (IBA 7.2, RemoteInit).
 */
static inline int dl_link_fcp_take(enum dl_link_state state, const struct dl_link_fcp *fcp,
				   const struct dl_link_credit_terms *t,
				   struct dl_link_credit_tx *tx, struct dl_link_credit_rx *rx)
{
	if (state == DL_LINK_DOWN)
		return -ENOTCONN;
	if (state == DL_LINK_ACTIVE && fcp->op == DL_LINK_FCP_INITIALISE)
		return -ECONNRESET;
	dl_link_credit_update(t, tx, fcp->fccl);
	dl_link_credit_sync(rx, fcp->fctbs);
	return 0;
}

#ifdef __cplusplus
}
#endif
#endif
