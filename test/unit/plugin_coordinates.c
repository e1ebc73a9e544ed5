/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Coordinates of a sweep, and the path SLs that change with them (plugin/coordinates.c).
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

/* Two were the master at a time: the other one granted SLs by its own mode, and left its marks. */
static void a_rival_in_another_mode_changes_all_sls(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(5, 3, "mode=any-sl");
	osm_remote_sm_t other = { .smi = { .guid = cl_hton64(7) } };
	uint8_t left[15][sizeof(x->switches->lft)];

	(void)state;
	assert_true(osm_fixture_sweep(x));
	for (unsigned int s = 0; s < 15; s++)
		memcpy(left[s], x->switches[s].lft, sizeof(left[s]));
	osm_fixture_restart(x, "mode=proven");
	assert_true(osm_fixture_sweep(x));
	other.smi.pri_state = IB_SMINFO_STATE_MASTER;
	osm_fixture_map_add(&x->osm->subn.sm_guid_tbl, other.smi.guid, &other.map_item);
	x->osm->subn.sm_state = IB_SMINFO_STATE_MASTER;
	for (unsigned int i = 0; i < 3; i++) {
		/* After its own sweep the marks are its own again. */
		for (unsigned int s = 0; s < 15 && i == 1; s++)
			memcpy(x->switches[s].lft, left[s], sizeof(left[s]));
		assert_true(osm_fixture_sweep(x));
		assert_int_equal(
			osm_fixture_logged(x, "ERR DL27: new mode or coordinates: 225 of 225"),
			i ? 2 : 1);
	}
	assert_int_equal(osm_fixture_logged(x, "ERR DL27"), 2);
	osm_fixture_free(x);
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
		cmocka_unit_test(tables_of_others_hold_no_coordinates),
		cmocka_unit_test(another_mode_changes_all_sls),
		cmocka_unit_test(a_mark_of_before_hides_no_mode),
		cmocka_unit_test(a_rival_in_another_mode_changes_all_sls),
		cmocka_unit_test(other_ties_change_sls),
		cmocka_unit_test(a_configuration_takes_precedence),
		cmocka_unit_test(configurations),
		cmocka_unit_test(back_after_another_engine),
		cmocka_unit_test(wrong_coordinates_are_not_marked),
		cmocka_unit_test(a_tree_is_provisional),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
