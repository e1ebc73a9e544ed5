/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Documents: what a command found, as JSON.
 *
 * A command puts its result together once, as a document.  With --json the
 * document is printed as it is; the text for people is printed from it by
 * templates, so that the two cannot differ.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* ---- memory ------------------------------------------------------------- */

/*
 * A document is put together by hundreds of calls, each of which may find no
 * memory.  All of jansson's memory comes through here, so that it is known at
 * the end whether every one of them did what it should.
 */
static atomic_bool exhausted; /* threads may work side by side */

static void *document_allocate(size_t size)
{
	void *memory = malloc(size);

	if (!memory)
		exhausted = true;
	return memory;
}

void tool_json_begin(void)
{
	json_set_alloc_funcs(document_allocate, free);
}

int tool_json_read(const char *path, const struct dl_log *log, json_t **out)
{
	json_error_t error;

	errno = 0;
	*out = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	if (*out)
		return 0;
	if (error.line > 0)
		dl_log(log, DL_LOG_ERROR, "%s:%d: %s", path, error.line, error.text);
	else
		dl_log(log, DL_LOG_ERROR, "%s", error.text);
	return error.line < 0 && errno ? -errno : -EINVAL;
}

bool tool_json_failed(void)
{
	return exhausted;
}

/* ---- values ------------------------------------------------------------ */

json_t *tool_json_text(const char *text)
{
	json_t *string = json_string(text);
	char *plain;

	if (string)
		return string;
	plain = strdup(text);
	for (char *c = plain; c && *c; c++)
		*c = *c & 0x80 ? '?' : *c;
	exhausted |= !plain;
	string = plain ? json_string(plain) : NULL;
	free(plain);
	return string;
}

json_t *tool_json_guid(const struct dl_fabric *f, uint32_t node)
{
	return json_sprintf("0x%016" PRIx64, f->nodes[node].guid);
}

json_t *tool_json_node(const struct dl_fabric *f, uint32_t node)
{
	return json_pack("{s:o, s:o}", "guid", tool_json_guid(f, node), "name",
			 tool_json_text(dl_fabric_node_name(f, node)));
}

json_t *tool_json_port(const struct dl_fabric *f, uint32_t port)
{
	if (port == DL_NONE)
		return json_null();
	return json_pack("{s:o, s:i}", "guid", tool_json_guid(f, f->ports[port].node), "port",
			 f->ports[port].num);
}

json_t *tool_json_name(const struct dl_fabric *f, uint32_t node)
{
	const char *name = dl_fabric_node_name(f, node);
	char shared[256];

	for (uint32_t other = 0; other < f->nnodes; other++) {
		if (other == node || strcmp(dl_fabric_node_name(f, other), name))
			continue;
		snprintf(shared, sizeof(shared), "%.200s 0x%016" PRIx64, name, f->nodes[node].guid);
		return tool_json_text(shared);
	}
	return tool_json_text(name);
}

json_t *tool_json_named_port(const struct dl_fabric *f, uint32_t port)
{
	return json_pack("{s:o, s:i}", "name", tool_json_name(f, f->ports[port].node), "port",
			 f->ports[port].num);
}

json_t *tool_json_coord(const struct dl_torus_grid *g, uint32_t site)
{
	uint32_t c[DL_TORUS_DIMS];

	if (site == DL_NONE)
		return json_null();
	dl_torus_site_coord(g, site, c);
	return json_pack("[iii]", c[0], c[1], c[2]);
}

json_t *tool_json_or_null(bool meaningful, json_int_t number)
{
	return meaningful ? json_integer(number) : json_null();
}

json_t *tool_json_with(json_t *object, const char *key, json_t *value)
{
	exhausted |= json_object_set_new(object, key, value) != 0;
	return object;
}

/* ---- looking things up ------------------------------------------------- */

const json_t *tool_at(const json_t *document, const char *path)
{
	char key[64];

	while (document && *path) {
		size_t len = strcspn(path, ".");

		snprintf(key, sizeof(key), "%.*s", (int)len, path);
		document = json_object_get(document, key);
		path += len + (path[len] == '.');
	}
	return document;
}

json_int_t tool_int_at(const json_t *document, const char *path)
{
	return json_integer_value(tool_at(document, path));
}

bool tool_true_at(const json_t *document, const char *path)
{
	return json_is_true(tool_at(document, path));
}

bool tool_has(const json_t *document, const char *path)
{
	const json_t *value = tool_at(document, path);

	return value && !json_is_null(value);
}

/* ---- text -------------------------------------------------------------- */

static const char *value_text(const json_t *v, int decimals, char text[64])
{
	switch (v ? json_typeof(v) : JSON_NULL) {
	case JSON_STRING:
		return json_string_value(v);
	case JSON_INTEGER:
		snprintf(text, 64, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
		if (decimals < 0)
			return text;
		/* fallthrough */
	case JSON_REAL:
		snprintf(text, 64, "%.*f", decimals < 0 ? 6 : decimals, json_number_value(v));
		return text;
	case JSON_TRUE:
		return "yes";
	case JSON_FALSE:
		return "no";
	default:
		return "-";
	}
}

/* "noun}", "noun/plural ending}" or "noun/plural/singular ending}"; returns where it ends. */
static const char *print_noun(FILE *to, const char *noun, bool singular)
{
	size_t len = strcspn(noun, "/}"), all = strcspn(noun, "}");
	const char *plural = noun + len + (len < all), *last = plural + strcspn(plural, "/}");

	fprintf(to, " %.*s", (int)len, noun);
	if (!singular && len == all)
		putc('s', to);
	else if (!singular)
		fprintf(to, "%.*s", (int)(last - plural), plural);
	else if (*last == '/')
		fprintf(to, "%.*s", (int)(noun + all - last - 1), last + 1);
	return noun + all;
}

/* One "{path:width.decimals}" or "{path#noun}"; returns where it ends. */
static const char *print_field(FILE *to, const json_t *document, const char *field)
{
	size_t len = strcspn(field, ":#}");
	int width = 0, decimals = -1;
	char path[64], text[64];
	const json_t *value, *item;
	const char *end = field + len;
	size_t i;

	snprintf(path, sizeof(path), "%.*s", (int)len, field);
	value = tool_at(document, path);
	if (*end == ':') {
		width = strtol(end + 1, (char **)&end, 10);
		if (*end == '.')
			decimals = strtol(end + 1, (char **)&end, 10);
	}
	json_array_foreach(value, i, item)
		fprintf(to, "%s%s", i ? "," : "", value_text(item, decimals, text));
	if (!json_is_array(value))
		fprintf(to, "%*s", width, value_text(value, decimals, text));
	if (*end == '#')
		end = print_noun(to, end + 1, json_integer_value(value) == 1);
	return end + 1;
}

static const char *print_part(FILE *to, const json_t *document, const char *at);

/* "?path}", "!path}", "+path}" or "*path}" and what follows up to "{/}"; returns where it ends. */
static const char *print_section(FILE *to, const json_t *document, const char *section)
{
	size_t len = strcspn(section, "}"), i;
	const char *body = section + len + 1;
	const json_t *value, *item;
	char path[64];
	bool holds;

	snprintf(path, sizeof(path), "%.*s", (int)len - 1, section + 1);
	value = tool_at(document, path);
	if (*section == '*') {
		json_array_foreach(value, i, item) if (to) print_part(to, item, body);
		return print_part(NULL, document, body);
	}
	holds = tool_has(document, path) && (!json_is_array(value) || json_array_size(value));
	if (*section == '+')
		holds &= !json_is_false(value) &&
			 (!json_is_integer(value) || json_integer_value(value));
	if (holds == (*section == '!'))
		to = NULL;
	return print_part(to, document, body);
}

/* Up to "{/}" or the end; returns what follows.  `to` NULL: skip it. */
static const char *print_part(FILE *to, const json_t *document, const char *at)
{
	while (*at) {
		size_t len = strcspn(at, "{");

		if (to)
			fwrite(at, 1, len, to);
		at += len;
		if (!*at++)
			return at - 1;
		if (*at == '/')
			return at + 2;
		if (strchr("?!+*", *at))
			at = print_section(to, document, at);
		else
			at = to ? print_field(to, document, at) : strchr(at, '}') + 1;
	}
	return at;
}

void tool_print(FILE *to, const json_t *document, const char *template)
{
	print_part(to, document, template);
}

/* RFC 4180, but for the ends of lines. */
void tool_print_csv(FILE *to, const json_t *value)
{
	const char *s = json_string_value(value);
	/* What a spreadsheet would compute is marked as text, as it asks for. */
	bool formula = s && *s && strchr("=+-@", *s);

	if (!s || (!formula && !s[strcspn(s, ",\"\r\n")])) {
		fputs(s ? s : "", to);
		return;
	}
	fputs(formula ? "\"'" : "\"", to);
	for (; *s; s++) {
		if (*s == '"')
			putc('"', to);
		putc(*s, to);
	}
	putc('"', to);
}

/* Is this text in the list? */
static bool has_text(const json_t *list, const char *text)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item) if (!strcmp(json_string_value(item), text)) return true;
	return false;
}

/*
 * What all documents have: the version of their form first, and last what was
 * warned of and assumed on the way to the result.
 */
static json_t *document_complete(const struct tool *tool, json_t *document)
{
	json_t *whole = json_pack("{s:i}", "format", 1), *warnings, *item;
	size_t i;

	json_object_update(whole, document);
	if (!json_object_get(whole, "warnings"))
		tool_json_with(whole, "warnings", json_array());
	warnings = json_object_get(whole, "warnings");
	exhausted |= !tool->warnings;
	json_array_foreach(tool->warnings, i, item)
	{
		if (!has_text(warnings, json_string_value(item)))
			json_array_append(warnings, item);
	}
	json_decref(document);
	return whole;
}

char *tool_text_of(const json_t *document, void (*print)(const json_t *document, FILE *to))
{
	char *text = NULL;
	size_t len;
	FILE *to = document && !exhausted ? dl_memory_open(&text, &len) : NULL;

	if (to) {
		/* Only this thread uses the stream: no lock for each small piece. */
		__fsetlocking(to, FSETLOCKING_BYCALLER);
		print(document, to);
	}
	exhausted |= !to || fclose(to);
	if (!exhausted)
		return text;
	free(text);
	return NULL;
}

/* `end` follows the text, which goes; NULL: no memory, which main() says. */
static int document_show(char *text, const char *end)
{
	if (!text)
		return -ENOMEM;
	/* Output that does not arrive is noticed in the end, by main(). */
	fputs(text, stdout);
	fputs(end, stdout);
	free(text);
	return 0;
}

int tool_print_json_with(const struct tool *tool, json_t *document, const struct tool_part *part)
{
	char *text = NULL, *rest, key[64];

	if (document && part)
		tool_json_with(document, part->key, json_null());
	if (document)
		document = document_complete(tool, document);
	if (document && !exhausted)
		text = json_dumps(document, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
	json_decref(document);
	if (exhausted) { /* jansson gives what it has put together so far */
		free(text);
		text = NULL;
	}
	if (text && part) {
		/* Members of the whole stand after one space, and no text has ends of lines. */
		snprintf(key, sizeof(key), "\n \"%s\": null", part->key);
		rest = strstr(text, key) + strlen(key);
		fwrite(text, 1, rest - text - strlen("null"), stdout);
		part->print(part->context, stdout);
		memmove(text, rest, strlen(rest) + 1);
	}
	return document_show(text, "\n");
}

int tool_print_json(const struct tool *tool, json_t *document)
{
	return tool_print_json_with(tool, document, NULL);
}

int tool_show(const struct tool *tool, json_t *document,
	      void (*print)(const json_t *document, FILE *to))
{
	char *text;

	if (tool->json)
		return tool_print_json(tool, document);
	text = tool_text_of(document, print);
	json_decref(document);
	return document_show(text, "");
}
