/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reading a snapshot: a .dls file; a directory with one in it, where the routing
 * engine writes; an export; or a directory that OpenSM filled with its dumps
 * (opensm -D 0x43), whatever its routing engine.  From here on about the last two:
 *
 * The fabric comes from dateline.net, else from opensm-subnet.lst, else from
 * a netlist given with the directory; LIDs and LMCs that it lacks, from
 * the forwarding tables.  The forwarding tables are indispensable; of
 * everything else the caller learns whether it was there.
 *
 * With a manifest, all files must be those that it lists; see export.c.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tables/internal.h"

struct source {
	const char *dir;
	const struct dl_log *log;
	char path[PATH_MAX];
	char inside[PATH_MAX];		      /* the .dls in a directory */
	bool vls_known;			      /* are they in the fabric's file? */
	bool skip_sls;			      /* others are given */
	struct dl_snapshot_manifest manifest; /* without files: there is none */
	double done, total;		      /* bytes of listed files, for progress */
};

/* The path of a file in the directory, or NULL when there is none such. */
static const char *snapshot_find(struct source *x, const char *name)
{
	int len = snprintf(x->path, sizeof(x->path), "%s/%s", x->dir, name);

	if (len >= (int)sizeof(x->path) || access(x->path, F_OK))
		return NULL;
	return x->path;
}

static int open_error(const struct source *x, const char *path)
{
	int err = -errno;

	return dl_fail(x->log, err, "%s: %s", path, strerror(-err));
}

/* ---- the manifest ------------------------------------------------------ */

#define PIECE_BYTES (1 << 18)
#define STREAM_BYTES (1 << 16)

#define snapshot_mismatch(x, name, format, ...)                                               \
	dl_fail((x)->log, -EINVAL,                                                            \
		"%s/%s: " format ".  Write the snapshot again; without " DL_SNAPSHOT_MANIFEST \
		" its files are read as they are",                                            \
		(x)->dir, name, ##__VA_ARGS__)

/* A file whose bytes are summed as they are read. */
struct summed {
	struct source *x;
	int fd;
	struct dl_tables_sum *sum;
	uint64_t bytes;
};

static ssize_t read_summed(void *cookie, char *to, size_t size)
{
	struct summed *s = cookie;
	ssize_t n = read(s->fd, to, size);

	if (n <= 0)
		return n;
	dl_tables_sum_add(s->sum, to, n);
	s->bytes += n;
	s->x->done += n;
	dl_progress(s->x->log, "reading", " MB", 1e-6 * s->x->done, 1e-6 * s->x->total);
	return n;
}

static FILE *open_summed(struct source *x, const char *path, struct summed *s)
{
	static const cookie_io_functions_t functions = { .read = read_summed };
	FILE *from;

	*s = (struct summed){ .x = x,
			      .fd = open(path, O_RDONLY | O_CLOEXEC),
			      .sum = dl_tables_sum_new() };
	from = s->fd >= 0 && s->sum ? fopencookie(s, "r", functions) : NULL;
	if (from)
		setvbuf(from, NULL, _IOFBF, STREAM_BYTES);
	return from;
}

static int check_bytes(const struct source *x, const struct dl_snapshot_file *f, uint64_t bytes)
{
	if (bytes == f->bytes)
		return 0;
	return snapshot_mismatch(x, f->name,
				 "this file is not that of the snapshot: it has %" PRIu64
				 " bytes, and by the manifest %" PRIu64,
				 bytes, f->bytes);
}

/* Read on to the end: is it the file that the manifest lists?  Closes it. */
static int check_summed(struct source *x, FILE *from, struct summed *s,
			const struct dl_snapshot_file *f)
{
	char *buffer = from ? malloc(PIECE_BYTES) : NULL;
	uint64_t checksum = 0;
	int err = !s->sum || (from && !buffer) ? -ENOMEM : from ? 0 : -errno;

	while (!err && fread_unlocked(buffer, 1, PIECE_BYTES, from) > 0)
		continue;
	if (!err && ferror(from))
		err = errno && errno != EIO ? -errno : -EINVAL;
	if (from)
		fclose(from);
	if (s->fd >= 0)
		close(s->fd);
	if (s->sum)
		checksum = dl_tables_sum_end(s->sum);
	free(buffer);
	if (err)
		dl_log(x->log, DL_LOG_ERROR, "%s/%s: %s", x->dir, f->name, strerror(-err));
	else
		err = check_bytes(x, f, s->bytes);
	if (!err && checksum != f->checksum)
		err = snapshot_mismatch(
			x, f->name,
			"this file is not that of the snapshot: its checksum is not "
			"that in the manifest");
	return err;
}

/* Of tables only the size: all else is checked while they are read. */
static int check_file(struct source *x, const struct dl_snapshot_file *f, bool size_only)
{
	struct summed s;
	struct stat st;
	FILE *from;

	if (!snapshot_find(x, f->name))
		return snapshot_mismatch(x, f->name, "this file is missing: the manifest lists it");
	if (size_only)
		return stat(x->path, &st) ? open_error(x, x->path) : check_bytes(x, f, st.st_size);
	from = open_summed(x, x->path, &s);
	return check_summed(x, from, &s, f);
}

/* No file that a reader could take for one of this snapshot. */
static int check_unlisted(struct source *x, const char *name)
{
	if (dl_snapshot_listed(&x->manifest, name) || !snapshot_find(x, name))
		return 0;
	return snapshot_mismatch(x, name,
				 "this file is not of the snapshot: the manifest does not list it");
}

/* In each group the first file that is there counts. */
static const struct {
	enum dl_tables_file file;
	unsigned int part;
} files[] = {
	{ DL_TABLES_LFTS, DL_SNAPSHOT_HAS_LFTS },     { DL_TABLES_FDBS, DL_SNAPSHOT_HAS_LFTS },
	{ DL_TABLES_SL2VL, DL_SNAPSHOT_HAS_SL2VL },   { DL_TABLES_SLVL, DL_SNAPSHOT_HAS_SL2VL },
	{ DL_TABLES_MCFDBS, DL_SNAPSHOT_HAS_MCFDBS }, { DL_TABLES_VLARB, DL_SNAPSHOT_HAS_VLARB },
	{ DL_TABLES_PSL, DL_SNAPSHOT_HAS_PSL },
};

#define NFILES (sizeof(files) / sizeof(*files))

/* Is a file the one that counts?  Then its part is met, and its path is x->path. */
static bool snapshot_counts(struct source *x, unsigned int i, unsigned int *met)
{
	if (*met & files[i].part || !snapshot_find(x, dl_tables_file_names[files[i].file]))
		return false;
	*met |= files[i].part;
	return true;
}

/* Such a file is checked while it is read. */
static bool is_read_as_table(struct source *x, const char *name)
{
	unsigned int met = x->skip_sls ? DL_SNAPSHOT_HAS_PSL : 0;

	for (unsigned int i = 0; i < NFILES; i++)
		if (snapshot_counts(x, i, &met) &&
		    !strcmp(dl_tables_file_names[files[i].file], name))
			return true;
	return false;
}

static int check_manifest(struct source *x)
{
	FILE *from;
	int err;

	if (!snapshot_find(x, DL_SNAPSHOT_MANIFEST)) {
		dl_log(x->log, DL_LOG_INFO,
		       "%s: no manifest: its files are taken to be of one and the same routing",
		       x->dir);
		return 0;
	}
	from = fopen(x->path, "re");
	if (!from)
		return open_error(x, x->path);
	err = dl_snapshot_read_manifest(from, x->path, x->log, &x->manifest);
	fclose(from);
	for (uint32_t i = 0; i < x->manifest.n; i++)
		x->total += x->manifest.files[i].bytes;
	for (uint32_t i = 0; !err && i < x->manifest.n; i++)
		err = check_file(x, &x->manifest.files[i],
				 is_read_as_table(x, x->manifest.files[i].name));
	for (unsigned int i = 0; !err && dl_snapshot_own_name(i); i++)
		err = check_unlisted(x, dl_snapshot_own_name(i));
	return err;
}

/* ---- the fabric -------------------------------------------------------- */

static int snapshot_read_fabric(struct source *x, const char *net, struct dl_fabric **f)
{
	x->vls_known = true;
	if (snapshot_find(x, DL_SNAPSHOT_NET))
		return dl_fabric_read_netlist(x->path, x->log, f);
	x->vls_known = false;
	if (snapshot_find(x, DL_SNAPSHOT_SUBNET))
		return dl_fabric_read_subnet_list(x->path, x->log, f);
	x->vls_known = true;
	if (net)
		return dl_fabric_read_netlist(net, x->log, f);
	return dl_fail(x->log, -ENOENT,
		       "%s: no dateline.net and no opensm-subnet.lst "
		       "in this directory: name the netlist of the fabric",
		       x->dir);
}

static bool all_have_lids(const struct dl_fabric *f)
{
	bool all = true;

	for (uint32_t p = 0; p < f->nports && all; p++)
		all = f->ports[p].lid || !dl_fabric_is_end_port(f, p);
	return all;
}

static int complete_lids(struct source *x, struct dl_fabric *f)
{
	FILE *from;
	int err;

	/* The netlist of a snapshot knows them, but of ports without a cable. */
	if ((x->manifest.n && all_have_lids(f)) || !snapshot_find(x, "opensm-lfts.dump"))
		return 0;
	from = fopen(x->path, "r");
	if (!from)
		return open_error(x, x->path);
	err = dl_tables_read_lids(f, from, x->path, x->log);
	fclose(from);
	if (!err && !f->top_lid) {
		dl_log(x->log, DL_LOG_ERROR,
		       "%s: neither the fabric nor this file "
		       "says which LIDs the ports have",
		       x->path);
		err = -EINVAL;
	}
	return err;
}

/* ---- the tables -------------------------------------------------------- */

/*
 * Dumps are larger than the tables that they fill.  Those of a few bytes would
 * still take gigabytes, for what a netlist says of LIDs and ports.
 */
static int check_size(struct source *x, const struct dl_fabric *f)
{
	uint64_t bytes = 0;
	struct stat st;

	for (unsigned int i = 0; i < DL_TABLES_NFILES; i++)
		if (snapshot_find(x, dl_tables_file_names[i]) && !stat(x->path, &st))
			bytes += st.st_size;
	if (dl_tables_expected(dl_tables_bytes(f), bytes))
		return 0;
	return dl_fail(x->log, -EINVAL,
		       "%s: the tables in this directory have %" PRIu64
		       " bytes, far too few for the %u "
		       "switches and LIDs up to %u of its fabric",
		       x->dir, bytes, f->nswitches, f->top_lid);
}

static int snapshot_read_file(const struct source *x, const char *path, struct dl_tables *t,
			      enum dl_tables_file which)
{
	FILE *from = fopen(path, "re");
	int err;

	if (!from)
		return open_error(x, path);
	err = dl_tables_read_file(t, which, from, path, x->log);
	fclose(from);
	return err;
}

/*
 * A file that the manifest lists is checked while it is read.  If it is not the
 * one that is listed, then that is wrong, not what it says.
 */
static int read_listed(struct source *x, const struct dl_snapshot_file *f, struct dl_tables *t,
		       enum dl_tables_file which)
{
	struct summed s;
	FILE *from = open_summed(x, x->path, &s);
	int wrong = from ? dl_tables_read_file(t, which, from, x->path, NULL) : 0;
	int err = check_summed(x, from, &s, f);

	if (!err && wrong && snapshot_find(x, f->name))
		err = snapshot_read_file(x, x->path, t, which); /* it says what */
	return err ? err : wrong;
}

static int directory_read_tables(struct source *x, struct dl_tables *t, unsigned int *parts)
{
	int err = 0;

	*parts = 0;
	if (x->skip_sls)
		*parts |= DL_SNAPSHOT_HAS_PSL;
	for (unsigned int i = 0; !err && i < NFILES; i++) {
		const struct dl_snapshot_file *f =
			dl_snapshot_listed(&x->manifest, dl_tables_file_names[files[i].file]);

		if (snapshot_counts(x, i, parts))
			err = f ? read_listed(x, f, t, files[i].file) :
				  snapshot_read_file(x, x->path, t, files[i].file);
	}
	if (!err && !(*parts & DL_SNAPSHOT_HAS_LFTS)) {
		dl_log(x->log, DL_LOG_ERROR,
		       "%s: no opensm-lfts.dump and no "
		       "opensm.fdbs in this directory: where are the "
		       "forwarding "
		       "tables?",
		       x->dir);
		err = -ENOENT;
	}
	return err;
}

/*
 * OpenSM's subnet list does not contain the number of VLs of a port, so every port
 * is assumed to have 8; maps that name higher VLs prove that there are more.
 */
static void widen_vls(struct dl_fabric *f, const struct dl_tables *t)
{
	bool more = false;

	for (uint32_t i = 0; i < t->nrows; i++)
		for (unsigned int sl = 0; sl < 16; sl++)
			more |= dl_tables_sl2vl_get(t->rows[i], sl) >= 8 &&
				dl_tables_sl2vl_get(t->rows[i], sl) < 15;
	for (uint32_t p = 0; more && p < f->nports; p++)
		f->ports[p].vls = 15;
}

/* ---- notes ------------------------------------------------------------- */

#define NOTE_BYTES_MAX (1 << 26)

static int snapshot_read_note(struct source *x, const char *name, struct dl_snapshot *s)
{
	FILE *from;
	char *text;
	size_t len;

	if (!snapshot_find(x, name))
		return 0;
	from = fopen(x->path, "re");
	if (!from)
		return open_error(x, x->path);
	text = malloc(NOTE_BYTES_MAX + 1);
	len = text ? fread(text, 1, NOTE_BYTES_MAX + 1, from) : 0;
	fclose(from);
	if (len > NOTE_BYTES_MAX) {
		dl_log(x->log, DL_LOG_ERROR, "%s: expected at most %d bytes", x->path,
		       NOTE_BYTES_MAX);
		free(text);
		return -EINVAL;
	}
	if (text) {
		char *fitted = realloc(text, len + 1);

		text = fitted ? fitted : text;
		text[len] = '\0';
	}
	return dl_snapshot_add_note(s, name, text, len);
}

static int read_notes(struct source *x, struct dl_snapshot *s)
{
	int err = 0;

	for (unsigned int i = 0; !err && dl_snapshot_note_names[i]; i++)
		err = snapshot_read_note(x, dl_snapshot_note_names[i], s);
	return err;
}

/* ---- all --------------------------------------------------------------- */

/* A manifest names its fabric. */
static int check_fabric(const struct source *x, const struct dl_fabric *f)
{
	if (!x->manifest.n || x->manifest.about.fabric == dl_snapshot_fabric_id(f))
		return 0;
	return dl_fail(x->log, -EINVAL, "%s: this snapshot is of another fabric than its netlist",
		       x->dir);
}

static int read_directory(struct source *x, const char *net, struct dl_snapshot *s)
{
	int err = check_manifest(x);

	if (!err)
		err = snapshot_read_fabric(x, net, &s->fabric);
	if (!err)
		err = check_fabric(x, s->fabric);
	if (!err)
		err = complete_lids(x, s->fabric);
	if (!err)
		err = check_size(x, s->fabric);
	if (!err)
		err = dl_tables_new(s->fabric, &s->tables);
	if (!err)
		err = directory_read_tables(x, s->tables, &s->parts);
	if (!err && !x->vls_known)
		widen_vls(s->fabric, s->tables);
	if (!err)
		err = dl_tables_check(s->tables, x->log);
	if (!err)
		err = read_notes(x, s);
	if (err)
		return err;
	s->about = x->manifest.about;
	if (x->manifest.n)
		s->parts |= DL_SNAPSHOT_HAS_MANIFEST;
	else
		s->about.fabric = dl_snapshot_fabric_id(s->fabric);
	if (!x->manifest.n && s->tables->psl)
		s->about.sls = DL_SNAPSHOT_SLS_FILE;
	return 0;
}

static int read_packed(const struct source *x, struct dl_snapshot *s)
{
	FILE *from = fopen(x->dir, "re");
	int err = from ? dl_snapshot_unpack(from, x->dir, x->log, s) : open_error(x, x->dir);

	if (from)
		fclose(from);
	s->parts = DL_SNAPSHOT_HAS_LFTS | DL_SNAPSHOT_HAS_SL2VL | DL_SNAPSHOT_HAS_MCFDBS |
		   DL_SNAPSHOT_HAS_VLARB | DL_SNAPSHOT_HAS_MANIFEST;
	return err;
}

/* A file that is no snapshot may well be a netlist. */
static int open_directory(const struct source *x)
{
	struct stat st;

	if (stat(x->dir, &st))
		return open_error(x, x->dir);
	if (!S_ISDIR(st.st_mode))
		return dl_fail(x->log, -EINVAL,
			       "%s: this is neither a directory nor a snapshot file", x->dir);
	return access(x->dir, R_OK | X_OK) ? open_error(x, x->dir) : 0;
}

/* Path SLs that were given are used in place of others. */
static int read_given_sls(const struct source *x, const char *psl, struct dl_snapshot *s)
{
	int err = snapshot_read_file(x, psl, s->tables, DL_TABLES_PSL);

	s->about.sls = DL_SNAPSHOT_SLS_FILE;
	return err ? err : dl_tables_check(s->tables, x->log);
}

/* What was there, beyond what each reader says. */
static void tell_parts(const struct source *x, struct dl_snapshot *s)
{
	s->tables->checked = true;
	if (s->tables->psl)
		s->parts |= DL_SNAPSHOT_HAS_PSL;
	else
		s->about.sls = DL_SNAPSHOT_SLS_NONE;
	if (!dl_snapshot_find_note(s, DL_SNAPSHOT_GAPS))
		return;
	s->parts |= DL_SNAPSHOT_IS_PARTIAL;
	dl_log(x->log, DL_LOG_WARNING, "%s: this snapshot is partial: %s says what is missing",
	       x->dir, DL_SNAPSHOT_GAPS);
}

/* The .dls in a directory counts, if there is one. */
static int read_any(struct source *x, const char *net, struct dl_snapshot *s)
{
	int err = dl_snapshot_is_packed(x->dir);

	if (!err && snapshot_find(x, DL_SNAPSHOT_ENGINE_FILE)) {
		memcpy(x->inside, x->path, sizeof(x->inside));
		x->dir = x->inside;
		err = dl_snapshot_is_packed(x->inside);
	}
	if (err < 0) {
		errno = -err;
		return open_error(x, x->dir);
	}
	if (err)
		return read_packed(x, s);
	err = open_directory(x);
	return err ? err : read_directory(x, net, s);
}

int dl_snapshot_read(const char *path, const char *net, const char *psl, const struct dl_log *log,
		     struct dl_snapshot *out)
{
	struct source x = { .dir = path, .log = log, .skip_sls = psl };
	struct dl_snapshot s = { 0 };
	int err = read_any(&x, net, &s);

	x.dir = path;
	if (!err && psl)
		err = read_given_sls(&x, psl, &s);
	if (!err) {
		tell_parts(&x, &s);
		*out = s;
	} else {
		dl_snapshot_release(&s);
	}
	free(x.manifest.files);
	return err;
}
