/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A discovered torus: sites from discovery, then the cables between
 * neighbouring sites sorted into one group a direction, and a list of what
 * does not fit (odd.c).
 *
 * A closed dimension of radix 2 is an open one with more cables: both ways
 * lead to the same switch, no path ever wraps, and no dateline is crossed.
 * Treating it so leaves no ambiguity about which cable points which way.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "torus/internal.h"

static int allocate(struct dl_torus *t)
{
	const struct dl_fabric *f = t->fabric;
	size_t nsw = f->nswitches + 1;

	t->site_sw = malloc(t->nsites * sizeof(*t->site_sw));
	t->sw_site = malloc(nsw * sizeof(*t->sw_site));
	t->attachment = malloc(nsw * sizeof(*t->attachment));
	t->uplink = malloc(nsw * sizeof(*t->uplink));
	t->group_first = calloc(nsw * DL_TORUS_DIRS, sizeof(*t->group_first));
	t->group_ports = malloc(f->nports + 1);
	t->port_dir = malloc(f->nports + 1);
	t->unplaced = malloc(nsw * sizeof(*t->unplaced));
	t->off_kind = malloc(nsw);
	t->off_links = malloc((f->nports / 2 + 1) * sizeof(*t->off_links));
	if (!t->site_sw || !t->sw_site || !t->attachment || !t->uplink ||
	    !t->group_first || !t->group_ports || !t->port_dir ||
	    !t->unplaced || !t->off_kind || !t->off_links)
		return -ENOMEM;
	return 0;
}

/* In which direction does this port's cable leave its switch? */
static unsigned int cable_direction(const struct dl_torus *t, uint32_t port)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t sw = f->nodes[f->ports[port].node].sw;
	uint32_t far = dl_fabric_peer_switch(f, port);
	unsigned int dir;

	if (sw == DL_NONE || far == DL_NONE || t->sw_site[sw] == DL_NONE ||
	    t->sw_site[far] == DL_NONE)
		return DL_TORUS_DIRS;
	for (dir = 0; dir < DL_TORUS_DIRS; dir++)
		if (dl_torus_site_next(&t->grid, t->sw_site[sw], dir) ==
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
		const struct dl_fabric_node *n = &f->nodes[f->switches[s]];

		for (dir = 0; dir < DL_TORUS_DIRS; dir++) {
			t->group_first[s * DL_TORUS_DIRS + dir] = total;
			for (p = 1; p <= n->nports; p++)
				if (t->port_dir[n->first_port + p] == dir)
					t->group_ports[total++] = p;
		}
	}
	t->group_first[s * DL_TORUS_DIRS] = total;
	t->nlinks = total / 2;
}

static void list_odd_links(struct dl_torus *t)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t port;

	for (port = 0; port < f->nports; port++)
		if (t->port_dir[port] == DL_TORUS_DIRS &&
		    dl_fabric_is_switch(f, f->ports[port].node) &&
		    dl_fabric_peer_switch(f, port) != DL_NONE &&
		    port < f->ports[port].peer)
			t->off_links[t->noff_links++] = port;
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
	for (d = 0; d < DL_TORUS_DIMS; d++)
		t->grid.mesh[d] |= t->grid.radix[d] <= 2;
	t->nsites = dl_torus_grid_sites(&t->grid);
	err = allocate(t);
	if (!err)
		err = dl_torus_find_sites(t, c, before, log);
	if (!err)
		err = dl_torus_find_off_torus(t);
	if (err) {
		dl_torus_free(t);
		return err;
	}
	sort_cables(t);
	list_odd_links(t);
	dl_torus_report_off_torus(t, log);
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
	err = dl_torus_infer_as_wanted(f, &c->grid, log, &inferred);
	if (err)
		return err;
	err = discover(f, inferred, before, log, out);
	dl_torus_config_free(inferred);
	return err;
}

int dl_torus_discover(const struct dl_fabric *f,
		      const struct dl_torus_config *c, const struct dl_log *log,
		      struct dl_torus **out)
{
	return dl_torus_discover_again(f, c, NULL, log, out);
}

void dl_torus_free(struct dl_torus *t)
{
	if (!t)
		return;
	free(t->site_sw);
	free(t->sw_site);
	free(t->attachment);
	free(t->uplink);
	free(t->group_first);
	free(t->group_ports);
	free(t->port_dir);
	free(t->unplaced);
	free(t->off_kind);
	free(t->off_links);
	free(t);
}
