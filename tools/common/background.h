/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Work in a second thread, while the caller does its own.
 *
 *	struct background b = { .run = run, .context = &job };
 *
 *	background_start(&b, true);
 *	...
 *	err = background_end(&b);
 *
 * With one core, or without threads, it is done in background_end(), with the
 * same result: what both read, neither writes.
 */
#ifndef TOOL_BACKGROUND_H
#define TOOL_BACKGROUND_H

#include <stdatomic.h>
#include <stdbool.h>

#include "dateline/base.h"

struct background {
	/* 0 or a negative errno; `log` gets progress, and messages of nobody. */
	int (*run)(void *context, const struct dl_log *log);
	void *context;
	const struct dl_log *log; /* whose progress; NULL: nobody's */
	/* The rest is its own. */
	struct dl_task task;
	bool started, pending;
	atomic_bool awaited; /* does the caller do nothing but wait? */
	int err;
	double seconds; /* of another core's, once it has ended */
};

/* `spare`: is another core free?  Else it is done in background_end(). */
void background_start(struct background *b, bool spare);

/* Wait for it; what it returned, also when called once more.  0: it never began. */
int background_end(struct background *b);

/* Wait for it, if it has begun: nobody needs what it returns. */
void background_drop(struct background *b);

#endif
