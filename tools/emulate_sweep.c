/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Load sweeps: one emulation a point, spread over threads and machines.
 *
 * Points share the plan, which nobody changes, and nothing else.  So it does
 * not matter who runs which point, nor when.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "campaign.h"
#include "emulate.h"

struct job {
	const struct emu_plan *plan;
	const struct emu_sweep *sweep;
};

uint32_t emu_sweep_points(const struct emu_sweep *s)
{
	return (s->to - s->from) / s->step + 1;
}

void emu_latency_of(const struct dl_emu_histogram *h, struct emu_latency *out)
{
	*out = (struct emu_latency){
		.mean = dl_emu_histogram_mean(h) / 1000,
		.p50 = dl_emu_histogram_quantile(h, 500000) / 1e3,
		.p99 = dl_emu_histogram_quantile(h, 990000) / 1e3,
		.p999 = dl_emu_histogram_quantile(h, 999000) / 1e3,
	};
}

/* Both levels' latencies in one histogram. */
static int all_levels(const struct emu_run *r, struct emu_latency *out)
{
	struct dl_emu_histogram *sum = calloc(1, sizeof(*sum));

	if (!sum)
		return -ENOMEM;
	for (unsigned int l = 0; l < DL_EMU_LEVELS; l++) {
		const struct dl_emu_histogram *h =
			&dl_emu_level(r->emu, l)->latency;

		sum->count += h->count;
		sum->sum += h->sum;
		for (unsigned int i = 0; i < DL_EMU_HISTOGRAM_BUCKETS; i++)
			sum->bucket[i] += h->bucket[i];
		if (h->largest > sum->largest)
			sum->largest = h->largest;
	}
	emu_latency_of(sum, out);
	free(sum);
	return 0;
}

static int fill_point(const struct emu_run *r, struct emu_point *out)
{
	const struct dl_emu_totals *t = dl_emu_totals(r->emu);
	const struct dl_cycle_step *cycle;
	struct emu_latency latency;
	int err = all_levels(r, &latency);

	if (err)
		return err;
	*out = (struct emu_point){
		.load = out->load,
		.done = true,
		.finding = emu_run_finding(r),
		.deadlock = dl_emu_cycle(r->emu, &cycle) > 0,
		.offered = emu_run_offered(r),
		.throughput = emu_run_throughput(r),
		.mean_ns = latency.mean,
		.p50_ns = latency.p50,
		.p99_ns = latency.p99,
		.p999_ns = latency.p999,
		.delivered = t->delivered,
		.dropped = t->dropped,
		.in_flight = t->in_flight,
		.packet_hops = t->packet_hops,
		.cpu_seconds = r->cpu_seconds,
	};
	return 0;
}

static bool watch(void *context, const struct emu_run *r)
{
	(void)context;
	(void)r;
	return campaign_is_interrupted();
}

/* Workers keep nothing from one point to the next. */
static int start(void *shared, void **worker)
{
	*worker = shared;
	return 0;
}

static void stop(void *worker)
{
	(void)worker;
}

static int run_point(void *worker, uint64_t item, void *result)
{
	const struct job *j = worker;
	struct emu_point *point = result;
	struct emu_load load = { .name = j->sweep->name };
	struct emu_run run;
	int err;

	load.load = point->load = j->sweep->from + item * j->sweep->step;
	err = emu_run(j->plan, &load, watch, NULL, &run);
	if (!err && !run.interrupted)
		err = fill_point(&run, point);
	emu_run_free(&run);
	return err;
}

static void show_progress(void *shared, uint64_t done, uint64_t total)
{
	(void)shared;
	fprintf(stderr, "\r%llu of %llu points\033[K%s",
		(unsigned long long)done, (unsigned long long)total,
		done == total ? "\r\033[K" : "");
}

int emu_sweep_run(const struct emu_plan *p, const struct emu_sweep *s,
		  struct emu_point *points)
{
	struct job j = { .plan = p, .sweep = s };
	struct campaign c = {
		.nitems = emu_sweep_points(s),
		.result_size = sizeof(*points),
		.threads = s->threads,
		.shared = &j,
		.start = start,
		.stop = stop,
		.run = run_point,
		.progress = s->show ? show_progress : NULL,
	};
	bool *done = calloc(c.nitems, sizeof(*done)), interrupted;
	int err = done ? campaign_run(&c, points, done, &interrupted) : -ENOMEM;

	free(done);
	return err;
}

/* Where a line from a to b reaches `level`, as a part of the way. */
static double crossing(double a, double b, double level)
{
	return a == b ? 0 : (level - a) / (b - a);
}

double emu_saturation(const struct emu_point *points, uint32_t n)
{
	double limit = n ? 3 * points[0].mean_ns : 0, at = 0, before = 1, part;

	for (uint32_t i = 0; i < n && points[i].done; i++) {
		const struct emu_point *p = &points[i], *q = p - 1;
		double share = p->offered > 0 ? p->throughput / p->offered : 1;
		double load = p->load * 1e-6;

		if (p->deadlock)
			return load;
		if (share < 0.95 || p->mean_ns > limit) {
			if (!i)
				return load;
			part = 1;
			if (share < 0.95)
				part = crossing(before, share, 0.95);
			if (p->mean_ns > limit &&
			    crossing(q->mean_ns, p->mean_ns, limit) < part)
				part = crossing(q->mean_ns, p->mean_ns, limit);
			return at + part * (load - at);
		}
		at = load;
		before = share;
	}
	return -1;
}
