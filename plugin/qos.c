/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The QoS options of opensm.conf (rules A6, A7): the user's VL arbitration tables and
 * limits replace the routing's; the user's SL-to-VL maps are ignored, as the routing
 * depends on its own.
 *
 * OpenSM reads these options again on SIGHUP, so every sweep does; warnings are
 * repeated only when an option has changed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opensm.h"
#include <opensm/osm_qos_policy.h>

#include "qos.h"
#include "engine.h"
#include "log.h"
#include "sweep.h"
#include "dateline/base.h"

#define MAX_IGNORED 320 /* names of options, joined */

static const struct osm_qos_options *options_of(const struct osm_subn_opt *opt,
						enum dl_route_port_kind kind)
{
	switch (kind) {
	case DL_ROUTE_CA_PORTS:
		return &opt->qos_ca_options;
	case DL_ROUTE_SW0_PORTS:
		return &opt->qos_sw0_options;
	case DL_ROUTE_SWE_PORTS:
		return &opt->qos_swe_options;
	case DL_ROUTE_RTR_PORTS:
		return &opt->qos_rtr_options;
	default:
		return &opt->qos_options;
	}
}

/* NULL unless the user set it to something. */
static const char *qos_configured(const char *value, const char *fallback)
{
	return value && strcmp(value, fallback) ? value : NULL;
}

static void words_of(const struct osm_qos_options *o, bool general, struct dl_route_arb_words *out)
{
	out->high = qos_configured(o->vlarb_high, OSM_DEFAULT_QOS_VLARB_HIGH);
	out->low = qos_configured(o->vlarb_low, OSM_DEFAULT_QOS_VLARB_LOW);
	out->high_limit = o->high_limit;
	/* Here OpenSM has written its default over "nothing". */
	if (general && o->high_limit == OSM_DEFAULT_QOS_HIGH_LIMIT)
		out->high_limit = -1;
}

/* Options by which OpenSM's own engines route, and this one does not. */
static void list_ignored(const struct osm_subn_opt *opt, char *text, size_t size)
{
	const struct {
		const char *name;
		bool set;
	} options[] = {
		{ "scatter_ports", opt->scatter_ports },
		{ "hop_weights_file", opt->hop_weights_file },
		{ "port_prof_ignore_file", opt->port_prof_ignore_file },
		{ "port_profile_switch_nodes", opt->port_profile_switch_nodes },
		{ "port_search_ordering_file", opt->port_search_ordering_file },
		{ "guid_routing_order_file", opt->guid_routing_order_file },
		{ "root_guid_file", opt->root_guid_file },
		{ "cn_guid_file", opt->cn_guid_file },
		{ "io_guid_file", opt->io_guid_file },
		{ "ids_guid_file", opt->ids_guid_file },
		{ "max_reverse_hops", opt->max_reverse_hops },
		{ "port_shifting", opt->port_shifting },
	};
	size_t i, used = 0;

	*text = 0;
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (options[i].set && used < size)
			used += snprintf(text + used, size - used, "%s%s", used ? ", " : "",
					 options[i].name);
}

/* Everything that warnings depend on, in one string. */
static char *qos_fingerprint(const struct osm_subn_opt *opt)
{
	enum dl_route_port_kind kind;
	char *text = NULL, ignored[MAX_IGNORED];
	size_t size = 0;
	FILE *to = dl_memory_open(&text, &size);

	if (!to)
		return NULL;
	for (kind = 0; kind <= DL_ROUTE_PORT_KINDS; kind++) {
		const struct osm_qos_options *o = options_of(opt, kind);

		fprintf(to, "%s/%s/%s\n", o->vlarb_high ? o->vlarb_high : "",
			o->vlarb_low ? o->vlarb_low : "", o->sl2vl ? o->sl2vl : "");
	}
	list_ignored(opt, ignored, sizeof(ignored));
	fprintf(to, "%s\n", ignored);
	if (fclose(to)) {
		free(text);
		return NULL;
	}
	return text;
}

static void check_sl2vl(const struct osm_subn_opt *opt, const struct dl_log *log)
{
	enum dl_route_port_kind kind;

	for (kind = 0; kind <= DL_ROUTE_PORT_KINDS; kind++) {
		const char *word =
			qos_configured(options_of(opt, kind)->sl2vl, OSM_DEFAULT_QOS_SL2VL);

		if (word)
			dl_log(log, DL_LOG_WARNING,
			       "qos_%ssl2vl is not used: the "
			       "routing needs SL to VL maps of its own",
			       dl_route_port_kind_name(kind));
	}
}

/* Warn about options that have changed since they were last looked at. */
static int qos_check(struct dl_engine *e, const struct dl_route_arb_config *c,
		     const struct dl_fabric *f, bool *changed)
{
	const struct osm_subn_opt *opt = &e->osm->subn.opt;
	char *now = qos_fingerprint(opt), ignored[MAX_IGNORED];
	struct dl_osm_log l;
	int err;

	if (!now || (e->qos_seen && !strcmp(now, e->qos_seen))) {
		err = now ? 0 : -ENOMEM;
		free(now);
		return err;
	}
	*changed = true;
	free(e->qos_seen);
	e->qos_seen = now;
	dl_osm_log_init(&l, e->osm, "DL16");
	list_ignored(opt, ignored, sizeof(ignored));
	if (*ignored)
		dl_log(&l.log, DL_LOG_WARNING, "not used by this routing engine: %s", ignored);
	check_sl2vl(opt, &l.log);
	dl_route_arb_check(c, f, &l.log);
	return 0;
}

int dl_qos_apply(struct dl_engine *e, struct dl_sweep *sweep)
{
	const struct osm_subn_opt *opt = &e->osm->subn.opt;
	struct dl_route_arb_config c;
	enum dl_route_port_kind kind;
	struct dl_osm_log l;
	bool changed = false;
	int err;

	words_of(&opt->qos_options, true, &c.all);
	for (kind = 0; kind < DL_ROUTE_PORT_KINDS; kind++)
		words_of(options_of(opt, kind), false, &c.kind[kind]);
	/* Users who write tables for OpenSM rely on its default limit. */
	c.default_high_limit = e->options.has_high_limit ? -1 : OSM_DEFAULT_QOS_HIGH_LIMIT;
	err = qos_check(e, &c, sweep->fabric, &changed);
	dl_osm_log_init(&l, e->osm, "DL35");
	if (!err)
		err = dl_route_arb_apply(&c, sweep->routed.tables, changed ? &l.log : NULL);
	if (err) {
		dl_osm_log_init(&l, e->osm, "DL16");
		dl_log(&l.log, DL_LOG_ERROR,
		       "taking over the VL arbitration "
		       "tables of opensm.conf failed: %s",
		       strerror(-err));
	}
	return err;
}

/* A level whose SL selects no QoS level: `bad`, if there is one, or this one, or NULL. */
static const osm_qos_level_t *worse_level(const osm_qos_level_t *bad, const osm_qos_level_t *level)
{
	return bad || !level || !level->sl_set || !(level->sl & 7) ? bad : level;
}

/* Levels stand in a list; those of simple rules ("sdp : 3") with their rules alone. */
static const osm_qos_level_t *bad_level(const struct osm_qos_policy *policy)
{
	const osm_qos_level_t *bad = worse_level(NULL, policy->p_default_qos_level);
	const cl_list_t *list = &policy->qos_levels;
	cl_list_iterator_t at;

	for (at = cl_list_head(list); at != cl_list_end(list); at = cl_list_next(at))
		bad = worse_level(bad, cl_list_obj(at));
	list = &policy->qos_match_rules;
	for (at = cl_list_head(list); at != cl_list_end(list); at = cl_list_next(at))
		bad = worse_level(bad,
				  ((const osm_qos_match_rule_t *)cl_list_obj(at))->p_qos_level);
	return bad;
}

/* (OpenSM reads the policy when the tables have been computed.) */
void dl_qos_check_policy(struct dl_engine *e)
{
	const struct osm_qos_policy *policy = e->osm->subn.p_qos_policy;
	const osm_qos_level_t *bad = policy ? bad_level(policy) : NULL;

	if (bad && bad->sl != e->policy_sl)
		DL_SAY(e->osm, OSM_LOG_INFO,
		       "Warning: the QoS policy has SL %u (level \"%s\"): only SL 0 and 8 select a "
		       "QoS level, and paths get SL %u to %u, as the routing needs them",
		       bad->sl, bad->name ? bad->name : "", bad->sl & 8, bad->sl | 7);
	e->policy_sl = bad ? bad->sl : 0;
}
