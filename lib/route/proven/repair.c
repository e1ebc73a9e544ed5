/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Proven mode (rules A12): every connected fabric is routed, no path SL ever
 * changes, and no tables are handed out without proof.
 *
 * Problem.  On a damaged torus the plain rule (rules A4) leaves pairs without a
 * way (a ring cut in two), or its packets can wait for each other in a circle:
 * around failed switches it makes turns that dimension order never makes.  The
 * multicast tree can close such a circle even where unicast alone is safe.
 * Find tables and a tree that are safe together and differ from the rule's as
 * little as possible.
 *
 * Why there always are some.  Channels of a spanning tree do not depend on
 * each other in a circle, whatever their VLs: from the root outwards and back
 * a packet never turns round.  So routing every destination along the tree on
 * which multicast travels is safe on any connected fabric.  It is slow, and
 * the last resort.
 *
 * Method.  One graph holds the dependencies of all that is routed (deps).
 *
 * 1. All ways of the rule that are in dimension order go in at once.  They
 *    close no cycle: each ring is open or has a dateline, and a ring that is
 *    gone round the long way is broken.  Nor do the ways of odd switches to
 *    and from the torus, which are trees (torus/odd.c).
 * 2. Ways of the rule with other turns, switch by switch; one that would close
 *    a cycle is left out, and all behind it.
 * 3. The tree: that of rules A9 as far as it closes no cycle, the rest hung
 *    wherever it closes none (tree.c).
 * 4. Destination by destination, the switches left without a way get one
 *    (repair_dest.c).
 * 5. A destination for which that fails is begun from nothing, then laid along
 *    the tree.  If even that closes a cycle, all is begun anew with those
 *    destinations, and the tree, in the graph first: together they are safe,
 *    everything else is added only where it closes no cycle.
 * 6. After MAX_ROUNDS all destinations are laid along the tree.
 *
 * When the caller's time is over, no more is begun anew for the sake of better
 * ways: what failed is laid along the tree at once (hurry()).
 *
 * Then the tables are written and dl_verify() judges them, knowing nothing of
 * the above; with them groups of all end ports on the tree, which may do all
 * that any group on it may do.  If it objects, that is a defect of this code:
 * all is laid along the tree, and judged again.
 *
 * What is proven: the finished tables, for unicast at both QoS levels between
 * all end ports and multicast at SL 0 and 8 from every one of them.  What is
 * assumed: that end ports consume what they receive, that every packet uses
 * its path SL, and that the switches hold these tables.  While a subnet
 * manager rewrites them one by one, some hold old and some hold new ones; that
 * mixture is not proven: for that moment packets may circle, which ends when
 * the tables are complete, or wait for each other, which the switches' lifetime
 * limits end.  An engine cannot choose the order in which OpenSM writes the
 * switches.  What it can do is to change little: path SLs never change, nor do
 * SL-to-VL maps while the number of VLs does not, all entries that failures
 * leave good stay as they are, and repairs of one failure are looked for in
 * the same order when another one comes, so that most are found again.
 *
 * The loop of the 6x5 torus with (3,2) failed: (4,1) +y, (4,2) +y, (4,3) -x,
 * (3,3) +y, (3,4) +y, (3,0) +y, (3,1) +x, (4,1).  The early turn from (4,2) to
 * (4,3) and on to (3,3) is put in by step 2, the long way round the broken
 * ring x = 3 by step 1.  The hop from (3,1) to (4,1) is taken by multicast
 * only, when the tree of rules A9 hangs (3,3), (3,4) and (3,0) from (3,1): step
 * 3 hangs (3,4) there, refuses what would close the loop, and hangs it from a
 * switch beside the broken ring.  The forwarding tables remain the rule's.
 *
 * The result depends on the arguments alone.  Complexity: switches squared
 * times the SLs that meet on a hop (at most 16, some 3), plus the searches of
 * repair_graph.c; three bytes for each pair of switches besides the tables.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/base.h"
#include "route/proven/internal.h"

#define LATE_ATTEMPTS 1	  /* trees tried with all that the rule does */
#define EARLY_ATTEMPTS 16 /* ... with what is in dimension order only */
#define MAX_TREES 6	  /* trees with which all is begun anew */
#define MAX_URGENT 2	  /* rounds with urgent destinations, for each */
#define MAX_ROUNDS 24
#define HURRIED_ROUNDS 3 /* when the time is over */

struct repair {
	const struct dl_torus *torus;
	struct dl_repair_net net;
	struct dl_repair_cdg deps;
	struct dl_repair_flows flows;
	struct dl_repair mender;
	struct dl_repair_span span;
	bool early;	      /* the tree before the rule's other turns? */
	unsigned int trees;   /* trees given up */
	unsigned int hurries; /* rounds with this tree and urgent ones */
	bool have_span;	      /* is the tree settled? */
	bool can_rewind;      /* may the next round start from this one? */
	bool *along_tree;     /* by destination: settled as well */
	bool *urgent;	      /* by destination: failed with this tree */
	bool *failed;	      /* by destination: in this round */
	bool *open;	      /* by destination: not all ways are pure */
	struct dl_route_result *out;
	struct dl_route_report *report; /* of the result */
	double (*clock)(void);		/* or NULL */
	double deadline;
};

static double now(const struct repair *r)
{
	return r->clock ? r->clock() : 0;
}

/* Is the time for repairs over?  From then on it is. */
static bool is_late(struct repair *r)
{
	if (!r->report->timed_out && r->clock && r->clock() >= r->deadline)
		r->report->timed_out = true;
	return r->report->timed_out;
}

/* ---- the steps --------------------------------------------------------- */

/* What is settled from an earlier round; closes no cycle by itself. */
static int add_settled(struct repair *r)
{
	uint32_t to;
	int err;

	dl_repair_cdg_clear(&r->deps);
	dl_repair_flows_clear(&r->flows);
	if (!r->have_span)
		return 0;
	err = dl_repair_span_attach(&r->deps, &r->span);
	for (to = 0; !err && to < r->net.nsw; to++)
		if (r->along_tree[to])
			dl_repair_by_tree(&r->mender, &r->span, to);
	return err;
}

/*
 * Add the rule's ways of one fate to a destination.  Returns how many are
 * left out because they, or the ways they join, would close a cycle.
 */
static uint32_t add_rule(struct repair *r, uint32_t to,
			 enum dl_repair_state fate)
{
	struct dl_repair *m = &r->mender;
	const uint8_t *via = &r->flows.via[to * (size_t)r->net.nsw];
	uint32_t i, refused = 0;

	for (i = 0; i + 1 < r->net.nsw; i++) {
		uint32_t s = m->order[i], next;

		if (m->fates[s] != fate)
			continue;
		next = r->net.hops[r->net.first[s] + m->rule[s]].to;
		if ((next != to && via[next] == DL_REPAIR_NO_LINK) ||
		    !dl_repair_flow_add(&r->flows, to, s, m->rule[s],
					m->sls[s]))
			refused++;
	}
	return refused;
}

static void look_at(struct repair *r, uint32_t to)
{
	struct dl_repair *m = &r->mender;

	dl_repair_flows_dor(&r->flows, to, m->rule);
	dl_repair_flows_sls(&r->flows, to, m->sls);
	dl_repair_flows_states(&r->flows, to, m->rule, m->fates, m->order);
}

/* Step 1. */
static uint32_t add_pure(struct repair *r)
{
	const struct dl_repair *m = &r->mender;
	uint32_t to, s, total = 0, lost = 0;

	for (to = 0; to < r->net.nsw; to++) {
		if (r->along_tree[to])
			continue;
		look_at(r, to);
		r->open[to] = r->deps.ordered;
		for (s = 0; s < r->net.nsw; s++) {
			lost += m->fates[s] == DL_REPAIR_UNREACHABLE;
			r->open[to] |= m->fates[s] != DL_REPAIR_CONFORMANT;
		}
		if (r->deps.ordered)
			total += add_rule(r, to, DL_REPAIR_CONFORMANT);
		else
			dl_repair_flow_add_conformant(&r->flows, to, m->rule,
						      m->sls, m->fates,
						      m->order);
	}
	if (r->report->rounds == 1)
		r->report->lost = lost;
	return total;
}

/* Step 2, for the urgent destinations or all others. */
static uint32_t add_turns(struct repair *r, bool urgent)
{
	uint32_t to, refused = 0;

	for (to = 0; to < r->net.nsw; to++) {
		if (r->along_tree[to] || !r->open[to] ||
		    r->urgent[to] != urgent)
			continue;
		look_at(r, to);
		refused += add_rule(r, to, DL_REPAIR_ILLEGAL_TURN);
	}
	return refused;
}

/*
 * Step 3.  -EAGAIN: not yet.  Then the tree is to go in earlier, or settled:
 * before everything else.
 */
static int add_tree(struct repair *r, unsigned int attempts)
{
	unsigned int attempt;
	int err = -EAGAIN;

	for (attempt = r->trees; err == -EAGAIN && attempt < attempts;
	     attempt++) {
		err = dl_repair_span_try(&r->deps, attempt, &r->span,
					 &r->report->moved);
		r->report->attempts++;
	}
	if (err != -EAGAIN)
		return err;
	if (!r->early) {
		r->early = true;
		return -EAGAIN;
	}
	err = dl_repair_span_any(&r->net, &r->span);
	r->have_span = true;
	r->can_rewind = false;
	return err ? err : -EAGAIN;
}

/* Has every switch a way? */
static bool complete(const struct repair *r, uint32_t to)
{
	const uint8_t *via = &r->flows.via[to * (size_t)r->net.nsw];

	return !memchr(via, DL_REPAIR_NO_LINK, to) &&
	       !memchr(via + to + 1, DL_REPAIR_NO_LINK, r->net.nsw - to - 1);
}

/* Add what is missing; else begin the destination anew. */
static bool mend_one(struct repair *r, uint32_t to)
{
	if (!dl_repair_destination(&r->mender, to))
		return true;
	dl_repair_flows_remove(&r->flows, to);
	return !dl_repair_destination(&r->mender, to);
}

/* Steps 4 and 5, likewise.  Returns how many destinations fail. */
static uint32_t mend_all(struct repair *r, bool urgent)
{
	uint32_t to, failed = 0;

	for (to = 0; to < r->net.nsw; to++) {
		if (r->along_tree[to] || !r->open[to] ||
		    r->urgent[to] != urgent)
			continue;
		if (complete(r, to))
			continue;
		if (mend_one(r, to))
			continue;
		dl_repair_flows_remove(&r->flows, to);
		r->failed[to] = true;
		failed++;
	}
	return failed;
}

/*
 * Some destinations failed: let them go first with the same tree; then begin
 * with another tree; in the end settle them, along the tree.
 */
static void prepare_next(struct repair *r)
{
	uint32_t to;

	if (r->hurries < MAX_URGENT) {
		r->hurries++;
		for (to = 0; to < r->net.nsw; to++)
			r->urgent[to] |= r->failed[to];
		return;
	}
	memset(r->urgent, 0, r->net.nsw * sizeof(*r->urgent));
	r->can_rewind = false;
	if (r->trees < MAX_TREES) {
		r->trees++;
		r->hurries = 0;
		r->early = true;
		r->have_span = false;
		return;
	}
	for (to = 0; to < r->net.nsw; to++)
		r->along_tree[to] |= r->failed[to];
}

static uint32_t count(const struct repair *r, const bool *which)
{
	uint32_t to, n = 0;

	for (to = 0; to < r->net.nsw; to++)
		n += which[to];
	return n;
}

/* Back to where step 1 ended, with the tree as it is. */
static void rewind_round(struct repair *r)
{
	const struct dl_repair *m = &r->mender;
	uint32_t to;

	for (to = 0; to < r->net.nsw; to++) {
		if (r->along_tree[to] || !r->open[to])
			continue;
		look_at(r, to);
		dl_repair_flows_remove(&r->flows, to);
		dl_repair_flow_add_conformant(&r->flows, to, m->rule, m->sls,
					      m->fates, m->order);
	}
}

/* Expect a tree like the one that step 3 tries first. */
static int find_order(struct repair *r)
{
	int err;

	if (r->have_span)
		return dl_repair_cdg_order(&r->deps) ? 0 : -EAGAIN;
	err = dl_repair_span_any(&r->net, &r->span);
	return err ? err : dl_repair_span_order(&r->deps, &r->span);
}

/* What must be there before all else, and step 1. */
static int begin_round(struct repair *r, uint32_t *refused)
{
	int err;

	*refused = 0;
	if (r->can_rewind) {
		rewind_round(r);
		return 0;
	}
	err = add_settled(r);
	if (err)
		return err;
	*refused = add_pure(r);
	err = find_order(r);
	r->can_rewind = !err;
	if (err != -EAGAIN)
		return err;
	/* Once more, looking at every step. */
	err = add_settled(r);
	if (err)
		return err;
	dl_repair_cdg_order(&r->deps);
	*refused = add_pure(r);
	return 0;
}

/* One round: 0, -EAGAIN (more is settled for the next one), -ENOMEM. */
static int try_round(struct repair *r)
{
	uint32_t refused, failed;
	int err;

	r->report->tree_routed = count(r, r->along_tree);
	memset(r->failed, 0, r->net.nsw * sizeof(*r->failed));
	err = begin_round(r, &refused);
	if (!err && r->early && !r->have_span)
		err = add_tree(r, EARLY_ATTEMPTS);
	if (err)
		return err;
	refused += add_turns(r, true);
	failed = mend_all(r, true);
	refused += add_turns(r, false);
	if (r->report->rounds == 1)
		r->report->cyclic = refused;
	if (!r->early && !r->have_span)
		err = add_tree(r, LATE_ATTEMPTS);
	if (err)
		return err;
	r->have_span = true;
	failed += mend_all(r, false);
	if (!failed)
		return 0;
	if (!r->report->timed_out)
		prepare_next(r);
	return -EAGAIN;
}

static bool all_failed(const struct repair *r)
{
	return count(r, r->failed) + count(r, r->along_tree) == r->net.nsw;
}

/*
 * The time is over: what failed goes along the tree, together with it before
 * everything else; what then no longer fits, too.
 */
static int hurry(struct repair *r)
{
	int err = -EAGAIN;
	uint32_t to, round;

	memset(r->urgent, 0, r->net.nsw * sizeof(*r->urgent));
	for (round = 0; err == -EAGAIN && round < HURRIED_ROUNDS; round++) {
		if (all_failed(r))
			break;
		for (to = 0; to < r->net.nsw; to++)
			r->along_tree[to] |= r->failed[to];
		r->can_rewind = false;
		r->report->rounds++;
		err = try_round(r);
	}
	return err;
}

/* Step 6: everything along any spanning tree. */
static int lay_along_tree(struct repair *r)
{
	uint32_t to;

	for (to = 0; to < r->net.nsw; to++)
		r->along_tree[to] = r->open[to] = true;
	r->report->tree_routed = r->net.nsw;
	if (!r->have_span) {
		int err = dl_repair_span_any(&r->net, &r->span);

		if (err)
			return err;
		r->have_span = true;
	}
	return add_settled(r);
}

/* Does the rule meet no failure at all?  Odd switches do not disturb it. */
static bool is_whole(const struct dl_torus *t)
{
	unsigned int dir;
	uint32_t site;

	if (t->nplaced < t->nsites ||
	    dl_torus_count_off_torus(t, DL_TORUS_DISCONNECTED))
		return false;
	for (site = 0; site < t->nsites; site++)
		for (dir = 0; dir < DL_TORUS_DIRS; dir++)
			if (dl_torus_site_next(&t->grid, site, dir) !=
				    DL_NONE &&
			    !dl_route_hop_alive(t, site, dir))
				return false;
	return true;
}

static int search(struct repair *r)
{
	int err = -EAGAIN;

	/* A tree that suits the rule is worth its time in any case. */
	while (err == -EAGAIN && r->report->rounds < MAX_ROUNDS &&
	       !(r->have_span && is_late(r))) {
		r->report->rounds++;
		err = try_round(r);
	}
	if (err == -EAGAIN && r->report->timed_out)
		err = hurry(r);
	return err == -EAGAIN ? lay_along_tree(r) : err;
}

/* ---- the whole --------------------------------------------------------- */

static int repair_init(struct repair *r, const struct dl_route_rings *rings,
		       unsigned int vls_between)
{
	int err = dl_repair_net_init(&r->net, r->torus, vls_between);

	if (!err)
		err = dl_repair_cdg_init(&r->deps, &r->net);
	if (!err)
		err = dl_repair_flows_init(&r->flows, &r->net, rings, &r->deps);
	if (!err)
		err = dl_repair_init(&r->mender, &r->flows);
	if (!err)
		err = dl_repair_span_init(&r->span, r->net.nsw);
	if (err)
		return err;
	r->along_tree = calloc(r->net.nsw + 1, sizeof(*r->along_tree));
	r->urgent = calloc(r->net.nsw + 1, sizeof(*r->urgent));
	r->open = calloc(r->net.nsw + 1, sizeof(*r->open));
	r->failed = calloc(r->net.nsw + 1, sizeof(*r->failed));
	return r->along_tree && r->urgent && r->failed && r->open ? 0 : -ENOMEM;
}

static void repair_release(struct repair *r)
{
	dl_repair_net_release(&r->net);
	dl_repair_cdg_release(&r->deps);
	dl_repair_flows_release(&r->flows);
	dl_repair_release(&r->mender);
	dl_repair_span_release(&r->span);
	free(r->along_tree);
	free(r->urgent);
	free(r->failed);
	free(r->open);
}

/* Is there a way between all end ports?  Names one that has none. */
static int check_connected(struct repair *r, const struct dl_log *log)
{
	const struct dl_fabric *f = r->torus->fabric;
	uint32_t p, s;
	int err = dl_repair_span_any(&r->net, &r->span);

	if (err)
		return err;
	memset(r->open, 0, r->net.nsw * sizeof(*r->open));
	for (s = 0; s < r->span.norder; s++)
		r->open[r->span.order[s]] = true;
	for (p = 0; p < f->nports; p++) {
		const struct dl_fabric_node *n = &f->nodes[f->ports[p].node];

		if (!f->ports[p].lid || !dl_fabric_is_end_port(f, p))
			continue;
		s = dl_fabric_access_switch(f, p);
		if (s != DL_NONE && r->open[s])
			continue;
		dl_log(log, DL_LOG_ERROR,
		       "the fabric is not connected: there is no way from "
		       "switch 0x%016" PRIx64 " to 0x%016" PRIx64 " \"%s\"",
		       f->nodes[f->switches[r->span.root]].guid, n->guid,
		       dl_fabric_node_name(f, f->ports[p].node));
		r->out->refusal = DL_ROUTE_NOT_CONNECTED;
		return -ENOTSUP;
	}
	return 0;
}

static void say(const struct repair *r, const struct dl_log *log)
{
	const struct dl_route_report *p = r->report;
	char text[DL_ROUTE_REPORT_TEXT];

	if (p->timed_out)
		dl_log(log, DL_LOG_WARNING,
		       "proven: the time for repairs was over "
		       "before all was done; the rest goes along the multicast "
		       "tree, safe but slow");
	dl_route_report_text(p, text, sizeof(text));
	dl_log(log, DL_LOG_INFO, "%s", text);
}

/* Verify what stands in the result; -EPROTO: it is not safe. */
static int verify(struct repair *r, const struct dl_log *log)
{
	struct dl_route_result *out = r->out;
	double start = now(r);
	int err;

	dl_verify_result_free(out->verification);
	out->verification = NULL;
	err = dl_route_verify(out->tables, out->tree, &out->verification);
	r->report->verify_seconds += now(r) - start;
	if (err)
		return err;
	r->report->pairs = out->verification->pairs;
	return dl_repair_is_safe(out->verification, log) ? 0 : -EPROTO;
}

/* Finish what the search has found. */
static int finish(struct repair *r, const struct dl_log *log)
{
	int err;

	r->report->changed = r->report->rerouted = 0;
	r->report->entries = r->report->entries_changed = 0;
	r->report->entries_filled = 0;
	err = dl_repair_write(&r->flows, r->open, r->along_tree, r->out->tables,
			      r->report, log);
	if (!err)
		err = dl_repair_tree(&r->net, &r->span, &r->out->tree);
	return err ? err : verify(r, log);
}

/* A torus without failures: DOR's tables and tree, if they are safe. */
static int try_unchanged(struct repair *r)
{
	const struct dl_fabric *f = r->torus->fabric;
	int err = dl_route_partial_tree(r->torus, DL_NONE, &r->out->tree);

	if (!err && !dl_route_tree_complete(r->torus, r->out->tree, NULL))
		err = -EPROTO;
	if (!err)
		err = verify(r, NULL);
	if (!err)
		r->report->entries = (uint64_t)f->nswitches * f->top_lid;
	return err;
}

/* Start from DOR's tables again. */
static int begin_tables(struct repair *r, const struct dl_torus_config *c,
			const struct dl_route_options *o,
			const struct dl_route_rings *rings)
{
	dl_tables_free(r->out->tables);
	dl_route_tree_free(r->out->tree);
	r->out->tables = NULL;
	r->out->tree = NULL;
	return dl_route_dor_tables(r->torus, c, o, rings, &r->out->tables);
}

int dl_route_proven(const struct dl_torus *t, const struct dl_torus_config *c,
		    const struct dl_route_options *o, const struct dl_log *log,
		    struct dl_route_result *out)
{
	struct repair r = { .torus = t,
			    .out = out,
			    .report = &out->report,
			    .clock = o->clock };
	struct dl_route_rings *rings;
	double start;
	int err = dl_route_rings_new(t, &rings);

	if (err)
		return err;
	if (r.clock)
		r.deadline = r.clock() + o->repair_seconds;
	err = begin_tables(&r, c, o, rings);
	if (err)
		goto out;
	if (is_whole(t)) {
		err = try_unchanged(&r);
		if (err != -EPROTO)
			goto out;
		err = begin_tables(&r, c, o, rings);
		if (err)
			goto out;
	}
	start = now(&r);
	err = repair_init(&r, rings, dl_route_vls_of(t).between);
	if (!err)
		err = check_connected(&r, log);
	if (!err)
		err = search(&r);
	out->report.search_seconds = now(&r) - start;
	if (!err)
		err = finish(&r, log);
	if (err == -EPROTO) {
		/* A defect of the search: the last resort. */
		r.have_span = false;
		err = begin_tables(&r, c, o, rings);
		if (!err)
			err = lay_along_tree(&r);
		if (!err)
			err = finish(&r, log);
	}
	repair_release(&r);
out:
	if (!err)
		say(&r, log);
	if (err == -EPROTO)
		out->refusal = DL_ROUTE_UNSAFE;
	dl_route_rings_free(rings);
	return err;
}
