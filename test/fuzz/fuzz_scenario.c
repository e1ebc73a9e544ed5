/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a scenario of `dateline emulate` on a fabric of two switches and
 * eight adapters: refused with one message, or read, with all values in range.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "dateline/tables.h"
#include "emu/scenario.h"
#include "fuzz.h"

#define ADAPTERS 8

static void count(void *context, enum dl_log_level level, const char *message)
{
	unsigned int *errors = context;

	/* Whatever is wrong has a line, of the scenario or of a file that it names. */
	FUZZ_CHECK(level == DL_LOG_ERROR);
	FUZZ_CHECK(!strncmp(message, "input:", 6) || strchr(message, ':'));
	(*errors)++;
}

static struct dl_fabric *new_fabric(void)
{
	static const char *const switches[] = { "S_0_0_0", "S_1_0_0" };
	static const char *const adapters[ADAPTERS] = { "H_0_0_0_1", "H_0_0_0_2", "H_0_0_0_3",
							"H_0_0_0_4", "H_1_0_0_1", "H_1_0_0_2",
							"H_1_0_0_3", "H_1_0_0_4" };
	struct dl_fabric *f;
	uint32_t node;

	FUZZ_CHECK(!dl_fabric_new(&f));
	for (unsigned int i = 0; i < 2; i++)
		FUZZ_CHECK(
			!dl_fabric_add_node(f, DL_FABRIC_SWITCH, 8, 0xA0 + i, switches[i], NULL));
	FUZZ_CHECK(!dl_fabric_connect(f, f->nodes[0].first_port + 3, f->nodes[1].first_port + 3));
	for (unsigned int i = 0; i < ADAPTERS; i++) {
		FUZZ_CHECK(!dl_fabric_add_node(f, DL_FABRIC_CA, 1, 0x10 + i, adapters[i], &node));
		FUZZ_CHECK(!dl_fabric_connect(f, f->nodes[i / 4].first_port + 4 + i % 4,
					      f->nodes[node].first_port + 1));
	}
	FUZZ_CHECK(!dl_fabric_finish(f, NULL) && !dl_fabric_assign_lids(f, 0));
	return f;
}

static int read_tables(void *context, const char *path, struct dl_snapshot *out)
{
	FUZZ_CHECK(*path);
	return dl_tables_new(context, &out->tables);
}

static void check_entry(const struct dl_emu_traffic_entry *e)
{
	FUZZ_CHECK(e->level <= 1);
	FUZZ_CHECK(e->pattern == DL_EMU_PATTERN_TRACE || !e->load != !e->window);
	FUZZ_CHECK(e->load <= 1000 * DL_EMU_LOAD_ONE);
	FUZZ_CHECK(e->fraction <= DL_EMU_LOAD_ONE);
	FUZZ_CHECK(e->stop > e->start);
	for (uint32_t i = 0; i < e->nsizes; i++)
		FUZZ_CHECK(e->sizes[i].bytes && e->sizes[i].weight);
	for (uint32_t i = 0; i < e->nsources; i++)
		FUZZ_CHECK(e->sources[i] < ADAPTERS);
	for (uint32_t i = 0; i < e->ntargets; i++)
		FUZZ_CHECK(e->targets[i] < ADAPTERS);
	FUZZ_CHECK((e->pattern == DL_EMU_PATTERN_TRACE) == !!e->trace);
}

static void check_action(const struct dl_emu_scenario *s, const struct dl_emu_action *a)
{
	const struct dl_fabric *f = s->tables->fabric;

	FUZZ_CHECK(a->at <= UINT64_C(20002) * 1000000000000000);
	FUZZ_CHECK(a->tables || a->fault.port < f->nports);
	FUZZ_CHECK(a->tables || f->ports[a->fault.port].peer != DL_NONE);
	FUZZ_CHECK(!a->rewrite || (a->tables && a->rewrite->in_flight && a->rewrite->smp));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int errors = 0;
	struct dl_log log = { .write = count, .context = &errors };
	struct dl_fabric *f = new_fabric();
	struct dl_emu_scenario_options options = { .read_tables = read_tables, .context = f };
	struct dl_emu_scenario *s = NULL;
	struct dl_tables *t;
	FILE *from = size ? fmemopen((void *)data, size, "r") : NULL;
	int err = 0;

	FUZZ_CHECK(!dl_tables_new(f, &t));
	if (from) {
		err = dl_emu_scenario_read_stream(from, "input", t, &options, &log, &s);
		fclose(from);
	}
	FUZZ_CHECK(err <= 0 && err != -ENOMEM);
	FUZZ_CHECK(errors == (err != 0));
	if (s) {
		FUZZ_CHECK(s->traffic.nentries && s->warmup < s->duration);
		FUZZ_CHECK(s->traffic.nadapters == ADAPTERS && s->config.buffer > 0);
		for (uint32_t i = 0; i < s->traffic.nentries; i++)
			check_entry(&s->entries[i]);
		for (uint32_t i = 0; i < s->nactions; i++) {
			FUZZ_CHECK(!i || s->actions[i - 1].at <= s->actions[i].at);
			check_action(s, &s->actions[i]);
		}
	}
	dl_emu_scenario_free(s);
	dl_tables_free(t);
	dl_fabric_free(f);
	return 0;
}
