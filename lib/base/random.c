/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Random numbers by counter, by Random123's Philox; see base.h. */
#include <Random123/philox.h>

#include "dateline/base.h"

struct dl_random_block dl_random_four(struct dl_random *r)
{
	philox4x32_key_t key = { { (uint32_t)r->seed, (uint32_t)(r->seed >> 32) } };
	philox4x32_ctr_t at = { { (uint32_t)r->at, (uint32_t)(r->at >> 32), r->stream, 0 } };
	struct dl_random_block out;

	r->at++;
	at = philox4x32(at, key);
	for (unsigned int i = 0; i < 4; i++)
		out.v[i] = at.v[i];
	return out;
}

uint32_t dl_random_next(struct dl_random *r)
{
	return dl_random_four(r).v[0];
}

uint32_t dl_random_below(struct dl_random *r, uint32_t below)
{
	uint64_t product;

	do { /* until the low half is 2^32 mod below or more, which is less than below */
		product = (uint64_t)dl_random_next(r) * below;
	} while ((uint32_t)product < below && (uint32_t)product < -below % below);
	return product >> 32;
}
