/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline route`: from a netlist to a snapshot. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/base.h"
#include "dateline/route.h"
#include "tool.h"

enum {
	KEY_TORUS = 0x2000,
	KEY_MODE,
	KEY_MULTICAST,
	KEY_WEIGHTS,
	KEY_LIMIT,
	KEY_LMC,
	KEY_NO_PSL,
	KEY_TREE,
	KEY_REPAIR
};

#define MAX_SECONDS 86400

struct request {
	const char *net, *config, *out;
	struct dl_route_options options;
	bool multicast, show_tree;
	unsigned int lmc, flags;
};

static const struct argp_option options[] = {
	{ .name = "torus-config",
	  .key = KEY_TORUS,
	  .arg = "FILE",
	  .doc = "Radices, seeds and datelines: a torus-2QoS.conf; without "
		 "it, the cabling decides" },
	{ .name = "mode",
	  .key = KEY_MODE,
	  .arg = "classic|proven",
	  .doc = "classic: the documents' rules and refusals; "
		 "proven: every connected fabric, with proof (default)" },
	{ .name = "repair-seconds",
	  .key = KEY_REPAIR,
	  .arg = "N",
	  .doc = "Proven mode: after so many seconds, the rest goes along a "
		 "tree (10)" },
	{ .name = "multicast",
	  .key = KEY_MULTICAST,
	  .arg = "all",
	  .doc = "Add one multicast group of all adapters, at MLID 0xC000" },
	{ .name = "qos-weights",
	  .key = KEY_WEIGHTS,
	  .arg = "A:B",
	  .doc = "Shares of QoS levels 0 and 1 in VL arbitration (1:1)" },
	{ .name = "high-limit",
	  .key = KEY_LIMIT,
	  .arg = "N",
	  .doc = "VLHighLimit, in units of 4096 bytes; 255 is unlimited" },
	{ .name = "lmc",
	  .key = KEY_LMC,
	  .arg = "N",
	  .doc = "Give ports without a LID 2^N of them (0)" },
	{ .name = "show-tree",
	  .key = KEY_TREE,
	  .doc = "Draw the multicast tree" },
	{ .name = "no-psl",
	  .key = KEY_NO_PSL,
	  .doc = "Leave dateline-psl.dump out: it grows with the square of "
		 "the fabric" },
	{ .name = "output",
	  .key = 'o',
	  .arg = "DIR",
	  .doc = "The folder for the snapshot" },
	{ 0 }
};

static void parse_weights(const struct argp_state *state, const char *text,
			  unsigned int weights[2])
{
	char trailing;

	if (sscanf(text, "%3u:%3u%c", &weights[0], &weights[1], &trailing) !=
		    2 ||
	    !weights[0] || !weights[1] || weights[0] > 255 || weights[1] > 255)
		argp_error(state,
			   "\"%s\" is no pair of weights: expected A:B, each 1 "
			   "to 255",
			   text);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *r = state->input;

	switch (key) {
	case KEY_TORUS:
		r->config = arg;
		return 0;
	case KEY_MODE:
		if (strcmp(arg, "classic") && strcmp(arg, "proven"))
			argp_error(state,
				   "there is no mode \"%s\": expected "
				   "classic or proven",
				   arg);
		r->options.mode = strcmp(arg, "proven") ? DL_ROUTE_CLASSIC :
							  DL_ROUTE_PROVEN;
		return 0;
	case KEY_MULTICAST:
		if (strcmp(arg, "all"))
			argp_error(state,
				   "--multicast takes the word \"all\", "
				   "not \"%s\"",
				   arg);
		r->multicast = true;
		return 0;
	case KEY_WEIGHTS:
		parse_weights(state, arg, r->options.weights);
		return 0;
	case KEY_LIMIT:
		r->options.high_limit =
			tool_arg_number(state, arg, "high limit", 0, 255);
		return 0;
	case KEY_REPAIR:
		r->options.repair_seconds =
			tool_arg_number(state, arg, "time", 0, MAX_SECONDS);
		return 0;
	case KEY_LMC:
		r->lmc = tool_arg_number(state, arg, "LMC", 0,
					 DL_FABRIC_MAX_LMC);
		return 0;
	case KEY_TREE:
		r->show_tree = true;
		return 0;
	case KEY_NO_PSL:
		r->flags &= ~DL_SNAPSHOT_PSL;
		return 0;
	case 'o':
		r->out = arg;
		return 0;
	case ARGP_KEY_ARG:
		tool_arg_once(state, &r->net, arg, "netlist");
		return 0;
	case ARGP_KEY_END:
		if (!r->net)
			argp_error(state, "which netlist?");
		if (!r->out && !r->show_tree)
			argp_error(state, "-o DIR is needed");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp route_argp = {
	.options = options,
	.parser = parse,
	.args_doc = "NET",
	.doc = "Compute all tables for a fabric and write them as a snapshot."
	       "\v"
	       "NET is a netlist: what ibnetdiscover prints and ibsim reads.  "
	       "LIDs in it are kept; ports without get the next free ones.\n"
	       "\n"
	       "  dateline gen 6 5 1 -o first\n"
	       "  dateline route first.net --torus-config first.torus.conf -o "
	       "snapshot\n"
	       "\n"
	       "With --show-tree it may do without -o: the tree is drawn on "
	       "standard output, x being the root.\n"
	       "\n"
	       "The snapshot holds OpenSM's own dumps (forwarding tables, "
	       "SL-to-VL maps, multicast tables, subnet list), files for "
	       "ibdmchk (dateline-psl.dump, dateline-slvl.dump), VL "
	       "arbitration, the netlist, and dateline-opensm.conf: what "
	       "to add to OpenSM's configuration.\n"
	       "\n"
	       "Exit status: 0 written, 1 the fabric is refused, 2 bad "
	       "usage or input, 3 no memory or no space.",
};

static int compute(const struct request *r, const struct tool_setup *s,
		   const struct dl_log *log, struct dl_route_result *out)
{
	int err = dl_route(s->torus, s->config, &r->options, log, out);

	if (!err && !out->tree && (r->multicast || r->show_tree))
		err = -ENOTCONN;
	if (!err && r->show_tree)
		tool_draw_tree(s->torus, out->tree, stdout);
	if (!err && r->multicast)
		err = dl_route_tree_group_all(out->tree, out->tables);
	return err;
}

/* Where each switch sits, for reports on the snapshot. */
static int write_list(const struct tool *tool, const char *dir,
		      const struct dl_torus *torus)
{
	struct tool_out out;
	int err = tool_out_open(tool, dir, "dateline-torus.dump", &out);

	if (err)
		return err;
	return tool_out_close(tool, &out, dl_torus_write_list(torus, out.file));
}

static int write_snapshot(const struct tool *tool, const struct request *r,
			  const struct tool_setup *s,
			  const struct dl_tables *tables)
{
	int err = tool_make_dir(tool, r->out);

	if (!err)
		err = dl_snapshot_write(tables, r->out, r->flags, &tool->log);
	if (!err)
		err = write_list(tool, r->out, s->torus);
	if (!err)
		err = tool_write_opensm_conf(tool, r->out, &r->options);
	if (!err)
		dl_log(&tool->log, DL_LOG_INFO,
		       "%u switches, %u LIDs routed into %s",
		       s->fabric->nswitches, s->fabric->top_lid, r->out);
	return err;
}

int tool_cmd_route(struct tool *tool, int argc, char **argv)
{
	struct request r = { .flags = DL_SNAPSHOT_PSL };
	struct dl_route_result routed = { 0 };
	struct tool_setup s;
	int err;

	dl_route_options_init(&r.options);
	r.options.clock = dl_clock_monotonic;
	tool_parse(tool, &route_argp, 0, argc, argv, &r);
	err = tool_setup_load(tool, r.net, r.config, &s);
	if (!err && dl_fabric_assign_lids(s.fabric, r.lmc)) {
		dl_log(&tool->log, DL_LOG_ERROR,
		       "%s: more end ports than unicast LIDs", r.net);
		err = -EINVAL;
	}
	if (!err)
		err = compute(&r, &s, &tool->log, &routed);
	if (!err && r.out)
		err = write_snapshot(tool, &r, &s, routed.tables);
	dl_route_result_release(&routed);
	tool_setup_free(&s);
	return tool_exit_status(err);
}
