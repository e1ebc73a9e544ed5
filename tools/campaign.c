/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Splitting a campaign; see campaign.h.
 *
 * Item i belongs to process i mod n, which spreads items that grow with their
 * number evenly.  Within a process the threads take the next item from a
 * common counter, whoever is free.  Neither shows in the results.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "campaign.h"

#define MAX_THREADS 1024
#define PROGRESS_NS 200000000 /* between two calls of progress() */

static volatile sig_atomic_t interrupted;

struct job {
	const struct campaign *c;
	char *results;
	bool *done;
	unsigned int rank, nranks;
	uint64_t mine; /* items of this process */
	atomic_uint_fast64_t next, finished;
	atomic_int err;
};

static void interrupt(int signal)
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

static void *work(void *context)
{
	struct job *j = context;
	const struct campaign *c = j->c;
	void *worker = NULL;
	int err = c->start(c->shared, &worker), none = 0;

	while (!err && !interrupted && !atomic_load(&j->err)) {
		uint64_t i = atomic_fetch_add(&j->next, 1);

		if (i >= j->mine)
			break;
		i = i * j->nranks + j->rank;
		err = c->run(worker, i, j->results + i * c->result_size);
		j->done[i] = !err;
		if (err == -ECANCELED && interrupted)
			err = 0;
		atomic_fetch_add(&j->finished, 1);
	}
	if (err)
		atomic_compare_exchange_strong(&j->err, &none, err);
	if (worker)
		c->stop(worker);
	return NULL;
}

struct watch {
	struct job *job;
	pthread_mutex_t lock;
	pthread_cond_t end;
	bool over;
};

static void *tell(void *context)
{
	struct watch *w = context;
	struct timespec at;

	pthread_mutex_lock(&w->lock);
	while (!w->over) {
		clock_gettime(CLOCK_REALTIME, &at);
		at.tv_nsec += PROGRESS_NS;
		at.tv_sec += at.tv_nsec / 1000000000;
		at.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&w->end, &w->lock, &at);
		w->job->c->progress(w->job->c->shared, atomic_load(&w->job->finished),
				    w->job->mine);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* Run the threads, and one more that tells how far they are. */
static void run_threads(struct job *j, unsigned int n)
{
	struct watch w = { .job = j,
			   .lock = PTHREAD_MUTEX_INITIALIZER,
			   .end = PTHREAD_COND_INITIALIZER };
	pthread_t threads[MAX_THREADS], teller;
	bool telling = j->c->progress && !pthread_create(&teller, NULL, tell, &w);
	unsigned int started = 0;

	for (unsigned int i = 1; i < n; i++)
		if (!pthread_create(&threads[started], NULL, work, j))
			started++;
	work(j);
	while (started)
		pthread_join(threads[--started], NULL);
	if (!telling)
		return;
	pthread_mutex_lock(&w.lock);
	w.over = true;
	pthread_cond_signal(&w.end);
	pthread_mutex_unlock(&w.lock);
	pthread_join(teller, NULL);
}

int campaign_run(const struct campaign *c, void *results, bool *done, bool *was_interrupted)
{
	struct sigaction action = { .sa_handler = interrupt }, before[2];
	struct job j = { .c = c, .results = results, .done = done };
	unsigned int threads = c->threads ? c->threads : campaign_cores();
	int err, gathered;

	campaign_ranks(&j.rank, &j.nranks);
	j.mine = c->nitems / j.nranks + (j.rank < c->nitems % j.nranks);
	if (threads > MAX_THREADS)
		threads = MAX_THREADS;
	if (threads > j.mine)
		threads = j.mine ? j.mine : 1;
	interrupted = 0;
	/* A second one ends the process. */
	action.sa_flags = SA_RESETHAND;
	sigaction(SIGINT, &action, &before[0]);
	/* What mpirun sends when it is interrupted. */
	sigaction(SIGTERM, &action, &before[1]);
	run_threads(&j, threads);
	sigaction(SIGINT, &before[0], NULL);
	sigaction(SIGTERM, &before[1], NULL);
	err = atomic_load(&j.err);
	*was_interrupted = interrupted;
	gathered = campaign_ranks_gather(c, results, done, &err, was_interrupted);
	return err ? err : gathered;
}

bool campaign_is_leader(void)
{
	unsigned int rank, n;

	campaign_ranks(&rank, &n);
	return !rank;
}
