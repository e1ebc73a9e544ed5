/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The subnet managers' processes, and whose turn it is (share.h).
 *
 * One run has to be like another: a subnet manager starts in a directory of its
 * own with a fixed environment, relative names and addresses that are not
 * randomised.  Exactly one process runs at any moment.  What is to happen next is
 * the earliest of the events and of the subnet managers' deadlines.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "judge.h"
#include "sim.h"

#define PATIENCE 120 /* seconds of the wall clock that a turn may take */
#define PROCESSORS 3
#define TOP_PRIORITY 10
#define MOST_GROWTH 16384 /* bytes between two measurements */
/* Memory that is given back and asked for again at each sweep costs time. */
#define MALLOC_KEEPS                                             \
	"GLIBC_TUNABLES=glibc.malloc.trim_threshold=1073741824:" \
	"glibc.malloc.mmap_threshold=1073741824:glibc.malloc.top_pad=16777216"
#define COALESCE (25 * SIM_US) /* MADs that come one soon after the other come in one turn */
#define START_BOUND (SIM_EPOCH + 600 * SIM_SECOND) /* until all that answers has been asked */

/* ---- a process begins --------------------------------------------------------- */

static void link_to(const char *target, const char *name)
{
	char *path = realpath(target, NULL);

	if (!path)
		sim_die("%s: %s", target, strerror(errno));
	unlink(name);
	if (symlink(path, name))
		sim_die("%s: %s", name, strerror(errno));
	free(path);
}

/*
 * Several modes, separated by commas, are those of the subnet managers in turn; so are
 * several sets of lines, separated by bars.
 */
static const char *part_of(const char *all, uint32_t number, const char *separator, int *length)
{
	const char *next;

	while (number-- && (next = strchr(all, *separator)))
		all = next + 1;
	*length = (int)strcspn(all, separator);
	return all;
}

/* Lines that stand in one, separated by semicolons. */
static void write_lines(const char *lines, int length, FILE *to)
{
	for (int i = 0; i < length; i++)
		fputc(lines[i] == ';' ? '\n' : lines[i], to);
	fputc('\n', to);
}

static bool is_any_sl(const struct sim_options *o, uint32_t number)
{
	int length;
	const char *mode = part_of(o->mode, number, ",", &length);

	return length == 6 && !strncmp(mode, "any-sl", 6);
}

static void write_config(const struct sim *sim, uint32_t number)
{
	const struct sim_options *o = &sim->o;
	FILE *f = fopen("opensm.conf", "w"), *more;
	const char *mode, *lines;
	char line[1024];
	int length;

	if (!f)
		sim_die("opensm.conf: %s", strerror(errno));
	mode = part_of(o->mode, number, ",", &length);
	fprintf(f, "qos TRUE\nforce_log_flush TRUE\nrouting_engine %s,no_fallback\n", o->engine);
	fprintf(f, "sminfo_polling_timeout 1000\npolling_retry_number 2\n");
	if (!o->bare)
		fprintf(f, "torus_config torus.conf\n");
	if (!strcmp(o->engine, "dateline"))
		fprintf(f, "event_plugin_name osmdateline\nevent_plugin_options mode=%.*s%s%s%s\n",
			length, mode, o->avoid ? " avoid=../avoid" : "",
			o->plugin_options ? " " : "", o->plugin_options ? o->plugin_options : "");
	lines = o->opensm_options ? part_of(o->opensm_options, number, "|", &length) : NULL;
	if (lines)
		write_lines(lines, length, f);
	more = o->config ? fopen(o->config, "r") : NULL;
	while (more && fgets(line, sizeof(line), more))
		fputs(line, f);
	if (more)
		fclose(more);
	fclose(f);
}

/* In the directory that is to be the subnet manager's. */
static void prepare_directory(const struct sim *sim, uint32_t number)
{
	char name[PATH_MAX];

	write_config(sim, number);
	if (!sim->o.bare)
		link_to(sim->o.torus_config, "torus.conf");
	link_to(sim->o.shim, "sm.so");
	snprintf(name, sizeof(name), "%s/libosmdateline.so", sim->o.plugin_dir);
	link_to(name, "libosmdateline.so");
}

void sim_process_configure(struct sim *sim, const char *name)
{
	char path[PATH_MAX], link[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", sim->o.dir, name);
	sim->o.torus_config = strdup(path);
	for (uint32_t i = 0; i < sim->nsms && !sim->o.bare; i++) {
		snprintf(link, sizeof(link), "%s/sm%u/torus.conf", sim->o.dir, i);
		if (sim->sms[i].run)
			link_to(path, link);
	}
}

static void run_program(const struct sim *sim, uint32_t sm, int fd)
{
	char priority[16], *const environment[] = { "LD_PRELOAD=./sm.so",
						    "LD_LIBRARY_PATH=.",
						    "OSM_TMP_DIR=.",
						    "OSM_CACHE_DIR=.",
						    "TZ=UTC",
						    "LC_ALL=C",
						    MALLOC_KEEPS,
						    NULL };
	char *const arguments[] = { "opensm", "-F",   "opensm.conf", "-f",     "osm.log",
				    "-D",     "0x03", "-p",	     priority, NULL };
	int null = open("/dev/null", O_RDONLY);
	int out = open("output", O_WRONLY | O_CREAT | O_APPEND, 0644);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (null < 0 || out < 0 || dup2(fd, SIM_SHARE_FD) < 0 || dup2(null, 0) < 0 ||
	    dup2(out, 1) < 0 || dup2(out, 2) < 0)
		_exit(126);
	syscall(SYS_close_range, 3, SIM_SHARE_FD - 1, 0);
	syscall(SYS_close_range, SIM_SHARE_FD + 1, INT_MAX, 0);
	personality(ADDR_NO_RANDOMIZE);
	snprintf(priority, sizeof(priority), "%u", TOP_PRIORITY - sm);
	execve(sim->o.opensm, arguments, environment);
	_exit(127);
}

static void fill_share(struct sim *sim, struct sim_sm *sm, uint32_t number)
{
	struct sim_share *s = sm->share;
	struct sim_node *n = &sim->nodes[sm->node];

	s->now = sim->now;
	s->seed = sim->o.seed * 64 + number * 16 + sm->run;
	s->preempt = sim->o.preempt;
	s->stall = sim->o.stall;
	s->processors = PROCESSORS;
	s->keep_log = sim->o.keep;
	s->port.node_guid = n->guid;
	s->port.port_guid = n->guid + 1;
	s->ready = true;
}

void sim_process_start(struct sim *sim, uint32_t number, uint32_t node)
{
	struct sim_sm *sm = &sim->sms[number];
	char dir[PATH_MAX];
	int fd = memfd_create("sim", 0), here = open(".", O_RDONLY | O_DIRECTORY);

	if (fd < 0 || here < 0 || ftruncate(fd, sizeof(*sm->share)))
		sim_die("no shared memory: %s", strerror(errno));
	sm->share = mmap(NULL, sizeof(*sm->share), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (sm->share == MAP_FAILED)
		sim_die("no shared memory: %s", strerror(errno));
	sm->node = node;
	sm->any_sl = is_any_sl(&sim->o, number);
	sm->run++;
	sm->last_up = 0;
	sm->sweep_at = sm->last_sent = sim->now;
	sim->nodes[node].sm = (int)number;
	fill_share(sim, sm, number);
	snprintf(dir, sizeof(dir), "%s/sm%u", sim->o.dir, number);
	if ((mkdir(dir, 0755) && errno != EEXIST) || chdir(dir))
		sim_die("%s: %s", dir, strerror(errno));
	prepare_directory(sim, number);
	fflush(NULL);
	sm->pid = fork();
	if (!sm->pid)
		run_program(sim, number, fd);
	if (fchdir(here))
		sim_die("cannot return to the working directory");
	close(here);
	close(fd);
}

/* ---- and ends ----------------------------------------------------------------- */

static void bury(struct sim *sim, struct sim_sm *sm)
{
	sim_end_port(sim, &sim->nodes[sm->node], 1)->info.capability_mask &= ~IB_PORT_CAP_IS_SM;
	sim_carry_forget(sim, sm);
	sim->nodes[sm->node].sm = -1;
	munmap(sm->share, sizeof(*sm->share));
	sm->share = NULL;
	sm->pid = 0;
	sm->paused = false;
	sm->failed = 0;
	sm->heap = 0;
}

void sim_process_kill(struct sim *sim, uint32_t number)
{
	struct sim_sm *sm = &sim->sms[number];

	if (!sm->pid)
		return;
	kill(sm->pid, SIGKILL);
	waitpid(sm->pid, NULL, 0);
	bury(sim, sm);
	/* Nobody will say whether the change that it was at was proven. */
	sim_log_flush(sim, true);
	sim->clean = false;
}

void sim_process_end(struct sim *sim)
{
	for (uint32_t i = 0; i < sim->nsms; i++)
		sim_process_kill(sim, i);
}

static void ended_by_itself(struct sim *sim, struct sim_sm *sm, int status)
{
	uint32_t number = (uint32_t)(sm - sim->sms);

	sm->share->ended = true;
	if (WIFSIGNALED(status))
		sim_find(sim, SIM_ENDED, "sm%u: signal %d", number, WTERMSIG(status));
	else
		sim_find(sim, SIM_ENDED, "sm%u: exit status %d", number, WEXITSTATUS(status));
	bury(sim, sm);
	sim->over = true;
}

/* ---- turns -------------------------------------------------------------------- */

void sim_process_deliver(struct sim *sim, uint32_t number, struct sim_msg *m, int agent)
{
	struct sim_msg **last = &sim->sms[number].waiting;

	if (!*last)
		sim->sms[number].wake_at = sim->now + COALESCE;
	m->mad.agent = agent;
	m->next = NULL;
	while (*last)
		last = &(*last)->next;
	*last = m;
}

static void hand_over_mads(struct sim *sim, struct sim_sm *sm)
{
	struct sim_share *s = sm->share;
	struct sim_msg *m;

	while ((m = sm->waiting) && s->nin < SIM_QUEUE) {
		sm->waiting = m->next;
		s->in[s->nin++] = m->mad;
		/* What has timed out is nobody's now. */
		sim_msg_free(sim, m);
	}
}

/* Returns false if the process has ended in its turn. */
static bool wait_for_turn(struct sim *sim, struct sim_sm *sm)
{
	struct timespec second = { 1, 0 };
	unsigned int waited = 0;
	int status;

	while (!sim_turn_wait(sm->share, SIM_TURN_DRIVER, &second)) {
		if (waitpid(sm->pid, &status, WNOHANG) == sm->pid) {
			ended_by_itself(sim, sm, status);
			return false;
		}
		if (++waited == PATIENCE) {
			sim_find(sim, SIM_HUNG, "sm%d computes for ever", (int)(sm - sim->sms));
			sim->over = true;
			return false;
		}
	}
	if (!sm->share->ended || sm->share->died)
		return true;
	waitpid(sm->pid, &status, 0);
	ended_by_itself(sim, sm, status);
	return false;
}

/* How much memory it needs, compared with the last time. */
static void compare_heap(struct sim *sim, struct sim_sm *sm)
{
	uint64_t heap = sm->share->heap;

	sm->share->heap = 0;
	if (sim->o.verbose)
		sim_say(sim, "sm%d: %" PRIu64 " bytes in use", (int)(sm - sim->sms), heap);
	if (sm->heap && heap > sm->heap + MOST_GROWTH)
		sim_find(sim, SIM_LEAK, "sm%d: %" PRIu64 " bytes in use, %" PRIu64 " before",
			 (int)(sm - sim->sms), heap, sm->heap);
	sm->heap = heap;
}

/* What the subnet manager has sent, and said. */
static void collect(struct sim *sim, struct sim_sm *sm)
{
	struct sim_share *s = sm->share;
	struct sim_port *p = sim_end_port(sim, &sim->nodes[sm->node], 1);

	if (s->is_sm)
		p->info.capability_mask |= IB_PORT_CAP_IS_SM;
	else
		p->info.capability_mask &= ~IB_PORT_CAP_IS_SM;
	/* A sweep ends with a line, and the next one begins with a MAD. */
	sim->now = s->now;
	if (s->failed != sm->failed)
		sim->disturbed = sim->now;
	sm->failed = s->failed;
	for (uint32_t at = 0; at < s->log_used; at += (uint32_t)strlen(s->log + at) + 1)
		sim_log_line(sim, sm, s->log + at);
	s->log_used = 0;
	for (uint32_t i = 0; i < s->nout; i++) {
		sim->now = s->out[i].time;
		sim_carry_send(sim, sm, &s->out[i]);
	}
	s->nout = 0;
	sim->now = s->now;
	if (s->heap)
		compare_heap(sim, sm);
	if (s->died)
		sim_process_kill(sim, (uint32_t)(sm - sim->sms));
}

static void take_turn(struct sim *sim, struct sim_sm *sm, uint64_t limit)
{
	struct sim_share *s = sm->share;
	const struct sim_port *p = sim_end_port(sim, &sim->nodes[sm->node], 1);

	hand_over_mads(sim, sm);
	s->now = sim->now;
	s->limit = limit < SIM_NEVER / 2 ? limit : SIM_NEVER / 2;
	s->port.lid = be16toh(p->info.base_lid);
	s->port.sm_lid = be16toh(p->info.master_sm_base_lid);
	s->port.state = (uint8_t)sim_port_state(p);
	s->port.physical_state = p->info.state_info2 >> 4;
	s->port.capabilities = p->info.capability_mask;
	sim_turn_give(s, SIM_TURN_SM);
	if (wait_for_turn(sim, sm))
		collect(sim, sm);
}

/* When a subnet manager can go on. */
static uint64_t ready_at(const struct sim *sim, const struct sim_sm *sm)
{
	if (!sm->pid || sm->paused)
		return SIM_NEVER;
	if (sm->share->ready)
		return sim->now;
	return sm->waiting && sm->wake_at < sm->share->deadline ? sm->wake_at : sm->share->deadline;
}

static void happen(struct sim *sim)
{
	struct sim_event e = sim_events_take(sim);

	if (e.time > sim->now)
		sim->now = e.time;
	/* Before what they have waited for changes. */
	sim_flow_expire(sim);
	switch (e.kind) {
	case SIM_ASK:
	case SIM_JOIN:
		sim_client_event(sim, &e);
		break;
	case SIM_RMPP:
		sim_rmpp_event(sim, &e);
		break;
	case SIM_STEP:
		sim_script_event(sim);
		break;
	case SIM_RAISE:
		sim_nodes_link(sim, e.port, true);
		break;
	default:
		sim_carry_event(sim, &e);
	}
}

/* Those that can go on at the earliest moment, and when the others can. */
static uint32_t find_ready(struct sim *sim, uint32_t *ready, uint64_t *first)
{
	uint32_t n = 0;

	*first = SIM_NEVER;
	for (uint32_t i = 0; i < sim->nsms; i++) {
		uint64_t at = ready_at(sim, &sim->sms[i]);

		if (at < *first)
			*first = at;
	}
	for (uint32_t i = 0; i < sim->nsms && *first != SIM_NEVER; i++)
		if (ready_at(sim, &sim->sms[i]) <= *first)
			ready[n++] = i;
	return n;
}

void sim_process_run(struct sim *sim)
{
	uint32_t ready[SIM_MOST_SMS], n, chosen;
	uint64_t first, limit;

	while (!sim->over) {
		n = find_ready(sim, ready, &first);
		limit = sim_events_next(sim);
		if (limit != SIM_NEVER && limit <= (first > sim->now ? first : sim->now)) {
			happen(sim);
			continue;
		}
		if (!n)
			sim_die("nothing is left to happen");
		if (!sim->script->begun && sim->now > START_BOUND) {
			sim_find(sim, SIM_HUNG, "no sweep has ended");
			return;
		}
		if (first > sim->now)
			sim->now = first;
		chosen = ready[n == 1 ? 0 : sim_random(&sim->random_net, n)];
		for (uint32_t i = 0; i < sim->nsms; i++) {
			uint64_t at = i == chosen ? SIM_NEVER : ready_at(sim, &sim->sms[i]);

			limit = at < limit ? at : limit;
		}
		take_turn(sim, &sim->sms[chosen], limit);
	}
}
