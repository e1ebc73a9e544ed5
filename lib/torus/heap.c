/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A binary heap whose items know where they are; see internal.h. */
#include <errno.h>
#include <string.h>

#include "torus/internal.h"

int dl_torus_heap_init(struct dl_torus_heap *h, struct dl_arena *arena, uint32_t most)
{
	uint32_t *words = dl_arena_array(arena, most, 3 * sizeof(*words));

	if (!words)
		return -ENOMEM;
	*h = (struct dl_torus_heap){ .items = words, .most = most };
	h->key = words + most;
	h->at = h->key + most;
	dl_torus_heap_clear(h);
	return 0;
}

void dl_torus_heap_clear(struct dl_torus_heap *h)
{
	h->n = 0;
	memset(h->at, 0xFF, h->most * sizeof(*h->at)); /* DL_NONE */
}

static bool is_before(const struct dl_torus_heap *h, uint32_t a, uint32_t b)
{
	return h->key[a] != h->key[b] ? h->key[a] < h->key[b] : a < b;
}

static void heap_put(struct dl_torus_heap *h, uint32_t at, uint32_t item)
{
	h->items[at] = item;
	h->at[item] = at;
}

/* An item to its place, from one that it may have. */
static void heap_settle(struct dl_torus_heap *h, uint32_t at, uint32_t item)
{
	uint32_t child;

	for (; at && is_before(h, item, h->items[(at - 1) / 2]); at = (at - 1) / 2)
		heap_put(h, at, h->items[(at - 1) / 2]);
	while ((child = 2 * at + 1) < h->n) {
		if (child + 1 < h->n && is_before(h, h->items[child + 1], h->items[child]))
			child++;
		if (!is_before(h, h->items[child], item))
			break;
		heap_put(h, at, h->items[child]);
		at = child;
	}
	heap_put(h, at, item);
}

void dl_torus_heap_set(struct dl_torus_heap *h, uint32_t item, uint32_t key)
{
	h->key[item] = key;
	heap_settle(h, h->at[item] == DL_NONE ? h->n++ : h->at[item], item);
}

void dl_torus_heap_remove(struct dl_torus_heap *h, uint32_t item)
{
	uint32_t at = h->at[item];

	if (at == DL_NONE)
		return;
	h->at[item] = DL_NONE;
	if (at < --h->n)
		heap_settle(h, at, h->items[h->n]);
}
