/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Link-level flow control of one virtual lane: InfiniBand's and the PCI
 * Express style scheme behind one interface (SPEC C and E1, IBA 7.9.4).
 *
 * A link has a `struct dl_credit_tx` at its sending end and a
 * `struct dl_credit_rx` at its receiving end for each VL and direction.  Two
 * numbers travel between them, in both schemes 12 bits on the wire:
 *
 *                      IBA                       PCI Express style
 *   rx -> tx, credit   FCCL                      Fwd_Cnt
 *   tx -> rx, sync     FCTBS                     Tx_Cnt
 *
 * Amounts are in the scheme's unit, which dl_credit_units() gives: blocks of
 * 64 bytes for IBA, packets for the other.
 */
#ifndef DL_CREDIT_H
#define DL_CREDIT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The counters' width.  It is 12; the model checker's test compiles the same
 * source at the model's width.
 */
#ifndef DL_CREDIT_BITS
#define DL_CREDIT_BITS 12
#endif
#define DL_CREDIT_MODULUS (1u << DL_CREDIT_BITS)
#define DL_CREDIT_MASK (DL_CREDIT_MODULUS - 1)
#define DL_CREDIT_WINDOW (DL_CREDIT_MODULUS / 2)	/* most ever promised */

enum dl_credit_scheme { DL_CREDIT_IBA, DL_CREDIT_PCIE };

struct dl_credit_tx {
	uint32_t sent;	/* FCTBS (12 bits); Tx_Cnt */
	uint32_t limit;	/* CL (12 bits); Crd_Bal */
	uint32_t alloc;	/* PCIe: Buf_Alloc of the receiver */
	uint8_t scheme;
};

struct dl_credit_rx {
	uint32_t count;	/* ABR (12 bits); Fwd_Cnt */
	uint32_t free;	/* free chunks; free packet places */
	uint32_t size;	/* all of them */
	uint32_t chunk;	/* units in a chunk; PCIe: 1 */
	uint64_t dropped;	/* packets that found no room (C5) */
	uint8_t scheme;
};

/*
 * The credit that a packet takes: `bytes` from after the local route header
 * up to, not including, the variant CRC.
 */
static inline uint32_t dl_credit_units(enum dl_credit_scheme scheme,
				       uint32_t bytes)
{
	return scheme == DL_CREDIT_PCIE ? 1 : (bytes + 63) / 64;
}

/*
 * A receiver just initialised.  `buffer` units, handed out in chunks of
 * `chunk` units (1 or more; what does not fill a chunk cannot be used).
 * PCIe: at most DL_CREDIT_WINDOW places, chunk 1.  Returns 0 or -EINVAL.
 */
int dl_credit_rx_init(struct dl_credit_rx *rx, enum dl_credit_scheme scheme,
		      uint32_t buffer, uint32_t chunk);

/*
 * The sender of that receiver, once flow control is initialised: it holds the
 * receiver's first credit.
 */
void dl_credit_tx_init(struct dl_credit_tx *tx, const struct dl_credit_rx *rx);

/* What every mix of packets can use of the free space. */
static inline uint32_t dl_credit_promise(uint32_t chunks)
{
	return chunks < DL_CREDIT_WINDOW ? chunks : DL_CREDIT_WINDOW;
}

/* The number that the receiver's message carries: FCCL, Fwd_Cnt. */
static inline uint32_t dl_credit_of(const struct dl_credit_rx *rx)
{
	if (rx->scheme == DL_CREDIT_PCIE)
		return rx->count & DL_CREDIT_MASK;
	return (rx->count + dl_credit_promise(rx->free)) & DL_CREDIT_MASK;
}

/* That message has reached the sender. */
static inline void dl_credit_update(struct dl_credit_tx *tx, uint32_t credit)
{
	uint32_t away;

	if (tx->scheme == DL_CREDIT_IBA) {
		tx->limit = credit & DL_CREDIT_MASK;
		return;
	}
	away = (tx->sent - credit) & DL_CREDIT_MASK;
	tx->limit = away < tx->alloc ? tx->alloc - away : 0;
}

/* The number that the sender's message carries: FCTBS, Tx_Cnt (low bits). */
static inline uint32_t dl_credit_sync_of(const struct dl_credit_tx *tx)
{
	return tx->sent & DL_CREDIT_MASK;
}

/*
 * That message has reached the receiver, behind all data that was sent before
 * it.  What was lost on the wire no longer counts as being in the buffer.
 */
void dl_credit_sync(struct dl_credit_rx *rx, uint32_t sync);

/*
 * May a packet of this many units leave?  IBA's comparison is exact for
 * packets below DL_CREDIT_WINDOW blocks; real ones have 66 at most.
 */
static inline bool dl_credit_may_send(const struct dl_credit_tx *tx,
				      uint32_t units)
{
	if (tx->scheme == DL_CREDIT_PCIE)
		return units <= tx->limit;
	return ((tx->limit - (tx->sent + units)) & DL_CREDIT_MASK) <=
	       DL_CREDIT_WINDOW;
}

/* It leaves. */
static inline void dl_credit_spend(struct dl_credit_tx *tx, uint32_t units)
{
	tx->sent += units;
	if (tx->scheme == DL_CREDIT_PCIE)
		tx->limit -= units;
	else
		tx->sent &= DL_CREDIT_MASK;
}

/* Chunks that a packet of this many units takes. */
static inline uint32_t dl_credit_chunks(const struct dl_credit_rx *rx,
					uint32_t units)
{
	return rx->chunk == 1 ? units : (units + rx->chunk - 1) / rx->chunk;
}

/*
 * A packet has arrived.  Returns true when it is stored; false when it finds
 * no room: then it is to be discarded, and is counted (C5).
 */
static inline bool dl_credit_receive(struct dl_credit_rx *rx, uint32_t units)
{
	uint32_t chunks = dl_credit_chunks(rx, units);

	if (chunks > rx->free) {
		rx->dropped++;
		return false;
	}
	rx->free -= chunks;
	if (rx->scheme == DL_CREDIT_IBA)
		rx->count = (rx->count + units) & DL_CREDIT_MASK;
	return true;
}

/* Give back chunks of stored packets that have moved on. */
static inline void dl_credit_release_chunks(struct dl_credit_rx *rx, uint32_t chunks)
{
	rx->free += chunks;
	if (rx->scheme == DL_CREDIT_PCIE)
		rx->count += chunks;
}

/*
 * A stored packet has moved on out of the buffer.  (PCIe, `units` packets
 * have.)
 */
static inline void dl_credit_release(struct dl_credit_rx *rx, uint32_t units)
{
	dl_credit_release_chunks(rx, dl_credit_chunks(rx, units));
}

/*
 * Should the receiver report now rather than at the deadline (C2)?  `told` is
 * the last number it sent, `largest` the units of the largest packet.  Yes
 * when new credit has gathered to a quarter of what the buffer can promise,
 * or the sender may be held up for lack of it.
 */
bool dl_credit_worth_telling(const struct dl_credit_rx *rx, uint32_t told,
			     uint32_t largest);

#endif
