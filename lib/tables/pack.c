/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A snapshot in one compact file: see pack.h for its form, and unpack.c for
 * the way back.
 *
 * Tables go through the compressor as they lie in memory, in one pass; what
 * repeats itself from switch to switch, and that is nearly all, shrinks to a
 * fraction of a percent.
 */
#include "config.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "tables/internal.h"
#include "tables/pack.h"

#define OUT_BYTES (1 << 18)
#define LEVEL 1
#define CHUNK (1 << 20) /* summed and compressed at a time */
#define WORDS 4096	/* converted at a time */

struct pack {
	FILE *to;
	ZSTD_CCtx *z;
	struct dl_tables_sum *sum;
	char *out;
	uint64_t bytes; /* put so far */
	uint64_t total; /* of nearly all that there is */
	const struct dl_log *log;
	int err; /* the first that happened */
};

static void pack_compress(struct pack *p, const void *data, size_t len, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = { data, len, 0 };
	size_t left = 1;

	while (!p->err && (in.pos < len || (end == ZSTD_e_end && left))) {
		ZSTD_outBuffer out = { p->out, OUT_BYTES, 0 };

		left = ZSTD_compressStream2(p->z, &out, &in, end);
		if (ZSTD_isError(left))
			p->err = -ENOMEM; /* nothing else can fail */
		else if (fwrite(p->out, 1, out.pos, p->to) != out.pos)
			p->err = -EIO;
	}
}

static void pack_put(struct pack *p, const void *data, size_t len)
{
	for (const char *at = data; len; at += CHUNK) {
		size_t now = len < CHUNK ? len : CHUNK;

		dl_tables_sum_add(p->sum, at, now);
		pack_compress(p, at, now, ZSTD_e_continue);
		p->bytes += now;
		len -= now;
		if (now == CHUNK)
			dl_progress(p->log, "packing", " MB", 1e-6 * p->bytes, 1e-6 * p->total);
	}
}

static void put_words(struct pack *p, const void *from, size_t size, size_t n)
{
	char words[WORDS * sizeof(uint64_t)];

	for (size_t i = 0; i < n; i += WORDS) {
		size_t now = n - i < WORDS ? n - i : WORDS;

		memcpy(words, (const char *)from + i * size, now * size);
		dl_pack_order(words, size, now);
		pack_put(p, words, now * size);
	}
}

#define PUT(p, from, n) put_words(p, from, sizeof(*(from)), n)

static void begin_section(struct pack *p, const char *tag, uint64_t len)
{
	char name[DL_PACK_TAG] = "";

	memcpy(name, tag, strlen(tag));
	pack_put(p, name, sizeof(name));
	PUT(p, &len, 1);
}

/* A text that was written into memory, which goes; `err` is what its writer returned. */
static void put_text(struct pack *p, const char *tag, int err, char *text, size_t len)
{
	if (err)
		p->err = err;
	begin_section(p, tag, len);
	pack_put(p, text, len);
	free(text);
}

static void put_tables(struct pack *p, const struct dl_tables *t)
{
	const struct dl_fabric *f = t->fabric;
	const uint32_t sizes[] = { f->nnodes, f->nports, f->nswitches, t->top_lid };
	size_t pairs = t->sl2vl_first[f->nswitches], lfts = (size_t)f->nswitches * t->stride;

	begin_section(p, DL_PACK_LFTS, sizeof(sizes) + lfts);
	PUT(p, sizes, 4);
	pack_put(p, t->lft, lfts);

	begin_section(p, DL_PACK_SL2VL, 4 + t->nrows * 8ul + (pairs + f->nports) * 2);
	PUT(p, &t->nrows, 1);
	PUT(p, t->rows, t->nrows);
	PUT(p, t->sl2vl, pairs);
	PUT(p, t->end_sl2vl, f->nports);

	begin_section(p, DL_PACK_VLARB, 4 + t->narbs * (size_t)DL_PACK_ARB + f->nports * 2ul);
	PUT(p, &t->narbs, 1);
	for (uint32_t i = 0; i < t->narbs; i++) {
		const struct dl_tables_vlarb *a = &t->arbs[i];
		const uint8_t counts[] = { a->nhigh, a->nlow, a->high_limit };

		pack_put(p, a->high, sizeof(a->high));
		pack_put(p, a->low, sizeof(a->low));
		pack_put(p, counts, sizeof(counts));
	}
	PUT(p, t->vlarb, f->nports);
}

static void put_path_sls(struct pack *p, const struct dl_tables *t)
{
	const uint32_t sizes[] = { t->npsl_src, t->npsl_dst };
	size_t matrix = (size_t)t->npsl_src * t->npsl_dst;
	size_t classes = t->fabric->nports + t->top_lid + 1ul;

	if (!t->psl)
		return;
	begin_section(p, DL_PACK_PSL, sizeof(sizes) + 4 * classes + matrix);
	PUT(p, sizes, 2);
	PUT(p, t->psl_src, t->fabric->nports);
	PUT(p, t->psl_dst, t->top_lid + 1ul);
	pack_put(p, t->psl, matrix);
}

static bool in_group(const struct dl_tables_mcast_group *g, uint32_t sw)
{
	uint64_t any = 0;

	for (unsigned int w = 0; w < DL_TABLES_MASK_WORDS; w++)
		any |= dl_tables_mask(&g->masks, sw)[w];
	return any;
}

/* Of each group those switches that forward it; none without one, as in the text. */
static void pack_put_groups(struct pack *p, const struct dl_tables *t)
{
	const uint32_t nswitches = t->fabric->nswitches;

	for (uint32_t i = 0; i < t->ngroups; i++) {
		const struct dl_tables_mcast_group *g = &t->groups[i];
		uint32_t head[2] = { g->mlid, 0 };

		for (uint32_t s = 0; s < nswitches; s++)
			head[1] += in_group(g, s);
		if (!head[1])
			continue;
		begin_section(p, DL_PACK_GROUP, sizeof(head) + head[1] * (uint64_t)DL_PACK_MASK);
		PUT(p, head, 2);
		for (uint32_t s = 0; s < nswitches; s++) {
			if (!in_group(g, s))
				continue;
			PUT(p, &s, 1);
			PUT(p, dl_tables_mask(&g->masks, s), DL_TABLES_MASK_WORDS);
		}
	}
}

static void put_notes(struct pack *p, const struct dl_snapshot *s)
{
	for (uint32_t i = 0; i < s->nnotes; i++) {
		const struct dl_snapshot_note *n = &s->notes[i];
		size_t len = strlen(n->name) + 1;

		begin_section(p, DL_PACK_NOTE, len + n->len);
		pack_put(p, n->name, len);
		pack_put(p, n->text, n->len);
	}
}

/* What grows with the square of the fabric. */
static uint64_t size_of_tables(const struct dl_tables *t)
{
	return (uint64_t)t->fabric->nswitches * t->stride +
	       2ul * t->sl2vl_first[t->fabric->nswitches] +
	       (t->psl ? (uint64_t)t->npsl_src * t->npsl_dst : 0);
}

static int put_all(struct pack *p, const struct dl_snapshot *s)
{
	struct dl_snapshot_about about = s->about;
	char *text;
	size_t len;
	int err;

	about.fabric = dl_snapshot_fabric_id(s->tables->fabric);
	err = dl_memory_write(&text, &len, to, dl_snapshot_write_about(&about, to));
	put_text(p, DL_PACK_ABOUT, err, text, len);
	err = dl_memory_write(&text, &len, to, dl_fabric_write_netlist(s->tables->fabric, to));
	put_text(p, DL_PACK_NETLIST, err, text, len);
	p->total = p->bytes + size_of_tables(s->tables);
	put_tables(p, s->tables);
	put_path_sls(p, s->tables);
	pack_put_groups(p, s->tables);
	put_notes(p, s);
	begin_section(p, DL_PACK_END, 0);
	pack_compress(p, NULL, 0, ZSTD_e_end);
	dl_progress(p->log, "packing", " MB", 1, 1);
	return p->err;
}

/* Once all is written, its size and checksum are known. */
static int put_head(FILE *to, uint64_t bytes, uint64_t checksum)
{
	struct dl_pack_head head = { .magic = DL_PACK_MAGIC,
				     .format = htole32(DL_SNAPSHOT_FORMAT),
				     .bytes = htole64(bytes),
				     .checksum = htole64(checksum) };

	if (fseeko(to, 0, SEEK_SET) || fwrite(&head, sizeof(head), 1, to) != 1)
		return -EIO;
	return 0;
}

static int pack_snapshot(const struct dl_snapshot *s, FILE *to, const struct dl_log *log)
{
	struct pack p = { .to = to,
			  .log = log,
			  .z = ZSTD_createCCtx(),
			  .sum = dl_tables_sum_new(),
			  .out = malloc(OUT_BYTES) };
	int err = p.z && p.sum && p.out ? put_head(to, 0, 0) : -ENOMEM;
	uint64_t checksum = 0;

	if (!err && ZSTD_isError(ZSTD_CCtx_setParameter(p.z, ZSTD_c_compressionLevel, LEVEL)))
		err = -ENOMEM;
	if (!err)
		err = put_all(&p, s);
	if (p.sum)
		checksum = dl_tables_sum_end(p.sum);
	if (!err)
		err = put_head(to, p.bytes, checksum);
	ZSTD_freeCCtx(p.z);
	free(p.out);
	return err;
}

bool dl_snapshot_names_file(const char *path)
{
	const char *end = strrchr(path, '.');

	return end && !strcmp(end, ".dls");
}

int dl_snapshot_pack(const struct dl_snapshot *s, const char *path, const struct dl_log *log)
{
	int err = s->tables->checked ? 0 : dl_tables_check(s->tables, log);
	struct dl_file f;

	if (err)
		return err;
	err = dl_file_begin(&f, path);
	if (!err)
		err = dl_file_finish(&f, pack_snapshot(s, f.to, log));
	if (!err)
		err = dl_file_place(&f);
	if (err)
		return dl_fail(log, err, "%s: cannot write it: %s", path, strerror(-err));
	return 0;
}
