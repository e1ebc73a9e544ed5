/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory for arrays; see base.h. */
#include "config.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "dateline/base.h"

#define LARGE_PAGE (2ul << 20)

void *dl_array_grow(void *array, size_t size, uint32_t used, size_t more, uint32_t *cap)
{
	size_t n = *cap ? *cap : 64;

	if (array && more <= *cap - used)
		return array;
	if (more >= UINT32_MAX - used)
		return NULL;
	while (n < used + more)
		n *= 2;
	if (n >= UINT32_MAX)
		n = UINT32_MAX - 1;
	array = reallocarray(array, n, size);
	if (array)
		*cap = n;
	return array;
}

void *dl_array_large(size_t n, size_t size)
{
	size_t bytes = n * size;
	size_t page = bytes < LARGE_PAGE / 8 ? 64 : LARGE_PAGE;
	void *memory;

	bytes = (bytes + page - 1) / page * page;
	memory = aligned_alloc(page, bytes ? bytes : page);
	if (memory && page == LARGE_PAGE)
		madvise(memory, bytes, MADV_HUGEPAGE);
	return memory;
}
