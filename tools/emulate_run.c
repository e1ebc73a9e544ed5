/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One emulation from start to end.
 *
 * Three times divide it.  Until the warm-up's end nothing is measured; until
 * the traffic's end messages come, and throughput is measured; then the
 * adapters drop what they have not begun to send, and the fabric drains, so
 * that every packet that was sent gets a chance to arrive.  What is still
 * under way at the very last moment counts as undelivered.
 *
 * The emulator is stopped at each of these times, at each fault, at each
 * step of the time series and now and then for whoever is watching; none of
 * that changes what it does.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emulate.h"

/* The watcher looks at least so often. */
#define WATCHES 1000
#define WATCH_PS UINT64_C(1000000000)

/* ---- messages for people ----------------------------------------------- */

/* Keep warnings, for the result; pass everything else on. */
static void keep_warning(void *context, enum dl_log_level level,
			 const char *message)
{
	struct emu_run *r = context;
	char **more;

	if (level != DL_LOG_WARNING) {
		dl_log(r->plan->log, level, "%s", message);
		return;
	}
	for (uint32_t i = 0; i < r->nwarnings; i++)
		if (!strcmp(r->warnings[i], message))
			return;
	more = realloc(r->warnings, (r->nwarnings + 1) * sizeof(*more));
	if (!more)
		return;
	r->warnings = more;
	more[r->nwarnings] = strdup(message);
	r->nwarnings += more[r->nwarnings] != NULL;
}

/* ---- messages over the fabric ------------------------------------------ */

static bool next_message(void *context, uint32_t flow, uint64_t now,
			 struct dl_emu_message *out)
{
	struct emu_run *r = context;
	const struct dl_fabric *f = r->plan->fabric;
	struct dl_emu_trace_message m;

	/* What has not been begun by the end is not sent any more. */
	if ((now >= r->end && !r->flow_window[flow]) ||
	    !dl_emu_traffic_next(r->traffic, flow, now, &m))
		return false;
	/* It counts as offered when the next one is taken, or at the end. */
	if (r->pending[flow].at >= r->warm)
		r->offered_bytes += r->pending[flow].bytes;
	r->pending[flow] = m;
	*out = (struct dl_emu_message){
		.at = m.at,
		.bytes = m.bytes,
		.dlid = m.dst == DL_EMU_NO_ADAPTER ?
				m.mlid :
				f->ports[r->plan->port[m.dst]].lid,
		.level = m.level,
		.sl = DL_TABLES_NO_SL,
	};
	return true;
}

/* Count what came up to the moment when measuring stopped, taken or not. */
static void count_rest(struct emu_run *r)
{
	for (uint32_t i = 0; i < r->source.nflows; i++) {
		struct dl_emu_trace_message *m = &r->pending[i];

		if (m->bytes && m->at >= r->warm && m->at < r->stopped)
			r->offered_bytes += m->bytes;
		while (!r->flow_window[i] &&
		       dl_emu_traffic_next(r->traffic, i, 0, m) &&
		       m->at < r->stopped) {
			if (m->at >= r->warm)
				r->offered_bytes += m->bytes;
			r->unsent++;
		}
	}
}

static void note_delivery(void *context, const struct dl_emu_delivery *d)
{
	struct emu_run *r = context;

	r->delivered++;
	r->delivered_bytes += d->bytes;
	r->latency_sum += d->at - d->created;
	r->last_delivery = d->at;
}

/* Entries with another load; all of them end with the traffic. */
static int copy_entries(struct emu_run *r, const struct emu_load *load)
{
	const struct emu_plan *p = r->plan;
	uint32_t n = p->spec.nentries;

	r->entries = malloc((n + 1) * sizeof(*r->entries));
	if (!r->entries)
		return -ENOMEM;
	memcpy(r->entries, p->entries, n * sizeof(*r->entries));
	for (uint32_t i = 0; i < n; i++) {
		struct dl_emu_traffic_entry *e = &r->entries[i];
		const char *name = p->scenario->traffic[p->origin[i]].name;

		if (e->stop > r->end)
			e->stop = r->end;
		if (load && load->load && e->load &&
		    (!load->name || (name && !strcmp(name, load->name))))
			e->load = load->load;
	}
	r->spec = p->spec;
	r->spec.entries = r->entries;
	return 0;
}

static int list_flows(struct emu_run *r)
{
	uint32_t n = dl_emu_traffic_flows(r->traffic);

	r->flow_port = malloc((n + 1) * sizeof(*r->flow_port));
	r->flow_window = malloc((n + 1) * sizeof(*r->flow_window));
	r->pending = calloc(n + 1, sizeof(*r->pending));
	if (!r->flow_port || !r->flow_window || !r->pending)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		r->flow_port[i] =
			r->plan->port[dl_emu_traffic_source(r->traffic, i)];
		r->flow_window[i] = dl_emu_traffic_window(r->traffic, i);
	}
	r->source = (struct dl_emu_source){
		.context = r,
		.nflows = n,
		.port = r->flow_port,
		.window = r->flow_window,
		.next = next_message,
		.delivered = note_delivery,
	};
	return 0;
}

/* ---- measuring --------------------------------------------------------- */

static int add_sample(struct emu_run *r, uint64_t at)
{
	struct emu_sample *s;

	if (r->nsamples == r->samples_cap) {
		uint32_t cap = 2 * r->samples_cap + 64;

		s = realloc(r->samples, cap * sizeof(*s));
		if (!s)
			return -ENOMEM;
		r->samples = s;
		r->samples_cap = cap;
	}
	/* Sums for now; emu_run() takes the differences at the end. */
	r->samples[r->nsamples++] = (struct emu_sample){
		.at = at,
		.delivered = r->delivered,
		.bytes = r->delivered_bytes,
		.latency_sum = r->latency_sum,
		.in_flight = dl_emu_totals(r->emu)->in_flight,
	};
	return 0;
}

static void end_measuring(struct emu_run *r)
{
	uint64_t now = r->state == DL_EMU_DONE ? r->last_delivery :
						 dl_emu_now(r->emu);

	if (r->measured_ps)
		return;
	r->stopped = now > r->end ? r->end : now;
	r->measured_ps = r->stopped > r->warm ? r->stopped - r->warm : 1;
	r->measured_bytes = dl_emu_totals(r->emu)->delivered_bytes;
	for (unsigned int l = 0; l < DL_EMU_LEVELS; l++)
		r->level_bytes[l] = dl_emu_level(r->emu, l)->bytes;
}

static void difference_samples(struct emu_run *r)
{
	for (uint32_t i = r->nsamples; i-- > 1;) {
		struct emu_sample *s = &r->samples[i];

		s->delivered -= s[-1].delivered;
		s->bytes -= s[-1].bytes;
		s->latency_sum -= s[-1].latency_sum;
	}
}

/* ---- the clock --------------------------------------------------------- */

static uint64_t next_sample(const struct emu_run *r, uint64_t now)
{
	uint64_t step = r->plan->scenario->sample_ns * 1000;

	return step ? (now / step + 1) * step : UINT64_MAX;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t next_stop(const struct emu_run *r, uint64_t now)
{
	uint64_t look = earlier(r->last / WATCHES + 1, WATCH_PS);
	uint64_t t = earlier(r->last, (now / look + 1) * look);

	if (now < r->warm)
		t = earlier(t, r->warm);
	if (now < r->end)
		t = earlier(t, r->end);
	if (r->next_action < r->nactions)
		t = earlier(t, r->actions[r->next_action].at);
	return earlier(t, next_sample(r, now));
}

/* Everything that is due at `now`. */
static int act(struct emu_run *r, uint64_t now)
{
	uint64_t step = r->plan->scenario->sample_ns * 1000;
	int err = 0;

	while (!err && r->next_action < r->nactions &&
	       r->actions[r->next_action].at <= now)
		err = emu_act(r->emu, &r->actions[r->next_action++]);
	if (!err && step && now && now % step == 0)
		err = add_sample(r, now);
	if (now == r->end)
		end_measuring(r);
	if (now == r->warm && now)
		dl_emu_reset_stats(r->emu);
	return err;
}

/* Faults to come may set free what is stuck now. */
static bool over(const struct emu_run *r)
{
	if (r->state == DL_EMU_RUNNING)
		return false;
	return r->state == DL_EMU_DEADLOCK || r->state == DL_EMU_DONE ||
	       r->next_action == r->nactions;
}

static int run_clock(struct emu_run *r, emu_watch *watch, void *context)
{
	uint64_t now = 0;
	int err = act(r, 0);

	while (!err && now < r->last) {
		now = next_stop(r, now);
		r->state = dl_emu_run(r->emu, now);
		if (r->state < 0)
			return r->state;
		if (over(r))
			break;
		err = act(r, now);
		if (watch && watch(context, r)) {
			r->interrupted = true;
			break;
		}
	}
	end_measuring(r);
	return err;
}

/* ---- all --------------------------------------------------------------- */

static int set_up(struct emu_run *r, const struct emu_load *load)
{
	const struct emu_plan *p = r->plan;
	int err = copy_entries(r, load);

	if (!err)
		err = dl_emu_traffic_new(&r->spec, p->log, &r->traffic);
	if (!err)
		err = list_flows(r);
	if (!err)
		err = emu_timetable(p, &r->actions, &r->nactions);
	if (!err)
		err = dl_emu_new(p->tables, &p->config, &r->source, &r->log,
				 &r->emu);
	return err;
}

static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

int emu_run(const struct emu_plan *p, const struct emu_load *load,
	    emu_watch *watch, void *context, struct emu_run *out)
{
	const struct emu_scenario *s = p->scenario;
	struct emu_run *r = out;
	double begin = cpu_now();
	int err;

	*r = (struct emu_run){
		.plan = p,
		.warm = s->warmup_ns * 1000,
		.end = s->duration_ns * 1000,
		.last = (s->duration_ns + s->drain_ns) * 1000,
		.log = { .write = keep_warning, .context = r },
	};
	err = set_up(r, load);
	if (!err)
		err = run_clock(r, watch, context);
	if (!err) {
		count_rest(r);
		difference_samples(r);
	}
	r->cpu_seconds = cpu_now() - begin;
	if (err && err != -EINVAL)
		dl_log(p->log, DL_LOG_ERROR, "the emulation failed: %s",
		       strerror(-err));
	return err;
}

void emu_run_free(struct emu_run *r)
{
	dl_emu_free(r->emu);
	dl_emu_traffic_free(r->traffic);
	free(r->entries);
	free(r->flow_port);
	free(r->flow_window);
	free(r->pending);
	free(r->actions);
	free(r->samples);
	for (uint32_t i = 0; i < r->nwarnings; i++)
		free(r->warnings[i]);
	free(r->warnings);
}

bool emu_run_finding(const struct emu_run *r)
{
	const struct dl_emu_totals *t = dl_emu_totals(r->emu);
	const struct dl_cycle_step *cycle;

	return r->interrupted || t->dropped || t->in_flight ||
	       dl_emu_cycle(r->emu, &cycle);
}

/* Bytes that all adapters' links could have carried meanwhile. */
static double capacity(const struct emu_run *r)
{
	double rate = 0;

	for (uint32_t a = 0; a < r->spec.nadapters; a++)
		rate += r->spec.rate[a];
	return rate * r->measured_ps * 1e-12;
}

double emu_run_offered(const struct emu_run *r)
{
	double c = capacity(r);

	return c > 0 ? r->offered_bytes / c : 0;
}

double emu_run_throughput(const struct emu_run *r)
{
	double c = capacity(r);

	return c > 0 ? r->measured_bytes / c : 0;
}
