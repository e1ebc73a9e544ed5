/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Seeds for a torus-2QoS.conf (rules A2, A3).
 *
 * Problem.  Name a few switches and links from which discovery can start, so
 * that it still can after failures, and so that every seed leads to the same
 * coordinates.
 *
 * Method.  Each seed's links are alive, no two seeds share a switch, and each
 * carries the position of the origin relative to its own switch.  The first
 * seed stands at the lowest site that will do, (0,0,0) on a whole fabric, and
 * has every link that it can have.  Each further one stands as far from those
 * before it as it can, and has as few links as will do, so that fewer failures
 * concern it: one a dimension, but both in a ring of four, where the built-in
 * engine insists on them.  In a dimension of radix 2 both ways lead to the same
 * switch; the link is named by the way that does not wrap.
 *
 * Complexity.  Sites times seeds.
 */
#include <errno.h>
#include <stdlib.h>

#include "torus/internal.h"

struct chooser {
	const struct dl_torus_grid *g;
	const bool *dead;
	const uint8_t *cables;
	const uint64_t *guids;
};

/* The live neighbour over at least one live cable, or DL_NONE. */
static uint32_t live_next(const struct chooser *c, uint32_t site,
			  unsigned int dir)
{
	uint32_t next = dl_torus_site_next(c->g, site, dir);
	unsigned int dim = dl_torus_dir_dim(dir);
	uint32_t lower = dir == dl_torus_dir(dim, true) ? next : site;

	if (next == DL_NONE || c->dead[next] ||
	    !c->cables[lower * DL_TORUS_DIMS + dim])
		return DL_NONE;
	return next;
}

/*
 * Neighbours of `site` that can name dimension `dim`, in next[] by sense.
 * False when they do not suffice.
 */
static bool find_links(const struct chooser *c, uint32_t site, unsigned int dim,
		       bool all, uint32_t next[2])
{
	uint32_t radix = c->g->radix[dim];
	uint32_t coord[DL_TORUS_DIMS];

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
	return next[0] != DL_NONE || next[1] != DL_NONE;
}

/*
 * The neighbours by which a seed at a site names the directions.  False when
 * the site will not do, or would need a switch that is taken.
 */
static bool plan_seed(const struct chooser *c, uint32_t site, bool all,
		      const bool *taken, uint32_t next[DL_TORUS_DIRS])
{
	if (c->dead[site] || taken[site])
		return false;
	for (unsigned int dim = 0; dim < DL_TORUS_DIMS; dim++) {
		uint32_t *two = &next[dl_torus_dir(dim, false)];

		two[0] = two[1] = DL_NONE;
		if (c->g->radix[dim] > 1 && !find_links(c, site, dim, all, two))
			return false;
	}
	for (unsigned int dir = 0; dir < DL_TORUS_DIRS; dir++)
		if (next[dir] != DL_NONE && taken[next[dir]])
			return false;
	return true;
}

static void make_seed(const struct chooser *c, uint32_t site,
		      const uint32_t next[DL_TORUS_DIRS], bool *taken,
		      struct dl_torus_seed *seed)
{
	uint32_t coord[DL_TORUS_DIMS];

	*seed = (struct dl_torus_seed){ .from = c->guids[site] };
	taken[site] = true;
	for (unsigned int dir = 0; dir < DL_TORUS_DIRS; dir++) {
		if (next[dir] == DL_NONE)
			continue;
		seed->to[dir] = c->guids[next[dir]];
		taken[next[dir]] = true;
	}
	dl_torus_site_coord(c->g, site, coord);
	for (unsigned int dim = 0; dim < DL_TORUS_DIMS; dim++) {
		seed->dateline[dim] = -(int32_t)coord[dim];
		seed->has_dateline[dim] = c->g->radix[dim] > 1;
	}
}

/* Hops between two sites of a whole torus or mesh. */
static uint32_t distance(const struct dl_torus_grid *g, uint32_t a, uint32_t b)
{
	uint32_t ca[DL_TORUS_DIMS], cb[DL_TORUS_DIMS];
	uint32_t sum = 0;

	dl_torus_site_coord(g, a, ca);
	dl_torus_site_coord(g, b, cb);
	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++) {
		uint32_t straight = abs((int)ca[d] - (int)cb[d]);
		uint32_t wrapped = g->radix[d] - straight;

		sum += !g->mesh[d] && wrapped < straight ? wrapped : straight;
	}
	return sum;
}

int dl_torus_choose_seeds(const struct dl_torus_grid *g, const bool *dead,
			  const uint8_t *cables, const uint64_t *guids,
			  struct dl_torus_seed *seeds, uint32_t max,
			  uint32_t *count)
{
	struct chooser c = { g, dead, cables, guids };
	uint32_t nsites = dl_torus_grid_sites(g);
	bool *taken = calloc(nsites, sizeof(*taken));
	uint32_t *gap = malloc(nsites * sizeof(*gap)); /* to nearest seed */
	uint32_t next[DL_TORUS_DIRS];
	uint32_t n;
	int err = taken && gap ? 0 : -ENOMEM;

	for (uint32_t s = 0; !err && s < nsites; s++)
		gap[s] = UINT32_MAX;
	for (n = 0; !err && n < max; n++) {
		uint32_t best = DL_NONE;

		for (uint32_t s = 0; s < nsites; s++)
			if ((best == DL_NONE || gap[s] > gap[best]) &&
			    plan_seed(&c, s, n == 0, taken, next))
				best = s;
		if (best == DL_NONE)
			break;
		plan_seed(&c, best, n == 0, taken, next);
		make_seed(&c, best, next, taken, &seeds[n]);
		for (uint32_t s = 0; s < nsites; s++) {
			uint32_t here = distance(g, s, best);

			gap[s] = here < gap[s] ? here : gap[s];
		}
	}
	free(taken);
	free(gap);
	if (!err)
		*count = n;
	return err;
}
