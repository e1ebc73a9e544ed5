/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The most compact choice of hosts.
 *
 * Problem.  Places with room for hosts, distances between them, and a number of
 * hosts to choose so that the sum of the distances of all pairs is least.  This
 * is NP-hard.
 *
 * Method.  From a place, a choice grows host by host: next is always the one
 * that adds least, a random one among equals.  It is then improved by exchanging
 * one chosen host for another, as long as that lowers the sum.  This is done
 * from many places, beginning with those whose nearest hosts are nearest, as
 * often as the effort allows, and the best choice is taken.
 *
 * Invariant: sum[p] is the sum of the distances from p to all chosen hosts.
 *
 * Complexity: growing is O(want * n), an exchange O(places chosen * n); both are
 * repeated within a fixed effort, so that the same input gives the same result
 * on every machine.  Memory O(n).
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compact.h"

#define EFFORT 400000000ull /* steps of a place, for growing and for exchanging */
#define MIN_STARTS 2
#define MAX_STARTS 4096

struct compact_search {
	const struct compact *c;
	struct dl_arena arena;
	struct dl_random random;
	uint32_t *sum, *take, *best; /* by place */
	uint32_t *starts, nstarts;   /* places with room, the most promising first */
	uint64_t least;		     /* the sum of the best choice */
	uint64_t effort;	     /* what is left */
};

static const uint16_t *compact_row(const struct compact *c, uint32_t place)
{
	return &c->distance[place * (size_t)c->n];
}

static bool compact_charge(struct compact_search *s, uint64_t steps)
{
	bool enough = s->effort >= steps;

	s->effort -= enough ? steps : s->effort;
	return enough;
}

/* Add a host at a place, or take one away. */
static void compact_change(struct compact_search *s, uint32_t place, int by)
{
	const uint16_t *d = compact_row(s->c, place);

	s->take[place] += by;
	for (uint32_t p = 0; p < s->c->n; p++)
		s->sum[p] += by * d[p];
}

/* ---- growing ------------------------------------------------------------- */

/* The place with room that adds least; of equals, a random one. */
static uint32_t compact_nearest(struct compact_search *s)
{
	uint32_t place = 0, equals = 0;

	for (uint32_t p = 0; p < s->c->n; p++) {
		if (s->take[p] == s->c->room[p] || (equals && s->sum[p] > s->sum[place]))
			continue;
		equals = equals && s->sum[p] == s->sum[place] ? equals + 1 : 1;
		if (equals == 1 || !dl_random_below(&s->random, equals))
			place = p;
	}
	return place;
}

static void compact_grow(struct compact_search *s, uint32_t start)
{
	memset(s->take, 0, s->c->n * sizeof(*s->take));
	memset(s->sum, 0, s->c->n * sizeof(*s->sum));
	compact_change(s, start, 1);
	for (uint32_t i = 1; i < s->c->want; i++)
		compact_change(s, compact_nearest(s), 1);
}

/* ---- exchanging ---------------------------------------------------------- */

/* Make the exchange that gains most.  False: none gains, or the effort is spent. */
static bool compact_exchange(struct compact_search *s)
{
	uint32_t n = s->c->n, from = 0, to = 0;
	int64_t best = 0;

	for (uint32_t out = 0; out < n; out++) {
		const uint16_t *d = compact_row(s->c, out);

		if (!s->take[out])
			continue;
		if (!compact_charge(s, n))
			return false;
		for (uint32_t in = 0; in < n; in++) {
			int64_t gain = (int64_t)s->sum[out] + d[in] - s->sum[in];

			if (s->take[in] == s->c->room[in] || in == out || gain <= best)
				continue;
			best = gain;
			from = out;
			to = in;
		}
	}
	if (!best)
		return false;
	compact_change(s, from, -1);
	compact_change(s, to, 1);
	return true;
}

static void compact_keep(struct compact_search *s)
{
	uint64_t sum = 0;

	for (uint32_t p = 0; p < s->c->n; p++)
		sum += (uint64_t)s->take[p] * s->sum[p];
	if (sum >= s->least)
		return;
	s->least = sum;
	memcpy(s->best, s->take, s->c->n * sizeof(*s->take));
}

/* ---- where to begin ------------------------------------------------------ */

/* The sum of the distances from a place to the hosts nearest to it. */
static uint64_t compact_star(const struct compact *c, uint32_t place, uint32_t *at_distance)
{
	uint64_t sum = 0;
	uint32_t left = c->want;

	memset(at_distance, 0, (UINT16_MAX + 1) * sizeof(*at_distance));
	for (uint32_t p = 0; p < c->n; p++)
		at_distance[compact_row(c, place)[p]] += c->room[p];
	for (uint32_t d = 0; left && d <= UINT16_MAX; d++) {
		uint32_t here = at_distance[d] < left ? at_distance[d] : left;

		sum += (uint64_t)here * d;
		left -= here;
	}
	return sum;
}

static int compact_compare_stars(const void *a, const void *b, void *stars)
{
	const uint64_t *star = stars;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return star[x] != star[y] ? (star[x] < star[y] ? -1 : 1) : (x > y) - (x < y);
}

static int compact_order_starts(struct compact_search *s)
{
	const struct compact *c = s->c;
	uint32_t *at_distance = dl_arena_array(&s->arena, UINT16_MAX + 1, sizeof(*at_distance));
	uint64_t *stars = dl_arena_array(&s->arena, c->n, sizeof(*stars));

	if (!at_distance || !stars)
		return -ENOMEM;
	for (uint32_t p = 0; p < c->n; p++)
		if (c->room[p]) {
			stars[p] = compact_star(c, p, at_distance);
			s->starts[s->nstarts++] = p;
		}
	qsort_r(s->starts, s->nstarts, sizeof(*s->starts), compact_compare_stars, stars);
	return 0;
}

/* ---- the whole ----------------------------------------------------------- */

int compact_choose(const struct compact *c, uint32_t *take, uint64_t *sum)
{
	struct compact_search s = {
		.c = c, .random = { .seed = 1 }, .least = UINT64_MAX, .effort = EFFORT
	};
	int err;

	s.sum = dl_arena_array(&s.arena, c->n, sizeof(*s.sum));
	s.take = dl_arena_array(&s.arena, c->n, sizeof(*s.take));
	s.best = dl_arena_array(&s.arena, c->n, sizeof(*s.best));
	s.starts = dl_arena_array(&s.arena, c->n, sizeof(*s.starts));
	err = s.sum && s.take && s.best && s.starts ? compact_order_starts(&s) : -ENOMEM;
	for (uint32_t i = 0; !err && i < MAX_STARTS; i++) {
		if (!compact_charge(&s, (uint64_t)c->want * c->n * 2) && i >= MIN_STARTS)
			break;
		dl_progress(c->log, "choosing hosts", " steps", EFFORT - s.effort, EFFORT);
		compact_grow(&s, s.starts[i % s.nstarts]);
		while (compact_exchange(&s))
			;
		compact_keep(&s);
	}
	dl_progress(c->log, "choosing hosts", " steps", EFFORT, EFFORT);
	if (!err) {
		memcpy(take, s.best, c->n * sizeof(*take));
		*sum = s.least / 2;
	}
	dl_arena_free(&s.arena);
	return err;
}
