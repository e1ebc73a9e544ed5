/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Work in a second thread; see background.h.
 *
 * There is one line of progress on the terminal.  While the caller works it shows
 * the caller's progress; once the caller waits, that of what it waits for.
 */
#include "config.h"

#include <time.h>

#include "background.h"
#include "campaign.h"

static void background_progress(void *context, const char *what, const char *unit, double done,
				double total)
{
	struct background *b = context;

	if (atomic_load(&b->awaited))
		dl_progress(b->log, what, unit, done, total);
}

static void background_run(struct background *b)
{
	const struct dl_log log = { .context = b, .progress = background_progress };

	b->err = b->run(b->context, &log);
}

static double background_cpu(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return used.tv_sec + used.tv_nsec * 1e-9;
}

static void background_work(void *context)
{
	struct background *b = context;
	double begin = background_cpu();

	background_run(b);
	b->seconds = background_cpu() - begin;
}

void background_start(struct background *b, bool spare)
{
	b->pending = true;
	b->task = (struct dl_task){ .run = background_work, .context = b };
	b->started = spare && campaign_cores() > 1 && dl_pool_start(campaign_pool(), &b->task);
}

int background_end(struct background *b)
{
	if (!b->pending)
		return b->err;
	b->pending = false;
	atomic_store(&b->awaited, true);
	if (b->started)
		dl_pool_wait(campaign_pool(), &b->task);
	else
		background_run(b);
	return b->err;
}

void background_drop(struct background *b)
{
	if (b->pending && b->started)
		dl_pool_wait(campaign_pool(), &b->task);
	b->pending = false;
}
