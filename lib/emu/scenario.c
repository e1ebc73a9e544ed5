/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Scenario files: tables of keys, and what they mean together.  Whatever is
 * wrong is reported with file and line; the first error ends it.
 */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "emu/scenario.h"

#define NS_MAX INT64_C(1000000000000) /* a quarter of an hour */
#define BYTES_MAX (1 << 30)	      /* of a message */
#define MILLION 1000000
#define TRACES_MAX 64
#define TABLES_MAX 256 /* new tables under traffic */

static const struct dl_emu_size default_size = { 2048, 1 };

#define NUMBER .type = DL_SETTING_NUMBER
#define DECIMAL .type = DL_SETTING_DECIMAL
#define WORD .type = DL_SETTING_WORD
#define TEXT .type = DL_SETTING_TEXT

int dl_emu_scenario_error(const struct dl_emu_scenario *s, const struct dl_log *log,
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

/* What must not be, and what was expected instead. */
struct rule {
	bool broken;
	const char *expected;
};

static int check(struct dl_yaml *y, const struct dl_yaml_node *at, const struct rule *rules,
		 size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rules[i].broken)
			return dl_yaml_error(y, at, "%s", rules[i].expected);
	return 0;
}

#define CHECK(y, at, rules) check(y, at, rules, sizeof(rules) / sizeof(*(rules)))

/*
 * Room for a list of `min` to `max` items, zeroed; *err when it is something
 * else.
 */
static void *new_list(struct dl_yaml *y, const struct dl_yaml_node *value, size_t min, size_t max,
		      size_t size, const char *name, const char *expected, int *err)
{
	size_t n = dl_yaml_count(value);
	void *list;

	*err = 0;
	if (!dl_yaml_is_list(value) || n < min || n > max) {
		*err = dl_yaml_error(y, value, "%s: expected %s", name, expected);
		return NULL;
	}
	list = calloc(n + 1, size);
	if (!list)
		*err = dl_yaml_no_memory(y, value);
	return list;
}

/* ---- lists ------------------------------------------------------------- */

static int read_name(struct dl_yaml *y, const struct dl_yaml_node *value, const char *key,
		     struct dl_emu_name *out)
{
	const struct dl_setting text = { key, TEXT, DL_MEMBER(struct dl_emu_name, text) };

	out->line = dl_yaml_line(value);
	return dl_yaml_value(y, value, &text, out);
}

static int read_names(struct dl_yaml *y, const struct dl_yaml_node *value,
		      const struct dl_setting *key, void *to)
{
	struct dl_emu_names *names = dl_setting_member(key, to);
	const struct dl_yaml_node *item;
	int err;

	names->list = new_list(y, value, 1, SIZE_MAX, sizeof(*names->list), key->name,
			       "a list of adapters", &err);
	while (!err && (item = dl_yaml_item(y, value, names->n)))
		err = read_name(y, item, key->name, &names->list[names->n++]);
	return err;
}

static int read_size(struct dl_yaml *y, const struct dl_yaml_node *n, struct dl_emu_size *out)
{
	const struct dl_yaml_node *part = n;
	int64_t bytes, weight = 1;
	int err = 0;

	if (dl_yaml_is_list(n)) {
		if (dl_yaml_count(n) != 2)
			return dl_yaml_error(y, n, "bytes: expected [bytes, weight]");
		part = dl_yaml_item(y, n, 0);
		err = dl_yaml_number(y, dl_yaml_item(y, n, 1), "weight of a size", 1, MILLION,
				     &weight);
	}
	if (!err)
		err = dl_yaml_number(y, part, "bytes", 1, BYTES_MAX, &bytes);
	if (!err)
		*out = (struct dl_emu_size){ .bytes = bytes, .weight = weight };
	return err;
}

/* 2048, [64, 2048] or [[64, 9], [2048, 1]]. */
static int read_bytes(struct dl_yaml *y, const struct dl_yaml_node *value,
		      const struct dl_setting *key, void *to)
{
	struct dl_emu_traffic_entry *e = &((struct dl_emu_scenario_traffic *)to)->entry;
	bool list = dl_yaml_is_list(value);
	struct dl_emu_size *sizes;
	int err = 0;

	if (list)
		sizes = new_list(y, value, 1, 1000, sizeof(*sizes), key->name, "1 to 1000 sizes",
				 &err);
	else if (!(sizes = calloc(1, sizeof(*sizes))))
		err = dl_yaml_no_memory(y, value);
	e->sizes = sizes;
	e->nsizes = list ? dl_yaml_count(value) : 1;
	for (size_t i = 0; !err && i < e->nsizes; i++)
		err = read_size(y, list ? dl_yaml_item(y, value, i) : value, &sizes[i]);
	return err;
}

static int read_grid(struct dl_yaml *y, const struct dl_yaml_node *value,
		     const struct dl_setting *key, void *to)
{
	struct dl_emu_scenario *s = to;
	size_t n = dl_yaml_count(value);
	uint64_t points = 1;
	int64_t radix;
	int err = 0;

	if (!dl_yaml_is_list(value) || !n || n > DL_EMU_GRID_DIMS)
		return dl_yaml_error(y, value, "%s: expected a list of 1 to %d radices", key->name,
				     DL_EMU_GRID_DIMS);
	for (s->dims = 0; !err && s->dims < n; s->dims++) {
		err = dl_yaml_number(y, dl_yaml_item(y, value, s->dims), key->name, 1, 65535,
				     &radix);
		s->radix[s->dims] = radix;
		points *= radix;
		if (!err && points > MILLION)
			return dl_yaml_error(y, value, "%s: expected at most %d points", key->name,
					     MILLION);
	}
	return err;
}

/* ---- traffic ----------------------------------------------------------- */

#define TRAFFIC(member) DL_MEMBER(struct dl_emu_scenario_traffic, member)

static const struct dl_setting traffic_keys[] = {
	{ "name", TEXT, TRAFFIC(name) },
	{ "pattern", WORD, TRAFFIC(entry.pattern), .words = DL_EMU_PATTERN_WORDS,
	  .required = true },
	{ "level", NUMBER, TRAFFIC(entry.level), .max = 1 },
	{ "load", DECIMAL, TRAFFIC(entry.load), 1, 10 * MILLION },
	{ "window", NUMBER, TRAFFIC(entry.window), 1, 1024 },
	{ "arrival", WORD, TRAFFIC(entry.periodic), .words = "random periodic" },
	{ "bytes", .read = read_bytes },
	{ "start_ns", NUMBER, TRAFFIC(entry.start), 0, NS_MAX },
	{ "stop_ns", NUMBER, TRAFFIC(entry.stop), 0, NS_MAX },
	{ "count", NUMBER, TRAFFIC(entry.count), 1, INT32_MAX },
	{ "sources", TRAFFIC(sources), .read = read_names },
	{ "targets", TRAFFIC(targets), .read = read_names },
	{ "fraction", DECIMAL, TRAFFIC(entry.fraction), 0, MILLION },
	{ "by", NUMBER, TRAFFIC(entry.by), 1, 65535 },
	{ "group", NUMBER, TRAFFIC(entry.mlid), 0xC000, 0xFFFE },
	{ "file", TEXT, TRAFFIC(file) },
	{ NULL }
};

/* Keys that only some patterns have, and those that need them. */
static int check_traffic(struct dl_yaml *y, const struct dl_yaml_node *at,
			 const struct dl_emu_scenario_traffic *t)
{
	const struct dl_emu_traffic_entry *e = &t->entry;
	bool trace = e->pattern == DL_EMU_PATTERN_TRACE;
	bool hotspot = e->pattern == DL_EMU_PATTERN_HOTSPOT;
	bool targets = hotspot || e->pattern == DL_EMU_PATTERN_INCAST;
	const struct rule rules[] = {
		{ targets != !!t->targets.n,
		  "expected the key targets with hotspot and incast, and only "
		  "there" },
		{ trace != !!t->file, "expected the key file with trace, and only there" },
		{ (e->pattern == DL_EMU_PATTERN_SHIFT) != (e->by > 0),
		  "expected the key by with shift, and only there" },
		{ e->mlid && e->pattern != DL_EMU_PATTERN_MULTICAST,
		  "expected the key group with multicast only" },
		{ e->fraction != DL_NONE && !hotspot,
		  "expected the key fraction with hotspot only" },
		{ trace && (e->load || e->window || e->nsizes || e->count || t->sources.n),
		  "trace: expected no load, window, bytes, count or sources: "
		  "they are in the file" },
		{ !trace && !e->load == !e->window,
		  "expected either the key load or the key window" },
		{ e->stop <= e->start, "stop_ns: expected a time after start_ns" },
	};

	return CHECK(y, at, rules);
}

static int read_traffic(struct dl_yaml *y, const struct dl_yaml_node *value,
			const struct dl_setting *key, void *to)
{

	struct dl_emu_scenario *s = to;
	const struct dl_yaml_node *item;
	int err;

	s->traffic = new_list(y, value, 1, 1000, sizeof(*s->traffic), key->name,
			      "a list of 1 to 1000 entries", &err);
	while (!err && (item = dl_yaml_item(y, value, s->ntraffic))) {
		struct dl_emu_scenario_traffic *t = &s->traffic[s->ntraffic++];
		struct dl_emu_traffic_entry *e = &t->entry;

		t->line = dl_yaml_line(item);
		e->stop = UINT64_MAX;
		e->fraction = DL_NONE;
		err = dl_yaml_mapping(y, item, traffic_keys, t);
		if (!err)
			err = check_traffic(y, item, t);
		e->start *= 1000;
		e->stop *= e->stop == UINT64_MAX ? 1 : 1000;
		if (e->fraction == DL_NONE)
			e->fraction = DL_EMU_LOAD_ONE / 2;
		if (!err && !e->sizes) {
			e->sizes = &default_size;
			e->nsizes = 1;
		}
	}
	return err;
}

/* ---- faults ------------------------------------------------------------ */

/* Of a rewrite, unless the scenario says otherwise. */
#define IN_FLIGHT 4
#define SMP_NS 20000
#define DRAIN_NS 1000000

#define FAULT(member) DL_MEMBER(struct dl_emu_scenario_fault, member)

static int read_node(struct dl_yaml *y, const struct dl_yaml_node *value,
		     const struct dl_setting *key, void *to)
{
	return read_name(y, value, key->name, dl_setting_member(key, to));
}

static const struct dl_setting fault_keys[] = {
	{ "at_ns", NUMBER, FAULT(at), 0, NS_MAX, .required = true },
	{ "fault", WORD, FAULT(kind),
	  .words = "link_down lose_fcp corrupt_fcp stop_draining tables rewrite",
	  .required = true },
	{ "node", FAULT(node), .read = read_node },
	{ "port", NUMBER, FAULT(port), 1, 254 },
	{ "for_ns", NUMBER, FAULT(length), 1, NS_MAX },
	{ "every_ns", NUMBER, FAULT(every), 1, NS_MAX },
	{ "times", NUMBER, FAULT(times), 1, 10000 },
	{ "share", DECIMAL, FAULT(share), 1, MILLION },
	{ "snapshot", TEXT, FAULT(snapshot) },
	{ "order", WORD, FAULT(order), .words = "opensm any" },
	{ "smp_ns", NUMBER, FAULT(smp), 1, NS_MAX },
	{ "in_flight", NUMBER, FAULT(in_flight), 1, 1000 },
	{ "phases", WORD, FAULT(direct), .words = "true false" },
	{ "drain_ns", NUMBER, FAULT(drain), 0, NS_MAX },
	{ NULL }
};

static int check_fault(struct dl_yaml *y, const struct dl_yaml_node *at,
		       const struct dl_emu_scenario_fault *f)
{
	bool rewrite = f->kind == DL_EMU_SCENARIO_REWRITE;
	bool tables = f->kind == DL_EMU_SCENARIO_TABLES || rewrite;
	bool draining = f->kind == DL_EMU_SCENARIO_STOP_DRAINING;
	bool fcp = f->kind == DL_EMU_SCENARIO_LOSE_FCP || f->kind == DL_EMU_SCENARIO_CORRUPT_FCP;
	const struct rule rules[] = {
		{ tables != !!f->snapshot,
		  "expected the key snapshot with tables and rewrite, and only there" },
		{ !rewrite && (f->order || f->smp || f->in_flight || f->direct ||
			       f->drain != UINT64_MAX),
		  "expected the keys order, smp_ns, in_flight, phases and drain_ns with rewrite "
		  "only" },
		{ f->direct && f->drain != UINT64_MAX,
		  "expected the key drain_ns with phases only" },
		{ tables == !!f->node.text,
		  "expected the key node, but not with tables and rewrite" },
		{ !tables && !draining && !f->port, "expected the key port" },
		{ tables && (f->port || f->length),
		  "tables and rewrite: expected neither port nor for_ns" },
		{ f->share && !fcp, "expected the key share with lose_fcp and corrupt_fcp only" },
		{ !f->every != !f->times, "expected every_ns and times together" },
		{ f->times && (!f->length || f->length >= f->every),
		  "expected for_ns below every_ns" },
	};

	return CHECK(y, at, rules);
}

static int read_faults(struct dl_yaml *y, const struct dl_yaml_node *value,
		       const struct dl_setting *key, void *to)
{
	struct dl_emu_scenario *s = to;
	const struct dl_yaml_node *item;
	int err;

	s->faults = new_list(y, value, 0, SIZE_MAX, sizeof(*s->faults), key->name,
			     "a list of faults", &err);
	while (!err && (item = dl_yaml_item(y, value, s->nfaults))) {
		struct dl_emu_scenario_fault *f = &s->faults[s->nfaults++];

		f->line = dl_yaml_line(item);
		f->drain = UINT64_MAX;
		err = dl_yaml_mapping(y, item, fault_keys, f);
		if (!err)
			err = check_fault(y, item, f);
		f->at *= 1000;
		f->length *= 1000;
		f->every *= 1000;
		f->in_flight = f->in_flight ? f->in_flight : IN_FLIGHT;
		f->smp = (f->smp ? f->smp : SMP_NS) * 1000;
		f->drain = (f->drain == UINT64_MAX ? DRAIN_NS : f->drain) * 1000;
	}
	return err;
}

/* ---- scenarios --------------------------------------------------------- */

#define MEMBER(member) DL_MEMBER(struct dl_emu_scenario, member)

static int read_mtu(struct dl_yaml *y, const struct dl_yaml_node *value,
		    const struct dl_setting *key, void *to)
{
	unsigned int i;
	int err = dl_yaml_word(y, value, key->name, "256 512 1024 2048 4096", &i);

	if (!err)
		((struct dl_emu_scenario *)to)->config.mtu = 256 << i;
	return err;
}

/* As they are read, in ns and metres: see to_units(). */
static const struct dl_setting scenario_keys[] = {
	{ "seed", NUMBER, MEMBER(config.seed), 0, INT64_MAX },
	{ "duration_ns", NUMBER, MEMBER(duration), 1, NS_MAX },
	{ "warmup_ns", NUMBER, MEMBER(warmup), 0, NS_MAX },
	{ "drain_ns", NUMBER, MEMBER(drain), 0, NS_MAX },
	{ "sample_ns", NUMBER, MEMBER(sample), 1, NS_MAX },
	{ "switching", WORD, MEMBER(config.switching),
	  .words = "store_and_forward cut_through wormhole" },
	{ "flow_control", WORD, MEMBER(config.flow_control), .words = "iba pcie" },
	{ "mtu", .read = read_mtu },
	{ "buffer_blocks", NUMBER, MEMBER(buffer_blocks), 1, DL_EMU_BUFFER_MAX },
	{ "hoq_life_ns", NUMBER, MEMBER(config.hoq_life_ps), 0, NS_MAX },
	{ "buffer_packets", NUMBER, MEMBER(buffer_packets), 1, 2048 },
	{ "switch_ns", NUMBER, MEMBER(config.switch_latency_ps), 0, MILLION },
	{ "credit_ns", NUMBER, MEMBER(config.credit_latency_ps), 0, MILLION },
	{ "ack_ns", NUMBER, MEMBER(config.ack_latency_ps), 0, MILLION },
	{ "cable_m", NUMBER, MEMBER(config.cable_mm_all), 0, 10000 },
	{ "speedup", NUMBER, MEMBER(config.speedup), 0, 16 },
	{ "force_vl", NUMBER, MEMBER(force_vl), 0, 14 },
	{ "sl_table", WORD, MEMBER(even), .words = "off even" },
	{ "tenure_bytes", NUMBER, MEMBER(config.tenure), 0, BYTES_MAX },
	{ "qp_change_ns", NUMBER, MEMBER(config.qp_change_ps), 0, MILLION },
	{ "pairs", WORD, MEMBER(config.pairs), .words = "false true" },
	{ "grid", .read = read_grid },
	{ "traffic", .read = read_traffic, .required = true },
	{ "faults", .read = read_faults },
	{ NULL }
};

#define BUFFER_PACKETS 8 /* unless the scenario says more or less */

static uint32_t buffer_of(const struct dl_emu_scenario *s)
{
	uint32_t packet = (s->config.mtu + DL_EMU_MCAST_HEADERS + 63) / 64;

	if (s->config.flow_control == DL_LINK_CREDIT_IBA)
		return s->buffer_blocks ? s->buffer_blocks : BUFFER_PACKETS * packet;
	if (s->buffer_packets)
		return s->buffer_packets;
	return BUFFER_PACKETS * (s->config.switching == DL_EMU_WORMHOLE ? packet : 1);
}

static void to_units(struct dl_emu_scenario *s)
{
	s->duration *= 1000;
	s->warmup *= 1000;
	s->drain *= 1000;
	s->sample *= 1000;
	s->config.switch_latency_ps *= 1000;
	s->config.credit_latency_ps *= 1000;
	s->config.ack_latency_ps *= 1000;
	s->config.qp_change_ps *= 1000;
	s->config.hoq_life_ps *= 1000;
	s->config.cable_mm_all *= 1000;
	s->config.buffer = buffer_of(s);
	if (s->even) {
		dl_emu_sl_table_even(&s->sl_table, 0, 64, 4096);
		s->config.sl_table = &s->sl_table;
	}
}

/* What repeats, or is a file of its own, may cost far more than its line. */
static int check_counts(const struct dl_emu_scenario *s, const struct dl_log *log)
{
	uint64_t times = 0, tables = 0;
	uint32_t traces = 0;

	for (uint32_t i = 0; i < s->nfaults; i++) {
		times += s->faults[i].times;
		tables += s->faults[i].snapshot ? s->faults[i].times + 1 : 0;
	}
	for (uint32_t i = 0; i < s->ntraffic; i++)
		traces += s->traffic[i].file != NULL;
	if (times > MILLION)
		return dl_emu_scenario_error(s, log, 1, "times: expected at most %d in all",
					     MILLION);
	if (tables > 2 * TABLES_MAX)
		return dl_emu_scenario_error(s, log, 1, "snapshot: expected at most %d of them",
					     TABLES_MAX);
	if (traces > TRACES_MAX)
		return dl_emu_scenario_error(s, log, 1, "file: expected at most %d traces",
					     TRACES_MAX);
	return 0;
}

static struct dl_emu_scenario *new_scenario(const char *name)
{
	struct dl_emu_scenario *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->path = strdup(name);
	s->duration = 100000;
	s->drain = 10000000;
	s->force_vl = -1;
	dl_emu_config_init(&s->config);
	s->config.seed = 1;
	s->config.switch_latency_ps /= 1000;
	s->config.cable_mm_all /= 1000;
	return s;
}

int dl_emu_scenario_read_stream(FILE *from, const char *name, const struct dl_log *log,
				struct dl_emu_scenario **out)
{
	struct dl_emu_scenario *s = new_scenario(name);
	int err = s && s->path ? 0 : -ENOMEM;

	if (!err)
		err = dl_yaml_read_stream(from, name, log, scenario_keys, s);
	if (!err && s->warmup >= s->duration)
		err = dl_emu_scenario_error(s, log, 1, "warmup_ns: expected less than duration_ns");
	if (!err && s->sample && (s->duration + s->drain) / s->sample > MILLION)
		err = dl_emu_scenario_error(s, log, 1,
					    "sample_ns: expected at most %d samples in duration_ns",
					    MILLION);
	if (!err)
		err = check_counts(s, log);
	if (err) {
		dl_emu_scenario_free(s);
		return err;
	}
	to_units(s);
	*out = s;
	return 0;
}

int dl_emu_scenario_read(const char *path, const struct dl_log *log, struct dl_emu_scenario **out)
{
	FILE *from;
	int err;

	if (!strcmp(path, "-"))
		return dl_emu_scenario_read_stream(stdin, "standard input", log, out);
	from = fopen(path, "re");
	if (!from) {
		err = -errno;
		dl_log(log, DL_LOG_ERROR, "cannot open %s: %s", path, strerror(errno));
		return err;
	}
	err = dl_emu_scenario_read_stream(from, path, log, out);
	fclose(from);
	return err;
}

void dl_emu_scenario_set_seed(struct dl_emu_scenario *s, uint64_t seed)
{
	s->config.seed = seed;
}

void dl_emu_scenario_set_threads(struct dl_emu_scenario *s, uint32_t threads)
{
	s->config.threads = threads;
}

static void free_names(struct dl_emu_names *names)
{
	for (uint32_t i = 0; i < names->n; i++)
		free(names->list[i].text);
	free(names->list);
}

void dl_emu_scenario_free(struct dl_emu_scenario *s)
{
	for (uint32_t i = 0; s && i < s->ntraffic; i++) {
		struct dl_emu_scenario_traffic *t = &s->traffic[i];

		free(t->name);
		free(t->file);
		if (t->entry.sizes != &default_size)
			free((void *)t->entry.sizes);
		free_names(&t->sources);
		free_names(&t->targets);
	}
	for (uint32_t i = 0; s && i < s->nfaults; i++) {
		free(s->faults[i].node.text);
		free(s->faults[i].snapshot);
	}
	if (s) {
		free(s->traffic);
		free(s->faults);
		free(s->path);
	}
	free(s);
}
