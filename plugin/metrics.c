/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Numbers for monitoring: counted in each sweep, and written with metrics=
 * when OpenSM starts and ends, in each heavy sweep, when it reports that it has
 * become standby, and with sa_db_dump when groups have changed.
 *
 * All calls come from the sweeping thread, but for the first and the last, when
 * that thread does not run.  Nothing is written between sweeps: the service manager
 * knows better whether the process still runs.
 */
#include <string.h>
#include <time.h>

#include "dateline/base.h"
#include "metrics.h"
#include "engine.h"
#include "import.h"
#include "log.h"
#include "sweep.h"

static double unix_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* A failure is logged once, until writing succeeds again. */
static void metrics_publish(struct dl_engine *e)
{
	struct dl_metrics *m = &e->metrics.now;
	const char *path = e->options.metrics;
	int err;

	if (!path)
		return;
	m->smps = (uint32_t)e->osm->stats.qp0_mads_sent;
	m->master = m->up && e->osm->subn.sm_state == IB_SMINFO_STATE_MASTER;
	err = dl_metrics_write(m, path);
	if (err && !e->metrics.failing)
		DL_SAY(e->osm, OSM_LOG_ERROR, "ERR DL32: metrics cannot be written to %s: %s", path,
		       strerror(-err));
	e->metrics.failing = err;
}

void dl_metrics_start(struct dl_engine *e)
{
	dl_metrics_init(&e->metrics.now, e->options.route.mode);
	e->metrics.now.up = true;
	metrics_publish(e);
}

void dl_metrics_stop(struct dl_engine *e)
{
	e->metrics.now.up = false;
	metrics_publish(e);
}

/* Multicast LIDs in use, and who uses most.  OpenSM's lock is held. */
static void metrics_count_groups(struct dl_engine *e)
{
	const osm_subn_t *subn = &e->osm->subn;
	uint64_t *number = e->metrics.now.number, n = 0, most = 0;
	const cl_map_item_t *end = cl_qmap_end(&subn->port_guid_tbl), *at;

	for (size_t i = 0; i < sizeof(subn->mboxes) / sizeof(*subn->mboxes); i++)
		n += subn->mboxes[i] != NULL;
	for (at = cl_qmap_head(&subn->port_guid_tbl); at != end; at = cl_qmap_next(at)) {
		uint64_t joined = cl_qlist_count(&((const osm_port_t *)at)->mcm_list);

		most = joined > most ? joined : most;
	}
	number[DL_METRICS_GROUPS] = n;
	number[DL_METRICS_GROUPS_PER_PORT] = most;
	number[DL_METRICS_GROUP_CAPACITY] =
		subn->max_mcast_lid_ho < IB_LID_MCAST_START_HO ?
			0 :
			subn->max_mcast_lid_ho - IB_LID_MCAST_START_HO + 1;
}

void dl_metrics_event(struct dl_engine *e, osm_epi_event_id_t event)
{
	struct dl_metrics *m = &e->metrics.now;

	switch (event) {
	case OSM_EVENT_ID_HEAVY_SWEEP_START:
		m->sweep_start = unix_time();
		break;
	case OSM_EVENT_ID_SUBNET_UP:
		m->subnet_up = unix_time();
		/* fall through */
	case OSM_EVENT_ID_SA_DB_DUMPED: /* with sa_db_dump: groups may have changed */
		CL_PLOCK_ACQUIRE(&e->osm->lock);
		if (e->in_force)
			metrics_count_groups(e);
		CL_PLOCK_RELEASE(&e->osm->lock);
		break;
	case OSM_EVENT_ID_UCAST_ROUTING_DONE:
	case OSM_EVENT_ID_STATE_CHANGE:
		break;
	default:
		return;
	}
	metrics_publish(e);
}

void dl_metrics_begin(struct dl_engine *e)
{
	memset(e->metrics.now.stage, 0, sizeof(e->metrics.now.stage));
	e->metrics.last = dl_clock_monotonic();
}

void dl_metrics_stage_done(struct dl_engine *e, enum dl_metrics_stage stage)
{
	double now = dl_clock_monotonic();

	e->metrics.now.stage[stage] += now - e->metrics.last;
	e->metrics.last = now;
}

/* Classic mode verifies nothing: do so for the metrics. */
static void metrics_verify_classic(struct dl_engine *e)
{
	struct dl_verify_result *v;

	if (dl_route_verify_sls(e->in_force->routed.tables, e->in_force->routed.tree, 0,
				DL_ROUTE_MULTICAST_SLS, &v))
		return;
	dl_metrics_verdict(&e->metrics.now, v);
	dl_verify_result_free(v);
	dl_metrics_stage_done(e, DL_METRICS_PROOF);
}

static void metrics_count_tables(struct dl_engine *e)
{
	const struct dl_sweep *sweep = e->in_force;
	const struct dl_route_report *r = sweep->proven ? &sweep->routed.report : NULL;
	double *stage = e->metrics.now.stage;

	dl_metrics_tables(&e->metrics.now, sweep->routed.tables, r);
	if (!r) {
		metrics_verify_classic(e);
		return;
	}
	stage[DL_METRICS_REPAIR] = r->search_seconds;
	stage[DL_METRICS_PROOF] += r->verify_seconds;
	stage[DL_METRICS_ROUTING] -= r->search_seconds + r->verify_seconds;
}

/* The forwarding tables that OpenSM has been given for the switches. */
static void take_forwarding(struct dl_engine *e, struct dl_tables *t)
{
	uint32_t s;

	for (s = 0; s < t->fabric->nswitches; s++) {
		osm_switch_t *sw = dl_sweep_switch(e, t->fabric, s);

		if (sw && sw->new_lft && sw->lft_size > t->top_lid)
			memcpy(t->lft + s * (size_t)t->stride, sw->new_lft, t->top_lid + 1u);
	}
}

/*
 * The last good tables stay in force on a fabric that they were not made for:
 * what do they still reach?  Without groups: whether there are credit loops
 * is still as it was, since nothing has been added that waits.
 */
static int metrics_verify_kept(struct dl_engine *e)
{
	struct dl_arena arena = { 0 };
	struct dl_fabric *f = NULL;
	struct dl_tables *t = NULL;
	struct dl_verify_result *v;
	uint64_t loop_free = e->metrics.now.number[DL_METRICS_LOOP_FREE];
	int err = dl_import(e->osm, &arena, false, NULL, &f);

	if (!err)
		err = dl_tables_remap(e->in_force->routed.tables, f, &t);
	if (!err) {
		take_forwarding(e, t);
		err = dl_verify(t, NULL, NULL, &v);
	}
	if (!err) {
		v->verdict = loop_free ? DL_VERIFY_FREE : DL_VERIFY_LOOP;
		dl_metrics_verdict(&e->metrics.now, v);
		dl_verify_result_free(v);
	}
	dl_tables_free(t);
	dl_fabric_free(f);
	dl_arena_free(&arena);
	return err;
}

void dl_metrics_end(struct dl_engine *e, enum dl_metrics_sweep_result what)
{
	struct dl_metrics *m = &e->metrics.now;

	if (!e->options.metrics)
		return;
	if (what == DL_METRICS_ROUTED)
		metrics_count_tables(e);
	else if (what == DL_METRICS_ASIDE || metrics_verify_kept(e))
		dl_metrics_no_tables(m);
	if (e->in_force && what != DL_METRICS_ASIDE)
		metrics_count_groups(e);
	dl_metrics_count_sweep(m, what, unix_time());
	/* Else OpenSM is about to say, without its lock, that it has routed. */
	if (what == DL_METRICS_ASIDE)
		metrics_publish(e);
}
