/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a torus-2QoS.conf: refused with a message, or read; and what
 * was read is written in a form that reads the same without a warning.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "dateline/torus.h"

static void count(void *context, enum dl_log_level level, const char *message)
{
	unsigned int *counts = context;

	FUZZ_CHECK(level <= DL_LOG_VERBOSE && message[0]);
	counts[level]++;
}

static int read_bytes(const void *data, size_t size, unsigned int *counts,
		      struct dl_torus_config **out)
{
	struct dl_log log = { .write = count, .context = counts };
	FILE *from = fmemopen((void *)data, size, "r");
	int err;

	FUZZ_CHECK(from);
	err = dl_torus_config_read_stream(from, "input", &log, out);
	fclose(from);
	return err;
}

static char *write_text(const struct dl_torus_config *c, size_t *len)
{
	char *text = NULL;
	FILE *to = open_memstream(&text, len);

	FUZZ_CHECK(to && dl_torus_config_write(c, to) == 0);
	fclose(to);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int counts[DL_LOG_VERBOSE + 1] = { 0 };
	struct dl_torus_config *first, *second;
	char *text, *again;
	size_t len, len_again;
	int err;

	if (!size)
		return 0;
	err = read_bytes(data, size, counts, &first);
	FUZZ_CHECK(err == 0 || err == -EINVAL);
	FUZZ_CHECK(!err == !counts[DL_LOG_ERROR]);
	if (err)
		return 0;
	text = write_text(first, &len);
	FUZZ_CHECK(read_bytes(text, len, counts, &second) == 0);
	FUZZ_CHECK(!counts[DL_LOG_ERROR]);
	again = write_text(second, &len_again);
	FUZZ_CHECK(len == len_again && !memcmp(text, again, len));
	free(text);
	free(again);
	dl_torus_config_free(first);
	dl_torus_config_free(second);
	return 0;
}
