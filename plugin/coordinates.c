/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The coordinates of a sweep (rules A3), kept from one sweep to the next:
 * applications keep the SLs they were granted, and SLs follow from coordinates.
 *
 * Coordinates are known from, in this order:
 *
 * 1. when this subnet manager becomes the master, the marks in the switches
 *    (marks.c): they travel with the fabric, not with a host;
 * 2. the torus in force, and for switches that come back to it what was in force when
 *    they left, and their marks.
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
	/* What another master granted meanwhile counts, too. */
	for (uint32_t s = 0; s < sweep->fabric->nswitches; s++) {
		struct dl_torus_mark m =
			dl_marks_foreign(e, dl_fabric_switch_node(sweep->fabric, s)->guid);

		k->modes |= m.site == DL_NONE ? 0 : 1u << m.mode;
	}
	err = dl_marks_torus(e, &sweep->arena, sweep->fabric, &k->modes, &k->marked);
	k->sls = e->in_force && (!k->marked || !e->osm->subn.first_time_master_sweep) ?
			 e->in_force->torus :
			 k->marked;
	k->torus = k->marked || !e->in_force || e->in_force->provisional ? k->marked : k->sls;
	return err;
}

/* Where SLs were granted to a switch of this sweep, and where they are going to be. */
struct coordinates_grant {
	uint32_t then, now; /* sites of its attachment */
	bool foreign;	    /* then at another place, on another grid, or in another mode */
};

/*
 * By the tables in force, or those in force when it left, or its mark.  Of marks, nothing is
 * known of switches without one.
 */
static struct coordinates_grant coordinates_find_grant(const struct dl_engine *e,
						       const struct coordinates_known *k,
						       const struct dl_torus *is, uint32_t s)
{
	const struct dl_torus *was = k->sls;
	uint64_t guid = dl_fabric_switch_node(is->fabric, s)->guid;
	uint32_t node = dl_fabric_find_guid(was->fabric, guid);
	uint32_t w = node == DL_NONE ? DL_NONE : was->fabric->nodes[node].sw;
	struct coordinates_grant g = { DL_NONE, is->attachment[s], false };
	struct dl_torus_mark grant = dl_marks_granted(e, guid);

	if (w != DL_NONE && (was != k->marked || was->sw_site[w] != DL_NONE)) {
		g.then = was->attachment[w];
		g.foreign = dl_marks_foreign(e, guid).site != DL_NONE;
	} else if (grant.site != DL_NONE) {
		g.then = grant.site;
		g.foreign = !dl_torus_same_grid(&grant.grid, &was->grid) ||
			    !(k->modes >> grant.mode & 1);
	} else if (k->marked) {
		/* A torus of marks is one of this sweep's fabric. */
		g.then = k->marked->sw_site[s];
	}
	return g;
}

/* Count the path SLs between switches that had some (`all`), and those that differ. */
static int coordinates_compare_sls(const struct dl_engine *e, const struct coordinates_known *k,
				   const struct dl_torus *is, bool balanced, bool balanced_then,
				   uint64_t *differ, uint64_t *all)
{
	const struct dl_route_sl_rule by = { &is->grid, balanced },
				      by_then = { &k->sls->grid, balanced_then };
	uint32_t nsw = is->fabric->nswitches, n = 0;
	struct coordinates_grant *grants = malloc((nsw + 1ul) * sizeof(*grants));

	if (!grants)
		return -ENOMEM;
	for (uint32_t s = 0; s < nsw; s++) {
		grants[n] = coordinates_find_grant(e, k, is, s);
		n += grants[n].then != DL_NONE && grants[n].now != DL_NONE;
	}
	*differ = 0;
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++)
			*differ += grants[a].foreign || grants[b].foreign ||
				   dl_route_sl_differs(
					   &by, (uint32_t[]){ grants[a].now, grants[b].now },
					   &by_then,
					   (uint32_t[]){ grants[a].then, grants[b].then });
	free(grants);
	*all = (uint64_t)n * n;
	return 0;
}

/*
 * Log how many granted path SLs change, before they do.  In any-SL mode none
 * become unsafe.
 */
static int coordinates_report_sls(const struct dl_engine *e, const struct coordinates_known *k,
				  const struct dl_sweep *sweep, bool configured)
{
	bool balanced = dl_marks_mode(e, sweep) == DL_ROUTE_MARK_BALANCED, ties;
	uint64_t all, differ, other = 0;
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
	err = coordinates_compare_sls(e, k, sweep->torus, balanced, ties, &differ, &all);
	if (!err && ties && k->modes != 1u << DL_ROUTE_MARK_BALANCED)
		err = coordinates_compare_sls(e, k, sweep->torus, balanced, false, &other, &all);
	if (err)
		return err;
	if (other > differ)
		differ = other;
	if (k->modes >> DL_ROUTE_ANY_SL & 1)
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
