/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * New tables step by step (rules A14; the argument is in lib/transition/waves.c).
 *
 * When OpenSM asks for tables and the switches hold others, it gets the old ones,
 * without entries for ports whose cables lead elsewhere now; a switch that has come
 * gets its new ones.  OpenSM sets SL-to-VL maps, waits for all answers and reports that
 * unicast routing is done.  That report comes from the sweeping thread, without a
 * lock; in it the plan is carried out (states.h), by OpenSM's own functions:
 *
 *	groups   multicast masks that both trees share, if the new tree must come last
 *	links    those that are not active get their OperVLs, then their maps, cut to
 *		 these, and go active: a cable that comes, while no entry names it yet,
 *		 and one that was down for a moment, or whose switch was; ports whose
 *		 cable OpenSM does not see go down
 *	maps     SL-to-VL maps, once more, until all are confirmed
 *	steps    of the plan: entries move, again until all are confirmed at each barrier;
 *		 where a step says so, wait for packets that met old entries
 *	open     the new entries
 *
 * Where maps change that packets meet, the steps are: close, drain, maps, open (plan.c).
 * Where any mixture is safe as it is, there are no steps before the last one.
 *
 * Then OpenSM goes on with its sweep: the multicast tables of the new tree, and
 * links, which are up already.  So a change is over before another sweep begins.  A
 * subnet manager that takes over in the middle finds a mixture that is safe, and may go on
 * from there when old packets have left.
 *
 * OpenSM's invariants.  Its lock is held while its tables are filled and sent,
 * as in its own passes, and not while answers are awaited, which need it.
 * `lft` is what switches have confirmed, and only OpenSM writes it.  `new_lft`,
 * by which path queries are answered, holds the tables of a step only while the
 * lock is held.  Forced writes (need_update) are made once, with the first pass.
 *
 * After a start, when a standby takes over, and when a step was not confirmed, the old
 * tables are read from the switches (recall.c), and may be those of another engine.
 * Multicast groups are closed unless the groups that the switches hold are a part of the
 * new tree.  Switches that were never set up hold nothing, and their links are not active:
 * OpenSM writes the new tables at once, and links wait until the maps are
 * confirmed, with their OperVLs where these were too low.  If an answer is missing, the
 * new tables are written at once, and the log says so.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "phases.h"
#include "drain.h"
#include "engine.h"
#include "log.h"
#include "maps.h"
#include "marks.h"
#include "phases_look.h"
#include "phases_plan.h"
#include "phases_report.h"
#include "phases_write.h"
#include "recall.h"
#include "sweep.h"

#define UNCONFIRMED "confirm forwarding entries, ports that go down, or SL-to-VL maps"
#define UNCLOSED "not all groups are closed"
#define SHRUNK "have the VLs that its maps use, so OpenSM changed these at once"
#define ASTRAY "answer along the path by which it was written"

/* From now on no packet meets what was there before; some that did are under way. */
static void phases_note_written(struct dl_engine *e, const struct dl_tables *t, const bool *lids)
{
	uint32_t hops = 0;

	/* Without memory the path is as long as it can be. */
	if (e->options.drain_ms < 0 && dl_transition_longest(t, lids, NULL, &hops))
		hops = t->fabric->nswitches;
	dl_drain_begin(e, hops ? hops : 1);
}

/* ---- beginning -------------------------------------------------------- */

/* Whether the switches hold, as has been read, what they should: nothing is to do. */
static bool phases_take_over(struct dl_engine *e)
{
	struct dl_phases *p = e->phases;

	dl_sweep_free(e->in_force);
	e->in_force = NULL;
	dl_recall_spare(e, p->opened.top_lid);
	if (p->plan.writes || p->plan.maps_changed || p->links_come || p->ghost_ports ||
	    p->trees_differ || p->blind)
		return false;
	e->phases = NULL;
	dl_phases_free(p);
	return true;
}

/* The new tables are written by OpenSM, without phases. */
static void phases_do_without(struct dl_engine *e, const char *why)
{
	if (why)
		dl_phases_report_unknown(e, why, &e->recall.silent);
	dl_change_enter(e, DL_CHANGE_WRITING);
}

static void phases_change_nothing(struct dl_engine *e)
{
	e->metrics.now.transition.result = DL_METRICS_UNCHANGED;
	e->wrote = false;
	dl_change_enter(e, DL_CHANGE_SETTLED);
}

/*
 * For how long has the subnet manager before this one written nothing, in seconds?  A
 * standby takes over when its last queries got no answer.
 */
static double phases_silence(const struct dl_engine *e)
{
	const osm_subn_opt_t *o = &e->osm->subn.opt;

	return e->osm->subn.coming_out_of_standby &&
			       e->osm->sm.retry_number > o->polling_retry_number ?
		       o->polling_retry_number * (o->sminfo_polling_timeout / 1000.0) :
		       0;
}

static void phases_begin_planned(struct dl_engine *e, struct dl_phases *p)
{
	e->phases = p;
	e->groups_shut = p->groups_shut;
	dl_drain_mark(e);
	p->grants_late = p->steps.grants_late && p->origin != DL_PHASES_FROM_NOTHING;
	if (p->steps.reconnect_pairs)
		dl_phases_report_reconnect(e, p);
	if (p->origin == DL_PHASES_FROM_NOTHING) {
		/* Nothing is under way, and what was is of another fabric. */
		dl_drain_forget(e);
		dl_sweep_free(e->in_force);
		e->in_force = NULL;
		e->metrics.now.transition.blocks = p->plan.writes;
		/* Else OpenSM's own maps are whole, and confirmed before links go active. */
		p->links_come = p->next->cut != 0;
		p->next->cut = 0;
		/* The plan need not wait in memory where nothing is closed. */
		if (p->direct && !p->plan.writes_close)
			dl_transition_release(&p->plan);
		dl_change_enter(e, DL_CHANGE_WAITING);
		return;
	}
	if (p->origin == DL_PHASES_FROM_SWITCHES) {
		phases_note_written(e, p->from->routed.tables, NULL);
		e->drain.left.since -= phases_silence(e);
		if (phases_take_over(e)) {
			phases_change_nothing(e);
			return;
		}
	}
	dl_phases_fill_all(e, p->plan.held);
	/* VLs that packets use, and that a port says it has no more. */
	if (p->doubt) {
		e->next_sweep = DL_NEXT_AT_ONCE;
	} else {
		dl_maps_count_cut(e, p->from, &p->doubtful);
		p->doubt = p->doubtful.n ? SHRUNK : NULL;
	}
	if (p->doubt) {
		e->unconfirmed = p->doubtful;
		dl_phases_report_unproven(e, p->doubt, "");
	}
	/* Neither asks for another sweep: see phases_write_maps(). */
	p->from->cut = p->next->cut = 0;
	dl_change_enter(e, DL_CHANGE_WAITING);
}

static void phases_begin_unplanned(struct dl_engine *e, const struct dl_sweep *next, bool known)
{
	phases_do_without(e, known ? "out of reach" : "not known");
	if (!known && !e->recall.set_up_before)
		return;
	dl_phases_find_doubtful_places(e, next, &e->unconfirmed);
	if (e->unconfirmed.n)
		dl_phases_report_unproven(e, DL_PHASES_PLACE_DOUBT, "");
}

void dl_phases_begin(struct dl_engine *e, struct dl_sweep *next, struct dl_phases *planned)
{
	struct dl_metrics_transition *m = &e->metrics.now.transition;
	bool known = dl_phases_are_known(e);

	m->phases = m->entries_closed = m->blocks = m->pairs_interrupted = 0;
	m->closed_seconds = 0;
	m->result = DL_METRICS_UNPROVEN;
	e->wrote = true;
	if (!next->proven || !e->options.transitions) {
		phases_do_without(e, NULL);
		return;
	}
	if (!planned && known && dl_phases_hold_already(e, next)) {
		phases_change_nothing(e);
		return;
	}
	if (planned)
		phases_begin_planned(e, planned);
	else
		phases_begin_unplanned(e, next, known);
	e->recall.known = false;
	if (!e->phases)
		dl_phases_forget_mixture(e);
}

void dl_phases_keep(struct dl_engine *e)
{
	bool proves = e->in_force->proven && e->options.transitions;

	if (dl_phases_are_known(e))
		return;
	e->metrics.now.transition.result = DL_METRICS_UNPROVEN;
	e->wrote = true;
	phases_do_without(e, proves ? "not known" : NULL);
	dl_phases_forget_mixture(e);
}

bool dl_phases_hold_maps(const struct dl_engine *e)
{
	return e->phases && e->phases->plan.maps_changed && e->change < DL_CHANGE_MAPS;
}

const struct dl_sweep *dl_phases_granting(const struct dl_engine *e)
{
	return e->phases && e->phases->grants_late && e->phases->origin == DL_PHASES_FROM_FORCE ?
		       e->phases->from :
		       e->in_force;
}

void dl_phases_abandon(struct dl_engine *e)
{
	struct dl_phases *p = e->phases;
	bool known = false;

	if (!p) {
		/* OpenSM has never reported that it wrote them. */
		if (e->change == DL_CHANGE_WRITING)
			dl_change_enter(e, DL_CHANGE_UNKNOWN);
		return;
	}
	if (p->origin == DL_PHASES_FROM_FORCE)
		known = dl_phases_keep_mixture(e, p);
	dl_marks_remember(e, e->in_force, p->origin == DL_PHASES_FROM_FORCE ? p->from : NULL);
	dl_sweep_free(e->in_force);
	e->in_force = NULL;
	if (p->origin == DL_PHASES_FROM_FORCE) {
		e->in_force = p->from;
		p->from = NULL;
	}
	dl_change_enter(e, known ? DL_CHANGE_SETTLED : DL_CHANGE_UNKNOWN);
	e->phases = NULL;
	dl_phases_free(p);
}

/* ---- the steps ------------------------------------------------------------ */

/* 0, -EIO (a switch does not confirm), -EAGAIN (in vain), -EINTR (OpenSM ends), -EPROTO. */
static int phases_enter(struct dl_engine *e, enum dl_change_state state)
{
	return e->change == state || dl_change_enter(e, state) ? 0 : -EPROTO;
}

/* Switches that have entries, before any has been closed: in others no packet waits. */
static bool *phases_held_switches(const struct dl_phases *p)
{
	const struct dl_tables *held = p->plan.held;
	bool *switches = calloc(held->fabric->nswitches + 1ul, sizeof(*switches));

	for (uint32_t s = 0; switches && s < held->fabric->nswitches; s++) {
		uint32_t lid = 1;

		while (lid <= held->top_lid && dl_tables_lft(held, s, lid) == DL_TABLES_NO_PORT)
			lid++;
		switches[s] = lid <= held->top_lid;
	}
	return switches;
}

/* Are there old tables to return to?  These must not name links that OpenSM raises. */
static bool phases_has_old_tables(const struct dl_phases *p)
{
	return p->origin == DL_PHASES_FROM_FORCE && !p->links_return;
}

/* If it stops here, is it known what packets that are under way have met? */
static bool phases_can_stop(const struct dl_phases *p)
{
	return phases_has_old_tables(p) && !p->plan.maps_changed && !p->doubt && !p->ghost_ports &&
	       (!p->mixed || (p->plan.history.whole && !p->links_come && !p->close_groups &&
			      dl_transition_keeps_sls(p->from->routed.tables, &p->opened)));
}

/*
 * Packets that met entries which have changed since leave, also those of the change before.
 * They are in these switches only; NULL: in any.
 */
static int phases_drain(struct dl_engine *e, struct dl_phases *p, const bool *switches)
{
	enum dl_drain_end how = DL_DRAIN_NONE;
	bool first = e->change == DL_CHANGE_WAITING;
	int err = !first && dl_drain_is_due(e) ? phases_enter(e, DL_CHANGE_DRAINING) : 0;
	bool *held = switches || !first ? NULL : phases_held_switches(p);

	if (!err)
		err = dl_drain_wait(e, &p->paths, switches ? switches : held,
				    !first && phases_can_stop(p), &how);
	free(held);
	if (err)
		return err;
	e->metrics.now.transition.drains[how]++;
	p->drained = how > p->drained ? how : p->drained;
	dl_transition_history_clear(&p->plan.history);
	p->plan.history.whole = how < DL_DRAIN_FIXED;
	p->plan.orphans.n = first ? p->plan.orphans.n : 0;
	return 0;
}

/* The maps of the new tables, before entries lead by them. */
static int phases_change_maps(struct dl_engine *e)
{
	int err = phases_enter(e, DL_CHANGE_MAPS);

	return err ? err : dl_phases_confirm_maps(e);
}

/* What the switches are to hold now, until all have confirmed it. */
static int phases_write_held(struct dl_engine *e, struct dl_phases *p)
{
	uint64_t *blocks = &e->metrics.now.transition.blocks, before = *blocks;
	int err = dl_phases_write_tables(e, p->plan.held, dl_phases_shown(p));

	if (*blocks != before)
		phases_note_written(e, &p->paths, p->plan.orphans.n ? NULL : p->left.lids);
	dl_transition_history_next(&p->plan.history);
	return err;
}

/*
 * Must packets leave before the steps are taken?  The plan says so of groups that it closes
 * and of orphans; it knows nothing of groups that are closed for reasons of the plugin's.
 */
static bool phases_drain_first(const struct dl_engine *e, const struct dl_phases *p)
{
	const struct dl_transition_step *first = p->steps.nsteps ? p->steps.steps : NULL;
	bool own = p->old_branches || p->ghost_ports || e->groups_shut;

	return p->steps.in_phases || (p->close_groups && own) ||
	       (first && first->drain &&
		(p->steps.closes_groups || first->kind == DL_TRANSITION_WAIT));
}

/*
 * Packets that must leave before the steps might close a loop over cables that come: they
 * leave before these are active.
 */
static int phases_drain_before_links(struct dl_engine *e, struct dl_phases *p)
{
	bool due = p->links_come && (p->plan.history.nearlier || p->plan.orphans.n) &&
		   p->origin != DL_PHASES_FROM_NOTHING && phases_drain_first(e, p);
	int err = due ? phases_enter(e, DL_CHANGE_DRAINING) : 0;

	return due && !err ? phases_drain(e, p, NULL) : err;
}

/* What comes before the steps. */
static int phases_prepare(struct dl_engine *e, struct dl_phases *p)
{
	/* Does the plan know of packets of the change before? */
	bool knows = p->origin == DL_PHASES_FROM_NOTHING || p->plan.history.whole;
	int err;

	/* What a path query gets from now on is not safe yet. */
	if (!dl_phases_shown(p)) {
		CL_PLOCK_EXCL_ACQUIRE(&e->osm->lock);
		dl_phases_hide(e, p);
		CL_PLOCK_RELEASE(&e->osm->lock);
	}
	err = knows ? 0 : phases_drain(e, p, NULL);
	if (p->plan.orphans.n)
		phases_note_written(e, &p->paths, NULL);
	/*
	 * What OpenSM has written: entries for cables that lead elsewhere now must be closed
	 * before these carry packets, and waves begin with it.
	 */
	if (!err && p->origin != DL_PHASES_FROM_NOTHING &&
	    (p->links_come || p->steps.nmoves || e->mixture))
		err = phases_write_held(e, p);
	if (!err && p->close_groups) {
		err = phases_enter(e, DL_CHANGE_GROUPS);
		if (!err)
			err = dl_phases_write_groups(e);
		phases_note_written(e, &p->paths, NULL);
	}
	if (!err)
		err = phases_drain_before_links(e, p);
	if (!err && (p->links_come || p->ghost_ports))
		err = phases_enter(e, DL_CHANGE_LINKS);
	if (!err && p->ghost_ports) {
		err = dl_phases_drop_links(e);
		phases_note_written(e, &p->paths, NULL);
	}
	if (!err && p->links_come)
		err = dl_phases_raise_links(e, p);
	p->links_return &= err != 0;
	if (err || p->origin == DL_PHASES_FROM_NOTHING)
		return err ? err : phases_change_maps(e);
	if (phases_drain_first(e, p)) {
		/* The step that closes groups is not taken again; others count their own. */
		p->drains += p->steps.closes_groups && p->steps.steps[0].drain;
		err = phases_drain(e, p, NULL);
	}
	p->grants_late &= p->steps.in_phases;
	if (!err && !p->plan.maps_changed)
		err = phases_change_maps(e);
	return err;
}

static void phases_move_entry(struct dl_phases *p, uint32_t s, uint16_t lid, uint8_t port)
{
	uint8_t *held = &p->plan.held->lft[s * (size_t)p->plan.held->stride + lid];

	dl_transition_history_add(&p->plan.history, s, lid, *held);
	*held = port;
}

/* The moves until the next barrier, from number `at` on: returns where that is. */
static uint32_t phases_move(struct dl_phases *p, uint32_t at)
{
	const struct dl_transition_move *first = &p->steps.moves[at], *m = first;

	for (; at < p->steps.nmoves && m->step == first->step && m->barrier == first->barrier;
	     m = &p->steps.moves[++at])
		phases_move_entry(p, m->sw, m->lid, m->port);
	return at;
}

/* A step; the entries that an OPEN step of phases writes are those of the new tables. */
static int phases_take_step(struct dl_engine *e, struct dl_phases *p, uint32_t i, uint32_t *at)
{
	const struct dl_transition_step *step = &p->steps.steps[i];
	const struct dl_tables *closed = p->plan.closed;
	int err = 0;

	if (step->kind == DL_TRANSITION_MAPS)
		return phases_change_maps(e);
	if (step->kind == DL_TRANSITION_CLOSE && !p->closed_at)
		p->closed_at = dl_clock_monotonic();
	if (p->steps.in_phases && step->kind == DL_TRANSITION_CLOSE) {
		memcpy(p->plan.held->lft, closed->lft,
		       closed->fabric->nswitches * (size_t)closed->stride);
		err = phases_enter(e, DL_CHANGE_MOVING);
		if (!err)
			err = phases_write_held(e, p);
	}
	while (!err && *at < p->steps.nmoves && p->steps.moves[*at].step == i) {
		*at = phases_move(p, *at);
		p->mixed = true;
		err = phases_enter(e, DL_CHANGE_MOVING);
		if (!err)
			err = phases_write_held(e, p);
	}
	if (err || !step->drain)
		return err;
	p->drains++;
	err = phases_drain(e, p, p->close_groups ? NULL : p->left.switches);
	p->grants_late = false;
	return err;
}

/* The closing of groups, which may come first, has been done. */
static int phases_take_steps(struct dl_engine *e, struct dl_phases *p)
{
	uint32_t at = 0;
	int err = 0;

	for (uint32_t i = p->steps.closes_groups; i < p->steps.nsteps && !err; i++)
		err = phases_take_step(e, p, i, &at);
	return err;
}

/* All entries that have not moved yet. */
static void phases_move_rest(struct dl_phases *p)
{
	const struct dl_tables *held = p->plan.held;

	for (uint32_t s = 0; p->plan.history.whole && s < held->fabric->nswitches; s++)
		for (uint32_t lid = 1; lid <= held->top_lid; lid++) {
			uint8_t port = dl_tables_lft(&p->opened, s, lid);

			if (dl_tables_lft(held, s, lid) != port)
				phases_move_entry(p, s, lid, port);
		}
	dl_transition_history_next(&p->plan.history);
}

static int phases_open(struct dl_engine *e, struct dl_phases *p)
{
	int err = phases_enter(e, DL_CHANGE_OPENING);

	/* The new tables are shown from now on, also where a step before has failed. */
	p->grants_late = false;
	phases_move_rest(p);
	if (!err)
		err = dl_phases_write_tables(e, &p->opened, &p->opened);
	if (p->origin != DL_PHASES_FROM_NOTHING)
		phases_note_written(e, &p->opened, p->left.lids);
	if (p->closed_at)
		p->closed_for = dl_clock_monotonic() - p->closed_at;
	return err;
}

/* What is written stays, until the next sweep. */
static void phases_stop(struct dl_engine *e, bool in_vain)
{
	struct dl_phases *p = e->phases;
	char text[384];

	e->metrics.now.transition.result = DL_METRICS_UNFINISHED;
	if (in_vain)
		DL_SAY(e->osm, OSM_LOG_INFO,
		       "transition: something failed while old packets had to leave, and a switch "
		       "does not answer: the change stops here, and a sweep follows");
	else
		DL_SAY(e->osm, OSM_LOG_ERROR,
		       "ERR DL26: %s: the change stops here, and the new tables wait for the next "
		       "sweep",
		       dl_osm_names_say(&e->unconfirmed, UNCONFIRMED, UNCLOSED, text,
					sizeof(text)));
	if (!p->mixed && phases_can_stop(p))
		dl_drain_return(e);
	else if (in_vain)
		dl_drain_remember_back(e, &p->plan, &p->old_of);
	/*
	 * OpenSM goes on with this sweep, and would raise them, where the maps are of either
	 * tables, or those of a switch that has been without power meanwhile.
	 */
	dl_phases_hold_links(e, NULL, true);
	CL_PLOCK_EXCL_ACQUIRE(&e->osm->lock);
	dl_phases_fill_all(e, p->plan.held);
	dl_phases_hide(e, p);
	dl_phases_abandon(e);
	CL_PLOCK_RELEASE(&e->osm->lock);
	e->next_sweep = DL_NEXT_AT_ONCE;
}

/* Which ports' maps does OpenSM still cut? */
static void phases_count_cut(struct dl_engine *e)
{
	CL_PLOCK_EXCL_ACQUIRE(&e->osm->lock);
	dl_maps_count_cut(e, e->in_force, NULL);
	CL_PLOCK_RELEASE(&e->osm->lock);
}

/*
 * Can packets that are under way have met nothing but the ports that were noted, and groups on
 * the old tree?
 */
static bool phases_know_what_is_left(const struct dl_engine *e, const struct dl_phases *p)
{
	return p->plan.history.whole && p->origin == DL_PHASES_FROM_FORCE && !p->ghost_ports &&
	       !p->links_return && !e->groups_shut && !p->plan.maps_changed &&
	       (!p->close_groups || p->drains) &&
	       dl_transition_keeps_sls(p->from->routed.tables, &p->opened);
}

static void phases_finish(struct dl_engine *e, bool confirmed, bool unproven)
{
	struct dl_phases *p = e->phases;
	bool settled;

	if (!unproven)
		dl_phases_report(e, p);
	phases_count_cut(e);
	/*
	 * What the last writes left is a mixture, unless all else was closed before, or
	 * the old ones are a part.  Whoever did not confirm a step may have old maps, too.
	 */
	settled = !unproven && (confirmed || (p->direct ? !p->plan.writes_close : !p->mixed));
	dl_change_enter(e, settled ? DL_CHANGE_SETTLED : DL_CHANGE_UNKNOWN);
	if (settled && confirmed && phases_know_what_is_left(e, p)) {
		/* They were, and what they had sent has left. */
		if (p->close_groups)
			dl_tables_free_groups(p->plan.held);
		dl_drain_remember(e, &p->plan);
	}
	dl_phases_forget_mixture(e);
	/* OpenSM writes the new tree next, and not all switches may confirm it. */
	e->branches_left |= p->trees_differ || p->dead_trees;
	e->drain.given_up = false;
	e->phases = NULL;
	dl_phases_free(p);
}

/* OpenSM has written what was proven before, or without a plan. */
static void phases_report_written(struct dl_engine *e)
{
	struct dl_metrics_transition *m = &e->metrics.now.transition;

	if (e->options.transitions && m->result == DL_METRICS_UNCHANGED) {
		if (dl_phases_confirm_maps(e) == -EIO) {
			m->result = DL_METRICS_UNPROVEN;
			dl_phases_report_unknown(e, "not confirmed", &e->unconfirmed);
		}
		dl_phases_look_at_links(e, NULL);
	}
	e->branches_left |= e->change == DL_CHANGE_WRITING;
	if (e->change == DL_CHANGE_WRITING)
		phases_note_written(e, e->in_force->routed.tables, NULL);
	if (e->change != DL_CHANGE_SETTLED)
		dl_change_enter(e, dl_phases_missing_blocks(e, e->in_force->routed.tables) ?
					   DL_CHANGE_UNKNOWN :
					   DL_CHANGE_SETTLED);
}

/* Whether the change is over; not if OpenSM ends. */
static bool phases_run(struct dl_engine *e, bool rerouted)
{
	struct dl_phases *p = e->phases;
	bool trees_differ = p->trees_differ, unproven;
	int err = phases_prepare(e, p);

	if (!err)
		err = phases_take_steps(e, p);
	/* There may be no old tables to return to, or these name links that OpenSM raises. */
	unproven = err == -EIO && !phases_has_old_tables(p);
	if ((err == -EIO && !unproven) || err == -EAGAIN) {
		phases_stop(e, err == -EAGAIN);
		return true;
	}
	if (unproven)
		dl_phases_report_unproven(e, UNCONFIRMED, UNCLOSED);
	if (!err || unproven)
		err = phases_open(e, p);
	if (err == -EINTR || err == -EPROTO || dl_phases_look_at_links(e, p))
		return false;
	if (!err && !unproven && dl_phases_confirm_paths(e)) {
		dl_phases_report_unproven(e, ASTRAY, "a switch does not answer");
		e->next_sweep = DL_NEXT_AT_ONCE;
		unproven = true;
	}
	unproven = unproven || p->doubt;
	phases_finish(e, !err, unproven);
	/* A heavy sweep goes on with the groups; this one does not. */
	return !rerouted || !trees_differ || dl_phases_write_groups(e) != -EINTR;
}

void dl_phases_run(struct dl_engine *e, bool rerouted)
{
	struct dl_metrics_transition *m = &e->metrics.now.transition;

	if (dl_engine_tables(e) && !e->phases)
		phases_report_written(e);
	else if (dl_engine_tables(e) && !phases_run(e, rerouted) && osm_exit_flag)
		return;
	dl_recall_spare_end(e);
	if (!dl_engine_tables(e))
		return;
	if (m->result != DL_METRICS_TRANSITIONS)
		m->total[m->result]++;
	m->result = DL_METRICS_TRANSITIONS;
}
