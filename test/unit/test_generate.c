/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Generated fabrics: what the plan says and nothing else, judged by names
 * alone; and configurations whose every seed leads to the coordinates that
 * the names tell.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "grid_fabric.h"
#include "random.h"
#include "dateline/torus.h"
#include "torus/internal.h"

#define MAX_FAILURES 8

struct case_ {
	struct dl_torus_plan plan;
	uint32_t sites[MAX_FAILURES];
	struct dl_torus_failed_hop hops[MAX_FAILURES];
	struct dl_fabric *f;
	struct dl_torus_config *c;
};

static void generate(struct case_ *k)
{
	k->plan.failed_sites = k->sites;
	k->plan.failed_hops = k->hops;
	assert_int_equal(dl_torus_generate(&k->plan, NULL, &k->f, &k->c), 0);
}

static void discard(struct case_ *k)
{
	dl_fabric_free(k->f);
	dl_torus_config_free(k->c);
}

/* A small plan; its failures leave at least one switch. */
static void draw_plan(struct test_random *rnd, struct case_ *k)
{
	struct dl_torus_plan *p = &k->plan;
	uint32_t nsites;

	memset(k, 0, sizeof(*k));
	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++) {
		p->grid.radix[d] = 1 + test_random(rnd, 6);
		p->grid.mesh[d] = test_random(rnd, 3) == 0;
	}
	nsites = dl_torus_grid_sites(&p->grid);
	p->hosts = test_random(rnd, 3);
	p->parallel = 1 + test_random(rnd, 3);
	p->scramble = test_random(rnd, 2);
	p->seed = test_random(rnd, 1000);
	if (nsites > MAX_FAILURES && test_random(rnd, 2)) {
		p->nfailed_sites = test_random(rnd, 3);
		p->nfailed_hops = test_random(rnd, MAX_FAILURES);
	}
	for (uint32_t i = 0; i < p->nfailed_sites; i++)
		k->sites[i] = test_random(rnd, nsites);
	for (uint32_t i = 0; i < p->nfailed_hops; i++) {
		struct dl_torus_failed_hop *h = &k->hops[i];

		do {
			h->site = test_random(rnd, nsites);
			h->dir = test_random(rnd, DL_TORUS_DIRS);
		} while (dl_torus_site_next(&p->grid, h->site, h->dir) == DL_NONE);
		h->cables = 0;
	}
}

/* The site that a switch's or adapter's name tells; *n: 0 for a switch. */
static uint32_t named_site(const struct case_ *k, uint32_t node, uint32_t *n)
{
	uint32_t c[DL_TORUS_DIMS];
	char letter;
	int got;

	*n = 0;
	got = sscanf(dl_fabric_node_id(k->f, node), "%c_%u_%u_%u_%u", &letter, &c[0], &c[1], &c[2],
		     n);
	assert_int_equal(got, dl_fabric_is_switch(k->f, node) ? 4 : 5);
	assert_int_equal(letter, dl_fabric_is_switch(k->f, node) ? 'S' : 'H');
	assert_string_equal(dl_fabric_node_id(k->f, node), dl_fabric_node_name(k->f, node));
	return dl_torus_site(&k->plan.grid, c);
}

static bool is_dead(const struct case_ *k, uint32_t site)
{
	for (uint32_t i = 0; i < k->plan.nfailed_sites; i++)
		if (k->sites[i] == site)
			return true;
	return false;
}

/* Cables that the plan leaves from a site in a direction. */
static uint32_t expected_hop(const struct case_ *k, uint32_t site, unsigned int dir)
{
	const struct dl_torus_grid *g = &k->plan.grid;
	uint32_t next = dl_torus_site_next(g, site, dir);

	if (next == DL_NONE || is_dead(k, site) || is_dead(k, next))
		return 0;
	for (uint32_t i = 0; i < k->plan.nfailed_hops; i++) {
		const struct dl_torus_failed_hop *h = &k->hops[i];

		if ((h->site == site && h->dir == dir) ||
		    (h->site == next && h->dir == dl_torus_opposite(dir)))
			return 0;
	}
	return k->plan.parallel;
}

/* Cables between the switches of two sites, and adapters, by counting. */
static void check_fabric(const struct case_ *k)
{
	const struct dl_fabric *f = k->f;
	uint32_t nsites = dl_torus_grid_sites(&k->plan.grid);
	uint32_t *cables = calloc(nsites * nsites, sizeof(*cables));
	uint32_t live = nsites;
	uint32_t n;

	for (uint32_t i = 0; i < nsites; i++)
		live -= is_dead(k, i);
	assert_int_equal(f->nswitches, live);
	assert_int_equal(f->nnodes, live * (1 + k->plan.hosts));
	assert_int_equal(f->nodes[0].type, k->plan.hosts ? DL_FABRIC_CA : DL_FABRIC_SWITCH);

	for (uint32_t i = 0; i < f->nnodes; i++) {
		const struct dl_fabric_node *node = &f->nodes[i];
		uint32_t site = named_site(k, i, &n);
		uint32_t hosts = 0;

		assert_false(is_dead(k, site));
		for (uint32_t p = 1; p <= node->nports; p++) {
			uint32_t peer = dl_fabric_peer_node(f, node->first_port + p);
			uint32_t there;

			if (peer == DL_NONE)
				continue;
			there = named_site(k, peer, &n);
			if (dl_fabric_is_switch(f, i) && dl_fabric_is_switch(f, peer))
				cables[site * nsites + there]++;
			else
				assert_int_equal(site, there);
			hosts += dl_fabric_is_switch(f, i) && !dl_fabric_is_switch(f, peer);
		}
		assert_int_equal(hosts, dl_fabric_is_switch(f, i) ? k->plan.hosts : 0);
	}
	for (uint32_t site = 0; site < nsites; site++) {
		for (unsigned int dir = 0; dir < DL_TORUS_DIRS; dir++) {
			uint32_t next = dl_torus_site_next(&k->plan.grid, site, dir);

			if (next != DL_NONE)
				cables[site * nsites + next] -= expected_hop(k, site, dir);
		}
	}
	for (uint32_t i = 0; i < nsites * nsites; i++)
		assert_int_equal(cables[i], 0);
	free(cables);
}

/* No two seeds share a switch, and all their links are cables. */
static void check_seeds(const struct case_ *k)
{
	uint64_t seen[3 * (1 + DL_TORUS_DIRS)];
	uint32_t nseen = 0;

	assert_true(k->c->nseeds <= 3);
	for (uint32_t i = 0; i < k->c->nseeds; i++) {
		const struct dl_torus_seed *s = &k->c->seeds[i];
		uint32_t n, first = nseen;
		uint32_t node = dl_fabric_find_guid(k->f, s->from);
		uint32_t site = named_site(k, node, &n);

		seen[nseen++] = s->from;
		for (unsigned int dir = 0; dir < DL_TORUS_DIRS; dir++) {
			uint32_t next = dl_torus_site_next(&k->plan.grid, site, dir);
			uint32_t to;

			if (!s->to[dir])
				continue;
			to = dl_fabric_find_guid(k->f, s->to[dir]);
			assert_int_not_equal(to, DL_NONE);
			assert_int_equal(named_site(k, to, &n), next);
			assert_true(expected_hop(k, site, dir) || k->plan.grid.radix[dir / 2] == 2);
			seen[nseen++] = s->to[dir];
		}
		for (uint32_t a = first; a < nseen; a++)
			for (uint32_t b = 0; b < a; b++)
				assert_true(seen[a] != seen[b]);
	}
}

/*
 * Each seed alone gives the coordinates that the names tell.  With more than
 * two failures a small fabric may fit the grid in more than one way.
 */
static void check_coordinates(const struct case_ *k)
{
	if (k->plan.nfailed_sites + k->plan.nfailed_hops > 2)
		return;
	for (uint32_t i = 0; i < k->c->nseeds; i++) {
		struct dl_torus_config alone = *k->c;
		struct dl_torus *t;
		uint32_t n;

		alone.seeds += i;
		alone.nseeds = 1;
		assert_int_equal(dl_torus_discover(k->f, &alone, NULL, &t), 0);
		for (uint32_t s = 0; s < k->f->nswitches; s++)
			if (t->sw_site[s] != DL_NONE)
				assert_int_equal(t->sw_site[s],
						 named_site(k, k->f->switches[s], &n));
		if (!k->plan.nfailed_sites && !k->plan.nfailed_hops)
			assert_int_equal(t->nplaced, k->f->nswitches);
		dl_torus_free(t);
	}
}

static void test_random_plans(void **state)
{
	struct test_random rnd = { .seed = test_seed(1) };
	uint32_t seeds = 0;

	(void)state;
	for (unsigned int i = 0; i < 400; i++) {
		struct case_ k;

		draw_plan(&rnd, &k);
		generate(&k);
		check_fabric(&k);
		check_seeds(&k);
		check_coordinates(&k);
		if (!k.plan.nfailed_sites && !k.plan.nfailed_hops)
			assert_true(k.c->nseeds >= 1);
		seeds += k.c->nseeds;
		discard(&k);
	}
	assert_true(seeds > 400);
}

/* The layout that the manual page promises. */
static void test_layout(void **state)
{
	struct case_ k = { .plan = { .grid = { .radix = { 4, 1, 3 }, .mesh = { true } },
				     .hosts = 2,
				     .parallel = 2 } };
	static const struct {
		int port;
		const char *peer;
		int far;
	} want[] = {
		{ 1, "S_2_0_0", 3 },   { 2, "S_2_0_0", 4 },    { 3, "S_0_0_0", 1 },
		{ 4, "S_0_0_0", 2 },   { 5, "S_1_0_1", 7 },    { 8, "S_1_0_2", 6 },
		{ 9, "H_1_0_0_1", 1 }, { 10, "H_1_0_0_2", 1 },
	};
	uint32_t node;

	(void)state;
	generate(&k);
	node = dl_fabric_find_guid(k.f, 0xd1000100000000);
	assert_string_equal(dl_fabric_node_id(k.f, node), "S_1_0_0");
	assert_int_equal(k.f->nodes[node].nports, 36);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		uint32_t port = k.f->nodes[node].first_port + want[i].port;

		assert_string_equal(dl_fabric_node_id(k.f, dl_fabric_peer_node(k.f, port)),
				    want[i].peer);
		assert_int_equal(k.f->ports[k.f->ports[port].peer].num, want[i].far);
	}
	node = dl_fabric_find_guid(k.f, 0xd2000300020200);
	assert_string_equal(dl_fabric_node_id(k.f, node), "H_3_0_2_2");
	assert_string_equal(dl_fabric_node_id(k.f, 0), "H_0_0_0_1");
	/* The mesh's end, and its first seed. */
	node = dl_fabric_find_guid(k.f, 0xd1000000000000);
	assert_int_equal(dl_fabric_peer_node(k.f, k.f->nodes[node].first_port + 3), DL_NONE);
	assert_true(k.c->seeds[0].from == 0xd1000000000000);
	assert_true(k.c->seeds[0].to[0] == 0xd1000100000000);
	assert_true(!k.c->seeds[0].to[1] && !k.c->seeds[0].to[2]);
	assert_true(k.c->seeds[0].to[5] == 0xd1000000020000);
	discard(&k);
}

/* What scrambling changes, as text: order, GUIDs by name, ports by name. */
enum { ORDER, GUIDS, PORTS, NFACETS };

struct facets {
	char *text[NFACETS];
};

static struct facets look(bool scramble, uint64_t seed, bool fail)
{
	struct case_ k = { .plan = { .grid = { .radix = { 4, 3, 2 } },
				     .hosts = 1,
				     .parallel = 1,
				     .scramble = scramble,
				     .seed = seed,
				     .nfailed_sites = fail } };
	struct facets facets = { { NULL } };
	FILE *to[NFACETS];
	size_t len[NFACETS];
	char name[16];

	generate(&k);
	for (int i = 0; i < NFACETS; i++)
		to[i] = open_memstream(&facets.text[i], &len[i]);
	for (uint32_t i = 0; i < k.f->nnodes; i++)
		fprintf(to[ORDER], "%s ", dl_fabric_node_id(k.f, i));
	/* Site by site; site 0 may have failed. */
	for (uint32_t site = 1; site < 24; site++) {
		uint32_t c[DL_TORUS_DIMS], i = 0;

		dl_torus_site_coord(&k.plan.grid, site, c);
		snprintf(name, sizeof(name), "S_%u_%u_%u", c[0], c[1], c[2]);
		while (strcmp(dl_fabric_node_id(k.f, i), name))
			i++;
		fprintf(to[GUIDS], "%llx ", (unsigned long long)k.f->nodes[i].guid);
		for (uint32_t p = 1; p <= k.f->nodes[i].nports; p++) {
			uint32_t peer = dl_fabric_peer_node(k.f, k.f->nodes[i].first_port + p);

			if (peer != DL_NONE && !dl_fabric_is_switch(k.f, peer))
				fprintf(to[PORTS], "%u ", p);
		}
	}
	for (int i = 0; i < NFACETS; i++)
		fclose(to[i]);
	discard(&k);
	return facets;
}

static void forget(struct facets *f)
{
	for (int i = 0; i < NFACETS; i++)
		free(f->text[i]);
}

/* Each facet depends on all 64 bits of the seed, none on the failures. */
static void test_scramble(void **state)
{
	struct facets plain = look(false, 5, false), a = look(true, 5, false),
		      same = look(true, 5, false), other = look(true, UINT64_C(1) << 32 | 5, false),
		      hurt = look(true, 5, true);

	(void)state;
	for (int i = 0; i < NFACETS; i++) {
		assert_string_equal(a.text[i], same.text[i]);
		assert_true(strcmp(a.text[i], plain.text[i]));
		assert_true(strcmp(a.text[i], other.text[i]));
		if (i != ORDER)
			assert_string_equal(a.text[i], hurt.text[i]);
	}
	forget(&plain);
	forget(&a);
	forget(&same);
	forget(&other);
	forget(&hurt);
}

/* Ports 36 at least, 254 at most; some of the parallel cables failed. */
static void test_limits(void **state)
{
	struct case_ k = {
		.plan = { .grid = { .radix = { 3, 3, 1 } }, .hosts = 250, .parallel = 1 }
	};
	struct dl_torus_plan too_many = { .grid = { .radix = { 3, 3, 1 } },
					  .hosts = 251,
					  .parallel = 1 };
	struct dl_torus_plan subnet = { .grid = { .radix = { 255, 96, 1 } },
					.hosts = 2,
					.parallel = 1 };
	uint32_t node;

	(void)state;
	generate(&k);
	node = dl_fabric_find_guid(k.f, 0xd1000000000000);
	assert_int_equal(k.f->nodes[node].nports, 254);
	assert_int_equal(k.c->portgroup_max_ports, 251);
	discard(&k);
	assert_int_equal(dl_torus_generate(&too_many, NULL, &k.f, &k.c), -EINVAL);
	assert_int_equal(dl_torus_generate(&subnet, NULL, &k.f, &k.c), -EINVAL);

	k = (struct case_){
		.plan = { .grid = { .radix = { 3, 3, 1 } }, .parallel = 4, .nfailed_hops = 2 },
		.hops = { { 0, 0, 1 }, { 1, 1, 2 } }
	};
	generate(&k);
	node = dl_fabric_find_guid(k.f, 0xd1000000000000);
	for (uint32_t p = 1; p <= 8; p++)
		assert_int_equal(dl_fabric_peer_node(k.f, k.f->nodes[node].first_port + p) ==
					 DL_NONE,
				 p >= 2 && p <= 4);
	discard(&k);
	k.hops[1].cables = 4;
	assert_int_equal(dl_torus_generate(&k.plan, NULL, &k.f, &k.c), -EINVAL);
	k.hops[1] = (struct dl_torus_failed_hop){ 0, 4, 0 };
	assert_int_equal(dl_torus_generate(&k.plan, NULL, &k.f, &k.c), -EINVAL);

	k = (struct case_){
		.plan = { .grid = { .radix = { 1, 1, 1 } }, .parallel = 1, .nfailed_sites = 1 }
	};
	k.plan.failed_sites = k.sites;
	assert_int_equal(dl_torus_generate(&k.plan, NULL, &k.f, &k.c), -EINVAL);
}

/* Where the first seed goes when its place has failed. */
static void test_seed_moves(void **state)
{
	struct case_ k = {
		.plan = { .grid = { .radix = { 6, 4, 1 } }, .parallel = 1, .nfailed_hops = 1 },
		.hops = { { 0, 3, 0 } }
	};

	(void)state;
	/* y has radix 4 and needs both ways, which (0,0) no longer has. */
	generate(&k);
	assert_true(k.c->seeds[0].from == 0xd1000100000000);
	assert_int_equal(k.c->seeds[0].dateline[0], -1);
	assert_int_equal(k.c->seeds[0].dateline[1], 0);
	assert_true(k.c->seeds[0].has_dateline[0]);
	discard(&k);
	/* x does not, so one way is left out. */
	k.hops[0].dir = 0;
	generate(&k);
	assert_true(k.c->seeds[0].from == 0xd1000000000000);
	assert_true(!k.c->seeds[0].to[0] && k.c->seeds[0].to[1]);
	discard(&k);
}

/* The grid's arithmetic against coordinates. */
static void test_grid(void **state)
{
	struct dl_torus_grid g = { .radix = { 4, 1, 3 }, .mesh = { true } };

	(void)state;
	for (uint32_t site = 0; site < 12; site++) {
		for (unsigned int dir = 0; dir < DL_TORUS_DIRS; dir++) {
			int step = dir & 1 ? -1 : 1, d = dir / 2, to;
			uint32_t c[DL_TORUS_DIMS];

			dl_torus_site_coord(&g, site, c);
			to = (int)c[d] + step;
			if (d == 1 || (d == 0 && (to < 0 || to > 3))) {
				assert_int_equal(dl_torus_site_next(&g, site, dir), DL_NONE);
				continue;
			}
			c[d] = (to + g.radix[d]) % g.radix[d];
			assert_int_equal(dl_torus_site_next(&g, site, dir), dl_torus_site(&g, c));
		}
	}
	assert_int_equal(dl_torus_last_dim(&g), 2);
	g.radix[2] = 1;
	assert_int_equal(dl_torus_last_dim(&g), 0);
	g.radix[0] = 1;
	assert_int_equal(dl_torus_last_dim(&g), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grid),	 cmocka_unit_test(test_layout),
		cmocka_unit_test(test_limits),	 cmocka_unit_test(test_random_plans),
		cmocka_unit_test(test_scramble), cmocka_unit_test(test_seed_moves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
