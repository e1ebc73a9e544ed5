/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Events as text, README.md: read, written, and drawn at random.  A script that is
 * written after a random run does the same when it is read with the same seed.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define FIRST_STEP (2 * SIM_SECOND)
#define ASKING (300 * SIM_SECOND)
#define SETTLE_LOOK (500 * SIM_MS)
#define UNPROMISED (60 * SIM_SECOND) /* the same of engines that promise nothing */
#define TREE_WRITTEN (10 * SIM_MS) /* so long OpenSM takes to write the tree that a join extends */
#define LIGHT_SWEEP (12 * SIM_SECOND) /* within that time what went wrong is tried again */
#define JOIN_BOUND (60 * SIM_SECOND)  /* OpenSM may never ask a host to register again */
#define QUERY_BOUND (10 * SIM_SECOND)
#define MOST_TRIES 300
#define SILENCE (35 * SIM_SECOND) /* light sweeps come every 10 s */

/*
 * Each kind of event: its word, the arguments behind it, and how often it is drawn; if
 * `more` names a word, only where `--more` does, too.
 */
static const struct {
	const char *word;
	bool node;
	unsigned int nargs, weight;
	const char *more;
} kinds[SIM_STEP_KINDS] = {
	[SIM_STEP_CUT] = { "cut", true, 1, 4 },
	[SIM_STEP_MEND] = { "mend", true, 1, 4 },
	[SIM_STEP_FLAP] = { "flap", true, 2, 3 },
	[SIM_STEP_KILL] = { "kill", true, 0, 2 },
	[SIM_STEP_REVIVE] = { "revive", true, 0, 2 },
	[SIM_STEP_MUTE] = { "mute", true, 0, 1 },
	[SIM_STEP_HEAR] = { "hear", true, 0, 1 },
	[SIM_STEP_LOSS] = { "loss", false, 3, 1 },
	[SIM_STEP_SWEEP] = { "sweep", false, 1, 1 },
	[SIM_STEP_STOP] = { "stop", false, 1, 1 },
	[SIM_STEP_START] = { "start", false, 1, 1 },
	[SIM_STEP_SETTLE] = { "settle", false, 0, 0 },
	[SIM_STEP_SICK] = { "sick", true, 0, 1, "harsh" },
	[SIM_STEP_DIE] = { "die", false, 2, 1, "harsh" },
	[SIM_STEP_PAUSE] = { "pause", false, 1, 1, "harsh" },
	[SIM_STEP_RESUME] = { "resume", false, 1, 1, "harsh" },
	[SIM_STEP_STARVE] = { "starve", false, 2, 1, "harsh" },
	[SIM_STEP_DENY] = { "deny", false, 2, 1, "harsh" },
	[SIM_STEP_SWAP] = { "swap", true, 2, 3, "swap" },
	[SIM_STEP_LIE] = { "lie", true, 1, 2, "lie" },
	[SIM_STEP_KEY] = { "key", true, 2, 2, "key" },
	[SIM_STEP_AVOID] = { "avoid", true, 1, 4, "avoid" },
	[SIM_STEP_UNAVOID] = { "unavoid", true, 1, 4, "avoid" },
	[SIM_STEP_TRAIN] = { "train", true, 3, 4, "train" },
	[SIM_STEP_GROW] = { "grow", false, 0, 0 },
	[SIM_STEP_WAIT] = { "wait", false, 0, 0 },
	[SIM_STEP_MEASURE] = { "measure", false, 1, 0 },
};

/* ---- text ---------------------------------------------------------------------- */

void sim_script_add(struct sim_script *s, const struct sim_step *step)
{
	s->steps = dl_array_grow(s->steps, sizeof(*s->steps), s->n, 1, &s->cap);
	if (!s->steps)
		sim_die("no memory");
	s->steps[s->n++] = *step;
}

static bool read_step(char *line, struct sim_step *step)
{
	char word[16];
	int at = 0;
	char *rest;

	memset(step, 0, sizeof(*step));
	if (sscanf(line, "+%u %15s%n", &step->after_ms, word, &at) != 2)
		return false;
	for (step->kind = 0; step->kind < SIM_STEP_KINDS; step->kind++)
		if (!strcmp(word, kinds[step->kind].word))
			break;
	if (step->kind == SIM_STEP_KINDS)
		return false;
	line += at;
	if (kinds[step->kind].node) {
		if (sscanf(line, " %63s%n", step->node, &at) != 1)
			return false;
		line += at;
	}
	for (unsigned int i = 0; i < kinds[step->kind].nargs; i++) {
		step->arg[i] = (uint32_t)strtoul(line, &rest, 10);
		if (rest == line)
			return false;
		line = rest;
	}
	return line[strspn(line, " \t\r\n")] == '\0' || line[strspn(line, " \t")] == '#';
}

void sim_script_read(struct sim_script *s, const char *path)
{
	FILE *f = fopen(path, "r");
	unsigned int number = 0;
	struct sim_step step;
	char line[256];

	if (!f)
		sim_die("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		number++;
		/* Settings stand before the events, for main.c. */
		if (line[0] != '+')
			continue;
		if (!read_step(line, &step))
			sim_die("%s:%u: no event: %s", path, number, line);
		sim_script_add(s, &step);
	}
	fclose(f);
}

void sim_script_print(const struct sim_step *step, FILE *to)
{
	fprintf(to, "+%u %s", step->after_ms, kinds[step->kind].word);
	if (kinds[step->kind].node)
		fprintf(to, " %s", step->node);
	for (unsigned int k = 0; k < kinds[step->kind].nargs; k++)
		fprintf(to, " %u", step->arg[k]);
	fputc('\n', to);
}

bool sim_script_has(const struct sim_script *s, enum sim_step_kind kind)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->steps[i].kind == kind)
			return true;
	return false;
}

void sim_script_write(const struct sim_script *s, FILE *to)
{
	for (uint32_t i = 0; i < s->n; i++)
		sim_script_print(&s->steps[i], to);
}

/* ---- at random ----------------------------------------------------------------- */

static uint32_t draw_gap(struct sim *sim)
{
	uint64_t *r = &sim->random_script;

	switch (sim_random(r, 4)) {
	case 0:
		return sim_random(r, 5);
	case 1:
		return sim_random(r, 4 * sim->o.gap_ms);
	default:
		return sim_random(r, sim->o.gap_ms);
	}
}

/* An entry of the list of what is out of use. */
static void draw_avoided(struct sim *sim, struct sim_step *step)
{
	const struct sim_port *p;

	if (!sim->avoid.n)
		return;
	p = &sim->ports[sim->avoid.entries[sim_random(&sim->random_script, sim->avoid.n)].port];
	snprintf(step->node, sizeof(step->node), "%.63s", sim->nodes[p->node].name);
	step->arg[0] = p->num;
}

void sim_script_draw_args(struct sim *sim, struct sim_step *step)
{
	uint64_t *r = &sim->random_script;
	const struct sim_node *n = &sim->nodes[sim_random(r, sim->nnodes)];

	snprintf(step->node, sizeof(step->node), "%.63s", kinds[step->kind].node ? n->name : "");
	switch (step->kind) {
	case SIM_STEP_FLAP:
		step->arg[1] = 1 + sim_random(r, 1500);
		/* fall through */
	case SIM_STEP_CUT:
	case SIM_STEP_MEND:
		step->arg[0] = 1 + sim_random(r, n->nports);
		break;
	case SIM_STEP_TRAIN:
		step->arg[0] = 1 + sim_random(r, n->nports);
		step->arg[1] = sim_random(r, 2) ? 4 : 1;
		step->arg[2] = 1 + sim_random(r, 1500);
		break;
	case SIM_STEP_AVOID:
		step->arg[0] = sim_random(r, 3) ? 1 + sim_random(r, n->nports) : 0;
		break;
	case SIM_STEP_UNAVOID:
		draw_avoided(sim, step);
		break;
	case SIM_STEP_SWAP:
		step->arg[0] = 1 + sim_random(r, n->nports);
		step->arg[1] = 1 + sim_random(r, n->nports);
		break;
	case SIM_STEP_LIE:
		step->arg[0] = 1 + sim_random(r, SIM_LIES);
		break;
	case SIM_STEP_KEY:
		step->arg[0] = sim_random(r, 4);
		step->arg[1] = sim_random(r, 2) ? 1 + sim_random(r, 60) : 0;
		break;
	case SIM_STEP_LOSS:
		for (unsigned int i = 0; i < 3; i++)
			step->arg[i] = sim->loss ? 0 : sim_random(r, i ? 100 : 180);
		break;
	case SIM_STEP_DIE:
		step->arg[1] = 1 + sim_random(r, sim_random(r, 2) ? 30 : 3000);
		step->arg[0] = sim_random(r, sim->nsms);
		break;
	case SIM_STEP_STARVE:
	case SIM_STEP_DENY:
		step->arg[1] = 1 + sim_random(r, 60);
		/* fall through */
	case SIM_STEP_PAUSE:
	case SIM_STEP_RESUME:
	case SIM_STEP_SWEEP:
	case SIM_STEP_STOP:
	case SIM_STEP_START:
		step->arg[0] = sim_random(r, sim->nsms);
		break;
	default:
		break;
	}
}

static unsigned int weight_of(const struct sim *sim, unsigned int kind)
{
	const char *more = kinds[kind].more;

	return more && !strstr(sim->o.more, more) ? 0 : kinds[kind].weight;
}

struct sim_step sim_script_draw(struct sim *sim)
{
	struct sim_step step = { .kind = SIM_STEP_SETTLE };
	uint32_t all = 0, pick;

	if (sim->script->since == sim->o.settle_every)
		return step;
	for (unsigned int k = 0; k < SIM_STEP_KINDS; k++)
		all += weight_of(sim, k);
	pick = sim_random(&sim->random_script, all);
	for (step.kind = 0; pick >= weight_of(sim, step.kind); step.kind++)
		pick -= weight_of(sim, step.kind);
	step.after_ms = draw_gap(sim);
	return step;
}

/* ---- one after the other -------------------------------------------------------- */

static void after(struct sim *sim, uint64_t ns)
{
	sim_events_add(sim, sim->now + ns, SIM_STEP, 0, 0, NULL);
}

void sim_script_begin(struct sim *sim)
{
	if (sim->script->begun)
		return;
	sim->script->begun = true;
	sim_say(sim, "up after %" PRIu64 " MADs", sim->sent);
	for (uint32_t i = 1; i < sim->nsms; i++)
		sim_process_start(sim, i, sim->sms[i].node);
	after(sim, FIRST_STEP);
}

/* Whose sweep was the last. */
static const struct sim_sm *find_master(const struct sim *sim)
{
	const struct sim_sm *master = &sim->sms[0];

	for (uint32_t i = 1; i < sim->nsms; i++)
		if (sim->sms[i].pid && (!master->pid || sim->sms[i].last_up > master->last_up))
			master = &sim->sms[i];
	return master;
}

/*
 * Has every host joined with this master?  OpenSM at times does not ask one to register
 * again.
 */
static bool all_joined(const struct sim *sim, const struct sim_sm *master)
{
	for (uint32_t i = 0; i < sim->nports; i++) {
		const struct sim_port *p = &sim->ports[i];

		if (p->num && !sim->nodes[p->node].is_switch && sim_is_live(p) &&
		    (!p->joined || &sim->sms[p->joined_sm] != master ||
		     p->joined_run != master->run) &&
		    sim_judge_connected(sim, i))
			return false;
	}
	return true;
}

/* No sweep ends without errors meanwhile. */
static bool is_any_sick(const struct sim *sim)
{
	for (uint32_t i = 0; i < sim->nnodes; i++)
		if (sim->nodes[i].sick)
			return true;
	return false;
}

/* Nobody waits for one whose LID a liar has: it may be out of reach for as long as its lease. */
static bool is_any_keyed(const struct sim *sim)
{
	for (uint32_t i = 0; i < sim->nnodes; i++)
		if (sim->nodes[i].is_keyed)
			return true;
	return false;
}

/* Has the master finished a sweep since the last change, and does all work? */
static bool is_settled(struct sim *sim, uint64_t *bad, char *example, size_t size)
{
	uint64_t pairs;
	bool quiet = is_any_sick(sim) && sim->now > sim->last_change + LIGHT_SWEEP + LIGHT_SWEEP;

	*bad = sim_judge_unreached(sim, &pairs, example, size);
	for (uint32_t i = 0; i < sim->nsms; i++) {
		const struct sim_sm *sm = &sim->sms[i];

		/* The next sweep may have begun when the line is read; none is so short. */
		quiet |= sm->pid && sm->last_up > sim->last_change &&
			 sm->last_up > sm->sweep_at + SIM_MS &&
			 (sm->last_up > sim->disturbed || sim->now > sim->disturbed + LIGHT_SWEEP);
	}
	quiet &= sim->now > sim->last_join + TREE_WRITTEN &&
		 sim->now > sim->last_tree + TREE_WRITTEN;
	quiet &= !sim->avoid.changed || sim->last_sweep > sim->avoid.changed;
	return !*bad && quiet &&
	       (all_joined(sim, find_master(sim)) || sim->now > sim->script->settling + JOIN_BOUND);
}

static void look_for_silence(struct sim *sim)
{
	for (uint32_t i = 0; i < sim->nsms; i++)
		if (sim->sms[i].pid && sim->now - sim->sms[i].last_sent > SILENCE)
			sim_find(sim, SIM_HUNG, "sm%u sends nothing since %.1f s%s", i,
				 (double)(sim->now - sim->sms[i].last_sent) / SIM_SECOND,
				 sim->sms[i].last_up ? "" : ", and was never up since it started");
}

/* Returns false if it is too early to say. */
static bool settle(struct sim *sim)
{
	bool joined;
	uint64_t bad, well = sim->script->settling;
	char example[160] = "";
	bool good = is_settled(sim, &bad, example, sizeof(example));

	if (!good && sim->now - sim->script->settling <
			     (sim->o.promises ? sim->o.within_s * SIM_SECOND : UNPROMISED))
		return false;
	if (bad && sim->o.promises)
		sim_find(sim, SIM_LOST, "%" PRIu64 " pairs do not work, first: %s", bad, example);
	look_for_silence(sim);
	for (uint32_t i = 0; i < sim->nsms; i++)
		if (sim->sms[i].last_up > well)
			well = sim->sms[i].last_up;
	/* A sweep that asks a sick switch takes long. */
	if ((good || sim->o.promises) && !is_any_sick(sim))
		sim_client_check(sim, well, QUERY_BOUND);
	sim_log_flush(sim, true);
	joined = all_joined(sim, find_master(sim)) && !is_any_sick(sim) && !is_any_keyed(sim);
	if (good)
		sim_judge_verify(sim, joined);
	if (good && sim->o.promises)
		sim_avoid_settled(sim);
	sim->not_joined += good && !all_joined(sim, find_master(sim));
	if (sim->now - sim->script->settling > sim->slowest_settling)
		sim->slowest_settling = sim->now - sim->script->settling;
	sim->settled_at = good ? sim->now : 0;
	sim->settled += good;
	sim->unsettled += !good;
	if (sim->o.verbose)
		sim_say(sim, "settled%s", good ? "" : " by the clock only");
	sim->script->settling = 0;
	return true;
}

/* Do one that was drawn, wherever it can be done. */
static bool apply_anywhere(struct sim *sim, struct sim_step *step)
{
	for (unsigned int i = 0; i < MOST_TRIES; i++) {
		sim_script_draw_args(sim, step);
		if (sim_apply(sim, step))
			return true;
	}
	return false;
}

static void do_step(struct sim *sim, struct sim_step step)
{
	struct sim_script *s = sim->script;
	bool done = s->random ? apply_anywhere(sim, &step) : sim_apply(sim, &step);
	bool settles = step.kind == SIM_STEP_SETTLE;

	/* What cannot be done has its moment all the same: turns end there. */
	if (!done)
		step.kind = SIM_STEP_WAIT;
	if (s->random)
		sim_script_add(s, &step);
	if (s->random && done) {
		s->drawn += !settles;
		s->since = settles ? 0 : s->since + 1;
	}
	if (settles)
		s->settling = sim->now;
	after(sim, settles ? SETTLE_LOOK : 0);
}

/* The next one; false: there is none. */
static bool take_step(struct sim *sim)
{
	struct sim_script *s = sim->script;

	if (s->pending) {
		s->pending = false;
		do_step(sim, s->step);
		return true;
	}
	if (s->random ? s->drawn >= sim->o.events : s->next == s->n)
		return false;
	s->step = s->random ? sim_script_draw(sim) : s->steps[s->next++];
	s->pending = true;
	after(sim, s->step.after_ms * SIM_MS);
	return true;
}

void sim_script_event(struct sim *sim)
{
	struct sim_script *s = sim->script;

	if (!s->granted) {
		s->granted = sim->now;
		sim_client_start(sim);
		s->asking = true;
	}
	/* Connections that there are from the beginning. */
	if (s->asking && !sim_client_is_done(sim) && sim->now < s->granted + ASKING) {
		after(sim, SETTLE_LOOK);
		return;
	}
	s->asking = false;
	if (s->settling && !settle(sim)) {
		after(sim, SETTLE_LOOK);
		return;
	}
	if (s->over) {
		sim->over = true;
		return;
	}
	if (take_step(sim))
		return;
	/* At last everything has to settle. */
	s->over = true;
	sim_apply(sim, &(struct sim_step){ .kind = SIM_STEP_SETTLE });
	s->settling = sim->now;
	after(sim, SETTLE_LOOK);
}
