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
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/scenario.h"

/* The watcher looks at least so often. */
#define WATCHES 1000
#define WATCH_PS UINT64_C(200000000)

struct run {
	const struct dl_emu_scenario *scenario;
	struct dl_emu_result *result;
	struct dl_emu *emu;
	struct dl_arena arena;
	struct dl_emu_traffic_entry *entries;
	struct dl_emu_traffic_spec spec;
	struct dl_emu_traffic *traffic;
	uint32_t *port, *window;	      /* by flow */
	struct dl_emu_trace_message *pending; /* by flow: the last one taken */
	struct dl_emu_source source;
	uint32_t next_action;
	const struct dl_tables *tables; /* in force */
	/* The ends of the warm-up, of the traffic, and of everything. */
	uint64_t warm, end, last;
	/* Until measuring stopped: messages that came, packets that arrived. */
	uint64_t stopped, offered_bytes, measured_bytes;
	uint64_t hops;		     /* at the last stop */
	uint64_t *offered;	     /* by flow, while it runs */
	struct dl_emu_totals before; /* the end of the warm-up */
	uint32_t samples_cap, warnings_cap;
	struct dl_emu_recorder recorder;
	struct dl_log log;
};

/* Keep each warning once, for the result; pass everything else on. */
static void keep_warning(void *context, enum dl_log_level level, const char *message)
{
	struct run *r = context;
	struct dl_emu_result *result = r->result;

	if (level != DL_LOG_WARNING) {
		dl_log(r->scenario->log, level, "%s", message);
		return;
	}
	for (uint32_t i = 0; i < result->nwarnings; i++)
		if (!strcmp(result->warnings[i], message))
			return;
	if (!dl_array_room(result->warnings, result->nwarnings, 1, &r->warnings_cap))
		return;
	result->warnings[result->nwarnings] = strdup(message);
	result->nwarnings += result->warnings[result->nwarnings] != NULL;
}

/* ---- messages over the fabric ------------------------------------------ */

static bool next_message(void *context, uint32_t flow, uint64_t now, struct dl_emu_message *out)
{
	struct run *r = context;
	const struct dl_emu_traffic_entry *entry;
	struct dl_emu_trace_message m;

	if (r->source.program && flow >= r->source.first) {
		bool any = dl_emu_program_next(r->source.program, flow, out);

		r->offered[flow] += any && out->at >= r->warm && out->at < r->end ? out->bytes : 0;
		return any;
	}
	/* What has not been begun by the end is not sent any more. */
	if ((now >= r->end && !r->window[flow]) || !dl_emu_traffic_next(r->traffic, flow, now, &m))
		return false;
	/* It counts as offered when the next one is taken, or at the end. */
	if (r->pending[flow].at >= r->warm)
		r->offered[flow] += r->pending[flow].bytes;
	r->pending[flow] = m;
	entry = &r->entries[m.entry];
	*out = (struct dl_emu_message){
		.at = m.at,
		.bytes = m.bytes,
		.dlid = m.dst == DL_EMU_NO_ADAPTER ? m.mlid : r->scenario->lid[m.dst],
		.level = m.level,
		.sl = entry->sl ? entry->sl - 1 : DL_TABLES_NO_SL,
		.smp = entry->management,
	};
	return true;
}

static void take_step(void *context, const struct dl_emu_step *step)
{
	struct run *r = context;

	dl_emu_record_step(&r->recorder, step);
}

/* Count what came up to the moment when measuring stopped, taken or not. */
static void count_rest(struct run *r)
{
	for (uint32_t i = 0; i < r->source.nflows; i++) {
		struct dl_emu_trace_message *m = &r->pending[i];

		r->offered_bytes += r->offered[i];
		if (r->source.program && i >= r->source.first)
			continue;
		if (m->bytes && m->at >= r->warm && m->at < r->stopped)
			r->offered_bytes += m->bytes;
		while (!r->window[i] && dl_emu_traffic_next(r->traffic, i, 0, m) &&
		       m->at < r->stopped) {
			if (m->at >= r->warm)
				r->offered_bytes += m->bytes;
			r->result->unsent++;
		}
	}
}

/* Entries with another load; all of them end with the traffic. */
static int copy_entries(struct run *r, const struct dl_emu_load *load)
{
	const struct dl_emu_traffic_spec *spec = &r->scenario->traffic;
	uint32_t n = spec->nentries;

	r->entries = dl_arena_array(&r->arena, n + 1, sizeof(*r->entries));
	if (!r->entries)
		return -ENOMEM;
	if (n) /* a program may come without a scenario's traffic */
		memcpy(r->entries, spec->entries, n * sizeof(*r->entries));
	for (uint32_t i = 0; i < n; i++) {
		struct dl_emu_traffic_entry *e = &r->entries[i];

		if (e->stop > r->end)
			e->stop = r->end;
		if (load && load->load && e->load &&
		    (!load->name || (e->name && !strcmp(e->name, load->name))))
			e->load = load->load;
		r->result->levels |= 1u << (e->management ? DL_EMU_MANAGEMENT : e->level);
	}
	r->spec = *spec;
	r->spec.seed = r->scenario->config.seed;
	r->spec.repeat = load ? load->repeat : 0;
	r->spec.entries = r->entries;
	r->spec.pairs = r->scenario->config.congestion.threshold;
	return 0;
}

static int list_flows(struct run *r)
{
	struct dl_emu_program *p = r->scenario->program;
	uint32_t ntraffic = dl_emu_traffic_flows(r->traffic);
	uint32_t n = ntraffic + (p ? p->nflows : 0);

	r->port = dl_arena_array(&r->arena, n + 1, sizeof(*r->port));
	r->window = dl_arena_array(&r->arena, n + 1, sizeof(*r->window));
	r->pending = dl_arena_array(&r->arena, n + 1, sizeof(*r->pending));
	r->offered = dl_arena_array(&r->arena, n + 1, sizeof(*r->offered));
	if (!r->port || !r->window || !r->pending || !r->offered)
		return -ENOMEM;
	for (uint32_t i = ntraffic; i < n; i++)
		r->port[i] = p->port[p->flows[i - ntraffic].rank];
	for (uint32_t i = 0; i < ntraffic; i++) {
		r->port[i] = r->scenario->port[dl_emu_traffic_source(r->traffic, i)];
		r->window[i] = dl_emu_traffic_entry(r->traffic, i)->window;
	}
	r->source = (struct dl_emu_source){
		.context = r,
		.nflows = n,
		.port = r->port,
		.window = r->window,
		.next = next_message,
		.step = r->scenario->record || r->scenario->nwatch ? take_step : NULL,
		.first = ntraffic,
	};
	return p ? dl_emu_program_start(p, &r->source, r->scenario->tables->fabric) : 0;
}

/* ---- measuring --------------------------------------------------------- */

/* Sums for now: see difference_samples(). */
static int add_sample(struct run *r, uint64_t at)
{
	struct dl_emu_result *result = r->result;
	const struct dl_emu_totals *t = dl_emu_totals(r->emu);

	if (!dl_array_room(result->samples, result->nsamples, 1, &r->samples_cap))
		return -ENOMEM;
	if (result->nsamples == DL_EMU_SCENARIO_MILLION)
		return 0;
	result->samples[result->nsamples++] = (struct dl_emu_sample){
		.at = at,
		.delivered = r->before.delivered + t->delivered,
		.bytes = r->before.delivered_bytes + t->delivered_bytes,
		.latency_sum = r->before.latency_sum + t->latency_sum,
		.in_flight = t->in_flight,
	};
	return 0;
}

/* What is left after the last whole step: a shorter one. */
static int add_last_sample(struct run *r)
{
	const struct dl_emu_result *result = r->result;
	uint64_t now = dl_emu_now(r->emu);
	uint64_t from = result->nsamples ? result->samples[result->nsamples - 1].at : 0;

	return result->sample_ps && now > from ? add_sample(r, now) : 0;
}

static void difference_samples(struct dl_emu_result *result)
{
	for (uint32_t i = result->nsamples; i-- > 1;) {
		struct dl_emu_sample *s = &result->samples[i];

		s->delivered -= s[-1].delivered;
		s->bytes -= s[-1].bytes;
		s->latency_sum -= s[-1].latency_sum;
	}
}

static void end_measuring(struct run *r)
{
	struct dl_emu_result *result = r->result;
	uint64_t last = dl_emu_totals(r->emu)->last_delivery;
	/* All may have been dropped. */
	uint64_t now = result->state == DL_EMU_DONE && last > r->warm ? last : dl_emu_now(r->emu);

	if (result->measured_ps)
		return;
	r->stopped = now > r->end ? r->end : now;
	result->measured_ps = r->stopped > r->warm ? r->stopped - r->warm : 1;
	if (r->stopped <= r->warm) /* it has ended before: nothing is measured */
		return;
	r->measured_bytes = dl_emu_totals(r->emu)->delivered_bytes;
	for (unsigned int l = 0; l <= DL_EMU_MANAGEMENT; l++)
		result->level_bytes[l] = dl_emu_level(r->emu, l)->bytes;
}

/* Shares of the bytes that all adapters' links could have carried. */
static void finish_measuring(struct run *r)
{
	struct dl_emu_result *result = r->result;
	double capacity = 0;

	count_rest(r);
	difference_samples(result);
	for (unsigned int sls = dl_emu_unserved_sls(r->emu); sls; sls &= sls - 1)
		dl_log(&r->log, DL_LOG_WARNING,
		       "emulation: SL %d has messages, but no entry in the SL table: they are not "
		       "sent",
		       __builtin_ctz(sls));
	for (uint32_t a = 0; a < r->spec.nadapters; a++)
		capacity += r->spec.rate[a];
	capacity = capacity * result->measured_ps * 1e-12;
	if (r->stopped <= r->warm && r->warm)
		dl_log(&r->log, DL_LOG_WARNING,
		       "emulation: the run ended before warmup_ns was over: throughput is not "
		       "measured, and all else is counted from the start");
	if (capacity > 0 && r->stopped > r->warm) {
		result->offered = r->offered_bytes / capacity;
		result->throughput = r->measured_bytes / capacity;
	}
}

/* ---- the clock --------------------------------------------------------- */

static uint64_t earlier_time(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t next_stop(const struct run *r, uint64_t now)
{
	uint64_t look = earlier_time(r->last / WATCHES + 1, WATCH_PS);
	uint64_t step = r->scenario->sample;
	uint64_t t = earlier_time(r->last, (now / look + 1) * look);

	if (now < r->warm)
		t = earlier_time(t, r->warm);
	if (now < r->end)
		t = earlier_time(t, r->end);
	if (r->next_action < r->scenario->nactions)
		t = earlier_time(t, r->scenario->actions[r->next_action].at);
	t = earlier_time(t, r->result->rewrite->next);
	return step ? earlier_time(t, (now / step + 1) * step) : t;
}

static int take_action(struct run *r, const struct dl_emu_action *a)
{
	int err;

	if (!a->tables)
		return dl_emu_fault(r->emu, &a->fault);
	if (a->rewrite) {
		err = dl_emu_rewrite_begin(r->result->rewrite, r->emu, a, r->tables,
					   r->scenario->config.seed);
		r->tables = r->result->rewrite->now;
		return err;
	}
	r->tables = a->tables;
	r->result->rewrite->next = UINT64_MAX;
	return dl_emu_swap_tables(r->emu, a->tables);
}

/* Everything that is due at `now`. */
static int act_now(struct run *r, uint64_t now)
{
	uint64_t step = r->scenario->sample;
	int err = 0;

	while (!err && r->next_action < r->scenario->nactions &&
	       r->scenario->actions[r->next_action].at <= now)
		err = take_action(r, &r->scenario->actions[r->next_action++]);
	if (!err && r->result->rewrite->next <= now) {
		err = dl_emu_rewrite_step(r->result->rewrite, r->emu, now);
		r->tables = r->result->rewrite->now;
	}
	if (!err && step && now && now % step == 0)
		err = add_sample(r, now);
	if (now == r->end)
		end_measuring(r);
	if (now == r->warm && now) {
		r->before = *dl_emu_totals(r->emu);
		dl_emu_reset_stats(r->emu);
	}
	return err;
}

/* Faults to come may set free what is stuck now. */
static bool run_is_over(const struct run *r)
{
	int state = r->result->state;

	return state == DL_EMU_DEADLOCK || state == DL_EMU_DONE ||
	       (state != DL_EMU_RUNNING && r->next_action == r->scenario->nactions &&
		r->result->rewrite->next == UINT64_MAX);
}

/* A run in which losses keep flow control busy does not come to rest by itself. */
static void look_for_stall(struct run *r)
{
	const struct dl_emu_totals *t = dl_emu_totals(r->emu);

	if (r->result->state == DL_EMU_RUNNING && t->packet_hops == r->hops &&
	    dl_emu_has_stalled(r->emu))
		r->result->state = DL_EMU_STUCK;
	r->hops = t->packet_hops;
}

static int run_clock(struct run *r, dl_emu_watch watch, void *context)
{
	uint64_t now = 0;
	int err = act_now(r, 0);

	while (!err && now < r->last) {
		now = next_stop(r, now);
		r->result->state = dl_emu_run(r->emu, now);
		if (r->result->state < 0)
			return r->result->state;
		look_for_stall(r);
		if (run_is_over(r))
			break;
		err = act_now(r, now);
		if (watch && watch(context, r->emu, r->end)) {
			r->result->interrupted = true;
			break;
		}
	}
	end_measuring(r);
	if (!err)
		err = add_last_sample(r);
	if (!err && r->result->rewrite->next != UINT64_MAX)
		dl_log(&r->log, DL_LOG_WARNING,
		       "emulation: the run ended in the middle of the rewrite at %" PRIu64 " ns",
		       r->result->rewrite->options->at / 1000);
	return err;
}

int dl_emu_scenario_set_program(struct dl_emu_scenario *s, struct dl_emu_program *p,
				const uint32_t *port)
{
	uint16_t *lid = dl_arena_array(&s->arena, p->nranks + 1ul, sizeof(*lid));
	bool *used = dl_arena_array(&s->arena, s->traffic.nadapters + 1ul, sizeof(*used));

	if (!lid || !used)
		return -ENOMEM;
	for (uint32_t r = 0; r < p->nranks; r++) {
		uint32_t adapter = s->adapter[port[r]];

		if (adapter == DL_EMU_NO_ADAPTER || used[adapter])
			return dl_fail(
				s->log, -EINVAL,
				"rank %u: expected an adapter that has a cable and a LID, and no "
				"other rank",
				r);
		used[adapter] = true;
		lid[r] = s->lid[adapter];
	}
	p->port = port;
	p->lid = lid;
	p->overhead = s->config.message_overhead_ps;
	p->eager = p->kind ? 0 : s->config.eager;
	s->program = p;
	if (!s->traffic.nentries)
		s->duration = DL_EMU_SCENARIO_PS_MAX;
	s->drain = DL_EMU_SCENARIO_PS_MAX;
	return 0;
}

/* ---- all --------------------------------------------------------------- */

static int set_up_run(struct run *r, const struct dl_emu_load *load)
{
	const struct dl_emu_scenario *s = r->scenario;
	int err = copy_entries(r, load);

	r->result->rewrite = dl_emu_rewrite_new();
	if (!r->result->rewrite)
		err = -ENOMEM;
	if (!err)
		err = dl_emu_traffic_new(&r->spec, s->log, &r->traffic);
	if (!err)
		err = list_flows(r);
	if (!err)
		err = dl_emu_record_begin(&r->recorder, s, r->result);
	if (!err)
		err = dl_emu_new(s->tables, &s->config, &r->source, &r->log, &r->emu);
	return err;
}

int dl_emu_scenario_run(const struct dl_emu_scenario *s, const struct dl_emu_load *load,
			dl_emu_watch watch, void *context, struct dl_emu_result *out)
{
	struct run r = {
		.scenario = s,
		.result = out,
		.warm = s->warmup,
		.end = s->duration,
		.last = s->duration + s->drain,
		.tables = s->tables,
		.log = { .write = keep_warning, .context = &r },
	};
	int err;

	*out = (struct dl_emu_result){ .sample_ps = s->sample,
				       .pairs = s->config.pairs,
				       .reliable = s->config.retries.timeout_ps };
	err = set_up_run(&r, load);
	if (!err)
		err = run_clock(&r, watch, context);
	if (!err)
		finish_measuring(&r);
	if (dl_emu_record_end(&r.recorder))
		err = -ENOMEM;
	if (out->recorded.cut || out->watched.cut)
		dl_log(&r.log, DL_LOG_WARNING,
		       "emulation: a million steps are recorded or watched, and no more");
	if (!err && s->program)
		out->program = dl_emu_program_result(s->program);
	dl_emu_traffic_free(r.traffic);
	dl_arena_free(&r.arena);
	out->emu = r.emu;
	if (err && err != -EINVAL)
		dl_log(s->log, DL_LOG_ERROR, "the emulation failed: %s", strerror(-err));
	return err;
}

void dl_emu_result_free(struct dl_emu_result *r)
{
	dl_emu_free(r->emu);
	dl_emu_rewrite_free(r->rewrite);
	free(r->samples);
	free(r->recorded.step);
	free(r->watched.step);
	for (uint32_t i = 0; i < r->nwarnings; i++)
		free(r->warnings[i]);
	free(r->warnings);
}

bool dl_emu_result_finding(const struct dl_emu_result *r)
{
	const struct dl_emu_totals *t = dl_emu_totals(r->emu);
	bool lost = r->reliable ? t->lost_messages : t->dropped;

	return r->interrupted || r->program.waiting || lost || t->in_flight ||
	       dl_emu_cycle(r->emu)->n;
}
