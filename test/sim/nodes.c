/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The fabric: nodes and cables as a netlist has them, and what becomes of links
 * when cables are cut and nodes die.
 */
#include "config.h"

#include <string.h>

#include "sim.h"

static void log_line(void *context, enum dl_log_level level, const char *line)
{
	(void)context;
	if (level == DL_LOG_ERROR)
		fprintf(stderr, "sim: %s\n", line);
}

static void set_state(struct sim_port *p, bool up)
{
	ib_port_info_t *info = &p->info;
	unsigned int physical = up ? IB_PORT_PHYS_STATE_LINKUP : IB_PORT_PHYS_STATE_POLLING;

	info->state_info1 = (info->state_info1 & 0xF0) | (up ? IB_LINK_INIT : IB_LINK_DOWN);
	info->state_info2 = (info->state_info2 & 0x0F) | physical << 4;
}

static void load_node(struct sim *sim, uint32_t i)
{
	const struct dl_fabric_node *from = &sim->fabric->nodes[i];
	struct sim_node *n = &sim->nodes[i];

	n->name = dl_fabric_node_id(sim->fabric, i);
	n->guid = from->guid;
	n->first = from->first_port;
	n->nports = from->nports;
	n->is_switch = dl_fabric_is_switch(sim->fabric, i);
	n->sm = -1;
	if (n->is_switch) {
		n->lft = sim_alloc(SIM_LFT_SIZE, 1);
		n->mft = sim_alloc(SIM_MLIDS * SIM_MFT_POSITIONS, sizeof(*n->mft));
	}
	for (unsigned int o = 0; o <= n->nports; o++) {
		struct sim_port *p = sim_port_at(sim, n, o);

		p->node = i;
		p->num = o;
		p->peer = p->home = sim->fabric->ports[n->first + o].peer;
		p->sl2vl = sim_alloc(n->nports + 1u, 8);
	}
}

void sim_nodes_load(struct sim *sim)
{
	struct dl_log log = { .write = log_line };

	if (dl_fabric_read_netlist(sim->o.net, &log, &sim->fabric) ||
	    dl_fabric_finish(sim->fabric, &log))
		sim_die("cannot read %s", sim->o.net);
	sim->nnodes = sim->fabric->nnodes;
	sim->nports = sim->fabric->nports;
	sim->nodes = sim_alloc(sim->nnodes, sizeof(*sim->nodes));
	sim->ports = sim_alloc(sim->nports, sizeof(*sim->ports));
	for (uint32_t i = 0; i < sim->nnodes; i++)
		load_node(sim, i);
	if (sim->o.grow)
		sim_grow_begin(sim);
	for (uint32_t i = 0; i < sim->nnodes; i++)
		sim_agent_reset(sim, &sim->nodes[i]);
	for (uint32_t p = 0; p < sim->nports; p++)
		if (sim->ports[p].peer != DL_NONE)
			set_state(&sim->ports[p], true);
}

void sim_nodes_train(struct sim *sim, uint32_t port, unsigned int lanes)
{
	const uint32_t ends[2] = { port, sim->ports[port].peer };

	for (unsigned int i = 0; i < 2; i++) {
		sim->fabric->ports[ends[i]].width = lanes;
		sim->ports[ends[i]].info.link_width_active = sim_agent_width(lanes);
	}
}

struct sim_node *sim_nodes_find(struct sim *sim, const char *name)
{
	for (uint32_t i = 0; i < sim->nnodes; i++)
		if (!strcmp(sim->nodes[i].name, name) && !sim->nodes[i].absent)
			return &sim->nodes[i];
	return NULL;
}

/* ---- links -------------------------------------------------------------------- */

static void set_link(struct sim *sim, struct sim_port *p, bool up)
{
	struct sim_node *n = &sim->nodes[p->node];

	set_state(p, up);
	if (!n->is_switch || n->dead)
		return;
	n->switch_info.life_state |= IB_SWITCH_PSC;
	sim_carry_report(sim, n);
}

static void set_cable(struct sim *sim, uint32_t port, bool up)
{
	struct sim_port *p = &sim->ports[port];

	set_link(sim, p, up);
	set_link(sim, &sim->ports[p->peer], up);
	sim_judge_port(sim, port, false);
	sim_judge_port(sim, p->peer, false);
	sim->last_change = sim->now;
	/* What goes and comes back between two sweeps, no sweep knows of. */
	if (!up) {
		p->down_at = sim->ports[p->peer].down_at = sim->now;
		sim_avoid_unplugged(sim, port);
	} else if (p->down_at > sim->last_sweep) {
		sim->clean = false;
	}
}

static void update_link(struct sim *sim, uint32_t port)
{
	struct sim_port *p = &sim->ports[port], *q;
	bool up;

	if (p->peer == DL_NONE)
		return;
	q = &sim->ports[p->peer];
	up = !p->cut && !q->cut && !sim->nodes[p->node].dead && !sim->nodes[q->node].dead;
	if (up != sim_is_live(p))
		set_cable(sim, port, up);
}

void sim_nodes_link(struct sim *sim, uint32_t port, bool up)
{
	struct sim_port *p = &sim->ports[port];

	p->cut = sim->ports[p->peer].cut = !up;
	update_link(sim, port);
}

static void join_ports(struct sim *sim, uint32_t a, uint32_t b)
{
	sim->ports[a].peer = sim->fabric->ports[a].peer = b;
	sim->ports[b].peer = sim->fabric->ports[b].peer = a;
}

void sim_nodes_unplug(struct sim *sim, uint32_t port)
{
	uint32_t peer = sim->ports[port].peer;

	sim_nodes_link(sim, port, false);
	sim->ports[port].cut = sim->ports[peer].cut = false;
	sim->ports[port].peer = sim->ports[port].home = sim->fabric->ports[port].peer = DL_NONE;
	sim->ports[peer].peer = sim->ports[peer].home = sim->fabric->ports[peer].peer = DL_NONE;
}

void sim_nodes_plug(struct sim *sim, uint32_t a, uint32_t b)
{
	join_ports(sim, a, b);
	sim->ports[a].home = b;
	sim->ports[b].home = a;
	sim_nodes_link(sim, a, true);
}

void sim_nodes_swap(struct sim *sim, uint32_t a, uint32_t b)
{
	uint32_t to_a = sim->ports[b].peer, to_b = sim->ports[a].peer;

	sim_nodes_link(sim, a, false);
	sim_nodes_link(sim, b, false);
	join_ports(sim, a, to_a);
	join_ports(sim, b, to_b);
	sim_nodes_link(sim, a, true);
	sim_nodes_link(sim, b, true);
}

void sim_nodes_bounce(struct sim *sim, uint32_t port)
{
	if (!sim_is_live(&sim->ports[port]))
		return;
	set_cable(sim, port, false);
	set_cable(sim, port, true);
}

void sim_nodes_power(struct sim *sim, struct sim_node *n, bool up)
{
	n->dead = !up;
	sim->last_change = sim->now;
	for (unsigned int o = 1; !up && o <= n->nports; o++)
		update_link(sim, n->first + o);
	if (up) {
		sim_agent_reset(sim, n);
		sim_judge_node(sim, n);
	}
	for (unsigned int o = 1; up && o <= n->nports; o++)
		update_link(sim, n->first + o);
}
