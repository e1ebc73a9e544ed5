/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From a torus back to the configuration that an administrator would have
 * written for it: radices, and seeds far apart that share no switch.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "torus/internal.h"
#include "dateline/torus.h"

/* Live switches and cables by site, as dl_torus_choose_seeds() wants them. */
struct survey {
	bool *dead;
	uint8_t *cables;
	uint64_t *guids;
};

static int take_survey(const struct dl_torus *t, struct survey *s)
{
	uint32_t site, sw, n;
	unsigned int d;

	s->dead = malloc(t->nsites * sizeof(*s->dead));
	s->cables = calloc(t->nsites, DL_TORUS_DIMS * sizeof(*s->cables));
	s->guids = calloc(t->nsites, sizeof(*s->guids));
	if (!s->dead || !s->cables || !s->guids)
		return -ENOMEM;
	for (site = 0; site < t->nsites; site++) {
		sw = t->site_sw[site];
		s->dead[site] = sw == DL_NONE;
		if (sw == DL_NONE)
			continue;
		s->guids[site] = t->fabric->nodes[t->fabric->switches[sw]].guid;
		for (d = 0; d < DL_TORUS_DIMS; d++) {
			n = dl_torus_group_size(t, sw, dl_torus_dir(d, false));
			s->cables[site * DL_TORUS_DIMS + d] = n < 255 ? n : 255;
		}
	}
	return 0;
}

/* Does a switch's port lead to an adapter or router? */
static bool has_end_port(const struct dl_fabric *f, uint32_t port)
{
	return f->ports[port].peer != DL_NONE &&
	       dl_fabric_is_end_port(f, f->ports[port].peer);
}

/*
 * What the built-in engine needs as portgroup_max_ports: the most parallel
 * cables, or the most end ports of a switch with its own.
 */
static uint32_t largest_group(const struct dl_torus *t)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t most = DL_TORUS_DEFAULT_PORTGROUP, s, p, n, ends;
	unsigned int dir;

	for (s = 0; s < f->nswitches; s++) {
		for (dir = 0; dir < DL_TORUS_DIRS; dir++) {
			n = dl_torus_group_size(t, s, dir);
			most = n > most ? n : most;
		}
		for (p = 1, ends = 1; p <= f->nodes[f->switches[s]].nports; p++)
			ends += has_end_port(
				f, f->nodes[f->switches[s]].first_port + p);
		most = ends > most ? ends : most;
	}
	return most;
}

int dl_torus_describe(const struct dl_torus *t, unsigned int max_seeds,
		      struct dl_torus_config **out)
{
	struct dl_torus_config *c = calloc(1, sizeof(*c));
	struct survey s = { 0 };
	unsigned int d;
	int err = c ? take_survey(t, &s) : -ENOMEM;

	if (!err) {
		c->grid = t->grid;
		/* An absent dimension is neither open nor closed. */
		for (d = 0; d < DL_TORUS_DIMS; d++)
			c->grid.mesh[d] &= c->grid.radix[d] > 1;
		c->max_changes = DL_TORUS_DEFAULT_MAX_CHANGES;
		c->portgroup_max_ports = largest_group(t);
		c->path = strdup("(found from the cabling)");
		c->seeds = calloc(max_seeds, sizeof(*c->seeds));
		err = c->path && c->seeds ? 0 : -ENOMEM;
	}
	if (!err)
		err = dl_torus_choose_seeds(&t->grid, s.dead, s.cables, s.guids,
					    c->seeds, max_seeds, &c->nseeds);
	free(s.dead);
	free(s.cables);
	free(s.guids);
	if (err) {
		dl_torus_config_free(c);
		return err;
	}
	*out = c;
	return 0;
}
