/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Traffic patterns: each by its definition, rates, phases, repeatability. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "dateline/emu.h"

#define MOST 64
#define GB_S UINT64_C(1000000000)

static const struct dl_emu_size kilobyte = { .bytes = 1000, .weight = 1 };

struct fixture {
	struct dl_emu_traffic_spec spec;
	struct dl_emu_traffic_entry entry[2];
	uint64_t rate[MOST];
	uint32_t at[MOST];
	struct dl_emu_traffic *traffic;
};

/* n adapters with links of 1 GB/s and one entry, in a closed loop. */
static struct dl_emu_traffic_entry *fixture(struct fixture *w, uint32_t n,
					    enum dl_emu_pattern pattern)
{
	memset(w, 0, sizeof(*w));
	for (uint32_t i = 0; i < MOST; i++) {
		w->rate[i] = GB_S;
		w->at[i] = i;
	}
	w->spec = (struct dl_emu_traffic_spec){
		.seed = 5,
		.nadapters = n,
		.rate = w->rate,
		.entries = w->entry,
		.nentries = 1,
		.grid = { .depth = 1, .at = w->at },
	};
	w->entry[0] = (struct dl_emu_traffic_entry){
		.pattern = pattern,
		.window = 1,
		.sizes = &kilobyte,
		.nsizes = 1,
		.stop = UINT64_MAX,
	};
	return &w->entry[0];
}

static void grid(struct fixture *w, unsigned int dims, uint32_t x, uint32_t y, uint32_t z,
		 uint32_t depth)
{
	w->spec.grid.dims = dims;
	w->spec.grid.radix[0] = x;
	w->spec.grid.radix[1] = y;
	w->spec.grid.radix[2] = z;
	w->spec.grid.depth = depth;
}

static void start(struct fixture *w)
{
	assert_int_equal(dl_emu_traffic_new(&w->spec, NULL, &w->traffic), 0);
}

/* The first destination of every source; silent ones keep DL_EMU_NO_ADAPTER. */
static void first(struct fixture *w, uint32_t to[MOST])
{
	struct dl_emu_trace_message m;

	start(w);
	for (uint32_t i = 0; i < MOST; i++)
		to[i] = DL_EMU_NO_ADAPTER;
	for (uint32_t f = 0; f < dl_emu_traffic_flows(w->traffic); f++) {
		assert_true(dl_emu_traffic_next(w->traffic, f, 0, &m));
		assert_true(m.dst != m.src && m.dst < w->spec.nadapters);
		to[m.src] = m.dst;
	}
	dl_emu_traffic_free(w->traffic);
}

static void test_transpose(void **state)
{
	uint32_t to[MOST];
	struct fixture w;

	(void)state;
	fixture(&w, 64, DL_EMU_PATTERN_TRANSPOSE);
	grid(&w, 3, 4, 4, 4, 1);
	first(&w, to);
	for (uint32_t x = 0; x < 4; x++)
		for (uint32_t y = 0; y < 4; y++)
			for (uint32_t z = 0; z < 4; z++)
				assert_int_equal(to[x + 4 * y + 16 * z],
						 x == z ? DL_EMU_NO_ADAPTER : z + 4 * y + 16 * x);
	/* Two adapters a point, and a grid that is not square. */
	fixture(&w, 60, DL_EMU_PATTERN_TRANSPOSE);
	grid(&w, 2, 6, 5, 1, 2);
	first(&w, to);
	for (uint32_t x = 0; x < 6; x++)
		for (uint32_t y = 0; y < 5; y++)
			for (uint32_t d = 0; d < 2; d++)
				if (x + 6 * y != 5 * x + y)
					assert_int_equal(to[2 * (x + 6 * y) + d],
							 2 * (5 * x + y) + d);
}

static void test_tornado_and_neighbour(void **state)
{
	uint32_t to[MOST];
	struct fixture w;

	(void)state;
	fixture(&w, 40, DL_EMU_PATTERN_TORNADO);
	grid(&w, 2, 8, 5, 1, 1);
	w.at[3] = DL_EMU_NO_ADAPTER; /* adapter 3 is missing */
	first(&w, to);
	for (uint32_t x = 0; x < 8; x++)
		for (uint32_t y = 0; y < 5; y++) {
			uint32_t far = (x + 3) % 8 + 8 * ((y + 2) % 5);

			if (far == 3 || x + 8 * y == 3)
				far = DL_EMU_NO_ADAPTER;
			assert_int_equal(to[x + 8 * y], far);
		}
	fixture(&w, 40, DL_EMU_PATTERN_NEIGHBOUR);
	grid(&w, 2, 8, 5, 1, 1);
	first(&w, to);
	for (uint32_t x = 0; x < 8; x++)
		for (uint32_t y = 0; y < 5; y++)
			assert_int_equal(to[x + 8 * y], (x + 1) % 8 + 8 * ((y + 1) % 5));
}

static void test_numbers(void **state)
{
	uint32_t to[MOST], seen = 0, moved = 0;
	struct fixture w;

	(void)state;
	fixture(&w, 32, DL_EMU_PATTERN_COMPLEMENT);
	first(&w, to);
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(to[i], ~i & 31);
	fixture(&w, 30, DL_EMU_PATTERN_SHIFT)->by = 7;
	first(&w, to);
	for (uint32_t i = 0; i < 30; i++)
		assert_int_equal(to[i], (i + 7) % 30);
	fixture(&w, 32, DL_EMU_PATTERN_RANDOM);
	first(&w, to);
	for (uint32_t i = 0; i < 32; i++) {
		uint32_t j = to[i] == DL_EMU_NO_ADAPTER ? i : to[i];

		assert_false(seen >> j & 1);
		seen |= 1u << j;
		moved += j != i;
	}
	assert_int_equal(seen, UINT32_MAX);
	assert_true(moved > 20);
}

static void test_all_to_all(void **state)
{
	struct dl_emu_trace_message m;
	struct fixture w;

	(void)state;
	fixture(&w, 9, DL_EMU_PATTERN_ALL_TO_ALL)->count = 8;
	start(&w);
	for (uint32_t f = 0; f < 9; f++) {
		for (uint32_t round = 1; round < 9; round++) {
			assert_true(dl_emu_traffic_next(w.traffic, f, round, &m));
			assert_int_equal(m.dst, (f + round) % 9);
			assert_int_equal(m.at, round);
		}
		assert_false(dl_emu_traffic_next(w.traffic, f, 9, &m));
	}
	dl_emu_traffic_free(w.traffic);
}

#define DRAWS 20000

/* How often each destination comes up among DRAWS messages of source 1. */
static void histogram(struct fixture *w, uint32_t count[MOST])
{
	struct dl_emu_trace_message m;

	memset(count, 0, MOST * sizeof(*count));
	start(w);
	for (uint32_t i = 0; i < DRAWS; i++) {
		assert_true(dl_emu_traffic_next(w->traffic, 1, 0, &m));
		assert_int_equal(m.src, 1);
		count[m.dst]++;
	}
	dl_emu_traffic_free(w->traffic);
}

/* Within five standard deviations of a binomial's mean. */
static void expect_share(uint32_t count, double p)
{
	assert_true(fabs(count - DRAWS * p) < 5 * sqrt(DRAWS * p * (1 - p)));
}

static void test_random_destinations(void **state)
{
	static const uint32_t targets[] = { 4, 6 };
	struct dl_emu_traffic_entry *e;
	uint32_t count[MOST];
	struct fixture w;

	(void)state;
	fixture(&w, 11, DL_EMU_PATTERN_UNIFORM);
	histogram(&w, count);
	assert_int_equal(count[1], 0);
	for (uint32_t i = 0; i < 11; i++)
		if (i != 1)
			expect_share(count[i], 0.1);

	e = fixture(&w, 11, DL_EMU_PATTERN_HOTSPOT);
	e->targets = targets;
	e->ntargets = 2;
	e->fraction = 400000;
	histogram(&w, count);
	for (uint32_t i = 0; i < 11; i++)
		if (i == 4 || i == 6)
			expect_share(count[i], 0.26);
		else if (i != 1)
			expect_share(count[i], 0.06);

	e = fixture(&w, 11, DL_EMU_PATTERN_INCAST);
	e->targets = targets;
	e->ntargets = 2;
	histogram(&w, count);
	assert_int_equal(count[4], DRAWS / 2);
	assert_int_equal(count[6], DRAWS / 2);
}

/* An incast's only target has nobody to send to. */
static void test_incast_of_one(void **state)
{
	static const uint32_t target = 3;
	struct dl_emu_traffic_entry *e;
	uint32_t to[MOST];
	struct fixture w;

	(void)state;
	e = fixture(&w, 5, DL_EMU_PATTERN_INCAST);
	e->targets = &target;
	e->ntargets = 1;
	first(&w, to);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(to[i], i == 3 ? DL_EMU_NO_ADAPTER : 3);
}

/*
 * Half a load of 1 GB/s in messages of 1000 bytes on average: a gap of 2 us,
 * exponential, whose standard deviation is its mean.
 */
static void test_open_loop(void **state)
{
	static const struct dl_emu_size sizes[] = { { .bytes = 500, .weight = 3 },
						    { .bytes = 2500, .weight = 1 } };
	double sum = 0, squares = 0, bytes = 0;
	struct dl_emu_traffic_entry *e;
	struct dl_emu_trace_message m;
	uint64_t last = 0;
	struct fixture w;

	(void)state;
	e = fixture(&w, 4, DL_EMU_PATTERN_UNIFORM);
	e->window = 0;
	e->load = DL_EMU_LOAD_ONE / 2;
	e->sizes = sizes;
	e->nsizes = 2;
	start(&w);
	for (uint32_t i = 0; i < DRAWS; i++) {
		double gap;

		assert_true(dl_emu_traffic_next(w.traffic, 0, 0, &m));
		assert_true(m.at >= last);
		gap = (m.at - last) / 2e6;
		sum += gap;
		squares += gap * gap;
		bytes += m.bytes;
		last = m.at;
	}
	dl_emu_traffic_free(w.traffic);
	assert_true(fabs(sum / DRAWS - 1) < 5 / sqrt(DRAWS));
	assert_true(fabs(squares / DRAWS - 2) < 5 * sqrt(20) / sqrt(DRAWS));
	assert_true(fabs(bytes / DRAWS / 1000 - 1) < 5 / sqrt(DRAWS));
}

static void test_periodic_and_phases(void **state)
{
	struct dl_emu_traffic_entry *e;
	struct dl_emu_trace_message m;
	uint64_t at = 0, first_at = 0;
	uint32_t n = 0;
	struct fixture w;

	(void)state;
	e = fixture(&w, 4, DL_EMU_PATTERN_UNIFORM);
	e->window = 0;
	e->load = DL_EMU_LOAD_ONE / 4;
	e->periodic = true;
	e->start = 10000000;
	e->stop = 50000000;
	start(&w);
	while (dl_emu_traffic_next(w.traffic, 2, 0, &m)) {
		if (n++)
			assert_int_equal(m.at - at, 4000000);
		else
			first_at = m.at;
		at = m.at;
	}
	dl_emu_traffic_free(w.traffic);
	assert_int_equal(n, 10);
	assert_true(first_at >= 10000000 && first_at < 14000000);
	assert_true(at < 50000000);

	/* A closed loop begins no sooner, and ends as well. */
	e->window = 3;
	e->load = 0;
	start(&w);
	assert_int_equal(dl_emu_traffic_entry(w.traffic, 0)->window, 3);
	assert_true(dl_emu_traffic_next(w.traffic, 0, 5, &m));
	assert_int_equal(m.at, 10000000);
	assert_true(dl_emu_traffic_next(w.traffic, 0, 20000000, &m));
	assert_int_equal(m.at, 20000000);
	assert_false(dl_emu_traffic_next(w.traffic, 0, 50000000, &m));
	dl_emu_traffic_free(w.traffic);
}

/* A flow's messages depend on its entry and source alone. */
static void test_independent(void **state)
{
	static const uint32_t one = 6;
	struct dl_emu_trace_message a[100], b[100], skipped;
	struct dl_emu_traffic_entry *e;
	struct fixture w;

	(void)state;
	e = fixture(&w, 9, DL_EMU_PATTERN_UNIFORM);
	e->window = 0;
	e->load = DL_EMU_LOAD_ONE;
	start(&w);
	for (unsigned int i = 0; i < 100; i++) {
		for (uint32_t f = 0; f < 6; f++)
			dl_emu_traffic_next(w.traffic, f, 0, &skipped);
		assert_true(dl_emu_traffic_next(w.traffic, 6, 0, &a[i]));
	}
	dl_emu_traffic_free(w.traffic);
	e->sources = &one;
	e->nsources = 1;
	start(&w);
	assert_int_equal(dl_emu_traffic_flows(w.traffic), 1);
	for (unsigned int i = 0; i < 100; i++) {
		assert_true(dl_emu_traffic_next(w.traffic, 0, 0, &b[i]));
		assert_int_equal(a[i].at, b[i].at);
		assert_int_equal(a[i].src, b[i].src);
		assert_int_equal(a[i].dst, b[i].dst);
	}
	dl_emu_traffic_free(w.traffic);
	w.spec.seed++;
	start(&w);
	dl_emu_traffic_next(w.traffic, 0, 0, &b[0]);
	assert_true(b[0].at != a[0].at);
	dl_emu_traffic_free(w.traffic);
}

static void test_trace(void **state)
{
	static const struct dl_emu_trace_message trace[] = {
		{ .at = 9, .src = 0, .dst = 3, .bytes = 30 },
		{ .at = 5, .src = 2, .dst = 1, .bytes = 10, .level = 1 },
		{ .at = 7, .src = 2, .dst = 0, .bytes = 20 },
	};
	static const uint32_t flow[] = { 0, 1, 1 };
	struct dl_emu_traffic_entry *e;
	struct dl_emu_trace_message m;
	struct fixture w;

	(void)state;
	e = fixture(&w, 4, DL_EMU_PATTERN_TRACE);
	*e = (struct dl_emu_traffic_entry){
		.pattern = DL_EMU_PATTERN_TRACE, .trace = trace, .ntrace = 3, .stop = UINT64_MAX
	};
	start(&w);
	assert_int_equal(dl_emu_traffic_flows(w.traffic), 2);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(dl_emu_traffic_source(w.traffic, flow[i]), trace[i].src);
		assert_true(dl_emu_traffic_next(w.traffic, flow[i], 0, &m));
		assert_int_equal(m.at, trace[i].at);
		assert_int_equal(m.src, trace[i].src);
		assert_int_equal(m.dst, trace[i].dst);
		assert_int_equal(m.bytes, trace[i].bytes);
		assert_int_equal(m.level, trace[i].level);
	}
	assert_false(dl_emu_traffic_next(w.traffic, 0, 0, &m));
	assert_false(dl_emu_traffic_next(w.traffic, 1, 0, &m));
	dl_emu_traffic_free(w.traffic);
}

static void test_refused(void **state)
{
	struct fixture w;

	(void)state;
	fixture(&w, 8, DL_EMU_PATTERN_TORNADO);
	assert_int_equal(dl_emu_traffic_new(&w.spec, NULL, &w.traffic), -EINVAL);
	fixture(&w, 8, DL_EMU_PATTERN_HOTSPOT);
	assert_int_equal(dl_emu_traffic_new(&w.spec, NULL, &w.traffic), -EINVAL);
	fixture(&w, 1, DL_EMU_PATTERN_UNIFORM);
	assert_int_equal(dl_emu_traffic_new(&w.spec, NULL, &w.traffic), -EINVAL);
	fixture(&w, 8, DL_EMU_PATTERN_UNIFORM)->load = 1;
	assert_int_equal(dl_emu_traffic_new(&w.spec, NULL, &w.traffic), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_transpose),
		cmocka_unit_test(test_tornado_and_neighbour),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_all_to_all),
		cmocka_unit_test(test_random_destinations),
		cmocka_unit_test(test_incast_of_one),
		cmocka_unit_test(test_open_loop),
		cmocka_unit_test(test_periodic_and_phases),
		cmocka_unit_test(test_independent),
		cmocka_unit_test(test_trace),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
