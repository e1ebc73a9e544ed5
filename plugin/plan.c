/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One sweep's work, from OpenSM's subnet to a finished plan.  Each stage has
 * its own number under which it reports; the plan owns what the stages made,
 * and what a failed stage leaves behind is released here.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "dateline/base.h"

static void log_write(void *context, enum dl_log_level level,
		      const char *message)
{
	struct dl_osm_log *l = context;

	switch (level) {
	case DL_LOG_ERROR:
		l->errors++;
		DL_SAY(l->osm, OSM_LOG_ERROR, "ERR %s: %s", l->number, message);
		break;
	case DL_LOG_WARNING:
		DL_SAY(l->osm, OSM_LOG_INFO, "Warning: %s", message);
		break;
	case DL_LOG_INFO:
		DL_SAY(l->osm, OSM_LOG_INFO, "%s", message);
		break;
	case DL_LOG_VERBOSE:
		DL_SAY(l->osm, OSM_LOG_VERBOSE, "%s", message);
		break;
	}
}

void dl_osm_log_init(struct dl_osm_log *l, struct osm_opensm *osm,
		     const char *number)
{
	l->log.write = log_write;
	l->log.context = l;
	l->osm = osm;
	l->number = number;
	l->errors = 0;
}

static int stage_import(const struct dl_engine *e, const struct dl_log *log,
			struct dl_sweep_plan *p)
{
	return dl_import(e->osm, log, &p->fabric);
}

static int stage_config(const struct dl_engine *e, const struct dl_log *log,
			struct dl_sweep_plan *p)
{
	const char *path = e->osm->subn.opt.torus_conf_file;

	return dl_cache_wanted(path) ?
		       0 :
		       dl_torus_config_read(path, log, &p->config);
}

/* The documented rules know nothing of earlier sweeps. */
const struct dl_torus *dl_torus_before(const struct dl_engine *e)
{
	return e->plan && e->options.route.mode == DL_ROUTE_PROVEN ?
		       e->plan->torus :
		       NULL;
}

static int stage_discover(const struct dl_engine *e, const struct dl_log *log,
			  struct dl_sweep_plan *p)
{
	return p->config ? dl_cache_complete(e, log, p) :
			   dl_cache_discover(e, log, p);
}

static int stage_route(const struct dl_engine *e, const struct dl_log *log,
		       struct dl_sweep_plan *p)
{
	p->proven = e->options.route.mode == DL_ROUTE_PROVEN;
	return dl_route(p->torus, p->config, &e->options.route, log,
			&p->routed);
}

static int stage_tree(const struct dl_engine *e, const struct dl_log *log,
		      struct dl_sweep_plan *p)
{
	(void)e;
	(void)log;
	p->masks = malloc((p->fabric->nswitches + 1) * DL_TABLES_MASK_WORDS *
			  sizeof(*p->masks));
	if (!p->masks)
		return -ENOMEM;
	return p->routed.tree ? 0 : -ENOTCONN;
}

static const struct {
	const char *number;
	enum dl_metrics_stage stage;
	const char *what;
	int (*run)(const struct dl_engine *e, const struct dl_log *log,
		   struct dl_sweep_plan *p);
} stages[] = {
	{ "DL12", DL_METRICS_IMPORT, "taking over the subnet", stage_import },
	{ "DL11", DL_METRICS_DISCOVERY, "reading torus_config", stage_config },
	{ "DL13", DL_METRICS_DISCOVERY, "finding the torus", stage_discover },
	{ "DL14", DL_METRICS_ROUTING, "routing", stage_route },
	{ "DL15", DL_METRICS_ROUTING, "building the multicast tree",
	  stage_tree },
};

int dl_plan_make(struct dl_engine *e, struct dl_sweep_plan **out)
{
	struct dl_sweep_plan *p = calloc(1, sizeof(*p));
	struct dl_osm_log l;
	size_t i;
	int err = 0;

	if (!p)
		return -ENOMEM;
	for (i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
		dl_osm_log_init(&l, e->osm, stages[i].number);
		err = stages[i].run(e, &l.log, p);
		dl_gather_stage(&e->gather, stages[i].stage);
		if (!err && stages[i].stage == DL_METRICS_DISCOVERY && p->torus)
			err = dl_metrics_torus(&e->gather.now, p->torus);
		if (!err)
			continue;
		dl_gather_refusal(&e->gather, stages[i].number);
		/* Out of memory has no words of its own in the library. */
		if (!l.errors)
			dl_log(&l.log, DL_LOG_ERROR, "%s failed: %s",
			       stages[i].what, strerror(-err));
		dl_plan_free(p);
		return err;
	}
	*out = p;
	return 0;
}

void dl_plan_free(struct dl_sweep_plan *p)
{
	if (!p)
		return;
	free(p->masks);
	dl_route_result_release(&p->routed);
	dl_torus_free(p->torus);
	dl_torus_config_free(p->config);
	dl_fabric_free(p->fabric);
	free(p);
}

uint32_t dl_plan_lid_owner(const struct dl_sweep_plan *p, ib_net16_t lid)
{
	uint16_t l = cl_ntoh16(lid);

	return l <= p->fabric->top_lid ? p->fabric->lid_port[l] : DL_NONE;
}

/* The smallest number of data VLs between switches, or on end ports. */
static unsigned int min_vls(const struct dl_fabric *f, bool ends)
{
	unsigned int min = 0;
	uint32_t i;

	for (i = 0; i < f->nports; i++) {
		const struct dl_fabric_port *p = &f->ports[i];
		uint32_t peer = dl_fabric_peer_node(f, i);
		bool between = p->num && dl_fabric_is_switch(f, p->node) &&
			       peer != DL_NONE && dl_fabric_is_switch(f, peer);

		if (p->vls && (ends ? dl_fabric_is_end_port(f, i) : between) &&
		    (!min || p->vls < min))
			min = p->vls;
	}
	return min;
}

void dl_plan_report(const struct dl_engine *e, const struct dl_sweep_plan *p,
		    double seconds)
{
	const struct dl_torus_grid *g = &p->torus->grid;
	const struct dl_fabric *f = p->fabric;
	uint64_t seed =
		p->config->nseeds ? p->config->seeds[p->torus->seed].from : 0;
	char dims[DL_TORUS_DIMS][8];
	unsigned int d;

	for (d = 0; d < DL_TORUS_DIMS; d++)
		snprintf(dims[d], sizeof(dims[d]), "%u%s", g->radix[d],
			 g->mesh[d] && g->radix[d] > 1 ? "M" : "");
	DL_SAY(e->osm, OSM_LOG_INFO,
	       "routed a %s x %s x %s torus: %u of %u "
	       "switches, %u cables between them, %u adapters and routers, at "
	       "least %u data VLs between switches and %u on end ports, seed "
	       "%u from switch 0x%016" PRIx64 ", %.6f s",
	       dims[0], dims[1], dims[2], p->torus->nplaced, f->nswitches,
	       p->torus->nlinks, f->nnodes - f->nswitches, min_vls(f, false),
	       min_vls(f, true), p->torus->seed + 1, seed, seconds);
}

void dl_plan_report_changes(const struct dl_engine *e,
			    const struct dl_sweep_plan *before,
			    const struct dl_sweep_plan *after)
{
	struct dl_osm_log l;

	dl_osm_log_init(&l, e->osm, "DL18");
	dl_torus_report_changes(before->torus, after->torus,
				after->config->max_changes, &l.log);
}
