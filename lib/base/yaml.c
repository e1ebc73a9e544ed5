/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * YAML by tables of settings; see base.h.  libyaml parses and keeps the line
 * of every node, so that what only turns out later can still name its place.
 */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <yaml.h>

#include "dateline/base.h"

/*
 * What a file of ours never needs, and a hostile one uses to cost hours: a flow
 * list in a list and so on, for which libyaml takes the square of the depth, as it
 * does of the number of anchors ("&") and directives ("%"), and aliases of
 * aliases, by which a few lines stand for millions of values.
 */
#define MAX_DEPTH 100
#define MAX_MARKS 1000 /* of "&" and "%", wherever they stand */
#define USES 16	       /* of each node, on average */

struct dl_yaml {
	const char *path;
	const struct dl_log *log;
	FILE *from;
	unsigned int depth; /* of flow lists and mappings, about */
	unsigned int marks;
	size_t values; /* that may still be used */
	yaml_document_t document;
};

/* A node of libyaml, which users of base.h need not have. */
static const yaml_node_t *yaml_inside(const struct dl_yaml_node *n)
{
	return (const yaml_node_t *)n;
}

static const struct dl_yaml_node *yaml_node(struct dl_yaml *y, int id)
{
	return (void *)yaml_document_get_node(&y->document, id);
}

int dl_yaml_error(const struct dl_yaml *y, const struct dl_yaml_node *at, const char *format, ...)
{
	char message[512];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	return dl_fail(y->log, -EINVAL, "%s:%u: %s", y->path, dl_yaml_line(at), message);
}

int dl_yaml_no_memory(const struct dl_yaml *y, const struct dl_yaml_node *at)
{
	dl_yaml_error(y, at, "out of memory");
	return -ENOMEM;
}

/* ---- nodes ------------------------------------------------------------- */

unsigned int dl_yaml_line(const struct dl_yaml_node *n)
{
	return yaml_inside(n)->start_mark.line + 1;
}

bool dl_yaml_is_list(const struct dl_yaml_node *n)
{
	return yaml_inside(n)->type == YAML_SEQUENCE_NODE;
}

bool dl_yaml_is_mapping(const struct dl_yaml_node *n)
{
	return yaml_inside(n)->type == YAML_MAPPING_NODE;
}

size_t dl_yaml_count(const struct dl_yaml_node *n)
{
	const yaml_node_t *i = yaml_inside(n);

	if (dl_yaml_is_list(n))
		return i->data.sequence.items.top - i->data.sequence.items.start;
	if (dl_yaml_is_mapping(n))
		return i->data.mapping.pairs.top - i->data.mapping.pairs.start;
	return 0;
}

const struct dl_yaml_node *dl_yaml_item(struct dl_yaml *y, const struct dl_yaml_node *list,
					size_t i)
{
	if (!dl_yaml_is_list(list) || i >= dl_yaml_count(list))
		return NULL;
	return yaml_node(y, yaml_inside(list)->data.sequence.items.start[i]);
}

bool dl_yaml_pair(struct dl_yaml *y, const struct dl_yaml_node *mapping, size_t i,
		  const struct dl_yaml_node **key, const struct dl_yaml_node **value)
{
	const yaml_node_pair_t *pair;

	if (!dl_yaml_is_mapping(mapping) || i >= dl_yaml_count(mapping))
		return false;
	pair = &yaml_inside(mapping)->data.mapping.pairs.start[i];
	*key = yaml_node(y, pair->key);
	*value = yaml_node(y, pair->value);
	return true;
}

/* ---- values ------------------------------------------------------------ */

/* A scalar's text, without a byte 0 inside; NULL when it is none. */
static const char *yaml_scalar(const struct dl_yaml_node *n)
{
	const char *text = (const char *)yaml_inside(n)->data.scalar.value;

	if (yaml_inside(n)->type != YAML_SCALAR_NODE ||
	    strlen(text) != yaml_inside(n)->data.scalar.length)
		return NULL;
	return text;
}

/* What a node is, for messages: "what was found instead". */
static const char *yaml_found(const struct dl_yaml_node *n)
{
	if (dl_yaml_is_list(n))
		return "a list";
	if (dl_yaml_is_mapping(n))
		return "a mapping";
	return yaml_inside(n)->data.scalar.length ?
		       (const char *)yaml_inside(n)->data.scalar.value :
		       "nothing";
}

/* `quoted`: may a number stand in quotes? */
static int yaml_take(struct dl_yaml *y, const struct dl_yaml_node *n, const struct dl_setting *s,
		     bool quoted, void *to)
{
	const char *text = yaml_scalar(n);
	char why[256];
	int err;

	if (!y->values--)
		return dl_yaml_error(y, n, "%s: expected fewer values, with all aliases", s->name);
	if (s->read)
		return s->read(y, n, s, to);
	/* The text does not live as long as what is read. */
	if (dl_broken(y->log, s->type != DL_SETTING_BORROW))
		return -EPROTO;
	/* "5" in quotes is a text that looks like a number. */
	if (text && !quoted && (s->type == DL_SETTING_NUMBER || s->type == DL_SETTING_DECIMAL) &&
	    yaml_inside(n)->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		text = NULL;
	if (text) {
		err = dl_setting_set(s, to, text, why, sizeof(why));
	} else {
		dl_setting_expected(s, why, sizeof(why));
		err = -EINVAL;
	}
	if (err == -ENOMEM)
		return dl_yaml_no_memory(y, n);
	if (err == -EINVAL)
		return dl_yaml_error(y, n, "%s: %.60s: expected %s", s->name, yaml_found(n), why);
	return err;
}

int dl_yaml_value(struct dl_yaml *y, const struct dl_yaml_node *n, const struct dl_setting *s,
		  void *to)
{
	return yaml_take(y, n, s, false, to);
}

static struct dl_setting yaml_number(const char *what, int64_t min, int64_t max)
{
	return (struct dl_setting){ .name = what,
				    .type = DL_SETTING_NUMBER,
				    .size = sizeof(int64_t),
				    .min = min,
				    .max = max };
}

int dl_yaml_number(struct dl_yaml *y, const struct dl_yaml_node *n, const char *what, int64_t min,
		   int64_t max, int64_t *out)
{
	const struct dl_setting s = yaml_number(what, min, max);

	return yaml_take(y, n, &s, false, out);
}

int dl_yaml_number_key(struct dl_yaml *y, const struct dl_yaml_node *n, const char *what,
		       int64_t min, int64_t max, int64_t *out)
{
	const struct dl_setting s = yaml_number(what, min, max);

	return yaml_take(y, n, &s, true, out);
}

int dl_yaml_word(struct dl_yaml *y, const struct dl_yaml_node *n, const char *what,
		 const char *words, unsigned int *out)
{
	const struct dl_setting s = {
		.name = what, .type = DL_SETTING_WORD, .size = sizeof(*out), .words = words
	};

	return dl_yaml_value(y, n, &s, out);
}

/* ---- mappings ---------------------------------------------------------- */

#define LIST_MAX 384 /* of keys in a message */

static const struct dl_setting *find_key(const struct dl_yaml *y, const struct dl_yaml_node *n,
					 const struct dl_setting *keys)
{
	const struct dl_setting *s = NULL;
	char list[LIST_MAX];

	if (yaml_scalar(n))
		s = dl_setting_find(keys, yaml_scalar(n), strlen(yaml_scalar(n)));
	if (s)
		return s;
	dl_setting_list(keys, list, sizeof(list));
	dl_yaml_error(y, n, "%.60s: unknown key; expected one of: %s", yaml_found(n), list);
	return NULL;
}

const struct dl_yaml_node *dl_yaml_key(struct dl_yaml *y, const struct dl_yaml_node *mapping,
				       const char *names)
{
	const struct dl_yaml_node *name, *value;
	size_t len = names ? strcspn(names, " ") : 0;

	for (size_t i = 0; len && dl_yaml_pair(y, mapping, i, &name, &value); i++)
		if (yaml_scalar(name) && !strncmp(yaml_scalar(name), names, len) &&
		    !yaml_scalar(name)[len])
			return name;
	return len && names[len] ? dl_yaml_key(y, mapping, names + len + 1) : mapping;
}

int dl_yaml_mapping(struct dl_yaml *y, const struct dl_yaml_node *n, const struct dl_setting *keys,
		    void *to)
{
	const struct dl_yaml_node *name, *value;
	const struct dl_setting *k = keys;
	char list[LIST_MAX];
	uint64_t seen = 0;
	int err = 0;

	if (!dl_yaml_is_mapping(n)) {
		dl_setting_list(keys, list, sizeof(list));
		return dl_yaml_error(y, n, "%.60s: expected a mapping with keys of: %s",
				     yaml_found(n), list);
	}
	for (size_t i = 0; !err && dl_yaml_pair(y, n, i, &name, &value); i++) {
		const struct dl_setting *key = find_key(y, name, keys);

		if (!key)
			return -EINVAL;
		if (seen >> (key - keys) & 1)
			return dl_yaml_error(y, name, "%s: expected only once", key->name);
		seen |= UINT64_C(1) << (key - keys);
		err = dl_yaml_value(y, value, key, to);
	}
	for (; !err && k->name; k++)
		if (k->required && !(seen >> (k - keys) & 1))
			err = dl_yaml_error(y, n, "expected the key %s", k->name);
	return !err && k->read ? k->read(y, n, k, to) : err;
}

/* ---- files ------------------------------------------------------------- */

static int yaml_wrong(const struct dl_yaml *y, const yaml_parser_t *p)
{
	if (ferror(y->from))
		return dl_fail(y->log, -EINVAL, "cannot read %s: %s", y->path, strerror(errno));
	/* libyaml has no word for it where it makes nodes. */
	if (p->error == YAML_MEMORY_ERROR || p->error == YAML_NO_ERROR)
		return dl_fail(y->log, -ENOMEM, "%s: out of memory", y->path);
	if (y->depth > MAX_DEPTH)
		return dl_fail(y->log, -EINVAL,
			       "%s: expected at most %u lists and mappings within each other",
			       y->path, MAX_DEPTH);
	if (y->marks > MAX_MARKS)
		return dl_fail(y->log, -EINVAL,
			       "%s: expected at most %u anchors and directives, with "
			       "\"&\" and \"%%\"",
			       y->path, MAX_MARKS);
	return dl_fail(y->log, -EINVAL, "%s:%zu: expected YAML: %s%s%s", y->path,
		       p->problem_mark.line + 1, p->problem ? p->problem : "damaged",
		       p->context ? ", " : "", p->context ? p->context : "");
}

static bool is_modest(const struct dl_yaml *y)
{
	return y->depth <= MAX_DEPTH && y->marks <= MAX_MARKS;
}

/* libyaml's reader of files, but for the depth and the marks. */
static int take_bytes(void *data, unsigned char *buffer, size_t size, size_t *got)
{
	struct dl_yaml *y = data;

	*got = fread(buffer, 1, size, y->from);
	for (size_t i = 0; i < *got && is_modest(y); i++) {
		y->marks += buffer[i] == '&' || buffer[i] == '%';
		if (buffer[i] == '[' || buffer[i] == '{')
			y->depth++;
		else if ((buffer[i] == ']' || buffer[i] == '}') && y->depth)
			y->depth--;
	}
	return !ferror(y->from) && is_modest(y);
}

/* A file holds one document; a second one would be ignored. */
static int refuse_second(const struct dl_yaml *y, yaml_parser_t *p)
{
	yaml_document_t second;
	const yaml_node_t *root;
	int err = 0;

	if (!yaml_parser_load(p, &second))
		return yaml_wrong(y, p);
	root = yaml_document_get_root_node(&second);
	if (root)
		err = dl_yaml_error(y, (void *)root, "expected one YAML document in the file");
	yaml_document_delete(&second);
	return err;
}

static int yaml_read_stream(FILE *from, struct dl_yaml *y, const struct dl_setting *keys, void *to)
{
	const yaml_node_t *root;
	yaml_parser_t parser;
	int err;

	if (!yaml_parser_initialize(&parser))
		return dl_fail(y->log, -ENOMEM, "%s: out of memory", y->path);
	y->from = from;
	yaml_parser_set_input(&parser, take_bytes, y);
	if (!yaml_parser_load(&parser, &y->document)) {
		err = yaml_wrong(y, &parser);
		goto out;
	}
	root = yaml_document_get_root_node(&y->document);
	y->values = USES * (y->document.nodes.top - y->document.nodes.start) + 1;
	if (!root) {
		dl_log(y->log, DL_LOG_ERROR, "%s:1: nothing: expected a scenario", y->path);
		err = -EINVAL;
	} else {
		err = dl_yaml_mapping(y, (void *)root, keys, to);
	}
	if (!err)
		err = refuse_second(y, &parser);
	yaml_document_delete(&y->document);
out:
	yaml_parser_delete(&parser);
	return err;
}

int dl_yaml_read_stream(FILE *from, const char *name, const struct dl_log *log,
			const struct dl_setting *keys, void *to)
{
	struct dl_yaml y = { .path = name, .log = log };

	return yaml_read_stream(from, &y, keys, to);
}

int dl_yaml_read(const char *path, const struct dl_log *log, const struct dl_setting *keys,
		 void *to)
{
	FILE *from;
	int err;

	if (!strcmp(path, "-"))
		return dl_yaml_read_stream(stdin, "standard input", log, keys, to);
	from = fopen(path, "re");
	if (!from) {
		err = -errno;
		return dl_fail(log, err, "cannot open %s: %s", path, strerror(errno));
	}
	err = dl_yaml_read_stream(from, path, log, keys, to);
	fclose(from);
	return err;
}
