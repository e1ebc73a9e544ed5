/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Proven mode (rules A12): every connected fabric is routed, no path SL ever
 * changes, and no tables are handed out unverified.
 *
 * Problem.  On a damaged torus DOR (rules A4) leaves pairs without a path (a
 * ring cut in two), or its packets can wait for each other in a circle: around
 * failed switches it makes turns that dimension order never makes.  The
 * multicast tree can close such a circle even where unicast alone is safe.
 * Find tables and a tree that are safe together and differ from DOR as little
 * as possible.
 *
 * Why there always are some.  Channels of a spanning tree do not depend on
 * each other in a circle, whatever their VLs: from the root outwards and back
 * a packet never turns round.  The same holds of all links, if packets go to
 * switches that the tree lists earlier first, and to later ones then (up*, down*).
 * So routing every destination in this way, and multicast along the tree, is
 * safe on any connected fabric.  It is slow, and the last resort.
 *
 * Method.  One channel dependency graph (CDG) holds all that is routed.
 *
 * 1. All paths of DOR that are in dimension order go in at once.  They close
 *    no cycle: each ring is open or has a dateline, and a ring that is gone
 *    round the long way is broken.  Nor do the paths of off-torus switches to
 *    and from the torus, which are trees (torus/off_torus.c).
 * 2. Paths of DOR with other turns, switch by switch; one that would close a
 *    cycle is left out, and all behind it.
 * 3. The tree: that of rules A9 as far as it closes no cycle, the rest attached
 *    wherever it closes none (multicast.c).
 * 4. Destination by destination, the switches left without a path get one
 *    (reroute.c).
 * 5. A destination for which that fails is begun from nothing, then routed
 *    along the tree.  If even that closes a cycle, the search starts over with
 *    those destinations, and the tree, in the CDG first: together they are
 *    safe, everything else is added only where it closes no cycle.
 * 6. After MAX_ROUNDS all destinations are routed up and down the tree's order.
 *
 * When the caller's time is over, nothing starts over for the sake of better
 * paths: what failed is routed along the tree at once (finish_in_time()).  When a
 * quarter of that time and a second more has passed, step 6 ends it.  A trial
 * (weigh.c) goes by effort in place of the clock, and is of no use when it is late:
 * what is chosen depends on the fabric alone.
 *
 * Then the tables are written and dl_verify() checks them, knowing nothing of
 * the above; with them groups of all end ports on the tree, which may do all
 * that any group on it may do.  If it objects, that is a defect of this code:
 * everything is routed along the tree, and verified again.
 *
 * What is verified: the finished tables, for unicast at both QoS levels between
 * all end ports and multicast at SL 0 and 8 from every one of them.  What is
 * assumed: that end ports consume what they receive, that every packet uses
 * its path SL, and that the switches hold these tables or a part of them.
 *
 * How the switches come from earlier tables to these is no part of this search
 * (rules A14, lib/transition/plan.c), but it helps to change little.  Path SLs
 * never change, nor do SL-to-VL maps while the number of VLs does not, all entries
 * that failures leave good stay as they are, and repairs of one failure are
 * looked for in the same order when another one comes, so that most are found
 * again.
 *
 * The loop of the 6x5 torus with (3,2) failed: (4,1) +y, (4,2) +y, (4,3) -x,
 * (3,3) +y, (3,4) +y, (3,0) +y, (3,1) +x, (4,1).  The early turn from (4,2) to
 * (4,3) and on to (3,3) is put in by step 2, the long way round the broken
 * ring x = 3 by step 1.  The link from (3,1) to (4,1) is taken by multicast
 * only, when the tree of rules A9 attaches (3,3), (3,4) and (3,0) to (3,1):
 * step 3 attaches (3,4) there, refuses what would close the loop, and attaches
 * it to a switch beside the broken ring.  The forwarding tables remain DOR's.
 *
 * The result depends on the arguments alone.  Memory: three bytes for each switch
 * and each destination under repair, besides the tables.  Complexity:
 * switches squared times the SLs that meet on a link (at most 16, some 3), plus
 * the searches of cdg.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "route/proven/internal.h"

#define LATE_ATTEMPTS 1	  /* trees tried with all that DOR does */
#define EARLY_ATTEMPTS 16 /* ... with what is in dimension order only */
#define MAX_TREES 6	  /* trees with which the search starts over */
#define MAX_PRIORITISED 2 /* rounds with prioritised destinations, for each */
#define MAX_ROUNDS 24
#define TIMED_OUT_ROUNDS 3 /* when the time is over */

/* Effort, in neighbours looked at in the CDG: 20 to 35 million a second, by measurement. */
#define SECOND_EFFORT 20000000
#define LOOK_EFFORT 2 /* of a destination, for each switch */

struct repair {
	struct dl_route_pass *pass;
	struct dl_repair_net net;
	struct dl_repair_cdg cdg;
	struct dl_repair_paths paths;
	struct dl_repair_rerouter rerouter;
	struct dl_repair_tree tree;
	bool early;			/* the tree before DOR's illegal turns? */
	unsigned int trees;		/* trees given up */
	unsigned int rounds;		/* with this tree and prioritised destinations */
	bool have_tree;			/* is the tree pinned? */
	bool can_rewind;		/* may the next round start from this one? */
	bool *tree_routed;		/* by target: pinned to the tree */
	bool *prioritised;		/* by target: failed with this tree */
	bool *failed;			/* by target: in this round */
	bool *open;			/* by target: not all paths conform to DOR */
	struct dl_route_report *report; /* of the result */
	double (*clock)(void);		/* or NULL */
	double deadline, end;
	uint64_t looked; /* destinations looked at so far */
	uint64_t budget; /* of a trial: so much effort, instead of time */
	bool counted;	 /* are the pairs that DOR loses? */
	bool over;	 /* has the end come? */
};

static double repair_now(const struct repair *r)
{
	return r->clock ? r->clock() : 0;
}

/* What has been done: the same on any machine. */
static uint64_t repair_effort(const struct repair *r)
{
	return r->cdg.order.effort + LOOK_EFFORT * r->looked * r->net.nsw;
}

static bool repair_has_passed(const struct repair *r, double time)
{
	return r->pass->trial ? repair_effort(r) >= r->budget : r->clock && r->clock() >= time;
}

/* Is the time for repairs over?  From then on it is. */
static bool is_late(struct repair *r)
{
	r->report->timed_out = r->report->timed_out || repair_has_passed(r, r->deadline);
	return r->report->timed_out;
}

/*
 * Must the search end, whatever it has found?  Asked for each destination that is looked at.
 * Not before pairs without a path are counted.
 */
static bool is_over(struct repair *r)
{
	r->looked++;
	r->over |= r->counted && repair_has_passed(r, r->end);
	r->report->timed_out |= r->over;
	return r->over;
}

static uint32_t repair_count(const struct repair *r, const bool *which)
{
	uint32_t to, n = 0;

	for (to = 0; to < r->net.ntargets; to++)
		n += which[to];
	return n;
}

static void add_to(const struct repair *r, bool *set, const bool *more)
{
	uint32_t to;

	for (to = 0; to < r->net.ntargets; to++)
		set[to] |= more[to];
}

/* ---- the steps --------------------------------------------------------- */

/* What is pinned from an earlier round; closes no cycle by itself. */
static int add_pinned(struct repair *r)
{
	uint32_t to;

	dl_repair_cdg_clear(&r->cdg);
	if (!r->have_tree)
		return 0;
	if (!dl_repair_tree_add(&r->tree))
		return -EAGAIN;
	for (to = 0; to < r->net.ntargets; to++) {
		if (!r->tree_routed[to] || is_over(r))
			continue;
		dl_repair_paths_begin(&r->paths, to);
		dl_repair_reroute_by_tree(&r->rerouter, &r->tree, to);
	}
	return 0;
}

/*
 * Add DOR's paths of one state to a destination.  Returns how many are left
 * out because they, or the paths they join, would close a cycle.
 */
static uint32_t add_dor(struct repair *r, uint32_t to, enum dl_repair_state state)
{
	const struct dl_repair_dor *d = &r->rerouter.dor;
	uint32_t i, refused = 0;

	for (i = 0; i + 1 < r->net.nsw; i++) {
		uint32_t s = d->order[i], link = r->net.first[s] + d->next[s];

		if (d->states[s] == state &&
		    (!dl_repair_has_path(&r->paths, to, r->net.links[link].to) ||
		     !dl_repair_paths_add(&r->paths, to, link, d->sls[s])))
			refused++;
	}
	return refused;
}

/* Step 1. */
static uint32_t add_conformant(struct repair *r)
{
	struct dl_repair_dor *d = &r->rerouter.dor;
	uint32_t to, s, refused = 0, lost = 0;

	for (to = 0; to < r->net.ntargets; to++) {
		if (r->tree_routed[to] || is_over(r))
			continue;
		dl_repair_dor_follow(&r->paths, to, d);
		r->open[to] = r->cdg.ordered;
		for (s = 0; s < r->net.nsw; s++) {
			/* Counted for one target of each switch. */
			lost += to == d->to && d->states[s] == DL_REPAIR_UNREACHABLE;
			r->open[to] |= d->states[s] != DL_REPAIR_CONFORMANT;
		}
		if (!r->cdg.ordered) {
			dl_repair_paths_add_conformant(&r->paths, d, r->open[to]);
			continue;
		}
		dl_repair_paths_begin(&r->paths, to);
		refused += add_dor(r, to, DL_REPAIR_CONFORMANT);
	}
	if (!r->counted)
		r->report->lost = lost;
	r->counted = true;
	return refused;
}

/* Is this destination to be repaired now? */
static bool is_due(const struct repair *r, uint32_t to, bool prioritised)
{
	return !r->tree_routed[to] && r->open[to] && r->prioritised[to] == prioritised;
}

/* Step 2, for the prioritised destinations or all others. */
static uint32_t add_turns(struct repair *r, bool prioritised)
{
	uint32_t to, refused = 0;

	for (to = 0; to < r->net.ntargets; to++) {
		if (!is_due(r, to, prioritised) || is_over(r))
			continue;
		dl_repair_dor_follow(&r->paths, to, &r->rerouter.dor);
		refused += add_dor(r, to, DL_REPAIR_ILLEGAL_TURN);
	}
	return refused;
}

/*
 * Step 3.  -EAGAIN: not yet.  Then the tree is to go in earlier, or pinned:
 * before everything else.
 */
static int add_tree(struct repair *r, unsigned int attempts)
{
	unsigned int attempt;
	int err = -EAGAIN;

	for (attempt = r->trees; err == -EAGAIN && attempt < attempts; attempt++) {
		err = dl_repair_tree_try(&r->tree, attempt, &r->report->moved);
		r->report->attempts++;
	}
	if (err != -EAGAIN)
		return err;
	if (!r->early) {
		r->early = true;
		return -EAGAIN;
	}
	err = dl_repair_tree_any(&r->tree);
	r->have_tree = true;
	r->can_rewind = false;
	return err ? err : -EAGAIN;
}

/* Has every switch a path? */
static bool repair_complete(const struct repair *r, uint32_t to)
{
	const uint8_t *next = &r->paths.next[to * (size_t)r->net.nsw];
	uint32_t sw = r->net.target_sw[to];

	return !memchr(next, DL_REPAIR_NO_LINK, sw) &&
	       !memchr(next + sw + 1, DL_REPAIR_NO_LINK, r->net.nsw - sw - 1);
}

/* Add what is missing; else start the destination over. */
static bool repair_reroute(struct repair *r, uint32_t to)
{
	if (repair_complete(r, to) || !dl_repair_reroute(&r->rerouter, to))
		return true;
	dl_repair_paths_remove(&r->paths, to);
	if (!dl_repair_reroute(&r->rerouter, to))
		return true;
	dl_repair_paths_remove(&r->paths, to);
	return false;
}

/* Steps 4 and 5, likewise.  Returns how many destinations fail. */
static uint32_t reroute_all(struct repair *r, bool prioritised)
{
	uint32_t to, failed = 0;

	for (to = 0; to < r->net.ntargets; to++) {
		dl_progress(r->pass->log, "repairing", " destinations", to, r->net.ntargets);
		if (!is_due(r, to, prioritised) || is_over(r) || repair_reroute(r, to))
			continue;
		r->failed[to] = true;
		failed++;
	}
	dl_progress(r->pass->log, "repairing", " destinations", 1, 1);
	return failed;
}

/*
 * Some destinations failed: let them go first with the same tree; then begin
 * with another tree; in the end pin them to the tree.
 */
static void prepare_next(struct repair *r)
{
	if (r->rounds < MAX_PRIORITISED) {
		r->rounds++;
		add_to(r, r->prioritised, r->failed);
		return;
	}
	memset(r->prioritised, 0, r->net.ntargets * sizeof(*r->prioritised));
	r->can_rewind = false;
	if (r->trees < MAX_TREES) {
		r->trees++;
		r->rounds = 0;
		r->early = true;
		r->have_tree = false;
		return;
	}
	add_to(r, r->tree_routed, r->failed);
}

/* Back to where step 1 ended, with the tree as it is. */
static void rewind_round(struct repair *r)
{
	uint32_t to;

	for (to = 0; to < r->net.ntargets; to++) {
		if (r->tree_routed[to] || !r->open[to])
			continue;
		dl_repair_dor_follow(&r->paths, to, &r->rerouter.dor);
		dl_repair_paths_remove(&r->paths, to);
		dl_repair_paths_add_conformant(&r->paths, &r->rerouter.dor, true);
	}
}

/* Expect a tree like the one that step 3 tries first. */
static int find_order(struct repair *r)
{
	int err = 0;

	if (r->have_tree)
		return dl_repair_cdg_order(&r->cdg) ? 0 : -EAGAIN;
	err = dl_repair_tree_any(&r->tree);
	if (!err && !dl_repair_tree_order(&r->tree))
		err = -EAGAIN;
	return err;
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
	err = add_pinned(r);
	if (err)
		return err;
	*refused = add_conformant(r);
	err = find_order(r);
	r->can_rewind = !err;
	if (err != -EAGAIN)
		return err;
	/* Once more, looking at every step. */
	err = add_pinned(r);
	if (err)
		return err;
	dl_repair_cdg_order(&r->cdg);
	*refused = add_conformant(r);
	return 0;
}

/* One round: 0, -EAGAIN (more is pinned for the next one), -ENOMEM. */
static int try_round(struct repair *r)
{
	uint32_t refused, failed;
	int err;

	r->report->rounds++;
	r->report->tree_routed = repair_count(r, r->tree_routed);
	memset(r->failed, 0, r->net.ntargets * sizeof(*r->failed));
	err = begin_round(r, &refused);
	if (!err && r->early && !r->have_tree)
		err = add_tree(r, EARLY_ATTEMPTS);
	if (err)
		return err;
	refused += add_turns(r, true);
	failed = reroute_all(r, true);
	refused += add_turns(r, false);
	if (r->report->rounds == 1)
		r->report->cyclic = refused;
	if (!r->early && !r->have_tree)
		err = add_tree(r, LATE_ATTEMPTS);
	if (err)
		return err;
	r->have_tree = true;
	failed += reroute_all(r, false);
	if (r->over)
		return -ETIME;
	if (!failed)
		return 0;
	if (!r->report->timed_out)
		prepare_next(r);
	return -EAGAIN;
}

/*
 * The time is over: what failed is routed along the tree, together with it
 * before everything else; what then no longer fits, too.
 */
static int finish_in_time(struct repair *r)
{
	unsigned int round;
	int err = -EAGAIN;

	memset(r->prioritised, 0, r->net.ntargets * sizeof(*r->prioritised));
	for (round = 0; err == -EAGAIN && round < TIMED_OUT_ROUNDS; round++) {
		if (repair_count(r, r->failed) + repair_count(r, r->tree_routed) == r->net.ntargets)
			break;
		add_to(r, r->tree_routed, r->failed);
		r->can_rewind = false;
		err = try_round(r);
	}
	return err;
}

/* Step 6: everything by any spanning tree.  Nothing is added to the CDG. */
static int route_up_down(struct repair *r)
{
	int err = dl_repair_tree_any(&r->tree);

	memset(r->tree_routed, true, r->net.ntargets * sizeof(*r->tree_routed));
	memset(r->open, true, r->net.ntargets * sizeof(*r->open));
	r->report->tree_routed = r->net.ntargets;
	for (uint32_t to = 0; !err && to < r->net.ntargets; to++)
		dl_repair_up_down(&r->rerouter, &r->tree, to);
	return err;
}

static int repair_search(struct repair *r)
{
	int err = -EAGAIN;

	/* A tree that suits DOR is worth its time in any case. */
	while (err == -EAGAIN && r->report->rounds < MAX_ROUNDS && !(r->have_tree && is_late(r)))
		err = try_round(r);
	if (err == -EAGAIN && r->report->timed_out)
		err = finish_in_time(r);
	return err == -EAGAIN || err == -ETIME ? route_up_down(r) : err;
}

/* ---- the whole --------------------------------------------------------- */

/* Does DOR meet no failure at all?  Off-torus switches do not disturb it. */
static bool is_whole(const struct dl_torus *t)
{
	unsigned int dir;
	uint32_t site;

	if (t->nplaced < t->nsites || dl_torus_count_off_torus(t, DL_TORUS_DISCONNECTED))
		return false;
	for (site = 0; site < t->nsites; site++)
		for (dir = 0; dir < DL_TORUS_DIRS; dir++)
			if (dl_torus_site_next(&t->grid, site, dir) != DL_NONE &&
			    !dl_route_link_alive(t, site, dir))
				return false;
	return true;
}

static int repair_init(struct repair *r)
{
	struct dl_arena *a = &r->pass->arena;
	int err = dl_repair_net_init(&r->net, r->pass);

	if (!err)
		err = dl_repair_cdg_init(&r->cdg, a, &r->net);
	if (!err)
		err = dl_repair_paths_init(&r->paths, a, &r->cdg, &r->pass->rings);
	if (!err)
		err = dl_repair_rerouter_init(&r->rerouter, a, &r->paths);
	if (!err)
		err = dl_repair_tree_init(&r->tree, a, &r->cdg);
	if (!err && !(DL_REPAIR_NEW(a, r->tree_routed, r->net.ntargets) &&
		      DL_REPAIR_NEW(a, r->prioritised, r->net.ntargets) &&
		      DL_REPAIR_NEW(a, r->open, r->net.ntargets) &&
		      DL_REPAIR_NEW(a, r->failed, r->net.ntargets)))
		err = -ENOMEM;
	return err;
}

/* Is there a path between all end ports?  Names one that has none. */
static int check_connected(struct repair *r)
{
	const struct dl_fabric *f = r->pass->torus->fabric;
	uint32_t p, s;
	int err = dl_repair_tree_any(&r->tree);

	for (p = 0; !err && p < f->nports; p++) {
		/* The paths of switches that have no LID are looked for, too. */
		if (!dl_fabric_is_end_port(f, p) ||
		    (!f->ports[p].lid && !dl_fabric_is_switch(f, f->ports[p].node)))
			continue;
		s = dl_fabric_access_switch(f, p);
		if (s != DL_NONE && r->tree.in[s])
			continue;
		dl_log(r->pass->log, DL_LOG_ERROR,
		       "the fabric is not connected: there is no path from "
		       "switch 0x%016" PRIx64 " to 0x%016" PRIx64 " \"%s\"",
		       dl_fabric_switch_node(f, r->tree.root)->guid,
		       f->nodes[f->ports[p].node].guid, dl_fabric_node_name(f, f->ports[p].node));
		r->pass->out->refusal = DL_ROUTE_NOT_CONNECTED;
		err = -ENOTSUP;
	}
	return err;
}

static void log_report(const struct repair *r)
{
	const struct dl_log *log = r->pass->log;
	char text[DL_ROUTE_REPORT_TEXT];

	if (r->report->timed_out)
		dl_log(log, DL_LOG_WARNING,
		       "proven: repairs timed out; the rest is routed along "
		       "the multicast tree, safe but slow");
	dl_route_report_text(r->report, text, sizeof(text));
	dl_log(log, DL_LOG_INFO, "%s", text);
}

/* Verify what stands in the result; -EPROTO: it is not safe. */
static int repair_verify(struct repair *r, const struct dl_log *log)
{
	struct dl_route_result *out = r->pass->out;
	double start = repair_now(r);
	int err;

	dl_verify_result_free(out->verification);
	out->verification = NULL;
	err = dl_route_verify_result(r->pass);
	r->report->verify_seconds += repair_now(r) - start;
	if (err)
		return err;
	r->report->pairs = out->verification->pairs;
	return dl_route_is_safe(out->verification, log) ? 0 : -EPROTO;
}

/* A torus without failures: DOR's tables and tree, if they are safe. */
static int try_unchanged(struct repair *r)
{
	const struct dl_torus *t = r->pass->torus;
	struct dl_route_result *out = r->pass->out;
	int err = r->pass->trial ? 0 : dl_route_path_sls(r->pass);

	if (r->pass->trial)
		return 0;
	if (!err)
		err = dl_route_partial_tree(t, r->pass->leaf, DL_NONE, &out->tree);
	if (!err && !dl_route_tree_complete(t, out->tree, NULL))
		err = -EPROTO;
	if (!err)
		err = repair_verify(r, NULL);
	r->report->entries = (uint64_t)t->fabric->nswitches * t->fabric->top_lid;
	return err;
}

/* Put what the search has found into DOR's tables, and verify them. */
static int repair_finish(struct repair *r)
{
	struct dl_route_result *out = r->pass->out;
	int err = dl_repair_write(&r->paths, &r->rerouter.dor, r->open, r->tree_routed, r->pass);

	dl_repair_paths_drop(&r->paths);
	if (r->pass->trial)
		return err;
	dl_route_tree_free(out->tree);
	out->tree = NULL;
	if (!err && !out->tables->psl)
		err = dl_route_path_sls(r->pass);
	if (!err)
		err = dl_repair_write_tree(&r->tree, &out->tree);
	return err ? err : repair_verify(r, r->pass->log);
}

int dl_route_proven(struct dl_route_pass *pass)
{
	const struct dl_route_options *o = pass->options;
	struct repair r = { .pass = pass, .report = &pass->out->report, .clock = o->clock };
	double start;
	int err;

	if (r.clock)
		r.deadline = r.clock() + o->repair_seconds;
	r.end = r.deadline + o->repair_seconds / 4.0 + 1;
	r.budget = SECOND_EFFORT * (uint64_t)o->repair_seconds;
	err = dl_route_dor_tables(pass);
	if (!err && is_whole(pass->torus) && !pass->leaf) {
		err = try_unchanged(&r);
		/* -ENOTCONN: some adapter has no cable; check_connected() says which. */
		if (err != -EPROTO && err != -ENOTCONN)
			goto out;
		err = 0;
	}
	start = repair_now(&r);
	if (!err)
		err = repair_init(&r);
	if (!err)
		err = check_connected(&r);
	if (!err)
		err = repair_search(&r);
	r.report->search_seconds = repair_now(&r) - start;
	if (!err)
		err = repair_finish(&r);
	if (err != -EPROTO)
		goto out;
	/* A defect of the search: the last resort. */
	err = dl_route_dor_tables(pass);
	if (!err)
		err = dl_repair_paths_hold(&r.paths);
	if (!err)
		err = route_up_down(&r);
	if (!err)
		err = repair_finish(&r);
	if (err == -EPROTO)
		pass->out->refusal = DL_ROUTE_UNSAFE;
out:
	dl_repair_paths_drop(&r.paths);
	if (!err)
		log_report(&r);
	return err;
}
