/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A topological order of a graph that grows and shrinks edge by edge.
 *
 * Representation.  The graph is the caller's, who lists the neighbours of a vertex.  Once
 * ordered, every vertex has a position such that all edges go from lower to higher.  A new
 * edge that does so too costs one comparison.  One that does not makes the vertices between
 * the two positions change places (Pearce and Kelly, A dynamic topological sort algorithm
 * for directed acyclic graphs, 2006), unless its end leads back to its start: then it is
 * refused.  Both are searched from at once, the nearest vertices first, so that a refusal
 * costs two small searches in place of a large one.  Taking edges away never spoils the order.
 *
 * Invariant once ordered: pos[x] < pos[y] for every edge from x to y.
 *
 * Complexity: an edge against the order costs a search of the vertices between the two
 * positions that are connected with them; memory is 32 bytes a vertex.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/base.h"

int dl_order_init(struct dl_order *o, struct dl_arena *arena, uint32_t n, uint32_t most,
		  dl_order_neighbours neighbours, const void *context)
{
	uint32_t **arrays[] = { &o->at,	    &o->pos,   &o->seen, &o->parent,
				&o->before, &o->after, &o->stack };

	memset(o, 0, sizeof(*o));
	o->n = n;
	o->neighbours = neighbours;
	o->context = context;
	for (unsigned int i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
		if (!(*arrays[i] = dl_arena_array(arena, n + 1ul, sizeof(uint32_t))))
			return -ENOMEM;
	o->list = dl_arena_array(arena, most + 1ul, sizeof(*o->list));
	o->bits = dl_arena_array(arena, n / 64 + 1ul, sizeof(*o->bits));
	return o->list && o->bits ? 0 : -ENOMEM;
}

bool dl_order_find(struct dl_order *o)
{
	uint32_t *waiting = o->stack; /* for so many vertices */
	uint32_t n = 0, k;

	memset(waiting, 0, o->n * sizeof(*waiting));
	for (uint32_t v = 0; v < o->n; v++)
		for (k = o->neighbours(o->context, v, true, o->list); k--;)
			waiting[o->list[k]]++;
	for (uint32_t v = 0; v < o->n; v++)
		if (!waiting[v])
			o->at[n++] = v;
	for (uint32_t i = 0; i < n; i++) {
		o->pos[o->at[i]] = i;
		k = o->neighbours(o->context, o->at[i], true, o->list);
		for (uint32_t j = 0; j < k; j++)
			if (!--waiting[o->list[j]])
				o->at[n++] = o->list[j];
	}
	return n == o->n;
}

/* ---- one more edge ----------------------------------------------------- */

/* What one end of an edge leads to in its direction, not beyond position `limit`. */
struct order_side {
	uint32_t *list; /* vertices, the nearest first */
	uint32_t n, done, mark, limit;
	uint64_t effort;
	bool forward;
};

/* The sides meet at an edge from u to v: o->parent leads from the last of them to u, too. */
static void order_join(struct dl_order *o, uint32_t u, uint32_t v, uint32_t last)
{
	for (uint32_t next = o->parent[v];; next = o->parent[v]) {
		o->parent[v] = u;
		if (v == last)
			return;
		u = v;
		v = next;
	}
}

/* Look at the neighbours of a side's next vertex.  False: the other side has one of them. */
static bool order_step(struct dl_order *o, struct order_side *s, const struct order_side *other)
{
	uint32_t from = s->list[s->done++];
	uint32_t k = o->neighbours(o->context, from, s->forward, o->list);

	o->effort += k;
	s->effort += k;
	while (k--) {
		uint32_t v = o->list[k];

		if (o->seen[v] == other->mark) {
			order_join(o, s->forward ? from : v, s->forward ? v : from,
				   s->forward ? other->list[0] : s->list[0]);
			return false;
		}
		if (o->seen[v] == s->mark ||
		    (s->forward ? o->pos[v] > s->limit : o->pos[v] < s->limit))
			continue;
		o->parent[v] = from;
		o->seen[v] = s->mark;
		s->list[s->n++] = v;
	}
	return true;
}

static void order_begin(struct dl_order *o, struct order_side *s, uint32_t start)
{
	s->mark = ++o->epoch;
	o->seen[start] = s->mark;
	s->list[s->n++] = start;
}

static int order_by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* A side's positions, from `first` to `last`, in place of its vertices, and sorted. */
static void order_sort(struct dl_order *o, const struct order_side *s, uint32_t first,
		       uint32_t last)
{
	uint32_t words = (last - first) / 64 + 1, *list = s->list, k = 0;

	for (uint32_t i = 0; i < s->n; i++)
		list[i] = o->pos[list[i]];
	if (s->n < words) {
		qsort(list, s->n, sizeof(*list), order_by_number);
		return;
	}
	for (uint32_t i = 0; i < s->n; i++)
		o->bits[(list[i] - first) / 64] |= UINT64_C(1) << (list[i] - first) % 64;
	for (uint32_t w = 0; w < words; w++)
		for (; o->bits[w]; o->bits[w] &= o->bits[w] - 1)
			list[k++] = first + 64 * w + __builtin_ctzll(o->bits[w]);
}

/*
 * Give the vertices at positions before[] and after[] each other's places: first those
 * that lead to x, then those that y leads to.
 */
static void order_change_places(struct dl_order *o, uint32_t nbefore, uint32_t nafter)
{
	uint32_t n = nbefore + nafter, a = 0, b = 0;
	uint32_t *vertices = o->stack;

	for (uint32_t i = 0; i < nbefore; i++)
		vertices[i] = o->at[o->before[i]];
	for (uint32_t i = 0; i < nafter; i++)
		vertices[nbefore + i] = o->at[o->after[i]];
	for (uint32_t i = 0; i < n; i++) {
		uint32_t place = a == nafter || (b < nbefore && o->before[b] < o->after[a]) ?
					 o->before[b++] :
					 o->after[a++];

		o->at[place] = vertices[i];
		o->pos[vertices[i]] = place;
	}
}

bool dl_order_reorder(struct dl_order *o, uint32_t x, uint32_t y)
{
	uint32_t first = o->pos[y], last = o->pos[x];
	struct order_side after = { .list = o->after, .limit = last, .forward = true };
	struct order_side before = { .list = o->before, .limit = first };

	if (x == y)
		return false;
	order_begin(o, &after, y);
	order_begin(o, &before, x);
	while (after.done < after.n || before.done < before.n) {
		bool forward = before.done == before.n ||
			       (after.done < after.n && after.effort <= before.effort);

		if (!order_step(o, forward ? &after : &before, forward ? &before : &after))
			return false;
	}
	order_sort(o, &before, first, last);
	order_sort(o, &after, first, last);
	order_change_places(o, before.n, after.n);
	return true;
}
