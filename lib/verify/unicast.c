/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * All unicast packets at once: do they arrive, and which channels wait for
 * which?
 *
 * Problem.  S switches and D destination LIDs make S x D forwarding entries,
 * but sources times D pairs, each of many hops.  Following each pair
 * takes too long for large fabrics (16x16x16: 67 million pairs, 8 hops).
 *
 * Representation.  Forwarding depends on the destination alone, so for one
 * LID every switch has at most one next hop, and these form trees that lead
 * to the destination (or end at a fault), and possibly rings (routing loops).
 * All packets that pass a switch towards the LID share its output link.  Going
 * from the leaves inwards, each switch's packets are complete when all its
 * children are done; they are a set of (SL, VL) pairs (sets.c), and passing
 * one switch maps the set by the SL-to-VL map of its port pair and yields a
 * matrix of VLs that wait for VLs, added to the dependencies of that port
 * pair.  The result is exact, not an estimate: each element of a set is a
 * packet that some source sends with its path SL, and each dependency is one
 * that such a packet causes.
 *
 * Routing loops.  Packets circulate until their lifetime ends, so the sets on
 * a ring are propagated until they grow no more: at most 256 times round.
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

#define MANY_SETS (1u << 15) /* forget them between destinations */
#define DONE 0xFFFF
#define FORWARDED (1u << 16) /* beside 16 bits of surviving SLs */

/* A switch as seen by the packets to one class of LIDs. */
struct stop {
	uint32_t next;	/* switch, or DL_NONE: the path ends here */
	uint32_t set;	/* packets on the link to it */
	uint32_t dep;	/* pair of that link and the first beyond */
	uint16_t waits; /* children not yet done, or DONE */
	uint8_t out;	/* output port, or nports + 1 for a bad one */
	uint8_t slot;	/* number of the link among the switch's */
};

struct pass {
	struct dl_verify_net *net;
	struct dl_verify_result *v;
	uint32_t max_listed;
	struct dl_verify_sets sets;
	uint32_t inject[17]; /* sets of one path SL, [16] of none; 0: unset */
	struct stop *stops;
	uint32_t *order; /* switches, children before parents */
	uint32_t norder;
	uint32_t *alive; /* audit: what survives from a switch on */
	bool suspicious; /* something is not delivered */
	bool ring;	 /* entries lead round */
	bool delivery;	 /* check it? */

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

	return r == b->root && reaches_owner(a) && reaches_owner(b) && a->sl == b->sl &&
	       !memcmp(a->out, b->out, r) && !memcmp(a->out + r + 1, b->out + r + 1, nsw - r - 1);
}

/* ---- one class --------------------------------------------------------- */

static unsigned int source_sl(const struct pass *p, const struct dl_verify_column *c,
			      uint32_t psl_class)
{
	if (p->net->sls)
		return 16;
	if (!c->sl || psl_class == DL_NONE || c->sl[psl_class] > 15)
		return DL_TABLES_NO_SL;
	return c->sl[psl_class];
}

/* The SLs that a source uses towards a column. */
static uint16_t source_sls(const struct pass *p, const struct dl_verify_column *c,
			   uint32_t psl_class)
{
	return dl_verify_net_sls(p->net, source_sl(p, c, psl_class));
}

/* The packets that a source puts on a link to which `row` maps them. */
static uint32_t unicast_inject(struct pass *p, const struct dl_verify_column *c,
			       const struct dl_verify_source *src, uint32_t row)
{
	const struct dl_verify_net *net = p->net;
	unsigned int sl = source_sl(p, c, src->psl);
	const struct dl_verify_step *step;
	uint16_t sls;
	uint32_t from;

	if (sl > 16) {
		p->v->without_sl += net->t->psl && p->delivery ? src->count : 0;
		sl = 16;
	}
	sls = dl_verify_net_sls(net, sl);
	if (!sls)
		return 0;
	if (src->sls == 0xFFFF) {
		if (!p->inject[sl])
			p->inject[sl] = dl_verify_sets_add_mask(&p->sets, sls, 0);
		from = p->inject[sl];
	} else {
		if (sls & ~src->sls)
			p->suspicious = true;
		from = dl_verify_sets_add_mask(&p->sets, sls & src->sls, 0);
	}
	step = dl_verify_sets_step(&p->sets, from, row);
	if (step->dropped)
		p->suspicious = true;
	return step->to;
}

static uint32_t inject_all(struct pass *p, const struct dl_verify_column *c, uint32_t s,
			   unsigned int slot)
{
	const struct dl_verify_net *net = p->net;
	uint32_t end = net->source_first[s + 1], set = 0;

	for (uint32_t i = net->source_first[s]; i < end; i++) {
		const struct dl_verify_source *src = &net->sources[i];
		uint32_t row = net->source_rows[src->links + slot];

		set = dl_verify_sets_union(&p->sets, set, unicast_inject(p, c, src, row));
	}
	return set;
}

/* Where a LID's own switch sends it away: all but its owner do so. */
static uint32_t inject_others(struct pass *p, const struct dl_verify_column *c, uint32_t s,
			      unsigned int out)
{
	const struct dl_verify_net *net = p->net;
	uint32_t set = 0;

	for (uint32_t i = net->end_first[s]; i < net->end_first[s + 1]; i++) {
		uint32_t port = net->end_ports[i];
		struct dl_verify_source src;

		if (port == c->owner)
			continue;
		src = dl_verify_net_source(net, s, port);
		set = dl_verify_sets_union(&p->sets, set,
					   unicast_inject(p, c, &src, net->rows[src.row + out]));
	}
	return set;
}

/* Every switch's next hop, and what its own end ports send there. */
static void set_out(struct pass *p, const struct dl_verify_column *c, uint32_t root)
{
	const struct dl_verify_net *net = p->net;
	uint32_t ends = 0;

	for (uint32_t s = 0; s < net->nsw; s++)
		p->stops[s].waits = 0;
	for (uint32_t s = 0; s < net->nsw; s++) {
		struct stop *stop = &p->stops[s];
		uint32_t at = dl_verify_net_next(net, s, c->out[s]);
		const struct dl_verify_next *hop = &net->next_hops[at];

		stop->out = at - net->hop_first[s];
		stop->set = 0;
		stop->next = s == root ? DL_NONE : hop->next;
		if (stop->next == DL_NONE) {
			ends++;
			continue;
		}
		stop->dep = hop->dep;
		stop->slot = net->hop_slot[at];
		stop->set = s == c->root ? inject_others(p, c, s, stop->out) :
					   inject_all(p, c, s, stop->slot);
		p->stops[hop->next].waits++;
	}
	if (ends != 1 || root == DL_NONE)
		p->suspicious = true;
}

/* The link on which a switch's packets leave. */
static uint32_t link_of(const struct pass *p, uint32_t s)
{
	return p->net->links.first[s] + p->stops[s].slot;
}

static void unicast_depend(struct dl_verify_net *net, uint32_t pair,
			   const struct dl_verify_step *step)
{
	uint64_t *deps = &net->deps[pair * (size_t)net->words];

	for (unsigned int w = 0; w < net->words; w++)
		deps[w] |= step->deps[w];
}

/*
 * Hand the packets of switch s over to the next switch.  Returns the set that
 * the next one sends on because of them; 0 when the path ends there.
 */
static uint32_t hand_over(struct pass *p, uint32_t s)
{
	const struct stop *stop = &p->stops[s];
	const struct stop *next = &p->stops[stop->next];
	const struct dl_verify_step *step;
	struct dl_verify_pair *pair;

	if (next->next == DL_NONE) {
		p->net->vls[link_of(p, s)] |= p->sets.transitions[stop->set].vls;
		return 0;
	}
	pair = &p->net->pairs[stop->dep + next->slot];
	step = dl_verify_sets_step(&p->sets, stop->set, pair->row);
	if (pair->last != stop->set) {
		/* Else all this is known already. */
		p->net->vls[link_of(p, s)] |= p->sets.transitions[stop->set].vls;
		unicast_depend(p->net, stop->dep + next->slot, step);
		pair->last = stop->set <= UINT16_MAX ? stop->set : 0;
	}
	if (step->dropped)
		p->suspicious = true;
	return step->to;
}

/* Round a routing loop until nothing changes. */
static void go_round(struct pass *p, uint32_t start)
{
	uint32_t s = start, quiet = 0, len = 0;

	do {
		len++;
		p->stops[s].waits = DONE;
		s = p->stops[s].next;
	} while (s != start);
	while (quiet < len && !p->sets.failed) {
		struct stop *next = &p->stops[p->stops[s].next];
		uint32_t set = next->set;

		if (p->stops[s].set)
			set = dl_verify_sets_union(&p->sets, set, hand_over(p, s));
		quiet = set == next->set ? quiet + 1 : 0;
		next->set = set;
		s = p->stops[s].next;
	}
}

/*
 * Start at each leaf and go on towards the root for as long as all children
 * are done: neighbours in the fabric are neighbours in memory, mostly.
 */
static void unicast_flow(struct pass *p)
{
	uint32_t nsw = p->net->nsw, n = 0;

	for (uint32_t leaf = 0; leaf < nsw; leaf++) {
		uint32_t s = leaf;

		while (!p->stops[s].waits) {
			struct stop *stop = &p->stops[s], *next;

			stop->waits = DONE;
			p->order[n++] = s;
			if (stop->next == DL_NONE)
				break;
			next = &p->stops[stop->next];
			if (stop->set)
				next->set =
					dl_verify_sets_union(&p->sets, next->set, hand_over(p, s));
			next->waits--;
			s = stop->next;
		}
	}
	p->norder = n;
	p->ring = n < nsw;
	if (!p->ring)
		return;
	p->suspicious = true;
	for (uint32_t s = 0; s < nsw; s++)
		if (p->stops[s].waits != DONE)
			go_round(p, s);
}

/*
 * At the root: the maps towards the owner's port.  Its own packets, and those
 * of its neighbours.
 */
static void check_last_hop(struct pass *p, const struct dl_verify_column *c)
{
	const struct dl_verify_net *net = p->net;
	uint32_t root = c->root;

	for (uint32_t l = net->links.first[root]; l < net->links.first[root + 1]; l++) {
		/* The far end of an output link is where one comes in from. */
		const struct stop *stop = &p->stops[net->links.link[l].to];
		uint16_t sls = p->sets.transitions[stop->set].sls;
		uint32_t row;

		if (stop->next != root)
			continue;
		row = net->far[link_of(p, net->links.link[l].to)].row + c->last_port;
		if (sls & ~net->passes[net->rows[row]])
			p->suspicious = true;
	}
	for (uint32_t i = net->end_first[root]; i < net->end_first[root + 1]; i++) {
		uint32_t src = net->end_ports[i];
		uint32_t class = net->t->psl ? net->t->psl_src[src] : DL_NONE;
		uint32_t at = dl_verify_net_row(net, root, dl_verify_entry_port(net->f, src),
						c->last_port);
		uint16_t passed = net->passes[net->rows[at]] & net->end_passes[src];

		if (src != c->owner && source_sls(p, c, class) & ~passed)
			p->suspicious = true;
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
	for (uint32_t i = p->norder; i--;) {
		uint32_t s = p->order[i];
		const struct stop *stop = &p->stops[s];

		if (stop->next == DL_NONE)
			continue;
		if (stop->next == root)
			p->alive[s] =
				unicast_passes(net, net->far[link_of(p, s)].row + c->last_port);
		else if (p->alive[stop->next])
			p->alive[s] = p->alive[stop->next] &
				      unicast_passes(net, net->far[link_of(p, s)].row +
								  p->stops[stop->next].out);
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
	unsigned int sl = source_sl(p, c, class);
	uint32_t want = dl_verify_net_sls(net, sl) | FORWARDED, lost;
	unsigned int out = s == root ? c->last_port : p->stops[s].out;
	uint32_t got = 0;

	if (s == root || p->stops[s].next != DL_NONE) {
		uint32_t row = dl_verify_net_row(net, s, dl_verify_entry_port(net->f, src), out);

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

static void forget_sets(struct pass *p)
{
	size_t npairs = p->net->pair_first[p->net->nsw];

	dl_verify_sets_clear(&p->sets);
	memset(p->inject, 0, sizeof(p->inject));
	for (size_t i = 0; i < npairs; i++)
		p->net->pairs[i].last = 0;
}

/* The class of LIDs from c up to, not including, end. */
static int check_class(struct pass *p, const struct dl_verify_column *c,
		       const struct dl_verify_column *end)
{
	uint32_t root = reaches_owner(c) ? c->root : DL_NONE;
	uint64_t without_sl = p->v->without_sl;
	bool audited;

	if (p->sets.n > MANY_SETS)
		forget_sets(p);
	p->suspicious = false;
	set_out(p, c, root);
	unicast_flow(p);
	for (const struct dl_verify_column *i = c; p->ring && p->net->rings && i < end; i++)
		p->net->rings[i->lid] = true;
	/* What one LID lacks, all of the class lack. */
	p->v->without_sl += (end - c - 1) * (p->v->without_sl - without_sl);
	for (const struct dl_verify_column *i = c; root != DL_NONE && i < end; i++)
		check_last_hop(p, i);
	audited = p->delivery && p->suspicious;
	/* A LID outside is lost to all, and the caller knows. */
	for (const struct dl_verify_column *i = c; c->root != DL_NONE && audited && i < end; i++)
		unicast_audit(p, i, root);
	return p->sets.failed ? -ENOMEM : 0;
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
	size_t nsw = net->nsw + 1;
	int err;

	memset(p, 0, sizeof(*p));
	p->net = net;
	p->v = v;
	p->max_listed = max;
	err = dl_verify_sets_init(&p->sets, net->values, net->nvl);
	if (err)
		return err;
	p->stops = dl_arena_array(net->arena, nsw, sizeof(*p->stops));
	p->order = dl_arena_array(net->arena, nsw, sizeof(*p->order));
	p->alive = dl_arena_array(net->arena, nsw, sizeof(*p->alive));
	if (!p->stops || !p->order || !p->alive)
		return -ENOMEM;
	err = dl_verify_columns_init(&p->columns, net);
	if (!err && net->left_out)
		leave_out(&p->columns, net->left_out);
	return err;
}

int dl_verify_unicast(struct dl_verify_net *net, struct dl_verify_result *v, uint32_t max,
		      bool delivery)
{
	struct pass p;
	int err = pass_init(&p, net, v, max);

	p.delivery = delivery;
	if (!err)
		forget_sets(&p);
	for (uint32_t i = 0; !err && i < p.columns.n; i += DL_VERIFY_BLOCK) {
		uint32_t n = p.columns.n - i;

		dl_progress(net->log, "verifying", " LIDs", i, p.columns.n);
		err = judge_block(&p, &p.columns.list[i],
				  n < DL_VERIFY_BLOCK ? n : DL_VERIFY_BLOCK);
	}
	dl_progress(net->log, "verifying", " LIDs", 1, 1);
	dl_verify_sets_release(&p.sets);
	return err;
}
