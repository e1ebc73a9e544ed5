/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The changes of tables in a campaign: from the whole fabric to what is left of
 * it, back when all is repaired, and from the scenario before, when other parts
 * fail while those are repaired.
 */
#include <errno.h>

#include "dateline/transition.h"
#include "whatif.h"

int whatif_check(const struct dl_tables *from, const struct dl_tables *to,
		 struct whatif_transition *out)
{
	struct dl_transition_waves waves = { 0 };
	struct dl_transition_result v;
	struct dl_transition t;
	int err = dl_transition_plan(from, to, &t);

	if (err)
		return err;
	dl_transition_spare(&t);
	err = dl_transition_check_plan(&t, DL_TRANSITION_ANY_QUICK, NULL, &v);
	if (!err) {
		dl_verify_mixture_release(&v.found);
		err = dl_transition_waves(&t, dl_transition_work(&t), &waves);
	}
	out->checked = !err;
	out->direct = !err && v.safe;
	out->phased = waves.safe;
	out->pairs = waves.pairs_interrupted;
	out->closed = waves.entries_closed;
	out->writes = t.writes;
	out->phased_writes = waves.writes;
	dl_transition_waves_release(&waves);
	dl_transition_release(&t);
	return err;
}

static int whatif_route(const struct whatif *w, const struct dl_fabric *f,
			struct dl_route_result *out)
{
	struct dl_route_options options = whatif_options(w);
	struct dl_torus *t;
	bool cold;
	int err = whatif_discover(w, f, NULL, &cold, &t);

	if (err)
		return err;
	err = dl_route(t, w->whole.config, &options, NULL, out);
	dl_torus_free(t);
	return err ? err : dl_route_tree_group_all(out->tree, out->tables);
}

static int route_whole(void *context, const struct dl_log *log)
{
	struct whatif *w = context;

	(void)log;
	return whatif_route(w, w->whole.fabric, &w->whole_routed);
}

int whatif_transitions_begin(struct whatif *w)
{
	w->route_whole = (struct background){ .run = route_whole, .context = w };
	if (!w->transitions)
		return 0;
	background_start(&w->route_whole, w->has_spare);
	/* Several workers would wait for it. */
	return w->has_spare ? 0 : background_end(&w->route_whole);
}

/* From what is left in the scenario before, if that could be routed. */
static int from_before(const struct whatif *w, struct whatif_failures *f, uint64_t item,
		       const struct dl_tables *now, struct whatif_transition *out)
{
	struct dl_route_result before = { 0 };
	struct dl_fabric *left = NULL;
	int err, connected;

	/* The only scenario comes after none. */
	if (w->nitems == 1)
		return 0;
	whatif_failures_draw(f, w, item ? item - 1 : w->nitems - 1);
	err = dl_fabric_degrade(w->whole.fabric, f->dead, f->cut, &left);
	connected = err ? err : dl_fabric_is_connected(left);
	err = connected == 1 ? whatif_route(w, left, &before) : connected;
	if (connected == 1 && !err)
		err = whatif_check(before.tables, now, out);
	dl_route_result_release(&before);
	dl_fabric_free(left);
	return err == -ENOMEM ? err : 0;
}

/* Of a failure, the way back. */
static int check_repair(void *context, const struct dl_log *log)
{
	const struct whatif_repair *r = context;

	(void)log;
	return whatif_check(r->left, r->w->whole_routed.tables, r->out);
}

int whatif_transitions_start(struct whatif_repair *r, const struct dl_route_result *now)
{
	int err = background_end(&r->w->route_whole);

	if (!err)
		err = dl_route_tree_group_all(now->tree, now->tables);
	if (err)
		return err;
	r->left = now->tables;
	r->background = (struct background){ .run = check_repair, .context = r };
	background_start(&r->background, r->w->has_spare);
	return 0;
}

int whatif_transitions(struct whatif_repair *r, struct whatif_failures *f, uint64_t item,
		       struct whatif_outcome *o)
{
	const struct whatif *w = r->w;
	int err = whatif_check(w->whole_routed.tables, r->left, &o->transition[WHATIF_FAILURE]);
	int back = background_end(&r->background);

	o->seconds[WHATIF_TRANSITION] += r->background.seconds;
	err = err ? err : back;
	return err ? err : from_before(w, f, item, r->left, &o->transition[WHATIF_BOTH]);
}
