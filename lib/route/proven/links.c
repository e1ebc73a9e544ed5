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

/* Do two cables out of a switch belong to the same link? */
static bool links_alike(const struct dl_torus *t, const struct dl_fabric_links *cables, uint32_t a,
			uint32_t b)
{
	const struct dl_fabric_link *p = &cables->link[a];
	const struct dl_fabric_link *q = &cables->link[b];

	return p->to == q->to && t->port_dir[p->port] == t->port_dir[q->port] &&
	       t->port_dir[cables->link[p->back].port] == t->port_dir[cables->link[q->back].port];
}

/* Merge the cables out of a switch; link_of[cable] is DL_NONE until then. */
static void list_links(struct dl_repair_net *net, const struct dl_fabric_links *cables, uint32_t s,
		       uint32_t *link_of, uint32_t *nports)
{
	const struct dl_torus *t = net->torus;
	uint32_t a, b, end = cables->first[s + 1];

	net->first[s] = net->nlinks;
	for (a = cables->first[s]; a < end; a++) {
		struct dl_repair_link *link = &net->links[net->nlinks];

		if (cables->link[a].to == s || link_of[a] != DL_NONE)
			continue;
		link->from = s;
		link->to = cables->link[a].to;
		link->dir = t->port_dir[cables->link[a].port];
		link->index = net->nlinks - net->first[s];
		link->ports = *nports;
		link->back = cables->link[a].back; /* until join_ways() */
		for (b = a; b < end; b++)
			if (links_alike(t, cables, a, b)) {
				link_of[b] = net->nlinks;
				net->ports[(*nports)++] = cables->link[b].out;
			}
		link->nports = *nports - link->ports;
		if (link->dir < DL_TORUS_DIRS)
			net->dir_index[s * DL_TORUS_DIRS + link->dir] = link->index;
		net->nlinks++;
	}
}

static void join_ways(struct dl_repair_net *net, const struct dl_fabric_links *cables,
		      const uint32_t *link_of)
{
	const uint32_t *uplink = net->torus->uplink;
	uint32_t l, s;

	for (s = 0; s < net->nsw; s++) {
		for (l = net->first[s]; l < net->first[s + 1]; l++) {
			net->links[l].back = link_of[net->links[l].back];
			net->links[net->links[l].back].pair = net->npairs;
			net->npairs += net->first[s + 1] - net->first[s];
		}
		if (uplink[s] != DL_NONE)
			net->uplink_index[s] =
				net->links[link_of[cables->of_port[uplink[s]]]].index;
	}
}

/* The maps of rules A6 at QoS level 0, taken from where they are defined. */
static void fill_transitions(struct dl_repair_net *net, const struct dl_route_vls *have)
{
	struct dl_route_vls vls = { have->between, 1, have->any_sl };
	unsigned int in, out, sl;

	/* Classic maps of level 0 are those of 4 VLs. */
	if (!vls.any_sl && vls.between > 4)
		vls.between = 4;

	for (in = 0; in <= DL_TORUS_DIRS; in++) {
		for (out = 0; out <= DL_TORUS_DIRS; out++) {
			dl_tables_sl2vl_row row = dl_route_sl2vl(in, out, &vls);

			for (sl = 0; sl < DL_REPAIR_SLS; sl++) {
				unsigned int vl = dl_tables_sl2vl_get(row, sl);
				unsigned int class = sl + (vl & 2 ? DL_REPAIR_SLS : 0);

				if (vls.any_sl)
					class = vl;

				net->transition[in][out][sl] =
					(struct dl_repair_transition){ class, vl };
				net->vl[out][class] = vl;
			}
		}
	}
}

/* A switch's LIDs of parity 0, or of parity 1 if it has no others, come first. */
static int list_targets(struct dl_repair_net *net, struct dl_route_pass *p)
{
	const struct dl_fabric *f = p->torus->fabric;
	uint32_t lid, s, *target[2];

	if (!(DL_REPAIR_NEW(&p->arena, net->target_sw, 2 * (size_t)net->nsw) &&
	      DL_REPAIR_NEW(&p->arena, net->target_parity, 2 * (size_t)net->nsw) &&
	      DL_REPAIR_NEW(&p->arena, net->lid_target, f->top_lid) &&
	      DL_REPAIR_NEW(&p->arena, target[0], net->nsw) &&
	      DL_REPAIR_NEW(&p->arena, target[1], net->nsw)))
		return -ENOMEM;
	for (lid = 0; lid <= f->top_lid; lid++) {
		net->lid_target[lid] = f->lid_port[lid] == DL_NONE ?
					       DL_NONE :
					       dl_fabric_access_switch(f, f->lid_port[lid]);
		if (net->lid_target[lid] != DL_NONE)
			target[dl_route_lid_parity(p, lid)][net->lid_target[lid]] = 1;
	}
	net->ntargets = net->nsw;
	for (s = 0; s < net->nsw; s++) {
		net->target_sw[s] = s;
		net->target_parity[s] = target[1][s] && !target[0][s];
		if (target[0][s] && target[1][s]) {
			net->target_sw[net->ntargets] = s;
			net->target_parity[net->ntargets] = 1;
			target[1][s] = net->ntargets++;
		} else {
			target[1][s] = s;
		}
	}
	for (lid = 0; lid <= f->top_lid; lid++)
		if (net->lid_target[lid] != DL_NONE && dl_route_lid_parity(p, lid))
			net->lid_target[lid] = target[1][net->lid_target[lid]];
	return 0;
}

int dl_repair_net_init(struct dl_repair_net *net, struct dl_route_pass *p)
{
	uint32_t nsw = p->torus->fabric->nswitches, s, nports = 0, *link_of;
	struct dl_fabric_links cables;
	int err = dl_fabric_links_init(&cables, p->torus->fabric);

	*net = (struct dl_repair_net){
		.torus = p->torus, .nsw = nsw, .rule = &p->rule, .leaf = p->leaf
	};
	if (!err && !(DL_REPAIR_NEW(&p->arena, link_of, cables.n) &&
		      DL_REPAIR_NEW(&p->arena, net->links, cables.n) &&
		      DL_REPAIR_NEW(&p->arena, net->ports, cables.n) &&
		      DL_REPAIR_NEW(&p->arena, net->first, nsw) &&
		      DL_REPAIR_NEW(&p->arena, net->dir_index, nsw * DL_TORUS_DIRS) &&
		      DL_REPAIR_NEW(&p->arena, net->uplink_index, nsw)))
		err = -ENOMEM;
	if (err)
		goto out;
	memset(link_of, 0xFF, cables.n * sizeof(*link_of)); /* DL_NONE */
	memset(net->dir_index, DL_REPAIR_NO_LINK, nsw * DL_TORUS_DIRS);
	memset(net->uplink_index, DL_REPAIR_NO_LINK, nsw);
	for (s = 0; s < nsw; s++)
		list_links(net, &cables, s, link_of, &nports);
	net->first[s] = net->nlinks;
	join_ways(net, &cables, link_of);
	fill_transitions(net, &p->vls);
	err = list_targets(net, p);
out:
	dl_fabric_links_release(&cables);
	return err;
}
