/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the judge's parts share: which packets hold which channels, and which
 * channel waits for which, kept up to date write by write.
 *
 * A link is named by the port that sends on it (an index into sim->ports), and a
 * channel is link * SIM_VLS + VL.  Only links between switches count: adapters
 * always take what arrives.
 *
 *	column	of a unicast LID: where each switch sends its packets, and the
 *		(VL, SL) of packets on each link
 *	flow	the same of a multicast group
 *	pair	two ports of a switch, in and out: how many columns and flows make
 *		VL a of the link that comes in wait for VL b of the one that goes out
 *	order	a topological order of the channels; none exists: a credit loop
 */
#ifndef DL_SIM_JUDGE_H
#define DL_SIM_JUDGE_H

#include "sim.h"

#define SIM_VLS 8
#define SIM_DELIVERED (DL_NONE - 1) /* next hop: the owner of the LID */

/* Packets on a link: bit 16 * (VL % 4) + SL of w[VL / 4]. */
struct sim_set {
	uint64_t w[2];
};

/* Packets of one destination, by link. */
struct sim_flow {
	struct sim_set *total; /* NULL: none anywhere */
	struct sim_set *left;  /* of those: that came by entries which are gone */
	uint32_t *left_until;  /* in ms since SIM_EPOCH */
};

struct sim_column {
	uint32_t owner; /* end port, or DL_NONE: nobody has the LID */
	uint32_t had;	/* the last one that had it: packets are sent there; or DL_NONE */
	uint32_t path;	/* of the LIDs that this one had */
	uint32_t *next; /* by node: link, SIM_DELIVERED or DL_NONE */
	bool *reached;	/* by node: do packets from there arrive? */
	bool *cut;	/* by node: did a write interrupt them since the last mark? */
	bool *lost;	/* ... or something else? */
	bool doubtful;	/* entries were written of which nobody says that they are safe */
	bool circular;	/* a circle was found, and was there after the last write */
	struct sim_flow flow;
};

struct sim_leaving {
	uint64_t time;
	uint32_t lid, port;
};

/* Pearce and Kelly's incremental topological order (order.c). */
struct sim_order {
	uint32_t *rank;	 /* by channel */
	uint32_t *stamp; /* by channel: visited in the search of this number */
	uint32_t searches;
	uint32_t *before, *after, *parent; /* scratch, by channel */
};

struct sim_edge {
	uint32_t from, to;
};

#define SIM_MOST_CLOSING 4096

/* LIDs of an end port whose SLs are told apart; with an LMC above 3, several count as one. */
#define SIM_PATHS 8

struct sim_judge {
	uint32_t nends, *end_of_port; /* dense numbers of end ports */
	uint16_t *granted;	      /* by source, then destination, then its LID % SIM_PATHS */
	struct sim_column *columns;   /* by LID */
	uint32_t ncolumns;	      /* those that anybody has had are below */
	uint16_t *lid;		      /* by end port: the LIDs that it has in `columns` */
	uint8_t *lmc;
	bool has_doubles;	  /* has a LID ever been of two end ports? */
	bool *carrying;		  /* by port */
	struct sim_flow *groups;  /* by MLID from 0xC000 on */
	uint32_t ngroups;	  /* those in use are below */
	uint32_t *pair_first;	  /* by node */
	uint64_t *pairs;	  /* bit SIM_VLS * VL in + VL out: in the order */
	uint32_t *counts;	  /* by pair and bit */
	uint64_t dependencies;	  /* bits that are set, or close a loop */
	struct sim_edge *closing; /* dependencies that close loops: not in the order */
	uint32_t nclosing;
	struct sim_order order;
	struct sim_leaving *leaving; /* a queue: when what is left has gone */
	uint64_t first_leaving, nleaving;
	uint32_t *waits; /* by port: how often such packets began to wait for it */
	uint64_t clock;	 /* of what is worked out: now, or when packets left */
	uint32_t leaving_cap;
	uint32_t revised; /* the link where packets change their VL with a map; or DL_NONE */
	bool by_write;	  /* is what changes now due to an SMP? */
};

static inline bool sim_set_is_empty(const struct sim_set *s)
{
	return !s->w[0] && !s->w[1];
}

static inline bool sim_set_equal(const struct sim_set *a, const struct sim_set *b)
{
	return a->w[0] == b->w[0] && a->w[1] == b->w[1];
}

static inline bool sim_is_link(uint32_t next)
{
	return next < SIM_DELIVERED;
}

/* The SLs of packets from an end port to a LID of another one. */
static inline uint16_t *sim_judge_sls(const struct sim *sim, uint32_t from, uint32_t to,
				      uint32_t path)
{
	const struct sim_judge *j = sim->judge;

	return &j->granted[(j->end_of_port[from] * (size_t)j->nends + j->end_of_port[to]) *
				   SIM_PATHS +
			   path % SIM_PATHS];
}

/* ---- judge_flow.c: packets on links ------------------------------------------- */

/*
 * Take packets through a switch: from port `in` to port `out`, by its map.
 * Returns their VLs and SLs behind it; *deps which VL waits for which.
 */
struct sim_set sim_flow_step(const uint8_t *map, unsigned int vls, const struct sim_set *s,
			     uint64_t *deps);

/* Data VLs that a port uses, of SIM_VLS; the same of the code in PortInfo. */
unsigned int sim_flow_vls(const struct sim_port *p);
unsigned int sim_flow_vls_of(unsigned int code);

/* Where a packet that a link brings goes on: calls back for each link. */
void sim_flow_refresh(struct sim *sim, uint32_t lid, uint32_t link);
void sim_flow_next(struct sim *sim, uint32_t lid, struct sim_node *s, uint32_t next);
void sim_flow_map(struct sim *sim, uint32_t lid, struct sim_node *s, unsigned int in,
		  unsigned int out, const uint8_t *before, unsigned int vls_before);

/*
 * What is on a link that gets `in` now: that, and what stays for a while of what
 * it got before.
 */
struct sim_set sim_flow_keep(struct sim *sim, struct sim_flow *f, uint32_t lid, uint32_t link,
			     const struct sim_set *in);

/* Packets whose time is over leave. */
void sim_flow_expire(struct sim *sim);
void sim_flow_open(struct sim *sim, struct sim_flow *f);

/* What is on the links into a switch's port is `now` in place of `before`. */
void sim_flow_depend(struct sim *sim, const struct sim_node *s, unsigned int in, unsigned int out,
		     uint64_t before, uint64_t now);

/* ---- judge_groups.c: multicast ------------------------------------------------- */

void sim_groups_refresh(struct sim *sim, uint32_t group, uint32_t link);
void sim_groups_expire(struct sim *sim, const struct sim_leaving *l);
void sim_groups_switch(struct sim *sim, uint32_t group, struct sim_node *s);
void sim_groups_depend(struct sim *sim, uint32_t group, const struct sim_node *s, unsigned int out,
		       bool add);
void sim_groups_circle(struct sim *sim, uint32_t group, struct sim_node *s, unsigned int out);
void sim_groups_map(struct sim *sim, struct sim_node *s, unsigned int in, unsigned int out,
		    const uint8_t *before, unsigned int vls_before);

static inline bool sim_groups_has(const struct sim_node *s, uint32_t group, unsigned int port)
{
	return s->mft[group * SIM_MFT_POSITIONS + port / 16] >> port % 16 & 1;
}

/* ---- order.c ------------------------------------------------------------------- */

void sim_order_init(struct sim *sim);

/*
 * A channel waits for another one now.  False: that closes a loop, which is
 * described in `text`.
 */
bool sim_order_add(struct sim *sim, uint32_t from, uint32_t to, char *text, size_t size);

struct dl_tables;

/* judge_desk.c: the same tables, tried at a desk. */
void sim_judge_desk(struct sim *sim, struct dl_fabric *f, struct dl_tables *held);

/* judge_metrics.c: what the engine says of a fabric. */
void sim_judge_metrics(struct sim *sim, const struct dl_fabric *f);

#endif
