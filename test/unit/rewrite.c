/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tables that are rewritten under traffic, in the emulator.
 *
 * First against an obvious model: the same writes as one fault `tables` each,
 * with all that has been written by then.  Then a campaign: random failures and
 * repairs of scrambled tori, each written directly and step by step.  Directly
 * some deadlock; step by step none does, and all packets leave the fabric.
 *
 * DATELINE_REWRITES sets the length of the campaign, DATELINE_TEST_SEED others.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dateline/emu.h"
#include "dateline/route.h"
#include "grid_fabric.h"
#include "share.h"
#include "transition/internal.h"

#define REWRITES share(30)
#define AT_NS 30000
#define SMP_NS 5000
#define DRAIN_NS 200000
#define DURATION_NS 800000

/* A fabric, what is left of it, and tables of both for the whole fabric. */
struct change {
	struct grid_fabric g;
	struct dl_torus_config *config;
	struct dl_fabric *left;
	bool *dead, *cut;
	struct dl_route_result whole, hurt;
	struct dl_tables *before; /* what the emulation begins with */
	const struct dl_tables *after;
	bool repair;
};

static int route(const struct change *c, const struct dl_fabric *f, struct dl_route_result *out)
{
	struct dl_route_options o;
	struct dl_torus *t;
	int err = dl_torus_discover(f, c->config, NULL, &t);

	if (err)
		return err;
	dl_route_options_init(&o);
	err = dl_route(t, c->config, &o, NULL, out);
	dl_torus_free(t);
	return err ? err : dl_route_tree_group_all(out->tree, out->tables);
}

static void build(struct change *c, struct test_random *r, const struct dl_torus_grid *grid)
{
	struct dl_torus *t;

	c->g = (struct grid_fabric){ .grid = *grid, .hosts = 1, .parallel = 1, .shuffle = r };
	grid_build(&c->g);
	grid_seed(&c->g, 0, true);
	assert_int_equal(dl_torus_discover(c->g.fabric, &c->g.config, NULL, &t), 0);
	assert_int_equal(dl_torus_describe(t, 3, &c->config), 0);
	dl_torus_free(t);
	c->dead = calloc(c->g.fabric->nnodes + 1, sizeof(*c->dead));
	c->cut = calloc(c->g.fabric->nports + 1, sizeof(*c->cut));
	assert_true(c->dead && c->cut);
	assert_int_equal(route(c, c->g.fabric, &c->whole), 0);
}

static uint32_t draw_cable(const struct dl_fabric *f, struct test_random *r)
{
	uint32_t port;

	do
		port = test_random(r, f->nports);
	while (!dl_fabric_is_switch(f, f->ports[port].node) ||
	       dl_fabric_peer_switch(f, port) == DL_NONE);
	return port;
}

/*
 * Fail one to four cables, or from kind 4 on one to three switches, so that it is routed.
 * The third switch is that with the highest LID, or has it at an adapter.
 */
static void hurt(struct change *c, struct test_random *r, unsigned int kind)
{
	const struct dl_fabric *f = c->g.fabric;
	uint32_t top = dl_fabric_access_switch(f, f->lid_port[f->top_lid]);
	int err = -1;

	while (err) {
		dl_fabric_free(c->left);
		c->left = NULL;
		memset(c->dead, 0, f->nnodes);
		memset(c->cut, 0, f->nports);
		for (unsigned int i = 0; kind < 4 && i <= kind; i++)
			c->cut[draw_cable(f, r)] = true;
		for (unsigned int i = 4; i <= kind; i++)
			c->dead[f->switches[i == 6 ? top : test_random(r, f->nswitches)]] = true;
		assert_int_equal(dl_fabric_degrade(f, c->dead, c->cut, &c->left), 0);
		err = dl_fabric_is_connected(c->left) != 1;
		if (!err)
			err = route(c, c->left, &c->hurt);
	}
}

static void finish(struct change *c, bool repair)
{
	c->repair = repair;
	c->after = repair ? c->whole.tables : c->hurt.tables;
	assert_int_equal(dl_transition_hold(repair ? c->hurt.tables : c->whole.tables, c->g.fabric,
					    &c->before),
			 0);
}

static void release(struct change *c)
{
	dl_tables_free(c->before);
	dl_route_result_release(&c->whole);
	dl_route_result_release(&c->hurt);
	dl_fabric_free(c->left);
	dl_torus_config_free(c->config);
	grid_free(&c->g);
	free(c->dead);
	free(c->cut);
}

/* ---- scenarios -------------------------------------------------------------- */

/* Cables are gone before they are routed round, and back before they are used. */
static void write_cables(const struct change *c, FILE *to)
{
	const struct dl_fabric *f = c->g.fabric;

	for (uint32_t p = 0; p < f->nports; p++) {
		const struct dl_fabric_port *port = &f->ports[p];
		bool dead = c->dead[port->node] ||
			    (port->peer != DL_NONE && c->dead[f->ports[port->peer].node]);

		/* Once for each cable is enough, and no harm if it is twice. */
		if (!c->cut[p] && (!dead || port->peer == DL_NONE || port->peer < p))
			continue;
		fprintf(to, "  - {at_ns: %u, fault: link_down, node: '0x%016llx', port: %u%s}\n",
			c->repair ? 0 : AT_NS - 5000, (unsigned long long)f->nodes[port->node].guid,
			port->num, c->repair ? ", for_ns: 25000" : "");
	}
}

/* All adapters but those of dead switches, whose packets would wait for ever. */
static void write_sources(const struct change *c, FILE *to)
{
	const struct dl_fabric *f = c->g.fabric;
	const char *comma = "";

	for (uint32_t p = 0; p < f->nports; p++) {
		uint32_t node = f->ports[p].node, s;

		if (!f->ports[p].lid || f->nodes[node].type != DL_FABRIC_CA)
			continue;
		s = dl_fabric_access_switch(f, p);
		if (c->dead[f->switches[s]])
			continue;
		fprintf(to, "%s'0x%016llx'", comma, (unsigned long long)f->nodes[node].guid);
		comma = ", ";
	}
}

static FILE *begin_scenario(const struct change *c, uint32_t duration_ns)
{
	FILE *to = tmpfile();

	assert_non_null(to);
	fprintf(to,
		"duration_ns: %u\nbuffer_blocks: 66\nseed: 7\n"
		"traffic:\n  - {pattern: uniform, load: 0.3, sources: [",
		duration_ns);
	write_sources(c, to);
	fprintf(to, "]}\nfaults:\n");
	write_cables(c, to);
	return to;
}

typedef int (*read_tables)(void *context, const char *dir, struct dl_snapshot *out);

static void run(const struct change *c, FILE *scenario, read_tables read, void *context,
		uint32_t threads, struct dl_emu_result *out)
{
	struct dl_emu_scenario_options options = { .read_tables = read, .context = context };
	struct dl_emu_scenario *s;

	memset(out, 0, sizeof(*out));
	rewind(scenario);
	assert_int_equal(dl_emu_scenario_read_stream(scenario, "scenario", c->before, &options,
						     NULL, &s),
			 0);
	dl_emu_scenario_set_threads(s, threads);
	assert_int_equal(dl_emu_scenario_run(s, NULL, NULL, NULL, out), 0);
	dl_emu_scenario_free(s);
}

static void assert_same(const struct change *c, const struct dl_emu_result *a,
			const struct dl_emu_result *b)
{
	const struct dl_emu_totals *x = dl_emu_totals(a->emu), *y = dl_emu_totals(b->emu);

	assert_int_equal(x->injected, y->injected);
	assert_int_equal(x->delivered, y->delivered);
	assert_memory_equal(x->drops, y->drops, sizeof(x->drops));
	assert_int_equal(x->packet_hops, y->packet_hops);
	assert_int_equal(x->latency_sum, y->latency_sum);
	assert_int_equal(dl_emu_cycle(a->emu)->n, dl_emu_cycle(b->emu)->n);
	for (uint32_t p = 0; p < c->g.fabric->nports; p++)
		assert_memory_equal(dl_emu_port(a->emu, p), dl_emu_port(b->emu, p),
				    sizeof(struct dl_emu_port));
}

/* ---- the model --------------------------------------------------------------- */

#define MOST_SETS 256

/* Tables by the number of writes: from each set of tables to the next. */
struct model {
	const struct change *c;
	struct dl_transition plan;
	struct dl_transition_waves steps;
	struct dl_tables *sets[MOST_SETS];
	bool drains[MOST_SETS]; /* behind this set */
	struct dl_transition_write *writes[MOST_SETS];
	uint32_t n[MOST_SETS], nsets, maps, opening; /* maps: of the writes directly */
	bool direct;
};

static int read_after(void *context, const char *dir, struct dl_snapshot *out)
{
	const struct change *c = context;

	(void)dir;
	return dl_transition_copy(c->after, c->after, &out->tables);
}

/* Another set, as the last one is. */
static struct dl_tables *add_set(struct model *w, const struct dl_tables *from)
{
	assert_true(w->nsets < MOST_SETS);
	assert_int_equal(dl_transition_copy(from, w->c->after, &w->sets[w->nsets]), 0);
	return w->sets[w->nsets++];
}

static void copy_groups(struct dl_tables *t, const struct dl_tables *from)
{
	for (uint32_t g = 0; g < t->ngroups; g++) {
		const struct dl_tables_mcast_group *other =
			dl_tables_find_group(from, t->groups[g].mlid);

		dl_tables_masks_clear(&t->groups[g].masks);
		assert_true(!other || !dl_tables_masks_copy(&t->groups[g].masks, &other->masks));
	}
}

/* The sets of a step; a plan in phases has whole ones. */
static void add_step(struct model *w, uint32_t i)
{
	const struct dl_transition_step *s = &w->steps.steps[i];
	const struct dl_tables *whole = s->kind == DL_TRANSITION_CLOSE ? w->plan.closed :
									 w->plan.opened;
	struct dl_tables *t = NULL;
	uint32_t barrier = UINT32_MAX;

	if (s->kind == DL_TRANSITION_MAPS)
		return;
	if (s->kind == DL_TRANSITION_WAIT) {
		w->drains[w->nsets - 1] = s->drain;
		return;
	}
	for (uint32_t k = 0; k < w->steps.nmoves; k++) {
		const struct dl_transition_move *m = &w->steps.moves[k];

		if (m->step != i)
			continue;
		if (m->barrier != barrier)
			t = add_set(w, w->sets[w->nsets - 1]);
		barrier = m->barrier;
		t->lft[m->sw * (size_t)t->stride + m->lid] = m->port;
	}
	if (!t) {
		t = add_set(w, w->steps.in_phases ? whole : w->sets[w->nsets - 1]);
		copy_groups(t, whole);
	}
	w->drains[w->nsets - 1] = s->drain;
	if (w->steps.in_phases && s->kind == DL_TRANSITION_CLOSE)
		w->opening = w->nsets;
}

/* The first n writes that lead to a set have been done; maps are new, or will be. */
static int read_prefix(void *context, const char *dir, struct dl_snapshot *out)
{
	const struct model *w = context;
	unsigned int k, n;
	bool mapped;
	int err;

	assert_int_equal(sscanf(dir, "%u-%u", &k, &n), 2);
	mapped = w->direct ? n > w->maps : k >= w->opening;
	err = dl_transition_copy(mapped ? w->plan.opened : w->plan.held, w->plan.held,
				 &out->tables);
	if (err)
		return err;
	memcpy(out->tables->lft, w->sets[k - 1]->lft,
	       w->plan.held->fabric->nswitches * (size_t)w->plan.held->stride);
	copy_groups(out->tables, w->sets[k - 1]);
	for (uint32_t i = 0; i < n && i < w->n[k]; i++)
		dl_transition_put(out->tables, w->sets[k], &w->writes[k][i]);
	return 0;
}

static void list_model(struct model *w, FILE *to)
{
	uint32_t at = AT_NS;

	assert_int_equal(dl_transition_plan(w->c->before, w->c->after, &w->plan), 0);
	if (!w->direct)
		assert_int_equal(
			dl_transition_waves(&w->plan, dl_transition_work(&w->plan), &w->steps), 0);
	add_set(w, w->plan.held);
	for (uint32_t i = 0; i < w->steps.nsteps; i++)
		add_step(w, i);
	add_set(w, w->plan.opened);
	for (uint32_t k = 1; k < w->nsets; k++) {
		assert_int_equal(dl_transition_writes(w->sets[k - 1], w->sets[k], &w->writes[k],
						      &w->n[k]),
				 0);
		for (uint32_t n = 1; n <= w->n[k]; n++) {
			fprintf(to, "  - {at_ns: %u, fault: tables, snapshot: %u-%u}\n", at, k, n);
			at += SMP_NS;
		}
		at += w->drains[k] ? DRAIN_NS : 0;
	}
	while (w->direct && w->maps < w->n[1] && !w->writes[1][w->maps].multicast)
		w->maps++;
	if (w->direct && w->maps == w->n[1])
		fprintf(to, "  - {at_ns: %u, fault: tables, snapshot: 1-%u}\n", at, w->maps + 1);
}

static void release_model(struct model *w)
{
	for (uint32_t k = 0; k < w->nsets; k++) {
		dl_tables_free(w->sets[k]);
		free(w->writes[k]);
	}
	dl_transition_waves_release(&w->steps);
	dl_transition_release(&w->plan);
}

static void compare(const struct change *c, bool direct)
{
	struct dl_emu_result a, b, d;
	struct model w = { .c = c, .direct = direct };
	FILE *plain = begin_scenario(c, DURATION_NS), *model = begin_scenario(c, DURATION_NS);

	fprintf(plain,
		"  - {at_ns: %u, fault: rewrite, snapshot: after, smp_ns: %u, in_flight: 1, %s}\n",
		AT_NS, SMP_NS, direct ? "phases: false" : "drain_ns: 200000");
	list_model(&w, model);
	assert_true(w.n[1] && (direct || w.nsets > 2));
	run(c, plain, read_after, (void *)c, 1, &a);
	run(c, model, read_prefix, &w, 1, &b);
	assert_same(c, &a, &b);
	run(c, plain, read_after, (void *)c, 3, &d);
	assert_same(c, &a, &d);
	dl_emu_result_free(&a);
	dl_emu_result_free(&b);
	dl_emu_result_free(&d);
	release_model(&w);
	fclose(plain);
	fclose(model);
}

static void same_as_tables_one_by_one(void **state)
{
	static const struct dl_torus_grid small[] = { { { 4, 3, 1 }, { 0 } },
						      { { 3, 3, 2 }, { 0 } } };
	struct test_random r = { .seed = test_seed(3) };

	(void)state;
	for (unsigned int i = 0; i < 8; i++) {
		struct change c = { 0 };

		build(&c, &r, &small[i & 1]);
		hurt(&c, &r, i);
		finish(&c, i & 2);
		compare(&c, i & 4);
		release(&c);
	}
}

/* ---- the campaign ----------------------------------------------------------- */

static const struct dl_torus_grid grids[] = {
	{ { 6, 5, 1 }, { 0 } },	   { { 6, 5, 1 }, { 0 } }, { { 5, 4, 3 }, { 0 } },
	{ { 6, 5, 1 }, { 0 } },	   { { 5, 5, 5 }, { 0 } }, { { 6, 5, 1 }, { 0 } },
	{ { 7, 8, 1 }, { true } }, { { 6, 5, 1 }, { 0 } }, { { 5, 5, 5 }, { true, true, true } },
};
#define NGRIDS (sizeof(grids) / sizeof(*grids))
#define LARGE 15 /* one of so many is 8x8x8, in campaigns longer than usual */

/* How one set is written over the other. */
struct way {
	uint64_t writes;
	uint32_t drains, smp_ns, in_flight;
	bool any;
};

static struct way draw_way(const struct change *c, struct test_random *r)
{
	struct dl_transition_waves steps;
	struct dl_transition plan;
	struct way w = { .in_flight = 1 + test_random(r, 8), .any = test_random(r, 2) };

	assert_int_equal(dl_transition_plan(c->before, c->after, &plan), 0);
	assert_int_equal(dl_transition_waves(&plan, dl_transition_work(&plan), &steps), 0);
	w.writes = steps.writes > plan.writes ? steps.writes : plan.writes;
	for (uint32_t i = 0; i < steps.nsteps; i++)
		w.drains += steps.steps[i].drain;
	dl_transition_waves_release(&steps);
	dl_transition_release(&plan);
	/* As slow as in a fabric, up to 20 us, or so fast that it does not take for ever. */
	w.smp_ns = 2000 + test_random(r, 18000);
	if (w.smp_ns * w.writes > 2000000)
		w.smp_ns = 2000000 / w.writes + 1;
	return w;
}

/* Does it deadlock?  If not, the rewrite ends, and no packet stays behind. */
static bool deadlocks(const struct change *c, const struct way *w, bool direct)
{
	FILE *to =
		begin_scenario(c, AT_NS + w->smp_ns * (w->writes + 3) + (w->drains + 1) * DRAIN_NS);
	struct dl_emu_result result;
	bool cycle;

	fprintf(to,
		"  - {at_ns: %u, fault: rewrite, snapshot: after, order: %s, smp_ns: %u, "
		"in_flight: %u, phases: %s%s}\n",
		AT_NS, w->any ? "any" : "opensm", w->smp_ns, w->in_flight,
		direct ? "false" : "true", direct ? "" : ", drain_ns: 200000");
	run(c, to, read_after, (void *)c, 1, &result);
	cycle = dl_emu_cycle(result.emu)->n;
	if (!cycle)
		assert_int_equal(dl_emu_totals(result.emu)->in_flight, 0);
	for (uint32_t i = 0; !cycle && i < result.nwarnings; i++)
		assert_null(strstr(result.warnings[i], "in the middle of the rewrite"));
	dl_emu_result_free(&result);
	fclose(to);
	return cycle;
}

static void no_deadlock_in_phases(void **state)
{
	const char *text = getenv("DATELINE_REWRITES");
	uint32_t n = text ? strtoul(text, NULL, 10) : REWRITES, direct = 0, phased = 0;
	static const struct dl_torus_grid large = { { 8, 8, 8 }, { 0 } };
	struct test_random r = { .seed = test_seed(4) };

	(void)state;
	for (uint32_t i = 0; i < n; i++) {
		bool is_large = n > REWRITES && i % LARGE == LARGE - 1;
		struct change c = { 0 };
		struct way w;

		build(&c, &r, is_large ? &large : &grids[i % NGRIDS]);
		hurt(&c, &r, test_random(&r, 6));
		finish(&c, test_random(&r, 2));
		w = draw_way(&c, &r);
		direct += deadlocks(&c, &w, true);
		phased += deadlocks(&c, &w, false);
		if (n > REWRITES)
			print_message("%u rewrites, deadlocks: %u directly, %u in phases\n", i + 1,
				      direct, phased);
		release(&c);
	}
	print_message("%u rewrites, deadlocks: %u directly, %u in phases\n", n, direct, phased);
	assert_true(direct > 0);
	assert_int_equal(phased, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_as_tables_one_by_one),
		cmocka_unit_test(no_deadlock_in_phases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
