/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a whole torus delivers when every adapter always has something to send,
 * routed in three ways, and what its busiest link allows: scenarios of
 * `dateline emulate` with a load of 1, each a point of a load sweep.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "bench.h"
#include "dateline/emu.h"
#include "dateline/route.h"

static const char *const patterns[] = { "uniform", "tornado", "transpose", "all_to_all",
					"neighbour" };

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

static int throughput_read(const struct tool *tool, const struct tool_input *s,
			   const struct dl_tables *t, const char *pattern,
			   struct dl_emu_scenario **out)
{
	struct dl_emu_scenario_options o = { .dims = DL_TORUS_DIMS, .site = s->torus->sw_site };
	char text[256];
	FILE *from;
	int len, err;

	len = snprintf(text, sizeof(text),
		       "warmup_ns: 100000\nduration_ns: 200000\ndrain_ns: 0\n"
		       "traffic: [{pattern: %s, load: 1, count: %d}]\n",
		       pattern, INT32_MAX);
	memcpy(o.radix, s->torus->grid.radix, sizeof(s->torus->grid.radix));
	from = fmemopen(text, len, "r");
	if (!from)
		return -errno;
	err = dl_emu_scenario_read_stream(from, "bench", t, &o, &tool->log, out);
	fclose(from);
	return err;
}

static int throughput_measure(const struct tool *tool, const struct tool_input *s,
			      const struct dl_tables *t, const char *pattern, json_t **out)
{
	const struct dl_emu_load as_it_is = { NULL, 0, 0 };
	struct dl_emu_scenario *scenario = NULL;
	struct dl_emu_point point;
	double bound;
	int err = throughput_read(tool, s, t, pattern, &scenario);

	if (!err)
		err = dl_emu_scenario_bound(scenario, &bound);
	if (!err)
		err = dl_emu_scenario_point(scenario, &as_it_is, NULL, NULL, &point);
	if (!err)
		*out = json_pack("{s:f, s:f}", "delivered", point.throughput, "bound", bound);
	dl_emu_scenario_free(scenario);
	return err;
}

static int throughput_routing(const struct tool *tool, const struct tool_input *s,
			      unsigned int routing, json_t *results)
{
	struct dl_route_options options;
	struct dl_route_result r = { 0 };
	json_t *figures;
	int err;

	dl_route_options_init(&options);
	options.mode = routings[routing].mode;
	options.ties = routings[routing].ties;
	err = dl_route(s->torus, s->config, &options, NULL, &r);
	for (size_t p = 0; !err && p < N(patterns); p++) {
		err = throughput_measure(tool, s, r.tables, patterns[p], &figures);
		if (!err)
			json_object_set_new(json_array_get(results, p), routings[routing].name,
					    figures);
	}
	dl_route_result_release(&r);
	return err;
}

int bench_throughput(struct tool *tool, const struct bench_size *size, json_t **out)
{
	json_t *results = json_array();
	struct tool_input s;
	int err = bench_setup(tool, size, &s);

	for (size_t p = 0; p < N(patterns); p++)
		json_array_append_new(results, json_pack("{s:s}", "pattern", patterns[p]));
	for (unsigned int r = 0; !err && r < N(routings); r++)
		err = throughput_routing(tool, &s, r, results);
	if (!err)
		*out = json_pack("{s:s, s:[iii], s:I, s:O}", "what", "throughput", "dims",
				 size->dims[0], size->dims[1], size->dims[2], "hosts",
				 (json_int_t)size->hosts, "patterns", results);
	json_decref(results);
	tool_input_free(&s);
	return err;
}
