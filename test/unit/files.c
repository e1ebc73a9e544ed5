/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A file is there as a whole or not at all: full disks, processes that are
 * killed, links and other things that somebody has planted.
 */
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
#include <sys/wait.h>
#include <unistd.h>
#include <dirent.h>

#include <cmocka.h>

#include "dateline/base.h"

#define BIG 300000 /* several buffers */

static char dir[] = "files.XXXXXX";

static const char *in_dir(const char *name)
{
	static char path[2][300];
	static unsigned int turn;

	turn ^= 1;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
	return path[turn];
}

static void content_is(const char *name, const char *text)
{
	char line[100] = "";
	FILE *from = fopen(in_dir(name), "r");

	assert_non_null(from);
	assert_non_null(fgets(line, sizeof(line), from));
	assert_string_equal(line, text);
	fclose(from);
}

static unsigned int count_entries(void)
{
	DIR *d = opendir(dir);
	unsigned int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void put(const char *name, const char *text)
{
	FILE *to = fopen(in_dir(name), "w");

	assert_non_null(to);
	fputs(text, to);
	assert_int_equal(fclose(to), 0);
}

static int write_file(const char *name, const char *text, size_t times)
{
	struct dl_file f;
	int err = dl_file_begin(&f, in_dir(name));

	if (err)
		return err;
	while (times--)
		fputs(text, f.to);
	err = dl_file_finish(&f, 0);
	return err ? err : dl_file_place(&f);
}

static int begin(void **state)
{
	(void)state;
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int end(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static void replaces(void **state)
{
	struct stat st;
	mode_t mask = umask(027);

	(void)state;
	assert_int_equal(write_file("a", "old", 1), 0);
	content_is("a", "old");
	assert_int_equal(stat(in_dir("a"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(chmod(in_dir("a"), 0604), 0);
	assert_int_equal(write_file("a", "new", 1), 0);
	content_is("a", "new");
	assert_int_equal(stat(in_dir("a"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0604);
	assert_int_equal(count_entries(), 1);
	umask(mask);
}

/* A link to a file of root's, a pipe that nobody reads, a directory. */
static void planted(void **state)
{
	struct stat st;

	(void)state;
	put("victim", "secret");
	assert_int_equal(symlink("victim", in_dir("a")), 0);
	assert_int_equal(write_file("a", "new", 1), 0);
	content_is("a", "new");
	content_is("victim", "secret");
	assert_int_equal(lstat(in_dir("a"), &st), 0);
	assert_true(S_ISREG(st.st_mode));

	assert_int_equal(mkfifo(in_dir("pipe"), 0666), 0);
	assert_int_equal(write_file("pipe", "new", 1), 0);
	content_is("pipe", "new");

	assert_int_equal(link(in_dir("victim"), in_dir("hard")), 0);
	assert_int_equal(write_file("hard", "new", 1), 0);
	content_is("victim", "secret");

	assert_int_equal(mkdir(in_dir("d"), 0777), 0);
	assert_int_equal(write_file("d", "new", 1), -EISDIR);
	assert_int_equal(write_file("no/such", "new", 1), -ENOENT);
	assert_int_equal(write_file("a/b", "new", 1), -ENOTDIR);
	assert_int_equal(count_entries(), 5);
}

/* At each size that the disk has room for: the old file, and nothing else. */
static void full_disk(void **state)
{
	struct rlimit before, limit;

	(void)state;
	assert_int_equal(write_file("a", "old", 1), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	signal(SIGXFSZ, SIG_IGN);
	for (limit.rlim_cur = 0; limit.rlim_cur < BIG; limit.rlim_cur += 9999) {
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		assert_int_equal(write_file("a", "0123456789", BIG / 10), -EFBIG);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
		content_is("a", "old");
		assert_int_equal(count_entries(), 1);
	}
	assert_int_equal(write_file("a", "0", BIG), 0);
}

/* The writer itself has failed, or somebody gives up. */
static void dropped(void **state)
{
	struct dl_file f;

	(void)state;
	assert_int_equal(write_file("a", "old", 1), 0);
	assert_int_equal(dl_file_begin(&f, in_dir("a")), 0);
	assert_int_equal(dl_file_finish(&f, -ENOMEM), -ENOMEM);
	dl_file_drop(&f);
	assert_int_equal(dl_file_begin(&f, in_dir("a")), 0);
	fputs("new", f.to);
	dl_file_drop(&f);
	dl_file_drop(&f);
	content_is("a", "old");
	assert_int_equal(count_entries(), 1);
}

/* Killed before any byte, in the middle, when finished, and after placing. */
static void killed(void **state)
{
	(void)state;
	for (int when = 0; when < 4; when++) {
		struct dl_file f;
		pid_t child;
		int status;

		assert_int_equal(write_file("a", "old", 1), 0);
		child = fork();
		if (!child) {
			if (dl_file_begin(&f, in_dir("a")))
				_exit(1);
			for (int i = 0; when && i < BIG; i++)
				fputc('n', f.to);
			if (when > 1 && dl_file_finish(&f, 0))
				_exit(1);
			if (when > 2 && dl_file_place(&f))
				_exit(1);
			raise(SIGKILL);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
		if (when < 3)
			content_is("a", "old");
	}
}

static void cause_of_a_full_device(void **state)
{
	FILE *to = fopen("/dev/full", "w");

	(void)state;
	if (!to)
		skip();
	fputs("text", to);
	assert_int_equal(dl_file_flush(to, 0), -ENOSPC);
	fclose(to);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(replaces), CASE(planted), CASE(full_disk),
		CASE(dropped),	CASE(killed),  cmocka_unit_test(cause_of_a_full_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
