/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The check of what dl_route() hands out: each broken promise fails it. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "route/internal.h"
#include "grid_fabric.h"

struct state {
	struct grid_fabric g;
	struct dl_torus *torus;
	struct dl_route_result r;
	unsigned int reported;
};

static void count(void *context, enum dl_log_level level, const char *message)
{
	struct state *s = context;

	assert_int_equal(level, DL_LOG_ERROR);
	assert_non_null(strstr(message, "check.c:"));
	s->reported++;
}

static int set_up(void **state)
{
	struct state *s = calloc(1, sizeof(*s));
	struct dl_route_options o;

	assert_non_null(s);
	s->g = (struct grid_fabric){ .grid = { .radix = { 4, 3, 1 } }, .hosts = 1, .parallel = 1 };
	grid_build(&s->g);
	grid_seed(&s->g, 0, true);
	assert_int_equal(dl_torus_discover(s->g.fabric, &s->g.config, NULL, &s->torus), 0);
	dl_route_options_init(&o);
	assert_int_equal(dl_route(s->torus, &s->g.config, &o, NULL, &s->r), 0);
	*state = s;
	return 0;
}

static int tear_down(void **state)
{
	struct state *s = *state;

	dl_route_result_release(&s->r);
	dl_torus_free(s->torus);
	grid_free(&s->g);
	free(s);
	return 0;
}

static bool check(struct state *s, bool proven)
{
	const struct dl_log log = { .write = count, .context = s };
	const struct dl_route_options o = { .mode = proven ? DL_ROUTE_PROVEN : DL_ROUTE_CLASSIC };
	const struct dl_route_pass p = {
		.torus = s->torus, .options = &o, .log = &log, .out = &s->r
	};

	return dl_route_result_sound(&p);
}

static void good_tables_pass(void **state)
{
	struct state *s = *state;

	assert_true(check(s, true));
	assert_true(check(s, false));
	assert_int_equal(s->reported, 0);
}

static void assert_broken(struct state *s, bool proven)
{
	assert_false(check(s, proven));
	assert_int_equal(s->reported, 1);
	s->reported = 0;
}

static void each_broken_promise_fails(void **state)
{
	struct state *s = *state;
	struct dl_route_result *r = &s->r, whole = *r;
	uint8_t *entry = &r->tables->lft[r->tables->stride + 3], old = *entry;

#ifdef DL_DEBUG
	skip(); /* a broken invariant aborts */
#endif
	*entry = s->g.fabric->nodes[s->g.fabric->switches[1]].nports + 1;
	assert_broken(s, false);
	*entry = old;
	r->tree = NULL;
	assert_broken(s, true);
	assert_true(check(s, false)); /* as where classic mode's tree misses a switch */
	*r = whole;
	r->tree->nswitches--;
	assert_broken(s, false);
	r->tree->nswitches++;
	r->tables = NULL;
	assert_broken(s, false);
	*r = whole;
	r->tables->top_lid--;
	assert_broken(s, false);
	r->tables->top_lid++;
	r->verification->verdict = DL_VERIFY_LOOP;
	assert_broken(s, true);
	r->verification->verdict = DL_VERIFY_FREE;
	r->verification->delivered = false;
	assert_broken(s, true);
	assert_true(check(s, false));
	r->verification->delivered = true;
	r->verification = NULL;
	assert_broken(s, true);
	*r = whole;
	assert_true(check(s, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(good_tables_pass, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_broken_promise_fails, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
