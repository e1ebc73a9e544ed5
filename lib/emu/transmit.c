/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The sending end of a link: who goes next, and what it costs.
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
 * Flow-control packets are sent when there is something worth telling, and
 * when the 65,536 symbol times are over.  The latter change nothing as long
 * as nothing is lost, except that they take link time.  So a busy port looks
 * at the deadline at its packet boundaries, an idle one lets it pass; only
 * when losses were asked for a timer runs at every port.
 */
#include "config.h"

#include "emu/internal.h"

static uint32_t *wait_link(struct dl_emu *e, struct dl_out *o, uint32_t packet,
			   uint32_t *before)
{
	uint32_t *link = &o->head;

	*before = DL_NIL;
	while (*link != packet) {
		*before = *link;
		link = &e->packets[*link].wait_next;
	}
	return link;
}

/* Take a packet out of its output's queue. */
void dl_emu_unwait(struct dl_emu *e, uint32_t packet)
{
	struct dl_packet *pk = &e->packets[packet];
	struct dl_out *o = &e->outs[pk->out];
	uint32_t before;
	uint32_t *link = wait_link(e, o, packet, &before);

	*link = pk->wait_next;
	if (o->tail == packet)
		o->tail = before;
	pk->flags &= ~DL_PK_WAITING;
	if (o->head == DL_NIL)
		e->ends[dl_out_port(e, pk->out)].waiting &=
			~(1u << pk->out % e->nv);
}

/* A packet wants to leave through an output channel. */
void dl_emu_wait_for(struct dl_emu *e, uint32_t packet, uint32_t out)
{
	struct dl_packet *pk = &e->packets[packet];
	struct dl_out *o = &e->outs[out];

	pk->out = out;
	pk->since = e->now;
	pk->flags |= DL_PK_WAITING;
	if (o->head == DL_NIL) {
		o->head = o->tail = packet;
		pk->wait_next = DL_NIL;
		o->served = e->now;
		e->ends[dl_out_port(e, out)].waiting |= 1u << out % e->nv;
	} else if (!(pk->flags & DL_PK_HEAD) && o->owner == pk->in) {
		pk->wait_next = o->head;	/* goes on where it stopped */
		o->head = packet;
	} else {
		pk->wait_next = DL_NIL;
		e->packets[o->tail].wait_next = packet;
		o->tail = packet;
	}
}

/* ---- flow-control packets ---------------------------------------------- */

/* The latest time at which the next packet of each VL is due. */
static void set_deadline(struct dl_emu *e, uint32_t port)
{
	struct dl_link_end *p = &e->ends[port];
	const struct dl_in *in = &e->ins[port * (size_t)e->nv];
	uint64_t first = DL_EMU_NEVER;

	for (unsigned int v = 0; v < p->vls; v++)
		if (in[v].told_at < first)
			first = in[v].told_at;
	p->fcp_due = first + dl_rate_time(p->rate, DL_FCP_DEADLINE);
}

/*
 * A deadline has passed.  Was the link free then?  In that case the packet
 * has gone out unseen, and took nothing from anybody.
 */
static void pass_deadlines(struct dl_emu *e, uint32_t port)
{
	struct dl_link_end *p = &e->ends[port];
	uint64_t span = dl_rate_time(p->rate, DL_FCP_DEADLINE);

	for (unsigned int v = 0; v < p->vls; v++) {
		struct dl_in *in = &e->ins[port * (size_t)e->nv + v];
		uint64_t due = in->told_at + span;

		if (due > e->now)
			continue;
		if (p->periodic || p->busy_until >= e->now) {
			p->fcp |= 1u << v;
			continue;
		}
		if (due < p->busy_until)
			due = p->busy_until;
		in->told_at = due + (e->now - due) / span * span;
	}
	set_deadline(e, port);
	if (p->fcp_due <= e->now)	/* until they are sent */
		p->fcp_due = e->now + span;
}

static bool happens(struct dl_emu *e, uint32_t millionths)
{
	return millionths && dl_random_below(&e->random, 1000000) < millionths;
}

static void send_fcp(struct dl_emu *e, uint32_t port)
{
	struct dl_link_end *p = &e->ends[port];
	unsigned int v = __builtin_ctz(p->fcp);
	uint32_t channel = port * e->nv + v;
	struct dl_in *in = &e->ins[channel];
	uint64_t credit = dl_credit_of(&in->rx);

	p->fcp &= p->fcp - 1;
	in->told = credit;
	in->told_at = e->now;
	p->busy_until = e->now + p->fcp_time;
	e->totals.fcps++;
	p->fcps++;
	if (p->lossy && (happens(e, p->loss) || happens(e, p->corrupt))) {
		e->totals.fcps_lost++;
		return;
	}
	dl_emu_at(e, p->busy_until + p->delay, DL_EV_CREDIT,
		  (uint64_t)p->epoch << 52 | (uint64_t)p->peer << 28 |
		  (uint64_t)v << 24 |
		  credit << 12 | (e->outs[channel].lost & DL_CREDIT_MASK));
}

/*
 * Worth telling the sender how much room there is?  Asked when room becomes
 * free, and when a packet arrives: room that was not worth telling may be all
 * that the sender has left then.
 */
void dl_emu_consider_telling(struct dl_emu *e, uint32_t in_channel)
{
	struct dl_in *in = &e->ins[in_channel];
	uint32_t port, bit;
	struct dl_link_end *p;

	if (!dl_credit_worth_telling(&in->rx, in->told, e->units_max))
		return;
	port = dl_out_port(e, in_channel);
	bit = 1u << in_channel % e->nv;
	p = &e->ends[port];
	if (p->fcp & bit || !p->up)
		return;
	p->fcp |= bit;
	dl_emu_transmit(e, port);
}

/* Room has become free in an input buffer. */
void dl_emu_release(struct dl_emu *e, uint32_t in, uint32_t units)
{
	if (!dl_emu_is_data(e, in % e->nv)) {
		e->ins[in].stored--;
		return;
	}
	dl_credit_release(&e->ins[in].rx, units);
	dl_emu_consider_telling(e, in);
}

/* A flow-control packet has arrived: see send_fcp() for what is in it. */
void dl_emu_credit(struct dl_emu *e, uint64_t what)
{
	uint32_t port = what >> 28 & 0xFFFFFF;
	uint32_t channel = port * e->nv + (what >> 24 & 15);
	struct dl_in *in = &e->ins[channel];
	uint32_t healed = ((what & DL_CREDIT_MASK) - in->healed) &
			  DL_CREDIT_MASK;

	if (!e->ends[port].up ||
	    e->ends[port].epoch != (what >> 52 & 0xFF))
		return;
	dl_credit_update(&e->outs[channel].tx, what >> 12 & DL_CREDIT_MASK);
	if (healed) {
		in->healed = what & DL_CREDIT_MASK;
		in->rx.count += healed;
		if (in->rx.scheme == DL_CREDIT_IBA)
			in->rx.count &= DL_CREDIT_MASK;
		dl_emu_consider_telling(e, channel);
	}
	dl_emu_transmit(e, port);
}

/* The timer that runs where losses were asked for. */
void dl_emu_periodic(struct dl_emu *e, uint32_t port)
{
	struct dl_link_end *p = &e->ends[port];

	if (p->up) {
		p->fcp |= (1u << p->vls) - 1;
		dl_emu_transmit(e, port);
	}
	dl_emu_at(e, e->now + dl_rate_time(p->rate, DL_FCP_DEADLINE),
		  DL_EV_PERIODIC, port);
}

/* ---- packets ----------------------------------------------------------- */

/* The packet of a VL that could go now, or NIL. */
static uint32_t candidate(const struct dl_emu *e, const struct dl_out *o)
{
	uint32_t packet = o->head;
	const struct dl_packet *pk = &e->packets[packet];

	if (o->owner != DL_NIL && pk->in != o->owner)
		return DL_NIL;
	if (!e->c.speedup)
		return packet;
	for (;;) {
		const struct dl_link_end *from =
			&e->ends[dl_out_port(e, pk->in)];

		if (from->adapter != DL_NIL || from->readers < e->c.speedup)
			return packet;
		packet = pk->wait_next;
		if (packet == DL_NIL || o->owner != DL_NIL)
			return DL_NIL;
		pk = &e->packets[packet];
	}
}

/* The data VLs that can send; *packet: theirs. */
static unsigned int sendable(const struct dl_emu *e, uint32_t port,
			     uint32_t *packet)
{
	unsigned int able = 0, vls = e->ends[port].waiting &
				     ~(1u << (e->nv - 1));

	for (; vls; vls &= vls - 1) {
		unsigned int v = __builtin_ctz(vls);
		const struct dl_out *o = &e->outs[port * (size_t)e->nv + v];

		packet[v] = candidate(e, o);
		if (packet[v] != DL_NIL &&
		    dl_credit_may_send(&o->tx, dl_emu_units(
				e, e->packets[packet[v]].bytes)))
			able |= 1u << v;
	}
	return able;
}

/* Enter the packet in the books of both ends. */
static void spend(struct dl_emu *e, struct dl_packet *pk, uint32_t far,
		  unsigned int slot, const struct dl_link_end *p)
{
	struct dl_out *o = &e->outs[pk->out];
	uint16_t units = dl_emu_units(e, pk->bytes);

	if (!dl_emu_is_data(e, slot))
		return;
	dl_credit_spend(&o->tx, units);
	if (p->lossy && happens(e, p->damage)) {
		/* A worm that loses a flit is lost as a whole. */
		pk->flags |= DL_PK_LOST;
		if (e->c.switching != DL_WORMHOLE) {
			o->lost += units;
			return;
		}
	}
	if (!dl_credit_receive(&e->ins[far].rx, units))
		e->err = -EPROTO;
}

/* The packet leaves its buffer: which is read until the tail has gone. */
static void leave(struct dl_emu *e, struct dl_link_end *p, uint32_t packet)
{
	struct dl_packet *pk = &e->packets[packet];

	p->sending_in = DL_NIL;
	p->sending_parent = DL_NIL;
	p->sending_units = dl_emu_units(e, pk->bytes);
	if (p->adapter != DL_NIL) {
		p->sending_flow = DL_NIL;
		/* Its slot is free again when the tail has gone. */
		if (pk->flags & DL_PK_TAIL)
			p->sending_parent = 0;
		if ((pk->flags & DL_PK_MCAST) && (pk->flags & DL_PK_LAST) &&
		    (pk->flags & DL_PK_TAIL) && e->flows[pk->flow].window)
			p->sending_flow = pk->flow;
		if (pk->flags & DL_PK_HEAD)
			e->outs[pk->out].started = e->now;
		pk->injected = e->outs[pk->out].started;
		return;
	}
	p->sending_in = pk->in;
	p->sending_parent = pk->parent;
	if (pk->parent == DL_NIL) {
		e->ins[pk->in].head = pk->next;
		e->ins[pk->in].reading = true;
	}
	if (e->c.speedup)
		e->ends[dl_out_port(e, pk->in)].readers++;
}

/* When can the far end look at the packet? */
static uint64_t arrival(const struct dl_emu *e, const struct dl_link_end *p,
			struct dl_packet *pk)
{
	pk->since = p->busy_until + p->delay;	/* tail in */
	if (e->ends[p->peer].adapter != DL_NIL)
		return pk->since;
	if (e->c.switching == DL_CUT_THROUGH)
		return e->now + p->delay + p->route_time +
		       e->c.switch_latency_ps;
	return pk->since + e->c.switch_latency_ps;
}

/* Ask for the memory with which the next switch finds the packet's way. */
static void fetch_route(const struct dl_emu *e, uint32_t port, uint16_t dlid)
{
	const struct dl_link_end *p = &e->ends[port];
	const struct dl_emu_switch *s = &e->switches[p->sw];

	if (dlid <= s->top_lid)
		__builtin_prefetch(&s->lft[dlid]);
	__builtin_prefetch(&s->sl2vl[p->num * (size_t)s->nports]);
}

static void send(struct dl_emu *e, uint32_t port, uint32_t packet,
		 unsigned int slot)
{
	struct dl_link_end *p = &e->ends[port];
	struct dl_packet *pk = &e->packets[packet];
	struct dl_out *o = &e->outs[pk->out];
	uint32_t far = p->peer * e->nv + slot;
	uint64_t time;

	__builtin_prefetch(&e->ins[far]);
	__builtin_prefetch(&e->ends[p->peer]);
	time = dl_rate_time(p->rate, pk->bytes);
	dl_emu_unwait(e, packet);
	o->served = e->now;
	o->packets++;
	o->bytes += pk->bytes;
	if (e->c.switching == DL_WORMHOLE)
		o->owner = pk->flags & DL_PK_TAIL ? DL_NIL : pk->in;
	spend(e, pk, far, slot, p);
	leave(e, p, packet);
	p->busy_until = e->now + time;
	p->sending = true;
	p->sending_slot = slot;
	pk->in = far;
	pk->parent = DL_NIL;
	pk->next = DL_NIL;
	pk->epoch = p->epoch;
	p->busy_ps += time;
	e->totals.packet_hops += !!(pk->flags & DL_PK_HEAD);
	dl_emu_at(e, p->busy_until, DL_EV_TAIL,
		  (uint64_t)p->sending_in << 24 | port);
	dl_emu_at(e, arrival(e, p, pk), DL_EV_ARRIVE,
		  (uint64_t)far << 28 | packet);
	if (e->ends[p->peer].sw != DL_NONE)
		fetch_route(e, p->peer, pk->dlid);
}

static void note_waiting(struct dl_emu *e, uint32_t port, bool waits)
{
	struct dl_link_end *p = &e->ends[port];

	if (waits) {
		if (p->wait_since == DL_EMU_NEVER)
			p->wait_since = e->now;
	} else if (p->wait_since != DL_EMU_NEVER) {
		p->wait_ps += e->now - p->wait_since;
		p->wait_since = DL_EMU_NEVER;
	}
}

/* Does a port have something to send, and is its link free?  Then send. */
void dl_emu_transmit(struct dl_emu *e, uint32_t port)
{
	struct dl_link_end *p = &e->ends[port];
	uint32_t packet[DL_EMU_VLS];
	struct dl_pick pick;
	unsigned int smp, able;

	while (p->waiting | p->fcp) {
		if (!p->up || p->sending)	/* the tail's event comes */
			return;
		if (e->now < p->busy_until) {
			if (!p->wake)
				dl_emu_at(e, p->busy_until, DL_EV_WAKE, port);
			p->wake = true;
			return;
		}
		if (e->now >= p->fcp_due)
			pass_deadlines(e, port);
		smp = p->waiting >> (e->nv - 1) & 1;
		able = smp || p->fcp ? 0 : sendable(e, port, packet);
		switch (dl_arbiter_pick(&p->arb, smp, p->fcp, able, &pick)) {
		case DL_KIND_NOTHING:
			note_waiting(e, port, true);
			return;
		case DL_KIND_FCP:
			send_fcp(e, port);
			break;
		case DL_KIND_SMP:
			send(e, port, e->outs[port * (size_t)e->nv +
					      e->nv - 1].head, e->nv - 1);
			break;
		case DL_KIND_DATA:
			note_waiting(e, port, false);
			dl_arbiter_charge(&p->arb, &pick,
				e->packets[packet[pick.vl]].bytes, NULL);
			send(e, port, packet[pick.vl], pick.vl);
			break;
		}
	}
	note_waiting(e, port, false);
}

/* An input can pass on one packet more: does an output want it? */
static void wake_outputs(struct dl_emu *e, uint32_t in_port)
{
	const struct dl_emu_switch *s = &e->switches[e->ends[in_port].sw];

	for (uint32_t n = 1; n < s->nports; n++)
		dl_emu_transmit(e, s->first_port + n);
}

/* The last bit of what a port was sending has left. */
void dl_emu_tail_sent(struct dl_emu *e, uint32_t port)
{
	struct dl_link_end *p = &e->ends[port];
	uint32_t in = p->sending_in;

	p->sending = false;
	if (p->adapter != DL_NIL) {
		struct dl_emu_adapter *a = &e->adapters[p->adapter];

		if (p->sending_flow != DL_NIL)
			dl_emu_at(e, e->now, DL_EV_MESSAGE, p->sending_flow |
				  UINT64_C(1) << 32);
		if (p->sending_parent != DL_NIL) {
			a->free_sls |= a->vl_sls[p->sending_slot];
			dl_emu_fill(e, a);
		}
	} else {
		if (e->c.speedup)
			e->ends[dl_out_port(e, in)].readers--;
		if (p->sending_parent == DL_NIL) {
			e->ins[in].reading = false;
			dl_emu_release(e, in, p->sending_units);
			dl_emu_head(e, in);
		} else {
			dl_emu_copy_gone(e, p->sending_parent);
		}
		if (e->c.speedup)
			wake_outputs(e, dl_out_port(e, in));
	}
	dl_emu_transmit(e, port);
}
