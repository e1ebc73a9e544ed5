/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Dimensions, radices and a seed from the cabling alone (rules A3).
 *
 * Problem.  Without a configuration nobody says which neighbours of a switch
 * are opposite each other, nor how long the rings are.
 *
 * Method.  Take a switch as origin.  Two of its neighbours at right angles
 * have exactly one more common neighbour; two opposite ones have none, except
 * on rings of four.  So opposite neighbours pair up by themselves, and what
 * is left pairs up as rings of four or stands alone at the end of an open
 * dimension: all ways to do so are tried, most pairs first.  For each, walk
 * out along every dimension, carrying the frame of directions along: across
 * the square that two directions span, each one's neighbour is the other's
 * too, and the one neighbour that is left over is straight ahead.  Where the
 * walk comes home the ring is closed and its length known; where nothing is
 * left over the dimension ends.
 *
 * An origin is taken when the grid so found holds every switch and cable.
 * Candidates go by GUID, so every run finds the same, whatever the ports and
 * wherever the subnet manager is.
 *
 * Odd switches.  Service switches may hang off the torus.  At the end of an
 * open dimension they look like more of it.  So unless the grid found so is
 * whole, all that hangs on one switch is peeled off (blocks.c), and a grid is
 * looked for in the rest; it is to hold all but what was peeled and
 * what joins no more than two others, or, if there is none, be whole with most
 * switches in it.  Of the two, the one is taken with fewer misfits, empty
 * sites and switches without a site.  If there is none yet, what joins no more
 * than two others is taken away as well.
 *
 * Limits.  The surroundings of at least one origin, out to the ends of its
 * rings, must be undamaged.  A 4-ring and a 2x2 square are the same graph; a
 * ring is what is found.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/base.h"
#include "torus/internal.h"

/* Full placements tried before giving up: more where they cost little. */
#define MAX_DISCOVERIES 16
#define MAX_PLACED (1 << 14)
#define MOST 4	 /* at most one switch in so many is odd */
#define BRIDGE 2 /* neighbours of what may be one */

struct infer {
	const struct dl_fabric *f;
	struct dl_torus_adjacency adj;
	const struct dl_torus_grid *wanted; /* radices to be met, or NULL */
	unsigned int discoveries;
	bool *peeled; /* by switch: taken for odd */
	uint32_t npeeled;
	uint32_t misfits;	   /* of the grid just found */
	struct dl_torus_grid grid; /* a whole one, and its seed ... */
	struct dl_torus_seed from;
	uint32_t without;		/* ... and misfits; DL_NONE: none */
	struct dl_torus_config *config; /* the one in the making */
	struct dl_torus_seed *seed;
};

/* A switch's neighbours by direction, DL_NONE where there is none. */
struct frame {
	uint32_t to[DL_TORUS_DIRS];
};

static uint32_t degree(const struct infer *n, uint32_t sw)
{
	return n->adj.first[sw + 1] - n->adj.first[sw];
}

static const uint32_t *neighbours(const struct infer *n, uint32_t sw)
{
	return &n->adj.list[n->adj.first[sw]];
}

static bool adjacent(const struct infer *n, uint32_t a, uint32_t b)
{
	uint32_t i;

	for (i = 0; i < degree(n, a); i++)
		if (neighbours(n, a)[i] == b)
			return true;
	return false;
}

/* The common neighbour of a and b besides `not`, if there is just one. */
static uint32_t across(const struct infer *n, uint32_t a, uint32_t b,
		       uint32_t not )
{
	uint32_t i, found = DL_NONE;

	for (i = 0; i < degree(n, a); i++) {
		uint32_t c = neighbours(n, a)[i];

		if (c == not || !adjacent(n, c, b))
			continue;
		if (found != DL_NONE)
			return DL_NONE;
		found = c;
	}
	return found;
}

static bool in_frame(const struct frame *f, uint32_t sw)
{
	unsigned int dir;

	for (dir = 0; dir < DL_TORUS_DIRS; dir++)
		if (f->to[dir] == sw)
			return true;
	return false;
}

/*
 * Carry the frame of `sw` one step along `dir`.  Returns the switch stepped
 * to, or DL_NONE when the surroundings do not determine its frame.
 */
static uint32_t step(const struct infer *n, uint32_t sw, struct frame *f,
		     unsigned int dir)
{
	uint32_t next = f->to[dir], i;
	struct frame g;
	unsigned int e;

	for (e = 0; e < DL_TORUS_DIRS; e++) {
		g.to[e] = DL_NONE;
		if (dl_torus_dir_dim(e) == dl_torus_dir_dim(dir) ||
		    f->to[e] == DL_NONE)
			continue;
		g.to[e] = across(n, next, f->to[e], sw);
		if (g.to[e] == DL_NONE || in_frame(f, g.to[e]))
			return DL_NONE;
	}
	g.to[dl_torus_opposite(dir)] = sw;
	for (i = 0; i < degree(n, next); i++) {
		uint32_t c = neighbours(n, next)[i];

		if (in_frame(&g, c))
			continue;
		if (g.to[dir] != DL_NONE)
			return DL_NONE; /* two are left over */
		g.to[dir] = c;
	}
	*f = g;
	return next;
}

/*
 * Walk from the origin along `dir`: the number of steps home (`closed`), or
 * to the end of an open dimension.  Returns false when it cannot tell.
 */
static bool walk(const struct infer *n, uint32_t origin, const struct frame *at,
		 unsigned int dir, uint32_t *steps, bool *closed)
{
	struct frame f = *at;
	uint32_t sw = origin;

	*steps = 0;
	*closed = false;
	while (f.to[dir] != DL_NONE) {
		sw = step(n, sw, &f, dir);
		++*steps;
		if (sw == DL_NONE || *steps > DL_TORUS_MAX_RADIX)
			return false;
		if (sw == origin) {
			*closed = true;
			return true;
		}
	}
	return true;
}

/* Radix, kind and dateline of one dimension of the frame. */
static bool measure(struct infer *n, uint32_t origin, const struct frame *f,
		    unsigned int dim)
{
	struct dl_torus_grid *g = &n->config->grid;
	uint32_t ahead, behind = 0;
	bool closed;

	if (!walk(n, origin, f, dl_torus_dir(dim, false), &ahead, &closed))
		return false;
	if (!closed &&
	    !walk(n, origin, f, dl_torus_dir(dim, true), &behind, &closed))
		return false;
	g->radix[dim] = closed ? ahead : ahead + behind + 1;
	g->mesh[dim] = !closed && g->radix[dim] > 2;
	n->seed->dateline[dim] = -(int32_t)behind;
	n->seed->has_dateline[dim] = true;
	return g->radix[dim] <= DL_TORUS_MAX_RADIX;
}

/* Give dimension d of the found grid and seed the place order[d]. */
static void reorder(struct infer *n, const unsigned int order[DL_TORUS_DIMS])
{
	struct dl_torus_config *c = n->config;
	struct dl_torus_grid grid = c->grid;
	struct dl_torus_seed seed = *n->seed;
	unsigned int d, side;

	for (d = 0; d < DL_TORUS_DIMS; d++) {
		unsigned int to = order[d];

		c->grid.radix[to] = grid.radix[d];
		c->grid.mesh[to] = grid.mesh[d];
		n->seed->dateline[to] = seed.dateline[d];
		for (side = 0; side < 2; side++)
			n->seed->to[dl_torus_dir(to, side)] =
				seed.to[dl_torus_dir(d, side)];
	}
}

/* Bring the dimensions into the order that was asked for, if they fit it. */
static bool as_wanted(struct infer *n)
{
	static const unsigned int orders[][DL_TORUS_DIMS] = {
		{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
		{ 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
	};
	const struct dl_torus_grid *g = &n->config->grid, *w = n->wanted;
	unsigned int i, d;

	for (i = 0; w && i < sizeof(orders) / sizeof(*orders); i++) {
		for (d = 0; d < DL_TORUS_DIMS; d++)
			if (g->radix[d] != w->radix[orders[i][d]] ||
			    (g->radix[d] > 2 &&
			     g->mesh[d] != w->mesh[orders[i][d]]))
				break;
		if (d < DL_TORUS_DIMS)
			continue;
		reorder(n, orders[i]);
		return true;
	}
	return !w;
}

/*
 * Are all switches without a place, and all odd cables, of a stub or of what
 * may be a bridge?
 */
static bool only_odd(const struct infer *n, const struct dl_torus *t)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t i;

	for (i = 0; i < t->nunplaced; i++)
		if (!n->peeled[t->unplaced[i]] &&
		    degree(n, t->unplaced[i]) > BRIDGE)
			return false;
	for (i = 0; i < t->noff_links; i++) {
		uint32_t port = t->off_links[i];
		uint32_t a = f->nodes[f->ports[port].node].sw;

		if (t->sw_site[a] != DL_NONE &&
		    t->sw_site[dl_fabric_peer_switch(f, port)] != DL_NONE)
			return false;
	}
	return true;
}

/* Is there a switch at every site, and a cable for every hop? */
static bool is_whole(const struct dl_torus *t)
{
	uint32_t site;
	unsigned int dir;

	if (t->nplaced < t->nsites)
		return false;
	for (site = 0; site < t->nsites; site++)
		for (dir = 0; dir < DL_TORUS_DIRS; dir++)
			if (dl_torus_site_next(&t->grid, site, dir) !=
				    DL_NONE &&
			    !dl_torus_group_size(t, t->site_sw[site], dir))
				return false;
	return true;
}

/* May a grid of so many sites be it? */
static bool large_enough(const struct infer *n, uint64_t sites)
{
	uint64_t nsw = n->f->nswitches;

	return n->npeeled ? sites * MOST >= nsw * (MOST - 1) : sites >= nsw;
}

/*
 * Does the grid that this frame spans hold every switch and cable that is not
 * odd?
 */
static bool frame_holds(struct infer *n, uint32_t origin, const struct frame *f)
{
	struct dl_torus *t = NULL;
	unsigned int d, dir;
	bool holds;

	n->seed->from = n->f->nodes[n->f->switches[origin]].guid;
	for (dir = 0; dir < DL_TORUS_DIRS; dir++)
		n->seed->to[dir] =
			f->to[dir] == DL_NONE ?
				0 :
				n->f->nodes[n->f->switches[f->to[dir]]].guid;
	for (d = 0; d < DL_TORUS_DIMS; d++)
		if (!measure(n, origin, f, d))
			return false;
	if (!large_enough(n, (uint64_t)n->config->grid.radix[0] *
				     n->config->grid.radix[1] *
				     n->config->grid.radix[2]) ||
	    dl_torus_grid_sites(&n->config->grid) > DL_TORUS_MAX_SITES ||
	    !as_wanted(n) ||
	    n->discoveries++ >= MAX_DISCOVERIES + MAX_PLACED / n->f->nswitches)
		return false;
	if (dl_torus_discover(n->f, n->config, NULL, &t))
		return false;
	n->misfits = t->nsites - t->nplaced + t->nunplaced;
	holds = n->npeeled ? only_odd(n, t) : !t->nunplaced && !t->noff_links;
	if (!holds && n->npeeled && n->misfits < n->without && is_whole(t)) {
		n->grid = n->config->grid;
		n->from = *n->seed;
		n->without = n->misfits;
	}
	dl_torus_free(t);
	return holds;
}

/* Are two neighbours opposite each other for sure (and no ring of four)? */
static bool straight(const struct infer *n, uint32_t origin, uint32_t a,
		     uint32_t b)
{
	return adjacent(n, a, b) || across(n, a, b, origin) == DL_NONE;
}

/*
 * Turn the origin's neighbours list[0..count) into directions from dimension
 * `dim` on: the first one is positive, and its opposite is one that may be,
 * or none.
 */
static bool pair_up(struct infer *n, uint32_t origin, const uint32_t *list,
		    unsigned int count, unsigned int dim, struct frame *f)
{
	uint32_t rest[DL_TORUS_DIRS];
	unsigned int i, k, left, only = 0;

	if (!count)
		return frame_holds(n, origin, f);
	if (dim == DL_TORUS_DIMS)
		return false;
	f->to[dl_torus_dir(dim, false)] = list[0];
	for (i = 1; i < count; i++)
		if (straight(n, origin, list[0], list[i]))
			only = i;
	for (i = 1; i <= count; i++) {
		uint32_t b = i == count ? DL_NONE : list[i];

		if (only && i != only)
			continue;
		f->to[dl_torus_dir(dim, true)] = b;
		for (k = 1, left = 0; k < count; k++)
			if (k != i)
				rest[left++] = list[k];
		if (pair_up(n, origin, rest, left, dim + 1, f))
			return true;
		for (k = dl_torus_dir(dim, true) + 1; k < DL_TORUS_DIRS; k++)
			f->to[k] = DL_NONE;
	}
	f->to[dl_torus_dir(dim, false)] = f->to[dl_torus_dir(dim, true)] =
		DL_NONE;
	return false;
}

static int compare_guids(const void *a, const void *b, void *fabric)
{
	const struct dl_fabric *f = fabric;
	uint64_t x = f->nodes[f->switches[*(const uint32_t *)a]].guid;
	uint64_t y = f->nodes[f->switches[*(const uint32_t *)b]].guid;

	return x < y ? -1 : x > y;
}

static bool try_origin(struct infer *n, uint32_t origin)
{
	uint32_t list[DL_TORUS_DIRS];
	struct frame f;

	if (degree(n, origin) > DL_TORUS_DIRS ||
	    (!degree(n, origin) && n->f->nswitches > 1))
		return false;
	memcpy(list, neighbours(n, origin), degree(n, origin) * sizeof(*list));
	qsort_r(list, degree(n, origin), sizeof(*list), compare_guids,
		(void *)n->f);
	memset(&f, 0xFF, sizeof(f));
	return pair_up(n, origin, list, degree(n, origin), 0, &f);
}

static bool try_origins(struct infer *n)
{
	const struct dl_fabric *f = n->f;
	uint32_t i;

	n->discoveries = 0;
	n->without = DL_NONE;
	for (i = 0; i < f->nnodes; i++)
		if (dl_fabric_is_switch(f, f->by_guid[i]) &&
		    !n->peeled[f->nodes[f->by_guid[i]].sw] &&
		    try_origin(n, f->nodes[f->by_guid[i]].sw))
			return true;
	if (n->without == DL_NONE)
		return false;
	n->config->grid = n->grid;
	*n->seed = n->from;
	n->misfits = n->without;
	return true;
}

/* Leave out of the graph what is peeled. */
static void forget_peeled(struct infer *n)
{
	uint32_t nsw = n->f->nswitches, s, i, left = 0, from = 0;

	for (s = 0; s < nsw; s++) {
		i = from;
		from = n->adj.first[s + 1];
		n->adj.first[s] = left;
		for (; i < from; i++)
			if (!n->peeled[s] && !n->peeled[n->adj.list[i]])
				n->adj.list[left++] = n->adj.list[i];
	}
	n->adj.first[nsw] = left;
}

/* Take away what hangs on one switch. */
static int peel_stubs(struct infer *n)
{
	const struct dl_fabric *f = n->f;
	uint32_t *order = malloc((f->nswitches + 1) * sizeof(*order)), i, k = 0;
	int err;

	if (!order)
		return -ENOMEM;
	for (i = 0; i < f->nnodes; i++)
		if (dl_fabric_is_switch(f, f->by_guid[i]))
			order[k++] = f->nodes[f->by_guid[i]].sw;
	err = dl_torus_find_outside(&n->adj, f->nswitches, order, n->peeled);
	free(order);
	for (i = 0; !err && i < f->nswitches; i++)
		n->npeeled += n->peeled[i];
	forget_peeled(n);
	return err;
}

/* Take away what may be a bridge.  Returns how many switches. */
static uint32_t peel_bridges(struct infer *n)
{
	uint32_t s, count = 0;

	for (s = 0; s < n->f->nswitches; s++) {
		if (n->peeled[s] || degree(n, s) > BRIDGE)
			continue;
		n->peeled[s] = true;
		count++;
	}
	n->npeeled += count;
	forget_peeled(n);
	return count;
}

/* With everything, then without what may be odd: see "Odd switches" above. */
static int find_grid(struct infer *n)
{
	struct dl_torus_grid grid;
	struct dl_torus_seed seed;
	uint32_t misfits;
	bool found = try_origins(n);
	int err;

	if (found && !n->misfits)
		return 0;
	grid = n->config->grid;
	seed = *n->seed;
	misfits = n->misfits;
	err = peel_stubs(n);
	if (err ||
	    (n->npeeled && try_origins(n) && (!found || n->misfits < misfits)))
		return err;
	if (found) {
		n->config->grid = grid;
		*n->seed = seed;
		return 0;
	}
	return peel_bridges(n) && try_origins(n) ? 0 : -ENOTSUP;
}

static int infer(struct infer *n)
{
	int err = dl_torus_adjacency_build(n->f, &n->adj);

	if (err)
		return err;
	n->peeled = calloc(n->f->nswitches + 1, sizeof(*n->peeled));
	err = n->peeled ? find_grid(n) : -ENOMEM;
	free(n->peeled);
	dl_torus_adjacency_free(&n->adj);
	return err;
}

int dl_torus_infer_as_wanted(const struct dl_fabric *f,
			     const struct dl_torus_grid *wanted,
			     const struct dl_log *log,
			     struct dl_torus_config **out)
{
	struct infer n = { .f = f, .wanted = wanted };
	struct dl_torus_config *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	n.config = c;
	c->max_changes = DL_TORUS_DEFAULT_MAX_CHANGES;
	c->portgroup_max_ports = DL_TORUS_DEFAULT_PORTGROUP;
	c->path = strdup("(found from the cabling)");
	c->seeds = n.seed = calloc(1, sizeof(*c->seeds));
	c->nseeds = 1;
	err = c->path && c->seeds ? infer(&n) : -ENOMEM;
	if (err == -ENOTSUP)
		dl_log(log, DL_LOG_ERROR,
		       "the cabling alone does not show a torus or mesh of at "
		       "most three dimensions; describe it in a "
		       "torus-2QoS.conf");
	if (err)
		dl_torus_config_free(c);
	else
		*out = c;
	return err;
}

int dl_torus_infer(const struct dl_fabric *f, const struct dl_log *log,
		   struct dl_torus_config **out)
{
	return dl_torus_infer_as_wanted(f, NULL, log, out);
}
