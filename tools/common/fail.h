/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* --fail: switches, adapters and cables that are taken out of a fabric by name. */
#ifndef TOOL_FAIL_H
#define TOOL_FAIL_H

#include "input.h"

/* From zeroed memory; an option may be given several times. */
struct fail_list {
	const char **names; /* each the command line's */
	uint32_t n;
};

/* The setting of a struct fail_list, to be followed by DL_MEMBER() of it. */
#define FAIL_SETTING "fail", .call = fail_read, .arg = "NAME[/PORT]"
int fail_read(const struct dl_setting *s, void *to, const char *text, char *why, size_t size);
void fail_release(struct fail_list *l);

/*
 * What is left of `whole`, which has LIDs: a fabric of the same LIDs and coordinates,
 * of which what cannot be routed is left out, as TOOL_INPUT_PART does.  `failed`,
 * unless NULL, becomes a list of what fails, {guid, name, coord} or with ports
 * {from, to}.  0 or a negative errno, reported; tool_input_free() in either case.
 */
int fail_input(struct tool *tool, const struct tool_input_options *o, const struct fail_list *l,
	       const struct tool_input *whole, struct tool_input *left, json_t *failed);

#endif
