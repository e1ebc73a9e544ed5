/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the files of this room share. */
#ifndef DL_TORUS_INTERNAL_H
#define DL_TORUS_INTERNAL_H

#include "dateline/torus.h"

#define DIMS DL_TORUS_DIMS
#define DIRS DL_TORUS_DIRS

/* The switch of this GUID, or DL_NONE. */
static inline uint32_t dl_torus_find_guid(const struct dl_fabric *f, uint64_t guid)
{
	uint32_t node = dl_fabric_find_guid(f, guid);

	return node == DL_NONE ? DL_NONE : f->nodes[node].sw;
}

/* The site of the switch that a port is of, or DL_NONE. */
static inline uint32_t dl_torus_site_of(const struct dl_torus *t, uint32_t port)
{
	uint32_t sw = t->fabric->nodes[t->fabric->ports[port].node].sw;

	return sw == DL_NONE ? DL_NONE : t->sw_site[sw];
}

/* Does a port's cable join two placed switches? */
static inline bool dl_torus_is_inside(const struct dl_torus *t, uint32_t port)
{
	return dl_torus_site_of(t, port) != DL_NONE &&
	       dl_torus_site_of(t, t->fabric->ports[port].peer) != DL_NONE;
}

/* For messages: 0x00d1000000000000 "name"; the same with " port 7"; (1,2,3); 6x5mx1. */
struct dl_torus_shown {
	char text[320];
};

struct dl_torus_shown dl_torus_show_switch(const struct dl_fabric *f, uint32_t sw);
struct dl_torus_shown dl_torus_show_port(const struct dl_fabric *f, uint32_t port);
struct dl_torus_shown dl_torus_show_site(const struct dl_torus_grid *g, uint32_t site);
struct dl_torus_shown dl_torus_show_grid(const struct dl_torus_grid *g);

/* ---- the graph of switches (graph.c) ---------------------------------------- */

/* The distinct neighbours of switch s: list[first[s]] to list[first[s + 1]]. */
struct dl_torus_graph {
	uint32_t *first, *list;
};

/* ... of the switches that are not in `without`, or of all (NULL). */
int dl_torus_graph_build(const struct dl_fabric *f, const bool *without, struct dl_torus_graph *g);
void dl_torus_graph_free(struct dl_torus_graph *g);
bool dl_torus_cabled(const struct dl_torus_graph *g, uint32_t a, uint32_t b);

/*
 * Search breadth-first: queue[] gets the switches reached, of those whose from[] is
 * DL_NONE, and from[] the switch from which each is.  Returns how many there are.
 */
uint32_t dl_torus_graph_search(const struct dl_torus_graph *g, uint32_t start, uint32_t *from,
			       uint32_t *queue);

static inline const uint32_t *dl_torus_neighbours(const struct dl_torus_graph *g, uint32_t sw,
						  const uint32_t **end)
{
	*end = &g->list[g->first[sw + 1]];
	return &g->list[g->first[sw]];
}

static inline uint32_t dl_torus_degree(const struct dl_torus_graph *g, uint32_t sw)
{
	return g->first[sw + 1] - g->first[sw];
}

/*
 * Which switches are outside of the largest biconnected component?  Of
 * equals, the one counts that is met first from the switches in this order.
 * appendage[] has room for all n.  0 or -ENOMEM.
 */
int dl_torus_find_appendages(const struct dl_torus_graph *g, uint32_t n, const uint32_t *order,
			     bool *appendage);

/* ---- a heap of numbers (heap.c) --------------------------------------------- */

/*
 * Some of the items 0 to n - 1, each with a key, by which the first is found: the
 * least, of equal ones the lowest item.  Each operation: log n.
 */
struct dl_torus_heap {
	uint32_t *items, *key; /* key by item */
	uint32_t *at;	       /* by item: its place in items, or DL_NONE */
	uint32_t n, most;
};

/* 0 or -ENOMEM; empty. */
int dl_torus_heap_init(struct dl_torus_heap *h, struct dl_arena *arena, uint32_t most);
void dl_torus_heap_clear(struct dl_torus_heap *h);

/* Add an item or give it another key; take it out, if it is in. */
void dl_torus_heap_set(struct dl_torus_heap *h, uint32_t item, uint32_t key);
void dl_torus_heap_remove(struct dl_torus_heap *h, uint32_t item);

/* The first item, or DL_NONE. */
static inline uint32_t dl_torus_heap_first(const struct dl_torus_heap *h)
{
	return h->n ? h->items[0] : DL_NONE;
}

static inline uint32_t dl_torus_heap_key(const struct dl_torus_heap *h, uint32_t item)
{
	return h->key[item];
}

/* ---- the solver (solver.c) -------------------------------------------------- */

/* Switches that are placed last, and only on a good score (hints.c). */
enum dl_torus_weak { DL_TORUS_APPENDAGE = 1, DL_TORUS_THIN };

struct dl_torus_solver {
	const struct dl_fabric *f;
	uint32_t n; /* switches */
	struct dl_torus_graph graph;
	struct dl_arena arena; /* of the arrays by switch: */
	uint32_t *by_guid;     /* switch numbers in order of GUID */
	uint32_t *rank;	       /* where in by_guid a switch is */
	uint8_t *weak;	       /* enum dl_torus_weak, or 0 */
	bool *known_off;       /* had no place before */

	struct dl_torus_grid real;	/* radix 2: open */
	struct dl_torus_grid grid;	/* with windows for open dimensions */
	uint32_t nsites, nreal;		/* of the two grids */
	uint32_t low[DIMS], high[DIMS]; /* of what is placed, in windows */

	uint32_t *site_of; /* by switch, or DL_NONE */
	uint32_t *sw_at;   /* by site, or DL_NONE */
	uint32_t *cand;	   /* candidate sites, DIRS a switch */
	uint8_t *ncand;
	uint32_t *queue; /* switches to look at, a ring */
	uint8_t *queued; /* flags: in queue, in single */
	uint32_t head, waiting;
	uint32_t *single; /* not weak, with one candidate, one placed neighbour */
	uint32_t nsingle;
	struct dl_torus_heap next; /* those that wait until nothing follows; by rank */
	uint32_t nplaced;
	bool may_choose;
	uint64_t effort;  /* neighbours looked at so far */
	uint32_t choices; /* which alternatives to take, a digit each */
	uint32_t seed;	  /* that was grown from, or DL_NONE */
};

/* Returns 0 or -ENOMEM; release with dl_torus_solver_free() in either case. */
int dl_torus_solver_init(struct dl_torus_solver *s, const struct dl_fabric *f);
void dl_torus_solver_free(struct dl_torus_solver *s);

/*
 * Start over on this grid, which has windows of the real one's open
 * dimensions.  Returns 0 or -ENOMEM.
 */
int dl_torus_solver_begin(struct dl_torus_solver *s, const struct dl_torus_grid *grid);

/* Place a switch at a free site; take one away: what followed from it stays. */
void dl_torus_place(struct dl_torus_solver *s, uint32_t sw, uint32_t site);
void dl_torus_unplace(struct dl_torus_solver *s, uint32_t sw);

/* In a window, does a site keep all that is placed within the real radix? */
bool dl_torus_within_span(const struct dl_torus_solver *s, uint32_t site);

/* A switch's placed neighbours, and how many of them are next to a site. */
unsigned int dl_torus_count_placed(const struct dl_torus_solver *s, uint32_t sw, uint32_t site,
				   unsigned int *near);

/* Is the site free, and next to all of the switch's placed neighbours? */
bool dl_torus_fits(const struct dl_torus_solver *s, uint32_t sw, uint32_t site);

/* Place what follows from the placements so far. */
void dl_torus_solver_run(struct dl_torus_solver *s);

/* The same after switches have been moved: reconsider all others. */
void dl_torus_solver_resume(struct dl_torus_solver *s);

/* Cables that the grid lacks, and such as join no neighbours in it (improve.c). */
uint32_t dl_torus_count_repairs(const struct dl_torus_solver *s);

/* These, sites without a switch, and switches without a site, but for appendages. */
uint32_t dl_torus_count_faults(const struct dl_torus_solver *s);

/* Switches that are placed, next to all placed neighbours, and cabled to them. */
uint32_t dl_torus_count_right(const struct dl_torus_solver *s);

/* Move switches where that makes more cables join neighbours. */
void dl_torus_improve(struct dl_torus_solver *s, const struct dl_torus_config *c);

/*
 * If there are faults, grow again from other switches, and take the result that has fewer, or
 * as many at fewer switches, and leaves what the seed names where it is.  0 or -ENOMEM.
 */
int dl_torus_grow_elsewhere(struct dl_torus_solver *s, const struct dl_torus_config *c);

/*
 * After this effort nothing else is tried: no fabric that is nearly a torus takes a
 * tenth of it, and a second or two are enough for one that is none.
 */
#define DL_TORUS_MAX_EFFORT (1u << 27)

/* One of those with the fewest candidate sites above one, or DL_NONE. */
uint32_t dl_torus_find_ambiguous(const struct dl_torus_solver *s);

/* Hops without a cable between placed switches. */
uint32_t dl_torus_count_uncabled(const struct dl_torus_solver *s);

/* Are there switches and cables enough for the whole grid? */
bool dl_torus_may_be_whole(const struct dl_torus_solver *s);

/* Is every site of the grid taken, and every hop of it cabled? */
bool dl_torus_is_whole(const struct dl_torus_solver *s);

/*
 * Find the sites of a configuration with seeds.  `before` is a torus of the
 * same configuration as it was known before, or NULL.  Returns 0, -EINVAL (no
 * usable seed), -ENOMEM (torus.c).
 */
int dl_torus_solve(struct dl_torus_solver *s, const struct dl_torus_config *c,
		   const struct dl_torus *before, const struct dl_log *log);

/* ---- hints: what else is known of where switches are (hints.c) -------------- */

/* Place a usable seed's switches in a solver that has just begun. */
void dl_torus_place_seed(struct dl_torus_solver *s, const struct dl_torus_seed *seed);

/*
 * Place the switches that all seeds name whose position relative to the
 * origin is known.  Returns how many were placed.
 */
uint32_t dl_torus_hint_seeds(struct dl_torus_solver *s, const struct dl_torus_config *c);

/* Do all seeds agree with what is placed? */
bool dl_torus_hints_agree(const struct dl_torus_solver *s, const struct dl_torus_config *c);

/*
 * Place the switches that were known before, in a grid of the same shape, and
 * whose cables do not contradict it.  Into a solver that has just begun.
 */
void dl_torus_hint_before(struct dl_torus_solver *s, const struct dl_torus *before);

/*
 * Place switches by port numbers, if these mean the same direction on all
 * switches.  Returns how many were placed.
 */
uint32_t dl_torus_hint_ports(struct dl_torus_solver *s);

/* What follows from the placed switches for the others. */
struct dl_torus_hints {
	bool known;
	uint32_t uncabled;
	bool ports;			      /* do port numbers mean the same everywhere? */
	unsigned int meant;		      /* directions that they mean, as bits */
	uint8_t dir[DL_FABRIC_MAX_PORTS + 1]; /* by port number, or DIRS */
};

void dl_torus_learn_hints(const struct dl_torus_solver *s, struct dl_torus_hints *h);

/*
 * Is a weak switch likely to be that of this site, the only one left?  0: no;
 * else the more, the sooner it should be placed.  It falls when switches around
 * the site are placed, but for the switch's own neighbours.
 */
#define DL_TORUS_BEST_SCORE 0x1FF

unsigned int dl_torus_score(const struct dl_torus_solver *s, const struct dl_torus_hints *h,
			    uint32_t sw, uint32_t site);

/* ---- without a configuration ------------------------------------------------ */

/* A grid that the cabling may be, and a seed to grow it from. */
struct dl_torus_proposal {
	struct dl_torus_grid grid;
	struct dl_torus_seed seed;
};

/*
 * Propose grids from the surroundings of one switch after the other, in order
 * of GUID, until one is accepted (propose.c).  `g` is the part of the graph to
 * look at; with `guess`, damage may hide the length of one dimension.  Returns
 * whether one was.
 */
bool dl_torus_propose(const struct dl_torus_solver *s, const struct dl_torus_graph *g,
		      const bool *without, bool guess,
		      bool (*accept)(void *context, const struct dl_torus_proposal *p),
		      void *context);

/*
 * A configuration for what the cabling shows, of these radices and kinds, or
 * (NULL) of any (infer.c).  Returns 0, -ENOTSUP, -ENOMEM.
 */
int dl_torus_infer_grid(struct dl_torus_solver *s, const struct dl_torus_grid *wanted,
			const struct dl_log *log, struct dl_torus_config **out);

/*
 * Log why the cabling shows no torus; `near` is what it resembles, with so many
 * switches wired differently, or DL_NONE (obstacle.c).
 */
void dl_torus_name_obstacle(const struct dl_torus_solver *s, const struct dl_torus_grid *wanted,
			    const struct dl_torus_config *near, uint32_t wrong,
			    const struct dl_log *log);

/* ---- the rest --------------------------------------------------------------- */

/*
 * Find attachment and uplink, and list the switches without a place.  Needs
 * the sites.  Returns 0 or -ENOMEM (off_torus.c).
 */
int dl_torus_find_off_torus(struct dl_torus *t);

/* Log at most `max` cables that do not join neighbours (faults.c). */
int dl_torus_report_faults(const struct dl_torus *t, uint32_t max, const struct dl_log *log);

/* A configuration without seeds, with room for some.  NULL: no memory. */
struct dl_torus_config *dl_torus_config_new(const struct dl_torus_grid *grid, const char *path,
					    uint32_t seeds);

/*
 * A torus whose switches have these sites, or DL_NONE: what follows from them
 * (torus.c).  Returns 0 or -ENOMEM.
 */
int dl_torus_make(const struct dl_fabric *f, const struct dl_torus_grid *g, const uint32_t *sites,
		  struct dl_torus **out);

/* As dl_torus_describe(), with the radices and the path given (describe.c). */
int dl_torus_describe_as(const struct dl_torus *t, const struct dl_torus_grid *g, const char *path,
			 unsigned int max_seeds, struct dl_torus_config **out);

/*
 * Which dimensions of a grid are closed, by coordinates of switches, where site[] is not
 * DL_NONE: those with a cable between a first and a last one.
 */
void dl_torus_find_wraps(const struct dl_fabric *f, uint32_t (*coord)[DL_TORUS_DIMS],
			 const uint32_t *site, struct dl_torus_grid *grid);

#endif
