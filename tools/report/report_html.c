/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The file: the page's text with style, program and data in their places.
 *
 * The page (report/report.html) has a line "@NAME@" for each of them.  Data
 * stand in <script> elements, which end at the first "</script": JSON has no
 * "<" left, and base64 never had one.
 */
#include <errno.h>
#include <string.h>

#include "report.h"

static int put_source(const struct report_source *s, FILE *to)
{
	return fwrite(s->text, 1, s->len, to) == s->len ? 0 : -EIO;
}

/* "<" can only stand within a string of a JSON document. */
static int put_escaped(const char *text, size_t len, void *context)
{
	FILE *to = context;
	const char *end = text + len;

	while (text < end) {
		const char *at = memchr(text, '<', end - text);
		size_t n = (at ? at : end) - text;

		if (fwrite(text, 1, n, to) != n)
			return -1;
		if (at && fputs("\\u003c", to) == EOF)
			return -1;
		text += n + (at != NULL);
	}
	return 0;
}

static int put_data(const struct report_page *p, const json_t *document, FILE *to)
{
	fputs("<script type=\"application/json\" id=\"data\">", to);
	if (json_dump_callback(document, put_escaped, to, JSON_COMPACT | JSON_REAL_PRECISION(15)))
		return -EIO;
	fputs("</script>\n", to);
	return report_write_tables(p, to);
}

static bool is_line(const char *line, size_t len, const char *word)
{
	return len == strlen(word) && !memcmp(line, word, len);
}

int report_write(const struct report_page *p, const json_t *document, FILE *to)
{
	const char *at = (const char *)report_html.text;
	const char *end = at + report_html.len;
	int err = 0;

	while (!err && at < end) {
		const char *eol = memchr(at, '\n', end - at);
		size_t len = (eol ? eol : end) - at;

		if (is_line(at, len, "@STYLE@"))
			err = put_source(&report_css, to);
		else if (is_line(at, len, "@PROGRAM@"))
			err = put_source(&report_js, to);
		else if (is_line(at, len, "@DATA@"))
			err = put_data(p, document, to);
		else if (fwrite(at, 1, len, to) != len || putc('\n', to) == EOF)
			err = -EIO;
		at += len + 1;
	}
	return err;
}
