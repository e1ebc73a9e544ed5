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
 * Books.  They are kept by dateline/link.h.  A packet counts in its sender's
 * books when its first bit leaves, in its receiver's when it arrives: where the
 * head has been looked at in cut-through, else with the last bit.  That may be
 * after a flow-control packet that left behind it.  So where the wire loses
 * data, both ends also count what was sent undamaged and what was received;
 * FCTBS less the difference, what is still coming, is what the receiver's books
 * take.
 *
 * Most flow-control packets come to a sender that has credit left, and change
 * nothing then.  So what they carry is left at the sender with the time of
 * its arrival, and counts once that has come; only one that is waited for, or
 * that comes close behind another, takes an event of its own.
 *
 * What a receiver takes to find room free and to build a flow-control packet,
 * and its peer to read it, is one time (`credit_latency_ps`), after its arrival.
 *
 * Flow-control packets are sent when there is enough to report, and
 * when 65,536 symbol times are over (IBA 7.9.4, rules C2): a port has one
 * timer, and sends one for each VL then.  Most of these say what the sender
 * knows, and change nothing but that they take link time.  So a busy port
 * looks at the deadline at its packet boundaries; an idle one lets it pass
 * unless it has news, for which alone there is an event.  Where losses were
 * asked for there always is, for the deadlines from then on.
 */
#include "config.h"

#include <limits.h>

#include "emu/transmit.h"

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

/* The first of a port's deadlines, all one span apart, that is still to come. */
static uint64_t next_deadline(const struct dl_emu *e, const struct dl_emu_link_port *p)
{
	uint64_t span = dl_emu_rate_time(p->rate, DL_LINK_FCP_DEADLINE);

	return p->fcp_due > e->now ? p->fcp_due :
				     p->fcp_due + ((e->now - p->fcp_due) / span + 1) * span;
}

/* The VLs of which the sender does not know all. */
static unsigned int vls_with_news(const struct dl_emu *e, struct dl_emu_link_port *p)
{
	unsigned int ask = e->mode.plain ? p->unreported : (1u << p->vls) - 1, vls = 0;

	for (; ask; ask &= ask - 1) {
		unsigned int v = __builtin_ctz(ask);

		vls |= (unsigned int)(dl_link_credit_unsent(&p->vl[v].rx) != 0) << v;
	}
	p->unreported = vls;
	return vls;
}

/*
 * A deadline has passed.  Was the link free then?  In that case what brings no
 * news has gone out unseen, and took nothing from anybody.
 */
void dl_emu_pass_deadline(struct dl_emu *e, struct dl_emu_link_port *p, bool now)
{
	bool unseen = !e->mode.timers && p->busy_until < e->now;

	if (!unseen)
		p->fcp |= (1u << p->vls) - 1;
	else if (now)
		p->fcp |= vls_with_news(e, p);
	p->fcp_due = next_deadline(e, p);
}

/* An event for a port at its next deadline. */
void dl_emu_report_later(struct dl_emu *e, struct dl_emu_link_port *p)
{
	if (p->timer || p->peer == DL_EMU_NIL)
		return;
	p->timer = true;
	e->background++;
	dl_emu_channel_at(e, next_deadline(e, p), DL_EMU_EV_DEADLINE, dl_emu_channel(p->number, 0),
			  0);
}

static bool loss_happens(struct dl_emu_losses *l, uint32_t millionths)
{
	return millionths && dl_random_below(&l->random, 1000000) < millionths;
}

/* A bit of a flow-control packet is flipped: does its receiver discard it? */
static bool fcp_discarded(const struct dl_emu_link_port *p, const struct dl_link_fcp *fcp)
{
	unsigned int bit = p->fcps % (8 * DL_LINK_FCP_BYTES);
	uint8_t wire[DL_LINK_FCP_BYTES];
	struct dl_link_fcp got;

	dl_link_fcp_encode(fcp, wire);
	wire[bit / 8] ^= 1u << bit % 8;
	return dl_link_fcp_decode(wire, &got) != 0;
}

/* Is a flow-control packet lost on the wire, or damaged? */
bool dl_emu_loses_fcp(struct dl_emu *e, const struct dl_emu_link_port *p,
		      const struct dl_link_fcp *fcp)
{
	struct dl_emu_losses *l = &e->losses[p->number];

	if (!loss_happens(l, l->fcp_loss) &&
	    !(loss_happens(l, l->fcp_corrupt) && fcp_discarded(p, fcp)))
		return false;
	e->totals.fcps_lost++;
	return true;
}

/* An event for credit on its way to an output. */
void dl_emu_expect_credit(struct dl_emu *e, uint32_t channel, struct dl_emu_fcp fcp, uint64_t at)
{
	uint32_t record = dl_emu_packet(e);

	if (record == DL_EMU_NIL)
		return;
	e->stock.live--; /* is no packet */
	e->packets[record] = (struct dl_emu_pkt){
		.dlid = fcp.fccl,
		.bytes = fcp.fctbs,
		.out = fcp.sound,
		.flags = fcp.op,
		.epoch = e->ports[dl_emu_port_of(channel)].epoch,
	};
	dl_emu_channel_at(e, at, DL_EMU_EV_CREDIT, channel, record);
}

/* Does an output have credit for its first packet? */
bool dl_emu_has_credit(const struct dl_emu *e, const struct dl_emu_vl_port *o)
{
	struct dl_emu_vl_port copy = *o;

	dl_emu_see_credit(e, &copy);
	return dl_link_credit_may_send(&copy.tx, o->units);
}

/* Packets could go, if they had the credit that is under way. */
void dl_emu_wait_for_credit(struct dl_emu *e, struct dl_emu_link_port *p, unsigned int vls)
{
	e->look.blocked = true;
	for (; vls; vls &= vls - 1) {
		unsigned int v = __builtin_ctz(vls);
		struct dl_emu_vl_port *o = &p->vl[v];

		if (o->credit_at == DL_EMU_NEVER)
			continue;
		/* (Of FCTBS only the credit was kept: nothing has been lost.) */
		dl_emu_expect_credit(e, dl_emu_channel(p->number, v),
				     (struct dl_emu_fcp){ .fccl = o->credit }, o->credit_at);
		o->credit_at = DL_EMU_NEVER;
	}
}

/* A flow-control packet has arrived: see dl_emu_expect_credit() for what is in it. */
void dl_emu_credit(struct dl_emu *e, uint32_t channel, uint32_t record)
{
	uint32_t port = dl_emu_port_of(channel);
	struct dl_emu_link_port *p = &e->ports[port];
	struct dl_emu_vl_port *o = &p->vl[dl_emu_vl_of(channel)];
	const struct dl_emu_pkt *carried = &e->packets[record];
	enum dl_link_state state = p->hold & DL_EMU_DOWN ? DL_LINK_DOWN :
				   p->unheard		 ? DL_LINK_INITIALISE :
							   DL_LINK_ACTIVE;
	uint16_t ahead = carried->out - dl_emu_entered(e, o), before = o->rx.received;
	struct dl_link_fcp fcp = { .op = carried->flags,
				   .fccl = carried->dlid,
				   .fctbs = carried->bytes - ahead };

	dl_emu_recycle(e, record);
	e->stock.live++;
	if (p->epoch != carried->epoch || dl_link_fcp_take(state, &fcp, &e->terms, &o->tx, &o->rx))
		return;
	p->unheard &= ~(1u << dl_emu_vl_of(channel));
	o->credit_at = o->credit_at <= e->credited ? DL_EMU_NEVER : o->credit_at;
	if (o->rx.received != before)
		dl_emu_report(e, p, dl_emu_vl_of(channel));
	/* What credit has no event waits for the link's, too, at the same time. */
	if (!p->wake)
		dl_emu_transmit(e, p);
}

void dl_emu_deadline(struct dl_emu *e, uint32_t port)
{
	struct dl_emu_link_port *p = &e->ports[port];
	uint64_t span = dl_emu_rate_time(p->rate, DL_LINK_FCP_DEADLINE);
	bool down = p->hold & DL_EMU_DOWN;
	/* (The link may have been down and up again, and has others now.) */
	bool due = !down && e->now >= p->fcp_due && (e->now - p->fcp_due) % span == 0;
	/* (What has come up reports all that it has.) */
	bool more = e->mode.timers || (!down && vls_with_news(e, p));

	p->timer = false;
	e->background--;
	if (due && more) {
		dl_emu_pass_deadline(e, p, true);
		dl_emu_transmit(e, p);
		more = e->mode.timers || vls_with_news(e, p);
	}
	if (more)
		dl_emu_report_later(e, p);
}

/* ---- packets ----------------------------------------------------------- */

/* The packet of a VL and these SLs that could go now, or NIL. */
static uint32_t next_candidate(const struct dl_emu *e, uint32_t out, unsigned int sls)
{
	uint32_t packet = dl_emu_vl_at(e, out)->head;
	const struct dl_emu_pkt *pk = &e->packets[packet];
	uint32_t owner = e->mode.worms ? e->worm[out].owner : DL_EMU_NIL;

	if (owner != DL_EMU_NIL && pk->in != owner)
		return DL_EMU_NIL;
	for (;;) {
		const struct dl_emu_link_port *from = &e->ports[dl_emu_port_of(pk->in)];

		if (sls >> pk->sl & 1 &&
		    (!e->c.speedup || from->adapter != DL_EMU_NIL || from->readers < e->c.speedup))
			return packet;
		packet = pk->wait_next;
		if (packet == DL_EMU_NIL || owner != DL_EMU_NIL)
			return DL_EMU_NIL;
		pk = &e->packets[packet];
	}
}

/* The data VLs that can send where that may not be their first packet. */
static unsigned int choose_of(struct dl_emu *e, struct dl_emu_link_port *p, unsigned int sls,
			      uint32_t *packet, unsigned int *ready)
{
	unsigned int able = 0;

	for (unsigned int vls = p->waiting; vls; vls &= vls - 1) {
		unsigned int v = __builtin_ctz(vls);
		struct dl_emu_vl_port *o = &p->vl[v];

		packet[v] = next_candidate(e, dl_emu_channel(p->number, v), sls);
		if (packet[v] == DL_EMU_NIL)
			continue;
		*ready |= 1u << v;
		dl_emu_see_credit(e, o);
		if (dl_link_credit_may_send(&o->tx, e->packets[packet[v]].units))
			able |= 1u << v;
		else
			dl_emu_wait_for_credit(e, p, 1u << v);
	}
	return able;
}

/*
 * With an SL table: of the SLs that have a packet that could go, the one whose turn it is.
 * `*ready`: VLs with a packet whose input could pass it on.
 */
unsigned int dl_emu_choose(struct dl_emu *e, struct dl_emu_link_port *p, uint32_t *packet,
			   unsigned int *ready)
{
	unsigned int able = 0, sl;

	*ready = 0;
	if (!p->sl_turn.table)
		return choose_of(e, p, UINT_MAX, packet, ready);
	for (sl = 0; sl < DL_EMU_SLS; sl++)
		for (unsigned int vls = choose_of(e, p, 1u << sl, packet, ready); vls;
		     vls &= vls - 1)
			if (dl_link_arb_sends(p->arb.program, __builtin_ctz(vls)))
				able |= 1u << sl;
	sl = dl_emu_sl_turn_pick(&p->sl_turn, able);
	return sl == DL_EMU_SLS ? 0 : choose_of(e, p, 1u << sl, packet, ready);
}

/* What an input buffer holds. */
static uint32_t units_held(const struct dl_emu *e, uint32_t in)
{
	return (e->terms.size - dl_emu_vl_at(e, in)->rx.free) * e->c.chunk;
}

/*
 * Congestion control: a switch has begun to send a packet.  What waits for the same
 * output is the queue: with virtual output queues the packets for it, else the buffers
 * that the packet leaves, or whose first one waits for it.
 */
void dl_emu_mark(struct dl_emu *e, const struct dl_emu_link_port *p, uint32_t packet)
{
	const struct dl_emu_congestion *c = &e->c.congestion;
	const struct dl_emu_pkt *pk = &e->packets[packet];
	struct dl_emu_mark *m = &e->marks[pk->out];
	uint32_t above = e->c.buffer * (16 - c->threshold) / 16;
	uint32_t left = dl_link_credit_chunks(&e->terms, pk->units) * e->c.chunk;
	uint32_t queued = e->mode.voq ? m->queued : units_held(e, pk->in) - left;
	bool victim = e->now > p->busy_until && e->now > pk->since;

	if (pk->flags & DL_EMU_PK_MCAST || !dl_emu_is_data(pk->out) || (victim && !c->victims))
		return;
	for (uint32_t q = dl_emu_vl_at(e, pk->out)->head;
	     !e->mode.voq && q != DL_EMU_NIL && queued <= above; q = e->packets[q].wait_next)
		queued += units_held(e, e->packets[q].in);
	if (queued <= above || m->passed++ < c->marking_rate)
		return;
	m->passed = 0;
	e->origins[packet].marked = true;
	e->totals.marked++;
}

/* Is the packet lost on the wire?  Then its receiver does not enter it, but for a worm's. */
void dl_emu_damage(struct dl_emu *e, const struct dl_emu_link_port *p, struct dl_emu_pkt *pk,
		   struct dl_emu_vl_port *o)
{
	bool lost = loss_happens(&e->losses[p->number], e->losses[p->number].damage);

	/* A worm that loses a flit is lost as a whole. */
	if (lost)
		pk->flags |= DL_EMU_PK_LOST;
	if (!lost || e->mode.worms)
		o->sound += pk->units;
}

/* A flit is sent: who has the channel now?  Returns how long it takes. */
uint64_t dl_emu_worm_sent(struct dl_emu *e, const struct dl_emu_pkt *pk, uint64_t time)
{
	e->worm[pk->out].owner = pk->flags & DL_EMU_PK_TAIL ? DL_EMU_NIL : pk->in;
	/* What ends a cut worm is one symbol. */
	return pk->bytes ? time : dl_emu_rate_time(e->ports[dl_emu_port_of(pk->out)].rate, 1);
}

/* Is an input free now, and does a packet of it wait for this output? */
static bool can_serve(const struct dl_emu *e, const struct dl_emu_switch *s,
		      const struct dl_emu_link_port *out)
{
	for (unsigned int vls = s->freed ? out->waiting : 0; vls; vls &= vls - 1)
		for (uint32_t q = out->vl[__builtin_ctz(vls)].head; q != DL_EMU_NIL;
		     q = e->packets[q].wait_next)
			if (dl_emu_port_of(e->packets[q].in) == s->freed - 1)
				return true;
	return false;
}

/*
 * An input can pass on one packet more, or one less: which outputs want another one now?
 */
void dl_emu_wake_outputs(struct dl_emu *e, struct dl_emu_switch *s)
{
	for (unsigned int w = 0; w * 64 < s->nports; w++) {
		uint64_t left = s->unpaid[w] | (s->freed ? s->crossed[w] : 0);

		for (; left; left &= left - 1) {
			uint64_t bit = left & -left;
			struct dl_emu_link_port *p =
				&e->ports[s->ports[64 * w + __builtin_ctzll(left)]];

			if (e->now < p->busy_until ||
			    (!(s->unpaid[w] & bit) && e->now < p->fcp_due && !can_serve(e, s, p)))
				continue;
			s->unpaid[w] &= ~bit;
			s->crossed[w] &= ~bit;
			dl_emu_transmit(e, p);
		}
	}
}
