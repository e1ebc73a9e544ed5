/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From what a scenario says to what the emulator takes: names become adapters,
 * coordinates a grid.  Coordinates are known here only; the emulator sees
 * plain numbers.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emulate.h"

static const struct dl_emu_size default_size = { .bytes = 2048, .weight = 1 };

/* ---- names ------------------------------------------------------------- */

static bool parse_whole(const char *text, int base, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, base);
	return text[0] >= '0' && text[0] <= '9' && !errno && !*end;
}

uint32_t emu_find_node(const struct dl_fabric *f, const char *text)
{
	uint64_t guid;

	if (!strncmp(text, "0x", 2) && parse_whole(text, 16, &guid))
		return dl_fabric_find_guid(f, guid);
	for (uint32_t i = 0; i < f->nnodes; i++)
		if (!strcmp(dl_fabric_node_name(f, i), text) ||
		    !strcmp(dl_fabric_node_id(f, i), text))
			return i;
	return DL_NONE;
}

int emu_find_adapter(const struct emu_plan *p, const char *text, uint32_t *out)
{
	const struct dl_fabric *f = p->fabric;
	uint32_t node;
	uint64_t number;

	if (parse_whole(text, 10, &number)) {
		*out = number;
		return number < p->spec.nadapters ? 0 : -EINVAL;
	}
	node = emu_find_node(f, text);
	for (unsigned int i = 1; node != DL_NONE && i <= f->nodes[node].nports;
	     i++) {
		*out = p->adapter[f->nodes[node].first_port + i];
		if (*out != DL_EMU_NO_ADAPTER)
			return 0;
	}
	return -EINVAL;
}

/* "3-7": a range of adapters. */
static bool parse_range(const char *text, uint32_t n, uint32_t *from,
			uint32_t *to)
{
	const char *dash = strchr(text, '-');
	char first[12];
	uint64_t a, b;

	if (!dash || dash == text || dash - text >= (int)sizeof(first))
		return false;
	memcpy(first, text, dash - text);
	first[dash - text] = '\0';
	if (!parse_whole(first, 10, &a) || !parse_whole(dash + 1, 10, &b) ||
	    a > b || b >= n)
		return false;
	*from = a;
	*to = b;
	return true;
}

static int find_adapters(const struct emu_plan *p,
			 const struct emu_names *names, const uint32_t **out,
			 uint32_t *nout)
{
	uint32_t n = p->spec.nadapters, *list, count = 0;
	bool *in = calloc(n + 1, sizeof(*in));
	int err = in ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < names->n; i++) {
		const struct emu_name *name = &names->list[i];
		uint32_t from, to;

		if (!parse_range(name->text, n, &from, &to)) {
			err = emu_find_adapter(p, name->text, &from);
			to = from;
		}
		if (err)
			emu_scenario_error(p->scenario, p->log, name->line,
					   "%.60s: expected an adapter: its "
					   "name, its GUID or a number or range"
					   " of numbers below %u",
					   name->text, n);
		for (uint32_t a = from; !err && a <= to; a++)
			in[a] = true;
	}
	list = err ? NULL : malloc((n + 1) * sizeof(*list));
	for (uint32_t a = 0; list && a < n; a++)
		if (in[a])
			list[count++] = a;
	free(in);
	if (!err && !list)
		err = -ENOMEM;
	*out = list;
	*nout = count;
	return err;
}

/* ---- the emulator's configuration -------------------------------------- */

#define BUFFER_PACKETS 8 /* unless the scenario says more or less */

static uint32_t buffer_of(const struct emu_scenario *s)
{
	uint32_t packet = (s->mtu + DL_EMU_MCAST_HEADERS + 63) / 64;

	if (s->flow_control == DL_LINK_CREDIT_IBA)
		return s->buffer_blocks ? s->buffer_blocks :
					  BUFFER_PACKETS * packet;
	if (s->buffer_packets)
		return s->buffer_packets;
	return BUFFER_PACKETS * (s->switching == DL_EMU_WORMHOLE ? packet : 1);
}

static void configure(struct emu_plan *p)
{
	const struct emu_scenario *s = p->scenario;
	struct dl_emu_config *c = &p->config;

	dl_emu_config_init(c);
	c->seed = s->seed;
	c->switching = s->switching;
	c->flow_control = s->flow_control;
	c->mtu = s->mtu;
	c->buffer = buffer_of(s);
	if (s->switch_ns >= 0)
		c->switch_latency_ps = s->switch_ns * 1000;
	if (s->cable_m >= 0)
		c->cable_mm_all = s->cable_m * 1000;
	if (s->speedup >= 0)
		c->speedup = s->speedup;
	if (s->sl_table) {
		dl_emu_sl_table_even(&p->sl_table, 0, 64, 4096);
		c->sl_table = &p->sl_table;
	}
	if (s->tenure >= 0)
		c->tenure = s->tenure;
	c->qp_change_ps = s->qp_change_ns * 1000;
	c->pairs = s->pairs;
}

/* All SLs to one VL, whatever was programmed. */
static int force_vl(struct emu_plan *p)
{
	p->rows = malloc((p->tables->nrows + 1) * sizeof(*p->rows));
	if (!p->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->tables->nrows; i++)
		p->rows[i] =
			UINT64_C(0x1111111111111111) * p->scenario->force_vl;
	p->forced = *p->tables;
	p->forced.rows = p->rows;
	p->tables = &p->forced;
	return 0;
}

/* ---- adapters ---------------------------------------------------------- */

static int number_adapters(struct emu_plan *p)
{
	const struct dl_fabric *f = p->fabric;
	struct dl_emu_rate rate;
	uint32_t n = 0;

	p->port = calloc(f->nports + 1, sizeof(*p->port));
	p->rate = calloc(f->nports + 1, sizeof(*p->rate));
	p->adapter = malloc((f->nports + 1) * sizeof(*p->adapter));
	if (!p->port || !p->rate || !p->adapter)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->nports; i++)
		p->adapter[i] = DL_EMU_NO_ADAPTER;
	for (uint32_t lid = 1; lid <= f->top_lid; lid++) {
		uint32_t port = f->lid_port[lid];

		if (port == DL_NONE || f->ports[port].lid != lid ||
		    f->nodes[f->ports[port].node].type != DL_FABRIC_CA ||
		    f->ports[port].peer == DL_NONE)
			continue;
		if (dl_emu_link_rate(f, &p->config, port, &rate))
			continue;
		p->adapter[port] = n;
		p->rate[n] = dl_emu_rate_bytes(rate);
		p->port[n++] = port;
	}
	p->spec.nadapters = n;
	p->spec.rate = p->rate;
	return 0;
}

/* ---- the grid ---------------------------------------------------------- */

static int new_places(struct emu_plan *p, uint64_t points)
{
	uint64_t places = points * p->spec.grid.depth;

	if (places > 1u << 26)
		return -ENOMEM;
	p->place = malloc((places + 1) * sizeof(*p->place));
	if (!p->place)
		return -ENOMEM;
	for (uint64_t i = 0; i < places; i++)
		p->place[i] = DL_EMU_NO_ADAPTER;
	p->spec.grid.at = p->place;
	return 0;
}

/* As the scenario has it: adapters in their order. */
static int fill_grid(struct emu_plan *p)
{
	const struct emu_scenario *s = p->scenario;
	uint64_t points = 1;
	int err;

	for (unsigned int d = 0; d < s->dims; d++)
		points *= p->spec.grid.radix[d] = s->radix[d];
	p->spec.grid.depth = (p->spec.nadapters + points - 1) / points;
	err = new_places(p, points);
	for (uint32_t a = 0; !err && a < p->spec.nadapters; a++)
		p->place[a] = a;
	p->spec.grid.dims = err ? 0 : s->dims;
	return err;
}

/* By the coordinates of the switches to which adapters are attached. */
static int grid_of_coords(struct emu_plan *p, const struct tool_coords *coords)
{
	const struct dl_fabric *f = p->fabric;
	uint32_t *used = calloc(f->nswitches + 1, sizeof(*used));
	uint32_t depth = 1, sw, points = 1;
	int err = used ? 0 : -ENOMEM;

	for (uint32_t a = 0; !err && a < p->spec.nadapters; a++) {
		sw = dl_fabric_access_switch(f, p->port[a]);
		if (sw != DL_NONE && ++used[sw] > depth)
			depth = used[sw];
	}
	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++)
		points *= p->spec.grid.radix[d] = coords->grid.radix[d];
	p->spec.grid.depth = depth;
	if (!err)
		err = new_places(p, points);
	if (!err)
		memset(used, 0, f->nswitches * sizeof(*used));
	for (uint32_t a = 0; !err && a < p->spec.nadapters; a++) {
		sw = dl_fabric_access_switch(f, p->port[a]);
		if (sw != DL_NONE && coords->site[sw] != DL_NONE)
			p->place[coords->site[sw] * depth + used[sw]++] = a;
	}
	p->spec.grid.dims = err ? 0 : DL_TORUS_DIMS;
	free(used);
	return err;
}

static bool needs_grid(unsigned int pattern)
{
	return pattern == DL_EMU_PATTERN_TRANSPOSE ||
	       pattern == DL_EMU_PATTERN_TORNADO ||
	       pattern == DL_EMU_PATTERN_NEIGHBOUR;
}

static int make_grid(struct emu_plan *p, const struct tool_coords *coords)
{
	const struct emu_scenario *s = p->scenario;

	for (uint32_t i = 0; i < s->ntraffic; i++) {
		if (!needs_grid(s->traffic[i].pattern))
			continue;
		if (s->dims)
			return fill_grid(p);
		if (coords->site)
			return grid_of_coords(p, coords);
		return emu_scenario_error(s, p->log, s->traffic[i].line,
					  "no coordinates are known: expected "
					  "the key grid, or --torus-config");
	}
	return 0;
}

/* ---- entries ----------------------------------------------------------- */

/* Adapters that the group's tables hand a copy to: its members. */
static int find_members(const struct emu_plan *p,
			const struct dl_tables_mcast_group *g,
			const uint32_t **out, uint32_t *nout)
{
	uint32_t *list = malloc((p->spec.nadapters + 1) * sizeof(*list));
	const struct dl_fabric *f = p->fabric;

	*nout = 0;
	*out = list;
	for (uint32_t a = 0; list && a < p->spec.nadapters; a++) {
		uint32_t peer = f->ports[p->port[a]].peer;
		uint32_t sw = f->nodes[f->ports[peer].node].sw;

		if (sw != DL_NONE &&
		    dl_tables_mask_get(g->masks, sw, f->ports[peer].num))
			list[(*nout)++] = a;
	}
	return list ? 0 : -ENOMEM;
}

static int make_entry(struct emu_plan *p, uint32_t origin,
		      const struct dl_tables_mcast_group *group)
{
	const struct emu_traffic *t = &p->scenario->traffic[origin];
	struct dl_emu_traffic_entry *e = &p->entries[p->spec.nentries];
	struct dl_emu_trace_message *trace = NULL;
	int err = 0;

	p->origin[p->spec.nentries++] = origin;
	*e = (struct dl_emu_traffic_entry){
		.pattern = t->pattern,
		.level = t->level,
		.load = t->load,
		.window = t->window,
		.periodic = t->arrival,
		.sizes = t->sizes.n ? t->sizes.list : &default_size,
		.nsizes = t->sizes.n ? t->sizes.n : 1,
		.start = t->start_ns * 1000,
		.stop = UINT64_MAX,
		.count = t->count,
		.fraction = t->fraction < 0 ? DL_EMU_LOAD_ONE / 2 : t->fraction,
		.by = t->by,
		.mlid = group ? group->mlid : 0,
	};
	if (t->stop_ns >= 0)
		e->stop = t->stop_ns * 1000;
	/* An exchange with everybody is done when it is done. */
	if (t->pattern == DL_EMU_PATTERN_ALL_TO_ALL && !t->count)
		e->count = p->spec.nadapters - 1;
	if (t->sources.given)
		err = find_adapters(p, &t->sources, &e->sources, &e->nsources);
	else if (group)
		err = find_members(p, group, &e->sources, &e->nsources);
	if (!err && t->targets.given)
		err = find_adapters(p, &t->targets, &e->targets, &e->ntargets);
	if (!err && t->file)
		err = emu_trace_read(p, t, &trace, &e->ntrace);
	e->trace = trace;
	return err;
}

static int make_multicast(struct emu_plan *p, uint32_t origin)
{
	const struct emu_traffic *t = &p->scenario->traffic[origin];
	uint32_t found = 0;
	int err = 0;

	for (uint32_t i = 0; !err && i < p->tables->ngroups; i++) {
		const struct dl_tables_mcast_group *g = &p->tables->groups[i];

		if (t->group && t->group != g->mlid)
			continue;
		found++;
		err = make_entry(p, origin, g);
	}
	if (!err && !found)
		err = emu_scenario_error(p->scenario, p->log, t->line,
					 "the tables have no such multicast "
					 "group");
	return err;
}

int emu_plan_make(const struct emu_scenario *s, const struct dl_tables *t,
		  const struct tool_coords *coords, const struct tool *tool,
		  struct emu_plan *out)
{
	size_t most = (size_t)s->ntraffic * (t->ngroups + 1);
	struct emu_plan *p = out;
	int err;

	*p = (struct emu_plan){ .scenario = s,
				.tables = t,
				.fabric = t->fabric,
				.log = &tool->log };
	configure(p);
	p->spec.seed = s->seed;
	p->entries = calloc(most + 1, sizeof(*p->entries));
	p->origin = calloc(most + 1, sizeof(*p->origin));
	p->spec.entries = p->entries;
	err = p->entries && p->origin ? number_adapters(p) : -ENOMEM;
	if (!err && s->force_vl >= 0)
		err = force_vl(p);
	if (!err)
		err = make_grid(p, coords);
	if (!err)
		err = emu_plan_faults(p, tool);
	for (uint32_t i = 0; !err && i < s->ntraffic; i++)
		err = s->traffic[i].pattern == DL_EMU_PATTERN_MULTICAST ?
			      make_multicast(p, i) :
			      make_entry(p, i, NULL);
	return err;
}

void emu_plan_free(struct emu_plan *p)
{
	for (uint32_t i = 0; i < p->spec.nentries; i++) {
		free((void *)p->entries[i].sources);
		free((void *)p->entries[i].targets);
		free((void *)p->entries[i].trace);
	}
	for (uint32_t i = 0; p->later && i < p->scenario->nfaults; i++)
		dl_snapshot_release(&p->later[i]);
	free(p->later);
	free(p->fault_port);
	free(p->rows);
	free(p->entries);
	free(p->origin);
	free(p->port);
	free(p->adapter);
	free(p->rate);
	free(p->place);
}
