/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How long one decision of the VL arbiter takes, with the bookkeeping for the
 * packet: full tables of 64 entries with all 15 data VLs backlogged; and with
 * a single VL backlogged, which only the last entry of each table names.
 */
#include "config.h"

#include <errno.h>

#include "bench.h"
#include "dateline/link.h"

#define DECISIONS 5000 /* short: few runs are interrupted */

struct job {
	struct dl_link_arb_program program;
	struct dl_link_arbiter arbiter;
	unsigned int sendable;
	uint32_t vl_sum; /* so that nothing can be left out */
};

static void bench_arbitrate_decide(void *context)
{
	struct job *j = context;
	struct dl_link_pick pick;

	for (unsigned int i = 0; i < DECISIONS; i++) {
		if (dl_link_arbiter_pick(&j->arbiter, false, false, j->sendable, &pick) ==
		    DL_LINK_NOTHING)
			continue;
		dl_link_arbiter_charge(&j->arbiter, &pick, 64u << i % 7, NULL);
		j->vl_sum += pick.vl;
	}
}

static double bench_arbitrate_measure(struct job *j, const struct dl_tables_vlarb *arb,
				      unsigned int sendable)
{
	struct dl_link_arb_options options;

	dl_link_arb_options_init(&options);
	options.nvls = DL_LINK_DATA_VLS;
	dl_link_arb_compile(arb, &options, &j->program);
	dl_link_arbiter_init(&j->arbiter, &j->program);
	j->sendable = sendable;
	return 1e9 * bench_median(bench_arbitrate_decide, j) / DECISIONS;
}

int bench_arbitrate(struct tool *tool, const struct bench_size *size, json_t **out)
{
	struct dl_tables_vlarb arb = { .nhigh = DL_LINK_ARB_ENTRIES,
				       .nlow = DL_LINK_ARB_ENTRIES,
				       .high_limit = 1 };
	struct job j = { 0 };
	double full, sparse;

	(void)tool;
	(void)size;
	/* VLs and weights in no order that a predictor could learn at once. */
	for (unsigned int e = 0; e < DL_LINK_ARB_ENTRIES; e++) {
		arb.high[e] =
			(struct dl_tables_vlarb_entry){ e * 7 % DL_LINK_DATA_VLS, 1 + e * 37 % 64 };
		arb.low[e] = (struct dl_tables_vlarb_entry){ e * 11 % DL_LINK_DATA_VLS,
							     1 + e * 53 % 64 };
	}
	full = bench_arbitrate_measure(&j, &arb, (1u << DL_LINK_DATA_VLS) - 1);
	for (unsigned int e = 0; e < DL_LINK_ARB_ENTRIES; e++) {
		unsigned int vl = e == DL_LINK_ARB_ENTRIES - 1 ? DL_LINK_DATA_VLS - 1 : e % 14;

		arb.high[e] = arb.low[e] = (struct dl_tables_vlarb_entry){ vl, 1 };
	}
	sparse = bench_arbitrate_measure(&j, &arb, 1u << (DL_LINK_DATA_VLS - 1));
	*out = json_pack("{s:s, s:f, s:f}", "what", "arbitrate", "ns_per_decision_full", full,
			 "ns_per_decision_sparse", sparse);
	return *out ? 0 : -ENOMEM;
}
