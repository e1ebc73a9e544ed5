/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What an emulation has counted and measured. */
#include "config.h"

#include <string.h>

#include "emu/run.h"

const struct dl_emu_totals *dl_emu_totals(struct dl_emu *e)
{
	struct dl_emu_totals *all = &e->sum.totals;
	uint64_t *sum = (uint64_t *)all;

	*all = (struct dl_emu_totals){ .since = e->totals.since };
	for (uint32_t i = 0; i < e->split.n; i++) {
		const struct dl_emu_totals *t = &e->split.shard[i]->totals;

		for (size_t k = 0; k < offsetof(struct dl_emu_totals, in_flight) / sizeof(*sum);
		     k++)
			sum[k] += ((const uint64_t *)t)[k];
		if (t->last_delivery > all->last_delivery)
			all->last_delivery = t->last_delivery;
	}
	for (uint32_t i = 0; i < e->nports; i++)
		all->fcps += e->ports[i].fcps;
	all->in_flight = all->injected - all->delivered - all->dropped;
	return all;
}

const struct dl_emu_level *dl_emu_level(const struct dl_emu *e, unsigned int level)
{
	struct dl_emu_level *all;

	if (e->split.n == 1)
		return &e->levels[level];
	all = &e->sum.levels[level];
	memset(all, 0, sizeof(*all));
	for (uint32_t i = 0; i < e->split.n; i++) {
		const struct dl_emu_level *l = &e->split.shard[i]->levels[level];

		all->packets += l->packets;
		all->bytes += l->bytes;
		for (unsigned int sl = 0; sl < DL_EMU_SLS; sl++) {
			all->sl[sl].packets += l->sl[sl].packets;
			all->sl[sl].bytes += l->sl[sl].bytes;
			all->sl[sl].latency_sum += l->sl[sl].latency_sum;
			if (l->sl[sl].latency_max > all->sl[sl].latency_max)
				all->sl[sl].latency_max = l->sl[sl].latency_max;
		}
		dl_emu_histogram_join(&all->latency, &l->latency);
		dl_emu_histogram_join(&all->network, &l->network);
		dl_emu_histogram_join(&all->message, &l->message);
	}
	return all;
}

unsigned int dl_emu_unserved_sls(const struct dl_emu *e)
{
	unsigned int asked = 0;

	for (uint32_t a = 0; e->c.sl_table && a < e->nadapters; a++)
		asked |= e->adapters[a].sched.ready;
	return asked & ~dl_emu_sl_table_sls(e->c.sl_table);
}

static void stats_sum_vls(const struct dl_emu *e, uint32_t port, struct dl_emu_port *out)
{
	const struct dl_emu_vl_port *o = e->ports[port].vl;

	out->packets = 0;
	out->bytes = 0;
	for (unsigned int v = 0; v < DL_EMU_VLS; v++) {
		out->packets += o[v].packets;
		out->bytes += o[v].bytes;
	}
}

const struct dl_emu_port *dl_emu_port(struct dl_emu *e, uint32_t port)
{
	static const struct dl_emu_port unused;
	uint32_t own = e->own_port[port];
	struct dl_emu_link_port *p = &e->ports[own];

	if (own == DL_EMU_NIL)
		return &unused;
	stats_sum_vls(e, own, &e->counters[own]);
	if (p->starved) {
		p->wait_ps += e->now - p->wait_since;
		p->wait_since = e->now;
	}
	e->counters[own].xmit_discards =
		p->discards + (p->peer == DL_EMU_NIL ? 0 : e->ports[p->peer].cut);
	e->counters[own].busy_ps = p->busy_ps;
	e->counters[own].wait_ps = p->wait_ps;
	e->counters[own].queued_ps = p->queued_ps;
	e->counters[own].fcps = p->fcps;
	return &e->counters[own];
}

struct dl_emu_vl dl_emu_vl(const struct dl_emu *e, uint32_t port, unsigned int vl)
{
	uint32_t own = e->own_port[port];
	const struct dl_emu_vl_port *o;

	if (own == DL_EMU_NIL || vl >= DL_EMU_VLS)
		return (struct dl_emu_vl){ 0 };
	o = &e->ports[own].vl[vl];
	return (struct dl_emu_vl){ .packets = o->packets, .bytes = o->bytes };
}

static uint32_t stats_adapter_of(const struct dl_emu *e, uint32_t port)
{
	uint32_t own = e->own_port[port];

	return own == DL_EMU_NIL ? DL_EMU_NIL : e->ports[own].adapter;
}

const struct dl_emu_delivered *dl_emu_pair(const struct dl_emu *e, uint32_t src, uint32_t dst)
{
	uint32_t from = stats_adapter_of(e, src), to = stats_adapter_of(e, dst);

	if (!e->pairs || from == DL_EMU_NIL || to == DL_EMU_NIL)
		return NULL;
	return &e->pairs[from * (size_t)e->nadapters + to];
}

const struct dl_cycle *dl_emu_cycle(const struct dl_emu *e)
{
	return &e->look.cycle;
}

#define STARVATION_PS UINT64_C(1000000000)

/*
 * Starving: the first packet has credit, the link works, and the VL was
 * passed over for longer than the limit; or nothing else is left to happen.
 */
static bool stats_starves(const struct dl_emu *e, uint32_t port, unsigned int v, bool idle)
{
	const struct dl_emu_vl_port *o = &e->ports[port].vl[v];
	uint32_t owner = e->mode.worms ? e->worm[dl_emu_channel(port, v)].owner : DL_EMU_NIL;

	return o->head != DL_EMU_NIL && !(e->ports[port].hold & DL_EMU_DOWN) &&
	       (owner == DL_EMU_NIL || owner == e->packets[o->head].in) &&
	       (e->now - o->served >= STARVATION_PS || idle) && dl_emu_has_credit(e, o);
}

uint32_t dl_emu_starved(const struct dl_emu *e, struct dl_emu_starved *out, uint32_t max)
{
	bool idle = true;
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->split.n; i++)
		idle &= dl_emu_events_count(&e->split.shard[i]->events) ==
			e->split.shard[i]->background;
	for (uint32_t port = 0; port < e->nports; port++) {
		const struct dl_emu_link_port *p = &e->ports[port];
		uint32_t vls = p->waiting & ~(1u << DL_LINK_VL_SMP);

		for (; vls; vls &= vls - 1) {
			unsigned int v = __builtin_ctz(vls);

			if (!stats_starves(e, port, v, idle))
				continue;
			if (n < max)
				out[n] = (struct dl_emu_starved){
					.port = e->fabric_port[port],
					.vl = v,
					.unlisted = p->vls > 1 &&
						    !(p->arb.program->listed >> v & 1),
					.since = p->vl[v].served,
				};
			n++;
		}
	}
	return n;
}

void dl_emu_reset_stats(struct dl_emu *e)
{
	uint64_t in_flight = dl_emu_totals(e)->in_flight;

	for (uint32_t i = 0; i < e->split.n; i++) {
		struct dl_emu *shard = e->split.shard[i];

		shard->totals = (struct dl_emu_totals){
			.since = e->now,
			.last_delivery = shard->totals.last_delivery,
		};
		memset(shard->levels, 0, sizeof(shard->levels));
	}
	e->totals.injected = in_flight;
	memset(e->counters, 0, e->nports * sizeof(*e->counters));
	if (e->pairs)
		memset(e->pairs, 0, (size_t)e->nadapters * e->nadapters * sizeof(*e->pairs));
	for (uint32_t i = 0; i < e->nports; i++) {
		struct dl_emu_link_port *p = &e->ports[i];

		p->busy_ps = p->wait_ps = p->queued_ps = p->fcps = p->discards = p->cut = 0;
		for (unsigned int v = 0; v < DL_EMU_VLS; v++)
			p->vl[v].packets = p->vl[v].bytes = 0;
		p->wait_since = e->now;
	}
}
