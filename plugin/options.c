/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The words of event_plugin_options: one table drives parsing and messages.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/base.h"
#include "options.h"

#define SEPARATORS " \t\r\n,"
#define MAX_SECONDS 86400
#define DRAIN_SECONDS 30
#define MAX_DRAIN_MS 600000

static int options_read_drain(const struct dl_setting *s, void *to, const char *text, char *why,
			      size_t size)
{
	struct dl_plugin_options *o = to;
	int64_t ms = strcmp(text, "seen") ? DL_PLUGIN_DRAIN_BOUND : DL_PLUGIN_DRAIN_SEEN;

	(void)s, (void)why, (void)size;
	if (strcmp(text, "bound") && ms == DL_PLUGIN_DRAIN_BOUND &&
	    !dl_number_parse(text, 0, MAX_DRAIN_MS, &ms))
		return -EINVAL;
	o->drain_ms = ms;
	return 0;
}

#define MEMBER(member) DL_MEMBER(struct dl_plugin_options, member)

static const struct dl_setting settings[] = {
	{ "mode", DL_SETTING_WORD, MEMBER(route.mode), .words = "classic proven any-sl",
	  .expected = "proven, any-sl or classic" },
	{ "ties", DL_SETTING_WORD, MEMBER(route.ties), .words = "configured torus-2QoS balanced",
	  .expected = "balanced or torus-2QoS" },
	{ "repair_seconds", DL_SETTING_NUMBER, MEMBER(route.repair_seconds), .max = MAX_SECONDS,
	  .expected = "a number of seconds, at most 86400" },
	{ "transitions", DL_SETTING_WORD, MEMBER(transitions), .words = "none proven",
	  .expected = "proven or none" },
	{ "drain_ms", .call = options_read_drain,
	  .expected = "seen, bound or a number of milliseconds, at most 600000" },
	{ "drain_seconds", DL_SETTING_NUMBER, MEMBER(drain_seconds), .max = MAX_SECONDS,
	  .expected = "a number of seconds, at most 86400" },
	{ "hoq_life", DL_SETTING_NUMBER, MEMBER(hoq_life), .max = 20,
	  .expected = "a number from 0 to 20" },
	{ "dump_dir", DL_SETTING_TEXT, MEMBER(dump_dir), .expected = "a directory or FILE.dls" },
	{ "qos_weights", MEMBER(route.weights), .call = dl_route_read_weights,
	  .expected = "A:B, the weights of QoS levels 0 and 1, each 1 to 255" },
	{ "high_limit", DL_SETTING_NUMBER, MEMBER(route.high_limit), .max = 255,
	  .expected = "a number from 0 to 255" },
	{ "metrics", DL_SETTING_TEXT, MEMBER(metrics), .expected = "a file" },
	{ "avoid", DL_SETTING_TEXT, MEMBER(avoid), .expected = "a file" },
	{ 0 }
};

/* Of the words in `given`, bits by their place in the table. */
static bool was_given(uint32_t given, const char *name)
{
	return given >> (dl_setting_find(settings, name, strlen(name)) - settings) & 1;
}

/* Words that were given, and that others leave without effect. */
static void warn_unused(const struct dl_plugin_options *o, uint32_t given, const struct dl_log *log)
{
	static const char *const modes[] = { "mode=classic", "mode=proven", "mode=any-sl" };
	bool classic = o->route.mode == DL_ROUTE_CLASSIC;
	const char *mode = modes[o->route.mode], *drain = classic ? mode : "transitions=none";
	const struct {
		const char *name;
		bool unused;
		const char *other;
	} words[] = {
		{ "ties", o->route.mode != DL_ROUTE_PROVEN, mode },
		{ "repair_seconds", classic, mode },
		{ "transitions", classic && o->transitions, mode },
		{ "avoid", classic, mode },
		{ "drain_ms", classic || !o->transitions, drain },
		{ "drain_seconds", classic || !o->transitions, drain },
		{ "drain_seconds", !classic && o->transitions && o->drain_ms >= 0, "drain_ms=N" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].unused && was_given(given, words[i].name))
			dl_log(log, DL_LOG_WARNING,
			       "event_plugin_options: %s has no effect with %s", words[i].name,
			       words[i].other);
}

static int parse_word(struct dl_plugin_options *o, char *word, bool shared, uint32_t *given,
		      const struct dl_log *log)
{
	size_t len = strcspn(word, "=");
	const struct dl_setting *s = dl_setting_find(settings, word, len);
	char text[256];
	int err;

	if (!s) {
		dl_setting_list(settings, text, sizeof(text));
		dl_log(log, shared ? DL_LOG_INFO : DL_LOG_ERROR,
		       "event_plugin_options: \"%s\" is none of dateline's "
		       "words (%s)%s",
		       word, text, shared ? "; left to the other plugins" : "");
		return 0;
	}
	/* A key without its "=" has an empty value, which nothing accepts. */
	err = dl_setting_set(s, o, word + len + (word[len] == '='), text, sizeof(text));
	if (err == -EINVAL) {
		dl_log(log, DL_LOG_ERROR, "event_plugin_options: \"%s\": expected %s=%s", word,
		       s->name, text);
		return 0;
	}
	if (!err && *given >> (s - settings) & 1)
		dl_log(log, DL_LOG_WARNING,
		       "event_plugin_options: %s is given more than once: \"%s\" counts", s->name,
		       word);
	*given |= UINT32_C(1) << (s - settings);
	return err;
}

int dl_plugin_options_parse(const char *words, bool shared, const struct dl_log *log,
			    struct dl_plugin_options *out)
{
	struct dl_plugin_options o = { .transitions = true,
				       .drain_ms = DL_PLUGIN_DRAIN_SEEN,
				       .drain_seconds = DRAIN_SECONDS,
				       .hoq_life = -1 };
	char *copy, *word, *rest = NULL;
	uint32_t given = 0;
	int err = 0;

	dl_route_options_init(&o.route);
	o.route.clock = dl_clock_monotonic;
	copy = strdup(words ? words : "");
	if (!copy)
		return -ENOMEM;
	for (word = strtok_r(copy, SEPARATORS, &rest); word && !err;
	     word = strtok_r(NULL, SEPARATORS, &rest))
		err = parse_word(&o, word, shared, &given, log);
	free(copy);
	o.has_high_limit = was_given(given, "high_limit");
	warn_unused(&o, given, log);
	if (err) {
		dl_plugin_options_clear(&o);
		return err;
	}
	*out = o;
	return 0;
}

void dl_plugin_options_clear(struct dl_plugin_options *o)
{
	free(o->dump_dir);
	free(o->metrics);
	free(o->avoid);
	o->dump_dir = NULL;
	o->metrics = NULL;
	o->avoid = NULL;
}
