/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Entries on the move: the graph of what waits for what, and the packets that are under
 * way, followed from where they come to an entry that differs (the essay is in moving.c).
 */
#include <errno.h>
#include <string.h>

#include "verify/moving.h"

/* ---- the graph ----------------------------------------------------------- */

static uint32_t moving_pair(const struct dl_verify_net *net, uint32_t from, uint32_t to)
{
	return net->far[from].dep + to - net->links.first[net->links.link[from].to];
}

size_t dl_verify_moving_word(const struct dl_verify_moving *m, const struct moving_dep *d)
{
	return moving_pair(&m->net, d->from, d->to) * (size_t)m->net.words + d->word;
}

uint32_t dl_verify_moving_neighbours(const void *context, uint32_t channel, bool forward,
				     uint32_t *list)
{
	const struct dl_verify_moving *m = context;
	const struct dl_verify_net *net = &m->net;
	uint32_t link = channel / net->nvl, vl = channel % net->nvl, n = 0;
	const struct dl_fabric_link *own = &net->links.link[link];
	uint32_t s = forward ? own->to : own->from;

	for (uint32_t l = net->links.first[s]; l < net->links.first[s + 1]; l++) {
		uint32_t other = forward ? l : net->links.link[l].back;
		uint32_t pair = forward ? moving_pair(net, link, other) :
					  moving_pair(net, other, link);

		if (net->words == 1) {
			/* A row of the matrix, or a column. */
			uint64_t left = net->deps[pair] | m->live[pair];

			left = forward ? left >> vl * net->nvl & ((UINT64_C(1) << net->nvl) - 1) :
					 left >> vl & m->vl_column;
			for (; left; left &= left - 1)
				list[n++] = other * net->nvl +
					    __builtin_ctzll(left) / (forward ? 1 : net->nvl);
			continue;
		}
		for (unsigned int v = 0; v < net->nvl; v++) {
			unsigned int bit = forward ? vl * net->nvl + v : v * net->nvl + vl;
			size_t at = pair * (size_t)net->words + bit / 64;

			if ((net->deps[at] | m->live[at]) >> bit % 64 & 1)
				list[n++] = other * net->nvl + v;
		}
	}
	return n;
}

static bool moving_vote(struct dl_verify_moving *m, uint32_t from, uint32_t to)
{
	for (uint32_t i = 0; i < m->nvotes; i++) {
		if (m->votes[i].from == from && m->votes[i].to == to) {
			m->votes[i].votes++;
			return true;
		}
	}
	if (!dl_array_room(m->votes, m->nvotes, 1, &m->votes_cap))
		return false;
	m->votes[m->nvotes++] = (struct moving_vote){ from, to, 1 };
	return true;
}

/* A dependency of x on y was refused: the others of that cycle are in its way. */
static void moving_refuse(struct dl_verify_moving *m, uint32_t x, uint32_t y)
{
	for (uint32_t c = x; c != y; c = m->order.parent[c])
		if (!moving_vote(m, m->order.parent[c], c))
			m->flow.sets.failed = true;
}

void dl_verify_moving_drop(struct dl_verify_moving *m, size_t at, uint64_t bits)
{
	for (; bits; bits &= bits - 1)
		if (!--m->count[64 * at + __builtin_ctzll(bits)])
			m->live[at] &= ~(bits & -bits);
}

/* Insert a dependency once more.  False: it closes a cycle. */
static bool moving_add(struct dl_verify_moving *m, const struct moving_dep *d, size_t at,
		       unsigned int bit, bool ordered)
{
	unsigned int vls = 64 * d->word + bit;
	uint32_t x = d->from * m->net.nvl + vls / m->net.nvl;
	uint32_t y = d->to * m->net.nvl + vls % m->net.nvl;

	if (ordered && !(m->live[at] >> bit & 1) && !dl_order_insert(&m->order, x, y)) {
		if (m->voting)
			moving_refuse(m, x, y);
		return false;
	}
	m->count[64 * at + bit]++;
	m->live[at] |= UINT64_C(1) << bit;
	return true;
}

bool dl_verify_moving_add(struct dl_verify_moving *m, const struct moving_dep *deps, uint32_t n,
			  bool ordered)
{
	for (uint32_t i = 0; i < n; i++) {
		size_t at = dl_verify_moving_word(m, &deps[i]);

		for (uint64_t left = deps[i].bits; left; left &= left - 1) {
			if (moving_add(m, &deps[i], at, __builtin_ctzll(left), ordered))
				continue;
			dl_verify_moving_drop(m, at, deps[i].bits & ~left);
			while (i--)
				dl_verify_moving_drop(m, dl_verify_moving_word(m, &deps[i]),
						      deps[i].bits);
			return false;
		}
	}
	return true;
}

/* ---- following packets --------------------------------------------------- */

/* Packets get to a link at some time: those that none got there before are followed. */
static void moving_push(struct dl_verify_moving *m, uint32_t link, uint32_t set, unsigned int time)
{
	struct dl_verify_set fresh = m->flow.sets.sets[set], *seen = &m->seen[link];
	uint64_t any = 0, had = 0;

	for (unsigned int w = 0; w < 4; w++) {
		had |= seen->w[w];
		fresh.w[w] &= ~seen->w[w];
		seen->w[w] |= fresh.w[w];
		any |= fresh.w[w];
	}
	if (!any)
		return;
	if (!had)
		m->links[m->nlinks++] = link;
	if (!dl_array_room(m->items, m->nitems, 1, &m->items_cap)) {
		m->flow.sets.failed = true;
		return;
	}
	m->items[m->nitems] = (struct moving_item){ link, dl_verify_sets_add(&m->flow.sets, &fresh),
						    m->first[time] };
	m->first[time] = m->nitems++;
	if (time > m->last)
		m->last = time;
}

/* The SLs from an end port to a LID, by both sets; to nobody's LID all, if neither knows. */
static uint16_t moving_sls(const void *context, uint32_t port, uint16_t lid)
{
	const struct dl_verify_moving *m = context;
	unsigned int now = dl_tables_path_sl(m->net.t, port, lid);
	unsigned int was = dl_tables_path_sl(m->held, port, lid);
	uint16_t sls = 0;

	if (m->net.sls)
		return m->net.sls;
	if (now != DL_TABLES_NO_SL)
		sls |= dl_verify_net_sls(&m->net, now);
	if (was != DL_TABLES_NO_SL)
		sls |= dl_verify_net_sls(&m->net, was);
	return sls || m->net.f->lid_port[lid] != DL_NONE ? sls : m->net.alive;
}

int dl_verify_moving_begin_flow(struct dl_verify_moving *m)
{
	int err = dl_verify_flow_init(&m->flow, &m->net, 1);

	m->flow.sls_of = moving_sls;
	m->flow.context = m;
	m->flow.lasting = true;
	return err;
}

static struct dl_verify_column moving_column(const struct moving_lid *l)
{
	return (struct dl_verify_column){
		.lid = l->lid, .owner = l->owner, .root = DL_NONE, .out = l->column
	};
}

struct moving_hop {
	uint32_t link;
	unsigned int time;
};

/* A port that packets meet from one time to another, if they are at its switch at `time`. */
static void moving_add_hop(const struct dl_verify_moving *m, uint32_t s, unsigned int port,
			   unsigned int time, unsigned int from, unsigned int until,
			   struct moving_hop *hops, unsigned int *n)
{
	if (time > until)
		return;
	hops[*n].link = dl_verify_net_link(&m->net, s, port);
	hops[*n].time = time > from ? time : from;
	*n += hops[*n].link != DL_NONE;
}

/* The links by which packets that are at a switch at some time go on, with their times. */
static unsigned int moving_hops(const struct dl_verify_moving *m, const struct moving_lid *l,
				uint32_t s, unsigned int time, struct moving_hop hops[MOVING_HOPS])
{
	const struct dl_verify_entry *e = m->entry_at[s] ? &l->entries[m->entry_at[s] - 1] : NULL;
	unsigned int n = 0, from = 0, moves = DL_VERIFY_STAYS;

	if (!e) {
		moving_add_hop(m, s, l->column[s], time, 0, DL_VERIFY_STAYS, hops, &n);
		return n;
	}
	if (e->hidden)
		return 0;
	for (uint32_t i = 0; i < e->nearlier; i++) {
		moving_add_hop(m, s, e->earlier[i].port, time, from, e->earlier[i].until, hops, &n);
		from = e->earlier[i].until;
	}
	if (e->time != DL_VERIFY_STAYS)
		moves = m->since + e->time;
	moving_add_hop(m, s, e->before, time, from, moves, hops, &n);
	if (e->time != DL_VERIFY_STAYS)
		moving_add_hop(m, s, e->after, time, moves, DL_VERIFY_STAYS, hops, &n);
	return n;
}

/* Packets cross a switch: their dependencies, but for the permanent ones. */
static void moving_pass_on(struct dl_verify_moving *m, const struct moving_lid *l,
			   const struct moving_item *item, unsigned int time)
{
	struct dl_verify_net *net = &m->net;
	struct moving_hop hops[MOVING_HOPS];
	unsigned int n = moving_hops(m, l, net->links.link[item->link].to, time, hops);

	for (unsigned int i = 0; i < n; i++) {
		uint32_t pair = moving_pair(net, item->link, hops[i].link);
		const struct dl_verify_step *step =
			dl_verify_sets_step(&m->flow.sets, item->set, net->pairs[pair].row);

		for (unsigned int w = 0; w < net->words; w++) {
			size_t word = pair * (size_t)net->words + w;
			uint64_t fresh = step->deps[w] & ~net->deps[word];

			if (fresh && !m->found[word])
				m->edges[m->nedges++] =
					(struct moving_dep){ item->link, hops[i].link, w, 0 };
			m->found[word] |= fresh;
		}
		if (step->to)
			moving_push(m, hops[i].link, step->to, hops[i].time);
	}
}

void dl_verify_moving_mark(struct dl_verify_moving *m, const struct moving_lid *l, bool here)
{
	for (uint32_t k = 0; k < l->n; k++)
		m->entry_at[l->entries[k].sw] = here ? k + 1 : 0;
}

void dl_verify_moving_follow(struct dl_verify_moving *m, const struct moving_lid *l)
{
	const struct dl_verify_column c = moving_column(l);
	struct moving_hop hops[MOVING_HOPS];

	m->nedges = 0;
	m->nitems = 1;
	m->last = 0;
	dl_verify_moving_mark(m, l, true);
	for (uint32_t i = 0; i < l->nseeds; i++)
		moving_push(m, l->seeds[i].link, l->seeds[i].set, 0);
	for (uint32_t k = 0; k < l->n; k++) {
		uint32_t s = l->entries[k].sw;
		unsigned int n = moving_hops(m, l, s, 0, hops);

		for (unsigned int i = 0; i < n; i++)
			moving_push(m, hops[i].link,
				    dl_verify_flow_inject(&m->flow, &c, s,
							  m->net.links.link[hops[i].link].out),
				    hops[i].time);
	}
	for (uint32_t k = l->first_orphan; k < l->first_orphan + l->norphans; k++) {
		uint32_t s = m->orphans->list[k].sw;
		unsigned int n = moving_hops(m, l, s, 0, hops);

		for (unsigned int i = 0; i < n; i++)
			moving_push(m, hops[i].link,
				    dl_verify_flow_orphans(&m->flow, m->orphans, l->lid, s,
							   m->net.links.link[hops[i].link].out),
				    hops[i].time);
	}
	for (unsigned int time = 0; time <= m->last; time++) {
		while (m->first[time]) {
			const struct moving_item item = m->items[m->first[time]];

			m->first[time] = item.next;
			moving_pass_on(m, l, &item, time);
		}
	}
	dl_verify_moving_mark(m, l, false);
	m->followed += m->nitems;
	while (m->nlinks)
		m->seen[m->links[--m->nlinks]] = (struct dl_verify_set){ { 0 } };
	for (uint32_t i = 0; i < m->nedges; i++) {
		size_t at = dl_verify_moving_word(m, &m->edges[i]);

		m->edges[i].bits = m->found[at];
		m->found[at] = 0;
	}
}

/* ---- packets that come to entries that differ ----------------------------- */

static int moving_add_seed(struct moving_lid *l, uint32_t link, uint32_t set)
{
	if (!dl_array_room(l->seeds, l->nseeds, 1, &l->seeds_cap))
		return -ENOMEM;
	l->seeds[l->nseeds++] = (struct moving_seed){ link, set };
	return 0;
}

/* The entries that stay and lead to one that differs: m->out, all others closed.  Are there any? */
static bool moving_upstream(struct dl_verify_moving *m, const struct moving_lid *l)
{
	const struct dl_verify_net *net = &m->net;
	uint32_t n = 0;

	memset(m->out, DL_TABLES_NO_PORT, net->nsw);
	for (uint32_t k = 0; k < l->n; k++)
		m->queue[n++] = l->entries[k].sw;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = m->queue[i];

		for (uint32_t at = net->links.first[s]; at < net->links.first[s + 1]; at++) {
			uint32_t in = net->links.link[at].back, t = net->links.link[in].from;

			if (m->out[t] != DL_TABLES_NO_PORT ||
			    dl_verify_net_link(net, t, l->column[t]) != in)
				continue;
			m->out[t] = l->column[t];
			m->queue[n++] = t;
		}
	}
	return n > l->n;
}

/*
 * Packets to a LID that nobody owns are not among the permanent ones yet: they are
 * followed from everywhere.
 */
int dl_verify_moving_find_seeds(struct dl_verify_moving *m, struct moving_lid *l)
{
	const struct dl_verify_net *net = &m->net;
	struct dl_verify_column c = moving_column(l);
	int err;

	if (l->owner != DL_NONE) {
		if (!moving_upstream(m, l))
			return 0;
		c.out = m->out;
	}
	err = dl_verify_flow_run(&m->flow, &c);
	/* Packets to nobody in a circle. */
	if (!err && l->owner == DL_NONE && m->flow.ring)
		err = -ELOOP;
	for (uint32_t k = l->n; k--;) {
		uint32_t s = l->entries[k].sw;

		for (uint32_t i = net->links.first[s]; i < net->links.first[s + 1]; i++) {
			uint32_t in = net->links.link[i].back, from = net->links.link[in].from;
			const struct dl_verify_stop *stop = &m->flow.stops[from];

			if (!err && stop->set && dl_verify_flow_link(&m->flow, from, stop) == in)
				err = moving_add_seed(l, in, stop->set);
		}
	}
	return err;
}
