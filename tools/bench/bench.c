/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline bench`: repeat the figures of the documentation. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench.h"

static const struct {
	const char *word;
	bool takes_dims;
	bench_run *run;
} benches[] = {
	{ "route", true, bench_route },		 { "verify", true, bench_verify },
	{ "emulate", true, bench_emulate },	 { "throughput", true, bench_throughput },
	{ "arbitrate", false, bench_arbitrate },
};

#define MIN_SECONDS 0.4
#define MIN_CALLS 5
#define MAX_CALLS 1001
/* Long calls vary less, and nobody likes to wait: */
#define LONG_SECONDS 0.2
#define MIN_LONG_CALLS 3

int bench_setup(const struct tool *tool, const struct bench_size *size, struct tool_input *s)
{
	struct dl_torus_plan plan = { .hosts = size->hosts, .parallel = 1 };
	int err;

	memset(s, 0, sizeof(*s));
	memcpy(plan.grid.radix, size->dims, sizeof(plan.grid.radix));
	err = dl_torus_generate(&plan, &tool->log, &s->snapshot.fabric, &s->config);
	s->fabric = s->snapshot.fabric;
	if (!err)
		err = dl_fabric_assign_lids(s->fabric, 0);
	if (!err)
		err = dl_torus_discover(s->fabric, s->config, &tool->log, &s->torus);
	return err;
}

static int bench_compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double bench_median(void (*once)(void *context), void *context)
{
	double seconds[MAX_CALLS], begin, total = 0;
	unsigned int n;

	once(context);
	for (n = 0; n < MAX_CALLS && (n < MIN_CALLS || total < MIN_SECONDS); n++) {
		if (n >= MIN_LONG_CALLS && total / n > LONG_SECONDS)
			break;
		begin = dl_clock_monotonic();
		once(context);
		seconds[n] = dl_clock_monotonic() - begin;
		total += seconds[n];
	}
	qsort(seconds, n, sizeof(*seconds), bench_compare_doubles);
	return seconds[n / 2];
}

uint64_t bench_peak_bytes(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_maxrss * 1024;
}

struct request {
	struct bench_size size;
	unsigned int ndims, bench;
};

static int bench_read_radix(const struct dl_setting *setting, void *to, const char *text, char *why,
			    size_t size)
{
	struct request *r = to;
	int64_t radix;

	(void)setting, (void)why, (void)size; /* it says what is expected */
	if (r->ndims == 3 || !dl_number_parse(text, 1, DL_TORUS_MAX_RADIX, &radix))
		return -EINVAL;
	r->size.dims[r->ndims++] = radix;
	return 0;
}

static const struct dl_setting options[] = {
	{ "hosts", DL_SETTING_NUMBER, DL_MEMBER(struct request, size.hosts), 1, 200, .arg = "N",
	  .doc = "throughput: adapters at each switch (1)" },
	{ "load", DL_SETTING_DECIMAL, DL_MEMBER(struct request, size.load), 1, DL_EMU_LOAD_ONE,
	  .arg = "SHARE",
	  .doc = "emulate: of the adapters' links (half of what the torus delivers at most)" },
	{ "threads", DL_SETTING_NUMBER, DL_MEMBER(struct request, size.threads), 1, 256, .arg = "N",
	  .doc = "emulate: threads that share the work (1)" },
	{ "credit", DL_SETTING_NUMBER, DL_MEMBER(struct request, size.credit_ns), 0, 1000000,
	  .arg = "NS", .doc = "emulate: what credit takes inside ports, in ns (0)" },
	{ 0 }
};

static const struct dl_setting args[] = {
	{ "benchmark", DL_SETTING_WORD, DL_MEMBER(struct request, bench),
	  .words = "route verify emulate throughput arbitrate", .required = true },
	{ "radix", .call = bench_read_radix, .expected = "three radices X Y Z, each 1 to 255" },
	{ 0 }
};

static void bench_check(const struct argp_state *state, void *to)
{
	const struct request *r = to;
	bool takes_dims = benches[r->bench].takes_dims;

	if (r->ndims != (takes_dims ? 3 : 0))
		argp_error(state,
			   takes_dims ? "%s takes three radices: X Y Z" : "%s takes no radices",
			   benches[r->bench].word);
	if (r->size.hosts > 1 && benches[r->bench].run != bench_throughput)
		argp_error(state, "--hosts is for throughput");
	if ((r->size.load || r->size.threads > 1 || r->size.credit_ns) &&
	    benches[r->bench].run != bench_emulate)
		argp_error(state, "--load, --threads and --credit are for emulate");
}

static const struct tool_usage usage = {
	.options = options,
	.args = args,
	.check = bench_check,
	.flags = TOOL_JSON,
	.args_doc = "route|verify|emulate|throughput X Y Z\n"
		    "arbitrate",
	.doc = "Measure the speed of Dateline on this machine."
	       "\v"
	       "route: compute all forwarding tables of a whole torus with "
	       "one adapter at each switch, on one core, compared with a "
	       "memset of the same bytes.\n"
	       "verify: verify the tables of such a torus, with one "
	       "multicast group of all adapters, on one core.\n"
	       "emulate: packets per second through the switches of such a "
	       "torus, under uniform traffic at half of what it delivers at most.\n"
	       "throughput: what such a torus delivers while every adapter "
	       "always has something to send, by torus-2QoS's rule, with "
	       "balanced ties and in any-SL mode, and what its busiest link "
	       "allows.\n"
	       "arbitrate: one decision of the VL arbiter, with all VLs "
	       "backlogged and with one.\n"
	       "\n"
	       "  dateline bench route 16 16 16\n"
	       "\n"
	       "Times are medians of several runs.  Exit status: 0 "
	       "success, 2 bad usage, 3 no memory.",
};

/* A line a pattern: throughput and its bound for each routing. */
static void bench_print_patterns(const json_t *patterns, FILE *to)
{
	const json_t *p;
	size_t i;

	fprintf(to, "\n%-12s%20s%20s%20s\n", "", "torus-2QoS", "balanced", "any-sl");
	fprintf(to, "%-12s%20s%20s%20s\n", "", "delivered   bound", "delivered   bound",
		"delivered   bound");
	json_array_foreach(patterns, i, p)
		tool_print(to, p,
			   "{pattern:-12}{torus-2QoS.delivered:12.3}{torus-2QoS.bound:8.3}"
			   "{balanced.delivered:12.3}{balanced.bound:8.3}"
			   "{any-sl.delivered:12.3}{any-sl.bound:8.3}\n");
}

static void bench_print(const json_t *figures, FILE *to)
{
	const char *name;
	json_t *value;

	if (tool_has(figures, "patterns")) {
		tool_print(to, figures, "torus {dims}, adapters at each switch: {hosts}\n");
		bench_print_patterns(tool_at(figures, "patterns"), to);
		return;
	}
	json_object_foreach((json_t *)figures, name, value)
	{
		char *text =
			json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(4));

		fprintf(to, "%-28s %s\n", name, text ? text : "");
		free(text);
	}
}

int tool_cmd_bench(struct tool *tool, int argc, char **argv)
{
	struct request r = { .size = { .hosts = 1, .threads = 1 } };
	json_t *figures = NULL;
	int err;

	tool_options(tool, &usage, argc, argv, &r);
	err = benches[r.bench].run(tool, &r.size, &figures);
	if (!err)
		err = tool_show(tool, figures, bench_print);
	return tool_exit_status(err);
}
