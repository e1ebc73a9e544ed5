/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Load sweeps: one emulation a point, spread over threads.
 *
 * Points share the plan, which nobody changes, and nothing else; each has a
 * place for its results.  So it does not matter which thread runs which
 * point, nor when.  A thread takes the next point that nobody has taken.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "emulate.h"

struct crew {
	const struct emu_plan *plan;
	const struct emu_sweep *sweep;
	emu_watch *watch;
	void *context;
	struct emu_point *points;
	uint32_t n;
	atomic_uint next, done;
	atomic_int err;
};

uint32_t emu_sweep_points(const struct emu_sweep *s)
{
	return (s->to - s->from) / s->step + 1;
}

void emu_latency_of(const struct dl_histogram *h, struct emu_latency *out)
{
	*out = (struct emu_latency){
		.mean = dl_histogram_mean(h) / 1000,
		.p50 = dl_histogram_quantile(h, 500000) / 1e3,
		.p99 = dl_histogram_quantile(h, 990000) / 1e3,
		.p999 = dl_histogram_quantile(h, 999000) / 1e3,
	};
}

/* Both levels' latencies in one histogram. */
static int all_levels(const struct emu_run *r, struct emu_latency *out)
{
	struct dl_histogram *sum = calloc(1, sizeof(*sum));

	if (!sum)
		return -ENOMEM;
	for (unsigned int l = 0; l < DL_EMU_LEVELS; l++) {
		const struct dl_histogram *h = &dl_emu_level(r->emu,
							     l)->latency;

		sum->count += h->count;
		sum->sum += h->sum;
		for (unsigned int i = 0; i < DL_HISTOGRAM_BUCKETS; i++)
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

static void show_progress(struct crew *c)
{
	unsigned int done = atomic_fetch_add(&c->done, 1) + 1;

	if (c->sweep->show)
		fprintf(stderr, "\r%u of %u points\033[K%s", done, c->n,
			done == c->n ? "\r\033[K" : "");
}

static void *work(void *arg)
{
	struct crew *c = arg;
	uint32_t i;

	while (!c->err && (i = atomic_fetch_add(&c->next, 1)) < c->n) {
		struct emu_load load = { .name = c->sweep->name,
					 .load = c->points[i].load };
		struct emu_run run;
		int err;

		err = emu_run(c->plan, &load, c->watch, c->context, &run);
		if (!err && !run.interrupted)
			err = fill_point(&run, &c->points[i]);
		if (err)
			c->err = err;
		if (run.interrupted)
			c->next = c->n;
		emu_run_free(&run);
		show_progress(c);
	}
	return NULL;
}

int emu_sweep_run(const struct emu_plan *p, const struct emu_sweep *s,
		  emu_watch *watch, void *context, struct emu_point *points)
{
	struct crew c = { .plan = p, .sweep = s, .watch = watch,
			  .context = context, .points = points,
			  .n = emu_sweep_points(s) };
	unsigned int jobs = s->jobs < c.n ? s->jobs : c.n, started = 0;
	pthread_t *threads = calloc(jobs, sizeof(*threads));

	for (uint32_t i = 0; i < c.n; i++)
		points[i] = (struct emu_point){ .load = s->from + i * s->step };
	/* Fewer threads than wanted do as well; none, and it is done here. */
	while (threads && started + 1 < jobs &&
	       !pthread_create(&threads[started], NULL, work, &c))
		started++;
	work(&c);
	for (unsigned int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return c.err;
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
