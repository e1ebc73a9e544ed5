/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Coordinates where an earlier torus is known, by a subnet manager's last sweep, by marks
 * in the switches or by a snapshot (rules A3): they are kept, since applications keep the
 * SLs that they were granted, unless the cabling shows a whole torus that is another one.
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

	/* A torus that the cabling contradicts altogether counts as unknown. */
	if (err && err != -EINVAL)
		return err;
	if (!*out && any)
		return dl_torus_discover_any(f, NULL, log, c, out);
	return !*out || known_count_unplaced(*out) ? known_infer(f, log, c, out) : 0;
}
