/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline verify`: judge a snapshot. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "verify.h"

struct request {
	const char *dir, *net, *psl, *config, *earlier;
	struct dl_verify_options options;
	bool explain;
};

static int read_sls(const struct dl_setting *setting, void *to,
		    const char *text, char *why, size_t size)
{
	struct request *r = to;
	uint16_t sls = 0;
	uint64_t sl;

	(void)setting, (void)why, (void)size; /* it says what is expected */
	for (;; text++) {
		const char *end = dl_number_scan(text, 0, &sl);

		if (end == text || sl > 15)
			return -EINVAL;
		sls |= 1u << sl;
		text = end;
		if (*text != ',')
			break;
	}
	if (*text)
		return -EINVAL;
	r->options.multicast_sls = sls;
	return 0;
}

#define MEMBER(member) DL_MEMBER(struct request, member)

static const struct dl_setting options[] = {
	{ "net", DL_SETTING_BORROW, MEMBER(net), .arg = "FILE",
	  .doc = "The netlist, for a folder without one" },
	{ "psl", DL_SETTING_BORROW, MEMBER(psl), .arg = "FILE",
	  .doc = "Path SLs in ibdmchk's form, instead of the folder's" },
	{ "torus-config", DL_SETTING_BORROW, MEMBER(config), .arg = "FILE",
	  .doc = "A torus-2QoS.conf: for coordinates in the report, and for "
		 "path SLs by torus-2QoS's rule when there are none" },
	{ "earlier", DL_SETTING_BORROW, MEMBER(earlier), .arg = "DIR",
	  .doc = "An earlier snapshot: have its path SLs been kept?" },
	{ "levels", DL_SETTING_NUMBER, MEMBER(options.levels), .min = 1,
	  .max = 2, .arg = "N",
	  .doc = "QoS levels to judge, 1 or 2 (2, unless path SLs use bit 3)" },
	{ "multicast-sls", .call = read_sls, .arg = "SL,...",
	  .expected = "SLs from 0 to 15, separated by commas",
	  .doc = "SLs that multicast packets use (0,8)" },
	{ "pairs", DL_SETTING_WORD, MEMBER(options.adapters_only),
	  .words = "all adapters", .arg = "all|adapters",
	  .doc = "Judge packets of all end ports (default), or not those to "
		 "and from switches' own ports" },
	{ "explain", DL_SETTING_FLAG, MEMBER(explain),
	  .doc = "Draw what was found and say what to do about it" },
	{ 0 }
};

static const struct dl_setting args[] = { { "snapshot", DL_SETTING_BORROW,
					    MEMBER(dir), .required = true },
					  { 0 } };

static const struct tool_usage usage = {
	.options = options,
	.args = args,
	.flags = TOOL_JSON,
	.args_doc = "DIR",
	.doc = "Judge a snapshot: does every packet arrive, and can packets "
	       "wait for each other in a circle?"
	       "\v"
	       "DIR is a folder written by `dateline route` or `dateline "
	       "snapshot`, or by OpenSM with -D 0x43 and any routing engine.  "
	       "All pairs of end ports are judged, switches' own ports "
	       "included, and every multicast group.\n"
	       "\n"
	       "  dateline verify snapshot --explain\n"
	       "\n"
	       "Exit status: 0 proven good, 1 a finding, 2 bad usage or "
	       "input, 3 no memory.",
};

/* ---- JSON -------------------------------------------------------------- */

json_t *tool_json_guid(const struct dl_fabric *f, uint32_t node)
{
	char text[19];

	snprintf(text, sizeof(text), "0x%016" PRIx64, f->nodes[node].guid);
	return json_string(text);
}

static json_t *end_json(const struct dl_fabric *f, uint32_t port)
{
	if (port == DL_NONE)
		return json_null();
	return json_pack("{s:o, s:i}", "guid",
			 tool_json_guid(f, f->ports[port].node), "port",
			 f->ports[port].num);
}

json_t *verify_cycle_json(const struct dl_fabric *f,
			  const struct tool_coords *coords,
			  const struct dl_cycle *cycle)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < cycle->n; i++) {
		const struct dl_fabric_port *p =
			&f->ports[cycle->steps[i].port];
		json_t *coord = json_null();
		uint32_t c[DL_TORUS_DIMS];

		if (tool_coords_of(coords, f->nodes[p->node].sw, c))
			coord = json_pack("[iii]", c[0], c[1], c[2]);
		json_array_append_new(
			list,
			json_pack("{s:o, s:i, s:i, s:o}", "guid",
				  tool_json_guid(f, p->node), "port", p->num,
				  "vl", cycle->steps[i].vl, "coord", coord));
	}
	return list;
}

static json_t *lost_json(const struct dl_verify_result *v)
{
	const struct dl_fabric *f = v->fabric;
	json_t *list = json_array();

	for (uint32_t i = 0; i < v->nlisted; i++) {
		const struct dl_verify_lost *l = &v->lost[i];
		json_t *at = json_null();

		if (l->sw != DL_NONE)
			at = json_pack("{s:o, s:o}", "guid",
				       tool_json_guid(f, f->switches[l->sw]),
				       "port",
				       l->port == DL_TABLES_NO_PORT ?
					       json_null() :
					       json_integer(l->port));
		json_array_append_new(
			list,
			json_pack("{s:o, s:o, s:i, s:o, s:s, s:o}", "from",
				  end_json(f, l->src), "to",
				  end_json(f, l->dst), "lid", l->dlid, "sl",
				  l->sl == DL_TABLES_NO_SL ?
					  json_null() :
					  json_integer(l->sl),
				  "reason", verify_fault_text(l->fault), "at",
				  at));
	}
	return list;
}

json_t *verify_json(const struct verify_report *r)
{
	const struct dl_verify_result *v = r->verdict;

	return json_pack("{s:b, s:I, s:o, s:b, s:o, s:i, s:b, s:I}",
			 "delivered", v->delivered, "pairs",
			 (json_int_t)v->pairs, "undelivered", lost_json(v),
			 "credit_loop", v->credit_loop, "cycle",
			 verify_cycle_json(v->fabric, r->coords, &v->cycle),
			 "multicast_groups", v->groups, "sl_stable",
			 v->sl_stable, "channels", (json_int_t)v->channels);
}

static int print_json(const struct tool *tool, const struct verify_report *r,
		      double seconds)
{
	json_t *document = verify_json(r);

	if (document)
		json_object_set_new(document, "seconds", json_real(seconds));
	return tool_print_json(tool, document);
}

/* ---- all --------------------------------------------------------------- */

/*
 * For the explanation only: is there a loop without any multicast, or without
 * the switches' own packets?
 */
static int judge_part(const struct dl_tables *t,
		      const struct dl_verify_options *options, bool multicast,
		      bool adapters_only, bool *loop)
{
	struct dl_verify_options o = *options;
	struct dl_tables part = *t;
	struct dl_verify_result *v;
	int err;

	if (!multicast)
		part.ngroups = 0;
	o.adapters_only |= adapters_only;
	o.earlier = NULL;
	err = dl_verify(&part, &o, NULL, &v);
	if (!err) {
		*loop = dl_verify_result_credit_loop(v);
		dl_verify_result_free(v);
	}
	return err;
}

int verify_explain(struct verify_report *r, const struct dl_verify_options *o)
{
	int err;

	if (!r->verdict->credit_loop)
		return 0;
	err = judge_part(r->tables, o, false, false, &r->unicast_alone);
	if (!err)
		err = judge_part(r->tables, o, true, true, &r->adapters_alone);
	return err;
}

static int judge(struct tool *tool, struct request *r,
		 const struct dl_snapshot *s, const struct tool_coords *coords,
		 int *status)
{
	struct verify_report report = { .tables = s->tables,
					.coords = coords,
					.compared = r->options.earlier };
	double begin = dl_clock_monotonic(), seconds;
	struct dl_verify_result *v;
	int err = dl_verify(s->tables, &r->options, NULL, &v);

	if (err)
		return err;
	seconds = dl_clock_monotonic() - begin;
	report.verdict = v;
	if (r->explain)
		err = verify_explain(&report, &r->options);
	if (!err && tool->json)
		err = print_json(tool, &report, seconds);
	if (!err && (!tool->json || r->explain))
		verify_print(&report, r->explain, tool->json ? stderr : stdout);
	if (!v->delivered || v->credit_loop || !v->sl_stable)
		*status = TOOL_EXIT_FINDING;
	dl_verify_result_free(v);
	return err;
}

int tool_cmd_verify(struct tool *tool, int argc, char **argv)
{
	struct request r = { 0 };
	struct dl_snapshot s = { 0 }, earlier = { 0 };
	struct tool_coords coords = { 0 };
	int err, status = TOOL_EXIT_GOOD;

	dl_verify_options_init(&r.options);
	tool_options(tool, &usage, argc, argv, &r);
	err = dl_snapshot_read(r.dir, r.net, r.psl, &tool->log, &s);
	if (!err)
		err = tool_coords_find(tool, s.fabric, r.config, r.dir,
				       &coords);
	if (!err)
		err = tool_coords_complete_sls(tool, &coords, s.tables);
	if (!err && r.earlier) {
		err = dl_snapshot_read(r.earlier, r.net, NULL, &tool->log,
				       &earlier);
		r.options.earlier = earlier.tables;
	}
	if (!err)
		err = judge(tool, &r, &s, &coords, &status);
	tool_coords_free(&coords);
	dl_snapshot_release(&earlier);
	dl_snapshot_release(&s);
	if (err)
		status = tool_exit_status(err);
	return status;
}
