/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory for what is large. */
#ifndef DL_MEMORY_H
#define DL_MEMORY_H

#include <stdlib.h>
#include <sys/mman.h>

#define DL_LARGE_PAGE (2ul << 20)

/*
 * Memory that is used all over, in no order: in large pages, where there are
 * any, the processor keeps its translation of addresses.  Not initialised,
 * aligned to cache lines, freed by free().  NULL: there is none.
 */
static inline void *dl_large_array(size_t n, size_t size)
{
	size_t bytes = n * size;
	size_t page = bytes < DL_LARGE_PAGE / 8 ? 64 : DL_LARGE_PAGE;
	void *memory;

	bytes = (bytes + page - 1) / page * page;
	memory = aligned_alloc(page, bytes ? bytes : page);
	if (memory && page == DL_LARGE_PAGE)
		madvise(memory, bytes, MADV_HUGEPAGE);
	return memory;
}

#endif
