/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Cables that are slower than others of their kind (rules A15).
 *
 * A kind is a dimension, all other cables between switches, or those to end ports:
 * a fabric may well have slower cables in one dimension.  The measure of a kind is its
 * median: one that most of its cables reach.  Complexity: a sort of all cables.
 */
#include <errno.h>
#include <stdlib.h>

#include "dateline/torus.h"

enum { SLOW_OTHER = DL_TORUS_DIMS, SLOW_END_PORT };

static unsigned int slow_kind(const struct dl_fabric *f, const struct dl_torus_grid *g,
			      const uint32_t *sw_site, uint32_t port)
{
	uint32_t a = f->nodes[f->ports[port].node].sw, b = dl_fabric_peer_switch(f, port);
	unsigned int dir = DL_TORUS_DIRS;

	if (a == DL_NONE || b == DL_NONE)
		return SLOW_END_PORT;
	if (sw_site && sw_site[a] != DL_NONE && sw_site[b] != DL_NONE)
		dir = dl_torus_direction(g, sw_site[a], sw_site[b]);
	return dir == DL_TORUS_DIRS ? SLOW_OTHER : dl_torus_dir_dim(dir);
}

static int slow_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Both ends of each cable count: that moves no median. */
static void slow_mark_kind(struct dl_torus_speeds *s, const uint8_t *kinds, unsigned int kind,
			   uint32_t nports, uint32_t *rates)
{
	uint32_t n = 0, usual;

	for (uint32_t p = 0; p < nports; p++)
		if (kinds[p] == kind && s->rate[p])
			rates[n++] = s->rate[p];
	qsort(rates, n, sizeof(*rates), slow_compare);
	usual = n ? rates[n / 2] : 1;
	for (uint32_t p = 0; p < nports; p++) {
		if (kinds[p] != kind)
			continue;
		s->usual[p] = usual;
		if (!s->rate[p])
			s->rate[p] = usual;
		s->slow[p] = s->rate[p] < usual;
		s->nslow += s->slow[p];
	}
}

int dl_torus_speeds_init(struct dl_torus_speeds *s, const struct dl_fabric *f,
			 const struct dl_torus_grid *g, const uint32_t *sw_site)
{
	uint8_t *kinds;
	uint32_t *rates;

	*s = (struct dl_torus_speeds){ 0 };
	s->rate = dl_arena_array(&s->arena, f->nports + 1ul, sizeof(*s->rate));
	s->usual = dl_arena_array(&s->arena, f->nports + 1ul, sizeof(*s->usual));
	s->slow = dl_arena_array(&s->arena, f->nports + 1ul, sizeof(*s->slow));
	kinds = dl_arena_array(&s->arena, f->nports + 1ul, sizeof(*kinds));
	rates = dl_arena_array(&s->arena, f->nports + 1ul, sizeof(*rates));
	if (!s->rate || !s->usual || !s->slow || !kinds || !rates) {
		dl_torus_speeds_release(s);
		return -ENOMEM;
	}
	for (uint32_t p = 0; p < f->nports; p++) {
		struct dl_fabric_speed_width link = dl_fabric_agreed(f, p);

		kinds[p] = UINT8_MAX;
		if (f->ports[p].peer == DL_NONE)
			continue;
		kinds[p] = slow_kind(f, g, sw_site, p);
		s->rate[p] = dl_fabric_rate(link.speed, link.width);
	}
	for (unsigned int kind = 0; kind <= SLOW_END_PORT; kind++)
		slow_mark_kind(s, kinds, kind, f->nports, rates);
	s->nslow /= 2;
	return 0;
}

void dl_torus_speeds_release(struct dl_torus_speeds *s)
{
	dl_arena_free(&s->arena);
	*s = (struct dl_torus_speeds){ 0 };
}
