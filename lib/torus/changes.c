/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What changed from one torus to the next, for the administrator's log
 * (rules A11): switches lost, found and replaced, and cables of hops whose two
 * ends are still there.  One line each, up to a limit, then a count.  For the
 * first torus, which cannot be compared with another one, the log lists what is
 * missing.  Complexity: linear in the sites and their cables.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "torus/internal.h"

/* A hop of a torus: a switch, and a direction in which it has a neighbour. */
struct hop {
	const struct dl_torus *t;
	uint32_t sw;
	unsigned int dir, cables;
};

struct report {
	const struct dl_torus *before, *after;
	const struct dl_log *log;
	uint32_t lines, max;
	struct hop was, is; /* the hop at hand */
};

/* Append the next missing item; past `max` items, only "and further". */
static void changes_add_missing(char *text, size_t size, uint32_t n, uint32_t max, const char *what)
{
	size_t used = strlen(text);

	if (n < max && used + strlen(what) + 32 < size)
		snprintf(text + used, size - used, "%s %s", n ? "," : ": missing", what);
	else if (used < 12 || strcmp(text + used - 12, " and further"))
		snprintf(text + used, size - used, " and further");
}

static void report_switches(const struct dl_torus *t, uint32_t max, const struct dl_log *log)
{
	char text[1024] = "";
	uint32_t n = 0;

	for (uint32_t site = 0; site < t->nsites; site++)
		if (t->site_sw[site] == DL_NONE)
			changes_add_missing(text, sizeof(text), n++, max,
					    dl_torus_show_site(&t->grid, site).text);
	if (n)
		dl_log(log, DL_LOG_INFO, "%u of %u switches%s", t->nsites - n, t->nsites, text);
}

void dl_torus_report_missing(const struct dl_torus *t, uint32_t max, const struct dl_log *log)
{
	struct dl_torus_fault *faults;
	char text[1024] = "", hop[64];
	uint32_t nfaults, n = 0;

	report_switches(t, max, log);
	if (dl_torus_find_faults(t, &faults, &nfaults)) {
		dl_log(log, DL_LOG_WARNING, "no memory to list the cables that are missing");
		return;
	}
	for (uint32_t i = 0; i < nfaults; i++) {
		if (faults[i].repair != DL_TORUS_ADD)
			continue;
		snprintf(hop, sizeof(hop), "%.32s +%c",
			 dl_torus_show_site(&t->grid, faults[i].site).text,
			 'x' + faults[i].dir / 2);
		changes_add_missing(text, sizeof(text), n++, max, hop);
	}
	if (n)
		dl_log(log, DL_LOG_INFO, "cables of %u hop%s%s", n, n == 1 ? "" : "s", text);
	free(faults);
}

/* Is there room for one more line? */
static bool changes_have_room(struct report *r)
{
	return r->lines++ < r->max;
}

static void changes_log_switch(struct report *r, uint32_t site, const struct dl_torus *t,
			       const char *what)
{
	if (t->site_sw[site] != DL_NONE && changes_have_room(r))
		dl_log(r->log, DL_LOG_INFO, "%s: switch %s %s",
		       dl_torus_show_site(&t->grid, site).text,
		       dl_torus_show_switch(t->fabric, t->site_sw[site]).text, what);
}

static uint64_t changes_guid_at(const struct dl_torus *t, uint32_t site)
{
	return t->site_sw[site] == DL_NONE ?
		       0 :
		       dl_fabric_switch_node(t->fabric, t->site_sw[site])->guid;
}

static void compare_switches(struct report *r, uint32_t site)
{
	if (changes_guid_at(r->before, site) == changes_guid_at(r->after, site))
		return;
	changes_log_switch(r, site, r->before, "is gone");
	changes_log_switch(r, site, r->after, "is new");
}

/* False: one of its switches is missing. */
static bool changes_find_hop(const struct dl_torus *t, uint32_t site, unsigned int dir,
			     struct hop *out)
{
	uint32_t next = dl_torus_site_next(&t->grid, site, dir), sw = t->site_sw[site];

	if (next == DL_NONE || sw == DL_NONE || t->site_sw[next] == DL_NONE)
		return false;
	*out = (struct hop){ t, sw, dir, dl_torus_group_size(t, sw, dir) };
	return true;
}

/* The port of its k-th cable, as an index. */
static uint32_t changes_port_of(const struct hop *h, unsigned int k)
{
	return dl_fabric_switch_node(h->t->fabric, h->sw)->first_port +
	       h->t->group_ports[h->t->group_first[h->sw * DL_TORUS_DIRS + h->dir] + k];
}

/* Is there a cable between ports of these numbers? */
static bool changes_has_cable(const struct hop *h, uint8_t near, uint8_t far)
{
	for (unsigned int k = 0; k < h->cables; k++) {
		const struct dl_fabric_port *p = &h->t->fabric->ports[changes_port_of(h, k)];

		if (p->num == near && h->t->fabric->ports[p->peer].num == far)
			return true;
	}
	return false;
}

/* The cables of `h` that `other` lacks. */
static void changes_log_cables(struct report *r, const struct hop *h, const struct hop *other,
			       const char *what)
{
	const struct dl_fabric *f = h->t->fabric;

	for (unsigned int k = 0; k < h->cables; k++) {
		const struct dl_fabric_port *p = &f->ports[changes_port_of(h, k)];
		const struct dl_fabric_port *far = &f->ports[p->peer];

		if (!changes_has_cable(other, p->num, far->num) && changes_have_room(r))
			dl_log(r->log, DL_LOG_INFO,
			       "cable %s: %s port %u to %s port %u (%c%c), %u of this hop left",
			       what, dl_fabric_node_name(f, p->node), p->num,
			       dl_fabric_node_name(f, far->node), far->num, h->dir % 2 ? '-' : '+',
			       'x' + h->dir / 2, h == &r->is ? h->cables : other->cables);
	}
}

static void compare_hop(struct report *r, uint32_t site, unsigned int dim)
{
	unsigned int dir = dl_torus_dir(dim, false);

	if (changes_guid_at(r->before, site) != changes_guid_at(r->after, site) ||
	    !changes_find_hop(r->before, site, dir, &r->was) ||
	    !changes_find_hop(r->after, site, dir, &r->is))
		return;
	changes_log_cables(r, &r->was, &r->is, "gone");
	changes_log_cables(r, &r->is, &r->was, "new");
}

void dl_torus_report_changes(const struct dl_torus *before, const struct dl_torus *after,
			     uint32_t max, const struct dl_log *log)
{
	struct report r = { .before = before, .after = after, .log = log, .max = max };
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
