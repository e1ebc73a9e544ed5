/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Work on a second core; see beside.h.
 *
 * One line on the terminal tells progress.  While the caller works that is its
 * own; once it waits, that of what it waits for.
 */
#include "config.h"

#include <time.h>

#include "beside.h"
#include "campaign.h"

static void tell(void *context, const char *what, const char *unit, double done, double total)
{
	struct beside *b = context;

	if (atomic_load(&b->awaited))
		dl_progress(b->log, what, unit, done, total);
}

static void run(struct beside *b)
{
	const struct dl_log log = { .context = b, .progress = tell };

	b->err = b->run(b->context, &log);
}

static void *work(void *context)
{
	struct beside *b = context;
	struct timespec used;

	run(b);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	b->seconds = used.tv_sec + used.tv_nsec * 1e-9;
	return NULL;
}

void beside_start(struct beside *b, bool spare)
{
	b->pending = true;
	b->started = spare && campaign_cores() > 1 && !pthread_create(&b->thread, NULL, work, b);
}

int beside_end(struct beside *b)
{
	if (!b->pending)
		return b->err;
	b->pending = false;
	atomic_store(&b->awaited, true);
	if (b->started)
		pthread_join(b->thread, NULL);
	else
		run(b);
	return b->err;
}

void beside_drop(struct beside *b)
{
	if (b->pending && b->started)
		pthread_join(b->thread, NULL);
	b->pending = false;
}
