/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* --fail: switches, adapters and cables that are taken out of a fabric by name. */
#ifndef TOOL_FAIL_H
#define TOOL_FAIL_H

#include "input.h"

/* The setting of a struct tool_names, which may be given several times. */
#define FAIL_SETTING "fail", .call = tool_names_read, .arg = "NAME[/PORT]"

/*
 * What is left of `whole`, which has LIDs: a fabric of the same LIDs and coordinates,
 * of which what cannot be routed is left out, as TOOL_INPUT_PART does.  `failed`,
 * unless NULL, becomes a list of what fails, {guid, name, coord} or with ports
 * {from, to}.  0 or a negative errno, reported; tool_input_free() in either case.
 */
int fail_input(struct tool *tool, const struct tool_input_options *o, const struct tool_names *l,
	       const struct tool_input *whole, struct tool_input *left, json_t *failed);

#endif
