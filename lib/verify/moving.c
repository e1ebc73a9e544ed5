/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Forwarding entries that move one by one from one set of tables to another: which
 * moves keep the dependencies of all packets that can be under way free of cycles?
 *
 * Problem.  While entries are written, a packet meets old ones and new ones, and what it
 * met on its way stays with it: it holds a channel that the entries in force may not give
 * any more.  So the graph is that of all packets since the last drain.
 *
 * Time.  A barrier is passed when all writes before it are acknowledged; time counts the
 * barriers since the last drain.  An entry {before, after, time} was written between
 * barriers `time` - 1 and `time`: packets meet `before` at times up to `time`, and `after`
 * from `time` on.  Time never falls on a packet's way, and whatever a later packet may
 * meet an earlier one may meet, too, for it can wait; so packets of a (link, VL, SL) are
 * followed from the earliest time at which any gets there.
 *
 * Graph.  What no move changes is permanent: the dependencies of packets that go by
 * entries on which both sets agree, up to the first one that differs, and of groups.
 * Packets that get to an entry that differs are kept by LID, as the links and sets by
 * which they come; only they are followed again when an entry moves.  What they add to
 * the permanent dependencies is counted, LID by LID, in matrices of VLs for each pair of
 * links that meet (net.c), and an order of the channels is kept up to date
 * (base/order.c).  A move that would close a cycle is refused, and nothing is changed; as the
 * graph only grows between drains, whatever would add the same is refused at once.
 *
 * Invariant: the graph is free of cycles before and after each call.  It only grows
 * between drains; a drain takes away what no packet can cause any more.
 *
 * Complexity: a try costs the links that packets of the LID pass from its first entry
 * that differs on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verify/moving.h"

/* ---- moves --------------------------------------------------------------- */

uint32_t dl_verify_moving_count(const struct dl_verify_moving *m)
{
	return m->nmoving;
}

const struct dl_verify_entry *dl_verify_moving_entries(const struct dl_verify_moving *m, uint32_t i,
						       uint16_t *lid, uint32_t *n)
{
	*lid = m->lids[i].lid;
	*n = m->lids[i].n;
	return m->lids[i].entries;
}

uint64_t dl_verify_moving_followed(const struct dl_verify_moving *m)
{
	return m ? m->followed : 0;
}

/* What was found and is not counted for this LID yet stays in edges[]. */
static void moving_subtract(struct dl_verify_moving *m, const struct moving_lid *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->ndeps; i++)
		m->found[dl_verify_moving_word(m, &l->deps[i])] = l->deps[i].bits;
	for (uint32_t i = 0; i < m->nedges; i++) {
		m->edges[i].bits &= ~m->found[dl_verify_moving_word(m, &m->edges[i])];
		if (m->edges[i].bits)
			m->edges[n++] = m->edges[i];
	}
	m->nedges = n;
	for (uint32_t i = 0; i < l->ndeps; i++)
		m->found[dl_verify_moving_word(m, &l->deps[i])] = 0;
}

/* Count what was found for a LID, which has less of it yet. */
static int moving_note(struct dl_verify_moving *m, struct moving_lid *l)
{
	uint32_t n = l->ndeps;

	if (!m->nedges)
		return 0;
	if (!dl_array_room(l->deps, n, m->nedges, &l->deps_cap))
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		m->found[dl_verify_moving_word(m, &l->deps[i])] = i + 1;
	for (uint32_t i = 0; i < m->nedges; i++) {
		uint64_t known = m->found[dl_verify_moving_word(m, &m->edges[i])];

		if (known)
			l->deps[known - 1].bits |= m->edges[i].bits;
		else
			l->deps[l->ndeps++] = m->edges[i];
	}
	for (uint32_t i = 0; i < n; i++)
		m->found[dl_verify_moving_word(m, &l->deps[i])] = 0;
	return 0;
}

/*
 * A key of what a move adds, in any order, for its slot of refused[]; never 0.  Should two ever
 * have the same one, a move is refused that is safe, and nothing worse.
 */
static uint64_t moving_key(const struct dl_verify_moving *m)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < m->nedges; i++) {
		uint64_t key = dl_verify_moving_word(m, &m->edges[i]) + 1;

		key = (key * UINT64_C(0x9E3779B97F4A7C15)) ^ m->edges[i].bits;
		key = (key ^ key >> 32) * UINT64_C(0xD6E8FEB86659FD93);
		sum += key ^ key >> 32;
	}
	return sum | 1;
}

int dl_verify_moving_try(struct dl_verify_moving *m, uint32_t i, const struct dl_verify_move *moves,
			 uint32_t n)
{
	struct moving_lid *l = &m->lids[i];
	uint64_t key, *slot;

	for (uint32_t k = 0; k < n; k++)
		if (m->since + moves[k].time >= DL_VERIFY_STAYS)
			return 0;
	for (uint32_t k = 0; k < n; k++) {
		l->entries[moves[k].entry].after = moves[k].port;
		l->entries[moves[k].entry].time = moves[k].time;
	}
	dl_verify_moving_follow(m, l);
	moving_subtract(m, l);
	key = moving_key(m);
	slot = &m->refused[key / (UINT64_MAX / MOVING_REFUSALS + 1)];
	if (!m->flow.sets.failed && (*slot != key || m->voting) &&
	    dl_verify_moving_add(m, m->edges, m->nedges, true)) {
		l->moved = true;
		return moving_note(m, l) ? -ENOMEM : 1;
	}
	*slot = key;
	for (uint32_t k = 0; k < n; k++)
		l->entries[moves[k].entry].time = DL_VERIFY_STAYS;
	return m->flow.sets.failed ? -ENOMEM : 0;
}

/* Take away what a LID's packets do not cause any more: less than before. */
static void moving_shrink(struct dl_verify_moving *m, struct moving_lid *l)
{
	uint32_t n = 0;

	dl_verify_moving_follow(m, l);
	for (uint32_t i = 0; i < m->nedges; i++)
		m->found[dl_verify_moving_word(m, &m->edges[i])] = m->edges[i].bits;
	for (uint32_t i = 0; i < l->ndeps; i++) {
		size_t at = dl_verify_moving_word(m, &l->deps[i]);

		dl_verify_moving_drop(m, at, l->deps[i].bits & ~m->found[at]);
		l->deps[i].bits &= m->found[at];
		if (l->deps[i].bits)
			l->deps[n++] = l->deps[i];
	}
	l->ndeps = n;
	for (uint32_t i = 0; i < m->nedges; i++)
		m->found[dl_verify_moving_word(m, &m->edges[i])] = 0;
}

int dl_verify_moving_drain(struct dl_verify_moving *m)
{
	while (m->leaving.ndeps) {
		const struct moving_dep *d = &m->leaving.deps[--m->leaving.ndeps];

		dl_verify_moving_drop(m, dl_verify_moving_word(m, d), d->bits);
	}
	m->since = 0;
	memset(m->refused, 0, MOVING_REFUSALS * sizeof(*m->refused));
	for (uint32_t i = 0; i < m->nlids && !m->flow.sets.failed; i++) {
		struct moving_lid *l = &m->lids[i];

		if (!l->moved)
			continue;
		for (uint32_t k = 0; k < l->n; k++) {
			l->entries[k].nearlier = 0;
			if (l->entries[k].time == DL_VERIFY_STAYS)
				continue;
			l->entries[k].before = l->entries[k].after;
			l->entries[k].time = DL_VERIFY_STAYS;
		}
		l->moved = false;
		l->norphans = 0;
		moving_shrink(m, l);
	}
	return m->flow.sets.failed ? -ENOMEM : 0;
}

/* ---- what is in the way -------------------------------------------------- */

/* Does a LID cause a dependency? */
static bool moving_causes(const struct moving_lid *l, const struct moving_dep *d)
{
	for (uint32_t i = 0; i < l->ndeps; i++)
		if (l->deps[i].from == d->from && l->deps[i].to == d->to &&
		    l->deps[i].word == d->word && l->deps[i].bits & d->bits)
			return true;
	return false;
}

/* Does an entry send packets, has it not moved yet, and will it move? */
static bool moving_is_old(const struct dl_verify_moving *m, const struct dl_verify_entry *e)
{
	return e->time == DL_VERIFY_STAYS && e->before != e->goal &&
	       dl_verify_net_link(&m->net, e->sw, e->before) != DL_NONE;
}

/* Does a LID stop causing a dependency without its old entries from number `first` to `end`? */
static bool moving_vanishes(struct dl_verify_moving *m, struct moving_lid *l, uint32_t first,
			    uint32_t end, const struct moving_dep *d)
{
	bool causes = false;

	for (uint32_t k = first; k < end; k++)
		l->entries[k].hidden = moving_is_old(m, &l->entries[k]);
	dl_verify_moving_follow(m, l);
	for (uint32_t k = first; k < end; k++)
		l->entries[k].hidden = false;
	for (uint32_t i = 0; i < m->nedges && !causes; i++)
		causes = m->edges[i].from == d->from && m->edges[i].to == d->to &&
			 m->edges[i].word == d->word && m->edges[i].bits & d->bits;
	return !causes;
}

/* One old entry of a LID without which it stops causing a dependency, or else all; or none. */
static uint32_t moving_list_old(struct dl_verify_moving *m, uint32_t i, const struct moving_dep *d,
				struct dl_verify_blocker *out)
{
	struct moving_lid *l = &m->lids[i];
	uint32_t n = 0;

	if (!moving_vanishes(m, l, 0, l->n, d))
		return 0;
	for (uint32_t k = 0; k < l->n; k++) {
		if (!moving_is_old(m, &l->entries[k]))
			continue;
		if (moving_vanishes(m, l, k, k + 1, d)) {
			out[0] = (struct dl_verify_blocker){ i, k };
			return 1;
		}
		out[n++] = (struct dl_verify_blocker){ i, k };
	}
	return n;
}

/* The dependency in most refusals for the fewest LIDs; NULL: none is left. */
static struct moving_vote *moving_best(const struct dl_verify_moving *m, struct moving_dep *d)
{
	const struct dl_verify_net *net = &m->net;
	struct moving_vote *best = NULL;
	uint64_t least = 1;

	for (uint32_t i = 0; i < m->nvotes; i++) {
		struct moving_vote *v = &m->votes[i];
		unsigned int vls = v->from % net->nvl * net->nvl + v->to % net->nvl;
		struct moving_dep at = { v->from / net->nvl, v->to / net->nvl, vls / 64,
					 UINT64_C(1) << vls % 64 };
		uint32_t owners = m->count[64 * dl_verify_moving_word(m, &at) + vls % 64];

		/* Nobody: it is permanent. */
		if (!owners || v->votes * least <= (best ? best->votes : 0) * (uint64_t)owners)
			continue;
		best = v;
		least = owners;
		*d = at;
	}
	return best;
}

/* Entries without which nobody causes a dependency; how many, or 0. */
static uint32_t moving_cut(struct dl_verify_moving *m, const struct moving_dep *d,
			   struct dl_verify_blocker *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->nlids; i++) {
		uint32_t more;

		if (!moving_causes(&m->lids[i], d))
			continue;
		more = moving_list_old(m, i, d, out + n);
		if (!more)
			return 0;
		n += more;
	}
	return n;
}

int dl_verify_moving_blockers(struct dl_verify_moving *m, const struct dl_verify_blocker *refused,
			      uint32_t nrefused, struct dl_verify_blocker *out, uint32_t *n)
{
	struct moving_vote *best;
	struct moving_dep d;
	int done = 0;

	m->nvotes = *n = 0;
	m->voting = true;
	for (uint32_t i = 0; i < nrefused && done >= 0; i++) {
		const struct dl_verify_blocker *r = &refused[i];
		struct dl_verify_move move = { r->entry, m->lids[r->lid].entries[r->entry].goal,
					       0 };

		done = dl_verify_moving_try(m, r->lid, &move, 1);
	}
	m->voting = false;
	while (!*n && done >= 0 && (best = moving_best(m, &d))) {
		*n = moving_cut(m, &d, out);
		best->votes = 0;
	}
	for (uint32_t i = 0; i < m->nlids && !*n; i++)
		for (uint32_t k = 0; k < m->lids[i].n; k++)
			if (moving_is_old(m, &m->lids[i].entries[k]))
				out[(*n)++] = (struct dl_verify_blocker){ i, k };
	return done < 0 ? done : 0;
}

/* ---- a beginning --------------------------------------------------------- */

static uint32_t moving_count_orphans(const struct dl_verify_moving *m, uint32_t lid)
{
	return m->orphans ? dl_verify_orphans_of(m->orphans, lid + 1) -
				    dl_verify_orphans_of(m->orphans, lid) :
			    0;
}

/* Room for n entries of a LID. */
static int moving_begin_lid(struct dl_verify_moving *m, struct moving_lid *l, uint16_t lid,
			    uint32_t n, bool moved)
{
	l->lid = lid;
	l->owner = m->held->fabric->lid_port[lid];
	l->norphans = moving_count_orphans(m, lid);
	l->first_orphan = l->norphans ? dl_verify_orphans_of(m->orphans, lid) : 0;
	l->moved = moved || l->norphans;
	l->column = dl_arena_alloc(&m->arena, m->net.nsw + 1);
	l->entries = dl_arena_array(&m->arena, n + 1ul, sizeof(*l->entries));
	return l->column && l->entries ? 0 : -ENOMEM;
}

/* By LID: entries that differ or may move, and earlier ports. */
struct moving_counts {
	uint32_t *moving, *earlier;
};

/* Which LIDs count, and with how many entries; or -ENOMEM. */
static int moving_count_lids(struct dl_verify_moving *m, const struct moving_counts *n)
{
	const struct dl_tables *held = m->held;
	struct moving_lid *l;

	for (uint32_t s = 0; s < m->net.nsw; s++)
		for (uint32_t lid = dl_tables_next_change(held, m->opened, s, 0);
		     lid < held->stride; lid = dl_tables_next_change(held, m->opened, s, lid + 1))
			n->moving[lid]++;
	for (uint32_t i = 0; i < m->change->nextra; i++)
		n->moving[m->change->extra[i].lid]++;
	for (uint32_t i = 0; i < m->change->nearlier; i++)
		n->earlier[m->change->earlier[i].lid]++;
	for (uint32_t lid = 1; lid <= held->top_lid; lid++) {
		m->nmoving += n->moving[lid] != 0;
		m->nlids += n->moving[lid] || n->earlier[lid] || moving_count_orphans(m, lid);
	}
	m->lids = dl_arena_array(&m->arena, m->nlids + 1ul, sizeof(*m->lids));
	if (!m->lids)
		return -ENOMEM;
	l = m->lids;
	for (unsigned int pass = 0; pass < 2; pass++) {
		for (uint32_t lid = 1; lid <= held->top_lid; lid++) {
			bool met = n->earlier[lid] || moving_count_orphans(m, lid);

			if (pass ? !n->moving[lid] && met : n->moving[lid] != 0)
				if (moving_begin_lid(m, l++, lid, n->moving[lid] + n->earlier[lid],
						     n->earlier[lid] != 0))
					return -ENOMEM;
		}
	}
	return 0;
}

/* An entry that may move, or did: packets do not pass it by the column any more. */
static void moving_list_entry(struct dl_verify_moving *m, struct moving_lid *l, uint32_t s)
{
	uint8_t port = dl_tables_lft(m->held, s, l->lid);
	uint8_t goal = dl_tables_lft(m->opened, s, l->lid);

	((uint8_t *)l->column)[s] = DL_TABLES_NO_PORT;
	l->entries[l->n++] = (struct dl_verify_entry){
		.sw = s, .before = port, .after = port, .time = DL_VERIFY_STAYS, .goal = goal
	};
}

/* Ports of a LID's entries before this change: `list` begins with them.  How many? */
static uint32_t moving_list_earlier(struct dl_verify_moving *m, struct moving_lid *l,
				    const struct dl_verify_earlier *list, uint32_t n)
{
	uint32_t i = 0;

	dl_verify_moving_mark(m, l, true);
	for (; i < n && list[i].lid == l->lid; i++) {
		uint32_t *at = &m->entry_at[list[i].sw];
		struct dl_verify_entry *e;

		if (!*at) {
			moving_list_entry(m, l, list[i].sw);
			*at = l->n;
		}
		e = &l->entries[*at - 1];
		if (!e->nearlier++)
			e->earlier = &list[i];
	}
	dl_verify_moving_mark(m, l, false);
	return i;
}

static int moving_list_lids(struct dl_verify_moving *m)
{
	const struct dl_tables *held = m->held, *opened = m->opened;
	uint32_t *at = dl_arena_array(&m->arena, held->stride, sizeof(*at));
	struct moving_counts n = { dl_arena_array(&m->arena, held->stride, sizeof(*n.moving)),
				   dl_arena_array(&m->arena, held->stride, sizeof(*n.earlier)) };
	int err = at && n.moving && n.earlier ? moving_count_lids(m, &n) : -ENOMEM;

	if (err)
		return err;
	for (uint32_t i = 0; i < m->nlids; i++)
		at[m->lids[i].lid] = i;
	/* Rows become columns: so many at a time as there is room for in a cache. */
	for (uint32_t first = 0; first < m->nlids; first += DL_VERIFY_BLOCK)
		for (uint32_t s = 0; s < m->net.nsw; s++)
			for (uint32_t i = first; i < m->nlids && i < first + DL_VERIFY_BLOCK; i++) {
				struct moving_lid *l = &m->lids[i];
				uint8_t port = dl_tables_lft(held, s, l->lid);

				((uint8_t *)l->column)[s] = port;
				if (port != dl_tables_lft(opened, s, l->lid))
					moving_list_entry(m, l, s);
			}
	for (uint32_t k = 0; k < m->change->nextra; k++) {
		const struct dl_verify_extra *x = &m->change->extra[k];

		moving_list_entry(m, &m->lids[at[x->lid]], x->sw);
	}
	for (uint32_t k = 0; k < m->change->nearlier;)
		k += moving_list_earlier(m, &m->lids[at[m->change->earlier[k].lid]],
					 &m->change->earlier[k], m->change->nearlier - k);
	return 0;
}

static int moving_init(struct dl_verify_moving *m)
{
	struct dl_arena *arena = &m->arena;
	struct dl_verify_net *net = &m->net;
	size_t words = (net->pair_first[net->nsw] + 1ul) * net->words;
	uint32_t most = 0;

	for (uint32_t s = 0; s < net->nsw; s++)
		if (dl_verify_net_links(net, s) > most)
			most = dl_verify_net_links(net, s);
	for (unsigned int v = 0; v < net->nvl && net->words == 1; v++)
		m->vl_column |= UINT64_C(1) << v * net->nvl;
	m->count = dl_arena_array(arena, 64 * words, sizeof(*m->count));
	m->live = dl_arena_array(arena, words, sizeof(*m->live));
	m->refused = dl_arena_array(arena, MOVING_REFUSALS, sizeof(*m->refused));
	m->found = dl_arena_array(arena, words, sizeof(*m->found));
	m->edges = dl_arena_array(arena, words, sizeof(*m->edges));
	m->entry_at = dl_arena_array(arena, net->nsw + 1ul, sizeof(*m->entry_at));
	m->queue = dl_arena_array(arena, net->nsw + 1ul, sizeof(*m->queue));
	m->out = dl_arena_array(arena, net->nsw + 1ul, 1);
	m->seen = dl_arena_array(arena, net->links.n + 1ul, sizeof(*m->seen));
	m->links = dl_arena_array(arena, net->links.n + 1ul, sizeof(*m->links));
	if (!m->count || !m->live || !m->refused || !m->found || !m->edges || !m->entry_at ||
	    !m->queue || !m->out || !m->seen || !m->links)
		return -ENOMEM;
	return dl_order_init(&m->order, arena, net->links.n * net->nvl, most * net->nvl,
			     dl_verify_moving_neighbours, m);
}

/* What groups add that are closed: all of theirs, less what is permanent. */
static int moving_begin_leaving(struct dl_verify_moving *m)
{
	struct dl_verify_net *net = &m->net;
	size_t npairs = net->pair_first[net->nsw], n = npairs * net->words;
	uint64_t *permanent = dl_arena_array(&m->arena, n + 1, sizeof(*permanent));
	int err;

	if (!permanent)
		return -ENOMEM;
	memcpy(permanent, net->deps, n * sizeof(*permanent));
	err = dl_verify_multicast(net, m->change->leaving, m->multicast_sls, NULL, 0);
	m->nedges = 0;
	for (uint32_t l = 0; l < net->links.n && !err; l++) {
		uint32_t to = net->links.link[l].to;

		for (uint32_t out = net->links.first[to]; out < net->links.first[to + 1]; out++)
			for (unsigned int w = 0; w < net->words; w++) {
				struct moving_dep d = { l, out, w, 0 };
				size_t at = dl_verify_moving_word(m, &d);

				d.bits = net->deps[at] & ~permanent[at];
				if (d.bits)
					m->edges[m->nedges++] = d;
			}
	}
	memcpy(net->deps, permanent, n * sizeof(*permanent));
	if (!err)
		dl_verify_moving_add(m, m->edges, m->nedges, false);
	return err ? err : moving_note(m, &m->leaving);
}

/* Dependencies of packets by entries that stay, or as they are known from another try. */
static int moving_stays(struct dl_verify_moving *m, const struct dl_verify_options *o)
{
	struct dl_verify_net *net = &m->net;
	size_t size = net->pair_first[net->nsw] * (size_t)net->words * sizeof(*net->deps);
	uint64_t **kept = m->change->kept;
	int err;

	if (kept && *kept) {
		memcpy(net->deps, *kept, size);
		return 0;
	}
	err = dl_verify_unicast(net, NULL, 0);
	if (!err && !net->sls && m->held->psl && !dl_tables_same_vls(m->held, net->t))
		err = dl_verify_add_granted(net, m->held, o);
	if (!err && kept && (*kept = malloc(size + 1)))
		memcpy(*kept, net->deps, size);
	return err;
}

/* What is permanent, and what the LIDs have by the old entries. */
static int moving_begin(struct dl_verify_moving *m, const struct dl_verify_options *o)
{
	int err = moving_stays(m, o);

	m->multicast_sls = o->multicast_sls & m->net.alive;
	if (!err)
		err = dl_verify_multicast(&m->net, m->change->joined, m->multicast_sls, NULL, 0);
	if (!err && m->change->leaving)
		err = moving_begin_leaving(m);
	if (!err)
		err = dl_verify_moving_begin_flow(m);
	for (uint32_t i = 0; i < m->nlids && !err; i++)
		err = dl_verify_moving_find_seeds(m, &m->lids[i]);
	for (uint32_t i = 0; i < m->nlids && !err; i++) {
		dl_verify_moving_follow(m, &m->lids[i]);
		dl_verify_moving_add(m, m->edges, m->nedges, false);
		err = m->flow.sets.failed ? -ENOMEM : moving_note(m, &m->lids[i]);
	}
	if (!err && !dl_order_find(&m->order))
		err = -ELOOP;
	return err;
}

int dl_verify_moving_new(const struct dl_verify_change *change, struct dl_verify_moving **out)
{
	struct dl_verify_moving *m = calloc(1, sizeof(*m));
	struct dl_verify_options o;
	int err;

	if (!m)
		return -ENOMEM;
	dl_verify_options_init(&o);
	if (dl_tables_any_sl(change->held) || dl_tables_any_sl(change->opened))
		o.sls = o.multicast_sls = DL_VERIFY_ANY_SL;
	m->change = change;
	m->held = change->held;
	m->opened = change->opened;
	m->orphans = change->orphans;
	m->since = change->times;
	m->kept = *change->opened;
	m->kept.lft = change->closed->lft;
	m->kept.groups = change->groups->groups;
	m->kept.ngroups = change->groups->ngroups;
	err = dl_verify_net_init(&m->net, &m->arena, &m->kept, &o);
	m->net.group_orphans = change->orphans;
	if (!err)
		err = moving_init(m);
	if (!err)
		err = moving_list_lids(m);
	if (!err)
		err = moving_begin(m, &o);
	m->change = NULL; /* it is the caller's */
	if (err) {
		dl_verify_moving_free(m);
		return err;
	}
	*out = m;
	return 0;
}

int dl_verify_moving_join(struct dl_verify_moving *m, const struct dl_tables *groups)
{
	int err = dl_verify_multicast(&m->net, groups, m->multicast_sls, NULL, 0);

	return err ? err : dl_order_find(&m->order) ? 0 : -ELOOP;
}

void dl_verify_moving_free(struct dl_verify_moving *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->nlids && m->lids; i++) {
		free(m->lids[i].seeds);
		free(m->lids[i].deps);
	}
	free(m->leaving.deps);
	dl_verify_flow_release(&m->flow);
	free(m->items);
	free(m->votes);
	dl_verify_net_release(&m->net);
	dl_arena_free(&m->arena);
	free(m);
}
