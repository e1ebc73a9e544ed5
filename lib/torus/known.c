/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Coordinates where an earlier torus is known, by a subnet manager's last sweep, by marks
 * in the switches or by a snapshot (rules A3): they are kept, since applications keep the
 * SLs that they were granted, unless the cabling shows a whole torus that is another one,
 * and by more than what is missing: a cable that is taken out must not change them.
 */
#include <errno.h>

#include "torus/internal.h"

/* Switches and cables without a place in the torus. */
static uint32_t known_count_unplaced(const struct dl_torus *t)
{
	uint32_t cables, switches = dl_torus_count_unplaceable(t, &cables);

	return switches + cables + t->nunplaced;
}

/*
 * Does the cabling show a torus other than the known one?  A torus that is not
 * whole may be the known one, damaged.
 */
static bool known_is_other(const struct dl_torus *found, const struct dl_torus *known)
{
	return !known || (found->nplaced == found->nsites &&
			  known_count_unplaced(found) < known_count_unplaced(known));
}

/*
 * Has a fabric a switch, or a cable between switches, that the one of the known torus lacks?
 * If they are the same, nobody knows what it was before.
 */
static int known_has_grown(const struct dl_fabric *f, const struct dl_torus *known, bool *grown)
{
	struct dl_fabric_match before;
	int err;

	*grown = !known || known->fabric == f;
	if (*grown)
		return 0;
	err = dl_fabric_match(f, known->fabric, &before);
	for (uint32_t p = 0; p < f->nports && !err && !*grown; p++)
		*grown = dl_fabric_joins_switches(f, p) && !dl_fabric_match_has_cable(&before, p);
	dl_fabric_match_release(&before);
	return err;
}

/* Returns 0 also if nothing better than the known torus was found. */
static int known_infer(const struct dl_fabric *f, const struct dl_log *log,
		       struct dl_torus_config **config, struct dl_torus **torus)
{
	struct dl_torus_config *c = NULL;
	struct dl_torus *t = NULL;
	int err = dl_torus_discover_cabling(f, NULL, *torus ? NULL : log, &c, &t);

	if (err || !known_is_other(t, *torus)) {
		dl_torus_free(t);
		dl_torus_config_free(c);
		return *torus && err != -ENOMEM ? 0 : err;
	}
	if (*torus) {
		dl_log(log, DL_LOG_WARNING,
		       "the cabling shows a torus other than the known one: it is used instead");
		err = dl_torus_report_off_torus(t, log);
	}
	dl_torus_free(*torus);
	dl_torus_config_free(*config);
	*torus = t;
	*config = c;
	return err;
}

int dl_torus_discover_known(const struct dl_fabric *f, const struct dl_torus *known, bool any,
			    const struct dl_log *log, struct dl_torus_config **c,
			    struct dl_torus **out)
{
	int err = known ? dl_torus_recall(f, known, log, c, out) : -EINVAL;
	bool grown;

	/* A torus that the cabling contradicts altogether counts as unknown. */
	if (err && err != -EINVAL)
		return err;
	if (!*out && any)
		return dl_torus_discover_any(f, NULL, log, c, out);
	if (*out && !known_count_unplaced(*out))
		return 0;
	err = known_has_grown(f, *out ? known : NULL, &grown);
	return !err && grown ? known_infer(f, log, c, out) : err;
}
