/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Multicast packets on links, as judge_flow.c has unicast ones: a switch copies
 * them to each port of the group's mask but the one that they came in through.
 * Every adapter whose switch carries the group may send to it, on SL 0 or 8.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "judge.h"

#define GROUP_SLS 0x0101

static bool carries_group(const struct sim_node *s, uint32_t group)
{
	for (unsigned int p = 0; p < SIM_MFT_POSITIONS; p++)
		if (s->mft[group * SIM_MFT_POSITIONS + p])
			return true;
	return false;
}

static const uint8_t *map_of(const struct sim *sim, const struct sim_node *s, unsigned int in,
			     unsigned int out)
{
	return sim->ports[s->first + out].sl2vl + 8 * in;
}

static bool is_from_switch(const struct sim *sim, uint32_t peer)
{
	return peer != DL_NONE && sim->nodes[sim->ports[peer].node].is_switch;
}

static struct sim_set arriving(const struct sim *sim, const struct sim_flow *f, uint32_t group,
			       const struct sim_node *s, unsigned int in)
{
	struct sim_set set = { { 0, 0 } };
	uint32_t peer = sim->ports[s->first + in].peer;

	if (!in) {
		if (sim_groups_has(s, group, 0))
			set.w[0] = GROUP_SLS;
	} else if (peer != DL_NONE && sim->judge->carrying[peer]) {
		if (is_from_switch(sim, peer))
			set = f->total[peer];
		else
			set.w[0] = GROUP_SLS;
	}
	return set;
}

static struct sim_set inflow(const struct sim *sim, const struct sim_flow *f, uint32_t group,
			     uint32_t link)
{
	const struct sim_port *p = &sim->ports[link];
	const struct sim_node *s = &sim->nodes[p->node];
	struct sim_set sum = { { 0, 0 } };
	uint64_t deps;

	if (!sim->judge->carrying[link] || !sim_groups_has(s, group, p->num))
		return sum;
	for (unsigned int in = 0; in <= s->nports; in++) {
		struct sim_set set = arriving(sim, f, group, s, in);

		if (in == p->num || sim_set_is_empty(&set))
			continue;
		set = sim_flow_step(map_of(sim, s, in, p->num), sim_flow_vls(p), &set, &deps);
		sum.w[0] |= set.w[0];
		sum.w[1] |= set.w[1];
	}
	return sum;
}

/* Is a link between switches of the group's, from there on? */
static bool is_branch(const struct sim *sim, uint32_t group, const struct sim_node *s,
		      unsigned int out)
{
	return out && sim_groups_has(s, group, out) &&
	       is_from_switch(sim, sim->ports[s->first + out].peer) &&
	       sim->judge->carrying[s->first + out];
}

/* Returns whether anything behind the link may change. */
static bool set_total(struct sim *sim, struct sim_flow *f, uint32_t group, uint32_t link,
		      const struct sim_set *now)
{
	const struct sim_port *in = &sim->ports[sim->ports[link].peer];
	const struct sim_node *s = &sim->nodes[in->node];
	struct sim_set before = f->total[link];

	if (sim_set_equal(&before, now))
		return false;
	f->total[link] = *now;
	for (unsigned int out = 1; out <= s->nports; out++) {
		const struct sim_port *o = &sim->ports[s->first + out];
		uint64_t was, is;

		if (out == in->num || !is_branch(sim, group, s, out))
			continue;
		sim_flow_step(map_of(sim, s, in->num, out), sim_flow_vls(o), &before, &was);
		sim_flow_step(map_of(sim, s, in->num, out), sim_flow_vls(o), now, &is);
		sim_flow_depend(sim, s, in->num, out, was, is);
	}
	return true;
}

static void refresh_behind(struct sim *sim, uint32_t group, uint32_t link)
{
	const struct sim_port *in = &sim->ports[sim->ports[link].peer];
	const struct sim_node *s = &sim->nodes[in->node];

	for (unsigned int out = 1; out <= s->nports; out++)
		if (out != in->num && is_branch(sim, group, s, out))
			sim_groups_refresh(sim, group, s->first + out);
}

void sim_groups_refresh(struct sim *sim, uint32_t group, uint32_t link)
{
	struct sim_flow *f = &sim->judge->groups[group];
	struct sim_set in = inflow(sim, f, group, link);
	struct sim_set now = sim_flow_keep(sim, f, group + IB_LID_MCAST_START_HO, link, &in);

	if (set_total(sim, f, group, link, &now))
		refresh_behind(sim, group, link);
}

void sim_groups_expire(struct sim *sim, const struct sim_leaving *l)
{
	uint32_t group = l->lid - IB_LID_MCAST_START_HO;
	struct sim_flow *f = &sim->judge->groups[group];
	struct sim_set in;

	if (f->left_until[l->port] > (l->time - SIM_EPOCH) / SIM_MS)
		return;
	memset(&f->left[l->port], 0, sizeof(f->left[l->port]));
	in = inflow(sim, f, group, l->port);
	if (set_total(sim, f, group, l->port, &in))
		refresh_behind(sim, group, l->port);
}

/* ---- changes ------------------------------------------------------------------- */

/* What each link into a switch makes wait for each link of the group out of it. */
void sim_groups_depend(struct sim *sim, uint32_t group, const struct sim_node *s, unsigned int out,
		       bool add)
{
	struct sim_flow *f = &sim->judge->groups[group];
	const struct sim_port *o = &sim->ports[s->first + out];

	for (unsigned int in = 1; in <= s->nports; in++) {
		uint32_t peer = sim->ports[s->first + in].peer;
		uint64_t deps;

		if (in == out || !is_from_switch(sim, peer) || sim_set_is_empty(&f->total[peer]))
			continue;
		sim_flow_step(map_of(sim, s, in, out), sim_flow_vls(o), &f->total[peer], &deps);
		sim_flow_depend(sim, s, in, out, add ? 0 : deps, add ? deps : 0);
	}
}

void sim_groups_map(struct sim *sim, struct sim_node *s, unsigned int in, unsigned int out,
		    const uint8_t *before, unsigned int vls_before)
{
	uint32_t peer = sim->ports[s->first + in].peer;
	const struct sim_port *o = &sim->ports[s->first + out];
	uint64_t was, is;

	for (uint32_t g = 0; g < sim->judge->ngroups; g++) {
		struct sim_flow *f = &sim->judge->groups[g];

		if (!f->total || in == out || !is_branch(sim, g, s, out))
			continue;
		if (in && is_from_switch(sim, peer)) {
			sim_flow_step(before, vls_before, &f->total[peer], &was);
			sim_flow_step(map_of(sim, s, in, out), sim_flow_vls(o), &f->total[peer],
				      &is);
			sim_flow_depend(sim, s, in, out, was, is);
		}
		sim_groups_refresh(sim, g, s->first + out);
	}
}

/* Do the group's packets come back to a link?  `seen` are links followed already. */
static bool comes_back(const struct sim *sim, uint32_t group, uint32_t link, uint32_t start,
		       bool *seen)
{
	const struct sim_port *in = &sim->ports[sim->ports[link].peer];
	const struct sim_node *s = &sim->nodes[in->node];

	for (unsigned int out = 1; out <= s->nports; out++) {
		if (out == in->num || !is_branch(sim, group, s, out) || seen[s->first + out])
			continue;
		seen[s->first + out] = true;
		if (s->first + out == start || comes_back(sim, group, s->first + out, start, seen))
			return true;
	}
	return false;
}

void sim_groups_circle(struct sim *sim, uint32_t group, struct sim_node *s, unsigned int out)
{
	bool *seen = sim_alloc(sim->nports, sizeof(*seen));
	bool circle = comes_back(sim, group, s->first + out, s->first + out, seen);
	char text[128];

	free(seen);
	if (!circle)
		return;
	snprintf(text, sizeof(text), "packets to group 0x%x leave %s[%u] again",
		 group + IB_LID_MCAST_START_HO, s->name, out);
	sim_log_unsafe(sim, SIM_CIRCLE, text);
}

/* Refresh all links of a group out of a switch. */
void sim_groups_switch(struct sim *sim, uint32_t group, struct sim_node *s)
{
	if (!carries_group(s, group) && !sim->judge->groups[group].total)
		return;
	for (unsigned int out = 1; out <= s->nports; out++)
		if (is_from_switch(sim, sim->ports[s->first + out].peer))
			sim_groups_refresh(sim, group, s->first + out);
}
