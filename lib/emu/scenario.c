/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Scenario files: the keys, the adapters and the grid that they refer to.  The
 * first error ends it.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/scenario.h"

#define NS_MAX DL_EMU_SCENARIO_NS_MAX
#define MILLION DL_EMU_SCENARIO_MILLION

int dl_emu_scenario_check(struct dl_yaml *y, const struct dl_yaml_node *at,
			  const struct dl_emu_scenario_rule *rules, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rules[i].broken)
			return dl_yaml_error(y, dl_yaml_key(y, at, rules[i].keys), "%s",
					     rules[i].expected);
	return 0;
}

/* ---- names ------------------------------------------------------------- */

uint32_t dl_emu_scenario_node(const struct dl_emu_scenario *s, const char *text)
{
	const struct dl_fabric *f = s->tables->fabric;
	uint64_t guid;

	if (!strncmp(text, "0x", 2) && !*dl_number_scan(text + 2, 16, &guid) && text[2])
		return dl_fabric_find_guid(f, guid);
	return dl_fabric_find_name(f, &s->names, text);
}

int dl_emu_scenario_adapter(const struct dl_emu_scenario *s, const char *text, uint32_t *out)
{
	const struct dl_fabric *f = s->tables->fabric;
	uint64_t number;
	uint32_t node;

	if (*text && !*dl_number_scan(text, 10, &number)) {
		*out = number;
		return number < s->traffic.nadapters ? 0 : -EINVAL;
	}
	node = dl_emu_scenario_node(s, text);
	for (unsigned int i = 1; node != DL_NONE && i <= f->nodes[node].nports; i++) {
		*out = s->adapter[f->nodes[node].first_port + i];
		if (*out != DL_EMU_NO_ADAPTER)
			return 0;
	}
	return -EINVAL;
}

int dl_emu_scenario_port(struct dl_yaml *y, const struct dl_yaml_node *at,
			 const struct dl_emu_scenario *s, const char *node, uint32_t number,
			 uint32_t *out)
{
	const struct dl_fabric *f = s->tables->fabric;
	uint32_t n = dl_emu_scenario_node(s, node);

	if (n == DL_NONE)
		return dl_yaml_error(y, dl_yaml_key(y, at, "node"),
				     "%.60s: expected a node of the fabric: its name or GUID",
				     node);
	*out = f->nodes[n].first_port + number;
	if (number > f->nodes[n].nports || f->ports[*out].peer == DL_NONE)
		return dl_yaml_error(y, dl_yaml_key(y, at, "port node"),
				     "port %u of %.60s: expected a port with a cable", number,
				     node);
	return 0;
}

char *dl_emu_scenario_file(struct dl_emu_scenario *s, const char *name)
{
	const char *slash = strrchr(s->path, '/');
	size_t dir = name[0] == '/' || !slash ? 0 : slash + 1 - s->path;
	char *path = dl_arena_alloc(&s->arena, dir + strlen(name) + 1);

	if (path) {
		memcpy(path, s->path, dir);
		memcpy(path + dir, name, strlen(name) + 1);
	}
	return path;
}

int dl_emu_scenario_text(struct dl_yaml *y, const struct dl_yaml_node *value, const char *key,
			 char **out)
{
	const struct dl_setting text = { .name = key, TEXT, .size = sizeof(*out) };

	*out = NULL;
	return dl_yaml_value(y, value, &text, out);
}

/* Adapters are numbered in the order of their LIDs. */
static int scenario_number_adapters(struct dl_emu_scenario *s)
{
	const struct dl_fabric *f = s->tables->fabric;
	uint64_t *rates = dl_arena_array(&s->arena, f->nports + 1, sizeof(*rates));
	struct dl_emu_rate rate;
	uint32_t n = 0;

	s->port = dl_arena_array(&s->arena, f->nports + 1, sizeof(*s->port));
	s->lid = dl_arena_array(&s->arena, f->nports + 1, sizeof(*s->lid));
	s->adapter = dl_arena_array(&s->arena, f->nports + 1, sizeof(*s->adapter));
	if (!s->port || !s->lid || !rates || !s->adapter)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->nports; i++)
		s->adapter[i] = DL_EMU_NO_ADAPTER;
	for (uint32_t lid = 1; lid <= f->top_lid; lid++) {
		uint32_t port = f->lid_port[lid];

		if (port == DL_NONE || f->ports[port].lid != lid ||
		    f->nodes[f->ports[port].node].type != DL_FABRIC_CA ||
		    f->ports[port].peer == DL_NONE || dl_emu_link_rate(f, port, &rate))
			continue;
		s->adapter[port] = n;
		rates[n] = dl_emu_rate_bytes(rate);
		s->lid[n] = lid;
		s->port[n++] = port;
	}
	s->traffic.nadapters = n;
	s->traffic.rate = rates;
	return 0;
}

uint32_t dl_emu_scenario_adapters(const struct dl_emu_scenario *s, const uint32_t **ports)
{
	*ports = s->port;
	return s->traffic.nadapters;
}

/* ---- the grid ---------------------------------------------------------- */

static int scenario_read_grid(struct dl_yaml *y, const struct dl_yaml_node *value,
			      const struct dl_setting *key, void *to)
{
	struct dl_emu_traffic_grid *g = &((struct dl_emu_scenario *)to)->traffic.grid;
	size_t n = dl_yaml_count(value);
	uint64_t points = 1;
	int64_t radix;
	int err = 0;

	if (!dl_yaml_is_list(value) || !n || n > DL_EMU_GRID_DIMS)
		return dl_yaml_error(y, value, "%s: expected a list of 1 to %d radices", key->name,
				     DL_EMU_GRID_DIMS);
	for (g->dims = 0; !err && g->dims < n; g->dims++) {
		err = dl_yaml_number(y, dl_yaml_item(y, value, g->dims), key->name, 1, 65535,
				     &radix);
		g->radix[g->dims] = radix;
		points *= radix;
		if (!err && points > MILLION)
			return dl_yaml_error(y, value, "%s: expected at most %d points", key->name,
					     MILLION);
	}
	return err;
}

/* Places for so many adapters at each point, none so far; or NULL. */
static uint32_t *scenario_new_places(struct dl_emu_scenario *s, uint64_t points, uint32_t depth)
{
	struct dl_emu_traffic_grid *g = &s->traffic.grid;
	uint32_t *at;

	if (points * depth > 1u << 26)
		return NULL;
	at = dl_arena_alloc(&s->arena, (points * depth + 1) * sizeof(*at));
	for (uint64_t i = 0; at && i < points * depth; i++)
		at[i] = DL_EMU_NO_ADAPTER;
	g->depth = depth;
	g->at = at;
	return at;
}

/* By the points of the switches to which adapters are attached. */
static int scenario_fill_sites(struct dl_emu_scenario *s)
{
	const struct dl_fabric *f = s->tables->fabric;
	const struct dl_emu_scenario_options *o = s->options;
	struct dl_emu_traffic_grid *g = &s->traffic.grid;
	size_t n = f->nswitches + 1ul;
	uint32_t *used = dl_arena_array(&s->arena, n, sizeof(*used));
	uint32_t depth = 1, sw, *at;

	if (!used)
		return -ENOMEM;
	for (uint32_t a = 0; a < s->traffic.nadapters; a++) {
		sw = dl_fabric_access_switch(f, s->port[a]);
		if (sw != DL_NONE && ++used[sw] > depth)
			depth = used[sw];
	}
	memset(used, 0, n * sizeof(*used));
	g->dims = o->dims;
	memcpy(g->radix, o->radix, o->dims * sizeof(*o->radix));
	at = scenario_new_places(s, dl_emu_traffic_points(g), depth);
	for (uint32_t a = 0; at && a < s->traffic.nadapters; a++) {
		sw = dl_fabric_access_switch(f, s->port[a]);
		if (sw != DL_NONE && o->site[sw] != DL_NONE)
			at[o->site[sw] * depth + used[sw]++] = a;
	}
	return at ? 0 : -ENOMEM;
}

/* The adapters on the scenario's own grid, in their order, or where they are. */
static int scenario_fill_grid(struct dl_yaml *y, struct dl_emu_scenario *s)
{
	uint64_t points = dl_emu_traffic_points(&s->traffic.grid);
	uint32_t n = s->traffic.nadapters, *at;

	if (!s->needs_grid) {
		s->traffic.grid.dims = 0;
		return 0;
	}
	if (s->traffic.grid.dims) {
		at = scenario_new_places(s, points, (n + points - 1) / points);
		for (uint32_t a = 0; at && a < n; a++)
			at[a] = a;
		return at ? 0 : -ENOMEM;
	}
	if (s->options && s->options->site)
		return scenario_fill_sites(s);
	return dl_yaml_error(y, s->needs_grid,
			     "no coordinates are known: expected the key grid, or --torus-config");
}

/* ---- keys -------------------------------------------------------------- */

#define MEMBER(member) DL_MEMBER(struct dl_emu_scenario, member)

int dl_emu_scenario_read_ns(struct dl_yaml *y, const struct dl_yaml_node *value,
			    const struct dl_setting *key, void *to)
{
	int64_t ns;
	int err = dl_yaml_number(y, value, key->name, key->min, key->max, &ns);

	if (!err)
		*(uint64_t *)dl_setting_member(key, to) = ns * 1000;
	return err;
}

static int scenario_read_mtu(struct dl_yaml *y, const struct dl_yaml_node *value,
			     const struct dl_setting *key, void *to)
{
	unsigned int i;
	int err = dl_yaml_word(y, value, key->name, "256 512 1024 2048 4096", &i);

	if (!err)
		((struct dl_emu_scenario *)to)->config.mtu = 256 << i;
	return err;
}

/* ---- SL tables and cables ---------------------------------------------- */

static int scenario_read_sl_entries(struct dl_yaml *y, const struct dl_yaml_node *value,
				    struct dl_emu_sl_table *t)
{
	size_t n = dl_yaml_count(value);
	uint64_t sum = 0;
	int64_t sl, bytes;
	int err = 0;

	if (!n || n > DL_EMU_SL_ENTRIES_MAX)
		return dl_yaml_error(y, value, "sl_table: expected 1 to %d entries [sl, bytes]",
				     DL_EMU_SL_ENTRIES_MAX);
	for (t->n = 0; !err && t->n < n; t->n++) {
		const struct dl_yaml_node *item = dl_yaml_item(y, value, t->n);

		if (!dl_yaml_is_list(item) || dl_yaml_count(item) != 2)
			return dl_yaml_error(y, item, "sl_table: expected [sl, bytes]");
		err = dl_yaml_number(y, dl_yaml_item(y, item, 0), "SL", 0, DL_EMU_SLS - 1, &sl);
		if (!err)
			err = dl_yaml_number(y, dl_yaml_item(y, item, 1), "bytes of an SL", 0,
					     DL_EMU_SCENARIO_BYTES_MAX, &bytes);
		if (err)
			return err;
		t->entry[t->n] = (struct dl_emu_sl_entry){ sl, bytes };
		sum += bytes;
	}
	return sum ? 0 : dl_yaml_error(y, value, "sl_table: expected an entry with bytes");
}

/* off, even or [[sl, bytes], ...]. */
static int scenario_read_sl_table(struct dl_yaml *y, const struct dl_yaml_node *value,
				  const struct dl_setting *key, void *to)
{
	struct dl_emu_sl_table *t = &((struct dl_emu_scenario *)to)->sl_table;
	unsigned int word;
	int err;

	if (dl_yaml_is_list(value))
		return scenario_read_sl_entries(y, value, t);
	err = dl_yaml_word(y, value, key->name, "off even", &word);
	while (!err && word && t->n < 64) {
		t->entry[t->n] = (struct dl_emu_sl_entry){ t->n % DL_EMU_SLS, 4096 };
		t->n++;
	}
	return err;
}

struct cable_reader {
	char *node;
	uint32_t number;
	uint64_t length; /* millionths of a metre */
};

#define CABLE(member) DL_MEMBER(struct cable_reader, member)

static const struct dl_setting cable_keys[] = {
	{ "node", TEXT, CABLE(node), .required = true },
	{ "port", NUMBER, CABLE(number), 1, 254, .required = true },
	{ "length_m", DECIMAL, CABLE(length), 0, 10000 * (int64_t)DL_EMU_LOAD_ONE,
	  .required = true },
	{ NULL }
};

static int scenario_read_cable(struct dl_yaml *y, const struct dl_yaml_node *item,
			       struct dl_emu_scenario *s)
{
	struct cable_reader r = { 0 };
	uint32_t port = 0;
	int err = dl_yaml_mapping(y, item, cable_keys, &r);

	if (!err)
		err = dl_emu_scenario_port(y, item, s, r.node, r.number, &port);
	if (!err)
		s->cable_mm[port] = s->cable_mm[s->tables->fabric->ports[port].peer] =
			r.length / 1000;
	free(r.node);
	return err;
}

static int scenario_read_cables(struct dl_yaml *y, const struct dl_yaml_node *value,
				const struct dl_setting *key, void *to)
{
	struct dl_emu_scenario *s = to;
	uint32_t n = s->tables->fabric->nports;
	int err = 0;

	if (!dl_yaml_is_list(value))
		return dl_yaml_error(y, value, "%s: expected a list of cables", key->name);
	s->cable_mm = dl_arena_array(&s->arena, n + 1, sizeof(*s->cable_mm));
	if (!s->cable_mm)
		return dl_yaml_no_memory(y, value);
	memset(s->cable_mm, 0xFF, n * sizeof(*s->cable_mm));
	for (size_t i = 0; !err && i < dl_yaml_count(value); i++)
		err = scenario_read_cable(y, dl_yaml_item(y, value, i), s);
	return err;
}

static const struct dl_setting retries_keys[] = {
	{ "timeout_ns", NS, MEMBER(config.retries.timeout_ps), 1, NS_MAX },
	{ "count", NUMBER, MEMBER(config.retries.count), 0, 7 },
	{ "ack_packets", NUMBER, MEMBER(config.retries.ack_packets), 1, 65536 },
	{ NULL }
};

/* Local ACK Timeout 14, which verbs programs and MPI use: 4.096 us * 2^14. */
#define RETRY_PS UINT64_C(67108864000)

static int scenario_read_retries(struct dl_yaml *y, const struct dl_yaml_node *value,
				 const struct dl_setting *key, void *to)
{
	(void)key;
	((struct dl_emu_scenario *)to)->config.retries =
		(struct dl_emu_retries){ .timeout_ps = RETRY_PS, .count = 7, .ack_packets = 64 };
	return dl_yaml_mapping(y, value, retries_keys, to);
}

static dl_yaml_reader scenario_end;

static const struct dl_setting scenario_keys[] = {
	{ "seed", NUMBER, MEMBER(config.seed), 0, INT64_MAX },
	{ "duration_ns", NS, MEMBER(duration), 1, NS_MAX },
	{ "warmup_ns", NS, MEMBER(warmup), 0, NS_MAX },
	{ "drain_ns", NS, MEMBER(drain), 0, NS_MAX },
	{ "sample_ns", NS, MEMBER(sample), 1, NS_MAX },
	{ "switching", WORD, MEMBER(config.switching),
	  .words = "store_and_forward cut_through wormhole" },
	{ "queues", WORD, MEMBER(config.queues), .words = "fifo voq" },
	{ "flow_control", WORD, MEMBER(config.flow_control), .words = "iba pcie" },
	{ "mtu", .read = scenario_read_mtu },
	{ "buffer_blocks", NUMBER, MEMBER(buffer_blocks), 1, DL_EMU_BUFFER_MAX },
	{ "chunk_blocks", NUMBER, MEMBER(config.chunk), 1, DL_EMU_BUFFER_MAX },
	{ "credit_blocks", NUMBER, MEMBER(config.credit), 1, 2048 },
	{ "hoq_life_ns", NS, MEMBER(config.hoq_life_ps), 0, NS_MAX },
	{ "lifetime_ns", NS, MEMBER(config.lifetime_ps), 0, NS_MAX },
	{ "buffer_packets", NUMBER, MEMBER(buffer_packets), 1, 2048 },
	{ "switch_ns", NS, MEMBER(config.switch_latency_ps), 0, MILLION },
	{ "credit_ns", NS, MEMBER(config.credit_latency_ps), 0, MILLION },
	{ "message_ns", NS, MEMBER(config.message_overhead_ps), 0, MILLION },
	{ "eager_bytes", NUMBER, MEMBER(config.eager), 0, DL_EMU_SCENARIO_BYTES_MAX },
	{ "congestion", .read = dl_emu_scenario_read_congestion },
	{ "retries", .read = scenario_read_retries },
	{ "ack_ns", NS, MEMBER(config.ack_latency_ps), 0, MILLION },
	{ "cable_m", NUMBER, MEMBER(config.cable_mm_all), 0, 10000 },
	{ "cables", .read = scenario_read_cables },
	{ "speedup", NUMBER, MEMBER(config.speedup), 0, 16 },
	{ "low_turn", WORD, MEMBER(config.arbitration.low_turn), .words = "packet weight" },
	{ "bad_entry", WORD, MEMBER(config.arbitration.bad_entry), .words = "skip any" },
	{ "unlisted_vl", WORD, MEMBER(config.arbitration.unlisted_vl), .words = "hold idle drop" },
	{ "unprogrammed", WORD, MEMBER(config.undefined_arbitration), .words = "even power_up" },
	{ "management_packets", NUMBER, MEMBER(config.smp_buffer), 1, DL_EMU_BUFFER_MAX },
	{ "force_vl", NUMBER, MEMBER(force_vl), 0, 14 },
	{ "sl_table", .read = scenario_read_sl_table },
	{ "sl_table_at", WORD, MEMBER(sl_table_at), .words = "adapters switches all" },
	{ "tenure_bytes", NUMBER, MEMBER(config.tenure), 0, DL_EMU_SCENARIO_BYTES_MAX },
	{ "qp_change_ns", NS, MEMBER(config.qp_change_ps), 0, MILLION },
	{ "pairs", WORD, MEMBER(config.pairs), .words = "false true" },
	{ "grid", .read = scenario_read_grid },
	{ "record", .read = dl_emu_scenario_read_record },
	{ "watch", .read = dl_emu_scenario_read_watch },
	{ "traffic", .read = dl_emu_scenario_read_traffic },
	{ "faults", .read = dl_emu_scenario_read_faults },
	{ NULL, .read = scenario_end }
};

/* Unless the scenario says more or less. */
#define BUFFER_PACKETS 8
#define VOQ_PACKETS 48 /* packets for many outputs, each of which shall find one */

static uint32_t scenario_buffer(const struct dl_emu_scenario *s)
{
	uint32_t packet = (s->config.mtu + DL_EMU_MCAST_HEADERS + 63) / 64;
	uint32_t packets = s->config.queues == DL_EMU_VOQ ? VOQ_PACKETS : BUFFER_PACKETS;

	if (s->config.flow_control == DL_LINK_CREDIT_IBA)
		return s->buffer_blocks ? s->buffer_blocks : packets * packet;
	if (s->buffer_packets)
		return s->buffer_packets;
	return packets * (s->config.switching == DL_EMU_WORMHOLE ? packet : 1);
}

static void scenario_complete(struct dl_emu_scenario *s)
{
	s->config.cable_mm_all *= 1000; /* metres so far */
	s->config.buffer = scenario_buffer(s);
	if (s->config.flow_control == DL_LINK_CREDIT_PCIE) { /* blocks are of IBA */
		s->config.chunk = 1;
		s->config.credit = 0;
	}
	for (uint32_t i = 0; s->cable_mm && i < s->tables->fabric->nports; i++)
		if (s->cable_mm[i] == UINT32_MAX)
			s->cable_mm[i] = s->config.cable_mm_all;
	s->config.cable_mm = s->cable_mm;
	if (s->sl_table.n && s->sl_table_at != DL_EMU_SL_SWITCHES)
		s->config.sl_table = &s->sl_table;
	if (s->sl_table.n && s->sl_table_at != DL_EMU_SL_ADAPTERS)
		s->config.switch_sl_table = &s->sl_table;
}

/* ---- tables ------------------------------------------------------------ */

/* All SLs to one VL, whatever was programmed, in all tables. */
static int scenario_force_vl(struct dl_emu_scenario *s)
{
	dl_tables_sl2vl_row row = UINT64_C(0x1111111111111111) * s->force_vl;
	uint32_t n = s->tables->nrows;
	dl_tables_sl2vl_row *rows = dl_arena_array(&s->arena, n + 1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		rows[i] = row;
	s->forced = *s->tables;
	s->forced.rows = rows;
	s->tables = &s->forced;
	for (uint32_t k = 0; k < s->nlater; k++) {
		struct dl_tables *t = s->later[k].snapshot.tables;

		for (uint32_t i = 0; i < t->nrows; i++)
			t->rows[i] = row;
	}
	return 0;
}

/* ---- all of it --------------------------------------------------------- */

static int scenario_begin(struct dl_emu_scenario *s, const char *name)
{
	size_t len = strlen(name) + 1;
	char *path = dl_arena_alloc(&s->arena, len);
	int err;

	if (!path)
		return -ENOMEM;
	s->path = memcpy(path, name, len);
	s->duration = 100000000;
	s->drain = UINT64_MAX;
	s->force_vl = -1;
	dl_emu_config_init(&s->config);
	s->config.seed = 1;
	s->config.cable_mm_all /= 1000;
	err = dl_fabric_index_names(s->tables->fabric, &s->names);
	return err ? err : scenario_number_adapters(s);
}

#define DRAIN_PS UINT64_C(10000000000)

/* What was sent and lost shall come, or its connection break, in the time to drain. */
static uint64_t scenario_drain(const struct dl_emu_retries *r)
{
	uint64_t retries = r->timeout_ps * (r->count + 1);

	return retries < DL_EMU_SCENARIO_PS_MAX - DRAIN_PS ? DRAIN_PS + retries :
							     DL_EMU_SCENARIO_PS_MAX;
}

/* All keys have been read. */
static int scenario_end(struct dl_yaml *y, const struct dl_yaml_node *all,
			const struct dl_setting *key, void *to)
{
	struct dl_emu_scenario *s = to;
	bool worms = s->config.switching == DL_EMU_WORMHOLE;
	bool iba = s->config.flow_control == DL_LINK_CREDIT_IBA;
	bool program = s->options && s->options->program; /* without traffic it lasts as it will */
	uint64_t drain = s->drain == UINT64_MAX ? scenario_drain(&s->config.retries) : s->drain;
	const struct dl_emu_scenario_rule rules[] = {
		{ !s->traffic.nentries && !program, NULL, "expected the key traffic" },
		{ s->warmup >= s->duration && (s->traffic.nentries || !program),
		  "warmup_ns duration_ns", "warmup_ns: expected less than duration_ns" },
		{ s->sample && (s->duration + drain) / s->sample > MILLION, "sample_ns",
		  "sample_ns: expected at most a million samples in duration_ns and drain_ns" },
		{ s->config.congestion.threshold && worms, "congestion",
		  "congestion does not go with switching: wormhole" },
		{ s->config.retries.timeout_ps && worms, "retries",
		  "retries does not go with switching: wormhole" },
		{ s->config.queues == DL_EMU_VOQ && worms, "queues",
		  "queues: voq does not go with switching: wormhole" },
	};
	int err = dl_emu_scenario_check(y, all, rules, sizeof(rules) / sizeof(*rules));

	(void)key;
	if (err)
		return err;
	s->drain = drain;
	if (s->multicast && worms)
		return dl_yaml_error(y, s->multicast,
				     "pattern: multicast does not go with switching: wormhole");
	scenario_complete(s);
	if (s->config.buffer < dl_emu_least_buffer(&s->config))
		return dl_yaml_error(
			y, dl_yaml_key(y, all, iba ? "buffer_blocks mtu" : "buffer_packets mtu"),
			"%s: expected %u or more, room for one packet",
			iba ? "buffer_blocks" : "buffer_packets", dl_emu_least_buffer(&s->config));
	if (s->force_vl >= 0)
		err = scenario_force_vl(s);
	if (!err)
		err = scenario_fill_grid(y, s);
	s->options = NULL;
	s->needs_grid = s->multicast = NULL;
	return err;
}

/* From an open stream, or a file of that name. */
static int scenario_read(FILE *from, const char *name, const struct dl_tables *t,
			 const struct dl_emu_scenario_options *o, const struct dl_log *log,
			 struct dl_emu_scenario **out)
{
	struct dl_emu_scenario *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->tables = t;
	s->options = o;
	s->log = log;
	err = scenario_begin(s, name);
	if (!err)
		err = from ? dl_yaml_read_stream(from, name, log, scenario_keys, s) :
			     dl_yaml_read(name, log, scenario_keys, s);
	if (err)
		dl_emu_scenario_free(s);
	else
		*out = s;
	return err;
}

int dl_emu_scenario_read_stream(FILE *from, const char *name, const struct dl_tables *t,
				const struct dl_emu_scenario_options *o, const struct dl_log *log,
				struct dl_emu_scenario **out)
{
	return scenario_read(from, name, t, o, log, out);
}

int dl_emu_scenario_read(const char *path, const struct dl_tables *t,
			 const struct dl_emu_scenario_options *o, const struct dl_log *log,
			 struct dl_emu_scenario **out)
{
	return scenario_read(NULL, path, t, o, log, out);
}

uint64_t dl_emu_scenario_seed(const struct dl_emu_scenario *s)
{
	return s->config.seed;
}

void dl_emu_scenario_set_seed(struct dl_emu_scenario *s, uint64_t seed)
{
	s->config.seed = seed;
}

void dl_emu_scenario_set_threads(struct dl_emu_scenario *s, uint32_t threads)
{
	s->config.threads = threads;
}

bool dl_emu_scenario_has_load(const struct dl_emu_scenario *s, const char *name)
{
	for (uint32_t i = 0; i < s->traffic.nentries; i++)
		if (s->entries[i].load &&
		    (!name || (s->entries[i].name && !strcmp(s->entries[i].name, name))))
			return true;
	return false;
}

void dl_emu_scenario_free(struct dl_emu_scenario *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->nlater; i++)
		dl_snapshot_release(&s->later[i].snapshot);
	dl_fabric_index_free(&s->names);
	dl_arena_free(&s->arena);
	free(s->entries);
	free(s->actions);
	free(s->later);
	free(s);
}
