/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the readers of dumps share; see internal.h.
 *
 * Dumps may be gigabytes, nearly all of it lines of one form.  The file is read
 * in large pieces, of which a fast reader takes all lines of that form; any
 * other line goes to the careful one, which knows every form and names what it
 * cannot read.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tables/internal.h"

#define PIECE_BYTES (1 << 18)

/* The piece of the file at hand: whole lines from `at` up to `lines`. */
struct piece {
	FILE *from;
	char *buffer, *at, *lines, *end;
	size_t size;
	bool at_end; /* of the file */
};

static bool says_something(struct dl_text *text)
{
	return !dl_text_at_end(text) && (*text->at != '#' || !strncmp(text->at, "#port", 5));
}

/* Room behind what is left; one byte more than is ever filled. */
static int dump_make_room(struct piece *p)
{
	size_t left = p->end - p->at;
	size_t size = left > p->size / 2 ? 2 * p->size : p->size;
	char *buffer = p->buffer;

	if (p->buffer)
		memmove(p->buffer, p->at, left);
	if (!p->buffer || size != p->size)
		buffer = realloc(p->buffer, size + 1);
	if (!buffer)
		return -ENOMEM;
	*p = (struct piece){ p->from, buffer, buffer, buffer, buffer + left, size, p->at_end };
	return 0;
}

/* Read until there is a whole line.  1: there is; 0: end of file; or an error. */
static int next_piece(struct piece *p, const struct dl_text *text)
{
	while (!p->at_end) {
		size_t n;
		char *last;
		int err;

		if (p->end - p->at > DL_TEXT_LONGEST)
			return dl_fail(text->log, -EINVAL, "%s:%u: a line of more than %d bytes",
				       text->name, text->line + 1, DL_TEXT_LONGEST);
		err = dump_make_room(p);
		if (err)
			return err;
		errno = 0;
		n = fread_unlocked(p->end, 1, p->buffer + p->size - p->end, p->from);
		p->at_end = !n;
		if (!n && ferror(p->from)) {
			err = errno;
			dl_log(text->log, DL_LOG_ERROR, "%s:%u: cannot read on: %s", text->name,
			       text->line + 1, strerror(err));
			return err && err != EIO ? -err : -EINVAL;
		}
		last = memrchr(p->end, '\n', n);
		p->end += n;
		if (last || p->at_end) {
			p->lines = last ? last + 1 : p->end;
			return p->lines > p->at;
		}
	}
	return 0;
}

/* One line, of whatever form. */
static int dump_read_line(struct dl_tables_dump *d, struct piece *p,
			  int (*line)(struct dl_tables_dump *d))
{
	char *end = memchr(p->at, '\n', p->lines - p->at);
	size_t len;

	if (!end)
		end = p->lines; /* the last one; there is room behind it */
	len = end - p->at;
	if (len && end[-1] == '\r')
		len--;
	p->at[len] = '\0';
	d->text.at = p->at;
	d->text.line++;
	p->at = end < p->lines ? end + 1 : end;
	if (memchr(d->text.at, '\0', len))
		return dl_text_error(&d->text, "a byte 0: expected text");
	return says_something(&d->text) ? line(d) : 0;
}

static int read_piece(struct dl_tables_dump *d, struct piece *p,
		      int (*line)(struct dl_tables_dump *d))
{
	/* The last line of a file may lack its newline. */
	bool fast = d->fast && p->lines[-1] == '\n' && !memchr(p->at, '\0', p->lines - p->at);
	int err = 0;

	while (!err && p->at < p->lines) {
		if (fast)
			p->at = d->fast(d, p->at, p->lines);
		if (p->at < p->lines)
			err = dump_read_line(d, p, line);
	}
	return err;
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
	struct piece p = { .from = from, .size = PIECE_BYTES };
	double done = 0, total = dump_bytes_of(from);
	int err, state = 0;

	d->sw = DL_NONE;
	d->met = calloc(d->f->nswitches + 1, 1);
	err = d->met ? 0 : -ENOMEM;
	dl_text_begin(&d->text, from, name, log);
	while (!err && (state = next_piece(&p, &d->text)) > 0) {
		done += p.lines - p.at;
		dl_progress(log, "reading tables", " MB", 1e-6 * done, 1e-6 * total);
		err = read_piece(d, &p, line);
	}
	dl_progress(log, "reading tables", " MB", 1, 1);
	free(p.buffer);
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

int dl_tables_dump_fields(struct dl_tables_dump *d, const struct dl_tables_field *fields,
			  unsigned int n, uint64_t *values)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < n; i++) {
		if (fields[i].before)
			err = dl_tables_dump_word(d, fields[i].before);
		if (!err)
			err = dl_text_number(&d->text, fields[i].base, fields[i].max,
					     fields[i].what, &values[i]);
	}
	return err;
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
