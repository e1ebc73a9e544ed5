/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Trace files: one message a line, as blank-separated time in nanoseconds,
 * source, destination, bytes and QoS level.  What follows a # is a comment.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/scenario.h"

static bool trace_number(const char *text, uint64_t max, uint64_t *out)
{
	const char *end = dl_number_scan(text, 10, out);

	return end != text && !*end && *out <= max;
}

/* One line; *got is false when nothing stands in it.  What is wrong, or NULL. */
static const char *trace_line(const struct dl_emu_scenario *s, char *line,
			      struct dl_emu_trace_message *m, bool *got)
{
	uint64_t ns, bytes, level;
	char *word[6], *rest = line;
	unsigned int n = 0;

	line[strcspn(line, "#\n")] = '\0';
	while (n < 6 && (word[n] = strsep(&rest, " \t\r,")))
		n += *word[n] != '\0';
	*got = n > 0;
	if (!n)
		return NULL;
	if (n != 5 || !trace_number(word[0], DL_EMU_SCENARIO_NS_MAX, &ns) ||
	    !trace_number(word[3], DL_EMU_SCENARIO_BYTES_MAX, &bytes) || !bytes ||
	    !trace_number(word[4], 1, &level))
		return "expected time in ns, source, destination, bytes, level";
	if (dl_emu_scenario_adapter(s, word[1], &m->src))
		return "the source is no adapter of the fabric";
	if (dl_emu_scenario_adapter(s, word[2], &m->dst))
		return "the destination is no adapter of the fabric";
	if (m->src == m->dst)
		return "expected two different adapters";
	m->at = ns * 1000;
	m->bytes = bytes;
	m->level = level;
	return NULL;
}

/* `flow` is the place in the file until the flows are numbered. */
static int trace_by_source(const void *left, const void *right)
{
	const struct dl_emu_trace_message *a = left, *b = right;

	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->flow < b->flow ? -1 : 1;
}

/* 0, or a negative errno, reported but for -ENOMEM. */
static int trace_lines(const struct dl_emu_scenario *s, const char *path, FILE *from,
		       struct dl_emu_trace_message **list, uint32_t *n)
{
	uint32_t cap = 0, number = 0;
	char *line = NULL;
	size_t size = 0;
	int err = 0;

	while (!err && getline(&line, &size, from) >= 0) {
		struct dl_emu_trace_message m = { .flow = *n };
		const char *wrong;
		bool got;

		number++;
		wrong = trace_line(s, line, &m, &got);
		if (wrong) {
			dl_log(s->log, DL_LOG_ERROR, "%s:%u: %s", path, number, wrong);
			err = -EINVAL;
		} else if (got && !dl_array_room(*list, *n, 1, &cap)) {
			err = -ENOMEM;
		} else if (got) {
			(*list)[(*n)++] = m;
		}
	}
	if (!err && ferror(from)) {
		err = -errno;
		dl_log(s->log, DL_LOG_ERROR, "cannot read %s: %s", path, strerror(errno));
	}
	free(line);
	return err;
}

int dl_emu_scenario_read_trace(struct dl_emu_scenario *s, struct dl_yaml *y,
			       const struct dl_yaml_node *at, const char *name,
			       struct dl_emu_traffic_entry *e)
{
	char *path = dl_emu_scenario_file(s, name);
	struct dl_emu_trace_message *list = NULL, *kept = NULL;
	uint32_t n = 0;
	FILE *from;
	int err;

	if (!path)
		return dl_yaml_no_memory(y, at);
	from = fopen(path, "re");
	if (!from) {
		err = -errno;
		dl_yaml_error(y, at, "cannot open the trace %s: %s", path, strerror(-err));
		return err;
	}
	err = trace_lines(s, path, from, &list, &n);
	fclose(from);
	if (!err) {
		kept = dl_arena_array(&s->arena, n + 1ul, sizeof(*kept));
		err = kept ? 0 : -ENOMEM;
	}
	if (!err && n) {
		qsort(list, n, sizeof(*list), trace_by_source);
		memcpy(kept, list, n * sizeof(*kept));
	}
	free(list);
	e->trace = kept;
	e->ntrace = n;
	return err == -ENOMEM ? dl_yaml_no_memory(y, at) : err;
}
