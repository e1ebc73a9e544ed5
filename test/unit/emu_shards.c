/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One emulation on several threads, with the same results. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "draw.h"
#include "emu/run.h"
#include "emu_fixture.h"
#include "share.h"

#define US UINT64_C(1000000)
#define MS UINT64_C(1000000000)

/* Under ThreadSanitizer (emu_races) threads alone are tested, and a few worlds do. */
#ifdef RACES
#define WORLDS 3
#define THREADS 2, 4
#define TESTS "test_threads"
#else
#define WORLDS 191
#define THREADS 2, 3, 4, 8
#define TESTS "*"
#endif

static uint64_t seed = 20261121;

/* A block of a switch's forwarding table is written, from other tables. */
static void rewrite(struct draw *d, struct emu_fixture *w, const struct dl_tables *other)
{
	uint32_t sw = draw_below(d, w->f->nswitches), lids = w->t->top_lid + 1;
	uint32_t first = draw_below(d, lids) / 64 * 64, n = lids - first < 64 ? lids - first : 64;

	assert_true(other->top_lid == w->t->top_lid);
	memcpy(w->t->lft + sw * (size_t)w->t->stride + first,
	       other->lft + sw * (size_t)other->stride + first, n);
	assert_int_equal(dl_emu_swap_tables(w->emu, w->t), 0);
}

/* A fault of any kind, or a write of tables. */
static void change(struct draw *d, struct emu_fixture *w, const struct dl_tables *other)
{
	struct dl_emu_fault fault = { draw_below(d, DL_EMU_DRAIN_RATE + 2), 0, 0 };

	if (fault.kind > DL_EMU_DRAIN_RATE) {
		rewrite(d, w, other);
		return;
	}
	if (fault.kind > DL_EMU_LINK_UP)
		fault.rate = draw_below(d, 300000);
	do
		fault.port = draw_below(d, w->f->nports);
	while (w->f->ports[fault.port].peer == DL_NONE || !w->f->ports[fault.port].num);
	if (fault.kind >= DL_EMU_DRAIN_STOP)
		fault.port = w->adapter[draw_below(d, w->nadapters)];
	assert_int_equal(dl_emu_fault(w->emu, &fault), 0);
}

/* Some flows go on when they learn that a message has ended. */
static void close_loops(struct emu_fixture *w)
{
	w->c.ack_latency_ps = 5000 + w->c.seed % 500000;
	for (uint32_t i = 0; i < w->nflows; i += 2)
		w->flow[i].window = 1 + i % 3;
}

/* Faults, losses and rewrites under traffic; the same whenever `d` is. */
static uint64_t run_world(struct draw d, uint32_t threads)
{
	struct draw again = d;
	struct emu_fixture w, other;
	const struct dl_emu_totals *t;
	uint64_t now = 0, digest;
	int state = 0;

	emu_fixture_draw(&d, &w);
	emu_fixture_draw(&again, &other);
	emu_fixture_route(&other, DL_ROUTE_ANY_SL);
	w.c.threads = threads;
	w.c.hoq_life_ps = draw_below(&d, 2) * 20 * US;
	emu_fixture_everybody(&w, 30, 2000, draw_below(&d, 2) * US);
	if (w.c.switching != DL_EMU_WORMHOLE)
		emu_fixture_flow(&w, 0, 0, 100, 10)->mlid = DL_TABLES_MCAST_LID;
	if (w.c.seed % 3 == 2)
		close_loops(&w);
	emu_fixture_start(&w);
	for (unsigned int i = 0; i < 12 && state != DL_EMU_DEADLOCK; i++) {
		now += draw_below(&d, 10 * US);
		state = dl_emu_run(w.emu, now);
		assert_true(state >= 0);
		change(&d, &w, other.t);
		assert_int_equal(dl_emu_audit(w.emu, w.emu->log), 0);
	}
	emu_fixture_run_audited(&w, 2 * MS, 3);
	t = dl_emu_totals(w.emu);
	digest = w.digest ^ (t->packet_hops << 32) ^ (t->fcps << 16) ^ t->dropped ^
		 (t->latency_sum << 20) ^ (t->acks << 40) ^ (t->resent << 8) ^ dl_emu_now(w.emu);
	emu_fixture_free(&w);
	emu_fixture_free(&other);
	return digest;
}

/*
 * Worlds that showed faults: a run ends in the middle of a window, with credit
 * under way; a link that fails between two runs lets a packet go elsewhere.
 */
static bool is_special(unsigned int world)
{
	return world == 171 || world == 190;
}

/*
 * However many threads share the work, the results are the same.  As many
 * worlds as DATELINE_WORLDS says.
 */
static void test_threads(void **state)
{
	static const uint32_t threads[] = { THREADS };
	const char *given = getenv("DATELINE_WORLDS");
	unsigned int worlds = given ? strtoul(given, NULL, 0) : WORLDS;
	struct draw d = { .seed = seed };

	(void)state;
	for (unsigned int i = 0; i < worlds; i++, draw32(&d)) {
		uint64_t alone;

		if (!given && i >= share(8) && !is_special(i))
			continue;
		alone = run_world(d, 1);
		for (unsigned int k = 0; k < sizeof(threads) / sizeof(*threads); k++)
			if (run_world(d, threads[k]) != alone) {
				print_message("seed %llu, world %u, %u threads\n",
					      (unsigned long long)seed, i, threads[k]);
				fail();
			}
	}
	if (given)
		print_message("%u worlds\n", worlds);
}

/*
 * Shards have the same number of switches, give or take what does not divide.
 * Two are parted by two planes, and eight are blocks.
 */
static void test_division(void **state)
{
	const uint32_t radix[3] = { 8, 8, 2 };

	(void)state;
	for (uint32_t shards = 2; shards <= 64; shards++) {
		uint32_t switches[64] = { 0 }, cut = 0;
		struct emu_fixture w;

		emu_fixture_build(&w, radix, false, 1, NULL);
		w.c.threads = shards;
		emu_fixture_start(&w);
		assert_int_equal(w.emu->split.n, shards);
		for (uint32_t i = 0; i < w.nadapters; i++)
			switches[w.emu->split.of[w.emu->own_port[w.adapter[i]]]]++;
		for (uint32_t i = 0; i < shards; i++)
			assert_in_range(switches[i], 128 / shards, (128 + shards - 1) / shards);
		for (uint32_t i = 0; i < w.emu->nports; i++)
			cut += w.emu->ports[i].to == DL_EMU_TO_SHARD;
		if (shards == 2)
			assert_int_equal(cut / 2, 2 * 8 * 2);
		if (shards == 8)
			assert_true(cut / 2 <= 4 * 8 * 2 + 2 * 8 * 2);
		emu_fixture_free(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_division),
	};
	const char *given = getenv("DATELINE_SEED");

	if (given)
		seed = strtoull(given, NULL, 0);
	cmocka_set_test_filter(TESTS);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
