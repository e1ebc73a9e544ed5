/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A mark: a switch's coordinates, as it holds them itself.  No OpenSM in here.
 *
 * Path SLs follow from coordinates (rules A5), and whoever manages the subnet
 * next must find the same ones: after a failover, after a restart with an empty
 * cache, on a fabric that has been damaged meanwhile.  Cabling does not tell
 * where datelines are, nor do tables: around a ring of odd radix they are the
 * same wherever it begins.  So each switch is told where it is, in entries of
 * its forwarding table above LinearFDBTop, by which nothing is forwarded.
 *
 * All entries are numbers of ports that the switch has: 64 bits in digits of as
 * many bits as these allow.  They stand behind the top, in the block of LIDs
 * that holds it and is written anyway, or, if there is no room for them, at the
 * beginning of the next block.
 */
#ifndef DL_PLUGIN_MARK_H
#define DL_PLUGIN_MARK_H

#include <stdbool.h>

#include "dateline/torus.h"

#define DL_MARK_BLOCK 64 /* LIDs that are written at a time */

struct dl_mark {
	struct dl_torus_grid grid;
	uint32_t site;
	unsigned int mode; /* enum dl_route_mode, which path SLs follow from, too */
};

/* How many entries a mark takes on a switch of so many ports (1..254). */
unsigned int dl_mark_length(unsigned int nports);

/* The LID of its first entry, where `top` is the last one in use. */
uint32_t dl_mark_first(uint32_t top, unsigned int nports);

/* Write the mark of the switch with this GUID into entries[0..length - 1]. */
void dl_mark_write(const struct dl_mark *m, uint64_t guid, unsigned int nports, uint8_t *entries);

/* Read it.  False: these entries are none. */
bool dl_mark_read(const uint8_t *entries, uint64_t guid, unsigned int nports, struct dl_mark *m);

/* The grid on which most of the marks agree. */
struct dl_torus_grid dl_mark_common_grid(const struct dl_mark *marks, uint32_t n);

#endif
