/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The events of an emulation, in order of time.
 *
 * Problem.  Millions of events a second go in and come out, thousands are
 * pending, and nearly all of them are due within the time of a packet or two.
 *
 * Representation.  A wheel of buckets, each of them a short stretch of time
 * with its events in a sorted list; a bit for each bucket says whether there
 * are any.  The stretch is chosen so that a busy fabric has about one event
 * in each.  What is due later than once round goes to a heap with four
 * children a node; it stays there, and the earlier of both firsts is next.
 *
 * Order.  By time, then by kind, then by what it concerns: one number, `what`.
 * Events that are alike in all do the same, so their order means nothing.
 * The order does not depend on the wheel's measures.
 *
 * Invariants.  All events on the wheel are due at or after `now`, the time of
 * the last one taken, and less than one turn after it: no two turns share a
 * bucket.  `first` is the bucket of the first one, while there is any.
 *
 * Complexity.  O(1) while buckets are short; heap: O(log n).
 */
#ifndef DL_EVENTS_H
#define DL_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct dl_event {
	uint64_t what;		/* kind in the highest 4 bits */
	uint64_t time;
};

#define DL_NO_EVENT UINT64_MAX	/* `what` of a node not in use */
#define DL_WHEEL_BITS 14
#define DL_WHEEL (1u << DL_WHEEL_BITS)
#define DL_WHEEL_WORDS (DL_WHEEL / 64)

struct dl_event_node {
	struct dl_event event;
	uint32_t next;
};

struct dl_events {
	uint64_t now;
	uint64_t first;		/* bucket number, counted from time 0 */
	uint32_t on_wheel;
	unsigned int shift;	/* a bucket is 2^shift picoseconds */
	uint32_t *bucket;	/* its first node, while its bit is set */
	uint64_t *occupied;
	struct dl_event_node *nodes;
	uint32_t nnodes, nodes_cap, free_node;
	struct dl_event *heap;	/* heap[3] is the root: aligned children */
	uint32_t nheap, heap_cap;
};

#define DL_EVENTS_ROOT 3

/* `spacing`: time between two events when it is busy.  0 or -ENOMEM. */
int dl_events_init(struct dl_events *q, uint64_t spacing);
void dl_events_free(struct dl_events *q);

/* Not before `now`.  Returns 0 or -ENOMEM. */
int dl_events_push(struct dl_events *q, uint64_t time, uint64_t what);

/* The next one, if it is due at `until` or before. */
bool dl_events_pop(struct dl_events *q, uint64_t until, struct dl_event *out);

static inline uint32_t dl_events_count(const struct dl_events *q)
{
	return q->on_wheel + q->nheap;
}

/* What is likely to come next, or DL_NO_EVENT. */
static inline uint64_t dl_events_peek(const struct dl_events *q)
{
	return q->on_wheel ?
	       q->nodes[q->bucket[q->first % DL_WHEEL]].event.what :
	       DL_NO_EVENT;
}

/* Event i of dl_events_places(), in no order; `what` DL_NO_EVENT: none. */
static inline uint32_t dl_events_places(const struct dl_events *q)
{
	return q->nnodes + q->nheap;
}

static inline struct dl_event dl_events_at(const struct dl_events *q,
					   uint32_t i)
{
	return i < q->nnodes ? q->nodes[i].event :
			       q->heap[DL_EVENTS_ROOT + i - q->nnodes];
}

#endif
