/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the log and the metrics say of a change of tables. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "phases_report.h"
#include "engine.h"
#include "log.h"
#include "phases.h"
#include "sweep.h"

#define NAMED_HOSTS 3

void dl_phases_report_reconnect(const struct dl_engine *e, const struct dl_phases *p)
{
	const struct dl_fabric *f = p->next->fabric;
	uint32_t *ends = malloc((f->nports + 1ul) * sizeof(*ends)), n = 0;
	char names[128] = "";
	size_t used = 0;

	if (ends && p->steps.reconnect_adapters)
		n = dl_transition_reconnect_ends(&p->plan, ends);
	for (uint32_t i = 0; i < n && i < NAMED_HOSTS && used < sizeof(names); i++)
		used += snprintf(names + used, sizeof(names) - used, "%s%.32s", i ? ", " : "",
				 dl_fabric_node_name(f, f->ports[ends[i]].node));
	if (n)
		DL_SAY(e->osm, OSM_LOG_INFO,
		       "Warning: transition: safe only if %" PRIu64
		       " pairs of end port and LID reconnect, of %u adapter ports (%s%s): their "
		       "path SLs change, and with those granted before the new tables can close a "
		       "credit loop; restart what uses them, as dateline-migration(7) says",
		       p->steps.reconnect_pairs, n, names, n > NAMED_HOSTS ? ", ..." : "");
	else
		DL_SAY(e->osm, OSM_LOG_INFO,
		       "transition: path SLs of %" PRIu64
		       " pairs of end port and LID change; with those granted before, packets from "
		       "or to the own ports of switches can close a credit loop, those of adapters "
		       "cannot: nothing needs a restart",
		       p->steps.reconnect_pairs);
	free(ends);
}

void dl_phases_report_unproven(struct dl_engine *e, const char *what, const char *nobody)
{
	char text[384];

	e->metrics.now.transition.result = DL_METRICS_UNPROVEN;
	DL_SAY(e->osm, OSM_LOG_INFO, "transition: not proven this one time: %s",
	       dl_osm_names_say(&e->unconfirmed, what, nobody, text, sizeof(text)));
}

void dl_phases_report_unknown(const struct dl_engine *e, const char *why,
			      const struct dl_osm_names *silent)
{
	char text[384];

	DL_SAY(e->osm, OSM_LOG_INFO,
	       "transition: not proven this one time, as what the switches held was %s%s%s", why,
	       silent->n ? ": " : "", dl_osm_names_say(silent, "answer", "", text, sizeof(text)));
}

/* Why old packets have left, or that nobody knows. */
static const char *phases_say_drained(struct dl_engine *e, const struct dl_phases *p)
{
	static const char *const text[] = {
		[DL_DRAIN_NONE] = "",
		[DL_DRAIN_SEEN] = ", old packets have left: counters stood still",
		[DL_DRAIN_BOUND] = ", old packets have left: no switch keeps them so long",
		[DL_DRAIN_FIXED] = ", old packets may take longer than drain_ms"
	};

	if (p->drained != DL_DRAIN_UNPROVEN)
		return text[p->drained];
	e->metrics.now.transition.result = DL_METRICS_UNPROVEN;
	DL_SAY(e->osm, OSM_LOG_ERROR,
	       "ERR DL42: transition: not proven: after drain_seconds=%u old packets may still be "
	       "under way: the switches may keep them longer, and their counters do not show that "
	       "none waits",
	       e->options.drain_seconds);
	return "";
}

void dl_phases_report(struct dl_engine *e, const struct dl_phases *p)
{
	struct dl_metrics_transition *m = &e->metrics.now.transition;
	const char *links = p->links_come ? "new links active first; " : "", *drained;

	m->result = p->direct ? DL_METRICS_DIRECT : DL_METRICS_PHASED;
	drained = phases_say_drained(e, p);
	m->phases = p->direct ? 1 : p->steps.nsteps;
	if (p->origin == DL_PHASES_FROM_NOTHING) {
		DL_SAY(e->osm, OSM_LOG_INFO,
		       "transition: from switches that held nothing: 1 step, %" PRIu64
		       " blocks written",
		       m->blocks);
		return;
	}
	if (p->direct) {
		DL_SAY(e->osm, OSM_LOG_INFO,
		       "transition: %sany mixture is safe: 1 step, %" PRIu64 " blocks written%s",
		       links, m->blocks, drained);
		return;
	}
	m->entries_closed = p->steps.entries_closed;
	m->pairs_interrupted = p->steps.pairs_interrupted;
	m->closed_seconds = p->closed_for;
	DL_SAY(e->osm, OSM_LOG_INFO,
	       "transition: %s%s%" PRIu64 " step%s, %u drain%s, %" PRIu64
	       " entries closed, %" PRIu64 " blocks written, closed for %.6f s, %" PRIu64
	       " pairs interrupted%s%s",
	       p->origin == DL_PHASES_FROM_SWITCHES ? "from the tables that the switches held; " :
						      "",
	       links, m->phases, m->phases == 1 ? "" : "s", p->drains, p->drains == 1 ? "" : "s",
	       m->entries_closed, m->blocks, m->closed_seconds, m->pairs_interrupted,
	       p->close_groups ? "; multicast closed as well" : "", drained);
}
