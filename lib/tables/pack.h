/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The compact snapshot, format 1, as dateline-snapshot(5) describes it: a head of 32
 * bytes and one zstd frame, whose content is a row of sections.
 */
#ifndef DL_TABLES_PACK_H
#define DL_TABLES_PACK_H

#include <stddef.h>
#include <stdint.h>

/* A byte above 127 and both ends of lines: what transfers as text destroy. */
#define DL_PACK_MAGIC \
	"\x89"        \
	"DLS\r\n\x1a"

struct dl_pack_head {
	char magic[8];
	uint32_t format, zero;
	uint64_t bytes;	   /* of the content */
	uint64_t checksum; /* XXH3, 64 bits, of the content */
};

/* Words between this machine's order and the file's, of 2, 4 or 8 bytes each. */
static inline void dl_pack_order(void *words, size_t size, size_t n)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	for (uint8_t *at = words; n--; at += size) {
		for (size_t i = 0; i < size / 2; i++) {
			uint8_t byte = at[i];

			at[i] = at[size - 1 - i];
			at[size - 1 - i] = byte;
		}
	}
#else
	(void)words, (void)size, (void)n;
#endif
}

#define DL_PACK_TAG 8
#define DL_PACK_ARB (2 * 128 + 3)
#define DL_PACK_MASK (4 + 4 * 8)

#define DL_PACK_ABOUT "about"
#define DL_PACK_NETLIST "netlist"
#define DL_PACK_LFTS "lfts"
#define DL_PACK_SL2VL "sl2vl"
#define DL_PACK_VLARB "vlarb"
#define DL_PACK_PSL "psl"
#define DL_PACK_GROUP "group"
#define DL_PACK_NOTE "note"
#define DL_PACK_END "end"

#endif
