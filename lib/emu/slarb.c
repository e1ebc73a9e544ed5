/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The channel adapter's scheduler (rules part D).
 *
 * Problem.  Thousands of queue pairs share a port.  The SL arbitration table
 * divides the port among service levels, independently of the VL arbitration
 * behind it.  Within a service level tenure lets a queue pair keep its turn
 * for some bytes, because fetching another one's context costs time.
 *
 * Table.  A circle of entries (SL, bytes).  Only the SL of the entry pointed
 * to makes packets, until its bytes are used up; the last packet may overdraw
 * them.  An SL that can send nothing, for want of work, room or credit, is passed
 * over.  An entry that is left starts afresh at its next visit.  If no SL can
 * send, the pointer stays.
 *
 * Queue pairs.  Those with work stand in one queue per SL, in which the head
 * has the turn.  It goes to the end when its tenure is used up and out when it
 * has nothing to send.  Its tenure waits for it while the table is elsewhere.
 *
 * Without a table one queue over all SLs would do, but for SLs that the port
 * cannot take at the moment.  So there are still 16 queues; each queue pair
 * draws a ticket when it lines up, and the lowest ticket among the heads wins.
 * That is round robin, in turns of the tenure.
 *
 * Complexity.  O(1) for queue pairs; the table is walked entry by entry, which
 * mostly ends at the first.  No memory is allocated.
 */
#include "config.h"

#include <string.h>

#include "emu/slarb.h"

void dl_emu_sl_sched_init(struct dl_emu_sl_sched *s, const struct dl_emu_sl_table *table,
			  uint32_t tenure, struct dl_emu_sl_qp *qps)
{
	*s = (struct dl_emu_sl_sched){
		.turn.table = table,
		.qps = qps,
		.tenure = tenure,
		.current = DL_EMU_NO_QP,
	};
}

/* ---- the queues -------------------------------------------------------- */

static void line_up(struct dl_emu_sl_sched *s, uint32_t qp, unsigned int sl)
{
	struct dl_emu_sl_qp *q = &s->qps[qp];

	q->ticket = s->ticket++;
	q->next = DL_EMU_NO_QP;
	q->sl = sl;
	q->queued = true;
	if (s->ready >> sl & 1) {
		s->qps[s->queue[sl].tail].next = qp;
	} else {
		s->queue[sl].head = qp;
		s->queue[sl].tenure_left = s->tenure;
		s->ready |= 1u << sl;
	}
	s->queue[sl].tail = qp;
}

static void step_down(struct dl_emu_sl_sched *s, unsigned int sl)
{
	struct dl_emu_sl_qp *q = &s->qps[s->queue[sl].head];

	q->queued = false;
	s->queue[sl].tenure_left = s->tenure;
	if (q->next == DL_EMU_NO_QP)
		s->ready &= ~(1u << sl);
	else
		s->queue[sl].head = q->next;
}

void dl_emu_sl_sched_work(struct dl_emu_sl_sched *s, uint32_t qp, unsigned int sl)
{
	if (!s->qps[qp].queued)
		line_up(s, qp, sl);
}

/* ---- the decision ------------------------------------------------------ */

unsigned int dl_emu_sl_table_sls(const struct dl_emu_sl_table *t)
{
	unsigned int sls = 0;

	for (uint32_t i = 0; t && i < t->n; i++)
		sls |= (unsigned int)(t->entry[i].weight != 0) << t->entry[i].sl;
	return sls;
}

/* The first entry from one on whose SL is in the mask, or n. */
static unsigned int next_entry(const struct dl_emu_sl_table *t, unsigned int from, unsigned int sls)
{
	unsigned int e = from;

	for (unsigned int walked = 0; walked < t->n; walked++) {
		if (t->entry[e].weight && sls >> t->entry[e].sl & 1)
			return e;
		e = e + 1 < t->n ? e + 1 : 0;
	}
	return t->n;
}

unsigned int dl_emu_sl_turn_pick(struct dl_emu_sl_turn *turn, unsigned int able)
{
	const struct dl_emu_sl_table *t = turn->table;
	unsigned int e = next_entry(t, turn->at, able);

	if (e == t->n)
		return DL_EMU_SLS;
	if (e != turn->at || !turn->live)
		turn->left = t->entry[e].weight < INT32_MAX ? t->entry[e].weight : INT32_MAX;
	turn->at = e;
	turn->live = true;
	return t->entry[e].sl;
}

void dl_emu_sl_turn_charge(struct dl_emu_sl_turn *turn, uint32_t bytes)
{
	turn->left -= bytes;
	if (turn->left > 0)
		return;
	turn->live = false;
	turn->at = turn->at + 1 < turn->table->n ? turn->at + 1 : 0;
}

static unsigned int sl_by_ticket(const struct dl_emu_sl_sched *s, unsigned int sls)
{
	unsigned int best = DL_EMU_SLS;

	for (; sls; sls &= sls - 1) {
		unsigned int sl = __builtin_ctz(sls);

		if (best == DL_EMU_SLS ||
		    s->qps[s->queue[sl].head].ticket < s->qps[s->queue[best].head].ticket)
			best = sl;
	}
	return best;
}

uint32_t dl_emu_sl_sched_pick(struct dl_emu_sl_sched *s, unsigned int sls, bool *change)
{
	unsigned int sl;

	sls &= s->ready;
	if (!sls)
		return DL_EMU_NO_QP;
	sl = s->turn.table ? dl_emu_sl_turn_pick(&s->turn, sls) : sl_by_ticket(s, sls);
	if (sl == DL_EMU_SLS)
		return DL_EMU_NO_QP;
	*change = s->queue[sl].head != s->current;
	return s->queue[sl].head;
}

void dl_emu_sl_sched_charge(struct dl_emu_sl_sched *s, uint32_t qp, uint32_t bytes, bool more)
{
	unsigned int sl = s->qps[qp].sl;

	s->current = qp;
	if (s->turn.table)
		dl_emu_sl_turn_charge(&s->turn, bytes);
	s->queue[sl].tenure_left -= bytes;
	if (more && s->queue[sl].tenure_left > 0)
		return;
	step_down(s, sl);
	if (more)
		line_up(s, qp, sl);
}
