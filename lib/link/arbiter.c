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
 * Representation.  A table is compiled to a 64-bit mask of entries for each
 * set of VLs: the entries that could send if these VLs can.  (Sets are cut in
 * two, VL 0-7 and 8-14, and the masks joined.)  The next one in the list is
 * found by rotating the mask so that the pointer comes first and counting
 * trailing zeros.  The answer is that of a walk through the table, without the
 * walk.  Each entry has a mask of the VLs that it may send: one VL, none if it
 * is null, or any (B7).  The decision itself is in link.h, for the emulator
 * makes it for every packet on every link.
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
 * Complexity.  One decision is O(1).
 *
 * Limits.  Weights and blocks fit 32 bits by far: a packet is at most 8 KiB.
 */
#include "config.h"

#include <string.h>

#include <Random123/philox.h>

#include "dateline/link.h"

/* ---- programs ---------------------------------------------------------- */

void dl_link_arb_options_init(struct dl_link_arb_options *o)
{
	*o = (struct dl_link_arb_options){
		.nvls = 8,
		.high_cap = DL_LINK_ARB_ENTRIES,
		.low_cap = DL_LINK_ARB_ENTRIES,
	};
}

/* The entries that could send, for each set of the 2^n VLs from `first` on. */
static void fill_ready(const struct dl_link_arb_table *t, unsigned int first, unsigned int sets,
		       uint64_t *ready)
{
	for (unsigned int set = 1; set < sets; set++)
		for (unsigned int e = 0; e < t->n; e++)
			if (t->sends[e] & set << first)
				ready[set] |= UINT64_C(1) << e;
}

/* Returns the VLs that a usable entry names. */
static unsigned int compile_table(const struct dl_tables_vlarb_entry *from, unsigned int n,
				  const struct dl_link_arb_options *o, struct dl_link_arb_table *t)
{
	unsigned int named = 0;

	t->n = n;
	for (unsigned int e = 0; e < n; e++) {
		unsigned int vl = from[e].vl & 15;

		t->entry[e] = from[e];
		if (!from[e].weight)
			continue;
		if (vl < o->nvls)
			named |= t->sends[e] = 1u << vl;
		else if (o->bad_entry == DL_LINK_BAD_ANY)
			t->sends[e] = (1u << o->nvls) - 1;
	}
	if (o->nvls > 1) { /* with one VL there are no tables */
		fill_ready(t, 0, 1 << 8, t->ready);
		fill_ready(t, 8, 1 << 7, t->ready_upper);
	}
	return named;
}

static unsigned int arb_entries_kept(unsigned int n, unsigned int cap)
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
	out->limit = arb->high_limit * 1024;
	if (arb->high_limit != DL_LINK_ARB_UNLIMITED)
		out->counted[DL_LINK_ARB_HIGH] = UINT32_MAX;
	out->enabled = (1u << o->nvls) - 1;
	out->listed = compile_table(arb->high, arb_entries_kept(arb->nhigh, o->high_cap), o,
				    &out->table[DL_LINK_ARB_HIGH]) |
		      compile_table(arb->low, arb_entries_kept(arb->nlow, o->low_cap), o,
				    &out->table[DL_LINK_ARB_LOW]);
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

void dl_link_arbiter_init(struct dl_link_arbiter *a, const struct dl_link_arb_program *p)
{
	*a = (struct dl_link_arbiter){ .program = p };
	a->counter = p->limit;
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
		a->counter = p->limit;
}
