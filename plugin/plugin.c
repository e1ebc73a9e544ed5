/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The plugin's face towards OpenSM: the one symbol that it looks up.
 *
 * OpenSM compares osm_version with its own and refuses a plugin that was
 * built for another version, whose structures may differ.  Options of its own
 * build change them as well, which the plugin notices.  OpenSM creates plugins
 * when its parts are initialised, before it looks up the names of its routing
 * engines, and at the end destroys the engines before the plugins.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include <opensm/osm_version.h>

#include "engine.h"
#include "log.h"
#include "mcast.h"
#include "metrics.h"
#include "phases.h"
#include "recall.h"
#include "dump_dir.h"
#include "sweep.h"
#include "dateline/base.h"

#define ENGINE_NAME "dateline"
#define NAME_SEPARATORS " ,\t\r\n"

/* Does event_plugin_name list more plugins than one? */
static bool plugin_has_company(const char *names)
{
	if (!names)
		return false;
	names += strspn(names, NAME_SEPARATORS);
	names += strcspn(names, NAME_SEPARATORS);
	names += strspn(names, NAME_SEPARATORS);
	return *names;
}

static int plugin_parse_options(struct dl_engine *e)
{
	const struct osm_subn_opt *opt = &e->osm->subn.opt;
	struct dl_osm_log l;

	dl_osm_log_init(&l, e->osm, "DL03");
	return dl_plugin_options_parse(opt->event_plugin_options,
				       plugin_has_company(opt->event_plugin_name), &l.log,
				       &e->options);
}

/* Before 3.3.23 plugins end before the engines. */
static void plugin_withdraw_engine(struct dl_engine *e)
{
#ifndef HAVE_OSM_EXTERNAL_ENGINES
	for (struct osm_routing_engine *re = e->osm->routing_engine_list; re; re = re->next)
		if (re->context == e) {
			re->destroy(e);
			re->destroy = NULL;
		}
#else
	(void)e;
#endif
}

static void plugin_delete(void *data)
{
	struct dl_engine *e = data;

	plugin_withdraw_engine(e);
	dl_dump_dir_end(e);
	dl_metrics_stop(e);
	dl_phases_abandon(e);
	dl_phases_forget_mixture(e);
	dl_sweep_free(e->in_force);
	dl_plugin_options_clear(&e->options);
	dl_recall_release(&e->recall);
	dl_avoid_release(&e->avoid);
	dl_drain_release(e);
	free(e->qos_seen);
	free(e);
}

/*
 * NULL, or why not.  Before 3.3.23 OpenSM knows only engines of its own.  Plugins are
 * created before these are set up, one behind the other: this one puts itself in
 * front, if it is the first that the user names.  OpenSM frees it, and complains about
 * its name.
 */
static const char *plugin_register_engine(struct dl_engine *e)
#ifdef HAVE_OSM_EXTERNAL_ENGINES
{
	static const struct external_routing_engine_module module = {
		.name = ENGINE_NAME,
		.setup = dl_engine_setup,
	};

	switch (osm_register_external_routing_engine(e->osm, &module, e)) {
	case CL_SUCCESS:
		return NULL;
	case CL_DUPLICATE:
		return "there is one of that name";
	default:
		return "OpenSM refused";
	}
}
#else
{
	const char *names = e->osm->subn.opt.routing_engine_names;
	struct osm_routing_engine *re;

	names += names ? strspn(names, NAME_SEPARATORS) : 0;
	if (!names || strncmp(names, ENGINE_NAME, strlen(ENGINE_NAME)) ||
	    strcspn(names, NAME_SEPARATORS) != strlen(ENGINE_NAME))
		return names && strstr(names, ENGINE_NAME) ? "it must be the first one named" :
							     NULL;
	re = calloc(1, sizeof(*re));
	if (!re)
		return "no memory";
	re->type = OSM_ROUTING_ENGINE_TYPE_UNKNOWN;
	re->name = ENGINE_NAME;
	re->context = e;
	dl_engine_setup(re, e->osm);
	re->next = e->osm->routing_engine_list;
	e->osm->routing_engine_list = re;
	return NULL;
}
#endif

/*
 * Are OpenSM's members where the headers have them?  Options of its configure, such as
 * --disable-perf-mgr, move them and leave the version as it is.  OpenSM holds addresses
 * of them, on either side of all that can move.
 */
static bool plugin_fits(const struct osm_opensm *osm)
{
	return osm->subn.p_osm == osm && osm->sm.p_subn == &osm->subn &&
	       osm->sm.p_log == &osm->log && osm->sm.p_mad_pool == &osm->mad_pool &&
	       osm->sm.p_disp == &osm->disp && osm->sm.p_lock == &osm->lock;
}

/* Where OpenSM's log is, and its lock, is not known. */
static void plugin_refuse(void)
{
	static const char why[] =
		"dateline: ERR DL04: not loaded: this OpenSM was configured with other options, "
		"such as --disable-perf-mgr, than the one whose headers the plugin was built with";

	fprintf(stderr, "%s\n", why);
	syslog(LOG_ERR, "%s", why);
}

static void *plugin_create(struct osm_opensm *osm)
{
	struct dl_engine *e;
	const char *obstacle;

	if (!plugin_fits(osm)) {
		plugin_refuse();
		return NULL;
	}
	e = calloc(1, sizeof(*e));
	if (!e)
		goto no_memory;
	e->osm = osm;
	if (plugin_parse_options(e)) {
		free(e);
		goto no_memory;
	}
	dl_metrics_start(e);
	obstacle = plugin_register_engine(e);
	if (obstacle) {
		DL_SAY(osm, OSM_LOG_ERROR,
		       "ERR DL02: routing engine \"" ENGINE_NAME "\" cannot be registered (%s)",
		       obstacle);
		plugin_delete(e);
		return NULL;
	}
	return e;
no_memory:
	DL_SAY(osm, OSM_LOG_ERROR, "ERR DL01: no memory for routing engine \"" ENGINE_NAME "\"");
	return NULL;
}

static void plugin_report(void *data, osm_epi_event_id_t event, void *event_data)
{
	struct dl_engine *e = data;

	/* OpenSM reports without its lock, from the thread that sweeps. */
	if (event == OSM_EVENT_ID_HEAVY_SWEEP_START)
		dl_engine_begin(e);
	/* OpenSM programs it later in this sweep, and reads its options before. */
	if (event == OSM_EVENT_ID_HEAVY_SWEEP_DONE && e->options.hoq_life >= 0)
		e->osm->subn.opt.head_of_queue_lifetime = e->options.hoq_life;
	if (event == OSM_EVENT_ID_HEAVY_SWEEP_DONE) {
		dl_engine_distrust(e);
		dl_recall_ask(e);
	}
	if (event == OSM_EVENT_ID_UCAST_ROUTING_DONE && e->in_force &&
	    osm_log_is_active(&e->osm->log, OSM_LOG_ROUTING))
		dl_coordinates_write(e->osm, e->in_force, e->osm->subn.opt.dump_files_dir);
	if (event == OSM_EVENT_ID_UCAST_ROUTING_DONE)
		dl_phases_run(e, (uintptr_t)event_data == UCAST_ROUTING_REROUTE);
	if (event == OSM_EVENT_ID_SUBNET_UP)
		dl_engine_subnet_up(e);
	dl_metrics_event(e, event);
}

extern const osm_event_plugin_t osm_event_plugin;
const osm_event_plugin_t osm_event_plugin = {
	.osm_version = OSM_VERSION,
	.create = plugin_create,
	.delete = plugin_delete,
	.report = plugin_report,
};
