/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Plans of waves against a model: random failures and repairs of small tori are planned,
 * and each plan is replayed write by write, in random order between two barriers.
 *
 * The model knows no times.  Its packets remember their way: after each write all packets
 * that may be under way since the last drain meet the tables as they are now, and every
 * dependency that any of them ever had stays until the next drain.  At no moment may
 * these have a cycle.  DATELINE_SEED chooses others, DATELINE_ROUNDS how many.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dateline/route.h"
#include "dateline/transition.h"
#include "draw.h"
#include "grid_fabric.h"
#include "share.h"

#define ROUNDS 150 /* in a whole check */
#define PORTS 9	   /* of a switch, with port 0 */
#define VLS 8
#define GROUP 0 /* stands for the multicast group among LIDs */

struct replay {
	const struct dl_transition *t;
	const struct dl_transition_waves *plan;
	const struct dl_fabric *f;
	struct draw *d;
	bool any_sl;
	bool late;		/* new path SLs are not granted yet */
	struct dl_tables *now;	/* what the switches hold */
	uint64_t *group;	/* ports by switch */
	uint32_t nch;		/* channels: (switch, port, VL) */
	uint8_t *met;		/* by LID, SL and channel: may packets be there? */
	uint8_t (*wait)[PORTS]; /* by channel: VLs by output port of the next switch */
	uint8_t *colour;
	bool *interrupted; /* by end port and LID */
	bool *stuck; /* by LID, SL, switch and port: are there packets whose cable has gone? */
	struct dl_transition_history *history; /* notes what moves; or NULL */
	uint32_t barriers; /* after so many the plan is given up; 0: it is carried out */
};

struct waves_tally {
	uint32_t plans, moves, drains, detours, closed, phases, unsafe, interrupted, direct;
	uint32_t chains, chains_wait, earlier, stopped, stopped_wait;
};

/* ---- the model ------------------------------------------------------------- */

static uint32_t channel(uint32_t s, unsigned int port, unsigned int vl)
{
	return (s * PORTS + port) * VLS + vl;
}

static uint32_t next_switch(const struct replay *r, uint32_t s, unsigned int port)
{
	const struct dl_fabric_node *n = &r->f->nodes[r->f->switches[s]];

	return !port || port > n->nports ? DL_NONE :
					   dl_fabric_peer_switch(r->f, n->first_port + port);
}

static unsigned int model_vl(const struct dl_tables *t, uint32_t s, unsigned int in,
			     unsigned int out, unsigned int sl)
{
	unsigned int nports = t->fabric->nodes[t->fabric->switches[s]].nports;
	uint16_t row = t->sl2vl[t->sl2vl_first[s] + in * (nports + 1u) + out];

	return dl_tables_sl2vl_get(row == DL_TABLES_NO_ROW ? 0 : t->rows[row], sl);
}

/* Ports by which packets leave a switch, as the tables are now. */
static uint64_t ports_now(const struct replay *r, uint32_t s, uint32_t lid)
{
	uint8_t port = dl_tables_lft(r->now, s, lid);

	if (lid == GROUP)
		return r->group[s];
	return port < 64 ? UINT64_C(1) << port : 0;
}

/* Packets that came by `from` (DL_NONE: from an end port) and port `in` go on.  More? */
static bool go_on(struct replay *r, uint32_t lid, unsigned int sl, uint32_t from, uint32_t s,
		  unsigned int in)
{
	uint8_t *met = r->met + (lid * (size_t)16 + sl) * r->nch;
	bool more = false;

	for (uint64_t left = ports_now(r, s, lid); left; left &= left - 1) {
		unsigned int out = __builtin_ctzll(left), vl;

		if (next_switch(r, s, out) == DL_NONE || (lid == GROUP && out == in))
			continue;
		vl = model_vl(r->now, s, in, out, sl);
		if (vl >= VLS)
			continue;
		more |= !met[channel(s, out, vl)];
		met[channel(s, out, vl)] = true;
		if (from != DL_NONE)
			r->wait[from][out] |= 1u << vl;
	}
	return more;
}

static uint16_t model_sls_of(const struct replay *r, uint32_t port, uint32_t lid)
{
	const struct dl_tables *sets[] = { r->t->held, r->t->opened };
	uint16_t sls = 0;

	if (r->any_sl)
		return 0xFFFF;
	if (lid == GROUP)
		return 0x0101;
	for (unsigned int i = 0; i < (r->late ? 1 : 2); i++) {
		unsigned int sl = dl_tables_path_sl(sets[i], port, lid);

		if (sl < 16)
			sls |= 1u << sl | 1u << (sl ^ 8);
	}
	return sls;
}

/* All packets to a LID that may be under way meet the tables as they are now. */
static void spread(struct replay *r, uint32_t lid)
{
	const struct dl_fabric *f = r->f;
	bool more = true;

	for (uint32_t i = 0; i < 16 * f->nswitches * PORTS; i++)
		if (r->stuck[lid * (size_t)16 * f->nswitches * PORTS + i])
			go_on(r, lid, i / PORTS / f->nswitches, DL_NONE, i / PORTS % f->nswitches,
			      i % PORTS);
	for (uint32_t p = 0; p < f->nports; p++) {
		uint32_t s = f->ports[p].lid && dl_fabric_is_end_port(f, p) ?
				     dl_fabric_access_switch(f, p) :
				     DL_NONE;
		unsigned int in = s != DL_NONE && f->ports[p].num ? f->ports[f->ports[p].peer].num :
								    0;
		uint16_t sls = s != DL_NONE ? model_sls_of(r, p, lid) : 0;

		/* Port 0 of a switch sends to a group when it is a member. */
		if (lid == GROUP && s != DL_NONE && !in && !(r->group[s] & 1))
			sls = 0;
		for (unsigned int sl = 0; sl < 16; sl++)
			if (sls >> sl & 1 && (lid == GROUP || f->lid_port[lid] != p))
				go_on(r, lid, sl, DL_NONE, s, in);
	}
	while (more) {
		more = false;
		for (uint32_t at = 0; at < 16 * r->nch; at++) {
			uint32_t c = at % r->nch, s = c / VLS / PORTS, port = c / VLS % PORTS;
			const struct dl_fabric_node *n = &f->nodes[f->switches[s]];

			if (r->met[lid * (size_t)16 * r->nch + at])
				more |= go_on(r, lid, at / r->nch, c, next_switch(r, s, port),
					      f->ports[f->ports[n->first_port + port].peer].num);
		}
	}
}

/* Depth first: does a channel wait for itself? */
static bool leads_round(struct replay *r, uint32_t c)
{
	uint32_t s = next_switch(r, c / VLS / PORTS, c / VLS % PORTS);

	r->colour[c] = 1;
	for (unsigned int out = 0; out < PORTS; out++)
		for (unsigned int vl = 0; vl < VLS; vl++) {
			uint32_t to = channel(s, out, vl);

			if (!(r->wait[c][out] >> vl & 1))
				continue;
			if (r->colour[to] == 1 || (!r->colour[to] && leads_round(r, to)))
				return true;
		}
	r->colour[c] = 2;
	return false;
}

static void assert_no_cycle(struct replay *r)
{
	memset(r->colour, 0, r->nch);
	for (uint32_t c = 0; c < r->nch; c++)
		assert_false(!r->colour[c] && leads_round(r, c));
}

/* Only what the tables hold now is under way. */
static void drained(struct replay *r)
{
	memset(r->met, 0, (r->now->top_lid + (size_t)1) * 16 * r->nch);
	memset(r->wait, 0, r->nch * sizeof(*r->wait));
	memset(r->stuck, 0, (r->now->top_lid + (size_t)1) * 16 * r->f->nswitches * PORTS);
	if (r->history)
		dl_transition_history_clear(r->history);
	for (uint32_t lid = 0; lid <= r->now->top_lid; lid++)
		spread(r, lid);
	assert_no_cycle(r);
}

/* ---- packets that came by a cable which has gone ------------------------------- */

struct orphans {
	struct replay *r;
	const struct dl_tables *from; /* tables of the fabric before */
	struct dl_fabric_match now;   /* what has become of it */
	uint32_t lid;
	unsigned int sl;
	bool *seen; /* by channel before, and whether they came by such a cable */
};

static void add_stuck(struct replay *r, uint32_t s, unsigned int in, uint32_t lid, unsigned int sl)
{
	if (s != DL_NONE)
		r->stuck[((lid * (size_t)16 + sl) * r->f->nswitches + s) * PORTS + in] = true;
}

static const uint64_t *group_ports(const struct dl_tables *t, uint32_t s)
{
	static const uint64_t none[DL_TABLES_MASK_WORDS];

	return t->ngroups ? dl_tables_mask(&t->groups[0].masks, s) : none;
}

/* Along the old entries of the old fabric, hop by hop. */
static void walk_before(struct orphans *o, uint32_t s, unsigned int in, bool orphan)
{
	const struct dl_fabric *f = o->from->fabric;
	const struct dl_fabric_node *n = dl_fabric_switch_node(f, s);
	uint8_t port = dl_tables_lft(o->from, s, o->lid);
	uint64_t left = o->lid == GROUP ? group_ports(o->from, s)[0] :
			port < 64	? UINT64_C(1) << port :
					  0;

	for (; left; left &= left - 1) {
		unsigned int out = __builtin_ctzll(left), vl;
		uint32_t here = n->first_port + out, s_now = dl_fabric_match_switch(&o->now, s);
		bool gone = s_now == DL_NONE || dl_fabric_match_recabled(&o->now, s, out);
		bool *seen;

		if (!out || out > n->nports || dl_fabric_peer_switch(f, here) == DL_NONE ||
		    (o->lid == GROUP && out == in))
			continue;
		vl = model_vl(o->from, s, in, out, o->sl);
		seen = &o->seen[2 * channel(s, out, vl) + orphan];
		if (vl >= VLS || *seen)
			continue;
		*seen = true;
		if (gone)
			add_stuck(o->r,
				  dl_fabric_match_switch(&o->now, dl_fabric_peer_switch(f, here)),
				  f->ports[f->ports[here].peer].num, o->lid, o->sl);
		if (orphan && !gone)
			o->r->met[(o->lid * (size_t)16 + o->sl) * o->r->nch +
				  channel(s_now, out, vl)] = true;
		walk_before(o, dl_fabric_peer_switch(f, here), f->ports[f->ports[here].peer].num,
			    orphan || gone);
	}
}

/* What was under way when cables failed, and has passed them, is where it is. */
static void add_orphans(struct replay *r, const struct dl_tables *from)
{
	const struct dl_fabric *f = from->fabric;
	struct orphans o = { .r = r, .from = from };
	size_t nseen = 2ul * f->nswitches * PORTS * VLS;

	assert_int_equal(dl_fabric_match(f, r->f, &o.now), 0);
	o.seen = calloc(nseen, sizeof(*o.seen));
	assert_non_null(o.seen);
	for (o.lid = 0; o.lid <= r->now->top_lid && o.lid <= from->top_lid; o.lid++) {
		for (o.sl = 0; o.sl < 16; o.sl++) {
			memset(o.seen, 0, nseen);
			for (uint32_t p = 0; p < f->nports; p++) {
				unsigned int sl = dl_tables_path_sl(from, p, o.lid);
				uint32_t now = dl_fabric_match_port(&o.now, p);
				/* It had another LID: now it sends none to itself. */
				bool own = o.lid && now != DL_NONE && f->lid_port[o.lid] != p &&
					   r->f->lid_port[o.lid] == now;
				uint32_t s = dl_fabric_is_end_port(f, p) ?
						     dl_fabric_access_switch(f, p) :
						     DL_NONE;

				if (s != DL_NONE &&
				    (r->any_sl ||
				     (o.lid == GROUP ? o.sl % 8 == 0 : o.sl % 8 == sl)))
					walk_before(&o, s,
						    f->ports[p].num ?
							    f->ports[f->ports[p].peer].num :
							    0,
						    own);
			}
		}
		spread(r, o.lid);
	}
	assert_no_cycle(r);
	dl_fabric_match_release(&o.now);
	free(o.seen);
}

/* ---- whom it interrupts ------------------------------------------------------ */

static bool model_arrives(const struct replay *r, const struct dl_tables *t, uint32_t src,
			  uint16_t lid)
{
	uint32_t s = dl_fabric_access_switch(r->f, src);

	for (uint32_t hops = 0; hops <= r->f->nswitches; hops++) {
		unsigned int out = dl_tables_lft(t, s, lid);
		const struct dl_fabric_node *n = &r->f->nodes[r->f->switches[s]];
		uint32_t port = n->first_port + out;

		if (out > n->nports)
			return false;
		if (next_switch(r, s, out) == DL_NONE)
			return (out ? r->f->ports[port].peer : port) == r->f->lid_port[lid];
		s = next_switch(r, s, out);
	}
	return false;
}

/* Which pairs that work before and after do not now?  None, unless something is closed. */
static void look_at_pairs(struct replay *r, uint16_t lid)
{
	const struct dl_fabric *f = r->f;

	for (uint32_t p = 0; p < f->nports && f->lid_port[lid] != DL_NONE; p++) {
		bool *is = &r->interrupted[p * (size_t)(r->now->top_lid + 1u) + lid];

		if (*is || !f->ports[p].lid || !dl_fabric_is_end_port(f, p) ||
		    f->lid_port[lid] == p || dl_fabric_access_switch(f, p) == DL_NONE ||
		    model_arrives(r, r->now, p, lid) || !model_arrives(r, r->t->held, p, lid) ||
		    !model_arrives(r, r->t->opened, p, lid))
			continue;
		*is = true;
		assert_true(r->plan->entries_closed > 0);
	}
}

/* ---- replaying ----------------------------------------------------------------- */

/* The writes between two barriers, block by block in random order. */
static void replay_barrier(struct replay *r, const struct dl_transition_move *m, uint32_t n)
{
	bool *done = calloc(n + 1, sizeof(*done));
	uint32_t left = n;

	assert_non_null(done);
	while (left) {
		uint32_t first = draw_below(r->d, n);

		if (done[first])
			continue;
		for (uint32_t i = 0; i < n; i++) {
			if (done[i] || m[i].sw != m[first].sw || m[i].lid / 64 != m[first].lid / 64)
				continue;
			if (r->history)
				dl_transition_history_add(r->history, m[i].sw, m[i].lid,
							  dl_tables_lft(r->now, m[i].sw, m[i].lid));
			r->now->lft[m[i].sw * (size_t)r->now->stride + m[i].lid] = m[i].port;
			done[i] = true;
			left--;
		}
		for (uint32_t i = 0; i < n; i++)
			if (m[i].sw == m[first].sw && m[i].lid / 64 == m[first].lid / 64) {
				spread(r, m[i].lid);
				look_at_pairs(r, m[i].lid);
			}
		assert_no_cycle(r);
	}
	if (r->history)
		dl_transition_history_next(r->history);
	free(done);
}

/* Masks are written in any order: the ports of both, and then those of the second. */
static void replay_groups(struct replay *r, const struct dl_tables *to)
{
	for (unsigned int pass = 0; pass < 2; pass++) {
		for (uint32_t s = 0; s < r->f->nswitches; s++)
			r->group[s] = group_ports(to, s)[0] | (pass ? 0 : r->group[s]);
		spread(r, GROUP);
		assert_no_cycle(r);
	}
}

static void replay_plan(struct replay *r)
{
	const struct dl_transition_move *m = r->plan->moves;
	uint32_t at = 0, n = r->plan->nmoves;

	for (uint32_t i = 0; i < r->plan->nsteps; i++) {
		const struct dl_transition_step *step = &r->plan->steps[i];
		uint32_t first = at;

		while (at < n && m[at].step == i) {
			uint32_t end = at;

			while (end < n && m[end].step == i && m[end].barrier == m[at].barrier)
				end++;
			assert_true(m[at].barrier < step->barriers);
			replay_barrier(r, &m[at], end - at);
			at = end;
			if (r->barriers && !--r->barriers)
				return;
		}
		if (at == first && step->kind != DL_TRANSITION_WAIT)
			replay_groups(r, step->kind == DL_TRANSITION_CLOSE ? r->t->closed :
									     r->t->opened);
		if (i == 0)
			r->late = false;
		if (step->drain)
			drained(r);
	}
	assert_int_equal(at, n);
}

static void release_replay(struct replay *r)
{
	free(r->group);
	free(r->met);
	free(r->wait);
	free(r->colour);
	free(r->interrupted);
	free(r->stuck);
	dl_tables_free(r->now);
}

/* Nobody writes maps for a port without a cable: those that it had are there. */
static void keep_maps(struct replay *r, const struct replay *before,
		      const struct dl_fabric_match *now)
{
	for (uint32_t s = 0; s < before->f->nswitches; s++) {
		uint32_t s_now = dl_fabric_match_switch(now, s);
		const struct dl_fabric_node *n = dl_fabric_switch_node(before->f, s);
		uint32_t width = n->nports + 1u;

		for (uint32_t i = width; s_now != DL_NONE && i < width * width; i++) {
			uint16_t was = before->now->sl2vl[before->now->sl2vl_first[s] + i];
			int row = dl_tables_row(
				r->now, was == DL_TABLES_NO_ROW ? 0 : before->now->rows[was]);

			assert_true(row >= 0);
			if (!dl_fabric_in_use(r->f, dl_fabric_switch_node(r->f, s_now), i / width))
				r->now->sl2vl[r->now->sl2vl_first[s_now] + i] = row;
		}
	}
}

/* What is under way since a change before, and what waits for what, in the fabric of now. */
static void carry_over(struct replay *r, const struct replay *before)
{
	const struct dl_fabric *f = before->f;
	struct dl_fabric_match now;

	assert_int_equal(dl_fabric_match(f, r->f, &now), 0);
	keep_maps(r, before, &now);
	for (uint32_t c = 0; c < before->nch; c++) {
		uint32_t s = c / VLS / PORTS, port = c / VLS % PORTS, next, to, here;
		uint32_t s_now = dl_fabric_match_switch(&now, s);
		unsigned int in;

		next = next_switch(before, s, port);
		if (next == DL_NONE)
			continue;
		here = f->ports[dl_fabric_switch_node(f, s)->first_port + port].peer;
		in = f->ports[here].num;
		to = channel(s_now, port, c % VLS);
		if (s_now == DL_NONE || dl_fabric_match_recabled(&now, s, port))
			to = DL_NONE;
		for (uint32_t lid = 0; lid <= r->now->top_lid && lid <= before->now->top_lid; lid++)
			for (unsigned int sl = 0; sl < 16; sl++) {
				if (!before->met[(lid * (size_t)16 + sl) * before->nch + c])
					continue;
				if (to == DL_NONE)
					add_stuck(r, dl_fabric_match_switch(&now, next), in, lid,
						  sl);
				else
					r->met[(lid * (size_t)16 + sl) * r->nch + to] = true;
			}
		for (unsigned int out = 1; to != DL_NONE && out < PORTS; out++)
			if (!dl_fabric_match_recabled(&now, next, out))
				r->wait[to][out] |= before->wait[c][out];
	}
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (size_t i = 0; i < (before->now->top_lid + (size_t)1) * 16 * PORTS; i++)
			if (i / PORTS / 16 <= r->now->top_lid &&
			    before->stuck[(i / PORTS * f->nswitches + s) * PORTS + i % PORTS])
				add_stuck(r, dl_fabric_match_switch(&now, s), i % PORTS,
					  i / PORTS / 16, i / PORTS % 16);
	dl_fabric_match_release(&now);
}

static void begin_replay(struct replay *r, const struct dl_tables *from,
			 const struct replay *before)
{
	const struct dl_fabric *f = r->t->opened->fabric;
	size_t nlids = r->t->held->top_lid + (size_t)1;

	r->f = f;
	assert_int_equal(dl_transition_copy(r->t->held, r->t->opened, &r->now), 0);
	r->nch = f->nswitches * PORTS * VLS;
	r->group = calloc(f->nswitches, sizeof(*r->group));
	r->met = calloc(nlids * 16, r->nch);
	r->wait = calloc(r->nch, sizeof(*r->wait));
	r->colour = calloc(r->nch, 1);
	r->interrupted = calloc(f->nports * nlids, 1);
	r->stuck = calloc(nlids * 16, f->nswitches * PORTS);
	assert_true(r->group && r->met && r->wait && r->colour && r->interrupted && r->stuck);
	for (uint32_t s = 0; s < f->nswitches; s++)
		r->group[s] = group_ports(r->t->held, s)[0];
	drained(r);
	if (before)
		carry_over(r, before);
	add_orphans(r, from);
}

/* The plan's tables are left, and as many pairs were interrupted as it says. */
static void end_replay(const struct replay *r, struct waves_tally *tally)
{
	const struct dl_tables *opened = r->t->opened;
	size_t nlids = r->t->held->top_lid + (size_t)1;
	uint64_t pairs = 0;

	for (uint32_t s = 0; s < r->f->nswitches; s++)
		assert_memory_equal(r->now->lft + s * (size_t)r->now->stride,
				    opened->lft + s * (size_t)r->now->stride, nlids);
	for (size_t i = 0; i < r->f->nports * nlids; i++)
		pairs += r->interrupted[i];
	if (tally) {
		assert_int_equal(pairs, r->plan->pairs_interrupted);
		tally->interrupted += pairs != 0;
	}
}

static void check_plan(struct draw *d, const struct dl_transition *t, const struct dl_tables *from,
		       const struct dl_transition_waves *plan, bool any_sl,
		       struct waves_tally *tally)
{
	struct replay r = {
		.t = t, .plan = plan, .d = d, .any_sl = any_sl, .late = plan->grants_late
	};

	begin_replay(&r, from, NULL);
	replay_plan(&r);
	end_replay(&r, tally);
	release_replay(&r);
}

/* All at once, where that is said to be safe in any order; groups afterwards. */
static void check_direct(struct draw *d, const struct dl_transition *t,
			 const struct dl_tables *from, bool any_sl, struct waves_tally *tally)
{
	const struct dl_fabric *f = t->opened->fabric;
	struct dl_transition_step steps[2] = { { .barriers = 1 }, { .barriers = 1 } };
	struct dl_transition_waves all = { .steps = steps, .nsteps = 2, .entries_closed = 1 };
	struct dl_transition_result result;

	assert_int_equal(dl_transition_check_plan(t, DL_TRANSITION_ANY, NULL, &result), 0);
	all.moves = calloc(f->nswitches * (size_t)t->held->stride, sizeof(*all.moves));
	assert_non_null(all.moves);
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (uint32_t lid = 1; lid <= t->held->top_lid; lid++)
			if (dl_tables_lft(t->held, s, lid) != dl_tables_lft(t->opened, s, lid))
				all.moves[all.nmoves++] = (struct dl_transition_move){
					.sw = s,
					.lid = lid,
					.port = dl_tables_lft(t->opened, s, lid)
				};
	if (result.any_order && all.nmoves) {
		tally->direct++;
		check_plan(d, t, from, &all, any_sl, NULL);
	}
	free(all.moves);
	dl_verify_mixture_release(&result.found);
}

/* ---- changes ---------------------------------------------------------------- */

struct routing {
	struct dl_fabric *f;
	struct dl_torus *torus;
	struct dl_route_result r;
};

static void release_routing(struct routing *r)
{
	dl_route_result_release(&r->r);
	dl_torus_free(r->torus);
	dl_fabric_free(r->f);
}

/* Two hosts have been plugged in in each other's place: a LID stays with its host. */
static void swap_hosts(struct draw *d, struct dl_fabric *f)
{
	uint32_t a, b;
	uint16_t lid;

	do
		a = draw_below(d, f->nports);
	while (!dl_fabric_is_end_port(f, a) || !f->ports[a].num || !f->ports[a].lid);
	do
		b = draw_below(d, f->nports);
	while (!dl_fabric_is_end_port(f, b) || !f->ports[b].num || !f->ports[b].lid);
	lid = f->ports[a].lid;
	f->ports[a].lid = f->ports[b].lid;
	f->ports[b].lid = lid;
	f->lid_port[f->ports[a].lid] = a;
	f->lid_port[f->ports[b].lid] = b;
}

/* What some random failures leave of a fabric; false: it is not connected. */
static bool route_damaged(struct draw *d, const struct grid_fabric *g, const struct dl_fabric *f,
			  bool any_sl, struct routing *out)
{
	bool *dead = calloc(f->nnodes, 1), *cut = calloc(f->nports, 1);
	struct dl_route_options o;
	bool routed;

	assert_true(dead && cut);
	memset(out, 0, sizeof(*out));
	for (uint32_t n = draw_below(d, 4); n; n--)
		cut[draw_below(d, f->nports)] = true;
	if (draw_one_in(d, 3))
		dead[f->switches[draw_below(d, f->nswitches)]] = true;
	assert_int_equal(dl_fabric_degrade(f, dead, cut, &out->f), 0);
	if (draw_one_in(d, 3))
		swap_hosts(d, out->f);
	dl_route_options_init(&o);
	o.mode = any_sl ? DL_ROUTE_ANY_SL : DL_ROUTE_PROVEN;
	routed = dl_fabric_is_connected(out->f) == 1 &&
		 !dl_torus_discover(out->f, &g->config, NULL, &out->torus) &&
		 !dl_route(out->torus, &g->config, &o, NULL, &out->r) &&
		 !dl_route_tree_group_all(out->r.tree, out->r.tables);
	free(dead);
	free(cut);
	return routed;
}

static void check_change(struct draw *d, const struct dl_tables *from, const struct dl_tables *to,
			 bool any_sl, struct waves_tally *tally)
{
	struct dl_transition_waves plan;
	struct dl_transition t;
	uint64_t work;
	bool ample;

	assert_int_equal(dl_transition_plan(from, to, &t), 0);
	work = dl_transition_work(&t);
	dl_transition_spare(&t);
	ample = !draw_one_in(d, 4); /* what costs too much is closed */
	if (!ample)
		work = draw_below(d, 40000);
	assert_int_equal(dl_transition_waves(&t, work, &plan), 0);
	/* Or it goes in circles. */
	assert_true(!ample || plan.followed < work / 2);
	/* Where no order is found, what has no SL yet counts with all of them. */
	assert_true(plan.safe || plan.in_phases);
	tally->unsafe += !plan.safe;
	tally->plans++;
	tally->phases += plan.in_phases;
	tally->moves += plan.nmoves;
	if (!plan.in_phases) {
		check_plan(d, &t, from, &plan, any_sl, tally);
		check_direct(d, &t, from, any_sl, tally);
	}
	for (uint32_t i = 0; i < plan.nsteps; i++) {
		const struct dl_transition_step *s = &plan.steps[i];

		tally->drains += s->drain;
		tally->detours += s->kind == DL_TRANSITION_DETOUR;
		tally->closed += s->kind == DL_TRANSITION_CLOSE;
	}
	dl_transition_waves_release(&plan);
	dl_transition_release(&t);
}

/* Groups keep the ports of the trees before, as well: their packets are under way. */
static void add_trees(struct dl_tables *held, const struct dl_tables *before)
{
	struct dl_fabric_match old;

	assert_int_equal(dl_fabric_match(held->fabric, before->fabric, &old), 0);
	for (uint32_t s = 0; s < held->fabric->nswitches; s++) {
		uint32_t was = dl_fabric_match_switch(&old, s);

		for (unsigned int o = 0; o < PORTS; o++)
			if (was != DL_NONE && group_ports(before, was)[0] >> o & 1 &&
			    !dl_fabric_match_recabled(&old, s, o))
				assert_int_equal(dl_tables_mask_set(&held->groups[0].masks, s, o),
						 0);
	}
	dl_fabric_match_release(&old);
}

/* A change, and another one before the packets of the first have left. */
static void check_chain(struct draw *d, const struct dl_tables *a, const struct dl_tables *b,
			const struct dl_tables *c, bool any_sl, struct waves_tally *tally)
{
	struct dl_transition t[2];
	struct dl_transition_waves plan[2];
	struct dl_transition_history history = { 0 };
	struct replay r[2] = { { .d = d, .any_sl = any_sl }, { .d = d, .any_sl = any_sl } };
	struct dl_tables *groups;

	assert_int_equal(dl_transition_plan_after(
				 a, b, &(struct dl_transition_history){ .whole = true }, &t[0]),
			 0);
	assert_int_equal(dl_transition_copy(t[0].held, t[0].opened, &groups), 0);
	dl_transition_spare(&t[0]);
	assert_int_equal(dl_transition_waves(&t[0], dl_transition_work(&t[0]), &plan[0]), 0);
	if (!plan[0].in_phases && dl_transition_keeps_sls(a, b)) {
		r[0].t = &t[0];
		r[0].plan = &plan[0];
		r[0].late = plan[0].grants_late;
		r[0].history = &t[0].history;
		begin_replay(&r[0], a, NULL);
		replay_plan(&r[0]);
		dl_transition_history_take(&t[0], &history);
		assert_int_equal(dl_transition_plan_after(b, c, &history, &t[1]), 0);
		if (!plan[0].closes_groups)
			add_trees(t[1].held, groups);
		dl_transition_spare(&t[1]);
		assert_int_equal(dl_transition_waves(&t[1], dl_transition_work(&t[1]), &plan[1]),
				 0);
		tally->chains++;
		tally->earlier += t[1].history.nearlier;
		tally->chains_wait +=
			plan[1].in_phases ||
			(plan[1].nsteps && plan[1].steps[0].kind == DL_TRANSITION_WAIT);
		r[1].t = &t[1];
		r[1].plan = &plan[1];
		r[1].late = plan[1].grants_late;
		if (!plan[1].in_phases && t[1].history.whole) {
			begin_replay(&r[1], b, &r[0]);
			replay_plan(&r[1]);
			end_replay(&r[1], NULL);
			release_replay(&r[1]);
		}
		release_replay(&r[0]);
		dl_transition_waves_release(&plan[1]);
		dl_transition_release(&t[1]);
		dl_transition_history_release(&history);
	}
	dl_transition_waves_release(&plan[0]);
	dl_transition_release(&t[0]);
	dl_tables_free(groups);
}

/* What a plan that is given up has left, as the old fabric has it. */
static void keep_mixture(const struct replay *r, const struct dl_fabric *old,
			 struct dl_tables **out)
{
	struct dl_tables *now = r->now;

	for (uint32_t s = 0; s < r->f->nswitches; s++)
		for (uint32_t lid = 0; lid <= now->top_lid; lid++) {
			uint8_t *port = &now->lft[s * (size_t)now->stride + lid];
			const struct dl_fabric_node *n = dl_fabric_switch_node(r->f, s);

			if (*port <= n->nports && !dl_fabric_in_use(r->f, n, *port))
				*port = DL_TABLES_NO_PORT;
		}
	assert_int_equal(dl_tables_remap(now, old, out), 0);
}

static uint32_t count_barriers(const struct dl_transition_waves *plan)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->nmoves; i++)
		n += !i || plan->moves[i].step != plan->moves[i - 1].step ||
		     plan->moves[i].barrier != plan->moves[i - 1].barrier;
	return n;
}

/* A change that is given up in the middle as something else has failed, and the next one. */
static void check_stopped(struct draw *d, const struct dl_tables *a, const struct dl_tables *b,
			  const struct dl_tables *c, bool any_sl, struct waves_tally *tally)
{
	struct dl_transition t[2];
	struct dl_transition_waves plan[2];
	struct dl_transition_history history = { 0 };
	struct replay r[2] = { { .d = d, .any_sl = any_sl }, { .d = d, .any_sl = any_sl } };

	assert_int_equal(dl_transition_plan_after(
				 a, b, &(struct dl_transition_history){ .whole = true }, &t[0]),
			 0);
	dl_transition_spare(&t[0]);
	assert_int_equal(dl_transition_waves(&t[0], dl_transition_work(&t[0]), &plan[0]), 0);
	if (!plan[0].in_phases && !plan[0].closes_groups && plan[0].nmoves &&
	    dl_transition_keeps_sls(a, b)) {
		struct dl_tables from = *a, held = *t[0].held, *mixture;
		struct dl_fabric_match old;

		r[0].t = &t[0];
		r[0].plan = &plan[0];
		r[0].late = plan[0].grants_late;
		r[0].history = &t[0].history;
		r[0].barriers = 1 + draw_below(d, count_barriers(&plan[0]));
		begin_replay(&r[0], a, NULL);
		replay_plan(&r[0]);
		keep_mixture(&r[0], a->fabric, &mixture);
		from.lft = mixture->lft;
		held.lft = r[0].now->lft;
		assert_int_equal(dl_fabric_match(b->fabric, a->fabric, &old), 0);
		dl_transition_history_take_back(&t[0], &old, &history);
		assert_int_equal(dl_transition_plan_after(&from, c, &history, &t[1]), 0);
		dl_transition_spare(&t[1]);
		assert_int_equal(dl_transition_waves(&t[1], dl_transition_work(&t[1]), &plan[1]),
				 0);
		tally->stopped++;
		tally->stopped_wait +=
			plan[1].in_phases || !t[1].history.whole ||
			(plan[1].nsteps && plan[1].steps[0].kind == DL_TRANSITION_WAIT);
		r[1].t = &t[1];
		r[1].plan = &plan[1];
		r[1].late = plan[1].grants_late;
		if (!plan[1].in_phases && t[1].history.whole) {
			begin_replay(&r[1], &held, &r[0]);
			replay_plan(&r[1]);
			end_replay(&r[1], NULL);
			release_replay(&r[1]);
		}
		release_replay(&r[0]);
		dl_tables_free(mixture);
		dl_fabric_match_release(&old);
		dl_transition_waves_release(&plan[1]);
		dl_transition_release(&t[1]);
		dl_transition_history_release(&history);
	}
	dl_transition_waves_release(&plan[0]);
	dl_transition_release(&t[0]);
}

static void change_twice(struct draw *d, struct waves_tally *tally)
{
	struct grid_fabric g = { .hosts = 1, .parallel = 1 };
	struct routing a, b, c;
	bool any_sl = draw_one_in(d, 3), fails;

	g.grid.radix[0] = 3 + draw_below(d, 5);
	g.grid.radix[1] = 2 + draw_below(d, 4);
	g.grid.radix[2] = g.grid.radix[0] * g.grid.radix[1] < 16 ? 1 + draw_below(d, 3) : 1;
	grid_build(&g);
	grid_seed(&g, 0, true);
	if (route_damaged(d, &g, g.fabric, any_sl, &a)) {
		if (route_damaged(d, &g, g.fabric, any_sl, &b)) {
			check_change(d, a.r.tables, b.r.tables, any_sl, tally);
			check_change(d, b.r.tables, a.r.tables, any_sl, tally);
		}
		release_routing(&b);
		fails = draw_one_in(d, 2);
		if (route_damaged(d, &g, fails ? a.f : g.fabric, any_sl, &b)) {
			if (route_damaged(d, &g, fails ? b.f : g.fabric, any_sl, &c)) {
				check_chain(d, a.r.tables, b.r.tables, c.r.tables, any_sl, tally);
				if (fails)
					check_stopped(d, a.r.tables, b.r.tables, c.r.tables, any_sl,
						      tally);
			}
			release_routing(&c);
		}
		release_routing(&b);
	}
	release_routing(&a);
	grid_free(&g);
}

static void no_cycle_at_any_moment(void **state)
{
	const char *seed = getenv("DATELINE_SEED"), *rounds = getenv("DATELINE_ROUNDS");
	uint32_t n = rounds ? strtoul(rounds, NULL, 0) : share(ROUNDS);
	uint64_t *current = *state;
	struct waves_tally tally = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		struct draw d = { .seed = *current = (seed ? strtoull(seed, NULL, 0) : 1) + i };

		change_twice(&d, &tally);
	}
	print_message("%u plans, %u in phases, %u not safe; %u entries moved, %u drains, %u steps "
		      "of detours, "
		      "%u that close, %u plans interrupt pairs, %u at once; %u chains, %u of which "
		      "wait, %u earlier ports; %u given up, %u of which wait\n",
		      tally.plans, tally.phases, tally.unsafe, tally.moves, tally.drains,
		      tally.detours, tally.closed, tally.interrupted, tally.direct, tally.chains,
		      tally.chains_wait, tally.earlier, tally.stopped, tally.stopped_wait);
	assert_true(tally.plans > n / 2 && tally.phases < tally.plans / 2);
	assert_true(tally.unsafe <= tally.plans / 200);
	assert_true(n < ROUNDS || (tally.drains && tally.detours && tally.closed));
}

static int print_seed(void **state)
{
	const uint64_t *current = *state;

	print_message("last seed: %llu\n", (unsigned long long)*current);
	return 0;
}

int main(void)
{
	static uint64_t seed;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate_setup_teardown(no_cycle_at_any_moment, NULL, print_seed,
							 &seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
