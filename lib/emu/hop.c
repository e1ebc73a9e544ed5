/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a packet does at every hop: it arrives, asks for its output, is sent,
 * and its tail leaves; and the flow-control packets for it.
 *
 * Problem.  A run is billions of hops, all else is rare.  So what every hop
 * goes through stands here in one piece for the compiler, and what few do in
 * functions of its own elsewhere: a link's other cases in transmit.c, a
 * switch's in forward.c.
 *
 *	ARRIVE	store_packet() .. ask_output()     dl_emu_send_next() if the link is free
 *	TAIL	room is free .. maybe_report(); the next of the buffer .. ask_output();
 *		the next of the link .. send_next()
 *
 * For example, a packet of 2074 bytes crosses a switch: at 0 the port sends
 * its first bit, and events are made for its tail, at 518.5 ns with a quarter
 * of a nanosecond a byte, and for its arrival, at 10 ns of cable, 2 ns of
 * header and 100 ns of the switch: 112 ns.  Then it is stored, is the head of
 * its buffer, asks for its output, which is free, and its first bit goes on.
 *
 * Three copies.  Most runs are plain: cut-through, links of one rate, none of
 * which has failed or loses anything, unchanged tables, a speedup without
 * limit, buffers that are first in, first out and can be promised as a whole, no
 * lifetime limit.  HOP_CHOOSY is the same but for the speedup, virtual output
 * queues and congestion control.  All functions here take that as a constant, `plain`, and are compiled
 * for each; a test compares them.
 *
 * Complexity: O(1) a hop; O(VLs that wait) for each choice.
 */
#include "config.h"

#include "emu/hop.h"

/* Inline, also where it makes a function large. */
#define HOT static inline __attribute__((always_inline))
#define APART static __attribute__((noinline))

enum hop_kind { HOP_ANY, HOP_PLAIN, HOP_CHOOSY };

unsigned int dl_emu_is_plain(const struct dl_emu *e)
{
	if (!e->mode.looks_ahead || e->mode.timers || e->c.hoq_life_ps || e->numbers ||
	    e->entered || e->c.switching != DL_EMU_CUT_THROUGH ||
	    e->c.buffer > DL_LINK_CREDIT_WINDOW || e->c.chunk > 1 || e->c.sl_table)
		return HOP_ANY;
	return e->mode.choosy || e->mode.voq || e->marks ? HOP_CHOOSY : HOP_PLAIN;
}

HOT bool has_voqs(const struct dl_emu *e, enum hop_kind plain)
{
	return plain != HOP_PLAIN && e->mode.voq;
}

HOT bool has_speedup(const struct dl_emu *e, enum hop_kind plain)
{
	return plain != HOP_PLAIN && e->c.speedup;
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
 * the sender has left then.
 */
HOT void maybe_report(struct dl_emu *e, struct dl_emu_link_port *p, unsigned int vl,
		      enum hop_kind plain)
{
	const struct dl_link_credit_rx *rx = receiver(p, vl, plain);
	const struct dl_link_credit_terms terms = terms_of(e, plain);

	if (!dl_link_credit_unsent(rx) || (!plain && p->hold & DL_EMU_DOWN))
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

static void release_any(struct dl_emu *e, uint32_t in, uint32_t units)
{
	release_room(e, &e->ports[dl_emu_port_of(in)], dl_emu_vl_of(in), units, e->mode.plain);
}

static void report_any(struct dl_emu *e, struct dl_emu_link_port *p, unsigned int vl)
{
	maybe_report(e, p, vl, e->mode.plain);
}

/* Credit is on its way to an output, where it will be `at` a time. */
HOT void deliver_credit(struct dl_emu *e, uint32_t port, unsigned int vl, struct dl_emu_fcp fcp,
			uint64_t at, enum hop_kind plain)
{
	uint32_t channel = dl_emu_channel(port, vl);
	struct dl_emu_vl_port *o = &e->ports[port].vl[vl];

	dl_emu_see_credit(e, o);
	if ((!plain && (e->mode.timers || fcp.op || dl_emu_has_sl_table(e, channel))) ||
	    o->credit_at != DL_EMU_NEVER ||
	    (o->head != DL_EMU_NIL && !dl_link_credit_may_send(&o->tx, e->terms.largest))) {
		dl_emu_expect_credit(e, channel, fcp, at);
		return;
	}
	o->credit = fcp.fccl;
	o->credit_at = at;
}

void dl_emu_deliver_credit(struct dl_emu *e, uint32_t channel, struct dl_emu_fcp fcp, uint64_t at)
{
	deliver_credit(e, dl_emu_port_of(channel), dl_emu_vl_of(channel), fcp, at, HOP_ANY);
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

APART void wake_plain(struct dl_emu *e, struct dl_emu_link_port *p)
{
	wake_later(e, p, HOP_PLAIN);
}

APART void wake_any(struct dl_emu *e, struct dl_emu_link_port *p)
{
	wake_later(e, p, HOP_ANY);
}

/* The last thing that a function does. */
HOT void wake_at_end(struct dl_emu *e, struct dl_emu_link_port *p, enum hop_kind plain)
{
	if (plain == HOP_PLAIN)
		wake_plain(e, p);
	else
		wake_any(e, p);
}

/* The sender is to know what room there is; a number that it knows is left out. */
HOT void advertise(struct dl_emu *e, struct dl_emu_link_port *p, unsigned int v, bool may_be_news,
		   enum hop_kind plain)
{
	struct dl_emu_vl_port *in = &p->vl[v];
	struct dl_link_credit_rx *rx = receiver(p, v, plain);
	bool news = may_be_news && dl_link_credit_unsent(rx), greets = !plain && p->greet >> v & 1;
	struct dl_link_fcp fcp = { 0 };
	struct dl_emu_fcp carried;
	uint64_t at = p->busy_until + p->delay + e->c.credit_latency_ps;

	/* It changes nothing, unless one got lost. */
	if (!news && !greets && (plain || !e->mode.timers))
		return;
	dl_link_fcp_make(greets ? DL_LINK_INITIALISE : DL_LINK_ACTIVE, v, &e->terms, &in->tx, rx,
			 &fcp);
	if (greets) {
		p->greet ^= 1u << v;
		e->totals.fcps_initialise++;
	}
	if (!plain && p->lossy && dl_emu_loses_fcp(e, p, &fcp))
		return;
	carried = (struct dl_emu_fcp){ fcp.fccl, fcp.fctbs, plain ? fcp.fctbs : dl_emu_sound(e, in),
				       fcp.op };
	if (!plain && e->numbers)
		report_step(e, p, DL_EMU_STEP_CREDIT, DL_EMU_NIL, v, in->rx.free * e->terms.chunk);
	if (p->to == DL_EMU_TO_SHARD)
		dl_emu_mail_credit(e, p->peer, dl_emu_channel(p->peer, v), at, carried);
	else
		deliver_credit(e, p->peer, v, carried, at, plain);
}

HOT void send_fcp(struct dl_emu *e, struct dl_emu_link_port *p, enum hop_kind plain)
{
	unsigned int v = __builtin_ctz(p->fcp), bit = p->fcp & -p->fcp;
	bool may_be_news = !plain || p->unreported & bit;

	p->fcp ^= bit;
	p->unreported &= ~bit;
	p->busy_until = e->now + p->fcp_time;
	e->totals.fcps++;
	p->fcps++;
	advertise(e, p, v, may_be_news, plain);
	if (p->waiting | p->fcp)
		wake_at_end(e, p, plain);
	else if (!plain)
		dl_emu_note_nothing(e, p);
}

/* ---- the sender's side -------------------------------------------------- */

/* With a speedup: an input that passes on as many packets as it can. */
HOT bool is_busy(const struct dl_emu *e, uint32_t packet)
{
	return e->ports[dl_emu_port_of(e->packets[packet].in)].readers >= e->c.speedup;
}

/* The data VLs whose first packet has credit.  `busy`: with a speedup, is its input busy? */
HOT unsigned int sendable_vls(struct dl_emu *e, struct dl_emu_link_port *p, bool *busy,
			      enum hop_kind plain)
{
	bool ask = has_speedup(e, plain) && p->adapter == DL_EMU_NIL;
	unsigned int able = 0;

	for (unsigned int vls = p->waiting; vls; vls &= vls - 1) {
		unsigned int v = __builtin_ctz(vls);
		struct dl_emu_vl_port *o = &p->vl[v];

		*busy |= ask && is_busy(e, o->head);
		dl_emu_see_credit(e, o);
		able |= (unsigned int)dl_link_credit_may_send(&o->tx, o->units) << v;
	}
	if (__builtin_expect(able != p->waiting, 0) && !*busy)
		dl_emu_wait_for_credit(e, p, p->waiting & ~able);
	return able;
}

/* With a speedup: an output is asked, and need not be waken for what was before. */
HOT void forget_blocked(struct dl_emu_switch *s, const struct dl_emu_link_port *p)
{
	s->unpaid[p->num / 64] &= ~(UINT64_C(1) << p->num % 64);
	s->crossed[p->num / 64] &= ~(UINT64_C(1) << p->num % 64);
}

/* With a speedup: are there outputs that may send now, beside one that is asked itself? */
HOT bool others_blocked(const struct dl_emu_switch *s, const struct dl_emu_link_port *p, bool freed)
{
	uint64_t bit = UINT64_C(1) << p->num % 64, left = 0;

	for (unsigned int w = 0; w * 64 < s->nports; w++)
		left |= (s->unpaid[w] | (freed ? s->crossed[w] : 0)) &
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
		dl_emu_at(e, pk->since, DL_EMU_LOG_TAKE, DL_EMU_EV_TAKE, what);
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
		bool last = pk->wait_next == DL_EMU_NIL;

		o->head = pk->wait_next;
		o->units = e->packets[last ? packet : pk->wait_next].units;
		p->waiting ^= (unsigned int)last << vl;
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
	if (plain != HOP_PLAIN && e->marks && p->adapter == DL_EMU_NIL)
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
		/* Packets of an input that is busy now let others of their queues pass. */
		if (others_blocked(s, p, s->freed))
			dl_emu_wake_outputs(e, s);
	}
}

/* The arbiter has the choice. */
HOT void send_data(struct dl_emu *e, struct dl_emu_link_port *p, enum hop_kind plain)
{
	uint32_t chosen[DL_EMU_VLS], packet;
	bool choosy = plain != HOP_PLAIN && e->mode.choosy, busy = false;
	/* Mostly the first packets of its queues may go. */
	bool heads = !choosy || (plain == HOP_CHOOSY && has_speedup(e, plain) && !p->sl_turn.table);
	unsigned int able = heads ? sendable_vls(e, p, &busy, plain) : 0;
	struct dl_link_pick pick;

	if (!heads || busy) {
		heads = false;
		able = dl_emu_choose(e, p, chosen);
	}
	if (!plain && p->unheard) /* the link is not active yet */
		able = 0;
	if (dl_link_arbiter_pick_data(&p->arb, able, &pick) == DL_LINK_NOTHING) {
		dl_emu_note_starved(e, p);
		if (has_speedup(e, plain) && p->sw != DL_EMU_NIL)
			dl_emu_note_blocked(e, p, heads ? NULL : chosen);
		return;
	}
	dl_emu_note_idle(e, p);
	packet = heads ? p->vl[pick.vl].head : chosen[pick.vl];
	dl_link_arbiter_charge(&p->arb, &pick, e->packets[packet].bytes - DL_LINK_VCRC, NULL);
	if (choosy && p->sl_turn.table)
		dl_emu_sl_turn_charge(&p->sl_turn, e->mode.worms ? e->packets[packet].bytes :
								   e->origins[packet].data);
	send_packet(e, p, packet, pick.vl, plain);
}

APART void send_smp(struct dl_emu *e, struct dl_emu_link_port *p)
{
	send_packet(e, p, p->vl[DL_LINK_VL_SMP].head, DL_LINK_VL_SMP, HOP_ANY);
}

APART void send_fcp_plain(struct dl_emu *e, struct dl_emu_link_port *p)
{
	send_fcp(e, p, HOP_PLAIN);
}

APART void send_data_plain(struct dl_emu *e, struct dl_emu_link_port *p)
{
	send_data(e, p, HOP_PLAIN);
}

APART void send_after_deadline(struct dl_emu *e, struct dl_emu_link_port *p)
{
	dl_emu_pass_deadline(e, p, e->now == p->fcp_due);
	send_next(e, p, e->mode.plain);
}

APART void send_fcp_choosy(struct dl_emu *e, struct dl_emu_link_port *p)
{
	send_fcp(e, p, HOP_CHOOSY);
}

APART void send_data_choosy(struct dl_emu *e, struct dl_emu_link_port *p)
{
	send_data(e, p, HOP_CHOOSY);
}

APART void send_fcp_any(struct dl_emu *e, struct dl_emu_link_port *p)
{
	send_fcp(e, p, HOP_ANY);
}

APART void send_data_any(struct dl_emu *e, struct dl_emu_link_port *p)
{
	send_data(e, p, HOP_ANY);
}

/*
 * Management packets come first, flow-control packets second (dl_link_arbiter_first()).
 * What is sent is a function each, so that none saves registers for another.
 */
HOT void send_first(struct dl_emu *e, struct dl_emu_link_port *p, enum hop_kind plain,
		    void (*fcp)(struct dl_emu *e, struct dl_emu_link_port *p),
		    void (*data)(struct dl_emu *e, struct dl_emu_link_port *p))
{
	if (__builtin_expect(e->now < p->busy_until, 0)) {
		wake_at_end(e, p, plain);
		return;
	}
	if (e->now > p->busy_until)
		dl_link_arbiter_idle(&p->arb);
	if (__builtin_expect(e->now >= p->fcp_due, 0))
		send_after_deadline(e, p);
	else if (__builtin_expect(p->waiting >> DL_LINK_VL_SMP & 1, 0))
		send_smp(e, p);
	else if (p->fcp)
		fcp(e, p);
	else
		data(e, p);
}

APART void send_plain(struct dl_emu *e, struct dl_emu_link_port *p)
{
	send_first(e, p, HOP_PLAIN, send_fcp_plain, send_data_plain);
}

APART void send_choosy(struct dl_emu *e, struct dl_emu_link_port *p)
{
	send_first(e, p, HOP_CHOOSY, send_fcp_choosy, send_data_choosy);
}

APART void send_any(struct dl_emu *e, struct dl_emu_link_port *p)
{
	send_first(e, p, HOP_ANY, send_fcp_any, send_data_any);
}

/* ---- a switch's buffers ------------------------------------------------- */

HOT void ask_output(struct dl_emu *e, uint32_t packet, uint32_t out, enum hop_kind plain)
{
	struct dl_emu_link_port *p = &e->ports[dl_emu_port_of(out)];

	dl_emu_wait_for(e, packet, out);
	if (!plain && (e->c.hoq_life_ps || e->entered))
		dl_emu_limit_wait(e, packet, out);
	if (!p->hold)
		send_next(e, p, plain);
}

static void ask_any(struct dl_emu *e, uint32_t packet, uint32_t out)
{
	ask_output(e, packet, out, e->mode.plain);
}

/* Let the head of a buffer ask for its output, which mostly is known. */
HOT void head_asks(struct dl_emu *e, const struct dl_emu_link_port *q, uint32_t in,
		   enum hop_kind plain)
{
	uint32_t packet = q->vl[dl_emu_vl_of(in)].in;
	const struct dl_emu_pkt *pk = &e->packets[packet];

	if ((plain || e->mode.looks_ahead) && pk->out == DL_EMU_NIL)
		dl_emu_find_way(e, in, packet);
	if ((plain || e->mode.looks_ahead) && pk->out != DL_EMU_NIL &&
	    !(pk->flags & DL_EMU_PK_WAITING))
		ask_output(e, packet, pk->out, plain);
	else
		dl_emu_look(e, in);
}

/* A packet comes into the buffer of a switch. */
HOT void store_packet(struct dl_emu *e, struct dl_emu_link_port *q, uint32_t in, uint32_t packet,
		      enum hop_kind plain)
{
	unsigned int vl = dl_emu_vl_of(in);
	struct dl_emu_vl_port *i = &q->vl[vl];
	bool first = i->in == DL_EMU_NIL;

	if (has_voqs(e, plain)) {
		dl_emu_voq_store(e, in, packet);
		return;
	}
	*(first ? &i->in : &e->packets[i->in_tail].next) = packet;
	i->in_tail = packet;
	if (!plain && e->mode.worms)
		e->worm[in].open = !(e->packets[packet].flags & DL_EMU_PK_TAIL);
	if (first && !(q->reading >> vl & 1))
		head_asks(e, q, in, plain);
}

/* A packet has arrived: enter it in the books, unless it is lost. */
HOT bool enter_books(struct dl_emu *e, struct dl_emu_link_port *q, uint32_t in, uint32_t packet,
		     enum hop_kind plain)
{
	const struct dl_emu_pkt *pk = &e->packets[packet];
	struct dl_emu_vl_port *i = &q->vl[dl_emu_vl_of(in)];
	const struct dl_link_credit_terms terms = terms_of(e, plain);
	bool odd = !plain && (pk->flags & DL_EMU_PK_LOST || pk->epoch != q->epoch);

	if (__builtin_expect(odd || !dl_emu_is_data(in), 0)) {
		if (!dl_emu_came_through(e, in, packet))
			return false;
		if (!dl_emu_is_data(in)) {
			if (e->numbers)
				report_step(e, q, DL_EMU_STEP_ARRIVED, packet, DL_LINK_VL_SMP, 0);
			return true;
		}
	}
	if (dl_broken(e->log, dl_link_credit_receive(&terms, &i->rx, pk->units)))
		e->err = -EPROTO;
	if (!plain && e->mode.timers)
		i->entered += pk->units;
	if (!plain && e->numbers && pk->flags & DL_EMU_PK_HEAD)
		report_step(e, q, DL_EMU_STEP_ARRIVED, packet, dl_emu_vl_of(in),
			    i->rx.free * e->terms.chunk);
	/* Credit was advertised when the room became free: the sender may need it now. */
	if (plain && dl_link_credit_suffices(&terms, &i->rx))
		return true;
	maybe_report(e, q, dl_emu_vl_of(in), plain);
	return true;
}

/* At a switch. */
HOT void arrive_at_switch(struct dl_emu *e, uint32_t in, uint32_t packet, enum hop_kind plain)
{
	struct dl_emu_link_port *q = &e->ports[dl_emu_port_of(in)];

	if (!plain && e->entered)
		e->entered[packet] = e->packets[packet].since;
	if (enter_books(e, q, in, packet, plain))
		store_packet(e, q, in, packet, plain);
}

/* At an adapter. */
HOT void arrive_at_adapter(struct dl_emu *e, uint32_t in, uint32_t packet, enum hop_kind plain)
{
	struct dl_emu_link_port *q = &e->ports[dl_emu_port_of(in)];

	if (!enter_books(e, q, in, packet, plain))
		return;
	if (!plain && e->mode.worms)
		e->worm[in].open = !(e->packets[packet].flags & DL_EMU_PK_TAIL);
	dl_emu_receive(e, packet);
}

void dl_emu_enter(struct dl_emu *e, uint32_t packet)
{
	uint32_t in = e->packets[packet].in;
	struct dl_emu_link_port *q = &e->ports[dl_emu_port_of(in)];

	if (q->sw != DL_EMU_NIL) {
		if (e->entered)
			e->entered[packet] = e->now;
		store_packet(e, q, in, packet, HOP_ANY);
		return;
	}
	e->worm[in].open = false;
	dl_emu_receive(e, packet);
}

HOT void transmit_if_free(struct dl_emu *e, struct dl_emu_link_port *p, enum hop_kind plain)
{
	if (p->waiting | p->fcp) {
		if (!p->hold) /* else the tail's event comes */
			send_next(e, p, plain);
	} else if (!plain) { /* in a plain run what has waited was sent */
		dl_emu_note_nothing(e, p);
	}
}

/* Does a port have something to send, and is its link free?  Then send. */
static void transmit_any(struct dl_emu *e, struct dl_emu_link_port *p)
{
	transmit_if_free(e, p, e->mode.plain);
}

/* A link is free again. */
HOT void wake_port(struct dl_emu *e, uint32_t port, enum hop_kind plain)
{
	e->ports[port].wake = false;
	transmit_if_free(e, &e->ports[port], plain);
}

/* The last bit of what a port was sending has left. */
HOT void tail_sent(struct dl_emu *e, uint32_t port, uint32_t in, enum hop_kind plain)
{
	struct dl_emu_link_port *p = &e->ports[port], *q;
	unsigned int vl = dl_emu_vl_of(in);
	struct dl_emu_switch *s = NULL;

	p->hold &= ~DL_EMU_SENDING;
	if (p->adapter != DL_EMU_NIL) {
		dl_emu_left_adapter(e, p);
		transmit_if_free(e, p, plain);
		return;
	}
	q = &e->ports[dl_emu_port_of(in)];
	if (has_speedup(e, plain)) {
		q->readers--;
		s = &e->switches[q->sw];
		s->freed = q->number + 1;
		if (p->waiting) /* in the order of ports, with others */
			s->unpaid[p->num / 64] |= UINT64_C(1) << p->num % 64;
	}
	if (__builtin_expect(p->sending_flags & DL_EMU_PK_COPY, 0)) {
		dl_emu_copy_gone(e, p->sending_what);
	} else {
		q->reading &= ~(1u << vl);
		release_room(e, q, vl, p->sending_units, plain);
		if (q->vl[vl].in != DL_EMU_NIL && !(q->reading >> vl & 1) && !has_voqs(e, plain))
			head_asks(e, q, in, plain);
	}
	if (has_voqs(e, plain))
		dl_emu_voq_sent(e, in, dl_emu_channel(port, p->sending_vl));
	if (has_speedup(e, plain)) {
		if (others_blocked(s, p, true))
			dl_emu_wake_outputs(e, s);
		else if (e->now >= p->busy_until)
			forget_blocked(s, p);
		s->freed = 0;
	}
	transmit_if_free(e, p, plain);
}

/* ---- events ------------------------------------------------------------- */

/* What is rarer than tails and arrivals. */
APART void dispatch_rare(struct dl_emu *e, enum dl_emu_event_kind kind, uint64_t what)
{
	uint32_t channel = dl_emu_event_channel(what), packet = what & DL_EMU_EV_PACKET;

	switch (kind) {
	case DL_EMU_EV_CREDIT:
		dl_emu_credit(e, channel, packet);
		if (dl_emu_has_sl_table(e, channel))
			dl_emu_send_more(e,
					 &e->adapters[e->ports[dl_emu_port_of(channel)].adapter]);
		break;
	case DL_EMU_EV_READY:
		dl_emu_ready(e, channel, packet);
		break;
	case DL_EMU_EV_MESSAGE:
		dl_emu_message(e, what);
		break;
	case DL_EMU_EV_DUE:
		e->source.due(e->source.program, e, what);
		break;
	case DL_EMU_EV_QP_SWITCHED:
		dl_emu_qp_switched(e, packet);
		break;
	case DL_EMU_EV_RECEIVE_DONE:
		dl_emu_receive_done(e, packet);
		break;
	case DL_EMU_EV_HOQ:
		dl_emu_expire(e, channel, packet);
		break;
	case DL_EMU_EV_DEADLINE:
		dl_emu_deadline(e, dl_emu_port_of(channel));
		break;
	default: /* see serve_events() */
		break;
	}
}

/* An event is taken out of its log; credit of the same time counts. */
HOT void take_event(struct dl_emu *e, enum dl_emu_log log)
{
	dl_emu_events_take(&e->events, log);
	e->credited = e->now;
}

HOT void serve_events(struct dl_emu *e, uint64_t end, enum hop_kind plain)
{
	struct dl_emu_events *q = &e->events;
	uint64_t key;

	while ((key = dl_emu_events_first(q)) < end) {
		enum dl_emu_event_kind kind = dl_emu_events_kind(q, key);
		uint64_t what = dl_emu_events_what(q, key);
		uint32_t channel = dl_emu_event_channel(what);

		e->now = dl_emu_events_time(q, key);
		e->event = key;
		e->totals.events++;
		if (kind == DL_EMU_EV_TAIL) {
			dl_emu_events_take(q, DL_EMU_LOG_TAIL);
			e->credited = e->now - 1; /* tails come before credit */
			tail_sent(e, dl_emu_port_of(channel), what & DL_EMU_EV_INPUT, plain);
		} else if (kind == DL_EMU_EV_ARRIVE) {
			take_event(e, DL_EMU_LOG_ARRIVE);
			arrive_at_switch(e, channel, what & DL_EMU_EV_PACKET, plain);
		} else if (kind == DL_EMU_EV_TAKE) {
			take_event(e, DL_EMU_LOG_TAKE);
			arrive_at_adapter(e, channel, what & DL_EMU_EV_PACKET, plain);
		} else if (kind == DL_EMU_EV_WAKE) {
			take_event(e, DL_EMU_LOG_OTHER);
			wake_port(e, dl_emu_port_of(channel), plain);
		} else {
			take_event(e, DL_EMU_LOG_OTHER);
			dispatch_rare(e, kind, what);
		}
#ifdef DL_EMU_AUDIT
		if (e->after_event && !e->err)
			e->err = e->after_event(e, e->log);
#endif
	}
}

void dl_emu_serve(struct dl_emu *e, uint64_t end)
{
	if (e->mode.plain == HOP_PLAIN)
		serve_events(e, end, HOP_PLAIN);
	else if (e->mode.plain == HOP_CHOOSY)
		serve_events(e, end, HOP_CHOOSY);
	else
		serve_events(e, end, HOP_ANY);
}

const struct dl_emu_handlers dl_emu_hop_handlers = {
	.transmit = transmit_any,
	.ask = ask_any,
	.release = release_any,
	.report = report_any,
};
