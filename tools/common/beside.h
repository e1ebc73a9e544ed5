/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Work on a second core, beside the caller's own.
 *
 *	struct beside b = { .run = run, .context = &job, .log = &tool->log };
 *
 *	beside_start(&b, true);
 *	...
 *	err = beside_end(&b);
 *
 * With one core, or without threads, it is done in beside_end(), with the same
 * result: what both read, neither writes.
 */
#ifndef TOOL_BESIDE_H
#define TOOL_BESIDE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "dateline/base.h"

struct beside {
	/* 0 or a negative errno; `log` hears progress, and messages of nobody. */
	int (*run)(void *context, const struct dl_log *log);
	void *context;
	const struct dl_log *log; /* whose progress; NULL: nobody's */
	/* The rest is its own. */
	pthread_t thread;
	bool started, pending;
	atomic_bool awaited; /* does the caller do nothing but wait? */
	int err;
	double seconds; /* of another core's, once it has ended */
};

/* `spare`: is another core free?  Else it is done in beside_end(). */
void beside_start(struct beside *b, bool spare);

/* Wait for it; what it returned, also when called once more.  0: it never began. */
int beside_end(struct beside *b);

/* Wait for it, if it has begun: nobody needs what it returns. */
void beside_drop(struct beside *b);

#endif
