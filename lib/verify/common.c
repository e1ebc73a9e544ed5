/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What several mixtures of the same tables share.
 *
 * Problem.  Whoever judges a change of tables asks for many mixtures of two or
 * three sets: all at once, each phase, one moment after the other.  After a
 * failure these sets differ in a hundredth of their LIDs, and each question
 * costs a pass over all.
 *
 * Method.  What depends on what is a union over LIDs.  LIDs whose entries are
 * the same in all sets are counted once, when that is first asked for; each
 * mixture adds its own to that.  The fabric is laid out once, too, by the maps
 * and path SLs of the first set; a mixture that others decide has nothing in
 * common with these (dl_verify_common_fits()), and is checked by itself.
 *
 * Complexity: dl_verify()'s pass, once; one look at each entry of each set.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verify/internal.h"

/* ---- SL-to-VL maps ----------------------------------------------------- */

static bool same_row(const struct dl_tables *a, uint16_t x, const struct dl_tables *b, uint16_t y)
{
	if (x == DL_TABLES_NO_ROW || y == DL_TABLES_NO_ROW)
		return x == y;
	return a->rows[x] == b->rows[y];
}

static bool same_maps_at(const struct dl_tables *a, const struct dl_tables *b, uint32_t s)
{
	const struct dl_fabric *f = a->fabric;
	const struct dl_fabric_node *n = &f->nodes[f->switches[s]];

	for (unsigned int i = 0; i <= n->nports; i++) {
		uint32_t at = a->sl2vl_first[s] + i * (n->nports + 1u);

		for (unsigned int o = 1; o <= n->nports && dl_fabric_in_use(f, n, i); o++)
			if (dl_fabric_in_use(f, n, o) &&
			    !same_row(a, a->sl2vl[at + o], b, b->sl2vl[at + o]))
				return false;
	}
	return true;
}

static bool same_maps(const struct dl_tables *a, const struct dl_tables *b)
{
	const struct dl_fabric *f = a->fabric;

	for (uint32_t s = 0; s < f->nswitches; s++)
		if (!same_maps_at(a, b, s))
			return false;
	for (uint32_t p = 0; p < f->nports; p++)
		if (!same_row(a, a->end_sl2vl[p], b, b->end_sl2vl[p]))
			return false;
	return true;
}

/* ---- path SLs ---------------------------------------------------------- */

/* Classes may have other numbers, as they have when a switch has gone. */
static bool same_path_sls(const struct dl_tables *a, const struct dl_tables *b,
			  struct dl_verify_class *src, struct dl_verify_class *dst)
{
	const struct dl_fabric *f = a->fabric;
	uint32_t nsrc = 0, ndst = 0;
	bool same = true;

	for (uint32_t p = 0; p < f->nports; p++)
		if (dl_fabric_is_end_port(f, p) && f->ports[p].lid)
			src[nsrc++] = (struct dl_verify_class){ a->psl_src[p], b->psl_src[p], 1 };
	for (uint32_t lid = 1; lid <= a->top_lid; lid++)
		if (f->lid_port[lid] != DL_NONE)
			dst[ndst++] =
				(struct dl_verify_class){ a->psl_dst[lid], b->psl_dst[lid], 1 };
	nsrc = dl_verify_unite_classes(src, nsrc);
	ndst = dl_verify_unite_classes(dst, ndst);
	for (uint32_t i = 0; i < nsrc && same; i++)
		for (uint32_t k = 0; k < ndst; k++)
			same &= dl_verify_class_sl(a, src[i].now, dst[k].now) ==
				dl_verify_class_sl(b, src[i].before, dst[k].before);
	return same;
}

/* Without memory to compare: as if they differed. */
static bool fits_path_sls(const struct dl_tables *a, const struct dl_tables *b)
{
	struct dl_verify_class *src, *dst;
	bool same;

	if (!a->psl || !b->psl)
		return !a->psl == !b->psl;
	src = malloc((a->fabric->nports + 1) * sizeof(*src));
	dst = malloc((a->top_lid + 1) * sizeof(*dst));
	same = src && dst && same_path_sls(a, b, src, dst);
	free(src);
	free(dst);
	return same;
}

bool dl_verify_common_fits(const struct dl_verify_common *c, const struct dl_tables *t)
{
	const struct dl_tables *own = c->net.t;

	if (t->sl2vl == own->sl2vl && t->psl == own->psl && t->psl_dst == own->psl_dst)
		return true; /* the same, or a copy that shares them */
	return t->fabric == own->fabric && same_maps(t, own) && fits_path_sls(t, own) &&
	       dl_verify_net_levels(t, &c->options) == c->net.levels;
}

/* ---- all --------------------------------------------------------------- */

/* LIDs with entries that differ from the first set's; row by row, block by block. */
static void find_varied(struct dl_verify_common *c, const struct dl_tables *t)
{
	const struct dl_tables *own = c->net.t;

	for (uint32_t s = 0; s < c->net.nsw; s++) {
		const uint8_t *a = own->lft + s * (size_t)own->stride;
		const uint8_t *b = t->lft + s * (size_t)t->stride;

		for (uint32_t at = 0; at < t->stride; at += DL_VERIFY_BLOCK) {
			if (!memcmp(a + at, b + at, DL_VERIFY_BLOCK))
				continue;
			c->blocks[at / DL_VERIFY_BLOCK] = true;
			for (uint32_t lid = at; lid < at + DL_VERIFY_BLOCK && lid <= t->top_lid;
			     lid++)
				c->varied[lid] |= a[lid] != b[lid];
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
	c->varied = dl_arena_zalloc(&c->arena, t->top_lid + 1u);
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
	struct dl_verify_result v = { 0 };
	struct dl_verify_lost none;
	int err;

	if (c->counted)
		return 0;
	v.lost = &none;
	c->net.left_out = c->varied;
	c->net.rings = c->rings;
	err = dl_verify_unicast(&c->net, &v, 0, false);
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
