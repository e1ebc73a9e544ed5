/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From a torus back to the configuration that an administrator would have
 * written for it: radices, and seeds (rules A2, A3).
 *
 * Problem.  Name a few switches and links from which discovery can start, so
 * that it still can after failures, and so that every seed leads to the same
 * coordinates.
 *
 * Method.  Each seed's links are alive, no two seeds share a switch, and each
 * carries the position of the origin relative to its own switch.  The first
 * seed is at the lowest site that will do, (0,0,0) on a whole fabric, and has
 * every link that it can have.  Each further one is as far from those before
 * it as it can, and has as few links as will do, so that fewer failures
 * concern it: one a dimension, but both in a ring of four, where the built-in
 * engine insists on them.  In a dimension of radix 2 both ways lead to the
 * same switch; the link is named by the way that does not wrap.
 *
 * Complexity.  Sites times seeds.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "torus/internal.h"

struct chooser {
	const struct dl_torus *t;
	const struct dl_torus_grid *g; /* radices as the configuration gives them */
	bool *taken;		       /* by site */
};

/* The neighbour in a direction over at least one cable, or DL_NONE. */
static uint32_t live_next(const struct chooser *c, uint32_t site, unsigned int dir)
{
	uint32_t next = dl_torus_site_next(&c->t->grid, site, dir);

	return dl_torus_group_size(c->t, c->t->site_sw[site], dir) &&
			       c->t->site_sw[next] != DL_NONE ?
		       next :
		       DL_NONE;
}

/*
 * Neighbours of `site` that can name dimension `dim`, in next[] by sense.
 * False when they do not suffice.
 */
static bool find_links(const struct chooser *c, uint32_t site, unsigned int dim, bool all,
		       uint32_t next[2])
{
	uint32_t radix = c->g->radix[dim], coord[DIMS];

	for (unsigned int sense = 0; sense < 2; sense++)
		next[sense] = live_next(c, site, dl_torus_dir(dim, sense));
	if (radix == 2) {
		dl_torus_site_coord(c->g, site, coord);
		if (next[0] == DL_NONE)
			next[0] = next[1];
		next[coord[dim]] = next[0];
		next[!coord[dim]] = DL_NONE;
		return next[coord[dim]] != DL_NONE;
	}
	if (radix == 4 && !c->g->mesh[dim])
		return next[0] != DL_NONE && next[1] != DL_NONE;
	if (!all && next[0] != DL_NONE)
		next[1] = DL_NONE;
	return radix == 1 || next[0] != DL_NONE || next[1] != DL_NONE;
}

/*
 * The neighbours by which a seed at a site names the directions.  False when
 * the site will not do, or would need a switch that is taken.
 */
static bool find_seed(const struct chooser *c, uint32_t site, bool all, uint32_t next[DIRS])
{
	if (c->t->site_sw[site] == DL_NONE || c->taken[site])
		return false;
	for (unsigned int d = 0; d < DIMS; d++)
		if (!find_links(c, site, d, all, &next[dl_torus_dir(d, false)]))
			return false;
	for (unsigned int dir = 0; dir < DIRS; dir++)
		if (next[dir] != DL_NONE && c->taken[next[dir]])
			return false;
	return true;
}

static uint64_t describe_guid_at(const struct dl_torus *t, uint32_t site)
{
	return dl_fabric_switch_node(t->fabric, t->site_sw[site])->guid;
}

static struct dl_torus_seed make_seed(const struct chooser *c, uint32_t site,
				      const uint32_t next[DIRS])
{
	struct dl_torus_seed seed = { .from = describe_guid_at(c->t, site) };
	uint32_t coord[DIMS];

	c->taken[site] = true;
	for (unsigned int dir = 0; dir < DIRS; dir++) {
		if (next[dir] == DL_NONE)
			continue;
		seed.to[dir] = describe_guid_at(c->t, next[dir]);
		c->taken[next[dir]] = true;
	}
	dl_torus_site_coord(c->g, site, coord);
	for (unsigned int d = 0; d < DIMS; d++) {
		seed.dateline[d] = -(int32_t)coord[d];
		seed.has_dateline[d] = c->g->radix[d] > 1;
	}
	return seed;
}

/* At most `max` seeds, into the configuration. */
static int choose_seeds(const struct dl_torus *t, uint32_t max, struct dl_torus_config *config)
{
	uint32_t *gap = malloc(t->nsites * sizeof(*gap)); /* to the nearest seed */
	struct chooser c = { t, &config->grid, calloc(t->nsites, 1) };
	int err = c.taken && gap ? 0 : -ENOMEM;
	uint32_t next[DIRS];

	if (!err)
		memset(gap, 0xFF, t->nsites * sizeof(*gap));
	for (config->nseeds = 0; !err && config->nseeds < max;) {
		uint32_t best = DL_NONE;
		bool first = !config->nseeds;

		for (uint32_t s = 0; s < t->nsites; s++)
			if ((best == DL_NONE || gap[s] > gap[best]) &&
			    find_seed(&c, s, first, next))
				best = s;
		if (best == DL_NONE)
			break;
		find_seed(&c, best, first, next);
		config->seeds[config->nseeds++] = make_seed(&c, best, next);
		for (uint32_t s = 0; s < t->nsites; s++) {
			uint32_t here = dl_torus_site_distance(c.g, s, best);

			gap[s] = here < gap[s] ? here : gap[s];
		}
	}
	free(c.taken);
	free(gap);
	return err;
}

void dl_torus_config_free(struct dl_torus_config *c)
{
	if (!c)
		return;
	free(c->seeds);
	free(c->path);
	free(c);
}

struct dl_torus_config *dl_torus_config_new(const struct dl_torus_grid *grid, const char *path,
					    uint32_t seeds)
{
	struct dl_torus_config *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	if (grid)
		c->grid = *grid;
	c->portgroup_max_ports = DL_TORUS_DEFAULT_PORTGROUP;
	c->max_changes = DL_TORUS_DEFAULT_MAX_CHANGES;
	c->path = strdup(path);
	if (seeds)
		c->seeds = calloc(seeds, sizeof(*c->seeds));
	if (c->path && (c->seeds || !seeds))
		return c;
	dl_torus_config_free(c);
	return NULL;
}

/* ---- a torus ----------------------------------------------------------- */

/*
 * What the built-in engine needs as portgroup_max_ports: the most parallel
 * cables, or the most end ports of a switch with its own.
 */
static uint32_t largest_group(const struct dl_torus *t)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t most = DL_TORUS_DEFAULT_PORTGROUP, n;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *node = dl_fabric_switch_node(f, s);

		for (unsigned int dir = 0; dir < DIRS; dir++) {
			n = dl_torus_group_size(t, s, dir);
			most = n > most ? n : most;
		}
		n = 1;
		for (unsigned int p = 1; p <= node->nports; p++)
			n += dl_fabric_end_at(f, node, p) != DL_NONE;
		most = n > most ? n : most;
	}
	return most;
}

int dl_torus_describe_as(const struct dl_torus *t, const struct dl_torus_grid *g, const char *path,
			 unsigned int max_seeds, struct dl_torus_config **out)
{
	struct dl_torus_config *c = dl_torus_config_new(g, path, max_seeds);
	int err = -ENOMEM;

	if (c) {
		c->portgroup_max_ports = largest_group(t);
		err = choose_seeds(t, max_seeds, c);
	}
	if (err)
		dl_torus_config_free(c);
	else
		*out = c;
	return err;
}

int dl_torus_describe(const struct dl_torus *t, unsigned int max_seeds,
		      struct dl_torus_config **out)
{
	struct dl_torus_grid g = t->grid;

	/* An absent dimension is neither open nor closed. */
	for (unsigned int d = 0; d < DIMS; d++)
		g.mesh[d] &= g.radix[d] > 1;
	return dl_torus_describe_as(t, &g, "(found from the cabling)", max_seeds, out);
}
