/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The fabric as hops between switches: those of the torus, and all other
 * cables from switch to switch as well.
 *
 * Cables are merged that join the same two switches and carry the same
 * directions at both ends: the SL-to-VL maps treat them alike.  Complexity:
 * cables times cables per switch.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "route/proven/internal.h"

/* Do two ports of a switch belong to the same hop? */
static bool alike(const struct dl_torus *t, uint32_t a, uint32_t b)
{
	const struct dl_fabric_port *ports = t->fabric->ports;

	return t->port_dir[a] == t->port_dir[b] &&
	       dl_fabric_peer_node(t->fabric, a) ==
		       dl_fabric_peer_node(t->fabric, b) &&
	       t->port_dir[ports[a].peer] == t->port_dir[ports[b].peer];
}

/* Does a hop start at this port: from switch to another switch, as first? */
static bool leads_on(const struct dl_torus *t, uint32_t port)
{
	uint32_t next = dl_fabric_peer_switch(t->fabric, port);

	return next != DL_NONE && dl_fabric_peer_node(t->fabric, port) !=
					  t->fabric->ports[port].node;
}

static void list_hops(struct dl_repair_net *net, uint32_t s, uint32_t *nports)
{
	const struct dl_torus *t = net->torus;
	const struct dl_fabric *f = t->fabric;
	const struct dl_fabric_node *n = &f->nodes[f->switches[s]];
	uint32_t p, q;

	for (p = n->first_port + 1; p <= n->first_port + n->nports; p++) {
		struct dl_repair_link *hop = &net->hops[net->nhops];

		if (!leads_on(t, p))
			continue;
		for (q = n->first_port + 1; q < p; q++)
			if (leads_on(t, q) && alike(t, p, q))
				break;
		if (q < p)
			continue;
		hop->from = s;
		hop->to = dl_fabric_peer_switch(f, p);
		hop->dir = t->port_dir[p];
		hop->slot = net->nhops - net->first[s];
		hop->ports = *nports;
		hop->back = p; /* a port, until find_backs() */
		for (q = p; q <= n->first_port + n->nports; q++)
			if (leads_on(t, q) && alike(t, p, q))
				net->ports[(*nports)++] = f->ports[q].num;
		hop->nports = *nports - hop->ports;
		if (hop->dir < DL_TORUS_DIRS)
			net->dir_slot[s * DL_TORUS_DIRS + hop->dir] = hop->slot;
		net->nhops++;
	}
}

/* The hop that leaves through this port. */
static uint32_t hop_of(const struct dl_repair_net *net, uint32_t port)
{
	const struct dl_fabric *f = net->torus->fabric;
	const struct dl_fabric_port *p = &f->ports[port];
	uint32_t s = f->nodes[p->node].sw, h;

	for (h = net->first[s]; h + 1 < net->first[s + 1]; h++)
		if (memchr(net->ports + net->hops[h].ports, p->num,
			   net->hops[h].nports))
			break;
	return h;
}

/* By which hop odd switches begin their way home. */
static void find_homes(struct dl_repair_net *net)
{
	const struct dl_torus *t = net->torus;
	uint32_t s;

	for (s = 0; s < net->nsw; s++)
		net->home_slot[s] =
			t->uplink[s] == DL_NONE ?
				DL_REPAIR_NO_LINK :
				net->hops[hop_of(net, t->uplink[s])].slot;
}

static void find_backs(struct dl_repair_net *net)
{
	const struct dl_fabric *f = net->torus->fabric;
	uint32_t h, s, pair = 0, *pair_first = net->first;

	for (h = 0; h < net->nhops; h++)
		net->hops[h].back =
			hop_of(net, f->ports[net->hops[h].back].peer);
	for (s = 0; s < net->nsw; s++) {
		uint32_t k = dl_repair_nlinks(net, s);

		for (h = pair_first[s]; h < pair_first[s + 1]; h++) {
			net->hops[net->hops[h].back].pair = pair;
			pair += k;
		}
	}
	net->npairs = pair;
}

/* The maps of rules A6 at QoS level 0, taken from where they are defined. */
static void fill_lanes(struct dl_repair_net *net, unsigned int vls_between)
{
	struct dl_route_vls vls = { vls_between < 4 ? vls_between : 4, 1 };
	unsigned int in, out, sl;

	for (in = 0; in <= DL_TORUS_DIRS; in++) {
		for (out = 0; out <= DL_TORUS_DIRS; out++) {
			dl_tables_sl2vl_row row = dl_route_sl2vl(in, out, &vls);

			for (sl = 0; sl < DL_REPAIR_SLS; sl++) {
				unsigned int vl = dl_tables_sl2vl_get(row, sl);
				unsigned int kind = sl + (vl & 2 ? 8 : 0);

				net->lane[in][out][sl].vl = vl;
				net->lane[in][out][sl].kind = kind;
				net->vl[out][kind] = vl;
			}
		}
	}
}

int dl_repair_net_init(struct dl_repair_net *net, const struct dl_torus *t,
		       unsigned int vls_between)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t s, nports = 0;

	memset(net, 0, sizeof(*net));
	net->torus = t;
	net->nsw = f->nswitches;
	net->hops = malloc((f->nports + 1) * sizeof(*net->hops));
	net->ports = malloc(f->nports + 1);
	net->first = malloc((net->nsw + 1) * sizeof(*net->first));
	net->dir_slot = malloc(net->nsw * DL_TORUS_DIRS + 1);
	net->home_slot = malloc(net->nsw + 1);
	if (!net->hops || !net->ports || !net->first || !net->dir_slot ||
	    !net->home_slot) {
		dl_repair_net_release(net);
		return -ENOMEM;
	}
	memset(net->dir_slot, DL_REPAIR_NO_LINK, net->nsw * DL_TORUS_DIRS);
	for (s = 0; s < net->nsw; s++) {
		net->first[s] = net->nhops;
		list_hops(net, s, &nports);
	}
	net->first[s] = net->nhops;
	find_backs(net);
	find_homes(net);
	fill_lanes(net, vls_between);
	return 0;
}

void dl_repair_net_release(struct dl_repair_net *net)
{
	free(net->hops);
	free(net->ports);
	free(net->first);
	free(net->dir_slot);
	free(net->home_slot);
	memset(net, 0, sizeof(*net));
}
