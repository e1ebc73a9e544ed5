/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A scenario as read, and a plan: the scenario applied to a fabric.
 *
 * YAML is read straight into what the emulator and its traffic take; only
 * names, which mean something in a fabric alone, are kept as words with their
 * lines, and looked up by the plan.
 */
#ifndef DL_EMU_SCENARIO_H
#define DL_EMU_SCENARIO_H

#include "dateline/base.h"
#include "dateline/emu.h"
#include "dateline/transition.h"

struct dl_emu_name {
	char *text;
	unsigned int line;
};

struct dl_emu_names {
	struct dl_emu_name *list;
	uint32_t n;
};

struct dl_emu_scenario_traffic {
	struct dl_emu_traffic_entry entry; /* but for what is looked up */
	unsigned int line;
	char *name;
	char *file; /* of a trace */
	struct dl_emu_names sources, targets;
};

enum dl_emu_scenario_fault_kind {
	DL_EMU_SCENARIO_LINK_DOWN,
	DL_EMU_SCENARIO_LOSE_FCP,
	DL_EMU_SCENARIO_CORRUPT_FCP,
	DL_EMU_SCENARIO_STOP_DRAINING,
	DL_EMU_SCENARIO_TABLES,
	DL_EMU_SCENARIO_REWRITE
};

struct dl_emu_scenario_fault {
	unsigned int line;
	enum dl_emu_scenario_fault_kind kind;
	uint64_t at, length; /* ps; length 0: for ever */
	uint64_t every;	     /* again and again, `times` */
	uint32_t times;
	struct dl_emu_name node;
	uint32_t port;	/* 0: not given */
	uint32_t share; /* millionths; 0: not given */
	char *snapshot; /* tables, rewrite */
	/* Of a rewrite. */
	enum dl_transition_order order;
	uint64_t smp, drain; /* ps between writes, and between phases */
	uint32_t in_flight;
	bool direct; /* not in phases */
};

/* Times in picoseconds. */
struct dl_emu_scenario {
	char *path;
	uint64_t duration, warmup, drain;
	uint64_t sample; /* of the time series; 0: none */
	struct dl_emu_config config;
	struct dl_emu_sl_table sl_table;
	bool even; /* sl_table is used */
	uint32_t buffer_blocks, buffer_packets;
	int32_t force_vl; /* -1: the maps as programmed */
	uint32_t radix[DL_EMU_GRID_DIMS];
	unsigned int dims; /* 0: by the fabric's coordinates */
	struct dl_emu_scenario_traffic *traffic;
	uint32_t ntraffic;
	struct dl_emu_scenario_fault *faults;
	uint32_t nfaults;
};

/* An error that was found after reading.  Returns -EINVAL. */
int dl_emu_scenario_error(const struct dl_emu_scenario *s, const struct dl_log *log,
			  unsigned int line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Something that happens at a time: a fault, or new tables. */
struct dl_emu_action {
	uint64_t at;
	uint32_t order;
	const struct dl_tables *tables;		     /* NULL: the fault */
	const struct dl_emu_scenario_fault *rewrite; /* NULL: tables at once */
	struct dl_emu_fault fault;
};

/* A snapshot that a fault brings, and its file, so that none is read twice. */
struct dl_emu_later {
	struct dl_snapshot snapshot;
	uint64_t device, file; /* 0: none, or another one's */
};

struct dl_emu_plan {
	const struct dl_emu_scenario *scenario;
	const struct dl_tables *tables;
	const struct dl_fabric *fabric;
	const struct dl_log *log;
	struct dl_fabric_index names;
	struct dl_arena arena; /* all that follows */
	struct dl_tables forced;
	struct dl_emu_later *later;    /* by fault */
	struct dl_emu_action *actions; /* in order of time */
	uint32_t nactions;
	uint16_t *lid;	   /* by adapter */
	uint32_t *port;	   /* port index by adapter */
	uint32_t *adapter; /* by port index; DL_EMU_NO_ADAPTER */
	uint64_t *rate;	   /* by adapter */
	struct dl_emu_traffic_entry *entries;
	const char **name; /* by entry, or NULL */
	struct dl_emu_traffic_spec spec;
};

/* The node of a word: "0x..." a GUID, else a name.  DL_NONE: there is none. */
uint32_t dl_emu_plan_node(const struct dl_emu_plan *p, const char *text);

/* The adapter of a word: a number, or its node.  0 or -EINVAL. */
int dl_emu_plan_adapter(const struct dl_emu_plan *p, const char *text, uint32_t *out);

/* A name in a scenario means a file beside it, unless it begins with "/". */
char *dl_emu_plan_path(struct dl_emu_plan *p, const char *name);

/* Let rows of SL-to-VL maps be as the scenario's force_vl has them. */
void dl_emu_plan_force_vl(const struct dl_emu_plan *p, dl_tables_sl2vl_row *rows, uint32_t n);

/* What the faults name, and when they happen.  0 or negative, reported. */
int dl_emu_plan_faults(struct dl_emu_plan *p, const struct dl_emu_plan_options *o);

/* The messages of a trace, by source and time.  0 or negative, reported. */
int dl_emu_plan_trace(struct dl_emu_plan *p, const struct dl_emu_scenario_traffic *t,
		      struct dl_emu_traffic_entry *e);

/* rewrite.c: a change of tables that is under way. */
struct dl_emu_rewrite {
	const struct dl_emu_scenario_fault *fault;
	uint64_t next; /* when something happens, or UINT64_MAX */
	struct dl_transition plan;
	struct dl_tables *now;	    /* what the switches hold */
	const struct dl_tables *to; /* of this phase */
	struct dl_transition_write *writes;
	uint32_t n, at;
	uint32_t maps; /* which change before this write */
	bool closing, mapped;
	struct dl_random random;
	struct dl_tables **kept;
	uint32_t nkept, kept_cap;
};

/* NULL: no memory. */
struct dl_emu_rewrite *dl_emu_rewrite_new(void);
void dl_emu_rewrite_free(struct dl_emu_rewrite *w);

/* Begin with the tables in force.  0 or negative errno. */
int dl_emu_rewrite_begin(struct dl_emu_rewrite *w, struct dl_emu *e,
			 const struct dl_emu_action *action, const struct dl_tables *from,
			 uint64_t seed);

/* What is due at `next`.  0 or negative errno. */
int dl_emu_rewrite_step(struct dl_emu_rewrite *w, struct dl_emu *e, uint64_t now);

#endif
