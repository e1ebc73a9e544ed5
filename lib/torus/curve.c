/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A space-filling curve through a box of any size.
 *
 * Problem.  Schedulers think of nodes as a line, and give a job a piece of it;
 * the piece should be a compact part of the torus.  Hilbert's curve is such a
 * line, but exists only for powers of two.  Wanted is one for every box, along
 * which each site is next to the one before.
 *
 * Method.  Halve the box: two sites, or three where the number is odd, become
 * one in every dimension, as often as possible, until one site is left.  The
 * walk through that is known.  Then go back: each site of the coarse walk is a
 * brick of the finer box, at most 3x3x3 sites, which the finer walk visits as
 * a whole before it goes on to the next brick, a neighbour.  What is open is
 * where each brick is entered and left: between the two must lie a walk
 * through all of the brick, and from the site of leaving a step to the site
 * where the next one is entered.
 *
 * All of a level are chosen together, by dynamic programming along the coarse
 * walk: for each site at which a brick can be left, the least cost so far.  A
 * step that is none, between sites that are not neighbours, costs more than
 * all else.  Where one remains (by parity: a brick of an odd number of sites
 * can only be entered and left at every other one), the level is tried again
 * with its bricks of three elsewhere, then the level before it.  The tests walk
 * all small boxes, and some large ones: in all there is a walk without.
 *
 * Invariant.  A brick is visited in one go, at every level: 2^(d k) sites side
 * by side on the walk, aligned, fill one box of 2^k sites a side, up to what is
 * odd.  The curve is not Hilbert's own, even where that exists, but of its
 * kind.
 *
 * Complexity: O(sites), with a factor of the brick's sites squared; the walks
 * through bricks are searched for once for each shape and pair of ends.
 */
#include <errno.h>
#include <string.h>

#include "torus/internal.h"

#define MAX_SIDE 3
#define MAX_CELLS (MAX_SIDE * MAX_SIDE * MAX_SIDE)
#define MAX_LEVELS 33	    /* halvings of a side of 32 bits, and one */
#define JUMP (1 << 20)	    /* cost of one hop too many */
#define ELSEWHERE (1 << 18) /* cost of not beginning at site 0 */
#define NO_WALK UINT32_MAX
#define VARIANTS 16    /* bricks of three first (3 bits); near or far */
#define MAX_TRIES 4096 /* refinements, before a jump is put up with */

/* A brick: where it begins in the finer box, and its sides. */
struct brick {
	uint32_t origin[DIMS];
	uint32_t side[DIMS];
	uint32_t ncells;
};

/* Is there a walk through a brick of that shape from a cell to another? */
enum { UNKNOWN, NO, YES };

struct walks {
	uint8_t known[MAX_CELLS][MAX_CELLS][MAX_CELLS]; /* shape, from, to */
};

/* The walk so far through one brick. */
struct search {
	const struct brick *brick;
	uint32_t to;
	uint32_t visited; /* bit mask of cells */
	uint8_t *path;
};

/* How one brick can be left: by each of its cells. */
struct choice {
	uint8_t entry[MAX_CELLS];  /* by cell of leaving */
	uint8_t before[MAX_CELLS]; /* by entry: where the last was left */
};

static void cell_coord(const struct brick *b, uint32_t cell, uint32_t c[DIMS])
{
	for (unsigned int d = 0; d < DIMS; d++) {
		c[d] = cell % b->side[d];
		cell /= b->side[d];
	}
}

static unsigned int curve_cell_colour(const struct brick *b, uint32_t cell)
{
	uint32_t c[DIMS];

	cell_coord(b, cell, c);
	return (c[0] + c[1] + c[2]) % 2;
}

/* ---- through one brick ------------------------------------------------- */

/* Extend the walk, whose `n` cells end in `at`, to all cells of the brick. */
static bool walk_on(struct search *s, uint32_t at, uint32_t n)
{
	const struct brick *b = s->brick;
	uint32_t c[DIMS], stride = 1;

	s->path[n - 1] = at;
	if (n == b->ncells)
		return at == s->to;
	if (at == s->to)
		return false;
	cell_coord(b, at, c);
	for (unsigned int d = 0; d < DIMS; stride *= b->side[d], d++) {
		for (unsigned int up = 0; up < 2; up++) {
			uint32_t next = up ? at + stride : at - stride;

			if (c[d] == (up ? b->side[d] - 1 : 0) || s->visited >> next & 1)
				continue;
			s->visited |= 1u << next;
			if (walk_on(s, next, n + 1))
				return true;
			s->visited &= ~(1u << next);
		}
	}
	return false;
}

/*
 * Each step changes the colour, as on a chess board: that says at once of most
 * pairs of ends that there is no walk between them.
 */
static bool find_walk(const struct brick *b, uint32_t from, uint32_t to, uint8_t *path)
{
	struct search s = { b, to, 1u << from, path };

	if ((curve_cell_colour(b, from) == curve_cell_colour(b, to)) != b->ncells % 2 ||
	    (b->ncells % 2 && curve_cell_colour(b, from)) || (from == to && b->ncells > 1))
		return false;
	return walk_on(&s, from, 1);
}

static bool has_walk(struct walks *w, const struct brick *b, uint32_t from, uint32_t to)
{
	uint32_t shape = b->side[0] - 1 + MAX_SIDE * (b->side[1] - 1) +
			 MAX_SIDE * MAX_SIDE * (b->side[2] - 1);
	uint8_t *known = &w->known[shape][from][to], path[MAX_CELLS];

	if (*known == UNKNOWN)
		*known = find_walk(b, from, to, path) ? YES : NO;
	return *known == YES;
}

/* ---- from one level to the next ---------------------------------------- */

/* A coarse box, the finer one, and how to refine. */
struct level {
	const uint32_t *coarse, *size;
	unsigned int variant;
};

static void find_brick(const struct level *l, uint32_t site, struct brick *b)
{
	b->ncells = 1;
	for (unsigned int d = 0; d < DIMS; d++) {
		uint32_t n = l->coarse[d], c = site % n;
		uint32_t odd = l->size[d] > 1 ? l->size[d] % 2 : 0;
		bool first = l->variant >> d & 1;

		/* The first or the last takes what is odd. */
		site /= n;
		b->side[d] = l->size[d] > 1 ? 2 : 1;
		b->origin[d] = c * b->side[d] + (odd && first && c);
		b->side[d] += odd && c == (first ? 0 : n - 1);
		b->ncells *= b->side[d];
	}
}

/* Hops from a cell of one brick to a cell of the same or the next. */
static uint32_t curve_hops_apart(const struct brick *a, uint32_t from, const struct brick *b,
				 uint32_t to)
{
	uint32_t x[DIMS], y[DIMS], hops = 0;

	cell_coord(a, from, x);
	cell_coord(b, to, y);
	for (unsigned int d = 0; d < DIMS; d++) {
		x[d] += a->origin[d];
		y[d] += b->origin[d];
		hops += x[d] > y[d] ? x[d] - y[d] : y[d] - x[d];
	}
	return hops;
}

/* The least cost of entering a brick at each of its cells. */
static void curve_enter_brick(const struct brick *last, const uint32_t *left, const struct brick *b,
			      uint32_t *entered, struct choice *ch)
{
	for (uint32_t cell = 0; cell < b->ncells; cell++) {
		entered[cell] = NO_WALK;
		if (!last) {
			entered[cell] = cell ? ELSEWHERE : 0;
			continue;
		}
		for (uint32_t e = 0; e < last->ncells; e++) {
			uint32_t cost = left[e];

			if (cost == NO_WALK)
				continue;
			cost += JUMP * (curve_hops_apart(last, e, b, cell) - 1);
			if (cost >= entered[cell])
				continue;
			entered[cell] = cost;
			ch->before[cell] = e;
		}
	}
}

/*
 * ... and of leaving it.  Walks that end far from where they begin are the
 * better ones: measured on tori of all shapes, stretches are more compact.
 */
static void curve_leave_brick(struct walks *w, const struct brick *b, bool near,
			      const uint32_t *entered, uint32_t *left, struct choice *ch)
{
	uint32_t most = b->side[0] + b->side[1] + b->side[2];
	uint32_t cost, hops;

	for (uint32_t cell = 0; cell < b->ncells; cell++) {
		left[cell] = NO_WALK;
		for (uint32_t e = 0; e < b->ncells; e++) {
			if (entered[e] == NO_WALK)
				continue;
			hops = curve_hops_apart(b, e, b, cell);
			cost = entered[e] + (near ? hops : most - hops);
			if (cost >= left[cell] || !has_walk(w, b, e, cell))
				continue;
			left[cell] = cost;
			ch->entry[cell] = e;
		}
	}
}

/* Write down the walk through a brick that ends at a place of `order`. */
static void write_walk(const struct brick *b, const uint32_t size[DIMS], uint32_t from, uint32_t to,
		       uint32_t *order)
{
	uint8_t path[MAX_CELLS];
	uint32_t c[DIMS];

	find_walk(b, from, to, path);
	for (uint32_t i = 0; i < b->ncells; i++) {
		cell_coord(b, path[i], c);
		order[i] = b->origin[0] + c[0] +
			   size[0] * (b->origin[1] + c[1] + size[1] * (b->origin[2] + c[2]));
	}
}

/*
 * Refine the walk of a coarse box to one of a finer box.  Returns whether all
 * its steps are between neighbours.
 */
static bool curve_refine(struct walks *w, struct choice *choices, const struct level *l,
			 const uint32_t *walk, uint32_t *order)
{
	uint32_t n = l->coarse[0] * l->coarse[1] * l->coarse[2];
	uint32_t end = l->size[0] * l->size[1] * l->size[2];
	uint32_t left[MAX_CELLS] = { 0 }, entered[MAX_CELLS], i, cell, cost;
	uint32_t best = 0;
	struct brick b, last = { .ncells = 0 };

	for (i = 0; i < n; i++, last = b) {
		find_brick(l, walk[i], &b);
		curve_enter_brick(i ? &last : NULL, left, &b, entered, &choices[i]);
		curve_leave_brick(w, &b, l->variant & 8, entered, left, &choices[i]);
	}
	for (cell = 1; cell < last.ncells; cell++)
		if (left[cell] < left[best])
			best = cell;
	cost = left[best];
	for (i = n; i-- > 0;) {
		uint32_t entry = choices[i].entry[best];

		find_brick(l, walk[i], &b);
		end -= b.ncells;
		write_walk(&b, l->size, entry, best, order + end);
		best = choices[i].before[entry];
	}
	return cost < JUMP;
}

/* ---- the whole --------------------------------------------------------- */

/* The sizes of all levels, the box first; returns how many halvings. */
static unsigned int curve_halve(const struct dl_torus_grid *g, uint32_t size[MAX_LEVELS][DIMS])
{
	unsigned int level = 0;

	memcpy(size[0], g->radix, sizeof(size[0]));
	while (size[level][0] * size[level][1] * size[level][2] > 1) {
		for (unsigned int d = 0; d < DIMS; d++)
			size[level + 1][d] = size[level][d] > 1 ? size[level][d] / 2 : 1;
		level++;
	}
	return level;
}

struct curve {
	struct walks walks;
	uint32_t size[MAX_LEVELS][DIMS];
	uint32_t *walk[MAX_LEVELS]; /* by level; the box itself is 0 */
	struct choice *choices;
	unsigned int tries;
};

/*
 * Refine down to the box, from the walk of the level above `level`.  In the
 * end a jump is put up with: then the first variant is as good as any.
 */
static bool refine_on(struct curve *c, unsigned int level)
{
	for (unsigned int v = 0; v < VARIANTS; v++) {
		const struct level l = { c->size[level + 1], c->size[level], v };
		bool walked =
			curve_refine(&c->walks, c->choices, &l, c->walk[level + 1], c->walk[level]);

		if ((walked || ++c->tries > MAX_TRIES) && (!level || refine_on(c, level - 1)))
			return true;
	}
	return false;
}

int dl_torus_curve(const struct dl_torus_grid *g, uint32_t *order)
{
	struct dl_arena arena = { 0 };
	struct curve *c = dl_arena_zalloc(&arena, sizeof(*c));
	unsigned int levels = c ? curve_halve(g, c->size) : 0;
	int err = -ENOMEM;

	if (!c)
		goto out;
	c->choices = dl_arena_array(&arena, dl_torus_grid_sites(g), sizeof(*c->choices));
	if (!c->choices)
		goto out;
	c->walk[0] = order;
	for (unsigned int i = 1; i <= levels; i++) {
		const uint32_t *s = c->size[i];

		c->walk[i] = dl_arena_array(&arena, (size_t)s[0] * s[1] * s[2], sizeof(*order));
		if (!c->walk[i])
			goto out;
	}
	c->walk[levels][0] = 0;
	while (levels && !refine_on(c, levels - 1))
		c->tries = MAX_TRIES;
	err = 0;
out:
	dl_arena_free(&arena);
	return err;
}
