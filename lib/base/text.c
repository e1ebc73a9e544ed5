/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "config.h"

#include "dateline/base.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN_MAX 40 /* of a token in a message */

void dl_text_begin(struct dl_text *t, FILE *from, const char *name, const struct dl_log *log)
{
	*t = (struct dl_text){ .from = from, .name = name, .log = log };
}

void dl_text_end(struct dl_text *t)
{
	free(t->buf);
	t->buf = NULL;
}

int dl_text_next(struct dl_text *t)
{
	ssize_t len;

	errno = 0;
	len = getline(&t->buf, &t->cap, t->from);
	if (len < 0) {
		int err = errno;

		if (!ferror(t->from) && err != ENOMEM)
			return 0;
		dl_log(t->log, DL_LOG_ERROR, "%s:%u: cannot read on: %s", t->name, t->line + 1,
		       strerror(err));
		return err ? -err : -EIO;
	}
	t->line++;
	t->at = t->buf;
	if (len && t->buf[len - 1] == '\n')
		t->buf[--len] = '\0';
	if (len && t->buf[len - 1] == '\r')
		t->buf[--len] = '\0';
	if (memchr(t->buf, '\0', len))
		return dl_text_error(t, "a byte 0: expected text");
	return 1;
}

int dl_text_error(const struct dl_text *t, const char *format, ...)
{
	char message[512];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	dl_log(t->log, DL_LOG_ERROR, "%s:%u: %s", t->name, t->line, message);
	return -EINVAL;
}

int dl_text_expected(const struct dl_text *t, const char *what)
{
	char token[TOKEN_MAX + 1];
	const char *at = t->at;
	int n;

	while (*at == ' ' || *at == '\t')
		at++;
	for (n = 0; n < TOKEN_MAX && at[n] && !isspace((unsigned char)at[n]); n++)
		token[n] = iscntrl((unsigned char)at[n]) ? '?' : at[n];
	token[n] = '\0';
	if (!n)
		return dl_text_error(t, "end of line: expected %s", what);
	return dl_text_error(t, "\"%s\": expected %s", token, what);
}

static void skip_blanks(struct dl_text *t)
{
	while (*t->at == ' ' || *t->at == '\t')
		t->at++;
}

bool dl_text_take(struct dl_text *t, char c)
{
	skip_blanks(t);
	if (*t->at != c)
		return false;
	t->at++;
	return true;
}

bool dl_text_take_string(struct dl_text *t, const char *s)
{
	size_t len = strlen(s);

	skip_blanks(t);
	if (strncmp(t->at, s, len))
		return false;
	t->at += len;
	return true;
}

bool dl_text_at_end(struct dl_text *t)
{
	skip_blanks(t);
	return !*t->at;
}

int dl_text_number(struct dl_text *t, int base, uint64_t max, const char *what, uint64_t *out)
{
	const char *end;
	uint64_t value;

	skip_blanks(t);
	end = dl_number_scan(t->at, base, &value);
	if (end == t->at || value > max)
		return dl_text_expected(t, what);
	t->at += end - t->at;
	*out = value;
	return 0;
}

int dl_text_quoted(struct dl_text *t, const char *what, const char **out, size_t *len)
{
	char *end;

	skip_blanks(t);
	end = *t->at == '"' ? strchr(t->at + 1, '"') : NULL;
	if (!end)
		return dl_text_expected(t, what);
	*out = t->at + 1;
	*len = end - *out;
	t->at = end + 1;
	return 0;
}
