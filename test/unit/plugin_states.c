/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What may follow what (plugin/states.c), and what happens where it does not. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "osm_fixture.h"
#include "plugin/phases.h"
#include "plugin/states.h"

/* The drawings of doc/architecture.md, state by state. */
static const char *const sweeps[DL_SWEEP_STATES] = {
	[DL_SWEEP_IDLE] = "IC",	   [DL_SWEEP_COMPUTING] = "WKA", [DL_SWEEP_WRITING] = "IC",
	[DL_SWEEP_KEEPING] = "IC", [DL_SWEEP_ASIDE] = "C",	 [DL_SWEEP_BROKEN] = "C",
};
static const char sweep_letters[] = "ICWKAB";

static const char *const changes[DL_CHANGE_STATES] = {
	[DL_CHANGE_UNKNOWN] = "USwW",	[DL_CHANGE_SETTLED] = "USwW",
	[DL_CHANGE_WRITING] = "US",	[DL_CHANGE_WAITING] = "USGLVDMO",
	[DL_CHANGE_GROUPS] = "USLVDMO", [DL_CHANGE_LINKS] = "USVDMO",
	[DL_CHANGE_MOVING] = "USVDMO",	[DL_CHANGE_DRAINING] = "USLVDMO",
	[DL_CHANGE_MAPS] = "USVO",	[DL_CHANGE_OPENING] = "US",
};
static const char change_letters[] = "USwWGLVDMO";

static void what_may_follow_what(void **state)
{
	(void)state;
	for (unsigned int from = 0; from < DL_SWEEP_STATES; from++)
		for (unsigned int to = 0; to < DL_SWEEP_STATES; to++)
			assert_int_equal(dl_sweep_state_follows(from, to),
					 strchr(sweeps[from], sweep_letters[to]) != NULL);
	for (unsigned int from = 0; from < DL_CHANGE_STATES; from++)
		for (unsigned int to = 0; to < DL_CHANGE_STATES; to++)
			assert_int_equal(dl_change_state_follows(from, to),
					 strchr(changes[from], change_letters[to]) != NULL);
}

static void states_of_a_start_and_a_failure(void **state)
{
	static const char *const lines[] = {
		"sweep: idle -> computing",
		"sweep: computing -> writing",
		"change of tables: settled -> waiting",
		" -> writing maps", /* after a wait, if it comes soon after the start */
		"change of tables: writing maps -> moving entries",
		"change of tables: moving entries -> opening entries",
		"change of tables: opening entries -> settled",
		"sweep: writing -> idle",
	};
	struct osm_fixture *x = osm_fixture_torus(5, 4, "drain_ms=1");
	const char *at;

	(void)state;
	assert_int_equal(x->engine->sweep, DL_SWEEP_IDLE);
	assert_int_equal(x->engine->change, DL_CHANGE_UNKNOWN);
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "change of tables: unknown -> waiting"), 1);
	assert_int_equal(x->engine->sweep, DL_SWEEP_IDLE);
	assert_int_equal(x->engine->change, DL_CHANGE_SETTLED);
	x->log[0] = '\0';
	osm_fixture_cut(osm_fixture_link(osm_fixture_switch(x, 6), 0));
	assert_true(osm_fixture_sweep(x));
	at = x->log;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		at = strstr(at, lines[i]);
		assert_non_null(at);
	}
	osm_fixture_free(x);
}

/*
 * A link was down for a moment, so that there are no old tables to return to, and already
 * the first write, which closes entries for cables that have been moved, gets no answer.
 */
static void a_first_write_that_nobody_confirms(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(5, 4, "drain_ms=1");
	osm_switch_t *sw = osm_fixture_switch(x, 6);
	osm_physp_t *p = osm_fixture_link(sw, 0), *q = osm_fixture_link(sw, 1), *to_p, *to_q;
	osm_physp_t *back = osm_fixture_link(osm_fixture_switch(x, 13), 0);

	(void)state;
	assert_true(osm_fixture_sweep(x));
	to_p = q->p_remote_physp;
	to_q = p->p_remote_physp;
	osm_fixture_cut(p);
	osm_fixture_cut(q);
	osm_fixture_mend(p, to_p);
	osm_fixture_mend(q, to_q);
	ib_port_info_set_port_state(&back->port_info, IB_LINK_INIT);
	ib_port_info_set_port_state(&back->p_remote_physp->port_info, IB_LINK_INIT);
	x->dies = osm_fixture_hardware(x, sw);
	x->log[0] = '\0';
	osm_fixture_sweep(x);
	assert_int_equal(osm_fixture_logged(x, "not proven this one time"), 1);
	assert_int_equal(osm_fixture_logged(x, "change of tables: waiting -> opening entries"), 1);
	assert_int_equal(osm_fixture_logged(x, "ERR DL34"), 0);
	osm_fixture_free(x);
}

static void states_of_refusals(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(5, 4, NULL);

	(void)state;
	x->osm->no_fallback_routing_engine = TRUE;
	assert_true(osm_fixture_sweep(x));
	x->osm->subn.opt.qos = FALSE;
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "sweep: computing -> keeping"), 1);
	assert_int_equal(x->engine->sweep, DL_SWEEP_IDLE);
	assert_int_equal(x->engine->change, DL_CHANGE_SETTLED);
	x->osm->no_fallback_routing_engine = FALSE;
	assert_false(osm_fixture_sweep(x));
	assert_int_equal(x->engine->sweep, DL_SWEEP_ASIDE);
	assert_int_equal(x->engine->change, DL_CHANGE_UNKNOWN);
	assert_int_equal(osm_fixture_logged(x, "ERR DL34"), 0);
	osm_fixture_free(x);
}

/* Another sweep before OpenSM has reported that it wrote the tables. */
static void a_sweep_that_opensm_breaks_off(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(5, 4, NULL);
	struct osm_routing_engine *re = x->osm->routing_engine_list;

	(void)state;
	assert_true(osm_fixture_sweep(x));
	for (unsigned int i = 0; i < 2; i++) {
		osm_fixture_cut(osm_fixture_link(osm_fixture_switch(x, 6), 0));
		CL_PLOCK_EXCL_ACQUIRE(&x->osm->lock);
		assert_int_equal(re->ucast_build_fwd_tables(re->context), 0);
		CL_PLOCK_RELEASE(&x->osm->lock);
		assert_int_equal(x->engine->sweep, DL_SWEEP_WRITING);
		assert_int_equal(x->engine->change, DL_CHANGE_WAITING);
		assert_int_equal(x->engine->clear_groups, i);
	}
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(x->engine->change, DL_CHANGE_SETTLED);
	assert_int_equal(osm_fixture_logged(x, "ERR DL34"), 0);
	assert_true(osm_fixture_delivers(x));
	osm_fixture_free(x);
}

#ifndef DL_DEBUG
/* The engine steps aside, OpenSM lives, and the next sweep begins afresh. */
static void a_state_that_must_not_follow(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(5, 4, NULL);
	struct osm_routing_engine *re = x->osm->routing_engine_list;

	(void)state;
	assert_true(osm_fixture_sweep(x));
	assert_false(dl_change_enter(x->engine, DL_CHANGE_OPENING));
	assert_int_equal(osm_fixture_logged(x,
					    "ERR DL34: the change of tables went from \"settled\" "
					    "to \"opening entries\""),
			 1);
	assert_int_equal(x->engine->change, DL_CHANGE_SETTLED);
	assert_int_equal(x->engine->sweep, DL_SWEEP_BROKEN);
	assert_null(dl_engine_tables(x->engine));
	assert_int_equal(re->path_sl(re->context, 7, cl_hton16(1), cl_hton16(2)), 7);
	dl_engine_subnet_up(x->engine);
	assert_true(x->osm->subn.subnet_initialization_error);
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(x->engine->sweep, DL_SWEEP_IDLE);
	assert_true(osm_fixture_delivers(x));
	/* In the middle of a sweep. */
	assert_false(dl_sweep_enter(x->engine, DL_SWEEP_WRITING));
	assert_int_equal(
		osm_fixture_logged(x, "ERR DL34: the sweep went from \"idle\" to \"writing\""), 1);
	osm_fixture_free(x);
}

/* A defect in the middle of the phases: no more of them, and OpenSM goes on. */
static void a_defect_in_the_middle_of_a_change(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(5, 4, NULL);
	struct osm_routing_engine *re = x->osm->routing_engine_list;

	(void)state;
	assert_true(osm_fixture_sweep(x));
	osm_fixture_cut(osm_fixture_link(osm_fixture_switch(x, 6), 0));
	CL_PLOCK_EXCL_ACQUIRE(&x->osm->lock);
	assert_int_equal(re->ucast_build_fwd_tables(re->context), 0);
	CL_PLOCK_RELEASE(&x->osm->lock);
	x->engine->change = DL_CHANGE_OPENING;
	x->blocks = 0;
	dl_phases_run(x->engine, false);
	assert_int_equal(x->blocks, 0);
	assert_int_equal(x->engine->sweep, DL_SWEEP_BROKEN);
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(x->engine->change, DL_CHANGE_SETTLED);
	assert_true(osm_fixture_delivers(x));
	osm_fixture_free(x);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_may_follow_what),
		cmocka_unit_test(states_of_a_start_and_a_failure),
		cmocka_unit_test(a_first_write_that_nobody_confirms),
		cmocka_unit_test(states_of_refusals),
		cmocka_unit_test(a_sweep_that_opensm_breaks_off),
#ifndef DL_DEBUG
		cmocka_unit_test(a_state_that_must_not_follow),
		cmocka_unit_test(a_defect_in_the_middle_of_a_change),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
