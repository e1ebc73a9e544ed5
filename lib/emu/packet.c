/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where packets begin and end.
 *
 * Records of packets are numbered for all shards; each takes new ones in
 * stocks, and keeps those that have ended for itself.
 */
#include "config.h"

#include <sys/mman.h>

#include "emu/packet.h"

/* ---- new ones --------------------------------------------------------- */

#define GIVEN 64 /* to a shard at a time */

void *dl_emu_reserve(struct dl_emu *e, size_t n, size_t size)
{
	struct dl_emu_reserved r = { .bytes = n * size };

	r.at = mmap(NULL, r.bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r.at == MAP_FAILED) {
		e->err = -ENOMEM;
		return NULL;
	}
	e->reserved[e->nreserved++] = r;
	return r.at;
}

/* More packets for a shard; false: there are none. */
static bool more_packets(struct dl_emu *e)
{
	uint32_t *given = &e->split.shard[0]->stock.given, end = DL_EMU_EV_PACKET;
	uint32_t first = __atomic_fetch_add(given, GIVEN, __ATOMIC_RELAXED);

	if (first >= end) {
		__atomic_fetch_sub(given, GIVEN, __ATOMIC_RELAXED);
		return false;
	}
	e->stock.fresh = first;
	e->stock.end = end - first < GIVEN ? end : first + GIVEN;
	return true;
}

uint32_t dl_emu_packet(struct dl_emu *e)
{
	uint32_t packet = e->stock.recycled;

	if (packet != DL_EMU_NIL) {
		e->stock.recycled = e->packets[packet].next;
	} else {
		if (e->stock.fresh == e->stock.end && !more_packets(e)) {
			e->err = -EOVERFLOW;
			return DL_EMU_NIL;
		}
		packet = e->stock.fresh++;
	}
	e->stock.live++;
	return packet;
}

/* ---- steps ------------------------------------------------------------ */

void dl_emu_report_step(const struct dl_emu *e, const struct dl_emu_step *step, uint32_t packet,
			uint32_t port)
{
	struct dl_emu_step s = *step;

	s.at = e->now;
	s.port = e->fabric_port[port];
	if (packet != DL_EMU_NIL) {
		const struct dl_emu_pkt *pk = &e->packets[packet];

		s.packet = e->numbers[packet];
		s.flow = e->origins[packet].flow;
		s.dlid = pk->dlid;
		s.bytes = pk->bytes;
		s.sl = pk->sl;
	}
	e->source.step(e->source.context, &s);
}

/* ---- ends ------------------------------------------------------------- */

/* A packet ends; if it was a message's last, the source of a closed loop learns of it. */
static inline void packet_end(struct dl_emu *e, uint32_t packet)
{
	uint8_t flags = e->packets[packet].flags;
	uint32_t flow = e->origins[packet].flow;

	if (flags & DL_EMU_PK_LAST && !(flags & DL_EMU_PK_MCAST) && e->flows[flow].window &&
	    !(e->sequence && e->sequence[packet].kind))
		dl_emu_tell_flow(e, flow, DL_EMU_EV_ENDED);
	dl_emu_recycle(e, packet);
}

/* What a packet's end is, to whoever wants to know. */
static void report_end(const struct dl_emu *e, enum dl_emu_step_kind kind, uint32_t packet,
		       uint32_t port, enum dl_emu_drop cause)
{
	if (__builtin_expect(!e->numbers, 1))
		return;
	dl_emu_report_step(e,
			   &(struct dl_emu_step){ .kind = kind,
						  .vl = dl_emu_vl_of(e->packets[packet].in),
						  .cause = cause },
			   packet, port);
}

/* The port's counter that IBA 16.1.3.5 has for it, if there is one. */
static void count_drop(struct dl_emu *e, const struct dl_emu_pkt *pk, enum dl_emu_drop cause)
{
	struct dl_emu_port *in = &e->counters[dl_emu_port_of(pk->in)];

	switch (cause) {
	case DL_EMU_DROP_NO_ENTRY:
	case DL_EMU_DROP_NO_VL:
		in->relay_errors++;
		break;
	case DL_EMU_DROP_DEAD_LINK:
	case DL_EMU_DROP_HOQ_LIFE:
	case DL_EMU_DROP_LIFETIME:
	case DL_EMU_DROP_UNLISTED:
		/* What was on the wire: the peer's.  (An adapter's has one channel, too.) */
		if (pk->out == pk->in && !(pk->flags & DL_EMU_PK_WAITING))
			e->ports[dl_emu_port_of(pk->in)].cut++;
		else if (pk->out != DL_EMU_NIL)
			e->ports[dl_emu_port_of(pk->out)].discards++;
		else /* the table names a port without a cable */
			in->relay_errors++;
		break;
	case DL_EMU_DROP_CORRUPT:
		in->rcv_errors++;
		break;
	case DL_EMU_DROP_SMP_FULL:
		in->vl15_dropped++;
		break;
	case DL_EMU_DROP_WRONG_END:
	case DL_EMU_DROP_SEQUENCE:
	case DL_EMU_DROPS:
		break;
	}
}

void dl_emu_lose(struct dl_emu *e, uint32_t packet, enum dl_emu_drop cause)
{
	if (!e->packets[packet].bytes) { /* what it ends is counted */
		dl_emu_recycle(e, packet);
		return;
	}
	e->totals.dropped++;
	e->totals.drops[cause]++;
	count_drop(e, &e->packets[packet], cause);
	report_end(e, DL_EMU_STEP_DROPPED, packet, dl_emu_port_of(e->packets[packet].in), cause);
	packet_end(e, packet);
}

static void count_delivered(const struct dl_emu *e, const struct dl_emu_origin *from,
			    struct dl_emu_delivered *d)
{
	uint64_t latency = e->now - from->created;

	d->packets++;
	d->bytes += from->data;
	d->latency_sum += latency;
	if (latency > d->latency_max)
		d->latency_max = latency;
}

static void count_pair(const struct dl_emu *e, const struct dl_emu_origin *from, uint32_t port)
{
	uint32_t src = e->flows[from->flow].adapter, to = e->ports[port].adapter;

	if (to != DL_EMU_NIL)
		count_delivered(e, from, &e->pairs[src * (size_t)e->nadapters + to]);
}

/* To the rank that it is for; a message's latency is that of its last packet. */
static void deliver_to_program(struct dl_emu *e, const struct dl_emu_pkt *pk,
			       const struct dl_emu_origin *from, uint32_t port)
{
	if (pk->flags & DL_EMU_PK_LAST)
		dl_emu_histogram_add(&e->levels[0].message, e->now - from->created);
	e->source.arrived(e->source.program, e, from->flow, e->fabric_port[port], from->early,
			  from->data);
}

void dl_emu_deliver(struct dl_emu *e, uint32_t packet, uint32_t port)
{
	const struct dl_emu_pkt *pk = &e->packets[packet];
	const struct dl_emu_origin *from = &e->origins[packet];
	bool second = pk->flags & DL_EMU_PK_LEVEL;
	struct dl_emu_level *level =
		&e->levels[dl_emu_is_data(pk->in) ? second : DL_EMU_MANAGEMENT];

	if (!(pk->flags & DL_EMU_PK_TAIL)) {
		dl_emu_recycle(e, packet);
		return;
	}
	e->totals.delivered++;
	e->totals.delivered_bytes += from->data;
	e->totals.latency_sum += e->now - from->created;
	e->totals.last_delivery = e->now;
	level->packets++;
	level->bytes += from->data;
	count_delivered(e, from, &level->sl[pk->sl]);
	dl_emu_histogram_add(&level->latency, e->now - from->created);
	dl_emu_histogram_add(&level->network, e->now - from->injected);
	if (e->pairs)
		count_pair(e, from, port);
	report_end(e, DL_EMU_STEP_DELIVERED, packet, port, 0);
	if (from->marked)
		dl_emu_tell_flow(e, from->flow, DL_EMU_EV_BECN);
	if (e->source.program && from->flow >= e->source.first)
		deliver_to_program(e, pk, from, port);
	if (e->source.delivered) {
		struct dl_emu_delivery d = {
			.created = from->created,
			.injected = from->injected,
			.at = e->now,
			.flow = from->flow,
			.dst = e->fabric_port[port],
			.bytes = from->data,
			.dlid = pk->dlid,
			.level = second,
			.sl = pk->sl,
			.last = pk->flags & DL_EMU_PK_LAST,
		};

		if (e->split.n == 1)
			e->source.delivered(e->source.context, &d);
		else
			dl_emu_note(e, &d);
	}
	packet_end(e, packet);
}

void dl_emu_deliver_ack(struct dl_emu *e, uint32_t packet, uint32_t port)
{
	e->totals.delivered++;
	report_end(e, DL_EMU_STEP_DELIVERED, packet, port, 0);
	dl_emu_recycle(e, packet);
}
