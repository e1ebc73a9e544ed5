/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the files of this room share. */
#ifndef DL_ROUTE_INTERNAL_H
#define DL_ROUTE_INTERNAL_H

#include "dateline/route.h"

/*
 * Rings: the switches along one dimension with the other coordinates fixed
 * (a line, in an open dimension), and the way to go from one to another.
 */

/* What a switch does with a packet for another coordinate of its ring. */
enum dl_route_way {
	DL_ROUTE_WAY_PLUS,  /* send it in the positive direction */
	DL_ROUTE_WAY_MINUS, /* send it in the negative direction */
	DL_ROUTE_WAY_HERE,  /* it is at that coordinate: next dimension */
	DL_ROUTE_WAY_TURN, /* that switch is missing and next to us: next dimension */
	DL_ROUTE_WAY_CUT /* no way along this ring */
};

struct dl_route_rings {
	const struct dl_torus *torus; /* borrowed */
	/*
	 * ways[table + from * radix + to], enum dl_route_way.  All whole rings of a
	 * dimension share one table, a broken ring has its own.
	 */
	uint8_t *ways;
	uint32_t *table[DL_TORUS_DIMS]; /* by ring */
	uint32_t nrings[DL_TORUS_DIMS];
};

/* The ring along `dim` that a site lies on. */
uint32_t dl_route_ring(const struct dl_torus_grid *g, uint32_t site,
		       unsigned int dim);

/* The site at a coordinate of a ring. */
uint32_t dl_route_ring_site(const struct dl_torus_grid *g, uint32_t ring,
			    unsigned int dim, uint32_t coord);

/* Returns 0 or -ENOMEM. */
int dl_route_rings_new(const struct dl_torus *t, struct dl_route_rings **out);
void dl_route_rings_free(struct dl_route_rings *r);

/* The ways out of a site along `dim`: radix entries, by coordinate. */
static inline const uint8_t *dl_route_ways(const struct dl_route_rings *r,
					   uint32_t site, unsigned int dim)
{
	const struct dl_torus_grid *g = &r->torus->grid;
	uint32_t c[DL_TORUS_DIMS];

	dl_torus_site_coord(g, site, c);
	return r->ways + r->table[dim][dl_route_ring(g, site, dim)] +
	       c[dim] * g->radix[dim];
}

/* Is there a live cable from this site in this direction? */
bool dl_route_hop_alive(const struct dl_torus *t, uint32_t site,
			unsigned int dir);

/*
 * Into how many disjoint regions do failures cut a ring?  0 when no switch
 * of it is left.
 */
unsigned int dl_route_ring_regions(const struct dl_torus *t, uint32_t ring,
				   unsigned int dim);

/* Forwarding tables by dimension order. */

/*
 * Fill every switch's forwarding table.  Entries that the rule cannot fill
 * stay DL_TABLES_NO_PORT.  Returns 0 or -ENOMEM.
 */
int dl_route_unicast(const struct dl_route_rings *r,
		     const struct dl_torus_config *c, struct dl_tables *t);

/* ---- the parts of dl_route() ------------------------------------------- */

/* The VLs that a torus has (rules A6). */
struct dl_route_vls dl_route_vls_of(const struct dl_torus *t);

/* DOR's tables, whatever entries it leaves open.  Returns 0 or -ENOMEM. */
int dl_route_dor_tables(const struct dl_torus *t,
			const struct dl_torus_config *c,
			const struct dl_route_options *o,
			const struct dl_route_rings *rings,
			struct dl_tables **out);

/* Does classic mode refuse this torus (rules A8)?  Logs why. */
enum dl_route_refusal dl_route_classic_refusal(const struct dl_torus *t,
					       const struct dl_log *log);

/* rules A9's tree from a root (DL_NONE: its own choice), as far as it gets. */
int dl_route_partial_tree(const struct dl_torus *t, uint32_t root,
			  struct dl_route_tree **out);

/* Does the tree reach every placed switch?  Logs one that it misses. */
bool dl_route_tree_complete(const struct dl_torus *t,
			    const struct dl_route_tree *tree,
			    const struct dl_log *log);

/* An empty tree for so many switches and cables; NULL: no memory. */
struct dl_route_tree *dl_route_tree_new(uint32_t nswitches, uint32_t ncables);

/*
 * Add a group of all adapters and routers, and of the switches' own ports too.
 * Errors are those of dl_route_tree_group().
 */
int dl_route_tree_add_group(const struct dl_route_tree *tree,
			    struct dl_tables *t, uint16_t mlid, bool switches);

/* Are the tables safe?  Otherwise the log says what is wrong with them. */
bool dl_route_is_safe(const struct dl_verify_result *v,
		      const struct dl_log *log);

/* Proven mode (rules A12), for a torus with enough VLs. */
int dl_route_proven(const struct dl_torus *t, const struct dl_torus_config *c,
		    const struct dl_route_options *o, const struct dl_log *log,
		    struct dl_route_result *out);

#endif
