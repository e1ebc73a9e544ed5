/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline path`: the way of packets, hop by hop, and who uses a cable. */
#include "config.h"

#include <errno.h>

#include "path.h"

static int read_mlid(const struct dl_setting *setting, void *to, const char *text, char *why,
		     size_t size)
{
	uint64_t mlid;

	(void)setting, (void)why, (void)size; /* it says what is expected */
	if (*dl_number_scan(text, 0, &mlid) || mlid < DL_TABLES_MCAST_LID || mlid > 0xFFFE)
		return -EINVAL;
	((struct path_request *)to)->mlid = mlid;
	return 0;
}

#define MEMBER(member) DL_MEMBER(struct path_request, member)

static const struct dl_setting options[] = {
	{ "return", DL_SETTING_FLAG, MEMBER(both_ways), .doc = "The way back as well" },
	{ "all-lids", DL_SETTING_FLAG, MEMBER(all_lids), .doc = "To each LID of B (LMC above 0)" },
	{ "sl", DL_SETTING_NUMBER, MEMBER(sl), .max = 15, .arg = "SL",
	  .doc = "SL of the packets (that of the path; multicast: 0)" },
	{ "multicast", .call = read_mlid, .arg = "MLID",
	  .expected = "a multicast LID, 0xC000 to 0xFFFE",
	  .doc = "Packets from A to this group; with B, to that member of it" },
	{ "job", DL_SETTING_BORROW, MEMBER(job), .arg = "HOSTS",
	  .doc = "The busiest cables of all pairs of these hosts: node[01-20], or a file" },
	{ "jobs", DL_SETTING_BORROW, MEMBER(jobs), .arg = "FILE",
	  .doc = "The running jobs that use the cable of --through, or the cables with errors "
		 "by --counters: squeue's output, or lines JOB HOSTS" },
	{ "through", DL_SETTING_BORROW, MEMBER(through), .arg = "SWITCH/PORT",
	  .doc = "The paths that leave the switch by this port; with --job, those of the job" },
	{ "counters", DL_SETTING_BORROW, MEMBER(counters), .arg = "FILE|live",
	  .doc = "What ports counted: the output of ibqueryerrors --data or perfquery, or the "
		 "running fabric's; without end ports, list the cables to replace" },
	{ "earlier", DL_SETTING_BORROW, MEMBER(earlier), .arg = "FILE",
	  .doc = "An earlier reading: only what was counted since" },
	{ "propose-avoid", DL_SETTING_BORROW, MEMBER(propose), .arg = "FILE",
	  .doc = "With --earlier: append the cables whose errors are above a limit to this list "
		 "of what to avoid" },
	{ "max-errors", DL_SETTING_NUMBER, MEMBER(max_errors), .max = INT32_MAX, .arg = "N",
	  .doc = "Errors an hour that a cable may have (one in 10^12 bits)" },
	{ "max-recoveries", DL_SETTING_NUMBER, MEMBER(max_recoveries), .max = INT32_MAX, .arg = "N",
	  .doc = "Recoveries an hour (10)" },
	{ "max-downs", DL_SETTING_NUMBER, MEMBER(max_downs), .max = INT32_MAX, .arg = "N",
	  .doc = "Link-downs an hour (2)" },
	{ "ring-share", DL_SETTING_NUMBER, MEMBER(ring_share), .max = 100, .arg = "PERCENT",
	  .doc = "The part of a ring's cables that may be out of use (34)" },
	{ "predicted", DL_SETTING_BORROW, MEMBER(predicted), .arg = "FILE",
	  .doc = "Beside the ports that waited longest, what an emulation (emulate --json) "
		 "predicts" },
	{ "top", DL_SETTING_NUMBER, MEMBER(top), .min = 1, .max = 1000000, .arg = "N",
	  .doc = "List so many cables or paths (20)" },
	{ 0 }
};

static const struct dl_setting args[] = { { "snapshot", DL_SETTING_BORROW, MEMBER(input.from) },
					  { "A", DL_SETTING_BORROW, MEMBER(from) },
					  { "B", DL_SETTING_BORROW, MEMBER(to) },
					  { 0 } };

static void path_check_options(const struct argp_state *state, void *to)
{
	struct path_request *r = to;
	const char *limit =
		tool_first_given(state, "max-errors max-recoveries max-downs ring-share");
	bool named = r->job || r->through || r->jobs;

	r->input.asks = path_asks(r->counters) || path_asks(r->earlier);
	if (named && r->from)
		argp_error(state, "--job, --jobs and --through take no end ports");
	if (r->jobs && (r->job || !r->through == !r->counters))
		argp_error(state, "--jobs goes with either --through or --counters");
	if (r->earlier && !r->counters)
		argp_error(state, "--earlier goes with --counters");
	if (r->propose && (!r->earlier || r->from || named))
		argp_error(state, "--propose-avoid goes with --counters and --earlier alone");
	if (limit && !r->propose)
		argp_error(state, "--%s goes with --propose-avoid", limit);
	if (tool_first_given(state, "top") && (r->from || (r->jobs && r->through)))
		argp_error(state, "--top goes with --job, --through or --counters, which list "
				  "cables, paths or ports");
	if (named && (r->both_ways || r->all_lids || r->mlid || r->sl != PATH_SL))
		argp_error(state, "--return, --all-lids, --multicast and --sl go with end ports");
	if (r->predicted && (!r->counters || r->from || named))
		argp_error(state, "--predicted goes with --counters alone");
	named |= r->counters && !r->from;
	if (!named && !r->from)
		argp_error(state, "from which end port?");
	if (!named && !r->to && !r->mlid)
		argp_error(state, "to which end port?");
	if (r->mlid && (r->both_ways || r->all_lids))
		argp_error(state, "--multicast goes one way, to one LID");
}

static const struct tool_usage usage = {
	.options = options,
	.args = args,
	.input = tool_input_tables,
	.input_at = offsetof(struct path_request, input),
	.check = path_check_options,
	.flags = TOOL_JSON,
	.args_doc = "[DIR] [A [B]]",
	.doc = "Follow packets through the forwarding tables: SL, and at each "
	       "hop switch, coordinates, ports, VL and link speed."
	       "\v"
	       "DIR is a snapshot, a directory or a .dls file, or a directory of "
	       "OpenSM's dumps.  A and B "
	       "are end ports: a LID (12, 0xc), a GUID, the coordinates of a "
	       "switch (3,1,2), a node's description or the first word of it, "
	       "or one of these with a port (host7/2).\n"
	       "\n"
	       "  dateline path today H_0_0_0_1 H_3_2_1_1 --return\n"
	       "  dateline path --live H_0_0_0_1 H_3_2_1_1\n"
	       "  dateline path snapshot H_0_0_0_1 --multicast 0xC000\n"
	       "  dateline path today --job hosts.txt\n"
	       "  dateline path today --through 3,1,2/5\n"
	       "  dateline path today --counters errors.txt\n"
	       "  dateline path today --counters errors.txt --jobs squeue.txt\n"
	       "  dateline path today --counters errors.txt --earlier before.txt --propose-avoid "
	       "avoid\n"
	       "\n"
	       "Exit status: 0 all packets arrive, 1 some do not, 2 bad usage "
	       "or input, 3 no fabric or no memory.",
};

static int path_between(const struct path_request *r, const struct find *f,
			const struct dl_log *log, json_t **out)
{
	struct find_result from, to = { DL_NONE, 0 };
	int err = find_end_port(f, log, r->from, &from);

	if (!err && r->to)
		err = find_end_port(f, log, r->to, &to);
	if (err)
		return err;
	if (!r->mlid && from.port == to.port)
		return dl_fail(log, -EINVAL,
			       "%s and %s are the same end port, whose packets to itself use no "
			       "cable",
			       r->from, r->to);
	*out = r->mlid ? path_multicast_json(f->in, r, from.port, to.port) :
			 path_pair_json(f->in, r, &from, &to);
	return *out ? 0 : -ENOMEM;
}

static int path_answer(struct tool *tool, struct path_request *r, const struct tool_input *in,
		       json_t **out)
{
	struct dl_live_counters counters = { 0 };
	struct find find = { 0 };
	int err = find_begin(&find, in);

	find.adapters = true;
	if (!err && r->counters)
		err = path_counters_read(tool, r, in->fabric, &counters);
	if (!err && r->jobs)
		err = path_jobs_json(&find, r, tool, out);
	else if (!err && (r->job || r->through))
		err = path_cables_json(&find, r, &tool->log, out);
	else if (!err && r->from)
		err = path_between(r, &find, &tool->log, out);
	else if (!err)
		err = path_fabric_json(in, r, &tool->log, out);
	if (!err && r->propose)
		err = path_propose(tool, in, r, json_object_get(*out, "fabric"));
	if (err) {
		json_decref(*out);
		*out = NULL;
	}
	dl_live_counters_release(&counters);
	find_end(&find);
	return err;
}

int tool_cmd_path(struct tool *tool, int argc, char **argv)
{
	struct path_request r = {
		.sl = PATH_SL,
		.top = 20,
		.max_errors = -1,
		.max_recoveries = 10,
		.max_downs = 2,
		.ring_share = 34,
	};
	json_t *document = NULL;
	struct tool_input in;
	int err, status = TOOL_EXIT_GOOD;

	tool_options(tool, &usage, argc, argv, &r);
	err = tool_input_read(tool, &r.input, TOOL_INPUT_TABLES, &in);
	if (!err)
		err = path_answer(tool, &r, &in, &document);
	if (!err) {
		status = tool_true_at(document, "delivered") ? TOOL_EXIT_GOOD : TOOL_EXIT_FINDING;
		err = tool_show(tool, document, path_print);
	}
	tool_input_free(&in);
	return err ? (int)tool_exit_status(err) : status;
}
