/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The events of an emulation, in order of time.
 *
 * Problem.  Millions of events a second go in and come out, and thousands are
 * pending.
 *
 * Most come a time after what causes them that is always the same: a packet of
 * the largest size lasts as long as the one before, and a switch takes as
 * long.  Events of the same delay are due in the order in which they are made.
 *
 * Representation.  So each delay that is common has a queue, where its events
 * stand in a ring, first in, first out.  All others are in a heap with four
 * children a node.  The next event is the first of a queue or of the heap: a
 * tournament tree knows which.
 *
 * A delay has two queues that it may get, by hashing, and it gets one that is
 * empty when it comes twice without another in between that has none either.
 * So what is drawn at random seldom takes a queue, and what is common has it
 * for as long as it is used.
 *
 * Order.  By time, then by kind, then by what it concerns: one number, `what`.
 * Events that are alike in all do the same, so their order means nothing.
 *
 * Invariants.  In each queue the order holds; no event is due before `now`, the
 * time of the last one taken.
 *
 * Complexity.  O(1) in a queue, O(log n) in the heap.
 */
#ifndef DL_EVENTS_H
#define DL_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct dl_emu_event {
	uint64_t what; /* kind in the highest 4 bits */
	uint64_t time;
};

#define DL_EMU_NO_EVENT UINT64_MAX /* `what` of none */

/* The last of the queues is the heap. */
#define DL_EMU_EVENT_QUEUES 16

struct dl_emu_event_queue {
	struct dl_emu_event *ring;
	uint32_t from, to; /* counted on; their place is modulo `cap` */
	uint32_t cap;
};

struct dl_emu_events {
	uint64_t now;
	uint32_t count;
	uint32_t last; /* queue of the event taken last */
	struct dl_emu_event
		first[DL_EMU_EVENT_QUEUES];	 /* of each queue, or NEVER */
	uint8_t winner[2 * DL_EMU_EVENT_QUEUES]; /* of a subtree; root 1 */
	uint64_t delay[DL_EMU_EVENT_QUEUES];
	uint64_t candidate[DL_EMU_EVENT_QUEUES / 2]; /* for two queues */
	struct dl_emu_event_queue queue[DL_EMU_EVENT_QUEUES];
	struct dl_emu_event *heap; /* heap[3] is the root: aligned children */
	uint32_t nheap, heap_cap;
};

#define DL_EMU_EVENTS_ROOT 3

void dl_emu_events_init(struct dl_emu_events *q);
void dl_emu_events_free(struct dl_emu_events *q);

/* Not before `now`.  Returns 0 or -ENOMEM. */
int dl_emu_events_push(struct dl_emu_events *q, uint64_t time, uint64_t what);

/*
 * The next one, if it is due at `until` or before, and it is taken out.
 * Returns false if there is none.
 */
bool dl_emu_events_pop(struct dl_emu_events *q, uint64_t until,
		       struct dl_emu_event *out);

/*
 * What will be next in the queue of the event that was taken last; and what
 * comes n places behind that one.  DL_EMU_NO_EVENT: nothing does.
 */
static inline uint64_t dl_emu_events_next(const struct dl_emu_events *q)
{
	return q->first[q->last].what;
}

static inline uint64_t dl_emu_events_ahead(const struct dl_emu_events *q,
					   uint32_t n)
{
	const struct dl_emu_event_queue *l = &q->queue[q->last];

	return n < l->to - l->from ?
		       l->ring[(l->from + n) & (l->cap - 1)].what :
		       DL_EMU_NO_EVENT;
}

static inline uint32_t dl_emu_events_count(const struct dl_emu_events *q)
{
	return q->count;
}

/* Hand out each event, in no order. */
void dl_emu_events_each(const struct dl_emu_events *q,
			void (*visit)(void *context, uint64_t what),
			void *context);

#endif
