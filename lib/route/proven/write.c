/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From paths between switches to forwarding entries and cables.
 *
 * Only entries that differ from DOR's are written.  Parallel cables of a link
 * that DOR does not name are used in turn by the LIDs of the destination's
 * switch.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "route/proven/internal.h"

/* ---- forwarding -------------------------------------------------------- */

/* LIDs by target, side by side. */
struct lids {
	uint32_t *first; /* by target */
	uint16_t *list;
};

static int list_lids(const struct dl_repair_net *net, struct dl_arena *arena, struct lids *l)
{
	const struct dl_fabric *f = net->torus->fabric;
	uint32_t lid, t;

	if (!(DL_REPAIR_NEW(arena, l->first, net->ntargets + 1) &&
	      DL_REPAIR_NEW(arena, l->list, f->top_lid)))
		return -ENOMEM;
	/* first[t + 2] counts, then first[t + 1] is where t goes on. */
	for (lid = 1; lid <= f->top_lid; lid++) {
		t = net->lid_target[lid];
		if (t != DL_NONE)
			l->first[t + 2]++;
	}
	for (t = 0; t < net->ntargets; t++)
		l->first[t + 1] += l->first[t];
	for (lid = 1; lid <= f->top_lid; lid++) {
		t = net->lid_target[lid];
		if (t != DL_NONE)
			l->list[l->first[t + 1]++] = lid;
	}
	return 0;
}

#define TURNS 840 /* as in unicast.c */

/* Send all LIDs of a target over a link; returns what changed. */
static uint64_t write_entries(const struct dl_route_pass *p, const struct dl_repair_net *net,
			      const struct dl_repair_link *link, const uint16_t *lids, uint32_t n)
{
	struct dl_tables *t = p->out->tables;
	uint8_t *row = &t->lft[link->from * (size_t)t->stride], turns[TURNS];
	uint64_t changed = 0;

	dl_route_take_turns(p, link->from, net->ports + link->ports, link->nports, turns,
			    n < TURNS ? n : TURNS);
	for (uint32_t i = 0; i < n; i++) {
		uint8_t port = turns[i % TURNS];

		changed += row[lids[i]] != port;
		row[lids[i]] = port;
	}
	return changed;
}

/* Returns at how many switches packets to this one take another next hop. */
static uint32_t write_destination(const struct dl_repair_paths *p, const struct dl_repair_dor *d,
				  const uint16_t *lids, uint32_t n,
				  const struct dl_route_pass *pass)
{
	struct dl_route_report *report = &pass->out->report;
	const struct dl_repair_net *net = p->net;
	const struct dl_repair_link *link;
	uint32_t s, changed = 0;
	uint64_t entries;

	for (s = 0; s < net->nsw; s++) {
		if (s == d->to)
			continue;
		link = &net->links[dl_repair_next(p, d->target, s)];
		/* Where the path is DOR's, the entries are there or not. */
		if (link->index == d->next[s] &&
		    (!n || dl_tables_lft(pass->out->tables, s, lids[0]) != DL_TABLES_NO_PORT))
			continue;
		entries = write_entries(pass, net, link, lids, n);
		if (link->index == d->next[s]) {
			report->entries_filled += entries;
		} else {
			report->entries_changed += entries;
			changed++;
		}
	}
	return changed;
}

int dl_repair_write(const struct dl_repair_paths *p, struct dl_repair_dor *d, const bool *open,
		    const bool *tree_routed, struct dl_route_pass *pass)
{
	const struct dl_fabric *f = pass->torus->fabric;
	struct dl_route_report *report = &pass->out->report;
	struct lids lids;
	uint32_t to, n, changed;
	int err = list_lids(p->net, &pass->arena, &lids);

	report->changed = report->rerouted = 0;
	report->entries = report->entries_changed = 0;
	report->entries_filled = 0;
	for (to = 0; !err && to < p->net->ntargets; to++) {
		n = lids.first[to + 1] - lids.first[to];
		report->entries += (uint64_t)n * p->net->nsw;
		if (!open[to])
			continue;
		dl_repair_dor_find(p, to, d);
		changed = write_destination(p, d, lids.list + lids.first[to], n, pass);
		report->changed += changed;
		report->rerouted += changed > 0;
		if (changed)
			dl_log(pass->log, DL_LOG_VERBOSE,
			       "proven: packets to switch 0x%016" PRIx64
			       " \"%s\" rerouted at %u switch%s%s",
			       dl_fabric_switch_node(f, d->to)->guid,
			       dl_fabric_node_name(f, f->switches[d->to]), changed,
			       changed == 1 ? "" : "es",
			       tree_routed[to] ? ", along the multicast tree" : "");
	}
	return err;
}

/* ---- the tree ---------------------------------------------------------- */

int dl_repair_write_tree(const struct dl_repair_tree *s, struct dl_route_tree **out)
{
	const struct dl_repair_net *net = s->cdg->net;
	const struct dl_fabric *f = net->torus->fabric;
	struct dl_route_tree *tree = dl_route_tree_new(net->nsw, f->nports);
	uint32_t sw, k, total = 0;

	if (!tree)
		return -ENOMEM;
	tree->root = s->root;
	tree->norder = s->norder;
	memcpy(tree->order, s->order, s->norder * sizeof(*tree->order));
	for (sw = 0; sw < net->nsw; sw++) {
		const struct dl_repair_link *link;

		tree->cable_first[sw] = total;
		if (s->up[sw] == DL_NONE)
			continue;
		link = &net->links[s->up[sw]];
		tree->parent[sw] = link->to;
		for (k = 0; k < link->nports; k++)
			tree->cables[total++] = dl_fabric_switch_node(f, sw)->first_port +
						net->ports[link->ports + k];
	}
	tree->cable_first[sw] = total;
	*out = tree;
	return 0;
}
