/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the readers of dumps share; see internal.h.
 *
 * Dumps may be gigabytes, nearly all of it lines of one form.  Of the lines that
 * have been read a fast reader takes all of that form; any other line goes to
 * the careful one, which knows every form and names what it cannot read.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tables/internal.h"

static bool says_something(struct dl_text *text)
{
	return !dl_text_at_end(text) && (*text->at != '#' || !strncmp(text->at, "#port", 5));
}

/* 0: it is a pipe, or empty. */
static double dump_bytes_of(FILE *from)
{
	struct stat st;

	return fileno(from) < 0 || fstat(fileno(from), &st) || !S_ISREG(st.st_mode) ? 0 :
										      st.st_size;
}

int dl_tables_dump_read(struct dl_tables_dump *d, FILE *from, const char *name,
			const struct dl_log *log, int (*line)(struct dl_tables_dump *d))
{
	double total = dump_bytes_of(from);
	struct dl_text *t = &d->text;
	uint64_t told = 0;
	int err, state = 0;

	d->sw = DL_NONE;
	d->met = calloc(d->f->nswitches + 1, 1);
	err = d->met ? 0 : -ENOMEM;
	dl_text_begin(t, from, name, log);
	t->whole = true;
	while (!err && (state = dl_text_next(t)) > 0) {
		if (says_something(t))
			err = line(d);
		if (!err && d->fast)
			t->next = d->fast(d, t->next, t->lines);
		if (told != t->bytes)
			dl_progress(log, "reading tables", " MB", 1e-6 * t->bytes, 1e-6 * total);
		told = t->bytes;
	}
	dl_progress(log, "reading tables", " MB", 1, 1);
	dl_text_end(t);
	free(d->met);
	return err < 0 ? err : state < 0 ? state : 0;
}

int dl_tables_dump_word(struct dl_tables_dump *d, const char *word)
{
	char what[64];

	if (dl_text_take_string(&d->text, word))
		return 0;
	snprintf(what, sizeof(what), "\"%s\"", word);
	return dl_text_expected(&d->text, what);
}

int dl_tables_dump_node(struct dl_tables_dump *d, uint32_t *node)
{
	uint64_t guid;
	int err = dl_text_number(&d->text, 16, UINT64_MAX, "a node's GUID", &guid);

	if (err)
		return err;
	*node = dl_fabric_find_guid(d->f, guid);
	if (*node == DL_NONE)
		return dl_text_error(&d->text,
				     "the fabric has no node with the GUID "
				     "0x%016" PRIx64,
				     guid);
	return 0;
}

int dl_tables_dump_switch(struct dl_tables_dump *d)
{
	uint32_t node;
	int err = dl_tables_dump_node(d, &node);

	if (err)
		return err;
	if (!dl_fabric_is_switch(d->f, node))
		return dl_text_error(&d->text, "0x%016" PRIx64 " is no switch",
				     d->f->nodes[node].guid);
	d->sw = d->f->nodes[node].sw;
	return 0;
}

int dl_tables_dump_table(struct dl_tables_dump *d)
{
	int err = dl_tables_dump_switch(d);

	if (!err && d->met[d->sw]++)
		err = dl_text_error(&d->text, "a second table for this switch");
	return err;
}

int dl_tables_dump_port(struct dl_tables_dump *d, const struct dl_fabric_node *n, int base,
			unsigned int *port)
{
	uint64_t value;
	int err = dl_text_number(&d->text, base, UINT64_MAX, "a port number", &value);

	if (err)
		return err;
	if (value > n->nports)
		return dl_text_error(&d->text, "port %" PRIu64 " of a node with %u ports", value,
				     n->nports);
	*port = value;
	return 0;
}

int dl_tables_dump_end(struct dl_tables_dump *d)
{
	return dl_text_at_end(&d->text) ? 0 : dl_text_expected(&d->text, "end of line");
}

int dl_tables_read_file(struct dl_tables *t, enum dl_tables_file which, FILE *from,
			const char *name, const struct dl_log *log)
{
	static dl_tables_reader *const readers[] = {
		[DL_TABLES_LFTS] = dl_tables_read_lfts,
		[DL_TABLES_FDBS] = dl_tables_read_fdbs,
		[DL_TABLES_MCFDBS] = dl_tables_read_mcfdbs,
		[DL_TABLES_SL2VL] = dl_tables_read_sl2vl,
		[DL_TABLES_SLVL] = dl_tables_read_slvl,
		[DL_TABLES_VLARB] = dl_tables_read_vlarb,
		[DL_TABLES_PSL] = dl_tables_read_psl,
	};

	return readers[which](t, from, name, log);
}
