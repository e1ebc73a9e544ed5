/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Two sets of tables at once: what switches hold while a subnet manager
 * replaces one by the other.
 *
 * Problem.  Each switch has, for each LID by itself, the old entry or the new
 * one, and no order of writes can be relied on.  So there are two next hops
 * for a LID where the sets differ, and a packet may meet any combination.
 *
 * Method.  The graph that dl_verify() searches, with the dependencies of all
 * combinations: packets flow along both next hops (flow.c).  That is needed only for
 * LIDs for which the one set adds a next hop to the other; all others are the pass of
 * unicast.c, and those on which all sets agree are counted once for several mixtures
 * (common.c).  Multicast masks are joined.  Every state that writes can pass through,
 * and whatever packets are under way then, is a part of this graph: without a cycle
 * all of them are safe.  A cycle may need two LIDs at one switch, one old and one new,
 * though both stand in one block; whoever knows the writes asks again with less in
 * between (transition.h).
 *
 * Packets in a circle need no check of their own, since a circle of links is
 * one of channels too; one is looked for because it says more: when there is a
 * cycle, or sooner, where one finding is enough.
 *
 * Complexity: that of dl_verify(), and for a LID with a next hop more the links
 * times the growth of their sets, at most 256.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verify/internal.h"

struct mixing {
	struct dl_verify_common *common;
	struct dl_verify_net *net;
	const struct dl_tables *with;
	struct dl_verify_flow flow;
	struct dl_verify_columns columns;
	uint8_t *colour;
	uint32_t *stack;
	struct dl_verify_mixture *out;
	bool *added;	/* by LID: is there a next hop more? */
	bool *known;	/* by LID: its packets are counted, here or for all mixtures */
	bool *rings;	/* by LID: entries of one set lead round */
	bool circles;	/* are only circles looked for? */
	uint32_t least; /* links of the shortest circle that there may be */
};

/* ---- a circle ------------------------------------------------------------ */

static int keep_circle(struct mixing *w, const struct dl_verify_column *c, uint32_t from,
		       uint32_t depth)
{
	struct dl_verify_mixture *m = w->out;

	if (m->loop_lid && m->nloop <= depth - from)
		return 0;
	free(m->loop);
	m->loop = calloc(depth - from, sizeof(*m->loop));
	if (!m->loop)
		return -ENOMEM;
	m->nloop = depth - from;
	m->loop_lid = c->lid;
	for (uint32_t i = from; i < depth; i++)
		m->loop[i - from] = w->net->links.link[w->stack[i]].port;
	return 0;
}

/* Depth first over switches, along the packets: keep the shortest circle.  0 or -ENOMEM. */
static int find_circle(struct mixing *w, const struct dl_verify_column *c)
{
	enum { WHITE, OPEN, DONE = 9 }; /* OPEN + i: its next hop i comes next */
	const struct dl_verify_net *net = w->net;
	int err = 0;

	memset(w->colour, WHITE, net->nsw);
	for (uint32_t start = 0; start < net->nsw && !err; start++) {
		uint32_t depth = 0, s = start;

		while (!err && w->colour[s] != DONE) {
			unsigned int i = w->colour[s] ? w->colour[s] - OPEN : 0;
			const struct dl_verify_stop *stop = &w->flow.stops[w->flow.width * s + i];
			uint32_t at = 0;

			if (i == w->flow.width) {
				w->colour[s] = DONE;
				if (depth)
					s = net->links.link[w->stack[--depth]].from;
				continue;
			}
			w->colour[s] = OPEN + i + 1;
			if (!stop->set || w->colour[stop->next] == DONE)
				continue;
			w->stack[depth++] = dl_verify_flow_link(&w->flow, s, stop);
			if (w->colour[stop->next] == WHITE) {
				s = stop->next;
				continue;
			}
			while (net->links.link[w->stack[at]].from != stop->next)
				at++;
			err = keep_circle(w, c, at, depth);
			depth--;
		}
	}
	return err;
}

/* ---- all ------------------------------------------------------------------ */

/* LIDs for which the one set adds a next hop; row by row, as they lie in memory. */
static void find_added(struct mixing *w)
{
	const struct dl_tables *t = w->net->t, *with = w->with;

	for (uint32_t s = 0; s < w->net->nsw; s++) {
		for (uint32_t block = 0; block < t->stride / DL_VERIFY_BLOCK; block++) {
			uint32_t lid = block * DL_VERIFY_BLOCK, end = lid + DL_VERIFY_BLOCK;

			if (!w->common->blocks[block] ||
			    !dl_tables_block_differs(t, with, s, block))
				continue;
			for (; lid < end; lid++) {
				unsigned int port = dl_tables_lft(with, s, lid);

				w->added[lid] |= dl_tables_lft(t, s, lid) != port &&
						 dl_verify_net_link(w->net, s, port) != DL_NONE;
			}
		}
	}
}

/* Where entries of one set lead round, both do. */
static bool is_asked(const struct mixing *w, const struct dl_verify_column *c)
{
	return c->root != DL_NONE && (w->added[c->lid] || (w->circles && w->rings[c->lid]));
}

/* Is there anything to look at in a block of columns? */
static bool has_asked(const struct mixing *w, const struct dl_verify_column *c, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (is_asked(w, &c[i]))
			return true;
	return false;
}

static int mix_column(struct mixing *w, const struct dl_verify_column *c)
{
	int err = dl_verify_flow_run(&w->flow, c);

	if (!err && w->flow.ring && (w->circles || w->out->quick))
		err = find_circle(w, c);
	return err;
}

/* Nothing more to find? */
static bool is_done(const struct mixing *w)
{
	const struct dl_verify_mixture *m = w->out;

	return m->loop_lid && (m->quick || (w->circles && m->nloop <= w->least));
}

/* The SLs to a LID that nobody owns: path SLs that the other set still knows, or else every SL. */
static uint16_t mixed_sls(const void *context, uint32_t port, uint16_t lid)
{
	const struct mixing *w = context;
	unsigned int sl = w->net->sls ? 16 : dl_tables_path_sl(w->with, port, lid);

	return sl == DL_TABLES_NO_SL ? w->net->alive : dl_verify_net_sls(w->net, sl);
}

/* LIDs that nobody owns, for which there are entries all the same. */
static int mix_lost(struct mixing *w)
{
	uint32_t nsw = w->net->nsw;
	uint8_t *out = dl_arena_alloc(w->net->arena, 2 * nsw + 1), *other = out + nsw;
	int err = out ? 0 : -ENOMEM;

	w->flow.sls_of = mixed_sls;
	w->flow.context = w;
	for (uint32_t lid = 1; lid <= w->net->t->top_lid && !err; lid++) {
		struct dl_verify_column c = {
			.lid = lid, .owner = DL_NONE, .root = DL_NONE, .out = out, .other = other
		};
		bool any = false;

		if (w->net->f->lid_port[lid] != DL_NONE)
			continue;
		for (uint32_t s = 0; s < nsw; s++) {
			out[s] = dl_tables_lft(w->net->t, s, lid);
			other[s] = dl_tables_lft(w->with, s, lid);
			any |= (out[s] & other[s]) != DL_TABLES_NO_PORT;
		}
		if (any)
			err = mix_column(w, &c);
	}
	w->flow.sls_of = NULL;
	return err;
}

static int mix_unicast(struct mixing *w)
{
	struct dl_verify_columns *x = &w->columns;
	int err = 0;

	dl_verify_flow_forget(&w->flow);
	for (uint32_t at = 0; at < x->n && !err; at += DL_VERIFY_BLOCK) {
		uint32_t n = x->n - at < DL_VERIFY_BLOCK ? x->n - at : DL_VERIFY_BLOCK;

		if (!has_asked(w, &x->list[at], n))
			continue;
		dl_verify_columns_gather(x, &x->list[at], n);
		for (uint32_t k = at; k < at + n && !err; k++) {
			if (!is_asked(w, &x->list[k]))
				continue;
			err = mix_column(w, &x->list[k]);
			w->known[x->list[k].lid] = true;
			if (is_done(w))
				return err;
		}
	}
	return err ? err : mix_lost(w);
}

static int mixing_init(struct mixing *w)
{
	struct dl_arena *arena = w->net->arena;
	size_t nsw = w->net->nsw + 1;
	uint32_t nlids = w->net->t->top_lid + 1u;

	w->colour = dl_arena_array(arena, nsw, 1);
	w->stack = dl_arena_array(arena, nsw + 1, sizeof(*w->stack));
	w->added = dl_arena_zalloc(arena, w->net->t->stride);
	w->known = dl_arena_alloc(arena, nlids);
	w->rings = dl_arena_zalloc(arena, nlids);
	if (!w->colour || !w->stack || !w->added || !w->known || !w->rings)
		return -ENOMEM;
	for (uint32_t lid = 0; lid < nlids; lid++)
		w->known[lid] = !w->common->varied[lid];
	w->net->left_out = w->known;
	w->net->rings = w->rings;
	find_added(w);
	w->least = 2;
	for (uint32_t i = 0; i < w->net->links.n; i++)
		if (w->net->links.link[i].from == w->net->links.link[i].to)
			w->least = 1;
	if (dl_verify_columns_init(&w->columns, w->net, w->with))
		return -ENOMEM;
	return dl_verify_flow_init(&w->flow, w->net, 2);
}

/* What all mixtures have in common, on top of this one's own. */
static int add_common(struct mixing *w)
{
	const struct dl_verify_net *shared = &w->common->net;
	struct dl_verify_net *net = w->net;
	size_t words = net->pair_first[net->nsw] * (size_t)net->words;
	int err = dl_verify_common_count(w->common);

	for (size_t i = 0; i < words; i++)
		net->deps[i] |= shared->deps[i];
	for (uint32_t lid = 0; lid <= net->t->top_lid; lid++)
		w->rings[lid] |= w->common->rings[lid];
	return err;
}

/* Unicast and multicast of a net's tables, whose forwarding is that of `b`. */
static int mixed_mix(struct mixing *w, uint16_t sls)
{
	struct dl_verify_net *net = w->net;
	bool quick = w->out->quick;
	int err = mixing_init(w);

	if (!err)
		err = mix_unicast(w);
	if (err || (quick && w->out->loop_lid))
		return err;
	err = dl_verify_unicast(net, NULL, 0);
	if (!err)
		err = add_common(w);
	if (!err)
		err = dl_verify_multicast(net, w->with, sls & net->alive, NULL, 0);
	if (!err)
		err = dl_verify_cycle(net, &w->out->cycle);
	w->circles = !quick && w->out->cycle.n;
	if (!err && w->circles)
		err = mix_unicast(w);
	return err;
}

/* The common net with nothing counted yet, for tables that fit it. */
static int share_net(const struct dl_verify_common *c, struct dl_tables *both,
		     struct dl_arena *arena, struct dl_verify_net *net)
{
	size_t npairs = c->net.pair_first[c->net.nsw];

	*net = c->net;
	net->arena = arena;
	net->t = both;
	/* The same path SLs, by the classes of the net's sources. */
	dl_verify_borrow_sls(both, c->net.t);
	net->pairs = dl_arena_array(arena, npairs, sizeof(*net->pairs));
	net->deps = dl_arena_array(arena, npairs * net->words, sizeof(*net->deps));
	net->vls = dl_arena_array(arena, net->links.n + 1, sizeof(*net->vls));
	if (!net->pairs || !net->deps || !net->vls)
		return -ENOMEM;
	memcpy(net->pairs, c->net.pairs, npairs * sizeof(*net->pairs));
	return 0;
}

int dl_verify_mixed_of(struct dl_verify_common *c, const struct dl_tables *a,
		       const struct dl_tables *b, bool quick, struct dl_verify_mixture *out)
{
	struct dl_verify_net net;
	struct dl_arena arena = { 0 };
	struct mixing w = { .common = c, .net = &net, .with = a, .out = out };
	struct dl_tables both = *b;
	int err;

	if (!dl_verify_common_fits(c, b))
		return dl_verify_mixed(a, b, &c->options, quick, out);
	memset(out, 0, sizeof(*out));
	out->quick = quick;
	err = share_net(c, &both, &arena, &net);
	if (!err)
		err = mixed_mix(&w, c->options.multicast_sls);
	out->safe = !err && !out->cycle.n && !out->loop_lid;
	for (uint32_t i = 0; i < out->cycle.n; i++)
		out->cycle.steps[i].src = DL_NONE;
	dl_verify_flow_release(&w.flow);
	dl_arena_free(&arena);
	if (err)
		dl_verify_mixture_release(out);
	return err;
}

int dl_verify_mixed(const struct dl_tables *a, const struct dl_tables *b,
		    const struct dl_verify_options *o, bool quick, struct dl_verify_mixture *out)
{
	const struct dl_tables *tables[2] = { b, a };
	struct dl_verify_common *c;
	int err = dl_verify_common_new(tables, 2, o, NULL, &c);

	memset(out, 0, sizeof(*out));
	if (err)
		return err;
	err = dl_verify_mixed_of(c, a, b, quick, out);
	dl_verify_common_free(c);
	return err;
}

void dl_verify_mixture_release(struct dl_verify_mixture *m)
{
	free(m->cycle.steps);
	free(m->loop);
	memset(m, 0, sizeof(*m));
}
