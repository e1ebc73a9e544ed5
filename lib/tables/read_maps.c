/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reading SL-to-VL maps (opensm-sl2vl.dump, and dateline-slvl.dump, which is
 * ibdmchk's form of the same) and VL arbitration (dateline-vlarb.dump).
 *
 *   Switch 0x0000000000200000, base LID 1, "name"
 *   #in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15
 *   3   1   : 2  3  2  3  2  3  2  3  6  7  6  7  6  7  6  7
 *
 *   Channel Adapter 0x0000000020400001, base LID 7, "name"
 *   0   0   : 0  0  0  0  0  0  0  0  1  1  1  1  1  1  1  1
 *
 * A switch is named by its own GUID, an end port by the port's GUID; its base LID
 * identifies the port.
 *
 *   0x0000000000200000 3 1 0x23 0x23 0x23 0x23 0x67 0x67 0x67 0x67
 *
 *   0x0000000000200000 3 limit 4 high 0:64,1:64 low 4:64
 *
 * The latter: GUID of the node, port number, VLHighLimit, entries of the two
 * tables as VL:weight; "-" stands for an empty table.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "tables/internal.h"

struct maps {
	struct dl_tables_dump d;
	uint32_t end_port;	  /* whose lines follow, or DL_NONE */
	dl_tables_sl2vl_row last; /* the row met last, and its number */
	int last_number;	  /* -1: none yet */
};

/* Rows repeat themselves line after line: try the last one first. */
static int number_of(struct maps *m, dl_tables_sl2vl_row row)
{
	if (m->last_number < 0 || m->last != row) {
		m->last_number = dl_tables_row(m->d.t, row);
		m->last = row;
	}
	if (m->last_number == -ENOSPC)
		return dl_text_error(&m->d.text, "more than 65,535 different "
						 "SL-to-VL maps");
	return m->last_number;
}

/* The entry of the port pair that stands next in the line. */
static int read_pair(struct maps *m, uint16_t **entry)
{
	const struct dl_tables *t = m->d.t;
	const struct dl_fabric_node *n = dl_fabric_switch_node(m->d.f, m->d.sw);
	unsigned int in, out;
	int err = dl_tables_dump_port(&m->d, n, 10, &in);

	if (!err)
		err = dl_tables_dump_port(&m->d, n, 10, &out);
	if (!err)
		*entry = &t->sl2vl[dl_tables_map_index(t, m->d.sw, in, out)];
	return err;
}

static int set_pair(struct maps *m, uint16_t *entry, dl_tables_sl2vl_row row)
{
	int number = number_of(m, row);

	if (number < 0)
		return number;
	if (*entry != DL_TABLES_NO_ROW && *entry != number)
		return dl_text_error(&m->d.text, "a second, different map for "
						 "this pair of ports");
	*entry = number;
	return 0;
}

/* ---- opensm-sl2vl.dump ------------------------------------------------- */

static int read_end_port(struct maps *m)
{
	const struct dl_fabric *f = m->d.f;
	uint64_t guid, lid;
	int err = dl_text_number(&m->d.text, 16, UINT64_MAX, "a port's GUID", &guid);

	if (!err)
		err = dl_tables_dump_word(&m->d, ", base LID");
	if (!err)
		err = dl_text_number(&m->d.text, 10, DL_FABRIC_MAX_LID, "a LID", &lid);
	if (err)
		return err;
	m->d.sw = DL_NONE;
	m->end_port = lid <= f->top_lid ? f->lid_port[lid] : DL_NONE;
	if (m->end_port == DL_NONE || !f->ports[m->end_port].num)
		return dl_text_error(&m->d.text,
				     "no adapter in the fabric has "
				     "LID %" PRIu64,
				     lid);
	if (f->ports[m->end_port].guid && f->ports[m->end_port].guid != guid)
		return dl_text_error(&m->d.text,
				     "LID %" PRIu64 " belongs to port "
				     "0x%016" PRIx64 " in the fabric",
				     lid, f->ports[m->end_port].guid);
	return 0;
}

static int maps_read_vls(struct maps *m, dl_tables_sl2vl_row *row)
{
	int err = dl_tables_dump_word(&m->d, ":");

	*row = 0;
	for (unsigned int sl = 0; !err && sl < 16; sl++) {
		uint64_t vl = 0;

		err = dl_text_number(&m->d.text, 10, 15, "a VL, 0 to 15", &vl);
		*row |= vl << 4 * sl;
	}
	return err ? err : dl_tables_dump_end(&m->d);
}

/* Its port numbers say nothing. */
static int read_end_map(struct maps *m)
{
	dl_tables_sl2vl_row row;
	uint64_t ignored;
	int err = dl_text_number(&m->d.text, 10, 255, "a port number", &ignored);

	if (!err)
		err = dl_text_number(&m->d.text, 10, 255, "a port number", &ignored);
	if (!err)
		err = maps_read_vls(m, &row);
	if (!err)
		err = number_of(m, row);
	if (err < 0)
		return err;
	m->d.t->end_sl2vl[m->end_port] = err;
	return 0;
}

static int read_sl2vl_line(struct dl_tables_dump *d)
{
	struct maps *m = (struct maps *)d;
	dl_tables_sl2vl_row row;
	uint16_t *entry;
	int err;

	if (dl_text_take_string(&d->text, "Switch")) {
		m->end_port = DL_NONE;
		return dl_tables_dump_switch(d);
	}
	if (dl_text_take_string(&d->text, "Channel Adapter") ||
	    dl_text_take_string(&d->text, "Router") || dl_text_take_string(&d->text, "CA"))
		return read_end_port(m);
	if (m->end_port != DL_NONE)
		return read_end_map(m);
	if (d->sw == DL_NONE)
		return dl_text_expected(&d->text, "\"Switch\" and its GUID");
	err = read_pair(m, &entry);
	if (!err)
		err = maps_read_vls(m, &row);
	return err ? err : set_pair(m, entry, row);
}

/* A decimal number of at most three digits behind blanks; NULL: there is none. */
static char *number_fast(char *at, unsigned int *number)
{
	unsigned int digit;

	while (*at == ' ')
		at++;
	*number = (unsigned char)*at - '0';
	if (*number > 9)
		return NULL;
	for (unsigned int i = 0; i < 2; i++) {
		digit = (unsigned char)*++at - '0';
		if (digit > 9)
			return at;
		*number = 10 * *number + digit;
	}
	return at + 1;
}

static char *vls_fast(char *at, dl_tables_sl2vl_row *row)
{
	unsigned int vl;

	*row = 0;
	for (unsigned int sl = 0; at && sl < 16; sl++) {
		at = number_fast(at, &vl);
		*row |= (dl_tables_sl2vl_row)(vl & 15) << 4 * sl;
		if (vl > 15)
			return NULL;
	}
	while (at && *at == ' ')
		at++;
	return at && *at == '\n' ? at + 1 : NULL;
}

/* A switch's lines, which end in a newline before `end`. */
static char *read_sl2vl_fast(struct dl_tables_dump *d, char *at, char *end)
{
	struct maps *m = (struct maps *)d;
	const struct dl_fabric_node *n;
	uint16_t *map;

	if (d->sw == DL_NONE || m->end_port != DL_NONE)
		return at;
	n = dl_fabric_switch_node(d->f, d->sw);
	map = &d->t->sl2vl[d->t->sl2vl_first[d->sw]];
	while (at < end) {
		dl_tables_sl2vl_row row;
		unsigned int in, out;
		char *next = number_fast(at, &in);
		uint16_t *entry;

		if (next)
			next = number_fast(next, &out);
		while (next && *next == ' ')
			next++;
		if (!next || *next != ':' || in > n->nports || out > n->nports)
			break;
		next = vls_fast(next + 1, &row);
		entry = &map[in * (n->nports + 1u) + out];
		if (!next || *entry != DL_TABLES_NO_ROW)
			break;
		if ((m->last_number < 0 || m->last != row) && number_of(m, row) < 0)
			break;
		*entry = m->last_number;
		d->text.line++;
		at = next;
	}
	return at;
}

static int read_maps(struct dl_tables *t, FILE *from, const char *name, const struct dl_log *log,
		     int (*line)(struct dl_tables_dump *d),
		     char *(*fast)(struct dl_tables_dump *d, char *at, char *end))
{
	struct maps m = { .d = { .t = t, .f = t->fabric, .fast = fast },
			  .end_port = DL_NONE,
			  .last_number = -1 };

	return dl_tables_dump_read(&m.d, from, name, log, line);
}

int dl_tables_read_sl2vl(struct dl_tables *t, FILE *from, const char *name,
			 const struct dl_log *log)
{
	return read_maps(t, from, name, log, read_sl2vl_line, read_sl2vl_fast);
}

/* ---- dateline-slvl.dump ------------------------------------------------ */

static int read_slvl_line(struct dl_tables_dump *d)
{
	struct maps *m = (struct maps *)d;
	dl_tables_sl2vl_row row = 0;
	uint64_t two = 0;
	uint16_t *entry;
	int err = dl_tables_dump_switch(d);

	if (!err)
		err = read_pair(m, &entry);
	for (unsigned int sl = 0; !err && sl < 16; sl += 2) {
		err = dl_text_number(&d->text, 16, 0xFF, "the VLs of two SLs, 0x00 to 0xff", &two);
		row |= (two >> 4) << 4 * sl | (two & 15) << 4 * (sl + 1);
	}
	if (!err)
		err = dl_tables_dump_end(d);
	return err ? err : set_pair(m, entry, row);
}

int dl_tables_read_slvl(struct dl_tables *t, FILE *from, const char *name, const struct dl_log *log)
{
	return read_maps(t, from, name, log, read_slvl_line, NULL);
}

/* ---- dateline-vlarb.dump ----------------------------------------------- */

static int read_entries(struct dl_tables_dump *d, const char *name,
			struct dl_tables_vlarb_entry *entries, uint8_t *n)
{
	struct dl_text *text = &d->text;
	uint64_t vl, weight;
	int err;

	if (!dl_text_take_string(text, name))
		return dl_text_expected(text, name);
	if (dl_text_take(text, '-'))
		return 0;
	do {
		err = dl_text_number(text, 10, 15, "a VL, 0 to 15", &vl);
		if (!err && !dl_text_take(text, ':'))
			err = dl_text_expected(text, "\":\" and a weight");
		if (!err)
			err = dl_text_number(text, 10, 255, "a weight, 0 to 255", &weight);
		if (err)
			return err;
		if (*n == 64)
			return dl_text_error(text, "more than 64 entries");
		entries[(*n)++] = (struct dl_tables_vlarb_entry){ vl, weight };
	} while (dl_text_take(text, ','));
	return 0;
}

static int read_vlarb_line(struct dl_tables_dump *d)
{
	struct dl_tables_vlarb arb;
	unsigned int port;
	uint64_t limit = 0;
	uint32_t node;
	int err = dl_tables_dump_node(d, &node);

	memset(&arb, 0, sizeof(arb));
	if (!err)
		err = dl_tables_dump_port(d, &d->f->nodes[node], 10, &port);
	if (!err)
		err = dl_tables_dump_word(d, "limit");
	if (!err)
		err = dl_text_number(&d->text, 10, 255, "a limit, 0 to 255", &limit);
	if (!err)
		err = read_entries(d, "high", arb.high, &arb.nhigh);
	if (!err)
		err = read_entries(d, "low", arb.low, &arb.nlow);
	if (!err)
		err = dl_tables_dump_end(d);
	if (err)
		return err;
	arb.high_limit = limit;
	err = dl_tables_arb(d->t, &arb);
	if (err == -ENOSPC)
		return dl_text_error(&d->text, "more than 65,535 different tables");
	if (err < 0)
		return err;
	d->t->vlarb[d->f->nodes[node].first_port + port] = err;
	return 0;
}

int dl_tables_read_vlarb(struct dl_tables *t, FILE *from, const char *name,
			 const struct dl_log *log)
{
	struct dl_tables_dump d = { .t = t, .f = t->fabric };

	return dl_tables_dump_read(&d, from, name, log, read_vlarb_line);
}
