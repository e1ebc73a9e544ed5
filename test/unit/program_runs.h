/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Runs of programs and scenarios, for the tests of what the emulator answers applications. */
#ifndef DL_TEST_PROGRAM_RUNS_H
#define DL_TEST_PROGRAM_RUNS_H

#include <stdio.h>

#include "emu/program.h"
#include "emu/scenario.h"
#include "emu_fixture.h"

/* One switch, links of 4 bytes a nanosecond, cables of 10 ns, the switch 100 ns. */
#define BYTE_NS 0.25
#define EMPTY_NS (10 + 8 * BYTE_NS + 100 + 10)

/* A program's file while it is written. */
struct program_text {
	char *at;
	size_t size;
	FILE *to;
};

void program_text_begin(struct program_text *t, uint32_t ranks);

/* Frees the text.  0 or a negative errno. */
int program_text_read(struct program_text *t, uint32_t most, struct dl_emu_program **out);

/*
 * A scenario of one line, and of the fixture's own configuration if `own`; with a program or
 * NULL.  The books are checked every so often.  The caller releases the result.
 */
struct dl_emu_result run_program(struct emu_fixture *w, const char *yaml, bool own,
				 unsigned int threads, struct dl_emu_program *p);

/* A program of two ranks beside one switch; the caller frees all three. */
struct dl_emu_result run_program_pair(struct emu_fixture *w, const char *text,
				      struct dl_emu_program **p);

/* A program of few lines on one switch, links of 4 bytes a nanosecond. */
struct dl_emu_result run_program_lines(const char *yaml, uint32_t ranks, const char *lines);

/* What a message of so many bytes takes there, alone. */
double message_ns(double bytes);

#endif
