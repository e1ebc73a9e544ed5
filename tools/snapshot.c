/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline snapshot`: read the running fabric, or export a snapshot. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "tools/common/input.h"

#define PARTIAL "dateline-partial.txt"

struct request {
	struct dl_live_options options;
	const char *from, *out, *names, *congestion;
	unsigned int flags; /* enum dl_snapshot_flags */
	bool live;
};

#define MEMBER(member) DL_MEMBER(struct request, member)

static int read_paths(const struct dl_setting *setting, void *to, const char *text, char *why,
		      size_t size)
{
	/* As in enum dl_live_paths; the first cannot be asked for. */
	static const char *const words[] = { "", "none", "adapters", "all" };
	struct request *r = to;

	(void)setting, (void)why, (void)size; /* it says what is expected */
	for (unsigned int i = 1; i < sizeof(words) / sizeof(*words); i++) {
		if (!strcmp(words[i], text)) {
			r->options.paths = i;
			return 0;
		}
	}
	return -EINVAL;
}

static const struct dl_setting args[] = { { "SNAPSHOT", DL_SETTING_BORROW, MEMBER(from) }, { 0 } };

static const struct dl_setting options[] = {
	{ "live", DL_SETTING_FLAG, MEMBER(live),
	  .doc = "Read the fabric that this machine is attached to, as without SNAPSHOT" },
	{ "output", DL_SETTING_BORROW, MEMBER(out), .key = 'o', .arg = "DIR",
	  .doc = "The snapshot, a file that ends in .dls, or a directory for other programs" },
	{ "psl", DL_SETTING_FLAG, MEMBER(flags), .max = DL_SNAPSHOT_PSL_ALWAYS,
	  .doc = "Export dateline-psl.dump however large" },
	{ "Ca", DL_SETTING_BORROW, MEMBER(options.ca), .key = 'C', .arg = "NAME",
	  .doc = "The local adapter (any that is up)" },
	{ "Port", DL_SETTING_NUMBER, MEMBER(options.port), 1, 254, .key = 'P', .arg = "N",
	  .doc = "Its port (any that is up)" },
	{ "paths", .call = read_paths, .arg = "all|adapters|none",
	  .expected = "one of: all adapters none",
	  .doc = "Path SLs to query from the subnet administrator (all, up to 128 switches; "
		 "else none)" },
	{ "node-name-map", DL_SETTING_BORROW, MEMBER(names), .arg = "FILE",
	  .doc = "Names of nodes by GUID, as for infiniband-diags" },
	{ "congestion", DL_SETTING_BORROW, MEMBER(congestion), .arg = "FILE",
	  .doc = "Also write congestion control as options of OpenSM, for scenarios" },
	{ "cc-key", DL_SETTING_NUMBER, MEMBER(options.cc_key), 0, DL_NUMBER_ANY, .arg = "KEY",
	  .doc = "The CC_Key of devices (0)" },
	{ "timeout", DL_SETTING_NUMBER, MEMBER(options.timeout_ms), 1, 60000, .arg = "MS",
	  .doc = "Milliseconds to wait for an answer (500)" },
	{ "retries", DL_SETTING_NUMBER, MEMBER(options.retries), 0, 100, .arg = "N",
	  .doc = "Repetitions of a query (4)" },
	{ "in-flight", DL_SETTING_NUMBER, MEMBER(options.in_flight), 1, 4096, .arg = "N",
	  .doc = "Queries outstanding at a time (64)" },
	{ 0 }
};

static void snapshot_check_options(const struct argp_state *state, void *to)
{
	struct request *r = to;

	if (r->live && r->from)
		argp_error(state, "--live reads the running fabric, and no snapshot");
	if (r->options.cc_key && !r->congestion)
		argp_error(state, "--cc-key is for --congestion");
	if (r->from && r->congestion)
		argp_error(state, "--congestion reads the running fabric, and no snapshot");
	if (r->from)
		tool_refuse_port(state, &r->options);
	r->live = !r->from;
	if (!r->out)
		argp_error(state, "-o DIR is needed");
}

static const struct tool_usage usage = {
	.options = options,
	.args = args,
	.args_doc = "[SNAPSHOT]",
	.check = snapshot_check_options,
	.doc = "Read all tables of a running fabric into a snapshot, or export one."
	       "\v"
	       "Without SNAPSHOT, discovers the fabric, reads forwarding and multicast tables, "
	       "SL-to-VL maps and VL arbitration from every switch and "
	       "adapter, and asks the subnet administrator for path SLs.  "
	       "Nothing is changed.  Needs the right to send management "
	       "datagrams (root).\n"
	       "\n"
	       "  dateline snapshot --live -o today.dls\n"
	       "  dateline verify today.dls --explain\n"
	       "  dateline snapshot today.dls -o for-ibdmchk\n"
	       "\n"
	       "Exit status: 0 complete, 1 partial (" PARTIAL " lists what did "
	       "not answer; for --congestion, messages do), 2 bad usage, 3 no fabric or no "
	       "memory.",
};

int tool_write_snapshot(const struct tool *tool, const struct dl_snapshot *s, const char *path,
			unsigned int flags)
{
	int err;

	if (dl_snapshot_names_file(path)) {
		err = dl_snapshot_pack(s, path, &tool->log);
	} else {
		err = tool_make_parents(tool, path);
		if (!err)
			err = dl_snapshot_export(s, path, flags, &tool->log);
	}
	return err && err != -EEXIST ? TOOL_UNWRITTEN : err;
}

static int read_snapshot(struct tool *tool, struct request *r, struct dl_snapshot *s)
{
	int err;

	if (r->live) {
		err = tool_read_live(tool, &r->options, s);
		s->about.written = time(NULL);
		/* What is wrong with the fabric is not wrong with the usage. */
		return tool_exit_status(err) == TOOL_EXIT_USAGE ? -ENETUNREACH : err;
	}
	return dl_snapshot_read(r->from, NULL, NULL, &tool->log, s);
}

/* 0; 1: some devices did not answer; or a negative errno. */
static int snapshot_congestion(const struct tool *tool, const struct request *r,
			       const struct dl_fabric *f)
{
	struct tool_out out;
	int err = tool_out_open(tool, NULL, r->congestion, &out), partial;

	if (err)
		return err;
	partial = dl_live_congestion(&r->options, f, &tool->log, out.file);
	err = tool_out_close(tool, &out, partial < 0 ? partial : 0);
	return err ? err : partial;
}

int tool_cmd_snapshot(struct tool *tool, int argc, char **argv)
{
	struct request r = { 0 };
	struct dl_snapshot s = { 0 };
	int err, status, partial = 0;

	dl_live_options_init(&r.options);
	tool_options(tool, &usage, argc, argv, &r);
	err = r.congestion ? tool_out_try(tool, NULL, r.congestion) : 0;
	if (!err)
		err = read_snapshot(tool, &r, &s);
	if (!err && r.names)
		err = dl_fabric_read_node_names(s.fabric, r.names, &tool->log);
	if (!err)
		err = tool_write_snapshot(tool, &s, r.out, r.flags);
	if (!err && r.congestion)
		partial = snapshot_congestion(tool, &r, s.fabric);
	err = err ? err : partial < 0 ? partial : 0;
	status = partial > 0 ? TOOL_EXIT_FINDING : tool_exit_status(err);
	if (!err)
		dl_log(&tool->log, DL_LOG_INFO,
		       "%u node%s, %u switch%s, highest LID %u read into "
		       "%s",
		       s.fabric->nnodes, tool_s(s.fabric->nnodes), s.fabric->nswitches,
		       tool_es(s.fabric->nswitches), s.fabric->top_lid, r.out);
	if (!err && s.parts & DL_SNAPSHOT_HAS_SL2VL)
		dl_log(&tool->log, DL_LOG_INFO, "%s", dl_tables_sl_demand(s.tables));
	if (!err && r.live && s.parts & DL_SNAPSHOT_IS_PARTIAL) {
		dl_log(&tool->log, DL_LOG_WARNING,
		       "the snapshot is partial: "
		       "%s/" PARTIAL " lists what did not answer",
		       r.out);
		status = TOOL_EXIT_FINDING;
	}
	dl_snapshot_release(&s);
	return status;
}
