/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * `dateline whatif`: failures that have not happened yet.
 *
 *   whatif.c        the command, one scenario
 *   whatif_named.c  before and after failures by name
 *   whatif_draw.c   which switches and cables fail in scenario number i
 *   whatif_transition.c  the changes of tables between them
 *   whatif_print.c  what all of them add up to
 *   whatif_worst.c  which are the worst, and all one by one
 */
#ifndef WHATIF_H
#define WHATIF_H

#include "tools/common/background.h"
#include "dateline/route.h"
#include "tools/common/fail.h"

/* The whole fabric, and what may fail in it. */
struct whatif {
	struct tool_input whole;
	uint32_t *switches; /* switch numbers of placed ones, by site */
	uint32_t nswitches;
	uint32_t *cables; /* port index at the end from which it leads up */
	uint32_t ncables;

	uint32_t fail_switches, fail_cables;
	bool any_sl; /* any-SL mode in place of proven mode? */
	enum dl_route_ties ties;
	bool exhaustive;
	uint64_t seed;
	uint64_t nitems;
	uint64_t *first; /* exhaustive: by set of switches, its first item */
	uint64_t nsets;
	uint32_t worst; /* so many are named */
	bool csv;
	bool transitions;
	bool has_spare;		       /* for one worker, a core that has nothing to do? */
	struct background route_whole; /* for transitions */
	struct dl_route_result whole_routed;
};

/* One scenario's failures, and memory to draw them. */
struct whatif_failures {
	struct dl_arena arena; /* of the arrays */
	uint32_t *switches;    /* fail_switches of them: switch numbers */
	uint32_t *cables;      /* fail_cables of them: port indices */
	uint32_t nswitches, ncables;
	uint32_t *pool; /* room for all switches or cables */
	bool *dead;	/* by node */
	bool *cut;	/* by port index */
};

/* How all of its fabrics are routed. */
struct dl_route_options whatif_options(const struct whatif *w);

/*
 * Find out what may fail, and number the scenarios: `samples` random ones, or
 * all.  0; -EINVAL (more failures than there are things, or too many
 * scenarios; reported), -ENOMEM.
 */
int whatif_plan(struct whatif *w, uint64_t samples, const struct dl_log *log);
void whatif_release(struct whatif *w);

int whatif_failures_init(struct whatif_failures *f, const struct whatif *w);
void whatif_failures_release(struct whatif_failures *f);

/* The failures of scenario `item`: a function of the seed and the number. */
void whatif_failures_draw(struct whatif_failures *f, const struct whatif *w, uint64_t item);

enum whatif_stage {
	WHATIF_DEGRADE,
	WHATIF_DISCOVER,
	WHATIF_CLASSIC,
	WHATIF_VERIFY,
	WHATIF_PROVEN,
	WHATIF_LOAD,
	WHATIF_TRANSITION,
	WHATIF_STAGES
};

/* Tables before and after: of the whole fabric, and of what is left. */
enum whatif_change {
	WHATIF_FAILURE, /* whole, left */
	WHATIF_REPAIR,	/* left, whole */
	WHATIF_BOTH,	/* left in the scenario before, left in this one */
	WHATIF_CHANGES
};

struct whatif_transition {
	bool checked;
	bool direct, phased; /* safe that way, in any order of writes */
	uint64_t pairs;	     /* interrupted */
	uint64_t closed;     /* entries, meanwhile */
	uint64_t writes, phased_writes;
};

/* What came of one scenario; sent between processes as it is. */
struct whatif_outcome {
	bool connected;
	bool accepted, safe;   /* classic mode */
	bool proven, repaired; /* proven or any-SL mode */
	uint32_t unplaced;     /* switches whose coordinate is not known */
	uint32_t tree_routed, moved;
	uint64_t entries, changed, filled;
	/* Of a packet, on average over the pairs that DOR delivers. */
	double hops, plain_hops;
	uint64_t busiest, common_busiest, plain_busiest;
	struct whatif_transition transition[WHATIF_CHANGES];
	double seconds[WHATIF_STAGES];
	char reason[160]; /* why proven mode has no tables */
};

/*
 * The torus that is left of the whole one; `cold`: not by what was known before.  0 or a
 * negative errno, reported.
 */
int whatif_discover(const struct whatif *w, const struct dl_fabric *f, const struct dl_log *log,
		    bool *cold, struct dl_torus **out);

/*
 * Route the whole fabric, if transitions are asked for; that may have failed only at
 * the end of `route_whole`, when no scenario needed it.  0 or negative errno.
 */
int whatif_transitions_begin(struct whatif *w);

/* Tables written over one another in any order, and in steps.  0 or negative errno. */
int whatif_check(const struct dl_tables *from, const struct dl_tables *to,
		 struct whatif_transition *out);

/*
 * Compare before and after failures by name; `scenario` is of an emulation, or NULL.  0 or a
 * negative errno, reported.
 */
int whatif_named(struct tool *tool, struct whatif *w, const struct tool_input_options *input,
		 const struct tool_names *fail, const char *scenario);

/* Of a scenario: the way back, in a second thread if a core is idle. */
struct whatif_repair {
	struct whatif *w;
	struct whatif_transition *out;
	/* The rest is its own. */
	const struct dl_tables *left;
	struct background background;
};

/* Start it, and check all changes of a scenario.  `f` is scratch.  0 or negative errno. */
int whatif_transitions_start(struct whatif_repair *r, const struct dl_route_result *now);
int whatif_transitions(struct whatif_repair *r, struct whatif_failures *f, uint64_t item,
		       struct whatif_outcome *o);

/* Was a change in phases checked, and found unsafe? */
static inline bool whatif_is_unsafe(const struct whatif_outcome *o)
{
	for (unsigned int i = 0; i < WHATIF_CHANGES; i++)
		if (o->transition[i].checked && !o->transition[i].phased)
			return true;
	return false;
}

/* The worst, worst first, with the names of what fails; NULL: no memory.  `f` is scratch. */
json_t *whatif_worst_json(const struct whatif *w, struct whatif_failures *f,
			  const struct whatif_outcome *outcomes, const bool *done);
void whatif_print_worst(const json_t *list, FILE *to);

/* All, one in a line.  0 or a negative errno. */
int whatif_print_csv(const struct whatif *w, struct whatif_failures *f,
		     const struct whatif_outcome *outcomes, const bool *done, FILE *to);

/* Print the sums: as JSON, or as a table for people.  0 or negative errno. */
int whatif_print(const struct tool *tool, const struct whatif *w,
		 const struct whatif_outcome *outcomes, const bool *done, double seconds,
		 bool interrupted);

#endif
