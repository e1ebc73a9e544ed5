/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Does a configuration contradict the fabric (rules A3)?
 *
 * Problem.  Failures leave sites empty and cables missing, and a configuration
 * stays right.  A radix, a seed or a GUID that is wrong looks similar, but
 * coordinates that follow from it must neither be trusted nor remembered.
 *
 * Method.  What only a mistake explains: a seed that names a switch which is
 * not there, for a site that another one has; a seed's link between two
 * switches whose sites are not neighbours.  And where switches do not fit, the
 * cabling is asked without the configuration: it contradicts if it shows a grid
 * under which all fit, another one under which fewer do not, or, as wiring
 * faults are few, if more than one in ten does not.
 *
 * Complexity: linear in the fabric; where something does not fit, that of
 * dl_torus_infer().
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "torus/internal.h"

#define FAULTY 10 /* one switch in so many may be wired wrong */
#define PLACED 8  /* on a nearly whole torus, one switch in so many is placed */
#define MAX_LISTED 8

/* ---- seeds ------------------------------------------------------------- */

struct check {
	const struct dl_torus *t;
	const struct dl_torus_config *c;
	const struct dl_log *log;
	uint32_t found;
};

/* A seed names a switch that is not there; the site that it claims, if known. */
static void check_absent(struct check *k, const struct dl_torus_seed *seed, uint64_t guid,
			 uint32_t site)
{
	const struct dl_torus *t = k->t;
	uint32_t sw = site == DL_NONE ? DL_NONE : t->site_sw[site];

	if ((sw == DL_NONE && t->nplaced < t->nsites) || k->found++ >= MAX_LISTED)
		return;
	if (sw == DL_NONE)
		dl_log(k->log, DL_LOG_ERROR,
		       "%s:%u contradicts the fabric: switch 0x%016" PRIx64
		       " is not in it, and no site is empty",
		       k->c->path, seed->line, guid);
	else
		dl_log(k->log, DL_LOG_ERROR,
		       "%s:%u contradicts the fabric: switch 0x%016" PRIx64
		       " is not in it, and %s is at its place %s",
		       k->c->path, seed->line, guid, dl_torus_show_switch(t->fabric, sw).text,
		       dl_torus_show_site(&t->grid, site).text);
}

static void check_link(struct check *k, const struct dl_torus_seed *seed, unsigned int dir)
{
	const struct dl_torus *t = k->t;
	uint32_t from = dl_torus_find_guid(t->fabric, seed->from);
	uint32_t to = dl_torus_find_guid(t->fabric, seed->to[dir]);
	uint32_t here = from == DL_NONE ? DL_NONE : t->sw_site[from], there = DL_NONE;

	if (to == DL_NONE) {
		if (here != DL_NONE)
			there = dl_torus_site_next(&t->grid, here, dir);
		check_absent(k, seed, seed->to[dir], there);
		return;
	}
	there = t->sw_site[to];
	if (here == DL_NONE || there == DL_NONE ||
	    dl_torus_direction(&t->grid, here, there) < DIRS || k->found++ >= MAX_LISTED)
		return;
	dl_log(k->log, DL_LOG_ERROR,
	       "%s:%u contradicts the cabling: 0x%016" PRIx64 " is at %s, and 0x%016" PRIx64
	       " is no neighbour, but at %s",
	       k->c->path, seed->line, seed->from, dl_torus_show_site(&t->grid, here).text,
	       seed->to[dir], dl_torus_show_site(&t->grid, there).text);
}

static void contradiction_check_seeds(struct check *k)
{
	for (const struct dl_torus_seed *s = k->c->seeds; s < k->c->seeds + k->c->nseeds; s++) {
		if (dl_torus_find_guid(k->t->fabric, s->from) == DL_NONE)
			check_absent(k, s, s->from, DL_NONE);
		for (unsigned int dir = 0; dir < DIRS; dir++)
			if (s->to[dir])
				check_link(k, s, dir);
	}
}

/* ---- the whole --------------------------------------------------------- */

/*
 * Switches that do not fit: with a cable to a placed switch that is no
 * neighbour (also in *crossed), or without a place and with too many cables.
 */
static int count_wrong(const struct dl_torus *t, uint32_t *wrong, uint32_t *crossed)
{
	const struct dl_fabric *f = t->fabric;
	bool *seen = calloc(f->nswitches + 1, sizeof(*seen));

	if (!seen)
		return -ENOMEM;
	*crossed = 0;
	for (uint32_t i = 0; i < t->noff_links; i++) {
		uint32_t a = f->nodes[f->ports[t->off_links[i]].node].sw;
		uint32_t b = dl_fabric_peer_switch(f, t->off_links[i]);

		if (!dl_torus_is_inside(t, t->off_links[i]) || a == b)
			continue;
		*crossed += !seen[a] + !seen[b];
		seen[a] = seen[b] = true;
	}
	*wrong = *crossed + dl_torus_count_off_torus(t, DL_TORUS_UNPLACEABLE);
	free(seen);
	return 0;
}

/* Are nearly all neighbours there that a whole grid has? */
static bool nearly_whole(const struct dl_torus *t)
{
	struct dl_torus_graph g;
	uint32_t whole = 0, there;

	if (dl_torus_graph_build(t->fabric, NULL, &g))
		return false;
	there = g.first[t->fabric->nswitches];
	dl_torus_graph_free(&g);
	for (uint32_t site = 0; site < t->nsites; site++)
		for (unsigned int dir = 0; dir < DIRS; dir++)
			whole += dl_torus_site_next(&t->grid, site, dir) != DL_NONE;
	return there * FAULTY >= whole * (FAULTY - 1);
}

/* The radices in ascending order, with what is open. */
static void sort_radices(const struct dl_torus_grid *g, uint32_t sorted[DIMS])
{
	for (unsigned int d = 0, i; d < DIMS; d++) {
		uint32_t key = 2 * g->radix[d] + (g->mesh[d] && g->radix[d] > 2);

		for (i = d; i && sorted[i - 1] > key; i--)
			sorted[i] = sorted[i - 1];
		sorted[i] = key;
	}
}

static bool same_shape(const struct dl_torus_grid *a, const struct dl_torus_grid *b)
{
	uint32_t x[DIMS], y[DIMS];

	sort_radices(a, x);
	sort_radices(b, y);
	return !memcmp(x, y, sizeof(x));
}

static int check_shape(const struct check *k, bool *contradicts)
{
	const struct dl_torus *t = k->t;
	uint32_t n = t->fabric->nswitches, wrong, crossed, less = 0, unused;
	struct dl_torus_config *c = NULL;
	struct dl_torus *alone = NULL;
	bool mistake;
	int err = count_wrong(t, &wrong, &crossed);

	if (err || !wrong)
		return err;
	err = dl_torus_discover_cabling(t->fabric, NULL, NULL, &c, &alone);
	err = err == -ENOMEM ? err : 0;
	if (alone)
		err = count_wrong(alone, &less, &unused);
	if (err)
		goto out;
	/* Failures cross no cables, and leave room for all that is there. */
	mistake = crossed || wrong > t->nsites - t->nplaced;
	if (alone)
		*contradicts = less < wrong &&
			       (wrong * FAULTY > n ||
				(mistake && (!less || !same_shape(&t->grid, &alone->grid))));
	else
		*contradicts = crossed * FAULTY > n || (t->nplaced * PLACED < n && nearly_whole(t));
	if (!*contradicts)
		goto out;
	dl_log(k->log, DL_LOG_ERROR,
	       "%s contradicts the cabling: by its radices %s and its seeds %u of %u switches "
	       "have no place, or cables that do not join neighbours",
	       k->c->path, dl_torus_show_grid(&t->grid).text, wrong, n);
	if (alone)
		dl_log(k->log, DL_LOG_ERROR,
		       "the cabling alone shows %s, where %u of %u switches do not fit",
		       dl_torus_show_grid(&alone->grid).text, less, n);
out:
	dl_torus_free(alone);
	dl_torus_config_free(c);
	return err;
}

int dl_torus_check_config(const struct dl_torus *t, const struct dl_torus_config *c,
			  const struct dl_log *log)
{
	struct check k = { .t = t, .c = c, .log = log };
	bool contradicts = false;
	int err;

	contradiction_check_seeds(&k);
	if (k.found > MAX_LISTED)
		dl_log(log, DL_LOG_ERROR, "and %u more contradictions", k.found - MAX_LISTED);
	err = check_shape(&k, &contradicts);
	return err	   ? err :
	       contradicts ? DL_TORUS_CONTRADICTS :
	       k.found	   ? DL_TORUS_OUTDATED :
			     DL_TORUS_AGREES;
}
