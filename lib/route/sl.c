/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Service levels and virtual lanes (rules A5, A6).
 *
 * A path SL says, with one bit a dimension, whether the shorter way round
 * that dimension crosses its dateline (the cable between the last coordinate
 * and 0).  It is computed from the two coordinates alone: what failed since
 * never changes an SL that an application holds.
 *
 * Between switches a VL is put together from three bits: whether the packet
 * crosses the dateline of the dimension it now travels, whether it has just
 * turned from a later dimension to an earlier one (which plain dimension
 * order never does), and its QoS level.
 */
#include "dateline/route.h"

#define SL_QOS_BIT 3

/* Does the shorter way from a to b pass between radix - 1 and 0? */
static bool wraps(const struct dl_torus_grid *g, unsigned int dim, uint32_t a, uint32_t b)
{
	uint32_t apart = a > b ? a - b : b - a;

	return !g->mesh[dim] && 2 * apart > g->radix[dim];
}

unsigned int dl_route_sl(const struct dl_torus_grid *g, uint32_t from, uint32_t to)
{
	uint32_t a[DL_TORUS_DIMS], b[DL_TORUS_DIMS];
	unsigned int d, sl = 0;

	dl_torus_site_coord(g, from, a);
	dl_torus_site_coord(g, to, b);
	for (d = 0; d < DL_TORUS_DIMS; d++)
		sl |= (unsigned int)wraps(g, d, a[d], b[d]) << d;
	return sl;
}

void dl_route_sl_row(const struct dl_torus *t, uint32_t from, uint8_t *row)
{
	const struct dl_torus_grid *g = &t->grid;
	uint8_t bit[DL_TORUS_DIMS][DL_TORUS_MAX_RADIX];
	const uint32_t *sw = t->site_sw;
	uint32_t i, x, y, z, at[DL_TORUS_DIMS];
	unsigned int d;

	dl_torus_site_coord(g, t->attachment[from], at);
	for (d = 0; d < DL_TORUS_DIMS; d++)
		for (i = 0; i < g->radix[d]; i++)
			bit[d][i] = wraps(g, d, at[d], i) << d;
	for (z = 0; z < g->radix[2]; z++)
		for (y = 0; y < g->radix[1]; y++)
			for (x = 0; x < g->radix[0]; x++, sw++)
				if (*sw != DL_NONE)
					row[*sw] = bit[0][x] | bit[1][y] | bit[2][z];
	for (i = 0; i < t->nunplaced; i++)
		if (t->attachment[t->unplaced[i]] != DL_NONE)
			row[t->unplaced[i]] =
				dl_route_sl(g, t->attachment[from], t->attachment[t->unplaced[i]]);
}

dl_tables_sl2vl_row dl_route_sl2vl(unsigned int in, unsigned int out,
				   const struct dl_route_vls *vls)
{
	dl_tables_sl2vl_row row = 0;
	unsigned int sl, vl, dim = dl_torus_dir_dim(out);
	bool turn = in < DL_TORUS_DIRS && out < DL_TORUS_DIRS && dl_torus_dir_dim(in) > dim;

	for (sl = 0; sl < 16; sl++) {
		unsigned int qos = sl >> SL_QOS_BIT & 1;

		if (out == DL_TORUS_DIRS) {
			vl = vls->end >= 2 ? qos : 0;
		} else {
			vl = sl >> dim & 1;
			if (vls->between >= 4)
				vl |= (unsigned int)turn << 1;
			if (vls->between >= 8)
				vl |= qos << 2;
		}
		row |= (dl_tables_sl2vl_row)vl << (4 * sl);
	}
	return row;
}
