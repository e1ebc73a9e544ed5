/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Port masks of a multicast group.
 *
 * Problem.  A subnet may have 16,383 groups, and a mask has 32 bytes.  For each
 * group and switch that is gigabytes, while most groups reach few switches, and
 * a file of some kilobytes can name any number of groups.  A change of tables
 * holds some sets of groups at once that differ in few masks.
 *
 * Method.  Rows for those switches only that have one.  Of 64 switches each, a
 * word says which have a row; these rows stand in order.  A row is found by
 * counting the bits below its own, in constant time; a new one moves at most 63
 * others.  The rows of 64 switches are shared by all groups, of whichever
 * tables, that were copied from one another or united, until one of them writes
 * there: how many share them stands before the first.  Several threads may copy
 * the same masks.  Memory: 32 bytes a row, and 16 for each 64 switches.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tables/internal.h"

#define ROW_BYTES (DL_TABLES_MASK_WORDS * sizeof(uint64_t))

static uint32_t count_parts(const struct dl_tables_masks *m)
{
	return m->nswitches / 64 + 1;
}

static size_t masks_bytes_of(const struct dl_tables_mask_rows *part)
{
	return __builtin_popcountll(part->present) * ROW_BYTES;
}

static void masks_share(struct dl_tables_mask_rows *to, const struct dl_tables_mask_rows *from)
{
	if (from->words)
		__atomic_add_fetch(from->words - 1, 1, __ATOMIC_RELAXED);
	*to = *from;
}

static void masks_drop(uint64_t *words)
{
	if (words && !__atomic_sub_fetch(words - 1, 1, __ATOMIC_ACQ_REL))
		free(words - 1);
}

static bool masks_is_shared(const struct dl_tables_mask_rows *part)
{
	return part->words && __atomic_load_n(part->words - 1, __ATOMIC_ACQUIRE) > 1;
}

/* Rows of one's own, `more` of them new and not filled in yet.  0 or -ENOMEM. */
static int masks_make_own(struct dl_tables_mask_rows *part, unsigned int more)
{
	size_t size = masks_bytes_of(part);
	bool shared = masks_is_shared(part);
	uint64_t *old = part->words && !shared ? part->words - 1 : NULL, *words;

	if (!more && !shared)
		return 0;
	words = realloc(old, sizeof(*words) + size + more * ROW_BYTES);
	if (!words)
		return -ENOMEM;
	*words = 1;
	if (shared) {
		memcpy(words + 1, part->words, size);
		masks_drop(part->words);
	}
	part->words = words + 1;
	return 0;
}

uint64_t *dl_tables_mask_row(struct dl_tables_masks *m, uint32_t sw)
{
	uint64_t bit = UINT64_C(1) << sw % 64, *row;
	struct dl_tables_mask_rows *part;
	bool is_new;

	if (!m->rows)
		m->rows = calloc(count_parts(m), sizeof(*m->rows));
	if (!m->rows)
		return NULL;
	part = &m->rows[sw / 64];
	is_new = !(part->present & bit);
	if (masks_make_own(part, is_new))
		return NULL;
	row = part->words +
	      (size_t)DL_TABLES_MASK_WORDS * __builtin_popcountll(part->present & (bit - 1));
	if (is_new) {
		memmove(row + DL_TABLES_MASK_WORDS, row,
			masks_bytes_of(part) - (row - part->words) * sizeof(*row));
		memset(row, 0, ROW_BYTES);
		part->present |= bit;
	}
	return row;
}

int dl_tables_mask_set(struct dl_tables_masks *m, uint32_t sw, unsigned int port)
{
	uint64_t *row = dl_tables_mask_row(m, sw);

	if (!row)
		return -ENOMEM;
	row[port / 64] |= UINT64_C(1) << port % 64;
	return 0;
}

uint32_t dl_tables_mask_next(const struct dl_tables_masks *m, uint32_t sw)
{
	uint64_t left = ~UINT64_C(0) << sw % 64;

	for (uint32_t i = sw / 64; m->rows && i < count_parts(m); i++, left = ~UINT64_C(0))
		if (m->rows[i].present & left)
			return 64 * i + __builtin_ctzll(m->rows[i].present & left);
	return m->nswitches;
}

void dl_tables_masks_clear(struct dl_tables_masks *m)
{
	for (uint32_t i = 0; m->rows && i < count_parts(m); i++)
		masks_drop(m->rows[i].words);
	free(m->rows);
	m->rows = NULL;
}

int dl_tables_masks_copy(struct dl_tables_masks *to, const struct dl_tables_masks *from)
{
	dl_tables_masks_clear(to);
	to->nswitches = from->nswitches;
	if (!from->rows)
		return 0;
	to->rows = calloc(count_parts(from), sizeof(*to->rows));
	for (uint32_t i = 0; to->rows && i < count_parts(from); i++)
		masks_share(&to->rows[i], &from->rows[i]);
	return to->rows ? 0 : -ENOMEM;
}

static bool same_rows(const struct dl_tables_mask_rows *a, const struct dl_tables_mask_rows *b)
{
	if (a->present != b->present)
		return false;
	return a->words == b->words || !memcmp(a->words, b->words, masks_bytes_of(a));
}

bool dl_tables_masks_equal(const struct dl_tables_masks *a, const struct dl_tables_masks *b)
{
	static const struct dl_tables_mask_rows none;

	if (a->nswitches != b->nswitches)
		return false;
	for (uint32_t i = 0; (a->rows || b->rows) && i < count_parts(a); i++)
		if (!same_rows(a->rows ? &a->rows[i] : &none, b->rows ? &b->rows[i] : &none))
			return false;
	return true;
}

void dl_tables_masks_unite(struct dl_tables_masks *m, struct dl_tables_masks_seen *seen)
{
	for (uint32_t i = 0; m->rows && i < count_parts(m); i++) {
		struct dl_tables_mask_rows *part = &m->rows[i], *other;
		uint64_t hash = part->present;

		if (!hash)
			continue;
		for (size_t k = 0; k < masks_bytes_of(part) / sizeof(hash); k++)
			hash = (hash ^ part->words[k]) * UINT64_C(0x9E3779B97F4A7C15);
		other = &seen->parts[hash >> 32 & (DL_TABLES_MASKS_SEEN - 1)];
		if (part->words != other->words && same_rows(part, other)) {
			masks_drop(part->words);
			masks_share(part, other);
		}
		*other = *part;
	}
}
