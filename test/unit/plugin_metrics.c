/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What is counted in each sweep, and when it is written (plugin/metrics.c). */
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
#include "plugin/metrics.h"
#include "plugin/sweep.h"

#define FILE_NAME "plugin-metrics.prom"

static uint64_t number(const struct osm_fixture *x, enum dl_metrics_number n)
{
	return x->engine->metrics.now.number[n];
}

/* Does a line of the file begin so? */
static bool written(const char *text)
{
	char line[512];
	FILE *from = fopen(FILE_NAME, "r");
	bool found = false;

	while (from && !found && fgets(line, sizeof(line), from))
		found = !strncmp(line, text, strlen(text));
	if (from)
		fclose(from);
	return found;
}

static void a_sweep_is_counted(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, "metrics=" FILE_NAME);
	double sum = 0;

	(void)state;
	assert_true(written("dateline_up 1"));
	osm_fixture_join(x, 0xC001, 0, 0, 3);
	x->osm->stats.qp0_mads_sent = 4711;
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(number(x, DL_METRICS_SWITCHES), 12);
	assert_int_equal(number(x, DL_METRICS_LINKS), 24);
	assert_int_equal(number(x, DL_METRICS_ADAPTERS), 12);
	assert_int_equal(number(x, DL_METRICS_GROUPS), 1);
	assert_int_equal(number(x, DL_METRICS_SAFE), 1);
	assert_int_equal(number(x, DL_METRICS_UNREACHABLE), 0);
	assert_int_equal(x->engine->metrics.now.sweeps[DL_METRICS_ROUTED], 1);
	assert_int_equal(x->engine->metrics.now.smps, 4711);
	assert_true(x->engine->metrics.now.sweep_start > 0);
	assert_true(x->engine->metrics.now.subnet_up >= x->engine->metrics.now.sweep_start);
	for (unsigned int i = 0; i < DL_METRICS_STAGES; i++)
		sum += x->engine->metrics.now.stage[i];
	assert_true(sum > 0);
	assert_true(x->engine->metrics.now.master);
	osm_fixture_stop(x);
	assert_true(written("dateline_up 0"));
	unlink(FILE_NAME);
	osm_fixture_free(x);
}

static void classic_mode_is_verified_for_the_metrics(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, "mode=classic metrics=" FILE_NAME);

	(void)state;
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(number(x, DL_METRICS_LOOP_FREE), 1);
	assert_int_equal(number(x, DL_METRICS_SAFE), 1);
	osm_fixture_stop(x);
	unlink(FILE_NAME);
	osm_fixture_free(x);
}

static void kept_tables_are_judged_on_the_fabric_as_it_is(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, "metrics=" FILE_NAME);
	osm_physp_t *home = osm_fixture_adapter(x, 4)->p_physp;

	(void)state;
	x->osm->no_fallback_routing_engine = TRUE;
	assert_true(osm_fixture_sweep(x));
	x->osm->subn.opt.qos = FALSE;
	osm_fixture_cut(osm_fixture_link(home->p_remote_physp->p_node->sw, 0));
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(x->engine->metrics.now.sweeps[DL_METRICS_KEPT], 1);
	assert_true(number(x, DL_METRICS_UNREACHABLE) > 0);
	assert_int_equal(number(x, DL_METRICS_LOOP_FREE), 1);
	assert_int_equal(number(x, DL_METRICS_SAFE), 0);
	/* Without tables in force nothing is said of them. */
	x->osm->no_fallback_routing_engine = FALSE;
	assert_false(osm_fixture_sweep(x));
	assert_int_equal(x->engine->metrics.now.sweeps[DL_METRICS_ASIDE], 1);
	assert_true(number(x, DL_METRICS_SAFE) == DL_METRICS_UNKNOWN);
	assert_true(number(x, DL_METRICS_PAIRS) == DL_METRICS_UNKNOWN);
	osm_fixture_stop(x);
	unlink(FILE_NAME);
	osm_fixture_free(x);
}

static void a_failure_is_logged_once_until_it_succeeds(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, "metrics=plugin-metrics-none/file");

	(void)state;
	assert_int_equal(osm_fixture_logged(x, "ERR DL32"), 1);
	assert_true(osm_fixture_sweep(x));
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "ERR DL32"), 1);
	assert_true(x->engine->metrics.failing);
	free(x->engine->options.metrics);
	x->engine->options.metrics = strdup(FILE_NAME);
	assert_true(osm_fixture_sweep(x));
	assert_false(x->engine->metrics.failing);
	unlink(FILE_NAME);
	free(x->engine->options.metrics);
	x->engine->options.metrics = strdup("plugin-metrics-none/file");
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "ERR DL32"), 2);
	osm_fixture_free(x);
}

static void a_standby_is_no_master(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, "metrics=" FILE_NAME);

	(void)state;
	assert_true(osm_fixture_sweep(x));
	assert_true(written("dateline_master 1"));
	x->osm->subn.sm_state = IB_SMINFO_STATE_STANDBY;
	/* Traps are none of its business. */
	dl_metrics_event(x->engine, OSM_EVENT_ID_TRAP);
	assert_true(x->engine->metrics.now.master);
	dl_metrics_event(x->engine, OSM_EVENT_ID_STATE_CHANGE);
	assert_false(x->engine->metrics.now.master);
	assert_true(written("dateline_master 0"));
	osm_fixture_stop(x);
	unlink(FILE_NAME);
	osm_fixture_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sweep_is_counted),
		cmocka_unit_test(classic_mode_is_verified_for_the_metrics),
		cmocka_unit_test(kept_tables_are_judged_on_the_fabric_as_it_is),
		cmocka_unit_test(a_failure_is_logged_once_until_it_succeeds),
		cmocka_unit_test(a_standby_is_no_master),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
