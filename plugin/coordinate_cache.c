/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The coordinates of a sweep (rules A3), so that they stay: applications keep
 * the SLs they were granted, and SLs follow from coordinates.
 *
 * Known are, whichever comes first:
 *
 * 1. when this subnet manager becomes the master, the marks in the switches
 *    (recall.c): they travel with the fabric, not with a host;
 * 2. the torus in force;
 * 3. the coordinate cache, a file beside OpenSM's cache: an ordinary
 *    torus-2QoS.conf with many seeds that share no switch, so that all
 *    coordinates come back as long as one of them is whole (cache_file.c).  A
 *    directory may hold the files of several fabrics: a fabric's own is the one
 *    that names most of its switches.
 *
 * A configuration of the user's goes before all of them: what it contradicts is
 * not used.  Without one, coordinates are found from the cabling only if
 * nothing is known, or if the cabling shows a whole torus that is another one.
 *
 * Whenever granted SLs are going to change, an error says so before tables are
 * written.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache_file.h"
#include "engine.h"
#include "dateline/base.h"

bool dl_cache_wanted(const char *torus_config)
{
	return !torus_config || (!strcmp(torus_config, OSM_DEFAULT_TORUS_CONF_FILE) &&
				 access(torus_config, F_OK) && errno == ENOENT);
}

/* ---- the file ---------------------------------------------------------- */

static const char *cache_dir(void)
{
	const char *dir = getenv("OSM_CACHE_DIR");

	return dir && *dir ? dir : OSM_DEFAULT_CACHE_DIR;
}

static int write_file(const struct dl_log *log, const struct dl_torus_config *file,
		      const struct dl_torus *t, bool told)
{
	char path[PATH_MAX];
	int err = dl_cache_file_write(cache_dir(), file, t, path);

	if (!err)
		dl_log(log, DL_LOG_INFO, "coordinates remembered in %s", path);
	else if (!told)
		dl_log(log, DL_LOG_WARNING,
		       "cannot remember the coordinates in %s: %s; the switches "
		       "hold them, too, as long as one keeps its power",
		       path, strerror(-err));
	return err;
}

/* Does a torus put all its switches where another one puts them? */
static bool same_sites(const struct dl_torus *a, const struct dl_torus *b)
{
	return a->nsites == b->nsites &&
	       !memcmp(a->grid.radix, b->grid.radix, sizeof(a->grid.radix)) &&
	       !memcmp(a->site_sw, b->site_sw, a->nsites * sizeof(*a->site_sw));
}

/* A switch of another fabric, or DL_NONE. */
static uint32_t find_switch(const struct dl_fabric *f, const struct dl_torus *of, uint32_t sw)
{
	uint32_t node = dl_fabric_find_guid(f, of->fabric->nodes[of->fabric->switches[sw]].guid);

	return node == DL_NONE ? DL_NONE : f->nodes[node].sw;
}

/* How many path SLs between switches that both have differ, and of how many? */
static int count_sls(const struct dl_torus *was, const struct dl_torus *is, uint64_t *differ,
		     uint64_t *all)
{
	uint32_t *then = malloc((is->nsites + 1) * sizeof(*then)), n = 0;
	uint32_t *now = malloc((is->nsites + 1) * sizeof(*now));
	int err = then && now ? 0 : -ENOMEM;

	*differ = 0;
	for (uint32_t site = 0; then && now && site < was->nsites; site++) {
		uint32_t sw = was->site_sw[site];

		sw = sw == DL_NONE ? DL_NONE : find_switch(is->fabric, was, sw);
		if (sw == DL_NONE || is->sw_site[sw] == DL_NONE)
			continue;
		then[n] = site;
		now[n++] = is->sw_site[sw];
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++)
			*differ += dl_route_sl(&was->grid, then[i], then[k]) !=
				   dl_route_sl(&is->grid, now[i], now[k]);
	free(then);
	free(now);
	*all = (uint64_t)n * n;
	return err;
}

/*
 * The file says what a whole fabric shows, be it whole only later; until then,
 * what there is.
 */
static void remember(struct dl_engine *e, const struct dl_log *log, const struct dl_torus *t)
{
	enum dl_remembered all = t->nplaced == t->nsites ? DL_REMEMBERED : DL_REMEMBERED_PARTLY;
	bool told = e->remembered == DL_REMEMBERING_FAILED;
	struct dl_torus_config *file = NULL;
	struct dl_torus *known = NULL;
	int err;

	if (e->remembered >= all)
		return;
	err = dl_cache_file_read(cache_dir(), t->fabric, NULL, &file);
	if (!err && file)
		err = dl_torus_discover(t->fabric, file, NULL, &known);
	if (err == -ENOMEM) {
		dl_log(log, DL_LOG_WARNING,
		       "no memory to remember the coordinates: the next sweep tries again");
	} else {
		if (!known || (!same_sites(known, t) && known->nplaced <= t->nplaced))
			err = write_file(log, file, t, told);
		e->remembered = err ? DL_REMEMBERING_FAILED : all;
	}
	dl_torus_free(known);
	dl_torus_config_free(file);
}

/* ---- what is known ----------------------------------------------------- */

struct known {
	struct dl_torus *own;	      /* by marks or file; to be freed */
	const struct dl_torus *torus; /* that, or the one in force; or NULL */
	bool marked;		      /* by marks, made in this mode: */
	unsigned int mode;
};

static int find_known(struct dl_engine *e, struct dl_sweep *sweep, struct known *k)
{
	struct dl_torus_config *file;
	struct dl_osm_log l;
	int err;

	*k = (struct known){ .own = NULL };
	err = dl_recall_torus(e, &sweep->arena, sweep->fabric, &k->mode, &k->own);
	if (err)
		return err;
	k->marked = k->own;
	k->torus = k->own;
	if (!k->torus && e->in_force && !e->in_force->contradicted)
		k->torus = e->in_force->torus;
	if (k->torus)
		return 0;
	dl_osm_log_init(&l, e->osm, "DL28");
	if (dl_cache_file_read(cache_dir(), sweep->fabric, &l.log, &file) == -ENOMEM)
		return -ENOMEM;
	if (file)
		err = dl_torus_discover(sweep->fabric, file, NULL, &k->own);
	k->torus = k->own;
	dl_torus_config_free(file);
	return err == -ENOMEM ? err : 0;
}

/*
 * Say what changes for those who hold path SLs, before it does.  In any-SL mode
 * all that were granted stay safe.
 */
static int report_sls(struct dl_engine *e, const struct known *k, const struct dl_torus *t)
{
	uint64_t all, differ;
	int err;

	if ((!e->set_up_before && !e->in_force) || e->options.route.mode == DL_ROUTE_ANY_SL)
		return 0;
	if (!k->torus) {
		if (!e->in_force)
			DL_SAY(e->osm, OSM_LOG_ERROR,
			       "ERR DL27: the switches hold tables of an earlier subnet manager, "
			       "but no "
			       "coordinates, and no file in %s has any: path SLs that were granted "
			       "may "
			       "change; applications that keep them must ask for new ones",
			       cache_dir());
		return 0;
	}
	err = count_sls(k->torus, t, &differ, &all);
	if (err)
		return err;
	if (differ)
		e->remembered = DL_NOT_REMEMBERED;
	if (k->marked && k->mode == DL_ROUTE_ANY_SL)
		differ = all;
	if (differ)
		DL_SAY(e->osm, OSM_LOG_ERROR,
		       "ERR DL27: new %s: %" PRIu64 " of %" PRIu64
		       " path SLs between switches change; applications that keep them must ask "
		       "for new ones",
		       differ == all ? "mode or coordinates" : "coordinates", differ, all);
	return 0;
}

/* How much of the fabric has no place here? */
static uint32_t count_unplaced(const struct dl_torus *t)
{
	uint32_t cables, switches = dl_torus_count_unplaceable(t, &cables);

	return switches + cables + t->nunplaced;
}

/*
 * Is the cabling that of another torus?  One that is not whole may be the known
 * one, damaged.
 */
static bool is_another(const struct dl_torus *found, const struct dl_torus *known)
{
	return !known ||
	       (found->nplaced == found->nsites && count_unplaced(found) < count_unplaced(known));
}

/* Returns 0 also if nothing better than what is known was found. */
static int find_anew(const struct dl_log *log, struct dl_sweep *sweep)
{
	const struct dl_log *say = sweep->torus ? NULL : log;
	struct dl_torus_config *c = NULL;
	struct dl_torus *t = NULL;
	int err = dl_torus_infer(sweep->fabric, say, &c);

	if (!err)
		err = dl_torus_discover(sweep->fabric, c, say, &t);
	if (err || !is_another(t, sweep->torus)) {
		dl_torus_free(t);
		dl_torus_config_free(c);
		return sweep->torus && err != -ENOMEM ? 0 : err;
	}
	if (sweep->torus) {
		dl_log(log, DL_LOG_WARNING, "the cabling is another one than was remembered");
		err = dl_torus_report_off_torus(t, log);
	}
	dl_torus_free(sweep->torus);
	dl_torus_config_free(sweep->config);
	sweep->torus = t;
	sweep->config = c;
	return err;
}

int dl_cache_discover(struct dl_engine *e, const struct dl_log *log, struct dl_sweep *sweep)
{
	struct known k;
	int err = find_known(e, sweep, &k);

	/* What is contradicted altogether is as good as unknown. */
	if (!err && k.torus)
		err = dl_torus_recall(sweep->fabric, k.torus, log, &sweep->config, &sweep->torus);
	if (err == -EINVAL)
		err = 0;
	if (!err && (!sweep->torus || count_unplaced(sweep->torus)))
		err = find_anew(log, sweep);
	if (!err)
		err = report_sls(e, &k, sweep->torus);
	if (!err)
		remember(e, log, sweep->torus);
	dl_torus_free(k.own);
	return err;
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

/* The documented rules know nothing of earlier sweeps. */
int dl_cache_complete(struct dl_engine *e, const struct dl_log *log, struct dl_sweep *sweep)
{
	bool documented = e->options.route.mode == DL_ROUTE_CLASSIC;
	struct known k;
	int err = find_known(e, sweep, &k);

	/* It counts from the configuration's first seed. */
	if (k.own)
		k.own->seed = 0;
	if (!err)
		err = dl_torus_discover_again(sweep->fabric, sweep->config,
					      documented ? NULL : k.torus, log, &sweep->torus);
	if (!err)
		err = check_config(e, sweep);
	if (!err && k.torus)
		err = report_sls(e, &k, sweep->torus);
	if (!err && !documented && !sweep->contradicted)
		remember(e, log, sweep->torus);
	dl_torus_free(k.own);
	return err;
}
