/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Paths, destination by destination.
 *
 * The entries for one LID point from each switch to the next one, so those
 * switches whose packets arrive form a tree with the destination as its root.
 * Walks from every switch, each stopping at what is known already, list that
 * tree with every switch behind the next one on its way.
 * That is O(switches) for each LID, however long the ways are.
 *
 * Entries for one LID lie far apart in the tables, so DL_TABLES_REACH_BLOCK of them are turned
 * round at a time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tables/paths.h"

#define APART 64 /* bytes, so that columns do not fall into one set of a cache */
#define AHEAD 16 /* rows that are fetched before they are read */

/* Does this entry hand the packet to its destination? */
static bool hands_over(const struct dl_fabric *f, uint32_t out, uint16_t lid)
{
	uint32_t dst = f->lid_port[lid];

	return f->ports[out].num ? f->ports[out].peer == dst : out == dst;
}

/*
 * Walk from one switch to the destination, or to what is known.  A port that
 * leads to another switch hands nothing over.
 */
static void paths_walk(struct dl_tables_reach *b, uint32_t sw, uint16_t lid)
{
	uint32_t n = 0, length = 0;
	uint8_t end = DL_TABLES_FAILS;

	do {
		uint32_t out = b->ports[sw].first + b->column[sw];

		b->state[sw] = DL_TABLES_WALKING;
		b->walk[n++] = sw;
		if (b->column[sw] > b->ports[sw].n)
			break;
		b->out[sw] = out;
		sw = b->next[out];
		if (sw == DL_NONE)
			end = hands_over(b->t->fabric, out, lid) ? DL_TABLES_ARRIVES :
								   DL_TABLES_FAILS;
		else if (b->state[sw] == DL_TABLES_ARRIVES)
			end = DL_TABLES_ARRIVES;
	} while (sw != DL_NONE && b->state[sw] == DL_TABLES_UNKNOWN);
	if (sw != DL_NONE && b->state[sw] != DL_TABLES_WALKING)
		length = b->length[sw];
	while (n--) {
		b->state[b->walk[n]] = end;
		b->length[b->walk[n]] = ++length;
		if (end == DL_TABLES_ARRIVES)
			b->order[b->norder++] = b->walk[n];
	}
}

void dl_tables_reach_turn(struct dl_tables_reach *b, uint32_t lid)
{
	b->filled = NULL;
	for (uint32_t s = 0; s < b->t->fabric->nswitches; s++) {
		const uint8_t *row = b->t->lft + s * (size_t)b->t->stride + lid;

		__builtin_prefetch(row + AHEAD * (size_t)b->t->stride);
		for (uint32_t i = 0; i < DL_TABLES_REACH_BLOCK; i++)
			b->columns[i * b->apart + s] = row[i];
	}
}

void dl_tables_reach_choose(struct dl_tables_reach *b, uint16_t lid)
{
	b->column = &b->columns[lid % DL_TABLES_REACH_BLOCK * b->apart];
}

/*
 * Is the tree the one at hand, but for the root's port?  A switch and the adapters
 * attached to it mostly share theirs.
 */
static bool has_same_tree(struct dl_tables_reach *b, uint32_t home, uint16_t lid)
{
	uint32_t n = b->t->fabric->nswitches, out;

	if (!b->filled || home != b->home || b->column[home] > b->ports[home].n)
		return false;
	out = b->ports[home].first + b->column[home];
	if (b->next[out] != DL_NONE || !hands_over(b->t->fabric, out, lid) ||
	    memcmp(b->column, b->filled, home) ||
	    memcmp(b->column + home + 1, b->filled + home + 1, n - home - 1))
		return false;
	b->out[home] = out;
	return true;
}

void dl_tables_reach_fill(struct dl_tables_reach *b, uint16_t lid)
{
	uint32_t s, home = dl_fabric_access_switch(b->t->fabric, b->t->fabric->lid_port[lid]);

	dl_tables_reach_choose(b, lid);
	if (has_same_tree(b, home, lid))
		return;
	memset(b->state, DL_TABLES_UNKNOWN, b->t->fabric->nswitches);
	b->norder = 0;
	for (s = 0; s < b->t->fabric->nswitches; s++)
		if (b->state[s] == DL_TABLES_UNKNOWN)
			paths_walk(b, s, lid);
	b->home = home;
	b->filled = home != DL_NONE && b->state[home] == DL_TABLES_ARRIVES ? b->column : NULL;
}

int dl_tables_reach_init(struct dl_tables_reach *b, struct dl_arena *arena,
			 const struct dl_tables *t, const uint32_t *next)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t n = f->nswitches + 1;
	struct dl_tables_reach_ports *ports = dl_arena_array(arena, n, sizeof(*ports));

	for (uint32_t s = 0; ports && s < f->nswitches; s++)
		ports[s] = (struct dl_tables_reach_ports){ dl_fabric_switch_node(f, s)->first_port,
							   dl_fabric_switch_node(f, s)->nports };
	b->t = t;
	b->ports = ports;
	b->next = next;
	b->apart = (n / APART | 1) * APART + 2 * APART;
	b->columns = dl_arena_array(arena, b->apart, DL_TABLES_REACH_BLOCK);
	b->order = dl_arena_array(arena, n, sizeof(*b->order));
	b->out = dl_arena_array(arena, n, sizeof(*b->out));
	b->walk = dl_arena_array(arena, n, sizeof(*b->walk));
	b->length = dl_arena_array(arena, n, sizeof(*b->length));
	b->state = dl_arena_alloc(arena, n);
	return ports && b->length && b->order && b->out && b->walk && b->state && b->columns ?
		       0 :
		       -ENOMEM;
}

uint32_t *dl_tables_next_switches(struct dl_arena *arena, const struct dl_fabric *f)
{
	uint32_t *next = dl_arena_array(arena, f->nports, sizeof(*next));

	for (uint32_t p = 0; next && p < f->nports; p++)
		next[p] = f->ports[p].num ? dl_fabric_peer_switch(f, p) : DL_NONE;
	return next;
}

/* ---- LID by LID --------------------------------------------------------- */

struct dl_tables_paths {
	struct dl_arena arena;
	struct dl_tables_reach of;
	uint32_t block; /* of LIDs, whose columns are there; DL_NONE: none */
};

int dl_tables_paths_new(const struct dl_tables *t, struct dl_tables_paths **out)
{
	struct dl_tables_paths *p = calloc(1, sizeof(*p));
	uint32_t *next = p ? dl_tables_next_switches(&p->arena, t->fabric) : NULL;
	int err = next ? dl_tables_reach_init(&p->of, &p->arena, t, next) : -ENOMEM;

	if (err) {
		dl_tables_paths_free(p);
		return err;
	}
	p->block = DL_NONE;
	*out = p;
	return 0;
}

void dl_tables_paths_free(struct dl_tables_paths *p)
{
	if (p)
		dl_arena_free(&p->arena);
	free(p);
}

void dl_tables_paths_to(struct dl_tables_paths *p, uint16_t lid)
{
	if (lid / DL_TABLES_REACH_BLOCK != p->block) {
		p->block = lid / DL_TABLES_REACH_BLOCK;
		dl_tables_reach_turn(&p->of, p->block * DL_TABLES_REACH_BLOCK);
	}
	dl_tables_reach_fill(&p->of, lid);
}

bool dl_tables_paths_arrive(const struct dl_tables_paths *p, uint32_t sw)
{
	return p->of.state[sw] == DL_TABLES_ARRIVES;
}

uint16_t dl_tables_paths_length(const struct dl_tables_paths *p, uint32_t sw)
{
	return p->of.length[sw];
}

int dl_tables_hops(const struct dl_tables *t, const uint16_t *lids, uint32_t n, uint16_t *hops)
{
	const struct dl_fabric *f = t->fabric;
	struct dl_tables_paths *p;
	int err = dl_tables_paths_new(t, &p);

	for (uint32_t i = 0; !err && i < n; i++, hops += f->nswitches) {
		memset(hops, 0xFF, f->nswitches * sizeof(*hops)); /* DL_TABLES_NO_HOPS */
		if (!lids[i] || lids[i] > f->top_lid || f->lid_port[lids[i]] == DL_NONE)
			continue;
		dl_tables_paths_to(p, lids[i]);
		for (uint32_t s = 0; s < f->nswitches; s++)
			if (dl_tables_paths_arrive(p, s))
				hops[s] = dl_tables_paths_length(p, s) - 1;
	}
	if (!err)
		dl_tables_paths_free(p);
	return err;
}
