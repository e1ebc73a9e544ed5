/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What proven mode did to a fabric, in one line for people: the result first. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "dateline/route.h"

void dl_route_report_text(const struct dl_route_report *r, char *out, size_t size)
{
	snprintf(out, size, "verified free of credit loops; repairs: ");
	if (r->changed || r->entries_changed || r->entries_filled)
		dl_text_append(out, size,
			       "%" PRIu64 " of %" PRIu64 " forwarding entries changed, "
			       "for %u destination switch%s (%u tree-routed), and "
			       "%" PRIu64 " filled in split rings",
			       r->entries_changed, r->entries, r->rerouted,
			       r->rerouted == 1 ? "" : "es", r->tree_routed, r->entries_filled);
	else
		dl_text_append(out, size, "none");
	if (r->timed_out)
		dl_text_append(out, size, "; repairs timed out");
	if (r->moved)
		dl_text_append(out, size, "; %u switch%s moved in the multicast tree", r->moved,
			       r->moved == 1 ? "" : "es");
	if (r->lost || r->cyclic)
		dl_text_append(out, size,
			       "; dimension-order routing would leave %u pair%s of "
			       "switches unreachable and %u in credit loops",
			       r->lost, r->lost == 1 ? "" : "s", r->cyclic);
}
