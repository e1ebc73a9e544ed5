/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Verification: are tables fit to be programmed?
 *
 * Problem.  Given any fabric and any tables, decide whether every packet
 * arrives and whether packets can wait for each other in a cycle.  Nothing
 * is assumed about how the tables came about; in particular nothing here
 * knows tori.
 *
 * Method.  Lay the fabric out (net.c), let all unicast packets flow to each
 * destination at once (unicast.c, flow.c), then all multicast packets (multicast.c);
 * both add to one graph of dependencies between channels.  Search that graph
 * for its shortest cycle (cycle.c) and an example packet for each of its
 * channels (example.c).
 *
 * What is checked: all ordered pairs of end ports with a LID, switches' port 0
 * included, at the path SL of the pair and, for the second QoS level, at the
 * same with bit 3 set; every multicast LID at the SLs given.  An SL with bit
 * 3 set that every map between switches drops is not in use and left out.
 * On request all pairs use any SL, or some, for traffic that ignores its path
 * SL.
 *
 * Then each port's VL arbitration: does it serve all VLs that were used (served.c)?
 *
 * What is not known.  First come the dependencies that exist for certain: of
 * pairs whose SL is known, or of all where the maps treat all SLs alike, and
 * not over links on which some packets' VL is unknown.  A cycle of these is a
 * loop that packets can close.  Then pairs without a path SL use every SL: a
 * cycle is possible.  Then those links as well, all packets on VL 0.  No cycle
 * in the end proves that there is none, whatever is unknown.
 *
 * Complexity: switches times destination LIDs.  Memory: the dependencies
 * (net.c), and a hundred bytes a channel.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verify/internal.h"

void dl_verify_options_init(struct dl_verify_options *o)
{
	memset(o, 0, sizeof(*o));
	o->multicast_sls = 1u << 0 | 1u << 8;
	o->max_listed = 100;
}

void dl_verify_report_lost(struct dl_verify_result *v, uint32_t max,
			   const struct dl_verify_lost *lost)
{
	if (v->nlisted < max)
		v->lost[v->nlisted++] = *lost;
}

/* ---- end ports that are attached to no switch -------------------------- */

static bool verify_joined(const struct dl_fabric *f, uint32_t src, uint32_t dst)
{
	return f->ports[src].peer == dst && dst != DL_NONE;
}

/* Pairs of which at least one end is outside; few if any. */
static void check_unattached(const struct dl_verify_net *net, struct dl_verify_result *v,
			     uint32_t max)
{
	const struct dl_fabric *f = net->f;

	if (net->end_first[net->nsw] == net->nends)
		return;
	for (uint32_t src = 0; src < f->nports; src++) {
		bool inside;

		if (!dl_verify_net_is_end(net, src))
			continue;
		inside = dl_fabric_access_switch(f, src) != DL_NONE;
		for (uint32_t lid = 1; lid <= f->top_lid; lid++) {
			uint32_t dst = dl_verify_net_owner(net, lid);
			struct dl_verify_lost lost = {
				.src = src,
				.dst = dst,
				.dlid = lid,
				.sl = DL_TABLES_NO_SL,
				.fault = DL_VERIFY_UNATTACHED,
				.sw = DL_NONE,
				.port = DL_TABLES_NO_PORT,
			};

			if (dst == DL_NONE || dst == src || verify_joined(f, src, dst))
				continue;
			if (inside && dl_fabric_access_switch(f, dst) != DL_NONE)
				continue;
			v->nlost++;
			dl_verify_report_lost(v, max, &lost);
		}
	}
}

/* ---- the result -------------------------------------------------------- */

static uint64_t count_pairs(const struct dl_verify_net *net)
{
	const struct dl_fabric *f = net->f;
	uint64_t pairs = 0;

	for (uint32_t lid = 1; lid <= f->top_lid; lid++)
		if (dl_verify_net_owner(net, lid) != DL_NONE)
			pairs += net->nends - 1;
	return pairs;
}

static uint64_t count_channels(const struct dl_verify_net *net)
{
	uint64_t channels = 0;

	for (uint32_t l = 0; l < net->links.n; l++)
		channels += __builtin_popcount(net->vls[l]);
	return channels;
}

static uint64_t count_dependencies(const struct dl_verify_net *net)
{
	size_t words = net->pair_first[net->nsw] * (size_t)net->words;
	uint64_t n = 0;

	for (size_t i = 0; i < words; i++)
		n += __builtin_popcountll(net->deps[i]);
	return n;
}

static void report_gaps(const struct dl_verify_result *v, const struct dl_log *log)
{
	if (!v->sl_known && !v->sls)
		dl_log(log, DL_LOG_WARNING,
		       "the path SLs are not known: every pair was checked at "
		       "all 16 SLs");
	else if (v->without_sl)
		dl_log(log, DL_LOG_WARNING,
		       "pairs without a path SL, which were checked at all 16 SLs: %llu",
		       (unsigned long long)v->without_sl);
	if (v->without_vl)
		dl_log(log, DL_LOG_WARNING,
		       "pairs of switch ports without an SL-to-VL map, checked as if all their "
		       "packets used VL 0: %llu",
		       (unsigned long long)v->without_vl);
}

/* If no loop is known yet, search for one; the verdict applies if there is one. */
static int verify_search(const struct dl_verify_net *net, uint16_t multicast_sls,
			 enum dl_verify_verdict verdict, struct dl_verify_result *v)
{
	int err;

	if (v->cycle.n)
		return 0;
	err = dl_verify_cycle(net, &v->cycle);
	if (err || !v->cycle.n)
		return err;
	v->verdict = verdict;
	return dl_verify_examples(net, multicast_sls, v);
}

static int check_loops(struct dl_verify_net *net, const struct dl_verify_options *o,
		       struct dl_verify_result *v)
{
	uint16_t any = dl_verify_net_distinct(net, net->alive);
	uint16_t multicast_sls = dl_verify_net_distinct(net, o->multicast_sls & net->alive);
	bool alike = !(any & (any - 1)), known = net->sls || net->t->psl || alike;
	int err;

	net->unknown = alike ? any : 0;
	net->certain = v->without_vl;
	err = known ? dl_verify_unicast(net, v, o->max_listed) : 0;
	if (!err)
		err = dl_verify_multicast(net, NULL, multicast_sls, known ? v : NULL,
					  o->max_listed);
	if (!err)
		err = verify_search(net, multicast_sls, DL_VERIFY_LOOP, v);
	if (!err && !alike && (!known || net->gaps)) {
		net->unknown = any;
		err = dl_verify_unicast(net, known ? NULL : v, o->max_listed);
		if (!err && !known)
			err = dl_verify_multicast(net, NULL, multicast_sls, v, o->max_listed);
		if (!err)
			err = verify_search(net, multicast_sls, DL_VERIFY_POSSIBLE, v);
	}
	if (!err && net->certain) {
		net->certain = false;
		err = verify_search(net, multicast_sls, DL_VERIFY_NOT_JUDGED, v);
	}
	return err;
}

/*
 * A connection keeps the SL that it was granted for as long as it lives, so a routing
 * that counts on path SLs may not change them when the fabric fails (rules A5).
 */
static int compare_sls(const struct dl_tables *now, const struct dl_tables *before,
		       struct dl_verify_result *v)
{
	struct dl_tables_changes sls = { 0 };
	struct dl_fabric_match there;
	int err = dl_fabric_match(now->fabric, before->fabric, &there);

	if (!err)
		err = dl_tables_compare_sls(now, before, &there, &sls);
	dl_fabric_match_release(&there);
	v->sl_compared = sls.compared;
	v->sl_changes = sls.changed;
	v->sl_stable = !sls.changed;
	return err;
}

static int verify_tables(struct dl_verify_net *net, const struct dl_verify_options *o,
			 struct dl_verify_result *v)
{
	int err;

	v->levels = net->levels;
	v->sl_known = net->t->psl;
	v->sls = o->sls;
	v->without_vl = net->without_vl;
	v->pairs = count_pairs(net);
	v->groups = net->t->ngroups;
	check_unattached(net, v, o->max_listed);
	err = check_loops(net, o, v);
	if (!err)
		err = dl_verify_find_starved(net, o, v);
	if (err)
		return err;
	v->credit_loop = v->verdict == DL_VERIFY_LOOP;
	v->dependencies = count_dependencies(net);
	v->channels = count_channels(net);
	v->delivered = !v->nlost && !v->groups_lost;
	return o->earlier ? compare_sls(net->t, o->earlier, v) : 0;
}

int dl_verify(const struct dl_tables *t, const struct dl_verify_options *o,
	      const struct dl_log *log, struct dl_verify_result **out)
{
	struct dl_verify_options defaults;
	struct dl_verify_result *v = calloc(1, sizeof(*v));
	struct dl_verify_net net = { .t = t, .log = log };
	struct dl_arena arena = { 0 };
	int err;

	if (!v)
		return -ENOMEM;
	if (!o) {
		dl_verify_options_init(&defaults);
		o = &defaults;
	}
	err = t->checked ? 0 : dl_tables_check(t, log);
	if (!err)
		err = dl_verify_net_init(&net, &arena, t, o);
	v->lost = malloc((o->max_listed + 1) * sizeof(*v->lost));
	if (!err && !v->lost)
		err = -ENOMEM;
	if (err)
		goto out;
	v->fabric = t->fabric;
	v->sl_stable = true;
	err = verify_tables(&net, o, v);
	if (err)
		goto out;
	report_gaps(v, log);
	*out = v;
	v = NULL;
out:
	dl_verify_net_release(&net);
	dl_arena_free(&arena);
	dl_verify_result_free(v);
	return err;
}

void dl_verify_result_free(struct dl_verify_result *v)
{
	if (!v)
		return;
	free(v->lost);
	free(v->starved);
	free(v->cycle.steps);
	free(v);
}
