/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the readers of dumps share. */
#ifndef DL_TABLES_INTERNAL_H
#define DL_TABLES_INTERNAL_H

#include "dateline/tables.h"

/* Files of a snapshot's directory besides the tables. */
#define DL_SNAPSHOT_GAPS "dateline-partial.txt" /* what is missing */
#define DL_SNAPSHOT_MARK "dateline-unfinished"	/* being put in place */

/* A dump that is read, and whose part it is at. */
struct dl_tables_dump {
	struct dl_text text;
	struct dl_tables *t;
	const struct dl_fabric *f;
	uint32_t sw;  /* the switch whose lines follow, or DL_NONE */
	uint8_t *met; /* by switch: had it a table already? */
};

/*
 * Call `line` for every line that is neither empty nor a comment ("#port"
 * begins none).  It returns 0, 1 to stop reading, or a negative errno, which
 * is returned, as are errors of the file.
 */
int dl_tables_dump_read(struct dl_tables_dump *d, FILE *from, const char *name,
			const struct dl_log *log, int (*line)(struct dl_tables_dump *d));

/* One number of a line. */
struct dl_tables_field {
	const char *before; /* text that must stand before it, or NULL */
	int base;	    /* of dl_text_number() */
	uint64_t max;
	const char *what; /* for messages: what is expected */
};

/* Read `n` numbers one after the other.  0, or -EINVAL after a message. */
int dl_tables_dump_fields(struct dl_tables_dump *d, const struct dl_tables_field *fields,
			  unsigned int n, uint64_t *values);

#define DL_TABLES_FIELDS(d, fields, values) \
	dl_tables_dump_fields(d, fields, sizeof(fields) / sizeof(*fields), values)

/*
 * Read a GUID and find its node; that of a switch becomes the one whose lines
 * follow.  0, or -EINVAL after a message.
 */
int dl_tables_dump_node(struct dl_tables_dump *d, uint32_t *node);
int dl_tables_dump_switch(struct dl_tables_dump *d);

/* The same, of a switch whose table begins here: each has only one. */
int dl_tables_dump_table(struct dl_tables_dump *d);

/* Read a port number of a node. */
int dl_tables_dump_port(struct dl_tables_dump *d, const struct dl_fabric_node *n, int base,
			unsigned int *port);

/* A string that must stand here; the end of the line. */
int dl_tables_dump_word(struct dl_tables_dump *d, const char *word);
int dl_tables_dump_end(struct dl_tables_dump *d);

static inline const struct dl_fabric_node *dl_tables_switch_node(const struct dl_fabric *f,
								 uint32_t sw)
{
	return &f->nodes[f->switches[sw]];
}

#endif
