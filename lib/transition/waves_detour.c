/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Detours: where entries are in the way of others, packets leave by a third port for a
 * while (waves.c).
 *
 * Problem.  Two pairs of switches whose paths swap sides of a ring wait for each other: the
 * new path of either closes a cycle with the old path of the other.  One of them has to
 * leave the ring for a while.
 *
 * Method.  A detour is a third port from whose far end packets arrive by what is written,
 * without coming back.  In the last dimension of a torus there is none, as the neighbours
 * send packets straight back: there a neighbour takes a third port, too, before.  Its
 * entry may be one that the change leaves alone.  To have such entries in a plan costs
 * time, so a plan begins without them; where it interrupts pairs, it is made once more,
 * with those of the neighbours of all entries that found no detour (`wanted`).
 *
 * A cable that neither the old tables nor the new ones use stays without packets, and so does a
 * switch through which they send none to others: it may have been taken out of use (rules
 * A15), and been called safe to unplug.
 *
 * Complexity: a try (verify/moving.c) for each third port, or for each pair of them.
 */
#include <errno.h>
#include <stdlib.h>

#include "transition/waves.h"

static void detour_note_used(struct waves *w, const struct dl_tables *t, uint32_t s)
{
	const struct dl_fabric_node *n = dl_fabric_switch_node(w->f, s);

	for (uint32_t lid = 1; lid <= t->top_lid; lid++) {
		unsigned int port = dl_tables_lft(t, s, lid);
		uint32_t next = port <= n->nports ? dl_waves_next(w, s, port) : DL_NONE;

		if (next == DL_NONE || (w->used[n->first_port + port] && w->transit[next]))
			continue;
		w->used[n->first_port + port] = true;
		w->transit[next] |= w->f->lid_port[lid] != DL_NONE &&
				    dl_fabric_access_switch(w->f, w->f->lid_port[lid]) != next;
	}
}

/* 0 or -ENOMEM. */
static int detour_look_at_cables(struct waves *w)
{
	const struct dl_tables *held = w->t->held, *opened = w->t->opened;

	if (w->used)
		return 0;
	w->transit = calloc(w->f->nswitches + 1ul, sizeof(*w->transit));
	w->used = w->transit ? calloc(w->f->nports + 1ul, sizeof(*w->used)) : NULL;
	for (uint32_t s = 0; w->used && s < w->f->nswitches; s++) {
		detour_note_used(w, held, s);
		if (dl_tables_next_change(held, opened, s, 0) < held->stride)
			detour_note_used(w, opened, s);
	}
	return w->used ? 0 : -ENOMEM;
}

static bool detour_may_use(const struct waves *w, uint32_t s, unsigned int port, uint32_t next)
{
	uint32_t out = dl_fabric_switch_node(w->f, s)->first_port + port;

	return (w->used[out] || w->used[w->f->ports[out].peer]) &&
	       (next == w->home || w->transit[next]);
}

/* Do packets that leave a switch for another arrive by what is written, without coming back? */
static bool detour_arrives(const struct waves *w, const struct dl_verify_entry *entries,
			   uint16_t lid, uint32_t from, uint32_t s)
{
	for (uint32_t hops = 0; hops < w->f->nswitches && s != from; hops++) {
		unsigned int port = dl_waves_port(w, entries, lid, s);
		uint32_t at = w->entry_at[s], next = dl_waves_next(w, s, port);

		if (port == DL_TABLES_NO_PORT ||
		    (at != DL_NONE && entries[at].time != DL_VERIFY_STAYS))
			return false;
		if (next == DL_NONE)
			return s == w->home;
		s = next;
	}
	return false;
}

/* May an entry take a detour?  Neither twice nor after it was closed: there might be no end. */
static bool detour_is_free(const struct waves *w, uint32_t i, uint32_t entry)
{
	uint16_t lid;
	uint32_t n;
	const struct dl_verify_entry *e = &dl_verify_moving_entries(w->moving, i, &lid, &n)[entry];

	return e->time == DL_VERIFY_STAYS && !w->closed[i][entry] &&
	       e->before == dl_tables_lft(w->t->held, e->sw, lid);
}

/* By a neighbour that leaves its own path, too. */
static int detour_by(struct waves *w, const struct dl_verify_blocker *b, unsigned int port,
		     uint32_t by)
{
	uint16_t lid;
	uint32_t n, at = w->entry_at[by];
	const struct dl_verify_entry *entries =
		dl_verify_moving_entries(w->moving, b->lid, &lid, &n);
	unsigned int nports = dl_fabric_switch_node(w->f, by)->nports;
	uint32_t from = entries[b->entry].sw;
	int done = 0;

	if (at == DL_NONE || !detour_is_free(w, b->lid, at))
		return 0;
	for (unsigned int out = 1; out <= nports && !done; out++) {
		struct dl_verify_move moves[] = { { at, out, 0 }, { b->entry, port, 1 } };
		uint32_t next = dl_waves_next(w, by, out);

		if (next != DL_NONE && out != entries[at].before &&
		    detour_may_use(w, by, out, next) &&
		    detour_arrives(w, entries, lid, from, next) &&
		    detour_arrives(w, entries, lid, by, next))
			done = dl_waves_move(w, b->lid, moves, 2);
	}
	return done;
}

int dl_waves_detour(struct waves *w, const struct dl_verify_blocker *b)
{
	uint16_t lid;
	uint32_t n;
	const struct dl_verify_entry *entries =
		dl_verify_moving_entries(w->moving, b->lid, &lid, &n);
	const struct dl_verify_entry *e = &entries[b->entry];
	const struct dl_fabric_node *node = dl_fabric_switch_node(w->f, e->sw);
	int done = detour_look_at_cables(w);

	if (done || !detour_is_free(w, b->lid, b->entry) || w->f->lid_port[lid] == DL_NONE)
		return done;
	w->home = dl_fabric_access_switch(w->f, w->f->lid_port[lid]);
	dl_waves_look_at(w, entries, n);
	for (unsigned int i = 0; i < 2 * node->nports && !done; i++) {
		bool by_two = i >= node->nports;
		unsigned int port = by_two ? i - node->nports + 1 : i + 1;
		struct dl_verify_move move = { b->entry, port, 0 };
		uint32_t next = dl_waves_next(w, e->sw, port);

		if (next == DL_NONE || port == e->before || port == e->goal ||
		    !detour_may_use(w, e->sw, port, next))
			continue;
		if (by_two)
			done = detour_by(w, b, port, next);
		else if (detour_arrives(w, entries, lid, e->sw, next))
			done = dl_waves_move(w, b->lid, &move, 1);
	}
	return done;
}

/* ---- the next plan ------------------------------------------------------------ */

/* Is it one of the plan anyhow, or listed?  It is listed then. */
static bool detour_is_listed(struct waves *w, const struct dl_verify_extra *x)
{
	uint64_t bit = x->sw * (uint64_t)w->t->held->stride + x->lid;
	uint64_t *word = &w->is_wanted[bit / 64], mask = UINT64_C(1) << bit % 64;
	bool is = *word & mask || dl_tables_lft(w->t->held, x->sw, x->lid) !=
					  dl_tables_lft(w->t->opened, x->sw, x->lid);

	*word |= mask;
	return is;
}

/* Have the next plan ask the neighbours of a switch.  0 or -ENOMEM. */
static int detour_want(struct waves *w, uint32_t s, uint16_t lid)
{
	for (unsigned int p = 1; p <= dl_fabric_switch_node(w->f, s)->nports; p++) {
		struct dl_verify_extra x = { dl_waves_next(w, s, p), lid };

		if (x.sw == DL_NONE || detour_is_listed(w, &x))
			continue;
		if (!dl_array_room(w->wanted, w->nwanted, 1, &w->wanted_cap))
			return -ENOMEM;
		w->wanted[w->nwanted++] = x;
	}
	return 0;
}

int dl_waves_detour_all(struct waves *w)
{
	size_t words = w->f->nswitches * (size_t)w->t->held->stride / 64;
	int n = 0, done = 0;

	if (!w->is_wanted)
		w->is_wanted = calloc(words + 1, sizeof(*w->is_wanted));
	if (!w->is_wanted)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->nlids && done >= 0; i++) {
		uint16_t lid;
		uint32_t all;
		const struct dl_verify_entry *e =
			dl_verify_moving_entries(w->moving, i, &lid, &all);

		for (uint32_t k = 0; k < all && done >= 0; k++) {
			if (e[k].time != DL_VERIFY_STAYS || e[k].before == e[k].goal)
				continue;
			done = dl_waves_detour(w, &(struct dl_verify_blocker){ i, k });
			n += done > 0;
			if (!done)
				done = detour_want(w, e[k].sw, lid);
		}
	}
	return done < 0 ? done : n;
}
