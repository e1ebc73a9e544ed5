/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The most compact choice of hosts; see compact.c. */
#ifndef TOOL_COMPACT_H
#define TOOL_COMPACT_H

#include <stdbool.h>
#include <stdint.h>

#include "dateline/base.h"

struct compact {
	uint32_t n;		  /* places */
	const uint16_t *distance; /* n * n, symmetric, 0 from a place to itself */
	const uint32_t *room;	  /* by place: hosts that may be chosen there */
	uint32_t want;		  /* hosts, from 1 to the sum of all rooms */
	/*
	 * Least largest distance of two chosen hosts, and among equals the least
	 * sum of all; else least sum alone.
	 */
	bool largest;
	const struct dl_log *log; /* hears progress; may be NULL */
};

struct compact_result {
	uint64_t largest, sum; /* over unordered pairs of hosts */
};

/* Choose: how many hosts at each place.  0 or -ENOMEM. */
int compact_choose(const struct compact *c, uint32_t *take, struct compact_result *out);

/* What a choice is worth. */
struct compact_result compact_value(const struct compact *c, const uint32_t *take);

#endif
