/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the readers of dumps share. */
#ifndef DL_TABLES_READ_H
#define DL_TABLES_READ_H

#include "fabric/text.h"
#include "tables/tables.h"

/*
 * Read a GUID and find its switch (dense number).  0, or -EINVAL after a
 * message.
 */
int dl_read_switch(struct dl_text *text, const struct dl_fabric *f,
		   uint32_t *sw);

/* Read a port number of a node, `base` as for strtoull(). */
int dl_read_port(struct dl_text *text, const struct dl_node *n, int base,
		 unsigned int *port);

/* The line must end here. */
int dl_read_end(struct dl_text *text);

static inline const struct dl_node *dl_switch_node(const struct dl_fabric *f,
						   uint32_t sw)
{
	return &f->nodes[f->switches[sw]];
}

#endif
