/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* See events.h. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/base.h"
#include "emu/events.h"

#define RARE __attribute__((noinline))

void dl_emu_events_init(struct dl_emu_events *q, unsigned int shift)
{
	*q = (struct dl_emu_events){ .shift = shift, .nchunks = 1 };
}

void dl_emu_events_free(struct dl_emu_events *q)
{
	free(q->list);
	free(q->near.event);
	free(q->far.event);
	free(q->stock);
	free(q->next);
}

/* ---- heaps ------------------------------------------------------------- */

static int grow_heap(struct dl_emu_event_heap *h)
{
	uint32_t cap = h->cap ? 2 * h->cap : 1024;
	struct dl_emu_event *grown = aligned_alloc(64, (cap + 4ul) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	for (uint32_t i = 0; i < h->n; i++)
		grown[DL_EMU_HEAP_ROOT + i] = h->event[DL_EMU_HEAP_ROOT + i];
	free(h->event);
	h->event = grown;
	h->cap = cap;
	return 0;
}

static int push_heap(struct dl_emu_event_heap *heap, struct dl_emu_event ev)
{
	struct dl_emu_event *h;
	uint32_t at;

	if (heap->n == heap->cap && grow_heap(heap))
		return -ENOMEM;
	h = heap->event;
	at = DL_EMU_HEAP_ROOT + heap->n++;
	/* The children of i are 4i - 8 to 4i - 5. */
	while (at > DL_EMU_HEAP_ROOT) {
		uint32_t up = (at + 8) / 4;

		if (!dl_emu_event_before(&ev, &h[up]))
			break;
		h[at] = h[up];
		at = up;
	}
	h[at] = ev;
	return 0;
}

static void pop_heap(struct dl_emu_event_heap *heap)
{
	struct dl_emu_event *h = heap->event, last;
	uint32_t at = DL_EMU_HEAP_ROOT, end = DL_EMU_HEAP_ROOT + --heap->n;

	if (!heap->n)
		return;
	last = h[end];
	for (;;) {
		uint32_t child = 4 * at - 8, best = child, stop = child + 4;

		if (child >= end)
			break;
		if (stop > end)
			stop = end;
		for (uint32_t c = child + 1; c < stop; c++)
			best = dl_emu_event_before(&h[c], &h[best]) ? c : best;
		if (!dl_emu_event_before(&h[best], &last))
			break;
		h[at] = h[best];
		at = best;
	}
	h[at] = last;
}

RARE int dl_emu_events_push_rare(struct dl_emu_events *q, struct dl_emu_event ev)
{
	bool now = ev.time >> q->shift <= q->bucket;
	int err = push_heap(now ? &q->near : &q->far, ev);

	q->count += !err;
	return err;
}

RARE void dl_emu_events_pop_near(struct dl_emu_events *q, struct dl_emu_event *out)
{
	*out = q->near.event[DL_EMU_HEAP_ROOT];
	pop_heap(&q->near);
}

/* ---- the wheel --------------------------------------------------------- */

static int grow_stock(struct dl_emu_events *q)
{
	uint32_t cap = q->chunks_cap ? 2 * q->chunks_cap : 64;
	struct dl_emu_event *stock = dl_array_large((size_t)cap * DL_EMU_CHUNK, sizeof(*stock));
	uint32_t *next = realloc(q->next, cap * sizeof(*next));

	if (next)
		q->next = next;
	if (!next || !stock || cap > UINT32_MAX / DL_EMU_CHUNK) {
		free(stock);
		return -ENOMEM;
	}
	if (q->stock)
		memcpy(stock, q->stock, (size_t)q->nchunks * DL_EMU_CHUNK * sizeof(*stock));
	free(q->stock);
	q->stock = stock;
	q->chunks_cap = cap;
	return 0;
}

RARE int dl_emu_events_add_chunk(struct dl_emu_events *q, uint32_t slot)
{
	uint32_t chunk = q->free_chunk, full = q->slot[slot] / DL_EMU_CHUNK;

	if (chunk)
		q->free_chunk = q->next[chunk];
	else if (q->nchunks >= q->chunks_cap && grow_stock(q))
		return -ENOMEM;
	else
		chunk = q->nchunks++;
	q->next[chunk] = full ? full - 1 : 0;
	q->slot[slot] = chunk * DL_EMU_CHUNK;
	q->used[slot / 64] |= UINT64_C(1) << slot % 64;
	return 0;
}

/* ---- the bucket being served ------------------------------------------- */

#define PART_BITS 8 /* a bucket has up to 256 parts */

/* Room in the list for so many events. */
static int make_room(struct dl_emu_events *q, uint32_t n)
{
	if (n <= q->cap)
		return 0;
	free(q->list);
	q->cap = 0;
	q->list = aligned_alloc(64, (2 * (size_t)n / 4 + 1) * 64);
	if (!q->list)
		return -ENOMEM;
	q->cap = 2 * n;
	return 0;
}

/* The part of its bucket that an event is due in, of 2^bits. */
static inline uint32_t part_of(const struct dl_emu_events *q, const struct dl_emu_event *ev,
			       unsigned int bits)
{
	return ev->time >> (q->shift - bits) & ((1u << bits) - 1);
}

/* A slot's chunks, and how many events are in each. */
struct chain {
	uint32_t chunk, n;
};

static inline struct chain chain_of(uint32_t slot)
{
	uint32_t chunk = slot ? (slot - 1) / DL_EMU_CHUNK : 0;

	return (struct chain){ chunk, slot - chunk * DL_EMU_CHUNK };
}

static inline struct chain next_of(const struct dl_emu_events *q, struct chain c)
{
	return (struct chain){ q->next[c.chunk], DL_EMU_CHUNK };
}

/* Into the list, in order of the part of the bucket. */
static void scatter(struct dl_emu_events *q, uint32_t slot, unsigned int bits)
{
	uint32_t start[(1 << PART_BITS) + 1];

	memset(start, 0, ((1ul << bits) + 1) * sizeof(*start));
	for (struct chain c = chain_of(slot); c.chunk; c = next_of(q, c)) {
		const struct dl_emu_event *ev = &q->stock[c.chunk * DL_EMU_CHUNK];

		for (uint32_t i = 0; i < c.n; i++)
			start[part_of(q, &ev[i], bits) + 1]++;
	}
	for (uint32_t i = 1; i <= 1u << bits; i++)
		start[i] += start[i - 1];
	for (struct chain c = chain_of(slot); c.chunk; c = next_of(q, c)) {
		const struct dl_emu_event *ev = &q->stock[c.chunk * DL_EMU_CHUNK];

		for (uint32_t i = 0; i < c.n; i++)
			q->list[start[part_of(q, &ev[i], bits)]++] = ev[i];
	}
}

static void insertion_sort(struct dl_emu_event *list, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		struct dl_emu_event ev = list[i];
		uint32_t at = i;

		while (at && dl_emu_event_before(&ev, &list[at - 1])) {
			list[at] = list[at - 1];
			at--;
		}
		list[at] = ev;
	}
}

/* Put the events of the bucket in order; its chunks are free then. */
static int open_bucket(struct dl_emu_events *q)
{
	uint32_t *slot = &q->slot[q->bucket % DL_EMU_SLOTS], n = 0, last = 0;
	uint32_t number = q->bucket % DL_EMU_SLOTS;

	for (struct chain c = chain_of(*slot); c.chunk; c = next_of(q, c)) {
		last = c.chunk;
		n += c.n;
	}
	q->at = q->n = 0;
	if (!n)
		return 0;
	if (make_room(q, n))
		return -ENOMEM;
	scatter(q, *slot, n <= 12 ? 4 : n <= 96 ? 6 : PART_BITS);
	insertion_sort(q->list, n);
	q->n = n;
	q->next[last] = q->free_chunk;
	q->free_chunk = chain_of(*slot).chunk;
	*slot = 0;
	q->used[number / 64] &= ~(UINT64_C(1) << number % 64);
	return 0;
}

/* The first bucket after the present one that has events in the wheel. */
static uint64_t next_used(const struct dl_emu_events *q)
{
	uint64_t bucket = q->bucket + 1, stop = q->bucket + DL_EMU_SLOTS;

	while (bucket < stop) {
		uint32_t slot = bucket % DL_EMU_SLOTS;
		uint64_t rest = q->used[slot / 64] >> slot % 64;

		if (rest)
			return bucket + __builtin_ctzll(rest);
		bucket += 64 - slot % 64;
	}
	return UINT64_MAX;
}

int dl_emu_events_advance(struct dl_emu_events *q, uint64_t until)
{
	const struct dl_emu_event *far = &q->far.event[DL_EMU_HEAP_ROOT];
	uint64_t bucket = next_used(q);
	int err = 0;

	if (q->far.n && far->time >> q->shift < bucket)
		bucket = far->time >> q->shift;
	if (bucket > until >> q->shift)
		return 0;
	q->bucket = bucket - 1;
	while (!err && q->far.n && (far->time >> q->shift) - bucket < DL_EMU_SLOTS - 1) {
		struct dl_emu_event ev = *far;

		pop_heap(&q->far);
		q->count--;
		err = dl_emu_events_push(q, ev.time, ev.what);
	}
	q->bucket = bucket;
	if (!err)
		err = open_bucket(q);
	return err ? err : 1;
}

void dl_emu_events_each(const struct dl_emu_events *q, void (*visit)(void *context, uint64_t what),
			void *context)
{
	for (uint32_t i = q->at; i < q->n; i++)
		visit(context, q->list[i].what);
	for (uint32_t i = 0; i < q->near.n; i++)
		visit(context, q->near.event[DL_EMU_HEAP_ROOT + i].what);
	for (uint32_t i = 0; i < q->far.n; i++)
		visit(context, q->far.event[DL_EMU_HEAP_ROOT + i].what);
	for (uint32_t slot = 0; slot < DL_EMU_SLOTS; slot++)
		for (struct chain c = chain_of(q->slot[slot]); c.chunk; c = next_of(q, c))
			for (uint32_t i = 0; i < c.n; i++)
				visit(context, q->stock[c.chunk * DL_EMU_CHUNK + i].what);
}
