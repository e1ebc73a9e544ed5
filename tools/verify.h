/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the parts of `dateline verify` share. */
#ifndef DL_TOOL_VERIFY_H
#define DL_TOOL_VERIFY_H

#include "sites.h"
#include "dateline/verify.h"

struct dl_report {
	const struct dl_tables *tables;
	const struct dl_verify_result *verdict;
	const struct dl_coords *coords;
	bool compared; /* with an earlier snapshot? */
	/* For the explanation: is there a loop without the groups, and */
	bool unicast_alone;
	bool adapters_alone; /* without the switches' own packets? */
};

/* The verdict as a document, but for the time it took.  NULL: no memory. */
json_t *dl_report_json(const struct dl_report *r);

/*
 * Find out what an explanation tells beyond the verdict, which was reached
 * with these options.  0 or -ENOMEM.
 */
int dl_report_explain(struct dl_report *r, const struct dl_verify_options *o);

/* For people: the verdict; with `explain` in words, and what to do. */
void dl_report_print(const struct dl_report *r, bool explain, FILE *to);

/*
 * A loop's channels, with the packet that waits in each: for people, and for
 * JSON.  Of the verdict, only the fabric and the cycle are looked at.
 */
void dl_report_cycle(const struct dl_report *r, FILE *to);
json_t *dl_report_cycle_json(const struct dl_report *r);

/* "0x..." */
json_t *dl_guid_json(const struct dl_fabric *f, uint32_t node);

/* What a fault is, in words. */
const char *dl_fault_text(unsigned int fault);

#endif
