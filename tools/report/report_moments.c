/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Several snapshots of one fabric, as the moments of a slider: what was missing, what
 * verify found, the load of the cables that are there now, and what changed until the
 * next one.  Cables are numbered as in the last snapshot, whose page it is.
 */
#include "config.h"

#include <errno.h>

#include "report.h"

/* Both moments' differences, but for lists by LID and switch. */
static json_t *moments_compare(const struct diff *d)
{
	json_t *forwarding = diff_entries(d);

	json_object_del(forwarding, "destinations");
	json_object_del(forwarding, "switches");
	return json_pack("{s:o, s:o, s:o, s:o}", "switches", diff_nodes(d, true), "adapters",
			 diff_nodes(d, false), "cables", diff_cables(d), "forwarding", forwarding);
}

static int moments_verify(const struct tool_input *in, json_t *moment)
{
	struct dl_verify_result *v;
	int err = dl_verify(in->snapshot.tables, NULL, NULL, &v);

	if (err)
		return err;
	tool_json_with(moment, "delivered", json_boolean(v->delivered));
	tool_json_with(moment, "pairs", json_integer(v->pairs));
	tool_json_with(moment, "lost", json_integer(v->nlost));
	tool_json_with(moment, "loop", json_boolean(v->verdict == DL_VERIFY_LOOP));
	dl_verify_result_free(v);
	return 0;
}

/* The loads of ways of the page `now`; -1 where a cable was not there. */
static int moments_load(const struct report_page *now, const struct report_page *then,
			const struct dl_fabric_match *there, json_t *moment)
{
	struct dl_tables_load load;
	json_t *flows = json_array();
	int err = dl_tables_load_count(then->tables, NULL, NULL, NULL, &load);

	for (uint32_t w = 0; !err && w < 2 * now->ncables; w++) {
		const uint32_t *ends = now->cables[w / 2].port;
		bool same = dl_fabric_match_has_cable(there, ends[w % 2]);
		uint32_t out = dl_fabric_match_port(there, ends[w % 2]);

		report_push(flows, same ? (json_int_t)load.flows[out] : -1);
	}
	tool_json_with(moment, "flows", flows);
	if (err)
		return err;
	tool_json_with(moment, "busiest", json_integer(load.busiest));
	dl_tables_load_release(&load);
	return 0;
}

static bool moments_same_grid(const struct tool_coords *a, const struct tool_coords *b)
{
	bool same = a->site && b->site;

	for (unsigned int d = 0; same && d < DL_TORUS_DIMS; d++)
		same = a->grid.radix[d] == b->grid.radix[d];
	return same;
}

static int moments_add(const struct report_page *now, const struct report_page *then,
		       const struct report_page *next, const char *title, const struct dl_log *log,
		       json_t *list)
{
	int64_t written = then->input->snapshot.about.written;
	struct diff back = { .from = now->input, .to = then->input };
	struct diff until = { .from = then->input, .to = next->input };
	json_t *moment = json_pack("{s:o, s:o}", "title", tool_json_text(title), "written",
				   tool_json_or_null(written, written));
	int err = moment ? diff_match(&back, log) : -ENOMEM;

	if (!err)
		err = diff_match(&until, log);
	if (!err)
		err = moments_verify(then->input, moment);
	if (!err)
		err = moments_load(now, then, &back.there, moment);
	/* Another grid has other sites. */
	tool_json_with(moment, "missing",
		       moments_same_grid(now->coords, then->coords) ? report_missing(then) :
								      json_null());
	if (!err)
		tool_json_with(moment, "until_next", moments_compare(&until));
	json_array_append_new(list, moment);
	diff_release(&back);
	diff_release(&until);
	return err;
}

int report_moments(const struct report_page *now, const struct report_earlier *list, uint32_t n,
		   const struct dl_log *log, json_t *document)
{
	json_t *moments = json_array();
	int err = 0;

	for (uint32_t i = 0; !err && i < n; i++)
		err = moments_add(now, &list[i].page, i + 1 < n ? &list[i + 1].page : now,
				  list[i].title, log, moments);
	tool_json_with(document, "moments", moments);
	return err;
}
