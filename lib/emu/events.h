/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The events of an emulation, in order of time.
 *
 * A heap with four children a node: half as deep as a binary one, and the
 * children of a node share a cache line.  An event is 16 bytes, its time
 * above what is to happen then; both together are one 128-bit number, so
 * that events of one moment have a fixed order, too: by kind, then by what
 * they concern.  No two events are alike, or if they are, they do the same.
 */
#ifndef DL_EVENTS_H
#define DL_EVENTS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dl_event {
	uint64_t what;		/* kind in the highest 4 bits */
	uint64_t time;
};

struct dl_events {
	struct dl_event *heap;	/* heap[3] is the root: aligned children */
	void *memory;
	uint32_t n, cap;
};

#define DL_EVENTS_ROOT 3

static inline bool dl_event_before(const struct dl_event *a,
				   const struct dl_event *b)
{
	return (((unsigned __int128)a->time << 64) | a->what) <
	       (((unsigned __int128)b->time << 64) | b->what);
}

/* Room for twice as many.  Returns 0 or -ENOMEM. */
int dl_events_grow(struct dl_events *q);
void dl_events_free(struct dl_events *q);

static inline bool dl_events_empty(const struct dl_events *q)
{
	return !q->n;
}

static inline const struct dl_event *dl_events_first(const struct dl_events *q)
{
	return &q->heap[DL_EVENTS_ROOT];
}

/* There must be room. */
static inline void dl_events_push(struct dl_events *q, struct dl_event ev)
{
	struct dl_event *h = q->heap;
	uint32_t at = DL_EVENTS_ROOT + q->n++;

	/* Children of i are 4i - 8 .. 4i - 5. */
	while (at > DL_EVENTS_ROOT) {
		uint32_t up = (at + 8) / 4;

		if (!dl_event_before(&ev, &h[up]))
			break;
		h[at] = h[up];
		at = up;
	}
	h[at] = ev;
}

/* It must not be empty. */
static inline struct dl_event dl_events_pop(struct dl_events *q)
{
	struct dl_event *h = q->heap, first = h[DL_EVENTS_ROOT], last;
	uint32_t at = DL_EVENTS_ROOT, end = DL_EVENTS_ROOT + --q->n;

	last = h[end];
	for (;;) {
		uint32_t child = 4 * at - 8, best = child, stop = child + 4;

		if (child >= end)
			break;
		if (stop > end)
			stop = end;
		for (uint32_t c = child + 1; c < stop; c++)
			if (dl_event_before(&h[c], &h[best]))
				best = c;
		if (!dl_event_before(&h[best], &last))
			break;
		h[at] = h[best];
		at = best;
	}
	h[at] = last;
	return first;
}

#endif
