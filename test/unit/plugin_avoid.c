/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Cables and switches taken out of use while OpenSM runs, and put back (plugin/avoid.c):
 * what the switches hold, what the log says, and a list that is damaged meanwhile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "osm_fixture.h"
#include "plugin/sweep.h"

#define LIST "plugin-avoid.list"
#define X 6
#define Y 5
#define LIDS (2 * X * Y + 1)

static void write_list(const char *text)
{
	FILE *to = fopen(LIST, "w");

	assert_non_null(to);
	fputs(text, to);
	fclose(to);
}

static void copy_tables(const struct osm_fixture *x, uint8_t lft[X * Y][LIDS])
{
	for (unsigned int s = 0; s < X * Y; s++)
		memcpy(lft[s], x->switches[s].lft, LIDS);
}

/* Does a switch's hardware send anything out of its port to another one? */
static bool sends(struct osm_fixture *x, unsigned int from, unsigned int to)
{
	osm_switch_t *sw = osm_fixture_switch(x, from);
	const struct osm_fixture_switch *hw = osm_fixture_hardware(x, sw);
	const osm_node_t *peer = osm_fixture_switch(x, to)->p_node;
	bool used = false;

	for (unsigned int p = 1; p < osm_node_get_num_physp(sw->p_node); p++) {
		const osm_physp_t *physp = osm_node_get_physp_ptr(sw->p_node, p);

		if (!physp || !osm_physp_get_remote(physp) ||
		    osm_physp_get_node_ptr(osm_physp_get_remote(physp)) != peer)
			continue;
		used |= memchr(hw->lft + 1, p, LIDS - 1) != NULL;
		for (unsigned int g = 0; g < OSM_FIXTURE_GROUPS; g++)
			used |= hw->groups[g] >> p & 1;
	}
	return used;
}

static void name_of(struct osm_fixture *x, unsigned int s, char *name, size_t size)
{
	snprintf(name, size, "0x%016llx",
		 (unsigned long long)cl_ntoh64(
			 osm_node_get_node_guid(osm_fixture_switch(x, s)->p_node)));
}

/* The port of one switch that leads to another. */
static unsigned int port_to(struct osm_fixture *x, unsigned int from, unsigned int to)
{
	osm_switch_t *sw = osm_fixture_switch(x, from);

	for (unsigned int p = 1; p < osm_node_get_num_physp(sw->p_node); p++) {
		const osm_physp_t *physp = osm_node_get_physp_ptr(sw->p_node, p);

		if (physp && osm_physp_get_remote(physp) &&
		    osm_physp_get_node_ptr(osm_physp_get_remote(physp)) ==
			    osm_fixture_switch(x, to)->p_node)
			return p;
	}
	fail();
	return 0;
}

static void a_cable_and_a_switch_go_and_come_back(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(X, Y, "avoid=" LIST);
	uint8_t before[X * Y][LIDS], after[X * Y][LIDS];
	char a[32], b[32], text[200];

	(void)state;
	write_list("# nothing\n");
	osm_fixture_join(x, 0xC000, 0, 0, X * Y);
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(x->engine->metrics.now.number[DL_METRICS_AVOIDED], 0);
	copy_tables(x, before);
	assert_true(sends(x, 0, 1) && sends(x, 1, 0));
	name_of(x, 0, a, sizeof(a));
	name_of(x, 9, b, sizeof(b));
	snprintf(text, sizeof(text), "cable %s/%u\nswitch %s\n", a, port_to(x, 0, 1), b);
	write_list(text);
	assert_true(osm_fixture_sweep(x));
	assert_false(sends(x, 0, 1) || sends(x, 1, 0));
	assert_true(osm_fixture_delivers(x));
	assert_int_equal(osm_fixture_logged(x, "out of use"), 1);
	assert_int_equal(osm_fixture_logged(x, "passes nothing on"), 1);
	assert_int_equal(osm_fixture_logged(x, "DL41: safe to unplug: cable"), 1);
	assert_int_equal(osm_fixture_logged(x, "DL41: safe to switch off"), 1);
	assert_int_equal(x->engine->metrics.now.number[DL_METRICS_AVOIDED], 2);
	assert_int_equal(x->engine->metrics.now.number[DL_METRICS_AVOIDED_UNUSED], 2);
	/* Once. */
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "DL41"), 2);
	assert_int_equal(osm_fixture_logged(x, "out of use"), 1);
	assert_int_equal(x->engine->metrics.now.number[DL_METRICS_AVOIDED_UNUSED], 2);
	/* A damaged list, and none: the earlier one counts. */
	write_list("cable nonsense\n");
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "ERR DL40: " LIST ":1"), 1);
	assert_int_equal(osm_fixture_logged(x, "the list that was read before stays"), 1);
	unlink(LIST);
	assert_true(osm_fixture_sweep(x));
	assert_false(sends(x, 0, 1) || sends(x, 1, 0));
	write_list("");
	assert_true(osm_fixture_sweep(x));
	assert_int_equal(osm_fixture_logged(x, "in use again"), 2);
	copy_tables(x, after);
	assert_memory_equal(before, after, sizeof(before));
	assert_int_equal(x->engine->metrics.now.number[DL_METRICS_AVOIDED], 0);
	unlink(LIST);
	osm_fixture_free(x);
}

/* The masks of all switches' first group. */
static void copy_groups(struct osm_fixture *x, uint64_t masks[X * Y])
{
	for (unsigned int s = 0; s < X * Y; s++)
		masks[s] = x->switches[s].groups[0];
}

/* Also where groups are emptied for it: they come back, and no pair is interrupted. */
static void each_cable_goes_and_comes_back(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(X, Y, "avoid=" LIST);
	uint64_t before[X * Y], after[X * Y];
	unsigned int emptied = 0;
	char a[32], text[100];

	(void)state;
	write_list("");
	osm_fixture_join(x, 0xC000, 0, 0, X * Y);
	assert_true(osm_fixture_sweep(x));
	copy_groups(x, before);
	for (unsigned int s = 0; s < X * Y; s++) {
		unsigned int to = s % X == X - 1 ? s - (X - 1) : s + 1;

		name_of(x, s, a, sizeof(a));
		snprintf(text, sizeof(text), "cable %s/%u\n", a, port_to(x, s, to));
		for (unsigned int back = 0; back < 2; back++) {
			write_list(back ? "" : text);
			assert_true(osm_fixture_sweep(x));
			assert_true(osm_fixture_delivers(x));
			assert_int_equal(x->engine->metrics.now.transition.pairs_interrupted, 0);
			assert_int_equal(sends(x, s, to), back);
			assert_int_equal(x->engine->metrics.now.number[DL_METRICS_AVOIDED_UNUSED],
					 !back);
		}
		copy_groups(x, after);
		assert_memory_equal(before, after, sizeof(before));
		emptied = osm_fixture_logged(x, "multicast closed as well");
	}
	assert_true(emptied > 0);
	unlink(LIST);
	osm_fixture_free(x);
}

static void an_only_way_stays_in_use(void **state)
{
	struct osm_fixture *x = osm_fixture_torus(3, 1, "avoid=" LIST);
	char a[32], text[200];

	(void)state;
	name_of(x, 1, a, sizeof(a));
	osm_fixture_cut(osm_node_get_physp_ptr(osm_fixture_switch(x, 0)->p_node, port_to(x, 0, 2)));
	snprintf(text, sizeof(text), "cable %s/%u\nswitch %s\nswitch nobody\n", a, port_to(x, 1, 2),
		 a);
	write_list(text);
	assert_true(osm_fixture_sweep(x));
	assert_true(osm_fixture_delivers(x));
	assert_int_equal(osm_fixture_logged(x, "the only way to"), 2);
	assert_int_equal(osm_fixture_logged(x, "not in the fabric"), 1);
	assert_int_equal(osm_fixture_logged(x, "DL41"), 0);
	assert_int_equal(x->engine->metrics.now.number[DL_METRICS_AVOIDED_ONLY_WAY], 2);
	unlink(LIST);
	osm_fixture_free(x);
}

/*
 * A switch falls silent after so many writes of the change that takes a cable out of
 * use: the cable is not called safe while anything leads across it, and when the dead
 * switch is gone, it is out of use after all.  Returns whether the first sweep failed.
 */
static bool dies_meanwhile(unsigned int s, unsigned int after)
{
	struct osm_fixture *x = osm_fixture_torus(X, Y, "avoid=" LIST " drain_ms=1");
	osm_switch_t *dead = osm_fixture_switch(x, s);
	char a[32], text[100];
	bool unfinished;

	write_list("# nothing\n");
	osm_fixture_join(x, 0xC000, 0, 0, X * Y);
	assert_true(osm_fixture_sweep(x));
	name_of(x, 0, a, sizeof(a));
	snprintf(text, sizeof(text), "cable %s/%u\n", a, port_to(x, 0, 1));
	write_list(text);
	x->dies = osm_fixture_hardware(x, dead);
	x->dies_after = after;
	osm_fixture_sweep(x);
	unfinished = osm_fixture_logged(x, "ERR DL26") > 0;
	assert_true(!osm_fixture_logged(x, "DL41") || !(sends(x, 0, 1) || sends(x, 1, 0)));
	osm_fixture_drop(x, dead);
	assert_true(osm_fixture_sweep(x));
	assert_false(sends(x, 0, 1) || sends(x, 1, 0));
	assert_int_equal(osm_fixture_logged(x, "DL41: safe to unplug"), 1);
	assert_int_equal(osm_fixture_logged(x, "ERR DL34"), 0);
	/* Back, without the dead one. */
	write_list("");
	assert_true(osm_fixture_sweep(x));
	assert_true(sends(x, 0, 1) && sends(x, 1, 0));
	unlink(LIST);
	osm_fixture_free(x);
	return unfinished;
}

static void a_switch_dies_while_a_cable_is_taken_out(void **state)
{
	unsigned int unfinished = 0;

	(void)state;
	for (unsigned int s = 2; s < X * Y; s++)
		for (unsigned int after = 0; after < 6; after++)
			unfinished += dies_meanwhile(s, after);
	assert_true(unfinished > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_switch_dies_while_a_cable_is_taken_out),
		cmocka_unit_test(a_cable_and_a_switch_go_and_come_back),
		cmocka_unit_test(each_cable_goes_and_comes_back),
		cmocka_unit_test(an_only_way_stays_in_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
