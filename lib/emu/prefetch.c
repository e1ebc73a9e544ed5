/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What events to come will need of the memory.
 *
 * A large fabric does not fit into the processor's caches, and an event
 * touches a dozen places that nobody has touched for long.  So the engine
 * looks at the events that come after the present one (events.h), and asks for
 * what they will touch: from far for what the event itself names, and from
 * near for what is found in that.
 *
 * Nothing depends on it.  If something else happens in between, what was asked
 * for in vain does no harm.
 */
#include "config.h"

#include "emu/internal.h"

/* To the compiler these do nothing: as functions it would leave them out. */
#define ALWAYS static inline __attribute__((always_inline))

ALWAYS void ask_port(const struct dl_emu *e, uint32_t port)
{
	__builtin_prefetch(&e->ports[port]);
	__builtin_prefetch((const char *)&e->ports[port] + 64);
}

ALWAYS void arrival_from_far(const struct dl_emu *e, uint32_t packet, uint32_t in)
{
	uint32_t port = dl_emu_port_of(in);
	const struct dl_emu_wire *w = &e->wires[port];
	const struct dl_emu_switch *s;

	__builtin_prefetch(&e->ins[in]);
	__builtin_prefetch(&e->ports[port]);
	if (w->sw == DL_EMU_NIL) {
		__builtin_prefetch(&e->counters[port]);
		return;
	}
	s = &e->switches[w->sw];
	/* (An address is all that is needed, be it one beyond the table.) */
	__builtin_prefetch(s->lft + e->packets[packet].dlid);
	__builtin_prefetch(&s->sl2vl[w->num * (size_t)s->nports]);
}

/* What the packet will want is known but for the rare exceptions. */
ALWAYS void arrival_from_near(const struct dl_emu *e, uint32_t packet, uint32_t in)
{
	const struct dl_emu_pkt *pk = &e->packets[packet];
	const struct dl_emu_wire *w = &e->wires[dl_emu_port_of(in)];
	const struct dl_emu_switch *s;
	unsigned int number, vl;
	uint32_t port;

	if (w->sw == DL_EMU_NIL)
		return;
	s = &e->switches[w->sw];
	if (pk->dlid > s->top_lid)
		return;
	number = s->lft[pk->dlid];
	if (number >= s->nports || s->ports[number] == DL_EMU_NIL)
		return;
	port = s->ports[number];
	vl = dl_emu_map_vl(s, w->num, number, pk->sl, DL_LINK_VL_SMP);
	ask_port(e, port);
	__builtin_prefetch(&e->outs[dl_emu_channel(port, vl)]);
	port = e->wires[port].peer;
	if (port != DL_EMU_NIL)
		__builtin_prefetch(&e->ins[dl_emu_channel(port, vl)]);
}

ALWAYS void tail_from_far(const struct dl_emu *e, uint32_t port, uint32_t in)
{
	ask_port(e, port);
	if (in == DL_EMU_EV_CHANNEL)
		return;
	__builtin_prefetch(&e->ins[in]);
	__builtin_prefetch(&e->advertised_at[in]);
	ask_port(e, dl_emu_port_of(in));
}

/* Credit goes back to where the packet came from. */
ALWAYS void tail_from_near(const struct dl_emu *e, uint32_t in)
{
	if (in != DL_EMU_EV_CHANNEL)
		__builtin_prefetch(&e->outs[dl_emu_channel(e->wires[dl_emu_port_of(in)].peer,
							   dl_emu_vl_of(in))]);
}

void dl_emu_prefetch_far(const struct dl_emu *e, uint64_t event)
{
	switch (event >> DL_EMU_EV_SHIFT) {
	case DL_EMU_EV_ARRIVE:
		arrival_from_far(e, event & DL_EMU_EV_PACKET, event >> 28 & UINT32_MAX);
		break;
	case DL_EMU_EV_TAIL:
		tail_from_far(e, event >> 28, event & DL_EMU_EV_CHANNEL);
		break;
	}
}

void dl_emu_prefetch_near(const struct dl_emu *e, uint64_t event)
{
	const struct dl_emu_adapter *a;

	switch (event >> DL_EMU_EV_SHIFT) {
	case DL_EMU_EV_ARRIVE:
		arrival_from_near(e, event & DL_EMU_EV_PACKET, event >> 28 & UINT32_MAX);
		break;
	case DL_EMU_EV_TAIL:
		tail_from_near(e, event & DL_EMU_EV_CHANNEL);
		break;
	case DL_EMU_EV_MESSAGE:
		a = &e->adapters[event & DL_EMU_EV_PORT];
		__builtin_prefetch(&e->flows[event >> 24 & UINT32_MAX]);
		for (size_t at = 0; at < sizeof(*a); at += 64)
			__builtin_prefetch((const char *)a + at);
		break;
	}
}
