/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The faults of an emulation: what they name, and a timetable of them. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emulate.h"

char *emu_beside(const struct emu_scenario *s, const char *name)
{
	const char *slash = strrchr(s->path, '/');
	char *path;

	if (name[0] == '/' || !slash)
		return strdup(name);
	if (asprintf(&path, "%.*s/%s", (int)(slash - s->path), s->path, name) <
	    0)
		return NULL;
	return path;
}

/* ---- what they name ---------------------------------------------------- */

static int find_port(struct emu_plan *p, const struct emu_fault *f,
		     uint32_t *out)
{
	uint32_t node = emu_find_node(p->fabric, f->node.text);
	uint32_t port;

	if (node == DL_NONE)
		return emu_scenario_error(p->scenario, p->log, f->node.line,
					  "%.60s: expected a node of the "
					  "fabric: its name or GUID",
					  f->node.text);
	if (f->kind == EMU_FAULT_STOP_DRAINING && f->port < 0) {
		if (!emu_find_adapter(p, f->node.text, &port)) {
			*out = p->port[port];
			return 0;
		}
		return emu_scenario_error(p->scenario, p->log, f->node.line,
					  "%.60s: expected an adapter with a "
					  "cable and a LID",
					  f->node.text);
	}
	port = p->fabric->nodes[node].first_port + f->port;
	if (f->port > p->fabric->nodes[node].nports ||
	    p->fabric->ports[port].peer == DL_NONE)
		return emu_scenario_error(p->scenario, p->log, f->line,
					  "port %d of %.60s: expected a port "
					  "with a cable",
					  (int)f->port, f->node.text);
	if (f->kind == EMU_FAULT_STOP_DRAINING &&
	    p->adapter[port] == DL_EMU_NO_ADAPTER)
		return emu_scenario_error(p->scenario, p->log, f->node.line,
					  "%.60s: expected an adapter",
					  f->node.text);
	*out = port;
	return 0;
}

static int read_tables(struct emu_plan *p, const struct tool *tool,
		       const char *name, struct dl_snapshot *out)
{
	char *dir = emu_beside(p->scenario, name);
	struct tool_coords coords = { 0 };
	int err;

	if (!dir)
		return -ENOMEM;
	err = dl_snapshot_read(dir, NULL, NULL, p->log, out);
	if (!err)
		err = tool_coords_find(tool, out->fabric, NULL, dir, &coords);
	if (!err)
		err = tool_coords_complete_sls(tool, &coords, out->tables);
	tool_coords_free(&coords);
	free(dir);
	return err;
}

int emu_plan_faults(struct emu_plan *p, const struct tool *tool)
{
	const struct emu_scenario *s = p->scenario;
	int err = 0;

	p->later = calloc(s->nfaults + 1, sizeof(*p->later));
	p->fault_port = calloc(s->nfaults + 1, sizeof(*p->fault_port));
	if (!p->later || !p->fault_port)
		return -ENOMEM;
	for (uint32_t i = 0; !err && i < s->nfaults; i++)
		err = s->faults[i].kind == EMU_FAULT_TABLES ?
			      read_tables(p, tool, s->faults[i].snapshot,
					  &p->later[i]) :
			      find_port(p, &s->faults[i], &p->fault_port[i]);
	return err;
}

/* ---- the timetable ----------------------------------------------------- */

static int by_time(const void *left, const void *right)
{
	const struct emu_action *a = left, *b = right;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static const struct {
	enum dl_emu_fault_kind begin, end;
} kinds[] = {
	[EMU_FAULT_LINK_DOWN] = { DL_EMU_LINK_DOWN, DL_EMU_LINK_UP },
	[EMU_FAULT_LOSE_FCP] = { DL_EMU_FCP_LOSS, DL_EMU_FCP_LOSS },
	[EMU_FAULT_CORRUPT_FCP] = { DL_EMU_FCP_CORRUPT, DL_EMU_FCP_CORRUPT },
	[EMU_FAULT_STOP_DRAINING] = { DL_EMU_DRAIN_STOP, DL_EMU_DRAIN_START },
	[EMU_FAULT_TABLES] = { 0 }
};

static void add_fault(const struct emu_plan *p, uint32_t i,
		      struct emu_action *list, uint32_t *n)
{
	const struct emu_fault *f = &p->scenario->faults[i];

	for (int64_t k = 0; k < (f->times ? f->times : 1); k++) {
		uint64_t at = (uint64_t)(f->at_ns + k * f->every_ns) * 1000;

		list[*n] = (struct emu_action){
			.at = at,
			.order = *n,
			.tables = p->later[i].tables,
			.fault = { .kind = kinds[f->kind].begin,
				   .port = p->fault_port[i],
				   .rate = f->share < 0 ? DL_EMU_LOAD_ONE :
							  f->share },
		};
		++*n;
		if (f->for_ns < 0)
			continue;
		list[*n] = list[*n - 1];
		list[*n].order = *n;
		list[*n].at = at + f->for_ns * 1000;
		list[*n].fault.kind = kinds[f->kind].end;
		list[*n].fault.rate = 0;
		++*n;
	}
}

int emu_timetable(const struct emu_plan *p, struct emu_action **out,
		  uint32_t *n)
{
	const struct emu_scenario *s = p->scenario;
	struct emu_action *list;
	size_t most = 0;

	for (uint32_t i = 0; i < s->nfaults; i++)
		most += 2 * (s->faults[i].times + 1);
	list = calloc(most + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	*n = 0;
	for (uint32_t i = 0; i < s->nfaults; i++)
		add_fault(p, i, list, n);
	if (*n)
		qsort(list, *n, sizeof(*list), by_time);
	*out = list;
	return 0;
}

int emu_act(struct dl_emu *emu, const struct emu_action *a)
{
	return a->tables ? dl_emu_swap_tables(emu, a->tables) :
			   dl_emu_fault(emu, &a->fault);
}
