/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Random numbers for tests: the same for a seed, on every machine. */
#ifndef TEST_RANDOM_H
#define TEST_RANDOM_H

#include <stdint.h>

#include <Random123/philox.h>

struct test_random {
	uint32_t seed, count;
};

static inline uint32_t test_random(struct test_random *r, uint32_t below)
{
	philox4x32_ctr_t counter = { { r->count++, 0, 0, 0 } };
	philox4x32_key_t key = { { r->seed, 0 } };

	return (uint64_t)philox4x32(counter, key).v[0] * below >> 32;
}

#endif
