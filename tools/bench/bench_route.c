/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How long the forwarding tables of a whole torus take. */
#include "config.h"

#include <string.h>

#include "bench.h"
#include "dateline/route.h"

struct job {
	const struct dl_torus *torus;
	const struct dl_torus_config *config;
	struct dl_tables *tables;
	size_t bytes;
	int err;
};

static void bench_route_route_once(void *context)
{
	struct job *j = context;

	if (!j->err)
		j->err = dl_route_forwarding(j->torus, j->config, j->tables);
}

/* Through a pointer, so that the compiler cannot drop it. */
static void *(*volatile fill)(void *, int, size_t) = memset;

static void bench_route_memset_once(void *context)
{
	struct job *j = context;

	fill(j->tables->lft, DL_TABLES_NO_PORT, j->bytes);
}

int bench_route(struct tool *tool, const struct bench_size *size, json_t **out)
{
	struct tool_input s;
	const struct dl_fabric *f;
	struct job j = { 0 };
	double seconds, plain;
	uint64_t entries;
	int err;

	err = bench_setup(tool, size, &s);
	f = s.fabric;
	if (!err)
		err = dl_tables_new(f, &j.tables);
	if (err)
		goto out;
	j.torus = s.torus;
	j.config = s.config;
	j.bytes = (size_t)f->nswitches * j.tables->stride;
	seconds = bench_median(bench_route_route_once, &j);
	err = j.err;
	if (err)
		goto out;
	plain = bench_median(bench_route_memset_once, &j);
	entries = (uint64_t)f->nswitches * f->top_lid;
	*out = json_pack("{s:s, s:[iii], s:I, s:f, s:f, s:f, s:I}", "what", "route", "dims",
			 size->dims[0], size->dims[1], size->dims[2], "entries",
			 (json_int_t)entries, "seconds", seconds, "ns_per_entry",
			 1e9 * seconds / entries, "memset_ratio", seconds / plain, "peak_bytes",
			 (json_int_t)bench_peak_bytes());
out:
	dl_tables_free(j.tables);
	tool_input_free(&s);
	return err;
}
