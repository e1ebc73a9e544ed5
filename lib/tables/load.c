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

#define BLOCK 64 /* LIDs; divides a table's stride */
#define APART 64 /* bytes, so that columns do not fall into one set of a cache */
#define AHEAD 16 /* rows that are fetched before they are read */

enum { UNKNOWN, WALKING, ARRIVES, FAILS };

/* How a switch's ports are numbered. */
struct ports {
	uint32_t first; /* port index of port 0 */
	uint32_t n;	/* without port 0 */
};

/* The switches whose packets to one LID arrive. */
struct reachable {
	const struct dl_tables *t;
	const struct ports *ports; /* by switch */
	const uint32_t *next;	   /* by port index: switch at the far end */
	uint32_t *order;	   /* nearest to the destination first */
	uint32_t norder;
	uint32_t *out;	       /* by switch in `order`: port index by which it sends */
	uint32_t *walk;	       /* of switches, until its end is known */
	uint16_t *length;      /* by switch: switches on the path from it, itself too */
	uint8_t *state;	       /* by switch */
	uint8_t *columns;      /* a block of LIDs by switch */
	size_t apart;	       /* from one column to the next */
	const uint8_t *column; /* the one at hand */
	uint32_t home;	       /* of the tree at hand: where its root hands over */
	const uint8_t *filled; /* its column; NULL: there is none */
};

/* The packets of some pairs. */
struct sums {
	uint64_t pairs, hops;
	uint64_t *flows; /* by port index */
};

struct counter {
	struct reachable own, other;
	uint64_t *sources; /* by switch: end ports that send from it */
	/* Where both tables agree on a LID, or there is one; else of each ... */
	struct sums both, mine, theirs, common;
	struct sums all;    /* ... but where the other ones deliver all: mine and common */
	uint64_t *gathered; /* by switch: packets that leave it */
};

/* Does this entry hand the packet to its destination? */
static bool hands_over(const struct dl_fabric *f, uint32_t out, uint16_t lid)
{
	uint32_t dst = f->lid_port[lid];

	return f->ports[out].num ? f->ports[out].peer == dst : out == dst;
}

/*
 * Walk from one switch to the destination, or to what is known.  A port that
 * leads to another switch hands nothing over.
 */
static void load_walk(struct reachable *b, uint32_t sw, uint16_t lid)
{
	uint32_t n = 0, length = 0;
	uint8_t end = FAILS;

	do {
		uint32_t out = b->ports[sw].first + b->column[sw];

		b->state[sw] = WALKING;
		b->walk[n++] = sw;
		if (b->column[sw] > b->ports[sw].n)
			break;
		b->out[sw] = out;
		sw = b->next[out];
		if (sw == DL_NONE)
			end = hands_over(b->t->fabric, out, lid) ? ARRIVES : FAILS;
		else if (b->state[sw] == ARRIVES)
			end = ARRIVES;
	} while (sw != DL_NONE && b->state[sw] == UNKNOWN);
	if (sw != DL_NONE && b->state[sw] != WALKING)
		length = b->length[sw];
	while (n--) {
		b->state[b->walk[n]] = end;
		b->length[b->walk[n]] = ++length;
		if (end == ARRIVES)
			b->order[b->norder++] = b->walk[n];
	}
}

static void turn_block(struct reachable *b, uint32_t lid)
{
	b->filled = NULL;
	for (uint32_t s = 0; s < b->t->fabric->nswitches; s++) {
		const uint8_t *row = b->t->lft + s * (size_t)b->t->stride + lid;

		__builtin_prefetch(row + AHEAD * (size_t)b->t->stride);
		for (uint32_t i = 0; i < BLOCK; i++)
			b->columns[i * b->apart + s] = row[i];
	}
}

static void choose_column(struct reachable *b, uint16_t lid)
{
	b->column = &b->columns[lid % BLOCK * b->apart];
}

/*
 * Is the tree the one at hand, but for the root's port?  A switch and the adapters
 * attached to it mostly share theirs.
 */
static bool has_same_tree(struct reachable *b, uint32_t home, uint16_t lid)
{
	uint32_t n = b->t->fabric->nswitches, out;

	if (!b->filled || home != b->home || b->column[home] > b->ports[home].n)
		return false;
	out = b->ports[home].first + b->column[home];
	if (b->next[out] != DL_NONE || !hands_over(b->t->fabric, out, lid) ||
	    memcmp(b->column, b->filled, home) ||
	    memcmp(b->column + home + 1, b->filled + home + 1, n - home - 1))
		return false;
	b->out[home] = out;
	return true;
}

static void load_fill(struct reachable *b, uint16_t lid)
{
	uint32_t s, home = dl_fabric_access_switch(b->t->fabric, b->t->fabric->lid_port[lid]);

	choose_column(b, lid);
	if (has_same_tree(b, home, lid))
		return;
	memset(b->state, UNKNOWN, b->t->fabric->nswitches);
	b->norder = 0;
	for (s = 0; s < b->t->fabric->nswitches; s++)
		if (b->state[s] == UNKNOWN)
			load_walk(b, s, lid);
	b->home = home;
	b->filled = home != DL_NONE && b->state[home] == ARRIVES ? b->column : NULL;
}

/* Add the packets to a LID that `b` delivers, and so does `common` (NULL: any). */
static void load_add_up(struct counter *c, const struct reachable *b,
			const struct reachable *common, uint16_t lid, struct sums *to)
{
	const struct dl_fabric *f = b->t->fabric;
	uint32_t home = dl_fabric_access_switch(f, f->lid_port[lid]);

	for (uint32_t s = 0; s < f->nswitches; s++)
		c->gathered[s] = !common || common->state[s] == ARRIVES ? c->sources[s] : 0;
	/* It does not send to itself. */
	if (home != DL_NONE)
		c->gathered[home] -= c->gathered[home] > 0;
	for (uint32_t i = b->norder; i--;) {
		uint32_t s = b->order[i], out = b->out[s];

		if (b->next[out] == DL_NONE) {
			to->pairs += c->gathered[s];
			continue;
		}
		to->flows[out] += c->gathered[s];
		to->hops += c->gathered[s];
		c->gathered[b->next[out]] += c->gathered[s];
	}
}

static void count_lid(struct counter *c, uint16_t lid)
{
	uint32_t n = c->own.t->fabric->nswitches;

	load_fill(&c->own, lid);
	if (c->other.t)
		choose_column(&c->other, lid);
	if (!c->other.t || !memcmp(c->own.column, c->other.column, n)) {
		load_add_up(c, &c->own, NULL, lid, &c->both);
		return;
	}
	load_fill(&c->other, lid);
	if (c->other.norder == n) {
		load_add_up(c, &c->own, NULL, lid, &c->all);
	} else {
		load_add_up(c, &c->own, NULL, lid, &c->mine);
		load_add_up(c, &c->own, &c->other, lid, &c->common);
	}
	load_add_up(c, &c->other, NULL, lid, &c->theirs);
}

static int reachable_init(struct reachable *b, struct dl_arena *arena, const struct dl_tables *t,
			  const uint32_t *next)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t n = f->nswitches + 1;
	struct ports *ports = dl_arena_array(arena, n, sizeof(*ports));

	for (uint32_t s = 0; ports && s < f->nswitches; s++)
		ports[s] = (struct ports){ f->nodes[f->switches[s]].first_port,
					   f->nodes[f->switches[s]].nports };
	b->t = t;
	b->ports = ports;
	b->next = next;
	b->apart = (n / APART | 1) * APART + 2 * APART;
	b->columns = dl_arena_array(arena, b->apart, BLOCK);
	b->order = dl_arena_array(arena, n, sizeof(*b->order));
	b->out = dl_arena_array(arena, n, sizeof(*b->out));
	b->walk = dl_arena_array(arena, n, sizeof(*b->walk));
	b->length = dl_arena_array(arena, n, sizeof(*b->length));
	b->state = dl_arena_alloc(arena, n);
	return ports && b->length && b->order && b->out && b->walk && b->state && b->columns ?
		       0 :
		       -ENOMEM;
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
	struct sums *all[] = { &c->both, &c->mine, &c->theirs, &c->common, &c->all };
	const struct dl_fabric *f = t->fabric;
	uint32_t *next = next_switches(arena, f);
	int err = next ? reachable_init(&c->own, arena, t, next) : -ENOMEM;

	if (!err && other)
		err = reachable_init(&c->other, arena, other, next);
	for (unsigned int i = 0; !err && i < sizeof(all) / sizeof(*all); i++) {
		all[i]->flows = dl_arena_array(arena, f->nports + 1, sizeof(*all[i]->flows));
		err = all[i]->flows ? 0 : -ENOMEM;
	}
	c->sources = dl_arena_array(arena, f->nswitches, sizeof(*c->sources));
	c->gathered = dl_arena_array(arena, f->nswitches, sizeof(*c->gathered));
	if (err || !c->sources || !c->gathered)
		return -ENOMEM;
	for (uint32_t p = 0; p < f->nports; p++) {
		uint32_t s;

		if (!f->ports[p].lid || !dl_fabric_is_end_port(f, p) || (among && !among[p]))
			continue;
		s = dl_fabric_access_switch(f, p);
		if (s != DL_NONE)
			c->sources[s]++;
	}
	return 0;
}

/* Add `more` to some sums; returns the flows of the busiest cable. */
static uint64_t sums_add(struct sums *s, const struct sums *more, uint32_t nports)
{
	uint64_t busiest = 0;

	s->pairs += more->pairs;
	s->hops += more->hops;
	for (uint32_t p = 0; p < nports; p++) {
		s->flows[p] += more->flows[p];
		if (s->flows[p] > busiest)
			busiest = s->flows[p];
	}
	return busiest;
}

static int load_finish(struct counter *c, struct dl_tables_load *l)
{
	uint32_t n = c->own.t->fabric->nports;

	l->flows = calloc(n + 1, sizeof(*l->flows));
	if (!l->flows)
		return -ENOMEM;
	l->other_busiest = sums_add(&c->theirs, &c->both, n);
	sums_add(&c->all, &c->both, n);
	l->common_busiest = sums_add(&c->common, &c->all, n);
	l->busiest = sums_add(&c->mine, &c->all, n);
	l->pairs = c->mine.pairs;
	l->hops = c->mine.hops;
	memcpy(l->flows, c->mine.flows, n * sizeof(*l->flows));
	if (!c->other.t) {
		l->other_busiest = l->common_busiest = 0;
		return 0;
	}
	l->common_pairs = c->common.pairs;
	l->common_hops = c->common.hops;
	l->other_pairs = c->theirs.pairs;
	l->other_hops = c->theirs.hops;
	return 0;
}

int dl_tables_load_count(const struct dl_tables *t, const struct dl_tables *other,
			 const bool *among, const struct dl_log *log, struct dl_tables_load *out)
{
	const struct dl_fabric *f = t->fabric;
	struct dl_tables_load l = { 0 };
	struct dl_arena arena = { 0 };
	struct counter c = { 0 };
	int err = counter_init(&c, &arena, t, other, among);

	for (uint32_t lid = 0; !err && lid <= f->top_lid; lid++) {
		if (lid % BLOCK == 0) {
			dl_progress(log, "counting load", " LIDs", lid, f->top_lid);
			turn_block(&c.own, lid);
			if (other)
				turn_block(&c.other, lid);
		}
		if (lid && f->lid_port[lid] != DL_NONE && (!among || among[f->lid_port[lid]]))
			count_lid(&c, lid);
	}
	dl_progress(log, "counting load", " LIDs", 1, 1);
	if (!err)
		err = load_finish(&c, &l);
	if (!err)
		*out = l;
	dl_arena_free(&arena);
	return err;
}

void dl_tables_load_release(struct dl_tables_load *l)
{
	free(l->flows);
	memset(l, 0, sizeof(*l));
}

/* ---- paths, LID by LID --------------------------------------------------- */

struct dl_tables_paths {
	struct dl_arena arena;
	struct reachable of;
	uint32_t block; /* of LIDs, whose columns are there; DL_NONE: none */
};

int dl_tables_paths_new(const struct dl_tables *t, struct dl_tables_paths **out)
{
	struct dl_tables_paths *p = calloc(1, sizeof(*p));
	uint32_t *next = p ? next_switches(&p->arena, t->fabric) : NULL;
	int err = next ? reachable_init(&p->of, &p->arena, t, next) : -ENOMEM;

	if (err) {
		dl_tables_paths_free(p);
		return err;
	}
	p->block = DL_NONE;
	*out = p;
	return 0;
}

void dl_tables_paths_free(struct dl_tables_paths *p)
{
	if (p)
		dl_arena_free(&p->arena);
	free(p);
}

void dl_tables_paths_to(struct dl_tables_paths *p, uint16_t lid)
{
	if (lid / BLOCK != p->block) {
		p->block = lid / BLOCK;
		turn_block(&p->of, p->block * BLOCK);
	}
	load_fill(&p->of, lid);
}

bool dl_tables_paths_arrive(const struct dl_tables_paths *p, uint32_t sw)
{
	return p->of.state[sw] == ARRIVES;
}

uint16_t dl_tables_paths_length(const struct dl_tables_paths *p, uint32_t sw)
{
	return p->of.length[sw];
}

int dl_tables_hops(const struct dl_tables *t, const uint16_t *lids, uint32_t n, uint16_t *hops)
{
	const struct dl_fabric *f = t->fabric;
	struct dl_tables_paths *p;
	int err = dl_tables_paths_new(t, &p);

	for (uint32_t i = 0; !err && i < n; i++, hops += f->nswitches) {
		memset(hops, 0xFF, f->nswitches * sizeof(*hops)); /* DL_TABLES_NO_HOPS */
		if (!lids[i] || lids[i] > f->top_lid || f->lid_port[lids[i]] == DL_NONE)
			continue;
		dl_tables_paths_to(p, lids[i]);
		for (uint32_t s = 0; s < f->nswitches; s++)
			if (dl_tables_paths_arrive(p, s))
				hops[s] = dl_tables_paths_length(p, s) - 1;
	}
	if (!err)
		dl_tables_paths_free(p);
	return err;
}
