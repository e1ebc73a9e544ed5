/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One sweep's work, from OpenSM's subnet to tables and a multicast tree.  Each
 * stage has its own number under which it reports; the sweep owns what the
 * stages made, and what a failed stage leaves behind is released here.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sweep.h"
#include "avoid.h"
#include "coordinates.h"
#include "engine.h"
#include "import.h"
#include "log.h"
#include "metrics.h"
#include "recall.h"

#define FAULT "DL18" /* a broken invariant */

uint32_t dl_sweep_lid_limit(const struct dl_fabric *f)
{
	uint32_t limit = UINT32_MAX;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		uint32_t cap = dl_fabric_switch_node(f, s)->lft_cap;

		limit = cap && cap < limit ? cap : limit;
	}
	return limit;
}

/* The top of more than half of the switches, if any: some may lie, or have lost their tables. */
static uint32_t sweep_held_top(const struct dl_engine *e)
{
	uint32_t top = 0, lead = 0, votes = 0, n = 0;

	for (osm_switch_t *sw = dl_opensm_next(e->osm, NULL); sw; sw = dl_opensm_next(e->osm, sw)) {
		uint32_t held = dl_recall_top(sw);

		if (!lead)
			top = held;
		lead += held == top ? 1 : -1;
	}
	/* No other can have more than half; has this one? */
	for (osm_switch_t *sw = dl_opensm_next(e->osm, NULL); sw; sw = dl_opensm_next(e->osm, sw)) {
		votes += dl_recall_top(sw) == top;
		n++;
	}
	return 2 * votes > n ? top : 0;
}

/*
 * The highest LID stays, as OpenSM's does, where all switches have an entry for it: to a node
 * that had it, and is gone, packets may be under way.  A new master has not seen such a node.
 */
static int sweep_keep_lids(const struct dl_engine *e, struct dl_fabric *f)
{
	uint32_t top = e->in_force ? e->in_force->fabric->top_lid : sweep_held_top(e);

	if (top >= dl_sweep_lid_limit(f))
		top = dl_sweep_lid_limit(f) - 1;
	for (osm_switch_t *sw = dl_opensm_next(e->osm, NULL); sw; sw = dl_opensm_next(e->osm, sw))
		if (top > sw->max_lid_ho && osm_switch_prepare_path_rebuild(sw, (uint16_t)top))
			return -ENOMEM;
	return dl_fabric_widen(f, (uint16_t)top);
}

/*
 * OpenSM writes to a port along the path by which it answered last.  Where cables were moved,
 * that of one that is silent now may lead to another switch, as the switch's own does not.
 */
static void sweep_refresh_paths(const struct dl_engine *e)
{
	osm_switch_t *sw = NULL;

	while ((sw = dl_opensm_next(e->osm, sw))) {
		osm_physp_t *own = osm_node_get_physp_ptr(sw->p_node, 0), *physp;

		for (unsigned int o = 1; own && o < osm_node_get_num_physp(sw->p_node); o++)
			if ((physp = osm_node_get_physp_ptr(sw->p_node, o)))
				*osm_physp_get_dr_path_ptr(physp) = *osm_physp_get_dr_path_ptr(own);
	}
}

static int stage_import(struct dl_engine *e, const struct dl_log *log, struct dl_sweep *sweep)
{
	int err;

	sweep_refresh_paths(e);
	err = dl_import(e->osm, &sweep->arena, e->options.route.mode != DL_ROUTE_ANY_SL, log,
			&sweep->fabric);
	return err ? err : sweep_keep_lids(e, sweep->fabric);
}

static int stage_config(struct dl_engine *e, const struct dl_log *log, struct dl_sweep *sweep)
{
	const char *path = e->osm->subn.opt.torus_conf_file;

	return dl_coordinates_are_configured(path) ?
		       dl_torus_config_read(path, log, &sweep->config) :
		       0;
}

static int stage_discover(struct dl_engine *e, const struct dl_log *log, struct dl_sweep *sweep)
{
	return sweep->config ? dl_coordinates_complete(e, log, sweep) :
			       dl_coordinates_discover(e, log, sweep);
}

static int stage_route(struct dl_engine *e, const struct dl_log *log, struct dl_sweep *sweep)
{
	enum dl_route_mode mode = e->options.route.mode;
	struct dl_route_options o = e->options.route;

	sweep->proven = mode != DL_ROUTE_CLASSIC;
	/* Rules A9, A13. */
	sweep->safe_sls = mode == DL_ROUTE_ANY_SL ? DL_VERIFY_ANY_SL : DL_ROUTE_MULTICAST_SLS;
	o.avoid = sweep->avoided;
	return dl_route(sweep->torus, sweep->config, &o, log, &sweep->routed);
}

static int stage_tree(struct dl_engine *e, const struct dl_log *log, struct dl_sweep *sweep)
{
	(void)e;
	(void)log;
	sweep->masks.nswitches = sweep->fabric->nswitches;
	sweep->refused =
		dl_arena_zalloc(&sweep->arena, IB_LID_MCAST_END_HO - IB_LID_MCAST_START_HO + 1);
	if (!sweep->refused)
		return -ENOMEM;
	return sweep->routed.tree ? 0 : -ENOTCONN;
}

static const struct stage {
	const char *number;
	enum dl_metrics_stage time;
	osm_log_level_t info; /* level of the library's information */
	const char *what;
	int (*run)(struct dl_engine *e, const struct dl_log *log, struct dl_sweep *sweep);
} import = { "DL12", DL_METRICS_IMPORT, OSM_LOG_INFO, "taking over the subnet", stage_import },
  stages[] = {
	  { "DL11", DL_METRICS_DISCOVERY, OSM_LOG_INFO, "reading torus_config", stage_config },
	  { "DL13", DL_METRICS_DISCOVERY, OSM_LOG_INFO, "finding the torus", stage_discover },
	  { "DL40", DL_METRICS_DISCOVERY, OSM_LOG_INFO, "reading what to avoid", dl_avoid_resolve },
	  /* One line at the end of the sweep sums up. */
	  { "DL14", DL_METRICS_ROUTING, OSM_LOG_VERBOSE, "routing", stage_route },
	  { "DL15", DL_METRICS_ROUTING, OSM_LOG_INFO, "building the multicast tree", stage_tree },
  };
#define NSTAGES (sizeof(stages) / sizeof(stages[0]))

/* A broken invariant, or tables that failed verification. */
static void report_fault(struct dl_engine *e, const char *what)
{
	e->metrics.now.refusal = FAULT;
	DL_SAY(e->osm, OSM_LOG_ERROR,
	       "ERR " FAULT ": %s found a fault of Dateline itself, not of the "
	       "fabric: nothing of this sweep is used",
	       what);
}

/* Out of memory has no words of its own in the library. */
static int run_stage(struct dl_engine *e, const struct stage *stage, struct dl_sweep *sweep)
{
	struct dl_osm_log l;
	int err;

	dl_osm_log_init(&l, e->osm, stage->number);
	l.info = stage->info;
	err = stage->run(e, &l.log, sweep);
	dl_metrics_stage_done(e, stage->time);
	if (!err && sweep->torus && !sweep->routed.tables)
		dl_metrics_torus(&e->metrics.now, sweep->torus);
	if (!err)
		return 0;
	e->metrics.now.refusal = stage->number;
	if (!l.errors)
		dl_log(&l.log, DL_LOG_ERROR, "%s failed: %s", stage->what, strerror(-err));
	if (err == -EPROTO)
		report_fault(e, stage->what);
	return err;
}

int dl_sweep_begin(struct dl_engine *e, struct dl_sweep **out)
{
	struct dl_arena arena = { 0 };
	struct dl_sweep *sweep = dl_arena_zalloc(&arena, sizeof(*sweep));
	int err;

	if (!sweep) {
		DL_SAY(e->osm, OSM_LOG_ERROR, "ERR DL12: no memory to take over the subnet");
		e->metrics.now.refusal = "DL12";
		return -ENOMEM;
	}
	sweep->arena = arena;
	err = run_stage(e, &import, sweep);
	if (err)
		dl_sweep_free(sweep);
	else
		*out = sweep;
	return err;
}

int dl_sweep_run(struct dl_engine *e, struct dl_sweep *sweep)
{
	const struct stage *stage;
	int err = 0;

	for (stage = stages; !err && stage < stages + NSTAGES; stage++)
		err = run_stage(e, stage, sweep);
	return err;
}

struct dl_sweep *dl_sweep_share(struct dl_sweep *sweep)
{
	__atomic_add_fetch(&sweep->shares, 1, __ATOMIC_RELAXED);
	return sweep;
}

void dl_sweep_free(struct dl_sweep *sweep)
{
	struct dl_arena arena;

	if (!sweep || __atomic_fetch_sub(&sweep->shares, 1, __ATOMIC_ACQ_REL))
		return;
	dl_route_result_release(&sweep->routed);
	dl_route_avoided_free(sweep->avoided);
	dl_tables_masks_clear(&sweep->masks);
	dl_torus_free(sweep->torus);
	dl_torus_config_free(sweep->config);
	dl_fabric_free(sweep->fabric);
	arena = sweep->arena;
	dl_arena_free(&arena);
}

osm_switch_t *dl_sweep_switch(const struct dl_engine *e, const struct dl_fabric *f, uint32_t s)
{
	return osm_get_switch_by_guid(&e->osm->subn, cl_hton64(f->nodes[f->switches[s]].guid));
}

bool dl_sweep_leaves_out(const struct dl_fabric *f, const osm_node_t *node)
{
	return node->sw &&
	       dl_fabric_find_guid(f, cl_ntoh64(osm_node_get_node_guid(node))) == DL_NONE;
}

bool dl_sweep_is_recabled(const struct dl_fabric *f, uint32_t port, const osm_switch_t *sw)
{
	uint32_t peer = f->ports[port].peer;
	osm_physp_t *near = osm_node_get_physp_ptr(sw->p_node, f->ports[port].num);
	osm_physp_t *far = near ? osm_physp_get_remote(near) : NULL;
	unsigned int state = near ? osm_physp_get_port_state(near) : IB_LINK_DOWN;

	if (peer == DL_NONE)
		return false;
	if (!far)
		return state == IB_LINK_INIT || state == IB_LINK_ARMED;
	return osm_physp_get_port_num(far) != f->ports[peer].num ||
	       osm_node_get_node_guid(osm_physp_get_node_ptr(far)) !=
		       cl_hton64(f->nodes[f->ports[peer].node].guid);
}

uint32_t dl_sweep_lid_owner(const struct dl_sweep *sweep, ib_net16_t lid)
{
	uint16_t l = cl_ntoh16(lid);

	return l <= sweep->fabric->top_lid ? sweep->fabric->lid_port[l] : DL_NONE;
}

/* The smallest number of data VLs between switches, or on end ports. */
static unsigned int min_vls(const struct dl_fabric *f, bool ends)
{
	unsigned int min = 0;

	for (uint32_t i = 0; i < f->nports; i++) {
		bool counts = ends ? dl_fabric_is_end_port(f, i) : dl_fabric_joins_switches(f, i);
		uint8_t vls = f->ports[i].vls;

		if (vls && counts && (!min || vls < min))
			min = vls;
	}
	return min;
}

void dl_sweep_report(const struct dl_engine *e, const struct dl_sweep *sweep, double seconds)
{
	const struct dl_torus *t = sweep->torus;
	const struct dl_torus_grid *g = &t->grid;
	const struct dl_fabric *f = sweep->fabric;
	char result[DL_ROUTE_REPORT_TEXT] = "not verified (classic mode)";
	char dims[DL_TORUS_DIMS][8], pending[120] = "";
	struct dl_osm_log l;
	unsigned int d;

	if (sweep->proven)
		dl_route_report_text(&sweep->routed.report, result, sizeof(result));
	if (sweep->cut)
		snprintf(pending, sizeof(pending),
			 sweep->cut == e->cut_before ?
				 "not in force: OperVLs does not rise on %u "
				 "ports; else " :
				 "not in force before the next sweep, which "
				 "follows at once: OperVLs rises on %u ports; "
				 "then ",
			 sweep->cut);
	for (d = 0; d < DL_TORUS_DIMS; d++)
		snprintf(dims[d], sizeof(dims[d]), "%u%s", g->radix[d],
			 g->mesh[d] && g->radix[d] > 1 ? "M" : "");
	DL_SAY(e->osm, OSM_LOG_INFO,
	       "%s%s; routed a %s x %s x %s torus: %u of %u switches, %u "
	       "cables "
	       "between "
	       "them, %u adapters and routers, at least %u data VLs between "
	       "switches and %u on end ports, seed %u from switch 0x%016" PRIx64 ", %.6f s",
	       pending, result, dims[0], dims[1], dims[2], t->nplaced, f->nswitches, t->nlinks,
	       f->nnodes - f->nswitches, min_vls(f, false), min_vls(f, true), t->seed + 1,
	       sweep->config->nseeds ? sweep->config->seeds[t->seed].from : 0, seconds);
	dl_osm_log_init(&l, e->osm, NULL); /* reports no errors */
	if (!e->in_force) {
		DL_SAY(e->osm, OSM_LOG_INFO, "%s", dl_tables_sl_demand(sweep->routed.tables));
		dl_torus_report_missing(t, sweep->config->max_changes, &l.log);
		return;
	}
	dl_torus_report_changes(e->in_force->torus, t, sweep->config->max_changes, &l.log);
}
