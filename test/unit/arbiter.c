/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The VL arbiter against the document's example, its clauses one by one, and
 * its reference model.  Shares are in arbiter_shares.c.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "arb_model.h"
#include "draw.h"

#define ALL 0x7FFFu
#define E(v, w)                          \
	{                                \
		.vl = (v), .weight = (w) \
	}

struct port {
	struct dl_link_arb_options o;
	struct dl_link_arb_program program;
	struct dl_link_arbiter a;
};

/* Entries come in pairs VL, weight; -1 ends a list. */
static void fill(struct dl_tables_vlarb_entry *entry, uint8_t *n, const int *list)
{
	for (*n = 0; list && *list >= 0; list += 2, ++*n)
		entry[*n] = (struct dl_tables_vlarb_entry)E(list[0], list[1]);
}

static void setup(struct port *p, int limit, const int *high, const int *low)
{
	struct dl_tables_vlarb arb = { .high_limit = limit };

	if (!p->o.nvls)
		dl_link_arb_options_init(&p->o);
	fill(arb.high, &arb.nhigh, high);
	fill(arb.low, &arb.nlow, low);
	dl_link_arb_compile(&arb, &p->o, &p->program);
	dl_link_arbiter_init(&p->a, &p->program);
}

#define LIST(...) ((const int[]){ __VA_ARGS__, -1 })

/* Send one packet, of the VL expected; -1: nothing is sent. */
static struct dl_link_arb_after expect(struct port *p, unsigned int sendable, uint32_t bytes,
				       int vl)
{
	struct dl_link_arb_after after = { 0 };
	struct dl_link_pick pick;
	enum dl_link_kind kind = dl_link_arbiter_pick(&p->a, false, false, sendable, &pick);

	if (vl < 0) {
		assert_int_equal(kind, DL_LINK_NOTHING);
		return after;
	}
	assert_int_equal(kind, DL_LINK_DATA);
	assert_int_equal(pick.vl, vl);
	dl_link_arbiter_charge(&p->a, &pick, bytes, &after);
	return after;
}

/* Figure 25-10: every number in the document's text. */
static void test_figure_25_10(void **state)
{
	static const struct {
		int vl, weight, counter;
	} steps[] = {
		{ 6, 63, 3072 },   { 6, -1, 2048 },  { 1, -1, 1024 }, { 7, 190, 0 },
		{ 7, 126, -1024 }, { 3, -62, 4096 }, /* the counter was reloaded before */
		{ 7, 62, 3072 },   { 7, -2, 2048 },  { 6, 63, 1024 },
	};
	struct port p = { 0 };

	(void)state;
	setup(&p, 4, LIST(6, 127, 1, 63, 7, 254), LIST(3, 2));
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct dl_link_arb_after after = expect(&p, ALL, 4096, steps[i].vl);

		assert_int_equal(after.weight, steps[i].weight);
		assert_int_equal(after.counter, steps[i].counter);
	}
}

/* B1: management before flow control before data, at every boundary. */
static void test_priorities(void **state)
{
	struct port p = { 0 };
	struct dl_link_arbiter before;
	struct dl_link_pick pick;

	(void)state;
	setup(&p, 4, LIST(0, 1), LIST(1, 1));
	before = p.a;
	assert_int_equal(dl_link_arbiter_pick(&p.a, true, true, ALL, &pick), DL_LINK_SMP);
	assert_int_equal(pick.vl, 15);
	dl_link_arbiter_charge(&p.a, &pick, 256, NULL);
	assert_int_equal(dl_link_arbiter_pick(&p.a, false, true, ALL, &pick), DL_LINK_FCP);
	dl_link_arbiter_charge(&p.a, &pick, 6, NULL);
	assert_memory_equal(&before, &p.a, sizeof(before));
	assert_int_equal(dl_link_arbiter_pick(&p.a, false, false, ALL, &pick), DL_LINK_DATA);
}

/* B1: one data VL, no tables, whatever stands in them. */
static void test_single_vl(void **state)
{
	struct port p = { .o = { .nvls = 1, .high_cap = 64, .low_cap = 64 } };
	struct dl_link_pick pick;

	(void)state;
	setup(&p, 0, LIST(5, 9), NULL);
	assert_int_equal(dl_link_arbiter_pick(&p.a, false, false, 1, &pick), DL_LINK_DATA);
	assert_int_equal(pick.vl, 0);
	assert_int_equal(pick.side, DL_LINK_ARB_NONE);
	expect(&p, 1, 4096, 0);
	expect(&p, 0, 4096, -1);
	expect(&p, 0x7FFE, 4096, -1);
}

/* B2: entries beyond the caps do not exist. */
static void test_caps(void **state)
{
	struct port p = { .o = { .nvls = 8, .high_cap = 2, .low_cap = 1 } };

	(void)state;
	setup(&p, 1, LIST(0, 1, 1, 1, 2, 1), LIST(3, 1, 4, 1));
	assert_int_equal(p.program.listed, 1 << 0 | 1 << 1 | 1 << 3);
	expect(&p, 1 << 2 | 1 << 4, 64, -1);
	/* 4096 bytes of high, the last packet at counter 0; then one low. */
	for (int i = 0; i < 65; i++)
		expect(&p, ALL, 64, i % 2);
	expect(&p, ALL, 64, 3);
	expect(&p, ALL, 64, 1);
}

/* B3: null entries; an entry that is left starts afresh at its next visit. */
static void test_weights(void **state)
{
	struct port p = { 0 };

	(void)state;
	setup(&p, 255, NULL, NULL);
	setup(&p, 0, NULL, LIST(5, 0, 0, 3, 1, 2, 0, 1));
	assert_int_equal(expect(&p, 3, 64, 0).weight, 2);
	/* VL 0 dries up: the entry is left with 2 blocks, VL 1 goes on. */
	assert_int_equal(expect(&p, 2, 65, 1).weight, 0);
	/* Used up: the pointer is on the last entry, its own weight counts. */
	assert_int_equal(expect(&p, 3, 64, 0).weight, 0);
	/* Round to the first: three blocks again. */
	assert_int_equal(expect(&p, 3, 64, 0).weight, 2);
	/* Nothing sendable at all: pointer and weight stay. */
	expect(&p, 1 << 6, 64, -1);
	assert_int_equal(expect(&p, 3, 64, 0).weight, 1);
	/* One entry alone is used up, left, and visited again. */
	assert_int_equal(expect(&p, 1, 4096, 0).weight, -63);
	assert_int_equal(expect(&p, 1, 4096, 0).weight, -63);
}

/* B3, B5: switching tables keeps the high entry and its remaining weight. */
static void test_tables_keep_their_place(void **state)
{
	struct port p = { 0 };

	(void)state;
	setup(&p, 0, LIST(0, 10, 1, 10), LIST(2, 10, 3, 10));
	assert_int_equal(expect(&p, ALL, 256, 0).weight, 6);
	assert_int_equal(expect(&p, ALL, 256, 2).weight, 6);
	assert_int_equal(expect(&p, ALL, 256, 0).weight, 2);
	assert_int_equal(expect(&p, ALL, 256, 2).weight, 2);
	assert_int_equal(expect(&p, ALL, 256, 0).weight, -2);
	assert_int_equal(expect(&p, ALL, 256, 2).weight, -2);
	assert_int_equal(expect(&p, ALL, 256, 1).weight, 6);
	assert_int_equal(expect(&p, ALL, 256, 3).weight, 6);
}

/* B4: limit 0 is one packet, 255 is for ever. */
static void test_limits(void **state)
{
	struct port p = { 0 };

	(void)state;
	setup(&p, 0, LIST(0, 255), LIST(1, 255));
	for (int i = 0; i < 50; i++) {
		assert_int_equal(expect(&p, ALL, 1, 0).counter, -1);
		assert_int_equal(expect(&p, ALL, 1, 1).counter, 0);
	}
	setup(&p, 255, LIST(0, 255), LIST(1, 255));
	for (int i = 0; i < 5000; i++)
		expect(&p, ALL, 4096, 0);
	expect(&p, 2, 4096, 1);
	expect(&p, ALL, 4096, 0);
	setup(&p, 254, LIST(0, 255), LIST(1, 255));
	for (int i = 0; i < 254; i++)
		expect(&p, ALL, 4096, 0);
	assert_int_equal(expect(&p, ALL, 4095, 0).counter, -1024);
	expect(&p, ALL, 4096, 1);
}

/* B5: no high packet: the counter is reloaded, the low table gets its turn. */
static void test_high_runs_dry(void **state)
{
	struct port p = { 0 };

	(void)state;
	setup(&p, 4, LIST(0, 255), LIST(1, 1));
	assert_int_equal(expect(&p, 3, 4096, 0).counter, 3072);
	assert_int_equal(expect(&p, 2, 4096, 1).counter, 4096);
	/* Nothing at all reloads it as well. */
	assert_int_equal(expect(&p, 3, 4096, 0).counter, 3072);
	expect(&p, 0, 0, -1);
	assert_int_equal(expect(&p, 3, 4096, 0).counter, 3072);
	/* Expired, but the low table is empty-handed: high goes on. */
	for (int i = 0; i < 4; i++)
		expect(&p, 1, 4096, 0);
	assert_int_equal(p.a.counter, -1024);
	assert_int_equal(expect(&p, 1, 4096, 0).counter, 3072);
}

/* B5, the author's reading: the low entry sends until it is used up. */
static void test_low_turn_weight(void **state)
{
	struct port p = {
		.o = { .nvls = 8, .high_cap = 64, .low_cap = 64, .low_turn = DL_LINK_LOW_WEIGHT }
	};

	(void)state;
	setup(&p, 0, LIST(0, 1), LIST(1, 3, 2, 1));
	expect(&p, ALL, 64, 0);
	expect(&p, ALL, 64, 1);
	expect(&p, ALL, 64, 1);
	expect(&p, ALL, 64, 1);
	expect(&p, ALL, 64, 0);
	expect(&p, ALL, 64, 2);
	expect(&p, ALL, 64, 0);
	expect(&p, ALL, 64, 1);
	/* It dries up: its turn is over, but it keeps its place. */
	expect(&p, ALL & ~2, 64, 0);
	assert_int_equal(expect(&p, ALL, 64, 1).weight, 1);
}

/* B7: entries for VLs that the port lacks. */
static void test_bad_entries(void **state)
{
	struct port p = { .o = { .nvls = 4, .high_cap = 64, .low_cap = 64 } };

	(void)state;
	setup(&p, 255, LIST(15, 2, 4, 2, 1, 1), NULL);
	assert_int_equal(p.program.listed, 2);
	expect(&p, ALL, 64, 1);
	expect(&p, ALL & ~2, 64, -1);
	p.o.bad_entry = DL_LINK_BAD_ANY;
	setup(&p, 255, LIST(15, 2, 4, 1, 1, 1, 9, 0), NULL);
	assert_int_equal(p.program.listed, 2);
	expect(&p, ALL, 64, 0);
	expect(&p, 1 << 3, 64, 3);
	expect(&p, 1 << 2, 64, 2);
	expect(&p, 3, 64, 1);
	expect(&p, 1 << 2, 64, 2);
	expect(&p, 0, 0, -1);
}

/* B7: data VLs that no entry names. */
static void test_unlisted(void **state)
{
	struct port p = { .o = { .nvls = 8, .high_cap = 64, .low_cap = 64 } };
	struct dl_link_pick pick;

	(void)state;
	setup(&p, 4, LIST(1, 1, 0, 0), NULL);
	expect(&p, 1, 64, -1);
	expect(&p, 3, 64, 1);
	assert_false(dl_link_arb_drops(&p.program, 0));
	p.o.unlisted_vl = DL_LINK_UNLISTED_DROP;
	setup(&p, 4, LIST(1, 1, 0, 0), NULL);
	expect(&p, 1, 64, -1);
	assert_true(dl_link_arb_drops(&p.program, 0));
	assert_false(dl_link_arb_drops(&p.program, 1));
	p.o.unlisted_vl = DL_LINK_UNLISTED_IDLE;
	setup(&p, 4, LIST(1, 1, 0, 0), NULL);
	expect(&p, 7, 64, 1);
	expect(&p, 5, 64, 0);
	assert_int_equal(dl_link_arbiter_pick(&p.a, false, false, 4, &pick), DL_LINK_DATA);
	assert_int_equal(pick.side, DL_LINK_ARB_NONE);
	/* Two empty tables: everything is unlisted. */
	setup(&p, 4, NULL, NULL);
	expect(&p, ALL, 64, 0);
}

/* B8: tables change between two packets. */
static void test_change(void **state)
{
	struct dl_tables_vlarb arb = {
		.high = { E(6, 1) }, .nhigh = 1, .low = { E(3, 9) }, .nlow = 1, .high_limit = 4
	};
	struct dl_link_arb_program next;
	struct port p = { 0 };

	(void)state;
	setup(&p, 4, LIST(6, 127, 1, 63, 7, 254), LIST(3, 9));
	for (int i = 0; i < 5; i++)
		expect(&p, ALL, 4096, i < 2 ? 6 : i < 3 ? 1 : 7);
	assert_int_equal(expect(&p, ALL, 256, 3).weight, 5);
	dl_link_arb_compile(&arb, &p.o, &next);
	dl_link_arbiter_change(&p.a, &next);
	for (int i = 0; i < 5; i++)
		assert_int_equal(expect(&p, ALL, 4096, 6).weight, -63);
	/* The low table was written with what it held: it goes on. */
	assert_int_equal(expect(&p, ALL, 256, 3).weight, 1);
	assert_int_equal(expect(&p, ALL, 4096, 6).counter, 3072);
	/* A new limit counts from the next reload, "unlimited" at once. */
	arb.high_limit = 0;
	dl_link_arb_compile(&arb, &p.o, &p.program);
	dl_link_arbiter_change(&p.a, &p.program);
	for (int i = 0; i < 4; i++)
		expect(&p, ALL, 4096, 6);
	expect(&p, ALL, 256, 3);
	expect(&p, ALL, 64, 6);
	arb.high_limit = 255;
	dl_link_arb_compile(&arb, &p.o, &next);
	dl_link_arbiter_change(&p.a, &next);
	for (int i = 0; i < 100; i++)
		expect(&p, ALL, 4096, 6);
	arb.high_limit = 1;
	dl_link_arb_compile(&arb, &p.o, &p.program);
	dl_link_arbiter_change(&p.a, &p.program);
	expect(&p, ALL, 4096, 6);
	expect(&p, ALL, 4096, 6);
	expect(&p, ALL, 4096, 3);
}

static void test_undefined(void **state)
{
	struct dl_tables_vlarb a, b, c, d;

	(void)state;
	dl_link_arb_undefined(7, 1, &a);
	dl_link_arb_undefined(7, 1, &b);
	dl_link_arb_undefined(7, 2, &c);
	dl_link_arb_undefined(8, 1, &d);
	assert_memory_equal(&a, &b, sizeof(a));
	assert_memory_not_equal(&a, &c, sizeof(a));
	assert_memory_not_equal(&a, &d, sizeof(a));
	assert_memory_not_equal(a.high, a.low, sizeof(a.high));
}

/* ---- random tables and traffic against the reference model ------------- */

static void draw_table(struct draw *d, struct dl_tables_vlarb_entry *entry, uint8_t *n)
{
	unsigned int small = draw_one_in(d, 2) ? 4 : 256;

	*n = draw_below(d, draw_one_in(d, 3) ? 65 : 6);
	for (int e = 0; e < 64; e++)
		entry[e] = e < *n ? (struct dl_tables_vlarb_entry)E(draw_below(d, 16),
								    draw_below(d, small)) :
				    (struct dl_tables_vlarb_entry)E(0, 0);
}

static void draw_arb(struct draw *d, struct dl_tables_vlarb *arb)
{
	static const uint8_t limits[] = { 0, 1, 4, 254, 255 };

	if (draw_one_in(d, 2))
		draw_table(d, arb->high, &arb->nhigh);
	if (draw_one_in(d, 2))
		draw_table(d, arb->low, &arb->nlow);
	if (draw_one_in(d, 2))
		arb->high_limit = limits[draw_below(d, 5)];
}

static void draw_options(struct draw *d, struct dl_link_arb_options *o)
{
	static const uint8_t vls[] = { 1, 2, 4, 8, 15 };

	*o = (struct dl_link_arb_options){
		.nvls = vls[draw_below(d, 5)],
		.high_cap = draw_one_in(d, 2) ? 64 : draw_below(d, 65),
		.low_cap = draw_one_in(d, 2) ? 64 : draw_below(d, 65),
		.low_turn = draw_below(d, 2),
		.bad_entry = draw_below(d, 2),
		.unlisted_vl = draw_below(d, 3),
	};
}

/* Do both agree on the next packet and on what it costs? */
static bool same_packet(struct dl_link_arbiter *a, struct model *w, struct draw *d,
			unsigned int sendable)
{
	struct dl_link_arb_after got_after = { 0 }, want_after = { 0 };
	struct dl_link_pick got = { 0 }, want = { 0 };
	bool list[DL_LINK_DATA_VLS];
	uint32_t bytes = 1 + draw_below(d, draw_one_in(d, 2) ? 4222 : 200);
	enum dl_link_kind kind;

	for (int vl = 0; vl < DL_LINK_DATA_VLS; vl++)
		list[vl] = sendable >> vl & 1;
	kind = model_pick(w, list, &want);
	if (dl_link_arbiter_pick(a, false, false, sendable, &got) != kind)
		return false;
	if (kind == DL_LINK_NOTHING)
		return true;
	/* A pick without a charge loses nothing: ask again. */
	if (memcmp(&got, &want, sizeof(got)) ||
	    dl_link_arbiter_pick(a, false, false, sendable, &got) != kind ||
	    memcmp(&got, &want, sizeof(got)))
		return false;
	dl_link_arbiter_charge(a, &got, bytes, &got_after);
	model_charge(w, &want, bytes, &want_after);
	return got_after.weight == want_after.weight && got_after.counter == want_after.counter;
}

static void one_run(uint64_t seed)
{
	struct draw d = { .seed = seed };
	struct dl_link_arb_program programs[2];
	struct dl_link_arb_options o;
	struct dl_tables_vlarb arb = { 0 };
	unsigned int sendable = draw32(&d) & ALL, at = 0;
	struct dl_link_arbiter a;
	struct model w;

	draw_options(&d, &o);
	draw_arb(&d, &arb);
	dl_link_arb_compile(&arb, &o, &programs[0]);
	dl_link_arbiter_init(&a, &programs[0]);
	model_init(&w, &arb, &o);
	for (int i = 0; i < 300; i++) {
		if (draw_one_in(&d, 3))
			sendable ^= 1u << draw_below(&d, 15);
		if (draw_one_in(&d, 20))
			sendable = draw_one_in(&d, 2) ? ALL : draw32(&d) & ALL;
		if (draw_one_in(&d, 30)) {
			draw_arb(&d, &arb);
			at ^= 1;
			dl_link_arb_compile(&arb, &o, &programs[at]);
			dl_link_arbiter_change(&a, &programs[at]);
			model_change(&w, &arb);
		}
		if (!same_packet(&a, &w, &d, sendable))
			fail_msg("seed %u, packet %d: not what the reference "
				 "model does",
				 (unsigned int)seed, i);
	}
}

static void test_model(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3000; seed++)
		one_run(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figure_25_10),
		cmocka_unit_test(test_priorities),
		cmocka_unit_test(test_single_vl),
		cmocka_unit_test(test_caps),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_tables_keep_their_place),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_high_runs_dry),
		cmocka_unit_test(test_low_turn_weight),
		cmocka_unit_test(test_bad_entries),
		cmocka_unit_test(test_unlisted),
		cmocka_unit_test(test_change),
		cmocka_unit_test(test_undefined),
		cmocka_unit_test(test_model),
	};

	return cmocka_run_group_tests_name("arbiter", tests, NULL, NULL);
}
