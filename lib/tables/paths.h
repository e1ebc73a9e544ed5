/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What paths to one LID are made of; see paths.c. */
#ifndef DL_TABLES_PATHS_H
#define DL_TABLES_PATHS_H

#include "dateline/tables.h"

#define DL_TABLES_PATHS_BLOCK 64 /* LIDs; divides a table's stride */

enum dl_tables_paths_state {
	DL_TABLES_UNKNOWN,
	DL_TABLES_WALKING,
	DL_TABLES_ARRIVES,
	DL_TABLES_FAILS
};

struct dl_tables_paths {
	struct dl_arena arena; /* of the arrays */
	const struct dl_tables *t;
	struct dl_tables_paths_ports *ports; /* by switch */
	uint32_t *next;			     /* by port index: switch at the far end, or DL_NONE */
	uint32_t *order;		     /* switches that reach the LID, nearest first */
	uint32_t norder;
	uint32_t *out;	       /* by switch in `order`: port index by which it sends */
	uint32_t *walk;	       /* of switches, until its end is known */
	uint8_t *counts;       /* by switch: 1 if it does, else 0 */
	uint16_t *length;      /* by switch: those on the path from it that count, itself too */
	uint8_t *state;	       /* by switch: enum dl_tables_paths_state */
	uint8_t *columns;      /* a block of LIDs by switch */
	size_t apart;	       /* from one column to the next */
	uint32_t block;	       /* the one whose columns are there; DL_NONE: none */
	const uint8_t *column; /* of the LID at hand */
	uint32_t home;	       /* of the tree at hand: where its root hands over */
	const uint8_t *filled; /* its column; NULL: there is none */
};

/* Set the column of a LID, without following it. */
void dl_tables_paths_choose(struct dl_tables_paths *p, uint16_t lid);

#endif
