/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Numbers about routings, for monitoring: what Prometheus reads.
 *
 * A subnet manager keeps one of these from start to end and writes it to a file
 * after each sweep; its counters never fall.  The file is replaced as a whole: see
 * dl_metrics_write().
 */
#ifndef DL_METRICS_H
#define DL_METRICS_H

#include "drain.h"

#include "dateline/route.h"
#include "dateline/verify.h"

/* Where the time of a sweep goes. */
enum dl_metrics_stage {
	DL_METRICS_IMPORT,    /* taking over what the subnet manager found */
	DL_METRICS_DISCOVERY, /* configuration and coordinates */
	DL_METRICS_ROUTING,   /* dimension order; arbitration; the tree */
	DL_METRICS_REPAIR,
	DL_METRICS_PROOF,
	DL_METRICS_EXPORT, /* handing the tables over */
	DL_METRICS_STAGES
};

/* The result of a sweep. */
enum dl_metrics_sweep_result {
	DL_METRICS_ROUTED,
	DL_METRICS_KEPT,  /* refused; the last good tables stay */
	DL_METRICS_ASIDE, /* refused; another engine routes, or none */
	DL_METRICS_SWEEPS
};

/* Plain numbers: what was found, and what is in force. */
enum dl_metrics_number {
	DL_METRICS_SWITCHES,
	DL_METRICS_SWITCHES_EXPECTED,
	DL_METRICS_SWITCHES_MISSING,
	DL_METRICS_SWITCHES_UNPLACED,
	DL_METRICS_SWITCHES_OFF_TORUS,
	DL_METRICS_LINKS,
	DL_METRICS_LINKS_EXPECTED,
	DL_METRICS_LINKS_MISSING,
	DL_METRICS_LINKS_UNPLACED,
	DL_METRICS_HOPS_CUT,
	DL_METRICS_ADAPTERS,
	DL_METRICS_AVOIDED,
	DL_METRICS_AVOIDED_UNUSED,
	DL_METRICS_AVOIDED_ONLY_WAY,
	DL_METRICS_TABLES, /* from here on: of the tables in force */
	DL_METRICS_ENTRIES = DL_METRICS_TABLES,
	DL_METRICS_GROUPS,
	DL_METRICS_GROUP_CAPACITY,
	DL_METRICS_GROUPS_PER_PORT,
	DL_METRICS_PAIRS,
	DL_METRICS_UNREACHABLE,
	DL_METRICS_DELIVERED,
	DL_METRICS_LOOP_FREE,
	DL_METRICS_SAFE,
	DL_METRICS_LOST,
	DL_METRICS_CYCLIC,
	DL_METRICS_CHANGED,
	DL_METRICS_FILLED,
	DL_METRICS_REROUTED,
	DL_METRICS_TREE_ROUTED,
	DL_METRICS_MOVED,
	DL_METRICS_TIMED_OUT,
	DL_METRICS_NUMBERS
};

/* How the switches came from their old tables to the new ones. */
enum dl_metrics_transition_result {
	DL_METRICS_UNCHANGED,
	DL_METRICS_DIRECT,     /* any mixture is safe: at once */
	DL_METRICS_PHASED,     /* step by step */
	DL_METRICS_UNPROVEN,   /* at once, and nothing says that it is safe */
	DL_METRICS_UNFINISHED, /* it stopped on the way */
	DL_METRICS_TRANSITIONS
};

struct dl_metrics_transition {
	/* DL_METRICS_TRANSITIONS: none under way. */
	enum dl_metrics_transition_result result;
	/* Of the last one. */
	uint64_t phases, entries_closed, blocks, pairs_interrupted;
	double closed_seconds;
	uint64_t total[DL_METRICS_TRANSITIONS]; /* by result */
	uint64_t drains[DL_DRAIN_ENDS];		/* waits for old packets, by how they ended */
};

#define DL_METRICS_UNKNOWN UINT64_MAX /* a number that is left out of the file */

struct dl_metrics {
	enum dl_route_mode mode;
	bool up;     /* is the subnet manager running? */
	bool master; /* is it the one in charge? */
	uint64_t sweeps[DL_METRICS_SWEEPS];
	const char *refusal; /* why the last one was refused, "DL14"; or NULL */
	/* Moments, in seconds since 1970; 0: never. */
	double sweep_start, sweep_end, routed, subnet_up;
	/* Durations in seconds, of the last sweep and of all together. */
	double stage[DL_METRICS_STAGES], stage_total[DL_METRICS_STAGES];
	uint32_t radix[DL_TORUS_DIMS]; /* 0: no torus known */
	uint64_t number[DL_METRICS_NUMBERS];
	struct dl_metrics_transition transition;
	uint64_t smps; /* sent by the subnet manager since it started */
	uint64_t snapshots_dropped;
};

void dl_metrics_init(struct dl_metrics *m, enum dl_route_mode mode);

/*
 * Count what was found: switches and cables, and how many are missing.  A
 * torus does not say how many parallel cables each of its hops should have:
 * dl_torus_usual_cables() are taken for expected.
 */
void dl_metrics_torus(struct dl_metrics *m, const struct dl_torus *t);

/*
 * Count what tables hold and, unless NULL, what proven mode did to get them;
 * these are verified.
 */
void dl_metrics_tables(struct dl_metrics *m, const struct dl_tables *t,
		       const struct dl_route_report *report);

/* What verification said of them. */
void dl_metrics_verdict(struct dl_metrics *m, const struct dl_verify_result *v);

/* There are no tables in force. */
void dl_metrics_no_tables(struct dl_metrics *m);

/* A sweep is over: count it, and its times. */
void dl_metrics_count_sweep(struct dl_metrics *m, enum dl_metrics_sweep_result what, double now);

/* Print all in Prometheus' text format.  0 or -EIO. */
int dl_metrics_print(const struct dl_metrics *m, FILE *to);

/*
 * Replace the file at `path`, which anybody may read, as a whole: it is
 * written beside it as PATH.part first.  0 or a negative errno.
 */
int dl_metrics_write(const struct dl_metrics *m, const char *path);

#endif
