/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Where a latency-throughput curve saturates. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "dateline/emu.h"

/* Points at loads of 0.1, 0.2, ...: shares that arrive, and mean latencies. */
static double saturation(unsigned int n, const double *share, const double *latency)
{
	struct dl_emu_point points[8];

	memset(points, 0, sizeof(points));
	for (unsigned int i = 0; i < n; i++) {
		points[i].done = true;
		points[i].load = (i + 1) * 100000;
		points[i].offered = 0.1 * (i + 1);
		points[i].throughput = share[i] * points[i].offered;
		points[i].latency.mean = latency[i];
	}
	return dl_emu_saturation(points, n);
}

static void test_never(void **state)
{
	(void)state;
	assert_true(saturation(3, (double[]){ 1, 1.01, 0.96 }, (double[]){ 100, 150, 299 }) < 0);
	assert_true(saturation(0, NULL, NULL) < 0);
}

static void test_throughput(void **state)
{
	(void)state;
	/* From 1.00 to 0.90: half way. */
	assert_float_equal(saturation(3, (double[]){ 1, 1, 0.9 }, (double[]){ 100, 100, 100 }),
			   0.25, 1e-9);
	assert_float_equal(saturation(2, (double[]){ 0.9, 0.8 }, (double[]){ 100, 100 }), 0.1,
			   1e-9);
}

static void test_latency(void **state)
{
	(void)state;
	/* From 200 to 600, and 300 is a quarter of the way. */
	assert_float_equal(saturation(3, (double[]){ 1, 1, 1 }, (double[]){ 100, 200, 600 }), 0.225,
			   1e-9);
	/* The earlier of both counts. */
	assert_float_equal(saturation(3, (double[]){ 1, 1, 0.9 }, (double[]){ 100, 200, 600 }),
			   0.225, 1e-9);
	assert_float_equal(saturation(3, (double[]){ 1, 1, 0.5 }, (double[]){ 100, 200, 600 }),
			   0.21, 1e-9);
}

static void test_deadlock(void **state)
{
	struct dl_emu_point points[2];

	(void)state;
	memset(points, 0, sizeof(points));
	points[0] = (struct dl_emu_point){ .done = true,
					   .load = 100000,
					   .offered = 0.1,
					   .throughput = 0.1,
					   .latency = { .mean = 5 } };
	points[1] = points[0];
	points[1].load = 200000;
	points[1].deadlock = true;
	assert_float_equal(dl_emu_saturation(points, 2), 0.2, 1e-9);
	/* What was interrupted is no point. */
	points[1].done = false;
	assert_true(dl_emu_saturation(points, 2) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_never),
		cmocka_unit_test(test_throughput),
		cmocka_unit_test(test_latency),
		cmocka_unit_test(test_deadlock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
