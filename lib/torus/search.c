/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The search behind discovery: see discover.c for the problem and the method.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "torus/internal.h"

#define NO_CANDIDATES_YET 0xFF

enum queue_flag { IN_QUEUE = 1, IN_SINGLE = 2 };

void dl_torus_search_free(struct dl_torus_search *s)
{
	free(s->next);
	dl_torus_adjacency_free(&s->adj);
	free(s->by_guid);
	free(s->branch);
	free(s->known_odd);
	free(s->site_of);
	free(s->sw_at);
	free(s->cand);
	free(s->ncand);
	free(s->queue);
	free(s->queued);
	free(s->single);
}

static int build_guid_order(struct dl_torus_search *s)
{
	const struct dl_fabric *f = s->f;
	uint32_t i, n = 0;

	s->by_guid = malloc((f->nswitches + 1) * sizeof(*s->by_guid));
	if (!s->by_guid)
		return -ENOMEM;
	for (i = 0; i < f->nnodes; i++)
		if (dl_fabric_is_switch(f, f->by_guid[i]))
			s->by_guid[n++] = f->nodes[f->by_guid[i]].sw;
	return 0;
}

int dl_torus_search_init(struct dl_torus_search *s, const struct dl_fabric *f)
{
	size_t nsw = f->nswitches + 1;

	memset(s, 0, sizeof(*s));
	s->f = f;
	s->site_of = malloc(nsw * sizeof(*s->site_of));
	s->cand = malloc(nsw * DL_TORUS_DIRS * sizeof(*s->cand));
	s->ncand = malloc(nsw);
	s->queue = malloc(nsw * sizeof(*s->queue));
	s->queued = malloc(nsw);
	s->single = malloc(nsw * sizeof(*s->single));
	s->known_odd = calloc(nsw, sizeof(*s->known_odd));
	if (!s->site_of || !s->cand || !s->ncand || !s->queue || !s->queued ||
	    !s->single || !s->known_odd ||
	    dl_torus_adjacency_build(f, &s->adj) || build_guid_order(s) ||
	    dl_torus_find_branches(s)) {
		dl_torus_search_free(s);
		return -ENOMEM;
	}
	return 0;
}

int dl_torus_search_grid(struct dl_torus_search *s,
			 const struct dl_torus_grid *g,
			 const struct dl_torus_grid *real)
{
	uint32_t site;
	unsigned int dir;

	free(s->next);
	free(s->sw_at);
	s->grid = *g;
	s->nsites = dl_torus_grid_sites(g);
	s->nreal = dl_torus_grid_sites(real);
	memcpy(s->span, real->radix, sizeof(s->span));
	s->next = malloc((size_t)s->nsites * DL_TORUS_DIRS * sizeof(*s->next));
	s->sw_at = malloc(s->nsites * sizeof(*s->sw_at));
	if (!s->next || !s->sw_at)
		return -ENOMEM;
	for (site = 0; site < s->nsites; site++)
		for (dir = 0; dir < DL_TORUS_DIRS; dir++)
			s->next[site * DL_TORUS_DIRS + dir] =
				dl_torus_site_next(g, site, dir);
	return 0;
}

void dl_torus_search_reset(struct dl_torus_search *s)
{
	uint32_t n = s->f->nswitches;
	unsigned int d;

	memset(s->site_of, 0xFF, n * sizeof(*s->site_of));
	memset(s->sw_at, 0xFF, s->nsites * sizeof(*s->sw_at));
	memset(s->ncand, NO_CANDIDATES_YET, n);
	memset(s->queued, 0, n);
	s->head = s->waiting = s->nsingle = s->nplaced = 0;
	s->nbranches = 0;
	for (d = 0; d < DL_TORUS_DIMS; d++) {
		s->low[d] = UINT32_MAX;
		s->high[d] = 0;
	}
}

/*
 * In a window, does a site keep all that is placed within the real radix?
 */
static bool within_span(const struct dl_torus_search *s, uint32_t site)
{
	uint32_t c[DL_TORUS_DIMS];
	unsigned int d;

	if (s->nsites == s->nreal || !s->nplaced)
		return true;
	dl_torus_site_coord(&s->grid, site, c);
	for (d = 0; d < DL_TORUS_DIMS; d++)
		if (c[d] + s->span[d] <= s->high[d] ||
		    s->low[d] + s->span[d] <= c[d])
			return false;
	return true;
}

bool dl_torus_sites_adjacent(const struct dl_torus_search *s, uint32_t a,
			     uint32_t b)
{
	unsigned int dir;

	for (dir = 0; dir < DL_TORUS_DIRS; dir++)
		if (s->next[a * DL_TORUS_DIRS + dir] == b)
			return true;
	return false;
}

static void enqueue(struct dl_torus_search *s, uint32_t sw)
{
	if (s->site_of[sw] != DL_NONE || s->queued[sw] & IN_QUEUE)
		return;
	s->queue[(s->head + s->waiting++) % s->f->nswitches] = sw;
	s->queued[sw] |= IN_QUEUE;
}

static void enqueue_unplaced_neighbours(struct dl_torus_search *s, uint32_t sw)
{
	uint32_t i;

	for (i = s->adj.first[sw]; i < s->adj.first[sw + 1]; i++)
		enqueue(s, s->adj.list[i]);
}

/* In a window, what is placed bounds where all others can be. */
static void widen(struct dl_torus_search *s, uint32_t site)
{
	uint32_t c[DL_TORUS_DIMS], sw;
	bool wider = false;
	unsigned int d;

	dl_torus_site_coord(&s->grid, site, c);
	for (d = 0; d < DL_TORUS_DIMS; d++) {
		wider |= c[d] < s->low[d] || c[d] > s->high[d];
		s->low[d] = c[d] < s->low[d] ? c[d] : s->low[d];
		s->high[d] = c[d] > s->high[d] ? c[d] : s->high[d];
	}
	for (sw = 0; wider && sw < s->f->nswitches; sw++)
		if (s->ncand[sw] && s->ncand[sw] != NO_CANDIDATES_YET)
			enqueue(s, sw);
}

void dl_torus_search_place(struct dl_torus_search *s, uint32_t sw,
			   uint32_t site)
{
	unsigned int dir;

	s->site_of[sw] = site;
	s->sw_at[site] = sw;
	s->nplaced++;
	if (s->nsites != s->nreal)
		widen(s, site);
	enqueue_unplaced_neighbours(s, sw);
	/* Whoever had this site among its candidates is close by. */
	for (dir = 0; dir < DL_TORUS_DIRS; dir++) {
		uint32_t at = s->next[site * DL_TORUS_DIRS + dir];

		if (at != DL_NONE && s->sw_at[at] != DL_NONE)
			enqueue_unplaced_neighbours(s, s->sw_at[at]);
	}
}

void dl_torus_search_unplace(struct dl_torus_search *s, uint32_t sw)
{
	s->sw_at[s->site_of[sw]] = DL_NONE;
	s->site_of[sw] = DL_NONE;
	s->ncand[sw] = NO_CANDIDATES_YET;
	s->nplaced--;
}

bool dl_torus_search_fits(const struct dl_torus_search *s, uint32_t sw,
			  uint32_t site)
{
	uint32_t i;

	if (s->sw_at[site] != DL_NONE)
		return false;
	for (i = s->adj.first[sw]; i < s->adj.first[sw + 1]; i++) {
		uint32_t at = s->site_of[s->adj.list[i]];

		if (at != DL_NONE && !dl_torus_sites_adjacent(s, site, at))
			return false;
	}
	return true;
}

uint32_t dl_torus_search_find(const struct dl_torus_search *s, uint64_t guid)
{
	uint32_t node = guid ? dl_fabric_find_guid(s->f, guid) : DL_NONE;

	return node == DL_NONE ? DL_NONE : s->f->nodes[node].sw;
}

uint32_t dl_torus_seed_site(const struct dl_torus_grid *g,
			    const struct dl_torus_seed *seed)
{
	uint32_t c[DL_TORUS_DIMS];
	unsigned int d;

	for (d = 0; d < DL_TORUS_DIMS; d++) {
		int32_t r = g->radix[d];

		c[d] = ((-seed->dateline[d]) % r + r) % r;
	}
	return dl_torus_site(g, c);
}

/* Can an unplaced switch sit somewhere next to this site? */
static bool has_candidate_next_to(const struct dl_torus_search *s, uint32_t sw,
				  uint32_t site)
{
	unsigned int i;

	for (i = 0; i < s->ncand[sw]; i++) {
		uint32_t c = s->cand[sw * DL_TORUS_DIRS + i];

		if (s->sw_at[c] == DL_NONE &&
		    dl_torus_sites_adjacent(s, c, site))
			return true;
	}
	return false;
}

static bool site_fits(const struct dl_torus_search *s, uint32_t sw,
		      uint32_t site)
{
	uint32_t i;

	if (!within_span(s, site))
		return false;
	for (i = s->adj.first[sw]; i < s->adj.first[sw + 1]; i++) {
		uint32_t n = s->adj.list[i];

		if (s->site_of[n] != DL_NONE) {
			if (!dl_torus_sites_adjacent(s, site, s->site_of[n]))
				return false;
		} else if (!s->branch[n] && s->ncand[n] &&
			   s->ncand[n] != NO_CANDIDATES_YET) {
			if (!has_candidate_next_to(s, n, site))
				return false;
		}
	}
	return true;
}

/* A list of distinct sites around the placed neighbours, at most `max`. */
static unsigned int free_sites_around(const struct dl_torus_search *s,
				      uint32_t sw, uint32_t *sites,
				      unsigned int max)
{
	unsigned int n = 0, dir, k;
	uint32_t i;

	for (i = s->adj.first[sw]; i < s->adj.first[sw + 1]; i++) {
		uint32_t at = s->site_of[s->adj.list[i]];

		if (at == DL_NONE)
			continue;
		for (dir = 0; dir < DL_TORUS_DIRS && n < max; dir++) {
			uint32_t site = s->next[at * DL_TORUS_DIRS + dir];

			if (site == DL_NONE || s->sw_at[site] != DL_NONE)
				continue;
			for (k = 0; k < n && sites[k] != site; k++)
				;
			if (k == n)
				sites[n++] = site;
		}
		if (max == DL_TORUS_DIRS)
			break; /* one neighbour bounds the candidates */
	}
	return n;
}

static unsigned int placed_neighbours(const struct dl_torus_search *s,
				      uint32_t sw)
{
	unsigned int n = 0;
	uint32_t i;

	for (i = s->adj.first[sw]; i < s->adj.first[sw + 1]; i++)
		n += s->site_of[s->adj.list[i]] != DL_NONE;
	return n;
}

/* Look at a switch again: narrow its candidates, place it if one is left. */
static void revise(struct dl_torus_search *s, uint32_t sw)
{
	uint32_t around[DL_TORUS_DIRS], *cand = &s->cand[sw * DL_TORUS_DIRS];
	unsigned int before = s->ncand[sw], n, i, kept = 0, supporters;

	supporters = placed_neighbours(s, sw);
	if (!supporters)
		return;
	n = free_sites_around(s, sw, around, DL_TORUS_DIRS);
	for (i = 0; i < n; i++)
		if (site_fits(s, sw, around[i]))
			cand[kept++] = around[i];
	s->ncand[sw] = kept;
	if (kept == 1 && supporters > 1 && !s->branch[sw]) {
		dl_torus_search_place(s, sw, cand[0]);
		return;
	}
	if (kept != before)
		enqueue_unplaced_neighbours(s, sw);
	if (kept == 1 && !(s->queued[sw] & IN_SINGLE)) {
		s->queued[sw] |= IN_SINGLE;
		if (s->branch[sw])
			s->single[s->f->nswitches - ++s->nbranches] = sw;
		else
			s->single[s->nsingle++] = sw;
	}
}

/*
 * The placed neighbours of this switch contradict each other, so some cable
 * does not belong: take the site that most of them are next to, if it is one.
 */
static bool place_by_majority(struct dl_torus_search *s, uint32_t sw)
{
	uint32_t around[4 * DL_TORUS_DIRS], best = DL_NONE, j;
	unsigned int n, i, most = 1;

	n = free_sites_around(s, sw, around, 4 * DL_TORUS_DIRS);
	for (i = 0; i < n; i++) {
		unsigned int votes = 0;

		if (!within_span(s, around[i]))
			continue;

		for (j = s->adj.first[sw]; j < s->adj.first[sw + 1]; j++) {
			uint32_t at = s->site_of[s->adj.list[j]];

			votes += at != DL_NONE &&
				 dl_torus_sites_adjacent(s, around[i], at);
		}
		if (votes > most) {
			most = votes;
			best = around[i];
		} else if (votes == most) {
			best = DL_NONE;
		}
	}
	if (best == DL_NONE)
		return false;
	dl_torus_search_place(s, sw, best);
	return true;
}

static bool place_a_contradiction(struct dl_torus_search *s)
{
	uint32_t i;

	for (i = 0; i < s->f->nswitches; i++)
		if (s->site_of[s->by_guid[i]] == DL_NONE &&
		    s->ncand[s->by_guid[i]] == 0 &&
		    place_by_majority(s, s->by_guid[i]))
			return true;
	return false;
}

/* Among the switches with several candidates, one with the fewest. */
uint32_t dl_torus_search_ambiguous(const struct dl_torus_search *s)
{
	uint32_t i, sw = DL_NONE;

	for (i = 0; i < s->f->nswitches; i++) {
		uint32_t k = s->by_guid[i];

		if (s->site_of[k] != DL_NONE || s->ncand[k] < 2 ||
		    s->ncand[k] == NO_CANDIDATES_YET ||
		    s->branch[k] == DL_TORUS_OUTSIDE)
			continue;
		if (sw == DL_NONE || s->ncand[k] < s->ncand[sw])
			sw = k;
	}
	return sw;
}

static bool place_a_choice(struct dl_torus_search *s)
{
	uint32_t sw = s->may_choose ? dl_torus_search_ambiguous(s) : DL_NONE;
	unsigned int n;

	if (sw == DL_NONE)
		return false;
	n = s->ncand[sw];
	dl_torus_search_place(s, sw,
			      s->cand[sw * DL_TORUS_DIRS + s->choices % n]);
	s->choices /= n;
	return true;
}

/* Place one that could sit at one site only. */
static bool place_a_single(struct dl_torus_search *s)
{
	uint32_t i = s->nsingle;

	while (i--) {
		uint32_t sw = s->single[i];

		s->single[i] = s->single[--s->nsingle];
		s->queued[sw] &= ~IN_SINGLE;
		if (s->site_of[sw] == DL_NONE && s->ncand[sw] == 1 &&
		    s->sw_at[s->cand[sw * DL_TORUS_DIRS]] == DL_NONE) {
			dl_torus_search_place(s, sw,
					      s->cand[sw * DL_TORUS_DIRS]);
			return true;
		}
	}
	return false;
}

static uint64_t guid_of(const struct dl_torus_search *s, uint32_t sw)
{
	return s->f->nodes[s->f->switches[sw]].guid;
}

/*
 * Branches come last, and only by evidence: one that is no part of the torus
 * has nothing to keep it from the site of a switch that is.
 */
static bool place_a_branch(struct dl_torus_search *s,
			   struct dl_torus_evidence *e)
{
	uint32_t i, n = s->f->nswitches, best = DL_NONE;
	unsigned int belief, most = 0;

	if (s->nbranches && !e->gathered)
		dl_torus_evidence_gather(s, e);
	for (i = n - s->nbranches; i < n; i++) {
		uint32_t sw = s->single[i], site = s->cand[sw * DL_TORUS_DIRS];

		if (s->site_of[sw] != DL_NONE || s->ncand[sw] != 1 ||
		    s->sw_at[site] != DL_NONE)
			continue;
		belief = dl_torus_score(s, e, sw, site);
		if (belief > most || (belief && belief == most &&
				      guid_of(s, sw) < guid_of(s, best))) {
			most = belief;
			best = sw;
		}
	}
	if (best == DL_NONE)
		return false;
	dl_torus_search_place(s, best, s->cand[best * DL_TORUS_DIRS]);
	return true;
}

void dl_torus_search_run(struct dl_torus_search *s)
{
	struct dl_torus_evidence e = { .gathered = false };

	do {
		while (s->waiting) {
			uint32_t sw = s->queue[s->head];

			s->head = (s->head + 1) % s->f->nswitches;
			s->waiting--;
			s->queued[sw] &= ~IN_QUEUE;
			if (s->site_of[sw] == DL_NONE)
				revise(s, sw);
		}
	} while (place_a_single(s) || place_a_contradiction(s) ||
		 place_a_branch(s, &e) || place_a_choice(s));
}

bool dl_torus_search_cabled(const struct dl_torus_search *s, uint32_t a,
			    uint32_t b)
{
	uint32_t i;

	for (i = s->adj.first[a]; i < s->adj.first[a + 1]; i++)
		if (s->adj.list[i] == b)
			return true;
	return false;
}
