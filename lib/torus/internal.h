/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the files of this room share. */
#ifndef DL_TORUS_INTERNAL_H
#define DL_TORUS_INTERNAL_H

#include "dateline/torus.h"

/* The distinct neighbours of switch s: list[first[s]] to list[first[s + 1]]. */
struct dl_torus_adjacency {
	uint32_t *first, *list;
};

/* Returns 0 or -ENOMEM. */
int dl_torus_adjacency_build(const struct dl_fabric *f,
			     struct dl_torus_adjacency *a);
void dl_torus_adjacency_free(struct dl_torus_adjacency *a);

/*
 * Which switches are outside of the largest part that no single switch holds
 * together (blocks.c)?  Of equals, the one counts that is met first from the
 * switches in this order.  outside[] has room for all n.  0 or -ENOMEM.
 */
int dl_torus_find_outside(const struct dl_torus_adjacency *adj, uint32_t n,
			  const uint32_t *order, bool *outside);

/*
 * Fill in t->site_sw, t->sw_site, t->nplaced and t->seed; t->grid, t->fabric
 * and the arrays must be there.  `before` is a torus of the same configuration
 * as it was known before, or NULL.  Returns 0, -EINVAL (no usable seed),
 * -ENOMEM.
 */
int dl_torus_find_sites(struct dl_torus *t, const struct dl_torus_config *c,
			const struct dl_torus *before,
			const struct dl_log *log);

/*
 * dl_torus_infer() for a grid whose radices and kinds are known: `wanted`, or
 * NULL for any.
 */
int dl_torus_infer_as_wanted(const struct dl_fabric *f,
			     const struct dl_torus_grid *wanted,
			     const struct dl_log *log,
			     struct dl_torus_config **out);

/*
 * Placing switches on a grid by arc consistency, from a few that are placed
 * by hand.  The problem, the method and its soundness stand in discover.c.
 */

struct dl_torus_search {
	const struct dl_fabric *f;
	struct dl_torus_grid grid; /* with windows for open dimensions */
	uint32_t nsites;
	uint32_t nreal;		      /* sites of the grid without windows */
	uint32_t span[DL_TORUS_DIMS]; /* its radices */
	uint32_t low[DL_TORUS_DIMS],
		high[DL_TORUS_DIMS]; /* of what is placed, in windows */
	uint32_t *next;		     /* neighbour of a site by direction */
	struct dl_torus_adjacency adj;
	uint32_t *by_guid; /* switch numbers in order of GUID */
	uint8_t *branch;   /* by switch: joins hardly anything? */
	bool *known_odd;   /* by switch: had no place before */

	uint32_t *site_of; /* by switch, or DL_NONE */
	uint32_t *sw_at;   /* by site, or DL_NONE */
	uint32_t *cand;	   /* DL_TORUS_DIRS a switch */
	uint8_t *ncand;
	uint32_t *queue; /* switches to look at, a ring */
	uint8_t *queued; /* flags: in queue, in single */
	uint32_t head, waiting;
	uint32_t *single;   /* one candidate, one placed neighbour */
	uint32_t nsingle;   /* ... from the front, and branches ... */
	uint32_t nbranches; /* ... from the back */
	uint32_t nplaced;
	bool may_choose;
	uint32_t choices; /* which alternatives to take, a digit each */
};

/* Returns 0 or -ENOMEM; release with dl_torus_search_free() only after success. */
int dl_torus_search_init(struct dl_torus_search *s, const struct dl_fabric *f);
void dl_torus_search_free(struct dl_torus_search *s);

/*
 * Search on this grid from now on, which has windows of the real one's open
 * dimensions.  Returns 0 or -ENOMEM.
 */
int dl_torus_search_grid(struct dl_torus_search *s,
			 const struct dl_torus_grid *g,
			 const struct dl_torus_grid *real);

/* Forget all placements. */
void dl_torus_search_reset(struct dl_torus_search *s);

/* Put a switch at a free site. */
void dl_torus_search_place(struct dl_torus_search *s, uint32_t sw,
			   uint32_t site);

/* Take a switch away again; what followed from it stays. */
void dl_torus_search_unplace(struct dl_torus_search *s, uint32_t sw);

/*
 * May a switch sit at a site: is the site free, and next to all neighbours
 * that are placed?
 */
bool dl_torus_search_fits(const struct dl_torus_search *s, uint32_t sw,
			  uint32_t site);

/* The switch with this GUID, or DL_NONE. */
uint32_t dl_torus_search_find(const struct dl_torus_search *s, uint64_t guid);

/* Are two sites neighbours? */
bool dl_torus_sites_adjacent(const struct dl_torus_search *s, uint32_t a,
			     uint32_t b);

/* Place what follows from the placements so far. */
void dl_torus_search_run(struct dl_torus_search *s);

/*
 * A switch that could sit at several sites, one with the fewest, or DL_NONE
 * when there is none.
 */
uint32_t dl_torus_search_ambiguous(const struct dl_torus_search *s);

/* Where a seed's common switch stands, if all its datelines hold. */
uint32_t dl_torus_seed_site(const struct dl_torus_grid *g,
			    const struct dl_torus_seed *seed);

/* Is there a cable between two switches? */
bool dl_torus_search_cabled(const struct dl_torus_search *s, uint32_t a,
			    uint32_t b);

/*
 * Seeds for a fabric whose live switches and cables are given: dead[site],
 * and cables[site * DL_TORUS_DIMS + d] towards +d.  guids[site] names the switches.
 * Stores at most `max` seeds and their number.  Returns 0 or -ENOMEM.
 */
int dl_torus_choose_seeds(const struct dl_torus_grid *g, const bool *dead,
			  const uint8_t *cables, const uint64_t *guids,
			  struct dl_torus_seed *seeds, uint32_t max,
			  uint32_t *count);

/*
 * What else is known of where switches sit, when the cables around one seed
 * do not tell it: see anchors.c.
 */

/*
 * Place the switches that all seeds name whose position relative to the
 * origin is known.  `main` is the seed that was grown from, or DL_NONE.
 * Returns how many were placed.
 */
uint32_t dl_torus_hint_seeds(struct dl_torus_search *s,
			     const struct dl_torus_config *c, uint32_t main);

/*
 * Place the switches that were known before, in a grid of the same shape, and
 * whose cables do not contradict it.  Into an empty search.
 */
void dl_torus_hint_before(struct dl_torus_search *s,
			  const struct dl_torus *before);

/* Do all seeds agree with what is placed? */
bool dl_torus_hints_agree(const struct dl_torus_search *s,
			  const struct dl_torus_config *c);

/* What port numbers mean, if they mean the same direction on all switches. */
struct dl_torus_port_meaning {
	uint8_t dir[DL_FABRIC_MAX_PORTS +
		    1]; /* of a port number, or DL_TORUS_DIRS */
};

/* Learn it from the placed switches.  False: there is nothing to learn. */
bool dl_torus_ports_learn(const struct dl_torus_search *s,
			  struct dl_torus_port_meaning *m);

/*
 * What do the ports that a switch hangs on say to its sitting at a site next
 * to those of its placed neighbours?
 */
enum dl_torus_hint {
	DL_TORUS_HINT_NONE,
	DL_TORUS_HINT_FOR,
	DL_TORUS_HINT_AGAINST
};
enum dl_torus_hint dl_torus_ports_agree(const struct dl_torus_search *s,
					const struct dl_torus_port_meaning *m,
					uint32_t sw, uint32_t site);

/*
 * Place switches by port numbers, if these mean the same direction on all
 * switches.  Returns how many were placed.
 */
uint32_t dl_torus_hint_ports(struct dl_torus_search *s);

/* Switches that join hardly anything; see branches.c. */

enum { DL_TORUS_OUTSIDE = 1, DL_TORUS_THIN }; /* s->branch[] */

/* Fill in s->branch; s->adj must be there.  Returns 0 or -ENOMEM. */
int dl_torus_find_branches(struct dl_torus_search *s);

/* What the placed switches say about the others. */
struct dl_torus_evidence {
	bool gathered;
	uint32_t missing; /* hops that have no cable */
	bool ports;	  /* do port numbers mean anything? */
	struct dl_torus_port_meaning meaning;
};

void dl_torus_evidence_gather(const struct dl_torus_search *s,
			      struct dl_torus_evidence *e);

/*
 * Is a branch likely to be the switch of this site, the only one left?  0: no;
 * else the more, the sooner it should be placed.
 */
unsigned int dl_torus_score(const struct dl_torus_search *s,
			    const struct dl_torus_evidence *e, uint32_t sw,
			    uint32_t site);

#endif
