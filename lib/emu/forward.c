/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From a switch's input buffers to the queues of its outputs.
 *
 * Each VL of an input port has one buffer, first in, first out.  Only its
 * head looks for a way: forwarding table, then the map from SL to VL of this
 * input and output, then the output's queue for that VL.  All behind it wait;
 * that is what makes channels wait for each other, and credit loops deadly.
 *
 * A multicast packet stays at the head while its copies, one for each port
 * of the group's table except the one it came through, wait and leave
 * independently; its room is free when the last one has gone.
 *
 * Cut-through: a packet may be passed on when its header is in, but not so
 * early that a faster output would run out of bits: its tail must not leave
 * before it could have come through the switch.
 *
 * Wormhole: the head flit is routed, the others follow it.  A worm whose
 * head was thrown away is thrown away to its tail, and one that a failing link
 * cuts in two is brought to an end by a tail of no bytes (fault.c).
 */
#include "config.h"

#include "emu/node.h"

static const uint64_t *group_mask(const struct dl_emu_switch *s, uint16_t mlid)
{
	const struct dl_tables_mcast_group *g = dl_tables_find_group(s->tables, mlid);

	return g ? dl_tables_mask(&g->masks, s->their_sw) : NULL;
}

/* ---- the buffer -------------------------------------------------------- */

/* The head of a buffer is gone, without having been sent: free its room. */
void dl_emu_unbuffer(struct dl_emu *e, uint32_t in)
{
	struct dl_emu_vl_port *i = dl_emu_vl_at(e, in);
	const struct dl_emu_pkt *pk = &e->packets[i->in];

	i->in = pk->next;
	dl_emu_release(e, in, pk->units);
}

static void set_reading(struct dl_emu *e, uint32_t in, bool reading)
{
	struct dl_emu_link_port *q = &e->ports[dl_emu_port_of(in)];
	unsigned int bit = 1u << dl_emu_vl_of(in);

	q->reading = reading ? q->reading | bit : q->reading & ~bit;
}

/*
 * A copy for an output has left or was dropped; the last one takes the packet
 * with it.
 */
void dl_emu_copy_gone(struct dl_emu *e, uint32_t parent)
{
	uint32_t in = e->packets[parent].in;

	if (--e->origins[parent].copies)
		return;
	if (e->mode.voq) {
		dl_emu_voq_forget(e, parent);
		return;
	}
	set_reading(e, in, false);
	dl_emu_unbuffer(e, in);
	dl_emu_recycle(e, parent);
	dl_emu_look(e, in);
}

/* Throw away the head of a buffer. */
static void drop_head(struct dl_emu *e, uint32_t in, enum dl_emu_drop cause)
{
	uint32_t packet = dl_emu_vl_at(e, in)->in;
	uint8_t flags = e->packets[packet].flags;

	if (e->mode.worms && !(flags & DL_EMU_PK_HEAD))
		e->packets[packet].out = e->worm[in].bound;
	dl_emu_unbuffer(e, in);
	if (e->mode.worms)
		e->worm[in].discard = flags & DL_EMU_PK_TAIL ? 0 : 1 + cause;
	if (flags & DL_EMU_PK_TAIL)
		dl_emu_lose(e, packet, cause);
	else
		dl_emu_recycle(e, packet);
}

/* ---- routing ------------------------------------------------------------ */

/*
 * Why a packet cannot go that way; -1: it can, *out is the channel.  If it
 * cannot because of the output, *out is one of its channels.
 */
static int find_channel(const struct dl_emu *e, const struct dl_emu_switch *s, uint32_t in,
			const struct dl_emu_pkt *pk, unsigned int number, uint32_t *out)
{
	uint32_t port = number < s->nports ? s->ports[number] : DL_EMU_NIL;
	const struct dl_emu_link_port *p;
	unsigned int vl;

	*out = DL_EMU_NIL;
	if (port == DL_EMU_NIL)
		return DL_EMU_DROP_DEAD_LINK;
	p = &e->ports[port];
	*out = dl_emu_channel(port, 0);
	if (!number) /* the switch itself */
		return -1;
	if (p->hold & DL_EMU_DOWN && !e->c.hoq_life_ps)
		return DL_EMU_DROP_DEAD_LINK;
	if (!dl_emu_is_data(in)) {
		*out = dl_emu_channel(port, DL_LINK_VL_SMP);
		return -1;
	}
	vl = dl_emu_map_vl(s, e->ports[dl_emu_port_of(in)].num, number, pk->sl, p->vls);
	if (vl == DL_EMU_NO_VL)
		return DL_EMU_DROP_NO_VL;
	if (dl_link_arb_drops(p->arb.program, vl))
		return DL_EMU_DROP_UNLISTED;
	*out = dl_emu_channel(port, vl);
	return -1;
}

static inline unsigned int table_entry(const struct dl_emu_switch *s, uint16_t dlid)
{
	return dlid > s->top_lid ? DL_TABLES_NO_PORT : s->lft[dlid];
}

uint64_t dl_emu_earliest_start(const struct dl_emu *e, const struct dl_emu_pkt *pk, uint32_t out)
{
	const struct dl_emu_link_port *p = &e->ports[dl_emu_port_of(out)];
	uint64_t through = pk->since + e->c.switch_latency_ps;
	uint64_t time;

	if (through <= e->now)
		return 0;
	if (!p->num)
		return through;
	if (e->c.switching != DL_EMU_CUT_THROUGH)
		return 0;
	time = dl_emu_rate_time(p->rate, pk->bytes);
	return through > time ? through - time : 0;
}

int dl_emu_route(const struct dl_emu *e, const struct dl_emu_switch *s, uint32_t in,
		 const struct dl_emu_pkt *pk, uint32_t *out)
{
	unsigned int number = table_entry(s, pk->dlid);

	*out = DL_EMU_NIL;
	return number == DL_TABLES_NO_PORT ? DL_EMU_DROP_NO_ENTRY :
					     find_channel(e, s, in, pk, number, out);
}

/* A unicast packet at the head of its buffer.  False: it was dropped. */
static bool forward_head(struct dl_emu *e, const struct dl_emu_switch *s, uint32_t in)
{
	uint32_t packet = dl_emu_vl_at(e, in)->in, out;
	struct dl_emu_pkt *pk = &e->packets[packet];
	uint64_t start;

	if (pk->flags & DL_EMU_PK_HEAD) {
		int cause = dl_emu_route(e, s, in, pk, &out);

		pk->out = out;
		if (e->mode.worms)
			e->worm[in].bound = pk->out;
		if (cause >= 0) {
			drop_head(e, in, cause);
			return false;
		}
	} else {
		pk->out = e->worm[in].bound;
	}
	out = pk->out;
	start = dl_emu_earliest_start(e, pk, out);
	if (start <= e->now && e->ports[dl_emu_port_of(out)].num) {
		dl_emu_ask(e, packet, out);
		return true;
	}
	set_reading(e, in, true);
	dl_emu_channel_at(e, start > e->now ? start : e->now, DL_EMU_EV_READY, in, 0);
	return true;
}

/* The copy of a buffer's head that waits for its own bits towards an output. */
static uint32_t take_early(struct dl_emu *e, uint32_t in, uint32_t output)
{
	uint32_t *link = &e->origins[dl_emu_vl_at(e, in)->in].early, copy;

	while (dl_emu_output_of(e, e->packets[*link].out) != (output & ~DL_EMU_EV_COPY))
		link = &e->packets[*link].next;
	copy = *link;
	*link = e->packets[copy].next;
	return copy;
}

/* A packet that had to wait for its own bits can start. */
void dl_emu_ready(struct dl_emu *e, uint32_t in, uint32_t output)
{
	uint32_t packet, out, port;

	if (e->mode.voq) {
		dl_emu_voq_ready(e, in, output & ~DL_EMU_EV_COPY);
		return;
	}
	packet = output ? take_early(e, in, output) : dl_emu_vl_at(e, in)->in;
	out = e->packets[packet].out;
	port = dl_emu_port_of(out);
	if (!output)
		set_reading(e, in, false);
	if (e->ports[port].num) {
		dl_emu_ask(e, packet, out);
		if (e->ports[port].hold & DL_EMU_DOWN && !e->c.hoq_life_ps)
			dl_emu_drop_waiting(e, packet, DL_EMU_DROP_DEAD_LINK);
		return;
	}
	/* For the switch itself. */
	dl_emu_unbuffer(e, in);
	if (dl_emu_is_for(e, e->packets[packet].dlid, port))
		dl_emu_deliver(e, packet, port);
	else
		dl_emu_lose(e, packet, DL_EMU_DROP_WRONG_END);
	dl_emu_look(e, in);
}

/* ---- multicast --------------------------------------------------------- */

/* The next port from `n` on that a packet from `from` is copied to; or `end`. */
static unsigned int next_member(const uint64_t *mask, unsigned int n, unsigned int end,
				unsigned int from)
{
	while (n < end && (!mask || n == from || !(mask[n / 64] >> n % 64 & 1)))
		n++;
	return n;
}

/* NIL: no memory. */
static uint32_t copy_packet(struct dl_emu *e, uint32_t parent)
{
	uint32_t packet = dl_emu_packet(e);
	struct dl_emu_pkt *pk = &e->packets[packet];

	if (packet == DL_EMU_NIL)
		return packet;
	*pk = e->packets[parent];
	pk->flags |= DL_EMU_PK_COPY;
	pk->next = DL_EMU_NIL;
	e->origins[packet] = e->origins[parent];
	e->origins[packet].parent = parent;
	e->origins[packet].copies = 0;
	if (e->numbers)
		e->numbers[packet] = e->numbers[parent];
	if (e->sequence)
		e->sequence[packet].kind = DL_EMU_RC_NONE;
	return packet;
}

/* One copy of a packet, towards one port.  False: no memory. */
static bool copy_to(struct dl_emu *e, const struct dl_emu_switch *s, uint32_t in, uint32_t parent,
		    unsigned int number)
{
	uint32_t packet = copy_packet(e, parent), out;
	struct dl_emu_pkt *pk;
	int cause;

	if (packet == DL_EMU_NIL)
		return false;
	pk = &e->packets[packet];
	cause = find_channel(e, s, in, pk, number, &pk->out);
	out = pk->out;
	e->totals.injected++;
	if (cause >= 0) {
		dl_emu_lose(e, packet, cause);
		return true;
	}
	if (!number) {
		dl_emu_deliver(e, packet, s->ports[0]);
		return true;
	}
	e->origins[parent].copies++;
	if (e->mode.voq) {
		dl_emu_voq_join(e, in, out, packet);
		return true;
	}
	if (dl_emu_earliest_start(e, pk, out) > e->now) {
		pk->next = e->origins[parent].early;
		e->origins[parent].early = packet;
		dl_emu_channel_at(e, dl_emu_earliest_start(e, pk, out), DL_EMU_EV_READY, in,
				  dl_emu_output_of(e, out) | DL_EMU_EV_COPY);
		return true;
	}
	dl_emu_ask(e, packet, out);
	return true;
}

/* False: no copy is waiting, and the packet is gone. */
static bool spread_copies(struct dl_emu *e, const struct dl_emu_switch *s, uint32_t in)
{
	uint32_t parent = dl_emu_vl_at(e, in)->in;
	unsigned int from = e->ports[dl_emu_port_of(in)].num;
	uint64_t injected = e->totals.injected;
	const uint64_t *mask = group_mask(s, e->packets[parent].dlid);

	e->origins[parent].copies = 1; /* until all have been made */
	e->origins[parent].early = DL_EMU_NIL;
	set_reading(e, in, true);
	for (unsigned int n = 0; (n = next_member(mask, n, s->nports, from)) < s->nports; n++)
		if (!copy_to(e, s, in, parent, n))
			return true;
	e->origins[parent].copies--;
	if (e->totals.injected == injected) {
		/* Nobody to copy it to. */
		set_reading(e, in, false);
		drop_head(e, in, DL_EMU_DROP_NO_ENTRY);
		return false;
	}
	e->totals.injected--; /* it lives on in its copies */
	if (e->origins[parent].copies)
		return true;
	set_reading(e, in, false);
	dl_emu_unbuffer(e, in);
	dl_emu_recycle(e, parent);
	return false;
}

void dl_emu_spread(struct dl_emu *e, uint32_t in)
{
	spread_copies(e, dl_emu_switch_of(e, &e->ports[dl_emu_port_of(in)]), in);
}

/* ---- events ------------------------------------------------------------ */

/* Let the head of a buffer look for its way; and the next, if it is lost. */
void dl_emu_look(struct dl_emu *e, uint32_t in)
{
	struct dl_emu_link_port *q = &e->ports[dl_emu_port_of(in)];
	const struct dl_emu_switch *s = dl_emu_switch_of(e, q);
	struct dl_emu_vl_port *i = &q->vl[dl_emu_vl_of(in)];

	while (i->in != DL_EMU_NIL && !(q->reading >> dl_emu_vl_of(in) & 1) &&
	       !(e->packets[i->in].flags & DL_EMU_PK_WAITING) && !e->err) {
		uint8_t flags = e->packets[i->in].flags;

		if (!(flags & DL_EMU_PK_HEAD) && e->worm[in].discard)
			drop_head(e, in, e->worm[in].discard - 1);
		else if (flags & DL_EMU_PK_MCAST ? spread_copies(e, s, in) : forward_head(e, s, in))
			return;
	}
}

/* Do the packets of this link's epoch still count? */
bool dl_emu_came_through(struct dl_emu *e, uint32_t in, uint32_t packet)
{
	struct dl_emu_pkt *pk = &e->packets[packet];
	bool data = dl_emu_is_data(in);
	enum dl_emu_drop cause = DL_EMU_DROP_DEAD_LINK;

	if (pk->epoch == e->ports[dl_emu_port_of(in)].epoch) {
		struct dl_emu_vl_port *i = dl_emu_vl_at(e, in);

		if (pk->flags & DL_EMU_PK_LOST && !e->mode.worms) {
			dl_emu_lose(e, packet, DL_EMU_DROP_CORRUPT);
			return false;
		}
		if (data || i->rx.free) {
			i->rx.free -= !data;
			return true;
		}
		cause = DL_EMU_DROP_SMP_FULL;
	}
	pk->out = in; /* see count_drop() */
	if (pk->flags & DL_EMU_PK_TAIL)
		dl_emu_lose(e, packet, cause);
	else
		dl_emu_recycle(e, packet);
	return false;
}

void dl_emu_drop_waiting(struct dl_emu *e, uint32_t packet, enum dl_emu_drop cause)
{
	uint32_t in = e->packets[packet].in, parent = dl_emu_parent(e, packet);

	dl_emu_unwait(e, packet);
	if (e->mode.voq) {
		dl_emu_voq_drop(e, packet, cause);
		return;
	}
	if (parent == DL_EMU_NIL) {
		drop_head(e, in, cause);
		dl_emu_look(e, in);
		return;
	}
	dl_emu_lose(e, packet, cause);
	dl_emu_copy_gone(e, parent);
}

/* When the switch that a packet is in discards it. */
static uint64_t packet_expiry(const struct dl_emu *e, uint32_t packet)
{
	if (e->packets[packet].flags & DL_EMU_PK_COPY)
		packet = e->origins[packet].parent;
	return e->entered ? e->entered[packet] + e->c.lifetime_ps : UINT64_MAX;
}

/*
 * A packet has begun to wait: it must not do so for ever.  Those behind it in its buffer
 * have come later, so it is enough to look at the first one.
 */
void dl_emu_limit_wait(struct dl_emu *e, uint32_t packet, uint32_t out)
{
	uint64_t at = packet_expiry(e, packet);

	if (!(e->packets[packet].flags & DL_EMU_PK_HEAD))
		return;
	if (e->c.hoq_life_ps)
		dl_emu_channel_at(e, e->now + e->c.hoq_life_ps, DL_EMU_EV_HOQ,
				  e->packets[packet].in, dl_emu_output_of(e, out));
	if (e->entered)
		dl_emu_channel_at(e, at > e->now ? at : e->now, DL_EMU_EV_HOQ,
				  e->packets[packet].in, dl_emu_output_of(e, out));
}

/* Has the head of a buffer waited, or been there, for all of its lifetime? */
void dl_emu_expire(struct dl_emu *e, uint32_t in, uint32_t output)
{
	const struct dl_emu_switch *s = dl_emu_switch_of(e, &e->ports[dl_emu_port_of(in)]);
	struct dl_emu_link_port *p = &e->ports[s->ports[output >> 4]];
	uint32_t packet = p->vl[output & 15].head;
	bool old;

	while (packet != DL_EMU_NIL && e->packets[packet].in != in)
		packet = e->packets[packet].wait_next;
	if (packet == DL_EMU_NIL)
		return;
	old = packet_expiry(e, packet) <= e->now;
	if (!old && (!e->c.hoq_life_ps || e->packets[packet].since + e->c.hoq_life_ps != e->now))
		return;
	dl_emu_drop_waiting(e, packet,
			    p->hold & DL_EMU_DOWN ? DL_EMU_DROP_DEAD_LINK :
			    old			  ? DL_EMU_DROP_LIFETIME :
						    DL_EMU_DROP_HOQ_LIFE);
	dl_emu_transmit(e, p); /* the next one may be smaller */
}
