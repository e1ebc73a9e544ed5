/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Virtual output queues.
 *
 * Problem.  In a buffer that is first in, first out, a packet whose output is
 * busy holds up those behind it, whose outputs may be free: under uniform
 * traffic a large switch then carries .586 of what its links could (Karol,
 * Hluchyj and Morgan 1987).
 *
 * Method.  A packet finds its output when it arrives, and joins the queue that
 * its input channel has for that output channel.  The buffer, its room and its
 * credit stay those of the input channel.  The first packet of each such queue
 * stands in the queue of the output, where buffers that are first in, first out
 * have their heads; so all that chooses there is the same.
 *
 * The allocator.  At each output and VL, queues take turns: the first of them in
 * the order of asking goes, among those whose input may pass on one packet more
 * (`speedup`).  A queue asks again when the tail of its former packet has left,
 * so it comes behind all that ask at that time: round robin.  An output that finds
 * no such input is asked again when one of its switch is free (hop.c).
 *
 *	input channel 0x32	0x64: A D	0x71: B
 *	input channel 0x52	0x64: C		output 0x64 waits for: A C
 *
 * When A has left, output 0x64 has C D; B is sent whenever 0x71 is free.
 *
 * Multicast.  Copies join the queues of their outputs.  The packet itself is in
 * the buffer's list until the last copy has left.
 *
 * Complexity: O(1) a packet.  The table has a place for each pair of an input and an
 * output channel of a switch; of its memory what is touched is used, a plane of the
 * ports of all switches for each pair of VLs that occurs.
 */
#include "config.h"

#include "emu/node.h"

static struct dl_emu_voq *voq_of(const struct dl_emu *e, uint32_t in, uint32_t out)
{
	uint32_t sw = e->ports[dl_emu_port_of(in)].sw;
	const struct dl_emu_switch *s = &e->switches[sw];
	uint64_t plane = dl_emu_vl_of(in) * DL_EMU_VLS + dl_emu_vl_of(out);
	uint64_t row = dl_emu_port_of(in) - s->ports[0];

	return &e->voq.at[plane * e->voq.plane + e->voq.first[sw] + row * s->nlinked +
			  dl_emu_port_of(out) - s->ports[0]];
}

uint32_t dl_emu_voq_head(const struct dl_emu *e, uint32_t in, uint32_t out, bool *sending)
{
	const struct dl_emu_voq *v = voq_of(e, in, out);

	*sending = v->sending;
	return v->head - 1u;
}

/* The first packet of a queue is gone. */
static void voq_pop(struct dl_emu *e, struct dl_emu_voq *v)
{
	const struct dl_emu_pkt *pk = &e->packets[v->head - 1u];

	if (e->marks)
		e->marks[pk->out].queued -= pk->units;
	v->head = e->packets[v->head - 1u].next + 1u;
}

/* What stood in a queue is dropped, or delivered to the switch itself. */
static void voq_end(struct dl_emu *e, uint32_t packet, int cause)
{
	struct dl_emu_pkt *pk = &e->packets[packet];
	uint32_t in = pk->in, parent = dl_emu_parent(e, packet);

	if (parent == DL_EMU_NIL)
		dl_emu_release(e, in, pk->units);
	if (cause < 0)
		dl_emu_deliver(e, packet, dl_emu_port_of(pk->out));
	else
		dl_emu_lose(e, packet, cause);
	if (parent != DL_EMU_NIL)
		dl_emu_copy_gone(e, parent);
}

/* The first packet of a queue asks for its output, as soon as its bits suffice. */
static void voq_ask(struct dl_emu *e, uint32_t in, uint32_t out)
{
	struct dl_emu_voq *v = voq_of(e, in, out);
	const struct dl_emu_link_port *p = &e->ports[dl_emu_port_of(out)];
	uint64_t start;

	while (v->head && !v->sending) {
		uint32_t packet = v->head - 1u;

		if (p->hold & DL_EMU_DOWN && p->num && !e->c.hoq_life_ps) {
			voq_pop(e, v);
			voq_end(e, packet, DL_EMU_DROP_DEAD_LINK);
			continue;
		}
		start = dl_emu_earliest_start(e, &e->packets[packet], out);
		if (start <= e->now && p->num)
			dl_emu_ask(e, packet, out);
		else
			dl_emu_channel_at(e, start > e->now ? start : e->now, DL_EMU_EV_READY, in,
					  dl_emu_output_of(e, out) | DL_EMU_EV_COPY);
		return;
	}
}

void dl_emu_voq_join(struct dl_emu *e, uint32_t in, uint32_t out, uint32_t packet)
{
	struct dl_emu_voq *v = voq_of(e, in, out);
	bool first = !v->head;

	e->packets[packet].out = out;
	e->packets[packet].next = DL_EMU_NIL;
	if (e->marks)
		e->marks[out].queued += e->packets[packet].units;
	if (first)
		v->head = packet + 1u;
	else
		e->packets[v->tail].next = packet;
	v->tail = packet;
	if (first)
		voq_ask(e, in, out);
}

void dl_emu_voq_store(struct dl_emu *e, uint32_t in, uint32_t packet)
{
	struct dl_emu_link_port *q = &e->ports[dl_emu_port_of(in)];
	struct dl_emu_vl_port *i = &q->vl[dl_emu_vl_of(in)];
	struct dl_emu_pkt *pk = &e->packets[packet];
	uint32_t out;
	int cause;

	if (pk->flags & DL_EMU_PK_MCAST) {
		pk->next = i->in;
		i->in = packet;
		dl_emu_spread(e, in);
		return;
	}
	cause = dl_emu_route(e, dl_emu_switch_of(e, q), in, pk, &out);
	pk->out = out;
	if (cause >= 0)
		voq_end(e, packet, cause);
	else
		dl_emu_voq_join(e, in, out, packet);
}

/* A packet has waited for its own bits. */
void dl_emu_voq_ready(struct dl_emu *e, uint32_t in, uint32_t output)
{
	const struct dl_emu_switch *s = dl_emu_switch_of(e, &e->ports[dl_emu_port_of(in)]);
	uint32_t out = dl_emu_channel(s->ports[output >> 4], output & 15);
	struct dl_emu_voq *v = voq_of(e, in, out);
	uint32_t packet = v->head - 1u;

	if (output >> 4) {
		voq_ask(e, in, out);
		return;
	}
	voq_pop(e, v);
	voq_end(e, packet,
		dl_emu_is_for(e, e->packets[packet].dlid, s->ports[0]) ? -1 :
									 DL_EMU_DROP_WRONG_END);
	voq_ask(e, in, out);
}

void dl_emu_voq_leave(struct dl_emu *e, uint32_t in, uint32_t out)
{
	struct dl_emu_voq *v = voq_of(e, in, out);

	voq_pop(e, v);
	v->sending = true;
}

void dl_emu_voq_sent(struct dl_emu *e, uint32_t in, uint32_t out)
{
	voq_of(e, in, out)->sending = false;
	voq_ask(e, in, out);
}

/* A packet that was taken out of an output's queue. */
void dl_emu_voq_drop(struct dl_emu *e, uint32_t packet, enum dl_emu_drop cause)
{
	uint32_t in = e->packets[packet].in, out = e->packets[packet].out;

	voq_pop(e, voq_of(e, in, out));
	voq_end(e, packet, cause);
	voq_ask(e, in, out);
}

void dl_emu_voq_forget(struct dl_emu *e, uint32_t parent)
{
	struct dl_emu_pkt *pk = &e->packets[parent];
	uint32_t *link = &dl_emu_vl_at(e, pk->in)->in;

	while (*link != parent)
		link = &e->packets[*link].next;
	*link = pk->next;
	dl_emu_release(e, pk->in, pk->units);
	dl_emu_recycle(e, parent);
}

/* ---- setting up ---------------------------------------------------------- */

int dl_emu_voq_new(struct dl_emu *e)
{
	if (!e->mode.voq)
		return 0;
	e->voq.first = dl_arena_array(&e->arena, e->f->nswitches + 1ul, sizeof(*e->voq.first));
	if (!e->voq.first)
		return -ENOMEM;
	for (uint32_t s = 0; s < e->f->nswitches; s++) {
		e->voq.first[s] = e->voq.plane;
		e->voq.plane += e->switches[s].nlinked * (uint64_t)e->switches[s].nlinked;
	}
	e->voq.at =
		dl_emu_reserve(e, (e->voq.plane + 1) * DL_EMU_VLS * DL_EMU_VLS, sizeof(*e->voq.at));
	return e->err;
}
