/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The files of the coordinate cache; see cache_file.h. */
#include "config.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cache_file.h"
#include "dateline/base.h"

#define FILE_NAME "dateline-torus"
#define PREVIOUS ".previous"
#define OTHERS "# The coordinates that followed are others.\n"
#define SEAL "# checksum 0x"
#define SEAL_BYTES (sizeof(SEAL) - 1 + 16 + 1)
#define BYTES_MAX (1 << 20) /* far more than MAX_SEEDS take */
#define MAX_SEEDS 64

/* FNV-1a: it is to tell accidents, not attacks. */
static uint64_t sum_of(const char *text, size_t len)
{
	uint64_t sum = UINT64_C(0xCBF29CE484222325);

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ (unsigned char)text[i]) * UINT64_C(0x100000001B3);
	return sum;
}

/* A file's text without its seal. */
struct content {
	char *text;
	size_t len;
	bool others;
};

/* 0, -ENOENT (there is none), -EUCLEAN (it is not whole) or -ENOMEM. */
static int load(const char *path, struct content *c)
{
	FILE *from = fopen(path, "re");
	struct stat st = { .st_size = 0 };
	uint64_t sum;
	size_t len;

	*c = (struct content){ .text = NULL };
	if (!from && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
		return -ENOMEM; /* what there is may be whole */
	if (!from)
		return errno == ENOENT ? -ENOENT : -EUCLEAN;
	if (fstat(fileno(from), &st) || st.st_size >= BYTES_MAX)
		st.st_size = 0; /* not what has been written */
	c->text = malloc(st.st_size + sizeof(OTHERS));
	len = c->text ? fread(c->text, 1, st.st_size, from) : 0;
	fclose(from);
	if (!c->text)
		return -ENOMEM;
	c->text[len] = '\0';
	c->len = len < SEAL_BYTES ? 0 : len - SEAL_BYTES;
	if (len > SEAL_BYTES && !strncmp(c->text + c->len, SEAL, sizeof(SEAL) - 1) &&
	    !strcmp(dl_number_scan(c->text + len - 17, 16, &sum), "\n") &&
	    sum == sum_of(c->text, c->len)) {
		len = c->len < sizeof(OTHERS) ? 0 : c->len - (sizeof(OTHERS) - 1);
		c->others = len && !strncmp(c->text + len, OTHERS, sizeof(OTHERS) - 1);
		c->len = c->others ? len : c->len;
		return 0;
	}
	free(c->text);
	c->text = NULL;
	return -EUCLEAN;
}

static int parse(const struct content *c, const char *path, struct dl_torus_config **out)
{
	FILE *from = fmemopen(c->text, c->len, "r");
	int err = from ? dl_torus_config_read_stream(from, path, NULL, out) : -ENOMEM;

	if (from)
		fclose(from);
	return err;
}

/* How many seeds begin at a switch of this fabric? */
static uint32_t count_seeds(const struct dl_torus_config *c, const struct dl_fabric *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->nseeds; i++)
		n += dl_fabric_find_guid(f, c->seeds[i].from) != DL_NONE;
	return n;
}

static bool previous_path(char *to, const char *path)
{
	return snprintf(to, PATH_MAX, "%s" PREVIOUS, path) < PATH_MAX;
}

/* One file, or what came before it.  *out is NULL if neither is whole. */
static int read_one(const char *path, const struct dl_fabric *f, const struct dl_log *log,
		    struct dl_torus_config **out)
{
	char previous[PATH_MAX];
	struct content c;
	int err = load(path, &c);
	bool damaged = err == -EUCLEAN;

	*out = NULL;
	if (damaged && previous_path(previous, path))
		err = load(previous, &c);
	if (!err)
		err = parse(&c, path, out);
	free(c.text);
	if (err == -ENOMEM || !damaged)
		return err == -ENOMEM ? err : 0;
	if (err) {
		dl_log(log, DL_LOG_ERROR, "%s is damaged, and nothing replaces it: it is not used",
		       path);
		return 0;
	}
	if (!c.others) {
		dl_log(log, DL_LOG_ERROR,
		       "%s is damaged: " PREVIOUS " beside it is used, which has the same "
		       "coordinates",
		       path);
		return 0;
	}
	if (!count_seeds(*out, f))
		return 0;
	dl_log(log, DL_LOG_ERROR,
	       "%s is damaged, and " PREVIOUS " beside it has other coordinates: none of them are "
	       "used",
	       path);
	dl_torus_config_free(*out);
	*out = NULL;
	return -EUCLEAN;
}

/* Do two tori of one fabric put each switch that both place at the same site? */
static bool agree(const struct dl_torus *a, const struct dl_torus *b)
{
	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++)
		if (a->grid.radix[d] != b->grid.radix[d] || a->grid.mesh[d] != b->grid.mesh[d])
			return false;
	for (uint32_t s = 0; s < a->fabric->nswitches; s++)
		if (a->sw_site[s] != b->sw_site[s] && a->sw_site[s] != DL_NONE &&
		    b->sw_site[s] != DL_NONE)
			return false;
	return true;
}

static bool configs_agree(const struct dl_fabric *f, const struct dl_torus_config *x,
			  const struct dl_torus_config *y)
{
	struct dl_torus *a = NULL, *b = NULL;
	bool same = !dl_torus_discover(f, x, NULL, &a) && !dl_torus_discover(f, y, NULL, &b) &&
		    agree(a, b);

	dl_torus_free(a);
	dl_torus_free(b);
	return same;
}

/* For glob(): is there no telling what the directory holds? */
static int lacks_memory(const char *path, int error)
{
	(void)path;
	return error == ENOMEM || error == EMFILE || error == ENFILE;
}

int dl_cache_file_read(const char *dir, const struct dl_fabric *f, const struct dl_log *log,
		       struct dl_torus_config **out)
{
	struct dl_torus_config *best = NULL, *c;
	char pattern[PATH_MAX];
	uint32_t most = 0;
	int err, refused = 0;
	glob_t files;

	*out = NULL;
	if (snprintf(pattern, sizeof(pattern), "%s/" FILE_NAME "*.conf", dir) >=
	    (int)sizeof(pattern))
		return 0;
	err = glob(pattern, 0, lacks_memory, &files);
	if (err)
		return err == GLOB_NOMATCH ? 0 : -ENOMEM;
	for (size_t i = 0; i < files.gl_pathc && err != -ENOMEM; i++) {
		uint32_t n;

		err = read_one(files.gl_pathv[i], f, log, &c);
		n = c ? count_seeds(c, f) : 0;
		if (n && n == most && !configs_agree(f, best, c)) {
			dl_log(log, DL_LOG_ERROR,
			       "%s and %s have different coordinates of this fabric: neither is "
			       "used; remove the one that is wrong",
			       best->path, c->path);
			err = -EUCLEAN;
		}
		refused = err ? err : refused;
		if (n > most) {
			dl_torus_config_free(best);
			best = c;
			most = n;
		} else {
			dl_torus_config_free(c);
		}
	}
	globfree(&files);
	if (refused)
		dl_torus_config_free(best);
	else
		*out = best;
	return refused;
}

/* ---- writing ------------------------------------------------------------- */

static int put(const char *path, const char *text, size_t len)
{
	struct dl_file f;
	int err = dl_file_begin(&f, path);

	if (err)
		return err;
	fwrite(text, 1, len, f.to);
	fprintf(f.to, SEAL "%016" PRIx64 "\n", sum_of(text, len));
	err = dl_file_finish(&f, 0);
	return err ? err : dl_file_place(&f);
}

/* What is whole becomes FILE.previous. */
static int keep(const char *path, const struct dl_torus *now)
{
	struct dl_torus_config *config = NULL;
	struct dl_torus *was = NULL;
	char previous[PATH_MAX];
	struct content c;
	int err = load(path, &c);

	if (!previous_path(previous, path))
		err = err ? err : -ENAMETOOLONG;
	else if (err == -EUCLEAN)
		err = load(previous, &c);
	if (!err && !parse(&c, path, &config) &&
	    !dl_torus_discover(now->fabric, config, NULL, &was))
		c.others = !agree(was, now);
	else
		c.others = true;
	if (!err && c.others) {
		memcpy(c.text + c.len, OTHERS, sizeof(OTHERS) - 1);
		c.len += sizeof(OTHERS) - 1;
	}
	if (!err)
		err = put(previous, c.text, c.len);
	dl_torus_free(was);
	dl_torus_config_free(config);
	free(c.text);
	return err == -ENOENT || err == -EUCLEAN ? 0 : err;
}

/* Where it is; a fabric that has none gets one by its lowest switch. */
static bool file_path(char *path, const char *dir, const struct dl_torus_config *file,
		      const struct dl_fabric *f)
{
	uint64_t lowest = UINT64_MAX;

	if (file)
		return snprintf(path, PATH_MAX, "%s", file->path) < PATH_MAX;
	for (uint32_t s = 0; s < f->nswitches; s++)
		if (f->nodes[f->switches[s]].guid < lowest)
			lowest = f->nodes[f->switches[s]].guid;
	return snprintf(path, PATH_MAX, "%s/" FILE_NAME "-%016" PRIx64 ".conf", dir, lowest) <
	       PATH_MAX;
}

int dl_cache_file_write(const char *dir, const struct dl_torus_config *file,
			const struct dl_torus *t, char *path)
{
	struct dl_torus_config *c = NULL;
	char *text = NULL;
	size_t len = 0;
	FILE *to = NULL;
	int err = file_path(path, dir, file, t->fabric) ? dl_torus_describe(t, MAX_SEEDS, &c) :
							  -ENAMETOOLONG;

	/* Too little of it is placed: what there was says more. */
	if (!err && !c->nseeds)
		err = -ENODATA;
	if (!err) {
		to = dl_memory_open(&text, &len);
		err = to ? dl_torus_config_write(c, to) : -ENOMEM;
	}
	if (to)
		err = fclose(to) && !err ? -ENOMEM : err;
	if (!err)
		err = keep(path, t);
	if (!err)
		err = put(path, text, len);
	free(text);
	dl_torus_config_free(c);
	return err;
}
