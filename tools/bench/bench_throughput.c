/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a whole torus delivers when every adapter always has something to send,
 * routed in three ways, as a share of what all adapters could send; and what
 * the busiest cable allows.  And, by torus-2QoS's rule, latency against load,
 * beside what can be worked out: the latency of a packet that is alone (the
 * closed form of lib/emu/engine.c), and the load at which a cable is full.
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
#define POINTS 22		     /* of a curve */
#define PER_BOUND 20		     /* of them up to the bound */
#define LONG_PS UINT64_C(1000000000) /* of a point, or more until */
#define PACKETS 20000		     /* have been sent */
#define ALONE_PS UINT64_C(20000000)  /* between packets that do not meet */

static const struct {
	const char *name;
	enum dl_emu_pattern pattern;
	bool all; /* to all others alike? */
} patterns[] = {
	{ "uniform", DL_EMU_PATTERN_UNIFORM, true },
	{ "tornado", DL_EMU_PATTERN_TORNADO, false },
	{ "transpose", DL_EMU_PATTERN_TRANSPOSE, false },
#define CURVES 3 /* of the patterns have one */
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
	struct dl_emu_traffic_entry entry;
	uint32_t *at;	 /* adapters by place of the grid */
	uint32_t *fixed; /* by adapter: its destination, if it has one */
	uint32_t ndsts;	 /* of each */
	uint32_t *alone; /* by adapter: packets sent that meet no others */
	bool curves;
};

/* ---- the bound --------------------------------------------------------- */

/* The k-th destination of a source; itself: it is silent. */
static uint32_t destination(const struct job *j, uint32_t src, uint32_t k)
{
	return j->ndsts == 1 ? j->fixed[src] : (src + 1 + k) % j->traffic.n;
}

/* One more packet from src to dst on each cable between switches: how many? */
static uint32_t add_path(const struct job *j, uint32_t src, uint32_t dst, uint64_t *load)
{
	const struct dl_fabric *f = j->tables->fabric;
	uint32_t sw = dl_fabric_access_switch(f, j->traffic.port[src]), port, next;
	uint16_t lid = f->ports[j->traffic.port[dst]].lid;

	for (uint32_t hops = 0;; hops++) {
		port = f->nodes[f->switches[sw]].first_port + dl_tables_lft(j->tables, sw, lid);
		next = dl_fabric_peer_switch(f, port);
		if (next == DL_NONE)
			return hops;
		load[port]++;
		sw = next;
	}
}

/*
 * The load at which a cable is full, when each source sends alike; and the
 * mean latency of packets that are alone.
 */
static int find_bound(const struct job *j, double *bound, double *alone_ps)
{
	const struct dl_fabric *f = j->tables->fabric;
	uint64_t *load = calloc(f->nports + 1, sizeof(*load)), most = 0, sum = 0, n = 0;
	uint64_t cable = 5ul * j->config->cable_mm_all, hop;
	struct dl_emu_rate rate;

	if (!load)
		return -ENOMEM;
	if (dl_emu_link_rate(f, j->config, j->traffic.port[0], &rate)) {
		free(load);
		return -EINVAL;
	}
	hop = cable + dl_emu_rate_time(rate, 8) + j->config->switch_latency_ps;
	for (uint32_t src = 0; src < j->traffic.n; src++)
		for (uint32_t k = 0, dst; k < j->ndsts; k++) {
			dst = destination(j, src, k);
			if (dst == src)
				continue;
			sum += (add_path(j, src, dst, load) + 1) * hop + cable +
			       dl_emu_rate_time(rate, BYTES + DL_EMU_HEADERS);
			n++;
		}
	for (uint32_t p = 0; p < f->nports; p++)
		if (load[p] > most)
			most = load[p];
	free(load);
	*bound = most > j->ndsts ? (double)j->ndsts / most : 1;
	*alone_ps = n ? (double)sum / n : 0;
	return 0;
}

/* ---- what is delivered ------------------------------------------------- */

/*
 * From the warm-up on: the mean latency and what is delivered, as a share of
 * what the sources could send.
 */
static int run(const struct job *j, const struct dl_emu_source *source, uint64_t warm_up,
	       uint64_t end, struct dl_emu_point *out)
{
	struct dl_emu *emu = NULL;
	int err = dl_emu_new(j->tables, j->config, source, j->log, &emu);

	if (!err)
		err = dl_emu_run(emu, warm_up);
	if (err >= 0 && warm_up)
		dl_emu_reset_stats(emu);
	if (err == DL_EMU_RUNNING)
		err = dl_emu_run(emu, end);
	if (err == DL_EMU_RUNNING || err == DL_EMU_DONE) {
		out->throughput = dl_emu_totals(emu)->delivered_bytes /
				  (j->traffic.rate[0] * 1e-12 * (source->nflows + !source->nflows) *
				   (end - warm_up));
		out->latency = dl_emu_latency_of(&dl_emu_level(emu, 0)->latency);
		err = 0;
	} else if (err > 0) {
		err = -EPROTO; /* safe tables: never */
	}
	dl_emu_free(emu);
	return err;
}

/* The pattern under a load. */
static int deliver(struct job *j, uint32_t load, uint64_t warm_up, uint64_t end,
		   struct dl_emu_point *out)
{
	struct dl_emu_source source = { .context = &j->traffic, .next = bench_traffic_next };
	uint32_t *port = malloc((j->traffic.n + 1) * sizeof(*port));
	int err = port ? 0 : -ENOMEM;

	j->entry.load = load;
	if (!err)
		err = dl_emu_traffic_new(&j->spec, j->log, &j->traffic.traffic);
	if (!err)
		source.nflows = dl_emu_traffic_flows(j->traffic.traffic);
	for (uint32_t i = 0; i < source.nflows; i++)
		port[i] = j->traffic.port[dl_emu_traffic_source(j->traffic.traffic, i)];
	source.port = port;
	*out = (struct dl_emu_point){ .load = load, .offered = load * 1e-6, .done = true };
	if (!err)
		err = run(j, &source, warm_up, end, out);
	dl_emu_traffic_free(j->traffic.traffic);
	j->traffic.traffic = NULL;
	free(port);
	return err;
}

/* Packets of all pairs, one after the other. */
static bool next_alone(void *context, uint32_t src, uint64_t now, struct dl_emu_message *out)
{
	struct job *j = context;
	uint32_t k = j->alone[src]++, dst = k < j->ndsts ? destination(j, src, k) : src;

	(void)now;
	if (dst == src)
		return false;
	*out = (struct dl_emu_message){
		.at = (src * (uint64_t)j->ndsts + k) * ALONE_PS,
		.bytes = BYTES,
		.dlid = j->traffic.lid[dst],
		.sl = DL_TABLES_NO_SL,
	};
	return true;
}

static int deliver_alone(struct job *j, struct dl_emu_point *out)
{
	const struct dl_emu_source source = {
		.context = j, .nflows = j->traffic.n, .port = j->traffic.port, .next = next_alone
	};

	memset(j->alone, 0, j->traffic.n * sizeof(*j->alone));
	return run(j, &source, 0, UINT64_MAX, out);
}

/* Everybody sends all the time. */
static int saturate(struct job *j, json_t **out)
{
	struct dl_emu_point p;
	double bound, alone;
	int err = find_bound(j, &bound, &alone);

	if (!err)
		err = deliver(j, DL_EMU_LOAD_ONE, WARM_UP_PS, WARM_UP_PS + MEASURED_PS, &p);
	if (!err)
		*out = json_pack("{s:f, s:f}", "delivered", p.throughput, "bound", bound);
	return err;
}

/* From a load that hardly anybody feels to more than the busiest cable carries. */
static int draw_curve(struct job *j, json_t **out)
{
	struct dl_emu_point p[POINTS + 1];
	double bound = 0, alone, saturation, load, time;
	json_t *curve = json_array();
	int err = find_bound(j, &bound, &alone);

	bound *= (double)BYTES / (BYTES + DL_EMU_HEADERS);
	if (!err)
		err = deliver_alone(j, &p[0]);
	for (unsigned int i = 1; !err && i <= POINTS; i++) {
		load = bound * i / PER_BOUND;
		time = PACKETS * (BYTES / (load * j->traffic.rate[0] * 1e-12 * j->traffic.n));
		err = deliver(j, load * DL_EMU_LOAD_ONE, WARM_UP_PS,
			      WARM_UP_PS + (time > LONG_PS ? (uint64_t)time : LONG_PS), &p[i]);
		if (!err)
			json_array_append_new(curve, json_pack("{s:i, s:f, s:f, s:f, s:f}",
							       "bound_percent", 100 * i / PER_BOUND,
							       "load", p[i].offered, "delivered",
							       p[i].throughput, "latency_ns",
							       p[i].latency.mean, "latency_p99_ns",
							       p[i].latency.p99));
	}
	saturation = err || !alone ? -1 : dl_emu_saturation(p + 1, POINTS);
	if (!err)
		*out = json_pack("{s:f, s:f, s:f, s:o, s:o, s:O}", "alone_ns", alone / 1000,
				 "emulated_alone_ns", p[0].latency.mean, "bound", bound,
				 "saturation", saturation < 0 ? json_null() : json_real(saturation),
				 "share",
				 saturation < 0 ? json_null() : json_real(saturation / bound),
				 "curve", curve);
	json_decref(curve);
	return err;
}

/* Of a pattern: its destinations, then what was asked for. */
static int measure(struct job *j, unsigned int pattern, json_t **out)
{
	struct dl_emu_trace_message m;
	int err;

	j->entry.pattern = patterns[pattern].pattern;
	j->entry.load = DL_EMU_LOAD_ONE;
	j->ndsts = patterns[pattern].all ? j->traffic.n - 1 : 1;
	err = dl_emu_traffic_new(&j->spec, j->log, &j->traffic.traffic);
	if (err)
		return err;
	for (uint32_t i = 0; i < j->traffic.n; i++)
		j->fixed[i] = i;
	/* Flows with one destination: the first message names it. */
	for (uint32_t i = 0; i < dl_emu_traffic_flows(j->traffic.traffic); i++)
		if (dl_emu_traffic_next(j->traffic.traffic, i, 0, &m))
			j->fixed[m.src] = m.dst;
	dl_emu_traffic_free(j->traffic.traffic);
	j->traffic.traffic = NULL;
	return j->curves ? draw_curve(j, out) : saturate(j, out);
}

/* ---- all of it --------------------------------------------------------- */

/* Each switch is a point of the grid, its adapters in order of their LIDs. */
static int place_adapters(struct job *j, const struct dl_torus *t, const struct bench_size *size)
{
	uint32_t i, place;

	j->at = malloc(((size_t)t->nsites * size->hosts + 1) * sizeof(*j->at));
	j->fixed = calloc(j->traffic.n, sizeof(*j->fixed));
	j->alone = calloc(j->traffic.n, sizeof(*j->alone));
	if (!j->at || !j->fixed || !j->alone)
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
		.entries = &j->entry,
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
	json_t *figures, *result;
	int err;

	dl_route_options_init(&options);
	options.mode = routings[routing].mode;
	options.ties = routings[routing].ties;
	err = dl_route(s->torus, s->config, &options, NULL, &r);
	j->tables = r.tables;
	for (size_t p = 0; !err && p < json_array_size(results); p++) {
		err = measure(j, p, &figures);
		if (err)
			break;
		result = json_array_get(results, p);
		if (j->curves)
			json_object_update(result, figures);
		else
			json_object_set(result, routings[routing].name, figures);
		json_decref(figures);
	}
	dl_route_result_release(&r);
	return err;
}

static int run_all(struct tool *tool, const struct bench_size *size, bool curves, json_t **out)
{
	static const struct dl_emu_size bytes = { BYTES, 1 };
	json_t *results = json_array();
	struct dl_emu_config config;
	struct job j = {
		.log = &tool->log,
		.config = &config,
		.entry = { .sizes = &bytes, .nsizes = 1, .stop = UINT64_MAX },
		.curves = curves,
	};
	struct tool_input s;
	int err = bench_setup(tool, size, &s);

	dl_emu_config_init(&config);
	for (unsigned int p = 0; !err && p < (curves ? CURVES : N(patterns)); p++)
		json_array_append_new(results, json_pack("{s:s}", "pattern", patterns[p].name));
	if (!err)
		err = bench_traffic_init(&j.traffic, s.fabric, &config);
	if (!err)
		err = place_adapters(&j, s.torus, size);
	for (unsigned int r = 0; !err && r < (curves ? 1 : N(routings)); r++)
		err = run_routing(&j, &s, r, results);
	if (!err)
		*out = json_pack("{s:s, s:[iii], s:I, s:O}", "what",
				 curves ? "latency" : "throughput", "dims", size->dims[0],
				 size->dims[1], size->dims[2], "hosts", (json_int_t)size->hosts,
				 "patterns", results);
	json_decref(results);
	bench_traffic_release(&j.traffic);
	free(j.at);
	free(j.fixed);
	free(j.alone);
	tool_input_free(&s);
	return err;
}

int bench_throughput(struct tool *tool, const struct bench_size *size, json_t **out)
{
	return run_all(tool, size, false, out);
}

int bench_latency(struct tool *tool, const struct bench_size *size, json_t **out)
{
	return run_all(tool, size, true, out);
}
