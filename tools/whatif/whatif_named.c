/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline whatif --fail`: one scenario by name, before and after. */
#include "config.h"

#include <stdlib.h>

#include "dateline/transition.h"
#include "tools/emulate/emulate.h"
#include "tools/path/path.h"
#include "whatif.h"

#define BUSIEST 5	 /* cables that are named */
#define NAMED_CUT_OFF 10 /* adapters that are named */
#define FASTER 1.005	 /* is no more than chance below */

/* The fabric with its tables, before or after. */
struct named_side {
	const struct dl_fabric *f;
	const struct dl_tables *tables;
	struct tool_coords coords;
	struct dl_tables_load load;
	bool delivered, is_free; /* of credit loops */
	json_t *emulation;	 /* NULL: none */
	bool finding;		 /* of it */
};

/* Of source end ports and destination LIDs that the tables before deliver. */
struct named_pairs {
	uint64_t before;
	uint64_t cut_off;     /* no tables deliver them any more */
	uint64_t interrupted; /* the path is gone, until the new tables are written */
	uint64_t longer;
	uint64_t kept, hops_before, hops_after; /* of those that are not cut off */
};

/* ---- pairs ----------------------------------------------------------------- */

struct named_counter {
	struct dl_fabric_match left;	  /* from the whole fabric */
	uint32_t *sources, *left_sources; /* end ports with LIDs, by switch of the whole */
	struct dl_tables_paths *old, *broken, *new; /* `broken`: the old tables on what is left */
};

static void named_count_sources(struct named_counter *c)
{
	const struct dl_fabric *f = c->left.from;

	for (uint32_t p = 0; p < f->nports; p++) {
		uint32_t sw = dl_fabric_sender_switch(f, p);
		uint32_t now = dl_fabric_match_port(&c->left, p);

		if (sw == DL_NONE)
			continue;
		c->sources[sw]++;
		c->left_sources[sw] += now != DL_NONE && c->left.to->ports[now].lid;
	}
}

/* From the end ports of a switch to a LID, whose owner is at `home`. */
static void named_count_flow(const struct named_counter *c, uint32_t sw, uint32_t home, bool gone,
			     struct named_pairs *out)
{
	uint32_t now = dl_fabric_match_switch(&c->left, sw);
	uint32_t n = c->sources[sw] - (sw == home), left = 0;

	if (!dl_tables_paths_arrive(c->old, sw))
		return;
	if (!gone && now != DL_NONE && dl_tables_paths_arrive(c->new, now))
		left = c->left_sources[sw] - (sw == home);
	out->before += n;
	out->cut_off += n - left;
	if (!left)
		return;
	out->kept += left;
	out->hops_before += (uint64_t)left * (dl_tables_paths_length(c->old, sw) - 1);
	out->hops_after += (uint64_t)left * (dl_tables_paths_length(c->new, now) - 1);
	if (dl_tables_paths_length(c->new, now) > dl_tables_paths_length(c->old, sw))
		out->longer += left;
	if (!dl_tables_paths_arrive(c->broken, now))
		out->interrupted += left;
}

static void named_count_lid(const struct named_counter *c, uint16_t lid, struct named_pairs *out)
{
	const struct dl_fabric *f = c->left.from, *g = c->left.to;
	bool gone = lid > g->top_lid || g->lid_port[lid] == DL_NONE;
	uint32_t home = dl_fabric_access_switch(f, f->lid_port[lid]);

	dl_tables_paths_to(c->old, lid);
	if (!gone) {
		dl_tables_paths_to(c->broken, lid);
		dl_tables_paths_to(c->new, lid);
	}
	for (uint32_t sw = 0; sw < f->nswitches; sw++)
		if (c->sources[sw])
			named_count_flow(c, sw, home, gone, out);
}

static int named_count(const struct dl_tables *old, const struct dl_tables *new,
		       struct named_pairs *out)
{
	const struct dl_fabric *f = old->fabric;
	struct named_counter c = {
		.sources = calloc(f->nswitches + 1, sizeof(*c.sources)),
		.left_sources = calloc(f->nswitches + 1, sizeof(*c.sources)),
	};
	struct dl_tables *broken = NULL;
	int err = dl_fabric_match(f, new->fabric, &c.left);

	if (!c.sources || !c.left_sources)
		err = -ENOMEM;
	if (!err)
		err = dl_tables_remap(old, new->fabric, &broken);
	if (!err)
		err = dl_tables_paths_new(old, &c.old);
	if (!err)
		err = dl_tables_paths_new(broken, &c.broken);
	if (!err)
		err = dl_tables_paths_new(new, &c.new);
	if (!err)
		named_count_sources(&c);
	for (uint32_t lid = 1; !err && lid <= f->top_lid; lid++)
		if (f->lid_port[lid] != DL_NONE)
			named_count_lid(&c, lid, out);
	dl_tables_paths_free(c.old);
	dl_tables_paths_free(c.broken);
	dl_tables_paths_free(c.new);
	dl_tables_free(broken);
	dl_fabric_match_release(&c.left);
	free(c.sources);
	free(c.left_sources);
	return err;
}

/* ---- one side -------------------------------------------------------------- */

static json_t *named_run_json(const struct dl_fabric *f, struct dl_emu_result *result)
{
	const struct dl_emu_totals *t = dl_emu_totals(result->emu);
	uint64_t unarrived = t->dropped + t->in_flight;
	json_t *qos = json_array();
	uint32_t senders = 0;
	double gbps = 0;

	for (uint32_t p = 0; p < f->nports; p++)
		if (f->ports[p].num && dl_fabric_is_end_port(f, p))
			senders += dl_emu_port(result->emu, p)->packets > 0;
	for (unsigned int l = 0; l < DL_EMU_LEVELS; l++) {
		struct dl_emu_latency latency =
			dl_emu_latency_of(&dl_emu_level(result->emu, l)->latency);
		double level = result->level_bytes[l] * 8e3 / result->measured_ps;

		gbps += level;
		json_array_append_new(qos, json_pack("{s:i, s:f, s:f, s:f}", "level", l,
						     "throughput_gbps", level, "latency_ns_mean",
						     latency.mean, "latency_ns_p99", latency.p99));
	}
	return json_pack("{s:i, s:I, s:I, s:f, s:f, s:f, s:b, s:o}", "sending_adapters", senders,
			 "delivered_bytes", (json_int_t)t->delivered_bytes, "not_arrived_packets",
			 (json_int_t)unarrived, "throughput_gbps", gbps, "throughput_fraction",
			 result->throughput, "last_delivery_ns", t->last_delivery / 1e3, "deadlock",
			 dl_emu_cycle(result->emu)->n > 0, "qos", qos);
}

static int named_emulate(struct tool *tool, const char *scenario, struct named_side *s)
{
	struct dl_emu_scenario *e = NULL;
	struct dl_emu_result result = { 0 };
	int err = emulate_read_scenario(tool, scenario, false, s->tables, &s->coords, &e);

	if (!err)
		err = dl_emu_scenario_run(e, NULL, NULL, NULL, &result);
	if (!err) {
		s->emulation = named_run_json(s->f, &result);
		s->finding = dl_emu_result_finding(&result);
	}
	dl_emu_result_free(&result);
	dl_emu_scenario_free(e);
	return err;
}

static int named_judge(struct tool *tool, const char *scenario, struct named_side *s)
{
	struct dl_verify_result *v = NULL;
	int err = dl_verify(s->tables, NULL, NULL, &v);

	if (!err) {
		s->f = s->tables->fabric;
		s->delivered = v->delivered;
		s->is_free = v->verdict == DL_VERIFY_FREE;
		err = dl_tables_load_count(s->tables, NULL, NULL, NULL, &s->load);
	}
	dl_verify_result_free(v);
	return err || !scenario ? err : named_emulate(tool, scenario, s);
}

/* ---- the document ------------------------------------------------------------ */

/* Is a figure of the emulation more afterwards, by this factor? */
static bool named_is_more(const struct named_side *b, const struct named_side *a, const char *key,
			  double factor)
{
	return json_number_value(tool_at(a->emulation, key)) >
	       json_number_value(tool_at(b->emulation, key)) * factor;
}

/* Why less would fail to be slower, or NULL. */
static const char *named_reason(const struct named_side *b, const struct named_side *a)
{
	if (!named_is_more(a, b, "last_delivery_ns", FASTER) &&
	    !named_is_more(b, a, "throughput_gbps", FASTER) &&
	    !named_is_more(b, a, "throughput_fraction", FASTER))
		return NULL;
	if (tool_true_at(b->emulation, "deadlock") && !tool_true_at(a->emulation, "deadlock"))
		return "the tables before it deadlock";
	if (named_is_more(b, a, "not_arrived_packets", 1))
		return "fewer packets arrive";
	if (named_is_more(a, b, "sending_adapters", 1))
		return "fewer adapters send, and share the cables";
	if (named_is_more(a, b, "delivered_bytes", 1))
		return "there is less to deliver";
	if (a->load.busiest < b->load.busiest)
		return "the busiest cable carries fewer pairs";
	return "pairs meet on other cables";
}

static json_t *named_side_json(const struct named_side *s, uint64_t hops, uint64_t pairs)
{
	return json_pack("{s:b, s:b, s:I, s:f, s:I, s:o}", "delivered", s->delivered,
			 "credit_loop_free", s->is_free, "pairs", (json_int_t)s->load.pairs,
			 "hops_mean", pairs ? (double)hops / pairs : 0.0, "busiest_pairs",
			 (json_int_t)s->load.busiest, "emulation",
			 s->emulation ? json_incref(s->emulation) : json_null());
}

/* The cables that are busiest after the failure. */
static json_t *named_busiest(const struct whatif *w, const struct named_side *b,
			     const struct named_side *a)
{
	uint64_t *flows = calloc(b->f->nports + 1, sizeof(*flows));
	struct dl_fabric_match m = { 0 };
	uint32_t n = 0, *ports = NULL;
	json_t *list = json_array();

	if (flows && !dl_fabric_match(b->f, a->f, &m)) {
		for (uint32_t p = 0; p < b->f->nports; p++) {
			uint32_t now = dl_fabric_match_port(&m, p);

			flows[p] = now == DL_NONE ? 0 : a->load.flows[now];
		}
		ports = path_heaviest(b->f, flows, &n);
	}
	for (uint32_t i = 0; ports && i < n && i < BUSIEST; i++)
		json_array_append_new(list,
				      json_pack("{s:o, s:I, s:I}", "cable",
						path_cable_json(&w->whole, ports[i]),
						"pairs_before", (json_int_t)b->load.flows[ports[i]],
						"pairs_after", (json_int_t)flows[ports[i]]));
	dl_fabric_match_release(&m);
	free(flows);
	free(ports);
	return list;
}

/* Adapters that worked, and are in no part that is routed. */
static json_t *named_cut_off_json(const struct dl_fabric *whole, const struct dl_fabric *left)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < whole->nnodes; i++)
		if (!dl_fabric_is_switch(whole, i) &&
		    dl_fabric_find_guid(left, whole->nodes[i].guid) == DL_NONE)
			json_array_append_new(list, tool_json_node(whole, i));
	return list;
}

/* Did only a cable fail of a node that is cut off? */
static bool named_cuts_off(const json_t *failed, const json_t *cut_off)
{
	const json_t *cable, *node;
	size_t i, k;

	json_array_foreach(failed, i, cable) json_array_foreach(
		cut_off, k,
		node) if (json_equal(tool_at(node, "guid"), tool_at(cable, "from.guid")) ||
			  json_equal(tool_at(node, "guid"), tool_at(cable, "to.guid"))) return true;
	return false;
}

/* Names of the first few adapters that are cut off. */
static void named_print_cut_off(const json_t *list, FILE *to)
{
	size_t n = json_array_size(list);

	if (!n)
		return;
	fprintf(to, "%zu adapter%s cut off:", n, tool_s(n));
	for (size_t i = 0; i < n && i < NAMED_CUT_OFF; i++)
		tool_print(to, json_array_get(list, i), i ? ", {name}" : " {name}");
	fputs(n > NAMED_CUT_OFF ? ", and so on (--json names all)\n" : "\n", to);
}

static void named_print_runs(const json_t *d, FILE *to)
{
	const json_t *level;
	size_t i;

	tool_print(to, d,
		   "throughput, Gbit/s            {before.emulation.throughput_gbps:14.2}"
		   "{after.emulation.throughput_gbps:14.2}\n"
		   "... of the adapters' links    {before.emulation.throughput_fraction:14.4}"
		   "{after.emulation.throughput_fraction:14.4}\n"
		   "last packet arrives, ns       {before.emulation.last_delivery_ns:14.0}"
		   "{after.emulation.last_delivery_ns:14.0}\n"
		   "adapters that send            {before.emulation.sending_adapters:14}"
		   "{after.emulation.sending_adapters:14}\n"
		   "packets that do not arrive    {before.emulation.not_arrived_packets:14}"
		   "{after.emulation.not_arrived_packets:14}\n");
	if (tool_true_at(d, "before.emulation.deadlock") ||
	    tool_true_at(d, "after.emulation.deadlock"))
		tool_print(to, d,
			   "deadlock                      {before.emulation.deadlock:14}"
			   "{after.emulation.deadlock:14}\n");
	json_array_foreach(tool_at(d, "before.emulation.qos"), i, level)
	{
		json_t *both = json_pack("{s:O, s:O}", "b", level, "a",
					 json_array_get(tool_at(d, "after.emulation.qos"), i));

		if (json_number_value(tool_at(level, "throughput_gbps")) > 0)
			tool_print(to, both,
				   "QoS level {b.level}, Gbit/s           {b.throughput_gbps:14.2}"
				   "{a.throughput_gbps:14.2}\n"
				   "... latency, mean, ns         {b.latency_ns_mean:14.0}"
				   "{a.latency_ns_mean:14.0}\n"
				   "... latency, 99 %, ns         {b.latency_ns_p99:14.0}"
				   "{a.latency_ns_p99:14.0}\n");
		json_decref(both);
	}
}

/* What has no credit loop deadlocks where a scenario does not use its path SLs. */
static bool named_sets_sls(const json_t *side)
{
	return tool_true_at(side, "credit_loop_free") && tool_true_at(side, "emulation.deadlock");
}

static void named_print(const json_t *d, FILE *to)
{
	tool_print(to, d,
		   "{*failed}fails: {?from}\"{from.name}\" port {from.port} to \"{to.name}\" port "
		   "{to.port}{/}{!from}\"{name}\"{/}\n{/}");
	if (!tool_has(d, "after")) {
		tool_print(to, d, "What is left cannot be routed.\n");
		return;
	}
	fprintf(to, "\n%-30s%14s%14s\n", "", "before", "after");
	tool_print(to, d,
		   "pairs of end ports and LIDs   {before.pairs:14}{after.pairs:14}\n"
		   "hops, mean                    {before.hops_mean:14.3}{after.hops_mean:14.3}\n"
		   "pairs on the busiest channel  "
		   "{before.busiest_pairs:14}{after.busiest_pairs:14}\n"
		   "all delivered                 {before.delivered:14}{after.delivered:14}\n"
		   "proven free of credit loops   "
		   "{before.credit_loop_free:14}{after.credit_loop_free:14}\n");
	if (tool_has(d, "before.emulation"))
		named_print_runs(d, to);
	if (named_sets_sls(tool_at(d, "before")) || named_sets_sls(tool_at(d, "after")))
		fprintf(to, "(deadlock: the scenario sets SLs or VLs; path SLs are proven)\n");
	tool_print(to, d, "\n");
	named_print_cut_off(tool_at(d, "cut_off_adapters"), to);
	tool_print(to, d,
		   "{pairs.cut_off} of {pairs.before} pairs cut off, {pairs.interrupted} "
		   "interrupted until the new tables are written, {pairs.longer} longer\n"
		   "change of tables: {transition.entries_closed} entries closed, "
		   "{transition.pairs_interrupted#pair} interrupted meanwhile\n"
		   "{?faster_because}Faster after the failure: {faster_because}.\n{/}"
		   "\nBusiest after the failure, in pairs:\n"
		   "{*busiest}  {pairs_before:8} -> {pairs_after:-8}  {cable.from.name} port "
		   "{cable.from.port} to {cable.to.name} port {cable.to.port}\n{/}");
}

/* ---- the command ------------------------------------------------------------- */

static int named_route(const struct whatif *w, const struct tool_input *in,
		       const struct dl_log *log, struct dl_route_result *out)
{
	struct dl_route_options options = whatif_options(w);

	return dl_route(in->torus, in->config, &options, log, out);
}

/* Both of the whole fabric; `b` may be NULL.  What only one of them knows does not count. */
static bool named_is_same(const struct dl_tables *a, const struct dl_tables *b)
{
	struct dl_tables_changes maps = { 0 }, ends = { 0 }, sls = { 0 };
	struct dl_fabric_match m = { 0 };
	bool same = b && !dl_fabric_match(a->fabric, b->fabric, &m) &&
		    !dl_tables_compare_sls(a, b, &m, &sls);

	if (same) {
		dl_tables_compare_switch_maps(a, b, &m, &maps);
		dl_tables_compare_end_maps(a, b, &m, &ends);
		same = !(maps.changed | ends.changed | sls.changed);
	}
	dl_fabric_match_release(&m);
	for (uint32_t sw = 0; same && sw < a->fabric->nswitches; sw++)
		for (uint32_t lid = 1; same && lid <= a->fabric->top_lid; lid++)
			same = dl_tables_lft(a, sw, lid) == dl_tables_lft(b, sw, lid);
	return same;
}

/* The tables of a snapshot if it says all that matters, else those of the mode. */
static int named_before(struct tool *tool, const struct whatif *w, struct dl_tables **own)
{
	const struct dl_tables *t = w->whole.snapshot.tables;
	bool given = t && t->psl;
	struct dl_route_result routed = { 0 };
	int err = named_route(w, &w->whole, given ? NULL : &tool->log, &routed);

	if (!err && t && !given)
		err = tool_keep_groups(t, &routed);
	if (!err && !given) {
		*own = routed.tables;
		routed.tables = NULL;
	} else if (given && err != -ENOMEM) {
		err = dl_transition_hold(t, w->whole.fabric, own);
		if (!err && !named_is_same(*own, routed.tables))
			tool_assume(tool,
				    "the tables of the snapshot are not those of the mode for "
				    "the whole fabric: part of the change is due to another "
				    "engine, or a torus configuration (--torus-config)");
	}
	dl_route_result_release(&routed);
	return err;
}

/* All of the document that needs both sides. */
static int named_compare(struct tool *tool, const struct whatif *w, const struct named_side *b,
			 const struct named_side *a, json_t *d)
{
	struct whatif_transition t = { 0 };
	struct named_pairs p = { 0 };
	int err = named_count(b->tables, a->tables, &p);
	const char *reason = named_reason(b, a);

	if (!err)
		err = whatif_check(b->tables, a->tables, &t);
	if (err)
		return err;
	tool->finding |= !t.phased || !a->delivered || !a->is_free || a->finding;
	json_object_set_new(d, "before", named_side_json(b, p.hops_before, p.kept));
	json_object_set_new(d, "after", named_side_json(a, p.hops_after, p.kept));
	json_object_set_new(d, "pairs",
			    json_pack("{s:I, s:I, s:I, s:I}", "before", (json_int_t)p.before,
				      "cut_off", (json_int_t)p.cut_off, "interrupted",
				      (json_int_t)p.interrupted, "longer", (json_int_t)p.longer));
	json_object_set_new(d, "transition",
			    json_pack("{s:b, s:I, s:I}", "safe", t.phased, "entries_closed",
				      (json_int_t)t.closed, "pairs_interrupted",
				      (json_int_t)t.pairs));
	json_object_set_new(d, "cut_off_adapters", named_cut_off_json(b->f, a->f));
	tool->finding |= named_cuts_off(tool_at(d, "failed"), tool_at(d, "cut_off_adapters"));
	json_object_set_new(d, "busiest", named_busiest(w, b, a));
	if (reason)
		json_object_set_new(d, "faster_because", json_string(reason));
	return 0;
}

static int named_sides(struct tool *tool, struct whatif *w, const char *scenario,
		       const struct tool_input *left, struct named_side *b, struct named_side *a)
{
	int err;

	b->coords = w->whole.coords;
	a->coords = (struct tool_coords){ left->torus->grid, left->torus->sw_site, true };
	err = named_judge(tool, scenario, b);
	if (!err) {
		err = named_judge(tool, scenario, a);
		if (err && err != -ENOMEM)
			dl_log(&tool->log, DL_LOG_ERROR,
			       "%s fits the whole fabric, but not what is left of it", scenario);
	}
	return err;
}

int whatif_named(struct tool *tool, struct whatif *w, const struct tool_input_options *input,
		 const struct tool_names *fail, const char *scenario)
{
	json_t *failed = json_array(), *d = NULL;
	struct dl_route_result routed = { 0 };
	struct named_side before = { 0 }, after = { 0 };
	struct tool_input left = { 0 };
	struct dl_tables *old = NULL;
	bool refused = false;
	int err = named_before(tool, w, &old);

	if (!err) {
		err = fail_input(tool, input, fail, &w->whole, &left, failed);
		if (!err)
			err = named_route(w, &left, &tool->log, &routed);
		if (!err)
			err = tool_keep_groups(old, &routed);
		refused = err && err != -ENOMEM && left.fabric;
	}
	if (!err || refused)
		d = json_pack("{s:O, s:s, s:b}", "failed", failed, "mode",
			      w->any_sl ? "any-sl" : "proven", "routed", !refused);
	if (refused) {
		tool->finding = true;
		err = 0;
	} else if (!err) {
		before.tables = old;
		after.tables = routed.tables;
		err = named_sides(tool, w, scenario, &left, &before, &after);
		if (!err)
			err = named_compare(tool, w, &before, &after, d);
	}
	if (!err)
		err = tool_show(tool, json_incref(d), named_print);
	json_decref(d);
	json_decref(failed);
	json_decref(before.emulation);
	json_decref(after.emulation);
	dl_tables_load_release(&before.load);
	dl_tables_load_release(&after.load);
	dl_tables_free(old);
	dl_route_result_release(&routed);
	tool_input_free(&left);
	return err;
}
