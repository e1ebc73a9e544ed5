/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The flow-control packet (SPEC C2, IBA 7.9.4): its bits, its check sum, when
 * it is due, and what it does at both ends of a link.
 *
 * One packet serves both directions of a VL: FCTBS tells the far receiver
 * what its sender has sent, FCCL tells the far sender what it may send.  Under
 * the PCI Express style scheme the same fields hold Tx_Cnt and Fwd_Cnt.
 */
#ifndef DL_FCP_H
#define DL_FCP_H

#include <stddef.h>
#include <stdint.h>

#include "link/credit.h"

#define DL_FCP_BYTES 6		/* four of fields, two of CRC */
#define DL_FCP_SYMBOLS 8	/* on the wire, with its delimiters */
#define DL_FCP_DEADLINE 65536	/* symbol times between two of one VL */

enum dl_fcp_op { DL_FCP_NORMAL, DL_FCP_INITIALISE };

enum dl_link_state { DL_LINK_DOWN, DL_LINK_INITIALISE, DL_LINK_ARM,
		     DL_LINK_ACTIVE };

struct dl_fcp {
	uint8_t op;	/* enum dl_fcp_op, 4 bits */
	uint8_t vl;	/* 0..14, 4 bits */
	uint16_t fctbs;	/* 12 bits */
	uint16_t fccl;	/* 12 bits */
};

/*
 * IBA's 16-bit CRC (polynomial 100Bh, start FFFFh, complemented): the link
 * packet CRC, and a data packet's variant CRC.  The low byte goes first on
 * the wire.
 */
uint16_t dl_crc16(const uint8_t *bytes, size_t n);

/* Write the packet as it goes over the wire. */
void dl_fcp_encode(const struct dl_fcp *fcp, uint8_t wire[DL_FCP_BYTES]);

/*
 * Read one.  Returns 0; -EBADMSG: the CRC is wrong; -EPROTO: a reserved
 * operand, or VL 15, which has no flow control.  Such packets are discarded.
 */
int dl_fcp_decode(const uint8_t wire[DL_FCP_BYTES], struct dl_fcp *out);

/* The operand of packets sent in a state; -1: none are sent. */
static inline int dl_fcp_op(enum dl_link_state state)
{
	switch (state) {
	case DL_LINK_INITIALISE:
		return DL_FCP_INITIALISE;
	case DL_LINK_ARM:
	case DL_LINK_ACTIVE:
		return DL_FCP_NORMAL;
	default:
		return -1;
	}
}

/*
 * Make the packet for a VL, from this port's sender and receiver of it.
 * Returns 0, or -ENOTCONN while the link is down.
 */
int dl_fcp_make(enum dl_link_state state, unsigned int vl,
		const struct dl_credit_tx *tx, const struct dl_credit_rx *rx,
		struct dl_fcp *out);

/*
 * A decoded packet of this VL has arrived.  Returns 0; -ENOTCONN while the
 * link is down (it is discarded); -ECONNRESET when the packet initialises a
 * link that is active here: the far end has started anew, nothing is changed,
 * and the port has to leave that state (IBA 7.2, RemoteInit).
 */
int dl_fcp_take(enum dl_link_state state, const struct dl_fcp *fcp,
		struct dl_credit_tx *tx, struct dl_credit_rx *rx);

/*
 * The latest time to queue the next packet of a VL whose last one left at
 * `last`, when it may have to wait for `busy` symbols of other packets.
 * A symbol is 8 bits at the link's rate; all times have one unit of the
 * caller's choice.
 */
static inline uint64_t dl_fcp_due(uint64_t last, uint64_t symbol_time,
				  uint32_t busy)
{
	uint32_t wait = busy < DL_FCP_DEADLINE ? DL_FCP_DEADLINE - busy : 0;

	return last + wait * symbol_time;
}

#endif
