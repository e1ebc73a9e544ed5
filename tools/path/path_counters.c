/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What ports counted: at each hop, and the worst of the fabric, beside what an
 * emulation predicts.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "path.h"

int path_counters_read(const struct tool *tool, const struct path_request *r,
		       const struct dl_fabric *f, struct dl_live_counters *out)
{
	struct dl_live_options live;

	if (strcmp(r->counters, "live"))
		return dl_live_counters_read(r->counters, f, &tool->log, out);
	dl_live_options_init(&live);
	live.ca = r->input.live.ca;
	live.port = r->input.live.port;
	return dl_live_counters_ask(&live, f, &tool->log, out);
}

json_t *path_counters_json(const struct dl_live_counters *c, uint32_t port)
{
	json_t *j = c && c->known[port] ? json_object() : NULL;

	for (unsigned int i = 0; j && i < DL_LIVE_COUNTERS; i++)
		if (c->value[port][i])
			json_object_set_new(j, dl_live_counter_name(i),
					    json_integer(c->value[port][i]));
	return c && c->known[port] ? j : json_null();
}

/* ---- the worst of the fabric --------------------------------------------- */

struct worst {
	const struct tool_input *in;
	const struct dl_live_counters *counters;
	const struct dl_tables_load *load;
	uint64_t *weight; /* by port index: what to sort by */
	uint64_t total;
	double *predicted; /* by port index: share of all waiting; NULL: none */
};

static json_t *path_port_json(const struct worst *w, uint32_t port, bool waiting)
{
	json_t *j = path_cable_json(w->in, port);

	json_object_set_new(j, "flows", json_integer(w->load->flows[port]));
	json_object_set_new(j, "counters", path_counters_json(w->counters, port));
	if (!waiting)
		return j;
	json_object_set_new(j, "share", json_real(w->weight[port] / (double)w->total));
	return tool_json_with(j, "predicted_share",
			      w->predicted ? json_real(w->predicted[port]) : json_null());
}

/* The ports with the largest sums of the counters from `first` to `last`. */
static json_t *worst_json(struct worst *w, unsigned int first, unsigned int last, uint32_t top)
{
	const struct dl_fabric *f = w->in->fabric;
	uint32_t count, *ports;
	json_t *list;

	w->total = 0;
	for (uint32_t p = 0; p < f->nports; p++) {
		w->weight[p] = 0;
		for (unsigned int i = first; i <= last; i++)
			w->weight[p] += w->counters->value[p][i];
		w->total += w->weight[p];
	}
	ports = path_heaviest(f, w->weight, &count);
	list = ports ? json_array() : NULL;
	for (uint32_t i = 0; list && i < count && i < top; i++)
		json_array_append_new(list,
				      path_port_json(w, ports[i], first == DL_LIVE_XMIT_WAIT));
	free(ports);
	return list;
}

/* The ports of a document of `dateline emulate --json`. */
static int read_predicted(const struct dl_log *log, const char *path, const struct dl_fabric *f,
			  double *share)
{
	const json_t *ports, *port;
	json_t *document;
	double total = 0;
	size_t i;
	int err = tool_json_read(path, log, &document);

	if (err)
		return err;
	ports = tool_at(document, "ports");
	json_array_foreach(ports, i, port)
		total += json_number_value(tool_at(port, "xmit_wait_ns"));
	json_array_foreach(ports, i, port)
	{
		const char *text = json_string_value(tool_at(port, "guid"));
		json_int_t number = tool_int_at(port, "port");
		uint64_t guid = 0;
		uint32_t node;

		if (!text || *dl_number_scan(text, 0, &guid))
			continue;
		node = dl_fabric_find_guid(f, guid);
		if (node != DL_NONE && number >= 0 && number <= f->nodes[node].nports)
			share[f->nodes[node].first_port + number] =
				json_number_value(tool_at(port, "xmit_wait_ns")) / total;
	}
	json_decref(document);
	if (total > 0)
		return 0;
	dl_log(log, DL_LOG_ERROR,
	       "%s: no port waited: expected the output of dateline emulate --json", path);
	return -EINVAL;
}

int path_fabric_json(const struct tool_input *in, const struct path_request *r,
		     const struct dl_log *log, json_t **out)
{
	struct dl_tables_load load = { 0 };
	struct worst w = { .in = in, .counters = r->counted, .load = &load };
	json_t *errors, *waiting;
	int err = 0;

	w.weight = calloc(in->fabric->nports + 1, sizeof(*w.weight));
	if (r->predicted)
		w.predicted = calloc(in->fabric->nports + 1, sizeof(*w.predicted));
	if (!w.weight || (r->predicted && !w.predicted))
		err = -ENOMEM;
	if (!err && r->predicted)
		err = read_predicted(log, r->predicted, in->fabric, w.predicted);
	if (!err)
		err = dl_tables_load_count(in->snapshot.tables, NULL, NULL, log, &load);
	if (!err) {
		errors = worst_json(&w, DL_LIVE_FIRST_ERROR, DL_LIVE_COUNTERS - 1, r->top);
		waiting = worst_json(&w, DL_LIVE_XMIT_WAIT, DL_LIVE_XMIT_WAIT, r->top);
		*out = json_pack("{s:b, s:{s:i, s:o, s:o}}", "delivered", true, "fabric", "ports",
				 r->counted->nknown, "errors", errors, "waiting", waiting);
		err = *out ? 0 : -ENOMEM;
	}
	dl_tables_load_release(&load);
	free(w.weight);
	free(w.predicted);
	return err;
}
