/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the files of this room share. */
#ifndef DL_TABLES_INTERNAL_H
#define DL_TABLES_INTERNAL_H

#include "dateline/tables.h"

/* What the readers of dumps share. */

/*
 * Read a GUID and find its switch (dense number).  0, or -EINVAL after a
 * message.
 */
int dl_tables_read_switch(struct dl_text *text, const struct dl_fabric *f,
			  uint32_t *sw);

/* Read a port number of a node, `base` as for strtoull(). */
int dl_tables_read_port(struct dl_text *text, const struct dl_fabric_node *n,
			int base, unsigned int *port);

/* The line must end here. */
int dl_tables_read_end(struct dl_text *text);

static inline const struct dl_fabric_node *
dl_tables_switch_node(const struct dl_fabric *f, uint32_t sw)
{
	return &f->nodes[f->switches[sw]];
}

#endif
