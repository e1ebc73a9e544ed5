/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Files that are there as a whole or not at all.
 *
 * Problem.  A writer that runs as root, in a directory that others can write to, must
 * not follow links that they plant there, under the file's own name or a predictable
 * one.  And a full disk, a signal or a loss of power must leave either the old file
 * or the new one, never a mixture.
 *
 * Method.  The bytes go into a file without a name in the same directory, or,
 * where the file system has none such, into a new one under a random name.
 * Once they are on the disk, one rename puts them in place: of whatever has the
 * file's name by then, only the name is replaced, and it is never opened.  A
 * writer that is killed may leave a file under a random name; while one writes,
 * it holds a lock, and the next one removes what nobody has locked.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dateline/base.h"

#define BUFFER_BYTES (1 << 16)
#define PROC_FD "/proc/self/fd"
#define PART ".dateline-"
#define PART_DIGITS 16

/* Without the right to list a directory, its entries cannot be made durable. */
static int open_dir(const char *path, size_t len)
{
	char *name = len ? strndup(path, len) : strdup(path[0] == '/' ? "/" : ".");
	int dir = -1;

	if (name)
		dir = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (name && dir < 0 && errno == EACCES)
		dir = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(name);
	return dir;
}

/* ---- parts: what is not in place ------------------------------------------- */

static bool file_is_part(const char *name)
{
	const char *digits = name + sizeof(PART) - 1;

	return !strncmp(name, PART, sizeof(PART) - 1) && strlen(digits) == PART_DIGITS &&
	       strspn(digits, "0123456789abcdef") == PART_DIGITS;
}

static void remove_abandoned(int dir, const char *name)
{
	int fd = openat(dir, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    !flock(fd, LOCK_EX | LOCK_NB))
		unlinkat(dir, name, 0);
	close(fd);
}

static void remove_all_abandoned(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	while (list && (e = readdir(list)))
		if (file_is_part(e->d_name))
			remove_abandoned(dir, e->d_name);
	if (list)
		closedir(list);
	else if (fd >= 0)
		close(fd);
}

#define TRIES 4

/* Somebody may have taken it for abandoned before it was locked. */
static bool is_lost(int fd, bool named)
{
	struct stat st;

	if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return true;
	return named && !fstat(fd, &st) && !st.st_nlink;
}

static int create_part(struct dl_file *f, unsigned int tries)
{
	uint64_t number;
	int fd = -1;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -1;
	snprintf(f->part, sizeof(f->part), PART "%016" PRIx64, number);
	if (!access(PROC_FD, X_OK))
		fd = openat(f->dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	f->named = fd < 0;
	if (f->named)
		fd = openat(f->dir, f->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0666);
	if (fd < 0 || !is_lost(fd, f->named) || tries == 1)
		return fd;
	unlinkat(f->dir, f->part, 0);
	close(fd);
	return create_part(f, tries - 1);
}

static int open_part(struct dl_file *f, const char *name)
{
	struct stat old;
	bool exists = !fstatat(f->dir, name, &old, AT_SYMLINK_NOFOLLOW);
	int fd;

	if (exists && S_ISDIR(old.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	remove_all_abandoned(f->dir);
	fd = create_part(f, TRIES);
	/* What its owner has allowed stays allowed; not what others have. */
	if (fd >= 0 && exists && S_ISREG(old.st_mode) && old.st_uid == geteuid() &&
	    fchmod(fd, old.st_mode & 0777)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int dl_file_begin(struct dl_file *f, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	int fd = -1, err;

	*f = (struct dl_file){ .dir = open_dir(path, slash ? slash - path : 0) };
	f->name = strdup(name);
	f->buffer = malloc(BUFFER_BYTES);
	errno = !f->name || !f->buffer ? ENOMEM : errno;
	if (f->dir >= 0 && f->name && f->buffer)
		fd = open_part(f, name);
	f->to = fd < 0 ? NULL : fdopen(fd, "w");
	if (f->to) {
		setvbuf(f->to, f->buffer, _IOFBF, BUFFER_BYTES);
		return 0;
	}
	err = -errno;
	if (fd >= 0)
		close(fd);
	dl_file_drop(f);
	return err;
}

int dl_file_flush(FILE *to, int err)
{
	if (!err && (fflush(to) || ferror(to)))
		err = -EIO;
	/* A writer reports -EIO only; writing one more byte reveals the cause. */
	errno = 0;
	if (err == -EIO && (putc('\n', to) == EOF || fflush(to)) && errno)
		err = -errno;
	return err;
}

int dl_file_finish(struct dl_file *f, int err)
{
	err = dl_file_flush(f->to, err);
	if (!err && fsync(fileno(f->to)))
		err = -errno;
	if (err)
		dl_file_drop(f);
	return err;
}

int dl_file_place(struct dl_file *f)
{
	char unnamed[sizeof(PROC_FD) + 16];
	int err = 0;

	snprintf(unnamed, sizeof(unnamed), PROC_FD "/%d", fileno(f->to));
	if (!f->named && linkat(AT_FDCWD, unnamed, f->dir, f->part, AT_SYMLINK_FOLLOW))
		err = -errno;
	f->named |= !err;
	if (!err && renameat(f->dir, f->part, f->dir, f->name))
		err = -errno;
	if (!err) {
		f->named = false;
		fsync(f->dir); /* the new file is whole with or without it */
	}
	dl_file_drop(f);
	return err;
}

void dl_file_drop(struct dl_file *f)
{
	if (f->named)
		unlinkat(f->dir, f->part, 0);
	if (f->to)
		fclose(f->to); /* nothing of it is left to be lost */
	if (f->dir >= 0)
		close(f->dir);
	free(f->name);
	free(f->buffer);
	*f = (struct dl_file){ .dir = -1 };
}
