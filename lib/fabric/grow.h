/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Arrays that grow by doubling, counted in 32 bits. */
#ifndef DL_GROW_H
#define DL_GROW_H

#include <stdint.h>
#include <stdlib.h>

/*
 * Make room for `more` elements of `size` bytes behind the first `used` of
 * *cap.  Returns the array, which may have moved, or NULL when there is no
 * memory or more than 32 bits can count; the old array is then still there.
 */
static inline void *dl_grow(void *array, size_t size, uint32_t used,
			    size_t more, uint32_t *cap)
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

#endif
