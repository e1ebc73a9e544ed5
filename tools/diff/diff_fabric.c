/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Two fabrics compared: nodes, cables, LIDs, coordinates; see diff.h. */
#include "config.h"

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
		const struct dl_fabric_port *x = &a->ports[p], *y;
		uint32_t q;

		if (!is_cable(a, p))
			continue;
		if (!dl_fabric_match_has_cable(&d->there, p)) {
			json_array_append_new(l.removed, diff_cable_json(a, p));
			continue;
		}
		q = dl_fabric_match_port(&d->there, p);
		y = &b->ports[q];
		if (x->width == y->width && x->speed == y->speed)
			continue;
		json_array_append_new(l.changed,
				      tool_json_with(tool_json_with(diff_cable_json(b, q), "old",
								    diff_speed_json(x)),
						     "new", diff_speed_json(y)));
	}
	for (uint32_t q = 0; q < b->nports; q++)
		if (is_cable(b, q) && !dl_fabric_match_has_cable(&d->back, q))
			json_array_append_new(l.added, diff_cable_json(b, q));
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

/* The coordinates of a switch; false when they are not known. */
static bool diff_coords_of(const struct tool_coords *c, uint32_t sw, uint32_t out[DL_TORUS_DIMS])
{
	if (!c->site || c->site[sw] == DL_NONE)
		return false;
	dl_torus_site_coord(&c->grid, c->site[sw], out);
	return true;
}

/* New axis d is old axis dim[d], backwards if so, and moved on. */
struct diff_axes {
	uint32_t dim[DL_TORUS_DIMS], shift[DL_TORUS_DIMS];
	bool back[DL_TORUS_DIMS];
};

/* Do these axes turn all old coordinates into the new ones?  The first switch gives shifts. */
static bool diff_axes_fit(const struct diff *d, struct diff_axes *a)
{
	const struct dl_torus_grid *x = &d->from->coords.grid, *y = &d->to->coords.grid;
	uint32_t from[DL_TORUS_DIMS], to[DL_TORUS_DIMS];
	bool first = true;

	for (unsigned int i = 0; i < DL_TORUS_DIMS; i++)
		if (x->radix[a->dim[i]] != y->radix[i] || x->mesh[a->dim[i]] != y->mesh[i])
			return false;
	for (uint32_t s = 0; s < d->from->fabric->nswitches; s++) {
		uint32_t other = dl_fabric_match_switch(&d->there, s);
		bool had = diff_coords_of(&d->from->coords, s, from);

		if (other == DL_NONE)
			continue;
		if (diff_coords_of(&d->to->coords, other, to) != had)
			return false;
		for (unsigned int i = 0; had && i < DL_TORUS_DIMS; i++) {
			uint32_t r = y->radix[i], at = from[a->dim[i]];

			at = a->back[i] ? r - 1 - at : at;
			if (first)
				a->shift[i] = (to[i] + r - at) % r;
			if ((at + a->shift[i]) % r != to[i])
				return false;
		}
		first &= !had;
	}
	return !first;
}

/* How the axes were renamed, such as ["y", "x", "-z+1"], or null. */
static json_t *diff_axes_json(const struct diff *d)
{
	static const uint8_t orders[][DL_TORUS_DIMS] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
							 { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	json_t *axes;

	for (unsigned int i = 0; i < 8 * sizeof(orders) / sizeof(*orders); i++) {
		const uint8_t *o = orders[i / 8];
		struct diff_axes a = { { o[0], o[1], o[2] }, { 0 }, { i & 1, i & 2, i & 4 } };

		if (!diff_axes_fit(d, &a))
			continue;
		axes = json_array();
		for (unsigned int k = 0; k < DL_TORUS_DIMS; k++) {
			uint32_t shift =
				(a.shift[k] + (a.back[k] ? d->to->coords.grid.radix[k] - 1 : 0)) %
				d->to->coords.grid.radix[k];

			json_array_append_new(axes,
					      shift ? json_sprintf("%s%c+%u", a.back[k] ? "-" : "",
								   'x' + a.dim[k], shift) :
						      json_sprintf("%s%c", a.back[k] ? "-" : "",
								   'x' + a.dim[k]));
		}
		return axes;
	}
	return json_null();
}

json_t *diff_coords(const struct diff *d)
{
	const struct tool_coords *x = &d->from->coords, *y = &d->to->coords;
	uint32_t compared = 0;
	struct lists l = lists_new();
	json_t *axes = json_null();

	/* The cabling alone does not determine which dimension is x. */
	for (uint32_t s = 0;
	     x->site && y->site && x->certain == y->certain && s < d->from->fabric->nswitches;
	     s++) {
		uint32_t other = dl_fabric_match_switch(&d->there, s), from[DL_TORUS_DIMS],
			 to[DL_TORUS_DIMS];
		bool had, has;

		if (other == DL_NONE)
			continue;
		compared++;
		had = diff_coords_of(x, s, from);
		has = diff_coords_of(y, other, to);
		if (had == has && (!had || !memcmp(from, to, sizeof(to))))
			continue;
		json_array_append_new(
			l.changed,
			tool_json_with(tool_json_with(tool_json_node(d->to->fabric,
								     d->to->fabric->switches[other]),
						      "old", tool_json_coord(&x->grid, x->site[s])),
				       "new", tool_json_coord(&y->grid, y->site[other])));
	}
	if (json_array_size(l.changed)) {
		json_decref(axes);
		axes = diff_axes_json(d);
	}
	return tool_json_with(tool_json_with(lists_json(&l), "compared", json_integer(compared)),
			      "axes", axes);
}
