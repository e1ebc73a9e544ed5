/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A checker of any-SL mode: it walks the packets of every pair on each of the 16 SLs,
 * and every copy of every multicast packet, notes which channel waits for which, and
 * takes channels away that wait for none.  It shares nothing with the router or
 * dl_verify().  igraph gives a second opinion on the cycles.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#ifdef HAVE_IGRAPH
#include <igraph.h>
#endif

#include "anysl_checker.h"

#define VLS 16

struct checker {
	const struct dl_tables *t;
	const struct dl_fabric *f;
	/* By port out of which a switch sends, VL, next port and next VL. */
	uint8_t *waits;
	uint32_t most; /* ports of a switch */
	uint64_t lost;
};

static unsigned int vl_of(const struct checker *k, uint32_t sw, unsigned int in, unsigned int out,
			  unsigned int sl)
{
	const struct dl_fabric_node *n = &k->f->nodes[k->f->switches[sw]];
	uint16_t row = k->t->sl2vl[k->t->sl2vl_first[sw] + in * (n->nports + 1) + out];
	unsigned int vl = k->t->rows[row] >> 4 * sl & 15;

	assert_true(!out || vl < k->f->ports[n->first_port + out].vls);
	return vl;
}

/* Two channels by their ports (indices) and VLs; `b` is at the next switch. */
static size_t wait_at(const struct checker *k, uint32_t a, unsigned int vl_a, uint32_t b,
		      unsigned int vl_b)
{
	return (((size_t)a * VLS + vl_a) * (k->most + 1) + k->f->ports[b].num) * VLS + vl_b;
}

/* Where a packet is: at a switch, come in there, holding a channel or none. */
struct place {
	uint32_t sw, channel_port;
	unsigned int in, vl;
};

static struct place enter(const struct checker *k, uint32_t src)
{
	const struct dl_fabric_port *p = &k->f->ports[src];

	return (struct place){ dl_fabric_access_switch(k->f, src), DL_NONE,
			       p->num ? k->f->ports[p->peer].num : 0, 0 };
}

/* Over a port to the next switch; false: it leads to an end port. */
static bool step(struct checker *k, struct place *at, unsigned int out, unsigned int sl)
{
	uint32_t port = k->f->nodes[k->f->switches[at->sw]].first_port + out;
	const struct dl_fabric_port *peer;
	unsigned int vl = vl_of(k, at->sw, at->in, out, sl);

	if (!out || k->f->nodes[k->f->ports[k->f->ports[port].peer].node].type != DL_FABRIC_SWITCH)
		return false;
	if (at->channel_port != DL_NONE)
		k->waits[wait_at(k, at->channel_port, at->vl, port, vl)] = 1;
	peer = &k->f->ports[k->f->ports[port].peer];
	*at = (struct place){ k->f->nodes[peer->node].sw, port, peer->num, vl };
	return true;
}

static void walk(struct checker *k, uint32_t src, uint16_t lid, unsigned int sl)
{
	struct place at = enter(k, src);
	uint32_t hops, end;
	unsigned int out;

	for (hops = 0; hops <= k->f->nswitches; hops++) {
		const struct dl_fabric_node *n = &k->f->nodes[k->f->switches[at.sw]];

		out = k->t->lft[at.sw * (size_t)k->t->stride + lid];
		if (out > n->nports || (out && k->f->ports[n->first_port + out].peer == DL_NONE))
			break;
		if (step(k, &at, out, sl))
			continue;
		end = n->first_port + out;
		if ((out ? k->f->ports[end].peer : end) == k->f->lid_port[lid])
			return;
		break;
	}
	k->lost++;
}

static void flood(struct checker *k, const struct dl_tables_masks *masks, struct place at,
		  unsigned int sl)
{
	unsigned int out, nports = k->f->nodes[k->f->switches[at.sw]].nports;

	for (out = 0; out <= nports; out++) {
		struct place next = at;

		if (out != at.in && dl_tables_mask_get(masks, at.sw, out) &&
		    step(k, &next, out, sl))
			flood(k, masks, next, sl);
	}
}

bool checker_is_end(const struct dl_fabric *f, uint32_t port)
{
	return f->ports[port].lid && dl_fabric_is_end_port(f, port);
}

static void walk_all(struct checker *k)
{
	uint32_t src, lid, g;
	unsigned int sl;

	for (src = 0; src < k->f->nports; src++) {
		if (!checker_is_end(k->f, src))
			continue;
		for (sl = 0; sl < 16; sl++) {
			for (lid = 1; lid <= k->f->top_lid; lid++)
				if (k->f->lid_port[lid] != DL_NONE && k->f->lid_port[lid] != src)
					walk(k, src, lid, sl);
			for (g = 0; g < k->t->ngroups; g++)
				flood(k, &k->t->groups[g].masks, enter(k, src), sl);
		}
	}
}

/* Channels that wait for none are free, and then those that wait for these. */
static bool has_cycle(const struct checker *k)
{
	uint32_t n = k->f->nports * VLS, a, b, left = n, before;
	bool *gone = calloc(n, sizeof(*gone)), waits;
	size_t row = (k->most + 1) * (size_t)VLS;

	do {
		before = left;
		for (a = 0; a < n; a++) {
			uint32_t peer = k->f->ports[a / VLS].peer;
			uint32_t first = peer == DL_NONE ?
						 0 :
						 k->f->nodes[k->f->ports[peer].node].first_port;

			if (gone[a])
				continue;
			for (waits = false, b = 0; b < row && !waits; b++)
				waits = k->waits[a * row + b] && !gone[first * VLS + b];
			if (!waits) {
				gone[a] = true;
				left--;
			}
		}
	} while (left < before);
	free(gone);
	return left > 0;
}

#ifdef HAVE_IGRAPH
static bool igraph_finds_cycle(const struct checker *k)
{
	uint32_t n = k->f->nports * VLS, a, b, first;
	size_t row = (k->most + 1) * (size_t)VLS;
	igraph_vector_int_t ends;
	igraph_bool_t dag;
	igraph_t graph;

	igraph_vector_int_init(&ends, 0);
	for (a = 0; a < n; a++)
		for (b = 0; b < row; b++) {
			if (!k->waits[a * row + b])
				continue;
			first = k->f->nodes[k->f->ports[k->f->ports[a / VLS].peer].node].first_port;
			igraph_vector_int_push_back(&ends, a);
			igraph_vector_int_push_back(&ends, first * VLS + b);
		}
	igraph_create(&graph, &ends, n, IGRAPH_DIRECTED);
	igraph_is_dag(&graph, &dag);
	igraph_destroy(&graph);
	igraph_vector_int_destroy(&ends);
	return !dag;
}
#else
static bool igraph_finds_cycle(const struct checker *k)
{
	return has_cycle(k);
}
#endif

bool has_credit_loop(const struct dl_tables *t, bool ask_igraph)
{
	struct checker k = { .t = t, .f = t->fabric };
	uint32_t s;
	bool cycle;

	for (s = 0; s < k.f->nswitches; s++)
		if (k.f->nodes[k.f->switches[s]].nports > k.most)
			k.most = k.f->nodes[k.f->switches[s]].nports;
	k.waits = calloc((size_t)k.f->nports * VLS * (k.most + 1), VLS);
	walk_all(&k);
	assert_int_equal(k.lost, 0);
	cycle = has_cycle(&k);
	if (ask_igraph)
		assert_int_equal(igraph_finds_cycle(&k), cycle);
	free(k.waits);
	return cycle;
}
