/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A dump on its way to a file, in large pieces: dumps may be gigabytes, so
 * that lines are put together by hand and each byte is looked at once more
 * only, by the checksum.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tables/internal.h"

#define BUFFER_BYTES (1 << 18)

int dl_tables_out_begin(struct dl_tables_out *o, FILE *to)
{
	*o = (struct dl_tables_out){ .to = to,
				     .buffer = malloc(BUFFER_BYTES),
				     .sum = dl_tables_sum_new() };
	o->at = o->buffer;
	o->end = o->buffer + BUFFER_BYTES;
	if (o->buffer && o->sum)
		return 0;
	free(o->buffer);
	free(o->sum);
	return -ENOMEM;
}

static void write_out(struct dl_tables_out *o)
{
	size_t n = o->at - o->buffer;

	dl_tables_sum_add(o->sum, o->buffer, n);
	o->bytes += n;
	if (!o->failed && fwrite_unlocked(o->buffer, 1, n, o->to) != n)
		o->failed = true;
	o->at = o->buffer;
	dl_progress(o->log, "writing tables", " MB", 1e-6 * (o->before + o->bytes),
		    1e-6 * o->expected);
}

char *dl_tables_out_more(struct dl_tables_out *o)
{
	write_out(o);
	return o->at;
}

void dl_tables_out_text(struct dl_tables_out *o, const char *text, size_t len)
{
	while (len) {
		size_t room = o->end - o->at, n = len < room ? len : room;

		memcpy(o->at, text, n);
		o->at += n;
		text += n;
		len -= n;
		if (o->at == o->end)
			write_out(o);
	}
}

void dl_tables_out_print(struct dl_tables_out *o, const char *format, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	dl_tables_out_text(o, text, n < (int)sizeof(text) ? n : (int)sizeof(text) - 1);
}

int dl_tables_out_end(struct dl_tables_out *o, int err)
{
	write_out(o);
	free(o->buffer);
	o->buffer = NULL;
	o->checksum = dl_tables_sum_end(o->sum);
	if (!err && (o->failed || fflush(o->to) || ferror(o->to)))
		err = -EIO;
	return err;
}
