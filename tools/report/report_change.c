/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The difference between two snapshots of one fabric.
 *
 * Nodes are the same when their GUIDs are, and cables when they join the same
 * two ports.  Forwarding entries are compared by destination, not by LID: an
 * end port may have got another LID meanwhile, and its packets still go the
 * same way.  Only what is there both times is compared; the rest is listed as
 * gone or new.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "report.h"
#include "tools/transition.h"

/* ---- what is there ----------------------------------------------------- */

/* Nodes of one page that the other lacks, by `node`: switches, or all else. */
static json_t *only_nodes(const struct report_page *p, const uint32_t *node, bool switches)
{
	json_t *list = json_array();

	for (uint32_t n = 0; n < p->fabric->nnodes; n++)
		if (dl_fabric_is_switch(p->fabric, n) == switches && node[n] == DL_NONE)
			json_array_append_new(list, tool_json_placed_node(p->coords, p->fabric, n));
	return list;
}

/* Cables of d's one page that the other lacks. */
static json_t *only_cables(const struct report_page *p, const struct dl_fabric_match *d)
{
	const struct dl_fabric *f = p->fabric;
	json_t *list = json_array();

	for (uint32_t a = 0; a < f->nports; a++) {
		uint32_t b = f->ports[a].peer;

		if (b == DL_NONE || b < a || dl_fabric_match_has_cable(d, a))
			continue;
		json_array_append_new(list,
				      json_pack("[oo]", tool_json_placed_port(p->coords, f, a),
						tool_json_placed_port(p->coords, f, b)));
	}
	return list;
}

/* If all LIDs of a fabric were reassigned, some are enough. */
#define LISTED 1000

/* An end port's LID then, if it has another one now; else its own. */
static uint16_t lid_then(const struct report_change *c, uint32_t port)
{
	uint32_t there = dl_fabric_match_port(&c->d.there, port);

	return there == DL_NONE ? c->now->fabric->ports[port].lid :
				  c->then->fabric->ports[there].lid;
}

static void add_moved_lids(const struct report_change *c, json_t *out)
{
	json_t *list = json_array();
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->now->nends; i++) {
		uint32_t port = c->now->ends[i];
		uint16_t lid = c->now->fabric->ports[port].lid, was = lid_then(c, port);
		json_t *end;

		if (was == lid || n++ >= LISTED)
			continue;
		end = tool_json_placed_port(c->now->coords, c->now->fabric, port);
		json_object_set_new(end, "before", json_integer(was));
		json_object_set_new(end, "now", json_integer(lid));
		json_array_append_new(list, end);
	}
	json_object_set_new(out, "lids_moved", list);
	json_object_set_new(out, "lids_moved_count", json_integer(n));
}

/* ---- forwarding -------------------------------------------------------- */

static int compare_lfts(const struct report_change *c, json_t *out)
{
	uint32_t nlids = c->now->fabric->top_lid + 1u;
	uint32_t *by_lid = calloc(nlids + c->now->fabric->nswitches, sizeof(*by_lid));
	uint32_t *by_switch = by_lid + nlids;
	struct dl_tables_changes sum;
	json_t *list = json_array();
	int err = by_lid ? dl_tables_compare_lfts(c->now->tables, c->then->tables, &c->d.there,
						  by_lid, by_switch, &sum) :
			   -ENOMEM;

	for (uint32_t i = 0; !err && i < c->now->fabric->nswitches; i++) {
		uint32_t sw = c->now->switches[i];
		bool is_new = dl_fabric_match_switch(&c->d.there, sw) == DL_NONE;

		report_push(list, is_new ? -1 : (json_int_t)by_switch[sw]);
	}
	free(by_lid);
	json_object_set_new(out, "lft", list);
	if (err)
		return err;
	json_object_set_new(out, "lft_compared", json_integer(sum.compared));
	json_object_set_new(out, "lft_changed", json_integer(sum.changed));
	return 0;
}

/* ---- groups ------------------------------------------------------------ */

static json_t *only_groups(const struct dl_tables *t, const struct dl_tables *other)
{
	json_t *list = json_array();

	for (uint32_t g = 0; g < t->ngroups; g++)
		if (!dl_tables_find_group(other, t->groups[g].mlid))
			report_push(list, t->groups[g].mlid);
	return list;
}

/* [MLID, switches that copy to other ports] */
static json_t *changed_groups(const struct report_change *c)
{
	const struct dl_tables *t = c->now->tables;
	json_t *list = json_array();

	for (uint32_t g = 0; g < t->ngroups; g++) {
		const struct dl_tables_mcast_group *was =
			dl_tables_find_group(c->then->tables, t->groups[g].mlid);
		unsigned int n = was ? dl_tables_compare_masks(&t->groups[g].masks, &was->masks,
							       &c->d.there) :
				       0;

		if (n)
			json_array_append_new(list, json_pack("[ii]", t->groups[g].mlid, n));
	}
	return list;
}

/* ---- all --------------------------------------------------------------- */

static int count_load(const struct report_change *c, json_t **out)
{
	struct dl_tables_load load;
	int err = dl_tables_load_count(c->then->tables, NULL, NULL, c->log, &load);

	if (err)
		return err;
	*out = json_pack("{s:I, s:I, s:I}", "busiest", (json_int_t)load.busiest, "pairs",
			 (json_int_t)load.pairs, "hops", (json_int_t)load.hops);
	dl_tables_load_release(&load);
	return 0;
}

/* Whether the new tables may be written over the old ones, and in steps. */
static int check_transition(void *context, const struct dl_log *log)
{
	struct report_change *c = context;
	int err = transition_json(c->then->tables, c->now->tables, DL_TRANSITION_OPENSM,
				  c->now->coords, log, NULL, &c->transition);

	return err == -ENOMEM ? err : 0;
}

static int report_compare(struct report_change *c, json_t *out)
{
	const struct report_page *now = c->now, *then = c->then;
	json_t *load = NULL;
	struct dl_tables_changes maps;
	int err;

	json_object_set_new(out, "switches_gone", only_nodes(then, c->d.back.node, true));
	json_object_set_new(out, "switches_new", only_nodes(now, c->d.there.node, true));
	json_object_set_new(out, "ends_gone", only_nodes(then, c->d.back.node, false));
	json_object_set_new(out, "ends_new", only_nodes(now, c->d.there.node, false));
	json_object_set_new(out, "cables_gone", only_cables(then, &c->d.back));
	json_object_set_new(out, "cables_new", only_cables(now, &c->d.there));
	add_moved_lids(c, out);
	json_object_set_new(out, "groups_gone", only_groups(then->tables, now->tables));
	json_object_set_new(out, "groups_new", only_groups(now->tables, then->tables));
	json_object_set_new(out, "groups_changed", changed_groups(c));
	dl_tables_compare_switch_maps(now->tables, then->tables, &c->d.there, &maps);
	json_object_set_new(out, "sl2vl_changed", json_integer(maps.changed));
	err = compare_lfts(c, out);
	if (!err)
		err = count_load(c, &load);
	if (!err)
		err = background_end(&c->background);
	if (c->transition)
		json_object_set(out, "transition", c->transition);
	json_object_set_new(out, "load", load);
	return err;
}

int report_change_begin(struct report_change *c)
{
	bool moved = false;
	int err;

	c->d = (struct diff){ .from = c->now->input, .to = c->then->input };
	err = diff_match(&c->d, c->log);
	if (err)
		return err;
	c->background = (struct background){ .run = check_transition, .context = c, .log = c->log };
	for (uint32_t i = 0; i < c->now->nends && !moved; i++)
		moved = lid_then(c, c->now->ends[i]) != c->now->fabric->ports[c->now->ends[i]].lid;
	/* Only where LIDs name the same ports both times. */
	if (!moved)
		background_start(&c->background, true);
	return 0;
}

int report_change_json(struct report_change *c, const char *dir, const struct dl_verify_result *v,
		       json_t *document)
{
	json_t *change = json_pack("{s:o, s:I, s:I}", "dir", tool_json_text(dir), "sl_compared",
				   (json_int_t)v->sl_compared, "sl_changed",
				   (json_int_t)v->sl_changes);
	int err = report_compare(c, change);

	tool_json_with(document, "change", change);
	return err;
}

void report_change_release(struct report_change *c)
{
	background_drop(&c->background);
	json_decref(c->transition);
	diff_release(&c->d);
}
