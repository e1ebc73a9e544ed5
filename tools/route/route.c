/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline route`: from a netlist to a snapshot. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "route.h"

#define MAX_SECONDS 86400
#define NO_LIMIT UINT32_MAX /* no high limit is given */

struct request {
	struct tool_input_options input;
	const char *out, *avoid, *partitions, *conf, *earlier;
	struct dl_route_options options;
	bool show_tree;
	enum { KEEP_GROUPS, NO_GROUPS, ALL_ADAPTERS } multicast;
	unsigned int lmc, flags;
	struct tool_names fail;
};

#define MEMBER(member) DL_MEMBER(struct request, member)

static const struct dl_setting options[] = {
	{ "mode", DL_SETTING_WORD, MEMBER(options.mode), .words = "classic proven any-sl",
	  .arg = "classic|proven|any-sl",
	  .doc = "classic: the documented rules and refusals; proven: every "
		 "connected fabric, verified (default); any-sl: likewise, and "
		 "safe whatever SL packets carry" },
	{ "ties", DL_SETTING_WORD, MEMBER(options.ties), .words = "configured torus-2QoS balanced",
	  .arg = "balanced|torus-2QoS",
	  .doc = "Proven mode: share ties out, or send them all the way that "
		 "does not wrap (as the torus configuration says)" },
	{ "repair-seconds", DL_SETTING_NUMBER, MEMBER(options.repair_seconds), 0, MAX_SECONDS,
	  .arg = "N",
	  .doc = "Proven and any-SL mode: after this time, route what is not repaired "
		 "along a spanning tree (7)" },
	{ "multicast", DL_SETTING_WORD, MEMBER(multicast), .words = "keep none all",
	  .arg = "keep|none|all",
	  .doc = "Multicast groups: those of the snapshot that is routed (default), none, or "
		 "one of all adapters, at MLID 0xC000" },
	{ "qos-weights", MEMBER(options.weights), .call = dl_route_read_weights, .arg = "A:B",
	  .expected = "two weights A:B, each 1 to 255",
	  .doc = "Shares of QoS levels 0 and 1 in VL arbitration (1:1)" },
	{ "high-limit", DL_SETTING_NUMBER, MEMBER(options.high_limit), 0, 255, .arg = "N",
	  .doc = "VLHighLimit, in units of 4096 bytes; 255 is unlimited" },
	{ "opensm-conf", DL_SETTING_BORROW, MEMBER(conf), .arg = "FILE",
	  .doc = "Take VL arbitration (qos_*vlarb_*, qos_*high_limit) and event_plugin_options "
		 "from this opensm.conf, as the engine does; other options win" },
	{ "partitions", DL_SETTING_BORROW, MEMBER(partitions), .arg = "FILE",
	  .doc = "OpenSM's partitions.conf: name the groups whose SL the engine would refuse" },
	{ "lmc", DL_SETTING_NUMBER, MEMBER(lmc), 0, DL_FABRIC_MAX_LMC, .arg = "N",
	  .doc = "Give ports without a LID 2^N of them (0)" },
	{ "avoid", DL_SETTING_BORROW, MEMBER(avoid), .arg = "FILE",
	  .doc = "Send nothing across the cables of this list, nor on through its switches: lines "
		 "\"cable NAME/PORT\" and \"switch NAME\"; proven and any-SL mode" },
	{ "earlier", DL_SETTING_BORROW, MEMBER(earlier), .arg = "SNAPSHOT",
	  .doc = "What the fabric runs by: keep its LIDs, coordinates and groups, and so the path "
		 "SLs, as the running engine does" },
	{ FAIL_SETTING, DL_MEMBER(struct request, fail),
	  .doc = "Take this switch, adapter or cable out of the fabric first; may be repeated" },
	{ "show-tree", DL_SETTING_FLAG, MEMBER(show_tree), .doc = "Draw the multicast tree" },
	{ "psl", DL_SETTING_FLAG, MEMBER(flags), .max = DL_SNAPSHOT_PSL_ALWAYS,
	  .doc = "Export dateline-psl.dump, for ibdmchk, however large: it grows with the "
		 "square of the fabric (up to 4 million pairs)" },
	{ "no-psl", DL_SETTING_FLAG, MEMBER(flags), .max = DL_SNAPSHOT_PSL_NEVER,
	  .doc = "Do not export dateline-psl.dump" },
	{ "output", DL_SETTING_BORROW, MEMBER(out), .key = 'o', .arg = "DIR",
	  .doc = "The directory for the snapshot, or one file that ends in .dls" },
	{ 0 }
};

static void route_check_options(const struct argp_state *state, void *to)
{
	const struct request *r = to;

	if (!r->out && !r->show_tree)
		argp_error(state, "-o DIR is needed");
	if (r->avoid && r->options.mode == DL_ROUTE_CLASSIC)
		argp_error(state, "--avoid goes with proven and any-SL mode");
}

static const struct tool_usage usage = {
	.options = options,
	.what = "netlist",
	.input = tool_input_fabric,
	.input_at = offsetof(struct request, input),
	.check = route_check_options,
	.args_doc = "[NET|DIR]",
	.doc = "Compute all tables of a fabric and write them as a "
	       "snapshot."
	       "\v"
	       "NET is a netlist in the format of ibnetdiscover and ibsim.  "
	       "LIDs in it are kept; ports without a LID get the next free "
	       "ones.\n"
	       "\n"
	       "  dateline gen 6 5 1 -o first\n"
	       "  dateline route first.net --torus-config first.torus.conf "
	       "-o snapshot\n"
	       "\n"
	       "  dateline route first.net --fail S_3_3_0/1 -o without\n"
	       "\n"
	       "With --show-tree, -o is optional: the tree is drawn on "
	       "standard output, and x is the root.\n"
	       "\n"
	       "The snapshot contains OpenSM's dumps (forwarding tables, "
	       "SL-to-VL maps, multicast tables, subnet list), files for "
	       "ibdmchk (dateline-psl.dump, dateline-slvl.dump), VL "
	       "arbitration tables, the netlist, and dateline-opensm.conf "
	       "with lines for OpenSM's configuration.  As one .dls file it is "
	       "smaller by far, and read in no time.\n"
	       "\n"
	       "Exit status: 0 written, 1 the fabric or a group is refused, or written with "
	       "nodes left out, with a configuration that contradicts the fabric, or "
	       "with something on the list of --avoid that is not there or stays in use, "
	       "or with tables of --opensm-conf that starve VLs, "
	       "2 bad usage or input, 3 no memory or no space.",
};

/* What of the list can be avoided; anything else is a finding. */
static int route_resolve_avoid(struct tool *tool, const struct request *r,
			       const struct dl_fabric *f, struct dl_route_avoided **avoided)
{
	struct dl_route_avoid *list;
	char text[DL_ROUTE_AVOID_TEXT];
	int err = dl_route_avoid_read(r->avoid, &tool->log, &list);

	if (err)
		return err;
	err = dl_route_avoid_resolve(list, f, avoided);
	dl_route_avoid_free(list);
	for (uint32_t i = 0; !err && i < (*avoided)->n; i++) {
		const struct dl_route_avoided_item *item = &(*avoided)->items[i];

		dl_route_avoid_text(item, f, text, sizeof(text));
		dl_log(&tool->log, item->state == DL_ROUTE_AVOID_OUT ? DL_LOG_INFO : DL_LOG_WARNING,
		       "%s:%u: %s", r->avoid, item->line, text);
		tool->finding |= item->state != DL_ROUTE_AVOID_OUT;
	}
	return err;
}

/* End ports have the LIDs that they had, if the netlist has none. */
static void route_keep_lids(const struct dl_fabric *was, struct dl_fabric *f)
{
	for (uint32_t p = 0; !f->top_lid && p < f->nports; p++) {
		uint32_t node = dl_fabric_find_guid(was, f->nodes[f->ports[p].node].guid);
		uint32_t then = node == DL_NONE || f->ports[p].num > was->nodes[node].nports ?
					DL_NONE :
					was->nodes[node].first_port + f->ports[p].num;

		if (then == DL_NONE || !was->ports[then].lid)
			continue;
		f->ports[p].lid = was->ports[then].lid;
		f->ports[p].lmc = was->ports[then].lmc;
	}
}

/* What the fabric runs by. */
static int route_read_earlier(struct tool *tool, struct request *r, struct tool_input *earlier)
{
	struct tool_input_options o = { .from = r->earlier };
	int err = tool_input_read(tool, &o, TOOL_INPUT_TABLES, earlier);

	r->input.earlier = &earlier->snapshot;
	r->input.earlier_from = r->earlier;
	return err;
}

/* `before` are the tables of a snapshot, or NULL. */
static int route_compute(const struct request *r, const struct tool_input *in,
			 const struct dl_tables *before, const struct dl_log *log,
			 struct dl_route_result *out)
{
	bool keep = r->multicast == KEEP_GROUPS && before && before->ngroups;
	int err = dl_route(in->torus, in->config, &r->options, log, out);

	if (!err && !out->tree &&
	    (keep || r->multicast == ALL_ADAPTERS || r->show_tree || r->partitions))
		err = -ENOTCONN;
	if (!err && r->show_tree)
		tool_draw_tree(in->torus, out->tree, stdout);
	if (!err && r->partitions)
		err = route_check_partitions(r->partitions, out, log);
	if (!err && keep)
		err = tool_keep_groups(before, out);
	if (!err && r->multicast == ALL_ADAPTERS)
		err = dl_route_tree_group_all(out->tree, out->tables);
	return err;
}

/* The user's tables; the engine changes those that would starve VLs, which is an error. */
static int route_arbitrate(struct tool *tool, const struct dl_route_arb_config *c,
			   struct dl_tables *t)
{
	unsigned int errors = tool->errors;
	int err;

	dl_route_arb_check(c, t->fabric, &tool->log);
	err = dl_route_arb_apply(c, t, &tool->log);
	tool->finding |= tool->errors > errors;
	return err;
}

static int route_write_snapshot(const struct tool *tool, const struct request *r,
				const struct tool_input *in, struct dl_tables *tables)
{
	struct dl_snapshot s = { .tables = tables, .about.written = time(NULL) };
	int err = dl_route_describe(in->torus, in->config, &r->options, &s);
	const struct dl_fabric *f = in->fabric;
	uint32_t lids = 0;

	for (uint32_t lid = 1; lid <= f->top_lid; lid++)
		lids += f->lid_port[lid] != DL_NONE;
	if (!err)
		err = route_add_conf(&s, &r->options, r->conf);
	if (!err)
		err = tool_write_snapshot(tool, &s, r->out, r->flags);
	if (!err)
		dl_log(&tool->log, DL_LOG_VERBOSE, "%s", dl_tables_sl_demand(tables));
	if (!err)
		dl_log(&tool->log, DL_LOG_INFO, "%u switch%s, %u LID%s routed into %s",
		       f->nswitches, tool_es(f->nswitches), lids, tool_s(lids), r->out);
	s.tables = NULL; /* it is the result's */
	dl_snapshot_release(&s);
	return err;
}

static void route_defaults(struct request *r)
{
	tool_names_release(&r->fail);
	*r = (struct request){ .out = NULL };
	dl_route_options_init(&r->options);
	r->options.clock = dl_clock_monotonic;
	r->options.high_limit = NO_LIMIT;
}

/* Words of event_plugin_options that have an option here; the others say nothing of tables. */
static int route_take_words(struct request *r, char *words, const struct dl_log *log)
{
	static const char separators[] = " \t,", taken[] = " mode ties repair-seconds qos-weights "
							   "high-limit avoid ";
	char *rest = NULL, name[32], why[256];
	int err = 0;

	for (char *w = strtok_r(words, separators, &rest); w && !err;
	     w = strtok_r(NULL, separators, &rest)) {
		int len = snprintf(name, sizeof(name), " %.*s ", (int)strcspn(w, "="), w);

		for (char *at = name; (at = strchr(at, '_'));)
			*at = '-';
		if (len >= (int)sizeof(name) || !strstr(taken, name))
			continue;
		err = dl_setting_set(dl_setting_find(options, name + 1, len - 2), r,
				     w + len - 2 + (w[len - 2] == '='), why, sizeof(why));
		if (err == -EINVAL)
			dl_log(log, DL_LOG_ERROR, "event_plugin_options: \"%s\": expected %s", w,
			       why);
	}
	return err;
}

/* The command line; what it does not say may stand in an opensm.conf. */
static int route_options(struct tool *tool, int argc, char **argv, struct route_conf *c,
			 struct request *r)
{
	struct dl_route_options fallback;
	int err = 0;

	route_defaults(r);
	tool_options(tool, &usage, argc, argv, r);
	if (r->conf) {
		err = route_conf_read(r->conf, &tool->log, c);
		route_defaults(r);
		if (!err && c->plugin)
			err = route_take_words(r, c->plugin, &tool->log);
		tool_options(tool, &usage, argc, argv, r);
	}
	/* OpenSM's own limit goes with tables that are written for it. */
	c->arb.default_high_limit = r->options.high_limit == NO_LIMIT ? 0 : -1;
	dl_route_options_init(&fallback);
	if (r->options.high_limit == NO_LIMIT)
		r->options.high_limit = fallback.high_limit;
	r->input.one_vl = r->options.mode == DL_ROUTE_ANY_SL;
	r->input.any_fabric = r->options.mode != DL_ROUTE_CLASSIC;
	return err;
}

int tool_cmd_route(struct tool *tool, int argc, char **argv)
{
	struct request r = { 0 };
	struct route_conf conf = { 0 };
	struct dl_route_result routed = { 0 };
	struct dl_route_avoided *avoided = NULL;
	struct tool_input earlier = { 0 }, whole = { 0 }, left = { 0 }, *in = &whole;
	const struct dl_tables *before;
	int err;

	err = route_options(tool, argc, argv, &conf, &r);
	if (err) {
		dl_arena_free(&conf.arena);
		return tool_exit_status(err);
	}
	err = r.earlier ? route_read_earlier(tool, &r, &earlier) : 0;
	if (!err)
		err = tool_input_read(tool, &r.input, TOOL_INPUT_PART, in);
	if (!err && r.earlier)
		route_keep_lids(earlier.snapshot.fabric, in->fabric);
	if (!err)
		err = dl_fabric_assign_lids(in->fabric, r.lmc);
	if (err == -ENOSPC)
		err = dl_fail(&tool->log, -EINVAL, "%s: more end ports than unicast LIDs",
			      r.input.is_live ? "fabric" : r.input.from);
	if (!err && r.fail.n) {
		in = &left;
		err = fail_input(tool, &r.input, &r.fail, &whole, in, NULL);
	}
	if (!err && r.avoid)
		err = route_resolve_avoid(tool, &r, in->fabric, &avoided);
	r.options.avoid = avoided;
	before = r.earlier ? earlier.snapshot.tables : whole.snapshot.tables;
	/* The highest LID stays, as in the running fabric. */
	if (!err && before)
		err = dl_fabric_widen(in->fabric, before->top_lid);
	if (!err)
		err = route_compute(&r, in, before, &tool->log, &routed);
	if (!err && r.conf)
		err = route_arbitrate(tool, &conf.arb, routed.tables);
	if (!err && r.out)
		err = route_write_snapshot(tool, &r, in, routed.tables);
	dl_route_result_release(&routed);
	dl_route_avoided_free(avoided);
	tool_input_free(&left);
	tool_input_free(&whole);
	tool_input_free(&earlier);
	tool_names_release(&r.fail);
	dl_arena_free(&conf.arena);
	return tool_exit_status(err);
}
