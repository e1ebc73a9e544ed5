/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Off-torus switches: those that have no site in the torus (rules A3).
 *
 * Problem.  Real machines have more than their torus: a leaf switch for login
 * nodes and storage, a chain of two in the laboratory, a gateway cabled to two
 * switches for good measure.  Adapters on them must be reached as well, and
 * the administrator must see how each switch is treated.
 *
 * Method.  Each switch without a site gets an uplink: outwards from the placed
 * switches, by breadth-first search, to the first that is found, in the order
 * of sites and port numbers.  Uplinks make trees, rooted in switches of the
 * torus, and all traffic of off-torus switches goes along them: up to the
 * root, through the torus by dimension-order routing, down the tree at the
 * other end.
 *
 * Invariant.  No cycle can close in a tree, and from the torus no packet
 * enters one that it does not end in, so whatever is attached adds no credit
 * loop.
 *
 * Kinds.  Off-torus switches that are cabled to each other make a part.  One
 * that is cabled to one switch of the torus is a leaf, to two dual-homed; more
 * make it unplaceable, as a wrong radix does, and none disconnected.  Cables
 * beyond those of the trees are unused by dimension-order routing (repairs may
 * use them): a torus is not built for shortcuts through service switches.
 *
 * Complexity: linear in the ports.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "torus/internal.h"

/* Long lists are cut: a wrong radix makes every switch unplaceable. */
#define MAX_LISTED 8

/* ---- uplinks and kinds ------------------------------------------------- */

static void find_uplinks(struct dl_torus *t, uint32_t *queue)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t tail = 0;

	memcpy(t->attachment, t->sw_site, f->nswitches * sizeof(*t->attachment));
	memset(t->uplink, 0xFF, f->nswitches * sizeof(*t->uplink));
	for (uint32_t site = 0; site < t->nsites; site++)
		if (t->site_sw[site] != DL_NONE)
			queue[tail++] = t->site_sw[site];
	for (uint32_t head = 0; head < tail; head++) {
		const struct dl_fabric_node *n = dl_fabric_switch_node(t->fabric, queue[head]);

		for (unsigned int num = 1; num <= n->nports; num++) {
			uint32_t port = n->first_port + num;
			uint32_t s = dl_fabric_peer_switch(f, port);

			if (s == DL_NONE || t->attachment[s] != DL_NONE)
				continue;
			t->attachment[s] = t->attachment[queue[head]];
			t->uplink[s] = f->ports[port].peer;
			queue[tail++] = s;
		}
	}
}

/* Go through the part that a switch belongs to, and classify it. */
static void classify_part(struct dl_torus *t, uint32_t from, bool *seen, uint32_t *queue)
{
	static const enum dl_torus_off_kind by_homes[] = { DL_TORUS_DISCONNECTED, DL_TORUS_LEAF,
							   DL_TORUS_DUAL_HOMED,
							   DL_TORUS_UNPLACEABLE };
	uint32_t tail = 0, homes[2] = { DL_NONE, DL_NONE }, nhomes = 0;

	seen[from] = true;
	queue[tail++] = from;
	for (uint32_t head = 0; head < tail; head++) {
		const struct dl_fabric_node *n = dl_fabric_switch_node(t->fabric, queue[head]);

		for (unsigned int num = 1; num <= n->nports; num++) {
			uint32_t s = dl_fabric_peer_switch(t->fabric, n->first_port + num);

			if (s == DL_NONE || seen[s] || homes[0] == s || homes[1] == s)
				continue;
			if (t->sw_site[s] == DL_NONE) {
				seen[s] = true;
				queue[tail++] = s;
				continue;
			}
			if (nhomes < 2)
				homes[nhomes] = s;
			nhomes += nhomes < 3;
		}
	}
	while (tail--)
		t->off_kind[queue[tail]] = by_homes[nhomes];
}

int dl_torus_find_off_torus(struct dl_torus *t)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t n = f->nswitches, *queue = malloc((n + 1) * sizeof(*queue));
	bool *seen = calloc(n + 1, sizeof(*seen));
	int err = queue && seen ? 0 : -ENOMEM;

	if (!err)
		find_uplinks(t, queue);
	for (uint32_t i = 0; !err && i < f->nnodes; i++) {
		uint32_t s = f->nodes[f->by_guid[i]].sw;

		if (s == DL_NONE || t->sw_site[s] != DL_NONE)
			continue;
		if (!seen[s])
			classify_part(t, s, seen, queue);
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
	       (dl_torus_uplink_switch(t, a) == b || dl_torus_uplink_switch(t, b) == a);
}

unsigned int dl_torus_uplink_cables(const struct dl_torus *t, uint32_t sw, uint8_t *near_ports,
				    uint8_t *far_ports)
{
	const struct dl_fabric *f = t->fabric;
	const struct dl_fabric_node *node = dl_fabric_switch_node(t->fabric, sw);
	uint32_t next = dl_torus_uplink_switch(t, sw);
	unsigned int n = 0;

	for (unsigned int num = 1; next != DL_NONE && num <= node->nports; num++) {
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

/* ---- counts ------------------------------------------------------------ */

uint32_t dl_torus_count_off_torus(const struct dl_torus *t, enum dl_torus_off_kind kind)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->nunplaced; i++)
		n += t->off_kind[t->unplaced[i]] == kind;
	return n;
}

uint32_t dl_torus_count_unplaceable(const struct dl_torus *t, uint32_t *cables)
{
	const struct dl_fabric *f = t->fabric;

	*cables = 0;
	for (uint32_t i = 0; i < t->noff_links; i++) {
		uint32_t a = f->nodes[f->ports[t->off_links[i]].node].sw;
		uint32_t b = dl_fabric_peer_switch(f, t->off_links[i]);
		if (!dl_torus_is_uplink(t, t->off_links[i]))
			*cables += dl_torus_is_inside(t, t->off_links[i]) ||
				   t->off_kind[a] >= DL_TORUS_UNPLACEABLE ||
				   t->off_kind[b] >= DL_TORUS_UNPLACEABLE;
	}
	return dl_torus_count_off_torus(t, DL_TORUS_UNPLACEABLE) +
	       dl_torus_count_off_torus(t, DL_TORUS_DISCONNECTED);
}

static bool is_possible(const struct dl_torus *t, uint32_t sw, uint32_t site)
{
	const struct dl_fabric_node *n = dl_fabric_switch_node(t->fabric, sw);

	for (unsigned int num = 1; num <= n->nports; num++) {
		uint32_t far = dl_fabric_peer_switch(t->fabric, n->first_port + num);

		if (far != DL_NONE && t->sw_site[far] != DL_NONE &&
		    dl_torus_direction(&t->grid, site, t->sw_site[far]) == DIRS)
			return false;
	}
	return true;
}

uint32_t dl_torus_possible_site(const struct dl_torus *t, uint32_t sw)
{
	uint32_t next = dl_torus_uplink_switch(t, sw);

	if (next == DL_NONE || t->sw_site[next] == DL_NONE)
		return DL_NONE;
	for (unsigned int dir = 0; dir < DIRS; dir++) {
		uint32_t site = dl_torus_site_next(&t->grid, t->sw_site[next], dir);

		if (site != DL_NONE && t->site_sw[site] == DL_NONE && is_possible(t, sw, site))
			return site;
	}
	return DL_NONE;
}

/* ---- reports ----------------------------------------------------------- */

static void report_route(const struct dl_torus *t, uint32_t sw, const struct dl_log *log)
{
	static const char *const what[] = {
		[DL_TORUS_LEAF] = "a leaf",
		[DL_TORUS_DUAL_HOMED] = "dual-homed",
		[DL_TORUS_UNPLACEABLE] = "attached to several torus switches",
		[DL_TORUS_DISCONNECTED] = "disconnected, no cable leads from it to the torus",
	};
	enum dl_torus_off_kind kind = t->off_kind[sw];
	uint32_t next = dl_torus_uplink_switch(t, sw);
	unsigned int n = dl_torus_uplink_cables(t, sw, NULL, NULL);
	char route[800] = "";

	if (next != DL_NONE)
		snprintf(route, sizeof(route), "; routed via %s over %u cable%s to %s",
			 dl_torus_show_site(&t->grid, t->attachment[sw]).text, n, n == 1 ? "" : "s",
			 dl_torus_show_switch(t->fabric, next).text);
	dl_log(log, kind >= DL_TORUS_UNPLACEABLE ? DL_LOG_WARNING : DL_LOG_INFO,
	       "switch %s has no place in the %ux%ux%u grid: %s%s",
	       dl_torus_show_switch(t->fabric, sw).text, t->grid.radix[0], t->grid.radix[1],
	       t->grid.radix[2], what[kind], route);
}

static void off_torus_report_doubt(const struct dl_torus *t, uint32_t sw, const struct dl_log *log)
{
	uint32_t site = dl_torus_possible_site(t, sw);

	if (site != DL_NONE)
		dl_log(log, DL_LOG_WARNING,
		       "if switch 0x%016" PRIx64 " is the one missing at %s, name it in a seed of "
		       "a torus-2QoS.conf: its cables alone do not decide",
		       dl_fabric_switch_node(t->fabric, sw)->guid,
		       dl_torus_show_site(&t->grid, site).text);
}

/*
 * A placed switch with one hop left, and several neighbours: its score alone
 * has made it part of the torus.
 */
static bool is_doubtful(const struct dl_torus *t, uint32_t sw)
{
	unsigned int hops = 0, neighbours = 0;

	for (unsigned int dir = 0; dir < DIRS; dir++) {
		uint32_t next = dl_torus_site_next(&t->grid, t->sw_site[sw], dir);

		neighbours += next != DL_NONE && t->site_sw[next] != DL_NONE;
		hops += dl_torus_group_size(t, sw, dir) > 0;
	}
	return hops == 1 && neighbours > 1;
}

static void report_doubtful(const struct dl_torus *t, const struct dl_log *log)
{
	uint32_t n = 0;

	for (uint32_t site = 0; site < t->nsites && n < MAX_LISTED; site++) {
		uint32_t sw = t->site_sw[site];

		if (sw == DL_NONE || !is_doubtful(t, sw))
			continue;
		dl_log(log, DL_LOG_INFO,
		       "switch %s is taken for that of %s, with one hop left: a leaf beside a "
		       "failed switch would look the same",
		       dl_torus_show_switch(t->fabric, sw).text,
		       dl_torus_show_site(&t->grid, site).text);
		n++;
	}
}

static void report_unused(const struct dl_torus *t, uint32_t port, const struct dl_log *log)
{
	dl_log(log, DL_LOG_WARNING,
	       "cable from %s to %s unused: not on any route between an off-torus switch and the "
	       "torus",
	       dl_torus_show_port(t->fabric, port).text,
	       dl_torus_show_port(t->fabric, t->fabric->ports[port].peer).text);
}

int dl_torus_report_off_torus(const struct dl_torus *t, const struct dl_log *log)
{
	uint32_t n = 0;
	int err;

	for (uint32_t i = 0; i < t->nunplaced && i < MAX_LISTED; i++) {
		report_route(t, t->unplaced[i], log);
		off_torus_report_doubt(t, t->unplaced[i], log);
	}
	if (t->nunplaced > MAX_LISTED)
		dl_log(log, DL_LOG_WARNING, "and %u more switches", t->nunplaced - MAX_LISTED);
	report_doubtful(t, log);
	err = dl_torus_report_faults(t, MAX_LISTED, log);
	for (uint32_t i = 0; i < t->noff_links; i++)
		if (!dl_torus_is_uplink(t, t->off_links[i]) &&
		    !dl_torus_is_inside(t, t->off_links[i]) && n++ < MAX_LISTED)
			report_unused(t, t->off_links[i], log);
	if (n > MAX_LISTED)
		dl_log(log, DL_LOG_WARNING, "and %u more cables", n - MAX_LISTED);
	return err;
}
