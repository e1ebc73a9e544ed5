/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How many random inputs a test tries.  All of them by default; one of K where
 * DATELINE_SHARE in the environment is K: in builds that look for something
 * else (sanitizers for what any input does, a tarball for missing files).
 */
#ifndef TEST_SHARE_H
#define TEST_SHARE_H

#include <stdint.h>
#include <stdlib.h>

/* Of `n` inputs, at least one. */
static inline uint32_t share(uint32_t n)
{
	const char *given = getenv("DATELINE_SHARE");
	uint32_t k = given ? strtoul(given, NULL, 0) : 1;

	return k > n ? 1 : n / (k ? k : 1);
}

#endif
