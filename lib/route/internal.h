/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the files of this room share. */
#ifndef DL_ROUTE_INTERNAL_H
#define DL_ROUTE_INTERNAL_H

#include "dateline/base.h"
#include "dateline/route.h"

/* ---- which way round a ring (ties.c) ----------------------------------- */

/* The rule for whole rings. */
struct dl_route_rule {
	bool any_sl;	  /* the one of rules A13, else of rules A4 */
	bool balanced;	  /* rules A4 with ties shared out */
	unsigned int vls; /* rules A13: data VLs between switches */
	bool by_parity;	  /* does the parity of the target's LID matter? */
};

/* Are ties shared out in proven mode? */
bool dl_route_has_balanced_ties(const struct dl_route_options *o, const struct dl_torus_config *c);

/* The rule of a mode on a grid. */
struct dl_route_rule dl_route_rule(const struct dl_route_options *o,
				   const struct dl_torus_config *c, const struct dl_torus_grid *g,
				   unsigned int vls);

/*
 * Does a packet at coordinate `from` of a whole ring go in the negative
 * direction towards `to`, if its target's parity along this ring is that?
 */
bool dl_route_goes_minus(const struct dl_route_rule *r, uint32_t radix, uint32_t from, uint32_t to,
			 unsigned int parity);

/*
 * The parity of a target along a dimension: that of its LID and of the
 * coordinates that come later in dimension order.  So it alternates from one
 * target of a coordinate to the next.
 */
static inline unsigned int dl_route_parity(unsigned int lid_parity,
					   const uint32_t to[DL_TORUS_DIMS], unsigned int dim)
{
	for (dim++; dim < DL_TORUS_DIMS; dim++)
		lid_parity += to[dim];
	return lid_parity & 1;
}

/* Parities by LID, of a rule that goes by them.  0 or -ENOMEM. */
int dl_route_lid_parities(const struct dl_route_rule *r, const struct dl_fabric *f,
			  struct dl_arena *arena, uint8_t **out);

/*
 * Path SLs from all switches to one, for LIDs of a parity: row[switch].  A switch
 * that is no part of the torus goes by the nearest one that is (torus.attachment);
 * entries of those that are disconnected from it are left alone.
 */
void dl_route_sls_to(const struct dl_route_rule *r, const struct dl_torus *t, uint32_t to,
		     unsigned int parity, uint8_t *row);

/* ---- rings (rings.c) --------------------------------------------------- */

/*
 * Rings: the switches along one dimension with the other coordinates fixed
 * (a line, in an open dimension).
 */

/* What a switch does with a packet for another coordinate of its ring. */
enum dl_route_move {
	DL_ROUTE_PLUS,	/* send it in the positive direction */
	DL_ROUTE_MINUS, /* send it in the negative direction */
	DL_ROUTE_HERE,	/* it is at that coordinate: next dimension */
	DL_ROUTE_TURN,	/* that switch is missing, and next to us: likewise */
	DL_ROUTE_CUT	/* no path along this ring */
};

struct dl_route_rings {
	const struct dl_torus *torus; /* borrowed */
	/*
	 * By dimension and ring: enum dl_route_move by from * radix + to, a
	 * square for parity 0, one for parity 1, and DL_ROUTE_BESIDE further on
	 * the same for packets that a missing switch in an earlier dimension
	 * has stopped.  All whole rings of a dimension share one table.
	 */
	uint8_t **moves[DL_TORUS_DIMS];
	/*
	 * By switch, NULL: none is avoided.  An avoided switch is a hole in `moves`;
	 * own[switch * DL_TORUS_DIMS + dimension] has the moves of its ring for packets
	 * that begin or end there.
	 */
	const bool *leaf;
	uint8_t **own;
	const bool *spared; /* struct dl_route_pass */
};

#define DL_ROUTE_BESIDE 2 /* squares */
#define DL_ROUTE_SQUARES 4

/* The ring along `dim` that a site lies on. */
uint32_t dl_route_ring(const struct dl_torus_grid *g, uint32_t site, unsigned int dim);

/* The site at a coordinate of a ring. */
uint32_t dl_route_ring_site(const struct dl_torus_grid *g, uint32_t ring, unsigned int dim,
			    uint32_t coord);

/*
 * The moves out of a site along `dim`: radix of them, by coordinate; those of
 * the next square lie radix^2 bytes farther.
 */
static inline const uint8_t *dl_route_moves(const struct dl_route_rings *r, uint32_t site,
					    unsigned int dim)
{
	const struct dl_torus_grid *g = &r->torus->grid;
	uint32_t c[DL_TORUS_DIMS], sw = r->torus->site_sw[site];
	bool own = r->leaf && sw != DL_NONE && r->leaf[sw];

	dl_torus_site_coord(g, site, c);
	return (own ? r->own[sw * DL_TORUS_DIMS + dim] :
		      r->moves[dim][dl_route_ring(g, site, dim)]) +
	       c[dim] * g->radix[dim];
}

/*
 * The move at coordinate `at` of an avoided switch's own ring towards this switch, for
 * LIDs of a parity along `dim`.
 */
static inline enum dl_route_move dl_route_move_to(const struct dl_route_rings *r, uint32_t sw,
						  unsigned int dim, uint32_t at,
						  unsigned int parity)
{
	const struct dl_torus_grid *g = &r->torus->grid;
	uint32_t c[DL_TORUS_DIMS], radix = g->radix[dim];

	dl_torus_site_coord(g, r->torus->sw_site[sw], c);
	return r->own[sw * DL_TORUS_DIMS + dim][(parity * radix + at) * radix + c[dim]];
}

/* Is there a live cable from this site in this direction? */
bool dl_route_link_alive(const struct dl_torus *t, uint32_t site, unsigned int dir);

/*
 * Into how many disjoint regions do failures cut a ring?  0 when no switch
 * of it is left.
 */
unsigned int dl_route_ring_regions(const struct dl_torus *t, uint32_t ring, unsigned int dim);

/* ---- SL to VL (sl.c) ---------------------------------------------------- */

/* QoS levels that these VLs keep apart between switches, 1 or 2. */
unsigned int dl_route_levels(const struct dl_route_vls *vls);

/*
 * The SL-to-VL map between switches for packets that came in from direction
 * `in` (DL_TORUS_DIRS: from an end port or any other place outside the torus) and
 * leave in direction `out` (DL_TORUS_DIRS: to an end port), with that many data
 * VLs.  `in` is the direction in which the input port points.
 */
dl_tables_sl2vl_row dl_route_sl2vl(unsigned int in, unsigned int out,
				   const struct dl_route_vls *vls);

/* ---- one call of dl_route() -------------------------------------------- */

/* Its arguments, and what all parts of it need; freed when it ends. */
struct dl_route_pass {
	const struct dl_torus *torus; /* without what is avoided (transit.c) */
	const struct dl_torus *whole; /* as it is */
	const bool *leaf;	      /* by switch: avoided; NULL: none is */
	const struct dl_torus_config *config;
	const struct dl_route_options *options;
	const struct dl_log *log;
	struct dl_arena arena;
	struct dl_route_vls vls; /* that the torus has (rules A6) */
	struct dl_route_rule rule;
	uint8_t *lid_parity; /* by LID; NULL: all are even */
	struct dl_route_rings rings;
	/* How cables are weighed (weigh.c): their rates by port, NULL: they are all alike; ... */
	const uint32_t *rate;
	/* ... by switch * DL_TORUS_DIRS + direction: hops that ties spare, NULL: none. */
	const bool *spared;
	bool trial; /* forwarding alone, not verified */
	struct dl_route_result *out;
};

static inline unsigned int dl_route_lid_parity(const struct dl_route_pass *p, uint32_t lid)
{
	return p->lid_parity ? p->lid_parity[lid] : 0;
}

/*
 * DOR's tables into the result, whatever entries it leaves open, and the path SLs,
 * which are the same with any entries (route.c); the forwarding entries alone, into
 * tables that are there (unicast.c).  They return 0 or -ENOMEM.
 */
int dl_route_dor_tables(struct dl_route_pass *p);
int dl_route_path_sls(struct dl_route_pass *p);
int dl_route_unicast(struct dl_route_pass *p, struct dl_tables *t);

/* Read p->torus ring by ring into p->rings (rings.c).  0 or -ENOMEM. */
int dl_route_rings_init(struct dl_route_pass *p);

/* All that dl_route() does, with cables weighed as the pass says (route.c). */
int dl_route_once(struct dl_route_pass *p);

/* The same, weighed as the fabric carries most (weigh.c). */
int dl_route_weigh(struct dl_route_pass *p);

/*
 * Share parallel cables out of a switch in proportion to their rates: the port for each
 * of so many targets in turn.  Whether their rates differ.
 */
bool dl_route_take_turns(const struct dl_route_pass *p, uint32_t sw, const uint8_t *ports,
			 unsigned int nports, uint8_t *turns, unsigned int n);

/* What is avoided, and cables (by port) that are to be avoided as well (avoid.c). */
int dl_route_avoid_add(const struct dl_route_avoided *a, const struct dl_fabric *f,
		       const uint32_t *ports, uint32_t n, struct dl_route_avoided **out);

/* Does classic mode refuse this torus (rules A8)?  Logs why. */
enum dl_route_refusal dl_route_classic_refusal(const struct dl_torus *t, const struct dl_log *log);

/* Set p->torus and p->leaf by what is avoided (transit.c).  0 or -ENOMEM. */
int dl_route_transit(struct dl_route_pass *p);

/* Does the result keep clear of what is out of use? */
bool dl_route_avoid_kept(const struct dl_route_pass *p);

/* Proven mode (rules A12). */
int dl_route_proven(struct dl_route_pass *p);

/* ---- trees (tree.c) and their verification (check.c) ------------------- */

/* An empty tree for so many switches and cables; NULL: no memory. */
struct dl_route_tree *dl_route_tree_new(uint32_t nswitches, uint32_t ncables);

/* The tree of rules A9 from a root (DL_NONE: its own choice), if partial; `leaf` as above. */
int dl_route_partial_tree(const struct dl_torus *t, const bool *leaf, uint32_t root,
			  struct dl_route_tree **out);

/* Does the tree reach every placed switch?  Logs one that it misses. */
bool dl_route_tree_complete(const struct dl_torus *t, const struct dl_route_tree *tree,
			    const struct dl_log *log);

/*
 * Add a group of all adapters and routers, and of the switches' own ports too.
 * Errors are those of dl_route_tree_group().
 */
int dl_route_tree_add_group(const struct dl_route_tree *tree, struct dl_tables *t, uint16_t mlid,
			    bool switches);

/* Are the tables safe?  Otherwise the log says what is wrong with them. */
bool dl_route_is_safe(const struct dl_verify_result *v, const struct dl_log *log);

/* Verify the pass's result by its mode, with progress.  0 or a negative errno. */
int dl_route_verify_result(struct dl_route_pass *p);

/*
 * What dl_route() relies on, and what it promises of its result: tables and a tree
 * of this fabric, entries that name ports of their switches, a cable for each switch
 * with a parent and, in a mode that verifies, neither loss nor credit loop.  A broken
 * promise is logged.  O(switches x LIDs).
 */
bool dl_route_input_sound(const struct dl_route_pass *p);
bool dl_route_result_sound(const struct dl_route_pass *p);

#endif
