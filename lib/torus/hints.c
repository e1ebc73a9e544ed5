/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Placing what the cables around one seed leave open (rules A3).
 *
 * On a heavily damaged torus arc consistency (discover.c) ends early: a part
 * hangs on by one cable whose direction nobody tells, or is cut off from the
 * seed by a row of failed switches.  Path SLs depend on coordinates, so it is
 * worth asking whoever may know, in this order:
 *
 * 1. the other seeds.  Where a seed's datelines are given, the sites of all
 *    switches that it names are known, whether its cables are alive or not.
 *    A seed that contradicts what is placed already is left out.
 * 2. port numbers.  In most machines a port number leads in the same
 *    direction on every switch.  That is taken for granted only if no two
 *    cables between placed switches contradict it, and if there are enough of
 *    them that this is no accident.
 *
 * And, before anything else, a subnet manager that has seen the fabric whole:
 * a switch does not move while it runs, unless somebody moves its cables,
 * which then contradict each other, or changes the configuration, which then
 * contradicts what was known.
 *
 * No switch is placed where a cable to a placed switch would not join
 * neighbours.  A mistake costs a detour, never safety: whatever the
 * coordinates, tables are proven.
 *
 * Cost: linear in the fabric, for each round of port numbers; there are as
 * many rounds as rows hang on each other, a handful.
 */
#include "torus/internal.h"

#include <stdlib.h>
#include <string.h>

#define ENOUGH 2 /* observations for each port number, on average */

/* ---- other seeds --------------------------------------------------------- */

/* Does a seed say where it sits? */
static bool is_absolute(const struct dl_torus_search *s,
			const struct dl_torus_config *c, uint32_t seed)
{
	unsigned int d;

	if (!seed)
		return true;
	for (d = 0; d < DL_TORUS_DIMS; d++)
		if (s->grid.radix[d] > 1 && !c->seeds[seed].has_dateline[d])
			return false;
	return true;
}

/* Does a seed leave open where in an open dimension it stands? */
static bool floats(const struct dl_torus_search *s,
		   const struct dl_torus_config *c, uint32_t seed)
{
	unsigned int d;

	for (d = 0; d < DL_TORUS_DIMS; d++)
		if (s->grid.radix[d] > 1 && c->grid.mesh[d] &&
		    !c->seeds[seed].has_dateline[d])
			return true;
	return false;
}

struct claim {
	uint32_t sw, site;
};

/* The switches that a seed names and that are still there, with their sites. */
static unsigned int list_claims(const struct dl_torus_search *s,
				const struct dl_torus_seed *seed,
				struct claim claims[DL_TORUS_DIRS + 1])
{
	uint32_t origin = dl_torus_seed_site(&s->grid, seed), site, sw;
	unsigned int n = 0, dir;

	sw = dl_torus_search_find(s, seed->from);
	if (sw != DL_NONE)
		claims[n++] = (struct claim){ sw, origin };
	for (dir = 0; dir < DL_TORUS_DIRS; dir++) {
		sw = dl_torus_search_find(s, seed->to[dir]);
		site = s->next[origin * DL_TORUS_DIRS + dir];
		if (site == DL_NONE &&
		    s->grid.radix[dl_torus_dir_dim(dir)] == 2)
			site = s->next[origin * DL_TORUS_DIRS +
				       dl_torus_opposite(dir)];
		if (sw != DL_NONE && site != DL_NONE)
			claims[n++] = (struct claim){ sw, site };
	}
	return n;
}

static bool claims_agree(const struct dl_torus_search *s,
			 const struct claim *claims, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (s->site_of[claims[i].sw] != DL_NONE ?
			    s->site_of[claims[i].sw] != claims[i].site :
			    s->sw_at[claims[i].site] != DL_NONE)
			return false;
	return true;
}

static uint32_t place_claims(struct dl_torus_search *s,
			     const struct claim *claims, unsigned int n)
{
	uint32_t placed = 0;
	unsigned int i;

	if (!claims_agree(s, claims, n))
		return 0;
	for (i = 0; i < n; i++) {
		if (s->site_of[claims[i].sw] != DL_NONE ||
		    !dl_torus_search_fits(s, claims[i].sw, claims[i].site))
			continue;
		dl_torus_search_place(s, claims[i].sw, claims[i].site);
		placed++;
	}
	return placed;
}

uint32_t dl_torus_hint_seeds(struct dl_torus_search *s,
			     const struct dl_torus_config *c, uint32_t main)
{
	struct claim claims[DL_TORUS_DIRS + 1];
	uint32_t i, placed = 0;

	if (main != DL_NONE && !is_absolute(s, c, main))
		return 0;
	for (i = 0; i < c->nseeds; i++)
		if (is_absolute(s, c, i))
			placed += place_claims(s, claims,
					       list_claims(s, &c->seeds[i],
							   claims));
	return placed;
}

bool dl_torus_hints_agree(const struct dl_torus_search *s,
			  const struct dl_torus_config *c)
{
	struct claim claims[DL_TORUS_DIRS + 1];
	uint32_t i;

	for (i = 0; i < c->nseeds; i++)
		if (is_absolute(s, c, i) && !floats(s, c, i) &&
		    !claims_agree(s, claims,
				  list_claims(s, &c->seeds[i], claims)))
			return false;
	return true;
}

/* ---- from before --------------------------------------------------------- */

void dl_torus_hint_before(struct dl_torus_search *s,
			  const struct dl_torus *before)
{
	const struct dl_fabric *then = before->fabric;
	uint32_t site, sw, i;

	for (site = 0; site < s->nsites; site++) {
		if (before->site_sw[site] == DL_NONE)
			continue;
		i = then->switches[before->site_sw[site]];
		sw = dl_torus_search_find(s, then->nodes[i].guid);
		if (sw != DL_NONE && s->site_of[sw] == DL_NONE)
			dl_torus_search_place(s, sw, site);
	}
	/* Who was there without a place is odd. */
	for (i = 0; then != s->f && i < before->nunplaced; i++) {
		uint32_t node = then->switches[before->unplaced[i]];

		sw = dl_torus_search_find(s, then->nodes[node].guid);
		if (sw != DL_NONE)
			s->known_odd[sw] = true;
	}
	/* Out with those that most of their cables contradict. */
	for (sw = 0; sw < s->f->nswitches; sw++) {
		uint32_t for_it = 0, against = 0;

		if (s->site_of[sw] == DL_NONE)
			continue;
		for (i = s->adj.first[sw]; i < s->adj.first[sw + 1]; i++) {
			uint32_t at = s->site_of[s->adj.list[i]];

			if (at == DL_NONE)
				continue;
			if (dl_torus_sites_adjacent(s, s->site_of[sw], at))
				for_it++;
			else
				against++;
		}
		if (against > for_it)
			dl_torus_search_unplace(s, sw);
	}
}

/* ---- port numbers -------------------------------------------------------- */

/* The direction from one site to the next, or DL_TORUS_DIRS if it cannot be told. */
static unsigned int direction(const struct dl_torus_search *s, uint32_t a,
			      uint32_t b)
{
	unsigned int dir;

	for (dir = 0; dir < DL_TORUS_DIRS; dir++)
		if (s->next[a * DL_TORUS_DIRS + dir] == b)
			return s->grid.radix[dl_torus_dir_dim(dir)] > 2 ?
				       dir :
				       DL_TORUS_DIRS;
	return DL_TORUS_DIRS;
}

/* The switch at the far end of a port, or DL_NONE. */
static uint32_t far_switch(const struct dl_torus_search *s, uint32_t sw,
			   unsigned int num)
{
	const struct dl_fabric *f = s->f;

	return dl_fabric_peer_switch(f, f->nodes[f->switches[sw]].first_port +
						num);
}

bool dl_torus_ports_learn(const struct dl_torus_search *s,
			  struct dl_torus_port_meaning *m)
{
	uint32_t sw, seen = 0, numbers = 0;
	unsigned int num, dir;

	memset(m->dir, DL_TORUS_DIRS, sizeof(m->dir));
	for (sw = 0; sw < s->f->nswitches; sw++) {
		unsigned int n = s->f->nodes[s->f->switches[sw]].nports;

		for (num = 1; s->site_of[sw] != DL_NONE && num <= n; num++) {
			uint32_t far = far_switch(s, sw, num);

			if (far == DL_NONE || s->site_of[far] == DL_NONE)
				continue;
			dir = direction(s, s->site_of[sw], s->site_of[far]);
			if (dir == DL_TORUS_DIRS)
				continue;
			numbers += m->dir[num] == DL_TORUS_DIRS;
			if (m->dir[num] != DL_TORUS_DIRS && m->dir[num] != dir)
				return false;
			m->dir[num] = dir;
			seen++;
		}
	}
	return numbers && seen >= ENOUGH * numbers;
}

enum dl_torus_hint dl_torus_ports_agree(const struct dl_torus_search *s,
					const struct dl_torus_port_meaning *m,
					uint32_t sw, uint32_t site)
{
	const struct dl_fabric *f = s->f;
	const struct dl_fabric_node *n = &f->nodes[f->switches[sw]];
	enum dl_torus_hint opinion = DL_TORUS_HINT_NONE;
	unsigned int num, dir, k;

	for (num = 1; num <= n->nports; num++) {
		uint32_t far = far_switch(s, sw, num);

		if (far == DL_NONE || s->site_of[far] == DL_NONE)
			continue;
		dir = direction(s, s->site_of[far], site);
		/* Is it known at all which ports lead there? */
		for (k = 1; k <= DL_FABRIC_MAX_PORTS && m->dir[k] != dir; k++)
			;
		if (dir == DL_TORUS_DIRS || k > DL_FABRIC_MAX_PORTS)
			continue;
		k = f->ports[f->ports[n->first_port + num].peer].num;
		if (m->dir[k] != dir)
			return DL_TORUS_HINT_AGAINST;
		opinion = DL_TORUS_HINT_FOR;
	}
	return opinion;
}

/* Where all ports of a switch that tell anything put it, or DL_NONE. */
static uint32_t site_by_ports(const struct dl_torus_search *s, uint32_t sw,
			      const struct dl_torus_port_meaning *m)
{
	const struct dl_fabric *f = s->f;
	const struct dl_fabric_node *n = &f->nodes[f->switches[sw]];
	uint32_t site = DL_NONE;
	unsigned int num;

	for (num = 1; num <= n->nports; num++) {
		uint32_t far = far_switch(s, sw, num), here;
		unsigned int dir, back;

		if (far == DL_NONE || s->site_of[far] == DL_NONE)
			continue;
		dir = m->dir[f->ports[f->ports[n->first_port + num].peer].num];
		back = m->dir[num];
		if (dir == DL_TORUS_DIRS)
			continue;
		here = s->next[s->site_of[far] * DL_TORUS_DIRS + dir];
		if (here == DL_NONE || (site != DL_NONE && site != here) ||
		    (back != DL_TORUS_DIRS && back != dl_torus_opposite(dir)))
			return DL_NONE;
		site = here;
	}
	return site;
}

uint32_t dl_torus_hint_ports(struct dl_torus_search *s)
{
	uint32_t i, sw, site, before, placed = 0;
	struct dl_torus_port_meaning m;

	if (!dl_torus_ports_learn(s, &m))
		return 0;
	do {
		before = placed;
		for (i = 0; i < s->f->nswitches; i++) {
			sw = s->by_guid[i];
			if (s->site_of[sw] != DL_NONE)
				continue;
			site = site_by_ports(s, sw, &m);
			if (site == DL_NONE ||
			    !dl_torus_search_fits(s, sw, site))
				continue;
			dl_torus_search_place(s, sw, site);
			placed++;
		}
	} while (placed > before);
	return placed;
}
