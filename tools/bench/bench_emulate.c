/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How many packet-hops the emulator does in a second of processor time: a
 * whole torus with one adapter a switch, uniform traffic of messages of 2048
 * bytes, one packet each, at half of what the torus delivers when every
 * adapter always has something to send.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "bench.h"
#include "dateline/emu.h"
#include "dateline/route.h"

#define BYTES 2048
#define MIN_HOPS 3000000 /* enough for a steady figure */
#define WARM_UP_PS UINT64_C(20000000)
#define FILL_PS UINT64_C(100000000) /* until all buffers are full */
#define STEP_PS UINT64_C(10000000)

/* Adapters with traffic between them, as a source for the emulator. */
struct bench_traffic {
	struct dl_emu_traffic *traffic;
	uint32_t *port; /* by adapter */
	uint16_t *lid;
	uint64_t *rate;
	uint32_t n;
};

static bool bench_emulate_next(void *context, uint32_t flow, uint64_t now,
			       struct dl_emu_message *out)
{
	struct bench_traffic *j = context;
	struct dl_emu_trace_message m;

	if (!dl_emu_traffic_next(j->traffic, flow, now, &m))
		return false;
	*out = (struct dl_emu_message){
		.at = m.at,
		.bytes = m.bytes,
		.dlid = j->lid[m.dst],
		.level = m.level,
		.sl = DL_TABLES_NO_SL,
	};
	return true;
}

static int bench_emulate_init(struct bench_traffic *j, const struct dl_fabric *f)
{
	*j = (struct bench_traffic){ 0 };
	j->port = malloc((f->nports + 1) * sizeof(*j->port));
	j->lid = malloc((f->nports + 1) * sizeof(*j->lid));
	j->rate = malloc((f->nports + 1) * sizeof(*j->rate));
	if (!j->port || !j->lid || !j->rate)
		return -ENOMEM;
	for (uint32_t p = 0; p < f->nports; p++) {
		struct dl_emu_rate rate;

		if (!f->ports[p].num || !f->ports[p].lid || !dl_fabric_is_end_port(f, p))
			continue;
		if (dl_emu_link_rate(f, p, &rate))
			return -EINVAL;
		j->rate[j->n] = dl_emu_rate_bytes(rate);
		j->lid[j->n] = f->ports[p].lid;
		j->port[j->n++] = p;
	}
	return j->n > 1 ? 0 : -EINVAL;
}

static void bench_emulate_release(struct bench_traffic *j)
{
	dl_emu_traffic_free(j->traffic);
	free(j->port);
	free(j->lid);
	free(j->rate);
}

static double bench_emulate_cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_utime.tv_sec + 1e-6 * u.ru_utime.tv_usec;
}

static int bench_emulate_start(struct bench_traffic *j, struct dl_emu_traffic_spec *spec,
			       const struct tool *tool, const struct dl_tables *t,
			       const struct dl_emu_config *c, struct dl_emu **emu)
{
	struct dl_emu_source source = {
		.context = j, .nflows = j->n, .port = j->port, .next = bench_emulate_next
	};
	int err;

	dl_emu_traffic_free(j->traffic);
	j->traffic = NULL;
	err = dl_emu_traffic_new(spec, &tool->log, &j->traffic);
	return err ? err : dl_emu_new(t, c, &source, &tool->log, emu);
}

/* Run until `until`, the first part of it uncounted. */
static int bench_emulate_run(struct dl_emu *emu, uint64_t warm_up, uint64_t until)
{
	int err = dl_emu_run(emu, warm_up);

	dl_emu_reset_stats(emu);
	if (err == DL_EMU_RUNNING)
		err = dl_emu_run(emu, until);
	return err > 0 ? -EPROTO : err; /* safe tables and endless traffic: never */
}

/* Half of what is delivered when every adapter always has something to send. */
static int bench_emulate_find_load(struct bench_traffic *j, struct dl_emu_traffic_spec *spec,
				   struct dl_emu_traffic_entry *entry, const struct tool *tool,
				   const struct dl_tables *t, const struct dl_emu_config *c)
{
	struct dl_emu *emu = NULL;
	int err;

	entry->load = DL_EMU_LOAD_ONE;
	err = bench_emulate_start(j, spec, tool, t, c, &emu);
	if (!err)
		err = bench_emulate_run(emu, FILL_PS, 2 * FILL_PS);
	if (!err)
		entry->load = dl_emu_totals(emu)->delivered_bytes * (DL_EMU_LOAD_ONE / 2.0) /
			      (j->rate[0] * 1e-12 * j->n * FILL_PS);
	dl_emu_free(emu);
	return err;
}

static int bench_emulate_measure(struct dl_emu *emu, const struct bench_size *size, uint32_t load,
				 json_t **out)
{
	const struct dl_emu_totals *totals;
	uint64_t until = WARM_UP_PS + STEP_PS;
	double cpu, seconds;
	int err = bench_emulate_run(emu, WARM_UP_PS, WARM_UP_PS);

	seconds = dl_clock_monotonic();
	cpu = bench_emulate_cpu_seconds();
	do {
		if (!err)
			err = dl_emu_run(emu, until);
		until += STEP_PS;
		totals = dl_emu_totals(emu);
	} while (!err && totals->packet_hops < MIN_HOPS);
	cpu = bench_emulate_cpu_seconds() - cpu;
	seconds = dl_clock_monotonic() - seconds;
	if (err)
		return err > 0 ? -EPROTO : err;
	*out = json_pack("{s:s, s:[iii], s:I, s:f, s:I, s:f, s:f, s:f, s:f, s:f, s:I, s:I}", "what",
			 "emulate", "dims", size->dims[0], size->dims[1], size->dims[2], "threads",
			 (json_int_t)size->threads, "load", load * 1e-6, "packet_hops",
			 (json_int_t)totals->packet_hops, "seconds", seconds, "cpu_seconds", cpu,
			 "packet_hops_per_cpu_second", totals->packet_hops / cpu,
			 "events_per_packet_hop", (double)totals->events / totals->packet_hops,
			 "sim_seconds", 1e-12 * (dl_emu_now(emu) - totals->since), "in_flight",
			 (json_int_t)totals->in_flight, "peak_bytes",
			 (json_int_t)bench_peak_bytes());
	return *out ? 0 : -ENOMEM;
}

int bench_emulate(struct tool *tool, const struct bench_size *size, json_t **out)
{
	static const struct dl_emu_size bytes = { BYTES, 1 };
	struct dl_emu_traffic_entry entry = { .pattern = DL_EMU_PATTERN_UNIFORM,
					      .sizes = &bytes,
					      .nsizes = 1,
					      .stop = UINT64_MAX,
					      .load = size->load };
	struct dl_emu_traffic_spec spec = { .seed = 1, .entries = &entry, .nentries = 1 };
	struct dl_route_options options;
	struct dl_emu_config c;
	struct dl_route_result r = { 0 };
	struct tool_input s;
	struct bench_traffic j = { 0 };
	struct dl_emu *emu = NULL;
	int err;

	dl_emu_config_init(&c);
	c.threads = size->threads;
	c.credit_latency_ps = size->credit_ns * UINT64_C(1000);
	dl_route_options_init(&options);
	options.mode = DL_ROUTE_CLASSIC;
	err = bench_setup(tool, size, &s);
	if (!err)
		err = dl_route(s.torus, s.config, &options, &tool->log, &r);
	if (!err)
		err = bench_emulate_init(&j, s.fabric);
	spec.nadapters = j.n;
	spec.rate = j.rate;
	if (!err && !entry.load)
		err = bench_emulate_find_load(&j, &spec, &entry, tool, r.tables, &c);
	if (!err)
		err = bench_emulate_start(&j, &spec, tool, r.tables, &c, &emu);
	if (!err)
		err = bench_emulate_measure(emu, size, entry.load, out);
	dl_emu_free(emu);
	bench_emulate_release(&j);
	dl_route_result_release(&r);
	tool_input_free(&s);
	return err;
}
