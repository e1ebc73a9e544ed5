/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The events of an emulation, in order of time.
 *
 * Problem.  Millions of events a second go in and come out, and thousands are
 * pending.  Nearly all are due within a few microseconds, and those of one
 * sort mostly come in the order in which they are due.
 *
 * Representation.  Time is divided into buckets of 2^shift ps.  An event is a
 * key of 64 bits: on top its time since the bucket began, then its kind, in 4
 * bits, then whom it concerns.  So within a bucket the order of keys is the
 * order of events.  A wheel
 * has a slot for each of the next 1024 buckets and, in each, a batch for each
 * log, that is for each sort of event: keys in the order of their coming.  When
 * a bucket's time has come its batches are sorted where they need to be.  The
 * next event is the least of their heads.  What comes to the bucket being
 * served goes into its batch at its place; what comes after the wheel's
 * horizon goes to a heap, `far`, and from there to its bucket.
 *
 *	bucket	...  121    | 122  123  124  ...  1144 | 1145 ...
 *		    served	    wheel, slot = bucket	 far
 *			    modulo 1024
 *
 * For example, while bucket 60 of 16,384 ps is served, at 992,000 ps, an
 * event 518,500 ps later falls into bucket 1510500 / 16384 = 92, slot 92; its
 * key has 1510500 modulo 16384 = 3172 on top.
 *
 * Order.  By time, then by kind, then by whom it concerns: one number.  Keys that are alike
 * do the same, so their order means nothing.
 *
 * Invariants.  No event is due before the bucket being served; the wheel holds
 * nothing for the bucket being served or an earlier one.
 *
 * Complexity.  O(1) for those that come in order, or nearly; a batch out of
 * order is divided, by time at first, and sorted by insertion.  O(log n) in the heap.
 */
#ifndef DL_EVENTS_H
#define DL_EVENTS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#define DL_EMU_LOGS 4
#define DL_EMU_SLOTS 1024u
#define DL_EMU_NO_EVENT UINT64_MAX

/* Of the bucket being served: in order, behind them DL_EMU_NO_EVENT. */
struct dl_emu_batch {
	struct dl_emu_batch *next; /* of those without keys */
	uint32_t n, cap;
	uint64_t key[]; /* cap + 1 */
};

struct dl_emu_far_event {
	uint64_t time, key;
	uint32_t log;
};

struct dl_emu_events {
	uint64_t *at[DL_EMU_LOGS]; /* in the bucket being served: the next ones */
	uint64_t bucket, after;	   /* being served; the next one */
	uint64_t base, end;	   /* when it begins; when the next one does */
	unsigned int shift;
	unsigned int kind_at; /* in keys: 60 - shift */
	uint64_t below;	      /* the kind: all these bits */
	int err;	      /* no memory: an event was lost */
	struct dl_emu_batch *served[DL_EMU_LOGS];
	struct dl_emu_batch *none; /* in empty slots: no keys, and full */
	struct dl_emu_batch *spare[DL_EMU_LOGS];
	struct dl_emu_far_event *far; /* a heap */
	uint32_t nfar, far_cap;
	uint64_t *scratch;
	uint32_t scratch_cap;
	uint64_t used[DL_EMU_SLOTS / 64];
	struct dl_emu_batch *slot[DL_EMU_LOGS][DL_EMU_SLOTS];
};

/*
 * Buckets of 2^shift picoseconds.  Must stay where it is.  Returns 0 or
 * -ENOMEM.
 */
int dl_emu_events_init(struct dl_emu_events *q, unsigned int shift);
void dl_emu_events_free(struct dl_emu_events *q);

static inline uint64_t dl_emu_events_key(const struct dl_emu_events *q, uint64_t time,
					 unsigned int kind, uint64_t what)
{
	return (time << 4 | kind) << q->kind_at | what;
}

/* Into any bucket; fastest into the one being served. */
void dl_emu_events_push_near(struct dl_emu_events *q, uint64_t time, uint32_t log, uint64_t key);

/*
 * Not before the last one taken, nor before a time up to which there was none.
 * `kind` is below 16, `what` below 2^(60 - shift).  Without memory the event is
 * lost, and q->err set.
 */
static inline void dl_emu_events_push(struct dl_emu_events *q, uint64_t time, uint32_t log,
				      unsigned int kind, uint64_t what)
{
	uint64_t bucket = time >> q->shift, key = dl_emu_events_key(q, time, kind, what);
	struct dl_emu_batch *b;

	if (__builtin_expect(bucket - q->after >= DL_EMU_SLOTS - 1, 0)) {
		dl_emu_events_push_near(q, time, log, key);
		return;
	}
	b = q->slot[log][bucket % DL_EMU_SLOTS];
	if (__builtin_expect(b->n == b->cap, 0))
		dl_emu_events_push_near(q, time, log, key);
	else
		b->key[b->n++] = key;
}

/*
 * Serve the next bucket with events, up to a time; what is left of the present
 * one is gone then.  Returns 1; 0: there is none; or -ENOMEM.
 */
int dl_emu_events_open(struct dl_emu_events *q, uint64_t until);

/* In the present bucket, the key from which on events are later than `until`. */
static inline uint64_t dl_emu_events_end(const struct dl_emu_events *q, uint64_t until)
{
	if (until < q->base)
		return 0;
	return until - q->base >= (UINT64_C(1) << q->shift) - 1 ?
		       DL_EMU_NO_EVENT :
		       (until - q->base + 1) << (64 - q->shift);
}

/* Of a key in the present bucket: time and kind, and the rest. */
static inline uint64_t dl_emu_events_time(const struct dl_emu_events *q, uint64_t key)
{
	return q->base + (key >> q->kind_at >> 4);
}

static inline unsigned int dl_emu_events_kind(const struct dl_emu_events *q, uint64_t key)
{
	return key >> q->kind_at & 15;
}

static inline uint64_t dl_emu_events_what(const struct dl_emu_events *q, uint64_t key)
{
	return key & q->below;
}

/* The first key in the present bucket, or DL_EMU_NO_EVENT. */
static inline uint64_t dl_emu_events_first(const struct dl_emu_events *q)
{
	uint64_t first = *q->at[0];

	for (unsigned int log = 1; log < DL_EMU_LOGS; log++)
		first = *q->at[log] < first ? *q->at[log] : first;
	return first;
}

/* It is taken out of its log. */
static inline void dl_emu_events_take(struct dl_emu_events *q, uint32_t log)
{
	q->at[log]++;
}

/* Of the present bucket, how many have been taken. */
static inline uint64_t dl_emu_events_taken(const struct dl_emu_events *q)
{
	uint64_t n = 0;

	for (unsigned int log = 0; log < DL_EMU_LOGS; log++)
		n += q->at[log] - q->served[log]->key;
	return n;
}

/* The bucket of the next event; UINT64_MAX: there is none. */
uint64_t dl_emu_events_next(const struct dl_emu_events *q);

/* How many there are.  O(slots in use). */
uint64_t dl_emu_events_count(const struct dl_emu_events *q);

/* Hand out each event, in no order. */
void dl_emu_events_each(const struct dl_emu_events *q,
			void (*visit)(void *context, uint64_t time, uint32_t log, unsigned int kind,
				      uint64_t what),
			void *context);

#endif
