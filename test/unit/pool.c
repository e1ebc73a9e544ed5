/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A pool of threads: tasks run at once, wait for each other, and share threads. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "dateline/base.h"

#define TASKS 20

struct job {
	struct dl_task task;
	pthread_barrier_t *barrier;
	pthread_t thread;
	bool interrupts; /* is SIGINT open? */
};

/* Nobody gets on until all are there: each needs a thread of its own. */
static void meet(void *context)
{
	struct job *j = context;
	sigset_t set;

	j->thread = pthread_self();
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	j->interrupts = !sigismember(&set, SIGINT);
	pthread_barrier_wait(j->barrier);
}

static void start_all(struct dl_pool *pool, struct job *jobs, pthread_barrier_t *barrier)
{
	assert_int_equal(pthread_barrier_init(barrier, NULL, TASKS), 0);
	for (unsigned int i = 0; i < TASKS; i++) {
		jobs[i] = (struct job){ .task = { .run = meet, .context = &jobs[i] },
					.barrier = barrier };
		assert_true(dl_pool_start(pool, &jobs[i].task));
	}
	for (unsigned int i = 0; i < TASKS; i++)
		dl_pool_wait(pool, &jobs[i].task);
	pthread_barrier_destroy(barrier);
}

static void test_all_at_once(void **state)
{
	struct dl_pool *pool = dl_pool_new();
	struct job first[TASKS], second[TASKS];
	pthread_barrier_t barrier;

	(void)state;
	assert_non_null(pool);
	start_all(pool, first, &barrier);
	start_all(pool, second, &barrier);
	for (unsigned int i = 0; i < TASKS; i++) {
		unsigned int same = 0;

		assert_false(first[i].interrupts);
		assert_false(pthread_equal(first[i].thread, pthread_self()));
		/* The same threads once more, each with one task. */
		for (unsigned int k = 0; k < TASKS; k++)
			same += pthread_equal(first[i].thread, second[k].thread) != 0;
		assert_int_equal(same, 1);
	}
	dl_pool_free(pool);
}

static void test_none(void **state)
{
	struct dl_task task = { .run = meet };

	(void)state;
	assert_false(dl_pool_start(NULL, &task));
	dl_pool_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_at_once),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
