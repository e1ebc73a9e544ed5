/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Close, drain, open: how one set of tables replaces another without an unsafe
 * moment (rules A14).
 *
 * Problem.  A subnet manager changes block after block of switch after switch;
 * blocks get lost, overtake one another, and the manager may die in between.
 * What the switches hold meanwhile is a mixture, for each switch and LID by
 * itself.  Two safe sets mix into credit loops and into circles of packets, and
 * mostly do: after a cable of an 8x8x8 torus has failed, a switch that knows
 * sends packets back to one that does not.
 *
 * Method.  Call the old set O, the new one N, and let M hold the entries on
 * which O and N agree, and "no path" for all others; of a group's ports those
 * that are in both masks.
 *
 *   1. Write M, until every switch has confirmed it.
 *   2. Drain: wait until no packet waits for a port that an entry of O, now
 *      closed, has chosen.
 *   3. Write N.
 *
 * Why it is safe.  During 1 each switch has for each LID its entry of O, or
 * none: so every packet goes as O would send it, or is dropped, and what waits
 * for what is a part of the channel dependency graph of O.  A part of a graph
 * without cycles has none.  During 3 each entry is one of N, or none, and after
 * 2 no packet waits for anything else: a part of the graph of N.  Nothing is
 * said of the order of writes, of how many are under way, of which get lost; a
 * manager that dies leaves a part of O or a part of N, and its successor begins
 * from there.
 *
 * SL-to-VL maps belong to the graph.  Where the maps of a pair of ports differ at
 * an SL of packets that cross it, M has no entry for these (maps.c), so that no
 * packet meets the change, which is made between 2 and 3.  Torus ports keep their
 * maps as long as cables with fewer VLs neither come nor go.
 *
 * What it costs.  A pair of end ports is interrupted if O and N deliver it, and
 * M does not.  After failures from a whole fabric there is none: N leaves alone
 * what still works.  Repairs move pairs back, and these wait.
 *
 * A cable that has gone carries nothing, whatever entries say, so that these may
 * stay until 3 (dl_transition_spare()).  One that comes
 * carries nothing before its ports are active, which must not be before step 1
 * begins, or is finished where a port's cable leads elsewhere than it did.
 *
 * Complexity: one pass over the tables.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transition/internal.h"

/* ---- the two fabrics ------------------------------------------------------ */

static uint32_t port_in(const struct dl_fabric *f, uint64_t guid, unsigned int num)
{
	uint32_t node = dl_fabric_find_guid(f, guid);

	return node == DL_NONE || num > f->nodes[node].nports ? DL_NONE :
								f->nodes[node].first_port + num;
}

bool dl_transition_is_recabled(const struct dl_fabric *old, const struct dl_fabric *now,
			       uint32_t sw, unsigned int port)
{
	const struct dl_fabric_node *node = &now->nodes[now->switches[sw]];
	uint32_t here, peer, there;

	if (!port || port > node->nports)
		return false;
	here = node->first_port + port;
	there = port_in(old, node->guid, port);
	peer = now->ports[here].peer;
	if (peer == DL_NONE || there == DL_NONE)
		return peer != DL_NONE;
	there = old->ports[there].peer;
	return there == DL_NONE || old->ports[there].num != now->ports[peer].num ||
	       old->nodes[old->ports[there].node].guid != now->nodes[now->ports[peer].node].guid;
}

const struct dl_tables_masks *dl_transition_masks(const struct dl_tables *t, uint16_t mlid)
{
	static const struct dl_tables_masks none;
	const struct dl_tables_mcast_group *g = dl_tables_find_group(t, mlid);

	return g ? &g->masks : &none;
}

/* Path SLs to LIDs that are gone: their packets may still be under way. */
static void keep_lost_lids(const struct dl_tables *from, struct dl_tables *held)
{
	if (!held->psl)
		return;
	for (uint32_t lid = 1; lid <= held->top_lid && lid <= from->top_lid; lid++)
		if (held->fabric->lid_port[lid] == DL_NONE)
			held->psl_dst[lid] = from->psl_dst[lid];
}

static int remap_groups(const struct dl_tables *from, struct dl_tables *held)
{
	const struct dl_fabric *f = held->fabric;

	for (uint32_t g = 0; g < from->ngroups; g++) {
		struct dl_tables_mcast_group *group = dl_tables_group(held, from->groups[g].mlid);

		if (!group)
			return -ENOMEM;
		for (uint32_t s = 0; s < f->nswitches; s++) {
			uint32_t node =
				dl_fabric_find_guid(from->fabric, f->nodes[f->switches[s]].guid);

			const uint64_t *old = NULL;
			uint64_t *row;

			if (node != DL_NONE && dl_fabric_is_switch(from->fabric, node))
				old = dl_tables_mask_find(&from->groups[g].masks,
							  from->fabric->nodes[node].sw);
			if (!old)
				continue;
			row = dl_tables_mask_row(&group->masks, s);
			if (!row)
				return -ENOMEM;
			memcpy(row, old, DL_TABLES_MASK_WORDS * sizeof(*row));
		}
	}
	return 0;
}

/* ---- closing -------------------------------------------------------------- */

void dl_transition_close_in_groups(struct dl_tables *t, uint32_t s, unsigned int port)
{
	for (uint32_t g = 0; g < t->ngroups; g++) {
		uint64_t *row = dl_tables_mask_find(&t->groups[g].masks, s);

		if (row)
			row[port / 64] &= ~(UINT64_C(1) << port % 64);
	}
}

/* All entries of a switch for a port, and the port in all its masks. */
static void close_port(struct dl_tables *t, uint32_t s, unsigned int port)
{
	uint8_t *row = t->lft + s * (size_t)t->stride;

	for (uint32_t lid = 0; lid <= t->top_lid; lid++)
		if (row[lid] == port)
			row[lid] = DL_TABLES_NO_PORT;
	dl_transition_close_in_groups(t, s, port);
}

/* Maps of cables that come, which no packet has used: those of the new set. */
static int adopt_maps(struct dl_tables *t, const struct dl_tables *to, uint32_t s,
		      const bool *recabled)
{
	const struct dl_fabric_node *n = &to->fabric->nodes[to->fabric->switches[s]];

	for (unsigned int i = 0; i <= n->nports; i++) {
		for (unsigned int o = 0; o <= n->nports; o++) {
			uint32_t at = to->sl2vl_first[s] + i * (n->nports + 1u) + o;
			int row = to->sl2vl[at];

			if (!recabled[i] && !recabled[o])
				continue;
			if (row != DL_TABLES_NO_ROW)
				row = dl_tables_row(t, to->rows[row]);
			if (row < 0)
				return row;
			t->sl2vl[at] = row;
		}
	}
	return 0;
}

/* Entries of one switch that differ; returns how many of them had a path. */
static uint64_t close_entries(struct dl_tables *closed, const struct dl_tables *held,
			      const struct dl_tables *to, uint32_t s)
{
	uint8_t *row = closed->lft + s * (size_t)closed->stride;
	const uint8_t *old = held->lft + s * (size_t)held->stride;
	const uint8_t *new = to->lft + s *(size_t)to->stride;
	uint64_t n = 0;

	for (uint32_t lid = 0; lid <= to->top_lid; lid++) {
		if (row[lid] != new[lid])
			row[lid] = DL_TABLES_NO_PORT;
		n += old[lid] != DL_TABLES_NO_PORT && row[lid] == DL_TABLES_NO_PORT;
	}
	return n;
}

static uint64_t close_groups(struct dl_tables *closed, const struct dl_tables *held,
			     const struct dl_tables *to)
{
	uint64_t n = 0;

	for (uint32_t g = 0; g < closed->ngroups; g++) {
		const struct dl_tables_masks *old =
			dl_transition_masks(held, closed->groups[g].mlid);
		const struct dl_tables_masks *new = dl_transition_masks(to, closed->groups[g].mlid);

		for (uint32_t s = 0; s < to->fabric->nswitches; s++) {
			uint64_t *row = dl_tables_mask_find(&closed->groups[g].masks, s);

			for (unsigned int w = 0; row && w < DL_TABLES_MASK_WORDS; w++) {
				row[w] &= dl_tables_mask(new, s)[w];
				n += __builtin_popcountll(dl_tables_mask(old, s)[w] & ~row[w]);
			}
		}
	}
	return n;
}

/* ---- what it takes -------------------------------------------------------- */

bool dl_transition_mft_differs(const struct dl_tables *a, const struct dl_tables *b, uint32_t sw,
			       unsigned int block, unsigned int position)
{
	unsigned int word = position / 4;
	unsigned int shift = position % 4 * DL_TRANSITION_MFT_PORTS;
	uint32_t first = DL_TABLES_MCAST_LID + block * DL_TRANSITION_MFT_BLOCK;
	uint32_t end = first + DL_TRANSITION_MFT_BLOCK;
	uint32_t x = dl_tables_groups_below(a, first), y = dl_tables_groups_below(b, first);

	for (;;) {
		uint32_t p = x < a->ngroups ? a->groups[x].mlid : end;
		uint32_t q = y < b->ngroups ? b->groups[y].mlid : end;
		uint64_t differ = 0;

		if (p >= end && q >= end)
			return false;
		if (p <= q)
			differ ^= dl_tables_mask(&a->groups[x++].masks, sw)[word];
		if (q <= p)
			differ ^= dl_tables_mask(&b->groups[y++].masks, sw)[word];
		if (differ >> shift & 0xFFFF)
			return true;
	}
}

static uint64_t count_writes(const struct dl_tables *a, const struct dl_tables *b)
{
	bool blocks[DL_TRANSITION_MFT_BLOCKS] = { false };
	uint64_t n = 0;

	for (uint32_t s = 0; s < a->fabric->nswitches; s++)
		for (uint32_t at = 0; at < a->stride; at += DL_TRANSITION_LFT_BLOCK)
			n += memcmp(a->lft + s * (size_t)a->stride + at,
				    b->lft + s * (size_t)b->stride + at,
				    DL_TRANSITION_LFT_BLOCK) != 0;
	for (uint32_t g = 0; g < a->ngroups; g++)
		blocks[(a->groups[g].mlid - DL_TABLES_MCAST_LID) / DL_TRANSITION_MFT_BLOCK] = true;
	for (uint32_t g = 0; g < b->ngroups; g++)
		blocks[(b->groups[g].mlid - DL_TABLES_MCAST_LID) / DL_TRANSITION_MFT_BLOCK] = true;
	for (unsigned int k = 0; k < DL_TRANSITION_MFT_BLOCKS; k++)
		for (uint32_t s = 0; blocks[k] && s < a->fabric->nswitches; s++)
			for (unsigned int p = 0; p < 256 / DL_TRANSITION_MFT_PORTS; p++)
				n += dl_transition_mft_differs(a, b, s, k, p);
	return n;
}

/* ---- all ------------------------------------------------------------------ */

int dl_transition_hold(const struct dl_tables *from, const struct dl_fabric *f,
		       struct dl_tables **out)
{
	int err = dl_tables_remap(from, f, out);

	if (!err)
		err = remap_groups(from, *out);
	if (!err)
		keep_lost_lids(from, *out);
	return err;
}

int dl_transition_add_groups(const struct dl_tables *from, struct dl_tables *to)
{
	for (uint32_t g = 0; g < from->ngroups; g++)
		if (!dl_tables_group(to, from->groups[g].mlid))
			return -ENOMEM;
	return 0;
}

int dl_transition_share(const struct dl_tables *t, struct dl_tables *out)
{
	size_t size = t->fabric->nswitches * (size_t)t->stride;
	int err;

	*out = *t;
	out->groups = NULL;
	out->ngroups = out->groups_cap = 0;
	out->lft = malloc(size + 1);
	if (!out->lft)
		return -ENOMEM;
	memcpy(out->lft, t->lft, size);
	err = dl_transition_add_groups(t, out);
	for (uint32_t g = 0; g < t->ngroups && !err; g++)
		err = dl_tables_masks_copy(&out->groups[g].masks, &t->groups[g].masks);
	return err;
}

void dl_transition_unshare(struct dl_tables *t)
{
	while (t->ngroups)
		dl_tables_masks_clear(&t->groups[--t->ngroups].masks);
	free(t->groups);
	free(t->lft);
}

/* One switch of the old set, in the new fabric: what the switches hold. */
static int settle(struct dl_tables *t, const struct dl_tables *old, const struct dl_tables *to,
		  uint32_t s)
{
	unsigned int nports = to->fabric->nodes[to->fabric->switches[s]].nports;
	bool recabled[DL_FABRIC_MAX_PORTS + 1] = { false }, any = false;

	for (unsigned int p = 1; p <= nports; p++) {
		recabled[p] = dl_transition_is_recabled(old->fabric, to->fabric, s, p);
		if (recabled[p])
			close_port(t, s, p);
		any |= recabled[p];
	}
	return any ? adopt_maps(t, to, s, recabled) : 0;
}

static int close_all(struct dl_transition *t)
{
	int err;

	t->closed = calloc(1, sizeof(*t->closed));
	if (!t->closed)
		return -ENOMEM;
	err = dl_transition_share(t->held, t->closed);
	for (uint32_t s = 0; s < t->opened->fabric->nswitches && !err; s++)
		t->entries_closed += close_entries(t->closed, t->held, t->opened, s);
	return err ? err : dl_transition_close_maps(t);
}

int dl_transition_plan(const struct dl_tables *from, const struct dl_tables *to,
		       struct dl_transition *out)
{
	uint32_t nsw = to->fabric->nswitches;
	int err;

	memset(out, 0, sizeof(*out));
	out->opened = to;
	err = dl_transition_hold(from, to->fabric, &out->held);
	for (uint32_t s = 0; s < nsw && !err; s++)
		err = settle(out->held, from, to, s);
	if (!err)
		err = dl_tables_check(out->held, NULL);
	if (!err) {
		out->held->checked = true;
		err = close_all(out);
	}
	if (!err) {
		out->entries_closed += close_groups(out->closed, out->held, to);
		out->writes = count_writes(out->held, to);
		out->writes_close = count_writes(out->held, out->closed);
		out->writes_open = count_writes(out->closed, to);
	}
	if (err)
		dl_transition_release(out);
	return err;
}

void dl_transition_spare(struct dl_transition *t)
{
	const struct dl_fabric *f = t->closed->fabric;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *n = &f->nodes[f->switches[s]];
		const uint8_t *held = t->held->lft + s * (size_t)t->held->stride;
		uint8_t *row = t->closed->lft + s * (size_t)t->closed->stride;

		for (uint32_t lid = 0; lid <= t->closed->top_lid; lid++) {
			if (row[lid] == held[lid] || held[lid] > n->nports ||
			    dl_fabric_in_use(f, n, held[lid]))
				continue;
			row[lid] = held[lid];
			t->entries_closed--;
		}
	}
	t->writes_close = count_writes(t->held, t->closed);
	t->writes_open = count_writes(t->closed, t->opened);
}

void dl_transition_release(struct dl_transition *t)
{
	if (t->closed)
		dl_transition_unshare(t->closed);
	free(t->closed);
	free(t->on_ring);
	dl_tables_free(t->held);
	memset(t, 0, sizeof(*t));
}
