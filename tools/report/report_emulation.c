/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What an emulation measured, from the document that `dateline emulate --json`
 * printed.
 *
 * Its totals, QoS levels, samples and sweep points go into the page as they
 * are.  Its list of ports, a megabyte and more on a large fabric, is turned
 * into columns by the page's ways; that also proves that both speak of the
 * same fabric.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/hosts.h"
#include "report.h"

#define VLS 16
#define SLOWEST 100 /* pairs that are listed */

struct emulation {
	const struct report_page *page;
	const struct dl_log *log;
	const char *path;
	json_t *ways, *vl[VLS]; /* by way; of VLs that there are */
};

/* The port index of {"guid": .., "port": ..}, or DL_NONE. */
static uint32_t report_port_of(const struct emulation *e, const json_t *object)
{
	const struct dl_fabric *f = e->page->fabric;
	const char *guid = json_string_value(json_object_get(object, "guid"));
	const json_t *num = json_object_get(object, "port");
	uint32_t node = DL_NONE;
	uint64_t value;

	if (guid && json_is_integer(num) && dl_number_scan(guid, 16, &value) != guid)
		node = dl_fabric_find_guid(f, value);
	if (node == DL_NONE || json_integer_value(num) < 0 ||
	    json_integer_value(num) > f->nodes[node].nports)
		return DL_NONE;
	return f->nodes[node].first_port + json_integer_value(num);
}

static int bad_port(const struct emulation *e, const char *list, size_t i, const json_t *object)
{
	const char *guid = json_string_value(json_object_get(object, "guid"));

	return dl_fail(e->log, -EINVAL,
		       "%s: %s[%zu]: the snapshot has no such port at %s: an emulation of another "
		       "fabric?",
		       e->path, list, i, guid ? guid : "(no guid)");
}

/* ---- ports ------------------------------------------------------------- */

static json_t *report_zeroes(uint32_t n)
{
	json_t *list = json_array();

	while (n--)
		report_push(list, 0);
	return list;
}

/* A counter of a port to its way's place in a column. */
static void report_take(json_t *column, uint32_t way, const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	if (value)
		json_array_set(column, way, value);
}

static void take_port(struct emulation *e, uint32_t way, const json_t *object)
{
	uint32_t ways = 2 * e->page->ncables;
	const char *name;
	json_t *vl;

	report_take(json_object_get(e->ways, "bytes"), way, object, "xmit_data_bytes");
	report_take(json_object_get(e->ways, "wait_ns"), way, object, "xmit_wait_ns");
	report_take(json_object_get(e->ways, "busy_ns"), way, object, "xmit_busy_ns");
	json_object_foreach(json_object_get(object, "vl"), name, vl)
	{
		uint64_t number;

		if (dl_number_scan(name, 10, &number) == name || number >= VLS)
			continue;
		if (!e->vl[number])
			e->vl[number] = report_zeroes(ways);
		report_take(e->vl[number], way, vl, "bytes");
	}
}

/* The emulator lists each port that has a cable. */
static int take_ports(struct emulation *e, const json_t *ports)
{
	const struct dl_fabric *f = e->page->fabric;
	const json_t *object;
	size_t i, cabled = 0;

	json_array_foreach(ports, i, object)
	{
		uint32_t port = report_port_of(e, object);

		if (port == DL_NONE)
			return bad_port(e, "ports", i, object);
		if (e->page->way_of[port] != DL_NONE)
			take_port(e, e->page->way_of[port], object);
	}
	for (uint32_t p = 0; p < f->nports; p++)
		cabled += f->ports[p].peer != DL_NONE;
	if (!ports || json_array_size(ports) == cabled)
		return 0;
	return dl_fail(e->log, -EINVAL,
		       "%s: %zu ports, but the snapshot has %zu with "
		       "a cable: an emulation of another fabric?",
		       e->path, json_array_size(ports), cabled);
}

static void report_take_vls(struct emulation *e)
{
	json_t *vls = json_object();
	char name[4];

	for (unsigned int vl = 0; vl < VLS; vl++) {
		if (!e->vl[vl])
			continue;
		snprintf(name, sizeof(name), "%u", vl);
		json_object_set(vls, name, e->vl[vl]);
	}
	tool_json_with(e->ways, "vl_bytes", vls);
}

/* ---- the rest ---------------------------------------------------------- */

static int steps_json(const struct emulation *e, const json_t *cycle, json_t *steps)
{
	const json_t *object;
	size_t i;

	json_array_foreach(cycle, i, object)
	{
		uint32_t port = report_port_of(e, object);

		if (port == DL_NONE || e->page->way_of[port] == DL_NONE)
			return bad_port(e, "cycle", i, object);
		json_array_append_new(steps, json_pack("{s:I, s:O?}", "way",
						       (json_int_t)e->page->way_of[port], "vl",
						       json_object_get(object, "vl")));
	}
	return 0;
}

static int by_latency(const void *left, const void *right)
{
	const json_t *const *a = left, *const *b = right;
	double x = json_number_value(json_object_get(*a, "latency_ns_mean"));
	double y = json_number_value(json_object_get(*b, "latency_ns_mean"));

	return x > y ? -1 : x < y;
}

/* Of the results by pair, those that took longest; and how many there were. */
static int keep_slowest(json_t *document)
{
	const json_t *pairs = json_object_get(document, "pairs");
	size_t n = json_array_size(pairs);
	json_t **order = calloc(n + 1, sizeof(*order)), *list;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		order[i] = json_array_get(pairs, i);
	qsort(order, n, sizeof(*order), by_latency);
	list = json_array();
	for (size_t i = 0; i < n && i < SLOWEST; i++)
		json_array_append(list, order[i]);
	free(order);
	if (n)
		json_object_set_new(document, "pairs_count", json_integer(n));
	if (n)
		json_object_set(document, "pairs", list);
	json_decref(list);
	return 0;
}

static int report_digest(struct emulation *e, json_t *document)
{
	uint32_t ways = 2 * e->page->ncables;
	json_t *steps = json_array();
	int err;

	e->ways = json_pack("{s:o, s:o, s:o}", "bytes", report_zeroes(ways), "wait_ns",
			    report_zeroes(ways), "busy_ns", report_zeroes(ways));
	err = take_ports(e, json_object_get(document, "ports"));
	if (!err)
		err = steps_json(e, json_object_get(document, "cycle"), steps);
	report_take_vls(e);
	if (!err && json_object_get(document, "ports"))
		json_object_set(document, "ways", e->ways);
	if (!err)
		json_object_set(document, "steps", steps);
	json_object_del(document, "ports");
	if (!err)
		err = keep_slowest(document);
	json_decref(steps);
	json_decref(e->ways);
	for (unsigned int vl = 0; vl < VLS; vl++)
		json_decref(e->vl[vl]);
	return err;
}

/*
 * Is all there that the page shows?  The emulator prints one document for a
 * run and another one for a sweep.  Returns 0, or -1 with a reason.
 */
static int check_run(json_t *d, json_error_t *why)
{
	return json_unpack_ex(d, why, JSON_VALIDATE_ONLY,
			      "{s:I, s:I, s:I, s:I, s:b, s:[], s:F, s:F, s:F,"
			      " s:{}, s:[], s:[], s:[], s:[]}",
			      "delivered_packets", "injected_packets", "dropped_packets",
			      "in_flight", "deadlock", "cycle", "sim_seconds",
			      "throughput_fraction", "offered_fraction", "drops", "starved", "qos",
			      "ports", "warnings");
}

static int check_level(json_t *d, json_error_t *why)
{
	return json_unpack_ex(d, why, JSON_VALIDATE_ONLY,
			      "{s:i, s:[], s:I, s:I, s:F, s:F, s:F, s:F, s:F, s:F, s:[]}", "level",
			      "sl", "delivered_packets", "delivered_bytes", "throughput_gbps",
			      "latency_ns_mean", "latency_ns_p50", "latency_ns_p99",
			      "latency_ns_p999", "latency_ns_max", "latency_histogram_ns");
}

static int check_sweep(json_t *d, json_error_t *why)
{
	return json_unpack_ex(d, why, JSON_VALIDATE_ONLY, "{s:[], s:b, s:o}", "sweep", "deadlock",
			      "saturation_load");
}

static int check_point(json_t *d, json_error_t *why)
{
	return json_unpack_ex(d, why, JSON_VALIDATE_ONLY, "{s:F, s:F, s:F, s:F, s:F, s:F, s:b}",
			      "load", "throughput_fraction", "latency_ns_mean", "latency_ns_p50",
			      "latency_ns_p99", "latency_ns_p999", "deadlock");
}

static int report_check_emulation(const struct emulation *e, json_t *d)
{
	bool sweep = json_object_get(d, "sweep");
	json_t *list = json_object_get(d, sweep ? "sweep" : "qos"), *item;
	json_error_t why;
	size_t i;
	int bad = sweep ? check_sweep(d, &why) : check_run(d, &why);

	json_array_foreach(list, i, item) if (!bad) bad = sweep ? check_point(item, &why) :
								  check_level(item, &why);
	if (!bad)
		return 0;
	return dl_fail(e->log, -EINVAL, "%s: not what `dateline emulate --json` prints: %s",
		       e->path, why.text);
}

int report_emulation(const struct report_page *p, const char *path, const struct dl_log *log,
		     json_t *document)
{
	struct emulation e = { .page = p, .log = log, .path = path };
	json_t *emulation;
	int err = tool_json_read(path, log, &emulation);

	if (err)
		return err;
	err = report_check_emulation(&e, emulation);
	if (!err)
		err = report_digest(&e, emulation);
	tool_json_with(document, "emulation", emulation);
	return err;
}

/* ---- a recording --------------------------------------------------------- */

#define FIELDS 9	     /* of a step */
#define RECORDED_MOST 300000 /* steps that a page plays */

struct recording {
	struct emulation e;
	json_t *steps; /* six numbers each, see recording.js */
	uint32_t n;
};

/* "1.000,sent,7,0x..,2,0,...": a step of a packet, or credit. */
static int recording_line(void *context, struct dl_text *t)
{
	static const char *const events[] = { "made",	 "arrived", "sent", "delivered",
					      "dropped", "credit",  "tail" };
	struct recording *r = context;
	const struct dl_fabric *f = r->e.page->fabric;
	char *field[FIELDS], *rest = t->at;
	uint64_t guid, port, packet = 0, vl, bytes = 0;
	uint32_t node, event = 0;

	for (unsigned int i = 0; i < FIELDS; i++)
		field[i] = strsep(&rest, ",");
	if (t->line == 1 && field[FIELDS - 1] && !strcmp(field[0], "at_ns"))
		return 0;
	while (field[FIELDS - 1] && event < sizeof(events) / sizeof(*events) &&
	       strcmp(events[event], field[1]))
		event++;
	if (!field[FIELDS - 1] || event == sizeof(events) / sizeof(*events) ||
	    *dl_number_scan(field[2], 10, &packet) || *dl_number_scan(field[3], 0, &guid) ||
	    *dl_number_scan(field[4], 10, &port) || *dl_number_scan(field[5], 10, &vl) ||
	    *dl_number_scan(field[8], 10, &bytes))
		return dl_text_expected(t, "a step of a recording (record: in a scenario)");
	node = dl_fabric_find_guid(f, guid);
	if (node == DL_NONE || port > f->nodes[node].nports)
		return dl_text_error(t, "the snapshot has no port %" PRIu64 " of %s", port,
				     field[3]);
	if (++r->n > RECORDED_MOST)
		return dl_text_error(t, "more than %d steps: record a shorter time", RECORDED_MOST);
	json_array_append_new(r->steps, json_real(strtod(field[0], NULL)));
	report_push(r->steps, event);
	report_push(r->steps, packet);
	report_push(r->steps, report_or_minus(r->e.page->way_of[f->nodes[node].first_port + port]));
	report_push(r->steps, dl_fabric_is_switch(f, node) ?
				      (json_int_t)r->e.page->place[f->nodes[node].sw] :
				      -1);
	report_push(r->steps, vl | bytes << 4);
	return 0;
}

int report_recordings(const struct report_page *p, const struct tool_names *files,
		      const struct dl_log *log, json_t *document)
{
	json_t *list = json_array();
	int err = 0;

	for (uint32_t i = 0; !err && i < files->n; i++) {
		struct recording r = { .e = { .page = p }, .steps = json_array() };
		const char *slash = strrchr(files->names[i], '/');

		err = hosts_read_lines(files->names[i], log, recording_line, &r);
		json_array_append_new(list,
				      json_pack("{s:o, s:o}", "title",
						tool_json_text(slash ? slash + 1 : files->names[i]),
						"steps", r.steps));
	}
	tool_json_with(document, "recordings", list);
	return err;
}
