/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Spanning trees whose multicast fits what is already there.
 *
 * Problem.  A group's packets may start at any switch of the tree and go all
 * ways from there, and which groups there will be is not known.  So a tree
 * contributes every dependency between two of its hops that meet and do not
 * turn back, at SL 0, for every VL on which a packet can come in.  With a
 * damaged torus, the tree of rules A9 may close a cycle together with unicast
 * (doc/findings.md: 6x5, (3,2) failed).
 *
 * Method.  Switches are hung one by one, each with its dependencies in both
 * directions; one that would close a cycle, and all that hangs below it in the
 * model, is left out.  Then every switch left out is hung from the nearest to
 * the root of its neighbours that closes none.  If some remain, another root
 * is tried.
 *
 * A hop of the tree carries VL 0 always (packets that start there) and a
 * second VL when packets can turn into it from a later dimension.  What a new
 * leaf sends inwards may be the first to turn so; then the dependencies of
 * that VL beyond are new as well, hence the recursion.  It ends at the first
 * hop that knew the VL.
 *
 * Complexity: a dependency for each pair of hops that meet, per attempt.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/base.h"
#include "route/proven/internal.h"

#define SEED UINT64_C(0x5EED0FA7) /* any; the same for every run */

int dl_repair_span_init(struct dl_repair_span *s, uint32_t nsw)
{
	size_t size = (nsw + 1) * sizeof(uint32_t);

	s->norder = 0;
	s->root = DL_NONE;
	s->order = malloc(size);
	s->up = malloc(size);
	if (!s->order || !s->up) {
		dl_repair_span_release(s);
		return -ENOMEM;
	}
	return 0;
}

void dl_repair_span_release(struct dl_repair_span *s)
{
	free(s->order);
	free(s->up);
	memset(s, 0, sizeof(*s));
}

/* ---- hanging switches -------------------------------------------------- */

struct change {
	uint32_t hop;  /* of which a VL is new, or DL_NONE */
	uint32_t pair; /* else: a dependency */
	uint8_t bit;   /* VL, or VLs of the dependency */
};

struct hanger {
	struct dl_repair_cdg *g;
	const struct dl_repair_net *net;
	struct dl_repair_span *span;
	bool *in;     /* by switch: is it in the tree? */
	bool *used;   /* by hop: is it part of the tree? */
	uint8_t *vls; /* by hop: VLs on which packets travel */
	struct change *log;
	uint32_t nlog, log_cap;
	bool no_memory;
};

static bool note(struct hanger *h, struct change change)
{
	if (h->nlog == h->log_cap) {
		uint32_t cap = 2 * h->log_cap + 1024;
		void *grown = realloc(h->log, cap * sizeof(*h->log));

		if (!grown) {
			h->no_memory = true;
			return false;
		}
		h->log = grown;
		h->log_cap = cap;
	}
	h->log[h->nlog++] = change;
	return true;
}

static void undo(struct hanger *h, uint32_t mark)
{
	while (h->nlog > mark) {
		const struct change *c = &h->log[--h->nlog];

		if (c->hop != DL_NONE)
			h->vls[c->hop] &= ~(1u << c->bit);
		else
			dl_repair_cdg_drop(h->g, c->pair, c->bit);
	}
}

static bool arrive(struct hanger *h, uint32_t hop, unsigned int vl);

/* Packets on a VL of one hop go on by another that starts where it ends. */
static bool pass_on(struct hanger *h, uint32_t hop, unsigned int vl,
		    uint32_t next)
{
	const struct dl_repair_link *a = &h->net->hops[hop];
	const struct dl_repair_link *b = &h->net->hops[next];
	unsigned int out = h->net->lane[a->dir][b->dir][0].vl;

	if (!dl_repair_cdg_add(h->g, a, hop, vl, b, next, out))
		return false;
	if (!note(h, (struct change){ DL_NONE, a->pair + b->slot,
				      DL_REPAIR_VLS * vl + out })) {
		dl_repair_cdg_drop(h->g, a->pair + b->slot,
				   DL_REPAIR_VLS * vl + out);
		return false;
	}
	return arrive(h, next, out);
}

/* Packets travel on this VL of a hop of the tree. */
static bool arrive(struct hanger *h, uint32_t hop, unsigned int vl)
{
	const struct dl_repair_link *a = &h->net->hops[hop];
	uint32_t next;

	if (h->vls[hop] >> vl & 1)
		return true;
	if (!note(h, (struct change){ hop, 0, vl }))
		return false;
	h->vls[hop] |= 1u << vl;
	for (next = h->net->first[a->to]; next < h->net->first[a->to + 1];
	     next++)
		if (h->used[next] && next != a->back &&
		    !pass_on(h, hop, vl, next))
			return false;
	return true;
}

/* Everything that comes to the parent goes on to the new child. */
static bool feed(struct hanger *h, uint32_t down)
{
	uint32_t parent = h->net->hops[down].from, out, in;
	unsigned int vls;

	for (out = h->net->first[parent]; out < h->net->first[parent + 1];
	     out++) {
		in = h->net->hops[out].back;
		if (!h->used[in] || out == down)
			continue;
		for (vls = h->vls[in]; vls; vls &= vls - 1)
			if (!pass_on(h, in, __builtin_ctz(vls), down))
				return false;
	}
	return true;
}

/* Hang a switch by its hop to the parent. */
static bool hang(struct hanger *h, uint32_t up)
{
	const struct dl_repair_link *hop = &h->net->hops[up];
	uint32_t mark = h->nlog;

	h->used[up] = h->used[hop->back] = true;
	if (arrive(h, up, h->net->lane[DL_TORUS_DIRS][hop->dir][0].vl) &&
	    arrive(h, hop->back,
		   h->net->lane[DL_TORUS_DIRS][h->net->hops[hop->back].dir][0]
			   .vl) &&
	    feed(h, hop->back)) {
		h->in[hop->from] = true;
		h->span->up[hop->from] = up;
		h->span->order[h->span->norder++] = hop->from;
		return true;
	}
	undo(h, mark);
	h->used[up] = h->used[hop->back] = false;
	return false;
}

/* ---- whole trees ------------------------------------------------------- */

static void plant(struct hanger *h, uint32_t root)
{
	h->span->root = root;
	h->span->norder = 1;
	h->span->order[0] = root;
	h->span->up[root] = DL_NONE;
	h->in[root] = true;
}

static uint32_t hop_between(const struct dl_repair_net *net, uint32_t from,
			    uint32_t to)
{
	uint32_t h;

	for (h = net->first[from]; h < net->first[from + 1]; h++)
		if (net->hops[h].to == to)
			return h;
	return DL_NONE;
}

/* Follow a model as far as it closes no cycle. */
static void follow(struct hanger *h, const struct dl_route_tree *model)
{
	uint32_t i;

	plant(h, model->root);
	for (i = 1; i < model->norder; i++) {
		uint32_t sw = model->order[i], parent = model->parent[sw];

		if (h->in[parent])
			hang(h, hop_between(h->net, sw, parent));
	}
}

/* Hang what is left wherever it closes no cycle, close to the root. */
static uint32_t hang_rest(struct hanger *h)
{
	uint32_t i, n = 0;

	for (i = 0; i < h->span->norder; i++) {
		uint32_t at = h->span->order[i], out;

		for (out = h->net->first[at]; out < h->net->first[at + 1];
		     out++)
			if (!h->in[h->net->hops[out].to])
				n += hang(h, h->net->hops[out].back);
	}
	return n;
}

static int hanger_init(struct hanger *h, struct dl_repair_cdg *g,
		       struct dl_repair_span *s)
{
	memset(h, 0, sizeof(*h));
	h->g = g;
	h->net = g->net;
	h->span = s;
	h->in = calloc(g->net->nsw + 1, sizeof(*h->in));
	h->used = calloc(g->net->nhops + 1, sizeof(*h->used));
	h->vls = calloc(g->net->nhops + 1, sizeof(*h->vls));
	return h->in && h->used && h->vls ? 0 : -ENOMEM;
}

static void hanger_release(struct hanger *h)
{
	free(h->in);
	free(h->used);
	free(h->vls);
	free(h->log);
}

/* Does the span differ from the model at a switch? */
static uint32_t count_moved(const struct hanger *h,
			    const struct dl_route_tree *model)
{
	uint32_t i, n = 0;

	for (i = 1; i < h->span->norder; i++) {
		uint32_t sw = h->span->order[i];

		n += model->parent[sw] != h->net->hops[h->span->up[sw]].to;
	}
	return n;
}

static uint32_t draw_root(const struct dl_torus *t, unsigned int attempt)
{
	struct dl_random r = { .seed = SEED, .stream = attempt };
	uint32_t sw = dl_random_below(&r, t->fabric->nswitches), i;

	for (i = 0; i < t->fabric->nswitches; i++, sw++) {
		sw %= t->fabric->nswitches;
		if (t->sw_site[sw] != DL_NONE)
			return sw;
	}
	return DL_NONE;
}

int dl_repair_span_try(struct dl_repair_cdg *g, unsigned int attempt,
		       struct dl_repair_span *s, uint32_t *moved)
{
	const struct dl_torus *t = g->net->torus;
	struct dl_route_tree *model = NULL;
	struct hanger h;
	int err = hanger_init(&h, g, s);

	if (!err)
		err = dl_route_partial_tree(
			t, attempt ? draw_root(t, attempt) : DL_NONE, &model);
	if (!err) {
		follow(&h, model);
		hang_rest(&h);
		*moved = count_moved(&h, model);
		if (s->norder < g->net->nsw)
			err = -EAGAIN;
		if (h.no_memory)
			err = -ENOMEM;
		if (err)
			undo(&h, 0);
	}
	dl_route_tree_free(model);
	hanger_release(&h);
	return err;
}

int dl_repair_span_any(const struct dl_repair_net *net,
		       struct dl_repair_span *s)
{
	bool *in = calloc(net->nsw + 1, sizeof(*in));
	struct dl_route_tree *model = NULL;
	uint32_t i, h;
	int err = in ? dl_route_partial_tree(net->torus, DL_NONE, &model) :
		       -ENOMEM;

	if (err)
		goto out;
	s->root = model->root == DL_NONE ? 0 : model->root;
	s->norder = 0;
	s->up[s->root] = DL_NONE;
	in[s->root] = true;
	s->order[s->norder++] = s->root;
	for (i = 1; i < model->norder; i++) {
		uint32_t sw = model->order[i];

		s->up[sw] = hop_between(net, sw, model->parent[sw]);
		in[sw] = true;
		s->order[s->norder++] = sw;
	}
	for (i = 0; i < s->norder; i++)
		for (h = net->first[s->order[i]];
		     h < net->first[s->order[i] + 1]; h++) {
			uint32_t sw = net->hops[h].to;

			if (in[sw])
				continue;
			s->up[sw] = net->hops[h].back;
			in[sw] = true;
			s->order[s->norder++] = sw;
		}
out:
	dl_route_tree_free(model);
	free(in);
	return err;
}

/* Hang a whole tree as it is. */
static int hang_all(struct hanger *h, const struct dl_repair_span *s)
{
	uint32_t i;

	plant(h, s->root);
	for (i = 1; i < s->norder; i++)
		if (!hang(h, s->up[s->order[i]]))
			return h->no_memory ? -ENOMEM : -EAGAIN;
	return 0;
}

/* Add a tree, for good or only to find an order. */
static int add_or_order(struct dl_repair_cdg *g, const struct dl_repair_span *s,
			bool order)
{
	struct dl_repair_span copy;
	struct hanger h;
	int err = dl_repair_span_init(&copy, g->net->nsw);

	if (err)
		return err;
	err = hanger_init(&h, g, &copy);
	if (!err) {
		err = hang_all(&h, s);
		if (!err && order && !dl_repair_cdg_order(g))
			err = -EAGAIN;
		if (err || order)
			undo(&h, 0);
	}
	hanger_release(&h);
	dl_repair_span_release(&copy);
	return err;
}

int dl_repair_span_attach(struct dl_repair_cdg *g,
			  const struct dl_repair_span *s)
{
	return add_or_order(g, s, false);
}

int dl_repair_span_order(struct dl_repair_cdg *g,
			 const struct dl_repair_span *s)
{
	int err = add_or_order(g, s, true);

	if (err == -EAGAIN && dl_repair_cdg_order(g))
		err = 0;
	return err;
}

int dl_repair_span_links(const struct dl_repair_net *net,
			 const struct dl_repair_span *s, uint32_t to,
			 uint8_t *slots, uint32_t *order)
{
	uint32_t n = 0, i, at, h;

	/* Outwards from the destination, over hops of the tree only. */
	memset(slots, DL_REPAIR_NO_LINK, net->nsw);
	order[n++] = to;
	for (i = 0; i < n; i++) {
		at = order[i];
		for (h = net->first[at]; h < net->first[at + 1]; h++) {
			uint32_t sw = net->hops[h].to;

			if (s->up[sw] != net->hops[h].back && s->up[at] != h)
				continue;
			if (sw == to || slots[sw] != DL_REPAIR_NO_LINK)
				continue;
			slots[sw] = net->hops[net->hops[h].back].slot;
			order[n++] = sw;
		}
	}
	return n;
}
