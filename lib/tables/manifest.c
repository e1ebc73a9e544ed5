/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The manifest of an export: dateline-snapshot(5) describes it. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tables/internal.h"

/* ---- the names of an export's files -------------------------------------- */

const char *const dl_tables_file_names[DL_TABLES_NFILES] = {
	[DL_TABLES_LFTS] = "opensm-lfts.dump",	 [DL_TABLES_FDBS] = "opensm.fdbs",
	[DL_TABLES_MCFDBS] = "opensm.mcfdbs",	 [DL_TABLES_SL2VL] = "opensm-sl2vl.dump",
	[DL_TABLES_SLVL] = "dateline-slvl.dump", [DL_TABLES_VLARB] = "dateline-vlarb.dump",
	[DL_TABLES_PSL] = "dateline-psl.dump",
};

const char *dl_snapshot_own_name(unsigned int i)
{
	static const char *const first[] = { DL_SNAPSHOT_NET, DL_SNAPSHOT_SUBNET };

	if (i < 2)
		return first[i];
	i -= 2;
	for (unsigned int n = 0; dl_snapshot_note_names[n]; n++)
		if (i-- == 0)
			return dl_snapshot_note_names[n];
	return i < DL_TABLES_NFILES ? dl_tables_file_names[i] : NULL;
}

bool dl_snapshot_is_own_name(const char *name)
{
	const char *own;

	for (unsigned int i = 0; (own = dl_snapshot_own_name(i)); i++)
		if (!strcmp(own, name))
			return true;
	return false;
}

const struct dl_snapshot_file *dl_snapshot_listed(const struct dl_snapshot_manifest *m,
						  const char *name)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (!strcmp(m->files[i].name, name))
			return &m->files[i];
	return NULL;
}

int dl_snapshot_list(struct dl_snapshot_manifest *m, const struct dl_snapshot_file *f)
{
	if (!dl_array_room(m->files, m->n, 1, &m->cap))
		return -ENOMEM;
	m->files[m->n++] = *f;
	return 0;
}

/* ---- writing -------------------------------------------------------------- */

int dl_snapshot_write_manifest(const struct dl_snapshot_manifest *m, FILE *to)
{
	int err = dl_snapshot_write_about(&m->about, to);

	for (uint32_t i = 0; i < m->n; i++)
		fprintf(to, "file 0x%016" PRIx64 " %" PRIu64 " %s\n", m->files[i].checksum,
			m->files[i].bytes, m->files[i].name);
	return err;
}

/* ---- reading -------------------------------------------------------------- */

#define BYTES_MAX (1 << 20)
#define LAST "end 0x"

struct reader {
	struct dl_text text;
	struct dl_snapshot_manifest *m;
};

/* Words up to the end of the line, of at most size - 1 printable bytes. */
static int read_word(struct dl_text *text, const char *what, char *word, size_t size)
{
	size_t len;

	if (dl_text_at_end(text))
		return dl_text_expected(text, what);
	len = strlen(text->at);
	if (len >= size)
		return dl_text_expected(text, what);
	for (size_t i = 0; i < len; i++)
		if (!isprint((unsigned char)text->at[i]))
			return dl_text_expected(text, what);
	memcpy(word, text->at, len + 1);
	if (!strcmp(word, "-"))
		*word = '\0';
	return 0;
}

static int read_format(struct reader *r)
{
	uint64_t format;
	int err = dl_text_number(&r->text, 10, UINT32_MAX, "the format's number", &format);

	if (!err && format != DL_SNAPSHOT_FORMAT)
		err = dl_text_error(&r->text,
				    "this snapshot has format %" PRIu64 ": expected %d, "
				    "the only one that this version reads",
				    format, DL_SNAPSHOT_FORMAT);
	return err;
}

static int read_written(struct reader *r)
{
	uint64_t written;
	int err = dl_text_number(&r->text, 10, INT64_MAX, "seconds since 1970", &written);

	r->m->about.written = err ? 0 : (int64_t)written;
	return err;
}

static int read_engine(struct reader *r)
{
	return read_word(&r->text, "the engine's name", r->m->about.engine,
			 sizeof(r->m->about.engine));
}

static int read_mode(struct reader *r)
{
	return read_word(&r->text, "the engine's mode", r->m->about.mode, sizeof(r->m->about.mode));
}

static int manifest_read_sls(struct reader *r)
{
	char word[32];
	int err = read_word(&r->text, "where path SLs come from", word, sizeof(word));

	if (err)
		return err;
	for (unsigned int i = 0; dl_snapshot_sls_words[i]; i++) {
		if (!strcmp(word, dl_snapshot_sls_words[i])) {
			r->m->about.sls = i;
			return 0;
		}
	}
	return dl_text_error(&r->text, "\"%s\": expected where path SLs come from", word);
}

static int manifest_read_fabric(struct reader *r)
{
	return dl_text_number(&r->text, 16, UINT64_MAX, "the fabric's number", &r->m->about.fabric);
}

static int manifest_read_file(struct reader *r)
{
	struct dl_snapshot_manifest *m = r->m;
	struct dl_snapshot_file f = { .bytes = 0 };
	int err = dl_text_number(&r->text, 16, UINT64_MAX, "a checksum", &f.checksum);

	if (!err)
		err = dl_text_number(&r->text, 10, INT64_MAX, "a size in bytes", &f.bytes);
	if (!err)
		err = read_word(&r->text, "a file's name", f.name, sizeof(f.name));
	if (err)
		return err;
	if (!*f.name || *f.name == '.' || strchr(f.name, '/'))
		return dl_text_error(&r->text, "expected the name of a file in this directory");
	if (m->n == DL_SNAPSHOT_FILES_MAX)
		return dl_text_error(&r->text, "expected at most %d files", DL_SNAPSHOT_FILES_MAX);
	if (dl_snapshot_listed(m, f.name))
		return dl_text_error(&r->text, "\"%s\" a second time", f.name);
	return dl_snapshot_list(m, &f);
}

static const struct {
	const char *word;
	int (*read)(struct reader *r);
} lines[] = {
	{ "dateline-snapshot ", read_format },
	{ "written ", read_written },
	{ "engine ", read_engine },
	{ "mode ", read_mode },
	{ "path-sls ", manifest_read_sls },
	{ "fabric ", manifest_read_fabric },
	{ "file ", manifest_read_file },
};

#define NLINES (sizeof(lines) / sizeof(*lines))

/* All but the files, in order and once. */
static int read_lines(struct reader *r)
{
	unsigned int next = 0;
	int state;

	while ((state = dl_text_next(&r->text)) > 0) {
		int err;

		if (!dl_text_take_string(&r->text, lines[next].word))
			return dl_text_expected(&r->text, lines[next].word);
		err = lines[next].read(r);
		if (err)
			return err;
		next += next < NLINES - 1;
	}
	if (!state && next < NLINES - 1)
		state = dl_text_error(&r->text, "the text ends here: expected more");
	return state;
}

int dl_snapshot_read_about(const char *text, size_t len, const char *name, const struct dl_log *log,
			   struct dl_snapshot_manifest *m)
{
	FILE *from = len ? fmemopen((void *)text, len, "r") : NULL;
	struct reader r = { .m = m };
	int err;

	if (len && !from)
		return -ENOMEM;
	dl_text_begin(&r.text, from, name, log);
	r.text.whole = true;
	err = from ? read_lines(&r) : dl_text_error(&r.text, "it is empty");
	dl_text_end(&r.text);
	if (from)
		fclose(from);
	return err;
}

/* The length of what the last line vouches for; 0: it does not. */
static size_t manifest_vouched(const char *text, size_t len)
{
	const char *last;
	uint64_t sum;

	if (len < 2 || text[len - 1] != '\n')
		return 0;
	last = memrchr(text, '\n', len - 1);
	if (!last || strncmp(++last, LAST, sizeof(LAST) - 1))
		return 0;
	if (*dl_number_scan(last + 4, 16, &sum) != '\n')
		return 0;
	return sum == dl_tables_sum_of(text, last - text) ? last - text : 0;
}

int dl_snapshot_read_manifest(FILE *from, const char *name, const struct dl_log *log,
			      struct dl_snapshot_manifest *m)
{
	char *text = malloc(BYTES_MAX);
	size_t len = text ? fread(text, 1, BYTES_MAX - 1, from) : 0;
	int err = text ? 0 : -ENOMEM;

	if (text) {
		text[len] = '\0';
		len = manifest_vouched(text, len);
		if (!len) {
			dl_log(log, DL_LOG_ERROR,
			       "%s: this manifest is cut or damaged: write the snapshot again",
			       name);
			err = -EINVAL;
		}
	}
	if (!err)
		err = dl_snapshot_read_about(text, len, name, log, m);
	m->about.sum = err ? 0 : dl_tables_sum_of(text, len);
	free(text);
	return err;
}
