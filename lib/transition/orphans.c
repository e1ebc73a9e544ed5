/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Packets that had passed a cable, or left an adapter, before it failed.
 *
 * No switch sends such packets any more, so whoever follows packets from their sources
 * through the fabric as it is now misses them.  They come in by a port without a cable, or
 * with another one, and go on: on VLs that depend on that port, by entries that are in
 * force when they meet them.
 *
 * Method.  For each LID whose old entries lead across a cable that has gone, the switches are
 * found from which they lead there, and path SLs of what is attached to these are handed on
 * along the entries, in the old fabric, each switch after those that send to it; those on such
 * a cable are what has passed it.  Where entries lead round, any SL may.  An adapter that has
 * gone matters where no other end port of its switch sends on the same SLs and VLs.
 *
 * A port that has got the LID of another one sends none to itself; what it had sent to that
 * one before is followed from its switch.
 *
 * Packets that may be under way since a change before this one have the ports that entries had
 * then as well, and its orphans are where they were.
 *
 * Complexity: ports of the switches behind such cables and what is attached to these, for
 * each such LID.
 */
#include <errno.h>
#include <stdlib.h>

#include "transition/internal.h"

struct orphans {
	const struct dl_tables *from;
	struct dl_fabric_match now; /* the old fabric in the new one */
	struct dl_arena arena;
	bool *gone; /* by old port: packets that leave by it have passed a cable which has gone */
	bool *lids; /* with entries for such ports */
	uint32_t *torn, ntorn; /* old switches with such ports */
	/* Of one LID: */
	uint32_t *set, nset; /* old switches from which it leads to such ports */
	bool *in_set;
	uint16_t *sls;	 /* by old switch in the set: what it sends on */
	uint32_t *waits; /* ... how many that send to it are not done */
	uint32_t *queue;
	uint32_t *ends, *first_end; /* end ports with a LID, by switch */
	const struct dl_transition_history *history;
	uint32_t *earlier; /* by old switch: its first port for this LID in there, plus 1 */
	struct dl_verify_orphans *out;
	uint32_t cap;
};

static int orphans_add(struct orphans *o, uint32_t in, uint16_t lid, uint16_t sls)
{
	const struct dl_fabric_port *p = &o->from->fabric->ports[in];
	uint32_t sw = dl_fabric_match_switch(&o->now, o->from->fabric->nodes[p->node].sw);
	struct dl_verify_orphans *out = o->out;
	uint32_t now;

	if (sw == DL_NONE || !sls)
		return 0;
	if (!dl_array_room(out->list, out->n, 1, &o->cap))
		return -ENOMEM;
	now = dl_fabric_match_port(&o->now, in);
	out->moved |= now != DL_NONE && o->now.to->ports[now].peer != DL_NONE;
	out->list[out->n++] =
		(struct dl_verify_orphan){ .sw = sw, .lid = lid, .sls = sls, .in = p->num };
	return 0;
}

/* The port by which a switch sends packets to a LID on to another switch, or DL_NONE. */
static uint32_t orphans_port(const struct orphans *o, uint32_t s, uint16_t lid)
{
	const struct dl_fabric *f = o->from->fabric;
	const struct dl_fabric_node *n = dl_fabric_switch_node(f, s);
	unsigned int port = dl_tables_lft(o->from, s, lid);

	return port && port <= n->nports &&
			       dl_fabric_peer_switch(f, n->first_port + port) != DL_NONE ?
		       n->first_port + port :
		       DL_NONE;
}

#define ORPHANS_PORTS (DL_VERIFY_MOST_EARLIER + 1)

/* All of them, with those that it had when packets met it that are under way. */
static unsigned int orphans_ports(const struct orphans *o, uint32_t s, uint16_t lid,
				  uint32_t ports[ORPHANS_PORTS])
{
	const struct dl_fabric *f = o->from->fabric;
	const struct dl_transition_history *h = o->history;
	uint32_t first = dl_fabric_switch_node(f, s)->first_port;
	unsigned int n = 0;

	ports[n] = orphans_port(o, s, lid);
	n += ports[n] != DL_NONE;
	for (uint32_t i = o->earlier[s]; h && i && i <= h->nearlier; i++) {
		const struct dl_verify_earlier *e = &h->earlier[i - 1];

		if (e->lid != lid || e->sw != s)
			break;
		if (dl_fabric_peer_switch(f, first + e->port) != DL_NONE)
			ports[n++] = first + e->port;
	}
	return n;
}

static uint16_t orphans_sls(const struct orphans *o, uint32_t port, uint16_t lid)
{
	unsigned int sl = dl_tables_path_sl(o->from, port, lid);

	return sl == DL_TABLES_NO_SL ? 0xFFFF : 1u << sl;
}

/* ---- adapters --------------------------------------------------------------- */

/* Do packets that come in by a switch's port get the VLs of those from its port 0? */
static bool orphans_like_port_0(const struct orphans *o, uint32_t sw, unsigned int in)
{
	const struct dl_tables *t = o->from;
	unsigned int nports = dl_fabric_switch_node(t->fabric, sw)->nports;
	bool alike = true;

	for (unsigned int out = 1; out <= nports && alike; out++)
		alike = t->sl2vl[dl_tables_map_index(t, sw, 0, out)] ==
			t->sl2vl[dl_tables_map_index(t, sw, in, out)];
	return alike;
}

static int orphans_of_adapter(struct orphans *o, uint32_t port)
{
	const struct dl_fabric *f = o->from->fabric;
	uint32_t in = f->ports[port].peer, sw = dl_fabric_access_switch(f, port);
	uint32_t own = dl_fabric_switch_node(f, sw)->first_port;
	bool alike = orphans_like_port_0(o, sw, f->ports[in].num);
	int err = 0;

	for (uint32_t lid = 1; lid <= o->from->top_lid && !err; lid++) {
		uint16_t sls = orphans_sls(o, port, lid);

		if (!alike || sls != orphans_sls(o, own, lid))
			err = orphans_add(o, in, lid, sls);
	}
	return err;
}

/* A port has got the LID of another one, to which it had sent packets; to itself it sends none. */
static int orphans_to_itself(struct orphans *o, uint32_t port)
{
	const struct dl_fabric *f = o->from->fabric;
	uint32_t now = dl_fabric_match_port(&o->now, port);
	const struct dl_fabric_port *p = now == DL_NONE ? NULL : &o->now.to->ports[now];
	uint32_t in = f->ports[port].num ? f->ports[port].peer : port;
	int err = 0;

	for (uint32_t lid = p ? p->lid : 0, i = 0; lid && i >> p->lmc == 0 && !err; i++, lid++)
		if (lid <= f->top_lid && f->lid_port[lid] != port)
			err = orphans_add(o, in, lid, orphans_sls(o, port, lid));
	return err;
}

/* ---- cables between switches ------------------------------------------------ */

/* What a history has for a LID; or forget it again. */
static void orphans_mark(struct orphans *o, uint16_t lid, bool here)
{
	const struct dl_verify_earlier *list = o->history ? o->history->earlier : NULL;
	uint32_t n = o->history ? o->history->nearlier : 0;

	for (uint32_t i = dl_array_count_before(k, n, list[k].lid < lid);
	     i < n && list[i].lid == lid; i++)
		if (!here)
			o->earlier[list[i].sw] = 0;
		else if (!o->earlier[list[i].sw])
			o->earlier[list[i].sw] = i + 1;
}

/* Of the switches in the set, what is attached to them sends, and what was on its way there. */
static void orphans_inject(struct orphans *o, uint16_t lid)
{
	const struct dl_fabric *f = o->from->fabric;
	const struct dl_verify_orphan *list = o->history ? o->history->orphans : NULL;
	uint32_t n = o->history ? o->history->norphans : 0;

	for (uint32_t i = 0; i < o->nset; i++) {
		uint32_t s = o->set[i];

		o->sls[s] = 0;
		for (uint32_t k = o->first_end[s]; k < o->first_end[s + 1]; k++)
			if (o->ends[k] != f->lid_port[lid])
				o->sls[s] |= orphans_sls(o, o->ends[k], lid);
	}
	for (uint32_t i = dl_array_count_before(k, n, list[k].lid < lid);
	     i < n && list[i].lid == lid; i++)
		if (o->in_set[list[i].sw])
			o->sls[list[i].sw] |= list[i].sls;
}

static void orphans_take(struct orphans *o, uint32_t s)
{
	if (!o->in_set[s])
		o->set[o->nset++] = s;
	o->in_set[s] = true;
}

/* The switches with an entry for a port whose cable has gone, and all that send to these. */
static void orphans_gather(struct orphans *o, uint16_t lid)
{
	const struct dl_fabric *f = o->from->fabric;
	uint32_t ports[ORPHANS_PORTS];

	o->nset = 0;
	for (uint32_t i = 0; i < o->ntorn; i++)
		for (unsigned int k = orphans_ports(o, o->torn[i], lid, ports); k--;)
			if (o->gone[ports[k]])
				orphans_take(o, o->torn[i]);
	for (uint32_t i = 0; i < o->nset; i++) {
		const struct dl_fabric_node *n = dl_fabric_switch_node(f, o->set[i]);

		for (unsigned int p = 1; p <= n->nports; p++) {
			uint32_t s = dl_fabric_peer_switch(f, n->first_port + p);

			if (s == DL_NONE || o->in_set[s])
				continue;
			for (unsigned int k = orphans_ports(o, s, lid, ports); k--;)
				if (f->ports[ports[k]].peer == n->first_port + p)
					orphans_take(o, s);
		}
	}
}

/* Hand packets on, switch by switch. */
static void orphans_hand_on(struct orphans *o, uint16_t lid)
{
	const struct dl_fabric *f = o->from->fabric;
	uint32_t n = 0, ports[ORPHANS_PORTS];

	for (uint32_t i = 0; i < o->nset; i++)
		for (unsigned int k = orphans_ports(o, o->set[i], lid, ports); k--;)
			o->waits[dl_fabric_peer_switch(f, ports[k])]++;
	for (uint32_t i = 0; i < o->nset; i++)
		if (!o->waits[o->set[i]])
			o->queue[n++] = o->set[i];
	for (uint32_t i = 0; i < n; i++)
		for (unsigned int k = orphans_ports(o, o->queue[i], lid, ports); k--;) {
			uint32_t to = dl_fabric_peer_switch(f, ports[k]);

			if (!o->in_set[to])
				continue;
			o->sls[to] |= o->sls[o->queue[i]];
			if (!--o->waits[to])
				o->queue[n++] = to;
		}
}

/* Note what passes cables that have gone. */
static int orphans_of_lid(struct orphans *o, uint16_t lid)
{
	const struct dl_fabric *f = o->from->fabric;
	uint32_t ports[ORPHANS_PORTS];
	int err = 0;

	orphans_gather(o, lid);
	orphans_inject(o, lid);
	orphans_hand_on(o, lid);
	for (uint32_t i = 0; i < o->ntorn && !err; i++)
		for (unsigned int k = orphans_ports(o, o->torn[i], lid, ports); k-- && !err;)
			if (o->gone[ports[k]])
				err = orphans_add(o, f->ports[ports[k]].peer, lid,
						  o->waits[o->torn[i]] ? 0xFFFF :
									 o->sls[o->torn[i]]);
	for (uint32_t i = 0; i < o->nset; i++) {
		o->in_set[o->set[i]] = false;
		for (unsigned int k = orphans_ports(o, o->set[i], lid, ports); k--;)
			o->waits[dl_fabric_peer_switch(f, ports[k])] = 0;
	}
	return err;
}

/* ---- all ---------------------------------------------------------------------- */

/* Ports whose cable has gone, and LIDs that go there. */
static void orphans_find_gone(struct orphans *o)
{
	const struct dl_fabric *f = o->from->fabric;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *n = dl_fabric_switch_node(f, s);
		bool here = false;

		for (unsigned int p = 1; p <= n->nports; p++)
			here |= o->gone[n->first_port + p] =
				dl_fabric_match_recabled(&o->now, s, p);
		if (here)
			o->torn[o->ntorn++] = s;
		for (uint32_t lid = 1; here && lid <= o->from->top_lid; lid++) {
			uint32_t port = orphans_port(o, s, lid);

			o->lids[lid] |= port != DL_NONE && o->gone[port];
		}
	}
	for (uint32_t i = 0; o->history && i < o->history->nearlier; i++) {
		const struct dl_verify_earlier *e = &o->history->earlier[i];

		o->lids[e->lid] |= o->gone[dl_fabric_switch_node(f, e->sw)->first_port + e->port];
	}
}

static int orphans_compare(const void *a, const void *b)
{
	const struct dl_verify_orphan *x = a, *y = b;

	return x->lid != y->lid ? (x->lid > y->lid) - (x->lid < y->lid) :
				  (x->sw > y->sw) - (x->sw < y->sw);
}

/* End ports by their switches. */
static void orphans_attach(struct orphans *o)
{
	const struct dl_fabric *f = o->from->fabric;

	for (uint32_t p = 0; p < f->nports; p++)
		if (dl_fabric_sender_switch(f, p) != DL_NONE)
			o->first_end[dl_fabric_sender_switch(f, p)]++;
	for (uint32_t s = 1; s <= f->nswitches; s++)
		o->first_end[s] += o->first_end[s - 1];
	for (uint32_t p = 0; p < f->nports; p++)
		if (dl_fabric_sender_switch(f, p) != DL_NONE)
			o->ends[--o->first_end[dl_fabric_sender_switch(f, p)]] = p;
}

static int orphans_list(struct orphans *o)
{
	const struct dl_fabric *f = o->from->fabric;
	int err = 0;

	for (uint32_t p = 0; p < f->nports && !err; p++) {
		if (dl_fabric_sender_switch(f, p) == DL_NONE)
			continue;
		err = orphans_to_itself(o, p);
		if (!err && f->ports[p].num && o->gone[f->ports[p].peer])
			err = orphans_of_adapter(o, p);
	}
	orphans_attach(o);
	for (uint32_t lid = 1; lid <= o->from->top_lid && !err; lid++) {
		if (!o->lids[lid])
			continue;
		orphans_mark(o, lid, true);
		err = orphans_of_lid(o, lid);
		orphans_mark(o, lid, false);
	}
	return err;
}

/* ---- those of changes before ---------------------------------------------------- */

static int orphans_bring(struct orphans *o)
{
	const struct dl_transition_history *h = o->history;
	const struct dl_fabric *f = o->from->fabric;
	int err = 0;

	for (uint32_t i = 0; i < h->norphans && !err; i++) {
		const struct dl_verify_orphan *p = &h->orphans[i];

		err = orphans_add(o, dl_fabric_switch_node(f, p->sw)->first_port + p->in, p->lid,
				  p->sls);
	}
	return err;
}

/* Ports that still lead where they led. */
static int orphans_bring_history(struct orphans *o, struct dl_transition *t)
{
	const struct dl_transition_history *h = o->history;
	struct dl_transition_history *out = &t->history;

	out->whole = h->whole;
	out->times = h->times;
	for (uint32_t i = 0; i < h->nearlier; i++) {
		const struct dl_verify_earlier *e = &h->earlier[i];
		uint32_t s = dl_fabric_match_switch(&o->now, e->sw);

		if (s == DL_NONE || e->lid > t->held->top_lid ||
		    dl_fabric_match_recabled(&o->now, e->sw, e->port))
			continue;
		if (!dl_array_room(out->earlier, out->nearlier, 1, &out->earlier_cap))
			return -ENOMEM;
		out->earlier[out->nearlier++] = *e;
		out->earlier[out->nearlier - 1].sw = s;
	}
	dl_transition_history_sort(out);
	return dl_transition_history_bring_maps(h, &o->now, t);
}

int dl_transition_find_orphans(const struct dl_tables *from,
			       const struct dl_transition_history *history, struct dl_transition *t)
{
	const struct dl_fabric *f = from->fabric;
	struct orphans o = { .from = from, .out = &t->orphans };
	int err;

	if (history && history->whole && (history->nearlier || history->norphans || history->nmaps))
		o.history = history;
	t->history.whole = history && history->whole;
	t->orphans.held = t->held;
	if (f == t->held->fabric && !o.history)
		return 0;
	o.gone = dl_arena_zalloc(&o.arena, f->nports + 1ul);
	o.lids = dl_arena_zalloc(&o.arena, from->top_lid + 1ul);
	o.torn = dl_arena_array(&o.arena, f->nswitches + 1ul, sizeof(*o.torn));
	o.set = dl_arena_array(&o.arena, f->nswitches + 1ul, sizeof(*o.set));
	o.in_set = dl_arena_array(&o.arena, f->nswitches + 1ul, sizeof(*o.in_set));
	o.sls = dl_arena_array(&o.arena, f->nswitches + 1ul, sizeof(*o.sls));
	o.waits = dl_arena_array(&o.arena, f->nswitches + 1ul, sizeof(*o.waits));
	o.queue = dl_arena_array(&o.arena, f->nswitches + 1ul, sizeof(*o.queue));
	o.ends = dl_arena_array(&o.arena, f->nports + 1ul, sizeof(*o.ends));
	o.first_end = dl_arena_array(&o.arena, f->nswitches + 1ul, sizeof(*o.first_end));
	o.earlier = dl_arena_array(&o.arena, f->nswitches + 1ul, sizeof(*o.earlier));
	err = o.gone && o.lids && o.torn && o.set && o.in_set && o.sls && o.waits && o.queue &&
			      o.ends && o.first_end && o.earlier ?
		      dl_fabric_match(f, t->held->fabric, &o.now) :
		      -ENOMEM;
	if (!err && o.history)
		err = orphans_bring_history(&o, t);
	if (!err && o.history)
		err = orphans_bring(&o);
	if (!err) {
		orphans_find_gone(&o);
		err = orphans_list(&o);
	}
	if (t->orphans.n)
		qsort(t->orphans.list, t->orphans.n, sizeof(*t->orphans.list), orphans_compare);
	dl_fabric_match_release(&o.now);
	dl_arena_free(&o.arena);
	return err;
}
