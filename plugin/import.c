/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From OpenSM's subnet to a fabric.
 *
 * Nodes are in the order of OpenSM's node table, so that the same subnet gives the
 * same fabric in every subnet manager.  They are looked up by bisection on the keys
 * of that table, GUIDs in network order; the fabric's own index exists only once it
 * is finished.
 *
 * The fabric is the component of the subnet manager's switch, or the largest one
 * while the answer for its own cable is missing.  A switch that answers for itself
 * but not for its ports is in OpenSM's table without cables: it is named and left
 * out, so that the others can be routed.
 *
 * Links that OpenSM considers unhealthy, and with avoid_throttled_links those
 * between switches that run below their rate, are left out like failed ones.
 *
 * Complexity: O(ports x log nodes).
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <opensm/osm_db_pack.h>

#include "import.h"
#include "log.h"
#include "dateline/base.h"

struct import {
	struct osm_opensm *osm;
	struct dl_arena *arena;
	const struct dl_log *log;
	struct dl_fabric *fabric;
	uint32_t n;		/* nodes of OpenSM's table, in its order, as in the fabric: */
	uint64_t *keys;		/* GUIDs as on the wire, ascending */
	osm_node_t **nodes;	/* borrowed for this call */
	unsigned int throttled; /* cables left out */
};

static int import_compare_keys(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Place of a node in OpenSM's table, or DL_NONE. */
static uint32_t import_find_node(const struct import *im, const osm_node_t *node)
{
	uint64_t key = osm_node_get_node_guid(node);
	uint64_t *hit = bsearch(&key, im->keys, im->n, sizeof(key), import_compare_keys);

	return hit ? hit - im->keys : DL_NONE;
}

/* LinkSpeedExtActive counts, then Mellanox's FDR10, then LinkSpeedActive. */
static uint8_t import_speed(const osm_physp_t *p)
{
	bool fdr10 = p->ext_port_info.link_speed_active & FDR10;
	uint8_t speed = dl_fabric_speed_of_codes(
		fdr10 ? 0 : ib_port_info_get_link_speed_active(&p->port_info),
		ib_port_info_get_link_speed_ext_active(&p->port_info));

	return speed || !fdr10 ? speed : DL_FABRIC_FDR10;
}

/* Does OpenSM write SL-to-VL maps there?  Else all SLs share one VL. */
static bool has_sl_maps(osm_node_t *node, const osm_physp_t *p)
{
	const osm_physp_t *asked = node->sw ? osm_node_get_physp_ptr(node, 0) : p;

	return asked && asked->port_info.capability_mask & IB_PORT_CAP_HAS_SL_MAP;
}

/* Two nodes may claim one peer; OpenSM believes the one that the peer names. */
static bool has_link(const osm_physp_t *p)
{
	const osm_physp_t *far = p->p_remote_physp;

	return far && osm_physp_is_valid((osm_physp_t *)far) && far->p_remote_physp == p &&
	       p->port_num && p->port_num <= DL_FABRIC_MAX_PORTS && far->port_num &&
	       far->port_num <= DL_FABRIC_MAX_PORTS;
}

/* The data VLs that OpenSM is about to program, not those of the link now. */
static uint8_t link_vls(const struct import *im, osm_physp_t *p)
{
	uint8_t op_vls = ib_port_info_get_op_vls(&p->port_info);

	return has_sl_maps(p->p_node, p) ? dl_fabric_vls_of_code(osm_physp_calc_link_op_vls(
						   &im->osm->log, &im->osm->subn, p, op_vls)) :
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
		out->vls = dl_fabric_vls_of_code(ib_port_info_get_vl_cap(info));
	} else if (has_link(p)) {
		out->vls = link_vls(im, p);
		out->width = dl_fabric_width_of_code(info->link_width_active);
		out->speed = import_speed(p);
	}
	out->arb_high_cap = info->vl_arb_high_cap;
	out->arb_low_cap = info->vl_arb_low_cap;
}

static int import_node(struct import *im, osm_node_t *node)
{
	uint64_t guid = cl_ntoh64(osm_node_get_node_guid(node));
	struct dl_fabric *f = im->fabric;
	struct dl_fabric_node *n;
	uint32_t i, nports, index;
	int err;

	nports = dl_fabric_ports(im->log, node->physp_tbl_size - 1, guid, node->print_desc);
	err = dl_fabric_add_guid_node(f, osm_node_get_type(node), nports, guid, node->print_desc,
				      &index);
	if (err)
		return err;
	n = &f->nodes[index];
	n->system_guid = cl_ntoh64(node->node_info.sys_guid);
	n->vendor = cl_ntoh32(ib_node_info_get_vendor_id(&node->node_info));
	n->device = cl_ntoh16(node->node_info.device_id);
	n->lft_cap = node->sw ? cl_ntoh16(node->sw->switch_info.lin_cap) : 0;
	for (i = 0; i < node->physp_tbl_size && i <= nports; i++) {
		osm_physp_t *p = osm_node_get_physp_ptr(node, i);

		if (p)
			import_port(im, node, p, &f->ports[n->first_port + i]);
	}
	return 0;
}

static bool import_is_between_switches(const osm_physp_t *p)
{
	return p->p_node->sw && p->p_remote_physp->p_node->sw;
}

/* Does avoid_throttled_links, of OpenSM 3.3.22 on, leave this cable out? */
static bool is_throttled(const struct import *im, osm_physp_t *p)
{
#ifdef HAVE_OSM_THROTTLED_LINKS
	const struct osm_subn_opt *opt = &im->osm->subn.opt;

	return opt->avoid_throttled_links && import_is_between_switches(p) &&
	       osm_link_is_throttled(p, opt->fdr10);
#else
	(void)im, (void)p;
	return false;
#endif
}

/* A switch whose SwitchInfo is unknown forwards nothing. */
static bool is_unknown_switch(const osm_node_t *node)
{
	return osm_node_get_type(node) == IB_NODE_TYPE_SWITCH && !node->sw;
}

static int import_nodes(struct import *im)
{
	uint32_t max = cl_qmap_count(&im->osm->subn.node_guid_tbl) + 1, i;
	osm_node_t *node = NULL;
	int err = 0;

	im->keys = dl_arena_array(im->arena, max, sizeof(*im->keys));
	im->nodes = dl_arena_array(im->arena, max, sizeof(*im->nodes));
	if (!im->keys || !im->nodes)
		return -ENOMEM;
	while ((node = dl_opensm_next_node(im->osm, node))) {
		im->keys[im->n] = cl_qmap_key(&node->map_item);
		im->nodes[im->n++] = node;
	}
	for (i = 0; !err && i < im->n; i++)
		err = import_node(im, im->nodes[i]);
	return err;
}

/* The fabric's port, or DL_NONE where the node cannot have one of that number. */
static uint32_t port_index(const struct import *im, uint32_t n, uint32_t num)
{
	const struct dl_fabric_node *node = &im->fabric->nodes[n];

	return num > node->nports ? DL_NONE : node->first_port + num;
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
		peer_n = import_find_node(im, peer->p_node);
		if (peer_n == DL_NONE || peer_n < n || (peer_n == n && peer->port_num < i) ||
		    !osm_link_is_healthy(p) || is_unknown_switch(node) ||
		    is_unknown_switch(peer->p_node))
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
 * OpenSM drops the LID of a port when another port claims it by its LMC, but keeps it
 * in the list of assigned LIDs.  The list counts, or one port could keep others from
 * being routed.
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

		n = import_find_node(im, port->p_node);
		if (n == DL_NONE)
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

/* Keep the part that can be routed; what is left out is logged. */
static int take_part(struct import *im, bool needs_two_vls)
{
	const osm_port_t *sm = osm_get_port_by_guid(&im->osm->subn, im->osm->subn.sm_port_guid);
	struct dl_fabric_part part = { DL_NONE, needs_two_vls, DL_LOG_ERROR };
	uint32_t n = sm ? import_find_node(im, sm->p_node) : DL_NONE;
	struct dl_fabric *rest;
	struct dl_osm_log l;
	int err;

	if (n != DL_NONE)
		part.from = port_index(im, n, osm_physp_get_port_num(sm->p_physp));
	dl_osm_log_init(&l, im->osm, "DL23");
	err = dl_fabric_main_part(im->fabric, &part, im->log ? &l.log : NULL, &rest);
	if (err < 0 || !rest)
		return err < 0 ? err : 0;
	dl_fabric_free(im->fabric);
	im->fabric = rest;
	return 0;
}

int dl_import(struct osm_opensm *osm, struct dl_arena *arena, bool needs_two_vls,
	      const struct dl_log *log, struct dl_fabric **out)
{
	struct import im = { .osm = osm, .arena = arena, .log = log };
	uint32_t i;
	int err;

	err = dl_fabric_new(&im.fabric);
	if (err)
		return err;
	err = import_nodes(&im);
	for (i = 0; !err && i < im.n; i++)
		import_cables(&im, i);
	if (!err) {
		import_lids(&im);
		err = dl_fabric_finish(im.fabric, log);
	}
	if (!err)
		err = take_part(&im, needs_two_vls);
	if (err) {
		dl_fabric_free(im.fabric);
		return err;
	}
	if (im.throttled)
		dl_log(log, DL_LOG_WARNING,
		       "cables between switches that run below their rate and are not used "
		       "(avoid_throttled_links): %u",
		       im.throttled);
	*out = im.fabric;
	return 0;
}
