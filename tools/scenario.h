/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Scenario files: YAML, read by tables of keys.
 *
 * Each kind of mapping has a table of its keys; a key has a reader for its
 * value.  Whatever is wrong is reported as "FILE:LINE: ... expected ...":
 * wrong YAML, a key that the table lacks, one that stands there twice, one
 * that is missing, a value that does not fit.  The first error counts; later
 * ones are not looked for.
 */
#ifndef DL_SCENARIO_H
#define DL_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <yaml.h>

#include "dateline/base.h"

struct dl_scenario {
	const char *path;
	const struct dl_log *log;
	yaml_document_t document;
};

struct dl_key;

/*
 * Reads a value into `to`, the structure that belongs to the table of keys.
 * Returns 0 or a negative errno, reported.
 */
typedef int dl_key_reader(struct dl_scenario *s, const yaml_node_t *value,
			  const struct dl_key *key, void *to);

struct dl_key {
	const char *name;
	dl_key_reader *read;
	size_t offset;	   /* of the member that is set */
	int64_t min, max;  /* of numbers */
	const char *words; /* choices, parted by blanks */
	bool required;
};

/*
 * Read a file ("-": standard input) whose root is a mapping with these keys
 * into `to`.  The table ends with a name of NULL.  Returns 0 or a negative
 * errno, reported.
 */
int dl_scenario_read(const char *path, const struct dl_log *log,
		     const struct dl_key *keys, void *to);

/* The same from an open stream; `name` stands in messages. */
int dl_scenario_read_stream(FILE *from, const char *name,
			    const struct dl_log *log, const struct dl_key *keys,
			    void *to);

/* ---- for readers of values --------------------------------------------- */

/* Report an error at a node and return -EINVAL. */
int dl_scenario_error(const struct dl_scenario *s, const yaml_node_t *at,
		      const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A node's line, from 1 on. */
static inline unsigned int dl_scenario_line(const yaml_node_t *n)
{
	return n->start_mark.line + 1;
}

/* A mapping with the keys of a table. */
int dl_scenario_mapping(struct dl_scenario *s, const yaml_node_t *n,
			const struct dl_key *keys, void *to);

/* Pairs and items one by one; NULL beyond the last. */
const yaml_node_t *dl_scenario_item(struct dl_scenario *s,
				    const yaml_node_t *sequence,
				    unsigned int i);
const yaml_node_pair_t *dl_scenario_pair(const yaml_node_t *mapping,
					 unsigned int i);
const yaml_node_t *dl_scenario_node(struct dl_scenario *s, int id);

/* A whole number, decimal or 0x...; `what` names it in the message. */
int dl_scenario_number(const struct dl_scenario *s, const yaml_node_t *n,
		       const char *what, int64_t min, int64_t max,
		       int64_t *out);

/* One of the words parted by blanks in `words`; *out is its index. */
int dl_scenario_word(const struct dl_scenario *s, const yaml_node_t *n,
		     const char *what, const char *words, unsigned int *out);

/*
 * A number with up to six decimals, in millionths; so are `min` and `max`.
 */
int dl_scenario_decimal(const struct dl_scenario *s, const yaml_node_t *n,
			const char *what, int64_t min, int64_t max,
			int64_t *out);

/* A text that is not empty, copied; for free(). */
int dl_scenario_text(const struct dl_scenario *s, const yaml_node_t *n,
		     const char *what, char **out);

/*
 * A key's number goes to an int64_t, in millionths for a decimal one, its
 * word's index to an unsigned int, its text to a char *, which has been NULL.
 */
dl_key_reader dl_key_number, dl_key_decimal, dl_key_word, dl_key_text;

#endif
