/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The engine's callbacks (plugin/engine.c): what OpenSM gets for its switches and
 * queries, and what becomes of a fabric that is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "osm_fixture.h"
#include "plugin/maps.h"
#include "plugin/sweep.h"

static const struct osm_routing_engine *engine_of(const struct osm_fixture *x)
{
	return x->osm->routing_engine_list;
}

static void tables_reach_the_switches(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);

	(void)state;
	assert_true(osm_fixture_sweep(x));
	assert_true(osm_fixture_delivers(x));
	assert_int_equal(osm_fixture_logged(x, "ERR"), 0);
	assert_int_equal(osm_fixture_logged(x, "routed a 4 x 3 x 1 torus: 12 of 12 switches"), 1);
	assert_non_null(x->engine->in_force);
	/* What has not changed is not written again. */
	x->blocks = 0;
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(x->blocks, 0);
	osm_fixture_free(x);
}

static void queries_are_answered_from_the_tables(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);
	const struct osm_routing_engine *re = engine_of(x);
	const struct dl_tables *t;
	unsigned int differ = 0;

	(void)state;
	assert_int_equal(re->path_sl(re->context, 5, cl_hton16(1), cl_hton16(2)), 5);
	assert_true(osm_fixture_sweep(x));
	t = x->engine->in_force->routed.tables;
	for (unsigned int a = 0; a < 12; a++)
		for (unsigned int b = 0; b < 12; b++) {
			osm_port_t *from = osm_fixture_adapter(x, a),
				   *to = osm_fixture_adapter(x, b);
			uint32_t port = dl_sweep_lid_owner(x->engine->in_force, from->lid);
			unsigned int sl = dl_tables_path_sl(t, port, cl_ntoh16(to->lid));

			/* Bit 3 is the QoS level, which the caller chooses. */
			assert_int_equal(re->path_sl(re->context, 0, from->lid, to->lid), sl);
			assert_int_equal(re->path_sl(re->context, 8, from->lid, to->lid), sl | 8);
			differ += sl != 0;
		}
	assert_true(differ > 0);
	/* A LID that nobody has: OpenSM's own choice. */
	assert_int_equal(re->path_sl(re->context, 3, cl_hton16(999), cl_hton16(1)), 3);
	osm_fixture_free(x);
}

/* It gets the SLs of its switch, as it will from the next tables. */
static void an_adapter_that_came_after_the_tables(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);
	const struct osm_routing_engine *re = engine_of(x);
	unsigned int differ = 0;

	(void)state;
	assert_true(osm_fixture_sweep(x));
	for (unsigned int a = 0; a < 12; a++)
		for (unsigned int b = 0; b < 12; b++) {
			osm_port_t *from = osm_fixture_adapter(x, a);
			ib_net16_t to = osm_fixture_adapter(x, b)->lid, was = from->lid;
			uint8_t sl = re->path_sl(re->context, 0, was, to);

			if (a == b)
				continue;
			from->lid = cl_hton16(500);
			cl_ptr_vector_set(&x->osm->subn.port_lid_tbl, 500, from);
			assert_int_equal(re->path_sl(re->context, 0, from->lid, to), sl);
			assert_int_equal(re->path_sl(re->context, 8, from->lid, to), sl | 8);
			from->lid = was;
			differ += sl != 0;
		}
	assert_true(differ > 0);
	osm_fixture_free(x);
}

/* A switch dies while an adapter comes; returns whether the change stopped. */
static bool stops(unsigned int dies)
{
	struct osm_fixture *x = osm_fixture_torus(5, 4, "drain_ms=1");
	osm_port_t *adapter = osm_fixture_adapter(x, 3);
	uint16_t lid = cl_ntoh16(adapter->lid);
	bool stopped;

	x->no_lids = true;
	cl_ptr_vector_set(&x->osm->subn.port_lid_tbl, lid, NULL);
	adapter->lid = 0;
	assert_true(osm_fixture_sweep(x));
	cl_ptr_vector_set(&x->osm->subn.port_lid_tbl, lid, adapter);
	adapter->lid = cl_hton16(lid);
	osm_fixture_cut(osm_fixture_link(osm_fixture_switch(x, 6), 0));
	x->dies = osm_fixture_hardware(x, osm_fixture_switch(x, dies));
	osm_fixture_sweep(x);
	stopped = osm_fixture_logged(x, "ERR DL26");
	for (unsigned int s = 0; s < 20 && stopped; s++)
		assert_int_equal(osm_fixture_switch(x, s)->new_lft[lid], OSM_NO_PATH);
	osm_fixture_free(x);
	return stopped;
}

/* What the old tables lack has no path until the next sweep: they know no SL for it. */
static void a_change_that_stops_hides_what_has_come(void **state)
{
	unsigned int stopped = 0;

	(void)state;
	for (unsigned int s = 1; s < 20; s++)
		stopped += stops(s);
	assert_true(stopped > 0);
}

static void maps_are_those_of_the_tables(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);
	const struct osm_routing_engine *re = engine_of(x);
	osm_physp_t *in, *out;
	ib_slvl_table_t map;
	dl_tables_sl2vl_row row;
	unsigned int crossing = 0;

	(void)state;
	assert_true(osm_fixture_sweep(x));
	for (unsigned int s = 0; s < 12; s++) {
		in = osm_fixture_link(osm_fixture_switch(x, s), 0);
		out = osm_fixture_link(osm_fixture_switch(x, s), 1);
		memset(&map, 0, sizeof(map));
		re->update_sl2vl(re->context, out, in->port_num, out->port_num, &map);
		assert_true(dl_maps_find(x->engine, out, in->port_num, out->port_num, &row));
		for (unsigned int sl = 0; sl < 16; sl++)
			assert_int_equal(ib_slvl_table_get(&map, sl), dl_tables_sl2vl_get(row, sl));
		crossing += ib_slvl_table_get(&map, 1) != ib_slvl_table_get(&map, 0);
	}
	assert_true(crossing > 0);
	osm_fixture_free(x);
}

/* OpenSM sees no cable, but packets may still cross: the port keeps what it holds. */
static void a_port_out_of_sight_keeps_its_map(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);
	const struct osm_routing_engine *re = engine_of(x);
	osm_physp_t *out = osm_fixture_link(osm_fixture_switch(x, 5), 0);
	ib_slvl_table_t map, held;

	(void)state;
	assert_true(osm_fixture_sweep(x));
	osm_fixture_cut(out);
	assert_true(osm_fixture_sweep(x));
	memset(&held, 0x21, sizeof(held));
	*osm_physp_get_slvl_tbl(out, 1) = held;
	memset(&map, 0, sizeof(map));
	re->update_sl2vl(re->context, out, 1, out->port_num, &map);
	assert_memory_equal(&map, &held, sizeof(map));
	osm_fixture_free(x);
}

static void arbitration_is_handed_over_in_blocks(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, "high_limit=7");
	const struct osm_routing_engine *re = engine_of(x);
	osm_physp_t *p = osm_fixture_link(osm_fixture_switch(x, 0), 0);
	ib_vl_arb_table_t block[5];
	unsigned int weights = 0;

	(void)state;
	assert_true(osm_fixture_sweep(x));
	memset(block, 0xEE, sizeof(block));
	p->vl_high_limit = 99;
	for (unsigned int i = 0; i < 5; i++)
		re->update_vlarb(re->context, p, p->port_num, &block[i], 32, i);
	assert_int_equal(p->vl_high_limit, 7);
	for (unsigned int b = 0; b < 4; b++)
		for (unsigned int i = 0; i < 32; i++)
			weights += block[b].vl_entry[i].weight;
	assert_true(weights > 0);
	/* There is no fifth block, and nothing beyond the table's end. */
	assert_int_equal(block[4].vl_entry[0].weight, 0xEE);
	assert_int_equal(block[1].vl_entry[31].weight, 0);
	osm_fixture_free(x);
}

static void without_qos_it_steps_aside(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);

	(void)state;
	x->osm->subn.opt.qos = FALSE;
	assert_false(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "ERR DL10"), 1);
	assert_int_equal(osm_fixture_logged(x, "not routed by dateline: OpenSM tries "), 1);
	assert_null(x->engine->in_force);
	assert_int_equal(x->blocks, 0);
	assert_string_equal(x->engine->metrics.now.refusal, "DL10");
	/* The cause is gone: routed, and what others granted is said to change, once. */
	x->osm->subn.opt.qos = TRUE;
	for (unsigned int i = 0; i < 2; i++) {
		assert_true(osm_fixture_sweep(x));
		assert_true(osm_fixture_delivers(x));
		assert_int_equal(osm_fixture_logged(x, "ERR DL27: this fabric is routed by "), 1);
	}
	osm_fixture_free(x);
}

static void another_engine_may_follow(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);

	(void)state;
	assert_true(osm_fixture_sweep(x));
	x->osm->no_fallback_routing_engine = FALSE;
	x->osm->subn.opt.qos = FALSE;
	assert_false(osm_fixture_sweep(x));
	assert_null(x->engine->in_force);
	assert_int_equal(osm_fixture_logged(x, "ERR DL19"), 0);
	osm_fixture_free(x);
}

static void the_last_resort_keeps_its_tables(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);
	struct dl_sweep *before;

	(void)state;
	x->osm->no_fallback_routing_engine = TRUE;
	assert_true(osm_fixture_sweep(x));
	before = x->engine->in_force;
	x->osm->subn.opt.qos = FALSE;
	assert_true(osm_fixture_sweep(x));
	assert_ptr_equal(x->engine->in_force, before);
	assert_int_equal(osm_fixture_logged(x, "ERR DL19"), 1);
	assert_true(osm_fixture_delivers(x));
	/* OpenSM's next sweep is a heavy one, and not asked for at once. */
	assert_true(x->osm->subn.subnet_initialization_error);
	assert_int_equal(x->sweeps_asked, 0);
	x->osm->subn.opt.qos = TRUE;
	assert_true(osm_fixture_sweep(x));
	assert_false(x->osm->subn.subnet_initialization_error);
	osm_fixture_free(x);
}

/* Entries for a cable that leads elsewhere now would send packets astray. */
static void kept_tables_lack_cables_that_were_moved(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);
	osm_switch_t *sw = osm_fixture_switch(x, 0);
	osm_physp_t *a = osm_fixture_link(sw, 0), *b = osm_fixture_link(sw, 1);
	osm_physp_t *far_a = a->p_remote_physp, *far_b = b->p_remote_physp;
	unsigned int before = 0, after = 0;

	(void)state;
	x->osm->no_fallback_routing_engine = TRUE;
	assert_true(osm_fixture_sweep(x));
	for (unsigned int lid = 1; lid < 25; lid++)
		before += sw->lft[lid] == a->port_num || sw->lft[lid] == b->port_num;
	assert_true(before > 0);
	osm_fixture_mend(a, far_b);
	osm_fixture_mend(b, far_a);
	x->osm->subn.opt.qos = FALSE;
	assert_true(osm_fixture_sweep(x));
	for (unsigned int lid = 1; lid < 25; lid++)
		after += sw->lft[lid] == a->port_num || sw->lft[lid] == b->port_num;
	assert_int_equal(after, 0);
	osm_fixture_free(x);
}

static void a_switch_without_room_is_named(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);
	osm_port_t *port = osm_fixture_adapter(x, 3);

	(void)state;
	/* A LID beyond the forwarding tables of all switches: OpenSM writes up to the others. */
	for (unsigned int s = 0; s < 12; s++)
		osm_fixture_switch(x, s)->switch_info.lin_cap = cl_hton16(64);
	cl_ptr_vector_set(&x->osm->subn.port_lid_tbl, cl_ntoh16(port->lid), NULL);
	port->lid = cl_hton16(500);
	cl_ptr_vector_set(&x->osm->subn.port_lid_tbl, 500, port);
	assert_true(osm_fixture_sweep(x));
	assert_true(osm_fixture_switch(x, 0)->max_lid_ho < 64);
	assert_int_equal(osm_fixture_hardware(x, osm_fixture_switch(x, 0))->lft[500], OSM_NO_PATH);
	osm_fixture_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_reach_the_switches),
		cmocka_unit_test(queries_are_answered_from_the_tables),
		cmocka_unit_test(an_adapter_that_came_after_the_tables),
		cmocka_unit_test(a_change_that_stops_hides_what_has_come),
		cmocka_unit_test(maps_are_those_of_the_tables),
		cmocka_unit_test(a_port_out_of_sight_keeps_its_map),
		cmocka_unit_test(arbitration_is_handed_over_in_blocks),
		cmocka_unit_test(without_qos_it_steps_aside),
		cmocka_unit_test(another_engine_may_follow),
		cmocka_unit_test(the_last_resort_keeps_its_tables),
		cmocka_unit_test(kept_tables_lack_cables_that_were_moved),
		cmocka_unit_test(a_switch_without_room_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
