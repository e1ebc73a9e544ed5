/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the parts of `dateline emulate` share. */
#ifndef DL_TOOL_EMULATE_H
#define DL_TOOL_EMULATE_H

#include <stdbool.h>
#include <stdint.h>

#include "sites.h"
#include "dateline/emu.h"
#include "dateline/tables.h"

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
	struct dl_emu_size *list;
	uint32_t n;
};

struct emu_traffic {
	unsigned int line;
	char *name;	      /* NULL: none */
	unsigned int pattern; /* enum dl_emu_pattern */
	int64_t level;
	int64_t load;	      /* millionths; 0: not given */
	int64_t window;	      /* 0: not given */
	unsigned int arrival; /* 0 random, 1 periodic */
	struct emu_sizes sizes;
	int64_t start_ns, stop_ns; /* stop -1: not given */
	int64_t count;
	struct emu_names sources, targets;
	int64_t fraction; /* millionths */
	int64_t by;
	int64_t group; /* MLID; 0: every group */
	char *file;    /* of a trace */
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
	unsigned int kind; /* enum emu_fault_kind */
	struct emu_name node;
	int64_t port;		 /* -1: not given */
	int64_t for_ns;		 /* -1: for ever */
	int64_t every_ns, times; /* again and again */
	int64_t share;		 /* millionths */
	char *snapshot;		 /* tables */
};

struct emu_scenario {
	char *path;
	int64_t seed;
	int64_t duration_ns, warmup_ns, drain_ns;
	int64_t sample_ns; /* of the time series; 0: none */
	unsigned int switching, flow_control;
	int64_t mtu;
	int64_t buffer_blocks, buffer_packets;
	int64_t switch_ns, cable_m, speedup;
	int64_t force_vl;      /* -1: the maps as programmed */
	unsigned int sl_table; /* 0 off, 1 even */
	int64_t tenure, qp_change_ns;
	unsigned int pairs; /* results of every pair? */
	uint32_t radix[DL_EMU_GRID_DIMS];
	unsigned int dims; /* 0: from the fabric's coordinates */
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

/* The words of the file for enum dl_emu_pattern, parted by blanks. */
#define EMU_PATTERNS                                            \
	"uniform transpose complement tornado neighbour shift " \
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
	struct dl_emu_config config;
	struct dl_emu_sl_table sl_table;
	dl_tables_sl2vl_row *rows; /* forced maps, or NULL */
	struct dl_tables forced;
	struct dl_snapshot *later; /* by fault: its tables */
	uint32_t *fault_port;	   /* by fault: port index */
	uint32_t *port;		   /* port index by adapter */
	uint32_t *adapter;	   /* by port index; DL_EMU_NO_ADAPTER */
	uint64_t *rate;		   /* by adapter */
	uint32_t *place;	   /* of the grid */
	struct dl_emu_traffic_entry *entries;
	uint32_t *origin; /* scenario's entry of each of them */
	struct dl_emu_traffic_spec spec;
};

/*
 * Look up everything that a scenario names.  All arguments are borrowed.
 * Returns 0 or a negative errno, reported; release with emu_plan_free() in
 * either case.
 */
int emu_plan_make(const struct emu_scenario *s, const struct dl_tables *t,
		  const struct tool_coords *coords, const struct tool *tool,
		  struct emu_plan *out);
void emu_plan_free(struct emu_plan *p);

/* Look up what the faults name: emu_plan_make() does it.  0 or reported. */
int emu_plan_faults(struct emu_plan *p, const struct tool *tool);

/* A name in a scenario means a file beside it, unless it begins with "/". */
char *emu_beside(const struct emu_scenario *s, const char *name);

/*
 * The node of a word: "0x..." a GUID, else a name.  DL_NONE when there is
 * none.
 */
uint32_t emu_find_node(const struct dl_fabric *f, const char *text);

/*
 * Read a trace: lines of time in ns, source, destination, bytes and level.
 * Messages come sorted by source and time; *out is for free().
 */
int emu_trace_read(const struct emu_plan *p, const struct emu_traffic *t,
		   struct dl_emu_trace_message **out, uint64_t *n);

/* Something that happens at a time: a fault, or new tables. */
struct emu_action {
	uint64_t at;
	uint32_t order;
	const struct dl_tables *tables; /* NULL: the fault */
	struct dl_emu_fault fault;
};

/* All of a plan's actions in order of time; *out is for free(). */
int emu_timetable(const struct emu_plan *p, struct emu_action **out,
		  uint32_t *n);
int emu_act(struct dl_emu *emu, const struct emu_action *a);

/* The adapter of a word: a number, or its node. Negative: -EINVAL. */
int emu_find_adapter(const struct emu_plan *p, const char *text, uint32_t *out);

/* ---- one run ----------------------------------------------------------- */

/* What happened in one step of the time series. */
struct emu_sample {
	uint64_t at;		   /* the step's end */
	uint64_t delivered, bytes; /* in the step */
	uint64_t in_flight;	   /* at its end */
	uint64_t latency_sum;	   /* of packets delivered in it, ps */
};

/* A load for some or all open loops, instead of the scenario's. */
struct emu_load {
	const char *name; /* of the entries; NULL: all open loops */
	uint32_t load;	  /* millionths; 0: as the scenario says */
};

struct emu_run {
	const struct emu_plan *plan;
	struct dl_emu_traffic_entry *entries;
	struct dl_emu_traffic_spec spec;
	struct dl_emu_traffic *traffic;
	uint32_t *flow_port, *flow_window;
	struct dl_emu_source source;
	struct dl_emu *emu;
	struct emu_action *actions;
	uint32_t nactions, next_action;
	/* The ends of the warm-up, of the traffic, and of everything. */
	uint64_t warm, end, last;
	/* Messages that came between warm-up and end, sent or not. */
	uint64_t offered_bytes;
	uint64_t unsent; /* never sent: the end came first */
	struct dl_emu_trace_message *pending; /* by flow: the last one taken */
	/* From the warm-up to the end of traffic, or before it of the run. */
	uint64_t stopped, measured_ps, measured_bytes;
	uint64_t level_bytes[DL_EMU_LEVELS];
	struct emu_sample *samples;
	uint32_t nsamples, samples_cap;
	/* Deliveries so far. */
	uint64_t delivered, delivered_bytes, latency_sum, last_delivery;
	int state; /* enum dl_emu_state */
	bool interrupted;
	double cpu_seconds;
	/* Warnings of the run, each only once. */
	char **warnings;
	uint32_t nwarnings;
	struct dl_log log;
};

/* Called now and then; true ends the run. */
typedef bool emu_watch(void *context, const struct emu_run *r);

/*
 * Run a plan.  Returns 0 or a negative errno, reported to the plan's log.
 * Release with emu_run_free() in either case.
 */
int emu_run(const struct emu_plan *p, const struct emu_load *load,
	    emu_watch *watch, void *context, struct emu_run *out);
void emu_run_free(struct emu_run *r);

/* Is there anything to complain about? */
bool emu_run_finding(const struct emu_run *r);

/* Data that the sources offered, and that arrived, of what links can carry. */
double emu_run_offered(const struct emu_run *r);
double emu_run_throughput(const struct emu_run *r);

/* ---- load sweeps ------------------------------------------------------- */

struct emu_sweep {
	const char *name;	 /* of entries; NULL: all open loops */
	uint32_t from, to, step; /* loads in millionths */
	unsigned int threads;	 /* 0: one for each core */
	bool show;		 /* progress, on standard error */
};

struct emu_point {
	uint32_t load;
	bool done, finding, deadlock;
	double offered, throughput;
	double mean_ns, p50_ns, p99_ns, p999_ns;
	uint64_t delivered, dropped, in_flight, packet_hops;
	double cpu_seconds;
};

uint32_t emu_sweep_points(const struct emu_sweep *s);

/*
 * Run all points, each by itself, as a campaign; `points` has room for them
 * and is zeroed.  The results do not depend on how many run at a time.
 * Points that were not run, because the user interrupted, are not `done`.
 * 0 or a negative errno, reported.
 */
int emu_sweep_run(const struct emu_plan *p, const struct emu_sweep *s,
		  struct emu_point *points);

/*
 * The load at which the fabric saturates: where less than 95 per cent of the
 * load offered arrive, or the mean latency is three times that of the first
 * point; between two points by straight lines.  Negative: not reached.
 */
double emu_saturation(const struct emu_point *points, uint32_t n);

/* ---- results ----------------------------------------------------------- */

/* Latency of all levels together, in ns. */
struct emu_latency {
	double mean, p50, p99, p999;
};

void emu_latency_of(const struct dl_emu_histogram *h, struct emu_latency *out);

json_t *emu_run_json(const struct emu_run *r, const struct tool_coords *coords);
json_t *emu_sweep_json(const struct emu_point *points, uint32_t n);

void emu_run_print(const struct emu_run *r, const struct tool_coords *coords,
		   FILE *to);
void emu_sweep_print(const struct emu_point *points, uint32_t n, FILE *to);

/* The name of an enum dl_emu_drop, as a key and as words. */
const char *emu_drop_key(unsigned int drop);

/* The counters of every port as commands of ibsim's console.  0 or -EIO. */
int emu_write_counters(const struct emu_run *r, FILE *to);

#endif
