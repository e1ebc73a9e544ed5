/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tables that change write by write, as a subnet manager changes them.
 *
 * A write is a block of a switch: one SMP.  Each takes effect some time after
 * the one before.  With n of them in flight any of the n that were sent first
 * may be the next to arrive, so that each order is possible in which none
 * overtakes n or more.
 *
 * Directly the new tables are written over the old ones.  Otherwise the steps of the
 * plan are carried out that the engine carries out, too (rules A14,
 * lib/transition/waves.c): a list of writes for each barrier, and a wait where a step has
 * a drain.  SL-to-VL maps, VL arbitration and path SLs change together: directly
 * when the forwarding tables are written, as OpenSM does it; step by step before the
 * first write, or, where packets meet maps that change, before entries are opened.
 *
 * The emulator reads the tables of a rewrite where they are changed: nothing
 * runs then, and what was looked up ahead is forgotten with the first of them.
 * They are kept to the end, as it keeps what it has compiled by their address.
 *
 * Other tables that come in the middle find what has been written by then, as
 * a subnet manager does that takes over.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/scenario.h"

#define STREAM 0xE9000000 /* of random numbers */

/* From now on these tables are in force, and this is theirs to free. */
static int take_tables(struct dl_emu_rewrite *w, struct dl_emu *e, struct dl_tables *t)
{
	if (!dl_array_room(w->kept, w->nkept, 1, &w->kept_cap)) {
		dl_tables_free(t);
		return -ENOMEM;
	}
	w->kept[w->nkept++] = t;
	w->now = t;
	return dl_emu_swap_tables(e, t);
}

/* Tables outlive the plan, and so must their fabric. */
static int keep_wide(struct dl_emu_rewrite *w)
{
	if (!w->plan.wide)
		return 0;
	if (!dl_array_room(w->wide, w->nwide, 1, &w->wide_cap))
		return -ENOMEM;
	w->wide[w->nwide++] = w->plan.wide;
	w->plan.wide = NULL;
	return 0;
}

/* Groups, as other tables have them. */
static int rewrite_take_groups(struct dl_tables *t, const struct dl_tables *from)
{
	for (uint32_t g = 0; g < t->ngroups; g++) {
		const struct dl_tables_mcast_group *other =
			dl_tables_find_group(from, t->groups[g].mlid);

		dl_tables_masks_clear(&t->groups[g].masks);
		if (other && dl_tables_masks_copy(&t->groups[g].masks, &other->masks))
			return -ENOMEM;
	}
	return 0;
}

/* Maps, arbitration and path SLs of the new set, and the entries as they are. */
static int take_maps(struct dl_emu_rewrite *w, struct dl_emu *e)
{
	const struct dl_tables *held = w->now;
	struct dl_tables *t;
	int err = dl_transition_copy(w->plan.opened, held, &t);

	if (err)
		return err;
	memcpy(t->lft, held->lft, held->fabric->nswitches * (size_t)held->stride);
	err = rewrite_take_groups(t, held);
	if (err)
		dl_tables_free(t);
	return err ? err : take_tables(w, e, t);
}

static void swap_writes(struct dl_transition_write *a, struct dl_transition_write *b)
{
	struct dl_transition_write c = *a;

	*a = *b;
	*b = c;
}

/* The writes that lead to these tables. */
static int list_rewrite(struct dl_emu_rewrite *w, const struct dl_tables *to)
{
	bool any = w->options->order == DL_TRANSITION_ANY;
	int err;

	free(w->writes);
	w->writes = NULL;
	w->at = w->n = w->maps = 0;
	w->to = to;
	err = dl_transition_writes(w->now, to, &w->writes, &w->n);
	if (err)
		return err;
	for (uint32_t i = w->n; any && i > 1; i--)
		swap_writes(&w->writes[i - 1], &w->writes[dl_random_below(&w->random, i)]);
	if (w->options->direct && any)
		w->maps = dl_random_below(&w->random, w->n + 1);
	while (w->options->direct && !any && w->maps < w->n && !w->writes[w->maps].multicast)
		w->maps++;
	return 0;
}

/* The next one to arrive, of those under way; none passes the maps. */
static int write_next(struct dl_emu_rewrite *w)
{
	uint32_t last = w->at < w->maps ? w->maps : w->n, n = last - w->at;
	struct dl_transition_write next;
	uint32_t k;

	if (n > w->options->in_flight)
		n = w->options->in_flight;
	k = dl_random_below(&w->random, n);
	next = w->writes[w->at + k];
	/* The others keep their order. */
	memmove(&w->writes[w->at + 1], &w->writes[w->at], k * sizeof(next));
	w->at++;
	return dl_transition_put(w->now, w->to, &next);
}

/* ---- the steps of a plan ------------------------------------------------------ */

static bool rewrite_is_moving(const struct dl_emu_rewrite *w)
{
	return w->move < w->steps.nmoves && w->steps.moves[w->move].step == w->step;
}

/* What the switches are to hold at the next barrier of a step, and whether it is the last. */
static int rewrite_aim(struct dl_emu_rewrite *w, const struct dl_transition_step *step, bool *last)
{
	const struct dl_tables *set = step->kind == DL_TRANSITION_CLOSE ? w->plan.closed :
									  w->plan.opened;
	struct dl_tables *aim = w->aim;
	uint32_t barrier;

	*last = true;
	if (w->steps.in_phases)
		memcpy(aim->lft, set->lft, set->fabric->nswitches * (size_t)set->stride);
	if (!rewrite_is_moving(w))
		return rewrite_take_groups(aim, set);
	barrier = w->steps.moves[w->move].barrier;
	for (; rewrite_is_moving(w) && w->steps.moves[w->move].barrier == barrier; w->move++) {
		const struct dl_transition_move *m = &w->steps.moves[w->move];

		aim->lft[m->sw * (size_t)aim->stride + m->lid] = m->port;
	}
	*last = !rewrite_is_moving(w);
	return 0;
}

/* The writes until the next barrier; behind all steps, what the new tables have besides. */
static int rewrite_take_step(struct dl_emu_rewrite *w)
{
	const struct dl_transition_step end = { .kind = DL_TRANSITION_OPEN };
	const struct dl_transition_step *step =
		w->step < w->steps.nsteps ? &w->steps.steps[w->step] : &end;
	bool last = true;
	int err = 0;

	if (step == &end)
		err = list_rewrite(w, w->plan.opened);
	else if (step->kind != DL_TRANSITION_MAPS && step->kind != DL_TRANSITION_WAIT) {
		err = rewrite_aim(w, step, &last);
		if (!err)
			err = list_rewrite(w, w->aim);
	}
	w->opening = step->kind == DL_TRANSITION_OPEN;
	w->drain = last && step->drain;
	w->step += last;
	return err;
}

/* The next writes of the plan; or time passes, where the step before has a drain. */
static int rewrite_next(struct dl_emu_rewrite *w, uint64_t now)
{
	int err = 0;

	while (!err && w->at == w->n && w->step <= w->steps.nsteps && w->next <= now) {
		if (w->drain) {
			w->drain = false;
			w->next = now + w->options->drain;
			continue;
		}
		err = rewrite_take_step(w);
	}
	return err;
}

int dl_emu_rewrite_step(struct dl_emu_rewrite *w, struct dl_emu *e, uint64_t now)
{
	bool direct = w->options->direct;
	int err = direct ? 0 : rewrite_next(w, now);

	if (err || w->next > now)
		return err;
	if (!w->mapped && (direct ? w->at == w->maps : !w->steps.in_phases || w->opening)) {
		w->mapped = true;
		err = take_maps(w, e);
	}
	if (!err && w->at < w->n)
		err = write_next(w);
	w->next = now + w->options->smp;
	if (w->at == w->n && w->mapped && (direct || w->step > w->steps.nsteps))
		w->next = UINT64_MAX;
	return err;
}

static void rewrite_release(struct dl_emu_rewrite *w)
{
	dl_transition_waves_release(&w->steps);
	dl_tables_free(w->aim);
	w->aim = NULL;
	dl_transition_release(&w->plan);
}

int dl_emu_rewrite_begin(struct dl_emu_rewrite *w, struct dl_emu *e,
			 const struct dl_emu_action *action, const struct dl_tables *from,
			 uint64_t seed)
{
	struct dl_tables *held;
	int err;

	rewrite_release(w);
	w->options = action->rewrite;
	w->random = (struct dl_random){ seed, STREAM + action->order, 0 };
	w->next = action->at;
	w->mapped = w->drain = w->opening = false;
	w->at = w->n = w->step = w->move = 0;
	err = dl_transition_plan(from, action->tables, &w->plan);
	if (!err)
		err = keep_wide(w);
	if (!err)
		err = dl_transition_copy(w->plan.held, w->plan.opened, &held);
	if (!err)
		err = take_tables(w, e, held);
	if (!err && w->options->direct)
		return list_rewrite(w, w->plan.opened);
	if (!err)
		err = dl_transition_copy(w->plan.held, w->plan.opened, &w->aim);
	return err ? err : dl_transition_waves(&w->plan, dl_transition_work(&w->plan), &w->steps);
}

struct dl_emu_rewrite *dl_emu_rewrite_new(void)
{
	struct dl_emu_rewrite *w = calloc(1, sizeof(*w));

	if (w)
		w->next = UINT64_MAX;
	return w;
}

void dl_emu_rewrite_free(struct dl_emu_rewrite *w)
{
	if (!w)
		return;
	rewrite_release(w);
	for (uint32_t i = 0; i < w->nkept; i++)
		dl_tables_free(w->kept[i]);
	for (uint32_t i = 0; i < w->nwide; i++)
		dl_transition_free_wide(w->wide[i]);
	free(w->kept);
	free(w->wide);
	free(w->writes);
	free(w);
}
