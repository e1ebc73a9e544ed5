/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* See events.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "dateline/base.h"
#include "emu/events.h"

#define RARE __attribute__((noinline, cold))

/* ---- batches ------------------------------------------------------------ */

#define FIRST_CAP 13 /* with the rest two cache lines */

/* One with the same keys and room for more, or NULL. */
static struct dl_emu_batch *grow_batch(struct dl_emu_events *q, struct dl_emu_batch *b)
{
	bool first = b == q->none;
	uint32_t cap = first ? FIRST_CAP : 2 * b->cap + 3;

	b = realloc(first ? NULL : b, sizeof(*b) + (cap + 1ul) * sizeof(b->key[0]));
	if (!b) {
		q->err = -ENOMEM;
		return NULL;
	}
	if (first)
		b->n = 0;
	b->cap = cap;
	return b;
}

/* A batch of a slot with room for one key more, or NULL. */
static struct dl_emu_batch *batch_with_room(struct dl_emu_events *q, uint32_t log, uint32_t slot)
{
	struct dl_emu_batch *b = q->slot[log][slot], *spare = q->spare[log];

	if (b->n < b->cap)
		return b;
	if (b == q->none && spare) {
		q->spare[log] = spare->next;
		b = spare;
	} else {
		b = grow_batch(q, b);
		if (!b)
			return NULL;
	}
	q->slot[log][slot] = b;
	q->used[slot / 64] |= UINT64_C(1) << slot % 64;
	return b;
}

int dl_emu_events_init(struct dl_emu_events *q, unsigned int shift)
{
	memset(q, 0, sizeof(*q));
	q->after = 1;
	q->end = UINT64_C(1) << shift;
	q->shift = shift;
	q->kind_at = 60 - shift;
	q->below = (UINT64_C(1) << q->kind_at) - 1;
	q->none = calloc(1, sizeof(*q->none) + sizeof(q->none->key[0]));
	if (!q->none)
		return -ENOMEM;
	q->none->key[0] = DL_EMU_NO_EVENT;
	for (uint32_t log = 0; log < DL_EMU_LOGS; log++) {
		q->served[log] = q->none;
		q->at[log] = q->none->key;
		for (uint32_t i = 0; i < DL_EMU_SLOTS; i++)
			q->slot[log][i] = q->none;
	}
	return 0;
}

static void free_batch(struct dl_emu_events *q, struct dl_emu_batch *b)
{
	if (b != q->none)
		free(b);
}

void dl_emu_events_free(struct dl_emu_events *q)
{
	for (uint32_t log = 0; q->none && log < DL_EMU_LOGS; log++) {
		free_batch(q, q->served[log]);
		for (uint32_t i = 0; i < DL_EMU_SLOTS; i++)
			free_batch(q, q->slot[log][i]);
		for (struct dl_emu_batch *b = q->spare[log], *next; b; b = next) {
			next = b->next;
			free(b);
		}
	}
	free(q->none);
	free(q->far);
	free(q->scratch);
}

/* ---- what does not go to the wheel -------------------------------------- */

static void push_far(struct dl_emu_events *q, struct dl_emu_far_event ev)
{
	struct dl_emu_far_event *heap;
	uint32_t at = q->nfar;

	if (!dl_array_room(q->far, at, 1, &q->far_cap)) {
		q->err = -ENOMEM;
		return;
	}
	heap = q->far;
	q->nfar++;
	while (at && heap[(at - 1) / 2].time > ev.time) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = ev;
}

static struct dl_emu_far_event pop_far(struct dl_emu_events *q)
{
	struct dl_emu_far_event *heap = q->far, first = heap[0], last = heap[--q->nfar];
	uint32_t at = 0, child;

	while ((child = 2 * at + 1) < q->nfar) {
		if (child + 1 < q->nfar && heap[child + 1].time < heap[child].time)
			child++;
		if (heap[child].time >= last.time)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return first;
}

/* Room for more in the bucket being served. */
static bool grow_served(struct dl_emu_events *q, uint32_t log)
{
	uint32_t first = q->at[log] - q->served[log]->key;
	struct dl_emu_batch *b = grow_batch(q, q->served[log]);

	if (!b)
		return false;
	q->served[log] = b;
	q->at[log] = b->key + first;
	return true;
}

/* Not into the bucket being served, or where there is no room in it. */
static RARE void push_elsewhere(struct dl_emu_events *q, uint64_t time, uint32_t log, uint64_t key)
{
	uint64_t bucket = time >> q->shift;
	struct dl_emu_batch *b;

	if (bucket <= q->bucket) {
		if (grow_served(q, log))
			dl_emu_events_push_near(q, time, log, key);
	} else if (bucket - q->bucket >= DL_EMU_SLOTS) {
		push_far(q, (struct dl_emu_far_event){ time, key, log });
	} else {
		b = batch_with_room(q, log, bucket % DL_EMU_SLOTS);
		if (b)
			b->key[b->n++] = key;
	}
}

/* Into the bucket being served: before the keys that are later. */
void dl_emu_events_push_near(struct dl_emu_events *q, uint64_t time, uint32_t log, uint64_t key)
{
	struct dl_emu_batch *b = q->served[log];
	uint64_t *to = b->key + b->n, *first = q->at[log];

	if (time >= q->end || b->n == b->cap) {
		push_elsewhere(q, time, log, key);
		return;
	}
	b->n++;
	to[1] = DL_EMU_NO_EVENT;
	for (; to > first && to[-1] > key; to--)
		*to = to[-1];
	*to = key;
}

/* ---- the bucket being served -------------------------------------------- */

#define PARTS 64

/* False: it would take more than so many moves, and is not done. */
static bool sort_by_insertion(uint64_t *key, uint32_t n, uint64_t moves)
{
	uint64_t *at = key, *end = key + n, *to, before = 0, k;

	for (; at < end; at++) {
		k = *at;
		if (__builtin_expect(k >= before, 1)) {
			before = k;
			continue;
		}
		for (to = at; to > key && to[-1] > k; to--)
			*to = to[-1];
		*to = k;
		if ((uint64_t)(at - to) > moves)
			return false;
		moves -= at - to;
	}
	return true;
}

/* False: there is no memory. */
static bool reserve_scratch(struct dl_emu_events *q, uint32_t n)
{
	if (q->scratch_cap < n) {
		free(q->scratch);
		q->scratch = malloc(2ul * n * sizeof(*q->scratch));
		q->scratch_cap = q->scratch ? 2 * n : 0;
	}
	return q->scratch;
}

static void sort_by_parts(struct dl_emu_events *q, uint64_t *key, uint32_t n);

static inline void sort_keys(struct dl_emu_events *q, uint64_t *key, uint32_t n)
{
	if (!sort_by_insertion(key, n, 4ul * n))
		sort_by_parts(q, key, n);
}

/* Many out of order are divided by the highest bits in which they differ. */
RARE void sort_by_parts(struct dl_emu_events *q, uint64_t *key, uint32_t n)
{
	uint32_t start[PARTS + 1] = { 0 };
	unsigned int low;
	uint64_t differ = 0;

	for (uint32_t i = 1; i < n; i++)
		differ |= key[i] ^ key[0];
	low = 63 - __builtin_clzll(differ);
	low = low > 5 ? low - 5 : 0;
	if (!reserve_scratch(q, n)) { /* it only takes longer */
		sort_by_insertion(key, n, UINT64_MAX);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		start[(key[i] >> low) % PARTS + 1]++;
	for (uint32_t i = 1; i < PARTS; i++)
		start[i] += start[i - 1];
	for (uint32_t i = 0; i < n; i++)
		q->scratch[start[(key[i] >> low) % PARTS]++] = key[i];
	memcpy(key, q->scratch, n * sizeof(*key));
	for (uint32_t i = 0, from = 0; i < PARTS; from = start[i++])
		sort_keys(q, key + from, start[i] - from);
}

/* A batch with keys is done with. */
static void spare_batch(struct dl_emu_events *q, uint32_t log, struct dl_emu_batch **b)
{
	(*b)->n = 0;
	(*b)->next = q->spare[log];
	q->spare[log] = *b;
	*b = q->none;
}

/* The batch of a slot is served, in place of the one before it. */
static void open_log(struct dl_emu_events *q, uint32_t log, uint32_t slot)
{
	struct dl_emu_batch *b = q->slot[log][slot];

	if (q->served[log] != q->none)
		spare_batch(q, log, &q->served[log]);
	q->slot[log][slot] = q->none;
	q->served[log] = b;
	q->at[log] = b->key;
	if (b->n > 1)
		sort_keys(q, b->key, b->n);
	b->key[b->n] = DL_EMU_NO_EVENT;
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

uint64_t dl_emu_events_next(const struct dl_emu_events *q)
{
	uint64_t bucket = next_used(q);

	if (dl_emu_events_first(q) != DL_EMU_NO_EVENT)
		return q->bucket;
	if (q->nfar && q->far[0].time >> q->shift < bucket)
		bucket = q->far[0].time >> q->shift;
	return bucket;
}

int dl_emu_events_open(struct dl_emu_events *q, uint64_t until)
{
	uint64_t bucket = dl_emu_events_next(q);
	uint32_t slot;

	if (q->err || bucket > until >> q->shift || bucket == q->bucket)
		return q->err;
	q->bucket = bucket - 1;
	q->after = bucket;
	while (q->nfar && (q->far[0].time >> q->shift) - bucket < DL_EMU_SLOTS - 1) {
		struct dl_emu_far_event ev = pop_far(q);

		dl_emu_events_push(q, ev.time, ev.log, dl_emu_events_kind(q, ev.key),
				   dl_emu_events_what(q, ev.key));
	}
	slot = bucket % DL_EMU_SLOTS;
	q->bucket = bucket;
	q->after = bucket + 1;
	q->base = bucket << q->shift;
	q->end = q->after << q->shift;
	for (uint32_t log = 0; log < DL_EMU_LOGS; log++)
		open_log(q, log, slot);
	q->used[slot / 64] &= ~(UINT64_C(1) << slot % 64);
	return q->err ? q->err : 1;
}

void dl_emu_events_each(const struct dl_emu_events *q,
			void (*visit)(void *context, uint64_t time, uint32_t log, unsigned int kind,
				      uint64_t what),
			void *context)
{
	unsigned int kind_at = q->kind_at;

	for (uint32_t log = 0; log < DL_EMU_LOGS; log++) {
		for (const uint64_t *k = q->at[log]; *k != DL_EMU_NO_EVENT; k++)
			visit(context, dl_emu_events_time(q, *k), log, dl_emu_events_kind(q, *k),
			      dl_emu_events_what(q, *k));
		for (uint64_t bucket = q->bucket + 1; bucket < q->bucket + DL_EMU_SLOTS; bucket++) {
			const struct dl_emu_batch *b = q->slot[log][bucket % DL_EMU_SLOTS];

			for (uint32_t i = 0; i < b->n; i++)
				visit(context, (bucket << q->shift) + (b->key[i] >> kind_at >> 4),
				      log, dl_emu_events_kind(q, b->key[i]),
				      dl_emu_events_what(q, b->key[i]));
		}
	}
	for (uint32_t i = 0; i < q->nfar; i++)
		visit(context, q->far[i].time, q->far[i].log, dl_emu_events_kind(q, q->far[i].key),
		      dl_emu_events_what(q, q->far[i].key));
}

uint64_t dl_emu_events_count(const struct dl_emu_events *q)
{
	uint64_t n = q->nfar - dl_emu_events_taken(q);

	for (uint32_t log = 0; log < DL_EMU_LOGS; log++)
		n += q->served[log]->n;
	for (uint32_t i = 0; i < DL_EMU_SLOTS; i++)
		for (uint32_t log = 0; q->used[i / 64] >> i % 64 & 1 && log < DL_EMU_LOGS; log++)
			n += q->slot[log][i]->n;
	return n;
}
