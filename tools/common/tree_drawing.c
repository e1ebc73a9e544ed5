/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The multicast tree as a drawing in the torus-2QoS document's manner: the
 * first two dimensions as a plane, a plane for each coordinate of the third.
 */

#include "dateline/route.h"
#include "tool.h"

struct drawing {
	const struct dl_torus *torus;
	const struct dl_route_tree *tree;
	unsigned int across, up, planes; /* the dimensions drawn so */
	FILE *to;
};

/* The switch at (x, y) of a plane, or DL_NONE. */
static uint32_t switch_at(const struct drawing *d, uint32_t x, uint32_t y, uint32_t plane)
{
	uint32_t c[DL_TORUS_DIMS];

	c[d->across] = x;
	c[d->up] = y;
	c[d->planes] = plane;
	return d->torus->site_sw[dl_torus_site(&d->torus->grid, c)];
}

/* The next switch in this direction, or DL_NONE. */
static uint32_t drawing_next(const struct drawing *d, uint32_t sw, unsigned int dir)
{
	const struct dl_torus *t = d->torus;
	uint32_t site = dl_torus_site_next(&t->grid, t->sw_site[sw], dir);

	return site == DL_NONE ? DL_NONE : t->site_sw[site];
}

/* Is there a branch from this switch in this direction? */
static bool drawing_branch(const struct drawing *d, uint32_t sw, unsigned int dir)
{
	uint32_t next = sw == DL_NONE ? DL_NONE : drawing_next(d, sw, dir);

	return next != DL_NONE && (d->tree->parent[sw] == next || d->tree->parent[next] == sw);
}

static char drawing_symbol(const struct drawing *d, uint32_t sw)
{
	uint32_t parent;

	if (sw == DL_NONE)
		return ' ';
	if (sw == d->tree->root)
		return 'x';
	parent = d->tree->parent[sw];
	if (parent == DL_NONE)
		return '?';
	if (parent == drawing_next(d, sw, dl_torus_dir(d->planes, false)))
		return '>';
	return parent == drawing_next(d, sw, dl_torus_dir(d->planes, true)) ? '<' : '+';
}

/* Branches along the second dimension: below row y, or above the last. */
static void draw_uprights(const struct drawing *d, uint32_t y, uint32_t plane, unsigned int dir)
{
	uint32_t x;

	fputs("       ", d->to);
	for (x = 0; x < d->torus->grid.radix[d->across]; x++)
		fprintf(d->to, "%s%c", x ? "    " : "",
			drawing_branch(d, switch_at(d, x, y, plane), dir) ? '|' : ' ');
	fputc('\n', d->to);
}

static void draw_row(const struct drawing *d, uint32_t y, uint32_t plane)
{
	uint32_t x, width = d->torus->grid.radix[d->across], sw;

	sw = switch_at(d, 0, y, plane);
	fprintf(d->to, "%3u  %s", y,
		width > 2 && drawing_branch(d, sw, dl_torus_dir(d->across, true)) ? "--" : "  ");
	for (x = 0; x < width; x++) {
		bool on;

		sw = switch_at(d, x, y, plane);
		on = drawing_branch(d, sw, dl_torus_dir(d->across, false));
		fputc(drawing_symbol(d, sw), d->to);
		if (x + 1 < width)
			fputs(on ? "----" : "    ", d->to);
		else if (on)
			fputs("--", d->to);
	}
	fputc('\n', d->to);
}

static void draw_plane(const struct drawing *d, uint32_t plane)
{
	const struct dl_torus_grid *g = &d->torus->grid;
	uint32_t y, x, height = g->radix[d->up];

	if (g->radix[d->planes] > 1)
		fprintf(d->to, "%c = %u\n", 'x' + d->planes, plane);
	draw_uprights(d, height - 1, plane, dl_torus_dir(d->up, false));
	for (y = height; y-- > 0;) {
		draw_row(d, y, plane);
		draw_uprights(d, y, plane, dl_torus_dir(d->up, true));
	}
	fprintf(d->to, "  %c/%c  ", 'x' + d->up, 'x' + d->across);
	for (x = 0; x < g->radix[d->across]; x++)
		fprintf(d->to, "%-5u", x);
	fputs("\n\n", d->to);
}

void tool_draw_tree(const struct dl_torus *t, const struct dl_route_tree *tree, FILE *to)
{
	/* A plane needs two dimensions that are there. */
	unsigned int planes = t->grid.radix[2] == 1 ? 2 :
			      t->grid.radix[0] == 1 ? 0 :
			      t->grid.radix[1] == 1 ? 1 :
						      2;
	struct drawing d = { t, tree, planes == 0, planes == 2 ? 1 : 2, planes, to };

	for (uint32_t plane = 0; plane < t->grid.radix[d.planes]; plane++)
		draw_plane(&d, plane);
	fprintf(to, "x: the root");
	if (t->grid.radix[d.planes] > 1)
		fprintf(to, "; <, >: joined to the plane before, the plane behind");
	fputc('\n', to);
}
