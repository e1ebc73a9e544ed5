/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Cables and switches taken out of use while OpenSM runs (rules A15).
 *
 * The file is read again in each heavy sweep, so after SIGHUP.  A file that cannot be
 * read, or has bad lines, leaves the list as it was.  Routing then goes round what is
 * listed, and the switches come to the new tables as they come to any others.
 *
 * Something is safe to unplug when no switch has confirmed a forwarding entry or a
 * multicast entry that leads across it, and the packets that were queued for it are gone
 * (drain.c).
 */
#include <errno.h>
#include <string.h>

#include "avoid.h"
#include "engine.h"
#include "log.h"
#include "sweep.h"

static bool avoid_has_changed(const struct stat *a, const struct stat *b)
{
	return a->st_ino != b->st_ino || a->st_size != b->st_size ||
	       a->st_mtim.tv_sec != b->st_mtim.tv_sec || a->st_mtim.tv_nsec != b->st_mtim.tv_nsec;
}

bool dl_avoid_file_has_changed(const struct dl_engine *e)
{
	struct stat now;

	return e->options.avoid &&
	       (stat(e->options.avoid, &now) || avoid_has_changed(&now, &e->avoid.seen));
}

/* ---- which entries ------------------------------------------------------- */

/* The same entry in the sweep before, or NULL. */
static const struct dl_route_avoided_item *avoid_find(const struct dl_sweep *sweep,
						      const struct dl_route_avoided_item *like)
{
	const struct dl_route_avoided *a = sweep ? sweep->avoided : NULL;

	for (uint32_t i = 0; a && i < a->n; i++)
		if (a->items[i].number == like->number && !strcmp(a->items[i].name, like->name))
			return &a->items[i];
	return NULL;
}

static void avoid_count(struct dl_engine *e, const struct dl_route_avoided *a)
{
	uint64_t *n = &e->metrics.now.number[DL_METRICS_AVOIDED];

	memset(n, 0, 3 * sizeof(*n));
	for (uint32_t i = 0; i < a->n; i++) {
		n[0] += a->items[i].state == DL_ROUTE_AVOID_OUT;
		n[1] += a->items[i].state == DL_ROUTE_AVOID_OUT && a->items[i].unused;
		n[2] += a->items[i].state == DL_ROUTE_AVOID_ONLY_WAY;
	}
}

/* What was said of an entry in the sweep before is not said again. */
static void avoid_compare(struct dl_engine *e, const struct dl_log *log, struct dl_sweep *sweep)
{
	char text[DL_ROUTE_AVOID_TEXT];

	for (uint32_t i = 0; i < sweep->avoided->n; i++) {
		struct dl_route_avoided_item *item = &sweep->avoided->items[i];
		const struct dl_route_avoided_item *before = avoid_find(e->in_force, item);

		if (before && before->state == item->state) {
			item->unused = before->unused;
			continue;
		}
		dl_route_avoid_text(item, sweep->fabric, text, sizeof(text));
		dl_log(log,
		       item->state == DL_ROUTE_AVOID_OUT || item->state == DL_ROUTE_AVOID_ABSENT ?
			       DL_LOG_INFO :
			       DL_LOG_WARNING,
		       "%s:%u: %s", e->options.avoid, item->line, text);
	}
	for (uint32_t i = 0; e->in_force && e->in_force->avoided && i < e->in_force->avoided->n;
	     i++) {
		const struct dl_route_avoided_item *item = &e->in_force->avoided->items[i];

		if (avoid_find(sweep, item))
			continue;
		dl_route_avoid_name(item, e->in_force->fabric, text, sizeof(text));
		dl_log(log, DL_LOG_INFO, "%s: %s: in use again", e->options.avoid, text);
	}
	avoid_count(e, sweep->avoided);
}

int dl_avoid_resolve(struct dl_engine *e, const struct dl_log *log, struct dl_sweep *sweep)
{
	struct dl_route_avoid *list;
	int err;

	if (!e->options.avoid || e->options.route.mode == DL_ROUTE_CLASSIC)
		return 0;
	if (stat(e->options.avoid, &e->avoid.seen))
		memset(&e->avoid.seen, 0, sizeof(e->avoid.seen));
	err = dl_route_avoid_read(e->options.avoid, log, &list);
	if (err == -ENOMEM)
		return err;
	if (!err) {
		dl_route_avoid_free(e->avoid.list);
		e->avoid.list = list;
	} else {
		dl_log(log, DL_LOG_ERROR, "%s: %s", e->options.avoid,
		       e->avoid.list ? "the list that was read before stays in force" :
				       "nothing is taken out of use");
	}
	if (!e->avoid.list)
		return 0;
	err = dl_route_avoid_resolve(e->avoid.list, sweep->fabric, &sweep->avoided);
	if (!err)
		avoid_compare(e, log, sweep);
	return err;
}

/* ---- what uses them ------------------------------------------------------ */

/* Do confirmed forwarding entries lead out of a switch's port, but for LIDs at `except`? */
static bool avoid_is_forwarding(const struct dl_fabric *f, const osm_switch_t *sw, unsigned int num,
				uint32_t except)
{
	for (uint32_t lid = 1; lid <= f->top_lid && lid < sw->lft_size; lid++) {
		uint32_t end = sw->lft[lid] == num ? f->lid_port[lid] : DL_NONE;

		if (sw->lft[lid] == num && (end == DL_NONE || except == DL_NONE ||
					    dl_fabric_access_switch(f, end) != except))
			return true;
	}
	return false;
}

/* The most of these ports out of which one group leads. */
static unsigned int avoid_group_ports(const osm_switch_t *sw, const uint8_t *ports, unsigned int n)
{
	const osm_mcast_tbl_t *t = &sw->mcast_tbl;
	unsigned int most = 0;

	for (unsigned int i = 0; i < t->mft_depth; i++) {
		unsigned int used = 0;

		for (unsigned int k = 0; k < n; k++)
			used += osm_mcast_tbl_is_port(t, IB_LID_MCAST_START_HO + i, ports[k]);
		most = used > most ? used : most;
	}
	return most;
}

/* Does either end of a cable send anything across it? */
static bool avoid_cable_used(const struct dl_engine *e, const struct dl_fabric *f, uint32_t port)
{
	uint32_t ends[2] = { port, f->ports[port].peer };

	for (unsigned int i = 0; i < 2; i++) {
		uint32_t s = f->nodes[f->ports[ends[i]].node].sw;
		const osm_switch_t *sw = s == DL_NONE ? NULL : dl_sweep_switch(e, f, s);
		uint8_t num = f->ports[ends[i]].num;

		if (sw &&
		    (avoid_is_forwarding(f, sw, num, DL_NONE) || avoid_group_ports(sw, &num, 1)))
			return true;
	}
	return false;
}

/* Does anything go on from an avoided switch to another one? */
static bool avoid_switch_used(const struct dl_engine *e, const struct dl_fabric *f, uint32_t s)
{
	const struct dl_fabric_node *n = &f->nodes[f->switches[s]];
	const osm_switch_t *sw = dl_sweep_switch(e, f, s);
	uint8_t links[DL_FABRIC_MAX_PORTS];
	unsigned int nlinks = 0;

	for (unsigned int p = 1; p <= n->nports; p++) {
		uint32_t to = dl_fabric_peer_switch(f, n->first_port + p);
		const osm_switch_t *next = to == DL_NONE ? NULL : dl_sweep_switch(e, f, to);

		if (to == DL_NONE)
			continue;
		links[nlinks++] = p;
		if (next &&
		    avoid_is_forwarding(f, next, f->ports[f->ports[n->first_port + p].peer].num, s))
			return true;
	}
	return sw && avoid_group_ports(sw, links, nlinks) > 1;
}

static void avoid_say_unused(const struct dl_engine *e, const struct dl_fabric *f,
			     const struct dl_route_avoided_item *item, enum dl_drain_end how)
{
	char text[DL_ROUTE_AVOID_TEXT];

	dl_route_avoid_name(item, f, text, sizeof(text));
	if (how == DL_DRAIN_UNPROVEN)
		DL_SAY(e->osm, OSM_LOG_INFO,
		       "DL41: %s: no forwarding entry and no group leads across it, but packets "
		       "may still be queued for it: in drain_seconds neither counters nor the "
		       "lifetime limits of switches have shown that they are gone",
		       text);
	else
		DL_SAY(e->osm, OSM_LOG_INFO,
		       "DL41: safe to %s: %s: no forwarding entry and no group leads across it, "
		       "and packets that were queued %s",
		       item->number ? "unplug" : "switch off, but for its own adapters", text,
		       how == DL_DRAIN_FIXED ? "had drain_ms to leave" : "are gone");
}

/* What nothing leads across any more, and in which switches packets may be queued for it. */
static uint32_t avoid_find_unused(struct dl_engine *e, bool *unused, bool *switches, uint32_t *hops)
{
	const struct dl_route_avoided *a = e->in_force->avoided;
	const struct dl_fabric *f = e->in_force->fabric;
	uint32_t n = 0;

	CL_PLOCK_ACQUIRE(&e->osm->lock);
	for (uint32_t i = 0; i < a->n; i++) {
		const struct dl_route_avoided_item *item = &a->items[i];
		const struct dl_fabric_node *node;

		if (item->state != DL_ROUTE_AVOID_OUT || item->unused ||
		    (item->number ? avoid_cable_used(e, f, item->port) :
				    avoid_switch_used(e, f, item->sw)))
			continue;
		unused[i] = true;
		n++;
		*hops = item->number ? *hops : 2;
		node = &f->nodes[item->number ? f->ports[item->port].node : f->switches[item->sw]];
		switches[node->sw] = true;
		for (uint32_t p = node->first_port + 1; p <= node->first_port + node->nports; p++)
			if ((!item->number || p == item->port) && dl_fabric_joins_switches(f, p))
				switches[dl_fabric_peer_switch(f, p)] = true;
	}
	CL_PLOCK_RELEASE(&e->osm->lock);
	return n;
}

/*
 * Packets for a cable wait in the switches at its ends; those that an avoided switch passes
 * on, in a neighbour and in itself.  What the next change has to wait for stays as it is.
 */
static int avoid_drain(struct dl_engine *e, const bool *switches, uint32_t hops,
		       enum dl_drain_end *how)
{
	struct dl_drain_left left = e->drain.left;
	int err;

	e->drain.left.since = 0;
	dl_drain_begin(e, hops);
	err = dl_drain_wait(e, e->in_force->routed.tables, switches, false, how);
	/* The end of a wait clears the history. */
	left.known = false;
	e->drain.left = left;
	return err;
}

void dl_avoid_report(struct dl_engine *e)
{
	struct dl_route_avoided *a = e->in_force ? e->in_force->avoided : NULL;
	const struct dl_fabric *f = a ? e->in_force->fabric : NULL;
	struct dl_arena arena = { 0 };
	enum dl_drain_end how;
	uint32_t hops = 1;
	bool *unused, *switches;

	/* Else a switch may hold what nobody knows, of groups too; another sweep follows. */
	if (!a || e->change != DL_CHANGE_SETTLED || e->branches_left ||
	    e->osm->subn.subnet_initialization_error)
		return;
	unused = dl_arena_array(&arena, a->n + 1ul, sizeof(*unused));
	switches = dl_arena_array(&arena, f->nswitches + 1ul, sizeof(*switches));
	if (unused && switches && avoid_find_unused(e, unused, switches, &hops) &&
	    !avoid_drain(e, switches, hops, &how)) {
		for (uint32_t i = 0; i < a->n; i++) {
			if (!unused[i])
				continue;
			a->items[i].unused = true;
			avoid_say_unused(e, f, &a->items[i], how);
		}
	}
	dl_arena_free(&arena);
	avoid_count(e, a);
}

void dl_avoid_release(struct dl_avoid *a)
{
	dl_route_avoid_free(a->list);
	a->list = NULL;
}
