/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Scenario files; see scenario.h.  libyaml parses and keeps the line of every
 * node, so that what only turns out later can still name its place.
 */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "scenario.h"

int dl_scenario_error(const struct dl_scenario *s, const yaml_node_t *at,
		      const char *format, ...)
{
	char message[512];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	dl_log(s->log, DL_LOG_ERROR, "%s:%u: %s", s->path, dl_scenario_line(at),
	       message);
	return -EINVAL;
}

const yaml_node_t *dl_scenario_node(struct dl_scenario *s, int id)
{
	return yaml_document_get_node(&s->document, id);
}

const yaml_node_t *dl_scenario_item(struct dl_scenario *s,
				    const yaml_node_t *sequence, unsigned int i)
{
	const yaml_node_item_t *item = sequence->data.sequence.items.start + i;

	return item < sequence->data.sequence.items.top ?
		       dl_scenario_node(s, *item) :
		       NULL;
}

const yaml_node_pair_t *dl_scenario_pair(const yaml_node_t *mapping,
					 unsigned int i)
{
	const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start + i;

	return pair < mapping->data.mapping.pairs.top ? pair : NULL;
}

/* What a node is, for messages: "what was found instead". */
static const char *found(const yaml_node_t *n)
{
	switch (n->type) {
	case YAML_SEQUENCE_NODE:
		return "a list";
	case YAML_MAPPING_NODE:
		return "a mapping";
	default:
		return n->data.scalar.length ?
			       (const char *)n->data.scalar.value :
			       "nothing";
	}
}

/* ---- values ------------------------------------------------------------ */

/*
 * Decimal without leading zeros (of which YAML's readers make octal numbers or
 * not, as they like), or hexadecimal.
 */
static bool parse_number(const yaml_node_t *n, int64_t *out)
{
	const char *text, *digits;
	char *end;
	bool hex;

	if (n->type != YAML_SCALAR_NODE ||
	    n->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	text = (const char *)n->data.scalar.value;
	digits = text + (text[0] == '-');
	hex = digits[0] == '0' && digits[1] == 'x';
	if (digits[0] < '0' || digits[0] > '9' ||
	    (digits[0] == '0' && digits[1] && !hex) || (hex && !digits[2]))
		return false;
	errno = 0;
	*out = strtoll(text, &end, hex ? 16 : 10);
	return !errno && !*end && strlen(text) == n->data.scalar.length;
}

int dl_scenario_number(const struct dl_scenario *s, const yaml_node_t *n,
		       const char *what, int64_t min, int64_t max, int64_t *out)
{
	int64_t number;

	if (!parse_number(n, &number) || number < min || number > max)
		return dl_scenario_error(s, n,
					 "%s: %.60s: expected a whole "
					 "number from %lld to %lld",
					 what, found(n), (long long)min,
					 (long long)max);
	*out = number;
	return 0;
}

/* Digits, and after a point at most six more. */
static bool parse_decimal(const yaml_node_t *n, int64_t *out)
{
	int64_t unit = 1000000, value = 0;
	const char *text;
	bool point = false;

	if (n->type != YAML_SCALAR_NODE ||
	    n->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	text = (const char *)n->data.scalar.value;
	if (text[0] < '0' || text[0] > '9' ||
	    strlen(text) != n->data.scalar.length)
		return false;
	for (; *text; text++) {
		if (*text == '.' && !point && text[1]) {
			point = true;
			continue;
		}
		if (*text < '0' || *text > '9' || (point && unit == 1) ||
		    value > INT64_MAX / 10000000)
			return false;
		value = 10 * value + (*text - '0');
		unit /= point ? 10 : 1;
	}
	return !__builtin_mul_overflow(value, unit, out);
}

int dl_scenario_decimal(const struct dl_scenario *s, const yaml_node_t *n,
			const char *what, int64_t min, int64_t max,
			int64_t *out)
{
	int64_t number;

	if (!parse_decimal(n, &number) || number < min || number > max)
		return dl_scenario_error(s, n,
					 "%s: %.60s: expected a number "
					 "from %g to %g with at most six "
					 "decimals",
					 what, found(n), min / 1e6, max / 1e6);
	*out = number;
	return 0;
}

int dl_scenario_text(const struct dl_scenario *s, const yaml_node_t *n,
		     const char *what, char **out)
{
	char *copy;

	if (n->type != YAML_SCALAR_NODE || !n->data.scalar.length ||
	    strlen((char *)n->data.scalar.value) != n->data.scalar.length)
		return dl_scenario_error(s, n, "%s: %.60s: expected a text",
					 what, found(n));
	copy = strdup((const char *)n->data.scalar.value);
	if (!copy)
		return dl_scenario_error(s, n, "out of memory"), -ENOMEM;
	*out = copy;
	return 0;
}

int dl_scenario_word(const struct dl_scenario *s, const yaml_node_t *n,
		     const char *what, const char *words, unsigned int *out)
{
	const char *text = found(n), *word = words;
	unsigned int i = 0;

	while (n->type == YAML_SCALAR_NODE && *word) {
		size_t len = strcspn(word, " ");

		if (n->data.scalar.length == len && !strncmp(word, text, len)) {
			*out = i;
			return 0;
		}
		i++;
		word += len + (word[len] == ' ');
	}
	return dl_scenario_error(s, n, "%s: %.60s: expected one of: %s", what,
				 text, words);
}

int dl_key_number(struct dl_scenario *s, const yaml_node_t *value,
		  const struct dl_key *key, void *to)
{
	return dl_scenario_number(s, value, key->name, key->min, key->max,
				  (int64_t *)((char *)to + key->offset));
}

int dl_key_decimal(struct dl_scenario *s, const yaml_node_t *value,
		   const struct dl_key *key, void *to)
{
	return dl_scenario_decimal(s, value, key->name, key->min, key->max,
				   (int64_t *)((char *)to + key->offset));
}

int dl_key_text(struct dl_scenario *s, const yaml_node_t *value,
		const struct dl_key *key, void *to)
{
	return dl_scenario_text(s, value, key->name,
				(char **)((char *)to + key->offset));
}

int dl_key_word(struct dl_scenario *s, const yaml_node_t *value,
		const struct dl_key *key, void *to)
{
	return dl_scenario_word(s, value, key->name, key->words,
				(unsigned int *)((char *)to + key->offset));
}

/* ---- mappings ---------------------------------------------------------- */

static void list_keys(const struct dl_key *keys, char *list, size_t size)
{
	size_t len = 0;

	for (const struct dl_key *k = keys; k->name && len < size; k++)
		len += snprintf(list + len, size - len, "%s%s",
				k == keys ? "" : ", ", k->name);
}

static const struct dl_key *find_key(const struct dl_scenario *s,
				     const yaml_node_t *n,
				     const struct dl_key *keys)
{
	char list[384];

	for (const struct dl_key *k = keys; k->name; k++)
		if (n->type == YAML_SCALAR_NODE &&
		    strlen(k->name) == n->data.scalar.length &&
		    !strcmp(k->name, (const char *)n->data.scalar.value))
			return k;
	list_keys(keys, list, sizeof(list));
	dl_scenario_error(s, n, "%.60s: unknown key; expected one of: %s",
			  found(n), list);
	return NULL;
}

int dl_scenario_mapping(struct dl_scenario *s, const yaml_node_t *n,
			const struct dl_key *keys, void *to)
{
	const yaml_node_pair_t *pair;
	uint64_t seen = 0;
	char list[384];
	int err = 0;

	if (n->type != YAML_MAPPING_NODE) {
		list_keys(keys, list, sizeof(list));
		return dl_scenario_error(s, n,
					 "%.60s: expected a mapping with "
					 "keys of: %s",
					 found(n), list);
	}
	for (unsigned int i = 0; !err && (pair = dl_scenario_pair(n, i)); i++) {
		const yaml_node_t *name = dl_scenario_node(s, pair->key);
		const struct dl_key *key = find_key(s, name, keys);

		if (!key)
			return -EINVAL;
		if (seen >> (key - keys) & 1)
			return dl_scenario_error(s, name,
						 "%s: expected only "
						 "once",
						 key->name);
		seen |= UINT64_C(1) << (key - keys);
		err = key->read(s, dl_scenario_node(s, pair->value), key, to);
	}
	for (const struct dl_key *k = keys; !err && k->name; k++)
		if (k->required && !(seen >> (k - keys) & 1))
			err = dl_scenario_error(s, n, "expected the key %s",
						k->name);
	return err;
}

/* ---- files ------------------------------------------------------------- */

static int yaml_wrong(const struct dl_scenario *s, const yaml_parser_t *p)
{
	if (p->error == YAML_MEMORY_ERROR) {
		dl_log(s->log, DL_LOG_ERROR, "%s: out of memory", s->path);
		return -ENOMEM;
	}
	dl_log(s->log, DL_LOG_ERROR, "%s:%zu: expected YAML: %s%s%s", s->path,
	       p->problem_mark.line + 1, p->problem ? p->problem : "damaged",
	       p->context ? ", " : "", p->context ? p->context : "");
	return -EINVAL;
}

/* A scenario is one document; a second one would be ignored. */
static int refuse_second(const struct dl_scenario *s, yaml_parser_t *p)
{
	yaml_document_t second;
	const yaml_node_t *root;
	int err = 0;

	if (!yaml_parser_load(p, &second))
		return yaml_wrong(s, p);
	root = yaml_document_get_root_node(&second);
	if (root)
		err = dl_scenario_error(s, root,
					"expected one YAML document "
					"in the file");
	yaml_document_delete(&second);
	return err;
}

static int read_stream(FILE *from, struct dl_scenario *s,
		       const struct dl_key *keys, void *to)
{
	const yaml_node_t *root;
	yaml_parser_t parser;
	int err;

	if (!yaml_parser_initialize(&parser)) {
		dl_log(s->log, DL_LOG_ERROR, "%s: out of memory", s->path);
		return -ENOMEM;
	}
	yaml_parser_set_input_file(&parser, from);
	if (!yaml_parser_load(&parser, &s->document)) {
		err = yaml_wrong(s, &parser);
		goto out;
	}
	root = yaml_document_get_root_node(&s->document);
	if (!root) {
		dl_log(s->log, DL_LOG_ERROR,
		       "%s:1: nothing: expected a scenario", s->path);
		err = -EINVAL;
	} else {
		err = dl_scenario_mapping(s, root, keys, to);
	}
	if (!err)
		err = refuse_second(s, &parser);
	yaml_document_delete(&s->document);
out:
	yaml_parser_delete(&parser);
	return err;
}

int dl_scenario_read_stream(FILE *from, const char *name,
			    const struct dl_log *log, const struct dl_key *keys,
			    void *to)
{
	struct dl_scenario s = { .path = name, .log = log };

	return read_stream(from, &s, keys, to);
}

int dl_scenario_read(const char *path, const struct dl_log *log,
		     const struct dl_key *keys, void *to)
{
	FILE *from;
	int err;

	if (!strcmp(path, "-"))
		return dl_scenario_read_stream(stdin, "standard input", log,
					       keys, to);
	from = fopen(path, "re");
	if (!from) {
		err = -errno;
		dl_log(log, DL_LOG_ERROR, "cannot open %s: %s", path,
		       strerror(errno));
		return err;
	}
	err = dl_scenario_read_stream(from, path, log, keys, to);
	fclose(from);
	return err;
}
