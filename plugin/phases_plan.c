/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which steps a change of tables takes, worked out before any is done (phases.c): what
 * differs in cables, maps and trees from the tables in force, or from what the switches
 * were found to hold, whether the mixture of both is safe as it is, and if not, in which
 * order entries move (lib/transition/waves.c).
 *
 * All but the look at the subnet (phases_look.c) is done without OpenSM's lock.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "phases_plan.h"
#include "phases_look.h"
#include "engine.h"
#include "log.h"
#include "recall.h"
#include "sweep.h"

#define MOST_GROUPS 16 /* that differ in their cables */

/* ---- what changes --------------------------------------------------------- */

/* Most sweeps find what was there before. */
bool dl_phases_same_routing(const struct dl_sweep *a, const struct dl_sweep *b)
{
	return dl_fabric_same_cables(a->fabric, b->fabric) &&
	       dl_route_same_result(&a->routed, &b->routed);
}

bool dl_phases_hold_already(const struct dl_engine *e, const struct dl_sweep *next)
{
	return !e->mixture && dl_phases_same_routing(e->in_force, next);
}

/* Do they hold what a change has left that was given up? */
static bool phases_is_mixed(const struct dl_engine *e, const struct dl_phases *p)
{
	return e->mixture && p->origin == DL_PHASES_FROM_FORCE;
}

/* ---- what a change that stopped has left ------------------------------------- */

void dl_phases_forget_mixture(struct dl_engine *e)
{
	e->groups_shut = false;
	free(e->mixture);
	e->mixture = NULL;
}

/* Entries for ports without a cable: with that cable the mixture may not be safe. */
static void phases_close_dead_ends(struct dl_tables *t, uint32_t s)
{
	const struct dl_fabric_node *n = &t->fabric->nodes[t->fabric->switches[s]];
	uint8_t *row = t->lft + s * (size_t)t->stride;

	for (uint32_t lid = 0; lid <= t->top_lid; lid++)
		if (row[lid] <= n->nports && !dl_fabric_in_use(t->fabric, n, row[lid]))
			row[lid] = DL_TABLES_NO_PORT;
}

bool dl_phases_keep_mixture(struct dl_engine *e, const struct dl_phases *p)
{
	struct dl_tables *held = p->plan.held, *t = NULL;

	if (!p->mixed)
		return true;
	for (uint32_t s = 0; s < held->fabric->nswitches; s++)
		phases_close_dead_ends(held, s);
	/* With such a cable groups may not be safe either. */
	e->groups_shut |= p->close_groups || (p->dead_trees && !e->drain.left.known);
	free(e->mixture);
	e->mixture = NULL;
	if (dl_tables_remap(p->plan.held, p->from->fabric, &t))
		return false;
	e->mixture = t->lft;
	t->lft = NULL;
	dl_tables_free(t);
	return true;
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
		const struct dl_fabric_node *n = dl_fabric_switch_node(f, s);
		const uint64_t *old = phases_old_masks(p, s, before);

		for (unsigned int o = 1; old && o <= n->nports; o++)
			if (old[o / 64] >> o % 64 & 1 &&
			    dl_fabric_joins_switches(f, n->first_port + o) &&
			    (!dl_tables_mask_get(after, s, o) ||
			     dl_fabric_match_recabled(&p->old_of, s, o) ||
			     dl_transition_changes_map(&p->plan, s, o)))
				return true;
	}
	return false;
}

/* Does the old tree use ports whose cable has gone? */
static bool phases_is_tree_torn(const struct dl_phases *p, const struct dl_tables_masks *before)
{
	const struct dl_fabric *f = p->next->fabric;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *n = &f->nodes[f->switches[s]];
		const uint64_t *old = phases_old_masks(p, s, before);

		for (unsigned int o = 1; old && o <= n->nports; o++)
			if (old[o / 64] >> o % 64 & 1 && !dl_fabric_in_use(f, n, o))
				return true;
	}
	return false;
}

/* Masks of the new fabric, without ports whose cables lead elsewhere now. */
static int phases_hold_group(const struct dl_phases *p, const struct dl_tables_masks *before,
			     struct dl_tables_masks *masks)
{
	const struct dl_fabric *f = p->next->fabric;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		const uint64_t *old = phases_old_masks(p, s, before);
		unsigned int ports = f->nodes[f->switches[s]].nports;

		for (unsigned int o = 0; old && o <= ports; o++)
			if (old[o / 64] >> o % 64 & 1 &&
			    !(o && dl_fabric_match_recabled(&p->old_of, s, o)) &&
			    dl_tables_mask_set(masks, s, o))
				return -ENOMEM;
	}
	return 0;
}

/*
 * Groups that were found in the switches are a part of the new tree, or closed: what
 * they are is not known one by one.  So are those that a change left empty.
 */
static int phases_find_group(const struct dl_engine *e, struct dl_phases *p,
			     const struct dl_tables_masks *opened, struct dl_tables_masks *held,
			     struct dl_tables_masks *closed)
{
	int err;

	p->close_groups |= p->groups_shut ||
			   (p->plan.maps_changed && p->origin != DL_PHASES_FROM_NOTHING) ||
			   !dl_recall_groups_fit(e, p->next->fabric, opened);
	p->trees_differ |= p->close_groups;
	if (p->close_groups)
		return p->origin == DL_PHASES_FROM_SWITCHES ?
			       dl_recall_groups(e, p->next->fabric, held) :
			       0;
	err = dl_tables_masks_copy(held, opened);
	return err ? err : dl_tables_masks_copy(closed, opened);
}

/* A group before the tables in force; behind the last one they come again from the second on. */
static const struct dl_tables_masks *phases_earlier_group(const struct dl_engine *e, uint16_t mlid)
{
	uint32_t i = mlid - DL_TABLES_MCAST_LID, n = e->drain.groups.ngroups;

	return &e->drain.groups.groups[i < n ? i : n > 1 ? i % (n - 1) : 0].masks;
}

static int phases_compare_group(struct dl_phases *p, uint16_t mlid,
				const struct dl_tables_masks *opened, struct dl_tables_masks *held,
				struct dl_tables_masks *closed)
{
	struct dl_tables_masks before = { .nswitches = p->from->fabric->nswitches };
	int err = phases_full_group(p->from, mlid, &before);

	if (!err)
		err = dl_tables_masks_copy(closed, opened);
	if (!err)
		err = dl_phases_close_group(p, &before, closed);
	if (!err)
		err = phases_hold_group(p, &before, held);
	p->dead_trees |= phases_is_tree_torn(p, &before);
	p->trees_differ |= p->close_groups ||
			   phases_leave_tree(p, p->next->fabric, &before, opened);
	dl_tables_masks_clear(&before);
	return err;
}

/*
 * A group of all end ports, of which all others are parts, in what the switches hold, the
 * closed tables and the new ones.  Old branches must be forgotten before links are
 * active, and so must those through a port that is still active and has no cable in
 * OpenSM's view: the switch behind it goes on copying.
 */
static int phases_add_group(const struct dl_engine *e, struct dl_phases *p, uint16_t mlid)
{
	struct dl_tables_mcast_group *held = dl_tables_group(p->plan.held, mlid);
	struct dl_tables_mcast_group *closed = dl_tables_group(p->plan.closed, mlid);
	struct dl_tables_mcast_group *opened = dl_tables_group(&p->opened, mlid);
	struct dl_tables_mcast_group *paths = dl_tables_group(&p->paths, mlid);
	bool known = p->origin == DL_PHASES_FROM_FORCE && !p->groups_shut;
	int err = held && closed && opened && paths ? 0 : -ENOMEM;

	if (!err)
		err = phases_full_group(p->next, mlid, &opened->masks);
	if (err || !p->has_groups)
		return err;
	p->close_groups = p->old_branches || p->ghost_ports;
	err = known ? phases_compare_group(p, mlid, &opened->masks, &held->masks, &closed->masks) :
		      phases_find_group(e, p, &opened->masks, &held->masks, &closed->masks);
	if (!err)
		err = dl_tables_masks_copy(&paths->masks, &held->masks);
	/* Packets are on the trees before that one, too. */
	if (!err && known && p->plan.history.whole && e->drain.groups.ngroups && dl_drain_is_due(e))
		err = phases_hold_group(p, phases_earlier_group(e, mlid), &held->masks);
	return err;
}

/* Groups are spread over cables side by side: until these come again. */
static int phases_add_groups(const struct dl_engine *e, struct dl_phases *p)
{
	const struct dl_tables *held = p->plan.held, *opened = &p->opened;

	p->paths = *held;
	p->paths.groups = NULL;
	p->paths.ngroups = p->paths.groups_cap = 0;
	for (unsigned int i = 0; i < MOST_GROUPS; i++) {
		int err = phases_add_group(e, p, DL_TABLES_MCAST_LID + i);

		if (err)
			return err;
		if (i && dl_tables_masks_equal(&held->groups[i].masks, &held->groups[0].masks) &&
		    dl_tables_masks_equal(&opened->groups[i].masks, &opened->groups[0].masks))
			break;
	}
	return 0;
}

/* ---- deciding ------------------------------------------------------------- */

void dl_phases_free(struct dl_phases *p)
{
	if (!p)
		return;
	dl_transition_leftovers_release(&p->left);
	dl_transition_waves_release(&p->steps);
	dl_transition_release(&p->plan);
	dl_tables_free_groups(&p->opened);
	dl_tables_free_groups(&p->paths);
	dl_fabric_match_release(&p->old_of);
	dl_sweep_free(p->from);
	free(p->waits);
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

/* What packets can have met that are under way; NULL: nobody knows. */
static const struct dl_transition_history *phases_history(const struct dl_engine *e,
							  const struct dl_phases *p)
{
	static const struct dl_transition_history nothing = { .whole = true };

	if (p->origin != DL_PHASES_FROM_FORCE || (phases_is_mixed(e, p) && p->links_come))
		return NULL;
	if (e->drain.left.known && dl_drain_is_due(e))
		return &e->drain.history;
	return e->mixture || dl_drain_is_due(e) ? NULL : &nothing;
}

/* What changes in forwarding tables and maps. */
static int phases_plan_transition(const struct dl_engine *e, struct dl_phases *p)
{
	struct dl_tables from = *p->from->routed.tables;
	int err;

	if (phases_is_mixed(e, p))
		from.lft = e->mixture;
	from.ngroups = 0;
	p->opened = *p->next->routed.tables;
	p->opened.ngroups = p->opened.groups_cap = 0;
	p->opened.groups = NULL;
	err = dl_transition_plan_after(&from, &p->opened, phases_history(e, p), &p->plan);
	if (!err)
		err = dl_transition_interrupted(&p->plan, NULL);
	if (!err)
		dl_transition_spare(&p->plan);
	return err;
}

/* Is any mixture of what the switches hold and the new tables safe? */
static int phases_look_at_mixture(const struct dl_engine *e, struct dl_phases *p)
{
	struct dl_sweep *next = p->next;
	bool any_sl = e->options.route.mode == DL_ROUTE_ANY_SL;

	if (p->plan.maps_changed || p->plan.history.nearlier)
		return 0;
	p->direct = !p->plan.writes_close || !p->plan.writes_open;
	if ((p->direct && !p->plan.orphans.n) || p->origin != DL_PHASES_FROM_FORCE)
		return 0;
	return dl_route_is_mixture_safe(p->plan.held, next->routed.tables, next->routed.tree,
					&p->plan.orphans, any_sl ? DL_VERIFY_ANY_SL : 0,
					next->safe_sls, &p->direct);
}

/* In waves; or close, drain, open, where groups use SLs of their own: waves leave these aside. */
static int phases_plan_steps(struct dl_phases *p)
{
	bool waves = !(p->from->safe_sls & ~p->next->safe_sls);
	int err = -ELOOP;

	if (waves) {
		err = dl_transition_waves(&p->plan, dl_transition_work(&p->plan), &p->steps);
		if (!err && !p->steps.safe) {
			dl_transition_waves_release(&p->steps);
			err = -ELOOP;
		}
	}
	if (err == -ELOOP)
		err = dl_transition_waves(&p->plan, 0, &p->steps);
	p->close_groups |= p->steps.in_phases ? p->trees_differ || p->links_come :
						p->steps.closes_groups;
	p->trees_differ |= p->close_groups; /* they come again at the end */
	if (!err && p->steps.needs_drain)
		err = dl_transition_leftovers(&p->plan, &p->steps, &p->left);
	return err;
}

/*
 * May the subnet manager before have closed groups, to wait for packets of which nobody knows
 * now?  It had not if they reach their members.  (Where entries are missing, there is a wait.)
 */
static bool phases_open_blindly(const struct dl_engine *e, const struct dl_phases *p)
{
	return p->origin == DL_PHASES_FROM_SWITCHES &&
	       !dl_recall_groups_span(e, p->next->fabric, p->next->routed.tree);
}

/* Decide by cables, tables, maps and trees. */
static int phases_decide(const struct dl_engine *e, struct dl_phases *p)
{
	int err = dl_fabric_match(p->next->fabric, p->from->fabric, &p->old_of);

	if (err)
		return err;
	err = dl_phases_look(e, p);
	/* ... and packets may not: neither was proven with a link that comes. */
	p->groups_shut = e->groups_shut ||
			 (p->origin == DL_PHASES_FROM_FORCE && e->branches_left) ||
			 (phases_is_mixed(e, p) && p->links_come);
	if (!err)
		err = phases_plan_transition(e, p);
	if (err)
		return err;
	if (p->origin == DL_PHASES_FROM_NOTHING)
		p->ghost_ports = false;
	err = phases_look_at_mixture(e, p);
	if (!err)
		err = phases_add_groups(e, p);
	p->blind = !err && phases_open_blindly(e, p);
	p->direct &= !p->trees_differ && !p->dead_trees && !p->plan.orphans.moved && !p->blind;
	return err || p->direct ? err : phases_plan_steps(p);
}

int dl_phases_plan(const struct dl_engine *e, struct dl_sweep *next, struct dl_phases **out)
{
	bool known = dl_phases_are_known(e);
	struct dl_phases *p;
	int err = 0;

	if (!next->proven || !e->options.transitions || !(known || e->recall.known) ||
	    !phases_can_run() ||
	    (known && dl_phases_hold_already(e, next) &&
	     !dl_phases_have_waiting_links(e, next->fabric)))
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
