/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The tables of a document as CSV files.
 *
 * A list of objects is a table, wherever it stands: "ports" is ports.csv, and
 * "waited_for" of "program" program_waited_for.csv.  What is nested in a row becomes
 * columns (vl.0.bytes); a list of numbers or texts, one column.  A list of rows within
 * a row becomes a table of its own, whose first column repeats that of the row.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tool.h"

static bool csv_is_table(const json_t *value)
{
	const json_t *first = json_array_get(value, 0);

	return json_is_object(first) || json_is_array(first);
}

/* A name within another one. */
static char *csv_name(const char *outer, const char *between, const char *inner)
{
	char *name = NULL;

	return asprintf(&name, "%s%s%s", outer, *outer ? between : "", inner) < 0 ? NULL : name;
}

static void csv_join(const json_t *list, FILE *to)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		if (i)
			putc(' ', to);
		if (json_is_string(item))
			fputs(json_string_value(item), to);
		else
			fprintf(to, "%.15g", json_number_value(item));
	}
}

static json_t *csv_joined(const json_t *list)
{
	char *text = tool_text_of(list, csv_join);
	json_t *out = json_string(text);

	free(text);
	return out;
}

/* The columns of a value, into `row`. */
static void csv_flatten(json_t *row, const char *name, const json_t *value)
{
	const json_t *member;
	const char *key;
	char number[24], *inner;
	size_t i;

	if (json_is_object(value)) {
		json_object_foreach((json_t *)value, key, member)
		{
			inner = csv_name(name, ".", key);
			if (inner)
				csv_flatten(row, inner, member);
			free(inner);
		}
	} else if (json_is_array(value) && !*name) { /* the row is a list */
		json_array_foreach(value, i, member)
		{
			snprintf(number, sizeof(number), "%zu", i);
			csv_flatten(row, number, member);
		}
	} else if (json_is_array(value) && !csv_is_table(value)) {
		tool_json_with(row, name, csv_joined(value));
	} else if (!json_is_array(value)) {
		json_object_set(row, name, (json_t *)value);
	}
}

static void csv_print_value(FILE *to, const json_t *value)
{
	if (json_is_integer(value))
		fprintf(to, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		fprintf(to, "%.15g", json_real_value(value));
	else if (json_is_boolean(value))
		fputs(json_is_true(value) ? "true" : "false", to);
	else
		tool_print_csv(to, value);
}

static int csv_print(const json_t *rows, FILE *to)
{
	json_t *columns = json_object();
	const json_t *row;
	const char *key, *comma = "";
	json_t *value;
	size_t i;

	json_array_foreach(rows, i, row) json_object_update(columns, (json_t *)row);
	json_object_foreach(columns, key, value)
	{
		fprintf(to, "%s%s", comma, key);
		comma = ",";
	}
	putc('\n', to);
	json_array_foreach(rows, i, row)
	{
		comma = "";
		json_object_foreach(columns, key, value)
		{
			fputs(comma, to);
			csv_print_value(to, json_object_get(row, key));
			comma = ",";
		}
		putc('\n', to);
	}
	json_decref(columns);
	return 0;
}

/* Rows within rows, by their name: each with the first column of the row. */
static void csv_take_inner(json_t *tables, const json_t *item, const json_t *row)
{
	void *first = json_object_iter((json_t *)row);
	const json_t *member, *inner;
	const char *key;
	size_t i;

	json_object_foreach((json_t *)item, key, member)
	{
		json_t *rows = json_object_get(tables, key);

		if (!csv_is_table(member))
			continue;
		if (!rows) {
			tool_json_with(tables, key, json_array());
			rows = json_object_get(tables, key);
		}
		json_array_foreach(member, i, inner)
		{
			json_t *flat = json_object();

			if (first)
				json_object_set(flat, json_object_iter_key(first),
						json_object_iter_value(first));
			csv_flatten(flat, "", inner);
			json_array_append_new(rows, flat);
		}
	}
}

static int csv_write(const struct tool *tool, const char *dir, const char *name, const json_t *rows)
{
	char *file = csv_name(name, "", ".csv");
	int err = file ? tool_write(tool, dir, file, to, csv_print(rows, to)) : -ENOMEM;

	free(file);
	return err;
}

static int csv_write_table(const struct tool *tool, const char *dir, const char *name,
			   const json_t *table)
{
	json_t *rows = json_array(), *inner = json_object(), *value;
	const json_t *item;
	const char *key;
	size_t i;
	int err;

	json_array_foreach(table, i, item)
	{
		json_t *row = json_object();

		csv_flatten(row, "", item);
		csv_take_inner(inner, item, row);
		json_array_append_new(rows, row);
	}
	err = csv_write(tool, dir, name, rows);
	json_object_foreach(inner, key, value)
	{
		char *full = csv_name(name, "_", key);

		err = err ? err : full ? csv_write(tool, dir, full, value) : -ENOMEM;
		free(full);
	}
	json_decref(rows);
	json_decref(inner);
	return err;
}

static int csv_visit(const struct tool *tool, const char *dir, const char *name,
		     const json_t *document)
{
	const json_t *value;
	const char *key;
	int err = 0;

	json_object_foreach((json_t *)document, key, value)
	{
		char *full = csv_name(name, "_", key);

		if (!full)
			err = -ENOMEM;
		else if (!err && csv_is_table(value))
			err = csv_write_table(tool, dir, full, value);
		else if (!err)
			err = csv_visit(tool, dir, full, value);
		free(full);
	}
	return err;
}

int tool_write_tables(const struct tool *tool, const char *dir, const json_t *document)
{
	if (mkdir(dir, 0777) && errno != EEXIST) {
		int err = -errno;

		return dl_fail(&tool->log, err, "cannot make %s: %s", dir, strerror(-err));
	}
	return csv_visit(tool, dir, "", document);
}
