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
 *   2. Drain: wait until every packet that used an entry of O, now closed, anywhere
 *      on its way has left.
 *   3. Write N.
 *
 * Why it is safe.  During 1 each switch has for each LID its entry of O, or
 * none: so every packet goes as O would send it, or is dropped, and what waits
 * for what is a part of the channel dependency graph of O.  A part of a graph
 * without cycles has none.  During 3 each entry is one of N, or none, and after
 * 2 every packet came by such entries only: a part of the graph of N.  (That none waits
 * by a closed entry is not enough: a packet that came by one and waits by an entry of M
 * holds a channel as only O allows.)  Nothing is said of the order of writes, of how many
 * are under way, of which get lost; a
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

const struct dl_tables_masks *dl_transition_masks(const struct dl_tables *t, uint16_t mlid)
{
	static const struct dl_tables_masks none;
	const struct dl_tables_mcast_group *g = dl_tables_find_group(t, mlid);

	return g ? &g->masks : &none;
}

/*
 * Path SLs to LIDs whose owner is gone, or lost them to another port: packets to them may
 * still be under way, and connections go on sending.
 */
static void keep_granted_sls(const struct dl_tables *from, struct dl_tables *held)
{
	uint16_t top = from->top_lid < held->top_lid ? from->top_lid : held->top_lid;

	if (held->psl)
		memcpy(held->psl_dst, from->psl_dst, (top + 1u) * sizeof(*held->psl_dst));
}

static int remap_group(struct dl_tables_masks *to, const struct dl_tables_masks *from,
		       const uint32_t *now)
{
	for (uint32_t s = dl_tables_mask_next(from, 0); s < from->nswitches;
	     s = dl_tables_mask_next(from, s + 1)) {
		uint64_t *row;

		if (now[s] == DL_NONE)
			continue;
		row = dl_tables_mask_row(to, now[s]);
		if (!row)
			return -ENOMEM;
		memcpy(row, dl_tables_mask_find(from, s), DL_TABLES_MASK_WORDS * sizeof(*row));
	}
	return 0;
}

static int remap_groups(const struct dl_tables *from, struct dl_tables *held)
{
	const struct dl_fabric *old = from->fabric, *f = held->fabric;
	uint32_t *now = calloc(old->nswitches + 1u, sizeof(*now));
	bool same = old->nswitches == f->nswitches;
	struct dl_fabric_match new_of;
	int err = dl_fabric_match(old, f, &new_of);

	if (!now)
		err = -ENOMEM;
	for (uint32_t s = 0; s < old->nswitches && !err; s++) {
		now[s] = dl_fabric_match_switch(&new_of, s);
		same &= now[s] == s;
	}
	dl_fabric_match_release(&new_of);
	for (uint32_t g = 0; g < from->ngroups && !err; g++) {
		const struct dl_tables_masks *masks = &from->groups[g].masks;
		struct dl_tables_mcast_group *group = dl_tables_group(held, from->groups[g].mlid);

		if (!group)
			err = -ENOMEM;
		else
			err = same ? dl_tables_masks_copy(&group->masks, masks) :
				     remap_group(&group->masks, masks, now);
	}
	free(now);
	return err;
}

/* ---- closing -------------------------------------------------------------- */

/* Leave those ports of a mask that are in another one.  0 or -ENOMEM. */
static int keep_ports(struct dl_tables_masks *m, uint32_t s, const uint64_t *ports)
{
	const uint64_t *row = dl_tables_mask_find(m, s);
	uint64_t *own, gone = 0;

	for (unsigned int w = 0; row && w < DL_TABLES_MASK_WORDS; w++)
		gone |= row[w] & ~ports[w];
	if (!gone)
		return 0;
	own = dl_tables_mask_row(m, s);
	for (unsigned int w = 0; own && w < DL_TABLES_MASK_WORDS; w++)
		own[w] &= ports[w];
	return own ? 0 : -ENOMEM;
}

int dl_transition_close_in_groups(struct dl_tables *t, uint32_t s, const uint64_t *ports)
{
	uint64_t others[DL_TABLES_MASK_WORDS];
	int err = 0;

	for (unsigned int w = 0; w < DL_TABLES_MASK_WORDS; w++)
		others[w] = ~ports[w];
	for (uint32_t g = 0; g < t->ngroups && !err; g++)
		err = keep_ports(&t->groups[g].masks, s, others);
	return err;
}

/* All entries of a switch for some ports, and these in all its masks. */
static int close_ports(struct dl_tables *t, uint32_t s, const bool *closed)
{
	uint8_t *row = t->lft + s * (size_t)t->stride;
	uint64_t ports[DL_TABLES_MASK_WORDS] = { 0 };

	for (uint32_t lid = 0; lid <= t->top_lid; lid++)
		if (closed[row[lid]])
			row[lid] = DL_TABLES_NO_PORT;
	for (unsigned int p = 0; p < 256; p++)
		ports[p / 64] |= (uint64_t)closed[p] << p % 64;
	return dl_transition_close_in_groups(t, s, ports);
}

/* Maps of cables that come, which no packet has used: those of the new set. */
static int adopt_maps(struct dl_tables *t, const struct dl_tables *to, uint32_t s,
		      const bool *recabled)
{
	const struct dl_fabric_node *n = &to->fabric->nodes[to->fabric->switches[s]];

	for (unsigned int i = 0; i <= n->nports; i++) {
		for (unsigned int o = 0; o <= n->nports; o++) {
			uint32_t at = dl_tables_map_index(to, s, i, o);
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

/* Entries of one switch that differ; returns how many of them have a port before and after. */
static uint64_t close_entries(struct dl_tables *closed, const struct dl_tables *held,
			      const struct dl_tables *to, uint32_t s)
{
	uint8_t *row = closed->lft + s * (size_t)closed->stride;
	uint64_t n = 0;

	for (uint32_t lid = dl_tables_next_change(held, to, s, 0); lid < held->stride;
	     lid = dl_tables_next_change(held, to, s, lid + 1)) {
		n += row[lid] != DL_TABLES_NO_PORT &&
		     dl_tables_lft(to, s, lid) != DL_TABLES_NO_PORT;
		row[lid] = DL_TABLES_NO_PORT;
	}
	return n;
}

/* What is left is shared again, for much of it is the same. */
static int close_groups(struct dl_transition *t)
{
	struct dl_tables_masks_seen seen = { 0 };

	for (uint32_t g = 0; g < t->closed->ngroups; g++) {
		struct dl_tables_masks *closed = &t->closed->groups[g].masks;
		uint16_t mlid = t->closed->groups[g].mlid;
		const struct dl_tables_masks *held = dl_transition_masks(t->held, mlid);
		const struct dl_tables_masks *opened = dl_transition_masks(t->opened, mlid);

		for (uint32_t s = dl_tables_mask_next(held, 0); s < held->nswitches;
		     s = dl_tables_mask_next(held, s + 1))
			if (keep_ports(closed, s, dl_tables_mask(opened, s)))
				return -ENOMEM;
		dl_tables_masks_unite(closed, &seen);
	}
	return 0;
}

/* ---- what it takes -------------------------------------------------------- */

/* Ports that differ, of 64 switches in one group. */
static void compare_masks(const struct dl_tables_masks *a, const struct dl_tables_masks *b,
			  uint32_t first, uint64_t (*differ)[DL_TABLES_MASK_WORDS])
{
	static const struct dl_tables_mask_rows none;
	const struct dl_tables_mask_rows *x = a->rows ? &a->rows[first / 64] : &none;
	const struct dl_tables_mask_rows *y = b->rows ? &b->rows[first / 64] : &none;

	if (x->words == y->words)
		return; /* shared */
	for (uint64_t left = x->present | y->present; left; left &= left - 1) {
		unsigned int i = __builtin_ctzll(left);

		for (unsigned int w = 0; w < DL_TABLES_MASK_WORDS; w++)
			differ[i][w] |= dl_tables_mask(a, first + i)[w] ^
					dl_tables_mask(b, first + i)[w];
	}
}

bool dl_transition_mft_differs(const struct dl_tables *a, const struct dl_tables *b,
			       unsigned int block, uint32_t first, uint16_t *positions)
{
	uint32_t mlid = DL_TABLES_MCAST_LID + block * DL_TRANSITION_MFT_BLOCK;
	uint32_t end = mlid + DL_TRANSITION_MFT_BLOCK;
	uint32_t x = dl_tables_groups_below(a, mlid), y = dl_tables_groups_below(b, mlid);
	uint64_t differ[64][DL_TABLES_MASK_WORDS];
	bool is_there = (x < a->ngroups && a->groups[x].mlid < end) ||
			(y < b->ngroups && b->groups[y].mlid < end);
	bool any = false;

	memset(positions, 0, 64 * sizeof(*positions));
	if (!is_there)
		return false;
	memset(differ, 0, sizeof(differ));
	for (;;) {
		uint32_t p = x < a->ngroups ? a->groups[x].mlid : end;
		uint32_t q = y < b->ngroups ? b->groups[y].mlid : end;

		if (p >= end && q >= end)
			break;
		compare_masks(dl_transition_masks(a, p < q ? p : q),
			      dl_transition_masks(b, p < q ? p : q), first, differ);
		x += p <= q;
		y += q <= p;
	}
	for (unsigned int i = 0; i < 64; i++) {
		for (unsigned int k = 0; k < 16; k++)
			positions[i] |= (differ[i][k / 4] >> k % 4 * 16 & 0xFFFF ? 1 : 0) << k;
		any |= positions[i];
	}
	return any;
}

uint64_t dl_transition_mft_writes(const struct dl_tables *a, const struct dl_tables *b)
{
	uint16_t positions[64];
	uint64_t n = 0;

	for (unsigned int k = 0; k < DL_TRANSITION_MFT_BLOCKS && (a->ngroups || b->ngroups); k++)
		for (uint32_t s = 0; s < a->fabric->nswitches; s += 64)
			if (dl_transition_mft_differs(a, b, k, s, positions))
				for (unsigned int i = 0; i < 64; i++)
					n += __builtin_popcount(positions[i]);
	return n;
}

uint64_t dl_transition_mask_ports(const struct dl_tables *a, const struct dl_tables *b)
{
	uint64_t n = 0;

	for (uint32_t g = 0; g < a->ngroups; g++) {
		const struct dl_tables_masks *own = &a->groups[g].masks;
		const struct dl_tables_masks *other = dl_transition_masks(b, a->groups[g].mlid);

		for (uint32_t s = dl_tables_mask_next(own, 0); s < own->nswitches;
		     s = dl_tables_mask_next(own, s + 1))
			for (unsigned int k = 0; k < DL_TABLES_MASK_WORDS; k++)
				n += __builtin_popcountll(dl_tables_mask(own, s)[k] &
							  ~dl_tables_mask(other, s)[k]);
	}
	return n;
}

static uint64_t count_writes(const struct dl_tables *a, const struct dl_tables *b)
{
	uint64_t n = dl_transition_mft_writes(a, b);

	for (uint32_t s = 0; s < a->fabric->nswitches; s++)
		for (uint32_t k = 0; k < a->stride / DL_TRANSITION_LFT_BLOCK; k++)
			n += dl_tables_block_differs(a, b, s, k);
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
		keep_granted_sls(from, *out);
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
static int plan_settle(struct dl_tables *t, const struct dl_fabric_match *old_of,
		       const struct dl_tables *to, uint32_t s)
{
	unsigned int nports = to->fabric->nodes[to->fabric->switches[s]].nports;
	bool recabled[256] = { false }, any = false;
	int err = 0;

	for (unsigned int p = 1; p <= nports; p++) {
		recabled[p] = dl_fabric_match_recabled(old_of, s, p);
		any |= recabled[p];
	}
	if (any)
		err = close_ports(t, s, recabled);
	return any && !err ? adopt_maps(t, to, s, recabled) : err;
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
	if (!err)
		err = dl_transition_close_maps(t);
	return err ? err : close_groups(t);
}

int dl_transition_plan_after(const struct dl_tables *from, const struct dl_tables *to,
			     const struct dl_transition_history *history, struct dl_transition *out)
{
	uint32_t nsw = to->fabric->nswitches;
	struct dl_fabric_match old_of;
	int err;

	memset(out, 0, sizeof(*out));
	out->opened = to;
	err = dl_fabric_match(to->fabric, from->fabric, &old_of);
	if (!err)
		err = dl_transition_hold(from, to->fabric, &out->held);
	for (uint32_t s = 0; s < nsw && !err; s++)
		err = plan_settle(out->held, &old_of, to, s);
	dl_fabric_match_release(&old_of);
	if (!err)
		err = dl_transition_find_orphans(from, history, out);
	if (!err)
		err = dl_tables_check(out->held, NULL);
	if (!err) {
		out->held->checked = true;
		err = close_all(out);
	}
	if (!err) {
		out->mask_ports_closed = dl_transition_mask_ports(out->held, out->closed);
		out->writes = count_writes(out->held, to);
		out->writes_close = count_writes(out->held, out->closed);
		out->writes_open = count_writes(out->closed, to);
	}
	if (err)
		dl_transition_release(out);
	return err;
}

void dl_transition_free_wide(struct dl_tables *wide)
{
	struct dl_fabric *f = wide ? (struct dl_fabric *)wide->fabric : NULL;

	dl_tables_free(wide);
	free(f ? f->lid_port : NULL);
	free(f);
}

/* The same tables, with room for more LIDs that nobody has. */
static int plan_widen(const struct dl_tables *t, uint16_t top, struct dl_tables **out)
{
	struct dl_fabric *f = malloc(sizeof(*f));
	uint32_t *lid_port = malloc((t->fabric->top_lid + 1ul) * sizeof(*lid_port));
	struct dl_tables *wide = NULL;
	int err = f && lid_port ? 0 : -ENOMEM;

	if (!err) {
		memcpy(lid_port, t->fabric->lid_port,
		       (t->fabric->top_lid + 1ul) * sizeof(*lid_port));
		*f = *t->fabric;
		f->lid_port = lid_port;
		err = dl_fabric_widen(f, top);
		lid_port = f->lid_port;
	}
	if (!err)
		err = dl_transition_hold(t, f, &wide);
	if (!err) {
		*out = wide;
		return 0;
	}
	free(lid_port);
	free(f);
	return err;
}

int dl_transition_plan(const struct dl_tables *from, const struct dl_tables *to,
		       struct dl_transition *out)
{
	struct dl_tables *wide = NULL;
	int err = 0;

	memset(out, 0, sizeof(*out));
	if (from->top_lid > to->top_lid)
		err = plan_widen(to, from->top_lid, &wide);
	if (!err)
		err = dl_transition_plan_after(from, wide ? wide : to, NULL, out);
	if (err)
		dl_transition_free_wide(wide);
	else
		out->wide = wide;
	return err;
}

void dl_transition_spare(struct dl_transition *t)
{
	const struct dl_fabric *f = t->closed->fabric;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *n = &f->nodes[f->switches[s]];
		const uint8_t *held = t->held->lft + s * (size_t)t->held->stride;
		uint8_t *row = t->closed->lft + s * (size_t)t->closed->stride;

		for (uint32_t lid = dl_tables_next_change(t->held, t->closed, s, 0);
		     lid < t->held->stride;
		     lid = dl_tables_next_change(t->held, t->closed, s, lid + 1)) {
			if (held[lid] > n->nports || dl_fabric_in_use(f, n, held[lid]))
				continue;
			row[lid] = held[lid];
			t->entries_closed -= dl_tables_lft(t->opened, s, lid) != DL_TABLES_NO_PORT;
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
	free(t->orphans.list);
	dl_transition_history_release(&t->history);
	dl_tables_free(t->held);
	dl_transition_free_wide(t->wide);
	memset(t, 0, sizeof(*t));
}

int dl_transition_check_phases(const struct dl_transition *t, bool *safe)
{
	const struct dl_tables *with[2] = { t->held, t->opened };
	int err = 0;

	*safe = true;
	for (unsigned int i = 0; i < 2 && !err && *safe; i++) {
		struct dl_verify_mixture m;

		err = dl_verify_mixed(t->closed, with[i], NULL, true, &m);
		*safe = !err && m.safe;
		dl_verify_mixture_release(&m);
	}
	return err;
}
