/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The plugin's face towards OpenSM (plugin/plugin.c), and what it writes (plugin/dump_dir.c). */
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
#include "dateline/tables.h"
#include "plugin/dump_dir.h"
#include "plugin/sweep.h"

#define SNAPSHOT "plugin-events.dls"

static bool snapshot_read(struct dl_snapshot *s)
{
	return !dl_snapshot_read(SNAPSHOT, NULL, NULL, NULL, s);
}

static void remove_snapshot(void)
{
	unlink(SNAPSHOT);
	unlink(SNAPSHOT ".dateline-certificate.txt");
}

static void it_registers_one_engine(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, "mode=any-sl hoq_life=9");

	(void)state;
	assert_non_null(x->osm->routing_engine_list);
	assert_string_equal(x->osm->routing_engine_list->name, "dateline");
	assert_ptr_equal(x->osm->routing_engine_list->context, x->engine);
	assert_int_equal(x->engine->options.route.mode, DL_ROUTE_ANY_SL);
	/* OpenSM programs it in each sweep. */
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(x->osm->subn.opt.head_of_queue_lifetime, 9);
	osm_fixture_free(x);
}

static void a_second_one_is_refused(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);

	(void)state;
	osm_fixture_stop(x);
	x->registered = CL_DUPLICATE;
	osm_fixture_start(x, NULL);
	assert_null(x->engine);
	assert_int_equal(osm_fixture_logged(x, "ERR DL02: routing engine \"dateline\" cannot be "
					       "registered (there is one of that name)"),
			 1);
	osm_fixture_free(x);
}

/* What lies behind a part that the headers have and this OpenSM has not, or the reverse. */
static void an_opensm_of_another_layout_is_refused(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);
	size_t moved[] = { sizeof(osm_perfmgr_t), 8 };

	(void)state;
	osm_fixture_stop(x);
	for (size_t i = 0; i < sizeof(moved) / sizeof(*moved); i++) {
		void *lock = x->osm->sm.p_lock;

		x->log[0] = '\0';
		x->osm->sm.p_lock = (void *)((char *)lock - moved[i]);
		osm_fixture_start(x, NULL);
		assert_null(x->engine);
		assert_null(x->osm->routing_engine_list);
		assert_string_equal(x->log, ""); /* its lock may be elsewhere */
		x->osm->sm.p_lock = lock;
	}
	osm_fixture_start(x, NULL);
	assert_non_null(x->engine);
	osm_fixture_free(x);
}

static void words_of_other_plugins(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, "nonsense=1");

	(void)state;
	assert_int_equal(osm_fixture_logged(x, "ERR DL03"), 1);
	osm_fixture_stop(x);
	x->log[0] = '\0';
	x->osm->subn.opt.event_plugin_name = (char *)"osmdateline, other";
	osm_fixture_start(x, "nonsense=1");
	assert_int_equal(osm_fixture_logged(x, "ERR DL03"), 0);
	assert_int_equal(osm_fixture_logged(x, "left to the other plugins"), 1);
	osm_fixture_free(x);
}

static void coordinates_are_dumped_with_routing_messages(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);
	unsigned int lines = 0;
	char line[256];
	FILE *from;

	(void)state;
	x->osm->subn.opt.dump_files_dir = (char *)".";
	assert_true(osm_fixture_sweep(x));
	assert_int_not_equal(access("dateline-torus.dump", F_OK), 0);
	x->osm->log.level |= OSM_LOG_ROUTING;
	assert_true(osm_fixture_sweep(x));
	from = fopen("dateline-torus.dump", "r");
	assert_non_null(from);
	while (fgets(line, sizeof(line), from))
		lines += !strncmp(line, "switch ", 7);
	fclose(from);
	assert_int_equal(lines, 12);
	unlink("dateline-torus.dump");
	x->osm->subn.opt.dump_files_dir = (char *)"no/such/directory";
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "ERR DL31"), 1);
	osm_fixture_free(x);
}

static void a_snapshot_of_what_is_in_force(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, "dump_dir=" SNAPSHOT);
	struct dl_snapshot s = { .tables = NULL };
	const struct dl_tables *is;

	(void)state;
	remove_snapshot();
	osm_fixture_join(x, 0xC002, 0, 0, 5);
	assert_true(osm_fixture_sweep(x));
	assert_true(x->engine->in_force->dumped);
	dl_dump_dir_end(x->engine);
	assert_true(snapshot_read(&s));
	is = x->engine->in_force->routed.tables;
	assert_int_equal(s.tables->top_lid, is->top_lid);
	assert_int_equal(s.tables->ngroups, 1);
	assert_string_equal(s.about.engine, "dateline");
	for (uint32_t i = 0; i < 12; i++) {
		const struct dl_fabric *f = is->fabric;
		uint32_t own = dl_fabric_find_guid(s.tables->fabric, f->nodes[f->switches[i]].guid);

		own = s.tables->fabric->nodes[own].sw;
		assert_memory_equal(s.tables->lft + own * (size_t)s.tables->stride,
				    is->lft + i * (size_t)is->stride, is->top_lid + 1);
	}
	dl_snapshot_release(&s);
	/* It is not written again while nothing changes, but for the groups. */
	remove_snapshot();
	dl_dump_dir_write(x->engine);
	dl_dump_dir_end(x->engine);
	assert_false(snapshot_read(&s));
	osm_mcast_mgr_process(&x->osm->sm, FALSE);
	dl_dump_dir_write(x->engine);
	dl_dump_dir_end(x->engine);
	assert_true(snapshot_read(&s));
	dl_snapshot_release(&s);
	remove_snapshot();
	osm_fixture_free(x);
	remove_snapshot();
}

static void a_snapshot_that_cannot_be_written_is_tried_again(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, "dump_dir=no/such/place.dls");

	(void)state;
	assert_true(osm_fixture_sweep(x));
	dl_dump_dir_end(x->engine);
	assert_true(osm_fixture_logged(x, "ERR DL30") > 0);
	assert_false(x->engine->in_force->dumped);
	osm_fixture_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_registers_one_engine),
		cmocka_unit_test(a_second_one_is_refused),
		cmocka_unit_test(an_opensm_of_another_layout_is_refused),
		cmocka_unit_test(words_of_other_plugins),
		cmocka_unit_test(coordinates_are_dumped_with_routing_messages),
		cmocka_unit_test(a_snapshot_of_what_is_in_force),
		cmocka_unit_test(a_snapshot_that_cannot_be_written_is_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
