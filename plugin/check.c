/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Invariants at the border between routing and OpenSM, where a fault would
 * reach the switches: it fails the sweep instead.
 */
#include <errno.h>

#include "check.h"
#include "dateline/base.h"

/* The highest port that the entries of a switch name. */
static unsigned int highest_port(const struct dl_tables *t, uint32_t s)
{
	const uint8_t *row = t->lft + (size_t)s * t->stride;
	unsigned int highest = 0;
	uint32_t lid;

	for (lid = 0; lid <= t->top_lid; lid++)
		if (row[lid] != DL_TABLES_NO_PORT && row[lid] > highest)
			highest = row[lid];
	return highest;
}

int dl_check_routed(const struct dl_fabric *f, const struct dl_route_result *r, bool proven,
		    const struct dl_log *log)
{
	const struct dl_verify_result *v = r->verification;
	const struct dl_tables *t = r->tables;
	uint32_t s;

	if (dl_broken(log, t && t->fabric == f && t->top_lid == f->top_lid) ||
	    dl_broken(log, r->tree && r->tree->nswitches == f->nswitches))
		return -EPROTO;
	if (proven && dl_broken(log, v && v->delivered && v->verdict == DL_VERIFY_FREE))
		return -EPROTO;
	for (s = 0; s < f->nswitches; s++)
		if (dl_broken(log, highest_port(t, s) <= f->nodes[f->switches[s]].nports))
			return -EPROTO;
	return 0;
}
