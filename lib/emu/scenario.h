/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A scenario: what its file says, applied to tables.
 *
 * There is one representation from the file to the run.  The readers of YAML
 * (scenario.c, scenario_traffic.c, scenario_faults.c) look names up as they meet
 * them, so that whatever is wrong is reported with its line, and write what the
 * emulator and its traffic take.  Nothing changes it afterwards: several threads
 * may run it at a time.
 */
#ifndef DL_EMU_SCENARIO_H
#define DL_EMU_SCENARIO_H

#include "dateline/base.h"
#include "dateline/emu.h"
#include "dateline/transition.h"
#include "emu/program.h"

#define DL_EMU_SCENARIO_NS_MAX INT64_C(1000000000000) /* a quarter of an hour */
#define DL_EMU_SCENARIO_PS_MAX (1000 * DL_EMU_SCENARIO_NS_MAX)
#define DL_EMU_SCENARIO_BYTES_MAX (1 << 30) /* of a message */
#define DL_EMU_SCENARIO_MILLION 1000000

/* How switches get new tables while traffic runs (rewrite.c). */
struct dl_emu_rewrite_options {
	uint64_t at; /* ps */
	enum dl_transition_order order;
	uint64_t smp, drain; /* ps between writes, and of a drain */
	uint32_t in_flight;
	bool direct; /* not step by step */
};

/* Something that happens at a time: a fault, or new tables. */
struct dl_emu_action {
	uint64_t at;
	uint32_t order;
	const struct dl_tables *tables;		      /* NULL: the fault */
	const struct dl_emu_rewrite_options *rewrite; /* NULL: tables at once */
	struct dl_emu_fault fault;
};

/* A snapshot of later tables, and its file, so that none is read twice. */
struct dl_emu_later {
	struct dl_snapshot snapshot;
	uint64_t device, file; /* 0: unknown */
};

/* Which packets to watch. */
struct dl_emu_watch_rule {
	uint32_t from, to; /* adapters; DL_EMU_NO_ADAPTER: any */
	uint64_t after;	   /* of messages that came then or later, ps */
	uint64_t packets;  /* the first so many */
};

#define DL_EMU_WATCHED_MAX 1000

/* Times in picoseconds. */
struct dl_emu_scenario {
	const char *path; /* files that it names are beside it */
	const struct dl_log *log;
	struct dl_arena arena; /* all that it points to, unless stated */
	uint64_t duration, warmup, drain;
	uint64_t sample; /* of the time series; 0: none */
	struct dl_emu_config config;
	struct dl_emu_sl_table sl_table;
	enum { DL_EMU_SL_ADAPTERS, DL_EMU_SL_SWITCHES, DL_EMU_SL_ALL } sl_table_at;
	uint32_t *cable_mm; /* by port; of those that `cables` does not name, UINT32_MAX */
	uint32_t buffer_blocks, buffer_packets;
	int32_t force_vl; /* -1: the maps as programmed */
	/* The fabric. */
	const struct dl_tables *tables;
	struct dl_tables forced; /* as the scenario's force_vl has them */
	struct dl_fabric_index names;
	uint16_t *lid;	   /* by adapter */
	uint32_t *port;	   /* port index by adapter */
	uint32_t *adapter; /* by port index; DL_EMU_NO_ADAPTER */
	/* Traffic. */
	struct dl_emu_traffic_spec traffic;
	struct dl_emu_traffic_entry *entries; /* the traffic's; from malloc() */
	uint32_t entries_cap, traces;
	struct dl_emu_program *program; /* or NULL */
	/* What to look at: packets, and a window of time, for a file (or NULL). */
	struct dl_emu_watch_rule *watch;
	uint32_t nwatch;
	const char *record;
	uint64_t record_from, record_to;
	/* While it is read: the pattern that needs a grid, and one for groups, or NULL. */
	const struct dl_yaml_node *needs_grid, *multicast;
	/* Faults and new tables, in order of time; from malloc(). */
	struct dl_emu_action *actions;
	uint32_t nactions, actions_cap;
	struct dl_emu_later *later;
	uint32_t nlater, later_cap;
	uint64_t repeats, swaps;		       /* of faults, and of those with tables */
	const struct dl_emu_scenario_options *options; /* while it is read */
};

/* Keys of a mapping: numbers, words, texts; and times, which are kept in ps. */
#define NUMBER .type = DL_SETTING_NUMBER
#define DECIMAL .type = DL_SETTING_DECIMAL
#define WORD .type = DL_SETTING_WORD
#define TEXT .type = DL_SETTING_TEXT
#define NS .read = dl_emu_scenario_read_ns

dl_yaml_reader dl_emu_scenario_read_ns;

/* What must not be, the keys of a mapping that may be wrong (dl_yaml_key()), and what was expected. */
struct dl_emu_scenario_rule {
	bool broken;
	const char *keys, *expected;
};

/* Report the first broken one. */
int dl_emu_scenario_check(struct dl_yaml *y, const struct dl_yaml_node *at,
			  const struct dl_emu_scenario_rule *rules, size_t n);

/* The node of a word: "0x..." a GUID, else a name.  DL_NONE: there is none. */
uint32_t dl_emu_scenario_node(const struct dl_emu_scenario *s, const char *text);

/* The adapter of a word: a number, or its node.  0 or -EINVAL. */
int dl_emu_scenario_adapter(const struct dl_emu_scenario *s, const char *text, uint32_t *out);

/* A port with a cable, by the keys `node` and `port` of a mapping.  0, or an error there. */
int dl_emu_scenario_port(struct dl_yaml *y, const struct dl_yaml_node *at,
			 const struct dl_emu_scenario *s, const char *node, uint32_t number,
			 uint32_t *out);

/* A name in a scenario means a file beside it, unless it begins with "/". */
char *dl_emu_scenario_file(struct dl_emu_scenario *s, const char *name);

/* A text, for free(). */
int dl_emu_scenario_text(struct dl_yaml *y, const struct dl_yaml_node *value, const char *key,
			 char **out);

/* Readers of the keys `traffic`, `faults` and `congestion`. */
dl_yaml_reader dl_emu_scenario_read_traffic, dl_emu_scenario_read_faults,
	dl_emu_scenario_read_congestion;

/* scenario_trace.c: the messages of a trace, by source and time. */
int dl_emu_scenario_read_trace(struct dl_emu_scenario *s, struct dl_yaml *y,
			       const struct dl_yaml_node *at, const char *name,
			       struct dl_emu_traffic_entry *e);

/* record.c: what is looked at while it runs. */
struct dl_emu_recorder {
	const struct dl_emu_scenario *scenario;
	struct dl_emu_steps *recorded, *watched; /* the result's */
	uint64_t *seen;				 /* by rule: packets */
	uint32_t *numbers, nnumbers, cap;	 /* of packets that are watched, rising */
	int err;
};

dl_yaml_reader dl_emu_scenario_read_watch, dl_emu_scenario_read_record;
/* 0 or -ENOMEM; end it in either case. */
int dl_emu_record_begin(struct dl_emu_recorder *r, const struct dl_emu_scenario *s,
			struct dl_emu_result *out);
void dl_emu_record_step(struct dl_emu_recorder *r, const struct dl_emu_step *step);
int dl_emu_record_end(struct dl_emu_recorder *r);

/* rewrite.c: a change of tables that is under way. */
struct dl_emu_rewrite {
	const struct dl_emu_rewrite_options *options;
	uint64_t next; /* when something happens, or UINT64_MAX */
	struct dl_transition plan;
	struct dl_transition_waves steps;
	uint32_t step, move;	    /* of the plan, that come next */
	struct dl_tables *aim;	    /* what the plan wants at its next barrier */
	struct dl_tables *now;	    /* what the switches hold */
	const struct dl_tables *to; /* of this list of writes */
	struct dl_transition_write *writes;
	uint32_t n, at;
	uint32_t maps; /* which change before this write */
	bool drain;    /* before the next list */
	bool opening, mapped;
	struct dl_random random;
	struct dl_tables **kept, **wide; /* `wide`: of plans */
	uint32_t nkept, kept_cap, nwide, wide_cap;
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
