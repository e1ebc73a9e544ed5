/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Pairs of end ports: which should work, which do, and which a write interrupted.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "judge.h"

/* Nodes with a physical path to the node of a running subnet manager, across switches that are well. */
static bool *find_connected(const struct sim *sim)
{
	uint32_t *queue = sim_alloc(sim->nnodes, sizeof(*queue)), n = 0;
	bool *in = sim_alloc(sim->nnodes, sizeof(*in)), lied = false;

	for (uint32_t i = 0; i < sim->nnodes && !n; i++)
		if (sim->nodes[i].sm >= 0 && !sim->nodes[i].dead) {
			in[i] = true;
			queue[n++] = i;
		}
	for (uint32_t k = 0; k < n; k++) {
		const struct sim_node *s = &sim->nodes[queue[k]];

		for (unsigned int o = 1; o <= s->nports; o++) {
			const struct sim_port *p = sim_port_at(sim, s, o);
			uint32_t far;

			/* An adapter hands nothing on from one of its ports to another. */
			if (!sim_is_live(p) || (k && !s->is_switch))
				continue;
			far = sim->ports[p->peer].node;
			if (sim->nodes[far].sick)
				continue;
			if (!in[far])
				queue[n++] = far;
			in[far] = true;
		}
	}
	free(queue);
	/* OpenSM leaves a liar the LID of another one that it has claimed, for good. */
	for (uint32_t i = 0; i < sim->nnodes; i++)
		lied |= sim->nodes[i].lied;
	for (uint32_t i = 0; lied && i < sim->nnodes; i++)
		in[i] &= !sim_judge_shares_lid(sim, &sim->nodes[i]);
	return in;
}

/* ... and to an end port: its switch may be sick, and another port of its adapter well. */
static bool is_port_connected(const struct sim *sim, const bool *in, uint32_t port)
{
	const struct sim_port *p = &sim->ports[port];

	return in[p->node] && (!p->num || (sim_is_live(p) && in[sim->ports[p->peer].node]));
}

bool sim_judge_connected(const struct sim *sim, uint32_t port)
{
	bool *in = find_connected(sim), is = is_port_connected(sim, in, port);

	free(in);
	return is;
}

/* The switch where an end port's packets begin; DL_NONE: they do not. */
static uint32_t access_switch(const struct sim *sim, uint32_t port)
{
	const struct sim_port *p = &sim->ports[port];

	if (sim->nodes[p->node].is_switch)
		return p->node;
	return sim->judge->carrying[port] && sim->nodes[sim->ports[p->peer].node].is_switch ?
		       sim->ports[p->peer].node :
		       DL_NONE;
}

/* Do packets from an end port arrive at another, whichever of its LIDs they are sent to? */
static bool pair_works(const struct sim *sim, uint32_t a, uint32_t b)
{
	const struct sim_judge *j = sim->judge;
	uint32_t at = access_switch(sim, a);
	bool works = at != DL_NONE && j->lid[a] && j->lid[b];

	for (uint32_t i = 0; works && i < 1u << j->lmc[b]; i++) {
		const struct sim_column *c = &j->columns[j->lid[b] + i];

		works = c->owner == b && c->reached[at];
	}
	return works;
}

/* The ports of adapters that can work, which the caller frees. */
static uint32_t *list_hosts(const struct sim *sim, uint32_t *n)
{
	uint32_t *hosts = sim_alloc(sim->nports + 1ul, sizeof(*hosts));
	bool *connected = find_connected(sim);

	*n = 0;
	for (uint32_t i = 0; i < sim->nports; i++) {
		const struct sim_port *p = &sim->ports[i];

		if (p->num && !sim->nodes[p->node].is_switch &&
		    is_port_connected(sim, connected, i))
			hosts[(*n)++] = i;
	}
	free(connected);
	return hosts;
}

uint64_t sim_judge_unreached(struct sim *sim, uint64_t *pairs, char *example, size_t size)
{
	uint32_t n, *hosts = list_hosts(sim, &n);
	uint64_t bad = 0;

	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++) {
			if (a == b || pair_works(sim, hosts[a], hosts[b]) || bad++)
				continue;
			snprintf(example, size, "%s to %s",
				 sim->nodes[sim->ports[hosts[a]].node].name,
				 sim->nodes[sim->ports[hosts[b]].node].name);
		}
	*pairs = n ? n * (uint64_t)(n - 1) : 0;
	free(hosts);
	return bad;
}

/* ---- interrupted --------------------------------------------------------------- */

void sim_judge_mark(struct sim *sim)
{
	struct sim_judge *j = sim->judge;

	/* Also of LIDs that nobody has just now.  What does not work cannot be interrupted. */
	for (uint32_t lid = 1; lid < j->ncolumns; lid++)
		for (uint32_t i = 0; j->columns[lid].cut && i < sim->nnodes; i++) {
			j->columns[lid].cut[i] = false;
			j->columns[lid].lost[i] = !j->columns[lid].reached[i];
		}
}

/* End ports whose packets begin at a switch, but for one. */
static void count_sources(const struct sim *sim, uint32_t node, uint32_t but, uint32_t *all,
			  uint32_t *adapters)
{
	const struct sim_node *s = &sim->nodes[node];

	*all = *adapters = 0;
	if (sim->judge->lid[s->first] && s->first != but)
		++*all;
	for (unsigned int o = 1; o <= s->nports; o++) {
		uint32_t peer = sim->ports[s->first + o].peer;

		if (peer == DL_NONE || peer == but || !sim->judge->lid[peer] ||
		    sim->nodes[sim->ports[peer].node].is_switch || !sim->judge->carrying[peer])
			continue;
		++*all;
		++*adapters;
	}
}

uint64_t sim_judge_interrupted(struct sim *sim, uint64_t *of_adapters)
{
	const struct sim_judge *j = sim->judge;
	uint64_t pairs = 0;

	*of_adapters = 0;
	for (uint32_t lid = 1; lid < j->ncolumns; lid++) {
		const struct sim_column *c = &j->columns[lid];

		for (uint32_t i = 0; c->owner != DL_NONE && i < sim->nnodes; i++) {
			uint32_t all, adapters;

			/* A failure may have stopped them before: the change repairs them. */
			if (!c->cut[i] || !c->reached[i] || c->lost[i])
				continue;
			count_sources(sim, i, c->owner, &all, &adapters);
			pairs += all;
			if (!sim->nodes[sim->ports[c->owner].node].is_switch)
				*of_adapters += adapters;
		}
	}
	return pairs;
}
