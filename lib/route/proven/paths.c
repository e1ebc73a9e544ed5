/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Paths, target by target, and the dependencies they cause.
 *
 * All packets to one target that pass another leave it by the same link.  A
 * link therefore knows, for each target, which classes of packets travel
 * on it (struct dl_repair_transition): at most 16.  Packets of one source are
 * added by following their path until a link that knows their class: from
 * there on all has been done by others.  So the work is what there is to know,
 * links times classes, and not sources times the length of their paths.
 *
 * DOR's paths are added a destination at a time, from the farthest switch
 * inwards, and their edges are permanent: a pair of links that has met classes
 * of packets in this way need not count them again, not now for the next
 * destination and not later.
 *
 * Memory: three bytes for each switch and target that has paths which DOR does not
 * give it, until all has been written; what others would need is never touched.
 * Path SLs, a byte for each target and switch, come after these.
 */
#include <errno.h>
#include <string.h>

#include "route/proven/internal.h"

int dl_repair_paths_init(struct dl_repair_paths *p, struct dl_arena *arena,
			 struct dl_repair_cdg *cdg, const struct dl_route_rings *rings)
{
	const struct dl_torus *t = cdg->net->torus;
	size_t n = cdg->net->nsw;
	uint32_t s;
	unsigned int d;

	p->net = cdg->net;
	p->cdg = cdg;
	p->rings = rings;
	if (!(DL_REPAIR_NEW(arena, p->moves, n * DL_TORUS_DIMS) &&
	      DL_REPAIR_NEW(arena, p->coord, n) &&
	      DL_REPAIR_NEW(arena, p->steps, n * 2 * DL_REPAIR_SLS)))
		return -ENOMEM;
	for (s = 0; s < n; s++) {
		if (t->sw_site[s] == DL_NONE)
			continue;
		dl_torus_site_coord(&t->grid, t->sw_site[s], p->coord[s]);
		for (d = 0; d < DL_TORUS_DIMS; d++)
			p->moves[s * DL_TORUS_DIMS + d] = dl_route_moves(rings, t->sw_site[s], d);
	}
	return dl_repair_paths_hold(p);
}

int dl_repair_paths_hold(struct dl_repair_paths *p)
{
	size_t n = (p->net->ntargets + (size_t)1) * p->net->nsw;

	return DL_REPAIR_NEW(&p->arena, p->next, n) && DL_REPAIR_NEW(&p->arena, p->classes, n) ?
		       0 :
		       -ENOMEM;
}

void dl_repair_paths_drop(struct dl_repair_paths *p)
{
	dl_arena_free(&p->arena);
	p->next = NULL;
	p->classes = NULL;
}

void dl_repair_paths_begin(struct dl_repair_paths *p, uint32_t target)
{
	size_t nsw = p->net->nsw;

	memset(&p->next[target * nsw], DL_REPAIR_NO_LINK, nsw);
	memset(&p->classes[target * nsw], 0, nsw * sizeof(*p->classes));
}

/* ---- DOR --------------------------------------------------------------- */

int dl_repair_dor_init(struct dl_repair_dor *d, struct dl_arena *arena, uint32_t nsw)
{
	if (!(DL_REPAIR_NEW(arena, d->next, nsw) && DL_REPAIR_NEW(arena, d->sls, nsw) &&
	      DL_REPAIR_NEW(arena, d->states, nsw) && DL_REPAIR_NEW(arena, d->order, nsw) &&
	      DL_REPAIR_NEW(arena, d->beyond, nsw) && DL_REPAIR_NEW(arena, d->pair, nsw) &&
	      DL_REPAIR_NEW(arena, d->dir, nsw)))
		return -ENOMEM;
	return 0;
}

/*
 * On a ring that is cut between a switch and its target: on towards it as far
 * as there are cables and switches that pass packets on, then the early turn.
 */
static unsigned int towards_cut(const struct dl_repair_paths *p, uint32_t from, unsigned int dim,
				uint32_t to)
{
	const struct dl_torus_grid *g = &p->net->torus->grid;
	uint32_t at = p->coord[from][dim];
	uint32_t ahead = (to + g->radix[dim] - at) % g->radix[dim];
	uint32_t behind = g->radix[dim] - ahead;
	bool minus = g->mesh[dim] || ahead == behind ? to < at : behind < ahead;
	unsigned int index = p->net->dir_index[from * DL_TORUS_DIRS + dl_torus_dir(dim, minus)];
	const struct dl_repair_link *link = &p->net->links[p->net->first[from] + index];

	return index != DL_REPAIR_NO_LINK && dl_repair_may_enter(p->net, link->to, DL_NONE) ?
		       index :
		       DL_REPAIR_NO_LINK;
}

/* `parity`: the target's, by dimension. */
static unsigned int dor_index(const struct dl_repair_paths *p, uint32_t from,
			      const uint32_t to[DL_TORUS_DIMS],
			      const unsigned int parity[DL_TORUS_DIMS])
{
	const uint32_t *radix = p->net->torus->grid.radix;
	const uint8_t **moves = &p->moves[from * DL_TORUS_DIMS];
	unsigned int d, index, beside = 0;

	for (d = 0; d < DL_TORUS_DIMS; d++) {
		enum dl_route_move move =
			moves[d][(beside + parity[d]) * radix[d] * radix[d] + to[d]];

		if (move == DL_ROUTE_TURN)
			beside = DL_ROUTE_BESIDE;
		if (move == DL_ROUTE_HERE || move == DL_ROUTE_TURN)
			continue;
		if (move != DL_ROUTE_CUT)
			return p->net->dir_index[from * DL_TORUS_DIRS +
						 dl_torus_dir(d, move == DL_ROUTE_MINUS)];
		index = towards_cut(p, from, d, to[d]);
		if (index != DL_REPAIR_NO_LINK)
			return index;
	}
	return DL_REPAIR_NO_LINK;
}

/* To an avoided switch, along its own rings, where it is a hole to all other packets. */
static void dor_own_rings(const struct dl_repair_paths *p, struct dl_repair_dor *d,
			  const unsigned int parity[DL_TORUS_DIMS])
{
	const struct dl_repair_net *net = p->net;
	const struct dl_torus *t = net->torus;

	for (unsigned int dim = 0; dim < DL_TORUS_DIMS; dim++) {
		uint32_t ring = dl_route_ring(&t->grid, t->sw_site[d->to], dim);

		for (uint32_t i = 0; i < t->grid.radix[dim]; i++) {
			uint32_t s = t->site_sw[dl_route_ring_site(&t->grid, ring, dim, i)];
			enum dl_route_move move;

			if (s == DL_NONE || s == d->to)
				continue;
			move = dl_route_move_to(p->rings, d->to, dim, i, parity[dim]);
			d->next[s] =
				move == DL_ROUTE_CUT ?
					DL_REPAIR_NO_LINK :
					net->dir_index[s * DL_TORUS_DIRS +
						       dl_torus_dir(dim, move == DL_ROUTE_MINUS)];
		}
	}
}

void dl_repair_dor_find(const struct dl_repair_paths *p, uint32_t target, struct dl_repair_dor *d)
{
	const struct dl_repair_net *net = p->net;
	const struct dl_torus *t = net->torus;
	const struct dl_repair_link *link;
	uint32_t s, at, to = net->target_sw[target];
	unsigned int dim, parity = net->target_parity[target], along[DL_TORUS_DIMS];

	d->target = target;
	d->to = to;
	memset(d->next, DL_REPAIR_NO_LINK, net->nsw);
	memset(d->sls, 0, net->nsw);
	if (t->attachment[to] == DL_NONE)
		return;
	dl_route_sls_to(net->rule, t, to, parity, d->sls);
	at = t->site_sw[t->attachment[to]];
	/* Are all uplinks to where it is attached in use? */
	for (s = to; s != at; s = net->links[net->first[s] + net->uplink_index[s]].to)
		if (net->uplink_index[s] == DL_REPAIR_NO_LINK)
			return;
	for (dim = 0; dim < DL_TORUS_DIMS; dim++)
		along[dim] = dl_route_parity(parity, p->coord[at], dim);
	for (s = 0; s < net->nsw; s++)
		d->next[s] = t->sw_site[s] == DL_NONE ? net->uplink_index[s] :
							dor_index(p, s, p->coord[at], along);
	if (net->leaf && net->leaf[at] && at == to)
		dor_own_rings(p, d, along);
	/* An off-torus switch: to where it is attached, then down to it. */
	d->next[to] = DL_REPAIR_NO_LINK;
	for (s = to; s != at; s = link->to) {
		link = &net->links[net->first[s] + net->uplink_index[s]];
		d->next[link->to] = net->links[link->back].index;
	}
}

static const struct dl_repair_link *dor_link(const struct dl_repair_paths *p,
					     const struct dl_repair_dor *d, uint32_t from)
{
	return &p->net->links[p->net->first[from] + d->next[from]];
}

/* The state of a switch whose next one's is known. */
static enum dl_repair_state state_of(const struct dl_repair_dor *d, uint32_t s)
{
	uint32_t next = d->beyond[s];

	if (next == d->to)
		return DL_REPAIR_CONFORMANT;
	if (d->states[next] != DL_REPAIR_CONFORMANT)
		return d->states[next];
	/* From an off-torus switch into the torus is no turn. */
	return d->dir[s] != DL_TORUS_DIRS &&
			       dl_torus_dir_dim(d->dir[s]) > dl_torus_dir_dim(d->dir[next]) ?
		       DL_REPAIR_ILLEGAL_TURN :
		       DL_REPAIR_CONFORMANT;
}

/* What is needed of the links, in one pass over these: paths jump. */
static void look_up_links(const struct dl_repair_paths *p, struct dl_repair_dor *d)
{
	for (uint32_t s = 0; s < p->net->nsw; s++) {
		const struct dl_repair_link *link = dor_link(p, d, s);

		d->beyond[s] = DL_NONE;
		if (d->next[s] == DL_REPAIR_NO_LINK)
			continue;
		d->beyond[s] = link->to;
		d->pair[s] = link->pair;
		d->dir[s] = link->dir;
	}
}

void dl_repair_dor_follow(const struct dl_repair_paths *p, uint32_t target, struct dl_repair_dor *d)
{
	uint32_t n = p->net->nsw, to = p->net->target_sw[target], s, at, done = 0, top, next;

	dl_repair_dor_find(p, target, d);
	look_up_links(p, d);
	memset(d->states, DL_REPAIR_UNVISITED, n);
	d->states[to] = DL_REPAIR_CONFORMANT;
	for (s = 0; s < n; s++) {
		/* The path from s lies on a stack at the end of `order`. */
		top = n;
		for (at = s; d->states[at] == DL_REPAIR_UNVISITED; at = next) {
			d->states[at] = DL_REPAIR_ON_STACK;
			d->order[--top] = at;
			next = d->beyond[at];
			if (next == DL_NONE)
				break;
		}
		/* It ends nowhere, or in a ring. */
		if (d->states[at] == DL_REPAIR_ON_STACK)
			d->states[at] = DL_REPAIR_UNREACHABLE;
		for (; top < n; top++) {
			at = d->order[top];
			d->order[done++] = at;
			if (d->states[at] != DL_REPAIR_UNREACHABLE)
				d->states[at] = state_of(d, at);
		}
	}
}

/* ---- adding and taking back -------------------------------------------- */

/* Are the edges of these packets at a pair of links there for good? */
static bool is_permanent(const struct dl_repair_cdg *g, uint32_t pair, unsigned int class)
{
	return g->permanent[pair] >> class & 1;
}

static unsigned int paths_edge(unsigned int in, unsigned int out)
{
	return DL_REPAIR_VLS * in + out;
}

static void undo_steps(struct dl_repair_paths *p, uint16_t *classes, uint32_t n)
{
	while (n--) {
		const struct dl_repair_step *step = &p->steps[n];

		classes[step->sw] &= ~(1u << step->class);
		if (step->depends)
			dl_repair_cdg_drop(p->cdg, step->pair, step->bit);
	}
}

bool dl_repair_paths_add(struct dl_repair_paths *p, uint32_t target, uint32_t link, unsigned int sl)
{
	const struct dl_repair_net *net = p->net;
	uint16_t *classes = &p->classes[target * (size_t)net->nsw];
	uint8_t *next = &p->next[target * (size_t)net->nsw];
	const struct dl_repair_link *a = &net->links[link], *b;
	struct dl_repair_transition now, then;
	uint32_t from = a->from, n = 0, beyond;

	now = net->transition[DL_TORUS_DIRS][a->dir][sl];
	next[from] = a->index;
	while (!(classes[a->from] >> now.class & 1)) {
		struct dl_repair_step *step = &p->steps[n++];

		classes[a->from] |= 1u << now.class;
		*step = (struct dl_repair_step){ .sw = a->from, .class = now.class };
		if (a->to == net->target_sw[target])
			break;
		beyond = dl_repair_next(p, target, a->to);
		b = &net->links[beyond];
		then = net->transition[a->dir][b->dir][sl];
		step->pair = dl_repair_pair(net, link, beyond);
		step->bit = paths_edge(now.vl, then.vl);
		if (!is_permanent(p->cdg, step->pair, now.class)) {
			if (b->to == a->from ||
			    !dl_repair_cdg_add(p->cdg, link, now.vl, beyond, then.vl)) {
				undo_steps(p, classes, n);
				next[from] = DL_REPAIR_NO_LINK;
				return false;
			}
			step->depends = true;
		}
		link = beyond;
		a = b;
		now = then;
	}
	return true;
}

/* The classes on the next link, all with that turn or without. */
static uint16_t classes_after(const struct dl_repair_net *net, uint16_t classes, unsigned int in,
			      unsigned int out)
{
	uint16_t sls = (classes | classes >> DL_REPAIR_SLS) & 0xFF;

	if (net->rule->any_sl)
		return 1u << net->transition[in][out][0].class;
	return net->transition[in][out][0].class ? sls << DL_REPAIR_SLS : sls;
}

void dl_repair_paths_add_conformant(struct dl_repair_paths *p, const struct dl_repair_dor *d,
				    bool keep)
{
	const struct dl_repair_net *net = p->net;
	uint32_t row = keep ? d->target : net->ntargets, i = net->nsw - 1;
	uint16_t *classes = &p->classes[row * (size_t)net->nsw];
	uint8_t *next = &p->next[row * (size_t)net->nsw];

	dl_repair_paths_begin(p, row);
	while (i--) {
		uint32_t s = d->order[i], then = d->beyond[s], pair;
		unsigned int fresh, in = d->dir[s], out;

		if (d->states[s] != DL_REPAIR_CONFORMANT)
			continue;
		next[s] = d->next[s];
		classes[s] |= 1u << net->transition[DL_TORUS_DIRS][in][d->sls[s]].class;
		if (then == d->to)
			continue;
		out = d->dir[then];
		pair = d->pair[s] + d->next[then];
		for (fresh = classes[s] & ~p->cdg->permanent[pair]; fresh; fresh &= fresh - 1) {
			unsigned int class = __builtin_ctz(fresh);
			unsigned int sl = class % DL_REPAIR_SLS;

			dl_repair_cdg_add(p->cdg, net->first[s] + d->next[s], net->vl[in][class],
					  net->first[then] + d->next[then],
					  net->transition[in][out][sl].vl);
		}
		p->cdg->permanent[pair] |= classes[s];
		classes[then] |= classes_after(net, classes[s], in, out);
	}
}

void dl_repair_paths_remove(struct dl_repair_paths *p, uint32_t target)
{
	const struct dl_repair_net *net = p->net;
	uint16_t *classes = &p->classes[target * (size_t)net->nsw];
	uint32_t s, link, beyond, pair;
	unsigned int left, class, sl;

	for (s = 0; s < net->nsw; s++) {
		const struct dl_repair_link *a, *b;

		link = dl_repair_next(p, target, s);
		if (link == DL_NONE || net->links[link].to == net->target_sw[target])
			continue;
		a = &net->links[link];
		beyond = dl_repair_next(p, target, a->to);
		b = &net->links[beyond];
		pair = dl_repair_pair(net, link, beyond);
		for (left = classes[s] & ~p->cdg->permanent[pair]; left; left &= left - 1) {
			class = __builtin_ctz(left);
			sl = class % DL_REPAIR_SLS;
			dl_repair_cdg_drop(p->cdg, pair,
					   paths_edge(net->vl[a->dir][class],
						      net->transition[a->dir][b->dir][sl].vl));
		}
	}
	dl_repair_paths_begin(p, target);
}
