/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * VL arbitration (rules part B, IBA 7.6.9).
 *
 * Problem.  At every packet boundary a port chooses what its link carries
 * next.  Management packets come first, flow-control packets second.  Among
 * the data VLs two tables decide.  Each is a circular list of entries (VL, weight),
 * and the high table yields to the low one when HighPriCounter runs out or
 * when it has nothing to send.
 *
 * Representation.  A table is compiled to one 64-bit mask of entries for each
 * VL.  The entries that could send now are the union of the masks of the
 * sendable VLs; the next one in the list is found by rotating that union so
 * that the pointer comes first and counting trailing zeros.  The answer is
 * that of a walk through the table, without the walk.  Most decisions end
 * earlier still, at the entry pointed to; for these each entry has a mask of
 * the VLs that it may send: one VL, none if it is null, or any (B7).
 *
 * Invariants.
 *   - `live` means that the entry at `at` was visited and has weight left;
 *     then and only then `left` counts, and it is above zero.
 *   - An entry that is used up is left at once: the pointer moves on, and
 *     `live` is false until the next visit loads the weight (B3).
 *   - A table in which nothing is sendable is not touched (B3).
 *   - The turn becomes LOW when the counter is reloaded (B5) and HIGH again
 *     after one low packet, or, by the author's reading, when that entry is
 *     used up or cannot send (LOW_MORE is a low turn that has begun).
 *     So a pick that is not followed by a charge changes no turn.
 *
 * Complexity.  One decision is O(sendable VLs), with no loop over entries.
 *
 * Limits.  Weights and blocks fit 32 bits by far: a packet is at most 8 KiB.
 */
#include "config.h"

#include <string.h>

#include <Random123/philox.h>

#include "dateline/link.h"

enum turn { TURN_HIGH, TURN_LOW, TURN_LOW_MORE };

#define WORDS_PER_LIMIT 1024 /* VLHighLimit counts 4096 bytes */

/* ---- programs ---------------------------------------------------------- */

void dl_link_arb_options_init(struct dl_link_arb_options *o)
{
	*o = (struct dl_link_arb_options){
		.nvls = 8,
		.high_cap = DL_LINK_ARB_ENTRIES,
		.low_cap = DL_LINK_ARB_ENTRIES,
	};
}

static void compile_table(const struct dl_tables_vlarb_entry *from, unsigned int n,
			  const struct dl_link_arb_options *o, struct dl_link_arb_table *t)
{
	t->n = n;
	for (unsigned int e = 0; e < n; e++) {
		unsigned int vl = from[e].vl & 15;

		t->entry[e] = from[e];
		if (!from[e].weight)
			continue;
		if (vl < o->nvls) {
			t->naming[vl] |= UINT64_C(1) << e;
			t->sends[e] = 1u << vl;
		} else if (o->bad_entry == DL_LINK_BAD_ANY) {
			t->wild |= UINT64_C(1) << e;
			t->sends[e] = (1u << o->nvls) - 1;
		}
	}
}

static unsigned int cut(unsigned int n, unsigned int cap)
{
	if (n > DL_LINK_ARB_ENTRIES)
		n = DL_LINK_ARB_ENTRIES;
	return n < cap ? n : cap;
}

void dl_link_arb_compile(const struct dl_tables_vlarb *arb, const struct dl_link_arb_options *o,
			 struct dl_link_arb_program *out)
{
	memset(out, 0, sizeof(*out));
	out->options = *o;
	out->high_limit = arb->high_limit;
	out->enabled = (1u << o->nvls) - 1;
	out->programmed = true;
	compile_table(arb->high, cut(arb->nhigh, o->high_cap), o, &out->table[DL_LINK_ARB_HIGH]);
	compile_table(arb->low, cut(arb->nlow, o->low_cap), o, &out->table[DL_LINK_ARB_LOW]);
	for (unsigned int vl = 0; vl < DL_LINK_DATA_VLS; vl++)
		if (out->table[DL_LINK_ARB_HIGH].naming[vl] |
		    out->table[DL_LINK_ARB_LOW].naming[vl])
			out->listed |= 1u << vl;
}

static void draw_table(philox4x32_key_t key, uint64_t port, unsigned int side,
		       struct dl_tables_vlarb_entry *entries)
{
	for (unsigned int e = 0; e < DL_LINK_ARB_ENTRIES; e += 4) {
		philox4x32_ctr_t at = { { (uint32_t)port, (uint32_t)(port >> 32), side, e } };
		philox4x32_ctr_t drawn = philox4x32(at, key);

		for (unsigned int i = 0; i < 4; i++) {
			entries[e + i].vl = drawn.v[i] & 15;
			entries[e + i].weight = drawn.v[i] >> 8 & 0xFF;
		}
	}
}

void dl_link_arb_undefined(uint64_t seed, uint64_t port, struct dl_tables_vlarb *out)
{
	philox4x32_key_t key = { { (uint32_t)seed, (uint32_t)(seed >> 32) } };
	philox4x32_ctr_t at = { { (uint32_t)port, (uint32_t)(port >> 32), DL_LINK_ARB_NONE, 0 } };

	draw_table(key, port, DL_LINK_ARB_HIGH, out->high);
	draw_table(key, port, DL_LINK_ARB_LOW, out->low);
	out->nhigh = DL_LINK_ARB_ENTRIES;
	out->nlow = DL_LINK_ARB_ENTRIES;
	out->high_limit = philox4x32(at, key).v[0];
}

/* ---- state ------------------------------------------------------------- */

static void reload(struct dl_link_arbiter *a)
{
	a->counter = a->program->high_limit * WORDS_PER_LIMIT;
}

void dl_link_arbiter_init(struct dl_link_arbiter *a, const struct dl_link_arb_program *p)
{
	*a = (struct dl_link_arbiter){ .program = p };
	reload(a);
}

static bool same_table(const struct dl_link_arb_table *a, const struct dl_link_arb_table *b)
{
	return a->n == b->n && !memcmp(a->entry, b->entry, a->n * sizeof(a->entry[0])) &&
	       !memcmp(a->sends, b->sends, sizeof(a->sends));
}

void dl_link_arbiter_change(struct dl_link_arbiter *a, const struct dl_link_arb_program *p)
{
	const struct dl_link_arb_program *old = a->program;

	a->program = p;
	for (unsigned int side = DL_LINK_ARB_HIGH; side <= DL_LINK_ARB_LOW; side++)
		if (!same_table(&old->table[side], &p->table[side]))
			a->place[side] = (struct dl_link_arb_position){ 0 };
	if (old->high_limit != p->high_limit &&
	    (old->high_limit == DL_LINK_ARB_UNLIMITED || p->high_limit == DL_LINK_ARB_UNLIMITED))
		reload(a);
}

/* The entries of a table that could send now. */
static uint64_t ready_entries(const struct dl_link_arb_table *t, unsigned int sendable)
{
	uint64_t ready = sendable ? t->wild : 0;

	for (; sendable; sendable &= sendable - 1)
		ready |= t->naming[__builtin_ctz(sendable)];
	return ready;
}

/* Entry e sends: the lowest of the VLs, if it may choose. */
static enum dl_link_kind chosen(const struct dl_link_arb_table *t, unsigned int side,
				unsigned int e, unsigned int sendable, struct dl_link_pick *out)
{
	out->kind = DL_LINK_DATA;
	out->vl = __builtin_ctz(sendable & t->sends[e]);
	out->side = side;
	out->entry = e;
	return DL_LINK_DATA;
}

/* Look for an entry from the pointer on, once round.  Changes nothing. */
static bool find(const struct dl_link_arbiter *a, unsigned int side, unsigned int sendable,
		 struct dl_link_pick *out)
{
	const struct dl_link_arb_table *t = &a->program->table[side];
	unsigned int at = a->place[side].at;
	uint64_t ready;

	if (!(sendable & t->sends[at])) {
		ready = ready_entries(t, sendable);
		if (!ready)
			return false;
		ready = ready >> at | ready << (-at & 63);
		at = (at + __builtin_ctzll(ready)) & 63;
	}
	return chosen(t, side, at, sendable, out);
}

/* Has the low turn's own entry something left, and to send? */
static bool may_go_on(const struct dl_link_arbiter *a, unsigned int sendable,
		      struct dl_link_pick *out)
{
	const struct dl_link_arb_position *place = &a->place[DL_LINK_ARB_LOW];
	const struct dl_link_arb_table *t = &a->program->table[DL_LINK_ARB_LOW];

	return place->live && (sendable & t->sends[place->at]) &&
	       chosen(t, DL_LINK_ARB_LOW, place->at, sendable, out);
}

/* Data packets that no table entry sends. */
static enum dl_link_kind outside(unsigned int vls, struct dl_link_pick *out)
{
	if (!vls)
		return DL_LINK_NOTHING;
	*out = (struct dl_link_pick){ .kind = DL_LINK_DATA,
				      .vl = __builtin_ctz(vls),
				      .side = DL_LINK_ARB_NONE };
	return DL_LINK_DATA;
}

static enum dl_link_kind pick_data(struct dl_link_arbiter *a, unsigned int sendable,
				   struct dl_link_pick *out)
{
	const struct dl_link_arb_program *p = a->program;
	bool expired;

	if (a->turn == TURN_LOW_MORE && may_go_on(a, sendable, out))
		return DL_LINK_DATA;
	if (a->turn == TURN_LOW && find(a, DL_LINK_ARB_LOW, sendable, out))
		return DL_LINK_DATA;
	a->turn = TURN_HIGH;

	expired = a->counter < 0; /* never while it is unlimited */
	if (!expired && find(a, DL_LINK_ARB_HIGH, sendable, out))
		return DL_LINK_DATA;
	reload(a);
	if (find(a, DL_LINK_ARB_LOW, sendable, out)) {
		a->turn = TURN_LOW;
		return DL_LINK_DATA;
	}
	if (expired && find(a, DL_LINK_ARB_HIGH, sendable, out))
		return DL_LINK_DATA;
	/* No table can send: whatever is sendable stands in none. */
	return p->options.unlisted_vl == DL_LINK_UNLISTED_IDLE ? outside(sendable, out) :
								 DL_LINK_NOTHING;
}

enum dl_link_kind dl_link_arbiter_pick(struct dl_link_arbiter *a, bool smp, bool fcp,
				       unsigned int sendable, struct dl_link_pick *out)
{
	sendable &= a->program->enabled;
	if (smp || fcp) {
		*out = (struct dl_link_pick){ .kind = smp ? DL_LINK_SMP : DL_LINK_FCP,
					      .vl = smp ? DL_LINK_VL_SMP : 0,
					      .side = DL_LINK_ARB_NONE };
		return out->kind;
	}
	if (a->program->options.nvls == 1)
		return outside(sendable, out);
	return pick_data(a, sendable, out);
}

void dl_link_arbiter_charge(struct dl_link_arbiter *a, const struct dl_link_pick *pick,
			    uint32_t bytes, struct dl_link_arb_after *after)
{
	const struct dl_link_arb_program *p = a->program;

	if (pick->kind == DL_LINK_DATA && pick->side != DL_LINK_ARB_NONE) {
		const struct dl_link_arb_table *t = &p->table[pick->side];
		struct dl_link_arb_position *place = &a->place[pick->side];

		if (!place->live || place->at != pick->entry)
			place->left = t->entry[pick->entry].weight;
		place->left -= (bytes + 63) / 64;
		place->at = pick->entry;
		place->live = place->left > 0;
		if (!place->live && ++place->at >= t->n)
			place->at = 0;
		if (pick->side == DL_LINK_ARB_HIGH) {
			if (p->high_limit != DL_LINK_ARB_UNLIMITED)
				a->counter -= (bytes + 3) / 4;
		} else {
			a->turn = place->live && p->options.low_turn == DL_LINK_LOW_WEIGHT ?
					  TURN_LOW_MORE :
					  TURN_HIGH;
		}
		if (after)
			after->weight = place->left;
	}
	if (after)
		after->counter = a->counter;
}
