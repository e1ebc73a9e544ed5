/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The tables of two fabrics compared, between nodes in both; see diff.h. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"

uint32_t diff_switch(const struct diff *d, uint32_t s)
{
	uint32_t node = d->node[0][d->from->fabric->switches[s]];

	return node == DL_NONE ? DL_NONE : d->to->fabric->nodes[node].sw;
}

static json_t *counts_json(uint64_t compared, uint64_t changed)
{
	return json_pack("{s:I, s:I}", "compared", (json_int_t)compared, "changed",
			 (json_int_t)changed);
}

uint16_t diff_lid(const struct diff *d, uint16_t lid)
{
	const struct dl_fabric *a = d->from->fabric, *b = d->to->fabric;
	uint32_t p = a->lid_port[lid], q = p == DL_NONE ? DL_NONE : diff_port(d, p);
	uint16_t offset;

	if (q == DL_NONE || !b->ports[q].lid)
		return 0;
	offset = lid - a->ports[p].lid;
	return offset < 1u << b->ports[q].lmc ? b->ports[q].lid + offset : 0;
}

/* ---- unicast ------------------------------------------------------------- */

/* How many entries changed of one LID, or at one switch. */
struct share {
	uint32_t key;
	uint64_t changed;
};

static int most_first(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	if (x->changed != y->changed)
		return x->changed < y->changed ? 1 : -1;
	return (x->key > y->key) - (x->key < y->key);
}

/* Those with changes, most changes first. */
static json_t *shares_json(const struct diff *d, struct share *shares, uint32_t n, bool lids)
{
	const struct dl_fabric *f = d->from->fabric;
	json_t *list = json_array();

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
	return list;
}

/* By LID of `from`: the same end port's in `to`, or 0. */
static uint16_t *lid_map(const struct diff *d)
{
	uint16_t *map = calloc(d->from->fabric->top_lid + 1u, sizeof(*map));

	for (uint32_t lid = 1; map && lid <= d->from->fabric->top_lid; lid++)
		map[lid] = diff_lid(d, lid);
	return map;
}

/* Switch by switch: so both tables are read in order. */
static json_t *entries(const struct diff *d, const uint16_t *lids, struct share *by_lid,
		       struct share *by_switch)
{
	const struct dl_tables *x = d->from->snapshot.tables, *y = d->to->snapshot.tables;
	const struct dl_fabric *f = d->from->fabric;
	uint64_t compared = 0, changed = 0;

	for (uint32_t lid = 1; lid <= f->top_lid; lid++)
		by_lid[lid].key = lid;
	for (uint32_t s = 0; s < f->nswitches; s++) {
		uint32_t t = diff_switch(d, s);

		by_switch[s].key = s;
		for (uint32_t lid = 1; t != DL_NONE && lid <= f->top_lid; lid++) {
			bool differs;

			if (!lids[lid])
				continue;
			differs = dl_tables_lft(x, s, lid) != dl_tables_lft(y, t, lids[lid]);
			compared++;
			by_lid[lid].changed += differs;
			by_switch[s].changed += differs;
		}
		changed += by_switch[s].changed;
	}
	return tool_json_with(tool_json_with(counts_json(compared, changed), "destinations",
					     shares_json(d, by_lid, f->top_lid + 1, true)),
			      "switches", shares_json(d, by_switch, f->nswitches, false));
}

json_t *diff_entries(const struct diff *d)
{
	const struct dl_fabric *f = d->from->fabric;
	struct share *by_lid = calloc(f->top_lid + 1u, sizeof(*by_lid));
	struct share *by_switch = calloc(f->nswitches + 1, sizeof(*by_switch));
	uint16_t *lids = lid_map(d);
	json_t *j = by_lid && by_switch && lids ? entries(d, lids, by_lid, by_switch) : NULL;

	free(by_lid);
	free(by_switch);
	free(lids);
	return j;
}

/* ---- path SLs ------------------------------------------------------------ */

json_t *diff_sls(const struct diff *d)
{
	const struct dl_tables *x = d->from->snapshot.tables, *y = d->to->snapshot.tables;
	const struct dl_fabric *f = d->from->fabric;
	uint64_t compared = 0, changed = 0;
	uint16_t *lids = lid_map(d);

	for (uint32_t p = 0; lids && x->psl && y->psl && p < f->nports; p++) {
		uint32_t q;

		if (!f->ports[p].lid || !dl_fabric_is_end_port(f, p) ||
		    (q = diff_port(d, p)) == DL_NONE)
			continue;
		for (uint32_t lid = 1; lid <= f->top_lid; lid++) {
			unsigned int sl = dl_tables_path_sl(x, p, lid), other;

			if (sl == DL_TABLES_NO_SL || f->lid_port[lid] == p)
				continue;
			other = dl_tables_path_sl(y, q, lids[lid]);
			if (other == DL_TABLES_NO_SL)
				continue;
			compared++;
			changed += sl != other;
		}
	}
	free(lids);
	return lids ? counts_json(compared, changed) : NULL;
}

/* ---- maps and arbitration ------------------------------------------------ */

/* Those of a switch, between ports that are in use both times. */
static uint64_t changed_maps(const struct diff *d, uint32_t s, uint64_t *compared)
{
	const struct dl_tables *x = d->from->snapshot.tables, *y = d->to->snapshot.tables;
	const struct dl_fabric *f = x->fabric, *g = y->fabric;
	const struct dl_fabric_node *a = &f->nodes[f->switches[s]], *b;
	uint32_t t = diff_switch(d, s), n = a->nports + 1u;
	uint64_t changed = 0;

	if (t == DL_NONE)
		return 0;
	b = &g->nodes[g->switches[t]];
	if (b->nports != a->nports)
		return 0;
	for (uint32_t i = 0; i < n * n; i++) {
		uint16_t old = x->sl2vl[x->sl2vl_first[s] + i];
		uint16_t new = y->sl2vl[y->sl2vl_first[t] + i];

		if (old == DL_TABLES_NO_ROW || new == DL_TABLES_NO_ROW ||
		    !dl_fabric_in_use(f, a, i / n) || !dl_fabric_in_use(f, a, i % n) ||
		    !dl_fabric_in_use(g, b, i / n) || !dl_fabric_in_use(g, b, i % n))
			continue;
		++*compared;
		changed += x->rows[old] != y->rows[new];
	}
	return changed;
}

uint64_t diff_switch_maps(const struct diff *d, uint64_t *compared)
{
	uint64_t changed = 0;

	for (uint32_t s = 0; s < d->from->fabric->nswitches; s++)
		changed += changed_maps(d, s, compared);
	return changed;
}

json_t *diff_sl2vl(const struct diff *d)
{
	const struct dl_tables *x = d->from->snapshot.tables, *y = d->to->snapshot.tables;
	const struct dl_fabric *f = d->from->fabric;
	uint64_t compared = 0, changed = diff_switch_maps(d, &compared);

	for (uint32_t p = 0; p < f->nports; p++) {
		uint32_t q = x->end_sl2vl[p] == DL_TABLES_NO_ROW ? DL_NONE : diff_port(d, p);

		if (q == DL_NONE || y->end_sl2vl[q] == DL_TABLES_NO_ROW)
			continue;
		compared++;
		changed += x->rows[x->end_sl2vl[p]] != y->rows[y->end_sl2vl[q]];
	}
	return counts_json(compared, changed);
}

json_t *diff_vlarb(const struct diff *d)
{
	const struct dl_tables *x = d->from->snapshot.tables, *y = d->to->snapshot.tables;
	uint64_t compared = 0, changed = 0;

	for (uint32_t p = 0; p < d->from->fabric->nports; p++) {
		uint32_t q = x->vlarb[p] == DL_TABLES_NO_ROW ? DL_NONE : diff_port(d, p);

		if (q == DL_NONE || y->vlarb[q] == DL_TABLES_NO_ROW)
			continue;
		compared++;
		changed += memcmp(&x->arbs[x->vlarb[p]], &y->arbs[y->vlarb[q]], sizeof(*x->arbs)) !=
			   0;
	}
	return counts_json(compared, changed);
}

/* ---- multicast ----------------------------------------------------------- */

uint32_t diff_masks(const struct diff *d, const struct dl_tables_masks *a,
		    const struct dl_tables_masks *b)
{
	uint32_t changed = 0;

	for (uint32_t s = 0; s < d->from->fabric->nswitches; s++) {
		uint32_t t = diff_switch(d, s);

		changed += t != DL_NONE && memcmp(dl_tables_mask(a, s), dl_tables_mask(b, t),
						  DL_TABLES_MASK_WORDS * sizeof(uint64_t)) != 0;
	}
	return changed;
}

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
		uint32_t n = other ? diff_masks(d, &x->groups[g].masks, &other->masks) : 0;

		if (n)
			json_array_append_new(changed,
					      json_pack("{s:o, s:i}", "mlid",
							json_sprintf("0x%04X", other->mlid),
							"switches", n));
	}
	return json_pack("{s:o, s:o, s:o}", "added", groups_missing(y, x), "removed",
			 groups_missing(x, y), "changed", changed);
}
