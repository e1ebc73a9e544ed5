/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "config.h"

#include "dateline/base.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES (1 << 18)
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

/* Room behind what is left; one byte more than is ever filled. */
static int text_make_room(struct dl_text *t)
{
	size_t left = t->end - t->next;
	size_t cap = !t->cap ? PIECE_BYTES : left > t->cap / 2 ? 2 * t->cap : t->cap;
	char *buf = t->buf;

	if (buf)
		memmove(buf, t->next, left);
	if (cap != t->cap)
		buf = realloc(buf, cap + 1);
	if (!buf)
		return -ENOMEM;
	t->buf = t->next = buf;
	t->end = buf + left;
	t->cap = cap;
	return 0;
}

static void text_find_lines(struct dl_text *t)
{
	char *last;

	t->zero = memchr(t->next, '\0', t->end - t->next);
	last = memrchr(t->next, '\n', (t->zero ? t->zero : t->end) - t->next);
	t->lines = last ? last + 1 : t->next;
}

/* 1: there is more; 0: end of file; negative errno. */
static int text_fill(struct dl_text *t)
{
	size_t n = 0;
	int err;

	if (t->at_end)
		return 0;
	if (t->end - t->next >= DL_TEXT_LONGEST) {
		t->line++;
		return dl_text_error(t, "a line of more than %d bytes", DL_TEXT_LONGEST - 1);
	}
	err = text_make_room(t);
	errno = -err;
	if (!err)
		n = fread_unlocked(t->end, 1, t->buf + t->cap - t->end, t->from);
	t->at_end = !n;
	if (!err && !n && ferror(t->from))
		err = errno && errno != EIO ? -errno : -EINVAL;
	if (err)
		return dl_fail(t->log, err, "cannot read %s: %s", t->name, strerror(errno));
	t->end += n;
	t->bytes += n;
	text_find_lines(t);
	return n != 0;
}

int dl_text_next(struct dl_text *t)
{
	int state = 1;
	char *end;
	size_t len;

	while (state > 0 && t->next == t->lines && !t->zero)
		state = text_fill(t);
	if (state < 0 || t->next == t->end)
		return state < 0 ? state : 0;
	end = memchr(t->next, '\n', t->end - t->next);
	t->line++;
	if (!end && t->whole)
		return dl_text_error(t, "the file ends within a line: it may have been cut off");
	if (!end)
		end = t->end; /* there is room behind it */
	t->at = t->next;
	len = end - t->at;
	t->next = end < t->end ? end + 1 : end;
	if (len && t->at[len - 1] == '\r')
		len--;
	t->at[len] = '\0';
	if (t->zero && t->zero < t->next)
		text_find_lines(t);
	return memchr(t->at, '\0', len) ? dl_text_error(t, "a byte 0: expected text") : 1;
}

int dl_text_each(FILE *from, const char *name, const struct dl_log *log, dl_text_line line,
		 void *context)
{
	struct dl_text t;
	int err = 0;

	dl_text_begin(&t, from, name, log);
	while (!err && (err = dl_text_next(&t)) > 0)
		err = line(context, &t);
	dl_text_end(&t);
	return err;
}

int dl_text_each_of(const char *path, const struct dl_log *log, dl_text_line line, void *context)
{
	FILE *from = fopen(path, "re");
	int err = from ? 0 : -errno;

	if (err)
		return dl_fail(log, err, "cannot read %s: %s", path, strerror(-err));
	err = dl_text_each(from, path, log, line, context);
	fclose(from);
	return err;
}

void dl_text_append(char *out, size_t size, const char *format, ...)
{
	size_t used = strlen(out);
	va_list args;

	va_start(args, format);
	vsnprintf(out + used, size - used, format, args);
	va_end(args);
}

int dl_text_error(const struct dl_text *t, const char *format, ...)
{
	char message[512];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	return dl_fail(t->log, -EINVAL, "%s:%u: %s", t->name, t->line ? t->line : 1, message);
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

/* ---- cleaning ----------------------------------------------------------- */

/* The character at `s` and its length; 0: no UTF-8. */
static size_t text_decode(const unsigned char *s, uint32_t *c)
{
	static const struct {
		unsigned char mask, lead;
		uint32_t least;
	} forms[] = {
		{ 0x80, 0, 0 }, { 0xE0, 0xC0, 0x80 }, { 0xF0, 0xE0, 0x800 }, { 0xF8, 0xF0, 0x10000 }
	};

	for (size_t n = 0; n < sizeof(forms) / sizeof(*forms); n++) {
		if ((*s & forms[n].mask) != forms[n].lead)
			continue;
		*c = *s & (unsigned char)~forms[n].mask;
		for (size_t i = 1; i <= n; i++) {
			if ((s[i] & 0xC0) != 0x80)
				return 0;
			*c = *c << 6 | (s[i] & 0x3F);
		}
		return *c < forms[n].least || *c > 0x10FFFF || *c >> 11 == 0x1B ? 0 : n + 1;
	}
	return 0;
}

/* Is it invisible, or does it turn the direction of writing? */
static bool is_deceptive(uint32_t c)
{
	static const uint32_t ranges[][2] = { { 0xAD, 0xAD },	  { 0x61C, 0x61C },
					      { 0x200B, 0x200F }, { 0x2028, 0x202E },
					      { 0x2060, 0x206F }, { 0xFEFF, 0xFEFF },
					      { 0xFFF0, 0xFFFF }, { 0xE0000, 0xE0FFF } };

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (c >= ranges[i][0] && c <= ranges[i][1])
			return true;
	return false;
}

size_t dl_text_clean(char *text)
{
	char *from = text, *to = text;

	while (*from) {
		uint32_t c;
		size_t n = text_decode((unsigned char *)from, &c);

		if (n && (c < ' ' || (c >= 0x7F && c < 0xA0))) {
			*to++ = ' ';
		} else if (!n || is_deceptive(c)) {
			*to++ = '?';
		} else {
			memmove(to, from, n);
			to += n;
		}
		from += n ? n : 1;
	}
	*to = '\0';
	return to - text;
}
