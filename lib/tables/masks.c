/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Port masks of a multicast group.
 *
 * Problem.  A subnet may have 16,383 groups, and a mask has 32 bytes.  For each
 * group and switch that is gigabytes, while most groups reach few switches, and
 * a file of some kilobytes can name any number of groups.
 *
 * Method.  Rows for those switches only that have one.  Of 64 switches each, a
 * word tells which have; the rows of these stand in order.  A row is found by
 * counting the bits below its own, in constant time; a new one moves at most 63
 * others.  Memory: 32 bytes a row, and 16 for each 64 switches.
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

uint64_t *dl_tables_mask_row(struct dl_tables_masks *m, uint32_t sw)
{
	uint64_t *row = dl_tables_mask_find(m, sw), *grown;
	struct dl_tables_mask_rows *part;
	unsigned int n, at;

	if (row)
		return row;
	if (!m->rows)
		m->rows = calloc(count_parts(m), sizeof(*m->rows));
	if (!m->rows)
		return NULL;
	part = &m->rows[sw / 64];
	n = __builtin_popcountll(part->present);
	grown = realloc(part->words, (n + 1) * ROW_BYTES);
	if (!grown)
		return NULL;
	part->words = grown;
	part->present |= UINT64_C(1) << sw % 64;
	row = dl_tables_mask_find(m, sw);
	at = (row - grown) / DL_TABLES_MASK_WORDS;
	memmove(row + DL_TABLES_MASK_WORDS, row, (n - at) * ROW_BYTES);
	return memset(row, 0, ROW_BYTES);
}

int dl_tables_mask_set(struct dl_tables_masks *m, uint32_t sw, unsigned int port)
{
	uint64_t *row = dl_tables_mask_row(m, sw);

	if (!row)
		return -ENOMEM;
	row[port / 64] |= UINT64_C(1) << port % 64;
	return 0;
}

void dl_tables_masks_clear(struct dl_tables_masks *m)
{
	for (uint32_t i = 0; m->rows && i < count_parts(m); i++)
		free(m->rows[i].words);
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
	for (uint32_t i = 0; to->rows && i < count_parts(from); i++) {
		const struct dl_tables_mask_rows *part = &from->rows[i];
		size_t size = __builtin_popcountll(part->present) * ROW_BYTES;

		if (!size)
			continue;
		to->rows[i].words = malloc(size);
		if (!to->rows[i].words)
			return -ENOMEM;
		memcpy(to->rows[i].words, part->words, size);
		to->rows[i].present = part->present;
	}
	return to->rows ? 0 : -ENOMEM;
}
