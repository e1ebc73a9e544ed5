/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Placing switches on a grid by arc consistency, from a few that are placed
 * by hand.  The problem, the method and its soundness stand in discover.c.
 */
#ifndef DL_SEARCH_H
#define DL_SEARCH_H

#include "torus/discover.h"

struct dl_search {
	const struct dl_fabric *f;
	struct dl_grid grid;		/* with windows for open dimensions */
	uint32_t nsites;
	uint32_t nreal;			/* sites of the grid without windows */
	uint32_t span[DL_DIMS];		/* its radices */
	uint32_t low[DL_DIMS], high[DL_DIMS];	/* of what is placed, in windows */
	uint32_t *next;			/* neighbour of a site by direction */
	struct dl_adjacency adj;
	uint32_t *by_guid;		/* switch numbers in order of GUID */
	uint8_t *branch;		/* by switch: joins hardly anything? */
	bool *known_odd;		/* by switch: had no place before */

	uint32_t *site_of;		/* by switch, or DL_NONE */
	uint32_t *sw_at;		/* by site, or DL_NONE */
	uint32_t *cand;			/* DL_DIRS a switch */
	uint8_t *ncand;
	uint32_t *queue;		/* switches to look at, a ring */
	uint8_t *queued;		/* flags: in queue, in single */
	uint32_t head, waiting;
	uint32_t *single;		/* one candidate, one placed neighbour */
	uint32_t nsingle;		/* ... from the front, and branches ... */
	uint32_t nbranches;		/* ... from the back */
	uint32_t nplaced;
	bool may_choose;
	uint32_t choices;		/* which alternatives to take, a digit each */
};

/* Returns 0 or -ENOMEM; release with dl_search_free() only after success. */
int dl_search_init(struct dl_search *s, const struct dl_fabric *f);
void dl_search_free(struct dl_search *s);

/*
 * Search on this grid from now on, which has windows of the real one's open
 * dimensions.  Returns 0 or -ENOMEM.
 */
int dl_search_grid(struct dl_search *s, const struct dl_grid *g,
		   const struct dl_grid *real);

/* Forget all placements. */
void dl_search_reset(struct dl_search *s);

/* Put a switch at a free site. */
void dl_search_place(struct dl_search *s, uint32_t sw, uint32_t site);

/* Take a switch away again; what followed from it stays. */
void dl_search_unplace(struct dl_search *s, uint32_t sw);

/*
 * May a switch sit at a site: is the site free, and next to all neighbours
 * that are placed?
 */
bool dl_search_fits(const struct dl_search *s, uint32_t sw, uint32_t site);

/* The switch with this GUID, or DL_NONE. */
uint32_t dl_search_find(const struct dl_search *s, uint64_t guid);

/* Are two sites neighbours? */
bool dl_sites_adjacent(const struct dl_search *s, uint32_t a, uint32_t b);

/* Place what follows from the placements so far. */
void dl_search_run(struct dl_search *s);

/*
 * A switch that could sit at several sites, one with the fewest, or DL_NONE
 * when there is none.
 */
uint32_t dl_search_ambiguous(const struct dl_search *s);

/* Where a seed's common switch stands, if all its datelines hold. */
uint32_t dl_seed_site(const struct dl_grid *g, const struct dl_seed *seed);

/* Is there a cable between two switches? */
bool dl_search_cabled(const struct dl_search *s, uint32_t a, uint32_t b);

#endif
