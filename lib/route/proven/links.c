/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The fabric as links between switches: those of the torus, and all other
 * cables from switch to switch as well.
 *
 * Cables are merged that join the same two switches and carry the same
 * directions at both ends: the SL-to-VL maps treat them alike.  Complexity:
 * cables times cables per switch.
 */
#include <errno.h>
#include <string.h>

#include "route/proven/internal.h"

/* Do two ports of a switch belong to the same link? */
static bool alike(const struct dl_torus *t, uint32_t a, uint32_t b)
{
	const struct dl_fabric_port *ports = t->fabric->ports;

	return t->port_dir[a] == t->port_dir[b] &&
	       dl_fabric_peer_node(t->fabric, a) ==
		       dl_fabric_peer_node(t->fabric, b) &&
	       t->port_dir[ports[a].peer] == t->port_dir[ports[b].peer];
}

/* Does a link start at this port: from a switch to another switch? */
static bool leads_on(const struct dl_torus *t, uint32_t port)
{
	uint32_t next = dl_fabric_peer_switch(t->fabric, port);

	return next != DL_NONE && dl_fabric_peer_node(t->fabric, port) !=
					  t->fabric->ports[port].node;
}

static void list_links(struct dl_repair_net *net, uint32_t s, uint32_t *nports)
{
	const struct dl_torus *t = net->torus;
	const struct dl_fabric *f = t->fabric;
	const struct dl_fabric_node *n = &f->nodes[f->switches[s]];
	uint32_t p, q, end = n->first_port + n->nports + 1;

	for (p = n->first_port + 1; p < end; p++) {
		struct dl_repair_link *link = &net->links[net->nlinks];

		if (!leads_on(t, p))
			continue;
		for (q = n->first_port + 1; q < p; q++)
			if (leads_on(t, q) && alike(t, p, q))
				break;
		if (q < p)
			continue;
		link->from = s;
		link->to = dl_fabric_peer_switch(f, p);
		link->dir = t->port_dir[p];
		link->index = net->nlinks - net->first[s];
		link->ports = *nports;
		link->back = p; /* a port, until join_both_ways() */
		for (q = p; q < end; q++)
			if (leads_on(t, q) && alike(t, p, q))
				net->ports[(*nports)++] = f->ports[q].num;
		link->nports = *nports - link->ports;
		if (link->dir < DL_TORUS_DIRS)
			net->dir_index[s * DL_TORUS_DIRS + link->dir] =
				link->index;
		net->nlinks++;
	}
}

/* The link that leaves through this port. */
static uint32_t link_of(const struct dl_repair_net *net, uint32_t port)
{
	const struct dl_fabric *f = net->torus->fabric;
	const struct dl_fabric_port *p = &f->ports[port];
	uint32_t s = f->nodes[p->node].sw, l;

	for (l = net->first[s]; l + 1 < net->first[s + 1]; l++)
		if (memchr(net->ports + net->links[l].ports, p->num,
			   net->links[l].nports))
			break;
	return l;
}

static void join_both_ways(struct dl_repair_net *net)
{
	const struct dl_torus *t = net->torus;
	uint32_t l, s;

	for (l = 0; l < net->nlinks; l++)
		net->links[l].back =
			link_of(net, t->fabric->ports[net->links[l].back].peer);
	for (s = 0; s < net->nsw; s++) {
		for (l = net->first[s]; l < net->first[s + 1]; l++) {
			net->links[net->links[l].back].pair = net->npairs;
			net->npairs += net->first[s + 1] - net->first[s];
		}
		if (t->uplink[s] != DL_NONE)
			net->uplink_index[s] =
				net->links[link_of(net, t->uplink[s])].index;
	}
}

/* The maps of rules A6 at QoS level 0, taken from where they are defined. */
static void fill_transitions(struct dl_repair_net *net)
{
	unsigned int between = dl_route_vls_of(net->torus).between;
	struct dl_route_vls vls = { between < 4 ? between : 4, 1 };
	unsigned int in, out, sl;

	for (in = 0; in <= DL_TORUS_DIRS; in++) {
		for (out = 0; out <= DL_TORUS_DIRS; out++) {
			dl_tables_sl2vl_row row = dl_route_sl2vl(in, out, &vls);

			for (sl = 0; sl < DL_REPAIR_SLS; sl++) {
				unsigned int vl = dl_tables_sl2vl_get(row, sl);
				unsigned int class =
					sl + (vl & 2 ? DL_REPAIR_SLS : 0);

				net->transition[in][out][sl] =
					(struct dl_repair_transition){ class,
								       vl };
				net->vl[out][class] = vl;
			}
		}
	}
}

int dl_repair_net_init(struct dl_repair_net *net, struct dl_arena *arena,
		       const struct dl_torus *t)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t s, nports = 0;

	memset(net, 0, sizeof(*net));
	net->torus = t;
	net->nsw = f->nswitches;
	if (!(DL_REPAIR_NEW(arena, net->links, f->nports) &&
	      DL_REPAIR_NEW(arena, net->ports, f->nports) &&
	      DL_REPAIR_NEW(arena, net->first, net->nsw) &&
	      DL_REPAIR_NEW(arena, net->dir_index, net->nsw * DL_TORUS_DIRS) &&
	      DL_REPAIR_NEW(arena, net->uplink_index, net->nsw)))
		return -ENOMEM;
	memset(net->dir_index, DL_REPAIR_NO_LINK, net->nsw * DL_TORUS_DIRS);
	memset(net->uplink_index, DL_REPAIR_NO_LINK, net->nsw);
	for (s = 0; s < net->nsw; s++) {
		net->first[s] = net->nlinks;
		list_links(net, s, &nports);
	}
	net->first[s] = net->nlinks;
	join_both_ways(net);
	fill_transitions(net);
	return 0;
}
