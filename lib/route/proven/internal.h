/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the parts of the repair share; repair.c describes the whole.
 *
 * Links.  All cables that lead the same way from one switch to another are one
 * link (a port group).  A dependency between cables is then a dependency
 * between their links, so what is free of cycles over links is free of cycles
 * over cables.
 *
 * Channels are links and VLs of QoS level 0: number link * 4 + VL.  In any-SL
 * mode the VL depends on where a packet comes from alone: one SL stands for all.  Level 1 has
 * the same dependencies on VLs of its own; where it shares them (fewer data
 * VLs) it adds nothing that level 0 has not put there.
 *
 * All memory of a repair comes from the arena of the pass.
 */
#ifndef DL_REPAIR_H
#define DL_REPAIR_H

#include "dateline/base.h"
#include "route/internal.h"

#define DL_REPAIR_VLS 4
#define DL_REPAIR_SLS 8
#define DL_REPAIR_NO_LINK 0xFF

/* Take zeroed room for n items from the arena; false: no memory. */
#define DL_REPAIR_NEW(arena, pointer, n) \
	(((pointer) = dl_arena_array((arena), (size_t)(n) + 1, sizeof(*(pointer)))) != NULL)

/* ---- the fabric as links (links.c) ------------------------------------- */

struct dl_repair_link {
	uint32_t from, to; /* switches */
	uint32_t back;	   /* the link the other way */
	uint32_t pair;	   /* number of the pair (this, first out of `to`) */
	uint32_t ports;	   /* in net.ports: port numbers at `from` */
	uint8_t nports;
	uint8_t dir;   /* DL_TORUS_DIRS: no link of the torus */
	uint8_t index; /* among the links out of `from` */
};

/*
 * The packets of one SL on a link.  Their VL depends on where they came from; their
 * class, a number below 16, encodes both: the SL, plus 8 if they turned from a later
 * dimension to an earlier one.  In any-SL mode the class is the VL.
 */
struct dl_repair_transition {
	uint8_t class, vl;
};

struct dl_repair_net {
	const struct dl_torus *torus;
	uint32_t nsw, nlinks, npairs;
	struct dl_repair_link *links; /* in order of `from` */
	uint32_t *first;	      /* by switch, nsw + 1: its first link */
	uint8_t *ports;
	uint8_t *dir_index;    /* by switch * DL_TORUS_DIRS + direction */
	uint8_t *uplink_index; /* by off-torus switch: its uplink */
	/*
	 * Targets: LIDs of one parity at one switch, all sent alike.  Target t
	 * is at switch t; where a switch has LIDs of both parities, those of
	 * parity 1 are a target after these.
	 */
	uint32_t ntargets;
	uint32_t *target_sw;
	uint8_t *target_parity;
	uint32_t *lid_target; /* by LID, or DL_NONE */
	const struct dl_route_rule *rule;
	const bool *leaf; /* by switch: passes nothing on; NULL: none is such */
	/* From a direction (DL_TORUS_DIRS: an end port) into another, by SL. */
	struct dl_repair_transition transition[DL_TORUS_DIRS + 1][DL_TORUS_DIRS + 1][DL_REPAIR_SLS];
	/* VL of a class in a direction. */
	uint8_t vl[DL_TORUS_DIRS + 1][2 * DL_REPAIR_SLS];
};

/* Returns 0 or -ENOMEM; a port of a switch may lead to no switch. */
int dl_repair_net_init(struct dl_repair_net *net, struct dl_route_pass *p);

/* May packets for a target at switch `to` be sent to this switch? */
static inline bool dl_repair_may_enter(const struct dl_repair_net *net, uint32_t sw, uint32_t to)
{
	return !net->leaf || !net->leaf[sw] || sw == to;
}

/* No spanning tree has more pairs of links that meet. */
static inline size_t dl_repair_tree_pairs(const struct dl_repair_net *net)
{
	size_t n = 2 * DL_FABRIC_MAX_PORTS * (size_t)net->nsw;

	return n < net->npairs ? n : net->npairs;
}

/* ---- the channel dependency graph (cdg.c) ------------------------------ */

/* Counted dependencies between channels, and an order of these. */
struct dl_repair_cdg {
	const struct dl_repair_net *net;
	uint16_t *mask;	       /* by pair: which counts are not 0 */
	uint32_t *row;	       /* by pair whose mask is not 0: its counts */
	uint32_t (*count)[16]; /* by row: bit 4 * VL in + VL out; [0]: the next free row */
	uint32_t nrows, rows_used, free_row; /* rows_used: from there on, none was taken */
	uint16_t *permanent;		     /* by pair: classes whose edges stay for good */
	bool ordered;
	struct dl_order order; /* of channels */
};

int dl_repair_cdg_init(struct dl_repair_cdg *g, struct dl_arena *arena,
		       const struct dl_repair_net *net);

/* Forget all dependencies, and the order. */
void dl_repair_cdg_clear(struct dl_repair_cdg *g);

/*
 * Find a topological order of what was added without one.  Returns false when
 * there is a cycle.  From then on no dependency is taken that closes one.
 */
bool dl_repair_cdg_order(struct dl_repair_cdg *g);

static inline uint32_t dl_repair_pair(const struct dl_repair_net *net, uint32_t a, uint32_t b)
{
	return net->links[a].pair + net->links[b].index;
}

/* Counts for one more pair.  False: there are no more. */
bool dl_repair_cdg_take_row(struct dl_repair_cdg *g, uint32_t pair);

/*
 * Add the dependency of VL `out` of link b on VL `in` of link a (b starts
 * where a ends).  False: it would close a cycle.
 */
static inline bool dl_repair_cdg_add(struct dl_repair_cdg *g, uint32_t a, unsigned int in,
				     uint32_t b, unsigned int out)
{
	uint32_t pair = dl_repair_pair(g->net, a, b);
	unsigned int bit = DL_REPAIR_VLS * in + out;

	if (g->mask[pair] >> bit & 1) {
		g->count[g->row[pair]][bit]++;
		return true;
	}
	if (g->ordered) {
		uint32_t x = a * DL_REPAIR_VLS + in;
		uint32_t y = b * DL_REPAIR_VLS + out;

		if (!dl_order_insert(&g->order, x, y))
			return false;
	}
	if (!g->mask[pair] && !dl_repair_cdg_take_row(g, pair))
		return false;
	g->count[g->row[pair]][bit] = 1;
	g->mask[pair] |= 1u << bit;
	return true;
}

static inline void dl_repair_cdg_drop(struct dl_repair_cdg *g, uint32_t pair, unsigned int bit)
{
	uint32_t row = g->row[pair];

	if (--g->count[row][bit])
		return;
	g->mask[pair] &= ~(1u << bit);
	if (g->mask[pair])
		return;
	g->count[row][0] = g->free_row;
	g->free_row = row;
}

/* ---- paths (paths.c) --------------------------------------------------- */

/* How a switch's packets to a destination fare by DOR. */
enum dl_repair_state {
	DL_REPAIR_UNVISITED,
	DL_REPAIR_ON_STACK,    /* while it is found out */
	DL_REPAIR_UNREACHABLE, /* they do not arrive */
	DL_REPAIR_CONFORMANT,  /* in dimension order all the way */
	DL_REPAIR_ILLEGAL_TURN /* with a turn that DOR does not make */
};

/* DOR's paths to one target, by switch. */
struct dl_repair_dor {
	uint32_t target;
	uint32_t to;	 /* its switch */
	uint8_t *next;	 /* link index, or DL_REPAIR_NO_LINK */
	uint8_t *sls;	 /* path SL */
	uint8_t *states; /* enum dl_repair_state */
	/* dl_repair_dor_follow(): the end, pair and direction of the next link, ... */
	uint32_t *beyond, *pair; /* `beyond` DL_NONE: there is no link */
	uint8_t *dir;
	/* ... and all other switches, each after the next one on its path. */
	uint32_t *order;
};

/*
 * All paths: where each switch sends packets to each destination, and which
 * classes of them (a bit each) travel there.
 */
struct dl_repair_paths {
	const struct dl_repair_net *net;
	struct dl_repair_cdg *cdg;
	struct dl_arena arena; /* of these two: */
	uint8_t *next;	       /* index at [target * nsw + from], or DL_REPAIR_NO_LINK */
	uint16_t *classes;     /* likewise */
	const uint8_t **moves; /* by switch and dimension: its row of moves */
	const struct dl_route_rings *rings;
	uint32_t (*coord)[DL_TORUS_DIMS]; /* of a placed switch */
	/* What the last insertion did, to take it back. */
	struct dl_repair_step {
		uint32_t sw, pair;
		uint8_t class, bit;
		bool depends;
	} * steps;
};

int dl_repair_paths_init(struct dl_repair_paths *p, struct dl_arena *arena,
			 struct dl_repair_cdg *cdg, const struct dl_route_rings *rings);

/* From now on there are no paths to a target; before that nothing is known of them. */
void dl_repair_paths_begin(struct dl_repair_paths *p, uint32_t target);

/* Room for all of them, and without it.  0 or -ENOMEM. */
int dl_repair_paths_hold(struct dl_repair_paths *p);
void dl_repair_paths_drop(struct dl_repair_paths *p);

int dl_repair_dor_init(struct dl_repair_dor *d, struct dl_arena *arena, uint32_t nsw);

/* What DOR does towards a target: next links and SLs, without states. */
void dl_repair_dor_find(const struct dl_repair_paths *p, uint32_t target, struct dl_repair_dor *d);

/* The states and the order as well. */
void dl_repair_dor_follow(const struct dl_repair_paths *p, uint32_t target,
			  struct dl_repair_dor *d);

/* The link out of `from` to a target, DL_NONE: there is no path yet. */
static inline uint32_t dl_repair_next(const struct dl_repair_paths *p, uint32_t target,
				      uint32_t from)
{
	uint8_t index = p->next[target * (size_t)p->net->nsw + from];

	return index == DL_REPAIR_NO_LINK ? DL_NONE : p->net->first[from] + index;
}

static inline bool dl_repair_has_path(const struct dl_repair_paths *p, uint32_t target,
				      uint32_t from)
{
	return from == p->net->target_sw[target] ||
	       p->next[target * (size_t)p->net->nsw + from] != DL_REPAIR_NO_LINK;
}

/*
 * Send the packets from the start of a link over it; from its end their path
 * to the target is known.  False: that would close a cycle, and nothing is
 * changed.
 */
bool dl_repair_paths_add(struct dl_repair_paths *p, uint32_t target, uint32_t link,
			 unsigned int sl);

/* Take back all packets to a target. */
void dl_repair_paths_remove(struct dl_repair_paths *p, uint32_t target);

/*
 * Send the packets of all switches in the state DL_REPAIR_CONFORMANT by DOR,
 * while there is no order yet.  Their edges are permanent, even if the packets
 * are taken back; once they are there, doing this again adds nothing.  The
 * paths themselves are forgotten, unless they are to be kept.
 */
void dl_repair_paths_add_conformant(struct dl_repair_paths *p, const struct dl_repair_dor *d,
				    bool keep);

/* ---- the tree (multicast.c) ------------------------------------------------- */

/* A spanning tree, by links, and what its multicast adds to the CDG. */
struct dl_repair_tree {
	struct dl_repair_cdg *cdg;
	uint32_t root;
	uint32_t norder;
	uint32_t *order; /* parents before children */
	uint32_t *up;	 /* by switch: link to the parent, or DL_NONE */
	uint32_t *place; /* by switch: in the order; of dl_repair_tree_any() only */
	bool *in;	 /* by switch: is it in the tree? */
	bool *used;	 /* by link: is it part of the tree? */
	uint8_t *vls;	 /* by link: VLs on which packets travel */
	/* What was added, to take it back. */
	struct dl_repair_change {
		uint32_t link; /* of which a VL is new, or DL_NONE */
		uint32_t pair; /* else: an edge */
		uint8_t bit;   /* VL, or VLs of the edge */
	} * changes;
	uint32_t nchanges;
};

int dl_repair_tree_init(struct dl_repair_tree *s, struct dl_arena *arena,
			struct dl_repair_cdg *cdg);

/*
 * Add a tree whose multicast closes no cycle with what is there.  `attempt`
 * 0 is the master tree of rules A9 as far as it is safe.  Returns 0; -EAGAIN:
 * this attempt does not reach every switch, and nothing is changed; -ENOMEM.
 * `moved` counts the switches whose parent is not that of the master tree.
 */
int dl_repair_tree_try(struct dl_repair_tree *s, unsigned int attempt, uint32_t *moved);

/* Any spanning tree, whatever cycles it closes; adds nothing.  0, -ENOMEM. */
int dl_repair_tree_any(struct dl_repair_tree *s);

/*
 * Find an order as dl_repair_cdg_order() does, if possible one that also suits
 * the tree's multicast, which is not added.  False: there is none even without
 * the tree.
 */
bool dl_repair_tree_order(struct dl_repair_tree *s);

/* Add the tree's multicast.  False: it closes a cycle; nothing is changed. */
bool dl_repair_tree_add(struct dl_repair_tree *s);

/*
 * Link indices towards a switch along the tree; `order` receives the switches
 * from `to` outwards.  Returns how many there are.
 */
uint32_t dl_repair_tree_paths(const struct dl_repair_tree *s, uint32_t to, uint8_t *next,
			      uint32_t *order);

/* ---- one target (reroute.c) --------------------------------------- */

struct dl_repair_rerouter {
	struct dl_repair_paths *paths;
	struct dl_repair_dor dor;
	uint64_t *heap;
	uint32_t nheap;
	uint32_t *hops; /* by switch: length of its path */
	bool *refused;	/* by switch: DOR's link closes a cycle */
};

int dl_repair_rerouter_init(struct dl_repair_rerouter *m, struct dl_arena *arena,
			    struct dl_repair_paths *paths);

/*
 * Send what does not reach a target yet by other links.  Returns the number of
 * switches that are still without a path.
 */
uint32_t dl_repair_reroute(struct dl_repair_rerouter *m, uint32_t target);

/* Put all packets to a target on the tree's links.  False: a cycle. */
bool dl_repair_reroute_by_tree(struct dl_repair_rerouter *m, const struct dl_repair_tree *s,
			       uint32_t target);

/*
 * Route a target up and down: first to switches that stand earlier in the order
 * of the tree, then to later ones, on as few links as that allows.
 */
void dl_repair_up_down(struct dl_repair_rerouter *m, const struct dl_repair_tree *s,
		       uint32_t target);

/* ---- from paths to tables (write.c) ------------------------------------ */

/*
 * Bring DOR's tables up to date, for those targets to which something takes
 * another path; counts into the report, and names each of these targets at
 * DL_LOG_VERBOSE.  `open`, `tree_routed`: by target.
 */
int dl_repair_write(const struct dl_repair_paths *p, struct dl_repair_dor *d, const bool *open,
		    const bool *tree_routed, struct dl_route_pass *pass);

/* The tree with its cables.  0 or -ENOMEM. */
int dl_repair_write_tree(const struct dl_repair_tree *s, struct dl_route_tree **out);

#endif
