/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What packets that may still be under way have met (rules A14).
 *
 * A failure may come while packets of the change before are under way, and cut off the
 * switches that could tell when they have left.  So the next plan counts them in place of
 * waiting: it goes on with the times of the change before, in which entries had the ports that are
 * noted here, up to a barrier.
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
	h->nearlier = h->norphans = h->times = 0;
}

void dl_transition_history_release(struct dl_transition_history *h)
{
	free(h->earlier);
	free(h->orphans);
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

void dl_transition_history_take(struct dl_transition *t, struct dl_transition_history *out)
{
	dl_transition_history_release(out);
	*out = t->history;
	out->orphans = t->orphans.list;
	out->norphans = t->orphans.n;
	dl_transition_history_sort(out);
	memset(&t->history, 0, sizeof(t->history));
	memset(&t->orphans, 0, sizeof(t->orphans));
}

void dl_transition_history_take_back(struct dl_transition *t, const struct dl_fabric_match *old,
				     struct dl_transition_history *out)
{
	dl_transition_history_take(t, out);
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
