/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What has been read from the switches (recall.c), as the tables with which a change begins. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recall.h"
#include "engine.h"
#include "sweep.h"

/* The map that a switch has, or that of `next` where OpenSM has not set it. */
static int held_map(const osm_switch_t *sw, unsigned int in, unsigned int out,
		    const struct dl_tables *next, uint16_t planned, struct dl_tables *t)
{
	osm_physp_t *p = dl_recall_port_in_use(sw, out);
	dl_tables_sl2vl_row row = planned == DL_TABLES_NO_ROW ? 0 : next->rows[planned], held = 0;
	unsigned int mask;

	if (planned == DL_TABLES_NO_ROW)
		return planned;
	if (!out || !p || !dl_recall_port_in_use(sw, in) || !dl_recall_has_maps(sw))
		return dl_tables_row(t, row);
	mask = (1u << (ib_port_info_get_op_vls(&p->port_info) - 1)) - 1;
	for (unsigned int sl = 0; sl < 16; sl++) {
		unsigned int vl = ib_slvl_table_get(osm_physp_get_slvl_tbl(p, in), sl);
		unsigned int own = dl_tables_sl2vl_get(row, sl);

		/* OpenSM cuts maps to OperVLs. */
		if (vl == (own == 15 ? own : own & mask))
			vl = own;
		held |= (dl_tables_sl2vl_row)vl << 4 * sl;
	}
	return dl_tables_row(t, held);
}

static int held_switch(const osm_switch_t *sw, uint32_t s, const struct dl_tables *next,
		       struct dl_tables *t)
{
	uint32_t top = dl_recall_top(sw) < t->top_lid ? dl_recall_top(sw) : t->top_lid;
	unsigned int n = sw->num_ports;

	if (!dl_recall_top(sw))
		memset(t->lft + s * (size_t)t->stride, DL_TABLES_NO_PORT, t->top_lid + 1u);
	else
		memcpy(t->lft + s * (size_t)t->stride, sw->lft, top + 1u);
	if (next->sl2vl_first[s + 1] - next->sl2vl_first[s] != n * n ||
	    t->sl2vl_first[s + 1] - t->sl2vl_first[s] != n * n)
		return -EINVAL;
	for (unsigned int i = 0; i < n * n; i++) {
		int row =
			held_map(sw, i / n, i % n, next, next->sl2vl[next->sl2vl_first[s] + i], t);

		if (row < 0)
			return row;
		t->sl2vl[t->sl2vl_first[s] + i] = row;
	}
	return 0;
}

/* Cables whose ports are not active carry nothing yet: as if they came. */
static int active_fabric(const struct dl_engine *e, const struct dl_fabric *f,
			 struct dl_fabric **out)
{
	bool *dead = calloc(f->nnodes + 1, sizeof(*dead)),
	     *cut = calloc(f->nports + 1, sizeof(*cut));
	int err = dead && cut ? 0 : -ENOMEM;

	for (uint32_t s = 0; s < f->nswitches && !err; s++) {
		const struct dl_fabric_node *n = &f->nodes[f->switches[s]];
		osm_switch_t *sw = dl_sweep_switch(e, f, s);

		for (unsigned int o = 1; sw && o <= n->nports; o++) {
			osm_physp_t *p = osm_node_get_physp_ptr(sw->p_node, o);

			cut[n->first_port + o] = f->ports[n->first_port + o].peer != DL_NONE && p &&
						 osm_physp_get_port_state(p) < IB_LINK_ACTIVE;
		}
	}
	if (!err)
		err = dl_fabric_degrade(f, dead, cut, out);
	free(dead);
	free(cut);
	return err;
}

int dl_recall_held(const struct dl_engine *e, const struct dl_sweep *next, struct dl_sweep **out)
{
	struct dl_arena arena = { 0 };
	struct dl_sweep *held = dl_arena_zalloc(&arena, sizeof(*held));
	int err;

	if (!held)
		return -ENOMEM;
	held->arena = arena;
	err = active_fabric(e, next->fabric, &held->fabric);
	if (!err)
		err = dl_tables_new(held->fabric, &held->routed.tables);
	for (uint32_t s = 0; !err && s < held->fabric->nswitches; s++) {
		const osm_switch_t *sw = dl_sweep_switch(e, held->fabric, s);

		err = sw ? held_switch(sw, s, next->routed.tables, held->routed.tables) : -EINVAL;
	}
	if (err) {
		dl_sweep_free(held);
		return err;
	}
	*out = held;
	return 0;
}

int dl_recall_groups(const struct dl_engine *e, const struct dl_fabric *f,
		     struct dl_tables_masks *masks)
{
	for (uint32_t i = 0; i < e->recall.ngroups; i++) {
		const struct dl_recall_groups *g = &e->recall.groups[i];
		uint32_t node = dl_fabric_find_guid(f, g->guid);

		if (node == DL_NONE || !dl_fabric_is_switch(f, node))
			continue;
		for (unsigned int o = 0; o <= f->nodes[node].nports; o++)
			if (g->ports[o / 64] >> o % 64 & 1 &&
			    dl_tables_mask_set(masks, f->nodes[node].sw, o))
				return -ENOMEM;
	}
	return 0;
}

/* End ports of a group with these masks, into room for all: returns how many. */
static uint32_t recall_members(const struct dl_fabric *f, const struct dl_tables_masks *masks,
			       uint32_t *out)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *sw = dl_fabric_switch_node(f, s);

		for (unsigned int o = 0; o <= sw->nports; o++) {
			uint32_t end = o ? f->ports[sw->first_port + o].peer : sw->first_port;

			if (dl_tables_mask_get(masks, s, o) && end != DL_NONE &&
			    f->ports[end].lid && dl_fabric_is_end_port(f, end))
				out[n++] = end;
		}
	}
	return n;
}

bool dl_recall_groups_span(const struct dl_engine *e, const struct dl_fabric *f,
			   const struct dl_route_tree *tree)
{
	uint32_t *members = malloc((f->nports + 1) * sizeof(*members));
	struct dl_tables_masks whole = { .nswitches = f->nswitches }, held = whole;
	bool known = members && !dl_recall_groups(e, f, &held);
	uint32_t n = known ? recall_members(f, &held, members) : 0;
	/* (Members without a way to them are not reached by anybody.) */
	bool spans = n && dl_route_tree_group(tree, f, DL_TABLES_MCAST_LID, members, n, &whole) !=
				  -ENOMEM;

	for (uint32_t s = 0; spans && s < f->nswitches; s++) {
		const uint64_t *want = dl_tables_mask(&whole, s), *have = dl_tables_mask(&held, s);

		for (unsigned int w = 0; want && w < DL_TABLES_MASK_WORDS; w++)
			spans &= !(want[w] & ~(have ? have[w] : 0));
	}
	dl_tables_masks_clear(&whole);
	dl_tables_masks_clear(&held);
	free(members);
	return spans;
}

bool dl_recall_groups_fit(const struct dl_engine *e, const struct dl_fabric *f,
			  const struct dl_tables_masks *masks)
{
	for (uint32_t i = 0; i < e->recall.ngroups; i++) {
		const struct dl_recall_groups *g = &e->recall.groups[i];
		uint32_t node = dl_fabric_find_guid(f, g->guid);
		const uint64_t *own = NULL;

		if (node != DL_NONE && dl_fabric_is_switch(f, node))
			own = dl_tables_mask(masks, f->nodes[node].sw);
		for (unsigned int w = 0; w < DL_TABLES_MASK_WORDS; w++)
			if (g->ports[w] & ~(own ? own[w] : 0))
				return false;
	}
	return true;
}
