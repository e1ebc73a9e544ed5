/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline emulate`: traffic over a snapshot or the running fabric. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "campaign.h"
#include "emulate.h"

enum {
	KEY_SCENARIO = 0x2000,
	KEY_LIVE,
	KEY_NET,
	KEY_PSL,
	KEY_TORUS,
	KEY_SEED,
	KEY_SWEEP,
	KEY_THREADS,
	KEY_COUNTERS
};

struct request {
	const char *dir, *scenario, *net, *psl, *config, *counters;
	struct dl_live_options live;
	bool is_live, has_seed, has_sweep;
	int64_t seed;
	struct emu_sweep sweep;
};

static const struct argp_option options[] = {
	{ .name = "scenario",
	  .key = KEY_SCENARIO,
	  .arg = "FILE",
	  .doc = "The scenario: traffic, faults and all the rest (needed)" },
	{ .name = "live",
	  .key = KEY_LIVE,
	  .doc = "Take the tables of the fabric that this machine is attached "
		 "to" },
	{ .name = "Ca",
	  .key = 'C',
	  .arg = "NAME",
	  .doc = "Live: the local adapter (any that is up)" },
	{ .name = "Port",
	  .key = 'P',
	  .arg = "N",
	  .doc = "Live: its port (any that is up)" },
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
	{ .name = "seed",
	  .key = KEY_SEED,
	  .arg = "N",
	  .doc = "Instead of the scenario's seed" },
	{ .name = "sweep",
	  .key = KEY_SWEEP,
	  .arg = "[NAME.]load=A:B:STEP",
	  .doc = "One run for each load from A to B: of the entry NAME, or of "
		 "all that have a load" },
	{ .name = "threads",
	  .key = KEY_THREADS,
	  .arg = "N",
	  .doc = "Runs of a sweep at a time (one for each core)" },
	{ .name = "write-counters",
	  .key = KEY_COUNTERS,
	  .arg = "FILE",
	  .doc = "Write the ports' counters as commands of ibsim's console" },
	{ 0 }
};

/* "0.25" in millionths. */
static const char *parse_load(const char *text, uint32_t *out)
{
	uint32_t value = 0, unit = DL_EMU_LOAD_ONE;
	bool point = false, digit = false;

	for (; (*text >= '0' && *text <= '9') || (*text == '.' && !point);
	     text++) {
		if (*text == '.') {
			point = true;
			continue;
		}
		if (point)
			unit /= 10;
		if (!unit || value > 10 * DL_EMU_LOAD_ONE)
			return NULL;
		digit = true;
		value = point ? value + (*text - '0') * unit :
				10 * value + (*text - '0') * DL_EMU_LOAD_ONE;
	}
	*out = value;
	return digit && value <= 10 * DL_EMU_LOAD_ONE ? text : NULL;
}

static void parse_sweep(const struct argp_state *state, char *arg,
			struct request *r)
{
	struct emu_sweep *s = &r->sweep;
	char *key = strstr(arg, "load=");
	const char *at = key ? key + strlen("load=") : NULL;

	if (at && key > arg && key[-1] == '.') {
		key[-1] = '\0';
		s->name = arg;
	} else if (key != arg) {
		at = NULL;
	}
	at = at ? parse_load(at, &s->from) : NULL;
	at = at && *at == ':' ? parse_load(at + 1, &s->to) : NULL;
	at = at && *at == ':' ? parse_load(at + 1, &s->step) : NULL;
	if (!at || *at || !s->from || !s->step || s->to < s->from ||
	    (s->to - s->from) / s->step >= 10000)
		argp_error(state,
			   "--sweep takes [NAME.]load=A:B:STEP, such as "
			   "load=0.1:1:0.1, at most 10 and in at most 10000 "
			   "steps");
	r->has_sweep = true;
}

static void check(const struct argp_state *state, const struct request *r)
{
	if (!r->scenario)
		argp_error(state, "--scenario FILE is needed");
	if (r->is_live == !!r->dir)
		argp_error(state, r->dir ? "either a snapshot or --live" :
					   "which snapshot?  Or --live");
	if (r->is_live && (r->net || r->psl))
		argp_error(state, "--net and --psl go with a snapshot");
	if (r->has_sweep && r->counters)
		argp_error(state, "--write-counters does not go with --sweep");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *r = state->input;

	switch (key) {
	case KEY_SCENARIO:
		tool_arg_once(state, &r->scenario, arg, "scenario");
		return 0;
	case KEY_LIVE:
		r->is_live = true;
		return 0;
	case 'C':
		r->live.ca = arg;
		return 0;
	case 'P':
		r->live.port = tool_arg_number(state, arg, "port", 1, 254);
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
	case KEY_SEED:
		r->has_seed = true;
		r->seed = tool_arg_number(state, arg, "seed", 0, INT64_MAX);
		return 0;
	case KEY_SWEEP:
		parse_sweep(state, arg, r);
		return 0;
	case KEY_THREADS:
		r->sweep.threads = tool_arg_number(
			state, arg, "number of threads", 1, 1024);
		return 0;
	case KEY_COUNTERS:
		r->counters = arg;
		return 0;
	case ARGP_KEY_ARG:
		tool_arg_once(state, &r->dir, arg, "snapshot");
		return 0;
	case ARGP_KEY_END:
		check(state, r);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp emulate_argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[DIR]",
	.doc = "Run traffic over the tables of a snapshot, or of the running "
	       "fabric."
	       "\v"
	       "DIR is a folder written by `dateline route` or `dateline "
	       "snapshot`, or by OpenSM with -D 0x43.  Scenarios are "
	       "described in dateline-scenario(5).  Ctrl-C ends a run with "
	       "the results so far.\n"
	       "\n"
	       "  dateline emulate snapshot --scenario emulate-uniform.yaml\n"
	       "  dateline emulate snapshot --scenario emulate-uniform.yaml "
	       "\\\n"
	       "    --sweep load=0.1:1:0.1\n"
	       "\n"
	       "Exit status: 0 everything arrived, 1 a finding (a deadlock, "
	       "packets that did not arrive, an interrupted run), 2 bad usage "
	       "or input, 3 no fabric or no memory.",
};

/* ---- watching ---------------------------------------------------------- */

/* The signals that end a run: they are blocked, and looked for now and then. */
static void ending_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
}

static bool interrupted(void)
{
	sigset_t set;

	return !sigpending(&set) && (sigismember(&set, SIGINT) == 1 ||
				     sigismember(&set, SIGTERM) == 1);
}

struct watcher {
	bool show;
	int percent;
};

static bool watch(void *context, const struct emu_run *r)
{
	struct watcher *w = context;
	const struct dl_emu_totals *t;
	int percent;

	if (!w->show)
		return interrupted();
	percent = 100.0 * dl_emu_now(r->emu) / r->end;
	if (percent > 100)
		percent = 100;
	if (percent != w->percent) {
		t = dl_emu_totals(r->emu);
		fprintf(stderr,
			"\r%3d%%: %llu packets delivered, %llu in "
			"flight\033[K",
			percent, (unsigned long long)t->delivered,
			(unsigned long long)t->in_flight);
		w->percent = percent;
	}
	return interrupted();
}

/* ---- running ----------------------------------------------------------- */

static int write_counters(const struct tool *tool, const char *path,
			  const struct emu_run *r)
{
	struct tool_out out;
	int err = tool_out_open(tool, NULL, path, &out);

	return err ? err :
		     tool_out_close(tool, &out,
				    emu_write_counters(r, out.file));
}

static bool shows_progress(const struct tool *tool)
{
	return isatty(STDERR_FILENO) && tool->level >= DL_LOG_INFO;
}

static int run_once(const struct tool *tool, const struct request *r,
		    const struct emu_plan *plan,
		    const struct tool_coords *coords, int *status)
{
	struct watcher w = { .show = shows_progress(tool), .percent = -1 };
	sigset_t ending, before;
	struct emu_run run;
	int err;

	ending_signals(&ending);
	sigprocmask(SIG_BLOCK, &ending, &before);
	err = emu_run(plan, NULL, watch, &w, &run);
	if (w.percent >= 0)
		fputs("\r\033[K", stderr);
	if (!err && tool->json)
		err = tool_print_json(tool, emu_run_json(&run, coords));
	else if (!err)
		emu_run_print(&run, coords, stdout);
	if (!err && r->counters)
		err = write_counters(tool, r->counters, &run);
	if (!err && emu_run_finding(&run))
		*status = TOOL_EXIT_FINDING;
	emu_run_free(&run);
	while (interrupted() && sigwaitinfo(&ending, NULL) > 0)
		continue;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err;
}

/* A name that no entry has would change nothing. */
static int check_sweep(const struct emu_plan *p, const struct emu_sweep *s)
{
	const struct emu_scenario *e = p->scenario;

	for (uint32_t i = 0; i < e->ntraffic; i++)
		if (e->traffic[i].load &&
		    (!s->name || (e->traffic[i].name &&
				  !strcmp(e->traffic[i].name, s->name))))
			return 0;
	dl_log(p->log, DL_LOG_ERROR,
	       "%s: --sweep: expected an entry of traffic "
	       "%s%s with a load",
	       e->path, s->name ? "called " : "", s->name ? s->name : "");
	return -EINVAL;
}

static int run_sweep(const struct tool *tool, const struct emu_sweep *s,
		     const struct emu_plan *plan, int *status)
{
	uint32_t n = emu_sweep_points(s);
	struct emu_point *points = calloc(n, sizeof(*points));
	int err = points ? check_sweep(plan, s) : -ENOMEM;

	if (!err)
		err = emu_sweep_run(plan, s, points);
	if (!campaign_is_leader()) {
		free(points);
		return err;
	}
	if (!err && tool->json)
		err = tool_print_json(tool, emu_sweep_json(points, n));
	else if (!err)
		emu_sweep_print(points, n, stdout);
	for (uint32_t i = 0; !err && i < n; i++)
		if (!points[i].done || points[i].finding)
			*status = TOOL_EXIT_FINDING;
	free(points);
	return err;
}

static int read_tables(const struct tool *tool, struct request *r,
		       struct dl_snapshot *s)
{
	char *gaps = NULL;
	int err;

	if (!r->is_live)
		return dl_snapshot_read(r->dir, r->net, r->psl, &tool->log, s);
	r->live.paths = DL_LIVE_PATHS_ADAPTERS;
	err = dl_live_read(&r->live, &tool->log, s, &gaps);
	if (gaps)
		dl_log(&tool->log, DL_LOG_WARNING,
		       "not everything answered; "
		       "dateline snapshot lists what is missing");
	free(gaps);
	/* What is wrong with the fabric is not wrong with the usage. */
	return tool_exit_status(err) == TOOL_EXIT_USAGE ? -EIO : err;
}

static int emulate(const struct tool *tool, struct request *r,
		   struct emu_scenario *scenario, const struct dl_snapshot *s,
		   int *status)
{
	struct tool_coords coords = { 0 };
	struct emu_plan plan = { 0 };
	int err;

	r->sweep.show = shows_progress(tool) && r->has_sweep &&
			campaign_is_leader();
	if (r->has_seed)
		scenario->seed = r->seed;
	err = tool_coords_find(tool, s->fabric, r->config, r->dir, &coords);
	if (!err)
		err = tool_coords_complete_sls(tool, &coords, s->tables);
	if (!err)
		err = emu_plan_make(scenario, s->tables, &coords, tool, &plan);
	if (!err)
		err = r->has_sweep ? run_sweep(tool, &r->sweep, &plan, status) :
				     run_once(tool, r, &plan, &coords, status);
	emu_plan_free(&plan);
	tool_coords_free(&coords);
	return err;
}

int tool_cmd_emulate(struct tool *tool, int argc, char **argv)
{
	struct request r = { 0 };
	struct emu_scenario scenario = { 0 };
	struct dl_snapshot s = { 0 };
	int err, status = TOOL_EXIT_GOOD;

	dl_live_options_init(&r.live);
	tool_parse(tool, &emulate_argp, TOOL_JSON, argc, argv, &r);
	/* One run is not divided: under mpirun the first process does it. */
	if (!r.has_sweep && !campaign_is_leader())
		return TOOL_EXIT_GOOD;
	err = emu_scenario_read(r.scenario, &tool->log, &scenario);
	if (!err)
		err = read_tables(tool, &r, &s);
	if (!err)
		err = emulate(tool, &r, &scenario, &s, &status);
	emu_scenario_free(&scenario);
	dl_snapshot_release(&s);
	return err ? (int)tool_exit_status(err) : status;
}
