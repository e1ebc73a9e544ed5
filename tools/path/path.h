/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the parts of `dateline path` share. */
#ifndef TOOL_PATH_H
#define TOOL_PATH_H

#include <string.h>
#include <time.h>

#include "tools/common/find.h"

#define PATH_SL 16 /* no SL given: that of the path */

struct path_request {
	struct tool_input_options input;
	const char *from, *to, *job, *jobs, *through;
	const char *counters, *earlier;		/* files, or "live" */
	const char *predicted;			/* a file */
	const struct dl_live_counters *counted; /* since the earlier reading; NULL: none */
	double hours;				/* between both readings; 0: unknown */
	time_t when;				/* the later one */
	const char *propose;			/* the list to which cables are proposed */
	int max_errors;				/* an hour; negative: by the rate of the cable */
	unsigned int max_recoveries, max_downs;
	unsigned int ring_share; /* per cent */
	bool both_ways, all_lids;
	uint16_t mlid; /* 0: unicast */
	uint8_t sl;    /* or PATH_SL */
	uint32_t top;
};

/* Are counters (a file, "live" or NULL) to be read from the running fabric? */
static inline bool path_asks(const char *counters)
{
	return counters && !strcmp(counters, "live");
}

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

/*
 * The cables to replace, the ports with congestion, and those with errors that
 * came from elsewhere.  0 or a negative errno, reported.
 */
int path_fabric_json(const struct tool_input *in, const struct path_request *r,
		     const struct dl_log *log, json_t **out);

/*
 * The cables with errors, worst first: those that went down, those that recovered,
 * those with other errors.  `used`, by port index, are the ends of cables that
 * count; NULL: all.  Their ends that counted most go to `ports`, unless NULL.
 */
json_t *path_errors_json(const struct tool_input *in, const struct path_request *r,
			 const struct dl_tables_load *load, const bool *used, uint32_t *ports);

/* The running jobs that use the cable of --through, or those with errors.  As above. */
int path_jobs_json(const struct find *f, const struct path_request *r, struct tool *tool,
		   json_t **out);

/* Read what --counters names, less what --earlier does.  0 or a negative errno, reported. */
int path_counters_read(const struct tool *tool, struct path_request *r, const struct dl_fabric *f,
		       struct dl_live_counters *out);

/* Both ends of a cable by one: their counters that are not 0; null: nothing known. */
json_t *path_counters_json(const struct path_request *r, const struct dl_fabric *f, uint32_t port);

/* What a port counted that a bad cable causes. */
uint64_t path_counted_faults(const struct dl_live_counters *c, uint32_t port);

/* A cable by its end that counted most, with what both did: link-downs, recoveries, errors. */
#define PATH_CABLE_KINDS 3
struct path_counted {
	uint32_t port;
	uint64_t key[PATH_CABLE_KINDS];
};

/*
 * The cables that counted any of these, worst first; `used` as above.  For free(); NULL: no
 * memory, and *n is 0.
 */
struct path_counted *path_counted_worst(const struct path_request *r, const struct dl_fabric *f,
					const bool *used, uint32_t *n);

/*
 * Append the cables above a limit to the list of --propose-avoid, and to the document of
 * path_fabric_json() which, and which not.  0 or a negative errno, reported.
 */
int path_propose(struct tool *tool, const struct tool_input *in, const struct path_request *r,
		 json_t *fabric);

/* The node of a cable's end that is no switch, or DL_NONE. */
uint32_t path_host_of(const struct dl_fabric *f, uint32_t port);

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

/* Does a packet pass a switch's port, and arrive? */
bool path_passes(const struct dl_tables *t, uint32_t from, uint16_t lid, uint32_t port);

#endif
