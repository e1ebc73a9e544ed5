/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Threads of the subnet manager, as coroutines of one kernel thread.
 *
 * A coroutine runs until it blocks, or until a die at a lock makes it pause; the
 * next one is drawn by the same die.  When none can run, time jumps to the next
 * deadline, or the simulator gets the turn.
 *
 * The state of a lock lies in the first words of the pthread object, which
 * initialisers of glibc leave zero: this needs glibc on x86-64, where a mutex
 * has its kind at offset 16.  Cancellation handlers are those that glibc's macros
 * register.
 */
#include "config.h"

#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "sm.h"

#define MOST_THREADS 64
#define STACK_SIZE (8u << 20)
#define GUARD_SIZE 4096
#define MAX_STALL_MS 300
#define STEP_NS 100		/* that a lock takes */
#define MAX_LEAD (100 * SIM_US) /* by which a thread may run ahead of the network */

/* What glibc's macros leave on the stack, pthread.h has them under other names. */
void __pthread_register_cancel(__pthread_unwind_buf_t *b);
void __pthread_unregister_cancel(__pthread_unwind_buf_t *b);
void __pthread_unwind_next(__pthread_unwind_buf_t *b);

enum thread_state { THREAD_FREE, THREAD_RUNS, THREAD_BLOCKED, THREAD_DONE };

struct thread {
	ucontext_t context; /* it begins in */
	jmp_buf at;	    /* where it was left */
	enum thread_state state;
	bool cancelled, exiting, timed_out, detached, began;
	int error; /* its errno */
	const void *object;
	uint64_t deadline;
	void *(*run)(void *);
	void *arg, *result;
	__pthread_unwind_buf_t *cleanup;
	const char *what; /* it does, for people */
	char *stack;
};

static struct thread threads[MOST_THREADS] = { { .state = THREAD_RUNS, .began = true } };
static struct thread *current = threads;
static unsigned int nthreads = 1;
static struct thread *asker; /* wants the others' stacks */
char sm_mads;

/* ---- the scheduler ------------------------------------------------------------ */

static void print_stack(void)
{
	void *frames[24];

	backtrace_symbols_fd(frames, backtrace(frames, 24), 2);
}

/* Wake those whose time has come; the earliest deadline of the others. */
static uint64_t wake_late(struct thread **ready, unsigned int *n)
{
	uint64_t next = SIM_NEVER;

	*n = 0;
	for (unsigned int i = 0; i < nthreads; i++) {
		struct thread *t = &threads[i];

		if (t->state == THREAD_BLOCKED) {
			if (t->object == &sm_mads && sm_has_mad()) {
				t->state = THREAD_RUNS;
			} else if (t->deadline <= sm_share->now) {
				t->state = THREAD_RUNS;
				t->timed_out = true;
			} else if (t->deadline < next) {
				next = t->deadline;
			}
		}
		if (t->state == THREAD_RUNS)
			ready[(*n)++] = t;
	}
	return next;
}

static struct thread *pick_thread(void)
{
	struct thread *ready[MOST_THREADS];
	unsigned int n;

	for (;;) {
		uint64_t next = wake_late(ready, &n);

		if (n && sm_share->now <= sm_share->limit + MAX_LEAD) {
			sm_share->switches++;
			return ready[n == 1 ? 0 : sim_random(&sm_random_state, n)];
		}
		if (!n && !sm_share->nout && next <= sm_share->limit && next != SIM_NEVER) {
			sm_share->now = next;
			continue;
		}
		sm_share->ready = n > 0;
		sm_share->deadline = next;
		sm_pass_turn();
		if (sm_share->stuck) {
			sm_print_stacks();
			sm_share->stuck = false;
		}
	}
}

/* Until another switches back.  swapcontext() would ask the kernel about signals
 * each time. */
static void switch_threads(struct thread *from, struct thread *to)
{
	if (_setjmp(from->at))
		return;
	if (to->began)
		_longjmp(to->at, 1);
	setcontext(&to->context);
}

static void schedule(void)
{
	struct thread *old = current, *next;

	old->error = errno;
	next = pick_thread();
	if (next != old) {
		current = next;
		switch_threads(old, next);
	}
	while (asker) {
		print_stack();
		switch_threads(old, asker);
	}
	errno = current->error;
}

/* Each thread prints its own stack: nobody else can unwind it. */
void sm_print_stacks(void)
{
	for (unsigned int i = 0; i < nthreads; i++) {
		struct thread *t = &threads[i];

		if (t->state == THREAD_FREE || t->state == THREAD_DONE)
			continue;
		fprintf(stderr, "thread %u: %s, in %s\n", i,
			t->state == THREAD_RUNS ? "runs" : "blocked", t->what ? t->what : "?");
		if (t == current) {
			print_stack();
		} else if (t->began) {
			asker = current;
			switch_threads(current, t);
			asker = NULL;
		}
	}
}

bool sm_block(const void *object, uint64_t deadline, const char *what)
{
	current->what = what;
	current->state = THREAD_BLOCKED;
	current->object = object;
	current->deadline = deadline;
	current->timed_out = false;
	schedule();
	current->object = NULL;
	return current->timed_out;
}

static void wake_all(const void *object)
{
	for (unsigned int i = 0; i < nthreads; i++)
		if (threads[i].state == THREAD_BLOCKED && threads[i].object == object)
			threads[i].state = THREAD_RUNS;
}

static void wake_one(const void *object)
{
	struct thread *waiting[MOST_THREADS];
	unsigned int n = 0;

	for (unsigned int i = 0; i < nthreads; i++)
		if (threads[i].state == THREAD_BLOCKED && threads[i].object == object)
			waiting[n++] = &threads[i];
	if (n)
		waiting[n == 1 ? 0 : sim_random(&sm_random_state, n)]->state = THREAD_RUNS;
}

void sm_point(const char *what)
{
	struct sim_share *s = sm_share;

	current->what = what;
	s->now += STEP_NS;
	if (s->die && !--s->die)
		sm_die();
	if (s->stall && !sim_random(&sm_random_state, s->stall))
		sm_block(NULL, s->now + sim_random(&sm_random_state, MAX_STALL_MS) * SIM_MS, what);
	else if (s->now > s->limit + MAX_LEAD ||
		 (s->preempt && !sim_random(&sm_random_state, s->preempt)))
		schedule();
}

void sm_interrupt_main(void)
{
	if (threads[0].state == THREAD_BLOCKED && !threads[0].object)
		threads[0].state = THREAD_RUNS;
}

/* ---- threads ------------------------------------------------------------------ */

static void finish_thread(void)
{
	/* The handler's buffer begins with what __sigsetjmp() filled in. */
	if (current->cleanup)
		longjmp((struct __jmp_buf_tag *)current->cleanup, 1);
	current->state = THREAD_DONE;
	wake_all(current);
	schedule();
	abort();
}

void sm_cancellation_point(void)
{
	if (!current->cancelled || current->exiting)
		return;
	current->exiting = true;
	current->result = PTHREAD_CANCELED;
	finish_thread();
}

static void enter_thread(void)
{
	current->began = true;
	current->result = current->run(current->arg);
	finish_thread();
}

static struct thread *new_thread(void)
{
	struct thread *t = NULL;
	char *stack;

	for (unsigned int i = 1; i < nthreads && !t; i++)
		if (threads[i].state == THREAD_FREE ||
		    (threads[i].state == THREAD_DONE && threads[i].detached))
			t = &threads[i];
	if (!t && nthreads < MOST_THREADS)
		t = &threads[nthreads++];
	if (!t)
		return NULL;
	stack = t->stack;
	if (!stack) {
		stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (stack == MAP_FAILED)
			return NULL;
		mprotect(stack, GUARD_SIZE, PROT_NONE);
	}
	memset(t, 0, sizeof(*t));
	t->stack = stack;
	return t;
}

int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *arg)
{
	struct thread *t = new_thread();

	(void)attributes;
	if (!t)
		return EAGAIN;
	getcontext(&t->context);
	t->context.uc_stack.ss_sp = t->stack;
	t->context.uc_stack.ss_size = STACK_SIZE;
	makecontext(&t->context, enter_thread, 0);
	t->run = run;
	t->arg = arg;
	t->state = THREAD_RUNS;
	*id = (pthread_t)t;
	sm_point("pthread_create");
	return 0;
}

pthread_t pthread_self(void)
{
	return (pthread_t)current;
}

int pthread_join(pthread_t id, void **result)
{
	struct thread *t = (struct thread *)id;

	while (t->state != THREAD_DONE)
		sm_block(t, SIM_NEVER, "pthread_join");
	if (result)
		*result = t->result;
	t->state = THREAD_FREE;
	return 0;
}

int pthread_detach(pthread_t id)
{
	((struct thread *)id)->detached = true;
	return 0;
}

int pthread_cancel(pthread_t id)
{
	struct thread *t = (struct thread *)id;

	t->cancelled = true;
	/* Each wait below tries again, or is where threads are cancelled. */
	if (t->state == THREAD_BLOCKED)
		t->state = THREAD_RUNS;
	return 0;
}

void pthread_exit(void *result)
{
	current->result = result;
	current->exiting = true;
	finish_thread();
	abort();
}

void __pthread_register_cancel(__pthread_unwind_buf_t *b)
{
	b->__pad[0] = current->cleanup;
	current->cleanup = b;
}

void __pthread_unregister_cancel(__pthread_unwind_buf_t *b)
{
	current->cleanup = b->__pad[0];
}

void __pthread_unwind_next(__pthread_unwind_buf_t *b)
{
	current->cleanup = b->__pad[0];
	finish_thread();
	abort();
}

/* ---- locks -------------------------------------------------------------------- */

struct mutex {
	int owner; /* thread number + 1 */
	unsigned int count;
	int waiters, unused, kind;
};

static int own_number(void)
{
	return (int)(current - threads) + 1;
}

static int take_mutex(struct mutex *m, bool try)
{
	if (m->owner == own_number() && m->kind == PTHREAD_MUTEX_RECURSIVE) {
		m->count++;
		return 0;
	}
	while (m->owner) {
		if (try)
			return EBUSY;
		m->waiters++;
		sm_block(m, SIM_NEVER, "pthread_mutex_lock");
		m->waiters--;
	}
	m->owner = own_number();
	m->count = 1;
	return 0;
}

static void drop_mutex(struct mutex *m)
{
	if (--m->count)
		return;
	m->owner = 0;
	if (m->waiters)
		wake_all(m);
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
	sm_point("pthread_mutex_lock");
	return take_mutex((struct mutex *)m, false);
}

int pthread_mutex_trylock(pthread_mutex_t *m)
{
	sm_point("pthread_mutex_trylock");
	return take_mutex((struct mutex *)m, true);
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
	drop_mutex((struct mutex *)m);
	sm_point("pthread_mutex_unlock");
	return 0;
}

static int wait_for_condition(pthread_cond_t *c, pthread_mutex_t *m, uint64_t deadline)
{
	bool late;

	sm_cancellation_point();
	drop_mutex((struct mutex *)m);
	late = sm_block(c, deadline, "pthread_cond_wait");
	take_mutex((struct mutex *)m, false);
	sm_cancellation_point();
	return late ? ETIMEDOUT : 0;
}

int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	return wait_for_condition(c, m, SIM_NEVER);
}

int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t)
{
	uint64_t until = (uint64_t)t->tv_sec * SIM_SECOND + (uint64_t)t->tv_nsec;

	return wait_for_condition(c, m, until > sm_share->now ? until : sm_share->now);
}

int pthread_cond_signal(pthread_cond_t *c)
{
	wake_one(c);
	sm_point("pthread_cond_signal");
	return 0;
}

int pthread_cond_broadcast(pthread_cond_t *c)
{
	wake_all(c);
	sm_point("pthread_cond_broadcast");
	return 0;
}

struct rwlock {
	int writer, readers;
};

int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	struct rwlock *r = (struct rwlock *)l;

	sm_point("pthread_rwlock_rdlock");
	while (r->writer)
		sm_block(l, SIM_NEVER, "pthread_rwlock_rdlock");
	r->readers++;
	return 0;
}

int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	struct rwlock *r = (struct rwlock *)l;

	sm_point("pthread_rwlock_wrlock");
	while (r->writer || r->readers)
		sm_block(l, SIM_NEVER, "pthread_rwlock_wrlock");
	r->writer = own_number();
	return 0;
}

int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	struct rwlock *r = (struct rwlock *)l;

	if (r->writer)
		r->writer = 0;
	else
		r->readers--;
	wake_all(l);
	sm_point("pthread_rwlock_unlock");
	return 0;
}
