/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The tables of two fabrics compared, between nodes in both; see diff.h. */
#include "config.h"

#include <stdlib.h>

#include "diff.h"

static json_t *counts_json(const struct dl_tables_changes *c)
{
	return json_pack("{s:I, s:I}", "compared", (json_int_t)c->compared, "changed",
			 (json_int_t)c->changed);
}

/* ---- unicast ------------------------------------------------------------- */

/* How many entries changed of one LID, or at one switch. */
struct share {
	uint32_t key, changed;
};

static int most_first(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	if (x->changed != y->changed)
		return x->changed < y->changed ? 1 : -1;
	return (x->key > y->key) - (x->key < y->key);
}

/* Those with changes, most changes first. */
static json_t *shares_json(const struct diff *d, const uint32_t *changed, uint32_t n, bool lids)
{
	const struct dl_fabric *f = d->from->fabric;
	struct share *shares = calloc(n + 1, sizeof(*shares));
	json_t *list = shares ? json_array() : NULL;

	for (uint32_t i = 0; shares && i < n; i++)
		shares[i] = (struct share){ i, changed[i] };
	if (shares)
		qsort(shares, n, sizeof(*shares), most_first);
	for (uint32_t i = 0; list && i < n && shares[i].changed; i++) {
		uint32_t key = shares[i].key;
		json_t *item = tool_json_node(f, lids ? f->ports[f->lid_port[key]].node :
							f->switches[key]);

		if (lids)
			json_object_set_new(item, "lid", json_integer(key));
		json_array_append_new(list, tool_json_with(item, "changed",
							   json_integer(shares[i].changed)));
	}
	free(shares);
	return list;
}

json_t *diff_entries(const struct diff *d)
{
	const struct dl_tables *x = d->from->snapshot.tables, *y = d->to->snapshot.tables;
	uint32_t nlids = x->fabric->top_lid + 1u, nswitches = x->fabric->nswitches;
	uint32_t *changes = calloc(nlids + nswitches, sizeof(*changes));
	uint32_t *by_lid = changes, *by_switch = changes + nlids;
	struct dl_tables_changes sum;
	json_t *j = NULL;

	if (changes && !dl_tables_compare_lfts(x, y, &d->there, by_lid, by_switch, &sum))
		j = tool_json_with(tool_json_with(counts_json(&sum), "destinations",
						  shares_json(d, by_lid, nlids, true)),
				   "switches", shares_json(d, by_switch, nswitches, false));
	free(changes);
	return j;
}

/* ---- path SLs, maps and arbitration -------------------------------------- */

json_t *diff_sls(const struct diff *d)
{
	struct dl_tables_changes sls;

	if (dl_tables_compare_sls(d->from->snapshot.tables, d->to->snapshot.tables, &d->there,
				  &sls))
		return NULL;
	return counts_json(&sls);
}

json_t *diff_sl2vl(const struct diff *d)
{
	const struct dl_tables *x = d->from->snapshot.tables, *y = d->to->snapshot.tables;
	struct dl_tables_changes maps, ends;

	dl_tables_compare_switch_maps(x, y, &d->there, &maps);
	dl_tables_compare_end_maps(x, y, &d->there, &ends);
	maps.compared += ends.compared;
	maps.changed += ends.changed;
	return counts_json(&maps);
}

json_t *diff_vlarb(const struct diff *d, bool limits)
{
	struct dl_tables_changes arbs, high;

	dl_tables_compare_vlarb(d->from->snapshot.tables, d->to->snapshot.tables, &d->there, &arbs,
				&high);
	return counts_json(limits ? &high : &arbs);
}

/* ---- multicast ----------------------------------------------------------- */

/* The groups of x that y lacks. */
static json_t *groups_missing(const struct dl_tables *x, const struct dl_tables *y)
{
	json_t *list = json_array();

	for (uint32_t g = 0; g < x->ngroups; g++)
		if (!dl_tables_find_group(y, x->groups[g].mlid))
			json_array_append_new(list, json_sprintf("0x%04X", x->groups[g].mlid));
	return list;
}

json_t *diff_multicast(const struct diff *d)
{
	const struct dl_tables *x = d->from->snapshot.tables, *y = d->to->snapshot.tables;
	json_t *changed = json_array();

	for (uint32_t g = 0; g < x->ngroups; g++) {
		const struct dl_tables_mcast_group *other =
			dl_tables_find_group(y, x->groups[g].mlid);
		uint32_t n = other ? dl_tables_compare_masks(&x->groups[g].masks, &other->masks,
							     &d->there) :
				     0;

		if (n)
			json_array_append_new(changed,
					      json_pack("{s:o, s:i}", "mlid",
							json_sprintf("0x%04X", other->mlid),
							"switches", n));
	}
	return json_pack("{s:o, s:o, s:o}", "added", groups_missing(y, x), "removed",
			 groups_missing(x, y), "changed", changed);
}
