/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * `dateline verify`.
 *
 *   verify.c       the command
 *   verify_json.c  what was found, as a document
 *   verify_text.c  the document in words
 */
#ifndef TOOL_VERIFY_H
#define TOOL_VERIFY_H

#include "tools/common/input.h"
#include "dateline/verify.h"

/*
 * What was found by these options, but for the time it took.  NULL: no memory.
 */
json_t *verify_json(const struct dl_verify_result *v, const struct dl_verify_options *o,
		    const struct tool_input *in);

/* Why a packet is lost: of an enum dl_verify_fault. */
const char *verify_fault_text(unsigned int fault);

/* What a document stands for. */
enum tool_exit verify_status(const json_t *document);

/*
 * Add what explains a loop: is there one without the groups, and without the
 * switches' own packets?  The document is of these tables and
 * options.  0 or -ENOMEM.
 */
int verify_explain(json_t *document, const struct dl_tables *t, const struct dl_verify_options *o);

/* For people: the result; with `explain` in words, and what to do. */
void verify_print(const json_t *document, bool explain, FILE *to);

/* A loop's channels, with the packet that waits in each. */
json_t *verify_cycle_json(const struct dl_fabric *f, const struct tool_coords *coords,
			  const struct dl_cycle *cycle);
void verify_print_cycle(const json_t *cycle, FILE *to);

#endif
