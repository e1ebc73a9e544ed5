/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Ranks of MPI on the torus.
 *
 * Problem.  Ranks stand in a grid of processes (as MPI_Cart_create() numbers
 * them: the last coordinate fastest) and talk to their neighbours in it.  Hosts
 * stand in the torus, so many slots on each.  Map one onto the other so that
 * neighbours are few hops apart.
 *
 * Method.  Three mappings are measured, by the mean hops between neighbours in
 * the grid, and the best one is taken:
 *
 * - ranks in turn along the curve of the hosts;
 * - the grid of processes walked along a curve of its own, the hosts along
 *   theirs: compact parts of the one come to compact parts of the other,
 *   whatever the sizes;
 * - where the torus is whole, has as many hosts at each site, and its sides
 *   divide the grid's, in whatever order: a block of processes for each site,
 *   neighbours next to each other.
 *
 * Complexity: O(ranks), for each way round of the sides.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coords.h"
#include "dateline/torus.h"

#define NORDERS 6

static const uint8_t orders[NORDERS][DL_TORUS_DIMS] = {
	{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
};

struct mapping {
	const struct coords_order *order;
	struct dl_torus_grid grid; /* of processes; a rank is not its site */
	uint32_t n, slots;
};

/* The rank of a process: the last coordinate fastest. */
static uint32_t rank_of(const struct dl_torus_grid *g, const uint32_t c[DL_TORUS_DIMS])
{
	return (c[0] * g->radix[1] + c[1]) * g->radix[2] + c[2];
}

static uint32_t site_of(const struct mapping *m, const uint32_t *slot, uint32_t rank)
{
	const struct coords_order *p = m->order;

	return p->list[p->hosts[slot[rank] / m->slots].adapter].site;
}

/* Mean hops between neighbours; the grid's ends are not joined. */
static double measure(const struct mapping *m, const uint32_t *slot)
{
	uint64_t hops = 0, pairs = 0;
	uint32_t c[DL_TORUS_DIMS];

	for (uint32_t i = 0; i < m->n; i++) {
		dl_torus_site_coord(&m->grid, i, c);
		for (unsigned int d = 0; d < DL_TORUS_DIMS; d++) {
			uint32_t rank = rank_of(&m->grid, c), next;

			if (c[d] + 1 == m->grid.radix[d])
				continue;
			c[d]++;
			next = rank_of(&m->grid, c);
			c[d]--;
			hops += dl_torus_site_distance(&m->order->grid, site_of(m, slot, rank),
						       site_of(m, slot, next));
			pairs++;
		}
	}
	return pairs ? (double)hops / pairs : 0;
}

static void map_in_turn(const struct mapping *m, uint32_t *slot)
{
	for (uint32_t i = 0; i < m->n; i++)
		slot[i] = i;
}

static int map_by_curves(const struct mapping *m, uint32_t *slot)
{
	uint32_t *order = malloc(m->n * sizeof(*order)), i, c[DL_TORUS_DIMS];
	int err = order ? dl_torus_curve(&m->grid, order) : -ENOMEM;

	for (i = 0; !err && i < m->n; i++) {
		dl_torus_site_coord(&m->grid, order[i], c);
		slot[rank_of(&m->grid, c)] = i;
	}
	free(order);
	return err;
}

/* Hosts at each site, if that is the same number everywhere; else 0. */
static uint32_t hosts_a_site(const struct coords_order *p)
{
	uint32_t sites = dl_torus_grid_sites(&p->grid), n = p->nhosts_placed / sites;

	if (!n || p->nhosts_placed % sites)
		return 0;
	for (uint32_t i = 0; i < p->nhosts_placed; i++)
		if (p->hosts[i].beside != i % n || p->list[p->hosts[i].adapter].along != i / n)
			return 0;
	return n;
}

/* A block of processes a site; false: the sides do not divide the grid's. */
static bool map_by_blocks(const struct mapping *m, const uint8_t *order, uint32_t hosts,
			  const uint32_t *first_host, uint32_t *slot)
{
	const struct dl_torus_grid *torus = &m->order->grid;
	uint32_t block[DL_TORUS_DIMS], c[DL_TORUS_DIMS], at[DL_TORUS_DIMS], within;
	unsigned int d;

	for (d = 0; d < DL_TORUS_DIMS; d++) {
		block[d] = m->grid.radix[d] / torus->radix[order[d]];
		if (m->grid.radix[d] % torus->radix[order[d]])
			return false;
	}
	if (block[0] * block[1] * block[2] > hosts * m->slots)
		return false;
	for (uint32_t i = 0; i < m->n; i++) {
		dl_torus_site_coord(&m->grid, i, c);
		for (within = 0, d = 0; d < DL_TORUS_DIMS; d++) {
			at[order[d]] = c[d] / block[d];
			within = within * block[d] + c[d] % block[d];
		}
		slot[rank_of(&m->grid, c)] =
			first_host[dl_torus_site(torus, at)] * m->slots + within;
	}
	return true;
}

/* The first host at each site. */
static uint32_t *first_hosts(const struct coords_order *p)
{
	uint32_t *first = malloc(dl_torus_grid_sites(&p->grid) * sizeof(*first)), i;

	for (i = p->nhosts_placed; first && i-- > 0;)
		first[p->list[p->hosts[i].adapter].site] = i;
	return first;
}

/* Take a mapping if it is the best so far. */
static void take(const struct mapping *m, const char *how, uint32_t *slot,
		 struct coords_ranks *best)
{
	double hops = measure(m, slot);

	if (best->how && hops >= best->hops)
		return;
	memcpy(best->slot, slot, m->n * sizeof(*slot));
	best->hops = hops;
	best->how = how;
}

static int try_all(const struct mapping *m, uint32_t *slot, struct coords_ranks *best)
{
	uint32_t hosts = hosts_a_site(m->order), *first;
	int err;

	map_in_turn(m, slot);
	take(m, "in turn along the curve", slot, best);
	best->plain_hops = best->hops;
	err = map_by_curves(m, slot);
	if (err)
		return err;
	take(m, "curve to curve", slot, best);
	if (!hosts)
		return 0;
	first = first_hosts(m->order);
	if (!first)
		return -ENOMEM;
	for (unsigned int i = 0; i < NORDERS; i++)
		if (map_by_blocks(m, orders[i], hosts, first, slot))
			take(m, "a block at each switch", slot, best);
	free(first);
	return 0;
}

int coords_ranks_map(const struct coords_order *p, const uint32_t grid[DL_TORUS_DIMS],
		     uint32_t slots, struct coords_ranks *out)
{
	uint64_t total = (uint64_t)p->nhosts_placed * slots;
	uint64_t n = (uint64_t)grid[0] * grid[1] * grid[2];
	struct mapping m = { .order = p, .slots = slots };
	struct coords_ranks best = { .slots = slots };
	uint32_t *slot;
	int err;

	if (n > total)
		return -ENOSPC;
	m.n = n ? n : total;
	m.grid = (struct dl_torus_grid){ .radix = { m.n, 1, 1 } };
	if (n)
		memcpy(m.grid.radix, grid, sizeof(m.grid.radix));
	best.n = m.n;
	best.slot = malloc((m.n + 1) * sizeof(*best.slot));
	slot = malloc((m.n + 1) * sizeof(*slot));
	err = best.slot && slot ? 0 : -ENOMEM;
	if (!err && n) {
		err = try_all(&m, slot, &best);
	} else if (!err) {
		map_in_turn(&m, slot);
		take(&m, "in turn along the curve", slot, &best);
		best.plain_hops = best.hops;
	}
	free(slot);
	if (err)
		free(best.slot);
	else
		*out = best;
	return err;
}

/* ---- files ------------------------------------------------------------- */

int coords_ranks_write(const struct coords_order *p, const struct coords_ranks *r, FILE *to)
{
	for (uint32_t i = 0; i < r->n; i++)
		fprintf(to, "rank %u=%s slot=%u\n", i, p->hosts[r->slot[i] / r->slots].name,
			r->slot[i] % r->slots);
	return fflush(to) || ferror(to) ? -EIO : 0;
}

int coords_hostfile_write(const struct coords_order *p, uint32_t slots, FILE *to)
{
	for (uint32_t i = 0; i < p->nhosts_placed; i++)
		fprintf(to, "%s slots=%u\n", p->hosts[i].name, slots);
	return fflush(to) || ferror(to) ? -EIO : 0;
}
