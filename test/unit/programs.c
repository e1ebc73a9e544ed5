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
#include "program_runs.h"

static uint64_t seed = 20261123;

/* ---- without congestion --------------------------------------------------- */

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
	r = run_program(w, "{seed: 1}", false, 1, p);
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
		struct program_text t;

		for (uint32_t i = 0; i < 40; i++) {
			step[i].rank = i ? (step[i - 1].rank + 1 + draw_below(&d, 7)) % 8 : 0;
			step[i].bytes = 1 + draw_below(&d, 9000);
			step[i].ns = draw_below(&d, 3000);
			expected += step[i].ns + (i < 39 ? 2 * 50 + message_ns(step[i].bytes) : 0);
		}
		program_text_begin(&t, 8);
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
		assert_int_equal(program_text_read(&t, 8, &p), 0);
		r = run_program(&w, "{message_ns: 50}", false, 1, p);
		assert_int_equal(r.program.waiting, 0);
		if (fabs(r.program.time / 1e3 - expected) > 100) /* flow-control packets */
			fail_msg("%f %f", r.program.time / 1e3, expected);
		dl_emu_result_free(&r);
		dl_emu_program_free(p);
	}
	emu_fixture_free(&w);
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
	r = run_program_pair(&w, text, &p);
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
	r = run_program_pair(&w, text, &p);
	assert_int_equal(r.program.time, 2000000);
	assert_int_equal(p->cpu_free[1], 300000);
	assert_int_equal(p->cpu_free[2], 1007000);
	assert_int_equal(p->cpu_free[3], 100000);
	assert_int_equal(r.program.messages, 0);
	dl_emu_result_free(&r);
	dl_emu_program_free(p);
	emu_fixture_free(&w);
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
		r = run_program_lines("{message_ns: 1000}", 3, text);
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
	static const char third[] =
		"rank 0 { send 100000b to 1 send 100000b to 1 send 100000b to 2 }\n"
		"rank 1 { recv 100000b from 0 recv 100000b from 0 }\n"
		"rank 2 { a: recv 100000b from 0 c: calc 100000 c requires a }\n";
	static const char at_once[] = "rank 0 { calc 1000 a: calc 0 b: calc 500 b requires a c: "
				      "calc 100 c irequires a }\n"
				      "rank 1 {\n}\nrank 2 {\n}\n";
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
		/* Turns of one message, of a program only. */
		{ "{seed: 1}", third, 2 * message_ns(100000) - 122 + 100000 },
		{ "{duration_ns: 400000, traffic: [{pattern: shift, by: 1, load: 1}]}", two,
		  message_ns(100000) + 100000 },
		{ "{seed: 1}", overlap, 90000 },
		{ "{eager_bytes: 39999}", overlap, message_ns(40000) - 122 + 90000 },
		{ "{eager_bytes: 0}", overlap, message_ns(40000) - 122 + 90000 },
		{ "{seed: 1}", begun, 80000 + 50000 },
		{ "{seed: 1}", at_once, 1600 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct dl_emu_result r = run_program_lines(cases[i].yaml, 3, cases[i].lines);

		if (fabs(r.program.time / 1e3 - cases[i].time) > 400)
			fail_msg("%zu: %f %f", i, r.program.time / 1e3, cases[i].time);
		dl_emu_result_free(&r);
	}
}

/* A message without data is one packet of headers; and what waits for it does. */
static void test_empty(void **state)
{
	static const char *const yaml[] = { "{seed: 1}", "{retries: {}}",
					    "{sl_table: [[0, 64], [1, 64]], sl_table_at: all}" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct dl_emu_result r = run_program_lines(
			yaml[i], 2,
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
		r = run_program_lines(yaml, 4, lines);
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
	r = run_program_pair(&w, text, &p);
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
	r = run_program(&w, "{seed: 1}", false, 1, p);
	assert_int_equal(p->ops[0].flow, p->ops[1].flow);
	assert_int_equal(r.program.messages, 4);
	dl_emu_result_free(&r);
	dl_emu_program_free(p);
	emu_fixture_free(&w);
}

/* ---- at random ------------------------------------------------------------ */

/* Messages between any ranks; each requires some of those before it in the drawing. */
static void draw_program(struct draw *d, uint32_t ranks, struct program_text *t)
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
	program_text_begin(t, ranks);
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
		struct program_text t;

		if (number % 3) {
			draw_program(&again, ranks, &t);
			assert_int_equal(program_text_read(&t, ranks, &p), 0);
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
		r = run_program(
			&w,
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
		r = run_program(&w, cases[i].yaml, false, 1, p);
		assert_true(r.offered >= cases[i].least && r.offered <= cases[i].most);
		assert_true(r.throughput <= r.offered);
		assert_int_equal(r.nwarnings, i);
		dl_emu_result_free(&r);
		dl_emu_program_free(p);
		emu_fixture_free(&w);
	}
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
		struct program_text t;

		program_text_begin(&t, 2);
		fputs(wrong[i], t.to);
		assert_int_equal(program_text_read(&t, 2, &p), -EINVAL);
	}
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		assert_int_equal(dl_emu_program_make(forms[i], 8, NULL, &p), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formulas),    cmocka_unit_test(test_chain),
		cmocka_unit_test(test_begun_order), cmocka_unit_test(test_begun),
		cmocka_unit_test(test_order),	    cmocka_unit_test(test_model_of_goal),
		cmocka_unit_test(test_empty),	    cmocka_unit_test(test_empty_turns),
		cmocka_unit_test(test_phases),	    cmocka_unit_test(test_two),
		cmocka_unit_test(test_random),	    cmocka_unit_test(test_measured),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
