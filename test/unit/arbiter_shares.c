/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * With queues that never run dry, the arbiter's shares are those that the
 * tables say.
 *
 * The closed form.  An entry of weight w sends ceil(w / b) packets of b blocks
 * each time round.  So the high table repeats a cycle of packets, and so does
 * the low one.  The high table's turn at limit L lasts until more than
 * 1024 L words are sent; with packets of s words that is
 * floor(1024 L / s) + 1 packets, and then the low table sends one packet, or
 * one entry's worth.  If the sizes within the high table differ, turns start
 * at different places of its cycle; the starts soon repeat themselves, and the
 * mean over that repetition is exact.
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "draw.h"
#include "dateline/link.h"

#define TOLERANCE 0.005
#define CYCLE_MAX (64 * 255)

struct setting {
	struct dl_tables_vlarb arb;
	struct dl_link_arb_options o;
	uint32_t bytes[DL_LINK_DATA_VLS]; /* of each VL's packets */
};

struct cycle {
	uint8_t vl[CYCLE_MAX];
	int n, entries;
};

static bool usable(const struct setting *s, const struct dl_tables_vlarb_entry *e)
{
	return e->weight && e->vl < s->o.nvls;
}

static void unroll(const struct setting *s, const struct dl_tables_vlarb_entry *entry, int n,
		   struct cycle *c)
{
	c->n = 0;
	c->entries = 0;
	for (int e = 0; e < n; e++) {
		int blocks = (s->bytes[entry[e].vl % DL_LINK_DATA_VLS] + 63) / 64;

		if (!usable(s, &entry[e]))
			continue;
		c->entries++;
		for (int sent = 0; sent < entry[e].weight; sent += blocks)
			c->vl[c->n++] = entry[e].vl;
	}
}

/* Packets of each VL in one high turn that starts at *at; advances *at. */
static void high_turn(const struct setting *s, const struct cycle *c, int *at, double *packets)
{
	long counter = s->arb.high_limit * 1024L;

	while (counter >= 0) {
		packets[c->vl[*at]]++;
		counter -= (s->bytes[c->vl[*at]] + 3) / 4;
		*at = (*at + 1) % c->n;
	}
}

/* Mean packets of each VL in a high turn, over the turns that repeat. */
static void mean_high_turn(const struct setting *s, const struct cycle *c, double *mean)
{
	double(*total)[DL_LINK_DATA_VLS] = calloc(c->n + 2, sizeof(*total));
	int *seen = malloc(c->n * sizeof(*seen));
	int at = 0, turn = 0, first;

	for (int i = 0; i < c->n; i++)
		seen[i] = -1;
	while (seen[at] < 0) {
		seen[at] = turn++;
		memcpy(total[turn], total[turn - 1], sizeof(*total));
		high_turn(s, c, &at, total[turn]);
	}
	first = seen[at];
	for (int vl = 0; vl < DL_LINK_DATA_VLS; vl++)
		mean[vl] = (total[turn][vl] - total[first][vl]) / (turn - first);
	free(total);
	free(seen);
}

static void add_cycle(const struct cycle *c, double times, double *packets)
{
	for (int i = 0; i < c->n; i++)
		packets[c->vl[i]] += times;
}

/* The share of each VL in the packets sent, in the long run. */
static void expected_shares(const struct setting *s, const struct cycle *high,
			    const struct cycle *low, double *share)
{
	double sum = 0;

	memset(share, 0, DL_LINK_DATA_VLS * sizeof(*share));
	if (high->n && (s->arb.high_limit == DL_LINK_ARB_UNLIMITED || !low->n))
		add_cycle(high, 1, share);
	else if (high->n)
		mean_high_turn(s, high, share);
	if (low->n && !(high->n && s->arb.high_limit == DL_LINK_ARB_UNLIMITED))
		add_cycle(low,
			  s->o.low_turn == DL_LINK_LOW_WEIGHT ? 1.0 / low->entries : 1.0 / low->n,
			  share);
	for (int vl = 0; vl < DL_LINK_DATA_VLS; vl++)
		sum += share[vl];
	for (int vl = 0; vl < DL_LINK_DATA_VLS; vl++)
		share[vl] /= sum;
}

static long run(const struct setting *s, long n, double *share, long served[2][64])
{
	unsigned int saturated = (1u << s->o.nvls) - 1;
	struct dl_link_arb_program program;
	struct dl_link_arbiter a;
	struct dl_link_pick pick;

	memset(share, 0, DL_LINK_DATA_VLS * sizeof(*share));
	memset(served, 0, 2 * sizeof(*served));
	dl_link_arb_compile(&s->arb, &s->o, &program);
	dl_link_arbiter_init(&a, &program);
	for (long i = 0; i < n; i++) {
		if (dl_link_arbiter_pick(&a, false, false, saturated, &pick) == DL_LINK_NOTHING)
			return i;
		dl_link_arbiter_charge(&a, &pick, s->bytes[pick.vl], NULL);
		share[pick.vl] += 1.0 / n;
		served[pick.side][pick.entry]++;
	}
	return n;
}

static void to_bytes(const struct setting *s, double *share)
{
	double sum = 0;

	for (int vl = 0; vl < DL_LINK_DATA_VLS; vl++)
		sum += share[vl] *= s->bytes[vl];
	for (int vl = 0; vl < DL_LINK_DATA_VLS; vl++)
		share[vl] /= sum;
}

static void compare(const double *got, const double *want, unsigned int seed, const char *what)
{
	for (int vl = 0; vl < DL_LINK_DATA_VLS; vl++)
		if (fabs(got[vl] - want[vl]) > TOLERANCE)
			fail_msg("seed %u: VL %d has %.4f of the %s, the tables"
				 " say %.4f",
				 seed, vl, got[vl], what, want[vl]);
}

/*
 * Once the low table has sent a cycle's worth of packets, each of its entries
 * has had its turn.  Returns whether that was to be seen.
 */
static bool low_is_served(const struct setting *s, const struct cycle *low, long served[2][64],
			  unsigned int seed)
{
	long sent = 0;

	for (int e = 0; e < s->arb.nlow; e++)
		sent += served[DL_LINK_ARB_LOW][e];
	if (sent < low->n)
		return false;
	for (int e = 0; e < s->arb.nlow; e++)
		if (usable(s, &s->arb.low[e]) != (served[DL_LINK_ARB_LOW][e] > 0))
			fail_msg("seed %u: low entry %d was served %ld times", seed, e,
				 served[DL_LINK_ARB_LOW][e]);
	return true;
}

static void draw_table(struct draw *d, struct dl_tables_vlarb_entry *entry, uint8_t *n)
{
	*n = draw_below(d, 65);
	for (int e = 0; e < *n; e++) {
		entry[e].vl = draw_below(d, 16);
		entry[e].weight = draw_below(d, draw_one_in(d, 2) ? 256 : 8);
	}
}

static uint32_t draw_bytes(struct draw *d)
{
	return draw_one_in(d, 2) ? 64u << draw_below(d, 7) : 1 + draw_below(d, 4222);
}

static void draw_setting(struct draw *d, struct setting *s)
{
	static const uint8_t vls[] = { 2, 4, 8, 15 };
	bool uniform = draw_one_in(d, 3);

	memset(s, 0, sizeof(*s));
	dl_link_arb_options_init(&s->o);
	s->o.nvls = vls[draw_below(d, 4)];
	s->o.low_turn = draw_below(d, 2);
	draw_table(d, s->arb.high, &s->arb.nhigh);
	draw_table(d, s->arb.low, &s->arb.nlow);
	s->arb.high_limit = draw_one_in(d, 8) ? 255 : draw_below(d, 6);
	for (int vl = 0; vl < DL_LINK_DATA_VLS; vl++)
		s->bytes[vl] = vl && uniform ? s->bytes[0] : draw_bytes(d);
}

static bool one_setting(unsigned int seed)
{
	struct draw d = { .seed = seed };
	static struct cycle high, low; /* 32 KiB */
	double want[DL_LINK_DATA_VLS], got[DL_LINK_DATA_VLS];
	long served[2][64], n;
	struct setting s;

	draw_setting(&d, &s);
	unroll(&s, s.arb.high, s.arb.nhigh, &high);
	unroll(&s, s.arb.low, s.arb.nlow, &low);
	if (!high.n && !low.n)
		return false;
	/* 100,000 packets; more where a cycle would be cut in its middle. */
	n = 100 * (high.n + low.n);
	if (n < 100000)
		n = 100000;
	assert_int_equal(run(&s, n, got, served), n);
	expected_shares(&s, &high, &low, want);
	compare(got, want, seed, "packets");
	to_bytes(&s, got);
	to_bytes(&s, want);
	compare(got, want, seed, "bytes");
	return low_is_served(&s, &low, served, seed);
}

static void test_random_tables(void **state)
{
	int seen = 0;

	(void)state;
	for (unsigned int seed = 1; seed <= 300; seed++)
		seen += one_setting(seed);
	assert_true(seen > 200);
}

/* The formula itself, where packets are of one size. */
static void test_high_to_low(void **state)
{
	static const uint32_t sizes[] = { 1, 64, 256, 1500, 2048, 4096 };
	static const uint8_t limits[] = { 0, 1, 4, 100, 254 };
	double got[DL_LINK_DATA_VLS];
	long served[2][64];

	(void)state;
	for (size_t i = 0; i < 30; i++) {
		struct setting s = {
			.arb = { .high = { { 0, 255 } },
				 .nhigh = 1,
				 .low = { { 1, 255 } },
				 .nlow = 1,
				 .high_limit = limits[i % 5] },
		};
		uint32_t words = (sizes[i / 5] + 3) / 4;
		long turn = s.arb.high_limit * 1024 / words + 1;

		dl_link_arb_options_init(&s.o);
		for (int vl = 0; vl < DL_LINK_DATA_VLS; vl++)
			s.bytes[vl] = sizes[i / 5];
		run(&s, (100000 / (turn + 1) + 1) * (turn + 1), got, served);
		assert_true(fabs(got[1] * (turn + 1) - 1) < 1e-6);
		assert_true(fabs(got[0] + got[1] - 1) < 1e-6);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_high_to_low),
		cmocka_unit_test(test_random_tables),
	};

	return cmocka_run_group_tests_name("arbiter shares", tests, NULL, NULL);
}
