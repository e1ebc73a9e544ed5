/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The key `faults` of a scenario: what happens to the fabric, and when. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "emu/scenario.h"

#define TABLES_MAX 256 /* new tables under traffic: each may cost far more than its line */

/* Of a rewrite, unless the scenario says otherwise. */
#define IN_FLIGHT 4
#define SMP_PS 20000000
#define DRAIN_PS 1000000000

#define KINDS "link_down lose_fcp corrupt_fcp damage stop_draining slow_receiver tables rewrite"

enum { LINK_DOWN, LOSE_FCP, CORRUPT_FCP, DAMAGE, STOP_DRAINING, SLOW_RECEIVER, TABLES, REWRITE };

/* What a kind does to a port when it begins and when it ends. */
static const struct {
	enum dl_emu_fault_kind begin, end;
} kinds[REWRITE + 1] = {
	[LINK_DOWN] = { DL_EMU_LINK_DOWN, DL_EMU_LINK_UP },
	[LOSE_FCP] = { DL_EMU_FCP_LOSS, DL_EMU_FCP_LOSS },
	[CORRUPT_FCP] = { DL_EMU_FCP_CORRUPT, DL_EMU_FCP_CORRUPT },
	[DAMAGE] = { DL_EMU_DATA_CORRUPT, DL_EMU_DATA_CORRUPT },
	[SLOW_RECEIVER] = { DL_EMU_DRAIN_RATE, DL_EMU_DRAIN_RATE },
	[STOP_DRAINING] = { DL_EMU_DRAIN_STOP, DL_EMU_DRAIN_START },
};

/* A fault while it is read. */
struct fault_reader {
	unsigned int kind;
	uint64_t length; /* ps; 0: for ever */
	uint64_t every;	 /* again and again, `times` */
	uint32_t times;
	uint32_t number; /* of the port; 0: not given */
	char *node, *snapshot;
	struct dl_emu_rewrite_options rewrite;
	struct dl_emu_action action;
};

#define FAULT(member) DL_MEMBER(struct fault_reader, member)

static const struct dl_setting fault_keys[] = {
	{ "at_ns", NS, FAULT(action.at), 0, DL_EMU_SCENARIO_NS_MAX, .required = true },
	{ "fault", WORD, FAULT(kind), .words = KINDS, .required = true },
	{ "node", TEXT, FAULT(node) },
	{ "port", NUMBER, FAULT(number), 1, 254 },
	{ "for_ns", NS, FAULT(length), 1, DL_EMU_SCENARIO_NS_MAX },
	{ "every_ns", NS, FAULT(every), 1, DL_EMU_SCENARIO_NS_MAX },
	{ "times", NUMBER, FAULT(times), 1, 10000 },
	{ "share", DECIMAL, FAULT(action.fault.rate), 1, DL_EMU_LOAD_ONE },
	{ "snapshot", TEXT, FAULT(snapshot) },
	{ "order", WORD, FAULT(rewrite.order), .words = "opensm any" },
	{ "smp_ns", NS, FAULT(rewrite.smp), 1, DL_EMU_SCENARIO_NS_MAX },
	{ "in_flight", NUMBER, FAULT(rewrite.in_flight), 1, 1000 },
	{ "phases", WORD, FAULT(rewrite.direct), .words = "true false" },
	{ "drain_ns", NS, FAULT(rewrite.drain), 0, DL_EMU_SCENARIO_NS_MAX },
	{ NULL }
};

static int faults_check(struct dl_yaml *y, const struct dl_yaml_node *at,
			const struct fault_reader *f)
{
	const struct dl_emu_rewrite_options *w = &f->rewrite;
	bool rewrite = f->kind == REWRITE;
	bool tables = f->kind == TABLES || rewrite;
	bool slow = f->kind == SLOW_RECEIVER;
	bool draining = f->kind == STOP_DRAINING || slow;
	bool share = f->kind == LOSE_FCP || f->kind == CORRUPT_FCP || f->kind == DAMAGE || slow;
	const struct dl_emu_scenario_rule rules[] = {
		{ tables != !!f->snapshot, "snapshot fault",
		  "expected the key snapshot with tables and rewrite, and only there" },
		{ !rewrite && (w->order || w->smp || w->in_flight || w->direct ||
			       w->drain != UINT64_MAX),
		  "order smp_ns in_flight phases drain_ns",
		  "expected the keys order, smp_ns, in_flight, phases and drain_ns with rewrite "
		  "only" },
		{ w->direct && w->drain != UINT64_MAX, "drain_ns",
		  "expected the key drain_ns with phases only" },
		{ tables == !!f->node, "node fault",
		  "expected the key node, but not with tables and rewrite" },
		{ !tables && !draining && !f->number, "fault", "expected the key port" },
		{ tables && (f->number || f->length), "port for_ns",
		  "tables and rewrite: expected neither port nor for_ns" },
		{ f->action.fault.rate && !share, "share",
		  "expected the key share with lose_fcp, corrupt_fcp, damage and slow_receiver "
		  "only" },
		{ slow && !f->action.fault.rate, "fault",
		  "slow_receiver: expected the key share, of its link's rate" },
		{ !f->every != !f->times, "every_ns times",
		  "expected every_ns and times together" },
		{ f->times && (!f->length || f->length >= f->every), "for_ns every_ns",
		  "expected for_ns below every_ns" },
	};

	return dl_emu_scenario_check(y, at, rules, sizeof(rules) / sizeof(*rules));
}

/* The port that a fault names, and what it does to it. */
static int faults_find_port(struct dl_yaml *y, const struct dl_yaml_node *item,
			    const struct dl_emu_scenario *s, struct fault_reader *r)
{
	bool adapter = r->kind == STOP_DRAINING || r->kind == SLOW_RECEIVER;
	uint32_t a, *out = &r->action.fault.port;
	int err = 0;

	if (!adapter || r->number || dl_emu_scenario_node(s, r->node) == DL_NONE)
		err = dl_emu_scenario_port(y, item, s, r->node, r->number, out);
	else if (!dl_emu_scenario_adapter(s, r->node, &a))
		*out = s->port[a];
	else
		err = dl_yaml_error(y, dl_yaml_key(y, item, "node"),
				    "%.60s: expected an adapter with a cable and a LID", r->node);
	if (!err && adapter && s->adapter[*out] == DL_EMU_NO_ADAPTER)
		err = dl_yaml_error(y, dl_yaml_key(y, item, "node"), "%.60s: expected an adapter",
				    r->node);
	return err;
}

/*
 * The tables of a snapshot; those of an earlier fault, if it is the same file or
 * directory, however it is named.
 */
static int faults_read_tables(struct dl_emu_scenario *s, const char *name,
			      const struct dl_tables **out)
{
	const struct dl_emu_scenario_options *o = s->options;
	char *path = dl_emu_scenario_file(s, name);
	struct dl_emu_later later = { 0 };
	struct stat st;
	int err;

	if (!path || !dl_array_room(s->later, s->nlater, 1, &s->later_cap))
		return -ENOMEM;
	if (!stat(path, &st)) {
		later.device = st.st_dev;
		later.file = st.st_ino;
	}
	for (uint32_t k = 0; k < s->nlater && later.file; k++) {
		if (s->later[k].file != later.file || s->later[k].device != later.device)
			continue;
		*out = s->later[k].snapshot.tables;
		return 0;
	}
	err = o && o->read_tables ? o->read_tables(o->context, path, &later.snapshot) :
				    dl_snapshot_read(path, NULL, NULL, s->log, &later.snapshot);
	if (!err)
		s->later[s->nlater++] = later;
	*out = later.snapshot.tables;
	return err;
}

static int faults_add(struct dl_emu_scenario *s, const struct dl_emu_action *action)
{
	if (!dl_array_room(s->actions, s->nactions, 1, &s->actions_cap))
		return -ENOMEM;
	s->actions[s->nactions] = *action;
	s->actions[s->nactions].order = s->nactions;
	s->nactions++;
	return 0;
}

/* Each time that a fault begins, and that it ends. */
static int faults_add_all(struct dl_emu_scenario *s, const struct fault_reader *f)
{
	int err = 0;

	for (uint32_t k = 0; !err && k < (f->times ? f->times : 1); k++) {
		struct dl_emu_action action = f->action;

		action.at += k * f->every;
		action.fault.kind = kinds[f->kind].begin;
		if (!action.fault.rate)
			action.fault.rate = DL_EMU_LOAD_ONE;
		err = faults_add(s, &action);
		if (err || !f->length)
			continue;
		action.at += f->length;
		action.fault.kind = kinds[f->kind].end;
		action.fault.rate = f->kind == SLOW_RECEIVER ? DL_EMU_LOAD_ONE : 0;
		err = faults_add(s, &action);
	}
	return err;
}

static int faults_add_rewrite(struct dl_emu_scenario *s, struct fault_reader *f)
{
	struct dl_emu_rewrite_options *w = dl_arena_zalloc(&s->arena, sizeof(*w));

	if (!w)
		return -ENOMEM;
	*w = f->rewrite;
	w->at = f->action.at;
	w->in_flight = w->in_flight ? w->in_flight : IN_FLIGHT;
	w->smp = w->smp ? w->smp : SMP_PS;
	w->drain = w->drain == UINT64_MAX ? DRAIN_PS : w->drain;
	f->action.rewrite = w;
	return 0;
}

static int faults_take(struct dl_yaml *y, const struct dl_yaml_node *item,
		       struct dl_emu_scenario *s, struct fault_reader *f)
{
	int err = faults_check(y, item, f);

	if (err)
		return err;
	s->repeats += f->times;
	s->swaps += f->snapshot != NULL;
	if (s->repeats > DL_EMU_SCENARIO_MILLION)
		return dl_yaml_error(y, dl_yaml_key(y, item, "times"),
				     "times: expected at most %d in all", DL_EMU_SCENARIO_MILLION);
	if (s->swaps > TABLES_MAX)
		return dl_yaml_error(y, dl_yaml_key(y, item, "snapshot"),
				     "snapshot: expected at most %d of them", TABLES_MAX);
	if (f->snapshot)
		err = faults_read_tables(s, f->snapshot, &f->action.tables);
	else
		err = faults_find_port(y, item, s, f);
	if (err && err != -ENOMEM && f->snapshot)
		dl_yaml_error(y, dl_yaml_key(y, item, "snapshot"),
			      "snapshot: %.200s: expected a snapshot beside the scenario",
			      f->snapshot);
	if (!err && f->kind == REWRITE)
		err = faults_add_rewrite(s, f);
	return err ? err : faults_add_all(s, f);
}

static int faults_by_time(const void *left, const void *right)
{
	const struct dl_emu_action *a = left, *b = right;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

int dl_emu_scenario_read_faults(struct dl_yaml *y, const struct dl_yaml_node *value,
				const struct dl_setting *key, void *to)
{
	struct dl_emu_scenario *s = to;
	const struct dl_yaml_node *item;
	int err = 0;

	if (!dl_yaml_is_list(value))
		return dl_yaml_error(y, value, "%s: expected a list of faults", key->name);
	for (size_t i = 0; !err && (item = dl_yaml_item(y, value, i)); i++) {
		struct fault_reader f = { .rewrite = { .drain = UINT64_MAX } };

		err = dl_yaml_mapping(y, item, fault_keys, &f);
		if (!err)
			err = faults_take(y, item, s, &f);
		free(f.node);
		free(f.snapshot);
	}
	if (s->nactions)
		qsort(s->actions, s->nactions, sizeof(*s->actions), faults_by_time);
	return err;
}
