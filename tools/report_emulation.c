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
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define VLS 16

struct emulation {
	const struct dl_page *page;
	const struct dl_log *log;
	const char *path;
	json_t *bytes, *wait, *busy, *vl[VLS];
};

static int wrong(const struct emulation *e, const char *what)
{
	dl_log(e->log, DL_ERROR, "%s: %s", e->path, what);
	return -EINVAL;
}

/* The port index of {"guid": .., "port": ..}, or DL_NONE. */
static uint32_t port_of(const struct emulation *e, const json_t *object)
{
	const struct dl_fabric *f = e->page->fabric;
	const char *guid = json_string_value(json_object_get(object, "guid"));
	const json_t *num = json_object_get(object, "port");
	uint32_t node = DL_NONE;

	if (guid && json_is_integer(num))
		node = dl_fabric_find_guid(f, strtoull(guid, NULL, 0));
	if (node == DL_NONE || json_integer_value(num) < 0 ||
	    json_integer_value(num) > f->nodes[node].nports)
		return DL_NONE;
	return f->nodes[node].first_port + json_integer_value(num);
}

static int bad_port(const struct emulation *e, const char *list,
		    size_t i, const json_t *object)
{
	const char *guid = json_string_value(json_object_get(object, "guid"));

	dl_log(e->log, DL_ERROR, "%s: %s[%zu]: the snapshot has no such port "
	       "at %s: an emulation of another fabric?", e->path, list, i,
	       guid ? guid : "(no guid)");
	return -EINVAL;
}

/* ---- ports ------------------------------------------------------------- */

static json_t *zeroes(uint32_t n)
{
	json_t *list = json_array();

	while (n--)
		json_array_append_new(list, json_integer(0));
	return list;
}

/* A counter of a port to its way's place in a column. */
static void take(json_t *column, uint32_t way, const json_t *object,
		 const char *key)
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

	take(e->bytes, way, object, "xmit_data_bytes");
	take(e->wait, way, object, "xmit_wait_ns");
	take(e->busy, way, object, "xmit_busy_ns");
	json_object_foreach(json_object_get(object, "vl"), name, vl) {
		unsigned long number = strtoul(name, NULL, 10);

		if (number >= VLS)
			continue;
		if (!e->vl[number])
			e->vl[number] = zeroes(ways);
		take(e->vl[number], way, vl, "bytes");
	}
}

static int take_ports(struct emulation *e, const json_t *ports)
{
	const json_t *object;
	size_t i;

	json_array_foreach(ports, i, object) {
		uint32_t port = port_of(e, object);

		if (port == DL_NONE)
			return bad_port(e, "ports", i, object);
		if (e->page->way_of[port] != DL_NONE)
			take_port(e, e->page->way_of[port], object);
	}
	return 0;
}

static json_t *ways_json(struct emulation *e)
{
	json_t *vls = json_object();
	char name[4];

	for (unsigned int vl = 0; vl < VLS; vl++) {
		if (!e->vl[vl])
			continue;
		snprintf(name, sizeof(name), "%u", vl);
		json_object_set(vls, name, e->vl[vl]);
	}
	return json_pack("{s:O, s:O, s:O, s:o}", "bytes", e->bytes, "wait_ns",
			 e->wait, "busy_ns", e->busy, "vl_bytes", vls);
}

/* ---- the rest ---------------------------------------------------------- */

static int steps_json(const struct emulation *e, const json_t *cycle,
		      json_t *steps)
{
	const json_t *object;
	size_t i;

	json_array_foreach(cycle, i, object) {
		uint32_t port = port_of(e, object);

		if (port == DL_NONE || e->page->way_of[port] == DL_NONE)
			return bad_port(e, "cycle", i, object);
		json_array_append_new(
			steps,
			json_pack("{s:I, s:O?}", "way",
				  (json_int_t)e->page->way_of[port], "vl",
				  json_object_get(object, "vl")));
	}
	return 0;
}

static int digest(struct emulation *e, json_t *document)
{
	uint32_t ways = 2 * e->page->ncables;
	json_t *steps = json_array();
	int err;

	e->bytes = zeroes(ways);
	e->wait = zeroes(ways);
	e->busy = zeroes(ways);
	err = take_ports(e, json_object_get(document, "ports"));
	if (!err)
		err = steps_json(e, json_object_get(document, "cycle"), steps);
	if (!err && json_object_get(document, "ports"))
		json_object_set_new(document, "ways", ways_json(e));
	if (!err)
		json_object_set(document, "steps", steps);
	json_object_del(document, "ports");
	json_object_del(document, "pairs");
	json_decref(steps);
	json_decref(e->bytes);
	json_decref(e->wait);
	json_decref(e->busy);
	for (unsigned int vl = 0; vl < VLS; vl++)
		json_decref(e->vl[vl]);
	return err;
}

/* One of the two documents that the emulator prints? */
static bool is_emulation(const json_t *d)
{
	return json_is_array(json_object_get(d, "sweep")) ||
	       (json_is_array(json_object_get(d, "qos")) &&
		json_is_array(json_object_get(d, "ports")) &&
		json_is_array(json_object_get(d, "cycle")));
}

int dl_page_emulation(const struct dl_page *p, const char *path,
		      const struct dl_log *log, json_t **out)
{
	struct emulation e = { .page = p, .log = log, .path = path };
	json_error_t error;
	json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	int err;

	if (!document) {
		if (error.line > 0)
			dl_log(log, DL_ERROR, "%s:%d: %s", path, error.line,
			       error.text);
		else
			dl_log(log, DL_ERROR, "%s", error.text);
		return -EINVAL;
	}
	err = is_emulation(document) ? digest(&e, document) :
				       wrong(&e, "expected what `dateline "
						 "emulate --json` prints");
	if (err)
		json_decref(document);
	else
		*out = document;
	return err;
}
