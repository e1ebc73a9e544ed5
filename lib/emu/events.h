/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The events of an emulation, in order of time.
 *
 * Problem.  Millions of events a second go in and come out, and thousands are
 * pending.  Nearly all are due within a few microseconds, and those of one
 * sort mostly come in the order in which they are due.
 *
 * Representation.  An event is a key of 64 bits: the low 14 bits of its time
 * on top, below them what it is.  Time is divided into buckets of 16 ns or
 * less, so within a bucket the order of keys is the order of events.  A wheel
 * has a slot for each of the next 1024 buckets and, in each, a log for each
 * sort of event: chunks of keys in the order of their coming.  When a bucket's
 * time has come each log becomes a run, and is sorted only if it needs to be.
 * The next event is the least of the runs' heads.  What comes to the bucket
 * being served goes into its run at its place; what comes after the wheel's
 * horizon goes to a heap, `far`, and from there to its bucket.
 *
 *	bucket	...  121    | 122  123  124  ...  1144 | 1145 ...
 *		     runs	    wheel, slot = bucket	 far
 *			    modulo 1024
 *
 * For example, while bucket 60 of 16,384 ps is served, at 992,000 ps, an
 * event 518,500 ps later falls into bucket 1510500 / 16384 = 92, slot 92; its
 * key has 1510500 modulo 16384 = 3172 on top.
 *
 * Order.  By time, then by what the event is: one number.  Keys that are alike
 * do the same, so their order means nothing.
 *
 * Invariants.  No event is due before the bucket being served; the wheel holds
 * nothing for the bucket being served or an earlier one.
 *
 * Complexity.  O(1) for those that come in order; a log out of order is
 * divided by time and sorted by insertion.  O(log n) in the heap.
 */
#ifndef DL_EVENTS_H
#define DL_EVENTS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#define DL_EMU_LOGS 4
#define DL_EMU_SLOTS 1024u
#define DL_EMU_CHUNK 14	      /* keys; with the rest two cache lines */
#define DL_EMU_BUCKET_BITS 14 /* of time in a key */
#define DL_EMU_KEY_TIME (64 - DL_EMU_BUCKET_BITS)
#define DL_EMU_NO_EVENT UINT64_MAX

struct dl_emu_chunk {
	uint64_t key[DL_EMU_CHUNK];
	struct dl_emu_chunk *next; /* filled before this one */
	uint64_t n;
} __attribute__((aligned(128)));

/* The bucket being served: keys in order, behind them DL_EMU_NO_EVENT. */
struct dl_emu_run {
	uint64_t *at; /* the next one */
	uint64_t *key;
	uint32_t n, cap;
};

struct dl_emu_far_event {
	uint64_t time, what;
	uint32_t log;
};

struct dl_emu_events {
	struct dl_emu_run run[DL_EMU_LOGS];
	uint64_t bucket; /* being served */
	uint64_t base;	 /* its time, without the bits that are in keys */
	unsigned int shift;
	uint32_t count; /* of all events */
	int err;	/* no memory: an event was lost */
	struct dl_emu_chunk *free_chunk;
	struct dl_emu_chunk *blocks; /* the first chunk of each leads to the next */
	uint32_t block_chunks;
	struct dl_emu_far_event *far; /* a heap */
	uint32_t nfar, far_cap;
	uint64_t *scratch;
	uint32_t scratch_cap;
	uint64_t used[DL_EMU_SLOTS / 64];
	struct dl_emu_chunk none; /* in empty slots: full */
	struct dl_emu_chunk *slot[DL_EMU_LOGS][DL_EMU_SLOTS];
};

/*
 * Buckets of 2^shift picoseconds, 14 at most.  Must stay where it is.  Returns
 * 0 or -ENOMEM.
 */
int dl_emu_events_init(struct dl_emu_events *q, unsigned int shift);
void dl_emu_events_free(struct dl_emu_events *q);

/* Not for the wheel; a new chunk for a slot. */
void dl_emu_events_push_rare(struct dl_emu_events *q, uint64_t time, uint32_t log, uint64_t what);
struct dl_emu_chunk *dl_emu_events_add_chunk(struct dl_emu_events *q, uint32_t log, uint32_t slot);

/* Serve the next bucket with events, up to a time.  2, 0: none, -ENOMEM. */
int dl_emu_events_advance(struct dl_emu_events *q, uint64_t until);

/*
 * Not before the last one taken, nor before a time up to which there was none.
 * What it is, `what`, is below 2^50.  Without
 * memory the event is lost, and q->err set.
 */
static inline void dl_emu_events_push(struct dl_emu_events *q, uint64_t time, uint32_t log,
				      uint64_t what)
{
	uint64_t bucket = time >> q->shift;
	struct dl_emu_chunk *c;

	q->count++;
	if (__builtin_expect(bucket - q->bucket - 1 >= DL_EMU_SLOTS - 1, 0)) {
		dl_emu_events_push_rare(q, time, log, what);
		return;
	}
	c = q->slot[log][bucket % DL_EMU_SLOTS];
	if (__builtin_expect(c->n >= DL_EMU_CHUNK, 0)) {
		c = dl_emu_events_add_chunk(q, log, bucket % DL_EMU_SLOTS);
		if (!c)
			return;
	}
	c->key[c->n++] = time << DL_EMU_KEY_TIME | what;
}

struct dl_emu_event {
	uint64_t time, what;
	uint32_t log;
};

/*
 * The next one, if it is due at `until` or before, and it is taken out.
 * Returns 1; 0: there is none; 2: another bucket was opened: look at what is
 * in it, and ask again; or -ENOMEM.
 */
static inline int dl_emu_events_pop(struct dl_emu_events *q, uint64_t until,
				    struct dl_emu_event *out)
{
	uint64_t a = *q->run[0].at, b = *q->run[1].at, c = *q->run[2].at, d = *q->run[3].at;
	uint64_t ab = a < b ? a : b, cd = c < d ? c : d, key = ab < cd ? ab : cd;

	if (__builtin_expect(key == DL_EMU_NO_EVENT, 0))
		return dl_emu_events_advance(q, until);
	out->time = q->base + (key >> DL_EMU_KEY_TIME);
	if (out->time > until)
		return 0;
	out->what = key & ((UINT64_C(1) << DL_EMU_KEY_TIME) - 1);
	out->log = key == a ? 0 : key == b ? 1 : key == c ? 2 : 3;
	q->run[out->log].at++;
	q->count--;
	return 1;
}

/* The bucket of the next event; UINT64_MAX: there is none. */
uint64_t dl_emu_events_next(const struct dl_emu_events *q);

static inline uint32_t dl_emu_events_count(const struct dl_emu_events *q)
{
	return q->count;
}

/* Hand out each event, in no order. */
void dl_emu_events_each(const struct dl_emu_events *q,
			void (*visit)(void *context, uint32_t log, uint64_t what), void *context);

#endif
