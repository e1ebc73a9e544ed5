/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Discovery: which switch sits at which site (SPEC A3).
 *
 * Problem.  The cabling is an undirected graph of switches.  We look for an
 * assignment of switches to sites of the configured grid under which cabled
 * switches sit at neighbouring sites, starting from the switches that the
 * seed names.  Some switches and cables may be missing, some may not belong.
 *
 * Method.  The assignment is a constraint problem, solved by arc
 * consistency.  A switch with a placed neighbour has at most six candidate
 * sites; a candidate survives when
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
 * Soundness.  While all cables belong to the grid, each step removes only
 * candidates that no complete assignment has, so nothing is ever misplaced,
 * however many switches and cables are missing.  To stand up to a few cables
 * that do not belong, switches with two placed neighbours or more go first,
 * and a switch whose neighbours contradict each other follows the majority.
 *
 * Ambiguity.  A ring of four is itself a square, so in a dimension of radix 4
 * a seed with one direction leaves a choice.  On a whole torus all choices
 * are equivalent, so one is made, by GUID, and a restarted subnet manager
 * makes the same.  On a damaged one another choice would mean other SLs than
 * those granted before, so none is made: the switches concerned are listed.
 *
 * Meshes.  Without a dateline keyword the seed's switch may stand anywhere in
 * an open dimension: the search runs in a window wide enough for every
 * position and shifts the result.
 *
 * Cost.  Each placement wakes a bounded number of switches, so the whole is
 * linear in the fabric.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "torus/discover.h"

#define NO_CANDIDATES_YET 0xFF
#define MAX_TRIES 64		/* ways to resolve an ambiguity */
#define MAX_SEEDS 8		/* seeds tried on a damaged torus */

enum queue_flag { IN_QUEUE = 1, IN_SINGLE = 2 };

struct search {
	const struct dl_fabric *f;
	struct dl_grid grid;		/* with windows for open dimensions */
	uint32_t nsites;
	uint32_t nreal;			/* sites of the grid without windows */
	uint32_t *next;			/* neighbour of a site by direction */
	struct dl_adjacency adj;
	uint32_t *by_guid;		/* switch numbers in order of GUID */

	uint32_t *site_of;		/* by switch, or DL_NONE */
	uint32_t *sw_at;		/* by site, or DL_NONE */
	uint32_t *cand;			/* DL_DIRS a switch */
	uint8_t *ncand;
	uint32_t *queue;		/* switches to look at, a ring */
	uint8_t *queued;		/* enum queue_flag */
	uint32_t head, waiting;
	uint32_t *single;		/* one candidate, one placed neighbour */
	uint32_t nsingle;
	uint32_t nplaced;
	bool may_choose;
	uint32_t choices;		/* which alternatives to take, a digit each */
};

static void search_free(struct search *s)
{
	free(s->next);
	dl_adjacency_free(&s->adj);
	free(s->by_guid);
	free(s->site_of);
	free(s->sw_at);
	free(s->cand);
	free(s->ncand);
	free(s->queue);
	free(s->queued);
	free(s->single);
}

static int build_guid_order(struct search *s)
{
	const struct dl_fabric *f = s->f;
	uint32_t i, n = 0;

	s->by_guid = malloc((f->nswitches + 1) * sizeof(*s->by_guid));
	if (!s->by_guid)
		return -ENOMEM;
	for (i = 0; i < f->nnodes; i++)
		if (dl_is_switch(f, f->by_guid[i]))
			s->by_guid[n++] = f->nodes[f->by_guid[i]].sw;
	return 0;
}

static int search_init(struct search *s, const struct dl_fabric *f)
{
	size_t nsw = f->nswitches + 1;

	memset(s, 0, sizeof(*s));
	s->f = f;
	s->site_of = malloc(nsw * sizeof(*s->site_of));
	s->cand = malloc(nsw * DL_DIRS * sizeof(*s->cand));
	s->ncand = malloc(nsw);
	s->queue = malloc(nsw * sizeof(*s->queue));
	s->queued = malloc(nsw);
	s->single = malloc(nsw * sizeof(*s->single));
	if (!s->site_of || !s->cand || !s->ncand || !s->queue || !s->queued ||
	    !s->single || dl_adjacency_build(f, &s->adj) || build_guid_order(s)) {
		search_free(s);
		return -ENOMEM;
	}
	return 0;
}

static int search_grid(struct search *s, const struct dl_grid *g)
{
	uint32_t site;
	unsigned int dir;

	free(s->next);
	free(s->sw_at);
	s->grid = *g;
	s->nsites = dl_grid_sites(g);
	s->next = malloc((size_t)s->nsites * DL_DIRS * sizeof(*s->next));
	s->sw_at = malloc(s->nsites * sizeof(*s->sw_at));
	if (!s->next || !s->sw_at)
		return -ENOMEM;
	for (site = 0; site < s->nsites; site++)
		for (dir = 0; dir < DL_DIRS; dir++)
			s->next[site * DL_DIRS + dir] =
				dl_site_next(g, site, dir);
	return 0;
}

static void search_reset(struct search *s)
{
	uint32_t n = s->f->nswitches;

	memset(s->site_of, 0xFF, n * sizeof(*s->site_of));
	memset(s->sw_at, 0xFF, s->nsites * sizeof(*s->sw_at));
	memset(s->ncand, NO_CANDIDATES_YET, n);
	memset(s->queued, 0, n);
	s->head = s->waiting = s->nsingle = s->nplaced = 0;
}

static bool sites_adjacent(const struct search *s, uint32_t a, uint32_t b)
{
	unsigned int dir;

	for (dir = 0; dir < DL_DIRS; dir++)
		if (s->next[a * DL_DIRS + dir] == b)
			return true;
	return false;
}

static void enqueue_unplaced_neighbours(struct search *s, uint32_t sw)
{
	uint32_t i;

	for (i = s->adj.first[sw]; i < s->adj.first[sw + 1]; i++) {
		uint32_t n = s->adj.list[i];

		if (s->site_of[n] != DL_NONE || s->queued[n] & IN_QUEUE)
			continue;
		s->queue[(s->head + s->waiting++) % s->f->nswitches] = n;
		s->queued[n] |= IN_QUEUE;
	}
}

static void place(struct search *s, uint32_t sw, uint32_t site)
{
	unsigned int dir;

	s->site_of[sw] = site;
	s->sw_at[site] = sw;
	s->nplaced++;
	enqueue_unplaced_neighbours(s, sw);
	/* Whoever had this site among its candidates is close by. */
	for (dir = 0; dir < DL_DIRS; dir++) {
		uint32_t at = s->next[site * DL_DIRS + dir];

		if (at != DL_NONE && s->sw_at[at] != DL_NONE)
			enqueue_unplaced_neighbours(s, s->sw_at[at]);
	}
}

/* Can an unplaced switch sit somewhere next to this site? */
static bool has_candidate_next_to(const struct search *s, uint32_t sw,
				  uint32_t site)
{
	unsigned int i;

	for (i = 0; i < s->ncand[sw]; i++) {
		uint32_t c = s->cand[sw * DL_DIRS + i];

		if (s->sw_at[c] == DL_NONE && sites_adjacent(s, c, site))
			return true;
	}
	return false;
}

static bool site_fits(const struct search *s, uint32_t sw, uint32_t site)
{
	uint32_t i;

	for (i = s->adj.first[sw]; i < s->adj.first[sw + 1]; i++) {
		uint32_t n = s->adj.list[i];

		if (s->site_of[n] != DL_NONE) {
			if (!sites_adjacent(s, site, s->site_of[n]))
				return false;
		} else if (s->ncand[n] && s->ncand[n] != NO_CANDIDATES_YET) {
			if (!has_candidate_next_to(s, n, site))
				return false;
		}
	}
	return true;
}

/* A list of distinct sites around the placed neighbours, at most `max`. */
static unsigned int free_sites_around(const struct search *s, uint32_t sw,
				      uint32_t *sites, unsigned int max)
{
	unsigned int n = 0, dir, k;
	uint32_t i;

	for (i = s->adj.first[sw]; i < s->adj.first[sw + 1]; i++) {
		uint32_t at = s->site_of[s->adj.list[i]];

		if (at == DL_NONE)
			continue;
		for (dir = 0; dir < DL_DIRS && n < max; dir++) {
			uint32_t site = s->next[at * DL_DIRS + dir];

			if (site == DL_NONE || s->sw_at[site] != DL_NONE)
				continue;
			for (k = 0; k < n && sites[k] != site; k++)
				;
			if (k == n)
				sites[n++] = site;
		}
		if (max == DL_DIRS)
			break;	/* one neighbour bounds the candidates */
	}
	return n;
}

static unsigned int placed_neighbours(const struct search *s, uint32_t sw)
{
	unsigned int n = 0;
	uint32_t i;

	for (i = s->adj.first[sw]; i < s->adj.first[sw + 1]; i++)
		n += s->site_of[s->adj.list[i]] != DL_NONE;
	return n;
}

/* Look at a switch again: narrow its candidates, place it if one is left. */
static void revise(struct search *s, uint32_t sw)
{
	uint32_t around[DL_DIRS], *cand = &s->cand[sw * DL_DIRS];
	unsigned int before = s->ncand[sw], n, i, kept = 0, supporters;

	supporters = placed_neighbours(s, sw);
	if (!supporters)
		return;
	n = free_sites_around(s, sw, around, DL_DIRS);
	for (i = 0; i < n; i++)
		if (site_fits(s, sw, around[i]))
			cand[kept++] = around[i];
	s->ncand[sw] = kept;
	if (kept == 1 && supporters > 1)
		place(s, sw, cand[0]);
	else if (kept != before)
		enqueue_unplaced_neighbours(s, sw);
	if (kept == 1 && supporters == 1 && !(s->queued[sw] & IN_SINGLE)) {
		s->queued[sw] |= IN_SINGLE;
		s->single[s->nsingle++] = sw;
	}
}

/*
 * The placed neighbours of this switch contradict each other, so some cable
 * does not belong: take the site that most of them are next to, if it is one.
 */
static bool place_by_majority(struct search *s, uint32_t sw)
{
	uint32_t around[4 * DL_DIRS], best = DL_NONE, j;
	unsigned int n, i, most = 1;

	n = free_sites_around(s, sw, around, 4 * DL_DIRS);
	for (i = 0; i < n; i++) {
		unsigned int votes = 0;

		for (j = s->adj.first[sw]; j < s->adj.first[sw + 1]; j++) {
			uint32_t at = s->site_of[s->adj.list[j]];

			votes += at != DL_NONE &&
				 sites_adjacent(s, around[i], at);
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
	place(s, sw, best);
	return true;
}

static bool place_a_contradiction(struct search *s)
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
static uint32_t find_ambiguous(const struct search *s)
{
	uint32_t i, sw = DL_NONE;

	for (i = 0; i < s->f->nswitches; i++) {
		uint32_t k = s->by_guid[i];

		if (s->site_of[k] != DL_NONE || s->ncand[k] < 2 ||
		    s->ncand[k] == NO_CANDIDATES_YET)
			continue;
		if (sw == DL_NONE || s->ncand[k] < s->ncand[sw])
			sw = k;
	}
	return sw;
}

static bool place_a_choice(struct search *s)
{
	uint32_t sw = s->may_choose ? find_ambiguous(s) : DL_NONE;
	unsigned int n;

	if (sw == DL_NONE)
		return false;
	n = s->ncand[sw];
	place(s, sw, s->cand[sw * DL_DIRS + s->choices % n]);
	s->choices /= n;
	return true;
}

static bool place_a_single(struct search *s)
{
	while (s->nsingle) {
		uint32_t sw = s->single[--s->nsingle];

		s->queued[sw] &= ~IN_SINGLE;
		if (s->site_of[sw] == DL_NONE && s->ncand[sw] == 1 &&
		    s->sw_at[s->cand[sw * DL_DIRS]] == DL_NONE) {
			place(s, sw, s->cand[sw * DL_DIRS]);
			return true;
		}
	}
	return false;
}

static void propagate(struct search *s)
{
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
		 place_a_choice(s));
}

static uint32_t find_switch(const struct dl_fabric *f, uint64_t guid)
{
	uint32_t node = guid ? dl_fabric_find_guid(f, guid) : DL_NONE;

	return node == DL_NONE ? DL_NONE : f->nodes[node].sw;
}

static bool cabled(const struct search *s, uint32_t a, uint32_t b)
{
	uint32_t i;

	for (i = s->adj.first[a]; i < s->adj.first[a + 1]; i++)
		if (s->adj.list[i] == b)
			return true;
	return false;
}

/* A seed made of switches of this fabric. */
struct usable_seed {
	uint32_t from;
	uint32_t to[DL_DIRS];	/* or DL_NONE */
};

static const char *dir_name(unsigned int dir)
{
	static const char *const names[DL_DIRS] = { "xp", "xm", "yp",
						    "ym", "zp", "zm" };

	return names[dir];
}

/* Is every dimension's direction given by a cable that exists? */
static bool seed_usable(const struct search *s, const struct dl_grid *g,
			const struct dl_seed *seed, const struct dl_log *log,
			struct usable_seed *out)
{
	unsigned int d, dir, given;

	out->from = find_switch(s->f, seed->from);
	if (out->from == DL_NONE) {
		dl_log(log, DL_WARNING,
		       "seed of line %u: switch 0x%016" PRIx64
		       " is not in the fabric",
		       seed->line, seed->from);
		return false;
	}
	for (d = 0; d < DL_DIMS; d++) {
		given = 0;
		for (dir = dl_dir(d, false); dir <= dl_dir(d, true); dir++) {
			out->to[dir] = DL_NONE;
			if (!seed->to[dir] || g->radix[d] == 1)
				continue;
			out->to[dir] = find_switch(s->f, seed->to[dir]);
			if (out->to[dir] != DL_NONE &&
			    cabled(s, out->from, out->to[dir])) {
				given++;
				continue;
			}
			out->to[dir] = DL_NONE;
			dl_log(log, DL_WARNING,
			       "seed of line %u: no cable for %s_link 0x%016"
			       PRIx64 " 0x%016" PRIx64,
			       seed->line, dir_name(dir), seed->from,
			       seed->to[dir]);
		}
		if (!given && g->radix[d] > 1) {
			dl_log(log, DL_WARNING,
			       "seed of line %u gives no direction for "
			       "dimension %c",
			       seed->line, 'x' + d);
			return false;
		}
	}
	return true;
}

/* Where the seed's common switch stands in the search's grid. */
static uint32_t seed_site(const struct dl_grid *real,
			  const struct dl_grid *window,
			  const struct dl_seed *seed)
{
	uint32_t c[DL_DIMS];
	unsigned int d;

	for (d = 0; d < DL_DIMS; d++) {
		int32_t r = real->radix[d];

		if (window->radix[d] != real->radix[d])
			c[d] = r - 1;	/* the middle of the window */
		else
			c[d] = ((-seed->dateline[d]) % r + r) % r;
	}
	return dl_site(window, c);
}

/* Put the seed's switches in place and let the rest follow. */
static void grow(struct search *s, uint32_t origin,
		 const struct usable_seed *seed)
{
	unsigned int dir;

	search_reset(s);
	place(s, seed->from, origin);
	for (dir = 0; dir < DL_DIRS; dir++) {
		uint32_t sw = seed->to[dir];
		uint32_t site = s->next[origin * DL_DIRS + dir];

		/* With two coordinates both ways lead to the other one. */
		if (s->grid.radix[dl_dir_dim(dir)] == 2 && site == DL_NONE)
			site = s->next[origin * DL_DIRS + dl_opposite(dir)];
		if (sw != DL_NONE && site != DL_NONE &&
		    s->sw_at[site] == DL_NONE && s->site_of[sw] == DL_NONE)
			place(s, sw, site);
	}
	propagate(s);
}

/* Is every site of the grid taken, and every hop of it cabled? */
static bool whole(const struct search *s)
{
	uint32_t site, next;
	unsigned int dir;

	if (s->nplaced != s->nreal)
		return false;
	for (site = 0; site < s->nsites; site++) {
		for (dir = 0; dir < DL_DIRS; dir++) {
			next = s->next[site * DL_DIRS + dir];
			if (s->sw_at[site] != DL_NONE && next != DL_NONE &&
			    s->sw_at[next] != DL_NONE &&
			    !cabled(s, s->sw_at[site], s->sw_at[next]))
				return false;
		}
	}
	return true;
}

/*
 * Try the choices that the seed leaves open, until one makes a whole torus.
 * If none does, leaves the search as it is without choices.
 */
static bool grow_by_choice(struct search *s, uint32_t origin,
			   const struct usable_seed *seed)
{
	uint32_t try;

	s->may_choose = true;
	for (try = 0; try < MAX_TRIES; try++) {
		s->choices = try;
		grow(s, origin, seed);
		if (whole(s))
			return true;
	}
	s->may_choose = false;
	grow(s, origin, seed);
	return false;
}

static void report_ambiguous(const struct search *s, const struct dl_log *log)
{
	uint32_t node = s->f->switches[find_ambiguous(s)];

	dl_log(log, DL_WARNING,
	       "switch 0x%016" PRIx64 " \"%s\" could sit at several sites; a "
	       "seed that names both directions of every dimension of radix 4 "
	       "(xp_link and xm_link, and so on) says more",
	       s->f->nodes[node].guid, dl_node_name(s->f, node));
}

/*
 * Dimensions that are declared open and have no dateline: see "Meshes" above.
 */
static struct dl_grid search_window(const struct dl_grid *g,
				    const struct dl_grid *declared,
				    const struct dl_seed *seed)
{
	struct dl_grid w = *g;
	unsigned int d;

	for (d = 0; d < DL_DIMS; d++)
		if (declared->mesh[d] && g->radix[d] > 1 &&
		    !seed->has_dateline[d])
			w.radix[d] = 2 * g->radix[d] - 1;
	return w;
}

/*
 * How far the window's origin lies from the grid's, in each dimension: the
 * seed's switch is at coordinate 0 if everything found fits so, else the
 * lowest coordinate found is 0.
 */
static void window_offset(const struct search *s, const struct dl_grid *g,
			  uint32_t offset[DL_DIMS])
{
	uint32_t low[DL_DIMS], i, c[DL_DIMS];
	unsigned int d;

	for (d = 0; d < DL_DIMS; d++) {
		offset[d] = s->grid.radix[d] == g->radix[d] ? 0 :
							      g->radix[d] - 1;
		low[d] = offset[d];
	}
	for (i = 0; i < s->f->nswitches; i++) {
		if (s->site_of[i] == DL_NONE)
			continue;
		dl_site_coord(&s->grid, s->site_of[i], c);
		for (d = 0; d < DL_DIMS; d++)
			if (c[d] < low[d])
				low[d] = c[d];
	}
	for (d = 0; d < DL_DIMS; d++)
		offset[d] = low[d];
}

static void copy_sites(struct dl_torus *t, const struct search *s)
{
	uint32_t offset[DL_DIMS], c[DL_DIMS], i;
	unsigned int d;

	window_offset(s, &t->grid, offset);
	memset(t->site_sw, 0xFF, t->nsites * sizeof(*t->site_sw));
	t->nplaced = 0;
	for (i = 0; i < s->f->nswitches; i++) {
		t->sw_site[i] = DL_NONE;
		if (s->site_of[i] == DL_NONE)
			continue;
		dl_site_coord(&s->grid, s->site_of[i], c);
		for (d = 0; d < DL_DIMS; d++) {
			c[d] -= offset[d];
			if (c[d] >= t->grid.radix[d])
				break;
		}
		if (d < DL_DIMS)
			continue;
		t->sw_site[i] = dl_site(&t->grid, c);
		t->site_sw[t->sw_site[i]] = i;
		t->nplaced++;
	}
}

/* Grow from one seed; the search then holds what was found. */
static int grow_from(struct search *s, const struct dl_torus *t,
		     const struct dl_torus_config *c, uint32_t i,
		     const struct usable_seed *seed, const struct dl_log *log)
{
	struct dl_grid window =
		search_window(&t->grid, &c->grid, &c->seeds[i]);
	uint32_t origin;
	int err = search_grid(s, &window);

	if (err)
		return err;
	s->nreal = t->nsites;
	origin = seed_site(&t->grid, &window, &c->seeds[i]);
	grow(s, origin, seed);
	if (find_ambiguous(s) != DL_NONE && !grow_by_choice(s, origin, seed))
		report_ambiguous(s, log);
	return 0;
}

/*
 * The first usable seed counts; where damage keeps it from placing every
 * switch, others are tried and the one that places the most is taken.
 */
int dl_find_sites(struct dl_torus *t, const struct dl_torus_config *c,
		  const struct dl_log *log)
{
	uint32_t i, best = DL_NONE, most = 0, tries = 0;
	struct usable_seed seed;
	struct search s;
	int err;

	err = search_init(&s, t->fabric);
	if (err)
		return err;
	for (i = 0; !err && i < c->nseeds && tries < MAX_SEEDS; i++) {
		if (!seed_usable(&s, &t->grid, &c->seeds[i], log, &seed))
			continue;
		tries++;
		err = grow_from(&s, t, c, i, &seed, NULL);
		if (!err && s.nplaced > most) {
			most = s.nplaced;
			best = i;
		}
		if (!err && most == t->fabric->nswitches)
			break;
	}
	if (!err && best == DL_NONE) {
		dl_log(log, DL_ERROR,
		       "%s: none of its %u seeds has all its switches and "
		       "cables in this fabric",
		       c->path, c->nseeds);
		err = -EINVAL;
	}
	if (!err && (most < t->fabric->nswitches || best != i)) {
		seed_usable(&s, &t->grid, &c->seeds[best], NULL, &seed);
		err = grow_from(&s, t, c, best, &seed, log);
	}
	if (!err) {
		t->seed = best;
		copy_sites(t, &s);
	}
	search_free(&s);
	return err;
}
