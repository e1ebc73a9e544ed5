/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Failures cut out of a whole fabric, against the same failures left out when
 * it is built; and the load of the cables, against following every packet.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dateline/fabric.h"
#include "fabric_text.h"
#include "grid_fabric.h"
#include "dateline/route.h"
#include "dateline/tables.h"

#define ROUNDS 60

static uint32_t seed;

/* ---- failures ------------------------------------------------------------ */

static void fail_at_random(struct grid_fabric *g, struct test_random *random, unsigned int one_in)
{
	uint32_t site;
	unsigned int d;

	for (site = 0; site < dl_torus_grid_sites(&g->grid); site++) {
		g->dead_switch[site] = !test_random(random, one_in);
		for (d = 0; d < DL_TORUS_DIMS; d++)
			g->dead_hop[site][d] = !test_random(random, one_in);
	}
}

static char *netlist(const struct dl_fabric *f)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	assert_non_null(to);
	assert_int_equal(dl_fabric_write_netlist(f, to), 0);
	fclose(to);
	return text;
}

/* All ports of a site's switch that point in a direction. */
static void cut_hop(const struct grid_fabric *whole, uint32_t site, unsigned int dir, bool *cut)
{
	const struct dl_fabric *f = whole->fabric;
	const struct dl_fabric_node *n = &f->nodes[whole->node[site]];
	uint32_t next = dl_torus_site_next(&whole->grid, site, dir);
	unsigned int i;

	for (i = 1; next != DL_NONE && i <= n->nports; i++)
		if (dl_fabric_peer_node(f, n->first_port + i) == whole->node[next])
			cut[n->first_port + i] = true;
}

/* The same LIDs as in the whole fabric. */
static void take_lids(struct dl_fabric *f, const struct dl_fabric *whole)
{
	uint32_t node, from, p;

	for (node = 0; node < f->nnodes; node++) {
		from = dl_fabric_find_guid(whole, f->nodes[node].guid);
		for (p = 0; p <= f->nodes[node].nports; p++)
			f->ports[f->nodes[node].first_port + p].lid =
				whole->ports[whole->nodes[from].first_port + p].lid;
	}
	assert_int_equal(dl_fabric_finish(f, NULL), 0);
}

/* How many switches are connected with most others, one cable at a time. */
static uint32_t largest_part(const struct dl_fabric *f)
{
	uint32_t *label = calloc(f->nswitches + 1, sizeof(*label)), most = 0, n;
	bool changed = true;

	for (uint32_t s = 0; s < f->nswitches; s++)
		label[s] = s;
	while (changed) {
		changed = false;
		for (uint32_t p = 0; p < f->nports; p++) {
			uint32_t a = f->nodes[f->ports[p].node].sw, b = dl_fabric_peer_switch(f, p);

			if (a == DL_NONE || b == DL_NONE || label[a] <= label[b])
				continue;
			label[a] = label[b];
			changed = true;
		}
	}
	for (uint32_t l = 0; l < f->nswitches; l++) {
		n = 0;
		for (uint32_t s = 0; s < f->nswitches; s++)
			n += label[s] == l;
		most = n > most ? n : most;
	}
	free(label);
	return most;
}

static void check_main_part(const struct dl_fabric *f)
{
	const struct dl_fabric_part options = { .from = DL_NONE };
	struct dl_fabric *part;

	assert_true(dl_fabric_main_part(f, &options, NULL, &part) >= 0);
	assert_int_equal(!part, dl_fabric_is_connected(f));
	if (!part)
		return;
	assert_int_equal(dl_fabric_is_connected(part), 1);
	assert_int_equal(part->nswitches, largest_part(f));
	assert_int_equal(part->nnodes, 3 * part->nswitches);
	dl_fabric_free(part);
}

/*
 * What one device could spoil is left out: the same as cutting it out, and then
 * what that has torn off.  Few cables have one data VL at one end, or at both.
 */
static void check_left_out(struct dl_fabric *f, struct test_random *random, bool two_vls)
{
	const struct dl_fabric_part all = { .from = DL_NONE, .two_vls = two_vls };
	const struct dl_fabric_part rest = { .from = DL_NONE };
	bool *dead = calloc(f->nnodes + 1ul, sizeof(*dead));
	bool *cut = calloc(f->nports + 1ul, sizeof(*cut));
	struct dl_fabric *part, *left, *torn;
	uint32_t ends = 0, narrow = 0, n = 0;
	char *want, *have;

	for (uint32_t i = 0; i < f->nswitches; i++) {
		f->nodes[f->switches[i]].lft_cap = f->top_lid + test_random(random, 20);
		dead[f->switches[i]] = f->nodes[f->switches[i]].lft_cap == f->top_lid;
		n += dead[f->switches[i]];
	}
	for (uint32_t p = 0; p < f->nports; p++)
		f->ports[p].vls = test_random(random, 20) ? 8 : 1;
	for (uint32_t p = 0; p < f->nports; p++) {
		if (!dl_fabric_is_switch(f, f->ports[p].node) ||
		    dl_fabric_peer_switch(f, p) == DL_NONE)
			continue;
		ends++;
		cut[p] = f->ports[p].vls == 1 || f->ports[f->ports[p].peer].vls == 1;
		narrow += cut[p];
	}
	if (!two_vls || 2 * narrow >= ends)
		memset(cut, 0, f->nports);
	else
		n += narrow;
	assert_true(dl_fabric_main_part(f, &all, NULL, &part) >= 0);
	assert_int_equal(dl_fabric_degrade(f, dead, cut, &left), 0);
	assert_true(dl_fabric_main_part(left, &rest, NULL, &torn) >= 0);
	assert_int_equal(part != NULL, n || torn);
	if (part) {
		want = netlist(torn ? torn : left);
		have = netlist(part);
		assert_string_equal(want, have);
		free(want);
		free(have);
	}
	dl_fabric_free(part);
	dl_fabric_free(left);
	dl_fabric_free(torn);
	free(dead);
	free(cut);
}

/* The part of an end port. */
static void check_from(const struct dl_fabric *f)
{
	for (uint32_t p = 0; p < f->nports; p++) {
		const struct dl_fabric_part of = { .from = p };
		struct dl_fabric *part;

		if (f->nodes[f->ports[p].node].sw == DL_NONE || f->ports[p].num)
			continue;
		assert_true(dl_fabric_main_part(f, &of, NULL, &part) >= 0);
		if (!part)
			continue;
		assert_int_equal(dl_fabric_is_connected(part), 1);
		assert_true(dl_fabric_find_guid(part, f->nodes[f->ports[p].node].guid) != DL_NONE);
		dl_fabric_free(part);
	}
}

static void damage_is_damage(void **state)
{
	struct test_random random = { seed, 0 };
	static const uint32_t radix[3] = { 5, 4, 3 };
	struct grid_fabric *whole = calloc(1, sizeof(*whole));
	struct grid_fabric *hurt = calloc(1, sizeof(*hurt));
	int round, connected = 0, torn = 0;

	(void)state;
	memcpy(whole->grid.radix, radix, sizeof(radix));
	whole->hosts = 2;
	whole->parallel = 1;
	grid_build(whole);
	for (round = 0; round < ROUNDS; round++) {
		const struct dl_fabric *f = whole->fabric;
		bool *dead = calloc(f->nnodes, sizeof(*dead));
		bool *cut = calloc(f->nports, sizeof(*cut));
		struct dl_fabric *out;
		char *want, *have;
		uint32_t site;
		unsigned int d;

		memset(hurt, 0, sizeof(*hurt));
		hurt->grid = whole->grid;
		hurt->hosts = whole->hosts;
		hurt->parallel = whole->parallel;
		fail_at_random(hurt, &random, 4 + 4 * (round % 3));
		grid_build(hurt);
		take_lids(hurt->fabric, f);
		for (site = 0; site < dl_torus_grid_sites(&whole->grid); site++) {
			dead[whole->node[site]] = hurt->dead_switch[site];
			for (d = 0; d < DL_TORUS_DIMS; d++)
				if (hurt->dead_hop[site][d])
					cut_hop(whole, site, 2 * d, cut);
		}
		assert_int_equal(dl_fabric_degrade(f, dead, cut, &out), 0);
		want = netlist(hurt->fabric);
		have = netlist(out);
		assert_string_equal(want, have);
		if (dl_fabric_is_connected(out))
			connected++;
		else
			torn++;
		assert_int_equal(dl_fabric_is_connected(out), dl_fabric_is_connected(hurt->fabric));
		check_main_part(out);
		if (round < ROUNDS / 10)
			check_from(out);
		check_left_out(out, &random, round % 2);
		free(want);
		free(have);
		free(dead);
		free(cut);
		dl_fabric_free(out);
		grid_free(hurt);
	}
	assert_true(connected && torn);
	grid_free(whole);
	free(whole);
	free(hurt);
}

/* ---- load ---------------------------------------------------------------- */

/*
 * Follow one packet.  Returns the cables between switches that it passes, or
 * -1 when it does not arrive; adds to flows[] if that is not NULL.
 */
static int follow(const struct dl_tables *t, uint32_t src, uint16_t lid, uint64_t *flows)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t sw = dl_fabric_access_switch(f, src), steps;
	int hops = 0;

	for (steps = 0; steps <= f->nswitches && sw != DL_NONE; steps++) {
		const struct dl_fabric_node *n = &f->nodes[f->switches[sw]];
		uint8_t out = dl_tables_lft(t, sw, lid);
		uint32_t port = n->first_port + out;

		if (out > n->nports)
			return -1;
		if (!out)
			return f->lid_port[lid] == port ? hops : -1;
		if (f->ports[port].peer == f->lid_port[lid])
			return hops;
		sw = dl_fabric_peer_switch(f, port);
		hops++;
		if (flows && sw != DL_NONE)
			flows[port]++;
	}
	return -1;
}

/* How long packets are the first of their buffer: packet by packet. */
static void compare_held(const struct dl_tables *t, const bool *among)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t *rate = calloc(f->nports + 1, sizeof(*rate));
	double *want = calloc(f->nports + 1, sizeof(*want)), *have = malloc((f->nports + 1) * 8);
	bool *done = malloc(f->nswitches + 1);
	struct dl_tables_load load;

	for (uint32_t p = 0; p < f->nports; p++)
		rate[p] = 1 + p % 7;
	for (uint32_t lid = 1; lid <= f->top_lid; lid++) {
		uint32_t dst = f->lid_port[lid];

		memset(done, 0, f->nswitches);
		for (uint32_t src = 0; dst != DL_NONE && (!among || among[dst]) && src < f->nports;
		     src++) {
			uint32_t at = dl_fabric_sender_switch(f, src), before = DL_NONE;

			if ((among && !among[src]) || at == DL_NONE ||
			    follow(t, f->nodes[f->switches[at]].first_port, lid, NULL) < 0)
				continue;
			for (bool last = false; !last;) {
				uint32_t port = f->nodes[f->switches[at]].first_port +
						dl_tables_lft(t, at, lid);

				if (before == DL_NONE && !done[at])
					want[f->nodes[f->switches[at]].first_port] +=
						1.0 / rate[port];
				if (before == DL_NONE)
					done[at] = true;
				else if (src != dst)
					want[before] += 1.0 / rate[port];
				before = port;
				last = port == dst || f->ports[port].peer == dst;
				at = last ? at : dl_fabric_peer_switch(f, port);
			}
		}
	}
	assert_int_equal(dl_tables_load_hold(t, among, rate, have, &load), 0);
	for (uint32_t p = 0; p < f->nports; p++)
		assert_true(want[p] - have[p] < 1e-9 && have[p] - want[p] < 1e-9);
	dl_tables_load_release(&load);
	free(rate);
	free(want);
	free(have);
	free(done);
}

static void compare(const struct dl_tables *t, const struct dl_tables *other, const bool *among)
{
	const struct dl_fabric *f = t->fabric;
	uint64_t *flows = calloc(f->nports + 1, sizeof(*flows));
	uint64_t *common = calloc(f->nports + 1, sizeof(*common));
	uint64_t *theirs = calloc(f->nports + 1, sizeof(*theirs));
	struct dl_tables_load want = { 0 }, have;
	uint32_t src, lid;

	for (src = 0; src < f->nports; src++) {
		if (!f->ports[src].lid || !dl_fabric_is_end_port(f, src) || (among && !among[src]))
			continue;
		for (lid = 1; lid <= f->top_lid; lid++) {
			uint32_t dst = f->lid_port[lid];
			int hops;

			if (dst == DL_NONE || dst == src || (among && !among[dst]))
				continue;
			hops = other ? follow(other, src, lid, NULL) : -1;
			if (hops >= 0) {
				want.other_pairs++;
				want.other_hops += hops;
				follow(other, src, lid, theirs);
			}
			hops = follow(t, src, lid, NULL);
			if (hops < 0)
				continue;
			follow(t, src, lid, flows);
			want.pairs++;
			want.hops += hops;
			if (!other || follow(other, src, lid, NULL) < 0)
				continue;
			want.common_pairs++;
			want.common_hops += hops;
			follow(t, src, lid, common);
		}
	}
	assert_int_equal(dl_tables_load_count(t, other, among, NULL, &have), 0);
	assert_int_equal(have.pairs, want.pairs);
	assert_int_equal(have.hops, want.hops);
	assert_int_equal(have.common_pairs, want.common_pairs);
	assert_int_equal(have.common_hops, want.common_hops);
	for (src = 0; src < f->nports; src++) {
		assert_int_equal(have.flows[src], flows[src]);
		if (flows[src] > want.busiest)
			want.busiest = flows[src];
		if (common[src] > want.common_busiest)
			want.common_busiest = common[src];
		if (theirs[src] > want.other_busiest)
			want.other_busiest = theirs[src];
	}
	assert_int_equal(have.other_pairs, want.other_pairs);
	assert_int_equal(have.other_hops, want.other_hops);
	assert_int_equal(have.other_busiest, want.other_busiest);
	assert_int_equal(have.busiest, want.busiest);
	assert_int_equal(have.common_busiest, want.common_busiest);
	dl_tables_load_release(&have);
	if (!other)
		compare_held(t, among);
	free(flows);
	free(common);
	free(theirs);
}

/* The hops to all LIDs in use, in a random order. */
static void compare_hops(const struct dl_tables *t, struct test_random *random)
{
	const struct dl_fabric *f = t->fabric;
	uint16_t *lids = calloc(f->top_lid + 1u, sizeof(*lids));
	struct dl_tables_paths *paths;

	for (uint32_t i = 0; i <= f->top_lid; i++) {
		uint32_t j = test_random(random, i + 1);

		lids[i] = lids[j];
		lids[j] = i;
	}
	assert_int_equal(dl_tables_paths_new(t, &paths), 0);
	for (uint32_t i = 0; i <= f->top_lid; i++) {
		if (!lids[i] || f->lid_port[lids[i]] == DL_NONE)
			continue;
		dl_tables_paths_to(paths, lids[i]);
		for (uint32_t src = 0; src < f->nports; src++) {
			uint32_t sw = dl_fabric_access_switch(f, src);
			int want;

			if (!dl_fabric_is_end_port(f, src) || sw == DL_NONE)
				continue;
			want = follow(t, src, lids[i], NULL);
			assert_int_equal(dl_tables_paths_arrive(paths, sw), want >= 0);
			if (want >= 0)
				assert_int_equal(dl_tables_paths_length(paths, sw) - 1, want);
		}
	}
	dl_tables_paths_free(paths);
	free(lids);
}

/* Entries that lead nowhere, in circles, or to the wrong end. */
static void spoil(struct dl_tables *t, struct test_random *random)
{
	uint32_t i, n = test_random(random, 200);

	for (i = 0; i < n; i++) {
		uint32_t sw = test_random(random, t->fabric->nswitches);
		uint32_t lid = 1 + test_random(random, t->top_lid);

		t->lft[sw * (size_t)t->stride + lid] =
			test_random(random, 10) ? test_random(random, 9) : DL_TABLES_NO_PORT;
	}
}

static void load_is_what_packets_do(void **state)
{
	struct test_random random = { seed + 1, 0 };
	struct grid_fabric *g = calloc(1, sizeof(*g));
	struct dl_route_options o;
	int round;

	(void)state;
	dl_route_options_init(&o);
	o.mode = DL_ROUTE_UNCHECKED;
	for (round = 0; round < ROUNDS; round++) {
		struct dl_route_result a, b;
		struct dl_torus *t = NULL;
		bool *among;

		memset(g, 0, sizeof(*g));
		g->grid.radix[0] = 2 + test_random(&random, 4);
		g->grid.radix[1] = 1 + test_random(&random, 4);
		g->grid.radix[2] = 1 + test_random(&random, 3);
		g->hosts = 1 + test_random(&random, 2);
		g->parallel = 1 + test_random(&random, 2);
		g->lmc = test_random(&random, 2);
		grid_build(g);
		grid_seed(g, 0, true);
		assert_int_equal(dl_torus_discover(g->fabric, &g->config, NULL, &t), 0);
		assert_int_equal(dl_route(t, &g->config, &o, NULL, &a), 0);
		assert_int_equal(dl_route(t, &g->config, &o, NULL, &b), 0);
		compare(a.tables, NULL, NULL);
		spoil(b.tables, &random);
		compare(a.tables, b.tables, NULL);
		compare(b.tables, a.tables, NULL);
		compare(b.tables, NULL, NULL);
		among = calloc(g->fabric->nports, sizeof(*among));
		for (uint32_t p = 0; p < g->fabric->nports; p++)
			among[p] = test_random(&random, 3) == 0;
		compare(b.tables, a.tables, among);
		compare_hops(a.tables, &random);
		compare_hops(b.tables, &random);
		free(among);
		dl_route_result_release(&a);
		dl_route_result_release(&b);
		dl_torus_free(t);
		grid_free(g);
	}
	free(g);
}

/* Twenty of what is left out are named, and the number of the others. */
static void names_twenty(void **state)
{
	const struct dl_fabric_part options = { .from = DL_NONE, .level = DL_LOG_ERROR };
	struct dl_fabric *f, *part;
	struct heard h;

	(void)state;
	assert_int_equal(dl_fabric_new(&f), 0);
	for (uint32_t i = 0; i < 25; i++)
		assert_int_equal(dl_fabric_add_node(f, DL_FABRIC_SWITCH, 1, 1 + i, "s", NULL), 0);
	assert_int_equal(dl_fabric_finish(f, NULL), 0);
	assert_int_equal(dl_fabric_assign_lids(f, 0), 0);
	for (uint32_t i = 0; i < 24; i++)
		f->nodes[i].lft_cap = 2;
	heard_init(&h);
	assert_true(dl_fabric_main_part(f, &options, &h.log, &part) >= 0);
	assert_int_equal(h.errors, 21);
	assert_non_null(strstr(h.error, "... and 4 switches more with too few forwarding"));
	assert_int_equal(part->nswitches, 1);
	dl_fabric_free(part);
	dl_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damage_is_damage),
		cmocka_unit_test(load_is_what_packets_do),
		cmocka_unit_test(names_twenty),
	};

	seed = test_seed(20261121);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
