/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * When all has settled, the metrics say what there is: what the subnet manager reaches, that
 * the tables are safe, and how many changes of tables its log told of.
 *
 * Where the engine is told to write them: --plugin-options metrics=metrics.prom.
 */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/fabric.h"
#include "judge.h"

struct counts {
	uint32_t switches, adapters, links;
};

/* What cables lead to from a node on. */
static struct counts count_reached(const struct dl_fabric *f, uint32_t from)
{
	uint32_t *queue = sim_alloc(f->nnodes, sizeof(*queue)), n = 0;
	bool *seen = sim_alloc(f->nnodes, sizeof(*seen));
	struct counts c = { 0 };
	uint32_t between = 0;

	queue[n++] = from;
	seen[from] = true;
	for (uint32_t i = 0; i < n; i++) {
		const struct dl_fabric_node *at = &f->nodes[queue[i]];

		c.switches += at->type == DL_FABRIC_SWITCH;
		c.adapters += at->type != DL_FABRIC_SWITCH;
		for (unsigned int o = 1; o <= at->nports; o++) {
			uint32_t peer = f->ports[at->first_port + o].peer, to;

			if (peer == DL_NONE)
				continue;
			to = f->ports[peer].node;
			between += dl_fabric_joins_switches(f, peer);
			if (!seen[to])
				queue[n++] = to;
			seen[to] = true;
		}
	}
	c.links = between / 2;
	free(queue);
	free(seen);
	return c;
}

/* The value of a metric, with its labels if it has some; -1: it is not there. */
static long metric(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, len) && line[len] == ' ')
			return strtol(line + len, NULL, 10);
	}
	return -1;
}

static void compare_metric(struct sim *sim, const char *text, const char *name, long is)
{
	if (metric(text, name) != is)
		sim_find(sim, SIM_TABLES, "the metric %s is %ld, not %ld", name, metric(text, name),
			 is);
}

void sim_judge_metrics(struct sim *sim, const struct dl_fabric *f)
{
	static char text[65536];
	const struct sim_sm *sm = &sim->sms[0];
	struct counts c;
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/sm0/metrics.prom", sim->o.dir);
	file = sim->nsms > 1 || !sm->pid ? NULL : fopen(path, "r");
	if (!file)
		return;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	c = count_reached(f, dl_fabric_find_guid(f, sim->nodes[sm->node].guid));
	compare_metric(sim, text, "dateline_up", 1);
	compare_metric(sim, text, "dateline_master", 1);
	compare_metric(sim, text, "dateline_last_sweep_routed", 1);
	if (sim->o.promises)
		compare_metric(sim, text, "dateline_tables_safe", 1);
	compare_metric(sim, text, "dateline_unreachable_pairs", 0);
	compare_metric(sim, text, "dateline_switches", c.switches);
	compare_metric(sim, text, "dateline_adapters", c.adapters);
	compare_metric(sim, text, "dateline_links", c.links);
}
