/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reads the scenarios of `dateline emulate`. */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulate.h"
#include "scenario.h"

#define NS_MAX INT64_C(1000000000000) /* a quarter of an hour */
#define BYTES_MAX (1 << 30)	      /* of a message */
#define MILLION 1000000
#define MANY 1000000

int emu_scenario_error(const struct emu_scenario *s, const struct dl_log *log,
		       unsigned int line, const char *format, ...)
{
	char message[512];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	dl_log(log, DL_LOG_ERROR, "%s:%u: %s", s->path, line, message);
	return -EINVAL;
}

static int no_memory(const struct dl_scenario *s, const yaml_node_t *at)
{
	dl_scenario_error(s, at, "out of memory");
	return -ENOMEM;
}

static size_t items_of(const yaml_node_t *list)
{
	return list->data.sequence.items.top - list->data.sequence.items.start;
}

/* ---- lists ------------------------------------------------------------- */

static int read_name(const struct dl_scenario *s, const yaml_node_t *n,
		     const char *what, struct emu_name *out)
{
	out->line = dl_scenario_line(n);
	return dl_scenario_text(s, n, what, &out->text);
}

static int read_names(struct dl_scenario *s, const yaml_node_t *value,
		      const struct dl_key *key, void *to)
{
	struct emu_names *names = (void *)((char *)to + key->offset);
	const yaml_node_t *item;
	int err = 0;

	if (value->type != YAML_SEQUENCE_NODE || !items_of(value))
		return dl_scenario_error(s, value,
					 "%s: expected a list of "
					 "adapters",
					 key->name);
	names->list = calloc(items_of(value), sizeof(*names->list));
	if (!names->list)
		return no_memory(s, value);
	names->given = true;
	while (!err && (item = dl_scenario_item(s, value, names->n)))
		err = read_name(s, item, key->name, &names->list[names->n++]);
	return err;
}

static int read_size(struct dl_scenario *s, const yaml_node_t *n,
		     struct dl_emu_size *out)
{
	const yaml_node_t *part = n;
	int64_t bytes, weight = 1;
	int err = 0;

	if (n->type == YAML_SEQUENCE_NODE) {
		if (items_of(n) != 2)
			return dl_scenario_error(s, n,
						 "bytes: expected [bytes,"
						 " weight]");
		part = dl_scenario_item(s, n, 0);
		err = dl_scenario_number(s, dl_scenario_item(s, n, 1),
					 "weight of a size", 1, MANY, &weight);
	}
	if (!err)
		err = dl_scenario_number(s, part, "bytes", 1, BYTES_MAX,
					 &bytes);
	if (!err)
		*out = (struct dl_emu_size){ .bytes = bytes, .weight = weight };
	return err;
}

/* 2048, [64, 2048] or [[64, 9], [2048, 1]]. */
static int read_bytes(struct dl_scenario *s, const yaml_node_t *value,
		      const struct dl_key *key, void *to)
{
	struct emu_sizes *sizes = (void *)((char *)to + key->offset);
	bool list = value->type == YAML_SEQUENCE_NODE;
	size_t n = list ? items_of(value) : 1;
	int err = 0;

	if (!n || n > 1000)
		return dl_scenario_error(s, value,
					 "bytes: expected 1 to 1000 "
					 "sizes");
	sizes->list = calloc(n, sizeof(*sizes->list));
	if (!sizes->list)
		return no_memory(s, value);
	sizes->n = n;
	for (size_t i = 0; !err && i < n; i++)
		err = read_size(s, list ? dl_scenario_item(s, value, i) : value,
				&sizes->list[i]);
	return err;
}

static int read_grid(struct dl_scenario *s, const yaml_node_t *value,
		     const struct dl_key *key, void *to)
{
	struct emu_scenario *e = to;
	uint64_t places = 1;
	int64_t radix;
	int err = 0;

	if (value->type != YAML_SEQUENCE_NODE || !items_of(value) ||
	    items_of(value) > DL_EMU_GRID_DIMS)
		return dl_scenario_error(s, value,
					 "%s: expected a list of 1 to"
					 " %d radices",
					 key->name, DL_EMU_GRID_DIMS);
	for (e->dims = 0; !err && e->dims < items_of(value); e->dims++) {
		err = dl_scenario_number(s, dl_scenario_item(s, value, e->dims),
					 key->name, 1, 65535, &radix);
		e->radix[e->dims] = radix;
		places *= radix;
		if (!err && places > MANY)
			return dl_scenario_error(s, value,
						 "%s: expected at "
						 "most %d points",
						 key->name, MANY);
	}
	return err;
}

/* ---- traffic ----------------------------------------------------------- */

#define TRAFFIC(member) .offset = offsetof(struct emu_traffic, member)

static const struct dl_key traffic_keys[] = {
	{ .name = "name", .read = dl_key_text, TRAFFIC(name) },
	{ .name = "pattern",
	  .read = dl_key_word,
	  TRAFFIC(pattern),
	  .words = EMU_PATTERNS,
	  .required = true },
	{ .name = "level", .read = dl_key_number, TRAFFIC(level), .max = 1 },
	{ .name = "load",
	  .read = dl_key_decimal,
	  TRAFFIC(load),
	  .min = 1,
	  .max = 10 * MILLION },
	{ .name = "window",
	  .read = dl_key_number,
	  TRAFFIC(window),
	  .min = 1,
	  .max = 1024 },
	{ .name = "arrival",
	  .read = dl_key_word,
	  TRAFFIC(arrival),
	  .words = "random periodic" },
	{ .name = "bytes", .read = read_bytes, TRAFFIC(sizes) },
	{ .name = "start_ns",
	  .read = dl_key_number,
	  TRAFFIC(start_ns),
	  .max = NS_MAX },
	{ .name = "stop_ns",
	  .read = dl_key_number,
	  TRAFFIC(stop_ns),
	  .max = NS_MAX },
	{ .name = "count",
	  .read = dl_key_number,
	  TRAFFIC(count),
	  .min = 1,
	  .max = INT32_MAX },
	{ .name = "sources", .read = read_names, TRAFFIC(sources) },
	{ .name = "targets", .read = read_names, TRAFFIC(targets) },
	{ .name = "fraction",
	  .read = dl_key_decimal,
	  TRAFFIC(fraction),
	  .max = MILLION },
	{ .name = "by",
	  .read = dl_key_number,
	  TRAFFIC(by),
	  .min = 1,
	  .max = 65535 },
	{ .name = "group",
	  .read = dl_key_number,
	  TRAFFIC(group),
	  .min = 0xC000,
	  .max = 0xFFFE },
	{ .name = "file", .read = dl_key_text, TRAFFIC(file) },
	{ 0 }
};

/* Keys that only some patterns have, and those that need them. */
static int check_traffic(struct dl_scenario *s, const yaml_node_t *at,
			 const struct emu_traffic *t)
{
	bool trace = t->pattern == DL_EMU_PATTERN_TRACE;
	bool targets = t->pattern == DL_EMU_PATTERN_HOTSPOT ||
		       t->pattern == DL_EMU_PATTERN_INCAST;

	if (targets != t->targets.given)
		return dl_scenario_error(s, at,
					 "expected the key targets with "
					 "hotspot and incast, and only there");
	if (trace != !!t->file)
		return dl_scenario_error(s, at,
					 "expected the key file with "
					 "trace, and only there");
	if ((t->pattern == DL_EMU_PATTERN_SHIFT) != (t->by > 0))
		return dl_scenario_error(s, at,
					 "expected the key by with "
					 "shift, and only there");
	if (t->group && t->pattern != DL_EMU_PATTERN_MULTICAST)
		return dl_scenario_error(s, at,
					 "expected the key group with "
					 "multicast only");
	if (t->fraction >= 0 && t->pattern != DL_EMU_PATTERN_HOTSPOT)
		return dl_scenario_error(s, at,
					 "expected the key fraction "
					 "with hotspot only");
	if (trace && (t->load || t->window || t->sizes.n || t->count ||
		      t->sources.given))
		return dl_scenario_error(s, at,
					 "trace: expected no load, "
					 "window, bytes, count or sources: "
					 "they are in the file");
	if (!trace && !t->load == !t->window)
		return dl_scenario_error(s, at,
					 "expected either the key load "
					 "or the key window");
	if (t->stop_ns >= 0 && t->stop_ns <= t->start_ns)
		return dl_scenario_error(s, at,
					 "stop_ns: expected a time "
					 "after start_ns");
	return 0;
}

static int read_traffic(struct dl_scenario *s, const yaml_node_t *value,
			const struct dl_key *key, void *to)
{
	struct emu_scenario *e = to;
	const yaml_node_t *item;
	int err = 0;

	if (value->type != YAML_SEQUENCE_NODE || !items_of(value) ||
	    items_of(value) > 1000)
		return dl_scenario_error(s, value,
					 "%s: expected a list of 1 to"
					 " 1000 entries",
					 key->name);
	e->traffic = calloc(items_of(value), sizeof(*e->traffic));
	if (!e->traffic)
		return no_memory(s, value);
	while (!err && (item = dl_scenario_item(s, value, e->ntraffic))) {
		struct emu_traffic *t = &e->traffic[e->ntraffic++];

		*t = (struct emu_traffic){ .line = dl_scenario_line(item),
					   .stop_ns = -1,
					   .fraction = -1 };
		err = dl_scenario_mapping(s, item, traffic_keys, t);
		if (!err)
			err = check_traffic(s, item, t);
	}
	return err;
}

/* ---- faults ------------------------------------------------------------ */

#define FAULT(member) .offset = offsetof(struct emu_fault, member)

static int read_node(struct dl_scenario *s, const yaml_node_t *value,
		     const struct dl_key *key, void *to)
{
	return read_name(s, value, key->name, &((struct emu_fault *)to)->node);
}

static const struct dl_key fault_keys[] = {
	{ .name = "at_ns",
	  .read = dl_key_number,
	  FAULT(at_ns),
	  .max = NS_MAX,
	  .required = true },
	{ .name = "fault",
	  .read = dl_key_word,
	  FAULT(kind),
	  .words = "link_down lose_fcp corrupt_fcp stop_draining tables",
	  .required = true },
	{ .name = "node", .read = read_node },
	{ .name = "port",
	  .read = dl_key_number,
	  FAULT(port),
	  .min = 1,
	  .max = 254 },
	{ .name = "for_ns",
	  .read = dl_key_number,
	  FAULT(for_ns),
	  .min = 1,
	  .max = NS_MAX },
	{ .name = "every_ns",
	  .read = dl_key_number,
	  FAULT(every_ns),
	  .min = 1,
	  .max = NS_MAX },
	{ .name = "times",
	  .read = dl_key_number,
	  FAULT(times),
	  .min = 1,
	  .max = 10000 },
	{ .name = "share",
	  .read = dl_key_decimal,
	  FAULT(share),
	  .min = 1,
	  .max = MILLION },
	{ .name = "snapshot", .read = dl_key_text, FAULT(snapshot) },
	{ 0 }
};

static int check_fault(struct dl_scenario *s, const yaml_node_t *at,
		       const struct emu_fault *f)
{
	bool tables = f->kind == EMU_FAULT_TABLES;
	bool fcp = f->kind == EMU_FAULT_LOSE_FCP ||
		   f->kind == EMU_FAULT_CORRUPT_FCP;

	if (tables != !!f->snapshot)
		return dl_scenario_error(s, at,
					 "expected the key snapshot with"
					 " tables, and only there");
	if (tables == !!f->node.text)
		return dl_scenario_error(s, at,
					 "expected the key node, but not"
					 " with tables");
	if (!tables && f->kind != EMU_FAULT_STOP_DRAINING && f->port < 0)
		return dl_scenario_error(s, at, "expected the key port");
	if (tables && (f->port >= 0 || f->for_ns >= 0))
		return dl_scenario_error(s, at,
					 "tables: expected neither port "
					 "nor for_ns");
	if (f->share >= 0 && !fcp)
		return dl_scenario_error(s, at,
					 "expected the key share with "
					 "lose_fcp and corrupt_fcp only");
	if (!f->every_ns != !f->times)
		return dl_scenario_error(s, at,
					 "expected every_ns and times "
					 "together");
	if (f->times && (f->for_ns < 0 || f->for_ns >= f->every_ns))
		return dl_scenario_error(s, at,
					 "expected for_ns below "
					 "every_ns");
	return 0;
}

static int read_faults(struct dl_scenario *s, const yaml_node_t *value,
		       const struct dl_key *key, void *to)
{
	struct emu_scenario *e = to;
	const yaml_node_t *item;
	int err = 0;

	if (value->type != YAML_SEQUENCE_NODE)
		return dl_scenario_error(s, value,
					 "%s: expected a list of "
					 "faults",
					 key->name);
	e->faults = calloc(items_of(value) + 1, sizeof(*e->faults));
	if (!e->faults)
		return no_memory(s, value);
	while (!err && (item = dl_scenario_item(s, value, e->nfaults))) {
		struct emu_fault *f = &e->faults[e->nfaults++];

		*f = (struct emu_fault){ .line = dl_scenario_line(item),
					 .port = -1,
					 .for_ns = -1,
					 .share = -1 };
		err = dl_scenario_mapping(s, item, fault_keys, f);
		if (!err)
			err = check_fault(s, item, f);
	}
	return err;
}

/* ---- scenarios --------------------------------------------------------- */

#define MEMBER(member) .offset = offsetof(struct emu_scenario, member)

static int read_mtu(struct dl_scenario *s, const yaml_node_t *value,
		    const struct dl_key *key, void *to)
{
	unsigned int i;
	int err = dl_scenario_word(s, value, key->name,
				   "256 512 1024 2048 4096", &i);

	if (!err)
		((struct emu_scenario *)to)->mtu = 256 << i;
	return err;
}

static const struct dl_key scenario_keys[] = {
	{ .name = "seed",
	  .read = dl_key_number,
	  MEMBER(seed),
	  .max = INT64_MAX },
	{ .name = "duration_ns",
	  .read = dl_key_number,
	  MEMBER(duration_ns),
	  .min = 1,
	  .max = NS_MAX },
	{ .name = "warmup_ns",
	  .read = dl_key_number,
	  MEMBER(warmup_ns),
	  .max = NS_MAX },
	{ .name = "drain_ns",
	  .read = dl_key_number,
	  MEMBER(drain_ns),
	  .max = NS_MAX },
	{ .name = "sample_ns",
	  .read = dl_key_number,
	  MEMBER(sample_ns),
	  .min = 1,
	  .max = NS_MAX },
	{ .name = "switching",
	  .read = dl_key_word,
	  MEMBER(switching),
	  .words = "store_and_forward cut_through wormhole" },
	{ .name = "flow_control",
	  .read = dl_key_word,
	  MEMBER(flow_control),
	  .words = "iba pcie" },
	{ .name = "mtu", .read = read_mtu },
	{ .name = "buffer_blocks",
	  .read = dl_key_number,
	  MEMBER(buffer_blocks),
	  .min = 1,
	  .max = 2048 },
	{ .name = "buffer_packets",
	  .read = dl_key_number,
	  MEMBER(buffer_packets),
	  .min = 1,
	  .max = 2048 },
	{ .name = "switch_ns",
	  .read = dl_key_number,
	  MEMBER(switch_ns),
	  .max = MANY },
	{ .name = "cable_m",
	  .read = dl_key_number,
	  MEMBER(cable_m),
	  .max = 10000 },
	{ .name = "speedup", .read = dl_key_number, MEMBER(speedup), .max = 16 },
	{ .name = "force_vl",
	  .read = dl_key_number,
	  MEMBER(force_vl),
	  .max = 14 },
	{ .name = "sl_table",
	  .read = dl_key_word,
	  MEMBER(sl_table),
	  .words = "off even" },
	{ .name = "tenure_bytes",
	  .read = dl_key_number,
	  MEMBER(tenure),
	  .max = BYTES_MAX },
	{ .name = "qp_change_ns",
	  .read = dl_key_number,
	  MEMBER(qp_change_ns),
	  .max = MANY },
	{ .name = "pairs",
	  .read = dl_key_word,
	  MEMBER(pairs),
	  .words = "false true" },
	{ .name = "grid", .read = read_grid },
	{ .name = "traffic", .read = read_traffic, .required = true },
	{ .name = "faults", .read = read_faults },
	{ 0 }
};

int emu_scenario_read_stream(FILE *from, const char *name,
			     const struct dl_log *log, struct emu_scenario *out)
{
	int err;

	*out = (struct emu_scenario){
		.path = strdup(name),
		.seed = 1,
		.duration_ns = 100000,
		.drain_ns = 10000000,
		.mtu = 2048,
		.switching = DL_EMU_CUT_THROUGH,
		.speedup = -1,
		.tenure = -1,
		.force_vl = -1,
		.switch_ns = -1,
		.cable_m = -1,
	};
	if (!out->path)
		return -ENOMEM;
	err = dl_scenario_read_stream(from, name, log, scenario_keys, out);
	if (!err && out->warmup_ns >= out->duration_ns)
		err = emu_scenario_error(out, log, 1,
					 "warmup_ns: expected less"
					 " than duration_ns");
	return err;
}

int emu_scenario_read(const char *path, const struct dl_log *log,
		      struct emu_scenario *out)
{
	FILE *from;
	int err;

	if (!strcmp(path, "-"))
		return emu_scenario_read_stream(stdin, "standard input", log,
						out);
	memset(out, 0, sizeof(*out));
	from = fopen(path, "re");
	if (!from) {
		err = -errno;
		dl_log(log, DL_LOG_ERROR, "cannot open %s: %s", path,
		       strerror(errno));
		return err;
	}
	err = emu_scenario_read_stream(from, path, log, out);
	fclose(from);
	return err;
}

static void free_names(struct emu_names *names)
{
	for (uint32_t i = 0; i < names->n; i++)
		free(names->list[i].text);
	free(names->list);
}

void emu_scenario_free(struct emu_scenario *s)
{
	for (uint32_t i = 0; i < s->ntraffic; i++) {
		struct emu_traffic *t = &s->traffic[i];

		free(t->name);
		free(t->file);
		free(t->sizes.list);
		free_names(&t->sources);
		free_names(&t->targets);
	}
	for (uint32_t i = 0; i < s->nfaults; i++) {
		free(s->faults[i].node.text);
		free(s->faults[i].snapshot);
	}
	free(s->traffic);
	free(s->faults);
	free(s->path);
}
