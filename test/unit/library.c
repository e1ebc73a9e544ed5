/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The shared library as its users see it: one header, one entry to routing,
 * and a refusal that says why.
 */
#include <dateline.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* A torus 6x5 with (2,2) and (3,2) failed, with coordinates. */
struct damaged {
	struct dl_fabric *fabric;
	struct dl_torus_config *config;
	struct dl_torus *torus;
	struct dl_route_options options;
	struct dl_route_result result;
	char errors[4096]; /* logged */
};

static void keep_errors(void *context, enum dl_log_level level, const char *message)
{
	struct damaged *d = context;
	size_t used = strlen(d->errors);

	if (level == DL_LOG_ERROR)
		snprintf(d->errors + used, sizeof(d->errors) - used, "%s\n", message);
}

static int route(struct damaged *d, enum dl_route_mode mode)
{
	const struct dl_log log = { .write = keep_errors, .context = d };

	dl_route_result_release(&d->result);
	d->options.mode = mode;
	d->errors[0] = '\0';
	return dl_route(d->torus, d->config, &d->options, &log, &d->result);
}

static int set_up(void **state)
{
	static struct damaged d;
	static const uint32_t failed[] = { 2 + 6 * 2, 3 + 6 * 2 };
	const struct dl_torus_plan plan = { .grid = { .radix = { 6, 5, 1 } },
					    .hosts = 1,
					    .parallel = 1,
					    .failed_sites = failed,
					    .nfailed_sites = 2 };

	memset(&d, 0, sizeof(d));
	*state = &d;
	assert_int_equal(dl_torus_generate(&plan, NULL, &d.fabric, &d.config), 0);
	assert_int_equal(dl_fabric_assign_lids(d.fabric, 0), 0);
	assert_int_equal(dl_torus_discover(d.fabric, d.config, NULL, &d.torus), 0);
	dl_route_options_init(&d.options);
	return 0;
}

static int tear_down(void **state)
{
	struct damaged *d = *state;

	dl_route_result_release(&d->result);
	dl_torus_free(d->torus);
	dl_torus_config_free(d->config);
	dl_fabric_free(d->fabric);
	return 0;
}

/* Are these tables safe, with all adapters in one group on the tree? */
static bool is_safe(const struct damaged *d, uint32_t *ncycle)
{
	struct dl_verify_result *v;
	bool safe;

	assert_int_equal(dl_route_verify_sls(d->result.tables, d->result.tree, 0,
					     DL_ROUTE_MULTICAST_SLS, &v),
			 0);
	assert_int_equal(v->pairs, 56 * 55);
	*ncycle = v->cycle.n;
	safe = v->delivered && v->verdict == DL_VERIFY_FREE;
	dl_verify_result_free(v);
	return safe;
}

static void proven_mode_routes_it(void **state)
{
	struct damaged *d = *state;
	uint32_t ncycle;

	assert_int_equal(d->options.mode, DL_ROUTE_PROVEN);
	assert_int_equal(route(d, DL_ROUTE_PROVEN), 0);
	assert_string_equal(d->errors, "");
	assert_int_equal(d->result.refusal, DL_ROUTE_ACCEPTED);
	assert_true(is_safe(d, &ncycle));
	assert_int_equal(d->result.report.pairs, 56 * 55);
	assert_true(d->result.report.moved + d->result.report.rerouted > 0);
	assert_non_null(d->result.verification);
	assert_int_equal(d->result.verification->verdict, DL_VERIFY_FREE);
	assert_false(d->result.verification->credit_loop);
	assert_int_equal(d->result.tree->norder, 28);
}

static void classic_mode_refuses_it(void **state)
{
	struct damaged *d = *state;

	assert_int_equal(route(d, DL_ROUTE_CLASSIC), -ENOTSUP);
	assert_int_equal(d->result.refusal, DL_ROUTE_SWITCHES_MISSING);
	assert_null(d->result.tables);
	assert_null(d->result.tree);
	assert_non_null(strstr(d->errors, "2 switches are missing"));
	assert_non_null(strstr(d->errors, "no switch at (2,2,0)"));
	assert_non_null(strstr(d->errors, "no switch at (3,2,0)"));
}

/* What classic mode refuses has a credit loop, and it can be had. */
static void unchecked_mode_shows_the_loop(void **state)
{
	struct damaged *d = *state;
	uint32_t ncycle;

	assert_int_equal(route(d, DL_ROUTE_UNCHECKED), 0);
	assert_false(is_safe(d, &ncycle));
	assert_true(ncycle > 0);
}

/* A ring in two pieces: another reason, other culprits. */
static void a_split_ring_is_named(void **state)
{
	static const struct dl_torus_failed_hop cut[] = { { .site = 6 }, { .site = 8 } };
	const struct dl_torus_plan plan = { .grid = { .radix = { 6, 5, 1 } },
					    .hosts = 1,
					    .parallel = 1,
					    .failed_hops = cut,
					    .nfailed_hops = 2 };
	struct damaged d = { 0 };
	struct damaged *split = &d;

	(void)state;
	dl_route_options_init(&d.options);
	assert_int_equal(dl_torus_generate(&plan, NULL, &d.fabric, &d.config), 0);
	assert_int_equal(dl_fabric_assign_lids(d.fabric, 0), 0);
	assert_int_equal(dl_torus_discover(d.fabric, d.config, NULL, &d.torus), 0);
	assert_int_equal(route(&d, DL_ROUTE_CLASSIC), -ENOTSUP);
	assert_int_equal(d.result.refusal, DL_ROUTE_RING_CUT);
	assert_non_null(strstr(d.errors, "no cable from (0,1,0) towards +x"));
	assert_non_null(strstr(d.errors, "no cable from (2,1,0) towards +x"));
	assert_int_equal(route(&d, DL_ROUTE_PROVEN), 0);
	assert_true(d.result.report.entries_changed > 0);
	tear_down((void **)&split);
}

static void no_such_mode(void **state)
{
	assert_int_equal(route(*state, 99), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(proven_mode_routes_it),
		cmocka_unit_test(classic_mode_refuses_it),
		cmocka_unit_test(unchecked_mode_shows_the_loop),
		cmocka_unit_test(a_split_ring_is_named),
		cmocka_unit_test(no_such_mode),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
