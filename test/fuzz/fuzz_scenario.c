/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a scenario of `dateline emulate`: refused with one message, or
 * read, with all values in range.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "emu/scenario.h"
#include "fuzz.h"

static void count(void *context, enum dl_log_level level, const char *message)
{
	unsigned int *errors = context;

	/* Whatever is wrong has a line. */
	FUZZ_CHECK(level == DL_LOG_ERROR && !strncmp(message, "input:", 6));
	(*errors)++;
}

static void check_traffic(const struct dl_emu_scenario_traffic *t)
{
	const struct dl_emu_traffic_entry *e = &t->entry;

	FUZZ_CHECK(t->line > 0 && e->level <= 1);
	FUZZ_CHECK(e->pattern == DL_EMU_PATTERN_TRACE || !e->load != !e->window);
	FUZZ_CHECK(e->load <= 10 * DL_EMU_LOAD_ONE);
	FUZZ_CHECK(e->fraction <= DL_EMU_LOAD_ONE);
	FUZZ_CHECK(e->stop > e->start);
	for (uint32_t i = 0; i < e->nsizes; i++)
		FUZZ_CHECK(e->sizes[i].bytes && e->sizes[i].weight);
	for (uint32_t i = 0; i < t->sources.n; i++)
		FUZZ_CHECK(t->sources.list[i].text[0]);
	FUZZ_CHECK((e->pattern == DL_EMU_PATTERN_TRACE) == !!t->file);
}

static void check_fault(const struct dl_emu_scenario_fault *f)
{
	FUZZ_CHECK(f->line > 0 && f->at <= UINT64_C(1000000000000000));
	FUZZ_CHECK((f->kind == DL_EMU_SCENARIO_TABLES) == !!f->snapshot);
	FUZZ_CHECK((f->kind == DL_EMU_SCENARIO_TABLES) == !f->node.text);
	FUZZ_CHECK(!f->times || (f->length > 0 && f->length < f->every));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int errors = 0;
	struct dl_log log = { .write = count, .context = &errors };
	struct dl_emu_scenario *s = NULL;
	FILE *from;
	int err;

	if (!size)
		return 0;
	from = fmemopen((void *)data, size, "r");
	FUZZ_CHECK(from);
	err = dl_emu_scenario_read_stream(from, "input", &log, &s);
	fclose(from);
	FUZZ_CHECK(err == 0 || err == -EINVAL);
	FUZZ_CHECK(errors == (err != 0));
	if (!err) {
		FUZZ_CHECK(s->ntraffic && s->warmup < s->duration);
		FUZZ_CHECK(s->config.buffer > 0);
		for (uint32_t i = 0; i < s->ntraffic; i++)
			check_traffic(&s->traffic[i]);
		for (uint32_t i = 0; i < s->nfaults; i++)
			check_fault(&s->faults[i]);
	}
	dl_emu_scenario_free(s);
	return 0;
}
