/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline whatif`: what failures would do to a fabric; see whatif.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/common/campaign.h"
#include "whatif.h"

#define MAX_FAILURES 65536
#define MAX_SAMPLES 10000000
#define DEFAULT_SAMPLES 100
#define MAX_SEEDS 8
#define MOST_BYTES (UINT64_C(1) << 30)

struct request {
	struct tool_input_options input;
	struct whatif w;
	uint64_t samples;
	unsigned int threads;
	struct tool_names fail;
	const char *scenario;
	signed char mode; /* -1: not said */
};

#define MEMBER(member) DL_MEMBER(struct request, member)

static const struct dl_setting options[] = {
	{ FAIL_SETTING, MEMBER(fail),
	  .doc = "Fail this switch, adapter or cable, and compare before and after; may be "
		 "repeated" },
	{ "scenario", DL_SETTING_BORROW, MEMBER(scenario), .arg = "FILE",
	  .doc = "With --fail: emulate this scenario before and after, too" },
	{ "switches", DL_SETTING_NUMBER, MEMBER(w.fail_switches), 0, MAX_FAILURES, .arg = "N",
	  .doc = "Fail N switches, with their adapters (0)" },
	{ "links", DL_SETTING_NUMBER, MEMBER(w.fail_cables), 0, MAX_FAILURES, .arg = "N",
	  .doc = "Fail N cables between other switches (0)" },
	{ "mode", DL_SETTING_WORD, MEMBER(mode), .words = "proven any-sl", .arg = "proven|any-sl",
	  .doc = "The mode that routes every scenario (proven; with --fail, the snapshot's)" },
	{ "ties", DL_SETTING_WORD, MEMBER(w.ties), .words = "configured torus-2QoS balanced",
	  .arg = "balanced|torus-2QoS",
	  .doc = "Proven mode: as for dateline route (as the torus configuration says)" },
	{ "samples", DL_SETTING_NUMBER, MEMBER(samples), 1, MAX_SAMPLES, .arg = "N",
	  .doc = "Try N random scenarios (100)" },
	{ "seed", DL_SETTING_NUMBER, MEMBER(w.seed), 0, DL_NUMBER_ANY, .arg = "N",
	  .doc = "Seed of the random scenarios (1)" },
	{ "transitions", DL_SETTING_FLAG, MEMBER(w.transitions),
	  .doc = "Check the changes of tables, too: from the whole fabric, back to it, and "
		 "from the scenario before" },
	{ "exhaustive", DL_SETTING_FLAG, MEMBER(w.exhaustive),
	  .doc = "Try all scenarios with this number of failures" },
	{ "worst", DL_SETTING_NUMBER, MEMBER(w.worst), 1, 100000, .arg = "N",
	  .doc = "Name the N worst scenarios (10)" },
	{ "csv", DL_SETTING_FLAG, MEMBER(w.csv),
	  .doc = "Print all scenarios as comma-separated values, with a header line" },
	{ "threads", DL_SETTING_NUMBER, MEMBER(threads), 1, 1024, .arg = "N",
	  .doc = "Number of threads (one for each core, as memory allows)" },
	{ 0 }
};

static void whatif_check_options(const struct argp_state *state, void *to)
{
	struct request *r = to;
	const char *draws = tool_first_given(state, "switches links samples seed exhaustive "
						    "transitions worst csv threads");

	if (r->w.exhaustive && tool_first_given(state, "samples seed"))
		argp_error(state, "--exhaustive tries all scenarios, --%s draws some: which?",
			   tool_first_given(state, "samples seed"));
	if (r->fail.n && draws)
		argp_error(state,
			   "--fail names what fails, --%s is for failures that are drawn: which?",
			   draws);
	if (r->w.csv && tool_first_given(state, "worst"))
		argp_error(state, "--csv lists all scenarios, --worst names some: which?");
	if (r->mode == 1 && tool_first_given(state, "ties"))
		argp_error(state, "--ties goes with --mode proven");
	if (r->scenario && !r->fail.n)
		argp_error(state, "--scenario goes with --fail");
	if (!r->samples)
		r->samples = DEFAULT_SAMPLES;
	if (!r->fail.n && !r->w.fail_switches && !r->w.fail_cables)
		argp_error(state, "what shall fail?  --switches N, --links N, or both, or --fail "
				  "NAME");
}

static const struct tool_usage usage = {
	.options = options,
	.what = "netlist",
	.input = tool_input_fabric,
	.input_at = offsetof(struct request, input),
	.check = whatif_check_options,
	.flags = TOOL_JSON,
	.args_doc = "[NET|DIR]",
	.doc = "Route a whole fabric after many failures of switches and "
	       "cables, and count the results."
	       "\vEvery connected scenario is routed in classic mode (is it "
	       "accepted, and free of credit loops with one multicast "
	       "group of all adapters?) and in proven or any-SL mode (which "
	       "changes were needed, and what do they cost?).  The same seed gives "
	       "the same result on any number of cores and machines.  "
	       "Ctrl-C ends the run with the results so far.\n"
	       "\n"
	       "  dateline gen 6 5 1 -o first\n"
	       "  dateline whatif first.net --switches 1 --exhaustive\n"
	       "  dateline whatif first.net --switches 2 --links 4 --samples 500\n"
	       "  dateline whatif first.net --links 1 --exhaustive --csv\n"
	       "\n"
	       "With --fail, the tables before and after are compared: those of "
	       "the snapshot, or of the mode, and what the mode makes of the rest.\n"
	       "\n"
	       "  dateline whatif first.net --fail S_3_3_0/1 --scenario emulate-uniform.yaml\n"
	       "\n"
	       "Built with MPI: mpirun -n 64 dateline whatif ...\n"
	       "\n"
	       "Exit status: 0 the mode routes every connected "
	       "scenario, 1 it does not, or with --fail something else is wrong afterwards, 2 none "
	       "was judged, or not all "
	       "were tried, bad usage or input, 3 no "
	       "memory.",
};

/* ---- one scenario -------------------------------------------------------- */

struct worker {
	struct whatif *w;
	struct whatif_failures failures;
	struct whatif_outcome *outcome; /* of the scenario at hand */
	struct timespec mark;
};

/* The time since the last call goes to a stage. */
static void whatif_charge(struct worker *k, enum whatif_stage stage)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	k->outcome->seconds[stage] +=
		now.tv_sec - k->mark.tv_sec + (now.tv_nsec - k->mark.tv_nsec) * 1e-9;
	k->mark = now;
}

/* The first error is the reason. */
static void keep_reason(void *context, enum dl_log_level level, const char *message)
{
	struct whatif_outcome *o = context;

	if (level == DL_LOG_ERROR && !*o->reason)
		snprintf(o->reason, sizeof(o->reason), "%s", message);
}

/*
 * Classic mode.  The result holds the tables of dimension-order routing,
 * whether the fabric is accepted or not, or none when it has too few VLs.
 */
struct classic {
	struct whatif *w;
	const struct dl_torus *torus;
	struct dl_route_result routed;
	bool accepted, safe, verified;
};

/* Are those tables safe, with one group of all adapters on the tree? */
static int verify_classic(struct classic *c)
{
	struct dl_verify_result *v = NULL;
	int err = dl_route_tree_group_all(c->routed.tree, c->routed.tables);

	if (!err)
		err = dl_verify(c->routed.tables, NULL, NULL, &v);
	if (!err)
		c->safe = v->delivered && v->verdict == DL_VERIFY_FREE;
	c->verified = !err;
	dl_verify_result_free(v);
	return err;
}

static int try_classic(void *context, const struct dl_log *log)
{
	struct classic *c = context;
	struct dl_route_options options;
	int err;

	(void)log;
	/* Beside proven mode, one after the other. */
	if (c->w->transitions)
		background_end(&c->w->route_whole);
	if (!c->torus)
		return 0;
	dl_route_options_init(&options);
	options.mode = DL_ROUTE_CLASSIC;
	err = dl_route(c->torus, c->w->whole.config, &options, NULL, &c->routed);
	c->accepted = c->routed.tables && c->routed.tree;
	if (err == -ENOTSUP) {
		options.mode = DL_ROUTE_UNCHECKED;
		err = dl_route(c->torus, c->w->whole.config, &options, NULL, &c->routed);
	}
	if (err == -ENOMEM)
		return err;
	/* Any-SL mode's tables are never the same; those of proven mode may be. */
	return c->accepted && c->w->any_sl && c->w->has_spare ? verify_classic(c) : 0;
}

/* Proven mode's tables beside those of dimension-order routing. */
static int compare_load(const struct dl_tables *plain, const struct dl_tables *proven,
			struct whatif_outcome *o)
{
	struct dl_tables_load l;
	int err = dl_tables_load_count(proven, plain, NULL, NULL, &l);

	if (err)
		return err;
	o->plain_hops = l.other_pairs ? (double)l.other_hops / l.other_pairs : 0;
	o->hops = l.common_pairs ? (double)l.common_hops / l.common_pairs : 0;
	o->plain_busiest = l.other_busiest;
	o->busiest = l.busiest;
	o->common_busiest = l.common_busiest;
	dl_tables_load_release(&l);
	return 0;
}

struct dl_route_options whatif_options(const struct whatif *w)
{
	struct dl_route_options options;

	dl_route_options_init(&options);
	options.mode = w->any_sl ? DL_ROUTE_ANY_SL : DL_ROUTE_PROVEN;
	options.ties = w->ties;
	return options;
}

static int try_proven(struct worker *k, const struct dl_torus *t, struct dl_route_result *out)
{
	struct whatif_outcome *o = k->outcome;
	const struct dl_log log = { .write = keep_reason, .context = o };
	const struct dl_route_report *report = &out->report;
	struct dl_route_options options = whatif_options(k->w);
	int err = dl_route(t, k->w->whole.config, &options, &log, out);
	whatif_charge(k, WHATIF_PROVEN);
	if (err)
		return err == -ENOMEM ? err : 0;
	o->proven = true;
	o->entries = report->entries;
	o->changed = report->entries_changed;
	o->filled = report->entries_filled;
	o->moved = report->moved;
	o->tree_routed = report->tree_routed;
	o->repaired = o->changed || o->filled || o->moved;
	*o->reason = '\0';
	return 0;
}

/* Wait for classic mode, and verify its tables unless that is done. */
static int end_classic(struct worker *k, struct background *b, struct classic *c,
		       const struct dl_route_result *proven)
{
	struct whatif_outcome *o = k->outcome;
	int err = background_end(b);

	whatif_charge(k, WHATIF_CLASSIC);
	o->seconds[WHATIF_CLASSIC] += b->seconds;
	if (!err && campaign_is_interrupted())
		err = -ECANCELED;
	if (err)
		return err;
	o->accepted = c->accepted;
	if (o->accepted && !c->verified && o->proven && dl_route_same_result(&c->routed, proven))
		c->safe = true;
	else if (o->accepted && !c->verified)
		err = verify_classic(c);
	o->safe = c->safe;
	whatif_charge(k, WHATIF_VERIFY);
	return !err && campaign_is_interrupted() ? -ECANCELED : err;
}

/* All modes, and what follows from their tables.  `cold`: coordinates are found by seeds. */
static int try_modes(struct worker *k, const struct dl_torus *t, bool cold, uint64_t item)
{
	struct whatif_outcome *o = k->outcome;
	struct classic c = { .w = k->w, .torus = cold ? t : NULL };
	struct background classic = { .run = try_classic, .context = &c };
	struct whatif_repair repair = { .w = k->w, .out = &o->transition[WHATIF_REPAIR] };
	struct dl_route_result proven = { 0 };
	int err;

	/* Else what repair takes is free again before the other mode's tables are there. */
	background_start(&classic, k->w->has_spare);
	err = try_proven(k, t, &proven);
	if (!err && campaign_is_interrupted())
		err = -ECANCELED;
	if (!err)
		err = end_classic(k, &classic, &c, &proven);
	if (!err && k->w->transitions && proven.tables)
		err = whatif_transitions_start(&repair, &proven);
	whatif_charge(k, WHATIF_TRANSITION);
	if (!err && c.routed.tables && proven.tables)
		err = compare_load(c.routed.tables, proven.tables, o);
	whatif_charge(k, WHATIF_LOAD);
	if (!err && k->w->transitions && proven.tables)
		err = whatif_transitions(&repair, &k->failures, item, o);
	whatif_charge(k, WHATIF_TRANSITION);
	background_drop(&classic);
	background_drop(&repair.background);
	dl_route_result_release(&c.routed);
	dl_route_result_release(&proven);
	return err;
}

/*
 * Where no seed is left, a running engine has the coordinates of before; classic mode, which
 * knows nothing of these, refuses.
 */
int whatif_discover(const struct whatif *w, const struct dl_fabric *f, const struct dl_log *log,
		    bool *cold, struct dl_torus **out)
{
	int err = dl_torus_discover(f, w->whole.config, log, out);

	*cold = err != -EINVAL;
	return *cold ? err : dl_torus_discover_again(f, w->whole.config, w->whole.torus, log, out);
}

/* A scenario that is connected. */
static int look_at(struct worker *k, const struct dl_fabric *f, uint64_t item)
{
	struct whatif_outcome *o = k->outcome;
	const struct dl_log log = { .write = keep_reason, .context = o };
	struct dl_torus *t = NULL;
	bool cold;
	int err = whatif_discover(k->w, f, &log, &cold, &t);

	whatif_charge(k, WHATIF_DISCOVER);
	if (!err && campaign_is_interrupted())
		err = -ECANCELED;
	if (!err) {
		*o->reason = '\0';
		/* Beyond the off-torus switches of the whole fabric. */
		if (t->nunplaced > k->w->whole.torus->nunplaced)
			o->unplaced = t->nunplaced - k->w->whole.torus->nunplaced;
		err = try_modes(k, t, cold, item);
	} else if (err != -ECANCELED && err != -ENOMEM) {
		err = 0;
	}
	dl_torus_free(t);
	return err;
}

static int run_one(void *context, uint64_t item, void *result)
{
	struct worker *k = context;
	struct dl_fabric *f = NULL;
	int err;

	k->outcome = result;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &k->mark);
	whatif_failures_draw(&k->failures, k->w, item);
	err = dl_fabric_degrade(k->w->whole.fabric, k->failures.dead, k->failures.cut, &f);
	if (err)
		return err;
	err = dl_fabric_is_connected(f);
	k->outcome->connected = err == 1;
	whatif_charge(k, WHATIF_DEGRADE);
	if (err == 1)
		err = look_at(k, f, item);
	dl_fabric_free(f);
	return err;
}

static void whatif_stop(void *context)
{
	struct worker *k = context;

	whatif_failures_release(&k->failures);
	free(k);
}

static int whatif_start(void *shared, void **worker)
{
	struct worker *k = calloc(1, sizeof(*k));
	int err;

	if (!k)
		return -ENOMEM;
	k->w = shared;
	err = whatif_failures_init(&k->failures, k->w);
	if (err)
		whatif_stop(k);
	else
		*worker = k;
	return err;
}

/* ---- all of them --------------------------------------------------------- */

/* Without a configuration: as if one had been written for the whole fabric. */
static int whatif_describe(struct tool_input *whole)
{
	struct dl_torus_config *c;
	int err = dl_torus_describe(whole->torus, MAX_SEEDS, &c);

	if (err)
		return err;
	dl_torus_config_free(whole->config);
	whole->config = c;
	return 0;
}

/*
 * As many threads as there are cores, and as MOST_BYTES or a sixteenth of the
 * machine's memory holds.  By measurement one takes up to seven times what tables
 * take: two sets, path SLs, and what repair keeps by pair of switches.
 */
static unsigned int default_threads(const struct whatif *w)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 16;
	uint64_t each = dl_tables_bytes(w->whole.fabric) * (w->transitions ? 11 : 7);
	uint64_t n = (memory > MOST_BYTES ? memory : MOST_BYTES) / (each + 1);

	return n < 1 ? 1 : n < campaign_cores() ? n : campaign_cores();
}

static int whatif_run_all(const struct tool *tool, struct request *r, int *status)
{
	struct whatif *w = &r->w;
	struct whatif_outcome *outcomes = calloc(w->nitems + 1, sizeof(*outcomes));
	bool *done = calloc(w->nitems + 1, sizeof(*done)), interrupted = false;
	struct campaign c = {
		.nitems = w->nitems,
		.result_size = sizeof(*outcomes),
		.threads = r->threads ? r->threads : default_threads(w),
		.shared = w,
		.start = whatif_start,
		.stop = whatif_stop,
		.run = run_one,
	};
	int err = outcomes && done ? 0 : -ENOMEM;
	double start_time, seconds;
	uint64_t judged = 0;

	if (tool_shows_progress(tool) && campaign_is_leader())
		c.shown = "scenarios";
	start_time = dl_clock_monotonic();
	w->has_spare = w->nitems == 1 && c.threads > 1;
	if (!err)
		err = whatif_transitions_begin(w);
	if (!err)
		err = campaign_run(&c, outcomes, done, &interrupted);
	if (!err && !interrupted)
		err = background_end(&w->route_whole);
	seconds = dl_clock_monotonic() - start_time;
	for (uint64_t i = 0; !err && i < w->nitems; i++) {
		if (!done[i] || !outcomes[i].connected)
			continue;
		judged++;
		if (!outcomes[i].proven || whatif_is_unsafe(&outcomes[i]))
			*status = TOOL_EXIT_FINDING;
	}
	if (!err && campaign_is_leader())
		err = whatif_print(tool, w, outcomes, done, seconds, interrupted);
	if (!err && !judged && !interrupted && campaign_is_leader()) {
		dl_log(&tool->log, DL_LOG_ERROR,
		       "nothing was judged: no scenario leaves a connected fabric");
		*status = TOOL_EXIT_USAGE;
	}
	/* What was not tried may still hold a finding. */
	if (interrupted && *status == TOOL_EXIT_GOOD)
		*status = TOOL_EXIT_USAGE;
	campaign_exit(err ? (int)tool_exit_status(err) : *status);
	free(outcomes);
	free(done);
	return err;
}

/* With --fail, the rest is routed as the snapshot was, unless options say how. */
static void whatif_follow_snapshot(struct request *r)
{
	const char *mode = r->w.whole.snapshot.about.mode;

	if (r->mode < 0)
		r->w.any_sl = !strncmp(mode, "any-sl", strlen("any-sl"));
	if (!r->w.ties && strstr(mode, "-balanced"))
		r->w.ties = DL_ROUTE_TIES_BALANCED;
	r->input.one_vl = r->w.any_sl;
}

int tool_cmd_whatif(struct tool *tool, int argc, char **argv)
{
	struct request r = { .w = { .seed = 1, .worst = 10 }, .mode = -1 };
	int err, status = TOOL_EXIT_GOOD;

	tool_options(tool, &usage, argc, argv, &r);
	r.input.one_vl = r.w.any_sl = r.mode == 1;
	err = tool_input_read(tool, &r.input, TOOL_INPUT_PART, &r.w.whole);
	if (!err && !r.input.config)
		err = whatif_describe(&r.w.whole);
	if (!err)
		err = dl_fabric_assign_lids(r.w.whole.fabric, 0);
	if (!err && r.fail.n) {
		whatif_follow_snapshot(&r);
		if (campaign_is_leader()) /* the other processes have nothing to do */
			err = whatif_named(tool, &r.w, &r.input, &r.fail, r.scenario);
	} else if (!err) {
		err = whatif_plan(&r.w, r.samples, &tool->log);
		err = err ? err : whatif_run_all(tool, &r, &status);
	}
	whatif_release(&r.w);
	tool_names_release(&r.fail);
	return err ? (int)tool_exit_status(err) : status;
}
