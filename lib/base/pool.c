/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A pool of threads; see base.h.
 *
 * Every task that waits in the list has an idle thread that will take it: a task
 * that finds none makes one, or is refused.  So tasks may wait for each other.
 */
#include "config.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "dateline/base.h"

struct pool_thread {
	struct dl_pool *pool;
	struct pool_thread *next;
	pthread_t id;
};

struct dl_pool {
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t given; /* a task is in the list, or `over` */
	pthread_cond_t done;  /* a task has ended */
	struct pool_thread *threads;
	struct dl_task *first, **last;
	unsigned int idle, waiting; /* threads without a task; tasks in the list */
	bool over;
};

static void *pool_work(void *context)
{
	struct dl_pool *p = ((struct pool_thread *)context)->pool;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		struct dl_task *t = p->first;

		if (!t && p->over)
			break;
		if (!t) {
			pthread_cond_wait(&p->given, &p->lock);
			continue;
		}
		p->first = t->next;
		if (!p->first)
			p->last = &p->first;
		p->waiting--;
		p->idle--;
		pthread_mutex_unlock(&p->lock);
		t->run(t->context);
		pthread_mutex_lock(&p->lock);
		t->done = true;
		p->idle++;
		pthread_cond_broadcast(&p->done);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* Signals are for the threads that the caller has made. */
static bool pool_add_thread(struct dl_pool *p)
{
	struct pool_thread *t = calloc(1, sizeof(*t));
	sigset_t all, before;
	bool added;

	if (!t)
		return false;
	t->pool = p;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	added = !pthread_create(&t->id, NULL, pool_work, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!added) {
		free(t);
		return false;
	}
	t->next = p->threads;
	p->threads = t;
	p->idle++;
	return true;
}

struct dl_pool *dl_pool_new(void)
{
	struct dl_pool *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->given, NULL);
	pthread_cond_init(&p->done, NULL);
	p->last = &p->first;
	return p;
}

bool dl_pool_start(struct dl_pool *p, struct dl_task *t)
{
	bool taken;

	if (!p)
		return false;
	pthread_mutex_lock(&p->lock);
	taken = p->idle > p->waiting || pool_add_thread(p);
	if (taken) {
		t->done = false;
		t->next = NULL;
		*p->last = t;
		p->last = &t->next;
		p->waiting++;
		pthread_cond_signal(&p->given);
	}
	pthread_mutex_unlock(&p->lock);
	return taken;
}

void dl_pool_wait(struct dl_pool *p, struct dl_task *t)
{
	pthread_mutex_lock(&p->lock);
	while (!t->done)
		pthread_cond_wait(&p->done, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

void dl_pool_free(struct dl_pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->over = true;
	pthread_cond_broadcast(&p->given);
	pthread_mutex_unlock(&p->lock);
	while (p->threads) {
		struct pool_thread *t = p->threads;

		p->threads = t->next;
		pthread_join(t->id, NULL);
		free(t);
	}
	pthread_cond_destroy(&p->given);
	pthread_cond_destroy(&p->done);
	pthread_mutex_destroy(&p->lock);
	free(p);
}
