/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What switches hold at a start or takeover (plugin/recall.c), and the coordinates
 * that follow from their marks (plugin/coordinates.c).
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
#include "plugin/recall.h"
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

static void a_first_start_has_nothing_to_read(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(5, 3, NULL);

	(void)state;
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(x->gets, 0);
	assert_false(x->engine->recall.set_up_before);
	assert_int_equal(osm_fixture_logged(x, "from switches that held nothing"), 1);
	/* Nor has a master that knows. */
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(x->gets, 0);
	osm_fixture_free(x);
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

/* The node with the highest LIDs has died, too: packets to it are still under way. */
static void entries_of_a_node_that_has_gone(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(9, 8, NULL);
	const struct dl_fabric *f;
	uint16_t top;
	uint32_t s;

	(void)state;
	assert_true(osm_fixture_sweep(x));
	f = x->engine->in_force->fabric;
	top = f->top_lid;
	s = dl_fabric_access_switch(f, f->lid_port[top]);
	osm_fixture_drop(x, dl_sweep_switch(x->engine, f, s));
	/* Switches that claim to hold more do not count. */
	for (unsigned int i = 0; i < 3; i++)
		x->switches[i].top = 2047;
	osm_fixture_restart(x, NULL);
	assert_true(osm_fixture_switch(x, 9)->max_lid_ho < top);
	for (unsigned int i = 0; i < 2; i++) {
		assert_true(osm_fixture_sweep(x));
		f = x->engine->in_force->fabric;
		assert_int_equal(f->nswitches, 71);
		assert_int_equal(f->top_lid, top);
		assert_int_equal(f->lid_port[top], DL_NONE);
		assert_int_equal(osm_fixture_switch(x, 9)->lft[top], OSM_NO_PATH);
		assert_true(osm_fixture_delivers(x));
	}
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
 * Its mark is its own, or that of another switch, or of a larger torus; or the switch has
 * been without power, and the subnet manager starts again.
 */
enum fixture_mark { MARK_OWN, MARK_TAKEN, MARK_LARGER, MARK_LOST };

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
	assert_true(osm_fixture_sweep(x));
	hw = osm_fixture_hardware(x, returns);
	if (mark == MARK_LOST) {
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

/* The mark that it has kept decides. */
static void a_switch_returns_with_its_mark(void **state)
{
	uint32_t site;
	uint64_t guid;

	(void)state;
	for (unsigned int w = 6; w <= 9; w += 3) {
		struct osm_fixture *x = return_ambiguously(w, &guid, &site, MARK_OWN);

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
	for (unsigned int w = 6; w <= 9; w += 3) {
		struct osm_fixture *x = return_ambiguously(w, &guid, &site, MARK_LOST);

		assert_int_equal(site_of(x, guid), DL_NONE);
		assert_int_equal(osm_fixture_logged(x, "have a place that its mark shows"), 1);
		assert_int_equal(osm_fixture_logged(x, "what the switches held was not known"),
				 w == 9);
		osm_fixture_free(x);
	}
}

/*
 * A switch that has been set up, but has no mark, was off the torus: its SLs change when its
 * cables give it a place, in a running subnet manager and at a start that cannot read all.
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

/* What has been read is right is not written again, and a restart changes nothing. */
static void a_restart_writes_nothing(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(5, 3, NULL);

	(void)state;
	assert_true(osm_fixture_sweep(x));
	osm_fixture_restart(x, NULL);
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(x->blocks, 0);
	assert_int_equal(osm_fixture_logged(x, "not proven this one time"), 0);
	/* OpenSM's need_update has been given back. */
	assert_int_equal(x->engine->recall.forced, 0);
	assert_int_equal(osm_fixture_switch(x, 0)->need_update, 1);
	assert_true(osm_fixture_delivers(x));
	osm_fixture_free(x);
}

/* It may end before it has written all: what is not proven must be said before. */
static void has_said_unknown(struct osm_fixture *x)
{
	assert_int_equal(osm_fixture_logged(x, "what the switches held was not known"), 1);
}

static void an_answer_that_is_missing(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(5, 3, NULL);

	(void)state;
	assert_true(osm_fixture_sweep(x));
	osm_fixture_restart(x, NULL);
	x->switches[4].silent = true;
	x->blocks = 0;
	x->watch = has_said_unknown;
	osm_fixture_sweep(x);
	assert_true(x->blocks > 0);
	assert_true(x->engine->recall.set_up_before);
	assert_int_equal(osm_fixture_logged(x, "what the switches held was not known"), 1);
	osm_fixture_free(x);
}

/* A subnet manager begins; `all`: how many questions the one before asked as it began. */
static struct osm_fixture *restart_twice(unsigned int *all)
{
	struct osm_fixture *x = osm_fixture_torus(5, 3, "drain_ms=1");

	assert_true(osm_fixture_sweep(x));
	osm_fixture_restart(x, "drain_ms=1");
	assert_true(osm_fixture_sweep(x));
	*all = x->gets;
	osm_fixture_restart(x, "drain_ms=1");
	return x;
}

/* A switch that died with the old master: not asked, and the others are known. */
static void a_switch_that_this_sweep_has_not_seen(void **state)
{
	unsigned int all;
	struct osm_fixture *x = restart_twice(&all);

	(void)state;
	x->switches[4].silent = true;
	x->switches[4].groups[7] = 6;
	osm_fixture_switch(x, 4)->p_node->discovery_count = 0;
	assert_true(osm_fixture_sweep(x));
	assert_true(x->gets > 0 && x->gets < all);
	assert_int_equal(x->engine->recall.ngroups, 14);
	assert_int_equal(osm_fixture_logged(x, "what the switches held was not known"), 0);
	assert_int_equal(osm_fixture_logged(x, "from the tables that the switches held"), 1);
	assert_int_equal(osm_fixture_logged(x, "14 of 14 switches"), 1);
	osm_fixture_free(x);
}

/* In its first sweep it found itself only: the next one is its first with switches. */
static void alone_at_first(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, "drain_ms=1");

	(void)state;
	assert_true(osm_fixture_sweep(x));
	osm_fixture_restart(x, "drain_ms=1");
	x->osm->subn.sm_state = IB_SMINFO_STATE_MASTER;
	x->osm->subn.first_time_master_sweep = FALSE;
	x->gets = 0;
	assert_true(osm_fixture_sweep(x));
	assert_true(x->gets > 0);
	assert_int_equal(osm_fixture_logged(x, "what the switches held was not known"), 0);
	osm_fixture_free(x);
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

/*
 * Another subnet manager has been at work meanwhile: what switches hold is read again; not for
 * one that stands by, and sends one SMP now and then.
 */
static void another_subnet_manager(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, "drain_ms=1");
	osm_remote_sm_t other = { .smi = { .guid = cl_hton64(7), .act_count = cl_hton32(500) } };

	(void)state;
	x->osm->subn.sm_state = IB_SMINFO_STATE_MASTER;
	assert_true(osm_fixture_sweep(x));
	osm_fixture_map_add(&x->osm->subn.sm_guid_tbl, other.smi.guid, &other.map_item);
	other.smi.pri_state = IB_SMINFO_STATE_STANDBY;
	for (unsigned int i = 0; i < 4; i++) {
		x->gets = 0;
		assert_true(osm_fixture_sweep(x));
		assert_int_equal(x->gets > 0, i % 2 == 0);
		other.smi.act_count = cl_hton32(i ? 900 : 503);
	}
	other.smi.pri_state = IB_SMINFO_STATE_MASTER;
	x->gets = 0;
	assert_true(osm_fixture_sweep(x));
	assert_true(x->gets > 0);
	osm_fixture_free(x);
}

/* One that dies while it is read leaves one question open, and is asked nothing else. */
static void a_switch_that_dies_while_it_is_read(void **state)
{
	unsigned int all;
	struct osm_fixture *x = restart_twice(&all);

	(void)state;
	x->switches[4].silent_after = 3;
	assert_true(osm_fixture_sweep(x));
	assert_true(x->switches[4].silent);
	assert_true(x->gets < all - 10);
	assert_int_equal(osm_fixture_logged(x, "what the switches held was not known"), 1);
	osm_fixture_free(x);
}

/* Tables read after a restart are those that were written. */
static void held_tables(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(5, 3, NULL);
	struct dl_sweep *held = NULL;
	const struct dl_tables *is, *read;
	unsigned int i;

	(void)state;
	assert_true(osm_fixture_sweep(x));
	osm_fixture_restart(x, NULL);
	assert_true(osm_fixture_sweep(x));
	is = x->engine->in_force->routed.tables;
	assert_int_equal(dl_recall_held(x->engine, x->engine->in_force, &held), 0);
	read = held->routed.tables;
	for (uint32_t s = 0; s < 15; s++)
		assert_memory_equal(read->lft + s * (size_t)read->stride,
				    is->lft + s * (size_t)is->stride, is->top_lid + 1);
	for (uint32_t i = 0; i < is->sl2vl_first[15]; i++)
		if (is->sl2vl[i] != DL_TABLES_NO_ROW)
			assert_true(is->rows[is->sl2vl[i]] == read->rows[read->sl2vl[i]]);
	dl_sweep_free(held);
	/* What a switch itself sends has maps, too, with a base port 0 as well. */
	osm_fixture_restart(x, NULL);
	i = osm_fixture_link(osm_fixture_switch(x, 2), 0)->port_num;
	memset(&x->switches[2].maps[0][i], 0x33, sizeof(ib_slvl_table_t));
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "from the tables that the switches held; 3 steps"),
			 1);
	/* A link that is not active carries nothing yet: as if it were to come. */
	ib_port_info_set_port_state(&osm_fixture_link(osm_fixture_switch(x, 2), 0)->port_info,
				    IB_LINK_INIT);
	assert_int_equal(dl_recall_held(x->engine, x->engine->in_force, &held), 0);
	{
		unsigned int cables[2] = { 0, 0 };

		for (uint32_t p = 0; p < held->fabric->nports; p++)
			cables[0] += held->fabric->ports[p].peer != DL_NONE;
		for (uint32_t p = 0; p < x->engine->in_force->fabric->nports; p++)
			cables[1] += x->engine->in_force->fabric->ports[p].peer != DL_NONE;
		assert_int_equal(cables[0] + 2, cables[1]);
	}
	dl_sweep_free(held);
	osm_fixture_free(x);
}

static void groups_that_switches_held(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(5, 3, NULL);
	struct dl_tables_masks masks = { .nswitches = 15 };
	const struct dl_fabric *f;
	uint64_t *row;

	(void)state;
	assert_true(osm_fixture_sweep(x));
	x->switches[3].groups[9] = 1u << 2 | 1u << 4;
	osm_fixture_restart(x, NULL);
	assert_true(osm_fixture_sweep(x));
	f = x->engine->in_force->fabric;
	assert_int_equal(x->engine->recall.ngroups, 15);
	assert_false(dl_recall_groups_fit(x->engine, f, &masks));
	for (uint32_t s = 0; s < 15; s++) {
		row = dl_tables_mask_row(&masks, s);
		assert_non_null(row);
		row[0] = 1u << 2;
	}
	assert_false(dl_recall_groups_fit(x->engine, f, &masks));
	row = dl_tables_mask_row(&masks, f->nodes[dl_fabric_find_guid(f, x->switches[3].guid)].sw);
	row[0] |= 1u << 4;
	assert_true(dl_recall_groups_fit(x->engine, f, &masks));
	dl_tables_masks_clear(&masks);
	osm_fixture_free(x);
}

/* A start waits unless groups have members and reach them: nothing has been closed then. */
static void groups_that_reach_their_members(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct osm_fixture *x = osm_fixture_torus(5, 3, NULL);
		uint32_t cut = 0;

		assert_true(osm_fixture_sweep(x));
		if (i)
			osm_fixture_join(x, 0xC000, 0, 0, 15);
		assert_true(osm_fixture_sweep(x));
		osm_fixture_restart(x, NULL);
		for (uint32_t s = 0; s < 15 && i == 2 && !cut; s++) {
			cut = x->switches[s].groups[0] & 0x1e; /* ports 1 to 4 have cables */
			x->switches[s].groups[0] &= ~cut;
		}
		assert_int_equal(cut != 0, i == 2);
		assert_true(osm_fixture_sweep(x));
		assert_int_equal(x->engine->metrics.now.transition.total[DL_METRICS_UNCHANGED],
				 i == 1);
		assert_int_equal(x->engine->metrics.now.transition.total[DL_METRICS_PHASED],
				 i != 1);
		osm_fixture_free(x);
	}
}

/* No more blocks are asked for than there are MLIDs. */
static void a_multicast_table_that_is_claimed(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);
	unsigned int gets;

	(void)state;
	assert_true(osm_fixture_sweep(x));
	osm_fixture_restart(x, NULL);
	assert_true(osm_fixture_sweep(x));
	gets = x->gets;
	osm_fixture_restart(x, NULL);
	x->mft_claim = 0xFFFF;
	assert_true(osm_fixture_sweep(x));
	/* Each refuses the first block that it has not, and is asked whether it lives. */
	assert_int_equal(x->gets, gets + 2 * 12);
	assert_int_equal(osm_fixture_logged(x, "not proven this one time"), 0);
	osm_fixture_free(x);
}

static void maps_that_opensm_knows(void **state)
{
	ib_slvl_table_t map;

	(void)state;
	memset(&map, 0, sizeof(map));
	assert_false(dl_recall_knows_map(&map));
	memset(&map, 0xEE, sizeof(map));
	assert_false(dl_recall_knows_map(&map));
	ib_slvl_table_set(&map, 5, 3);
	assert_true(dl_recall_knows_map(&map));
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
		cmocka_unit_test(a_first_start_has_nothing_to_read),
		cmocka_unit_test(marks_keep_coordinates),
		cmocka_unit_test(entries_of_a_node_that_has_gone),
		cmocka_unit_test(a_switch_without_a_mark),
		cmocka_unit_test(marks_are_kept_until_tables_are_in_force),
		cmocka_unit_test(tables_of_others_hold_no_coordinates),
		cmocka_unit_test(another_mode_changes_all_sls),
		cmocka_unit_test(a_mark_of_before_hides_no_mode),
		cmocka_unit_test(other_ties_change_sls),
		cmocka_unit_test(a_configuration_takes_precedence),
		cmocka_unit_test(configurations),
		cmocka_unit_test(a_restart_writes_nothing),
		cmocka_unit_test(an_answer_that_is_missing),
		cmocka_unit_test(a_switch_that_this_sweep_has_not_seen),
		cmocka_unit_test(held_tables),
		cmocka_unit_test(alone_at_first),
		cmocka_unit_test(back_after_another_engine),
		cmocka_unit_test(another_subnet_manager),
		cmocka_unit_test(a_switch_that_dies_while_it_is_read),
		cmocka_unit_test(groups_that_switches_held),
		cmocka_unit_test(groups_that_reach_their_members),
		cmocka_unit_test(a_multicast_table_that_is_claimed),
		cmocka_unit_test(maps_that_opensm_knows),
		cmocka_unit_test(wrong_coordinates_are_not_marked),
		cmocka_unit_test(a_tree_is_provisional),
		cmocka_unit_test(a_switch_returns_with_its_mark),
		cmocka_unit_test(a_mark_goes_with_the_place),
		cmocka_unit_test(a_wrong_mark_is_no_place),
		cmocka_unit_test(a_lost_place_is_said_at_a_start),
		cmocka_unit_test(a_mark_that_is_left_out),
		cmocka_unit_test(a_place_that_is_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
