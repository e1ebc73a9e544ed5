/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Routes, destination by destination, and the dependencies they cause.
 *
 * All packets to one switch that pass another leave it by the same hop.  A
 * hop therefore knows, for each destination, which kinds of packets travel on
 * it (struct dl_repair_transition): at most 16.  Packets of one source are added by walking
 * their way until a hop that knows their kind: from there on all has been done
 * by others.  So the work is what there is to know, hops times kinds, and not
 * sources times the length of their ways.
 *
 * The rule's ways in dimension order are added a destination at a time, from
 * the farthest switch inwards, and stay for good: a pair of hops that has met
 * kinds of packets in this way need not count them again, not now for the next
 * destination and not later.
 *
 * Memory: three bytes for each pair of switches.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "route/proven/internal.h"

int dl_repair_flows_init(struct dl_repair_flows *f,
			 const struct dl_repair_net *net,
			 const struct dl_route_rings *rings,
			 struct dl_repair_cdg *deps)
{
	const struct dl_torus *t = net->torus;
	size_t n = net->nsw;
	uint32_t s;
	unsigned int d;

	memset(f, 0, sizeof(*f));
	f->net = net;
	f->rings = rings;
	f->deps = deps;
	f->via = malloc(n * n + 1);
	f->kinds = malloc((n * n + 1) * sizeof(*f->kinds));
	f->ways = malloc((n * DL_TORUS_DIMS + 1) * sizeof(*f->ways));
	f->coord = malloc((n + 1) * sizeof(*f->coord));
	f->steps = malloc((n * 2 * DL_REPAIR_SLS + 1) * sizeof(*f->steps));
	if (!f->via || !f->kinds || !f->ways || !f->coord || !f->steps) {
		dl_repair_flows_release(f);
		return -ENOMEM;
	}
	for (s = 0; s < n; s++) {
		if (t->sw_site[s] == DL_NONE)
			continue;
		dl_torus_site_coord(&t->grid, t->sw_site[s], f->coord[s]);
		for (d = 0; d < DL_TORUS_DIMS; d++)
			f->ways[s * DL_TORUS_DIMS + d] =
				dl_route_ways(rings, t->sw_site[s], d) -
				rings->ways;
	}
	return 0;
}

void dl_repair_flows_release(struct dl_repair_flows *f)
{
	free(f->via);
	free(f->kinds);
	free(f->ways);
	free(f->coord);
	free(f->steps);
	memset(f, 0, sizeof(*f));
}

void dl_repair_flows_clear(struct dl_repair_flows *f)
{
	size_t n = f->net->nsw;

	memset(f->via, DL_REPAIR_NO_LINK, n * n);
	memset(f->kinds, 0, n * n * sizeof(*f->kinds));
}

/* ---- the plain rule ---------------------------------------------------- */

/*
 * On a ring that is cut between a switch and its target: on towards it as far
 * as there are cables, then the early turn.
 */
static unsigned int towards_cut(const struct dl_repair_flows *f, uint32_t from,
				unsigned int dim, uint32_t to)
{
	const struct dl_torus_grid *g = &f->net->torus->grid;
	uint32_t at = f->coord[from][dim];
	uint32_t ahead = (to + g->radix[dim] - at) % g->radix[dim];
	uint32_t behind = g->radix[dim] - ahead;
	bool minus = g->mesh[dim] || ahead == behind ? to < at : behind < ahead;

	return f->net->dir_slot[from * DL_TORUS_DIRS + dl_torus_dir(dim, minus)];
}

static unsigned int rule_slot(const struct dl_repair_flows *f, uint32_t from,
			      const uint32_t to[DL_TORUS_DIMS])
{
	const uint32_t *ways = &f->ways[from * DL_TORUS_DIMS];
	unsigned int d;

	for (d = 0; d < DL_TORUS_DIMS; d++) {
		enum dl_route_way way = f->rings->ways[ways[d] + to[d]];

		if (way == DL_ROUTE_WAY_HERE || way == DL_ROUTE_WAY_TURN)
			continue;
		if (way == DL_ROUTE_WAY_CUT) {
			unsigned int slot = towards_cut(f, from, d, to[d]);

			if (slot != DL_REPAIR_NO_LINK)
				return slot;
			continue;
		}
		return f->net
			->dir_slot[from * DL_TORUS_DIRS +
				   dl_torus_dir(d, way == DL_ROUTE_WAY_MINUS)];
	}
	return DL_REPAIR_NO_LINK;
}

void dl_repair_flows_dor(const struct dl_repair_flows *f, uint32_t to,
			 uint8_t *slots)
{
	const struct dl_repair_net *net = f->net;
	const struct dl_torus *t = net->torus;
	const struct dl_repair_link *hop;
	uint32_t s, home;

	memset(slots, DL_REPAIR_NO_LINK, net->nsw);
	if (t->attachment[to] == DL_NONE)
		return;
	home = t->site_sw[t->attachment[to]];
	for (s = 0; s < net->nsw; s++)
		slots[s] = t->sw_site[s] == DL_NONE ?
				   net->home_slot[s] :
				   rule_slot(f, s, f->coord[home]);
	/* An odd switch is reached as its home is, then down its way there. */
	slots[to] = DL_REPAIR_NO_LINK;
	for (s = to; s != home; s = hop->to) {
		hop = &net->hops[net->first[s] + net->home_slot[s]];
		slots[hop->to] = net->hops[hop->back].slot;
	}
}

void dl_repair_flows_sls(const struct dl_repair_flows *f, uint32_t to,
			 uint8_t *sls)
{
	memset(sls, 0, f->net->nsw);
	/* SLs are the same both ways. */
	if (f->net->torus->attachment[to] != DL_NONE)
		dl_route_sl_row(f->net->torus, to, sls);
}

static const struct dl_repair_link *rule_hop(const struct dl_repair_flows *f,
					     uint32_t from, const uint8_t *rule)
{
	return &f->net->hops[f->net->first[from] + rule[from]];
}

/* The fate of a switch whose next one's is known. */
static uint8_t fate_of(const struct dl_repair_flows *f, uint32_t s, uint32_t to,
		       const uint8_t *rule, const uint8_t *fates)
{
	const struct dl_repair_link *hop = rule_hop(f, s, rule), *next;

	if (hop->to == to)
		return DL_REPAIR_CONFORMANT;
	if (fates[hop->to] != DL_REPAIR_CONFORMANT)
		return fates[hop->to];
	next = rule_hop(f, hop->to, rule);
	/* From an odd switch into the torus is no turn. */
	if (hop->dir == DL_TORUS_DIRS)
		return DL_REPAIR_CONFORMANT;
	return dl_torus_dir_dim(hop->dir) > dl_torus_dir_dim(next->dir) ?
		       DL_REPAIR_ILLEGAL_TURN :
		       DL_REPAIR_CONFORMANT;
}

void dl_repair_flows_states(const struct dl_repair_flows *f, uint32_t to,
			    const uint8_t *rule, uint8_t *fates,
			    uint32_t *order)
{
	uint32_t n = f->net->nsw, s, at, done = 0, top, next;

	memset(fates, DL_REPAIR_UNVISITED, n);
	fates[to] = DL_REPAIR_CONFORMANT;
	for (s = 0; s < n; s++) {
		/* The way from s lies on a stack at the end of `order`. */
		top = n;
		for (at = s; fates[at] == DL_REPAIR_UNVISITED; at = next) {
			fates[at] = DL_REPAIR_ON_STACK;
			order[--top] = at;
			if (rule[at] == DL_REPAIR_NO_LINK)
				break;
			next = rule_hop(f, at, rule)->to;
		}
		if (fates[at] == DL_REPAIR_ON_STACK)
			fates[at] =
				DL_REPAIR_UNREACHABLE; /* no way, or a ring */
		for (; top < n; top++) {
			at = order[top];
			order[done++] = at;
			if (fates[at] != DL_REPAIR_UNREACHABLE)
				fates[at] = fate_of(f, at, to, rule, fates);
		}
	}
}

/* ---- adding and taking back -------------------------------------------- */

/* Is what packets of this kind cause at a pair of hops there for good? */
static bool is_kept(const struct dl_repair_cdg *g, uint32_t pair,
		    unsigned int kind)
{
	return g->kept[pair] >> kind & 1;
}

bool dl_repair_flow_add(struct dl_repair_flows *f, uint32_t to, uint32_t from,
			unsigned int slot, unsigned int sl)
{
	const struct dl_repair_net *net = f->net;
	uint8_t *via = &f->via[to * (size_t)net->nsw];
	uint16_t *kinds = &f->kinds[to * (size_t)net->nsw];
	uint32_t h = net->first[from] + slot, next, n = 0;
	const struct dl_repair_link *hop = &net->hops[h], *beyond;
	struct dl_repair_transition lane = net->lane[DL_TORUS_DIRS][hop->dir]
						    [sl],
				    after;

	via[from] = slot;
	while (!(kinds[hop->from] >> lane.kind & 1)) {
		struct dl_repair_flow_step *step = &f->steps[n++];

		kinds[hop->from] |= 1u << lane.kind;
		step->sw = hop->from;
		step->kind = lane.kind;
		step->depends = hop->to != to;
		if (!step->depends)
			break;
		next = net->first[hop->to] + via[hop->to];
		beyond = &net->hops[next];
		after = net->lane[hop->dir][beyond->dir][sl];
		step->pair = hop->pair + beyond->slot;
		step->bit = DL_REPAIR_VLS * lane.vl + after.vl;
		step->depends = !is_kept(f->deps, step->pair, lane.kind);
		if (step->depends &&
		    (beyond->to == hop->from ||
		     !dl_repair_cdg_add(f->deps, hop, h, lane.vl, beyond, next,
					after.vl))) {
			step->depends = false;
			goto refuse;
		}
		h = next;
		hop = beyond;
		lane = after;
	}
	return true;

refuse:
	while (n--) {
		const struct dl_repair_flow_step *step = &f->steps[n];

		kinds[step->sw] &= ~(1u << step->kind);
		if (step->depends)
			dl_repair_cdg_drop(f->deps, step->pair, step->bit);
	}
	via[from] = DL_REPAIR_NO_LINK;
	return false;
}

/* The kinds on the next hop, all with that turn or without. */
static uint16_t kinds_after(const struct dl_repair_net *net, uint16_t kinds,
			    unsigned int in, unsigned int out)
{
	uint16_t sls = (kinds | kinds >> DL_REPAIR_SLS) & 0xFF;

	return net->lane[in][out][0].kind ? sls << DL_REPAIR_SLS : sls;
}

void dl_repair_flow_add_conformant(struct dl_repair_flows *f, uint32_t to,
				   const uint8_t *rule, const uint8_t *sls,
				   const uint8_t *fates, const uint32_t *order)
{
	const struct dl_repair_net *net = f->net;
	uint16_t *kinds = &f->kinds[to * (size_t)net->nsw];
	uint8_t *via = &f->via[to * (size_t)net->nsw];
	uint32_t i = net->nsw - 1, h, next;

	while (i--) {
		uint32_t s = order[i], pair;
		const struct dl_repair_link *hop, *beyond;
		unsigned int fresh;

		if (fates[s] != DL_REPAIR_CONFORMANT)
			continue;
		via[s] = rule[s];
		h = net->first[s] + rule[s];
		hop = &net->hops[h];
		kinds[s] |= 1u
			 << net->lane[DL_TORUS_DIRS][hop->dir][sls[s]].kind;
		if (hop->to == to)
			continue;
		next = net->first[hop->to] + rule[hop->to];
		beyond = &net->hops[next];
		pair = hop->pair + beyond->slot;
		for (fresh = kinds[s] & ~f->deps->kept[pair]; fresh;
		     fresh &= fresh - 1) {
			unsigned int kind = __builtin_ctz(fresh);
			unsigned int sl = kind % DL_REPAIR_SLS;

			dl_repair_cdg_add(
				f->deps, hop, h, net->vl[hop->dir][kind],
				beyond, next,
				net->lane[hop->dir][beyond->dir][sl].vl);
		}
		f->deps->kept[pair] |= kinds[s];
		kinds[hop->to] |=
			kinds_after(net, kinds[s], hop->dir, beyond->dir);
	}
}

void dl_repair_flows_remove(struct dl_repair_flows *f, uint32_t to)
{
	const struct dl_repair_net *net = f->net;
	uint8_t *via = &f->via[to * (size_t)net->nsw];
	uint16_t *kinds = &f->kinds[to * (size_t)net->nsw];
	uint32_t s;

	for (s = 0; s < net->nsw; s++) {
		const struct dl_repair_link *hop, *beyond;
		unsigned int left;

		if (via[s] == DL_REPAIR_NO_LINK)
			continue;
		hop = &net->hops[net->first[s] + via[s]];
		if (hop->to == to)
			continue;
		beyond = &net->hops[net->first[hop->to] + via[hop->to]];
		for (left = kinds[s]; left; left &= left - 1) {
			unsigned int kind = __builtin_ctz(left);
			unsigned int sl = kind % DL_REPAIR_SLS;
			unsigned int in = net->vl[hop->dir][kind];

			if (is_kept(f->deps, hop->pair + beyond->slot, kind))
				continue;
			dl_repair_cdg_drop(
				f->deps, hop->pair + beyond->slot,
				DL_REPAIR_VLS * in +
					net->lane[hop->dir][beyond->dir][sl].vl);
		}
	}
	memset(via, DL_REPAIR_NO_LINK, net->nsw);
	memset(kinds, 0, net->nsw * sizeof(*kinds));
}
