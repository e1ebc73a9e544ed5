/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The steps of a plan in waves (waves.c): what is written in which, and whom it interrupts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transition/waves.h"

size_t dl_waves_block(const struct waves *w, uint32_t s, uint16_t lid)
{
	return s * (size_t)(w->t->held->stride / DL_TRANSITION_LFT_BLOCK) +
	       lid / DL_TRANSITION_LFT_BLOCK;
}

uint32_t dl_waves_next(const struct waves *w, uint32_t s, unsigned int port)
{
	const struct dl_fabric_node *n = &w->f->nodes[w->f->switches[s]];

	return !port || port > n->nports ? DL_NONE :
					   dl_fabric_peer_switch(w->f, n->first_port + port);
}

void dl_waves_look_at(struct waves *w, const struct dl_verify_entry *entries, uint32_t n)
{
	memset(w->entry_at, 0xFF, w->f->nswitches * sizeof(*w->entry_at)); /* DL_NONE */
	memset(w->state, WAVES_UNKNOWN, w->f->nswitches);
	for (uint32_t k = 0; k < n; k++)
		w->entry_at[entries[k].sw] = k;
}

unsigned int dl_waves_port(const struct waves *w, const struct dl_verify_entry *entries,
			   uint16_t lid, uint32_t s)
{
	const struct dl_verify_entry *e = &entries[w->entry_at[s]];

	if (w->entry_at[s] == DL_NONE)
		return dl_tables_lft(w->t->held, s, lid);
	return e->time == DL_VERIFY_STAYS ? e->before : e->after;
}

/* ---- steps ----------------------------------------------------------------- */

struct dl_transition_step *dl_waves_step(struct waves *w, enum dl_transition_kind kind)
{
	struct dl_transition_waves *out = w->out;

	if (!dl_array_room(out->steps, out->nsteps, 1, &out->steps_cap))
		return NULL;
	out->steps[out->nsteps] = (struct dl_transition_step){ .kind = kind };
	return &out->steps[out->nsteps++];
}

/* Append an entry to the last step.  0 or -ENOMEM. */
static int waves_write(struct waves *w, const struct dl_verify_entry *e, uint16_t lid)
{
	struct dl_transition_waves *out = w->out;
	uint64_t block = ((uint64_t)out->nsteps << 32 | (uint64_t)e->time << 16 |
			  lid / DL_TRANSITION_LFT_BLOCK);

	if (!dl_array_room(out->moves, out->nmoves, 1, &out->moves_cap))
		return -ENOMEM;
	out->moves[out->nmoves++] =
		(struct dl_transition_move){ out->nsteps - 1, e->time, e->sw, lid, e->after };
	out->steps[out->nsteps - 1].writes += w->block[e->sw] != block;
	w->block[e->sw] = block;
	return 0;
}

/* What entries become since the last drain. */
static enum dl_transition_kind waves_kind(const struct waves *w, uint32_t i, uint32_t k,
					  const struct dl_verify_entry *e)
{
	if (e->after == e->goal)
		return w->closed[i][k] ? DL_TRANSITION_OPEN : DL_TRANSITION_MOVE;
	return e->after == DL_TABLES_NO_PORT ? DL_TRANSITION_CLOSE : DL_TRANSITION_DETOUR;
}

/* The moves of some kinds planned since the last drain, of one time, into a step. */
static int waves_emit_time(struct waves *w, unsigned int kinds, unsigned int time,
			   struct dl_transition_step **step)
{
	for (uint32_t i = 0; i < w->nlids; i++) {
		uint16_t lid;
		uint32_t n;
		const struct dl_verify_entry *e = dl_verify_moving_entries(w->moving, i, &lid, &n);

		for (uint32_t k = 0; k < n; k++) {
			enum dl_transition_kind kind = waves_kind(w, i, k, &e[k]);

			if (e[k].time != time || !(kinds >> kind & 1))
				continue;
			if (!*step)
				*step = dl_waves_step(w, kind);
			if (!*step || waves_write(w, &e[k], lid))
				return -ENOMEM;
			(*step)->entries++;
			(*step)->barriers = time + 1;
			if (kind > (*step)->kind)
				(*step)->kind = kind;
		}
	}
	return 0;
}

int dl_waves_emit(struct waves *w)
{
	static const unsigned int kinds[] = { 1 << DL_TRANSITION_MOVE | 1 << DL_TRANSITION_OPEN,
					      1 << DL_TRANSITION_DETOUR, 1 << DL_TRANSITION_CLOSE };
	int err = 0;

	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct dl_transition_step *step = NULL;

		for (unsigned int time = 0; time < w->barriers && !err; time++)
			err = waves_emit_time(w, kinds[i], time, &step);
	}
	w->barrier = w->barriers = 0;
	memset(w->written, 0, dl_waves_block(w, w->f->nswitches, 0) * sizeof(*w->written));
	return err;
}

int dl_waves_drain(struct waves *w)
{
	int err = dl_waves_emit(w);

	for (uint32_t i = 0; i < w->nlids; i++) {
		uint32_t n;
		uint16_t lid;

		dl_verify_moving_entries(w->moving, i, &lid, &n);
		memset(w->refused[i], 0, n);
	}
	if (!err && !w->out->nsteps && !dl_waves_step(w, DL_TRANSITION_WAIT))
		err = -ENOMEM;
	if (err)
		return err;
	w->out->steps[w->out->nsteps - 1].drain = true;
	w->out->needs_drain = true;
	return dl_verify_moving_drain(w->moving);
}

/* ---- paths, from switch to switch ------------------------------------------------ */

enum waves_state dl_waves_walk(struct waves *w, const struct waves_column *c, waves_look look,
			       enum waves_state in_circle, uint32_t s)
{
	enum waves_state result = w->state[s];
	uint32_t n = 0;

	while (!result) {
		w->state[s] = WAVES_ON_PATH;
		w->path[n++] = s;
		result = look(w, c, s, &s);
		if (!result)
			result = w->state[s];
	}
	if (result == WAVES_ON_PATH)
		result = in_circle;
	while (n)
		w->state[w->path[--n]] = result;
	return result;
}

/* ---- whom it interrupts -------------------------------------------------------- */

/* Of the present path: does it end at an entry that was closed? */
static enum waves_state waves_look_for_stop(struct waves *w, const struct waves_column *c,
					    uint32_t s, uint32_t *next)
{
	unsigned int port = dl_waves_port(w, c->entries, c->lid, s);
	uint32_t at = w->entry_at[s];

	if (port == DL_TABLES_NO_PORT && at != DL_NONE && w->closed[c->i][at])
		return WAVES_STOPPED;
	*next = dl_waves_next(w, s, port);
	return *next == DL_NONE ? WAVES_GOES_ON : WAVES_UNKNOWN;
}

int dl_waves_count_interrupted(struct waves *w)
{
	uint32_t nsw = w->f->nswitches;
	struct dl_tables_paths *held = NULL, *opened = NULL;
	int err = dl_tables_paths_new(w->t->held, &held);

	if (!err)
		err = dl_tables_paths_new(w->t->opened, &opened);
	for (uint32_t i = 0; i < w->nlids && !err; i++) {
		uint16_t lid;
		uint32_t n, home;
		const struct dl_verify_entry *e = dl_verify_moving_entries(w->moving, i, &lid, &n);
		const struct waves_column c = { e, i, lid };

		if (!memchr(w->closed[i], true, n) || w->f->lid_port[lid] == DL_NONE)
			continue;
		if (!w->stopped[i])
			w->stopped[i] = dl_arena_zalloc(&w->arena, nsw + 1);
		if (!w->stopped[i])
			err = -ENOMEM;
		home = dl_fabric_access_switch(w->f, w->f->lid_port[lid]);
		dl_waves_look_at(w, e, n);
		dl_tables_paths_to(held, lid);
		dl_tables_paths_to(opened, lid);
		for (uint32_t s = 0; s < nsw && !err; s++) {
			if (w->stopped[i][s] || !dl_tables_paths_arrive(held, s) ||
			    !dl_tables_paths_arrive(opened, s) ||
			    dl_waves_walk(w, &c, waves_look_for_stop, WAVES_GOES_ON, s) !=
				    WAVES_STOPPED)
				continue;
			w->stopped[i][s] = true;
			if (w->ends[s] == (s == home))
				continue;
			w->out->pairs_interrupted += w->ends[s] - (s == home);
			err = dl_transition_note_stop(w->out, s, lid);
		}
	}
	dl_tables_paths_free(held);
	dl_tables_paths_free(opened);
	return err;
}
