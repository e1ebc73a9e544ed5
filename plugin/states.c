/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The states of a sweep and of a change of tables, and what may follow what.
 *
 * A sweep:
 *
 *	                 +-> WRITING -+
 *	IDLE -> COMPUTING +-> KEEPING -+-> IDLE      the subnet is up
 *	         ^        |            +-> COMPUTING  it never was: OpenSM met errors
 *	         |        +-> ASIDE ------> COMPUTING
 *	         +---------- BROKEN <------ any
 *
 * A change of tables:
 *
 *	UNKNOWN -+-> WRITING -----------------------------------+-> SETTLED
 *	SETTLED -+                                              +-> UNKNOWN
 *	         +-> WAITING -> GROUPS -> LINKS -> MAPS, MOVING, DRAINING -> OPENING
 *	              |           |         |               |                   |
 *	              +-----------+---------+---------------+                   |
 *	                       given up: the old tables                  the new tables
 *	                                  v                                     v
 *	                         SETTLED or UNKNOWN                    SETTLED or UNKNOWN
 *
 * MOVING and DRAINING come as the plan's steps say, and MAPS once: before them, or, where
 * maps change that packets meet, behind them.  What a change does not need is left out:
 * GROUPS where the tree may change last, LINKS where no link goes active or down, MOVING and DRAINING
 * where any mixture is safe.  DRAINING comes before LINKS where packets under way might close a
 * loop over a link that comes.
 *
 * If a switch dies in the middle, its answers stay out.  Before OPENING the change is given
 * up (phases.c): the old tables are in force again, and the next sweep, without the switch,
 * follows at once.  The switches hold a part of the old tables, or the mixture of the last
 * barrier, which is noted (SETTLED).  Where the old tables were read from the switches, or
 * name links that have to be raised, there are none to return to: the new ones are written
 * (OPENING), and the log says that this was not proven.  In OPENING all else is confirmed; what the dead switch holds is a part of the
 * new tables (SETTLED), or, where entries had moved, a mixture (UNKNOWN).
 */
#include "states.h"
#include "engine.h"
#include "log.h"

#define BIT(state) (1u << DL_##state)

static const struct state_rule {
	const char *name;
	unsigned int next; /* states that may follow, as bits */
} sweep_rules[DL_SWEEP_STATES] = {
	[DL_SWEEP_IDLE] = { "idle", BIT(SWEEP_IDLE) | BIT(SWEEP_COMPUTING) },
	[DL_SWEEP_COMPUTING] = { "computing",
				 BIT(SWEEP_WRITING) | BIT(SWEEP_KEEPING) | BIT(SWEEP_ASIDE) },
	[DL_SWEEP_WRITING] = { "writing", BIT(SWEEP_IDLE) | BIT(SWEEP_COMPUTING) },
	[DL_SWEEP_KEEPING] = { "keeping", BIT(SWEEP_IDLE) | BIT(SWEEP_COMPUTING) },
	[DL_SWEEP_ASIDE] = { "aside", BIT(SWEEP_COMPUTING) },
	[DL_SWEEP_BROKEN] = { "broken", BIT(SWEEP_COMPUTING) },
};

#define GIVEN_UP (BIT(CHANGE_SETTLED) | BIT(CHANGE_UNKNOWN))
#define STEPS (BIT(CHANGE_MOVING) | BIT(CHANGE_DRAINING) | BIT(CHANGE_MAPS))
/* Without old tables to return to the new ones are written all the same. */
#define AFTER_STEPS (BIT(CHANGE_OPENING) | GIVEN_UP)

static const struct state_rule change_rules[DL_CHANGE_STATES] = {
	[DL_CHANGE_UNKNOWN] = { "unknown", GIVEN_UP | BIT(CHANGE_WRITING) | BIT(CHANGE_WAITING) },
	[DL_CHANGE_SETTLED] = { "settled", GIVEN_UP | BIT(CHANGE_WRITING) | BIT(CHANGE_WAITING) },
	[DL_CHANGE_WRITING] = { "writing", GIVEN_UP },
	[DL_CHANGE_WAITING] = { "waiting",
				BIT(CHANGE_GROUPS) | BIT(CHANGE_LINKS) | STEPS | AFTER_STEPS },
	[DL_CHANGE_GROUPS] = { "closing groups", BIT(CHANGE_LINKS) | STEPS | AFTER_STEPS },
	[DL_CHANGE_LINKS] = { "raising links", STEPS | AFTER_STEPS },
	[DL_CHANGE_MOVING] = { "moving entries", STEPS | AFTER_STEPS },
	[DL_CHANGE_DRAINING] = { "draining", BIT(CHANGE_LINKS) | STEPS | AFTER_STEPS },
	[DL_CHANGE_MAPS] = { "writing maps", BIT(CHANGE_MOVING) | AFTER_STEPS },
	[DL_CHANGE_OPENING] = { "opening entries", GIVEN_UP },
};

bool dl_sweep_state_follows(enum dl_sweep_state from, enum dl_sweep_state to)
{
	return sweep_rules[from].next >> to & 1;
}

bool dl_change_state_follows(enum dl_change_state from, enum dl_change_state to)
{
	return change_rules[from].next >> to & 1;
}

/* Log the transition; one that is no rule is a defect. */
static bool states_check(struct dl_engine *e, const char *what, const struct state_rule *rules,
			 unsigned int from, unsigned int to)
{
	bool follows = rules[from].next >> to & 1;

	if (follows) {
		DL_SAY(e->osm, OSM_LOG_DEBUG, "%s: %s -> %s", what, rules[from].name,
		       rules[to].name);
		return true;
	}
	DL_SAY(e->osm, OSM_LOG_ERROR,
	       "ERR DL34: the %s went from \"%s\" to \"%s\", a defect of Dateline itself: it "
	       "steps aside until the next heavy sweep",
	       what, rules[from].name, rules[to].name);
	e->sweep = DL_SWEEP_BROKEN;
	if (e->next_sweep < DL_NEXT_HEAVY)
		e->next_sweep = DL_NEXT_HEAVY;
	return !dl_broken(NULL, follows);
}

bool dl_sweep_enter(struct dl_engine *e, enum dl_sweep_state to)
{
	if (!states_check(e, "sweep", sweep_rules, e->sweep, to))
		return false;
	e->sweep = to;
	return true;
}

bool dl_change_enter(struct dl_engine *e, enum dl_change_state to)
{
	if (!states_check(e, "change of tables", change_rules, e->change, to))
		return false;
	e->change = to;
	return true;
}
