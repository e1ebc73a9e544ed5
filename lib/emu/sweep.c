/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Points of a latency-throughput curve.  They share the scenario, which
 * nobody changes, and nothing else: it does not matter who runs which, nor when.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "dateline/emu.h"

/* All levels' latencies in one histogram. */
static int all_levels(const struct dl_emu *emu, struct dl_emu_latency *out)
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
		err = all_levels(r.emu, &out->latency);
	}
	dl_emu_result_free(&r);
	return err;
}

/* Where a line from a to b reaches `level`, as a part of its length. */
static double crossing(double a, double b, double level)
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
				part = crossing(before, share, 0.95);
			if (p->latency.mean > limit &&
			    crossing(q->latency.mean, p->latency.mean, limit) < part)
				part = crossing(q->latency.mean, p->latency.mean, limit);
			return at + part * (load - at);
		}
		at = load;
		before = share;
	}
	return -1;
}
