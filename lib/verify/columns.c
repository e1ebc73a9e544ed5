/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The tables by destination.
 *
 * Problem.  Forwarding tables and path SLs are stored a row per switch or
 * source; the check goes destination by destination.  Reading a column of
 * 4096 rows touches as many cache lines and pages for one byte each.
 *
 * Method.  Columns are gathered in blocks of LIDs that share an access switch
 * or have neighbouring ones, and whose bytes mostly share cache lines.  In
 * memory, columns stand an odd number of cache lines apart: the same place in
 * all of them is written together and must not fall into one set of the cache.
 *
 * Complexity: one load and one store per switch, or source, and LID.
 */
#include <errno.h>

#include "verify/internal.h"

#define CACHE_LINE 64
#define AHEAD 16 /* rows that are fetched before they are read */

/* The access switch of a LID's owner; nsw: none; DL_NONE: no such LID. */
static uint32_t bucket_of(const struct dl_verify_net *net, uint32_t lid)
{
	uint32_t owner = dl_verify_net_owner(net, lid), s;

	if (owner == DL_NONE)
		return DL_NONE;
	s = dl_fabric_access_switch(net->f, owner);
	return s == DL_NONE ? net->nsw : s;
}

/* Counting sort by access switch. */
static int list_columns(struct dl_verify_columns *x)
{
	const struct dl_verify_net *net = x->net;
	const struct dl_fabric *f = net->f;
	uint32_t *first = dl_arena_array(net->arena, net->nsw + 2, sizeof(*first));
	uint32_t lid, s;

	x->list = dl_arena_array(net->arena, f->top_lid + 1, sizeof(*x->list));
	if (!first || !x->list)
		return -ENOMEM;
	for (lid = 1; lid <= f->top_lid; lid++) {
		s = bucket_of(net, lid);
		if (s != DL_NONE)
			first[s + 1]++;
	}
	for (s = 0; s <= net->nsw; s++)
		first[s + 1] += first[s];
	x->n = first[net->nsw + 1];
	for (lid = 1; lid <= f->top_lid; lid++) {
		struct dl_verify_column *c;

		s = bucket_of(net, lid);
		if (s == DL_NONE)
			continue;
		c = &x->list[first[s]++];
		c->lid = lid;
		c->owner = f->lid_port[lid];
		c->root = s < net->nsw ? s : DL_NONE;
		c->last_port = DL_TABLES_NO_PORT;
		if (c->root != DL_NONE)
			c->last_port = dl_fabric_access_port(f, c->owner);
	}
	return 0;
}

/* Entries of n columns, by switch, into a block of theirs. */
static void gather_out(const struct dl_verify_columns *x, const struct dl_tables *t,
		       const struct dl_verify_column *c, uint32_t n, uint8_t *block)
{
	for (uint32_t s = 0; s < x->net->nsw; s++) {
		const uint8_t *row = t->lft + s * (size_t)t->stride;
		uint8_t *to = block + s;

		__builtin_prefetch(row + AHEAD * (size_t)t->stride + c[0].lid);
		__builtin_prefetch(row + AHEAD * (size_t)t->stride + c[n - 1].lid);
		for (uint32_t k = 0; k < n; k++, to += x->out_stride)
			*to = c[k].lid <= t->top_lid ? row[c[k].lid] : DL_TABLES_NO_PORT;
	}
}

/* Neighbouring LIDs of the same class share one gathered column. */
static void gather_sl(struct dl_verify_columns *x, struct dl_verify_column *c, uint32_t n)
{
	const struct dl_tables *t = x->net->t;
	uint32_t classes[DL_VERIFY_BLOCK], nclasses = 0;
	uint32_t nsrc = x->net->sls ? 0 : t->npsl_src;

	for (uint32_t k = 0; k < n; k++) {
		uint32_t class = DL_NONE;

		c[k].sl = NULL;
		if (!x->net->sls && t->psl && c[k].lid <= t->top_lid)
			class = t->psl_dst[c[k].lid];
		if (class == DL_NONE)
			continue;
		if (!nclasses || classes[nclasses - 1] != class)
			classes[nclasses++] = class;
		c[k].sl = x->sl_block + (nclasses - 1) * x->sl_stride;
	}
	for (uint32_t s = 0; s < nsrc; s++) {
		const uint8_t *row = t->psl + s * (size_t)t->npsl_dst;
		uint8_t *to = x->sl_block + s;

		if (nclasses)
			__builtin_prefetch(row + AHEAD * (size_t)t->npsl_dst + classes[0]);
		for (uint32_t k = 0; k < nclasses; k++, to += x->sl_stride)
			*to = row[classes[k]];
	}
}

void dl_verify_columns_gather(struct dl_verify_columns *x, struct dl_verify_column *c, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		c[k].out = x->out_block + k * x->out_stride;
		c[k].other = x->with ? x->other_block + k * x->out_stride : NULL;
	}
	gather_out(x, x->net->t, c, n, x->out_block);
	if (x->with)
		gather_out(x, x->with, c, n, x->other_block);
	gather_sl(x, c, n);
}

static size_t columns_stride_of(size_t entries)
{
	return ((entries / CACHE_LINE) | 1) * CACHE_LINE + 2 * CACHE_LINE;
}

int dl_verify_columns_init(struct dl_verify_columns *x, const struct dl_verify_net *net,
			   const struct dl_tables *with)
{
	x->net = net;
	x->with = with;
	x->out_stride = columns_stride_of(net->nsw);
	x->sl_stride = columns_stride_of(net->t->npsl_src);
	x->out_block = dl_arena_alloc(net->arena, x->out_stride * DL_VERIFY_BLOCK);
	x->sl_block = dl_arena_alloc(net->arena, x->sl_stride * DL_VERIFY_BLOCK);
	x->other_block = with ? dl_arena_alloc(net->arena, x->out_stride * DL_VERIFY_BLOCK) : NULL;
	if (!x->out_block || !x->sl_block || (with && !x->other_block))
		return -ENOMEM;
	return list_columns(x);
}
