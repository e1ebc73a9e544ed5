/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Path SLs that were granted before.
 *
 * A connection keeps the SL of its path record for as long as it lives, so packets go by
 * new tables with SLs of the old ones.  Whoever has an SL by both sets may use either:
 * the dependencies of both are united.
 *
 * Complexity: dl_verify()'s pass over unicast, once more.
 */
#include <stdlib.h>

#include "verify/internal.h"

int dl_verify_add_granted(struct dl_verify_net *net, const struct dl_tables *before,
			  const struct dl_verify_options *o)
{
	struct dl_verify_net other;
	struct dl_tables both = *net->t;
	struct dl_arena arena = { 0 };
	size_t words = net->pair_first[net->nsw] * (size_t)net->words;
	int err;

	dl_verify_borrow_sls(&both, before);
	err = dl_verify_net_init(&other, &arena, &both, o);
	other.left_out = net->left_out;
	if (!err)
		err = dl_verify_unicast(&other, NULL, 0);
	for (size_t i = 0; i < words && !err; i++)
		net->deps[i] |= other.deps[i];
	dl_verify_net_release(&other);
	dl_arena_free(&arena);
	return err;
}

int dl_verify_granted(const struct dl_tables *t, const struct dl_tables *before, bool adapters_only,
		      bool *safe)
{
	struct dl_tables own = *t;
	struct dl_verify_options o;
	struct dl_cycle cycle = { 0 };
	struct dl_arena arena = { 0 };
	struct dl_verify_net net;
	int err = t->checked ? 0 : dl_tables_check(t, NULL);

	if (err)
		return err;
	if (!t->psl)
		dl_verify_borrow_sls(&own, before);
	dl_verify_options_init(&o);
	err = dl_verify_net_init(&net, &arena, &own, &o);
	if (!err)
		err = dl_verify_unicast(&net, NULL, 0);
	o.adapters_only = adapters_only;
	if (!err)
		err = dl_verify_add_granted(&net, before, &o);
	if (!err)
		err = dl_verify_multicast(&net, NULL, o.multicast_sls & net.alive, NULL, 0);
	if (!err)
		err = dl_verify_cycle(&net, &cycle);
	*safe = !err && !cycle.n;
	free(cycle.steps);
	dl_verify_net_release(&net);
	dl_arena_free(&arena);
	return err;
}
