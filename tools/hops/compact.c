/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The most compact choice of hosts.
 *
 * Problem.  Places with room for hosts, distances between them, and a number of
 * hosts to choose: so that the sum of the distances of all pairs is least, or
 * the largest of them (and of equal ones the sum).  Both are NP-hard.
 *
 * Method.  From a place, a choice grows host by host: next is always the one
 * that adds least, by lot among equals (for the largest distance, every second
 * time by that first).  That is done from many places,
 * beginning with those whose nearest hosts are nearest, as often as the effort
 * allows.  The best few choices are improved by exchanging one chosen host for
 * another, as long as that gains; for the largest distance an exchange must
 * lower it, or the number of pairs that have it, or else the sum.
 *
 * Invariant: sum[p] is the sum of the distances from p to all chosen hosts,
 * far[p] the number of chosen hosts at the distance `limit` or more.
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
#include "dateline/base.h"

#define EFFORT 400000000ull /* steps of a place, for growing and for exchanging */
#define MIN_STARTS 2
#define MAX_STARTS 4096
#define KEEP 6 /* choices that are improved */
#define TAKEN UINT64_MAX
#define NOWHERE UINT32_MAX

struct choice {
	uint32_t *take;
	struct compact_result value;
};

struct search {
	const struct compact *c;
	struct dl_arena arena;
	struct dl_random random;
	uint32_t *sum;	/* by place */
	uint16_t *most; /* by place: largest distance to a chosen host */
	uint32_t *far;
	uint32_t *take, *starts;
	struct choice kept[KEEP]; /* best first */
	uint32_t nkept;
	bool by_most;	 /* does growing look at the largest distance first? */
	uint64_t effort; /* what is left */
};

static const uint16_t *row(const struct compact *c, uint32_t place)
{
	return &c->distance[place * (size_t)c->n];
}

struct compact_result compact_value(const struct compact *c, const uint32_t *take)
{
	struct compact_result v = { 0 };

	for (uint32_t p = 0; p < c->n; p++)
		for (uint32_t q = 0; take[p] && q < p; q++) {
			if (!take[q])
				continue;
			v.sum += (uint64_t)take[p] * take[q] * row(c, p)[q];
			if (row(c, p)[q] > v.largest)
				v.largest = row(c, p)[q];
		}
	return v;
}

static bool is_better(const struct compact *c, const struct compact_result *a,
		      const struct compact_result *b)
{
	if (c->largest && a->largest != b->largest)
		return a->largest < b->largest;
	return a->sum < b->sum;
}

/* ---- growing ------------------------------------------------------------- */

static uint64_t key(const struct search *s, uint32_t place)
{
	if (s->take[place] == s->c->room[place])
		return TAKEN;
	return (s->by_most ? (uint64_t)s->most[place] << 40 : 0) + s->sum[place];
}

/* The place that adds least; of equals, one by lot. */
static uint32_t nearest(struct search *s)
{
	uint32_t place = 0, equals = 0, chosen;
	uint64_t least = TAKEN;

	for (uint32_t p = 0; p < s->c->n; p++) {
		uint64_t k = key(s, p);

		if (k < least) {
			least = k;
			place = p;
			equals = 0;
		}
		equals += k == least;
	}
	chosen = equals > 1 ? dl_random_below(&s->random, equals) : 0;
	while (chosen) {
		place++;
		chosen -= key(s, place) == least;
	}
	return place;
}

static void choose(struct search *s, uint32_t place)
{
	const uint16_t *d = row(s->c, place);

	s->take[place]++;
	for (uint32_t p = 0; p < s->c->n; p++) {
		s->sum[p] += d[p];
		s->most[p] = d[p] > s->most[p] ? d[p] : s->most[p];
	}
}

static void grow(struct search *s, uint32_t start)
{
	uint32_t n = s->c->n;

	memset(s->take, 0, n * sizeof(*s->take));
	memset(s->sum, 0, n * sizeof(*s->sum));
	memset(s->most, 0, n * sizeof(*s->most));
	choose(s, start);
	for (uint32_t i = 1; i < s->c->want; i++)
		choose(s, nearest(s));
}

/*
 * Keep the choice at hand if it is among the best.  In a torus most of the same
 * value are the same shape elsewhere: one of them will do.
 */
static void keep(struct search *s)
{
	struct choice new = { s->take, compact_value(s->c, s->take) };
	uint32_t i, last;

	for (i = 0; i < s->nkept; i++)
		if (s->kept[i].value.sum == new.value.sum &&
		    s->kept[i].value.largest == new.value.largest)
			return;
	last = s->nkept < KEEP ? s->nkept++ : KEEP - 1;
	if (i == KEEP && !is_better(s->c, &new.value, &s->kept[last].value))
		return;
	s->take = s->kept[last].take;
	for (i = last; i && is_better(s->c, &new.value, &s->kept[i - 1].value); i--)
		s->kept[i] = s->kept[i - 1];
	s->kept[i] = new;
}

/* ---- where to begin ------------------------------------------------------ */

/* The sum of the distances from a place to the hosts nearest to it. */
static uint64_t star(const struct compact *c, uint32_t place, uint32_t *at_distance)
{
	uint64_t sum = 0;
	uint32_t left = c->want, top = 0;

	for (uint32_t p = 0; p < c->n; p++) {
		uint16_t d = row(c, place)[p];

		at_distance[d] += c->room[p];
		top = d > top ? d : top;
	}
	for (uint32_t d = 0; d <= top; d++) {
		uint32_t here = at_distance[d] < left ? at_distance[d] : left;

		sum += (uint64_t)here * d;
		left -= here;
		at_distance[d] = 0;
	}
	return sum;
}

static int compare_stars(const void *a, const void *b, void *stars)
{
	const uint64_t *star = stars;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return star[x] != star[y] ? (star[x] < star[y] ? -1 : 1) : (x > y) - (x < y);
}

/* All places with room, the most promising first. */
static int order_starts(struct search *s, uint32_t *nstarts)
{
	const struct compact *c = s->c;
	uint32_t *at_distance = dl_arena_array(&s->arena, UINT16_MAX + 1, sizeof(*at_distance));
	uint64_t *stars = dl_arena_array(&s->arena, c->n, sizeof(*stars));

	if (!at_distance || !stars)
		return -ENOMEM;
	for (uint32_t p = 0; p < c->n; p++)
		if (c->room[p]) {
			stars[p] = star(c, p, at_distance);
			s->starts[(*nstarts)++] = p;
		}
	qsort_r(s->starts, *nstarts, sizeof(*s->starts), compare_stars, stars);
	return 0;
}

/* ---- exchanging ---------------------------------------------------------- */

/* What the exchange of a host at `out` for one at `in` would change. */
struct gain {
	int64_t far, sum; /* below 0: better */
};

static struct gain gain_of(const struct search *s, uint32_t out, uint32_t in, uint64_t limit)
{
	uint16_t d = row(s->c, out)[in];

	return (struct gain){ (int64_t)s->far[in] - (d >= limit) - s->far[out],
			      (int64_t)s->sum[in] - d - s->sum[out] };
}

static bool gains_more(const struct gain *a, const struct gain *b)
{
	return a->far != b->far ? a->far < b->far : a->sum < b->sum;
}

static void exchange(struct search *s, uint32_t *take, uint32_t out, uint32_t in, uint64_t limit)
{
	const uint16_t *less = row(s->c, out), *more = row(s->c, in);

	take[out]--;
	take[in]++;
	for (uint32_t p = 0; p < s->c->n; p++) {
		s->sum[p] += more[p] - less[p];
		s->far[p] += (more[p] >= limit) - (less[p] >= limit);
	}
}

/* The sums for a choice; `limit`: a distance that counts as far. */
static void count(struct search *s, const uint32_t *take, uint64_t limit)
{
	memset(s->sum, 0, s->c->n * sizeof(*s->sum));
	memset(s->far, 0, s->c->n * sizeof(*s->far));
	for (uint32_t q = 0; q < s->c->n; q++)
		for (uint32_t p = 0; take[q] && p < s->c->n; p++) {
			s->sum[p] += take[q] * row(s->c, q)[p];
			s->far[p] += row(s->c, q)[p] >= limit ? take[q] : 0;
		}
}

/*
 * Make the best exchange.  False: none gains, or the effort is spent.  For the
 * sum alone nothing counts as far.
 */
static bool exchange_one(struct search *s, uint32_t *take, uint64_t limit)
{
	struct gain best = { 0, 0 };
	uint32_t n = s->c->n, from = NOWHERE, to = 0;

	for (uint32_t out = 0; out < n; out++) {
		if (!take[out])
			continue;
		if (s->effort < n)
			return false;
		s->effort -= n;
		for (uint32_t in = 0; in < n; in++) {
			struct gain g = gain_of(s, out, in, limit);

			if (take[in] < s->c->room[in] && in != out && gains_more(&g, &best)) {
				best = g;
				from = out;
				to = in;
			}
		}
	}
	if (from != NOWHERE)
		exchange(s, take, from, to, limit);
	return from != NOWHERE;
}

static void improve(struct search *s, struct choice *a)
{
	struct choice better = { .take = s->take };

	while (a->value.sum) {
		uint64_t limit = s->c->largest ? a->value.largest : UINT64_MAX;

		memcpy(better.take, a->take, s->c->n * sizeof(*a->take));
		count(s, better.take, limit);
		while (exchange_one(s, better.take, limit))
			dl_progress(s->c->log, "exchanging hosts", " steps", EFFORT - s->effort,
				    EFFORT);
		better.value = compact_value(s->c, better.take);
		if (!is_better(s->c, &better.value, &a->value))
			return;
		memcpy(a->take, better.take, s->c->n * sizeof(*a->take));
		a->value = better.value;
	}
}

/* ---- the whole ----------------------------------------------------------- */

static int search_begin(struct search *s)
{
	uint32_t n = s->c->n;
	int err;

	s->sum = dl_arena_array(&s->arena, n, sizeof(*s->sum));
	s->most = dl_arena_array(&s->arena, n, sizeof(*s->most));
	s->far = dl_arena_array(&s->arena, n, sizeof(*s->far));
	s->take = dl_arena_array(&s->arena, n, sizeof(*s->take));
	s->starts = dl_arena_array(&s->arena, n, sizeof(*s->starts));
	err = s->sum && s->most && s->far && s->take && s->starts ? 0 : -ENOMEM;
	for (uint32_t i = 0; !err && i < KEEP; i++) {
		s->kept[i].take = dl_arena_array(&s->arena, n, sizeof(*s->take));
		err = s->kept[i].take ? 0 : -ENOMEM;
	}
	return err;
}

int compact_choose(const struct compact *c, uint32_t *take, struct compact_result *out)
{
	struct search s = { .c = c, .random = { .seed = 1 } };
	uint64_t one = (uint64_t)c->want * c->n * 2 + 1, starts;
	uint32_t nstarts = 0, best = 0;
	int err = search_begin(&s);

	if (!err)
		err = order_starts(&s, &nstarts);
	if (err)
		goto out;
	starts = EFFORT / one;
	if (starts < MIN_STARTS)
		starts = MIN_STARTS;
	if (starts > MAX_STARTS)
		starts = MAX_STARTS;
	for (uint64_t i = 0; i < starts; i++) {
		dl_progress(c->log, "choosing hosts", " starts", i, starts);
		s.by_most = c->largest && i % 2;
		grow(&s, s.starts[(c->largest ? i / 2 : i) % nstarts]);
		keep(&s);
	}
	s.effort = EFFORT;
	for (uint32_t i = 0; i < s.nkept; i++) {
		improve(&s, &s.kept[i]);
		if (is_better(c, &s.kept[i].value, &s.kept[best].value))
			best = i;
	}
	dl_progress(c->log, "exchanging hosts", " steps", EFFORT, EFFORT);
	memcpy(take, s.kept[best].take, c->n * sizeof(*take));
	*out = s.kept[best].value;
out:
	dl_arena_free(&s.arena);
	return err;
}
