/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The verdict on a set of tables, in full.
 *
 * A channel is a pair of an output port and a VL: the place where packets
 * wait for credits.  Only channels from switch to switch can be part of a
 * credit loop, since adapters always consume what they receive.
 */
#ifndef DL_VERIFY_H
#define DL_VERIFY_H

#include "tables/tables.h"

/* Why a packet does not arrive. */
enum dl_fault {
	DL_FAULT_NO_ENTRY,	/* the switch has no entry for the LID */
	DL_FAULT_DEAD_PORT,	/* the entry names a port without a cable */
	DL_FAULT_WRONG_END,	/* handed to an end port other than the owner */
	DL_FAULT_LOOP,		/* comes back to the same switch for ever */
	DL_FAULT_VL,		/* the SL maps to no VL of the output port */
	DL_FAULT_UNATTACHED,	/* one of the end ports hangs on no switch */
	DL_FAULT_NO_COPY,	/* no copy of a multicast packet arrives */
	DL_FAULT_TWICE		/* more than one does */
};

/* One packet that does not arrive as it should. */
struct dl_lost {
	uint32_t src;		/* source end port, port index */
	uint32_t dst;		/* destination, group member, or DL_NONE */
	uint16_t dlid;		/* unicast or multicast LID */
	uint8_t sl;		/* DL_NO_SL: whatever the SL */
	uint8_t fault;		/* enum dl_fault */
	uint32_t sw;		/* switch where it goes wrong, or DL_NONE */
	uint8_t port;		/* output port there; DL_NO_PORT: none */
};

/*
 * One step of a credit loop: a channel, and a packet that holds it while it
 * waits for the channel of the next step.
 */
struct dl_cycle_step {
	uint32_t port;		/* output port of a switch, port index */
	uint8_t vl;
	uint8_t sl;		/* of the packet */
	uint16_t dlid;		/* its destination; 0: no packet was found */
	uint32_t src;		/* its source end port */
};

struct dl_verdict {
	const struct dl_fabric *fabric;
	bool delivered;
	bool credit_loop;
	bool sl_stable;
	bool sl_known;		/* did the tables say which SLs are used? */
	unsigned int levels;	/* QoS levels judged */
	uint64_t pairs;		/* ordered pairs of source port and LID */
	uint64_t nlost;		/* those that fail */
	uint32_t groups_lost;	/* multicast groups in which a copy fails */
	struct dl_lost *lost;	/* some of them */
	uint32_t nlisted;
	struct dl_cycle_step *cycle;
	uint32_t ncycle;
	uint32_t groups;	/* multicast groups */
	uint64_t channels;	/* between switches, with packets */
	uint64_t dependencies;
	uint64_t without_sl;	/* pairs not judged for loops: SL unknown */
	uint64_t without_vl;	/* pairs of ports with an unknown map */
	uint64_t sl_changes;	/* pairs whose path SL differs from before */
	uint64_t sl_compared;	/* pairs compared */
};

#endif
