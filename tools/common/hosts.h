/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lists of hosts, as schedulers have them: "node[01-20,33]x[1-2],login", or a
 * file (- for standard input) with such a list, or one name, in each line.
 */
#ifndef TOOL_HOSTS_H
#define TOOL_HOSTS_H

#include "find.h"

/* Takes one host.  0 or a negative errno. */
typedef int hosts_add(void *context, const char *name, const struct find_result *end);

/*
 * Read a list: between its commas may stand whatever names an end port (find.h),
 * coordinates only alone, or alone in a line.  0 or a negative errno, reported.
 */
int hosts_read(const struct find *find, const char *list, const struct dl_log *log, hosts_add *add,
	       void *context);

/* The same of a list, which it takes apart; nothing is reported. */
int hosts_read_items(const struct find *find, char *items, hosts_add *add, void *context);

/*
 * Pass the lines of a file (-: standard input) on that are neither empty nor a
 * comment, without blanks at their ends.  0 or a negative errno, reported.
 */
int hosts_read_lines(const char *path, const struct dl_log *log, dl_text_line line, void *context);

#endif
