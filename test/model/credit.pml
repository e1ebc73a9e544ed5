/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Link-level flow control of one VL in one direction, for the model checker
 * spin: InfiniBand's, or with -DPCIE the PCI Express style scheme (rules C, E1;
 * lib/link/credit.c is the program).
 *
 * The modulus is 16 instead of 4096, so the window is 8 blocks, and packets
 * have 1 to 3 blocks.  At every moment anything may happen: a packet is sent,
 * arrives, is lost or corrupted (and then discarded, which is the same to the
 * protocol); the sender reports what it sent (sync), the receiver what may be
 * sent (credit); reports are lost, corrupted, and overtake each other; packets
 * move on out of the buffer.
 *
 * What is taken for granted: a sync report does not overtake the data sent
 * before it (`before`), since a wire keeps order; and no report is on its way
 * while the sender sends more than LATE blocks (`age`).  LATE is 2 for each of
 * the two kinds: together with the largest packet that stays below the
 * window.  It stands for 512 blocks, or 32,768 symbols of delay.
 *
 * What is checked:
 *   - no overflow ever: a packet that arrives finds room (the assertion in
 *     arrive);
 *   - no credit lost for good, and no deadlock: from every reachable state,
 *     when the wire has emptied, the buffer too, and one report each way gets
 *     through, the sender has exactly the credit of the beginning, and the
 *     largest packet may leave (the assertions in calm);
 *   - spin's own: no assertion apart, no invalid end state.
 *
 * -DBREAK_... takes one part of the protocol away, or one assumption; the
 * checker must then find the harm.  -DTRACE prints each event and the
 * registers after it, for test/model/replay.c to repeat in the program.
 */
#define M	16
#define MASK	15
#define W	8

#ifndef BUFFER
#define BUFFER	6	/* chunks; packets */
#endif
#ifndef CHUNK
#define CHUNK	1	/* blocks in one */
#endif
#ifndef LARGEST
#ifdef PCIE
#define LARGEST	1	/* units */
#else
#define LARGEST	3
#endif
#endif
#ifndef LATE
#define LATE	2
#endif

#ifdef BREAK_WINDOW	/* promise more than half the circle */
#define PROMISE_MAX	(W + 4)
#else
#define PROMISE_MAX	W
#endif

#ifndef WIRE
#define WIRE	2	/* packets on the wire */
#endif
#define REPORTS	2	/* of each kind on their way */

#define chunks(units)	(((units) + CHUNK - 1) / CHUNK)
#define lesser(a, b)	((a) < (b) -> (a) : (b))

/* The registers. */
byte sent, limit, count, free;
/* Packets in the buffer by size. */
byte stored[LARGEST + 1];

chan wire = [WIRE] of { byte };

typedef report {
	bool there;
	byte value;
	byte before;	/* packets on the wire that it must not overtake */
	byte age;	/* units sent since it left */
};

report sync[REPORTS], credit[REPORTS];

#ifdef PCIE
#define in_buffer	(BUFFER - free)
#define credit_now	(count)
#define may_send(n)	((n) <= limit)
#else
#ifdef BREAK_CHUNKS	/* promise blocks, not what any mix can use */
#define promise		(free * CHUNK)
#else
#define promise		(free)
#endif
#define credit_now	((count + lesser(promise, PROMISE_MAX)) & MASK)
#define may_send(n)	(((limit - sent - (n) + 2 * M) & MASK) <= W)
#endif

#ifdef TRACE
mtype = { START, SEND, ARRIVE, LOSE, CORRUPT, OFFLOAD, SYNC, SYNC_ARRIVE,
	  SYNC_LOSE, SYNC_CORRUPT, CREDIT, CREDIT_ARRIVE, CREDIT_LOSE,
	  CREDIT_CORRUPT };
#define EVENT(name, n) \
	printf("EV %e %d %d %d %d %d %d\n", name, n, sent, limit, count, free, credit_now)
#else
#define EVENT(name, n) skip
#endif

/* May the sender go on by n units, as far as reports on their way go? */
#define in_time(r, n)	(!r.there || r.age + (n) <= LATE)
#define all_in_time(n) \
	(in_time(sync[0], n) && in_time(sync[1], n) && \
	 in_time(credit[0], n) && in_time(credit[1], n))

#define grow(r, n) \
	if \
	:: r.there -> r.age = r.age + (n) \
	:: else \
	fi

/*
 * Only differences between counts mean anything, so all of them may be turned
 * back together: the checker then sees `sent` as 0 always, a sixteenth of the
 * states.  (A trace keeps them as they are.)
 */
#define back(x, n)	x = ((x) + M - (n)) & MASK
#define back_report(r, n) \
	if \
	:: r.there -> back(r.value, n) \
	:: else \
	fi

#ifdef BREAK_ORDER	/* sync reports overtake data */
#define behind(r)	0
#else
#define behind(r)	(r.before)
#endif

#define one_gone(r) \
	if \
	:: r.there && r.before > 0 -> r.before-- \
	:: else \
	fi

inline send(n)
{
	wire!n;
	sent = (sent + n) & MASK;
#ifdef PCIE
	limit = limit - n;
#endif
	grow(sync[0], n);
	grow(sync[1], n);
	grow(credit[0], n);
	grow(credit[1], n);
	EVENT(SEND, n);
#ifndef TRACE
	back(sent, n);
	back(count, n);
#ifndef PCIE
	back(limit, n);
#endif
	back_report(sync[0], n);
	back_report(sync[1], n);
	back_report(credit[0], n);
	back_report(credit[1], n)
#endif
}

inline store()
{
	assert(chunks(n) <= free);
	free = free - chunks(n);
	stored[n]++;
#ifndef PCIE
	count = (count + n) & MASK
#endif
}

inline arrive()
{
	wire?n;
	store();
	one_gone(sync[0]);
	one_gone(sync[1]);
	EVENT(ARRIVE, n);
	n = 0
}

#define lose(name) \
	wire?n; one_gone(sync[0]); one_gone(sync[1]); EVENT(name, n); n = 0

inline move_on(n)
{
	stored[n]--;
	free = free + chunks(n);
#ifdef PCIE
	count = (count + n) & MASK;
#endif
	EVENT(OFFLOAD, n)
}

#ifdef BREAK_SYNC	/* the receiver does not listen */
#define take_sync(v)	skip
#else
#ifdef PCIE
#define take_sync(v)	count = ((v) - in_buffer) & MASK
#else
#define take_sync(v)	count = (v)
#endif
#endif

#ifdef PCIE
#define take_credit(v) \
	limit = (sent - (v)) & MASK; \
	limit = (limit < BUFFER -> BUFFER - limit : 0)
#else
#define take_credit(v)	limit = (v)
#endif

/* Reports of a kind stand in the order of leaving, without gaps. */
#define clear(r) \
	r.there = 0; r.value = 0; r.before = 0; r.age = 0
#define copy(to, from) \
	to.there = from.there; to.value = from.value; \
	to.before = from.before; to.age = from.age
#define forget(kind, i) \
	if \
	:: i == 0 -> copy(kind[0], kind[1]) \
	:: else \
	fi; \
	clear(kind[1])

#define REPORT_EVENTS(i) \
	:: d_step { !sync[i].there && (i == 0 || sync[0].there) -> \
		sync[i].there = 1; sync[i].value = sent; \
		sync[i].before = len(wire); EVENT(SYNC, i) } \
	:: d_step { sync[i].there && behind(sync[i]) == 0 -> \
		take_sync(sync[i].value); forget(sync, i); \
		EVENT(SYNC_ARRIVE, i) } \
	:: d_step { sync[i].there -> forget(sync, i); \
		EVENT(SYNC_LOSE, i) } \
	:: d_step { sync[i].there -> forget(sync, i); \
		EVENT(SYNC_CORRUPT, i) } \
	:: d_step { !credit[i].there && (i == 0 || credit[0].there) -> \
		credit[i].there = 1; credit[i].value = credit_now; \
		EVENT(CREDIT, i) } \
	:: d_step { credit[i].there -> \
		take_credit(credit[i].value); forget(credit, i); \
		EVENT(CREDIT_ARRIVE, i) } \
	:: d_step { credit[i].there -> forget(credit, i); \
		EVENT(CREDIT_LOSE, i) } \
	:: d_step { credit[i].there -> forget(credit, i); \
		EVENT(CREDIT_CORRUPT, i) }

#define SIZE_EVENTS(n) \
	:: d_step { nfull(wire) && may_send(n) && all_in_time(n) -> send(n) } \
	:: d_step { stored[n] > 0 -> move_on(n) }

/* No more losses; everything comes to rest, then one report each way. */
inline calm()
{
	do
	:: nempty(wire) -> wire?n; store()
	:: empty(wire) -> break
	od;
#ifdef PCIE
	count = (count + in_buffer) & MASK;
#endif
	free = BUFFER;
	take_sync(sent);
	n = credit_now;
	take_credit(n);
#ifdef PCIE
	assert(limit == BUFFER);
#else
	assert(((limit - sent) & MASK) == lesser(promise, PROMISE_MAX));
#endif
	assert(chunks(LARGEST) > BUFFER || may_send(LARGEST))
}

init {
	byte n;

	free = BUFFER;
#ifdef PCIE
	limit = BUFFER;
#else
	limit = credit_now;
#endif
	EVENT(START, BUFFER * CHUNK);
	do
	SIZE_EVENTS(1)
#if LARGEST > 1
	SIZE_EVENTS(2)
#endif
#if LARGEST > 2
	SIZE_EVENTS(3)
#endif
	:: d_step { nempty(wire) -> arrive() }
	:: d_step { nempty(wire) -> lose(LOSE) }
	:: d_step { nempty(wire) -> lose(CORRUPT) }
	REPORT_EVENTS(0)
	REPORT_EVENTS(1)
#ifndef TRACE
	:: d_step { calm() } -> break
#endif
	od
}
