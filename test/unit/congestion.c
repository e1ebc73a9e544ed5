/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Congestion control: who is slowed down, and the settings of OpenSM. */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "program_runs.h"

/* Nobody is slowed down but those that send to the hot spot. */
static void test_hot_spot(void **state)
{
	static const char *const yaml[] = {
		"{duration_ns: 2000000, warmup_ns: 1000000, traffic: [{pattern: hotspot,"
		" targets: [0], fraction: 0.2, load: 0.2}], queues: fifo}",
		"{duration_ns: 2000000, warmup_ns: 1000000, traffic: [{pattern: hotspot,"
		" targets: [0], fraction: 0.2, load: 0.2}], congestion: {}}",
	};
	double throughput[2];
	struct emu_fixture w;

	(void)state;
	emu_fixture_build(&w, (uint32_t[]){ 8, 8, 1 }, false, 1, NULL);
	emu_fixture_link(&w, DL_FABRIC_EDR, 4);
	for (unsigned int i = 0; i < 2; i++) {
		struct dl_emu_result r = run_program(&w, yaml[i], false, 1, NULL);

		throughput[i] = r.throughput;
		assert_int_equal(dl_emu_totals(r.emu)->marked > 1000, i);
		dl_emu_result_free(&r);
	}
	assert_true(throughput[1] > 2.3 * throughput[0] && throughput[1] > 0.18);
	emu_fixture_free(&w);
}

/*
 * Two switches, A and B, with four adapters each.  One at B is the target of two at
 * A and of two others at B; the third one at A sends to the fourth at B, across the cable that
 * the first two need.  Its rate is no more that of those behind which it waits, the target's
 * link stays busy, and of those near the target none starves the other.
 */
static void test_victim(void **state)
{
	static const char traffic[] =
		"duration_ns: 4000000, warmup_ns: 2000000, pairs: true, traffic:"
		" [{pattern: incast, targets: [4], sources: [0, 1, 6, 7], load: 1},"
		" {pattern: incast, targets: [5], sources: [2], load: 1}]";
	static const char *const queues[] = { "fifo", "voq" };
	struct emu_fixture w;

	(void)state;
	emu_fixture_build(&w, (uint32_t[]){ 2, 1, 1 }, true, 4, NULL);
	emu_fixture_link(&w, DL_FABRIC_QDR, 4);
	for (unsigned int i = 0; i < 4; i++) {
		double share[8] = { 0 }, hot = 0;
		struct dl_emu_result r;
		char yaml[400];

		snprintf(yaml, sizeof(yaml), "{queues: %s, %s%s}", queues[i / 2], traffic,
			 i % 2 ? ", congestion: {}" : "");
		r = run_program(&w, yaml, false, 1, NULL);
		for (uint32_t a = 0; a < 8; a++) {
			const struct dl_emu_delivered *d =
				dl_emu_pair(r.emu, w.adapter[a], w.adapter[a == 2 ? 5 : 4]);

			share[a] = d ? d->bytes / (2e6 * 4) : 0; /* of 2 ms at 4 bytes a ns */
			hot += a == 2 ? 0 : share[a];
		}
		if (i % 2 ? share[2] < 0.35 || hot < 0.85 || share[6] > 2 * share[7] ||
				    share[7] > 2 * share[6] :
			    share[2] > 0.2 || hot < 0.95)
			fail_msg("%u: %f %f %f %f", i, share[2], hot, share[6], share[7]);
		dl_emu_result_free(&r);
	}
	emu_fixture_free(&w);
}

/* OpenSM's options file says the same as keys do; or that there is no congestion control. */
static void test_opensm_conf(void **state)
{
	static const char options[] =
		"congestion_control %s\n# a comment\n\nlmc 0\n"
		"cc_sw_cong_setting_victim_mask 0x0000\ncc_sw_cong_setting_threshold 0x0E\n"
		"cc_sw_cong_setting_marking_rate 3\ncc_ca_cong_setting_ccti_timer 0 150\n"
		"cc_ca_cong_setting_ccti_timer 1 150\ncc_ca_cong_setting_ccti_increase 0 2\n"
		"cc_cct %s\n";
	static const char *const rest = "duration_ns: 200000, traffic: [{pattern: hotspot,"
					" targets: [0], fraction: 0.5, load: 0.4}]";
	static const struct {
		const char *enabled, *table, *keys;
	} same[] = {
		{ "TRUE", "0:0,0:1, 1:5,0:3",
		  "{threshold: 14, marking_rate: 3, timer_ns: 153600, increase: 2, limit: 3,"
		  " table: [0, 1, 2.5, 3]}" },
		{ "TRUE", "(null)",
		  "{threshold: 14, marking_rate: 3, timer_ns: 153600, increase: 2}" },
		{ "FALSE", "0:0", NULL },
	};
	char path[] = "/tmp/dateline-test-XXXXXX";
	struct emu_fixture w;

	(void)state;
	assert_true(close(mkstemp(path)) == 0);
	emu_fixture_build(&w, (uint32_t[]){ 4, 4, 1 }, false, 1, NULL);
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++) {
		struct dl_emu_result a, b;
		char yaml[400];
		FILE *to = fopen(path, "w");

		assert_non_null(to);
		fprintf(to, options, same[i].enabled, same[i].table);
		fclose(to);
		snprintf(yaml, sizeof(yaml), "{%s, congestion: {opensm_conf: %s}}", rest, path);
		a = run_program(&w, yaml, false, 1, NULL);
		snprintf(yaml, sizeof(yaml), same[i].keys ? "{%s, congestion: %s}" : "{%s}", rest,
			 same[i].keys);
		b = run_program(&w, yaml, false, 1, NULL);
		assert_int_equal(dl_emu_totals(a.emu)->marked > 0, same[i].keys != NULL);
		assert_int_equal(dl_emu_totals(a.emu)->marked, dl_emu_totals(b.emu)->marked);
		assert_int_equal(dl_emu_totals(a.emu)->latency_sum,
				 dl_emu_totals(b.emu)->latency_sum);
		dl_emu_result_free(&a);
		dl_emu_result_free(&b);
	}
	emu_fixture_free(&w);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hot_spot),
		cmocka_unit_test(test_victim),
		cmocka_unit_test(test_opensm_conf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
