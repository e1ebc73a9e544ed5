/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the subnet managers say, compared with what the judge has seen.
 *
 * The engine says at the end of a change of tables whether all states on the way
 * were proven.  Unsafe moments are therefore held back until it does.  With
 * engines and modes that promise nothing they are counted only.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define DOUBTFUL_SLS "path SLs may not be those granted before"
#define FEWER_VLS "the VLs that its maps use"
#define WRONG_CABLES "the cables that OpenSM saw"
#define RIVALS_WITHIN (2 * SIM_SECOND)
#define MOST_HELD (sizeof(((struct sim_log *)NULL)->held) / sizeof(struct sim_held))

/* Is a subnet manager in the middle of a change, and another one has written meanwhile? */
static bool is_crossed(const struct sim_sm *sm, const struct sim_sm *other)
{
	return sm->pid && other->pid && sm->last_up < sm->sweep_at && sm->wrote_at > sm->sweep_at &&
	       other->wrote_at > sm->sweep_at;
}

/* Do two subnet managers write tables, each as the master?  No engine can help. */
static bool has_rivals(const struct sim *sim)
{
	bool crossed = false;
	uint32_t n = 0;

	for (uint32_t i = 0; i < sim->nsms; i++) {
		n += sim->sms[i].wrote_at && sim->now < sim->sms[i].wrote_at + RIVALS_WITHIN;
		for (uint32_t k = 0; k < sim->nsms; k++)
			crossed |= k != i && is_crossed(&sim->sms[i], &sim->sms[k]);
	}
	return n > 1 || crossed;
}

/* Has a write just reached another switch than was meant, or a node another one's LID? */
static bool is_astray(const struct sim *sim)
{
	for (uint32_t i = 0; i < sim->nsms; i++)
		if (sim->sms[i].pid && sim->sms[i].astray)
			return true;
	return false;
}

bool sim_log_is_confused(const struct sim *sim)
{
	return has_rivals(sim) || is_astray(sim);
}

/*
 * After a sweep that is not proven OpenSM writes on, as for groups that are joined, until a
 * later one has looked, and has a plan; and packets that are left over may meet what comes
 * later.
 */
static bool is_admitted(struct sim *sim)
{
	bool unproven = false;

	for (uint32_t i = 0; i < sim->nsms; i++)
		unproven |= sim->sms[i].pid && sim->sms[i].unproven;
	sim->log.admitted = unproven || (sim->log.admitted && sim_judge_has_leftovers(sim));
	return sim->log.admitted;
}

bool sim_log_is_doubtful(struct sim *sim)
{
	return sim_log_is_confused(sim) || is_admitted(sim);
}

void sim_log_unsafe(struct sim *sim, enum sim_finding what, const char *text)
{
	struct sim_log *l = &sim->log;

	if (sim_log_is_doubtful(sim)) {
		sim->admitted++;
		return;
	}
	if (l->nheld < MOST_HELD) {
		l->held[l->nheld].what = what;
		l->held[l->nheld].time = sim->now;
		snprintf(l->held[l->nheld].text, sizeof(l->held[l->nheld].text), "%s", text);
	}
	l->nheld++;
}

void sim_log_flush(struct sim *sim, bool proven)
{
	struct sim_log *l = &sim->log;
	uint32_t n = l->nheld;

	l->nheld = 0;
	if (!proven || !sim->o.promises || has_rivals(sim)) {
		sim->admitted += n;
		if (n && sim->o.verbose)
			sim_say(sim, "unsafe, and not called proven: %u times, first: %s", n,
				l->held[0].text);
		return;
	}
	sim_judge_trust(sim);
	for (uint32_t i = 0; i < n && i < MOST_HELD; i++)
		sim_find(sim, l->held[i].what, "%s (at %.6f)", l->held[i].text,
			 (double)(l->held[i].time - SIM_EPOCH) / SIM_SECOND);
}

/* The number in front of some words of a line. */
static bool number_before(const char *line, const char *words, uint64_t *out)
{
	const char *at = strstr(line, words);

	if (!at || at == line)
		return false;
	while (at > line && at[-1] >= '0' && at[-1] <= '9')
		at--;
	*out = strtoull(at, NULL, 10);
	return true;
}

/* Every switch has answered since then, and nobody else has written, so everything could be known. */
static bool was_undisturbed(const struct sim *sim, const struct sim_sm *sm, uint64_t since)
{
	for (uint32_t i = 0; i < sim->nnodes; i++)
		if (sim->nodes[i].mute || sim->nodes[i].sick || sim->nodes[i].lie ||
		    sim->nodes[i].is_keyed)
			return false;
	for (uint32_t i = 0; i < sim->nsms; i++)
		if (&sim->sms[i] != sm && sim->sms[i].wrote_at > since)
			return false;
	return sim->last_change < since && sim->disturbed < since;
}

static void compare_pairs(struct sim *sim, struct sim_sm *sm, const char *line)
{
	uint64_t said, pairs, adapters;

	if (!number_before(line, " pairs interrupted", &said))
		return;
	pairs = sim_judge_interrupted(sim, &adapters);
	sim->pairs_said += said;
	sim->pairs_seen += pairs;
	sim->pairs_of_adapters += adapters;
	/* What dies meanwhile, or forwards without an answer, cannot be foreseen, nor a rival. */
	if (!sim->clean || !was_undisturbed(sim, sm, sm->sweep_at) || has_rivals(sim))
		return;
	sim->compared++;
	if (said != pairs)
		sim_find(sim, SIM_PAIRS,
			 "the log states %" PRIu64 " pairs interrupted, there were %" PRIu64
			 " (%" PRIu64 " of adapters)",
			 said, pairs, adapters);
}

/* A later sweep has found who is where, and written what is to be there. */
static void forget_astray(struct sim_sm *sm)
{
	if (sm->astray < sm->sweep_at)
		sm->astray = 0;
}

static void read_transition(struct sim *sim, struct sim_sm *sm, const char *line)
{
	uint64_t since;

	sim->transitions++;
	if (strstr(line, "not proven")) {
		sim->unproven++;
		sm->unproven = sm->sweep_at;
		sm->misled = strstr(line, WRONG_CABLES) != NULL;
		sim->log.admitted = true;
		/*
		 * OpenSM looks along old paths at first, and believes what it sees for a sweep.
		 * Links whose other end claimed fewer VLs get theirs back in one sweep, and
		 * their maps in the next.
		 */
		since = strstr(line, FEWER_VLS) ? sm->sweep_before : sm->sweep_at;
		if (was_undisturbed(sim, sm, since) && !strstr(line, DOUBTFUL_SLS) &&
		    (sim->swapped_at < sm->up_before || !strstr(line, WRONG_CABLES)))
			sim_find(sim, SIM_UNPROVEN, "%s", strstr(line, "transition:"));
		sim_log_flush(sim, false);
	} else {
		compare_pairs(sim, sm, line);
		sim_log_flush(sim, true);
	}
	forget_astray(sm);
	sim->clean = was_undisturbed(sim, sm, sm->sweep_at);
	sim_judge_mark(sim);
}

/*
 * Path SLs change, and whoever has one has to reconnect.  That may be only where a subnet
 * manager takes over from one in another mode, for switches that come to a torus or go,
 * when they get or lose coordinates, and where a switch has lost its mark, and all but
 * some of its cables, until these are back: else it stays a finding that they change.
 */
static void read_reconnect(struct sim *sim, const char *text)
{
	if (strstr(text, DOUBTFUL_SLS)) {
		sim->log.lost_marks = true;
		sim_client_disconnect(sim, SIM_ALL);
	}
	if (!strstr(text, "ERR DL27") && !strstr(text, "pairs of end port and LID reconnect"))
		return;
	if (strchr(sim->o.mode, ',') || sim->log.lost_marks)
		sim_client_disconnect(sim, SIM_ALL);
	else if (sim->o.grow)
		sim_client_disconnect(sim, SIM_TRANSIENT);
}

void sim_log_line(struct sim *sim, struct sim_sm *sm, const char *line)
{
	const char *said = strstr(line, "dateline: ");
	char text[240];

	if (strstr(line, "SUBNET UP")) {
		if (sim->o.verbose)
			sim_say(sim, "sm%d: SUBNET UP", (int)(sm - sim->sms));
		sm->sweeps++;
		sm->up_before = sm->last_up;
		sm->last_up = sim->now;
		forget_astray(sm);
		sim->clean = was_undisturbed(sim, sm, sm->sweep_at);
		sim->last_sweep = sm->sweep_at;
		sim_judge_mark(sim);
		sim_client_reconnect(sim);
		sim_script_begin(sim);
		return;
	}
	if (!said)
		return;
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(said, "\n"), said);
	if (sim->o.verbose)
		sim_say(sim, "sm%d: %s", (int)(sm - sim->sms), text);
	if (strstr(text, "ERR DL18") || strstr(text, "ERR DL34"))
		sim_find(sim, SIM_DEFECT, "%s", text);
	if (strstr(text, "verified free of credit loops") && sm->unproven < sm->sweep_at) {
		sm->unproven = 0;
		sm->misled = false;
	}
	sim_avoid_line(sim, text, sim_log_is_confused(sim));
	read_reconnect(sim, text);
	if (strstr(text, "the change stops here")) {
		/* What stopped halfway, and the way back from there, is counted nowhere. */
		sim_log_flush(sim, true);
		sim->clean = false;
	} else if (strstr(text, "dateline: transition: "))
		read_transition(sim, sm, text);
}
