/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* event_plugin_options: every word, every way to get one wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "plugin/options.h"

/* What was logged last, and how often at each level. */
struct record {
	unsigned int count[DL_LOG_VERBOSE + 1];
	char last[512];
};

static void note(void *context, enum dl_log_level level, const char *message)
{
	struct record *r = context;

	r->count[level]++;
	snprintf(r->last, sizeof(r->last), "%s", message);
}

static struct record parse(const char *words, bool shared, struct dl_plugin_options *o)
{
	struct record r = { .last = "" };
	const struct dl_log log = { .write = note, .context = &r };

	assert_int_equal(dl_plugin_options_parse(words, shared, &log, o), 0);
	return r;
}

static void assert_default(const struct dl_plugin_options *o)
{
	struct dl_route_options d;

	dl_route_options_init(&d);
	assert_int_equal(o->route.mode, d.mode);
	assert_int_equal(o->route.weights[0], d.weights[0]);
	assert_int_equal(o->route.weights[1], d.weights[1]);
	assert_int_equal(o->route.high_limit, d.high_limit);
	assert_false(o->has_high_limit);
	assert_null(o->dump_dir);
	assert_null(o->metrics);
	assert_int_equal(o->transitions, 1);
	assert_int_equal(o->drain_ms, DL_PLUGIN_DRAIN_SEEN);
	assert_int_equal(o->drain_seconds, 30);
	assert_true(o->hoq_life < 0);
}

static void nothing_means_defaults(void **state)
{
	static const char *const words[] = { NULL, "", " , \t,," };
	struct dl_plugin_options o;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct record r = parse(words[i], false, &o);

		assert_string_equal(r.last, "");
		assert_default(&o);
	}
}

static void every_word_is_read(void **state)
{
	struct dl_plugin_options o;
	struct record r;

	(void)state;
	r = parse("mode=proven,dump_dir=/d qos_weights=3:255\thigh_limit=0,"
		  "metrics=/m",
		  false, &o);
	assert_string_equal(r.last, "");
	assert_int_equal(o.route.mode, DL_ROUTE_PROVEN);
	assert_string_equal(o.dump_dir, "/d");
	assert_int_equal(o.route.weights[0], 3);
	assert_int_equal(o.route.weights[1], 255);
	assert_true(o.has_high_limit);
	assert_int_equal(o.route.high_limit, 0);
	assert_string_equal(o.metrics, "/m");
	assert_int_equal(o.route.ties, DL_ROUTE_TIES_CONFIGURED);
	dl_plugin_options_clear(&o);

	parse("mode=any-sl ties=torus-2QoS", false, &o);
	assert_int_equal(o.route.mode, DL_ROUTE_ANY_SL);
	assert_int_equal(o.route.ties, DL_ROUTE_TIES_TORUS_2QOS);
	dl_plugin_options_clear(&o);

	parse("transitions=none drain_ms=0", false, &o);
	assert_int_equal(o.transitions, 0);
	assert_int_equal(o.drain_ms, 0);
	parse("transitions=proven drain_ms=bound hoq_life=10", false, &o);
	assert_int_equal(o.transitions, 1);
	assert_int_equal(o.drain_ms, DL_PLUGIN_DRAIN_BOUND);
	assert_int_equal(o.hoq_life, 10);
	parse("drain_ms=5 drain_ms=seen drain_seconds=7", false, &o);
	assert_int_equal(o.drain_ms, DL_PLUGIN_DRAIN_SEEN);
	assert_int_equal(o.drain_seconds, 7);

	/* The last of two counts, and the first is not leaked. */
	parse("mode=proven mode=classic dump_dir=/a dump_dir=/b ties=balanced", false, &o);
	assert_int_equal(o.route.mode, DL_ROUTE_CLASSIC);
	assert_int_equal(o.route.ties, DL_ROUTE_TIES_BALANCED);
	assert_string_equal(o.dump_dir, "/b");
	dl_plugin_options_clear(&o);
}

static void bad_words_are_named_and_ignored(void **state)
{
	static const struct {
		const char *word, *expected;
	} bad[] = {
		{ "mode=", "mode=proven, any-sl or classic" },
		{ "mode", "mode=proven, any-sl or classic" },
		{ "mode=Classic", "mode=proven, any-sl or classic" },
		{ "ties=even", "ties=balanced or torus-2QoS" },
		{ "dump_dir=", "dump_dir=a directory or FILE.dls" },
		{ "qos_weights=1", "qos_weights=A:B" },
		{ "qos_weights=0:1", "qos_weights=A:B" },
		{ "qos_weights=1:256", "qos_weights=A:B" },
		{ "qos_weights=:1", "qos_weights=A:B" },
		{ "qos_weights=1:", "qos_weights=A:B" },
		{ "qos_weights=1:1:1", "qos_weights=A:B" },
		{ "qos_weights=-1:1", "qos_weights=A:B" },
		{ "high_limit=256", "high_limit=a number from 0 to 255" },
		{ "high_limit=-1", "high_limit=a number from 0 to 255" },
		{ "high_limit=1x", "high_limit=a number from 0 to 255" },
		{ "high_limit=99999999999999999999", "high_limit=a number" },
		{ "metrics=", "metrics=a file" },
		{ "transitions=all", "transitions=proven or none" },
		{ "drain_ms=-1", "drain_ms=seen, bound or a number of milliseconds" },
		{ "drain_ms=600001", "at most 600000" },
		{ "drain_seconds=86401", "drain_seconds=a number of seconds" },
		{ "hoq_life=21", "hoq_life=a number from 0 to 20" },
		{ "high=1", "none of dateline's words" },
		{ "high_limits=1", "none of dateline's words" },
		{ "=", "none of dateline's words" },
	};
	struct dl_plugin_options o;
	char quoted[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct record r = parse(bad[i].word, false, &o);

		assert_int_equal(r.count[DL_LOG_ERROR], 1);
		snprintf(quoted, sizeof(quoted), "\"%s\"", bad[i].word);
		assert_non_null(strstr(r.last, quoted));
		assert_non_null(strstr(r.last, bad[i].expected));
		assert_default(&o);
	}
	/* The good ones beside it still count. */
	parse("high_limit=x high_limit=9 nonsense qos_weights=2:1", false, &o);
	assert_int_equal(o.route.high_limit, 9);
	assert_int_equal(o.route.weights[0], 2);
}

static void words_of_other_plugins_are_no_error(void **state)
{
	struct dl_plugin_options o;
	struct record r;

	(void)state;
	r = parse("theirs=1 high_limit=3 --verbose", true, &o);
	assert_int_equal(r.count[DL_LOG_ERROR], 0);
	assert_int_equal(r.count[DL_LOG_INFO], 2);
	assert_int_equal(o.route.high_limit, 3);
	/* A bad value of our own word stays one. */
	r = parse("high_limit=x", true, &o);
	assert_int_equal(r.count[DL_LOG_ERROR], 1);
}

static void words_without_effect_are_warned_of(void **state)
{
	static const struct {
		const char *words, *warning;
	} cases[] = {
		{ "mode=classic repair_seconds=3",
		  "repair_seconds has no effect with mode=classic" },
		{ "repair_seconds=3 mode=classic",
		  "repair_seconds has no effect with mode=classic" },
		{ "mode=classic transitions=proven",
		  "transitions has no effect with mode=classic" },
		{ "mode=classic drain_ms=5", "drain_ms has no effect with mode=classic" },
		{ "drain_ms=5 transitions=none", "drain_ms has no effect with transitions=none" },
		{ "drain_seconds=5 transitions=none",
		  "drain_seconds has no effect with transitions=none" },
		{ "drain_seconds=5 drain_ms=5", "drain_seconds has no effect with drain_ms=N" },
		{ "mode=any-sl ties=balanced", "ties has no effect with mode=any-sl" },
		{ "mode=classic ties=balanced", "ties has no effect with mode=classic" },
		{ "high_limit=1 high_limit=2",
		  "high_limit is given more than once: \"high_limit=2\"" },
		/* Each of these counts. */
		{ "mode=classic transitions=none", NULL },
		{ "mode=any-sl repair_seconds=3 drain_ms=0", NULL },
		{ "mode=proven ties=balanced transitions=proven drain_ms=bound", NULL },
		{ "high_limit=x high_limit=9", NULL },
		{ "mode=classic drain_ms=x", NULL },
	};
	struct dl_plugin_options o;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct record r = parse(cases[i].words, false, &o);

		assert_int_equal(r.count[DL_LOG_WARNING], cases[i].warning != NULL);
		if (cases[i].warning)
			assert_non_null(strstr(r.last, cases[i].warning));
		dl_plugin_options_clear(&o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_means_defaults),
		cmocka_unit_test(every_word_is_read),
		cmocka_unit_test(bad_words_are_named_and_ignored),
		cmocka_unit_test(words_of_other_plugins_are_no_error),
		cmocka_unit_test(words_without_effect_are_warned_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
