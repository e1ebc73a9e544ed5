/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline snapshot`: read the running fabric. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dateline/fabric.h"
#include "tool.h"

#define PARTIAL "dateline-partial.txt"

enum { KEY_LIVE = 0x2000, KEY_PATHS, KEY_TIMEOUT, KEY_RETRIES, KEY_FLIGHT };

struct request {
	struct dl_live_options options;
	const char *out;
	bool live;
};

static const struct argp_option options[] = {
	{ .name = "live",
	  .key = KEY_LIVE,
	  .doc = "Read the fabric that this machine is attached to" },
	{ .name = "output",
	  .key = 'o',
	  .arg = "DIR",
	  .doc = "The folder for the snapshot" },
	{ .name = "Ca",
	  .key = 'C',
	  .arg = "NAME",
	  .doc = "The local adapter (any that is up)" },
	{ .name = "Port",
	  .key = 'P',
	  .arg = "N",
	  .doc = "Its port (any that is up)" },
	{ .name = "paths",
	  .key = KEY_PATHS,
	  .arg = "all|adapters|none",
	  .doc = "Path SLs to ask the subnet administrator for (all, up to "
		 "two million pairs)" },
	{ .name = "timeout",
	  .key = KEY_TIMEOUT,
	  .arg = "MS",
	  .doc = "Milliseconds to wait for an answer (500)" },
	{ .name = "retries",
	  .key = KEY_RETRIES,
	  .arg = "N",
	  .doc = "Times to ask again (4)" },
	{ .name = "in-flight",
	  .key = KEY_FLIGHT,
	  .arg = "N",
	  .doc = "Queries under way at a time (64)" },
	{ 0 }
};

static enum dl_live_paths parse_paths(const struct argp_state *state,
				      const char *word)
{
	static const struct {
		const char *word;
		enum dl_live_paths paths;
	} words[] = {
		{ "all", DL_LIVE_PATHS_ALL },
		{ "adapters", DL_LIVE_PATHS_ADAPTERS },
		{ "none", DL_LIVE_PATHS_NONE },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i].word, word))
			return words[i].paths;
	argp_error(state, "--paths takes all, adapters or none, not \"%s\"",
		   word);
	return DL_LIVE_PATHS_SOME;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *r = state->input;

	switch (key) {
	case KEY_LIVE:
		r->live = true;
		return 0;
	case 'o':
		r->out = arg;
		return 0;
	case 'C':
		r->options.ca = arg;
		return 0;
	case 'P':
		r->options.port = tool_arg_number(state, arg, "port", 1, 254);
		return 0;
	case KEY_PATHS:
		r->options.paths = parse_paths(state, arg);
		return 0;
	case KEY_TIMEOUT:
		r->options.timeout_ms =
			tool_arg_number(state, arg, "timeout", 1, 60000);
		return 0;
	case KEY_RETRIES:
		r->options.retries =
			tool_arg_number(state, arg, "retries", 0, 100);
		return 0;
	case KEY_FLIGHT:
		r->options.in_flight = tool_arg_number(
			state, arg, "number of queries", 1, 4096);
		return 0;
	case ARGP_KEY_END:
		if (!r->live)
			argp_error(state, "--live is needed: for a netlist, "
					  "see dateline route");
		if (!r->out)
			argp_error(state, "-o DIR is needed");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp snapshot_argp = {
	.options = options,
	.parser = parse,
	.doc = "Read all tables of a running fabric into a snapshot."
	       "\v"
	       "Discovers the fabric, reads forwarding and multicast tables, "
	       "SL-to-VL maps and VL arbitration from every switch and "
	       "adapter, and asks the subnet administrator for path SLs.  "
	       "Nothing is changed.  Needs the right to send management "
	       "datagrams (root).\n"
	       "\n"
	       "  dateline snapshot --live -o today\n"
	       "  dateline verify today --explain\n"
	       "\n"
	       "Exit status: 0 complete, 1 partial (" PARTIAL " lists what did "
	       "not answer), 2 bad usage, 3 no fabric or no memory.",
};

/* One line on the terminal that counts up. */
static void show_progress(void *context, const char *what, uint64_t done,
			  uint64_t total)
{
	(void)context;
	fprintf(stderr, "\r%s: %llu of %llu\033[K%s", what,
		(unsigned long long)done, (unsigned long long)total,
		done == total ? "\n" : "");
}

/* Mark a snapshot as partial, or as no longer so. */
static int mark(const struct tool *tool, const char *dir, const char *gaps)
{
	struct tool_out out;
	char *path;
	int err;

	if (!gaps) {
		if (asprintf(&path, "%s/" PARTIAL, dir) < 0)
			return -ENOMEM;
		unlink(path);
		free(path);
		return 0;
	}
	err = tool_out_open(tool, dir, PARTIAL, &out);
	if (err)
		return err;
	fputs(gaps, out.file);
	return tool_out_close(tool, &out, 0);
}

static int write_snapshot(const struct tool *tool, const struct request *r,
			  const struct dl_snapshot *s, const char *gaps)
{
	int err = tool_make_dir(tool, r->out);

	/* First the mark: never is half of a snapshot without one. */
	if (!err && gaps)
		err = mark(tool, r->out, gaps);
	if (!err)
		err = dl_snapshot_write(s->tables, r->out, DL_SNAPSHOT_PSL,
					&tool->log);
	if (!err && !gaps)
		err = mark(tool, r->out, NULL);
	return err;
}

int tool_cmd_snapshot(struct tool *tool, int argc, char **argv)
{
	struct request r = { 0 };
	struct dl_snapshot s = { 0 };
	char *gaps = NULL;
	int err, status;

	dl_live_options_init(&r.options);
	tool_parse(tool, &snapshot_argp, 0, argc, argv, &r);
	if (isatty(STDERR_FILENO) && tool->level >= DL_LOG_INFO)
		r.options.progress = show_progress;
	err = dl_live_read(&r.options, &tool->log, &s, &gaps);
	if (!err)
		err = write_snapshot(tool, &r, &s, gaps);
	status = err ? TOOL_EXIT_ENVIRONMENT : TOOL_EXIT_GOOD;
	if (!err)
		dl_log(&tool->log, DL_LOG_INFO,
		       "%u nodes, %u switches, highest "
		       "LID %u read into %s",
		       s.fabric->nnodes, s.fabric->nswitches, s.fabric->top_lid,
		       r.out);
	if (!err && gaps) {
		dl_log(&tool->log, DL_LOG_WARNING,
		       "the snapshot is partial: "
		       "%s/" PARTIAL " lists what did not answer",
		       r.out);
		status = TOOL_EXIT_FINDING;
	}
	free(gaps);
	dl_snapshot_release(&s);
	return status;
}
