/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * States between two sets of tables, against the reference model of the
 * verifier on each of them: every subset of the writes, and every subset of the
 * four under way after every prefix.  DATELINE_SEED chooses others.
 */
#include "config.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "dateline/transition.h"
#include "grid_fabric.h"
#include "share.h"
#include "verify_fixture.h"
#include "verify_model.h"

#define FIXTURES share(160)
#define MAX_WRITES 5

struct write {
	uint32_t sw;
	uint64_t guid; /* as on the wire */
	bool multicast;
};

struct pair {
	struct dl_tables *a, *b, *state;
	struct write writes[2 * 16];
	uint32_t n;
};

/* How often a question had each answer. */
struct tally {
	uint32_t safe, unsafe, circles, moments, late, closed_safe, spared;
	uint32_t phased, not_phased, renumbered, other_sls;
	uint32_t maps, maps_safe, crossed, branches, interrupted, only_opened;
};

static struct dl_tables *copy(const struct dl_tables *t)
{
	struct dl_tables *to;

	assert_int_equal(dl_tables_remap(t, t->fabric, &to), 0);
	for (uint32_t g = 0; g < t->ngroups; g++)
		assert_int_equal(
			dl_tables_masks_copy(&dl_tables_group(to, t->groups[g].mlid)->masks,
					     &t->groups[g].masks),
			0);
	return to;
}

/* LIDs that nobody owns are no part of the model. */
static void drop_lost(struct dl_tables *t)
{
	for (uint32_t s = 0; s < t->fabric->nswitches; s++)
		for (uint32_t lid = 0; lid <= t->top_lid; lid++)
			if (t->fabric->lid_port[lid] == DL_NONE)
				t->lft[s * (size_t)t->stride + lid] = DL_TABLES_NO_PORT;
}

static uint64_t *words_of(struct dl_tables *t, uint32_t g, uint32_t sw)
{
	uint64_t *words = dl_tables_mask_row(&t->groups[g].masks, sw);

	assert_non_null(words);
	return words;
}

static void change(struct draw *d, struct dl_tables *t)
{
	const struct dl_fabric *f = t->fabric;

	for (uint32_t n = 1 + draw_below(d, 8); n; n--) {
		uint32_t s = draw_below(d, f->nswitches), lid = 1 + draw_below(d, f->top_lid);

		if (f->lid_port[lid] != DL_NONE)
			t->lft[s * (size_t)t->stride + lid] =
				1 + draw_below(d, f->nodes[f->switches[s]].nports);
	}
	if (t->ngroups && draw_one_in(d, 3))
		*words_of(t, 0, draw_below(d, f->nswitches)) ^= 2 << draw_below(d, 3);
}

static int compare(const void *x, const void *y)
{
	const struct write *a = x, *b = y;

	if (a->multicast != b->multicast)
		return a->multicast - b->multicast;
	return (a->guid > b->guid) - (a->guid < b->guid);
}

/* The fixtures' LIDs all stand in one block, their groups too. */
static void list_writes(struct pair *p)
{
	const struct dl_fabric *f = p->a->fabric;

	p->n = 0;
	for (uint32_t s = 0; s < f->nswitches; s++) {
		uint64_t guid = __builtin_bswap64(f->nodes[f->switches[s]].guid);
		size_t row = s * (size_t)p->a->stride;
		bool multicast = false;

		if (memcmp(p->a->lft + row, p->b->lft + row, p->a->stride))
			p->writes[p->n++] = (struct write){ s, guid, false };
		for (uint32_t g = 0; g < p->a->ngroups; g++)
			multicast |= memcmp(dl_tables_mask(&p->a->groups[g].masks, s),
					    dl_tables_mask(&p->b->groups[g].masks, s), 32);
		if (multicast)
			p->writes[p->n++] = (struct write){ s, guid, true };
	}
	qsort(p->writes, p->n, sizeof(*p->writes), compare);
}

/* The tables after the writes whose bits are set. */
static bool is_safe(struct pair *p, uint32_t written, const struct dl_verify_options *o)
{
	struct model m = { .t = p->state,
			   .known_only = true,
			   .multicast_sls = o->multicast_sls,
			   .levels = o->levels };
	bool safe;

	for (uint32_t w = 0; w < p->n; w++) {
		const struct dl_tables *from = written >> w & 1 ? p->b : p->a;
		size_t row = p->writes[w].sw * (size_t)from->stride;
		uint32_t s = p->writes[w].sw;

		if (!p->writes[w].multicast)
			memcpy(p->state->lft + row, from->lft + row, from->stride);
		for (uint32_t g = 0; p->writes[w].multicast && g < from->ngroups; g++)
			memcpy(words_of(p->state, g, s), dl_tables_mask(&from->groups[g].masks, s),
			       32);
	}
	model_make(&m);
	safe = !m.cyclic;
	model_free(&m);
	return safe;
}

/* Writes sent at the first unsafe moment, or UINT32_MAX. */
static uint32_t first_unsafe(struct pair *p, const struct dl_verify_options *o)
{
	for (uint32_t sent = 0; sent <= p->n; sent++) {
		uint32_t under_way = sent < 4 ? sent : 4;

		for (uint32_t lost = 0; lost < 1u << under_way; lost++)
			if (!is_safe(p, ((1u << sent) - 1) & ~(lost << (sent - under_way)), o))
				return sent;
	}
	return UINT32_MAX;
}

/* In OpenSM's order. */
static void check_writes(const struct dl_tables *a, const struct dl_tables *b,
			 struct dl_transition_result *out)
{
	struct dl_transition t;

	assert_int_equal(dl_transition_plan(a, b, &t), 0);
	assert_int_equal(dl_transition_check_plan(&t, DL_TRANSITION_OPENSM, NULL, out), 0);
	dl_transition_release(&t);
}

/* Do the ports of a circle lead from switch to switch, and round? */
static void check_circle(const struct pair *p, const struct dl_verify_mixture *m)
{
	const struct dl_fabric *f = p->a->fabric;

	for (uint32_t i = 0; i < m->nloop; i++) {
		const struct dl_fabric_port *out = &f->ports[m->loop[i]];
		uint32_t s = f->nodes[out->node].sw;

		assert_int_equal(f->ports[out->peer].node,
				 f->ports[m->loop[(i + 1) % m->nloop]].node);
		assert_true(dl_tables_lft(p->a, s, m->loop_lid) == out->num ||
			    dl_tables_lft(p->b, s, m->loop_lid) == out->num);
	}
}

static void check_pair(struct pair *p, struct tally *tally)
{
	struct dl_transition_result v;
	struct dl_verify_options o;
	struct dl_verify_mixture m;
	bool all_safe = true;
	struct dl_verify_result *alone;
	uint32_t sent;

	dl_verify_options_init(&o);
	assert_int_equal(dl_verify(p->a, &o, NULL, &alone), 0);
	o.levels = alone->levels;
	dl_verify_result_free(alone);
	for (uint32_t written = 0; written < 1u << p->n; written++)
		all_safe &= is_safe(p, written, &o);
	assert_int_equal(dl_verify_mixed(p->a, p->b, &o, false, &m), 0);
	/* The graph of all states holds that of each. */
	if (m.safe)
		assert_true(all_safe);
	if (m.loop_lid) {
		check_circle(p, &m);
		tally->circles += !all_safe;
	}
	tally->safe += m.safe;
	tally->unsafe += !all_safe;
	dl_verify_mixture_release(&m);

	sent = first_unsafe(p, &o);
	check_writes(p->a, p->b, &v);
	assert_int_equal(v.writes, p->n);
	assert_int_equal(v.safe, sent == UINT32_MAX);
	if (!v.safe) {
		assert_int_equal(v.at_write, sent);
		assert_true(v.found.cycle.n || v.found.loop_lid);
		tally->moments++;
		tally->late += sent > 1;
	}
	dl_verify_mixture_release(&v.found);
}

/* Path SLs by classes of other numbers, and at times none. */
static void change_path_sls(struct draw *d, struct dl_tables *t, struct tally *tally)
{
	uint32_t n = t->psl ? t->npsl_dst : 0;

	for (uint32_t row = 0; n > 1 && row < t->npsl_src; row++) {
		uint8_t *sls = t->psl + row * (size_t)n, first = sls[0];

		memmove(sls, sls + 1, n - 1);
		sls[n - 1] = first;
	}
	for (uint32_t lid = 0; n > 1 && lid <= t->top_lid; lid++)
		if (t->psl_dst[lid] != DL_NONE)
			t->psl_dst[lid] = (t->psl_dst[lid] + n - 1) % n;
	tally->renumbered += n > 1;
	if (n && draw_one_in(d, 2)) {
		/* Of pairs without an SL there are no packets. */
		memset(t->psl, DL_TABLES_NO_SL, t->npsl_src * (size_t)n);
		tally->other_sls++;
	}
}

/* Two sets by themselves, and with what they have in common with others. */
static bool check_shared(struct dl_verify_common *c, const struct dl_tables *a,
			 const struct dl_tables *b)
{
	struct dl_verify_mixture alone, shared;
	bool safe;

	assert_int_equal(dl_verify_mixed(a, b, NULL, false, &alone), 0);
	assert_int_equal(dl_verify_mixed_of(c, a, b, false, &shared), 0);
	assert_int_equal(shared.safe, alone.safe);
	assert_int_equal(shared.loop_lid, alone.loop_lid);
	assert_int_equal(shared.nloop, alone.nloop);
	assert_int_equal(shared.cycle.n, alone.cycle.n);
	for (uint32_t i = 0; i < alone.cycle.n; i++) {
		assert_int_equal(shared.cycle.steps[i].port, alone.cycle.steps[i].port);
		assert_int_equal(shared.cycle.steps[i].vl, alone.cycle.steps[i].vl);
	}
	safe = alone.safe;
	dl_verify_mixture_release(&alone);
	dl_verify_mixture_release(&shared);
	return safe;
}

static bool are_phases_safe(const struct dl_transition *t)
{
	bool safe;

	assert_int_equal(dl_transition_check_phases(t, &safe), 0);
	return safe;
}

/* The direct change of a plan, in OpenSM's order, is that of its ends. */
static void check_direct(const struct dl_transition *t)
{
	struct dl_transition_result alone, of_plan;

	check_writes(t->held, t->opened, &alone);
	assert_int_equal(dl_transition_check_plan(t, DL_TRANSITION_OPENSM, NULL, &of_plan), 0);
	assert_int_equal(of_plan.safe, alone.safe);
	assert_int_equal(of_plan.at_write, alone.at_write);
	dl_verify_mixture_release(&alone.found);
	dl_verify_mixture_release(&of_plan.found);
}

/* A plan is judged as its mixtures are, one by one. */
static void check_judged(struct draw *d, const struct pair *p, struct tally *tally)
{
	const struct dl_tables *sets[3];
	struct dl_tables *to = copy(p->b);
	struct dl_transition_result v;
	struct dl_verify_common *c;
	struct dl_transition t;
	bool direct, phased;

	if (!draw_one_in(d, 4))
		change_path_sls(d, to, tally);
	assert_int_equal(dl_transition_plan(p->a, to, &t), 0);
	sets[0] = t.opened;
	sets[1] = t.held;
	sets[2] = t.closed;
	assert_int_equal(dl_verify_common_new(sets, 3, NULL, NULL, &c), 0);
	direct = check_shared(c, t.held, t.opened);
	phased = check_shared(c, t.closed, t.held);
	phased &= check_shared(c, t.closed, t.opened);
	dl_verify_common_free(c);
	assert_int_equal(dl_transition_check_plan(&t, DL_TRANSITION_ANY, NULL, &v), 0);
	assert_int_equal(v.safe, direct);
	assert_int_equal(are_phases_safe(&t), phased);
	*(phased ? &tally->phased : &tally->not_phased) += 1;
	dl_verify_mixture_release(&v.found);
	check_direct(&t);
	dl_transition_release(&t);
	dl_tables_free(to);
}

/* ---- SL-to-VL maps that change --------------------------------------------- */

static uint32_t peer_switch(const struct dl_fabric *f, uint32_t s, unsigned int port)
{
	return dl_fabric_peer_switch(f, f->nodes[f->switches[s]].first_port + port);
}

/* Is a switch a neighbour of two that stay, when all that are not have been taken away? */
static void find_rings(const struct dl_fabric *f, bool *ring)
{
	bool changed = true;

	memset(ring, true, f->nswitches);
	while (changed) {
		changed = false;
		for (uint32_t s = 0; s < f->nswitches; s++) {
			uint32_t n = 0;

			for (uint32_t to = 0; to < f->nswitches; to++) {
				bool joined = false;

				for (unsigned int o = 1; o <= f->nodes[f->switches[s]].nports; o++)
					joined |= peer_switch(f, s, o) == to;
				n += joined && to != s && ring[to];
			}
			changed |= ring[s] && n < 2;
			ring[s] &= n >= 2;
		}
	}
}

static unsigned int vl_at(const struct dl_tables *t, uint32_t at, unsigned int sl)
{
	uint16_t row = t->sl2vl[at];

	return dl_tables_sl2vl_get(row == DL_TABLES_NO_ROW ? 0 : t->rows[row], sl);
}

/* A packet meets no map on a ring that says another VL afterwards. */
static void check_packet(const struct dl_transition *t, const bool *ring, uint32_t src,
			 uint16_t lid, unsigned int sl, struct tally *tally)
{
	const struct dl_fabric *f = t->opened->fabric;
	const struct dl_fabric_port *from = &f->ports[src];
	uint32_t s = dl_fabric_access_switch(f, src);
	unsigned int in = from->num ? f->ports[from->peer].num : 0;

	for (uint32_t hops = 0; s != DL_NONE && hops <= f->nswitches; hops++) {
		const struct dl_fabric_node *n = &f->nodes[f->switches[s]];
		unsigned int out = dl_tables_lft(t->closed, s, lid);
		uint32_t at = t->held->sl2vl_first[s] + in * (n->nports + 1u) + out, to;

		if (!out || out > n->nports)
			return;
		to = peer_switch(f, s, out);
		if (to == DL_NONE)
			return;
		if (vl_at(t->held, at, sl) != vl_at(t->opened, at, sl)) {
			assert_false(ring[s] && ring[to]);
			tally->branches++;
		}
		tally->crossed += t->held->sl2vl[at] != t->opened->sl2vl[at];
		in = f->ports[f->ports[n->first_port + out].peer].num;
		s = to;
	}
}

static void check_packets(const struct dl_transition *t, struct tally *tally)
{
	const struct dl_tables *sets[2] = { t->held, t->opened };
	const struct dl_fabric *f = t->opened->fabric;
	bool ring[64];

	assert_true(f->nswitches < 64);
	find_rings(f, ring);
	for (uint32_t src = 0; src < f->nports; src++)
		for (uint32_t lid = 1; lid <= f->top_lid && f->ports[src].lid; lid++)
			for (unsigned int i = 0; i < 2 && dl_fabric_is_end_port(f, src); i++) {
				unsigned int sl = dl_tables_path_sl(sets[i], src, lid);

				for (unsigned int any = 0; any < 16; any++)
					if (sl > 15 || sl % 8 == any % 8)
						check_packet(t, ring, src, lid, any, tally);
			}
}

static bool is_mixture_safe(const struct dl_tables *a, const struct dl_tables *b)
{
	struct dl_verify_mixture m;
	bool safe;

	assert_int_equal(dl_verify_mixed(a, b, NULL, false, &m), 0);
	safe = m.safe;
	dl_verify_mixture_release(&m);
	return safe;
}

static uint64_t count_entries(const struct dl_tables *a, const struct dl_tables *b)
{
	uint64_t n = 0;

	for (uint32_t s = 0; s < a->fabric->nswitches; s++)
		for (uint32_t lid = 0; lid <= a->top_lid; lid++)
			n += dl_tables_lft(a, s, lid) != dl_tables_lft(b, s, lid);
	for (uint32_t g = 0; g < a->ngroups; g++)
		for (uint32_t s = 0; s < a->fabric->nswitches; s++)
			for (unsigned int k = 0; k < DL_TABLES_MASK_WORDS; k++)
				n += __builtin_popcountll(
					dl_tables_mask(&a->groups[g].masks, s)[k] ^
					dl_tables_mask(&b->groups[g].masks, s)[k]);
	return n;
}

/* Close, drain, open: the steps write all that differs, even if nothing has to be closed. */
static void check_steps(struct dl_transition *t, struct tally *tally)
{
	uint64_t closed = count_entries(t->held, t->closed), opened, n[2] = { 0 }, writes = 0;
	struct dl_transition_waves plan;

	opened = count_entries(t->closed, t->opened);
	assert_int_equal(dl_transition_waves(t, 0, &plan), 0);
	for (uint32_t i = 0; i < plan.nsteps; i++) {
		const struct dl_transition_step *step = &plan.steps[i];

		if (step->kind != DL_TRANSITION_MAPS)
			n[step->kind == DL_TRANSITION_OPEN] += step->entries;
		writes += step->writes;
	}
	assert_true(plan.in_phases);
	assert_int_equal(n[0], closed);
	assert_int_equal(n[1], opened);
	assert_int_equal(writes, t->writes_close + t->writes_open);
	tally->only_opened += !closed && opened;
	dl_transition_waves_release(&plan);
}

/* What is open is safe by old maps, by new ones, and by any mixture. */
static void check_maps(struct draw *d, const struct pair *p, struct tally *tally)
{
	struct dl_tables *to = copy(p->b), *state;
	struct dl_transition t;
	uint32_t at[3];

	if (!to->nrows || !to->sl2vl_first[to->fabric->nswitches]) {
		dl_tables_free(to);
		return;
	}
	for (unsigned int k = 0; k < 3; k++) {
		dl_tables_sl2vl_row row = to->rows[draw_below(d, to->nrows)];

		at[k] = draw_below(d, to->sl2vl_first[to->fabric->nswitches]);
		to->sl2vl[at[k]] = dl_tables_row(to, row ^ UINT64_C(1) << 4 * draw_below(d, 16));
	}
	assert_int_equal(dl_transition_plan(p->a, to, &t), 0);
	check_packets(&t, tally);
	check_steps(&t, tally);
	tally->maps += t.maps_changed != 0;
	if (is_mixture_safe(t.held, t.held) && is_mixture_safe(to, to)) {
		tally->maps_safe++;
		for (unsigned int written = 0; written < 8; written++) {
			state = copy(t.closed);
			for (unsigned int k = 0; k < 3; k++)
				if (written >> k & 1)
					state->sl2vl[at[k]] =
						dl_tables_row(state, to->rows[to->sl2vl[at[k]]]);
			assert_true(is_mixture_safe(state, state));
			dl_tables_free(state);
		}
	}
	dl_transition_release(&t);
	dl_tables_free(to);
}

/* Of two safe sets: closing and opening are safe in any order. */
static void check_closing(struct pair *p, struct tally *tally)
{
	struct dl_transition t;

	assert_int_equal(dl_transition_plan(p->a, p->b, &t), 0);
	assert_int_equal(t.writes, p->n);
	for (uint32_t s = 0; s < p->a->fabric->nswitches; s++)
		for (uint32_t lid = 0; lid <= p->a->top_lid; lid++) {
			uint8_t a = dl_tables_lft(p->a, s, lid), b = dl_tables_lft(p->b, s, lid);

			assert_int_equal(dl_tables_lft(t.closed, s, lid),
					 a == b ? a : DL_TABLES_NO_PORT);
		}
	for (unsigned int k = 0; k < 2; k++) {
		const struct dl_tables *set = k ? p->b : p->a;
		bool safe = is_mixture_safe(set, set);

		assert_true(!safe || is_mixture_safe(set, t.closed));
		tally->closed_safe += safe;
	}
	dl_transition_release(&t);
}

/* Follow one packet. */
static bool arrives(const struct dl_tables *t, uint32_t src, uint16_t lid)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t s = dl_fabric_access_switch(f, src);

	for (uint32_t hops = 0; s != DL_NONE && hops <= f->nswitches; hops++) {
		const struct dl_fabric_node *n = &f->nodes[f->switches[s]];
		uint32_t out = dl_tables_lft(t, s, lid), port = n->first_port + out;

		if (out > n->nports)
			return false;
		s = out ? peer_switch(f, s, out) : DL_NONE;
		if (s == DL_NONE)
			return (out ? f->ports[port].peer : port) == f->lid_port[lid];
	}
	return false;
}

static uint32_t home_of(const struct dl_fabric *f, uint32_t lid)
{
	return f->lid_port[lid] == DL_NONE ? DL_NONE : dl_fabric_access_switch(f, f->lid_port[lid]);
}

/* Packets to LIDs of one switch mostly go alike. */
static void make_alike(struct draw *d, struct dl_tables *t)
{
	for (uint32_t lid = 2; lid <= t->top_lid; lid++) {
		uint32_t home = home_of(t->fabric, lid);

		if (home == DL_NONE || home_of(t->fabric, lid - 1) != home || draw_one_in(d, 8))
			continue;
		for (uint32_t s = 0; s < t->fabric->nswitches; s++)
			if (s != home || draw_one_in(d, 4))
				t->lft[s * (size_t)t->stride + lid] = dl_tables_lft(t, s, lid - 1);
	}
}

static void check_interrupted(struct draw *d, const struct pair *p, struct tally *tally)
{
	struct dl_tables *sets[2] = { copy(p->a), copy(p->b) };
	const struct dl_fabric *f = p->a->fabric;
	uint32_t nmaps = sets[1]->nrows ? p->a->sl2vl_first[f->nswitches] : 0;
	struct dl_transition t;
	uint64_t n = 0;

	for (uint32_t k = draw_below(d, nmaps / 4 + 1); k; k--)
		sets[1]->sl2vl[draw_below(d, nmaps)] = dl_tables_row(
			sets[1], sets[1]->rows[0] ^ UINT64_C(1) << 4 * draw_below(d, 16));
	make_alike(d, sets[0]);
	make_alike(d, sets[1]);
	assert_int_equal(dl_transition_plan(sets[0], sets[1], &t), 0);
	assert_int_equal(dl_transition_interrupted(&t, NULL), 0);
	for (uint32_t src = 0; src < f->nports; src++)
		for (uint32_t lid = 1; lid <= f->top_lid; lid++)
			n += f->ports[src].lid && dl_fabric_is_end_port(f, src) &&
			     f->lid_port[lid] != DL_NONE && f->lid_port[lid] != src &&
			     arrives(t.held, src, lid) && arrives(t.opened, src, lid) &&
			     !arrives(t.closed, src, lid);
	assert_int_equal(t.pairs_interrupted, n);
	tally->interrupted += n != 0;
	dl_transition_release(&t);
	dl_tables_free(sets[0]);
	dl_tables_free(sets[1]);
}

/* A port of a switch without a cable, or 0. */
static unsigned int dead_port(const struct dl_fabric *f, uint32_t s)
{
	const struct dl_fabric_node *n = &f->nodes[f->switches[s]];

	for (unsigned int p = 1; p <= n->nports; p++)
		if (f->ports[n->first_port + p].peer == DL_NONE)
			return p;
	return 0;
}

/* Some entries that change have lost their cables: they need no closing. */
static void check_spared(struct draw *d, struct pair *p, struct tally *tally)
{
	const struct dl_fabric *f = p->a->fabric;
	struct dl_tables *a = copy(p->a);
	struct dl_transition t;

	for (uint32_t s = 0; s < f->nswitches; s++)
		for (uint32_t lid = 0; lid <= a->top_lid && dead_port(f, s); lid++)
			if (dl_tables_lft(a, s, lid) != dl_tables_lft(p->b, s, lid) &&
			    draw_one_in(d, 2))
				a->lft[s * (size_t)a->stride + lid] = dead_port(f, s);
	assert_int_equal(dl_transition_plan(a, p->b, &t), 0);
	dl_transition_spare(&t);
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (uint32_t lid = 0; lid <= a->top_lid; lid++) {
			const struct dl_fabric_node *n = &f->nodes[f->switches[s]];
			uint8_t old = dl_tables_lft(a, s, lid), new = dl_tables_lft(p->b, s, lid);
			bool dead = old && old <= n->nports &&
				    f->ports[n->first_port + old].peer == DL_NONE;

			assert_int_equal(dl_tables_lft(t.closed, s, lid),
					 old == new || dead ? old : DL_TABLES_NO_PORT);
			tally->spared += dead && old != new;
		}
	assert_true(!is_mixture_safe(p->b, p->b) || is_mixture_safe(p->b, t.closed));
	check_steps(&t, tally);
	dl_transition_release(&t);
	dl_tables_free(a);
}

/* Who has the highest LIDs leaves: packets to them go on by entries that are part of the plan. */
static void check_highest_lids(const struct dl_tables *a)
{
	struct dl_fabric f = *a->fabric;
	uint32_t owner = f.top_lid ? f.lid_port[f.top_lid] : DL_NONE;
	size_t size = f.nports * sizeof(*f.ports);
	struct dl_transition t;
	struct dl_tables *b;

	if (owner == DL_NONE || f.ports[owner].lid < 2)
		return;
	f.ports = malloc(size);
	assert_non_null(f.ports);
	memcpy(f.ports, a->fabric->ports, size);
	f.top_lid = f.ports[owner].lid - 1;
	f.ports[owner].lid = 0;
	assert_int_equal(dl_tables_remap(a, &f, &b), 0);
	assert_int_equal(dl_transition_plan(a, b, &t), 0);
	for (uint32_t s = 0; s < f.nswitches; s++)
		for (uint32_t lid = 1; lid <= a->top_lid; lid++) {
			uint8_t port = dl_tables_lft(a, s, lid);

			assert_int_equal(dl_tables_lft(t.held, s, lid), port);
			assert_int_equal(dl_tables_lft(t.opened, s, lid),
					 lid > f.top_lid ? DL_TABLES_NO_PORT : port);
		}
	assert_int_equal(t.opened->top_lid, a->top_lid);
	assert_int_equal(t.opened->fabric->lid_port[a->top_lid], DL_NONE);
	dl_transition_release(&t);
	dl_tables_free(b);
	free(f.ports);
}

static void matches_model(void **state)
{
	const char *text = getenv("DATELINE_SEED");
	uint64_t *seed = *state;
	struct tally tally = { 0 };

	for (uint32_t i = 0; i < FIXTURES; i++) {
		struct draw d = { .seed = *seed = (text ? strtoull(text, NULL, 0) : 7) + i };
		struct fixture fixture;
		struct pair p;

		fixture_make(&d, &fixture);
		drop_lost(fixture.tables);
		p.a = fixture.tables;
		p.b = copy(p.a);
		if (p.a->top_lid && p.a->fabric->nswitches)
			change(&d, p.b);
		p.state = copy(p.a);
		list_writes(&p);
		for (unsigned int k = 0; k < 4; k++)
			check_interrupted(&d, &p, &tally);
		check_highest_lids(p.a);
		if (p.n <= MAX_WRITES) {
			check_pair(&p, &tally);
			check_closing(&p, &tally);
			check_judged(&d, &p, &tally);
			check_maps(&d, &p, &tally);
			check_spared(&d, &p, &tally);
		}
		dl_tables_free(p.state);
		dl_tables_free(p.b);
		fixture_free(&fixture);
	}
	print_message("%u safe in any order, %u with an unsafe state, %u with a circle, %u "
		      "unsafe in OpenSM's order, %u of them after a write; %u safe sets closed\n",
		      tally.safe, tally.unsafe, tally.circles, tally.moments, tally.late,
		      tally.closed_safe);
	assert_true(tally.safe > FIXTURES / 10);
	assert_true(tally.circles > FIXTURES / 10);
	assert_true(FIXTURES < 100 || tally.late > FIXTURES / 40);
	assert_true(tally.closed_safe > FIXTURES / 4);
	assert_true(FIXTURES < 100 || tally.only_opened);
	assert_true(tally.spared > FIXTURES / 10 && tally.interrupted > FIXTURES);
	print_message("%u plans safe in phases, %u not; path SLs renumbered in %u, changed in %u\n",
		      tally.phased, tally.not_phased, tally.renumbered, tally.other_sls);
	print_message(
		"maps change in %u, %u of them safe; %u packets over such maps, %u by another VL\n",
		tally.maps, tally.maps_safe, tally.crossed, tally.branches);
	assert_true(tally.maps > FIXTURES / 10 && tally.maps_safe > FIXTURES / 10);
	assert_true(FIXTURES < 100 || (tally.crossed && tally.branches));
	assert_true(tally.phased > FIXTURES / 10 && tally.not_phased > FIXTURES / 10);
	assert_true(tally.renumbered > FIXTURES / 10 && tally.other_sls > FIXTURES / 20);
}

static int print_seed(void **state)
{
	const uint64_t *current = *state;

	print_message("last seed: %llu\n", (unsigned long long)*current);
	return 0;
}

static size_t in_use(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* Thousands of groups with the same masks, of which few change: no copy of all. */
static void shares_groups(void **state)
{
	enum { GROUPS = 4000, CHANGED = 10 };
	struct grid_fabric g = { .grid.radix = { 8, 8, 8 }, .hosts = 1 };
	struct dl_transition_write *writes;
	struct dl_tables *a, *b;
	struct dl_transition t;
	size_t before;
	uint32_t n;

	(void)state;
	grid_build(&g);
	assert_int_equal(dl_tables_new(g.fabric, &a), 0);
	for (uint32_t i = 0; i < GROUPS; i++) {
		struct dl_tables_mcast_group *group = dl_tables_group(a, DL_TABLES_MCAST_LID + i);

		for (uint32_t s = 0; s < g.fabric->nswitches && !i; s++)
			assert_int_equal(dl_tables_mask_set(&group->masks, s, 1 + s % 5), 0);
		if (i)
			assert_int_equal(dl_tables_masks_copy(&group->masks, &a->groups[0].masks),
					 0);
	}
	b = copy(a);
	for (uint32_t i = 0; i < CHANGED; i++)
		*words_of(b, 40 * i, 70 * i % g.fabric->nswitches) = 3;
	before = in_use();
	assert_int_equal(dl_transition_plan(a, b, &t), 0);
	if (before) /* sanitizers have an allocator that does not tell */
		assert_in_range(in_use() - before, 1, 8 << 20);
	assert_int_equal(t.writes, CHANGED);
	assert_int_equal(dl_transition_writes(a, b, &writes, &n), 0);
	assert_int_equal(n, CHANGED);
	for (uint32_t i = 0; i < CHANGED; i++) {
		assert_true(writes[i].multicast && !writes[i].position);
		assert_int_equal(writes[i].block, 40 * i / 32);
		assert_int_equal(writes[i].sw, 70 * i % g.fabric->nswitches);
	}
	free(writes);
	dl_transition_release(&t);
	dl_tables_free(a);
	dl_tables_free(b);
	grid_free(&g);
}

int main(void)
{
	static uint64_t seed;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate_setup_teardown(matches_model, NULL, print_seed, &seed),
		cmocka_unit_test(shares_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
