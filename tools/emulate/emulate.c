/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline emulate`: traffic over a snapshot or the running fabric. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/common/campaign.h"
#include "emulate.h"

struct request {
	struct tool_input_options input;
	const char *scenario, *counters, *tables, *program, *hosts;
	int64_t seed; /* -1: the scenario's */
	bool csv;
	struct emulate_sweep sweep;
};

/* "0.25" in millionths, up to a ":" or the end. */
static const char *emulate_parse_load(const char *text, uint32_t *out)
{
	const char *end = strchrnul(text, ':');
	char number[32] = "";
	int64_t value;

	if (end - text >= (ptrdiff_t)sizeof(number))
		return NULL;
	memcpy(number, text, end - text);
	if (!dl_decimal_parse(number, 0, 1000 * (int64_t)DL_EMU_LOAD_ONE, &value))
		return NULL;
	*out = value;
	return end;
}

static int emulate_read_sweep(const struct dl_setting *setting, void *to, const char *text,
			      char *why, size_t size)
{
	struct emulate_sweep *s = &((struct request *)to)->sweep;
	const char *key = strstr(text, "load="), *at = key;

	(void)setting, (void)why, (void)size; /* it says what is expected */
	if (at && key != text && key[-1] != '.')
		at = NULL;
	at = at ? emulate_parse_load(at + strlen("load="), &s->from) : NULL;
	at = at && *at == ':' ? emulate_parse_load(at + 1, &s->to) : NULL;
	at = at && *at == ':' ? emulate_parse_load(at + 1, &s->step) : NULL;
	if (!at || *at || !s->from || !s->step || s->to < s->from ||
	    (s->to - s->from) / s->step >= 10000)
		return -EINVAL;
	free(s->name);
	s->name = key == text ? NULL : strndup(text, key - text - 1);
	return key == text || s->name ? 0 : -ENOMEM;
}

#define MEMBER(member) DL_MEMBER(struct request, member)

static const struct dl_setting options[] = {
	{ "scenario", DL_SETTING_BORROW, MEMBER(scenario), .arg = "FILE",
	  .doc = "The scenario: traffic, faults and properties; needed without --program" },
	{ "program", DL_SETTING_BORROW, MEMBER(program), .arg = "FILE|NAME:SIZE",
	  .doc = "Run a program of messages: a file in GOAL, or allreduce-ring:8M, "
		 "allreduce-tree:SIZE, allreduce-doubling:SIZE, allgather:SIZE, alltoall:SIZE, "
		 "halo:SIZE:XxYxZ, pipeline:SIZE:COUNT" },
	{ "hosts", DL_SETTING_BORROW, MEMBER(hosts), .arg = "LIST",
	  .doc = "The hosts of its ranks, such as node[01-64], or a file with them (all "
		 "adapters by their LIDs)" },
	{ "seed", DL_SETTING_NUMBER, MEMBER(seed), 0, INT64_MAX, .arg = "N",
	  .doc = "Seed, instead of the scenario's" },
	{ "sweep", .call = emulate_read_sweep, .arg = "[NAME.]load=A:B:STEP",
	  .expected = "[NAME.]load=A:B:STEP, such as load=0.1:1:0.1, at most "
		      "1000 and in at most 10000 steps",
	  .doc = "One run for each load from A to B, of the entry NAME or of "
		 "all entries with a load" },
	{ "csv", DL_SETTING_FLAG, MEMBER(csv), .doc = "Print a sweep as a table in CSV" },
	{ "tables", DL_SETTING_BORROW, MEMBER(tables), .arg = "DIR",
	  .doc = "Write every table of the result into a directory, as CSV" },
	{ "threads", DL_SETTING_NUMBER, MEMBER(sweep.threads), 1, 1024, .arg = "N",
	  .doc = "Threads for the runs of a sweep (one for each core), or for a "
		 "single run (as many as pay)" },
	{ "write-counters", DL_SETTING_BORROW, MEMBER(counters), .arg = "FILE",
	  .doc = "Write the ports' counters as commands for ibsim's console" },
	{ 0 }
};

static void emulate_check(const struct argp_state *state, void *to)
{
	const struct request *r = to;

	if (!r->scenario && !r->program)
		argp_error(state, "--scenario FILE or --program is needed");
	if (r->hosts && !r->program)
		argp_error(state, "--hosts goes with --program");
	if (r->sweep.step && r->program)
		argp_error(state, "--sweep does not go with --program");
	if (r->csv && !r->sweep.step)
		argp_error(state, "--csv goes with --sweep");
	if (r->sweep.step && r->counters)
		argp_error(state, "--write-counters does not go with --sweep");
}

static const struct tool_usage usage = {
	.options = options,
	.what = "snapshot",
	.input = tool_input_tables,
	.input_at = offsetof(struct request, input),
	.check = emulate_check,
	.flags = TOOL_JSON,
	.args_doc = "[DIR]",
	.doc = "Run traffic over the tables of a snapshot, or of the "
	       "running fabric."
	       "\v"
	       "DIR is a snapshot, a directory or a .dls file, of `dateline route` or "
	       "`dateline snapshot`, or a directory of OpenSM's with -D 0x43.  "
	       "dateline-scenario(5) describes scenarios.  Ctrl-C ends a "
	       "run with the results so far.\n"
	       "\n"
	       "  dateline emulate snapshot --scenario "
	       "emulate-uniform.yaml\n"
	       "  dateline emulate snapshot --scenario "
	       "emulate-uniform.yaml \\\n"
	       "    --sweep load=0.1:1:0.1\n"
	       "  dateline emulate snapshot --program allreduce-ring:8M \\\n"
	       "    --hosts 'H_[0-5]_0_0_1'\n"
	       "\n"
	       "Exit status: 0 all packets arrived, 1 a finding (a "
	       "deadlock, packets that did not arrive, an interrupted "
	       "run), 2 bad usage or input, 3 no fabric or no memory.",
};

/* ---- watching ---------------------------------------------------------- */

/* The signals that end a run: they are blocked, and looked for now and then. */
static void emulate_ending_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
}

static bool emulate_interrupted(void)
{
	sigset_t set;

	return !sigpending(&set) &&
	       (sigismember(&set, SIGINT) == 1 || sigismember(&set, SIGTERM) == 1);
}

struct watcher {
	bool show;
	struct tool_progress progress;
};

static bool emulate_watch(void *context, struct dl_emu *emu, uint64_t end)
{
	struct watcher *w = context;

	if (w->show)
		tool_progress(&w->progress, "simulated", " us",
			      1e-6 * (dl_emu_now(emu) < end ? dl_emu_now(emu) : end), 1e-6 * end);
	return emulate_interrupted();
}

/* ---- running ----------------------------------------------------------- */

/* What a result is of. */
static void emulate_name_source(json_t *document, const struct request *r,
				const struct tool_input *in, uint64_t seed)
{
	uint64_t sum = in->snapshot.about.sum;

	if (!document)
		return;
	json_object_set_new(document, "scenario",
			    r->scenario ? json_string(r->scenario) : json_null());
	json_object_set_new(document, "seed", json_integer((json_int_t)seed));
	json_object_set_new(document, "snapshot",
			    sum ? json_sprintf("0x%016" PRIx64, sum) : json_null());
}

/* With --json the document itself; it is released. */
static int emulate_show(const struct tool *tool, const struct emulate_run *r, bool csv,
			const char *tables, json_t *document)
{
	int err = 0;

	if (document && tables && !tool_json_failed())
		err = tool_write_tables(tool, tables, document);
	if (err)
		json_decref(document);
	if (err)
		return err;
	if (tool->json || !document || tool_json_failed())
		return tool_print_json(tool, document);
	if (r)
		emulate_print(document, r, stdout);
	else if (csv)
		emulate_sweep_print_csv(document, stdout);
	else
		emulate_sweep_print(document, stdout);
	json_decref(document);
	return 0;
}

static int emulate_run_once(const struct tool *tool, const struct request *r,
			    const struct tool_input *in, struct emulate_run *run, int *status)
{
	json_t *document;
	struct watcher w = { .show = tool_shows_progress(tool) };
	double begin = emulate_cpu();
	sigset_t ending, before;
	int err;

	emulate_ending_signals(&ending);
	sigprocmask(SIG_BLOCK, &ending, &before);
	err = dl_emu_scenario_run(run->scenario, NULL, emulate_watch, &w, &run->result);
	run->cpu_seconds = emulate_cpu() - begin;
	tool_progress(&w.progress, NULL, "", 0, 0);
	if (!err) {
		document = emulate_json(run);
		emulate_name_source(document, r, in, dl_emu_scenario_seed(run->scenario));
		err = emulate_show(tool, run, false, r->tables, document);
	}
	if (!err && run->result.recorded.wanted)
		err = tool_write(tool, NULL, dl_emu_scenario_record(run->scenario), to,
				 emulate_record(run, to));
	if (!err && r->counters)
		err = tool_write(tool, NULL, r->counters, to, emulate_counters(run, to));
	if (!err && dl_emu_result_finding(&run->result))
		*status = TOOL_EXIT_FINDING;
	if (!err && !run->program && !dl_emu_totals(run->result.emu)->injected &&
	    !emulate_interrupted())
		err = dl_fail(&tool->log, -EINVAL,
			      "%s: no packet was sent, so that nothing was seen: expected more "
			      "load, or a longer duration",
			      r->scenario);
	dl_emu_result_free(&run->result);
	while (emulate_interrupted() && sigwaitinfo(&ending, NULL) > 0)
		continue;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err;
}

static int emulate_run_sweep(const struct tool *tool, struct request *r,
			     const struct tool_input *in, struct dl_emu_scenario *scenario,
			     int *status)
{
	struct emulate_sweep *s = &r->sweep;
	struct emulate_point *points = NULL;
	struct dl_emu_saturation saturation;
	json_t *document;
	uint32_t n;
	int err;

	if (!dl_emu_scenario_has_load(scenario, s->name))
		return dl_fail(&tool->log, -EINVAL,
			       "%s: --sweep: expected an entry of traffic %s%s with a load",
			       r->scenario, s->name ? "called " : "", s->name ? s->name : "");
	if (dl_emu_scenario_record(scenario))
		return dl_fail(&tool->log, -EINVAL, "%s: record does not go with --sweep",
			       r->scenario);
	s->show = tool_shows_progress(tool) && campaign_is_leader();
	err = emulate_sweep(scenario, s, &points, &n);
	/* One run at a time from now on, which as many threads as find enough to do share. */
	dl_emu_scenario_set_threads(scenario, s->threads == 1);
	if (!err && campaign_is_leader())
		err = emulate_find_saturation(scenario, s, &saturation);
	if (!err && campaign_is_leader()) {
		document = emulate_sweep_json(points, n, &saturation);
		emulate_name_source(document, r, in, dl_emu_scenario_seed(scenario));
		err = emulate_show(tool, NULL, r->csv, r->tables, document);
		for (uint32_t i = 0; !err && i < n; i++)
			if (!points[i].point.done || points[i].point.finding)
				*status = TOOL_EXIT_FINDING;
	}
	campaign_exit(err ? (int)tool_exit_status(err) : *status);
	free(points);
	return err;
}

/* Tables of a fault: those of torus-2QoS have no path SLs. */
static int emulate_read_tables(void *context, const char *dir, struct dl_snapshot *out)
{
	const struct tool_input_options o = { .from = dir };
	struct tool *tool = context;
	struct tool_input in;
	int err = tool_input_read(tool, &o, TOOL_INPUT_TABLES, &in);

	if (!err) {
		*out = in.snapshot;
		memset(&in.snapshot, 0, sizeof(in.snapshot));
	}
	tool_input_free(&in);
	return err;
}

int emulate_read_scenario(struct tool *tool, const char *path, bool program,
			  const struct dl_tables *t, const struct tool_coords *coords,
			  struct dl_emu_scenario **out)
{
	static char nothing[] = "{}";
	struct dl_emu_scenario_options o = { .dims = DL_TORUS_DIMS,
					     .read_tables = emulate_read_tables,
					     .context = tool,
					     .site = coords->site,
					     .program = program };
	FILE *from;
	int err;

	memcpy(o.radix, coords->grid.radix, sizeof(o.radix));
	if (path)
		return dl_emu_scenario_read(path, t, &o, &tool->log, out);
	from = fmemopen(nothing, sizeof(nothing) - 1, "r");
	if (!from)
		return -ENOMEM;
	err = dl_emu_scenario_read_stream(from, "no scenario", t, &o, &tool->log, out);
	fclose(from);
	return err;
}

/* What the run is to write: could it? */
static int emulate_try_outputs(const struct tool *tool, const struct request *r)
{
	bool made = r->tables && !mkdir(r->tables, 0777);
	int err = r->tables ? tool_out_try(tool, r->tables, "ports.csv") : 0;

	if (made)
		rmdir(r->tables);
	return !err && r->counters ? tool_out_try(tool, NULL, r->counters) : err;
}

static int emulate_tables(struct tool *tool, struct request *r, const struct tool_input *in,
			  int *status)
{
	struct emulate_run run = { .fabric = in->fabric,
				   .tables = in->snapshot.tables,
				   .coords = &in->coords };
	struct dl_emu_scenario *scenario = NULL;
	struct emulate_program program = { 0 };
	int err = emulate_read_scenario(tool, r->scenario, r->program, in->snapshot.tables,
					&in->coords, &scenario);

	if (!err)
		err = emulate_try_outputs(tool, r);
	if (!err && r->program)
		err = emulate_program(tool, in, r->program, r->hosts, scenario, &program);
	if (!err && r->seed >= 0)
		dl_emu_scenario_set_seed(scenario, r->seed);
	if (!err && !r->sweep.step)
		dl_emu_scenario_set_threads(scenario, r->sweep.threads);
	run.scenario = scenario;
	run.program = r->program ? &program : NULL;
	if (!err && r->sweep.step)
		err = emulate_run_sweep(tool, r, in, scenario, status);
	else if (!err && campaign_is_leader()) /* the other processes have nothing to do */
		err = emulate_run_once(tool, r, in, &run, status);
	dl_emu_scenario_free(scenario);
	emulate_program_free(&program);
	return err;
}

int tool_cmd_emulate(struct tool *tool, int argc, char **argv)
{
	struct request r = { .seed = -1, .input.live.paths = DL_LIVE_PATHS_ADAPTERS };
	struct tool_input in = { 0 };
	int err, status = TOOL_EXIT_GOOD;

	tool_options(tool, &usage, argc, argv, &r);
	err = tool_input_read(tool, &r.input, TOOL_INPUT_TABLES, &in);
	if (!err)
		err = emulate_tables(tool, &r, &in, &status);
	tool_input_free(&in);
	free(r.sweep.name);
	return err ? (int)tool_exit_status(err) : status;
}
