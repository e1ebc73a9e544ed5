/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What is written for people and for the dateline command: with dump_dir the
 * whole routing after each sweep, and the coordinates beside OpenSM's own
 * dumps.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <time.h>

#include "engine.h"

/* Beside it, why its tables have no credit loop: for contrib/check. */
static void write_certificate(const struct dl_engine *e, const char *dir)
{
	char path[PATH_MAX];
	struct dl_verify_options o;
	struct dl_file f;
	int err = snprintf(path, sizeof(path), "%s/dateline-certificate.txt", dir) < PATH_MAX ?
			  dl_file_begin(&f, path) :
			  -ENAMETOOLONG;

	dl_verify_options_init(&o);
	o.multicast_sls = e->in_force->safe_sls;
	if (!err)
		err = dl_file_finish(&f,
				     dl_verify_certificate(e->in_force->routed.tables, &o, f.to));
	if (!err)
		err = dl_file_place(&f);
	if (err)
		DL_SAY(e->osm, OSM_LOG_ERROR, "ERR DL33: cannot write %s: %s", path,
		       strerror(-err));
}

void dl_dump_dir_write(const struct dl_engine *e)
{
	const char *dir = e->options.dump_dir;
	struct dl_snapshot s = { .about.written = time(NULL) };
	struct dl_osm_log l;
	int err;

	if (!dir || !e->in_force || e->in_force->written)
		return;
	dl_osm_log_init(&l, e->osm, "DL30");
	s.tables = e->in_force->routed.tables;
	err = dl_route_describe(e->in_force->torus, e->in_force->config, &e->options.route, &s);
	if (!err)
		err = dl_snapshot_write(&s, dir, 0, &l.log);
	s.tables = NULL; /* they stay in force */
	dl_snapshot_release(&s);
	/* After a failure, such as a full disk, the next sweep tries again. */
	e->in_force->written = !err;
	if (!e->in_force->written)
		return;
	DL_SAY(e->osm, OSM_LOG_VERBOSE, "snapshot written to %s", dir);
	if (e->in_force->proven)
		write_certificate(e, dir);
}

void dl_coordinates_write(struct osm_opensm *osm, const struct dl_sweep *sweep, const char *dir)
{
	char path[PATH_MAX];
	struct dl_file f;
	int err = snprintf(path, sizeof(path), "%s/dateline-torus.dump", dir) < PATH_MAX ?
			  dl_file_begin(&f, path) :
			  -ENAMETOOLONG;

	if (!err)
		err = dl_file_finish(&f, dl_torus_write_list(sweep->torus, f.to));
	if (!err)
		err = dl_file_place(&f);
	if (err)
		DL_SAY(osm, OSM_LOG_ERROR, "ERR DL31: cannot write dateline-torus.dump in %s: %s",
		       dir, strerror(-err));
}
