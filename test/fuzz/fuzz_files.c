/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a small file; the first one tells which:
 *
 *   d  a snapshot in one file (.dls)
 *   m  a manifest
 *   c  counters of ibqueryerrors or perfquery
 *   n  a node name map
 *   l  a list of coordinates
 *   t  a trace
 *   a  a scenario of arbitrate
 *   p  a program in GOAL
 */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dateline/emu.h"
#include "dateline/live.h"
#include "dateline/tables.h"
#include "dateline/torus.h"
#include "emu/program.h"
#include "listen.h"
#include "tables/internal.h"
#include "tools/arbitrate/arbitrate.h"

static int read_snapshot(struct dl_fabric *f, FILE *from, const char *path)
{
	struct dl_snapshot s = { 0 };
	int err;

	(void)f;
	(void)path;
	err = dl_snapshot_unpack(from, "input", &listener, &s);
	dl_snapshot_release(&s);
	return err;
}

static int read_manifest(struct dl_fabric *f, FILE *from, const char *path)
{
	struct dl_snapshot_manifest m = { .n = 0 };
	char text[4096];
	size_t len = fread(text, 1, sizeof(text), from);
	int err = dl_snapshot_read_about(text, len, "input", &listener, &m);

	(void)f;
	(void)path;
	FUZZ_CHECK(err || m.n <= 64);
	free(m.files);
	return err;
}

static int read_counters(struct dl_fabric *f, FILE *from, const char *path)
{
	struct dl_live_counters c;
	int err = dl_live_counters_read(path, f, &listener, &c);

	(void)from;
	FUZZ_CHECK(err || c.nknown);
	dl_live_counters_release(&c);
	return err;
}

static int read_names(struct dl_fabric *f, FILE *from, const char *path)
{
	(void)from;
	return dl_fabric_read_node_names(f, path, &listener);
}

static int read_list(struct dl_fabric *f, FILE *from, const char *path)
{
	struct dl_torus_grid grid;
	uint32_t *site = NULL;
	int err = dl_torus_read_list(f, from, "input", &listener, &grid, &site);

	(void)path;
	for (uint32_t s = 0; !err && s < f->nswitches; s++)
		FUZZ_CHECK(site[s] == DL_NONE || site[s] < dl_torus_grid_sites(&grid));
	free(site);
	return err;
}

static int read_trace(struct dl_fabric *f, FILE *from, const char *path)
{
	char text[128];
	int len = snprintf(text, sizeof(text), "traffic: [{pattern: trace, file: %s}]", path);
	FILE *scenario = fmemopen(text, len, "r");
	struct dl_emu_scenario *s = NULL;
	struct dl_tables *t;
	int err;

	(void)from;
	FUZZ_CHECK(scenario && !dl_tables_new(f, &t));
	err = dl_emu_scenario_read_stream(scenario, "input", t, NULL, &listener, &s);
	fclose(scenario);
	dl_emu_scenario_free(s);
	dl_tables_free(t);
	return err;
}

static int read_arbitrate(struct dl_fabric *f, FILE *from, const char *path)
{
	struct arbitrate_scenario a;
	int err = arbitrate_scenario_read(path, &listener, &a);

	(void)f;
	(void)from;
	arbitrate_scenario_free(&a);
	return err;
}

static int read_program(struct dl_fabric *f, FILE *from, const char *path)
{
	struct dl_emu_program *p = NULL;
	int err = dl_emu_program_read(from, path, 64, &listener, &p);

	(void)f;
	for (uint32_t i = 0; !err && i < p->nops; i++) {
		FUZZ_CHECK(p->ops[i].rank < p->nranks && p->ops[i].cpu < p->ncpus);
		FUZZ_CHECK(p->ops[i].kind == DL_EMU_OP_CALC ||
			   (p->ops[i].peer < p->nranks && p->ops[i].flow < p->nflows));
		FUZZ_CHECK(p->ops[i].kind != DL_EMU_OP_SEND ||
			   p->ops[p->ops[i].number].rank == p->ops[i].peer);
		for (uint32_t k = p->ops[i].edges; k < p->ops[i + 1].edges; k++)
			FUZZ_CHECK(p->edges[k].to < p->nops &&
				   p->ops[p->edges[k].to].rank == p->ops[i].rank);
	}
	dl_emu_program_free(p);
	return err;
}

static const struct {
	char letter;
	int (*read)(struct dl_fabric *f, FILE *from, const char *path);
} readers[] = {
	{ 'd', read_snapshot },	 { 'm', read_manifest }, { 'c', read_counters },
	{ 'n', read_names },	 { 'l', read_list },	 { 't', read_trace },
	{ 'a', read_arbitrate }, { 'p', read_program },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("input", MFD_CLOEXEC);
	struct dl_fabric *f = fuzz_pair(3, (const char *[]){ "h0", "h1" });
	char path[32];
	FILE *from;

	FUZZ_CHECK(fd >= 0);
	if (size > 1)
		FUZZ_CHECK(write(fd, data + 1, size - 1) == (ssize_t)size - 1);
	FUZZ_CHECK(!lseek(fd, 0, SEEK_SET));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	from = fdopen(fd, "r");
	FUZZ_CHECK(from);
	for (size_t i = 0; size && i < sizeof(readers) / sizeof(*readers); i++) {
		int err;

		if (readers[i].letter != *data)
			continue;
		error = false;
		err = readers[i].read(f, from, path);
		FUZZ_CHECK(!err || err == -EINVAL);
		FUZZ_CHECK(error == !!err);
	}
	fclose(from);
	dl_fabric_free(f);
	return 0;
}
