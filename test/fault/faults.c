/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Failures to order, preloaded:
 *
 * FAULT_ALLOC=N	the N-th allocation of the process finds no memory
 * FAULT_FROM=1		... and no later one does
 * FAULT_FILE=N		the N-th call of fopen, fdopen, open, openat, fsync, linkat or
 *			renameat fails
 * FAULT_EVERY=N	every N-th allocation fails, while the file $FAULT_WHILE is
 *			there, in threads of the object whose name has
 *			$FAULT_OBJECT in it
 * FAULT_COUNT=FILE	at the end, the numbers of both go there
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

static atomic_ulong allocations, files;
static unsigned long fail_alloc, fail_file, every;
static bool from_then_on, ready;
static const char *object, *gate;

static unsigned long number(const char *variable)
{
	const char *text = getenv(variable);

	return text ? strtoul(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
	fail_alloc = number("FAULT_ALLOC");
	fail_file = number("FAULT_FILE");
	every = number("FAULT_EVERY");
	from_then_on = getenv("FAULT_FROM");
	object = getenv("FAULT_OBJECT");
	gate = getenv("FAULT_WHILE");
	ready = true;
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAULT_COUNT");
	char text[50];
	int fd = path ? creat(path, 0666) : -1;
	int len = snprintf(text, sizeof(text), "%lu %lu\n", allocations, files);

	ready = false;
	if (fd >= 0 && write(fd, text, len) == len)
		close(fd);
}

/* Is this code in the object that is to be failed? */
static bool is_wanted(void *caller)
{
	Dl_info info;

	return !object || (dladdr(caller, &info) && strstr(info.dli_fname, object));
}

static bool fails(void *caller)
{
	static _Thread_local bool inside;
	unsigned long n;
	bool hit;

	if (!ready || inside)
		return false;
	if (!every) {
		n = ++allocations;
		return fail_alloc && (from_then_on ? n >= fail_alloc : n == fail_alloc);
	}
	inside = true;
	hit = is_wanted(caller) && !access(gate, F_OK) && ++allocations % every == 0;
	inside = false;
	return hit;
}

#define ALLOCATE(call)                            \
	if (fails(__builtin_return_address(0))) { \
		errno = ENOMEM;                   \
		return NULL;                      \
	}                                         \
	return call

void *malloc(size_t size)
{
	ALLOCATE(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
	ALLOCATE(__libc_calloc(n, size));
}

void *realloc(void *p, size_t size)
{
	ALLOCATE(__libc_realloc(p, size));
}

/* ---- files -------------------------------------------------------------- */

static bool file_fails(int error)
{
	if (!ready || ++files != fail_file)
		return false;
	errno = error;
	return true;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int openat(int dir, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	return file_fails(ENOSPC) ? -1 : NEXT(openat)(dir, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	return file_fails(EIO) ? -1 : NEXT(open)(path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	return file_fails(EMFILE) ? NULL : NEXT(fopen)(path, mode);
}

FILE *fdopen(int fd, const char *mode)
{
	return file_fails(EMFILE) ? NULL : NEXT(fdopen)(fd, mode);
}

int fsync(int fd)
{
	return file_fails(EIO) ? -1 : NEXT(fsync)(fd);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	return file_fails(ENOSPC) ? -1 : NEXT(linkat)(from_dir, from, to_dir, to, flags);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	return file_fails(EIO) ? -1 : NEXT(renameat)(from_dir, from, to_dir, to);
}
