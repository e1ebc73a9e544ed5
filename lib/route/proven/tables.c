/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From routes between switches to forwarding entries and cables, and the
 * proof of the result.
 *
 * Only entries that differ from the plain rule's are written.  Parallel cables
 * of a hop that the rule does not name are used in turn by the LIDs of the
 * destination's switch.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/base.h"
#include "route/proven/internal.h"
#include "dateline/verify.h"

#define MAX_GROUPS 32 /* choices of parallel cables that are proven */

/* ---- forwarding -------------------------------------------------------- */

/* LIDs by the switch they hang on, side by side. */
static int list_lids(const struct dl_fabric *f, uint32_t **first,
		     uint16_t **lids)
{
	uint32_t lid, s, *at = calloc(f->nswitches + 2, sizeof(*at));
	uint16_t *list = malloc((f->top_lid + 1) * sizeof(*list));

	if (!at || !list) {
		free(at);
		free(list);
		return -ENOMEM;
	}
	/* at[s + 2] counts, then at[s + 1] is where s goes on. */
	for (lid = 1; lid <= f->top_lid; lid++) {
		s = f->lid_port[lid] == DL_NONE ?
			    DL_NONE :
			    dl_fabric_access_switch(f, f->lid_port[lid]);
		if (s != DL_NONE && s + 2 < f->nswitches + 2)
			at[s + 2]++;
	}
	for (s = 0; s < f->nswitches; s++)
		at[s + 1] += at[s];
	for (lid = 1; lid <= f->top_lid; lid++) {
		s = f->lid_port[lid] == DL_NONE ?
			    DL_NONE :
			    dl_fabric_access_switch(f, f->lid_port[lid]);
		if (s != DL_NONE)
			list[at[s + 1]++] = lid;
	}
	*first = at;
	*lids = list;
	return 0;
}

static void write_switch(struct dl_tables *t, uint32_t sw, const uint16_t *lids,
			 uint32_t n, const uint8_t *ports, unsigned int nports,
			 uint64_t *changed)
{
	uint8_t *row = &t->lft[sw * (size_t)t->stride];
	uint32_t i;

	for (i = 0; i < n; i++) {
		uint8_t port = ports[i % nports];

		*changed += row[lids[i]] != port;
		row[lids[i]] = port;
	}
}

/* Has the plain rule filled these entries? */
static bool is_routed(const struct dl_tables *t, uint32_t sw,
		      const uint16_t *lids, uint32_t n)
{
	return !n || dl_tables_lft(t, sw, lids[0]) != DL_TABLES_NO_PORT;
}

static void name_mended(const struct dl_fabric *f, uint32_t to, uint32_t n,
			bool along_tree, const struct dl_log *log)
{
	const struct dl_fabric_node *node = &f->nodes[f->switches[to]];

	if (n)
		dl_log(log, DL_LOG_VERBOSE,
		       "proven: to switch 0x%016" PRIx64
		       " \"%s\" and what hangs on it %u switches send by "
		       "another hop%s",
		       node->guid, dl_fabric_node_name(f, f->switches[to]), n,
		       along_tree ? ", along the multicast tree" : "");
}

int dl_repair_write(const struct dl_repair_flows *f, const bool *open,
		    const bool *along_tree, struct dl_tables *tables,
		    struct dl_route_report *report, const struct dl_log *log)
{
	const struct dl_repair_net *net = f->net;
	uint8_t *rule = malloc(net->nsw + 1);
	uint32_t *first = NULL, s, to;
	uint16_t *lids = NULL;
	int err = rule ? list_lids(tables->fabric, &first, &lids) : -ENOMEM;

	for (to = 0; !err && to < net->nsw; to++) {
		const uint8_t *via = &f->via[to * (size_t)net->nsw];
		uint32_t changed = report->changed;
		uint32_t n = first[to + 1] - first[to];

		report->entries += (uint64_t)n * net->nsw;
		if (!open[to])
			continue;
		dl_repair_flows_dor(f, to, rule);
		for (s = 0; s < net->nsw; s++) {
			const struct dl_repair_link *hop;

			if (s == to ||
			    (via[s] == rule[s] &&
			     is_routed(tables, s, lids + first[to], n)))
				continue;
			hop = &net->hops[net->first[s] + via[s]];
			report->changed += via[s] != rule[s];
			write_switch(tables, s, lids + first[to], n,
				     net->ports + hop->ports, hop->nports,
				     via[s] == rule[s] ?
					     &report->entries_filled :
					     &report->entries_changed);
		}
		report->rerouted += report->changed > changed;
		name_mended(tables->fabric, to, report->changed - changed,
			    along_tree[to], log);
	}
	free(rule);
	free(first);
	free(lids);
	return err;
}

/* ---- the tree ---------------------------------------------------------- */

int dl_repair_tree(const struct dl_repair_net *net,
		   const struct dl_repair_span *s, struct dl_route_tree **out)
{
	const struct dl_fabric *f = net->torus->fabric;
	struct dl_route_tree *tree = dl_route_tree_new(net->nsw);
	uint32_t sw, k, total = 0;

	if (tree)
		tree->cables = malloc((f->nports + 1) * sizeof(*tree->cables));
	if (!tree || !tree->cables) {
		dl_route_tree_free(tree);
		return -ENOMEM;
	}
	tree->root = s->root;
	tree->norder = s->norder;
	memcpy(tree->order, s->order, s->norder * sizeof(*tree->order));
	for (sw = 0; sw < net->nsw; sw++) {
		const struct dl_repair_link *hop;

		tree->cable_first[sw] = total;
		if (s->up[sw] == DL_NONE)
			continue;
		hop = &net->hops[s->up[sw]];
		tree->parent[sw] = hop->to;
		for (k = 0; k < hop->nports; k++)
			tree->cables[total++] =
				f->nodes[f->switches[sw]].first_port +
				net->ports[hop->ports + k];
	}
	tree->cable_first[sw] = total;
	*out = tree;
	return 0;
}

/* ---- the proof --------------------------------------------------------- */

/* After so many MLIDs the choice of cables starts again. */
static unsigned int cable_choices(const struct dl_route_tree *tree)
{
	unsigned int choices = 1, a, b, rest;
	uint32_t s;

	for (s = 0; s < tree->nswitches; s++) {
		unsigned int n =
			tree->cable_first[s + 1] - tree->cable_first[s];

		if (!n)
			continue;
		for (a = choices, b = n; b; a = b, b = rest)
			rest = a % b;
		choices = choices / a * n;
		if (choices > MAX_GROUPS)
			return MAX_GROUPS;
	}
	return choices;
}

static int add_groups(struct dl_tables *t, const struct dl_route_tree *tree)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t *members = malloc((f->nports + 1) * sizeof(*members));
	unsigned int i, choices = cable_choices(tree);
	uint32_t p, n = 0;
	int err = members ? 0 : -ENOMEM;

	for (p = 0; !err && p < f->nports; p++)
		if (f->ports[p].lid && dl_fabric_is_end_port(f, p))
			members[n++] = p;
	for (i = 0; !err && i < choices; i++) {
		struct dl_tables_mcast_group *g =
			dl_tables_group(t, DL_TABLES_MCAST_LID + i);

		err = g ? dl_route_tree_group(tree, f, DL_TABLES_MCAST_LID + i,
					      members, n, g->masks) :
			  -ENOMEM;
	}
	free(members);
	return err;
}

static void name_step(const struct dl_fabric *f, const struct dl_cycle_step *s,
		      const struct dl_log *log)
{
	const struct dl_fabric_port *p = &f->ports[s->port];

	dl_log(log, DL_LOG_ERROR,
	       "  switch 0x%016" PRIx64 " \"%s\" port %u VL %u",
	       f->nodes[p->node].guid, dl_fabric_node_name(f, p->node), p->num,
	       s->vl);
}

bool dl_repair_is_safe(const struct dl_verify_result *v,
		       const struct dl_log *log)
{
	uint32_t i;

	if (v->delivered && !v->credit_loop && !v->without_sl && !v->without_vl)
		return true;
	dl_log(log, DL_LOG_ERROR,
	       "the proof of the new tables failed: %" PRIu64 " of %" PRIu64
	       " pairs and %u multicast groups not delivered, a credit loop "
	       "over %u channels",
	       v->nlost, v->pairs, v->groups_lost, v->cycle.n);
	for (i = 0; i < v->cycle.n; i++)
		name_step(v->fabric, &v->cycle.steps[i], log);
	return false;
}

int dl_route_verify(struct dl_tables *tables, const struct dl_route_tree *tree,
		    struct dl_verify_result **out)
{
	int err = add_groups(tables, tree);

	if (!err)
		err = dl_verify(tables, NULL, NULL, out);
	while (tables->ngroups)
		free(tables->groups[--tables->ngroups].masks);
	return err;
}
