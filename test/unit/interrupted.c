/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Writers that are killed, or fail, at each call that changes a file or a
 * directory, one after the other: there is the old snapshot or the new one, and
 * the next writer leaves nothing of them.
 */
#include "config.h"

#include <dirent.h>
#include <dlfcn.h>
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
static bool kills, without_tmpfile, without_exchange;

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

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned int flags)
{
	if (flags && without_exchange) {
		errno = EINVAL;
		return -1;
	}
	return stops() ? -1 : syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
	return stops() ? -1 : syscall(SYS_mkdirat, dir, path, mode);
}

/* One that fails would have to mark its stream: writers are only killed here. */
size_t fwrite(const void *from, size_t size, size_t n, FILE *to)
{
	static size_t (*next)(const void *from, size_t size, size_t n, FILE *to);

	if (!next)
		next = (size_t(*)(const void *, size_t, size_t, FILE *))dlsym(RTLD_NEXT, "fwrite");
	return kills && stops() ? 0 : next(from, size, n, to);
}

#undef fwrite_unlocked
size_t fwrite_unlocked(const void *from, size_t size, size_t n, FILE *to)
{
	return fwrite(from, size, n, to);
}

/* Not to wait for the disk: that is not what is tested. */
int fsync(int fd)
{
	(void)fd;
	return stops() ? -1 : 0;
}

/* ---- versions of a snapshot, and what is in its place before ------------ */

enum { NONE = -1, EMPTY = 0, OLD = 1, NEW = 2, LAST = 3 };

static char dir[] = "/dev/shm/interrupted.XXXXXX/d"; /* where no disk is waited for, or here */
static struct dl_fabric *fabric;

/* The snapshot in the directory: an export, or a file. */
static const char *snapshot;
static const char *const forms[] = { "export", "file.dls" };

static const char *in_dir(const char *name)
{
	static char path[2][300];
	static unsigned int turn;

	turn ^= 1;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
	return path[turn];
}

/* Each has files that others do not have. */
static int write_version(int version)
{
	const char *path = in_dir(snapshot);
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
		err = dl_snapshot_names_file(path) ? dl_snapshot_pack(&s, path, NULL) :
						     dl_snapshot_export(&s, path, 0, NULL);
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
	err = dl_snapshot_read(in_dir(snapshot), NULL, NULL, &h.log, &s);
	if (err == -ENOENT)
		return access(in_dir(snapshot), F_OK) ? NONE : EMPTY;
	if (err)
		fail_msg("%s", h.error);
	version = s.about.written;
	assert_int_equal(s.tables->lft[1], version);
	assert_int_equal(!(s.parts & DL_SNAPSHOT_HAS_PSL), version <= OLD);
	assert_int_equal(!(s.parts & DL_SNAPSHOT_IS_PARTIAL), version == NEW);
	dl_snapshot_release(&s);
	return version;
}

static void clear(const char *path)
{
	DIR *list = opendir(path);
	struct dirent *e;

	while (list && (e = readdir(list))) {
		char inner[700];

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		snprintf(inner, sizeof(inner), "%s/%s", path, e->d_name);
		clear(inner);
	}
	if (list)
		closedir(list);
	remove(path);
}

/* What writers have left beside the snapshot. */
static unsigned int count_rests(void)
{
	DIR *list = opendir(dir);
	unsigned int n = 0;
	struct dirent *e;

	while (list && (e = readdir(list)))
		n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		     (!snapshot || strcmp(e->d_name, snapshot));
	if (list)
		closedir(list);
	return n;
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

/* `killed_at`: NEW was killed there, over OLD; 0: it was not. */
static void prepare(int before, unsigned long killed_at)
{
	clear(dir);
	assert_int_equal(mkdir(dir, 0777), 0);
	if (before == NONE)
		return;
	if (before == EMPTY)
		assert_int_equal(mkdir(in_dir(snapshot), 0777), 0);
	else
		assert_int_equal(write_version(OLD), 0);
	if (killed_at)
		assert_int_equal(write_and_stop(NEW, killed_at, true), 1);
}

/* Returns the number of calls.  *first: the first one at which the new one was there. */
static unsigned long at_each_call(int before, unsigned long killed_at, int after, bool kill,
				  unsigned long *first)
{
	unsigned long at = 0;
	int end;

	do {
		int now;

		prepare(before, killed_at);
		before = version_of();
		end = write_and_stop(after, ++at, kill);
		now = version_of();
		if (now != before && now != after)
			fail_msg("call %lu: neither, but %d", at, now);
		/* Whoever says that it is written has written it. */
		assert_true(end == 1 || end == 2 || now == after);
		if (now == after && !*first)
			*first = at;
		assert_int_equal(write_version(after), 0);
		assert_int_equal(version_of(), after);
		assert_int_equal(count_rests(), 0);
		before = killed_at || before == NEW ? OLD : before;
	} while (end != 3);
	return at;
}

/* The least number of calls of each form. */
static const unsigned long calls[] = { 30, 4 };

static void killed(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 12; i++) {
		static const int before[] = { NONE, EMPTY, OLD };
		unsigned int form = i / 3 % 2;
		unsigned long first = 0;

		if (form && before[i % 3] == EMPTY)
			continue;
		snapshot = forms[form];
		without_tmpfile = i >= 6;
		assert_true(at_each_call(before[i % 3], 0, NEW, true, &first) > calls[form]);
		assert_true(first);
	}
	without_tmpfile = false;
}

/* The next one, too: before the first one's rename and behind it. */
static void killed_again(void **state)
{
	(void)state;
	for (unsigned int form = 0; form < 2; form++) {
		unsigned long first = 0, again = 0, last;

		snapshot = forms[form];
		last = at_each_call(OLD, 0, NEW, true, &first);
		assert_true(first > 1 && first < last);
		at_each_call(OLD, first - 1, LAST, true, &again);
		at_each_call(OLD, first, LAST, true, &again);
		at_each_call(OLD, last - 1, LAST, true, &again);
	}
}

static void failed(void **state)
{
	(void)state;
	for (unsigned int form = 0; form < 2; form++) {
		unsigned long first = 0;

		snapshot = forms[form];
		assert_true(at_each_call(OLD, 0, NEW, false, &first) > calls[form]);
	}
}

/* Some network file systems: the export stays, and the message says what to do. */
static void no_exchange(void **state)
{
	struct dl_snapshot s = { 0 };
	struct heard h;

	(void)state;
	snapshot = forms[0];
	prepare(OLD, 0);
	without_exchange = true;
	assert_int_equal(dl_tables_new(fabric, &s.tables), 0);
	heard_init(&h);
	assert_int_equal(dl_snapshot_export(&s, in_dir(snapshot), 0, &h.log), -EINVAL);
	assert_non_null(strstr(h.error, "cannot exchange two directories: remove it first"));
	dl_snapshot_release(&s);
	assert_int_equal(version_of(), OLD);
	assert_int_equal(count_rests(), 0);
	clear(in_dir(snapshot));
	assert_int_equal(write_version(NEW), 0);
	without_exchange = false;
	assert_int_equal(version_of(), NEW);
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
	clear(dir);
	snapshot = "file";
	assert_int_equal(mkdir(dir, 0777), 0);
	for (int i = 0; i < 2; i++) {
		int status;

		without_tmpfile = i;
		stop_at = 0;
		do {
			pid_t child;

			assert_int_equal(write_file("old"), 0);
			assert_int_equal(count_rests(), 0);
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
	assert_int_equal(count_rests(), 1);
	assert_int_equal(write_file("new"), 0);
	assert_int_equal(count_rests(), 1);
	assert_int_equal(dl_file_finish(&other, 0), 0);
	assert_int_equal(dl_file_place(&other), 0);
	assert_int_equal(access(in_dir("other"), F_OK), 0);
	assert_int_equal(count_rests(), 1);
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
	clear(dir);
	*strrchr(dir, '/') = '\0';
	dl_fabric_free(fabric);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(killed),   cmocka_unit_test(killed_again),
		cmocka_unit_test(failed),   cmocka_unit_test(no_exchange),
		cmocka_unit_test(one_file),
	};

	return cmocka_run_group_tests_name("interrupted", tests, begin, end);
}
