/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Discovery: from a configuration, what was known before, or the cabling
 * alone, to a torus (rules A3).
 *
 * Problem.  Choose from where the solver (solver.c) begins, so that it places
 * most switches and no restart of a subnet manager changes coordinates; then
 * sort the cables between neighbouring sites into one group a direction, and
 * list what does not fit (off_torus.c).
 *
 * Method.  What was known before comes first, if the configuration does not
 * contradict it; then the first usable seed; where damage keeps that from
 * placing every switch, others, and the one that places the most is taken;
 * then hints (hints.c).  Without seeds one is found from the cabling (infer.c).
 *
 * Choices.  What a seed leaves open (rings of four) is tried in all ways until
 * one makes a whole torus.
 *
 * Meshes.  Without a dateline keyword the seed's switch may be anywhere in an
 * open dimension: the solver runs in a window wide enough for every position,
 * and the result is shifted.
 *
 * Radix 2.  A closed dimension of radix 2 is an open one with more cables:
 * both ways lead to the same switch, no path ever wraps, and no dateline is
 * crossed.  Treating it so leaves no doubt about which cable points which way.
 *
 * Limits.  At most MAX_SEEDS seeds and MAX_TRIES choices are tried, and no more
 * after DL_TORUS_MAX_EFFORT.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "torus/internal.h"

#define MAX_TRIES 64	      /* ways to resolve an ambiguity */
#define MAX_SEEDS 8	      /* seeds tried on a damaged torus */
#define MAX_RECALLED 64	      /* seeds in the configuration of one that is remembered */
#define PLACED_WITHOUT_SEED 4 /* one switch in so many, at least */

/* ---- one seed ---------------------------------------------------------- */

/* Is every dimension's direction given by a cable that exists? */
static bool is_usable(const struct dl_torus_solver *s, const struct dl_torus_seed *seed,
		      const struct dl_log *log)
{
	uint32_t from = dl_torus_find_guid(s->f, seed->from);

	if (from == DL_NONE) {
		dl_log(log, DL_LOG_WARNING,
		       "seed of line %u: switch 0x%016" PRIx64 " is not in the fabric", seed->line,
		       seed->from);
		return false;
	}
	for (unsigned int d = 0; d < DIMS; d++) {
		bool given = s->real.radix[d] == 1;

		for (unsigned int side = 0; side < 2; side++) {
			unsigned int dir = dl_torus_dir(d, side);
			uint32_t to = dl_torus_find_guid(s->f, seed->to[dir]);

			if (!seed->to[dir] || s->real.radix[d] == 1)
				continue;
			if (to != DL_NONE && dl_torus_cabled(&s->graph, from, to)) {
				given = true;
				continue;
			}
			dl_log(log, DL_LOG_WARNING,
			       "seed of line %u: no cable for %c%c_link "
			       "0x%016" PRIx64 " 0x%016" PRIx64,
			       seed->line, 'x' + d, side ? 'm' : 'p', seed->from, seed->to[dir]);
		}
		if (!given) {
			dl_log(log, DL_LOG_WARNING,
			       "seed of line %u gives no direction for dimension %c", seed->line,
			       'x' + d);
			return false;
		}
	}
	return true;
}

/* Put a seed's switches in place and let the rest follow. */
static int discover_grow(struct dl_torus_solver *s, const struct dl_torus_grid *window,
			 const struct dl_torus_seed *seed)
{
	int err = dl_torus_solver_begin(s, window);

	if (err)
		return err;
	dl_torus_place_seed(s, seed);
	dl_torus_solver_run(s);
	return 0;
}

/* Grow from one seed; see "Choices" and "Meshes" above. */
static int grow_from(struct dl_torus_solver *s, const struct dl_torus_config *c, uint32_t i)
{
	const struct dl_torus_seed *seed = &c->seeds[i];
	struct dl_torus_grid window = s->real;
	int err;

	for (unsigned int d = 0; d < DIMS; d++)
		if (c->grid.mesh[d] && s->real.radix[d] > 1 && !seed->has_dateline[d])
			window.radix[d] = 2 * s->real.radix[d] - 1;
	s->seed = i;
	s->may_choose = false;
	err = discover_grow(s, &window, seed);
	if (err || dl_torus_find_ambiguous(s) == DL_NONE || !dl_torus_may_be_whole(s))
		return err;
	s->may_choose = true;
	for (uint32_t try = 0; !err && try < MAX_TRIES && s->effort < DL_TORUS_MAX_EFFORT; try++) {
		s->choices = try;
		err = discover_grow(s, &window, seed);
		if (!err && dl_torus_is_whole(s))
			return 0;
	}
	s->may_choose = false;
	return err ? err : discover_grow(s, &window, seed);
}

static void report_ambiguous(const struct dl_torus_solver *s, const struct dl_log *log)
{
	uint32_t sw = dl_torus_find_ambiguous(s);

	if (!s->may_choose && sw != DL_NONE)
		dl_log(log, DL_LOG_WARNING,
		       "switch %s could sit at several sites; a seed that names both directions "
		       "of every dimension of radix 4 (xp_link and xm_link, and so on) says more",
		       dl_torus_show_switch(s->f, sw).text);
}

/* ---- where to begin ---------------------------------------------------- */

/* Leaves s->seed DL_NONE when no seed is usable. */
static int grow_from_best(struct dl_torus_solver *s, const struct dl_torus_config *c,
			  const struct dl_log *log)
{
	uint32_t most = 0, tries = 0, best = DL_NONE;
	int err = 0;

	memset(s->known_off, 0, s->n);
	s->seed = DL_NONE;
	for (uint32_t i = 0; !err && i < c->nseeds && tries < MAX_SEEDS; i++) {
		/* A seed of no file has no line: nobody can correct it. */
		if (!is_usable(s, &c->seeds[i], c->seeds[i].line ? log : NULL))
			continue;
		if (tries && s->effort >= DL_TORUS_MAX_EFFORT)
			break;
		tries++;
		err = grow_from(s, c, i);
		if (!err && s->nplaced == s->n)
			return 0;
		if (!err && s->nplaced > most) {
			most = s->nplaced;
			best = i;
		}
	}
	if (err)
		return err;
	if (best == DL_NONE)
		return dl_torus_solver_begin(s, &s->real);
	if (s->seed != best)
		err = grow_from(s, c, best);
	if (!err)
		report_ambiguous(s, log);
	return err;
}

/* Begin with what was known, if neither cables nor seeds contradict it. */
static int grow_from_before(struct dl_torus_solver *s, const struct dl_torus_config *c,
			    const struct dl_torus *before, bool *known)
{
	int err;

	*known = false;
	if (!before || !dl_torus_same_grid(&before->grid, &s->real))
		return 0;
	err = dl_torus_solver_begin(s, &s->real);
	if (err)
		return err;
	s->seed = before->seed < c->nseeds ? before->seed : 0;
	dl_torus_hint_before(s, before);
	dl_torus_solver_run(s);
	*known = s->nplaced && dl_torus_hints_agree(s, c);
	return 0;
}

/* Place what the cables around the seed leave open. */
static void ask_further(struct dl_torus_solver *s, const struct dl_torus_config *c,
			const struct dl_log *log)
{
	uint32_t by_seeds = 0, by_ports;

	if (s->nsites == s->nreal) {
		by_seeds = dl_torus_hint_seeds(s, c);
		dl_torus_solver_run(s);
	}
	by_ports = dl_torus_hint_ports(s);
	dl_torus_solver_run(s);
	if (by_seeds || by_ports)
		dl_log(log, DL_LOG_INFO,
		       "places that the cables around the seed "
		       "leave open: %u by other seeds, %u by port numbers",
		       by_seeds, by_ports);
}

int dl_torus_solve(struct dl_torus_solver *s, const struct dl_torus_config *c,
		   const struct dl_torus *before, const struct dl_log *log)
{
	bool known;
	int err;

	s->real = c->grid;
	for (unsigned int d = 0; d < DIMS; d++)
		s->real.mesh[d] |= s->real.radix[d] <= 2;
	s->may_choose = false;
	err = grow_from_before(s, c, before, &known);
	if (!err && !known)
		err = grow_from_best(s, c, log);
	if (err)
		return err;
	if (s->nplaced < s->n)
		ask_further(s, c, log);
	dl_torus_improve(s, c);
	/* A seed that is wrong must not pass for one that is damaged. */
	if (s->seed == DL_NONE && s->nplaced * PLACED_WITHOUT_SEED < s->n)
		return dl_fail(log, -EINVAL,
			       "%s contradicts the fabric: none of its %u seeds has all its "
			       "switches and cables in it",
			       c->path, c->nseeds);
	return 0;
}

/* ---- the torus --------------------------------------------------------- */

static bool discover_allocate(struct dl_torus *t)
{
	const struct dl_fabric *f = t->fabric;
	size_t nsw = f->nswitches + 1;

	t->site_sw = dl_arena_alloc(&t->arena, t->nsites * sizeof(*t->site_sw));
	t->sw_site = dl_arena_array(&t->arena, nsw, (4 + DIRS) * sizeof(*t->sw_site) + 1);
	t->off_links = dl_arena_alloc(&t->arena, (f->nports / 2 + 1) * sizeof(*t->off_links));
	t->port_dir = dl_arena_alloc(&t->arena, 2 * (size_t)f->nports + 2);
	if (!t->site_sw || !t->sw_site || !t->off_links || !t->port_dir)
		return false;
	t->attachment = t->sw_site + nsw;
	t->uplink = t->attachment + nsw;
	t->unplaced = t->uplink + nsw;
	t->group_first = t->unplaced + nsw;
	t->off_kind = (uint8_t *)(t->group_first + DIRS * nsw);
	t->group_ports = t->port_dir + f->nports + 1;
	return true;
}

/*
 * How far a window's origin lies from the grid's, in each dimension: the
 * seed's switch is at coordinate 0 if everything found fits so, else the
 * lowest coordinate found is 0.
 */
static void find_offset(const struct dl_torus_solver *s, uint32_t offset[DIMS])
{
	for (unsigned int d = 0; d < DIMS; d++) {
		bool window = s->grid.radix[d] != s->real.radix[d];

		offset[d] = window ? s->real.radix[d] - 1 : 0;
		if (window && s->low[d] < offset[d])
			offset[d] = s->low[d];
	}
}

/* From the solver's sites to those of the grid; what is outside has none. */
static void shift_sites(const struct dl_torus_solver *s, uint32_t *sites)
{
	uint32_t offset[DIMS], c[DIMS];
	bool inside;

	find_offset(s, offset);
	for (uint32_t sw = 0; sw < s->n; sw++) {
		sites[sw] = DL_NONE;
		if (s->site_of[sw] == DL_NONE)
			continue;
		dl_torus_site_coord(&s->grid, s->site_of[sw], c);
		inside = true;
		for (unsigned int d = 0; d < DIMS; d++) {
			c[d] -= offset[d];
			inside &= c[d] < s->real.radix[d];
		}
		if (inside)
			sites[sw] = dl_torus_site(&s->real, c);
	}
}

/* In which direction does this port's cable leave its switch? */
static unsigned int cable_direction(const struct dl_torus *t, uint32_t port)
{
	uint32_t peer = t->fabric->ports[port].peer;

	if (peer == DL_NONE || !dl_torus_is_inside(t, port))
		return DIRS;
	return dl_torus_direction(&t->grid, dl_torus_site_of(t, port), dl_torus_site_of(t, peer));
}

static void sort_cables(struct dl_torus *t)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t total = 0;

	for (uint32_t port = 0; port < f->nports; port++) {
		t->port_dir[port] = cable_direction(t, port);
		if (t->port_dir[port] == DIRS && dl_fabric_is_switch(f, f->ports[port].node) &&
		    dl_fabric_peer_switch(f, port) != DL_NONE && port < f->ports[port].peer)
			t->off_links[t->noff_links++] = port;
	}
	for (uint32_t g = 0; g < f->nswitches * DIRS; g++) {
		const struct dl_fabric_node *n = dl_fabric_switch_node(f, g / DIRS);

		for (unsigned int p = 1; p <= n->nports; p++)
			if (t->port_dir[n->first_port + p] == g % DIRS)
				t->group_ports[total++] = p;
		t->group_first[g + 1] = total;
	}
	t->nlinks = total / 2;
}

int dl_torus_make(const struct dl_fabric *f, const struct dl_torus_grid *g, const uint32_t *sites,
		  struct dl_torus **out)
{
	struct dl_torus *t = calloc(1, sizeof(*t));
	int err = -ENOMEM;

	if (!t)
		return -ENOMEM;
	t->fabric = f;
	t->grid = *g;
	t->nsites = dl_torus_grid_sites(g);
	if (discover_allocate(t)) {
		memset(t->site_sw, 0xFF, t->nsites * sizeof(*t->site_sw));
		memcpy(t->sw_site, sites, f->nswitches * sizeof(*sites));
		for (uint32_t sw = 0; sw < f->nswitches; sw++) {
			uint32_t *at = sites[sw] == DL_NONE ? NULL : &t->site_sw[sites[sw]];

			if (!at)
				continue;
			if (*at != DL_NONE)
				t->sw_site[*at] = DL_NONE; /* two claim it: the last one has it */
			t->nplaced += *at == DL_NONE;
			*at = sw;
		}
		sort_cables(t);
		err = dl_torus_find_off_torus(t);
	}
	if (err)
		dl_torus_free(t);
	else
		*out = t;
	return err;
}

static void discover_drop(struct dl_torus **t)
{
	dl_torus_free(*t);
	*t = NULL;
}

int dl_torus_discover_again(const struct dl_fabric *f, const struct dl_torus_config *c,
			    const struct dl_torus *before, const struct dl_log *log,
			    struct dl_torus **out)
{
	struct dl_torus_config *inferred = NULL;
	struct dl_torus_solver s;
	int err = dl_torus_solver_init(&s, f);

	if (!err && !c->nseeds)
		err = dl_torus_infer_grid(&s, &c->grid, log, &inferred);
	if (!err)
		err = dl_torus_solve(&s, inferred ? inferred : c, before, log);
	if (!err && !before)
		err = dl_torus_grow_elsewhere(&s, inferred ? inferred : c);
	if (!err) {
		/* The queue has done its work. */
		shift_sites(&s, s.queue);
		err = dl_torus_make(f, &s.real, s.queue, out);
	}
	if (!err) {
		(*out)->seed = s.seed == DL_NONE ? 0 : s.seed;
		err = dl_torus_report_off_torus(*out, log);
		if (err)
			discover_drop(out);
	}
	dl_torus_config_free(inferred);
	dl_torus_solver_free(&s);
	return err;
}

int dl_torus_recall(const struct dl_fabric *f, const struct dl_torus *before,
		    const struct dl_log *log, struct dl_torus_config **c, struct dl_torus **out)
{
	struct dl_torus_config *grid = dl_torus_config_new(&before->grid, "(remembered)", 0);
	struct dl_torus_solver s;
	int err = dl_torus_solver_init(&s, f);

	if (!err && !grid)
		err = -ENOMEM;
	if (!err)
		err = dl_torus_solve(&s, grid, before, NULL);
	if (!err)
		err = dl_torus_make(f, &s.real, s.site_of, out);
	dl_torus_solver_free(&s);
	dl_torus_config_free(grid);
	if (err)
		return err;
	err = dl_torus_report_off_torus(*out, log);
	if (!err && c)
		err = dl_torus_describe(*out, MAX_RECALLED, c);
	if (err)
		discover_drop(out);
	return err;
}

int dl_torus_discover(const struct dl_fabric *f, const struct dl_torus_config *c,
		      const struct dl_log *log, struct dl_torus **out)
{
	return dl_torus_discover_again(f, c, NULL, log, out);
}

void dl_torus_free(struct dl_torus *t)
{
	if (!t)
		return;
	dl_arena_free(&t->arena);
	free(t);
}
