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
#define KEYS "mode, repair_seconds, dump_dir, qos_weights, high_limit, metrics"
#define MAX_SECONDS 86400

/* Decimal, within limits, up to `end`; on success *out and true. */
static bool parse_number(const char *s, const char *end, unsigned long min,
			 unsigned long max, unsigned int *out)
{
	unsigned long n;
	char *stop;

	if (s == end || *s < '0' || *s > '9')
		return false;
	errno = 0;
	n = strtoul(s, &stop, 10);
	if (errno || stop != end || n < min || n > max)
		return false;
	*out = n;
	return true;
}

static int parse_mode(struct dl_plugin_options *o, const char *value)
{
	if (!strcmp(value, "classic"))
		o->route.mode = DL_ROUTE_CLASSIC;
	else if (!strcmp(value, "proven"))
		o->route.mode = DL_ROUTE_PROVEN;
	else
		return -EINVAL;
	return 0;
}

static int parse_weights(struct dl_plugin_options *o, const char *value)
{
	const char *colon = strchr(value, ':');
	unsigned int w[2];

	if (!colon || !parse_number(value, colon, 1, 255, &w[0]) ||
	    !parse_number(colon + 1, value + strlen(value), 1, 255, &w[1]))
		return -EINVAL;
	o->route.weights[0] = w[0];
	o->route.weights[1] = w[1];
	return 0;
}

static int parse_high_limit(struct dl_plugin_options *o, const char *value)
{
	if (!parse_number(value, value + strlen(value), 0, 255,
			  &o->route.high_limit))
		return -EINVAL;
	o->has_high_limit = true;
	return 0;
}

static int parse_repair_seconds(struct dl_plugin_options *o, const char *value)
{
	return parse_number(value, value + strlen(value), 0, MAX_SECONDS,
			    &o->route.repair_seconds) ?
		       0 :
		       -EINVAL;
}

static int store_path(char **path, const char *value)
{
	char *copy;

	if (!*value)
		return -EINVAL;
	copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	free(*path);
	*path = copy;
	return 0;
}

static int parse_dump_dir(struct dl_plugin_options *o, const char *value)
{
	return store_path(&o->dump_dir, value);
}

static int parse_metrics(struct dl_plugin_options *o, const char *value)
{
	return store_path(&o->metrics, value);
}

static const struct {
	const char *key;
	int (*parse)(struct dl_plugin_options *o, const char *value);
	const char *expected;
} keys[] = {
	{ "mode", parse_mode, "proven or classic" },
	{ "repair_seconds", parse_repair_seconds,
	  "a number of seconds, at most 86400" },
	{ "dump_dir", parse_dump_dir, "a folder" },
	{ "qos_weights", parse_weights,
	  "A:B, the weights of QoS levels 0 and 1, each 1 to 255" },
	{ "high_limit", parse_high_limit, "a number from 0 to 255" },
	{ "metrics", parse_metrics, "a file" },
};

#define NKEYS (sizeof(keys) / sizeof(keys[0]))

static int parse_word(struct dl_plugin_options *o, char *word, bool shared,
		      const struct dl_log *log)
{
	size_t key_len = strcspn(word, "="), i;
	int err;

	for (i = 0; i < NKEYS; i++) {
		if (strlen(keys[i].key) == key_len &&
		    !strncmp(word, keys[i].key, key_len))
			break;
	}
	if (i == NKEYS) {
		dl_log(log, shared ? DL_LOG_INFO : DL_LOG_ERROR,
		       "event_plugin_options: \"%s\" is none of dateline's "
		       "words (" KEYS ")%s",
		       word, shared ? "; left to the other plugins" : "");
		return 0;
	}
	/* A key without its "=" has an empty value, which nothing accepts. */
	err = keys[i].parse(o, word + key_len + (word[key_len] == '='));
	if (err == -EINVAL) {
		dl_log(log, DL_LOG_ERROR,
		       "event_plugin_options: \"%s\": expected "
		       "%s=%s",
		       word, keys[i].key, keys[i].expected);
		return 0;
	}
	return err;
}

int dl_plugin_options_parse(const char *words, bool shared,
			    const struct dl_log *log,
			    struct dl_plugin_options *out)
{
	struct dl_plugin_options o = { .dump_dir = NULL };
	char *copy, *word, *rest = NULL;
	int err = 0;

	dl_route_options_init(&o.route);
	o.route.clock = dl_clock_monotonic;
	copy = strdup(words ? words : "");
	if (!copy)
		return -ENOMEM;
	for (word = strtok_r(copy, SEPARATORS, &rest); word && !err;
	     word = strtok_r(NULL, SEPARATORS, &rest))
		err = parse_word(&o, word, shared, log);
	free(copy);
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
	o->dump_dir = NULL;
	o->metrics = NULL;
}
