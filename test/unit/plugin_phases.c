/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Changes of tables step by step (plugin/phases.c, phases_plan.c, phases_look.c): at each
 * instant what the switches hold closes no credit loop, whatever falls silent, pairs that
 * work go on working, and what follows is what doc/architecture.md draws.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "osm_fixture.h"
#include "plugin/maps.h"
#include "plugin/phases.h"
#include "plugin/phases_look.h"
#include "plugin/phases_plan.h"
#include "plugin/sweep.h"

#define X 5
#define Y 4

static unsigned int instants, loops, late, late_opening;
static uint64_t worst; /* pairs that do not work, at the worst instant */

/* What the switches hold at this instant, and whether it closes a credit loop. */
static void check_instant(struct osm_fixture *x)
{
	const struct dl_sweep *sweep = x->engine->in_force;
	struct dl_verify_result *v;
	struct dl_tables *t = NULL;

	if (!sweep)
		return;
	assert_int_equal(dl_tables_remap(sweep->routed.tables, sweep->fabric, &t), 0);
	for (uint32_t s = 0; s < sweep->fabric->nswitches; s++) {
		osm_switch_t *sw = dl_sweep_switch(x->engine, sweep->fabric, s);
		const struct osm_fixture_switch *hw;

		memset(t->lft + s * (size_t)t->stride, DL_TABLES_NO_PORT, t->top_lid + 1);
		if (!sw)
			continue;
		hw = osm_fixture_hardware(x, sw);
		for (uint32_t lid = 0; lid <= t->top_lid; lid++)
			if (hw->lft[lid] < sw->num_ports)
				t->lft[s * (size_t)t->stride + lid] = hw->lft[lid];
	}
	assert_int_equal(dl_verify(t, NULL, NULL, &v), 0);
	instants++;
	late += dl_phases_granting(x->engine) != sweep;
	late_opening += x->engine->change == DL_CHANGE_OPENING &&
			dl_phases_granting(x->engine) != sweep;
	loops += v->verdict != DL_VERIFY_FREE;
	worst = v->nlost > worst ? v->nlost : worst;
	dl_verify_result_free(v);
	dl_tables_free(t);
}

static struct osm_fixture *watched(const char *options)
{
	struct osm_fixture *x = osm_fixture_torus(X, Y, options);

	assert_true(osm_fixture_sweep(x));
	instants = loops = late = late_opening = worst = 0;
	x->watch = check_instant;
	x->log[0] = '\0';
	x->blocks = x->group_passes = 0;
	return x;
}

static uint64_t transitions(const struct osm_fixture *x, enum dl_metrics_transition_result r)
{
	return x->engine->metrics.now.transition.total[r];
}

static void a_failure_closes_nothing(void **state)
{
	struct osm_fixture *x = watched("drain_ms=1");
	const struct dl_metrics_transition *m = &x->engine->metrics.now.transition;

	(void)state;
	osm_fixture_cut(osm_fixture_link(osm_fixture_switch(x, 6), 0));
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "transition: 3 steps, 1 drain, 0 entries closed, "),
			 1);
	assert_int_equal(osm_fixture_logged(x, " 0 pairs interrupted"), 1);
	assert_int_equal(transitions(x, DL_METRICS_PHASED), 1);
	assert_int_equal(m->entries_closed + m->pairs_interrupted + late, 0);
	assert_true(m->closed_seconds == 0);
	assert_true(m->blocks > 0 && m->blocks == x->blocks);
	assert_true(instants > 4);
	assert_int_equal(loops, 0);
	assert_true(osm_fixture_delivers(x));
	/* Nothing has changed since. */
	x->blocks = 0;
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(transitions(x, DL_METRICS_UNCHANGED), 1);
	assert_int_equal(x->blocks, 0);
	osm_fixture_free(x);
}

/* A cable that was moved leads writes to another switch, which confirms them. */
static void writes_that_go_astray(void **state)
{
	struct osm_fixture *x = watched("drain_ms=1");
	osm_physp_t *port0 = osm_node_get_physp_ptr(osm_fixture_switch(x, 3)->p_node, 0);
	ib_net16_t lid = port0->port_info.base_lid;

	(void)state;
	osm_fixture_cut(osm_fixture_link(osm_fixture_switch(x, 6), 0));
	x->switches[3].reached = osm_fixture_switch(x, 4);
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "not proven this one time: 1 switch does not answer "
					       "along the path by which it was written"),
			 1);
	assert_int_equal(transitions(x, DL_METRICS_UNPROVEN), 1);
	assert_int_equal(x->engine->change, DL_CHANGE_UNKNOWN);
	assert_int_equal(port0->port_info.base_lid, lid);
	/* The next sweep reads what the switches hold. */
	x->switches[3].reached = NULL;
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(transitions(x, DL_METRICS_UNPROVEN), 1);
	assert_int_equal(x->engine->change, DL_CHANGE_SETTLED);
	osm_fixture_free(x);
}

/* OpenSM cuts maps to the VLs that a port says it has, before anything is closed. */
static void ports_that_lose_vls(void **state)
{
	struct osm_fixture *x = watched("drain_ms=1");
	osm_physp_t *p = osm_fixture_link(osm_fixture_switch(x, 6), 0);

	(void)state;
	p->port_info.vl_cap = 1 << 4 | (p->port_info.vl_cap & 0xF);
	ib_port_info_set_op_vls(&p->port_info, 1);
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "not proven this one time: 1 switch does not have "
					       "the VLs that its maps use"),
			 1);
	assert_int_equal(transitions(x, DL_METRICS_UNPROVEN), 1);
	assert_int_equal(x->engine->change, DL_CHANGE_UNKNOWN);
	osm_fixture_free(x);
}

static void a_cable_that_comes_goes_active_first(void **state)
{
	struct osm_fixture *x = watched("drain_ms=1");
	osm_physp_t *a = osm_fixture_link(osm_fixture_switch(x, 6), 0), *b = a->p_remote_physp;

	(void)state;
	osm_fixture_cut(a);
	assert_true(osm_fixture_sweep(x));
	osm_fixture_mend(a, b);
	worst = 0;
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "new links active first"), 1);
	assert_int_equal(loops, 0);
	/* Entries move back, and no pair is interrupted. */
	assert_int_equal(worst, 0);
	assert_int_equal(osm_fixture_logged(x, " 0 entries closed, "), 2);
	assert_int_equal(ib_port_info_get_port_state(&a->port_info), IB_LINK_ACTIVE);
	assert_true(osm_fixture_delivers(x));
	osm_fixture_free(x);
}

/* ---- links that go active --------------------------------------------------------- */

static unsigned int raised, raised_early;

/* Maps are those of the plan before packets can cross. */
static void check_raised(struct osm_fixture *x, osm_physp_t *p)
{
	raised += p->p_node->sw != NULL;
	raised_early += dl_maps_count_missing(x->engine) != 0;
}

/* As a port is that has just come up. */
static void come_up(osm_physp_t *p)
{
	ib_port_info_set_port_state(&p->port_info, IB_LINK_INIT);
	ib_port_info_set_op_vls(&p->port_info, 1);
}

static void watch_links(struct osm_fixture *x)
{
	raised = raised_early = 0;
	x->raised = check_raised;
	x->log[0] = '\0';
	x->sweeps_asked = 0;
}

/* It comes back within a sweep: the cables are the same, and the tables. */
static void a_switch_that_was_down_for_a_moment(void **state)
{
	struct osm_fixture *x = watched("drain_ms=1");
	osm_switch_t *sw = osm_fixture_switch(x, 6);
	struct osm_fixture_switch *hw = osm_fixture_hardware(x, sw);

	(void)state;
	memset(hw->maps, 0, sizeof(hw->maps));
	for (unsigned int o = 1; o < sw->num_ports; o++)
		if (sw->p_node->physp_table[o].p_remote_physp) {
			come_up(&sw->p_node->physp_table[o]);
			come_up(sw->p_node->physp_table[o].p_remote_physp);
		}
	watch_links(x);
	assert_true(osm_fixture_sweep(x));
	assert_true(raised > 0);
	assert_int_equal(raised_early, 0);
	assert_int_equal(loops, 0);
	assert_int_equal(osm_fixture_logged(x, "new links active first; any mixture is safe"), 1);
	assert_int_equal(x->sweeps_asked, 0);
	/* Its OperVLs does not rise: who has not the whole maps is named. */
	come_up(osm_fixture_link(sw, 0));
	x->low_vls = true;
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "not proven this one time: 1 switch does not"), 1);
	osm_fixture_free(x);
}

static bool loses_cable;

/* When entries move, the neighbour of a silent switch has taken its port down. */
static void check_ghost(struct osm_fixture *x)
{
	check_instant(x);
	if (x->engine->change == DL_CHANGE_MOVING || x->engine->change == DL_CHANGE_OPENING) {
		loses_cable = true;
		assert_int_equal(dl_phases_count_ghosts(x->engine, x->engine->in_force->fabric), 0);
	}
}

static void a_port_without_a_cable_goes_down_first(void **state)
{
	struct osm_fixture *x = watched("drain_ms=1");
	osm_physp_t *p = osm_fixture_link(osm_fixture_switch(x, 6), 0);

	(void)state;
	loses_cable = false;
	osm_fixture_cut(p);
	ib_port_info_set_port_state(&p->port_info, IB_LINK_ACTIVE);
	x->watch = check_ghost;
	assert_true(osm_fixture_sweep(x));
	assert_true(loses_cable);
	assert_int_equal(loops, 0);
	assert_int_equal(osm_fixture_logged(x, "transition: 3 steps, 1 drain, 0 entries closed"),
			 1);
	osm_fixture_free(x);
}

static void links_that_come_up_with_few_vls(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(X, Y, "drain_ms=1");

	(void)state;
	for (unsigned int s = 0; s < X * Y; s++)
		for (unsigned int o = 1; o < osm_fixture_switch(x, s)->num_ports; o++)
			come_up(&osm_fixture_switch(x, s)->p_node->physp_table[o]);
	watch_links(x);
	assert_true(osm_fixture_sweep(x));
	assert_true(raised > 0);
	assert_int_equal(raised_early, 0);
	assert_int_equal(osm_fixture_logged(x, "not in force"), 0);
	assert_int_equal(osm_fixture_logged(x, "from switches that held nothing: 1 step"), 1);
	assert_int_equal(x->sweeps_asked, 0);
	osm_fixture_free(x);
}

static void transitions_none_writes_at_once(void **state)
{
	struct osm_fixture *x = watched("transitions=none");

	(void)state;
	osm_fixture_cut(osm_fixture_link(osm_fixture_switch(x, 6), 0));
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "transition:"), 0);
	assert_int_equal(transitions(x, DL_METRICS_UNPROVEN), 2);
	assert_true(osm_fixture_delivers(x));
	osm_fixture_free(x);
}

static void groups_are_closed_where_the_tree_changes(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(X, Y, "drain_ms=1");
	const struct dl_route_tree *tree;
	osm_physp_t *near = NULL, *far = NULL;
	osm_switch_t *sw;
	uint32_t s;

	(void)state;
	osm_fixture_join(x, 0xC003, 0, 0, 20);
	assert_true(osm_fixture_sweep(x));
	/* A switch's cable to its parent in the tree. */
	tree = x->engine->in_force->routed.tree;
	for (s = 0; s == tree->root; s++)
		;
	sw = dl_sweep_switch(x->engine, x->engine->in_force->fabric, s);
	for (unsigned int i = 0; !far; i++) {
		const struct dl_fabric *f = x->engine->in_force->fabric;
		uint64_t parent = f->nodes[f->switches[tree->parent[s]]].guid;

		near = osm_fixture_link(sw, i);
		if (cl_ntoh64(osm_node_get_node_guid(near->p_remote_physp->p_node)) == parent)
			far = near->p_remote_physp;
	}
	osm_fixture_cut(near);
	assert_true(osm_fixture_sweep(x));
	/* The tree moves back: once to close, once by OpenSM. */
	osm_fixture_mend(near, far);
	x->group_passes = 0;
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(x->group_passes, 2);
	assert_int_equal(osm_fixture_logged(x, "multicast closed as well"), 1);
	x->group_passes = 0;
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(x->group_passes, 1);
	osm_fixture_free(x);
}

/* Maps change with the mode: entries are closed before, and opened afterwards. */
static void another_mode_takes_three_phases(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(X, Y, "mode=any-sl drain_ms=1");

	(void)state;
	assert_true(osm_fixture_sweep(x));
	osm_fixture_restart(x, "mode=proven drain_ms=1");
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "from the tables that the switches held; 3 steps"),
			 1);
	assert_int_equal(dl_maps_count_missing(x->engine), 0);
	assert_true(osm_fixture_delivers(x));
	osm_fixture_free(x);
}

/* As if path SLs had been granted that the new tables are not safe with. */
static void pairs_that_must_reconnect_are_counted(void **state)
{
	struct osm_fixture *x = watched("drain_ms=1");
	struct dl_tables *t = x->engine->in_force->routed.tables;

	(void)state;
	assert_non_null(t->psl);
	memset(t->psl, 0, (size_t)t->npsl_src * t->npsl_dst);
	osm_fixture_cut(osm_fixture_link(osm_fixture_switch(x, 6), 0));
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "Warning: transition: safe only if "), 1);
	assert_int_equal(osm_fixture_logged(x, "reconnect, of "), 1);
	assert_int_equal(osm_fixture_logged(x, " adapter ports ("), 1);
	assert_int_equal(osm_fixture_logged(x, "transition: 2 steps, 1 drain, "), 1);
	assert_int_equal(loops, 0);
	/* Nor are the old tables safe with new SLs: these are granted after the closing. */
	assert_true(late > 0 && late < instants);
	/* They stay as they are now. */
	x->log[0] = '\0';
	osm_fixture_cut(osm_fixture_link(osm_fixture_switch(x, 12), 0));
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "reconnect"), 0);
	osm_fixture_free(x);
}

/* All switches lose power, the subnet manager does not: nothing is under way any more. */
static void a_fabric_that_lost_all_power(void **state)
{
	struct osm_fixture *x = watched("drain_ms=1");
	struct dl_drain_left *left = &x->engine->drain.left;

	(void)state;
	*left = (struct dl_drain_left){ .since = dl_clock_monotonic(), .hops = 3, .known = true };
	for (unsigned int s = 0; s < x->nswitches; s++) {
		osm_switch_t *sw = osm_fixture_switch(x, s);

		x->switches[s].top = 0;
		memset(x->switches[s].lft, OSM_NO_PATH, sizeof(x->switches[s].lft));
		sw->switch_info.lin_top = 0;
	}
	x->osm->subn.sm_state = IB_SMINFO_STATE_DISCOVERING;
	x->osm->subn.coming_out_of_standby = TRUE;
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "from switches that held nothing"), 1);
	assert_true(left->since == 0 && !left->known);
	osm_fixture_free(x);
}

/* Packets may be under way to a node that had the highest LID, too: its entries count. */
static void the_highest_lid_stays(void **state)
{
	struct osm_fixture *x = watched("drain_ms=1");
	const struct dl_fabric *f = x->engine->in_force->fabric;
	uint16_t top = f->top_lid;
	uint32_t s = dl_fabric_access_switch(f, f->lid_port[top]);

	(void)state;
	osm_fixture_drop(x, dl_sweep_switch(x->engine, f, s));
	assert_true(osm_fixture_sweep(x));
	f = x->engine->in_force->fabric;
	assert_int_equal(f->nswitches, X * Y - 1);
	assert_int_equal(f->top_lid, top);
	assert_int_equal(f->lid_port[top], DL_NONE);
	assert_true(osm_fixture_delivers(x));
	x->log[0] = '\0';
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "transition: "), 0);
	osm_fixture_free(x);
}

/* ... but not where the forwarding table of a switch that is left ends before it. */
static void the_highest_lid_fits_all_switches(void **state)
{
	struct osm_fixture *x = watched("drain_ms=1");
	const struct dl_fabric *f = x->engine->in_force->fabric;
	uint16_t top = f->top_lid;
	uint32_t s = dl_fabric_access_switch(f, f->lid_port[top]);
	osm_switch_t *other = dl_sweep_switch(x->engine, f, s ? 0 : 1);

	(void)state;
	osm_fixture_drop(x, dl_sweep_switch(x->engine, f, s));
	other->switch_info.lin_cap = cl_hton16(top);
	for (unsigned int i = 0; i < 2; i++) {
		assert_true(osm_fixture_sweep(x));
		f = x->engine->in_force->fabric;
		assert_int_equal(f->nswitches, X * Y - 1);
		assert_int_equal(f->top_lid, top - 1);
		assert_true(osm_fixture_delivers(x));
	}
	assert_true(other->max_lid_ho < top);
	osm_fixture_free(x);
}

/*
 * A link that comes back does not get its VLs, so that nothing is proven: the new tables are
 * written all the same, and path queries get their SLs, though no step is over.
 */
static void new_tables_grant_though_a_step_failed(void **state)
{
	struct osm_fixture *x = watched("drain_ms=1");
	struct dl_tables *t = x->engine->in_force->routed.tables;
	osm_physp_t *link = osm_fixture_link(osm_fixture_switch(x, 6), 0);

	(void)state;
	memset(t->psl, 0, (size_t)t->npsl_src * t->npsl_dst);
	come_up(link);
	come_up(link->p_remote_physp);
	x->low_vls = true;
	osm_fixture_cut(osm_fixture_link(osm_fixture_switch(x, 12), 0));
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "not proven this one time: "), 1);
	assert_true(instants > 0);
	assert_int_equal(late_opening, 0);
	osm_fixture_free(x);
}

/*
 * A switch falls silent after so many writes: what differs stays closed, the next
 * sweep follows at once, and with the switch gone all is routed.  Returns whether
 * the change was left unfinished.
 */
static bool dies(unsigned int s, unsigned int after)
{
	struct osm_fixture *x = watched("drain_ms=1");
	osm_switch_t *dead = osm_fixture_switch(x, s);
	bool unfinished;

	osm_fixture_cut(osm_fixture_link(osm_fixture_switch(x, 6), 0));
	x->dies = osm_fixture_hardware(x, dead);
	x->dies_after = after;
	osm_fixture_sweep(x);
	assert_int_equal(loops, 0);
	unfinished = osm_fixture_logged(x, "ERR DL26");
	if (unfinished) {
		char named[256];

		snprintf(named, sizeof(named),
			 "ERR DL26: 1 switch does not confirm forwarding entries, ports that go "
			 "down, "
			 "or SL-to-VL maps (%s)",
			 dead->p_node->print_desc);
		assert_int_equal(osm_fixture_logged(x, named) +
					 osm_fixture_logged(x, "DL26: not all groups are closed"),
				 1);
		assert_int_equal(transitions(x, DL_METRICS_UNFINISHED), 1);
		assert_true(x->osm->subn.subnet_initialization_error);
		assert_int_equal(x->sweeps_asked, 1);
		/* Still silent: no sweep is asked for a second time. */
		osm_fixture_sweep(x);
		assert_int_equal(x->sweeps_asked, 1);
		assert_int_equal(loops, 0);
	}
	osm_fixture_drop(x, dead);
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(loops, 0);
	assert_int_equal(x->engine->in_force->fabric->nswitches, X * Y - 1);
	assert_int_equal(osm_fixture_logged(x, "ERR DL34"), 0);
	osm_fixture_free(x);
	return unfinished;
}

static void a_switch_dies_in_the_middle_of_a_change(void **state)
{
	unsigned int unfinished = 0;

	(void)state;
	for (unsigned int s = 1; s < X * Y; s++)
		for (unsigned int after = 0; after < 6; after++)
			unfinished += dies(s, after);
	assert_true(unfinished > 0);
}

static void opensm_ends_in_the_middle(void **state)
{
	struct osm_fixture *x = watched("drain_ms=1");

	(void)state;
	osm_fixture_cut(osm_fixture_link(osm_fixture_switch(x, 6), 0));
	osm_exit_flag = 1;
	osm_fixture_sweep(x);
	assert_int_equal(osm_fixture_logged(x, "transition:"), 0);
	assert_int_equal(osm_fixture_logged(x, "ERR DL26"), 0);
	assert_int_equal(loops, 0);
	osm_fixture_free(x);
}

static void plans(void **state)
{
	struct osm_fixture *x = watched("drain_ms=1");
	struct dl_phases *p = NULL;
	struct dl_sweep *next = NULL;

	(void)state;
	assert_true(dl_phases_are_known(x->engine));
	assert_int_equal(dl_sweep_begin(x->engine, &next), 0);
	assert_int_equal(dl_sweep_run(x->engine, next), 0);
	assert_true(dl_phases_same_routing(x->engine->in_force, next));
	assert_int_equal(dl_phases_plan(x->engine, next, &p), 0);
	assert_null(p);
	dl_sweep_free(next);
	osm_fixture_cut(osm_fixture_link(osm_fixture_switch(x, 6), 0));
	assert_int_equal(dl_sweep_begin(x->engine, &next), 0);
	assert_int_equal(dl_sweep_run(x->engine, next), 0);
	assert_false(dl_phases_same_routing(x->engine->in_force, next));
	assert_int_equal(dl_phases_plan(x->engine, next, &p), 0);
	assert_non_null(p);
	assert_ptr_equal(p->from, x->engine->in_force);
	assert_ptr_equal(p->next, next);
	assert_true(p->steps.safe && p->steps.nmoves);
	assert_false(p->steps.in_phases);
	assert_int_equal(p->steps.entries_closed, 0);
	dl_phases_discard(p);
	dl_sweep_free(next);
	/* Whoever becomes the master knows nothing. */
	x->osm->subn.coming_out_of_standby = TRUE;
	assert_false(dl_phases_are_known(x->engine));
	osm_fixture_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_closes_nothing),
		cmocka_unit_test(writes_that_go_astray),
		cmocka_unit_test(ports_that_lose_vls),
		cmocka_unit_test(a_cable_that_comes_goes_active_first),
		cmocka_unit_test(a_switch_that_was_down_for_a_moment),
		cmocka_unit_test(a_port_without_a_cable_goes_down_first),
		cmocka_unit_test(links_that_come_up_with_few_vls),
		cmocka_unit_test(transitions_none_writes_at_once),
		cmocka_unit_test(groups_are_closed_where_the_tree_changes),
		cmocka_unit_test(another_mode_takes_three_phases),
		cmocka_unit_test(pairs_that_must_reconnect_are_counted),
		cmocka_unit_test(a_fabric_that_lost_all_power),
		cmocka_unit_test(the_highest_lid_stays),
		cmocka_unit_test(the_highest_lid_fits_all_switches),
		cmocka_unit_test(new_tables_grant_though_a_step_failed),
		cmocka_unit_test(a_switch_dies_in_the_middle_of_a_change),
		cmocka_unit_test(opensm_ends_in_the_middle),
		cmocka_unit_test(plans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
