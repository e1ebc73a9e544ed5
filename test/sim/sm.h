/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the parts of sm.so share, which is preloaded into a subnet manager. */
#ifndef DL_SIM_SM_H
#define DL_SIM_SM_H

#include "share.h"

extern struct sim_share *sm_share;
extern uint64_t sm_random_state; /* of the scheduler */

/* ---- turns (sm_turn.c) -------------------------------------------------------- */

/* Let the simulator run, until it gives the turn back. */
void sm_pass_turn(void);

/* The process is killed here: the simulator does it. */
void sm_die(void) __attribute__((noreturn));

/* MADs that have come; 0: none.  *out holds until the next call. */
int sm_take_mad(struct sim_mad *out);
bool sm_has_mad(void);

/* Room for a MAD to send, which goes out with the next turn. */
struct sim_mad *sm_new_mad(void);

/* ---- threads (sm_threads.c) --------------------------------------------------- */

/* What threads wait for that wait for a MAD. */
extern char sm_mads;

/* Sleep until somebody wakes `object`, or a moment.  Returns whether it was the moment. */
bool sm_block(const void *object, uint64_t deadline, const char *what);

/* A place where another thread may go on instead. */
void sm_point(const char *what);

/* End the calling thread here if it has been cancelled. */
void sm_cancellation_point(void);

/* As a signal that ends the main thread's sleep. */
void sm_interrupt_main(void);

/* Print each thread's stack to standard error. */
void sm_print_stacks(void);

/* ---- faults (sm_faults.c) ----------------------------------------------------- */

/* Report the memory in use. */
void sm_measure(void);

/* Does a call about files that the plugin makes at `from` fail?  Sets errno. */
bool sm_is_denied(const void *from);

/* ---- time (sm_time.c) --------------------------------------------------------- */

/* Call the handler that the program has set. */
void sm_handle_signal(int number);

#endif
