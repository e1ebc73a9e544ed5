/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * When a bucket of events is opened: what will they need?
 *
 * Ways.  Where will those want to go that arrive at switches in it?  The way is
 * kept in pk->out: it is right as long as nobody changes tables or links.
 *
 * Caches.  A large fabric does not fit into the processor's caches, and an event
 * touches a dozen places that nobody has touched for long.  Each takes a hundred
 * nanoseconds, in which half an event would be served; but the processor can
 * wait for many at the same time.  So all that events name is asked for at
 * first, and then what that leads to, in as far as it was seen to pay:
 *
 *	TAIL	port, input port, its channel
 *	ARRIVE	input port, its channel, packet		switch's output, output
 *	TAKE	input port, its channel, packet		adapter, credit
 *	MESSAGE	flow					adapter, its port, path SL
 *
 * What comes to the bucket while it is served was not asked for; the way of a
 * packet that does is found when it is the head of its buffer.
 *
 * Complexity: O(1) an event.
 */
#include "config.h"

#include "emu/node.h"

#define EACH static inline __attribute__((always_inline)) void

/* Call `visit` for each event of a log in the present bucket. */
EACH prefetch_each(const struct dl_emu *e, enum dl_emu_log log,
		   void (*visit)(const struct dl_emu *, uint64_t key))
{
	for (const uint64_t *k = e->events.at[log]; *k != DL_EMU_NO_EVENT; k++)
		visit(e, *k);
}

/* (A compiler may leave out calls that do nothing else; not those with an asm.) */
static inline void prefetch_line(const void *line)
{
	__builtin_prefetch(line);
	__asm__ volatile("");
}

static inline uint32_t prefetch_channel_of(const struct dl_emu *e, uint64_t key)
{
	return dl_emu_event_channel(dl_emu_events_what(&e->events, key));
}

static inline const struct dl_emu_link_port *prefetch_port_of(const struct dl_emu *e, uint64_t key)
{
	return &e->ports[dl_emu_port_of(prefetch_channel_of(e, key))];
}

static inline uint32_t prefetch_packet_of(uint64_t key)
{
	return key & DL_EMU_EV_PACKET;
}

static inline void prefetch_port(const struct dl_emu_link_port *p)
{
	prefetch_line(p);
	prefetch_line(&p->number);
}

/* ---- what events name ---------------------------------------------------- */

EACH prefetch_tail(const struct dl_emu *e, uint64_t key)
{
	uint32_t in = key & DL_EMU_EV_INPUT;

	prefetch_port(prefetch_port_of(e, key));
	prefetch_port(&e->ports[dl_emu_port_of(in)]);
	prefetch_line(dl_emu_vl_at(e, in));
}

EACH prefetch_arrive(const struct dl_emu *e, uint64_t key)
{
	prefetch_line(prefetch_port_of(e, key));
	prefetch_line(dl_emu_vl_at(e, prefetch_channel_of(e, key)));
	prefetch_line(&e->packets[prefetch_packet_of(key)]);
}

EACH prefetch_take(const struct dl_emu *e, uint64_t key)
{
	prefetch_arrive(e, key);
	prefetch_line(&prefetch_port_of(e, key)->number);
	prefetch_line(&e->origins[prefetch_packet_of(key)]);
	prefetch_line(&e->counters[dl_emu_port_of(prefetch_channel_of(e, key))]);
}

EACH prefetch_wake(const struct dl_emu *e, uint64_t key)
{
	prefetch_port(prefetch_port_of(e, key));
}

EACH prefetch_other(const struct dl_emu *e, uint64_t key)
{
	unsigned int kind = dl_emu_events_kind(&e->events, key);

	if (kind == DL_EMU_EV_TAKE)
		prefetch_take(e, key);
	else if (kind == DL_EMU_EV_MESSAGE)
		prefetch_line(&e->flows[(uint32_t)key]);
	else if (kind == DL_EMU_EV_DEADLINE)
		prefetch_wake(e, key);
}

/* ---- what that leads to -------------------------------------------------- */

/* The number of the port through which a packet will leave a switch. */
static inline unsigned int prefetch_next_port(const struct dl_emu *e,
					      const struct dl_emu_link_port *q,
					      const struct dl_emu_pkt *pk)
{
	return pk->dlid < e->routes.n ? e->routes.at[pk->dlid * e->routes.row + q->sw] :
					DL_TABLES_NO_PORT;
}

EACH prefetch_output(const struct dl_emu *e, uint64_t key)
{
	const struct dl_emu_link_port *q = prefetch_port_of(e, key);

	prefetch_line(
		&dl_emu_switch_of(e, q)
			 ->ports[prefetch_next_port(e, q, &e->packets[prefetch_packet_of(key)])]);
}

EACH prefetch_adapter(const struct dl_emu *e, uint64_t key)
{
	const struct dl_emu_link_port *q = prefetch_port_of(e, key);

	prefetch_line(&e->adapters[q->adapter]);
	prefetch_line(&e->ports[q->peer].vl[dl_emu_vl_of(prefetch_channel_of(e, key))]);
}

EACH prefetch_adapter_or_message(const struct dl_emu *e, uint64_t key)
{
	const struct dl_emu_flow *f = &e->flows[(uint32_t)key];
	const struct dl_emu_adapter *a;
	unsigned int kind = dl_emu_events_kind(&e->events, key);

	if (kind == DL_EMU_EV_TAKE)
		prefetch_adapter(e, key);
	if (kind != DL_EMU_EV_MESSAGE)
		return;
	a = &e->adapters[f->adapter];
	prefetch_port(&e->ports[a->port]);
	prefetch_line(dl_emu_path_sl(e, a, f->message.dlid));
}

/* Packets as most are: they have one way, and need no looking after. */
#define PLAIN_MASK (DL_EMU_PK_HEAD | DL_EMU_PK_TAIL | DL_EMU_PK_MCAST | DL_EMU_PK_LOST)
#define PLAIN (DL_EMU_PK_HEAD | DL_EMU_PK_TAIL)

EACH prefetch_find_way_of(const struct dl_emu *e, uint32_t in, uint32_t packet)
{
	const struct dl_emu_link_port *q = &e->ports[dl_emu_port_of(in)];
	const struct dl_emu_switch *s = dl_emu_switch_of(e, q);
	struct dl_emu_pkt *pk = &e->packets[packet];
	unsigned int number = prefetch_next_port(e, q, pk), vl;
	uint32_t port;

	if ((pk->flags & PLAIN_MASK) != PLAIN || !dl_emu_is_data(in) || number == DL_TABLES_NO_PORT)
		return;
	port = s->ports[number];
	vl = dl_emu_map_vl(s, q->num, number, pk->sl, s->vls);
	if (vl == DL_EMU_NO_VL)
		return;
	pk->out = dl_emu_channel(port, vl);
	if (!e->mode.large)
		return;
	prefetch_port(&e->ports[port]);
	prefetch_line(&e->ports[port].vl[vl]);
}

EACH prefetch_find_way(const struct dl_emu *e, uint64_t key)
{
	prefetch_find_way_of(e, prefetch_channel_of(e, key), prefetch_packet_of(key));
}

void dl_emu_find_way(const struct dl_emu *e, uint32_t in, uint32_t packet)
{
	prefetch_find_way_of(e, in, packet);
}

/* Between what is asked for and what reads it there is as much else as possible. */
void dl_emu_look_ahead(const struct dl_emu *e)
{
	if (e->mode.large) {
		prefetch_each(e, DL_EMU_LOG_ARRIVE, prefetch_arrive);
		prefetch_each(e, DL_EMU_LOG_TAIL, prefetch_tail);
		prefetch_each(e, DL_EMU_LOG_WAKE, prefetch_wake);
		prefetch_each(e, DL_EMU_LOG_OTHER, prefetch_other);
		if (e->mode.looks_ahead)
			prefetch_each(e, DL_EMU_LOG_ARRIVE, prefetch_output);
	}
	if (e->mode.looks_ahead)
		prefetch_each(e, DL_EMU_LOG_ARRIVE, prefetch_find_way);
	if (e->mode.large)
		prefetch_each(e, DL_EMU_LOG_OTHER, prefetch_adapter_or_message);
}
