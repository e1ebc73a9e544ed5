/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The key `traffic` of a scenario: who sends how much to whom, and when. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/scenario.h"

#define TRACES_MAX 64 /* each is a file of its own, and may cost far more than its line */

static const struct dl_emu_size default_size = { 2048, 1 };
static const struct dl_emu_size management_size = { DL_EMU_SMP_DATA, 1 };

/* An entry while it is read. */
struct entry_reader {
	struct dl_emu_scenario *scenario;
	struct dl_emu_traffic_entry entry;
};

/* ---- adapters ---------------------------------------------------------- */

/* "3-7": a range of adapters. */
static bool entry_range(const char *text, uint32_t n, uint32_t *from, uint32_t *to)
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

/* An adapter's name, GUID or number, or a range of numbers: mark them. */
static int entry_mark(struct dl_yaml *y, const struct dl_yaml_node *item, const char *key,
		      const struct dl_emu_scenario *s, bool *in)
{
	uint32_t n = s->traffic.nadapters, from, to;
	char *text;
	int err = dl_emu_scenario_text(y, item, key, &text);

	if (err)
		return err;
	if (!entry_range(text, n, &from, &to)) {
		err = dl_emu_scenario_adapter(s, text, &from);
		to = from;
	}
	if (err)
		dl_yaml_error(y, item,
			      "%.60s: expected an adapter: its name, its GUID or a number or range "
			      "of numbers below %u",
			      text, n);
	else
		memset(in + from, true, to - from + 1);
	free(text);
	return err;
}

/* A list of adapters, in their order: sources or targets. */
static int entry_read_adapters(struct dl_yaml *y, const struct dl_yaml_node *value,
			       const struct dl_setting *key, void *to)
{
	struct entry_reader *r = to;
	struct dl_emu_scenario *s = r->scenario;
	bool targets = key->offset == offsetof(struct entry_reader, entry.targets);
	uint32_t n = s->traffic.nadapters, count = 0;
	uint32_t *list = dl_arena_array(&s->arena, n + 1, sizeof(*list));
	bool *in = calloc(n + 1, sizeof(*in));
	const struct dl_yaml_node *item;
	int err = 0;

	if (!in || !list) {
		free(in);
		return dl_yaml_no_memory(y, value);
	}
	if (!dl_yaml_is_list(value) || !dl_yaml_count(value))
		err = dl_yaml_error(y, value, "%s: expected a list of adapters", key->name);
	for (size_t i = 0; !err && (item = dl_yaml_item(y, value, i)); i++)
		err = entry_mark(y, item, key->name, s, in);
	for (uint32_t a = 0; !err && a < n; a++)
		if (in[a])
			list[count++] = a;
	free(in);
	*(targets ? &r->entry.targets : &r->entry.sources) = list;
	*(targets ? &r->entry.ntargets : &r->entry.nsources) = count;
	return err;
}

/* ---- sizes, names, files ------------------------------------------------- */

static int entry_read_size(struct dl_yaml *y, const struct dl_yaml_node *n, struct dl_emu_size *out)
{
	const struct dl_yaml_node *part = n;
	int64_t bytes, weight = 1;
	int err = 0;

	if (dl_yaml_is_list(n)) {
		if (dl_yaml_count(n) != 2)
			return dl_yaml_error(y, n, "bytes: expected [bytes, weight]");
		part = dl_yaml_item(y, n, 0);
		err = dl_yaml_number(y, dl_yaml_item(y, n, 1), "weight of a size", 1,
				     DL_EMU_SCENARIO_MILLION, &weight);
	}
	if (!err)
		err = dl_yaml_number(y, part, "bytes", 1, DL_EMU_SCENARIO_BYTES_MAX, &bytes);
	if (!err)
		*out = (struct dl_emu_size){ .bytes = bytes, .weight = weight };
	return err;
}

/* 2048, [64, 2048] or [[64, 9], [2048, 1]]. */
static int entry_read_bytes(struct dl_yaml *y, const struct dl_yaml_node *value,
			    const struct dl_setting *key, void *to)
{
	struct entry_reader *r = to;
	bool list = dl_yaml_is_list(value);
	size_t n = list ? dl_yaml_count(value) : 1;
	struct dl_emu_size *sizes;
	int err = 0;

	if (!n || n > 1000)
		return dl_yaml_error(y, value, "%s: expected 1 to 1000 sizes", key->name);
	sizes = dl_arena_array(&r->scenario->arena, n, sizeof(*sizes));
	if (!sizes)
		return dl_yaml_no_memory(y, value);
	for (size_t i = 0; !err && i < n; i++)
		err = entry_read_size(y, list ? dl_yaml_item(y, value, i) : value, &sizes[i]);
	r->entry.sizes = sizes;
	r->entry.nsizes = n;
	return err;
}

static int entry_read_sl(struct dl_yaml *y, const struct dl_yaml_node *value,
			 const struct dl_setting *key, void *to)
{
	int64_t sl = 0;
	int err = dl_yaml_number(y, value, key->name, 0, DL_EMU_SLS - 1, &sl);

	((struct entry_reader *)to)->entry.sl = sl + 1;
	return err;
}

static int entry_read_name(struct dl_yaml *y, const struct dl_yaml_node *value,
			   const struct dl_setting *key, void *to)
{
	struct entry_reader *r = to;
	char *text, *kept;
	size_t len;
	int err = dl_emu_scenario_text(y, value, key->name, &text);

	if (err)
		return err;
	len = strlen(text) + 1;
	kept = dl_arena_alloc(&r->scenario->arena, len);
	if (kept)
		r->entry.name = memcpy(kept, text, len);
	free(text);
	return kept ? 0 : dl_yaml_no_memory(y, value);
}

static int entry_read_file(struct dl_yaml *y, const struct dl_yaml_node *value,
			   const struct dl_setting *key, void *to)
{
	struct entry_reader *r = to;
	char *name;
	int err = dl_emu_scenario_text(y, value, key->name, &name);

	if (!err && r->scenario->traces++ == TRACES_MAX)
		err = dl_yaml_error(y, value, "file: expected at most %d traces", TRACES_MAX);
	if (!err)
		err = dl_emu_scenario_read_trace(r->scenario, y, value, name, &r->entry);
	free(name);
	return err;
}

/* ---- entries ----------------------------------------------------------- */

#define ENTRY(member) DL_MEMBER(struct entry_reader, entry.member)

static const struct dl_setting traffic_keys[] = {
	{ "name", .read = entry_read_name },
	{ "pattern", WORD, ENTRY(pattern), .words = DL_EMU_PATTERN_WORDS, .required = true },
	{ "level", NUMBER, ENTRY(level), .max = 1 },
	{ "sl", .read = entry_read_sl },
	{ "management", WORD, ENTRY(management), .words = "false true" },
	{ "load", DECIMAL, ENTRY(load), 1, 1000 * DL_EMU_LOAD_ONE },
	{ "window", NUMBER, ENTRY(window), 1, 1024 },
	{ "arrival", WORD, ENTRY(periodic), .words = "random periodic" },
	{ "bytes", .read = entry_read_bytes },
	{ "start_ns", NS, ENTRY(start), 0, DL_EMU_SCENARIO_NS_MAX },
	{ "stop_ns", NS, ENTRY(stop), 0, DL_EMU_SCENARIO_NS_MAX },
	{ "count", NUMBER, ENTRY(count), 1, INT32_MAX },
	{ "sources", .read = entry_read_adapters, ENTRY(sources) },
	{ "targets", .read = entry_read_adapters, ENTRY(targets) },
	{ "fraction", DECIMAL, ENTRY(fraction), 0, DL_EMU_LOAD_ONE },
	{ "by", NUMBER, ENTRY(by), 1, 65535 },
	{ "group", NUMBER, ENTRY(mlid), 0xC000, 0xFFFE },
	{ "file", .read = entry_read_file },
	{ NULL }
};

/* Keys that only some patterns have, and those that need them. */
static int entry_check(struct dl_yaml *y, const struct dl_yaml_node *at,
		       const struct dl_emu_traffic_entry *e)
{
	bool trace = e->pattern == DL_EMU_PATTERN_TRACE;
	bool hotspot = e->pattern == DL_EMU_PATTERN_HOTSPOT;
	bool targets = hotspot || e->pattern == DL_EMU_PATTERN_INCAST;
	const struct dl_emu_scenario_rule rules[] = {
		{ targets != !!e->ntargets, "targets pattern",
		  "expected the key targets with hotspot and incast, and only "
		  "there" },
		{ trace != !!e->trace, "file pattern",
		  "expected the key file with trace, and only there" },
		{ (e->pattern == DL_EMU_PATTERN_SHIFT) != (e->by > 0), "by pattern",
		  "expected the key by with shift, and only there" },
		{ e->mlid && e->pattern != DL_EMU_PATTERN_MULTICAST, "group",
		  "expected the key group with multicast only" },
		{ e->fraction != DL_NONE && !hotspot, "fraction",
		  "expected the key fraction with hotspot only" },
		{ trace && (e->load || e->window || e->nsizes || e->count || e->sources),
		  "load window bytes count sources",
		  "trace: expected no load, window, bytes, count or sources: "
		  "they are in the file" },
		{ !trace && !e->load == !e->window, "window pattern",
		  "expected either the key load or the key window" },
		{ e->management && (e->sl || e->level || e->nsizes || trace || e->mlid ||
				    e->pattern == DL_EMU_PATTERN_MULTICAST),
		  "management",
		  "management: expected no sl, level or bytes, and neither multicast nor trace" },
		{ e->stop <= e->start, "stop_ns", "stop_ns: expected a time after start_ns" },
	};

	return dl_emu_scenario_check(y, at, rules, sizeof(rules) / sizeof(*rules));
}

static int entry_add(struct dl_emu_scenario *s, const struct dl_emu_traffic_entry *e)
{
	if (!dl_array_room(s->entries, s->traffic.nentries, 1, &s->entries_cap))
		return -ENOMEM;
	s->entries[s->traffic.nentries++] = *e;
	s->traffic.entries = s->entries;
	return 0;
}

/* Adapters that the group's tables hand a copy to: its members. */
static int entry_find_members(struct dl_emu_scenario *s, const struct dl_tables_mcast_group *g,
			      struct dl_emu_traffic_entry *e)
{
	const struct dl_fabric *f = s->tables->fabric;
	uint32_t *list = dl_arena_array(&s->arena, s->traffic.nadapters + 1, sizeof(*list));

	for (uint32_t a = 0; list && a < s->traffic.nadapters; a++) {
		uint32_t peer = f->ports[s->port[a]].peer;
		uint32_t sw = f->nodes[f->ports[peer].node].sw;

		if (sw != DL_NONE && dl_tables_mask_get(&g->masks, sw, f->ports[peer].num))
			list[e->nsources++] = a;
	}
	e->sources = list;
	return list ? 0 : -ENOMEM;
}

/* One entry for each group that it means. */
static int entry_add_groups(struct dl_yaml *y, const struct dl_yaml_node *at,
			    struct dl_emu_scenario *s, const struct dl_emu_traffic_entry *e)
{
	bool found = false;
	int err = 0;

	for (uint32_t i = 0; !err && i < s->tables->ngroups; i++) {
		const struct dl_tables_mcast_group *g = &s->tables->groups[i];
		struct dl_emu_traffic_entry one = *e;

		if (e->mlid && e->mlid != g->mlid)
			continue;
		found = true;
		one.mlid = g->mlid;
		if (!e->sources)
			err = entry_find_members(s, g, &one);
		if (!err)
			err = entry_add(s, &one);
	}
	if (!err && !found)
		err = dl_yaml_error(
			y, dl_yaml_key(y, at, "group pattern"),
			"the tables have no such multicast group: expected the MLID of one");
	return err;
}

static int entry_read_entry(struct dl_yaml *y, const struct dl_yaml_node *item,
			    struct dl_emu_scenario *s)
{
	struct entry_reader r = { .scenario = s,
				  .entry = { .stop = UINT64_MAX, .fraction = DL_NONE } };
	struct dl_emu_traffic_entry *e = &r.entry;
	int err = dl_yaml_mapping(y, item, traffic_keys, &r);

	if (!err)
		err = entry_check(y, item, e);
	if (err)
		return err;
	if (e->fraction == DL_NONE)
		e->fraction = DL_EMU_LOAD_ONE / 2;
	if (!e->sizes) {
		e->sizes = e->management ? &management_size : &default_size;
		e->nsizes = 1;
	}
	/* An exchange with everybody is done when it is done. */
	if (e->pattern == DL_EMU_PATTERN_ALL_TO_ALL && !e->count)
		e->count = s->traffic.nadapters - 1;
	if (dl_emu_pattern_is_on_grid(e->pattern) && !s->needs_grid)
		s->needs_grid = dl_yaml_key(y, item, "pattern");
	if (e->pattern == DL_EMU_PATTERN_MULTICAST && !s->multicast)
		s->multicast = dl_yaml_key(y, item, "pattern");
	if (e->pattern == DL_EMU_PATTERN_MULTICAST)
		err = entry_add_groups(y, item, s, e);
	else
		err = entry_add(s, e);
	return err == -ENOMEM ? dl_yaml_no_memory(y, item) : err;
}

int dl_emu_scenario_read_traffic(struct dl_yaml *y, const struct dl_yaml_node *value,
				 const struct dl_setting *key, void *to)
{
	size_t n = dl_yaml_count(value);
	int err = 0;

	if (!dl_yaml_is_list(value) || !n || n > 1000)
		return dl_yaml_error(y, value, "%s: expected a list of 1 to 1000 entries",
				     key->name);
	for (size_t i = 0; !err && i < n; i++)
		err = entry_read_entry(y, dl_yaml_item(y, value, i), to);
	return err;
}
