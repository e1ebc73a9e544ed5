/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline report`: a snapshot as one HTML file. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum {
	KEY_NET = 0x2000,
	KEY_PSL,
	KEY_TORUS,
	KEY_EMULATION,
	KEY_AGAINST,
	KEY_TITLE
};

struct request {
	const char *dir, *net, *psl, *config, *emulation, *against, *title;
	const char *out;
};

static const struct argp_option options[] = {
	{ .name = "emulation",
	  .key = KEY_EMULATION,
	  .arg = "FILE",
	  .doc = "What `dateline emulate --json` printed for this snapshot" },
	{ .name = "against",
	  .key = KEY_AGAINST,
	  .arg = "DIR",
	  .doc = "An earlier snapshot: show what has changed since" },
	{ .name = "net",
	  .key = KEY_NET,
	  .arg = "FILE",
	  .doc = "The netlist, for a folder without one" },
	{ .name = "psl",
	  .key = KEY_PSL,
	  .arg = "FILE",
	  .doc = "Path SLs in ibdmchk's form, instead of the folder's" },
	{ .name = "torus-config",
	  .key = KEY_TORUS,
	  .arg = "FILE",
	  .doc = "A torus-2QoS.conf: for coordinates, and for path SLs by "
		 "torus-2QoS's rule when there are none" },
	{ .name = "title",
	  .key = KEY_TITLE,
	  .arg = "TEXT",
	  .doc = "The page's heading (the folder's name)" },
	{ .name = "output",
	  .key = 'o',
	  .arg = "FILE",
	  .doc = "The page to write; - is standard output" },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *r = state->input;

	switch (key) {
	case KEY_EMULATION:
		r->emulation = arg;
		return 0;
	case KEY_AGAINST:
		r->against = arg;
		return 0;
	case KEY_NET:
		r->net = arg;
		return 0;
	case KEY_PSL:
		r->psl = arg;
		return 0;
	case KEY_TORUS:
		r->config = arg;
		return 0;
	case KEY_TITLE:
		r->title = arg;
		return 0;
	case 'o':
		r->out = arg;
		return 0;
	case ARGP_KEY_ARG:
		tool_arg_once(state, &r->dir, arg, "snapshot");
		return 0;
	case ARGP_KEY_END:
		if (!r->dir)
			argp_error(state, "which snapshot?");
		if (!r->out)
			argp_error(state, "-o FILE is needed");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp report_argp = {
	.options = options,
	.parser = parse,
	.args_doc = "DIR",
	.doc = "Show a snapshot as one HTML file that needs nothing else: no "
	       "network, no server."
	       "\v"
	       "DIR is a folder written by `dateline route` or `dateline "
	       "snapshot`, or by OpenSM with -D 0x43.  The page draws the "
	       "torus with what is missing, any path on click with SL and VL "
	       "at every hop, multicast trees, the load of the cables, and "
	       "the verdict of `dateline verify`, with a credit loop drawn "
	       "where it is.\n"
	       "\n"
	       "  dateline report snapshot -o snapshot.html\n"
	       "  dateline report today --against yesterday -o change.html\n"
	       "\n"
	       "Exit status: 0 written (whatever the verdict), 2 bad usage or "
	       "input, 3 no memory or no space.",
};

/* ---- the document ------------------------------------------------------ */

/* What is read, and what the page is made of. */
struct inputs {
	struct dl_snapshot now, then;
	struct tool_coords coords, coords_then;
	struct report_page page, page_then;
};

/* Part of the document; NULL stands for no memory. */
static int add(json_t *document, const char *key, json_t *part)
{
	return json_object_set_new(document, key, part) ? -ENOMEM : 0;
}

static int check(const struct request *r, struct inputs *in, json_t *document)
{
	json_t *change, *verdict = NULL;
	struct dl_verify_options o;
	struct dl_verify_result *v;
	int err;

	dl_verify_options_init(&o);
	o.earlier = in->then.tables;
	err = dl_verify(in->now.tables, &o, NULL, &v);
	if (err)
		return err;
	verdict = verify_json(v, &in->coords, o.earlier);
	err = verdict ? verify_explain(verdict, in->now.tables, &o) : -ENOMEM;
	if (!err)
		err = add(document, "verdict",
			  report_verdict(&in->page, v, json_incref(verdict)));
	if (!err && r->against) {
		err = report_change(&in->page, &in->page_then, r->against, v,
				    &change);
		if (!err)
			err = add(document, "change", change);
	}
	json_decref(verdict);
	dl_verify_result_free(v);
	return err;
}

static int fill(const struct tool *tool, const struct request *r,
		struct inputs *in, json_t *document)
{
	json_t *load, *emulation;
	int err = check(r, in, document);

	if (!err)
		err = report_load(&in->page, &load);
	if (!err)
		err = add(document, "load", load);
	if (!err)
		err = add(document, "fabric", report_fabric(&in->page));
	if (!err)
		err = add(document, "missing", report_missing(&in->page));
	if (!err)
		err = add(document, "tables", report_tables(&in->page));
	if (!err)
		err = add(document, "partial",
			  json_boolean(in->now.parts & DL_SNAPSHOT_IS_PARTIAL));
	if (err || !r->emulation)
		return err;
	err = report_emulation(&in->page, r->emulation, &tool->log, &emulation);
	return err ? err : add(document, "emulation", emulation);
}

static int write_page(const struct tool *tool, const struct request *r,
		      struct inputs *in)
{
	char *path = realpath(r->dir, NULL);
	const char *name = path ? strrchr(path, '/') + 1 : r->dir;
	json_t *document =
		json_pack("{s:s, s:o}", "program", PACKAGE_STRING, "title",
			  tool_json_text(r->title ? r->title : name));
	struct tool_out out;
	int err = document ? fill(tool, r, in, document) : -ENOMEM;

	free(path);
	if (!err)
		err = tool_out_open(tool, NULL, r->out, &out);
	if (!err)
		err = tool_out_close(tool, &out,
				     report_write(&in->page, document,
						  out.file));
	json_decref(document);
	return err;
}

/* ---- input ------------------------------------------------------------- */

static int read_one(const struct tool *tool, const char *dir, const char *net,
		    const char *psl, const char *config, struct dl_snapshot *s,
		    struct tool_coords *coords, struct report_page *page)
{
	int err = dl_snapshot_read(dir, net, psl, &tool->log, s);

	if (!err)
		err = tool_coords_find(tool, s->fabric, config, dir, coords);
	if (!err)
		err = tool_coords_complete_sls(tool, coords, s->tables);
	if (!err)
		err = report_page_init(page, s->tables, coords);
	return err;
}

static void release(struct inputs *in)
{
	report_page_release(&in->page);
	report_page_release(&in->page_then);
	tool_coords_free(&in->coords);
	tool_coords_free(&in->coords_then);
	dl_snapshot_release(&in->now);
	dl_snapshot_release(&in->then);
}

int tool_cmd_report(struct tool *tool, int argc, char **argv)
{
	struct request r = { 0 };
	struct inputs in = { 0 };
	int err;

	tool_parse(tool, &report_argp, 0, argc, argv, &r);
	err = read_one(tool, r.dir, r.net, r.psl, r.config, &in.now, &in.coords,
		       &in.page);
	if (!err && r.against)
		err = read_one(tool, r.against, r.net, NULL, r.config, &in.then,
			       &in.coords_then, &in.page_then);
	if (!err)
		err = write_page(tool, &r, &in);
	release(&in);
	return tool_exit_status(err);
}
