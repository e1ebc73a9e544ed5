/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tables carried over to a damaged fabric: what they still deliver, by the
 * proof, is what packets find that walk the old tables by hand until they meet
 * what is gone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dateline/fabric.h"
#include "grid_fabric.h"
#include "dateline/route.h"
#include "dateline/verify.h"

#define ROUNDS 25

struct fixture {
	struct grid_fabric g;
	struct dl_torus *torus;
	struct dl_route_result r;
	struct dl_tables *tables; /* of the result */
	bool *dead, *cut;
};

static void begin(struct fixture *w, struct test_random *r)
{
	struct dl_route_options o;
	unsigned int d;

	memset(w, 0, sizeof(*w));
	for (d = 0; d < DL_TORUS_DIMS; d++)
		w->g.grid.radix[d] = d < 2 ? 3 + test_random(r, 3) : 1 + test_random(r, 3);
	w->g.hosts = 1 + test_random(r, 2);
	w->g.parallel = 1 + test_random(r, 2);
	w->g.lmc = test_random(r, 2);
	grid_build(&w->g);
	grid_seed(&w->g, 0, true);
	dl_route_options_init(&o);
	o.mode = DL_ROUTE_CLASSIC;
	assert_int_equal(dl_torus_discover(w->g.fabric, &w->g.config, NULL, &w->torus), 0);
	assert_int_equal(dl_route(w->torus, &w->g.config, &o, NULL, &w->r), 0);
	w->tables = w->r.tables;
	w->dead = calloc(w->g.fabric->nnodes, sizeof(*w->dead));
	w->cut = calloc(w->g.fabric->nports, sizeof(*w->cut));
	assert_true(w->dead && w->cut);
}

static void end(struct fixture *w)
{
	free(w->dead);
	free(w->cut);
	dl_route_result_release(&w->r);
	dl_torus_free(w->torus);
	grid_free(&w->g);
}

static bool is_gone(const struct fixture *w, uint32_t port)
{
	const struct dl_fabric *f = w->g.fabric;
	uint32_t peer = f->ports[port].peer;

	return w->cut[port] || w->dead[f->ports[port].node] ||
	       (peer != DL_NONE && (w->cut[peer] || w->dead[f->ports[peer].node]));
}

/* Is this end port left, with its LIDs? */
static bool is_left(const struct fixture *w, uint32_t port)
{
	const struct dl_fabric_port *p = &w->g.fabric->ports[port];

	if (!p->lid || !dl_fabric_is_end_port(w->g.fabric, port) || w->dead[p->node])
		return false;
	return !p->num || (p->peer != DL_NONE && !is_gone(w, port));
}

static bool arrives(const struct fixture *w, uint32_t src, uint32_t lid)
{
	const struct dl_fabric *f = w->g.fabric;
	uint32_t at = dl_fabric_access_switch(f, src), dst = f->lid_port[lid], port;
	uint32_t steps;

	for (steps = 0; steps < f->nnodes; steps++) {
		uint8_t out = dl_tables_lft(w->tables, at, lid);

		if (out == DL_TABLES_NO_PORT)
			return false;
		port = f->nodes[f->switches[at]].first_port + out;
		if (port == dst)
			return true;
		if (f->ports[port].peer == DL_NONE || is_gone(w, port))
			return false;
		if (f->ports[port].peer == dst)
			return true;
		at = dl_fabric_peer_switch(f, port);
	}
	return false;
}

static void count(const struct fixture *w, uint64_t *pairs, uint64_t *lost)
{
	const struct dl_fabric *f = w->g.fabric;
	uint32_t src, lid;

	*pairs = *lost = 0;
	for (src = 0; src < f->nports; src++) {
		if (!is_left(w, src))
			continue;
		for (lid = 1; lid <= f->top_lid; lid++) {
			uint32_t dst = f->lid_port[lid];

			if (dst == DL_NONE || dst == src || !is_left(w, dst))
				continue;
			++*pairs;
			*lost += !arrives(w, src, lid);
		}
	}
}

static void what_still_arrives(void **state)
{
	struct test_random r = { .seed = test_seed(5) };
	uint64_t pairs, lost, total = 0;
	struct dl_fabric *left;
	struct dl_tables *t;
	struct dl_verify_result *v;
	unsigned int round, i;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		struct fixture *w = calloc(1, sizeof(*w));
		uint32_t port;

		assert_non_null(w);
		begin(w, &r);
		/* The first round: nothing is broken. */
		for (i = 0; i < round % 4; i++) {
			w->dead[test_random(&r, w->g.fabric->nnodes)] = true;
			port = test_random(&r, w->g.fabric->nports);
			w->cut[port] = w->g.fabric->ports[port].peer != DL_NONE;
		}
		assert_int_equal(dl_fabric_degrade(w->g.fabric, w->dead, w->cut, &left), 0);
		assert_int_equal(dl_tables_remap(w->tables, left, &t), 0);
		assert_int_equal(dl_verify(t, NULL, NULL, &v), 0);
		count(w, &pairs, &lost);
		assert_int_equal(v->pairs, pairs);
		assert_int_equal(v->nlost, lost);
		assert_int_equal(v->without_sl, 0);
		assert_int_equal(v->without_vl, 0);
		assert_false(v->credit_loop);
		total += lost;
		dl_verify_result_free(v);
		dl_tables_free(t);
		dl_fabric_free(left);
		end(w);
		free(w);
	}
	assert_true(total > 0);
}

/* The other way round: what is new is not reached, all else is. */
static void what_is_new_is_not_reached(void **state)
{
	struct test_random r = { .seed = test_seed(6) };
	struct grid_fabric *g = calloc(2, sizeof(*g));
	struct dl_route_options o;
	struct dl_torus *torus;
	struct dl_route_result few;
	struct dl_tables *t;
	struct dl_verify_result *v;
	uint32_t p, port;

	(void)state;
	assert_non_null(g);
	g[0] = (struct grid_fabric){ .grid = { .radix = { 4, 4, 1 } }, .hosts = 1, .parallel = 1 };
	g[1] = g[0];
	g[0].dead_switch[1 + test_random(&r, 15)] = true;
	grid_build(&g[0]);
	grid_build(&g[1]);
	/* LIDs stay with their ports, new ones come after them. */
	for (p = 0; p < g[1].fabric->nports; p++)
		g[1].fabric->ports[p].lid = 0;
	for (p = 0; p < g[0].fabric->nports; p++) {
		const struct dl_fabric_port *old = &g[0].fabric->ports[p];
		uint32_t node =
			dl_fabric_find_guid(g[1].fabric, g[0].fabric->nodes[old->node].guid);

		port = g[1].fabric->nodes[node].first_port + old->num;
		g[1].fabric->ports[port].lid = old->lid;
	}
	assert_int_equal(dl_fabric_assign_lids(g[1].fabric, 0), 0);
	grid_seed(&g[0], g[0].dead_switch[1] ? 5 : 0, true);
	dl_route_options_init(&o);
	o.mode = DL_ROUTE_CLASSIC;
	assert_int_equal(dl_torus_discover(g[0].fabric, &g[0].config, NULL, &torus), 0);
	assert_int_equal(dl_route(torus, &g[0].config, &o, NULL, &few), 0);
	assert_int_equal(dl_tables_remap(few.tables, g[1].fabric, &t), 0);
	assert_int_equal(dl_verify(t, NULL, NULL, &v), 0);
	/* 15 switches with an adapter each, to and from the new two ports. */
	assert_int_equal(v->pairs, 32 * 31);
	assert_int_equal(v->nlost, 2 * 2 * 30 + 2);
	dl_verify_result_free(v);
	dl_tables_free(t);
	dl_route_result_release(&few);
	dl_torus_free(torus);
	grid_free(&g[0]);
	grid_free(&g[1]);
	free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_still_arrives),
		cmocka_unit_test(what_is_new_is_not_reached),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
