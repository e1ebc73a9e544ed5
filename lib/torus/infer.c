/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Discovery without a configuration: which proposal is the torus (rules A3).
 *
 * Problem.  Proposals (propose.c) see the surroundings of one switch.  Service
 * switches may be attached to the torus, and at the end of an open dimension
 * they look like more of it.
 *
 * Method.  The solver grows each proposal; one is accepted when the grid so
 * found holds every switch and cable.  Unless that grid is whole, appendages
 * are left out of the graph (graph.c) and proposals are made from the rest; a
 * grid is then to hold all but appendages and what has no more than two
 * neighbours, or, if there is none, to be whole with most switches in it.  Of
 * the two, the one is taken with fewer switches without a site and sites
 * without a switch.  If there is none yet, what has no more than two
 * neighbours is left out as well; and if there is still none, the number of
 * switches determines the length of one dimension.
 *
 * Wiring faults.  Where nothing fits, or only a grid that leaves more
 * switches over or takes more repairs, the proposal is taken under which
 * most switches are wired right: placed, next to all placed neighbours, and
 * cabled to each that the grid gives them.  Nine in ten must be.  Faults at
 * every ring of an end, or of the cables that close it, hide from a proposal
 * that there is more of the torus: of the best one, longer and closed
 * dimensions are tried, too, and taken if fewer cables, sites and switches
 * (appendages apart) need an excuse.  (A ring of six with a cable across fits
 * two rows of three, if most cables between the rows are taken for missing.)
 *
 * Invariant.  A given fabric gives the same configuration every time, on any
 * machine.
 *
 * Complexity.  A bounded number of runs of the solver: more where they cost
 * little, none after DL_TORUS_MAX_EFFORT.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "torus/internal.h"

#define MAX_RUNS 16
#define MAX_PLACED (1 << 14)
#define MOST 4	      /* at most one switch in so many is off the torus */
#define FAULTY 10     /* one switch in so many may be wired wrong */
#define MOST_PLANES 3 /* at the ends of a grid that was found */
#define FEW 2	      /* neighbours of what may be dual-homed */

/* A proposal that was tried. */
struct candidate {
	struct dl_torus_proposal p;
	uint32_t left;	  /* sites and switches left over; DL_NONE: there is none */
	uint32_t wrong;	  /* sites and switches that are not wired right */
	uint32_t faulty;  /* switches; and sites, if more than one in ten is empty */
	uint32_t repairs; /* cables that are missing or wrong */
	uint32_t faults;  /* these, empty sites, and switches left over, but for appendages */
};

struct infer {
	struct dl_torus_solver *s;
	struct dl_torus_graph graph;	    /* without `out` */
	const struct dl_torus_grid *wanted; /* radices to be met, or NULL */
	bool *out;			    /* by switch: taken for none of it */
	uint32_t nout;
	unsigned int runs;
	int err;			/* -ENOMEM ends it */
	struct candidate fits, whole;	/* the best that fits; the best whole one */
	struct candidate faulty;	/* the one with the fewest wiring faults */
	struct dl_torus_config *config; /* with one seed */
};

/* Give dimension d of a proposal the place order[d]. */
static void infer_reorder(struct dl_torus_proposal *p, const unsigned int order[DIMS])
{
	struct dl_torus_proposal was = *p;

	for (unsigned int d = 0; d < DIMS; d++) {
		p->grid.radix[order[d]] = was.grid.radix[d];
		p->grid.mesh[order[d]] = was.grid.mesh[d];
		p->seed.dateline[order[d]] = was.seed.dateline[d];
		memcpy(&p->seed.to[dl_torus_dir(order[d], false)],
		       &was.seed.to[dl_torus_dir(d, false)], 2 * sizeof(*p->seed.to));
	}
}

/* Bring the dimensions into the order that was asked for, if they fit it. */
static bool as_wanted(const struct dl_torus_grid *w, struct dl_torus_proposal *p)
{
	static const unsigned int orders[][DIMS] = {
		{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
	};
	const struct dl_torus_grid *g = &p->grid;
	unsigned int d;

	for (unsigned int i = 0; w && i < sizeof(orders) / sizeof(*orders); i++) {
		for (d = 0; d < DIMS; d++)
			if (g->radix[d] != w->radix[orders[i][d]] ||
			    (g->radix[d] > 2 && g->mesh[d] != w->mesh[orders[i][d]]))
				break;
		if (d < DIMS)
			continue;
		infer_reorder(p, orders[i]);
		return true;
	}
	return !w;
}

/*
 * Do all cables between placed switches join neighbours, and have all others
 * been taken for none of it, or may be dual-homed?
 */
static bool only_off_torus(const struct infer *n)
{
	const struct dl_torus_solver *s = n->s;
	unsigned int near;

	for (uint32_t sw = 0; sw < s->n; sw++)
		if (s->site_of[sw] != DL_NONE ?
			    dl_torus_count_placed(s, sw, s->site_of[sw], &near) > near :
			    !n->nout || (!n->out[sw] && dl_torus_degree(&n->graph, sw) > FEW))
			return false;
	return true;
}

/* May a grid of so many sites be it? */
static bool large_enough(const struct infer *n, uint32_t sites)
{
	uint64_t nsw = n->s->n;

	return n->nout ? (uint64_t)sites * MOST >= nsw * (MOST - 1) : sites >= nsw;
}

/* How well does what the solver has found fit? */
static void infer_measure(const struct infer *n, struct candidate *c)
{
	uint32_t sites = dl_torus_grid_sites(&c->p.grid);
	uint32_t empty = sites > n->s->n ? sites - n->s->n : 0;

	c->left = sites - n->s->nplaced + n->s->n - n->s->nplaced;
	c->repairs = dl_torus_count_repairs(n->s);
	c->faults = dl_torus_count_faults(n->s);
	c->faulty = n->s->n - dl_torus_count_right(n->s);
	c->wrong = c->faulty + empty;
	c->faulty += empty > n->s->n / FAULTY ? empty : 0;
}

static int infer_solve(struct infer *n, const struct candidate *c)
{
	n->config->grid = c->p.grid;
	*n->config->seeds = c->p.seed;
	return dl_torus_solve(n->s, n->config, NULL, NULL);
}

static bool try_proposal(void *context, const struct dl_torus_proposal *proposal)
{
	struct infer *n = context;
	struct candidate c = { .p = *proposal };
	uint32_t sites = dl_torus_grid_sites(&c.p.grid);
	int err;

	if (!large_enough(n, sites) || sites > DL_TORUS_MAX_SITES || !as_wanted(n->wanted, &c.p) ||
	    n->s->effort >= DL_TORUS_MAX_EFFORT || n->runs++ >= MAX_RUNS + MAX_PLACED / n->s->n)
		return false;
	err = infer_solve(n, &c);
	if (err == -ENOMEM)
		n->err = err;
	if (err)
		return n->err; /* no memory: no further proposal */
	infer_measure(n, &c);
	if (only_off_torus(n)) {
		if (n->fits.left == DL_NONE || c.repairs < n->fits.repairs)
			n->fits = c;
		return !c.repairs;
	}
	if (n->nout && c.left < n->whole.left && dl_torus_is_whole(n->s))
		n->whole = c;
	if (c.wrong < n->faulty.wrong)
		n->faulty = c;
	return false;
}

/* What the graph without `out` shows: a fit, else the best whole grid. */
static int infer_look(struct infer *n, bool guess, struct candidate *found)
{
	int err;

	dl_torus_graph_free(&n->graph);
	err = dl_torus_graph_build(n->s->f, n->out, &n->graph);
	n->runs = 0;
	n->whole.left = n->fits.left = DL_NONE;
	if (err)
		return err;
	dl_torus_propose(n->s, &n->graph, n->out, guess, try_proposal, n);
	*found = n->fits.left == DL_NONE ? n->whole : n->fits;
	return n->err;
}

/* Leave out appendages, or else what may be dual-homed.  Are there such? */
static bool infer_leave_out(struct infer *n, bool appendages)
{
	uint32_t before = n->nout;

	for (uint32_t sw = 0; sw < n->s->n; sw++) {
		if (n->out[sw] || (appendages ? n->s->weak[sw] != DL_TORUS_APPENDAGE :
						dl_torus_degree(&n->graph, sw) > FEW))
			continue;
		n->out[sw] = true;
		n->nout++;
	}
	return n->nout > before;
}

/* Has one candidate fewer faults than the other, if there is another? */
static bool infer_is_better(const struct candidate *c, const struct candidate *other)
{
	if (other->left == DL_NONE || c->faults != other->faults)
		return other->left == DL_NONE || c->faults < other->faults;
	return c->wrong < other->wrong;
}

/*
 * A plane that lacks a cable looks like no more of the torus: are fewer switches
 * wired wrong if those left over are planes at the ends of an open dimension?
 */
static void infer_stretch(struct infer *n, const struct dl_torus_proposal *from)
{
	uint32_t sites = dl_torus_grid_sites(&from->grid);
	uint32_t rest = n->s->n > sites ? n->s->n - sites : 0;

	for (unsigned int d = 0; d < DIMS && !n->err; d++) {
		uint32_t radix = from->grid.radix[d], plane = sites / radix;
		uint32_t more = (rest + plane - 1) / plane;

		if (!more || more > MOST_PLANES || (more * plane - rest) * FAULTY > n->s->n ||
		    radix + more > DL_TORUS_MAX_RADIX || (radix > 2 && !from->grid.mesh[d]))
			continue;
		for (uint32_t before = 0; before <= more; before++) {
			struct dl_torus_proposal p = *from;

			p.grid.radix[d] += more;
			p.grid.mesh[d] = p.grid.radix[d] > 2;
			p.seed.dateline[d] -= (int32_t)before;
			p.seed.has_dateline[d] = true;
			try_proposal(n, &p);
			p.grid.mesh[d] = false;
			if (!before && !n->err)
				try_proposal(n, &p);
		}
	}
}

/* A ring that lacks a cable looks like an open dimension: is it better closed? */
static void close_rings(struct infer *n, const struct dl_torus_proposal *from)
{
	for (unsigned int d = 0; d < DIMS && !n->err; d++) {
		struct dl_torus_proposal p = *from;

		if (!p.grid.mesh[d])
			continue;
		p.grid.mesh[d] = false;
		n->runs = 0;
		try_proposal(n, &p);
	}
}

static int infer_adjust(struct infer *n, struct candidate *found)
{
	struct dl_torus_proposal near = n->faulty.p;

	n->fits.left = DL_NONE;
	n->runs = 0;
	infer_stretch(n, found->left == DL_NONE ? &near : &found->p);
	if (n->faulty.wrong != DL_NONE)
		close_rings(n, &n->faulty.p);
	if (found->left != DL_NONE)
		close_rings(n, &found->p);
	if (n->fits.left != DL_NONE && infer_is_better(&n->fits, found))
		*found = n->fits;
	return n->err;
}

/* What discovery will make of the proposal with the fewest wiring faults. */
static int grow_faulty(struct infer *n)
{
	int err = infer_solve(n, &n->faulty);

	if (!err)
		err = dl_torus_grow_elsewhere(n->s, n->config);
	if (!err)
		infer_measure(n, &n->faulty);
	return err;
}

static int find_grid(struct infer *n)
{
	struct candidate found = { .left = DL_NONE }, without = found;
	uint32_t few = n->s->n / FAULTY;
	int err = infer_look(n, false, &found);

	if (!err && found.left && infer_leave_out(n, true))
		err = infer_look(n, false, &without);
	if (!err && without.left < found.left)
		found = without;
	if (!err && found.left == DL_NONE && infer_leave_out(n, false))
		err = infer_look(n, false, &found);
	if (!err && found.left == DL_NONE && n->faulty.faulty > few) {
		memset(n->out, 0, n->s->n * sizeof(*n->out));
		n->nout = 0;
		err = infer_look(n, true, &found);
	}
	if (!err && (n->faulty.wrong != DL_NONE ? found.left || found.repairs :
						  found.left != DL_NONE && found.repairs))
		err = infer_adjust(n, &found);
	if (!err && n->faulty.wrong != DL_NONE)
		err = grow_faulty(n);
	if (err)
		return err;
	/* Also in place of a whole grid that leaves out a plane of the torus. */
	if (n->faulty.faulty <= few && infer_is_better(&n->faulty, &found))
		found = n->faulty;
	err = found.left == DL_NONE ? -ENOTSUP : 0;
	if (err)
		found = n->faulty;
	n->config->grid = found.p.grid;
	*n->config->seeds = found.p.seed;
	return err;
}

int dl_torus_infer_grid(struct dl_torus_solver *s, const struct dl_torus_grid *wanted,
			const struct dl_log *log, struct dl_torus_config **out)
{
	struct infer n = { .s = s,
			   .wanted = wanted,
			   .faulty = { .left = DL_NONE, .wrong = DL_NONE, .faulty = DL_NONE } };
	int err = -ENOMEM;

	n.out = calloc(s->n + 1, sizeof(*n.out));
	n.config = dl_torus_config_new(NULL, "(found from the cabling)", 1);
	if (n.out && n.config) {
		n.config->nseeds = 1;
		err = find_grid(&n);
	}
	if (err == -ENOTSUP && log)
		dl_torus_name_obstacle(s, wanted, n.config, n.faulty.faulty, log);
	if (err)
		dl_torus_config_free(n.config);
	else
		*out = n.config;
	dl_torus_graph_free(&n.graph);
	free(n.out);
	return err;
}

int dl_torus_infer(const struct dl_fabric *f, const struct dl_log *log,
		   struct dl_torus_config **out)
{
	struct dl_torus_solver s;
	int err = dl_torus_solver_init(&s, f);

	if (!err)
		err = dl_torus_infer_grid(&s, NULL, log, out);
	dl_torus_solver_free(&s);
	return err;
}

int dl_torus_discover_cabling(const struct dl_fabric *f, const struct dl_torus_grid *wanted,
			      const struct dl_log *log, struct dl_torus_config **c,
			      struct dl_torus **out)
{
	struct dl_torus_solver s;
	int err = dl_torus_solver_init(&s, f);

	if (!err)
		err = dl_torus_infer_grid(&s, wanted, log, c);
	dl_torus_solver_free(&s);
	if (err)
		return err;
	err = dl_torus_discover(f, *c, log, out);
	if (err) {
		dl_torus_config_free(*c);
		*c = NULL;
	}
	return err;
}
