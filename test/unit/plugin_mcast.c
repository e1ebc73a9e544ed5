/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Multicast groups on the tree in force (plugin/mcast.c). */
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
#include "plugin/mcast.h"
#include "plugin/sweep.h"

#define MLID 0xC005

/* Adapters that a packet to the group reaches, from the first switch on, as bits. */
static unsigned int members_reached(struct osm_fixture *x, uint16_t mlid)
{
	unsigned int reached = 0, n = 0;
	osm_node_t *queue[64] = { osm_fixture_adapter(x, 0)->p_physp->p_remote_physp->p_node };
	const osm_physp_t *from[64] = { NULL };

	for (unsigned int at = 0; at <= n; at++) {
		osm_node_t *node = queue[at];
		uint16_t ports = osm_fixture_hardware(x, node->sw)->groups[mlid - 0xC000];

		for (unsigned int o = 1; o < node->physp_tbl_size; o++) {
			osm_physp_t *far = node->physp_table[o].p_remote_physp;

			if (!(ports >> o & 1) || !far || &node->physp_table[o] == from[at])
				continue;
			if (far->p_node->sw) {
				assert_true(n < 40); /* else it is no tree */
				queue[++n] = far->p_node;
				from[n] = far;
				continue;
			}
			for (unsigned int a = 0; a < 12; a++)
				if (osm_fixture_adapter(x, a)->p_physp == far)
					reached |= 1u << a;
		}
	}
	return reached;
}

static void groups_reach_their_members_and_no_others(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);

	(void)state;
	osm_fixture_join(x, MLID, 0, 0, 12);
	osm_fixture_join(x, MLID + 1, 8, 0, 5);
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(members_reached(x, MLID), 0xFFF);
	assert_int_equal(members_reached(x, MLID + 1), 0x1F);
	/* A leave. */
	osm_fixture_join(x, MLID + 1, 8, 0, 3);
	osm_mcast_mgr_process(&x->osm->sm, FALSE);
	assert_int_equal(members_reached(x, MLID + 1), 0x7);
	assert_int_equal(osm_fixture_logged(x, "ERR"), 0);
	osm_fixture_free(x);
}

/* Switches whose tables OpenSM writes when a member comes or goes, and those in the group. */
static void count_in_use(struct osm_fixture *x, unsigned int *in_use, unsigned int *in_group)
{
	*in_use = *in_group = 0;
	for (unsigned int s = 0; s < x->nswitches; s++) {
		osm_mcast_tbl_t *t = &osm_fixture_switch(x, s)->mcast_tbl;

		*in_use += t->max_block_in_use >= 0;
		*in_group += osm_mcast_tbl_is_any_port(t, MLID);
	}
}

static void without_tables_there_is_no_tree(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);

	(void)state;
	osm_fixture_join(x, MLID, 0, 0, 12);
	assert_int_equal(dl_mcast_build(x->engine, &x->groups[5]->box), IB_ERROR);
	osm_fixture_free(x);
}

static void a_member_that_came_after_the_sweep(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);

	(void)state;
	assert_true(osm_fixture_sweep(x));
	osm_fixture_join(x, MLID, 0, 0, 4);
	osm_fixture_adapter(x, 2)->p_physp->port_info.base_lid = cl_hton16(900);
	osm_mcast_mgr_process(&x->osm->sm, FALSE);
	assert_int_equal(osm_fixture_logged(x, "ERR DL20"), 1);
	assert_int_equal(members_reached(x, MLID), 0xB);
	osm_fixture_free(x);
}

static void a_switch_without_multicast(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);

	(void)state;
	assert_true(osm_fixture_sweep(x));
	osm_fixture_switch(x, 3)->switch_info.mcast_cap = 0;
	osm_fixture_join(x, MLID, 0, 0, 12);
	assert_int_equal(dl_mcast_build(x->engine, &x->groups[5]->box), IB_ERROR);
	assert_int_equal(osm_fixture_logged(x, "ERR DL22"), 1);
	osm_fixture_free(x);
}

/* On these tables packets of a group on SL 1 may wait in a circle with unicast. */
static void an_sl_that_closes_a_loop(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(6, 5, NULL);
	const struct dl_sweep *sweep;

	(void)state;
	assert_true(osm_fixture_sweep(x));
	sweep = x->engine->in_force;
	for (unsigned int sl = 1; sl < 8; sl++) {
		osm_fixture_join(x, MLID, sl, 0, 12);
		osm_mcast_mgr_process(&x->osm->sm, FALSE);
		assert_int_equal(members_reached(x, MLID), sweep->safe_sls >> sl & 1 ? 0xFFF : 0);
	}
	assert_true(sweep->unsafe_sls);
	assert_false(sweep->safe_sls & sweep->unsafe_sls);
	/* Each group is named once in a sweep. */
	assert_int_equal(osm_fixture_logged(x, "ERR DL24"), 1);
	osm_fixture_free(x);
}

/* Joins and leaves write only the tables of switches in groups. */
static void tables_rest_after_a_sweep(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);
	unsigned int in_use, in_group;

	(void)state;
	for (unsigned int s = 0; s < 12; s++)
		osm_fixture_switch(x, s)->need_update = 2;
	x->osm->subn.first_time_master_sweep = FALSE;
	osm_fixture_join(x, MLID, 0, 0, 1);
	assert_true(osm_fixture_sweep(x));
	count_in_use(x, &in_use, &in_group);
	assert_true(in_group > 0 && in_group < 12);
	assert_int_equal(in_use, in_group);
	osm_fixture_free(x);
}

/* A switch that comes back may hold branches of an older tree: it is written. */
static void tables_of_switches_without_groups_are_cleared(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);
	const struct osm_routing_engine *re = x->osm->routing_engine_list;
	unsigned int in_use, in_group;

	(void)state;
	assert_true(osm_fixture_sweep(x));
	osm_fixture_join(x, MLID, 0, 0, 1);
	for (unsigned int came = 0; came < 2; came++) {
		for (unsigned int s = 0; s < 12; s++) {
			osm_fixture_switch(x, s)->need_update = came ? 2 : 0;
			osm_fixture_switch(x, s)->mcast_tbl.max_block_in_use = -1;
		}
		CL_PLOCK_EXCL_ACQUIRE(&x->osm->lock);
		assert_int_equal(re->ucast_build_fwd_tables(re->context), 0);
		CL_PLOCK_RELEASE(&x->osm->lock);
		dl_mcast_build(x->engine, &x->groups[5]->box);
		count_in_use(x, &in_use, &in_group);
		assert_int_equal(in_use, came ? 12 : in_group);
		dl_mcast_rest(x->engine);
	}
	osm_fixture_free(x);
}

/* Groups are kept for snapshots as long as OpenSM has them. */
static void groups_are_kept_for_snapshots(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, "dump_dir=mcast-snapshot.dls");
	const struct dl_tables *t;

	(void)state;
	osm_fixture_join(x, MLID, 0, 0, 12);
	osm_fixture_join(x, MLID + 1, 0, 0, 5);
	assert_true(osm_fixture_sweep(x));
	t = x->engine->in_force->routed.tables;
	assert_int_equal(t->ngroups, 2);
	x->osm->subn.mboxes[5] = NULL;
	dl_mcast_prune(x->engine);
	assert_int_equal(t->ngroups, 1);
	assert_int_equal(t->groups[0].mlid, MLID + 1);
	osm_fixture_stop(x);
	unlink("mcast-snapshot.dls");
	unlink("mcast-snapshot.dls.dateline-certificate.txt");
	osm_fixture_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_reach_their_members_and_no_others),
		cmocka_unit_test(without_tables_there_is_no_tree),
		cmocka_unit_test(a_member_that_came_after_the_sweep),
		cmocka_unit_test(a_switch_without_multicast),
		cmocka_unit_test(an_sl_that_closes_a_loop),
		cmocka_unit_test(tables_rest_after_a_sweep),
		cmocka_unit_test(tables_of_switches_without_groups_are_cleared),
		cmocka_unit_test(groups_are_kept_for_snapshots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
