/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* See events.h. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "emu/events.h"

#define HEAP (DL_EMU_EVENT_QUEUES - 1)
#define RING 64	 /* places, to begin with */
#define EQUAL 16 /* so many of the same time are put in order */

static const struct dl_emu_event never = { DL_EMU_NO_EVENT, UINT64_MAX };

static inline bool before(const struct dl_emu_event *a,
			  const struct dl_emu_event *b)
{
	return (((unsigned __int128)a->time << 64) | a->what) <
	       (((unsigned __int128)b->time << 64) | b->what);
}

void dl_emu_events_init(struct dl_emu_events *q)
{
	*q = (struct dl_emu_events){ 0 };
	for (uint32_t l = 0; l < DL_EMU_EVENT_QUEUES; l++) {
		q->first[l] = never;
		q->delay[l] = UINT64_MAX;
		q->winner[DL_EMU_EVENT_QUEUES + l] = l;
	}
	for (uint32_t n = DL_EMU_EVENT_QUEUES - 1; n; n--)
		q->winner[n] = q->winner[2 * n];
}

void dl_emu_events_free(struct dl_emu_events *q)
{
	for (uint32_t l = 0; l < DL_EMU_EVENT_QUEUES; l++)
		free(q->queue[l].ring);
	free(q->heap);
}

/* A queue has another first event: who wins now? */
static inline void set_first(struct dl_emu_events *q, uint32_t queue,
			     struct dl_emu_event ev)
{
	uint32_t w = queue;

	q->first[queue] = ev;
	for (uint32_t n = DL_EMU_EVENT_QUEUES + queue; n > 1; n /= 2) {
		uint32_t other = q->winner[n ^ 1];

		w = before(&q->first[other], &q->first[w]) ? other : w;
		q->winner[n / 2] = w;
	}
}

/* ---- the heap ---------------------------------------------------------- */

static int grow_heap(struct dl_emu_events *q)
{
	uint32_t cap = q->heap_cap ? 2 * q->heap_cap : 1024;
	struct dl_emu_event *grown =
		aligned_alloc(64, (cap + 4ul) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	for (uint32_t i = 0; i < q->nheap; i++)
		grown[DL_EMU_EVENTS_ROOT + i] = q->heap[DL_EMU_EVENTS_ROOT + i];
	free(q->heap);
	q->heap = grown;
	q->heap_cap = cap;
	return 0;
}

static __attribute__((noinline)) int push_heap(struct dl_emu_events *q,
					       struct dl_emu_event ev)
{
	struct dl_emu_event *h;
	uint32_t at;

	if (q->nheap == q->heap_cap && grow_heap(q))
		return -ENOMEM;
	h = q->heap;
	at = DL_EMU_EVENTS_ROOT + q->nheap++;
	/* The children of i are 4i - 8 to 4i - 5. */
	while (at > DL_EMU_EVENTS_ROOT) {
		uint32_t up = (at + 8) / 4;

		if (!before(&ev, &h[up]))
			break;
		h[at] = h[up];
		at = up;
	}
	h[at] = ev;
	q->count++;
	if (at == DL_EMU_EVENTS_ROOT)
		set_first(q, HEAP, ev);
	return 0;
}

static __attribute__((noinline)) void pop_heap(struct dl_emu_events *q)
{
	struct dl_emu_event *h = q->heap, last;
	uint32_t at = DL_EMU_EVENTS_ROOT, end = DL_EMU_EVENTS_ROOT + --q->nheap;

	if (!q->nheap) {
		set_first(q, HEAP, never);
		return;
	}
	last = h[end];
	for (;;) {
		uint32_t child = 4 * at - 8, best = child, stop = child + 4;

		if (child >= end)
			break;
		if (stop > end)
			stop = end;
		for (uint32_t c = child + 1; c < stop; c++)
			best = before(&h[c], &h[best]) ? c : best;
		if (!before(&h[best], &last))
			break;
		h[at] = h[best];
		at = best;
	}
	h[at] = last;
	set_first(q, HEAP, h[DL_EMU_EVENTS_ROOT]);
}

/* ---- the queues --------------------------------------------------------- */

static inline bool is_empty(const struct dl_emu_event_queue *l)
{
	return l->from == l->to;
}

static __attribute__((noinline)) int grow_queue(struct dl_emu_event_queue *l)
{
	uint32_t cap = l->cap ? 2 * l->cap : RING, n = l->to - l->from;
	struct dl_emu_event *grown = malloc(cap * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		grown[i] = l->ring[(l->from + i) & (l->cap - 1)];
	free(l->ring);
	*l = (struct dl_emu_event_queue){ .ring = grown, .to = n, .cap = cap };
	return 0;
}

/* An empty queue for a delay that has none; or the heap. */
static __attribute__((noinline)) uint32_t
claim_queue(struct dl_emu_events *q, uint32_t pair, uint64_t delay)
{
	uint32_t queue = 2 * pair;

	if (q->candidate[pair] != delay) {
		q->candidate[pair] = delay;
		return HEAP;
	}
	if (!is_empty(&q->queue[queue]))
		queue++;
	if (queue == HEAP || !is_empty(&q->queue[queue]))
		return HEAP;
	q->delay[queue] = delay;
	return queue;
}

static inline uint32_t queue_of(struct dl_emu_events *q, uint64_t delay)
{
	uint32_t pair = delay * UINT64_C(0x9E3779B97F4A7C15) >> 61;
	uint32_t queue = 2 * pair;

	if (q->delay[queue] == delay)
		return queue;
	if (q->delay[queue + 1] == delay)
		return queue + 1;
	return claim_queue(q, pair, delay);
}

int dl_emu_events_push(struct dl_emu_events *q, uint64_t time, uint64_t what)
{
	struct dl_emu_event ev = { .what = what, .time = time }, *e;
	uint32_t queue = queue_of(q, time - q->now), mask, at, passed = 0;
	struct dl_emu_event_queue *l = &q->queue[queue];

	if (queue == HEAP)
		return push_heap(q, ev);
	if (l->to - l->from == l->cap && grow_queue(l))
		return -ENOMEM;
	mask = l->cap - 1;
	at = l->to;
	while (at != l->from && before(&ev, &l->ring[(at - 1) & mask])) {
		if (++passed > EQUAL)
			return push_heap(q, ev);
		at--;
	}
	e = l->ring;
	for (uint32_t i = l->to; i != at; i--)
		e[i & mask] = e[(i - 1) & mask];
	e[at & mask] = ev;
	l->to++;
	q->count++;
	if (at == l->from)
		set_first(q, queue, ev);
	return 0;
}

bool dl_emu_events_pop(struct dl_emu_events *q, uint64_t until,
		       struct dl_emu_event *out)
{
	uint32_t queue = q->winner[1];
	struct dl_emu_event_queue *l = &q->queue[queue];

	*out = q->first[queue];
	if (out->time > until || !q->count)
		return false;
	q->now = out->time;
	q->count--;
	q->last = queue;
	if (queue == HEAP) {
		pop_heap(q);
		return true;
	}
	l->from++;
	set_first(q, queue,
		  is_empty(l) ? never : l->ring[l->from & (l->cap - 1)]);
	return true;
}

void dl_emu_events_each(const struct dl_emu_events *q,
			void (*visit)(void *context, uint64_t what),
			void *context)
{
	for (uint32_t i = 0; i < q->nheap; i++)
		visit(context, q->heap[DL_EMU_EVENTS_ROOT + i].what);
	for (uint32_t n = 0; n < HEAP; n++) {
		const struct dl_emu_event_queue *l = &q->queue[n];

		for (uint32_t i = l->from; i != l->to; i++)
			visit(context, l->ring[i & (l->cap - 1)].what);
	}
}
