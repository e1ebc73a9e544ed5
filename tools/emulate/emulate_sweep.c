/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Load sweeps: one emulation a point, spread over threads and machines.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "tools/common/campaign.h"
#include "emulate.h"

struct job {
	const struct dl_emu_scenario *scenario;
	const struct emulate_sweep *sweep;
};

double emulate_cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static bool emulate_sweep_watch(void *context, struct dl_emu *emu, uint64_t end)
{
	(void)context, (void)emu, (void)end;
	return campaign_is_interrupted();
}

static int emulate_sweep_run_point(void *worker, uint64_t item, void *result)
{
	const struct job *j = worker;
	const struct emulate_sweep *s = j->sweep;
	struct emulate_point *out = result;
	struct dl_emu_load load = { s->name, s->from + item * s->step, 0 };
	double begin = emulate_cpu();
	int err = dl_emu_scenario_point(j->scenario, &load, emulate_sweep_watch, NULL, &out->point);

	out->cpu_seconds = emulate_cpu() - begin;
	return err;
}

int emulate_sweep(const struct dl_emu_scenario *scenario, const struct emulate_sweep *s,
		  struct emulate_point **out, uint32_t *n)
{
	static struct job j; /* after an interrupt, threads may still be at work */
	struct campaign c = {
		.nitems = (s->to - s->from) / s->step + 1,
		.result_size = sizeof(**out),
		.threads = s->threads,
		.shared = &j,
		.run = emulate_sweep_run_point,
		.shown = s->show ? "points" : NULL,
	};
	bool *done = calloc(c.nitems, sizeof(*done)), interrupted;
	int err = -ENOMEM;

	j = (struct job){ .scenario = scenario, .sweep = s };
	*n = c.nitems;
	*out = calloc(c.nitems, sizeof(**out));
	if (done && *out)
		err = campaign_run(&c, *out, done, &interrupted);
	free(done);
	return err;
}

int emulate_find_saturation(const struct dl_emu_scenario *scenario, const struct emulate_sweep *s,
			    struct dl_emu_saturation *out)
{
	int err;

	*out = (struct dl_emu_saturation){ -1, -1, -1, -1, -1, false };
	if (campaign_is_interrupted())
		return 0;
	err = dl_emu_scenario_saturation(scenario, s->name, emulate_sweep_watch, NULL, out);
	return err == -EINTR ? 0 : err;
}
