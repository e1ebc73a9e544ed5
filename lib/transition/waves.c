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
 * Groups, maps and path SLs that change: waves_plan.c.
 *
 * Why it ends.  Each round after a drain moves an entry, or takes an old one away; without
 * old ones what is left is a part of the new set, which fits, unless the ports that groups
 * have meanwhile are in the way.  Then less of them is left (waves_plan.c).  Where the new set
 * has a cycle itself, the steps are the phases of plan.c, and not safe.
 *
 * Complexity: a try (moving.c) for each LID; where it is refused, one for each wave and
 * entry.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transition/waves.h"

#define WAVES_ASKED 64 /* entries that are refused: what is in their way? */

/* A storm can take a hundred times what a cable takes. */
bool dl_waves_are_spent(const struct waves *w)
{
	return dl_verify_moving_followed(w->moving) > w->work;
}

/* ---- one LID ----------------------------------------------------------------- */

static bool waves_is_done(const struct dl_verify_entry *e)
{
	return (e->time == DL_VERIFY_STAYS ? e->before : e->after) == e->goal;
}

static bool waves_are_done(const struct dl_verify_entry *e, uint32_t n)
{
	while (n && waves_is_done(&e[n - 1]))
		n--;
	return !n;
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

/* Of the new path: is a switch's entry written? */
static enum waves_state waves_look_ahead(struct waves *w, const struct waves_column *c, uint32_t s,
					 uint32_t *next)
{
	unsigned int port = dl_tables_lft(w->t->opened, s, c->lid);

	if (port == DL_TABLES_NO_PORT || !waves_is_written(w, c->entries, s))
		return WAVES_WAITING;
	*next = dl_waves_next(w, s, port);
	return *next == DL_NONE ? WAVES_WRITTEN : WAVES_UNKNOWN;
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

	if (waves_are_done(e, n))
		return 0;
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
	const struct waves_column c = { entries, i, lid };

	if (waves_are_done(entries, n))
		return 0;
	dl_waves_look_at(w, entries, n);
	for (uint32_t k = 0; k < n; k++) {
		const struct dl_verify_entry *e = &entries[k];
		uint32_t next = dl_waves_next(w, e->sw, e->goal);

		if (waves_is_done(e))
			continue;
		*left = true;
		if (e->time == DL_VERIFY_STAYS && !w->refused[i][k] &&
		    (e->goal == DL_TABLES_NO_PORT || next == DL_NONE ||
		     dl_waves_walk(w, &c, waves_look_ahead, WAVES_WAITING, next) == WAVES_WRITTEN))
			w->ready[nready++] = (struct dl_verify_move){ k, e->goal, w->barrier };
	}
	return nready;
}

/* A whole wave of a LID, or else entry by entry. */
static int waves_move_lid(struct waves *w, uint32_t i, bool *moved, bool *left)
{
	uint32_t n = waves_ready(w, i, left);
	int done = n && !dl_waves_are_spent(w) ? dl_waves_move(w, i, w->ready, n) : 0;

	*moved |= done > 0;
	if (done || !n || dl_waves_are_spent(w))
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
	/* Each round of them costs more than closing a few, and helps less than the one before. */
	if (err >= 0 && left &&
	    (!w->detoured || dl_verify_moving_followed(w->moving) < w->work / 2)) {
		w->detoured = true;
		err = dl_waves_detour_all(w);
	}
	if (err)
		return err < 0 ? err : 1;
	for (uint32_t i = 0; i < left && err >= 0; i++) {
		const struct dl_verify_blocker *b = &w->blockers[i];
		/* After detours. */
		struct dl_verify_move move = { b->entry, DL_TABLES_NO_PORT, w->barriers };

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
		w->out->entries_closed += shut && e[k].goal != DL_TABLES_NO_PORT;
	}
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

	for (uint32_t i = 0; i < w->nlids && done >= 0 && !dl_waves_are_spent(w); i++) {
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

int dl_waves_run(struct waves *w)
{
	/* Is there anything that a drain takes away? */
	bool moved = !w->drains_first &&
		     (w->out->closes_groups || w->t->orphans.n || w->t->history.nearlier);
	int left = waves_period(w, &moved);

	while (left > 0) {
		bool spent = dl_waves_are_spent(w);
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

int dl_waves_init(struct waves *w)
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
