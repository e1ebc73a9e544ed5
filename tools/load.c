/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Inputs that several subcommands read; see tool.h. */
#include <string.h>

#include "tool.h"

int tool_load(const struct tool *tool, const char *path, struct dl_fabric **out)
{
	struct dl_live_options live;

	if (!path) {
		dl_live_options_init(&live);
		return dl_live_fabric(&live, &tool->log, out);
	}
	if (!strcmp(path, "-"))
		return dl_fabric_read_netlist_stream(stdin, "standard input",
						     &tool->log, out);
	return dl_fabric_read_netlist(path, &tool->log, out);
}
