/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The solver: which switch is at which site (rules A3).
 *
 * Problem.  The cabling is an undirected graph of switches.  We look for an
 * assignment of switches to sites of a grid under which cabled switches are
 * at neighbouring sites, starting from a few that are placed.  Some switches
 * and cables may be missing, some may not belong.
 *
 * Method.  A constraint problem, solved by arc consistency.  A switch with a
 * placed neighbour has at most six candidate sites; a candidate survives when
 *
 *   - it is free,
 *   - it is next to the site of every placed neighbour, and
 *   - every unplaced neighbour that has candidates has one next to it.
 *
 * A switch that is left with one candidate is placed there, which narrows its
 * surroundings.  In a torus two switches at right angles of a third have
 * exactly one common neighbour besides it, so this rule alone unrolls the
 * grid, whatever its shape, with no case for corners, edges or radices.
 *
 * Invariants.  site_of and sw_at are inverse to each other.  While all cables
 * belong to the grid, each step removes only candidates that no complete
 * assignment has, so nothing is ever misplaced, however many switches and
 * cables are missing.  To stand up to a few cables that do not belong,
 * switches with two placed neighbours or more go first, a site that two
 * switches claim waits until more is known of either, and a switch whose
 * neighbours contradict each other follows the majority.  What is attached to
 * one switch (graph.c), or has no more than two neighbours, may not belong
 * either: such weak switches narrow nothing, and are placed last, by score
 * (hints.c).
 *
 * Ambiguity.  A ring of four is itself a square, so in a dimension of radix 4
 * a seed with one direction leaves a choice.  On a whole torus all choices
 * are equivalent, so one is made, by GUID, and a restarted subnet manager
 * makes the same.  On a damaged one another choice would mean other SLs than
 * those granted before, so none is made: the switches concerned are listed.
 *
 * Windows.  Where in an open dimension the first switch is may be unknown; the
 * grid is then as long as every position takes, and what is placed may not
 * spread over more of it than the dimension is long.
 *
 * Complexity.  Each placement wakes a bounded number of switches, and what to
 * place when nothing follows any more is the first in a heap (heap.c): n log n
 * in the fabric.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "torus/internal.h"

#define NOT_YET 0xFF	      /* candidates: not looked at */
#define AROUND_ALL (4 * DIRS) /* sites around a switch, at most */

enum queue_flag { IN_QUEUE = 1, IN_SINGLE = 2 };

/* ---- set-up ------------------------------------------------------------ */

/*
 * Appendages, and what has no more than two neighbours: it may be dual-homed
 * between these.
 */
static int find_weak(struct dl_torus_solver *s)
{
	bool *appendage = calloc(s->n + 1, sizeof(*appendage));
	int err = appendage ? dl_torus_find_appendages(&s->graph, s->n, s->by_guid, appendage) :
			      -ENOMEM;

	for (uint32_t sw = 0; !err && sw < s->n; sw++)
		s->weak[sw] = appendage[sw]			  ? DL_TORUS_APPENDAGE :
			      dl_torus_degree(&s->graph, sw) <= 2 ? DL_TORUS_THIN :
								    0;
	free(appendage);
	return err;
}

int dl_torus_solver_init(struct dl_torus_solver *s, const struct dl_fabric *f)
{
	size_t n = f->nswitches + 1;
	uint32_t *words;
	uint8_t *bytes;
	int err;

	*s = (struct dl_torus_solver){ .f = f, .n = f->nswitches };
	words = dl_arena_array(&s->arena, n, (5 + DIRS) * sizeof(*words));
	bytes = dl_arena_array(&s->arena, n, 3);
	s->known_off = dl_arena_array(&s->arena, n, sizeof(*s->known_off));
	if (!words || !bytes || !s->known_off || dl_torus_heap_init(&s->next, &s->arena, n))
		return -ENOMEM;
	s->by_guid = words;
	s->site_of = words + n;
	s->queue = words + 2 * n;
	s->single = words + 3 * n;
	s->rank = words + 4 * n;
	s->cand = words + 5 * n;
	s->weak = bytes;
	s->ncand = bytes + n;
	s->queued = bytes + 2 * n;
	for (uint32_t i = 0, k = 0; i < f->nnodes; i++)
		if (dl_fabric_is_switch(f, f->by_guid[i])) {
			s->by_guid[k] = f->nodes[f->by_guid[i]].sw;
			s->rank[s->by_guid[k]] = k;
			k++;
		}
	err = dl_torus_graph_build(f, NULL, &s->graph);
	return err ? err : find_weak(s);
}

void dl_torus_solver_free(struct dl_torus_solver *s)
{
	dl_torus_graph_free(&s->graph);
	dl_arena_free(&s->arena);
	free(s->sw_at);
}

int dl_torus_solver_begin(struct dl_torus_solver *s, const struct dl_torus_grid *grid)
{
	s->grid = *grid;
	s->nsites = dl_torus_grid_sites(grid);
	s->nreal = dl_torus_grid_sites(&s->real);
	free(s->sw_at);
	s->sw_at = malloc(s->nsites * sizeof(*s->sw_at));
	if (!s->sw_at)
		return -ENOMEM;
	memset(s->site_of, 0xFF, s->n * sizeof(*s->site_of));
	memset(s->sw_at, 0xFF, s->nsites * sizeof(*s->sw_at));
	memset(s->ncand, NOT_YET, s->n);
	memset(s->queued, 0, s->n);
	memset(s->low, 0xFF, sizeof(s->low));
	memset(s->high, 0, sizeof(s->high));
	s->head = s->waiting = s->nsingle = s->nplaced = 0;
	dl_torus_heap_clear(&s->next);
	return 0;
}

/* ---- placing ----------------------------------------------------------- */

static bool has_candidates(const struct dl_torus_solver *s, uint32_t sw)
{
	return s->ncand[sw] && s->ncand[sw] != NOT_YET;
}

static void solver_enqueue(struct dl_torus_solver *s, uint32_t sw)
{
	if (s->site_of[sw] != DL_NONE || s->queued[sw] & IN_QUEUE)
		return;
	s->queue[(s->head + s->waiting++) % s->n] = sw;
	s->queued[sw] |= IN_QUEUE;
}

static void enqueue_neighbours(struct dl_torus_solver *s, uint32_t sw)
{
	const uint32_t *n, *end;

	for (n = dl_torus_neighbours(&s->graph, sw, &end); n < end; n++)
		solver_enqueue(s, *n);
}

/* In a window, what is placed bounds where all others can be. */
static void solver_widen(struct dl_torus_solver *s, uint32_t site)
{
	uint32_t c[DIMS];
	bool wider = false;

	dl_torus_site_coord(&s->grid, site, c);
	for (unsigned int d = 0; d < DIMS; d++) {
		wider |= c[d] < s->low[d] || c[d] > s->high[d];
		s->low[d] = c[d] < s->low[d] ? c[d] : s->low[d];
		s->high[d] = c[d] > s->high[d] ? c[d] : s->high[d];
	}
	for (uint32_t sw = 0; wider && sw < s->n; sw++)
		if (s->ncand[sw] != NOT_YET)
			solver_enqueue(s, sw);
}

void dl_torus_place(struct dl_torus_solver *s, uint32_t sw, uint32_t site)
{
	s->site_of[sw] = site;
	s->sw_at[site] = sw;
	s->nplaced++;
	if (s->nsites != s->nreal)
		solver_widen(s, site);
	enqueue_neighbours(s, sw);
	/* Whoever had this site among its candidates is close by. */
	for (unsigned int dir = 0; dir < DIRS; dir++) {
		uint32_t at = dl_torus_site_next(&s->grid, site, dir);

		if (at != DL_NONE && s->sw_at[at] != DL_NONE)
			enqueue_neighbours(s, s->sw_at[at]);
	}
}

void dl_torus_unplace(struct dl_torus_solver *s, uint32_t sw)
{
	s->sw_at[s->site_of[sw]] = DL_NONE;
	s->site_of[sw] = DL_NONE;
	s->ncand[sw] = NOT_YET;
	s->nplaced--;
}

uint32_t dl_torus_count_uncabled(const struct dl_torus_solver *s)
{
	uint32_t n = 0;

	for (uint32_t site = 0; site < s->nsites; site++) {
		for (unsigned int d = 0; d < DIMS; d++) {
			uint32_t next = dl_torus_site_next(&s->grid, site, dl_torus_dir(d, false));

			n += s->sw_at[site] != DL_NONE && next != DL_NONE &&
			     s->sw_at[next] != DL_NONE &&
			     !dl_torus_cabled(&s->graph, s->sw_at[site], s->sw_at[next]);
		}
	}
	return n;
}

bool dl_torus_may_be_whole(const struct dl_torus_solver *s)
{
	uint64_t cables = 0;

	for (unsigned int d = 0; d < DIMS; d++)
		cables += s->nreal / s->real.radix[d] * (s->real.radix[d] - s->real.mesh[d]);
	return s->n >= s->nreal && s->graph.first[s->n] / 2 >= cables;
}

bool dl_torus_is_whole(const struct dl_torus_solver *s)
{
	return s->nplaced == s->nreal && !dl_torus_count_uncabled(s);
}

/* ---- candidates -------------------------------------------------------- */

bool dl_torus_within_span(const struct dl_torus_solver *s, uint32_t site)
{
	const uint32_t *span = s->real.radix;
	uint32_t c[DIMS];

	if (s->nsites == s->nreal || !s->nplaced)
		return true;
	dl_torus_site_coord(&s->grid, site, c);
	for (unsigned int d = 0; d < DIMS; d++)
		if (c[d] + span[d] <= s->high[d] || s->low[d] + span[d] <= c[d])
			return false;
	return true;
}

/* Would two switches at these sites be neighbours? */
static bool solver_are_adjacent(const struct dl_torus_solver *s, uint32_t a, uint32_t b)
{
	return dl_torus_direction(&s->grid, a, b) != DIRS;
}

unsigned int dl_torus_count_placed(const struct dl_torus_solver *s, uint32_t sw, uint32_t site,
				   unsigned int *near)
{
	const uint32_t *n, *end;
	unsigned int placed = 0;

	*near = 0;
	for (n = dl_torus_neighbours(&s->graph, sw, &end); n < end; n++) {
		if (s->site_of[*n] == DL_NONE)
			continue;
		placed++;
		*near += site != DL_NONE && solver_are_adjacent(s, site, s->site_of[*n]);
	}
	return placed;
}

bool dl_torus_fits(const struct dl_torus_solver *s, uint32_t sw, uint32_t site)
{
	unsigned int near;

	return s->sw_at[site] == DL_NONE && dl_torus_count_placed(s, sw, site, &near) == near;
}

/* Can an unplaced switch be somewhere next to this site? */
static bool has_candidate_next_to(const struct dl_torus_solver *s, uint32_t sw, uint32_t site)
{
	const uint32_t *c = &s->cand[sw * DIRS];

	for (unsigned int i = 0; i < s->ncand[sw]; i++)
		if (s->sw_at[c[i]] == DL_NONE && solver_are_adjacent(s, c[i], site))
			return true;
	return false;
}

static bool is_candidate(const struct dl_torus_solver *s, uint32_t sw, uint32_t site)
{
	const uint32_t *n, *end;

	if (!dl_torus_within_span(s, site) || !dl_torus_fits(s, sw, site))
		return false;
	for (n = dl_torus_neighbours(&s->graph, sw, &end); n < end; n++)
		if (s->site_of[*n] == DL_NONE && !s->weak[*n] && has_candidates(s, *n) &&
		    !has_candidate_next_to(s, *n, site))
			return false;
	return true;
}

/* The distinct free sites around the first placed neighbour, or around all. */
static unsigned int free_sites_around(const struct dl_torus_solver *s, uint32_t sw, bool all,
				      uint32_t *sites)
{
	unsigned int max = all ? AROUND_ALL : DIRS, n = 0, k;
	const uint32_t *far, *end;

	for (far = dl_torus_neighbours(&s->graph, sw, &end); far < end; far++) {
		if (s->site_of[*far] == DL_NONE)
			continue;
		for (unsigned int dir = 0; dir < DIRS && n < max; dir++) {
			uint32_t site = dl_torus_site_next(&s->grid, s->site_of[*far], dir);

			if (site == DL_NONE || s->sw_at[site] != DL_NONE)
				continue;
			for (k = 0; k < n && sites[k] != site; k++)
				;
			if (k == n)
				sites[n++] = site;
		}
		if (!all)
			break;
	}
	return n;
}

/*
 * What is placed when nothing follows any more, first those whose neighbours
 * contradict each other; of equals the one with the lowest GUID.
 */
enum turn { TURN_MAJORITY, TURN_CLAIM, TURN_WEAK, TURN_TIE, TURN_CHOICE };

static uint32_t turn_key(enum turn turn, uint32_t within)
{
	return turn << 16 | within;
}

/* Weak ones by score, of which a change among the neighbours makes a new one. */
static void solver_await(struct dl_torus_solver *s, uint32_t sw)
{
	uint32_t item = s->rank[sw];

	if (!s->ncand[sw])
		dl_torus_heap_set(&s->next, item, turn_key(TURN_MAJORITY, 0));
	else if (s->weak[sw] && s->ncand[sw] == 1)
		dl_torus_heap_set(&s->next, item, turn_key(TURN_WEAK, 0));
	else if (s->ncand[sw] == 1)
		dl_torus_heap_set(&s->next, item, turn_key(TURN_CLAIM, 0));
	else if (s->weak[sw] != DL_TORUS_APPENDAGE && s->ncand[sw] > 1)
		dl_torus_heap_set(&s->next, item, turn_key(TURN_CHOICE, s->ncand[sw]));
	else
		dl_torus_heap_remove(&s->next, item);
}

/*
 * Which other switch without a site is next to a site with most of its placed
 * neighbours?  With how many; with one only if it can be nowhere else.
 */
static unsigned int best_rival(struct dl_torus_solver *s, uint32_t sw, uint32_t site)
{
	unsigned int best = 0, near;

	for (unsigned int dir = 0; dir < DIRS; dir++) {
		uint32_t at = dl_torus_site_next(&s->grid, site, dir);
		const uint32_t *n, *end;

		if (at == DL_NONE || s->sw_at[at] == DL_NONE)
			continue;
		for (n = dl_torus_neighbours(&s->graph, s->sw_at[at], &end); n < end; n++) {
			if (*n == sw || s->site_of[*n] != DL_NONE || s->weak[*n])
				continue;
			s->effort += dl_torus_degree(&s->graph, *n);
			dl_torus_count_placed(s, *n, site, &near);
			if (near > best &&
			    (near > 1 || (s->ncand[*n] == 1 && s->cand[*n * DIRS] == site)))
				best = near;
		}
	}
	return best;
}

/* Look at a switch again: narrow its candidates, place it if one is left. */
static void solver_revise(struct dl_torus_solver *s, uint32_t sw)
{
	uint32_t around[DIRS], *cand = &s->cand[sw * DIRS];
	unsigned int before = s->ncand[sw], n, kept = 0, placed, near;

	s->effort += dl_torus_degree(&s->graph, sw);
	placed = dl_torus_count_placed(s, sw, DL_NONE, &near);
	if (!placed)
		return;
	n = free_sites_around(s, sw, false, around);
	for (unsigned int i = 0; i < n; i++)
		if (is_candidate(s, sw, around[i]))
			cand[kept++] = around[i];
	s->ncand[sw] = kept;
	if (kept == 1 && placed > 1 && !s->weak[sw] && best_rival(s, sw, cand[0]) < placed) {
		dl_torus_place(s, sw, cand[0]);
		return;
	}
	if (kept != before)
		enqueue_neighbours(s, sw);
	if (kept == 1 && placed == 1 && !s->weak[sw] && !(s->queued[sw] & IN_SINGLE)) {
		s->queued[sw] |= IN_SINGLE;
		s->single[s->nsingle++] = sw;
	}
	solver_await(s, sw);
}

/* ---- what to place when nothing follows any more ----------------------- */

/* Place one that could be at one site only, and is the only one that could be there. */
static bool place_a_single(struct dl_torus_solver *s)
{
	for (uint32_t i = s->nsingle; i--;) {
		uint32_t sw = s->single[i], site = s->cand[sw * DIRS];

		s->single[i] = s->single[--s->nsingle];
		s->queued[sw] &= ~IN_SINGLE;
		if (s->site_of[sw] == DL_NONE && s->ncand[sw] == 1 && s->sw_at[site] == DL_NONE &&
		    !best_rival(s, sw, site)) {
			dl_torus_place(s, sw, site);
			return true;
		}
	}
	return false;
}

/*
 * The placed neighbours of this switch contradict each other, so some cable
 * does not belong: take the site that most of them are next to.  Of several
 * such sites none is taken before its turn for ties, and then the one that
 * others have least claim to: when neighbours have exchanged a plug, each may
 * be as near to the other's site as to its own.
 */
static bool place_by_majority(struct dl_torus_solver *s, uint32_t sw, enum turn turn)
{
	uint32_t around[AROUND_ALL], best = DL_NONE;
	unsigned int n = free_sites_around(s, sw, true, around), most = 0, ties = 0;
	unsigned int placed = 0, near, rival, least = 0;
	bool sure, likely;

	s->effort += n * dl_torus_degree(&s->graph, sw);
	for (unsigned int i = 0; i < n; i++) {
		if (!dl_torus_within_span(s, around[i]))
			continue;
		placed = dl_torus_count_placed(s, sw, around[i], &near);
		if (near < most)
			continue;
		ties = near > most ? 1 : ties + 1;
		rival = turn == TURN_TIE ? best_rival(s, sw, around[i]) : 0;
		if (near > most || rival < least) {
			best = around[i];
			least = rival;
		}
		most = near;
	}
	sure = most > 1 && ties == 1;
	likely = 2 * most + !s->weak[sw] > placed;
	if (!sure && likely && turn == TURN_MAJORITY) {
		dl_torus_heap_set(&s->next, s->rank[sw], turn_key(TURN_TIE, 0));
		return false;
	}
	dl_torus_heap_remove(&s->next, s->rank[sw]);
	if (best == DL_NONE || (!sure && !likely))
		return false;
	dl_torus_place(s, sw, best);
	return true;
}

/* What another switch claims, too, goes last, when more is known of either. */
static bool place_by_claim(struct dl_torus_solver *s, uint32_t sw, bool last)
{
	uint32_t site = s->cand[sw * DIRS];
	unsigned int placed, near;

	if (s->sw_at[site] == DL_NONE) {
		placed = dl_torus_count_placed(s, sw, site, &near);
		if (!last && best_rival(s, sw, site) >= placed) {
			dl_torus_heap_set(&s->next, s->rank[sw], turn_key(TURN_CLAIM, 1));
			return false;
		}
		dl_torus_place(s, sw, site);
		return true;
	}
	dl_torus_heap_remove(&s->next, s->rank[sw]);
	return false;
}

/*
 * Weak switches come last, and only by score: one that is no part of the torus
 * has nothing to keep it from the site of a switch that is.  A score that has
 * fallen since it was taken sends the switch back.
 */
static bool place_by_score(struct dl_torus_solver *s, uint32_t sw, struct dl_torus_hints *h)
{
	uint32_t site = s->cand[sw * DIRS], key;
	unsigned int score = 0;

	if (!h->known)
		dl_torus_learn_hints(s, h);
	if (s->sw_at[site] == DL_NONE)
		score = dl_torus_score(s, h, sw, site);
	if (!score) {
		dl_torus_heap_remove(&s->next, s->rank[sw]);
		return false;
	}
	key = turn_key(TURN_WEAK, DL_TORUS_BEST_SCORE + 1 - score);
	if (key != dl_torus_heap_key(&s->next, s->rank[sw])) {
		dl_torus_heap_set(&s->next, s->rank[sw], key);
		return false;
	}
	dl_torus_place(s, sw, site);
	return true;
}

uint32_t dl_torus_find_ambiguous(const struct dl_torus_solver *s)
{
	uint32_t found = DL_NONE;

	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t sw = s->by_guid[i];

		if (s->site_of[sw] == DL_NONE && s->ncand[sw] > 1 && s->ncand[sw] != NOT_YET &&
		    s->weak[sw] != DL_TORUS_APPENDAGE &&
		    (found == DL_NONE || s->ncand[sw] < s->ncand[found]))
			found = sw;
	}
	return found;
}

static void place_by_choice(struct dl_torus_solver *s, uint32_t sw)
{
	unsigned int n = s->ncand[sw];

	dl_torus_place(s, sw, s->cand[sw * DIRS + s->choices % n]);
	s->choices /= n;
}

/* Place the next switch whose turn it is, if that is not after `last`. */
static bool place_next(struct dl_torus_solver *s, enum turn last, struct dl_torus_hints *h)
{
	uint32_t item, sw, key;

	while ((item = dl_torus_heap_first(&s->next)) != DL_NONE) {
		sw = s->by_guid[item];
		if (s->site_of[sw] != DL_NONE) {
			dl_torus_heap_remove(&s->next, item);
			continue;
		}
		key = dl_torus_heap_key(&s->next, item);
		if (key >> 16 > last)
			return false;
		switch (key >> 16) {
		case TURN_MAJORITY:
		case TURN_TIE:
			if (place_by_majority(s, sw, key >> 16))
				return true;
			break;
		case TURN_CLAIM:
			if (place_by_claim(s, sw, key & 0xFFFF))
				return true;
			break;
		case TURN_WEAK:
			if (place_by_score(s, sw, h))
				return true;
			break;
		default:
			if (s->may_choose)
				place_by_choice(s, sw);
			return s->may_choose;
		}
	}
	return false;
}

void dl_torus_solver_run(struct dl_torus_solver *s)
{
	struct dl_torus_hints h = { .known = false };

	/* What waited in an earlier run may go by what is known now. */
	dl_torus_heap_clear(&s->next);
	for (uint32_t sw = 0; sw < s->n; sw++)
		if (s->site_of[sw] == DL_NONE && s->ncand[sw] != NOT_YET)
			solver_await(s, sw);
	do {
		while (s->waiting) {
			uint32_t sw = s->queue[s->head];

			s->head = (s->head + 1) % s->n;
			s->waiting--;
			s->queued[sw] &= ~IN_QUEUE;
			if (s->site_of[sw] == DL_NONE)
				solver_revise(s, sw);
		}
	} while (place_next(s, TURN_MAJORITY, &h) || place_a_single(s) ||
		 place_next(s, TURN_CHOICE, &h));
}

void dl_torus_solver_resume(struct dl_torus_solver *s)
{
	for (uint32_t sw = 0; sw < s->n; sw++) {
		if (s->site_of[sw] != DL_NONE)
			continue;
		s->ncand[sw] = NOT_YET;
		solver_enqueue(s, sw);
	}
	dl_torus_solver_run(s);
}
