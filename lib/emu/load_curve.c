/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Points of a latency-throughput curve.  They share the scenario, which
 * nobody changes, and nothing else: it does not matter who runs which, nor when.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "emu/scenario.h"

/* All levels' latencies in one histogram. */
static int sweep_latency(const struct dl_emu *emu, struct dl_emu_latency *out)
{
	struct dl_emu_histogram *sum = calloc(1, sizeof(*sum));

	if (!sum)
		return -ENOMEM;
	for (unsigned int l = 0; l < DL_EMU_LEVELS; l++)
		dl_emu_histogram_join(sum, &dl_emu_level(emu, l)->latency);
	*out = dl_emu_latency_of(sum);
	free(sum);
	return 0;
}

int dl_emu_scenario_point(const struct dl_emu_scenario *s, const struct dl_emu_load *load,
			  dl_emu_watch watch, void *context, struct dl_emu_point *out)
{
	const struct dl_emu_totals *t;
	struct dl_emu_result r;
	int err = dl_emu_scenario_run(s, load, watch, context, &r);

	if (!err && !r.interrupted) {
		t = dl_emu_totals(r.emu);
		*out = (struct dl_emu_point){
			.load = load->load,
			.done = true,
			.finding = dl_emu_result_finding(&r),
			.deadlock = dl_emu_cycle(r.emu)->n > 0,
			.offered = r.offered,
			.throughput = r.throughput,
			.delivered = t->delivered,
			.dropped = t->dropped,
			.in_flight = t->in_flight,
			.packet_hops = t->packet_hops,
		};
		err = sweep_latency(r.emu, &out->latency);
	}
	dl_emu_result_free(&r);
	return err;
}

/* ---- the bound --------------------------------------------------------- */

/* So much more on each link from one adapter to another. */
static int sweep_add_path(const struct dl_emu_scenario *s, uint32_t src, uint32_t dst, double more,
			  double *load)
{
	const struct dl_fabric *f = s->tables->fabric;
	uint32_t port = s->port[src], sw;

	for (uint32_t hops = 0; hops <= f->nswitches; hops++) {
		load[port] += more;
		sw = dl_fabric_peer_switch(f, port);
		if (sw == DL_NONE)
			return f->ports[port].peer == s->port[dst] ? 0 : -ENOTSUP;
		port = dl_tables_lft(s->tables, sw, s->lid[dst]);
		if (port > f->nodes[f->switches[sw]].nports)
			return -ENOTSUP;
		port += f->nodes[f->switches[sw]].first_port;
	}
	return -ENOTSUP;
}

/* Bytes a second on each link; those of all flows. */
static int sweep_add_flows(const struct dl_emu_scenario *s, const struct dl_emu_traffic *t,
			   double *load, double *sum)
{
	for (uint32_t i = 0; i < dl_emu_traffic_flows(t); i++) {
		uint32_t src = dl_emu_traffic_source(t, i);
		double bytes = dl_emu_traffic_load(t, i) * 1e-6 * s->traffic.rate[src];

		if (bytes <= 0)
			return -ENOTSUP;
		*sum += bytes;
		for (uint32_t dst = 0; dst < s->traffic.nadapters; dst++) {
			double share = dl_emu_traffic_share(t, i, dst);
			int err = share < 0 ? -ENOTSUP : 0;

			if (share > 0)
				err = sweep_add_path(s, src, dst, share * bytes, load);
			if (err)
				return err;
		}
	}
	return 0;
}

int dl_emu_scenario_bound(const struct dl_emu_scenario *s, double *bound)
{
	const struct dl_fabric *f = s->tables->fabric;
	double *load = calloc(f->nports + 1ul, sizeof(*load)), sum = 0, capacity = 0, most = 0;
	struct dl_emu_traffic *t = NULL;
	struct dl_emu_rate rate;
	int err = load ? dl_emu_traffic_new(&s->traffic, s->log, &t) : -ENOMEM;

	if (!err)
		err = sweep_add_flows(s, t, load, &sum);
	for (uint32_t p = 0; !err && p < f->nports; p++)
		if (load[p] > 0 && !dl_emu_link_rate(f, &s->config, p, &rate) &&
		    load[p] / dl_emu_rate_bytes(rate) > most)
			most = load[p] / dl_emu_rate_bytes(rate);
	for (uint32_t a = 0; a < s->traffic.nadapters; a++)
		capacity += s->traffic.rate[a];
	if (!err)
		*bound = most > 0 ? sum / most / capacity : 0;
	dl_emu_traffic_free(t);
	free(load);
	return err;
}

/* ---- saturation -------------------------------------------------------- */

/* Where a line from a to b reaches `level`, as a part of its length. */
static double sweep_crossing(double a, double b, double level)
{
	return a == b ? 0 : (level - a) / (b - a);
}

double dl_emu_saturation(const struct dl_emu_point *points, uint32_t n)
{
	double limit = n ? 3 * points[0].latency.mean : 0, at = 0, before = 1;

	for (uint32_t i = 0; i < n && points[i].done; i++) {
		const struct dl_emu_point *p = &points[i], *q = p - 1;
		double share = p->offered > 0 ? p->throughput / p->offered : 1;
		double load = p->load * 1e-6, part = 1;

		if (p->deadlock)
			return load;
		if (share < 0.95 || p->latency.mean > limit) {
			if (!i)
				return load;
			if (share < 0.95)
				part = sweep_crossing(before, share, 0.95);
			if (p->latency.mean > limit &&
			    sweep_crossing(q->latency.mean, p->latency.mean, limit) < part)
				part = sweep_crossing(q->latency.mean, p->latency.mean, limit);
			return at + part * (load - at);
		}
		at = load;
		before = share;
	}
	return -1;
}
