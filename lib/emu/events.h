/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The events of an emulation, in order of time.
 *
 * Problem.  Millions of events a second go in and come out, and thousands are
 * pending.  Nearly all are due within a few microseconds.
 *
 * Representation.  Time is divided into buckets of 8 to 33 ns.  A wheel has a
 * slot for each of the next 1024 of them, where events are kept in no order,
 * in chunks; a bucket is sorted when its time has come.  What comes to the
 * bucket being served is in a small heap, `near`, what comes after the wheel's
 * horizon in another, `far`, from which it goes to its bucket when that is
 * opened.
 *
 *	bucket	...  121    | 122  123  124  ...  1144 | 1145 ...
 *		     list	    wheel, slot = bucket	 far
 *		     + near  modulo 1024
 *
 * For example, while bucket 121 of 8192 ps is served, at 992,000 ps, an
 * event 518,500 ps later falls into bucket 1510500 / 8192 = 184, slot 184.
 *
 * Order.  By time, then by kind, then by whom it concerns: one number, `what`.
 * Events that are alike in all do the same, so their order means nothing.
 *
 * Invariants.  No event is due before the last one taken; the wheel holds
 * nothing for the bucket being served or an earlier one.
 *
 * Complexity.  O(1) in the wheel: sorting is by counting, and then by
 * insertion among the few of a counted time.  O(log n) in the heaps.
 */
#ifndef DL_EVENTS_H
#define DL_EVENTS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

struct dl_emu_event {
	uint64_t what; /* kind in the highest 4 bits */
	uint64_t time;
};

#define DL_EMU_NO_EVENT UINT64_MAX /* `what` of none */

#define DL_EMU_SLOTS 1024u
#define DL_EMU_CHUNK 16 /* events; four cache lines */

/* A heap with four children a node; heap[3] is the root: aligned children. */
struct dl_emu_event_heap {
	struct dl_emu_event *event;
	uint32_t n, cap;
};

#define DL_EMU_HEAP_ROOT 3

struct dl_emu_events {
	unsigned int shift;	   /* of a time: its bucket */
	uint64_t bucket;	   /* being served */
	struct dl_emu_event *list; /* its events from the wheel, sorted */
	uint32_t at, n, cap;	   /* the next one, all, room */
	uint32_t count;		   /* of all events */
	struct dl_emu_event_heap near, far;
	/*
	 * Chunk c is stock[c * DL_EMU_CHUNK] and so on; there is no chunk 0.
	 * A slot holds where its next event goes: at the beginning of a chunk
	 * a new one is needed, and the one before is full.  0: it is empty.
	 */
	struct dl_emu_event *stock;
	uint32_t *next; /* by chunk: of its slot or of those that are free, or 0 */
	uint32_t nchunks, chunks_cap, free_chunk;
	uint32_t slot[DL_EMU_SLOTS];
	uint64_t used[DL_EMU_SLOTS / 64];
};

/*
 * Buckets of 2^shift picoseconds, 8 or more: a hundred events or so in each are
 * sorted and found fastest.
 */
void dl_emu_events_init(struct dl_emu_events *q, unsigned int shift);
void dl_emu_events_free(struct dl_emu_events *q);

/* Not for the wheel; a new chunk for a slot; the near heap's first. */
int dl_emu_events_push_rare(struct dl_emu_events *q, struct dl_emu_event ev);
int dl_emu_events_add_chunk(struct dl_emu_events *q, uint32_t slot);
void dl_emu_events_pop_near(struct dl_emu_events *q, struct dl_emu_event *out);

/* Serve the next bucket with events, up to a time.  1, 0: none, -ENOMEM. */
int dl_emu_events_advance(struct dl_emu_events *q, uint64_t until);

static inline bool dl_emu_event_before(const struct dl_emu_event *a, const struct dl_emu_event *b)
{
	return (((unsigned __int128)a->time << 64) | a->what) <
	       (((unsigned __int128)b->time << 64) | b->what);
}

/* Not before the last one taken.  Returns 0 or -ENOMEM. */
static inline int dl_emu_events_push(struct dl_emu_events *q, uint64_t time, uint64_t what)
{
	uint64_t bucket = time >> q->shift;
	uint32_t *slot = &q->slot[bucket % DL_EMU_SLOTS];

	if (__builtin_expect(bucket - q->bucket - 1 >= DL_EMU_SLOTS - 1, 0))
		return dl_emu_events_push_rare(q, (struct dl_emu_event){ what, time });
	if (*slot % DL_EMU_CHUNK == 0 && dl_emu_events_add_chunk(q, bucket % DL_EMU_SLOTS))
		return -ENOMEM;
	q->stock[(*slot)++] = (struct dl_emu_event){ what, time };
	q->count++;
	return 0;
}

/*
 * The next one, if it is due at `until` or before, and it is taken out.
 * Returns 1, 0: there is none, or -ENOMEM.
 */
static inline int dl_emu_events_pop(struct dl_emu_events *q, uint64_t until,
				    struct dl_emu_event *out)
{
	while (q->at == q->n && !q->near.n) {
		int opened = dl_emu_events_advance(q, until);

		if (opened <= 0)
			return opened;
	}
	if (q->near.n && (q->at == q->n ||
			  dl_emu_event_before(&q->near.event[DL_EMU_HEAP_ROOT], &q->list[q->at]))) {
		if (q->near.event[DL_EMU_HEAP_ROOT].time > until)
			return 0;
		dl_emu_events_pop_near(q, out);
	} else {
		if (q->list[q->at].time > until)
			return 0;
		*out = q->list[q->at++];
	}
	q->count--;
	return 1;
}

/* The n-th event from the next one on, most likely; or DL_EMU_NO_EVENT. */
static inline uint64_t dl_emu_events_ahead(const struct dl_emu_events *q, uint32_t n)
{
	return q->at + n < q->n ? q->list[q->at + n].what : DL_EMU_NO_EVENT;
}

static inline uint32_t dl_emu_events_count(const struct dl_emu_events *q)
{
	return q->count;
}

/* Hand out each event, in no order. */
void dl_emu_events_each(const struct dl_emu_events *q, void (*visit)(void *context, uint64_t what),
			void *context);

#endif
