/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <opensm/osm_db_pack.h>
#include <opensm/osm_version.h>

#include "osm_fixture.h"

#define VL_CAP 4 /* 8 VLs */

extern const osm_event_plugin_t osm_event_plugin;

/* OpenSM's functions get no context of their own. */
struct osm_fixture *osm_fixture_current;

volatile unsigned int osm_exit_flag;

/* ---- OpenSM's containers --------------------------------------------------- */

void osm_fixture_map_init(cl_qmap_t *map)
{
	cl_list_item_t *end = &map->nil.pool_item.list_item;

	end->p_next = end->p_prev = end;
	map->state = CL_INITIALIZED;
	map->count = 0;
}

/* In ascending order of keys, which is all that the plugin relies on. */
void osm_fixture_map_add(cl_qmap_t *map, uint64_t key, cl_map_item_t *item)
{
	cl_list_item_t *end = &map->nil.pool_item.list_item, *at = end->p_next;
	cl_list_item_t *own = &item->pool_item.list_item;

	while (at != end && ((cl_map_item_t *)at)->key < key)
		at = at->p_next;
	item->key = key;
	own->p_next = at;
	own->p_prev = at->p_prev;
	at->p_prev->p_next = own;
	at->p_prev = own;
	map->count++;
}

static void map_remove(cl_qmap_t *map, cl_map_item_t *item)
{
	cl_list_item_t *own = &item->pool_item.list_item;

	own->p_prev->p_next = own->p_next;
	own->p_next->p_prev = own->p_prev;
	map->count--;
}

void osm_fixture_list_init(cl_qlist_t *list)
{
	list->end.p_next = list->end.p_prev = &list->end;
	list->count = 0;
	list->state = CL_INITIALIZED;
}

static void vector_init(cl_ptr_vector_t *v, size_t size)
{
	v->p_ptr_array = calloc(size, sizeof(*v->p_ptr_array));
	assert_non_null(v->p_ptr_array);
	v->size = v->capacity = size;
	v->state = CL_INITIALIZED;
}

unsigned int osm_fixture_logged(const struct osm_fixture *x, const char *text)
{
	unsigned int n = 0;
	const char *at;

	for (at = x->log; (at = strstr(at, text)); at += strcspn(at, "\n"))
		n++;
	return n;
}

/* ---- the subnet -------------------------------------------------------------- */

static void add_physp(osm_node_t *node, unsigned int num, uint64_t guid, unsigned int nmaps)
{
	osm_physp_t *p = &node->physp_table[num];

	p->port_guid = cl_hton64(guid);
	p->port_num = num;
	p->p_node = node;
	p->healthy = TRUE;
	p->port_info.vl_cap = VL_CAP << 4;
	ib_port_info_set_op_vls(&p->port_info, VL_CAP);
	p->port_info.vl_arb_high_cap = p->port_info.vl_arb_low_cap = 64;
	p->port_info.capability_mask = IB_PORT_CAP_HAS_SL_MAP;
	p->port_info.link_width_active = IB_LINK_WIDTH_ACTIVE_4X;
	p->port_info.link_speed_ext = IB_LINK_SPEED_EXT_ACTIVE_25 << 4;
	ib_port_info_set_port_state(&p->port_info, IB_LINK_DOWN);
	vector_init(&p->slvl_by_port, nmaps);
	for (unsigned int i = 0; i < nmaps; i++)
		cl_ptr_vector_set(&p->slvl_by_port, i, calloc(1, sizeof(ib_slvl_table_t)));
}

static void add_switch(struct osm_fixture *x, osm_node_t *node, unsigned int nports)
{
	osm_switch_t *sw = calloc(1, sizeof(*sw));

	assert_non_null(sw);
	sw->p_node = node;
	sw->num_ports = nports + 1;
	sw->switch_info.lin_cap = cl_hton16(OSM_FIXTURE_LIDS);
	sw->switch_info.mcast_cap = cl_hton16(OSM_FIXTURE_GROUPS);
	sw->mcast_tbl.num_ports = sw->num_ports;
	sw->mcast_tbl.max_block_in_use = -1;
	assert_int_equal(osm_mcast_tbl_realloc(&sw->mcast_tbl, OSM_FIXTURE_GROUPS - 1), 0);
	node->sw = sw;
	osm_fixture_map_add(&x->osm->subn.sw_guid_tbl, node->node_info.node_guid, &sw->map_item);
}

static void add_port(struct osm_fixture *x, osm_node_t *node, unsigned int num, uint16_t lid)
{
	osm_port_t *port = calloc(1, sizeof(*port));

	assert_non_null(port);
	port->p_node = node;
	port->p_physp = &node->physp_table[num];
	port->guid = port->p_physp->port_guid;
	port->lid = cl_hton16(lid);
	port->priv = (void *)(uintptr_t)lid; /* what guid2lid holds */
	port->p_physp->port_info.base_lid = port->lid;
	cl_ptr_vector_set(&x->osm->subn.port_lid_tbl, lid, port);
	osm_fixture_map_add(&x->osm->subn.port_guid_tbl, port->guid, &port->map_item);
}

static void add_node(struct osm_fixture *x, const struct dl_fabric *f, uint32_t n)
{
	const struct dl_fabric_node *from = &f->nodes[n];
	bool is_switch = dl_fabric_is_switch(f, n);
	osm_node_t *node = calloc(1, sizeof(*node) + from->nports * sizeof(osm_physp_t));

	assert_non_null(node);
	node->physp_tbl_size = from->nports + 1;
	node->node_info.node_type = is_switch ? IB_NODE_TYPE_SWITCH : IB_NODE_TYPE_CA;
	node->node_info.node_guid = node->node_info.sys_guid = cl_hton64(from->guid);
	node->print_desc = strdup(dl_fabric_node_name(f, n));
	node->discovery_count = 1;
	for (unsigned int i = !is_switch; i <= from->nports; i++) {
		uint64_t guid = f->ports[from->first_port + i].guid;

		add_physp(node, i, guid ? guid : from->guid, is_switch ? from->nports + 1 : 1);
	}
	osm_fixture_map_add(&x->osm->subn.node_guid_tbl, node->node_info.node_guid,
			    &node->map_item);
	if (is_switch)
		add_switch(x, node, from->nports);
	for (unsigned int i = 0; i <= from->nports; i++)
		if (f->ports[from->first_port + i].lid)
			add_port(x, node, i, f->ports[from->first_port + i].lid);
}

static osm_physp_t *physp_of(const struct osm_fixture *x, const struct dl_fabric *f, uint32_t port)
{
	uint64_t guid = f->nodes[f->ports[port].node].guid;
	osm_node_t *node = osm_get_node_by_guid(&x->osm->subn, cl_hton64(guid));

	return &node->physp_table[f->ports[port].num];
}

void osm_fixture_mend(osm_physp_t *a, osm_physp_t *b)
{
	a->p_remote_physp = b;
	b->p_remote_physp = a;
	ib_port_info_set_port_state(&a->port_info, IB_LINK_INIT);
	ib_port_info_set_port_state(&b->port_info, IB_LINK_INIT);
}

void osm_fixture_cut(osm_physp_t *p)
{
	osm_physp_t *far = p->p_remote_physp;

	p->p_remote_physp = far->p_remote_physp = NULL;
	ib_port_info_set_port_state(&p->port_info, IB_LINK_DOWN);
	ib_port_info_set_port_state(&far->port_info, IB_LINK_DOWN);
}

static void fill_subnet(struct osm_fixture *x, const struct dl_fabric *f)
{
	for (uint32_t n = 0; n < f->nnodes; n++)
		add_node(x, f, n);
	for (uint32_t p = 0; p < f->nports; p++)
		if (f->ports[p].peer != DL_NONE && f->ports[p].peer > p)
			osm_fixture_mend(physp_of(x, f, p), physp_of(x, f, f->ports[p].peer));
	x->osm->subn.sm_port_guid = osm_fixture_adapter(x, 0)->guid;
}

static void set_options(struct osm_opensm *osm)
{
	struct osm_qos_options *qos[] = { &osm->subn.opt.qos_options, &osm->subn.opt.qos_ca_options,
					  &osm->subn.opt.qos_sw0_options,
					  &osm->subn.opt.qos_swe_options,
					  &osm->subn.opt.qos_rtr_options };

	osm->subn.opt.qos = TRUE;
	osm->subn.opt.max_op_vls = 5;
	osm->subn.opt.head_of_queue_lifetime = 2;
	for (unsigned int i = 0; i < sizeof(qos) / sizeof(qos[0]); i++)
		qos[i]->high_limit = -1;
	osm->subn.sm_state = IB_SMINFO_STATE_MASTER;
	osm->subn.first_time_master_sweep = TRUE;
	osm->log.level = OSM_LOG_DEFAULT_LEVEL;
}

static struct osm_opensm *new_osm(void)
{
	struct osm_opensm *osm = calloc(1, sizeof(*osm));

	assert_non_null(osm);
	osm->osm_version = OSM_VERSION;
	osm->subn.p_osm = osm;
	osm->sm.p_subn = osm->sm.ucast_mgr.p_subn = &osm->subn;
	osm->sm.p_log = &osm->log;
	osm->sm.p_mad_pool = &osm->mad_pool;
	osm->sm.p_disp = &osm->disp;
	osm->sm.p_lock = &osm->lock;
	osm_fixture_map_init(&osm->subn.sw_guid_tbl);
	osm_fixture_map_init(&osm->subn.sm_guid_tbl);
	osm_fixture_map_init(&osm->subn.node_guid_tbl);
	osm_fixture_map_init(&osm->subn.port_guid_tbl);
	vector_init(&osm->subn.port_lid_tbl, OSM_FIXTURE_LIDS);
	pthread_rwlock_init(&osm->lock.lock, NULL);
	osm->lock.state = CL_INITIALIZED;
	set_options(osm);
	return osm;
}

struct osm_fixture *osm_fixture_new(const struct dl_fabric *f)
{
	struct osm_fixture *x = calloc(1, sizeof(*x));
	cl_map_item_t *at;

	assert_non_null(x);
	osm_fixture_current = x;
	osm_exit_flag = 0;
	x->osm = new_osm();
	fill_subnet(x, f);
	x->switches = calloc(f->nswitches, sizeof(*x->switches));
	assert_non_null(x->switches);
	for (at = cl_qmap_head(&x->osm->subn.sw_guid_tbl);
	     at != cl_qmap_end(&x->osm->subn.sw_guid_tbl); at = cl_qmap_next(at)) {
		struct osm_fixture_switch *hw = &x->switches[x->nswitches++];

		hw->guid = cl_ntoh64(at->key);
		memset(hw->lft, OSM_NO_PATH, sizeof(hw->lft));
	}
	return x;
}

struct osm_fixture *osm_fixture_torus(unsigned int x, unsigned int y, const char *options)
{
	struct grid_fabric g = { .grid = { .radix = { x, y, 1 } }, .hosts = 1, .parallel = 1 };
	struct osm_fixture *fx;

	grid_build(&g);
	fx = osm_fixture_new(g.fabric);
	fx->g = g;
	osm_fixture_start(fx, options);
	return fx;
}

static void free_node(osm_node_t *node)
{
	for (unsigned int i = 0; i < node->physp_tbl_size; i++) {
		cl_ptr_vector_t *maps = &node->physp_table[i].slvl_by_port;

		for (size_t k = 0; k < maps->size; k++)
			free((void *)maps->p_ptr_array[k]);
		free(maps->p_ptr_array);
	}
	if (node->sw) {
		free(node->sw->lft);
		free(node->sw->new_lft);
		free(node->sw->mcast_tbl.p_mask_tbl);
		free(node->sw);
	}
	free(node->print_desc);
	free(node);
}

static void free_osm(struct osm_opensm *osm)
{
	cl_map_item_t *at, *next;

	for (at = cl_qmap_head(&osm->subn.port_guid_tbl);
	     at != cl_qmap_end(&osm->subn.port_guid_tbl); at = next) {
		next = cl_qmap_next(at);
		free(at);
	}
	for (at = cl_qmap_head(&osm->subn.node_guid_tbl);
	     at != cl_qmap_end(&osm->subn.node_guid_tbl); at = next) {
		next = cl_qmap_next(at);
		free_node((osm_node_t *)at);
	}
	free(osm->subn.port_lid_tbl.p_ptr_array);
	pthread_rwlock_destroy(&osm->lock.lock);
	free(osm);
}

void osm_fixture_free(struct osm_fixture *x)
{
	osm_fixture_stop(x);
	for (unsigned int i = 0; i < OSM_FIXTURE_GROUPS; i++)
		free(x->groups[i]);
	free_osm(x->osm);
	grid_free(&x->g);
	free(x->switches);
	free(x);
	osm_fixture_current = NULL;
}

static cl_map_item_t *nth(const cl_qmap_t *map, unsigned int n)
{
	cl_map_item_t *at = cl_qmap_head(map);

	while (n--)
		at = cl_qmap_next(at);
	assert_true(at != cl_qmap_end(map));
	return at;
}

osm_switch_t *osm_fixture_switch(struct osm_fixture *x, unsigned int s)
{
	return (osm_switch_t *)nth(&x->osm->subn.sw_guid_tbl, s);
}

struct osm_fixture_switch *osm_fixture_hardware(struct osm_fixture *x, const osm_switch_t *sw)
{
	for (unsigned int s = 0; s < x->nswitches; s++)
		if (x->switches[s].guid == cl_ntoh64(osm_node_get_node_guid(sw->p_node)))
			return &x->switches[s];
	fail_msg("no such switch");
	return NULL;
}

osm_port_t *osm_fixture_adapter(struct osm_fixture *x, unsigned int n)
{
	cl_qmap_t *ports = &x->osm->subn.port_guid_tbl;
	cl_map_item_t *at = cl_qmap_head(ports);

	for (; at != cl_qmap_end(ports); at = cl_qmap_next(at))
		if (!((osm_port_t *)at)->p_node->sw && !n--)
			return (osm_port_t *)at;
	fail_msg("no such adapter");
	return NULL;
}

osm_physp_t *osm_fixture_link(osm_switch_t *sw, unsigned int n)
{
	for (unsigned int i = 1; i < sw->num_ports; i++) {
		osm_physp_t *p = &sw->p_node->physp_table[i];

		if (p->p_remote_physp && p->p_remote_physp->p_node->sw && !n--)
			return p;
	}
	fail_msg("no such cable");
	return NULL;
}

void osm_fixture_drop(struct osm_fixture *x, osm_switch_t *sw)
{
	osm_node_t *node = sw->p_node;
	osm_port_t *port;

	for (unsigned int i = 1; i < node->physp_tbl_size; i++)
		if (node->physp_table[i].p_remote_physp)
			osm_fixture_cut(&node->physp_table[i]);
	port = osm_get_port_by_guid(&x->osm->subn, node->physp_table[0].port_guid);
	if (port) {
		cl_ptr_vector_set(&x->osm->subn.port_lid_tbl, cl_ntoh16(port->lid), NULL);
		map_remove(&x->osm->subn.port_guid_tbl, &port->map_item);
		free(port);
	}
	map_remove(&x->osm->subn.sw_guid_tbl, &sw->map_item);
	map_remove(&x->osm->subn.node_guid_tbl, &node->map_item);
	free_node(node);
}

void osm_fixture_join(struct osm_fixture *x, uint16_t mlid, unsigned int sl, unsigned int first,
		      unsigned int last)
{
	struct osm_fixture_group *g = calloc(1, sizeof(*g));

	assert_non_null(g);
	g->box.mlid = mlid;
	osm_fixture_list_init(&g->box.mgrp_list);
	cl_qlist_insert_tail(&g->box.mgrp_list, &g->group.list_item);
	g->group.mcmember_rec.sl_flow_hop = cl_hton32((uint32_t)sl << 28);
	for (; first < last; first++)
		g->members[g->nmembers++] = osm_fixture_adapter(x, first);
	free(x->groups[mlid - IB_LID_MCAST_START_HO]);
	x->groups[mlid - IB_LID_MCAST_START_HO] = g;
	x->osm->subn.mboxes[mlid - IB_LID_MCAST_START_HO] = &g->box;
}

/* ---- running ----------------------------------------------------------------------- */

void osm_fixture_start(struct osm_fixture *x, const char *options)
{
	x->osm->subn.opt.event_plugin_options = (char *)options;
	x->osm->subn.opt.routing_engine_names = (char *)"dateline";
	x->engine = osm_event_plugin.create(x->osm);
}

void osm_fixture_stop(struct osm_fixture *x)
{
	struct osm_routing_engine *re = x->osm->routing_engine_list;

	if (re && re->destroy)
		re->destroy(re->context);
	free(re);
	x->osm->routing_engine_list = x->osm->routing_engine_used = NULL;
	if (x->engine)
		osm_event_plugin.delete(x->engine);
	x->engine = NULL;
}

static void report(struct osm_fixture *x, osm_epi_event_id_t event, uintptr_t data)
{
	osm_event_plugin.report(x->engine, event, (void *)data);
}

/* OpenSM's tables are empty before an engine fills them. */
static void make_room(osm_subn_t *subn)
{
	cl_qmap_t *map = &subn->sw_guid_tbl;
	uint16_t top = 0;

	for (uint32_t lid = 0; lid < subn->port_lid_tbl.size; lid++)
		if (cl_ptr_vector_get(&subn->port_lid_tbl, lid))
			top = lid;
	for (cl_map_item_t *at = cl_qmap_head(map); at != cl_qmap_end(map); at = cl_qmap_next(at))
		osm_switch_prepare_path_rebuild((osm_switch_t *)at, top);
}

/* What OpenSM finds out before the engine is asked. */
static void discover(struct osm_fixture *x)
{
	cl_qmap_t *map = &x->osm->subn.sw_guid_tbl;

	for (cl_map_item_t *at = cl_qmap_head(map); at != cl_qmap_end(map); at = cl_qmap_next(at)) {
		osm_switch_t *sw = (osm_switch_t *)at;

		sw->switch_info.lin_top = cl_hton16(osm_fixture_hardware(x, sw)->top);
		sw->mcast_tbl.max_block =
			(x->mft_claim ? x->mft_claim : OSM_FIXTURE_GROUPS) / 32 - 1;
	}
	x->osm->subn.subnet_initialization_error = FALSE;
	x->osm->subn.need_update = x->osm->subn.first_time_master_sweep;
	report(x, OSM_EVENT_ID_HEAVY_SWEEP_DONE, 0);
}

/* Switches that were not seen are dropped after the report. */
static void drop_unseen(struct osm_fixture *x)
{
	cl_qmap_t *map = &x->osm->subn.sw_guid_tbl;
	cl_map_item_t *at, *next;

	for (at = cl_qmap_head(map); at != cl_qmap_end(map); at = next) {
		next = cl_qmap_next(at);
		if (!((osm_switch_t *)at)->p_node->discovery_count)
			osm_fixture_drop(x, (osm_switch_t *)at);
	}
}

static bool route(struct osm_fixture *x)
{
	struct osm_routing_engine *re = x->osm->routing_engine_list;
	int err;

	CL_PLOCK_EXCL_ACQUIRE(&x->osm->lock);
	make_room(&x->osm->subn);
	x->osm->routing_engine_used = NULL;
	err = re->build_lid_matrices(re->context);
	if (!err)
		err = re->ucast_build_fwd_tables(re->context);
	if (!err) {
		x->osm->routing_engine_used = re;
		osm_ucast_mgr_set_fwd_tables(&x->osm->sm.ucast_mgr);
	}
	CL_PLOCK_RELEASE(&x->osm->lock);
	return !err;
}

bool osm_fixture_sweep(struct osm_fixture *x)
{
	bool routed;

	report(x, OSM_EVENT_ID_HEAVY_SWEEP_START, 0);
	discover(x);
	drop_unseen(x);
	routed = route(x);
	osm_qos_setup(x->osm);
	report(x, OSM_EVENT_ID_UCAST_ROUTING_DONE, UCAST_ROUTING_HEAVY_SWEEP);
	osm_mcast_mgr_process(&x->osm->sm, TRUE);
	osm_link_mgr_process(&x->osm->sm, IB_LINK_ARMED);
	osm_link_mgr_process(&x->osm->sm, IB_LINK_ACTIVE);
	if (x->osm->subn.subnet_initialization_error)
		return false;
	report(x, OSM_EVENT_ID_SUBNET_UP, 0);
	x->osm->subn.first_time_master_sweep = FALSE;
	return routed;
}

/* The new one's view: the same nodes and cables, and nothing of their tables. */
static void forget(osm_switch_t *sw)
{
	free(sw->lft);
	free(sw->new_lft);
	sw->lft = sw->new_lft = NULL;
	sw->lft_size = sw->max_lid_ho = 0;
	sw->need_update = 1;
	memset(*sw->mcast_tbl.p_mask_tbl, 0,
	       sw->mcast_tbl.mft_depth * sizeof((*sw->mcast_tbl.p_mask_tbl)[0]));
	sw->mcast_tbl.max_block_in_use = -1;
	for (unsigned int out = 1; out < sw->num_ports; out++)
		for (unsigned int in = 0; in < sw->num_ports; in++)
			memset(osm_physp_get_slvl_tbl(&sw->p_node->physp_table[out], in), 0,
			       sizeof(ib_slvl_table_t));
}

void osm_fixture_restart(struct osm_fixture *x, const char *options)
{
	cl_qmap_t *map = &x->osm->subn.sw_guid_tbl;

	osm_fixture_stop(x);
	for (cl_map_item_t *at = cl_qmap_head(map); at != cl_qmap_end(map); at = cl_qmap_next(at))
		forget((osm_switch_t *)at);
	x->osm->subn.first_time_master_sweep = TRUE;
	x->log[0] = '\0';
	x->blocks = x->gets = x->sweeps_asked = x->group_passes = 0;
	osm_fixture_start(x, options);
}

/* From a switch along the tables that the switches hold. */
static bool reaches(struct osm_fixture *x, const osm_node_t *at, const osm_port_t *to)
{
	for (unsigned int hops = 0; hops <= x->nswitches; hops++) {
		uint8_t port;

		if (at == to->p_node)
			return true;
		if (!at->sw)
			return false;
		port = osm_fixture_hardware(x, at->sw)->lft[cl_ntoh16(to->lid)];
		if (port >= at->physp_tbl_size || !at->physp_table[port].p_remote_physp)
			return false;
		at = at->physp_table[port].p_remote_physp->p_node;
	}
	return false;
}

bool osm_fixture_delivers(struct osm_fixture *x)
{
	cl_qmap_t *ports = &x->osm->subn.port_guid_tbl;

	for (cl_map_item_t *a = cl_qmap_head(ports); a != cl_qmap_end(ports); a = cl_qmap_next(a))
		for (cl_map_item_t *b = cl_qmap_head(ports); b != cl_qmap_end(ports);
		     b = cl_qmap_next(b)) {
			osm_port_t *from = (osm_port_t *)a, *to = (osm_port_t *)b;

			if (from->p_node->sw || to->p_node->sw || !from->p_physp->p_remote_physp ||
			    !to->p_physp->p_remote_physp)
				continue;
			if (!reaches(x, from->p_physp->p_remote_physp->p_node, to))
				return false;
		}
	return true;
}
