/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Switches that join hardly anything: part of the torus, or odd?
 *
 * Problem.  A switch that hangs on the torus by one neighbour, next to a site
 * whose switch has failed, may be that site's, with most of its cables dead;
 * or a service switch, which nothing but the truth keeps from the site.  Its
 * adapters' path SLs follow from the answer.  The same goes for whatever hangs
 * on one switch (blocks.c), and for what joins no more than two.
 *
 * Method.  Such switches wait until all others are placed (search.c), and
 * keep none of these from a site.  Then, for each that one site is left for,
 * those that join two switches first, and those that miss fewer hops:
 *
 * 1. Port numbers, if these mean the same direction on all switches, tell.
 * 2. If the site's other neighbours are there, and cables are missing to more
 *    of them than lead to the rest, the switch belongs to the site only if as
 *    many hops are missing elsewhere: it takes a fabric that loses cables to
 *    lose most of one switch's.
 * 3. Who had no place when the fabric was seen before has none now.
 * 4. In an open dimension whose ends are not known, it does not make a plane
 *    of its own.
 *
 * A mistake either way costs a detour and an SL, never safety.  What is left
 * out is routed as an odd switch and listed, with the site (odd.c); a seed
 * that names it settles the matter.
 *
 * Complexity: linear in the fabric, once a search.
 */
#include "torus/internal.h"

#include <errno.h>
#include <stdlib.h>

int dl_torus_find_branches(struct dl_torus_search *s)
{
	uint32_t n = s->f->nswitches, sw;
	bool *outside = malloc((n + 1) * sizeof(*outside));
	int err = outside ? dl_torus_find_outside(&s->adj, n, s->by_guid,
						  outside) :
			    -ENOMEM;

	s->branch = calloc(n + 1, sizeof(*s->branch));
	if (!s->branch)
		err = -ENOMEM;
	/* What joins no more than two others may be a bridge between these. */
	for (sw = 0; !err && sw < n; sw++)
		if (outside[sw])
			s->branch[sw] = DL_TORUS_OUTSIDE;
		else if (s->adj.first[sw + 1] - s->adj.first[sw] <= 2)
			s->branch[sw] = DL_TORUS_THIN;
	free(outside);
	return err;
}

/* Hops without a cable between placed switches. */
static uint32_t count_missing(const struct dl_torus_search *s)
{
	uint32_t site, next, n = 0;
	unsigned int d;

	for (site = 0; site < s->nsites; site++) {
		for (d = 0; d < DL_TORUS_DIMS; d++) {
			next = s->next[site * DL_TORUS_DIRS +
				       dl_torus_dir(d, false)];
			n += s->sw_at[site] != DL_NONE && next != DL_NONE &&
			     s->sw_at[next] != DL_NONE &&
			     !dl_torus_search_cabled(s, s->sw_at[site],
						     s->sw_at[next]);
		}
	}
	return n;
}

void dl_torus_evidence_gather(const struct dl_torus_search *s,
			      struct dl_torus_evidence *e)
{
	e->gathered = true;
	e->missing = count_missing(s);
	e->ports = dl_torus_ports_learn(s, &e->meaning);
}

/* Does a site lie beyond all placed switches, where the grid might end? */
static bool is_beyond(const struct dl_torus_search *s, uint32_t site)
{
	uint32_t c[DL_TORUS_DIMS];
	unsigned int d;

	dl_torus_site_coord(&s->grid, site, c);
	for (d = 0; d < DL_TORUS_DIMS; d++)
		if (s->span[d] != s->grid.radix[d] && s->nreal > s->span[d] &&
		    (c[d] < s->low[d] || c[d] > s->high[d]))
			return true;
	return false;
}

unsigned int dl_torus_score(const struct dl_torus_search *s,
			    const struct dl_torus_evidence *e, uint32_t sw,
			    uint32_t site)
{
	enum dl_torus_hint ports =
		e->ports ? dl_torus_ports_agree(s, &e->meaning, sw, site) :
			   DL_TORUS_HINT_NONE;
	unsigned int dir, there = 0, missing = 0;

	for (dir = 0; dir < DL_TORUS_DIRS; dir++) {
		uint32_t at = s->next[site * DL_TORUS_DIRS + dir];

		if (at == DL_NONE || s->sw_at[at] == DL_NONE)
			continue;
		if (dl_torus_search_cabled(s, sw, s->sw_at[at]))
			there++;
		else
			missing++;
	}
	if (ports != DL_TORUS_HINT_FOR &&
	    (ports == DL_TORUS_HINT_AGAINST || s->known_odd[sw] ||
	     is_beyond(s, site) || (missing > there && missing > e->missing)))
		return 0;
	return (s->branch[sw] == DL_TORUS_THIN) << 8 |
	       (DL_TORUS_DIRS - missing) << 4 | there;
}
