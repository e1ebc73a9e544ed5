/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What proven mode did to a fabric, in one line for people: the result first. */
#include "config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dateline/route.h"

/* Append to a string, within its size. */
static void report_append(char *out, size_t size, const char *format, ...)
{
	size_t used = strlen(out);
	va_list args;

	va_start(args, format);
	vsnprintf(out + used, size - used, format, args);
	va_end(args);
}

void dl_route_report_text(const struct dl_route_report *r, char *out, size_t size)
{
	snprintf(out, size, "verified free of credit loops; repairs: ");
	if (r->changed || r->entries_changed || r->entries_filled)
		report_append(out, size,
			      "%" PRIu64 " of %" PRIu64 " forwarding entries changed, "
			      "for %u destination switch%s (%u tree-routed), and "
			      "%" PRIu64 " filled in split rings",
			      r->entries_changed, r->entries, r->rerouted,
			      r->rerouted == 1 ? "" : "es", r->tree_routed, r->entries_filled);
	else
		report_append(out, size, "none");
	if (r->timed_out)
		report_append(out, size, "; repairs timed out");
	if (r->moved)
		report_append(out, size, "; %u switch%s moved in the multicast tree", r->moved,
			      r->moved == 1 ? "" : "es");
	if (r->lost || r->cyclic)
		report_append(out, size,
			      "; dimension-order routing would leave %u pair%s of "
			      "switches unreachable and %u in credit loops",
			      r->lost, r->lost == 1 ? "" : "s", r->cyclic);
}
