/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the parts of `dateline diff` share. */
#ifndef TOOL_DIFF_H
#define TOOL_DIFF_H

#include "tools/common/input.h"

/* Two fabrics with tables, and which node is which, by GUID. */
struct diff {
	const struct tool_input *from, *to; /* old, new; borrowed */
	struct dl_fabric_match there;	    /* the fabric of `from` in that of `to` */
	struct dl_fabric_match back;
};

/* Find them.  0, -EINVAL if there are none, reported, or -ENOMEM; release either way. */
int diff_match(struct diff *d, const struct dl_log *log);
void diff_release(struct diff *d);

/*
 * Documents, one for each part.  Lists are whole; "changed" in a part of the
 * tables counts, "compared" how many there are to compare: 0, not looked at.
 * NULL: no memory.
 */
json_t *diff_nodes(const struct diff *d, bool switches);
json_t *diff_cables(const struct diff *d);
json_t *diff_lids(const struct diff *d);
json_t *diff_coords(const struct diff *d);
json_t *diff_sls(const struct diff *d);
json_t *diff_entries(const struct diff *d);
json_t *diff_sl2vl(const struct diff *d);
json_t *diff_vlarb(const struct diff *d, bool limits);
json_t *diff_multicast(const struct diff *d);

/* For people: at most `top` of each list. */
void diff_print(const json_t *document, FILE *to);

#endif
