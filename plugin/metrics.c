/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Numbers for monitoring, as OpenSM works: they are gathered always, and
 * written where metrics= is given.
 *
 * The thread that sweeps gathers.  What goes into the file is a copy, under a
 * lock of its own, because another thread writes it again now and then: OpenSM
 * does not tell when it ceases to be master, a subnet manager that crashed
 * tells nothing at all, and both show by that.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "dateline/base.h"
#include "engine.h"

#define HEARTBEAT_SECONDS 15

static double unix_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* The lock is held.  What goes wrong is told once, until it is well again. */
static void write_file(struct dl_engine *e)
{
	struct dl_metrics *m = &e->gather.written;
	const char *path = e->options.metrics;
	int err;

	m->master = m->up && e->osm->subn.sm_state == IB_SMINFO_STATE_MASTER;
	m->heartbeat = unix_time();
	err = dl_metrics_write(m, path);
	if (err && !e->gather.failing)
		DL_SAY(e->osm, OSM_LOG_ERROR,
		       "ERR DL32: metrics cannot be "
		       "written to %s: %s",
		       path, strerror(-err));
	e->gather.failing = err;
}

/* Write what was gathered, or (any thread may) what was written, again. */
static void publish(struct dl_engine *e, bool news)
{
	struct dl_gather *g = &e->gather;

	if (!e->options.metrics)
		return;
	pthread_mutex_lock(&g->lock);
	if (news)
		g->written = g->now;
	write_file(e);
	pthread_mutex_unlock(&g->lock);
}

/* The thread that writes again what was written, until OpenSM ends. */
static void *beat(void *data)
{
	struct dl_engine *e = data;
	struct dl_gather *g = &e->gather;
	struct timespec t;
	int err;

	pthread_mutex_lock(&g->lock);
	while (g->written.up) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		t.tv_sec += HEARTBEAT_SECONDS;
		err = pthread_cond_timedwait(&g->ended, &g->lock, &t);
		if (err == ETIMEDOUT)
			write_file(e);
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

/* The thread takes no signals: they are OpenSM's. */
static void start_beating(struct dl_engine *e)
{
	struct dl_gather *g = &e->gather;
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	g->beating = !pthread_create(&g->thread, NULL, beat, e);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void dl_gather_start(struct dl_engine *e)
{
	struct dl_gather *g = &e->gather;
	pthread_condattr_t attr;

	dl_metrics_init(&g->now, e->options.route.mode);
	pthread_mutex_init(&g->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&g->ended, &attr);
	pthread_condattr_destroy(&attr);
	g->now.up = true;
	publish(e, true);
	if (e->options.metrics)
		start_beating(e);
}

void dl_gather_stop(struct dl_engine *e)
{
	struct dl_gather *g = &e->gather;

	g->now.up = false;
	publish(e, true);
	if (g->beating) {
		pthread_cond_signal(&g->ended);
		pthread_join(g->thread, NULL);
	}
	pthread_cond_destroy(&g->ended);
	pthread_mutex_destroy(&g->lock);
}

/* Multicast LIDs in use.  OpenSM's lock is held. */
static void count_groups(struct dl_engine *e)
{
	void *const *boxes = e->osm->subn.mboxes;
	size_t i;

	e->gather.now.number[DL_METRICS_GROUPS] = 0;
	for (i = 0; i < sizeof(e->osm->subn.mboxes) / sizeof(*boxes); i++)
		e->gather.now.number[DL_METRICS_GROUPS] += boxes[i] != NULL;
}

void dl_gather_event(struct dl_engine *e, osm_epi_event_id_t event)
{
	struct dl_metrics *m = &e->gather.now;

	if (!e->options.metrics)
		return;
	switch (event) {
	case OSM_EVENT_ID_HEAVY_SWEEP_START:
		m->sweep_start = unix_time();
		publish(e, true);
		break;
	case OSM_EVENT_ID_SUBNET_UP:
		m->subnet_up = unix_time();
		CL_PLOCK_ACQUIRE(&e->osm->lock);
		if (e->plan)
			count_groups(e);
		CL_PLOCK_RELEASE(&e->osm->lock);
		publish(e, true);
		break;
	case OSM_EVENT_ID_STATE_CHANGE:
		publish(e, false);
		break;
	default:
		break;
	}
}

void dl_gather_begin(struct dl_gather *g)
{
	memset(g->now.stage, 0, sizeof(g->now.stage));
	g->last = dl_clock_monotonic();
}

void dl_gather_stage(struct dl_gather *g, enum dl_metrics_stage stage)
{
	double now = dl_clock_monotonic();

	g->now.stage[stage] += now - g->last;
	g->last = now;
}

void dl_gather_refusal(struct dl_gather *g, const char *number)
{
	g->now.refusal = number;
}

/*
 * In classic mode nothing has judged the tables yet.  Without memory the
 * verdict stays unknown.
 */
static void judge(struct dl_gather *g, const struct dl_sweep_plan *p)
{
	struct dl_verify_result *v;

	if (dl_route_verify(p->routed.tables, p->routed.tree, &v))
		return;
	dl_metrics_verdict(&g->now, v);
	dl_verify_result_free(v);
	dl_gather_stage(g, DL_METRICS_PROOF);
}

static void count_plan(struct dl_gather *g, const struct dl_sweep_plan *p)
{
	const struct dl_route_report *r = p->proven ? &p->routed.report : NULL;
	double *stage = g->now.stage;

	dl_metrics_tables(&g->now, p->routed.tables, r);
	if (!r) {
		judge(g, p);
		return;
	}
	stage[DL_METRICS_REPAIR] = r->search_seconds;
	stage[DL_METRICS_PROOF] = r->verify_seconds;
	stage[DL_METRICS_ROUTING] -= r->search_seconds + r->verify_seconds;
}

/* What the switches hold: what OpenSM has been given for them. */
static void take_forwarding(struct dl_engine *e, struct dl_tables *t)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t s;

	for (s = 0; s < f->nswitches; s++) {
		osm_switch_t *sw = osm_get_switch_by_guid(
			&e->osm->subn,
			cl_hton64(f->nodes[f->switches[s]].guid));

		if (sw && sw->new_lft && sw->lft_size > t->top_lid)
			memcpy(t->lft + s * (size_t)t->stride, sw->new_lft,
			       t->top_lid + 1u);
	}
}

/*
 * The last good tables stay in force on a fabric that they were not made for:
 * what do they still reach?  Without groups: whether there are credit loops
 * is still as it was, since nothing has been added that waits.
 */
static int judge_kept(struct dl_engine *e)
{
	struct dl_fabric *f = NULL;
	struct dl_tables *t = NULL;
	struct dl_verify_result *v;
	uint64_t loop_free = e->gather.now.number[DL_METRICS_LOOP_FREE];
	int err = dl_import(e->osm, NULL, &f);

	if (!err)
		err = dl_tables_remap(e->plan->routed.tables, f, &t);
	if (!err) {
		take_forwarding(e, t);
		err = dl_verify(t, NULL, NULL, &v);
	}
	if (!err) {
		v->credit_loop = loop_free == 0;
		dl_metrics_verdict(&e->gather.now, v);
		dl_verify_result_free(v);
	}
	dl_tables_free(t);
	dl_fabric_free(f);
	return err;
}

void dl_gather_end(struct dl_engine *e, enum dl_metrics_sweep_result what)
{
	struct dl_metrics *m = &e->gather.now;

	if (!e->options.metrics)
		return;
	if (what == DL_METRICS_ROUTED)
		count_plan(&e->gather, e->plan);
	else if (what == DL_METRICS_ASIDE || judge_kept(e))
		dl_metrics_no_tables(m);
	if (e->plan)
		count_groups(e);
	dl_metrics_sweep(m, what, unix_time());
	publish(e, true);
}
