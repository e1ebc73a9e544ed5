/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline report`: a snapshot as one HTML file. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

struct request {
	struct tool_input_options input;
	struct tool_names earlier, recordings;
	const char *emulation, *counters, *title, *out;
};

#define MEMBER(member) DL_MEMBER(struct request, member)

static const struct dl_setting options[] = {
	{ "emulation", DL_SETTING_BORROW, MEMBER(emulation), .arg = "FILE",
	  .doc = "The output of `dateline emulate --json` for this snapshot" },
	{ "recording", MEMBER(recordings), .call = tool_names_read, .arg = "FILE",
	  .doc = "What an emulation recorded (record: in its scenario), to play; two run side "
		 "by side" },
	{ "earlier", MEMBER(earlier), .call = tool_names_read, .arg = "DIR",
	  .doc = "An earlier snapshot: show what has changed since; with several, a slider "
		 "goes through them" },
	{ "counters", DL_SETTING_BORROW, MEMBER(counters), .arg = "FILE|live",
	  .doc = "What ports counted: the output of ibqueryerrors --data or perfquery, or the "
		 "running fabric's" },
	{ "title", DL_SETTING_BORROW, MEMBER(title), .arg = "TEXT",
	  .doc = "The page's heading (the directory's name)" },
	{ "output", DL_SETTING_BORROW, MEMBER(out), .key = 'o', .arg = "FILE",
	  .doc = "The page to write; - is standard output" },
	{ 0 }
};

static void need_output(const struct argp_state *state, void *to)
{
	struct request *r = to;

	r->input.asks = path_asks(r->counters);
	if (!r->out)
		argp_error(state, "-o FILE is needed");
}

static const struct tool_usage usage = {
	.options = options,
	.what = "snapshot",
	.input = tool_input_tables,
	.input_at = offsetof(struct request, input),
	.check = need_output,
	.args_doc = "[DIR]",
	.doc = "Show a snapshot as one self-contained HTML file."
	       "\vDIR is a snapshot, a directory or a .dls file, of `dateline route` or "
	       "`dateline snapshot`, or a directory of OpenSM's with -D 0x43.  The page "
	       "shows the torus with its failures, any path with SL and VL "
	       "at every hop, multicast trees, the load of the cables, and "
	       "the result of `dateline verify` with a credit loop drawn into the picture.\n"
	       "\n"
	       "  dateline report snapshot -o snapshot.html\n"
	       "  dateline report today --earlier yesterday -o change.html\n"
	       "  dateline report today --earlier monday --earlier yesterday -o days.html\n"
	       "  dateline report --live --counters live -o now.html\n"
	       "\n"
	       "Exit status: 0 written, whatever the result, 2 bad usage "
	       "or input, 3 no memory or no space.",
};

/* ---- the document ------------------------------------------------------ */

/* What is read, and what the page is made of. */
struct inputs {
	struct tool_input now;
	struct report_page page;
	struct report_earlier *earlier; /* oldest first */
	uint32_t nearlier;
	struct report_earlier *then; /* the last of them, or NULL */
	struct report_change change;
};

static int report_check(const struct tool *tool, struct inputs *in, json_t *document)
{
	const struct dl_log progress = { .context = tool->log.context,
					 .progress = tool->log.progress };
	struct dl_verify_options o;
	json_t *verdict;
	struct dl_verify_result *v;
	int err;

	dl_verify_options_init(&o);
	o.earlier = in->then ? in->then->input.snapshot.tables : NULL;
	err = dl_verify(in->now.snapshot.tables, &o, &progress, &v);
	if (err)
		return err;
	verdict = verify_json(v, &o, &in->now);
	err = verify_explain(verdict, in->now.snapshot.tables, &o);
	tool_json_with(document, "verdict", report_verdict(&in->page, v, verdict));
	if (!err && in->then)
		err = report_change_json(&in->change, in->then->title, v, document);
	dl_verify_result_free(v);
	return err;
}

/* When and by what the tables were made, if the snapshot says so. */
static json_t *made_json(const struct dl_snapshot_about *about)
{
	return json_pack("{s:o, s:o, s:o}", "written",
			 tool_json_or_null(about->written, about->written), "engine",
			 tool_json_text(about->engine), "mode", tool_json_text(about->mode));
}

/* Ports that waited, beside those that wait in the emulation, if any do. */
static int add_counters(struct tool *tool, const struct request *r, const struct inputs *in,
			json_t *document)
{
	struct path_request worst = { .input = r->input, .counters = r->counters, .top = 100 };
	const json_t *wait = tool_at(document, "emulation.ways.wait_ns"), *ns;
	size_t i;

	json_array_foreach(wait, i, ns) if (json_number_value(ns) > 0)
		worst.predicted = r->emulation;
	return report_counters(tool, &in->page, &worst, document);
}

static int report_fill(struct tool *tool, const struct request *r, struct inputs *in,
		       json_t *document)
{
	int err = 0;

	in->change = (struct report_change){ .now = &in->page,
					     .then = in->then ? &in->then->page : NULL,
					     .log = &tool->log };
	if (in->then)
		err = report_change_begin(&in->change);
	if (!err && in->nearlier > 1)
		err = report_moments(&in->page, in->earlier, in->nearlier, &tool->log, document);
	if (!err)
		err = report_check(tool, in, document);
	if (!err)
		err = report_load(&in->page, &tool->log, document);
	tool_json_with(document, "fabric", report_fabric(&in->page));
	tool_json_with(document, "missing", report_missing(&in->page));
	tool_json_with(document, "slow", tool_json_slow(in->page.coords, in->page.fabric));
	tool_json_with(document, "tables", report_tables(&in->page));
	tool_json_with(document, "made", made_json(&in->now.snapshot.about));
	tool_json_with(document, "partial",
		       json_boolean(in->now.snapshot.parts & DL_SNAPSHOT_IS_PARTIAL));
	if (!err && r->emulation)
		err = report_emulation(&in->page, r->emulation, &tool->log, document);
	if (!err && r->recordings.n)
		err = report_recordings(&in->page, &r->recordings, &tool->log, document);
	return !err && r->counters ? add_counters(tool, r, in, document) : err;
}

static int write_page(struct tool *tool, const struct request *r, struct inputs *in)
{
	const char *from = r->input.is_live ? "live" : r->input.from;
	char *path = realpath(from, NULL);
	const char *name = path ? strrchr(path, '/') + 1 : from;
	json_t *document = json_pack("{s:i, s:s, s:o}", "format", 1, "program", PACKAGE_STRING,
				     "title", tool_json_text(r->title ? r->title : name));
	int err = document ? report_fill(tool, r, in, document) : -ENOMEM;
	char *page = NULL;
	size_t len;

	free(path);
	/* In memory first: standard output gets the whole page or nothing of it. */
	if (!err)
		err = dl_memory_write(&page, &len, to, report_write(&in->page, document, to));
	if (!err)
		err = tool_write(tool, NULL, r->out, to,
				 fwrite(page, 1, len, to) == len ? 0 : -errno);
	free(page);
	json_decref(document);
	return err;
}

/* ---- input ------------------------------------------------------------- */

static int read_one(struct tool *tool, const struct tool_input_options *o, struct tool_input *in,
		    struct report_page *page)
{
	int err = tool_input_read(tool, o, TOOL_INPUT_TABLES, in);

	return err ? err : report_page_init(page, in);
}

static int read_earlier(struct tool *tool, const struct request *r, struct inputs *in)
{
	struct tool_input_options o = { .net = r->input.net, .config = r->input.config };
	int err = 0;

	in->earlier = calloc(r->earlier.n + 1ul, sizeof(*in->earlier));
	if (!in->earlier)
		return -ENOMEM;
	for (uint32_t i = 0; !err && i < r->earlier.n; i++) {
		struct report_earlier *e = &in->earlier[in->nearlier++];

		e->title = o.from = r->earlier.names[i];
		err = read_one(tool, &o, &e->input, &e->page);
	}
	return err;
}

/* Those that do not know when they were made, then the oldest first; else as they were given. */
static void sort_earlier(struct inputs *in)
{
	for (uint32_t i = 1; i < in->nearlier; i++) {
		const struct report_earlier e = in->earlier[i];
		uint32_t at = i;

		for (; at && in->earlier[at - 1].input.snapshot.about.written >
				     e.input.snapshot.about.written;
		     at--)
			in->earlier[at] = in->earlier[at - 1];
		in->earlier[at] = e;
	}
	for (uint32_t i = 0; i < in->nearlier; i++) {
		struct report_earlier *e = &in->earlier[i];

		e->page.input = &e->input;
		e->page.coords = &e->input.coords;
		in->then = e;
	}
}

int tool_cmd_report(struct tool *tool, int argc, char **argv)
{
	struct request r = { 0 };
	struct inputs in = { 0 };
	int err;

	tool_options(tool, &usage, argc, argv, &r);
	err = read_one(tool, &r.input, &in.now, &in.page);
	if (!err)
		err = read_earlier(tool, &r, &in);
	if (!err)
		sort_earlier(&in);
	if (!err)
		err = write_page(tool, &r, &in);
	report_change_release(&in.change);
	for (uint32_t i = 0; i < in.nearlier; i++) {
		report_page_release(&in.earlier[i].page);
		tool_input_free(&in.earlier[i].input);
	}
	free(in.earlier);
	report_page_release(&in.page);
	tool_input_free(&in.now);
	tool_names_release(&r.earlier);
	tool_names_release(&r.recordings);
	return tool_exit_status(err);
}
