/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* OpenSM's functions that the plugin calls; see osm_fixture.h. */
#include "config.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <opensm/osm_db_pack.h>
#include <opensm/osm_version.h>

#include "osm_fixture.h"

#define BLOCK 64

/* ---- look-ups ----------------------------------------------------------------- */

static void *map_find(const cl_qmap_t *map, uint64_t key)
{
	for (cl_map_item_t *at = cl_qmap_head(map); at != cl_qmap_end(map); at = cl_qmap_next(at))
		if (at->key == key)
			return at;
	return NULL;
}

cl_status_t cl_ptr_vector_set(cl_ptr_vector_t *const v, const size_t i, const void *const p)
{
	if (i >= v->size)
		return CL_INVALID_PARAMETER;
	v->p_ptr_array[i] = p;
	return CL_SUCCESS;
}

struct osm_node *osm_get_node_by_guid(const osm_subn_t *subn, ib_net64_t guid)
{
	return map_find(&subn->node_guid_tbl, guid);
}

struct osm_switch *osm_get_switch_by_guid(const osm_subn_t *subn, ib_net64_t guid)
{
	return map_find(&subn->sw_guid_tbl, guid);
}

struct osm_port *osm_get_port_by_guid(const osm_subn_t *subn, ib_net64_t guid)
{
	return map_find(&subn->port_guid_tbl, guid);
}

/* ---- what ports and cables are ---------------------------------------------- */

boolean_t osm_link_is_healthy(const osm_physp_t *p)
{
	return p->healthy && p->p_remote_physp && p->p_remote_physp->healthy;
}

#ifdef HAVE_OSM_THROTTLED_LINKS
boolean_t osm_link_is_throttled(osm_physp_t *const p, const boolean_t fdr10)
{
	(void)fdr10;
	return p == osm_fixture_current->throttled ||
	       p->p_remote_physp == osm_fixture_current->throttled;
}
#endif

uint8_t osm_physp_calc_link_op_vls(osm_log_t *log, const osm_subn_t *subn, const osm_physp_t *p,
				   uint8_t now)
{
	uint8_t near = ib_port_info_get_vl_cap(&p->port_info);
	uint8_t far = p->p_remote_physp ? ib_port_info_get_vl_cap(&p->p_remote_physp->port_info) :
					  near;
	uint8_t vls = near < far ? near : far;

	(void)log;
	(void)now;
	return subn->opt.max_op_vls < vls ? subn->opt.max_op_vls : vls;
}

int osm_db_guid2lid_get(osm_db_domain_t *domain, uint64_t guid, uint16_t *min, uint16_t *max)
{
	osm_port_t *port = osm_get_port_by_guid(&osm_fixture_current->osm->subn, cl_hton64(guid));

	(void)domain;
	if (osm_fixture_current->no_lids || !port || !port->priv)
		return 1;
	*min = *max = (uintptr_t)port->priv;
	return 0;
}

/* ---- the log and registering ------------------------------------------------ */

void osm_log(osm_log_t *log, osm_log_level_t level, const char *format, ...)
{
	size_t len = strlen(osm_fixture_current->log);
	va_list list;

	(void)log;
	(void)level;
	va_start(list, format);
	vsnprintf(osm_fixture_current->log + len, sizeof(osm_fixture_current->log) - len, format,
		  list);
	va_end(list);
}

#ifdef HAVE_OSM_EXTERNAL_ENGINES
cl_status_t osm_register_external_routing_engine(osm_opensm_t *osm,
						 const external_routing_engine_module_t *module,
						 void *context)
{
	struct osm_routing_engine *re;

	if (osm_fixture_current->registered != CL_SUCCESS)
		return osm_fixture_current->registered;
	re = calloc(1, sizeof(*re));
	assert_non_null(re);
	re->name = module->name;
	re->context = context;
	assert_int_equal(module->setup(re, osm), 0);
	osm->routing_engine_list = re;
	return CL_SUCCESS;
}
#endif

/* ---- queries and writes -------------------------------------------------------- */

static void answer_groups(const struct osm_fixture_switch *hw, osm_switch_t *sw, uint32_t block)
{
	for (unsigned int i = block * 32; i < (block + 1) * 32 && i < OSM_FIXTURE_GROUPS; i++) {
		(*sw->mcast_tbl.p_mask_tbl)[i][0] = cl_hton16(hw->groups[i]);
		if (hw->groups[i] && sw->mcast_tbl.max_block_in_use < (int)block)
			sw->mcast_tbl.max_block_in_use = block;
	}
}

/* By which port does a query come that leaves a neighbour by this one? */
static uint8_t arrival(const osm_switch_t *sw, uint8_t out)
{
	for (unsigned int o = 1; o < sw->num_ports; o++) {
		const osm_physp_t *far = sw->p_node->physp_table[o].p_remote_physp;

		if (far && far->port_num == out)
			return o;
	}
	return 0;
}

#ifdef HAVE_OSM_REQ_TIMEOUT
#define TIMEOUT __attribute__((unused)) uint32_t timeout,
#else
#define TIMEOUT
#endif

ib_api_status_t osm_req_get(osm_sm_t *sm, const osm_dr_path_t *path, ib_net16_t attribute,
			    ib_net32_t modifier, boolean_t find_key, ib_net64_t key,
			    TIMEOUT cl_disp_msgid_t error, const osm_madw_context_t *context)
{
	osm_switch_t *sw = osm_get_switch_by_guid(sm->p_subn, context->lft_context.node_guid);
	struct osm_fixture_switch *hw = osm_fixture_hardware(osm_fixture_current, sw);
	uint32_t m = cl_ntoh32(modifier);

	(void)find_key, (void)key, (void)error;
	if (attribute == IB_MAD_ATTR_PORT_INFO) {
		/* With the LID of the one that answers. */
		if (!hw->silent)
			sw->p_node->physp_table[0].port_info.local_port_num =
				arrival(sw, path->path[path->hop_count]);
		if (hw->silent)
			sm->p_subn->subnet_initialization_error = TRUE;
		else if (hw->reached)
			sw->p_node->physp_table[0].port_info.base_lid =
				hw->reached->p_node->physp_table[0].port_info.base_lid;
		return IB_SUCCESS;
	}
	osm_fixture_current->gets++;
	if (hw->silent_after && !--hw->silent_after)
		hw->silent = true;
	if (hw->silent)
		return IB_SUCCESS;
	if (attribute == IB_MAD_ATTR_LIN_FWD_TBL)
		memcpy(sw->lft + m * BLOCK, hw->lft + m * BLOCK, BLOCK);
	else if (attribute == IB_MAD_ATTR_SLVL_TABLE)
		*osm_physp_get_slvl_tbl(&sw->p_node->physp_table[m & 0xFF], m >> 8) =
			hw->maps[m >> 8][m & 0xFF];
	else
		answer_groups(hw, sw, m & 0x1FF);
	return IB_SUCCESS;
}

static void write_block(osm_switch_t *sw, uint32_t block, const uint8_t *entries)
{
	struct osm_fixture_switch *hw = osm_fixture_hardware(osm_fixture_current, sw);

	if (osm_fixture_current->dies && !osm_fixture_current->dies_after--) {
		osm_fixture_current->dies->silent = true;
		osm_fixture_current->dies = NULL;
	}
	osm_fixture_current->blocks++;
	if (hw->silent)
		return;
	memcpy(hw->lft + block * BLOCK, entries, BLOCK);
	memcpy(sw->lft + block * BLOCK, entries, BLOCK);
	if (osm_fixture_current->watch)
		osm_fixture_current->watch(osm_fixture_current);
}

ib_api_status_t osm_req_set(osm_sm_t *sm, const osm_dr_path_t *path, const uint8_t *payload,
			    size_t size, ib_net16_t attribute, ib_net32_t modifier,
			    boolean_t find_key, ib_net64_t key, TIMEOUT cl_disp_msgid_t error,
			    const osm_madw_context_t *context)
{
	osm_switch_t *sw = osm_get_switch_by_guid(sm->p_subn, context->lft_context.node_guid);

	(void)path, (void)size, (void)find_key, (void)key, (void)error;
	assert_int_equal(attribute, IB_MAD_ATTR_LIN_FWD_TBL);
	write_block(sw, cl_ntoh32(modifier), payload);
	return IB_SUCCESS;
}

int wait_for_pending_transactions(osm_stats_t *stats)
{
	(void)stats;
	return osm_exit_flag != 0;
}

int osm_switch_prepare_path_rebuild(osm_switch_t *sw, uint16_t top)
{
	uint16_t size = (top / BLOCK + 1) * BLOCK;

	if (size < sw->lft_size)
		size = sw->lft_size;
	sw->lft = realloc(sw->lft, size);
	sw->new_lft = realloc(sw->new_lft, size);
	memset(sw->lft + sw->lft_size, OSM_NO_PATH, size - sw->lft_size);
	memset(sw->new_lft, OSM_NO_PATH, size);
	sw->lft_size = size;
	sw->max_lid_ho = top;
	return 0;
}

void osm_ucast_mgr_set_fwd_tables(osm_ucast_mgr_t *mgr)
{
	cl_qmap_t *map = &mgr->p_subn->sw_guid_tbl;

	for (cl_map_item_t *at = cl_qmap_head(map); at != cl_qmap_end(map); at = cl_qmap_next(at)) {
		osm_switch_t *sw = (osm_switch_t *)at;
		struct osm_fixture_switch *hw = osm_fixture_hardware(osm_fixture_current, sw);
		bool forced = sw->need_update || mgr->p_subn->need_update;

		for (uint32_t b = 0; b <= sw->max_lid_ho / BLOCK; b++)
			if (forced || memcmp(sw->lft + b * BLOCK, sw->new_lft + b * BLOCK, BLOCK))
				write_block(sw, b, sw->new_lft + b * BLOCK);
		if (!hw->silent)
			hw->top = sw->max_lid_ho;
	}
}

static const struct osm_routing_engine *engine_used(void)
{
	return osm_fixture_current->osm->routing_engine_used;
}

static void write_map(osm_switch_t *sw, osm_physp_t *p, unsigned int in, unsigned int out)
{
	struct osm_fixture_switch *hw = osm_fixture_hardware(osm_fixture_current, sw);
	unsigned int vls = ib_port_info_get_op_vls(&p->port_info), sl;
	ib_slvl_table_t map = { { 0 } };

	engine_used()->update_sl2vl(engine_used()->context, p, in, out, &map);
	for (sl = 0; sl < 16; sl++) {
		uint8_t vl = ib_slvl_table_get(&map, sl);

		ib_slvl_table_set(&map, sl, vl == 15 ? vl : vl & ((1u << (vls - 1)) - 1));
	}
	if (hw->silent)
		return;
	hw->maps[in][out] = map;
	*osm_physp_get_slvl_tbl(p, in) = map;
}

int osm_qos_setup(osm_opensm_t *osm)
{
	cl_qmap_t *map = &osm->subn.sw_guid_tbl;

	if (!engine_used() || !engine_used()->update_sl2vl)
		return 0;
	for (cl_map_item_t *at = cl_qmap_head(map); at != cl_qmap_end(map); at = cl_qmap_next(at)) {
		osm_switch_t *sw = (osm_switch_t *)at;

		for (unsigned int out = 1; out < sw->num_ports; out++)
			for (unsigned int in = 0; in < sw->num_ports; in++)
				write_map(sw, &sw->p_node->physp_table[out], in, out);
	}
	return 0;
}

static void set_link(osm_physp_t *p, uint8_t state)
{
	osm_subn_t *subn = &osm_fixture_current->osm->subn;

	if (state != IB_LINK_NO_CHANGE)
		ib_port_info_set_port_state(&p->port_info, state);
	else if (!osm_fixture_current->low_vls)
		ib_port_info_set_op_vls(&p->port_info,
					osm_physp_calc_link_op_vls(NULL, subn, p, 0));
	if (state == IB_LINK_ACTIVE && osm_fixture_current->raised)
		osm_fixture_current->raised(osm_fixture_current, p);
}

int osm_link_mgr_process(osm_sm_t *sm, const uint8_t state)
{
	cl_qmap_t *map = &sm->p_subn->node_guid_tbl;

	for (cl_map_item_t *at = cl_qmap_head(map); at != cl_qmap_end(map); at = cl_qmap_next(at)) {
		osm_node_t *node = (osm_node_t *)at;

		for (unsigned int i = 1; i < node->physp_tbl_size; i++)
			if (node->physp_table[i].p_remote_physp)
				set_link(&node->physp_table[i], state);
			else
				ib_port_info_set_port_state(&node->physp_table[i].port_info,
							    IB_LINK_DOWN);
	}
	return 0;
}

void osm_ucast_cache_invalidate(osm_ucast_mgr_t *mgr)
{
	mgr->cache_valid = FALSE;
}

void osm_sm_sweep(osm_sm_t *sm)
{
	(void)sm;
	osm_fixture_current->sweeps_asked++;
}

/* ---- groups ---------------------------------------------------------------------- */

static uint16_t *group_row(const osm_mcast_tbl_t *t, uint16_t mlid)
{
	return (*t->p_mask_tbl)[mlid - IB_LID_MCAST_START_HO];
}

int osm_mcast_tbl_realloc(osm_mcast_tbl_t *t, unsigned int offset)
{
	unsigned int depth = (offset / 32 + 1) * 32;
	size_t row = sizeof((*t->p_mask_tbl)[0]), has = malloc_usable_size(t->p_mask_tbl);
	void *table = t->p_mask_tbl;

	if (depth <= t->mft_depth)
		return 0;
	/* Block by block, a table of all groups would be copied 511 times. */
	if (depth * row > has)
		table = realloc(table, (depth * row > 2 * has ? depth * row : 2 * has));
	if (!table)
		return 1;
	t->p_mask_tbl = table;
	for (unsigned int i = t->mft_depth; i < depth; i++)
		memset((*t->p_mask_tbl)[i], 0, sizeof((*t->p_mask_tbl)[i]));
	t->mft_depth = depth;
	t->max_mlid_ho = IB_LID_MCAST_START_HO + depth - 1;
	return 0;
}

void osm_mcast_tbl_set(osm_mcast_tbl_t *t, uint16_t mlid, uint8_t port)
{
	int block = (mlid - IB_LID_MCAST_START_HO) / 32;

	group_row(t, mlid)[port / 16] |= cl_hton16(1u << port % 16);
	if (t->max_block_in_use < block)
		t->max_block_in_use = block;
}

boolean_t osm_mcast_tbl_is_port(const osm_mcast_tbl_t *t, uint16_t mlid, uint8_t port)
{
	return (cl_ntoh16(group_row(t, mlid)[port / 16]) >> port % 16) & 1;
}

boolean_t osm_mcast_tbl_is_any_port(const osm_mcast_tbl_t *t, uint16_t mlid)
{
	for (unsigned int i = 0; i <= t->max_position; i++)
		if (group_row(t, mlid)[i])
			return TRUE;
	return FALSE;
}

void osm_mcast_tbl_clear_mlid(osm_mcast_tbl_t *t, uint16_t mlid)
{
	memset(group_row(t, mlid), 0, sizeof((*t->p_mask_tbl)[0]));
}

void osm_purge_mtree(osm_sm_t *sm, osm_mgrp_box_t *box)
{
	(void)sm;
	box->root = NULL;
}

int osm_mcast_make_port_list_and_map(cl_qlist_t *list, cl_qmap_t *map, osm_mgrp_box_t *box)
{
	struct osm_fixture_group *g =
		osm_fixture_current->groups[box->mlid - IB_LID_MCAST_START_HO];

	osm_fixture_list_init(list);
	osm_fixture_map_init(map);
	for (unsigned int i = 0; i < g->nmembers; i++) {
		osm_mcast_work_obj_t *work = calloc(1, sizeof(*work));

		assert_non_null(work);
		work->p_port = g->members[i];
		cl_qlist_insert_tail(list, &work->list_item);
	}
	return 0;
}

void osm_mcast_drop_port_list(cl_qlist_t *list)
{
	cl_list_item_t *at, *next;

	for (at = cl_qlist_head(list); at != cl_qlist_end(list); at = next) {
		next = cl_qlist_next(at);
		free((char *)at - offsetof(osm_mcast_work_obj_t, list_item));
	}
}

/* What switches are given for a group; the flag says that one does not answer. */
static void write_group(osm_subn_t *subn, unsigned int i)
{
	cl_qmap_t *map = &subn->sw_guid_tbl;

	for (cl_map_item_t *at = cl_qmap_head(map); at != cl_qmap_end(map); at = cl_qmap_next(at)) {
		struct osm_fixture_switch *hw =
			osm_fixture_hardware(osm_fixture_current, (void *)at);
		osm_mcast_tbl_t *t = &((osm_switch_t *)at)->mcast_tbl;
		uint16_t ports = cl_ntoh16((*t->p_mask_tbl)[i][0]);

		if (hw->silent && hw->groups[i] != ports)
			subn->subnet_initialization_error = TRUE;
		if (!hw->silent)
			hw->groups[i] = ports;
	}
}

int osm_mcast_mgr_process(osm_sm_t *sm, boolean_t all)
{
	cl_qmap_t *map = &sm->p_subn->sw_guid_tbl;

	(void)all;
	osm_fixture_current->group_passes++;
	for (unsigned int i = 0; i < OSM_FIXTURE_GROUPS; i++) {
		if (!osm_fixture_current->groups[i])
			continue;
		for (cl_map_item_t *at = cl_qmap_head(map); at != cl_qmap_end(map);
		     at = cl_qmap_next(at))
			osm_mcast_tbl_clear_mlid(&((osm_switch_t *)at)->mcast_tbl,
						 i + IB_LID_MCAST_START_HO);
		if (engine_used())
			engine_used()->mcast_build_stree(engine_used()->context,
							 &osm_fixture_current->groups[i]->box);
		write_group(sm->p_subn, i);
	}
	return 0;
}
