/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Cables and switches taken out of use and put back (rules A15), on random tori and
 * meshes that have failures already: nothing is sent across what is out of use, every
 * pair stays connected, what stays in use has to, path SLs and maps stay, and afterwards
 * the tables are those of before.  The connectivity and the paths are those of a plain
 * search here.  Some of the changes, or DATELINE_CHANGES of 2,000, are judged in steps.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "routed.h"
#include "share.h"
#include "dateline/base.h"
#include "dateline/route.h"
#include "dateline/transition.h"

#define ROUNDS 1000 /* in a whole check */
#define CHANGES 400 /* ... judged in steps */
#define MOST_ENTRIES 12

static uint32_t seed;

static const struct dl_torus_grid shapes[] = {
	{ { 3, 3, 3 }, { false, false, false } }, { { 6, 5, 1 }, { false, false, false } },
	{ { 4, 4, 1 }, { false, false, false } }, { { 5, 4, 3 }, { true, false, false } },
	{ { 2, 3, 4 }, { false, false, false } }, { { 7, 8, 1 }, { false, true, false } },
	{ { 4, 4, 4 }, { false, false, false } }, { { 8, 3, 2 }, { false, false, false } },
};

/* ---- lists --------------------------------------------------------------- */

static void count_errors(void *context, enum dl_log_level level, const char *message)
{
	(void)message;
	*(unsigned int *)context += level == DL_LOG_ERROR;
}

static int avoid_read(const char *text, struct dl_route_avoid **out, unsigned int *errors)
{
	const struct dl_log log = { .write = count_errors, .context = errors };
	FILE *from = fmemopen((void *)text, strlen(text), "r");
	int err;

	assert_non_null(from);
	*errors = 0;
	err = dl_route_avoid_read_stream(from, "list", &log, out);
	fclose(from);
	return err;
}

/* A list of random cables and switches; sometimes many of one place. */
static void draw_list(const struct dl_fabric *f, struct test_random *r, char *text, size_t size)
{
	uint32_t n = 1 + test_random(r, MOST_ENTRIES), sw = test_random(r, f->nswitches);
	bool storm = !test_random(r, 4);

	*text = '\0';
	for (uint32_t i = 0; i < n; i++) {
		const struct dl_fabric_node *node;
		size_t used = strlen(text);

		if (!storm)
			sw = test_random(r, f->nswitches);
		node = &f->nodes[f->switches[sw]];
		if (!storm && !test_random(r, 3))
			snprintf(text + used, size - used, "switch 0x%016llx # out\n",
				 (unsigned long long)node->guid);
		else
			snprintf(text + used, size - used, "cable \"%s\"/%u\n",
				 dl_fabric_node_name(f, f->switches[sw]),
				 1 + test_random(r, node->nports));
	}
}

/* ---- a plain model ------------------------------------------------------- */

struct model {
	const struct dl_fabric *f;
	bool *cut, *leaf, *seen;
	uint32_t *queue;
};

static void model_init(struct model *m, const struct dl_fabric *f)
{
	*m = (struct model){ f, calloc(f->nports + 1, 1), calloc(f->nswitches + 1, 1),
			     calloc(f->nswitches + 1, 1), calloc(f->nswitches + 1, 4) };
}

static void model_free(struct model *m)
{
	free(m->cut);
	free(m->leaf);
	free(m->seen);
	free(m->queue);
}

static void model_set(struct model *m, const struct dl_route_avoided_item *item, bool on)
{
	if (item->port == DL_NONE) {
		m->leaf[item->sw] = on;
	} else {
		m->cut[item->port] = on;
		m->cut[m->f->ports[item->port].peer] = on;
	}
}

/* Can every switch send to every other one? */
static bool model_connected(const struct model *m)
{
	for (uint32_t from = 0; from < m->f->nswitches; from++) {
		uint32_t tail = 0;

		memset(m->seen, 0, m->f->nswitches);
		m->seen[from] = true;
		m->queue[tail++] = from;
		for (uint32_t head = 0; head < tail; head++) {
			uint32_t sw = m->queue[head];
			const struct dl_fabric_node *n = &m->f->nodes[m->f->switches[sw]];

			for (unsigned int p = 1; p <= n->nports; p++) {
				uint32_t to = dl_fabric_peer_switch(m->f, n->first_port + p);

				if (to == DL_NONE || m->seen[to] || m->cut[n->first_port + p] ||
				    (sw != from && m->leaf[sw]))
					continue;
				m->seen[to] = true;
				m->queue[tail++] = to;
			}
		}
		if (tail < m->f->nswitches)
			return false;
	}
	return true;
}

/* Returns how many entries are out of use. */
static uint32_t check_states(const struct dl_fabric *f, const struct dl_route_avoided *a,
			     struct model *m)
{
	uint32_t out = 0, i, leaves = 0;

	for (i = 0; i < a->n; i++)
		if (a->items[i].state == DL_ROUTE_AVOID_OUT) {
			model_set(m, &a->items[i], true);
			out++;
		}
	for (i = 0; i < f->nports; i++)
		assert_int_equal(a->cut[i], m->cut[i]);
	for (i = 0; i < f->nswitches; i++) {
		assert_int_equal(a->leaf[i], m->leaf[i]);
		leaves += m->leaf[i];
	}
	assert_true(model_connected(m));
	for (i = 0; i < a->n; i++) {
		const struct dl_route_avoided_item *item = &a->items[i];

		if (item->state != DL_ROUTE_AVOID_ONLY_WAY)
			continue;
		assert_true(item->switches + item->adapters);
		if (item->port != DL_NONE && !dl_fabric_joins_switches(f, item->port))
			continue;
		model_set(m, item, true);
		assert_true(!model_connected(m) || leaves + 1 == f->nswitches);
		model_set(m, item, false);
	}
	return out;
}

/* From every switch to every LID: delivered, and never across what is out of use. */
static void check_paths(const struct dl_tables *t, const struct model *m)
{
	const struct dl_fabric *f = t->fabric;

	for (uint32_t from = 0; from < f->nswitches; from++) {
		for (uint32_t lid = 1; lid <= t->top_lid; lid++) {
			uint32_t end = f->lid_port[lid], at = from, hops = 0, to;

			if (end == DL_NONE)
				continue;
			to = dl_fabric_access_switch(f, end);
			for (; at != to; hops++) {
				uint32_t port = f->nodes[f->switches[at]].first_port +
						dl_tables_lft(t, at, lid);

				assert_int_not_equal(dl_tables_lft(t, at, lid), DL_TABLES_NO_PORT);
				assert_true(hops <= f->nswitches);
				assert_false(m->cut[port]);
				assert_false(at != from && m->leaf[at]);
				at = dl_fabric_peer_switch(f, port);
			}
		}
	}
}

static void check_groups(const struct dl_tables *t, const struct model *m)
{
	const struct dl_fabric *f = t->fabric;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *n = &f->nodes[f->switches[s]];
		unsigned int links = 0;

		for (unsigned int p = 1; p <= n->nports; p++) {
			if (!dl_tables_mask_get(&t->groups[0].masks, s, p) ||
			    dl_fabric_peer_switch(f, n->first_port + p) == DL_NONE)
				continue;
			assert_false(m->cut[n->first_port + p]);
			links++;
		}
		assert_false(m->leaf[s] && links > 1);
	}
}

static bool same_path_sls(const struct dl_tables *a, const struct dl_tables *b)
{
	for (uint32_t port = 0; port < a->fabric->nports; port++)
		for (uint32_t lid = 1; lid <= a->top_lid; lid++)
			if (a->fabric->ports[port].lid && a->fabric->lid_port[lid] != DL_NONE &&
			    dl_tables_path_sl(a, port, lid) != dl_tables_path_sl(b, port, lid))
				return false;
	return true;
}

/* ---- out and back -------------------------------------------------------- */

struct tally {
	uint32_t out, stays, switches;
	uint32_t changes, interrupting;
};

/* In steps a change is safe at every moment, and nobody opens a connection again. */
static void check_steps(const struct dl_tables *from, const struct dl_tables *to,
			struct tally *tally, uint64_t *interrupted)
{
	struct dl_transition_waves steps;
	struct dl_transition change;

	assert_int_equal(dl_transition_plan(from, to, &change), 0);
	assert_int_equal(dl_transition_waves(&change, dl_transition_work(&change), &steps), 0);
	assert_true(steps.safe);
	assert_int_equal(steps.reconnect_pairs, 0);
	tally->changes++;
	tally->interrupting += steps.pairs_interrupted != 0;
	*interrupted += steps.pairs_interrupted;
	dl_transition_waves_release(&steps);
	dl_transition_release(&change);
}

/* Out and back.  On a torus, with any SL, nobody is interrupted. */
static void check_changes(const struct dl_torus *t, enum dl_route_mode mode,
			  const struct dl_tables *before, const struct dl_tables *out,
			  struct tally *tally)
{
	uint64_t interrupted = 0;

	check_steps(before, out, tally, &interrupted);
	check_steps(out, before, tally, &interrupted);
	assert_true(!interrupted || mode == DL_ROUTE_PROVEN || t->nsites == 1);
}

static void check_out_and_back(const struct dl_torus *t, const struct dl_torus_config *c,
			       struct dl_route_options *o, const char *text, bool judged,
			       bool grouped, struct tally *tally)
{
	struct dl_route_result before, out, after;
	struct dl_route_avoided *avoided;
	struct dl_route_avoid *list;
	struct model m;
	unsigned int errors;

	model_init(&m, t->fabric);
	assert_int_equal(dl_route(t, c, o, NULL, &before), 0);
	assert_int_equal(avoid_read(text, &list, &errors), 0);
	assert_int_equal(dl_route_avoid_resolve(list, t->fabric, &avoided), 0);
	dl_route_avoid_free(list);
	tally->out += check_states(t->fabric, avoided, &m);
	o->avoid = avoided;
	assert_int_equal(dl_route(t, c, o, NULL, &out), 0);
	o->avoid = NULL;
	assert_int_equal(dl_route_tree_group_all(out.tree, out.tables), 0);
	check_paths(out.tables, &m);
	check_groups(out.tables, &m);
	assert_routed_safe(out.tables, o->mode);
	assert_true(same_path_sls(before.tables, out.tables));
	assert_true(dl_tables_same_vls(before.tables, out.tables));
	for (uint32_t i = 0; i < avoided->n; i++) {
		struct dl_route_avoided_item *item = &avoided->items[i];
		struct dl_route_avoid_use use = dl_route_avoid_count(item, out.tables);
		bool is_out = item->state == DL_ROUTE_AVOID_OUT;

		assert_true(!is_out || !(use.entries + use.groups));
		tally->stays += item->state == DL_ROUTE_AVOID_ONLY_WAY;
		tally->switches += is_out && item->port == DL_NONE;
	}
	assert_int_equal(dl_route(t, c, o, NULL, &after), 0);
	assert_true(dl_route_same_result(&before, &after));
	/* A group may come or go meanwhile. */
	if (grouped)
		assert_int_equal(dl_route_tree_group_all(before.tree, before.tables), 0);
	if (judged)
		check_changes(t, o->mode, before.tables, out.tables, tally);
	dl_route_result_release(&before);
	dl_route_result_release(&out);
	dl_route_result_release(&after);
	dl_route_avoided_free(avoided);
	model_free(&m);
}

/* Failures that leave most of the fabric; switches may lose so many cables that none places them. */
static void draw_damage(struct grid_fabric *g, struct test_random *r)
{
	uint32_t sites = dl_torus_grid_sites(&g->grid);

	do {
		memset(g->dead_switch, 0, sizeof(g->dead_switch));
		memset(g->dead_hop, 0, sizeof(g->dead_hop));
		for (uint32_t n = test_random(r, 3); n; n--)
			g->dead_switch[test_random(r, sites)] = true;
		for (uint32_t n = test_random(r, 6); n; n--)
			g->dead_hop[test_random(r, sites)][test_random(r, DL_TORUS_DIMS)] = true;
	} while (!grid_connected(g));
}

static void what_is_avoided_is_not_used(void **state)
{
	struct grid_fabric *g = calloc(1, sizeof(*g));
	struct test_random r = { seed, 0 };
	const char *wanted = getenv("DATELINE_CHANGES");
	uint32_t rounds = share(ROUNDS), changes = wanted ? strtoul(wanted, NULL, 0) : CHANGES;
	uint32_t each = 1 + (2 * ROUNDS - 1) / (changes ? changes : 1);
	struct tally tally = { 0 };
	char text[4096];

	(void)state;
	for (uint32_t i = 0; i < rounds; i++) {
		struct dl_torus_config *found = NULL;
		struct dl_route_options o;
		struct dl_torus *t;

		memset(g, 0, sizeof(*g));
		g->grid = shapes[i % (sizeof(shapes) / sizeof(*shapes))];
		g->hosts = 1 + test_random(&r, 2);
		g->parallel = 1 + !test_random(&r, 4);
		g->shuffle = &r;
		draw_damage(g, &r);
		grid_build(g);
		assert_int_equal(dl_torus_discover_any(g->fabric, NULL, NULL, &found, &t), 0);
		dl_route_options_init(&o);
		o.mode = i / 8 % 2 ? DL_ROUTE_ANY_SL : DL_ROUTE_PROVEN;
		o.ties = i / 16 % 2 ? DL_ROUTE_TIES_BALANCED : DL_ROUTE_TIES_CONFIGURED;
		draw_list(g->fabric, &r, text, sizeof(text));
		check_out_and_back(t, found, &o, text, (i + 1) % each == 0, i % 2 == 0, &tally);
		dl_torus_free(t);
		dl_torus_config_free(found);
		grid_free(g);
	}
	print_message("%u rounds: %u entries out of use (%u switches), %u the only way\n", rounds,
		      tally.out, tally.switches, tally.stays);
	print_message("%u changes in steps: %u interrupt some pair\n", tally.changes,
		      tally.interrupting);
	/* Storms in proven mode, where rings are long. */
	assert_true(tally.interrupting <= 1 + tally.changes / 20);
	assert_true(rounds < 100 || (tally.switches && tally.stays));
	free(g);
}

/* ---- the file ------------------------------------------------------------ */

static void every_bad_line_is_named(void **state)
{
	static const struct {
		const char *text;
		unsigned int errors;
	} lists[] = {
		{ "", 0 },
		{ "# nothing\n\n   # at all\n", 0 },
		{ "cable S_0/1\nswitch S_1  # why\ncable \"a \\ b # c\"/3 # d\n", 0 },
		{ "switch 0x123\nswitch \"x\"   \r\n", 0 },
		{ "cable\tS_0/1\n\tswitch \t S_1\t# why\ncable\t\"S_0\"/1\t\n", 0 },
		{ "cable S_0\n", 1 },
		{ "cable S_0/0\ncable S_0/255\ncable /1\n", 3 },
		{ "switch\nswitch \"x\ncables S/1\nswitch \"x\" y\nswitch S\n", 4 },
		{ "cable \"S\"x/3\n", 1 },
	};
	struct dl_route_avoid *list;
	unsigned int errors;

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		int err = *lists[i].text ? avoid_read(lists[i].text, &list, &errors) : 0;

		if (!*lists[i].text)
			continue;
		assert_int_equal(err, lists[i].errors ? -EINVAL : 0);
		assert_int_equal(errors, lists[i].errors);
		if (!err)
			dl_route_avoid_free(list);
	}
}

/* A line can name what is printed in quotes, whatever it is. */
static void odd_names_can_be_listed(void **state)
{
	const char *names[] = { "rack 7 # 2", "a \"b\" c",     "\"",   NULL, "sw port 3",
				" x\t",	      "cable \"S\"/1", "\"/#", "#" };
	struct grid_fabric g = { .grid = { .radix = { 3, 3, 1 } }, .hosts = 1, .parallel = 1 };
	struct dl_route_avoided *out;
	struct dl_route_avoid *list;
	struct dl_fabric *f;
	char text[256], guid[20];
	unsigned int errors;

	(void)state;
	grid_build(&g);
	f = g.fabric;
	snprintf(guid, sizeof(guid), "0x%llx",
		 (unsigned long long)dl_fabric_switch_node(f, 0)->guid);
	names[3] = guid;
	for (uint32_t sw = 0; sw < f->nswitches; sw++)
		assert_int_equal(dl_fabric_set_desc(f, f->switches[sw], names[sw]), 0);
	for (uint32_t sw = 0; sw < f->nswitches; sw++) {
		snprintf(text, sizeof(text),
			 "cable \"%s\"/2 # \"why\"\nswitch \"%s\"\nswitch \"%s\"\nswitch %s\n",
			 dl_fabric_node_name(f, f->switches[sw]),
			 dl_fabric_node_name(f, f->switches[sw]), guid, guid);
		assert_int_equal(avoid_read(text, &list, &errors), 0);
		assert_int_equal(dl_route_avoid_resolve(list, f, &out), 0);
		assert_int_equal(out->items[0].sw, sw);
		assert_int_equal(out->items[0].number, 2);
		assert_int_equal(out->items[1].sw, sw);
		assert_int_equal(out->items[2].sw, 3);
		assert_int_equal(out->items[3].sw, 0);
		dl_route_avoided_free(out);
		dl_route_avoid_free(list);
	}
	grid_free(&g);
}

/* The last cable of a switch is the only way to it, not to all others. */
static void the_smaller_part_is_cut_off(void **state)
{
	struct grid_fabric g = { .grid = { .radix = { 3, 3, 1 } }, .hosts = 2, .parallel = 1 };
	struct dl_route_avoided *out;
	struct dl_route_avoid *list;
	unsigned int errors;
	char text[512];

	(void)state;
	grid_build(&g);
	for (uint32_t sw = 0; sw < g.fabric->nswitches; sw++) {
		uint32_t node = g.fabric->switches[sw];

		*text = '\0';
		for (unsigned int p = 1; p <= g.fabric->nodes[node].nports; p++)
			if (dl_fabric_joins_switches(g.fabric,
						     g.fabric->nodes[node].first_port + p))
				dl_text_append(text, sizeof(text), "cable \"%s\"/%u\n",
					       dl_fabric_node_name(g.fabric, node), p);
		assert_int_equal(avoid_read(text, &list, &errors), 0);
		assert_int_equal(dl_route_avoid_resolve(list, g.fabric, &out), 0);
		assert_int_equal(out->n, 4);
		assert_int_equal(out->items[3].state, DL_ROUTE_AVOID_ONLY_WAY);
		assert_int_equal(out->items[3].switches, 1);
		assert_int_equal(out->items[3].adapters, 2);
		dl_route_avoided_free(out);
		dl_route_avoid_free(list);
	}
	grid_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_smaller_part_is_cut_off),
		cmocka_unit_test(what_is_avoided_is_not_used),
		cmocka_unit_test(odd_names_can_be_listed),
		cmocka_unit_test(every_bad_line_is_named),
	};

	seed = test_seed(30);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
