/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A fabric with its coordinates, as most subcommands begin; see tool.h. */
#include <string.h>

#include "tool.h"

int tool_setup_load(const struct tool *tool, const char *net,
		    const char *config, struct tool_setup *s)
{
	int err;

	memset(s, 0, sizeof(*s));
	err = tool_load(tool, net, &s->fabric);
	if (!err && config)
		err = dl_torus_config_read(config, &tool->log, &s->config);
	else if (!err)
		err = dl_torus_infer(s->fabric, &tool->log, &s->config);
	if (!err)
		err = dl_torus_discover(s->fabric, s->config, &tool->log,
					&s->torus);
	return err;
}

void tool_setup_free(struct tool_setup *s)
{
	dl_torus_free(s->torus);
	dl_torus_config_free(s->config);
	dl_fabric_free(s->fabric);
}
