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
 * Books.  A packet is entered in its sender's books when its first bit leaves,
 * in its receiver's when it arrives: where the head has been looked at in
 * cut-through, else with the last bit.  What the wire loses is never entered,
 * and added to `lost`; a flow-control packet tells the receiver of it in place
 * of FCTBS, which says the same: FCTBS minus what was sent before it and
 * entered, or is going to be.
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

/* Take a packet out of its output's queue. */
void dl_emu_unwait(struct dl_emu *e, uint32_t packet)
{
	struct dl_emu_pkt *pk = &e->packets[packet];
	struct dl_emu_link_port *p = &e->ports[dl_emu_port_of(pk->out)];
	struct dl_emu_vl_port *o = &p->vl[dl_emu_vl_of(pk->out)];
	uint32_t before = DL_EMU_NIL, *link = &o->head;

	while (*link != packet) {
		before = *link;
		link = &e->packets[*link].wait_next;
	}
	*link = pk->wait_next;
	if (o->tail == packet)
		o->tail = before;
	pk->flags &= ~DL_EMU_PK_WAITING;
	if (o->head == DL_EMU_NIL)
		p->waiting &= ~(1u << dl_emu_vl_of(pk->out));
	else
		o->units = e->packets[o->head].units;
}

/* ---- flow-control packets ---------------------------------------------- */

/*
 * A deadline has passed.  Was the link free then?  In that case the packet
 * has gone out unseen, and took nothing from anybody.
 */
static __attribute__((noinline)) void pass_deadlines(struct dl_emu *e, struct dl_emu_link_port *p)
{
	uint64_t span = dl_emu_rate_time(p->rate, DL_LINK_FCP_DEADLINE), first = DL_EMU_NEVER;

	for (unsigned int v = 0; v < p->vls; v++) {
		uint64_t due = p->told_at[v] + span;

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
		p->told_at[v] = due;
	}
	for (unsigned int v = 0; v < p->vls; v++)
		if (p->told_at[v] < first)
			first = p->told_at[v];
	p->fcp_due = first + span;
	if (p->fcp_due <= e->now) /* until they are sent */
		p->fcp_due = e->now + span;
}

static bool happens(struct dl_emu *e, uint32_t port, uint32_t millionths)
{
	return millionths && dl_random_below(&e->losses[port].random, 1000000) < millionths;
}

/* An event for credit on its way to an output. */
static void expect_credit(struct dl_emu *e, uint32_t channel, uint16_t credit, uint16_t lost,
			  uint64_t at)
{
	uint32_t record = dl_emu_packet(e);

	if (record == DL_EMU_NIL)
		return;
	e->live--; /* is no packet */
	e->packets[record] = (struct dl_emu_pkt){
		.dlid = credit,
		.bytes = lost,
		.epoch = e->ports[dl_emu_port_of(channel)].epoch,
	};
	dl_emu_channel_at(e, at, DL_EMU_EV_CREDIT, channel, record);
}

/* What has arrived at an output unseen, counts now. */
static inline void see_credit(const struct dl_emu *e, struct dl_emu_vl_port *o)
{
	bool here = o->credit_at <= e->credited;

	o->limit = here ? o->credit : o->limit;
	o->credit_at = here ? DL_EMU_NEVER : o->credit_at;
}

/* Does an output have credit for its first packet? */
bool dl_emu_has_credit(const struct dl_emu *e, const struct dl_emu_vl_port *o)
{
	struct dl_emu_vl_port copy = *o;

	see_credit(e, &copy);
	return dl_emu_may_send(&copy, o->units);
}

/* Credit is on its way to an output, where it will be `at` a time. */
void dl_emu_deliver_credit(struct dl_emu *e, uint32_t channel, uint16_t credit, uint16_t lost,
			   uint64_t at)
{
	struct dl_emu_vl_port *o = dl_emu_vl_at(e, channel);

	see_credit(e, o);
	if (e->timers || o->credit_at != DL_EMU_NEVER ||
	    (o->head != DL_EMU_NIL && !dl_emu_may_send(o, e->units_max))) {
		expect_credit(e, channel, credit, lost, at);
		return;
	}
	o->credit = credit;
	o->credit_at = at;
}

/* Packets could go, if they had the credit that is under way. */
static __attribute__((noinline)) void wait_for_credit(struct dl_emu *e, uint32_t port,
						      unsigned int vls)
{
	e->blocked = true;
	for (; vls; vls &= vls - 1) {
		unsigned int v = __builtin_ctz(vls);
		struct dl_emu_vl_port *o = &e->ports[port].vl[v];

		if (o->credit_at == DL_EMU_NEVER)
			continue;
		expect_credit(e, dl_emu_channel(port, v), o->credit, 0, o->credit_at);
		o->credit_at = DL_EMU_NEVER;
	}
}

static inline void send_fcp(struct dl_emu *e, uint32_t port)
{
	struct dl_emu_link_port *p = &e->ports[port];
	unsigned int v = __builtin_ctz(p->fcp);
	struct dl_emu_vl_port *in = &p->vl[v];
	uint16_t credit = dl_emu_promise(in);
	bool news = credit != in->told;
	uint32_t channel;
	uint64_t at;

	p->fcp &= p->fcp - 1;
	in->told = credit;
	p->told_at[v] = e->now;
	p->busy_until = e->now + p->fcp_time;
	e->totals.fcps++;
	p->fcps++;
	if (__builtin_expect(p->lossy, 0) && (happens(e, port, e->losses[port].fcp_loss) ||
					      happens(e, port, e->losses[port].fcp_corrupt))) {
		e->totals.fcps_lost++;
		return;
	}
	/* A number that the sender knows changes nothing, unless one got lost. */
	if (!news && !e->timers)
		return;
	at = p->busy_until + p->delay;
	channel = dl_emu_channel(p->peer, v);
	if (p->to == DL_EMU_TO_SHARD)
		dl_emu_mail(e, p->peer,
			    &(struct dl_emu_mail){ at, channel, DL_EMU_NIL, credit, in->lost });
	else
		dl_emu_deliver_credit(e, channel, credit, in->lost, at);
}

/* Room has become free in an input buffer. */
void dl_emu_release(struct dl_emu *e, uint32_t in, uint32_t units)
{
	struct dl_emu_vl_port *i = dl_emu_vl_at(e, in);

	if (!dl_emu_is_data(in)) {
		i->room--;
		return;
	}
	i->room += units;
	dl_emu_maybe_tell(e, dl_emu_port_of(in), dl_emu_vl_of(in));
}

/* A flow-control packet has arrived: see expect_credit() for what is in it. */
void dl_emu_credit(struct dl_emu *e, uint32_t channel, uint32_t record)
{
	uint32_t port = dl_emu_port_of(channel);
	struct dl_emu_link_port *p = &e->ports[port];
	struct dl_emu_vl_port *o = &p->vl[dl_emu_vl_of(channel)];
	struct dl_emu_pkt fcp = e->packets[record];
	uint16_t healed = fcp.bytes - o->healed;

	dl_emu_recycle(e, record);
	e->live++;
	if (p->hold & DL_EMU_DOWN || p->epoch != fcp.epoch)
		return;
	o->credit_at = o->credit_at <= e->credited ? DL_EMU_NEVER : o->credit_at;
	o->limit = fcp.dlid;
	if (e->timers && healed) {
		o->healed += healed;
		o->received += healed;
		o->room += healed;
		dl_emu_maybe_tell(e, port, dl_emu_vl_of(channel));
	}
	dl_emu_transmit(e, port);
}

/* The timer that runs where losses were asked for. */
void dl_emu_periodic(struct dl_emu *e, uint32_t port)
{
	struct dl_emu_link_port *p = &e->ports[port];

	if (!(p->hold & DL_EMU_DOWN)) {
		p->fcp |= (1u << p->vls) - 1;
		dl_emu_transmit(e, port);
	}
	dl_emu_channel_at(e, e->now + dl_emu_rate_time(p->rate, DL_LINK_FCP_DEADLINE),
			  DL_EMU_EV_PERIODIC, dl_emu_channel(port, 0), 0);
}

/* ---- packets ----------------------------------------------------------- */

/* The packet of a VL that could go now, or NIL. */
static uint32_t candidate(const struct dl_emu *e, uint32_t out)
{
	uint32_t packet = dl_emu_vl_at(e, out)->head;
	const struct dl_emu_pkt *pk = &e->packets[packet];
	uint32_t owner = e->worms ? e->worm[out].owner : DL_EMU_NIL;

	if (owner != DL_EMU_NIL && pk->in != owner)
		return DL_EMU_NIL;
	if (!e->c.speedup)
		return packet;
	for (;;) {
		const struct dl_emu_link_port *from = &e->ports[dl_emu_port_of(pk->in)];

		if (from->adapter != DL_EMU_NIL || from->readers < e->c.speedup)
			return packet;
		packet = pk->wait_next;
		if (packet == DL_EMU_NIL || owner != DL_EMU_NIL)
			return DL_EMU_NIL;
		pk = &e->packets[packet];
	}
}

/* The data VLs that can send where that may not be their first packet. */
static __attribute__((noinline)) unsigned int choose(struct dl_emu *e, uint32_t port,
						     unsigned int vls, uint32_t *packet)
{
	unsigned int able = 0;

	for (; vls; vls &= vls - 1) {
		unsigned int v = __builtin_ctz(vls);
		struct dl_emu_vl_port *o = &e->ports[port].vl[v];

		packet[v] = candidate(e, dl_emu_channel(port, v));
		if (packet[v] == DL_EMU_NIL)
			continue;
		see_credit(e, o);
		if (dl_emu_may_send(o, e->packets[packet[v]].units))
			able |= 1u << v;
		else
			wait_for_credit(e, port, 1u << v);
	}
	return able;
}

/* The data VLs whose first packet has credit. */
static inline unsigned int sendable(struct dl_emu *e, uint32_t port, struct dl_emu_link_port *p)
{
	unsigned int able = 0;

	for (unsigned int vls = p->waiting; vls; vls &= vls - 1) {
		unsigned int v = __builtin_ctz(vls);
		struct dl_emu_vl_port *o = &p->vl[v];

		see_credit(e, o);
		able |= (unsigned int)dl_emu_may_send(o, o->units) << v;
	}
	if (__builtin_expect(able != p->waiting, 0))
		wait_for_credit(e, port, p->waiting & ~able);
	return able;
}

/* Is the packet lost on the wire?  Then its receiver does not enter it. */
static __attribute__((noinline)) void damage(struct dl_emu *e, uint32_t port, struct dl_emu_pkt *pk,
					     struct dl_emu_vl_port *o)
{
	if (!happens(e, port, e->losses[port].damage))
		return;
	/* A worm that loses a flit is lost as a whole. */
	pk->flags |= DL_EMU_PK_LOST;
	if (!e->worms)
		o->lost += pk->units;
}

/* An adapter's packet leaves: its place is free again when the tail has gone. */
static void leave_adapter(struct dl_emu *e, struct dl_emu_link_port *p, uint32_t packet)
{
	const struct dl_emu_pkt *pk = &e->packets[packet];
	struct dl_emu_origin *from = &e->origins[packet];
	uint64_t *started = &e->adapters[p->adapter].started[dl_emu_vl_of(pk->out)];
	unsigned int whole = DL_EMU_PK_MCAST | DL_EMU_PK_LAST | DL_EMU_PK_TAIL;

	p->sending_what = DL_EMU_NIL;
	if ((pk->flags & whole) == whole && e->flows[from->flow].window)
		p->sending_what = from->flow;
	if (pk->flags & DL_EMU_PK_HEAD)
		*started = e->now;
	from->injected = *started;
}

/* A packet leaves its buffer, which is read until the tail has gone. */
static inline void leave_buffer(struct dl_emu *e, struct dl_emu_link_port *p, uint32_t packet)
{
	const struct dl_emu_pkt *pk = &e->packets[packet];
	struct dl_emu_link_port *q = &e->ports[dl_emu_port_of(pk->in)];

	p->sending_in = pk->in;
	if (__builtin_expect(pk->flags & DL_EMU_PK_COPY, 0)) {
		p->sending_what = e->origins[packet].parent;
	} else {
		q->vl[dl_emu_vl_of(pk->in)].in = pk->next;
		q->reading |= 1u << dl_emu_vl_of(pk->in);
	}
	if (e->c.speedup)
		q->readers++;
}

/* The event at which the peer can look at the packet. */
static inline void to_peer(struct dl_emu *e, struct dl_emu_link_port *p, uint32_t far,
			   uint32_t packet)
{
	struct dl_emu_pkt *pk = &e->packets[packet];
	uint64_t what = (uint64_t)far << DL_EMU_EV_CHANNEL | packet, at;

	pk->since = p->busy_until + p->delay; /* tail in */
	if (p->to == DL_EMU_TO_ADAPTER) {
		dl_emu_at(e, pk->since, DL_EMU_LOG_TAKE, DL_EMU_EV_TAKE, what);
		return;
	}
	__builtin_prefetch(p->far_lft + pk->dlid);
	if (e->looks_ahead)
		pk->out = DL_EMU_NIL; /* is not known yet */
	at = e->c.switching == DL_EMU_CUT_THROUGH ? e->now + p->look :
						    pk->since + e->c.switch_latency_ps;
	if (__builtin_expect(p->to == DL_EMU_TO_SHARD, 0)) {
		e->live--;
		dl_emu_mail(e, p->peer, &(struct dl_emu_mail){ at, far, packet, 0, 0 });
		return;
	}
	dl_emu_at(e, at, DL_EMU_LOG_ARRIVE, DL_EMU_EV_ARRIVE, what);
}

static inline void send(struct dl_emu *e, uint32_t port, uint32_t packet, unsigned int vl)
{
	struct dl_emu_link_port *p = &e->ports[port];
	struct dl_emu_vl_port *o = &p->vl[vl];
	struct dl_emu_pkt *pk = &e->packets[packet];
	uint32_t far = dl_emu_channel(p->peer, vl);
	uint64_t time = dl_emu_rate_time(p->rate, pk->bytes);

	if (__builtin_expect(packet == o->head, 1)) {
		bool last = pk->wait_next == DL_EMU_NIL;

		o->head = pk->wait_next;
		o->units = e->packets[last ? packet : o->head].units;
		p->waiting ^= (unsigned int)last << vl;
	} else {
		dl_emu_unwait(e, packet);
	}
	o->served = e->now;
	o->packets += pk->flags & DL_EMU_PK_HEAD;
	o->bytes += pk->bytes;
	if (__builtin_expect(e->worms, 0)) {
		e->worm[pk->out].owner = pk->flags & DL_EMU_PK_TAIL ? DL_EMU_NIL : pk->in;
		if (!pk->bytes) /* what ends a cut worm is one symbol */
			time = dl_emu_rate_time(p->rate, 1);
	}
	if (vl != DL_LINK_VL_SMP) {
		o->sent += pk->units;
		if (__builtin_expect(p->lossy, 0))
			damage(e, port, pk, o);
	}
	if (p->adapter != DL_EMU_NIL)
		leave_adapter(e, p, packet);
	else
		leave_buffer(e, p, packet);
	p->busy_until = e->now + time;
	p->hold = DL_EMU_SENDING;
	p->sending_vl = vl;
	p->sending_units = pk->units;
	p->sending_flags = pk->flags;
	pk->flags &= ~(DL_EMU_PK_WAITING | DL_EMU_PK_COPY);
	pk->in = far;
	pk->next = DL_EMU_NIL;
	pk->epoch = p->epoch;
	p->busy_ps += time;
	e->totals.packet_hops += pk->flags & DL_EMU_PK_HEAD;
	dl_emu_at(e, p->busy_until, DL_EMU_LOG_TAIL, DL_EMU_EV_TAIL,
		  (uint64_t)dl_emu_channel(port, 0) << DL_EMU_EV_CHANNEL);
	to_peer(e, p, far, packet);
}

/* An event when the link is free. */
static inline void wake_later(struct dl_emu *e, uint32_t port)
{
	struct dl_emu_link_port *p = &e->ports[port];

	if (!p->wake)
		dl_emu_channel_at(e, p->busy_until, DL_EMU_EV_WAKE, dl_emu_channel(port, 0), 0);
	p->wake = true;
}

/*
 * See dl_emu_transmit(): there is something to send, and the link is not
 * sending a packet.
 */
void dl_emu_send_next(struct dl_emu *e, uint32_t port)
{
	struct dl_emu_link_port *p = &e->ports[port];
	uint32_t packet[DL_EMU_VLS];
	struct dl_link_pick pick;
	unsigned int able;

	if (e->now < p->busy_until) {
		wake_later(e, port);
		return;
	}
	if (__builtin_expect(e->now >= p->fcp_due, 0))
		pass_deadlines(e, p);
	if (__builtin_expect(p->waiting >> DL_LINK_VL_SMP & 1, 0)) {
		send(e, port, p->vl[DL_LINK_VL_SMP].head, DL_LINK_VL_SMP);
		return;
	}
	if (p->fcp) {
		send_fcp(e, port);
		if (p->waiting | p->fcp)
			wake_later(e, port);
		else
			dl_emu_note_idle(e, p);
		return;
	}
	able = __builtin_expect(e->choosy, 0) ? choose(e, port, p->waiting, packet) :
						sendable(e, port, p);
	if (dl_link_arbiter_pick_data(&p->arb, able, &pick) == DL_LINK_NOTHING) {
		if (p->wait_since == DL_EMU_NEVER)
			p->wait_since = e->now;
		return;
	}
	dl_emu_note_idle(e, p);
	if (!e->choosy)
		packet[pick.vl] = p->vl[pick.vl].head;
	dl_link_arbiter_charge(&p->arb, &pick, e->packets[packet[pick.vl]].bytes, NULL);
	send(e, port, packet[pick.vl], pick.vl);
}

/* An input can pass on one packet more: does an output want it? */
static void wake_outputs(struct dl_emu *e, uint32_t in_port)
{
	const struct dl_emu_switch *s = e->ports[in_port].at;

	for (uint32_t n = 1; n < s->nports; n++)
		if (s->ports[n] != DL_EMU_NIL)
			dl_emu_transmit(e, s->ports[n]);
}

static void adapter_tail_sent(struct dl_emu *e, struct dl_emu_link_port *p)
{
	struct dl_emu_adapter *a = &e->adapters[p->adapter];

	if (p->sending_what != DL_EMU_NIL)
		dl_emu_message_at(e, e->now, p->sending_what, true);
	if (p->sending_flags & DL_EMU_PK_TAIL) {
		a->free_sls |= a->vl_sls[p->sending_vl];
		dl_emu_fill(e, a);
	}
}

/* The last bit of what a port was sending has left. */
void dl_emu_tail_sent(struct dl_emu *e, uint32_t port)
{
	struct dl_emu_link_port *p = &e->ports[port], *q;
	uint32_t in = p->sending_in;
	unsigned int vl = dl_emu_vl_of(in);

	p->hold &= ~DL_EMU_SENDING;
	if (p->adapter != DL_EMU_NIL) {
		adapter_tail_sent(e, p);
		dl_emu_transmit(e, port);
		return;
	}
	q = &e->ports[dl_emu_port_of(in)];
	if (e->c.speedup)
		q->readers--;
	if (__builtin_expect(p->sending_flags & DL_EMU_PK_COPY, 0)) {
		dl_emu_copy_gone(e, p->sending_what);
	} else {
		q->reading &= ~(1u << vl);
		dl_emu_release(e, in, p->sending_units);
		if (q->vl[vl].in != DL_EMU_NIL)
			dl_emu_head(e, in);
	}
	if (e->c.speedup)
		wake_outputs(e, dl_emu_port_of(in));
	dl_emu_transmit(e, port);
}
