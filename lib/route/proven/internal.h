/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the parts of the repair share (repair.c tells the whole story).
 *
 * Hops.  All cables that lead the same way from one switch to another are one
 * hop.  A dependency between cables is then a dependency between their hops,
 * so what is free of cycles over hops is free of cycles over cables.
 *
 * Channels are hops and VLs of QoS level 0: number hop * 4 + VL.  Level 1 has
 * the same dependencies on VLs of its own; where it shares them (fewer data
 * VLs) it adds nothing that level 0 has not put there.
 */
#ifndef DL_REPAIR_H
#define DL_REPAIR_H

#include "route/internal.h"
#include "dateline/route.h"

#define DL_REPAIR_VLS 4
#define DL_REPAIR_SLS 8
#define DL_REPAIR_NO_LINK 0xFF

/* ---- the fabric as hops (repair_net.c) --------------------------------- */

struct dl_repair_link {
	uint32_t from, to; /* switches */
	uint32_t back;	   /* the hop the other way */
	uint32_t pair;	   /* number of the pair (this, first out of `to`) */
	uint32_t ports;	   /* in net.ports: port numbers at `from` */
	uint8_t nports;
	uint8_t dir;  /* DL_TORUS_DIRS: no hop of the torus */
	uint8_t slot; /* place among the hops out of `from` */
};

/*
 * The packets of one SL on one hop towards one destination, as far as their
 * VL depends on where they came from: a number below 16, SL + 8 if they turned
 * from a later dimension to an earlier one.
 */
struct dl_repair_transition {
	uint8_t kind, vl;
};

struct dl_repair_net {
	const struct dl_torus *torus;
	uint32_t nsw, nhops, npairs;
	struct dl_repair_link *hops; /* in order of `from` */
	uint32_t *first;	     /* by switch, nsw + 1: its first hop */
	uint8_t *ports;
	uint8_t *dir_slot;  /* by switch * DL_TORUS_DIRS + direction */
	uint8_t *home_slot; /* by switch without a place: its way home */
	/* From a direction (DL_TORUS_DIRS: from an end port) into another, by SL. */
	struct dl_repair_transition lane[DL_TORUS_DIRS + 1][DL_TORUS_DIRS + 1]
					[DL_REPAIR_SLS];
	/* VL of a kind of packets in a direction. */
	uint8_t vl[DL_TORUS_DIRS + 1][2 * DL_REPAIR_SLS];
};

/* Returns 0 or -ENOMEM; a port of a switch may lead to no switch. */
int dl_repair_net_init(struct dl_repair_net *net, const struct dl_torus *t,
		       unsigned int vls_between);
void dl_repair_net_release(struct dl_repair_net *net);

static inline uint32_t dl_repair_nlinks(const struct dl_repair_net *net,
					uint32_t sw)
{
	return net->first[sw + 1] - net->first[sw];
}

/* ---- dependencies (repair_graph.c) ------------------------------------- */

/*
 * Counted dependencies between channels, and a topological order of them that
 * is kept up to date (Pearce and Kelly).
 */
struct dl_repair_cdg {
	const struct dl_repair_net *net;
	uint32_t (*count)[16]; /* by pair: bit 4 * VL in + VL out */
	uint16_t *mask;	       /* by pair: which counts are not 0 */
	uint16_t *kept;	       /* by pair: kinds that are there for good */
	bool ordered;
	uint32_t nchannels;
	uint32_t *at, *pos; /* channel by position, position by channel */
	uint32_t *seen, epoch;
	uint32_t *before, *after, *stack;
	uint64_t *bits; /* by position; all clear between uses */
};

int dl_repair_cdg_init(struct dl_repair_cdg *g,
		       const struct dl_repair_net *net);
void dl_repair_cdg_release(struct dl_repair_cdg *g);

/* Forget all dependencies, and the order. */
void dl_repair_cdg_clear(struct dl_repair_cdg *g);

/*
 * Find a topological order of what was added without one.  Returns false when
 * there is a cycle.  From then on no dependency is taken that closes one.
 */
bool dl_repair_cdg_order(struct dl_repair_cdg *g);

/*
 * Is there an order in which channel x stands before channel y?  Makes it the
 * present one.  Returns false when y leads to x.
 */
bool dl_repair_cdg_reorder(struct dl_repair_cdg *g, uint32_t x, uint32_t y);

/*
 * Add the dependency of VL `out` of the hop number `next` on VL `in` of `hop`
 * (next starts where hop ends).  False: it would close a cycle.
 */
static inline bool dl_repair_cdg_add(struct dl_repair_cdg *g,
				     const struct dl_repair_link *hop,
				     uint32_t hop_no, unsigned int in,
				     const struct dl_repair_link *next,
				     uint32_t next_no, unsigned int out)
{
	uint32_t pair = hop->pair + next->slot;
	unsigned int bit = DL_REPAIR_VLS * in + out;

	if (g->count[pair][bit]) {
		g->count[pair][bit]++;
		return true;
	}
	if (g->ordered) {
		uint32_t x = hop_no * DL_REPAIR_VLS + in;
		uint32_t y = next_no * DL_REPAIR_VLS + out;

		if (g->pos[x] >= g->pos[y] && !dl_repair_cdg_reorder(g, x, y))
			return false;
	}
	g->count[pair][bit] = 1;
	g->mask[pair] |= 1u << bit;
	return true;
}

static inline void dl_repair_cdg_drop(struct dl_repair_cdg *g, uint32_t pair,
				      unsigned int bit)
{
	if (!--g->count[pair][bit])
		g->mask[pair] &= ~(1u << bit);
}

/* ---- flows (repair_flow.c) --------------------------------------------- */

/*
 * All packets to one switch.  Where each switch sends them, and which kinds
 * of them (bit per kind) travel there.
 */
struct dl_repair_flows {
	const struct dl_repair_net *net;
	const struct dl_route_rings *rings;
	struct dl_repair_cdg *deps;
	uint8_t *via;	 /* slot at [to * nsw + from], or DL_REPAIR_NO_LINK */
	uint16_t *kinds; /* likewise */
	uint32_t *ways;	 /* by switch and dimension: its row of ways */
	uint32_t (*coord)[DL_TORUS_DIMS]; /* of a placed switch */
	/* What the last insertion did, to take it back. */
	struct dl_repair_flow_step {
		uint32_t sw, pair;
		uint8_t kind, bit;
		bool depends;
	} * steps;
};

int dl_repair_flows_init(struct dl_repair_flows *f,
			 const struct dl_repair_net *net,
			 const struct dl_route_rings *rings,
			 struct dl_repair_cdg *deps);
void dl_repair_flows_release(struct dl_repair_flows *f);
void dl_repair_flows_clear(struct dl_repair_flows *f);

/* What the plain rule says: slot by switch, or DL_REPAIR_NO_LINK. */
void dl_repair_flows_dor(const struct dl_repair_flows *f, uint32_t to,
			 uint8_t *slots);

/* Path SLs towards a switch, by switch. */
void dl_repair_flows_sls(const struct dl_repair_flows *f, uint32_t to,
			 uint8_t *sls);

/*
 * Send the packets from one switch out of `slot`; from there on their way to
 * `to` is known.  False: that would close a cycle, and nothing is changed.
 */
bool dl_repair_flow_add(struct dl_repair_flows *f, uint32_t to, uint32_t from,
			unsigned int slot, unsigned int sl);

/* Take back all packets to a switch. */
void dl_repair_flows_remove(struct dl_repair_flows *f, uint32_t to);

/* How a switch's packets fare by the plain rule. */
enum dl_repair_state {
	DL_REPAIR_UNVISITED,
	DL_REPAIR_ON_STACK,    /* while it is found out */
	DL_REPAIR_UNREACHABLE, /* they do not arrive */
	DL_REPAIR_CONFORMANT,  /* by dimension order all the way */
	DL_REPAIR_ILLEGAL_TURN /* with a turn that it does not make */
};

/*
 * Find it out for all switches.  `order` receives the others, each after the
 * next switch on its way.
 */
void dl_repair_flows_states(const struct dl_repair_flows *f, uint32_t to,
			    const uint8_t *rule, uint8_t *fates,
			    uint32_t *order);

/*
 * Send the packets from all switches of fate DL_REPAIR_CONFORMANT by the rule, while
 * there is no order yet.  Their dependencies are kept for good, even if the
 * packets are taken back; once they are, doing this again adds nothing.
 */
void dl_repair_flow_add_conformant(struct dl_repair_flows *f, uint32_t to,
				   const uint8_t *rule, const uint8_t *sls,
				   const uint8_t *fates, const uint32_t *order);

/* ---- the tree (repair_tree.c) ------------------------------------------ */

/* A spanning tree, by hops. */
struct dl_repair_span {
	uint32_t root;
	uint32_t norder;
	uint32_t *order; /* parents before children */
	uint32_t *up;	 /* by switch: hop to the parent, or DL_NONE */
};

int dl_repair_span_init(struct dl_repair_span *s, uint32_t nsw);
void dl_repair_span_release(struct dl_repair_span *s);

/*
 * Add a tree whose multicast closes no cycle with what is there.  `attempt`
 * 0 is the master tree of rules A9 as far as it is safe.  Returns 0; -EAGAIN:
 * this attempt reaches not every switch, and nothing is changed; -ENOMEM.
 * `moved` counts the switches that hang elsewhere than in the master tree.
 */
int dl_repair_span_try(struct dl_repair_cdg *g, unsigned int attempt,
		       struct dl_repair_span *s, uint32_t *moved);

/* Any spanning tree, whatever cycles it closes; adds nothing.  0, -ENOMEM. */
int dl_repair_span_any(const struct dl_repair_net *net,
		       struct dl_repair_span *s);

/*
 * Find an order as dl_repair_cdg_order() does, if possible one that also suits a
 * tree's multicast, which is not added.  0, -EAGAIN (there is none even
 * without the tree), -ENOMEM.
 */
int dl_repair_span_order(struct dl_repair_cdg *g,
			 const struct dl_repair_span *s);

/* Add a tree's multicast.  0, -EAGAIN (it closes a cycle), -ENOMEM. */
int dl_repair_span_attach(struct dl_repair_cdg *g,
			  const struct dl_repair_span *s);

/* The slots towards a switch along the tree. */
int dl_repair_span_links(const struct dl_repair_net *net,
			 const struct dl_repair_span *s, uint32_t to,
			 uint8_t *slots, uint32_t *order);

/* ---- one destination (repair_dest.c) ----------------------------------- */

struct dl_repair {
	struct dl_repair_flows *flows;
	uint64_t *heap;
	uint32_t nheap;
	uint32_t *hops; /* by switch */
	uint8_t *rule, *sls, *fates;
	bool *refused; /* by switch: the rule's hop closes a cycle */
	uint32_t *order;
};

int dl_repair_init(struct dl_repair *m, struct dl_repair_flows *flows);
void dl_repair_release(struct dl_repair *m);

/*
 * Send what does not reach `to` yet by other hops.  Returns the number of
 * switches that are still without a way.
 */
uint32_t dl_repair_destination(struct dl_repair *m, uint32_t to);

/* Put all packets to a switch on the tree's hops.  False: a cycle. */
bool dl_repair_by_tree(struct dl_repair *m, const struct dl_repair_span *s,
		       uint32_t to);

/* ---- from routes to tables, and their proof (repair_tables.c) ---------- */

/*
 * Bring tables of the plain rule up to date, for those destinations to which
 * something goes another way; counts into the report, and names each of these
 * destinations at DL_LOG_VERBOSE.
 */
int dl_repair_write(const struct dl_repair_flows *f, const bool *open,
		    const bool *along_tree, struct dl_tables *tables,
		    struct dl_route_report *report, const struct dl_log *log);

/* The tree with its cables.  0 or -ENOMEM. */
int dl_repair_tree(const struct dl_repair_net *net,
		   const struct dl_repair_span *s, struct dl_route_tree **out);

/* Are the tables safe?  Otherwise the log says what is wrong with them. */
bool dl_repair_is_safe(const struct dl_verify_result *v,
		       const struct dl_log *log);

#endif
