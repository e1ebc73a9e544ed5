/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The user's VL arbitration tables on a small fabric that has every kind of
 * port: two switches, an adapter and a router at the first.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "draw.h"
#include "dateline/route.h"

#define PLANNED 200 /* weight of the planned entries, and their limit */

enum place { SW0, BETWEEN, TO_CA, CA, RTR, PLACES };

struct setup {
	struct dl_fabric *f;
	struct dl_tables *t;
	uint32_t port[PLACES];
	struct dl_route_arb_config c;
	struct dl_log log;
	char said[512]; /* the last message of the level below */
	enum dl_log_level level;
};

static void hear(void *context, enum dl_log_level level, const char *message)
{
	struct setup *s = context;

	s->level = level;
	snprintf(s->said, sizeof(s->said), "%s", message);
}

static uint32_t add(struct dl_fabric *f, enum dl_fabric_node_type type, unsigned int n,
		    uint64_t guid)
{
	uint32_t node;

	assert_int_equal(dl_fabric_add_node(f, type, n, guid, "n", &node), 0);
	return f->nodes[node].first_port;
}

static int set_up(void **state)
{
	struct setup *s = calloc(1, sizeof(*s));
	struct dl_tables_vlarb plan = { .nhigh = 1, .nlow = 1, .high_limit = PLANNED };
	uint32_t a, b, ca, rtr, i;

	assert_non_null(s);
	plan.high[0].weight = plan.low[0].weight = PLANNED;
	assert_int_equal(dl_fabric_new(&s->f), 0);
	a = add(s->f, DL_FABRIC_SWITCH, 4, 1);
	b = add(s->f, DL_FABRIC_SWITCH, 4, 2);
	ca = add(s->f, DL_FABRIC_CA, 1, 3);
	rtr = add(s->f, DL_FABRIC_ROUTER, 1, 4);
	assert_int_equal(dl_fabric_connect(s->f, a + 1, b + 1), 0);
	assert_int_equal(dl_fabric_connect(s->f, a + 2, ca + 1), 0);
	assert_int_equal(dl_fabric_connect(s->f, a + 3, rtr + 1), 0);
	s->port[SW0] = a;
	s->port[BETWEEN] = a + 1;
	s->port[TO_CA] = a + 2;
	s->port[CA] = ca + 1;
	s->port[RTR] = rtr + 1;
	for (i = 0; i < s->f->nports; i++) {
		s->f->ports[i].vls = 8;
		s->f->ports[i].arb_high_cap = s->f->ports[i].arb_low_cap = 64;
	}
	assert_int_equal(dl_fabric_finish(s->f, NULL), 0);
	assert_int_equal(dl_fabric_assign_lids(s->f, 0), 0);
	assert_int_equal(dl_tables_new(s->f, &s->t), 0);
	for (i = 0; i < PLACES; i++)
		s->t->vlarb[s->port[i]] = dl_tables_arb(s->t, &plan);
	s->log = (struct dl_log){ .write = hear, .context = s };
	s->c.all.high_limit = s->c.default_high_limit = -1;
	for (i = 0; i < DL_ROUTE_PORT_KINDS; i++)
		s->c.kind[i].high_limit = -1;
	*state = s;
	return 0;
}

static int tear_down(void **state)
{
	struct setup *s = *state;

	dl_tables_free(s->t);
	dl_fabric_free(s->f);
	free(s);
	return 0;
}

/* A table as text, in the form in which it is configured. */
static const char *text(const struct dl_tables_vlarb_entry *e, unsigned int n, char out[1024])
{
	unsigned int i;
	size_t at = 0;

	*out = '\0';
	for (i = 0; i < n; i++)
		at += snprintf(out + at, 1024 - at, "%s%u:%u", i ? "," : "", e[i].vl, e[i].weight);
	/* What lies behind the last entry is null. */
	for (; i < 64; i++)
		assert_int_equal(e[i].vl | e[i].weight, 0);
	return out;
}

static const struct dl_tables_vlarb *at(const struct setup *s, enum place p)
{
	return &s->t->arbs[s->t->vlarb[s->port[p]]];
}

static void assert_high(const struct setup *s, enum place p, const char *want)
{
	char got[1024];

	assert_string_equal(text(at(s, p)->high, at(s, p)->nhigh, got), want);
}

static void assert_low(const struct setup *s, enum place p, const char *want)
{
	char got[1024];

	assert_string_equal(text(at(s, p)->low, at(s, p)->nlow, got), want);
}

static void apply(struct setup *s)
{
	assert_int_equal(dl_route_arb_apply(&s->c, s->t, &s->log), 0);
}

static void nothing_configured_keeps_the_plan(void **state)
{
	struct setup *s = *state;
	enum place p;

	apply(s);
	for (p = 0; p < PLACES; p++) {
		assert_high(s, p, "0:200");
		assert_low(s, p, "0:200");
		assert_int_equal(at(s, p)->high_limit, PLANNED);
	}
}

static void general_tables_are_adapted_on_end_ports(void **state)
{
	struct setup *s = *state;
	enum place p;

	s->c.all.high = "0:8,1:8,2:8,3:8,4:4,5:4,6:4,7:4";
	s->c.default_high_limit = 0;
	apply(s);
	for (p = 0; p < PLACES; p++) {
		if (p == BETWEEN)
			assert_high(s, p, s->c.all.high);
		else
			assert_high(s, p, "0:8,1:4");
		/* The other table stays as planned. */
		assert_low(s, p, "0:200");
		assert_int_equal(at(s, p)->high_limit, 0);
	}
}

static void a_kind_of_its_own_wins(void **state)
{
	struct setup *s = *state;

	s->c.all.low = "0:1,4:1";
	s->c.all.high_limit = 3;
	s->c.kind[DL_ROUTE_SWE_PORTS].low = "0:2, 4:3 ,5:6";
	s->c.kind[DL_ROUTE_SWE_PORTS].high_limit = 4;
	s->c.kind[DL_ROUTE_CA_PORTS].low = "4:9,0:7,0x4:0x10,3:3";
	s->c.kind[DL_ROUTE_RTR_PORTS].high = "4:5";
	s->c.kind[DL_ROUTE_SW0_PORTS].high_limit = 0;
	s->c.default_high_limit = 77;
	apply(s);
	assert_low(s, BETWEEN, "0:2,4:3,5:6");
	assert_low(s, TO_CA, "0:2,1:3");
	assert_low(s, CA, "1:9,0:7,1:16");
	assert_low(s, SW0, "0:1,1:1");
	assert_low(s, RTR, "0:1,1:1");
	assert_high(s, RTR, "1:5");
	assert_high(s, CA, "0:200");
	assert_int_equal(at(s, BETWEEN)->high_limit, 4);
	assert_int_equal(at(s, TO_CA)->high_limit, 4);
	assert_int_equal(at(s, CA)->high_limit, 3);
	assert_int_equal(at(s, SW0)->high_limit, 0);
}

/* As torus-2QoS asks for them: VL 1 in an end port's own option. */
static void tables_written_for_end_ports_stay(void **state)
{
	struct setup *s = *state;

	s->c.all.low = "0:1,1:2,4:3";
	s->c.kind[DL_ROUTE_CA_PORTS].high = "0:10,1:20,2:30";
	s->c.kind[DL_ROUTE_RTR_PORTS].high = "0:10,1:20,4:30";
	apply(s);
	assert_high(s, CA, "0:10,1:20");
	/* ... but the general one beside it is not one of those. */
	assert_low(s, CA, "0:1,1:3");
	assert_high(s, RTR, "0:10,1:30");
}

static void a_general_table_is_never_end_numbered(void **state)
{
	struct setup *s = *state;

	s->c.all.high = "0:10,1:20";
	apply(s);
	assert_high(s, CA, "0:10");
	assert_high(s, BETWEEN, "0:10,1:20");
}

/* 64 entries: the second block of 32 moves up into the first. */
static void compaction_crosses_blocks(void **state)
{
	struct setup *s = *state;
	char word[1024] = "";
	unsigned int i;

	for (i = 0; i < 64; i++)
		snprintf(word + strlen(word), sizeof(word) - strlen(word), "%u:%u,", i % 8, i + 1);
	s->c.kind[DL_ROUTE_SWE_PORTS].high = word;
	apply(s);
	assert_int_equal(at(s, BETWEEN)->nhigh, 64);
	assert_high(s, TO_CA,
		    "0:1,1:5,0:9,1:13,0:17,1:21,0:25,1:29,0:33,1:37,"
		    "0:41,1:45,0:49,1:53,0:57,1:61");
}

static void caps_and_vls_bound_the_tables(void **state)
{
	struct setup *s = *state;

	s->c.all.high = "0:1,1:1,2:1,3:1,4:2,5:2,6:2,7:2";
	s->f->ports[s->port[BETWEEN]].arb_high_cap = 5;
	s->f->ports[s->port[TO_CA]].arb_high_cap = 1;
	s->f->ports[s->port[CA]].vls = 1;
	s->f->ports[s->port[RTR]].arb_high_cap = 0;
	apply(s);
	assert_high(s, BETWEEN, "0:1,1:1,2:1,3:1,4:2");
	assert_high(s, TO_CA, "0:1");
	assert_high(s, CA, "0:1");
	assert_high(s, RTR, "");
	/* Four VLs between switches: the QoS bit goes, as in the SL2VL maps. */
	s->f->ports[s->port[BETWEEN]].arb_high_cap = 8;
	s->f->ports[s->port[BETWEEN]].vls = 4;
	apply(s);
	assert_high(s, BETWEEN, "0:1,1:1,2:1,3:1,0:2,1:2,2:2,3:2");
}

/* The routing's own: VL 0 to 7 between switches, 0 and 1 on end ports. */
static void plan_all_vls(struct setup *s)
{
	for (enum place p = 0; p < PLACES; p++) {
		struct dl_tables_vlarb plan = { .nhigh = p == BETWEEN ? 8 : 2 };

		plan.nlow = plan.nhigh;
		for (unsigned int vl = 0; vl < plan.nlow; vl++)
			plan.high[vl] = plan.low[vl] = (struct dl_tables_vlarb_entry){ vl, 64 };
		s->t->vlarb[s->port[p]] = dl_tables_arb(s->t, &plan);
	}
}

static void vls_that_would_starve_get_an_entry(void **state)
{
	struct setup *s = *state;

	plan_all_vls(s);
	s->c.all.high = s->c.all.low = "0:64,1:64,2:64,3:64";
	apply(s);
	assert_high(s, BETWEEN, s->c.all.high);
	assert_low(s, BETWEEN, "0:64,1:64,2:64,3:64,4:64,5:64,6:64,7:64");
	assert_low(s, CA, "0:64,1:64");
	assert_int_equal(s->level, DL_LOG_ERROR);
	assert_non_null(strstr(s->said, "starve VL 1, 4, 5, 6, 7 on 5 ports"));
	/* Where there is no room, in the high table, and in that of the routing at last. */
	plan_all_vls(s);
	s->f->ports[s->port[BETWEEN]].arb_low_cap = 6;
	apply(s);
	assert_high(s, BETWEEN, "0:64,1:64,2:64,3:64,6:64,7:64");
	assert_low(s, BETWEEN, "0:64,1:64,2:64,3:64,4:64,5:64");
	plan_all_vls(s);
	s->f->ports[s->port[BETWEEN]].arb_low_cap = 8;
	s->f->ports[s->port[BETWEEN]].arb_high_cap = 4;
	s->c.all.low = "0:1,0:1,0:1,0:1,0:1,0:1,0:1,4:1";
	apply(s);
	assert_high(s, BETWEEN, "0:64,1:64,2:64,3:64,4:64,5:64,6:64,7:64");
	assert_low(s, BETWEEN, "0:64,1:64,2:64,3:64,4:64,5:64,6:64,7:64");
}

static void a_limit_lets_the_low_table_have_its_turn(void **state)
{
	struct setup *s = *state;

	plan_all_vls(s);
	s->c.all.high = "4:64,5:64,6:64,7:64";
	s->c.all.low = "0:64,1:64,2:64,3:64";
	s->c.all.high_limit = 254;
	apply(s);
	assert_string_equal(s->said, "");
	plan_all_vls(s);
	s->c.all.high_limit = 255;
	apply(s);
	assert_high(s, BETWEEN, s->c.all.high);
	assert_low(s, BETWEEN, s->c.all.low);
	assert_int_equal(at(s, BETWEEN)->high_limit, 254);
	assert_non_null(strstr(s->said, "starve VL 0, 1, 2, 3 on 5 ports"));
	/* All VLs in the high table need no limit; nor is one needed without any in it. */
	plan_all_vls(s);
	*s->said = '\0';
	s->c.all.high = "0:1,1:1,2:1,3:1,4:1,5:1,6:1,7:1";
	apply(s);
	assert_int_equal(at(s, BETWEEN)->high_limit, 255);
	plan_all_vls(s);
	s->c.all.low = s->c.all.high;
	s->c.all.high = "";
	apply(s);
	assert_int_equal(at(s, BETWEEN)->high_limit, 255);
	assert_string_equal(s->said, "");
}

/* Random tables against the rules as the specification puts them. */
static void random_tables_match_the_rules(void **state)
{
	struct setup *s = *state;
	struct draw d = { .seed = 7 };
	uint16_t planned = s->t->vlarb[s->port[CA]];
	unsigned int round, i;

	print_message("seed %" PRIu64 "\n", d.seed);
	for (round = 0; round < 500; round++) {
		unsigned int n = draw_below(&d, 65), at = 0, cap, w;
		char word[1024] = "", want[1024] = "";

		cap = draw_below(&d, 65);
		s->f->ports[s->port[CA]].arb_low_cap = cap;
		for (i = 0; i < n; i++) {
			unsigned int vl = draw_below(&d, 8);

			w = draw_below(&d, 4) ? draw_below(&d, 256) : 0;
			snprintf(word + strlen(word), sizeof(word) - strlen(word), "%s%u:%u",
				 i ? "," : "", vl, w);
			if (vl % 4 || !w || at == cap)
				continue;
			snprintf(want + strlen(want), sizeof(want) - strlen(want), "%s%u:%u",
				 at++ ? "," : "", vl / 4, w);
		}
		s->c.all.low = word;
		s->t->vlarb[s->port[CA]] = planned;
		apply(s);
		assert_low(s, CA, want);
	}
}

/* Warnings: the options they name, joined. */
static void note(void *context, enum dl_log_level level, const char *message)
{
	char *to = context;
	size_t len = strcspn(message, " :");

	assert_int_equal(level, DL_LOG_WARNING);
	snprintf(to + strlen(to), 256 - strlen(to), "%.*s ", (int)len, message);
}

static void assert_warned_of(const struct setup *s, const struct dl_fabric *f, const char *want)
{
	char got[256] = "";
	const struct dl_log log = { .write = note, .context = got };

	dl_route_arb_check(&s->c, f, &log);
	assert_string_equal(got, want);
}

static void assert_warned(const struct setup *s, const char *want)
{
	assert_warned_of(s, NULL, want);
}

static void unfair_tables_are_named_once(void **state)
{
	struct setup *s = *state;

	assert_warned(s, "");
	s->c.kind[DL_ROUTE_SWE_PORTS].high = "0:8,1:8,2:8,3:8,4:4,5:4,6:4,7:4";
	s->c.kind[DL_ROUTE_CA_PORTS].high = "0:8,4:4";
	assert_warned(s, "");
	/* Entries of one VL add up. */
	s->c.kind[DL_ROUTE_SWE_PORTS].high = "0:4,1:8,2:8,3:8,0:4";
	assert_warned(s, "");
	s->c.kind[DL_ROUTE_SWE_PORTS].high = "0:4,1:8,2:8,3:8,4:1";
	assert_warned(s, "qos_swe_vlarb_high ");
	s->c.kind[DL_ROUTE_SWE_PORTS].low = "0:1,1:1,2:1,3:1,7:1";
	s->c.kind[DL_ROUTE_CA_PORTS].low = "0:1,5:1,6:1";
	s->c.kind[DL_ROUTE_RTR_PORTS].low = "0:1,1:1";
	s->c.kind[DL_ROUTE_SW0_PORTS].low = "0:1,1:1,4:1";
	assert_warned(s, "qos_swe_vlarb_high qos_ca_vlarb_low "
			 "qos_sw0_vlarb_low qos_swe_vlarb_low ");
}

static void a_general_table_is_checked_for_both_uses(void **state)
{
	struct setup *s = *state;
	unsigned int i;

	s->c.all.high = "0:1,4:1";
	assert_warned(s, "qos_vlarb_high ");
	s->c.all.high = "0:1,1:1,2:1,3:1";
	assert_warned(s, "qos_vlarb_high ");
	for (i = 0; i < DL_ROUTE_PORT_KINDS; i++)
		s->c.kind[i].high = "";
	assert_warned(s, "");
}

static void tables_shorter_than_the_vls_are_named(void **state)
{
	struct setup *s = *state;

	s->c.kind[DL_ROUTE_SWE_PORTS].low = "0:1,1:1,2:1,3:1,4:1,5:1,6:1,7:1";
	s->c.kind[DL_ROUTE_SWE_PORTS].high = "0:1,1:1,2:1,3:1";
	s->c.kind[DL_ROUTE_CA_PORTS].low = "0:1,4:1";
	assert_warned_of(s, s->f, "");
	s->c.kind[DL_ROUTE_SWE_PORTS].low = "0:1,1:1,2:1,3:1,4:0,5:0";
	s->c.kind[DL_ROUTE_SWE_PORTS].high = "0:0";
	s->c.kind[DL_ROUTE_CA_PORTS].low = "0:1";
	assert_warned_of(s, s->f, "qos_swe_vlarb_high qos_ca_vlarb_low qos_swe_vlarb_low ");
}

static void malformed_tables_are_named(void **state)
{
	static const char *const bad[] = {
		"0", "0:", ":1", "0:1;", "0:256", "16:1", "x", "0:1,4:1,2", "-1:1", "0:1:2", "0: 1",
	};
	struct setup *s = *state;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		s->c.kind[DL_ROUTE_CA_PORTS].high = bad[i];
		assert_warned(s, "qos_ca_vlarb_high ");
		apply(s); /* and what stood before it counts */
	}
	s->c.kind[DL_ROUTE_CA_PORTS].high = "0:3,4:1,2";
	apply(s);
	assert_high(s, CA, "0:3,1:1");
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(nothing_configured_keeps_the_plan),
		T(general_tables_are_adapted_on_end_ports),
		T(a_kind_of_its_own_wins),
		T(tables_written_for_end_ports_stay),
		T(a_general_table_is_never_end_numbered),
		T(compaction_crosses_blocks),
		T(caps_and_vls_bound_the_tables),
		T(random_tables_match_the_rules),
		T(unfair_tables_are_named_once),
		T(a_general_table_is_checked_for_both_uses),
		T(malformed_tables_are_named),
		T(tables_shorter_than_the_vls_are_named),
		T(vls_that_would_starve_get_an_entry),
		T(a_limit_lets_the_low_table_have_its_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
