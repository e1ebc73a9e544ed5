/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The spanning tree for multicast (rules A9).
 *
 * The master tree runs along x from the root, from there along y, from there
 * along z, so every turn from the root outwards is one that dimension order
 * makes too.  A branch stops at the dateline: multicast travels on SL 0 and
 * 8, whose VLs do not change there.  Only on a ring that a failure has broken
 * may it go on, since such a ring closes no loop.
 *
 * Off-torus switches (torus/off_torus.c) are attached by their uplinks.
 *
 * Every group uses the part of the master tree that joins its members to the
 * root.
 *
 * Complexity: O(switches x radix) for the master tree, O(switches + members) for a
 * group.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "route/internal.h"

struct builder {
	const struct dl_torus *torus;
	const bool *leaf; /* by switch: avoided, left to whoever attaches it; NULL: none */
	struct dl_route_tree *tree;
	uint8_t *dir; /* by switch: the direction to its parent */
};

/* One piece of memory, with room for so many cables. */
struct dl_route_tree *dl_route_tree_new(uint32_t nswitches, uint32_t ncables)
{
	struct dl_route_tree *tree =
		malloc(sizeof(*tree) + (3 * ((size_t)nswitches + 1) + ncables) * sizeof(uint32_t));

	if (!tree)
		return NULL;
	memset(tree, 0, sizeof(*tree));
	tree->root = DL_NONE;
	tree->nswitches = nswitches;
	tree->parent = (uint32_t *)(tree + 1);
	tree->order = tree->parent + nswitches + 1;
	tree->cable_first = tree->order + nswitches + 1;
	tree->cables = tree->cable_first + nswitches + 1;
	memset(tree->parent, 0xFF, (nswitches + 1) * sizeof(*tree->parent));
	return tree;
}

void dl_route_tree_free(struct dl_route_tree *tree)
{
	free(tree);
}

/* The switch at a site that passes packets on, or DL_NONE. */
static uint32_t tree_switch(const struct builder *b, uint32_t site)
{
	uint32_t sw = b->torus->site_sw[site];

	return sw != DL_NONE && b->leaf && b->leaf[sw] ? DL_NONE : sw;
}

static bool is_in(const struct builder *b, uint32_t sw)
{
	return sw == b->tree->root || b->tree->parent[sw] != DL_NONE;
}

static void tree_attach(struct builder *b, uint32_t sw, uint32_t parent, unsigned int dir_to_parent)
{
	b->tree->parent[sw] = parent;
	b->tree->order[b->tree->norder++] = sw;
	b->dir[sw] = dir_to_parent;
}

/*
 * Branch out from a switch in one direction while there are cables and new
 * switches, up to the dateline or beyond.
 */
static void tree_branch(struct builder *b, uint32_t sw, unsigned int dir, bool beyond)
{
	const struct dl_torus *t = b->torus;
	unsigned int dim = dl_torus_dir_dim(dir);
	uint32_t c[DL_TORUS_DIMS];

	for (;;) {
		uint32_t site = t->sw_site[sw], next;
		bool dateline;

		dl_torus_site_coord(&t->grid, site, c);
		dateline = c[dim] == (dir & 1 ? 0 : t->grid.radix[dim] - 1);
		if ((dateline && !beyond) || !dl_route_link_alive(t, site, dir))
			return;
		next = tree_switch(b, dl_torus_site_next(&t->grid, site, dir));
		if (next == DL_NONE)
			return;
		if (!is_in(b, next))
			tree_attach(b, next, sw, dl_torus_opposite(dir));
		else if (b->tree->parent[next] != sw)
			return;
		sw = next;
	}
}

static bool ring_in_tree(const struct builder *b, uint32_t site, unsigned int dim)
{
	const struct dl_torus *t = b->torus;
	uint32_t ring = dl_route_ring(&t->grid, site, dim), i;

	for (i = 0; i < t->grid.radix[dim]; i++) {
		uint32_t sw = tree_switch(b, dl_route_ring_site(&t->grid, ring, dim, i));

		if (sw != DL_NONE && !is_in(b, sw))
			return false;
	}
	return true;
}

/*
 * Off-torus switches are attached by their uplinks.  A pass attaches those
 * whose next switch is in the tree; there are as many passes as the longest
 * path to the torus has hops.
 */
static void attach_off_torus(struct builder *b)
{
	const struct dl_torus *t = b->torus;
	uint32_t i, before;

	do {
		before = b->tree->norder;
		for (i = 0; i < t->nunplaced; i++) {
			uint32_t sw = t->unplaced[i];
			uint32_t next = dl_torus_uplink_switch(t, sw);

			if (next != DL_NONE && is_in(b, next) && !is_in(b, sw))
				tree_attach(b, sw, next, DL_TORUS_DIRS);
		}
	} while (b->tree->norder > before);
}

static void tree_grow(struct builder *b)
{
	unsigned int d, dir;
	uint32_t i, n;

	for (d = 0; d < DL_TORUS_DIMS; d++) {
		for (i = 0, n = b->tree->norder; i < n; i++) {
			uint32_t sw = b->tree->order[i];

			for (dir = dl_torus_dir(d, false); dir <= dl_torus_dir(d, true); dir++)
				tree_branch(b, sw, dir, false);
			if (ring_in_tree(b, b->torus->sw_site[sw], d))
				continue;
			for (dir = dl_torus_dir(d, false); dir <= dl_torus_dir(d, true); dir++)
				tree_branch(b, sw, dir, true);
		}
	}
	attach_off_torus(b);
}

/* Is any switch missing at this coordinate of the dimension? */
static bool plane_whole(const struct builder *b, unsigned int dim, uint32_t at)
{
	const struct dl_torus *t = b->torus;
	uint32_t site, c[DL_TORUS_DIMS];

	for (site = 0; site < t->nsites; site++) {
		dl_torus_site_coord(&t->grid, site, c);
		if (c[dim] == at && tree_switch(b, site) == DL_NONE)
			return false;
	}
	return true;
}

/* The n-th coordinate from the middle on: the middle, one less, one more... */
static uint32_t from_middle(uint32_t radix, uint32_t n)
{
	uint32_t away = (n + 1) / 2 % radix;

	return (radix / 2 + (n & 1 ? radix - away : away)) % radix;
}

/*
 * The root: in the middle of the first plane across z, from the middle on,
 * with no switch missing.  There all of x and y is whole, and each line along
 * z is attached where it crosses the plane.
 *
 * Where every such plane has a hole (a torus of two dimensions has only the
 * one, and a column along z may be missing altogether), the root goes away
 * from the middle in x and y at once, until no switch is missing at its x, nor
 * at its y: no branch along x then ends at the hole, and the line along y
 * through the hole is attached to the root's row on its own ring.
 */
static uint32_t choose_root(const struct builder *b)
{
	const struct dl_torus *t = b->torus;
	const uint32_t *radix = t->grid.radix;
	uint32_t c[DL_TORUS_DIMS], n, d;
	bool found = false;

	for (d = 0; d < DL_TORUS_DIMS; d++)
		c[d] = radix[d] / 2;
	for (n = 0; n < radix[2] && !found; n++) {
		c[2] = from_middle(radix[2], n);
		found = plane_whole(b, 2, c[2]);
	}
	if (!found)
		c[2] = radix[2] / 2;
	for (n = 0; n <= 2 * (radix[0] + radix[1]) && !found; n++) {
		for (d = 0; d < 2; d++)
			c[d] = from_middle(radix[d], n);
		found = plane_whole(b, 0, c[0]) && plane_whole(b, 1, c[1]);
	}
	for (d = 0; d < 2 && !found; d++)
		c[d] = radix[d] / 2;
	/* Not on a hole, whatever is missing. */
	for (n = 0; n < t->nsites; n++) {
		uint32_t site = (dl_torus_site(&t->grid, c) + n) % t->nsites;

		if (tree_switch(b, site) != DL_NONE)
			return t->site_sw[site];
	}
	return DL_NONE;
}

/* Ports of the cables to the parent; returns how many. */
static unsigned int cables_up(const struct builder *b, uint32_t sw, uint8_t *ports)
{
	unsigned int n;

	if (b->dir[sw] == DL_TORUS_DIRS)
		return dl_torus_uplink_cables(b->torus, sw, ports, NULL);
	n = dl_torus_group_size(b->torus, sw, b->dir[sw]);
	memcpy(ports, dl_torus_group(b->torus, sw, b->dir[sw]), n);
	return n;
}

static void list_cables(struct builder *b)
{
	const struct dl_fabric *f = b->torus->fabric;
	uint8_t ports[DL_FABRIC_MAX_PORTS];
	uint32_t s, i, n, total = 0;

	for (s = 0; s < f->nswitches; s++) {
		b->tree->cable_first[s] = total;
		if (b->tree->parent[s] == DL_NONE)
			continue;
		n = cables_up(b, s, ports);
		for (i = 0; i < n; i++)
			b->tree->cables[total++] =
				dl_fabric_switch_node(f, s)->first_port + ports[i];
	}
	b->tree->cable_first[s] = total;
}

int dl_route_partial_tree(const struct dl_torus *t, const bool *leaf, uint32_t root,
			  struct dl_route_tree **out)
{
	uint32_t nsw = t->fabric->nswitches;
	struct builder b = { .torus = t, .leaf = leaf };
	int err = -ENOMEM;

	b.dir = malloc(nsw + 1);
	b.tree = dl_route_tree_new(nsw, t->nlinks + t->noff_links);
	if (b.tree && b.dir) {
		b.tree->root = root == DL_NONE ? choose_root(&b) : root;
		if (b.tree->root != DL_NONE) {
			tree_attach(&b, b.tree->root, DL_NONE, DL_TORUS_DIRS);
			tree_grow(&b);
		}
		list_cables(&b);
		*out = b.tree;
		b.tree = NULL;
		err = 0;
	}
	free(b.dir);
	dl_route_tree_free(b.tree);
	return err;
}

bool dl_route_tree_complete(const struct dl_torus *t, const struct dl_route_tree *tree,
			    const struct dl_log *log)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t s;

	for (s = 0; s < f->nswitches; s++) {
		if (t->sw_site[s] == DL_NONE || s == tree->root || tree->parent[s] != DL_NONE)
			continue;
		dl_log(log, DL_LOG_WARNING,
		       "the multicast tree does not reach switch 0x%016" PRIx64 " \"%s\"",
		       dl_fabric_switch_node(f, s)->guid, dl_fabric_node_name(f, f->switches[s]));
		return false;
	}
	return true;
}

/* Put the cable between a switch and its parent into the group. */
static int join_parent(const struct dl_route_tree *tree, const struct dl_fabric *f, uint16_t mlid,
		       uint32_t sw, struct dl_tables_masks *masks)
{
	uint32_t first = tree->cable_first[sw];
	uint32_t n = tree->cable_first[sw + 1] - first;
	uint32_t cable = tree->cables[first + mlid % n];
	int err = dl_tables_mask_set(masks, sw, f->ports[cable].num);

	return err ? err :
		     dl_tables_mask_set(masks, tree->parent[sw],
					f->ports[f->ports[cable].peer].num);
}

int dl_route_tree_group(const struct dl_route_tree *tree, const struct dl_fabric *f, uint16_t mlid,
			const uint32_t *members, uint32_t nmembers, struct dl_tables_masks *masks)
{
	bool *needed = calloc(tree->nswitches + 1, sizeof(*needed));
	int err = needed ? 0 : -ENOMEM, lost = 0;
	uint32_t i;

	dl_tables_masks_clear(masks);
	for (i = 0; i < nmembers && !err; i++) {
		uint32_t sw = dl_fabric_access_switch(f, members[i]);

		if (sw == DL_NONE || (sw != tree->root && tree->parent[sw] == DL_NONE)) {
			lost = -ENOTCONN;
			continue;
		}
		needed[sw] = true;
		err = dl_tables_mask_set(masks, sw, dl_fabric_access_port(f, members[i]));
	}
	for (i = tree->norder; !err && i-- > 1;) {
		uint32_t sw = tree->order[i];

		if (!needed[sw])
			continue;
		needed[tree->parent[sw]] = true;
		err = join_parent(tree, f, mlid, sw, masks);
	}
	free(needed);
	return err ? err : lost;
}

int dl_route_tree_add_group(const struct dl_route_tree *tree, struct dl_tables *t, uint16_t mlid,
			    bool switches)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t *members = malloc((f->nports + 1) * sizeof(*members));
	struct dl_tables_mcast_group *g = dl_tables_group(t, mlid);
	int err = -ENOMEM;
	uint32_t p, n = 0;

	if (members && g) {
		for (p = 0; p < f->nports; p++)
			if (f->ports[p].lid && dl_fabric_is_end_port(f, p) &&
			    (switches || f->ports[p].num))
				members[n++] = p;
		err = dl_route_tree_group(tree, f, mlid, members, n, &g->masks);
	}
	free(members);
	return err;
}

int dl_route_tree_group_all(const struct dl_route_tree *tree, struct dl_tables *t)
{
	return dl_route_tree_add_group(tree, t, DL_TABLES_MCAST_LID, false);
}
