/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The channel dependency graph, edge by edge, never a cycle.
 *
 * Problem.  Paths are added and taken back while a fabric is repaired, and
 * after each addition the dependencies must still be free of cycles.
 *
 * Representation.  Edges are counted (how many classes of packets cause each),
 * in a matrix of VLs for each pair of links that meet at a switch and has edges:
 * where switches have hundreds of links, few pairs have.  Once they are ordered
 * (base/order.c), an edge that closes a cycle is refused.
 *
 * Complexity: that of the order; memory is 8 bytes a pair of links, 64 a pair with
 * edges and 32 a channel.
 */
#include <errno.h>
#include <string.h>

#include "route/proven/internal.h"

/* Channels next to one: more than a switch has. */
#define NEIGHBOURS (DL_REPAIR_VLS * DL_FABRIC_MAX_PORTS)

/*
 * No more pairs have edges at a time: a target's paths go on at each switch by one
 * link, and their permanent edges may stay when other paths take their place; a
 * tree's links are two for each switch, and each meets a switch's others.
 */
static uint32_t most_used(const struct dl_repair_net *net)
{
	uint64_t n = 2 * (uint64_t)net->nsw * net->ntargets + dl_repair_tree_pairs(net);

	return n < net->npairs ? n : net->npairs;
}

/* List the channels that channel c leads to, or those that lead to it. */
static uint32_t cdg_neighbours(const void *context, uint32_t c, bool forward, uint32_t *list)
{
	const struct dl_repair_cdg *g = context;
	const struct dl_repair_net *net = g->net;
	const struct dl_repair_link *link = &net->links[c / DL_REPAIR_VLS];
	uint32_t at = forward ? link->to : link->from, l, n = 0;
	unsigned int own = c % DL_REPAIR_VLS, vl, vls;

	for (l = net->first[at]; forward && l < net->first[at + 1]; l++) {
		vls = g->mask[link->pair + net->links[l].index] >> DL_REPAIR_VLS * own;
		for (vls &= 15; vls; vls &= vls - 1)
			list[n++] = l * DL_REPAIR_VLS + __builtin_ctz(vls);
	}
	for (; !forward && l < net->first[at + 1]; l++) {
		uint32_t in = net->links[l].back;

		vls = g->mask[net->links[in].pair + link->index];
		for (vl = 0; vls && vl < DL_REPAIR_VLS; vl++)
			if (vls >> (DL_REPAIR_VLS * vl + own) & 1)
				list[n++] = in * DL_REPAIR_VLS + vl;
	}
	return n;
}

int dl_repair_cdg_init(struct dl_repair_cdg *g, struct dl_arena *arena,
		       const struct dl_repair_net *net)
{
	uint32_t n = net->nlinks * DL_REPAIR_VLS;

	memset(g, 0, sizeof(*g));
	g->net = net;
	g->nrows = most_used(net);
	if (!(DL_REPAIR_NEW(arena, g->count, g->nrows) &&
	      DL_REPAIR_NEW(arena, g->row, net->npairs) &&
	      DL_REPAIR_NEW(arena, g->mask, net->npairs) &&
	      DL_REPAIR_NEW(arena, g->permanent, net->npairs)))
		return -ENOMEM;
	g->free_row = DL_NONE;
	return dl_order_init(&g->order, arena, n, NEIGHBOURS, cdg_neighbours, g);
}

bool dl_repair_cdg_take_row(struct dl_repair_cdg *g, uint32_t pair)
{
	uint32_t row = g->free_row;

	if (row != DL_NONE)
		g->free_row = g->count[row][0];
	else if (g->rows_used < g->nrows)
		row = g->rows_used++;
	else
		return false;
	memset(g->count[row], 0, sizeof(*g->count));
	g->row[pair] = row;
	return true;
}

void dl_repair_cdg_clear(struct dl_repair_cdg *g)
{
	g->rows_used = 0;
	g->free_row = DL_NONE;
	memset(g->mask, 0, g->net->npairs * sizeof(*g->mask));
	memset(g->permanent, 0, g->net->npairs * sizeof(*g->permanent));
	g->ordered = false;
}

bool dl_repair_cdg_order(struct dl_repair_cdg *g)
{
	g->ordered = dl_order_find(&g->order);
	return g->ordered;
}
