/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A torus that grows or shrinks by the steps of `dateline grow`: each has a netlist of
 * the fabric when it is done.  All nodes that any of them has are there from the
 * beginning; those that are not placed yet are off, and have no cables.
 *
 * A step happens in two halves, so that the fabric can be seen, and fail, in between:
 * first the cables that it moves are unplugged, then all others are plugged.  A step
 * that moves none puts the new configuration into force.
 */
#include "config.h"

#include <stdlib.h>
#include <unistd.h>

#include "sim.h"

#define CONFIGURATION "grow/after.torus.conf"

static char *name_netlist(const char *dir, uint32_t step)
{
	char *path;

	if (asprintf(&path, "%s/grow/%03u.net", dir, step) < 0)
		sim_die("no memory");
	return path;
}

static bool has_step(const char *dir, uint32_t step)
{
	char *path = name_netlist(dir, step);
	bool has = !access(path, R_OK);

	free(path);
	return has;
}

char *sim_grow_plan(const struct sim_options *o)
{
	bool back = o->grow[0] == '-';
	uint32_t last = 0;
	char *command;

	if (asprintf(&command,
		     "rm -rf '%s/grow' && '%s/dateline' grow -q '%s' --torus-config '%s' --dim %s "
		     "--by %s -o '%s/grow' >'%s/grow.log' 2>&1",
		     o->dir, o->build, o->net, o->torus_config, o->grow + back, back ? "-1" : "1",
		     o->dir, o->dir) < 0)
		sim_die("no memory");
	if (system(command))
		sim_die("failed: %s", command);
	free(command);
	while (!back && has_step(o->dir, last + 1))
		last++;
	return name_netlist(o->dir, last);
}

static struct dl_fabric *read_step(const struct sim *sim, uint32_t step)
{
	char *path = name_netlist(sim->o.dir, step);
	struct dl_fabric *f;

	if (dl_fabric_read_netlist(path, NULL, &f) || dl_fabric_finish(f, NULL))
		sim_die("cannot read %s", path);
	free(path);
	return f;
}

/* Where a port's cable leads in a step's fabric, or DL_NONE. */
static uint32_t find_peer(const struct sim *sim, const struct dl_fabric *f, uint32_t port)
{
	const struct sim_port *p = &sim->ports[port];
	uint32_t node = dl_fabric_find_guid(f, sim->nodes[p->node].guid), peer;

	peer = node == DL_NONE ? DL_NONE : f->ports[f->nodes[node].first_port + p->num].peer;
	if (peer == DL_NONE)
		return DL_NONE;
	node = dl_fabric_find_guid(sim->fabric, f->nodes[f->ports[peer].node].guid);
	return sim->nodes[node].first + f->ports[peer].num;
}

/* ---- the beginning --------------------------------------------------------------- */

void sim_grow_begin(struct sim *sim)
{
	uint32_t last = 0;
	struct dl_fabric *f = read_step(sim, 0), *end;

	while (has_step(sim->o.dir, last + 1))
		last++;
	end = read_step(sim, last);
	for (uint32_t p = 0; p < sim->nports; p++)
		sim->ports[p].peer = sim->ports[p].home = sim->fabric->ports[p].peer =
			find_peer(sim, f, p);
	for (uint32_t i = 0; i < sim->nnodes; i++) {
		struct sim_node *n = &sim->nodes[i];

		n->absent = n->dead = dl_fabric_find_guid(f, n->guid) == DL_NONE;
		n->transient = n->absent || dl_fabric_find_guid(end, n->guid) == DL_NONE;
	}
	dl_fabric_free(f);
	dl_fabric_free(end);
}

/* ---- a step ---------------------------------------------------------------------- */

/* Returns how many cables the step unplugs. */
static uint32_t unplug(struct sim *sim, const struct dl_fabric *f)
{
	uint32_t n = 0;

	for (uint32_t p = 0; p < sim->nports; p++) {
		if (sim->ports[p].peer == DL_NONE || find_peer(sim, f, p) == sim->ports[p].peer)
			continue;
		sim_nodes_unplug(sim, p);
		n++;
	}
	return n;
}

/* Nodes come and go without cables. */
static void place(struct sim *sim, const struct dl_fabric *f)
{
	for (uint32_t i = 0; i < sim->nnodes; i++) {
		struct sim_node *n = &sim->nodes[i];
		bool absent = dl_fabric_find_guid(f, n->guid) == DL_NONE;

		if (absent == n->absent)
			continue;
		n->absent = absent;
		sim_nodes_power(sim, n, !absent);
	}
}

static uint32_t plug(struct sim *sim, const struct dl_fabric *f)
{
	uint32_t n = 0;

	for (uint32_t p = 0; p < sim->nports; p++) {
		uint32_t to = find_peer(sim, f, p);

		if (to == DL_NONE || sim->ports[p].peer == to)
			continue;
		sim_nodes_plug(sim, p, to);
		n++;
	}
	return n;
}

/* New nodes ask for paths, and others for those to them, when they have their cables. */
static void welcome(struct sim *sim)
{
	for (uint32_t i = 0; i < sim->nnodes; i++)
		if (sim->nodes[i].transient && !sim->nodes[i].absent)
			sim_client_welcome(sim, i);
}

bool sim_grow(struct sim *sim)
{
	struct dl_fabric *f;

	if (!sim->o.grow || !has_step(sim->o.dir, sim->grown + 1))
		return false;
	f = read_step(sim, sim->grown + 1);
	if (!sim->unplugged && unplug(sim, f)) {
		sim->unplugged = true;
	} else {
		place(sim, f);
		if (plug(sim, f))
			welcome(sim);
		else if (!sim->unplugged)
			sim_process_configure(sim, CONFIGURATION);
		sim->unplugged = false;
		sim->grown++;
	}
	dl_fabric_free(f);
	return true;
}
