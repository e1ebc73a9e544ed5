/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* See events.h. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "emu/events.h"

#define NIL UINT32_MAX

static inline bool before(const struct dl_event *a, const struct dl_event *b)
{
	return (((unsigned __int128)a->time << 64) | a->what) <
	       (((unsigned __int128)b->time << 64) | b->what);
}

int dl_events_init(struct dl_events *q, uint64_t spacing)
{
	*q = (struct dl_events){ .free_node = NIL };
	while (q->shift < 40 && UINT64_C(1) << (q->shift + 1) <= spacing)
		q->shift++;
	q->bucket = malloc(DL_WHEEL * sizeof(*q->bucket));
	q->occupied = calloc(DL_WHEEL_WORDS, sizeof(*q->occupied));
	return q->bucket && q->occupied ? 0 : -ENOMEM;
}

void dl_events_free(struct dl_events *q)
{
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

static int push_heap(struct dl_events *q, struct dl_event ev)
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
	void *grown = realloc(q->nodes, cap * sizeof(*q->nodes));

	if (!grown)
		return -ENOMEM;
	q->nodes = grown;
	q->nodes_cap = cap;
	return 0;
}

static uint32_t new_node(struct dl_events *q)
{
	uint32_t node = q->free_node;

	if (node != NIL) {
		q->free_node = q->nodes[node].next;
		return node;
	}
	if (q->nnodes == q->nodes_cap && more_nodes(q))
		return NIL;
	return q->nnodes++;
}

int dl_events_push(struct dl_events *q, uint64_t time, uint64_t what)
{
	uint64_t bucket = time >> q->shift;
	uint32_t slot = bucket % DL_WHEEL, node, *link;
	struct dl_event ev = { .what = what, .time = time };

	if (bucket - (q->now >> q->shift) >= DL_WHEEL)
		return push_heap(q, ev);
	node = new_node(q);
	if (node == NIL)
		return -ENOMEM;
	link = &q->bucket[slot];
	if (!(q->occupied[slot / 64] >> slot % 64 & 1)) {
		q->occupied[slot / 64] |= UINT64_C(1) << slot % 64;
		*link = NIL;
	}
	while (*link != NIL && before(&q->nodes[*link].event, &ev))
		link = &q->nodes[*link].next;
	q->nodes[node] = (struct dl_event_node){ .event = ev, .next = *link };
	*link = node;
	if (!q->on_wheel++ || bucket < q->first)
		q->first = bucket;
	return 0;
}

/* The first bucket has run empty; there are others. */
static void find_first(struct dl_events *q)
{
	uint32_t slot = q->first % DL_WHEEL, word = slot / 64;
	uint64_t bits = q->occupied[word] & UINT64_MAX << slot % 64;
	uint32_t found;

	while (!bits) {
		word = (word + 1) % DL_WHEEL_WORDS;
		bits = q->occupied[word];
	}
	found = word * 64 + __builtin_ctzll(bits);
	q->first += (found - slot) % DL_WHEEL;
}

static void take_first(struct dl_events *q, uint32_t slot)
{
	uint32_t node = q->bucket[slot];
	struct dl_event_node *n = &q->nodes[node];

	q->bucket[slot] = n->next;
	n->event.what = DL_NO_EVENT;
	n->next = q->free_node;
	q->free_node = node;
	q->on_wheel--;
	if (q->bucket[slot] != NIL)
		return;
	q->occupied[slot / 64] &= ~(UINT64_C(1) << slot % 64);
	if (q->on_wheel)
		find_first(q);
}

bool dl_events_pop(struct dl_events *q, uint64_t until, struct dl_event *out)
{
	uint32_t slot = q->first % DL_WHEEL;
	const struct dl_event *root = &q->heap[DL_EVENTS_ROOT];

	if (q->on_wheel) {
		const struct dl_event *ev = &q->nodes[q->bucket[slot]].event;

		if (!q->nheap || before(ev, root)) {
			if (ev->time > until)
				return false;
			*out = *ev;
			q->now = ev->time;
			take_first(q, slot);
			return true;
		}
	}
	if (!q->nheap || root->time > until)
		return false;
	*out = pop_heap(q);
	q->now = out->time;
	return true;
}
