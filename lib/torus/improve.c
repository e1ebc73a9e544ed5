/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Improvement: switches that a wrong cable has led to a site of another one
 * (rules A3).
 *
 * Problem.  The solver (solver.c) places a switch where its first placed
 * neighbours say.  If the cables to these do not belong, it takes the site of
 * another switch, which then has none, or takes that of a third.
 *
 * Method.  Local search.  A switch with a cable that joins no neighbours is
 * tried at each site next to one of its placed neighbours, and so is one
 * without a site; whoever is there takes its former site, or has none.  A step
 * is taken if more cables join neighbours then.  And what has no site takes a
 * free one if all around it are its neighbours, or have a cable that belongs
 * elsewhere, or if there is no more to repair then: a corner, one of whose two
 * cables is wrong, is as weak as what is dual-homed.
 *
 * What is left may have gone wrong from the start, if the solver came to the
 * faults before it had placed enough around them.  So it runs again from a few
 * switches that are right, where they are, and what has the fewest faults is
 * taken, of equals that with fewest switches at them.
 *
 * Invariant.  Where all cables between placed switches join neighbours,
 * nothing changes.  No step makes fewer cables join neighbours, so this ends.
 * In windows nothing moves to a free site.  What the seed names stays: a seed that
 * is wrong must not pass for one that is right.
 *
 * Complexity: linear in the switches, and a bounded number of sites for each of
 * those that do not fit.  If these are many, the grid is wrong, and it is not
 * tried.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "torus/internal.h"

#define MOST 4 /* one switch in so many may not fit */
#define ROUNDS 4
#define ELSEWHERE 8	     /* at least so many other switches to grow from */
#define MAX_PLACED (1 << 10) /* ... or until so many have been placed */

uint32_t dl_torus_count_repairs(const struct dl_torus_solver *s)
{
	uint32_t wrong = 0;
	unsigned int near;

	for (uint32_t sw = 0; sw < s->n; sw++)
		if (s->site_of[sw] != DL_NONE)
			wrong += dl_torus_count_placed(s, sw, s->site_of[sw], &near) - near;
	return dl_torus_count_uncabled(s) + wrong / 2;
}

uint32_t dl_torus_count_faults(const struct dl_torus_solver *s)
{
	uint32_t faults = dl_torus_count_repairs(s) + s->nreal - s->nplaced;

	for (uint32_t sw = 0; sw < s->n; sw++)
		faults += s->site_of[sw] == DL_NONE && s->weak[sw] != DL_TORUS_APPENDAGE;
	return faults;
}

uint32_t dl_torus_count_right(const struct dl_torus_solver *s)
{
	uint32_t right = 0;
	unsigned int near;

	for (uint32_t sw = 0; sw < s->n; sw++) {
		uint32_t site = s->site_of[sw];
		unsigned int there = 0;

		for (unsigned int dir = 0; dir < DIRS && site != DL_NONE; dir++) {
			uint32_t at = dl_torus_site_next(&s->grid, site, dir);

			there += at != DL_NONE && s->sw_at[at] != DL_NONE;
		}
		right += site != DL_NONE && dl_torus_count_placed(s, sw, site, &near) == there &&
			 near == there;
	}
	return right;
}

/* Put a switch at a site, and whoever is there where it was. */
static void improve_exchange(struct dl_torus_solver *s, uint32_t sw, uint32_t site)
{
	uint32_t other = s->sw_at[site], was = s->site_of[sw];

	s->sw_at[site] = sw;
	s->site_of[sw] = site;
	if (was != DL_NONE)
		s->sw_at[was] = other;
	if (other != DL_NONE)
		s->site_of[other] = was;
}

/* Cables of a switch that join neighbours. */
static unsigned int improve_count_joined(struct dl_torus_solver *s, uint32_t sw)
{
	unsigned int near = 0;

	if (sw == DL_NONE || s->site_of[sw] == DL_NONE)
		return 0;
	s->effort += dl_torus_degree(&s->graph, sw);
	dl_torus_count_placed(s, sw, s->site_of[sw], &near);
	return near;
}

/* Does the seed that was grown from name a switch?  Then it says where that is. */
static bool is_named(const struct dl_torus_solver *s, const struct dl_torus_config *c, uint32_t sw)
{
	const struct dl_torus_seed *seed = s->seed < c->nseeds ? &c->seeds[s->seed] : NULL;
	uint64_t guid = sw == DL_NONE ? 0 : dl_fabric_switch_node(s->f, sw)->guid;
	bool named = seed && guid && seed->from == guid;

	for (unsigned int dir = 0; seed && guid && dir < DIRS; dir++)
		named |= seed->to[dir] == guid;
	return named;
}

/* Is a switch better off at this site, and whoever is there where it was? */
static bool try_site(struct dl_torus_solver *s, const struct dl_torus_config *c, uint32_t sw,
		     uint32_t site)
{
	uint32_t other = s->sw_at[site], was = s->site_of[sw];
	unsigned int before;

	if (is_named(s, c, sw) || is_named(s, c, other))
		return false;
	if (other == DL_NONE ? was == DL_NONE || s->nsites != s->nreal :
			       was == DL_NONE && s->weak[sw])
		return false;
	before = improve_count_joined(s, sw) + improve_count_joined(s, other);
	improve_exchange(s, sw, site);
	if (improve_count_joined(s, sw) + improve_count_joined(s, other) > before)
		return true;
	if (was == DL_NONE)
		improve_exchange(s, other, site);
	else
		improve_exchange(s, sw, was);
	return false;
}

/* Has a placed switch a cable that joins no neighbours? */
static bool is_crossed(const struct dl_torus_solver *s, uint32_t sw)
{
	unsigned int near, placed;

	placed = dl_torus_count_placed(s, sw, s->site_of[sw], &near);
	return s->site_of[sw] != DL_NONE && placed > near;
}

/* Is nothing known against a switch's being that of a site (hints.c)? */
static bool is_likely(const struct dl_torus_solver *s, uint32_t sw, uint32_t site)
{
	struct dl_torus_hints h;

	dl_torus_learn_hints(s, &h);
	return dl_torus_score(s, &h, sw, site) > 0;
}

/*
 * May a switch that has no site take a free one?  If it has a neighbour there, and
 * all others there have a cable that belongs elsewhere; or if its cables contradict
 * each other, and that leaves no more to explain than a switch without a site and a
 * site without a switch.
 */
static bool take_site(struct dl_torus_solver *s, uint32_t sw, uint32_t site)
{
	unsigned int there = 0, lacking = 0, placed, near;
	bool crossed = true;

	if (s->site_of[sw] != DL_NONE || s->sw_at[site] != DL_NONE ||
	    !dl_torus_within_span(s, site))
		return false;
	for (unsigned int dir = 0; dir < DIRS; dir++) {
		uint32_t at = dl_torus_site_next(&s->grid, site, dir);
		uint32_t next = at == DL_NONE ? DL_NONE : s->sw_at[at];

		if (next == DL_NONE)
			continue;
		there++;
		bool joined = dl_torus_cabled(&s->graph, sw, next);
		lacking += !joined;
		crossed &= joined || is_crossed(s, next);
	}
	placed = dl_torus_count_placed(s, sw, site, &near);
	if (there < 2 || (s->ncand[sw] && !(crossed && lacking)) ||
	    (!crossed && (lacking + placed - near > 2 || !is_likely(s, sw, site))))
		return false;
	dl_torus_place(s, sw, site);
	return true;
}

static bool try_sites(struct dl_torus_solver *s, const struct dl_torus_config *c, uint32_t sw)
{
	const uint32_t *n, *end;

	for (n = dl_torus_neighbours(&s->graph, sw, &end); n < end; n++) {
		for (unsigned int dir = 0; dir < DIRS && s->site_of[*n] != DL_NONE; dir++) {
			uint32_t site = dl_torus_site_next(&s->grid, s->site_of[*n], dir);

			if (site != DL_NONE && site != s->site_of[sw] &&
			    (try_site(s, c, sw, site) || take_site(s, sw, site)))
				return true;
		}
	}
	return false;
}

/* ... or no site, and more than one placed neighbour? */
static bool is_misplaced(const struct dl_torus_solver *s, uint32_t sw)
{
	unsigned int near;

	return s->site_of[sw] == DL_NONE ? dl_torus_count_placed(s, sw, DL_NONE, &near) > 1 :
					   is_crossed(s, sw);
}

/* The number of misplaced switches; 0 if no cable proves that one is. */
static uint32_t count_misplaced(const struct dl_torus_solver *s)
{
	uint32_t count = 0;
	bool crossed = false;

	for (uint32_t sw = 0; sw < s->n; sw++) {
		bool misplaced = is_misplaced(s, sw);

		count += misplaced;
		crossed |= s->site_of[sw] == DL_NONE ? misplaced && !s->ncand[sw] : misplaced;
	}
	return crossed ? count : 0;
}

void dl_torus_improve(struct dl_torus_solver *s, const struct dl_torus_config *c)
{
	uint32_t misplaced = count_misplaced(s);
	bool better = misplaced && misplaced * MOST <= s->n;

	for (unsigned int round = 0; better && round < ROUNDS; round++) {
		better = false;
		for (uint32_t i = 0; i < s->n && s->effort < DL_TORUS_MAX_EFFORT; i++)
			if (is_misplaced(s, s->by_guid[i]) && try_sites(s, c, s->by_guid[i]))
				better = true;
		if (better)
			dl_torus_solver_resume(s);
	}
}

/* ---- from elsewhere ---------------------------------------------------- */

/* Do all cables of a switch agree with its site, and is none missing? */
static bool is_right(const struct dl_torus_solver *s, const uint32_t *sites, uint32_t sw)
{
	const uint32_t *n, *end;
	unsigned int directions = 0;

	for (unsigned int dir = 0; dir < DIRS && sites[sw] != DL_NONE; dir++)
		directions += dl_torus_site_next(&s->grid, sites[sw], dir) != DL_NONE;
	for (n = dl_torus_neighbours(&s->graph, sw, &end); n < end; n++) {
		if (sites[*n] == DL_NONE || sites[sw] == DL_NONE ||
		    dl_torus_direction(&s->grid, sites[sw], sites[*n]) == DIRS)
			return false;
		directions--;
	}
	return sites[sw] != DL_NONE && !directions;
}

static int place_again(struct dl_torus_solver *s, const uint32_t *sites)
{
	struct dl_torus_grid grid = s->grid;
	int err = dl_torus_solver_begin(s, &grid);

	for (uint32_t sw = 0; !err && sw < s->n; sw++)
		if (sites[sw] != DL_NONE)
			dl_torus_place(s, sw, sites[sw]);
	return err;
}

static int grow_around(struct dl_torus_solver *s, const struct dl_torus_config *c,
		       const uint32_t *sites, uint32_t sw)
{
	struct dl_torus_grid grid = s->grid;
	const uint32_t *n, *end;
	int err = dl_torus_solver_begin(s, &grid);

	if (err)
		return err;
	dl_torus_place(s, sw, sites[sw]);
	for (n = dl_torus_neighbours(&s->graph, sw, &end); n < end; n++)
		dl_torus_place(s, *n, sites[*n]);
	dl_torus_solver_run(s);
	dl_torus_improve(s, c);
	return 0;
}

/* The next switch in order of GUID that is right, from one on and before another. */
static uint32_t next_right(const struct dl_torus_solver *s, const uint32_t *sites, uint32_t from,
			   uint32_t to)
{
	for (uint32_t i = from; i < to && i < s->n; i++)
		if (is_right(s, sites, s->by_guid[i]))
			return s->by_guid[i];
	return DL_NONE;
}

static bool keeps_seed(const struct dl_torus_solver *s, const struct dl_torus_config *c,
		       const uint32_t *sites)
{
	for (uint32_t sw = 0; sw < s->n; sw++)
		if (s->site_of[sw] != sites[sw] && is_named(s, c, sw))
			return false;
	return true;
}

/* Faults, and of as many the switches that they are at. */
static uint64_t improve_rate(const struct dl_torus_solver *s)
{
	return (uint64_t)dl_torus_count_faults(s) << 32 | (s->n - dl_torus_count_right(s));
}

static int try_elsewhere(struct dl_torus_solver *s, const struct dl_torus_config *c,
			 const uint32_t *sites, uint32_t *best)
{
	uint64_t least = improve_rate(s);
	uint32_t stride = s->n / (ELSEWHERE + MAX_PLACED / s->n) + 1;
	int err = 0;

	for (uint32_t i = 0; !err && least && i < s->n; i += stride) {
		uint32_t sw = next_right(s, sites, i, i + stride);

		if (sw == DL_NONE || s->effort >= DL_TORUS_MAX_EFFORT)
			continue;
		err = grow_around(s, c, sites, sw);
		if (err || improve_rate(s) >= least || !keeps_seed(s, c, sites))
			continue;
		least = improve_rate(s);
		memcpy(best, s->site_of, s->n * sizeof(*best));
	}
	return err ? err : place_again(s, best);
}

int dl_torus_grow_elsewhere(struct dl_torus_solver *s, const struct dl_torus_config *c)
{
	uint32_t *sites;
	int err = -ENOMEM;

	if (!count_misplaced(s))
		return 0;
	sites = malloc(2 * s->n * sizeof(*sites));
	if (sites) {
		memcpy(sites, s->site_of, s->n * sizeof(*sites));
		memcpy(sites + s->n, s->site_of, s->n * sizeof(*sites));
		err = try_elsewhere(s, c, sites, sites + s->n);
	}
	free(sites);
	return err;
}
