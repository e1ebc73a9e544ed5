/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline bench`: repeat the figures of the documentation. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench.h"
#include "dateline/torus.h"

static const struct {
	const char *word;
	bool takes_dims;
	bench_run *run;
} benches[] = {
	{ "route", true, bench_route },
	{ "verify", true, bench_verify },
	{ "emulate", true, bench_emulate },
	{ "arbitrate", false, bench_arbitrate },
};
#define NBENCHES (sizeof(benches) / sizeof(*benches))

#define MIN_SECONDS 0.4
#define MIN_CALLS 5
#define MAX_CALLS 1001

int bench_setup(const struct tool *tool, const uint32_t dims[3],
		struct tool_setup *s)
{
	struct dl_torus_plan plan = { .hosts = 1, .parallel = 1 };
	int err;

	memset(s, 0, sizeof(*s));
	memcpy(plan.grid.radix, dims, sizeof(plan.grid.radix));
	err = dl_torus_generate(&plan, &tool->log, &s->fabric, &s->config);
	if (!err)
		err = dl_fabric_assign_lids(s->fabric, 0);
	if (!err)
		err = dl_torus_discover(s->fabric, s->config, &tool->log,
					&s->torus);
	return err;
}

double bench_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double bench_median(void (*once)(void *context), void *context)
{
	double seconds[MAX_CALLS], begin, total = 0;
	unsigned int n;

	once(context);
	for (n = 0; n < MAX_CALLS && (n < MIN_CALLS || total < MIN_SECONDS);
	     n++) {
		begin = bench_clock();
		once(context);
		seconds[n] = bench_clock() - begin;
		total += seconds[n];
	}
	qsort(seconds, n, sizeof(*seconds), compare_doubles);
	return seconds[n / 2];
}

uint64_t bench_peak_bytes(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_maxrss * 1024;
}

struct request {
	const char *word;
	uint32_t dims[3];
	unsigned int ndims, bench;
};

static void find_bench(struct request *r, const struct argp_state *state)
{
	for (r->bench = 0; r->bench < NBENCHES; r->bench++)
		if (!strcmp(r->word, benches[r->bench].word))
			break;
	if (r->bench == NBENCHES)
		argp_error(state, "there is no benchmark \"%s\"", r->word);
	else if (r->ndims != (benches[r->bench].takes_dims ? 3 : 0))
		argp_error(state,
			   benches[r->bench].takes_dims ?
				   "%s takes three radices: X Y Z" :
				   "%s takes no radices",
			   r->word);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *r = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (!r->word)
			r->word = arg;
		else if (r->ndims == 3)
			argp_error(state, "three radices only; what is \"%s\"?",
				   arg);
		else
			r->dims[r->ndims++] = tool_arg_number(
				state, arg, "radix", 1, DL_TORUS_MAX_RADIX);
		return 0;
	case ARGP_KEY_END:
		if (!r->word)
			argp_error(state, "which benchmark?");
		else
			find_bench(r, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp bench_argp = {
	.parser = parse,
	.args_doc = "route|verify|emulate X Y Z\n"
		    "arbitrate",
	.doc = "Measure how fast Dateline is on this machine."
	       "\v"
	       "route: all forwarding tables of a whole torus with one adapter "
	       "a switch, on one core, beside a memset of the same bytes.\n"
	       "verify: the proof of such a torus, with one multicast group of "
	       "all adapters, on one core.\n"
	       "emulate: packets a second through the switches of such a "
	       "torus, "
	       "under uniform traffic at half of what it could carry.\n"
	       "arbitrate: one decision of the VL arbiter, with all VLs "
	       "backlogged and with one.\n"
	       "\n"
	       "  dateline bench route 16 16 16\n"
	       "\n"
	       "Times are medians of several runs.  Exit status: 0 measured, "
	       "2 bad usage, 3 no memory.",
};

static void print_figures(json_t *figures)
{
	const char *name;
	json_t *value;

	json_object_foreach(figures, name, value)
	{
		char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT |
						       JSON_REAL_PRECISION(4));

		printf("%-28s %s\n", name, text ? text : "");
		free(text);
	}
	json_decref(figures);
}

int tool_cmd_bench(struct tool *tool, int argc, char **argv)
{
	struct request r = { 0 };
	json_t *figures = NULL;
	int err;

	tool_parse(tool, &bench_argp, TOOL_JSON, argc, argv, &r);
	err = benches[r.bench].run(tool, r.dims, &figures);
	if (!err && tool->json)
		err = tool_print_json(tool, figures);
	else if (!err)
		print_figures(figures);
	return tool_exit_status(err);
}
