/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Programs of messages, scenarios and sweeps of load for the emulator, see emu.h. */
#ifndef DATELINE_EMU_SCENARIO_H
#define DATELINE_EMU_SCENARIO_H

#include "emu.h"
#include "emu_traffic.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- programs ---------------------------------------------------------- */

/*
 * A program: ranks that send, receive and calculate, each operation when those
 * that it requires are done; see program.c for the model.
 *
 * Read one in GOAL, with at most `most` ranks; `name` stands in messages.  0 or a
 * negative errno, reported but for -ENOMEM.
 */
int dl_emu_program_read(FILE *from, const char *name, uint32_t most, const struct dl_log *log,
			struct dl_emu_program **out);

/* Known algorithms, such as "allreduce-ring:8M", and is a text one of them? */
extern const char dl_emu_program_forms[];
bool dl_emu_program_is_known(const char *text);
int dl_emu_program_make(const char *text, uint32_t nranks, const struct dl_log *log,
			struct dl_emu_program **out);
void dl_emu_program_free(struct dl_emu_program *p);

struct dl_emu_program_result {
	uint32_t ranks, waiting; /* ranks that did not come to their end */
	uint64_t time;		 /* when the last one did, ps */
	uint64_t messages, bytes;
	/* Bytes a second, as NCCL's tests have them; 0: not defined. */
	double algorithm, bus;
};

/* After a run. */
struct dl_emu_program_result dl_emu_program_result(const struct dl_emu_program *p);

/*
 * A phase of a program, that is a group of its operations, see dateline-emulate(1).  It begins
 * with the first of its sends and calculations, or when the first of its receives is done, and
 * ends when the last of its operations is done.  Phases may overlap.
 */
struct dl_emu_program_phase {
	char name[64];
	uint64_t start, end; /* ps; nothing of it has happened: UINT64_MAX and 0 */
	uint64_t messages, bytes;
};

/* After a run: the phases of a program, which owns them.  Returns how many there are. */
uint32_t dl_emu_program_phases(const struct dl_emu_program *p,
			       const struct dl_emu_program_phase **out);

/* A rank that did not come to its end, and the oldest of its messages that is missing. */
struct dl_emu_program_wait {
	uint32_t rank, peer;
	bool sends; /* the message has not left; else it has not come */
};

/* At most `max` are written.  Returns how many there are. */
uint32_t dl_emu_program_waits(const struct dl_emu_program *p, struct dl_emu_program_wait *out,
			      uint32_t max);

/* ---- scenarios ---------------------------------------------------------- */

/*
 * A scenario, dateline-scenario(5), says all of an emulation: traffic, what
 * is emulated, faults, for how long.  It is read for given tables, in which all
 * that it names is looked up, and can be run as often as one likes, also by
 * several threads at a time:
 *
 *	dl_emu_scenario_read("uniform.yaml", tables, NULL, log, &scenario);
 *	dl_emu_scenario_run(scenario, NULL, NULL, NULL, &result);
 *	dl_emu_latency_of(&dl_emu_level(result.emu, 0)->latency).p99;
 *	dl_emu_result_free(&result);
 *	dl_emu_scenario_free(scenario);
 *
 * Functions return 0 or a negative errno, reported: -EINVAL for what is
 * wrong with a scenario, with its file and line.
 */
struct dl_emu_scenario;

/* What a scenario may need beyond tables.  All zero: nothing. */
struct dl_emu_scenario_options {
	/* Where switches are, for patterns on a grid without one of its own. */
	unsigned int dims;
	uint32_t radix[DL_EMU_GRID_DIMS];
	const uint32_t *site; /* by switch: its point, or DL_NONE */
	bool program;	      /* one will follow: traffic need not be there */
	/* Reads the tables of a fault; NULL: dl_snapshot_read() does. */
	int (*read_tables)(void *context, const char *dir, struct dl_snapshot *out);
	void *context;
};

/*
 * Read a file ("-": standard input).  Tables and log are borrowed until the
 * scenario is freed; options, which may be NULL, until the call returns.
 */
int dl_emu_scenario_read(const char *path, const struct dl_tables *t,
			 const struct dl_emu_scenario_options *o, const struct dl_log *log,
			 struct dl_emu_scenario **out);
/* The same from an open stream; `name` stands in messages. */
int dl_emu_scenario_read_stream(FILE *from, const char *name, const struct dl_tables *t,
				const struct dl_emu_scenario_options *o, const struct dl_log *log,
				struct dl_emu_scenario **out);
void dl_emu_scenario_free(struct dl_emu_scenario *s);

/* Threads for an emulation, see struct dl_emu_config. */
void dl_emu_scenario_set_threads(struct dl_emu_scenario *s, uint32_t threads);

/*
 * A program that runs beside the traffic, for one run: rank r at the adapter
 * port[r], each at another one.  Program and ports are borrowed.  The traffic
 * ends with its duration; the run, when all has come.  0 or -EINVAL, reported.
 */
int dl_emu_scenario_set_program(struct dl_emu_scenario *s, struct dl_emu_program *p,
				const uint32_t *port);

/* The file that the scenario wants what happens recorded in, or NULL. */
const char *dl_emu_scenario_record(const struct dl_emu_scenario *s);

uint64_t dl_emu_scenario_seed(const struct dl_emu_scenario *s);
/* Another seed than the scenario's. */
void dl_emu_scenario_set_seed(struct dl_emu_scenario *s, uint64_t seed);

/*
 * The adapters: adapters' ports that have a cable and a LID, in the order of
 * their LIDs.  Returns how many; *ports are their port indices.
 */
uint32_t dl_emu_scenario_adapters(const struct dl_emu_scenario *s, const uint32_t **ports);

/* Is there an open loop, among the entries of this name or, for NULL, all? */
bool dl_emu_scenario_has_load(const struct dl_emu_scenario *s, const char *name);

/* A load for some or all open loops, instead of the scenario's. */
struct dl_emu_load {
	const char *name; /* of the entries; NULL: all open loops */
	uint32_t load;	  /* millionths; 0: as the scenario says */
	uint32_t repeat;  /* other random numbers for arrivals, sizes and targets */
};

/* Called now and then; `end` is when traffic ends.  True ends the run. */
typedef bool (*dl_emu_watch)(void *context, struct dl_emu *emu, uint64_t end);

/*
 * What happened in one step of the time series.  The last step ends with the run, and may
 * be shorter than the others.
 */
struct dl_emu_sample {
	uint64_t at; /* the step's end; it begins where the one before ends, or at 0 */
	uint64_t delivered, bytes; /* in the step */
	uint64_t in_flight;	   /* at its end */
	uint64_t latency_sum;	   /* of packets delivered in it, ps */
};

/* Steps of packets that a scenario wants to see. */
struct dl_emu_steps {
	struct dl_emu_step *step;
	uint32_t n, cap;
	bool wanted;
	bool cut; /* there were more than a million */
};

struct dl_emu_result {
	struct dl_emu *emu; /* at its end, for totals, levels, ports, ... */
	int state;	    /* enum dl_emu_state */
	bool interrupted;
	bool pairs;	/* were kept */
	bool reliable;	/* connections: what is dropped is sent again */
	uint8_t levels; /* that the traffic has, and DL_EMU_MANAGEMENT, as a mask */
	/* Of what all adapters' links could carry, while it was measured. */
	double offered, throughput;
	/* From the warm-up to the end of traffic, or before it of the run. */
	uint64_t measured_ps;
	uint64_t level_bytes[DL_EMU_LEVELS + 1]; /* delivered in this time */
	uint64_t unsent;			 /* messages never sent: the end came first */
	uint64_t sample_ps;			 /* 0: no time series */
	struct dl_emu_sample *samples;
	uint32_t nsamples;
	char **warnings; /* each only once */
	uint32_t nwarnings;
	struct dl_emu_program_result program;  /* no ranks: there was none */
	struct dl_emu_steps recorded, watched; /* in order of time; by packet, then time */
	struct dl_emu_rewrite *rewrite;	       /* has tables that `emu` refers to */
};

/* `load` and `watch` may be NULL.  Free the result in either case. */
int dl_emu_scenario_run(const struct dl_emu_scenario *s, const struct dl_emu_load *load,
			dl_emu_watch watch, void *context, struct dl_emu_result *out);
void dl_emu_result_free(struct dl_emu_result *r);

/* Interrupted, a deadlock, packets that did not arrive? */
bool dl_emu_result_finding(const struct dl_emu_result *r);

/* ---- load sweeps -------------------------------------------------------- */

/* A point of a latency-throughput curve. */
struct dl_emu_point {
	uint32_t load; /* millionths */
	bool done, finding, deadlock;
	double offered, throughput;
	struct dl_emu_latency latency; /* of all levels */
	double latency_error;	       /* of the mean: half its 95 % confidence interval, ns */
	uint64_t settled;	       /* the end of the warm-up, given or found, ps */
	uint64_t delivered, dropped, in_flight, packet_hops;
};

/* Run a scenario at a load.  An interrupted point is left as it was. */
int dl_emu_scenario_point(const struct dl_emu_scenario *s, const struct dl_emu_load *load,
			  dl_emu_watch watch, void *context, struct dl_emu_point *out);

/*
 * What the busiest link allows of what all adapters' links could carry, without
 * headers, if every flow gets its share of it: more may be delivered once some
 * flows get more than others.  0 or a negative errno; -ENOTSUP for traffic whose
 * shares are not known (hot spots, incast, groups, traces, closed loops) or that
 * the tables do not deliver.
 */
int dl_emu_scenario_bound(const struct dl_emu_scenario *s, double *bound);

/* Where a fabric saturates.  Negative numbers: not reached, or not known. */
struct dl_emu_saturation {
	double zero_load_ns; /* in closed form; measured at 1 % where there is none */
	/*
	 * The load at which the mean latency is three times that, or less than 95 per
	 * cent of the load arrive, or traffic deadlocks.
	 */
	double load;
	double load_error; /* half its 95 % confidence interval; by bisection alone: none */
	double accepted;   /* throughput at a load of 1 */
	double bound;	   /* dl_emu_scenario_bound() */
	bool is_longer;	   /* its runs last longer than the scenario, which is too short */
};

/* The same whatever loads a sweep has, and however short it is; `name` as in struct dl_emu_load. */
int dl_emu_scenario_saturation(const struct dl_emu_scenario *s, const char *name,
			       dl_emu_watch watch, void *context, struct dl_emu_saturation *out);

#ifdef __cplusplus
}
#endif
#endif
