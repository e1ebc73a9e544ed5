/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The coordinate cache: coordinates from the cabling, in a file beside OpenSM's
 * cache (rules A3), for routing without a configuration, and for where one does
 * not suffice.
 *
 * SLs follow from coordinates, and applications keep the SLs they were
 * granted.  A restarted subnet manager must therefore find the same
 * coordinates, also on a fabric that has been damaged meanwhile, where the
 * cabling alone may no longer tell them.  So what was found is written down
 * as an ordinary torus-2QoS.conf with many seeds that share no switch: as
 * long as one of them is whole, all coordinates come back.
 *
 * The same helps where a configuration is given whose few seeds have failed.
 * It goes before the cache: what it contradicts is not used.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine.h"
#include "dateline/base.h"

#define FILE_NAME "dateline-torus.conf"
#define MAX_SEEDS 64

/* The file's path; false: it is too long. */
static bool cache_path(char path[PATH_MAX])
{
	const char *dir = getenv("OSM_CACHE_DIR");

	return snprintf(path, PATH_MAX, "%s/" FILE_NAME,
			dir && *dir ? dir : OSM_DEFAULT_CACHE_DIR) < PATH_MAX;
}

bool dl_cache_wanted(const char *torus_config)
{
	return !torus_config || (!strcmp(torus_config, OSM_DEFAULT_TORUS_CONF_FILE) &&
				 access(torus_config, F_OK) && errno == ENOENT);
}

/* What the file says of the fabric as it is: nothing, if it says nothing. */
static void read_cache(const struct dl_engine *e, const struct dl_log *log,
		       const struct dl_fabric *f, struct dl_torus_config **c, struct dl_torus **t)
{
	char path[PATH_MAX];

	*c = NULL;
	*t = NULL;
	if (cache_path(path) && !access(path, F_OK) && !dl_torus_config_read(path, log, c) &&
	    dl_torus_discover_again(f, *c, dl_torus_before(e), log, t)) {
		dl_torus_config_free(*c);
		*c = NULL;
	}
}

static void write_cache(const struct dl_log *log, const struct dl_torus *t)
{
	char path[PATH_MAX];
	struct dl_torus_config *c = NULL;
	struct dl_file f;
	int err = cache_path(path) ? dl_torus_describe(t, MAX_SEEDS, &c) : -ENAMETOOLONG;

	if (!err)
		err = dl_file_begin(&f, path);
	if (!err)
		err = dl_file_finish(&f, dl_torus_config_write(c, f.to));
	if (!err)
		err = dl_file_place(&f);
	if (err)
		dl_log(log, DL_LOG_WARNING,
		       "cannot remember the coordinates in %s: %s; after a "
		       "restart on a damaged fabric they may differ, and SLs "
		       "with them",
		       path, strerror(-err));
	else
		dl_log(log, DL_LOG_INFO, "coordinates remembered in %s", path);
	dl_torus_config_free(c);
}

/* How much of the fabric has no place here? */
static uint32_t count_unplaced(const struct dl_torus *t)
{
	uint32_t cables, switches = dl_torus_count_unplaceable(t, &cables);

	return switches + cables + t->nunplaced;
}

/*
 * Coordinates found anew are worth a change of SLs only if they make more of
 * the fabric fit.  Where everything has a place they cannot.
 */
int dl_cache_discover(const struct dl_engine *e, const struct dl_log *log, struct dl_sweep *sweep)
{
	struct dl_torus_config *c = NULL;
	struct dl_torus *t = NULL;
	int err;

	read_cache(e, log, sweep->fabric, &sweep->config, &sweep->torus);
	if (sweep->torus && !count_unplaced(sweep->torus))
		return 0;
	/* What has no place has been named. */
	err = dl_torus_infer(sweep->fabric, sweep->torus ? NULL : log, &c);
	if (!err)
		err = dl_torus_discover(sweep->fabric, c, sweep->torus ? NULL : log, &t);
	if (err || (sweep->torus && count_unplaced(t) >= count_unplaced(sweep->torus))) {
		dl_torus_free(t);
		dl_torus_config_free(c);
		/* Better some places, and the rest named, than none. */
		return sweep->torus ? 0 : err;
	}
	if (sweep->torus) {
		dl_log(log, DL_LOG_WARNING,
		       "the cabling is another one than was remembered: new "
		       "coordinates, and SLs granted before may not be right");
		dl_torus_report_off_torus(t, log);
	}
	dl_torus_free(sweep->torus);
	dl_torus_config_free(sweep->config);
	sweep->torus = t;
	sweep->config = c;
	write_cache(log, t);
	return 0;
}

/* Does a torus put all its switches where another one puts them? */
static bool same_sites(const struct dl_torus *a, const struct dl_torus *b)
{
	return a->nsites == b->nsites &&
	       !memcmp(a->grid.radix, b->grid.radix, sizeof(a->grid.radix)) &&
	       !memcmp(a->site_sw, b->site_sw, a->nsites * sizeof(*a->site_sw));
}

/*
 * Say where the configuration and the cabling contradict each other; wrong
 * coordinates serve this sweep, and are not remembered.
 */
static int check_config(const struct dl_engine *e, struct dl_sweep *sweep)
{
	struct dl_osm_log l;
	int found;

	dl_osm_log_init(&l, e->osm, "DL25");
	found = dl_torus_check_config(sweep->torus, sweep->config, &l.log);
	sweep->contradicted = found == DL_TORUS_CONTRADICTS;
	return found < 0 ? found : 0;
}

/*
 * With a configuration, which leads.  The first sweep of an engine takes from
 * the file what the configuration leaves open on a damaged fabric, and leaves
 * there what a whole one shows.
 */
int dl_cache_complete(const struct dl_engine *e, const struct dl_log *log, struct dl_sweep *sweep)
{
	struct dl_torus_config *c = NULL;
	struct dl_torus *known = NULL;
	const struct dl_torus *before = dl_torus_before(e);
	bool first = !before && e->options.route.mode != DL_ROUTE_CLASSIC;
	int err;

	if (first)
		read_cache(e, NULL, sweep->fabric, &c, &known);
	/* It counts from the configuration's first seed. */
	if (known)
		known->seed = 0;
	err = dl_torus_discover_again(sweep->fabric, sweep->config, first ? known : before, log,
				      &sweep->torus);
	if (!err)
		err = check_config(e, sweep);
	if (!err && first && !sweep->contradicted &&
	    sweep->torus->nplaced == sweep->torus->nsites &&
	    !(known && same_sites(known, sweep->torus)))
		write_cache(log, sweep->torus);
	dl_torus_free(known);
	dl_torus_config_free(c);
	return err;
}
