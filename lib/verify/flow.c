/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * All packets to one LID: which of them pass which link, and which channels wait for which?
 *
 * Problem.  S switches and D destination LIDs make S x D forwarding entries,
 * but sources times D pairs, each of many hops.  Following each pair
 * takes too long for large fabrics (16x16x16: 67 million pairs, 8 hops).
 *
 * Representation.  Forwarding depends on the destination alone, so for one LID every
 * switch has at most one next hop, or two while its entry is replaced: the old one and
 * the new one, of which a packet may meet either.  All packets that pass a switch towards
 * the LID share its output links.  They are a set of (SL, VL) pairs (sets.c), which is
 * complete when all switches that send to this one are done.  Passing a switch maps
 * the set by the SL-to-VL map of its port pair and yields a matrix of VLs that wait for
 * VLs, which is added to the dependencies of that port pair.  The result is exact, not an
 * estimate: each element of a set is a packet that some source sends with its path SL,
 * and each dependency is one that such a packet causes.
 *
 * Rings.  Where entries lead round, there is no order in which each switch comes after
 * those that send to it.  Packets circulate until their lifetime ends, so the sets on
 * rings and beyond are propagated until none grows, which each does at most 256 times.
 *
 * Complexity: one cached set operation and one OR for each switch and next hop; on rings,
 * times the growth of the sets.
 */
#include <errno.h>
#include <string.h>

#include "verify/internal.h"

#define MANY_SETS (1u << 15) /* forget them between destinations */
#define DONE 0xFFFF
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* ---- what end ports send --------------------------------------------------- */

/*
 * The packets that a source puts on a link to which `row` maps them.  `kept`: place for the
 * number of the set of all these SLs, or NULL.
 */
static ALWAYS_INLINE uint32_t flow_inject(struct dl_verify_flow *f,
					  const struct dl_verify_source *src, uint16_t sls,
					  uint32_t *kept, uint32_t row)
{
	const struct dl_verify_step *step;
	uint32_t from;

	if (!sls)
		return 0;
	if (src->sls == 0xFFFF && kept) {
		if (!*kept)
			*kept = dl_verify_sets_add_mask(&f->sets, sls, 0);
		from = *kept;
	} else {
		if (sls & ~src->sls)
			f->suspicious = true;
		from = dl_verify_sets_add_mask(&f->sets, sls & src->sls, 0);
	}
	step = dl_verify_sets_step(&f->sets, from, row);
	if (step->dropped)
		f->suspicious = true;
	return step->to;
}

/* The same by its path SL towards a column. */
static uint32_t flow_inject_path(struct dl_verify_flow *f, const struct dl_verify_column *c,
				 const struct dl_verify_source *src, uint32_t row)
{
	unsigned int sl = dl_verify_flow_sl(f, c, src->psl);

	if (sl > 16) {
		f->without_sl += src->count;
		sl = 16;
	}
	return flow_inject(f, src, dl_verify_net_sls(f->net, sl), &f->inject[sl], row);
}

static uint32_t flow_inject_all(struct dl_verify_flow *f, const struct dl_verify_column *c,
				uint32_t s, unsigned int slot)
{
	const struct dl_verify_net *net = f->net;
	uint32_t end = net->source_first[s + 1], set = 0;

	for (uint32_t i = net->source_first[s]; i < end; i++) {
		const struct dl_verify_source *src = &net->sources[i];
		uint32_t row = net->source_rows[src->links + slot];

		set = dl_verify_sets_union(&f->sets, set, flow_inject_path(f, c, src, row));
	}
	return set;
}

/* Port by port: where a LID's own switch sends it away, all but its owner do so. */
uint32_t dl_verify_flow_inject(struct dl_verify_flow *f, const struct dl_verify_column *c,
			       uint32_t s, unsigned int out)
{
	const struct dl_verify_net *net = f->net;
	uint32_t set = 0;

	for (uint32_t i = net->end_first[s]; i < net->end_first[s + 1]; i++) {
		uint32_t port = net->end_ports[i], sent;
		struct dl_verify_source src;

		if (port == c->owner)
			continue;
		if (f->sls_of) {
			unsigned int in = dl_fabric_access_port(net->f, port);

			src = (struct dl_verify_source){ .sls = net->end_passes[port] };
			sent = flow_inject(f, &src, f->sls_of(f->context, port, c->lid), NULL,
					   net->rows[dl_verify_net_row(net, s, in, out)]);
		} else {
			src = dl_verify_net_source(net, s, port);
			sent = flow_inject_path(f, c, &src, net->rows[src.row + out]);
		}
		set = dl_verify_sets_union(&f->sets, set, sent);
	}
	return set;
}

/* ---- orphans ---------------------------------------------------------------- */

uint32_t dl_verify_orphans_of(const struct dl_verify_orphans *o, uint32_t lid)
{
	return dl_array_count_before(i, o->n, o->list[i].lid < lid);
}

unsigned int dl_verify_orphans_vl(const struct dl_verify_net *net,
				  const struct dl_verify_orphans *o, uint32_t s, unsigned int in,
				  unsigned int out, unsigned int sl)
{
	const struct dl_tables *t = o->held;
	const struct dl_fabric_node *n = dl_fabric_switch_node(t->fabric, s);
	uint32_t link = dl_verify_net_link(net, s, out);
	uint16_t row;

	if (in > n->nports || out > n->nports || link == DL_NONE)
		return 15;
	row = t->sl2vl[dl_tables_map_index(t, s, in, out)];
	return dl_tables_sl2vl_get(
		dl_verify_net_effective(t, row, t->fabric->ports[n->first_port + out].vls,
					net->vague[link]),
		sl);
}

uint32_t dl_verify_flow_orphans(struct dl_verify_flow *f, const struct dl_verify_orphans *o,
				uint16_t lid, uint32_t s, unsigned int out)
{
	const struct dl_verify_net *net = f->net;
	struct dl_verify_set set = { { 0 } };
	bool any = false;

	for (uint32_t i = dl_verify_orphans_of(o, lid); i < o->n && o->list[i].lid == lid; i++) {
		const struct dl_verify_orphan *p = &o->list[i];
		unsigned int sls = net->sls ? net->alive : p->sls & net->alive;

		if (p->sw != s)
			continue;
		sls |= net->levels > 1 ? sls << 8 & net->alive : 0;
		for (; sls; sls &= sls - 1) {
			unsigned int sl = __builtin_ctz(sls);
			unsigned int vl = dl_verify_orphans_vl(net, o, s, p->in, out, sl);

			if (vl >= net->nvl || vl == 15)
				continue;
			set.w[vl / 4] |= UINT64_C(1) << (16 * (vl % 4) + sl);
			any = true;
		}
	}
	return any ? dl_verify_sets_add(&f->sets, &set) : 0;
}

/* ---- from switch to switch ------------------------------------------------- */

/* A switch's next hop through a port, and what its own end ports send there. */
static ALWAYS_INLINE void flow_set_out(struct dl_verify_flow *f, const struct dl_verify_column *c,
				       struct dl_verify_stop *stops, unsigned int width, uint32_t s,
				       unsigned int i, unsigned int port)
{
	const struct dl_verify_net *net = f->net;
	struct dl_verify_stop *stop = &stops[width * s + i];
	uint32_t at = dl_verify_net_next(net, s, port);
	const struct dl_verify_next *hop = &net->next_hops[at];

	stop->out = at - net->hop_first[s];
	stop->set = 0;
	stop->next = hop->next;
	if (i && stop[0].out == stop[-1].out)
		stop->next = DL_NONE; /* the same */
	if (stop->next == DL_NONE) {
		f->ends += !i;
		return;
	}
	stop->dep = hop->dep;
	stop->slot = net->hop_slot[at];
	stop->set = s == c->root || f->sls_of ? dl_verify_flow_inject(f, c, s, stop->out) :
						flow_inject_all(f, c, s, stop->slot);
	stops[width * hop->next].waits++;
}

/* Orphans are few: each switch that has some is looked up, not each switch. */
static void flow_add_orphans(struct dl_verify_flow *f, const struct dl_verify_column *c,
			     unsigned int width)
{
	const struct dl_verify_orphans *o = f->net->orphans;
	uint32_t before = DL_NONE;

	for (uint32_t k = dl_verify_orphans_of(o, c->lid); k < o->n && o->list[k].lid == c->lid;
	     k++) {
		uint32_t s = o->list[k].sw;
		struct dl_verify_stop *stop = &f->stops[width * s];

		for (unsigned int i = 0; i < width && s != before; i++, stop++)
			if (stop->next != DL_NONE)
				stop->set = dl_verify_sets_union(
					&f->sets, stop->set,
					dl_verify_flow_orphans(f, o, c->lid, s, stop->out));
		before = s;
	}
}

static inline void flow_depend(struct dl_verify_net *net, uint32_t pair,
			       const struct dl_verify_step *step)
{
	uint64_t *deps = &net->deps[pair * (size_t)net->words];

	for (unsigned int w = 0; w < net->words; w++)
		deps[w] |= step->deps[w];
}

/*
 * Hand the packets of a next hop of switch s over to those of the switch there.
 * Returns whether the sets that this one sends on grew.
 */
static inline bool flow_hand_over(struct dl_verify_flow *f, struct dl_verify_stop *next,
				  unsigned int width, uint32_t s, const struct dl_verify_stop *stop)
{
	struct dl_verify_net *net = f->net;
	uint16_t *vls = &net->vls[net->links.first[s] + stop->slot];
	bool grew = false;

	for (unsigned int i = 0; i < width; i++, next++) {
		const struct dl_verify_step *step;
		struct dl_verify_pair *pair;
		uint32_t set;

		if (next->next == DL_NONE) {
			*vls |= f->sets.transitions[stop->set].vls;
			continue;
		}
		pair = &net->pairs[stop->dep + next->slot];
		step = dl_verify_sets_step(&f->sets, stop->set, pair->row);
		if (pair->last != stop->set) {
			/* Else all this is known already. */
			*vls |= f->sets.transitions[stop->set].vls;
			flow_depend(net, stop->dep + next->slot, step);
			pair->last = stop->set <= UINT16_MAX ? stop->set : 0;
		}
		if (step->dropped)
			f->suspicious = true;
		set = dl_verify_sets_union(&f->sets, next->set, step->to);
		grew |= set != next->set;
		next->set = set;
	}
	return grew;
}

/* Round and beyond until nothing changes. */
static void flow_go_round(struct dl_verify_flow *f, unsigned int width)
{
	enum { QUEUED = DONE - 1 };
	struct dl_verify_stop *stops = f->stops;
	uint32_t *queue = f->order + f->norder, n = 0;

	for (uint32_t s = f->net->nsw; s--;) {
		if (stops[width * s].waits == DONE)
			continue;
		stops[width * s].waits = QUEUED;
		queue[n++] = s;
	}
	while (n && !f->sets.failed) {
		uint32_t s = queue[--n];
		struct dl_verify_stop *at = &stops[width * s];

		at->waits = DONE;
		for (unsigned int i = 0; i < width; i++) {
			struct dl_verify_stop *next;

			if (!at[i].set)
				continue;
			next = &stops[width * at[i].next];
			if (!flow_hand_over(f, next, width, s, &at[i]) || next->waits == QUEUED)
				continue;
			next->waits = QUEUED;
			queue[n++] = at[i].next;
		}
	}
}

/*
 * Start at each switch to which none sends, and go on to those whose packets are
 * complete: neighbours in the fabric are neighbours in memory, mostly.
 */
static ALWAYS_INLINE void flow_run_ordered(struct dl_verify_flow *f, struct dl_verify_stop *stops,
					   unsigned int width)
{
	uint32_t nsw = f->net->nsw, n = 0, done = 0, *order = f->order;

	for (uint32_t leaf = 0; leaf < nsw; leaf++) {
		if (stops[width * leaf].waits)
			continue;
		stops[width * leaf].waits = DONE;
		order[n++] = leaf;
		while (done < n) {
			uint32_t s = order[done++];
			struct dl_verify_stop *stop = &stops[width * s];

			for (unsigned int i = 0; i < width; i++, stop++) {
				struct dl_verify_stop *next;

				if (stop->next == DL_NONE)
					continue;
				next = &stops[width * stop->next];
				if (stop->set)
					flow_hand_over(f, next, width, s, stop);
				if (--next->waits)
					continue;
				next->waits = DONE;
				order[n++] = stop->next;
			}
		}
	}
	f->norder = n;
}

static ALWAYS_INLINE void flow_run_width(struct dl_verify_flow *f, const struct dl_verify_column *c,
					 unsigned int width)
{
	struct dl_verify_stop *stops = f->stops;
	uint32_t nsw = f->net->nsw;

	for (uint32_t s = 0; s < nsw; s++)
		stops[width * s].waits = 0;
	for (uint32_t s = 0; s < nsw; s++) {
		flow_set_out(f, c, stops, width, s, 0, c->out[s]);
		if (width > 1)
			flow_set_out(f, c, stops, width, s, 1, c->other[s]);
	}
	if (f->net->orphans)
		flow_add_orphans(f, c, width);
	flow_run_ordered(f, stops, width);
	f->ring = f->norder < nsw;
	if (f->ring)
		flow_go_round(f, width);
}

int dl_verify_flow_run(struct dl_verify_flow *f, const struct dl_verify_column *c)
{
	if (f->sets.n > MANY_SETS && !f->lasting)
		dl_verify_flow_forget(f);
	f->suspicious = false;
	f->ends = 0;
	f->width = c->other ? 2 : 1;
	if (c->other)
		flow_run_width(f, c, 2);
	else
		flow_run_width(f, c, 1);
	return f->sets.failed ? -ENOMEM : 0;
}

/* ---- all ------------------------------------------------------------------- */

void dl_verify_flow_forget(struct dl_verify_flow *f)
{
	size_t npairs = f->net->pair_first[f->net->nsw];

	dl_verify_sets_clear(&f->sets);
	memset(f->inject, 0, sizeof(f->inject));
	for (size_t i = 0; i < npairs; i++)
		f->net->pairs[i].last = 0;
}

int dl_verify_flow_init(struct dl_verify_flow *f, struct dl_verify_net *net, unsigned int width)
{
	size_t nsw = net->nsw + 1ul;
	int err;

	memset(f, 0, sizeof(*f));
	f->net = net;
	err = dl_verify_sets_init(&f->sets, net->values, net->nvl);
	if (err)
		return err;
	f->stops = dl_arena_array(net->arena, width * nsw, sizeof(*f->stops));
	f->order = dl_arena_array(net->arena, nsw, sizeof(*f->order));
	if (!f->stops || !f->order)
		return -ENOMEM;
	dl_verify_flow_forget(f);
	return 0;
}

void dl_verify_flow_release(struct dl_verify_flow *f)
{
	dl_verify_sets_release(&f->sets);
}
