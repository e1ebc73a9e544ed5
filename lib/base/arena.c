/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Arenas; see base.h.
 *
 * Blocks are chained from the newest back.  A piece comes from the newest
 * block; one that does not fit opens another, as large as the piece where that
 * is larger than a block, so that what a block leaves over is less than a
 * piece.  A build with AddressSanitizer gives every piece a block of its own,
 * and sees who writes beyond it.
 */
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/base.h"

#ifdef __SANITIZE_ADDRESS__
#define BLOCK 0
#else
#define BLOCK ((size_t)64 << 10)
#endif

struct dl_arena_block {
	struct dl_arena_block *before;
	size_t size, used;
	bool zero; /* all of it was zero at first */
	alignas(max_align_t) char bytes[];
};

static struct dl_arena_block *add_block(struct dl_arena *a, size_t bytes, bool zero)
{
	size_t size = bytes > BLOCK ? bytes : BLOCK;
	struct dl_arena_block *b;

	/* Large ones come from the kernel: zeros that need not be written. */
	zero = zero && size > BLOCK;
	b = zero ? calloc(1, sizeof(*b) + size) : malloc(sizeof(*b) + size);
	if (!b)
		return NULL;
	b->size = size;
	b->used = 0;
	b->zero = zero;
	b->before = a->last;
	a->last = b;
	return b;
}

static void *arena_take(struct dl_arena *a, size_t bytes, bool zero)
{
	const size_t align = alignof(max_align_t);
	struct dl_arena_block *b = a->last;
	void *piece;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = (bytes + !bytes + align - 1) / align * align;
	if (a->limit && bytes > a->limit - a->used)
		return NULL;
	if (!b || bytes > b->size - b->used)
		b = add_block(a, bytes, zero);
	if (!b)
		return NULL;
	piece = b->bytes + b->used;
	b->used += bytes;
	a->used += bytes;
	return zero && !b->zero ? memset(piece, 0, bytes) : piece;
}

void *dl_arena_alloc(struct dl_arena *a, size_t bytes)
{
	return arena_take(a, bytes, false);
}

void *dl_arena_zalloc(struct dl_arena *a, size_t bytes)
{
	return arena_take(a, bytes, true);
}

void *dl_arena_array(struct dl_arena *a, size_t n, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(n, size, &bytes) ? NULL : dl_arena_zalloc(a, bytes);
}

void dl_arena_free(struct dl_arena *a)
{
	struct dl_arena_block *b = a->last, *before;

	for (; b; b = before) {
		before = b->before;
		free(b);
	}
	a->last = NULL;
	a->used = 0;
}
