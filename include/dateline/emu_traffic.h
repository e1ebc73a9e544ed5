/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Traffic for the emulator: who sends how much to whom, and when.
 *
 * Adapters are plain numbers, 0 to n - 1, and so are their places on a grid;
 * what they are in the fabric, and where the grid comes from, is the
 * caller's business.  Each entry of the traffic and each of its sources
 * together are a flow.  A flow has random numbers of its own (Random123), so
 * what it sends depends on the seed and on nothing that other flows do.
 *
 * The emulator asks each flow for its next message.  In an open loop the
 * message carries the time of its arrival, whatever happened to earlier ones;
 * in a closed loop the emulator asks for `window` messages at the start and
 * for another one whenever one has been delivered.
 *
 * Times are picoseconds.
 */
#ifndef DATELINE_EMU_TRAFFIC_H
#define DATELINE_EMU_TRAFFIC_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DL_EMU_NO_ADAPTER UINT32_MAX
#define DL_EMU_GRID_DIMS 6
#define DL_EMU_LOAD_ONE 1000000 /* a load of 1: an adapter's whole link */

/* The words for them in scenarios, in their order. */
#define DL_EMU_PATTERN_WORDS                                    \
	"uniform transpose complement tornado neighbour shift " \
	"random hotspot incast all_to_all multicast trace"

enum dl_emu_pattern {
	DL_EMU_PATTERN_UNIFORM,	   /* anybody else, all equally likely */
	DL_EMU_PATTERN_TRANSPOSE,  /* the grid's coordinates in reverse order */
	DL_EMU_PATTERN_COMPLEMENT, /* n - 1 - i: the bit complement */
	DL_EMU_PATTERN_TORNADO,	   /* in each dimension, nearly half way round */
	DL_EMU_PATTERN_NEIGHBOUR,  /* in each dimension, one further */
	DL_EMU_PATTERN_SHIFT,	   /* i + `by` modulo n */
	DL_EMU_PATTERN_RANDOM,	   /* one random permutation */
	DL_EMU_PATTERN_HOTSPOT,	   /* a fraction to the targets, else anybody */
	DL_EMU_PATTERN_INCAST,	   /* the targets in turn */
	DL_EMU_PATTERN_ALL_TO_ALL, /* in round r, i + r modulo n */
	DL_EMU_PATTERN_MULTICAST,  /* a group */
	DL_EMU_PATTERN_TRACE	   /* as written down */
};

static inline bool dl_emu_pattern_is_on_grid(enum dl_emu_pattern pattern)
{
	return pattern == DL_EMU_PATTERN_TRANSPOSE || pattern == DL_EMU_PATTERN_TORNADO ||
	       pattern == DL_EMU_PATTERN_NEIGHBOUR;
}

/* One size of messages, and how often it comes beside the others. */
struct dl_emu_size {
	uint32_t bytes; /* of data; at least 1 */
	uint32_t weight;
};

/* One message. */
struct dl_emu_trace_message {
	uint64_t at;
	uint32_t flow;
	uint32_t entry;
	uint32_t src;
	uint32_t dst; /* DL_EMU_NO_ADAPTER: the group */
	uint32_t bytes;
	uint16_t mlid; /* 0: unicast */
	uint8_t level; /* QoS level, 0 or 1 */
};

struct dl_emu_traffic_entry {
	const char *name; /* by which a load is given; may be NULL */
	enum dl_emu_pattern pattern;
	unsigned int level;
	unsigned int sl; /* 1 + the SL; 0: the path SL */
	bool management; /* on VL 15 */
	uint32_t load;	 /* open loop: millionths of the link; else 0 */
	uint32_t window; /* closed loop: messages under way; else 0 */
	bool periodic;	 /* open loop: evenly spaced, not at random */
	const struct dl_emu_size *sizes;
	uint32_t nsizes;
	uint64_t start, stop;	 /* messages arrive from start until stop */
	uint64_t count;		 /* messages of a source; 0: no end */
	const uint32_t *sources; /* NULL: all */
	uint32_t nsources;
	const uint32_t *targets; /* hot spot, incast */
	uint32_t ntargets;
	uint32_t fraction;			  /* hot spot: millionths to the targets */
	uint32_t by;				  /* shift */
	uint16_t mlid;				  /* multicast */
	const struct dl_emu_trace_message *trace; /* by source, then time */
	uint64_t ntrace;
};

/*
 * A grid of adapters: each point has `depth` places for adapters, and place
 * point * depth + d holds the adapter `at` it, or none.  Points are numbered
 * with the first dimension fastest.
 */
struct dl_emu_traffic_grid {
	unsigned int dims; /* 0: no grid */
	uint32_t radix[DL_EMU_GRID_DIMS];
	uint32_t depth;
	const uint32_t *at;
};

static inline uint64_t dl_emu_traffic_points(const struct dl_emu_traffic_grid *g)
{
	uint64_t points = 1;

	for (unsigned int d = 0; d < g->dims; d++)
		points *= g->radix[d];
	return points;
}

struct dl_emu_traffic_spec {
	/* Open loops, uniform or with hot spots, have a flow for each destination. */
	bool pairs;
	uint64_t seed;
	uint32_t repeat; /* other random numbers of the seed, but the same permutations */
	uint32_t nadapters;
	const uint64_t *rate; /* by adapter: bytes a second of its link */
	struct dl_emu_traffic_grid grid;
	const struct dl_emu_traffic_entry *entries;
	uint32_t nentries;
};

struct dl_emu_traffic;

/*
 * Prepare traffic.  The specification and all that it refers to is borrowed.
 * Returns 0, -EINVAL (a pattern lacks what it needs: reported), -ENOMEM.
 */
int dl_emu_traffic_new(const struct dl_emu_traffic_spec *spec, const struct dl_log *log,
		       struct dl_emu_traffic **out);
void dl_emu_traffic_free(struct dl_emu_traffic *t);

/* Flows are numbered 0 to dl_emu_traffic_flows() - 1. */
uint32_t dl_emu_traffic_flows(const struct dl_emu_traffic *t);

/* The adapter that sends a flow. */
uint32_t dl_emu_traffic_source(const struct dl_emu_traffic *t, uint32_t flow);

/* The entry that a flow is of. */
const struct dl_emu_traffic_entry *dl_emu_traffic_entry(const struct dl_emu_traffic *t,
							uint32_t flow);

/*
 * The share of a flow's messages that go to an adapter; negative for patterns in
 * which it is not fixed.
 */
double dl_emu_traffic_share(const struct dl_emu_traffic *t, uint32_t flow, uint32_t dst);

/*
 * A flow's next message.  `now` is the present, which in an open loop does
 * not matter.  False when there is none and never will be.
 */
bool dl_emu_traffic_next(struct dl_emu_traffic *t, uint32_t flow, uint64_t now,
			 struct dl_emu_trace_message *out);

#ifdef __cplusplus
}
#endif
#endif
