/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a change of tables has OpenSM write, until all switches have confirmed it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "phases_write.h"
#include "engine.h"
#include "maps.h"
#include "marks.h"
#include "phases.h"
#include "phases_look.h"
#include "recall.h"
#include "sweep.h"

#define GROUP_ROUNDS 5
#define GROUP_SECONDS 10 /* who is silent for so long will not answer the next time */

/* ---- OpenSM's tables ------------------------------------------------------- */

/* A switch's row of tables into OpenSM's; LIDs above have no path, or are its mark. */
static void phases_fill(const struct dl_engine *e, const struct dl_tables *t, uint32_t s)
{
	osm_switch_t *sw = dl_sweep_switch(e, t->fabric, s);

	if (!sw || !sw->new_lft || sw->lft_size <= t->top_lid)
		return;
	memcpy(sw->new_lft, t->lft + s * (size_t)t->stride, t->top_lid + 1u);
	if (sw->max_lid_ho > t->top_lid)
		memset(sw->new_lft + t->top_lid + 1, DL_TABLES_NO_PORT,
		       sw->max_lid_ho - t->top_lid);
}

void dl_phases_fill_all(const struct dl_engine *e, const struct dl_tables *t)
{
	for (uint32_t s = 0; s < t->fabric->nswitches; s++)
		phases_fill(e, t, s);
}

/* No path to anywhere; the marks of switches stand behind. */
static void phases_hide_all(const struct dl_engine *e)
{
	for (osm_switch_t *sw = dl_opensm_next(e->osm, NULL); sw; sw = dl_opensm_next(e->osm, sw))
		if (sw->new_lft)
			memset(sw->new_lft, OSM_NO_PATH, sw->max_lid_ho + 1);
}

/* Old tables know no path SL to what they lack, nor from there; or none at all. */
void dl_phases_hide(const struct dl_engine *e, const struct dl_phases *p)
{
	const struct dl_fabric *f = p->next->fabric, *old = p->from->fabric;

	if (!dl_phases_shown(p)) {
		phases_hide_all(e);
		return;
	}
	for (uint32_t s = 0; s < f->nswitches; s++) {
		osm_switch_t *sw = dl_sweep_switch(e, f, s);
		bool is_new = dl_fabric_match_switch(&p->old_of, s) == DL_NONE;

		for (uint32_t lid = 1; sw && sw->new_lft && lid <= f->top_lid; lid++)
			if (lid < sw->lft_size &&
			    (is_new || lid > old->top_lid || old->lid_port[lid] == DL_NONE))
				sw->new_lft[lid] = OSM_NO_PATH;
	}
}

/* ---- writing -------------------------------------------------------------- */

/* Blocks that switches have not confirmed as these tables have them. */
static uint64_t phases_count_missing(struct dl_engine *e, const struct dl_tables *t)
{
	uint64_t n = 0, before;

	e->unconfirmed = (struct dl_osm_names){ .n = 0 };
	for (uint32_t s = 0; s < t->fabric->nswitches; s++) {
		osm_switch_t *sw = dl_sweep_switch(e, t->fabric, s);
		const uint8_t *row = t->lft + s * (size_t)t->stride;

		if (!sw || !sw->lft || sw->lft_size <= t->top_lid)
			continue;
		before = n;
		for (uint32_t at = 0; at <= t->top_lid; at += IB_SMP_DATA_SIZE) {
			uint32_t len = t->top_lid + 1u - at;

			n += memcmp(sw->lft + at, row + at,
				    len < IB_SMP_DATA_SIZE ? len : IB_SMP_DATA_SIZE) != 0;
		}
		if (n > before)
			dl_osm_names_add(&e->unconfirmed, sw);
	}
	return n;
}

uint64_t dl_phases_missing_blocks(struct dl_engine *e, const struct dl_tables *t)
{
	uint64_t n;

	CL_PLOCK_ACQUIRE(&e->osm->lock);
	n = phases_count_missing(e, t);
	CL_PLOCK_RELEASE(&e->osm->lock);
	return n;
}

/* Marks that have waited until the switches' tops have fallen; others are there already. */
static void phases_send_marks(struct dl_engine *e)
{
	const struct dl_fabric *f = e->in_force->fabric;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		osm_switch_t *sw = dl_sweep_switch(e, f, s);

		if (sw && sw->new_lft)
			dl_marks_write(e, e->in_force, s, sw);
	}
}

/* What differs, and nothing else: forced writes have been made. */
static void phases_send_tables(struct dl_engine *e)
{
	osm_subn_t *subn = &e->osm->subn;
	unsigned int *forced = calloc(cl_qmap_count(&subn->sw_guid_tbl) + 1, sizeof(*forced));
	unsigned int all = subn->need_update, i = 0, k = 0;
	osm_switch_t *sw;

	for (sw = dl_opensm_next(e->osm, NULL); forced && sw; sw = dl_opensm_next(e->osm, sw)) {
		forced[i++] = sw->need_update;
		sw->need_update = 0;
	}
	if (forced)
		subn->need_update = 0;
	phases_send_marks(e);
	osm_ucast_mgr_set_fwd_tables(&e->osm->sm.ucast_mgr);
	for (sw = dl_opensm_next(e->osm, NULL); forced && sw; sw = dl_opensm_next(e->osm, sw))
		sw->need_update = forced[k++];
	subn->need_update = all;
	free(forced);
}

/* Tables that were read from the switches do not tell the path SLs. */
const struct dl_tables *dl_phases_shown(const struct dl_phases *p)
{
	if (!p->grants_late)
		return &p->opened;
	return p->origin == DL_PHASES_FROM_FORCE ? p->plan.held : NULL;
}

/* Again while that helps: OpenSM repeats what gets no answer. */
int dl_phases_write_tables(struct dl_engine *e, const struct dl_tables *t,
			   const struct dl_tables *shown)
{
	uint64_t *blocks = &e->metrics.now.transition.blocks, left = UINT64_MAX, before;

	do {
		before = left;
		CL_PLOCK_EXCL_ACQUIRE(&e->osm->lock);
		dl_phases_fill_all(e, t);
		*blocks += phases_count_missing(e, t);
		phases_send_tables(e);
		if (shown)
			dl_phases_fill_all(e, shown);
		else
			phases_hide_all(e);
		CL_PLOCK_RELEASE(&e->osm->lock);
		if (wait_for_pending_transactions(&e->osm->stats))
			return -EINTR;
		left = dl_phases_missing_blocks(e, t);
	} while (left && left < before);
	return left ? -EIO : 0;
}

/*
 * Let OpenSM write all multicast tables, and again while an answer is missing:
 * it keeps no copy of what has been confirmed, but the flag.
 */
int dl_phases_write_groups(struct dl_engine *e)
{
	boolean_t *failed = &e->osm->subn.subnet_initialization_error, before = *failed;
	double until = dl_clock_monotonic() + GROUP_SECONDS;
	int err = -EIO;

	e->unconfirmed = (struct dl_osm_names){ .n = 0 };
	for (unsigned int round = 0; err == -EIO && round < GROUP_ROUNDS; round++) {
		if (round && dl_clock_monotonic() > until)
			break;
		*failed = FALSE;
		osm_mcast_mgr_process(&e->osm->sm, TRUE);
		if (wait_for_pending_transactions(&e->osm->stats))
			err = -EINTR;
		else if (!*failed)
			err = 0;
	}
	*failed |= before;
	return err;
}

static int phases_set_links(struct dl_engine *e, uint8_t state)
{
	osm_link_mgr_process(&e->osm->sm, state);
	return wait_for_pending_transactions(&e->osm->stats) ? -EINTR : 0;
}

/* With OperVLs, to which OpenSM cuts maps, if need be. */
static int phases_write_maps(struct dl_engine *e, bool raise)
{
	int err;

	if (!osm_qos_setup || !osm_link_mgr_process)
		return -EIO;
	err = raise ? phases_set_links(e, IB_LINK_NO_CHANGE) : 0;
	if (err)
		return err;
	osm_qos_setup(e->osm);
	return wait_for_pending_transactions(&e->osm->stats) ? -EINTR : 0;
}

static uint64_t phases_missing_maps(struct dl_engine *e)
{
	uint64_t n;

	CL_PLOCK_ACQUIRE(&e->osm->lock);
	n = dl_maps_count_missing(e);
	CL_PLOCK_RELEASE(&e->osm->lock);
	return n;
}

/* No entry leads where a switch may still have another map. */
int dl_phases_confirm_maps(struct dl_engine *e)
{
	uint64_t left = phases_missing_maps(e), before = left;
	int err = 0;

	for (unsigned int round = 0; !err && left && (round < 2 || left < before); round++) {
		before = left;
		err = phases_write_maps(e, round);
		left = phases_missing_maps(e);
	}
	return err ? err : left ? -EIO : 0;
}

/*
 * Who answers along a path that should lead to a switch, and by which port has the query come?
 * Each switch has another LID.
 */
static void phases_ask_lid(struct dl_engine *e, const osm_switch_t *sw, const osm_dr_path_t *path)
{
	osm_physp_t *port0 = osm_node_get_physp_ptr(sw->p_node, 0);
	/* OpenSM takes what Set() returns as it is, and asks for no more. */
	osm_madw_context_t context = { .pi_context = { .node_guid =
							       osm_node_get_node_guid(sw->p_node),
						       .port_guid = osm_physp_get_port_guid(port0),
						       .set_method = TRUE } };

	dl_recall_get_along(e, sw, path, IB_MAD_ATTR_PORT_INFO, 0, &context);
}

/* Links that are asked across, by the switch that should be there. */
struct phases_asked {
	uint32_t *ports;     /* the port out of which the query went; 0, which none is: not */
	ib_port_info_t *was; /* that OpenSM has of its port 0 */
	bool *done;	     /* by port */
};

/* Across a port; false: the switch there is being asked across another one. */
static bool phases_ask_across(struct dl_engine *e, const struct dl_fabric *f,
			      struct phases_asked *a, uint32_t s, uint32_t port)
{
	uint32_t there = dl_fabric_peer_switch(f, port);
	osm_switch_t *near = dl_sweep_switch(e, f, s), *far = dl_sweep_switch(e, f, there);
	osm_physp_t *port0 = far ? osm_node_get_physp_ptr(far->p_node, 0) : NULL;
	osm_dr_path_t path;

	if (near && far && a->ports[there])
		return false;
	a->done[port] = a->done[f->ports[port].peer] = true;
	if (!near || !far)
		return true;
	path = *osm_physp_get_dr_path_ptr(osm_node_get_physp_ptr(near->p_node, 0));
	a->ports[there] = port;
	a->was[there] = port0->port_info;
	port0->port_info.local_port_num = 0;
	if (!osm_dr_path_extend(&path, f->ports[port].num))
		phases_ask_lid(e, far, &path);
	return true;
}

/* All that can be asked at the same time; returns whether others are left. */
static bool phases_ask_across_all(struct dl_engine *e, const struct dl_phases *p,
				  struct phases_asked *a)
{
	const struct dl_fabric *f = p->next->fabric;
	bool left = false;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		uint32_t first = f->nodes[f->switches[s]].first_port;

		for (unsigned int o = 1; o <= f->nodes[f->switches[s]].nports; o++)
			if (p->waits[first + o] && !a->done[first + o] &&
			    dl_phases_link_waits(e, f, s, o))
				left |= !phases_ask_across(e, f, a, s, first + o);
	}
	return left;
}

/* What leads elsewhere, or has no answer, stays down; OpenSM's PortInfo is put right. */
static void phases_hold_moved(struct dl_engine *e, const struct dl_fabric *f,
			      struct phases_asked *a)
{
	for (uint32_t s = 0; s < f->nswitches; s++) {
		osm_switch_t *sw = a->ports[s] ? dl_sweep_switch(e, f, s) : NULL;
		const struct dl_fabric_port *port, *peer;
		ib_port_info_t *info;

		if (!sw)
			continue;
		info = &osm_node_get_physp_ptr(sw->p_node, 0)->port_info;
		port = &f->ports[a->ports[s]];
		peer = &f->ports[port->peer];
		if (info->local_port_num != peer->num || info->base_lid != a->was[s].base_lid) {
			dl_phases_hold_link(e, f, dl_fabric_peer_switch(f, port->peer), port->num);
			dl_phases_hold_link(e, f, s, peer->num);
		}
		*info = a->was[s];
		a->ports[s] = 0;
	}
}

/*
 * Cables that were moved since the plan was made, perhaps while packets left: ask across each
 * link who is there.  OpenSM takes an answer for that of the switch which should be there,
 * so each switch is asked across one link at a time.  0, -EINTR or -EIO: no memory.
 */
static int phases_check_links(struct dl_engine *e, const struct dl_phases *p)
{
	const struct dl_fabric *f = p->next->fabric;
	boolean_t *failed = &e->osm->subn.subnet_initialization_error, before = *failed;
	struct phases_asked a = { .ports = calloc(f->nswitches + 1ul, sizeof(*a.ports)),
				  .was = calloc(f->nswitches + 1ul, sizeof(*a.was)),
				  .done = calloc(f->nports + 1ul, sizeof(*a.done)) };
	int err = a.ports && a.was && a.done ? 0 : -EIO;
	bool left = !err;

	while (left && !err) {
		CL_PLOCK_EXCL_ACQUIRE(&e->osm->lock);
		left = phases_ask_across_all(e, p, &a);
		CL_PLOCK_RELEASE(&e->osm->lock);
		err = wait_for_pending_transactions(&e->osm->stats) ? -EINTR : 0;
		CL_PLOCK_EXCL_ACQUIRE(&e->osm->lock);
		phases_hold_moved(e, f, &a);
		CL_PLOCK_RELEASE(&e->osm->lock);
	}
	*failed = before;
	free(a.ports);
	free(a.was);
	free(a.done);
	return err;
}

/*
 * Packets cross a link by the maps that it has when it goes active.  What a switch has
 * confirmed and lost since is written again.
 */
int dl_phases_raise_links(struct dl_engine *e, const struct dl_phases *p)
{
	int err = phases_write_maps(e, true);

	if (!err)
		err = dl_phases_confirm_maps(e);
	if (!err && p->origin != DL_PHASES_FROM_NOTHING) {
		dl_recall_read_back(e);
		err = dl_phases_write_tables(e, p->plan.held, dl_phases_shown(p));
		if (!err)
			err = dl_phases_confirm_maps(e);
	}
	if (!err && p->origin != DL_PHASES_FROM_NOTHING)
		err = phases_check_links(e, p);
	dl_phases_hold_links(e, p, false);
	if (!err)
		err = phases_set_links(e, IB_LINK_ARMED);
	return err ? err : phases_set_links(e, IB_LINK_ACTIVE);
}

/* Another switch's PortInfo in place of this one's is put right, and the switch counted. */
static void phases_compare_lid(struct dl_engine *e, const osm_switch_t *sw, osm_physp_t *port0,
			       const ib_port_info_t *was)
{
	if (port0->port_info.base_lid == was->base_lid)
		return;
	port0->port_info = *was;
	dl_osm_names_add(&e->unconfirmed, sw);
}

int dl_phases_confirm_paths(struct dl_engine *e)
{
	boolean_t *failed = &e->osm->subn.subnet_initialization_error, before = *failed;
	ib_port_info_t *was = calloc(cl_qmap_count(&e->osm->subn.sw_guid_tbl) + 1, sizeof(*was));
	uint32_t n = 0;
	osm_switch_t *sw;
	int err;

	e->unconfirmed = (struct dl_osm_names){ .n = 0 };
	if (!was)
		return -EIO;
	*failed = FALSE;
	CL_PLOCK_EXCL_ACQUIRE(&e->osm->lock);
	for (sw = dl_opensm_next(e->osm, NULL); sw; sw = dl_opensm_next(e->osm, sw)) {
		osm_physp_t *port0 = osm_node_get_physp_ptr(sw->p_node, 0);

		was[n++] = port0->port_info;
		phases_ask_lid(e, sw, osm_physp_get_dr_path_ptr(port0));
	}
	CL_PLOCK_RELEASE(&e->osm->lock);
	err = wait_for_pending_transactions(&e->osm->stats) ? -EINTR : 0;
	CL_PLOCK_EXCL_ACQUIRE(&e->osm->lock);
	for (sw = dl_opensm_next(e->osm, NULL), n = 0; sw; sw = dl_opensm_next(e->osm, sw))
		phases_compare_lid(e, sw, osm_node_get_physp_ptr(sw->p_node, 0), &was[n++]);
	CL_PLOCK_RELEASE(&e->osm->lock);
	if (!err && (*failed || e->unconfirmed.n))
		err = -EIO;
	*failed |= before;
	free(was);
	return err;
}

/*
 * A new master sets all ports of switches once, at the end of its first sweep, and raises
 * what has trained since it discovered: a cable that was moved, before anybody knows where
 * it leads.  So this is done here, once.
 */
int dl_phases_look_at_links(struct dl_engine *e, const struct dl_phases *p)
{
	int err = 0;

	if (e->osm->subn.first_time_master_sweep && e->recall.set_up_before &&
	    osm_link_mgr_process) {
		err = phases_set_links(e, IB_LINK_NO_CHANGE);
		e->osm->subn.first_time_master_sweep = FALSE;
	}
	dl_phases_hold_links(e, p, false);
	return err;
}

static uint32_t phases_count_ghosts(struct dl_engine *e)
{
	uint32_t n;

	CL_PLOCK_ACQUIRE(&e->osm->lock);
	n = dl_phases_count_ghosts(e, e->in_force->fabric);
	CL_PLOCK_RELEASE(&e->osm->lock);
	return n;
}

/* What comes from behind a port without a cable was not proven together with new entries. */
int dl_phases_drop_links(struct dl_engine *e)
{
	uint32_t left = phases_count_ghosts(e), before = UINT32_MAX;
	int err = 0;

	while (!err && left && left < before) {
		before = left;
		err = phases_set_links(e, IB_LINK_NO_CHANGE);
		left = phases_count_ghosts(e);
	}
	return err ? err : left ? -EIO : 0;
}
