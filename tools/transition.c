/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline transition`: is the change from one snapshot to another safe? */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/background.h"
#include "transition.h"
#include "tools/verify/verify.h"

#define NAMED_HOSTS 8
#define NAMED_PAIRS 4

struct request {
	struct tool_input_options old, new;
	enum dl_transition_order order;
	bool reconnect;
	const char *plan;
};

#define MEMBER(member) DL_MEMBER(struct request, member)

static const struct dl_setting options[] = {
	{ "order", DL_SETTING_WORD, MEMBER(order), .words = "opensm any", .arg = "opensm|any",
	  .doc = "Writes of the direct change: in OpenSM's order, with four "
		 "under way (default), or in any order" },
	{ "reconnect", DL_SETTING_FLAG, MEMBER(reconnect),
	  .doc = "Accept that pairs must reconnect" },
	{ "plan", DL_SETTING_BORROW, MEMBER(plan), .arg = "FILE",
	  .doc = "Write down what each step writes, for an independent checker" },
	{ "torus-config", DL_SETTING_BORROW, MEMBER(new.config), .arg = "FILE",
	  .doc = "A torus-2QoS.conf: for coordinates, and for path SLs by "
		 "torus-2QoS's rule when there are none" },
	{ "node-name-map", DL_SETTING_BORROW, MEMBER(new.names), .arg = "FILE",
	  .doc = "Names of nodes by GUID, as for infiniband-diags" },
	{ 0 }
};

static const struct dl_setting args[] = {
	{ "old snapshot", DL_SETTING_BORROW, MEMBER(old.from), .required = true },
	{ "new snapshot", DL_SETTING_BORROW, MEMBER(new.from), .required = true },
	{ 0 }
};

static const struct tool_usage usage = {
	.options = options,
	.args = args,
	.flags = TOOL_JSON,
	.args_doc = "DIR DIR",
	.doc = "Check the change from the tables of one snapshot to those of "
	       "another at every moment."
	       "\v"
	       "The first DIR is the old snapshot, the second the new one.  "
	       "Two ways are checked: the new tables written over the old ones, "
	       "and in steps that keep every moment safe.\n"
	       "\n"
	       "  dateline transition yesterday today\n"
	       "\n"
	       "Exit status: 0 the change in steps is safe, 1 it is not, or pairs "
	       "must reconnect, 2 bad "
	       "usage or input, 3 no memory.",
};

/* ---- what is found -------------------------------------------------------- */

static json_t *circle_json(const struct dl_fabric *f, const struct dl_verify_mixture *m)
{
	json_t *list = json_array(), *step;

	for (uint32_t i = 0; i < m->nloop; i++) {
		step = tool_json_port(f, m->loop[i]);
		json_object_set_new(step, "lid", json_integer(m->loop_lid));
		json_array_append_new(list, step);
	}
	return list;
}

static json_t *direct_json(const struct dl_fabric *f, const struct dl_transition_result *v,
			   enum dl_transition_order order, const struct tool_coords *coords)
{
	return json_pack("{s:b, s:o, s:o, s:I, s:o, s:b}", "safe", v->safe, "cycle",
			 verify_cycle_json(f, coords, &v->found.cycle), "forwarding_loop",
			 circle_json(f, &v->found), "writes", (json_int_t)v->writes, "at_write",
			 tool_json_or_null(!v->safe && !v->maps_changed &&
						   order == DL_TRANSITION_OPENSM,
					   v->at_write),
			 "maps_changed", v->maps_changed);
}

static json_t *transition_steps(const struct dl_transition_waves *w)
{
	static const char *const kinds[] = { "move", "detour", "close", "maps", "open", "wait" };
	json_t *list = json_array();

	for (uint32_t i = 0; i < w->nsteps; i++) {
		const struct dl_transition_step *s = &w->steps[i];

		json_array_append_new(list,
				      json_pack("{s:s, s:I, s:i, s:I, s:s}", "kind", kinds[s->kind],
						"entries", (json_int_t)s->entries, "barriers",
						s->barriers, "writes", (json_int_t)s->writes,
						"wait", s->drain ? "drain" : "none"));
	}
	return list;
}

/* The adapters of the pairs that must reconnect. */
static json_t *transition_hosts(const struct dl_transition *t, const struct dl_transition_waves *w)
{
	const struct dl_fabric *f = t->opened->fabric;
	uint32_t *ends = malloc((f->nports + 1ul) * sizeof(*ends)), n = 0, last = DL_NONE;
	json_t *list = json_array();

	if (ends && w->reconnect_adapters)
		n = dl_transition_reconnect_ends(t, ends);
	for (uint32_t i = 0; i < n; i++) {
		if (f->ports[ends[i]].node != last)
			json_array_append_new(list, tool_json_node(f, f->ports[ends[i]].node));
		last = f->ports[ends[i]].node;
	}
	free(ends);
	return list;
}

/* The first pairs that are interrupted. */
static json_t *transition_interrupted(const struct dl_transition *t,
				      const struct dl_transition_waves *w)
{
	const struct dl_fabric *f = t->opened->fabric;
	json_t *list = json_array();

	for (uint32_t i = 0; i < w->nstops; i++) {
		const struct dl_fabric_node *sw = dl_fabric_switch_node(f, w->stops[i].sw);
		uint32_t to = f->lid_port[w->stops[i].lid];

		for (unsigned int p = 0; p <= sw->nports; p++) {
			uint32_t from = dl_fabric_end_at(f, sw, p);

			if (from != DL_NONE && from != to && f->ports[from].lid)
				json_array_append_new(
					list,
					json_pack("{s:o, s:o}", "from",
						  tool_json_node(f, f->ports[from].node), "to",
						  tool_json_node(f, f->ports[to].node)));
		}
	}
	return list;
}

static json_t *phased_json(const struct dl_transition *t, const struct dl_transition_waves *w)
{
	return json_pack("{s:b, s:o, s:b, s:i, s:I, s:I, s:I, s:o, s:I, s:I, s:o, s:b, s:I}",
			 "safe", w->safe, "steps", transition_steps(w), "needs_drain",
			 w->needs_drain, "phases", w->nsteps, "writes", (json_int_t)w->writes,
			 "entries_closed", (json_int_t)w->entries_closed, "pairs_interrupted",
			 (json_int_t)w->pairs_interrupted, "interrupted",
			 transition_interrupted(t, w), "interrupted_writes",
			 (json_int_t)w->interrupted_writes, "reconnect_pairs",
			 (json_int_t)w->reconnect_pairs, "reconnect_hosts", transition_hosts(t, w),
			 "empties_groups", w->empties_groups, "group_ports_closed",
			 (json_int_t)w->mask_ports_closed);
}

/* In a second thread: the plan. */
struct planning {
	struct dl_transition *t;
	struct dl_transition_waves *waves;
};

static int transition_plan(void *context, const struct dl_log *log)
{
	struct planning *p = context;

	(void)log;
	return dl_transition_waves(p->t, dl_transition_work(p->t), p->waves);
}

static int transition_check(struct dl_transition *t, enum dl_transition_order order,
			    const struct dl_log *log, struct dl_transition_result *v,
			    struct dl_transition_waves *waves)
{
	struct planning planning = { .t = t, .waves = waves };
	struct background b = { .run = transition_plan, .context = &planning };
	int err, planned;

	background_start(&b, true);
	err = dl_transition_check_plan(t, order, log, v);
	planned = background_end(&b);
	if (!err && planned)
		dl_verify_mixture_release(&v->found);
	return err ? err : planned;
}

/* ---- the plan, write by write ---------------------------------------------- */

static uint64_t plan_guid(const struct dl_tables *t, uint32_t s)
{
	return t->fabric->nodes[t->fabric->switches[s]].guid;
}

/* The masks of a group that differ; groups of `after` only. */
static void plan_write_group(const struct dl_tables *before, const struct dl_tables *after,
			     uint16_t mlid, FILE *to)
{
	static const struct dl_tables_masks none;
	const struct dl_tables_mcast_group *was = dl_tables_find_group(before, mlid);
	const struct dl_tables_mcast_group *is = dl_tables_find_group(after, mlid);

	for (uint32_t s = 0; s < after->fabric->nswitches; s++) {
		const uint64_t *old = dl_tables_mask(was ? &was->masks : &none, s);
		const uint64_t *new = dl_tables_mask(is ? &is->masks : &none, s);

		if (!memcmp(old, new, DL_TABLES_MASK_WORDS * sizeof(*old)))
			continue;
		fprintf(to, "mask 0x%016" PRIx64 " 0x%04x", plan_guid(after, s), mlid);
		for (unsigned int port = 0; port < 64 * DL_TABLES_MASK_WORDS; port++)
			if (new[port / 64] >> port % 64 & 1)
				fprintf(to, " %u", port);
		fputc('\n', to);
	}
}

static void plan_write_groups(const struct dl_tables *before, const struct dl_tables *after,
			      FILE *to)
{
	for (uint32_t g = 0; g < after->ngroups; g++)
		plan_write_group(before, after, after->groups[g].mlid, to);
	for (uint32_t g = 0; g < before->ngroups; g++)
		if (!dl_tables_find_group(after, before->groups[g].mlid))
			plan_write_group(before, after, before->groups[g].mlid, to);
}

static void plan_write_entry(const struct dl_tables *t, uint32_t s, uint16_t lid, uint8_t port,
			     FILE *to)
{
	fprintf(to, "write 0x%016" PRIx64 " %u %u\n", plan_guid(t, s), lid, port);
}

/* All that differs: entries and groups. */
static void plan_write_tables(const struct dl_tables *before, const struct dl_tables *after,
			      FILE *to)
{
	for (uint32_t s = 0; s < after->fabric->nswitches; s++)
		for (uint16_t lid = 1; lid <= after->top_lid; lid++)
			if (dl_tables_lft(before, s, lid) != dl_tables_lft(after, s, lid))
				plan_write_entry(after, s, lid, dl_tables_lft(after, s, lid), to);
	plan_write_groups(before, after, to);
}

static int plan_write(const struct dl_transition *t, const struct dl_transition_waves *w, FILE *to)
{
	const struct dl_tables *holds = t->held;
	uint32_t at = 0;

	fprintf(to, "dateline-plan 1\n");
	for (uint32_t i = 0; i < w->nsteps; i++) {
		const struct dl_transition_step *step = &w->steps[i];
		const struct dl_tables *next = step->kind == DL_TRANSITION_CLOSE ? t->closed :
										   t->opened;

		if (step->kind == DL_TRANSITION_MAPS) {
			fprintf(to, "maps\n");
		} else if (w->in_phases) {
			plan_write_tables(holds, next, to);
			holds = next;
		} else if (step->kind != DL_TRANSITION_WAIT &&
			   (at == w->nmoves || w->moves[at].step != i)) {
			plan_write_groups(holds, next, to);
			holds = next;
		}
		for (; at < w->nmoves && w->moves[at].step == i; at++) {
			const struct dl_transition_move *m = &w->moves[at];

			plan_write_entry(t->opened, m->sw, m->lid, m->port, to);
			if (at + 1 < w->nmoves && w->moves[at + 1].step == i &&
			    w->moves[at + 1].barrier != m->barrier)
				fprintf(to, "barrier\n");
		}
		fprintf(to, step->drain ? "drain\n" : "barrier\n");
	}
	return ferror(to) ? -EIO : 0;
}

int transition_json(const struct dl_tables *old, const struct dl_tables *new,
		    enum dl_transition_order order, const struct tool_coords *coords,
		    const struct dl_log *log, FILE *plan, json_t **out)
{
	struct dl_transition_waves waves = { 0 };
	struct dl_transition_result v;
	struct dl_transition t;
	int err = dl_transition_plan(old, new, &t);

	if (err)
		return err;
	dl_transition_spare(&t);
	err = transition_check(&t, order, log, &v, &waves);
	if (!err) {
		*out = json_pack("{s:i, s:o, s:o}", "format", 1, "direct",
				 direct_json(new->fabric, &v, order, coords), "phased",
				 phased_json(&t, &waves));
		err = *out ? 0 : -ENOMEM;
		dl_verify_mixture_release(&v.found);
	}
	if (!err && plan)
		err = plan_write(&t, &waves, plan);
	dl_transition_waves_release(&waves);
	dl_transition_release(&t);
	return err;
}

/* ---- the two fabrics ------------------------------------------------------ */

static uint64_t owner_guid(const struct dl_fabric *f, uint16_t lid)
{
	uint32_t port = lid <= f->top_lid ? f->lid_port[lid] : DL_NONE;

	return port == DL_NONE ? 0 : f->nodes[f->ports[port].node].guid;
}

/* A change is one of the same fabric: what if these are two? */
static int transition_compare(const struct dl_log *log, const struct dl_fabric *old,
			      const struct dl_fabric *new)
{
	uint32_t common = 0, moved = 0;

	for (uint32_t s = 0; s < new->nswitches; s++)
		common += dl_fabric_find_guid(old, new->nodes[new->switches[s]].guid) != DL_NONE;
	if (!common)
		return dl_fail(log, -EINVAL,
			       "no switch of the old snapshot is in the new one: there is no "
			       "change of tables to check");
	for (uint32_t lid = 1; lid <= new->top_lid; lid++) {
		uint64_t was = owner_guid(old, lid), is = owner_guid(new, lid);

		moved += was && is && was != is;
	}
	if (moved)
		dl_log(log, DL_LOG_WARNING,
		       "%u LID%s to another node in the new snapshot: is it the same fabric, and "
		       "were its LIDs kept?  Entries are compared LID by LID",
		       moved, moved == 1 ? " belongs" : "s belong");
	return 0;
}

/* ---- for people ----------------------------------------------------------- */

static void print_circle(const json_t *circle, FILE *to)
{
	const json_t *step;
	size_t i;

	tool_print(to, json_array_get(circle, 0), "  packets to LID {lid} go in a circle:");
	json_array_foreach(circle, i, step) tool_print(to, step, " {guid} port {port}");
	fputc('\n', to);
}

void transition_print_interrupted(const json_t *document, FILE *to)
{
	const json_t *pairs = tool_at(document, "interrupted"), *pair;
	size_t i;

	json_array_foreach(pairs, i, pair) if (i < NAMED_PAIRS)
		tool_print(to, pair,
			   i ? ", {from.name} to {to.name}" :
			       "  interrupted for a moment: {from.name} to {to.name}");
	if (i)
		fprintf(to, "%s\n", i > NAMED_PAIRS ? ", ..." : "");
}

static void print_steps(const json_t *steps, FILE *to)
{
	const json_t *step;
	size_t i;

	json_array_foreach(steps, i, step) tool_print(
		to, step,
		strcmp(json_string_value(tool_at(step, "wait")), "drain") ?
			"  {kind}: {entries#entr/ies/y}, {writes#write}, {barriers#barrier}\n" :
			"  {kind}: {entries#entr/ies/y}, {writes#write}, {barriers#barrier}; then "
			"old packets leave\n");
}

static void transition_print(const json_t *d, FILE *to)
{
	const json_t *direct = tool_at(d, "direct"), *phased = tool_at(d, "phased");
	const json_t *cycle = tool_at(direct, "cycle"), *host;
	const json_t *hosts = tool_at(phased, "reconnect_hosts");
	size_t i;

	tool_print(to, direct, "directly, {writes#write}: ");
	tool_print(to, direct,
		   tool_true_at(direct, "safe")		? "safe\n" :
		   tool_true_at(direct, "maps_changed") ? "not safe, SL-to-VL maps change\n" :
		   !tool_has(direct, "at_write")	? "unsafe in some order\n" :
		   tool_int_at(direct, "at_write")	? "unsafe, first after {at_write#write}\n" :
							  "unsafe before the first write\n");
	if (json_array_size(tool_at(direct, "forwarding_loop")))
		print_circle(tool_at(direct, "forwarding_loop"), to);
	if (json_array_size(cycle)) {
		fprintf(to, "  a credit loop of %zu channel%s:\n", json_array_size(cycle),
			tool_s(json_array_size(cycle)));
		verify_print_cycle(cycle, to);
	}
	tool_print(to, phased, "in {phases#step}, {writes#write}: ");
	fprintf(to, tool_true_at(phased, "safe") ? "safe" : "UNSAFE");
	tool_print(to, phased,
		   "; {entries_closed} entries closed, {pairs_interrupted#pair} interrupted\n");
	transition_print_interrupted(phased, to);
	tool_print(to, phased,
		   tool_true_at(phased, "empties_groups") ?
			   "multicast groups are empty meanwhile\n" :
			   "{+group_ports_closed}multicast groups keep the ports of both trees "
			   "only meanwhile\n{/}");
	print_steps(tool_at(phased, "steps"), to);
	tool_print(to, phased,
		   "{+reconnect_pairs}{?reconnect_hosts}safe only if {reconnect_pairs#pair} "
		   "reconnect: their path SLs change, and with the old ones the new tables have a "
		   "credit loop\n{/}"
		   "{!reconnect_hosts}path SLs of {reconnect_pairs#pair} change: with the old ones "
		   "from and to switches' own ports the new tables have a credit loop\n{/}{/}");
	if (json_array_size(hosts)) {
		fprintf(to, "  restart what uses %zu adapters:", json_array_size(hosts));
		json_array_foreach(hosts, i, host) if (i < NAMED_HOSTS)
			tool_print(to, host, " {name}");
		fprintf(to, "%s\n", json_array_size(hosts) > NAMED_HOSTS ? " ..." : "");
	}
}

static int transition_ask(struct tool *tool, const struct request *r, const struct tool_input *old,
			  const struct tool_input *new, FILE *plan, json_t **document)
{
	return transition_json(old->snapshot.tables, new->snapshot.tables, r->order, &new->coords,
			       &tool->log, plan, document);
}

int tool_cmd_transition(struct tool *tool, int argc, char **argv)
{
	struct request r = { .order = DL_TRANSITION_OPENSM };
	struct tool_input old = { 0 }, new = { 0 };
	json_t *document = NULL;
	int err;

	tool_options(tool, &usage, argc, argv, &r);
	r.old.config = r.new.config;
	r.old.names = r.new.names;
	err = tool_input_read(tool, &r.old, TOOL_INPUT_TABLES, &old);
	if (!err)
		err = tool_input_read(tool, &r.new, TOOL_INPUT_TABLES, &new);
	if (!err)
		err = transition_compare(&tool->log, old.snapshot.fabric, new.snapshot.fabric);
	if (!err && r.plan)
		err = tool_write(tool, NULL, r.plan, to,
				 transition_ask(tool, &r, &old, &new, to, &document));
	else if (!err)
		err = transition_ask(tool, &r, &old, &new, NULL, &document);
	if (!err) {
		tool->finding |= !tool_true_at(document, "phased.safe") ||
				 (!r.reconnect && tool_int_at(document, "phased.reconnect_pairs"));
		err = tool_show(tool, document, transition_print);
	}
	tool_input_free(&old);
	tool_input_free(&new);
	return tool_exit_status(err);
}
