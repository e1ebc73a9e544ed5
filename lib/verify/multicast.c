/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * All multicast packets: dependencies and delivery.
 *
 * Problem.  A switch copies a multicast packet to every port of the group's
 * mask but the one that it came in through.  Each copy waits for its own
 * output while the packet still holds the VL on which it came in, so the
 * dependency graph must know that VL exactly: it is the one that the SL and
 * the port pair of the *previous* switch gave, in general not the one on which
 * the packet goes out.
 *
 * Dependencies.  A work list of (link, VL, SLs); each is worked once for each
 * SL.  Any adapter whose switch carries the group may send: a member that only
 * sends is not in the masks.  A switch's own port 0 sends when it is a member.
 *
 * Delivery.  Masks that agree at both ends of every cable and form one tree
 * deliver each packet once to each member, from anywhere; that costs one look
 * at each mask bit.  Where they do not, or a map drops one of the SLs, the
 * copies of each member's packet are followed one by one, for the SLs in use,
 * and what goes wrong is listed.  Once the list is full, the first fault of a
 * group is enough.  After a group in which nothing is wrong, one with the same
 * masks says nothing new.
 *
 * Complexity: tree links times VLs times ports of a switch, per group.
 */
#include <errno.h>
#include <string.h>

#include "verify/internal.h"

/* Packets on a link that have not been followed further yet. */
struct work {
	uint32_t link;
	uint16_t sls;
	uint8_t vl;
};

enum { WHITE, GREY, BLACK }; /* unvisited, on the stack, done */

struct spread {
	struct dl_verify_net *net;
	struct dl_verify_result *v; /* of delivery; NULL: it is not checked */
	uint32_t max_listed;
	uint16_t sls;
	const struct dl_tables_mcast_group *group;
	uint16_t *seen;	   /* by link and VL: SLs seen */
	struct work *work; /* each channel at most once per SL */
	uint32_t nwork;
	uint32_t *members; /* by switch and on: switches with a mask */
	uint32_t nmembers;
	uint32_t *parent; /* union-find over switches */
	bool dropped, broken;
	/* Following one packet: */
	uint8_t *copies;      /* by port index, counted up to 2 */
	uint8_t *link_copies; /* by link, likewise */
	uint8_t *colour;      /* by link */
	uint32_t *stack;      /* links */
	uint16_t *out;	      /* by depth of the stack: next port to try */
	uint32_t *order;
	uint32_t norder;
};

static const uint64_t *mask_of(const struct spread *sp, uint32_t s)
{
	return dl_tables_mask(&sp->group->masks, s);
}

/* The next port in a mask from `from` on, up to `last`; else last + 1. */
static unsigned int next_port(const uint64_t *mask, unsigned int from, unsigned int last)
{
	for (unsigned int w = from / 64; w < DL_TABLES_MASK_WORDS; w++) {
		uint64_t left = mask[w];

		if (w == from / 64)
			left &= ~UINT64_C(0) << from % 64;
		if (left) {
			unsigned int port = 64 * w + __builtin_ctzll(left);

			return port <= last ? port : last + 1;
		}
	}
	return last + 1;
}

/* For every port in a mask, up to `last`. */
#define FOR_EACH_PORT(o, mask, last)                                   \
	for (unsigned int o = next_port(mask, 0, last); (o) <= (last); \
	     (o) = next_port(mask, (o) + 1, last))

/* The end port at a switch's port, if it is checked, or DL_NONE. */
static uint32_t end_port(const struct spread *sp, uint32_t s, unsigned int o)
{
	const struct dl_fabric *f = sp->net->f;
	uint32_t port = dl_fabric_end_at(f, dl_fabric_switch_node(f, s), o);

	return port != DL_NONE && dl_verify_net_is_end(sp->net, port) ? port : DL_NONE;
}

/* ---- dependencies ------------------------------------------------------ */

static void spread_push(struct spread *sp, uint32_t link, unsigned int vl, uint16_t sls)
{
	uint16_t *seen = &sp->seen[link * (size_t)sp->net->nvl + vl];
	uint16_t fresh = sls & ~*seen;

	if (!fresh)
		return;
	*seen |= fresh;
	sp->net->vls[link] |= 1u << vl;
	sp->work[sp->nwork++] = (struct work){ link, fresh, vl };
}

/*
 * Copies of packets that are at switch s, came in through port `in`, on VL
 * `vl` (16: from an end port) go to all other ports of the mask.
 */
static void copy_on(struct spread *sp, uint32_t s, unsigned int in, uint32_t dep, unsigned int vl,
		    uint16_t sls)
{
	struct dl_verify_net *net = sp->net;
	const uint64_t *mask = mask_of(sp, s);
	unsigned int last = dl_fabric_switch_node(sp->net->f, s)->nports;

	FOR_EACH_PORT(o, mask, last)
	{
		uint32_t link = dl_verify_net_link(net, s, o);
		uint32_t row = net->rows[dl_verify_net_row(net, s, in, o)];

		if (o == in)
			continue;
		if (link == DL_NONE) {
			if (end_port(sp, s, o) == DL_NONE)
				continue;
			sp->dropped |= (sls & ~net->passes[row]) != 0;
			dl_verify_net_leave(net,
					    dl_fabric_switch_node(sp->net->f, s)->first_port + o,
					    dl_verify_net_row(net, s, in, o), sls);
			continue;
		}
		for (unsigned int left = sls; left; left &= left - 1) {
			unsigned int sl = __builtin_ctz(left);
			unsigned int out = dl_tables_sl2vl_get(net->values[row], sl);

			if (out == 15) {
				sp->dropped = true;
				continue;
			}
			if (vl < 16)
				dl_verify_net_depend(net, dep + link - net->links.first[s], vl,
						     out);
			spread_push(sp, link, out, 1u << sl);
		}
	}
}

static void spread_inject(struct spread *sp, uint32_t s)
{
	unsigned int last = dl_fabric_switch_node(sp->net->f, s)->nports;

	for (unsigned int i = 0; i <= last; i++) {
		uint32_t src = end_port(sp, s, i);
		uint16_t sls = sp->sls;

		if (src == DL_NONE || (!i && !dl_tables_mask_get(&sp->group->masks, s, 0)))
			continue;
		sp->net->sends_groups[src] = true;
		sls &= sp->net->end_passes[src];
		if (sls != sp->sls)
			sp->dropped = true;
		copy_on(sp, s, i, 0, 16, sls);
	}
}

/* Packets that came by a cable of the group's which has gone. */
static void spread_orphans(struct spread *sp, uint32_t s)
{
	const struct dl_fabric_node *n = dl_fabric_switch_node(sp->net->f, s);
	const uint64_t *mask = mask_of(sp, s);

	FOR_EACH_PORT(in, mask, n->nports)
	{
		if (!in || sp->net->f->ports[n->first_port + in].peer != DL_NONE)
			continue;
		FOR_EACH_PORT(out, mask, n->nports)
		{
			uint32_t link = dl_verify_net_link(sp->net, s, out);

			for (unsigned int left = sp->sls; left && link != DL_NONE;
			     left &= left - 1) {
				unsigned int sl = __builtin_ctz(left);
				unsigned int vl = dl_verify_orphans_vl(
					sp->net, sp->net->group_orphans, s, in, out, sl);

				if (vl < sp->net->nvl && vl != 15)
					spread_push(sp, link, vl, 1u << sl);
			}
		}
	}
}

static void spread_all(struct spread *sp)
{
	const struct dl_verify_net *net = sp->net;

	sp->nwork = 0;
	for (uint32_t i = 0; i < sp->nmembers; i++)
		spread_inject(sp, sp->members[i]);
	for (uint32_t i = 0; i < sp->nmembers && net->group_orphans; i++)
		spread_orphans(sp, sp->members[i]);
	for (uint32_t done = 0; done < sp->nwork; done++) {
		const struct work w = sp->work[done];
		const struct dl_fabric_link *link = &net->links.link[w.link];

		copy_on(sp, link->to, link->in, net->far[w.link].dep, w.vl, w.sls);
	}
	for (uint32_t i = 0; i < sp->nwork; i++)
		sp->seen[sp->work[i].link * (size_t)net->nvl + sp->work[i].vl] = 0;
}

/* ---- delivery: the usual case ------------------------------------------ */

static uint32_t find_root(struct spread *sp, uint32_t s)
{
	while (sp->parent[s] != s) {
		sp->parent[s] = sp->parent[sp->parent[s]];
		s = sp->parent[s];
	}
	return s;
}

/* Do the masks agree at both ends of each cable, and form one tree? */
static bool is_tree(struct spread *sp)
{
	const struct dl_verify_net *net = sp->net;
	uint32_t trees = sp->nmembers;

	for (uint32_t i = 0; i < sp->nmembers; i++)
		sp->parent[sp->members[i]] = sp->members[i];
	for (uint32_t i = 0; i < sp->nmembers; i++) {
		uint32_t s = sp->members[i];
		const uint64_t *mask = mask_of(sp, s);
		unsigned int last = dl_fabric_switch_node(sp->net->f, s)->nports;

		FOR_EACH_PORT(o, mask, last)
		{
			uint32_t l = dl_verify_net_link(net, s, o), a, b;
			const struct dl_fabric_link *link = &net->links.link[l];

			if (l == DL_NONE)
				continue;
			if (!dl_tables_mask_get(&sp->group->masks, link->to, link->in))
				return false;
			if (link->back < l)
				continue; /* this cable was counted */
			a = find_root(sp, s);
			b = find_root(sp, link->to);
			if (a == b)
				return false;
			sp->parent[a] = b;
			trees--;
		}
	}
	return trees <= 1;
}

/* ---- delivery: packet by packet ---------------------------------------- */

static void spread_report(struct spread *sp, uint32_t src, uint32_t dst, unsigned int sl,
			  enum dl_verify_fault fault, uint32_t sw, unsigned int port)
{
	struct dl_verify_lost lost = {
		.src = src,
		.dst = dst,
		.dlid = sp->group->mlid,
		.sl = sl,
		.fault = fault,
		.sw = sw,
		.port = port,
	};

	sp->broken = true;
	dl_verify_report_lost(sp->v, sp->max_listed, &lost);
}

/* A packet at a switch: where it is and through which port it came in. */
struct place {
	uint32_t sw;
	unsigned int in, last; /* last port number of the switch */
};

static struct place place_after(const struct spread *sp, uint32_t link)
{
	const struct dl_fabric_link *l = &sp->net->links.link[link];

	return (struct place){ l->to, l->in, dl_fabric_switch_node(sp->net->f, l->to)->nports };
}

static struct place place_of_source(const struct spread *sp, uint32_t src)
{
	const struct dl_fabric *f = sp->net->f;
	uint32_t s = dl_fabric_access_switch(f, src);

	return (struct place){ s, dl_fabric_access_port(f, src),
			       dl_fabric_switch_node(f, s)->nports };
}

/*
 * The next copy made at a place, from port *o on.  Returns false when there
 * are no more; else *o is its port, and it goes to *link or, when that is
 * DL_NONE, to the end port *end.
 */
static bool next_copy(const struct spread *sp, const struct place *at, unsigned int sl,
		      unsigned int *o, uint32_t *link, uint32_t *end)
{
	const struct dl_verify_net *net = sp->net;
	const uint64_t *mask = mask_of(sp, at->sw);

	for (; (*o = next_port(mask, *o, at->last)) <= at->last; ++*o) {
		uint32_t row = dl_verify_net_row(net, at->sw, at->in, *o);

		if (*o == at->in || !(net->passes[net->rows[row]] >> sl & 1))
			continue;
		*link = dl_verify_net_link(net, at->sw, *o);
		*end = DL_NONE;
		if (*link == DL_NONE)
			*end = end_port(sp, at->sw, *o);
		if (*link != DL_NONE || *end != DL_NONE)
			return true;
	}
	return false;
}

/*
 * Explore the links that copies take, depth first.  Returns the switch at
 * which copies run in a cycle; DL_NONE if none, and then the links stand in
 * sp->order, each after all that its copies take.
 */
static uint32_t spread_explore(struct spread *sp, uint32_t src, unsigned int sl)
{
	struct place at = place_of_source(sp, src);
	uint32_t depth = 0, link, end;

	sp->norder = 0;
	sp->out[0] = 0;
	for (;;) {
		unsigned int o = sp->out[depth];

		if (next_copy(sp, &at, sl, &o, &link, &end)) {
			sp->out[depth] = o + 1;
			if (link == DL_NONE || sp->colour[link] == BLACK)
				continue;
			if (sp->colour[link] == GREY)
				return at.sw;
			sp->colour[link] = GREY;
			sp->stack[depth++] = link;
			sp->out[depth] = 0;
			at = place_after(sp, link);
			continue;
		}
		if (!depth)
			return DL_NONE;
		link = sp->stack[--depth];
		sp->colour[link] = BLACK;
		sp->order[sp->norder++] = link;
		at = depth ? place_after(sp, sp->stack[depth - 1]) : place_of_source(sp, src);
	}
}

static void add_copies(struct spread *sp, const struct place *at, unsigned int sl, uint8_t copies)
{
	uint32_t link, end;

	for (unsigned int o = 0; next_copy(sp, at, sl, &o, &link, &end); o++) {
		uint8_t *to = link == DL_NONE ? &sp->copies[end] : &sp->link_copies[link];

		*to = *to + copies > 2 ? 2 : *to + copies;
	}
}

/* How many copies each end port gets, after spread_explore() found no cycle. */
static void count_copies(struct spread *sp, uint32_t src, unsigned int sl)
{
	struct place at = place_of_source(sp, src);

	add_copies(sp, &at, sl, 1);
	for (uint32_t i = sp->norder; i--;) {
		uint32_t link = sp->order[i];

		at = place_after(sp, link);
		add_copies(sp, &at, sl, sp->link_copies[link]);
		sp->link_copies[link] = 0;
	}
}

/* Compare the copies counted with one for each member, and clear them. */
static void check_members(struct spread *sp, uint32_t src, unsigned int sl)
{
	for (uint32_t i = 0; i < sp->nmembers; i++) {
		uint32_t s = sp->members[i];
		unsigned int last = dl_fabric_switch_node(sp->net->f, s)->nports;
		const uint64_t *mask = mask_of(sp, s);

		FOR_EACH_PORT(o, mask, last)
		{
			uint32_t dst = end_port(sp, s, o);
			uint8_t copies;

			if (dst == DL_NONE)
				continue;
			copies = sp->copies[dst];
			sp->copies[dst] = 0;
			if (dst != src && copies != 1)
				spread_report(sp, src, dst, sl,
					      copies ? DL_VERIFY_TWICE : DL_VERIFY_NO_COPY, DL_NONE,
					      DL_TABLES_NO_PORT);
		}
	}
}

static void check_source(struct spread *sp, uint32_t src)
{
	for (unsigned int left = sp->sls; left; left &= left - 1) {
		unsigned int sl = __builtin_ctz(left);
		uint32_t sw;

		if (sp->broken && sp->v->nlisted >= sp->max_listed)
			return;
		if (!(sp->net->end_passes[src] >> sl & 1)) {
			spread_report(sp, src, DL_NONE, sl, DL_VERIFY_NO_VL, DL_NONE,
				      DL_TABLES_NO_PORT);
			continue;
		}
		memset(sp->colour, WHITE, sp->net->links.n);
		sw = spread_explore(sp, src, sl);
		if (sw != DL_NONE) {
			spread_report(sp, src, DL_NONE, sl, DL_VERIFY_FORWARDING_LOOP, sw,
				      DL_TABLES_NO_PORT);
			continue;
		}
		count_copies(sp, src, sl);
		check_members(sp, src, sl);
	}
}

/* Exhaustively: every member's packets. */
static void check_packets(struct spread *sp)
{
	sp->broken = false;
	for (uint32_t i = 0; i < sp->nmembers; i++) {
		uint32_t s = sp->members[i];
		unsigned int last = dl_fabric_switch_node(sp->net->f, s)->nports;
		const uint64_t *mask = mask_of(sp, s);

		FOR_EACH_PORT(o, mask, last)
		if (end_port(sp, s, o) != DL_NONE)
			check_source(sp, end_port(sp, s, o));
	}
	sp->v->groups_lost += sp->broken;
}

/* ---- all --------------------------------------------------------------- */

static void check_group(struct spread *sp)
{
	const struct dl_verify_net *net = sp->net;
	const struct dl_tables_masks *masks = &sp->group->masks;

	sp->nmembers = 0;
	for (uint32_t s = dl_tables_mask_next(masks, 0); s < net->nsw;
	     s = dl_tables_mask_next(masks, s + 1)) {
		const uint64_t *mask = mask_of(sp, s);

		if (mask[0] | mask[1] | mask[2] | mask[3])
			sp->members[sp->nmembers++] = s;
	}
	sp->dropped = false;
	spread_all(sp);
	if (sp->v && (sp->dropped || !is_tree(sp)))
		check_packets(sp);
}

static int spread_init(struct spread *sp)
{
	struct dl_arena *arena = sp->net->arena;
	size_t nlinks = sp->net->links.n + 1, nsw = sp->net->nsw;
	size_t channels = nlinks * sp->net->nvl;
	unsigned int nsls = __builtin_popcount(sp->sls);

	sp->seen = dl_arena_array(arena, channels, sizeof(*sp->seen));
	sp->work = dl_arena_alloc(arena, channels * (nsls + 1) * sizeof(*sp->work));
	sp->members = dl_arena_array(arena, nsw, sizeof(*sp->members));
	sp->parent = dl_arena_array(arena, nsw, sizeof(*sp->parent));
	sp->copies = dl_arena_array(arena, sp->net->f->nports, 1);
	sp->link_copies = dl_arena_array(arena, nlinks, 1);
	sp->colour = dl_arena_array(arena, nlinks, 1);
	sp->order = dl_arena_array(arena, nlinks, sizeof(*sp->order));
	sp->stack = dl_arena_array(arena, nlinks, sizeof(*sp->stack));
	sp->out = dl_arena_array(arena, nlinks + 1, sizeof(*sp->out));
	if (!sp->seen || !sp->work || !sp->members || !sp->parent || !sp->copies ||
	    !sp->link_copies || !sp->colour || !sp->order || !sp->stack || !sp->out)
		return -ENOMEM;
	return 0;
}

static int spread_join(struct dl_tables_masks *to, const struct dl_tables_masks *from)
{
	for (uint32_t s = dl_tables_mask_next(from, 0); s < from->nswitches;
	     s = dl_tables_mask_next(from, s + 1)) {
		const uint64_t *row = dl_tables_mask_find(from, s);
		uint64_t *joined;

		if (row == dl_tables_mask_find(to, s))
			continue;
		joined = dl_tables_mask_row(to, s);
		if (!joined)
			return -ENOMEM;
		for (unsigned int w = 0; w < DL_TABLES_MASK_WORDS; w++)
			joined[w] |= row[w];
	}
	return 0;
}

/* Have both the same masks, or is there none? */
static bool same_masks(const struct dl_tables_mcast_group *a, const struct dl_tables_mcast_group *b)
{
	return a == b || (a && b && dl_tables_masks_equal(&a->masks, &b->masks));
}

/* One group, with the ports of the other, which may be NULL. */
static int check_joined(struct spread *sp, const struct dl_tables_mcast_group *group,
			const struct dl_tables_mcast_group *other)
{
	struct dl_tables_mcast_group joined = { .mlid = group->mlid };
	int err = 0;

	sp->group = group;
	if (other) {
		err = dl_tables_masks_copy(&joined.masks, &group->masks);
		if (!err)
			err = spread_join(&joined.masks, &other->masks);
		sp->group = &joined;
	}
	if (!err)
		check_group(sp);
	sp->group = NULL;
	dl_tables_masks_clear(&joined.masks);
	return err;
}

int dl_verify_multicast(struct dl_verify_net *net, const struct dl_tables *with, uint16_t sls,
			struct dl_verify_result *v, uint32_t max)
{
	static const struct dl_tables none;
	const struct dl_tables *t = net->t;
	const struct dl_tables_mcast_group *clean = NULL, *clean_other = NULL;
	struct spread sp = {
		.net = net,
		.v = v,
		.max_listed = max,
		.sls = sls,
	};
	int err;

	with = with ? with : &none;
	if (!t->ngroups && !with->ngroups)
		return 0;
	err = spread_init(&sp);
	for (uint32_t g = 0; !err && g < t->ngroups; g++) {
		const struct dl_tables_mcast_group *group = &t->groups[g];
		const struct dl_tables_mcast_group *other = dl_tables_find_group(with, group->mlid);

		if (clean && same_masks(group, clean) && same_masks(other, clean_other))
			continue;
		sp.broken = false;
		err = check_joined(&sp, group, other);
		clean = sp.broken ? NULL : group;
		clean_other = other;
	}
	for (uint32_t g = 0; !err && g < with->ngroups; g++)
		if (!dl_tables_find_group(t, with->groups[g].mlid))
			err = check_joined(&sp, &with->groups[g], NULL);
	return err;
}
