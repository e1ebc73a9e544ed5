/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* An adapter's scheduler: see slarb.c. */
#ifndef DL_EMU_SLARB_H
#define DL_EMU_SLARB_H

#include "dateline/emu.h"

/*
 * A `struct dl_emu_sl_sched` is one port's state; the table is read-only and
 * shared, the queue pairs are an array of the caller's, one place each.
 */

#define DL_EMU_NO_QP UINT32_MAX

/* One queue pair's place in the queues. */
struct dl_emu_sl_qp {
	uint64_t ticket; /* order of queueing */
	uint32_t next;
	uint8_t sl;
	bool queued;
};

/* The queue pairs with work at an SL, in order. */
struct dl_emu_sl_queue {
	uint32_t head, tail; /* head: whose turn it is */
	int64_t tenure_left; /* of the head */
};

/* Where a port is in its table. */
struct dl_emu_sl_turn {
	const struct dl_emu_sl_table *table; /* NULL: there is none */
	int32_t left;			     /* bytes of the entry, while `live` */
	uint16_t at;			     /* the entry pointed to */
	bool live;
};

struct dl_emu_sl_sched {
	struct dl_emu_sl_turn turn; /* without a table: plain round robin */
	struct dl_emu_sl_qp *qps;
	uint64_t ticket;
	uint32_t tenure;  /* bytes of a queue pair's turn */
	uint32_t current; /* the queue pair served last */
	uint16_t ready;	  /* SLs with queued queue pairs */
	struct dl_emu_sl_queue queue[DL_EMU_SLS];
};

/*
 * The SL that sends next, of those that can; DL_EMU_SLS: none.  It is that of the
 * first entry from the pointer on whose SL can send; the pointer goes there.
 */
unsigned int dl_emu_sl_turn_pick(struct dl_emu_sl_turn *turn, unsigned int able);

/*
 * A packet of the picked SL takes so many bytes of the entry: 1 if it has no data, so that
 * the entry is used up some time.
 */
void dl_emu_sl_turn_charge(struct dl_emu_sl_turn *turn, uint32_t bytes);

/* The SLs that a table serves; NULL: none. */
unsigned int dl_emu_sl_table_sls(const struct dl_emu_sl_table *t);

/*
 * A port without work.  `table` NULL switches the SL table off: queue pairs
 * then take turns whatever their SL (D3).  `tenure` 0 means one packet.
 * `qps` has a place for each queue pair and need not be initialised beyond
 * zeroes; both are borrowed.
 */
void dl_emu_sl_sched_init(struct dl_emu_sl_sched *s, const struct dl_emu_sl_table *table,
			  uint32_t tenure, struct dl_emu_sl_qp *qps);

/* Queue pair `qp` has work at this SL.  Nothing happens if it is queued. */
void dl_emu_sl_sched_work(struct dl_emu_sl_sched *s, uint32_t qp, unsigned int sl);

/*
 * The queue pair whose turn it is, among the SLs of the mask (those whose
 * packets the port can take now), or DL_EMU_NO_QP.  *change is set when the
 * adapter has to change from another queue pair, which costs it time (D2).
 * Asking again without a charge gives the same answer.
 */
uint32_t dl_emu_sl_sched_pick(struct dl_emu_sl_sched *s, unsigned int sls, bool *change);

/*
 * The picked queue pair has made a packet of `bytes`.  `more`: it has more to
 * send.
 */
void dl_emu_sl_sched_charge(struct dl_emu_sl_sched *s, uint32_t qp, uint32_t bytes, bool more);

#endif
