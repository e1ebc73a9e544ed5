/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What changed from one torus to the next, for the administrator's log
 * (rules A11): switches lost, found and replaced, and cables of hops whose two
 * ends are still there.  One line each, up to a limit, then a count.
 */
#include "config.h"

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

static void tell_switch(struct report *r, uint32_t site, const struct dl_torus *t, const char *what)
{
	if (t->site_sw[site] != DL_NONE && room(r))
		dl_log(r->log, DL_LOG_INFO, "%s: switch %s %s",
		       dl_torus_show_site(&t->grid, site).text,
		       dl_torus_show_switch(t->fabric, t->site_sw[site]).text, what);
}

static uint64_t guid_at(const struct dl_torus *t, uint32_t site)
{
	return t->site_sw[site] == DL_NONE ? 0 : dl_torus_node(t->fabric, t->site_sw[site])->guid;
}

static void compare_switches(struct report *r, uint32_t site)
{
	if (guid_at(r->before, site) == guid_at(r->after, site))
		return;
	tell_switch(r, site, r->before, "is gone");
	tell_switch(r, site, r->after, "is new");
}

/* Cables of a hop, or DL_NONE: one of its switches is missing. */
static uint32_t count_cables(const struct dl_torus *t, uint32_t site, unsigned int dir)
{
	uint32_t next = dl_torus_site_next(&t->grid, site, dir), sw = t->site_sw[site];

	return next == DL_NONE || sw == DL_NONE || t->site_sw[next] == DL_NONE ?
		       DL_NONE :
		       dl_torus_group_size(t, sw, dir);
}

static void compare_hop(struct report *r, uint32_t site, unsigned int dim)
{
	uint32_t was = count_cables(r->before, site, dl_torus_dir(dim, false));
	uint32_t is = count_cables(r->after, site, dl_torus_dir(dim, false));

	if (was != DL_NONE && is != DL_NONE && was != is && room(r))
		dl_log(r->log, DL_LOG_INFO, "%s: %u cable%s towards +%c, %u before",
		       dl_torus_show_site(&r->after->grid, site).text, is, is == 1 ? "" : "s",
		       'x' + dim, was);
}

void dl_torus_report_changes(const struct dl_torus *before, const struct dl_torus *after,
			     uint32_t max, const struct dl_log *log)
{
	struct report r = { before, after, log, 0, max };
	const struct dl_torus_grid *g = &after->grid;

	if (!dl_torus_same_grid(&before->grid, g)) {
		dl_log(log, DL_LOG_INFO, "the grid is %ux%ux%u now, %ux%ux%u before", g->radix[0],
		       g->radix[1], g->radix[2], before->grid.radix[0], before->grid.radix[1],
		       before->grid.radix[2]);
		return;
	}
	for (uint32_t site = 0; site < after->nsites; site++)
		compare_switches(&r, site);
	for (uint32_t site = 0; site < after->nsites; site++)
		for (unsigned int d = 0; d < DIMS; d++)
			compare_hop(&r, site, d);
	if (r.lines > max)
		dl_log(log, DL_LOG_INFO, "and %u more changes (max_changes is %u)", r.lines - max,
		       max);
}
