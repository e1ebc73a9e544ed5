/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reading a compact snapshot; see pack.h for its form.
 *
 * Hostile files.  A few bytes may unfold to gigabytes.  So the length of each
 * section must be that which the fabric calls for, and fit into the content
 * that the head announces, before memory is taken for it; and no more can be
 * announced than tables of the file's size hold.  Tables unfold straight to
 * where they belong.
 */
#include "config.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "tables/internal.h"
#include "tables/pack.h"

#define IN_BYTES (1 << 18)
#define SHOWN (1 << 20) /* bytes of content from one progress to the next */
#define TEXT_MAX (1u << 28)
#define WINDOW_LOG_MAX 24 /* a window of 16 MB; the writer's is far smaller */

struct unpack {
	FILE *from;
	const char *name;
	const struct dl_log *log;
	ZSTD_DCtx *z;
	ZSTD_inBuffer in;
	char *buffer;
	struct dl_tables_sum *sum;
	struct dl_pack_head head;
	uint64_t left;	  /* of the content */
	uint64_t total;	  /* content */
	uint64_t shown;	  /* report progress when less than this is left */
	uint64_t section; /* of the present section */
	char tag[DL_PACK_TAG + 1];
	bool at_end; /* of the frame */
	struct dl_snapshot *s;
	struct dl_tables_masks_seen seen;
};

#define unpack_damaged(u, format, ...)                                                        \
	dl_fail((u)->log, -EINVAL, "%s: this snapshot is cut or damaged: " format, (u)->name, \
		##__VA_ARGS__)

/* ---- bytes ------------------------------------------------------------- */

static int unpack_refill(struct unpack *u)
{
	if (u->in.pos < u->in.size)
		return 0;
	u->in.size = fread(u->buffer, 1, IN_BYTES, u->from);
	u->in.pos = 0;
	return u->in.size ? 0 : unpack_damaged(u, "it ends too early");
}

static int get_raw(struct unpack *u, void *to, size_t len)
{
	ZSTD_outBuffer out = { to, len, 0 };

	if (len > u->left)
		return unpack_damaged(u, "section %s is too long", u->tag);
	while (out.pos < len) {
		size_t hint, before = out.pos;
		int err = u->at_end ? unpack_damaged(u, "it holds less than it announces") :
				      unpack_refill(u);

		if (err)
			return err;
		hint = ZSTD_decompressStream(u->z, &out, &u->in);
		if (ZSTD_getErrorCode(hint) == ZSTD_error_memory_allocation)
			return -ENOMEM;
		if (ZSTD_isError(hint))
			return unpack_damaged(u, "%s", ZSTD_getErrorName(hint));
		u->at_end = !hint;
		dl_tables_sum_add(u->sum, (char *)to + before, out.pos - before);
		u->left -= out.pos - before;
		if (u->left < u->shown) {
			u->shown = u->left > SHOWN ? u->left - SHOWN : 0;
			dl_progress(u->log, "unpacking", " MB", 1e-6 * (u->total - u->left),
				    1e-6 * u->total);
		}
	}
	return 0;
}

/* Bytes of the present section. */
static int unpack_get(struct unpack *u, void *to, size_t len)
{
	if (len > u->section)
		return unpack_damaged(u, "section %s is too short", u->tag);
	u->section -= len;
	return get_raw(u, to, len);
}

static int get_words(struct unpack *u, void *to, size_t size, size_t n)
{
	int err = unpack_get(u, to, n * size);

	if (!err)
		dl_pack_order(to, size, n);
	return err;
}

#define GET(u, to, n) get_words(u, to, sizeof(*(to)), n)

static int next_section(struct unpack *u)
{
	int err = get_raw(u, u->tag, DL_PACK_TAG);

	u->section = sizeof(u->section);
	if (!err)
		err = GET(u, &u->section, 1);
	for (unsigned int i = 0; !err && i < DL_PACK_TAG && u->tag[i]; i++)
		if (u->tag[i] < 'a' || u->tag[i] > 'z')
			if (u->tag[i] < '0' || u->tag[i] > '9')
				err = unpack_damaged(u, "expected a section");
	if (!err && u->section > u->left)
		err = unpack_damaged(u, "section %s is longer than the rest", u->tag);
	return err;
}

static int expect_section(struct unpack *u, const char *tag)
{
	int err = next_section(u);

	if (!err && strcmp(u->tag, tag))
		err = unpack_damaged(u, "section %s where %s was expected", u->tag, tag);
	return err;
}

/* A section must be as long as what is in it. */
static int expect_bytes(struct unpack *u, uint64_t len)
{
	if (u->section == len)
		return 0;
	return unpack_damaged(u, "section %s has %" PRIu64 " bytes for %" PRIu64, u->tag,
			      u->section, len);
}

/* The rest of the section as text, which grows as it comes. */
static int get_text(struct unpack *u, char **text, size_t *len)
{
	uint32_t cap = 0;
	char *at = NULL;
	int err = 0;

	if (u->section > TEXT_MAX)
		return unpack_damaged(u, "section %s is too long", u->tag);
	*len = 0;
	do {
		size_t n = u->section < IN_BYTES ? u->section : IN_BYTES;

		if (!dl_array_room(at, *len, n + 1, &cap))
			err = -ENOMEM;
		if (!err)
			err = unpack_get(u, at + *len, n);
		if (!err && memchr(at + *len, '\0', n) && strcmp(u->tag, DL_PACK_NOTE))
			err = unpack_damaged(u, "a byte 0 in section %s", u->tag);
		*len += n;
	} while (!err && u->section);
	if (err) {
		free(at);
		return err;
	}
	at[*len] = '\0';
	*text = at;
	return 0;
}

/* ---- sections ---------------------------------------------------------- */

static int read_about(struct unpack *u)
{
	struct dl_snapshot_manifest m = { .n = 0 };
	char *text = NULL;
	size_t len;
	int err = expect_section(u, DL_PACK_ABOUT);

	if (!err)
		err = get_text(u, &text, &len);
	if (!err)
		err = dl_snapshot_read_about(text, len, u->name, u->log, &m);
	if (!err && m.n)
		err = unpack_damaged(u, "unexpected list of files");
	u->s->about = m.about;
	free(m.files);
	free(text);
	return err;
}

/* Nothing beside this file is ever read. */
static bool unpack_includes(const char *text)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += strspn(line, " \t\r\n");
		if (!strncmp(line, "include", 7))
			return true;
	}
	return false;
}

static int unpack_read_netlist(struct unpack *u)
{
	char *text = NULL;
	FILE *from = NULL;
	size_t len;
	int err = expect_section(u, DL_PACK_NETLIST);

	if (!err)
		err = get_text(u, &text, &len);
	if (!err && (!len || unpack_includes(text)))
		err = unpack_damaged(u, "the netlist is not a snapshot's");
	if (!err) {
		from = fmemopen(text, len, "r");
		err = from ? dl_fabric_read_netlist_stream(from, u->name, u->log, &u->s->fabric) :
			     -ENOMEM;
	}
	if (from)
		fclose(from);
	free(text);
	if (!err && u->s->about.fabric != dl_snapshot_fabric_id(u->s->fabric))
		err = unpack_damaged(u, "the fabric number does not match");
	return err;
}

static int read_lfts(struct unpack *u)
{
	struct dl_fabric *f = u->s->fabric;
	const uint32_t want[] = { f->nnodes, f->nports, f->nswitches };
	uint64_t rows = 0;
	uint32_t sizes[4];
	int err = expect_section(u, DL_PACK_LFTS);

	if (!err)
		err = GET(u, sizes, 4);
	/* The highest LIDs may be of nodes that have gone. */
	if (!err && (memcmp(sizes, want, sizeof(want)) || sizes[3] < f->top_lid || !sizes[3] ||
		     sizes[3] > DL_FABRIC_MAX_LID))
		err = unpack_damaged(u, "the tables are those of another fabric");
	if (!err) {
		rows = (sizes[3] / 64 + 1) * UINT64_C(64) * f->nswitches;
		err = expect_bytes(u, rows);
	}
	if (!err)
		err = dl_fabric_widen(f, sizes[3]);
	if (!err)
		err = dl_tables_new(f, &u->s->tables);
	return err ? err : unpack_get(u, u->s->tables->lft, rows);
}

static int read_sl2vl(struct unpack *u)
{
	struct dl_tables *t = u->s->tables;
	uint32_t nports = t->fabric->nports, n = 0;
	size_t pairs = t->sl2vl_first[t->fabric->nswitches];
	uint64_t row;
	int err = expect_section(u, DL_PACK_SL2VL);

	if (!err)
		err = GET(u, &n, 1);
	if (!err && n >= DL_TABLES_NO_ROW)
		err = unpack_damaged(u, "too many SL-to-VL maps");
	if (!err)
		err = expect_bytes(u, n * UINT64_C(8) + (pairs + nports) * 2);
	for (uint32_t i = 0; !err && i < n; i++) {
		int number = 0;

		err = GET(u, &row, 1);
		if (!err)
			number = dl_tables_row(t, row);
		if (!err && number == -ENOMEM)
			err = number;
		else if (!err && number != (int)i)
			err = unpack_damaged(u, "an SL-to-VL map is there twice");
	}
	if (!err)
		err = GET(u, t->sl2vl, pairs);
	return err ? err : GET(u, t->end_sl2vl, nports);
}

static int read_arb(struct unpack *u, uint32_t number)
{
	struct dl_tables_vlarb a;
	uint8_t counts[3];
	int err, n;

	memset(&a, 0, sizeof(a));
	err = unpack_get(u, a.high, sizeof(a.high));
	if (!err)
		err = unpack_get(u, a.low, sizeof(a.low));
	if (!err)
		err = unpack_get(u, counts, sizeof(counts));
	if (err)
		return err;
	a.nhigh = counts[0];
	a.nlow = counts[1];
	a.high_limit = counts[2];
	for (unsigned int i = 0; i < 64; i++)
		if (a.high[i].vl > 15 || a.low[i].vl > 15)
			return unpack_damaged(u, "a VL above 15");
	n = dl_tables_arb(u->s->tables, &a);
	if (n < 0)
		return n;
	return n == (int)number ? 0 : unpack_damaged(u, "an arbitration table is there twice");
}

static int read_vlarb(struct unpack *u)
{
	struct dl_tables *t = u->s->tables;
	uint32_t nports = t->fabric->nports, n = 0;
	int err = expect_section(u, DL_PACK_VLARB);

	if (!err)
		err = GET(u, &n, 1);
	if (!err && n >= DL_TABLES_NO_ROW)
		err = unpack_damaged(u, "too many arbitration tables");
	if (!err)
		err = expect_bytes(u, n * (uint64_t)DL_PACK_ARB + nports * UINT64_C(2));
	for (uint32_t i = 0; !err && i < n; i++)
		err = read_arb(u, i);
	return err ? err : GET(u, t->vlarb, nports);
}

static int read_psl(struct unpack *u)
{
	struct dl_tables *t = u->s->tables;
	uint32_t nports = t->fabric->nports, nlids = t->top_lid + 1u, sizes[2] = { 0 };
	uint64_t matrix;
	int err = GET(u, sizes, 2);

	if (err)
		return err;
	matrix = (uint64_t)sizes[0] * sizes[1];
	err = expect_bytes(u, 4 * ((uint64_t)nports + nlids) + matrix);
	if (!err)
		err = dl_tables_new_psl(t, sizes[0], sizes[1]);
	if (!err)
		err = GET(u, t->psl_src, nports);
	if (!err)
		err = GET(u, t->psl_dst, nlids);
	return err ? err : unpack_get(u, t->psl, matrix);
}

static unsigned int last_port(const uint64_t *mask)
{
	for (unsigned int w = DL_TABLES_MASK_WORDS; w--;)
		if (mask[w])
			return 64 * w + 63 - __builtin_clzll(mask[w]);
	return 0;
}

static int read_group(struct unpack *u)
{
	struct dl_tables *t = u->s->tables;
	const struct dl_fabric *f = t->fabric;
	struct dl_tables_mcast_group *g;
	uint32_t head[2], ngroups = t->ngroups;
	int err = GET(u, head, 2);

	if (!err && (head[0] < DL_TABLES_MCAST_LID || head[0] > 0xFFFE))
		err = unpack_damaged(u, "0x%04x is not a multicast LID", head[0]);
	if (!err)
		err = expect_bytes(u, head[1] * (uint64_t)DL_PACK_MASK);
	if (err)
		return err;
	g = dl_tables_group(t, head[0]);
	if (!g)
		return -ENOMEM;
	if (t->ngroups == ngroups)
		return unpack_damaged(u, "group 0x%04x is there twice", head[0]);
	for (uint32_t i = 0; !err && i < head[1]; i++) {
		uint64_t mask[DL_TABLES_MASK_WORDS];
		unsigned int nports, last;
		uint64_t *row;
		uint32_t sw;

		err = GET(u, &sw, 1);
		if (!err)
			err = GET(u, mask, DL_TABLES_MASK_WORDS);
		if (!err && sw >= f->nswitches)
			err = unpack_damaged(u, "switch %u of %u", sw, f->nswitches);
		if (err)
			return err;
		nports = dl_fabric_switch_node(f, sw)->nports;
		last = last_port(mask);
		if (last > nports)
			return unpack_damaged(u, "port %u of a switch with %u ports", last, nports);
		row = dl_tables_mask_row(&g->masks, sw);
		if (!row)
			return -ENOMEM;
		memcpy(row, mask, sizeof(mask));
	}
	dl_tables_masks_unite(&g->masks, &u->seen);
	return err;
}

static int unpack_read_note(struct unpack *u)
{
	char *text = NULL, *note;
	size_t len, name;
	int err = 0;

	if (u->s->nnotes == DL_SNAPSHOT_FILES_MAX)
		err = unpack_damaged(u, "more than %d notes", DL_SNAPSHOT_FILES_MAX);
	if (!err)
		err = get_text(u, &text, &len);
	if (err)
		return err;
	name = strlen(text);
	if (name == len || !name || strchr(text, '/') || dl_snapshot_find_note(u->s, text)) {
		free(text);
		return unpack_damaged(u, "a note without a name of its own");
	}
	len -= name + 1;
	note = malloc(len + 1);
	if (note)
		memcpy(note, text + name + 1, len + 1);
	err = dl_snapshot_add_note(u->s, text, note, len);
	free(text);
	return err;
}

static int read_further(struct unpack *u)
{
	int err = next_section(u);

	if (!err && !strcmp(u->tag, DL_PACK_PSL)) {
		err = read_psl(u);
		if (!err)
			err = next_section(u);
	}
	while (!err && strcmp(u->tag, DL_PACK_END)) {
		if (!strcmp(u->tag, DL_PACK_GROUP) && !u->s->nnotes)
			err = read_group(u);
		else if (!strcmp(u->tag, DL_PACK_NOTE))
			err = unpack_read_note(u);
		else
			err = unpack_damaged(u, "section %s where none was expected", u->tag);
		if (!err)
			err = next_section(u);
	}
	return err;
}

/* ---- all --------------------------------------------------------------- */

static int unpack_read_head(struct unpack *u)
{
	struct stat st;

	if (fread(&u->head, sizeof(u->head), 1, u->from) != 1 ||
	    memcmp(u->head.magic, DL_PACK_MAGIC, sizeof(u->head.magic)))
		return unpack_damaged(u, "it does not start like a snapshot");
	if (le32toh(u->head.format) != DL_SNAPSHOT_FORMAT)
		return dl_fail(
			u->log, -EINVAL,
			"%s: this snapshot has format %u: expected %u, the only one that this "
			"version reads",
			u->name, le32toh(u->head.format), DL_SNAPSHOT_FORMAT);
	u->total = u->shown = u->left = le64toh(u->head.bytes);
	if (u->head.zero || fstat(fileno(u->from), &st) || !dl_tables_expected(u->left, st.st_size))
		return unpack_damaged(u, "the header is implausible");
	return 0;
}

/* All is read: is it all there is, and what was written? */
static int check_end(struct unpack *u)
{
	char none;
	ZSTD_outBuffer out = { &none, 1, 0 };
	size_t hint = 1;

	if (u->left || u->section)
		return unpack_damaged(u, "it holds more than it announces");
	while (!u->at_end) {
		int err = unpack_refill(u);

		if (err)
			return err;
		hint = ZSTD_decompressStream(u->z, &out, &u->in);
		if (ZSTD_isError(hint) || out.pos)
			return unpack_damaged(u, "it holds more than it announces");
		u->at_end = !hint;
	}
	if (u->in.pos < u->in.size || getc(u->from) != EOF)
		return unpack_damaged(u, "bytes follow its end");
	return 0;
}

/* Tables in memory may have path SLs to LIDs that nobody has any more; no file has. */
static uint32_t find_stray_sl(const struct dl_tables *t)
{
	for (uint32_t lid = 0; t->psl && lid <= t->top_lid; lid++)
		if (t->psl_dst[lid] != DL_NONE && t->fabric->lid_port[lid] == DL_NONE)
			return lid;
	return DL_NONE;
}

static int check_sum(struct unpack *u, uint64_t checksum)
{
	const char *fault;
	uint32_t stray;

	if (checksum != le64toh(u->head.checksum))
		return unpack_damaged(u, "its checksum is wrong");
	fault = dl_tables_fault(u->s->tables);
	if (fault)
		return unpack_damaged(u, "inconsistent tables: %s", fault);
	stray = find_stray_sl(u->s->tables);
	return stray == DL_NONE ? 0 :
				  unpack_damaged(u, "path SLs to LID %u, which nobody has", stray);
}

static int read_all(struct unpack *u)
{
	static int (*const sections[])(struct unpack * u) = {
		unpack_read_head, read_about, unpack_read_netlist, read_lfts,
		read_sl2vl,	  read_vlarb, read_further,	   check_end,
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(sections) / sizeof(*sections); i++)
		err = sections[i](u);
	return err;
}

int dl_snapshot_unpack(FILE *from, const char *name, const struct dl_log *log,
		       struct dl_snapshot *s)
{
	struct unpack u = { .from = from,
			    .name = name,
			    .log = log,
			    .s = s,
			    .z = ZSTD_createDCtx(),
			    .buffer = malloc(IN_BYTES),
			    .sum = dl_tables_sum_new() };
	uint64_t checksum = 0;
	int err = u.z && u.buffer && u.sum ? 0 : -ENOMEM;

	u.in.src = u.buffer;
	if (!err && ZSTD_isError(ZSTD_DCtx_setParameter(u.z, ZSTD_d_windowLogMax, WINDOW_LOG_MAX)))
		err = -ENOMEM;
	if (!err)
		err = read_all(&u);
	dl_progress(log, "unpacking", " MB", 1, 1);
	if (u.sum)
		checksum = dl_tables_sum_end(u.sum);
	if (!err)
		err = check_sum(&u, checksum);
	s->about.sum = checksum;
	ZSTD_freeDCtx(u.z);
	free(u.buffer);
	return err;
}

int dl_snapshot_is_packed(const char *path)
{
	char magic[8] = "";
	struct stat st;
	FILE *from;

	/* Never a pipe: reading would take from it. */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	from = fopen(path, "re");
	if (!from) /* if access is denied, the reader of the file says so */
		return errno == EACCES ? 0 : -errno;
	if (fread(magic, 1, sizeof(magic), from) != sizeof(magic))
		magic[0] = '\0';
	fclose(from);
	return !memcmp(magic, DL_PACK_MAGIC, sizeof(magic));
}
