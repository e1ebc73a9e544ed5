/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a scenario of `dateline emulate`: refused with one message, or
 * read, with all values in range.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "emulate.h"
#include "fuzz.h"

static void count(void *context, enum dl_log_level level, const char *message)
{
	unsigned int *errors = context;

	/* Whatever is wrong has a line. */
	FUZZ_CHECK(level == DL_LOG_ERROR && !strncmp(message, "input:", 6));
	(*errors)++;
}

static void check_traffic(const struct emu_traffic *t)
{
	FUZZ_CHECK(t->line > 0 && t->level >= 0 && t->level <= 1);
	FUZZ_CHECK(t->pattern == DL_EMU_PATTERN_TRACE ||
		   !t->load != !t->window);
	FUZZ_CHECK(t->load >= 0 && t->load <= 10 * DL_EMU_LOAD_ONE);
	FUZZ_CHECK(t->stop_ns < 0 || t->stop_ns > t->start_ns);
	for (uint32_t i = 0; i < t->sizes.n; i++)
		FUZZ_CHECK(t->sizes.list[i].bytes && t->sizes.list[i].weight);
	for (uint32_t i = 0; i < t->sources.n; i++)
		FUZZ_CHECK(t->sources.list[i].text[0]);
	FUZZ_CHECK((t->pattern == DL_EMU_PATTERN_TRACE) == !!t->file);
}

static void check_fault(const struct emu_fault *f)
{
	FUZZ_CHECK(f->line > 0 && f->at_ns >= 0);
	FUZZ_CHECK((f->kind == EMU_FAULT_TABLES) == !!f->snapshot);
	FUZZ_CHECK((f->kind == EMU_FAULT_TABLES) == !f->node.text);
	FUZZ_CHECK(!f->times || (f->for_ns > 0 && f->for_ns < f->every_ns));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int errors = 0;
	struct dl_log log = { .write = count, .context = &errors };
	struct emu_scenario s;
	FILE *from;
	int err;

	if (!size)
		return 0;
	from = fmemopen((void *)data, size, "r");
	FUZZ_CHECK(from);
	err = emu_scenario_read_stream(from, "input", &log, &s);
	fclose(from);
	FUZZ_CHECK(err == 0 || err == -EINVAL);
	FUZZ_CHECK(errors == (err != 0));
	if (!err) {
		FUZZ_CHECK(s.ntraffic && s.warmup_ns < s.duration_ns);
		for (uint32_t i = 0; i < s.ntraffic; i++)
			check_traffic(&s.traffic[i]);
		for (uint32_t i = 0; i < s.nfaults; i++)
			check_fault(&s.faults[i]);
	}
	emu_scenario_free(&s);
	return 0;
}
