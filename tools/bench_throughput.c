/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a whole torus delivers when every adapter always has something to send,
 * routed in three ways, as a share of what all adapters could send; and what
 * the busiest cable allows.
 *
 * The bound.  Of each adapter's traffic a share goes to each destination.  The
 * shares that pass a cable add up to its load, in units of an adapter's link;
 * all links are equally fast.  So where the largest load is above 1, traffic in
 * these shares cannot exceed 1 / load.  What is delivered may, as it is not in
 * these shares any more: flows that pass no busy cable get more than others.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "dateline/emu.h"
#include "dateline/route.h"

#define BYTES 2048
#define WARM_UP_PS UINT64_C(100000000)
#define MEASURED_PS UINT64_C(100000000)

static const struct {
	const char *name;
	enum dl_emu_pattern pattern;
	bool all; /* to all others alike? */
} patterns[] = {
	{ "uniform", DL_EMU_PATTERN_UNIFORM, true },
	{ "tornado", DL_EMU_PATTERN_TORNADO, false },
	{ "transpose", DL_EMU_PATTERN_TRANSPOSE, false },
	{ "all_to_all", DL_EMU_PATTERN_ALL_TO_ALL, true },
	{ "neighbour", DL_EMU_PATTERN_NEIGHBOUR, false },
};

static const struct {
	const char *name;
	enum dl_route_mode mode;
	enum dl_route_ties ties;
} routings[] = {
	{ "torus-2QoS", DL_ROUTE_CLASSIC, DL_ROUTE_TIES_CONFIGURED },
	{ "balanced", DL_ROUTE_PROVEN, DL_ROUTE_TIES_BALANCED },
	{ "any-sl", DL_ROUTE_ANY_SL, DL_ROUTE_TIES_CONFIGURED },
};

#define N(list) (sizeof(list) / sizeof((list)[0]))

struct job {
	struct bench_traffic traffic;
	const struct dl_tables *tables;
	const struct dl_emu_config *config;
	const struct dl_log *log;
	struct dl_emu_traffic_spec spec;
	uint32_t *at; /* adapters by place of the grid */
};

/* ---- the bound --------------------------------------------------------- */

/* One more packet from src to dst on each cable between switches. */
static void add_path(const struct job *j, uint32_t src, uint32_t dst, uint64_t *load)
{
	const struct dl_fabric *f = j->tables->fabric;
	uint32_t sw = dl_fabric_access_switch(f, j->traffic.port[src]), port, next;
	uint16_t lid = f->ports[j->traffic.port[dst]].lid;

	for (;;) {
		port = f->nodes[f->switches[sw]].first_port + dl_tables_lft(j->tables, sw, lid);
		next = dl_fabric_peer_switch(f, port);
		if (next == DL_NONE)
			return;
		load[port]++;
		sw = next;
	}
}

/* The largest load of a cable, when each source sends so much. */
static int find_bound(struct job *j, bool all, double *bound)
{
	const struct dl_fabric *f = j->tables->fabric;
	uint64_t *load = calloc(f->nports + 1, sizeof(*load)), most = 0;
	uint32_t n = j->traffic.n, src, dst, p;
	struct dl_emu_trace_message m;

	if (!load)
		return -ENOMEM;
	for (src = 0; all && src < n; src++)
		for (dst = 0; dst < n; dst++)
			if (src != dst)
				add_path(j, src, dst, load);
	/* Flows with one destination: the first message names it. */
	for (src = 0; !all && src < dl_emu_traffic_flows(j->traffic.traffic); src++)
		if (dl_emu_traffic_next(j->traffic.traffic, src, 0, &m))
			add_path(j, m.src, m.dst, load);
	for (p = 0; p < f->nports; p++)
		if (load[p] > most)
			most = load[p];
	free(load);
	*bound = most ? (double)(all ? n - 1 : 1) / most : 1;
	if (*bound > 1)
		*bound = 1;
	return 0;
}

/* ---- what is delivered ------------------------------------------------- */

static int deliver(struct job *j, double *share)
{
	struct dl_emu_source source = {
		.context = &j->traffic,
		.nflows = dl_emu_traffic_flows(j->traffic.traffic),
		.port = j->traffic.port,
		.next = bench_traffic_next,
	};
	uint32_t *port = malloc((source.nflows + 1) * sizeof(*port)), i;
	struct dl_emu *emu = NULL;
	double capacity = 0;
	int err = port ? 0 : -ENOMEM;

	for (i = 0; port && i < source.nflows; i++) {
		uint32_t src = dl_emu_traffic_source(j->traffic.traffic, i);

		port[i] = j->traffic.port[src];
		capacity += j->traffic.rate[src];
	}
	source.port = port;
	if (!err)
		err = dl_emu_new(j->tables, j->config, &source, j->log, &emu);
	if (!err)
		err = dl_emu_run(emu, WARM_UP_PS);
	if (err == DL_EMU_RUNNING) {
		dl_emu_reset_stats(emu);
		err = dl_emu_run(emu, WARM_UP_PS + MEASURED_PS);
	}
	if (err == DL_EMU_RUNNING) {
		*share = dl_emu_totals(emu)->delivered_bytes / (capacity * 1e-12 * MEASURED_PS);
		err = 0;
	} else if (err > 0) {
		err = -EPROTO; /* safe tables and endless traffic: never */
	}
	dl_emu_free(emu);
	free(port);
	return err;
}

static int measure(struct job *j, unsigned int pattern, json_t **out)
{
	static const struct dl_emu_size size = { BYTES, 1 };
	struct dl_emu_traffic_entry entry = {
		.pattern = patterns[pattern].pattern,
		.load = DL_EMU_LOAD_ONE,
		.sizes = &size,
		.nsizes = 1,
		.stop = UINT64_MAX,
	};
	double bound = 0, share = 0;
	int err;

	j->spec.entries = &entry;
	err = dl_emu_traffic_new(&j->spec, j->log, &j->traffic.traffic);
	if (!err)
		err = find_bound(j, patterns[pattern].all, &bound);
	if (!err)
		err = deliver(j, &share);
	dl_emu_traffic_free(j->traffic.traffic);
	j->traffic.traffic = NULL;
	if (!err)
		*out = json_pack("{s:f, s:f}", "delivered", share, "bound", bound);
	return err;
}

/* ---- all of it --------------------------------------------------------- */

/* Each switch is a point of the grid, its adapters in order of their LIDs. */
static int place_adapters(struct job *j, const struct dl_torus *t, const struct bench_size *size)
{
	uint32_t i, place;

	j->at = malloc(((size_t)t->nsites * size->hosts + 1) * sizeof(*j->at));
	if (!j->at)
		return -ENOMEM;
	for (i = 0; i < t->nsites * size->hosts; i++)
		j->at[i] = DL_EMU_NO_ADAPTER;
	for (i = 0; i < j->traffic.n; i++) {
		place = size->hosts *
			t->sw_site[dl_fabric_access_switch(t->fabric, j->traffic.port[i])];
		while (j->at[place] != DL_EMU_NO_ADAPTER)
			place++;
		j->at[place] = i;
	}
	j->spec = (struct dl_emu_traffic_spec){
		.seed = 1,
		.nadapters = j->traffic.n,
		.rate = j->traffic.rate,
		.grid = { .dims = DL_TORUS_DIMS, .depth = size->hosts, .at = j->at },
		.nentries = 1,
	};
	memcpy(j->spec.grid.radix, t->grid.radix, sizeof(t->grid.radix));
	return 0;
}

static int run_routing(struct job *j, const struct tool_input *s, unsigned int routing,
		       json_t *results)
{
	struct dl_route_options options;
	struct dl_route_result r = { 0 };
	json_t *figures;
	int err;

	dl_route_options_init(&options);
	options.mode = routings[routing].mode;
	options.ties = routings[routing].ties;
	err = dl_route(s->torus, s->config, &options, NULL, &r);
	j->tables = r.tables;
	for (unsigned int p = 0; !err && p < N(patterns); p++) {
		err = measure(j, p, &figures);
		if (!err && json_object_set_new(json_array_get(results, p), routings[routing].name,
						figures))
			err = -ENOMEM;
	}
	dl_route_result_release(&r);
	return err;
}

int bench_throughput(struct tool *tool, const struct bench_size *size, json_t **out)
{
	json_t *results = json_array();
	struct job j = { .log = &tool->log };
	struct dl_emu_config config;
	struct tool_input s;
	int err = bench_setup(tool, size, &s);

	dl_emu_config_init(&config);
	j.config = &config;
	for (unsigned int p = 0; !err && p < N(patterns); p++)
		if (json_array_append_new(results, json_pack("{s:s}", "pattern", patterns[p].name)))
			err = -ENOMEM;
	if (!err)
		err = bench_traffic_init(&j.traffic, s.fabric, &config);
	if (!err)
		err = place_adapters(&j, s.torus, size);
	for (unsigned int r = 0; !err && r < N(routings); r++)
		err = run_routing(&j, &s, r, results);
	if (!err)
		*out = json_pack("{s:s, s:[iii], s:I, s:O}", "what", "throughput", "dims",
				 size->dims[0], size->dims[1], size->dims[2], "hosts",
				 (json_int_t)size->hosts, "patterns", results);
	json_decref(results);
	bench_traffic_release(&j.traffic);
	free(j.at);
	tool_input_free(&s);
	return err;
}
