/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reading path SLs by class, dateline-sls.dump; see write.c.
 *
 * The matrix grows as its rows come: what a hostile file announces costs
 * nothing.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/base.h"
#include "tables/internal.h"

struct sls {
	struct dl_tables_dump d;
	uint64_t nsrc, ndst; /* announced; 0: not yet */
	uint8_t *rows;
	uint32_t nrows, cap;
};

static int read_classes(struct sls *x)
{
	static const struct dl_tables_field fields[] = {
		{ NULL, 10, UINT32_MAX - 1, "a number of classes" },
		{ NULL, 10, UINT32_MAX - 1, "a number of classes" },
	};
	uint64_t value[2];
	int err = DL_TABLES_FIELDS(&x->d, fields, value);

	if (err)
		return err;
	if (x->nsrc || x->ndst || !value[0] || !value[1])
		return dl_text_error(&x->d.text, "expected one line of at least one class each");
	x->nsrc = value[0];
	x->ndst = value[1];
	return 0;
}

static int read_row(struct sls *x)
{
	static const char digits[] = "0123456789abcdef-";
	static const struct dl_tables_field fields[] = { { NULL, 10, UINT32_MAX, "a class" } };
	uint64_t number;
	int err = DL_TABLES_FIELDS(&x->d, fields, &number);
	uint8_t *rows;
	size_t len;

	if (err)
		return err;
	if (number != x->nrows || number >= x->nsrc)
		return dl_text_error(&x->d.text, "row %" PRIu64 ": expected row %u of %" PRIu64,
				     number, x->nrows, x->nsrc);
	dl_text_at_end(&x->d.text); /* passes blanks */
	len = strlen(x->d.text.at);
	if (len != x->ndst || strspn(x->d.text.at, digits) != len)
		return dl_text_error(&x->d.text, "expected %" PRIu64 " SLs, 0 to f or -", x->ndst);
	if ((x->nrows + 1) * x->ndst > UINT32_MAX)
		return dl_text_error(&x->d.text, "expected fewer classes");
	rows = dl_array_grow(x->rows, 1, x->nrows * x->ndst, len, &x->cap);
	if (!rows)
		return -ENOMEM;
	x->rows = rows;
	rows += x->nrows++ * len;
	for (size_t i = 0; i < len; i++) {
		unsigned int sl = strchr(digits, x->d.text.at[i]) - digits;

		rows[i] = sl < 16 ? sl : DL_TABLES_NO_SL;
	}
	return 0;
}

/* The matrix is whole: the tables get it before the first class is given. */
static int adopt(struct sls *x)
{
	struct dl_tables *t = x->d.t;
	int err;

	if (!x->nrows || x->nrows != x->nsrc)
		return dl_text_error(&x->d.text,
				     "expected %" PRIu64 " rows before this: there are %u", x->nsrc,
				     x->nrows);
	if (!x->rows)
		return 0;
	err = dl_tables_new_psl(t, 0, 0);
	if (err)
		return err;
	free(t->psl);
	t->psl = x->rows;
	t->npsl_src = x->nsrc;
	t->npsl_dst = x->ndst;
	x->rows = NULL;
	return 0;
}

static int read_source(struct sls *x)
{
	static const struct dl_tables_field fields[] = { { NULL, 10, UINT32_MAX, "a class" } };
	struct dl_tables_dump *d = &x->d;
	unsigned int port;
	uint64_t class;
	uint32_t node;
	int err = adopt(x);

	if (!err)
		err = dl_tables_dump_node(d, &node);
	if (!err)
		err = dl_tables_dump_port(d, &d->f->nodes[node], 10, &port);
	if (!err)
		err = DL_TABLES_FIELDS(d, fields, &class);
	if (err)
		return err;
	if (class >= x->nsrc)
		return dl_text_error(&d->text, "class %" PRIu64 ": expected one below %" PRIu64,
				     class, x->nsrc);
	d->t->psl_src[d->f->nodes[node].first_port + port] = class;
	return 0;
}

static int read_lid(struct sls *x)
{
	static const struct dl_tables_field fields[] = {
		{ NULL, 10, DL_FABRIC_MAX_LID, "a unicast LID, decimal" },
		{ NULL, 10, UINT32_MAX, "a class" },
	};
	struct dl_tables_dump *d = &x->d;
	uint64_t value[2];
	int err = adopt(x);

	if (!err)
		err = DL_TABLES_FIELDS(d, fields, value);
	if (err)
		return err;
	if (value[0] > d->t->top_lid || d->f->lid_port[value[0]] == DL_NONE)
		return dl_text_error(&d->text, "no port of the fabric has LID %" PRIu64, value[0]);
	if (value[1] >= x->ndst)
		return dl_text_error(&d->text, "class %" PRIu64 ": expected one below %" PRIu64,
				     value[1], x->ndst);
	d->t->psl_dst[value[0]] = value[1];
	return 0;
}

static int read_line(struct dl_tables_dump *d)
{
	static const struct {
		const char *word;
		int (*read)(struct sls *x);
	} lines[] = { { "classes ", read_classes },
		      { "row ", read_row },
		      { "source ", read_source },
		      { "lid ", read_lid } };

	for (unsigned int i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		int err;

		if (!dl_text_take_string(&d->text, lines[i].word))
			continue;
		err = lines[i].read((struct sls *)d);
		return err || i == 1 ? err : dl_tables_dump_end(d);
	}
	return dl_text_expected(&d->text, "classes, row, source or lid");
}

int dl_tables_read_sls(struct dl_tables *t, FILE *from, const char *name, const struct dl_log *log)
{
	struct sls x = { .d = { .t = t, .f = t->fabric } };
	int err = dl_tables_dump_read(&x.d, from, name, log, read_line);

	if (!err && x.rows)
		err = dl_text_error(&x.d.text, "the file ends before any source: expected more");
	free(x.rows);
	return err;
}
