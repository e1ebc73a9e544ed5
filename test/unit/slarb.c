/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The adapter's scheduler: rules D clause by clause, and against its reference
 * model.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "draw.h"
#include "emu/slarb.h"

#define QPS 40
#define ALL 0xFFFFu

struct port {
	struct dl_emu_sl_table table;
	struct dl_emu_sl_qp qps[QPS];
	struct dl_emu_sl_sched s;
};

/* A port whose table serves SLs 0..n-1 in turn with these weights. */
static void setup(struct port *p, unsigned int n, const uint32_t *weights, uint32_t tenure)
{
	memset(p, 0, sizeof(*p));
	p->table.n = 64 / n * n;
	for (unsigned int e = 0; e < p->table.n; e++)
		p->table.entry[e] = (struct dl_emu_sl_entry){ e % n, weights[e % n] };
	dl_emu_sl_sched_init(&p->s, &p->table, tenure, p->qps);
}

/* The queue pair that makes the next packet; *changes counts changes. */
static uint32_t make(struct port *p, unsigned int sls, uint32_t bytes, bool more,
		     unsigned int *changes)
{
	bool change;
	uint32_t qp = dl_emu_sl_sched_pick(&p->s, sls, &change);

	if (qp == DL_EMU_NO_QP)
		return qp;
	dl_emu_sl_sched_charge(&p->s, qp, bytes, more);
	if (changes)
		*changes += change;
	return qp;
}

/* D1: only the current entry's SL, until its weight is used up. */
static void test_weights(void **state)
{
	static const uint32_t weights[] = { 1000, 2500 };
	static const uint32_t expected[] = { 0, 1, 1, 1, 0, 1, 1, 1 };
	struct port p;

	(void)state;
	setup(&p, 2, weights, 0);
	dl_emu_sl_sched_work(&p.s, 0, 0);
	dl_emu_sl_sched_work(&p.s, 1, 1);
	for (int i = 0; i < 8; i++)
		assert_int_equal(make(&p, ALL, 1000, true, NULL), expected[i]);
	/* 999 of 1000 bytes: one byte is left, one more packet may go. */
	assert_int_equal(make(&p, ALL, 999, true, NULL), 0);
	assert_int_equal(make(&p, ALL, 999, true, NULL), 0);
	assert_int_equal(make(&p, ALL, 999, true, NULL), 1);
}

/* D1: never idle while there is work that the port can take. */
static void test_passed_over(void **state)
{
	static const uint32_t weights[] = { 3000, 3000, 3000 };
	struct port p;

	(void)state;
	setup(&p, 3, weights, 0);
	assert_int_equal(make(&p, ALL, 1000, true, NULL), DL_EMU_NO_QP);
	dl_emu_sl_sched_work(&p.s, 7, 2);
	for (int i = 0; i < 10; i++)
		assert_int_equal(make(&p, ALL, 1000, true, NULL), 7);
	dl_emu_sl_sched_work(&p.s, 8, 0);
	assert_int_equal(make(&p, ALL & ~4, 1000, true, NULL), 8);
	assert_int_equal(make(&p, ALL & ~5, 1000, true, NULL), DL_EMU_NO_QP);
	assert_int_equal(make(&p, ALL & ~1, 1000, false, NULL), 7);
	assert_int_equal(make(&p, ALL, 1000, false, NULL), 8);
	assert_int_equal(make(&p, ALL, 1000, true, NULL), DL_EMU_NO_QP);
}

/* D1: an SL in every other entry waits for one other SL's weight at most. */
static void test_low_latency(void **state)
{
	struct port p = { 0 };
	unsigned int gap = 0, longest = 0;

	(void)state;
	p.table.n = 64;
	for (int e = 0; e < 64; e++) {
		p.table.entry[e].sl = e % 2 ? 1 + e / 2 % 15 : 0;
		p.table.entry[e].weight = 2048;
	}
	dl_emu_sl_sched_init(&p.s, &p.table, 0, p.qps);
	for (uint32_t sl = 0; sl < 16; sl++)
		dl_emu_sl_sched_work(&p.s, sl, sl);
	for (int i = 0; i < 10000; i++) {
		gap = make(&p, ALL, 1024, true, NULL) ? gap + 1 : 0;
		longest = gap > longest ? gap : longest;
	}
	assert_int_equal(longest, 2);
}

/*
 * D2: short tenures are fair over short times, long ones change queue pair
 * seldom.  Ten queue pairs, packets of 1000 bytes.
 */
static void test_tenure(void **state)
{
	static const uint32_t weight[] = { UINT32_MAX };
	static const uint32_t tenures[] = { 0, 1000, 1001, 4000, 20000 };
	static const unsigned int packets[] = { 1, 1, 2, 4, 20 };
	struct port p;

	(void)state;
	for (int t = 0; t < 5; t++) {
		unsigned int changes = 0;

		setup(&p, 1, weight, tenures[t]);
		for (uint32_t qp = 0; qp < 10; qp++)
			dl_emu_sl_sched_work(&p.s, qp, 0);
		for (unsigned int i = 0; i < 1000; i++)
			assert_int_equal(make(&p, ALL, 1000, true, &changes), i / packets[t] % 10);
		assert_int_equal(changes, 1000 / packets[t]);
	}
}

/* D2: the turn ends when there is nothing to send; the next tenure is whole. */
static void test_turn_ends_early(void **state)
{
	static const uint32_t weight[] = { 1000000 };
	struct port p;

	(void)state;
	setup(&p, 1, weight, 3000);
	for (uint32_t qp = 0; qp < 3; qp++)
		dl_emu_sl_sched_work(&p.s, qp, 0);
	assert_int_equal(make(&p, ALL, 1000, true, NULL), 0);
	assert_int_equal(make(&p, ALL, 1000, false, NULL), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(make(&p, ALL, 1000, true, NULL), 1);
	dl_emu_sl_sched_work(&p.s, 0, 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(make(&p, ALL, 1000, true, NULL), 2);
	assert_int_equal(make(&p, ALL, 1000, true, NULL), 1);
}

/* D3: off, queue pairs take turns whatever their SL. */
static void test_off(void **state)
{
	struct port p = { 0 };

	(void)state;
	dl_emu_sl_sched_init(&p.s, NULL, 0, p.qps);
	for (uint32_t qp = 0; qp < QPS; qp++)
		dl_emu_sl_sched_work(&p.s, qp, qp * 7 % 5);
	for (uint32_t i = 0; i < 10 * QPS; i++)
		assert_int_equal(make(&p, ALL, 4096, true, NULL), i % QPS);
	/* SLs that the port cannot take are passed over, and lose nothing. */
	for (uint32_t i = 0; i < QPS; i++)
		if (i * 7 % 5 != 3)
			assert_int_equal(make(&p, ALL & ~8, 64, true, NULL), i);
	assert_int_equal(make(&p, ALL, 64, true, NULL), 4);
}

/* Shares in bytes follow the weights. */
static void test_shares(void **state)
{
	static const uint32_t weights[] = { 8192, 16384, 4096, 32768 };
	double bytes[4] = { 0 }, all = 0;
	struct port p;

	(void)state;
	setup(&p, 4, weights, 8192);
	for (uint32_t qp = 0; qp < QPS; qp++)
		dl_emu_sl_sched_work(&p.s, qp, qp % 4);
	for (int i = 0; i < 100000; i++) {
		bytes[make(&p, ALL, 2048, true, NULL) % 4] += 2048;
		all += 2048;
	}
	for (int sl = 0; sl < 4; sl++)
		assert_true(fabs(bytes[sl] / all - weights[sl] / 61440.0) < 0.005);
}

/* ---- the reference model: lists, searched from the front --------------- */

struct model {
	const struct dl_emu_sl_table *table;
	int64_t tenure, left, tenure_left[DL_EMU_SLS];
	int line[QPS], sl_of[QPS], n; /* all that have work, oldest first */
	int at, current;
	bool live;
};

static int model_first(const struct model *w, unsigned int sls)
{
	for (int i = 0; i < w->n; i++)
		if (sls >> w->sl_of[w->line[i]] & 1)
			return i;
	return -1;
}

static int model_pick(struct model *w, unsigned int sls)
{
	if (!w->table || model_first(w, sls) < 0)
		return model_first(w, sls);
	for (int i = 0; i < w->table->n; i++) {
		int e = (w->at + i) % w->table->n;
		const struct dl_emu_sl_entry *entry = &w->table->entry[e];

		if (!entry->weight || model_first(w, sls & 1u << entry->sl) < 0)
			continue;
		if (i || !w->live)
			w->left = entry->weight;
		w->at = e;
		w->live = true;
		return model_first(w, 1u << entry->sl);
	}
	return -1;
}

static void model_leave(struct model *w, int i)
{
	memmove(&w->line[i], &w->line[i + 1], (--w->n - i) * sizeof(w->line[0]));
}

static void model_join(struct model *w, int qp, int sl)
{
	for (int i = 0; i < w->n; i++)
		if (w->line[i] == qp)
			return;
	w->sl_of[qp] = sl;
	w->line[w->n++] = qp;
}

static void model_charge(struct model *w, int i, uint32_t bytes, bool more)
{
	int qp = w->line[i], sl = w->sl_of[qp];

	w->current = qp;
	w->left -= bytes;
	if (w->table && w->left <= 0) {
		w->at = (w->at + 1) % w->table->n;
		w->live = false;
	}
	w->tenure_left[sl] -= bytes;
	if (more && w->tenure_left[sl] > 0)
		return;
	w->tenure_left[sl] = w->tenure;
	model_leave(w, i);
	if (more)
		model_join(w, qp, sl);
}

static void one_run(unsigned int seed)
{
	struct draw d = { .seed = seed };
	struct port p = { 0 };
	struct model w = { .current = -1 };

	p.table.n = 16 + draw_below(&d, 60);
	for (int e = 0; e < p.table.n; e++)
		p.table.entry[e] =
			(struct dl_emu_sl_entry){ draw_below(&d, 16), draw_below(&d, 4) * 3000 };
	w.table = draw_one_in(&d, 4) ? NULL : &p.table;
	w.tenure = draw_below(&d, 3) * 5000;
	for (int sl = 0; sl < DL_EMU_SLS; sl++)
		w.tenure_left[sl] = w.tenure;
	dl_emu_sl_sched_init(&p.s, w.table, w.tenure, p.qps);
	for (int i = 0; i < 500; i++) {
		unsigned int sls = draw_one_in(&d, 3) ? draw32(&d) & ALL : ALL;
		uint32_t bytes = 1 + draw_below(&d, 4222);
		bool more = !draw_one_in(&d, 4), change;
		uint32_t got;
		int want;

		for (int joins = draw_below(&d, 3); joins; joins--) {
			int qp = draw_below(&d, QPS), sl = draw_below(&d, 16);

			dl_emu_sl_sched_work(&p.s, qp, sl);
			model_join(&w, qp, sl);
		}
		want = model_pick(&w, sls);
		got = dl_emu_sl_sched_pick(&p.s, sls, &change);
		if (want < 0 ?
			    got != DL_EMU_NO_QP :
			    got != (uint32_t)w.line[want] || change != (w.line[want] != w.current))
			fail_msg("seed %u, packet %d: not what the reference "
				 "model does",
				 seed, i);
		if (want < 0)
			continue;
		model_charge(&w, want, bytes, more);
		dl_emu_sl_sched_charge(&p.s, got, bytes, more);
	}
}

static void test_model(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 1000; seed++)
		one_run(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weights),		cmocka_unit_test(test_passed_over),
		cmocka_unit_test(test_low_latency),	cmocka_unit_test(test_tenure),
		cmocka_unit_test(test_turn_ends_early), cmocka_unit_test(test_off),
		cmocka_unit_test(test_shares),		cmocka_unit_test(test_model),
	};

	return cmocka_run_group_tests_name("slarb", tests, NULL, NULL);
}
