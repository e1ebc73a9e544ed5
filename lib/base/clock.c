/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <time.h>

#include "dateline/base.h"

double dl_clock_monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}
