/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Discovery: which switch sits at which site (rules A3).
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
 * What hangs on one switch, or joins no more than two, may not belong either:
 * such switches narrow nothing, and are placed last, by evidence (branches.c).
 *
 * Ambiguity.  A ring of four is itself a square, so in a dimension of radix 4
 * a seed with one direction leaves a choice.  On a whole torus all choices
 * are equivalent, so one is made, by GUID, and a restarted subnet manager
 * makes the same.  On a damaged one another choice would mean other SLs than
 * those granted before, so none is made: the switches concerned are listed.
 *
 * Meshes.  Without a dateline keyword the seed's switch may stand anywhere in
 * an open dimension: the search runs in a window wide enough for every
 * position and shifts the result.  What is placed may not spread over more of
 * the window than the dimension is long.
 *
 * Cost.  Each placement wakes a bounded number of switches, so the whole is
 * linear in the fabric.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/base.h"
#include "torus/internal.h"

#define MAX_TRIES 64	      /* ways to resolve an ambiguity */
#define MAX_SEEDS 8	      /* seeds tried on a damaged torus */
#define PLACED_WITHOUT_SEED 4 /* one switch in so many, at least */

/* A seed made of switches of this fabric. */
struct usable_seed {
	uint32_t from;
	uint32_t to[DL_TORUS_DIRS]; /* or DL_NONE */
};

static const char *dir_name(unsigned int dir)
{
	static const char *const names[DL_TORUS_DIRS] = { "xp", "xm", "yp",
							  "ym", "zp", "zm" };

	return names[dir];
}

/* Is every dimension's direction given by a cable that exists? */
static bool seed_usable(const struct dl_torus_search *s,
			const struct dl_torus_grid *g,
			const struct dl_torus_seed *seed,
			const struct dl_log *log, struct usable_seed *out)
{
	unsigned int d, dir, given;

	out->from = dl_torus_search_find(s, seed->from);
	if (out->from == DL_NONE) {
		dl_log(log, DL_LOG_WARNING,
		       "seed of line %u: switch 0x%016" PRIx64
		       " is not in the fabric",
		       seed->line, seed->from);
		return false;
	}
	for (d = 0; d < DL_TORUS_DIMS; d++) {
		given = 0;
		for (dir = dl_torus_dir(d, false); dir <= dl_torus_dir(d, true);
		     dir++) {
			out->to[dir] = DL_NONE;
			if (!seed->to[dir] || g->radix[d] == 1)
				continue;
			out->to[dir] = dl_torus_search_find(s, seed->to[dir]);
			if (out->to[dir] != DL_NONE &&
			    dl_torus_search_cabled(s, out->from,
						   out->to[dir])) {
				given++;
				continue;
			}
			out->to[dir] = DL_NONE;
			dl_log(log, DL_LOG_WARNING,
			       "seed of line %u: no cable for %s_link "
			       "0x%016" PRIx64 " 0x%016" PRIx64,
			       seed->line, dir_name(dir), seed->from,
			       seed->to[dir]);
		}
		if (!given && g->radix[d] > 1) {
			dl_log(log, DL_LOG_WARNING,
			       "seed of line %u gives no direction for "
			       "dimension %c",
			       seed->line, 'x' + d);
			return false;
		}
	}
	return true;
}

/* Where the seed's common switch stands in the search's grid. */
static uint32_t seed_site(const struct dl_torus_grid *real,
			  const struct dl_torus_grid *window,
			  const struct dl_torus_seed *seed)
{
	uint32_t c[DL_TORUS_DIMS];
	unsigned int d;

	dl_torus_site_coord(real, dl_torus_seed_site(real, seed), c);
	for (d = 0; d < DL_TORUS_DIMS; d++)
		if (window->radix[d] != real->radix[d])
			c[d] = real->radix[d] - 1; /* the window's middle */
	return dl_torus_site(window, c);
}

/* Put the seed's switches in place and let the rest follow. */
static void grow(struct dl_torus_search *s, uint32_t origin,
		 const struct usable_seed *seed)
{
	unsigned int dir;

	dl_torus_search_reset(s);
	dl_torus_search_place(s, seed->from, origin);
	for (dir = 0; dir < DL_TORUS_DIRS; dir++) {
		uint32_t sw = seed->to[dir];
		uint32_t site = s->next[origin * DL_TORUS_DIRS + dir];

		/* With two coordinates both ways lead to the other one. */
		if (s->grid.radix[dl_torus_dir_dim(dir)] == 2 &&
		    site == DL_NONE)
			site = s->next[origin * DL_TORUS_DIRS +
				       dl_torus_opposite(dir)];
		if (sw != DL_NONE && site != DL_NONE &&
		    s->sw_at[site] == DL_NONE && s->site_of[sw] == DL_NONE)
			dl_torus_search_place(s, sw, site);
	}
	dl_torus_search_run(s);
}

/* Is every site of the grid taken, and every hop of it cabled? */
static bool whole(const struct dl_torus_search *s)
{
	uint32_t site, next;
	unsigned int dir;

	if (s->nplaced != s->nreal)
		return false;
	for (site = 0; site < s->nsites; site++) {
		for (dir = 0; dir < DL_TORUS_DIRS; dir++) {
			next = s->next[site * DL_TORUS_DIRS + dir];
			if (s->sw_at[site] != DL_NONE && next != DL_NONE &&
			    s->sw_at[next] != DL_NONE &&
			    !dl_torus_search_cabled(s, s->sw_at[site],
						    s->sw_at[next]))
				return false;
		}
	}
	return true;
}

/*
 * Try the choices that the seed leaves open, until one makes a whole torus.
 * If none does, leaves the search as it is without choices.
 */
static bool grow_by_choice(struct dl_torus_search *s, uint32_t origin,
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

static void report_ambiguous(const struct dl_torus_search *s,
			     const struct dl_log *log)
{
	uint32_t node = s->f->switches[dl_torus_search_ambiguous(s)];

	dl_log(log, DL_LOG_WARNING,
	       "switch 0x%016" PRIx64 " \"%s\" could sit at several sites; a "
	       "seed that names both directions of every dimension of radix 4 "
	       "(xp_link and xm_link, and so on) says more",
	       s->f->nodes[node].guid, dl_fabric_node_name(s->f, node));
}

/*
 * Dimensions that are declared open and have no dateline: see "Meshes" above.
 */
static struct dl_torus_grid search_window(const struct dl_torus_grid *g,
					  const struct dl_torus_grid *declared,
					  const struct dl_torus_seed *seed)
{
	struct dl_torus_grid w = *g;
	unsigned int d;

	for (d = 0; d < DL_TORUS_DIMS; d++)
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
static void window_offset(const struct dl_torus_search *s,
			  const struct dl_torus_grid *g,
			  uint32_t offset[DL_TORUS_DIMS])
{
	uint32_t low[DL_TORUS_DIMS], i, c[DL_TORUS_DIMS];
	unsigned int d;

	for (d = 0; d < DL_TORUS_DIMS; d++) {
		offset[d] = s->grid.radix[d] == g->radix[d] ? 0 :
							      g->radix[d] - 1;
		low[d] = offset[d];
	}
	for (i = 0; i < s->f->nswitches; i++) {
		if (s->site_of[i] == DL_NONE)
			continue;
		dl_torus_site_coord(&s->grid, s->site_of[i], c);
		for (d = 0; d < DL_TORUS_DIMS; d++)
			if (c[d] < low[d])
				low[d] = c[d];
	}
	for (d = 0; d < DL_TORUS_DIMS; d++)
		offset[d] = low[d];
}

static void copy_sites(struct dl_torus *t, const struct dl_torus_search *s)
{
	uint32_t offset[DL_TORUS_DIMS], c[DL_TORUS_DIMS], i;
	unsigned int d;

	window_offset(s, &t->grid, offset);
	memset(t->site_sw, 0xFF, t->nsites * sizeof(*t->site_sw));
	t->nplaced = 0;
	for (i = 0; i < s->f->nswitches; i++) {
		t->sw_site[i] = DL_NONE;
		if (s->site_of[i] == DL_NONE)
			continue;
		dl_torus_site_coord(&s->grid, s->site_of[i], c);
		for (d = 0; d < DL_TORUS_DIMS; d++) {
			c[d] -= offset[d];
			if (c[d] >= t->grid.radix[d])
				break;
		}
		if (d < DL_TORUS_DIMS)
			continue;
		t->sw_site[i] = dl_torus_site(&t->grid, c);
		t->site_sw[t->sw_site[i]] = i;
		t->nplaced++;
	}
}

/* Grow from one seed; the search then holds what was found. */
static int grow_from(struct dl_torus_search *s, const struct dl_torus *t,
		     const struct dl_torus_config *c, uint32_t i,
		     const struct usable_seed *seed, const struct dl_log *log)
{
	struct dl_torus_grid window =
		search_window(&t->grid, &c->grid, &c->seeds[i]);
	uint32_t origin;
	int err = dl_torus_search_grid(s, &window, &t->grid);

	if (err)
		return err;
	origin = seed_site(&t->grid, &window, &c->seeds[i]);
	grow(s, origin, seed);
	if (dl_torus_search_ambiguous(s) != DL_NONE &&
	    !grow_by_choice(s, origin, seed))
		report_ambiguous(s, log);
	return 0;
}

/* Ask for what the cables around the seed leave open (anchors.c). */
static void ask_further(struct dl_torus_search *s, const struct dl_torus *t,
			const struct dl_torus_config *c, uint32_t seed,
			const struct dl_log *log)
{
	bool windowed =
		memcmp(s->grid.radix, t->grid.radix, sizeof(s->grid.radix));
	uint32_t by_seeds = 0, by_ports;

	if (!windowed) {
		by_seeds = dl_torus_hint_seeds(s, c, seed);
		dl_torus_search_run(s);
	}
	by_ports = dl_torus_hint_ports(s);
	dl_torus_search_run(s);
	if (by_seeds || by_ports)
		dl_log(log, DL_LOG_INFO,
		       "places that the cables around the seed "
		       "leave open: %u by other seeds, %u by port numbers",
		       by_seeds, by_ports);
}

/*
 * The first usable seed counts; where damage keeps it from placing every
 * switch, others are tried and the one that places the most is taken.  *best
 * is DL_NONE when none is usable.
 */
static int grow_from_best(struct dl_torus_search *s, const struct dl_torus *t,
			  const struct dl_torus_config *c, uint32_t *best,
			  const struct dl_log *log)
{
	uint32_t i, most = 0, tries = 0;
	struct usable_seed seed;
	int err = 0;

	*best = DL_NONE;
	for (i = 0; !err && i < c->nseeds && tries < MAX_SEEDS; i++) {
		if (!seed_usable(s, &t->grid, &c->seeds[i], log, &seed))
			continue;
		tries++;
		err = grow_from(s, t, c, i, &seed, NULL);
		if (!err && s->nplaced > most) {
			most = s->nplaced;
			*best = i;
		}
		if (!err && most == t->fabric->nswitches)
			return 0;
	}
	if (err || *best == DL_NONE)
		return err;
	seed_usable(s, &t->grid, &c->seeds[*best], NULL, &seed);
	return grow_from(s, t, c, *best, &seed, log);
}

/* Begin with what was known before, or (NULL) with nothing. */
static int grow_from_before(struct dl_torus_search *s, const struct dl_torus *t,
			    const struct dl_torus *before)
{
	int err = dl_torus_search_grid(s, &t->grid, &t->grid);

	if (err)
		return err;
	dl_torus_search_reset(s);
	if (before)
		dl_torus_hint_before(s, before);
	dl_torus_search_run(s);
	return 0;
}

static bool same_grid(const struct dl_torus_grid *a,
		      const struct dl_torus_grid *b)
{
	return !memcmp(a->radix, b->radix, sizeof(a->radix)) &&
	       !memcmp(a->mesh, b->mesh, sizeof(a->mesh));
}

int dl_torus_find_sites(struct dl_torus *t, const struct dl_torus_config *c,
			const struct dl_torus *before, const struct dl_log *log)
{
	uint32_t best = DL_NONE;
	bool known = false;
	struct dl_torus_search s;
	int err;

	err = dl_torus_search_init(&s, t->fabric);
	if (err)
		return err;
	if (before && same_grid(&before->grid, &t->grid)) {
		err = grow_from_before(&s, t, before);
		known = !err && s.nplaced && dl_torus_hints_agree(&s, c);
		best = before->seed < c->nseeds ? before->seed : 0;
	}
	/* What was known is wrong, if it contradicts. */
	if (!err && !known) {
		memset(s.known_odd, 0, t->fabric->nswitches);
		err = grow_from_best(&s, t, c, &best, log);
	}
	if (!err && best == DL_NONE)
		err = grow_from_before(&s, t, NULL);
	if (!err && s.nplaced < t->fabric->nswitches)
		ask_further(&s, t, c, best, log);
	/* A seed that is wrong must not pass for one that is damaged. */
	if (!err && best == DL_NONE &&
	    s.nplaced * PLACED_WITHOUT_SEED < t->fabric->nswitches) {
		dl_log(log, DL_LOG_ERROR,
		       "%s: none of its %u seeds has all its switches and "
		       "cables in this fabric",
		       c->path, c->nseeds);
		err = -EINVAL;
	}
	if (!err) {
		t->seed = best == DL_NONE ? 0 : best;
		copy_sites(t, &s);
	}
	dl_torus_search_free(&s);
	return err;
}
