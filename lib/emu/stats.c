/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What an emulation has counted and measured. */
#include "config.h"

#include <string.h>

#include "emu/internal.h"

const struct dl_emu_totals *dl_emu_totals(struct dl_emu *e)
{
	e->totals.at = e->now;
	e->totals.in_flight = e->totals.injected - e->totals.delivered -
			      e->totals.dropped;
	return &e->totals;
}

const struct dl_emu_level *dl_emu_level(const struct dl_emu *e,
					unsigned int level)
{
	return level < DL_EMU_LEVELS ? &e->levels[level] : NULL;
}

static void sum_vls(const struct dl_emu *e, uint32_t port,
		    struct dl_emu_port *out)
{
	const struct dl_out *o = &e->outs[port * (size_t)e->nv];

	out->packets = 0;
	out->bytes = 0;
	for (unsigned int v = 0; v < e->nv; v++) {
		out->packets += o[v].packets;
		out->bytes += o[v].bytes;
	}
}

const struct dl_emu_port *dl_emu_port(struct dl_emu *e, uint32_t port)
{
	struct dl_link_end *p = &e->ends[port];

	sum_vls(e, port, &e->ports[port]);
	if (p->wait_since != DL_EMU_NEVER) {
		p->wait_ps += e->now - p->wait_since;
		p->wait_since = e->now;
	}
	e->ports[port].busy_ps = p->busy_ps;
	e->ports[port].wait_ps = p->wait_ps;
	e->ports[port].fcps = p->fcps;
	return &e->ports[port];
}

/* The slot of a VL at a port, or the number of slots. */
static unsigned int slot_of(const struct dl_emu *e, uint32_t port,
			    unsigned int vl)
{
	if (vl == DL_VL_SMP)
		return e->nv - 1;
	return vl < e->ends[port].vls ? vl : e->nv;
}

struct dl_emu_vl dl_emu_vl(const struct dl_emu *e, uint32_t port,
			   unsigned int vl)
{
	unsigned int slot = slot_of(e, port, vl);
	const struct dl_out *o = &e->outs[port * (size_t)e->nv + slot];

	if (slot == e->nv)
		return (struct dl_emu_vl){ 0 };
	return (struct dl_emu_vl){ .packets = o->packets, .bytes = o->bytes };
}

unsigned int dl_emu_port_vls(const struct dl_emu *e, uint32_t port)
{
	return e->ends[port].vls;
}

const struct dl_emu_pair *dl_emu_pair(const struct dl_emu *e, uint32_t src,
				      uint32_t dst)
{
	if (!e->pairs || e->end_number[src] == DL_NIL ||
	    e->end_number[dst] == DL_NIL)
		return NULL;
	return &e->pairs[e->end_number[src] * (size_t)e->nends +
			 e->end_number[dst]];
}

uint32_t dl_emu_cycle(const struct dl_emu *e,
		      const struct dl_cycle_step **cycle)
{
	*cycle = e->cycle;
	return e->ncycle;
}

/*
 * Starving: the first packet has credit, the link works, and the VL was
 * passed over for longer than the limit; or nothing else is left to happen.
 */
static bool starves(const struct dl_emu *e, uint32_t port, unsigned int v)
{
	const struct dl_out *o = &e->outs[port * (size_t)e->nv + v];

	return o->head != DL_NIL && e->ends[port].up &&
	       (o->owner == DL_NIL || o->owner == e->packets[o->head].in) &&
	       (e->now - o->served >= e->c.starvation_ps ||
		dl_events_count(&e->events) <= e->background) &&
	       dl_credit_may_send(&o->tx, dl_emu_units(
				e, e->packets[o->head].bytes));
}

uint32_t dl_emu_starved(const struct dl_emu *e, struct dl_emu_starved *out,
			uint32_t max)
{
	uint32_t n = 0;

	for (uint32_t port = 0; port < e->f->nports; port++) {
		const struct dl_link_end *p = &e->ends[port];
		uint32_t vls = p->waiting & ~(1u << (e->nv - 1));

		for (; vls; vls &= vls - 1) {
			unsigned int v = __builtin_ctz(vls);

			if (!starves(e, port, v))
				continue;
			if (n < max)
				out[n] = (struct dl_emu_starved){
					.port = port, .vl = v,
					.unlisted = p->vls > 1 &&
						    !(p->arb.program->listed >>
						      v & 1),
					.since = e->outs[port * (size_t)e->nv +
							 v].served,
				};
			n++;
		}
	}
	return n;
}

void dl_emu_reset_stats(struct dl_emu *e)
{
	uint64_t in_flight = dl_emu_totals(e)->in_flight;

	e->totals = (struct dl_emu_totals){ .injected = in_flight,
					    .since = e->now };
	memset(e->levels, 0, sizeof(e->levels));
	memset(e->ports, 0, e->f->nports * sizeof(*e->ports));
	if (e->pairs)
		memset(e->pairs, 0,
		       (size_t)e->nends * e->nends * sizeof(*e->pairs));
	for (size_t c = 0; c < e->f->nports * (size_t)e->nv; c++) {
		e->outs[c].packets = 0;
		e->outs[c].bytes = 0;
	}
	for (uint32_t i = 0; i < e->f->nports; i++) {
		struct dl_link_end *p = &e->ends[i];

		p->busy_ps = p->wait_ps = p->fcps = 0;
		if (p->wait_since != DL_EMU_NEVER)
			p->wait_since = e->now;
	}
}
