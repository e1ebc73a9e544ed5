/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The first unsafe moment of a rewrite in OpenSM's order.
 *
 * Problem.  A rewrite of W blocks has W prefixes and, with four SMPs under way,
 * up to eight times as many states; W is 500 for a switch of an 8x8x8 torus.
 *
 * Method.  States are checked together: dl_verify_mixed() takes tables in which
 * the first i blocks are written, and any of the following ones up to j may be.
 * If that is safe, so are all states in it; if not, the interval is halved, the
 * earlier half first.  An interval of one moment, with the blocks under way
 * then, is taken apart into its states, each of which is checked as it is.  So
 * what is found is real, and the first; what is not found does not exist.
 *
 * Complexity: a verification once, and for each of a few dozen intervals one of
 * the LIDs that change (dl_verify_common_new()).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transition/internal.h"

#define IN_FLIGHT 4

/* Tables in which some first writes are done. */
struct end {
	struct dl_tables tables;
	uint32_t written;
};

struct search {
	const struct dl_tables *a, *b;
	struct dl_verify_common *common;
	struct end from, to; /* of an interval */
	struct dl_transition_write *writes;
	uint32_t n, cap;
	uint32_t *order;     /* switches as OpenSM walks them */
	uint16_t *positions; /* by switch: of a multicast block that differ */
	struct dl_transition_result *out;
};

/* ---- the writes ----------------------------------------------------------- */

static int writes_add(struct search *s, uint32_t sw, unsigned int block, unsigned int position,
		      bool multicast)
{
	if (!dl_array_room(s->writes, s->n, 1, &s->cap))
		return -ENOMEM;
	s->writes[s->n++] = (struct dl_transition_write){ sw, block, position, multicast };
	return 0;
}

static uint64_t wire_guid(const struct dl_fabric *f, uint32_t sw)
{
	return __builtin_bswap64(f->nodes[f->switches[sw]].guid);
}

static int sort_switches(struct search *s)
{
	const struct dl_fabric *f = s->a->fabric;

	s->order = calloc(f->nswitches + 1, sizeof(*s->order));
	s->positions = calloc(f->nswitches + 64, sizeof(*s->positions));
	if (!s->order || !s->positions)
		return -ENOMEM;
	for (uint32_t n = 0; n < f->nswitches; n++) {
		uint32_t at = n;

		for (; at && wire_guid(f, s->order[at - 1]) > wire_guid(f, n); at--)
			s->order[at] = s->order[at - 1];
		s->order[at] = n;
	}
	return 0;
}

static bool mft_differs(const struct search *s, unsigned int block)
{
	bool any = false;

	for (uint32_t sw = 0; sw < s->a->fabric->nswitches; sw += 64)
		any |= dl_transition_mft_differs(s->a, s->b, block, sw, &s->positions[sw]);
	return any;
}

static int list_writes(struct search *s)
{
	uint32_t nsw = s->a->fabric->nswitches;
	int err = 0;

	for (uint32_t k = 0; k < s->a->stride / DL_TRANSITION_LFT_BLOCK; k++)
		for (uint32_t i = 0; i < nsw && !err; i++)
			if (dl_tables_block_differs(s->a, s->b, s->order[i], k))
				err = writes_add(s, s->order[i], k, 0, false);
	for (unsigned int k = 0; k < DL_TRANSITION_MFT_BLOCKS; k++) {
		if ((!s->a->ngroups && !s->b->ngroups) || !mft_differs(s, k))
			continue;
		for (unsigned int p = 0; p < 256 / DL_TRANSITION_MFT_PORTS; p++)
			for (uint32_t i = 0; i < nsw && !err; i++)
				if (s->positions[s->order[i]] >> p & 1)
					err = writes_add(s, s->order[i], k, p, true);
	}
	return err;
}

int dl_transition_writes(const struct dl_tables *a, const struct dl_tables *b,
			 struct dl_transition_write **out, uint32_t *n)
{
	struct search s = { .a = a, .b = b };
	int err = sort_switches(&s);

	if (!err)
		err = list_writes(&s);
	free(s.order);
	free(s.positions);
	if (err) {
		free(s.writes);
		return err;
	}
	*out = s.writes;
	*n = s.n;
	return 0;
}

/* ---- states --------------------------------------------------------------- */

static int put_masks(struct dl_tables *t, const struct dl_tables *from,
		     const struct dl_transition_write *w)
{
	uint32_t first = DL_TABLES_MCAST_LID + w->block * DL_TRANSITION_MFT_BLOCK;
	uint64_t bits = UINT64_C(0xFFFF) << w->position % 4 * DL_TRANSITION_MFT_PORTS;
	unsigned int word = w->position / 4;

	for (uint32_t g = dl_tables_groups_below(t, first);
	     g < t->ngroups && t->groups[g].mlid < first + DL_TRANSITION_MFT_BLOCK; g++) {
		const struct dl_tables_masks *masks = dl_transition_masks(from, t->groups[g].mlid);
		uint64_t ports = dl_tables_mask(masks, w->sw)[word] & bits;
		uint64_t *row;

		if ((dl_tables_mask(&t->groups[g].masks, w->sw)[word] & bits) == ports)
			continue;
		row = dl_tables_mask_row(&t->groups[g].masks, w->sw);
		if (!row)
			return -ENOMEM;
		row[word] = (row[word] & ~bits) | ports;
	}
	return 0;
}

int dl_transition_put(struct dl_tables *t, const struct dl_tables *from,
		      const struct dl_transition_write *w)
{
	size_t at = w->sw * (size_t)t->stride + w->block * (size_t)DL_TRANSITION_LFT_BLOCK;

	if (w->multicast)
		return put_masks(t, from, w);
	memcpy(t->lft + at, from->lft + at, DL_TRANSITION_LFT_BLOCK);
	return 0;
}

int dl_transition_copy(const struct dl_tables *t, const struct dl_tables *other,
		       struct dl_tables **out)
{
	int err = dl_transition_hold(t, t->fabric, out);

	return err ? err : dl_transition_add_groups(other, *out);
}

/* Groups of one block, which was written switch by switch, share what is the same again. */
static void writes_unite(struct dl_tables *t, unsigned int block)
{
	uint32_t first = DL_TABLES_MCAST_LID + block * DL_TRANSITION_MFT_BLOCK;
	uint32_t end = dl_tables_groups_below(t, first + DL_TRANSITION_MFT_BLOCK);
	struct dl_tables_masks_seen seen = { 0 };

	for (uint32_t g = dl_tables_groups_below(t, first); g < end; g++)
		dl_tables_masks_unite(&t->groups[g].masks, &seen);
}

static int go_to(const struct search *s, struct end *end, uint32_t written)
{
	bool on = end->written < written;
	int err = 0;

	while (end->written != written && !err) {
		const struct dl_transition_write *w = &s->writes[end->written - !on];

		err = dl_transition_put(&end->tables, on ? s->b : s->a, w);
		end->written += on ? 1 : -1;
		if (w->multicast &&
		    (end->written == written || s->writes[end->written - !on].block != w->block))
			writes_unite(&end->tables, w->block);
	}
	return err;
}

/* Both ends of an interval: written are those before i, and those before j. */
static int set_ends(struct search *s, uint32_t i, uint32_t j)
{
	int err = go_to(s, &s->from, i);

	return err ? err : go_to(s, &s->to, j);
}

/* Some of the writes that follow those before i, at both ends. */
static int put_subset(struct search *s, const struct dl_tables *from, uint32_t i,
		      unsigned int subset)
{
	int err = 0;

	for (unsigned int k = 0; subset >> k && !err; k++) {
		if (!(subset >> k & 1))
			continue;
		err = dl_transition_put(&s->from.tables, from, &s->writes[i + k]);
		if (!err)
			err = dl_transition_put(&s->to.tables, from, &s->writes[i + k]);
	}
	return err;
}

static int check_interval(const struct search *s, bool quick, struct dl_verify_mixture *m)
{
	return dl_verify_mixed_of(s->common, &s->from.tables, &s->to.tables, quick, m);
}

/*
 * The states at one moment: i blocks have arrived, and any of those under way.
 * Those with fewer blocks sent come first.  Returns 1: found.
 */
static int check_moment(struct search *s, uint32_t i)
{
	uint32_t under_way = s->n - i < IN_FLIGHT ? s->n - i : IN_FLIGHT;
	int err = set_ends(s, i, i);

	for (unsigned int subset = 0; subset < 1u << under_way && !err; subset++) {
		struct dl_verify_mixture m;

		err = put_subset(s, s->b, i, subset);
		if (!err)
			err = check_interval(s, false, &m);
		if (err)
			return err;
		if (!m.safe) {
			s->out->found = m;
			s->out->at_write = i + (subset ? 32 - __builtin_clz(subset) : 0);
			return 1;
		}
		dl_verify_mixture_release(&m);
		err = put_subset(s, s->a, i, subset);
	}
	return err;
}

/* Moments from i up to, not including, j. */
static int check_moments(struct search *s, uint32_t i, uint32_t j)
{
	uint32_t last = j - 1 + IN_FLIGHT, half = i + (j - i) / 2;
	struct dl_verify_mixture m;
	bool safe;
	int err;

	err = set_ends(s, i, last < s->n ? last : s->n);
	if (err)
		return err;
	err = check_interval(s, true, &m);
	safe = !err && m.safe;
	dl_verify_mixture_release(&m);
	if (err || safe)
		return err;
	if (j - i == 1)
		return check_moment(s, i);
	err = check_moments(s, i, half);
	return err ? err : check_moments(s, half, j);
}

static int copy_end(const struct dl_tables *t, const struct dl_tables *other, struct dl_tables *out)
{
	int err = dl_transition_share(t, out);

	if (!err)
		err = dl_transition_add_groups(other, out);
	out->checked = true; /* as `t` was for what the search has in common */
	return err;
}

static int check_opensm(struct search *s)
{
	int err = copy_end(s->a, s->b, &s->from.tables);

	if (!err)
		err = copy_end(s->b, s->a, &s->to.tables);
	s->to.written = s->n;
	if (!err)
		err = check_moments(s, 0, s->n + 1);
	s->out->safe = !err;
	dl_transition_unshare(&s->from.tables);
	dl_transition_unshare(&s->to.tables);
	return err > 0 ? 0 : err;
}

/* Do maps of pairs in use differ?  Then the graph below says nothing. */
static bool maps_differ(const struct dl_tables *a, const struct dl_tables *b)
{
	const struct dl_fabric *f = a->fabric;
	bool differ = false;

	for (uint32_t s = 0; s < f->nswitches && !differ; s++)
		for (unsigned int o = 1; o <= f->nodes[f->switches[s]].nports && !differ; o++)
			differ = dl_transition_count_maps(a, b, s, o);
	return differ;
}

/* The direct change, with what its mixtures have in common. */
static int check_direct(struct dl_verify_common *common, const struct dl_tables *a,
			const struct dl_tables *b, enum dl_transition_order order,
			struct dl_transition_result *out)
{
	struct search s = { .common = common, .a = a, .b = b, .out = out };
	int err = dl_transition_writes(a, b, &s.writes, &s.n);

	out->writes = s.n;
	out->maps_changed = maps_differ(a, b);
	if (!err && !out->maps_changed)
		err = dl_verify_mixed_of(common, a, b, order != DL_TRANSITION_ANY, &out->found);
	out->safe = out->any_order = !err && out->found.safe;
	if (!err && !out->safe && !out->maps_changed && order == DL_TRANSITION_OPENSM) {
		dl_verify_mixture_release(&out->found);
		err = check_opensm(&s);
	}
	free(s.writes);
	return err;
}

/* ---- a plan --------------------------------------------------------------- */

int dl_transition_check_plan(const struct dl_transition *t, enum dl_transition_order order,
			     const struct dl_log *log, struct dl_transition_result *out)
{
	const struct dl_tables *all[2] = { t->opened, t->held };
	struct dl_verify_common *common;
	struct dl_verify_options o;
	int err;

	dl_verify_options_init(&o);
	o.orphans = &t->orphans;
	err = dl_verify_common_new(all, 2, &o, log, &common);
	memset(out, 0, sizeof(*out));
	if (err)
		return err;
	err = check_direct(common, t->held, t->opened, order, out);
	if (err)
		dl_verify_mixture_release(&out->found);
	dl_verify_common_free(common);
	return err;
}
