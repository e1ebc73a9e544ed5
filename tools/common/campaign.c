/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Splitting a campaign; see campaign.h.
 *
 * Item i belongs to process i mod n, which spreads items that grow with their
 * number evenly.  Within a process the threads take the next item from a
 * common counter, whoever is free.  Neither shows in the results.
 *
 * An interrupt is answered at once, however long an item takes: what is at work
 * then gets a moment to end.  After that its threads are left alone, nothing of
 * theirs counts any more, and the process has to end with campaign_exit().
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "campaign.h"
#include "tool.h"

#define MAX_THREADS 1024
#define PROGRESS_NS 200000000 /* between two looks at how far it is */
#define MOMENT 0.3	      /* seconds, after an interrupt */

static volatile sig_atomic_t interrupted;
static bool abandoned; /* do threads still run? */
static struct dl_pool *pool;

/* Allocated, and kept for good if its threads are abandoned. */
struct job {
	struct campaign c;
	char *results;
	bool *done;
	unsigned int rank, nranks;
	uint64_t mine; /* items of this process */
	atomic_uint_fast64_t next;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t end;   /* a thread has ended */
	uint64_t finished;
	unsigned int running;
	bool closed; /* results that come do not count */
	int err;
	struct dl_task *tasks; /* a thread each */
	struct tool_progress progress;
};

static void campaign_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

bool campaign_is_interrupted(void)
{
	return interrupted;
}

unsigned int campaign_cores(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) ? 0 : CPU_COUNT(&set);

	return n > 0 ? n : 1;
}

/* An item has ended; false: so must its thread. */
static bool campaign_finish(struct job *j, uint64_t i, int err)
{
	bool more;

	pthread_mutex_lock(&j->lock);
	if (!j->closed)
		j->done[i] = !err;
	if (err == -ECANCELED && interrupted)
		err = 0;
	if (!j->err)
		j->err = err;
	j->finished++;
	more = !j->err && !j->closed;
	pthread_mutex_unlock(&j->lock);
	return more;
}

static void campaign_work(void *context)
{
	struct job *j = context;
	void *worker = j->c.start ? NULL : j->c.shared;
	int err = j->c.start ? j->c.start(j->c.shared, &worker) : 0;
	bool more = !err;

	while (more && !interrupted) {
		uint64_t i = atomic_fetch_add(&j->next, 1);

		if (i >= j->mine)
			break;
		i = i * j->nranks + j->rank;
		err = j->c.run(worker, i, j->results + i * j->c.result_size);
		more = campaign_finish(j, i, err);
	}
	if (worker && j->c.stop)
		j->c.stop(worker);
	pthread_mutex_lock(&j->lock);
	if (!worker && err && !j->err)
		j->err = err;
	j->running--;
	pthread_cond_signal(&j->end);
	pthread_mutex_unlock(&j->lock);
}

/* Until all have ended, or for a moment after an interrupt; shows how far they are. */
static void campaign_wait_for_threads(struct job *j)
{
	double end = 0; /* none yet */
	struct timespec at;

	pthread_mutex_lock(&j->lock);
	while (j->running && (!end || dl_clock_monotonic() < end)) {
		if (interrupted && !end)
			end = dl_clock_monotonic() + MOMENT;
		clock_gettime(CLOCK_REALTIME, &at);
		at.tv_nsec += PROGRESS_NS;
		at.tv_sec += at.tv_nsec / 1000000000;
		at.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&j->end, &j->lock, &at);
		if (j->c.shown)
			tool_progress(&j->progress, j->c.shown, "", j->finished, j->mine);
	}
	tool_progress(&j->progress, NULL, "", 0, 0);
	j->closed = true;
	abandoned = j->running;
	pthread_mutex_unlock(&j->lock);
}

static int campaign_run_threads(struct job *j, unsigned int n)
{
	unsigned int started = 0;

	j->tasks = calloc(n, sizeof(*j->tasks));
	if (!j->tasks)
		return -ENOMEM;
	j->running = n;
	for (; started < n; started++) {
		j->tasks[started] = (struct dl_task){ .run = campaign_work, .context = j };
		if (!dl_pool_start(campaign_pool(), &j->tasks[started]))
			break;
	}
	pthread_mutex_lock(&j->lock);
	j->running -= n - started;
	pthread_mutex_unlock(&j->lock);
	if (!started)
		return -EAGAIN;
	campaign_wait_for_threads(j);
	while (!abandoned && started)
		dl_pool_wait(campaign_pool(), &j->tasks[--started]);
	return j->err;
}

struct dl_pool *campaign_pool(void)
{
	if (!pool)
		pool = dl_pool_new();
	return pool;
}

void campaign_end(void)
{
	if (!abandoned)
		dl_pool_free(pool);
	pool = NULL;
}

void campaign_exit(int status)
{
	if (abandoned)
		exit(status);
}

static void campaign_find_rank(unsigned int *rank, unsigned int *n)
{
	*rank = 0;
	*n = 1;
	if (campaign_machines.rank)
		campaign_machines.rank(rank, n);
}

int campaign_run(const struct campaign *c, void *results, bool *done, bool *was_interrupted)
{
	struct sigaction action = { .sa_handler = campaign_interrupt }, before[2];
	struct job *j = malloc(sizeof(*j));
	unsigned int threads = c->threads ? c->threads : campaign_cores();
	int err, gathered;

	if (!j)
		return -ENOMEM;
	*j = (struct job){ .c = *c, .results = results, .done = done };
	pthread_mutex_init(&j->lock, NULL);
	pthread_cond_init(&j->end, NULL);
	campaign_find_rank(&j->rank, &j->nranks);
	j->mine = c->nitems / j->nranks + (j->rank < c->nitems % j->nranks);
	if (threads > MAX_THREADS)
		threads = MAX_THREADS;
	if (threads > j->mine)
		threads = j->mine ? j->mine : 1;
	interrupted = 0;
	/* A second one ends the process. */
	action.sa_flags = SA_RESETHAND;
	sigaction(SIGINT, &action, &before[0]);
	/* What mpirun sends when it is interrupted. */
	sigaction(SIGTERM, &action, &before[1]);
	err = campaign_run_threads(j, threads);
	sigaction(SIGINT, &before[0], NULL);
	sigaction(SIGTERM, &before[1], NULL);
	if (!abandoned) {
		pthread_cond_destroy(&j->end);
		pthread_mutex_destroy(&j->lock);
		free(j->tasks);
		free(j);
	}
	*was_interrupted = interrupted;
	gathered = campaign_machines.gather ?
			   campaign_machines.gather(c, results, done, &err, was_interrupted) :
			   0;
	return err ? err : gathered;
}

bool campaign_is_leader(void)
{
	unsigned int rank, n;

	campaign_find_rank(&rank, &n);
	return !rank;
}
