/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The callbacks through which OpenSM routes (rules part A in OpenSM: A5 to A7,
 * A9, A11).
 *
 * Tables are in force exactly as long as Dateline is the engine in use: OpenSM
 * asks each engine in turn for tables at every heavy sweep, and only the one
 * that made them for SL-to-VL maps, arbitration, path SLs and trees.  They may
 * be older than the subnet: see keep_in_force().
 *
 * OpenSM asks with its lock held exclusively, and path queries wait for that
 * lock.  The engine holds it while it copies the subnet, releases it while it
 * computes tables from the copy, and takes it again to hand them over.  Meanwhile
 * queries are answered by the tables in force.  Only the sweeping thread, which
 * calls the engine, adds and removes nodes and LIDs.  Changes by other threads,
 * such as a link that a trap takes down, count as changes after routing: the sweep
 * that these threads ask for deals with them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/base.h"
#include "engine.h"
#include "avoid.h"
#include "coordinates.h"
#include "log.h"
#include "maps.h"
#include "marks.h"
#include "mcast.h"
#include "metrics.h"
#include "phases.h"
#include "phases_plan.h"
#include "qos.h"
#include "recall.h"
#include "rivals.h"
#include "dump_dir.h"
#include "sweep.h"

/* OpenSM's return values of a routing engine. */
enum { DONE = 0, FAILED = -1 };

static void drop_tables(struct dl_engine *e)
{
	dl_phases_abandon(e);
	dl_phases_forget_mixture(e);
	dl_marks_disown(e);
	dl_sweep_free(e->in_force);
	e->in_force = NULL;
	dl_change_enter(e, DL_CHANGE_UNKNOWN);
}

const struct dl_sweep *dl_engine_tables(const struct dl_engine *e)
{
	return e->sweep == DL_SWEEP_BROKEN ? NULL : e->in_force;
}

/*
 * Hop counts would cost a byte per switch, port and LID, and only engines
 * that route by them need them: like the built-in torus engine, do without.
 */
static int build_lid_matrices(void *context)
{
	(void)context;
	return DONE;
}

/*
 * OpenSM keeps a LID that a port came with also where it is beyond the switches'
 * forwarding tables, and would write entries that they do not have.
 */
static void engine_limit_lids(const struct dl_engine *e, const struct dl_fabric *f)
{
	/* Entries that the switches hold now must be closed, too. */
	uint16_t held = e->in_force ? e->in_force->fabric->top_lid : 0;
	uint32_t limit = dl_sweep_lid_limit(f);

	for (osm_switch_t *sw = dl_opensm_next(e->osm, NULL); sw; sw = dl_opensm_next(e->osm, sw)) {
		if (sw->max_lid_ho >= limit)
			sw->max_lid_ho = held > f->top_lid ? held : f->top_lid;
	}
}

/*
 * Maps of switches that are left out need not be written again: engine_leaves_alone().  Of
 * LinearFDBCap OpenSM asks nobody again before a heavy sweep: a wrong answer would last.
 */
static void engine_spare_left_out(struct dl_engine *e, const struct dl_fabric *f)
{
	osm_node_t *node = NULL;

	while ((node = dl_opensm_next_node(e->osm, node))) {
		if (!dl_sweep_leaves_out(f, node))
			continue;
		if (cl_ntoh16(node->sw->switch_info.lin_cap) <= f->top_lid &&
		    e->next_sweep < DL_NEXT_HEAVY)
			e->next_sweep = DL_NEXT_HEAVY;
		dl_marks_preserve(e, node->sw);
		for (unsigned int o = 0; o < osm_node_get_num_physp(node); o++) {
			osm_physp_t *p = osm_node_get_physp_ptr(node, o);

			if (p)
				p->need_update = 0;
		}
	}
}

/*
 * Hand the forwarding tables over.  OpenSM has filled new_lft with "no path"
 * and sized it for the highest LID.
 */
static int copy_tables(struct dl_engine *e, const struct dl_sweep *sweep)
{
	const struct dl_tables *t = sweep->routed.tables;
	const struct dl_fabric *f = sweep->fabric;
	uint32_t s;

	engine_limit_lids(e, f);
	for (s = 0; s < f->nswitches; s++) {
		osm_switch_t *sw = dl_sweep_switch(e, f, s);

		if (!sw || !sw->new_lft || sw->lft_size <= t->top_lid) {
			DL_SAY(e->osm, OSM_LOG_ERROR,
			       "ERR DL17: switch 0x%016" PRIx64
			       " has no room for LID %u in its forwarding "
			       "table",
			       f->nodes[f->switches[s]].guid, t->top_lid);
			return -ENOSPC;
		}
		memcpy(sw->new_lft, t->lft + (size_t)s * t->stride, t->top_lid + 1u);
		dl_marks_write(e, sweep, s, sw);
	}
	engine_spare_left_out(e, f);
	return 0;
}

static struct osm_routing_engine *find_engine(const struct dl_engine *e)
{
	struct osm_routing_engine *re = e->osm->routing_engine_list;

	while (re && re->context != e)
		re = re->next;
	return re;
}

/*
 * Is there no other engine for this fabric?  OpenSM would then leave the switches'
 * tables alone, but forget the routing: path queries would find no path, and
 * multicast joins would build trees that nobody has verified.
 */
static bool is_last_resort(const struct dl_engine *e)
{
	const struct osm_routing_engine *re = find_engine(e);

	return re && !re->next && e->osm->no_fallback_routing_engine;
}

static bool engine_sees_moved_cable(const struct dl_engine *e)
{
	const struct dl_fabric *f = e->in_force->fabric;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *n = &f->nodes[f->switches[s]];
		osm_switch_t *sw = dl_sweep_switch(e, f, s);

		for (unsigned int o = 1; sw && o <= n->nports; o++) {
			osm_physp_t *p = osm_node_get_physp_ptr(sw->p_node, o);

			if (p && osm_physp_get_remote(p) &&
			    dl_sweep_is_recabled(f, n->first_port + o, sw))
				return true;
		}
	}
	return false;
}

void dl_engine_distrust(struct dl_engine *e)
{
	bool rival, moved;

	CL_PLOCK_ACQUIRE(&e->osm->lock);
	rival = dl_rivals_at_work(e);
	moved = e->in_force && e->wrote && engine_sees_moved_cable(e);
	CL_PLOCK_RELEASE(&e->osm->lock);
	if (!e->in_force || e->change != DL_CHANGE_SETTLED || !(rival || moved))
		return;
	dl_change_enter(e, DL_CHANGE_UNKNOWN);
	/* Without a plan nothing is read: all is written again. */
	if (!e->options.transitions || e->options.route.mode == DL_ROUTE_CLASSIC)
		e->osm->subn.need_update = 1;
}

/*
 * Keep one switch's table.  Entries for cables that are gone stay; entries for
 * cables that lead elsewhere now are closed, as they would send packets along
 * routes that were not verified.
 */
static void keep_tables(const struct dl_engine *e, uint32_t s, osm_switch_t *sw)
{
	const struct dl_sweep *sweep = e->in_force;
	const struct dl_tables *t = sweep->routed.tables;
	const uint8_t *lft = e->mixture ? e->mixture : t->lft;
	const struct dl_fabric_node *node = &sweep->fabric->nodes[sweep->fabric->switches[s]];
	/* LIDs above the table's end are gone. */
	unsigned int n = t->top_lid < sw->lft_size ? t->top_lid + 1u : sw->lft_size;
	unsigned int num, lid;

	memcpy(sw->new_lft, lft + (size_t)s * t->stride, n);
	for (num = 1; num <= node->nports; num++) {
		if (!dl_sweep_is_recabled(sweep->fabric, node->first_port + num, sw))
			continue;
		for (lid = 0; lid < n; lid++)
			if (sw->new_lft[lid] == num)
				sw->new_lft[lid] = DL_TABLES_NO_PORT;
	}
}

/*
 * Keep the last good tables in force (rules A11): the switches that are left
 * hold them already, and one that comes back empty gets them again.  OpenSM
 * takes the sweep for a success: dl_engine_ask_again() asks for another one.
 */
static void keep_in_force(struct dl_engine *e)
{
	const struct dl_fabric *f = e->in_force->fabric;
	uint32_t s;

	if (e->next_sweep < DL_NEXT_HEAVY)
		e->next_sweep = DL_NEXT_HEAVY;
	engine_limit_lids(e, f);
	for (s = 0; s < f->nswitches; s++) {
		osm_switch_t *sw = dl_sweep_switch(e, f, s);

		if (!sw || !sw->new_lft)
			continue;
		keep_tables(e, s, sw);
		dl_marks_write(e, e->in_force, s, sw);
	}
	engine_spare_left_out(e, f);
	DL_SAY(e->osm, OSM_LOG_ERROR,
	       "ERR DL19: the last good tables stay in force until the cause "
	       "is gone; what came since is not routed, and paths across what "
	       "went are broken");
}

/*
 * Release OpenSM's lock, and take it again.  Meanwhile OpenSM answers by the tables
 * in force, if there are any; afterwards its tables are empty again.
 */
static void give_lock_back(struct dl_engine *e)
{
	const struct dl_fabric *f = e->in_force ? e->in_force->fabric : NULL;

	for (uint32_t s = 0; f && s < f->nswitches; s++) {
		osm_switch_t *sw = dl_sweep_switch(e, f, s);

		if (sw && sw->new_lft)
			keep_tables(e, s, sw);
	}
	e->osm->routing_engine_used = f ? find_engine(e) : NULL;
	CL_PLOCK_RELEASE(&e->osm->lock);
}

static void take_lock_again(struct dl_engine *e)
{
	CL_PLOCK_EXCL_ACQUIRE(&e->osm->lock);
	e->osm->routing_engine_used = NULL;
	if (!e->in_force)
		return;
	for (osm_switch_t *sw = dl_opensm_next(e->osm, NULL); sw; sw = dl_opensm_next(e->osm, sw)) {
		if (sw->new_lft)
			memset(sw->new_lft, OSM_NO_PATH, sw->lft_size);
	}
}

/* Compute tables for the subnet, and plan the steps that lead to them. */
static int engine_compute(struct dl_engine *e, struct dl_sweep **out, struct dl_phases **phases)
{
	int err = dl_sweep_begin(e, out);
	bool clears;

	if (err)
		return err;
	clears = (dl_phases_are_known(e) || e->recall.known) && wait_for_pending_transactions &&
		 dl_marks_clear(e);
	give_lock_back(e);
	if (clears)
		wait_for_pending_transactions(&e->osm->stats);
	err = dl_sweep_run(e, *out);
	if (!err) {
		err = dl_qos_apply(e, *out);
		e->metrics.now.refusal = err ? "DL16" : e->metrics.now.refusal;
	}
	dl_metrics_stage_done(e, DL_METRICS_ROUTING);
	if (!err) {
		err = dl_phases_plan(e, *out, phases);
		e->metrics.now.refusal = err ? "DL29" : e->metrics.now.refusal;
	}
	dl_metrics_stage_done(e, DL_METRICS_PROOF);
	take_lock_again(e);
	return err;
}

/* Everything that may refuse the fabric, each with its error number. */
static int engine_compute_tables(struct dl_engine *e, struct dl_sweep **out,
				 struct dl_phases **phases)
{
	struct dl_metrics *m = &e->metrics.now;
	int err;

	if (!e->osm->subn.opt.qos) {
		m->refusal = "DL10";
		DL_SAY(e->osm, OSM_LOG_ERROR,
		       "ERR DL10: quality of service is off, but this routing "
		       "is safe only with its SL to VL maps: start opensm "
		       "with -Q or set qos TRUE");
		return -ENOTSUP;
	}
	err = engine_compute(e, out, phases);
	if (err)
		return err;
	err = dl_maps_count_cut(e, *out, NULL);
	if (err) {
		m->refusal = "DL16";
		return err;
	}
	err = copy_tables(e, *out);
	if (err) {
		m->refusal = "DL17";
		return err;
	}
	dl_metrics_stage_done(e, DL_METRICS_EXPORT);
	return 0;
}

/* After a fault of Dateline's own, or without memory, its tables stay: they are good. */
static int engine_refuse(struct dl_engine *e, int err)
{
	const struct osm_routing_engine *next = find_engine(e);

	next = next ? next->next : NULL;
	if (e->in_force && (err == -EPROTO || err == -ENOMEM || is_last_resort(e))) {
		if (!dl_sweep_enter(e, DL_SWEEP_KEEPING))
			return FAILED;
		/* The top rises all the same. */
		if (wait_for_pending_transactions && dl_marks_clear(e)) {
			give_lock_back(e);
			wait_for_pending_transactions(&e->osm->stats);
			take_lock_again(e);
		}
		dl_phases_keep(e);
		keep_in_force(e);
		dl_metrics_end(e, DL_METRICS_KEPT);
		return DONE;
	}
	/* Files are written without OpenSM's lock. */
	give_lock_back(e);
	dl_metrics_end(e, DL_METRICS_ASIDE);
	take_lock_again(e);
	drop_tables(e);
	dl_sweep_enter(e, DL_SWEEP_ASIDE);
	DL_SAY(e->osm, OSM_LOG_INFO, "this fabric is not routed by dateline: %s%s",
	       is_last_resort(e) ? "nobody routes it" : "OpenSM tries ",
	       next		 ? next->name :
	       is_last_resort(e) ? "" :
				   "minimum-hop routing");
	return FAILED;
}

/*
 * The flag lets OpenSM's next sweep be a heavy one.  It is set when a sweep has
 * ended, for within one it would keep OpenSM from writing its dumps.
 */
void dl_engine_ask_again(struct dl_engine *e)
{
	if (e->next_sweep >= DL_NEXT_HEAVY)
		e->osm->subn.subnet_initialization_error = TRUE;
	/* Once at once, then whenever OpenSM sweeps. */
	if (e->next_sweep == DL_NEXT_AT_ONCE && e->last_asked_for != DL_NEXT_AT_ONCE)
		osm_sm_sweep(&e->osm->sm);
	e->last_asked_for = e->next_sweep;
	e->next_sweep = DL_NEXT_AS_USUAL;
}

void dl_engine_begin(struct dl_engine *e)
{
	if (e->osm->subn.opt.use_ucast_cache &&
	    (e->change != DL_CHANGE_SETTLED || e->last_asked_for >= DL_NEXT_HEAVY ||
	     dl_avoid_file_has_changed(e)))
		osm_ucast_cache_invalidate(&e->osm->sm.ucast_mgr);
}

/* Where OpenSM has cut SL-to-VL maps, the next sweep follows at once: see qos.c. */
static void ask_for_maps(struct dl_engine *e)
{
	/* Once: where OperVLs does not rise, another sweep would not help. */
	if (e->in_force->cut && e->in_force->cut != e->cut_before) {
		e->osm->subn.force_heavy_sweep = TRUE;
		osm_sm_sweep(&e->osm->sm);
	}
	e->cut_before = e->in_force->cut;
	e->in_force->cut = 0;
}

void dl_engine_subnet_up(struct dl_engine *e)
{
	e->branches_left = e->branches_left && e->osm->subn.subnet_initialization_error;
	if (dl_engine_tables(e) && dl_sweep_enter(e, DL_SWEEP_IDLE)) {
		dl_mcast_rest(e);
		dl_mcast_prune(e);
		dl_dump_dir_write(e);
		dl_drain_look(e);
	}
	if (dl_engine_tables(e))
		dl_avoid_report(e);
	if (e->in_force)
		dl_engine_ask_again(e);
	if (dl_engine_tables(e)) {
		ask_for_maps(e);
		dl_qos_check_policy(e);
	}
}

/* The sweep's tables are put in force, or the steps that lead to them begin. */
static int engine_hand_over(struct dl_engine *e, struct dl_sweep *sweep, struct dl_phases *phases,
			    double start)
{
	if (!dl_sweep_enter(e, DL_SWEEP_WRITING)) {
		dl_phases_discard(phases);
		dl_sweep_free(sweep);
		return FAILED;
	}
	if (e->in_force)
		dl_marks_remember(e, e->in_force, sweep);
	dl_phases_begin(e, sweep, phases);
	dl_sweep_report(e, sweep, dl_clock_monotonic() - start);
	/* The steps need the old tables. */
	if (!e->phases)
		dl_sweep_free(e->in_force);
	e->in_force = sweep;
	if (e->sweep == DL_SWEEP_BROKEN) {
		drop_tables(e);
		return FAILED;
	}
	dl_metrics_end(e, DL_METRICS_ROUTED);
	return DONE;
}

static int build_fwd_tables(void *context)
{
	struct dl_engine *e = context;
	bool interrupted = e->sweep != DL_SWEEP_IDLE, returns = e->sweep == DL_SWEEP_ASIDE;
	struct dl_phases *phases = NULL;
	struct dl_sweep *sweep = NULL;
	double start = dl_clock_monotonic();
	int err;

	dl_phases_abandon(e);
	if (!dl_sweep_enter(e, DL_SWEEP_COMPUTING))
		return FAILED;
	/* OpenSM may not have written what the sweep before left to it. */
	e->clear_groups = interrupted ||
			  (e->osm->subn.first_time_master_sweep && e->recall.set_up_before);
	dl_metrics_begin(e);
	err = engine_compute_tables(e, &sweep, &phases);
	if (!err && returns && !is_last_resort(e))
		dl_coordinates_report_return(e);
	if (!err)
		return engine_hand_over(e, sweep, phases, start);
	dl_phases_discard(phases);
	dl_sweep_free(sweep);
	return engine_refuse(e, err);
}

/*
 * The end port whose SLs a LID gets as the source: its own; or, where it came after the
 * tables, that of the switch at its cable, as SLs follow from coordinates.
 */
static uint32_t engine_find_source(const struct dl_engine *e, const struct dl_sweep *sweep,
				   ib_net16_t lid)
{
	const struct dl_fabric *f = sweep->fabric;
	const cl_ptr_vector_t *table = &e->osm->subn.port_lid_tbl;
	const osm_port_t *owner = cl_ntoh16(lid) < cl_ptr_vector_get_size(table) ?
					  cl_ptr_vector_get(table, cl_ntoh16(lid)) :
					  NULL;
	const osm_physp_t *far = owner ? osm_physp_get_remote(owner->p_physp) : NULL;
	uint32_t port = dl_sweep_lid_owner(sweep, lid), node;

	if (!far || (port != DL_NONE && f->ports[port].guid == cl_ntoh64(owner->guid)))
		return port;
	node = dl_fabric_find_guid(f, cl_ntoh64(osm_node_get_node_guid(far->p_node)));
	return node != DL_NONE && dl_fabric_is_switch(f, node) ? f->nodes[node].first_port :
								 DL_NONE;
}

/*
 * Rules A5: from the tables; the QoS level is bit 3 of the hint.  During a change the new
 * tables answer; or the old ones until its first step is over, where new SLs are not safe
 * before (dl_phases_granting()); if nobody knows the SLs of these, OpenSM is shown no path
 * until then.  Granted SLs stay as long as mode and grid do, so that both sets agree; if
 * mode or grid change, connections must be set up again in any case (dateline-migration(7)).
 */
static uint8_t path_sl(void *context, uint8_t hint, const ib_net16_t slid, const ib_net16_t dlid)
{
	const struct dl_engine *e = context;
	const struct dl_sweep *sweep;
	uint32_t port;
	unsigned int sl;

	if (!dl_engine_tables(e))
		return hint;
	sweep = dl_phases_granting(e);
	port = engine_find_source(e, sweep, slid);
	if (port == DL_NONE)
		return hint;
	sl = dl_tables_path_sl(sweep->routed.tables, port, cl_ntoh16(dlid));
	return sl == DL_TABLES_NO_SL ? hint : sl | (hint & 8);
}

/*
 * OpenSM destroys its engines first and its plugins after them; the state belongs
 * to the plugin, which may be loaded without being used as engine.
 */
static void engine_destroy(void *context)
{
	/* With opensm -o the end comes before the report of SUBNET UP. */
	dl_dump_dir_write(context);
	dl_dump_dir_end(context);
	drop_tables(context);
}

int dl_engine_setup(struct osm_routing_engine *re, struct osm_opensm *osm)
{
	(void)osm;
	re->build_lid_matrices = build_lid_matrices;
	re->ucast_build_fwd_tables = build_fwd_tables;
	re->update_sl2vl = dl_maps_update;
	re->update_vlarb = dl_maps_update_arbitration;
	re->path_sl = path_sl;
	re->mcast_build_stree = dl_mcast_build;
	re->destroy = engine_destroy;
	return 0;
}
