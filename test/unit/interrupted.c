/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Writers that are killed, or fail, at each call that changes a file or a
 * directory, one after the other: there is the old snapshot or the new one, and
 * the next writer leaves nothing of them.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "dateline/tables.h"
#include "fabric_text.h"

/* ---- the calls ---------------------------------------------------------- */

static unsigned long step, stop_at; /* 0: at none */
static bool kills, without_tmpfile;

static bool stops(void)
{
	if (++step != stop_at)
		return false;
	if (kills)
		raise(SIGKILL);
	errno = EIO;
	return true;
}

int openat(int dir, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (stops())
		return -1;
	if (without_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return syscall(SYS_openat, dir, path, flags, mode);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	return stops() ? -1 : syscall(SYS_linkat, from_dir, from, to_dir, to, flags);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	return stops() ? -1 : syscall(SYS_renameat2, from_dir, from, to_dir, to, 0);
}

int unlinkat(int dir, const char *path, int flags)
{
	return stops() ? -1 : syscall(SYS_unlinkat, dir, path, flags);
}

#undef fwrite_unlocked
size_t fwrite_unlocked(const void *from, size_t size, size_t n, FILE *to)
{
	return stops() ? 0 : fwrite(from, size, n, to);
}

/* Not to wait for the disk: that is not what is tested. */
int fsync(int fd)
{
	(void)fd;
	return stops() ? -1 : 0;
}

/* ---- versions of a snapshot, and what is in its place before ------------ */

enum { NONE = -1, OPENSM = 0, OLD = 1, NEW = 2, LAST = 3 };

static char dir[] = "/dev/shm/interrupted.XXXXXX/d"; /* where no disk is waited for, or here */
static struct dl_fabric *fabric;

/* Each has files that others do not have. */
static int write_version(int version)
{
	static const unsigned int flags[] = {
		[NEW] = DL_SNAPSHOT_PSL_BY_CLASS, [LAST] = DL_SNAPSHOT_PSL_BY_PAIR
	};
	struct dl_snapshot s = { .about.written = version };
	int err = dl_tables_new(fabric, &s.tables);

	if (!err)
		s.tables->lft[1] = version;
	if (!err && version != OLD)
		err = dl_tables_new_psl(s.tables, 1, 1);
	if (!err && version != OLD)
		s.tables->psl_src[fabric->nodes[2].first_port + 1] = s.tables->psl_dst[1] = 0;
	if (!err && version != NEW)
		err = dl_snapshot_add_note(&s, "dateline-partial.txt", strdup("gap\n"), 4);
	if (!err)
		err = dl_snapshot_write(&s, dir, flags[version], NULL);
	dl_snapshot_release(&s);
	return err;
}

/* Which one is there?  NONE: no snapshot is; with any other error, it is neither. */
static int version_of(void)
{
	struct dl_snapshot s;
	struct heard h;
	int err, version;

	heard_init(&h);
	err = dl_snapshot_read(dir, NULL, NULL, &h.log, &s);
	if (err == -ENOENT)
		return NONE;
	if (err)
		fail_msg("%s", h.error);
	version = s.about.written;
	assert_int_equal(s.tables->lft[1], version == OPENSM ? OLD : version);
	assert_int_equal(!(s.parts & DL_SNAPSHOT_HAS_PSL), version <= OLD);
	assert_int_equal(!(s.parts & DL_SNAPSHOT_IS_PARTIAL), version == NEW);
	dl_snapshot_release(&s);
	return version;
}

static const char *in_dir(const char *name)
{
	static char path[300];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

/* Files under names of writers, which nobody else lists. */
static unsigned int count_hidden(void)
{
	DIR *list = opendir(dir);
	unsigned int n = 0;
	struct dirent *e;

	while (list && (e = readdir(list)))
		n += e->d_name[0] == '.' && strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	if (list)
		closedir(list);
	return n;
}

static void clear(void)
{
	DIR *list = opendir(dir);
	struct dirent *e;

	while (list && (e = readdir(list)))
		unlink(in_dir(e->d_name));
	if (list)
		closedir(list);
	rmdir(dir);
}

/* Returns what write_version() did, or 1: it was killed. */
static int write_and_stop(int version, unsigned long at, bool kill)
{
	pid_t child = fork();
	int status;

	if (!child) {
		step = 0;
		stop_at = at;
		kills = kill;
		_exit(write_version(version) ? 2 : step < at ? 3 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? 1 : WEXITSTATUS(status);
}

static unsigned long incomplete_at; /* NEW was killed there, over OLD */

static void prepare(int before)
{
	FILE *to;

	clear();
	if (before == NONE)
		return;
	assert_int_equal(write_version(OLD), 0);
	if (before == OPENSM)
		assert_int_equal(unlink(in_dir("dateline-manifest.txt")), 0);
	if (before == NEW)
		assert_int_equal(write_and_stop(NEW, incomplete_at, true), 1);
	to = fopen(in_dir("opensm.log"), "w");
	assert_non_null(to);
	assert_int_equal(fclose(to), 0);
}

/*
 * Returns the number of calls.  *first_new and *last_waiting: the first one at
 * which the new snapshot was there, and the last at which files of it waited.
 */
static unsigned long at_each_call(int before, int after, bool kill, unsigned long *first_new,
				  unsigned long *last_waiting)
{
	unsigned long at = 0;
	int end;

	do {
		int now;

		prepare(before);
		assert_int_equal(version_of(), before);
		end = write_and_stop(after, ++at, kill);
		now = version_of();
		if (now != before && now != after)
			fail_msg("call %lu: neither, but %d", at, now);
		/* Whoever says that it is written has written it. */
		assert_true(end == 1 || end == 2 || now == after);
		if (now == after && !*first_new)
			*first_new = at;
		if (now == after && count_hidden())
			*last_waiting = at;
		assert_int_equal(write_version(after), 0);
		assert_int_equal(version_of(), after);
		assert_int_equal(count_hidden(), 0);
		assert_int_equal(before == NONE, access(in_dir("opensm.log"), F_OK) != 0);
	} while (end != 3);
	return at;
}

static void killed(void **state)
{
	static const int before[] = { NONE, OPENSM, OLD };

	(void)state;
	for (unsigned int i = 0; i < 6; i++) {
		unsigned long first = 0, last = 0;

		without_tmpfile = i >= 3;
		assert_true(at_each_call(before[i % 3], NEW, true, &first, &last) > 60);
		/* Most of what there is to put in place. */
		assert_true(last > first + 8);
		if (i == 2)
			incomplete_at = (first + last) / 2;
	}
	without_tmpfile = false;
}

/* The one that completes it, too; and where that is what fails. */
static void killed_again(void **state)
{
	unsigned long first = 0, last = 0;

	(void)state;
	assert_true(incomplete_at);
	for (int i = 0; i < 2; i++) {
		prepare(NEW);
		assert_true(count_hidden() > 4);
		assert_true(at_each_call(NEW, LAST, !i, &first, &last) > 60);
	}
}

static void failed(void **state)
{
	unsigned long first = 0, last = 0;

	(void)state;
	assert_true(at_each_call(OLD, NEW, false, &first, &last) > 60);
}

/* ---- one file ----------------------------------------------------------- */

static int write_file(const char *text)
{
	struct dl_file f;
	int err = dl_file_begin(&f, in_dir("file"));

	if (err)
		return err;
	fputs(text, f.to);
	err = dl_file_finish(&f, 0);
	return err ? err : dl_file_place(&f);
}

static char first_byte(void)
{
	FILE *from = fopen(in_dir("file"), "r");
	char byte;

	assert_non_null(from);
	byte = getc(from);
	fclose(from);
	return byte;
}

static void one_file(void **state)
{
	struct dl_file other;

	(void)state;
	clear();
	assert_int_equal(mkdir(dir, 0777), 0);
	for (int i = 0; i < 2; i++) {
		int status;

		without_tmpfile = i;
		stop_at = 0;
		do {
			pid_t child;

			assert_int_equal(write_file("old"), 0);
			assert_int_equal(count_hidden(), 0);
			stop_at++;
			child = fork();
			if (!child) {
				step = 0;
				kills = true;
				_exit(write_file("new") != 0);
			}
			assert_int_equal(waitpid(child, &status, 0), child);
			assert_true(first_byte() == 'o' || (first_byte() == 'n'));
			assert_int_equal(WIFSIGNALED(status) || first_byte() == 'n', true);
		} while (WIFSIGNALED(status));
		assert_true(stop_at > 4u + i);
		stop_at = 0;
	}

	/* What somebody writes at this time stays. */
	assert_int_equal(dl_file_begin(&other, in_dir("other")), 0);
	assert_int_equal(count_hidden(), 1);
	assert_int_equal(write_file("new"), 0);
	assert_int_equal(count_hidden(), 1);
	assert_int_equal(dl_file_finish(&other, 0), 0);
	assert_int_equal(dl_file_place(&other), 0);
	assert_int_equal(access(in_dir("other"), F_OK), 0);
	without_tmpfile = false;
}

static int begin(void **state)
{
	(void)state;
	if (access("/dev/shm", W_OK | X_OK))
		memmove(dir, strrchr(dir, 'i'), strlen(strrchr(dir, 'i')) + 1);
	*strrchr(dir, '/') = '\0';
	if (!mkdtemp(dir))
		return -1;
	dir[strlen(dir)] = '/';
	fabric = small_fabric(true);
	return 0;
}

static int end(void **state)
{
	(void)state;
	clear();
	*strrchr(dir, '/') = '\0';
	dl_fabric_free(fabric);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(killed),
		cmocka_unit_test(killed_again),
		cmocka_unit_test(failed),
		cmocka_unit_test(one_file),
	};

	return cmocka_run_group_tests_name("interrupted", tests, begin, end);
}
