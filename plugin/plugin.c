/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The plugin's face towards OpenSM: the one symbol that it looks up.
 *
 * OpenSM compares osm_version with its own and refuses a plugin that was
 * built for another version, whose structures may differ.  It creates plugins
 * before it looks up the names of its routing engines, and at the end
 * destroys the engines before the plugins.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <opensm/osm_version.h>

#include "engine.h"
#include "dateline/base.h"

#define ENGINE_NAME "dateline"
#define NAME_SEPARATORS " ,\t\r\n"

/* Does event_plugin_name list more plugins than one? */
static bool has_company(const char *names)
{
	if (!names)
		return false;
	names += strspn(names, NAME_SEPARATORS);
	names += strcspn(names, NAME_SEPARATORS);
	names += strspn(names, NAME_SEPARATORS);
	return *names;
}

static int parse_options(struct dl_engine *e)
{
	const struct osm_subn_opt *opt = &e->osm->subn.opt;
	struct dl_osm_log l;

	dl_osm_log_init(&l, e->osm, "DL03");
	return dl_plugin_options_parse(opt->event_plugin_options,
				       has_company(opt->event_plugin_name), &l.log, &e->options);
}

static void delete (void *data)
{
	struct dl_engine *e = data;

	dl_metrics_stop(e);
	dl_phases_abandon(e);
	dl_sweep_free(e->in_force);
	dl_plugin_options_clear(&e->options);
	free(e->qos_seen);
	free(e);
}

static void *create(struct osm_opensm *osm)
{
	static const struct external_routing_engine_module module = {
		.name = ENGINE_NAME,
		.setup = dl_engine_setup,
	};
	struct dl_engine *e = calloc(1, sizeof(*e));
	cl_status_t status;

	if (!e)
		goto no_memory;
	e->osm = osm;
	if (parse_options(e)) {
		free(e);
		goto no_memory;
	}
	dl_metrics_start(e);
	status = osm_register_external_routing_engine(osm, &module, e);
	if (status != CL_SUCCESS) {
		DL_SAY(osm, OSM_LOG_ERROR,
		       "ERR DL02: routing engine \"" ENGINE_NAME "\" cannot be registered (%s)",
		       status == CL_DUPLICATE ? "there is one of that name" : "OpenSM refused");
		delete (e);
		return NULL;
	}
	return e;
no_memory:
	DL_SAY(osm, OSM_LOG_ERROR, "ERR DL01: no memory for routing engine \"" ENGINE_NAME "\"");
	return NULL;
}

static void report(void *data, osm_epi_event_id_t event, void *event_data)
{
	struct dl_engine *e = data;

	/* All are reported without OpenSM's lock, by the thread that sweeps. */
	if (event == OSM_EVENT_ID_HEAVY_SWEEP_DONE)
		dl_recall_ask(e);
	if (event == OSM_EVENT_ID_UCAST_ROUTING_DONE)
		dl_phases_run(e, (uintptr_t)event_data == UCAST_ROUTING_REROUTE);
	if (event == OSM_EVENT_ID_SUBNET_UP && e->in_force) {
		dl_mcast_rest(e);
		dl_mcast_prune(e);
		dl_dump_dir_write(e);
		dl_engine_retry(e);
	}
	dl_metrics_event(e, event);
}

extern const osm_event_plugin_t osm_event_plugin;
const osm_event_plugin_t osm_event_plugin = {
	.osm_version = OSM_VERSION,
	.create = create,
	.delete = delete,
	.report = report,
};
