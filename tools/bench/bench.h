/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Benchmarks built into the command, so that anybody can repeat the figures
 * on his own machine.  Each one lives in a file of its own, bench_WORD.c.
 */
#ifndef TOOL_BENCH_H
#define TOOL_BENCH_H

#include "tools/common/input.h"

/* The torus to measure on, from the command line. */
struct bench_size {
	uint32_t dims[3];
	uint32_t hosts; /* adapters at each switch */
	uint32_t threads;
	uint32_t load;	    /* in millionths; 0: half of what it delivers at most */
	uint32_t credit_ns; /* that flow-control packets take inside ports */
};

/*
 * Measure, and put the figures into *out as one JSON object.  Returns 0 or a
 * negative errno, reported.
 */
typedef int bench_run(struct tool *tool, const struct bench_size *size, json_t **out);

bench_run bench_arbitrate;
bench_run bench_emulate;
bench_run bench_route;
bench_run bench_throughput;
bench_run bench_verify;

/*
 * The torus to measure on: whole, with LIDs and coordinates.  0 or a negative
 * errno, reported; release with tool_input_free() in either case.
 */
int bench_setup(const struct tool *tool, const struct bench_size *size, struct tool_input *s);

/*
 * The median time of one call of `once`, in seconds, over some tenths of a
 * second and at least five calls after one that does not count.
 */
double bench_median(void (*once)(void *context), void *context);

/* The most memory this process has had so far, in bytes. */
uint64_t bench_peak_bytes(void);

#endif
