/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Odd switches: those of the fabric that have no place in the torus (rules A3).
 *
 * Problem.  Real machines have more than their torus: a leaf switch for login
 * nodes and storage, a chain of two in the laboratory, a gateway cabled to two
 * switches for good measure.  Adapters on them are to be reached as well, and
 * whoever runs the machine is to know what was made of each.
 *
 * Method.  Each switch without a place gets a way home: outwards from the
 * placed switches, ring by ring, it hangs on the first that is found, in the
 * order of sites and port numbers.  These ways are trees, rooted in switches
 * of the torus, and all that is odd is routed along them: up to the root,
 * through the torus by the rule, down the tree at the other end.  No circle
 * can close in a tree, and from the torus no packet enters one that it does
 * not end in, so however odd the parts are, they add no credit loop.
 *
 * What they are called goes by the switches of the torus that a part, odd
 * switches that are cabled to each other, is cabled to: one makes a stub, two
 * a bridge; more make a misfit, as a wrong radix does; and none means that it
 * is cut off.  Cables of a bridge beyond those of the trees are idle by the
 * rule (repairs may use them): a shortcut through service switches is not what
 * a torus is built for.
 *
 * Complexity: linear in the ports.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/base.h"
#include "torus/internal.h"

/* ---- ways home --------------------------------------------------------- */

static void find_ways(struct dl_torus *t, uint32_t *queue)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t head, tail = 0, site, s;

	memcpy(t->attachment, t->sw_site,
	       f->nswitches * sizeof(*t->attachment));
	memset(t->uplink, 0xFF, f->nswitches * sizeof(*t->uplink));
	for (site = 0; site < t->nsites; site++)
		if (t->site_sw[site] != DL_NONE)
			queue[tail++] = t->site_sw[site];
	for (head = 0; head < tail; head++) {
		const struct dl_fabric_node *n =
			&f->nodes[f->switches[queue[head]]];
		unsigned int num;

		for (num = 1; num <= n->nports; num++) {
			s = dl_fabric_peer_switch(f, n->first_port + num);
			if (s == DL_NONE || t->attachment[s] != DL_NONE)
				continue;
			t->attachment[s] = t->attachment[queue[head]];
			t->uplink[s] = f->ports[n->first_port + num].peer;
			queue[tail++] = s;
		}
	}
}

/* Go through the part that a switch belongs to, and name it. */
static void name_part(struct dl_torus *t, uint32_t from, bool *seen,
		      uint32_t *queue)
{
	static const enum dl_torus_off_kind by_homes[] = {
		DL_TORUS_DISCONNECTED, DL_TORUS_LEAF, DL_TORUS_DUAL_HOMED,
		DL_TORUS_UNPLACEABLE
	};
	const struct dl_fabric *f = t->fabric;
	uint32_t head, tail = 0, homes[2], nhomes = 0, s;

	seen[from] = true;
	queue[tail++] = from;
	for (head = 0; head < tail; head++) {
		const struct dl_fabric_node *n =
			&f->nodes[f->switches[queue[head]]];
		unsigned int num;

		for (num = 1; num <= n->nports; num++) {
			s = dl_fabric_peer_switch(f, n->first_port + num);
			if (s == DL_NONE || seen[s])
				continue;
			if (t->sw_site[s] == DL_NONE) {
				seen[s] = true;
				queue[tail++] = s;
			} else if (!(nhomes > 0 && homes[0] == s) &&
				   !(nhomes > 1 && homes[1] == s)) {
				if (nhomes < 2)
					homes[nhomes] = s;
				nhomes += nhomes < 3;
			}
		}
	}
	for (head = 0; head < tail; head++)
		t->off_kind[queue[head]] = by_homes[nhomes];
}

int dl_torus_find_off_torus(struct dl_torus *t)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t n = f->nswitches, i, s;
	uint32_t *queue = malloc((n + 1) * sizeof(*queue));
	bool *seen = calloc(n + 1, sizeof(*seen));
	int err = queue && seen ? 0 : -ENOMEM;

	if (!err)
		find_ways(t, queue);
	t->nunplaced = 0;
	for (i = 0; !err && i < f->nnodes; i++) {
		s = f->nodes[f->by_guid[i]].sw;
		if (s == DL_NONE || t->sw_site[s] != DL_NONE)
			continue;
		if (!seen[s])
			name_part(t, s, seen, queue);
		t->unplaced[t->nunplaced++] = s;
	}
	free(queue);
	free(seen);
	return err;
}

bool dl_torus_is_uplink(const struct dl_torus *t, uint32_t port)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t a = f->nodes[f->ports[port].node].sw;
	uint32_t b = dl_fabric_peer_switch(f, port);

	return a != DL_NONE && b != DL_NONE && a != b &&
	       (dl_torus_uplink_switch(t, a) == b ||
		dl_torus_uplink_switch(t, b) == a);
}

unsigned int dl_torus_uplink_cables(const struct dl_torus *t, uint32_t sw,
				    uint8_t *near_ports, uint8_t *far_ports)
{
	const struct dl_fabric *f = t->fabric;
	const struct dl_fabric_node *node = &f->nodes[f->switches[sw]];
	uint32_t next = dl_torus_uplink_switch(t, sw);
	unsigned int num, n = 0;

	for (num = 1; next != DL_NONE && num <= node->nports; num++) {
		uint32_t port = node->first_port + num;

		if (dl_fabric_peer_switch(f, port) != next)
			continue;
		if (near_ports)
			near_ports[n] = num;
		if (far_ports)
			far_ports[n] = f->ports[f->ports[port].peer].num;
		n++;
	}
	return n;
}

/* ---- reports ----------------------------------------------------------- */

uint32_t dl_torus_count_off_torus(const struct dl_torus *t,
				  enum dl_torus_off_kind kind)
{
	uint32_t i, n = 0;

	for (i = 0; i < t->nunplaced; i++)
		n += t->off_kind[t->unplaced[i]] == kind;
	return n;
}

/* Is this neither a switch of the torus nor one beside it? */
static bool is_misfit(const struct dl_torus *t, uint32_t sw)
{
	return t->sw_site[sw] == DL_NONE &&
	       (t->off_kind[sw] == DL_TORUS_UNPLACEABLE ||
		t->off_kind[sw] == DL_TORUS_DISCONNECTED);
}

uint32_t dl_torus_count_unplaceable(const struct dl_torus *t, uint32_t *cables)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t i, a, b;

	*cables = 0;
	for (i = 0; i < t->noff_links; i++) {
		a = f->nodes[f->ports[t->off_links[i]].node].sw;
		b = dl_fabric_peer_switch(f, t->off_links[i]);
		if (dl_torus_is_uplink(t, t->off_links[i]))
			continue;
		*cables +=
			is_misfit(t, a) || is_misfit(t, b) ||
			(t->sw_site[a] != DL_NONE && t->sw_site[b] != DL_NONE);
	}
	return dl_torus_count_off_torus(t, DL_TORUS_UNPLACEABLE) +
	       dl_torus_count_off_torus(t, DL_TORUS_DISCONNECTED);
}

static bool is_possible(const struct dl_torus *t, uint32_t sw, uint32_t site)
{
	const struct dl_fabric *f = t->fabric;
	const struct dl_fabric_node *n = &f->nodes[f->switches[sw]];
	unsigned int num;
	uint32_t far;

	for (num = 1; num <= n->nports; num++) {
		far = dl_fabric_peer_switch(f, n->first_port + num);
		if (far != DL_NONE && t->sw_site[far] != DL_NONE &&
		    dl_torus_direction(&t->grid, site, t->sw_site[far]) == DIRS)
			return false;
	}
	return true;
}

uint32_t dl_torus_possible_site(const struct dl_torus *t, uint32_t sw)
{
	uint32_t next = dl_torus_uplink_switch(t, sw), site;
	unsigned int dir;

	if (next == DL_NONE || t->sw_site[next] == DL_NONE)
		return DL_NONE;
	for (dir = 0; dir < DL_TORUS_DIRS; dir++) {
		site = dl_torus_site_next(&t->grid, t->sw_site[next], dir);
		if (site != DL_NONE && t->site_sw[site] == DL_NONE &&
		    is_possible(t, sw, site))
			return site;
	}
	return DL_NONE;
}

/* Long lists are cut: a wrong radix makes every switch a misfit. */
#define MAX_LISTED 8

static void report_doubt(const struct dl_torus *t, uint32_t sw,
			 const struct dl_log *log)
{
	const struct dl_fabric_node *n =
		&t->fabric->nodes[t->fabric->switches[sw]];
	uint32_t site = dl_torus_possible_site(t, sw), c[DL_TORUS_DIMS];

	if (site == DL_NONE)
		return;
	dl_torus_site_coord(&t->grid, site, c);
	dl_log(log, DL_LOG_WARNING,
	       "if switch 0x%016" PRIx64 " is the one missing at (%u,%u,%u), "
	       "name it in a seed of a torus-2QoS.conf: its cables alone do "
	       "not tell",
	       n->guid, c[0], c[1], c[2]);
}

static void report_way(const struct dl_torus *t, uint32_t sw,
		       const struct dl_log *log)
{
	static const char *const what[] = {
		[DL_TORUS_LEAF] = "a stub",
		[DL_TORUS_DUAL_HOMED] =
			"part of a bridge between two switches of it",
		[DL_TORUS_UNPLACEABLE] =
			"part of what joins several switches of it",
	};
	const struct dl_fabric *f = t->fabric;
	const struct dl_fabric_node *n = &f->nodes[f->switches[sw]];
	uint32_t next = dl_torus_uplink_switch(t, sw), c[DL_TORUS_DIMS];
	const struct dl_fabric_node *on = &f->nodes[f->switches[next]];
	unsigned int cables = dl_torus_uplink_cables(t, sw, NULL, NULL);

	dl_torus_site_coord(&t->grid, t->attachment[sw], c);
	dl_log(log,
	       t->off_kind[sw] == DL_TORUS_UNPLACEABLE ? DL_LOG_WARNING :
							 DL_LOG_INFO,
	       "switch 0x%016" PRIx64 " \"%s\" has no place in the %ux%ux%u "
	       "grid: %s, routed by way of (%u,%u,%u) over %u cable%s to "
	       "0x%016" PRIx64 " \"%s\"",
	       n->guid, dl_fabric_node_name(f, n - f->nodes), t->grid.radix[0],
	       t->grid.radix[1], t->grid.radix[2], what[t->off_kind[sw]], c[0],
	       c[1], c[2], cables, cables == 1 ? "" : "s", on->guid,
	       dl_fabric_node_name(f, on - f->nodes));
}

static void report_switch(const struct dl_torus *t, uint32_t sw,
			  const struct dl_log *log)
{
	const struct dl_fabric_node *n =
		&t->fabric->nodes[t->fabric->switches[sw]];

	if (t->off_kind[sw] == DL_TORUS_DISCONNECTED) {
		dl_log(log, DL_LOG_WARNING,
		       "switch 0x%016" PRIx64 " \"%s\" has no place in the "
		       "%ux%ux%u grid: cut off, no cables lead from it to the "
		       "torus",
		       n->guid,
		       dl_fabric_node_name(t->fabric, n - t->fabric->nodes),
		       t->grid.radix[0], t->grid.radix[1], t->grid.radix[2]);
		return;
	}
	report_way(t, sw, log);
	report_doubt(t, sw, log);
}

/*
 * A placed switch with one hop left, and several neighbours: what branches.c
 * has taken for part of the torus on weak evidence.
 */
static bool is_faint(const struct dl_torus *t, uint32_t sw)
{
	unsigned int dir, hops = 0, neighbours = 0;

	for (dir = 0; dir < DL_TORUS_DIRS; dir++) {
		uint32_t next =
			dl_torus_site_next(&t->grid, t->sw_site[sw], dir);

		neighbours += next != DL_NONE && t->site_sw[next] != DL_NONE;
		hops += dl_torus_group_size(t, sw, dir) > 0;
	}
	return hops == 1 && neighbours > 1;
}

static void report_faint(const struct dl_torus *t, const struct dl_log *log)
{
	uint32_t site, c[DL_TORUS_DIMS], n = 0;

	for (site = 0; site < t->nsites && n < MAX_LISTED; site++) {
		uint32_t sw = t->site_sw[site], node;

		if (sw == DL_NONE || !is_faint(t, sw))
			continue;
		node = t->fabric->switches[sw];
		dl_torus_site_coord(&t->grid, site, c);
		dl_log(log, DL_LOG_INFO,
		       "switch 0x%016" PRIx64 " \"%s\" is taken for that of "
		       "(%u,%u,%u), with one hop left: a stub beside a failed "
		       "switch would look the same",
		       t->fabric->nodes[node].guid,
		       dl_fabric_node_name(t->fabric, node), c[0], c[1], c[2]);
		n++;
	}
}

static void report_idle(const struct dl_torus *t, uint32_t port,
			const struct dl_log *log)
{
	const struct dl_fabric *f = t->fabric;
	const struct dl_fabric_port *a = &f->ports[port],
				    *b = &f->ports[a->peer];
	bool between = t->sw_site[f->nodes[a->node].sw] != DL_NONE &&
		       t->sw_site[f->nodes[b->node].sw] != DL_NONE;

	dl_log(log, DL_LOG_WARNING,
	       "cable from 0x%016" PRIx64 " \"%s\" port %u to 0x%016" PRIx64
	       " \"%s\" port %u %s",
	       f->nodes[a->node].guid, dl_fabric_node_name(f, a->node), a->num,
	       f->nodes[b->node].guid, dl_fabric_node_name(f, b->node), b->num,
	       between ? "does not join neighbours: idle" :
			 "is on no way from an odd switch to the torus: idle");
}

void dl_torus_report_off_torus(const struct dl_torus *t,
			       const struct dl_log *log)
{
	uint32_t i, n = 0;

	for (i = 0; i < t->nunplaced && i < MAX_LISTED; i++)
		report_switch(t, t->unplaced[i], log);
	if (t->nunplaced > MAX_LISTED)
		dl_log(log, DL_LOG_WARNING, "and %u more switches",
		       t->nunplaced - MAX_LISTED);
	report_faint(t, log);
	for (i = 0; i < t->noff_links; i++) {
		if (dl_torus_is_uplink(t, t->off_links[i]))
			continue;
		if (n++ < MAX_LISTED)
			report_idle(t, t->off_links[i], log);
	}
	if (n > MAX_LISTED)
		dl_log(log, DL_LOG_WARNING, "and %u more cables",
		       n - MAX_LISTED);
}
