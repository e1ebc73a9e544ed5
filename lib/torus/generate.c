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
#include <string.h>

#include "torus/internal.h"

#define MIN_PORTS 36
#define MAX_SEEDS 3

/* Streams of the seed's random numbers. */
enum { STREAM_PORTS, STREAM_SWITCHES, STREAM_ADAPTERS, STREAM_ORDER };

/* A switch (n = 0) or its n-th adapter. */
struct item {
	uint32_t site, n;
};

struct build {
	const struct dl_torus_plan *plan;
	const struct dl_log *log;
	struct dl_arena arena; /* of the arrays */
	struct dl_fabric *f;
	struct dl_torus_config *c;
	uint32_t nsites;
	uint32_t nports;	       /* of a switch */
	uint32_t first_slot[DIRS + 1]; /* of a direction, the hosts */
	bool *dead;		       /* by site */
	uint8_t *cables;	       /* by site * DIMS + d, towards +d */
	struct item *items;	       /* live nodes, in the fabric's order */
	uint32_t nitems;
	uint32_t *node;		  /* by site * (hosts + 1) + n */
	uint64_t *guid, *ca_guid; /* by site; by site * hosts + n - 1 */
	uint8_t *port;		  /* port number by slot, switch after switch */
};

/* ---- the plan ---------------------------------------------------------- */

static int check_plan(struct build *b)
{
	const struct dl_torus_plan *p = b->plan;
	uint64_t nodes = (uint64_t)b->nsites * (p->hosts + 1), ports = 0;

	for (unsigned int dir = 0; dir < DIRS; dir++) {
		b->first_slot[dir] = ports;
		if (p->grid.radix[dl_torus_dir_dim(dir)] > 1)
			ports += p->parallel;
	}
	b->first_slot[DIRS] = ports;
	ports += p->hosts;
	if (ports > DL_FABRIC_MAX_PORTS)
		dl_log(b->log, DL_LOG_ERROR,
		       "adapters (%u) and cables in each direction (%u) take %" PRIu64
		       " ports of a switch, which has at most %d",
		       p->hosts, p->parallel, ports, DL_FABRIC_MAX_PORTS);
	else if (nodes > DL_FABRIC_MAX_LID)
		dl_log(b->log, DL_LOG_ERROR,
		       "%u switches with %u adapters each are more than the %d nodes that a "
		       "subnet has LIDs for",
		       b->nsites, p->hosts, DL_FABRIC_MAX_LID);
	b->nports = ports < MIN_PORTS ? MIN_PORTS : ports;
	return ports > DL_FABRIC_MAX_PORTS || nodes > DL_FABRIC_MAX_LID ? -EINVAL : 0;
}

static int fail_hop(struct build *b, const struct dl_torus_failed_hop *h)
{
	const struct dl_torus_grid *g = &b->plan->grid;
	uint32_t next = dl_torus_site_next(g, h->site, h->dir);
	struct dl_torus_shown from = dl_torus_show_site(g, h->site);
	unsigned int dim = dl_torus_dir_dim(h->dir);
	uint8_t *cables;

	if (next == DL_NONE)
		return dl_fail(b->log, -EINVAL,
			       "no cables to fail: nothing lies beyond %s in direction %c%c",
			       from.text, h->dir & 1 ? '-' : '+', 'x' + dim);
	cables = &b->cables[(h->dir & 1 ? next : h->site) * DIMS + dim];
	if (h->cables > *cables)
		return dl_fail(b->log, -EINVAL,
			       "cannot fail %u cables from %s in direction %c%c: there are only %u",
			       h->cables, from.text, h->dir & 1 ? '-' : '+', 'x' + dim, *cables);
	*cables -= h->cables ? h->cables : *cables;
	return 0;
}

static int apply_failures(struct build *b)
{
	const struct dl_torus_plan *p = b->plan;
	uint32_t live = b->nsites;
	int err = 0;

	memset(b->cables, p->parallel, (size_t)b->nsites * DIMS);
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

/* Put an array of small elements in a random order, if that is asked for. */
static void generate_scramble(const struct build *b, struct dl_random *r, void *array, size_t size,
			      uint32_t n)
{
	char *at = array, swap[sizeof(struct item)];

	for (; b->plan->scramble && n > 1; n--) {
		char *a = at + (n - 1) * size;
		char *c = at + dl_random_below(r, n) * size;

		memcpy(swap, a, size);
		memcpy(a, c, size);
		memcpy(c, swap, size);
	}
}

static struct dl_random generate_stream(const struct build *b, uint32_t number)
{
	return (struct dl_random){ b->plan->seed, number, 0 };
}

static void list_items(struct build *b)
{
	struct dl_random r = generate_stream(b, STREAM_ORDER);
	uint32_t k = 0;

	for (uint32_t site = 0; site < b->nsites; site++) {
		if (b->dead[site])
			continue;
		for (uint32_t n = 1; n <= b->plan->hosts; n++)
			b->items[b->nitems++] = (struct item){ site, n };
		b->items[b->nitems++] = (struct item){ site, 0 };
	}
	generate_scramble(b, &r, b->items, sizeof(*b->items), b->nitems);
	/* An adapter first, if there is one. */
	while (k < b->nitems && !b->items[k].n)
		k++;
	if (k < b->nitems) {
		struct item first = b->items[0];

		b->items[0] = b->items[k];
		b->items[k] = first;
	}
}

static uint64_t generate_guid(const struct build *b, uint32_t site, uint32_t n)
{
	uint32_t c[DIMS];

	dl_torus_site_coord(&b->plan->grid, site, c);
	return (n ? UINT64_C(0xd2) : UINT64_C(0xd1)) << 48 | (uint64_t)c[0] << 32 | c[1] << 24 |
	       c[2] << 16 | n << 8;
}

static void number_items(struct build *b)
{
	struct dl_random switches = generate_stream(b, STREAM_SWITCHES);
	struct dl_random adapters = generate_stream(b, STREAM_ADAPTERS);
	struct dl_random ports = generate_stream(b, STREAM_PORTS);
	uint32_t hosts = b->plan->hosts;

	for (uint32_t site = 0; site < b->nsites; site++) {
		uint8_t *port = b->port + (size_t)site * b->nports;

		b->guid[site] = generate_guid(b, site, 0);
		for (uint32_t n = 0; n < hosts; n++)
			b->ca_guid[site * hosts + n] = generate_guid(b, site, n + 1);
		for (uint32_t i = 0; i < b->nports; i++)
			port[i] = i + 1;
		generate_scramble(b, &ports, port, 1, b->nports);
	}
	generate_scramble(b, &switches, b->guid, sizeof(*b->guid), b->nsites);
	generate_scramble(b, &adapters, b->ca_guid, sizeof(*b->ca_guid), b->nsites * hosts);
}

/* ---- the fabric -------------------------------------------------------- */

static uint32_t *generate_node(const struct build *b, uint32_t site, uint32_t n)
{
	return &b->node[site * (b->plan->hosts + 1) + n];
}

static int add_item(struct build *b, uint32_t site, uint32_t n)
{
	uint64_t guid = n ? b->ca_guid[site * b->plan->hosts + n - 1] : b->guid[site];
	uint32_t c[DIMS], *node = generate_node(b, site, n);
	char name[32];
	int err, len;

	dl_torus_site_coord(&b->plan->grid, site, c);
	len = snprintf(name, sizeof(name), "%c_%u_%u_%u", n ? 'H' : 'S', c[0], c[1], c[2]);
	if (n)
		snprintf(name + len, sizeof(name) - len, "_%u", n);
	err = dl_fabric_add_node(b->f, n ? DL_FABRIC_CA : DL_FABRIC_SWITCH, n ? 1 : b->nports, guid,
				 name, node);
	if (!err)
		err = dl_fabric_set_desc(b->f, *node, name);
	/* End ports: the GUIDs that ibsim derives, too. */
	if (!err)
		b->f->ports[b->f->nodes[*node].first_port + !!n].guid = guid + !!n;
	return err;
}

/* The index of a switch's port by its slot. */
static uint32_t slot_port(const struct build *b, uint32_t site, uint32_t slot)
{
	return b->f->nodes[*generate_node(b, site, 0)].first_port +
	       b->port[(size_t)site * b->nports + slot];
}

static int generate_add_cables(struct build *b, uint32_t site)
{
	const uint32_t *slot = b->first_slot;
	int err = 0;

	for (unsigned int dir = 0; dir < DIRS; dir += 2) {
		uint32_t next = dl_torus_site_next(&b->plan->grid, site, dir);
		uint32_t n = b->cables[site * DIMS + dl_torus_dir_dim(dir)];

		if (next == DL_NONE || b->dead[next])
			continue;
		for (uint32_t k = 0; !err && k < n; k++)
			err = dl_fabric_connect(b->f, slot_port(b, site, slot[dir] + k),
						slot_port(b, next, slot[dir + 1] + k));
	}
	for (uint32_t n = 1; !err && n <= b->plan->hosts; n++)
		err = dl_fabric_connect(b->f, slot_port(b, site, slot[DIRS] + n - 1),
					b->f->nodes[*generate_node(b, site, n)].first_port + 1);
	return err;
}

static int build_fabric(struct build *b)
{
	int err = dl_fabric_new(&b->f);

	list_items(b);
	number_items(b);
	for (uint32_t i = 0; !err && i < b->nitems; i++)
		err = add_item(b, b->items[i].site, b->items[i].n);
	for (uint32_t site = 0; !err && site < b->nsites; site++)
		if (!b->dead[site])
			err = generate_add_cables(b, site);
	for (uint32_t i = 0; !err && b->plan->speed && i < b->f->nports; i++) {
		b->f->ports[i].width = b->plan->width;
		b->f->ports[i].speed = b->plan->speed;
	}
	return err ? err : dl_fabric_finish(b->f, b->log);
}

static int build_config(struct build *b)
{
	uint32_t *sites = dl_arena_array(&b->arena, b->nsites, sizeof(*sites)), n = 0;
	struct dl_torus_grid open = b->plan->grid; /* as dl_torus_solve() sees radix 2 */
	struct dl_torus *t = NULL;
	int err;

	if (!sites)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->nitems; i++)
		if (!b->items[i].n)
			sites[n++] = b->items[i].site;
	for (unsigned int d = 0; d < DIMS; d++)
		open.mesh[d] |= open.radix[d] <= 2;
	err = dl_torus_make(b->f, &open, sites, &t);
	if (!err)
		err = dl_torus_describe_as(t, &b->plan->grid, "generated", MAX_SEEDS, &b->c);
	if (!err && !b->c->nseeds)
		dl_log(b->log, DL_LOG_WARNING,
		       "so much has failed that no switch can be the seed; "
		       "the configuration has none");
	dl_torus_free(t);
	return err;
}

static int generate_allocate(struct build *b)
{
	size_t nsites = b->nsites, hosts = b->plan->hosts;
	size_t nodes = nsites * (hosts + 1);
	struct dl_arena *a = &b->arena;

	b->dead = dl_arena_array(a, nsites, sizeof(*b->dead));
	b->cables = dl_arena_array(a, nsites, DIMS);
	b->items = dl_arena_array(a, nodes, sizeof(*b->items));
	b->node = dl_arena_array(a, nodes, sizeof(*b->node));
	b->guid = dl_arena_array(a, nsites, sizeof(*b->guid));
	b->ca_guid = dl_arena_array(a, nodes, sizeof(*b->ca_guid));
	b->port = dl_arena_array(a, nsites, b->nports);
	return b->dead && b->cables && b->items && b->node && b->guid && b->ca_guid && b->port ?
		       0 :
		       -ENOMEM;
}

int dl_torus_generate(const struct dl_torus_plan *plan, const struct dl_log *log,
		      struct dl_fabric **fabric, struct dl_torus_config **config)
{
	struct build b = { .plan = plan, .log = log, .nsites = dl_torus_grid_sites(&plan->grid) };
	int err = check_plan(&b);

	if (!err)
		err = generate_allocate(&b);
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
	dl_arena_free(&b.arena);
	return err;
}
