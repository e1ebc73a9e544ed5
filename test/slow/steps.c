/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Counts the basic blocks that the command goes through, and ends it when there are
 * more than DATELINE_STEPS: the same number on any machine.  At the end they go to
 * the file DATELINE_STEPS_TO.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define UNCOUNTED __attribute__((no_sanitize_coverage))
#define TOO_MANY 70 /* exit status */

void __sanitizer_cov_trace_pc(void);

static uint64_t steps, most = UINT64_MAX;

UNCOUNTED __attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("DATELINE_STEPS");

	if (text)
		most = strtoull(text, NULL, 10);
}

UNCOUNTED __attribute__((destructor)) static void end(void)
{
	const char *path = getenv("DATELINE_STEPS_TO");
	FILE *to = path ? fopen(path, "w") : NULL;

	if (!to)
		return;
	fprintf(to, "%" PRIu64 "\n", steps);
	fclose(to);
}

UNCOUNTED void __sanitizer_cov_trace_pc(void)
{
	if (++steps > most)
		_exit(TOO_MANY);
}
