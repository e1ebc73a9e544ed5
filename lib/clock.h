/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* For callers of the library: it reads no clock of its own. */
#ifndef DL_CLOCK_H
#define DL_CLOCK_H

#include <time.h>

/* Seconds since some moment, never set back. */
static inline double dl_monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

#endif
