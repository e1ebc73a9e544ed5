/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a scenario of `dateline arbitrate` says. */
#ifndef TOOL_ARBITRATE_H
#define TOOL_ARBITRATE_H

#include <stdbool.h>
#include <stdint.h>

#include "dateline/link.h"

struct dl_log;

/* Packets that arrive at a VL's queue, and credits that arrive with them. */
struct arbitrate_refill {
	bool given;
	bool listed; /* the file has a list of sizes */
	unsigned int line;
	int64_t packets;
	uint32_t *sizes; /* bytes, used in turn; NULL: all 4096 */
	uint32_t nsizes;
	int64_t credits; /* blocks; -1: not given */
};

struct arbitrate_change {
	bool given;
	unsigned int line;
	uint8_t n;
	struct dl_tables_vlarb_entry entry[DL_LINK_ARB_ENTRIES];
};

/* What happens once `after` packets have been sent. */
struct arbitrate_event {
	unsigned int line;
	uint32_t order; /* in the file */
	int64_t after;
	int64_t smp, fcp;   /* so many are queued */
	int64_t high_limit; /* -1: not given */
	struct arbitrate_change side[2];
	struct arbitrate_refill queue[DL_LINK_DATA_VLS];
};

struct arbitrate_scenario {
	struct arbitrate_event start; /* tables, limit and queues at the start */
	struct dl_link_arb_options options;
	int64_t stop_after, power_up_seed; /* -1: not given */
	struct arbitrate_event *events;	   /* in the order of happening */
	uint32_t nevents, events_cap;
};

/* Read and check a scenario, to be freed in any case.  0 or a negative errno, reported. */
int arbitrate_scenario_read(const char *path, const struct dl_log *log,
			    struct arbitrate_scenario *out);
void arbitrate_scenario_free(struct arbitrate_scenario *s);

#endif
