/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One fuzzed file that holds a fabric: it is refused with an error, or what
 * is written from it is read and written again to the same bytes.
 */
#ifndef TEST_FABRIC_FILE_H
#define TEST_FABRIC_FILE_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/fabric.h"
#include "listen.h"

struct fabric_format {
	int (*read)(FILE *from, const char *name, const struct dl_log *log, struct dl_fabric **out);
	int (*write)(const struct dl_fabric *f, FILE *to);
};

static struct dl_fabric *read_text(const struct fabric_format *format, const void *text,
				   size_t size)
{
	struct dl_fabric *f = NULL;
	FILE *from;
	int err;

	if (!size)
		return NULL;
	from = fmemopen((void *)text, size, "r");
	FUZZ_CHECK(from);
	error = false;
	err = format->read(from, "input", &listener, &f);
	fclose(from);
	FUZZ_CHECK(!err || err == -EINVAL);
	FUZZ_CHECK(error == !!err && !f == !!err);
	return f;
}

static char *write_text(const struct fabric_format *format, const struct dl_fabric *f, size_t *size)
{
	char *text = NULL;
	FILE *to = open_memstream(&text, size);

	FUZZ_CHECK(to);
	FUZZ_CHECK(!format->write(f, to));
	fclose(to);
	return text;
}

static void fuzz_fabric_file(const struct fabric_format *format, const uint8_t *data, size_t size)
{
	struct dl_fabric *f = read_text(format, data, size);
	char *first, *second;
	size_t len, len2;

	if (!f)
		return;
	first = write_text(format, f, &len);
	dl_fabric_free(f);
	if (len) {
		f = read_text(format, first, len);
		FUZZ_CHECK(f);
		second = write_text(format, f, &len2);
		FUZZ_CHECK(len == len2 && !memcmp(first, second, len));
		dl_fabric_free(f);
		free(second);
	}
	free(first);
}

#endif
