/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Models of a port or a link that run event by event: `dateline arbitrate` and
 * `dateline credits`.  Both read a scenario and print what each step leaves
 * behind, as text at once or as one JSON document at the end.
 */
#ifndef TOOL_STEPS_H
#define TOOL_STEPS_H

#include "tool.h"

struct steps;

struct steps_model {
	const char *list; /* the key of the steps in the document */
	size_t size;	  /* of the model's state, which begins as zeroes */
	/* Read a scenario: 0 or a negative errno, reported. */
	int (*read)(void *model, const char *path, const struct dl_log *log);
	/* Let everything happen; each step goes to steps_add(). */
	int (*run)(void *model, struct steps *steps);
	/* What the document says beside the steps, as an object. */
	json_t *(*before)(const void *model); /* NULL: nothing */
	json_t *(*after)(const void *model, const char *path,
			 const struct dl_log *log); /* NULL: nothing */
	/* For people: the document before and after, and each step. */
	void (*print_before)(const json_t *document, FILE *to);
	void (*print_step)(const json_t *step, FILE *to);
	void (*print_after)(const json_t *document, FILE *to);
	void (*release)(void *model);
};

/* Print or keep a step, and release it.  0 or -ENOMEM (`step` is NULL). */
int steps_add(struct steps *steps, json_t *step);

/* The whole subcommand. */
int steps_command(struct tool *tool, const struct steps_model *m, const char *doc, int argc,
		  char **argv);

#endif
