/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What changed from one torus to the next, for the administrator's log
 * (rules A11): switches lost, found and replaced, and cables of hops whose two
 * ends are still there.  One line each, up to a limit, then a count.
 */
#include "config.h"

#include <inttypes.h>

#include "dateline/base.h"
#include "torus/internal.h"

struct report {
	const struct dl_torus *before, *after;
	const struct dl_log *log;
	uint32_t lines, max;
};

/* Is there room for one more line? */
static bool room(struct report *r)
{
	return r->lines++ < r->max;
}

static const struct dl_fabric_node *switch_at(const struct dl_torus *t, uint32_t site)
{
	uint32_t sw = t->site_sw[site];

	return sw == DL_NONE ? NULL : dl_torus_node(t->fabric, sw);
}

static void tell_switch(struct report *r, uint32_t site, const struct dl_torus *t, const char *what)
{
	const struct dl_fabric_node *n = switch_at(t, site);
	uint32_t c[DIMS];

	dl_torus_site_coord(&t->grid, site, c);
	if (room(r))
		dl_log(r->log, DL_LOG_INFO, "(%u,%u,%u): switch 0x%016" PRIx64 " \"%s\" %s", c[0],
		       c[1], c[2], n->guid, dl_fabric_node_name(t->fabric, n - t->fabric->nodes),
		       what);
}

static void compare_switches(struct report *r, uint32_t site)
{
	const struct dl_fabric_node *was = switch_at(r->before, site);
	const struct dl_fabric_node *is = switch_at(r->after, site);

	if (was && is && was->guid == is->guid)
		return;
	if (was)
		tell_switch(r, site, r->before, "is gone");
	if (is)
		tell_switch(r, site, r->after, "is new");
}

static void compare_hop(struct report *r, uint32_t site, unsigned int dim)
{
	const struct dl_torus_grid *g = &r->after->grid;
	unsigned int dir = dl_torus_dir(dim, false);
	uint32_t next = dl_torus_site_next(g, site, dir), was, is, c[DIMS];

	if (next == DL_NONE || !switch_at(r->before, site) || !switch_at(r->after, site) ||
	    !switch_at(r->before, next) || !switch_at(r->after, next))
		return;
	was = dl_torus_group_size(r->before, r->before->site_sw[site], dir);
	is = dl_torus_group_size(r->after, r->after->site_sw[site], dir);
	dl_torus_site_coord(g, site, c);
	if (was != is && room(r))
		dl_log(r->log, DL_LOG_INFO, "(%u,%u,%u): %u cable%s towards +%c, %u before", c[0],
		       c[1], c[2], is, is == 1 ? "" : "s", 'x' + dim, was);
}

void dl_torus_report_changes(const struct dl_torus *before, const struct dl_torus *after,
			     uint32_t max, const struct dl_log *log)
{
	struct report r = { before, after, log, 0, max };
	const struct dl_torus_grid *g = &after->grid;
	unsigned int d;
	uint32_t site;

	if (!dl_torus_same_grid(&before->grid, g)) {
		dl_log(log, DL_LOG_INFO, "the grid is %ux%ux%u now, %ux%ux%u before", g->radix[0],
		       g->radix[1], g->radix[2], before->grid.radix[0], before->grid.radix[1],
		       before->grid.radix[2]);
		return;
	}
	for (site = 0; site < after->nsites; site++)
		compare_switches(&r, site);
	for (site = 0; site < after->nsites; site++)
		for (d = 0; d < DIMS; d++)
			compare_hop(&r, site, d);
	if (r.lines > max)
		dl_log(log, DL_LOG_INFO, "and %u more changes (max_changes is %u)", r.lines - max,
		       max);
}
