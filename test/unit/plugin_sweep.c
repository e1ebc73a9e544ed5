/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The stages of a sweep (plugin/sweep.c), and messages in OpenSM's log (plugin/log.c). */
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
#include "plugin/log.h"
#include "plugin/sweep.h"

static void a_sweep_owns_what_its_stages_made(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);
	struct dl_sweep *sweep = NULL;

	(void)state;
	assert_int_equal(dl_sweep_begin(x->engine, &sweep), 0);
	assert_non_null(sweep->fabric);
	assert_null(sweep->torus);
	assert_null(sweep->routed.tables);
	assert_int_equal(dl_sweep_run(x->engine, sweep), 0);
	assert_int_equal(sweep->torus->nplaced, 12);
	assert_non_null(sweep->config);
	assert_non_null(sweep->routed.tables);
	assert_true(sweep->proven);
	assert_int_equal(sweep->safe_sls, 0x0101);
	assert_int_equal(sweep->masks.nswitches, 12);
	/* The second holder frees it. */
	assert_ptr_equal(dl_sweep_share(sweep), sweep);
	dl_sweep_free(sweep);
	assert_int_equal(sweep->torus->nplaced, 12);
	dl_sweep_free(sweep);
	dl_sweep_free(NULL);
	osm_fixture_free(x);
}

/* A port that is silent has an old path, which may lead to another switch. */
static void ports_are_reached_as_their_switch_is(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);
	osm_switch_t *sw = osm_fixture_switch(x, 5);
	osm_dr_path_t *own = osm_physp_get_dr_path_ptr(osm_node_get_physp_ptr(sw->p_node, 0));
	osm_dr_path_t *port = osm_physp_get_dr_path_ptr(osm_node_get_physp_ptr(sw->p_node, 2));

	(void)state;
	*own = (osm_dr_path_t){ .hop_count = 2, .path = { 0, 1, 3 } };
	*port = (osm_dr_path_t){ .hop_count = 1, .path = { 0, 4 } };
	assert_true(osm_fixture_sweep(x));
	assert_memory_equal(port, own, sizeof(*port));
	osm_fixture_free(x);
}

static void the_mode_decides_what_is_proven(void **state)
{
	static const struct {
		const char *options;
		bool proven;
		uint16_t sls;
	} modes[] = { { "mode=classic", false, 0x0101 },
		      { "mode=proven", true, 0x0101 },
		      { "mode=any-sl", true, DL_VERIFY_ANY_SL } };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct osm_fixture *x = osm_fixture_torus(4, 3, modes[i].options);

		assert_true(osm_fixture_sweep(x));
		assert_int_equal(x->engine->in_force->proven, modes[i].proven);
		assert_int_equal(x->engine->in_force->safe_sls, modes[i].sls);
		assert_int_equal(osm_fixture_logged(x, "not verified (classic mode)"),
				 !modes[i].proven);
		osm_fixture_free(x);
	}
}

/* Each stage reports under its number, and the metrics name it. */
static void stages_have_numbers(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, "mode=classic");
	char path[] = "sweep-torus.conf";
	FILE *to = fopen(path, "w");

	(void)state;
	assert_non_null(to);
	fputs("torus 4 3 1\nnonsense\n", to);
	fclose(to);
	x->osm->subn.opt.torus_conf_file = path;
	assert_false(osm_fixture_sweep(x));
	assert_true(osm_fixture_logged(x, "ERR DL11") > 0);
	assert_string_equal(x->engine->metrics.now.refusal, "DL11");
	to = fopen(path, "w");
	fputs("torus 4 3 1\nxp_link 0x99 0x98\nyp_link 0x99 0x97\n", to);
	fclose(to);
	assert_false(osm_fixture_sweep(x));
	assert_true(osm_fixture_logged(x, "ERR DL13") > 0);
	assert_string_equal(x->engine->metrics.now.refusal, "DL13");
	/* In proven mode the cabling decides then (rules A12). */
	osm_fixture_restart(x, "mode=proven");
	assert_true(osm_fixture_sweep(x));
	assert_true(osm_fixture_logged(x, "ERR DL13") > 0);
	assert_int_equal(osm_fixture_logged(x, "none of its 1 seeds"), 1);
	unlink(path);
	assert_false(osm_fixture_sweep(x));
	assert_true(osm_fixture_logged(x, "ERR DL11") > 0);
	osm_fixture_free(x);
}

static void owners_of_lids(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);
	osm_port_t *port = osm_fixture_adapter(x, 6);
	const struct dl_sweep *sweep;
	uint32_t owner;

	(void)state;
	assert_true(osm_fixture_sweep(x));
	sweep = x->engine->in_force;
	owner = dl_sweep_lid_owner(sweep, port->lid);
	assert_int_equal(sweep->fabric->ports[owner].guid, cl_ntoh64(port->guid));
	assert_int_equal(dl_sweep_lid_owner(sweep, 0), DL_NONE);
	assert_int_equal(dl_sweep_lid_owner(sweep, cl_hton16(sweep->fabric->top_lid + 1)), DL_NONE);
	for (uint32_t s = 0; s < 12; s++)
		assert_int_equal(cl_ntoh64(osm_node_get_node_guid(
					 dl_sweep_switch(x->engine, sweep->fabric, s)->p_node)),
				 sweep->fabric->nodes[sweep->fabric->switches[s]].guid);
	osm_fixture_drop(x, osm_fixture_switch(x, 3));
	assert_null(dl_sweep_switch(x->engine, sweep->fabric, 3));
	osm_fixture_free(x);
}

static void the_report_names_what_changed(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);
	osm_switch_t *sw = osm_fixture_switch(x, 5);
	const osm_physp_t *ends[2] = { osm_fixture_link(sw, 0) };
	char named[2][128];

	(void)state;
	ends[1] = ends[0]->p_remote_physp;
	for (unsigned int e = 0; e < 2; e++)
		snprintf(named[e], sizeof(named[e]), "cable gone: %s port %u to %s port %u (+",
			 ends[e]->p_node->print_desc, ends[e]->port_num,
			 ends[!e]->p_node->print_desc, ends[!e]->port_num);
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "applications must use the SL of each path record"),
			 1);
	osm_fixture_cut(osm_fixture_link(sw, 0));
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "12 of 12 switches, 23 cables"), 1);
	assert_int_equal(osm_fixture_logged(x, named[0]) + osm_fixture_logged(x, named[1]), 1);
	assert_int_equal(osm_fixture_logged(x, "0 of this hop left"), 1);
	osm_fixture_free(x);
}

/*
 * OpenSM cuts SL-to-VL maps while OperVLs is low: without phases, in which it rises, one
 * more sweep at once, and once.
 */
static void maps_that_opensm_cuts(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, "transitions=none");

	(void)state;
	x->low_vls = true;
	for (unsigned int s = 0; s < 12; s++)
		for (unsigned int o = 1; o < osm_fixture_switch(x, s)->num_ports; o++)
			ib_port_info_set_op_vls(
				&osm_fixture_switch(x, s)->p_node->physp_table[o].port_info, 1);
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "not in force before the next sweep, which follows"),
			 1);
	assert_int_equal(x->sweeps_asked, 1);
	assert_true(x->osm->subn.force_heavy_sweep);
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "not in force: OperVLs does not rise"), 1);
	assert_int_equal(x->sweeps_asked, 1);
	osm_fixture_free(x);
}

static void levels_of_messages(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);
	struct dl_osm_log l;

	(void)state;
	x->log[0] = '\0';
	dl_osm_log_init(&l, x->osm, "DL99");
	dl_log(&l.log, DL_LOG_WARNING, "one");
	dl_log(&l.log, DL_LOG_INFO, "two");
	assert_int_equal(l.errors, 0);
	dl_log(&l.log, DL_LOG_ERROR, "three");
	dl_log(&l.log, DL_LOG_ERROR, "four");
	assert_int_equal(l.errors, 2);
	assert_string_equal(x->log, "dateline: Warning: one\ndateline: two\n"
				    "dateline: ERR DL99: three\ndateline: ERR DL99: four\n");
	osm_fixture_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sweep_owns_what_its_stages_made),
		cmocka_unit_test(ports_are_reached_as_their_switch_is),
		cmocka_unit_test(the_mode_decides_what_is_proven),
		cmocka_unit_test(stages_have_numbers),
		cmocka_unit_test(owners_of_lids),
		cmocka_unit_test(the_report_names_what_changed),
		cmocka_unit_test(maps_that_opensm_cuts),
		cmocka_unit_test(levels_of_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
