/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What `dateline transition` finds, for `dateline whatif` too. */
#ifndef TOOL_TRANSITION_H
#define TOOL_TRANSITION_H

#include "tools/common/input.h"
#include "dateline/transition.h"

/*
 * The document of a change.  `log` hears progress; `plan`, unless it is NULL, gets what
 * each step writes.  0 or a negative errno.
 */
int transition_json(const struct dl_tables *old, const struct dl_tables *new,
		    enum dl_transition_order order, const struct tool_coords *coords,
		    const struct dl_log *log, FILE *plan, json_t **out);

/* A line that names the first interrupted pairs of a document, if there are any. */
void transition_print_interrupted(const json_t *document, FILE *to);

#endif
