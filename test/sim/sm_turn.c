/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Turns: the subnet manager begins, and hands over to the simulator and back
 * (share.h).
 */
#include "config.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sm.h"

/* Until the simulator's is mapped: clocks are asked before constructors run. */
static struct sim_share boot = { .now = SIM_EPOCH, .limit = SIM_NEVER / 2 };
struct sim_share *sm_share = &boot;
uint64_t sm_random_state;

/* MADs that have come and were not taken. */
static struct {
	struct sim_mad *mads;
	uint32_t first, n, cap;
} inbox;

static void inbox_add(const struct sim_mad *m)
{
	if (inbox.first && inbox.first == inbox.n)
		inbox.first = inbox.n = 0;
	if (inbox.n == inbox.cap) {
		inbox.cap = inbox.cap ? 2 * inbox.cap : SIM_QUEUE;
		inbox.mads = realloc(inbox.mads, inbox.cap * sizeof(*inbox.mads));
		if (!inbox.mads)
			abort();
	}
	inbox.mads[inbox.n++] = *m;
}

bool sm_has_mad(void)
{
	return inbox.first < inbox.n;
}

int sm_take_mad(struct sim_mad *out)
{
	if (!sm_has_mad())
		return 0;
	*out = inbox.mads[inbox.first++];
	return 1;
}

struct sim_mad *sm_new_mad(void)
{
	struct sim_mad *m;

	if (sm_share->nout == SIM_QUEUE) {
		sm_share->ready = true;
		sm_pass_turn();
	}
	m = &sm_share->out[sm_share->nout++];
	memset(m, 0, sizeof(*m));
	m->time = sm_share->now;
	return m;
}

static void wait_for_turn(void)
{
	while (!sim_turn_wait(sm_share, SIM_TURN_SM, NULL))
		continue;
	for (uint32_t i = 0; i < sm_share->nin; i++)
		inbox_add(&sm_share->in[i]);
	sm_share->nin = 0;
	sm_share->ready = false;
}

void sm_pass_turn(void)
{
	int number;

	sim_turn_give(sm_share, SIM_TURN_DRIVER);
	wait_for_turn();
	number = sm_share->signal;
	sm_share->signal = 0;
	if (sm_share->measure)
		sm_measure();
	if (number)
		sm_handle_signal(number);
}

void sm_die(void)
{
	sm_share->ended = sm_share->died = true;
	sim_turn_give(sm_share, SIM_TURN_DRIVER);
	for (;;)
		sim_turn_wait(sm_share, SIM_TURN_SM, NULL);
}

__attribute__((constructor)) static void begin(void)
{
	struct sim_share *s =
		mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED, SIM_SHARE_FD, 0);

	if (s == MAP_FAILED) {
		perror("sm.so: not started by the simulator");
		_exit(2);
	}
	syscall(SYS_close, SIM_SHARE_FD);
	sm_share = s;
	wait_for_turn();
	sm_random_state = sm_share->seed;
}

__attribute__((destructor)) static void end(void)
{
	sm_share->ended = true;
	sim_turn_give(sm_share, SIM_TURN_DRIVER);
}
