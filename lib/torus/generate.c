/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Torus and mesh fabrics made to a plan, with failures: the netlist that a
 * simulator runs, and the torus-2QoS.conf that fits it.
 *
 * Layout.  Every switch has the same ports, also where a mesh ends and
 * something failed: those in direction +x first, then -x, +y, -y, +z, -z as
 * far as these dimensions are there, `parallel` ports each, then the hosts'.
 * The number of ports is what that takes, but at least MIN_PORTS.  Cable k of
 * a hop joins port k of one side with port k of the other.  A closed
 * dimension of radix 2 is a ring like any other: its two switches are joined
 * twice, + to - and - to +.
 *
 * Order.  Site by site, adapters before their switch: the first node is an
 * adapter, where a simulator attaches its clients.
 *
 * Names and GUIDs.  S_x_y_z and H_x_y_z_n, n from 1.  GUIDs read in hexadecimal
 * as 00 d1 00 xx yy zz 00 00 for a switch and 00 d2 00 xx yy zz nn 00 for an
 * adapter.
 *
 * Scrambling permutes the port numbers of every switch, the GUIDs of the
 * switches among themselves and those of the adapters likewise, and the order
 * of the nodes, save that an adapter stays first.  Names keep the truth.
 *
 * Complexity.  Linear in the ports.  Limits: DL_FABRIC_MAX_PORTS ports a switch,
 * DL_FABRIC_MAX_LID nodes.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/base.h"
#include "dateline/torus.h"
#include "torus/internal.h"

#define MIN_PORTS 36
#define MAX_SEEDS 3

/* Streams of the seed's random numbers. */
enum { STREAM_PORTS, STREAM_SWITCHES, STREAM_ADAPTERS, STREAM_ORDER };

/* A switch (n = 0) or its n-th adapter. */
struct item {
	uint32_t site;
	uint32_t n;
};

struct build {
	const struct dl_torus_plan *plan;
	const struct dl_log *log;
	struct dl_fabric *f;
	struct dl_torus_config *c;
	uint32_t nsites;
	uint32_t nports;			/* of a switch */
	uint32_t first_slot[DL_TORUS_DIRS + 1]; /* of a direction, the hosts */
	bool *dead;				/* by site */
	uint8_t *cables;    /* by site * DL_TORUS_DIMS + d, towards +d */
	struct item *items; /* live nodes, in the fabric's order */
	uint32_t nitems;
	uint32_t *node;	     /* by site * (hosts + 1) + n */
	uint64_t *guid;	     /* likewise */
	uint64_t *site_guid; /* of switches */
	uint8_t *port;	     /* port number by slot, switch after switch */
};

/* ---- the plan ---------------------------------------------------------- */

static int check_plan(struct build *b)
{
	const struct dl_torus_plan *p = b->plan;
	uint64_t ports = 0;
	uint64_t nodes = (uint64_t)b->nsites * (p->hosts + 1);

	for (unsigned int dir = 0; dir < DL_TORUS_DIRS; dir++) {
		b->first_slot[dir] = ports;
		if (p->grid.radix[dl_torus_dir_dim(dir)] > 1)
			ports += p->parallel;
	}
	b->first_slot[DL_TORUS_DIRS] = ports;
	ports += p->hosts;
	if (ports > DL_FABRIC_MAX_PORTS) {
		dl_log(b->log, DL_LOG_ERROR,
		       "%" PRIu32 " adapters and %" PRIu32
		       " cables a direction take %" PRIu64
		       " ports of a switch, which has at most %d",
		       p->hosts, p->parallel, ports, DL_FABRIC_MAX_PORTS);
		return -EINVAL;
	}
	if (nodes > DL_FABRIC_MAX_LID) {
		dl_log(b->log, DL_LOG_ERROR,
		       "%" PRIu32 " switches with %" PRIu32
		       " adapters each are more than the %d nodes that a "
		       "subnet has LIDs for",
		       b->nsites, p->hosts, DL_FABRIC_MAX_LID);
		return -EINVAL;
	}
	b->nports = ports < MIN_PORTS ? MIN_PORTS : ports;
	return 0;
}

static int fail_hop(struct build *b, const struct dl_torus_failed_hop *h)
{
	const struct dl_torus_grid *g = &b->plan->grid;
	unsigned int dim = dl_torus_dir_dim(h->dir);
	uint32_t next = dl_torus_site_next(g, h->site, h->dir);
	uint32_t lower = h->dir == dl_torus_dir(dim, true) ? next : h->site;
	uint32_t c[DL_TORUS_DIMS];
	uint8_t *cables;

	dl_torus_site_coord(g, h->site, c);
	if (next == DL_NONE) {
		dl_log(b->log, DL_LOG_ERROR,
		       "no cables to fail: nothing lies beyond (%u,%u,%u) in "
		       "direction %c%c",
		       c[0], c[1], c[2], h->dir & 1 ? '-' : '+', 'x' + dim);
		return -EINVAL;
	}
	cables = &b->cables[lower * DL_TORUS_DIMS + dim];
	if (h->cables > *cables) {
		dl_log(b->log, DL_LOG_ERROR,
		       "cannot fail %u cables from (%u,%u,%u) in direction "
		       "%c%c: there are only %u",
		       h->cables, c[0], c[1], c[2], h->dir & 1 ? '-' : '+',
		       'x' + dim, *cables);
		return -EINVAL;
	}
	*cables -= h->cables ? h->cables : *cables;
	return 0;
}

static int apply_failures(struct build *b)
{
	const struct dl_torus_plan *p = b->plan;
	uint32_t live = b->nsites;
	int err = 0;

	memset(b->cables, p->parallel, (size_t)b->nsites * DL_TORUS_DIMS);
	for (uint32_t i = 0; i < p->nfailed_sites; i++) {
		live -= !b->dead[p->failed_sites[i]];
		b->dead[p->failed_sites[i]] = true;
	}
	for (uint32_t i = 0; !err && i < p->nfailed_hops; i++)
		err = fail_hop(b, &p->failed_hops[i]);
	if (!err && !live) {
		dl_log(b->log, DL_LOG_ERROR, "no switch is left");
		err = -EINVAL;
	}
	return err;
}

/* ---- order, GUIDs, port numbers ---------------------------------------- */

static uint32_t item_index(const struct build *b, uint32_t site, uint32_t n)
{
	return site * (b->plan->hosts + 1) + n;
}

static void list_items(struct build *b)
{
	uint32_t n, k;

	for (uint32_t site = 0; site < b->nsites; site++) {
		if (b->dead[site])
			continue;
		for (n = 1; n <= b->plan->hosts; n++)
			b->items[b->nitems++] = (struct item){ site, n };
		b->items[b->nitems++] = (struct item){ site, 0 };
	}
	if (b->plan->scramble) {
		struct dl_random r = { b->plan->seed, STREAM_ORDER, 0 };

		for (n = b->nitems; n > 1; n--) {
			struct item last = b->items[n - 1];

			k = dl_random_below(&r, n);
			b->items[n - 1] = b->items[k];
			b->items[k] = last;
		}
	}
	/* An adapter first, if there is one. */
	for (k = 0; k < b->nitems; k++) {
		struct item first = b->items[0];

		if (!b->items[k].n)
			continue;
		b->items[0] = b->items[k];
		b->items[k] = first;
		break;
	}
}

static uint64_t plain_guid(const struct build *b, uint32_t site, uint32_t n)
{
	uint32_t c[DL_TORUS_DIMS];

	dl_torus_site_coord(&b->plan->grid, site, c);
	return (n ? UINT64_C(0xd2) : UINT64_C(0xd1)) << 48 |
	       (uint64_t)c[0] << 32 | c[1] << 24 | c[2] << 16 | n << 8;
}

/* Exchange the GUIDs of all switches, or of all adapters, at random. */
static void shuffle_guids(struct build *b, bool adapters)
{
	struct dl_random r = { b->plan->seed,
			       adapters ? STREAM_ADAPTERS : STREAM_SWITCHES,
			       0 };
	uint32_t each = adapters ? b->plan->hosts : 1;

	for (uint32_t i = b->nsites * each; i > 1; i--) {
		uint32_t k = dl_random_below(&r, i);
		uint32_t at = item_index(b, (i - 1) / each,
					 (i - 1) % each + adapters);
		uint32_t other = item_index(b, k / each, k % each + adapters);
		uint64_t guid = b->guid[at];

		b->guid[at] = b->guid[other];
		b->guid[other] = guid;
	}
}

static void name_items(struct build *b)
{
	for (uint32_t site = 0; site < b->nsites; site++)
		for (uint32_t n = 0; n <= b->plan->hosts; n++)
			b->guid[item_index(b, site, n)] =
				plain_guid(b, site, n);
	if (b->plan->scramble) {
		shuffle_guids(b, false);
		if (b->plan->hosts)
			shuffle_guids(b, true);
	}
	for (uint32_t site = 0; site < b->nsites; site++)
		b->site_guid[site] = b->guid[item_index(b, site, 0)];
}

static void number_ports(struct build *b)
{
	struct dl_random r = { b->plan->seed, STREAM_PORTS, 0 };

	for (uint32_t site = 0; site < b->nsites; site++) {
		uint8_t *port = b->port + (size_t)site * b->nports;

		for (uint32_t i = 0; i < b->nports; i++)
			port[i] = i + 1;
		for (uint32_t i = b->nports; b->plan->scramble && i > 1; i--) {
			uint32_t k = dl_random_below(&r, i);
			uint8_t last = port[i - 1];

			port[i - 1] = port[k];
			port[k] = last;
		}
	}
}

/* ---- the fabric -------------------------------------------------------- */

static int add_items(struct build *b)
{
	for (uint32_t i = 0; i < b->nitems; i++) {
		uint32_t site = b->items[i].site, n = b->items[i].n;
		uint32_t at = item_index(b, site, n);
		uint32_t c[DL_TORUS_DIMS];
		char name[32];
		int err, len;

		dl_torus_site_coord(&b->plan->grid, site, c);
		len = snprintf(name, sizeof(name), "%c_%u_%u_%u", n ? 'H' : 'S',
			       c[0], c[1], c[2]);
		if (n)
			snprintf(name + len, sizeof(name) - len, "_%u", n);
		err = dl_fabric_add_node(b->f,
					 n ? DL_FABRIC_CA : DL_FABRIC_SWITCH,
					 n ? 1 : b->nports, b->guid[at], name,
					 &b->node[at]);
		if (!err)
			err = dl_fabric_set_desc(b->f, b->node[at], name);
		if (err)
			return err;
		/* End ports: the GUIDs that ibsim derives, too. */
		b->f->ports[b->f->nodes[b->node[at]].first_port + !!n].guid =
			b->guid[at] + !!n;
	}
	return 0;
}

/* The index of a switch's port by its slot. */
static uint32_t slot_port(const struct build *b, uint32_t site, uint32_t slot)
{
	uint32_t node = b->node[item_index(b, site, 0)];

	return b->f->nodes[node].first_port +
	       b->port[(size_t)site * b->nports + slot];
}

static int add_cables(struct build *b, uint32_t site)
{
	int err = 0;

	for (unsigned int dim = 0; dim < DL_TORUS_DIMS; dim++) {
		unsigned int dir = dl_torus_dir(dim, false);
		uint32_t next = dl_torus_site_next(&b->plan->grid, site, dir);
		uint32_t n = b->cables[site * DL_TORUS_DIMS + dim];

		if (next == DL_NONE || b->dead[next])
			continue;
		for (uint32_t k = 0; !err && k < n; k++)
			err = dl_fabric_connect(
				b->f,
				slot_port(b, site, b->first_slot[dir] + k),
				slot_port(b, next,
					  b->first_slot[dl_torus_opposite(dir)] +
						  k));
	}
	for (uint32_t n = 1; !err && n <= b->plan->hosts; n++) {
		uint32_t node = b->node[item_index(b, site, n)];
		uint32_t slot = b->first_slot[DL_TORUS_DIRS] + n - 1;

		err = dl_fabric_connect(b->f, slot_port(b, site, slot),
					b->f->nodes[node].first_port + 1);
	}
	return err;
}

static int build_fabric(struct build *b)
{
	int err;

	list_items(b);
	name_items(b);
	number_ports(b);
	err = add_items(b);
	for (uint32_t site = 0; !err && site < b->nsites; site++)
		if (!b->dead[site])
			err = add_cables(b, site);
	return err ? err : dl_fabric_finish(b->f, b->log);
}

/* ---- the configuration ------------------------------------------------- */

static int build_config(struct build *b)
{
	const struct dl_torus_plan *p = b->plan;
	uint32_t group = p->parallel;
	int err;

	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++)
		if (p->grid.radix[d] == 2 && !p->grid.mesh[d])
			group = 2 * p->parallel;
	if (group < p->hosts + 1)
		group = p->hosts + 1;
	b->c = dl_torus_config_new(&p->grid, "generated", MAX_SEEDS);
	if (!b->c)
		return -ENOMEM;
	if (group > b->c->portgroup_max_ports)
		b->c->portgroup_max_ports = group;
	err = dl_torus_choose_seeds(&p->grid, b->dead, b->cables, b->site_guid,
				    MAX_SEEDS, b->c);
	if (!err && !b->c->nseeds)
		dl_log(b->log, DL_LOG_WARNING,
		       "so much has failed that no switch can be the seed; "
		       "the configuration has none");
	return err;
}

static int allocate(struct build *b)
{
	size_t nsites = b->nsites;
	size_t nodes = nsites * (b->plan->hosts + 1);

	b->dead = calloc(nsites, sizeof(*b->dead));
	b->cables = malloc(nsites * DL_TORUS_DIMS);
	b->items = malloc(nodes * sizeof(*b->items));
	b->node = malloc(nodes * sizeof(*b->node));
	b->guid = malloc(nodes * sizeof(*b->guid));
	b->site_guid = malloc(nsites * sizeof(*b->site_guid));
	b->port = malloc(nsites * b->nports);
	if (!b->dead || !b->cables || !b->items || !b->node || !b->guid ||
	    !b->site_guid || !b->port)
		return -ENOMEM;
	return dl_fabric_new(&b->f);
}

int dl_torus_generate(const struct dl_torus_plan *plan,
		      const struct dl_log *log, struct dl_fabric **fabric,
		      struct dl_torus_config **config)
{
	struct build b = { .plan = plan,
			   .log = log,
			   .nsites = dl_torus_grid_sites(&plan->grid) };
	int err;

	err = check_plan(&b);
	if (!err)
		err = allocate(&b);
	if (!err)
		err = apply_failures(&b);
	if (!err)
		err = build_fabric(&b);
	if (!err)
		err = build_config(&b);
	if (err) {
		dl_fabric_free(b.f);
		dl_torus_config_free(b.c);
	} else {
		*fabric = b.f;
		*config = b.c;
	}
	free(b.dead);
	free(b.cables);
	free(b.items);
	free(b.node);
	free(b.guid);
	free(b.site_guid);
	free(b.port);
	return err;
}
