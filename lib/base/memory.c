/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A stream into memory that reports when memory ran out: open_memstream() silently
 * loses what does not fit.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/base.h"

#define FIRST 256

struct memory {
	char *text;
	size_t len, cap;
	bool failed;
	char **out;
	size_t *out_len;
};

static ssize_t memory_keep(void *cookie, const char *text, size_t len)
{
	struct memory *m = cookie;

	if (m->len + len >= m->cap) {
		size_t cap = 2 * (m->len + len + 1);
		char *grown = realloc(m->text, cap);

		m->failed |= !grown;
		if (!grown)
			return 0;
		m->text = grown;
		m->cap = cap;
	}
	memcpy(m->text + m->len, text, len);
	m->len += len;
	return len;
}

static int memory_end(void *cookie)
{
	struct memory *m = cookie;
	bool failed = m->failed;

	if (failed) {
		free(m->text);
	} else {
		m->text[m->len] = '\0';
		*m->out = m->text;
		*m->out_len = m->len;
	}
	free(m);
	errno = failed ? ENOMEM : errno;
	return failed ? -1 : 0;
}

FILE *dl_memory_open(char **text, size_t *len)
{
	struct memory *m = malloc(sizeof(*m));
	char *first = malloc(FIRST);
	FILE *to = NULL;

	*text = NULL;
	*len = 0;
	if (m && first) {
		*m = (struct memory){ first, 0, FIRST, false, text, len };
		to = fopencookie(m, "w",
				 (cookie_io_functions_t){ .write = memory_keep,
							  .close = memory_end });
	}
	if (!to) {
		free(m);
		free(first);
	}
	return to;
}
