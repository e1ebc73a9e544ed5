/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The check before tables go to the switches: each broken promise fails it. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "plugin/check.h"
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

static int check(struct state *s, bool proven)
{
	const struct dl_log log = { .write = count, .context = s };

	return dl_check_routed(s->g.fabric, &s->r, proven, &log);
}

static void good_tables_pass(void **state)
{
	struct state *s = *state;

	assert_int_equal(check(s, true), 0);
	assert_int_equal(check(s, false), 0);
	assert_int_equal(s->reported, 0);
}

static void assert_broken(struct state *s, bool proven)
{
	assert_int_equal(check(s, proven), -EPROTO);
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
	assert_broken(s, false);
	*r = whole;
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
	assert_int_equal(check(s, false), 0);
	r->verification->delivered = true;
	r->verification = NULL;
	assert_broken(s, true);
	*r = whole;
	assert_int_equal(check(s, true), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(good_tables_pass, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_broken_promise_fails, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
