/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What ports counted: at both ends of each hop, the cables to replace, and the
 * ports with congestion, beside what an emulation predicts.
 *
 * A cable has two ends, and a port counts what it receives damaged: symbol errors
 * of a cable are at the end to which the packets go.  So cables are ranked by the
 * sum of both ends.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "path.h"

/* The errors from DL_LIVE_FIRST_ERROR on, by what they mean. */
enum counted_kind {
	LINK_DOWN,		     /* the cable went down */
	RECOVERY,		     /* the link trained again */
	ERRORS,			     /* data arrived damaged, or did not fit */
	DISCARDS = PATH_CABLE_KINDS, /* congestion: thrown away after waiting ... */
	WAIT,			     /* ... and waiting */
	OTHER,			     /* found here, and caused elsewhere: no fault of this cable */
	KINDS
};

static enum counted_kind counted_kind_of(unsigned int counter)
{
	static const enum counted_kind kinds[] = { ERRORS, RECOVERY, LINK_DOWN, ERRORS, OTHER,
						   OTHER,  DISCARDS, OTHER,	OTHER,	ERRORS,
						   ERRORS, OTHER,    OTHER };

	_Static_assert(sizeof(kinds) / sizeof(*kinds) == DL_LIVE_COUNTERS - DL_LIVE_FIRST_ERROR,
		       "a kind for each error");
	if (counter < DL_LIVE_FIRST_ERROR)
		return counter == DL_LIVE_XMIT_WAIT ? WAIT : KINDS;
	return kinds[counter - DL_LIVE_FIRST_ERROR];
}

/* What a port counted of a kind; DL_NONE has counted nothing. */
static uint64_t counted_sum(const struct dl_live_counters *c, uint32_t port, enum counted_kind kind)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; port != DL_NONE && i < DL_LIVE_COUNTERS; i++)
		sum += counted_kind_of(i) == kind ? c->value[port][i] : 0;
	return sum;
}

uint64_t path_counted_faults(const struct dl_live_counters *c, uint32_t port)
{
	return counted_sum(c, port, LINK_DOWN) + counted_sum(c, port, RECOVERY) +
	       counted_sum(c, port, ERRORS);
}

uint32_t path_host_of(const struct dl_fabric *f, uint32_t port)
{
	uint32_t near = f->ports[port].node, far = dl_fabric_peer_node(f, port);

	if (!dl_fabric_is_switch(f, near))
		return near;
	return far == DL_NONE || dl_fabric_is_switch(f, far) ? DL_NONE : far;
}

/* ---- reading ------------------------------------------------------------- */

static int counters_read_one(const struct tool *tool, const struct path_request *r,
			     const char *from, const struct dl_fabric *f,
			     struct dl_live_counters *out, time_t *when)
{
	struct dl_live_options live;
	struct stat st;

	*when = time(NULL);
	if (!path_asks(from)) {
		*when = stat(from, &st) ? 0 : st.st_mtime;
		return dl_live_counters_read(from, f, &tool->log, out);
	}
	dl_live_options_init(&live);
	live.ca = r->input.live.ca;
	live.port = r->input.live.port;
	return dl_live_counters_ask(&live, f, &tool->log, out);
}

/*
 * What has grown since; a counter that shrank has been cleared.  What one that had stopped
 * at its maximum would have counted is not known, nor is it of a port that was not read:
 * all of it is listed, and nothing proposed.
 */
static void counters_subtract(const struct dl_log *log, const struct path_request *r,
			      const struct dl_fabric *f, struct dl_live_counters *now,
			      const struct dl_live_counters *then)
{
	/* Did the earlier reading ask as many nodes?  Then ports that it lacks had no errors. */
	bool complete = then->nodes && then->nodes >= (now->nodes ? now->nodes : f->nnodes);
	uint32_t n = 0, first = 0, nmissing = 0;
	unsigned int which = 0;

	for (uint32_t p = 0; p < f->nports; p++) {
		bool missing = !complete && now->known[p] && !then->known[p];

		nmissing += missing && path_counted_faults(now, p);
		for (unsigned int i = 0; i < DL_LIVE_COUNTERS; i++) {
			uint64_t before = then->value[p][i];
			bool stopped = dl_live_counter_stopped(i, before) &&
				       now->value[p][i] == before;

			if (stopped && !n++) {
				first = p;
				which = i;
			}
			if (missing && r->propose)
				now->value[p][i] = 0;
			else if (now->value[p][i] >= before && (!stopped || r->propose))
				now->value[p][i] -= before;
		}
	}
	if (nmissing)
		dl_log(log, DL_LOG_WARNING,
		       "%u port%s with errors %s not in %s, which does not say that all nodes were "
		       "asked: what came since is not known",
		       nmissing, tool_s(nmissing), nmissing == 1 ? "is" : "are", r->earlier);
	if (n)
		dl_log(log, DL_LOG_WARNING,
		       "%u counter%s stopped at the maximum, such as %s of \"%s\" port %u: what "
		       "came "
		       "since is not known; clear the counters",
		       n, n == 1 ? " has" : "s have", dl_live_counter_name(which),
		       dl_fabric_node_name(f, f->ports[first].node), f->ports[first].num);
}

int path_counters_read(const struct tool *tool, struct path_request *r, const struct dl_fabric *f,
		       struct dl_live_counters *out)
{
	struct dl_live_counters then = { 0 };
	time_t now, before;
	int err = counters_read_one(tool, r, r->counters, f, out, &now);

	r->counted = out;
	r->when = now;
	if (!err && r->earlier)
		err = counters_read_one(tool, r, r->earlier, f, &then, &before);
	if (!err && r->earlier) {
		counters_subtract(&tool->log, r, f, out, &then);
		r->hours = now > before ? (now - before) / 3600.0 : 0;
	}
	dl_live_counters_release(&then);
	return err;
}

static json_t *counters_json(const struct dl_live_counters *c, uint32_t port)
{
	json_t *j = port != DL_NONE && c->known[port] ? json_object() : NULL;

	for (unsigned int i = 0; j && i < DL_LIVE_COUNTERS; i++)
		if (c->value[port][i])
			json_object_set_new(j, dl_live_counter_name(i),
					    json_integer(c->value[port][i]));
	return j ? j : json_null();
}

json_t *path_counters_json(const struct path_request *r, const struct dl_fabric *f, uint32_t port)
{
	return json_pack("{s:o, s:o}", "out", counters_json(r->counted, port), "in",
			 counters_json(r->counted, f->ports[port].peer));
}

/* ---- cables to replace, and congestion ------------------------------------- */

static int counted_compare(const void *a, const void *b)
{
	const struct path_counted *x = a, *y = b;

	for (unsigned int k = 0; k < PATH_CABLE_KINDS; k++)
		if (x->key[k] != y->key[k])
			return x->key[k] < y->key[k] ? 1 : -1;
	return (x->port > y->port) - (x->port < y->port);
}

/*
 * What counted any of the kinds from `first` on, `nkinds` of them, most first: cables by
 * both ends if the kinds are theirs, else port by port.
 */
static struct path_counted *counted_sort(const struct path_request *r, const struct dl_fabric *f,
					 const bool *used, enum counted_kind first,
					 unsigned int nkinds, uint32_t *n)
{
	struct path_counted *out = calloc(f->nports + 1ul, sizeof(*out));

	*n = 0;
	for (uint32_t p = 0; out && p < f->nports; p++) {
		uint32_t peer = first < PATH_CABLE_KINDS ? f->ports[p].peer : DL_NONE;
		struct path_counted c = { .port = p };
		int more = 0; /* which end has counted more? */
		bool any = false;

		for (unsigned int k = 0; k < nkinds; k++) {
			uint64_t here = counted_sum(r->counted, p, first + k);
			uint64_t there = counted_sum(r->counted, peer, first + k);

			c.key[k] = here + there;
			any |= c.key[k] > 0;
			more = more ? more : (here > there) - (here < there);
		}
		if (any && (!used || used[p]) &&
		    (peer == DL_NONE || more > 0 || (!more && p < peer)))
			out[(*n)++] = c;
	}
	if (out)
		qsort(out, *n, sizeof(*out), counted_compare);
	return out;
}

struct path_counted *path_counted_worst(const struct path_request *r, const struct dl_fabric *f,
					const bool *used, uint32_t *n)
{
	return counted_sort(r, f, used, LINK_DOWN, PATH_CABLE_KINDS, n);
}

/* The paths through both directions; null for a host's own cable. */
static json_t *counted_cable_json(const struct tool_input *in, const struct path_request *r,
				  const struct dl_tables_load *load, uint32_t port)
{
	const struct dl_fabric *f = in->fabric;
	uint32_t host = path_host_of(f, port), peer = f->ports[port].peer;
	json_t *j = path_cable_json(in, port);

	json_object_set_new(
		j, "flows",
		tool_json_or_null(host == DL_NONE && peer != DL_NONE,
				  load->flows[port] + (peer == DL_NONE ? 0 : load->flows[peer])));
	json_object_set_new(j, "host",
			    host == DL_NONE ? json_null() :
					      tool_json_text(dl_fabric_node_name(f, host)));
	return tool_json_with(j, "counters", path_counters_json(r, f, port));
}

json_t *path_errors_json(const struct tool_input *in, const struct path_request *r,
			 const struct dl_tables_load *load, const bool *used, uint32_t *ports)
{
	static const char *const names[] = { "link-down", "recovery", "errors" };
	uint32_t n;
	struct path_counted *c = path_counted_worst(r, in->fabric, used, &n);
	json_t *list = c ? json_array() : NULL, *j;

	for (uint32_t i = 0; c && i < n && i < r->top; i++) {
		unsigned int kind = 0;

		while (!c[i].key[kind])
			kind++;
		j = counted_cable_json(in, r, load, c[i].port);
		json_object_set_new(j, "kind", json_string(names[kind]));
		json_object_set_new(j, "per_hour",
				    r->hours > 0 ? json_real(c[i].key[kind] / r->hours) :
						   json_null());
		json_array_append_new(list, j);
		if (ports)
			ports[i] = c[i].port;
	}
	free(c);
	return list;
}

/* Port by port: the keys of the kinds from `first` on. */
static json_t *ports_json(const struct tool_input *in, const struct path_request *r,
			  const struct dl_tables_load *load, enum counted_kind first,
			  unsigned int nkinds, const double *predicted)
{
	uint32_t n;
	struct path_counted *c = counted_sort(r, in->fabric, NULL, first, nkinds, &n);
	json_t *list = c ? json_array() : NULL, *j;
	double total = 0;

	for (uint32_t i = 0; c && i < n; i++)
		total += c[i].key[WAIT - DISCARDS];
	for (uint32_t i = 0; c && i < n && i < r->top; i++) {
		j = counted_cable_json(in, r, load, c[i].port);
		if (first == DISCARDS) {
			uint64_t wait = c[i].key[WAIT - DISCARDS];

			json_object_set_new(j, "share", json_real(wait ? wait / total : 0));
			json_object_set_new(j, "predicted_share",
					    predicted ? json_real(predicted[c[i].port]) :
							json_null());
		}
		json_array_append_new(list, j);
	}
	free(c);
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
	return dl_fail(log, -EINVAL,
		       "%s: no port waited: expected the output of dateline emulate --json", path);
}

int path_fabric_json(const struct tool_input *in, const struct path_request *r,
		     const struct dl_log *log, json_t **out)
{
	struct dl_tables_load load = { 0 };
	double *predicted = NULL;
	int err = 0;

	if (r->predicted) {
		predicted = calloc(in->fabric->nports + 1, sizeof(*predicted));
		err = predicted ? read_predicted(log, r->predicted, in->fabric, predicted) :
				  -ENOMEM;
	}
	if (!err)
		err = dl_tables_load_count(in->snapshot.tables, NULL, NULL, log, &load);
	if (!err) {
		*out = json_pack("{s:b, s:{s:i, s:o, s:o, s:o, s:o}}", "delivered", true, "fabric",
				 "ports", r->counted->nknown, "hours",
				 r->hours > 0 ? json_real(r->hours) : json_null(), "errors",
				 path_errors_json(in, r, &load, NULL, NULL), "waiting",
				 ports_json(in, r, &load, DISCARDS, 2, predicted), "other",
				 ports_json(in, r, &load, OTHER, 1, NULL));
		err = *out ? 0 : -ENOMEM;
	}
	dl_tables_load_release(&load);
	free(predicted);
	return err;
}
