/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What packets that may still be under way have met (rules A14).
 *
 * A failure may come while packets of the change before are under way, and cut off the
 * switches that could tell when they have left.  So the next plan counts them in place of
 * waiting: it goes on with the times of the change before, in which entries had the ports that are
 * noted here, up to a barrier.
 *
 * What had passed a cable that has gone still waits in the port without one, and goes on by
 * the map that is there: tables of the new fabric have the map of an unused port instead.
 */
#include <stdlib.h>
#include <string.h>

#include "transition/internal.h"

/* A plan that goes on for longer waits before. */
#define MOST_TIMES (DL_VERIFY_STAYS / 2)

void dl_transition_history_add(struct dl_transition_history *h, uint32_t sw, uint16_t lid,
			       uint8_t port)
{
	if (!h->whole || !port || port == DL_TABLES_NO_PORT)
		return;
	h->whole = dl_array_room(h->earlier, h->nearlier, 1, &h->earlier_cap);
	if (h->whole)
		h->earlier[h->nearlier++] = (struct dl_verify_earlier){ sw, lid, port, h->times };
}

void dl_transition_history_next(struct dl_transition_history *h)
{
	if (++h->times >= MOST_TIMES)
		h->whole = false;
}

void dl_transition_history_clear(struct dl_transition_history *h)
{
	h->whole = true;
	h->nearlier = h->norphans = h->times = h->nmaps = 0;
}

void dl_transition_history_release(struct dl_transition_history *h)
{
	free(h->earlier);
	free(h->orphans);
	free(h->maps);
	memset(h, 0, sizeof(*h));
}

static int history_compare(const void *a, const void *b)
{
	const struct dl_verify_earlier *x = a, *y = b;

	if (x->lid != y->lid)
		return x->lid < y->lid ? -1 : 1;
	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	return (x->until > y->until) - (x->until < y->until);
}

void dl_transition_history_sort(struct dl_transition_history *h)
{
	uint32_t ports = 0;

	if (h->nearlier)
		qsort(h->earlier, h->nearlier, sizeof(*h->earlier), history_compare);
	for (uint32_t i = 1; i < h->nearlier; i++) {
		const struct dl_verify_earlier *e = &h->earlier[i];

		ports = e[0].lid == e[-1].lid && e[0].sw == e[-1].sw ? ports + 1 : 0;
		h->whole &= ports < DL_VERIFY_MOST_EARLIER;
	}
}

bool dl_transition_keeps_sls(const struct dl_tables *from, const struct dl_tables *to)
{
	struct dl_tables_changes sls;
	struct dl_fabric_match old;
	int err = dl_fabric_match(to->fabric, from->fabric, &old);
	bool moved = false;

	for (uint32_t lid = 1; !err && lid <= to->fabric->top_lid && lid <= from->fabric->top_lid;
	     lid++)
		moved |= to->fabric->lid_port[lid] != DL_NONE &&
			 from->fabric->lid_port[lid] != DL_NONE &&
			 dl_fabric_match_lid(&old, lid) != lid;
	if (!err)
		err = dl_tables_compare_sls(to, from, &old, &sls);
	dl_fabric_match_release(&old);
	return !err && !moved && !sls.changed;
}

/* Maps from a port without a cable to other switches that the new tables do not know. */
static void history_note_maps(struct dl_transition_history *h, const struct dl_transition *t,
			      uint32_t s, unsigned int in)
{
	const struct dl_fabric *f = t->opened->fabric;
	const struct dl_fabric_node *n = dl_fabric_switch_node(f, s);

	for (unsigned int out = 1; out <= n->nports && h->whole; out++) {
		uint32_t at = dl_tables_map_index(t->held, s, in, out);
		dl_tables_sl2vl_row row = dl_tables_map_at(t->held, at);

		if (dl_fabric_peer_switch(f, n->first_port + out) == DL_NONE ||
		    row == dl_tables_map_at(t->opened, at))
			continue;
		h->whole = dl_array_room(h->maps, h->nmaps, 1, &h->maps_cap);
		if (h->whole)
			h->maps[h->nmaps++] = (struct dl_transition_map){ s, in, out, row };
	}
}

int dl_transition_history_bring_maps(const struct dl_transition_history *h,
				     const struct dl_fabric_match *now, struct dl_transition *t)
{
	struct dl_transition_history *own = &t->history;

	for (uint32_t i = 0; i < h->nmaps; i++) {
		struct dl_transition_map m = h->maps[i];
		const struct dl_fabric_node *n;
		uint32_t at;
		int row;

		m.sw = dl_fabric_match_switch(now, m.sw);
		if (m.sw == DL_NONE)
			continue;
		n = dl_fabric_switch_node(t->held->fabric, m.sw);
		at = dl_tables_map_index(t->held, m.sw, m.in, m.out);
		/* By now packets that wait there may meet either map. */
		if (dl_fabric_in_use(t->held->fabric, n, m.in)) {
			own->whole &= dl_tables_map_at(t->held, at) == m.row;
			continue;
		}
		row = dl_tables_row(t->held, m.row);
		if (row < 0 || !dl_array_room(own->maps, own->nmaps, 1, &own->maps_cap))
			return -ENOMEM;
		t->held->sl2vl[at] = row;
		own->maps[own->nmaps++] = m;
	}
	return 0;
}

/* All but the maps. */
static void history_take(struct dl_transition *t, struct dl_transition_history *out)
{
	dl_transition_history_release(out);
	*out = t->history;
	out->orphans = t->orphans.list;
	out->norphans = t->orphans.n;
	dl_transition_history_sort(out);
	memset(&t->history, 0, sizeof(t->history));
	memset(&t->orphans, 0, sizeof(t->orphans));
}

void dl_transition_history_take(struct dl_transition *t, struct dl_transition_history *out)
{
	const struct dl_fabric *f = t->opened->fabric;

	history_take(t, out);
	out->nmaps = 0;
	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *n = dl_fabric_switch_node(f, s);

		for (unsigned int in = 1; in <= n->nports; in++)
			if (!dl_fabric_in_use(f, n, in))
				history_note_maps(out, t, s, in);
	}
}

void dl_transition_history_take_back(struct dl_transition *t, const struct dl_fabric_match *old,
				     struct dl_transition_history *out)
{
	history_take(t, out);
	for (uint32_t i = 0; i < out->nmaps; i++) {
		out->maps[i].sw = dl_fabric_match_switch(old, out->maps[i].sw);
		out->whole &= out->maps[i].sw != DL_NONE;
	}
	for (uint32_t i = 0; i < out->nearlier; i++) {
		out->earlier[i].sw = dl_fabric_match_switch(old, out->earlier[i].sw);
		out->whole &= out->earlier[i].sw != DL_NONE;
	}
	for (uint32_t i = 0; i < out->norphans; i++) {
		out->orphans[i].sw = dl_fabric_match_switch(old, out->orphans[i].sw);
		out->whole &= out->orphans[i].sw != DL_NONE;
	}
	dl_transition_history_sort(out);
}
