/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the parts of `dateline path` share. */
#ifndef TOOL_PATH_H
#define TOOL_PATH_H

#include "tools/common/find.h"

#define PATH_SL 16 /* no SL given: that of the path */

struct path_request {
	struct tool_input_options input;
	const char *from, *to, *job, *through;
	const char *counters, *predicted;	/* files, or "live" */
	const struct dl_live_counters *counted; /* NULL: none */
	bool both_ways, all_lids;
	uint16_t mlid; /* 0: unicast */
	uint8_t sl;    /* or PATH_SL */
	uint32_t top;
};

/*
 * Documents, whose key "delivered" says whether all packets arrive: the paths
 * between two end ports; the way of a multicast packet, to `to` unless it is
 * DL_NONE; both NULL when there is no memory.
 */
json_t *path_pair_json(const struct tool_input *in, const struct path_request *r,
		       const struct find_result *from, const struct find_result *to);
json_t *path_multicast_json(const struct tool_input *in, const struct path_request *r,
			    uint32_t from, uint32_t to);

/*
 * The busiest cables of the job, or the paths that use a cable.  0 or a
 * negative errno, reported.
 */
int path_cables_json(const struct find *f, const struct path_request *r, const struct dl_log *log,
		     json_t **out);

/* The worst ports by what they counted.  0 or a negative errno, reported. */
int path_fabric_json(const struct tool_input *in, const struct path_request *r,
		     const struct dl_log *log, json_t **out);

/* Read what --counters names.  0 or a negative errno, reported. */
int path_counters_read(const struct tool *tool, const struct path_request *r,
		       const struct dl_fabric *f, struct dl_live_counters *out);

/* A port's counters that are not 0; null: nothing known. */
json_t *path_counters_json(const struct dl_live_counters *c, uint32_t port);

/* For people. */
void path_print(const json_t *document, FILE *to);

/* An end port with its LID. */
json_t *path_end_json(const struct tool_input *in, uint32_t port);

/* The two ports of a cable, "to" null where there is none. */
json_t *path_cable_json(const struct tool_input *in, uint32_t port);

/*
 * The indices of the ports whose weight, by port index, is not 0, heaviest
 * first; for free().  NULL: no memory.
 */
uint32_t *path_heaviest(const struct dl_fabric *f, uint64_t *weight, uint32_t *n);

/* One step of a packet. */
struct path_step {
	uint32_t in, out;   /* port indices; DL_NONE: none */
	unsigned int vl;    /* 15: dropped; PATH_VL: unknown */
	const char *reason; /* why the packet ends here; NULL: it goes on */
};

#define PATH_VL 16

/*
 * The step of a unicast packet that enters a switch (by its port `in`; port 0
 * where it begins).
 */
struct path_step path_step(const struct dl_tables *t, uint32_t in, uint16_t lid, unsigned int sl);

/* The VL with which it leaves; PATH_VL: no map is known, or no SL. */
unsigned int path_vl(const struct dl_tables *t, uint32_t in, uint32_t out, unsigned int sl);

/* Where an end port's packets enter the first switch, or DL_NONE. */
uint32_t path_entrance(const struct dl_fabric *f, uint32_t end_port);

#endif
