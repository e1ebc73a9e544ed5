/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Packets that met an entry which has changed since: in which switches can they wait, and
 * how many do they pass until they have left?
 *
 * While entries are written a packet goes by old ones and new ones.  So it comes to
 * switches to which either set leads its LID, from the first entry that changes on, and
 * those of detours.  In a switch it may wait behind packets for any port.  Once all writes
 * are confirmed it goes by the entries that are in force then, so the longest path of these
 * bounds what is left of its own.
 *
 * Complexity: the switches on these paths, for each LID that changes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transition/internal.h"

struct leftovers {
	const struct dl_transition *t;
	const struct dl_transition_waves *waves;
	uint8_t *walked; /* by switch: by which set, a bit each */
	bool *switches;
};

/* From a switch on, by one set of tables, as far as nobody has been. */
static void leftovers_walk(struct leftovers *l, const struct dl_tables *t, uint8_t bit,
			   uint16_t lid, uint32_t s)
{
	const struct dl_fabric *f = t->fabric;

	while (s != DL_NONE && !(l->walked[s] & bit)) {
		const struct dl_fabric_node *n = dl_fabric_switch_node(f, s);
		unsigned int port = dl_tables_lft(t, s, lid);

		l->walked[s] |= bit;
		l->switches[s] = true;
		if (!port || port > n->nports)
			return;
		s = dl_fabric_peer_switch(f, n->first_port + port);
	}
}

static void leftovers_walk_both(struct leftovers *l, uint16_t lid, uint32_t s)
{
	leftovers_walk(l, l->t->held, 1, lid, s);
	leftovers_walk(l, l->t->opened, 2, lid, s);
}

/* By ports that neither set has. */
static void leftovers_walk_detours(struct leftovers *l, uint16_t lid)
{
	const struct dl_fabric *f = l->t->opened->fabric;

	for (uint32_t i = 0; i < l->waves->nmoves; i++) {
		const struct dl_transition_move *m = &l->waves->moves[i];
		const struct dl_fabric_node *n = dl_fabric_switch_node(f, m->sw);

		if (m->lid != lid || !m->port || m->port > n->nports ||
		    l->waves->steps[m->step].kind != DL_TRANSITION_DETOUR)
			continue;
		l->switches[m->sw] = true;
		leftovers_walk_both(l, lid, dl_fabric_peer_switch(f, n->first_port + m->port));
	}
}

static bool leftovers_have_detours(const struct dl_transition_waves *w)
{
	for (uint32_t i = 0; i < w->nsteps; i++)
		if (w->steps[i].kind == DL_TRANSITION_DETOUR)
			return true;
	return false;
}

static void leftovers_find(struct leftovers *l, const bool *lids)
{
	const struct dl_tables *held = l->t->held, *opened = l->t->opened;
	uint32_t nsw = held->fabric->nswitches;
	bool detours = leftovers_have_detours(l->waves);

	for (uint32_t lid = 1; lid <= held->top_lid; lid++) {
		if (!lids[lid])
			continue;
		memset(l->walked, 0, nsw);
		for (uint32_t s = 0; s < nsw; s++)
			if (dl_tables_lft(held, s, lid) != dl_tables_lft(opened, s, lid))
				leftovers_walk_both(l, lid, s);
		if (detours)
			leftovers_walk_detours(l, lid);
	}
}

int dl_transition_leftovers(const struct dl_transition *t, const struct dl_transition_waves *w,
			    struct dl_transition_leftovers *out)
{
	const struct dl_fabric *f = t->opened->fabric;
	struct leftovers l = { .t = t, .waves = w };

	l.walked = calloc(f->nswitches + 1ul, 1);
	out->lids = calloc(t->held->stride + 1ul, sizeof(*out->lids));
	out->switches = l.switches = calloc(f->nswitches + 1ul, sizeof(*out->switches));
	if (!l.walked || !out->lids || !out->switches) {
		free(l.walked);
		dl_transition_leftovers_release(out);
		return -ENOMEM;
	}
	dl_transition_changed_lids(t->held, t->opened, out->lids);
	for (uint32_t i = 0; i < t->history.nearlier; i++)
		out->lids[t->history.earlier[i].lid] = true;
	leftovers_find(&l, out->lids);
	/* Orphans come from anywhere, and so do those that met earlier entries. */
	for (uint32_t s = 0; (t->orphans.n || t->history.nearlier) && s < f->nswitches; s++)
		l.switches[s] = true;
	free(l.walked);
	return 0;
}

void dl_transition_leftovers_release(struct dl_transition_leftovers *l)
{
	free(l->lids);
	free(l->switches);
	memset(l, 0, sizeof(*l));
}

/*
 * Switches that count on the longest way from one through a group's branches; `last` is where
 * it ends.
 */
static uint32_t leftovers_branch(const struct dl_tables_masks *m, const struct dl_fabric *f,
				 const bool *counted, uint32_t *queue, uint32_t *length,
				 uint32_t *last)
{
	uint32_t n = 1, first = *last;

	/* One more than counted so far: 0 is where nobody has been. */
	memset(length, 0, f->nswitches * sizeof(*length));
	queue[0] = first;
	length[first] = 1 + (!counted || counted[first]);
	for (uint32_t i = 0; i < n; i++) {
		const struct dl_fabric_node *node = dl_fabric_switch_node(f, queue[i]);

		if (length[queue[i]] >= length[*last])
			*last = queue[i];
		for (unsigned int o = 1; o <= node->nports; o++) {
			uint32_t to = dl_tables_mask_get(m, queue[i], o) ?
					      dl_fabric_peer_switch(f, node->first_port + o) :
					      DL_NONE;

			if (to == DL_NONE || length[to])
				continue;
			length[to] = length[queue[i]] + (!counted || counted[to]);
			queue[n++] = to;
		}
	}
	return length[*last] - 1;
}

/* A group's branches are a tree: from its end that is farthest from any switch. */
static int leftovers_longest_branch(const struct dl_tables *t, const bool *counted, uint32_t *hops)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t *queue = calloc(2 * (f->nswitches + 1ul), sizeof(*queue));

	for (uint32_t g = 0; queue && g < t->ngroups; g++) {
		const struct dl_tables_masks *m = &t->groups[g].masks;
		uint32_t s = dl_tables_mask_next(m, 0), n;

		if (s >= f->nswitches)
			continue;
		leftovers_branch(m, f, counted, queue, queue + f->nswitches, &s);
		n = leftovers_branch(m, f, counted, queue, queue + f->nswitches, &s);
		*hops = n > *hops ? n : *hops;
	}
	free(queue);
	return queue ? 0 : -ENOMEM;
}

int dl_transition_longest(const struct dl_tables *t, const bool *lids, const bool *counted,
			  uint32_t *hops)
{
	const struct dl_fabric *f = t->fabric;
	struct dl_tables_paths *paths;
	int err = dl_tables_paths_new(t, &paths);

	*hops = 0;
	if (err)
		return err;
	if (counted)
		dl_tables_paths_count(paths, counted);
	for (uint32_t lid = 1; lid <= f->top_lid; lid++) {
		if (f->lid_port[lid] == DL_NONE || (lids && !lids[lid]))
			continue;
		dl_tables_paths_to(paths, lid);
		for (uint32_t s = 0; s < f->nswitches; s++)
			if (dl_tables_paths_length(paths, s) > *hops)
				*hops = dl_tables_paths_length(paths, s);
	}
	dl_tables_paths_free(paths);
	return leftovers_longest_branch(t, counted, hops);
}
