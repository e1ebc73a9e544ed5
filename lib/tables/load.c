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
	struct dl_tables_reach own, other;
	uint64_t *sources; /* by switch: end ports that send from it */
	/* Where both tables agree on a LID, or there is one; else of each ... */
	struct sums both, mine, theirs, common;
	struct sums all;    /* ... but where the other ones deliver all: mine and common */
	uint64_t *gathered; /* by switch: packets that leave it */
};

/* Add the packets to a LID that `b` delivers, and so does `common` (NULL: any). */
static void load_add_up(struct counter *c, const struct dl_tables_reach *b,
			const struct dl_tables_reach *common, uint16_t lid, struct sums *to)
{
	const struct dl_fabric *f = b->t->fabric;
	uint32_t home = dl_fabric_access_switch(f, f->lid_port[lid]);

	for (uint32_t s = 0; s < f->nswitches; s++)
		c->gathered[s] = !common || common->state[s] == DL_TABLES_ARRIVES ? c->sources[s] :
										    0;
	/* It does not send to itself. */
	if (home != DL_NONE)
		c->gathered[home] -= c->gathered[home] > 0;
	for (uint32_t i = b->norder; i--;) {
		uint32_t s = b->order[i], out = b->out[s];

		if (b->next[out] == DL_NONE) {
			to->pairs += c->gathered[s];
			continue;
		}
		to->flows[out] += c->gathered[s];
		to->hops += c->gathered[s];
		c->gathered[b->next[out]] += c->gathered[s];
	}
}

static void count_lid(struct counter *c, uint16_t lid)
{
	uint32_t n = c->own.t->fabric->nswitches;

	dl_tables_reach_fill(&c->own, lid);
	if (c->other.t)
		dl_tables_reach_choose(&c->other, lid);
	if (!c->other.t || !memcmp(c->own.column, c->other.column, n)) {
		load_add_up(c, &c->own, NULL, lid, &c->both);
		return;
	}
	dl_tables_reach_fill(&c->other, lid);
	if (c->other.norder == n) {
		load_add_up(c, &c->own, NULL, lid, &c->all);
	} else {
		load_add_up(c, &c->own, NULL, lid, &c->mine);
		load_add_up(c, &c->own, &c->other, lid, &c->common);
	}
	load_add_up(c, &c->other, NULL, lid, &c->theirs);
}

static int counter_init(struct counter *c, struct dl_arena *arena, const struct dl_tables *t,
			const struct dl_tables *other, const bool *among)
{
	struct sums *all[] = { &c->both, &c->mine, &c->theirs, &c->common, &c->all };
	const struct dl_fabric *f = t->fabric;
	uint32_t *next = dl_tables_next_switches(arena, f);
	int err = next ? dl_tables_reach_init(&c->own, arena, t, next) : -ENOMEM;

	if (!err && other)
		err = dl_tables_reach_init(&c->other, arena, other, next);
	for (unsigned int i = 0; !err && i < sizeof(all) / sizeof(*all); i++) {
		all[i]->flows = dl_arena_array(arena, f->nports + 1, sizeof(*all[i]->flows));
		err = all[i]->flows ? 0 : -ENOMEM;
	}
	c->sources = dl_arena_array(arena, f->nswitches, sizeof(*c->sources));
	c->gathered = dl_arena_array(arena, f->nswitches, sizeof(*c->gathered));
	if (err || !c->sources || !c->gathered)
		return -ENOMEM;
	for (uint32_t p = 0; p < f->nports; p++) {
		uint32_t s;

		if (!f->ports[p].lid || !dl_fabric_is_end_port(f, p) || (among && !among[p]))
			continue;
		s = dl_fabric_access_switch(f, p);
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
	uint32_t n = c->own.t->fabric->nports;

	l->flows = calloc(n + 1, sizeof(*l->flows));
	if (!l->flows)
		return -ENOMEM;
	l->other_busiest = sums_add(&c->theirs, &c->both, n);
	sums_add(&c->all, &c->both, n);
	l->common_busiest = sums_add(&c->common, &c->all, n);
	l->busiest = sums_add(&c->mine, &c->all, n);
	l->pairs = c->mine.pairs;
	l->hops = c->mine.hops;
	memcpy(l->flows, c->mine.flows, n * sizeof(*l->flows));
	if (!c->other.t) {
		l->other_busiest = l->common_busiest = 0;
		return 0;
	}
	l->common_pairs = c->common.pairs;
	l->common_hops = c->common.hops;
	l->other_pairs = c->theirs.pairs;
	l->other_hops = c->theirs.hops;
	return 0;
}

int dl_tables_load_count(const struct dl_tables *t, const struct dl_tables *other,
			 const bool *among, const struct dl_log *log, struct dl_tables_load *out)
{
	const struct dl_fabric *f = t->fabric;
	struct dl_tables_load l = { 0 };
	struct dl_arena arena = { 0 };
	struct counter c = { 0 };
	int err = counter_init(&c, &arena, t, other, among);

	for (uint32_t lid = 0; !err && lid <= f->top_lid; lid++) {
		if (lid % DL_TABLES_REACH_BLOCK == 0) {
			dl_progress(log, "counting load", " LIDs", lid, f->top_lid);
			dl_tables_reach_turn(&c.own, lid);
			if (other)
				dl_tables_reach_turn(&c.other, lid);
		}
		if (lid && f->lid_port[lid] != DL_NONE && (!among || among[f->lid_port[lid]]))
			count_lid(&c, lid);
	}
	dl_progress(log, "counting load", " LIDs", 1, 1);
	if (!err)
		err = load_finish(&c, &l);
	if (!err)
		*out = l;
	dl_arena_free(&arena);
	return err;
}

void dl_tables_load_release(struct dl_tables_load *l)
{
	free(l->flows);
	memset(l, 0, sizeof(*l));
}
