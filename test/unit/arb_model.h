/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The reference model of the VL arbiter: rules B2-B7 as a walk through lists,
 * one entry at a time.
 */
#ifndef ARB_MODEL_H
#define ARB_MODEL_H

#include <stdbool.h>
#include <string.h>

#include "dateline/link.h"

struct model_table {
	struct dl_tables_vlarb_entry entry[64];
	int n, at, left;
	bool visited; /* is `left` that of the entry at `at`? */
};

struct model {
	struct model_table table[2];
	struct dl_link_arb_options o;
	int limit;
	long counter;
	bool low_turn, low_begun;
};

static inline void model_load(struct model_table *t, const struct dl_tables_vlarb_entry *entry,
			      int n, int cap)
{
	struct dl_tables_vlarb_entry before[64];
	int n_before = t->n;

	memcpy(before, t->entry, sizeof(before));
	t->n = n < cap ? n : cap;
	for (int e = 0; e < t->n; e++)
		t->entry[e] = entry[e];
	if (t->n == n_before && !memcmp(before, t->entry, t->n * sizeof(before[0])))
		return;
	t->at = 0;
	t->visited = false;
}

static inline void model_change(struct model *w, const struct dl_tables_vlarb *arb)
{
	int before = w->limit;

	model_load(&w->table[0], arb->high, arb->nhigh, w->o.high_cap);
	model_load(&w->table[1], arb->low, arb->nlow, w->o.low_cap);
	w->limit = arb->high_limit;
	if (before != w->limit && (before == 255 || w->limit == 255))
		w->counter = w->limit * 1024L;
}

static inline void model_init(struct model *w, const struct dl_tables_vlarb *arb,
			      const struct dl_link_arb_options *o)
{
	memset(w, 0, sizeof(*w));
	w->o = *o;
	model_change(w, arb);
	w->counter = w->limit * 1024L;
}

/* The VL that an entry sends now, or -1. */
static inline int model_entry_vl(const struct model *w, const struct dl_tables_vlarb_entry *e,
				 const bool *sendable)
{
	if (e->weight == 0)
		return -1;
	if (e->vl < w->o.nvls)
		return sendable[e->vl] ? e->vl : -1;
	if (w->o.bad_entry == DL_LINK_BAD_ANY)
		for (int vl = 0; vl < w->o.nvls; vl++)
			if (sendable[vl])
				return vl;
	return -1;
}

static inline bool model_walk(const struct model *w, int side, const bool *sendable,
			      struct dl_link_pick *out)
{
	const struct model_table *t = &w->table[side];

	for (int i = 0; i < t->n; i++) {
		int e = (t->at + i) % t->n;
		int vl = model_entry_vl(w, &t->entry[e], sendable);

		if (vl < 0)
			continue;
		*out = (struct dl_link_pick){ DL_LINK_DATA, vl, side, e };
		return true;
	}
	return false;
}

static inline bool model_listed(const struct model *w, int vl)
{
	for (int side = 0; side < 2; side++)
		for (int e = 0; e < w->table[side].n; e++)
			if (w->table[side].entry[e].vl == vl && w->table[side].entry[e].weight)
				return true;
	return false;
}

static inline enum dl_link_kind model_pick(struct model *w, const bool *sendable,
					   struct dl_link_pick *out)
{
	struct model_table *low = &w->table[DL_LINK_ARB_LOW];
	bool expired;

	if (w->o.nvls == 1) {
		*out = (struct dl_link_pick){ DL_LINK_DATA, 0, DL_LINK_ARB_NONE, 0 };
		return sendable[0] ? DL_LINK_DATA : DL_LINK_NOTHING;
	}
	if (w->low_turn) {
		/* A turn that has begun belongs to its entry alone. */
		if (!w->low_begun && model_walk(w, DL_LINK_ARB_LOW, sendable, out))
			return DL_LINK_DATA;
		if (w->low_begun && low->visited && model_walk(w, DL_LINK_ARB_LOW, sendable, out) &&
		    (int)out->entry == low->at)
			return DL_LINK_DATA;
		w->low_turn = false;
		w->low_begun = false;
	}
	expired = w->limit != 255 && w->counter < 0;
	if (!expired && model_walk(w, DL_LINK_ARB_HIGH, sendable, out))
		return DL_LINK_DATA;
	w->counter = w->limit * 1024L;
	if (model_walk(w, DL_LINK_ARB_LOW, sendable, out)) {
		w->low_turn = true;
		return DL_LINK_DATA;
	}
	if (expired && model_walk(w, DL_LINK_ARB_HIGH, sendable, out))
		return DL_LINK_DATA;
	if (w->o.unlisted_vl == DL_LINK_UNLISTED_IDLE)
		for (int vl = 0; vl < w->o.nvls; vl++)
			if (sendable[vl] && !model_listed(w, vl)) {
				*out = (struct dl_link_pick){ DL_LINK_DATA, vl, DL_LINK_ARB_NONE,
							      0 };
				return DL_LINK_DATA;
			}
	return DL_LINK_NOTHING;
}

static inline void model_charge(struct model *w, const struct dl_link_pick *p, int bytes,
				struct dl_link_arb_after *after)
{
	struct model_table *t = &w->table[p->side & 1];

	if (p->side == DL_LINK_ARB_NONE) {
		after->counter = w->counter;
		return;
	}
	if ((int)p->entry != t->at || !t->visited) {
		t->at = p->entry;
		t->left = t->entry[t->at].weight;
		t->visited = true;
	}
	for (int i = 0; i < bytes; i += 64)
		t->left--;
	after->weight = t->left;
	if (p->side == DL_LINK_ARB_HIGH && w->limit != 255)
		for (int i = 0; i < bytes; i += 4)
			w->counter--;
	after->counter = w->counter;
	if (p->side == DL_LINK_ARB_LOW) {
		w->low_begun = w->o.low_turn == DL_LINK_LOW_WEIGHT && t->left > 0;
		w->low_turn = w->low_begun;
	}
	if (t->left <= 0) {
		t->at = (t->at + 1) % t->n;
		t->visited = false;
	}
}

#endif
