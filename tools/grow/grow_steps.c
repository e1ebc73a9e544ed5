/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The steps of a growth or removal: the work, and the tables before, while what
 * will be unplugged is avoided, and after.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dateline/transition.h"
#include "grow.h"
#include "tools/transition.h"

/* Enough to survive some failures. */
#define GROW_SEEDS 4

/* One state: its fabric, torus and tables. */
struct grow_now {
	struct dl_fabric *fabric;
	struct dl_torus *torus;
	struct dl_torus_config *config; /* borrowed */
	struct dl_route_result routed;
};

struct grow_walk {
	struct tool *tool;
	struct grow_plan *p;
	const struct tool_input *in;
	struct dl_torus_config *after; /* found for the other grid */
	struct grow_now now;
	char *avoid; /* the list in force, or NULL */
};

static void grow_drop(struct grow_now *n)
{
	dl_route_result_release(&n->routed);
	dl_torus_free(n->torus);
	dl_fabric_free(n->fabric);
	memset(n, 0, sizeof(*n));
}

/* ---- coordinates --------------------------------------------------------- */

/*
 * The configuration of the other grid: switches are where the plan has them.  Seeds name
 * switches that are there already, as GUIDs of new ones are placeholders.
 */
static int grow_reconfigure(struct grow_walk *w, const struct dl_torus_grid *grid,
			    const struct dl_fabric *f)
{
	const struct dl_torus_config *old = w->in->config;
	struct dl_torus wanted = { .grid = *grid, .fabric = f }, known, *whole = NULL;
	uint32_t c[DL_TORUS_DIMS];
	int err;

	wanted.nsites = dl_torus_grid_sites(grid);
	wanted.site_sw = malloc((wanted.nsites + 1ul) * sizeof(*wanted.site_sw));
	if (!wanted.site_sw)
		return -ENOMEM;
	for (uint32_t site = 0; site < wanted.nsites; site++) {
		uint32_t sw, node = DL_NONE;

		dl_torus_site_coord(grid, site, c);
		sw = w->p->site_sw[dl_torus_site(&w->p->large, c)];
		if (sw != DL_NONE)
			node = dl_fabric_find_guid(f,
						   w->p->all->nodes[w->p->all->switches[sw]].guid);
		wanted.site_sw[site] = node == DL_NONE ? DL_NONE : f->nodes[node].sw;
	}
	err = dl_torus_recall(f, &wanted, NULL, NULL, &whole);
	for (uint32_t site = 0; !err && site < wanted.nsites; site++) {
		dl_torus_site_coord(grid, site, c);
		if (grow_is_new(w->p, w->p->site_sw[dl_torus_site(&w->p->large, c)]))
			wanted.site_sw[site] = DL_NONE;
	}
	if (!err) {
		known = *whole;
		known.site_sw = wanted.site_sw;
		err = dl_torus_describe(&known, GROW_SEEDS, &w->after);
	}
	dl_torus_free(whole);
	free(wanted.site_sw);
	if (err)
		return err;
	w->after->balanced_ties = old->balanced_ties;
	w->after->max_changes = old->max_changes;
	w->after->nport_order = old->nport_order;
	memcpy(w->after->port_order, old->port_order, sizeof(old->port_order));
	return tool_write(w->tool, w->p->request->out, "after.torus.conf", to,
			  dl_torus_config_write(w->after, to));
}

/* The torus of a state, as the engine finds it that has seen the one before. */
static int grow_discover(struct grow_walk *w, uint32_t state, struct grow_now *next)
{
	const struct dl_torus_grid *grid = grow_grid(w->p, state);
	bool began = grid == grow_grid(w->p, grow_state(w->p, 0));
	int err = 0;

	if (!began && !w->after)
		err = grow_reconfigure(w, grid, next->fabric);
	next->config = began ? w->in->config : w->after;
	return err ? err :
		     dl_torus_discover_again(next->fabric, next->config, w->now.torus, NULL,
					     &next->torus);
}

/* Switches that would have other coordinates, or none, if the tables before were not known. */
static int grow_count_forgotten(const struct grow_now *n, uint32_t *forgotten)
{
	struct dl_torus *cold = NULL;
	int err = dl_torus_discover(n->fabric, n->config, NULL, &cold);

	for (uint32_t sw = 0; sw < n->fabric->nswitches; sw++)
		*forgotten += err || cold->sw_site[sw] != n->torus->sw_site[sw];
	dl_torus_free(cold);
	return err == -EINVAL ? 0 : err;
}

/* Switches that the plan has a place for, and whose cables do not decide it. */
static json_t *grow_unplaced(const struct grow_plan *p, const struct dl_torus *t)
{
	json_t *names = json_array();

	for (uint32_t i = 0; i < t->nunplaced; i++) {
		uint32_t node = t->fabric->switches[t->unplaced[i]];
		uint32_t there = dl_fabric_find_guid(p->all, t->fabric->nodes[node].guid);

		if (p->sw_site[p->all->nodes[there].sw] != DL_NONE)
			json_array_append_new(names, tool_json_name(t->fabric, node));
	}
	return names;
}

/* What of a list a fabric can do without; NULL of an empty one. */
static int grow_resolve(const char *avoid, const struct dl_fabric *f, struct dl_route_avoided **out)
{
	struct dl_route_avoid *list = NULL;
	FILE *from = avoid && *avoid ? fmemopen((void *)avoid, strlen(avoid), "r") : NULL;
	int err = from ? dl_route_avoid_read_stream(from, "avoid", NULL, &list) : 0;

	if (from)
		fclose(from);
	if (!err && list)
		err = dl_route_avoid_resolve(list, f, out);
	dl_route_avoid_free(list);
	return err;
}

static int grow_route(struct grow_walk *w, const char *avoid, struct grow_now *n)
{
	struct dl_route_options o = w->p->request->options;
	struct dl_route_avoided *avoided = NULL;
	int err = grow_resolve(avoid, n->fabric, &avoided);

	o.avoid = avoided;
	if (!err)
		err = dl_route(n->torus, n->config, &o, NULL, &n->routed);
	if (!err)
		err = dl_route_tree_group_all(n->routed.tree, n->routed.tables);
	dl_route_avoided_free(avoided);
	return err;
}

/* ---- the work -------------------------------------------------------- */

static json_t *grow_cable_json(const struct dl_fabric *f, const struct grow_cable *c)
{
	return json_pack("{s:o, s:o}", "from", tool_json_named_port(f, c->a), "to",
			 tool_json_named_port(f, c->b));
}

/* The end that two cables share, or DL_NONE. */
static uint32_t grow_shared(const struct grow_cable *a, const struct grow_cable *b)
{
	return a->a == b->a || a->a == b->b ? a->a : a->b == b->a || a->b == b->b ? a->b : DL_NONE;
}

/*
 * Cables that come and go.  Where one goes and another comes at the same port, one end is
 * moved; each cable is moved once.
 */
static void grow_moves(const struct grow_plan *p, uint32_t was, uint32_t is, json_t *step)
{
	json_t *unplug = json_array(), *moves = json_array(), *plug = json_array();
	bool *used = calloc(p->ncables + 1ul, sizeof(*used));
	const struct dl_fabric *f = p->all;

	for (uint32_t i = 0; used && i < p->ncables; i++) {
		const struct grow_cable *old = &p->cables[i];
		uint32_t k, end;

		if (!grow_goes(old, was, is))
			continue;
		for (k = 0; k < p->ncables; k++)
			if (!used[k] && grow_goes(&p->cables[k], is, was) &&
			    grow_shared(old, &p->cables[k]) != DL_NONE)
				break;
		if (k == p->ncables) {
			json_array_append_new(unplug, grow_cable_json(f, old));
			continue;
		}
		used[k] = true;
		end = grow_shared(old, &p->cables[k]);
		json_array_append_new(
			moves,
			json_pack("{s:o, s:o, s:o}", "stays", tool_json_named_port(f, end), "from",
				  tool_json_named_port(f, old->a == end ? old->b : old->a), "to",
				  tool_json_named_port(f, p->cables[k].a == end ? p->cables[k].b :
										  p->cables[k].a)));
	}
	for (uint32_t k = 0; used && k < p->ncables; k++)
		if (!used[k] && grow_goes(&p->cables[k], is, was))
			json_array_append_new(plug, grow_cable_json(f, &p->cables[k]));
	free(used);
	json_object_update_new(step, json_pack("{s:o, s:o, s:o}", "unplug", unplug, "move", moves,
					       "plug", plug));
}

/* Names of the nodes that one fabric has and the other has not. */
static json_t *grow_names(const struct dl_fabric *in, const struct dl_fabric *not_in, bool switches)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < in->nnodes; i++)
		if (dl_fabric_is_switch(in, i) == switches &&
		    dl_fabric_find_guid(not_in, in->nodes[i].guid) == DL_NONE)
			json_array_append_new(list, tool_json_name(in, i));
	return list;
}

/* Is a cable between switches unplugged, of which `after` has both, or any? */
static bool grow_leaves(const struct grow_plan *p, const struct grow_cable *c, uint32_t was,
			uint32_t is, const struct dl_fabric *after, bool any)
{
	const struct dl_fabric *f = p->all;
	uint32_t a = f->ports[c->a].node, b = f->ports[c->b].node;

	return grow_goes(c, was, is) && dl_fabric_is_switch(f, a) && dl_fabric_is_switch(f, b) &&
	       (any || (dl_fabric_find_guid(after, f->nodes[a].guid) != DL_NONE &&
			dl_fabric_find_guid(after, f->nodes[b].guid) != DL_NONE));
}

/* By the end that goes, if one does: another cable may come at the other end. */
static void grow_print_cable(const struct dl_fabric *f, const struct grow_cable *c,
			     const struct dl_fabric *after, FILE *to)
{
	bool stays = dl_fabric_find_guid(after, f->nodes[f->ports[c->b].node].guid) != DL_NONE;
	const struct dl_fabric_port *end = &f->ports[stays ? c->a : c->b];

	fprintf(to, "cable 0x%016" PRIx64 "/%u\n", f->nodes[end->node].guid, end->num);
}

/*
 * Cables between switches that stay are avoided before they go, unless they are the only way;
 * with `all`, those of switches that go, too, so that nothing passes these.
 */
static int grow_avoid(const struct grow_walk *w, uint32_t was, uint32_t is,
		      const struct dl_fabric *after, bool all, char **out, json_t *lines)
{
	const struct grow_plan *p = w->p;
	struct dl_route_avoided *avoided = NULL;
	char *list = NULL;
	size_t len;
	uint32_t n = 0;
	FILE *to = dl_memory_open(&list, &len);
	int err;

	for (uint32_t i = 0; to && i < p->ncables; i++)
		if (grow_leaves(p, &p->cables[i], was, is, after, all))
			grow_print_cable(p->all, &p->cables[i], after, to);
	err = !to || fclose(to) ? -ENOMEM : grow_resolve(list, w->now.fabric, &avoided);
	free(list);
	to = err ? NULL : dl_memory_open(out, &len);
	for (uint32_t i = 0; to && avoided && i < p->ncables; i++) {
		if (!grow_leaves(p, &p->cables[i], was, is, after, all) ||
		    avoided->items[n++].state != DL_ROUTE_AVOID_OUT)
			continue;
		grow_print_cable(p->all, &p->cables[i], after, to);
		json_array_append_new(lines, grow_cable_json(p->all, &p->cables[i]));
	}
	dl_route_avoided_free(avoided);
	return !to || fclose(to) ? -ENOMEM : 0;
}

/* ---- what it means ------------------------------------------------------- */

/*
 * Pairs whose path SL is another one: of adapters and routers, with the names of these, and
 * those with a switch's own port.
 */
static void grow_count_sls(const struct dl_tables *a, const struct dl_tables *b, json_t *step)
{
	const struct dl_fabric *f = a->fabric;
	json_t *names = json_array();
	uint64_t n = 0, own = 0;

	for (uint32_t from = 0; from < f->nports; from++) {
		uint64_t before = n;

		for (uint32_t lid = 1; f->ports[from].lid && lid <= f->top_lid; lid++) {
			uint32_t to = f->lid_port[lid];

			if (to == DL_NONE || to == from ||
			    dl_tables_path_sl(a, from, lid) == dl_tables_path_sl(b, from, lid))
				continue;
			n += f->ports[from].num && f->ports[to].num;
			own += !f->ports[from].num || !f->ports[to].num;
		}
		if (n != before)
			json_array_append_new(names, tool_json_name(f, f->ports[from].node));
	}
	json_object_update_new(step,
			       json_pack("{s:o, s:I, s:I}", "restart", names, "sl_changes",
					 (json_int_t)n, "switch_sl_changes", (json_int_t)own));
}

static void grow_add_interrupted(json_t *step, json_t *pairs, json_int_t n)
{
	json_object_set_new(step, "pairs_interrupted",
			    json_integer(tool_int_at(step, "pairs_interrupted") + n));
	json_array_extend(json_object_get(step, "interrupted"), pairs);
}

/* The change from one set of tables to the next into the step's counts. */
static int grow_judge(const struct dl_tables *old, const struct dl_tables *new, json_t *step)
{
	struct tool_coords none = { 0 };
	json_t *d = NULL;
	const json_t *phased;
	int err = transition_json(old, new, DL_TRANSITION_ANY_QUICK, &none, NULL, NULL, &d);

	if (err)
		return err;
	phased = tool_at(d, "phased");
	json_object_set_new(step, "safe",
			    json_boolean(tool_true_at(step, "safe") &&
					 tool_true_at(phased, "safe")));
	grow_add_interrupted(step, json_object_get(phased, "interrupted"),
			     tool_int_at(phased, "pairs_interrupted"));
	if (json_array_size(tool_at(phased, "reconnect_hosts")))
		json_object_set_new(step, "reconnect_pairs",
				    json_integer(tool_int_at(step, "reconnect_pairs") +
						 tool_int_at(phased, "reconnect_pairs")));
	json_decref(d);
	return 0;
}

/* A file of an earlier plan in the directory.  Whether there was one. */
static bool grow_remove(const struct grow_walk *w, uint32_t n, const char *kind)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%03u.%s", w->p->request->out, n, kind);
	return !unlink(path);
}

static int grow_write(struct grow_walk *w, uint32_t n, const char *avoid)
{
	struct dl_snapshot s = { .tables = w->now.routed.tables, .about.written = time(NULL) };
	const char *dir = w->p->request->out;
	char name[4096];
	int err = 0;

	snprintf(name, sizeof(name), "%03u.avoid", n);
	if (avoid && *avoid)
		err = tool_write(w->tool, dir, name, to, fputs(avoid, to) < 0 ? -EIO : 0);
	else
		grow_remove(w, n, "avoid");
	snprintf(name, sizeof(name), "%03u.net", n);
	if (!err)
		err = tool_write(w->tool, dir, name, to,
				 dl_fabric_write_netlist(w->now.fabric, to));
	snprintf(name, sizeof(name), "%s/%03u.dls", dir, n);
	if (!err)
		err = dl_route_describe(w->now.torus, w->now.config, &w->p->request->options, &s);
	if (!err)
		err = tool_write_snapshot(w->tool, &s, name, 0);
	s.tables = NULL;
	dl_snapshot_release(&s);
	return err;
}

/* ---- what is unplugged all the same ---------------------------------------- */

/* A copy of tables without the entries that lead across what goes. */
static int grow_without(const struct dl_tables *t, const struct dl_fabric_match *after,
			struct dl_tables **out)
{
	const struct dl_fabric *f = t->fabric;
	int err = dl_transition_copy(t, t, out);

	for (uint32_t s = 0; !err && s < f->nswitches; s++) {
		const struct dl_fabric_node *n = dl_fabric_switch_node(f, s);
		uint8_t *row = &(*out)->lft[s * (size_t)t->stride];

		for (uint32_t lid = 1; lid <= t->top_lid; lid++)
			if (row[lid] && row[lid] <= n->nports &&
			    !dl_fabric_match_has_cable(after, n->first_port + row[lid]))
				row[lid] = DL_TABLES_NO_PORT;
	}
	return err;
}

/* Pairs of all end ports of a switch that stay with a LID. */
static void grow_name_pairs(const struct dl_fabric_match *after, uint32_t sw, uint32_t to,
			    json_t *pairs)
{
	const struct dl_fabric *f = after->from;
	const struct dl_fabric_node *n = dl_fabric_switch_node(f, sw);

	for (unsigned int p = 0; p <= n->nports; p++) {
		uint32_t from = dl_fabric_end_at(f, n, p);

		if (from != DL_NONE && from != to && f->ports[from].lid &&
		    after->node[f->ports[from].node] != DL_NONE)
			json_array_append_new(
				pairs, json_pack("{s:o, s:o}", "from",
						 tool_json_node(f, f->ports[from].node), "to",
						 tool_json_node(f, f->ports[to].node)));
	}
}

/* Pairs that stay, and whose packets cross what goes. */
static int grow_find_broken(const struct dl_tables *t, const struct dl_fabric *next, json_t *pairs)
{
	const struct dl_fabric *f = t->fabric;
	struct dl_tables_paths *whole = NULL, *broken = NULL;
	struct dl_fabric_match after;
	struct dl_tables *left = NULL;
	int err = dl_fabric_match(f, next, &after);

	if (!err)
		err = grow_without(t, &after, &left);
	if (!err)
		err = dl_tables_paths_new(t, &whole);
	if (!err)
		err = dl_tables_paths_new(left, &broken);
	for (uint32_t lid = 1; !err && lid <= f->top_lid; lid++) {
		uint32_t to = f->lid_port[lid];

		if (to == DL_NONE || after.node[f->ports[to].node] == DL_NONE)
			continue;
		dl_tables_paths_to(whole, lid);
		dl_tables_paths_to(broken, lid);
		for (uint32_t sw = 0; sw < f->nswitches; sw++)
			if (dl_tables_paths_arrive(whole, sw) &&
			    !dl_tables_paths_arrive(broken, sw))
				grow_name_pairs(&after, sw, to, pairs);
	}
	dl_tables_paths_free(whole);
	dl_tables_paths_free(broken);
	dl_tables_free(left);
	dl_fabric_match_release(&after);
	return err;
}

/* ---- one step ------------------------------------------------------------ */

/*
 * The tables before anything is unplugged, while as little is avoided as does; for pairs
 * whose packets cross what goes all the same, there is no other way.
 */
static int grow_take_out(struct grow_walk *w, uint32_t was, uint32_t is,
			 const struct dl_fabric *after, char **avoid, json_t *step)
{
	struct dl_route_result before = w->now.routed;
	json_t *pairs = NULL;
	bool listed = false;
	int err = 0;

	w->now.routed = (struct dl_route_result){ 0 };
	for (unsigned int all = 0; !err && all < 2 && (!all || json_array_size(pairs)); all++) {
		json_t *lines = json_array();

		dl_route_result_release(&w->now.routed);
		json_decref(pairs);
		pairs = json_array();
		free(*avoid);
		err = grow_avoid(w, was, is, after, all, avoid, lines);
		json_object_set_new(step, "avoid", lines);
		listed = !err && (**avoid || (w->avoid && *w->avoid));
		if (listed)
			err = grow_route(w, *avoid, &w->now);
		if (!err)
			err = grow_find_broken((listed ? &w->now.routed : &before)->tables, after,
					       pairs);
	}
	if (!err && listed)
		err = grow_judge(before.tables, w->now.routed.tables, step);
	if (listed) {
		dl_route_result_release(&before);
	} else {
		dl_route_result_release(&w->now.routed);
		w->now.routed = before;
	}
	if (!err)
		grow_add_interrupted(step, pairs, json_array_size(pairs));
	json_decref(pairs);
	return err;
}

/* What hangs on switches that go would be cut off by them. */
static int grow_check_whole(const struct grow_walk *w, uint32_t n, const struct dl_fabric *f)
{
	const struct dl_fabric_part o = { .from = DL_NONE, .level = DL_LOG_ERROR };
	struct dl_fabric *part = NULL;
	int lost = dl_fabric_main_part(f, &o, &w->tool->log, &part);

	dl_fabric_free(part);
	if (lost > 0)
		lost = dl_fail(&w->tool->log, -EINVAL,
			       "step %u would cut these off: connect them to switches that stay",
			       n);
	return lost;
}

static int grow_take_step(struct grow_walk *w, uint32_t n, json_t *step)
{
	struct grow_plan *p = w->p;
	uint32_t was = grow_state(p, n - 1), is = grow_state(p, n);
	bool changes = grow_grid(p, was) != grow_grid(p, is);
	struct grow_now next = { 0 };
	uint32_t forgotten = 0;
	char *avoid = NULL;
	int err = grow_fabric(p, is, &next.fabric);

	if (!err)
		err = grow_check_whole(w, n, next.fabric);
	if (!err)
		err = grow_take_out(w, was, is, next.fabric, &avoid, step);
	if (!err)
		err = grow_discover(w, is, &next);
	if (!err)
		err = grow_count_forgotten(&next, &forgotten);
	if (!err)
		err = grow_route(w, avoid, &next);
	if (!err)
		err = grow_judge(w->now.routed.tables, next.routed.tables, step);
	if (!err) {
		json_object_update_new(
			step, json_pack("{s:b, s:o, s:o, s:i, s:i, s:i}", "configuration", changes,
					"place", grow_names(next.fabric, w->now.fabric, true),
					"cut_off", grow_names(w->now.fabric, next.fabric, false),
					"switches", next.fabric->nswitches, "switches_placed",
					next.torus->nplaced, "switches_forgotten", forgotten));
		grow_count_sls(w->now.routed.tables,
			       changes ? next.routed.tables : w->now.routed.tables, step);
		grow_moves(p, was, is, step);
		grow_drop(&w->now);
		w->now = next;
		err = grow_write(w, n, avoid);
	} else {
		grow_drop(&next);
	}
	free(w->avoid);
	w->avoid = avoid;
	return err;
}

static json_t *grow_radices(const struct dl_torus_grid *g)
{
	return json_pack("[i, i, i]", g->radix[0], g->radix[1], g->radix[2]);
}

int grow_steps(struct tool *tool, struct grow_plan *p, const struct tool_input *in, json_t **out)
{
	struct grow_walk w = { .tool = tool, .p = p, .in = in };
	json_t *steps = json_array();
	int err = grow_fabric(p, grow_state(p, 0), &w.now.fabric);

	w.now.config = in->config;
	if (!err)
		err = dl_torus_discover_again(w.now.fabric, in->config, NULL, NULL, &w.now.torus);
	if (!err)
		err = grow_route(&w, NULL, &w.now);
	if (!err)
		err = grow_write(&w, 0, NULL);
	for (uint32_t n = 1; !err && n <= p->nsteps; n++) {
		json_t *step = json_pack("{s:i, s:b, s:i, s:[], s:i}", "step", n, "safe", true,
					 "pairs_interrupted", 0, "interrupted", "reconnect_pairs",
					 0);

		dl_progress(&tool->log, "routing", " steps", n, p->nsteps);
		err = step ? grow_take_step(&w, n, step) : -ENOMEM;
		json_array_append_new(steps, step);
	}
	dl_progress(&tool->log, "routing", " steps", 1, 1);
	for (uint32_t n = p->nsteps + 1; !err && grow_remove(&w, n, "net"); n++) {
		grow_remove(&w, n, "dls");
		grow_remove(&w, n, "avoid");
	}
	if (!err)
		*out = json_pack("{s:s#, s:i, s:o, s:o, s:o, s:o}", "dim", &"xyz"[p->request->dim],
				 (size_t)1, "by", p->request->by, "from",
				 grow_radices(grow_grid(p, grow_state(p, 0))), "to",
				 grow_radices(grow_grid(p, grow_state(p, p->nsteps))), "steps",
				 steps, "unplaced", grow_unplaced(p, w.now.torus));
	else
		json_decref(steps);
	grow_drop(&w.now);
	dl_torus_config_free(w.after);
	free(w.avoid);
	return err;
}
