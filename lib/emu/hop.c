/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a packet does at every hop: it arrives, asks for its output, is sent,
 * and its tail leaves; and the flow-control packets for it.
 *
 * Problem.  A run is billions of hops, all else is rare.  So what every hop
 * goes through stands in one piece for the compiler, a link's part in hop_link.h, and
 * what few do in functions of its own elsewhere: a link's other cases in transmit.c,
 * a switch's in forward.c.
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
 * Four copies.  Most runs are plain: cut-through, links of one rate, none of
 * which has failed or loses anything, unchanged tables, a speedup without
 * limit, buffers that are first in, first out and can be promised as a whole, no
 * lifetime limit.  HOP_SPEEDUP is the same but for the speedup; HOP_CHOOSY may also have virtual
 * output queues, congestion control and SL tables in switches.  All functions here take that as a
 * constant, `plain`, and are compiled for each; a test compares them.
 *
 * Complexity: O(1) a hop; O(VLs that wait) for each choice.
 */
#include "config.h"

#include "emu/hop.h"
#include "emu/hop_link.h"

enum hop_kind dl_emu_is_plain(const struct dl_emu *e)
{
	if (!e->mode.looks_ahead || e->mode.timers || e->c.hoq_life_ps || e->numbers ||
	    e->entered || e->c.switching != DL_EMU_CUT_THROUGH ||
	    e->c.buffer > DL_LINK_CREDIT_WINDOW || e->c.chunk > 1 || e->c.sl_table)
		return HOP_ANY;
	if (e->mode.voq || e->marks || e->c.switch_sl_table)
		return HOP_CHOOSY;
	return e->c.speedup ? HOP_SPEEDUP : HOP_PLAIN;
}

void dl_emu_deliver_credit(struct dl_emu *e, uint32_t channel, struct dl_emu_fcp fcp, uint64_t at)
{
	if (!note_credit(e, dl_emu_port_of(channel), dl_emu_vl_of(channel), fcp.fccl, fcp.op, at,
			 HOP_ANY))
		dl_emu_expect_credit(e, channel, fcp, at);
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
	if (plain && (dl_link_credit_suffices(&terms, &i->rx) || !dl_link_credit_unsent(&i->rx)))
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

static void release_any(struct dl_emu *e, uint32_t in, uint32_t units)
{
	release_room(e, &e->ports[dl_emu_port_of(in)], dl_emu_vl_of(in), units, e->mode.plain);
}

static void report_any(struct dl_emu *e, struct dl_emu_link_port *p, unsigned int vl)
{
	maybe_report(e, p, vl, e->mode.plain);
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
	bool asked = false;

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
		if (others_blocked(s, p)) {
			asked = p->waiting; /* with the others */
			dl_emu_wake_outputs(e, s);
		} else if (e->now >= p->busy_until) {
			forget_blocked(s, p);
		}
		s->freed = 0;
	}
	if (!asked)
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
		if (kind == DL_EMU_EV_TAIL) {
			dl_emu_events_take(q, DL_EMU_LOG_TAIL);
			e->credited = e->now - 1; /* tails come before credit */
			tail_sent(e, dl_emu_port_of(channel), what & DL_EMU_EV_INPUT, plain);
		} else if (kind == DL_EMU_EV_ARRIVE) {
			take_event(e, DL_EMU_LOG_ARRIVE);
			arrive_at_switch(e, channel, what & DL_EMU_EV_PACKET, plain);
		} else if (kind == DL_EMU_EV_WAKE) {
			take_event(e, DL_EMU_LOG_WAKE);
			wake_port(e, dl_emu_port_of(channel), plain);
		} else if (kind == DL_EMU_EV_TAKE) {
			take_event(e, DL_EMU_LOG_OTHER);
			arrive_at_adapter(e, channel, what & DL_EMU_EV_PACKET, plain);
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
	e->totals.events -= dl_emu_events_taken(&e->events);
	if (e->mode.plain == HOP_PLAIN)
		serve_events(e, end, HOP_PLAIN);
	else if (e->mode.plain == HOP_CHOOSY)
		serve_events(e, end, HOP_CHOOSY);
	else if (e->mode.plain == HOP_SPEEDUP)
		serve_events(e, end, HOP_SPEEDUP);
	else
		serve_events(e, end, HOP_ANY);
	e->totals.events += dl_emu_events_taken(&e->events);
}

const struct dl_emu_handlers dl_emu_hop_handlers = {
	.transmit = transmit_any,
	.ask = ask_any,
	.release = release_any,
	.report = report_any,
};
