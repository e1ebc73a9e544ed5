/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From what a scenario says to what the emulator takes: names become adapters,
 * and coordinates, of which nothing is known here, points of a grid.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/scenario.h"

/* ---- names ------------------------------------------------------------- */

uint32_t dl_emu_plan_node(const struct dl_emu_plan *p, const char *text)
{
	const struct dl_fabric *f = p->fabric;
	uint64_t guid;

	if (!strncmp(text, "0x", 2) && !*dl_number_scan(text + 2, 16, &guid) && text[2])
		return dl_fabric_find_guid(f, guid);
	return dl_fabric_find_name(f, &p->names, text);
}

int dl_emu_plan_adapter(const struct dl_emu_plan *p, const char *text, uint32_t *out)
{
	const struct dl_fabric *f = p->fabric;
	uint64_t number;
	uint32_t node;

	if (*text && !*dl_number_scan(text, 10, &number)) {
		*out = number;
		return number < p->spec.nadapters ? 0 : -EINVAL;
	}
	node = dl_emu_plan_node(p, text);
	for (unsigned int i = 1; node != DL_NONE && i <= f->nodes[node].nports; i++) {
		*out = p->adapter[f->nodes[node].first_port + i];
		if (*out != DL_EMU_NO_ADAPTER)
			return 0;
	}
	return -EINVAL;
}

/* "3-7": a range of adapters. */
static bool parse_range(const char *text, uint32_t n, uint32_t *from, uint32_t *to)
{
	uint64_t a, b;
	const char *dash = dl_number_scan(text, 10, &a);
	const char *end;

	if (dash == text || *dash != '-')
		return false;
	end = dl_number_scan(dash + 1, 10, &b);
	if (end == dash + 1 || *end || a > b || b >= n)
		return false;
	*from = a;
	*to = b;
	return true;
}

static int find_adapters(struct dl_emu_plan *p, const struct dl_emu_names *names,
			 const uint32_t **out, uint32_t *nout)
{
	uint32_t n = p->spec.nadapters, from, to, count = 0;
	uint32_t *list = dl_arena_array(&p->arena, n + 1, sizeof(*list));
	bool *in = dl_arena_array(&p->arena, n + 1, sizeof(*in));

	if (!in || !list)
		return -ENOMEM;
	for (uint32_t i = 0; i < names->n; i++) {
		const struct dl_emu_name *name = &names->list[i];

		if (!parse_range(name->text, n, &from, &to)) {
			if (dl_emu_plan_adapter(p, name->text, &from))
				return dl_emu_scenario_error(
					p->scenario, p->log, name->line,
					"%.60s: expected an adapter: its name, "
					"its GUID or a number or range of "
					"numbers below %u",
					name->text, n);
			to = from;
		}
		memset(in + from, true, to - from + 1);
	}
	for (uint32_t a = 0; a < n; a++)
		if (in[a])
			list[count++] = a;
	*out = list;
	*nout = count;
	return 0;
}

char *dl_emu_plan_path(struct dl_emu_plan *p, const char *name)
{
	const char *scenario = p->scenario->path;
	const char *slash = strrchr(scenario, '/');
	size_t dir = name[0] == '/' || !slash ? 0 : slash + 1 - scenario;
	char *path = dl_arena_alloc(&p->arena, dir + strlen(name) + 1);

	if (path) {
		memcpy(path, scenario, dir);
		memcpy(path + dir, name, strlen(name) + 1);
	}
	return path;
}

/* ---- tables and adapters ----------------------------------------------- */

/* All SLs to one VL, whatever was programmed. */
void dl_emu_plan_force_vl(const struct dl_emu_plan *p, dl_tables_sl2vl_row *rows, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		rows[i] = UINT64_C(0x1111111111111111) * p->scenario->force_vl;
}

static int force_vl(struct dl_emu_plan *p)
{
	uint32_t n = p->tables->nrows;
	dl_tables_sl2vl_row *rows = dl_arena_array(&p->arena, n + 1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	dl_emu_plan_force_vl(p, rows, n);
	p->forced = *p->tables;
	p->forced.rows = rows;
	p->tables = &p->forced;
	return 0;
}

static int number_adapters(struct dl_emu_plan *p)
{
	const struct dl_fabric *f = p->fabric;
	struct dl_emu_rate rate;
	uint32_t n = 0;

	p->port = dl_arena_array(&p->arena, f->nports + 1, sizeof(*p->port));
	p->lid = dl_arena_array(&p->arena, f->nports + 1, sizeof(*p->lid));
	p->rate = dl_arena_array(&p->arena, f->nports + 1, sizeof(*p->rate));
	p->adapter = dl_arena_array(&p->arena, f->nports + 1, sizeof(*p->adapter));
	if (!p->port || !p->lid || !p->rate || !p->adapter)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->nports; i++)
		p->adapter[i] = DL_EMU_NO_ADAPTER;
	for (uint32_t lid = 1; lid <= f->top_lid; lid++) {
		uint32_t port = f->lid_port[lid];

		if (port == DL_NONE || f->ports[port].lid != lid ||
		    f->nodes[f->ports[port].node].type != DL_FABRIC_CA ||
		    f->ports[port].peer == DL_NONE ||
		    dl_emu_link_rate(f, &p->scenario->config, port, &rate))
			continue;
		p->adapter[port] = n;
		p->rate[n] = dl_emu_rate_bytes(rate);
		p->lid[n] = lid;
		p->port[n++] = port;
	}
	p->spec.nadapters = n;
	p->spec.rate = p->rate;
	return 0;
}

uint32_t dl_emu_plan_adapters(const struct dl_emu_plan *p, const uint32_t **ports)
{
	*ports = p->port;
	return p->spec.nadapters;
}

/* ---- the grid ---------------------------------------------------------- */

/*
 * A grid of `points` with room for so many adapters at each of them.  Returns
 * the adapter at each place, none so far; or NULL.
 */
static uint32_t *new_grid(struct dl_emu_plan *p, unsigned int dims, const uint32_t *radix,
			  uint64_t points, uint32_t depth)
{
	struct dl_emu_traffic_grid *g = &p->spec.grid;
	uint32_t *at;

	if (points * depth > 1u << 26)
		return NULL;
	at = dl_arena_alloc(&p->arena, (points * depth + 1) * sizeof(*at));
	for (uint64_t i = 0; at && i < points * depth; i++)
		at[i] = DL_EMU_NO_ADAPTER;
	memcpy(g->radix, radix, dims * sizeof(*radix));
	g->dims = dims;
	g->depth = depth;
	g->at = at;
	return at;
}

static uint64_t product(unsigned int dims, const uint32_t *radix)
{
	uint64_t points = 1;

	for (unsigned int d = 0; d < dims; d++)
		points *= radix[d];
	return points;
}

/* As the scenario has it: adapters in their order. */
static int fill_grid(struct dl_emu_plan *p)
{
	const struct dl_emu_scenario *s = p->scenario;
	uint64_t points = product(s->dims, s->radix);
	uint32_t *at =
		new_grid(p, s->dims, s->radix, points, (p->spec.nadapters + points - 1) / points);

	for (uint32_t a = 0; at && a < p->spec.nadapters; a++)
		at[a] = a;
	return at ? 0 : -ENOMEM;
}

/* By the points of the switches to which adapters are attached. */
static int grid_of_sites(struct dl_emu_plan *p, const struct dl_emu_plan_options *o)
{
	const struct dl_fabric *f = p->fabric;
	size_t n = f->nswitches + 1ul;
	uint32_t *used = dl_arena_array(&p->arena, n, sizeof(*used));
	uint32_t depth = 1, sw, *at;

	if (!used)
		return -ENOMEM;
	for (uint32_t a = 0; a < p->spec.nadapters; a++) {
		sw = dl_fabric_access_switch(f, p->port[a]);
		if (sw != DL_NONE && ++used[sw] > depth)
			depth = used[sw];
	}
	memset(used, 0, n * sizeof(*used));
	at = new_grid(p, o->dims, o->radix, product(o->dims, o->radix), depth);
	for (uint32_t a = 0; at && a < p->spec.nadapters; a++) {
		sw = dl_fabric_access_switch(f, p->port[a]);
		if (sw != DL_NONE && o->site[sw] != DL_NONE)
			at[o->site[sw] * depth + used[sw]++] = a;
	}
	return at ? 0 : -ENOMEM;
}

static bool needs_grid(enum dl_emu_pattern pattern)
{
	return pattern == DL_EMU_PATTERN_TRANSPOSE || pattern == DL_EMU_PATTERN_TORNADO ||
	       pattern == DL_EMU_PATTERN_NEIGHBOUR;
}

static int make_grid(struct dl_emu_plan *p, const struct dl_emu_plan_options *o)
{
	const struct dl_emu_scenario *s = p->scenario;
	uint32_t i = 0;

	while (i < s->ntraffic && !needs_grid(s->traffic[i].entry.pattern))
		i++;
	if (i == s->ntraffic)
		return 0;
	if (s->dims)
		return fill_grid(p);
	if (o && o->site)
		return grid_of_sites(p, o);
	return dl_emu_scenario_error(s, p->log, s->traffic[i].line,
				     "no coordinates are known: expected the "
				     "key grid, or --torus-config");
}

/* ---- entries ----------------------------------------------------------- */

/* Adapters that the group's tables hand a copy to: its members. */
static int find_members(struct dl_emu_plan *p, const struct dl_tables_mcast_group *g,
			struct dl_emu_traffic_entry *e)
{
	const struct dl_fabric *f = p->fabric;
	uint32_t *list = dl_arena_array(&p->arena, p->spec.nadapters + 1, sizeof(*list));

	for (uint32_t a = 0; list && a < p->spec.nadapters; a++) {
		uint32_t peer = f->ports[p->port[a]].peer;
		uint32_t sw = f->nodes[f->ports[peer].node].sw;

		if (sw != DL_NONE && dl_tables_mask_get(&g->masks, sw, f->ports[peer].num))
			list[e->nsources++] = a;
	}
	e->sources = list;
	return list ? 0 : -ENOMEM;
}

static int make_entry(struct dl_emu_plan *p, const struct dl_emu_scenario_traffic *t,
		      const struct dl_tables_mcast_group *group)
{
	struct dl_emu_traffic_entry *e = &p->entries[p->spec.nentries];
	int err = 0;

	p->name[p->spec.nentries++] = t->name;
	*e = t->entry;
	e->mlid = group ? group->mlid : 0;
	/* An exchange with everybody is done when it is done. */
	if (e->pattern == DL_EMU_PATTERN_ALL_TO_ALL && !e->count)
		e->count = p->spec.nadapters - 1;
	if (t->sources.n)
		err = find_adapters(p, &t->sources, &e->sources, &e->nsources);
	else if (group)
		err = find_members(p, group, e);
	if (!err && t->targets.n)
		err = find_adapters(p, &t->targets, &e->targets, &e->ntargets);
	if (!err && t->file)
		err = dl_emu_plan_trace(p, t, e);
	return err;
}

static int make_multicast(struct dl_emu_plan *p, const struct dl_emu_scenario_traffic *t)
{
	uint32_t found = 0;
	int err = 0;

	if (p->scenario->config.switching == DL_EMU_WORMHOLE)
		return dl_emu_scenario_error(
			p->scenario, p->log, t->line,
			"pattern: multicast does not go with switching: wormhole");
	for (uint32_t i = 0; !err && i < p->tables->ngroups; i++) {
		const struct dl_tables_mcast_group *g = &p->tables->groups[i];

		if (t->entry.mlid && t->entry.mlid != g->mlid)
			continue;
		found++;
		err = make_entry(p, t, g);
	}
	if (!err && !found)
		err = dl_emu_scenario_error(p->scenario, p->log, t->line,
					    "the tables have no such multicast "
					    "group");
	return err;
}

static int make_entries(struct dl_emu_plan *p)
{
	const struct dl_emu_scenario *s = p->scenario;
	size_t most = (size_t)s->ntraffic * (p->tables->ngroups + 1);
	int err = 0;

	p->entries = dl_arena_array(&p->arena, most + 1, sizeof(*p->entries));
	p->name = dl_arena_array(&p->arena, most + 1, sizeof(*p->name));
	if (!p->entries || !p->name)
		return -ENOMEM;
	p->spec.seed = s->config.seed;
	p->spec.entries = p->entries;
	for (uint32_t i = 0; !err && i < s->ntraffic; i++)
		err = s->traffic[i].entry.pattern == DL_EMU_PATTERN_MULTICAST ?
			      make_multicast(p, &s->traffic[i]) :
			      make_entry(p, &s->traffic[i], NULL);
	return err;
}

bool dl_emu_plan_has_load(const struct dl_emu_plan *p, const char *name)
{
	for (uint32_t i = 0; i < p->spec.nentries; i++)
		if (p->entries[i].load && (!name || (p->name[i] && !strcmp(p->name[i], name))))
			return true;
	return false;
}

int dl_emu_plan_new(const struct dl_emu_scenario *s, const struct dl_tables *t,
		    const struct dl_emu_plan_options *o, const struct dl_log *log,
		    struct dl_emu_plan **out)
{
	struct dl_emu_plan *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->scenario = s;
	p->tables = t;
	p->fabric = t->fabric;
	p->log = log;
	err = dl_fabric_index_names(p->fabric, &p->names);
	if (!err)
		err = number_adapters(p);
	if (!err && s->force_vl >= 0)
		err = force_vl(p);
	if (!err)
		err = make_grid(p, o);
	if (!err)
		err = dl_emu_plan_faults(p, o);
	if (!err)
		err = make_entries(p);
	if (err) {
		dl_emu_plan_free(p);
		return err;
	}
	*out = p;
	return 0;
}

void dl_emu_plan_free(struct dl_emu_plan *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; p->later && i < p->scenario->nfaults; i++)
		dl_snapshot_release(&p->later[i].snapshot);
	dl_fabric_index_free(&p->names);
	dl_arena_free(&p->arena);
	free(p);
}
