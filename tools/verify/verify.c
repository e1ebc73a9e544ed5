/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline verify`: check a snapshot. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "verify.h"

struct request {
	struct tool_input_options input;
	const char *earlier, *certificate;
	struct dl_verify_options options;
	bool explain;
	bool multicast_sls; /* given? */
};

/* Traffic on any SL sends to groups on any SL, unless it is said otherwise. */
static int read_sl(const struct dl_setting *setting, void *to, const char *text, char *why,
		   size_t size)
{
	struct request *r = to;
	uint64_t sl;

	(void)setting, (void)why, (void)size; /* it says what is expected */
	if (!strcmp(text, "path"))
		r->options.sls = 0;
	else if (!strcmp(text, "any"))
		r->options.sls = DL_VERIFY_ANY_SL;
	else if (!*dl_number_scan(text, 0, &sl) && sl <= 15)
		r->options.sls = 1u << sl;
	else
		return -EINVAL;
	return 0;
}

static int verify_read_sls(const struct dl_setting *setting, void *to, const char *text, char *why,
			   size_t size)
{
	struct request *r = to;
	uint16_t sls = 0;
	uint64_t sl;

	(void)setting, (void)why, (void)size; /* it says what is expected */
	do {
		const char *end = dl_number_scan(text, 0, &sl);

		if (end == text || sl > 15 || (*end && *end != ','))
			return -EINVAL;
		sls |= 1u << sl;
		text = end;
	} while (*text++);
	r->options.multicast_sls = sls;
	r->multicast_sls = true;
	return 0;
}

#define MEMBER(member) DL_MEMBER(struct request, member)

static const struct dl_setting options[] = {
	{ "earlier", DL_SETTING_BORROW, MEMBER(earlier), .arg = "DIR",
	  .doc = "An earlier snapshot: check that path SLs are the same" },
	{ "levels", DL_SETTING_NUMBER, MEMBER(options.levels), .min = 1, .max = 2, .arg = "N",
	  .doc = "QoS levels to check, 1 or 2 (2, unless path SLs use bit 3)" },
	{ "sl", .call = read_sl, .arg = "path|any|N",
	  .expected = "path, any, or an SL from 0 to 15",
	  .doc = "SL of each packet: that of its path (default), every SL, "
		 "or SL N" },
	{ "multicast-sls", .call = verify_read_sls, .arg = "SL,...",
	  .expected = "SLs from 0 to 15, separated by commas",
	  .doc = "SLs that multicast packets use (0,8; all with --sl any)" },
	{ "pairs", DL_SETTING_WORD, MEMBER(options.adapters_only), .words = "all adapters",
	  .arg = "all|adapters",
	  .doc = "Check packets of all end ports (default), or omit those to "
		 "and from switches' port 0" },
	{ "certificate", DL_SETTING_BORROW, MEMBER(certificate), .arg = "FILE",
	  .doc = "Write why there is no credit loop, for dateline-check" },
	{ "explain", DL_SETTING_FLAG, MEMBER(explain),
	  .doc = "Draw the credit loop, and describe what can be done" },
	{ 0 }
};

static const struct tool_usage usage = {
	.options = options,
	.what = "snapshot",
	.input = tool_input_tables,
	.input_at = offsetof(struct request, input),
	.flags = TOOL_JSON,
	.args_doc = "[DIR]",
	.doc = "Check the tables of a snapshot for delivery, credit "
	       "loops and service."
	       "\v"
	       "DIR is a snapshot, a directory or a .dls file, of `dateline route` or "
	       "`dateline snapshot`, or a directory of OpenSM's with -D 0x43 and any "
	       "routing engine.  All pairs of end ports are checked, "
	       "including switches' port 0, and all multicast groups.\n"
	       "\n"
	       "  dateline verify snapshot --explain\n"
	       "\n"
	       "Exit status: 0 proven to deliver, free of credit loops; 1 a "
	       "finding; 2 not judged, or a loop is possible, bad usage or "
	       "input; 3 no memory.",
};

static int verify_check(struct tool *tool, struct request *r, const struct tool_input *in,
			int *status)
{
	double begin = dl_clock_monotonic(), seconds;
	struct dl_verify_result *v;
	json_t *document;
	bool nothing;
	const struct dl_log progress = { .context = tool->log.context,
					 .progress = tool->log.progress };
	int err = dl_verify(in->snapshot.tables, &r->options, &progress, &v);

	if (err)
		return err;
	seconds = dl_clock_monotonic() - begin;
	document = verify_json(v, &r->options, in);
	dl_verify_result_free(v);
	err = document && !tool_json_failed() ? 0 : -ENOMEM;
	if (!err)
		*status = verify_status(document);
	if (!err && r->explain)
		err = verify_explain(document, in->snapshot.tables, &r->options);
	if (!err && (!tool->json || r->explain))
		verify_print(document, r->explain, tool->json ? stderr : stdout);
	nothing = r->earlier && !tool_int_at(document, "sl_compared");
	if (!err && tool->json) {
		json_object_set_new(document, "seconds", json_real(seconds));
		err = tool_print_json(tool, document);
	} else {
		json_decref(document);
	}
	if (!err && nothing)
		err = dl_fail(&tool->log, -EINVAL,
			      "no path SLs to compare: no pair of end ports has one "
			      "here and in %s",
			      r->earlier);
	return err;
}

int tool_cmd_verify(struct tool *tool, int argc, char **argv)
{
	struct dl_snapshot earlier = { 0 };
	struct request r = { 0 };
	struct tool_input in;
	int err, status = TOOL_EXIT_GOOD;

	dl_verify_options_init(&r.options);
	tool_options(tool, &usage, argc, argv, &r);
	if (r.options.sls == DL_VERIFY_ANY_SL && !r.multicast_sls)
		r.options.multicast_sls = DL_VERIFY_ANY_SL;
	err = tool_input_read(tool, &r.input, TOOL_INPUT_TABLES, &in);
	if (!err && r.earlier) {
		err = dl_snapshot_read(r.earlier, r.input.net, NULL, &tool->log, &earlier);
		r.options.earlier = earlier.tables;
	}
	if (!err)
		err = verify_check(tool, &r, &in, &status);
	/* Without one where there is a loop: the result has said so. */
	if (!err && r.certificate && status == TOOL_EXIT_GOOD)
		err = tool_write(tool, NULL, r.certificate, to,
				 dl_verify_certificate(in.snapshot.tables, &r.options, to));
	dl_snapshot_release(&earlier);
	tool_input_free(&in);
	return err ? (int)tool_exit_status(err) : status;
}
