/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which pairs of end ports lose their path for a while: those that the tables
 * before and the tables after deliver, and the closed ones do not.
 *
 * Only LIDs with a closed entry are looked at, by the paths to them in each of the
 * three sets.  Whether SL-to-VL maps let a packet pass is left to dl_verify().
 */
#include <errno.h>

#include "transition/internal.h"

struct interruption {
	struct dl_transition *t;
	struct dl_tables_paths *held, *closed, *opened;
	uint32_t *ends; /* by switch: end ports with a LID */
	struct dl_transition_waves *out;
};

/* Pairs to one LID.  0 or -ENOMEM. */
static int interrupted_pairs(struct interruption *i, uint32_t lid)
{
	const struct dl_fabric *f = i->t->opened->fabric;
	uint32_t home = dl_fabric_access_switch(f, f->lid_port[lid]);
	bool opened = false;
	int err = 0;

	dl_tables_paths_to(i->held, lid);
	dl_tables_paths_to(i->closed, lid);
	for (uint32_t s = 0; s < f->nswitches && !err; s++) {
		if (!dl_tables_paths_arrive(i->held, s) || dl_tables_paths_arrive(i->closed, s))
			continue;
		if (!opened)
			dl_tables_paths_to(i->opened, lid);
		opened = true;
		/* A port's packets to itself are none. */
		if (!dl_tables_paths_arrive(i->opened, s) || i->ends[s] == (s == home))
			continue;
		i->t->pairs_interrupted += i->ends[s] - (s == home);
		err = dl_transition_note_stop(i->out, s, lid);
	}
	return err;
}

void dl_transition_changed_lids(const struct dl_tables *a, const struct dl_tables *b, bool *lids)
{
	for (uint32_t s = 0; s < a->fabric->nswitches; s++)
		for (uint32_t lid = dl_tables_next_change(a, b, s, 0); lid < a->stride;
		     lid = dl_tables_next_change(a, b, s, lid + 1))
			lids[lid] = true;
}

void dl_transition_count_ends(const struct dl_fabric *f, uint32_t *ends)
{
	for (uint32_t p = 0; p < f->nports; p++) {
		uint32_t s = dl_fabric_sender_switch(f, p);

		if (s != DL_NONE)
			ends[s]++;
	}
}

int dl_transition_interrupted(struct dl_transition *t, struct dl_transition_waves *out)
{
	const struct dl_fabric *f = t->opened->fabric;
	struct interruption i = { .t = t, .out = out };
	struct dl_arena arena = { 0 };
	bool *closed = dl_arena_zalloc(&arena, t->held->stride);
	int err = closed ? 0 : -ENOMEM;

	i.ends = dl_arena_array(&arena, f->nswitches + 1u, sizeof(*i.ends));
	if (!i.ends)
		err = -ENOMEM;
	t->pairs_interrupted = 0;
	if (!err)
		err = dl_tables_paths_new(t->held, &i.held);
	if (!err)
		err = dl_tables_paths_new(t->closed, &i.closed);
	if (!err)
		err = dl_tables_paths_new(t->opened, &i.opened);
	if (!err) {
		dl_transition_count_ends(f, i.ends);
		dl_transition_changed_lids(t->held, t->closed, closed);
	}
	for (uint32_t lid = 1; lid <= f->top_lid && !err; lid++)
		if (closed[lid] && f->lid_port[lid] != DL_NONE)
			err = interrupted_pairs(&i, lid);
	dl_tables_paths_free(i.held);
	dl_tables_paths_free(i.closed);
	dl_tables_paths_free(i.opened);
	dl_arena_free(&arena);
	return err;
}

/* Does the path SL of a port to any adapter change? */
static bool interrupted_changes_sl(const struct dl_transition *t, uint32_t port)
{
	bool changes = false;

	for (uint32_t lid = 1; lid <= t->opened->top_lid && !changes; lid++) {
		unsigned int was = dl_tables_path_sl(t->held, port, lid);
		unsigned int is = dl_tables_path_sl(t->opened, port, lid);
		uint32_t to = t->opened->fabric->lid_port[lid];

		changes = was != is && was != DL_TABLES_NO_SL && is != DL_TABLES_NO_SL &&
			  to != DL_NONE && t->opened->fabric->ports[to].num;
	}
	return changes;
}

uint32_t dl_transition_reconnect_ends(const struct dl_transition *t, uint32_t *ends)
{
	const struct dl_fabric *f = t->opened->fabric;
	uint32_t n = 0;

	for (uint32_t p = 0; p < f->nports; p++)
		if (f->ports[p].lid && dl_fabric_is_end_port(f, p) &&
		    !dl_fabric_is_switch(f, f->ports[p].node) && interrupted_changes_sl(t, p))
			ends[n++] = p;
	return n;
}
