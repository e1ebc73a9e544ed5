/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What writers and readers of dumps and snapshots share. */
#ifndef DL_TABLES_INTERNAL_H
#define DL_TABLES_INTERNAL_H

#include "dateline/tables.h"

#define DL_SNAPSHOT_FILES_MAX 64 /* of an export; notes of a .dls */

/* Which invariant of dl_tables_check() does not hold, or NULL. */
const char *dl_tables_fault(const struct dl_tables *t);

/* Can a file of so many bytes hold so many of tables?  No snapshot comes near. */
bool dl_tables_expected(uint64_t bytes, uint64_t file);

/* ---- checksums --------------------------------------------------------- */

/* XXH3, 64 bits: against accidents, not against forgers. */
struct dl_tables_sum;

struct dl_tables_sum *dl_tables_sum_new(void); /* NULL: no memory */
void dl_tables_sum_add(struct dl_tables_sum *s, const void *data, size_t len);
uint64_t dl_tables_sum_end(struct dl_tables_sum *s); /* and release it */
uint64_t dl_tables_sum_of(const void *data, size_t len);

/* ---- writing ----------------------------------------------------------- */

/* A dump on its way to a file. */
struct dl_tables_out {
	FILE *to;
	char *buffer, *at, *end;
	struct dl_tables_sum *sum;
	uint64_t bytes, checksum; /* when it is at its end */
	bool failed;
	/* For progress, or NULL: what was written before, and will be in all. */
	const struct dl_log *log;
	double before, expected;
};

/* 0 or -ENOMEM; the end returns `err`, or -EIO if not all was written. */
int dl_tables_out_begin(struct dl_tables_out *o, FILE *to);
int dl_tables_out_end(struct dl_tables_out *o, int err);

/* Where the next bytes go, at most `n`, which is less than 1,000; then move o->at. */
char *dl_tables_out_more(struct dl_tables_out *o);
static inline char *dl_tables_out_room(struct dl_tables_out *o, size_t n)
{
	return (size_t)(o->end - o->at) >= n ? o->at : dl_tables_out_more(o);
}

void dl_tables_out_text(struct dl_tables_out *o, const char *text, size_t len);
/* At most 511 bytes. */
void dl_tables_out_print(struct dl_tables_out *o, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

int dl_tables_put(struct dl_tables_out *o, const struct dl_tables *t, enum dl_tables_file which);

/* ---- snapshots --------------------------------------------------------- */

/* Files of an export: the tables, and others. */
extern const char *const dl_tables_file_names[DL_TABLES_NFILES];

#define DL_SNAPSHOT_NET "dateline.net"
#define DL_SNAPSHOT_SUBNET "opensm-subnet.lst"
#define DL_SNAPSHOT_MANIFEST "dateline-manifest.txt"
#define DL_SNAPSHOT_GAPS "dateline-partial.txt"
#define DL_SNAPSHOT_FORMAT 1

/* The names that files of an export can have, but the manifest's; NULL: no more. */
const char *dl_snapshot_own_name(unsigned int i);
bool dl_snapshot_is_own_name(const char *name);

/* The notes that readers look for. */
extern const char *const dl_snapshot_note_names[];

/* A file, as the manifest lists it. */
struct dl_snapshot_file {
	char name[64];
	uint64_t bytes, checksum;
};

/* All that the manifest says; it owns the list. */
struct dl_snapshot_manifest {
	struct dl_snapshot_about about;
	struct dl_snapshot_file *files;
	uint32_t n, cap;
};

const struct dl_snapshot_file *dl_snapshot_listed(const struct dl_snapshot_manifest *m,
						  const char *name);

/* Add a file.  0 or -ENOMEM. */
int dl_snapshot_list(struct dl_snapshot_manifest *m, const struct dl_snapshot_file *f);

/*
 * Write its first lines, which stand in a .dls, too; all lines but the last.
 * 0 or -ENOMEM.
 */
int dl_snapshot_write_about(const struct dl_snapshot_about *about, FILE *to);
int dl_snapshot_write_manifest(const struct dl_snapshot_manifest *m, FILE *to);

/* The words for enum dl_snapshot_sls, ended by NULL. */
extern const char *const dl_snapshot_sls_words[];

/* Read it; release the list of files in any case.  0 or a negative errno, reported. */
int dl_snapshot_read_about(const char *text, size_t len, const char *name, const struct dl_log *log,
			   struct dl_snapshot_manifest *m);
int dl_snapshot_read_manifest(FILE *from, const char *name, const struct dl_log *log,
			      struct dl_snapshot_manifest *m);

/* Fill in a snapshot from a compact file.  0 or a negative errno, reported. */
int dl_snapshot_unpack(FILE *from, const char *name, const struct dl_log *log,
		       struct dl_snapshot *s);

/* ---- reading ----------------------------------------------------------- */

/* A dump that is read, and whose part it is at. */
struct dl_tables_dump {
	struct dl_text text;
	struct dl_tables *t;
	const struct dl_fabric *f;
	uint32_t sw;	/* the switch whose lines follow, or DL_NONE */
	uint8_t *met;	/* by switch: had it a table already? */
	uint32_t lines; /* of the present table */
	/*
	 * Reads whole lines of the usual form from `at` up to `end`, behind a
	 * newline, as fast as it can.  Returns where it stopped: at a line that
	 * is for `line`, or at the end.  NULL: there is no such reader.
	 */
	char *(*fast)(struct dl_tables_dump *d, char *at, char *end);
};

/*
 * Call `line` for every line that is neither empty nor a comment ("#port"
 * begins none).  It returns 0, 1 to stop reading, or a negative errno, which
 * is returned, as are errors of the file.
 */
int dl_tables_dump_read(struct dl_tables_dump *d, FILE *from, const char *name,
			const struct dl_log *log, int (*line)(struct dl_tables_dump *d));

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

/* One reader each; see dl_tables_read_file(). */
typedef int dl_tables_reader(struct dl_tables *t, FILE *from, const char *name,
			     const struct dl_log *log);
dl_tables_reader dl_tables_read_lfts, dl_tables_read_fdbs, dl_tables_read_mcfdbs,
	dl_tables_read_sl2vl, dl_tables_read_slvl, dl_tables_read_vlarb, dl_tables_read_psl;

#endif
