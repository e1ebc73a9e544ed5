/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which phases a change of tables takes, worked out before any is run
 * (phases.c): what differs in cables, maps and trees from the tables in force,
 * or from what the switches were found to hold, and whether the mixture of both
 * is safe as it is.
 *
 * All but the look at multicast groups is done without OpenSM's lock.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "phases_plan.h"
#include "engine.h"
#include "log.h"
#include "recall.h"
#include "sweep.h"

/* ---- what changes --------------------------------------------------------- */

/* Most sweeps find what was there before. */
bool dl_phases_same_routing(const struct dl_sweep *a, const struct dl_sweep *b)
{
	return dl_fabric_same_cables(a->fabric, b->fabric) &&
	       dl_route_same_result(&a->routed, &b->routed);
}

static osm_physp_t *find_physp(const struct dl_engine *e, const struct dl_fabric *f, uint32_t s,
			       unsigned int port)
{
	osm_switch_t *sw = dl_sweep_switch(e, f, s);

	return sw ? osm_node_get_physp_ptr(sw->p_node, port) : NULL;
}

static bool leads_to_switch(const struct dl_fabric *f, uint32_t s, unsigned int port)
{
	return dl_fabric_peer_switch(f, f->nodes[f->switches[s]].first_port + port) != DL_NONE;
}

static bool is_waiting_link(const struct dl_engine *e, const struct dl_fabric *f, uint32_t s,
			    unsigned int o)
{
	osm_physp_t *physp = leads_to_switch(f, s, o) ? find_physp(e, f, s, o) : NULL;

	return physp && osm_physp_get_port_state(physp) < IB_LINK_ACTIVE;
}

/* Has a cable between switches come, or been down? */
static bool has_waiting_links(const struct dl_engine *e, const struct dl_fabric *f)
{
	bool any = false;

	CL_PLOCK_ACQUIRE(&e->osm->lock);
	for (uint32_t s = 0; s < f->nswitches && !any; s++)
		for (unsigned int o = 1; o <= f->nodes[f->switches[s]].nports && !any; o++)
			any = is_waiting_link(e, f, s, o);
	CL_PLOCK_RELEASE(&e->osm->lock);
	return any;
}

/*
 * A port whose cable has gone from OpenSM's view, while the port is still active, may
 * carry packets of a switch that does not answer: the mixture is then more than the
 * fabric shows, until OpenSM takes the port down.
 */
static bool is_ghost(const struct dl_fabric *f, uint32_t port, const osm_physp_t *physp)
{
	return f->ports[port].peer == DL_NONE && physp &&
	       osm_physp_get_port_state(physp) > IB_LINK_INIT;
}

uint32_t dl_phases_count_ghosts(struct dl_engine *e, const struct dl_fabric *f)
{
	uint32_t ghosts = 0;

	e->unconfirmed = (struct dl_osm_names){ .n = 0 };
	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *n = &f->nodes[f->switches[s]];
		osm_switch_t *sw = dl_sweep_switch(e, f, s);
		uint32_t before = ghosts;

		for (unsigned int o = 1; sw && o <= n->nports; o++) {
			osm_physp_t *physp = osm_node_get_physp_ptr(sw->p_node, o);

			ghosts += is_ghost(f, n->first_port + o, physp) &&
				  !osm_physp_get_remote(physp);
		}
		if (ghosts > before)
			dl_osm_names_add(&e->unconfirmed, sw);
	}
	return ghosts;
}

/*
 * Cables between switches that come must go active before entries name them.  One that
 * was down for a moment is named by old entries: its switches may have been down, too.
 */
static void look_at_port(const struct dl_engine *e, struct dl_phases *p, uint32_t s, unsigned int o)
{
	const struct dl_fabric *f = p->next->fabric;
	const struct dl_fabric_node *n = &f->nodes[f->switches[s]];
	bool waits = is_waiting_link(e, f, s, o);
	uint32_t was;

	p->ghost_ports |= is_ghost(f, n->first_port + o, find_physp(e, f, s, o));
	p->links_come |= waits;
	if (!leads_to_switch(f, s, o))
		return;
	if (!dl_fabric_match_recabled(&p->old_of, s, o)) {
		p->links_return |= waits;
		return;
	}
	was = dl_fabric_match_port(&p->old_of, n->first_port + o);
	/* A new switch or a moved cable may lead into old branches. */
	p->old_branches |= was == DL_NONE || p->from->fabric->ports[was].peer != DL_NONE;
}

static void look_at_cables(const struct dl_engine *e, struct dl_phases *p)
{
	const struct dl_fabric *f = p->next->fabric;

	for (uint32_t s = 0; s < f->nswitches; s++)
		for (unsigned int o = 1; o <= f->nodes[f->switches[s]].nports; o++)
			look_at_port(e, p, s, o);
}

/* ---- groups --------------------------------------------------------------- */

/* Masks of a group of all end ports, on a sweep's tree. */
static int phases_full_group(const struct dl_sweep *sweep, uint16_t mlid,
			     struct dl_tables_masks *masks)
{
	const struct dl_fabric *f = sweep->fabric;
	uint32_t *members = malloc((f->nports + 1) * sizeof(*members)), n = 0;
	int err = -ENOMEM;

	for (uint32_t p = 0; members && p < f->nports; p++)
		if (f->ports[p].lid && dl_fabric_is_end_port(f, p))
			members[n++] = p;
	if (members)
		err = dl_route_tree_group(sweep->routed.tree, f, mlid, members, n, masks);
	free(members);
	return err == -ENOMEM ? err : 0;
}

/* Old masks at a switch of the new fabric; NULL: it had none. */
static const uint64_t *phases_old_masks(const struct dl_phases *p, uint32_t s,
					const struct dl_tables_masks *masks)
{
	uint32_t was = dl_fabric_match_switch(&p->old_of, s);

	return was == DL_NONE ? NULL : dl_tables_mask(masks, was);
}

int dl_phases_close_group(const struct dl_phases *p, const struct dl_tables_masks *before,
			  struct dl_tables_masks *masks)
{
	const struct dl_fabric *f = p->next->fabric;

	for (uint32_t s = dl_tables_mask_next(masks, 0); s < f->nswitches;
	     s = dl_tables_mask_next(masks, s + 1)) {
		const uint64_t *old = phases_old_masks(p, s, before);
		uint64_t *new = dl_tables_mask_row(masks, s);
		unsigned int ports = f->nodes[f->switches[s]].nports;

		if (!new)
			return -ENOMEM;
		for (unsigned int w = 0; w < DL_TABLES_MASK_WORDS; w++)
			new[w] &= old ? old[w] : 0;
		for (unsigned int o = 1; o <= ports; o++)
			if (dl_tables_mask_get(masks, s, o) &&
			    (dl_fabric_match_recabled(&p->old_of, s, o) ||
			     dl_transition_changes_map(&p->plan, s, o)))
				new[o / 64] &= ~(UINT64_C(1) << o % 64);
	}
	return 0;
}

/* Does the old tree use cables that the new one does not, or maps that change? */
static bool phases_leave_tree(const struct dl_phases *p, const struct dl_fabric *f,
			      const struct dl_tables_masks *before,
			      const struct dl_tables_masks *after)
{
	for (uint32_t s = 0; s < f->nswitches; s++) {
		const uint64_t *old = phases_old_masks(p, s, before);
		unsigned int ports = f->nodes[f->switches[s]].nports;

		for (unsigned int o = 1; old && o <= ports; o++)
			if (old[o / 64] >> o % 64 & 1 && leads_to_switch(f, s, o) &&
			    (!dl_tables_mask_get(after, s, o) ||
			     dl_fabric_match_recabled(&p->old_of, s, o) ||
			     dl_transition_changes_map(&p->plan, s, o)))
				return true;
	}
	return false;
}

/*
 * Must groups be closed, too?  For any group in use; old branches must be
 * forgotten before links are active, and so must those through a port that is still
 * active and has no cable in OpenSM's view: the switch behind it goes on copying.
 */
void dl_phases_look_at_groups(const struct dl_engine *e, struct dl_phases *p)
{
	const struct dl_sweep *next = p->next;
	struct dl_tables_masks before = { .nswitches = p->from->fabric->nswitches };
	struct dl_tables_masks after = { .nswitches = next->fabric->nswitches };
	int err = 0;

	/* An old tree that is not known: is it a part of the new one? */
	if (p->origin != DL_PHASES_FROM_FORCE) {
		err = phases_full_group(next, IB_LID_MCAST_START_HO, &after);
		p->trees_differ = p->old_branches || p->ghost_ports ||
				  (p->plan.maps_changed && p->origin != DL_PHASES_FROM_NOTHING) ||
				  !dl_recall_groups_fit(e, next->fabric, &after);
	}
	for (uint32_t i = 0; i <= IB_LID_MCAST_END_HO - IB_LID_MCAST_START_HO && !err; i++) {
		uint16_t mlid = i + IB_LID_MCAST_START_HO;

		if (!e->osm->subn.mboxes[i] || p->origin != DL_PHASES_FROM_FORCE || p->trees_differ)
			continue;
		err = phases_full_group(p->from, mlid, &before);
		if (!err)
			err = phases_full_group(next, mlid, &after);
		p->trees_differ = p->old_branches || p->ghost_ports ||
				  phases_leave_tree(p, next->fabric, &before, &after);
	}
	/* Without memory to look, assume that they must. */
	p->trees_differ |= err != 0;
	p->direct &= !p->trees_differ;
	dl_tables_masks_clear(&before);
	dl_tables_masks_clear(&after);
}

/* ---- deciding ------------------------------------------------------------- */

void dl_phases_free(struct dl_phases *p)
{
	if (!p)
		return;
	dl_transition_release(&p->plan);
	dl_fabric_match_release(&p->old_of);
	dl_sweep_free(p->from);
	free(p);
}

void dl_phases_discard(struct dl_phases *planned)
{
	if (planned && planned->origin == DL_PHASES_FROM_FORCE)
		planned->from = NULL;
	dl_phases_free(planned);
}

/* Is what the switches hold a part of the tables in force? */
bool dl_phases_are_known(const struct dl_engine *e)
{
	const struct osm_subn *subn = &e->osm->subn;

	return e->in_force && e->change == DL_CHANGE_SETTLED && e->in_force->proven &&
	       !subn->first_time_master_sweep && !subn->coming_out_of_standby;
}

static bool phases_can_run(void)
{
	return wait_for_pending_transactions && osm_link_mgr_process && osm_qos_setup &&
	       osm_mcast_mgr_process;
}

/* Without the groups, whose tables are a matter of their own. */
static int phases_plan_transition(struct dl_phases *p)
{
	struct dl_tables from = *p->from->routed.tables;
	int err;

	from.ngroups = 0;
	p->opened = *p->next->routed.tables;
	p->opened.ngroups = 0;
	p->opened.groups = NULL;
	err = dl_transition_plan(&from, &p->opened, &p->plan);
	if (!err)
		err = dl_transition_interrupted(&p->plan);
	if (!err && !p->ghost_ports)
		dl_transition_spare(&p->plan);
	return err;
}

/* Decide by cables, tables and maps; the groups come later. */
static int phases_decide(const struct dl_engine *e, struct dl_phases *p)
{
	struct dl_sweep *next = p->next;
	bool any_sl = e->options.route.mode == DL_ROUTE_ANY_SL;
	int err;

	err = dl_fabric_match(next->fabric, p->from->fabric, &p->old_of);
	if (err)
		return err;
	CL_PLOCK_ACQUIRE(&e->osm->lock);
	look_at_cables(e, p);
	CL_PLOCK_RELEASE(&e->osm->lock);
	err = phases_plan_transition(p);
	if (err)
		return err;
	if (p->origin == DL_PHASES_FROM_NOTHING)
		p->ghost_ports = false;
	if (p->plan.maps_changed || p->ghost_ports)
		return 0;
	p->direct = !p->plan.writes_close || !p->plan.writes_open;
	if (p->direct || p->origin != DL_PHASES_FROM_FORCE)
		return 0;
	return dl_route_is_mixture_safe(p->plan.held, next->routed.tables, next->routed.tree,
					any_sl ? DL_VERIFY_ANY_SL : 0, next->safe_sls, &p->direct);
}

int dl_phases_plan(const struct dl_engine *e, struct dl_sweep *next, struct dl_phases **out)
{
	bool known = dl_phases_are_known(e);
	struct dl_phases *p;
	int err = 0;

	if (!next->proven || !e->options.transitions || !(known || e->recall.known) ||
	    !phases_can_run() ||
	    (known && dl_phases_same_routing(e->in_force, next) &&
	     !has_waiting_links(e, next->fabric)))
		return 0;
	p = calloc(1, sizeof(*p));
	if (!p)
		goto no_memory;
	p->from = e->in_force;
	p->next = next;
	if (!known) {
		p->origin = e->recall.set_up_before ? DL_PHASES_FROM_SWITCHES :
						      DL_PHASES_FROM_NOTHING;
		CL_PLOCK_ACQUIRE(&e->osm->lock);
		p->from = NULL;
		err = dl_recall_held(e, next, &p->from);
		CL_PLOCK_RELEASE(&e->osm->lock);
	}
	if (!err)
		err = phases_decide(e, p);
	if (!err) {
		*out = p;
		return 0;
	}
	dl_phases_discard(p);
	if (err != -ENOMEM)
		return 0;
no_memory:
	DL_SAY(e->osm, OSM_LOG_ERROR, "ERR DL29: no memory to plan how the new tables come");
	return -ENOMEM;
}
