/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a packet does at every hop, at the ports of a link: see hop.c, which this is a part of.
 */
#ifndef DL_EMU_HOP_LINK_H
#define DL_EMU_HOP_LINK_H

#include "emu/node.h"

/* Inline, also where it makes a function large. */
#define HOT static inline __attribute__((always_inline))
#define APART static __attribute__((noinline))

HOT bool has_voqs(const struct dl_emu *e, enum hop_kind plain)
{
	return (!plain || plain == HOP_CHOOSY) && e->mode.voq;
}

HOT bool has_speedup(const struct dl_emu *e, enum hop_kind plain)
{
	return plain == HOP_SPEEDUP || (plain != HOP_PLAIN && e->c.speedup);
}

/* What both ends of a link know; in plain runs the compiler knows some of it, too. */
HOT struct dl_link_credit_terms terms_of(const struct dl_emu *e, enum hop_kind plain)
{
	struct dl_link_credit_terms terms = e->terms;

	terms.chunk = plain ? 1 : terms.chunk;
	return terms;
}

/* A VL as receiver; in plain runs all that is free can be promised. */
HOT struct dl_link_credit_rx *receiver(struct dl_emu_link_port *p, unsigned int vl,
				       enum hop_kind plain)
{
	struct dl_link_credit_rx *rx = &p->vl[vl].rx;

	if (plain && rx->free > DL_LINK_CREDIT_WINDOW)
		__builtin_unreachable();
	return rx;
}

APART void send_plain(struct dl_emu *e, struct dl_emu_link_port *p);
APART void send_choosy(struct dl_emu *e, struct dl_emu_link_port *p);
APART void send_speedup(struct dl_emu *e, struct dl_emu_link_port *p);
APART void send_any(struct dl_emu *e, struct dl_emu_link_port *p);

/*
 * See transmit_if_free(): there is something to send, and the link is not
 * sending a packet.
 */
HOT void send_next(struct dl_emu *e, struct dl_emu_link_port *p, enum hop_kind plain)
{
	if (plain == HOP_PLAIN)
		send_plain(e, p);
	else if (plain == HOP_CHOOSY)
		send_choosy(e, p);
	else if (plain == HOP_SPEEDUP)
		send_speedup(e, p);
	else
		send_any(e, p);
}

/* What happens at a port; of a packet that is sent, how long it has waited. */
APART void report_step(const struct dl_emu *e, const struct dl_emu_link_port *p,
		       enum dl_emu_step_kind kind, uint32_t packet, unsigned int vl,
		       uint32_t credit)
{
	uint64_t since = kind == DL_EMU_STEP_SENT ? e->packets[packet].since : e->now;

	dl_emu_report_step(e,
			   &(struct dl_emu_step){ .kind = kind,
						  .vl = vl,
						  .waited = e->now - since,
						  .credit = vl == DL_LINK_VL_SMP ? 0 : credit },
			   packet, p->number);
}

/* ---- the receiver's side ------------------------------------------------ */

/*
 * Is a flow-control packet due for the room there is?  Asked when room becomes
 * free, and when a packet arrives: what was not worth reporting may be all that
 * the sender has left then.  In plain runs there is something unsent.
 */
HOT void maybe_report(struct dl_emu *e, struct dl_emu_link_port *p, unsigned int vl,
		      enum hop_kind plain)
{
	const struct dl_link_credit_rx *rx = receiver(p, vl, plain);
	const struct dl_link_credit_terms terms = terms_of(e, plain);

	if (!plain && (!dl_link_credit_unsent(rx) || p->hold & DL_EMU_DOWN))
		return;
	p->unreported |= 1u << vl;
	if (p->fcp >> vl & 1)
		return;
	if (dl_link_credit_should_report(&terms, rx)) {
		p->fcp |= 1u << vl;
		if (!p->hold)
			send_next(e, p, plain);
		return;
	}
	if (__builtin_expect(!p->timer, 0))
		dl_emu_report_later(e, p);
}

HOT void release_room(struct dl_emu *e, struct dl_emu_link_port *p, unsigned int vl, uint32_t units,
		      enum hop_kind plain)
{
	const struct dl_link_credit_terms terms = terms_of(e, plain);

	if (__builtin_expect(vl == DL_LINK_VL_SMP, 0)) {
		p->vl[vl].rx.free++;
		return;
	}
	dl_link_credit_release(&terms, &p->vl[vl].rx, units);
	maybe_report(e, p, vl, plain);
}

/*
 * Credit is on its way to an output, where it will be `at` a time.  Most is noted there;
 * false: it takes an event.
 */
HOT bool note_credit(struct dl_emu *e, uint32_t port, unsigned int vl, unsigned int fccl,
		     enum dl_link_fcp_op op, uint64_t at, enum hop_kind plain)
{
	struct dl_emu_vl_port *o = &e->ports[port].vl[vl];

	dl_emu_see_credit(e, o);
	if ((!plain &&
	     (e->mode.timers || op || dl_emu_has_sl_table(e, dl_emu_channel(port, vl)))) ||
	    o->credit_at != DL_EMU_NEVER ||
	    (o->head != DL_EMU_NIL && !dl_link_credit_may_send(&o->tx, e->terms.largest)))
		return false;
	o->credit = fccl;
	o->credit_at = at;
	return true;
}

/* An event when the link is free. */
HOT void wake_later(struct dl_emu *e, struct dl_emu_link_port *p, enum hop_kind plain)
{
	if (has_speedup(e, plain) && p->sw != DL_EMU_NIL && p->waiting) /* is not asked yet */
		e->switches[p->sw].unpaid[p->num / 64] |= UINT64_C(1) << p->num % 64;
	if (p->wake)
		return;
	p->wake = true;
	dl_emu_soon(e, p->busy_until, DL_EMU_EV_WAKE, dl_emu_channel(p->number, 0));
}

/* The link is busy with a flow-control packet: what else there is to send waits. */
HOT void fcp_begun(struct dl_emu *e, struct dl_emu_link_port *p, enum hop_kind plain)
{
	if (p->waiting | p->fcp)
		wake_later(e, p, plain);
	else if (!plain) /* in a plain run what has waited was sent */
		dl_emu_note_nothing(e, p);
}

/*
 * The end of send_fcp() where credit was not noted: a call that is the last thing it does, so
 * that it need not save registers.
 */
APART void send_credit(struct dl_emu *e, struct dl_emu_link_port *p, unsigned int v,
		       enum dl_link_fcp_op op, uint64_t at)
{
	const struct dl_emu_vl_port *in = &p->vl[v];
	const struct dl_emu_fcp fcp = { .fccl = dl_link_credit_of(&e->terms, &in->rx),
					.fctbs = in->tx.sent,
					.sound = dl_emu_sound(e, in),
					.op = op };

	if (p->to == DL_EMU_TO_SHARD)
		dl_emu_mail_credit(e, p->peer, dl_emu_channel(p->peer, v), at, fcp);
	else
		dl_emu_expect_credit(e, dl_emu_channel(p->peer, v), fcp, at);
	fcp_begun(e, p, HOP_ANY);
}

HOT void send_fcp(struct dl_emu *e, struct dl_emu_link_port *p, enum hop_kind plain)
{
	unsigned int v = __builtin_ctz(p->fcp);
	struct dl_link_credit_rx *rx = receiver(p, v, plain);
	bool greets = !plain && p->greet >> v & 1;
	bool may_be_news = !plain || p->unreported >> v & 1;
	struct dl_link_fcp fcp = { 0 };

	p->fcp &= p->fcp - 1;
	p->unreported &= ~(1u << v);
	p->busy_until = e->now + p->fcp_time;
	p->fcps++;
	/* A number that the sender knows is left out: it changes nothing, unless one got lost. */
	if ((may_be_news && dl_link_credit_unsent(rx)) || greets || (!plain && e->mode.timers)) {
		uint64_t at = p->busy_until + p->delay + e->c.credit_latency_ps;

		dl_link_fcp_make(greets ? DL_LINK_INITIALISE : DL_LINK_ACTIVE, v, &e->terms,
				 &p->vl[v].tx, rx, &fcp);
		if (greets) {
			p->greet ^= 1u << v;
			e->totals.fcps_initialise++;
		}
		if (plain || !p->lossy || !dl_emu_loses_fcp(e, p, &fcp)) {
			if (!plain && e->numbers)
				report_step(e, p, DL_EMU_STEP_CREDIT, DL_EMU_NIL, v,
					    rx->free * e->terms.chunk);
			if (p->to == DL_EMU_TO_SHARD ||
			    !note_credit(e, p->peer, v, fcp.fccl, fcp.op, at, plain)) {
				send_credit(e, p, v, fcp.op, at);
				return;
			}
		}
	}
	fcp_begun(e, p, plain);
}

/* ---- the sender's side -------------------------------------------------- */

/* With a speedup: the first of a queue whose input can pass on one packet more, or NIL. */
HOT uint32_t first_free(const struct dl_emu *e, uint32_t packet)
{
	while (packet != DL_EMU_NIL &&
	       e->ports[dl_emu_port_of(e->packets[packet].in)].readers >= e->c.speedup)
		packet = e->packets[packet].wait_next;
	return packet;
}

/*
 * The data VLs whose first packet has credit; with a speedup, `chosen` are those packets,
 * and `*ready` the VLs that have one.
 */
HOT unsigned int sendable_vls(struct dl_emu *e, struct dl_emu_link_port *p, uint32_t *chosen,
			      unsigned int *ready, enum hop_kind plain)
{
	unsigned int able = 0;

	if (!p->waiting) /* nobody asks then */
		__builtin_unreachable();
	*ready = p->waiting;
	for (unsigned int vls = p->waiting; vls; vls &= vls - 1) {
		unsigned int v = __builtin_ctz(vls);
		struct dl_emu_vl_port *o = &p->vl[v];
		uint32_t units = o->units;

		if (has_speedup(e, plain)) {
			chosen[v] = p->adapter == DL_EMU_NIL ? first_free(e, o->head) : o->head;
			if (chosen[v] == DL_EMU_NIL) {
				*ready ^= 1u << v;
				continue;
			}
			units = e->packets[chosen[v]].units;
		}
		dl_emu_see_credit(e, o);
		able |= (unsigned int)dl_link_credit_may_send(&o->tx, units) << v;
	}
	if (__builtin_expect(able != *ready, 0))
		dl_emu_wait_for_credit(e, p, *ready & ~able);
	return able;
}

/*
 * With a speedup: an output has packets, and sends none.  What may help it?  A VL
 * all of whose inputs are busy needs one that is free; another one's first packet
 * lacks credit, and a smaller one behind it may go once the input of the first is
 * busy.
 */
HOT void note_blocked(struct dl_emu *e, const struct dl_emu_link_port *p, unsigned int ready)
{
	struct dl_emu_switch *s = &e->switches[p->sw];
	uint64_t bit = UINT64_C(1) << p->num % 64;

	s->unpaid[p->num / 64] |= ready ? bit : 0;
	s->crossed[p->num / 64] |= p->waiting & ~ready ? bit : 0;
}

/* With a speedup: an output is asked, and need not be waken for what was before. */
HOT void forget_blocked(struct dl_emu_switch *s, const struct dl_emu_link_port *p)
{
	s->unpaid[p->num / 64] &= ~(UINT64_C(1) << p->num % 64);
	s->crossed[p->num / 64] &= ~(UINT64_C(1) << p->num % 64);
}

/* With a speedup: are there outputs that may send now, beside one that is asked itself? */
HOT bool others_blocked(const struct dl_emu_switch *s, const struct dl_emu_link_port *p)
{
	uint64_t bit = UINT64_C(1) << p->num % 64, left = 0;

	if (__builtin_expect(s->nports <= 64, 1))
		return (s->unpaid[0] | (s->freed ? s->crossed[0] : 0)) & ~bit;
	for (unsigned int w = 0; w * 64 < s->nports; w++)
		left |= (s->unpaid[w] | (s->freed ? s->crossed[w] : 0)) &
			~(w == p->num / 64u ? bit : 0);
	return left;
}

/* A packet leaves its buffer, which is read until the tail has gone. */
HOT void leave_buffer(struct dl_emu *e, struct dl_emu_link_port *p, const struct dl_emu_pkt *pk,
		      enum hop_kind plain)
{
	struct dl_emu_link_port *q = &e->ports[dl_emu_port_of(pk->in)];
	unsigned int vl = dl_emu_vl_of(pk->in);

	if (__builtin_expect(pk->flags & DL_EMU_PK_COPY, 0)) {
		p->sending_what = e->origins[pk - e->packets].parent;
	} else if (!has_voqs(e, plain)) {
		q->vl[vl].in = pk->next;
		q->reading |= 1u << vl;
	}
	if (has_voqs(e, plain))
		dl_emu_voq_leave(e, pk->in, pk->out);
	if (has_speedup(e, plain))
		q->readers++;
}

/* The event at which the peer can look at the packet. */
HOT void to_peer(struct dl_emu *e, struct dl_emu_link_port *p, uint32_t packet, uint32_t far,
		 enum hop_kind plain)
{
	struct dl_emu_pkt *pk = &e->packets[packet];
	uint64_t what = (uint64_t)far << DL_EMU_EV_CHANNEL | packet, at;

	pk->since = p->busy_until + p->delay; /* tail in */
	if (p->to == DL_EMU_TO_ADAPTER) {
		dl_emu_at(e, pk->since, DL_EMU_LOG_OTHER, DL_EMU_EV_TAKE, what);
		return;
	}
	if (plain || e->mode.looks_ahead)
		pk->out = DL_EMU_NIL; /* is not known yet */
	at = plain || e->c.switching == DL_EMU_CUT_THROUGH ? e->now + p->look :
							     pk->since + e->c.switch_latency_ps;
	if (p->to == DL_EMU_TO_SWITCH) {
		if (plain || e->mode.looks_ahead)
			__builtin_prefetch(p->far_route + pk->dlid * e->routes.row);
		dl_emu_at(e, at, DL_EMU_LOG_ARRIVE, DL_EMU_EV_ARRIVE, what);
		return;
	}
	dl_emu_mail_packet(e, p->peer, far, at, packet);
}

/* A plain one is one flit, the first in its queue, on a data VL. */
HOT void send_packet(struct dl_emu *e, struct dl_emu_link_port *p, uint32_t packet, unsigned int vl,
		     enum hop_kind plain)
{
	struct dl_emu_vl_port *o = &p->vl[vl];
	struct dl_emu_pkt *pk = &e->packets[packet];
	uint32_t in = pk->in, far = dl_emu_channel(p->peer, vl);
	uint32_t hops = plain || pk->flags & DL_EMU_PK_HEAD;
	uint64_t time = dl_emu_rate_time(p->rate, pk->bytes);
	struct dl_emu_switch *s;

	if (plain == HOP_PLAIN || packet == o->head) {
		o->head = pk->wait_next;
		if (o->head == DL_EMU_NIL)
			p->waiting ^= 1u << vl;
		else
			o->units = e->packets[o->head].units;
	} else {
		dl_emu_unwait(e, packet);
	}
	if (e->now != pk->since)
		p->queued_ps += e->now - pk->since;
	o->served = e->now;
	o->packets += hops;
	o->bytes += pk->bytes;
	if (!plain && e->mode.worms)
		time = dl_emu_worm_sent(e, pk, time);
	if (plain || vl != DL_LINK_VL_SMP) {
		dl_link_credit_spend(&o->tx, pk->units);
		if (!plain && e->mode.timers)
			dl_emu_damage(e, p, pk, o);
	}
	if (!plain && e->numbers && hops)
		report_step(e, p, DL_EMU_STEP_SENT, packet, vl, dl_link_credit_balance(&o->tx));
	if (!plain && e->numbers && e->mode.worms && pk->flags & DL_EMU_PK_TAIL)
		report_step(e, p, DL_EMU_STEP_TAIL, packet, vl, dl_link_credit_balance(&o->tx));
	if (p->adapter != DL_EMU_NIL)
		dl_emu_leave_adapter(e, p, packet);
	else
		leave_buffer(e, p, pk, plain);
	if ((!plain || plain == HOP_CHOOSY) && e->marks && p->adapter == DL_EMU_NIL)
		dl_emu_mark(e, p, packet);
	p->busy_until = e->now + time;
	p->hold = DL_EMU_SENDING;
	p->sending_vl = vl;
	p->sending_units = pk->units;
	p->sending_flags = pk->flags;
	pk->flags &= ~(DL_EMU_PK_WAITING | DL_EMU_PK_COPY);
	pk->in = far;
	pk->next = DL_EMU_NIL;
	if (!plain) /* in a plain run no link has failed */
		pk->epoch = p->epoch;
	p->busy_ps += time;
	e->totals.packet_hops += hops;
	dl_emu_at(e, p->busy_until, DL_EMU_LOG_TAIL, DL_EMU_EV_TAIL,
		  (uint64_t)dl_emu_channel(p->number, 0) << DL_EMU_EV_CHANNEL | in);
	to_peer(e, p, packet, far, plain);
	if (has_speedup(e, plain) && p->adapter == DL_EMU_NIL) {
		s = &e->switches[p->sw];
		forget_blocked(s, p);
		if (s->freed && e->ports[s->freed - 1].readers >= e->c.speedup)
			s->freed = 0; /* it is busy again */
		/* Packets of an input that is busy now let others of their queues pass. */
		if (others_blocked(s, p))
			dl_emu_wake_outputs(e, s);
	}
}

/* The arbiter has the choice. */
HOT void send_data(struct dl_emu *e, struct dl_emu_link_port *p, enum hop_kind plain)
{
	uint32_t chosen[DL_EMU_VLS], packet, data;
	bool choosy = (!plain || plain == HOP_CHOOSY) && e->mode.choosy;
	bool quick = !choosy || (plain && has_speedup(e, plain) && !p->sl_turn.table);
	bool heads = quick && !has_speedup(e, plain);
	unsigned int able, ready;
	struct dl_link_pick pick;

	able = quick ? sendable_vls(e, p, chosen, &ready, plain) :
		       dl_emu_choose(e, p, chosen, &ready);
	if (!plain && p->unheard) /* the link is not active yet */
		able = 0;
	if (dl_link_arbiter_pick_data(&p->arb, able, &pick) == DL_LINK_NOTHING) {
		dl_emu_note_starved(e, p);
		if (has_speedup(e, plain) && p->sw != DL_EMU_NIL)
			note_blocked(e, p, ready);
		return;
	}
	dl_emu_note_idle(e, p);
	packet = heads ? p->vl[pick.vl].head : chosen[pick.vl];
	dl_link_arbiter_charge(&p->arb, &pick, e->packets[packet].bytes - DL_LINK_VCRC, NULL);
	if (choosy && p->sl_turn.table) {
		data = e->mode.worms ? e->packets[packet].bytes : e->origins[packet].data;
		dl_emu_sl_turn_charge(&p->sl_turn, data + !data); /* a turn ends */
	}
	send_packet(e, p, packet, pick.vl, plain);
}

APART void send_smp(struct dl_emu *e, struct dl_emu_link_port *p)
{
	send_packet(e, p, p->vl[DL_LINK_VL_SMP].head, DL_LINK_VL_SMP, HOP_ANY);
}

APART void send_after_deadline(struct dl_emu *e, struct dl_emu_link_port *p)
{
	dl_emu_pass_deadline(e, p, e->now == p->fcp_due);
	send_next(e, p, e->mode.plain);
}

/*
 * Management packets come first, flow-control packets second (dl_link_arbiter_pick()).
 * What is sent is a function each (SEND_OF), so that none saves registers for another.
 */
HOT void send_first(struct dl_emu *e, struct dl_emu_link_port *p, enum hop_kind plain,
		    void (*fcp)(struct dl_emu *e, struct dl_emu_link_port *p),
		    void (*data)(struct dl_emu *e, struct dl_emu_link_port *p))
{
	if (e->now != p->busy_until) {
		if (__builtin_expect(e->now < p->busy_until, 0)) {
			wake_later(e, p, plain);
			return;
		}
		dl_link_arbiter_idle(&p->arb);
	}
	if (__builtin_expect(e->now >= p->fcp_due, 0))
		send_after_deadline(e, p);
	else if (__builtin_expect(p->waiting >> DL_LINK_VL_SMP & 1, 0))
		send_smp(e, p);
	else if (p->fcp)
		fcp(e, p);
	else
		data(e, p);
}

#define SEND_OF(name, plain)                                                      \
	APART void send_fcp_##name(struct dl_emu *e, struct dl_emu_link_port *p)  \
	{                                                                         \
		send_fcp(e, p, plain);                                            \
	}                                                                         \
	APART void send_data_##name(struct dl_emu *e, struct dl_emu_link_port *p) \
	{                                                                         \
		send_data(e, p, plain);                                           \
	}                                                                         \
	APART void send_##name(struct dl_emu *e, struct dl_emu_link_port *p)      \
	{                                                                         \
		send_first(e, p, plain, send_fcp_##name, send_data_##name);       \
	}

SEND_OF(plain, HOP_PLAIN)
SEND_OF(choosy, HOP_CHOOSY)
SEND_OF(speedup, HOP_SPEEDUP)
SEND_OF(any, HOP_ANY)

#endif
