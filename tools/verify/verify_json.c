/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What `dateline verify` found, as a document. */
#include <string.h>

#include "verify.h"

/* An end port; {guid, port} come first, as in all documents. */
static json_t *verify_end_json(const struct dl_fabric *f, uint32_t port)
{
	json_t *end = tool_json_port(f, port);
	const struct dl_fabric_node *node;

	if (port == DL_NONE)
		return end;
	node = &f->nodes[f->ports[port].node];
	json_object_update_new(
		end, json_pack("{s:o, s:i, s:i}", "name",
			       tool_json_text(dl_fabric_node_name(f, f->ports[port].node)), "ports",
			       node->nports, "lid", f->ports[port].lid));
	return end;
}

/* ---- the loop ---------------------------------------------------------- */

static json_t *verify_packet_json(const struct dl_fabric *f, const struct dl_cycle_step *step)
{
	bool group = step->dlid >= DL_TABLES_MCAST_LID;

	if (!step->dlid)
		return json_null();
	return json_pack("{s:o, s:o, s:i, s:i}", "from", verify_end_json(f, step->src), "to",
			 verify_end_json(f, group ? DL_NONE : f->lid_port[step->dlid]), "lid",
			 step->dlid, "sl", step->sl);
}

static json_t *verify_step_json(const struct tool_coords *c, const struct dl_fabric *f,
				const struct dl_cycle_step *step)
{
	const struct dl_fabric_port *out = &f->ports[step->port];
	const struct dl_fabric_port *far = &f->ports[out->peer];
	json_t *to = tool_json_node(f, far->node);

	json_object_update_new(to, json_pack("{s:i, s:o}", "port", far->num, "coord",
					     tool_json_place(c, f, far->node)));
	return json_pack("{s:o, s:i, s:i, s:o, s:o, s:o, s:o}", "guid",
			 tool_json_guid(f, out->node), "port", out->num, "vl", step->vl, "coord",
			 tool_json_place(c, f, out->node), "name",
			 tool_json_text(dl_fabric_node_name(f, out->node)), "to", to, "packet",
			 verify_packet_json(f, step));
}

json_t *verify_cycle_json(const struct dl_fabric *f, const struct tool_coords *coords,
			  const struct dl_cycle *cycle)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < cycle->n; i++)
		json_array_append_new(list, verify_step_json(coords, f, &cycle->steps[i]));
	return list;
}

/* ---- losses ------------------------------------------------------------ */

const char *verify_fault_text(unsigned int fault)
{
	static const char *const texts[] = {
		[DL_VERIFY_NO_ENTRY] = "no forwarding entry",
		[DL_VERIFY_DEAD_PORT] = "forwarded to a port without a cable",
		[DL_VERIFY_WRONG_END] = "forwarded to the wrong end port",
		[DL_VERIFY_FORWARDING_LOOP] = "forwarded in a circle",
		[DL_VERIFY_NO_VL] = "the SL maps to no VL of the port",
		[DL_VERIFY_UNATTACHED] = "not attached to any switch",
		[DL_VERIFY_NO_COPY] = "no copy arrives",
		[DL_VERIFY_TWICE] = "more than one copy arrives",
	};

	return fault < sizeof(texts) / sizeof(*texts) ? texts[fault] : "?";
}

static json_t *verify_lost_json(const struct tool_coords *c, const struct dl_fabric *f,
				const struct dl_verify_lost *l)
{
	json_t *at = json_null();

	if (l->sw != DL_NONE)
		at = json_pack("{s:o, s:o, s:o, s:o}", "guid",
			       tool_json_guid(f, f->switches[l->sw]), "port",
			       tool_json_or_null(l->port != DL_TABLES_NO_PORT, l->port), "name",
			       tool_json_text(dl_fabric_node_name(f, f->switches[l->sw])), "coord",
			       tool_json_place(c, f, f->switches[l->sw]));
	return json_pack("{s:o, s:o, s:i, s:o, s:s, s:o}", "from", verify_end_json(f, l->src), "to",
			 verify_end_json(f, l->dst), "lid", l->dlid, "sl",
			 tool_json_or_null(l->sl != DL_TABLES_NO_SL, l->sl), "reason",
			 verify_fault_text(l->fault), "at", at);
}

static json_t *verify_starved_json(const struct tool_coords *c, const struct dl_fabric *f,
				   const struct dl_verify_starved *s)
{
	const struct dl_fabric_port *port = &f->ports[s->port];

	return json_pack("{s:o, s:i, s:i, s:o, s:o}", "guid", tool_json_guid(f, port->node), "port",
			 port->num, "vl", s->vl, "name",
			 tool_json_text(dl_fabric_node_name(f, port->node)), "coord",
			 tool_json_place(c, f, port->node));
}

/* ---- the verdict ------------------------------------------------------- */

/* The SLs that were assumed: "path", "any", or one. */
static json_t *verify_sls_json(uint16_t sls)
{
	if (!sls)
		return json_string("path");
	if (sls == DL_VERIFY_ANY_SL)
		return json_string("any");
	return json_integer(__builtin_ctz(sls));
}

static json_t *multicast_sls_json(uint16_t sls)
{
	json_t *list = json_array();

	for (; sls; sls &= sls - 1)
		json_array_append_new(list, json_integer(__builtin_ctz(sls)));
	return list;
}

/* Switches whose forwarding table has no entry: was it read at all? */
static uint32_t switches_without_entries(const struct dl_tables *t)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->fabric->nswitches; s++) {
		uint32_t lid = 1;

		while (lid <= t->top_lid && dl_tables_lft(t, s, lid) == DL_TABLES_NO_PORT)
			lid++;
		n += lid > t->top_lid;
	}
	return n;
}

static uint32_t ends_without_lid(const struct dl_fabric *f)
{
	uint32_t n = 0;

	for (uint32_t p = 0; p < f->nports; p++)
		n += dl_fabric_is_end_port(f, p) && !f->ports[p].lid &&
		     (!f->ports[p].num || f->ports[p].peer != DL_NONE);
	return n;
}

static void add_missing(json_t *list, const char *what, const char *command)
{
	json_array_append_new(list, json_pack("{s:s, s:s}", "what", what, "command", command));
}

/*
 * What would have to be known for a proof or a finding, and how to get it.
 * `word` is the verdict of the library, which knows nothing of pairs that are
 * not there and tables that were not read.
 */
static json_t *missing_json(const struct dl_verify_result *v, const struct tool_input *in,
			    enum dl_verify_verdict *verdict)
{
	static const char *const snapshot = "dateline snapshot --live -o DIR";
	json_t *list = json_array();

	if (*verdict == DL_VERIFY_FREE && !v->pairs) {
		*verdict = DL_VERIFY_NOT_JUDGED;
		add_missing(list, "two end ports with a LID", snapshot);
	}
	if (*verdict == DL_VERIFY_FREE && v->nlost &&
	    switches_without_entries(in->snapshot.tables)) {
		*verdict = DL_VERIFY_NOT_JUDGED;
		add_missing(list, "the forwarding tables of some switches", snapshot);
	}
	if (*verdict != DL_VERIFY_NOT_JUDGED && *verdict != DL_VERIFY_POSSIBLE)
		return list;
	if (v->without_vl)
		add_missing(list, "SL-to-VL maps", snapshot);
	if (!v->sls && (!v->sl_known || v->without_sl))
		add_missing(list,
			    v->sl_known ? "the path SLs of some pairs" : "the path SLs in use",
			    "dateline snapshot --live --paths all -o DIR");
	return list;
}

static const char *verify_assumption(const struct dl_verify_result *v, const struct tool_input *in)
{
	if (v->verdict == DL_VERIFY_POSSIBLE)
		return v->sl_known ? "pairs without a path SL may use any SL" :
				     "applications may use any SL";
	if (v->sls)
		return NULL;
	return in->snapshot.about.sls == DL_SNAPSHOT_SLS_RULE ?
		       "path SLs follow the rule of torus-2QoS" :
		       NULL;
}

static void add_verdict(json_t *document, const struct dl_verify_result *v,
			const struct dl_verify_options *o, const struct tool_input *in)
{
	static const char *const words[] = {
		[DL_VERIFY_FREE] = "proven free",
		[DL_VERIFY_LOOP] = "loop found",
		[DL_VERIFY_NOT_JUDGED] = "not judged",
		[DL_VERIFY_POSSIBLE] = "loop possible",
	};
	/* Tables with a loop are not those that a mode has verified. */
	bool refuted = v->verdict == DL_VERIFY_LOOP && !o->sls &&
		       (!strncmp(in->snapshot.about.mode, "proven", 6) ||
			!strcmp(in->snapshot.about.mode, "any-sl"));
	const char *engine = refuted ? "" : in->snapshot.about.engine;
	const char *mode = refuted ? "" : in->snapshot.about.mode;
	enum dl_verify_verdict verdict = v->verdict;
	json_t *missing = missing_json(v, in, &verdict);

	json_object_update_new(document,
			       json_pack("{s:s, s:s?, s:o, s:o, s:o, s:i, s:i, s:s?, s:s?}",
					 "verdict", words[verdict], "assumption",
					 verify_assumption(v, in), "missing", missing, "sls",
					 verify_sls_json(v->sls), "multicast_sls",
					 multicast_sls_json(o->multicast_sls), "ends_without_lid",
					 ends_without_lid(v->fabric), "switches_without_entries",
					 switches_without_entries(in->snapshot.tables), "engine",
					 *engine ? engine : NULL, "mode", *mode ? mode : NULL));
}

enum tool_exit verify_status(const json_t *document)
{
	const char *verdict = json_string_value(tool_at(document, "verdict"));

	if (json_is_false(tool_at(document, "delivered")) ||
	    tool_true_at(document, "credit_loop") ||
	    json_is_false(tool_at(document, "sl_stable")) ||
	    json_array_size(tool_at(document, "starved")))
		return TOOL_EXIT_FINDING;
	return strcmp(verdict, "proven free") ? TOOL_EXIT_USAGE : TOOL_EXIT_GOOD;
}

/* ---- all --------------------------------------------------------------- */

/* Null: there was nothing to look at. */
static json_t *verify_judged(bool any, bool holds)
{
	return any ? json_boolean(holds) : json_null();
}

json_t *verify_json(const struct dl_verify_result *v, const struct dl_verify_options *o,
		    const struct tool_input *in)
{
	/* Where maps are not known, a cycle of VL 0 alone says nothing. */
	static const struct dl_cycle none = { NULL, 0 };
	const struct dl_cycle *cycle = v->verdict == DL_VERIFY_NOT_JUDGED ? &none : &v->cycle;
	const struct tool_coords *c = &in->coords;
	json_t *lost = json_array(), *starved = json_array(), *document;

	for (uint32_t i = 0; i < v->nlisted; i++)
		json_array_append_new(lost, verify_lost_json(c, v->fabric, &v->lost[i]));
	for (uint32_t i = 0; i < v->nstarved; i++)
		json_array_append_new(starved, verify_starved_json(c, v->fabric, &v->starved[i]));
	document = json_pack(
		"{s:o, s:I, s:o, s:b, s:o, s:i, s:o, s:I, s:i, s:I, s:i, s:b, s:I, s:I, s:o, s:I, "
		"s:o}",
		"delivered", verify_judged(v->pairs || v->groups, v->delivered), "pairs",
		(json_int_t)v->pairs, "undelivered", lost, "credit_loop", v->credit_loop, "cycle",
		verify_cycle_json(v->fabric, c, cycle), "multicast_groups", v->groups, "sl_stable",
		verify_judged(o->earlier && v->sl_compared, v->sl_stable), "channels",
		(json_int_t)v->channels, "levels", v->levels, "lost", (json_int_t)v->nlost,
		"groups_lost", v->groups_lost, "sl_known", v->sl_known, "pairs_without_sl",
		(json_int_t)v->without_sl, "port_pairs_without_map", (json_int_t)v->without_vl,
		"sl_compared", tool_json_or_null(o->earlier, v->sl_compared), "sl_changed",
		(json_int_t)v->sl_changes, "starved", starved);
	add_verdict(document, v, o, in);
	return document;
}

/* Is there a loop in a part: between adapters, or else without groups? */
static int check_part(const struct dl_tables *t, const struct dl_verify_options *options,
		      bool adapters_only, json_t **loop)
{
	struct dl_verify_options o = *options;
	struct dl_tables part = *t;
	struct dl_verify_result *v;
	int err;

	if (!adapters_only)
		part.ngroups = 0;
	o.adapters_only |= adapters_only;
	o.earlier = NULL;
	err = dl_verify(&part, &o, NULL, &v);
	if (!err) {
		*loop = json_boolean(v->cycle.n);
		dl_verify_result_free(v);
	}
	return err;
}

int verify_explain(json_t *document, const struct dl_tables *t, const struct dl_verify_options *o)
{
	json_t *unicast, *adapters;
	int err;

	if (!json_array_size(tool_at(document, "cycle")))
		return 0;
	err = check_part(t, o, false, &unicast);
	if (!err)
		err = check_part(t, o, true, &adapters);
	if (err)
		return err;
	json_object_set_new(document, "loop_without_multicast", unicast);
	json_object_set_new(document, "loop_between_adapters", adapters);
	return 0;
}
