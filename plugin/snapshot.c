/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What is written for people and for the dateline command: with dump_dir the
 * whole routing after each sweep, and the coordinates beside OpenSM's own
 * dumps.  A snapshot's file appears under its name only once it is complete.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine.h"

static int write_netlist(const struct dl_tables *t, FILE *to)
{
	return dl_fabric_write_netlist(t->fabric, to);
}

static int write_subnet_list(const struct dl_tables *t, FILE *to)
{
	return dl_fabric_write_subnet_list(t->fabric, to);
}

static const struct {
	const char *name;
	int (*write)(const struct dl_tables *t, FILE *to);
} files[] = {
	{ "dateline.net", write_netlist },
	{ "opensm-subnet.lst", write_subnet_list },
	{ "opensm-lfts.dump", dl_write_lfts },
	{ "opensm-sl2vl.dump", dl_write_sl2vl },
	{ "opensm.fdbs", dl_write_fdbs },
	{ "opensm.mcfdbs", dl_write_mcfdbs },
	{ "dateline-vlarb.dump", dl_write_vlarb },
	{ "dateline-psl.dump", dl_write_psl },
	{ "dateline-slvl.dump", dl_write_slvl },
};

static char *join(const char *dir, const char *name, const char *suffix)
{
	char *path;

	return asprintf(&path, "%s/%s%s", dir, name, suffix) < 0 ? NULL : path;
}

static int write_file(const struct dl_tables *t, const char *temporary,
		      int (*write)(const struct dl_tables *t, FILE *to))
{
	FILE *to = fopen(temporary, "w");
	int err;

	if (!to)
		return -errno;
	err = write(t, to);
	if (fclose(to) && !err)
		err = -errno;
	return err;
}

static int replace_file(const struct dl_tables *t, const char *dir, size_t i)
{
	char *path = join(dir, files[i].name, "");
	char *temporary = join(dir, files[i].name, ".new");
	int err = path && temporary ? 0 : -ENOMEM;

	if (!err) {
		err = write_file(t, temporary, files[i].write);
		if (!err && rename(temporary, path))
			err = -errno;
		if (err)
			unlink(temporary);
	}
	free(path);
	free(temporary);
	return err;
}

void dl_snapshot_write(const struct dl_engine *e)
{
	const char *dir = e->options.dump_dir;
	size_t i;
	int err;

	if (!dir || !e->plan || e->plan->written)
		return;
	e->plan->written = true;
	/* Whatever is wrong with it shows when a file is opened in it. */
	mkdir(dir, 0777);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		err = replace_file(e->plan->tables, dir, i);
		if (!err)
			continue;
		DL_SAY(e->osm, OSM_LOG_ERROR, "ERR DL30: dump_dir: cannot "
		       "write %s/%s: %s; the snapshot is not complete", dir,
		       files[i].name, strerror(-err));
		return;
	}
	DL_SAY(e->osm, OSM_LOG_VERBOSE, "snapshot written to %s", dir);
}

/* One line a switch, in the order of the sites. */
static void write_coordinates(const struct dl_plan *p, FILE *to)
{
	const struct dl_fabric *f = p->fabric;
	uint32_t site, c[DL_DIMS];

	for (site = 0; site < p->torus->nsites; site++) {
		uint32_t sw = p->torus->site_sw[site];

		if (sw == DL_NONE)
			continue;
		dl_site_coord(&p->torus->grid, site, c);
		fprintf(to, "switch %u,%u,%u GUID 0x%016" PRIx64 " (%s)\n",
			c[0], c[1], c[2], f->nodes[f->switches[sw]].guid,
			dl_node_name(f, f->switches[sw]));
	}
}

void dl_coordinates_write(struct osm_opensm *osm, const struct dl_plan *p,
			  const char *dir)
{
	char *path = join(dir, "dateline-torus.dump", "");
	FILE *to = path ? fopen(path, "w") : NULL;

	if (to) {
		write_coordinates(p, to);
		if (fclose(to))
			to = NULL;
	}
	if (!to)
		DL_SAY(osm, OSM_LOG_ERROR, "ERR DL31: cannot write "
		       "dateline-torus.dump in %s: %s", dir, strerror(errno));
	free(path);
}
