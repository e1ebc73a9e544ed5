/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What dl_verify() says of tables and a tree together.
 *
 * Which multicast groups there will be is not known.  Groups of all end ports
 * may do all that any group on the tree may do, if there is one for each choice
 * of parallel cables.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "dateline/base.h"
#include "route/internal.h"

#define MAX_GROUPS 32 /* choices of parallel cables that are verified */

/* After so many MLIDs the choice of cables starts again. */
static unsigned int cable_choices(const struct dl_route_tree *tree)
{
	unsigned int choices = 1, a, b, rest;
	uint32_t s;

	for (s = 0; s < tree->nswitches && choices <= MAX_GROUPS; s++) {
		unsigned int n =
			tree->cable_first[s + 1] - tree->cable_first[s];

		if (!n)
			continue;
		for (a = choices, b = n; b; a = b, b = rest)
			rest = a % b;
		choices = choices / a * n;
	}
	return choices > MAX_GROUPS ? MAX_GROUPS : choices;
}

int dl_route_verify_sls(struct dl_tables *tables,
			const struct dl_route_tree *tree, uint16_t sls,
			struct dl_verify_result **out)
{
	struct dl_tables_mcast_group *groups = tables->groups;
	uint32_t ngroups = tables->ngroups, cap = tables->groups_cap;
	unsigned int i, choices = cable_choices(tree);
	struct dl_verify_options o;
	int err = 0;

	dl_verify_options_init(&o);
	o.multicast_sls = sls;
	tables->groups = NULL;
	tables->ngroups = tables->groups_cap = 0;
	for (i = 0; !err && i < choices; i++)
		err = dl_route_tree_add_group(tree, tables,
					      DL_TABLES_MCAST_LID + i, true);
	if (!err)
		err = dl_verify(tables, &o, NULL, out);
	while (tables->ngroups)
		free(tables->groups[--tables->ngroups].masks);
	free(tables->groups);
	tables->groups = groups;
	tables->ngroups = ngroups;
	tables->groups_cap = cap;
	return err;
}

int dl_route_verify(struct dl_tables *tables, const struct dl_route_tree *tree,
		    struct dl_verify_result **out)
{
	return dl_route_verify_sls(tables, tree, 1u << 0 | 1u << 8, out);
}

bool dl_route_is_safe(const struct dl_verify_result *v,
		      const struct dl_log *log)
{
	uint32_t i;

	if (v->delivered && !v->credit_loop && !v->without_sl && !v->without_vl)
		return true;
	dl_log(log, DL_LOG_ERROR,
	       "verification of the new tables failed: %" PRIu64 " of %" PRIu64
	       " pairs and %u multicast groups not delivered, a credit loop "
	       "over %u channels",
	       v->nlost, v->pairs, v->groups_lost, v->cycle.n);
	for (i = 0; i < v->cycle.n; i++) {
		const struct dl_fabric *f = v->fabric;
		const struct dl_fabric_port *p =
			&f->ports[v->cycle.steps[i].port];

		dl_log(log, DL_LOG_ERROR,
		       "  switch 0x%016" PRIx64 " \"%s\" port %u VL %u",
		       f->nodes[p->node].guid, dl_fabric_node_name(f, p->node),
		       p->num, v->cycle.steps[i].vl);
	}
	return false;
}
