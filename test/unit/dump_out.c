/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Dumps of any size are written byte by byte and summed, or there is an error. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "dateline/base.h"
#include "random.h"
#include "tables/internal.h"

#define BLOCK ((size_t)1 << 18) /* bytes: of the buffer */
#define MOST (6 * BLOCK + 1000)
#define LINE_MOST 999

static char *text; /* what every file begins with */

/* A file without a name, in a directory. */
static FILE *new_file(const char *dir)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/dump.XXXXXX", dir);
	fd = mkstemp(path);
	if (fd >= 0)
		unlink(path);
	return fd < 0 ? NULL : fdopen(fd, "r+");
}

/* Put `n` bytes in, line by line and in longer texts. */
static int write_dump(FILE *to, size_t n, struct dl_tables_out *o)
{
	struct test_random r = { .seed = n };
	size_t at = 0;
	int err = dl_tables_out_begin(o, to);

	while (!err && at < n) {
		bool is_line = test_random(&r, 1000);
		size_t most = is_line ? LINE_MOST : 3 * BLOCK;
		size_t len = 1 + test_random(&r, most);

		len = len < n - at ? len : n - at;
		if (is_line) {
			memcpy(dl_tables_out_room(o, len), text + at, len);
			o->at += len;
		} else {
			dl_tables_out_text(o, text + at, len);
		}
		at += len;
	}
	return err ? err : dl_tables_out_end(o, 0);
}

static void same_bytes(const char *dir, size_t n)
{
	struct dl_tables_out o;
	FILE *to = new_file(dir);
	char *back = malloc(n + 1);
	struct stat st;

	assert_non_null(to);
	assert_non_null(back);
	assert_int_equal(write_dump(to, n, &o), 0);
	assert_int_equal(fstat(fileno(to), &st), 0);
	assert_int_equal(st.st_size, n);
	assert_int_equal(pread(fileno(to), back, n + 1, 0), n);
	assert_memory_equal(back, text, n);
	assert_int_equal(o.bytes, n);
	assert_true(o.checksum == dl_tables_sum_of(text, n));
	free(back);
	fclose(to);
}

/* On the disk and in memory. */
static void sizes(void **state)
{
	static const char *const dirs[] = { ".", "/dev/shm" };
	static const size_t beyond[] = { 0, 1, 511, 512, 4096, 4097, LINE_MOST, BLOCK - 1 };

	(void)state;
	for (unsigned int d = 0; d < 2; d++) {
		if (access(dirs[d], W_OK))
			continue;
		for (size_t blocks = 0; blocks < 6; blocks += 1 + (blocks == 2))
			for (unsigned int i = 0; i < sizeof(beyond) / sizeof(*beyond); i++)
				same_bytes(dirs[d], blocks * BLOCK + beyond[i]);
	}
}

/* The disk ends at each part of a block, and behind the last one. */
static void full_disk(void **state)
{
	const size_t n = 5 * BLOCK + 12345;
	struct rlimit before, limit;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	signal(SIGXFSZ, SIG_IGN);
	for (limit.rlim_cur = 0; limit.rlim_cur < n; limit.rlim_cur += BLOCK / 2 + 1000) {
		struct dl_tables_out o;
		FILE *to = new_file(".");

		assert_non_null(to);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		assert_int_equal(dl_file_flush(to, write_dump(to, n, &o)), -EFBIG);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
		fclose(to);
	}
}

static void refused(void **state)
{
	struct dl_tables_out o;
	FILE *to = fopen("/dev/null", "r");

	(void)state;
	assert_non_null(to);
	assert_int_equal(write_dump(to, 3 * BLOCK, &o), -EIO);
	assert_int_equal(write_dump(to, 10, &o), -EIO);
	fclose(to);
}

static int make_text(void **state)
{
	struct test_random r = { .seed = 1 };

	(void)state;
	text = malloc(MOST);
	for (size_t i = 0; text && i < MOST; i++)
		text[i] = test_random(&r, 256);
	return text ? 0 : -1;
}

static int free_text(void **state)
{
	(void)state;
	free(text);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),
		cmocka_unit_test(full_disk),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, make_text, free_text);
}
