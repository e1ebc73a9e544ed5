/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A plan for a whole change of tables: waves of entries (waves.c), and before and after
 * them groups, maps and path SLs (rules A14).
 *
 * Groups.  If the ports of both sets together fit what is there, masks move at any time;
 * or else after the last wave, if they fit then.  Otherwise groups keep the ports of both
 * sets only (plan.c), from before the first wave until after the last; what they had sent
 * counts until the first drain, which must be over before they get new ports.  If a plan closes
 * what pairs of end ports need, it is made once more with longer detours, and then with groups
 * that keep no port meanwhile; each is taken if it interrupts fewer pairs.
 *
 * Maps that change are met by no packet: then entries are closed as plan.c says, and the
 * steps are its phases.
 *
 * Path SLs that change.  A connection keeps the SL that it was granted.  If the new tables
 * are not safe with the old SLs, too, the pairs whose SL changes must reconnect, and there
 * is no safe order.  New SLs are granted at once; but where the first step closes entries or
 * groups, and the old tables are not safe with new SLs before it, after this step.
 *
 * Complexity: up to five plans of waves.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transition/waves.h"

/* How groups change, in the order of tries. */
enum waves_groups {
	WAVES_JOINED, /* at any time: the ports of both sets fit */
	WAVES_AFTER,  /* after the entries */
	WAVES_CLOSED, /* only the ports of both sets stay, until after the entries */
	WAVES_EMPTY   /* no ports stay, until after the entries */
};

/* A step of one barrier, if there is anything to write; or a wait. */
static int waves_plain_step(struct waves *w, enum dl_transition_kind kind, uint64_t entries,
			    uint64_t writes, bool drain)
{
	struct dl_transition_step *step;

	if (!entries && kind != DL_TRANSITION_WAIT)
		return 0;
	step = dl_waves_step(w, kind);
	if (!step)
		return -ENOMEM;
	step->entries = entries;
	step->writes = writes;
	step->barriers = entries != 0;
	step->drain = drain;
	w->out->needs_drain |= drain;
	return 0;
}

/* ---- groups, and what waves cannot do ------------------------------------------- */

/* Entries and ports of groups that differ. */
static uint64_t waves_differences(const struct dl_tables *a, const struct dl_tables *b)
{
	uint64_t n = dl_transition_mask_ports(a, b) + dl_transition_mask_ports(b, a);

	for (uint32_t s = 0; s < a->fabric->nswitches; s++)
		for (uint32_t lid = dl_tables_next_change(a, b, s, 0); lid < a->stride;
		     lid = dl_tables_next_change(a, b, s, lid + 1))
			n++;
	return n;
}

/* Close, drain, open, each in any order. */
static int waves_phases(struct waves *w, struct dl_transition *t)
{
	uint64_t opened = waves_differences(t->closed, t->opened);
	int err = dl_transition_check_phases(t, &w->out->safe);

	if (!err)
		err = dl_transition_interrupted(t, w->out);
	if (!err)
		err = waves_plain_step(w, DL_TRANSITION_CLOSE,
				       waves_differences(t->held, t->closed), t->writes_close,
				       true);
	/* Where nothing is closed, packets that had passed a cable which has gone leave first. */
	if (!err && !w->out->nsteps && (t->orphans.n || t->history.nearlier) &&
	    (t->maps_changed || opened))
		err = waves_plain_step(w, DL_TRANSITION_WAIT, 0, 0, true);
	if (!err && t->maps_changed)
		err = waves_plain_step(w, DL_TRANSITION_MAPS, t->maps_changed, 0, false);
	if (!err)
		err = waves_plain_step(w, DL_TRANSITION_OPEN, opened, t->writes_open, false);
	w->out->in_phases = true;
	w->out->entries_closed = t->entries_closed;
	w->out->mask_ports_closed = t->mask_ports_closed;
	w->out->pairs_interrupted = t->pairs_interrupted;
	return err;
}

/* Groups get the ports of the new tables: do these fit, at the latest after a drain? */
static int waves_move_groups(struct waves *w, enum waves_groups groups)
{
	const struct dl_transition *t = w->t;
	bool closed = groups >= WAVES_CLOSED;
	const struct dl_tables *before = closed ? t->closed : t->held;
	uint64_t n = dl_transition_mask_ports(before, t->opened) +
		     dl_transition_mask_ports(t->opened, before);
	/* A packet that came by a closed port must not go on by a new one. */
	bool leaving = w->out->closes_groups && !w->out->needs_drain;
	int err = leaving ? dl_waves_drain(w) : 0;

	if (!err && groups != WAVES_JOINED)
		err = dl_verify_moving_join(w->moving, t->opened);
	if (err == -ELOOP) {
		err = dl_waves_drain(w);
		if (!err)
			err = dl_verify_moving_join(w->moving, t->opened);
	}
	if (err == -ELOOP && closed) {
		w->out->safe = false;
		err = 0;
	}
	if (err)
		return err;
	return waves_plain_step(w, closed ? DL_TRANSITION_OPEN : DL_TRANSITION_MOVE, n,
				dl_transition_mft_writes(before, t->opened), false);
}

static int waves_plan(struct waves *w, enum waves_groups groups)
{
	const struct dl_transition *t = w->t;
	uint64_t shut = dl_transition_mask_ports(t->held, t->closed);
	int err = dl_waves_init(w);

	/* Nor are they with new path SLs. */
	w->out->grants_late = w->drains_first;
	if (!err && groups >= WAVES_CLOSED) {
		w->out->mask_ports_closed = shut;
		w->out->closes_groups = shut != 0;
		w->out->empties_groups = groups == WAVES_EMPTY;
		err = waves_plain_step(w, DL_TRANSITION_CLOSE, shut,
				       dl_transition_mft_writes(t->held, t->closed),
				       w->drains_first);
	}
	/* Those that came by a cable which leads elsewhere now meet maps that change. */
	if (!err && (w->drains_first ? !shut : t->orphans.moved))
		err = dl_waves_drain(w);
	if (!err)
		err = dl_waves_run(w);
	return err ? err : waves_move_groups(w, groups);
}

/* What only planning needs. */
static void waves_leave(struct waves *w)
{
	w->followed += dl_verify_moving_followed(w->moving);
	dl_verify_moving_free(w->moving);
	dl_arena_free(&w->arena);
}

/* Forget a plan, but for the pairs that must reconnect. */
static void waves_restart(struct waves *w)
{
	struct dl_transition_waves kept = { .reconnect_pairs = w->out->reconnect_pairs,
					    .reconnect_adapters = w->out->reconnect_adapters,
					    .safe = true };

	waves_leave(w);
	dl_transition_waves_release(w->out);
	*w = (struct waves){ .t = w->t,
			     .f = w->f,
			     .work = w->work,
			     .followed = w->followed,
			     .out = w->out,
			     .used = w->used,
			     .transit = w->transit,
			     .wanted = w->wanted,
			     .nwanted = w->nwanted,
			     .wanted_cap = w->wanted_cap,
			     .is_wanted = w->is_wanted,
			     .kept = w->kept };
	*w->out = kept;
}

/* With groups in one way: 0, or -ELOOP if they do not fit. */
static int waves_try_groups(struct waves *w, struct dl_transition *t, enum waves_groups groups)
{
	const struct dl_tables *before[] = { [WAVES_JOINED] = t->opened,
					     [WAVES_AFTER] = t->held,
					     [WAVES_CLOSED] = t->closed,
					     [WAVES_EMPTY] = t->closed };
	struct dl_verify_change change = { .held = t->held,
					   .closed = t->closed,
					   .opened = t->opened,
					   .groups = before[groups],
					   .joined = groups == WAVES_JOINED ? t->held : NULL,
					   .leaving = groups >= WAVES_CLOSED ? t->held : NULL,
					   .orphans = &t->orphans,
					   .earlier = t->history.earlier,
					   .nearlier = t->history.nearlier,
					   .times = t->history.times,
					   .kept = &w->kept };
	int err;

	waves_restart(w);
	change.extra = w->wanted;
	change.nextra = w->nwanted;
	err = dl_verify_moving_new(&change, &w->moving);
	/* With their packets the old tables are not safe as they are: these leave at once. */
	if (err == -ELOOP && change.leaving) {
		change.leaving = NULL;
		change.orphans = NULL;
		change.nearlier = change.times = 0;
		w->drains_first = true;
		err = dl_verify_moving_new(&change, &w->moving);
	}
	return err ? err : waves_plan(w, groups);
}

/* Once more, with longer detours: does that interrupt fewer pairs? */
static int waves_try_again(struct waves *w, struct dl_transition *t, enum waves_groups groups)
{
	struct dl_transition_waves first = *w->out;
	bool better;
	int err;

	*w->out = (struct dl_transition_waves){ .reconnect_pairs = first.reconnect_pairs,
						.reconnect_adapters = first.reconnect_adapters };
	err = waves_try_groups(w, t, groups);
	better = !err && w->out->safe && w->out->pairs_interrupted < first.pairs_interrupted;
	dl_transition_waves_release(better ? &first : w->out);
	if (!better)
		*w->out = first;
	return err == -ELOOP ? 0 : err;
}

/* Groups without a port are in nobody's way. */
static int waves_try_empty(struct waves *w, struct dl_transition *t)
{
	uint32_t n = t->closed->ngroups;
	struct dl_tables_masks *closed = calloc(n + 1ul, sizeof(*closed));
	int err;

	if (!closed)
		return -ENOMEM;
	for (uint32_t g = 0; g < n; g++) {
		closed[g] = t->closed->groups[g].masks;
		t->closed->groups[g].masks = (struct dl_tables_masks){
			.nswitches = closed[g].nswitches,
		};
	}
	err = waves_try_again(w, t, WAVES_EMPTY);
	for (uint32_t g = 0; g < n; g++) {
		struct dl_tables_masks *masks = &t->closed->groups[g].masks;

		dl_tables_masks_clear(w->out->empties_groups ? &closed[g] : masks);
		if (!w->out->empties_groups)
			*masks = closed[g];
	}
	free(closed);
	return err;
}

/* ---- path SLs -------------------------------------------------------------------- */

/* How many pairs must reconnect, as the new tables are not safe with the SLs of before? */
static int waves_reconnect(const struct dl_transition *t, struct dl_transition_waves *out)
{
	struct dl_tables_changes sls = { 0 };
	struct dl_fabric_match itself;
	bool safe = true, own = true;
	int err = dl_fabric_match(t->held->fabric, t->opened->fabric, &itself);

	if (!err)
		err = dl_tables_compare_sls(t->held, t->opened, &itself, &sls);
	dl_fabric_match_release(&itself);
	if (!err && sls.changed)
		err = dl_verify_granted(t->opened, t->held, false, &safe);
	if (!err && !safe)
		err = dl_verify_granted(t->opened, t->held, true, &own);
	out->reconnect_pairs = safe ? 0 : sls.changed;
	out->reconnect_adapters = !own;
	return err;
}

/* May what is held close a credit loop with the path SLs of the new tables? */
static int waves_grants_late(const struct dl_transition *t, bool *late)
{
	bool safe = true;
	int err = 0;

	if (t->opened->psl && !dl_tables_same_vls(t->held, t->opened))
		err = dl_verify_granted(t->held, t->opened, false, &safe);
	*late = !safe;
	return err;
}

/* ---- all --------------------------------------------------------------------------- */

static void waves_sum(struct dl_transition_waves *out)
{
	uint64_t since = 0;
	bool closed = false;

	for (uint32_t i = 0; i < out->nsteps; i++) {
		const struct dl_transition_step *step = &out->steps[i];

		out->writes += step->writes;
		closed |= step->kind == DL_TRANSITION_CLOSE;
		since += closed ? step->writes : 0;
		if (closed && step->kind == DL_TRANSITION_OPEN)
			out->interrupted_writes = since;
	}
	if (!out->pairs_interrupted)
		out->interrupted_writes = 0;
}

uint64_t dl_transition_work(const struct dl_transition *t)
{
	return 3000000 + (uint64_t)t->held->fabric->nswitches * t->held->top_lid;
}

int dl_transition_waves(struct dl_transition *t, uint64_t work, struct dl_transition_waves *out)
{
	struct waves w = { .t = t, .f = t->opened->fabric, .work = work, .out = out };
	unsigned int ways = t->held->ngroups || t->opened->ngroups ? WAVES_EMPTY : 1, way = 0;
	int err;

	memset(out, 0, sizeof(*out));
	err = waves_reconnect(t, out);
	if (!err && (!work || t->maps_changed || out->reconnect_pairs))
		ways = 0;
	if (!err)
		err = -ELOOP;
	while (way < ways && err == -ELOOP)
		err = waves_try_groups(&w, t, way++);
	/* With the same entries the plan would be the same. */
	if (!err && out->pairs_interrupted && w.nwanted && !dl_waves_are_spent(&w))
		err = waves_try_again(&w, t, way - 1);
	if (!err && out->pairs_interrupted && ways > 1 && !dl_waves_are_spent(&w))
		err = waves_try_empty(&w, t);
	/* There is none, or what the switches hold is not safe as it is. */
	if (err == -ELOOP) {
		waves_restart(&w);
		err = waves_phases(&w, t);
	}
	if (!err && !out->grants_late && (out->in_phases || out->closes_groups))
		err = waves_grants_late(t, &out->grants_late);
	free(w.used);
	free(w.transit);
	free(w.wanted);
	free(w.is_wanted);
	free(w.kept);
	waves_sum(out);
	waves_leave(&w);
	out->followed = w.followed;
	if (err)
		dl_transition_waves_release(out);
	return err;
}

void dl_transition_waves_release(struct dl_transition_waves *w)
{
	free(w->steps);
	free(w->moves);
	free(w->stops);
	memset(w, 0, sizeof(*w));
}
