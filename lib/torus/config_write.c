/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The writer of torus-2QoS.conf (rules A3), for dl_torus_config_read() and for
 * OpenSM's own engine alike.  Comments stand behind what they explain, save
 * for port_order, where the built-in engine would take them for ports.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "dateline/torus.h"

static void write_geometry(const struct dl_torus_grid *g, FILE *to)
{
	unsigned int present = 0, open = 0;
	bool mesh;

	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++) {
		present += g->radix[d] > 1;
		open += g->radix[d] > 1 && g->mesh[d];
	}
	mesh = 2 * open > present;
	fprintf(to, mesh ? "mesh" : "torus");
	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++)
		fprintf(to, " %" PRIu32 "%s", g->radix[d],
			g->mesh[d] == mesh ? "" :
			g->mesh[d]	   ? "m" :
					     "t");
	fprintf(to, "\t# radices of x, y, z; 1: absent, m: open, t: closed\n");
}

static void write_seed(const struct dl_torus_seed *s, FILE *to)
{
	for (unsigned int dir = 0; dir < DL_TORUS_DIRS; dir++)
		if (s->to[dir])
			fprintf(to,
				"%c%c_link 0x%" PRIx64 " 0x%" PRIx64
				"\t# from the seed's switch to its neighbour "
				"in %c%c\n",
				'x' + dl_torus_dir_dim(dir),
				dir & 1 ? 'm' : 'p', s->from, s->to[dir],
				dir & 1 ? '-' : '+',
				'x' + dl_torus_dir_dim(dir));
	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++)
		if (s->has_dateline[d])
			fprintf(to,
				"%c_dateline %" PRId32
				"\t# where %c = 0 is, seen from the seed's "
				"switch\n",
				'x' + d, s->dateline[d], 'x' + d);
}

int dl_torus_config_write(const struct dl_torus_config *c, FILE *to)
{
	fprintf(to, "# Torus configuration, see torus-2QoS.conf(5).\n");
	write_geometry(&c->grid, to);
	for (uint32_t i = 0; i < c->nseeds; i++) {
		if (i)
			fprintf(to, "\nnext_seed\t# in case a switch of those "
				    "above fails\n");
		else
			fprintf(to, "\n# The first seed: links from one "
				    "switch, and their directions.\n");
		write_seed(&c->seeds[i], to);
	}
	fprintf(to,
		"\nportgroup_max_ports %" PRIu32
		"\t# most parallel cables, and most adapters plus one\n",
		c->portgroup_max_ports);
	fprintf(to,
		"max_changes %" PRIu32
		"\t# most lines in a report of changes\n",
		c->max_changes);
	if (c->nport_order) {
		fprintf(to, "# Order in which a switch's adapter ports are "
			    "given routes.\nport_order");
		for (uint32_t i = 0; i < c->nport_order; i++)
			fprintf(to, " %d", c->port_order[i]);
		fprintf(to, "\n");
	}
	return fflush(to) || ferror(to) ? -EIO : 0;
}

void dl_torus_config_free(struct dl_torus_config *c)
{
	if (!c)
		return;
	free(c->seeds);
	free(c->path);
	free(c);
}
