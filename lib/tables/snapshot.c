/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A snapshot: a directory that holds a fabric and its routing, under OpenSM's
 * own names where OpenSM has one.
 *
 * Problem.  Nine files are one thing: forwarding tables of one routing beside
 * SL-to-VL maps of another say nothing about either.
 *
 * Method.  All files are written under other names first; a failure until then
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

#define BUFFER_BYTES (1 << 18) /* dumps may be gigabytes */

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

/* DIR/BEFORE NAME AFTER, if it is not too long. */
static int make_path(char path[PATH_MAX], const char *dir, const char *before, const char *name,
		     const char *after)
{
	int len = snprintf(path, PATH_MAX, "%s/%s%s%s", dir, before, name, after);

	return len < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static void remove_file(const char *dir, const char *before, const char *name, const char *after)
{
	char path[PATH_MAX];

	if (!make_path(path, dir, before, name, after))
		unlink(path);
}

static int failed(const struct dl_log *log, const char *dir, const char *name, int err)
{
	dl_log(log, DL_LOG_ERROR, "%s/%s: cannot write it: %s", dir, name, strerror(-err));
	return err;
}

static int write_part(const struct dl_tables *t, const char *dir, unsigned int i)
{
	char part[PATH_MAX];
	int err = make_path(part, dir, ".", files[i].name, ".part");
	FILE *to;

	if (err)
		return err;
	to = fopen(part, "w");
	if (!to)
		return -errno;
	setvbuf(to, NULL, _IOFBF, BUFFER_BYTES);
	err = files[i].write(t, to);
	if (fclose(to) && !err)
		err = -errno;
	return err;
}

static int put_in_place(const char *dir, unsigned int i)
{
	char path[PATH_MAX], part[PATH_MAX];
	int err = make_path(path, dir, "", files[i].name, "");

	if (!err)
		err = make_path(part, dir, ".", files[i].name, ".part");
	if (err)
		return err;
	return rename(part, path) ? -errno : 0;
}

static int write_mark(const char *dir)
{
	char path[PATH_MAX];
	int err = make_path(path, dir, "", DL_SNAPSHOT_MARK, "");
	FILE *to;

	if (err)
		return err;
	to = fopen(path, "w");
	if (!to)
		return -errno;
	return fclose(to) ? -errno : 0;
}

/* From the old snapshot to the new one. */
static int replace(const char *dir, unsigned int flags, const struct dl_log *log)
{
	int err = write_mark(dir);

	if (err)
		return failed(log, dir, DL_SNAPSHOT_MARK, err);
	for (unsigned int i = 0; i < NFILES; i++) {
		if (!wanted(i, flags))
			remove_file(dir, "", files[i].name, "");
		else
			err = put_in_place(dir, i);
		if (err)
			return failed(log, dir, files[i].name, err);
	}
	if (!(flags & DL_SNAPSHOT_PARTIAL))
		remove_file(dir, "", DL_SNAPSHOT_GAPS, "");
	remove_file(dir, "", DL_SNAPSHOT_MARK, "");
	return 0;
}

int dl_snapshot_write(const struct dl_tables *t, const char *dir, unsigned int flags,
		      const struct dl_log *log)
{
	int err = dl_tables_check(t, log);

	if (err)
		return err;
	if (mkdir(dir, 0777) && errno != EEXIST) {
		err = -errno;
		dl_log(log, DL_LOG_ERROR, "%s: cannot create this directory: %s", dir,
		       strerror(-err));
		return err;
	}
	for (unsigned int i = 0; !err && i < NFILES; i++) {
		if (!wanted(i, flags))
			continue;
		err = write_part(t, dir, i);
		if (err)
			failed(log, dir, files[i].name, err);
	}
	if (!err)
		err = replace(dir, flags, log);
	for (unsigned int i = 0; err && i < NFILES; i++)
		remove_file(dir, ".", files[i].name, ".part");
	return err;
}
