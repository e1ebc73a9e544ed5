/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A topology.yaml for Slurm's topology/torus3d (Slurm 26.05).
 *
 * Slurm's torus has one node in each cell.  So the hosts of a switch stand side
 * by side in x: `k` cells a switch, the most hosts that any has.  Nodes are
 * listed with x fastest; where cells stay empty, as regions, one for each row
 * of cells without a gap.
 *
 * A job gets a box of exactly its size, from a list of placements: jobs of
 * other sizes never start.  The list has a box for each size that boxes have
 * whose sides divide the torus, since these fill it without a gap, and do not
 * wrap; and one for each size that was asked for.  Of the boxes of one size
 * that is taken whose hosts have the fewest hops between them.  In x a box takes
 * whole switches, or of each the same part, which divides their hosts.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coords.h"

#define DIMS DL_TORUS_DIMS

struct box {
	uint32_t side[DIMS]; /* in cells; 0: there is none */
	double hops;	     /* mean, between two of its cells, and a little */
	bool wanted;	     /* was its size asked for? */
};

struct cells {
	const struct coords_order *order;
	uint32_t k;	     /* of a switch */
	uint32_t side[DIMS]; /* of the torus */
	uint32_t n;
	uint32_t *host; /* by cell, or DL_NONE */
};

static int fill_cells(const struct coords_order *p, struct cells *c)
{
	*c = (struct cells){ .order = p, .k = 1 };
	for (uint32_t i = 0; i < p->nhosts_placed; i++)
		if (p->hosts[i].beside >= c->k)
			c->k = p->hosts[i].beside + 1;
	for (unsigned int d = 0; d < DIMS; d++)
		c->side[d] = p->grid.radix[d] * (d ? 1 : c->k);
	c->n = c->side[0] * c->side[1] * c->side[2];
	c->host = malloc((c->n + (size_t)1) * sizeof(*c->host));
	if (!c->host)
		return -ENOMEM;
	memset(c->host, 0xFF, c->n * sizeof(*c->host)); /* DL_NONE */
	for (uint32_t i = 0; i < p->nhosts_placed; i++) {
		uint32_t at[DIMS];

		dl_torus_site_coord(&p->grid, p->list[p->hosts[i].adapter].site, at);
		at[0] = at[0] * c->k + p->hosts[i].beside;
		c->host[at[0] + c->side[0] * (at[1] + c->side[1] * at[2])] = i;
	}
	return 0;
}

static void write_dims(const char *key, const uint32_t v[DIMS], const char *indent, FILE *to)
{
	fprintf(to, "%s%s: {x: %u, y: %u, z: %u}\n", indent, key, v[0], v[1], v[2]);
}

/* The names of the hosts in cells from `from` on. */
static void write_row(const struct cells *c, uint32_t from, uint32_t end, const char *prefix,
		      FILE *to)
{
	for (uint32_t i = from; i < end; i++) {
		fputs(i == from ? "" : ",", to);
		coords_slurm_name(c->order, c->host[i], prefix, to);
	}
	putc('\n', to);
}

static void write_regions(const struct cells *c, const char *prefix, FILE *to)
{
	fputs("        regions:\n", to);
	for (uint32_t i = 0, n; i < c->n; i += n ? n : 1) {
		uint32_t x = i % c->side[0], row = i / c->side[0];
		uint32_t at[DIMS] = { x, row % c->side[1], row / c->side[1] };

		for (n = 0; x + n < c->side[0] && c->host[i + n] != DL_NONE;)
			n++;
		if (!n)
			continue;
		write_dims("anchor", at, "          - ", to);
		write_dims("dims", (uint32_t[DIMS]){ n, 1, 1 }, "            ", to);
		fputs("            nodes: ", to);
		write_row(c, i, i + n, prefix, to);
	}
}

/* ---- placements ---------------------------------------------------------- */

/* Mean hops between two places of `n` in a row of a ring (or line) of `radix`. */
static double mean_hops(uint32_t n, uint32_t radix, bool mesh)
{
	uint64_t sum = 0;

	for (uint32_t away = 1; away < n; away++)
		sum += 2ull * (n - away) * (mesh || 2 * away < radix ? away : radix - away);
	return (double)sum / n / n;
}

/*
 * May boxes have this side?  *fills: and do they fill the torus without a gap?
 * Others wrap, which a mesh does not.
 */
static bool may_have(const struct cells *c, unsigned int d, uint32_t side, bool *fills)
{
	uint32_t k = d ? 1 : c->k;

	if (side % k && k % side)
		return false;
	*fills = side < k || !(c->order->grid.radix[d] % (side / k));
	return *fills || !c->order->grid.mesh[d];
}

static void torus3d_consider(const struct cells *c, const uint32_t side[DIMS], struct box *boxes)
{
	const struct dl_torus_grid *g = &c->order->grid;
	struct box *b = &boxes[side[0] * side[1] * side[2]];
	uint32_t longest = 0;
	double hops = 0;
	bool fills, all = true;

	for (unsigned int d = 0; d < DIMS; d++) {
		uint32_t k = d ? 1 : c->k;

		if (!may_have(c, d, side[d], &fills))
			return;
		all &= fills;
		hops += mean_hops(side[d] < k ? 1 : side[d] / k, g->radix[d], g->mesh[d]);
		longest = side[d] > longest ? side[d] : longest;
	}
	hops += longest * 1e-6; /* of equals, the one most like a cube */
	if ((all || b->wanted) && (!b->side[0] || hops < b->hops - 1e-9)) {
		memcpy(b->side, side, sizeof(b->side));
		b->hops = hops;
	}
}

static int write_placements(const struct cells *c, const struct coords_sizes *sizes,
			    const struct dl_log *log, FILE *to)
{
	struct box *boxes = calloc(c->n + (size_t)1, sizeof(*boxes)); /* by number of hosts */
	uint32_t s[DIMS];
	int err = boxes ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < sizes->n; i++)
		if (sizes->size[i] <= c->n)
			boxes[sizes->size[i]].wanted = true;
	for (s[2] = 1; !err && s[2] <= c->side[2]; s[2]++)
		for (s[1] = 1; s[1] <= c->side[1]; s[1]++)
			for (s[0] = 1; s[0] <= c->side[0]; s[0]++)
				torus3d_consider(c, s, boxes);
	for (uint32_t i = 0; !err && i < sizes->n; i++)
		if (sizes->size[i] > c->n || !boxes[sizes->size[i]].side[0])
			err = dl_fail(log, -EINVAL,
				      "--slurm-sizes: there is no box of %u hosts in this torus",
				      sizes->size[i]);
	if (!err)
		fputs("        placements:\n", to);
	for (uint32_t v = 1; !err && v <= c->n; v++)
		if (boxes[v].side[0])
			write_dims("dims", boxes[v].side, "          - ", to);
	free(boxes);
	return err;
}

/* ---- the whole ----------------------------------------------------------- */

int coords_slurm_torus3d(const struct coords_order *p, const char *prefix,
			 const struct coords_sizes *sizes, const struct dl_log *log, FILE *to)
{
	struct cells c;
	int err = fill_cells(p, &c);

	if (err)
		return err;
	fputs("# For Slurm's topology/torus3d: a cell for each host.  A job of a size that no\n"
	      "# placement has does not start.\n"
	      "- topology: torus\n"
	      "  cluster_default: true\n"
	      "  torus3d:\n"
	      "    toruses:\n"
	      "      - name: torus\n",
	      to);
	write_dims("dims", c.side, "        ", to);
	if (c.n == p->nhosts_placed) {
		fputs("        nodes: ", to);
		write_row(&c, 0, c.n, prefix, to);
	} else {
		write_regions(&c, prefix, to);
	}
	err = write_placements(&c, sizes, log, to);
	free(c.host);
	return err;
}
