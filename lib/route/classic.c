/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Classic mode's refusals (rules A8): fabrics that the torus-2QoS document does not
 * route.  The log names the switches and cables that cause the refusal.
 * Complexity: linear in the sites.
 */
#include "route/internal.h"

#define MAX_LISTED 8 /* switches named in one refusal */

/* Leaves and dual-homed switches are accepted; other kinds result from a wrong radix. */
static enum dl_route_refusal check_placed(const struct dl_torus *t, const struct dl_log *log)
{
	const struct dl_torus_grid *g = &t->grid;
	uint32_t cables, switches = dl_torus_count_unplaceable(t, &cables);

	if (!switches && !cables)
		return DL_ROUTE_ACCEPTED;
	dl_log(log, DL_LOG_ERROR,
	       "the fabric is no %ux%ux%u torus or mesh: %u of %u switches and "
	       "%u cables between switches do not fit; check the radices and "
	       "the seed",
	       g->radix[0], g->radix[1], g->radix[2], switches, t->fabric->nswitches, cables);
	return DL_ROUTE_NO_TORUS;
}

/* Name the ends of each region of a cut ring. */
static void report_cut(const struct dl_torus *t, uint32_t ring, unsigned int dim,
		       unsigned int regions, const struct dl_log *log)
{
	const struct dl_torus_grid *g = &t->grid;
	uint32_t i, c[DL_TORUS_DIMS], next;

	dl_torus_site_coord(g, dl_route_ring_site(g, ring, dim, 0), c);
	dl_log(log, DL_LOG_ERROR, "the %s along %c through (%u,%u,%u) is cut into %u regions:",
	       g->mesh[dim] ? "line" : "ring", 'x' + dim, c[0], c[1], c[2], regions);
	for (i = 0; i < g->radix[dim]; i++) {
		uint32_t site = dl_route_ring_site(g, ring, dim, i);

		dl_torus_site_coord(g, site, c);
		if (t->site_sw[site] == DL_NONE) {
			dl_log(log, DL_LOG_ERROR, "  no switch at (%u,%u,%u)", c[0], c[1], c[2]);
			continue;
		}
		next = dl_torus_site_next(g, site, dl_torus_dir(dim, false));
		if (next != DL_NONE && t->site_sw[next] != DL_NONE &&
		    !dl_route_link_alive(t, site, dl_torus_dir(dim, false)))
			dl_log(log, DL_LOG_ERROR, "  no cable from (%u,%u,%u) towards +%c", c[0],
			       c[1], c[2], 'x' + dim);
	}
}

static enum dl_route_refusal check_rings(const struct dl_torus *t, const struct dl_log *log)
{
	uint32_t ring;
	unsigned int d;
	enum dl_route_refusal refusal = DL_ROUTE_ACCEPTED;

	for (d = 0; d < DL_TORUS_DIMS; d++) {
		if (t->grid.radix[d] < 2)
			continue;
		for (ring = 0; ring < t->nsites / t->grid.radix[d]; ring++) {
			unsigned int regions = dl_route_ring_regions(t, ring, d);

			if (regions < 2)
				continue;
			report_cut(t, ring, d, regions, log);
			refusal = DL_ROUTE_RING_CUT;
		}
	}
	return refusal;
}

/*
 * Missing switches are safe when they stand side by side on one ring of the
 * last dimension; that such a ring is in one piece is check_rings()'s part.
 */
static enum dl_route_refusal check_missing(const struct dl_torus *t, const struct dl_log *log)
{
	unsigned int last = dl_torus_last_dim(&t->grid);
	uint32_t site, ring = DL_NONE, c[DL_TORUS_DIMS], listed = 0;
	bool scattered = false;

	for (site = 0; site < t->nsites; site++) {
		if (t->site_sw[site] != DL_NONE)
			continue;
		if (ring == DL_NONE)
			ring = dl_route_ring(&t->grid, site, last);
		scattered |= ring != dl_route_ring(&t->grid, site, last);
	}
	if (!scattered)
		return DL_ROUTE_ACCEPTED;
	dl_log(log, DL_LOG_ERROR, "%u switches are missing, and not all side by side along %c:",
	       t->nsites - t->nplaced, 'x' + last);
	for (site = 0; site < t->nsites && listed < MAX_LISTED; site++) {
		if (t->site_sw[site] != DL_NONE)
			continue;
		dl_torus_site_coord(&t->grid, site, c);
		dl_log(log, DL_LOG_ERROR, "  no switch at (%u,%u,%u)", c[0], c[1], c[2]);
		listed++;
	}
	return DL_ROUTE_SWITCHES_MISSING;
}

enum dl_route_refusal dl_route_classic_refusal(const struct dl_torus *t, const struct dl_log *log)
{
	enum dl_route_refusal refusal = check_placed(t, log);

	if (!refusal)
		refusal = check_rings(t, log);
	if (!refusal)
		refusal = check_missing(t, log);
	return refusal;
}
