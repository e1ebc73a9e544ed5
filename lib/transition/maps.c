/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where SL-to-VL maps change: which entries must be closed meanwhile?
 *
 * Problem.  Maps are rewritten one by one while packets travel by the entries
 * that stay open.  A packet that meets an old map here and a new one there waits
 * for channels as neither set makes it.
 *
 * Method.  A map says one VL for each SL, and between one pair of ports only
 * some SLs travel.  So each packet is followed over the entries that both sets
 * share, at the path SLs of both and at both QoS levels; where it would cross a
 * pair of ports whose maps differ at its SL, on its way to another switch, that
 * entry is closed.  What stays open takes the same VLs by old maps, by new ones
 * and by any mixture: while maps change, all that waits is a part of the old
 * set's graph and, once they have changed, of the new one's.
 *
 * Where SLs are not known, or either set lets packets carry any, every SL is
 * followed.  Which groups' packets have which SLs is not known, so a port whose
 * maps change at all is closed in masks.
 *
 * Some maps do not matter.  End ports always consume.  And no packet is sent
 * back to the switch that it comes from, or it would go in a circle, so that
 * switches which wait for each other stand on a ring of switches, and never on
 * a branch that ends.  What is left when switches with one neighbour are taken
 * away, again and again, is the rings and the paths between them: only links
 * within that count.  A switch whose last cable but one has failed is such a
 * branch, and its maps change.
 *
 * Complexity: for each LID with an entry for such a port, one look at each path
 * SL to it, and switches times hops.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transition/internal.h"

#define ALL_SLS 0xFFFF

/* An end port, as a source. */
struct source {
	uint32_t port, sw;
	unsigned int in; /* port of the switch */
};

struct crossing {
	struct dl_transition *t;
	const struct dl_fabric *f;
	uint16_t *changed; /* SLs on another VL; indexed as maps are */
	bool *lids;	   /* with an entry for a port with such a map */
	struct source *sources;
	uint32_t nsources;
	uint16_t *sls; /* by switch: of what its own end ports send to a LID */
	bool any_sl;
};

/* SLs on another VL. */
static uint16_t differing_sls(const struct dl_tables *a, const struct dl_tables *b, uint32_t at)
{
	dl_tables_sl2vl_row p = dl_tables_map_at(a, at), q = dl_tables_map_at(b, at);
	uint16_t sls = 0;

	for (unsigned int sl = 0; sl < 16 && p != q; sl++)
		if (dl_tables_sl2vl_get(p, sl) != dl_tables_sl2vl_get(q, sl))
			sls |= 1u << sl;
	return sls;
}

uint32_t dl_transition_count_maps(const struct dl_tables *a, const struct dl_tables *b, uint32_t s,
				  unsigned int out)
{
	const struct dl_fabric *f = b->fabric;
	const struct dl_fabric_node *n = &f->nodes[f->switches[s]];
	uint32_t differ = 0;

	for (unsigned int i = 0; i <= n->nports && dl_fabric_in_use(f, n, out); i++)
		differ += dl_fabric_in_use(f, n, i) &&
			  differing_sls(a, b, dl_tables_map_index(b, s, i, out));
	return differ;
}

/* ---- branches ------------------------------------------------------------- */

/* Has a switch one neighbour that is not taken away, or none?  Which, or DL_NONE. */
static bool ends_branch(const struct dl_transition *t, uint32_t s, uint32_t *neighbour)
{
	const struct dl_fabric *f = t->opened->fabric;
	const struct dl_fabric_node *n = &f->nodes[f->switches[s]];

	*neighbour = DL_NONE;
	for (unsigned int o = 1; o <= n->nports; o++) {
		uint32_t peer = dl_fabric_peer_switch(f, n->first_port + o);

		if (peer == DL_NONE || peer == s || !t->on_ring[peer] || peer == *neighbour)
			continue;
		if (*neighbour != DL_NONE)
			return false;
		*neighbour = peer;
	}
	return true;
}

/* Take branches away from their ends. */
static int find_rings(struct dl_transition *t)
{
	uint32_t nsw = t->opened->fabric->nswitches, next;

	t->on_ring = malloc(nsw + 1);
	if (!t->on_ring)
		return -ENOMEM;
	memset(t->on_ring, true, nsw + 1);
	for (uint32_t start = 0; start < nsw; start++) {
		for (uint32_t s = start; s != DL_NONE && t->on_ring[s]; s = next) {
			if (!ends_branch(t, s, &next))
				break;
			t->on_ring[s] = false;
		}
	}
	return 0;
}

/* Does the cable at a port lead from a ring's switch to another? */
static bool is_on_ring(const struct dl_transition *t, uint32_t s, unsigned int port)
{
	const struct dl_fabric *f = t->opened->fabric;
	uint32_t peer = dl_fabric_peer_switch(f, f->nodes[f->switches[s]].first_port + port);

	return peer != DL_NONE && t->on_ring[s] && t->on_ring[peer];
}

bool dl_transition_changes_map(const struct dl_transition *t, uint32_t sw, unsigned int port)
{
	return t->maps_changed && is_on_ring(t, sw, port) &&
	       dl_transition_count_maps(t->held, t->opened, sw, port);
}

/* ---- unicast -------------------------------------------------------------- */

/* The maps of one switch towards others, and the LIDs that meet one that changes. */
static void find_changed(struct crossing *c, uint32_t s)
{
	const struct dl_tables *held = c->t->held, *closed = c->t->closed;
	const struct dl_fabric_node *n = &c->f->nodes[c->f->switches[s]];
	bool changes[DL_FABRIC_MAX_PORTS + 1] = { false }, any = false;

	for (unsigned int o = 1; o <= n->nports; o++) {
		if (!is_on_ring(c->t, s, o))
			continue;
		for (unsigned int i = 0; i <= n->nports; i++) {
			uint32_t at = dl_tables_map_index(held, s, i, o);

			if (dl_fabric_in_use(c->f, n, i))
				c->changed[at] = differing_sls(held, c->t->opened, at);
			changes[o] |= c->changed[at] != 0;
		}
		any |= changes[o];
	}
	for (uint32_t lid = 1; lid <= closed->top_lid && any; lid++) {
		unsigned int out = dl_tables_lft(closed, s, lid);

		c->lids[lid] |= out <= n->nports && changes[out];
	}
}

/* The SLs that a source may use towards a LID, by either set, at either level. */
static uint16_t sls_of(const struct crossing *c, uint32_t port, uint32_t lid)
{
	const struct dl_tables *sets[2] = { c->t->held, c->t->opened };
	uint16_t sls = 0;

	for (unsigned int i = 0; i < 2 && !c->any_sl; i++) {
		unsigned int sl = dl_tables_path_sl(sets[i], port, lid);

		if (sl > 15)
			return ALL_SLS;
		sls |= 1u << sl | 1u << (sl ^ 8);
	}
	return c->any_sl ? ALL_SLS : sls;
}

/* Close a switch's entry if packets meet another VL there.  Else the port, or 0. */
static unsigned int maps_pass(const struct crossing *c, uint32_t s, unsigned int in, uint32_t lid,
			      uint16_t sls)
{
	struct dl_tables *closed = c->t->closed;
	unsigned int out = dl_tables_lft(closed, s, lid);

	if (out > c->f->nodes[c->f->switches[s]].nports)
		return 0;
	if (out && c->changed[dl_tables_map_index(closed, s, in, out)] & sls) {
		closed->lft[s * (size_t)closed->stride + lid] = DL_TABLES_NO_PORT;
		c->t->entries_closed++;
		return 0;
	}
	return out;
}

/* Packets that a switch sends on: as far as they get; hops are bounded in a circle. */
static void maps_follow(const struct crossing *c, uint32_t s, uint32_t lid)
{
	const struct dl_fabric *f = c->f;
	unsigned int out = dl_tables_lft(c->t->closed, s, lid);
	uint16_t sls = c->sls[s];

	for (uint32_t hops = 0; out && sls && hops < f->nswitches; hops++) {
		const struct dl_fabric_node *n = &f->nodes[f->switches[s]];
		uint32_t port = n->first_port + out;

		s = out > n->nports ? DL_NONE : dl_fabric_peer_switch(f, port);
		if (s == DL_NONE)
			return;
		out = maps_pass(c, s, f->ports[f->ports[port].peer].num, lid, sls);
	}
}

static void close_lid(struct crossing *c, uint32_t lid)
{
	for (uint32_t s = 0; s < c->f->nswitches; s++)
		c->sls[s] = 0;
	for (uint32_t i = 0; i < c->nsources; i++) {
		const struct source *from = &c->sources[i];
		uint16_t sls = sls_of(c, from->port, lid);

		maps_pass(c, from->sw, from->in, lid, sls);
		c->sls[from->sw] |= sls;
	}
	for (uint32_t s = 0; s < c->f->nswitches; s++)
		maps_follow(c, s, lid);
}

static void list_sources(struct crossing *c)
{
	const struct dl_fabric *f = c->f;

	for (uint32_t p = 0; p < f->nports; p++) {
		uint32_t s = dl_fabric_sender_switch(f, p);

		if (s != DL_NONE)
			c->sources[c->nsources++] =
				(struct source){ p, s, dl_fabric_access_port(f, p) };
	}
}

/* ---- multicast ------------------------------------------------------------ */

static int close_in_groups(struct dl_transition *t, uint32_t s)
{
	const struct dl_fabric *f = t->closed->fabric;
	uint64_t ports[DL_TABLES_MASK_WORDS] = { 0 };
	bool any = false;

	for (unsigned int o = 1; t->closed->ngroups && o <= f->nodes[f->switches[s]].nports; o++) {
		bool changes = dl_transition_changes_map(t, s, o);

		ports[o / 64] |= (uint64_t)changes << o % 64;
		any |= changes;
	}
	return any ? dl_transition_close_in_groups(t->closed, s, ports) : 0;
}

/* ---- all ------------------------------------------------------------------ */

int dl_transition_close_maps(struct dl_transition *t)
{
	const struct dl_fabric *f = t->opened->fabric;
	struct dl_arena arena = { 0 };
	struct crossing c = { .t = t, .f = f };
	int err = 0;

	for (uint32_t s = 0; s < f->nswitches; s++)
		for (unsigned int o = 1; o <= f->nodes[f->switches[s]].nports; o++)
			t->maps_changed += dl_transition_count_maps(t->held, t->opened, s, o);
	if (!t->maps_changed)
		return 0;
	if (find_rings(t))
		return -ENOMEM;
	c.any_sl = dl_tables_any_sl(t->held) || dl_tables_any_sl(t->opened);
	c.changed =
		dl_arena_array(&arena, t->held->sl2vl_first[f->nswitches] + 1u, sizeof(*c.changed));
	c.lids = dl_arena_zalloc(&arena, f->top_lid + 1u);
	c.sources = dl_arena_array(&arena, f->nports + 1u, sizeof(*c.sources));
	c.sls = dl_arena_array(&arena, f->nswitches + 1u, sizeof(*c.sls));
	if (!c.changed || !c.lids || !c.sources || !c.sls) {
		dl_arena_free(&arena);
		return -ENOMEM;
	}
	list_sources(&c);
	for (uint32_t s = 0; s < f->nswitches && !err; s++) {
		find_changed(&c, s);
		err = close_in_groups(t, s);
	}
	for (uint32_t lid = 1; lid <= f->top_lid && !err; lid++)
		if (c.lids[lid])
			close_lid(&c, lid);
	dl_arena_free(&arena);
	return err;
}
