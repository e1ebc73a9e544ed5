/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What switches hold at a start or takeover (plugin/recall.c).
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
#include "plugin/recall.h"
#include "plugin/sweep.h"

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

static unsigned int empty_at_first; /* after the first block: has switch 4 no entry? */

static void look_at_first_block(struct osm_fixture *x)
{
	const struct osm_fixture_switch *hw = &x->switches[4];

	if (x->blocks != 1)
		return;
	empty_at_first = 1;
	for (unsigned int lid = 1; lid < OSM_FIXTURE_LIDS; lid++)
		empty_at_first &= hw->lft[lid] == OSM_NO_PATH;
}

/*
 * The write of a switch's LinearFDBTop got lost, those of its tables did not: entries are
 * cleared before the top rises, and groups are known.
 */
static void tables_without_a_top(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(5, 3, NULL);
	struct dl_tables_masks none = { .nswitches = 15 };

	(void)state;
	assert_true(osm_fixture_sweep(x));
	x->switches[4].top = 0;
	x->switches[4].groups[9] = 1u << 2 | 1u << 4;
	/* No mark: it is behind the top. */
	memset(x->switches[4].lft + 31, OSM_NO_PATH, OSM_FIXTURE_LIDS - 31);
	osm_fixture_restart(x, NULL);
	x->watch = look_at_first_block;
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(empty_at_first, 1);
	assert_false(dl_recall_groups_fit(x->engine, x->engine->in_force->fabric, &none));
	assert_true(osm_fixture_delivers(x));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_first_start_has_nothing_to_read),
		cmocka_unit_test(entries_of_a_node_that_has_gone),
		cmocka_unit_test(a_restart_writes_nothing),
		cmocka_unit_test(an_answer_that_is_missing),
		cmocka_unit_test(a_switch_that_this_sweep_has_not_seen),
		cmocka_unit_test(held_tables),
		cmocka_unit_test(alone_at_first),
		cmocka_unit_test(another_subnet_manager),
		cmocka_unit_test(a_switch_that_dies_while_it_is_read),
		cmocka_unit_test(groups_that_switches_held),
		cmocka_unit_test(tables_without_a_top),
		cmocka_unit_test(groups_that_reach_their_members),
		cmocka_unit_test(a_multicast_table_that_is_claimed),
		cmocka_unit_test(maps_that_opensm_knows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
