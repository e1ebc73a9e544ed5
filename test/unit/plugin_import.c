/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* OpenSM's subnet as a fabric (plugin/import.c). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "osm_fixture.h"
#include "plugin/import.h"

#include "plugin/log.h"

struct imported {
	struct osm_fixture *x;
	struct dl_arena arena;
	struct dl_osm_log log;
	struct dl_fabric *f;
};

static void import_make(struct imported *i)
{
	*i = (struct imported){ .x = osm_fixture_torus(4, 3, NULL) };
	dl_osm_log_init(&i->log, i->x->osm, "DL12");
}

static void import_run(struct imported *i, int wanted)
{
	dl_fabric_free(i->f);
	i->f = NULL;
	assert_int_equal(dl_import(i->x->osm, &i->arena, true, &i->log.log, &i->f), wanted);
}

static void import_free(struct imported *i)
{
	dl_fabric_free(i->f);
	dl_arena_free(&i->arena);
	osm_fixture_free(i->x);
}

/* The fabric's port for a port of OpenSM's. */
static const struct dl_fabric_port *port_of(const struct imported *i, const osm_physp_t *p)
{
	uint32_t node = dl_fabric_find_guid(i->f, cl_ntoh64(osm_node_get_node_guid(p->p_node)));

	assert_int_not_equal(node, DL_NONE);
	return &i->f->ports[i->f->nodes[node].first_port + p->port_num];
}

static void nodes_cables_and_lids_are_the_same(void **state)
{
	struct imported i;
	const struct dl_fabric *was;

	(void)state;
	import_make(&i);
	was = i.x->g.fabric;
	import_run(&i, 0);
	assert_int_equal(i.f->nnodes, was->nnodes);
	assert_int_equal(i.f->nswitches, 12);
	for (uint32_t n = 0; n < was->nnodes; n++) {
		uint32_t own = dl_fabric_find_guid(i.f, was->nodes[n].guid);

		assert_int_not_equal(own, DL_NONE);
		assert_int_equal(i.f->nodes[own].nports, was->nodes[n].nports);
		for (unsigned int o = 0; o <= was->nodes[n].nports; o++) {
			const struct dl_fabric_port *a = &was->ports[was->nodes[n].first_port + o];
			const struct dl_fabric_port *b =
				&i.f->ports[i.f->nodes[own].first_port + o];

			assert_int_equal(a->lid, b->lid);
			assert_int_equal(a->peer == DL_NONE, b->peer == DL_NONE);
			if (a->peer == DL_NONE)
				continue;
			assert_int_equal(was->nodes[was->ports[a->peer].node].guid,
					 i.f->nodes[i.f->ports[b->peer].node].guid);
			assert_int_equal(was->ports[a->peer].num, i.f->ports[b->peer].num);
		}
	}
	assert_int_equal(i.f->nodes[i.f->switches[0]].lft_cap, OSM_FIXTURE_LIDS);
	import_free(&i);
}

static void rates_are_translated(void **state)
{
	static const struct {
		uint8_t width, speed, ext, fdr10, lanes, as;
	} rates[] = {
		{ 1, 1, 0, 0, 1, DL_FABRIC_SDR },	    { 2, 2, 0, 0, 4, DL_FABRIC_DDR },
		{ 4, 4, 0, 0, 8, DL_FABRIC_QDR },	    { 8, 4, 0, 1, 12, DL_FABRIC_FDR10 },
		{ 16, 4, 1, 0, 2, DL_FABRIC_FDR },	    { 2, 4, 2, 0, 4, DL_FABRIC_EDR },
		{ 2, 4, 4, 0, 4, DL_FABRIC_HDR },	    { 2, 4, 8, 0, 4, DL_FABRIC_NDR },
		{ 3, 0, 0, 0, 0, DL_FABRIC_SPEED_UNKNOWN },
	};
	struct imported i;
	osm_physp_t *p;

	(void)state;
	import_make(&i);
	p = osm_fixture_link(osm_fixture_switch(i.x, 2), 1);
	for (size_t k = 0; k < sizeof(rates) / sizeof(rates[0]); k++) {
		p->port_info.link_width_active = rates[k].width;
		p->port_info.link_speed = rates[k].speed << 4;
		p->port_info.link_speed_ext = rates[k].ext << 4;
		p->ext_port_info.link_speed_active = rates[k].fdr10;
		import_run(&i, 0);
		assert_int_equal(port_of(&i, p)->width, rates[k].lanes);
		assert_int_equal(port_of(&i, p)->speed, rates[k].as);
	}
	import_free(&i);
}

static void vls_are_what_opensm_will_program(void **state)
{
	static const uint8_t vls[] = { 1, 2, 4, 8, 15 };
	struct imported i;
	osm_physp_t *p, *port0;
	osm_switch_t *sw;

	(void)state;
	import_make(&i);
	sw = osm_fixture_switch(i.x, 2);
	p = osm_fixture_link(sw, 1);
	/* Not what the link has now, but the smaller of both ends' capabilities. */
	for (unsigned int cap = 2; cap <= 5; cap++) {
		p->port_info.vl_cap = cap << 4;
		ib_port_info_set_op_vls(&p->port_info, 1);
		import_run(&i, 0);
		assert_int_equal(port_of(&i, p)->vls, vls[(cap < 4 ? cap : 4) - 1]);
	}
	/* Without SL-to-VL maps all SLs share one VL, at every port of a switch. */
	p->port_info.vl_cap = 4 << 4;
	for (unsigned int s = 0; s < 12; s++)
		osm_fixture_switch(i.x, s)->p_node->physp_table[0].port_info.capability_mask = 0;
	dl_fabric_free(i.f);
	i.f = NULL;
	assert_int_equal(dl_import(i.x->osm, &i.arena, false, NULL, &i.f), 0);
	assert_int_equal(port_of(&i, p)->vls, 1);
	/* Only an enhanced port 0 has VLs of its own. */
	port0 = &sw->p_node->physp_table[0];
	port0->port_info.vl_cap = 2 << 4;
	assert_int_not_equal(port_of(&i, port0)->vls, 2);
	sw->switch_info.flags |= 0x08;
	dl_fabric_free(i.f);
	i.f = NULL;
	assert_int_equal(dl_import(i.x->osm, &i.arena, false, NULL, &i.f), 0);
	assert_int_equal(port_of(&i, port0)->vls, 2);
	import_free(&i);
}

static void some_cables_are_left_out(void **state)
{
	struct imported i;
	osm_physp_t *sick, *slow, *claimed;

	(void)state;
	import_make(&i);
	sick = osm_fixture_link(osm_fixture_switch(i.x, 2), 1);
	slow = osm_fixture_link(osm_fixture_switch(i.x, 5), 0);
	claimed = osm_fixture_link(osm_fixture_switch(i.x, 8), 2);
	sick->healthy = FALSE;
	i.x->throttled = slow;
	import_run(&i, 0);
	assert_int_equal(port_of(&i, sick)->peer, DL_NONE);
#ifdef HAVE_OSM_THROTTLED_LINKS
	assert_int_not_equal(port_of(&i, slow)->peer, DL_NONE);
	assert_int_equal(osm_fixture_logged(i.x, "avoid_throttled_links"), 0);
	i.x->osm->subn.opt.avoid_throttled_links = TRUE;
	import_run(&i, 0);
	assert_int_equal(port_of(&i, slow)->peer, DL_NONE);
	assert_int_equal(osm_fixture_logged(i.x, "(avoid_throttled_links): 1"), 1);
#endif
	/* Two ports that claim one peer: the peer decides. */
	sick->healthy = TRUE;
	sick->p_remote_physp = claimed->p_remote_physp;
	import_run(&i, 0);
	assert_int_equal(port_of(&i, sick)->peer, DL_NONE);
	assert_int_not_equal(port_of(&i, claimed)->peer, DL_NONE);
	import_free(&i);
}

static void what_no_cable_connects_is_named(void **state)
{
	struct imported i;
	osm_switch_t *dark, *sw;

	(void)state;
	import_make(&i);
	/* One has not answered as a switch, all cables of another are gone. */
	dark = osm_fixture_switch(i.x, 7);
	sw = osm_fixture_switch(i.x, 9);
	for (unsigned int o = 1; o < sw->num_ports; o++)
		if (sw->p_node->physp_table[o].p_remote_physp)
			osm_fixture_cut(&sw->p_node->physp_table[o]);
	dark->p_node->sw = NULL;
	import_run(&i, 0);
	dark->p_node->sw = dark;
	assert_int_equal(i.f->nswitches, 10);
	assert_int_equal(dl_fabric_find_guid(i.f, cl_ntoh64(osm_node_get_node_guid(sw->p_node))),
			 DL_NONE);
	assert_int_equal(osm_fixture_logged(i.x, "ERR DL23"), 1);
	assert_int_equal(osm_fixture_logged(i.x, " nodes are connected to no switch of the rest"),
			 1);
	import_free(&i);
}

static void lids_are_those_that_opensm_has_assigned(void **state)
{
	struct imported i;
	osm_port_t *port;
	uint16_t lid;

	(void)state;
	import_make(&i);
	port = osm_fixture_adapter(i.x, 4);
	lid = cl_ntoh16(port->lid);
	/* It claims 128 LIDs, and has been assigned one. */
	port->p_physp->port_info.mkey_lmc = 7;
	import_run(&i, 0);
	assert_int_equal(port_of(&i, port->p_physp)->lid, lid);
	assert_int_equal(port_of(&i, port->p_physp)->lmc, 0);
	assert_int_equal(osm_fixture_logged(i.x, "claims 128 LIDs, and has been assigned 1"), 1);
	/* OpenSM has forgotten it, and its list has not. */
	port->lid = 0;
	cl_ptr_vector_set(&i.x->osm->subn.port_lid_tbl, lid, NULL);
	import_run(&i, 0);
	assert_int_equal(port_of(&i, port->p_physp)->lid, lid);
	assert_int_equal(cl_ntoh16(port->lid), lid);
	assert_ptr_equal(cl_ptr_vector_get(&i.x->osm->subn.port_lid_tbl, lid), port);
	/* Somebody else has it now. */
	port->lid = 0;
	cl_ptr_vector_set(&i.x->osm->subn.port_lid_tbl, lid, osm_fixture_adapter(i.x, 5));
	import_run(&i, 0);
	assert_int_equal(port_of(&i, port->p_physp)->lid, 0);
	import_free(&i);
}

static void clashes_are_reported(void **state)
{
	struct imported i;
	osm_port_t *a, *b;

	(void)state;
	import_make(&i);
	a = osm_fixture_adapter(i.x, 4);
	b = osm_fixture_adapter(i.x, 5);
	b->lid = a->lid;
	import_run(&i, 0);
	assert_int_equal(port_of(&i, a->p_physp)->lid, cl_ntoh16(a->lid));
	assert_int_equal(port_of(&i, b->p_physp)->lid, 0);
	b->p_node->node_info.node_guid = a->p_node->node_info.node_guid;
	import_run(&i, -EINVAL);
	assert_int_equal(osm_fixture_logged(i.x, "ERR DL12"), 1);
	import_free(&i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_cables_and_lids_are_the_same),
		cmocka_unit_test(rates_are_translated),
		cmocka_unit_test(vls_are_what_opensm_will_program),
		cmocka_unit_test(some_cables_are_left_out),
		cmocka_unit_test(what_no_cable_connects_is_named),
		cmocka_unit_test(lids_are_those_that_opensm_has_assigned),
		cmocka_unit_test(clashes_are_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
