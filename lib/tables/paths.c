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
 * Entries for one LID lie far apart in the tables, so DL_TABLES_PATHS_BLOCK of them are turned
 * round at a time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tables/paths.h"

#define APART 64 /* bytes, so that columns do not fall into one set of a cache */
#define AHEAD 16 /* rows that are fetched before they are read */

/* How a switch's ports are numbered. */
struct dl_tables_paths_ports {
	uint32_t first; /* port index of port 0 */
	uint32_t n;	/* without port 0 */
};

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
static void paths_walk(struct dl_tables_paths *p, uint32_t sw, uint16_t lid)
{
	uint32_t n = 0, length = 0;
	uint8_t end = DL_TABLES_FAILS;

	do {
		uint32_t out = p->ports[sw].first + p->column[sw];

		p->state[sw] = DL_TABLES_WALKING;
		p->walk[n++] = sw;
		if (p->column[sw] > p->ports[sw].n)
			break;
		p->out[sw] = out;
		sw = p->next[out];
		if (sw == DL_NONE)
			end = hands_over(p->t->fabric, out, lid) ? DL_TABLES_ARRIVES :
								   DL_TABLES_FAILS;
		else if (p->state[sw] == DL_TABLES_ARRIVES)
			end = DL_TABLES_ARRIVES;
	} while (sw != DL_NONE && p->state[sw] == DL_TABLES_UNKNOWN);
	if (sw != DL_NONE && p->state[sw] != DL_TABLES_WALKING)
		length = p->length[sw];
	while (n--) {
		p->state[p->walk[n]] = end;
		length += p->counts[p->walk[n]];
		p->length[p->walk[n]] = length;
		if (end == DL_TABLES_ARRIVES)
			p->order[p->norder++] = p->walk[n];
	}
}

/* Copy the columns of a block of LIDs. */
static void paths_turn(struct dl_tables_paths *p, uint32_t block)
{
	p->block = block;
	p->filled = NULL;
	for (uint32_t s = 0; s < p->t->fabric->nswitches; s++) {
		const uint8_t *row =
			p->t->lft + s * (size_t)p->t->stride + block * DL_TABLES_PATHS_BLOCK;

		__builtin_prefetch(row + AHEAD * (size_t)p->t->stride);
		for (uint32_t i = 0; i < DL_TABLES_PATHS_BLOCK; i++)
			p->columns[i * p->apart + s] = row[i];
	}
}

/*
 * Is the tree the one at hand, but for the root's port?  A switch and the adapters
 * attached to it mostly share theirs.
 */
static bool has_same_tree(struct dl_tables_paths *p, uint32_t home, uint16_t lid)
{
	uint32_t n = p->t->fabric->nswitches, out;

	if (!p->filled || home != p->home || p->column[home] > p->ports[home].n)
		return false;
	out = p->ports[home].first + p->column[home];
	if (p->next[out] != DL_NONE || !hands_over(p->t->fabric, out, lid) ||
	    memcmp(p->column, p->filled, home) ||
	    memcmp(p->column + home + 1, p->filled + home + 1, n - home - 1))
		return false;
	p->out[home] = out;
	return true;
}

void dl_tables_paths_choose(struct dl_tables_paths *p, uint16_t lid)
{
	if (lid / DL_TABLES_PATHS_BLOCK != p->block)
		paths_turn(p, lid / DL_TABLES_PATHS_BLOCK);
	p->column = &p->columns[lid % DL_TABLES_PATHS_BLOCK * p->apart];
}

void dl_tables_paths_to(struct dl_tables_paths *p, uint16_t lid)
{
	uint32_t n = p->t->fabric->nswitches;
	uint32_t home = dl_fabric_access_switch(p->t->fabric, p->t->fabric->lid_port[lid]);

	dl_tables_paths_choose(p, lid);
	if (has_same_tree(p, home, lid))
		return;
	memset(p->state, DL_TABLES_UNKNOWN, n);
	p->norder = 0;
	for (uint32_t s = 0; s < n; s++)
		if (p->state[s] == DL_TABLES_UNKNOWN)
			paths_walk(p, s, lid);
	p->home = home;
	p->filled = home != DL_NONE && p->state[home] == DL_TABLES_ARRIVES ? p->column : NULL;
}

static bool paths_allocate(struct dl_tables_paths *p)
{
	const struct dl_fabric *f = p->t->fabric;
	uint32_t n = f->nswitches + 1;

	p->apart = (n / APART | 1) * APART + 2 * APART;
	p->columns = dl_arena_array(&p->arena, p->apart, DL_TABLES_PATHS_BLOCK);
	p->ports = dl_arena_array(&p->arena, n, sizeof(*p->ports));
	p->next = dl_arena_array(&p->arena, f->nports, sizeof(*p->next));
	p->order = dl_arena_array(&p->arena, n, sizeof(*p->order));
	p->out = dl_arena_array(&p->arena, n, sizeof(*p->out));
	p->walk = dl_arena_array(&p->arena, n, sizeof(*p->walk));
	p->length = dl_arena_array(&p->arena, n, sizeof(*p->length));
	p->state = dl_arena_alloc(&p->arena, n);
	p->counts = dl_arena_alloc(&p->arena, n);
	return p->columns && p->ports && p->next && p->order && p->out && p->walk && p->length &&
	       p->state && p->counts;
}

int dl_tables_paths_new(const struct dl_tables *t, struct dl_tables_paths **out)
{
	const struct dl_fabric *f = t->fabric;
	struct dl_tables_paths *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->t = t;
	p->block = DL_NONE;
	if (!paths_allocate(p)) {
		dl_tables_paths_free(p);
		return -ENOMEM;
	}
	memset(p->counts, 1, f->nswitches);
	for (uint32_t s = 0; s < f->nswitches; s++)
		p->ports[s] =
			(struct dl_tables_paths_ports){ dl_fabric_switch_node(f, s)->first_port,
							dl_fabric_switch_node(f, s)->nports };
	for (uint32_t i = 0; i < f->nports; i++)
		p->next[i] = f->ports[i].num ? dl_fabric_peer_switch(f, i) : DL_NONE;
	*out = p;
	return 0;
}

void dl_tables_paths_free(struct dl_tables_paths *p)
{
	if (p)
		dl_arena_free(&p->arena);
	free(p);
}

void dl_tables_paths_count(struct dl_tables_paths *p, const bool *switches)
{
	for (uint32_t s = 0; s < p->t->fabric->nswitches; s++)
		p->counts[s] = switches[s];
	p->filled = NULL;
}

bool dl_tables_paths_arrive(const struct dl_tables_paths *p, uint32_t sw)
{
	return p->state[sw] == DL_TABLES_ARRIVES;
}

uint16_t dl_tables_paths_length(const struct dl_tables_paths *p, uint32_t sw)
{
	return p->length[sw];
}
