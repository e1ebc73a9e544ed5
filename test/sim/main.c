/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * sim [OPTION]...: a subnet manager on a fabric in virtual time (README.md).
 *
 * Exit status 0: nothing was found; 1: something was; 3: the rig could not run.
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim.h"

const char *const sim_finding_names[SIM_FINDINGS] = {
	[SIM_LOOP] = "credit loop",
	[SIM_CIRCLE] = "packets in a circle",
	[SIM_REVISED] = "VL changed under way",
	[SIM_LOST] = "pair lost",
	[SIM_SL] = "granted SL changed",
	[SIM_PATHS_OF] = "table of paths wrong",
	[SIM_UNPROVEN] = "not proven",
	[SIM_PAIRS] = "interrupted pairs miscounted",
	[SIM_SLOW] = "query unanswered",
	[SIM_TABLES] = "tables wrong",
	[SIM_AVOIDED] = "avoided, but used",
	[SIM_HUNG] = "hung",
	[SIM_LEAK] = "memory grows",
	[SIM_ENDED] = "ended by itself",
	[SIM_DEFECT] = "defect logged",
	[SIM_TWIN] = "judge at odds with the verifier",
};

double sim_seconds(const struct sim *sim)
{
	return (double)(sim->now - SIM_EPOCH) / SIM_SECOND;
}

void sim_say(struct sim *sim, const char *format, ...)
{
	va_list args;

	fprintf(sim->out, "%12.6f ", sim_seconds(sim));
	va_start(args, format);
	vfprintf(sim->out, format, args);
	va_end(args);
	fputc('\n', sim->out);
}

void sim_find(struct sim *sim, enum sim_finding what, const char *format, ...)
{
	va_list args;

	if (sim->found[what]++ >= 3)
		return;
	fprintf(sim->out, "%12.6f FOUND %s: ", sim_seconds(sim), sim_finding_names[what]);
	va_start(args, format);
	vfprintf(sim->out, format, args);
	va_end(args);
	fputc('\n', sim->out);
	fflush(sim->out);
}

void sim_die(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "sim: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(3);
}

void *sim_alloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		sim_die("no memory");
	return p;
}

/* ---- options ------------------------------------------------------------------- */

enum {
	OPTION_TORUS = 256,
	OPTION_GROW,
	OPTION_NETLIST,
	OPTION_TORUS_CONFIG,
	OPTION_PORTS,
	OPTION_PARALLEL,
	OPTION_ENGINE,
	OPTION_MODE,
	OPTION_SEED,
	OPTION_EVENTS,
	OPTION_SMS,
	OPTION_GAP,
	OPTION_SETTLE,
	OPTION_WITHIN,
	OPTION_STAY,
	OPTION_BUILD,
	OPTION_PLUGIN,
	OPTION_OPENSM,
	OPTION_DIR,
	OPTION_KEEP,
	OPTION_BARE,
	OPTION_RAISE,
	OPTION_PLAIN,
	OPTION_ENHANCED,
	OPTION_MORE,
	OPTION_QUERIES,
	OPTION_TABLES,
	OPTION_PLUGIN_OPTIONS,
	OPTION_RECORD,
	OPTION_OPENSM_OPTIONS,
	OPTION_CONFIG,
	OPTION_PREEMPT,
	OPTION_STALL
};

static const struct option options[] = {
	{ "torus", required_argument, NULL, OPTION_TORUS },
	{ "netlist", required_argument, NULL, OPTION_NETLIST },
	{ "torus-config", required_argument, NULL, OPTION_TORUS_CONFIG },
	{ "grow", required_argument, NULL, OPTION_GROW },
	{ "ports", required_argument, NULL, OPTION_PORTS },
	{ "parallel", required_argument, NULL, OPTION_PARALLEL },
	{ "engine", required_argument, NULL, OPTION_ENGINE },
	{ "mode", required_argument, NULL, OPTION_MODE },
	{ "seed", required_argument, NULL, OPTION_SEED },
	{ "events", required_argument, NULL, OPTION_EVENTS },
	{ "sms", required_argument, NULL, OPTION_SMS },
	{ "gap", required_argument, NULL, OPTION_GAP },
	{ "settle", required_argument, NULL, OPTION_SETTLE },
	{ "within", required_argument, NULL, OPTION_WITHIN },
	{ "stay", required_argument, NULL, OPTION_STAY },
	{ "build", required_argument, NULL, OPTION_BUILD },
	{ "plugin", required_argument, NULL, OPTION_PLUGIN },
	{ "opensm", required_argument, NULL, OPTION_OPENSM },
	{ "dir", required_argument, NULL, OPTION_DIR },
	{ "keep", no_argument, NULL, OPTION_KEEP },
	{ "bare", required_argument, NULL, OPTION_BARE },
	{ "raise", required_argument, NULL, OPTION_RAISE },
	{ "plain", required_argument, NULL, OPTION_PLAIN },
	{ "enhanced", required_argument, NULL, OPTION_ENHANCED },
	{ "more", required_argument, NULL, OPTION_MORE },
	{ "queries", required_argument, NULL, OPTION_QUERIES },
	{ "tables", required_argument, NULL, OPTION_TABLES },
	{ "plugin-options", required_argument, NULL, OPTION_PLUGIN_OPTIONS },
	{ "opensm-options", required_argument, NULL, OPTION_OPENSM_OPTIONS },
	{ "record", required_argument, NULL, OPTION_RECORD },
	{ "config", required_argument, NULL, OPTION_CONFIG },
	{ "preempt", required_argument, NULL, OPTION_PREEMPT },
	{ "stall", required_argument, NULL, OPTION_STALL },
	{ "verbose", no_argument, NULL, 'v' },
	{ NULL, 0, NULL, 0 },
};

static char *join_path(const char *dir, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		sim_die("no memory");
	return path;
}

/* A script names files as they lie beside it. */
static const char *find_file(const struct sim_options *o, const char *name)
{
	const char *slash = o->script ? strrchr(o->script, '/') : NULL;
	char *beside, *path = realpath(name, NULL);

	if (!path && slash) {
		if (asprintf(&beside, "%.*s/%s", (int)(slash - o->script), o->script, name) < 0)
			sim_die("no memory");
		path = realpath(beside, NULL);
		free(beside);
	}
	if (!path)
		sim_die("%s: %s", name, strerror(errno));
	return path;
}

static void set_option(struct sim_options *o, int option, const char *value)
{
	switch (option) {
	case OPTION_TORUS:
		o->torus = strdup(value);
		break;
	case OPTION_NETLIST:
		o->netlist = find_file(o, value);
		break;
	case OPTION_TORUS_CONFIG:
		o->netlist_config = find_file(o, value);
		break;
	case OPTION_GROW:
		o->grow = strdup(value);
		break;
	case OPTION_PARALLEL:
		o->parallel = (uint32_t)strtoul(value, NULL, 0);
		break;
	case OPTION_PORTS:
		o->ports = (uint32_t)strtoul(value, NULL, 0);
		break;
	case OPTION_ENGINE:
		o->engine = strdup(value);
		break;
	case OPTION_MODE:
		o->mode = strdup(value);
		break;
	case OPTION_SEED:
		o->seed = strtoull(value, NULL, 0);
		break;
	case OPTION_EVENTS:
		o->events = (uint32_t)strtoul(value, NULL, 0);
		break;
	case OPTION_SMS:
		o->sms = (uint32_t)strtoul(value, NULL, 0);
		break;
	case OPTION_GAP:
		o->gap_ms = (uint32_t)strtoul(value, NULL, 0);
		break;
	case OPTION_SETTLE:
		o->settle_every = (uint32_t)strtoul(value, NULL, 0);
		break;
	case OPTION_WITHIN:
		o->within_s = (uint32_t)strtoul(value, NULL, 0);
		break;
	case OPTION_STAY:
		o->stay_ms = strcmp(value, "switch") ? strtol(value, NULL, 0) : -1;
		break;
	case OPTION_QUERIES:
		o->queries_ms = (uint32_t)strtoul(value, NULL, 0);
		break;
	case OPTION_TABLES:
		o->tables_ms = (uint32_t)strtoul(value, NULL, 0);
		break;
	case OPTION_PREEMPT:
		o->preempt = (uint32_t)strtoul(value, NULL, 0);
		break;
	case OPTION_BARE:
		o->bare = strtoul(value, NULL, 0) != 0;
		break;
	case OPTION_RAISE:
		o->raise = strtoul(value, NULL, 0) != 0;
		break;
	case OPTION_PLAIN:
		o->plain = strtoul(value, NULL, 0) != 0;
		break;
	case OPTION_ENHANCED:
		o->enhanced = strtoul(value, NULL, 0) != 0;
		break;
	case OPTION_MORE:
		o->more = strdup(value);
		break;
	case OPTION_STALL:
		o->stall = (uint32_t)strtoul(value, NULL, 0);
		break;
	case OPTION_PLUGIN_OPTIONS:
		o->plugin_options = strdup(value);
		break;
	case OPTION_OPENSM_OPTIONS:
		o->opensm_options = strdup(value);
		break;
	case OPTION_CONFIG:
		o->config = realpath(value, NULL);
		if (!o->config)
			sim_die("%s: %s", value, strerror(errno));
		break;
	}
}

static bool set_place(struct sim_options *o, int option, const char *value)
{
	switch (option) {
	case OPTION_BUILD:
		o->build = realpath(value, NULL);
		break;
	case OPTION_PLUGIN:
		o->plugin_dir = realpath(value, NULL);
		break;
	case OPTION_OPENSM:
		o->opensm = realpath(value, NULL);
		break;
	case OPTION_DIR:
		if (mkdir(value, 0755) && errno != EEXIST)
			return false;
		o->dir = realpath(value, NULL);
		break;
	case OPTION_RECORD:
		o->record = fopen(value, "w");
		if (!o->record)
			sim_die("%s: %s", value, strerror(errno));
		break;
	case OPTION_KEEP:
		o->keep = true;
		break;
	case 'v':
		o->verbose++;
		break;
	default:
		return false;
	}
	return true;
}

/* Settings at the head of a script: an option's name, and its value. */
static void read_settings(struct sim_options *o, const char *path)
{
	char line[256], word[64], value[160];
	FILE *f = fopen(path, "r");

	if (!f)
		sim_die("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), f) && line[0] != '+') {
		const struct option *option = options;

		if (sscanf(line, "%63s %159[^\n]", word, value) != 2 || word[0] == '#')
			continue;
		while (option->name && strcmp(option->name, word))
			option++;
		if (!option->name)
			sim_die("%s: no such setting: %s", path, word);
		set_option(o, option->val, value);
	}
	fclose(f);
}

static void read_options(struct sim_options *o, int argc, char **argv)
{
	int option;

	*o = (struct sim_options){
		.torus = "6x5x1",
		.ports = 8,
		.parallel = 1,
		.engine = "dateline",
		.mode = "proven",
		.opensm = "/usr/sbin/opensm",
		.seed = 1,
		.events = 100,
		.sms = 1,
		.gap_ms = 150,
		.settle_every = 10,
		.within_s = 600,
		.stay_ms = 0,
		.more = "",
		.preempt = 20,
		.queries_ms = 500,
	};
	while ((option = getopt_long(argc, argv, "v", options, NULL)) != -1) {
		if (option == '?')
			exit(2);
		if (!set_place(o, option, optarg))
			set_option(o, option, optarg);
	}
	if (optind < argc) {
		o->script = argv[optind];
		read_settings(o, o->script);
		optind = 1;
		/* What the command line says, goes before. */
		while ((option = getopt_long(argc, argv, "v", options, NULL)) != -1)
			set_option(o, option, optarg);
	}
	if (!o->build || !o->dir)
		sim_die("--build and --dir are needed");
	if (!o->plugin_dir)
		o->plugin_dir = join_path(o->build, "plugin");
	o->shim = join_path(o->build, "test/sim/sm.so");
	if (!o->sms || o->sms > SIM_MOST_SMS)
		sim_die("1 to %d subnet managers", SIM_MOST_SMS);
	o->any_sl = !strcmp(o->engine, "dateline") && !strcmp(o->mode, "any-sl");
	o->promises = !strcmp(o->engine, "dateline") && strcmp(o->mode, "classic");
}

/* What the user gives: without torus_config coordinates come from the cabling. */
static void take_netlist(struct sim_options *o)
{
	char *command;

	if (asprintf(&command, "rm -rf '%s'/sm[0-9]", o->dir) < 0)
		sim_die("no memory");
	if (system(command))
		sim_die("failed: %s", command);
	free(command);
	o->net = o->netlist;
	o->torus_config = o->netlist_config;
	o->bare |= !o->torus_config;
}

/* A clean directory, with a fabric and its configuration written by the command. */
static void generate(struct sim_options *o)
{
	char *command, x[16], y[16], z[16];
	int status;

	if (sscanf(o->torus, "%15[0-9]x%15[0-9]x%15[0-9]", x, y, z) != 3)
		sim_die("no torus: %s", o->torus);
	if (asprintf(&command,
		     "rm -rf '%s'/sm[0-9] && '%s/dateline' gen %s %s %s --parallel %u -o "
		     "'%s/fabric' "
		     "2>'%s/gen.log' && "
		     "sed -i 's/^Switch\t36/Switch\t%u/' '%s/fabric.net'",
		     o->dir, o->build, x, y, z, o->parallel, o->dir, o->dir, o->ports, o->dir) < 0)
		sim_die("no memory");
	status = system(command);
	if (status)
		sim_die("failed: %s", command);
	free(command);
	o->net = join_path(o->dir, "fabric.net");
	o->torus_config = join_path(o->dir, "fabric.torus.conf");
}

/* ---- a run --------------------------------------------------------------------- */

static bool is_host(const struct sim *sim, const struct sim_node *n)
{
	return !n->is_switch && !n->absent && sim_is_live(sim_port_at(sim, n, 1));
}

/* Subnet managers on hosts that lie apart. */
static void start_all(struct sim *sim)
{
	uint32_t nhosts = 0, number = 0, seen = 0;

	for (uint32_t i = 0; i < sim->nnodes; i++)
		nhosts += is_host(sim, &sim->nodes[i]);
	sim->nsms = sim->o.sms;
	for (uint32_t i = 0; i < sim->nnodes && number < sim->nsms; i++) {
		if (!is_host(sim, &sim->nodes[i]) || seen++ != number * nhosts / sim->nsms)
			continue;
		sim->sms[number].node = i;
		if (!number)
			sim_process_start(sim, number, i); /* the others stand by: script.c */
		number++;
	}
}

static void write_script(const struct sim *sim)
{
	const struct sim_options *o = &sim->o;
	char *path = join_path(o->dir, "script");
	FILE *f = fopen(path, "w");

	if (!f)
		sim_die("%s: %s", path, strerror(errno));
	fprintf(f,
		"torus %s\nports %u\nparallel %u\nengine %s\nmode %s\nseed %" PRIu64
		"\nsms %u\nqueries %u\ntables %u\nbare %d\nraise %d\nplain %d\nenhanced %d\n",
		o->torus, o->ports, o->parallel, o->engine, o->mode, o->seed, o->sms, o->queries_ms,
		o->tables_ms, o->bare, o->raise, o->plain, o->enhanced);
	if (o->stay_ms < 0)
		fprintf(f, "stay switch\n");
	else if (o->stay_ms)
		fprintf(f, "stay %" PRId64 "\n", (int64_t)o->stay_ms);
	if (o->netlist)
		fprintf(f, "netlist %s\n", o->netlist);
	if (o->netlist_config)
		fprintf(f, "torus-config %s\n", o->netlist_config);
	if (o->grow)
		fprintf(f, "grow %s\n", o->grow);
	if (o->plugin_options)
		fprintf(f, "plugin-options %s\n", o->plugin_options);
	if (o->more[0])
		fprintf(f, "more %s\n", o->more);
	if (o->opensm_options)
		fprintf(f, "opensm-options %s\n", o->opensm_options);
	sim_script_write(sim->script, f);
	fclose(f);
	free(path);
}

static int report(struct sim *sim)
{
	uint64_t all = 0;

	for (unsigned int i = 0; i < SIM_FINDINGS; i++) {
		all += sim->found[i];
		if (sim->found[i])
			fprintf(sim->out, "found: %s: %" PRIu64 "\n", sim_finding_names[i],
				sim->found[i]);
	}
	if (sim->o.avoid)
		fprintf(sim->out,
			"out of use: %" PRIu64 " called safe, %" PRIu64
			" times all back as before\n",
			sim->avoid.said, sim->avoid.compared);
	fprintf(sim->out,
		"%u events in %.3f virtual s, %" PRIu64 " MADs, %" PRIu64 " lost, %" PRIu64
		" changes of tables, %" PRIu64 " unproven, %" PRIu64
		" unsafe moments of those, pairs interrupted: %" PRIu64 " stated, %" PRIu64
		" seen, %" PRIu64 " of adapters, compared %" PRIu64 " times; %" PRIu64
		" of %" PRIu64 " queries answered (%" PRIu64
		" refusals), the slowest after %.3f s; %" PRIu64 " tables of %" PRIu64
		" with %" PRIu64 " paths; settled %u of %u times, the slowest "
		"in %.3f s, %u times without a host that was not asked to join again, %u "
		"tried at a desk; hash "
		"%016" PRIx64 "; %" PRIu64 " findings\n",
		sim->script->random ? sim->script->drawn : sim->script->n, sim_seconds(sim),
		sim->sent, sim->lost, sim->transitions, sim->unproven, sim->admitted,
		sim->pairs_said, sim->pairs_seen, sim->pairs_of_adapters, sim->compared,
		sim->answered, sim->asked, sim->refused, (double)sim->slowest / SIM_SECOND,
		sim->tables, sim->tables_asked, sim->records, sim->settled,
		sim->settled + sim->unsettled, (double)sim->slowest_settling / SIM_SECOND,
		sim->not_joined, sim->desks, sim->hash, all);
	return all != 0;
}

/* One process runs at a time: a turn is passed on fastest on one processor. */
static void stay_on_processor(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
}

int main(int argc, char **argv)
{
	struct sim_script script = { 0 };
	struct sim sim = { .now = SIM_EPOCH, .out = stdout, .script = &script };
	int status;

	read_options(&sim.o, argc, argv);
	stay_on_processor();
	if (sim.o.netlist)
		take_netlist(&sim.o);
	else
		generate(&sim.o);
	if (sim.o.grow)
		sim.o.net = sim_grow_plan(&sim.o);
	sim.random_net = sim.o.seed * 2 + 1;
	sim.random_script = sim.o.seed * 3 + 2;
	if (sim.o.script)
		sim_script_read(&script, sim.o.script);
	else
		script.random = true;
	sim.o.avoid = strstr(sim.o.more, "avoid") || sim_script_has(&script, SIM_STEP_AVOID);
	if (sim.o.avoid)
		sim_avoid_write(&sim);
	sim_nodes_load(&sim);
	sim_judge_new(&sim);
	start_all(&sim);
	sim_process_run(&sim);
	sim_process_end(&sim);
	if (sim.o.record && fclose(sim.o.record))
		sim_die("cannot write what is recorded");
	write_script(&sim);
	status = report(&sim);
	return status;
}
