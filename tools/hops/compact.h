/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The most compact choice of hosts; see compact.c. */
#ifndef TOOL_COMPACT_H
#define TOOL_COMPACT_H

#include <stdint.h>

#include "dateline/base.h"

struct compact {
	uint32_t n;		  /* places */
	const uint16_t *distance; /* n * n, symmetric, 0 from a place to itself */
	const uint32_t *room;	  /* by place: hosts that may be chosen there */
	uint32_t want;		  /* hosts, from 1 to the sum of all rooms */
	const struct dl_log *log; /* hears progress; may be NULL */
};

/*
 * Choose: how many hosts at each place.  *sum is that of the distances of all
 * unordered pairs of chosen hosts.  0 or -ENOMEM.
 */
int compact_choose(const struct compact *c, uint32_t *take, uint64_t *sum);

#endif
