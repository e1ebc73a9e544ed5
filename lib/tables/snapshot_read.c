/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reading a snapshot: a directory that Dateline wrote, or one that OpenSM filled
 * with its dumps (opensm -D 0x43), whatever its routing engine.
 *
 * The fabric comes from dateline.net, else from opensm-subnet.lst, else from
 * a netlist given with the directory; LIDs and LMCs that it does not tell, from
 * the forwarding tables.  The forwarding tables are indispensable; of
 * everything else the caller learns whether it was there.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "dateline/base.h"
#include "tables/internal.h"

struct source {
	const char *dir;
	const struct dl_log *log;
	char path[PATH_MAX];
	bool vls_known; /* does the fabric's file tell them? */
};

/* The path of a file in the directory, or NULL when there is none such. */
static const char *find(struct source *x, const char *name)
{
	int len = snprintf(x->path, sizeof(x->path), "%s/%s", x->dir, name);

	if (len >= (int)sizeof(x->path) || access(x->path, F_OK))
		return NULL;
	return x->path;
}

static int open_error(const struct source *x, const char *path)
{
	int err = -errno;

	dl_log(x->log, DL_LOG_ERROR, "%s: %s", path, strerror(-err));
	return err;
}

/* ---- the fabric -------------------------------------------------------- */

static int read_fabric(struct source *x, const char *net, struct dl_fabric **f)
{
	x->vls_known = true;
	if (find(x, "dateline.net"))
		return dl_fabric_read_netlist(x->path, x->log, f);
	x->vls_known = false;
	if (find(x, "opensm-subnet.lst"))
		return dl_fabric_read_subnet_list(x->path, x->log, f);
	x->vls_known = true;
	if (net)
		return dl_fabric_read_netlist(net, x->log, f);
	dl_log(x->log, DL_LOG_ERROR,
	       "%s: no dateline.net and no opensm-subnet.lst "
	       "in this directory: what does the fabric look like?",
	       x->dir);
	return -ENOENT;
}

static int complete_lids(struct source *x, struct dl_fabric *f)
{
	FILE *from;
	int err;

	if (!find(x, "opensm-lfts.dump"))
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

/* In each group the first file that is there counts. */
static const struct {
	const char *name;
	unsigned int part;
	int (*read)(struct dl_tables *t, FILE *from, const char *name, const struct dl_log *log);
} files[] = {
	{ "opensm-lfts.dump", DL_SNAPSHOT_HAS_LFTS, dl_tables_read_lfts },
	{ "opensm.fdbs", DL_SNAPSHOT_HAS_LFTS, dl_tables_read_fdbs },
	{ "opensm-sl2vl.dump", DL_SNAPSHOT_HAS_SL2VL, dl_tables_read_sl2vl },
	{ "dateline-slvl.dump", DL_SNAPSHOT_HAS_SL2VL, dl_tables_read_slvl },
	{ "opensm.mcfdbs", DL_SNAPSHOT_HAS_MCFDBS, dl_tables_read_mcfdbs },
	{ "dateline-vlarb.dump", DL_SNAPSHOT_HAS_VLARB, dl_tables_read_vlarb },
	{ "dateline-psl.dump", DL_SNAPSHOT_HAS_PSL, dl_tables_read_psl },
};

static int read_file(const struct source *x, const char *path, struct dl_tables *t, unsigned int i)
{
	FILE *from = fopen(path, "r");
	int err;

	if (!from)
		return open_error(x, path);
	err = files[i].read(t, from, path, x->log);
	fclose(from);
	return err;
}

static int read_tables(struct source *x, const char *psl, struct dl_tables *t, unsigned int *parts)
{
	int err = 0;

	*parts = 0;
	for (unsigned int i = 0; !err && i < sizeof(files) / sizeof(*files); i++) {
		const char *path;

		if (*parts & files[i].part)
			continue;
		path = files[i].part == DL_SNAPSHOT_HAS_PSL && psl ? psl : find(x, files[i].name);
		if (!path)
			continue;
		err = read_file(x, path, t, i);
		*parts |= files[i].part;
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
 * OpenSM's subnet list does not tell how many VLs a port has, and every port
 * is taken to have 8.  Maps that name higher ones know better.
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

int dl_snapshot_read(const char *dir, const char *net, const char *psl, const struct dl_log *log,
		     struct dl_snapshot *out)
{
	struct dl_snapshot s = { 0 };
	struct source x = { .dir = dir, .log = log };
	int err;

	if (access(dir, R_OK | X_OK))
		return open_error(&x, dir);
	if (find(&x, DL_SNAPSHOT_MARK)) {
		dl_log(log, DL_LOG_ERROR,
		       "%s: writing this snapshot was interrupted, so that its "
		       "files may belong to different routings: write it again",
		       dir);
		return -EINVAL;
	}
	err = read_fabric(&x, net, &s.fabric);
	if (!err)
		err = complete_lids(&x, s.fabric);
	if (!err)
		err = dl_tables_new(s.fabric, &s.tables);
	if (!err)
		err = read_tables(&x, psl, s.tables, &s.parts);
	if (!err && !x.vls_known)
		widen_vls(s.fabric, s.tables);
	if (!err)
		err = dl_tables_check(s.tables, log);
	if (err) {
		dl_snapshot_release(&s);
		return err;
	}
	if (find(&x, DL_SNAPSHOT_GAPS)) {
		s.parts |= DL_SNAPSHOT_IS_PARTIAL;
		dl_log(log, DL_LOG_WARNING,
		       "%s: this snapshot is partial: %s says "
		       "what is missing",
		       dir, x.path);
	}
	*out = s;
	return 0;
}

void dl_snapshot_release(struct dl_snapshot *s)
{
	dl_tables_free(s->tables);
	dl_fabric_free(s->fabric);
	memset(s, 0, sizeof(*s));
}
