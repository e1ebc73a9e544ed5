/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What several mixtures of the same tables share.
 *
 * Problem.  Checking a change of tables needs many mixtures of two or three sets:
 * all of them together, each phase, one moment after another.  After a failure these
 * sets differ in a hundredth of their LIDs, and each check is a pass over all LIDs.
 *
 * Method.  Dependencies are a union over LIDs.  LIDs whose entries are the same in
 * all sets are counted once, when they are first needed; each mixture adds its own
 * LIDs.  The fabric is also laid out only once, by the maps and path SLs of the first
 * set; a mixture with other maps or path SLs shares nothing with these
 * (dl_verify_common_fits()) and is checked by itself.
 *
 * Complexity: dl_verify()'s pass, once; one look at each entry of each set.
 */
#include <errno.h>
#include <stdlib.h>

#include "verify/internal.h"

bool dl_verify_common_fits(const struct dl_verify_common *c, const struct dl_tables *t)
{
	const struct dl_tables *own = c->net.t;

	if (t->sl2vl == own->sl2vl && t->psl == own->psl && t->psl_dst == own->psl_dst)
		return true; /* the same, or a copy that shares them */
	return t->fabric == own->fabric && dl_tables_same_vls(t, own) &&
	       dl_verify_net_levels(t, &c->options) == c->net.levels;
}

/* ---- all --------------------------------------------------------------- */

/* LIDs with entries that differ from the first set's; row by row, block by block. */
static void find_varied(struct dl_verify_common *c, const struct dl_tables *t)
{
	for (uint32_t s = 0; s < c->net.nsw; s++) {
		for (uint32_t lid = dl_tables_next_change(c->net.t, t, s, 0);
		     lid < c->net.t->stride; lid = dl_tables_next_change(c->net.t, t, s, lid + 1)) {
			c->blocks[lid / DL_VERIFY_BLOCK] = true;
			c->varied[lid] = true;
		}
	}
}

int dl_verify_common_new(const struct dl_tables *const *tables, unsigned int n,
			 const struct dl_verify_options *o, const struct dl_log *log,
			 struct dl_verify_common **out)
{
	const struct dl_tables *t = tables[0];
	struct dl_verify_common *c = calloc(1, sizeof(*c));
	int err = c ? 0 : -ENOMEM;

	for (unsigned int i = 0; i < n && !err; i++)
		err = tables[i]->checked ? 0 : dl_tables_check(tables[i], NULL);
	if (err)
		goto fail;
	dl_verify_options_init(&c->options);
	if (o)
		c->options = *o;
	err = dl_verify_net_init(&c->net, &c->arena, t, &c->options);
	if (err)
		goto fail;
	c->net.log = log;
	if (!t->psl && !c->net.sls)
		c->net.sls = dl_verify_net_distinct(&c->net, c->net.alive);
	c->varied = dl_arena_zalloc(&c->arena, t->stride);
	c->blocks = dl_arena_zalloc(&c->arena, t->top_lid / DL_VERIFY_BLOCK + 1u);
	c->rings = dl_arena_zalloc(&c->arena, t->top_lid + 1u);
	err = c->varied && c->blocks && c->rings ? 0 : -ENOMEM;
	for (unsigned int i = 1; i < n && !err; i++)
		find_varied(c, tables[i]);
	if (!err) {
		*out = c;
		return 0;
	}
fail:
	dl_verify_common_free(c);
	return err;
}

int dl_verify_common_count(struct dl_verify_common *c)
{
	int err;

	if (c->counted)
		return 0;
	c->net.left_out = c->varied;
	c->net.rings = c->rings;
	err = dl_verify_unicast(&c->net, NULL, 0);
	c->counted = !err;
	return err;
}

void dl_verify_common_free(struct dl_verify_common *c)
{
	if (!c)
		return;
	dl_verify_net_release(&c->net);
	dl_arena_free(&c->arena);
	free(c);
}
