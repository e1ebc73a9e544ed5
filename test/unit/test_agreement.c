/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Configurations that contradict the fabric are told from fabrics with
 * failures; and where the cabling is that of no torus, the obstacle is named.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "grid_fabric.h"
#include "dateline/base.h"

static const struct dl_torus_grid shapes[] = {
	{ { 6, 5, 1 }, { 0 } },
	{ { 5, 5, 5 }, { 0 } },
	{ { 8, 6, 4 }, { 0 } },
	{ { 12, 11, 1 }, { 0 } },
	{ { 6, 7, 3 }, { true, false, false } },
	{ { 5, 8, 2 }, { false, true, true } },
};
#define NSHAPES (sizeof(shapes) / sizeof(*shapes))

/* What was logged as errors. */
struct heard {
	char text[8192];
};

static void hear(void *context, enum dl_log_level level, const char *message)
{
	struct heard *h = context;
	size_t n = strlen(h->text);

	if (level == DL_LOG_ERROR)
		snprintf(h->text + n, sizeof(h->text) - n, "%s\n", message);
}

#define says(h, words)                                                       \
	do {                                                                 \
		if (!strstr((h)->text, words))                               \
			fail_msg("\"%s\" is not in:\n%s", words, (h)->text); \
	} while (0)

/* ---- configurations ---------------------------------------------------- */

static int check(const struct grid_fabric *g, struct heard *h)
{
	const struct dl_log log = { .write = hear, .context = h };
	struct dl_torus *t = NULL;
	int found;

	h->text[0] = '\0';
	/* What is of no use at all is refused, and said to be wrong. */
	if (dl_torus_discover(g->fabric, &g->config, &log, &t)) {
		says(h, "contradicts");
		return DL_TORUS_CONTRADICTS;
	}
	found = dl_torus_check_config(t, &g->config, &log);
	assert_int_equal(found == DL_TORUS_AGREES, !h->text[0]);
	dl_torus_free(t);
	return found;
}

static void draw(struct grid_fabric *g, unsigned int k, struct test_random *r)
{
	memset(g, 0, sizeof(*g));
	g->grid = shapes[k % NSHAPES];
	g->hosts = 1;
	g->parallel = 1 + k % 2;
	g->shuffle = k % 3 ? r : NULL;
}

/* Failures, up to every fourth switch and hop, contradict nothing. */
static void damage_is_no_contradiction(void **state)
{
	struct test_random r = { test_seed(61), 0 };
	struct grid_fabric *g = malloc(sizeof(*g));
	struct heard h;

	(void)state;
	assert_non_null(g);
	for (unsigned int k = 0; k < 400; k++) {
		uint32_t sites, seed;

		draw(g, k, &r);
		sites = dl_torus_grid_sites(&g->grid);
		for (uint32_t i = 0; i < sites; i++) {
			g->dead_switch[i] = test_random(&r, 100) < k % 26;
			for (unsigned int d = 0; d < DL_TORUS_DIMS; d++)
				g->dead_hop[i][d] = test_random(&r, 100) < k % 26;
		}
		seed = test_random(&r, sites);
		g->dead_switch[seed] = false;
		grid_build(g);
		grid_seed(g, seed, true);
		/* One switch of the seed may be dead. */
		for (unsigned int dir = 0; dir < DL_TORUS_DIRS; dir++)
			if (!g->seed.to[dir] && g->seed.to[dir ^ 1] && g->grid.radix[dir / 2] > 2 &&
			    dl_torus_site_next(&g->grid, seed, dir) != DL_NONE &&
			    g->dead_switch[dl_torus_site_next(&g->grid, seed, dir)])
				g->seed.to[dir] = 0xDEAD;
		/* Not so damaged that a dimension has no direction. */
		for (unsigned int d = 0; d < DL_TORUS_DIMS; d++)
			if (g->grid.radix[d] > 1 && !g->seed.to[2 * d] && !g->seed.to[2 * d + 1])
				g->config.nseeds = 0;
		if (g->config.nseeds && check(g, &h) != DL_TORUS_AGREES)
			fail_msg("case %u: %s", k, h.text);
		grid_free(g);
	}
	free(g);
}

/* One mistake of a person's; returns what is to be found. */
static enum dl_torus_agreement make_mistake(struct grid_fabric *g, unsigned int which,
					    struct test_random *r)
{
	struct dl_torus_grid *grid = &g->config.grid;
	struct dl_torus_seed *s = &g->seed;
	uint64_t guid = s->to[0];

	switch (which) {
	case 0: /* a ring that is one shorter than said */
		grid->radix[1]++;
		return DL_TORUS_CONTRADICTS;
	case 1: /* ... and longer */
		grid->radix[1]--;
		return DL_TORUS_CONTRADICTS;
	case 2: /* radices in another order */
		grid->radix[0] = g->grid.radix[1];
		grid->radix[1] = g->grid.radix[0];
		grid->mesh[0] = g->grid.mesh[1];
		grid->mesh[1] = g->grid.mesh[0];
		return g->grid.radix[0] == g->grid.radix[1] ? DL_TORUS_AGREES :
							      DL_TORUS_CONTRADICTS;
	case 3: /* a corner of it */
		grid->radix[0] = grid->radix[1] = 2;
		return DL_TORUS_CONTRADICTS;
	case 4: /* another fabric's switch */
		s->to[s->to[0] ? 0 : 1] = 0xABCDEF + test_random(r, 1000);
		return DL_TORUS_OUTDATED;
	case 5: /* all of another fabric */
		s->from += 0x10000000;
		for (unsigned int dir = 0; dir < DL_TORUS_DIRS; dir++)
			s->to[dir] += s->to[dir] ? 0x10000000 : 0;
		return DL_TORUS_CONTRADICTS;
	default: /* a corner for a straight line */
		s->to[0] = s->to[3];
		s->to[3] = guid;
		return DL_TORUS_CONTRADICTS;
	}
}

#define MISTAKES 7

static void mistakes_are_contradictions(void **state)
{
	struct test_random r = { test_seed(62), 0 };
	struct grid_fabric *g = malloc(sizeof(*g));
	struct heard h;

	(void)state;
	assert_non_null(g);
	for (unsigned int k = 0; k < NSHAPES * MISTAKES * 3; k++) {
		unsigned int which = k / NSHAPES % MISTAKES;
		enum dl_torus_agreement due;
		uint32_t sites, seed;
		int found;

		draw(g, k, &r);
		/* An open dimension of another length may have lost its end. */
		if (which < 4)
			g->grid.mesh[0] = g->grid.mesh[1] = false;
		sites = dl_torus_grid_sites(&g->grid);
		do
			seed = test_random(&r, sites);
		while (dl_torus_site_next(&g->grid, seed, 0) == DL_NONE ||
		       dl_torus_site_next(&g->grid, seed, 3) == DL_NONE);
		grid_build(g);
		grid_seed(g, seed, true);
		if (k % 2)
			memset(g->seed.has_dateline, 0, sizeof(g->seed.has_dateline));
		for (unsigned int d = 0; which < 4 && d < DL_TORUS_DIMS; d++)
			g->seed.dateline[d] = 0;
		due = make_mistake(g, which, &r);
		found = check(g, &h);
		if (found != (int)due)
			fail_msg("mistake %u, case %u: found %d: %s", which, k, found, h.text);
		if (found != DL_TORUS_AGREES)
			says(&h, "contradicts");
		grid_free(g);
	}
	free(g);
}

/* ---- obstacles --------------------------------------------------------- */

static void obstacle_of(const struct dl_fabric *f, const struct dl_torus_config *c, struct heard *h)
{
	const struct dl_log log = { .write = hear, .context = h };
	struct dl_torus_config *inferred = NULL;
	struct dl_torus *t = NULL;

	h->text[0] = '\0';
	if (c)
		assert_int_equal(dl_torus_discover(f, c, &log, &t), -ENOTSUP);
	else
		assert_int_equal(dl_torus_infer(f, &log, &inferred), -ENOTSUP);
	if (!c)
		says(h, f->nswitches ? "no torus or mesh" : "no switch");
}

static uint32_t add_switch(struct dl_fabric *f, unsigned int nports, const char *kind,
			   unsigned int i)
{
	char id[32];
	uint32_t node;

	snprintf(id, sizeof(id), "%s%u", kind, i);
	assert_int_equal(dl_fabric_add_node(f, DL_FABRIC_SWITCH, nports,
					    0x100 * (uint64_t)(kind[0] + 1) + i, id, &node),
			 0);
	assert_int_equal(dl_fabric_set_desc(f, node, id), 0);
	return node;
}

/* Join two nodes at the first ports that are free. */
static void join(struct dl_fabric *f, uint32_t a, uint32_t b)
{
	uint32_t p = f->nodes[a].first_port + 1, q = f->nodes[b].first_port + 1;

	while (f->ports[p].peer != DL_NONE)
		p++;
	while (f->ports[q].peer != DL_NONE)
		q++;
	assert_int_equal(dl_fabric_connect(f, p, q), 0);
}

static void nothing_has_no_torus(void **state)
{
	struct dl_fabric *f;
	struct heard h;

	(void)state;
	assert_int_equal(dl_fabric_new(&f), 0);
	assert_int_equal(dl_fabric_finish(f, NULL), 0);
	obstacle_of(f, NULL, &h);
	says(&h, "there is no switch in the fabric");
	dl_fabric_free(f);
}

/* Spines, leaves below each of them, adapters below the leaves. */
static void a_fat_tree_is_named(void **state)
{
	struct heard h;

	(void)state;
	for (unsigned int spines = 2; spines < 8; spines++) {
		struct dl_fabric *f;
		uint32_t spine[8], leaf, ca;

		assert_int_equal(dl_fabric_new(&f), 0);
		for (unsigned int i = 0; i < spines; i++)
			spine[i] = add_switch(f, 36, "spine", i);
		for (unsigned int i = 0; i < 3 * spines; i++) {
			leaf = add_switch(f, 36, "leaf", i);
			for (unsigned int k = 0; k < spines; k++)
				join(f, leaf, spine[k]);
			assert_int_equal(dl_fabric_add_node(f, DL_FABRIC_CA, 1, 0x90000 + 16 * i,
							    "h", &ca),
					 0);
			join(f, leaf, ca);
		}
		assert_int_equal(dl_fabric_finish(f, NULL), 0);
		obstacle_of(f, NULL, &h);
		says(&h, "fat tree");
		says(&h, "leaf0");
		says(&h, "spine0");
		dl_fabric_free(f);
	}
}

/* Two rings of rings, without a cable between them. */
static void islands_are_named(void **state)
{
	struct dl_fabric *f;
	uint32_t node[2][25];
	struct heard h;

	(void)state;
	assert_int_equal(dl_fabric_new(&f), 0);
	for (unsigned int k = 0; k < 2; k++) {
		for (unsigned int i = 0; i < 25; i++)
			node[k][i] = add_switch(f, 4, k ? "west" : "east", i);
		for (unsigned int i = 0; i < 25; i++) {
			join(f, node[k][i], node[k][i / 5 * 5 + (i + 1) % 5]);
			join(f, node[k][i], node[k][(i + 5) % 25]);
		}
	}
	assert_int_equal(dl_fabric_finish(f, NULL), 0);
	obstacle_of(f, NULL, &h);
	says(&h, "2 islands");
	says(&h, "25 with");
	says(&h, "east0");
	says(&h, "west0");
	dl_fabric_free(f);
}

/* Four dimensions of five. */
static void too_many_neighbours_are_named(void **state)
{
	struct dl_fabric *f;
	uint32_t node[625];
	struct heard h;

	(void)state;
	assert_int_equal(dl_fabric_new(&f), 0);
	for (unsigned int i = 0; i < 625; i++)
		node[i] = add_switch(f, 8, "s", i);
	for (unsigned int i = 0; i < 625; i++)
		for (unsigned int stride = 1; stride < 625; stride *= 5)
			join(f, node[i],
			     node[i - i / stride % 5 * stride + (i / stride + 1) % 5 * stride]);
	assert_int_equal(dl_fabric_finish(f, NULL), 0);
	obstacle_of(f, NULL, &h);
	says(&h, "625 of 625 switches have more than 6 neighbours");
	dl_fabric_free(f);
}

/* Exchange the far ends of so many pairs of cables between switches. */
static void exchange(struct dl_fabric *f, unsigned int pairs, struct test_random *r)
{
	while (pairs) {
		uint32_t a = test_random(r, f->nports), b = test_random(r, f->nports), c, d;

		c = f->ports[a].peer;
		d = f->ports[b].peer;
		if (dl_fabric_peer_switch(f, a) == DL_NONE ||
		    dl_fabric_peer_switch(f, b) == DL_NONE ||
		    !dl_fabric_is_switch(f, f->ports[a].node) ||
		    !dl_fabric_is_switch(f, f->ports[b].node) || a == b || a == d)
			continue;
		f->ports[a].peer = d;
		f->ports[d].peer = a;
		f->ports[b].peer = c;
		f->ports[c].peer = b;
		pairs--;
	}
	assert_int_equal(dl_fabric_finish(f, NULL), 0);
}

static void too_many_faults_are_named(void **state)
{
	struct test_random r = { test_seed(63), 0 };
	struct grid_fabric *g = malloc(sizeof(*g));
	struct heard h;

	(void)state;
	assert_non_null(g);
	for (unsigned int k = 0; k < 20; k++) {
		draw(g, 1, &r);
		grid_build(g);
		exchange(g->fabric, k < 10 ? 6 : 80, &r);
		obstacle_of(g->fabric, NULL, &h);
		says(&h, k < 10 ? "resembles 5x5x5" : "more than 6 neighbours");
		grid_free(g);
	}
	free(g);
}

/* Radices without seeds that the cabling does not have. */
static void other_radices_are_named(void **state)
{
	struct grid_fabric *g = malloc(sizeof(*g));
	struct heard h;

	(void)state;
	assert_non_null(g);
	draw(g, 0, NULL);
	g->shuffle = NULL;
	grid_build(g);
	g->config = (struct dl_torus_config){ .grid = { .radix = { 6, 6, 1 } }, .path = "test" };
	obstacle_of(g->fabric, &g->config, &h);
	says(&h, "it says 6x6x1, and the cabling shows");
	grid_free(g);
	free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damage_is_no_contradiction),
		cmocka_unit_test(mistakes_are_contradictions),
		cmocka_unit_test(nothing_has_no_torus),
		cmocka_unit_test(a_fat_tree_is_named),
		cmocka_unit_test(islands_are_named),
		cmocka_unit_test(too_many_neighbours_are_named),
		cmocka_unit_test(too_many_faults_are_named),
		cmocka_unit_test(other_radices_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
