/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the parts of the verifier share. */
#ifndef DL_VERIFY_INTERNAL_H
#define DL_VERIFY_INTERNAL_H

#include "dateline/verify.h"

/* ---- sets of packets (sets.c) ------------------------------------------ */

/*
 * The packets on one link: bit 16 * vl + sl is set when packets of
 * that SL travel on that VL.
 */
struct dl_verify_set {
	uint64_t w[4];
};

/*
 * What becomes of the packets of a set at a switch that maps them by a row:
 * the set on the output link, and which VL waits for which.
 */
struct dl_verify_step {
	uint32_t from, row; /* the key */
	uint32_t to;	    /* number of the set that goes out */
	uint32_t dropped;   /* SLs that the row drops */
	uint64_t deps[4];   /* bit nvl * vl in + vl out */
};

struct dl_verify_union {
	uint32_t a, b, both;
};

/* The SLs in a set, and the VLs. */
struct dl_verify_transitions {
	uint16_t sls, vls;
};

/* Sets are kept once each and known by number; 0 is the empty set. */
struct dl_verify_sets {
	struct dl_verify_set *sets;
	struct dl_verify_transitions *transitions; /* by set number */
	uint32_t n, cap;
	uint32_t *table;	      /* open addressing: set number, 0: free */
	uint32_t table_size;	      /* a power of two, at least twice n */
	struct dl_verify_step *steps; /* direct-mapped caches of earlier answers */
	struct dl_verify_union *unions;
	const dl_tables_sl2vl_row *rows;
	unsigned int nvl;
	bool failed; /* out of memory: results are worthless */
};

#define DL_VERIFY_STEP_SLOTS 4096
#define DL_VERIFY_UNION_SLOTS 4096

int dl_verify_sets_init(struct dl_verify_sets *s, const dl_tables_sl2vl_row *rows,
			unsigned int nvl);
void dl_verify_sets_release(struct dl_verify_sets *s);

/* Forget all sets; numbers given out before mean nothing any more. */
void dl_verify_sets_clear(struct dl_verify_sets *s);

/* The number of a set.  0 and s->failed: no memory. */
uint32_t dl_verify_sets_add(struct dl_verify_sets *s, const struct dl_verify_set *set);
uint32_t dl_verify_sets_add_mask(struct dl_verify_sets *s, uint16_t sls, unsigned int vl);

/* The two operations, without the caches. */
void dl_verify_sets_find_step(struct dl_verify_sets *s, struct dl_verify_step *slot);
void dl_verify_sets_find_union(struct dl_verify_sets *s, struct dl_verify_union *slot);

static inline const struct dl_verify_step *dl_verify_sets_step(struct dl_verify_sets *s,
							       uint32_t from, uint32_t row)
{
	uint32_t key = (from * 0x9E3779B1u) ^ (row * 0x85EBCA77u);
	struct dl_verify_step *slot = &s->steps[key >> 20];

	if (slot->from != from || slot->row != row) {
		slot->from = from;
		slot->row = row;
		dl_verify_sets_find_step(s, slot);
	}
	return slot;
}

static inline uint32_t dl_verify_sets_union(struct dl_verify_sets *s, uint32_t a, uint32_t b)
{
	struct dl_verify_union *slot;

	if (a == b || !b)
		return a;
	if (!a)
		return b;
	slot = &s->unions[((a * 0x9E3779B1u) ^ (b * 0x85EBCA77u)) >> 20];
	if (slot->a != a || slot->b != b) {
		slot->a = a;
		slot->b = b;
		dl_verify_sets_find_union(s, slot);
	}
	return slot->both;
}

/* ---- the fabric, laid out for verification (net.c) ------------------------ */

/*
 * Worked example, with the two switches and two cables of fabric.h's drawing
 * and 8 VLs:
 *
 *	switch 0   links 0, 1	---->	switch 1   links 2, 3
 *
 *	channels   nvl * link + VL	VL 3 of link 2 is channel 8 * 2 + 3 = 19
 *	pairs      pair_first + k * i + j, k links at the switch, in through the
 *	           cable of its link i, out on its link j
 *
 *	at switch 0: pairs 0..3		at switch 1: pairs 4..7
 *	  4: in on link 0 (back: 2, i = 0), out on link 2 (j = 0)
 *	  5: in on link 0, out on link 3		far[0].dep = 4
 *	  6: in on link 1 (back: 3, i = 1), out on link 2
 *	  7: in on link 1, out on link 3		far[1].dep = 6
 *
 *	deps: a packet that holds VL 1 of link 0 (channel 1) and waits for VL 3
 *	of link 3 (channel 27) sets bit nvl * 1 + 3 = 11 of pair 5.
 */

/* What the verifier needs to know of a link's far end. */
struct dl_verify_far {
	uint32_t row; /* in net.rows: of (input port, output 0) */
	uint32_t dep; /* pair of this link and the first beyond */
};

/*
 * Where an output port of a switch leads: what is needed most often of
 * its link.
 */
struct dl_verify_next {
	uint32_t next; /* switch at the far end, or DL_NONE */
	uint32_t dep;  /* the link's dep */
};

/* A link into a switch and one out of it. */
struct dl_verify_pair {
	uint16_t row;  /* number of the SL-to-VL map between them */
	uint16_t last; /* set of packets last taken across; 0: none */
};

/* End ports of one switch whose packets are all treated alike. */
struct dl_verify_source {
	uint32_t row;	/* in net.rows: of (input port, output 0) */
	uint32_t links; /* index in net.source_rows of its first link */
	uint32_t psl;	/* class of path SLs */
	uint32_t count; /* end ports */
	uint16_t sls;	/* SLs that leave the adapter at all */
};

struct dl_verify_net {
	struct dl_arena *arena;	  /* of all that one verification needs */
	const struct dl_log *log; /* hears progress */
	const struct dl_tables *t;
	const struct dl_fabric *f;
	uint32_t nsw;

	/*
	 * Next hop of switch s through port o: next_hops[hop_first[s] + o], and the
	 * number of its link among those of s at the same place in hop_slot.
	 * One more after the last port stands for all ports that do not exist.
	 */
	struct dl_verify_next *next_hops;
	uint8_t *hop_slot;
	uint32_t *hop_first; /* nsw + 1 of them */

	struct dl_fabric_links links;
	struct dl_verify_far *far; /* by link */
	uint16_t *vls;		   /* by link: VLs found in use */

	/*
	 * SL-to-VL maps as they work: numbers of row values, indexed like
	 * the tables' sl2vl.  VL 15 stands for every VL that drops.
	 */
	uint16_t *rows;
	dl_tables_sl2vl_row *values;
	uint16_t *passes; /* by number: SLs that are not dropped */
	uint32_t nvalues, values_cap;
	uint16_t *end_passes; /* by port index of an end port */
	/* By port index, of ports towards end ports: VLs on which packets leave. */
	uint16_t *leaving;
	bool *sends_groups; /* by port index of an end port */

	/*
	 * Pairs of links: at switch s with k links, from the one that comes
	 * in through the port of its link i to its link j: number
	 * pair_first[s] + i * k + j.  Dependencies of pair n: `words` words
	 * from deps[words * n], bit nvl * vl in + vl out.
	 */
	unsigned int nvl;     /* 8 or 16 */
	unsigned int words;   /* 1 or 4 */
	uint32_t *pair_first; /* nsw + 1 of them */
	struct dl_verify_pair *pairs;
	uint64_t *deps;

	/* Sources of switch s: from source_first[s] to source_first[s + 1]. */
	struct dl_verify_source *sources;
	uint32_t *source_first;
	/* Maps from a source to each link out of its switch, side by side. */
	uint16_t *source_rows;
	/* End ports with a LID at switch s, in order of the switch's ports. */
	uint32_t *end_ports;
	uint32_t *end_first;
	uint32_t nends; /* end ports with a LID, attached or not */

	bool adapters_only;
	unsigned int levels;
	/*
	 * SLs that may be in use: all but those with bit 3 set which every
	 * map between switches drops.
	 */
	uint16_t alive;
	uint16_t sls;	  /* of every pair; 0: path SLs decide */
	uint16_t unknown; /* of pairs without a path SL; 0: not asked now */
	bool gaps;	  /* there are such pairs */
	bool *vague;	  /* by link: some packets' VL on it is not known */
	bool certain;	  /* leave those links out of cycles */
	uint64_t without_vl;

	const struct dl_verify_orphans *orphans;       /* packets that count as well; NULL: none */
	const struct dl_verify_orphans *group_orphans; /* ... to groups, by ports without a cable */
	const bool *left_out; /* by LID: its packets are counted elsewhere; NULL: none */
	bool *rings;	      /* by LID: set if its entries lead round; NULL: not asked */
};

/* Everything in `arena`, but the links.  0 or -ENOMEM; release in either case. */
int dl_verify_net_init(struct dl_verify_net *net, struct dl_arena *arena, const struct dl_tables *t,
		       const struct dl_verify_options *o);
void dl_verify_net_release(struct dl_verify_net *net);

/* One end port at switch s, as a source. */
struct dl_verify_source dl_verify_net_source(const struct dl_verify_net *net, uint32_t s,
					     uint32_t end_port);

static inline uint32_t dl_verify_net_links(const struct dl_verify_net *net, uint32_t sw)
{
	return net->links.first[sw + 1] - net->links.first[sw];
}

/* The number of the next hop of a forwarding entry, whatever it says. */
static inline uint32_t dl_verify_net_next(const struct dl_verify_net *net, uint32_t sw,
					  unsigned int port)
{
	uint32_t first = net->hop_first[sw];
	uint32_t last = net->hop_first[sw + 1] - 1;

	return first + port < last ? first + port : last;
}

/* The link out of a switch's port, or DL_NONE. */
static inline uint32_t dl_verify_net_link(const struct dl_verify_net *net, uint32_t sw,
					  unsigned int port)
{
	uint32_t hop = dl_verify_net_next(net, sw, port);

	if (net->next_hops[hop].next == DL_NONE)
		return DL_NONE;
	return net->links.first[sw] + net->hop_slot[hop];
}

/*
 * The map as a port with that many VLs works it; 0 VLs: unknown.  Merged: what
 * is not dropped is on VL 0.
 */
dl_tables_sl2vl_row dl_verify_net_effective(const struct dl_tables *t, uint16_t row,
					    unsigned int vls, bool merged);

/* Packets of these SLs leave a port, by a map of net.rows. */
static inline void dl_verify_net_leave(struct dl_verify_net *net, uint32_t port, uint32_t row,
				       uint16_t sls)
{
	for (; sls; sls &= sls - 1)
		net->leaving[port] |=
			1u << dl_tables_sl2vl_get(net->values[net->rows[row]], __builtin_ctz(sls));
}

/* Index in net.rows of a port pair of a switch. */
static inline uint32_t dl_verify_net_row(const struct dl_verify_net *net, uint32_t sw,
					 unsigned int in, unsigned int out)
{
	uint32_t ports = net->hop_first[sw + 1] - net->hop_first[sw] - 1;

	return net->t->sl2vl_first[sw] + in * ports + out;
}

/* Is this an end port whose packets are checked? */
static inline bool dl_verify_net_is_end(const struct dl_verify_net *net, uint32_t port)
{
	const struct dl_fabric_port *p = &net->f->ports[port];

	return dl_fabric_is_end_port(net->f, port) && p->lid && (p->num || !net->adapters_only);
}

/* The owner of a LID, if packets to it are checked; else DL_NONE. */
static inline uint32_t dl_verify_net_owner(const struct dl_verify_net *net, uint32_t lid)
{
	uint32_t owner = net->f->lid_port[lid];

	return owner == DL_NONE || dl_verify_net_is_end(net, owner) ? owner : DL_NONE;
}

/* The SLs that a path SL stands for, over all checked levels. */
static inline uint16_t dl_verify_net_sls(const struct dl_verify_net *net, unsigned int sl)
{
	if (net->sls)
		return net->sls;
	if (sl > 15)
		return net->unknown;
	return 1u << sl | (net->levels > 1 ? 1u << (sl | 8) & net->alive : 0);
}

/*
 * The lowest of each class of SLs that all maps treat alike: what holds for
 * its packets holds for those of the whole class.
 */
uint16_t dl_verify_net_distinct(const struct dl_verify_net *net, uint16_t sls);

/* Does a path SL use bit 3 already?  Then there is one level, else two. */
unsigned int dl_verify_net_levels(const struct dl_tables *t, const struct dl_verify_options *o);

/* Record that packets on VL a of an incoming link wait for VL b of another. */
static inline void dl_verify_net_depend(struct dl_verify_net *net, uint32_t pair, unsigned int a,
					unsigned int b)
{
	unsigned int bit = a * net->nvl + b;

	net->deps[pair * (size_t)net->words + bit / 64] |= UINT64_C(1) << bit % 64;
}

/* ---- tables by destination (columns.c) --------------------------------- */

#define DL_VERIFY_BLOCK 64 /* LIDs gathered together at most */

/* What the tables say about one LID. */
struct dl_verify_column {
	uint16_t lid;
	uint32_t owner;		/* end port */
	uint32_t root;		/* its access switch, or DL_NONE */
	unsigned int last_port; /* out of the root */
	const uint8_t *out;	/* by switch: output port */
	const uint8_t *other;	/* the same in the tables that these are mixed with, or NULL */
	const uint8_t *sl;	/* by class of sources; NULL: unknown */
};

/* All of them, in order of root, then LID. */
struct dl_verify_columns {
	const struct dl_verify_net *net;
	const struct dl_tables *with; /* that the net's are mixed with, or NULL */
	struct dl_verify_column *list;
	uint32_t n;
	uint8_t *out_block, *other_block, *sl_block;
	size_t out_stride, sl_stride;
};

/* From zeroed memory; 0 or -ENOMEM. */
int dl_verify_columns_init(struct dl_verify_columns *x, const struct dl_verify_net *net,
			   const struct dl_tables *with);

/* Fill in out, other and sl of n columns; those of others hold no longer. */
void dl_verify_columns_gather(struct dl_verify_columns *x, struct dl_verify_column *c, uint32_t n);

/* ---- all packets to one LID (flow.c) ----------------------------------- */

/* A next hop of a switch. */
struct dl_verify_stop {
	uint32_t next;	/* switch, or DL_NONE: the path ends here */
	uint32_t set;	/* packets on the link to it */
	uint32_t dep;	/* pair of that link and the first beyond */
	uint16_t waits; /* of a switch's first: switches that send to it and are not done */
	uint8_t out;	/* output port, or nports + 1 for a bad one */
	uint8_t slot;	/* number of the link among the switch's */
};

struct dl_verify_flow {
	struct dl_verify_net *net; /* whose dependencies grow */
	struct dl_verify_sets sets;
	uint32_t inject[17];	      /* sets of one path SL, [16] of none; 0: unset */
	struct dl_verify_stop *stops; /* next hop i of switch s: [width * s + i] */
	unsigned int width;
	/* The SLs that an end port uses towards a LID.  NULL: its path SL. */
	uint16_t (*sls_of)(const void *context, uint32_t port, uint16_t lid);
	const void *context;
	bool lasting; /* are numbers of sets to hold from run to run? */
	/* Of the last run: */
	uint32_t *order;     /* switches, after those that send to them */
	uint32_t norder;     /* fewer than all where entries lead round */
	uint32_t ends;	     /* switches whose (first) entry leads to no switch */
	bool ring;	     /* entries lead round */
	bool suspicious;     /* a map drops packets */
	uint64_t without_sl; /* of all runs: sources without a path SL */
};

/* For up to `width` next hops a switch.  0 or -ENOMEM; release in either case. */
int dl_verify_flow_init(struct dl_verify_flow *f, struct dl_verify_net *net, unsigned int width);
void dl_verify_flow_release(struct dl_verify_flow *f);

/* Before dependencies are added that may have been taken away, or others' sets were used. */
void dl_verify_flow_forget(struct dl_verify_flow *f);

/* Follow all packets to a column's LID, which may meet either entry.  0 or -ENOMEM. */
int dl_verify_flow_run(struct dl_verify_flow *f, const struct dl_verify_column *c);

/* A LID's first orphan, or the number of all. */
uint32_t dl_verify_orphans_of(const struct dl_verify_orphans *o, uint32_t lid);

/* The orphans of a LID that leave a switch by a port.  The set's number. */
uint32_t dl_verify_flow_orphans(struct dl_verify_flow *f, const struct dl_verify_orphans *o,
				uint16_t lid, uint32_t s, unsigned int out);

/* The VL of orphans at a switch, by the maps that they meet; 15: they are dropped. */
unsigned int dl_verify_orphans_vl(const struct dl_verify_net *net,
				  const struct dl_verify_orphans *o, uint32_t s, unsigned int in,
				  unsigned int out, unsigned int sl);

/* What the end ports of a switch send to a column's LID out of a port, by sls_of or path SLs. */
uint32_t dl_verify_flow_inject(struct dl_verify_flow *f, const struct dl_verify_column *c,
			       uint32_t s, unsigned int out);

/* The SL of a class of sources; 16: any of net.sls; DL_TABLES_NO_SL: unknown. */
static inline unsigned int dl_verify_flow_sl(const struct dl_verify_flow *f,
					     const struct dl_verify_column *c, uint32_t psl_class)
{
	if (f->net->sls)
		return 16;
	if (!c->sl || psl_class == DL_NONE || c->sl[psl_class] > 15)
		return DL_TABLES_NO_SL;
	return c->sl[psl_class];
}

static inline uint32_t dl_verify_flow_link(const struct dl_verify_flow *f, uint32_t s,
					   const struct dl_verify_stop *stop)
{
	return f->net->links.first[s] + stop->slot;
}

/* ---- one packet (walk.c) ----------------------------------------------- */

struct dl_verify_walk {
	uint32_t src, dst; /* end ports */
	uint16_t dlid;
	unsigned int sl; /* DL_TABLES_NO_SL: VLs do not matter */
	/* Where it is: */
	uint32_t sw;
	unsigned int in, out;
	unsigned int vl; /* on the output link */
	uint32_t hops;
};

/* Put a packet into its first switch.  0, or the fault that prevents it. */
int dl_verify_walk_start(const struct dl_verify_net *net, struct dl_verify_walk *w);

/*
 * Send it on: find output port and VL at the present switch, then move to
 * the next.  Before the move, *link is the link taken.  Returns 1 when there
 * is a next switch, 0 when it arrived, or minus (1 + the fault).
 */
int dl_verify_walk_step(const struct dl_verify_net *net, struct dl_verify_walk *w, uint32_t *link);

/* ---- what several mixtures share (common.c) ------------------------------ */

struct dl_verify_common {
	struct dl_verify_options options;
	struct dl_arena arena;
	struct dl_verify_net net; /* of the first tables */
	bool *varied;		  /* by LID: are the tables of more than one mind? */
	bool *blocks;		  /* ... by the number of its block of LIDs */
	bool *rings;		  /* by LID that is not varied */
	bool counted;		  /* does the net hold what depends on those? */
};

/* Can tables be laid out as the common ones are?  Maps and path SLs are alike. */
bool dl_verify_common_fits(const struct dl_verify_common *c, const struct dl_tables *t);

/* Count the packets to LIDs that are not varied, if that was not done.  0 or -ENOMEM. */
int dl_verify_common_count(struct dl_verify_common *c);

/* Tables get the path SLs of others; they are not to free them. */
static inline void dl_verify_borrow_sls(struct dl_tables *t, const struct dl_tables *from)
{
	t->psl = from->psl;
	t->psl_src = from->psl_src;
	t->psl_dst = from->psl_dst;
	t->npsl_src = from->npsl_src;
	t->npsl_dst = from->npsl_dst;
}

/* ---- SLs granted before (granted.c) --------------------------------------- */

/* Add what packets make wait that carry the path SLs of other tables.  0 or -ENOMEM. */
int dl_verify_add_granted(struct dl_verify_net *net, const struct dl_tables *before,
			  const struct dl_verify_options *o);

/* ---- the parts --------------------------------------------------------- */

void dl_verify_report_lost(struct dl_verify_result *v, uint32_t max,
			   const struct dl_verify_lost *lost);

/* All unicast packets: dependencies, and delivery, unless `v` is NULL. */
int dl_verify_unicast(struct dl_verify_net *net, struct dl_verify_result *v, uint32_t max);
/* All groups: the same.  `with`: joined with the groups of these tables, or NULL. */
int dl_verify_multicast(struct dl_verify_net *net, const struct dl_tables *with, uint16_t sls,
			struct dl_verify_result *v, uint32_t max);

/* Which VLs are not served on which packets leave, after unicast and multicast. */
int dl_verify_find_starved(struct dl_verify_net *net, const struct dl_verify_options *o,
			   struct dl_verify_result *v);

/*
 * By channel: the length of the longest chain of channels that wait, counted from its
 * end.  0, -ELOOP: there is a cycle, or -ENOMEM.
 */
int dl_verify_rank(const struct dl_verify_net *net, uint32_t *rank);

/* The shortest cycle of dependencies, without its packets. */
int dl_verify_cycle(const struct dl_verify_net *net, struct dl_cycle *out);

/* A packet for every step of the cycle. */
int dl_verify_examples(const struct dl_verify_net *net, uint16_t multicast_sls,
		       struct dl_verify_result *v);

#endif
