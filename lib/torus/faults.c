/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Wiring faults: which cables lead to the wrong switch, and how to repair them.
 *
 * Problem.  Two plugs were exchanged when the torus was built, or a cable was
 * plugged in anywhere.  Discovery places the switches all the same (solver.c).
 * This file names each cable that joins no neighbours, and its repair.
 *
 * Method.  Exchange one end of each of two such cables if that completes two
 * hops that lack a cable; likewise for one such cable and one of a hop that has
 * too many.  If one end of a remaining cable is at a switch that lacks a
 * cable, that end is right: move the other.  Remove every other one, and add
 * what hops still lack.
 *
 * A hop lacks cables if it has none, or fewer than nearly all of its dimension
 * have; it has too many if it has more.
 *
 * Invariant.  A cable between neighbours is never named, unless its hop has too
 * many.
 *
 * Complexity: linear in the fabric, and quadratic in the wrong cables, of
 * which only MAX_WRONG are looked at.
 */
#include <errno.h>
#include <stdlib.h>

#include "torus/internal.h"

#define MAX_WRONG 256 /* more are no faults, but no torus */

struct finder {
	const struct dl_torus *t;
	int16_t *lacks;	 /* cables, by site * DIMS + d, towards +d; below 0: too many */
	uint32_t *wrong; /* one port of each cable that is left */
	uint32_t nwrong, nfaults;
	struct dl_torus_fault *faults;
};

uint32_t dl_torus_usual_cables(const struct dl_torus *t, unsigned int dim, bool *nearly_all)
{
	uint32_t count[DL_FABRIC_MAX_PORTS + 1] = { 0 }, all = 0, usual = 1;

	for (uint32_t site = 0; site < t->nsites; site++)
		if (t->site_sw[site] != DL_NONE)
			count[dl_torus_group_size(t, t->site_sw[site], dl_torus_dir(dim, false))]++;
	for (uint32_t n = 1; n <= DL_FABRIC_MAX_PORTS; n++) {
		all += count[n];
		usual = count[n] && count[n] >= count[usual] ? n : usual;
	}
	*nearly_all = all && 10 * count[usual] >= 9 * all;
	return usual;
}

static void find_lacking(struct finder *n)
{
	const struct dl_torus *t = n->t;

	for (unsigned int d = 0; d < DIMS; d++) {
		bool known;
		uint32_t usual = dl_torus_usual_cables(t, d, &known);
		unsigned int dir = dl_torus_dir(d, false);

		for (uint32_t site = 0; site < t->nsites; site++) {
			uint32_t next = dl_torus_site_next(&t->grid, site, dir);
			uint32_t has;

			if (next == DL_NONE || t->site_sw[site] == DL_NONE ||
			    t->site_sw[next] == DL_NONE)
				continue;
			has = dl_torus_group_size(t, t->site_sw[site], dir);
			n->lacks[site * DIMS + d] = known ? (int)usual - (int)has : !has;
		}
	}
}

/* How many cables the hop between two sites lacks; NULL if they are no neighbours. */
static int16_t *faults_hop_shortage(const struct finder *n, uint32_t a, uint32_t b)
{
	unsigned int dir = dl_torus_direction(&n->t->grid, a, b);

	return dir == DIRS ? NULL : &n->lacks[(dir & 1 ? b : a) * DIMS + dl_torus_dir_dim(dir)];
}

/* The same, but NULL also if the hop lacks none. */
static int16_t *faults_short_hop(const struct finder *n, uint32_t a, uint32_t b)
{
	int16_t *lacks = faults_hop_shortage(n, a, b);

	return lacks && *lacks > 0 ? lacks : NULL;
}

static void add_fault(struct finder *n, enum dl_torus_repair repair, uint32_t a, uint32_t b,
		      uint32_t site, unsigned int dir)
{
	n->faults[n->nfaults++] = (struct dl_torus_fault){ repair, { a, b }, site, dir };
}

/* If exchanging an end of one cable with one of the other completes two hops, note it. */
static bool faults_try_exchange(struct finder *n, uint32_t one, uint32_t other)
{
	const struct dl_fabric_port *ports = n->t->fabric->ports;

	for (unsigned int flip = 0; flip < 2; flip++) {
		uint32_t to = ports[one].peer;
		uint32_t a = flip ? ports[other].peer : other;
		int16_t *x = faults_short_hop(n, dl_torus_site_of(n->t, one),
					      dl_torus_site_of(n->t, ports[a].peer));
		int16_t *y =
			faults_short_hop(n, dl_torus_site_of(n->t, to), dl_torus_site_of(n->t, a));

		if (!x || !y || (x == y && *x < 2))
			continue;
		--*x;
		--*y;
		add_fault(n, DL_TORUS_EXCHANGE, to, ports[a].peer, DL_NONE, 0);
		return true;
	}
	return false;
}

static void find_exchanged(struct finder *n)
{
	for (uint32_t i = 0; i < n->nwrong; i++) {
		for (uint32_t j = i + 1; j < n->nwrong; j++) {
			if (!faults_try_exchange(n, n->wrong[i], n->wrong[j]))
				continue;
			n->wrong[j] = n->wrong[--n->nwrong];
			n->wrong[i--] = n->wrong[--n->nwrong];
			break;
		}
	}
}

/*
 * This end of a wrong cable is right: can the other end be exchanged with a
 * cable of a hop that has too many?
 */
static bool exchange_surplus(struct finder *n, uint32_t port)
{
	const struct dl_torus *t = n->t;
	const struct dl_fabric *f = t->fabric;
	uint32_t wrong = f->ports[port].peer, here = dl_torus_site_of(t, port);

	for (unsigned int dir = 0; dir < DIRS; dir++) {
		uint32_t next = dl_torus_site_next(&t->grid, here, dir);
		int16_t *x = next == DL_NONE ? NULL : faults_short_hop(n, here, next);
		const struct dl_fabric_node *node = x ? dl_fabric_switch_node(f, t->site_sw[next]) :
							NULL;

		for (unsigned int k = 1; x && k <= node->nports; k++) {
			uint32_t other = node->first_port + k;
			uint32_t there = f->ports[other].peer == DL_NONE ?
						 DL_NONE :
						 dl_torus_site_of(t, f->ports[other].peer);
			int16_t *surplus = there == DL_NONE ? NULL :
							      faults_hop_shortage(n, next, there);
			int16_t *y = there == DL_NONE ?
					     NULL :
					     faults_short_hop(n, dl_torus_site_of(t, wrong), there);

			if (!surplus || *surplus >= 0 || !y || (x == y && *x < 2))
				continue;
			--*x;
			--*y;
			++*surplus;
			add_fault(n, DL_TORUS_EXCHANGE, wrong, other, DL_NONE, 0);
			return true;
		}
	}
	return false;
}

/* If this end of a cable is right, note that the other must be moved. */
static bool faults_try_move(struct finder *n, uint32_t port)
{
	const struct dl_torus *t = n->t;

	for (unsigned int dir = 0; dir < DIRS; dir++) {
		uint32_t here = dl_torus_site_of(n->t, port);
		uint32_t next = dl_torus_site_next(&t->grid, here, dir);
		int16_t *lacks = next == DL_NONE ? NULL : faults_short_hop(n, here, next);

		if (!lacks)
			continue;
		--*lacks;
		add_fault(n, DL_TORUS_MOVE, t->fabric->ports[port].peer, port, next,
			  dl_torus_opposite(dir));
		return true;
	}
	return false;
}

static void find_all(struct finder *n)
{
	const struct dl_torus *t = n->t;
	const struct dl_fabric_port *ports = t->fabric->ports;

	find_lacking(n);
	for (uint32_t i = 0; i < t->noff_links && n->nwrong < MAX_WRONG; i++)
		if (dl_torus_is_inside(t, t->off_links[i]))
			n->wrong[n->nwrong++] = t->off_links[i];
	find_exchanged(n);
	for (uint32_t i = 0; i < n->nwrong; i++) {
		uint32_t a = n->wrong[i], b = ports[a].peer;

		if (!exchange_surplus(n, a) && !exchange_surplus(n, b) && !faults_try_move(n, a) &&
		    !faults_try_move(n, b))
			add_fault(n, DL_TORUS_REMOVE, a, b, DL_NONE, 0);
	}
	for (uint32_t i = 0; i < t->nsites * DIMS; i++)
		if (n->lacks[i] > 0)
			add_fault(n, DL_TORUS_ADD, DL_NONE, DL_NONE, i / DIMS,
				  dl_torus_dir(i % DIMS, false));
}

int dl_torus_find_faults(const struct dl_torus *t, struct dl_torus_fault **faults, uint32_t *count)
{
	struct finder n = { .t = t };
	int err = -ENOMEM;

	n.lacks = calloc(t->nsites, DIMS * sizeof(*n.lacks));
	n.wrong = malloc(MAX_WRONG * sizeof(*n.wrong));
	n.faults = calloc(t->nsites * DIMS + MAX_WRONG, sizeof(*n.faults));
	if (n.lacks && n.wrong && n.faults) {
		find_all(&n);
		*faults = n.faults;
		*count = n.nfaults;
		n.faults = NULL;
		err = 0;
	}
	free(n.lacks);
	free(n.wrong);
	free(n.faults);
	return err;
}

/* ---- report ------------------------------------------------------------ */

/* Cables of a switch that would join neighbours if it were at a site. */
static unsigned int faults_count_joined(const struct dl_torus *t, uint32_t sw, uint32_t site)
{
	const struct dl_fabric_node *node = dl_fabric_switch_node(t->fabric, sw);
	unsigned int n = 0;

	for (unsigned int k = 1; k <= node->nports; k++) {
		uint32_t far = dl_fabric_peer_switch(t->fabric, node->first_port + k);

		n += far != DL_NONE && t->sw_site[far] != DL_NONE &&
		     dl_torus_direction(&t->grid, site, t->sw_site[far]) != DIRS;
	}
	return n;
}

/* Warn if the switches of two ports fit each other's site as well; corners may. */
static void faults_report_doubt(const struct dl_torus *t, uint32_t a, uint32_t b,
				const struct dl_log *log)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t one = f->nodes[f->ports[a].node].sw, two = f->nodes[f->ports[b].node].sw;
	uint32_t here = t->sw_site[one], there = t->sw_site[two];

	if (faults_count_joined(t, one, there) + faults_count_joined(t, two, here) >=
	    faults_count_joined(t, one, here) + faults_count_joined(t, two, there))
		dl_log(log, DL_LOG_WARNING,
		       "which of switches %s and %s is at %s and which at %s does not follow from "
		       "the cabling: name one in a seed of a torus-2QoS.conf",
		       dl_torus_show_switch(f, one).text, dl_torus_show_switch(f, two).text,
		       dl_torus_show_site(&t->grid, here).text,
		       dl_torus_show_site(&t->grid, there).text);
}

static void faults_report_one(const struct dl_torus *t, const struct dl_torus_fault *fault,
			      const struct dl_log *log)
{
	struct dl_torus_shown a = dl_torus_show_port(t->fabric, fault->port[0]);
	struct dl_torus_shown b = dl_torus_show_port(t->fabric, fault->port[1]);

	if (fault->repair == DL_TORUS_EXCHANGE) {
		const struct dl_fabric_port *ports = t->fabric->ports;

		dl_log(log, DL_LOG_WARNING, "wiring fault: exchange the cables in %s and %s",
		       a.text, b.text);
		faults_report_doubt(t, fault->port[0], fault->port[1], log);
		faults_report_doubt(t, ports[fault->port[0]].peer, ports[fault->port[1]].peer, log);
	} else if (fault->repair == DL_TORUS_MOVE)
		dl_log(log, DL_LOG_WARNING,
		       "wiring fault: move the cable in %s to the switch of %s; its other end, in "
		       "%s, is right",
		       a.text, dl_torus_show_site(&t->grid, fault->site).text, b.text);
	else
		dl_log(log, DL_LOG_WARNING,
		       "cable from %s to %s unused: it does not join neighbours", a.text, b.text);
}

int dl_torus_report_faults(const struct dl_torus *t, uint32_t max, const struct dl_log *log)
{
	struct dl_torus_fault *faults;
	uint32_t n, cables = 0;
	int err = dl_torus_find_faults(t, &faults, &n);

	if (err)
		return err;
	for (uint32_t i = 0; i < n; i++)
		if (faults[i].repair != DL_TORUS_ADD && cables++ < max)
			faults_report_one(t, &faults[i], log);
	if (cables > max)
		dl_log(log, DL_LOG_WARNING, "and %u more cables", cables - max);
	free(faults);
	return 0;
}
