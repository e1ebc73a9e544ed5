/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Paths to one LID after the other; see paths.c. */
#ifndef DL_TABLES_PATHS_H
#define DL_TABLES_PATHS_H

#include "dateline/tables.h"

#define DL_TABLES_REACH_BLOCK 64 /* LIDs; divides a table's stride */

enum { DL_TABLES_UNKNOWN, DL_TABLES_WALKING, DL_TABLES_ARRIVES, DL_TABLES_FAILS };

/* How a switch's ports are numbered. */
struct dl_tables_reach_ports {
	uint32_t first; /* port index of port 0 */
	uint32_t n;	/* without port 0 */
};

/* The switches whose packets to one LID arrive. */
struct dl_tables_reach {
	const struct dl_tables *t;
	const struct dl_tables_reach_ports *ports; /* by switch */
	const uint32_t *next;			   /* by port index: switch at the far end */
	uint32_t *order;			   /* nearest to the destination first */
	uint32_t norder;
	uint32_t *out;	       /* by switch in `order`: port index by which it sends */
	uint32_t *walk;	       /* of switches, until its end is known */
	uint16_t *length;      /* by switch: switches on the path from it, itself too */
	uint8_t *state;	       /* by switch */
	uint8_t *columns;      /* a block of LIDs by switch */
	size_t apart;	       /* from one column to the next */
	const uint8_t *column; /* the one at hand */
	uint32_t home;	       /* of the tree at hand: where its root hands over */
	const uint8_t *filled; /* its column; NULL: there is none */
};

/* Begin, for tables of a fabric with these next switches.  0 or -ENOMEM. */
int dl_tables_reach_init(struct dl_tables_reach *b, struct dl_arena *arena,
			 const struct dl_tables *t, const uint32_t *next);

/* By port index: the switch at the far end of its cable, or DL_NONE.  NULL: no memory. */
uint32_t *dl_tables_next_switches(struct dl_arena *arena, const struct dl_fabric *f);

/* Copy the columns of a block of LIDs; set the column of a LID in it; find its tree, too. */
void dl_tables_reach_turn(struct dl_tables_reach *b, uint32_t lid);
void dl_tables_reach_choose(struct dl_tables_reach *b, uint16_t lid);
void dl_tables_reach_fill(struct dl_tables_reach *b, uint16_t lid);

#endif
