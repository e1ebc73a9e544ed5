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
 * cuts in two is brought to an end by a tail of no bytes (fault.c).  Multicast packets go as a
 * whole also then, as in store and forward: worms that split would wait for
 * each other's branches within one switch, which no routing can prevent.
 */
#include "config.h"

#include "emu/internal.h"

static const uint64_t *group_mask(const struct dl_emu_switch *s, uint16_t mlid)
{
	const struct dl_tables *t = s->tables;

	for (uint32_t g = 0; g < t->ngroups; g++)
		if (t->groups[g].mlid == mlid)
			return &t->groups[g].masks[s->their_sw * (size_t)DL_TABLES_MASK_WORDS];
	return NULL;
}

/* ---- the buffer -------------------------------------------------------- */

/* The head of a buffer is gone, without having been sent: free its room. */
void dl_emu_unbuffer(struct dl_emu *e, uint32_t in)
{
	struct dl_emu_in *i = &e->ins[in];
	const struct dl_emu_pkt *pk = &e->packets[i->head];

	i->head = pk->next;
	dl_emu_release(e, in, dl_emu_units(e, pk->bytes));
}

/* A copy has left or was dropped; the last one takes the packet with it. */
void dl_emu_copy_gone(struct dl_emu *e, uint32_t parent)
{
	uint32_t in = e->packets[parent].in;

	if (--e->packets[parent].copies)
		return;
	e->ins[in].reading = false;
	dl_emu_unbuffer(e, in);
	dl_emu_recycle(e, parent);
	dl_emu_head(e, in);
}

/* Throw away the head of a buffer. */
static void drop_head(struct dl_emu *e, uint32_t in, enum dl_emu_drop cause)
{
	uint32_t packet = e->ins[in].head;
	uint8_t flags = e->packets[packet].flags;

	dl_emu_unbuffer(e, in);
	if (flags & DL_EMU_PK_TAIL) {
		e->ins[in].discard = false;
		dl_emu_lose(e, packet, cause);
	} else {
		e->ins[in].discard = 1 + cause;
		dl_emu_recycle(e, packet);
	}
}

/* ---- routing ------------------------------------------------------------ */

/*
 * Why a packet cannot go that way; -1: it can, pk->out is the channel.  If it
 * cannot because of the output, pk->out is one of its channels.
 */
static int find_channel(const struct dl_emu *e, const struct dl_emu_switch *s, uint32_t in,
			struct dl_emu_pkt *pk, unsigned int number)
{
	uint32_t port = number < s->nports ? s->ports[number] : DL_EMU_NIL;
	const struct dl_emu_link_port *p;
	const struct dl_emu_wire *w;
	unsigned int vl;

	if (port == DL_EMU_NIL) {
		pk->out = DL_EMU_NIL;
		return DL_EMU_DROP_DEAD_LINK;
	}
	p = &e->ports[port];
	w = &e->wires[port];
	pk->out = dl_emu_channel(port, 0);
	if (!number) /* the switch itself */
		return -1;
	if (!p->up && !e->c.hoq_life_ps)
		return DL_EMU_DROP_DEAD_LINK;
	if (pk->flags & DL_EMU_PK_SMP)
		vl = DL_LINK_VL_SMP;
	else
		vl = dl_emu_map_vl(s, e->wires[dl_emu_port_of(in)].num, number, pk->sl, w->vls);
	if (vl == DL_EMU_NO_VL)
		return DL_EMU_DROP_NO_VL;
	if (!(pk->flags & DL_EMU_PK_SMP) && dl_link_arb_drops(p->arb.program, vl))
		return DL_EMU_DROP_UNLISTED;
	pk->out = dl_emu_channel(port, vl);
	return -1;
}

/* When may a packet start through this output? */
static uint64_t earliest(const struct dl_emu *e, const struct dl_emu_pkt *pk, uint32_t out)
{
	const struct dl_emu_link_port *p = &e->ports[dl_emu_port_of(out)];
	const struct dl_emu_wire *w = &e->wires[dl_emu_port_of(out)];
	uint64_t through = pk->since + e->c.switch_latency_ps;
	uint64_t time;

	if (through <= e->now)
		return 0;
	if (!w->num)
		return through;
	if (e->c.switching != DL_EMU_CUT_THROUGH)
		return 0;
	time = dl_emu_rate_time(p->rate, pk->bytes);
	return through > time ? through - time : 0;
}

static void ask(struct dl_emu *e, uint32_t packet, uint32_t out)
{
	dl_emu_wait_for(e, packet, out);
	if (e->c.hoq_life_ps && e->packets[packet].flags & DL_EMU_PK_HEAD)
		dl_emu_at(e, e->now + e->c.hoq_life_ps, DL_EMU_EV_HOQ, packet);
	dl_emu_transmit(e, dl_emu_port_of(out));
}

/* A unicast packet at the head of its buffer.  False: it was dropped. */
static bool forward(struct dl_emu *e, const struct dl_emu_switch *s, uint32_t in)
{
	uint32_t packet = e->ins[in].head, out;
	struct dl_emu_pkt *pk = &e->packets[packet];
	uint64_t start;

	if (pk->flags & DL_EMU_PK_HEAD) {
		unsigned int number = pk->dlid > s->top_lid ? DL_TABLES_NO_PORT : s->lft[pk->dlid];
		int cause = number == DL_TABLES_NO_PORT ? DL_EMU_DROP_NO_ENTRY :
							  find_channel(e, s, in, pk, number);

		if (cause >= 0) {
			drop_head(e, in, cause);
			return false;
		}
		out = e->ins[in].bound = pk->out;
	} else {
		out = e->ins[in].bound;
	}
	start = earliest(e, pk, out);
	if (start <= e->now && e->wires[dl_emu_port_of(out)].num) {
		ask(e, packet, out);
		return true;
	}
	pk->out = out;
	e->ins[in].reading = true;
	dl_emu_at(e, start > e->now ? start : e->now, DL_EMU_EV_READY, packet);
	return true;
}

/* A packet that had to wait for its own bits can start. */
void dl_emu_ready(struct dl_emu *e, uint32_t packet)
{
	struct dl_emu_pkt *pk = &e->packets[packet];
	uint32_t in = pk->in, port = dl_emu_port_of(pk->out);

	if (pk->parent == DL_EMU_NIL)
		e->ins[in].reading = false;
	if (e->wires[port].num) {
		ask(e, packet, pk->out);
		if (!e->ports[port].up && !e->c.hoq_life_ps)
			dl_emu_drop_waiting(e, packet, DL_EMU_DROP_DEAD_LINK);
		return;
	}
	/* For the switch itself. */
	dl_emu_unbuffer(e, in);
	if (dl_emu_is_for(e, pk->dlid, port))
		dl_emu_deliver(e, packet, port);
	else
		dl_emu_lose(e, packet, DL_EMU_DROP_WRONG_END);
	dl_emu_head(e, in);
}

/* ---- multicast --------------------------------------------------------- */

/* One copy of a packet, towards one port.  False: no memory. */
static bool copy_to(struct dl_emu *e, const struct dl_emu_switch *s, uint32_t in, uint32_t parent,
		    unsigned int number)
{
	uint32_t packet = dl_emu_packet(e), out;
	struct dl_emu_pkt *pk;
	int cause;

	if (packet == DL_EMU_NIL)
		return false;
	pk = &e->packets[packet];
	*pk = e->packets[parent];
	pk->parent = parent;
	pk->next = DL_EMU_NIL;
	pk->copies = 0;
	cause = find_channel(e, s, in, pk, number);
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
	e->packets[parent].copies++;
	if (earliest(e, pk, out) > e->now) {
		dl_emu_at(e, earliest(e, pk, out), DL_EMU_EV_READY, packet);
		return true;
	}
	ask(e, packet, out);
	return true;
}

/* False: no copy is waiting, and the packet is gone. */
static bool spread(struct dl_emu *e, const struct dl_emu_switch *s, uint32_t in)
{
	uint32_t parent = e->ins[in].head;
	struct dl_emu_pkt *pk = &e->packets[parent];
	unsigned int from = e->wires[dl_emu_port_of(in)].num;
	uint64_t injected = e->totals.injected;
	const uint64_t *mask;

	pk->copies = 1; /* until all have been made */
	e->ins[in].reading = true;
	mask = group_mask(s, pk->dlid);
	for (unsigned int n = 0; mask && n < s->nports; n++) {
		if (n == from || !(mask[n / 64] >> n % 64 & 1))
			continue;
		if (!copy_to(e, s, in, parent, n))
			return true;
	}
	pk = &e->packets[parent];
	pk->copies--;
	if (e->totals.injected == injected) {
		/* Nobody to copy it to. */
		e->ins[in].reading = false;
		drop_head(e, in, DL_EMU_DROP_NO_ENTRY);
		return false;
	}
	e->totals.injected--; /* it lives on in its copies */
	if (pk->copies)
		return true;
	e->ins[in].reading = false;
	dl_emu_unbuffer(e, in);
	dl_emu_recycle(e, parent);
	return false;
}

/* ---- events ------------------------------------------------------------ */

/* Let the head of a buffer look for its way; and the next, if it is lost. */
void dl_emu_head(struct dl_emu *e, uint32_t in)
{
	struct dl_emu_in *i = &e->ins[in];
	const struct dl_emu_switch *s = &e->switches[e->wires[dl_emu_port_of(in)].sw];

	while (i->head != DL_EMU_NIL && !i->reading &&
	       !(e->packets[i->head].flags & DL_EMU_PK_WAITING) && !e->err) {
		uint8_t flags = e->packets[i->head].flags;

		if (i->discard && !(flags & DL_EMU_PK_HEAD))
			drop_head(e, in, i->discard - 1);
		else if (flags & DL_EMU_PK_MCAST ? spread(e, s, in) : forward(e, s, in))
			return;
	}
}

/* Do the packets of this link's epoch still count? */
static bool came_through(struct dl_emu *e, uint32_t packet)
{
	struct dl_emu_pkt *pk = &e->packets[packet];
	uint32_t in = pk->in;
	struct dl_emu_link_port *p = &e->ports[dl_emu_port_of(in)];
	bool data = dl_emu_is_data(in);
	enum dl_emu_drop cause = DL_EMU_DROP_DEAD_LINK;

	if (pk->epoch == p->epoch) {
		if (pk->flags & DL_EMU_PK_LOST && e->c.switching != DL_EMU_WORMHOLE) {
			dl_emu_lose(e, packet, DL_EMU_DROP_CORRUPT);
			return false;
		}
		if (data || e->ins[in].stored < e->c.smp_buffer) {
			e->ins[in].stored += !data;
			return true;
		}
		cause = DL_EMU_DROP_SMP_FULL;
	} else if (data && (!(pk->flags & DL_EMU_PK_LOST) || e->c.switching == DL_EMU_WORMHOLE)) {
		dl_emu_release(e, in, dl_emu_units(e, pk->bytes));
	}
	if (pk->flags & DL_EMU_PK_TAIL)
		dl_emu_lose(e, packet, cause);
	else
		dl_emu_recycle(e, packet);
	return false;
}

void dl_emu_arrive(struct dl_emu *e, uint32_t packet)
{
	uint32_t in = e->packets[packet].in;

	if (!came_through(e, packet))
		return;
	if (dl_emu_is_data(in))
		dl_emu_maybe_send_fccl(e, in);
	dl_emu_enter(e, packet);
}

/* A packet comes into the buffer that it was sent to. */
void dl_emu_enter(struct dl_emu *e, uint32_t packet)
{
	uint32_t in = e->packets[packet].in;
	struct dl_emu_in *i = &e->ins[in];

	i->open = !(e->packets[packet].flags & DL_EMU_PK_TAIL);
	if (e->wires[dl_emu_port_of(in)].adapter != DL_EMU_NIL) {
		dl_emu_receive(e, packet);
		return;
	}
	if (i->head == DL_EMU_NIL)
		i->head = packet;
	else
		e->packets[i->tail].next = packet;
	i->tail = packet;
	if (i->head == packet && !i->reading)
		dl_emu_head(e, in);
}

void dl_emu_drop_waiting(struct dl_emu *e, uint32_t packet, enum dl_emu_drop cause)
{
	uint32_t in = e->packets[packet].in;
	uint32_t parent = e->packets[packet].parent;

	dl_emu_unwait(e, packet);
	if (parent == DL_EMU_NIL) {
		drop_head(e, in, cause);
		dl_emu_head(e, in);
		return;
	}
	dl_emu_lose(e, packet, cause);
	dl_emu_copy_gone(e, parent);
}

/* Has the head of a buffer waited for all of its lifetime? */
void dl_emu_expire(struct dl_emu *e, uint32_t packet)
{
	const struct dl_emu_pkt *pk = &e->packets[packet];
	uint32_t port;

	if (!(pk->flags & DL_EMU_PK_WAITING) || pk->since + e->c.hoq_life_ps != e->now)
		return;
	port = dl_emu_port_of(pk->out);
	if (e->wires[port].adapter != DL_EMU_NIL)
		return;
	dl_emu_drop_waiting(e, packet,
			    e->ports[port].up ? DL_EMU_DROP_HOQ_LIFE : DL_EMU_DROP_DEAD_LINK);
}
