/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * All unicast packets at once: do they arrive, and which channels wait for
 * which?
 *
 * Method.  For each LID, all packets to it are followed at once (flow.c).
 *
 * Classes.  LIDs at the same switch whose columns differ there only (its
 * adapters, its own port 0, the LIDs of an LMC range) send the same packets
 * through all other switches; one pass serves them all.
 *
 * Delivery.  A pass notices that something is wrong: a path that ends, a ring,
 * a map that drops.  Only then unicast_audit() goes back from the destination
 * outwards, with the SLs that survive from each switch on, and counts pairs.
 *
 * Complexity: one forwarding entry read (columns.c), one cached set operation
 * and one OR per switch and class.
 */
#include <errno.h>
#include <string.h>

#include "verify/internal.h"

#define FORWARDED (1u << 16) /* beside 16 bits of surviving SLs */

struct pass {
	struct dl_verify_net *net;
	struct dl_verify_result *v; /* of delivery; NULL: it is not checked */
	uint32_t max_listed;
	struct dl_verify_flow flow;
	uint32_t *alive; /* audit: what survives from a switch on */
	bool suspicious; /* something is not delivered */

	struct dl_verify_columns columns;
};

static bool reaches_owner(const struct dl_verify_column *c)
{
	return c->root != DL_NONE && c->out[c->root] == c->last_port;
}

/* Do the packets to both LIDs take the same paths as far as the root? */
static bool same_ways(const struct pass *p, const struct dl_verify_column *a,
		      const struct dl_verify_column *b)
{
	uint32_t r = a->root, nsw = p->net->nsw;

	/* Orphans are those of one LID. */
	return !p->net->orphans && r == b->root && reaches_owner(a) && reaches_owner(b) &&
	       a->sl == b->sl && !memcmp(a->out, b->out, r) &&
	       !memcmp(a->out + r + 1, b->out + r + 1, nsw - r - 1);
}

/* ---- one class --------------------------------------------------------- */

/* The SLs that a source uses towards a column. */
static uint16_t source_sls(const struct pass *p, const struct dl_verify_column *c,
			   uint32_t psl_class)
{
	return dl_verify_net_sls(p->net, dl_verify_flow_sl(&p->flow, c, psl_class));
}

/*
 * At the root: the maps towards the owner's port.  Its own packets, and those
 * of its neighbours.
 */
static void check_last_hop(struct pass *p, const struct dl_verify_column *c)
{
	struct dl_verify_net *net = p->net;
	uint32_t root = c->root, port = dl_fabric_switch_node(net->f, root)->first_port;

	port += c->last_port;
	for (uint32_t l = net->links.first[root]; l < net->links.first[root + 1]; l++) {
		/* The far end of an output link is where one comes in from. */
		uint32_t from = net->links.link[l].to;
		const struct dl_verify_stop *stop = &p->flow.stops[from];
		uint16_t sls = p->flow.sets.transitions[stop->set].sls;
		uint32_t row;

		if (stop->next != root)
			continue;
		row = net->far[dl_verify_flow_link(&p->flow, from, stop)].row + c->last_port;
		dl_verify_net_leave(net, port, row, sls);
		if (sls & ~net->passes[net->rows[row]])
			p->suspicious = true;
	}
	for (uint32_t i = net->end_first[root]; i < net->end_first[root + 1]; i++) {
		uint32_t src = net->end_ports[i];
		uint32_t class = net->t->psl ? net->t->psl_src[src] : DL_NONE;
		uint32_t at = dl_verify_net_row(net, root, dl_fabric_access_port(net->f, src),
						c->last_port);
		uint16_t passed = net->passes[net->rows[at]] & net->end_passes[src];
		uint16_t sls = src == c->owner ? 0 : source_sls(p, c, class);

		net->gaps |= src != c->owner && dl_verify_flow_sl(&p->flow, c, class) > 16;
		if (sls & ~passed)
			p->suspicious = true;
		dl_verify_net_leave(net, port, at, sls & net->end_passes[src]);
	}
}

/* ---- counting what is lost --------------------------------------------- */

static uint32_t unicast_passes(const struct dl_verify_net *net, uint32_t row)
{
	return net->passes[net->rows[row]] | FORWARDED;
}

/* What survives from each switch's link to the owner. */
static void find_alive(struct pass *p, const struct dl_verify_column *c, uint32_t root)
{
	const struct dl_verify_net *net = p->net;

	memset(p->alive, 0, net->nsw * sizeof(*p->alive));
	for (uint32_t i = p->flow.norder; i--;) {
		uint32_t s = p->flow.order[i];
		const struct dl_verify_stop *stop = &p->flow.stops[s];
		uint32_t row;

		if (stop->next == DL_NONE)
			continue;
		row = net->far[dl_verify_flow_link(&p->flow, s, stop)].row;
		if (stop->next == root)
			p->alive[s] = unicast_passes(net, row + c->last_port);
		else if (p->alive[stop->next])
			p->alive[s] = p->alive[stop->next] &
				      unicast_passes(net, row + p->flow.stops[stop->next].out);
	}
}

static void list_lost(struct pass *p, const struct dl_verify_column *c, uint32_t src, uint32_t lost)
{
	struct dl_verify_walk w = { .src = src, .dst = c->owner, .dlid = c->lid };
	struct dl_verify_lost entry = { .src = src, .dst = c->owner, .dlid = c->lid };
	uint32_t link;
	int state;

	w.sl = lost & FORWARDED ? DL_TABLES_NO_SL : (uint32_t)__builtin_ctz(lost);
	state = dl_verify_walk_start(p->net, &w);
	if (!state)
		while ((state = dl_verify_walk_step(p->net, &w, &link)) > 0)
			;
	if (!state)
		return;
	entry.sl = w.sl;
	entry.fault = -1 - state;
	entry.sw = w.sw;
	entry.port = w.out;
	dl_verify_report_lost(p->v, p->max_listed, &entry);
}

static void audit_source(struct pass *p, const struct dl_verify_column *c, uint32_t root,
			 uint32_t s, uint32_t src)
{
	const struct dl_verify_net *net = p->net;
	uint32_t class = net->t->psl ? net->t->psl_src[src] : DL_NONE;
	unsigned int sl = dl_verify_flow_sl(&p->flow, c, class);
	uint32_t want = dl_verify_net_sls(net, sl) | FORWARDED, lost;
	unsigned int out = s == root ? c->last_port : p->flow.stops[s].out;
	uint32_t got = 0;

	if (s == root || p->flow.stops[s].next != DL_NONE) {
		uint32_t row = dl_verify_net_row(net, s, dl_fabric_access_port(net->f, src), out);

		got = (net->end_passes[src] | FORWARDED) & unicast_passes(net, row);
		if (s != root)
			got &= p->alive[s];
	}
	lost = want & ~got;
	/* One that may use any SL is lost when all are. */
	if (sl > 16 && got & FORWARDED && (got & net->alive))
		lost = 0;
	if (!lost)
		return;
	p->v->nlost++;
	if (p->v->nlisted < p->max_listed)
		list_lost(p, c, src, lost);
}

static void unicast_audit(struct pass *p, const struct dl_verify_column *c, uint32_t root)
{
	const struct dl_verify_net *net = p->net;

	find_alive(p, c, root);
	for (uint32_t s = 0; s < net->nsw; s++) {
		for (uint32_t i = net->end_first[s]; i < net->end_first[s + 1]; i++)
			if (net->end_ports[i] != c->owner)
				audit_source(p, c, root, s, net->end_ports[i]);
	}
}

/* ---- all --------------------------------------------------------------- */

/* The class of LIDs from c up to, not including, end. */
static int check_class(struct pass *p, const struct dl_verify_column *c,
		       const struct dl_verify_column *end)
{
	uint32_t root = reaches_owner(c) ? c->root : DL_NONE;
	uint64_t without_sl = p->flow.without_sl;
	int err = dl_verify_flow_run(&p->flow, c);

	p->suspicious = p->flow.suspicious || p->flow.ring || p->flow.ends != 1 || root == DL_NONE;
	for (const struct dl_verify_column *i = c; p->flow.ring && p->net->rings && i < end; i++)
		p->net->rings[i->lid] = true;
	p->net->gaps |= p->flow.without_sl > without_sl;
	/* What one LID lacks, all of the class lack. */
	if (p->net->t->psl && p->v)
		p->v->without_sl += (end - c) * (p->flow.without_sl - without_sl);
	for (const struct dl_verify_column *i = c; root != DL_NONE && i < end; i++)
		check_last_hop(p, i);
	/* A LID outside is lost to all, and the caller knows. */
	if (c->root != DL_NONE && p->v && p->suspicious)
		for (const struct dl_verify_column *i = c; i < end; i++)
			unicast_audit(p, i, root);
	return err;
}

static int judge_block(struct pass *p, struct dl_verify_column *c, uint32_t n)
{
	struct dl_verify_column *end = c + n, *next;
	int err = 0;

	dl_verify_columns_gather(&p->columns, c, n);
	for (; c < end && !err; c = next) {
		for (next = c + 1; next < end && same_ways(p, c, next); next++)
			;
		err = check_class(p, c, next);
	}
	return err;
}

static void leave_out(struct dl_verify_columns *x, const bool *left_out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n; i++)
		if (!left_out[x->list[i].lid])
			x->list[n++] = x->list[i];
	x->n = n;
}

static int pass_init(struct pass *p, struct dl_verify_net *net, struct dl_verify_result *v,
		     uint32_t max)
{
	int err;

	memset(p, 0, sizeof(*p));
	p->net = net;
	p->v = v;
	p->max_listed = max;
	err = dl_verify_flow_init(&p->flow, net, 1);
	if (err)
		return err;
	p->alive = dl_arena_array(net->arena, net->nsw + 1ul, sizeof(*p->alive));
	if (!p->alive)
		return -ENOMEM;
	err = dl_verify_columns_init(&p->columns, net, NULL);
	if (!err && net->left_out)
		leave_out(&p->columns, net->left_out);
	return err;
}

int dl_verify_unicast(struct dl_verify_net *net, struct dl_verify_result *v, uint32_t max)
{
	struct pass p;
	int err = pass_init(&p, net, v, max);

	for (uint32_t i = 0; !err && i < p.columns.n; i += DL_VERIFY_BLOCK) {
		uint32_t n = p.columns.n - i;

		dl_progress(net->log, "verifying", " LIDs", i, p.columns.n);
		err = judge_block(&p, &p.columns.list[i],
				  n < DL_VERIFY_BLOCK ? n : DL_VERIFY_BLOCK);
	}
	dl_progress(net->log, "verifying", " LIDs", 1, 1);
	dl_verify_flow_release(&p.flow);
	return err;
}
