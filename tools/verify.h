/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the parts of `dateline verify` share. */
#ifndef DL_TOOL_VERIFY_H
#define DL_TOOL_VERIFY_H

#include "sites.h"
#include "dateline/verify.h"

struct verify_report {
	const struct dl_tables *tables;
	const struct dl_verify_result *verdict;
	const struct tool_coords *coords;
	bool compared; /* with an earlier snapshot? */
	/* For the explanation: is there a loop without the groups, and */
	bool unicast_alone;
	bool adapters_alone; /* without the switches' own packets? */
};

/* The verdict as a document, but for the time it took.  NULL: no memory. */
json_t *verify_json(const struct verify_report *r);

/*
 * Find out what an explanation tells beyond the verdict, which was reached
 * with these options.  0 or -ENOMEM.
 */
int verify_explain(struct verify_report *r, const struct dl_verify_options *o);

/* For people: the verdict; with `explain` in words, and what to do. */
void verify_print(const struct verify_report *r, bool explain, FILE *to);

/* A cycle's channels, with the packet that waits in each. */
void verify_print_cycle(const struct dl_fabric *f,
			const struct tool_coords *coords,
			const struct dl_cycle *cycle, FILE *to);
json_t *verify_cycle_json(const struct dl_fabric *f,
			  const struct tool_coords *coords,
			  const struct dl_cycle *cycle);

/* "0x..." */
json_t *tool_json_guid(const struct dl_fabric *f, uint32_t node);

/* What a fault is, in words. */
const char *verify_fault_text(unsigned int fault);

#endif
