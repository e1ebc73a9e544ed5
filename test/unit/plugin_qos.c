/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The user's QoS options, and maps that switches have not confirmed (plugin/qos.c). */
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
#include "plugin/maps.h"
#include "plugin/qos.h"
#include "plugin/sweep.h"

static const struct dl_tables_vlarb *table_of(const struct osm_fixture *x, const osm_physp_t *p)
{
	const struct dl_sweep *sweep = x->engine->in_force;
	uint32_t node =
		dl_fabric_find_guid(sweep->fabric, cl_ntoh64(osm_node_get_node_guid(p->p_node)));
	uint32_t port = sweep->fabric->nodes[node].first_port + p->port_num;

	return &sweep->routed.tables->arbs[sweep->routed.tables->vlarb[port]];
}

static void tables_of_the_users_take_the_place_of_ours(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);
	const osm_physp_t *link = osm_fixture_link(osm_fixture_switch(x, 4), 0);
	unsigned int ours;

	(void)state;
	assert_true(osm_fixture_sweep(x));
	ours = table_of(x, link)->high_limit;
	x->osm->subn.opt.qos_swe_options.vlarb_high = (char *)"0:9,1:9,2:9,3:9,4:1,5:1,6:1,7:1";
	x->osm->subn.opt.qos_swe_options.high_limit = 33;
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(table_of(x, link)->high_limit, 33);
	assert_int_equal(table_of(x, link)->nhigh, 8);
	assert_int_equal(table_of(x, link)->high[0].weight, 9);
	assert_int_equal(table_of(x, link)->high[7].vl, 7);
	/* Only of that kind of port. */
	assert_int_not_equal(table_of(x, osm_fixture_adapter(x, 0)->p_physp)->high_limit, 33);
	/* The limit of all kinds; OpenSM's default counts as none. */
	x->osm->subn.opt.qos_swe_options.vlarb_high = NULL;
	x->osm->subn.opt.qos_swe_options.high_limit = -1;
	x->osm->subn.opt.qos_options.high_limit = OSM_DEFAULT_QOS_HIGH_LIMIT;
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(table_of(x, link)->high_limit, ours);
	x->osm->subn.opt.qos_options.high_limit = 44;
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(table_of(x, link)->high_limit, 44);
	assert_int_equal(table_of(x, osm_fixture_adapter(x, 0)->p_physp)->high_limit, 44);
	osm_fixture_free(x);
}

static void warnings_come_once_for_each_change(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);

	(void)state;
	x->osm->subn.opt.qos_ca_options.sl2vl = (char *)"0,1,2,3";
	x->osm->subn.opt.scatter_ports = 8;
	x->osm->subn.opt.guid_routing_order_file = (char *)"order";
	x->osm->subn.opt.root_guid_file = (char *)"roots";
	x->osm->subn.opt.cn_guid_file = (char *)"nodes";
	x->osm->subn.opt.io_guid_file = (char *)"io";
	x->osm->subn.opt.ids_guid_file = (char *)"ids";
	x->osm->subn.opt.max_reverse_hops = 3;
	x->osm->subn.opt.port_shifting = TRUE;
	assert_true(osm_fixture_sweep(x));
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "qos_ca_sl2vl is not used"), 1);
	assert_int_equal(osm_fixture_logged(x, "not used by this routing engine: scatter_ports, "
					       "guid_routing_order_file, root_guid_file, "
					       "cn_guid_file, io_guid_file, ids_guid_file, "
					       "max_reverse_hops, port_shifting"),
			 1);
	x->osm->subn.opt.scatter_ports = 0;
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "qos_ca_sl2vl is not used"), 2);
	assert_int_equal(osm_fixture_logged(x, "routing engine: guid_routing_order_file"), 1);
	osm_fixture_free(x);
}

static void ports_whose_maps_are_cut(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);
	osm_physp_t *p = osm_fixture_link(osm_fixture_switch(x, 4), 0);
	struct dl_sweep *sweep;

	(void)state;
	assert_true(osm_fixture_sweep(x));
	sweep = x->engine->in_force;
	sweep->cut = 0;
	assert_int_equal(dl_maps_count_cut(x->engine, sweep, NULL), 0);
	assert_int_equal(sweep->cut, 0);
	ib_port_info_set_op_vls(&p->port_info, 3);
	assert_int_equal(dl_maps_count_cut(x->engine, sweep, NULL), 0);
	assert_int_equal(sweep->cut, 1);
	/* Unknown yet, as the port has not been set up. */
	sweep->cut = 0;
	ib_port_info_set_op_vls(&p->port_info, 0);
	assert_int_equal(dl_maps_count_cut(x->engine, sweep, NULL), 0);
	assert_int_equal(sweep->cut, 0);
	osm_fixture_free(x);
}

static void maps_that_are_missing(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(4, 3, NULL);
	osm_switch_t *sw = osm_fixture_switch(x, 4);
	osm_physp_t *p = osm_fixture_link(sw, 0), *in = osm_fixture_link(sw, 1);
	ib_slvl_table_t *map, was;

	(void)state;
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(dl_maps_count_missing(x->engine), 0);
	map = osm_physp_get_slvl_tbl(p, in->port_num);
	was = *map;
	ib_slvl_table_set(map, 3, ib_slvl_table_get(map, 3) ^ 1);
	assert_int_equal(dl_maps_count_missing(x->engine), 1);
	/* Of a port that is down nothing is expected, nor of a switch without maps. */
	ib_port_info_set_port_state(&p->port_info, IB_LINK_DOWN);
	assert_int_equal(dl_maps_count_missing(x->engine), 0);
	ib_port_info_set_port_state(&p->port_info, IB_LINK_ACTIVE);
	sw->p_node->physp_table[0].port_info.capability_mask = 0;
	assert_int_equal(dl_maps_count_missing(x->engine), 0);
	sw->p_node->physp_table[0].port_info.capability_mask = IB_PORT_CAP_HAS_SL_MAP;
	*map = was;
	/* OpenSM cuts to OperVLs all VLs but 15: between switches such a map is another one. */
	ib_port_info_set_op_vls(&p->port_info, 2);
	assert_int_equal(dl_maps_count_missing(x->engine), 0);
	osm_qos_setup(x->osm);
	assert_true(dl_maps_count_missing(x->engine) > 0);
	ib_port_info_set_op_vls(&p->port_info, 4);
	osm_qos_setup(x->osm);
	assert_int_equal(dl_maps_count_missing(x->engine), 0);
	/* An end port may have it. */
	p = osm_fixture_adapter(x, 4)->p_physp->p_remote_physp;
	ib_port_info_set_op_vls(&p->port_info, 1);
	assert_true(dl_maps_count_missing(x->engine) > 0);
	osm_qos_setup(x->osm);
	assert_int_equal(dl_maps_count_missing(x->engine), 0);
	osm_fixture_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_of_the_users_take_the_place_of_ours),
		cmocka_unit_test(warnings_come_once_for_each_change),
		cmocka_unit_test(ports_whose_maps_are_cut),
		cmocka_unit_test(maps_that_are_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
