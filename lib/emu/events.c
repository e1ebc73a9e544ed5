/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* See events.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "dateline/base.h"
#include "emu/events.h"

#define RARE __attribute__((noinline, cold))
#define WHAT ((UINT64_C(1) << DL_EMU_KEY_TIME) - 1)

/* Room in a run for so many keys and their end. */
static bool make_room(struct dl_emu_events *q, struct dl_emu_run *r, uint32_t n)
{
	size_t at = r->key ? r->at - r->key : 0;
	uint64_t *grown;

	if (n < r->cap)
		return true;
	grown = realloc(r->key, (2ul * n + 64) * sizeof(*grown));
	if (!grown) {
		q->err = -ENOMEM;
		return false;
	}
	r->key = grown;
	r->at = grown + at;
	r->cap = 2 * n + 64;
	return true;
}

int dl_emu_events_init(struct dl_emu_events *q, unsigned int shift)
{
	memset(q, 0, sizeof(*q));
	q->shift = shift;
	q->block_chunks = 32;
	q->none.n = DL_EMU_CHUNK;
	for (uint32_t log = 0; log < DL_EMU_LOGS; log++) {
		struct dl_emu_run *r = &q->run[log];

		for (uint32_t i = 0; i < DL_EMU_SLOTS; i++)
			q->slot[log][i] = &q->none;
		if (!make_room(q, r, 0))
			return -ENOMEM;
		*r->at = DL_EMU_NO_EVENT;
	}
	return 0;
}

void dl_emu_events_free(struct dl_emu_events *q)
{
	for (uint32_t log = 0; log < DL_EMU_LOGS; log++)
		free(q->run[log].key);
	for (struct dl_emu_chunk *b = q->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	free(q->far);
	free(q->scratch);
}

/* ---- what does not go to the wheel -------------------------------------- */

static void push_far(struct dl_emu_events *q, struct dl_emu_far_event ev)
{
	struct dl_emu_far_event *heap =
		dl_array_grow(q->far, sizeof(*q->far), q->nfar, 1, &q->far_cap);
	uint32_t at = q->nfar;

	if (!heap) {
		q->err = -ENOMEM;
		return;
	}
	q->far = heap;
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

RARE void dl_emu_events_push_rare(struct dl_emu_events *q, uint64_t time, uint32_t log,
				  uint64_t what)
{
	struct dl_emu_run *r = &q->run[log];
	uint64_t key = time << DL_EMU_KEY_TIME | what;
	uint32_t at;

	if (time >> q->shift > q->bucket) {
		push_far(q, (struct dl_emu_far_event){ time, what, log });
		return;
	}
	if (!make_room(q, r, r->n + 1))
		return;
	at = r->n++;
	r->key[r->n] = DL_EMU_NO_EVENT;
	for (uint64_t *k = r->key; k + at > r->at && k[at - 1] > key; at--)
		k[at] = k[at - 1];
	r->key[at] = key;
}

/* ---- the wheel ---------------------------------------------------------- */

static void more_chunks(struct dl_emu_events *q)
{
	struct dl_emu_chunk *c = dl_array_large(q->block_chunks, sizeof(*c));

	if (!c)
		return;
	c->next = q->blocks;
	q->blocks = c;
	for (uint32_t i = 1; i < q->block_chunks; i++) {
		c[i].next = q->free_chunk;
		q->free_chunk = &c[i];
	}
	if (q->block_chunks < 1 << 14)
		q->block_chunks *= 2;
}

__attribute__((noinline)) struct dl_emu_chunk *dl_emu_events_add_chunk(struct dl_emu_events *q,
								       uint32_t log, uint32_t slot)
{
	struct dl_emu_chunk *c;

	if (!q->free_chunk)
		more_chunks(q);
	c = q->free_chunk;
	if (!c) {
		q->err = -ENOMEM;
		return NULL;
	}
	q->free_chunk = c->next;
	c->next = q->slot[log][slot];
	c->n = 0;
	q->slot[log][slot] = c;
	q->used[slot / 64] |= UINT64_C(1) << slot % 64;
	return c;
}

/* ---- the bucket being served -------------------------------------------- */

#define PARTS 64

static int by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Divided by the high bits of time, most keys are at their place or near it. */
static void divide(struct dl_emu_events *q, uint64_t *key, uint32_t n)
{
	unsigned int low =
		DL_EMU_KEY_TIME + (q->shift > 6 ? q->shift - 6 : 0); /* of those that divide */
	uint32_t start[PARTS + 1] = { 0 };

	if (q->scratch_cap < n) {
		free(q->scratch);
		q->scratch = malloc(2ul * n * sizeof(*q->scratch));
		q->scratch_cap = q->scratch ? 2 * n : 0;
	}
	if (!q->scratch) /* it only takes longer */
		return;
	for (uint32_t i = 0; i < n; i++)
		start[(key[i] >> low) % PARTS + 1]++;
	for (uint32_t i = 1; i < PARTS; i++)
		start[i] += start[i - 1];
	for (uint32_t i = 0; i < n; i++)
		q->scratch[start[(key[i] >> low) % PARTS]++] = key[i];
	memcpy(key, q->scratch, n * sizeof(*key));
}

static void sort(struct dl_emu_events *q, uint64_t *key, uint32_t n)
{
	uint64_t moves = 0;

	if (n > 16)
		divide(q, key, n);
	for (uint32_t i = 1; i < n && moves < 32ul * n; i++) {
		uint64_t k = key[i];
		uint32_t at = i;

		for (; at && key[at - 1] > k; at--)
			key[at] = key[at - 1];
		key[at] = k;
		moves += i - at;
	}
	if (moves >= 32ul * n) /* very many at one time */
		qsort(key, n, sizeof(*key), by_key);
}

/* A slot's chunks, turned round: the one filled first comes first. */
static struct dl_emu_chunk *in_order(struct dl_emu_events *q, struct dl_emu_chunk *c, uint32_t *n)
{
	struct dl_emu_chunk *first = NULL;

	*n = 0;
	while (c != &q->none) {
		struct dl_emu_chunk *next = c->next;

		c->next = first;
		first = c;
		c = next;
		*n += DL_EMU_CHUNK;
	}
	return first;
}

static void open_log(struct dl_emu_events *q, uint32_t log, uint32_t slot)
{
	struct dl_emu_run *r = &q->run[log];
	uint64_t *to, last = 0;
	bool ordered = true;
	uint32_t most;
	struct dl_emu_chunk *c = in_order(q, q->slot[log][slot], &most), *next;

	q->slot[log][slot] = &q->none;
	r->n = 0;
	if (!make_room(q, r, most))
		return;
	to = r->at = r->key;
	for (; c; c = next) {
		for (uint32_t i = 0; i < c->n; i++) {
			uint64_t key = c->key[i];

			ordered &= key >= last;
			last = key;
			*to++ = key;
		}
		next = c->next;
		c->next = q->free_chunk;
		q->free_chunk = c;
	}
	r->n = to - r->key;
	*to = DL_EMU_NO_EVENT;
	if (!ordered)
		sort(q, r->key, r->n);
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

	for (uint32_t log = 0; log < DL_EMU_LOGS; log++)
		if (*q->run[log].at != DL_EMU_NO_EVENT)
			return q->bucket;
	if (q->nfar && q->far[0].time >> q->shift < bucket)
		bucket = q->far[0].time >> q->shift;
	return bucket;
}

/* (Called when the runs are at their ends.) */
int dl_emu_events_advance(struct dl_emu_events *q, uint64_t until)
{
	uint64_t bucket = dl_emu_events_next(q);
	uint32_t slot;

	if (q->err || bucket > until >> q->shift)
		return q->err;
	q->bucket = bucket - 1;
	while (q->nfar && (q->far[0].time >> q->shift) - bucket < DL_EMU_SLOTS - 1) {
		struct dl_emu_far_event ev = pop_far(q);

		q->count--;
		dl_emu_events_push(q, ev.time, ev.log, ev.what);
	}
	slot = bucket % DL_EMU_SLOTS;
	q->bucket = bucket;
	q->base = bucket << q->shift >> DL_EMU_BUCKET_BITS << DL_EMU_BUCKET_BITS;
	for (uint32_t log = 0; log < DL_EMU_LOGS; log++)
		open_log(q, log, slot);
	q->used[slot / 64] &= ~(UINT64_C(1) << slot % 64);
	return q->err ? q->err : 2;
}

void dl_emu_events_each(const struct dl_emu_events *q,
			void (*visit)(void *context, uint32_t log, uint64_t what), void *context)
{
	for (uint32_t log = 0; log < DL_EMU_LOGS; log++) {
		for (const uint64_t *k = q->run[log].at; *k != DL_EMU_NO_EVENT; k++)
			visit(context, log, *k & WHAT);
		for (uint32_t slot = 0; slot < DL_EMU_SLOTS; slot++)
			for (const struct dl_emu_chunk *c = q->slot[log][slot]; c != &q->none;
			     c = c->next)
				for (uint32_t i = 0; i < c->n; i++)
					visit(context, log, c->key[i] & WHAT);
	}
	for (uint32_t i = 0; i < q->nfar; i++)
		visit(context, q->far[i].log, q->far[i].what);
}
