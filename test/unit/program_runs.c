/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Runs of programs and scenarios; see program_runs.h. */
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

void program_text_begin(struct program_text *t, uint32_t ranks)
{
	t->to = open_memstream(&t->at, &t->size);
	assert_non_null(t->to);
	fprintf(t->to, "num_ranks %u\n", ranks);
}

int program_text_read(struct program_text *t, uint32_t most, struct dl_emu_program **out)
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
static bool look_at_books(void *context, struct dl_emu *e, uint64_t end)
{
	(void)context, (void)end;
	assert_int_equal(dl_emu_audit(e, e->log), 0);
	return false;
}

struct dl_emu_result run_program(struct emu_fixture *w, const char *yaml, bool own,
				 unsigned threads, struct dl_emu_program *p)
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
	assert_int_equal(dl_emu_scenario_run(s, NULL, look_at_books, NULL, &out), 0);
	dl_emu_scenario_free(s);
	return out;
}

struct dl_emu_result run_program_pair(struct emu_fixture *w, const char *text,
				      struct dl_emu_program **p)
{
	struct program_text t;

	emu_fixture_build(w, (uint32_t[]){ 1, 1, 1 }, false, 2, NULL);
	program_text_begin(&t, 2);
	fputs(text, t.to);
	assert_int_equal(program_text_read(&t, 2, p), 0);
	return run_program(w, "{seed: 1}", false, 1, *p);
}

struct dl_emu_result run_program_lines(const char *yaml, uint32_t ranks, const char *lines)
{
	struct dl_emu_program *p;
	struct dl_emu_result r;
	struct emu_fixture w;
	struct program_text t;

	emu_fixture_build(&w, (uint32_t[]){ 1, 1, 1 }, false, ranks, NULL);
	emu_fixture_link(&w, DL_FABRIC_QDR, 4);
	program_text_begin(&t, ranks);
	fputs(lines, t.to);
	assert_int_equal(program_text_read(&t, ranks, &p), 0);
	r = run_program(&w, yaml, false, 1, p);
	assert_int_equal(r.program.waiting, 0);
	dl_emu_program_free(p);
	emu_fixture_free(&w);
	return r;
}

double message_ns(double bytes)
{
	return EMPTY_NS + (bytes + DL_EMU_HEADERS * ceil(bytes / 2048)) * BYTE_NS;
}
