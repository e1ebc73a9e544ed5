/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the parts of `dateline emulate` share. */
#ifndef DL_TOOL_EMULATE_H
#define DL_TOOL_EMULATE_H

#include <stdbool.h>
#include <stdint.h>

#include "coords.h"
#include "emu/traffic.h"
#include "tables/tables.h"

/* ---- what a scenario says ---------------------------------------------- */

/* A word of the file that can be looked up only in the fabric. */
struct emu_name {
	char *text;
	unsigned int line;
};

struct emu_names {
	struct emu_name *list;
	uint32_t n;
	bool given;
};

struct emu_sizes {
	struct dl_size *list;
	uint32_t n;
};

struct emu_traffic {
	unsigned int line;
	char *name;		/* NULL: none */
	unsigned int pattern;	/* enum dl_pattern */
	int64_t level;
	int64_t load;		/* millionths; 0: not given */
	int64_t window;		/* 0: not given */
	unsigned int arrival;	/* 0 random, 1 periodic */
	struct emu_sizes sizes;
	int64_t start_ns, stop_ns;	/* stop -1: not given */
	int64_t count;
	struct emu_names sources, targets;
	int64_t fraction;	/* millionths */
	int64_t by;
	int64_t group;		/* MLID; 0: every group */
	char *file;		/* of a trace */
};

enum emu_fault_kind {
	EMU_FAULT_LINK_DOWN,
	EMU_FAULT_LOSE_FCP,
	EMU_FAULT_CORRUPT_FCP,
	EMU_FAULT_STOP_DRAINING,
	EMU_FAULT_TABLES
};

struct emu_fault {
	unsigned int line;
	int64_t at_ns;
	unsigned int kind;	/* enum emu_fault_kind */
	struct emu_name node;
	int64_t port;		/* -1: not given */
	int64_t for_ns;		/* -1: for ever */
	int64_t every_ns, times;	/* again and again */
	int64_t share;		/* millionths */
	char *snapshot;		/* tables */
};

struct emu_scenario {
	char *path;
	int64_t seed;
	int64_t duration_ns, warmup_ns, drain_ns;
	int64_t sample_ns;	/* of the time series; 0: none */
	unsigned int switching, flow_control;
	int64_t mtu;
	int64_t buffer_blocks, buffer_packets;
	int64_t switch_ns, cable_m, speedup;
	int64_t force_vl;	/* -1: the maps as programmed */
	unsigned int sl_table;	/* 0 off, 1 even */
	int64_t tenure, qp_change_ns;
	unsigned int pairs;	/* results of every pair? */
	uint32_t radix[DL_GRID_DIMS];
	unsigned int dims;	/* 0: from the fabric's coordinates */
	struct emu_traffic *traffic;
	uint32_t ntraffic;
	struct emu_fault *faults;
	uint32_t nfaults;
};

/*
 * Read and check a scenario.  Returns 0 or a negative errno, reported.
 * Release with emu_scenario_free() in either case.
 */
int emu_scenario_read(const char *path, const struct dl_log *log,
		      struct emu_scenario *out);
int emu_scenario_read_stream(FILE *from, const char *name,
			     const struct dl_log *log,
			     struct emu_scenario *out);
void emu_scenario_free(struct emu_scenario *s);

/* The words of the file for enum dl_pattern, parted by blanks. */
#define EMU_PATTERNS "uniform transpose complement tornado neighbour shift " \
		     "random hotspot incast all_to_all multicast trace"

/*
 * An error in a scenario that was found after reading it.  Returns -EINVAL.
 */
int emu_scenario_error(const struct emu_scenario *s, const struct dl_log *log,
		       unsigned int line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* ---- a scenario applied to a fabric ------------------------------------ */

/*
 * Adapters are the adapters' ports that have a cable and a LID, numbered from
 * 0 in the order of their LIDs.
 */
struct emu_plan {
	const struct emu_scenario *scenario;
	const struct dl_tables *tables;
	const struct dl_fabric *fabric;
	const struct dl_log *log;
	uint32_t *port;		/* port index by adapter */
	uint32_t *adapter;	/* by port index; DL_NO_ADAPTER */
	uint64_t *rate;		/* by adapter */
	uint32_t *place;	/* of the grid */
	struct dl_traffic_entry *entries;
	uint32_t *origin;	/* scenario's entry of each of them */
	struct dl_traffic_spec spec;
};

/*
 * Look up everything that a scenario names.  All arguments are borrowed.
 * Returns 0 or a negative errno, reported; release with emu_plan_free() in
 * either case.
 */
int emu_plan_make(const struct emu_scenario *s, const struct dl_tables *t,
		  const struct dl_coords *coords, const struct dl_log *log,
		  struct emu_plan *out);
void emu_plan_free(struct emu_plan *p);

/* Data bytes a second of a port's link; 0: not known. */
uint64_t emu_link_rate(const struct dl_port *p);

/*
 * The node of a word: "0x..." a GUID, else a name.  DL_NONE when there is
 * none.
 */
uint32_t emu_find_node(const struct dl_fabric *f, const char *text);

/*
 * Read a trace: lines of time in ns, source, destination, bytes and level.
 * Messages come sorted by time; *out is for free().
 */
int emu_trace_read(const struct emu_plan *p, const struct emu_traffic *t,
		   struct dl_message **out, uint64_t *n);

/* The adapter of a word: a number, or its node. Negative: -EINVAL. */
int emu_find_adapter(const struct emu_plan *p, const char *text,
		     uint32_t *out);

#endif
