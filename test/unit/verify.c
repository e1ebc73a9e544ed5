/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The proof against its reference model and against igraph, on random fabrics and
 * tables of all kinds.  DATELINE_SEED and DATELINE_WORLDS choose others.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#ifdef HAVE_IGRAPH
#include <igraph.h>
#endif

#include "dateline/verify.h"
#include "share.h"
#include "verify_model.h"
#include "verify_fixture.h"

#define FIXTURES 2500

/* What the random fixtures must have had among them to prove anything. */
struct tally {
	uint32_t verdicts[4], clean, lost, whole, groups_lost, by_multicast;
	uint32_t unknown_but_free, starved;
	uint32_t any, any_loops, some; /* SLs of all pairs given: all, some */
	uint32_t longest;
};

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

/* Is every step a dependency, and does its packet cause it? */
static void check_cycle(const struct model *w, const struct dl_verify_result *v,
			struct tally *tally)
{
	for (uint32_t i = 0; i < v->cycle.n; i++) {
		const struct dl_cycle_step *step = &v->cycle.steps[i];
		const struct dl_cycle_step *next = &v->cycle.steps[(i + 1) % v->cycle.n];
		uint32_t a = model_channel(w, step->port, step->vl);
		uint32_t b = model_channel(w, next->port, next->vl);

		assert_true(model_edge(w, a, b));
		assert_int_not_equal(step->src, DL_NONE);
		assert_int_not_equal(step->dlid, 0);
		if (step->dlid >= DL_TABLES_MCAST_LID) {
			tally->by_multicast++;
			assert_true(w->multicast_sls >> step->sl & 1);
		} else {
			assert_true(model_sls(w, step->src, step->dlid) >> step->sl & 1);
		}
		assert_true(model_takes(w, step->src, step->dlid, step->sl, a, b));
	}
}

/* The listed failures: each is one, and the list is full or complete. */
static void check_list(const struct dl_verify_result *v, uint32_t max)
{
	uint32_t unicast = 0;

	for (uint32_t i = 0; i < v->nlisted; i++) {
		assert_int_not_equal(v->lost[i].src, DL_NONE);
		unicast += v->lost[i].dlid < DL_TABLES_MCAST_LID;
	}
	assert_int_equal(unicast, v->nlost < max ? v->nlost : max);
}

#ifdef HAVE_IGRAPH
static void check_igraph(const struct model *w)
{
	igraph_vector_int_t ends;
	igraph_bool_t dag;
	igraph_t graph;

	igraph_vector_int_init(&ends, 0);
	for (uint32_t a = 0; a < w->n; a++) {
		for (uint32_t b = 0; b < w->n; b++) {
			if (!model_edge(w, a, b))
				continue;
			igraph_vector_int_push_back(&ends, a);
			igraph_vector_int_push_back(&ends, b);
		}
	}
	igraph_create(&graph, &ends, w->n, IGRAPH_DIRECTED);
	igraph_is_dag(&graph, &dag);
	assert_int_equal(dag, !w->cyclic);
	igraph_destroy(&graph);
	igraph_vector_int_destroy(&ends);
}
#else
static void check_igraph(const struct model *w)
{
	(void)w;
}
#endif

/* Ports in rising order, and each one's VLs. */
static void check_starved(const struct model *w, const struct dl_verify_result *v)
{
	uint32_t n = 0;

	for (uint32_t p = 0; p < w->t->fabric->nports; p++)
		for (unsigned int vls = model_starved(w, p); vls; vls &= vls - 1, n++) {
			assert_true(n < v->nstarved);
			assert_int_equal(v->starved[n].port, p);
			assert_int_equal(v->starved[n].vl, __builtin_ctz(vls));
		}
	assert_int_equal(v->nstarved, n);
}

static void check_fixture(const struct fixture *fixture, struct tally *tally)
{
	struct dl_verify_options o;
	struct model w = { .t = fixture->tables };
	struct dl_verify_result *v;

	dl_verify_options_init(&o);
	o.sls = fixture->sls;
	o.multicast_sls = fixture->multicast_sls;
	o.levels = fixture->levels;
	o.adapters_only = fixture->adapters_only;
	assert_int_equal(dl_verify(fixture->tables, &o, NULL, &v), 0);
	w.sls = o.sls;
	w.multicast_sls = o.multicast_sls;
	w.levels = v->levels;
	w.adapters_only = o.adapters_only;
	model_make(&w);

	assert_int_equal(v->pairs, w.pairs);
	assert_int_equal(v->nlost, w.lost);
	assert_int_equal(v->groups, fixture->tables->ngroups);
	assert_int_equal(v->groups_lost, w.groups_lost);
	assert_int_equal(v->delivered, !w.lost && !w.groups_lost);
	assert_int_equal(v->channels, w.channels);
	assert_int_equal(v->dependencies, w.edges);
	assert_int_equal(v->verdict, w.verdict);
	assert_int_equal(v->credit_loop, w.verdict == DL_VERIFY_LOOP);
	assert_int_equal(v->without_sl, w.without_sl);
	assert_int_equal(v->without_vl, w.without_vl);
	assert_int_equal(v->cycle.n, w.shortest);
	check_cycle(&w, v, tally);
	check_list(v, o.max_listed);
	check_starved(&w, v);
	check_igraph(&w);

	tally->verdicts[v->verdict]++;
	tally->clean += v->verdict == DL_VERIFY_FREE && v->dependencies;
	tally->any += o.sls == DL_VERIFY_ANY_SL && fixture->tables->psl;
	tally->any_loops += o.sls == DL_VERIFY_ANY_SL && fixture->tables->psl && v->credit_loop;
	tally->some += o.sls && o.sls != DL_VERIFY_ANY_SL;
	tally->unknown_but_free += v->verdict == DL_VERIFY_FREE && v->dependencies &&
				   (v->without_vl || (!v->sls && (!v->sl_known || v->without_sl)));
	tally->lost += v->nlost != 0;
	tally->starved += v->nstarved != 0;
	tally->whole += v->delivered && v->pairs;
	tally->groups_lost += v->groups_lost;
	if (v->cycle.n > tally->longest)
		tally->longest = v->cycle.n;
	model_free(&w);
	dl_verify_result_free(v);
}

static void agrees_with_models(void **state)
{
	uint64_t seed = from_environment("DATELINE_SEED", 1);
	uint32_t fixtures = from_environment("DATELINE_WORLDS", share(FIXTURES));
	uint64_t *current = *state;
	struct tally tally = { 0 };

	for (uint32_t i = 0; i < fixtures; i++) {
		struct draw d = { .seed = seed + i };
		struct fixture fixture;

		fixture_make(&d, &fixture);
		*current = d.seed;
		check_fixture(&fixture, &tally);
		fixture_free(&fixture);
	}
	print_message("%u loops, %u possible, %u not judged, %u free though something was unknown; "
		      "up to %u channels long; %u clean; %u with "
		      "packets lost; %u deliver all; %u groups broken; %u "
		      "steps by multicast\n",
		      tally.verdicts[DL_VERIFY_LOOP], tally.verdicts[DL_VERIFY_POSSIBLE],
		      tally.verdicts[DL_VERIFY_NOT_JUDGED], tally.unknown_but_free, tally.longest,
		      tally.clean, tally.lost, tally.whole, tally.groups_lost, tally.by_multicast);
	if (fixtures < FIXTURES)
		return;
	assert_true(tally.verdicts[DL_VERIFY_LOOP] > fixtures / 10);
	assert_true(tally.verdicts[DL_VERIFY_POSSIBLE] > fixtures / 50);
	assert_true(tally.verdicts[DL_VERIFY_NOT_JUDGED] > fixtures / 50);
	assert_true(tally.unknown_but_free > fixtures / 50);
	assert_true(tally.clean > fixtures / 10);
	assert_true(tally.lost > fixtures / 10);
	assert_true(tally.starved > fixtures / 10);
	assert_true(fixtures - tally.starved > fixtures / 50);
	assert_true(tally.whole > fixtures / 10);
	assert_true(tally.groups_lost > fixtures / 20);
	assert_true(tally.by_multicast > fixtures / 20);
	assert_true(tally.any > fixtures / 10);
	assert_true(tally.any_loops > fixtures / 50);
	assert_true(tally.any - tally.any_loops > fixtures / 50);
	assert_true(tally.some > fixtures / 40);
}

/* Pair by pair; both are tables of the same ports. */
static void check_changes(const struct dl_tables *now, const struct dl_tables *before,
			  const struct dl_verify_result *v)
{
	const struct dl_fabric *f = now->fabric;
	uint64_t compared = 0, changes = 0;

	for (uint32_t s = 0; s < f->nports; s++) {
		for (uint32_t lid = 1; lid <= f->top_lid; lid++) {
			unsigned int is, was;

			if (s == f->lid_port[lid] || f->lid_port[lid] == DL_NONE ||
			    !dl_fabric_is_end_port(f, s) || !f->ports[s].lid)
				continue;
			is = dl_tables_path_sl(now, s, lid);
			was = dl_tables_path_sl(before, s, lid);
			compared += is != DL_TABLES_NO_SL && was != DL_TABLES_NO_SL;
			changes += is != DL_TABLES_NO_SL && was != DL_TABLES_NO_SL && is != was;
		}
	}
	assert_int_equal(v->sl_compared, compared);
	assert_int_equal(v->sl_changes, changes);
}

/* Path SLs before and now: the same pairs by GUID, whatever the LIDs. */
static void notices_changed_sls(void **state)
{
	uint64_t *current = *state;
	uint32_t changed = 0;

	for (uint32_t i = 0; i < share(200); i++) {
		struct draw d = { .seed = *current = i };
		struct dl_verify_options o;
		struct fixture before, now;
		struct dl_verify_result *v;

		dl_verify_options_init(&o);
		fixture_make(&d, &before);
		d = (struct draw){ .seed = i };
		fixture_make(&d, &now);
		o.earlier = before.tables;
		assert_int_equal(dl_verify(now.tables, &o, NULL, &v), 0);
		assert_true(v->sl_stable);
		assert_int_equal(v->sl_changes, 0);
		dl_verify_result_free(v);
		if (now.tables->psl) {
			/* One class of sources, all of its SLs. */
			for (uint32_t k = 0; k < now.tables->npsl_dst; k++)
				if (now.tables->psl[k] != DL_TABLES_NO_SL)
					now.tables->psl[k] ^= 1;
			assert_int_equal(dl_verify(now.tables, &o, NULL, &v), 0);
			assert_int_equal(v->sl_stable, !v->sl_changes);
			check_changes(now.tables, before.tables, v);
			changed += !v->sl_stable;
			dl_verify_result_free(v);
		}
		fixture_free(&before);
		fixture_free(&now);
	}
	assert_true(changed > share(50));
}

/* A failed assertion leaves the test at once: say which fixture it was. */
static int print_seed(void **state)
{
	const uint64_t *current = *state;

	print_message("last seed: %llu\n", (unsigned long long)*current);
	return 0;
}

int main(void)
{
	uint64_t current = 0;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate_setup_teardown(agrees_with_models, NULL, print_seed,
							 &current),
		cmocka_unit_test_prestate_setup_teardown(notices_changed_sls, NULL, print_seed,
							 &current),
	};

	return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}
