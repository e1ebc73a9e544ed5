/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The events of an emulation, in order of time.
 *
 * Problem.  Millions of events a second go in and come out, thousands are
 * pending, and nearly all of them are due within the time of a packet or two.
 *
 * Representation.  A wheel of buckets, each of them a short stretch of time
 * with its events in a list, in no order; a bit for each bucket says whether
 * there are any.  The stretch is chosen so that a busy fabric has a few events
 * in each, and the wheel so large that they all find place.  When its time
 * comes, a bucket's events are sorted, and go to the front.  There the engine
 * can see them coming, and ask for the memory that they will need.
 *
 * What is due later than once round goes to a heap with four children a node,
 * and so does what would have to pass many others at the front.  It stays
 * there, and the earlier of both firsts is next.
 *
 * Order.  By time, then by kind, then by what it concerns: one number, `what`.
 * Events that are alike in all do the same, so their order means nothing.
 * The order does not depend on the wheel's measures.
 *
 * Invariants.  The wheel holds buckets from `next` on, less than one turn; the
 * front holds what is due before.  No event is due before `now`, the time of
 * the last one taken.
 *
 * Complexity.  O(1) while buckets are short, else O(log n).
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

struct dl_event_node {
	struct dl_event event;
	uint32_t next;
};

struct dl_events {
	struct dl_event *front;
	uint32_t from, to, front_cap;
	uint64_t now;
	uint64_t next;		/* bucket number, counted from time 0 */
	uint32_t on_wheel;
	unsigned int shift;	/* a bucket is 2^shift picoseconds */
	uint32_t mask;		/* of a bucket's place on the wheel */
	uint32_t *bucket;	/* its first node, or none */
	uint64_t *occupied;
	struct dl_event_node *nodes;
	uint32_t nodes_cap, free_node;
	struct dl_event *heap;	/* heap[3] is the root: aligned children */
	uint32_t nheap, heap_cap;
};

#define DL_EVENTS_ROOT 3
#define DL_EVENTS_AHEAD 4	/* that can be seen coming */

/*
 * Both in picoseconds: `spacing` is the time between two events when it is
 * busy, and `reach` how long before their time most events are known.
 * Returns 0 or -ENOMEM.
 */
int dl_events_init(struct dl_events *q, uint64_t spacing, uint64_t reach);
void dl_events_free(struct dl_events *q);

/* Not before `now`.  Returns 0 or -ENOMEM. */
int dl_events_push(struct dl_events *q, uint64_t time, uint64_t what);

/*
 * The next one, if it is due at `until` or before.  Returns 1, 0 (there is
 * none) or -ENOMEM.
 */
int dl_events_pop(struct dl_events *q, uint64_t until, struct dl_event *out);

static inline uint32_t dl_events_count(const struct dl_events *q)
{
	return q->to - q->from + q->on_wheel + q->nheap;
}

/*
 * What is likely to come after `n` others, n below DL_EVENTS_AHEAD; or
 * DL_NO_EVENT.
 */
static inline uint64_t dl_events_ahead(const struct dl_events *q, uint32_t n)
{
	return q->from + n < q->to ? q->front[q->from + n].what : DL_NO_EVENT;
}

/* Event i of dl_events_places(), in no order; `what` DL_NO_EVENT: none. */
static inline uint32_t dl_events_places(const struct dl_events *q)
{
	return q->to - q->from + q->nodes_cap + q->nheap;
}

static inline struct dl_event dl_events_at(const struct dl_events *q,
					   uint32_t i)
{
	if (i < q->to - q->from)
		return q->front[q->from + i];
	i -= q->to - q->from;
	return i < q->nodes_cap ? q->nodes[i].event :
				  q->heap[DL_EVENTS_ROOT + i - q->nodes_cap];
}

#endif
