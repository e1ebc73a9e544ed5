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
 * combinations: packets flow along both next hops until the sets on the links
 * (sets.c) grow no more.  That is needed only for LIDs for which the one set adds
 * a next hop to the other; all others are the pass of unicast.c, and those on
 * which all sets agree are counted once for several mixtures (common.c).
 * Multicast masks are joined.  Every state that writes can
 * pass through, and whatever packets are under way then, is a part of this
 * graph: without a cycle all of them are safe.  A cycle may need two LIDs at one
 * switch, one old and one new, though both stand in one block; whoever knows
 * the writes asks again with less in between (transition.h).
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

/* The next hops of a switch for a LID: one or two links, or none. */
struct hops {
	uint32_t link[2];
	unsigned int n;
};

/* Packets of one LID on a link, by its number. */
struct flow {
	struct dl_verify_common *common;
	struct dl_verify_net *net;
	const struct dl_tables *with;
	struct dl_verify_sets sets;
	struct dl_verify_columns columns;
	uint32_t *set;	/* by link */
	uint32_t *work; /* links whose sets have grown */
	uint8_t *queued;
	uint32_t nwork;
	uint8_t *colour;
	uint32_t *stack;
	struct dl_verify_mixture *out;
	bool *added;	/* by LID: is there a next hop more? */
	bool *known;	/* by LID: its packets are counted, here or for all mixtures */
	bool *rings;	/* by LID: entries of one set lead round */
	bool circles;	/* are only circles looked for? */
	uint32_t least; /* links of the shortest circle that there may be */
	/* Entries of `with` for a block of LIDs, by switch; those of the LID at hand. */
	uint8_t *others;
	size_t stride;
	const uint8_t *other;
	struct hops *hops; /* by switch: of that LID */
};

static struct hops hops_of(const struct flow *w, const struct dl_verify_column *c, uint32_t s)
{
	unsigned int ports[2] = { c->out[s], w->other[s] };
	struct hops h = { .n = 0 };

	for (unsigned int i = 0; i < 2; i++) {
		uint32_t link = dl_verify_net_link(w->net, s, ports[i]);

		if (link != DL_NONE && (!h.n || h.link[0] != link))
			h.link[h.n++] = link;
	}
	return h;
}

static void mixed_join(struct flow *w, uint32_t link, uint32_t set)
{
	uint32_t both = dl_verify_sets_union(&w->sets, w->set[link], set);

	if (both == w->set[link])
		return;
	w->set[link] = both;
	w->net->vls[link] |= w->sets.transitions[both].vls;
	if (!w->queued[link])
		w->work[w->nwork++] = link;
	w->queued[link] = 1;
}

/* What a switch's own end ports send to the LID over one link. */
static void mixed_inject(struct flow *w, const struct dl_verify_column *c, uint32_t s,
			 uint32_t link)
{
	const struct dl_verify_net *net = w->net;
	uint32_t slot = link - net->links.first[s];

	for (uint32_t i = net->source_first[s]; i < net->source_first[s + 1]; i++) {
		const struct dl_verify_source *src = &net->sources[i];
		uint32_t row = net->source_rows[src->links + slot], from;
		uint16_t sls = net->sls;

		if (!sls && (!c->sl || src->psl == DL_NONE))
			continue;
		sls = dl_verify_net_sls(net, sls ? 16 : c->sl[src->psl]);
		from = dl_verify_sets_add_mask(&w->sets, sls & src->sls, 0);
		mixed_join(w, link, dl_verify_sets_step(&w->sets, from, row)->to);
	}
}

/*
 * The same port by port: at the LID's own switch, where its owner sends nothing
 * to itself; and to a LID that nobody owns any more, by the path SLs that the
 * tables of the other set still know, or else by every SL.
 */
static void inject_ports(struct flow *w, const struct dl_verify_column *c, uint32_t s,
			 uint32_t link)
{
	const struct dl_verify_net *net = w->net;
	const struct dl_tables *t = c->owner == DL_NONE ? w->with : net->t;
	unsigned int out = net->links.link[link].out;

	for (uint32_t i = net->end_first[s]; i < net->end_first[s + 1]; i++) {
		uint32_t port = net->end_ports[i], from;
		unsigned int sl = net->sls ? 16 : dl_tables_path_sl(t, port, c->lid);
		uint32_t row = dl_verify_net_row(net, s, dl_verify_entry_port(net->f, port), out);
		uint16_t sls = dl_verify_net_sls(net, sl);

		if (port == c->owner)
			continue;
		if (sl == DL_TABLES_NO_SL)
			sls = c->owner == DL_NONE ? net->alive : 0;
		from = dl_verify_sets_add_mask(&w->sets, sls & net->end_passes[port], 0);
		mixed_join(w, link, dl_verify_sets_step(&w->sets, from, net->rows[row])->to);
	}
}

/* The packets of a link go on over both next hops of its far end. */
static void mixed_pass_on(struct flow *w, uint32_t link)
{
	struct dl_verify_net *net = w->net;
	uint32_t s = net->links.link[link].to;
	struct hops h = w->hops[s];

	for (unsigned int i = 0; i < h.n; i++) {
		uint32_t pair = net->far[link].dep + (h.link[i] - net->links.first[s]);
		const struct dl_verify_step *step =
			dl_verify_sets_step(&w->sets, w->set[link], net->pairs[pair].row);

		for (unsigned int k = 0; k < net->words; k++)
			net->deps[pair * (size_t)net->words + k] |= step->deps[k];
		mixed_join(w, h.link[i], step->to);
	}
}

static int mix_lid(struct flow *w, const struct dl_verify_column *c)
{
	memset(w->set, 0, (w->net->links.n + 1) * sizeof(*w->set));
	if (w->sets.n > 1u << 15)
		dl_verify_sets_clear(&w->sets);
	for (uint32_t s = 0; s < w->net->nsw; s++) {
		struct hops h = w->hops[s];

		for (unsigned int i = 0; i < h.n; i++)
			(c->owner == DL_NONE || s == c->root ? inject_ports :
							       mixed_inject)(w, c, s, h.link[i]);
	}
	while (w->nwork) {
		uint32_t link = w->work[--w->nwork];

		w->queued[link] = 0;
		mixed_pass_on(w, link);
	}
	return w->sets.failed ? -ENOMEM : 0;
}

/* ---- a circle ------------------------------------------------------------ */

static int keep_circle(struct flow *w, const struct dl_verify_column *c, uint32_t from,
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

/*
 * Depth first over switches, along next hops.  Returns whether they lead round; with
 * `packets`, only those that packets take are followed, and the shortest circle is kept.
 * Or -ENOMEM.
 */
static int find_circle(struct flow *w, const struct dl_verify_column *c, bool packets)
{
	enum { WHITE, OPEN, DONE = 9 }; /* OPEN + i: its next hop i comes next */
	const struct dl_verify_net *net = w->net;
	int found = 0;

	memset(w->colour, WHITE, net->nsw);
	for (uint32_t start = 0; start < net->nsw && found >= 0; start++) {
		uint32_t depth = 0, s = start;

		while (found >= 0 && w->colour[s] != DONE) {
			struct hops h = w->hops[s];
			unsigned int i = w->colour[s] ? w->colour[s] - OPEN : 0;
			uint32_t to, at = 0;

			if (i == h.n) {
				w->colour[s] = DONE;
				if (depth)
					s = net->links.link[w->stack[--depth]].from;
				continue;
			}
			w->colour[s] = OPEN + i + 1;
			to = net->links.link[h.link[i]].to;
			if (w->colour[to] == DONE || (packets && !w->set[h.link[i]]))
				continue;
			w->stack[depth++] = h.link[i];
			if (w->colour[to] == WHITE) {
				s = to;
				continue;
			}
			if (!packets)
				return 1;
			while (net->links.link[w->stack[at]].from != to)
				at++;
			found = keep_circle(w, c, at, depth) ? -ENOMEM : 1;
			depth--;
		}
	}
	return found;
}

/* ---- all ------------------------------------------------------------------ */

/* LIDs for which the one set adds a next hop; row by row, as they lie in memory. */
static void find_added(struct flow *w)
{
	const struct dl_tables *t = w->net->t, *with = w->with;

	for (uint32_t s = 0; s < w->net->nsw; s++) {
		for (uint32_t block = 0; block < t->stride / DL_VERIFY_BLOCK; block++) {
			uint64_t differ = w->common->blocks[block] ?
						  dl_tables_lft_changes(t, with, s, block) :
						  0;

			for (; differ; differ &= differ - 1) {
				uint32_t lid = block * DL_VERIFY_BLOCK + __builtin_ctzll(differ);

				w->added[lid] |= dl_verify_net_link(w->net, s,
								    dl_tables_lft(with, s, lid)) !=
						 DL_NONE;
			}
		}
	}
}

/* Where entries of one set lead round, both do. */
static bool is_asked(const struct flow *w, const struct dl_verify_column *c)
{
	return c->root != DL_NONE && (w->added[c->lid] || (w->circles && w->rings[c->lid]));
}

/* Is there anything to look at in a block of columns? */
static bool has_asked(const struct flow *w, const struct dl_verify_column *c, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (is_asked(w, &c[i]))
			return true;
	return false;
}

static bool has_path(const struct flow *w, const struct dl_verify_column *c)
{
	for (uint32_t s = 0; s < w->net->nsw; s++)
		if (hops_of(w, c, s).n)
			return true;
	return false;
}

static int mix_column(struct flow *w, const struct dl_verify_column *c)
{
	int err = 0;

	for (uint32_t s = 0; s < w->net->nsw; s++)
		w->hops[s] = hops_of(w, c, s);
	if (!w->circles)
		err = mix_lid(w, c);
	if (!err && (w->circles || w->out->quick) && find_circle(w, c, false)) {
		err = w->circles ? mix_lid(w, c) : 0;
		if (!err && find_circle(w, c, true) < 0)
			err = -ENOMEM;
	}
	return err;
}

/* Switch by switch, as they lie in memory. */
static void gather_others(struct flow *w, const struct dl_verify_column *c, uint32_t n)
{
	for (uint32_t s = 0; s < w->net->nsw; s++) {
		const uint8_t *row = w->with->lft + s * (size_t)w->with->stride;

		for (uint32_t k = 0; k < n; k++)
			if (is_asked(w, &c[k]))
				w->others[k * w->stride + s] = row[c[k].lid];
	}
}

/* Nothing more to find? */
static bool is_done(const struct flow *w)
{
	const struct dl_verify_mixture *m = w->out;

	return m->loop_lid && (m->quick || (w->circles && m->nloop <= w->least));
}

/* LIDs that nobody owns, for which there are entries all the same. */
static int mix_lost(struct flow *w)
{
	uint32_t nsw = w->net->nsw;
	uint8_t *out = dl_arena_alloc(w->net->arena, nsw + 1);
	int err = out ? 0 : -ENOMEM;

	w->other = w->others;
	for (uint32_t lid = 1; lid <= w->net->t->top_lid && !err; lid++) {
		struct dl_verify_column c = { .lid = lid, .owner = DL_NONE, .out = out };

		if (w->net->f->lid_port[lid] != DL_NONE)
			continue;
		for (uint32_t s = 0; s < nsw; s++) {
			out[s] = dl_tables_lft(w->net->t, s, lid);
			w->others[s] = dl_tables_lft(w->with, s, lid);
		}
		if (has_path(w, &c))
			err = mix_column(w, &c);
	}
	return err;
}

static int mix_unicast(struct flow *w)
{
	struct dl_verify_columns *x = &w->columns;
	int err = 0;

	for (uint32_t at = 0; at < x->n && !err; at += DL_VERIFY_BLOCK) {
		uint32_t n = x->n - at < DL_VERIFY_BLOCK ? x->n - at : DL_VERIFY_BLOCK;

		if (!has_asked(w, &x->list[at], n))
			continue;
		dl_verify_columns_gather(x, &x->list[at], n);
		gather_others(w, &x->list[at], n);
		for (uint32_t k = at; k < at + n && !err; k++) {
			if (!is_asked(w, &x->list[k]))
				continue;
			w->other = w->others + (k - at) * w->stride;
			err = mix_column(w, &x->list[k]);
			w->known[x->list[k].lid] = true;
			if (is_done(w))
				return err;
		}
	}
	return err ? err : mix_lost(w);
}

static int flow_init(struct flow *w)
{
	struct dl_arena *arena = w->net->arena;
	size_t nlinks = w->net->links.n + 1, nsw = w->net->nsw + 1;
	uint32_t nlids = w->net->t->top_lid + 1u;

	w->set = dl_arena_array(arena, nlinks, sizeof(*w->set));
	w->work = dl_arena_array(arena, nlinks, sizeof(*w->work));
	w->queued = dl_arena_array(arena, nlinks, 1);
	w->colour = dl_arena_array(arena, nsw, 1);
	w->stack = dl_arena_array(arena, nsw + 1, sizeof(*w->stack));
	w->added = dl_arena_zalloc(arena, w->net->t->stride);
	w->known = dl_arena_alloc(arena, nlids);
	w->rings = dl_arena_zalloc(arena, nlids);
	/* An odd number of lines: columns do not fall into one set of the cache. */
	w->stride = ((nsw / 64 + 1) | 1) * 64;
	w->others = dl_arena_array(arena, DL_VERIFY_BLOCK, w->stride);
	w->hops = dl_arena_array(arena, nsw, sizeof(*w->hops));
	if (!w->others || !w->hops || !w->set || !w->work || !w->queued || !w->colour ||
	    !w->stack || !w->added || !w->known || !w->rings)
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
	if (dl_verify_columns_init(&w->columns, w->net))
		return -ENOMEM;
	return dl_verify_sets_init(&w->sets, w->net->values, w->net->nvl);
}

/* What all mixtures have in common, on top of this one's own. */
static int add_common(struct flow *w)
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
static int mixed_mix(struct flow *w, uint16_t sls, struct dl_verify_result *v)
{
	struct dl_verify_net *net = w->net;
	bool quick = w->out->quick;
	int err = flow_init(w);

	if (!err)
		err = mix_unicast(w);
	if (err || (quick && w->out->loop_lid))
		return err;
	err = dl_verify_unicast(net, v, 0, false);
	if (!err)
		err = add_common(w);
	if (!err)
		err = dl_verify_multicast(net, w->with, sls & net->alive, v, 0, false);
	if (!err)
		err = dl_verify_cycle(net, v);
	w->circles = !quick && v->cycle.n;
	if (!err && w->circles)
		err = mix_unicast(w);
	return err;
}

/* The common net with nothing counted yet, for tables that fit it. */
static int share_net(const struct dl_verify_common *c, struct dl_tables *both,
		     struct dl_arena *arena, struct dl_verify_net *net)
{
	size_t npairs = c->net.pair_first[c->net.nsw];
	const struct dl_tables *own = c->net.t;

	*net = c->net;
	net->arena = arena;
	net->t = both;
	/* The same path SLs, by the classes of the net's sources. */
	both->psl = own->psl;
	both->psl_src = own->psl_src;
	both->psl_dst = own->psl_dst;
	both->npsl_src = own->npsl_src;
	both->npsl_dst = own->npsl_dst;
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
	struct dl_verify_result v = { 0 };
	struct dl_verify_lost none;
	struct dl_verify_net net;
	struct dl_arena arena = { 0 };
	struct flow w = { .common = c, .net = &net, .with = a, .out = out };
	struct dl_tables both = *b;
	int err;

	if (!dl_verify_common_fits(c, b))
		return dl_verify_mixed(a, b, &c->options, quick, out);
	memset(out, 0, sizeof(*out));
	out->quick = quick;
	v.lost = &none;
	err = share_net(c, &both, &arena, &net);
	if (!err)
		err = mixed_mix(&w, c->options.multicast_sls, &v);
	out->safe = !err && !v.cycle.n && !out->loop_lid;
	out->cycle = v.cycle;
	for (uint32_t i = 0; i < v.cycle.n; i++)
		v.cycle.steps[i].src = DL_NONE;
	dl_verify_sets_release(&w.sets);
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
