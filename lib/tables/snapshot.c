/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A snapshot: a directory that holds a fabric and its routing, under OpenSM's
 * own names where OpenSM has one.
 *
 * Problem.  Nine files are one thing: forwarding tables of one routing beside
 * SL-to-VL maps of another say nothing about either.
 *
 * Method.  All files are written without a name first; a failure until then
 * leaves what was there.  Then they are put in place by one rename each, files
 * of an earlier snapshot that this one does not have are removed, and for that
 * moment a mark stands beside them: if the process dies there, readers find
 * the mark and refuse the mixture.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dateline/base.h"
#include "dateline/tables.h"
#include "tables/internal.h"

static int write_subnet_list(const struct dl_tables *t, FILE *to)
{
	return dl_fabric_write_subnet_list(t->fabric, to);
}

static int write_netlist(const struct dl_tables *t, FILE *to)
{
	return dl_fabric_write_netlist(t->fabric, to);
}

static const struct {
	const char *name;
	int (*write)(const struct dl_tables *t, FILE *to);
	unsigned int flag; /* written only when wanted; 0: always */
} files[] = {
	{ "dateline.net", write_netlist, 0 },
	{ "opensm-subnet.lst", write_subnet_list, 0 },
	{ "opensm-lfts.dump", dl_tables_write_lfts, 0 },
	{ "opensm.fdbs", dl_tables_write_fdbs, 0 },
	{ "opensm.mcfdbs", dl_tables_write_mcfdbs, 0 },
	{ "opensm-sl2vl.dump", dl_tables_write_sl2vl, 0 },
	{ "dateline-vlarb.dump", dl_tables_write_vlarb, 0 },
	{ "dateline-slvl.dump", dl_tables_write_slvl, 0 },
	{ "dateline-psl.dump", dl_tables_write_psl, DL_SNAPSHOT_PSL },
};

#define NFILES (sizeof(files) / sizeof(*files))

static bool wanted(unsigned int i, unsigned int flags)
{
	return !files[i].flag || flags & files[i].flag;
}

static int make_path(char path[PATH_MAX], const char *dir, const char *name)
{
	int len = snprintf(path, PATH_MAX, "%s/%s", dir, name);

	return len < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static void remove_file(const char *dir, const char *name)
{
	char path[PATH_MAX];

	if (!make_path(path, dir, name))
		unlink(path);
}

static int failed(const struct dl_log *log, const char *dir, const char *name, int err)
{
	dl_log(log, DL_LOG_ERROR, "%s/%s: cannot write it: %s", dir, name, strerror(-err));
	return err;
}

static int write_part(const struct dl_tables *t, const char *dir, unsigned int i,
		      struct dl_file *part)
{
	char path[PATH_MAX];
	int err = make_path(path, dir, files[i].name);

	if (!err)
		err = dl_file_begin(part, path);
	return err ? err : dl_file_finish(part, files[i].write(t, part->to));
}

static int write_mark(const char *dir)
{
	char path[PATH_MAX];
	struct dl_file mark;
	int err = make_path(path, dir, DL_SNAPSHOT_MARK);

	if (!err)
		err = dl_file_begin(&mark, path);
	if (!err)
		err = dl_file_finish(&mark, 0);
	return err ? err : dl_file_place(&mark);
}

/* From the old snapshot to the new one. */
static int replace(const char *dir, unsigned int flags, struct dl_file parts[NFILES],
		   const struct dl_log *log)
{
	int err = write_mark(dir);

	if (err)
		return failed(log, dir, DL_SNAPSHOT_MARK, err);
	for (unsigned int i = 0; i < NFILES; i++) {
		if (!wanted(i, flags))
			remove_file(dir, files[i].name);
		else
			err = dl_file_place(&parts[i]);
		if (err)
			return failed(log, dir, files[i].name, err);
	}
	if (!(flags & DL_SNAPSHOT_PARTIAL))
		remove_file(dir, DL_SNAPSHOT_GAPS);
	remove_file(dir, DL_SNAPSHOT_MARK);
	return 0;
}

int dl_snapshot_write(const struct dl_tables *t, const char *dir, unsigned int flags,
		      const struct dl_log *log)
{
	struct dl_file parts[NFILES];
	int err = dl_tables_check(t, log);
	unsigned int n = 0;

	if (err)
		return err;
	if (mkdir(dir, 0777) && errno != EEXIST) {
		err = -errno;
		dl_log(log, DL_LOG_ERROR, "%s: cannot create this directory: %s", dir,
		       strerror(-err));
		return err;
	}
	for (; !err && n < NFILES; n++) {
		parts[n] = (struct dl_file){ .dir = -1 };
		if (wanted(n, flags))
			err = write_part(t, dir, n, &parts[n]);
		if (err)
			failed(log, dir, files[n].name, err);
	}
	if (!err)
		err = replace(dir, flags, parts, log);
	while (n)
		dl_file_drop(&parts[--n]);
	return err;
}
