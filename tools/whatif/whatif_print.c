/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the scenarios of a campaign add up to; see whatif.h. */
#include <inttypes.h>

#include "whatif.h"

#define MAX_LISTED 100 /* lost scenarios that are listed */

/* A quantity over all scenarios that proven mode routes. */
struct spread {
	double sum, max;
};

struct sums {
	uint64_t samples, connected, accepted, safe;
	uint64_t proven, repaired, lost, tree_routed, unplaced;
	uint64_t compared;	       /* scenarios with a load of the DOR tables */
	struct spread changed, filled; /* entries */
	struct spread moved;	       /* switches in the tree */
	struct spread hops;	       /* per cent above DOR */
	struct spread busiest;	       /* as a ratio to DOR */
	struct spread common;	       /* ... for those pairs that it serves */
	struct change {
		uint64_t checked, direct, phased, interrupted;
		struct spread pairs, ratio; /* writes, against those at once */
	} change[WHATIF_CHANGES];
	double seconds[WHATIF_STAGES];
};

static const char *const change_names[WHATIF_CHANGES] = {
	[WHATIF_FAILURE] = "failures",
	[WHATIF_REPAIR] = "repairs",
	[WHATIF_BOTH] = "both",
};

static const char *const stage_names[WHATIF_STAGES] = {
	[WHATIF_DEGRADE] = "damage",	     [WHATIF_DISCOVER] = "discover",
	[WHATIF_CLASSIC] = "classic",	     [WHATIF_VERIFY] = "verify",
	[WHATIF_PROVEN] = "proven",	     [WHATIF_LOAD] = "load",
	[WHATIF_TRANSITION] = "transitions",
};

static void whatif_add(struct spread *s, double x, bool first)
{
	s->sum += x;
	if (first || x > s->max)
		s->max = x;
}

static void add_proven(struct sums *s, const struct whatif_outcome *o)
{
	bool first = !s->proven++;

	s->repaired += o->repaired;
	s->tree_routed += o->tree_routed > 0;
	whatif_add(&s->changed, o->changed, first);
	whatif_add(&s->filled, o->filled, first);
	whatif_add(&s->moved, o->moved, first);
	if (!o->plain_busiest || o->plain_hops <= 0)
		return;
	first = !s->compared++;
	whatif_add(&s->hops, 100 * (o->hops / o->plain_hops - 1), first);
	whatif_add(&s->busiest, (double)o->busiest / o->plain_busiest, first);
	whatif_add(&s->common, (double)o->common_busiest / o->plain_busiest, first);
}

static void add_change(struct change *c, const struct whatif_transition *t)
{
	bool first = !c->checked;

	if (!t->checked)
		return;
	c->checked++;
	c->direct += t->direct;
	c->phased += t->phased;
	c->interrupted += t->pairs > 0;
	whatif_add(&c->pairs, t->pairs, first);
	whatif_add(&c->ratio, t->writes ? (double)t->phased_writes / t->writes : 1, first);
}

static void add_outcome(struct sums *s, const struct whatif_outcome *o)
{
	s->samples++;
	for (int i = 0; i < WHATIF_STAGES; i++)
		s->seconds[i] += o->seconds[i];
	if (!o->connected)
		return;
	s->connected++;
	s->accepted += o->accepted;
	s->safe += o->safe;
	s->unplaced += o->unplaced > 0;
	for (int i = 0; i < WHATIF_CHANGES; i++)
		add_change(&s->change[i], &o->transition[i]);
	if (o->proven)
		add_proven(s, o);
	else
		s->lost++;
}

static double whatif_mean(const struct spread *s, uint64_t n)
{
	return n ? s->sum / n : 0;
}

/* ---- JSON ---------------------------------------------------------------- */

static json_t *spread_json(const struct spread *s, uint64_t n)
{
	return json_pack("{s:f, s:f}", "mean", whatif_mean(s, n), "max", s->max);
}

static json_t *whatif_cable_json(const struct dl_torus *t, uint32_t port)
{
	uint32_t sw = t->fabric->nodes[t->fabric->ports[port].node].sw;
	char dir[] = { '+', "xyz"[dl_torus_dir_dim(t->port_dir[port])], '\0' };
	json_t *cable = tool_json_coord(&t->grid, t->sw_site[sw]);

	json_array_append_new(cable, json_string(dir));
	return cable;
}

static json_t *whatif_lost_json(const struct whatif *w, struct whatif_failures *f,
				const struct whatif_outcome *o, uint64_t item)
{
	const struct dl_torus *t = w->whole.torus;
	json_t *switches = json_array(), *links = json_array();

	whatif_failures_draw(f, w, item);
	for (uint32_t i = 0; i < f->nswitches; i++)
		json_array_append_new(switches,
				      tool_json_coord(&t->grid, t->sw_site[f->switches[i]]));
	for (uint32_t i = 0; i < f->ncables; i++)
		json_array_append_new(links, whatif_cable_json(t, f->cables[i]));
	return json_pack("{s:I, s:o, s:o, s:s}", "sample", (json_int_t)item, "switches", switches,
			 "links", links, "reason", o->reason);
}

static json_t *whatif_list_lost(const struct whatif *w, struct whatif_failures *f,
				const struct whatif_outcome *outcomes, const bool *done)
{
	json_t *list = json_array();

	for (uint64_t i = 0; i < w->nitems && json_array_size(list) < MAX_LISTED; i++)
		if (done[i] && outcomes[i].connected && !outcomes[i].proven)
			json_array_append_new(list, whatif_lost_json(w, f, &outcomes[i], i));
	return list;
}

static json_t *stages_json(const struct sums *s)
{
	json_t *o = json_object();

	for (int i = 0; i < WHATIF_STAGES; i++)
		json_object_set_new(o, stage_names[i], json_real(s->seconds[i]));
	return o;
}

static json_t *changes_json(const struct sums *s)
{
	json_t *all = json_object();

	for (int i = 0; i < WHATIF_CHANGES; i++) {
		const struct change *c = &s->change[i];

		json_object_set_new(all, change_names[i],
				    json_pack("{s:I, s:I, s:I, s:I, s:o, s:o}", "checked",
					      (json_int_t)c->checked, "direct_safe",
					      (json_int_t)c->direct, "phased_safe",
					      (json_int_t)c->phased, "interrupting",
					      (json_int_t)c->interrupted, "pairs_interrupted",
					      spread_json(&c->pairs, c->checked), "writes_ratio",
					      spread_json(&c->ratio, c->checked)));
	}
	return all;
}

static json_t *whatif_document(const struct whatif *w, const struct sums *s, json_t *lost,
			       double seconds, bool interrupted)
{
	return json_pack("{s:s, s:I, s:b, s:I, s:b, s:I, s:{s:I, s:I}, "
			 "s:{s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}, "
			 "s:I, s:o, s:f, s:o, s:I, s:I}",
			 "mode", w->any_sl ? "any-sl" : "proven", "samples", (json_int_t)s->samples,
			 "exhaustive", (int)w->exhaustive, "seed", (json_int_t)w->seed,
			 "interrupted", (int)interrupted, "connected", (json_int_t)s->connected,
			 "classic", "accepted", (json_int_t)s->accepted, "safe",
			 (json_int_t)s->safe, "proven", "accepted", (json_int_t)s->proven,
			 "repaired", (json_int_t)s->repaired, "lost", (json_int_t)s->lost,
			 "with_tree_routes", (json_int_t)s->tree_routed, "entries_changed",
			 spread_json(&s->changed, s->proven), "entries_filled",
			 spread_json(&s->filled, s->proven), "tree_switches_moved",
			 spread_json(&s->moved, s->proven), "added_hops_percent",
			 spread_json(&s->hops, s->compared), "busiest_channel_ratio",
			 spread_json(&s->common, s->compared), "busiest_channel_ratio_all_pairs",
			 spread_json(&s->busiest, s->compared), "with_unplaced_switches",
			 (json_int_t)s->unplaced, "lost", lost, "seconds", seconds, "cpu_seconds",
			 stages_json(s), "failed_switches", (json_int_t)w->fail_switches,
			 "failed_links", (json_int_t)w->fail_cables);
}

/* ---- for people ---------------------------------------------------------- */

static void print_changes(const json_t *changes, FILE *to)
{
	fprintf(to, "\n%-22s%8s%13s%13s%15s%16s%9s\n", "changes of tables", "all", "direct safe",
		"phased safe", "interrupting", "pairs, mean/max", "writes");
	for (int i = 0; i < WHATIF_CHANGES; i++) {
		const json_t *change = tool_at(changes, change_names[i]);

		fprintf(to, "%-22s", change_names[i]);
		tool_print(to, change,
			   "{checked:8}{+checked}{direct_safe:13}{phased_safe:13}{interrupting:15}"
			   "{pairs_interrupted.mean:9.1} /{pairs_interrupted.max:5.0}"
			   "{writes_ratio.mean:8.2}x{/}\n");
	}
}

static void whatif_print_text(const json_t *d, FILE *to)
{
	const char *stage;
	json_t *seconds;
	bool first = true;
	double time = json_number_value(tool_at(d, "seconds"));

	tool_print(to, d,
		   tool_true_at(d, "exhaustive") ? "{samples} sets" : "{samples} random sets");
	tool_print(to, d,
		   " of {failed_switches} failed switches and {failed_links} "
		   "failed cables, {connected} of them connected\n");
	fprintf(to, "\n%-28s%10s%10s\n", "", "accepted", "safe");
	tool_print(to, d,
		   "classic mode                {classic.accepted:10}{classic.safe:10}\n"
		   "{mode:-6} mode                 {proven.accepted:10}{proven.accepted:10}\n"
		   "\nRepaired {proven.repaired}, "
		   "{proven.with_tree_routes} of them with destinations along "
		   "the tree; lost {proven.lost}.\n");
	fprintf(to, "\n%-36s%12s%12s\n", "compared with plain DOR", "mean", "max");
	tool_print(to, tool_at(d, "proven"),
		   "forwarding entries changed          "
		   "{entries_changed.mean:12.1}{entries_changed.max:12.0}\n"
		   "entries added at split rings        "
		   "{entries_filled.mean:12.1}{entries_filled.max:12.0}\n"
		   "switches moved in the tree          {tree_switches_moved.mean:12.1}"
		   "{tree_switches_moved.max:12.0}\n"
		   "added hops, %                       {added_hops_percent.mean:12.2}"
		   "{added_hops_percent.max:12.2}\n"
		   "load of the busiest channel, ratio  {busiest_channel_ratio.mean:12.3}"
		   "{busiest_channel_ratio.max:12.3}\n"
		   "... with all other pairs, too       {busiest_channel_ratio_all_pairs.mean:12.3}"
		   "{busiest_channel_ratio_all_pairs.max:12.3}\n");
	if (tool_has(d, "transitions"))
		print_changes(tool_at(d, "transitions"), to);
	whatif_print_worst(tool_at(d, "worst"), to);
	fprintf(to, "\n%.1f scenarios a second.  CPU seconds:",
		time > 0 ? tool_int_at(d, "samples") / time : 0);
	json_object_foreach((json_t *)tool_at(d, "cpu_seconds"), stage, seconds)
	{
		fprintf(to, "%s %s %.2f", first ? "" : ",", stage, json_number_value(seconds));
		first = false;
	}
	putc('\n', to);
}

static void whatif_warn(const struct tool *tool, const json_t *d)
{
	const json_t *list = tool_at(d, "lost"), *lost;
	json_int_t more = tool_int_at(d, "proven.lost") - json_array_size(list);
	size_t i;

	json_array_foreach(list, i, lost)
		dl_log(&tool->log, DL_LOG_WARNING, "scenario %lld is lost: %s",
		       (long long)tool_int_at(lost, "sample"),
		       json_string_value(tool_at(lost, "reason")));
	if (more > 0)
		dl_log(&tool->log, DL_LOG_WARNING, "and %lld more are lost", (long long)more);
}

static int whatif_show(const struct tool *tool, const struct whatif *w, const struct sums *s,
		       struct whatif_failures *f, const struct whatif_outcome *outcomes,
		       const bool *done, double seconds, bool interrupted)
{
	json_t *d =
		whatif_document(w, s, whatif_list_lost(w, f, outcomes, done), seconds, interrupted);

	if (d)
		tool_json_with(d, "worst", whatif_worst_json(w, f, outcomes, done));
	if (d && w->transitions)
		json_object_set_new(d, "transitions", changes_json(s));
	if (d && !tool->json)
		whatif_warn(tool, d);
	return tool_show(tool, d, whatif_print_text);
}

int whatif_print(const struct tool *tool, const struct whatif *w,
		 const struct whatif_outcome *outcomes, const bool *done, double seconds,
		 bool interrupted)
{
	struct sums s = { 0 };
	struct whatif_failures f;
	int err = whatif_failures_init(&f, w);

	for (uint64_t i = 0; i < w->nitems; i++)
		if (done[i])
			add_outcome(&s, &outcomes[i]);
	if (interrupted)
		dl_log(&tool->log, DL_LOG_WARNING,
		       "interrupted: %" PRIu64 " of %" PRIu64 " scenarios were tried", s.samples,
		       w->nitems);
	if (!err && w->csv && !tool->json)
		err = whatif_print_csv(w, &f, outcomes, done, stdout);
	else if (!err)
		err = whatif_show(tool, w, &s, &f, outcomes, done, seconds, interrupted);
	whatif_failures_release(&f);
	return err;
}
