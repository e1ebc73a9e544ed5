/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Checksums of snapshots: XXH3, 64 bits. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdlib.h>

#include "tables/internal.h"

struct dl_tables_sum {
	XXH3_state_t state;
};

struct dl_tables_sum *dl_tables_sum_new(void)
{
	struct dl_tables_sum *s = NULL;

	if (posix_memalign((void **)&s, 64, sizeof(*s)))
		return NULL;
	XXH3_64bits_reset(&s->state);
	return s;
}

void dl_tables_sum_add(struct dl_tables_sum *s, const void *data, size_t len)
{
	XXH3_64bits_update(&s->state, data, len);
}

uint64_t dl_tables_sum_end(struct dl_tables_sum *s)
{
	uint64_t sum = XXH3_64bits_digest(&s->state);

	free(s);
	return sum;
}

uint64_t dl_tables_sum_of(const void *data, size_t len)
{
	return XXH3_64bits(data, len);
}
