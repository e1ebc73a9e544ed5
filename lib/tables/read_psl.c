/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reading path SLs in ibdmchk's form, a line per source and destination LID:
 *
 *   0x0000000020400000 12 3
 *
 * The GUID is the source node's, or that of one of its ports; a node's GUID
 * stands for its first port with a LID.  ibdmchk knows no more; what concerns
 * a further port of an adapter is a comment to it:
 *
 *   #port 2 of 0x0000000020400000: 12 3
 *
 * Problem.  The file grows with the square of the fabric, and so would the
 * tables; yet most sources and destinations are like others (the adapters of
 * one switch, and the switch itself).
 *
 * Method.  A row per source, grown as sources appear.  At the end equal rows
 * become one class of sources, and columns that are then equal one class of
 * destinations.  No pair is made of a port and its own LID; that entry takes
 * the value of a neighbour at the same switch, so that it does not tell two
 * rows apart that are alike otherwise.
 *
 * Complexity: the size of the file, and of the matrix of distinct rows twice.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tables/internal.h"

struct psl {
	struct dl_tables_dump d;
	struct dl_arena arena;
	struct dl_fabric_index ports; /* made when a line names one */
	uint32_t *column;	      /* by LID, or DL_NONE */
	uint16_t *lid;		      /* by column */
	uint32_t ncolumns;
	uint32_t *row_of; /* by port index, or DL_NONE */
	uint8_t *rows;
	uint32_t nrows, cap;
	uint64_t last_guid; /* the source met last, and its row */
	uint8_t *last_row;
	uint64_t prefix_guid; /* how its lines begin */
	char prefix[20];
};

/* ---- lines ------------------------------------------------------------- */

static uint32_t first_port_with_lid(const struct dl_fabric *f, uint32_t node)
{
	const struct dl_fabric_node *n = &f->nodes[node];

	for (unsigned int i = 0; i <= n->nports; i++)
		if (dl_fabric_is_end_port(f, n->first_port + i) && f->ports[n->first_port + i].lid)
			return n->first_port + i;
	return DL_NONE;
}

static int psl_add_row(struct psl *x, uint32_t port)
{
	if (x->nrows == x->cap) {
		uint32_t cap = x->cap ? 2 * x->cap : 64;
		uint8_t *grown = realloc(x->rows, cap * (size_t)x->ncolumns);

		if (!grown)
			return -ENOMEM;
		x->rows = grown;
		x->cap = cap;
	}
	memset(x->rows + x->nrows * (size_t)x->ncolumns, DL_TABLES_NO_SL, x->ncolumns);
	x->row_of[port] = x->nrows++;
	return 0;
}

static int choose_row(struct psl *x, uint32_t port)
{
	int err = x->row_of[port] == DL_NONE ? psl_add_row(x, port) : 0;

	if (!err)
		x->last_row = x->rows + x->row_of[port] * (size_t)x->ncolumns;
	return err;
}

static int psl_unknown(const struct psl *x, uint64_t guid)
{
	return dl_text_error(
		&x->d.text, "the fabric has no such end port of 0x%016" PRIx64 " with a LID", guid);
}

static int find_source(struct psl *x, uint64_t guid)
{
	const struct dl_fabric *f = x->d.f;
	uint32_t node = dl_fabric_find_guid(f, guid), port;

	if (node == DL_NONE && !x->ports.items && dl_fabric_index_ports(f, &x->ports))
		return -ENOMEM;
	port = node == DL_NONE ? dl_fabric_find_port(f, &x->ports, guid) :
				 first_port_with_lid(f, node);
	if (port == DL_NONE || !f->ports[port].lid)
		return psl_unknown(x, guid);
	x->last_guid = guid;
	return choose_row(x, port);
}

/* What follows "#port": "2 of 0x0000000020400000:". */
static int psl_read_port(struct psl *x)
{
	const struct dl_fabric *f = x->d.f;
	uint64_t number, guid;
	uint32_t node, port;
	int err = dl_text_number(&x->d.text, 10, DL_FABRIC_MAX_PORTS, "a port number", &number);

	if (!err)
		err = dl_tables_dump_word(&x->d, "of");
	if (!err)
		err = dl_text_number(&x->d.text, 16, UINT64_MAX, "a node's GUID", &guid);
	if (!err)
		err = dl_tables_dump_word(&x->d, ":");
	if (err)
		return err;
	node = dl_fabric_find_guid(f, guid);
	if (node == DL_NONE || number > f->nodes[node].nports)
		return psl_unknown(x, guid);
	port = f->nodes[node].first_port + number;
	if (!dl_fabric_is_end_port(f, port) || !f->ports[port].lid)
		return psl_unknown(x, guid);
	x->last_guid = 0;
	return choose_row(x, port);
}

static int read_source(struct psl *x)
{
	uint64_t guid;
	int err;

	if (dl_text_take_string(&x->d.text, "#port"))
		return psl_read_port(x);
	err = dl_text_number(&x->d.text, 16, UINT64_MAX, "a node's GUID", &guid);
	if (!err && (!guid || guid != x->last_guid))
		err = find_source(x, guid);
	return err;
}

static int psl_read_line(struct dl_tables_dump *d)
{
	struct psl *x = (struct psl *)d;
	uint64_t lid, sl;
	uint8_t *entry;
	int err = read_source(x);

	if (!err)
		err = dl_text_number(&d->text, 10, DL_FABRIC_MAX_LID, "a unicast LID, decimal",
				     &lid);
	if (!err)
		err = dl_text_number(&d->text, 10, 15, "an SL, 0 to 15", &sl);
	if (!err)
		err = dl_tables_dump_end(d);
	if (err)
		return err;
	if (lid > d->t->top_lid || x->column[lid] == DL_NONE)
		return dl_text_error(&d->text, "no port of the fabric has LID %" PRIu64, lid);
	entry = &x->last_row[x->column[lid]];
	if (*entry != DL_TABLES_NO_SL && *entry != sl)
		return dl_text_error(&d->text,
				     "LID %" PRIu64 " a second time, "
				     "with another SL",
				     lid);
	*entry = sl;
	return 0;
}

#define PREFIX_BYTES 19 /* "0x0123456789abcdef " */
#define LINE_BYTES 32	/* the longest line of that form, and more */

/* The calls of memcmp() would take longer than all else. */
static inline bool has_prefix(const char *at, const char *prefix)
{
	static const unsigned int places[] = { 0, 8, PREFIX_BYTES - 8 };
	uint64_t differ = 0, a, b;

	for (unsigned int i = 0; i < 3; i++) {
		memcpy(&a, at + places[i], sizeof(a));
		memcpy(&b, prefix + places[i], sizeof(b));
		differ |= a ^ b;
	}
	return !differ;
}

/* Lines of the source met last: "0x0123456789abcdef 49151 15". */
static char *read_fast(struct dl_tables_dump *d, char *at, char *end)
{
	struct psl *x = (struct psl *)d;

	if (!x->last_guid)
		return at;
	if (x->prefix_guid != x->last_guid) {
		x->prefix_guid = x->last_guid;
		snprintf(x->prefix, sizeof(x->prefix), "0x%016" PRIx64 " ", x->last_guid);
	}
	while (end - at >= LINE_BYTES && has_prefix(at, x->prefix)) {
		unsigned int lid = 0, sl, digit;
		char *next = at + PREFIX_BYTES;
		uint8_t *entry;

		while ((digit = (unsigned char)*next - '0') <= 9 && lid <= DL_FABRIC_MAX_LID) {
			lid = 10 * lid + digit;
			next++;
		}
		if (*next++ != ' ' || lid > d->t->top_lid || x->column[lid] == DL_NONE)
			break;
		sl = (unsigned char)*next++ - '0';
		if (sl == 1 && (digit = (unsigned char)*next - '0') <= 5) {
			sl = 10 + digit;
			next++;
		}
		entry = &x->last_row[x->column[lid]];
		if (*next != '\n' || sl > 15 || (*entry != DL_TABLES_NO_SL && *entry != sl))
			break;
		*entry = sl;
		d->text.line++;
		at = next + 1;
	}
	return at;
}

/* ---- a port and its own LIDs ------------------------------------------- */

/* Some SL from this row to another end port of switch `sw`, or DL_TABLES_NO_SL. */
static uint8_t neighbour_sl(const struct psl *x, const uint8_t *row, uint32_t sw, uint32_t own)
{
	const struct dl_fabric *f = x->d.f;
	const struct dl_fabric_node *n = dl_fabric_switch_node(f, sw);

	for (unsigned int i = 0; i <= n->nports; i++) {
		uint32_t p = dl_fabric_end_at(f, n, i), column;

		if (p == DL_NONE || p == own || !f->ports[p].lid)
			continue;
		column = x->column[f->ports[p].lid];
		if (column != DL_NONE && row[column] != DL_TABLES_NO_SL)
			return row[column];
	}
	return DL_TABLES_NO_SL;
}

static void fill_own(struct psl *x)
{
	const struct dl_fabric *f = x->d.f;

	for (uint32_t p = 0; p < f->nports; p++) {
		uint32_t sw;
		uint8_t *row;

		if (x->row_of[p] == DL_NONE)
			continue;
		sw = dl_fabric_access_switch(f, p);
		if (sw == DL_NONE)
			continue;
		row = x->rows + x->row_of[p] * (size_t)x->ncolumns;
		for (uint32_t i = 0; i < 1u << f->ports[p].lmc; i++) {
			uint32_t lid = f->ports[p].lid + i;
			uint8_t *entry = &row[x->column[lid]];

			if (*entry == DL_TABLES_NO_SL)
				*entry = neighbour_sl(x, row, sw, p);
		}
	}
}

/* ---- classes ----------------------------------------------------------- */

/* A row or column: equal ones have equal hashes. */
struct line {
	uint64_t hash;
	uint32_t number;
};

static uint64_t psl_mix(uint64_t hash, uint8_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
	return hash ^ hash >> 32;
}

static int by_hash(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static bool equal_rows(const struct psl *x, uint32_t a, uint32_t b)
{
	return !memcmp(x->rows + a * (size_t)x->ncolumns, x->rows + b * (size_t)x->ncolumns,
		       x->ncolumns);
}

static bool equal_columns(const struct psl *x, uint32_t a, uint32_t b)
{
	for (uint32_t r = 0; r < x->nrows; r++) {
		const uint8_t *row = x->rows + r * (size_t)x->ncolumns;

		if (row[a] != row[b])
			return false;
	}
	return true;
}

/* Classes are numbered in the order of the first line of each. */
struct classes {
	uint32_t *class_of, *first_of, n;
};

/* Give equal lines one class. */
static void psl_classify(const struct psl *x, struct line *lines, uint32_t n,
			 bool (*equal)(const struct psl *, uint32_t, uint32_t), struct classes *c)
{
	uint32_t leader = 0;

	/* By hash, then by number: each line's leader is met before it. */
	qsort(lines, n, sizeof(*lines), by_hash);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t line = lines[i].number;

		if (!i || lines[i].hash != lines[i - 1].hash || !equal(x, line, leader))
			leader = line;
		c->class_of[line] = leader;
	}
	/* From leader to number; a leader comes before its followers. */
	for (uint32_t i = 0; i < n; i++) {
		if (c->class_of[i] == i) {
			c->first_of[c->n] = i;
			c->class_of[i] = c->n++;
		} else {
			c->class_of[i] = c->class_of[c->class_of[i]];
		}
	}
}

static void hash_rows(const struct psl *x, struct line *lines)
{
	for (uint32_t r = 0; r < x->nrows; r++) {
		const uint8_t *row = x->rows + r * (size_t)x->ncolumns;
		uint64_t hash = 0;

		for (uint32_t c = 0; c < x->ncolumns; c++)
			hash = psl_mix(hash, row[c]);
		lines[r] = (struct line){ hash, r };
	}
}

static void hash_columns(const struct psl *x, const uint32_t *rows, uint32_t nrows,
			 struct line *lines)
{
	for (uint32_t c = 0; c < x->ncolumns; c++)
		lines[c] = (struct line){ 0, c };
	for (uint32_t r = 0; r < nrows; r++) {
		const uint8_t *row = x->rows + rows[r] * (size_t)x->ncolumns;

		for (uint32_t c = 0; c < x->ncolumns; c++)
			lines[c].hash = psl_mix(lines[c].hash, row[c]);
	}
}

static int psl_store(struct psl *x, const struct classes *src, const struct classes *dst)
{
	struct dl_tables *t = x->d.t;
	int err = dl_tables_new_psl(t, src->n, dst->n);

	if (err)
		return err;
	for (uint32_t s = 0; s < src->n; s++) {
		const uint8_t *row = x->rows + src->first_of[s] * (size_t)x->ncolumns;

		for (uint32_t d = 0; d < dst->n; d++)
			t->psl[s * (size_t)dst->n + d] = row[dst->first_of[d]];
	}
	for (uint32_t p = 0; p < t->fabric->nports; p++)
		if (x->row_of[p] != DL_NONE)
			t->psl_src[p] = src->class_of[x->row_of[p]];
	for (uint32_t c = 0; c < x->ncolumns; c++)
		t->psl_dst[x->lid[c]] = dst->class_of[c];
	return 0;
}

static int psl_compress(struct psl *x)
{
	size_t n = (x->nrows > x->ncolumns ? x->nrows : x->ncolumns) + 1;
	size_t size = n * sizeof(uint32_t);
	struct line *lines = dl_arena_alloc(&x->arena, n * sizeof(*lines));
	struct classes src = { .class_of = dl_arena_alloc(&x->arena, size),
			       .first_of = dl_arena_alloc(&x->arena, size) };
	struct classes dst = { .class_of = dl_arena_alloc(&x->arena, size),
			       .first_of = dl_arena_alloc(&x->arena, size) };

	if (!lines || !src.class_of || !src.first_of || !dst.class_of || !dst.first_of)
		return -ENOMEM;
	fill_own(x);
	hash_rows(x, lines);
	psl_classify(x, lines, x->nrows, equal_rows, &src);
	hash_columns(x, src.first_of, src.n, lines);
	psl_classify(x, lines, x->ncolumns, equal_columns, &dst);
	return psl_store(x, &src, &dst);
}

/* ---- all --------------------------------------------------------------- */

static int psl_begin(struct psl *x)
{
	const struct dl_fabric *f = x->d.f;
	size_t nlids = x->d.t->top_lid + 1;

	x->column = dl_arena_alloc(&x->arena, nlids * sizeof(*x->column));
	x->lid = dl_arena_alloc(&x->arena, nlids * sizeof(*x->lid));
	x->row_of = dl_arena_alloc(&x->arena, f->nports * sizeof(*x->row_of));
	if (!x->column || !x->lid || !x->row_of)
		return -ENOMEM;
	memset(x->column, 0xFF, nlids * sizeof(*x->column)); /* DL_NONE */
	memset(x->row_of, 0xFF, f->nports * sizeof(*x->row_of));
	for (uint32_t lid = 1; lid < nlids; lid++) {
		if (f->lid_port[lid] == DL_NONE)
			continue;
		x->lid[x->ncolumns] = lid;
		x->column[lid] = x->ncolumns++;
	}
	return 0;
}

int dl_tables_read_psl(struct dl_tables *t, FILE *from, const char *name, const struct dl_log *log)
{
	struct psl x = { .d = { .t = t, .f = t->fabric, .fast = read_fast } };
	int err = psl_begin(&x);

	if (!err)
		err = dl_tables_dump_read(&x.d, from, name, log, psl_read_line);
	if (!err && x.nrows)
		err = psl_compress(&x);
	dl_arena_free(&x.arena);
	dl_fabric_index_free(&x.ports);
	free(x.rows);
	return err;
}
