/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What an administrator adds to opensm.conf; see tool.h. */
#include <errno.h>
#include <stdlib.h>

#include "dateline/route.h"
#include "tool.h"

#define OPENSM_CONF "dateline-opensm.conf"

static void write_table(FILE *to, const char *kind, const char *table,
			const struct dl_tables_vlarb_entry *e, unsigned int n)
{
	unsigned int i;

	fprintf(to, "qos_%s_vlarb_%s ", kind, table);
	for (i = 0; i < n; i++)
		fprintf(to, "%s%u:%u", i ? "," : "", e[i].vl, e[i].weight);
	fputc('\n', to);
}

static void write_kind(FILE *to, const char *kind, const struct dl_tables_vlarb *arb)
{
	fprintf(to, "qos_%s_high_limit %u\n", kind, arb->high_limit);
	write_table(to, kind, "high", arb->high, arb->nhigh);
	write_table(to, kind, "low", arb->low, arb->nlow);
}

static int write_conf(const struct dl_route_options *o, FILE *to)
{
	static const char *const end_kinds[] = { "ca", "rtr", "sw0" };
	const struct dl_route_vls vls = { 8, 2, o->mode == DL_ROUTE_ANY_SL };
	struct dl_tables_vlarb between, end;
	size_t i;

	dl_route_vlarb(o, &vls, true, 64, 64, &between);
	dl_route_vlarb(o, &vls, false, 64, 64, &end);
	fputs("# Add this to opensm.conf.\n"
	      "#\n"
	      "# Dateline as the only engine; with \"torus-2QoS\" in its place "
	      "the same\n"
	      "# fabric is routed by the built-in one.\n"
	      "event_plugin_name osmdateline\n"
	      "routing_engine dateline,no_fallback\n"
	      "qos TRUE\n",
	      to);
	if (o->mode != DL_ROUTE_PROVEN)
		fprintf(to, "event_plugin_options mode=%s\n", dl_route_mode_name(o->mode));
	fputs("\n"
	      "# Between switches VL 0-3 carry QoS level 0 and VL 4-7 level 1, "
	      "on end ports\n"
	      "# VL 0 and VL 1; all VLs of a level weigh the same.  Dateline "
	      "programs the\n"
	      "# same when nothing is set here.\n",
	      to);
	write_kind(to, "swe", &between);
	for (i = 0; i < sizeof(end_kinds) / sizeof(*end_kinds); i++)
		write_kind(to, end_kinds[i], &end);
	return fflush(to) || ferror(to) ? -EIO : 0;
}

int tool_add_opensm_conf(struct dl_snapshot *s, const struct dl_route_options *o)
{
	return tool_add_note(s, OPENSM_CONF, to, write_conf(o, to));
}
