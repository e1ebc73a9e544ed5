/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Programs and connections where links fail, packets are lost, or acknowledgements are late. */
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

static const struct {
	const char *yaml, *program;
	uint32_t ranks; /* that wait */
} endings[] = {
	/* With an SL table, what lacks credit is no packet yet. */
	{ "{sl_table: even, buffer_blocks: 34, faults: [{at_ns: 0, fault: lose_fcp,"
	  " node: S_0_0_0, port: 3, share: 0.5}]}",
	  "allreduce-ring:64K", 0 },
	{ "{sl_table: even, faults: [{at_ns: 0, fault: link_down, node: H_0_0_0_1,"
	  " port: 1, for_ns: 50000}]}",
	  "pipeline:64K:2", 0 },
	{ "{sl_table: even, faults: [{at_ns: 0, fault: damage, node: S_0_0_0, port: 3,"
	  " for_ns: 1}, {at_ns: 0, fault: link_down, node: H_0_0_0_1, port: 1}]}",
	  "allreduce-ring:64K", 8 },
	/* Flow control goes on for ever, and is always on a long cable. */
	{ "{cable_m: 1000, faults: [{at_ns: 0, fault: damage, node: S_1_0_0, port: 1,"
	  " for_ns: 30000}, {at_ns: 1000, fault: link_down, node: S_0_0_0, port: 1,"
	  " for_ns: 2000}]}",
	  "allreduce-ring:64K", 8 },
	/* A port whose link is down keeps what it has to report. */
	{ "{retries: {timeout_ns: 2000}, qp_change_ns: 500, faults: [{at_ns: 2100,"
	  " fault: link_down, node: H_1_0_0_1, port: 1}]}",
	  "allreduce-ring:64K", 8 },
	/* Acknowledgements tell nothing of management packets. */
	{ "{duration_ns: 50000, retries: {}, traffic: [{pattern: shift, by: 3, window: 7,"
	  " management: true}, {pattern: uniform, load: 0.3}]}",
	  "allreduce-ring:64K", 0 },
};

/*
 * A link that stays down breaks the connections of its own adapter, too, after as many
 * time-outs as there may be; one that comes up in time loses nothing.
 */
static void test_cut_off(void **state)
{
	static const char *const rest[] = { "", ", sl_table: even", ", qp_change_ns: 300" };

	(void)state;
	for (unsigned int i = 0; i < 6; i++) {
		struct dl_emu_result r;
		struct emu_fixture w;
		char yaml[400];

		snprintf(yaml, sizeof(yaml),
			 "{retries: {timeout_ns: 20000, count: 2}, duration_ns: 10000, traffic:"
			 " [{pattern: shift, by: 1, load: 1, bytes: 4000, sources: [0]}], faults:"
			 " [{at_ns: 5000, fault: link_down, node: H_0_0_0_1, port: 1%s}]%s}",
			 i % 2 ? ", for_ns: 35000" : "", rest[i / 2]);
		emu_fixture_build(&w, (uint32_t[]){ 4, 1, 1 }, false, 2, NULL);
		emu_fixture_link(&w, DL_FABRIC_EDR, 4);
		r = run_program(&w, yaml, false, 1 + i % 2, NULL);
		assert_int_equal(r.state, DL_EMU_DONE);
		assert_int_equal(dl_emu_totals(r.emu)->broken, !(i % 2));
		assert_int_equal(dl_emu_totals(r.emu)->lost_messages > 0, !(i % 2));
		assert_int_equal(dl_emu_totals(r.emu)->timeouts, i % 2 ? 2 : 3);
		assert_true(dl_emu_totals(r.emu)->drops[DL_EMU_DROP_DEAD_LINK] > 4);
		assert_true(dl_emu_port(r.emu, w.adapter[0])->xmit_discards + 2 >
			    dl_emu_totals(r.emu)->drops[DL_EMU_DROP_DEAD_LINK]);
		if (!(i % 2))
			assert_in_range(dl_emu_now(r.emu), 60000000, 70000000);
		dl_emu_result_free(&r);
		emu_fixture_free(&w);
	}
}

/*
 * The timer waits for an acknowledgement that was asked for: queue pairs that share a port
 * take longer for their 64 packets than it lasts.
 */
static void test_shared_port(void **state)
{
	struct dl_emu_result r = run_program_lines(
		"{retries: {timeout_ns: 30000}}", 5,
		"rank 0 { send 262144b to 1 send 262144b to 2 send 262144b to 3 send "
		"262144b to 4 }\n"
		"rank 1 { recv 262144b from 0 } rank 2 { recv 262144b from 0 }\n"
		"rank 3 { recv 262144b from 0 } rank 4 { recv 262144b from 0 }\n");

	(void)state;
	assert_int_equal(dl_emu_totals(r.emu)->timeouts, 0);
	assert_int_equal(dl_emu_totals(r.emu)->acks, 8);
	assert_in_range(r.program.time, 4 * 64 * 2 * 512 * 1000u, UINT32_MAX);
	dl_emu_result_free(&r);
}

/* A queue pair whose connection has broken stops in the middle of a message. */
static void test_error_state(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct dl_emu_result r;
		struct emu_fixture w;

		emu_fixture_build(&w, (uint32_t[]){ 4, 1, 1 }, false, 2, NULL);
		emu_fixture_link(&w, DL_FABRIC_EDR, 4);
		r = run_program(
			&w,
			"{retries: {timeout_ns: 20000, count: 0}, traffic: [{pattern: shift, by: 1,"
			" window: 1, count: 1, bytes: 4000000, sources: [0]}], faults: [{at_ns: "
			"5000,"
			" fault: link_down, node: H_0_0_0_2, port: 1, for_ns: 100000}]}",
			false, 1 + i, NULL);
		assert_int_equal(r.state, DL_EMU_DONE);
		assert_int_equal(dl_emu_totals(r.emu)->broken, 1);
		assert_int_equal(dl_emu_totals(r.emu)->lost_messages, 1);
		/* 64 packets take 11 us; of 1954 only those until the time-out are made. */
		assert_in_range(dl_emu_totals(r.emu)->injected, 64, 300);
		dl_emu_result_free(&r);
		emu_fixture_free(&w);
	}
}

/* While the adapter of rank 1 sends, one acknowledgement waits, for all five messages. */
static void test_acks(void **state)
{
	struct dl_emu_result r = run_program_lines(
		"{retries: {}}", 3,
		"rank 0 { c: calc 100 s0: send 1b to 1 s1: send 1b to 1 s2: send 1b to 1\n"
		"s3: send 1b to 1 s4: send 1b to 1\n"
		"s0 requires c s1 requires c s2 requires c s3 requires c s4 requires c }\n"
		"rank 1 { send 8192b to 2 recv 1b from 0 recv 1b from 0 recv 1b from 0\n"
		"recv 1b from 0 recv 1b from 0 }\n"
		"rank 2 { recv 8192b from 1 }\n");

	(void)state;
	assert_int_equal(dl_emu_totals(r.emu)->acks, 2);
	dl_emu_result_free(&r);
}

/* The time-out is a little too short: what has come meanwhile is not sent again. */
static void test_late_ack(void **state)
{
	struct dl_emu_result r =
		run_program_lines("{retries: {timeout_ns: 600}}", 2,
				  "rank 0 { send 40960b to 1 } rank 1 { recv 40960b from 0 }\n");

	(void)state;
	assert_int_equal(dl_emu_totals(r.emu)->timeouts, 1);
	assert_int_equal(dl_emu_totals(r.emu)->drops[DL_EMU_DROP_SEQUENCE], 2);
	dl_emu_result_free(&r);
}

/* A run ends with its last event, and not before; the same with two threads. */
static void test_ends(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		uint64_t sum[2];

		for (unsigned int k = 0; k < 2; k++) {
			struct dl_emu_program *p;
			struct dl_emu_result r;
			struct emu_fixture w;

			emu_fixture_build(&w, (uint32_t[]){ 4, 1, 1 }, false, 2, NULL);
			emu_fixture_link(&w, DL_FABRIC_EDR, 4);
			assert_int_equal(dl_emu_program_make(endings[i].program, 8, NULL, &p), 0);
			r = run_program(&w, endings[i].yaml, false, 1 + k, p);
			if (r.program.waiting != endings[i].ranks ||
			    dl_emu_now(r.emu) > UINT64_C(10000000000))
				fail_msg("%s: %u ranks wait at %.0f ns", endings[i].yaml,
					 r.program.waiting, dl_emu_now(r.emu) / 1e3);
			sum[k] = dl_emu_totals(r.emu)->latency_sum;
			dl_emu_result_free(&r);
			dl_emu_program_free(p);
			emu_fixture_free(&w);
		}
		assert_int_equal(sum[0], sum[1]);
	}
}

/* Without a packet the program does not end, but the run does. */
static void test_lost(void **state)
{
	struct dl_emu_program *p;
	struct dl_emu_result r;
	struct emu_fixture w;

	(void)state;
	emu_fixture_build(&w, (uint32_t[]){ 2, 1, 1 }, false, 2, NULL);
	assert_int_equal(dl_emu_program_make("allreduce-ring:64K", 4, NULL, &p), 0);
	r = run_program(&w, "{faults: [{at_ns: 1000, fault: link_down, node: H_0_0_0_1, port: 1}]}",
			false, 1, p);
	assert_true(r.program.waiting > 0 && dl_emu_result_finding(&r));
	dl_emu_result_free(&r);
	dl_emu_program_free(p);
	emu_fixture_free(&w);
}

/*
 * A port whose flow control is lost for good: the run ends, soon, and says where and
 * who waits.  While one packet of flow control in a hundred comes through, all is sent.
 */
static void test_silent(void **state)
{
	static const struct {
		const char *yaml;
		enum dl_emu_wait_kind kind;
		uint32_t ranks; /* that wait */
	} cases[] = {
		{ "{faults: [{at_ns: 1000, fault: lose_fcp, node: H_0_0_0_1, port: 1, share: 1}]}",
		  DL_EMU_WAIT_FLOW_CONTROL, 4 },
		{ "{faults: [{at_ns: 1000, fault: corrupt_fcp, node: S_0_0_0, port: 3, share: 1}]}",
		  DL_EMU_WAIT_FLOW_CONTROL, 4 },
		{ "{faults: [{at_ns: 500, fault: lose_fcp, node: H_0_0_0_1, port: 1, share: 0.5},"
		  " {at_ns: 1000, fault: stop_draining, node: H_0_0_0_1}]}",
		  DL_EMU_WAIT_ADAPTER, 4 },
		{ "{retries: {count: 2}, faults: [{at_ns: 1000, fault: lose_fcp, node: H_0_0_0_1,"
		  " port: 1, share: 1}]}",
		  DL_EMU_WAIT_FLOW_CONTROL, 4 },
		{ "{faults: [{at_ns: 1000, fault: lose_fcp, node: H_0_0_0_1, port: 1,"
		  " share: 0.99}]}",
		  DL_EMU_WAIT_NOTHING, 0 },
		{ "{faults: [{at_ns: 1000, fault: lose_fcp, node: H_0_0_0_1, port: 1,"
		  " for_ns: 5000000}]}",
		  DL_EMU_WAIT_NOTHING, 0 },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		struct dl_emu_program_wait who[4];
		struct dl_emu_program *p;
		struct dl_emu_wait wait[9];
		struct dl_emu_result r;
		struct emu_fixture w;
		bool ends = !cases[i / 2].ranks;

		emu_fixture_build(&w, (uint32_t[]){ 2, 1, 1 }, false, 2, NULL);
		assert_int_equal(dl_emu_program_make("allreduce-ring:256K", 4, NULL, &p), 0);
		r = run_program(&w, cases[i / 2].yaml, false, 1 + i % 2, p);
		assert_int_equal(r.state, ends ? DL_EMU_DONE : DL_EMU_STUCK);
		assert_int_equal(r.program.waiting, cases[i / 2].ranks);
		assert_int_equal(dl_emu_result_finding(&r), !ends);
		assert_int_equal(dl_emu_program_waits(p, who, 4), cases[i / 2].ranks);
		assert_int_equal(dl_emu_waits(r.emu, wait, 9), !ends);
		if (!ends)
			assert_int_equal(wait[0].kind, cases[i / 2].kind);
		assert_true(ends || dl_emu_now(r.emu) < UINT64_C(2000000000000));
		dl_emu_result_free(&r);
		dl_emu_program_free(p);
		emu_fixture_free(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_off),	    cmocka_unit_test(test_shared_port),
		cmocka_unit_test(test_error_state), cmocka_unit_test(test_acks),
		cmocka_unit_test(test_late_ack),    cmocka_unit_test(test_ends),
		cmocka_unit_test(test_lost),	    cmocka_unit_test(test_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
