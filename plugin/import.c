/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From OpenSM's subnet to a fabric.
 *
 * The nodes are taken in the order of OpenSM's node table, so that the same
 * subnet gives the same fabric in every subnet manager.  A node is found
 * again by bisection on the keys of that table, which are GUIDs as they stand
 * on the wire; the fabric's own index only exists once it is finished.
 *
 * Links that OpenSM holds for unhealthy, and with avoid_throttled_links those
 * between switches that run below their rate, are left out: the routing then
 * takes them for failed.
 *
 * Complexity: O(ports x log nodes).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "dateline/base.h"

struct import {
	struct osm_opensm *osm;
	struct dl_arena *arena;
	const struct dl_log *log;
	struct dl_fabric *fabric;
	uint64_t *keys;		/* node GUIDs as on the wire, ascending */
	unsigned int throttled; /* cables left out */
};

static const char *type_letter(const osm_node_t *node)
{
	switch (osm_node_get_type(node)) {
	case IB_NODE_TYPE_SWITCH:
		return "S";
	case IB_NODE_TYPE_ROUTER:
		return "R";
	default:
		return "H";
	}
}

static int compare_keys(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Index of a node, or DL_NONE. */
static uint32_t find_node(const struct import *im, const osm_node_t *node)
{
	uint64_t key = osm_node_get_node_guid(node);
	uint64_t *hit = bsearch(&key, im->keys, im->fabric->nnodes, sizeof(key),
				compare_keys);

	return hit ? hit - im->keys : DL_NONE;
}

/* PortInfo.LinkWidthActive to lanes. */
static uint8_t lanes(uint8_t width)
{
	switch (width) {
	case IB_LINK_WIDTH_ACTIVE_1X:
		return 1;
	case IB_LINK_WIDTH_ACTIVE_2X:
		return 2;
	case IB_LINK_WIDTH_ACTIVE_4X:
		return 4;
	case IB_LINK_WIDTH_ACTIVE_8X:
		return 8;
	case IB_LINK_WIDTH_ACTIVE_12X:
		return 12;
	default:
		return 0;
	}
}

static uint8_t speed(const osm_physp_t *p)
{
	switch (ib_port_info_get_link_speed_ext_active(&p->port_info)) {
	case IB_LINK_SPEED_EXT_ACTIVE_14:
		return DL_FABRIC_FDR;
	case IB_LINK_SPEED_EXT_ACTIVE_25:
		return DL_FABRIC_EDR;
	case IB_LINK_SPEED_EXT_ACTIVE_50:
		return DL_FABRIC_HDR;
	}
	if (p->ext_port_info.link_speed_active & FDR10)
		return DL_FABRIC_FDR10;
	switch (ib_port_info_get_link_speed_active(&p->port_info)) {
	case IB_LINK_SPEED_ACTIVE_2_5:
		return DL_FABRIC_SDR;
	case IB_LINK_SPEED_ACTIVE_5:
		return DL_FABRIC_DDR;
	case IB_LINK_SPEED_ACTIVE_10:
		return DL_FABRIC_QDR;
	default:
		return DL_FABRIC_SPEED_UNKNOWN;
	}
}

/* PortInfo.OperationalVLs, an enumeration, to a number of data VLs. */
static uint8_t data_vls(uint8_t op_vls)
{
	static const uint8_t vls[] = { 0, 1, 2, 4, 8, 15 };

	return op_vls < sizeof(vls) ? vls[op_vls] : 0;
}

static bool has_link(const osm_physp_t *p)
{
	return p->p_remote_physp && osm_physp_is_valid(p->p_remote_physp);
}

static void import_port(const struct import *im, const osm_node_t *node,
			osm_physp_t *p, struct dl_fabric_port *out)
{
	const ib_port_info_t *info = &p->port_info;
	bool is_switch = osm_node_get_type(node) == IB_NODE_TYPE_SWITCH;
	bool port0 = is_switch && osm_physp_get_port_num(p) == 0;

	if (port0 || !is_switch)
		out->guid = cl_ntoh64(osm_physp_get_port_guid(p));
	if (port0) {
		/* A base port 0 has neither VLs nor arbitration. */
		if (!node->sw ||
		    !ib_switch_info_is_enhanced_port0(&node->sw->switch_info))
			return;
		out->vls = data_vls(ib_port_info_get_vl_cap(info));
	} else if (has_link(p)) {
		/* What OpenSM is going to program, not what is there yet. */
		out->vls = data_vls(osm_physp_calc_link_op_vls(
			&im->osm->log, &im->osm->subn, p,
			ib_port_info_get_op_vls(info)));
		out->width = lanes(info->link_width_active);
		out->speed = speed(p);
	}
	out->arb_high_cap = info->vl_arb_high_cap;
	out->arb_low_cap = info->vl_arb_low_cap;
}

static int import_node(struct import *im, osm_node_t *node)
{
	uint64_t guid = cl_ntoh64(osm_node_get_node_guid(node));
	struct dl_fabric *f = im->fabric;
	uint32_t index, i;
	char id[32];
	int err;

	snprintf(id, sizeof(id), "%s-%016" PRIx64, type_letter(node), guid);
	err = dl_fabric_add_node(f, osm_node_get_type(node),
				 node->physp_tbl_size - 1, guid, id, &index);
	if (err == -EINVAL)
		dl_log(im->log, DL_LOG_ERROR, "node %s \"%s\" claims %u ports",
		       id, node->print_desc, node->physp_tbl_size - 1);
	if (err)
		return err;
	f->nodes[index].system_guid = cl_ntoh64(node->node_info.sys_guid);
	f->nodes[index].vendor =
		cl_ntoh32(ib_node_info_get_vendor_id(&node->node_info));
	f->nodes[index].device = cl_ntoh16(node->node_info.device_id);
	for (i = 0; i < node->physp_tbl_size; i++) {
		osm_physp_t *p = osm_node_get_physp_ptr(node, i);

		if (p)
			import_port(im, node, p,
				    &f->ports[f->nodes[index].first_port + i]);
	}
	return dl_fabric_set_desc(f, index, node->print_desc);
}

static int import_nodes(struct import *im)
{
	cl_qmap_t *table = &im->osm->subn.node_guid_tbl;
	cl_map_item_t *item;
	uint32_t n = 0;
	int err;

	im->keys = dl_arena_array(im->arena, cl_qmap_count(table) + 1,
				  sizeof(*im->keys));
	if (!im->keys)
		return -ENOMEM;
	for (item = cl_qmap_head(table); item != cl_qmap_end(table);
	     item = cl_qmap_next(item)) {
		im->keys[n++] = cl_qmap_key(item);
		err = import_node(im, (osm_node_t *)item);
		if (err)
			return err;
	}
	return 0;
}

/* Is the cable between these two to be used? */
static bool is_usable(struct import *im, osm_physp_t *p, osm_physp_t *peer)
{
	const struct osm_subn_opt *opt = &im->osm->subn.opt;

	if (!osm_link_is_healthy(p))
		return false;
	if (opt->avoid_throttled_links && p->p_node->sw && peer->p_node->sw &&
	    osm_link_is_throttled(p, opt->fdr10)) {
		im->throttled++;
		return false;
	}
	return true;
}

static int import_cables(struct import *im, osm_node_t *node)
{
	struct dl_fabric *f = im->fabric;
	uint32_t index = find_node(im, node), peer_index, i;
	int err;

	for (i = 1; i < node->physp_tbl_size; i++) {
		osm_physp_t *p = osm_node_get_physp_ptr(node, i), *peer;

		if (!p || !has_link(p))
			continue;
		peer = p->p_remote_physp;
		peer_index = find_node(im, peer->p_node);
		/* Each cable once, seen from the end that comes first. */
		if (peer_index == DL_NONE || peer_index < index ||
		    (peer_index == index && peer->port_num < i) ||
		    peer->port_num == 0 || !is_usable(im, p, peer))
			continue;
		err = dl_fabric_connect(f, f->nodes[index].first_port + i,
					f->nodes[peer_index].first_port +
						peer->port_num);
		if (err == -ENOMEM)
			return err;
		if (err)
			dl_log(im->log, DL_LOG_WARNING,
			       "port %u of \"%s\" cannot "
			       "be cabled to port %u of \"%s\": left out",
			       i, node->print_desc, peer->port_num,
			       peer->p_node->print_desc);
	}
	return 0;
}

static void import_lids(struct import *im)
{
	cl_qmap_t *table = &im->osm->subn.port_guid_tbl;
	struct dl_fabric *f = im->fabric;
	uint16_t first, last;
	cl_map_item_t *item;
	uint32_t index;

	for (item = cl_qmap_head(table); item != cl_qmap_end(table);
	     item = cl_qmap_next(item)) {
		const osm_port_t *port = (const osm_port_t *)item;
		struct dl_fabric_port *p;

		index = find_node(im, port->p_node);
		osm_port_get_lid_range_ho(port, &first, &last);
		if (index == DL_NONE || !first || last < first)
			continue;
		p = &f->ports[f->nodes[index].first_port +
			      osm_physp_get_port_num(port->p_physp)];
		p->lid = first;
		for (p->lmc = 0; first + (1 << p->lmc) - 1 < last; p->lmc++)
			;
	}
}

int dl_import(struct osm_opensm *osm, struct dl_arena *arena,
	      const struct dl_log *log, struct dl_fabric **out)
{
	struct import im = { .osm = osm, .arena = arena, .log = log };
	cl_qmap_t *table = &osm->subn.node_guid_tbl;
	cl_map_item_t *item;
	int err;

	err = dl_fabric_new(&im.fabric);
	if (err)
		return err;
	err = import_nodes(&im);
	for (item = cl_qmap_head(table); !err && item != cl_qmap_end(table);
	     item = cl_qmap_next(item))
		err = import_cables(&im, (osm_node_t *)item);
	if (!err) {
		import_lids(&im);
		err = dl_fabric_finish(im.fabric, log);
	}
	if (err) {
		dl_fabric_free(im.fabric);
		return err;
	}
	if (im.throttled)
		dl_log(log, DL_LOG_WARNING,
		       "%u cables between switches run below "
		       "their rate and are not used (avoid_throttled_links)",
		       im.throttled);
	*out = im.fabric;
	return 0;
}
