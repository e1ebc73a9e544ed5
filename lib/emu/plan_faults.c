/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The faults of a plan: what they name, and when they happen. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "emu/scenario.h"

static int find_port(struct dl_emu_plan *p, const struct dl_emu_scenario_fault *f, uint32_t *out)
{
	const struct dl_fabric *fabric = p->fabric;
	uint32_t node = dl_emu_plan_node(p, f->node.text), port;
	bool draining = f->kind == DL_EMU_SCENARIO_STOP_DRAINING;
	const char *expected = NULL;

	if (node == DL_NONE) {
		expected = "a node of the fabric: its name or GUID";
	} else if (draining && !f->port) {
		if (!dl_emu_plan_adapter(p, f->node.text, &port))
			*out = p->port[port];
		else
			expected = "an adapter with a cable and a LID";
	} else {
		*out = fabric->nodes[node].first_port + f->port;
		if (f->port > fabric->nodes[node].nports || fabric->ports[*out].peer == DL_NONE)
			return dl_emu_scenario_error(p->scenario, p->log, f->line,
						     "port %u of %.60s: expected a port with a "
						     "cable",
						     f->port, f->node.text);
		if (draining && p->adapter[*out] == DL_EMU_NO_ADAPTER)
			expected = "an adapter";
	}
	if (!expected)
		return 0;
	return dl_emu_scenario_error(p->scenario, p->log, f->node.line, "%.60s: expected %s",
				     f->node.text, expected);
}

static int read_tables(struct dl_emu_plan *p, const struct dl_emu_plan_options *o, const char *dir,
		       struct dl_snapshot *out)
{
	int err = o && o->read_tables ? o->read_tables(o->context, dir, out) :
					dl_snapshot_read(dir, NULL, NULL, p->log, out);
	if (!err && p->scenario->force_vl >= 0)
		dl_emu_plan_force_vl(p, out->tables->rows, out->tables->nrows);
	return err;
}

/*
 * The tables of a fault with a snapshot; those of an earlier fault, if it is the
 * same file or directory, however it is named.
 */
static int find_tables(struct dl_emu_plan *p, const struct dl_emu_plan_options *o, uint32_t i,
		       const struct dl_tables **out)
{
	const struct dl_emu_scenario_fault *faults = p->scenario->faults;
	char *path = dl_emu_plan_path(p, faults[i].snapshot);
	struct dl_emu_later *later = &p->later[i];
	struct stat st;
	int err;

	if (!path)
		return -ENOMEM;
	if (!stat(path, &st)) {
		later->device = st.st_dev;
		later->file = st.st_ino;
	}
	for (uint32_t k = 0; k < i && later->file; k++) {
		if (p->later[k].file != later->file || p->later[k].device != later->device)
			continue;
		later->file = 0;
		*out = p->later[k].snapshot.tables;
		return 0;
	}
	err = read_tables(p, o, path, &later->snapshot);
	*out = later->snapshot.tables;
	return err;
}

static int by_time(const void *left, const void *right)
{
	const struct dl_emu_action *a = left, *b = right;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static const struct {
	enum dl_emu_fault_kind begin, end;
} kinds[] = { [DL_EMU_SCENARIO_LINK_DOWN] = { DL_EMU_LINK_DOWN, DL_EMU_LINK_UP },
	      [DL_EMU_SCENARIO_LOSE_FCP] = { DL_EMU_FCP_LOSS, DL_EMU_FCP_LOSS },
	      [DL_EMU_SCENARIO_CORRUPT_FCP] = { DL_EMU_FCP_CORRUPT, DL_EMU_FCP_CORRUPT },
	      [DL_EMU_SCENARIO_STOP_DRAINING] = { DL_EMU_DRAIN_STOP, DL_EMU_DRAIN_START },
	      [DL_EMU_SCENARIO_TABLES] = { 0 },
	      [DL_EMU_SCENARIO_REWRITE] = { 0 } };

/* Each time that a fault begins, and that it ends. */
static void add_actions(struct dl_emu_plan *p, uint32_t i, uint32_t port,
			const struct dl_tables *tables)
{
	const struct dl_emu_scenario_fault *f = &p->scenario->faults[i];
	struct dl_emu_action action = {
		.tables = tables,
		.rewrite = f->kind == DL_EMU_SCENARIO_REWRITE ? f : NULL,
		.fault = { .port = port },
	};

	for (uint32_t k = 0; k < (f->times ? f->times : 1); k++) {
		action.at = f->at + k * f->every;
		action.order = p->nactions;
		action.fault.kind = kinds[f->kind].begin;
		action.fault.rate = f->share ? f->share : DL_EMU_LOAD_ONE;
		p->actions[p->nactions++] = action;
		if (!f->length)
			continue;
		action.at += f->length;
		action.order = p->nactions;
		action.fault.kind = kinds[f->kind].end;
		action.fault.rate = 0;
		p->actions[p->nactions++] = action;
	}
}

int dl_emu_plan_faults(struct dl_emu_plan *p, const struct dl_emu_plan_options *o)
{
	const struct dl_emu_scenario *s = p->scenario;
	uint32_t port = 0;
	size_t most = 0;
	int err = 0;

	for (uint32_t i = 0; i < s->nfaults; i++)
		most += 2 * (s->faults[i].times + 1);
	p->later = dl_arena_array(&p->arena, s->nfaults + 1, sizeof(*p->later));
	p->actions = dl_arena_array(&p->arena, most + 1, sizeof(*p->actions));
	if (!p->later || !p->actions)
		return -ENOMEM;
	for (uint32_t i = 0; !err && i < s->nfaults; i++) {
		const struct dl_emu_scenario_fault *f = &s->faults[i];
		const struct dl_tables *tables = NULL;

		err = f->snapshot ? find_tables(p, o, i, &tables) : find_port(p, f, &port);
		if (!err)
			add_actions(p, i, port, tables);
	}
	qsort(p->actions, p->nactions, sizeof(*p->actions), by_time);
	return err;
}
