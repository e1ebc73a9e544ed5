/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Trace files of `dateline emulate`: one message a line, as blank-separated
 * time in nanoseconds, source, destination, bytes and QoS level.  What
 * follows a # is a comment.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulate.h"

#define EXPECTED "expected time in ns, source, destination, bytes, level"
#define NS_MAX 1000000000000ull
#define BYTES_MAX (1 << 30)

static bool parse_number(const char *text, uint64_t max, uint64_t *out)
{
	char *end;

	if (!text || text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return !errno && !*end && *out <= max;
}

/* One line; *got is false when nothing stands in it. */
static const char *parse_line(const struct emu_plan *p, char *line,
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
	if (n != 5 || !parse_number(word[0], NS_MAX, &ns) ||
	    !parse_number(word[3], BYTES_MAX, &bytes) || !bytes ||
	    !parse_number(word[4], 1, &level))
		return EXPECTED;
	if (emu_find_adapter(p, word[1], &m->src))
		return "the source is no adapter of the fabric";
	if (emu_find_adapter(p, word[2], &m->dst))
		return "the destination is no adapter of the fabric";
	if (m->src == m->dst)
		return "expected two different adapters";
	m->at = ns * 1000;
	m->bytes = bytes;
	m->level = level;
	return NULL;
}

struct trace {
	struct dl_emu_trace_message *list;
	uint64_t n, cap;
};

static int append(struct trace *t, const struct dl_emu_trace_message *m)
{
	if (t->n == t->cap) {
		uint64_t cap = 2 * t->cap + 64;
		struct dl_emu_trace_message *more =
			realloc(t->list, cap * sizeof(*m));

		if (!more)
			return -ENOMEM;
		t->list = more;
		t->cap = cap;
	}
	t->list[t->n] = *m;
	/* Until it is sorted: the place in the file. */
	t->list[t->n].flow = t->n;
	t->n++;
	return 0;
}

static int by_source(const void *left, const void *right)
{
	const struct dl_emu_trace_message *a = left, *b = right;

	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->flow < b->flow ? -1 : 1;
}

static int read_lines(const struct emu_plan *p, const char *path, FILE *from,
		      struct trace *t)
{
	unsigned int number = 0;
	char *line = NULL;
	size_t size = 0;
	int err = 0;

	while (!err && getline(&line, &size, from) >= 0) {
		struct dl_emu_trace_message m = { 0 };
		const char *wrong;
		bool got;

		number++;
		wrong = parse_line(p, line, &m, &got);
		if (wrong) {
			dl_log(p->log, DL_LOG_ERROR, "%s:%u: %s", path, number,
			       wrong);
			err = -EINVAL;
		} else if (got) {
			err = append(t, &m);
		}
	}
	if (!err && ferror(from))
		err = -EIO;
	free(line);
	return err;
}

int emu_trace_read(const struct emu_plan *p, const struct emu_traffic *t,
		   struct dl_emu_trace_message **out, uint64_t *n)
{
	char *path = emu_beside(p->scenario, t->file);
	struct trace trace = { 0 };
	FILE *from;
	int err;

	if (!path)
		return -ENOMEM;
	from = fopen(path, "re");
	if (!from) {
		err = -errno;
		emu_scenario_error(p->scenario, p->log, t->line,
				   "cannot open the trace %s: %s", path,
				   strerror(errno));
	} else {
		err = read_lines(p, path, from, &trace);
		fclose(from);
	}
	if (!err && trace.n)
		qsort(trace.list, trace.n, sizeof(*trace.list), by_source);
	if (err) {
		free(trace.list);
	} else {
		*out = trace.list;
		*n = trace.n;
	}
	free(path);
	return err;
}
