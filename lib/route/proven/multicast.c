/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Spanning trees whose multicast fits what is already there.
 *
 * Problem.  A group's packets may start at any switch of the tree and go all
 * ways from there, and which groups there will be is not known.  So a tree
 * contributes every edge between two of its links that meet and do not turn
 * back, at SL 0, for every VL on which a packet can come in.  With a damaged
 * torus, the tree of rules A9 may close a cycle together with unicast
 * (findings: 6x5, (3,2) failed).
 *
 * Method.  Switches are attached one by one, each with its edges in both
 * directions; one that would close a cycle, and all that is below it in the
 * model, is left out.  Then every switch left out is attached to the nearest
 * to the root of its neighbours that closes none.  If some remain, another
 * root is tried.
 *
 * A link of the tree carries VL 0 always (packets that start there) and a
 * second VL when packets can turn into it from a later dimension.  What a new
 * leaf sends inwards may be the first to turn so; then the edges of that VL
 * beyond are new as well, hence the recursion.  It ends at the first link that
 * knew the VL.
 *
 * Complexity: an edge for each pair of links that meet, per attempt.
 */
#include <errno.h>
#include <string.h>

#include "route/proven/internal.h"

#define SEED UINT64_C(0x5EED0FA7) /* any; the same for every run */

int dl_repair_tree_init(struct dl_repair_tree *s, struct dl_arena *arena, struct dl_repair_cdg *cdg)
{
	const struct dl_repair_net *net = cdg->net;

	memset(s, 0, sizeof(*s));
	s->cdg = cdg;
	s->root = DL_NONE;
	/* Each edge and each VL of a link is added once at most. */
	if (!(DL_REPAIR_NEW(arena, s->order, net->nsw) && DL_REPAIR_NEW(arena, s->up, net->nsw) &&
	      DL_REPAIR_NEW(arena, s->place, net->nsw) && DL_REPAIR_NEW(arena, s->in, net->nsw) &&
	      DL_REPAIR_NEW(arena, s->used, net->nlinks) &&
	      DL_REPAIR_NEW(arena, s->vls, net->nlinks) &&
	      DL_REPAIR_NEW(arena, s->changes,
			    DL_REPAIR_VLS * (dl_repair_tree_pairs(net) + net->nlinks))))
		return -ENOMEM;
	return 0;
}

/* ---- attaching switches ------------------------------------------------ */

static void tree_repair_note(struct dl_repair_tree *s, uint32_t link, uint32_t pair,
			     unsigned int bit)
{
	s->changes[s->nchanges++] = (struct dl_repair_change){ link, pair, bit };
}

static void tree_repair_undo(struct dl_repair_tree *s, uint32_t mark)
{
	while (s->nchanges > mark) {
		const struct dl_repair_change *c = &s->changes[--s->nchanges];

		if (c->link != DL_NONE)
			s->vls[c->link] &= ~(1u << c->bit);
		else
			dl_repair_cdg_drop(s->cdg, c->pair, c->bit);
	}
}

static bool tree_repair_arrive(struct dl_repair_tree *s, uint32_t link, unsigned int vl);

/* The VL on link b of multicast that comes from link a, or (DL_NONE) starts. */
static unsigned int vl_after(const struct dl_repair_tree *s, uint32_t a, uint32_t b)
{
	const struct dl_repair_net *net = s->cdg->net;
	unsigned int in = a == DL_NONE ? DL_TORUS_DIRS : net->links[a].dir;

	return net->transition[in][net->links[b].dir][0].vl;
}

/* Packets on a VL of one link go on by another that starts where it ends. */
static bool tree_repair_pass_on(struct dl_repair_tree *s, uint32_t link, unsigned int vl,
				uint32_t next)
{
	unsigned int out = vl_after(s, link, next);

	if (!dl_repair_cdg_add(s->cdg, link, vl, next, out))
		return false;
	tree_repair_note(s, DL_NONE, dl_repair_pair(s->cdg->net, link, next),
			 DL_REPAIR_VLS * vl + out);
	return tree_repair_arrive(s, next, out);
}

/* Packets travel on this VL of a link of the tree. */
static bool tree_repair_arrive(struct dl_repair_tree *s, uint32_t link, unsigned int vl)
{
	const struct dl_repair_net *net = s->cdg->net;
	const struct dl_repair_link *a = &net->links[link];
	uint32_t next;

	if (s->vls[link] >> vl & 1)
		return true;
	tree_repair_note(s, link, 0, vl);
	s->vls[link] |= 1u << vl;
	for (next = net->first[a->to]; next < net->first[a->to + 1]; next++)
		if (s->used[next] && next != a->back && !tree_repair_pass_on(s, link, vl, next))
			return false;
	return true;
}

/* Everything that comes to the parent goes on to the new child. */
static bool tree_repair_propagate(struct dl_repair_tree *s, uint32_t down)
{
	const struct dl_repair_net *net = s->cdg->net;
	uint32_t parent = net->links[down].from, out, in;
	unsigned int vls;

	for (out = net->first[parent]; out < net->first[parent + 1]; out++) {
		in = net->links[out].back;
		if (!s->used[in] || out == down)
			continue;
		for (vls = s->vls[in]; vls; vls &= vls - 1)
			if (!tree_repair_pass_on(s, in, __builtin_ctz(vls), down))
				return false;
	}
	return true;
}

/* List a switch by its link to the parent (DL_NONE: the root). */
static void list_switch(struct dl_repair_tree *s, uint32_t sw, uint32_t up)
{
	s->in[sw] = true;
	s->up[sw] = up;
	s->order[s->norder++] = sw;
}

/* Attach a switch by its link to the parent. */
static bool tree_repair_attach(struct dl_repair_tree *s, uint32_t up)
{
	const struct dl_repair_link *link = &s->cdg->net->links[up];
	uint32_t mark = s->nchanges, down = link->back;

	s->used[up] = s->used[down] = true;
	if (tree_repair_arrive(s, up, vl_after(s, DL_NONE, up)) &&
	    tree_repair_arrive(s, down, vl_after(s, DL_NONE, down)) &&
	    tree_repair_propagate(s, down)) {
		list_switch(s, link->from, up);
		return true;
	}
	tree_repair_undo(s, mark);
	s->used[up] = s->used[down] = false;
	return false;
}

/* ---- whole trees ------------------------------------------------------- */

/* A tree of nothing but the root. */
static void set_root(struct dl_repair_tree *s, uint32_t root)
{
	const struct dl_repair_net *net = s->cdg->net;

	memset(s->in, 0, net->nsw * sizeof(*s->in));
	memset(s->used, 0, net->nlinks * sizeof(*s->used));
	memset(s->vls, 0, net->nlinks * sizeof(*s->vls));
	s->nchanges = s->norder = 0;
	s->root = root;
	list_switch(s, root, DL_NONE);
}

static uint32_t link_between(const struct dl_repair_net *net, uint32_t from, uint32_t to)
{
	uint32_t l;

	for (l = net->first[from]; l < net->first[from + 1]; l++)
		if (net->links[l].to == to)
			return l;
	return DL_NONE;
}

static uint32_t draw_root(const struct dl_repair_net *net, unsigned int attempt)
{
	const struct dl_torus *t = net->torus;
	struct dl_random r = { .seed = SEED, .stream = attempt };
	uint32_t sw = dl_random_below(&r, t->fabric->nswitches), i;

	for (i = 0; i < t->fabric->nswitches; i++, sw++) {
		sw %= t->fabric->nswitches;
		if (t->sw_site[sw] != DL_NONE && dl_repair_may_enter(net, sw, DL_NONE))
			return sw;
	}
	return DL_NONE;
}

/* Does the tree reach every switch of the fabric? */
static bool tree_repair_spans(const struct dl_repair_tree *s)
{
	return s->norder == s->cdg->net->nsw;
}

/*
 * Grow a tree after a model: as far as it closes no cycle (`safe`) or as it
 * is.  What is left goes wherever it is safe, close to the root.  Counts the
 * switches whose parent is not the model's.
 */
static uint32_t tree_repair_grow(struct dl_repair_tree *s, const struct dl_route_tree *model,
				 bool safe)
{
	const struct dl_repair_net *net = s->cdg->net;
	uint32_t i, sw, up, out, moved = 0;

	memset(s->up, 0xFF, net->nsw * sizeof(*s->up));
	for (sw = 0; sw + 1 < net->nsw && !dl_repair_may_enter(net, sw, DL_NONE);)
		sw++;
	set_root(s, model->root == DL_NONE ? sw : model->root);
	for (i = 1; i < model->norder; i++) {
		sw = model->order[i];
		up = link_between(net, sw, model->parent[sw]);
		if (!safe)
			list_switch(s, sw, up);
		else if (s->in[model->parent[sw]])
			tree_repair_attach(s, up);
	}
	for (i = 0; i < s->norder; i++) {
		sw = s->order[i];
		if (i && !dl_repair_may_enter(net, sw, DL_NONE))
			continue;
		for (out = net->first[sw]; out < net->first[sw + 1]; out++) {
			up = net->links[out].back;
			if (s->in[net->links[out].to])
				continue;
			if (!safe)
				list_switch(s, net->links[out].to, up);
			else
				tree_repair_attach(s, up);
		}
	}
	for (i = 1; i < s->norder; i++)
		moved += model->parent[s->order[i]] != net->links[s->up[s->order[i]]].to;
	return moved;
}

int dl_repair_tree_try(struct dl_repair_tree *s, unsigned int attempt, uint32_t *moved)
{
	const struct dl_repair_net *net = s->cdg->net;
	struct dl_route_tree *model;
	int err = dl_route_partial_tree(net->torus, net->leaf,
					attempt ? draw_root(net, attempt) : DL_NONE, &model);

	if (err)
		return err;
	*moved = tree_repair_grow(s, model, true);
	dl_route_tree_free(model);
	if (tree_repair_spans(s))
		return 0;
	tree_repair_undo(s, 0);
	return -EAGAIN;
}

int dl_repair_tree_any(struct dl_repair_tree *s)
{
	struct dl_route_tree *model;
	const struct dl_repair_net *net = s->cdg->net;
	int err = dl_route_partial_tree(net->torus, net->leaf, DL_NONE, &model);

	if (err)
		return err;
	tree_repair_grow(s, model, false);
	dl_route_tree_free(model);
	for (uint32_t i = 0; i < s->norder; i++)
		s->place[s->order[i]] = i;
	return 0;
}

bool dl_repair_tree_add(struct dl_repair_tree *s)
{
	uint32_t n = s->norder, i;

	/* Attaching lists the switches again, in the same order. */
	set_root(s, s->root);
	for (i = 1; i < n && tree_repair_attach(s, s->up[s->order[i]]); i++)
		;
	if (i < n)
		tree_repair_undo(s, 0);
	s->norder = n;
	return i == n;
}

bool dl_repair_tree_order(struct dl_repair_tree *s)
{
	bool ordered = dl_repair_tree_add(s) && dl_repair_cdg_order(s->cdg);

	tree_repair_undo(s, 0);
	return ordered || dl_repair_cdg_order(s->cdg);
}

uint32_t dl_repair_tree_paths(const struct dl_repair_tree *s, uint32_t to, uint8_t *next,
			      uint32_t *order)
{
	const struct dl_repair_net *net = s->cdg->net;
	uint32_t n = 0, i, at, l, sw;

	/* Outwards from the destination, over links of the tree only. */
	memset(next, DL_REPAIR_NO_LINK, net->nsw);
	order[n++] = to;
	for (i = 0; i < n; i++) {
		at = order[i];
		for (l = net->first[at]; l < net->first[at + 1]; l++) {
			sw = net->links[l].to;
			if ((s->up[sw] != net->links[l].back && s->up[at] != l) || sw == to ||
			    next[sw] != DL_REPAIR_NO_LINK)
				continue;
			next[sw] = net->links[net->links[l].back].index;
			order[n++] = sw;
		}
	}
	return n;
}
