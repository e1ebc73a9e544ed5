/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How many switches of a set a packet can pass, against a model that follows every
 * packet from every switch, and every group from every switch along every branch.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "dateline/transition.h"
#include "draw.h"
#include "routed.h"

#define ROUNDS 40
#define NEVER_MORE 64 /* switches of a path */

/* Without end, a path is as long as the longest that can have one. */
static uint32_t follow(const struct dl_tables *t, const bool *counted, uint32_t s, uint16_t lid)
{
	uint32_t n = 0;

	for (uint32_t hops = 0; s != DL_NONE && hops < NEVER_MORE; hops++) {
		const struct dl_fabric_node *node = dl_fabric_switch_node(t->fabric, s);
		unsigned int port = dl_tables_lft(t, s, lid);

		n += !counted || counted[s];
		s = port && port <= node->nports ?
			    dl_fabric_peer_switch(t->fabric, node->first_port + port) :
			    DL_NONE;
	}
	return n;
}

static uint32_t spread(const struct dl_tables *t, const bool *counted, uint32_t s, unsigned int in)
{
	const struct dl_fabric_node *node = dl_fabric_switch_node(t->fabric, s);
	uint32_t most = 0;

	for (unsigned int o = 1; o <= node->nports; o++) {
		uint32_t port = node->first_port + o, next, n;

		next = o != in && dl_tables_mask_get(&t->groups[0].masks, s, o) ?
			       dl_fabric_peer_switch(t->fabric, port) :
			       DL_NONE;
		if (next == DL_NONE)
			continue;
		n = spread(t, counted, next, t->fabric->ports[t->fabric->ports[port].peer].num);
		most = n > most ? n : most;
	}
	return most + (!counted || counted[s]);
}

static uint32_t model(const struct dl_tables *t, const bool *lids, const bool *counted)
{
	uint32_t most = 0, n;

	for (uint32_t s = 0; s < t->fabric->nswitches; s++) {
		for (uint32_t lid = 1; lid <= t->fabric->top_lid; lid++) {
			n = t->fabric->lid_port[lid] != DL_NONE && (!lids || lids[lid]) ?
				    follow(t, counted, s, lid) :
				    0;
			most = n > most ? n : most;
		}
		n = t->ngroups ? spread(t, counted, s, 0) : 0;
		most = n > most ? n : most;
	}
	return most;
}

static bool *draw_set(struct draw *d, uint32_t n)
{
	bool *set = calloc(n + 1ul, sizeof(*set));
	uint32_t of = 1 + draw_below(d, 6);

	assert_non_null(set);
	for (uint32_t i = 0; i < n; i++)
		set[i] = draw_one_in(d, of);
	return set;
}

static void counts_as_the_model(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct draw d = { .seed = i + 1 };
		struct routed r = {
			.g = { .grid = routed_shapes[i % ROUTED_SHAPES], .hosts = 1, .parallel = 1 }
		};
		bool *counted, *lids;
		uint32_t hops;

		routed_make(&r);
		assert_int_equal(r.err, 0);
		if (draw_one_in(&d, 2))
			assert_int_equal(dl_route_tree_group_all(r.out.tree, r.tables), 0);
		counted = draw_set(&d, r.g.fabric->nswitches);
		lids = draw_set(&d, r.g.fabric->top_lid + 1u);
		for (unsigned int k = 0; k < 4; k++) {
			const bool *l = k & 1 ? lids : NULL, *c = k & 2 ? counted : NULL;

			assert_int_equal(dl_transition_longest(r.tables, l, c, &hops), 0);
			assert_int_equal(hops, model(r.tables, l, c));
		}
		free(counted);
		free(lids);
		routed_release(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_as_the_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
