/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How a channel adapter chooses the queue pair that makes the next packet:
 * an SL arbitration table, and tenure within an SL (SPEC part D).
 *
 * The table is read-only and shared.  A `struct dl_sl_sched` is one port's
 * state; the queue pairs are an array of the caller's, one place each, so
 * that nothing is allocated here.
 */
#ifndef DL_SLARB_H
#define DL_SLARB_H

#include <stdbool.h>
#include <stdint.h>

#define DL_SLS 16
#define DL_SL_ENTRIES_MIN 16
#define DL_SL_ENTRIES_MAX 256
#define DL_NO_QP UINT32_MAX

struct dl_sl_entry {
	uint8_t sl;		/* 0..15 */
	uint32_t weight;	/* bytes in a turn; 0: the entry is passed over */
};

struct dl_sl_table {
	struct dl_sl_entry entry[DL_SL_ENTRIES_MAX];
	uint16_t n;		/* 16 or more; 64 is usual */
};

/* One queue pair's place in the queues; private. */
struct dl_sl_qp {
	uint64_t ticket;	/* order of queueing */
	uint32_t next;
	uint8_t sl;
	bool queued;
};

struct dl_sl_sched {
	const struct dl_sl_table *table;	/* NULL: plain round robin */
	struct dl_sl_qp *qps;
	uint64_t ticket;
	uint32_t tenure;		/* bytes of a queue pair's turn */
	uint32_t current;		/* the queue pair served last */
	int64_t left;			/* bytes of the entry, while `live` */
	uint16_t at;			/* the entry pointed to */
	uint16_t ready;			/* SLs with queued queue pairs */
	bool live;
	uint32_t head[DL_SLS], tail[DL_SLS];	/* head: whose turn it is */
	int64_t tenure_left[DL_SLS];		/* of the head */
};

/*
 * Is the table usable: 16 to 256 entries, SLs up to 15, and every SL of the
 * mask in at least one entry that has weight?  Returns 0; -EINVAL; -ENOENT
 * with *missing (may be NULL) the lowest SL that no entry serves.
 */
int dl_sl_table_check(const struct dl_sl_table *t, unsigned int sls_in_use,
		      unsigned int *missing);

/*
 * A table of `n` entries (16 to 256) in which the SLs of a mask (all 16 for
 * an empty one) take turns, with the same weight.
 */
void dl_sl_table_even(struct dl_sl_table *t, unsigned int sls, unsigned int n,
		      uint32_t weight);

/*
 * A port without work.  `table` NULL switches the SL table off: queue pairs
 * then take turns packet by packet (D3).  `tenure` 0 means one packet, too.
 * `qps` has a place for each queue pair and need not be initialised beyond
 * zeroes; both are borrowed.
 */
void dl_sl_sched_init(struct dl_sl_sched *s, const struct dl_sl_table *table,
		      uint32_t tenure, struct dl_sl_qp *qps);

/* Queue pair `qp` has work at this SL.  Nothing happens if it is queued. */
void dl_sl_sched_work(struct dl_sl_sched *s, uint32_t qp, unsigned int sl);

/*
 * The queue pair whose turn it is, among the SLs of the mask (those whose
 * packets the port can take now), or DL_NO_QP.  *change is set when the
 * adapter has to change from another queue pair, which costs it time (D2).
 * Asking again without a charge gives the same answer.
 */
uint32_t dl_sl_sched_pick(struct dl_sl_sched *s, unsigned int sls,
			  bool *change);

/*
 * The picked queue pair has made a packet of `bytes`.  `more`: it has more to
 * send.
 */
void dl_sl_sched_charge(struct dl_sl_sched *s, uint32_t qp, uint32_t bytes,
			bool more);

#endif
