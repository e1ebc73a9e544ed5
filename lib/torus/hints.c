/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Hints: where switches are that the cables around one seed do not place
 * (rules A3).
 *
 * Problem.  On a heavily damaged torus arc consistency (solver.c) ends early:
 * a part is attached by one cable whose direction is not known, or is cut off
 * from the seed by a row of failed switches.  And a switch with one neighbour
 * left, next to an empty site, may be that site's, with most of its cables
 * dead, or a service switch.  Path SLs depend on coordinates, so it is worth
 * using every other source.
 *
 * Method.  For parts that cables leave open, in this order:
 *
 * 0. the torus as it was before.  A switch does not move while a subnet
 *    manager runs, unless somebody moves its cables, which then contradict
 *    each other, or changes the configuration, which then contradicts the
 *    earlier torus.
 * 1. the other seeds.  Where a seed's datelines are given, the sites of all
 *    switches that it names are known, whether its cables are alive or not.
 *    A seed that contradicts what is placed already is left out.
 * 2. port numbers.  In most machines a port number leads in the same
 *    direction on every switch.  That is taken for granted only if no two
 *    cables between placed switches contradict it, and if there are enough of
 *    them that this is no accident.
 *
 * For weak switches, which wait until all others are placed, a score; those
 * with two neighbours come first, and those that miss fewer hops:
 *
 * 1. Port numbers decide, if they mean the same direction on all switches.
 * 2. If the site's other neighbours are there, and cables are missing to more
 *    of them than lead to the rest, the switch belongs to the site only if as
 *    many hops are missing elsewhere: it takes a fabric that loses cables to
 *    lose most of one switch's.
 * 3. What had no place when the fabric was seen before has none now.
 * 4. In an open dimension whose ends are not known, it does not make a plane
 *    of its own.
 *
 * Invariant.  No switch is placed by a hint where a cable to a placed switch
 * would not join neighbours.  A mistake costs a detour and an SL, never
 * safety: whatever the coordinates, tables are verified.  What is left out is
 * listed with the site (off_torus.c); a seed that names it settles the matter.
 *
 * Complexity: n log n in the fabric.  Port numbers go round by round, in order of
 * GUID; a switch is asked again when a neighbour was placed.
 */
#include <string.h>

#include "torus/internal.h"

#define ENOUGH 2 /* observations for each port number, on average */

/* ---- seeds ------------------------------------------------------------- */

struct claim {
	uint32_t sw, site;
};

/* Where a seed's common switch is: by its datelines, or in a window's middle. */
static uint32_t seed_site(const struct dl_torus_solver *s, const struct dl_torus_seed *seed)
{
	uint32_t c[DIMS];

	for (unsigned int d = 0; d < DIMS; d++) {
		int32_t r = s->real.radix[d];

		c[d] = s->grid.radix[d] != s->real.radix[d] ? r - 1 :
							      ((-seed->dateline[d]) % r + r) % r;
	}
	return dl_torus_site(&s->grid, c);
}

/*
 * The switches that a seed names and that are there, and their sites; with
 * `cabled`, only where the cable is there.  Returns their number.
 */
static unsigned int list_claims(const struct dl_torus_solver *s, const struct dl_torus_seed *seed,
				bool cabled, struct claim claims[DIRS + 1])
{
	uint32_t from = dl_torus_find_guid(s->f, seed->from);
	uint32_t origin = seed_site(s, seed);
	unsigned int n = 0;

	if (from != DL_NONE)
		claims[n++] = (struct claim){ from, origin };
	for (unsigned int dir = 0; dir < DIRS; dir++) {
		uint32_t sw = dl_torus_find_guid(s->f, seed->to[dir]);
		uint32_t site = dl_torus_site_next(&s->grid, origin, dir);

		/* With two coordinates both ways lead to the other one. */
		if (site == DL_NONE && s->grid.radix[dl_torus_dir_dim(dir)] == 2)
			site = dl_torus_site_next(&s->grid, origin, dl_torus_opposite(dir));
		if (sw != DL_NONE && site != DL_NONE &&
		    (!cabled || dl_torus_cabled(&s->graph, from, sw)))
			claims[n++] = (struct claim){ sw, site };
	}
	return n;
}

void dl_torus_place_seed(struct dl_torus_solver *s, const struct dl_torus_seed *seed)
{
	struct claim claims[DIRS + 1];
	unsigned int n = list_claims(s, seed, true, claims);

	for (unsigned int i = 0; i < n; i++)
		if (s->sw_at[claims[i].site] == DL_NONE && s->site_of[claims[i].sw] == DL_NONE)
			dl_torus_place(s, claims[i].sw, claims[i].site);
}

/* Does a seed say where in the grid it is? */
static bool is_absolute(const struct dl_torus_solver *s, const struct dl_torus_config *c,
			uint32_t seed)
{
	for (unsigned int d = 0; seed && d < DIMS; d++)
		if (s->grid.radix[d] > 1 && !c->seeds[seed].has_dateline[d])
			return false;
	return true;
}

/* Does a seed leave open where in an open dimension it is? */
static bool hints_seed_floats(const struct dl_torus_solver *s, const struct dl_torus_config *c,
			      uint32_t seed)
{
	for (unsigned int d = 0; d < DIMS; d++)
		if (s->grid.radix[d] > 1 && c->grid.mesh[d] && !c->seeds[seed].has_dateline[d])
			return true;
	return false;
}

/* What a seed claims, if nothing placed contradicts it. */
static bool hints_seed_holds(const struct dl_torus_solver *s, const struct dl_torus_seed *seed,
			     struct claim claims[DIRS + 1], unsigned int *n)
{
	*n = list_claims(s, seed, false, claims);
	for (unsigned int i = 0; i < *n; i++)
		if (s->site_of[claims[i].sw] != DL_NONE ?
			    s->site_of[claims[i].sw] != claims[i].site :
			    s->sw_at[claims[i].site] != DL_NONE)
			return false;
	return true;
}

uint32_t dl_torus_hint_seeds(struct dl_torus_solver *s, const struct dl_torus_config *c)
{
	struct claim claims[DIRS + 1];
	uint32_t before = s->nplaced;
	unsigned int n;

	if (s->seed != DL_NONE && !is_absolute(s, c, s->seed))
		return 0;
	for (uint32_t i = 0; i < c->nseeds; i++) {
		if (!is_absolute(s, c, i) || !hints_seed_holds(s, &c->seeds[i], claims, &n))
			continue;
		for (unsigned int k = 0; k < n; k++)
			if (s->site_of[claims[k].sw] == DL_NONE &&
			    dl_torus_fits(s, claims[k].sw, claims[k].site))
				dl_torus_place(s, claims[k].sw, claims[k].site);
	}
	return s->nplaced - before;
}

bool dl_torus_hints_agree(const struct dl_torus_solver *s, const struct dl_torus_config *c)
{
	struct claim claims[DIRS + 1];
	unsigned int n;

	for (uint32_t i = 0; i < c->nseeds; i++)
		if (is_absolute(s, c, i) && !hints_seed_floats(s, c, i) &&
		    !hints_seed_holds(s, &c->seeds[i], claims, &n))
			return false;
	return true;
}

/* ---- the torus before -------------------------------------------------- */

/* Is a placed switch contradicted by most of its cables? */
static bool is_contradicted(const struct dl_torus_solver *s, uint32_t sw)
{
	unsigned int agree, placed;

	placed = dl_torus_count_placed(s, sw, s->site_of[sw], &agree);
	return placed - agree > agree;
}

void dl_torus_hint_before(struct dl_torus_solver *s, const struct dl_torus *before)
{
	const struct dl_fabric *then = before->fabric;

	for (uint32_t site = 0; site < s->nsites; site++) {
		uint32_t was = before->site_sw[site], sw;

		if (was == DL_NONE)
			continue;
		sw = dl_torus_find_guid(s->f, dl_fabric_switch_node(then, was)->guid);
		if (sw != DL_NONE && s->site_of[sw] == DL_NONE)
			dl_torus_place(s, sw, site);
	}
	for (uint32_t i = 0; i < before->nunplaced; i++) {
		uint32_t sw = dl_torus_find_guid(
			s->f, dl_fabric_switch_node(then, before->unplaced[i])->guid);

		if (sw != DL_NONE)
			s->known_off[sw] = true;
	}
	for (uint32_t sw = 0; sw < s->n; sw++)
		if (s->site_of[sw] != DL_NONE && is_contradicted(s, sw))
			dl_torus_unplace(s, sw);
}

/* ---- port numbers ------------------------------------------------------ */

/* The direction between sites, or DIRS where both ways lead to the same. */
static unsigned int hints_direction(const struct dl_torus_solver *s, uint32_t from, uint32_t to)
{
	unsigned int dir = dl_torus_direction(&s->grid, from, to);

	return dir < DIRS && s->grid.radix[dl_torus_dir_dim(dir)] > 2 ? dir : DIRS;
}

/* The site at the far end of a port, or DL_NONE, and the port number there. */
static uint32_t far_site(const struct dl_torus_solver *s, uint32_t sw, unsigned int num,
			 unsigned int *far_num)
{
	const struct dl_fabric *f = s->f;
	uint32_t port = dl_fabric_switch_node(f, sw)->first_port + num;
	uint32_t far = dl_fabric_peer_switch(f, port);

	if (far == DL_NONE)
		return DL_NONE;
	*far_num = f->ports[f->ports[port].peer].num;
	return s->site_of[far];
}

static unsigned int count_ports(const struct dl_torus_solver *s, uint32_t sw)
{
	return dl_fabric_switch_node(s->f, sw)->nports;
}

static bool learn_ports(const struct dl_torus_solver *s, struct dl_torus_hints *h)
{
	uint32_t seen = 0, numbers = 0;
	unsigned int far;

	memset(h->dir, DIRS, sizeof(h->dir));
	h->meant = 0;
	for (uint32_t sw = 0; sw < s->n; sw++) {
		if (s->site_of[sw] == DL_NONE)
			continue;
		for (unsigned int k = 1; k <= count_ports(s, sw); k++) {
			uint32_t at = far_site(s, sw, k, &far);
			unsigned int dir = at == DL_NONE ? DIRS :
							   hints_direction(s, s->site_of[sw], at);

			if (dir == DIRS)
				continue;
			numbers += h->dir[k] == DIRS;
			if (h->dir[k] != DIRS && h->dir[k] != dir)
				return false;
			h->dir[k] = dir;
			h->meant |= 1u << dir;
			seen++;
		}
	}
	return numbers && seen >= ENOUGH * numbers;
}

/* The site on which all ports with a known direction agree, or DL_NONE. */
static uint32_t site_by_ports(const struct dl_torus_solver *s, uint32_t sw,
			      const struct dl_torus_hints *h)
{
	uint32_t site = DL_NONE;
	unsigned int far;

	for (unsigned int k = 1; k <= count_ports(s, sw); k++) {
		uint32_t at = far_site(s, sw, k, &far), here;
		unsigned int dir = at == DL_NONE ? DIRS : h->dir[far];

		if (dir == DIRS)
			continue;
		here = dl_torus_site_next(&s->grid, at, dir);
		if (here == DL_NONE || (site != DL_NONE && site != here) ||
		    (h->dir[k] != DIRS && h->dir[k] != dl_torus_opposite(dir)))
			return DL_NONE;
		site = here;
	}
	return site;
}

/* Whoever has a placed neighbour more: in this round those who follow, else the next. */
static void ask_again(struct dl_torus_solver *s, uint32_t sw)
{
	uint32_t round = dl_torus_heap_key(&s->next, s->rank[sw]);
	const uint32_t *n, *end;

	for (n = dl_torus_neighbours(&s->graph, sw, &end); n < end; n++) {
		uint32_t next = s->rank[*n];

		if (s->site_of[*n] == DL_NONE && s->next.at[next] == DL_NONE)
			dl_torus_heap_set(&s->next, next, round + (next < s->rank[sw]));
	}
}

uint32_t dl_torus_hint_ports(struct dl_torus_solver *s)
{
	uint32_t first = s->nplaced, item;
	struct dl_torus_hints h;

	if (!learn_ports(s, &h))
		return 0;
	dl_torus_heap_clear(&s->next);
	for (uint32_t i = 0; i < s->n; i++)
		dl_torus_heap_set(&s->next, i, 0);
	while ((item = dl_torus_heap_first(&s->next)) != DL_NONE) {
		uint32_t sw = s->by_guid[item], site = DL_NONE;

		if (s->site_of[sw] == DL_NONE)
			site = site_by_ports(s, sw, &h);
		if (site != DL_NONE && dl_torus_fits(s, sw, site)) {
			dl_torus_place(s, sw, site);
			ask_again(s, sw);
		}
		dl_torus_heap_remove(&s->next, item);
	}
	return s->nplaced - first;
}

/* ---- the score of weak switches ---------------------------------------- */

/*
 * Do most ports that a switch is attached to lead to a site?  1, -1; 0: unknown, for one
 * plug may be in a wrong port.
 */
static int ports_agree(const struct dl_torus_solver *s, const struct dl_torus_hints *h, uint32_t sw,
		       uint32_t site)
{
	unsigned int far;
	int agree = 0;

	for (unsigned int k = 1; k <= count_ports(s, sw); k++) {
		uint32_t at = far_site(s, sw, k, &far);
		unsigned int dir = at == DL_NONE ? DIRS : hints_direction(s, at, site);

		/* Is it known at all which ports lead there? */
		if (dir == DIRS || !(h->meant >> dir & 1))
			continue;
		agree += h->dir[far] == dir ? 1 : -1;
	}
	return (agree > 0) - (agree < 0);
}

/* Is a site beyond all placed switches, where the grid might end? */
static bool is_beyond(const struct dl_torus_solver *s, uint32_t site)
{
	const uint32_t *span = s->real.radix;
	uint32_t c[DIMS];

	dl_torus_site_coord(&s->grid, site, c);
	for (unsigned int d = 0; d < DIMS; d++)
		if (span[d] != s->grid.radix[d] && s->nreal > span[d] &&
		    (c[d] < s->low[d] || c[d] > s->high[d]))
			return true;
	return false;
}

void dl_torus_learn_hints(const struct dl_torus_solver *s, struct dl_torus_hints *h)
{
	h->known = true;
	h->uncabled = dl_torus_count_uncabled(s);
	h->ports = learn_ports(s, h);
}

unsigned int dl_torus_score(const struct dl_torus_solver *s, const struct dl_torus_hints *h,
			    uint32_t sw, uint32_t site)
{
	int ports = h->ports ? ports_agree(s, h, sw, site) : 0;
	unsigned int there = 0, missing = 0;

	for (unsigned int dir = 0; dir < DIRS; dir++) {
		uint32_t at = dl_torus_site_next(&s->grid, site, dir);

		if (at == DL_NONE || s->sw_at[at] == DL_NONE)
			continue;
		if (dl_torus_cabled(&s->graph, sw, s->sw_at[at]))
			there++;
		else
			missing++;
	}
	if (ports < 0 || (!ports && (s->known_off[sw] || is_beyond(s, site) ||
				     (missing > there && missing > h->uncabled))))
		return 0;
	return (s->weak[sw] == DL_TORUS_THIN) << 8 | (DIRS - missing) << 4 | there;
}
