/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The running fabric as a snapshot, and which engine and mode routed it.
 *
 * Switches that Dateline routes hold marks: their coordinates and its mode.  A
 * mark may be older than the tables, if another engine has replaced them.  So
 * the marks are trusted only if rerouting from them reproduces all path SLs that
 * were read, and most forwarding entries.  Not all entries, because those of a
 * damaged fabric depend on earlier failures.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "dateline/base.h"
#include "dateline/route.h"

#define LOOK_UPS 20000000.0 /* path SLs compared, about, at most */

/* What routing again has found. */
struct again {
	struct dl_torus *torus;
	struct dl_torus_config *config;
	struct dl_route_options options;
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

/* 1: these options give the tables that were read; 0: others; or -ENOMEM. */
static int try_ties(struct again *a, const struct dl_tables *t, enum dl_route_ties ties)
{
	struct dl_route_result routed = { 0 };
	int err;

	a->options.ties = ties;
	err = dl_route(a->torus, a->config, &a->options, NULL, &routed);
	if (!err)
		err = live_same_sls(t, routed.tables) && similar_entries(t, routed.tables);
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

/* 1: the marks are trusted; 0: not; or -ENOMEM. */
static int route_again(struct again *a, const struct dl_tables *t, const struct dl_torus *marked)
{
	int err = dl_torus_recall(t->fabric, marked, NULL, &a->config, &a->torus);

	if (err)
		return err == -ENOMEM ? err : 0;
	if (!in_place(a->torus, marked))
		return 0;
	err = try_ties(a, t, DL_ROUTE_TIES_TORUS_2QOS);
	if (!err && a->options.mode == DL_ROUTE_PROVEN)
		err = try_ties(a, t, DL_ROUTE_TIES_BALANCED);
	return err;
}

/* Describe it, but for where its path SLs come from. */
static int live_describe(const struct tool *tool, const struct again *a, struct dl_snapshot *s)
{
	enum dl_snapshot_sls sls = s->about.sls;
	int err = dl_route_describe(a->torus, a->config, &a->options, s);

	s->about.sls = sls;
	if (!err)
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
	int err = s->tables->psl ? dl_torus_infer(s->fabric, NULL, &a.config) : -ENOTSUP;

	if (!err)
		err = dl_torus_discover(s->fabric, a.config, NULL, &a.torus);
	dl_route_options_init(&a.options);
	a.options.mode = DL_ROUTE_UNCHECKED;
	if (!err)
		err = try_ties(&a, s->tables, DL_ROUTE_TIES_TORUS_2QOS);
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
	a.options.mode = mode;
	if (!err && marked)
		err = route_again(&a, s->tables, marked);
	if (err > 0) {
		err = live_describe(tool, &a, s);
	} else if (!err) {
		dl_log(&tool->log, DL_LOG_INFO, "routing engine and mode: unknown: %s",
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
