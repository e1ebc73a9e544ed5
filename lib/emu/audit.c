/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The laws of conservation, from scratch.
 *
 * Every packet in memory is counted again where it must be found: in a
 * buffer, in front of an adapter's link, waiting to be taken in, or on its
 * way to a port (an event says so).  Their number is that of injected packets
 * that have not ended.  For each buffer, the room of what it holds makes up
 * what is not free; and its sender's credit and what is coming are together no
 * more than what is free.
 */
#include "config.h"

#include <string.h>

#include "emu/run.h"
#include "dateline/base.h"

struct count {
	const struct dl_emu *e;
	uint64_t packets; /* tails, not counting those with copies */
	uint64_t records;
	uint32_t *used;	  /* units by input channel */
	uint32_t *coming; /* the same, on the wire */
};

/* Does a packet live on in copies? */
static bool is_spread(const struct dl_emu *e, uint32_t packet)
{
	return (e->packets[packet].flags & (DL_EMU_PK_MCAST | DL_EMU_PK_COPY)) == DL_EMU_PK_MCAST &&
	       e->origins[packet].copies;
}

static void count_packet(const struct dl_emu *e, struct count *n, uint32_t packet, bool holds_room)
{
	const struct dl_emu_pkt *pk = &e->packets[packet];

	n->records++;
	n->packets += pk->flags & DL_EMU_PK_TAIL && pk->bytes && !is_spread(e, packet);
	if (holds_room && dl_emu_is_data(pk->in))
		n->used[pk->in] += dl_link_credit_chunks(&e->terms, pk->units);
}

/*
 * What an input channel of a switch has for outputs.  (Packets in a buffer whose
 * room is all free would be missed in the count of records.)
 */
static void count_voqs(const struct dl_emu *e, struct count *n, uint32_t in)
{
	const struct dl_emu_switch *s = dl_emu_switch_of(e, &e->ports[dl_emu_port_of(in)]);
	uint32_t first = dl_emu_channel(s->ports[0], 0);
	bool sending;

	if (dl_emu_vl_at(e, in)->rx.free == (dl_emu_is_data(in) ? e->terms.size : e->c.smp_buffer))
		return;
	for (uint32_t out = first; out < first + s->nlinked * DL_EMU_VLS; out++)
		for (uint32_t p = dl_emu_voq_head(e, in, out, &sending); p != DL_EMU_NIL;
		     p = e->packets[p].next)
			count_packet(e, n, p, !(e->packets[p].flags & DL_EMU_PK_COPY));
}

/* Copies, adapters' packets: those in a queue but in no buffer. */
static void count_queues(const struct dl_emu *e, struct count *n)
{
	for (uint32_t c = 0; c < e->nports * DL_EMU_VLS; c++) {
		const struct dl_emu_vl_port *v = dl_emu_vl_at(e, c);
		bool adapter = e->ports[dl_emu_port_of(c)].adapter != DL_EMU_NIL;

		for (uint32_t p = v->head; p != DL_EMU_NIL; p = e->packets[p].wait_next)
			if (adapter || (!e->mode.voq && e->packets[p].flags & DL_EMU_PK_COPY))
				count_packet(e, n, p, false);
		if (e->mode.voq && !adapter)
			count_voqs(e, n, c);
		for (uint32_t p = v->in; p != DL_EMU_NIL; p = e->packets[p].next) {
			count_packet(e, n, p, true);
			if (!is_spread(e, p))
				continue;
			for (uint32_t q = e->origins[p].early; q != DL_EMU_NIL;
			     q = e->packets[q].next)
				count_packet(e, n, q, false);
		}
	}
	for (uint32_t a = 0; a < e->nadapters; a++)
		for (uint32_t p = e->adapters[a].head; p != DL_EMU_NIL; p = e->packets[p].next)
			count_packet(e, n, p, true);
}

static void count_event(void *context, uint64_t time, uint32_t log, unsigned int kind,
			uint64_t what)
{
	struct count *n = context;
	const struct dl_emu *e = n->e;
	uint32_t id = what & DL_EMU_EV_PACKET;
	uint32_t channel = dl_emu_event_channel(what);
	const struct dl_emu_link_port *p = &e->ports[dl_emu_port_of(channel)];

	(void)time;
	(void)log;
	switch (kind) {
	case DL_EMU_EV_ARRIVE:
	case DL_EMU_EV_TAKE:
		count_packet(e, n, id, false);
		/* What was damaged will be entered nowhere. */
		if (e->packets[id].epoch == p->epoch &&
		    (!(e->packets[id].flags & DL_EMU_PK_LOST) || e->mode.worms))
			n->coming[channel] += e->packets[id].units;
		break;
	case DL_EMU_EV_TAIL:
		/* The buffer that it is leaving. */
		if (p->adapter == DL_EMU_NIL && !(p->sending_flags & DL_EMU_PK_COPY) &&
		    dl_emu_is_data(what & DL_EMU_EV_INPUT))
			n->used[what & DL_EMU_EV_INPUT] +=
				dl_link_credit_chunks(&e->terms, p->sending_units);
		break;
	default:
		break;
	}
}

/*
 * Is what is used and what is free the whole buffer, and credit with what is
 * coming not above it?
 */
static bool is_balanced(const struct dl_emu *e, uint32_t in, uint32_t used, uint32_t coming)
{
	const struct dl_emu_vl_port *i = dl_emu_vl_at(e, in), *o;
	uint32_t peer = e->ports[dl_emu_port_of(in)].peer;

	if (peer == DL_EMU_NIL || !dl_emu_is_data(in))
		return true;
	o = dl_emu_vl_at(e, dl_emu_channel(peer, dl_emu_vl_of(in)));
	return i->rx.free + used == e->terms.size &&
	       (e->ports[peer].hold & DL_EMU_DOWN ||
		(coming == dl_emu_coming(e, o, i) &&
		 dl_link_credit_balance(&o->tx) + coming <= i->rx.free));
}

int dl_emu_audit(const struct dl_emu *e, const struct dl_log *log)
{
	uint32_t n = e->nports * DL_EMU_VLS;
	struct count count = { .e = e, .used = calloc(2 * (n + 1ul), sizeof(uint32_t)) };
	uint64_t in_flight = 0, live = 0;
	bool broken;

	if (!count.used)
		return -ENOMEM;
	count.coming = count.used + n + 1;
	count_queues(e, &count);
	for (uint32_t i = 0; i < e->split.n; i++) {
		const struct dl_emu *shard = e->split.shard[i];
		const struct dl_emu_totals *t = &shard->totals;

		in_flight += t->injected - t->delivered - t->dropped;
		live += shard->stock.live;
		dl_emu_events_each(&shard->events, count_event, &count);
	}
	broken = dl_broken(log, count.packets == in_flight) ||
		 dl_broken(log, count.records == live);
	for (uint32_t in = 0; !broken && in < n; in++)
		broken = dl_broken(log, is_balanced(e, in, count.used[in], count.coming[in]));
	free(count.used);
	return e->err ? e->err : broken ? -EPROTO : 0;
}
