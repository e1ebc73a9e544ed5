/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Routing without what is avoided (rules A15).
 *
 * Routing sees a torus and a fabric in which avoided cables are not plugged in.  An
 * avoided switch keeps its place: to packets that would pass it, it is a hole (rings.c,
 * tree.c), to those that begin or end at it or its adapters it is there.  Nodes, ports,
 * LIDs, coordinates and so path SLs keep their numbers; SL-to-VL maps and VL
 * arbitration are those of the whole torus, so nothing but forwarding changes when
 * something is taken out of use or put back.
 *
 * Complexity: linear in the ports.
 */
#include <errno.h>
#include <string.h>

#include "route/internal.h"

/* The fabric without the cables that are cut; the rest is shared. */
static int transit_fabric(struct dl_route_pass *p, const bool *cut, struct dl_fabric **out)
{
	const struct dl_fabric *f = p->whole->fabric;
	struct dl_fabric *copy = dl_arena_alloc(&p->arena, sizeof(*copy));
	struct dl_fabric_port *ports =
		dl_arena_alloc(&p->arena, (f->nports + 1ul) * sizeof(*ports));

	if (!copy || !ports)
		return -ENOMEM;
	memcpy(ports, f->ports, f->nports * sizeof(*ports));
	for (uint32_t i = 0; i < f->nports; i++)
		if (cut[i])
			ports[i].peer = DL_NONE;
	*copy = *f;
	copy->ports = ports;
	*out = copy;
	return 0;
}

/* The ports of each direction, without those of cut cables. */
static void transit_groups(struct dl_torus *t, const bool *cut)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t n = 0, from = t->group_first[0];

	for (uint32_t g = 0; g < f->nswitches * DL_TORUS_DIRS; g++) {
		uint32_t first = dl_fabric_switch_node(f, g / DL_TORUS_DIRS)->first_port;
		uint32_t end = t->group_first[g + 1];

		t->group_first[g] = n;
		for (; from < end; from++)
			if (!cut[first + t->group_ports[from]])
				t->group_ports[n++] = t->group_ports[from];
	}
	t->group_first[f->nswitches * DL_TORUS_DIRS] = n;
}

/* An off-torus switch's uplink goes by another cable to the same switch, or ends. */
static void transit_uplink(const struct dl_torus *whole, const struct dl_route_avoided *a,
			   struct dl_torus *t, uint32_t sw)
{
	const struct dl_fabric_node *n = dl_fabric_switch_node(t->fabric, sw);
	uint32_t next = dl_torus_uplink_switch(whole, sw);

	t->uplink[sw] = DL_NONE;
	for (unsigned int p = 1; next != DL_NONE && !a->leaf[next] && p <= n->nports; p++) {
		if (dl_fabric_peer_switch(t->fabric, n->first_port + p) != next)
			continue;
		t->uplink[sw] = n->first_port + p;
		return;
	}
}

int dl_route_transit(struct dl_route_pass *p)
{
	const struct dl_route_avoided *a = p->options->avoid;
	const struct dl_torus *whole = p->whole;
	uint32_t ngroups = whole->fabric->nswitches * DL_TORUS_DIRS;
	size_t first_size = (ngroups + 1ul) * sizeof(*whole->group_first);
	struct dl_torus *t = dl_arena_alloc(&p->arena, sizeof(*t));
	struct dl_fabric *f;
	int err = t ? transit_fabric(p, a->cut, &f) : -ENOMEM;

	if (err)
		return err;
	*t = *whole;
	t->fabric = f;
	t->group_first = dl_arena_alloc(&p->arena, first_size);
	t->group_ports = dl_arena_alloc(&p->arena, whole->group_first[ngroups] + 1ul);
	t->uplink = dl_arena_array(&p->arena, f->nswitches + 1ul, sizeof(*t->uplink));
	if (!t->group_first || !t->group_ports || !t->uplink)
		return -ENOMEM;
	memcpy(t->group_first, whole->group_first, first_size);
	memcpy(t->group_ports, whole->group_ports, whole->group_first[ngroups]);
	transit_groups(t, a->cut);
	for (uint32_t s = 0; s < f->nswitches; s++)
		transit_uplink(whole, a, t, s);
	p->torus = t;
	for (uint32_t s = 0; s < f->nswitches; s++)
		if (a->leaf[s])
			p->leaf = a->leaf;
	return 0;
}

/* ---- what uses a cable or a switch ----------------------------------------- */

/* Does this switch forward a LID by this port of it? */
static bool transit_leads(const struct dl_tables *t, uint32_t port, uint32_t lid)
{
	uint32_t sw = t->fabric->nodes[t->fabric->ports[port].node].sw;

	return sw != DL_NONE && dl_tables_lft(t, sw, lid) == t->fabric->ports[port].num;
}

static bool transit_group_leads(const struct dl_tables *t, uint32_t group, uint32_t port)
{
	uint32_t sw = t->fabric->nodes[t->fabric->ports[port].node].sw;

	return sw != DL_NONE &&
	       dl_tables_mask_get(&t->groups[group].masks, sw, t->fabric->ports[port].num);
}

static struct dl_route_avoid_use transit_count_cable(const struct dl_tables *t, uint32_t port)
{
	uint32_t ends[2] = { port, t->fabric->ports[port].peer };
	struct dl_route_avoid_use use = { 0 };

	for (uint32_t lid = 1; lid <= t->top_lid; lid++)
		for (unsigned int i = 0; i < 2; i++)
			use.entries += transit_leads(t, ends[i], lid);
	for (uint32_t g = 0; g < t->ngroups; g++)
		use.groups += transit_group_leads(t, g, ends[0]) ||
			      transit_group_leads(t, g, ends[1]);
	return use;
}

/* Entries of its neighbours that lead to it, for LIDs that are not there. */
static struct dl_route_avoid_use transit_count_switch(const struct dl_tables *t, uint32_t sw)
{
	const struct dl_fabric *f = t->fabric;
	const struct dl_fabric_node *n = dl_fabric_switch_node(f, sw);
	struct dl_route_avoid_use use = { 0 };

	for (unsigned int p = 1; p <= n->nports; p++) {
		if (dl_fabric_peer_switch(f, n->first_port + p) == DL_NONE)
			continue;
		for (uint32_t lid = 1; lid <= t->top_lid; lid++)
			use.entries += transit_leads(t, f->ports[n->first_port + p].peer, lid) &&
				       (f->lid_port[lid] == DL_NONE ||
					dl_fabric_access_switch(f, f->lid_port[lid]) != sw);
	}
	for (uint32_t g = 0; g < t->ngroups; g++) {
		unsigned int links = 0;

		for (unsigned int p = 1; p <= n->nports; p++)
			links += dl_fabric_peer_switch(f, n->first_port + p) != DL_NONE &&
				 transit_group_leads(t, g, n->first_port + p);
		use.groups += links > 1;
	}
	return use;
}

struct dl_route_avoid_use dl_route_avoid_count(const struct dl_route_avoided_item *item,
					       const struct dl_tables *t)
{
	if (item->port == DL_NONE && item->sw == DL_NONE)
		return (struct dl_route_avoid_use){ 0 };
	return item->port == DL_NONE ? transit_count_switch(t, item->sw) :
				       transit_count_cable(t, item->port);
}

/* Is what is out of use in no entry, and in no part of the tree that packets pass? */
bool dl_route_avoid_kept(const struct dl_route_pass *p)
{
	const struct dl_route_avoided *a = p->options->avoid;
	const struct dl_route_tree *tree = p->out->tree;

	for (uint32_t i = 0; a && i < a->n; i++)
		if (a->items[i].state == DL_ROUTE_AVOID_OUT &&
		    dl_route_avoid_count(&a->items[i], p->out->tables).entries)
			return false;
	for (uint32_t s = 0; a && tree && s < tree->nswitches; s++) {
		if (tree->parent[s] != DL_NONE && a->leaf[tree->parent[s]] && tree->norder > 2)
			return false;
		for (uint32_t c = tree->cable_first[s]; c < tree->cable_first[s + 1]; c++)
			if (a->cut[tree->cables[c]])
				return false;
	}
	return true;
}
