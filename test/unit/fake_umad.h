/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A stand-in for libibumad: all but umad_send(), which the test has, and which puts the
 * answers in `waiting`.  The clock is a stand-in, too: it goes on when somebody waits.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/mad.h>

#define FAKE_UMAD_MOST 4096 /* answers that wait */

struct fake_umad {
	bool on; /* or the clock is the real one */
	uint8_t waiting[FAKE_UMAD_MOST][IB_MAD_SIZE];
	unsigned int nwaiting; /* the last one is received first */
	uint64_t ms;	       /* the time */
};

extern struct fake_umad fake_umad;
