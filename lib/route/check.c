/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Verification of tables together with a tree, and the invariants at the borders
 * of this room.
 *
 * Problem.  Multicast groups come later: which there will be is not known.
 *
 * Method.  Groups of all end ports, one for each choice of parallel cables, cause
 * every dependency that a group on the tree can cause.
 *
 * Complexity: that of dl_verify(), with at most MAX_GROUPS groups.
 */
#include <inttypes.h>

#include "route/internal.h"

#define MAX_GROUPS 32 /* choices of parallel cables that are verified */

/* After so many MLIDs the choice of cables starts again. */
static unsigned int cable_choices(const struct dl_route_tree *tree)
{
	unsigned int choices = 1, a, b, rest;
	uint32_t s;

	for (s = 0; s < tree->nswitches && choices <= MAX_GROUPS; s++) {
		unsigned int n = tree->cable_first[s + 1] - tree->cable_first[s];

		if (!n)
			continue;
		for (a = choices, b = n; b; a = b, b = rest)
			rest = a % b;
		choices = choices / a * n;
	}
	return choices > MAX_GROUPS ? MAX_GROUPS : choices;
}

/* The same tables, borrowed, with groups of all end ports in place of those that they have. */
static int put_groups(const struct dl_tables *tables, const struct dl_route_tree *tree,
		      struct dl_tables *with)
{
	unsigned int i, choices = cable_choices(tree);
	int err = 0;

	*with = *tables;
	with->groups = NULL;
	with->ngroups = with->groups_cap = 0;
	for (i = 0; !err && i < choices; i++)
		err = dl_route_tree_add_group(tree, with, DL_TABLES_MCAST_LID + i, true);
	return err;
}

static int check_verify(const struct dl_tables *tables, const struct dl_route_tree *tree,
			uint16_t sls, uint16_t multicast_sls, const struct dl_log *log,
			struct dl_verify_result **out)
{
	struct dl_verify_options o;
	struct dl_tables with;
	int err = put_groups(tables, tree, &with);

	dl_verify_options_init(&o);
	o.sls = sls;
	o.multicast_sls = multicast_sls;
	if (!err)
		err = dl_verify(&with, &o, log, out);
	dl_tables_free_groups(&with);
	return err;
}

int dl_route_verify_sls(const struct dl_tables *tables, const struct dl_route_tree *tree,
			uint16_t sls, uint16_t multicast_sls, struct dl_verify_result **out)
{
	return check_verify(tables, tree, sls, multicast_sls, NULL, out);
}

int dl_route_is_mixture_safe(const struct dl_tables *held, const struct dl_tables *tables,
			     const struct dl_route_tree *tree,
			     const struct dl_verify_orphans *orphans, uint16_t sls,
			     uint16_t multicast_sls, bool *safe)
{
	struct dl_verify_mixture m = { .safe = false };
	struct dl_verify_options o;
	struct dl_tables with;
	int err = put_groups(tables, tree, &with);

	dl_verify_options_init(&o);
	o.sls = sls;
	o.multicast_sls = multicast_sls;
	o.orphans = orphans;
	if (!err)
		err = dl_verify_mixed(held, &with, &o, true, &m);
	dl_tables_free_groups(&with);
	*safe = !err && m.safe;
	dl_verify_mixture_release(&m);
	return err;
}

int dl_route_verify_result(struct dl_route_pass *p)
{
	/* Progress only: the caller logs the findings. */
	const struct dl_log log = { .context = p->log ? p->log->context : NULL,
				    .progress = p->log ? p->log->progress : NULL };
	uint16_t any = p->rule.any_sl ? DL_VERIFY_ANY_SL : 0;

	return check_verify(p->out->tables, p->out->tree, any, any ? any : DL_ROUTE_MULTICAST_SLS,
			    &log, &p->out->verification);
}

bool dl_route_is_safe(const struct dl_verify_result *v, const struct dl_log *log)
{
	uint32_t i;

	if (v->delivered && v->verdict == DL_VERIFY_FREE && !v->without_sl && !v->without_vl)
		return true;
	dl_log(log, DL_LOG_ERROR,
	       "verification of the new tables failed: %" PRIu64 " of %" PRIu64
	       " pairs and %u multicast groups not delivered, a credit loop "
	       "over %u channels",
	       v->nlost, v->pairs, v->groups_lost, v->cycle.n);
	for (i = 0; i < v->cycle.n; i++) {
		const struct dl_fabric *f = v->fabric;
		const struct dl_fabric_port *p = &f->ports[v->cycle.steps[i].port];

		dl_log(log, DL_LOG_ERROR, "  switch 0x%016" PRIx64 " \"%s\" port %u VL %u",
		       f->nodes[p->node].guid, dl_fabric_node_name(f, p->node), p->num,
		       v->cycle.steps[i].vl);
	}
	return false;
}

/* Switches and sites name each other; what is unplaced has a place to go. */
bool dl_route_input_sound(const struct dl_route_pass *p)
{
	const struct dl_torus *t = p->torus;
	uint32_t s, site;

	for (s = 0; s < t->fabric->nswitches; s++) {
		site = t->sw_site[s];
		if (dl_broken(p->log,
			      site == DL_NONE || (site < t->nsites && t->site_sw[site] == s)) ||
		    dl_broken(p->log, (t->attachment[s] == DL_NONE) ==
					      (site == DL_NONE && t->uplink[s] == DL_NONE)))
			return false;
	}
	return true;
}

/* The verification of a mode that has one, and the tree's cables. */
static bool route_promises_kept(const struct dl_route_pass *p)
{
	const struct dl_verify_result *v = p->out->verification;
	const struct dl_route_tree *tree = p->out->tree;
	bool proven = p->options->mode == DL_ROUTE_PROVEN || p->rule.any_sl;
	bool attached = true;
	uint32_t s;

	if (proven && (dl_broken(p->log, tree) ||
		       dl_broken(p->log, v && v->delivered && v->verdict == DL_VERIFY_FREE)))
		return false;
	if (!tree)
		return true;
	if (dl_broken(p->log, tree->nswitches == p->torus->fabric->nswitches))
		return false;
	for (s = 0; s < tree->nswitches; s++)
		attached &= (tree->parent[s] == DL_NONE) ==
			    (tree->cable_first[s] == tree->cable_first[s + 1]);
	return !dl_broken(p->log, attached);
}

bool dl_route_result_sound(const struct dl_route_pass *p)
{
	const struct dl_fabric *f = p->torus->fabric;
	const struct dl_tables *t = p->out->tables;
	uint32_t s, lid;

	if (dl_broken(p->log, t && t->fabric == f && t->top_lid == f->top_lid) ||
	    dl_broken(p->log, !p->rule.any_sl || dl_tables_any_sl(t)) || !route_promises_kept(p))
		return false;
	for (s = 0; s < f->nswitches; s++) {
		const uint8_t *row = t->lft + s * (size_t)t->stride;
		unsigned int nports = dl_fabric_switch_node(f, s)->nports;
		bool beyond = false;

		for (lid = 0; lid <= t->top_lid; lid++)
			beyond |= row[lid] > nports && row[lid] != DL_TABLES_NO_PORT;
		if (dl_broken(p->log, !beyond))
			return false;
	}
	return true;
}
