/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* See events.h. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/events.h"

#define NIL UINT32_MAX

static inline bool before(const struct dl_event *a, const struct dl_event *b)
{
	return (((unsigned __int128)a->time << 64) | a->what) <
	       (((unsigned __int128)b->time << 64) | b->what);
}

#define EVENTS_A_BUCKET 4
#define MIN_BUCKETS 1024u
#define MAX_BUCKETS (1u << 20)

int dl_events_init(struct dl_events *q, uint64_t spacing, uint64_t reach)
{
	uint32_t buckets = MIN_BUCKETS;

	*q = (struct dl_events){ .free_node = NIL };
	while (q->shift < 40 &&
	       UINT64_C(2) << q->shift <= EVENTS_A_BUCKET * spacing)
		q->shift++;
	while (buckets < MAX_BUCKETS && buckets <= reach >> q->shift)
		buckets *= 2;
	q->mask = buckets - 1;
	q->bucket = malloc(buckets * sizeof(*q->bucket));
	q->occupied = calloc(buckets / 64, sizeof(*q->occupied));
	if (!q->bucket || !q->occupied)
		return -ENOMEM;
	for (uint32_t i = 0; i < buckets; i++)
		q->bucket[i] = NIL;
	return 0;
}

void dl_events_free(struct dl_events *q)
{
	free(q->front);
	free(q->bucket);
	free(q->occupied);
	free(q->nodes);
	free(q->heap);
}

/* ---- the heap ---------------------------------------------------------- */

static int grow_heap(struct dl_events *q)
{
	uint32_t cap = q->heap_cap ? 2 * q->heap_cap : 1024;
	struct dl_event *grown = aligned_alloc(
		64, (cap + 4ul) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	for (uint32_t i = 0; i < q->nheap; i++)
		grown[DL_EVENTS_ROOT + i] = q->heap[DL_EVENTS_ROOT + i];
	free(q->heap);
	q->heap = grown;
	q->heap_cap = cap;
	return 0;
}

static __attribute__((noinline))
int push_heap(struct dl_events *q, struct dl_event ev)
{
	struct dl_event *h;
	uint32_t at;
	int err;

	if (q->nheap == q->heap_cap) {
		err = grow_heap(q);
		if (err)
			return err;
	}
	h = q->heap;
	at = DL_EVENTS_ROOT + q->nheap++;
	/* The children of i are 4i - 8 to 4i - 5. */
	while (at > DL_EVENTS_ROOT) {
		uint32_t up = (at + 8) / 4;

		if (!before(&ev, &h[up]))
			break;
		h[at] = h[up];
		at = up;
	}
	h[at] = ev;
	return 0;
}

static struct dl_event pop_heap(struct dl_events *q)
{
	struct dl_event *h = q->heap, first = h[DL_EVENTS_ROOT], last;
	uint32_t at = DL_EVENTS_ROOT, end = DL_EVENTS_ROOT + --q->nheap;

	last = h[end];
	for (;;) {
		uint32_t child = 4 * at - 8, best = child, stop = child + 4;

		if (child >= end)
			break;
		if (stop > end)
			stop = end;
		for (uint32_t c = child + 1; c < stop; c++)
			if (before(&h[c], &h[best]))
				best = c;
		if (!before(&h[best], &last))
			break;
		h[at] = h[best];
		at = best;
	}
	h[at] = last;
	return first;
}

/* ---- the wheel --------------------------------------------------------- */

static int more_nodes(struct dl_events *q)
{
	uint32_t cap = q->nodes_cap ? 2 * q->nodes_cap : 1024;
	struct dl_event_node *grown = realloc(q->nodes, cap * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	q->nodes = grown;
	for (uint32_t i = cap; i-- > q->nodes_cap; q->free_node = i)
		grown[i] = (struct dl_event_node){
			.event.what = DL_NO_EVENT, .next = q->free_node };
	q->nodes_cap = cap;
	return 0;
}

static int push_wheel(struct dl_events *q, uint64_t bucket,
		      struct dl_event ev)
{
	uint32_t slot = bucket & q->mask, node = q->free_node;
	struct dl_event_node *n = &q->nodes[node];

	q->free_node = n->next;
	n->event = ev;
	n->next = q->bucket[slot];
	q->bucket[slot] = node;
	q->occupied[slot / 64] |= UINT64_C(1) << slot % 64;
	q->on_wheel++;
	return 0;
}

/* How far is the next bucket with events?  There is one. */
static uint32_t next_occupied(const struct dl_events *q)
{
	uint32_t slot = q->next & q->mask, word = slot / 64;
	uint64_t bits = q->occupied[word] & UINT64_MAX << slot % 64;

	while (!bits) {
		word = (word + 1) & q->mask / 64;
		bits = q->occupied[word];
	}
	return (word * 64 + __builtin_ctzll(bits) - slot) & q->mask;
}

/* ---- the front --------------------------------------------------------- */

#define FRONT_MIN 64
#define SHORT 16	/* so few are sorted by insertion */

static int compare(const void *a, const void *b)
{
	return before(a, b) ? -1 : before(b, a);
}

/* Make room for one more, keeping what is there. */
static __attribute__((noinline)) int more_front(struct dl_events *q)
{
	uint32_t n = q->to - q->from;

	if (2 * n >= q->front_cap) {
		uint32_t cap = q->front_cap ? 2 * q->front_cap : FRONT_MIN;
		void *grown = realloc(q->front, cap * sizeof(*q->front));

		if (!grown)
			return -ENOMEM;
		q->front = grown;
		q->front_cap = cap;
	}
	memmove(q->front, q->front + q->from, n * sizeof(*q->front));
	q->from = 0;
	q->to = n;
	return 0;
}

/* The events of the next bucket come to the front. */
static int bring(struct dl_events *q)
{
	uint32_t slot, node, sorted = 0, next;

	q->next += next_occupied(q);
	slot = q->next++ & q->mask;
	for (node = q->bucket[slot]; node != NIL; node = next, sorted++) {
		struct dl_event_node *n = &q->nodes[node];
		struct dl_event ev = n->event;
		uint32_t at;

		if (q->to == q->front_cap && more_front(q))
			return -ENOMEM;
		at = q->to++;
		for (uint32_t i = 0; i < sorted && sorted <= SHORT &&
		     before(&ev, &q->front[at - 1]); i++, at--)
			q->front[at] = q->front[at - 1];
		q->front[at] = ev;
		n->event.what = DL_NO_EVENT;
		next = n->next;
		n->next = q->free_node;
		q->free_node = node;
	}
	if (sorted > SHORT + 1)
		qsort(q->front + q->to - sorted, sorted, sizeof(*q->front),
		      compare);
	q->bucket[slot] = NIL;
	q->occupied[slot / 64] &= ~(UINT64_C(1) << slot % 64);
	q->on_wheel -= sorted;
	return 0;
}

/* An event that is due before some of those at the front. */
static int push_front(struct dl_events *q, struct dl_event ev)
{
	uint32_t at = q->to, passed = 0;

	while (at > q->from && before(&ev, &q->front[at - 1])) {
		if (++passed > SHORT)
			return push_heap(q, ev);
		at--;
	}
	if (q->to == q->front_cap) {
		int err = more_front(q);

		if (err)
			return err;
	}
	at = q->to++;
	for (; passed; passed--, at--)
		q->front[at] = q->front[at - 1];
	q->front[at] = ev;
	return 0;
}

/* ---- all together ------------------------------------------------------ */

int dl_events_push(struct dl_events *q, uint64_t time, uint64_t what)
{
	uint64_t bucket = time >> q->shift;
	struct dl_event ev = { .what = what, .time = time };

	if (bucket < q->next)
		return push_front(q, ev);
	if (bucket - q->next > q->mask)
		return push_heap(q, ev);
	if (q->free_node == NIL && more_nodes(q))
		return -ENOMEM;
	return push_wheel(q, bucket, ev);
}

static __attribute__((noinline))
int take_heap(struct dl_events *q, uint64_t until, struct dl_event *out)
{
	if (q->heap[DL_EVENTS_ROOT].time > until)
		return 0;
	*out = pop_heap(q);
	q->now = out->time;
	/* Nothing on the wheel is due before. */
	if (q->next < q->now >> q->shift)
		q->next = q->now >> q->shift;
	return 1;
}

int dl_events_pop(struct dl_events *q, uint64_t until, struct dl_event *out)
{
	while (q->to - q->from < DL_EVENTS_AHEAD && q->on_wheel)
		if (bring(q))
			return -ENOMEM;
	if (q->nheap && (q->from == q->to ||
			 before(&q->heap[DL_EVENTS_ROOT], &q->front[q->from])))
		return take_heap(q, until, out);
	if (q->from == q->to || q->front[q->from].time > until)
		return 0;
	*out = q->front[q->from++];
	q->now = out->time;
	return 1;
}
