/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The tables, so that the page can follow any packet.
 *
 * Problem.  The forwarding tables of a 16x16x16 torus are 33 million bytes,
 * its path SLs 17 million.  They say little: neighbouring switches send
 * neighbouring destinations the same way.  Written in the page's order, where
 * neighbours stand side by side, they compress to a hundredth and less.
 *
 * Layout, all row by row:
 *
 *   lft     a byte for each switch and LID in use (the order of `lids`)
 *   sl2vl   16 bits for each switch, input and output port 0..ports: the
 *           number of a row in `rows`, or 0xFFFF; then one for each end that
 *           is no switch
 *   psl     a byte for each class of sources and of destinations
 *   mcast   for each group and switch, a bit for each port 0..ports, in
 *           `mask_bytes` bytes, lowest first
 *
 * A map is written as the port works it: a VL that the port does not operate
 * becomes 15, which drops the packet (as in the proof, verify/net.c).
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "report.h"

/* ---- compressed bytes in base64 ---------------------------------------- */

#define CHUNK 49152 /* divisible by 3 */

struct blob {
	FILE *to;
	z_stream z;
	unsigned char out[CHUNK];
	int err;
};

static void put_base64(struct blob *b, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		uint32_t v = b->out[i] << 16;
		char four[4];

		v |= i + 1 < n ? b->out[i + 1] << 8 : 0;
		v |= i + 2 < n ? b->out[i + 2] : 0;
		for (unsigned int d = 0; d < 4; d++)
			four[d] = digits[v >> (18 - 6 * d) & 63];
		if (i + 2 >= n)
			four[3] = '=';
		if (i + 1 >= n)
			four[2] = '=';
		fwrite(four, 1, 4, b->to);
	}
}

static void blob_put(struct blob *b, const void *data, size_t n, int flush)
{
	int state = Z_OK;

	b->z.next_in = (unsigned char *)data;
	b->z.avail_in = n;
	while (!b->err && state != Z_STREAM_END) {
		state = deflate(&b->z, flush);
		if (state == Z_STREAM_ERROR)
			b->err = -EIO;
		if (b->z.avail_out && flush != Z_FINISH)
			break;
		if (!b->z.avail_out || state == Z_STREAM_END) {
			put_base64(b, CHUNK - b->z.avail_out);
			b->z.next_out = b->out;
			b->z.avail_out = CHUNK;
		}
	}
}

static int blob_begin(struct blob *b, const char *name, FILE *to)
{
	memset(b, 0, sizeof(*b));
	if (deflateInit(&b->z, Z_DEFAULT_COMPRESSION) != Z_OK)
		return -ENOMEM;
	b->to = to;
	b->z.next_out = b->out;
	b->z.avail_out = CHUNK;
	fprintf(to, "<script type=\"text/plain\" id=\"%s\">", name);
	return 0;
}

static int blob_end(struct blob *b)
{
	blob_put(b, NULL, 0, Z_FINISH);
	deflateEnd(&b->z);
	fputs("</script>\n", b->to);
	return b->err;
}

/* ---- forwarding, path SLs, groups -------------------------------------- */

static void report_put_lft(const struct report_page *p, struct blob *b)
{
	uint8_t *row = malloc(p->nlids + 1);

	b->err = row ? 0 : -ENOMEM;
	for (uint32_t i = 0; row && i < p->fabric->nswitches; i++) {
		for (uint32_t l = 0; l < p->nlids; l++)
			row[l] = dl_tables_lft(p->tables, p->switches[i], p->lids[l]);
		blob_put(b, row, p->nlids, Z_NO_FLUSH);
	}
	free(row);
}

static void report_put_psl(const struct report_page *p, struct blob *b)
{
	const struct dl_tables *t = p->tables;

	for (uint32_t s = 0; t->psl && s < t->npsl_src; s++)
		blob_put(b, &t->psl[s * (size_t)t->npsl_dst], t->npsl_dst, Z_NO_FLUSH);
}

static unsigned int mask_bytes(const struct report_page *p)
{
	unsigned int most = 0;

	for (uint32_t s = 0; s < p->fabric->nswitches; s++) {
		unsigned int n = p->fabric->nodes[p->fabric->switches[s]].nports;

		most = n > most ? n : most;
	}
	return most / 8 + 1;
}

static void report_put_mcast(const struct report_page *p, struct blob *b)
{
	unsigned int bytes = mask_bytes(p);

	for (uint32_t g = 0; g < p->tables->ngroups; g++)
		for (uint32_t i = 0; i < p->fabric->nswitches; i++) {
			const uint64_t *words =
				dl_tables_mask(&p->tables->groups[g].masks, p->switches[i]);
			uint8_t mask[DL_TABLES_MASK_WORDS * 8];

			for (unsigned int k = 0; k < bytes; k++)
				mask[k] = words[k / 8] >> k % 8 * 8;
			blob_put(b, mask, bytes, Z_NO_FLUSH);
		}
}

/* ---- SL-to-VL maps ----------------------------------------------------- */

#define VL_COUNTS 17

/* Maps as ports work them, each once. */
struct maps {
	dl_tables_sl2vl_row *row;
	uint32_t n;
	uint16_t *number; /* by VL count and row of the tables */
	uint32_t width;
};

static dl_tables_sl2vl_row as_worked(dl_tables_sl2vl_row row, unsigned int vls)
{
	dl_tables_sl2vl_row result = 0;

	if (!vls)
		return row;
	for (unsigned int sl = 0; sl < 16; sl++) {
		unsigned int vl = dl_tables_sl2vl_get(row, sl);

		result |= (uint64_t)(vl < vls ? vl : 15) << 4 * sl;
	}
	return result;
}

static int maps_init(struct maps *m, const struct dl_tables *t)
{
	uint32_t most;

	m->n = 0;
	m->width = t->nrows + 1;
	most = m->width * VL_COUNTS;
	m->row = malloc(most * sizeof(*m->row));
	m->number = malloc(most * sizeof(*m->number));
	if (!m->row || !m->number)
		return -ENOMEM;
	memset(m->number, 0xFF, most * sizeof(*m->number));
	return 0;
}

static void maps_release(struct maps *m)
{
	free(m->row);
	free(m->number);
}

/* The number of a row; all but a few look-ups find it in the memory. */
static uint16_t map_number(struct maps *m, const struct dl_tables *t, uint16_t row,
			   unsigned int vls)
{
	uint16_t *slot;

	if (row == DL_TABLES_NO_ROW)
		return DL_TABLES_NO_ROW;
	if (vls >= VL_COUNTS)
		vls = 0;
	slot = &m->number[vls * m->width + row];
	if (*slot == DL_TABLES_NO_ROW && m->n < DL_TABLES_NO_ROW) {
		m->row[m->n] = as_worked(t->rows[row], vls);
		*slot = m->n++;
	}
	return *slot;
}

/*
 * One switch's map of port pairs.  `bytes` has room for it; returns how many
 * were used.
 */
static size_t switch_maps(const struct report_page *p, struct maps *m, uint32_t sw, uint8_t *bytes)
{
	const struct dl_tables *t = p->tables;
	const struct dl_fabric_node *n = &p->fabric->nodes[p->fabric->switches[sw]];
	uint32_t at = t->sl2vl_first[sw];
	size_t used = 0;

	for (unsigned int i = 0; i <= n->nports; i++)
		for (unsigned int o = 0; o <= n->nports; o++, at++) {
			unsigned int vls = o ? p->fabric->ports[n->first_port + o].vls : 0;
			uint16_t v = map_number(m, t, t->sl2vl[at], vls);

			bytes[used++] = v & 0xFF;
			bytes[used++] = v >> 8;
		}
	return used;
}

/* Calls for every switch, then for the ends; b NULL: only number the rows. */
static int put_maps(const struct report_page *p, struct maps *m, struct blob *b)
{
	uint8_t *bytes = malloc(2 * 256 * 256);

	if (!bytes)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->fabric->nswitches; i++) {
		size_t n = switch_maps(p, m, p->switches[i], bytes);

		if (b)
			blob_put(b, bytes, n, Z_NO_FLUSH);
	}
	for (uint32_t i = p->fabric->nswitches; i < p->nends; i++) {
		uint32_t port = p->ends[i];
		uint16_t v = map_number(m, p->tables, p->tables->end_sl2vl[port],
					p->fabric->ports[port].vls);

		bytes[0] = v & 0xFF;
		bytes[1] = v >> 8;
		if (b)
			blob_put(b, bytes, 2, Z_NO_FLUSH);
	}
	free(bytes);
	return 0;
}

static void report_put_sl2vl(const struct report_page *p, struct blob *b)
{
	struct maps m;

	if (maps_init(&m, p->tables) || put_maps(p, &m, b))
		b->err = -ENOMEM;
	maps_release(&m);
}

/* ---- what describes them ----------------------------------------------- */

static json_t *rows_json(const struct report_page *p)
{
	json_t *list = NULL;
	struct maps m;
	char text[17];

	if (!maps_init(&m, p->tables) && !put_maps(p, &m, NULL))
		list = json_array();
	/* The VL of SL 0 first. */
	for (uint32_t i = 0; list && i < m.n; i++) {
		for (unsigned int sl = 0; sl < 16; sl++)
			snprintf(&text[sl], 2, "%x", dl_tables_sl2vl_get(m.row[i], sl));
		json_array_append_new(list, json_string(text));
	}
	maps_release(&m);
	return list;
}

static json_t *classes_json(const struct report_page *p)
{
	const struct dl_tables *t = p->tables;
	json_t *src = json_array(), *dst = json_array();

	for (uint32_t i = 0; t->psl && i < p->nends; i++)
		report_push(src, report_or_minus(t->psl_src[p->ends[i]]));
	for (uint32_t l = 0; t->psl && l < p->nlids; l++)
		report_push(dst, p->lids[l] <= t->top_lid ?
					 report_or_minus(t->psl_dst[p->lids[l]]) :
					 -1);
	return json_pack("{s:o, s:o, s:i}", "src", src, "dst", dst, "width",
			 t->psl ? t->npsl_dst : 0);
}

json_t *report_tables(const struct report_page *p)
{
	json_t *lids = json_array(), *owner = json_array();
	json_t *groups = json_array();

	for (uint32_t l = 0; l < p->nlids; l++) {
		report_push(lids, p->lids[l]);
		report_push(owner, p->end_of[p->fabric->lid_port[p->lids[l]]]);
	}
	for (uint32_t g = 0; g < p->tables->ngroups; g++)
		report_push(groups, p->tables->groups[g].mlid);
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:i}", "lids", lids, "owner", owner, "rows",
			 rows_json(p), "psl", classes_json(p), "groups", groups, "mask_bytes",
			 mask_bytes(p));
}

int report_write_tables(const struct report_page *p, FILE *to)
{
	static const struct {
		const char *name;
		void (*put)(const struct report_page *p, struct blob *b);
	} tables[] = {
		{ "lft", report_put_lft },
		{ "psl", report_put_psl },
		{ "sl2vl", report_put_sl2vl },
		{ "mcast", report_put_mcast },
	};
	struct blob *b = malloc(sizeof(*b));
	int err = b ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < sizeof(tables) / sizeof(*tables); i++) {
		err = blob_begin(b, tables[i].name, to);
		if (err)
			break;
		tables[i].put(p, b);
		err = blob_end(b);
	}
	free(b);
	return err;
}
