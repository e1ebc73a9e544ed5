/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Marks in the switches (plugin/marks.c), and the coordinates that follow from them and from
 * what was in force (plugin/coordinates.c).
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
#include "plugin/coordinates.h"
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
		memset(hw->lft, OSM_NO_PATH, sizeof(hw->lft));
		hw->top = 0;
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

static void mend_all(struct osm_fixture *x, uint32_t s)
{
	const struct dl_fabric *f = x->g.fabric;
	const struct dl_fabric_node *n = &f->nodes[f->switches[s]];

	for (unsigned int o = 1; o <= n->nports; o++) {
		const struct dl_fabric_port *far = &f->ports[f->ports[n->first_port + o].peer];
		osm_switch_t *near = dl_sweep_switch(x->engine, f, s), *beside;

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
	struct osm_fixture_switch *hw;
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
	hw = osm_fixture_hardware(x, sw);
	memset(hw->lft, OSM_NO_PATH, sizeof(hw->lft));
	hw->top = 0;
	f = x->g.fabric;
	mend_all(x, f->nodes[dl_fabric_find_guid(f, guid)].sw);
	assert_int_equal(osm_fixture_logged(x, "ERR DL27"), 0);
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(site_of(x, guid), site);
	assert_int_equal(osm_fixture_logged(x, "ERR DL27: new coordinates: "), 1);
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

/* ... but path SLs of torus-2QoS follow from a configuration, if it says no balanced ties. */
static void tables_of_others_hold_no_coordinates(void **state)
{
	static const char *const says[] = {
		"ERR DL27: the switches hold tables of an earlier subnet manager, but no "
		"coordinates",
		"dateline: the switches hold tables, but no coordinates: path SLs that torus-2QoS",
		"ERR DL27: the switches hold tables of an earlier subnet manager, but no "
		"coordinates",
	};
	char path[] = "recall-others.conf";

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct osm_fixture *x = osm_fixture_torus(5, 3, NULL);
		FILE *to = fopen(path, "w");

		assert_non_null(to);
		fprintf(to, "torus 5 3 1\nxp_link 0x1007 0x1008\nyp_link 0x1007 0x100c\n%s",
			i == 2 ? "ties balanced\n" : "");
		fclose(to);
		if (i)
			x->osm->subn.opt.torus_conf_file = path;
		for (unsigned int s = 0; s < 15; s++) {
			x->switches[s].top = 30;
			memset(x->switches[s].lft, 1, 31);
		}
		assert_true(osm_fixture_sweep(x));
		assert_int_equal(osm_fixture_logged(x, says[i]), 1);
		assert_int_equal(osm_fixture_logged(x, "hold tables"), 1);
		unlink(path);
		osm_fixture_free(x);
	}
}

/* SLs of any-SL mode are wrong in proven mode: all of them change. */
static void another_mode_changes_all_sls(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(5, 3, "mode=any-sl");

	(void)state;
	assert_true(osm_fixture_sweep(x));
	osm_fixture_restart(x, "mode=proven");
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "ERR DL27: new mode or coordinates: 225 of 225"), 1);
	osm_fixture_restart(x, "mode=any-sl");
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "ERR DL27"), 0);
	osm_fixture_free(x);
}

/* A master in any-SL mode did not reach one switch: granted SLs may still be those of that mode. */
static void a_mark_of_before_hides_no_mode(void **state)
{
	(void)state;
	for (unsigned int s = 0; s < 15; s++) {
		struct osm_fixture *x = osm_fixture_torus(5, 3, "mode=proven");
		uint8_t before[sizeof(x->switches[s].lft)];

		assert_true(osm_fixture_sweep(x));
		memcpy(before, x->switches[s].lft, sizeof(before));
		osm_fixture_restart(x, "mode=any-sl");
		assert_true(osm_fixture_sweep(x));
		memcpy(x->switches[s].lft, before, sizeof(before));
		osm_fixture_restart(x, "mode=proven");
		assert_true(osm_fixture_sweep(x));
		assert_int_equal(
			osm_fixture_logged(x, "ERR DL27: new mode or coordinates: 225 of 225"), 1);
		osm_fixture_free(x);
	}
}

/* Of a 4x3 torus: paths that go half round x, to LIDs at even ports or at odd ones. */
static void other_ties_change_sls(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, "ties=balanced");

	(void)state;
	assert_true(osm_fixture_sweep(x));
	osm_fixture_restart(x, "ties=torus-2QoS");
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "ERR DL27: new ties: 36 of 144 path SLs"), 1);
	osm_fixture_restart(x, "ties=balanced");
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "ERR DL27: new ties: 36 of 144 path SLs"), 1);
	osm_fixture_restart(x, "ties=balanced");
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "ERR DL27"), 0);
	osm_fixture_free(x);
}

static void a_configuration_takes_precedence(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(5, 3, NULL);
	char path[] = "recall-torus.conf";
	FILE *to = fopen(path, "w");
	const uint64_t base = 0x1000;

	(void)state;
	assert_non_null(to);
	assert_true(osm_fixture_sweep(x));
	/* The origin is the middle switch of the torus in force. */
	fprintf(to, "torus 5 3 1\nxp_link 0x%lx 0x%lx\nyp_link 0x%lx 0x%lx\n", base + 7, base + 8,
		base + 7, base + 12);
	fclose(to);
	x->osm->subn.opt.torus_conf_file = path;
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "ERR DL27: new coordinates: "), 1);
	assert_int_equal(x->engine->in_force->torus->sw_site[7], 0);
	unlink(path);
	osm_fixture_free(x);
}

static void configurations(void **state)
{
	(void)state;
	assert_false(dl_coordinates_are_configured(NULL));
	assert_true(dl_coordinates_are_configured("no/such/file"));
	if (access(OSM_DEFAULT_TORUS_CONF_FILE, F_OK))
		assert_false(dl_coordinates_are_configured(OSM_DEFAULT_TORUS_CONF_FILE));
}

/* Another engine has routed meanwhile. */
static void back_after_another_engine(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, "drain_ms=1");

	(void)state;
	assert_true(osm_fixture_sweep(x));
	x->osm->subn.sm_state = IB_SMINFO_STATE_MASTER;
	dl_sweep_free(x->engine->in_force);
	x->engine->in_force = NULL;
	x->gets = 0;
	assert_true(osm_fixture_sweep(x));
	assert_true(x->gets > 0);
	assert_int_equal(osm_fixture_logged(x, "what the switches held was not known"), 0);
	osm_fixture_free(x);
}

/* A configuration that the cabling contradicts leaves no mark. */
static void wrong_coordinates_are_not_marked(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(5, 3, NULL);
	char path[] = "recall-wrong.conf";
	FILE *to = fopen(path, "w");
	struct dl_torus_mark m;
	unsigned int top;

	(void)state;
	assert_non_null(to);
	fprintf(to, "torus 4 3 1\nxp_link 0x1007 0x1008\nyp_link 0x1007 0x100c\n");
	fclose(to);
	x->osm->subn.opt.torus_conf_file = path;
	osm_fixture_sweep(x);
	assert_true(osm_fixture_logged(x, "ERR DL25") > 0);
	unlink(path);
	top = osm_fixture_switch(x, 7)->max_lid_ho;
	assert_false(dl_torus_mark_read(
		x->switches[7].lft + dl_torus_mark_first(top, x->g.fabric->nodes[0].nports),
		x->switches[7].guid, x->g.fabric->nodes[0].nports, &m));
	x->osm->subn.opt.torus_conf_file = NULL;
	assert_true(osm_fixture_sweep(x));
	assert_true(dl_torus_mark_read(
		x->switches[7].lft + dl_torus_mark_first(top, x->g.fabric->nodes[0].nports),
		x->switches[7].guid, x->g.fabric->nodes[0].nports, &m));
	assert_int_equal(m.mode, DL_ROUTE_PROVEN);
	assert_int_equal(m.site, x->engine->in_force->torus->sw_site[7]);
	osm_fixture_free(x);
}

/* Of a 5x3 torus, row 0 and the columns above it, without what closes them. */
static bool is_in_comb(uint64_t a, uint64_t b)
{
	uint64_t low = (a < b ? a : b) - 0x1000, high = (a < b ? b : a) - 0x1000;

	return high - low == 5 || (high - low == 1 && high < 5);
}

static bool is_marked(struct osm_fixture *x, unsigned int s)
{
	unsigned int top = osm_fixture_switch(x, s)->max_lid_ho;
	unsigned int nports = x->g.fabric->nodes[0].nports;
	struct dl_torus_mark m;

	return dl_torus_mark_read(x->switches[s].lft + dl_torus_mark_first(top, nports),
				  x->switches[s].guid, nports, &m);
}

/*
 * A cold start on cabling that shows no torus: all is routed along a tree, and no
 * switch is marked.  Once the cables are back, there are coordinates, and marks.
 */
static void a_tree_is_provisional(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(5, 3, NULL);
	osm_physp_t *cut[30][2];
	unsigned int n = 0;

	(void)state;
	for (unsigned int s = 0; s < 15; s++) {
		osm_node_t *node = osm_fixture_switch(x, s)->p_node;

		for (unsigned int i = 1; i < node->physp_tbl_size; i++) {
			osm_physp_t *p = osm_node_get_physp_ptr(node, i), *peer;

			peer = p ? p->p_remote_physp : NULL;
			if (!peer || !peer->p_node->sw ||
			    is_in_comb(cl_ntoh64(osm_node_get_node_guid(node)),
				       cl_ntoh64(osm_node_get_node_guid(peer->p_node))))
				continue;
			cut[n][0] = p;
			cut[n++][1] = peer;
			osm_fixture_cut(p);
		}
	}
	assert_int_equal(n, 30 - 14);
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "routed along a spanning tree from"), 1);
	assert_true(x->engine->in_force->provisional);
	assert_int_equal(osm_fixture_logged(x, "ERR DL27"), 0);
	assert_true(osm_fixture_delivers(x));
	for (unsigned int s = 0; s < 15; s++)
		assert_false(is_marked(x, s));
	while (n--)
		osm_fixture_mend(cut[n][0], cut[n][1]);
	assert_true(osm_fixture_sweep(x));
	assert_false(x->engine->in_force->provisional);
	assert_int_equal(x->engine->in_force->torus->nplaced, 15);
	assert_true(is_marked(x, 7));
	/* On the tree every pair of switches had SL 0. */
	assert_int_equal(osm_fixture_logged(x, "ERR DL27"), 1);
	assert_int_equal(osm_fixture_logged(x, "ERR DL27: new coordinates: 92 of 225 path SLs"), 1);
	osm_fixture_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_keep_coordinates),
		cmocka_unit_test(a_switch_without_a_mark),
		cmocka_unit_test(marks_are_kept_until_tables_are_in_force),
		cmocka_unit_test(tables_of_others_hold_no_coordinates),
		cmocka_unit_test(another_mode_changes_all_sls),
		cmocka_unit_test(a_mark_of_before_hides_no_mode),
		cmocka_unit_test(other_ties_change_sls),
		cmocka_unit_test(a_configuration_takes_precedence),
		cmocka_unit_test(configurations),
		cmocka_unit_test(back_after_another_engine),
		cmocka_unit_test(wrong_coordinates_are_not_marked),
		cmocka_unit_test(a_tree_is_provisional),
		cmocka_unit_test(a_switch_returns_with_its_mark),
		cmocka_unit_test(a_mark_goes_with_the_place),
		cmocka_unit_test(a_wrong_mark_is_no_place),
		cmocka_unit_test(a_lost_place_is_said_at_a_start),
		cmocka_unit_test(a_leaf_returns_with_a_place),
		cmocka_unit_test(a_mark_that_is_left_out),
		cmocka_unit_test(a_place_that_is_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
