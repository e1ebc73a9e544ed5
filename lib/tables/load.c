/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The load of the cables, destination by destination.
 *
 * paths.c lists the tree of the switches whose packets arrive, each behind the
 * next one on its path.  Going through the list backwards, a switch hands the
 * packets it has gathered to the next: O(switches) for each LID.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tables/paths.h"

/* The packets of some pairs. */
struct sums {
	uint64_t pairs, hops;
	uint64_t *flows; /* by port index */
};

struct counter {
	struct dl_tables_paths *own, *other; /* other NULL: there are none */
	uint64_t *sources;		     /* by switch: end ports that send from it */
	uint64_t *gathered;		     /* by switch: packets that leave it */
	const uint32_t *rate;		     /* by port; NULL: nothing is held */
	double *held;			     /* dl_tables_load_hold() */
	/* Of LIDs for which both tables agree, or there is one; of the others by each, and both. */
	struct sums same, mine, theirs, common;
};

/* Packets of a switch stand before its output, and those that come to the next one before that's. */
static void load_hold(struct counter *c, const struct dl_tables_paths *p, uint32_t s)
{
	const struct dl_fabric *f = p->t->fabric;
	uint32_t out = p->out[s], next = p->next[out];

	if (c->sources[s])
		c->held[f->nodes[f->switches[s]].first_port] += 1.0 / c->rate[out];
	if (next != DL_NONE)
		c->held[out] += (double)c->gathered[s] / c->rate[p->out[next]];
}

/* Add the packets to a LID that `p` delivers, and so does `also` (NULL: any). */
static void load_add_up(struct counter *c, const struct dl_tables_paths *p,
			const struct dl_tables_paths *also, uint16_t lid, struct sums *to)
{
	const struct dl_fabric *f = p->t->fabric;
	uint32_t home = dl_fabric_access_switch(f, f->lid_port[lid]);

	for (uint32_t s = 0; s < f->nswitches; s++)
		c->gathered[s] = !also || dl_tables_paths_arrive(also, s) ? c->sources[s] : 0;
	/* It does not send to itself. */
	if (home != DL_NONE)
		c->gathered[home] -= c->gathered[home] > 0;
	for (uint32_t i = p->norder; i--;) {
		uint32_t s = p->order[i], out = p->out[s];

		if (c->rate)
			load_hold(c, p, s);
		if (p->next[out] == DL_NONE) {
			to->pairs += c->gathered[s];
			continue;
		}
		to->flows[out] += c->gathered[s];
		to->hops += c->gathered[s];
		c->gathered[p->next[out]] += c->gathered[s];
	}
}

static void count_lid(struct counter *c, uint16_t lid)
{
	uint32_t n = c->own->t->fabric->nswitches;

	dl_tables_paths_to(c->own, lid);
	if (c->other)
		dl_tables_paths_choose(c->other, lid);
	if (!c->other || !memcmp(c->own->column, c->other->column, n)) {
		load_add_up(c, c->own, NULL, lid, &c->same);
		return;
	}
	dl_tables_paths_to(c->other, lid);
	load_add_up(c, c->own, NULL, lid, &c->mine);
	load_add_up(c, c->other, NULL, lid, &c->theirs);
	load_add_up(c, c->own, c->other, lid, &c->common);
}

static int counter_init(struct counter *c, struct dl_arena *arena, const struct dl_tables *t,
			const struct dl_tables *other, const bool *among)
{
	struct sums *all[] = { &c->same, &c->mine, &c->theirs, &c->common };
	const struct dl_fabric *f = t->fabric;
	int err = dl_tables_paths_new(t, &c->own);

	if (!err && other)
		err = dl_tables_paths_new(other, &c->other);
	for (unsigned int i = 0; !err && i < sizeof(all) / sizeof(*all); i++) {
		all[i]->flows = dl_arena_array(arena, f->nports + 1, sizeof(*all[i]->flows));
		err = all[i]->flows ? 0 : -ENOMEM;
	}
	c->sources = dl_arena_array(arena, f->nswitches, sizeof(*c->sources));
	c->gathered = dl_arena_array(arena, f->nswitches, sizeof(*c->gathered));
	if (err || !c->sources || !c->gathered)
		return -ENOMEM;
	for (uint32_t p = 0; p < f->nports; p++) {
		uint32_t s = among && !among[p] ? DL_NONE : dl_fabric_sender_switch(f, p);

		if (s != DL_NONE)
			c->sources[s]++;
	}
	return 0;
}

/* Add `more` to some sums; returns the flows of the busiest cable. */
static uint64_t sums_add(struct sums *s, const struct sums *more, uint32_t nports)
{
	uint64_t busiest = 0;

	s->pairs += more->pairs;
	s->hops += more->hops;
	for (uint32_t p = 0; p < nports; p++) {
		s->flows[p] += more->flows[p];
		if (s->flows[p] > busiest)
			busiest = s->flows[p];
	}
	return busiest;
}

static int load_finish(struct counter *c, struct dl_tables_load *l)
{
	uint32_t n = c->own->t->fabric->nports;
	uint64_t *flows = calloc(n + 1, sizeof(*flows));
	struct dl_tables_load sums = { .flows = flows };

	if (!flows)
		return -ENOMEM;
	sums.busiest = sums_add(&c->mine, &c->same, n);
	sums.pairs = c->mine.pairs;
	sums.hops = c->mine.hops;
	memcpy(flows, c->mine.flows, n * sizeof(*flows));
	if (c->other) {
		sums.common_busiest = sums_add(&c->common, &c->same, n);
		sums.common_pairs = c->common.pairs;
		sums.common_hops = c->common.hops;
		sums.other_busiest = sums_add(&c->theirs, &c->same, n);
		sums.other_pairs = c->theirs.pairs;
		sums.other_hops = c->theirs.hops;
	}
	*l = sums;
	return 0;
}

/* Of all LIDs. */
static int load_run(struct counter *c, const struct dl_tables *t, const struct dl_tables *other,
		    const bool *among, const struct dl_log *log, struct dl_tables_load *out)
{
	const struct dl_fabric *f = t->fabric;
	struct dl_arena arena = { 0 };
	int err = counter_init(c, &arena, t, other, among);

	for (uint32_t lid = 1; !err && lid <= f->top_lid; lid++) {
		if (lid % DL_TABLES_PATHS_BLOCK == 0)
			dl_progress(log, "counting load", " LIDs", lid, f->top_lid);
		if (f->lid_port[lid] != DL_NONE && (!among || among[f->lid_port[lid]]))
			count_lid(c, lid);
	}
	dl_progress(log, "counting load", " LIDs", 1, 1);
	if (!err)
		err = load_finish(c, out);
	dl_tables_paths_free(c->own);
	dl_tables_paths_free(c->other);
	dl_arena_free(&arena);
	return err;
}

int dl_tables_load_count(const struct dl_tables *t, const struct dl_tables *other,
			 const bool *among, const struct dl_log *log, struct dl_tables_load *out)
{
	struct counter c = { 0 };

	return load_run(&c, t, other, among, log, out);
}

int dl_tables_load_hold(const struct dl_tables *t, const bool *among, const uint32_t *rate,
			double *held, struct dl_tables_load *out)
{
	struct counter c = { .rate = rate, .held = held };

	memset(held, 0, t->fabric->nports * sizeof(*held));
	return load_run(&c, t, NULL, among, NULL, out);
}

void dl_tables_load_release(struct dl_tables_load *l)
{
	free(l->flows);
	memset(l, 0, sizeof(*l));
}
