/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Marks in the switches, and what a subnet manager remembers of those that have gone
 * (plugin/marks.c).
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
#include "plugin/sweep.h"

static void places(const struct osm_fixture *x, uint32_t *sites)
{
	const struct dl_torus *t = x->engine->in_force->torus;

	memcpy(sites, t->sw_site, t->fabric->nswitches * sizeof(*sites));
}

/* By GUID, as the number of switches may differ. */
static void assert_places(const struct osm_fixture *x, const struct dl_fabric *was,
			  const uint32_t *sites)
{
	const struct dl_torus *t = x->engine->in_force->torus;

	for (uint32_t s = 0; s < was->nswitches; s++) {
		uint32_t node = dl_fabric_find_guid(t->fabric, was->nodes[was->switches[s]].guid);

		if (node != DL_NONE)
			assert_int_equal(t->sw_site[t->fabric->nodes[node].sw], sites[s]);
	}
}

/*
 * Two switches are gone after a restart, and where the others were is in `sites`: the
 * cabling of what is left does not show where rings of odd radix begin.
 */
static struct osm_fixture *restart_damaged(uint32_t *sites)
{
	struct osm_fixture *x = osm_fixture_torus(5, 3, NULL);

	assert_true(osm_fixture_sweep(x));
	places(x, sites);
	osm_fixture_stop(x);
	osm_fixture_drop(x, osm_fixture_switch(x, 0));
	osm_fixture_drop(x, osm_fixture_switch(x, 6));
	osm_fixture_restart(x, NULL);
	return x;
}

static void marks_keep_coordinates(void **state)
{
	uint32_t sites[15];
	struct osm_fixture *x = restart_damaged(sites);
	struct dl_fabric *was = x->g.fabric;

	(void)state;
	assert_true(osm_fixture_sweep(x));
	assert_true(x->engine->recall.set_up_before);
	assert_true(x->gets > 0);
	assert_places(x, was, sites);
	assert_int_equal(osm_fixture_logged(x, "ERR DL27"), 0);
	osm_fixture_free(x);
}

/* The cable between two switches of a fixture, cut. */
static void cut_between(struct osm_fixture *x, unsigned int a, unsigned int b, osm_physp_t *ends[2])
{
	ends[0] = osm_fixture_link(osm_fixture_switch(x, a), 0);
	for (unsigned int n = 1; ends[0]->p_remote_physp->p_node->sw != osm_fixture_switch(x, b);
	     n++)
		ends[0] = osm_fixture_link(osm_fixture_switch(x, a), n);
	ends[1] = ends[0]->p_remote_physp;
	osm_fixture_cut(ends[0]);
}

/*
 * The switch at (2,2) of a torus of w by 5 loses its cables to -x, -y, +x, +y, and is left
 * out: OpenSM reaches it along a path that is no other one's.
 */
static osm_switch_t *cut_off(struct osm_fixture *x, unsigned int w, osm_physp_t *ends[4][2])
{
	const unsigned int at = 2 * w + 2, beside[] = { at - 1, at - w, at + 1, at + w };
	osm_switch_t *sw = osm_fixture_switch(x, at);

	osm_node_get_physp_ptr(sw->p_node, 0)->dr_path.hop_count = 1;
	for (unsigned int i = 0; i < 4; i++)
		cut_between(x, at, beside[i], ends[i]);
	return sw;
}

static void lose_power(struct osm_fixture_switch *hw)
{
	memset(hw->lft, OSM_NO_PATH, sizeof(hw->lft));
	hw->top = 0;
}

/* Its place is not what its port numbers say: two cables of another switch are exchanged. */
static struct osm_fixture *torus_without_port_order(unsigned int w)
{
	struct osm_fixture *x = osm_fixture_torus(w, 5, NULL);
	osm_physp_t *one[2], *other[2];

	cut_between(x, 2 * w, 2 * w + 1, one);
	cut_between(x, 2 * w, w, other);
	osm_fixture_mend(one[0], other[1]);
	osm_fixture_mend(other[0], one[1]);
	return x;
}

/*
 * A switch of a torus of w by 5 was left out, and comes back with two cables, which fit its
 * place, *site, and that of a switch that is gone.  If w is 6, marks need one more block.
 * Its mark is its own, or that of another switch, or of a larger torus, and the subnet manager
 * has started again meanwhile; or the switch has been without power, and the subnet manager
 * remembers, or has not been the master since, or starts again now.
 */
enum fixture_mark { MARK_OWN, MARK_TAKEN, MARK_LARGER, MARK_REMEMBERED, MARK_FORGOTTEN, MARK_LOST };

static struct osm_fixture *return_ambiguously(unsigned int w, uint64_t *guid, uint32_t *site,
					      enum fixture_mark mark)
{
	struct osm_fixture *x = torus_without_port_order(w);
	const unsigned int at = 2 * w + 2;
	struct osm_fixture_switch *hw;
	osm_physp_t *ends[4][2];
	osm_switch_t *returns;

	assert_true(osm_fixture_sweep(x));
	*site = x->engine->in_force->torus->sw_site[at];
	returns = cut_off(x, w, ends);
	*guid = cl_ntoh64(osm_node_get_node_guid(returns->p_node));
	osm_fixture_drop(x, osm_fixture_switch(x, at + w + 1));
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(x->engine->in_force->fabric->nswitches, 5 * w - 2);
	if (mark == MARK_TAKEN || mark == MARK_LARGER)
		osm_fixture_restart(x, NULL);
	assert_true(osm_fixture_sweep(x));
	hw = osm_fixture_hardware(x, returns);
	if (mark >= MARK_REMEMBERED) {
		lose_power(hw);
	} else if (mark != MARK_OWN) {
		unsigned int nports = returns->num_ports - 1;
		struct dl_torus_mark m = { x->engine->in_force->torus->grid, 0, 0 };

		m.grid.radix[0] += mark == MARK_LARGER;
		dl_torus_mark_write(&m, *guid, nports,
				    hw->lft + dl_torus_mark_first(hw->top, nports));
	}
	osm_fixture_mend(ends[2][0], ends[2][1]);
	osm_fixture_mend(ends[3][0], ends[3][1]);
	if (mark == MARK_LOST)
		osm_fixture_restart(x, NULL);
	if (mark == MARK_FORGOTTEN)
		x->osm->subn.first_time_master_sweep = TRUE;
	x->switches[3].silent = mark == MARK_LOST && w == 9;
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(x->engine->in_force->fabric->nswitches, 5 * w - 1);
	return x;
}

static uint32_t site_of(const struct osm_fixture *x, uint64_t guid)
{
	const struct dl_fabric *f = x->engine->in_force->fabric;

	return x->engine->in_force->torus->sw_site[f->nodes[dl_fabric_find_guid(f, guid)].sw];
}

/* The mark that it has kept decides, or what the subnet manager remembers. */
static void a_switch_returns_with_its_mark(void **state)
{
	uint32_t site;
	uint64_t guid;

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct osm_fixture *x = return_ambiguously(i % 2 ? 9 : 6, &guid, &site,
							   i / 2 ? MARK_REMEMBERED : MARK_OWN);

		assert_int_equal(site_of(x, guid), site);
		assert_int_equal(osm_fixture_logged(x, "not proven this one time"), 0);
		osm_fixture_free(x);
	}
}

static void a_wrong_mark_is_no_place(void **state)
{
	uint32_t site;
	uint64_t guid;

	(void)state;
	for (enum fixture_mark mark = MARK_TAKEN; mark <= MARK_LARGER; mark++) {
		struct osm_fixture *x = return_ambiguously(6, &guid, &site, mark);

		assert_int_equal(site_of(x, guid), DL_NONE);
		assert_int_equal(osm_fixture_logged(x, "have a place that its mark shows"), 1);
		osm_fixture_free(x);
	}
}

/*
 * Others have no entries for it, but applications may have its SLs.  One switch does not say
 * what it holds, in the larger torus.
 */
static void a_lost_place_is_said_at_a_start(void **state)
{
	uint32_t site;
	uint64_t guid;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct osm_fixture *x = return_ambiguously(i == 1 ? 9 : 6, &guid, &site,
							   i == 2 ? MARK_FORGOTTEN : MARK_LOST);

		assert_int_equal(site_of(x, guid), DL_NONE);
		assert_int_equal(osm_fixture_logged(x, "have a place that its mark shows"), 1);
		assert_int_equal(osm_fixture_logged(x, "what the switches held was not known"),
				 i == 1);
		osm_fixture_free(x);
	}
}

/* Plug a switch where switch s was at first: the same one, or another. */
static void plug_at(struct osm_fixture *x, osm_switch_t *near, uint32_t s)
{
	const struct dl_fabric *f = x->g.fabric;
	const struct dl_fabric_node *n = &f->nodes[f->switches[s]];

	for (unsigned int o = 1; o <= n->nports; o++) {
		const struct dl_fabric_port *far = &f->ports[f->ports[n->first_port + o].peer];
		osm_switch_t *beside;

		if (!dl_fabric_joins_switches(f, n->first_port + o))
			continue;
		beside = dl_sweep_switch(x->engine, f, f->nodes[far->node].sw);
		if (beside)
			osm_fixture_mend(osm_node_get_physp_ptr(near->p_node, o),
					 osm_node_get_physp_ptr(beside->p_node, far->num));
	}
}

/*
 * A switch off the torus goes, loses power, and has a place when it returns: its SLs are
 * others than those that it was granted, as the shortest way round the ring is another one.
 */
static void a_leaf_returns_with_a_place(void **state)
{
	uint32_t site, s;
	uint64_t guid;
	struct osm_fixture *x = return_ambiguously(7, &guid, &site, MARK_LOST);
	const struct dl_fabric *f = x->engine->in_force->fabric;
	osm_switch_t *sw;

	(void)state;
	x->osm->subn.first_time_master_sweep = FALSE;
	s = f->nodes[dl_fabric_find_guid(f, guid)].sw;
	sw = dl_sweep_switch(x->engine, f, s);
	osm_fixture_cut(osm_fixture_link(sw, 0));
	osm_fixture_cut(osm_fixture_link(sw, 0));
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(x->engine->in_force->fabric->nswitches, 33);
	lose_power(osm_fixture_hardware(x, sw));
	f = x->g.fabric;
	plug_at(x, sw, f->nodes[dl_fabric_find_guid(f, guid)].sw);
	assert_int_equal(osm_fixture_logged(x, "ERR DL27"), 0);
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(site_of(x, guid), site);
	assert_int_equal(osm_fixture_logged(x, "ERR DL27: new coordinates: "), 1);
	osm_fixture_free(x);
}

/* A switch goes, and is plugged elsewhere, where another one has gone: its cables say where. */
static void a_switch_that_is_moved(void **state)
{
	struct osm_fixture *x = torus_without_port_order(6);
	osm_switch_t *moved = osm_fixture_switch(x, 14), *gone = osm_fixture_switch(x, 22);
	struct osm_fixture_switch *hw = osm_fixture_hardware(x, moved);
	osm_physp_t *ends[4][2];
	uint32_t site;

	(void)state;
	assert_true(osm_fixture_sweep(x));
	site = x->engine->in_force->torus->sw_site[22];
	cut_off(x, 6, ends);
	osm_fixture_drop(x, gone);
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(x->engine->in_force->fabric->nswitches, 28);
	lose_power(hw);
	plug_at(x, moved, 22);
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(site_of(x, hw->guid), site);
	assert_int_equal(osm_fixture_logged(x, "ERR DL27: new coordinates: "), 1);
	osm_fixture_free(x);
}

/*
 * A switch comes, in a change that another one, which dies, does not let end; then it goes, and
 * returns without power, with two cables that fit two places: its place is the one of the change.
 */
static void a_place_of_an_unfinished_change(void **state)
{
	struct osm_fixture *x = torus_without_port_order(6);
	osm_physp_t *ends[4][2];
	struct osm_fixture_switch *hw = osm_fixture_hardware(x, osm_fixture_switch(x, 14));
	uint32_t site;

	(void)state;
	assert_true(osm_fixture_sweep(x));
	site = site_of(x, hw->guid);
	cut_off(x, 6, ends);
	lose_power(hw);
	osm_fixture_restart(x, NULL);
	assert_true(osm_fixture_sweep(x));
	x->osm->subn.first_time_master_sweep = FALSE;
	assert_true(osm_fixture_sweep(x));
	for (unsigned int i = 0; i < 4; i++)
		osm_fixture_mend(ends[i][0], ends[i][1]);
	x->dies = osm_fixture_hardware(x, osm_fixture_switch(x, 28));
	x->dies_after = 1;
	osm_fixture_sweep(x);
	assert_int_equal(osm_fixture_logged(x, "ERR DL26"), 1);
	assert_int_equal(x->engine->in_force->fabric->nswitches, 29);
	for (unsigned int i = 0; i < 2; i++)
		osm_fixture_cut(ends[i][0]);
	osm_fixture_drop(x, osm_fixture_switch(x, 28));
	osm_fixture_drop(x, osm_fixture_switch(x, 21));
	lose_power(hw);
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(x->engine->in_force->fabric->nswitches, 28);
	assert_int_equal(site_of(x, hw->guid), site);
	osm_fixture_free(x);
}

/*
 * A switch that has been set up, but has no mark, was off the torus: its SLs change when its
 * cables give it a place, in a subnet manager that started while it was away, and at a start
 * that cannot read all.
 */
static void a_place_that_is_new(void **state)
{
	(void)state;
	for (unsigned int start = 0; start < 2; start++) {
		struct osm_fixture *x = osm_fixture_torus(6, 5, NULL);
		struct osm_fixture_switch *hw;
		osm_physp_t *ends[4][2];

		assert_true(osm_fixture_sweep(x));
		hw = osm_fixture_hardware(x, cut_off(x, 6, ends));
		if (!start)
			osm_fixture_restart(x, NULL);
		assert_true(osm_fixture_sweep(x));
		memset(hw->lft + hw->top + 1, OSM_NO_PATH, sizeof(hw->lft) - hw->top - 1);
		for (unsigned int i = 0; i < 4; i++)
			osm_fixture_mend(ends[i][0], ends[i][1]);
		if (start)
			osm_fixture_restart(x, NULL);
		x->switches[3].silent = start;
		assert_true(osm_fixture_sweep(x));
		assert_int_equal(x->engine->in_force->torus->nplaced, 30);
		assert_int_equal(osm_fixture_logged(x, "have a place that its mark shows"), 1);
		osm_fixture_free(x);
	}
}

/* Does the table that OpenSM was to write last hold a switch's mark? */
static bool writes_mark(osm_switch_t *sw)
{
	unsigned int nports = sw->num_ports - 1;
	struct dl_torus_mark m;

	return dl_torus_mark_read(sw->new_lft + dl_torus_mark_first(sw->max_lid_ho, nports),
				  cl_ntoh64(osm_node_get_node_guid(sw->p_node)), nports, &m);
}

/*
 * A switch that is left out keeps its mark: if it does not say what it holds, and OpenSM
 * writes all of it again; if the highest LID is another one; not while that falls.
 */
static void a_mark_that_is_left_out(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(9, 5, NULL);
	osm_port_t *port = osm_fixture_adapter(x, 2);
	struct osm_fixture_switch *hw;
	osm_physp_t *ends[4][2];
	osm_switch_t *sw;

	(void)state;
	assert_true(osm_fixture_sweep(x));
	sw = cut_off(x, 9, ends);
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(x->engine->in_force->fabric->nswitches, 44);
	assert_true(writes_mark(sw));
	osm_fixture_hardware(x, sw)->silent = true;
	sw->need_update = 1;
	assert_true(osm_fixture_sweep(x));
	assert_true(writes_mark(sw));
	osm_fixture_hardware(x, sw)->silent = false;
	cl_ptr_vector_set(&x->osm->subn.port_lid_tbl, cl_ntoh16(port->lid), NULL);
	port->lid = port->p_physp->port_info.base_lid = cl_hton16(95);
	cl_ptr_vector_set(&x->osm->subn.port_lid_tbl, 95, port);
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(sw->max_lid_ho, 95);
	assert_true(writes_mark(sw));
	hw = osm_fixture_hardware(x, sw);
	hw->top = 127;
	memcpy(hw->lft + 128, hw->lft + 96, 32);
	sw->switch_info.lin_top = cl_hton16(127);
	assert_true(osm_fixture_sweep(x));
	assert_false(writes_mark(sw));
	osm_fixture_free(x);
}

/* By a configuration it has none: nor has it after a restart. */
static void a_mark_goes_with_the_place(void **state)
{
	char path[] = "recall-place.conf";
	uint32_t site;
	uint64_t guid;
	struct osm_fixture *x = return_ambiguously(6, &guid, &site, MARK_OWN);
	FILE *to = fopen(path, "w");

	(void)state;
	assert_non_null(to);
	fprintf(to, "torus 6 5 1\nxp_link 0x1007 0x1008\nyp_link 0x1007 0x100d\n");
	fclose(to);
	x->osm->subn.opt.torus_conf_file = path;
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "ERR DL27: new coordinates: "), 1);
	assert_int_equal(site_of(x, guid), DL_NONE);
	osm_fixture_restart(x, NULL);
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(site_of(x, guid), DL_NONE);
	unlink(path);
	osm_fixture_free(x);
}

/* A switch that was away, and has no mark, had no path SLs either. */
static void a_switch_without_a_mark(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(5, 3, NULL);
	char path[] = "recall-mark.conf";
	FILE *to = fopen(path, "w");

	(void)state;
	assert_non_null(to);
	fprintf(to, "torus 5 3 1\nxp_link 0x1007 0x1008\nyp_link 0x1007 0x100c\n");
	fclose(to);
	x->osm->subn.opt.torus_conf_file = path;
	assert_true(osm_fixture_sweep(x));
	memset(x->switches[3].lft, OSM_NO_PATH, sizeof(x->switches[3].lft));
	osm_fixture_restart(x, NULL);
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "ERR DL27"), 0);
	unlink(path);
	osm_fixture_free(x);
}

/*
 * A sweep that reads the marks is refused, and another engine writes over them: the next
 * one still knows them.
 */
static void marks_are_kept_until_tables_are_in_force(void **state)
{
	uint32_t sites[15];
	struct osm_fixture *x = restart_damaged(sites);
	struct dl_fabric *was = x->g.fabric;

	(void)state;
	x->osm->subn.opt.qos = FALSE;
	assert_false(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "ERR DL10"), 1);
	for (unsigned int s = 0; s < 15; s++)
		memset(x->switches[s].lft, 1, sizeof(x->switches[s].lft));
	x->osm->subn.sm_state = IB_SMINFO_STATE_MASTER;
	x->osm->subn.first_time_master_sweep = FALSE;
	x->osm->subn.opt.qos = TRUE;
	assert_true(osm_fixture_sweep(x));
	assert_places(x, was, sites);
	assert_int_equal(osm_fixture_logged(x, "ERR DL27: new "), 0);
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(x->engine->recall.nmarks, 0);
	osm_fixture_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_keep_coordinates),
		cmocka_unit_test(a_switch_without_a_mark),
		cmocka_unit_test(marks_are_kept_until_tables_are_in_force),
		cmocka_unit_test(a_switch_returns_with_its_mark),
		cmocka_unit_test(a_mark_goes_with_the_place),
		cmocka_unit_test(a_wrong_mark_is_no_place),
		cmocka_unit_test(a_lost_place_is_said_at_a_start),
		cmocka_unit_test(a_leaf_returns_with_a_place),
		cmocka_unit_test(a_switch_that_is_moved),
		cmocka_unit_test(a_place_of_an_unfinished_change),
		cmocka_unit_test(a_mark_that_is_left_out),
		cmocka_unit_test(a_place_that_is_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
