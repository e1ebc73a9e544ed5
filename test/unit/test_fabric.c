/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Building and indexing fabrics: what is refused, and the indices and LIDs
 * against reference models that search everything.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fabric_text.h"

static struct dl_fabric *new_fabric(void)
{
	struct dl_fabric *f;

	assert_int_equal(dl_fabric_new(&f), 0);
	return f;
}

static uint32_t add(struct dl_fabric *f, enum dl_fabric_node_type type, unsigned int nports,
		    uint64_t guid, const char *id)
{
	uint32_t node;

	assert_int_equal(dl_fabric_add_node(f, type, nports, guid, id, &node), 0);
	return node;
}

static uint32_t port(const struct dl_fabric *f, uint32_t node, unsigned int num)
{
	return f->nodes[node].first_port + num;
}

static void test_empty(void **state)
{
	struct dl_fabric *f = new_fabric();

	(void)state;
	assert_int_equal(dl_fabric_finish(f, NULL), 0);
	assert_int_equal(dl_fabric_assign_lids(f, 0), 0);
	assert_int_equal(f->nnodes, 0);
	assert_int_equal(f->top_lid, 0);
	assert_int_equal(dl_fabric_find_guid(f, 1), DL_NONE);
	dl_fabric_free(f);
	dl_fabric_free(NULL);
}

static void test_add(void **state)
{
	struct dl_fabric *f = new_fabric();
	uint32_t a, b;

	(void)state;
	assert_int_equal(dl_fabric_add_node(f, DL_FABRIC_CA, 0, 1, "x", NULL), -EINVAL);
	assert_int_equal(dl_fabric_add_node(f, DL_FABRIC_CA, 255, 1, "x", NULL), -EINVAL);
	a = add(f, DL_FABRIC_SWITCH, 254, 7, "a");
	b = add(f, DL_FABRIC_CA, 1, 8, "");
	assert_int_equal(dl_fabric_set_desc(f, a, "the first"), 0);
	assert_string_equal(dl_fabric_node_id(f, a), "a");
	assert_string_equal(dl_fabric_node_name(f, a), "the first");
	assert_string_equal(dl_fabric_node_name(f, b), "");
	assert_int_equal(f->nodes[b].first_port, 255);
	assert_int_equal(f->ports[port(f, b, 1)].node, b);
	assert_int_equal(f->ports[port(f, b, 1)].num, 1);
	assert_true(dl_fabric_is_end_port(f, port(f, a, 0)));
	assert_false(dl_fabric_is_end_port(f, port(f, a, 1)));
	assert_true(dl_fabric_is_end_port(f, port(f, b, 1)));
	assert_false(dl_fabric_is_end_port(f, port(f, b, 0)));
	dl_fabric_free(f);
}

static void test_connect(void **state)
{
	struct dl_fabric *f = new_fabric();
	uint32_t a = add(f, DL_FABRIC_SWITCH, 4, 1, "a");
	uint32_t b = add(f, DL_FABRIC_SWITCH, 4, 2, "b");
	uint32_t h = add(f, DL_FABRIC_CA, 2, 3, "h");

	(void)state;
	assert_int_equal(dl_fabric_connect(f, port(f, a, 1), port(f, b, 2)), 0);
	assert_int_equal(dl_fabric_connect(f, port(f, b, 2), port(f, a, 1)), 0);
	assert_int_equal(dl_fabric_connect(f, port(f, a, 1), port(f, b, 3)), -EBUSY);
	assert_int_equal(dl_fabric_connect(f, port(f, b, 3), port(f, a, 1)), -EBUSY);
	assert_int_equal(dl_fabric_connect(f, port(f, a, 2), port(f, a, 2)), -EINVAL);
	assert_int_equal(dl_fabric_connect(f, port(f, a, 0), port(f, b, 3)), -EINVAL);
	assert_int_equal(dl_fabric_connect(f, port(f, b, 3), port(f, h, 0)), -EINVAL);
	assert_int_equal(dl_fabric_connect(f, port(f, a, 2), f->nports), -EINVAL);
	/* A cable between two ports of one node is one. */
	assert_int_equal(dl_fabric_connect(f, port(f, a, 3), port(f, a, 4)), 0);
	assert_int_equal(dl_fabric_connect(f, port(f, b, 4), port(f, h, 2)), 0);
	assert_int_equal(f->ports[port(f, b, 3)].peer, DL_NONE);
	assert_int_equal(dl_fabric_peer_node(f, port(f, a, 1)), b);
	assert_int_equal(dl_fabric_peer_node(f, port(f, a, 2)), DL_NONE);

	assert_int_equal(dl_fabric_finish(f, NULL), 0);
	assert_int_equal(dl_fabric_access_switch(f, port(f, b, 0)), 1);
	assert_int_equal(dl_fabric_access_switch(f, port(f, h, 2)), 1);
	assert_int_equal(dl_fabric_access_switch(f, port(f, h, 1)), DL_NONE);
	dl_fabric_free(f);
}

static void test_clashes(void **state)
{
	struct dl_fabric *f = new_fabric();
	struct heard h;
	uint32_t a, b;

	(void)state;
	a = add(f, DL_FABRIC_SWITCH, 4, 0x42, "a");
	b = add(f, DL_FABRIC_SWITCH, 4, 0x42, "b");
	add(f, DL_FABRIC_CA, 1, 0, "none");
	add(f, DL_FABRIC_CA, 1, 0, "none either");
	heard_init(&h);
	assert_int_equal(dl_fabric_finish(f, &h.log), -EINVAL);
	assert_string_equal(h.error, "GUID 0x0000000000000042 belongs to both "
				     "\"a\" and \"b\"");
	f->nodes[b].guid = 0x43;
	f->ports[port(f, a, 0)].lid = 8;
	f->ports[port(f, a, 0)].lmc = 2;
	f->ports[port(f, b, 0)].lid = 11;
	heard_init(&h);
	assert_int_equal(dl_fabric_finish(f, &h.log), 0);
	assert_string_equal(
		h.warning,
		"\"a\" (node GUID 0x0000000000000042) port 0 claims LID 8 with LMC 2, "
		"where LID 11 is that of \"b\" (node GUID 0x0000000000000043) port 0: left "
		"without a LID");
	assert_int_equal(f->ports[port(f, a, 0)].lid, 0);
	assert_int_equal(f->ports[port(f, a, 0)].lmc, 0);
	assert_int_equal(f->ports[port(f, b, 0)].lid, 11);
	/* None is said so; it is no contradiction. */
	f->ports[port(f, a, 0)].lid = 65535;
	heard_init(&h);
	assert_int_equal(dl_fabric_finish(f, &h.log), 0);
	assert_int_equal(h.warnings, 0);
	assert_int_equal(f->ports[port(f, a, 0)].lid, 0);
	f->ports[port(f, b, 0)].lid = DL_FABRIC_MAX_LID;
	f->ports[port(f, b, 0)].lmc = 1;
	heard_init(&h);
	assert_int_equal(dl_fabric_finish(f, &h.log), 0);
	assert_non_null(strstr(h.warning,
			       "claims LID 49151 with LMC 1, where unicast LIDs are 1 to "
			       "49151: left without a LID"));
	f->ports[port(f, a, 0)].lid = 8;
	f->ports[port(f, a, 0)].lmc = 2;
	f->ports[port(f, b, 0)].lid = DL_FABRIC_MAX_LID;
	f->ports[port(f, b, 0)].lmc = 0;
	/* A LID where none belongs is nobody's. */
	f->ports[port(f, b, 1)].lid = 8;
	assert_int_equal(dl_fabric_finish(f, NULL), 0);
	assert_int_equal(f->top_lid, DL_FABRIC_MAX_LID);
	assert_int_equal(f->lid_port[11], port(f, a, 0));
	assert_int_equal(f->lid_port[12], DL_NONE);
	assert_int_equal(f->lid_port[DL_FABRIC_MAX_LID], port(f, b, 0));
	assert_int_equal(dl_fabric_assign_lids(f, 8), -EINVAL);
	dl_fabric_free(f);
}

/* ---- reference models -------------------------------------------------- */

static uint32_t model_find_guid(const struct dl_fabric *f, uint64_t guid)
{
	uint32_t i;

	for (i = 0; i < f->nnodes; i++) {
		if (guid && f->nodes[i].guid == guid)
			return i;
	}
	return DL_NONE;
}

/* Who has this LID? */
static uint32_t model_lid_port(const struct dl_fabric *f, uint32_t lid)
{
	uint32_t i;

	for (i = 0; i < f->nports; i++) {
		const struct dl_fabric_port *p = &f->ports[i];

		if (p->lid && dl_fabric_is_end_port(f, i) && lid >= p->lid &&
		    lid < p->lid + (1u << p->lmc))
			return i;
	}
	return DL_NONE;
}

static void model_assign_lids(struct dl_fabric *f, unsigned int lmc)
{
	uint32_t i, n, base, lid;

	for (i = 0; i < f->nports; i++) {
		struct dl_fabric_port *p = &f->ports[i];
		bool sw = dl_fabric_is_switch(f, p->node);

		if (!dl_fabric_is_end_port(f, i) || p->lid)
			continue;
		if (!sw && p->peer == DL_NONE)
			continue;
		n = sw ? 1 : 1u << lmc;
		for (base = n;; base += n) {
			for (lid = base; lid < base + n; lid++) {
				if (model_lid_port(f, lid) != DL_NONE)
					break;
			}
			if (lid == base + n)
				break;
		}
		p->lid = base;
		p->lmc = sw ? 0 : lmc;
	}
}

/* The same for the same random numbers. */
static struct dl_fabric *random_fabric(struct test_random *r)
{
	struct dl_fabric *f = new_fabric();
	uint32_t n = 1 + test_random(r, 40), i, lid = 1;

	for (i = 0; i < n; i++) {
		enum dl_fabric_node_type type = 1 + test_random(r, 3);
		uint64_t guid = (uint64_t)test_random(r, 1u << 20) << 8 | i;

		add(f, type, 1 + test_random(r, 6), test_random(r, 5) ? guid : 0, "n");
	}
	for (i = 0; i < 2 * n; i++)
		dl_fabric_connect(f, test_random(r, f->nports), test_random(r, f->nports));
	for (i = 0; i < f->nports; i++) {
		if (!dl_fabric_is_end_port(f, i) || test_random(r, 3))
			continue;
		lid += test_random(r, 10);
		f->ports[i].lid = lid;
		f->ports[i].lmc = test_random(r, 3);
		lid += 1u << f->ports[i].lmc;
	}
	return f;
}

static void test_models(void **state)
{
	struct test_random r = { .seed = text_seed(1) }, s;
	unsigned int round, lmc;
	struct dl_fabric *f, *g;
	uint32_t i, sw;

	(void)state;
	for (round = 0; round < 500; round++) {
		s = r;
		f = random_fabric(&r);
		g = random_fabric(&s);
		assert_int_equal(dl_fabric_finish(f, NULL), 0);
		lmc = test_random(&r, 4);
		if (test_random(&r, 4)) {
			assert_int_equal(dl_fabric_assign_lids(f, lmc), 0);
			model_assign_lids(g, lmc);
		}
		for (i = 0; i < f->nports; i++) {
			assert_int_equal(f->ports[i].lid, g->ports[i].lid);
			assert_int_equal(f->ports[i].lmc, g->ports[i].lmc);
		}
		for (i = 0; i <= f->top_lid; i++)
			assert_int_equal(f->lid_port[i], model_lid_port(f, i));
		assert_int_equal(model_lid_port(f, f->top_lid + 1), DL_NONE);
		assert_true(!f->top_lid || f->lid_port[f->top_lid] != DL_NONE);
		for (i = 0; i < f->nnodes; i++) {
			uint64_t guid = f->nodes[i].guid;

			assert_int_equal(dl_fabric_find_guid(f, guid), model_find_guid(f, guid));
			assert_int_equal(dl_fabric_find_guid(f, guid + 256),
					 model_find_guid(f, guid + 256));
		}
		for (i = sw = 0; i < f->nnodes; i++) {
			if (!dl_fabric_is_switch(f, i)) {
				assert_int_equal(f->nodes[i].sw, DL_NONE);
				continue;
			}
			assert_int_equal(f->nodes[i].sw, sw);
			assert_int_equal(f->switches[sw++], i);
		}
		assert_int_equal(f->nswitches, sw);
		dl_fabric_free(f);
		dl_fabric_free(g);
	}
}

/* Ports that a switch keeps in the fabric: its own, and those of adapters. */
static uint32_t model_ends(const struct dl_fabric *f, uint32_t node)
{
	uint32_t n = 1;

	for (uint32_t i = 0; i < f->nports; i++)
		n += f->ports[i].node == node && f->ports[i].peer != DL_NONE &&
		     !dl_fabric_is_switch(f, f->ports[f->ports[i].peer].node);
	return n;
}

/* The end ports that are lost if all LIDs are below this one. */
static uint32_t model_cost(const struct dl_fabric *f, uint32_t limit)
{
	uint32_t cost = 0;

	for (uint32_t i = 0; i < f->nports; i++) {
		const struct dl_fabric_port *p = &f->ports[i];

		cost += p->lid && dl_fabric_is_end_port(f, i) && p->lid + (1u << p->lmc) > limit;
	}
	for (uint32_t i = 0; i < f->nnodes; i++)
		if (f->nodes[i].lft_cap && f->nodes[i].lft_cap < limit)
			cost += model_ends(f, i);
	return cost;
}

/* LIDs end where most switches' forwarding tables do. */
static void test_short_tables(void **state)
{
	struct test_random r = { .seed = text_seed(2) }, s;
	unsigned int kept = 0, lost = 0;

	(void)state;
	for (unsigned int round = 0; round < 200; round++) {
		struct dl_fabric *f, *g;
		uint32_t cap, best = 0, limit = 1;

		s = r;
		f = random_fabric(&r);
		g = random_fabric(&s);
		assert_int_equal(dl_fabric_finish(g, NULL), 0);
		cap = test_random(&r, g->top_lid + 4u) + 1;
		for (uint32_t i = 0; i < f->nnodes; i++)
			if (dl_fabric_is_switch(f, i) && test_random(&r, 8))
				f->nodes[i].lft_cap = test_random(&r, 6) ?
							      cap :
							      test_random(&r, g->top_lid + 4u) + 1;
		for (uint32_t l = 1; l <= g->top_lid + 1u; l++)
			if (l == 1 || model_cost(f, l) <= best) {
				best = model_cost(f, l);
				limit = l;
			}
		assert_int_equal(dl_fabric_finish(f, NULL), 0);
		for (uint32_t i = 0; i < f->nports; i++) {
			bool keeps = g->ports[i].lid + (1u << g->ports[i].lmc) <= limit;

			if (!g->ports[i].lid || !dl_fabric_is_end_port(f, i))
				continue;
			assert_int_equal(f->ports[i].lid, keeps ? g->ports[i].lid : 0);
			kept += keeps;
			lost += !keeps;
		}
		dl_fabric_free(f);
		dl_fabric_free(g);
	}
	assert_true(kept && lost);
}

/* Every cable between switches twice, nothing else, in order of ports. */
static void assert_links(const struct dl_fabric *f)
{
	struct dl_fabric_links l;
	uint32_t n = 0;

	assert_int_equal(dl_fabric_links_init(&l, f), 0);
	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *node = &f->nodes[f->switches[s]];

		assert_int_equal(l.first[s], n);
		for (unsigned int o = 0; o <= node->nports; o++) {
			uint32_t p = node->first_port + o;
			uint32_t peer = f->ports[p].peer;
			const struct dl_fabric_link *link = &l.link[n];

			if (peer == DL_NONE || !dl_fabric_is_switch(f, f->ports[peer].node)) {
				assert_int_equal(l.of_port[p], DL_NONE);
				continue;
			}
			assert_int_equal(l.of_port[p], n++);
			assert_int_equal(link->port, p);
			assert_int_equal(link->from, s);
			assert_int_equal(link->out, o);
			assert_int_equal(f->switches[link->to], f->ports[peer].node);
			assert_int_equal(link->in, f->ports[peer].num);
			assert_int_equal(l.link[link->back].port, peer);
			assert_int_equal(l.link[link->back].back, n - 1);
		}
	}
	assert_int_equal(l.first[f->nswitches], n);
	assert_int_equal(l.n, n);
	dl_fabric_links_release(&l);
}

static void test_links(void **state)
{
	struct test_random r = { .seed = text_seed(1) };

	(void)state;
	for (unsigned int round = 0; round < 500; round++) {
		struct dl_fabric *f = random_fabric(&r);

		assert_int_equal(dl_fabric_finish(f, NULL), 0);
		assert_links(f);
		dl_fabric_free(f);
	}
}

/* Adapters in pairs, so that each has a cable. */
static struct dl_fabric *pairs(uint32_t n)
{
	struct dl_fabric *f = new_fabric();
	uint32_t i, node;

	for (i = 0; i < n; i++) {
		node = add(f, DL_FABRIC_CA, 1, i + 1, "an adapter");
		if (i % 2)
			assert_int_equal(
				dl_fabric_connect(f, port(f, node - 1, 1), port(f, node, 1)), 0);
	}
	assert_int_equal(dl_fabric_finish(f, NULL), 0);
	return f;
}

static void test_full(void **state)
{
	struct dl_fabric *f = pairs(49152);
	uint32_t i;

	(void)state;
	/* One LID too few: nothing is touched. */
	assert_int_equal(dl_fabric_assign_lids(f, 0), -ENOSPC);
	assert_int_equal(f->top_lid, 0);
	for (i = 0; i < f->nports; i++)
		assert_int_equal(f->ports[i].lid, 0);
	dl_fabric_free(f);

	/* LMC 7 leaves 383 ranges of 128. */
	f = pairs(384);
	assert_int_equal(dl_fabric_assign_lids(f, 7), -ENOSPC);
	dl_fabric_free(f);
	f = pairs(382);
	assert_int_equal(dl_fabric_assign_lids(f, 7), 0);
	assert_int_equal(f->top_lid, 383 * 128 - 1);
	dl_fabric_free(f);

	f = pairs(49150);
	assert_int_equal(dl_fabric_assign_lids(f, 0), 0);
	assert_int_equal(f->top_lid, 49150);
	assert_int_equal(dl_fabric_find_guid(f, 49150), 49149);
	dl_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),	cmocka_unit_test(test_add),
		cmocka_unit_test(test_connect), cmocka_unit_test(test_clashes),
		cmocka_unit_test(test_models),	cmocka_unit_test(test_full),
		cmocka_unit_test(test_links),	cmocka_unit_test(test_short_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
