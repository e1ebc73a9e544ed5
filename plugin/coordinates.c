/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The coordinates of a sweep (rules A3), kept from one sweep to the next:
 * applications keep the SLs they were granted, and SLs follow from coordinates.
 *
 * Coordinates are known from, in this order:
 *
 * 1. when this subnet manager becomes the master, the marks in the switches
 *    (marks.c): they travel with the fabric, not with a host;
 * 2. the torus in force, and the marks of switches that come back to it.
 *
 * Nothing is kept on disk: after a loss of all power no connection is left whose
 * SL could change.
 *
 * Without any, proven and any-SL mode route along a spanning tree (rules A12).  These
 * coordinates, and those that a configuration gives against the cabling, are
 * provisional: no mark is made of them, and the next sweep looks again.
 *
 * The user's configuration takes precedence: known coordinates that it
 * contradicts are not used.  Without a configuration, coordinates are found from
 * the cabling only if none are known, or if the cabling shows a whole torus that
 * is another one.
 *
 * If granted SLs are going to change, an error in the log says so before tables
 * are written.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinates.h"
#include "engine.h"
#include "log.h"
#include "marks.h"
#include "recall.h"
#include "sweep.h"
#include "dateline/base.h"

bool dl_coordinates_are_configured(const char *torus_config)
{
	return torus_config && (strcmp(torus_config, OSM_DEFAULT_TORUS_CONF_FILE) ||
				!access(torus_config, F_OK) || errno != ENOENT);
}

/* ---- known coordinates ------------------------------------------------- */

struct coordinates_known {
	struct dl_torus *marked;      /* by marks in the switches, to be freed; or NULL */
	unsigned int modes;	      /* bits: by which path SLs were granted (dl_marks_mode()) */
	const struct dl_torus *torus; /* that, or the one in force; or NULL */
	const struct dl_torus *sls;   /* by which SLs were granted: provisional ones, too */
};

static int coordinates_find_known(const struct dl_engine *e, struct dl_sweep *sweep,
				  struct coordinates_known *k)
{
	int err;

	*k = (struct coordinates_known){ .modes = e->in_force ?
							  1u << dl_marks_mode(e, e->in_force) :
							  0 };
	err = dl_marks_torus(e, &sweep->arena, sweep->fabric, &k->modes, &k->marked);
	k->sls = e->in_force && (!k->marked || !e->osm->subn.first_time_master_sweep) ?
			 e->in_force->torus :
			 k->marked;
	k->torus = k->marked || !e->in_force || e->in_force->provisional ? k->marked : k->sls;
	return err;
}

/*
 * Count the path SLs between switches of both tori (`all`), and those that differ.  Of
 * marks, nothing is known of switches without one.
 */
static int coordinates_compare_sls(const struct coordinates_known *k, const struct dl_torus *was,
				   const struct dl_torus *is, bool balanced, bool balanced_then,
				   uint64_t *differ, uint64_t *all)
{
	const struct dl_route_sl_rule by = { &is->grid, balanced },
				      by_then = { &was->grid, balanced_then };
	uint32_t nsw = was->fabric->nswitches, n = 0;
	uint32_t *then = malloc(2 * (nsw + 1ul) * sizeof(*then)), *now = then + nsw;
	struct dl_fabric_match there = { .node = NULL };
	int err = then ? dl_fabric_match(was->fabric, is->fabric, &there) : -ENOMEM;

	*differ = 0;
	for (uint32_t s = 0; !err && s < nsw; s++) {
		uint32_t sw = dl_fabric_match_switch(&there, s);

		if ((was == k->marked && was->sw_site[s] == DL_NONE) || sw == DL_NONE ||
		    is->attachment[sw] == DL_NONE || was->attachment[s] == DL_NONE)
			continue;
		then[n] = was->attachment[s];
		now[n++] = is->attachment[sw];
	}
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++)
			*differ += dl_route_sl_differs(&by, (uint32_t[]){ now[a], now[b] },
						       &by_then, (uint32_t[]){ then[a], then[b] });
	dl_fabric_match_release(&there);
	free(then);
	*all = (uint64_t)n * n;
	return err;
}

/*
 * Log how many granted path SLs change, before they do.  In any-SL mode none
 * become unsafe.
 */
static int coordinates_report_sls(const struct dl_engine *e, const struct coordinates_known *k,
				  const struct dl_sweep *sweep, bool configured)
{
	bool balanced = dl_marks_mode(e, sweep) == DL_ROUTE_MARK_BALANCED, ties;
	uint64_t all, more, differ, other = 0;
	int err;

	if ((!e->recall.set_up_before && !k->sls) || e->options.route.mode == DL_ROUTE_ANY_SL)
		return 0;
	if (!k->sls && configured && !balanced) {
		DL_SAY(e->osm, OSM_LOG_INFO,
		       "the switches hold tables, but no coordinates: path SLs that torus-2QoS "
		       "granted by this configuration stay as they are; applications that hold "
		       "others must ask for new ones");
		return 0;
	}
	if (!k->sls) {
		DL_SAY(e->osm, OSM_LOG_ERROR,
		       "ERR DL27: the switches hold tables of an earlier subnet manager, "
		       "but no coordinates: path SLs that were granted may change; "
		       "applications that keep them must ask for new ones");
		return 0;
	}
	/* Whoever was the master before may not have reached all switches: marks may differ. */
	ties = k->modes >> DL_ROUTE_MARK_BALANCED & 1;
	err = coordinates_compare_sls(k, k->sls, sweep->torus, balanced, ties, &differ, &all);
	if (!err && ties && k->modes != 1u << DL_ROUTE_MARK_BALANCED)
		err = coordinates_compare_sls(k, k->sls, sweep->torus, balanced, false, &other,
					      &all);
	if (!err && k->marked && k->marked != k->sls) {
		/* What has come back had SLs by its mark. */
		err = coordinates_compare_sls(k, k->marked, sweep->torus, balanced, ties, &more,
					      &all);
		differ = more > differ ? more : differ;
	}
	if (err)
		return err;
	if (other > differ)
		differ = other;
	if (k->sls == k->marked && k->modes >> DL_ROUTE_ANY_SL & 1)
		differ = all;
	if (differ)
		DL_SAY(e->osm, OSM_LOG_ERROR,
		       "ERR DL27: new %s: %" PRIu64 " of %" PRIu64
		       " path SLs between switches change; applications that keep them must ask "
		       "for new ones",
		       differ == all		 ? "mode or coordinates" :
		       balanced != ties || other ? "ties" :
						   "coordinates",
		       differ, all);
	return 0;
}

void dl_coordinates_report_return(const struct dl_engine *e)
{
	if (e->options.route.mode != DL_ROUTE_ANY_SL)
		DL_SAY(e->osm, OSM_LOG_ERROR,
		       "ERR DL27: this fabric is routed by dateline again: path SLs that another "
		       "engine granted meanwhile change; applications that hold them must ask for "
		       "new ones");
}

/* ---- finding ------------------------------------------------------------- */

int dl_coordinates_discover(const struct dl_engine *e, const struct dl_log *log,
			    struct dl_sweep *sweep)
{
	struct coordinates_known k;
	int err = coordinates_find_known(e, sweep, &k);

	if (!err)
		err = dl_torus_discover_known(sweep->fabric, k.torus,
					      e->options.route.mode != DL_ROUTE_CLASSIC, log,
					      &sweep->config, &sweep->torus);
	if (!err)
		sweep->provisional = dl_torus_is_rooted(sweep->torus);
	if (!err)
		err = coordinates_report_sls(e, &k, sweep, false);
	dl_torus_free(k.marked);
	return err;
}

/* Log where the configuration contradicts the cabling. */
static int coordinates_check_config(const struct dl_engine *e, struct dl_sweep *sweep)
{
	struct dl_osm_log l;
	int found;

	sweep->provisional = dl_torus_is_rooted(sweep->torus);
	if (sweep->provisional)
		return 0; /* which has been logged */
	dl_osm_log_init(&l, e->osm, "DL25");
	found = dl_torus_check_config(sweep->torus, sweep->config, &l.log);
	sweep->provisional = found == DL_TORUS_CONTRADICTS;
	return found < 0 ? found : 0;
}

int dl_coordinates_complete(const struct dl_engine *e, const struct dl_log *log,
			    struct dl_sweep *sweep)
{
	/* The documented rules know nothing of earlier sweeps. */
	bool documented = e->options.route.mode == DL_ROUTE_CLASSIC;
	struct coordinates_known k;
	int err = coordinates_find_known(e, sweep, &k);

	if (!err)
		err = dl_torus_discover_again(sweep->fabric, sweep->config,
					      documented ? NULL : k.torus, log, &sweep->torus);
	/* Without a usable seed, every connected fabric is routed all the same. */
	if (err == -EINVAL && !documented)
		err = dl_torus_discover_any(sweep->fabric, &sweep->config->grid, log, NULL,
					    &sweep->torus);
	if (!err)
		err = coordinates_check_config(e, sweep);
	if (!err)
		err = coordinates_report_sls(e, &k, sweep, true);
	dl_torus_free(k.marked);
	return err;
}
