/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Preloaded before libumad2sim, whose receiving thread takes a lock in the queue of
 * the client that an answer is for before it asks whether there still is one: an answer
 * that comes after its client has closed the device, as on a busy machine the second one
 * to a query that was sent twice, ended the whole program with a segmentation fault.
 * With this it is thrown away, as libumad2sim means to.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* A member of a structure that is not there. */
static bool is_nowhere(const pthread_mutex_t *m)
{
	return (uintptr_t)m < 4096;
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
	static int (*real)(pthread_mutex_t *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	return is_nowhere(m) ? 0 : real(m);
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
	static int (*real)(pthread_mutex_t *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
	return is_nowhere(m) ? 0 : real(m);
}
