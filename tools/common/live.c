/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The running fabric as a snapshot, and which engine and mode routed it.
 *
 * Switches that Dateline routes hold marks: their coordinates and its mode.  A
 * mark may be older than the tables, if another engine has replaced them.  So
 * the marks are trusted only if rerouting from them reproduces all path SLs that
 * were read, and most forwarding entries.  Not all entries, because those of a
 * damaged fabric depend on earlier failures.
 *
 * The engine that most likely came after Dateline is torus-2QoS, whose path SLs are
 * the same, and most of its entries.  Where the tables of both differ, forwarding
 * entries and branches of multicast trees, those that were read decide; else VL
 * arbitration does, if it is Dateline's own.  What has a credit loop is no table of
 * Dateline's.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "input.h"
#include "dateline/route.h"
#include "dateline/verify.h"

#define LOOK_UPS 20000000.0 /* path SLs compared, about, at most */

enum live_engine { ENGINE_UNKNOWN, ENGINE_EITHER, ENGINE_DATELINE };

/* What routing again has found. */
struct again {
	struct dl_torus *torus;
	struct dl_torus_config *config;
	struct dl_route_options options;
	enum live_engine engine;
	bool loop; /* Dateline's, but for a credit loop */
};

static bool live_same_sls(const struct dl_tables *a, const struct dl_tables *b)
{
	const struct dl_fabric *f = a->fabric;
	uint32_t step = 1 + (uint32_t)((double)f->top_lid * f->top_lid / LOOK_UPS);
	bool same = true;

	for (uint32_t p = 0; a->psl && p < f->nports; p++) {
		if (a->psl_src[p] == DL_NONE)
			continue;
		for (uint32_t lid = 1 + p % step; lid <= f->top_lid; lid += step) {
			unsigned int sl = dl_tables_path_sl(a, p, lid);

			same &= sl == DL_TABLES_NO_SL || f->lid_port[lid] == p ||
				sl == dl_tables_path_sl(b, p, lid);
		}
	}
	return same;
}

/* Three in four, of those that are set. */
static bool similar_entries(const struct dl_tables *a, const struct dl_tables *b)
{
	const struct dl_fabric *f = a->fabric;
	uint64_t all = 0, same = 0;

	for (uint32_t s = 0; s < f->nswitches; s++)
		for (uint32_t lid = 1; lid <= f->top_lid; lid++) {
			uint8_t port = dl_tables_lft(a, s, lid);

			all += port != DL_TABLES_NO_PORT;
			same += port != DL_TABLES_NO_PORT && port == dl_tables_lft(b, s, lid);
		}
	return all && same >= all - all / 4;
}

/* ---- Dateline or torus-2QoS ------------------------------------------------- */

/* Where the tables of both differ: how many that were read are those of each. */
struct votes {
	uint64_t dateline, torus_2qos;
};

static void live_vote(struct votes *v, unsigned int read, unsigned int ours, unsigned int theirs)
{
	v->dateline += ours != theirs && read == ours;
	v->torus_2qos += ours != theirs && read == theirs;
}

static void live_vote_masks(struct votes *v, const struct dl_fabric *f,
			    const struct dl_tables_masks *read, const struct dl_tables_masks *ours,
			    const struct dl_tables_masks *theirs)
{
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (unsigned int p = 0; p <= dl_fabric_switch_node(f, s)->nports; p++)
			live_vote(v, dl_tables_mask_get(read, s, p), dl_tables_mask_get(ours, s, p),
				  dl_tables_mask_get(theirs, s, p));
}

/* The groups that were read, on the trees of both. */
static int live_vote_groups(struct votes *v, const struct dl_tables *t,
			    struct dl_route_result *ours, struct dl_route_result *theirs)
{
	int err = tool_keep_groups(t, ours);

	if (!err)
		err = tool_keep_groups(t, theirs);
	for (uint32_t i = 0; !err && i < t->ngroups; i++) {
		const struct dl_tables_mcast_group *g = &t->groups[i];

		live_vote_masks(v, t->fabric, &g->masks,
				&dl_tables_find_group(ours->tables, g->mlid)->masks,
				&dl_tables_find_group(theirs->tables, g->mlid)->masks);
	}
	return err == -ENOTCONN ? 0 : err;
}

/* Are all maps, or VL arbitration tables, that were read those of `ours`? */
static int live_same_vls(const struct dl_tables *t, const struct dl_tables *ours, bool maps)
{
	struct dl_tables_changes c = { 0 }, limits;
	struct dl_fabric_match same;
	int err = dl_fabric_match(t->fabric, t->fabric, &same);

	if (!err && maps)
		dl_tables_compare_switch_maps(t, ours, &same, &c);
	else if (!err)
		dl_tables_compare_vlarb(t, ours, &same, &c, &limits);
	dl_fabric_match_release(&same);
	return err ? err : c.compared && !c.changed;
}

/* The tables are similar to these of Dateline's: whose are they?  0 or -ENOMEM. */
static int live_tell_apart(struct again *a, const struct dl_tables *t, struct dl_route_result *ours)
{
	struct dl_route_options options = a->options;
	struct dl_route_result theirs = { 0 };
	struct votes v = { 0 };
	int err = 0;

	options.mode = DL_ROUTE_CLASSIC;
	options.ties = DL_ROUTE_TIES_TORUS_2QOS;
	if (a->options.mode == DL_ROUTE_ANY_SL)
		v.dateline = (err = live_same_vls(t, ours->tables, true)) > 0;
	else
		err = dl_route(a->torus, a->config, &options, NULL, &theirs);
	if (err < 0 && err != -ENOMEM)
		v.dateline = 1; /* torus-2QoS refuses the fabric */
	for (uint32_t s = 0; !err && theirs.tables && s < t->fabric->nswitches; s++)
		for (uint32_t lid = 1; lid <= t->top_lid; lid++)
			live_vote(&v, dl_tables_lft(t, s, lid), dl_tables_lft(ours->tables, s, lid),
				  dl_tables_lft(theirs.tables, s, lid));
	if (!err && theirs.tree && ours->tree)
		err = live_vote_groups(&v, t, ours, &theirs);
	if (!v.dateline && !v.torus_2qos && err != -ENOMEM) {
		err = live_same_vls(t, ours->tables, false);
		v.dateline = err > 0;
	}
	dl_route_result_release(&theirs);
	if (v.torus_2qos >= v.dateline && v.torus_2qos)
		a->engine = ENGINE_UNKNOWN;
	else
		a->engine = v.dateline && !v.torus_2qos && t->psl ? ENGINE_DATELINE : ENGINE_EITHER;
	return err == -ENOMEM ? err : 0;
}

/* Tables that were verified have no loop. */
static int live_check_loop(struct again *a, const struct dl_tables *t)
{
	struct dl_verify_result *v = NULL;
	int err = dl_verify(t, NULL, NULL, &v);

	a->loop = !err && v->verdict == DL_VERIFY_LOOP;
	if (a->loop)
		a->engine = ENGINE_UNKNOWN;
	dl_verify_result_free(v);
	return err;
}

/* 1: these options give the tables that were read; 0: others; or -ENOMEM. */
static int try_again(struct again *a, const struct dl_tables *t)
{
	struct dl_route_result routed = { 0 };
	int err;

	err = dl_route(a->torus, a->config, &a->options, NULL, &routed);
	if (!err)
		err = live_same_sls(t, routed.tables) && similar_entries(t, routed.tables);
	if (err > 0 && a->options.mode != DL_ROUTE_UNCHECKED &&
	    live_tell_apart(a, t, &routed) == -ENOMEM)
		err = -ENOMEM;
	dl_route_result_release(&routed);
	return err == -ENOMEM || err > 0 ? err : 0;
}

/* Does every switch still have the coordinates of its mark? */
static bool in_place(const struct dl_torus *t, const struct dl_torus *marked)
{
	bool same = t->nsites == marked->nsites;

	for (uint32_t i = 0; same && i < t->nsites; i++)
		same = marked->site_sw[i] == DL_NONE || marked->site_sw[i] == t->site_sw[i];
	return same;
}

/* Are the marks trusted?  0 or -ENOMEM. */
static int route_again(struct again *a, const struct dl_tables *t, const struct dl_torus *marked)
{
	int err = dl_torus_recall(t->fabric, marked, NULL, &a->config, &a->torus);

	if (err)
		return err == -ENOMEM ? err : 0;
	if (!in_place(a->torus, marked))
		return 0;
	err = try_again(a, t);
	if (err > 0 && a->engine == ENGINE_DATELINE && a->options.mode != DL_ROUTE_CLASSIC)
		err = live_check_loop(a, t);
	return err < 0 ? err : 0;
}

/* Describe it, but for where its path SLs come from. */
static int live_describe(const struct tool *tool, const struct again *a, struct dl_snapshot *s)
{
	enum dl_snapshot_sls sls = s->about.sls;
	int err = dl_route_describe(a->torus, a->config, &a->options, s);

	s->about.sls = sls;
	if (!err && a->engine == ENGINE_EITHER) {
		snprintf(s->about.engine, sizeof(s->about.engine), "dateline or torus-2QoS");
		*s->about.mode = '\0';
		dl_log(&tool->log, DL_LOG_INFO,
		       "routed by Dateline or torus-2QoS: switch marks are Dateline's, the tables "
		       "%s",
		       s->tables->psl ? "could be those of both" :
					"were compared without path SLs");
	} else if (!err)
		dl_log(&tool->log, DL_LOG_INFO,
		       "routed by Dateline (%s): switch marks and recomputed tables agree",
		       s->about.mode);
	return err;
}

/*
 * The coordinates that the cabling shows, where the path SLs are those that
 * torus-2QoS's rule gives for them: then the engine sees the same torus.
 */
static int add_coordinates(struct dl_snapshot *s)
{
	struct again a = { .torus = NULL };
	int err = !s->tables->psl ?
			-ENOTSUP :
			dl_torus_discover_cabling(s->fabric, NULL, NULL, &a.config, &a.torus);

	dl_route_options_init(&a.options);
	a.options.mode = DL_ROUTE_UNCHECKED;
	a.options.ties = DL_ROUTE_TIES_TORUS_2QOS;
	if (!err)
		err = try_again(&a, s->tables);
	if (err > 0)
		err = tool_add_note(s, "dateline-torus.dump", to, dl_torus_write_list(a.torus, to));
	dl_torus_free(a.torus);
	dl_torus_config_free(a.config);
	return err == -ENOMEM ? err : 0;
}

int tool_read_live(const struct tool *tool, const struct dl_live_options *o, struct dl_snapshot *s)
{
	struct dl_torus_mark *marks = NULL;
	struct dl_torus *marked = NULL;
	struct again a = { .torus = NULL };
	unsigned int mode = 0;
	int err = dl_live_read(o, &tool->log, s, &marks);

	dl_route_options_init(&a.options);
	a.options.clock = dl_clock_monotonic;
	if (!err)
		err = dl_torus_of_marks(s->fabric, marks, &mode, &marked);
	dl_route_options_of_mark(mode, &a.options);
	if (!err && marked)
		err = route_again(&a, s->tables, marked);
	if (!err && a.engine != ENGINE_UNKNOWN) {
		err = live_describe(tool, &a, s);
	} else if (!err) {
		dl_log(&tool->log, DL_LOG_INFO, "routing engine and mode: unknown: %s",
		       a.loop ? "the switches hold marks of Dateline's, but the tables have a "
				"credit loop" :
		       marked ? "the switches hold marks of Dateline's, but not its tables" :
				"no switch holds a mark of Dateline's");
		err = add_coordinates(s);
	}
	dl_torus_free(a.torus);
	dl_torus_config_free(a.config);
	dl_torus_free(marked);
	free(marks);
	return err;
}
