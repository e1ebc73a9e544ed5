/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Arithmetic on the grid of sites (rules A1), and the list of them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "torus/internal.h"

uint32_t dl_torus_site_next(const struct dl_torus_grid *g, uint32_t site, unsigned int dir)
{
	unsigned int dim = dl_torus_dir_dim(dir);
	uint32_t radix = g->radix[dim], stride = 1, here, there;
	bool wraps;

	if (radix < 2)
		return DL_NONE;
	for (unsigned int d = 0; d < dim; d++)
		stride *= g->radix[d];
	here = site / stride % radix;
	if (dir == dl_torus_dir(dim, true)) {
		wraps = here == 0;
		there = wraps ? radix - 1 : here - 1;
	} else {
		wraps = here == radix - 1;
		there = wraps ? 0 : here + 1;
	}
	if (wraps && g->mesh[dim])
		return DL_NONE;
	return site - here * stride + there * stride;
}

unsigned int dl_torus_direction(const struct dl_torus_grid *g, uint32_t from, uint32_t to)
{
	uint32_t apart = from < to ? to - from : from - to, stride = 1;

	for (unsigned int d = 0; d < DIMS; stride *= g->radix[d], d++) {
		/* Divide only where it may be one step, or one round the end. */
		if (apart != stride && apart != stride * (g->radix[d] - 1))
			continue;
		for (unsigned int side = 0; side < 2; side++)
			if (dl_torus_site_next(g, from, dl_torus_dir(d, side)) == to)
				return dl_torus_dir(d, side);
	}
	return DIRS;
}

uint32_t dl_torus_site_distance(const struct dl_torus_grid *g, uint32_t a, uint32_t b)
{
	uint32_t x[DIMS], y[DIMS], hops = 0;

	dl_torus_site_coord(g, a, x);
	dl_torus_site_coord(g, b, y);
	for (unsigned int d = 0; d < DIMS; d++) {
		uint32_t apart = x[d] > y[d] ? x[d] - y[d] : y[d] - x[d];

		if (!g->mesh[d] && apart > g->radix[d] - apart)
			apart = g->radix[d] - apart;
		hops += apart;
	}
	return hops;
}

unsigned int dl_torus_last_dim(const struct dl_torus_grid *g)
{
	unsigned int dim = DIMS - 1;

	while (dim > 0 && g->radix[dim] < 2)
		dim--;
	return dim;
}

bool dl_torus_same_grid(const struct dl_torus_grid *a, const struct dl_torus_grid *b)
{
	bool same = true;

	for (unsigned int d = 0; d < DIMS; d++)
		same &= a->radix[d] == b->radix[d] && a->mesh[d] == b->mesh[d];
	return same;
}

/* ---- messages ---------------------------------------------------------- */

struct dl_torus_shown dl_torus_show_port(const struct dl_fabric *f, uint32_t port)
{
	uint32_t node = f->ports[port].node;
	struct dl_torus_shown s;
	int n = snprintf(s.text, sizeof(s.text), "0x%016" PRIx64 " \"%.280s\"", f->nodes[node].guid,
			 dl_fabric_node_name(f, node));

	if (f->ports[port].num)
		snprintf(s.text + n, sizeof(s.text) - n, " port %u", f->ports[port].num);
	return s;
}

struct dl_torus_shown dl_torus_show_switch(const struct dl_fabric *f, uint32_t sw)
{
	return dl_torus_show_port(f, dl_fabric_switch_node(f, sw)->first_port);
}

struct dl_torus_shown dl_torus_show_site(const struct dl_torus_grid *g, uint32_t site)
{
	struct dl_torus_shown s;
	uint32_t c[DIMS];

	dl_torus_site_coord(g, site, c);
	snprintf(s.text, sizeof(s.text), "(%u,%u,%u)", c[0], c[1], c[2]);
	return s;
}

struct dl_torus_shown dl_torus_show_grid(const struct dl_torus_grid *g)
{
	struct dl_torus_shown s;
	int n = 0;

	for (unsigned int d = 0; d < DIMS; d++)
		n += snprintf(s.text + n, sizeof(s.text) - n, "%s%u%s", d ? "x" : "", g->radix[d],
			      g->mesh[d] && g->radix[d] > 2 ? "m" : "");
	return s;
}

/* Is this a cable from the first to the last coordinate of a dimension? */
static bool grid_is_wrap(const struct dl_torus_grid *g, const uint32_t a[DIMS],
			 const uint32_t b[DIMS], unsigned int dim)
{
	bool same = true;

	for (unsigned int d = 0; d < DIMS; d++)
		same &= d == dim || a[d] == b[d];
	return same && !a[dim] && b[dim] == g->radix[dim] - 1;
}

void dl_torus_find_wraps(const struct dl_fabric *f, uint32_t (*coord)[DIMS], const uint32_t *site,
			 struct dl_torus_grid *grid)
{
	for (unsigned int d = 0; d < DIMS; d++)
		grid->mesh[d] = grid->radix[d] > 2;
	for (uint32_t p = 0; p < f->nports; p++) {
		uint32_t from = f->nodes[f->ports[p].node].sw, to = dl_fabric_peer_switch(f, p);

		if (from == DL_NONE || to == DL_NONE || site[from] == DL_NONE ||
		    site[to] == DL_NONE)
			continue;
		for (unsigned int d = 0; d < DIMS; d++)
			grid->mesh[d] &= !grid_is_wrap(grid, coord[from], coord[to], d);
	}
}

/* Would coordinates and cables alone tell another torus?  1, 0 or -ENOMEM. */
static int grid_must_be_said(const struct dl_torus *t)
{
	const struct dl_fabric *f = t->fabric;
	struct dl_torus_grid told = { .radix = { 1, 1, 1 } };
	uint32_t(*coord)[DIMS] = calloc(f->nswitches + 1ul, sizeof(*coord));
	bool differs = false;

	if (!coord)
		return -ENOMEM;
	for (uint32_t s = 0; s < f->nswitches; s++) {
		if (t->sw_site[s] == DL_NONE)
			continue;
		dl_torus_site_coord(&t->grid, t->sw_site[s], coord[s]);
		for (unsigned int d = 0; d < DIMS; d++)
			if (coord[s][d] >= told.radix[d])
				told.radix[d] = coord[s][d] + 1;
	}
	dl_torus_find_wraps(f, coord, t->sw_site, &told);
	for (unsigned int d = 0; d < DIMS && !differs; d++)
		differs = told.radix[d] != t->grid.radix[d] ||
			  (told.radix[d] > 2 && told.mesh[d] != t->grid.mesh[d]);
	free(coord);
	return differs;
}

int dl_torus_write_list(const struct dl_torus *t, FILE *to)
{
	const struct dl_fabric *f = t->fabric;
	const struct dl_torus_grid *g = &t->grid;
	int said = grid_must_be_said(t);

	if (said < 0)
		return said;
	if (said) {
		fprintf(to, "torus");
		for (unsigned int d = 0; d < DIMS; d++)
			fprintf(to, " %u%s", g->radix[d], g->mesh[d] && g->radix[d] > 2 ? "m" : "");
		fprintf(to, "\n");
	}
	for (uint32_t site = 0; site < t->nsites; site++) {
		uint32_t sw = t->site_sw[site], c[DIMS];

		if (sw == DL_NONE)
			continue;
		dl_torus_site_coord(&t->grid, site, c);
		fprintf(to, "switch %u,%u,%u GUID 0x%016" PRIx64 " (%s)\n", c[0], c[1], c[2],
			dl_fabric_switch_node(f, sw)->guid,
			dl_fabric_node_name(f, f->switches[sw]));
	}
	return fflush(to) || ferror(to) ? -EIO : 0;
}
