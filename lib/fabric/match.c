/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One fabric in another: nodes are the same when GUID and type are, ports when
 * their numbers are.  Complexity: n log n for the nodes, then constant.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/fabric.h"

int dl_fabric_match(const struct dl_fabric *from, const struct dl_fabric *to,
		    struct dl_fabric_match *out)
{
	*out = (struct dl_fabric_match){ from, to, malloc((from->nnodes + 1) * sizeof(uint32_t)) };
	if (!out->node)
		return -ENOMEM;
	for (uint32_t i = 0; i < from->nnodes; i++) {
		uint32_t node = from == to ? i : dl_fabric_find_guid(to, from->nodes[i].guid);

		if (node != DL_NONE && to->nodes[node].type != from->nodes[i].type)
			node = DL_NONE;
		out->node[i] = node;
	}
	return 0;
}

void dl_fabric_match_release(struct dl_fabric_match *m)
{
	free(m->node);
	memset(m, 0, sizeof(*m));
}

uint16_t dl_fabric_match_lid(const struct dl_fabric_match *m, uint16_t lid)
{
	uint32_t port = lid > m->from->top_lid ? DL_NONE : m->from->lid_port[lid];
	uint32_t there = port == DL_NONE ? DL_NONE : dl_fabric_match_port(m, port);
	uint16_t offset;

	if (there == DL_NONE || !m->to->ports[there].lid)
		return 0;
	offset = lid - m->from->ports[port].lid;
	return offset >> m->to->ports[there].lmc ? 0 : m->to->ports[there].lid + offset;
}

bool dl_fabric_match_has_cable(const struct dl_fabric_match *m, uint32_t port)
{
	uint32_t peer = m->from->ports[port].peer, there = dl_fabric_match_port(m, port);

	peer = peer == DL_NONE ? DL_NONE : dl_fabric_match_port(m, peer);
	return there != DL_NONE && peer != DL_NONE && m->to->ports[there].peer == peer;
}

bool dl_fabric_match_recabled(const struct dl_fabric_match *m, uint32_t sw, unsigned int port)
{
	const struct dl_fabric_node *node = dl_fabric_switch_node(m->from, sw);
	uint32_t here = node->first_port + port;

	return port && port <= node->nports && m->from->ports[here].peer != DL_NONE &&
	       !dl_fabric_match_has_cable(m, here);
}

bool dl_fabric_same_cables(const struct dl_fabric *a, const struct dl_fabric *b)
{
	if (a->nports != b->nports || a->nnodes != b->nnodes || a->top_lid != b->top_lid)
		return false;
	for (uint32_t n = 0; n < a->nnodes; n++)
		if (a->nodes[n].guid != b->nodes[n].guid ||
		    a->nodes[n].nports != b->nodes[n].nports)
			return false;
	for (uint32_t p = 0; p < a->nports; p++)
		if (a->ports[p].peer != b->ports[p].peer || a->ports[p].lid != b->ports[p].lid)
			return false;
	return true;
}
