/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What leads across a cable, or through a switch, that is to be out of use.
 *
 * A switch that is avoided passes nothing on: it is the last one for packets to itself
 * and to its adapters, and it begins their packets.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "judge.h"

/* The switch at which packets to a LID end; DL_NONE: nobody has it. */
static uint32_t last_switch(const struct sim *sim, uint32_t lid)
{
	uint32_t owner = sim->judge->columns[lid].owner;
	const struct sim_port *p = owner == DL_NONE ? NULL : &sim->ports[owner];

	if (!p || !p->num)
		return p ? p->node : DL_NONE;
	return p->peer == DL_NONE ? DL_NONE : sim->ports[p->peer].node;
}

static bool joins_switches(const struct sim *sim, uint32_t link)
{
	uint32_t peer = sim->ports[link].peer;

	return sim->ports[link].num && peer != DL_NONE &&
	       sim->nodes[sim->ports[link].node].is_switch &&
	       sim->nodes[sim->ports[peer].node].is_switch;
}

static bool has_left(const struct sim_flow *f, uint32_t link)
{
	return f->left && !sim_set_is_empty(&f->left[link]);
}

/*
 * Does a link carry, or have entries for, other packets than those to a switch and its
 * adapters?  DL_NONE: any at all.  `behind`: nor may such packets be under way still.
 */
static bool is_link_used(const struct sim *sim, uint32_t link, uint32_t but, bool behind,
			 uint32_t *lid)
{
	const struct sim_port *p = &sim->ports[link];
	const struct sim_node *s = &sim->nodes[p->node];

	if (!sim->judge->carrying[link])
		return false;
	for (*lid = 1; *lid < sim->judge->ncolumns; ++*lid) {
		const struct sim_column *c = &sim->judge->columns[*lid];

		if (but != DL_NONE && last_switch(sim, *lid) == but)
			continue;
		if (sim_lft(s, *lid) == p->num || (behind && has_left(&c->flow, link)))
			return true;
	}
	for (uint32_t g = 0; but == DL_NONE && g < sim->judge->ngroups; g++) {
		*lid = g + IB_LID_MCAST_START_HO;
		if (sim_groups_has(s, g, p->num) ||
		    (behind && has_left(&sim->judge->groups[g], link)))
			return true;
	}
	return false;
}

/* A group that goes in and out of a switch. */
static bool passes_group(const struct sim *sim, const struct sim_node *s, uint32_t *lid)
{
	for (uint32_t g = 0; g < sim->judge->ngroups; g++) {
		unsigned int links = 0;

		*lid = g + IB_LID_MCAST_START_HO;
		for (unsigned int o = 1; o <= s->nports; o++)
			links += sim_groups_has(s, g, o) && joins_switches(sim, s->first + o) &&
				 sim->judge->carrying[s->first + o];
		if (links > 1)
			return true;
	}
	return false;
}

static bool is_switch_used(const struct sim *sim, uint32_t node, bool behind, uint32_t *link,
			   uint32_t *lid)
{
	const struct sim_node *s = &sim->nodes[node];

	for (unsigned int o = 1; o <= s->nports; o++) {
		*link = sim->ports[s->first + o].peer;
		if (joins_switches(sim, s->first + o) &&
		    is_link_used(sim, *link, node, behind, lid))
			return true;
	}
	*link = s->first;
	return passes_group(sim, s, lid);
}

bool sim_judge_crossed(struct sim *sim, uint32_t port, bool behind, char *what, size_t size)
{
	const struct sim_port *p = &sim->ports[port];
	uint32_t link = port, lid;
	bool used;

	sim_flow_expire(sim);
	if (!p->num) {
		used = is_switch_used(sim, p->node, behind, &link, &lid);
	} else {
		used = is_link_used(sim, port, DL_NONE, behind, &lid);
		link = used || p->peer == DL_NONE ? port : p->peer;
		used = used || is_link_used(sim, link, DL_NONE, behind, &lid);
	}
	if (used)
		snprintf(what, size, "packets to LID 0x%x go by %s[%u]", lid,
			 sim->nodes[sim->ports[link].node].name, sim->ports[link].num);
	return used;
}

/* ---- a write ------------------------------------------------------------------- */

static bool is_at(const struct sim *sim, uint32_t port, uint32_t link)
{
	return port == link || port == sim->ports[link].peer;
}

void sim_judge_led(struct sim *sim, uint32_t lid, uint32_t link)
{
	uint32_t far = sim->ports[sim->ports[link].peer].node;
	char text[128];

	for (uint32_t i = 0; i < sim->avoid.n; i++) {
		const struct sim_avoided *e = &sim->avoid.entries[i];
		const struct sim_port *p = &sim->ports[e->port];

		if (!e->safe || (p->num ? !is_at(sim, e->port, link) :
					  p->node != far || lid >= IB_LID_MCAST_START_HO ||
						  last_switch(sim, lid) == far))
			continue;
		snprintf(text, sizeof(text), "called safe, and a write leads LID 0x%x to %s[%u]",
			 lid, sim->nodes[sim->ports[link].node].name, sim->ports[link].num);
		sim_log_unsafe(sim, SIM_AVOIDED, text);
	}
}

/* ---- is there a way round? ------------------------------------------------------ */

static bool is_avoided(const struct sim *sim, uint32_t port)
{
	for (uint32_t i = 0; i < sim->avoid.n; i++)
		if (sim->avoid.entries[i].port == port)
			return true;
	return false;
}

/* A link that packets may take, to a switch that passes them on; or DL_NONE. */
static uint32_t next_switch(const struct sim *sim, uint32_t link)
{
	uint32_t peer = sim->ports[link].peer, far;

	if (!joins_switches(sim, link) || !sim->judge->carrying[link] || is_avoided(sim, link) ||
	    is_avoided(sim, peer))
		return DL_NONE;
	far = sim->ports[peer].node;
	return is_avoided(sim, sim->nodes[far].first) ? DL_NONE : far;
}

/* Switches that are on, and not avoided themselves, from the first of them on. */
static uint32_t reach(const struct sim *sim, bool *in)
{
	uint32_t *queue = sim_alloc(sim->nnodes, sizeof(*queue)), n = 0;

	for (uint32_t i = 0; i < sim->nnodes && !n; i++)
		if (sim->nodes[i].is_switch && !sim->nodes[i].dead &&
		    !is_avoided(sim, sim->nodes[i].first)) {
			in[i] = true;
			queue[n++] = i;
		}
	for (uint32_t k = 0; k < n; k++) {
		const struct sim_node *s = &sim->nodes[queue[k]];

		for (unsigned int o = 1; o <= s->nports; o++) {
			uint32_t far = next_switch(sim, s->first + o);

			if (far == DL_NONE || in[far])
				continue;
			in[far] = true;
			queue[n++] = far;
		}
	}
	free(queue);
	return n;
}

bool sim_judge_can_avoid(const struct sim *sim)
{
	bool *in = sim_alloc(sim->nnodes, sizeof(*in)), all = reach(sim, in) != 0;

	for (uint32_t i = 0; i < sim->nnodes && all; i++) {
		const struct sim_node *s = &sim->nodes[i];
		bool reached = in[i];

		if (!s->is_switch || s->dead)
			continue;
		for (unsigned int o = 1; o <= s->nports && !reached; o++) {
			uint32_t far = next_switch(sim, s->first + o);

			reached = far != DL_NONE && in[far];
		}
		all = reached && !s->sick;
	}
	free(in);
	return all;
}

/* ---- all tables ------------------------------------------------------------------ */

static uint64_t add(uint64_t sum, uint64_t value)
{
	return (sum ^ value) * UINT64_C(0x100000001B3);
}

void sim_judge_sum(const struct sim *sim, struct sim_sum *sum)
{
	*sum = (struct sim_sum){ .time = sim->now };
	for (uint32_t i = 0; i < sim->nnodes; i++) {
		const struct sim_node *s = &sim->nodes[i];

		if (!s->is_switch || s->dead)
			continue;
		for (uint32_t lid = 1; lid < sim->judge->ncolumns; lid++)
			sum->entries = add(sum->entries, sim_lft(s, lid));
		for (uint32_t m = 0; m < sim->judge->ngroups * SIM_MFT_POSITIONS; m++)
			sum->masks = add(sum->masks, s->mft[m]);
	}
}
