/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reading SL-to-VL maps: opensm-sl2vl.dump, and ibdmchk's form of the same.
 *
 *   Switch 0x0000000000200000, base LID 1, "name"
 *   #in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15
 *   3   1   : 2  3  2  3  2  3  2  3  6  7  6  7  6  7  6  7
 *
 *   Channel Adapter 0x0000000020400001, base LID 7, "name"
 *   0   0   : 0  0  0  0  0  0  0  0  1  1  1  1  1  1  1  1
 *
 * A switch is named by its own GUID, an end port by the port's; its base LID
 * tells the port without doubt.
 *
 *   0x0000000000200000 3 1 0x23 0x23 0x23 0x23 0x67 0x67 0x67 0x67
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tables/internal.h"

struct maps {
	struct dl_text text;
	struct dl_tables *t;
	uint32_t sw;		  /* whose lines follow, or DL_NONE */
	uint32_t end_port;	  /* the same for an end port */
	dl_tables_sl2vl_row last; /* the row met last, and its number */
	int last_number;	  /* -1: none yet */
};

/* Rows repeat themselves line after line: try the last one first. */
static int number_of(struct maps *m, dl_tables_sl2vl_row row)
{
	if (m->last_number < 0 || m->last != row) {
		m->last_number = dl_tables_row(m->t, row);
		m->last = row;
	}
	if (m->last_number == -ENOSPC)
		return dl_text_error(&m->text, "more than 65,535 different "
					       "SL-to-VL maps");
	return m->last_number;
}

static int set_pair(struct maps *m, unsigned int in, unsigned int out,
		    dl_tables_sl2vl_row row)
{
	const struct dl_fabric_node *n =
		dl_tables_switch_node(m->t->fabric, m->sw);
	uint16_t *entry = &m->t->sl2vl[m->t->sl2vl_first[m->sw] +
				       in * (n->nports + 1) + out];
	int number = number_of(m, row);

	if (number < 0)
		return number;
	if (*entry != DL_TABLES_NO_ROW && *entry != number)
		return dl_text_error(&m->text, "a second, different map for "
					       "this pair of ports");
	*entry = number;
	return 0;
}

static int read_pair(struct maps *m, unsigned int *in, unsigned int *out)
{
	const struct dl_fabric_node *n =
		dl_tables_switch_node(m->t->fabric, m->sw);
	int err = dl_tables_read_port(&m->text, n, 10, in);

	return err ? err : dl_tables_read_port(&m->text, n, 10, out);
}

/* ---- opensm-sl2vl.dump ------------------------------------------------- */

static int read_end_port(struct maps *m)
{
	const struct dl_fabric *f = m->t->fabric;
	uint64_t guid, lid;
	int err = dl_text_number(&m->text, 16, UINT64_MAX, "a port's GUID",
				 &guid);

	if (!err && !dl_text_take_string(&m->text, ", base LID"))
		err = dl_text_expected(&m->text, "\", base LID\"");
	if (!err)
		err = dl_text_number(&m->text, 10, DL_FABRIC_MAX_LID, "a LID",
				     &lid);
	if (err)
		return err;
	m->end_port = lid <= f->top_lid ? f->lid_port[lid] : DL_NONE;
	if (m->end_port == DL_NONE || !f->ports[m->end_port].num)
		return dl_text_error(&m->text,
				     "no adapter in the fabric has "
				     "LID %" PRIu64,
				     lid);
	if (f->ports[m->end_port].guid && f->ports[m->end_port].guid != guid)
		return dl_text_error(&m->text,
				     "LID %" PRIu64 " belongs to port "
				     "0x%016" PRIx64 " in the fabric",
				     lid, f->ports[m->end_port].guid);
	return 0;
}

/* 1: the line names whose maps follow; 0: it does not. */
static int take_head(struct maps *m)
{
	static const char *const others[] = { "Channel Adapter", "Router", "CA",
					      NULL };
	int err;

	if (dl_text_take_string(&m->text, "Switch")) {
		m->end_port = DL_NONE;
		err = dl_tables_read_switch(&m->text, m->t->fabric, &m->sw);
		return err ? err : 1;
	}
	for (unsigned int i = 0; others[i]; i++) {
		if (!dl_text_take_string(&m->text, others[i]))
			continue;
		m->sw = DL_NONE;
		err = read_end_port(m);
		return err ? err : 1;
	}
	return 0;
}

static int read_vls(struct dl_text *text, dl_tables_sl2vl_row *row)
{
	*row = 0;
	if (!dl_text_take(text, ':'))
		return dl_text_expected(text, "\":\"");
	for (unsigned int sl = 0; sl < 16; sl++) {
		uint64_t vl;
		int err = dl_text_number(text, 10, 15, "a VL, 0 to 15", &vl);

		if (err)
			return err;
		*row |= vl << 4 * sl;
	}
	return dl_tables_read_end(text);
}

static int read_line(struct maps *m)
{
	unsigned int in, out;
	dl_tables_sl2vl_row row;
	uint64_t ignored;
	int err;

	if (m->sw != DL_NONE) {
		err = read_pair(m, &in, &out);
		if (!err)
			err = read_vls(&m->text, &row);
		return err ? err : set_pair(m, in, out, row);
	}
	if (m->end_port == DL_NONE)
		return dl_text_expected(&m->text, "\"Switch\" and its GUID");
	err = dl_text_number(&m->text, 10, 255, "a port number", &ignored);
	if (!err)
		err = dl_text_number(&m->text, 10, 255, "a port number",
				     &ignored);
	if (!err)
		err = read_vls(&m->text, &row);
	if (!err)
		err = number_of(m, row);
	if (err < 0)
		return err;
	m->t->end_sl2vl[m->end_port] = err;
	return 0;
}

int dl_tables_read_sl2vl(struct dl_tables *t, FILE *from, const char *name,
			 const struct dl_log *log)
{
	struct maps m = {
		.t = t,
		.sw = DL_NONE,
		.end_port = DL_NONE,
		.last_number = -1,
	};
	int err = 0, state;

	dl_text_begin(&m.text, from, name, log);
	while (!err && (state = dl_text_next(&m.text)) > 0) {
		if (dl_text_at_end(&m.text) || *m.text.at == '#')
			continue;
		err = take_head(&m);
		if (!err)
			err = read_line(&m);
		else if (err > 0)
			err = 0;
	}
	dl_text_end(&m.text);
	return err ? err : state;
}

/* ---- dateline-slvl.dump ------------------------------------------------ */

static int read_hex_pairs(struct dl_text *text, dl_tables_sl2vl_row *row)
{
	*row = 0;
	for (unsigned int sl = 0; sl < 16; sl += 2) {
		uint64_t two;
		int err = dl_text_number(text, 16, 0xFF,
					 "the VLs of two SLs, 0x00 to 0xff",
					 &two);

		if (err)
			return err;
		*row |= (two >> 4) << 4 * sl | (two & 15) << 4 * (sl + 1);
	}
	return dl_tables_read_end(text);
}

int dl_tables_read_slvl(struct dl_tables *t, FILE *from, const char *name,
			const struct dl_log *log)
{
	struct maps m = { .t = t, .last_number = -1 };
	int err = 0, state;

	dl_text_begin(&m.text, from, name, log);
	while (!err && (state = dl_text_next(&m.text)) > 0) {
		unsigned int in, out;
		dl_tables_sl2vl_row row;

		if (dl_text_at_end(&m.text) || *m.text.at == '#')
			continue;
		err = dl_tables_read_switch(&m.text, t->fabric, &m.sw);
		if (!err)
			err = read_pair(&m, &in, &out);
		if (!err)
			err = read_hex_pairs(&m.text, &row);
		if (!err)
			err = set_pair(&m, in, out, row);
	}
	dl_text_end(&m.text);
	return err ? err : state;
}
