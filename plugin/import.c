/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From OpenSM's subnet to a fabric.
 *
 * The nodes are taken in the order of OpenSM's node table, so that the same
 * subnet gives the same fabric in every subnet manager.  A node is found
 * again by bisection on the keys of that table, which are GUIDs as they stand
 * on the wire; the fabric's own index only exists once it is finished.
 *
 * Taken is what cables connect to the subnet manager.  A switch that answers
 * for itself but not for its ports, or whose answers got lost, stands in
 * OpenSM's table without any: it is named and left out, for no route leads
 * there, and it must not keep the others from being routed.
 *
 * Links that OpenSM holds for unhealthy, and with avoid_throttled_links those
 * between switches that run below their rate, are left out: the routing then
 * takes them for failed.  So are the few cables between switches with a single
 * data VL, where the others have more: a torus needs two, and one device that
 * says it has one must not keep the rest from being routed.
 *
 * Complexity: O(ports x log nodes).
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <opensm/osm_db_pack.h>

#include "engine.h"
#include "dateline/base.h"

#define MAX_NAMED 10 /* nodes left out, in the log */

struct import {
	struct osm_opensm *osm;
	struct dl_arena *arena;
	const struct dl_log *log;
	struct dl_fabric *fabric;
	uint32_t n;		/* nodes of OpenSM's table, in its order: */
	uint64_t *keys;		/* GUIDs as on the wire, ascending */
	osm_node_t **nodes;	/* borrowed for this call */
	bool *taken;		/* connected to the subnet manager? */
	uint32_t *index;	/* in the fabric */
	unsigned int throttled; /* cables left out */
	bool avoids_one_vl;	/* between switches */
	unsigned int with_one_vl;
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

/* Place of a node in OpenSM's table, or DL_NONE. */
static uint32_t find_node(const struct import *im, const osm_node_t *node)
{
	uint64_t key = osm_node_get_node_guid(node);
	uint64_t *hit = bsearch(&key, im->keys, im->n, sizeof(key), compare_keys);

	return hit ? hit - im->keys : DL_NONE;
}

/* PortInfo.LinkWidthActive to lanes. */
static uint8_t lanes(uint8_t width)
{
	switch (width) {
	case IB_LINK_WIDTH_ACTIVE_1X:
		return 1;
	case 16: /* 2X: without a name in OpenSM 3.3.20 */
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
	case 4: /* without a name in OpenSM 3.3.20 */
		return DL_FABRIC_HDR;
	case 8: /* without a name in OpenSM's headers up to 3.3.23 */
		return DL_FABRIC_NDR;
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

/* Does OpenSM write SL-to-VL maps there?  Else all SLs share one VL. */
static bool has_sl_maps(osm_node_t *node, const osm_physp_t *p)
{
	const osm_physp_t *asked = node->sw ? osm_node_get_physp_ptr(node, 0) : p;

	return asked && asked->port_info.capability_mask & IB_PORT_CAP_HAS_SL_MAP;
}

/* Of two nodes that claim one peer, OpenSM believes one: both ends say so. */
static bool has_link(const osm_physp_t *p)
{
	const osm_physp_t *far = p->p_remote_physp;

	return far && osm_physp_is_valid((osm_physp_t *)far) && far->p_remote_physp == p &&
	       p->port_num && p->port_num <= DL_FABRIC_MAX_PORTS && far->port_num &&
	       far->port_num <= DL_FABRIC_MAX_PORTS;
}

/* The data VLs of a cable as OpenSM is going to program them, not what is there yet. */
static uint8_t link_vls(const struct import *im, osm_physp_t *p)
{
	uint8_t op_vls = ib_port_info_get_op_vls(&p->port_info);

	return has_sl_maps(p->p_node, p) ?
		       data_vls(osm_physp_calc_link_op_vls(&im->osm->log, &im->osm->subn, p,
							   op_vls)) :
		       1;
}

static void import_port(const struct import *im, osm_node_t *node, osm_physp_t *p,
			struct dl_fabric_port *out)
{
	const ib_port_info_t *info = &p->port_info;
	bool is_switch = osm_node_get_type(node) == IB_NODE_TYPE_SWITCH;
	bool port0 = is_switch && osm_physp_get_port_num(p) == 0;

	if (port0 || !is_switch)
		out->guid = cl_ntoh64(osm_physp_get_port_guid(p));
	if (port0) {
		/* A base port 0 has neither VLs nor arbitration. */
		if (!node->sw || !ib_switch_info_is_enhanced_port0(&node->sw->switch_info))
			return;
		out->vls = data_vls(ib_port_info_get_vl_cap(info));
	} else if (has_link(p)) {
		out->vls = link_vls(im, p);
		out->width = lanes(info->link_width_active);
		out->speed = speed(p);
	}
	out->arb_high_cap = info->vl_arb_high_cap;
	out->arb_low_cap = info->vl_arb_low_cap;
}

static int import_node(struct import *im, osm_node_t *node, uint32_t *index)
{
	uint64_t guid = cl_ntoh64(osm_node_get_node_guid(node));
	struct dl_fabric *f = im->fabric;
	struct dl_fabric_node *n;
	uint32_t i, nports;
	char id[32];
	int err;

	snprintf(id, sizeof(id), "%s-%016" PRIx64, type_letter(node), guid);
	nports = dl_fabric_ports(im->log, node->physp_tbl_size - 1, guid, node->print_desc);
	err = dl_fabric_add_node(f, osm_node_get_type(node), nports, guid, id, index);
	if (err)
		return err;
	n = &f->nodes[*index];
	n->system_guid = cl_ntoh64(node->node_info.sys_guid);
	n->vendor = cl_ntoh32(ib_node_info_get_vendor_id(&node->node_info));
	n->device = cl_ntoh16(node->node_info.device_id);
	for (i = 0; i < node->physp_tbl_size && i <= nports; i++) {
		osm_physp_t *p = osm_node_get_physp_ptr(node, i);

		if (p)
			import_port(im, node, p, &f->ports[n->first_port + i]);
	}
	return dl_fabric_set_desc(f, *index, node->print_desc);
}

/* Does avoid_throttled_links, of OpenSM 3.3.22 on, leave this cable out? */
static bool is_throttled(const struct import *im, osm_physp_t *p)
{
#ifdef HAVE_OSM_THROTTLED_LINKS
	const struct osm_subn_opt *opt = &im->osm->subn.opt;

	return opt->avoid_throttled_links && p->p_node->sw && p->p_remote_physp->p_node->sw &&
	       osm_link_is_throttled(p, opt->fdr10);
#else
	(void)im, (void)p;
	return false;
#endif
}

static bool is_between_switches(const osm_physp_t *p)
{
	return p->p_node->sw && p->p_remote_physp->p_node->sw;
}

static bool has_one_vl(const struct import *im, osm_physp_t *p)
{
	return link_vls(im, p) == 1 || link_vls(im, p->p_remote_physp) == 1;
}

/* Do fewer than half of the cables between switches, but some, have one data VL? */
static bool few_have_one_vl(const struct import *im)
{
	uint32_t cables = 0, narrow = 0;

	for (uint32_t n = 0; n < im->n; n++)
		for (uint32_t i = 1; i < im->nodes[n]->physp_tbl_size; i++) {
			osm_physp_t *p = osm_node_get_physp_ptr(im->nodes[n], i);

			if (!p || !has_link(p) || !is_between_switches(p))
				continue;
			cables++;
			narrow += has_one_vl(im, p);
		}
	return narrow && narrow < cables / 2;
}

static bool is_avoided(const struct import *im, osm_physp_t *p)
{
	return im->avoids_one_vl && is_between_switches(p) && has_one_vl(im, p);
}

/* The place of the node behind a cable that is to be used, or DL_NONE. */
static uint32_t find_peer(const struct import *im, osm_physp_t *p)
{
	if (!p || !has_link(p) || !osm_link_is_healthy(p) || is_throttled(im, p) ||
	    is_avoided(im, p))
		return DL_NONE;
	return find_node(im, p->p_remote_physp->p_node);
}

/* Label the switches that cables connect to this one, itself included. */
static uint32_t label_component(const struct import *im, uint32_t from, uint32_t *label,
				uint32_t *queue)
{
	uint32_t head, n = 1, i, peer;

	queue[0] = from;
	label[from] = from;
	for (head = 0; head < n; head++) {
		osm_node_t *node = im->nodes[queue[head]];

		for (i = 1; i < node->physp_tbl_size; i++) {
			peer = find_peer(im, osm_node_get_physp_ptr(node, i));
			if (peer == DL_NONE || !im->nodes[peer]->sw || label[peer] != DL_NONE)
				continue;
			label[peer] = from;
			queue[n++] = peer;
		}
	}
	return n;
}

/*
 * The switch that the subnet manager's port leads to, if it is known, or is
 * itself: or DL_NONE.
 */
static uint32_t find_sm_switch(const struct import *im)
{
	osm_port_t *sm = osm_get_port_by_guid(&im->osm->subn, im->osm->subn.sm_port_guid);
	uint32_t peer;

	if (!sm)
		return DL_NONE;
	if (sm->p_node->sw)
		return find_node(im, sm->p_node);
	peer = find_peer(im, sm->p_physp);
	return peer != DL_NONE && im->nodes[peer]->sw ? peer : DL_NONE;
}

/* Is this a switch of the component, or cabled to one?  Only these forward. */
static bool is_attached(const struct import *im, uint32_t n, const uint32_t *label,
			uint32_t component)
{
	osm_node_t *node = im->nodes[n];
	uint32_t i, peer;

	if (node->sw)
		return label[n] == component;
	for (i = 1; i < node->physp_tbl_size; i++) {
		peer = find_peer(im, osm_node_get_physp_ptr(node, i));
		if (peer != DL_NONE && label[peer] == component)
			return true;
	}
	return false;
}

/*
 * Take the component of the subnet manager; the largest one while the answer
 * for its own cable is missing.
 */
static int take_component(struct import *im)
{
	uint32_t *label = dl_arena_array(im->arena, im->n + 1, sizeof(*label));
	uint32_t *queue = dl_arena_array(im->arena, im->n + 1, sizeof(*queue));
	uint32_t component = DL_NONE, largest = 0, size, n, sm;

	if (!label || !queue)
		return -ENOMEM;
	memset(label, 0xFF, im->n * sizeof(*label));
	for (n = 0; n < im->n; n++) {
		if (!im->nodes[n]->sw || label[n] != DL_NONE)
			continue;
		size = label_component(im, n, label, queue);
		if (size > largest)
			component = n;
		largest = size > largest ? size : largest;
	}
	sm = find_sm_switch(im);
	if (sm != DL_NONE)
		component = label[sm];
	for (n = 0; component != DL_NONE && n < im->n; n++)
		im->taken[n] = is_attached(im, n, label, component);
	return 0;
}

static void name_left_out(const struct import *im)
{
	uint32_t i, n = 0;

	for (i = 0; im->log && i < im->n; i++) {
		if (im->taken[i] || n++ >= MAX_NAMED)
			continue;
		DL_SAY(im->osm, OSM_LOG_ERROR,
		       "ERR DL23: no cable connects %s-%016" PRIx64
		       " \"%s\" to the subnet manager: left out, while the "
		       "rest is routed",
		       type_letter(im->nodes[i]), cl_ntoh64(im->keys[i]), im->nodes[i]->print_desc);
	}
	if (n > MAX_NAMED)
		DL_SAY(im->osm, OSM_LOG_ERROR, "ERR DL23: ... and %u nodes more", n - MAX_NAMED);
}

static int import_nodes(struct import *im)
{
	cl_qmap_t *table = &im->osm->subn.node_guid_tbl;
	uint32_t max = cl_qmap_count(table) + 1, i;
	cl_map_item_t *item;
	int err;

	im->keys = dl_arena_array(im->arena, max, sizeof(*im->keys));
	im->nodes = dl_arena_array(im->arena, max, sizeof(*im->nodes));
	im->taken = dl_arena_array(im->arena, max, sizeof(*im->taken));
	im->index = dl_arena_array(im->arena, max, sizeof(*im->index));
	if (!im->keys || !im->nodes || !im->taken || !im->index)
		return -ENOMEM;
	for (item = cl_qmap_head(table); item != cl_qmap_end(table); item = cl_qmap_next(item)) {
		im->keys[im->n] = cl_qmap_key(item);
		im->nodes[im->n++] = (osm_node_t *)item;
	}
	im->avoids_one_vl = im->avoids_one_vl && few_have_one_vl(im);
	err = take_component(im);
	for (i = 0; !err && i < im->n; i++)
		if (im->taken[i])
			err = import_node(im, im->nodes[i], &im->index[i]);
	return err;
}

/* The fabric's port, or DL_NONE where the node cannot have one of that number. */
static uint32_t port_index(const struct import *im, uint32_t n, uint32_t num)
{
	const struct dl_fabric_node *node = &im->fabric->nodes[im->index[n]];

	return num > node->nports ? DL_NONE : node->first_port + num;
}

static void name_avoided(struct import *im, const osm_physp_t *p)
{
	if (im->with_one_vl++ < MAX_NAMED)
		dl_log(im->log, DL_LOG_WARNING,
		       "1 data VL between port %u of \"%s\" and port %u of \"%s\", where a torus "
		       "needs 2 and most cables have more: not used",
		       p->port_num, p->p_node->print_desc, p->p_remote_physp->port_num,
		       p->p_remote_physp->p_node->print_desc);
}

/* A node's cables, each once, seen from the end that comes first. */
static void import_cables(struct import *im, uint32_t n)
{
	osm_node_t *node = im->nodes[n];
	struct dl_fabric *f = im->fabric;
	uint32_t peer_n, i;

	for (i = 1; i < node->physp_tbl_size; i++) {
		osm_physp_t *p = osm_node_get_physp_ptr(node, i), *peer;

		if (!p || !has_link(p))
			continue;
		peer = p->p_remote_physp;
		peer_n = find_node(im, peer->p_node);
		if (peer_n != DL_NONE && is_avoided(im, p)) {
			if (peer_n > n || !im->taken[peer_n])
				name_avoided(im, p);
			continue;
		}
		if (peer_n == DL_NONE || !im->taken[peer_n] || peer_n < n ||
		    (peer_n == n && peer->port_num < i) || !osm_link_is_healthy(p))
			continue;
		if (is_throttled(im, p)) {
			im->throttled++;
			continue;
		}
		if (dl_fabric_connect(f, port_index(im, n, i),
				      port_index(im, peer_n, peer->port_num)))
			dl_log(im->log, DL_LOG_WARNING,
			       "port %u of \"%s\" cannot be cabled to port %u "
			       "of \"%s\": left out",
			       i, node->print_desc, peer->port_num, peer->p_node->print_desc);
	}
}

/*
 * The LIDs that OpenSM has assigned, not those that the port claims: one that
 * answers with LMC 7 owns no more for it.
 */
static uint8_t assigned_lmc(const struct import *im, const osm_port_t *port)
{
	struct osm_subn *subn = &im->osm->subn;

	if (port->p_node->sw && !osm_switch_sp0_is_lmc_capable(port->p_node->sw, subn))
		return 0;
	return subn->opt.lmc;
}

static bool is_free(const cl_ptr_vector_t *table, uint16_t first, uint16_t last)
{
	bool none = last < cl_ptr_vector_get_size(table);

	for (uint32_t lid = first; none && lid <= last; lid++)
		none = !cl_ptr_vector_get(table, lid);
	return none;
}

/*
 * OpenSM forgets the LID of a port, and takes it away, when another one claims it
 * by its LMC; its list of assigned LIDs still has it.  That counts, or one port
 * could keep others from being routed.
 */
static void restore_lid(struct import *im, osm_port_t *port)
{
	cl_ptr_vector_t *table = &im->osm->subn.port_lid_tbl;
	uint16_t first, last;

	if (port->lid ||
	    osm_db_guid2lid_get(im->osm->sm.lid_mgr.p_g2l, cl_ntoh64(osm_port_get_guid(port)),
				&first, &last) ||
	    !is_free(table, first, last))
		return;
	port->lid = cl_hton16(first);
	osm_physp_set_base_lid(port->p_physp, port->lid);
	for (uint32_t lid = first; lid <= last; lid++)
		cl_ptr_vector_set(table, lid, port);
}

static void import_lids(struct import *im)
{
	cl_qmap_t *table = &im->osm->subn.port_guid_tbl;
	struct dl_fabric *f = im->fabric;
	cl_map_item_t *item;
	uint32_t n, at;

	for (item = cl_qmap_head(table); item != cl_qmap_end(table); item = cl_qmap_next(item)) {
		osm_port_t *port = (osm_port_t *)item;
		unsigned int claimed = ib_port_info_get_lmc(&port->p_physp->port_info);

		n = find_node(im, port->p_node);
		if (n == DL_NONE || !im->taken[n])
			continue;
		at = port_index(im, n, osm_physp_get_port_num(port->p_physp));
		if (at == DL_NONE || !dl_fabric_is_end_port(f, at))
			continue;
		restore_lid(im, port);
		f->ports[at].lid = cl_ntoh16(port->lid);
		f->ports[at].lmc = port->lid ? assigned_lmc(im, port) : 0;
		if (port->lid && claimed > f->ports[at].lmc)
			dl_log(im->log, DL_LOG_WARNING,
			       "0x%016" PRIx64 " \"%s\" claims %u LIDs, and has been assigned %u: "
			       "only these are routed",
			       cl_ntoh64(osm_node_get_node_guid(port->p_node)),
			       port->p_node->print_desc, 1u << claimed, 1u << f->ports[at].lmc);
	}
}

int dl_import(struct osm_opensm *osm, struct dl_arena *arena, bool needs_two_vls,
	      const struct dl_log *log, struct dl_fabric **out)
{
	struct import im = {
		.osm = osm, .arena = arena, .log = log, .avoids_one_vl = needs_two_vls
	};
	uint32_t i;
	int err;

	err = dl_fabric_new(&im.fabric);
	if (err)
		return err;
	err = import_nodes(&im);
	for (i = 0; !err && i < im.n; i++)
		if (im.taken[i])
			import_cables(&im, i);
	if (!err) {
		import_lids(&im);
		err = dl_fabric_finish(im.fabric, log);
	}
	if (err) {
		dl_fabric_free(im.fabric);
		return err;
	}
	name_left_out(&im);
	if (im.throttled)
		dl_log(log, DL_LOG_WARNING,
		       "cables between switches that run below their rate and are not used "
		       "(avoid_throttled_links): %u",
		       im.throttled);
	if (im.with_one_vl > MAX_NAMED)
		dl_log(log, DL_LOG_WARNING, "... and %u cables more with 1 data VL",
		       im.with_one_vl - MAX_NAMED);
	*out = im.fabric;
	return 0;
}
