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

struct trace {
	const struct dl_emu_scenario *scenario;
	struct dl_emu_trace_message *list;
	uint32_t n, cap;
};

static int trace_line(void *context, struct dl_text *line)
{
	struct trace *t = context;
	struct dl_emu_trace_message m = { .flow = t->n };
	uint64_t ns, bytes, level;
	char *word[6], *rest = line->at;
	unsigned int n = 0;

	rest[strcspn(rest, "#")] = '\0';
	while (n < 6 && (word[n] = strsep(&rest, " \t\r,")))
		n += *word[n] != '\0';
	if (!n)
		return 0;
	if (n != 5 || !trace_number(word[0], DL_EMU_SCENARIO_NS_MAX, &ns) ||
	    !trace_number(word[3], DL_EMU_SCENARIO_BYTES_MAX, &bytes) || !bytes ||
	    !trace_number(word[4], 1, &level))
		return dl_text_error(line,
				     "expected time in ns, source, destination, bytes, level");
	if (dl_emu_scenario_adapter(t->scenario, word[1], &m.src))
		return dl_text_error(line, "the source is no adapter of the fabric");
	if (dl_emu_scenario_adapter(t->scenario, word[2], &m.dst))
		return dl_text_error(line, "the destination is no adapter of the fabric");
	if (m.src == m.dst)
		return dl_text_error(line, "expected two different adapters");
	m.at = ns * 1000;
	m.bytes = bytes;
	m.level = level;
	if (!dl_array_room(t->list, t->n, 1, &t->cap))
		return -ENOMEM;
	t->list[t->n++] = m;
	return 0;
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

int dl_emu_scenario_read_trace(struct dl_emu_scenario *s, struct dl_yaml *y,
			       const struct dl_yaml_node *at, const char *name,
			       struct dl_emu_traffic_entry *e)
{
	char *path = dl_emu_scenario_file(s, name);
	struct dl_emu_trace_message *kept = NULL;
	struct trace t = { .scenario = s };
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
	err = dl_text_each(from, path, s->log, trace_line, &t);
	fclose(from);
	if (!err) {
		kept = dl_arena_array(&s->arena, t.n + 1ul, sizeof(*kept));
		err = kept ? 0 : -ENOMEM;
	}
	if (!err && t.n) {
		qsort(t.list, t.n, sizeof(*t.list), trace_by_source);
		memcpy(kept, t.list, t.n * sizeof(*kept));
	}
	free(t.list);
	e->trace = kept;
	e->ntrace = t.n;
	return err == -ENOMEM ? dl_yaml_no_memory(y, at) : err;
}
