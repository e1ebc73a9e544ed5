/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Random numbers by counter (Random123): the same seed and stream give the
 * same numbers on every machine, however the work is split.  Streams of one
 * seed are independent of each other.
 */
#ifndef DL_RANDOM_H
#define DL_RANDOM_H

#include <stdint.h>

#include <Random123/philox.h>

struct dl_random {
	uint64_t seed;
	uint32_t stream;
	uint64_t at;		/* how often numbers were drawn */
};

/* Four numbers, for about the price of one. */
static inline philox4x32_ctr_t dl_random_four(struct dl_random *r)
{
	philox4x32_key_t key = { { (uint32_t)r->seed,
				   (uint32_t)(r->seed >> 32) } };
	philox4x32_ctr_t at = { { (uint32_t)r->at, (uint32_t)(r->at >> 32),
				  r->stream, 0 } };

	r->at++;
	return philox4x32(at, key);
}

static inline uint32_t dl_random_next(struct dl_random *r)
{
	return dl_random_four(r).v[0];
}

/* A number from 0 to below - 1, all equally likely; `below` is not 0. */
static inline uint32_t dl_random_below(struct dl_random *r, uint32_t below)
{
	uint32_t reject = -below % below;	/* 2^32 mod below */
	uint64_t product;

	do {
		product = (uint64_t)dl_random_next(r) * below;
	} while ((uint32_t)product < reject);
	return product >> 32;
}

#endif
