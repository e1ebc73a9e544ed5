/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Multicast groups, one at a time as OpenSM asks for them: each is a part of
 * the one tree in force (rules A9).
 *
 * The tables are verified with groups on SL 0 and 8.  A group may have another SL,
 * from partitions.conf or from its first member: its packets then wait for other
 * VLs, and may close a credit loop even on a whole torus.  So the tables are
 * verified once more with each further SL, and groups on an SL that fails are
 * refused by name.
 *
 * A group is built in full whenever it changes.  OpenSM clears its ports in every
 * switch before, and logs any status but IB_SUCCESS; ports that were set stay set.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "mcast.h"
#include "engine.h"
#include "log.h"
#include "phases.h"
#include "phases_plan.h"
#include "sweep.h"

/* Needs what OpenSM's other headers declare. */
#include <opensm/osm_mcast_mgr.h>

#define JUST_COME 2 /* need_update of a switch that OpenSM did not know before */

/*
 * Port indices of a group's members; those that were not routed are left out,
 * and named unless `quiet`.
 */
static int find_members(const struct dl_engine *e, const struct dl_sweep *sweep, bool quiet,
			struct dl_arena *arena, cl_qlist_t *list, uint16_t mlid, uint32_t **out,
			uint32_t *nout)
{
	const struct dl_fabric *f = sweep->fabric;
	uint32_t *members = dl_arena_array(arena, cl_qlist_count(list) + 1, sizeof(*members));
	cl_list_item_t *item;
	uint32_t n = 0;

	if (!members)
		return -ENOMEM;
	for (item = cl_qlist_head(list); item != cl_qlist_end(list); item = cl_qlist_next(item)) {
		const osm_mcast_work_obj_t *work = cl_item_obj(item, work, list_item);
		const osm_port_t *port = work->p_port;
		uint64_t guid = cl_ntoh64(osm_port_get_guid(port));
		uint32_t p = dl_sweep_lid_owner(sweep, osm_port_get_base_lid(port));

		if (p != DL_NONE && f->ports[p].guid == guid)
			members[n++] = p;
		else if (!quiet)
			DL_SAY(e->osm, OSM_LOG_ERROR,
			       "ERR DL20: member 0x%016" PRIx64
			       " of multicast group 0x%04x is not part "
			       "of the routing: left out until the next heavy "
			       "sweep",
			       guid, mlid);
	}
	*out = members;
	*nout = n;
	return 0;
}

/* Where the group's masks go: kept only for snapshots. */
static struct dl_tables_masks *masks_for(const struct dl_engine *e, uint16_t mlid)
{
	struct dl_tables_mcast_group *g;

	if (!e->options.dump_dir)
		return &e->in_force->masks;
	g = dl_tables_group(e->in_force->routed.tables, mlid);
	__atomic_store_n(&e->in_force->dumped, false, __ATOMIC_RELAXED);
	return g ? &g->masks : NULL;
}

void dl_mcast_prune(const struct dl_engine *e)
{
	struct dl_tables *t = e->in_force->routed.tables;
	uint32_t g = 0;

	CL_PLOCK_ACQUIRE(&e->osm->lock);
	while (g < t->ngroups) {
		struct dl_tables_mcast_group *group = &t->groups[g];

		if (e->osm->subn.mboxes[group->mlid - IB_LID_MCAST_START_HO]) {
			g++;
			continue;
		}
		dl_tables_masks_clear(&group->masks);
		*group = t->groups[--t->ngroups];
	}
	CL_PLOCK_RELEASE(&e->osm->lock);
}

/* Does OpenSM cut this switch's table off behind the last MLID in use? */
static bool has_top(const struct dl_engine *e, const osm_switch_t *sw)
{
	osm_physp_t *port0 = osm_node_get_physp_ptr(sw->p_node, 0);

	return e->osm->subn.opt.use_mfttop && port0 &&
	       port0->port_info.capability_mask & IB_PORT_CAP_HAS_MCAST_FDB_TOP;
}

/* Is it a switch that the tables before did not have, though OpenSM may have known it? */
static bool is_new_in_change(const struct dl_engine *e, uint32_t s)
{
	return e->phases && dl_fabric_match_switch(&e->phases->old_of, s) == DL_NONE;
}

/*
 * A switch without ports in the group.  OpenSM writes no table that it thinks
 * was never used, but a switch that comes back may still hold the branches of
 * an older tree, and packets of its adapters would take them.  So a heavy sweep
 * has it written all the same, unless OpenSM cuts it off, where the switch has
 * just come, where this subnet manager comes to a fabric that was in use, and
 * after a sweep with errors; dl_mcast_rest() lets it rest afterwards.
 */
static void clear_ports(const struct dl_engine *e, uint32_t s, uint16_t mlid)
{
	osm_switch_t *sw = dl_sweep_switch(e, e->in_force->fabric, s);

	if (e->sweep == DL_SWEEP_IDLE || !sw || !osm_switch_supports_mcast(sw) ||
	    !(e->clear_groups || is_new_in_change(e, s) ||
	      (sw->need_update >= JUST_COME && !e->osm->subn.first_time_master_sweep)) ||
	    (has_top(e, sw) && !e->osm->subn.first_time_master_sweep))
		return;
	osm_mcast_tbl_set(osm_switch_get_mcast_tbl_ptr(sw), mlid, 0);
	osm_mcast_tbl_clear_mlid(osm_switch_get_mcast_tbl_ptr(sw), mlid);
}

/* Is a switch in no group? */
static bool is_unused(const osm_mcast_tbl_t *t)
{
	unsigned int mlid;

	for (mlid = 0; mlid < t->mft_depth; mlid++)
		if (osm_mcast_tbl_is_any_port(t, mlid + IB_LID_MCAST_START_HO))
			return false;
	return true;
}

/*
 * OpenSM writes all tables that are in use after each join and leave.  A table
 * that a heavy sweep has cleared is not in use.
 */
void dl_mcast_rest(struct dl_engine *e)
{
	/* Without an answer, a table may not be cleared: the next sweep writes it again. */
	if (e->osm->subn.subnet_initialization_error)
		return;
	CL_PLOCK_EXCL_ACQUIRE(&e->osm->lock);
	for (osm_switch_t *sw = dl_opensm_next(e->osm, NULL); sw; sw = dl_opensm_next(e->osm, sw)) {
		osm_mcast_tbl_t *t = osm_switch_get_mcast_tbl_ptr(sw);

		if (t->max_block_in_use >= 0 && is_unused(t))
			t->max_block_in_use = -1;
	}
	CL_PLOCK_RELEASE(&e->osm->lock);
}

/* Set the bits of one switch.  Returns false where it cannot do multicast. */
static bool set_ports(const struct dl_engine *e, uint32_t s, uint16_t mlid,
		      const struct dl_tables_masks *masks)
{
	const struct dl_fabric *f = e->in_force->fabric;
	osm_switch_t *sw = dl_sweep_switch(e, f, s);
	uint32_t first = f->nodes[f->switches[s]].first_port;
	unsigned int port;

	/* Gone since the tables were made: see keep_in_force() in engine.c. */
	if (!sw)
		return true;
	if (!osm_switch_supports_mcast(sw)) {
		DL_SAY(e->osm, OSM_LOG_ERROR,
		       "ERR DL22: switch 0x%016" PRIx64
		       " (%s) has no multicast forwarding table: group 0x%04x "
		       "does not get past it",
		       f->nodes[f->switches[s]].guid, dl_fabric_node_name(f, f->switches[s]), mlid);
		return false;
	}
	for (port = 0; port < sw->num_ports; port++) {
		/* The tree may be older than the subnet: dl_engine's keep_in_force(). */
		if (dl_tables_mask_get(masks, s, port) &&
		    !(port && dl_sweep_is_recabled(f, first + port, sw)))
			osm_mcast_tbl_set(osm_switch_get_mcast_tbl_ptr(sw), mlid, port);
	}
	return true;
}

/* May groups use this SL, with all that use those found safe so far? */
static bool is_safe_sl(struct dl_sweep *sweep, unsigned int sl)
{
	uint16_t bit = 1u << sl;
	struct dl_verify_result *v;

	if ((sweep->safe_sls | sweep->unsafe_sls) & bit)
		return sweep->safe_sls & bit;
	if (dl_route_verify_sls(sweep->routed.tables, sweep->routed.tree, 0, sweep->safe_sls | bit,
				&v))
		return false;
	if (v->delivered && v->verdict == DL_VERIFY_FREE)
		sweep->safe_sls |= bit;
	else
		sweep->unsafe_sls |= bit;
	dl_verify_result_free(v);
	return sweep->safe_sls & bit;
}

/* Are the SLs of all groups of an MLID safe?  The log names one that is not. */
static bool check_sls(const struct dl_engine *e, const osm_mgrp_box_t *box)
{
	cl_list_item_t *item;
	char mgid[INET6_ADDRSTRLEN];
	uint8_t sl;

	for (item = cl_qlist_head(&box->mgrp_list); item != cl_qlist_end(&box->mgrp_list);
	     item = cl_qlist_next(item)) {
		const osm_mgrp_t *group = cl_item_obj(item, group, list_item);

		ib_member_get_sl_flow_hop(group->mcmember_rec.sl_flow_hop, &sl, NULL, NULL);
		if (is_safe_sl(e->in_force, sl))
			continue;
		if (e->in_force->refused[box->mlid - IB_LID_MCAST_START_HO])
			return false;
		e->in_force->refused[box->mlid - IB_LID_MCAST_START_HO] = 1;
		inet_ntop(AF_INET6, group->mcmember_rec.mgid.raw, mgid, sizeof(mgid));
		DL_SAY(e->osm, OSM_LOG_ERROR,
		       "ERR DL24: multicast group %s (MLID 0x%04x) uses SL %u, "
		       "on which it could close a credit loop: it is not "
		       "routed; let it use SL 0 or 8",
		       mgid, box->mlid, sl);
		return false;
	}
	return true;
}

/* While groups are closed, they keep the ports that the old tree has, too, or none. */
static int close_group(const struct dl_engine *e, struct dl_arena *arena, cl_qlist_t *list,
		       uint16_t mlid, struct dl_tables_masks *masks)
{
	struct dl_sweep *from = e->phases->from;
	uint32_t *members, n;
	int err;

	if (e->phases->origin != DL_PHASES_FROM_FORCE || e->groups_shut ||
	    e->phases->steps.empties_groups) {
		dl_tables_masks_clear(masks);
		return 0;
	}
	err = find_members(e, from, true, arena, list, mlid, &members, &n);

	if (!err)
		err = dl_route_tree_group(from->routed.tree, from->fabric, mlid, members, n,
					  &from->masks);
	if (err == -ENOMEM)
		return err;
	return dl_phases_close_group(e->phases, &from->masks, masks);
}

static ib_api_status_t set_group(const struct dl_engine *e, uint16_t mlid, const uint32_t *members,
				 uint32_t nmembers, struct dl_arena *arena, cl_qlist_t *list)
{
	const struct dl_sweep *sweep = e->in_force;
	ib_api_status_t status = IB_SUCCESS;
	struct dl_tables_masks *masks = masks_for(e, mlid);
	uint32_t s, w;
	int err;

	if (!masks)
		return IB_INSUFFICIENT_MEMORY;
	err = dl_route_tree_group(sweep->routed.tree, sweep->fabric, mlid, members, nmembers,
				  masks);
	if (err == -ENOMEM)
		return IB_INSUFFICIENT_MEMORY;
	if (e->change == DL_CHANGE_GROUPS) {
		if (close_group(e, arena, list, mlid, masks))
			return IB_INSUFFICIENT_MEMORY;
	} else if (err) {
		DL_SAY(e->osm, OSM_LOG_ERROR,
		       "ERR DL21: some members of "
		       "multicast group 0x%04x are attached to no switch of "
		       "the "
		       "multicast tree and are left out",
		       mlid);
		status = IB_ERROR;
	}
	for (s = 0; s < sweep->fabric->nswitches; s++) {
		const uint64_t *m = dl_tables_mask(masks, s);

		for (w = 0; w < DL_TABLES_MASK_WORDS && !m[w]; w++)
			;
		if (w == DL_TABLES_MASK_WORDS)
			clear_ports(e, s, mlid);
		else if (!set_ports(e, s, mlid, masks))
			status = IB_ERROR;
	}
	return status;
}

/* Rules A9: each group is a part of the one tree.  OpenSM has cleared it. */
ib_api_status_t dl_mcast_build(void *context, osm_mgrp_box_t *box)
{
	struct dl_engine *e = context;
	struct dl_arena arena = { 0 };
	ib_api_status_t status;
	uint32_t *members, n;
	cl_qlist_t list;
	cl_qmap_t map;

	if (!dl_engine_tables(e))
		return IB_ERROR;
	/* A tree of another engine may be left. */
	osm_purge_mtree(&e->osm->sm, box);
	if (osm_mcast_make_port_list_and_map(&list, &map, box))
		return IB_INSUFFICIENT_MEMORY;
	if (find_members(e, e->in_force, e->change == DL_CHANGE_GROUPS, &arena, &list, box->mlid,
			 &members, &n))
		status = IB_INSUFFICIENT_MEMORY;
	else if ((!e->groups_shut || e->change == DL_CHANGE_GROUPS) && check_sls(e, box))
		status = set_group(e, box->mlid, members, n, &arena, &list);
	else
		status = set_group(e, box->mlid, NULL, 0, &arena, &list); /* clear it */
	dl_arena_free(&arena);
	osm_mcast_drop_port_list(&list);
	if (status == IB_INSUFFICIENT_MEMORY) {
		DL_SAY(e->osm, OSM_LOG_ERROR,
		       "ERR DL29: no memory to route multicast group 0x%04x: it gets no packets "
		       "until the next sweep",
		       box->mlid);
		e->next_sweep = DL_NEXT_AT_ONCE;
		if (e->sweep == DL_SWEEP_IDLE)
			dl_engine_ask_again(e);
	}
	return status;
}
