/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * SL-to-VL maps and VL arbitration tables: what OpenSM is to write, port by port, when it
 * asks; and what of it switches have not confirmed.
 *
 * OpenSM writes SL-to-VL maps before it raises OperVLs, and cuts their VLs to the
 * present OperVLs.  A fabric that comes up with fewer VLs than it is going to use
 * therefore has maps that nobody verified until the next sweep writes them again,
 * which is asked for at once.
 */
#include <errno.h>
#include <string.h>

#include "maps.h"
#include "engine.h"
#include "phases.h"
#include "sweep.h"

/* Of 32 entries each: two for the low table, two for the high one. */
#define VLARB_BLOCKS 4

/* The fabric's port for a port of OpenSM's, or DL_NONE. */
static uint32_t maps_find_port(const struct dl_sweep *sweep, const osm_physp_t *physp)
{
	unsigned int num = osm_physp_get_port_num(physp);
	const struct dl_fabric *f = sweep->fabric;
	uint32_t node = dl_fabric_find_guid(f, cl_ntoh64(osm_node_get_node_guid(physp->p_node)));

	if (node == DL_NONE || num > f->nodes[node].nports)
		return DL_NONE;
	return f->nodes[node].first_port + num;
}

/* A sweep's map of a pair of ports; false: it has none. */
static bool maps_find_row(const struct dl_sweep *sweep, const osm_physp_t *physp, uint8_t in,
			  uint8_t out, dl_tables_sl2vl_row *row)
{
	const struct dl_tables *t = sweep->routed.tables;
	uint32_t port = maps_find_port(sweep, physp);
	uint16_t number = DL_TABLES_NO_ROW;
	const struct dl_fabric_node *node;

	if (port == DL_NONE)
		return false;
	node = &t->fabric->nodes[t->fabric->ports[port].node];
	if (node->sw == DL_NONE)
		number = t->end_sl2vl[port];
	else if (in <= node->nports && out <= node->nports)
		number = t->sl2vl[dl_tables_map_index(t, node->sw, in, out)];
	if (number == DL_TABLES_NO_ROW)
		return false;
	*row = t->rows[number];
	return true;
}

/*
 * Does OpenSM see no cable at one of two ports of a switch, or not the switch?  An
 * answer may have been lost, or a neighbour be sick: packets may still cross by
 * entries that are closed only later.  Nor is a map that is written here ever
 * checked: if its confirmation gets lost, OpenSM believes that the port holds the
 * old one, and does not write it when it sees the cable again.
 */
static bool maps_are_out_of_sight(const struct dl_sweep *sweep, const osm_physp_t *out,
				  unsigned int in)
{
	const struct dl_fabric *f = sweep->fabric;
	uint32_t port = maps_find_port(sweep, out), first;

	if (port == DL_NONE || in > f->nodes[f->ports[port].node].nports)
		return true;
	first = f->nodes[f->ports[port].node].first_port;
	return (port != first && f->ports[port].peer == DL_NONE) ||
	       (in && f->ports[first + in].peer == DL_NONE);
}

/* held: the map that a port holds now, not its map after all steps. */
static bool maps_find_held(const struct dl_engine *e, const osm_physp_t *physp, uint8_t in,
			   uint8_t out, bool held, dl_tables_sl2vl_row *row)
{
	const struct dl_sweep *from = e->phases && held ? e->phases->from : NULL;

	return (from && maps_find_row(from, physp, in, out, row)) ||
	       maps_find_row(e->in_force, physp, in, out, row);
}

bool dl_maps_find(const struct dl_engine *e, const osm_physp_t *physp, uint8_t in, uint8_t out,
		  dl_tables_sl2vl_row *row)
{
	return dl_engine_tables(e) &&
	       maps_find_held(e, physp, in, out, dl_phases_hold_maps(e), row);
}

/*
 * A switch that is not routed, as its ports do not answer, keeps its maps: OpenSM may write
 * them along a path that leads to another one since a cable was moved, and packets are there.
 * It does not write what a port has already, unless it writes everything again.
 */
static bool maps_stay(const struct dl_engine *e, const osm_physp_t *physp)
{
	return dl_sweep_leaves_out(e->in_force->fabric, physp->p_node) && !e->osm->subn.need_update;
}

/* OpenSM would cut what stands for an unknown table to the port's VLs, and write that. */
static void maps_repeat(void *table, void *held, size_t size, bool known)
{
	if (!known)
		memset(held, 0, size);
	memcpy(table, held, size);
}

void dl_maps_update(void *context, osm_physp_t *physp, uint8_t in, uint8_t out,
		    ib_slvl_table_t *table)
{
	const struct dl_engine *e = context;
	dl_tables_sl2vl_row row;
	unsigned int sl;

	if (!dl_engine_tables(e))
		return;
	if (maps_stay(e, physp)) {
		ib_slvl_table_t *held = osm_physp_get_slvl_tbl(physp, in);

		maps_repeat(table, held, sizeof(*held), dl_recall_knows_map(held));
		return;
	}
	if (physp->p_node->sw && maps_are_out_of_sight(e->in_force, physp, in)) {
		if (dl_recall_knows_map(osm_physp_get_slvl_tbl(physp, in))) {
			*table = *osm_physp_get_slvl_tbl(physp, in);
			return;
		}
		if (!maps_find_held(e, physp, in, out, true, &row))
			return;
	} else if (!dl_maps_find(e, physp, in, out, &row)) {
		return;
	}
	for (sl = 0; sl < 16; sl++)
		ib_slvl_table_set(table, sl, dl_tables_sl2vl_get(row, sl));
}

/*
 * Blocks 0 and 1 are the low table, 2 and 3 the high one (the attribute
 * counts from 1).  OpenSM programs PortInfo.VLHighLimit, later in the sweep,
 * from where it is put here.
 */
void dl_maps_update_arbitration(void *context, osm_physp_t *physp, uint8_t port_num,
				ib_vl_arb_table_t *block, unsigned int block_length,
				unsigned int block_num)
{
	const struct dl_engine *e = context;
	const struct dl_tables_vlarb_entry *entries;
	const struct dl_tables_vlarb *arb;
	unsigned int i, first, n;
	uint32_t port;

	(void)port_num;
	(void)block_length;
	if (!dl_engine_tables(e) || block_num >= VLARB_BLOCKS)
		return;
	if (maps_stay(e, physp)) {
		ib_vl_arb_table_t *held = &physp->vl_arb[block_num];

		maps_repeat(block, held, sizeof(*held), held->vl_entry[0].vl <= 15);
		return;
	}
	/* port_num is 0 on adapters, where the attribute needs none. */
	port = maps_find_port(e->in_force, physp);
	if (port == DL_NONE || e->in_force->routed.tables->vlarb[port] == DL_TABLES_NO_ROW)
		return;
	arb = &e->in_force->routed.tables->arbs[e->in_force->routed.tables->vlarb[port]];
	physp->vl_high_limit = arb->high_limit;
	entries = block_num >= VLARB_BLOCKS / 2 ? arb->high : arb->low;
	n = block_num >= VLARB_BLOCKS / 2 ? arb->nhigh : arb->nlow;
	first = block_num % 2 * IB_NUM_VL_ARB_ELEMENTS_IN_BLOCK;
	memset(block, 0, sizeof(*block));
	for (i = 0; i < IB_NUM_VL_ARB_ELEMENTS_IN_BLOCK && first + i < n; i++) {
		block->vl_entry[i].vl = entries[first + i].vl;
		block->vl_entry[i].weight = entries[first + i].weight;
	}
}

/* The VLs of a map, except 15, as the bits of one number. */
static unsigned int maps_row_bits(dl_tables_sl2vl_row row)
{
	unsigned int sl, bits = 0;

	for (sl = 0; sl < 16; sl++) {
		unsigned int vl = dl_tables_sl2vl_get(row, sl);

		bits |= vl == 15 ? 0 : vl;
	}
	return bits;
}

/* The same of all maps that belong to an output port; `bits` is by row. */
static unsigned int maps_port_bits(const struct dl_tables *t, const uint8_t *bits, uint32_t port)
{
	const struct dl_fabric_port *p = &t->fabric->ports[port];
	const struct dl_fabric_node *n = &t->fabric->nodes[p->node];
	unsigned int in, all = 0;
	const uint16_t *maps;

	if (n->sw == DL_NONE)
		return t->end_sl2vl[port] == DL_TABLES_NO_ROW ? 0 : bits[t->end_sl2vl[port]];
	maps = &t->sl2vl[t->sl2vl_first[n->sw] + p->num];
	for (in = 0; in <= n->nports; in++, maps += n->nports + 1)
		all |= *maps == DL_TABLES_NO_ROW ? 0 : bits[*maps];
	return all;
}

int dl_maps_count_cut(const struct dl_engine *e, struct dl_sweep *sweep,
		      struct dl_osm_names *working)
{
	const struct dl_tables *t = sweep->routed.tables;
	const struct dl_fabric *f = sweep->fabric;
	uint8_t *bits = dl_arena_array(&sweep->arena, t->nrows + 1, 1);
	const osm_switch_t *last = NULL;
	uint32_t i;

	sweep->cut = 0;
	if (!bits)
		return -ENOMEM;
	for (i = 0; i < t->nrows; i++)
		bits[i] = maps_row_bits(t->rows[i]);
	for (i = 0; i < f->nports; i++) {
		osm_node_t *node = osm_get_node_by_guid(&e->osm->subn,
							cl_hton64(f->nodes[f->ports[i].node].guid));
		osm_physp_t *p = node && f->ports[i].peer != DL_NONE ?
					 osm_node_get_physp_ptr(node, f->ports[i].num) :
					 NULL;
		unsigned int op_vls = p ? ib_port_info_get_op_vls(&p->port_info) : 0;

		/* 1 to 5: 1, 2, 4, 8 and 15 VLs. */
		if (!op_vls || !(maps_port_bits(t, bits, i) >> (op_vls - 1)))
			continue;
		sweep->cut++;
		if (working && node->sw && node->sw != last &&
		    dl_fabric_peer_switch(f, i) != DL_NONE &&
		    osm_physp_get_port_state(p) == IB_LINK_ACTIVE) {
			last = node->sw;
			dl_osm_names_add(working, last);
		}
	}
	return 0;
}

/* As OpenSM cuts it: all but VL 15 to OperVLs, which must have risen between switches. */
static bool maps_hold(osm_physp_t *p, uint8_t in, dl_tables_sl2vl_row row, unsigned int vls)
{
	unsigned int op_vls = ib_port_info_get_op_vls(&p->port_info);
	unsigned int mask = op_vls ? (1u << (op_vls - 1)) - 1 : 0;

	mask = vls ? vls - (vls != 15) : mask;
	for (unsigned int sl = 0; sl < 16; sl++) {
		unsigned int vl = dl_tables_sl2vl_get(row, sl);

		if (ib_slvl_table_get(osm_physp_get_slvl_tbl(p, in), sl) !=
		    (vl == 15 ? vl : vl & mask))
			return false;
	}
	return true;
}

static uint64_t maps_missing_at(struct dl_engine *e, const struct dl_fabric *f, uint32_t s)
{
	const struct dl_fabric_node *n = &f->nodes[f->switches[s]];
	const struct dl_fabric_port *ports = &f->ports[n->first_port];
	osm_switch_t *sw = dl_sweep_switch(e, f, s);
	osm_physp_t *port0 = sw ? osm_node_get_physp_ptr(sw->p_node, 0) : NULL;
	dl_tables_sl2vl_row row;
	uint64_t missing = 0;
	unsigned int vls;

	if (!port0 || !(port0->port_info.capability_mask & IB_PORT_CAP_HAS_SL_MAP))
		return 0;
	for (unsigned int out = 1; out <= n->nports; out++) {
		osm_physp_t *p = osm_node_get_physp_ptr(sw->p_node, out);

		if (!p || ports[out].peer == DL_NONE || osm_physp_get_port_state(p) == IB_LINK_DOWN)
			continue;
		vls = dl_fabric_peer_switch(f, n->first_port + out) == DL_NONE ? 0 : ports[out].vls;
		for (unsigned int in = 0; in <= n->nports; in++)
			if ((!in || ports[in].peer != DL_NONE) && dl_maps_find(e, p, in, out, &row))
				missing += !maps_hold(p, in, row, vls);
	}
	if (missing)
		dl_osm_names_add(&e->unconfirmed, sw);
	return missing;
}

uint64_t dl_maps_count_missing(struct dl_engine *e)
{
	const struct dl_fabric *f = e->in_force->fabric;
	uint64_t missing = 0;

	e->unconfirmed = (struct dl_osm_names){ .n = 0 };
	for (uint32_t s = 0; s < f->nswitches; s++)
		missing += maps_missing_at(e, f, s);
	return missing;
}
