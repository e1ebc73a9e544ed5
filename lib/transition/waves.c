/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Waves: a change of tables that closes hardly anything (rules A14).
 *
 * Problem.  Close, drain, open (plan.c) interrupts every pair whose entries move back
 * after a repair.  Most entries can move while nothing is closed, if they move in the
 * right order.
 *
 * Method.  For each LID entries move in waves from the destination outward: one is ready
 * when all switches on its new path have written theirs, and have confirmed it.  All
 * waves of a LID are planned at once, or else wave by wave, or entry by entry, if the
 * dependencies of all packets that can be under way stay free of cycles (verify/moving.c),
 * whatever mixture of old and new entries they meet; a barrier, at which all writes are
 * confirmed, ends each wave.  When no entry can move any more, a drain lets old packets
 * leave, while nothing is closed, and what they alone made wait vanishes.  Where a drain
 * does not help either, the entries that are in the way of most others take a detour by a
 * third port (waves_detour.c), or are closed for a while.  Entries that lead nowhere in the
 * new tables go first.  Among the packets are those that had passed a cable before it failed
 * (orphans.c), until the first drain; where nothing can move beside them, that comes first.
 *
 * Groups.  If the ports of both sets together fit what is there, masks move at any time;
 * or else after the last wave, if they fit then.  Otherwise groups keep the ports of both
 * sets only (plan.c), from before the first wave until after the last; what they had sent
 * counts until the first drain, which must be over before they get new ports.  If a plan closes
 * what pairs of end ports need, it is made once more, with longer detours, and groups that
 * keep no port meanwhile.
 *
 * Maps that change are met by no packet: then entries are closed as plan.c says, and the
 * steps are its phases.
 *
 * Path SLs that change.  A connection keeps the SL that it was granted.  If the new tables
 * are not safe with the old SLs, too, the pairs whose SL changes must reconnect, and there
 * is no safe order.  New SLs are granted at once; but where the first step closes entries or
 * groups, and the old tables are not safe with new SLs before it, after this step.
 *
 * Why it ends.  Each round after a drain moves an entry, or takes an old one away; without
 * old ones what is left is a part of the new set, which fits, unless the ports that groups
 * have meanwhile are in the way.  Then less of them is left, as above.  Where the new set has
 * a cycle itself, the steps are the phases of plan.c, and not safe.
 *
 * Complexity: a try (moving.c) for each LID; where it is refused, one for each wave and
 * entry.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transition/waves.h"

#define WAVES_ASKED 64 /* entries that are refused: what is in their way? */

/* How groups change, in the order of tries. */
enum waves_groups {
	WAVES_JOINED, /* at any time: the ports of both sets fit */
	WAVES_AFTER,  /* after the entries */
	WAVES_CLOSED, /* only the ports of both sets stay, until after the entries */
	WAVES_EMPTY   /* no ports stay, until after the entries */
};

/* Has the plan cost enough?  A storm can take a hundred times what a cable takes. */
static bool waves_is_spent(const struct waves *w)
{
	return dl_verify_moving_followed(w->moving) > w->work;
}

/* ---- one LID ----------------------------------------------------------------- */

static bool waves_is_done(const struct dl_verify_entry *e)
{
	return (e->time == DL_VERIFY_STAYS ? e->before : e->after) == e->goal;
}

/* Has a switch confirmed its new entry? */
static bool waves_is_written(const struct waves *w, const struct dl_verify_entry *entries,
			     uint32_t s)
{
	const struct dl_verify_entry *e = &entries[w->entry_at[s]];

	if (w->entry_at[s] == DL_NONE)
		return true;
	return waves_is_done(e) && (e->time == DL_VERIFY_STAYS || e->time < w->barrier);
}

/* Is the whole new path from a switch on written? */
static bool waves_follow(struct waves *w, const struct dl_verify_entry *entries, uint16_t lid,
			 uint32_t s)
{
	uint8_t result = WAVES_UNKNOWN;
	uint32_t n = 0;

	while (!result) {
		unsigned int port = dl_tables_lft(w->t->opened, s, lid);

		result = w->state[s];
		if (result)
			break;
		w->state[s] = WAVES_ON_PATH;
		w->path[n++] = s;
		if (port == DL_TABLES_NO_PORT || !waves_is_written(w, entries, s)) {
			result = WAVES_WAITING;
			break;
		}
		s = dl_waves_next(w, s, port);
		if (s == DL_NONE)
			result = WAVES_WRITTEN;
	}
	if (result == WAVES_ON_PATH)
		result = WAVES_WAITING;
	while (n)
		w->state[w->path[--n]] = result;
	return result == WAVES_WRITTEN;
}

/*
 * A time from `time` on at which the LID's block is written at a switch anyhow; else
 * `time` itself.
 */
static unsigned int waves_align(const struct waves *w, uint32_t s, uint16_t lid, unsigned int time)
{
	uint64_t times = w->written[dl_waves_block(w, s, lid)] >> time % 64;

	return time < 64 && times ? time + __builtin_ctzll(times) : time;
}

int dl_waves_move(struct waves *w, uint32_t i, const struct dl_verify_move *moves, uint32_t n)
{
	int done = dl_verify_moving_try(w->moving, i, moves, n);
	uint16_t lid;
	uint32_t all;
	const struct dl_verify_entry *e = dl_verify_moving_entries(w->moving, i, &lid, &all);

	for (uint32_t k = 0; done > 0 && k < n; k++) {
		if (moves[k].time < 64)
			w->written[dl_waves_block(w, e[moves[k].entry].sw, lid)] |= UINT64_C(1)
										 << moves[k].time;
		if (w->barriers <= moves[k].time)
			w->barriers = moves[k].time + 1u;
	}
	return done;
}

/*
 * The wave of an entry: after that of the next one on its new path, and if possible with
 * others of the same block.
 */
static uint8_t waves_time(struct waves *w, const struct dl_verify_entry *entries, uint16_t lid,
			  uint32_t k)
{
	uint32_t s = entries[k].sw, n = 0;
	unsigned int time = 0;

	for (;;) {
		uint32_t at = w->entry_at[s];

		if (at != DL_NONE && w->times[at] != DL_VERIFY_STAYS) {
			time = w->times[at] + 1u;
			break;
		}
		if (w->state[s] == WAVES_ON_PATH)
			break; /* packets go round */
		w->state[s] = WAVES_ON_PATH;
		w->path[n++] = s;
		s = dl_waves_next(w, s, dl_tables_lft(w->t->opened, s, lid));
		if (s == DL_NONE)
			break;
	}
	while (n) {
		uint32_t at = w->entry_at[w->path[--n]];

		w->state[w->path[n]] = WAVES_UNKNOWN;
		if (at == DL_NONE)
			continue;
		w->times[at] = waves_align(w, w->path[n], lid, time);
		if (w->times[at] < DL_VERIFY_STAYS - 1)
			time = w->times[at] + 1u;
	}
	return w->times[k];
}

/* All entries of a LID, in waves from now on.  1: they move. */
static int waves_move_whole(struct waves *w, uint32_t i)
{
	uint16_t lid;
	uint32_t n;
	const struct dl_verify_entry *e = dl_verify_moving_entries(w->moving, i, &lid, &n);
	unsigned int most = 0;
	uint32_t nready = 0;

	dl_waves_look_at(w, e, n);
	memset(w->times, DL_VERIFY_STAYS, n);
	for (uint32_t k = 0; k < n; k++)
		if (waves_is_done(&e[k]))
			w->entry_at[e[k].sw] = DL_NONE;
	for (uint32_t k = 0; k < n; k++) {
		if (waves_is_done(&e[k]))
			continue;
		w->ready[nready++] =
			(struct dl_verify_move){ k, e[k].goal, waves_time(w, e, lid, k) };
		if (w->times[k] > most)
			most = w->times[k];
	}
	return nready && most < DL_VERIFY_STAYS - 1 ? dl_waves_move(w, i, w->ready, nready) : 0;
}

/* Entries of a LID that are ready to move; returns how many, and whether others wait. */
static uint32_t waves_ready(struct waves *w, uint32_t i, bool *left)
{
	uint16_t lid;
	uint32_t n, nready = 0;
	const struct dl_verify_entry *entries = dl_verify_moving_entries(w->moving, i, &lid, &n);

	dl_waves_look_at(w, entries, n);
	for (uint32_t k = 0; k < n; k++) {
		const struct dl_verify_entry *e = &entries[k];
		uint32_t next = dl_waves_next(w, e->sw, e->goal);

		if (waves_is_done(e))
			continue;
		*left = true;
		if (e->time == DL_VERIFY_STAYS && !w->refused[i][k] &&
		    (e->goal == DL_TABLES_NO_PORT || next == DL_NONE ||
		     waves_follow(w, entries, lid, next)))
			w->ready[nready++] = (struct dl_verify_move){ k, e->goal, w->barrier };
	}
	return nready;
}

/* A whole wave of a LID, or else entry by entry. */
static int waves_move_lid(struct waves *w, uint32_t i, bool *moved, bool *left)
{
	uint32_t n = waves_ready(w, i, left);
	int done = n && !waves_is_spent(w) ? dl_waves_move(w, i, w->ready, n) : 0;

	*moved |= done > 0;
	if (done || !n || waves_is_spent(w))
		return done < 0 ? done : 0;
	if (n == 1)
		w->refused[i][w->ready[0].entry] = true;
	for (uint32_t k = 0; n > 1 && k < n && done >= 0; k++) {
		done = dl_waves_move(w, i, &w->ready[k], 1);
		*moved |= done > 0;
		w->refused[i][w->ready[k].entry] = !done;
	}
	return done < 0 ? done : 0;
}

/* ---- what is in the way ------------------------------------------------------- */

/* Some entries that were refused, from all LIDs alike. */
static uint32_t waves_list_refused(const struct waves *w, struct dl_verify_blocker *list)
{
	uint32_t all = 0, at = 0, n = 0;
	uint16_t lid;

	for (unsigned int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < w->nlids; i++) {
			uint32_t count;

			dl_verify_moving_entries(w->moving, i, &lid, &count);
			for (uint32_t k = 0; k < count; k++) {
				if (!w->refused[i][k])
					continue;
				if (pass && at++ % (all / WAVES_ASKED + 1) == 0)
					list[n++] = (struct dl_verify_blocker){ i, k };
				all += !pass;
			}
		}
	}
	return n;
}

/* Take the entries that are in the way of most others out of it.  1: there were some. */
static int waves_clear(struct waves *w)
{
	struct dl_verify_blocker asked[WAVES_ASKED];
	uint32_t n, left = 0;
	int err = dl_verify_moving_blockers(w->moving, asked, waves_list_refused(w, asked),
					    w->blockers, &n);

	for (uint32_t i = 0; i < n && err >= 0; i++) {
		err = dl_waves_detour(w, &w->blockers[i]);
		if (!err)
			w->blockers[left++] = w->blockers[i];
	}
	if (err >= 0 && left)
		err = dl_waves_detour_all(w);
	if (err)
		return err < 0 ? err : 1;
	for (uint32_t i = 0; i < left && err >= 0; i++) {
		const struct dl_verify_blocker *b = &w->blockers[i];
		struct dl_verify_move move = { b->entry, DL_TABLES_NO_PORT, 0 };

		err = dl_waves_move(w, b->lid, &move, 1);
		w->closed[b->lid][b->entry] = true;
	}
	w->out->entries_closed += left;
	if (err >= 0 && left)
		err = dl_waves_count_interrupted(w);
	return err < 0 ? err : n != 0;
}

/* ---- all ---------------------------------------------------------------------- */

/* The entries of a LID that are left get a port at once: none, or that of the new tables. */
static int waves_move_rest(struct waves *w, uint32_t i, bool shut)
{
	uint16_t lid;
	uint32_t n, left = 0;
	const struct dl_verify_entry *e = dl_verify_moving_entries(w->moving, i, &lid, &n);

	for (uint32_t k = 0; k < n; k++) {
		if (waves_is_done(&e[k]) || (shut && e[k].before == DL_TABLES_NO_PORT))
			continue;
		w->ready[left++] =
			(struct dl_verify_move){ k, shut ? DL_TABLES_NO_PORT : e[k].goal, 0 };
		w->closed[i][k] |= shut;
	}
	w->out->entries_closed += shut ? left : 0;
	return left ? dl_waves_move(w, i, w->ready, left) : 1;
}

/*
 * There is no time to find an order for what is left, after a drain: close, drain, open.
 * Nothing that is closed is refused, and what is opened is a part of the new set.
 */
static int waves_close_rest(struct waves *w)
{
	int done = 1;

	for (unsigned int open = 0; open < 2 && done > 0; open++) {
		for (uint32_t i = 0; i < w->nlids && done > 0; i++)
			done = waves_move_rest(w, i, !open);
		if (done > 0 && !open)
			done = dl_waves_count_interrupted(w) || dl_waves_drain(w) ? -ENOMEM : 1;
	}
	return done;
}

/* Waves until none moves any more.  1: entries are left. */
static int waves_period(struct waves *w, bool *moved)
{
	bool any = true, left = false;
	int done = 0;

	for (uint32_t i = 0; i < w->nlids && done >= 0 && !waves_is_spent(w); i++) {
		done = waves_move_whole(w, w->order[i]);
		*moved |= done > 0;
	}
	while (any && done >= 0) {
		any = left = false;
		for (uint32_t i = 0; i < w->nlids && done >= 0; i++)
			done = waves_move_lid(w, w->order[i], &any, &left);
		*moved |= any;
		w->barrier++;
		/* Entries may wait for those whose turn in their own waves comes later. */
		any |= left && w->barrier < w->barriers;
		any &= w->barrier < DL_VERIFY_STAYS - 1;
	}
	return done < 0 ? done : left;
}

/* 0, or -ELOOP: nothing is in the way, and still the new tables do not fit beside the groups. */
static int waves_run(struct waves *w)
{
	/* Is there anything that a drain takes away? */
	bool moved = !w->drains_first && (w->out->closes_groups || w->t->orphans.n);
	int left = waves_period(w, &moved);

	while (left > 0) {
		bool spent = waves_is_spent(w);
		int some = moved ? 1 : spent ? waves_close_rest(w) : waves_clear(w);

		if (!some)
			return -ELOOP;
		if (some > 0 && spent && !moved)
			break;
		if (some > 0)
			some = dl_waves_drain(w);
		moved = false;
		left = some < 0 ? some : waves_period(w, &moved);
	}
	return left < 0 ? left : dl_waves_emit(w);
}

struct waves_rank {
	uint32_t lid, broken, n;
};

/* LIDs with broken paths first, then those with most entries. */
static int waves_by_rank(const void *a, const void *b)
{
	const struct waves_rank *x = a, *y = b;

	if (!x->broken != !y->broken)
		return x->broken ? -1 : 1;
	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return (x->lid > y->lid) - (x->lid < y->lid);
}

static int waves_init(struct waves *w)
{
	struct dl_arena *a = &w->arena;
	uint32_t nsw = w->f->nswitches + 1u, all = 0;
	struct waves_rank *ranks;

	w->nlids = dl_verify_moving_count(w->moving);
	ranks = dl_arena_array(a, w->nlids + 1ul, sizeof(*ranks));
	w->order = dl_arena_array(a, w->nlids + 1ul, sizeof(*w->order));
	w->refused = dl_arena_array(a, w->nlids + 1ul, sizeof(*w->refused));
	w->closed = dl_arena_array(a, w->nlids + 1ul, sizeof(*w->closed));
	w->stopped = dl_arena_array(a, w->nlids + 1ul, sizeof(*w->stopped));
	w->ends = dl_arena_array(a, nsw, sizeof(*w->ends));
	w->entry_at = dl_arena_array(a, nsw, sizeof(*w->entry_at));
	w->state = dl_arena_array(a, nsw, sizeof(*w->state));
	w->path = dl_arena_array(a, nsw, sizeof(*w->path));
	w->times = dl_arena_array(a, nsw, sizeof(*w->times));
	w->block = dl_arena_array(a, nsw, sizeof(*w->block));
	w->written = dl_arena_array(a, dl_waves_block(w, nsw, 0), sizeof(*w->written));
	w->ready = dl_arena_array(a, nsw, sizeof(*w->ready));
	if (!w->stopped || !w->ends || !ranks || !w->order || !w->refused || !w->closed ||
	    !w->entry_at || !w->state || !w->path || !w->times || !w->block || !w->written ||
	    !w->ready)
		return -ENOMEM;
	dl_transition_count_ends(w->f, w->ends);
	for (uint32_t i = 0; i < w->nlids; i++) {
		uint16_t lid;
		uint32_t n;
		const struct dl_verify_entry *e = dl_verify_moving_entries(w->moving, i, &lid, &n);

		w->refused[i] = dl_arena_array(a, n, sizeof(**w->refused));
		w->closed[i] = dl_arena_array(a, n, sizeof(**w->closed));
		if (!w->refused[i] || !w->closed[i])
			return -ENOMEM;
		ranks[i] = (struct waves_rank){ .lid = i, .n = n };
		for (uint32_t k = 0; k < n; k++)
			ranks[i].broken += dl_waves_next(w, e[k].sw, e[k].before) == DL_NONE;
		all += n;
	}
	w->blockers = dl_arena_array(a, all + 1ul, sizeof(*w->blockers));
	qsort(ranks, w->nlids, sizeof(*ranks), waves_by_rank);
	for (uint32_t i = 0; i < w->nlids; i++)
		w->order[i] = ranks[i].lid;
	return w->blockers ? 0 : -ENOMEM;
}

/* A step of one barrier, if there is anything to write. */
static int waves_plain_step(struct waves *w, enum dl_transition_kind kind, uint64_t entries,
			    uint64_t writes, bool drain)
{
	struct dl_transition_step *step = entries ? dl_waves_step(w, kind) : NULL;

	if (!step)
		return entries ? -ENOMEM : 0;
	step->entries = entries;
	step->writes = writes;
	step->barriers = 1;
	step->drain = drain;
	w->out->needs_drain |= drain;
	return 0;
}

/* ---- groups, and what waves cannot do ------------------------------------------- */

/* Ports in masks of `a` that those of `b` lack. */
static uint64_t waves_mask_ports(const struct dl_tables *a, const struct dl_tables *b)
{
	uint64_t n = 0;

	for (uint32_t g = 0; g < a->ngroups; g++) {
		const struct dl_tables_masks *own = &a->groups[g].masks;
		const struct dl_tables_masks *other = dl_transition_masks(b, a->groups[g].mlid);

		for (uint32_t s = dl_tables_mask_next(own, 0); s < own->nswitches;
		     s = dl_tables_mask_next(own, s + 1))
			for (unsigned int k = 0; k < DL_TABLES_MASK_WORDS; k++)
				n += __builtin_popcountll(dl_tables_mask(own, s)[k] &
							  ~dl_tables_mask(other, s)[k]);
	}
	return n;
}

/* Close, drain, open, each in any order. */
static int waves_phases(struct waves *w, struct dl_transition *t)
{
	int err = dl_transition_check_phases(t, &w->out->safe);

	if (!err)
		err = dl_transition_interrupted(t);
	if (!err)
		err = waves_plain_step(w, DL_TRANSITION_CLOSE, t->entries_closed, t->writes_close,
				       true);
	if (!err && t->maps_changed)
		err = waves_plain_step(w, DL_TRANSITION_MAPS, t->maps_changed, 0, false);
	if (!err)
		err = waves_plain_step(w, DL_TRANSITION_OPEN, t->entries_closed, t->writes_open,
				       false);
	w->out->in_phases = true;
	w->out->entries_closed = t->entries_closed;
	w->out->pairs_interrupted = t->pairs_interrupted;
	return err;
}

/* Groups get the ports of the new tables: do these fit, at the latest after a drain? */
static int waves_move_groups(struct waves *w, enum waves_groups groups)
{
	const struct dl_transition *t = w->t;
	bool closed = groups >= WAVES_CLOSED;
	const struct dl_tables *before = closed ? t->closed : t->held;
	uint64_t n = waves_mask_ports(before, t->opened) + waves_mask_ports(t->opened, before);
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
	uint64_t shut = waves_mask_ports(t->held, t->closed);
	int err = waves_init(w);

	if (!err && groups >= WAVES_CLOSED) {
		w->out->entries_closed = shut;
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
		err = waves_run(w);
	return err ? err : waves_move_groups(w, groups);
}

/* Forget a plan, but for the pairs that must reconnect. */
static void waves_restart(struct waves *w)
{
	uint64_t pairs = w->out->reconnect_pairs;

	dl_verify_moving_free(w->moving);
	dl_arena_free(&w->arena);
	dl_transition_waves_release(w->out);
	*w = (struct waves){ .t = w->t,
			     .f = w->f,
			     .work = w->work,
			     .out = w->out,
			     .wanted = w->wanted,
			     .nwanted = w->nwanted,
			     .wanted_cap = w->wanted_cap };
	w->out->reconnect_pairs = pairs;
	w->out->safe = true;
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
					   .orphans = &t->orphans };
	int err;

	waves_restart(w);
	change.extra = w->wanted;
	change.nextra = w->nwanted;
	for (uint32_t g = 0; groups == WAVES_EMPTY && g < t->closed->ngroups; g++)
		dl_tables_masks_clear(&t->closed->groups[g].masks);
	err = dl_verify_moving_new(&change, &w->moving);
	/* With their packets the old tables are not safe as they are: these leave at once. */
	if (err == -ELOOP && change.leaving) {
		change.leaving = NULL;
		change.orphans = NULL;
		w->drains_first = true;
		err = dl_verify_moving_new(&change, &w->moving);
	}
	return err ? err : waves_plan(w, groups);
}

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
	unsigned int ways = t->held->ngroups || t->opened->ngroups ? WAVES_EMPTY : 1;
	int err;

	memset(out, 0, sizeof(*out));
	err = dl_transition_reconnect(t, &out->reconnect_pairs);
	if (!err && (!work || t->maps_changed || out->reconnect_pairs))
		ways = 0;
	if (!err)
		err = -ELOOP;
	for (unsigned int i = 0; i < ways && err == -ELOOP; i++)
		err = waves_try_groups(&w, t, i);
	if (!err && out->pairs_interrupted && !waves_is_spent(&w))
		err = waves_try_groups(&w, t, WAVES_EMPTY);
	/* There is none, or what the switches hold is not safe as it is. */
	if (err == -ELOOP) {
		waves_restart(&w);
		err = waves_phases(&w, t);
	}
	if (!err && (out->in_phases || out->closes_groups))
		err = dl_transition_grants_late(t, &out->grants_late);
	free(w.wanted);
	waves_sum(out);
	dl_verify_moving_free(w.moving);
	dl_arena_free(&w.arena);
	if (err)
		dl_transition_waves_release(out);
	return err;
}

void dl_transition_waves_release(struct dl_transition_waves *w)
{
	free(w->steps);
	free(w->moves);
	memset(w, 0, sizeof(*w));
}
