/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A discovered torus: sites from discovery, then the cables between
 * neighbouring sites sorted into one group a direction, and a list of what
 * does not fit.
 *
 * A closed dimension of radix 2 is an open one with more cables: both ways
 * lead to the same switch, no path ever wraps, and no dateline is crossed.
 * Treating it so leaves no ambiguity about which cable points which way.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "torus/discover.h"

static int allocate(struct dl_torus *t)
{
	const struct dl_fabric *f = t->fabric;
	size_t nsw = f->nswitches + 1;

	t->site_sw = malloc(t->nsites * sizeof(*t->site_sw));
	t->sw_site = malloc(nsw * sizeof(*t->sw_site));
	t->sl_site = malloc(nsw * sizeof(*t->sl_site));
	t->group_first = calloc(nsw * DL_DIRS, sizeof(*t->group_first));
	t->group_ports = malloc(f->nports + 1);
	t->port_dir = malloc(f->nports + 1);
	t->unplaced = malloc(nsw * sizeof(*t->unplaced));
	t->odd_links = malloc((f->nports / 2 + 1) * sizeof(*t->odd_links));
	if (!t->site_sw || !t->sw_site || !t->sl_site || !t->group_first ||
	    !t->group_ports || !t->port_dir || !t->unplaced || !t->odd_links)
		return -ENOMEM;
	return 0;
}

/* In which direction does this port's cable leave its switch? */
static unsigned int cable_direction(const struct dl_torus *t, uint32_t port)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t sw = f->nodes[f->ports[port].node].sw;
	uint32_t far = dl_peer_switch(f, port);
	unsigned int dir;

	if (sw == DL_NONE || far == DL_NONE || t->sw_site[sw] == DL_NONE ||
	    t->sw_site[far] == DL_NONE)
		return DL_DIRS;
	for (dir = 0; dir < DL_DIRS; dir++)
		if (dl_site_next(&t->grid, t->sw_site[sw], dir) ==
		    t->sw_site[far])
			break;
	return dir;
}

static void sort_cables(struct dl_torus *t)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t s, total = 0, port;
	unsigned int dir, p;

	for (port = 0; port < f->nports; port++)
		t->port_dir[port] = cable_direction(t, port);
	for (s = 0; s < f->nswitches; s++) {
		const struct dl_node *n = &f->nodes[f->switches[s]];

		for (dir = 0; dir < DL_DIRS; dir++) {
			t->group_first[s * DL_DIRS + dir] = total;
			for (p = 1; p <= n->nports; p++)
				if (t->port_dir[n->first_port + p] == dir)
					t->group_ports[total++] = p;
		}
	}
	t->group_first[s * DL_DIRS] = total;
	t->nlinks = total / 2;
}

static void list_misfits(struct dl_torus *t)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t s, port;

	for (s = 0; s < f->nswitches; s++)
		if (t->sw_site[s] == DL_NONE)
			t->unplaced[t->nunplaced++] = s;
	for (port = 0; port < f->nports; port++)
		if (t->port_dir[port] == DL_DIRS &&
		    dl_is_switch(f, f->ports[port].node) &&
		    dl_peer_switch(f, port) != DL_NONE &&
		    port < f->ports[port].peer)
			t->odd_links[t->nodd_links++] = port;
}

/* Long lists are cut: a wrong radix makes every switch a misfit. */
#define MAX_LISTED 8

static void report_misfits(const struct dl_torus *t, const struct dl_log *log)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t i;

	for (i = 0; i < t->nunplaced && i < MAX_LISTED; i++) {
		const struct dl_node *n =
			&f->nodes[f->switches[t->unplaced[i]]];

		dl_log(log, DL_WARNING,
		       "switch 0x%016" PRIx64 " \"%s\" has no place in the "
		       "%ux%ux%u grid",
		       n->guid, dl_node_name(f, n - f->nodes),
		       t->grid.radix[0], t->grid.radix[1], t->grid.radix[2]);
	}
	if (t->nunplaced > MAX_LISTED)
		dl_log(log, DL_WARNING, "and %u more switches",
		       t->nunplaced - MAX_LISTED);
	for (i = 0; i < t->nodd_links && i < MAX_LISTED; i++) {
		const struct dl_port *a = &f->ports[t->odd_links[i]];
		const struct dl_port *b = &f->ports[a->peer];

		dl_log(log, DL_WARNING,
		       "cable from 0x%016" PRIx64 " \"%s\" port %u to 0x%016"
		       PRIx64 " \"%s\" port %u does not join neighbours",
		       f->nodes[a->node].guid, dl_node_name(f, a->node),
		       a->num, f->nodes[b->node].guid,
		       dl_node_name(f, b->node), b->num);
	}
	if (t->nodd_links > MAX_LISTED)
		dl_log(log, DL_WARNING, "and %u more cables",
		       t->nodd_links - MAX_LISTED);
}

/*
 * By whose coordinates the SLs of a switch without any go: outwards from the
 * placed switches, ring by ring.
 */
static int find_homes(struct dl_torus *t)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t *queue = malloc((f->nswitches + 1) * sizeof(*queue));
	uint32_t head, tail = 0, site, s;

	if (!queue)
		return -ENOMEM;
	memcpy(t->sl_site, t->sw_site, f->nswitches * sizeof(*t->sl_site));
	for (site = 0; site < t->nsites; site++)
		if (t->site_sw[site] != DL_NONE)
			queue[tail++] = t->site_sw[site];
	for (head = 0; head < tail; head++) {
		const struct dl_node *n = &f->nodes[f->switches[queue[head]]];
		unsigned int num;

		for (num = 1; num <= n->nports; num++) {
			s = dl_peer_switch(f, n->first_port + num);
			if (s == DL_NONE || t->sl_site[s] != DL_NONE)
				continue;
			t->sl_site[s] = t->sl_site[queue[head]];
			queue[tail++] = s;
		}
	}
	free(queue);
	return 0;
}

static int discover(const struct dl_fabric *f, const struct dl_torus_config *c,
		    const struct dl_torus *before, const struct dl_log *log,
		    struct dl_torus **out)
{
	struct dl_torus *t = calloc(1, sizeof(*t));
	unsigned int d;
	int err;

	if (!t)
		return -ENOMEM;
	t->fabric = f;
	t->grid = c->grid;
	for (d = 0; d < DL_DIMS; d++)
		t->grid.mesh[d] |= t->grid.radix[d] <= 2;
	t->nsites = dl_grid_sites(&t->grid);
	err = allocate(t);
	if (!err)
		err = dl_find_sites(t, c, before, log);
	if (!err)
		err = find_homes(t);
	if (err) {
		dl_torus_free(t);
		return err;
	}
	sort_cables(t);
	list_misfits(t);
	report_misfits(t, log);
	*out = t;
	return 0;
}

int dl_torus_discover_again(const struct dl_fabric *f,
			    const struct dl_torus_config *c,
			    const struct dl_torus *before,
			    const struct dl_log *log, struct dl_torus **out)
{
	struct dl_torus_config *inferred;
	int err;

	if (c->nseeds)
		return discover(f, c, before, log, out);
	err = dl_infer_as_wanted(f, &c->grid, log, &inferred);
	if (err)
		return err;
	err = discover(f, inferred, before, log, out);
	dl_torus_config_free(inferred);
	return err;
}

int dl_torus_discover(const struct dl_fabric *f,
		      const struct dl_torus_config *c,
		      const struct dl_log *log, struct dl_torus **out)
{
	return dl_torus_discover_again(f, c, NULL, log, out);
}

void dl_torus_free(struct dl_torus *t)
{
	if (!t)
		return;
	free(t->site_sw);
	free(t->sw_site);
	free(t->sl_site);
	free(t->group_first);
	free(t->group_ports);
	free(t->port_dir);
	free(t->unplaced);
	free(t->odd_links);
	free(t);
}
