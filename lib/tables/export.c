/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An export: a directory that holds a fabric and its routing for other
 * programs, under OpenSM's own names where OpenSM has one.
 *
 * Problem.  A dozen files are one thing: forwarding tables of one routing beside
 * SL-to-VL maps of another say nothing about either.
 *
 * Method.  A manifest lists the files with their sizes and checksums.  All of
 * them are written into a new directory beside the one that is asked for,
 * DIR.part, and one rename puts that in place: where there is nothing, or an
 * empty directory, by itself; else in exchange for the earlier export, which is
 * then removed.  Whatever interrupts the writer leaves the earlier export or the
 * new one, and perhaps DIR.part, which the next writer takes over.  A writer
 * holds locks on both directories, so that a second one is refused.
 *
 * Only exports are replaced: directories with a manifest in which every file has
 * the name of an export's file.  No other file is ever removed.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tables/internal.h"

#define PSL_PAIRS_MAX 4000000 /* exported without being asked for */
#define PART ".part"

struct export
{
	const struct dl_snapshot *s;
	const struct dl_log *log;
	const char *dir;	 /* as the caller calls it */
	char *name;		 /* in its parent directory */
	char part[NAME_MAX + 1]; /* ... beside it */
	int parent, new, old;	 /* directories, -1: none; new and old are locked */
	int rest;		 /* the one that is DIR.part and must go, or -1 */
	bool exchanges;		 /* is there an earlier export? */
	struct dl_snapshot_manifest manifest;
	double written, expected; /* bytes, for progress */
};

#define export_refuse(x, err, format, ...) \
	dl_fail((x)->log, err, "%s: " format, (x)->dir, ##__VA_ARGS__)

static int export_failed(const struct export *x, const char *name, int err)
{
	return export_refuse(x, err, "cannot write %s: %s", name, strerror(-err));
}

/* ---- the directories ------------------------------------------------------- */

static int export_open_parent(struct export *x)
{
	size_t len = strlen(x->dir);
	char *path, *slash;

	while (len > 1 && x->dir[len - 1] == '/')
		len--;
	path = strndup(x->dir, len);
	if (!path)
		return -ENOMEM;
	slash = strrchr(path, '/');
	x->name = strdup(slash ? slash + 1 : path);
	if (slash)
		slash[slash == path] = '\0';
	x->parent = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(path);
	if (!x->name)
		return -ENOMEM;
	if (x->parent < 0)
		return export_refuse(x, -errno, "cannot open the directory above it: %s",
				     strerror(errno));
	if (!*x->name || !strcmp(x->name, ".") || !strcmp(x->name, ".."))
		return export_refuse(x, -EEXIST, "it cannot be replaced: name another directory");
	if (snprintf(x->part, sizeof(x->part), "%s" PART, x->name) >= (int)sizeof(x->part))
		return export_refuse(x, -ENAMETOOLONG, "this name is too long");
	return 0;
}

/* Open and lock a directory.  -1: there is none; else a negative errno, reported. */
static int export_lock(const struct export *x, const char *name, int *fd)
{
	struct stat opened, named;

	*fd = openat(x->parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*fd < 0 && errno == ENOENT)
		return 0;
	if (*fd < 0 && (errno == ENOTDIR || errno == ELOOP))
		return export_refuse(x, -EEXIST, "%s is no directory: name another one", name);
	if (*fd < 0)
		return export_failed(x, name, -errno);
	/* Another writer may have put it elsewhere in the meantime. */
	if (flock(*fd, LOCK_EX | LOCK_NB) || fstat(*fd, &opened) ||
	    fstatat(x->parent, name, &named, AT_SYMLINK_NOFOLLOW) || opened.st_ino != named.st_ino)
		return export_refuse(x, -EBUSY, "another process is writing to %s", name);
	return 0;
}

/* Is every file in a directory of the kind that an export has?  *n counts them. */
static int export_survey(const struct export *x, const char *name, int fd, unsigned int *n)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *e;
	int err = 0;

	if (!list && copy >= 0)
		close(copy);
	if (!list)
		return export_failed(x, name, -errno);
	for (*n = 0; !err && (e = readdir(list));) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		++*n;
		if (!dl_snapshot_is_own_name(e->d_name) &&
		    strcmp(e->d_name, DL_SNAPSHOT_MANIFEST) != 0)
			err = export_refuse(x, -EEXIST,
					    "%s holds %s, which is no file of an export: move it "
					    "away, or name another directory",
					    name, e->d_name);
	}
	closedir(list);
	return err;
}

static void export_empty(int fd)
{
	const char *name;

	for (unsigned int i = 0; (name = dl_snapshot_own_name(i)); i++)
		unlinkat(fd, name, 0);
	unlinkat(fd, DL_SNAPSHOT_MANIFEST, 0);
}

/* What stands in the place of the export must be one, or empty, or not there. */
static int export_open_old(struct export *x)
{
	unsigned int n = 0;
	int err = export_lock(x, x->name, &x->old);

	if (!err && x->old >= 0)
		err = export_survey(x, x->name, x->old, &n);
	if (!err && n && faccessat(x->old, DL_SNAPSHOT_MANIFEST, F_OK, AT_SYMLINK_NOFOLLOW))
		err = export_refuse(x, -EEXIST,
				    "it is not empty, and no export: it lacks " DL_SNAPSHOT_MANIFEST
				    ": name another directory");
	x->exchanges = n;
	return err;
}

/* What its owner has allowed stays allowed. */
static int export_make_part(struct export *x)
{
	struct stat old;
	unsigned int n;
	int err;

	if (mkdirat(x->parent, x->part, 0777) && errno != EEXIST)
		return export_failed(x, x->part, -errno);
	err = export_lock(x, x->part, &x->new);
	if (!err && x->new < 0)
		err = export_failed(x, x->part, -ENOENT);
	if (!err)
		err = export_survey(x, x->part, x->new, &n);
	if (err)
		return err;
	x->rest = x->new;
	export_empty(x->new);
	if (x->old >= 0 && !fstat(x->old, &old) && old.st_uid == geteuid() &&
	    fchmod(x->new, old.st_mode & 0777))
		err = export_failed(x, x->part, -errno);
	return err;
}

/* The one rename by which the new export is there. */
static int export_place(struct export *x)
{
	int err = 0;

	if (renameat2(x->parent, x->part, x->parent, x->name, x->exchanges ? RENAME_EXCHANGE : 0))
		err = -errno;
	if (x->exchanges && (err == -EINVAL || err == -ENOSYS || err == -EXDEV))
		return export_refuse(x, err,
				     "this file system cannot exchange two directories: remove it "
				     "first, or write a .dls file");
	if (err)
		return export_refuse(x, err, "cannot rename %s: %s", x->part, strerror(-err));
	fsync(x->parent); /* the export is whole with or without it */
	x->rest = x->exchanges ? x->old : -1;
	return 0;
}

static void export_close(struct export *x)
{
	if (x->rest >= 0) {
		export_empty(x->rest);
		if (unlinkat(x->parent, x->part, AT_REMOVEDIR))
			dl_log(x->log, DL_LOG_WARNING, "%s: cannot remove %s beside it: %s", x->dir,
			       x->part, strerror(errno));
	}
	if (x->new >= 0)
		close(x->new);
	if (x->old >= 0)
		close(x->old);
	if (x->parent >= 0)
		close(x->parent);
	free(x->name);
	free(x->manifest.files);
}

/* ---- one file -------------------------------------------------------------- */

static int export_put_fabric(struct dl_tables_out *o, const struct dl_fabric *f,
			     int (*write)(const struct dl_fabric *f, FILE *to))
{
	char *text;
	size_t len;
	int err = dl_memory_write(&text, &len, to, write(f, to));

	if (!err)
		dl_tables_out_text(o, text, len);
	free(text);
	return err;
}

/* The last line has the checksum of those before it. */
static int export_put_manifest(struct dl_tables_out *o, const struct dl_snapshot_manifest *m)
{
	char *text;
	size_t len;
	int err = dl_memory_write(&text, &len, to, dl_snapshot_write_manifest(m, to));

	if (!err) {
		dl_tables_out_text(o, text, len);
		dl_tables_out_print(o, "end 0x%016" PRIx64 "\n", dl_tables_sum_of(text, len));
	}
	free(text);
	return err;
}

static int export_put(struct export *x, struct dl_tables_out *o, const char *name)
{
	const struct dl_snapshot_note *note = dl_snapshot_find_note(x->s, name);

	if (note)
		dl_tables_out_text(o, note->text, note->len);
	if (note)
		return 0;
	if (!strcmp(name, DL_SNAPSHOT_NET))
		return export_put_fabric(o, x->s->tables->fabric, dl_fabric_write_netlist);
	if (!strcmp(name, DL_SNAPSHOT_SUBNET))
		return export_put_fabric(o, x->s->tables->fabric, dl_fabric_write_subnet_list);
	if (!strcmp(name, DL_SNAPSHOT_MANIFEST))
		return export_put_manifest(o, &x->manifest);
	for (unsigned int i = 0; i < DL_TABLES_NFILES; i++)
		if (!strcmp(name, dl_tables_file_names[i]))
			return dl_tables_put(o, x->s->tables, i);
	return -EINVAL;
}

static int export_file(struct export *x, const char *name)
{
	int fd = openat(x->new, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	FILE *to = fd < 0 ? NULL : fdopen(fd, "w");
	struct dl_snapshot_file f;
	struct dl_tables_out o;
	int err = to ? dl_tables_out_begin(&o, to) : -errno;

	if (!to && fd >= 0)
		close(fd);
	if (!err) {
		o.log = x->log;
		o.before = x->written;
		o.expected = x->expected;
		err = dl_file_flush(to, dl_tables_out_end(&o, export_put(x, &o, name)));
		x->written += o.bytes;
	}
	/* After a loss of power, the manifest tells what did not reach the disk. */
	if (!err && !strcmp(name, DL_SNAPSHOT_MANIFEST) && fsync(fd))
		err = -errno;
	if (to && fclose(to) && !err)
		err = -errno;
	if (!err) {
		f = (struct dl_snapshot_file){ .bytes = o.bytes, .checksum = o.checksum };
		snprintf(f.name, sizeof(f.name), "%s", name);
		err = dl_snapshot_list(&x->manifest, &f);
	}
	return err ? export_failed(x, name, err) : 0;
}

/* ---- all ------------------------------------------------------------------- */

static uint64_t psl_pairs(const struct dl_tables *t)
{
	uint64_t sources = 0, lids = 0;

	for (uint32_t p = 0; t->psl && p < t->fabric->nports; p++)
		sources += t->psl_src[p] != DL_NONE;
	for (uint32_t lid = 1; t->psl && lid <= t->top_lid; lid++)
		lids += t->psl_dst[lid] != DL_NONE;
	return sources * lids;
}

static bool has_psl(const struct export *x, unsigned int flags)
{
	uint64_t pairs = psl_pairs(x->s->tables);

	if (!pairs || flags & DL_SNAPSHOT_PSL_NEVER)
		return false;
	if (pairs <= PSL_PAIRS_MAX || flags & DL_SNAPSHOT_PSL_ALWAYS)
		return true;
	dl_log(x->log, DL_LOG_WARNING,
	       "%s: the path SLs of %" PRIu64 " pairs are left out; a .dls file holds them", x->dir,
	       pairs);
	return false;
}

/*
 * What the files that may be large take, about: in each line of a dump of
 * forwarding tables a name of some 15 bytes.
 */
static double expected_bytes(const struct dl_tables *t, bool psl)
{
	double lines = (double)t->fabric->nswitches * t->top_lid;
	double maps = t->sl2vl_first[t->fabric->nswitches];

	return lines * (57 + 15 + 29) + maps * (59 + 64) + psl * 26.0 * psl_pairs(t);
}

static int export_files(struct export *x, unsigned int flags)
{
	const struct dl_tables *t = x->s->tables;
	bool psl = has_psl(x, flags);
	int err;

	if (!psl)
		x->manifest.about.sls = DL_SNAPSHOT_SLS_NONE;
	x->expected = expected_bytes(t, psl);
	err = export_file(x, DL_SNAPSHOT_NET);
	if (!err)
		err = export_file(x, DL_SNAPSHOT_SUBNET);
	for (uint32_t i = 0; !err && i < x->s->nnotes; i++)
		err = export_file(x, x->s->notes[i].name);
	for (unsigned int i = 0; !err && i < DL_TABLES_NFILES; i++)
		if (psl || i != DL_TABLES_PSL)
			err = export_file(x, dl_tables_file_names[i]);
	return err ? err : export_file(x, DL_SNAPSHOT_MANIFEST);
}

int dl_snapshot_export(const struct dl_snapshot *s, const char *dir, unsigned int flags,
		       const struct dl_log *log)
{
	struct export x = { .s = s,
			    .log = log,
			    .dir = dir,
			    .parent = -1,
			    .new = -1,
			    .old = -1,
			    .rest = -1,
			    .manifest.about = s->about };
	int err = s->tables->checked ? 0 : dl_tables_check(s->tables, log);

	for (uint32_t i = 0; !err && i < s->nnotes; i++)
		if (!dl_snapshot_is_own_name(s->notes[i].name))
			err = export_refuse(&x, -EINVAL, "an export has no file named %s",
					    s->notes[i].name);
	if (!err)
		err = export_open_parent(&x);
	if (!err)
		err = export_open_old(&x);
	if (!err)
		err = export_make_part(&x);
	if (!err) {
		x.manifest.about.fabric = dl_snapshot_fabric_id(s->tables->fabric);
		err = export_files(&x, flags);
		dl_progress(log, "writing tables", " MB", 1, 1);
	}
	if (!err)
		err = export_place(&x);
	export_close(&x);
	return err;
}
