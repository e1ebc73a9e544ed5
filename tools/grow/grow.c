/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline grow`: the steps by which a dimension grows or shrinks by a plane. */
#include "config.h"

#include <string.h>

#include "grow.h"
#include "tools/transition.h"

#define MAX_COLUMNS 65535

#define MEMBER(member) DL_MEMBER(struct grow_request, member)

static const struct dl_setting options[] = {
	{ "dim", DL_SETTING_WORD, MEMBER(dim), .words = "x y z", .arg = "x|y|z",
	  .doc = "The dimension that grows (z)" },
	{ "by", DL_SETTING_NUMBER, MEMBER(by), .min = -254, .max = 254, .arg = "N",
	  .doc = "So many planes (1); a negative number removes the last ones" },
	{ "columns", DL_SETTING_NUMBER, MEMBER(columns), .min = 1, .max = MAX_COLUMNS, .arg = "N",
	  .doc = "Rings that are recabled in one step (1)" },
	{ "mode", DL_SETTING_WORD, MEMBER(mode), .words = "classic proven any-sl",
	  .arg = "proven|any-sl", .doc = "The mode of routing (the snapshot's, or proven)" },
	{ "output", DL_SETTING_BORROW, MEMBER(out), .key = 'o', .arg = "DIR",
	  .doc = "The directory for the steps" },
	{ 0 }
};

static void grow_check_options(const struct argp_state *state, void *to)
{
	const struct grow_request *r = to;

	if (!r->out)
		argp_error(state, "-o DIR is needed");
	if (!r->by)
		argp_error(state, "--by 0 changes nothing");
	if (r->mode == DL_ROUTE_CLASSIC)
		argp_error(state, "--mode: classic mode refuses the fabrics in between");
}

static const struct tool_usage usage = {
	.options = options,
	.what = "netlist",
	.input = tool_input_fabric,
	.input_at = offsetof(struct grow_request, input),
	.check = grow_check_options,
	.flags = TOOL_JSON,
	.args_doc = "[NET|DIR]",
	.doc = "Plan how a torus grows by a plane, or loses one, while it runs: a list of steps "
	       "for who places switches and cables, each routed and verified."
	       "\v"
	       "  dateline grow first.net --torus-config first.torus.conf --dim x -o larger\n"
	       "\n"
	       "DIR gets, for each step N, the fabric (N.net) and its tables (N.dls) when the step "
	       "is done, and what to avoid before it begins (N.avoid); 000 is the fabric as it is. "
	       " "
	       "after.torus.conf is the configuration that comes into force on the way; "
	       "dateline-maintenance(7) describes the steps.\n"
	       "\n"
	       "Exit status: 0 all steps are safe, 1 some are not, or connections must be opened "
	       "again, 2 bad usage or input, 3 no memory or no space.",
};

#define PORT(p) "\"{" p "name}\" port {" p "port}"
#define FROM PORT("from.")
#define TO PORT("to.")
#define STAYS PORT("stays.")

/* `listed`: the list of what to avoid is that of the step before. */
static void grow_print_step(const json_t *step, bool listed, FILE *to)
{
	tool_print(to, step, "step {step}:");
	if (tool_true_at(step, "configuration"))
		fprintf(to, " the configuration after.torus.conf");
	tool_print(to, step, "\n{*avoid}  avoid " FROM " - " TO "\n{/}");
	if (json_array_size(tool_at(step, "avoid")))
		fprintf(to, "    by the list %03u.avoid; wait until safe to unplug\n",
			(unsigned int)tool_int_at(step, "step"));
	else if (listed)
		fprintf(to, "  empty the list of what to avoid\n");
	tool_print(to, step,
		   "{*place}  place \"{}\"\n{/}"
		   "{*unplug}  unplug " FROM " - " TO "\n{/}"
		   "{*move}  move the cable of " STAYS " from " FROM " to " TO "\n{/}"
		   "{*plug}  plug " FROM " - " TO "\n{/}"
		   "{*cut_off}  cut off: \"{}\"\n{/}");
	if (tool_true_at(step, "configuration"))
		tool_print(to, step,
			   "  path SLs of {sl_changes#pair} of adapters change, and of "
			   "{switch_sl_changes} with a switch's own port\n");
	if (tool_int_at(step, "pairs_interrupted"))
		tool_print(to, step, "  {pairs_interrupted#pair} interrupted\n");
	transition_print_interrupted(step, to);
	if (tool_int_at(step, "sl_changes"))
		fprintf(to, "  restart what runs between them when this step is done%s\n",
			tool_int_at(step, "reconnect_pairs") ? "; until then it is not safe" :
							       "; until then it is safe");
	tool_print(to, step, "{*restart}    \"{}\"\n{/}");
	if (tool_int_at(step, "switches_forgotten"))
		tool_print(
			to, step,
			"  {switches_forgotten#switch/es} would get other coordinates, or none, if "
			"the tables before were not known\n");
	if (!tool_true_at(step, "safe"))
		fprintf(to, "  NOT SAFE\n");
}

static void grow_print(const json_t *document, FILE *to)
{
	const json_t *step;
	size_t i, interrupting = 0;
	bool listed = false;

	json_array_foreach(tool_at(document, "steps"), i, step)
		interrupting += tool_int_at(step, "pairs_interrupted") > 0;
	tool_print(to, document, "from {from} to {to} ");
	fprintf(to, "in %zu steps; ", i);
	if (interrupting)
		fprintf(to, "pairs are interrupted for a moment in %zu of them\n", interrupting);
	else
		fprintf(to, "no pair is interrupted\n");
	json_array_foreach(tool_at(document, "steps"), i, step)
	{
		grow_print_step(step, listed, to);
		listed = json_array_size(tool_at(step, "avoid"));
	}
	i = json_array_size(tool_at(document, "unplaced"));
	if (listed || i)
		fprintf(to, "at the end:\n");
	if (listed)
		fprintf(to, "  empty the list of what to avoid\n");
	if (i)
		tool_print(to, document,
			   "  name these in seeds of after.torus.conf: their cables alone do not "
			   "decide their coordinates\n{*unplaced}    \"{}\"\n{/}");
}

/* Is each step safe, and does nobody have to reconnect? */
static bool grow_is_good(const json_t *document)
{
	const json_t *step;
	size_t i;

	json_array_foreach(tool_at(document, "steps"), i, step)
	{
		if (!tool_true_at(step, "safe") ||
		    (tool_int_at(step, "sl_changes") && tool_int_at(step, "reconnect_pairs")))
			return false;
	}
	return true;
}

/* As the fabric is routed now, by its snapshot, unless options say how. */
static void grow_follow_snapshot(struct grow_request *r, const struct tool_input *in)
{
	const char *mode = in->snapshot.about.mode;
	bool any_sl = r->mode < 0 ? !strcmp(mode, "any-sl") : r->mode == DL_ROUTE_ANY_SL;

	r->options.mode = any_sl ? DL_ROUTE_ANY_SL : DL_ROUTE_PROVEN;
	in->config->balanced_ties |= strstr(mode, "-balanced") != NULL;
}

int tool_cmd_grow(struct tool *tool, int argc, char **argv)
{
	struct grow_request r = { .dim = 2, .by = 1, .columns = 1, .mode = -1 };
	struct grow_plan plan = { 0 };
	json_t *document = NULL;
	struct tool_input in;
	bool good = true;
	char path[4096];
	int err;

	dl_route_options_init(&r.options);
	r.options.clock = dl_clock_monotonic;
	tool_options(tool, &usage, argc, argv, &r);
	r.input.one_vl = r.mode == DL_ROUTE_ANY_SL;
	err = tool_input_read(tool, &r.input, TOOL_INPUT_PART, &in);
	if (!err)
		err = dl_fabric_assign_lids(in.fabric, 0);
	if (!err)
		grow_follow_snapshot(&r, &in);
	if (!err)
		err = grow_plan_make(tool, &r, &in, &plan);
	snprintf(path, sizeof(path), "%s/steps.txt", r.out);
	if (!err)
		err = tool_make_parents(tool, path);
	if (!err)
		err = grow_steps(tool, &plan, &in, &document);
	if (!err) {
		good = grow_is_good(document);
		err = tool_write(tool, r.out, "steps.txt", to, (grow_print(document, to), 0));
	}
	if (!err)
		err = tool_show(tool, document, grow_print);
	grow_plan_release(&plan);
	tool_input_free(&in);
	return err ? (int)tool_exit_status(err) : good ? TOOL_EXIT_GOOD : TOOL_EXIT_FINDING;
}
