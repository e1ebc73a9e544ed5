/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Lists of hosts; see hosts.h. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "hosts.h"

#define MAX_NAME 256
#define MAX_NAMES 1000000 /* that a list may stand for */

struct list {
	const struct find *find;
	const struct dl_log *log;
	const struct dl_text *text; /* the line at hand; NULL: the command line */
	uint32_t column;	    /* of a table, from 1 on; 0: there is none */
	hosts_add *add;
	void *context;
	uint32_t names;
};

static int hosts_bad(const struct list *l, const char *what, const char *item)
{
	if (l->text)
		return dl_text_error(l->text, "\"%s\": %s", item, what);
	return dl_fail(l->log, -EINVAL, "\"%s\": %s", item, what);
}

/* All adapters of a host, if that is what the name stands for; -ENOENT if not. */
static int hosts_add_adapters(struct list *l, const char *name)
{
	struct find_result end[FIND_ADAPTERS];
	uint32_t n = l->find->adapters ? find_host(l->find, name, end) : 0;
	int err = n ? 0 : -ENOENT;

	for (uint32_t i = 0; i < n && !err; i++)
		err = l->add(l->context, name, &end[i]);
	return err;
}

static int hosts_add_name(struct list *l, const char *name)
{
	struct find_result end;
	int err;

	if (++l->names > MAX_NAMES)
		return hosts_bad(l, "this list stands for too many hosts", name);
	if (!find_end_port(l->find, NULL, name, &end))
		return l->add(l->context, name, &end);
	err = hosts_add_adapters(l, name);
	if (err != -ENOENT)
		return err;
	if (l->text)
		return dl_text_error(l->text, "\"%s\" names no end port, or several", name);
	return find_end_port(l->find, l->log, name, &end);
}

static int hosts_expand(struct list *l, char name[MAX_NAME], size_t len, const char *item);

/* Each number of "01-20" or "7", then what follows the brackets. */
static int expand_range(struct list *l, char name[MAX_NAME], size_t len, const char **at,
			const char *after)
{
	const char *range = *at, *start = range;
	uint64_t first, last;
	int width, err = 0;

	*at = dl_number_scan(start, 10, &first);
	last = first;
	width = *at - start;
	if (width && **at == '-') {
		start = *at + 1;
		*at = dl_number_scan(start, 10, &last);
	}
	if (*at == start || !isdigit((unsigned char)*start) || last < first || width > 18 ||
	    last - first >= MAX_NAMES)
		return hosts_bad(l, "expected a range such as 1-20", range);
	for (uint64_t i = first; !err && i <= last; i++) {
		int n = snprintf(name + len, MAX_NAME - len, "%0*llu", width,
				 (unsigned long long)i);

		err = n < (int)(MAX_NAME - len) ? hosts_expand(l, name, len + n, after) :
						  hosts_bad(l, "this name is too long", name);
	}
	return err;
}

/* `name` has `len` characters so far; `item` is the rest, with its brackets. */
static int hosts_expand(struct list *l, char name[MAX_NAME], size_t len, const char *item)
{
	size_t plain = strcspn(item, "[");
	const char *end, *at;
	int err = 0;

	if (plain >= MAX_NAME - len)
		return hosts_bad(l, "this name is too long", item);
	memcpy(name + len, item, plain);
	len += plain;
	name[len] = '\0';
	if (!item[plain])
		return hosts_add_name(l, name);
	end = strchr(item, ']');
	if (!end)
		return hosts_bad(l, "a bracket has no end", item);
	for (at = item + plain + 1; !err; at++) {
		err = expand_range(l, name, len, &at, end + 1);
		if (err || at == end)
			break;
		if (*at != ',')
			return hosts_bad(l, "expected a comma or ]", at);
	}
	return err;
}

/* The items between commas that are in no brackets; or all of it is a name. */
static int take_items(struct list *l, char *items)
{
	char name[MAX_NAME], *from = items;
	struct find_result end;
	bool within = false;
	int err = 0;

	if (!find_end_port(l->find, NULL, items, &end))
		return hosts_add_name(l, items);
	for (char *c = items; !err; c++) {
		within = *c == '[' || (within && *c != ']');
		if (*c && (*c != ',' || within))
			continue;
		items = *c ? c + 1 : c;
		*c = '\0';
		from += strspn(from, " \t");
		for (char *back = c; back > from && strchr(" \t\r", back[-1]);)
			*--back = '\0';
		if (*from)
			err = hosts_expand(l, name, 0, from);
		if (c == items)
			break;
		from = items;
	}
	return err;
}

struct hosts_lines {
	dl_text_line line;
	void *context;
};

static int hosts_pass_line(void *context, struct dl_text *text)
{
	const struct hosts_lines *l = context;

	if (dl_text_at_end(text) || *text->at == '#')
		return 0;
	for (size_t len = strlen(text->at); len && strchr(" \t\r", text->at[len - 1]);)
		text->at[--len] = '\0';
	return l->line(l->context, text);
}

int hosts_read_lines(const char *path, const struct dl_log *log, dl_text_line line, void *context)
{
	struct hosts_lines l = { line, context };

	return strcmp(path, "-") ? dl_text_each_of(path, log, hosts_pass_line, &l) :
				   dl_text_each(stdin, path, log, hosts_pass_line, &l);
}

/* A field of a table that ends here or at a comma, without its quotes; *line is what follows. */
static char *hosts_field(char **line)
{
	char *field = *line, *end;

	if (*field == '"' && (end = strchr(field + 1, '"'))) {
		*end++ = '\0';
		field++;
	} else {
		end = field + strcspn(field, ",");
	}
	*line = *end ? end + 1 : NULL;
	*end = '\0';
	return field;
}

/* A table, such as that of `coords --csv`, begins with the names of its columns. */
static uint32_t hosts_column(const struct list *l, const char *line)
{
	struct find_result end;
	uint32_t column = 1;

	if (l->names || !find_end_port(l->find, NULL, "host", &end))
		return 0;
	for (; line; line = strchr(line, ',') ? strchr(line, ',') + 1 : NULL, column++)
		if (!strncmp(line, "host", 4) && strchr(",", line[4]))
			return column;
	return 0;
}

static int hosts_take_line(void *context, struct dl_text *text)
{
	struct list *l = context;
	char *line = text->at, *item = line;

	l->text = text;
	if (!l->column) {
		l->column = hosts_column(l, line);
		return l->column ? 0 : take_items(l, line);
	}
	for (uint32_t i = 0; item && i < l->column; i++)
		item = line ? hosts_field(&line) : NULL;
	if (!item)
		return dl_text_error(text, "expected a column of hosts, as in the first line");
	return *item ? take_items(l, item) : 0;
}

int hosts_read_items(const struct find *find, char *items, hosts_add *add, void *context)
{
	struct list l = { .find = find, .add = add, .context = context };

	return take_items(&l, items);
}

int hosts_read(const struct find *find, const char *list, const struct dl_log *log, hosts_add *add,
	       void *context)
{
	struct list l = { .find = find, .log = log, .add = add, .context = context };
	struct stat st;
	char *items;
	int err;

	if (!strcmp(list, "-") || (!stat(list, &st) && !S_ISDIR(st.st_mode))) {
		err = hosts_read_lines(list, log, hosts_take_line, &l);
	} else {
		items = strdup(list);
		err = items ? take_items(&l, items) : -ENOMEM;
		free(items);
	}
	if (!err && !l.names)
		return dl_fail(log, -EINVAL, "\"%s\": there are no hosts", list);
	return err;
}
