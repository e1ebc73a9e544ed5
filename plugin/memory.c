/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Routing without a configuration (SPEC A3): coordinates from the cabling,
 * remembered beside OpenSM's cache.
 *
 * SLs follow from coordinates, and applications keep the SLs they were
 * granted.  A restarted subnet manager must therefore find the same
 * coordinates, also on a fabric that has been damaged meanwhile, where the
 * cabling alone may no longer tell them.  So what was found is written down
 * as an ordinary torus-2QoS.conf with many seeds that share no switch: as
 * long as one of them is whole, all coordinates come back.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine.h"
#include "log.h"

#define FILE_NAME "dateline-torus.conf"
#define MAX_SEEDS 64

/* Does everything in the fabric have its place? */
static bool fits(const struct dl_torus *t)
{
	return !t->nunplaced && !t->nodd_links;
}

/* The file's path; NULL without memory. */
static char *memory_path(const char *suffix)
{
	const char *dir = getenv("OSM_CACHE_DIR");
	char *path;

	if (!dir || !*dir)
		dir = OSM_DEFAULT_CACHE_DIR;
	return asprintf(&path, "%s/" FILE_NAME "%s", dir, suffix) < 0 ? NULL :
									path;
}

bool dl_memory_wanted(const char *torus_config)
{
	return !torus_config ||
	       (!strcmp(torus_config, OSM_DEFAULT_TORUS_CONF_FILE) &&
		access(torus_config, F_OK) && errno == ENOENT);
}

static void recall(const struct dl_log *log, struct dl_plan *p)
{
	char *path = memory_path("");

	if (path && !access(path, F_OK) &&
	    !dl_torus_config_read(path, log, &p->config) &&
	    dl_torus_discover(p->fabric, p->config, log, &p->torus)) {
		dl_torus_config_free(p->config);
		p->config = NULL;
	}
	free(path);
}

static void remember(const struct dl_log *log, const struct dl_torus *t)
{
	char *path = memory_path(""), *part = memory_path(".part");
	struct dl_torus_config *c = NULL;
	FILE *to = NULL;
	int err = path && part ? dl_torus_describe(t, MAX_SEEDS, &c) : -ENOMEM;

	if (!err) {
		to = fopen(part, "w");
		err = to ? dl_torus_config_write(c, to) : -errno;
	}
	if (to && fclose(to) && !err)
		err = -errno;
	if (!err && rename(part, path))
		err = -errno;
	if (err)
		dl_log(log, DL_WARNING,
		       "cannot remember the coordinates in %s: %s; after a "
		       "restart on a damaged fabric they may differ, and SLs "
		       "with them",
		       path ? path : FILE_NAME, strerror(-err));
	else
		dl_log(log, DL_INFO, "coordinates remembered in %s", path);
	dl_torus_config_free(c);
	free(path);
	free(part);
}

int dl_memory_discover(const struct dl_log *log, struct dl_plan *p)
{
	struct dl_torus_config *c = NULL;
	struct dl_torus *t = NULL;
	int err;

	recall(log, p);
	if (p->torus && fits(p->torus))
		return 0;
	err = dl_torus_infer(p->fabric, log, &c);
	if (!err)
		err = dl_torus_discover(p->fabric, c, log, &t);
	if (err) {
		dl_torus_config_free(c);
		/* Better some places, and the rest named, than none. */
		return p->torus ? 0 : err;
	}
	if (p->torus)
		dl_log(log, DL_WARNING,
		       "the cabling is another one than was remembered: new "
		       "coordinates, and SLs granted before may not be right");
	dl_torus_free(p->torus);
	dl_torus_config_free(p->config);
	p->torus = t;
	p->config = c;
	remember(log, t);
	return 0;
}
