/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the simulator and one subnet manager share: a page of memory, in which
 * they take turns.
 *
 *	simulator (sim)				OpenSM, with sm.so preloaded
 *	fabric, time, events, judge		threads, clocks, libibumad
 *
 *	turn = SIM_TURN_SM	------------->	runs until no thread can go on
 *				<-------------	turn = SIM_TURN_DRIVER
 *
 * Exactly one side runs at any moment; the other one waits for `turn`.  What a
 * side writes while it has the turn, the other one reads when it gets it, so
 * nothing else is locked.  Both are on one processor: whoever waits offers it to
 * the other first, which costs half of what sleeping and being woken does.
 */
#ifndef DL_SIM_SHARE_H
#define DL_SIM_SHARE_H

#include <linux/futex.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SIM_SHARE_FD 199 /* inherited by the subnet manager */
#define SIM_NEVER UINT64_MAX
#define SIM_US UINT64_C(1000)
#define SIM_MS UINT64_C(1000000)
#define SIM_SECOND UINT64_C(1000000000)
#define SIM_EPOCH UINT64_C(1767225600000000000) /* 2026-01-01 00:00:00 UTC, in ns */

#define SIM_MAD_SIZE 256
#define SIM_AGENTS 32 /* classes that a subnet manager may register */
#define SIM_QUEUE 512 /* MADs a turn, each way */
#define SIM_LOG 65536 /* bytes of log lines a turn */

enum sim_turn { SIM_TURN_DRIVER, SIM_TURN_SM };

/* A MAD as libibumad passes it. */
struct sim_mad {
	uint64_t time; /* of sending */
	int32_t agent, status, timeout_ms, retries;
	uint32_t qpn;
	uint16_t lid; /* of the other side */
	uint8_t bytes[SIM_MAD_SIZE];
};

/* The port of the subnet manager's host, as libibumad reports it. */
struct sim_host_port {
	uint64_t node_guid, port_guid;
	uint16_t lid, sm_lid;
	uint8_t state, physical_state;
	uint32_t capabilities; /* in network order */
};

struct sim_share {
	uint32_t turn;	  /* enum sim_turn; a futex */
	uint32_t waiters; /* that sleep on it */
	uint64_t now;	  /* virtual, in ns since 1970 */
	/* Set by the simulator. */
	uint64_t seed;
	uint64_t limit;	     /* nothing happens before, but for what is sent now */
	uint32_t preempt;    /* at one of so many locks another thread goes on; 0: never */
	uint32_t stall;	     /* at one of so many locks a thread sleeps; 0: never */
	uint32_t processors; /* that the machine pretends to have */
	bool keep_log;	     /* write log files? */
	int32_t signal;	     /* to be handled now; 0: none */
	uint32_t starve;     /* the plugin's allocation of this number, counted down, fails */
	uint32_t deny;	     /* so many of the plugin's calls about files fail */
	uint32_t die;	     /* at the lock of this number, counted down, it is killed */
	bool measure;	     /* fill `heap` in */
	struct sim_host_port port;
	uint32_t nin;
	struct sim_mad in[SIM_QUEUE];
	/* Set by the subnet manager. */
	uint64_t deadline;	    /* until when it sleeps if nothing arrives */
	bool ready;		    /* gave its turn back early: it can go on at once */
	bool is_sm;		    /* the IsSM bit of its port */
	bool ended;		    /* its program has ended */
	bool stuck;		    /* no thread can ever go on */
	bool died;		    /* killed, as `die` asked for */
	uint32_t failed;	    /* calls that were made to fail */
	uint64_t heap;		    /* bytes in use; 0: not measured */
	uint8_t agents[SIM_AGENTS]; /* class + 1 that the agent serves; 0: free */
	uint64_t switches;	    /* of threads */
	uint32_t nout;
	struct sim_mad out[SIM_QUEUE];
	uint32_t log_used;
	char log[SIM_LOG]; /* lines of interest, each ended by NUL */
};

#define SIM_OFFERS 3 /* of the processor to the other side, before sleeping */

static inline void sim_turn_give(struct sim_share *s, enum sim_turn whose)
{
	__atomic_store_n(&s->turn, whose, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&s->waiters, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &s->turn, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static inline bool sim_turn_is(struct sim_share *s, enum sim_turn whose)
{
	return __atomic_load_n(&s->turn, __ATOMIC_SEQ_CST) == whose;
}

/*
 * Wait until it is this side's turn, at most as long as `most` says (NULL: for ever).
 * Returns whether it is.  Not sched_yield(): the subnet manager's is a simulated one.
 */
static inline bool sim_turn_wait(struct sim_share *s, enum sim_turn whose,
				 const struct timespec *most)
{
	for (int i = 0; i < SIM_OFFERS && !sim_turn_is(s, whose); i++)
		syscall(SYS_sched_yield);
	if (sim_turn_is(s, whose))
		return true;
	__atomic_add_fetch(&s->waiters, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &s->turn, FUTEX_WAIT, !whose, most, NULL, 0);
	__atomic_sub_fetch(&s->waiters, 1, __ATOMIC_SEQ_CST);
	return sim_turn_is(s, whose);
}

/* splitmix64: a number below n, or any 32 bits where n is 0. */
static inline uint32_t sim_random(uint64_t *state, uint32_t n)
{
	uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	z ^= z >> 31;
	return n ? (uint32_t)(z >> 32) % n : (uint32_t)z;
}

#endif
