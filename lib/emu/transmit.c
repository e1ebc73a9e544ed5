/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The sending port of a link: who goes next, and what it costs.
 *
 * A port has one queue of waiting packets for each VL.  Switches put in the
 * heads of their input buffers, adapters one packet a VL.  The order is that
 * of asking, and a buffer asks again only when its former head has gone: so
 * inputs that compete for a VL take turns.
 *
 * At a packet boundary (in wormhole switching: a flit boundary) the arbiter
 * chooses among management packets, flow-control packets and the VLs whose
 * first waiting packet has credit.  Nothing happens between boundaries, and
 * an idle port costs nothing: it is looked at when something asks for it.
 *
 * Credit in the sender's frame.  Packets enter the books of the receiver's
 * buffer when their first bit leaves, not when they arrive.  What the receiver
 * promises does not depend on it: IBA's FCCL is ABR + free, and a packet moves
 * as much from one to the other; PCI Express style credit counts only what
 * left.  (It would matter if a buffer were above 2048 blocks, where the
 * promise is cut; setup.c refuses that.)  In return a packet without room is
 * found out when it is sent, and one event is enough for a packet's arrival.
 * What the wire loses is not entered, and added to `lost`; a flow-control
 * packet tells the receiver of it in place of FCTBS, which says the same:
 * FCTBS minus what was entered of the packets before it.
 *
 * Most flow-control packets come to a sender that has credit left, and change
 * nothing then.  So what they carry is left at the sender with the time of
 * its arrival, and counts once that has come; only one that is waited for, or
 * that comes close behind another, takes an event of its own.
 *
 * Flow-control packets are sent when there is something worth telling, and
 * when the 65,536 symbol times are over.  The latter change nothing as long
 * as nothing is lost, except that they take link time.  So a busy port looks
 * at the deadline at its packet boundaries, an idle one lets it pass; only
 * when losses were asked for a timer runs at every port.
 */
#include "config.h"

#include "emu/internal.h"

static uint32_t *wait_link(struct dl_emu *e, struct dl_emu_out *o, uint32_t packet,
			   uint32_t *before)
{
	uint32_t *link = &o->head;

	*before = DL_EMU_NIL;
	while (*link != packet) {
		*before = *link;
		link = &e->packets[*link].wait_next;
	}
	return link;
}

/* Take a packet out of its output's queue. */
void dl_emu_unwait(struct dl_emu *e, uint32_t packet)
{
	struct dl_emu_pkt *pk = &e->packets[packet];
	struct dl_emu_out *o = &e->outs[pk->out];
	uint32_t before;
	uint32_t *link = wait_link(e, o, packet, &before);

	*link = pk->wait_next;
	if (o->tail == packet)
		o->tail = before;
	pk->flags &= ~DL_EMU_PK_WAITING;
	if (o->head == DL_EMU_NIL)
		e->ports[dl_emu_port_of(pk->out)].waiting &= ~(1u << dl_emu_vl_of(pk->out));
}

/* A packet wants to leave through an output channel. */
void dl_emu_wait_for(struct dl_emu *e, uint32_t packet, uint32_t out)
{
	struct dl_emu_pkt *pk = &e->packets[packet];
	struct dl_emu_out *o = &e->outs[out];

	pk->out = out;
	pk->since = e->now;
	pk->flags |= DL_EMU_PK_WAITING;
	if (o->head == DL_EMU_NIL) {
		o->head = o->tail = packet;
		pk->wait_next = DL_EMU_NIL;
		o->served = e->now;
		e->ports[dl_emu_port_of(out)].waiting |= 1u << dl_emu_vl_of(out);
	} else if (!(pk->flags & DL_EMU_PK_HEAD) && o->owner == pk->in) {
		pk->wait_next = o->head; /* goes on where it stopped */
		o->head = packet;
	} else {
		pk->wait_next = DL_EMU_NIL;
		e->packets[o->tail].wait_next = packet;
		o->tail = packet;
	}
}

/* ---- flow-control packets ---------------------------------------------- */

/* The latest time at which the next packet of each VL is due. */
static void set_deadline(struct dl_emu *e, uint32_t port)
{
	struct dl_emu_link_port *p = &e->ports[port];
	const struct dl_emu_wire *w = &e->wires[port];
	const uint64_t *advertised_at = &e->advertised_at[dl_emu_channel(port, 0)];
	uint64_t first = DL_EMU_NEVER;

	for (unsigned int v = 0; v < w->vls; v++)
		if (advertised_at[v] < first)
			first = advertised_at[v];
	p->fcp_due = first + dl_emu_rate_time(p->rate, DL_LINK_FCP_DEADLINE);
}

/*
 * A deadline has passed.  Was the link free then?  In that case the packet
 * has gone out unseen, and took nothing from anybody.
 */
static void pass_deadlines(struct dl_emu *e, uint32_t port)
{
	struct dl_emu_link_port *p = &e->ports[port];
	const struct dl_emu_wire *w = &e->wires[port];
	uint64_t span = dl_emu_rate_time(p->rate, DL_LINK_FCP_DEADLINE);

	for (unsigned int v = 0; v < w->vls; v++) {
		uint64_t *advertised_at = &e->advertised_at[dl_emu_channel(port, v)];
		uint64_t due = *advertised_at + span;

		if (due > e->now)
			continue;
		if (p->periodic || p->busy_until >= e->now) {
			p->fcp |= 1u << v;
			continue;
		}
		if (due < p->busy_until)
			due = p->busy_until;
		if (e->now - due >= span)
			due += (e->now - due) / span * span;
		*advertised_at = due;
	}
	set_deadline(e, port);
	if (p->fcp_due <= e->now) /* until they are sent */
		p->fcp_due = e->now + span;
}

static bool happens(struct dl_emu *e, uint32_t millionths)
{
	return millionths && dl_random_below(&e->random, 1000000) < millionths;
}

/* An event for credit on its way to an output. */
static void expect_credit(struct dl_emu *e, uint32_t out, uint64_t credit, uint32_t lost,
			  uint64_t at)
{
	uint32_t port = dl_emu_port_of(out);

	dl_emu_at(e, at, DL_EMU_EV_CREDIT,
		  (uint64_t)e->ports[port].epoch << 52 | (uint64_t)port << 28 |
			  (uint64_t)dl_emu_vl_of(out) << 24 | credit << 12 |
			  (lost & DL_LINK_CREDIT_MASK));
}

/* What has arrived at an output unseen, counts now. */
static void see_credit(const struct dl_emu *e, struct dl_emu_out *o)
{
	if (o->credit_at > e->credited)
		return;
	dl_link_credit_update(&o->tx, o->credit);
	o->credit_at = DL_EMU_NEVER;
}

/* Does an output have credit for so many units? */
bool dl_emu_has_credit(const struct dl_emu *e, const struct dl_emu_out *o, uint32_t units)
{
	struct dl_emu_out copy = *o;

	see_credit(e, &copy);
	return dl_link_credit_may_send(&copy.tx, units);
}

static void deliver_credit(struct dl_emu *e, uint32_t out, uint64_t credit, uint32_t lost,
			   uint64_t at)
{
	struct dl_emu_out *o = &e->outs[out];

	see_credit(e, o);
	if (e->timers || o->credit_at != DL_EMU_NEVER ||
	    (o->head != DL_EMU_NIL && !dl_link_credit_may_send(&o->tx, e->units_max))) {
		expect_credit(e, out, credit, lost, at);
		return;
	}
	o->credit = credit;
	o->credit_at = at;
}

/* A packet could go, if it had the credit that is under way. */
static void wait_for_credit(struct dl_emu *e, uint32_t out)
{
	struct dl_emu_out *o = &e->outs[out];

	if (o->credit_at == DL_EMU_NEVER)
		return;
	expect_credit(e, out, o->credit, 0, o->credit_at);
	o->credit_at = DL_EMU_NEVER;
}

static void send_fcp(struct dl_emu *e, uint32_t port)
{
	struct dl_emu_link_port *p = &e->ports[port];
	const struct dl_emu_wire *w = &e->wires[port];
	unsigned int v = __builtin_ctz(p->fcp);
	uint32_t channel = dl_emu_channel(port, v);
	struct dl_emu_in *in = &e->ins[channel];
	uint64_t credit = dl_link_credit_of(&in->rx);

	p->fcp &= p->fcp - 1;
	in->advertised = credit;
	e->advertised_at[channel] = e->now;
	p->busy_until = e->now + p->fcp_time;
	e->totals.fcps++;
	p->fcps++;
	if (p->lossy &&
	    (happens(e, e->losses[port].fcp_loss) || happens(e, e->losses[port].fcp_corrupt))) {
		e->totals.fcps_lost++;
		return;
	}
	deliver_credit(e, dl_emu_channel(w->peer, v), credit, e->timers ? e->outs[channel].lost : 0,
		       p->busy_until + p->delay);
}

/*
 * Worth telling the sender how much room there is?  Asked when room becomes
 * free, and when a packet arrives: room that was not worth telling may be all
 * that the sender has left then.
 */
void dl_emu_maybe_send_fccl(struct dl_emu *e, uint32_t in_channel)
{
	struct dl_emu_in *in = &e->ins[in_channel];
	uint32_t port, bit;
	struct dl_emu_link_port *p;

	if (dl_link_credit_of(&in->rx) == in->advertised ||
	    !dl_link_credit_should_report(&in->rx, in->advertised, e->units_max))
		return;
	port = dl_emu_port_of(in_channel);
	bit = 1u << dl_emu_vl_of(in_channel);
	p = &e->ports[port];
	if (p->fcp & bit || !p->up)
		return;
	p->fcp |= bit;
	dl_emu_transmit(e, port);
}

/* Room has become free in an input buffer. */
void dl_emu_release(struct dl_emu *e, uint32_t in, uint32_t units)
{
	if (!dl_emu_is_data(in)) {
		e->ins[in].stored--;
		return;
	}
	dl_link_credit_release(&e->ins[in].rx, units);
	dl_emu_maybe_send_fccl(e, in);
}

/* A flow-control packet has arrived: see send_fcp() for what is in it. */
void dl_emu_credit(struct dl_emu *e, uint64_t what)
{
	uint32_t port = what >> 28 & DL_EMU_EV_PORT;
	uint32_t channel = dl_emu_channel(port, what >> 24 & 15);
	struct dl_emu_in *in = &e->ins[channel];
	uint32_t healed = ((what & DL_LINK_CREDIT_MASK) - in->healed) & DL_LINK_CREDIT_MASK;

	if (!e->ports[port].up || e->ports[port].epoch != (what >> 52 & 0xFF))
		return;
	see_credit(e, &e->outs[channel]); /* that came before */
	dl_link_credit_update(&e->outs[channel].tx, what >> 12 & DL_LINK_CREDIT_MASK);
	if (healed) {
		in->healed = what & DL_LINK_CREDIT_MASK;
		in->rx.count += healed;
		if (in->rx.scheme == DL_LINK_CREDIT_IBA)
			in->rx.count &= DL_LINK_CREDIT_MASK;
		dl_emu_maybe_send_fccl(e, channel);
	}
	dl_emu_transmit(e, port);
}

/* The timer that runs where losses were asked for. */
void dl_emu_periodic(struct dl_emu *e, uint32_t port)
{
	struct dl_emu_link_port *p = &e->ports[port];
	const struct dl_emu_wire *w = &e->wires[port];

	if (p->up) {
		p->fcp |= (1u << w->vls) - 1;
		dl_emu_transmit(e, port);
	}
	dl_emu_at(e, e->now + dl_emu_rate_time(p->rate, DL_LINK_FCP_DEADLINE), DL_EMU_EV_PERIODIC,
		  port);
}

/* ---- packets ----------------------------------------------------------- */

/* The packet of a VL that could go now, or NIL. */
static uint32_t candidate(const struct dl_emu *e, const struct dl_emu_out *o)
{
	uint32_t packet = o->head;
	const struct dl_emu_pkt *pk = &e->packets[packet];

	if (o->owner != DL_EMU_NIL && pk->in != o->owner)
		return DL_EMU_NIL;
	if (!e->c.speedup)
		return packet;
	for (;;) {
		uint32_t from = dl_emu_port_of(pk->in);

		if (e->wires[from].adapter != DL_EMU_NIL || e->ports[from].readers < e->c.speedup)
			return packet;
		packet = pk->wait_next;
		if (packet == DL_EMU_NIL || o->owner != DL_EMU_NIL)
			return DL_EMU_NIL;
		pk = &e->packets[packet];
	}
}

/* The data VLs that can send; *packet: theirs. */
static unsigned int sendable(struct dl_emu *e, uint32_t port, uint32_t *packet)
{
	unsigned int able = 0, vls = e->ports[port].waiting & ~(1u << DL_LINK_VL_SMP);

	for (; vls; vls &= vls - 1) {
		unsigned int v = __builtin_ctz(vls);
		struct dl_emu_out *o = &e->outs[dl_emu_channel(port, v)];

		packet[v] = candidate(e, o);
		if (packet[v] == DL_EMU_NIL)
			continue;
		see_credit(e, o);
		if (dl_link_credit_may_send(&o->tx, dl_emu_units(e, e->packets[packet[v]].bytes)))
			able |= 1u << v;
		else
			wait_for_credit(e, dl_emu_channel(port, v));
	}
	return able;
}

/* Enter the packet in the books of both ports. */
static void spend(struct dl_emu *e, struct dl_emu_pkt *pk, uint32_t far, unsigned int vl,
		  const struct dl_emu_link_port *p)
{
	struct dl_emu_out *o = &e->outs[pk->out];
	uint16_t units = dl_emu_units(e, pk->bytes);

	if (vl == DL_LINK_VL_SMP)
		return;
	dl_link_credit_spend(&o->tx, units);
	if (p->lossy && happens(e, e->losses[dl_emu_port_of(pk->out)].damage)) {
		/* A worm that loses a flit is lost as a whole. */
		pk->flags |= DL_EMU_PK_LOST;
		if (e->c.switching != DL_EMU_WORMHOLE) {
			o->lost += units;
			return;
		}
	}
	if (dl_broken(e->log, dl_link_credit_receive(&e->ins[far].rx, units)))
		e->err = -EPROTO;
}

/* The packet leaves its buffer: which is read until the tail has gone. */
static void leave(struct dl_emu *e, uint32_t port, uint32_t packet)
{
	struct dl_emu_link_port *p = &e->ports[port];
	struct dl_emu_pkt *pk = &e->packets[packet];
	uint32_t adapter = e->wires[port].adapter;
	uint64_t *started;

	p->sending_in = DL_EMU_NIL;
	p->sending_parent = DL_EMU_NIL;
	p->sending_units = dl_emu_units(e, pk->bytes);
	if (adapter != DL_EMU_NIL) {
		p->sending_flow = DL_EMU_NIL;
		/* Its place is free again when the tail has gone. */
		if (pk->flags & DL_EMU_PK_TAIL)
			p->sending_parent = 0;
		if ((pk->flags & DL_EMU_PK_MCAST) && (pk->flags & DL_EMU_PK_LAST) &&
		    (pk->flags & DL_EMU_PK_TAIL) && e->flows[pk->flow].window)
			p->sending_flow = pk->flow;
		started = &e->adapters[adapter].started[dl_emu_vl_of(pk->out)];
		if (pk->flags & DL_EMU_PK_HEAD)
			*started = e->now;
		pk->injected = *started;
		return;
	}
	p->sending_in = pk->in;
	p->sending_parent = pk->parent;
	if (pk->parent == DL_EMU_NIL) {
		e->ins[pk->in].head = pk->next;
		e->ins[pk->in].reading = true;
	}
	if (e->c.speedup)
		e->ports[dl_emu_port_of(pk->in)].readers++;
}

/* When can the peer look at the packet? */
static uint64_t arrival(const struct dl_emu *e, uint32_t port, struct dl_emu_pkt *pk)
{
	const struct dl_emu_link_port *p = &e->ports[port];

	pk->since = p->busy_until + p->delay; /* tail in */
	if (e->wires[e->wires[port].peer].adapter != DL_EMU_NIL)
		return pk->since;
	if (e->c.switching == DL_EMU_CUT_THROUGH)
		return e->now + p->delay + p->route_time + e->c.switch_latency_ps;
	return pk->since + e->c.switch_latency_ps;
}

static void send(struct dl_emu *e, uint32_t port, uint32_t packet, unsigned int vl)
{
	struct dl_emu_link_port *p = &e->ports[port];
	const struct dl_emu_wire *w = &e->wires[port];
	struct dl_emu_pkt *pk = &e->packets[packet];
	struct dl_emu_out *o = &e->outs[pk->out];
	uint32_t far = dl_emu_channel(w->peer, vl);
	uint64_t time;

	/* What ends a cut worm is one symbol. */
	time = dl_emu_rate_time(p->rate, pk->bytes ? pk->bytes : 1);
	dl_emu_unwait(e, packet);
	o->served = e->now;
	o->packets += !!(pk->flags & DL_EMU_PK_HEAD);
	o->bytes += pk->bytes;
	if (e->c.switching == DL_EMU_WORMHOLE)
		o->owner = pk->flags & DL_EMU_PK_TAIL ? DL_EMU_NIL : pk->in;
	spend(e, pk, far, vl, p);
	leave(e, port, packet);
	p->busy_until = e->now + time;
	p->sending = true;
	p->sending_vl = vl;
	pk->in = far;
	pk->parent = DL_EMU_NIL;
	pk->next = DL_EMU_NIL;
	pk->epoch = p->epoch;
	p->busy_ps += time;
	e->totals.packet_hops += !!(pk->flags & DL_EMU_PK_HEAD);
	dl_emu_at(e, p->busy_until, DL_EMU_EV_TAIL,
		  (uint64_t)port << 28 | (p->sending_in & DL_EMU_EV_CHANNEL));
	dl_emu_at(e, arrival(e, port, pk), DL_EMU_EV_ARRIVE, (uint64_t)far << 28 | packet);
}

void dl_emu_note_waiting(struct dl_emu *e, uint32_t port, bool waits)
{
	struct dl_emu_link_port *p = &e->ports[port];

	if (waits) {
		if (p->wait_since == DL_EMU_NEVER)
			p->wait_since = e->now;
	} else if (p->wait_since != DL_EMU_NEVER) {
		p->wait_ps += e->now - p->wait_since;
		p->wait_since = DL_EMU_NEVER;
	}
}

/* See dl_emu_transmit(): the link is not sending a packet. */
void dl_emu_send_next(struct dl_emu *e, uint32_t port)
{
	struct dl_emu_link_port *p = &e->ports[port];
	uint32_t packet[DL_EMU_VLS];
	struct dl_link_pick pick;
	bool smp;

	while (p->waiting | p->fcp) {
		if (e->now < p->busy_until) {
			if (!p->wake)
				dl_emu_at(e, p->busy_until, DL_EMU_EV_WAKE, port);
			p->wake = true;
			return;
		}
		if (e->now >= p->fcp_due)
			pass_deadlines(e, port);
		smp = p->waiting >> DL_LINK_VL_SMP & 1;
		if (p->fcp && !smp) {
			send_fcp(e, port);
			continue;
		}
		switch (dl_link_arbiter_pick(&p->arb, smp, false,
					     smp ? 0 : sendable(e, port, packet), &pick)) {
		case DL_LINK_SMP:
			send(e, port, e->outs[dl_emu_channel(port, DL_LINK_VL_SMP)].head,
			     DL_LINK_VL_SMP);
			return;
		case DL_LINK_DATA:
			dl_emu_note_waiting(e, port, false);
			dl_link_arbiter_charge(&p->arb, &pick, e->packets[packet[pick.vl]].bytes,
					       NULL);
			send(e, port, packet[pick.vl], pick.vl);
			return;
		default:
			dl_emu_note_waiting(e, port, true);
			return;
		}
	}
	dl_emu_note_waiting(e, port, false);
}

/* An input can pass on one packet more: does an output want it? */
static void wake_outputs(struct dl_emu *e, uint32_t in_port)
{
	const struct dl_emu_switch *s = &e->switches[e->wires[in_port].sw];

	for (uint32_t n = 1; n < s->nports; n++)
		if (s->ports[n] != DL_EMU_NIL)
			dl_emu_transmit(e, s->ports[n]);
}

/* The last bit of what a port was sending has left. */
void dl_emu_tail_sent(struct dl_emu *e, uint32_t port)
{
	struct dl_emu_link_port *p = &e->ports[port];
	const struct dl_emu_wire *w = &e->wires[port];
	uint32_t in = p->sending_in;

	p->sending = false;
	if (w->adapter != DL_EMU_NIL) {
		struct dl_emu_adapter *a = &e->adapters[w->adapter];

		if (p->sending_flow != DL_EMU_NIL)
			dl_emu_message_at(e, e->now, p->sending_flow, true);
		if (p->sending_parent != DL_EMU_NIL) {
			a->free_sls |= a->vl_sls[p->sending_vl];
			dl_emu_fill(e, a);
		}
	} else {
		if (e->c.speedup)
			e->ports[dl_emu_port_of(in)].readers--;
		if (p->sending_parent == DL_EMU_NIL) {
			e->ins[in].reading = false;
			dl_emu_release(e, in, p->sending_units);
			dl_emu_head(e, in);
		} else {
			dl_emu_copy_gone(e, p->sending_parent);
		}
		if (e->c.speedup)
			wake_outputs(e, dl_emu_port_of(in));
	}
	dl_emu_transmit(e, port);
}
