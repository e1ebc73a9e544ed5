/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The encoding of marks (torus.h).  From the lowest bit on: for each dimension 8 bits
 * of coordinate, 8 of radix, 1 for a mesh; 2 bits of mode; CHECK_BITS that depend on
 * all of these and on the switch's GUID, so that entries which are no mark are
 * recognised (one in 2^CHECK_BITS is not).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "torus/internal.h"

#define BITS 64
#define MODE_BITS 2
#define CHECK_BITS 11

static unsigned int digit_bits(unsigned int nports)
{
	unsigned int bits = 1;

	while (bits < 7 && (2u << bits) <= nports + 1)
		bits++;
	return bits;
}

unsigned int dl_torus_mark_length(unsigned int nports)
{
	unsigned int bits = digit_bits(nports);

	return (BITS + bits - 1) / bits;
}

uint32_t dl_torus_mark_first(uint32_t top, unsigned int nports)
{
	uint32_t next = (top / DL_TORUS_MARK_BLOCK + 1) * DL_TORUS_MARK_BLOCK;

	return top + 1 + dl_torus_mark_length(nports) <= next ? top + 1 : next;
}

/* The finaliser of splitmix64. */
static uint64_t mark_checksum(uint64_t payload, uint64_t guid)
{
	uint64_t z = payload + guid * 0x9E3779B97F4A7C15u;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return z >> (64 - CHECK_BITS);
}

static void mark_put_bits(uint64_t *word, unsigned int *at, unsigned int bits, uint64_t value)
{
	*word |= value << *at;
	*at += bits;
}

static uint64_t mark_take_bits(uint64_t word, unsigned int *at, unsigned int bits)
{
	*at += bits;
	return word >> (*at - bits) & ((1u << bits) - 1);
}

void dl_torus_mark_write(const struct dl_torus_mark *m, uint64_t guid, unsigned int nports,
			 uint8_t *entries)
{
	unsigned int bits = digit_bits(nports), at = 0;
	uint32_t c[DL_TORUS_DIMS];
	uint64_t word = 0;

	dl_torus_site_coord(&m->grid, m->site, c);
	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++) {
		mark_put_bits(&word, &at, 8, c[d]);
		mark_put_bits(&word, &at, 8, m->grid.radix[d]);
		mark_put_bits(&word, &at, 1, m->grid.mesh[d]);
	}
	mark_put_bits(&word, &at, MODE_BITS, m->mode);
	mark_put_bits(&word, &at, CHECK_BITS, mark_checksum(word, guid));
	for (unsigned int i = 0; i < dl_torus_mark_length(nports); i++, word >>= bits)
		entries[i] = word & ((1u << bits) - 1);
}

bool dl_torus_mark_read(const uint8_t *entries, uint64_t guid, unsigned int nports,
			struct dl_torus_mark *m)
{
	unsigned int bits = digit_bits(nports), at = 0;
	uint32_t c[DL_TORUS_DIMS];
	uint64_t word = 0;

	for (unsigned int i = dl_torus_mark_length(nports); i-- > 0;) {
		if (entries[i] >> bits)
			return false;
		word = word << bits | entries[i];
	}
	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++) {
		c[d] = mark_take_bits(word, &at, 8);
		m->grid.radix[d] = mark_take_bits(word, &at, 8);
		m->grid.mesh[d] = mark_take_bits(word, &at, 1);
		if (c[d] >= m->grid.radix[d])
			return false;
	}
	m->mode = mark_take_bits(word, &at, MODE_BITS);
	m->site = dl_torus_site(&m->grid, c);
	return dl_torus_grid_sites(&m->grid) <= DL_TORUS_MAX_SITES &&
	       word >> at == mark_checksum(word & ((1ull << at) - 1), guid);
}

/* The majority, by voting in pairs. */
struct dl_torus_grid dl_torus_mark_grid(const struct dl_torus_mark *marks, uint32_t n)
{
	struct dl_torus_grid common = { .radix = { 0 } };
	uint32_t votes = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (marks[i].site == DL_NONE)
			continue;
		if (!votes)
			common = marks[i].grid;
		votes += dl_torus_same_grid(&common, &marks[i].grid) ? 1 : -1;
	}
	return common;
}

int dl_torus_of_marks(const struct dl_fabric *f, const struct dl_torus_mark *marks,
		      unsigned int *mode, struct dl_torus **out)
{
	struct dl_torus_grid grid = dl_torus_mark_grid(marks, f->nswitches);
	uint32_t *sites = malloc((f->nswitches + 1ul) * sizeof(*sites));
	bool any = false;
	int err = 0;

	*out = NULL;
	if (!sites)
		return -ENOMEM;
	for (uint32_t s = f->nswitches; s--;) {
		bool fits = marks[s].site != DL_NONE &&
			    !memcmp(marks[s].grid.radix, grid.radix, sizeof(grid.radix));

		sites[s] = fits ? marks[s].site : DL_NONE;
		*mode = fits ? marks[s].mode : *mode;
		any |= fits;
	}
	if (any)
		err = dl_torus_make(f, &grid, sites, out);
	free(sites);
	return err;
}
