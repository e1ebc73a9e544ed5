/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * For every step of a credit loop, a packet that causes it.
 *
 * Problem.  The check knows that some packet comes in on channel A and goes
 * out on channel B, but not which: it works with sets.  An administrator needs
 * one to look at: source, destination, SL.
 *
 * Method, unicast.  For each LID that switch U sends through A's port and the
 * next switch V through B's port: go from U against the direction of the
 * forwarding entries, nearest switches first, and walk the packets of the
 * sources found there until one takes both channels.  Between adapters first;
 * a switch's own port 0 is a second choice.
 *
 * Method, multicast.  The VL on A depends on the SL and on the port through
 * which the packet came into U; from there back any path that the masks and
 * maps allow will do, up to an adapter.
 *
 * Complexity: LIDs times switches times hops for one step at worst; in
 * practice the first few candidates serve.  Runs only once a loop was found.
 */
#include <errno.h>

#include "verify/internal.h"

struct search {
	const struct dl_verify_net *net;
	uint32_t a, b; /* link held, link waited for */
	const struct dl_fabric_link *held, *wanted;
	unsigned int a_vl, b_vl;
	uint16_t multicast_sls;
	uint32_t *queue; /* switches (unicast) or links (multicast) */
	uint32_t *seen;	 /* by the same: equal to `round` if seen */
	uint32_t round;
};

static unsigned int vl_out(const struct search *h, uint32_t s, unsigned int in, unsigned int out,
			   unsigned int sl)
{
	const struct dl_verify_net *net = h->net;

	return dl_tables_sl2vl_get(net->values[net->rows[dl_verify_net_row(net, s, in, out)]], sl);
}

/* ---- unicast ----------------------------------------------------------- */

/* Does this packet take channel A and then B? */
static bool takes_both(const struct search *h, uint32_t src, uint32_t dst, uint16_t lid,
		       unsigned int sl)
{
	struct dl_verify_walk w = { .src = src, .dst = dst, .dlid = lid, .sl = sl };
	bool on_a = false;
	uint32_t link;

	if (dl_verify_walk_start(h->net, &w))
		return false;
	while (dl_verify_walk_step(h->net, &w, &link) > 0) {
		if (on_a && link == h->b && w.vl == h->b_vl)
			return true;
		on_a = link == h->a && w.vl == h->a_vl;
	}
	return false;
}

static bool try_sources(const struct search *h, uint32_t s, bool adapters, uint16_t lid,
			struct dl_cycle_step *step)
{
	const struct dl_verify_net *net = h->net;
	uint32_t dst = net->f->lid_port[lid];

	for (uint32_t i = net->end_first[s]; i < net->end_first[s + 1]; i++) {
		uint32_t src = net->end_ports[i];
		unsigned int sls;

		if (src == dst || (net->f->ports[src].num != 0) != adapters)
			continue;
		sls = dl_verify_net_sls(net, dl_tables_path_sl(net->t, src, lid));
		for (; sls; sls &= sls - 1) {
			unsigned int sl = __builtin_ctz(sls);

			if (!takes_both(h, src, dst, lid, sl))
				continue;
			step->src = src;
			step->dlid = lid;
			step->sl = sl;
			return true;
		}
	}
	return false;
}

/* Sources behind channel A, nearest first. */
static bool search_upstream(struct search *h, uint16_t lid, bool adapters,
			    struct dl_cycle_step *step)
{
	const struct dl_verify_net *net = h->net;
	uint32_t head = 0, n = 0, start = h->held->from;

	h->round++;
	h->queue[n++] = start;
	h->seen[start] = h->round;
	while (head < n) {
		uint32_t s = h->queue[head++];

		if (try_sources(h, s, adapters, lid, step))
			return true;
		for (uint32_t l = net->links.first[s]; l < net->links.first[s + 1]; l++) {
			const struct dl_fabric_link *link = &net->links.link[l];
			uint32_t up = link->to;

			/* The opposite direction of the cable leads from up to s. */
			if (h->seen[up] == h->round || dl_tables_lft(net->t, up, lid) != link->in)
				continue;
			h->seen[up] = h->round;
			h->queue[n++] = up;
		}
	}
	return false;
}

/* To adapters or to switches; from adapters, then from switches where an end is one. */
static bool find_unicast(struct search *h, bool adapters, bool from_switches,
			 struct dl_cycle_step *step)
{
	const struct dl_verify_net *net = h->net;
	const struct dl_fabric *f = net->f;
	uint32_t u = h->held->from, v = h->held->to;

	for (uint32_t lid = 1; lid <= f->top_lid; lid++) {
		uint32_t dst = dl_verify_net_owner(net, lid);

		if (dst == DL_NONE || (f->ports[dst].num != 0) != adapters ||
		    dl_tables_lft(net->t, u, lid) != h->held->out ||
		    dl_tables_lft(net->t, v, lid) != h->wanted->out)
			continue;
		if ((!from_switches && search_upstream(h, lid, true, step)) ||
		    ((from_switches || !adapters) && search_upstream(h, lid, false, step)))
			return true;
	}
	return false;
}

/* ---- multicast --------------------------------------------------------- */

static bool in_mask(const struct dl_tables_mcast_group *g, uint32_t s, unsigned int port)
{
	return dl_tables_mask_get(&g->masks, s, port);
}

/* An end port at switch s that sends to the group through `out`, or DL_NONE. */
static uint32_t local_sender(const struct search *h, const struct dl_tables_mcast_group *g,
			     uint32_t s, unsigned int out, unsigned int sl, unsigned int vl)
{
	const struct dl_verify_net *net = h->net;

	for (uint32_t i = net->end_first[s + 1]; i-- > net->end_first[s];) {
		uint32_t src = net->end_ports[i];
		unsigned int in = dl_fabric_access_port(net->f, src), got;

		if ((!in && !in_mask(g, s, 0)) || !(net->end_passes[src] >> sl & 1))
			continue;
		got = vl_out(h, s, in, out, sl);
		if (got != 15 && (vl > 15 || got == vl))
			return src;
	}
	return DL_NONE;
}

/*
 * Who can have sent what travels on link A at its VL?  Goes back link by
 * link; only the step into A must give the VL asked for.
 */
static uint32_t sender_of(struct search *h, const struct dl_tables_mcast_group *g, unsigned int sl)
{
	const struct dl_verify_net *net = h->net;
	uint32_t head = 0, n = 0;

	/* A itself may be visited again, at another VL: it is not seen yet. */
	h->round++;
	h->queue[n++] = h->a;
	while (head < n) {
		unsigned int vl = head ? 16 : h->a_vl;
		const struct dl_fabric_link *link = &net->links.link[h->queue[head++]];
		uint32_t s = link->from, src;

		src = local_sender(h, g, s, link->out, sl, vl);
		if (src != DL_NONE)
			return src;
		for (uint32_t l = net->links.first[s]; l < net->links.first[s + 1]; l++) {
			/* Back along the cable of link l, into s. */
			const struct dl_fabric_link *back = &net->links.link[l];
			unsigned int in = back->out, got;

			if (in == link->out || h->seen[back->back] == h->round ||
			    !in_mask(g, back->to, back->in))
				continue;
			got = vl_out(h, s, in, link->out, sl);
			if (got == 15 || (vl < 16 && got != vl))
				continue;
			h->seen[back->back] = h->round;
			h->queue[n++] = back->back;
		}
	}
	return DL_NONE;
}

static bool find_multicast(struct search *h, struct dl_cycle_step *step)
{
	const struct dl_tables *t = h->net->t;
	uint32_t u = h->held->from, v = h->held->to;
	unsigned int in = h->held->in, out = h->wanted->out;

	if (in == out)
		return false;
	for (uint32_t i = 0; i < t->ngroups; i++) {
		const struct dl_tables_mcast_group *g = &t->groups[i];

		if (!in_mask(g, u, h->held->out) || !in_mask(g, v, out))
			continue;
		for (unsigned int sls = h->multicast_sls; sls; sls &= sls - 1) {
			unsigned int sl = __builtin_ctz(sls);

			if (vl_out(h, v, in, out, sl) != h->b_vl)
				continue;
			step->src = sender_of(h, g, sl);
			if (step->src == DL_NONE)
				continue;
			step->dlid = g->mlid;
			step->sl = sl;
			return true;
		}
	}
	return false;
}

/* ---- all --------------------------------------------------------------- */

int dl_verify_examples(const struct dl_verify_net *net, uint16_t multicast_sls,
		       struct dl_verify_result *v)
{
	size_t n = (net->links.n > net->nsw ? net->links.n : net->nsw) + 2;
	struct search h = { .net = net, .multicast_sls = multicast_sls };

	h.queue = dl_arena_array(net->arena, n, sizeof(*h.queue));
	h.seen = dl_arena_array(net->arena, n, sizeof(*h.seen));
	if (!h.queue || !h.seen)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->cycle.n; i++) {
		struct dl_cycle_step *step = &v->cycle.steps[i];
		const struct dl_cycle_step *next = &v->cycle.steps[(i + 1) % v->cycle.n];

		h.a = net->links.of_port[step->port];
		h.b = net->links.of_port[next->port];
		h.held = &net->links.link[h.a];
		h.wanted = &net->links.link[h.b];
		h.a_vl = step->vl;
		h.b_vl = next->vl;
		step->src = DL_NONE;
		if (!find_unicast(&h, true, false, step) && !find_multicast(&h, step))
			if (!find_unicast(&h, false, false, step))
				find_unicast(&h, true, true, step);
	}
	return 0;
}
