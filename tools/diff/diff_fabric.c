/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Two fabrics compared: nodes, cables, LIDs, coordinates; see diff.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "diff.h"

struct lists {
	json_t *added, *removed, *changed;
};

static struct lists lists_new(void)
{
	return (struct lists){ json_array(), json_array(), json_array() };
}

static json_t *lists_json(const struct lists *l)
{
	return json_pack("{s:o, s:o, s:o}", "added", l->added, "removed", l->removed, "changed",
			 l->changed);
}

/* ---- nodes --------------------------------------------------------------- */

json_t *diff_nodes(const struct diff *d, bool switches)
{
	const struct dl_fabric *a = d->from->fabric, *b = d->to->fabric;
	struct lists l = lists_new();

	for (uint32_t i = 0; i < a->nnodes; i++) {
		uint32_t other = d->there.node[i];

		if (dl_fabric_is_switch(a, i) != switches)
			continue;
		if (other == DL_NONE)
			json_array_append_new(l.removed, tool_json_node(a, i));
		else if (strcmp(dl_fabric_node_name(a, i), dl_fabric_node_name(b, other)))
			json_array_append_new(
				l.changed,
				json_pack("{s:o, s:o, s:o}", "guid", tool_json_guid(a, i), "old",
					  tool_json_text(dl_fabric_node_name(a, i)), "new",
					  tool_json_text(dl_fabric_node_name(b, other))));
	}
	for (uint32_t i = 0; i < b->nnodes; i++)
		if (dl_fabric_is_switch(b, i) == switches && d->back.node[i] == DL_NONE)
			json_array_append_new(l.added, tool_json_node(b, i));
	return lists_json(&l);
}

/* ---- cables -------------------------------------------------------------- */

static json_t *diff_end_json(const struct dl_fabric *f, uint32_t port)
{
	return tool_json_with(tool_json_node(f, f->ports[port].node), "port",
			      json_integer(f->ports[port].num));
}

static json_t *diff_cable_json(const struct dl_fabric *f, uint32_t port)
{
	return json_pack("{s:o, s:o}", "from", diff_end_json(f, port), "to",
			 diff_end_json(f, f->ports[port].peer));
}

static json_t *diff_speed_json(const struct dl_fabric_port *p)
{
	return json_sprintf("%ux%s", p->width, dl_fabric_speed_name(p->speed));
}

/* Each cable is looked at from the end whose index is less. */
static bool is_cable(const struct dl_fabric *f, uint32_t port)
{
	return f->ports[port].peer != DL_NONE && port < f->ports[port].peer;
}

json_t *diff_cables(const struct diff *d)
{
	const struct dl_fabric *a = d->from->fabric, *b = d->to->fabric;
	struct lists l = lists_new();

	for (uint32_t p = 0; p < a->nports; p++) {
		uint32_t q = is_cable(a, p) ? dl_fabric_match_port(&d->there, p) : DL_NONE;
		const struct dl_fabric_port *x = &a->ports[p], *y = &b->ports[q];

		if (!is_cable(a, p))
			continue;
		if (q == DL_NONE || y->peer == DL_NONE ||
		    dl_fabric_match_port(&d->there, x->peer) != y->peer) {
			json_array_append_new(l.removed, diff_cable_json(a, p));
			continue;
		}
		if (x->width == y->width && x->speed == y->speed)
			continue;
		json_array_append_new(l.changed,
				      tool_json_with(tool_json_with(diff_cable_json(b, q), "old",
								    diff_speed_json(x)),
						     "new", diff_speed_json(y)));
	}
	for (uint32_t q = 0; q < b->nports; q++) {
		uint32_t p = is_cable(b, q) ? dl_fabric_match_port(&d->back, q) : DL_NONE;

		if (is_cable(b, q) &&
		    (p == DL_NONE || a->ports[p].peer == DL_NONE ||
		     dl_fabric_match_port(&d->back, b->ports[q].peer) != a->ports[p].peer))
			json_array_append_new(l.added, diff_cable_json(b, q));
	}
	return lists_json(&l);
}

/* ---- LIDs and coordinates ------------------------------------------------ */

json_t *diff_lids(const struct diff *d)
{
	const struct dl_fabric *a = d->from->fabric, *b = d->to->fabric;
	struct lists l = lists_new();

	for (uint32_t p = 0; p < a->nports; p++) {
		uint32_t q = dl_fabric_is_end_port(a, p) ? dl_fabric_match_port(&d->there, p) :
							   DL_NONE;
		const struct dl_fabric_port *x = &a->ports[p], *y = &b->ports[q];
		json_t *item;

		if (q == DL_NONE || (x->lid == y->lid && x->lmc == y->lmc))
			continue;
		item = diff_end_json(b, q);
		json_object_update_new(item,
				       json_pack("{s:i, s:i, s:i, s:i}", "old", x->lid, "new",
						 y->lid, "old_lmc", x->lmc, "new_lmc", y->lmc));
		json_array_append_new(l.changed, item);
	}
	return lists_json(&l);
}

json_t *diff_coords(const struct diff *d)
{
	const struct dl_fabric *a = d->from->fabric, *b = d->to->fabric;
	const struct tool_coords *x = &d->from->coords, *y = &d->to->coords;
	uint32_t compared = 0;
	struct lists l = lists_new();

	/* The cabling alone does not determine which dimension is x. */
	for (uint32_t s = 0; x->site && y->site && x->certain == y->certain && s < a->nswitches;
	     s++) {
		uint32_t node = d->there.node[a->switches[s]], other;
		uint32_t from[DL_TORUS_DIMS], to[DL_TORUS_DIMS];
		bool had, has;

		if (node == DL_NONE || (other = b->nodes[node].sw) == DL_NONE)
			continue;
		compared++;
		had = tool_coords_of(x, s, from);
		has = tool_coords_of(y, other, to);
		if (had == has && (!had || !memcmp(from, to, sizeof(to))))
			continue;
		json_array_append_new(
			l.changed,
			tool_json_with(tool_json_with(tool_json_node(b, node), "old",
						      tool_json_coord(&x->grid, x->site[s])),
				       "new", tool_json_coord(&y->grid, y->site[other])));
	}
	return tool_json_with(lists_json(&l), "compared", json_integer(compared));
}
