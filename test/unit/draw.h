/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Random numbers for tests: Philox, by seed and count, so that a failure can
 * be run again from the seed that it prints.
 */
#ifndef DRAW_H
#define DRAW_H

#include <stdint.h>

#include <Random123/philox.h>

struct draw {
	uint64_t seed, at;
};

static inline uint32_t draw32(struct draw *d)
{
	philox4x32_key_t key = { { (uint32_t)d->seed, (uint32_t)(d->seed >> 32) } };
	philox4x32_ctr_t ctr = { { (uint32_t)d->at, (uint32_t)(d->at >> 32) } };

	d->at++;
	return philox4x32(ctr, key).v[0];
}

/* A number below `n`. */
static inline uint32_t draw_below(struct draw *d, uint32_t n)
{
	return (uint64_t)draw32(d) * n >> 32;
}

/* True once in `n` times. */
static inline int draw_one_in(struct draw *d, uint32_t n)
{
	return draw_below(d, n) == 0;
}

#endif
