/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a scenario wants to see step by step: `record`, all that happens in a
 * window of time, and `watch`, what happens to some packets.
 *
 * The engine reports the steps of all packets (dl_emu_source.step); those that
 * are wanted are kept for the result.  A packet is watched from when it is made,
 * if it is among the first that fit a rule; packets are numbered in the order
 * in which they are made, so the list of those that are watched is in order.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "emu/scenario.h"

#define RULE(member) DL_MEMBER(struct rule_reader, member)
#define RECORD(member) DL_MEMBER(struct record_reader, member)

struct rule_reader {
	char *from, *to;
	struct dl_emu_watch_rule rule;
};

struct record_reader {
	char *file;
	uint64_t from, to;
};

/* ---- keys ---------------------------------------------------------------- */

static const struct dl_setting watch_keys[] = {
	{ "from", TEXT, RULE(from) },
	{ "to", TEXT, RULE(to) },
	{ "after_ns", NS, RULE(rule.after), 0, DL_EMU_SCENARIO_NS_MAX },
	{ "packets", NUMBER, RULE(rule.packets), 1, DL_EMU_WATCHED_MAX },
	{ NULL }
};

static const struct dl_setting record_keys[] = {
	{ "file", TEXT, RECORD(file), .required = true },
	{ "from_ns", NS, RECORD(from), 0, DL_EMU_SCENARIO_NS_MAX },
	{ "to_ns", NS, RECORD(to), 1, DL_EMU_SCENARIO_NS_MAX },
	{ NULL }
};

static int record_read_rule(struct dl_yaml *y, const struct dl_yaml_node *at,
			    const struct dl_emu_scenario *s, struct dl_emu_watch_rule *out)
{
	struct rule_reader r = {
		.rule = { .from = DL_EMU_NO_ADAPTER, .to = DL_EMU_NO_ADAPTER, .packets = 1 }
	};
	int err = dl_yaml_mapping(y, at, watch_keys, &r);
	const char *wrong = NULL;

	if (!err && r.from && dl_emu_scenario_adapter(s, r.from, &r.rule.from))
		wrong = "from";
	else if (!err && r.to && dl_emu_scenario_adapter(s, r.to, &r.rule.to))
		wrong = "to";
	if (wrong)
		err = dl_yaml_error(y, dl_yaml_key(y, at, wrong),
				    "%s: expected an adapter: its number, name or GUID", wrong);
	*out = r.rule;
	free(r.from);
	free(r.to);
	return err;
}

/* One rule, or a list of them. */
int dl_emu_scenario_read_watch(struct dl_yaml *y, const struct dl_yaml_node *value,
			       const struct dl_setting *key, void *to)
{
	struct dl_emu_scenario *s = to;
	bool list = dl_yaml_is_list(value);
	size_t n = list ? dl_yaml_count(value) : 1;
	int err = 0;

	if (!n || n > DL_EMU_WATCHED_MAX)
		return dl_yaml_error(y, value, "%s: expected 1 to %d rules", key->name,
				     DL_EMU_WATCHED_MAX);
	s->watch = dl_arena_array(&s->arena, n, sizeof(*s->watch));
	if (!s->watch)
		return dl_yaml_no_memory(y, value);
	for (s->nwatch = 0; !err && s->nwatch < n; s->nwatch++)
		err = record_read_rule(y, list ? dl_yaml_item(y, value, s->nwatch) : value, s,
				       &s->watch[s->nwatch]);
	return err;
}

/* Can the file be written?  What is no file or directory is not touched before its time. */
static int record_try(const char *path)
{
	struct dl_file whole;
	struct stat st;
	int err;

	if (!lstat(path, &st) && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : 0;
	err = dl_file_begin(&whole, path);
	if (!err)
		dl_file_drop(&whole);
	return err;
}

/* The name of a file, or a mapping. */
int dl_emu_scenario_read_record(struct dl_yaml *y, const struct dl_yaml_node *value,
				const struct dl_setting *key, void *to)
{
	struct dl_emu_scenario *s = to;
	struct record_reader r = { .to = DL_EMU_SCENARIO_PS_MAX };
	bool mapping = dl_yaml_is_mapping(value);
	int err = mapping ? dl_yaml_mapping(y, value, record_keys, &r) :
			    dl_yaml_value(y, value, &record_keys[0], &r);

	if (!err && r.to <= r.from)
		err = dl_yaml_error(y, dl_yaml_key(y, value, "to_ns from_ns"),
				    "%s: expected to_ns after from_ns", key->name);
	if (!err) {
		s->record = dl_emu_scenario_file(s, r.file);
		s->record_from = r.from;
		s->record_to = r.to;
		err = s->record ? record_try(s->record) : -ENOMEM;
		if (err == -ENOMEM)
			dl_yaml_no_memory(y, value);
		else if (err) {
			dl_yaml_error(y, mapping ? dl_yaml_key(y, value, "file") : value,
				      "%s: cannot create %s: %s: expected the name of a file in "
				      "a directory that can be written",
				      key->name, s->record, strerror(-err));
			err = -EIO; /* what is at fault is not the scenario */
		}
	}
	free(r.file);
	return err;
}

const char *dl_emu_scenario_record(const struct dl_emu_scenario *s)
{
	return s->record;
}

/* ---- while it runs ------------------------------------------------------- */

static bool record_is_for(const struct dl_emu_scenario *s, uint32_t adapter, uint16_t dlid)
{
	const struct dl_fabric *f = s->tables->fabric;

	return adapter == DL_EMU_NO_ADAPTER ||
	       (dlid <= f->top_lid && f->lid_port[dlid] == s->port[adapter]);
}

/* A packet was made: does a rule want it? */
static bool record_wants(struct dl_emu_recorder *r, const struct dl_emu_step *step)
{
	const struct dl_emu_scenario *s = r->scenario;

	for (uint32_t i = 0; i < s->nwatch; i++) {
		const struct dl_emu_watch_rule *w = &s->watch[i];

		if (r->seen[i] == w->packets || step->at - step->waited < w->after ||
		    (w->from != DL_EMU_NO_ADAPTER && s->port[w->from] != step->port) ||
		    !record_is_for(s, w->to, step->dlid))
			continue;
		r->seen[i]++;
		return true;
	}
	return false;
}

static void record_keep(struct dl_emu_recorder *r, struct dl_emu_steps *list,
			const struct dl_emu_step *step)
{
	if (list->n == DL_EMU_SCENARIO_MILLION) {
		list->cut = true;
		return;
	}
	if (!dl_array_room(list->step, list->n, 1, &list->cap))
		r->err = -ENOMEM;
	else
		list->step[list->n++] = *step;
}

void dl_emu_record_step(struct dl_emu_recorder *r, const struct dl_emu_step *step)
{
	const struct dl_emu_scenario *s = r->scenario;
	uint32_t at;

	if (s->record && step->at >= s->record_from && step->at < s->record_to)
		record_keep(r, r->recorded, step);
	if (!step->packet)
		return;
	if (step->kind == DL_EMU_STEP_MADE && record_wants(r, step)) {
		if (!dl_array_room(r->numbers, r->nnumbers, 1, &r->cap))
			r->err = -ENOMEM;
		else
			r->numbers[r->nnumbers++] = step->packet;
	}
	at = dl_array_count_before(i, r->nnumbers, r->numbers[i] < step->packet);
	if (at < r->nnumbers && r->numbers[at] == step->packet)
		record_keep(r, r->watched, step);
}

int dl_emu_record_begin(struct dl_emu_recorder *r, const struct dl_emu_scenario *s,
			struct dl_emu_result *out)
{
	*r = (struct dl_emu_recorder){ .scenario = s,
				       .recorded = &out->recorded,
				       .watched = &out->watched,
				       .seen = calloc(s->nwatch + 1ul, sizeof(*r->seen)) };
	out->recorded.wanted = s->record;
	out->watched.wanted = s->nwatch;
	return r->seen ? 0 : -ENOMEM;
}

/* By packet, and of one by time. */
static int record_by_packet(const void *left, const void *right)
{
	const struct dl_emu_step *a = left, *b = right;

	if (a->packet != b->packet)
		return a->packet < b->packet ? -1 : 1;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->kind != b->kind ? a->kind - b->kind : (a->port > b->port) - (a->port < b->port);
}

int dl_emu_record_end(struct dl_emu_recorder *r)
{
	if (r->watched && r->watched->n)
		qsort(r->watched->step, r->watched->n, sizeof(*r->watched->step), record_by_packet);
	free(r->seen);
	free(r->numbers);
	return r->err;
}
