/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Programs of messages: against formulas, against a walk by hand, and at random. */
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

#include "draw.h"
#include "emu/program.h"
#include "emu/scenario.h"
#include "emu_fixture.h"

static uint64_t seed = 20261123;

/* A program's file while it is written. */
struct text {
	char *at;
	size_t size;
	FILE *to;
};

static void text_begin(struct text *t, uint32_t ranks)
{
	t->to = open_memstream(&t->at, &t->size);
	assert_non_null(t->to);
	fprintf(t->to, "num_ranks %u\n", ranks);
}

static int text_read(struct text *t, uint32_t most, struct dl_emu_program **out)
{
	FILE *from;
	int err;

	fclose(t->to);
	from = fmemopen(t->at, t->size, "r");
	assert_non_null(from);
	err = dl_emu_program_read(from, "program", most, NULL, out);
	fclose(from);
	free(t->at);
	return err;
}

/* The books are checked every so often. */
static bool look(void *context, struct dl_emu *e, uint64_t end)
{
	(void)context, (void)end;
	assert_int_equal(dl_emu_audit(e, e->log), 0);
	return false;
}

/* A scenario of one line, and of the fixture's own configuration if `own`. */
static struct dl_emu_result run(struct emu_fixture *w, const char *yaml, bool own, unsigned threads,
				struct dl_emu_program *p)
{
	struct dl_emu_scenario_options o = { .program = true };
	FILE *from = fmemopen((char *)yaml, strlen(yaml), "r");
	struct dl_emu_scenario *s;
	struct dl_emu_result out;

	assert_int_equal(dl_emu_scenario_read_stream(from, "test", w->t, &o, NULL, &s), 0);
	fclose(from);
	if (own)
		s->config = w->c;
	s->config.threads = threads;
	if (p)
		assert_int_equal(dl_emu_scenario_set_program(s, p, w->adapter), 0);
	assert_int_equal(dl_emu_scenario_run(s, NULL, look, NULL, &out), 0);
	dl_emu_scenario_free(s);
	return out;
}

/* ---- without congestion --------------------------------------------------- */

/* One switch, links of 4 bytes a nanosecond, cables of 10 ns, the switch 100 ns. */
#define BYTE_NS 0.25
#define EMPTY_NS (10 + 8 * BYTE_NS + 100 + 10)

static double message_ns(double bytes)
{
	return EMPTY_NS + (bytes + DL_EMU_HEADERS * ceil(bytes / 2048)) * BYTE_NS;
}

/* All that a program does, it does in a phase. */
static void check_phases(const struct dl_emu_program *p, const struct dl_emu_program_result *all)
{
	uint64_t start = UINT64_MAX, end = 0, messages = 0, bytes = 0;
	const struct dl_emu_program_phase *phase;
	uint32_t n = dl_emu_program_phases(p, &phase);

	for (uint32_t i = 0; i < n; i++, phase++) {
		start = phase->start < start ? phase->start : start;
		end = phase->end > end ? phase->end : end;
		messages += phase->messages;
		bytes += phase->bytes;
		assert_true(phase->start == UINT64_MAX ? !phase->messages && !phase->end :
							 phase->start <= phase->end);
	}
	assert_int_equal(start, 0);
	assert_int_equal(end, all->time);
	assert_int_equal(messages, all->messages);
	assert_int_equal(bytes, all->bytes);
}

/* The i-th phase that a program has had, against its name and times in ns. */
static void check_phase(const struct dl_emu_program *p, uint32_t i, const char *name, double start,
			double end)
{
	const struct dl_emu_program_phase *phase;
	uint32_t n = dl_emu_program_phases(p, &phase);

	while (n && (phase->start == UINT64_MAX || i)) {
		i -= phase->start != UINT64_MAX;
		phase++;
		n--;
	}
	assert_true(n > 0);
	assert_string_equal(phase->name, name);
	if (fabs(phase->start / 1e3 - start) > 0.01 * end ||
	    fabs(phase->end / 1e3 - end) > 0.01 * end)
		fail_msg("%s: %.1f to %.1f ns, expected %.1f to %.1f", name, phase->start / 1e3,
			 phase->end / 1e3, start, end);
}

/* Phases of the formulas, one after the other; of the pipeline, one beside the other. */
static void check_time_of_phases(const struct dl_emu_program *p, uint32_t n, double part)
{
	double whole = message_ns(1 << 18);
	double steps = 31 - __builtin_clz(n);
	const char *kind = p->kind->name;
	char name[32];

	if (!strcmp(kind, "allreduce-ring")) {
		check_phase(p, 0, "reduce-scatter", 0, (n - 1) * part);
		check_phase(p, 1, "all-gather", (n - 1) * part, 2 * (n - 1) * part);
	} else if (!strcmp(kind, "allreduce-tree")) {
		check_phase(p, 0, "reduce", 0, steps * whole);
		check_phase(p, 1, "broadcast", steps * whole, 2 * steps * whole);
	}
	for (uint32_t i = 0; !strcmp(kind, "allreduce-doubling") && i < steps; i++) {
		snprintf(name, sizeof(name), "exchange %u", i + 1);
		check_phase(p, i, name, i * whole, (i + 1) * whole);
	}
	for (uint32_t i = 0; !strcmp(kind, "alltoall") && i < n - 1; i++) {
		snprintf(name, sizeof(name), "step %u", i + 1);
		check_phase(p, i, name, i * part, (i + 1) * part);
	}
	for (uint32_t i = 0; !strcmp(kind, "pipeline") && i < n - 1; i++) {
		snprintf(name, sizeof(name), "stage %u", i + 1);
		check_phase(p, i, name, i * whole, (i + 1) * whole + 4 * (whole - EMPTY_NS));
	}
	if (!strcmp(kind, "halo"))
		check_phase(p, 0, "x", 0, 2 * whole - EMPTY_NS);
}

static void check_time(struct emu_fixture *w, const char *name, uint32_t n, double expected)
{
	uint32_t bytes = (1 << 18) / n;
	struct dl_emu_program *p;
	struct dl_emu_result r;

	assert_int_equal(dl_emu_program_make(name, n, NULL, &p), 0);
	r = run(w, "{seed: 1}", false, 1, p);
	assert_int_equal(r.program.waiting, 0);
	check_phases(p, &r.program);
	if (!strchr(name, 'x'))
		check_time_of_phases(p, n, message_ns(bytes));
	if (fabs(r.program.time / 1e3 - expected) > 0.01 * expected)
		fail_msg("%s of %u ranks: %.1f ns, expected %.1f", name, n, r.program.time / 1e3,
			 expected);
	dl_emu_result_free(&r);
	dl_emu_program_free(p);
}

static void test_formulas(void **state)
{
	static const uint32_t sizes[] = { 2, 3, 4, 8, 12, 16 };
	struct emu_fixture w;

	(void)state;
	emu_fixture_build(&w, (uint32_t[]){ 1, 1, 1 }, false, 16, NULL);
	emu_fixture_link(&w, DL_FABRIC_QDR, 4);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		uint32_t n = sizes[i], bytes = (1 << 18) / n;
		double whole = message_ns(1 << 18), part = message_ns(bytes);
		double steps = 31 - __builtin_clz(n);
		char halo[32];

		check_time(&w, "allreduce-ring:256K", n, 2 * (n - 1) * part);
		check_time(&w, "allgather:256K", n, (n - 1) * part);
		check_time(&w, "alltoall:256K", n, (n - 1) * part);
		/* (Others begin with messages to where some come from all the same.) */
		if (!(n & (n - 1))) {
			check_time(&w, "allreduce-doubling:256K", n, steps * whole);
			check_time(&w, "allreduce-tree:256K", n, 2 * steps * whole);
		}
		check_time(&w, "pipeline:256K:5", n, (n - 1) * whole + 4 * (whole - EMPTY_NS));
		snprintf(halo, sizeof(halo), "halo:256K:%u", n);
		check_time(&w, halo, n, whole + (whole - EMPTY_NS));
	}
	check_time(&w, "halo:256K:4x2x2", 16, EMPTY_NS + 6 * (message_ns(1 << 18) - EMPTY_NS));
	emu_fixture_free(&w);
}

/* ---- one thing after the other -------------------------------------------- */

/* A token that wanders, with calculations: all times add up. */
static void test_chain(void **state)
{
	struct emu_fixture w;

	(void)state;
	emu_fixture_build(&w, (uint32_t[]){ 1, 1, 1 }, false, 8, NULL);
	emu_fixture_link(&w, DL_FABRIC_QDR, 4);
	for (uint32_t round = 0; round < 20; round++) {
		struct draw d = { .seed = seed + round };
		struct {
			uint32_t rank, bytes, ns;
		} step[40];
		struct dl_emu_program *p;
		struct dl_emu_result r;
		double expected = 0;
		struct text t;

		for (uint32_t i = 0; i < 40; i++) {
			step[i].rank = i ? (step[i - 1].rank + 1 + draw_below(&d, 7)) % 8 : 0;
			step[i].bytes = 1 + draw_below(&d, 9000);
			step[i].ns = draw_below(&d, 3000);
			expected += step[i].ns + (i < 39 ? 2 * 50 + message_ns(step[i].bytes) : 0);
		}
		text_begin(&t, 8);
		for (uint32_t rank = 0; rank < 8; rank++) {
			fprintf(t.to, "rank %u {\n", rank);
			for (uint32_t i = 0; i < 40; i++) {
				if (step[i].rank != rank)
					continue;
				fprintf(t.to, "c%u: calc %u\n", i, step[i].ns);
				if (i)
					fprintf(t.to,
						"r%u: recv %ub from %u tag %u\nc%u requires r%u\n",
						i, step[i - 1].bytes, step[i - 1].rank, i, i, i);
				if (i < 39)
					fprintf(t.to,
						"s%u: send %ub to %u tag %u\ns%u requires c%u\n", i,
						step[i].bytes, step[i + 1].rank, i + 1, i, i);
			}
			fprintf(t.to, "}\n");
		}
		assert_int_equal(text_read(&t, 8, &p), 0);
		r = run(&w, "{message_ns: 50}", false, 1, p);
		assert_int_equal(r.program.waiting, 0);
		if (fabs(r.program.time / 1e3 - expected) > 100) /* flow-control packets */
			fail_msg("%f %f", r.program.time / 1e3, expected);
		dl_emu_result_free(&r);
		dl_emu_program_free(p);
	}
	emu_fixture_free(&w);
}

/* A program of two ranks beside one switch; the caller frees all three. */
static struct dl_emu_result run_pair(struct emu_fixture *w, const char *text,
				     struct dl_emu_program **p)
{
	struct text t;

	emu_fixture_build(w, (uint32_t[]){ 1, 1, 1 }, false, 2, NULL);
	text_begin(&t, 2);
	fputs(text, t.to);
	assert_int_equal(text_read(&t, 2, p), 0);
	return run(w, "{seed: 1}", false, 1, *p);
}

/* What begins because another one has begun keeps its place in the file. */
static void test_begun_order(void **state)
{
	static const char text[] = "rank 0 { a: calc 0 cpu 1 b: calc 1000 cpu 0 c: calc 500 cpu 0\n"
				   "c irequires a d: calc 100 cpu 2 d requires b }\nrank 1 {\n}\n";
	struct emu_fixture w;
	struct dl_emu_program *p;
	struct dl_emu_result r;

	(void)state;
	r = run_pair(&w, text, &p);
	assert_int_equal(r.program.time, 1500000); /* c before b: 1600000 */
	dl_emu_result_free(&r);
	dl_emu_program_free(p);
	emu_fixture_free(&w);
}

/* What begins with another one, and what waits for the CPU. */
static void test_begun(void **state)
{
	static const char text[] =
		"rank 0 { a: calc 1000 cpu 0 b: calc 1000 cpu 0 c: calc 300 cpu 1\n"
		"later requires a later: calc 7 cpu 2 d: calc 100 cpu 3 d irequires a }\n"
		"/* comments */ rank 1 { // and more\n}\n";
	struct emu_fixture w;
	struct dl_emu_program *p;
	struct dl_emu_result r;

	(void)state;
	r = run_pair(&w, text, &p);
	assert_int_equal(r.program.time, 2000000);
	assert_int_equal(p->cpu_free[1], 300000);
	assert_int_equal(p->cpu_free[2], 1007000);
	assert_int_equal(p->cpu_free[3], 100000);
	assert_int_equal(r.program.messages, 0);
	dl_emu_result_free(&r);
	dl_emu_program_free(p);
	emu_fixture_free(&w);
}

/* A program of few lines on one switch, links of 4 bytes a nanosecond. */
static struct dl_emu_result run_lines(const char *yaml, uint32_t ranks, const char *lines)
{
	struct dl_emu_program *p;
	struct dl_emu_result r;
	struct emu_fixture w;
	struct text t;

	emu_fixture_build(&w, (uint32_t[]){ 1, 1, 1 }, false, ranks, NULL);
	emu_fixture_link(&w, DL_FABRIC_QDR, 4);
	text_begin(&t, ranks);
	fputs(lines, t.to);
	assert_int_equal(text_read(&t, ranks, &p), 0);
	r = run(&w, yaml, false, 1, p);
	assert_int_equal(r.program.waiting, 0);
	dl_emu_program_free(p);
	emu_fixture_free(&w);
	return r;
}

/* What may begin at the same time does so in the order of the file, whatever that of the lines. */
static void test_order(void **state)
{
	static const char *const lines[] = { "a requires c b requires c",
					     "b requires c a requires c" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct dl_emu_result r;
		char text[300];

		snprintf(text, sizeof(text),
			 "rank 0 { c: calc 10 a: send 8b to 1 b: send 8b to 2 %s }\n"
			 "rank 1 { a: recv 8b from 0 c: calc 5000 c requires a }\n"
			 "rank 2 { recv 8b from 0 }\n",
			 lines[i]);
		r = run_lines("{message_ns: 1000}", 3, text);
		assert_int_equal(r.program.time / 1000,
				 (uint64_t)(10 + 1000 + message_ns(8) + 1000 + 5000));
		dl_emu_result_free(&r);
	}
}

/*
 * As for LogGOPSim, messages leave one after the other, short sends are done when they begin
 * to leave, and a send or calculation has begun when its turn has come.
 */
static void test_model_of_goal(void **state)
{
	static const char two[] = "rank 0 { send 100000b to 1 send 100000b to 2 }\n"
				  "rank 1 { a: recv 100000b from 0 c: calc 100000 c requires a }\n"
				  "rank 2 { recv 100000b from 0 }\n";
	static const char overlap[] = "rank 0 { a: send 40000b to 1 c: calc 90000 c requires a }\n"
				      "rank 1 { recv 40000b from 0 }\nrank 2 {\n}\n";
	static const char begun[] =
		"rank 0 { send 60000b to 1 a: send 60000b to 2 c: calc 90000 c irequires a\n"
		"b: calc 80000 cpu 1 d: calc 100 cpu 1 e: calc 50000 cpu 2 e irequires d }\n"
		"rank 1 { recv 60000b from 0 } rank 2 { recv 60000b from 0 }\n";
	const struct {
		const char *yaml, *lines;
		double time;
	} cases[] = {
		{ "{seed: 1}", two, message_ns(100000) + 100000 },
		{ "{tenure_bytes: 0}", two, 2 * message_ns(100000) - 123 - 600 + 100000 },
		{ "{retries: {}}", two, 2 * message_ns(100000) - 123 - 600 + 100000 },
		{ "{seed: 1}", overlap, 90000 },
		{ "{eager_bytes: 39999}", overlap, message_ns(40000) - 122 + 90000 },
		{ "{eager_bytes: 0}", overlap, message_ns(40000) - 122 + 90000 },
		{ "{seed: 1}", begun, 80000 + 50000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct dl_emu_result r = run_lines(cases[i].yaml, 3, cases[i].lines);

		if (fabs(r.program.time / 1e3 - cases[i].time) > 400)
			fail_msg("%zu: %f %f", i, r.program.time / 1e3, cases[i].time);
		dl_emu_result_free(&r);
	}
}

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
		r = run(&w, yaml, false, 1 + i % 2, NULL);
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
	struct dl_emu_result r =
		run_lines("{retries: {timeout_ns: 30000}}", 5,
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
		r = run(&w,
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
	struct dl_emu_result r = run_lines(
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
		run_lines("{retries: {timeout_ns: 600}}", 2,
			  "rank 0 { send 40960b to 1 } rank 1 { recv 40960b from 0 }\n");

	(void)state;
	assert_int_equal(dl_emu_totals(r.emu)->timeouts, 1);
	assert_int_equal(dl_emu_totals(r.emu)->drops[DL_EMU_DROP_SEQUENCE], 2);
	dl_emu_result_free(&r);
}

/* A message without data is one packet of headers; and what waits for it does. */
static void test_empty(void **state)
{
	static const char *const yaml[] = { "{seed: 1}", "{retries: {}}",
					    "{sl_table: [[0, 64], [1, 64]], sl_table_at: all}" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct dl_emu_result r =
			run_lines(yaml[i], 2,
				  "rank 0 { c: calc 100 s: send 0b to 1 s requires c }\n"
				  "rank 1 { r: recv 0b from 0 c: calc 1000 c requires r }\n");

		assert_int_equal(r.program.bytes, 0);
		assert_int_equal(r.program.messages, 1);
		assert_int_equal(dl_emu_totals(r.emu)->injected - dl_emu_totals(r.emu)->acks, 1);
		assert_int_equal(dl_emu_totals(r.emu)->delivered_bytes, 0);
		assert_int_equal(r.program.time,
				 (uint64_t)(1000 * (100 + EMPTY_NS + 26 * BYTE_NS + 1000)));
		dl_emu_result_free(&r);
	}
}

/* In an SL table, messages without data use an entry up all the same; two senders fill a switch. */
static void test_empty_turns(void **state)
{
	(void)state;
	for (uint32_t senders = 1; senders <= 2; senders++) {
		uint32_t n = 60 * senders;
		char lines[6000] = "", yaml[300];
		struct dl_emu_result r;

		snprintf(yaml, sizeof(yaml),
			 "{sl_table: [[0, 4], [1, 4]], sl_table_at: %s, tenure_bytes: 2,"
			 " duration_ns: 300, traffic: [{pattern: shift, by: %u, sl: 1, bytes: 1,"
			 " sources: [%u], start_ns: 250, window: 1, count: 1}]}",
			 senders == 1 ? "adapters" : "switches", senders == 1 ? 2 : 3,
			 senders == 1 ? 0 : 3);
		for (uint32_t i = 0; i < n; i++)
			dl_text_append(lines, sizeof(lines), "%s send 0b to 2%s",
				       i % 60 ? "" :
				       i      ? "rank 1 {" :
						"rank 0 {",
				       i % 60 < 59 ? "" : "}\n");
		for (uint32_t i = 0; i < n; i++)
			dl_text_append(lines, sizeof(lines), "%s recv 0b from %u%s",
				       i ? "" : "rank 2 {", i / 60, i + 1 < n ? "" : "}\n");
		r = run_lines(yaml, 4, lines);
		assert_int_equal(dl_emu_level(r.emu, 0)->sl[1].packets, 1);
		assert_true(dl_emu_level(r.emu, 0)->sl[1].latency_max <
			    1000 * (EMPTY_NS + 10 * 27 * BYTE_NS));
		dl_emu_result_free(&r);
	}
}

/* Comments name phases, which end with the braces; receives alone do not begin one. */
static void test_phases(void **state)
{
	static const char text[] = "// phase: lost, outside\n"
				   "rank 0 { calc 100 cpu 1 // phase: there\n"
				   "s: send 0b to 1 /* phase:  and back */ recv 0b from 1 }\n"
				   "rank 1 { // phase: there and so on\n/* phase: there */\n"
				   "r: recv 0b from 0 // phase: and back\n"
				   "s: send 0b to 0 s requires r\n"
				   "x: calc 7 x requires r }\n";
	struct emu_fixture w;
	struct dl_emu_program *p;
	struct dl_emu_result r;

	(void)state;
	r = run_pair(&w, text, &p);
	check_phases(p, &r.program);
	check_phase(p, 0, "main", 0, 100);
	assert_int_equal(p->phases[0].start, 0);
	assert_int_equal(p->phases[0].end, 100000);
	check_phase(p, 1, "there", 0, r.program.time / 2e3);
	check_phase(p, 2, "and back", r.program.time / 2e3, r.program.time / 1e3);
	assert_int_equal(p->nphases, 5);
	dl_emu_result_free(&r);
	dl_emu_program_free(p);
	emu_fixture_free(&w);
}

/* On a ring of two, both neighbours are one rank, and have one queue pair. */
static void test_two(void **state)
{
	struct dl_emu_program *p;
	struct dl_emu_result r;
	struct emu_fixture w;

	(void)state;
	emu_fixture_build(&w, (uint32_t[]){ 1, 1, 1 }, false, 2, NULL);
	assert_int_equal(dl_emu_program_make("halo:9K:2", 2, NULL, &p), 0);
	r = run(&w, "{seed: 1}", false, 1, p);
	assert_int_equal(p->ops[0].flow, p->ops[1].flow);
	assert_int_equal(r.program.messages, 4);
	dl_emu_result_free(&r);
	dl_emu_program_free(p);
	emu_fixture_free(&w);
}

/* ---- at random ------------------------------------------------------------ */

/* Messages between any ranks; each requires some of those before it in the drawing. */
static void draw_program(struct draw *d, uint32_t ranks, struct text *t)
{
	uint32_t n = 5 + draw_below(d, 60), last[64] = { 0 };
	struct {
		uint32_t from, to, bytes, tag, requires[2];
		bool begun;
	} m[65];

	for (uint32_t i = 1; i <= n; i++) {
		m[i].from = draw_below(d, ranks);
		m[i].to = (m[i].from + 1 + draw_below(d, ranks - 1)) % ranks;
		m[i].bytes = draw_one_in(d, 5) ? 0 : draw_below(d, draw_one_in(d, 3) ? 20000 : 600);
		m[i].tag = draw_below(d, 3);
		m[i].begun = draw_one_in(d, 5);
		m[i].requires[0] = last[m[i].from];
		m[i].requires[1] = last[m[i].to];
		if (draw_one_in(d, 2))
			last[m[i].from] = i;
		if (draw_one_in(d, 2))
			last[m[i].to] = i;
	}
	text_begin(t, ranks);
	for (uint32_t rank = 0; rank < ranks; rank++) {
		fprintf(t->to, "rank %u {\n", rank);
		for (uint32_t i = 1; i <= n; i++)
			for (unsigned int end = 0; end < 2; end++) {
				if ((end ? m[i].to : m[i].from) != rank)
					continue;
				if (!(i % 4))
					fprintf(t->to, "// phase: %u\n", i / 16);
				fprintf(t->to, "m%u: %s %ub %s %u tag %u cpu %u\n", i,
					end ? "recv" : "send", m[i].bytes, end ? "from" : "to",
					end ? m[i].from : m[i].to, m[i].tag, i % 2);
				if (m[i].requires[end])
					fprintf(t->to, "m%u %s m%u\n", i,
						m[i].begun ? "irequires" : "requires",
						m[i].requires[end]);
			}
		fprintf(t->to, "}\n");
	}
}

static void check_world(uint32_t number)
{
	struct draw d = { .seed = seed + 1000 + number };
	const struct dl_emu_program_phase *phase;
	struct dl_emu_program_phase *phases = NULL;
	uint64_t time = 0, hops = 0;
	struct emu_fixture w;
	uint32_t ranks, nphases;

	emu_fixture_draw(&d, &w);
	ranks = 2 + draw_below(&d, w.nadapters < 20 ? w.nadapters - 1 : 19);
	for (unsigned int threads = 1; threads <= 2; threads++) {
		struct draw again = d;
		struct dl_emu_program *p;
		struct dl_emu_result r;
		struct text t;

		if (number % 3) {
			draw_program(&again, ranks, &t);
			assert_int_equal(text_read(&t, ranks, &p), 0);
		} else {
			static const char *const known[] = {
				"allreduce-ring:5000",	   "allreduce-tree:7000",
				"allreduce-doubling:3000", "allgather:1",
				"alltoall:30000",	   "pipeline:5000:3"
			};

			assert_int_equal(dl_emu_program_make(known[draw_below(&again, 6)], ranks,
							     NULL, &p),
					 0);
		}
		r = run(&w,
			draw_one_in(&again, 3) ?
				"{traffic: [{pattern: uniform, load: 0.3}], duration_ns: 20000}" :
				"{seed: 1}",
			true, threads, p);
		assert_int_equal(r.program.waiting, 0);
		assert_int_equal(r.state, DL_EMU_DONE);
		check_phases(p, &r.program);
		nphases = dl_emu_program_phases(p, &phase);
		if (threads > 1) {
			assert_memory_equal(phase, phases, nphases * sizeof(*phase));
			test_free(phases);
			assert_int_equal(r.program.time, time);
			assert_int_equal(dl_emu_totals(r.emu)->packet_hops, hops);
		} else {
			phases = test_malloc(nphases * sizeof(*phase));
			memcpy(phases, phase, nphases * sizeof(*phase));
		}
		time = r.program.time;
		hops = dl_emu_totals(r.emu)->packet_hops;
		dl_emu_result_free(&r);
		dl_emu_program_free(p);
	}
	emu_fixture_free(&w);
}

static void test_random(void **state)
{
	const char *given = getenv("DATELINE_WORLDS");

	(void)state;
	for (uint32_t i = 0; i < (given ? strtoul(given, NULL, 0) : 250); i++)
		check_world(i);
}

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
			r = run(&w, endings[i].yaml, false, 1 + k, p);
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

/* Throughput is that of the time of the traffic after the warm-up, if there is any. */
static void test_measured(void **state)
{
	static const struct {
		const char *yaml;
		double least, most; /* offered */
	} cases[] = {
		{ "{duration_ns: 1000, traffic: [{pattern: uniform, load: 0.3}]}", 0.5, 2 },
		{ "{warmup_ns: 200000}", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct dl_emu_program *p;
		struct dl_emu_result r;
		struct emu_fixture w;

		emu_fixture_build(&w, (uint32_t[]){ 4, 1, 1 }, false, 2, NULL);
		emu_fixture_link(&w, DL_FABRIC_EDR, 4);
		assert_int_equal(dl_emu_program_make("allreduce-ring:64K", 8, NULL, &p), 0);
		r = run(&w, cases[i].yaml, false, 1, p);
		assert_true(r.offered >= cases[i].least && r.offered <= cases[i].most);
		assert_true(r.throughput <= r.offered);
		assert_int_equal(r.nwarnings, i);
		dl_emu_result_free(&r);
		dl_emu_program_free(p);
		emu_fixture_free(&w);
	}
}

/* ---- congestion control ----------------------------------------------------- */

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
		struct dl_emu_result r = run(&w, yaml[i], false, 1, NULL);

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
		r = run(&w, yaml, false, 1, NULL);
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
		a = run(&w, yaml, false, 1, NULL);
		snprintf(yaml, sizeof(yaml), same[i].keys ? "{%s, congestion: %s}" : "{%s}", rest,
			 same[i].keys);
		b = run(&w, yaml, false, 1, NULL);
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

/* ---- what is wrong --------------------------------------------------------- */

static void test_refused(void **state)
{
	static const char *const wrong[] = {
		"rank 0 { send 8b to 1 }",
		"rank 0 { recv 8b from 1 }",
		"rank 0 { send 8b to 1 tag 1 } rank 1 { recv 8b from 0 tag 2 }",
		"rank 0 { send 8b to 1 } rank 1 { recv 7b from 0 }",
		"rank 0 { send 8b to 0 }",
		"rank 0 { send 8b to 2 }",
		"rank 2 { }",
		"rank 0 { a: calc 1 a: calc 2 }",
		"rank 0 { a: calc 1 a requires b }",
		"rank 0 { calc 1",
		"rank 0 { calc 1 cpu 64 }",
		"rank 0 { a requires a }",
		"rank 0 { a: calc 1 a requires a }",
		"rank 0 { a: calc 1 b: calc 1 c: calc 1 a requires c b requires a c irequires b }",
		"rank 0 { calc 1 } rank 0 { calc 1 }",
		"rank 0 { } rank 0 { }",
		"rank 0 { recv 8b from -1 }",
		"rank 0 { recv 8b from 1 tag -1 } rank 1 { send 8b to 0 }",
		"rank 0 { /* phase: */ calc 1 }",
		"/* phase: 0123456789012345678901234567890123456789012345678901234567890123 */",
		"rank 0 { calc -1 }",
		"rank 0 { a: }",
		"rank 0 { send 2000000000b to 1 }",
		"rank 0 { jump 3 }",
		"x",
	};
	static const char *const forms[] = {
		"allreduce-ring", "allreduce-ring:",   "allgather:0", "halo:1K",
		"halo:1K:3",	  "halo:1K:2x2x2x2",   "pipeline:1K", "pipeline:1K:0",
		"alltoall:1K:2",  "allreduce-tree:2G", "other:1K",    "allgather:1Q"
	};
	struct dl_emu_program *p;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct text t;

		text_begin(&t, 2);
		fputs(wrong[i], t.to);
		assert_int_equal(text_read(&t, 2, &p), -EINVAL);
	}
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		assert_int_equal(dl_emu_program_make(forms[i], 8, NULL, &p), -EINVAL);
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
	r = run(&w, "{faults: [{at_ns: 1000, fault: link_down, node: H_0_0_0_1, port: 1}]}", false,
		1, p);
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
		r = run(&w, cases[i / 2].yaml, false, 1 + i % 2, p);
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
		cmocka_unit_test(test_formulas),      cmocka_unit_test(test_chain),
		cmocka_unit_test(test_begun),	      cmocka_unit_test(test_begun_order),
		cmocka_unit_test(test_random),	      cmocka_unit_test(test_order),
		cmocka_unit_test(test_shared_port),   cmocka_unit_test(test_error_state),
		cmocka_unit_test(test_acks),	      cmocka_unit_test(test_late_ack),
		cmocka_unit_test(test_two),	      cmocka_unit_test(test_refused),
		cmocka_unit_test(test_lost),	      cmocka_unit_test(test_hot_spot),
		cmocka_unit_test(test_silent),	      cmocka_unit_test(test_opensm_conf),
		cmocka_unit_test(test_ends),	      cmocka_unit_test(test_measured),
		cmocka_unit_test(test_empty),	      cmocka_unit_test(test_phases),
		cmocka_unit_test(test_empty_turns),   cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_model_of_goal), cmocka_unit_test(test_victim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
