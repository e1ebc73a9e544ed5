/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Path SLs from a sample: those of any torus come out as they are, from a small
 * part of its pairs; what has no such order is refused, not guessed.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "draw.h"
#include "live/internal.h"
#include "dateline/route.h"

#define TORI 60

struct oracle {
	struct dl_torus_grid grid;
	uint32_t n, *site; /* by switch: its coordinates, in some order */
	uint32_t order[DL_TORUS_DIMS];
	unsigned int dead; /* switches that no path leads to */
	uint64_t asked;
	bool scrambled, adapters_differ;
	bool parities; /* destination 2 * s + k is parity k of switch s */
};

static uint32_t ndst(const struct oracle *o)
{
	return o->parities ? 2 * o->n : o->n;
}

/* Balanced ties (rules A5): the SL bits of those that wrap. */
static unsigned int ties(const struct oracle *o, uint32_t from, uint32_t to, unsigned int parity)
{
	uint32_t a[DL_TORUS_DIMS], b[DL_TORUS_DIMS];
	unsigned int d, e, odd, sl = 0;

	dl_torus_site_coord(&o->grid, from, a);
	dl_torus_site_coord(&o->grid, to, b);
	for (d = 0; d < DL_TORUS_DIMS; d++) {
		uint32_t apart = a[d] > b[d] ? a[d] - b[d] : b[d] - a[d];

		for (e = d, odd = parity; e < DL_TORUS_DIMS; e++)
			odd += b[e];
		if (!o->grid.mesh[d] && 2 * apart == o->grid.radix[d] && odd % 2 == (b[d] > a[d]))
			sl |= 1u << d;
	}
	return sl;
}

static uint8_t answer(const struct oracle *o, uint32_t from, uint32_t dst)
{
	uint32_t to = o->parities ? dst / 2 : dst;
	unsigned int sl = dl_route_sl(&o->grid, o->site[from], o->site[to]), out = 0;

	if (o->parities)
		sl |= ties(o, o->site[from], o->site[to], dst % 2);
	if (from < o->dead || to < o->dead)
		return from == to ? 0 : DL_TABLES_NO_SL;
	if (o->scrambled)
		return (from * o->n + to) * UINT64_C(0x9E3779B97F4A7C15) >> 40 & 7;
	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++)
		out |= (sl >> d & 1) << o->order[d];
	return out;
}

static int ask(void *context, const struct dl_live_pair *pairs, uint32_t n, uint8_t *sls)
{
	struct oracle *o = context;

	o->asked += n;
	for (uint32_t i = 0; i < n; i++) {
		sls[i] = answer(o, pairs[i].from, pairs[i].to);
		if (o->adapters_differ && pairs[i].choice & 1)
			sls[i] ^= 1;
	}
	return 0;
}

static void draw_oracle(struct draw *d, struct oracle *o, uint32_t radix_max)
{
	memset(o, 0, sizeof(*o));
	o->n = 1;
	for (unsigned int i = 0; i < DL_TORUS_DIMS; i++) {
		o->grid.radix[i] = 1 + draw_below(d, radix_max);
		o->grid.mesh[i] = draw_one_in(d, 4);
		o->order[i] = i;
		o->n *= o->grid.radix[i];
	}
	for (unsigned int i = 0; i < DL_TORUS_DIMS; i++) {
		unsigned int k = draw_below(d, DL_TORUS_DIMS), swap = o->order[i];

		o->order[i] = o->order[k];
		o->order[k] = swap;
	}
	o->site = malloc(o->n * sizeof(*o->site));
	assert_non_null(o->site);
	for (uint32_t s = 0; s < o->n; s++)
		o->site[s] = s;
	for (uint32_t s = 0; s < o->n; s++) {
		uint32_t k = draw_below(d, o->n), swap = o->site[s];

		o->site[s] = o->site[k];
		o->site[k] = swap;
	}
}

static int sample(struct oracle *o, uint8_t **sls)
{
	const struct dl_live_sample s = { .nsrc = o->n, .ndst = ndst(o), .ask = ask, .context = o };

	*sls = malloc((size_t)o->n * ndst(o) + 1);
	assert_non_null(*sls);
	return dl_live_sample(&s, *sls);
}

static void assert_all_right(struct oracle *o)
{
	uint8_t *sls;

	assert_int_equal(sample(o, &sls), 0);
	for (uint32_t a = 0; a < o->n; a++)
		for (uint32_t b = 0; b < ndst(o); b++)
			if (o->parities || a != b)
				assert_int_equal(sls[a * (size_t)ndst(o) + b], answer(o, a, b));
	free(sls);
}

static void finds_tori(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < TORI; i++) {
		struct draw d = { .seed = i };
		struct oracle o;

		draw_oracle(&d, &o, i % 10 ? 10 : 20);
		o.parities = i % 2;
		assert_all_right(&o);
		free(o.site);
	}
}

static void asks_little(void **state)
{
	struct draw d = { .seed = 7 };
	struct oracle o;

	(void)state;
	draw_oracle(&d, &o, 1);
	free(o.site);
	o.n = 4096;
	o.site = malloc(o.n * sizeof(*o.site));
	assert_non_null(o.site);
	for (uint32_t s = 0; s < o.n; s++)
		o.site[s] = s;
	for (unsigned int i = 0; i < DL_TORUS_DIMS; i++) {
		o.grid.radix[i] = 16;
		o.grid.mesh[i] = false;
	}
	assert_all_right(&o);
	printf("16x16x16: %llu questions for %u pairs of switches\n", (unsigned long long)o.asked,
	       o.n * o.n);
	assert_true(o.asked < 1000000);
	free(o.site);
}

static void refuses_the_rest(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 10; i++) {
		struct draw d = { .seed = i };
		struct oracle o;
		uint8_t *sls;

		draw_oracle(&d, &o, 1);
		free(o.site);
		o.site = NULL;
		o.n = 300 + draw_below(&d, 300);
		o.scrambled = i % 2;
		o.adapters_differ = !o.scrambled;
		o.grid.radix[0] = o.n;
		o.site = calloc(o.n, sizeof(*o.site));
		assert_non_null(o.site);
		assert_int_equal(sample(&o, &sls), -ENOTSUP);
		free(sls);
		free(o.site);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_tori),
		cmocka_unit_test(asks_little),
		cmocka_unit_test(refuses_the_rest),
	};

	return cmocka_run_group_tests_name("live sample", tests, NULL, NULL);
}
