/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The load of the cables, destination by destination.
 *
 * The entries for one LID point from each switch to the next one, so those
 * switches whose packets arrive form a tree with the destination as its root.
 * Walks from every switch, each stopping at what is known already, list that
 * tree with every switch behind the next one on its way; going through the
 * list backwards, a switch hands the packets it has gathered to the next.
 * That is O(switches) for each LID, however long the ways are.
 *
 * Entries for one LID lie far apart in the tables, so BLOCK of them are turned
 * round at a time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/tables.h"

#define BLOCK 64  /* LIDs; divides a table's stride */
#define COMMON 32 /* where the counts of common pairs stand */

enum { UNKNOWN, WALKING, ARRIVES, FAILS };

/* The switches whose packets to one LID arrive. */
struct reachable {
	const struct dl_tables *t;
	uint32_t *order; /* nearest to the destination first */
	uint32_t norder;
	uint32_t *walk;	       /* of switches, until its end is known */
	uint8_t *state;	       /* by switch */
	uint8_t *columns;      /* a block of LIDs by switch */
	const uint8_t *column; /* the one at hand */
	const uint32_t *next;  /* by port index: switch at the far end */
};

struct counter {
	struct reachable own, other;
	uint32_t *sources;  /* by switch: end ports that send from it */
	uint32_t *next;	    /* by port index: switch at the far end */
	uint64_t *common;   /* by port index: flows of common pairs */
	uint64_t *gathered; /* by switch: packets that leave it; common ones
				   in the upper half */
};

/* The port index by which a switch sends the LID on, or DL_NONE. */
static uint32_t way_out(const struct reachable *b, uint32_t sw)
{
	const struct dl_fabric *f = b->t->fabric;
	const struct dl_fabric_node *n = &f->nodes[f->switches[sw]];
	uint8_t port = b->column[sw];

	return port > n->nports ? DL_NONE : n->first_port + port;
}

/* Does this entry hand the packet to its destination? */
static bool hands_over(const struct dl_fabric *f, uint32_t out, uint16_t lid)
{
	uint32_t dst = f->lid_port[lid];

	return f->ports[out].num ? f->ports[out].peer == dst : out == dst;
}

/* Walk from one switch to the destination, or to what is known. */
static void walk(struct reachable *b, uint32_t sw, uint16_t lid)
{
	const struct dl_fabric *f = b->t->fabric;
	uint32_t n = 0, out;
	uint8_t end = FAILS;

	while (sw != DL_NONE) {
		if (b->state[sw] != UNKNOWN) {
			end = b->state[sw] == ARRIVES ? ARRIVES : FAILS;
			break;
		}
		b->state[sw] = WALKING;
		b->walk[n++] = sw;
		out = way_out(b, sw);
		if (out == DL_NONE)
			break;
		if (hands_over(f, out, lid)) {
			end = ARRIVES;
			break;
		}
		sw = b->next[out];
	}
	while (n--) {
		b->state[b->walk[n]] = end;
		if (end == ARRIVES)
			b->order[b->norder++] = b->walk[n];
	}
}

static void turn_block(struct reachable *b, uint32_t lid)
{
	uint32_t s, i, n = b->t->fabric->nswitches;

	for (s = 0; s < n; s++)
		for (i = 0; i < BLOCK; i++)
			b->columns[i * (size_t)n + s] =
				b->t->lft[s * (size_t)b->t->stride + lid + i];
}

static void fill(struct reachable *b, uint16_t lid)
{
	uint32_t s;

	b->column = &b->columns[lid % BLOCK * (size_t)b->t->fabric->nswitches];

	memset(b->state, UNKNOWN, b->t->fabric->nswitches);
	b->norder = 0;
	for (s = 0; s < b->t->fabric->nswitches; s++)
		walk(b, s, lid);
}

/* What each switch has to send, before it gathers. */
static void load_sources(struct counter *c, uint16_t lid)
{
	const struct dl_fabric *f = c->own.t->fabric;
	uint32_t home = dl_fabric_access_switch(f, f->lid_port[lid]), s;

	for (s = 0; s < f->nswitches; s++) {
		/* It does not send to itself. */
		uint64_t n = c->sources[s] - (s == home);
		bool common = c->other.t && c->other.state[s] == ARRIVES;

		c->gathered[s] = common ? n << COMMON | n : n;
	}
}

static void count_lid(struct counter *c, uint16_t lid, struct dl_tables_load *l)
{
	const struct dl_fabric *f = c->own.t->fabric;
	uint32_t i;

	fill(&c->own, lid);
	if (c->other.t)
		fill(&c->other, lid);
	load_sources(c, lid);
	for (i = c->own.norder; i--;) {
		uint32_t s = c->own.order[i];
		uint32_t out = way_out(&c->own, s);
		uint32_t n = c->gathered[s], common = c->gathered[s] >> COMMON;

		if (hands_over(f, out, lid)) {
			l->pairs += n;
			l->common_pairs += common;
			continue;
		}
		l->flows[out] += n;
		l->hops += n;
		l->common_hops += common;
		c->common[out] += common;
		c->gathered[c->next[out]] += c->gathered[s];
	}
}

static int reachable_init(struct reachable *b, struct dl_arena *arena, const struct dl_tables *t,
			  const uint32_t *next)
{
	uint32_t n = t->fabric->nswitches + 1;

	b->t = t;
	b->next = next;
	b->columns = dl_arena_array(arena, n, BLOCK);
	b->order = dl_arena_array(arena, n, sizeof(*b->order));
	b->walk = dl_arena_array(arena, n, sizeof(*b->walk));
	b->state = dl_arena_alloc(arena, n);
	return b->order && b->walk && b->state && b->columns ? 0 : -ENOMEM;
}

/* By port index: the switch at the far end of its cable, or DL_NONE. */
static uint32_t *next_switches(struct dl_arena *arena, const struct dl_fabric *f)
{
	uint32_t *next = dl_arena_array(arena, f->nports, sizeof(*next));

	for (uint32_t p = 0; next && p < f->nports; p++)
		next[p] = f->ports[p].num ? dl_fabric_peer_switch(f, p) : DL_NONE;
	return next;
}

static int counter_init(struct counter *c, struct dl_arena *arena, const struct dl_tables *t,
			const struct dl_tables *other, const bool *among)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t p, s;
	int err;

	c->next = next_switches(arena, f);
	c->sources = dl_arena_array(arena, f->nswitches, sizeof(*c->sources));
	c->gathered = dl_arena_array(arena, f->nswitches, sizeof(*c->gathered));
	c->common = dl_arena_array(arena, f->nports, sizeof(*c->common));
	if (!c->next || !c->sources || !c->gathered || !c->common)
		return -ENOMEM;
	err = reachable_init(&c->own, arena, t, c->next);
	if (!err && other)
		err = reachable_init(&c->other, arena, other, c->next);
	if (err)
		return err;
	for (p = 0; p < f->nports; p++) {
		if (!f->ports[p].lid || !dl_fabric_is_end_port(f, p) || (among && !among[p]))
			continue;
		s = dl_fabric_access_switch(f, p);
		if (s != DL_NONE)
			c->sources[s]++;
	}
	return 0;
}

int dl_tables_load_count(const struct dl_tables *t, const struct dl_tables *other,
			 const bool *among, struct dl_tables_load *out)
{
	const struct dl_fabric *f = t->fabric;
	struct dl_tables_load l = { 0 };
	struct dl_arena arena = { 0 };
	struct counter c = { 0 };
	uint32_t lid, p;
	int err = counter_init(&c, &arena, t, other, among);

	l.flows = calloc(f->nports + 1, sizeof(*l.flows));
	if (!l.flows)
		err = -ENOMEM;
	if (err)
		goto out;
	for (lid = 0; lid <= f->top_lid; lid++) {
		if (lid % BLOCK == 0) {
			turn_block(&c.own, lid);
			if (other)
				turn_block(&c.other, lid);
		}
		if (lid && f->lid_port[lid] != DL_NONE && (!among || among[f->lid_port[lid]]))
			count_lid(&c, lid, &l);
	}
	for (p = 0; p < f->nports; p++) {
		if (l.flows[p] > l.busiest)
			l.busiest = l.flows[p];
		if (c.common[p] > l.common_busiest)
			l.common_busiest = c.common[p];
	}
	*out = l;
	l.flows = NULL;
out:
	dl_arena_free(&arena);
	free(l.flows);
	return err;
}

void dl_tables_load_release(struct dl_tables_load *l)
{
	free(l->flows);
	memset(l, 0, sizeof(*l));
}

int dl_tables_hops(const struct dl_tables *t, const uint16_t *lids, uint32_t n, uint16_t *hops)
{
	uint32_t nswitches = t->fabric->nswitches, block = DL_NONE;
	struct dl_arena arena = { 0 };
	struct reachable b = { 0 };
	uint32_t *next = next_switches(&arena, t->fabric);
	int err = next ? reachable_init(&b, &arena, t, next) : -ENOMEM;

	for (uint32_t i = 0; !err && i < n; i++, hops += nswitches) {
		memset(hops, 0xFF, nswitches * sizeof(*hops)); /* DL_TABLES_NO_HOPS */
		if (!lids[i] || lids[i] > t->fabric->top_lid ||
		    t->fabric->lid_port[lids[i]] == DL_NONE)
			continue;
		if (lids[i] / BLOCK != block) {
			block = lids[i] / BLOCK;
			turn_block(&b, block * BLOCK);
		}
		fill(&b, lids[i]);
		for (uint32_t k = 0; k < b.norder; k++) {
			uint32_t sw = b.order[k], out = way_out(&b, sw);
			bool there = hands_over(t->fabric, out, lids[i]);

			hops[sw] = there ? 0 : hops[next[out]] + 1;
		}
	}
	dl_arena_free(&arena);
	return err;
}
