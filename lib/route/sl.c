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
 * order never does), and its QoS level.  In any-SL mode (A13) the SL says
 * nothing but the level.
 */

#include "route/internal.h"

#define SL_QOS_BIT 3

/* Does the shorter way from a to b pass between radix - 1 and 0? */
static bool sl_wraps(const struct dl_torus_grid *g, unsigned int dim, uint32_t a, uint32_t b)
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
		sl |= (unsigned int)sl_wraps(g, d, a[d], b[d]) << d;
	return sl;
}

/* The SL bit of a dimension, by the rules of classic or proven mode. */
static unsigned int tie_bit(const struct dl_route_rule *r, const struct dl_torus_grid *g,
			    unsigned int dim, uint32_t from, uint32_t to, unsigned int parity)
{
	if (g->mesh[dim] || from == to)
		return 0;
	return dl_route_goes_minus(r, g->radix[dim], from, to, parity) == (to > from);
}

static unsigned int sl_by_rule(const struct dl_route_sl_rule *rule, const uint32_t sites[2],
			       unsigned int parity)
{
	const struct dl_route_rule r = { .balanced = true };
	uint32_t from[DL_TORUS_DIMS], to[DL_TORUS_DIMS];
	unsigned int sl = 0;

	if (!rule->balanced)
		return dl_route_sl(rule->grid, sites[0], sites[1]);
	dl_torus_site_coord(rule->grid, sites[0], from);
	dl_torus_site_coord(rule->grid, sites[1], to);
	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++)
		sl |= tie_bit(&r, rule->grid, d, from[d], to[d], dl_route_parity(parity, to, d))
		   << d;
	return sl;
}

bool dl_route_sl_differs(const struct dl_route_sl_rule *is, const uint32_t a[2],
			 const struct dl_route_sl_rule *was, const uint32_t b[2])
{
	/* Only balanced ties go by the parity of a LID's port. */
	return sl_by_rule(is, a, 0) != sl_by_rule(was, b, 0) ||
	       ((is->balanced || was->balanced) && sl_by_rule(is, a, 1) != sl_by_rule(was, b, 1));
}

void dl_route_sls_to(const struct dl_route_rule *r, const struct dl_torus *t, uint32_t to,
		     unsigned int parity, uint8_t *row)
{
	const struct dl_torus_grid *g = &t->grid;
	uint8_t bit[DL_TORUS_DIMS][DL_TORUS_MAX_RADIX];
	const uint32_t *sw = t->site_sw;
	uint32_t i, s, x, y, z, at[DL_TORUS_DIMS];
	unsigned int d;

	dl_torus_site_coord(g, t->attachment[to], at);
	for (d = 0; d < DL_TORUS_DIMS; d++)
		for (i = 0; i < g->radix[d]; i++)
			bit[d][i] =
				r->any_sl ?
					0 :
					tie_bit(r, g, d, i, at[d], dl_route_parity(parity, at, d))
						<< d;
	for (z = 0; z < g->radix[2]; z++)
		for (y = 0; y < g->radix[1]; y++)
			for (x = 0; x < g->radix[0]; x++, sw++)
				if (*sw != DL_NONE)
					row[*sw] = bit[0][x] | bit[1][y] | bit[2][z];
	for (i = 0; i < t->nunplaced; i++) {
		s = t->unplaced[i];
		if (t->attachment[s] == DL_NONE)
			continue;
		dl_torus_site_coord(g, t->attachment[s], at);
		row[s] = bit[0][at[0]] | bit[1][at[1]] | bit[2][at[2]];
	}
}

unsigned int dl_route_levels(const struct dl_route_vls *vls)
{
	return vls->between >= 8 || (vls->any_sl && vls->between >= 4) ? 2 : 1;
}

/*
 * Any-SL mode: A into a dimension, B straight on in it, and if there are VLs
 * for it a third after an illegal turn.
 */
static unsigned int any_sl_vl(unsigned int in, unsigned int out, unsigned int qos,
			      const struct dl_route_vls *vls)
{
	unsigned int per_level = vls->between / dl_route_levels(vls), vl = 0;
	unsigned int dim = dl_torus_dir_dim(out);

	if (in < DL_TORUS_DIRS && dl_torus_dir_dim(in) == dim)
		vl = 1;
	else if (in < DL_TORUS_DIRS && dl_torus_dir_dim(in) > dim)
		vl = 2;
	if (per_level < 4 && vl == 2)
		vl = 0;
	return (per_level > 1 ? vl : 0) + (dl_route_levels(vls) > 1 ? qos * per_level : 0);
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
		} else if (vls->any_sl) {
			vl = any_sl_vl(in, out, qos, vls);
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
