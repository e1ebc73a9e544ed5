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
 *
 * A multicast worm gets a branch towards each port of the group's table.  Each
 * takes the flits of the buffer at its own pace, holds its output from head to
 * tail, and a flit stays until all branches have sent it.  So a branch that is
 * held up fills the buffer and stops the others; worms that hold what branches of
 * each other wait for are in a deadlock within one switch, against which no
 * routing helps, but buffers for a whole packet do.
 *
 * A branch is the record of a packet: `next` the next branch, `out` its output,
 * `wait_next` the flit that it has come to and not done with, NIL: there is none
 * left; `bytes` 0, or 1 + why it throws its flits away.  A tail that a branch has
 * come to is a packet of its own.
 */
#include "config.h"

#include "emu/internal.h"

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

static void branch_gone_on(struct dl_emu *e, uint32_t in, uint32_t out);

/*
 * A copy for an output has left or was dropped; the last one takes the packet
 * with it.
 */
void dl_emu_copy_gone(struct dl_emu *e, uint32_t parent, uint32_t out)
{
	uint32_t in = e->packets[parent].in;

	if (e->worms && dl_emu_is_data(in)) {
		branch_gone_on(e, in, out);
		return;
	}
	if (--e->origins[parent].copies)
		return;
	set_reading(e, in, false);
	dl_emu_unbuffer(e, in);
	dl_emu_recycle(e, parent);
	dl_emu_look(e, in);
}

/* Throw away the head of a buffer. */
static void drop_head(struct dl_emu *e, uint32_t in, enum dl_emu_drop cause)
{
	struct dl_emu_vl_port *i = dl_emu_vl_at(e, in);
	uint32_t packet = i->in;
	uint8_t flags = e->packets[packet].flags;

	if (e->worms && !(flags & DL_EMU_PK_HEAD))
		e->packets[packet].out = e->worm[in].bound;
	dl_emu_unbuffer(e, in);
	if (flags & DL_EMU_PK_TAIL) {
		i->discard = false;
		dl_emu_lose(e, packet, cause);
	} else {
		i->discard = 1 + cause;
		dl_emu_recycle(e, packet);
	}
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

/* When may a packet start through this output? */
static uint64_t earliest(const struct dl_emu *e, const struct dl_emu_pkt *pk, uint32_t out)
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

/* A unicast packet at the head of its buffer.  False: it was dropped. */
static bool forward(struct dl_emu *e, const struct dl_emu_switch *s, uint32_t in)
{
	uint32_t packet = dl_emu_vl_at(e, in)->in, out;
	struct dl_emu_pkt *pk = &e->packets[packet];
	uint64_t start;

	if (pk->flags & DL_EMU_PK_HEAD) {
		unsigned int number = table_entry(s, pk->dlid);
		int cause = DL_EMU_DROP_NO_ENTRY;

		pk->out = DL_EMU_NIL;
		if (number != DL_TABLES_NO_PORT)
			cause = find_channel(e, s, in, pk, number, &pk->out);
		if (e->worms)
			e->worm[in].bound = pk->out;
		if (cause >= 0) {
			drop_head(e, in, cause);
			return false;
		}
	} else {
		pk->out = e->worm[in].bound;
	}
	out = pk->out;
	start = earliest(e, pk, out);
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
	uint32_t packet = output ? take_early(e, in, output) : dl_emu_vl_at(e, in)->in;
	uint32_t out = e->packets[packet].out, port = dl_emu_port_of(out);

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
static uint32_t copy(struct dl_emu *e, uint32_t parent)
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
	return packet;
}

/* One copy of a packet, towards one port.  False: no memory. */
static bool copy_to(struct dl_emu *e, const struct dl_emu_switch *s, uint32_t in, uint32_t parent,
		    unsigned int number)
{
	uint32_t packet = copy(e, parent), out;
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
	if (earliest(e, pk, out) > e->now) {
		pk->next = e->origins[parent].early;
		e->origins[parent].early = packet;
		dl_emu_channel_at(e, earliest(e, pk, out), DL_EMU_EV_READY, in,
				  dl_emu_output_of(e, out) | DL_EMU_EV_COPY);
		return true;
	}
	dl_emu_ask(e, packet, out);
	return true;
}

/* False: no copy is waiting, and the packet is gone. */
static bool spread(struct dl_emu *e, const struct dl_emu_switch *s, uint32_t in)
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

/* ---- multicast worms ---------------------------------------------------- */

/* How many branches of an input are at a flit, or how many are not? */
static unsigned int count_branches(const struct dl_emu *e, uint32_t in, uint32_t flit, bool at)
{
	unsigned int n = 0;

	for (uint32_t b = e->worm[in].branches; b != DL_EMU_NIL; b = e->packets[b].next)
		n += (e->packets[b].wait_next == flit) == at;
	return n;
}

/* A branch comes to a flit.  True: a copy of it has to wait for the output. */
static bool come_to(struct dl_emu *e, uint32_t in, uint32_t branch, uint32_t flit)
{
	struct dl_emu_pkt *b = &e->packets[branch];
	const struct dl_emu_pkt *pk = &e->packets[flit];
	bool tail = pk->flags & DL_EMU_PK_TAIL, to_switch;
	uint32_t packet;

	b->wait_next = flit;
	if (tail && pk->bytes && count_branches(e, in, flit, false))
		e->totals.injected++;
	to_switch = !b->bytes && !e->ports[dl_emu_port_of(b->out)].num;
	if (to_switch && pk->flags & DL_EMU_PK_LOST)
		b->bytes = 1 + DL_EMU_DROP_CORRUPT;
	if (!tail && (b->bytes || to_switch))
		return false;
	packet = copy(e, flit);
	if (packet == DL_EMU_NIL)
		return true;
	if (!b->bytes && !to_switch) {
		dl_emu_ask(e, packet, b->out);
		return true;
	}
	e->packets[packet].out = b->out;
	if (b->bytes)
		dl_emu_lose(e, packet, b->bytes - 1);
	else
		dl_emu_deliver(e, packet, dl_emu_port_of(b->out));
	return false;
}

/*
 * A branch has done with its flit: it comes to the next ones, up to one that has
 * to wait.  False: that was the tail.
 */
static bool goes_on(struct dl_emu *e, uint32_t in, uint32_t branch)
{
	struct dl_emu_pkt *b = &e->packets[branch];

	do {
		if (e->packets[b->wait_next].flags & DL_EMU_PK_TAIL)
			return false;
		b->wait_next = e->packets[b->wait_next].next;
	} while (b->wait_next != DL_EMU_NIL && !come_to(e, in, branch, b->wait_next));
	return true;
}

static void end_branch(struct dl_emu *e, uint32_t *link)
{
	uint32_t branch = *link;

	*link = e->packets[branch].next;
	dl_emu_recycle(e, branch);
}

/* What all branches have sent leaves the buffer.  False: so has the tail. */
static bool shrink(struct dl_emu *e, uint32_t in)
{
	uint32_t flit;

	while ((flit = dl_emu_vl_at(e, in)->in) != DL_EMU_NIL &&
	       !count_branches(e, in, flit, true) && !e->err) {
		bool tail = e->packets[flit].flags & DL_EMU_PK_TAIL;

		dl_emu_unbuffer(e, in);
		dl_emu_recycle(e, flit);
		if (!tail)
			continue;
		set_reading(e, in, false);
		return false;
	}
	return true;
}

/* The branches that have nothing to send come to a flit.  As shrink(). */
static bool feed(struct dl_emu *e, uint32_t in, uint32_t flit)
{
	uint32_t *link = &e->worm[in].branches;

	while (*link != DL_EMU_NIL)
		if (e->packets[*link].wait_next == DL_EMU_NIL && !come_to(e, in, *link, flit) &&
		    !goes_on(e, in, *link))
			end_branch(e, link);
		else
			link = &e->packets[*link].next;
	return shrink(e, in);
}

/* A flit has come behind others of a worm that is passing. */
void dl_emu_feed(struct dl_emu *e, uint32_t in, uint32_t flit)
{
	if (!feed(e, in, flit))
		dl_emu_look(e, in);
}

/* The branch of an input that leads to an output; what points to it. */
static uint32_t *find_branch(struct dl_emu *e, uint32_t in, uint32_t out)
{
	uint32_t *link = &e->worm[in].branches;

	while (e->packets[*link].out != out)
		link = &e->packets[*link].next;
	return link;
}

static void branch_gone_on(struct dl_emu *e, uint32_t in, uint32_t out)
{
	uint32_t *link = find_branch(e, in, out);

	if (!goes_on(e, in, *link))
		end_branch(e, link);
	if (!shrink(e, in))
		dl_emu_look(e, in);
}

/* What is still to come to an output of the worm that passes an input, is lost. */
void dl_emu_discard_worm(struct dl_emu *e, uint32_t in, uint32_t out, enum dl_emu_drop cause)
{
	if (e->worm[in].branches == DL_EMU_NIL)
		dl_emu_vl_at(e, in)->discard = 1 + cause;
	else
		e->packets[*find_branch(e, in, out)].bytes = 1 + cause;
}

/* The head of a multicast worm.  False: nothing of the worm is waiting. */
static bool split(struct dl_emu *e, const struct dl_emu_switch *s, uint32_t in)
{
	uint32_t head = dl_emu_vl_at(e, in)->in, *link = &e->worm[in].branches;
	unsigned int from = e->ports[dl_emu_port_of(in)].num;
	const uint64_t *mask = group_mask(s, e->packets[head].dlid);

	for (unsigned int n = 0; (n = next_member(mask, n, s->nports, from)) < s->nports; n++) {
		uint32_t branch = dl_emu_packet(e), out;

		if (branch == DL_EMU_NIL)
			return true;
		e->packets[branch] = (struct dl_emu_pkt){
			.bytes = 1 + find_channel(e, s, in, &e->packets[head], n, &out),
			.next = DL_EMU_NIL,
			.wait_next = DL_EMU_NIL,
		};
		e->packets[branch].out = out;
		*link = branch;
		link = &e->packets[branch].next;
	}
	e->worm[in].bound = DL_EMU_NIL;
	if (e->worm[in].branches == DL_EMU_NIL) {
		drop_head(e, in, DL_EMU_DROP_NO_ENTRY);
		return false;
	}
	set_reading(e, in, true);
	return feed(e, in, head);
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

		if (i->discard && !(flags & DL_EMU_PK_HEAD))
			drop_head(e, in, i->discard - 1);
		else if (!(flags & DL_EMU_PK_MCAST)	? forward(e, s, in) :
			 e->worms && dl_emu_is_data(in) ? split(e, s, in) :
							  spread(e, s, in))
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

		if (pk->flags & DL_EMU_PK_LOST && !e->worms) {
			dl_emu_lose(e, packet, DL_EMU_DROP_CORRUPT);
			return false;
		}
		if (data || i->room < e->c.smp_buffer) {
			i->room += !data;
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
	uint32_t in = e->packets[packet].in, out = e->packets[packet].out;
	uint32_t parent = dl_emu_parent(e, packet);

	dl_emu_unwait(e, packet);
	if (parent == DL_EMU_NIL) {
		drop_head(e, in, cause);
		dl_emu_look(e, in);
		return;
	}
	if (e->worms && dl_emu_is_data(in))
		dl_emu_discard_worm(e, in, out, cause);
	if (e->packets[packet].flags & DL_EMU_PK_TAIL)
		dl_emu_lose(e, packet, cause);
	else
		dl_emu_recycle(e, packet);
	dl_emu_copy_gone(e, parent, out);
}

/* A packet has begun to wait: it must not do so for ever. */
void dl_emu_limit_wait(struct dl_emu *e, uint32_t packet, uint32_t out)
{
	if (e->packets[packet].flags & DL_EMU_PK_HEAD)
		dl_emu_channel_at(e, e->now + e->c.hoq_life_ps, DL_EMU_EV_HOQ,
				  e->packets[packet].in, dl_emu_output_of(e, out));
}

/* Has the head of a buffer waited for all of its lifetime? */
void dl_emu_expire(struct dl_emu *e, uint32_t in, uint32_t output)
{
	const struct dl_emu_switch *s = dl_emu_switch_of(e, &e->ports[dl_emu_port_of(in)]);
	struct dl_emu_link_port *p = &e->ports[s->ports[output >> 4]];
	uint32_t packet = p->vl[output & 15].head;

	while (packet != DL_EMU_NIL && e->packets[packet].in != in)
		packet = e->packets[packet].wait_next;
	if (packet == DL_EMU_NIL || e->packets[packet].since + e->c.hoq_life_ps != e->now)
		return;
	dl_emu_drop_waiting(e, packet,
			    p->hold & DL_EMU_DOWN ? DL_EMU_DROP_DEAD_LINK : DL_EMU_DROP_HOQ_LIFE);
	dl_emu_transmit(e, p); /* the next one may be smaller */
}
