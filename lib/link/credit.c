/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Link-level flow control of one VL (rules C and E1, IBA 7.9.4).
 *
 * Problem.  A sender must know that its packet will find room before it lets
 * it go, although what it hears from the receiver is old, and may get lost.
 *
 * IBA.  Both ends count blocks since the link came up: FCTBS what was sent,
 * ABR what arrived.  The receiver promises a total, FCCL = ABR + what fits
 * now; the sender may send up to it.  All are counts modulo 4096, of which
 * only differences mean anything.  A promise is at most 2048, half the range,
 * so a difference has one meaning: up to half is "ahead", more is "behind".
 * A receiver that hands out memory in chunks promises one block a chunk, for
 * that is what fits if only one-block packets come (C4).
 *
 * PCI Express style.  Packets instead of blocks.  The receiver reports
 * Fwd_Cnt, what has left its buffer; the sender takes away from Buf_Alloc
 * what is then still there or on the wire: Tx_Cnt - Fwd_Cnt.  In a buffer of
 * Buf_Alloc places what has arrived and what is free add up to Fwd_Cnt +
 * Buf_Alloc, so the registers and rules of IBA do: only the number that a
 * message carries is less by Buf_Alloc.
 *
 * Invariants.
 *   - Safe: credit that the sender may still use, plus what is on the wire,
 *     plus what is stored, never exceeds the buffer.  So with honest numbers
 *     dl_link_credit_receive() never fails.
 *   - An older credit message promises no more than a newer one.  Losing one
 *     does no harm, and the next one makes up for it.
 *   - Data lost on the wire is taken for stored: credit leaks, safely.  A
 *     sync message, which must not overtake data, stops the leak: afterwards
 *     ABR = FCTBS.  In the PCI Express style scheme the same message carries
 *     Tx_Cnt, and what is missing between Tx_Cnt and the buffer counts as
 *     forwarded.  (The scheme has no such message, since PCI Express
 *     repeats lost packets below this level.)
 *
 * These are what the models under test/model/ prove at a smaller modulus.
 *
 * Limits.  A credit message must not be so late that the sender has gone half
 * the range in the meantime.  The wire keeps order, and at one message in
 * 65,536 symbols a sender moves 1024 blocks at most between two of them.
 *
 * Complexity.  Everything is O(1); no memory.  What happens to every packet is
 * in dateline/link.h, for the emulator.
 */
#include "config.h"

#include <errno.h>

#include "dateline/link.h"

int dl_link_credit_terms_init(struct dl_link_credit_terms *t, enum dl_link_credit_scheme scheme,
			      uint32_t buffer, uint32_t chunk, uint32_t largest)
{
	bool pcie = scheme == DL_LINK_CREDIT_PCIE;

	if (!chunk || (pcie && (chunk != 1 || buffer > DL_LINK_CREDIT_WINDOW)))
		return -EINVAL;
	*t = (struct dl_link_credit_terms){
		.size = buffer / chunk,
		.chunk = chunk,
		.alloc = pcie ? buffer : 0,
		.report = largest,
		.largest = largest,
	};
	return 0;
}
