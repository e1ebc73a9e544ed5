/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which pairs of end ports lose their path for a while: those that the tables
 * before and the tables after deliver, and the closed ones do not.
 *
 * For one LID every switch has one next hop, so whether packets arrive from a
 * switch is known from the next one: each switch is looked at once.  Only LIDs
 * with a closed entry are looked at.  Whether SL-to-VL maps let a packet pass
 * is left to dl_verify().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transition/internal.h"

#define BLOCK 64 /* LIDs whose entries share a line of the cache */

enum tables { BEFORE, CLOSED, AFTER, TABLES };
enum { UNKNOWN, ON_PATH, LOST, ARRIVES };

struct walk {
	const struct dl_fabric *f;
	uint32_t *ends; /* end ports with a LID, by switch */
	uint8_t *state[TABLES];
	uint8_t *out[TABLES]; /* entries of a block of LIDs, a column each */
	size_t stride;	      /* of the columns */
	uint32_t *hops;	      /* switches from here to the owner, by the tables before */
	uint32_t *path;
};

/* Does a packet arrive from a switch?  `k`: by which tables. */
static bool arrives(const struct walk *w, enum tables k, uint16_t lid, uint32_t s)
{
	const struct dl_fabric *f = w->f;
	const uint8_t *column = w->out[k] + lid % BLOCK * w->stride;
	uint8_t *state = w->state[k], result = UNKNOWN;
	uint32_t n = 0, hops = 0;

	while (!result) {
		unsigned int out = column[s];
		const struct dl_fabric_node *node = &f->nodes[f->switches[s]];
		uint32_t port = out > node->nports ? DL_NONE : node->first_port + out;

		if (state[s] != UNKNOWN) {
			result = state[s] == ARRIVES ? ARRIVES : LOST;
			hops = k == BEFORE ? w->hops[s] : 0;
			break;
		}
		w->path[n++] = s;
		state[s] = ON_PATH;
		if (port != DL_NONE && out)
			port = f->ports[port].peer;
		if (port == DL_NONE)
			result = LOST;
		else if (port == f->lid_port[lid])
			result = ARRIVES;
		else if (!out || !dl_fabric_is_switch(f, f->ports[port].node))
			result = LOST;
		else
			s = f->nodes[f->ports[port].node].sw;
	}
	while (n) {
		state[w->path[--n]] = result;
		if (k == BEFORE)
			w->hops[w->path[n]] = ++hops;
	}
	return result == ARRIVES;
}

/* LIDs with a closed entry; row by row, as they lie in memory. */
static void find_closed(const struct dl_transition *t, bool *closed)
{
	for (uint32_t s = 0; s < t->held->fabric->nswitches; s++) {
		const uint8_t *a = t->closed->lft + s * (size_t)t->closed->stride;
		const uint8_t *b = t->held->lft + s * (size_t)t->held->stride;

		for (uint32_t lid = 1; lid <= t->held->top_lid; lid++)
			closed[lid] |= a[lid] != b[lid];
	}
}

/* Columns of a block of LIDs from rows of all: one byte of each row would cost a line. */
static void gather(const struct walk *w, const struct dl_tables *t, uint32_t first, uint8_t *to)
{
	for (uint32_t s = 0; s < w->f->nswitches; s++)
		for (uint32_t k = 0; k < BLOCK && first + k <= w->f->top_lid; k++)
			to[k * w->stride + s] = dl_tables_lft(t, s, first + k);
}

static uint64_t count_lid(const struct walk *w, struct dl_transition *t, uint32_t lid)
{
	uint32_t home = dl_fabric_access_switch(w->f, w->f->lid_port[lid]);
	uint64_t n = 0;

	for (unsigned int k = 0; k < TABLES; k++)
		memset(w->state[k], UNKNOWN, w->f->nswitches);
	for (uint32_t s = 0; s < w->f->nswitches; s++) {
		bool before = arrives(w, BEFORE, lid, s);

		if (w->hops[s] > t->longest_route)
			t->longest_route = w->hops[s];
		/* A port's packets to itself are none. */
		if (before && !arrives(w, CLOSED, lid, s) && arrives(w, AFTER, lid, s))
			n += w->ends[s] - (s == home);
	}
	return n;
}

static uint64_t count_block(const struct walk *w, struct dl_transition *t, const bool *closed,
			    uint32_t first)
{
	const struct dl_tables *const tables[TABLES] = { t->held, t->closed, t->opened };
	const struct dl_fabric *f = w->f;
	bool gathered = false;
	uint64_t n = 0;

	for (uint32_t lid = first; lid < first + BLOCK && lid <= f->top_lid; lid++) {
		if (!closed[lid] || f->lid_port[lid] == DL_NONE)
			continue;
		for (unsigned int k = 0; k < TABLES && !gathered; k++)
			gather(w, tables[k], first, w->out[k]);
		gathered = true;
		n += count_lid(w, t, lid);
	}
	return n;
}

int dl_transition_interrupted(struct dl_transition *t)
{
	const struct dl_fabric *f = t->opened->fabric;
	struct dl_arena arena = { 0 };
	struct walk w = { .f = f };
	bool *closed = dl_arena_alloc(&arena, f->top_lid + 1u);
	int err = closed ? 0 : -ENOMEM;

	w.ends = dl_arena_array(&arena, f->nswitches + 1, sizeof(*w.ends));
	w.path = dl_arena_array(&arena, f->nswitches + 1, sizeof(*w.path));
	w.hops = dl_arena_array(&arena, f->nswitches + 1, sizeof(*w.hops));
	/* An odd number of lines: columns do not fall into one set of the cache. */
	w.stride = ((f->nswitches / 64 + 1) | 1) * 64ul;
	for (unsigned int k = 0; k < TABLES; k++) {
		w.state[k] = dl_arena_alloc(&arena, f->nswitches + 1);
		w.out[k] = dl_arena_array(&arena, BLOCK, w.stride);
		if (!w.state[k] || !w.out[k])
			err = -ENOMEM;
	}
	if (!w.ends || !w.path || !w.hops)
		err = -ENOMEM;
	for (uint32_t p = 0; p < f->nports && !err; p++) {
		uint32_t s = DL_NONE;

		if (f->ports[p].lid && dl_fabric_is_end_port(f, p))
			s = dl_fabric_access_switch(f, p);
		if (s != DL_NONE)
			w.ends[s]++;
	}
	if (!err) {
		memset(closed, 0, f->top_lid + 1u);
		find_closed(t, closed);
	}
	for (uint32_t first = 0; first <= f->top_lid && !err; first += BLOCK)
		t->pairs_interrupted += count_block(&w, t, closed, first);
	dl_arena_free(&arena);
	return err;
}
