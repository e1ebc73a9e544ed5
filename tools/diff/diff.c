/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline diff`: what two snapshots, or a snapshot and the fabric, differ in. */
#include "config.h"

#include <errno.h>

#include "diff.h"

struct request {
	struct tool_input_options earlier, input;
};

static const struct dl_setting args[] = {
	{ "old", DL_SETTING_BORROW, DL_MEMBER(struct request, earlier.from), .required = true },
	{ "new", DL_SETTING_BORROW, DL_MEMBER(struct request, input.from) },
	{ 0 }
};

static const struct tool_usage usage = {
	.args = args,
	.input = tool_input_tables,
	.input_at = offsetof(struct request, input),
	.flags = TOOL_JSON,
	.args_doc = "OLD [NEW]",
	.doc = "Compare two snapshots, or a snapshot and the running fabric: "
	       "switches, adapters, cables, LIDs, coordinates, path SLs, "
	       "forwarding entries, SL-to-VL maps, VL arbitration and "
	       "multicast trees."
	       "\v"
	       "Nodes are the same that have the same GUID.  Tables are compared "
	       "between nodes that are in both.\n"
	       "\n"
	       "  dateline diff yesterday today\n"
	       "  dateline diff yesterday --live\n"
	       "\n"
	       "Exit status: 0 they are the same, 1 they differ, 2 bad usage or "
	       "input, 3 no fabric or no memory.",
};

int diff_match(struct diff *d, const struct dl_log *log)
{
	int err = dl_fabric_match(d->from->fabric, d->to->fabric, &d->there);

	if (!err)
		err = dl_fabric_match(d->to->fabric, d->from->fabric, &d->back);
	if (err)
		return err;
	for (uint32_t i = 0; i < d->from->fabric->nnodes; i++)
		if (d->there.node[i] != DL_NONE)
			return 0;
	return dl_fail(log, -EINVAL,
		       "no GUID is in both: these are two fabrics, and there is nothing to "
		       "compare");
}

void diff_release(struct diff *d)
{
	dl_fabric_match_release(&d->there);
	dl_fabric_match_release(&d->back);
}

/* Does a part say that nothing differs? */
static bool is_same(const json_t *part)
{
	static const char *const lists[] = { "added", "removed", "changed", NULL };

	for (const char *const *l = lists; *l; l++)
		if (json_array_size(tool_at(part, *l)) || tool_int_at(part, *l))
			return false;
	return true;
}

static json_t *diff_compare(const struct diff *d)
{
	const struct {
		const char *name;
		json_t *part;
	} parts[] = {
		{ "switches", diff_nodes(d, true) },
		{ "adapters", diff_nodes(d, false) },
		{ "cables", diff_cables(d) },
		{ "lids", diff_lids(d) },
		{ "coordinates", diff_coords(d) },
		{ "path_sls", diff_sls(d) },
		{ "forwarding", diff_entries(d) },
		{ "sl2vl", diff_sl2vl(d) },
		{ "vl_arbitration", diff_vlarb(d, false) },
		{ "vl_high_limits", diff_vlarb(d, true) },
		{ "multicast", diff_multicast(d) },
	};
	json_t *document = json_object();
	bool same = true;

	for (unsigned int i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		same &= is_same(parts[i].part);
		tool_json_with(document, parts[i].name, parts[i].part);
	}
	return tool_json_with(document, "same", json_boolean(same));
}

int tool_cmd_diff(struct tool *tool, int argc, char **argv)
{
	struct tool_input from = { 0 }, to = { 0 };
	struct diff d = { .from = &from, .to = &to };
	struct request r = { 0 };
	json_t *document;
	int err;

	tool_options(tool, &usage, argc, argv, &r);
	r.earlier.net = r.input.net;
	r.earlier.config = r.input.config;
	r.earlier.names = r.input.names;
	err = tool_input_read(tool, &r.earlier, TOOL_INPUT_TABLES, &from);
	if (!err)
		err = tool_input_read(tool, &r.input, TOOL_INPUT_TABLES, &to);
	if (!err)
		err = diff_match(&d, &tool->log);
	if (!err) {
		document = diff_compare(&d);
		tool->finding |= !tool_true_at(document, "same");
		err = tool_show(tool, document, diff_print);
	}
	diff_release(&d);
	tool_input_free(&to);
	tool_input_free(&from);
	return tool_exit_status(err);
}
