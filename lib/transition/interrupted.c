/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which pairs of end ports lose their path for a while: those that the tables
 * before and the tables after deliver, and the closed ones do not.
 *
 * For one LID every switch has one next hop, so whether packets arrive from a
 * switch is known from the next one: each switch is looked at once.  Closed
 * tables are those before without some entries, so that one walk tells both; the
 * tables after are asked only where the closed ones do not deliver.  Only LIDs
 * with a closed entry are looked at, and those of a switch and its adapters,
 * whose entries mostly differ at the switch only, once.  Whether SL-to-VL maps
 * let a packet pass is left to dl_verify().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transition/internal.h"

#define BLOCK 64 /* LIDs whose entries share a line of the cache */
#define AHEAD 16 /* rows that are fetched before they are read */

/* What becomes of packets; ARRIVES only over entries that stay open. */
enum { UNKNOWN, ON_PATH, LOST, INTERRUPTED, ARRIVES };

/* Where an output port leads. */
struct hop {
	uint32_t sw;   /* to a switch, or DL_NONE: */
	uint32_t port; /* to an end port, or DL_NONE */
};

struct walk {
	const struct dl_fabric *f;
	uint32_t *ends; /* end ports with a LID, by switch */
	struct hop *hops;
	uint32_t *first; /* of a switch's hops; one more stands for ports that are not */
	uint8_t *state;
	uint8_t *before, *after; /* entries of a block of LIDs, a column each */
	size_t stride;		 /* of the columns */
	uint64_t *closed;	 /* by switch: which of the block's entries are closed */
	uint32_t *length;	 /* switches from here to the owner, by the tables before */
	uint32_t *path;
};

static const struct hop *hop_of(const struct walk *w, uint32_t s, unsigned int out)
{
	uint32_t at = w->first[s] + out, last = w->first[s + 1] - 1;

	return &w->hops[at < last ? at : last];
}

static const uint8_t *column_of(const struct walk *w, const uint8_t *columns, uint32_t lid)
{
	return columns + lid % BLOCK * w->stride;
}

/*
 * What becomes of a switch's packets to a LID of the block, by one of its
 * columns.  Entries whose bits are set in `closed` are so.
 */
static uint8_t follow(const struct walk *w, const uint8_t *column, const uint64_t *closed,
		      uint32_t lid, uint32_t s)
{
	uint32_t n = 0, length = 0;
	uint8_t result = w->state[s];

	while (result == UNKNOWN) {
		const struct hop *hop = hop_of(w, s, column[s]);

		w->path[n++] = s;
		w->state[s] = ON_PATH;
		if (hop->sw == DL_NONE) {
			bool home = hop->port != DL_NONE && hop->port == w->f->lid_port[lid];

			result = home ? ARRIVES : LOST;
			break;
		}
		s = hop->sw;
		result = w->state[s];
	}
	if (result == ON_PATH)
		result = LOST;
	else if (w->state[s] != ON_PATH)
		length = w->length[s];
	while (n) {
		s = w->path[--n];
		if (closed && result == ARRIVES && closed[s] >> lid % BLOCK & 1)
			result = INTERRUPTED;
		w->state[s] = result;
		w->length[s] = ++length;
	}
	return result;
}

/* Blocks of LIDs with a closed entry; row by row, as they lie in memory. */
static void find_closed(const struct dl_transition *t, bool *closed)
{
	for (uint32_t s = 0; s < t->held->fabric->nswitches; s++) {
		const uint8_t *a = t->closed->lft + s * (size_t)t->closed->stride;
		const uint8_t *b = t->held->lft + s * (size_t)t->held->stride;

		for (uint32_t at = 0; at < t->held->stride; at += BLOCK)
			closed[at / BLOCK] |= memcmp(a + at, b + at, BLOCK) != 0;
	}
}

/* Columns of a block of LIDs from rows of all: one byte of each row would cost a line. */
static void gather(const struct walk *w, const struct dl_tables *t, uint32_t first, uint8_t *to)
{
	for (uint32_t s = 0; s < w->f->nswitches; s++) {
		const uint8_t *row = t->lft + s * (size_t)t->stride + first;

		__builtin_prefetch(row + AHEAD * (size_t)t->stride);
		for (uint32_t k = 0; k < BLOCK; k++)
			to[k * w->stride + s] = row[k];
	}
}

/* Returns which LIDs of the block have one. */
static uint64_t gather_closed(const struct walk *w, const struct dl_transition *t, uint32_t first)
{
	uint64_t any = 0;

	for (uint32_t s = 0; s < w->f->nswitches; s++) {
		const uint8_t *a = t->held->lft + s * (size_t)t->held->stride + first;
		const uint8_t *b = t->closed->lft + s * (size_t)t->closed->stride + first;

		__builtin_prefetch(b + AHEAD * (size_t)t->closed->stride);
		w->closed[s] = 0;
		for (uint32_t k = 0; k < BLOCK && memcmp(a, b, BLOCK) != 0; k++)
			w->closed[s] |= (uint64_t)(a[k] != b[k]) << k;
		any |= w->closed[s];
	}
	return any;
}

/* Returns how many switches' packets are interrupted, or would be lost. */
static uint32_t walk_before(const struct walk *w, struct dl_transition *t, uint32_t lid,
			    uint32_t *interrupted)
{
	const uint8_t *column = column_of(w, w->before, lid);
	uint32_t n = 0;

	memset(w->state, UNKNOWN, w->f->nswitches);
	for (uint32_t s = 0; s < w->f->nswitches; s++) {
		if (follow(w, column, w->closed, lid, s) == INTERRUPTED)
			interrupted[n++] = s;
		if (w->length[s] > t->longest_route)
			t->longest_route = w->length[s];
	}
	return n;
}

/* Pairs to one LID. */
static uint64_t count_lid(const struct walk *w, struct dl_transition *t, uint32_t lid,
			  uint32_t home, uint32_t *interrupted, bool *gathered)
{
	uint32_t count = walk_before(w, t, lid, interrupted);
	uint64_t n = 0;

	if (count && !*gathered)
		gather(w, t->opened, lid - lid % BLOCK, w->after);
	*gathered |= count != 0;
	memset(w->state, UNKNOWN, w->f->nswitches);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t s = interrupted[i];

		/* A port's packets to itself are none. */
		if (follow(w, column_of(w, w->after, lid), NULL, lid, s) == ARRIVES)
			n += w->ends[s] - (s == home);
	}
	return n;
}

/* Do packets to two LIDs of a switch take the same ways to it, and arrive from there? */
static bool same_ways(const struct walk *w, const uint8_t *columns, uint32_t a, uint32_t b,
		      uint32_t home)
{
	const uint8_t *x = column_of(w, columns, a), *y = column_of(w, columns, b);

	return !memcmp(x, y, home) &&
	       !memcmp(x + home + 1, y + home + 1, w->f->nswitches - home - 1) &&
	       hop_of(w, home, x[home])->port == w->f->lid_port[a] &&
	       hop_of(w, home, y[home])->port == w->f->lid_port[b];
}

/* ... and are the same entries closed, and none of that switch? */
static bool same_closed(const struct walk *w, uint32_t a, uint32_t b, uint32_t home)
{
	uint64_t differ = w->closed[home] >> a % BLOCK | w->closed[home] >> b % BLOCK;

	for (uint32_t s = 0; s < w->f->nswitches; s++)
		differ |= w->closed[s] >> a % BLOCK ^ w->closed[s] >> b % BLOCK;
	return !(differ & 1);
}

static uint64_t count_block(const struct walk *w, struct dl_transition *t, uint32_t first,
			    uint32_t *interrupted)
{
	uint64_t closed = gather_closed(w, t, first), sum = 0, n = 0;
	uint32_t last = 0, last_home = DL_NONE;
	bool gathered = false;

	gather(w, t->held, first, w->before);
	for (; closed; closed &= closed - 1) {
		uint32_t lid = first + __builtin_ctzll(closed), home;

		if (lid > w->f->top_lid || w->f->lid_port[lid] == DL_NONE)
			continue;
		home = dl_fabric_access_switch(w->f, w->f->lid_port[lid]);
		if (home == DL_NONE || home != last_home || !same_closed(w, lid, last, home) ||
		    !same_ways(w, w->before, lid, last, home) ||
		    (gathered && !same_ways(w, w->after, lid, last, home)))
			n = count_lid(w, t, lid, home, interrupted, &gathered);
		sum += n;
		last = lid;
		last_home = home;
	}
	return sum;
}

/* Where each port of each switch leads, and the end ports that send there. */
static void lay_out(struct walk *w)
{
	const struct dl_fabric *f = w->f;
	uint32_t n = 0;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *node = &f->nodes[f->switches[s]];

		w->first[s] = n;
		for (unsigned int o = 0; o <= node->nports; o++, n++) {
			uint32_t port = node->first_port + o;

			w->hops[n].sw = o ? dl_fabric_peer_switch(f, port) : DL_NONE;
			w->hops[n].port = o ? f->ports[port].peer : port;
		}
		w->hops[n++] = (struct hop){ DL_NONE, DL_NONE };
	}
	w->first[f->nswitches] = n;
	for (uint32_t p = 0; p < f->nports; p++) {
		uint32_t s = DL_NONE;

		if (f->ports[p].lid && dl_fabric_is_end_port(f, p))
			s = dl_fabric_access_switch(f, p);
		if (s != DL_NONE)
			w->ends[s]++;
	}
}

int dl_transition_interrupted(struct dl_transition *t)
{
	const struct dl_fabric *f = t->opened->fabric;
	struct dl_arena arena = { 0 };
	struct walk w = { .f = f };
	uint32_t n = f->nswitches + 1u;
	bool *closed = dl_arena_zalloc(&arena, t->held->stride / BLOCK + 1u);
	uint32_t *interrupted = dl_arena_array(&arena, n, sizeof(*interrupted));
	int err = 0;

	/* An odd number of lines: columns do not fall into one set of the cache. */
	w.stride = ((f->nswitches / 64 + 1) | 1) * 64ul;
	w.ends = dl_arena_array(&arena, n, sizeof(*w.ends));
	w.path = dl_arena_array(&arena, n, sizeof(*w.path));
	w.length = dl_arena_array(&arena, n, sizeof(*w.length));
	w.first = dl_arena_array(&arena, n, sizeof(*w.first));
	w.hops = dl_arena_array(&arena, f->nports + 2 * (size_t)n, sizeof(*w.hops));
	w.closed = dl_arena_array(&arena, n, sizeof(*w.closed));
	w.state = dl_arena_alloc(&arena, n);
	w.before = dl_arena_array(&arena, BLOCK, w.stride);
	w.after = dl_arena_array(&arena, BLOCK, w.stride);
	if (!closed || !interrupted || !w.ends || !w.path || !w.length || !w.first || !w.hops ||
	    !w.closed || !w.state || !w.before || !w.after)
		err = -ENOMEM;
	if (!err) {
		lay_out(&w);
		find_closed(t, closed);
	}
	for (uint32_t first = 0; first <= f->top_lid && !err; first += BLOCK)
		if (closed[first / BLOCK])
			t->pairs_interrupted += count_block(&w, t, first, interrupted);
	dl_arena_free(&arena);
	return err;
}
