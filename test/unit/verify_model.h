/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The verifier's reference model: it walks every packet of every pair at every
 * SL, and every copy of every multicast packet, and writes each dependency it
 * meets into a matrix.
 */
#ifndef VERIFY_MODEL_H
#define VERIFY_MODEL_H

#include "dateline/verify.h"

struct model {
	const struct dl_tables *t;
	uint16_t sls; /* of every pair; 0: path SLs */
	uint16_t multicast_sls;
	unsigned int levels;
	bool adapters_only;
	bool known_only; /* pairs without a path SL send nothing, if others have one */

	uint16_t alive; /* SLs that may be in use */
	uint32_t nlinks;
	uint32_t *link;	 /* by port index: its link, or DL_NONE */
	uint32_t *port;	 /* by link: its output port */
	uint32_t n;	 /* channels: links times 16 */
	uint8_t *edge;	 /* n times n: 1 for certain, 2 if pairs of unknown SL may close it */
	bool *vague;	 /* by link: some packets' VL on it is unknown */
	bool sl_matters; /* do the maps treat SLs differently? */
	uint8_t *used;
	uint16_t *leaving; /* by port index: VLs on which a packet leaves it */

	uint8_t certainty; /* of the edges that are found now */
	uint64_t pairs, lost, edges, channels, without_sl, without_vl;
	uint32_t groups_lost;
	/* Of the graph that decides: */
	enum dl_verify_verdict verdict;
	uint32_t shortest; /* length of the shortest cycle; 0: none */
	uint32_t cyclic;   /* channels on some cycle, by Tarjan */
};

/*
 * Is an edge part of the graph in which the verdict was found?
 */
bool model_edge(const struct model *w, uint32_t a, uint32_t b);

/* t, sls, multicast_sls, levels and adapters_only are given; the rest is found. */
void model_make(struct model *w);
/* VLs on which packets leave a port whose arbitration does not serve them. */
uint16_t model_starved(const struct model *w, uint32_t port);

void model_free(struct model *w);

/* The SLs that the reference model thinks a source uses to a LID. */
uint16_t model_sls(const struct model *w, uint32_t src, uint16_t lid);

/*
 * Walk a packet; true if it takes channel a and next channel b.  Multicast
 * LIDs are walked along all their copies.
 */
bool model_takes(const struct model *w, uint32_t src, uint16_t lid, unsigned int sl, uint32_t a,
		 uint32_t b);

static inline uint32_t model_channel(const struct model *w, uint32_t port, unsigned int vl)
{
	return w->link[port] * 16 + vl;
}

#endif
