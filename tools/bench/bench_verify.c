/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How long the proof of a whole torus takes: both QoS levels, all pairs of
 * end ports, and one multicast group of all adapters.
 */
#include "config.h"

#include "bench.h"
#include "dateline/route.h"
#include "dateline/verify.h"

struct job {
	const struct dl_tables *tables;
	struct dl_verify_result *result;
	int err;
};

static void bench_verify_verify_once(void *context)
{
	struct job *j = context;

	dl_verify_result_free(j->result);
	j->result = NULL;
	if (!j->err)
		j->err = dl_verify(j->tables, NULL, NULL, &j->result);
}

int bench_verify(struct tool *tool, const struct bench_size *size, json_t **out)
{
	struct dl_route_options options;
	struct dl_route_result r = { 0 };
	struct tool_input s;
	struct job j = { 0 };
	double seconds;
	int err;

	dl_route_options_init(&options);
	options.mode = DL_ROUTE_CLASSIC;
	err = bench_setup(tool, size, &s);
	if (!err)
		err = dl_route(s.torus, s.config, &options, &tool->log, &r);
	if (!err)
		err = dl_route_tree_group_all(r.tree, r.tables);
	if (err)
		goto out;
	j.tables = r.tables;
	seconds = bench_median(bench_verify_verify_once, &j);
	err = j.err;
	if (!err)
		*out = json_pack("{s:s, s:[iii], s:I, s:f, s:I}", "what", "verify", "dims",
				 size->dims[0], size->dims[1], size->dims[2], "pairs",
				 (json_int_t)j.result->pairs, "seconds", seconds, "peak_bytes",
				 (json_int_t)bench_peak_bytes());
out:
	dl_verify_result_free(j.result);
	dl_route_result_release(&r);
	tool_input_free(&s);
	return err;
}
