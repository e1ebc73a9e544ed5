/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A snapshot: a folder that holds a fabric and its routing, under OpenSM's
 * own names where OpenSM has one.
 *
 * Every file is written under another name and then renamed, so a reader
 * never meets half a file, and a failed write leaves the last good one.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dateline/base.h"
#include "dateline/tables.h"

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

static int write_file(const struct dl_tables *t, const char *dir,
		      unsigned int i, const struct dl_log *log)
{
	char path[PATH_MAX], part[PATH_MAX];
	FILE *to;
	int err;

	if (snprintf(path, sizeof(path), "%s/%s", dir, files[i].name) >=
		    (int)sizeof(path) ||
	    snprintf(part, sizeof(part), "%s/.%s.part", dir, files[i].name) >=
		    (int)sizeof(part)) {
		dl_log(log, DL_LOG_ERROR, "%s: the path is too long", dir);
		return -ENAMETOOLONG;
	}
	to = fopen(part, "w");
	if (!to) {
		err = -errno;
		dl_log(log, DL_LOG_ERROR, "%s: cannot create it: %s", part,
		       strerror(-err));
		return err;
	}
	setvbuf(to, NULL, _IOFBF, BUFFER_BYTES);
	err = files[i].write(t, to);
	if (fclose(to) && !err)
		err = -errno;
	if (!err && rename(part, path))
		err = -errno;
	if (err) {
		dl_log(log, DL_LOG_ERROR, "%s: cannot write it: %s", path,
		       strerror(-err));
		unlink(part);
	}
	return err;
}

int dl_snapshot_write(const struct dl_tables *t, const char *dir,
		      unsigned int flags, const struct dl_log *log)
{
	unsigned int i;
	int err = dl_tables_check(t, log);

	if (err)
		return err;
	if (mkdir(dir, 0777) && errno != EEXIST) {
		err = -errno;
		dl_log(log, DL_LOG_ERROR, "%s: cannot make this folder: %s",
		       dir, strerror(-err));
		return err;
	}
	for (i = 0; !err && i < sizeof(files) / sizeof(*files); i++)
		if (!files[i].flag || flags & files[i].flag)
			err = write_file(t, dir, i, log);
	return err;
}
