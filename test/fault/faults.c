/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Failures to order, preloaded:
 *
 * FAULT_ALLOC=N	the N-th allocation of the process finds no memory
 * FAULT_FROM=1		... and no later one does
 * FAULT_FILE=N		the N-th call of fopen, fdopen, open, openat, fflush, fsync,
 *			linkat, renameat,
 *			renameat2 or mkdirat fails
 * FAULT_OBJECT=NAME	only calls by objects whose names have this in them count, and
 *			what the C library calls for these
 * FAULT_ONCE=FILE	no numbers: while this file is there, the next call fails whose
 *			stack is none that has failed before, but for as many as the
 *			file says; the file then becomes FILE.was and holds the kind
 *			of call and the stack; FILE.seen tells the next process
 * FAULT_COUNT=FILE	at the end, the numbers of both go there, and behind them the number
 *			of the first allocation from each place in the code
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH 32
#define MOST_STACKS (1u << 15)
#define INNERMOST 5 /* frames, two of them here: who allocates, for whom, and for whom that */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

static atomic_ulong allocations, files;
static unsigned long fail_alloc, fail_file;
static bool from_then_on, ready;
static const char *object, *once;
static char once_was[4096], once_seen[4096];

/* Counting, not failing: the innermost calls by hash, and where each came first. */
static uint64_t stacks[MOST_STACKS];
static unsigned long first_of[MOST_STACKS / 2];
static unsigned int nstacks;
static bool counting;

static unsigned long number(const char *variable)
{
	const char *text = getenv(variable);

	return text ? strtoul(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
	void *stack[1];

	fail_alloc = number("FAULT_ALLOC");
	fail_file = number("FAULT_FILE");
	from_then_on = getenv("FAULT_FROM");
	counting = getenv("FAULT_COUNT") && !fail_alloc && !fail_file;
	object = getenv("FAULT_OBJECT");
	once = getenv("FAULT_ONCE");
	if (once) {
		snprintf(once_was, sizeof(once_was), "%s.was", once);
		snprintf(once_seen, sizeof(once_seen), "%s.seen", once);
	}
	backtrace(stack, 1); /* loads what it needs */
	ready = true;
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAULT_COUNT");
	char text[50];
	int fd = path ? creat(path, 0666) : -1;
	int len = snprintf(text, sizeof(text), "%lu %lu\n", allocations, files);

	ready = false;
	if (fd < 0 || write(fd, text, len) != len)
		return;
	for (unsigned int i = 0; i < nstacks; i++) {
		len = snprintf(text, sizeof(text), "%lu\n", first_of[i]);
		if (write(fd, text, len) != len)
			break;
	}
	close(fd);
}

/* ---- who calls ------------------------------------------------------------- */

static const char *object_of(void *code)
{
	const char *name;
	Dl_info info;

	if (!dladdr(code, &info))
		return "";
	name = strrchr(info.dli_fname, '/');
	return name ? name + 1 : info.dli_fname;
}

/* The calls within the object that led here; none if another one called. */
static int find_stack(void *stack[DEPTH], void ***from)
{
	int n = backtrace(stack, DEPTH), first = 1, last;

	while (first < n && (!strncmp(object_of(stack[first]), "libc.", 5) ||
			     !strncmp(object_of(stack[first]), "faults.", 7)))
		first++;
	for (last = first; last < n && strstr(object_of(stack[last]), object); last++)
		;
	*from = stack + first;
	return last - first;
}

/* What tells a stack from others, in every run. */
static uint64_t hash_of(void **stack, int n, FILE *to)
{
	uint64_t hash = 14695981039346656037u;
	Dl_info info;

	for (int i = 0; i < n && dladdr(stack[i], &info); i++) {
		size_t at = (char *)stack[i] - (char *)info.dli_fbase - 1;

		hash = (hash ^ at) * 1099511628211u;
		if (to)
			fprintf(to, " %#zx", at);
	}
	return hash;
}

static bool is_seen(uint64_t hash)
{
	FILE *from = fopen(once_seen, "r");
	uint64_t other = ~hash;

	while (from && other != hash && fread(&other, sizeof(other), 1, from) == 1)
		;
	if (from)
		fclose(from);
	return other == hash;
}

static void append(uint64_t hash)
{
	FILE *to = fopen(once_seen, "a");

	if (to) {
		fwrite(&hash, sizeof(hash), 1, to);
		fclose(to);
	}
}

/* Is it to fail, as the first time that it is reached by these calls? */
static bool is_new_site(const char *kind, void **stack, int n)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	uint64_t hash = hash_of(stack, n, NULL);
	unsigned int spared = 0;
	FILE *armed = NULL;
	bool hit = false;

	pthread_mutex_lock(&lock);
	if (!is_seen(hash))
		armed = fopen(once, "r+");
	if (armed && fscanf(armed, "%u", &spared) == 1 && spared) {
		rewind(armed);
		fprintf(armed, "%-9u", spared - 1);
	} else if (armed) {
		rewind(armed);
		fputs(kind, armed);
		hash_of(stack, n, armed);
		fputc('\n', armed);
		hit = true;
	}
	if (armed)
		fclose(armed);
	if (hit) {
		append(hash);
		rename(once, once_was);
	}
	pthread_mutex_unlock(&lock);
	return hit;
}

static void note_stack(unsigned long number)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	void *stack[INNERMOST];
	uint64_t hash = hash_of(stack, backtrace(stack, INNERMOST), NULL) | 1;
	unsigned int at = hash % MOST_STACKS;

	pthread_mutex_lock(&lock);
	while (stacks[at] && stacks[at] != hash)
		at = (at + 1) % MOST_STACKS;
	if (!stacks[at] && nstacks < MOST_STACKS / 2) {
		stacks[at] = hash;
		first_of[nstacks++] = number;
	}
	pthread_mutex_unlock(&lock);
}

/* Does this call fail, by its number among its kind or by its stack? */
static bool fails(const char *kind, atomic_ulong *count, unsigned long which, bool onwards)
{
	static _Thread_local bool inside;
	void *stack[DEPTH], **from;
	unsigned long number;
	int n = 1, saved = errno;
	bool hit = false;

	if (!ready || inside)
		return false;
	inside = true;
	if (object && (!once || !access(once, F_OK)))
		n = find_stack(stack, &from);
	else if (once)
		n = 0;
	if (n && once) {
		hit = is_new_site(kind, from, n);
	} else if (n) {
		number = ++*count;
		if (counting && count == &allocations)
			note_stack(number);
		hit = which && (onwards ? number >= which : number == which);
	}
	inside = false;
	errno = saved;
	return hit;
}

#define ALLOCATE(call)                                                     \
	if (fails("allocation", &allocations, fail_alloc, from_then_on)) { \
		errno = ENOMEM;                                            \
		return NULL;                                               \
	}                                                                  \
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

static bool file_fails(const char *call, int error)
{
	if (!fails(call, &files, fail_file, false))
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
	return file_fails("openat", ENOSPC) ? -1 : NEXT(openat)(dir, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	return file_fails("open", EIO) ? -1 : NEXT(open)(path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	return file_fails("fopen", EMFILE) ? NULL : NEXT(fopen)(path, mode);
}

FILE *fdopen(int fd, const char *mode)
{
	return file_fails("fdopen", EMFILE) ? NULL : NEXT(fdopen)(fd, mode);
}

/* What a standard output keeps it may still write, when the process ends. */
int fflush(FILE *to)
{
	return to != stdout && file_fails("fflush", ENOSPC) ? EOF : NEXT(fflush)(to);
}

int fsync(int fd)
{
	return file_fails("fsync", EIO) ? -1 : NEXT(fsync)(fd);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	return file_fails("linkat", ENOSPC) ? -1 : NEXT(linkat)(from_dir, from, to_dir, to, flags);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	return file_fails("renameat", EIO) ? -1 : NEXT(renameat)(from_dir, from, to_dir, to);
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned int flags)
{
	return file_fails("renameat2", EIO) ? -1 :
					      NEXT(renameat2)(from_dir, from, to_dir, to, flags);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
	return file_fails("mkdirat", ENOSPC) ? -1 : NEXT(mkdirat)(dir, path, mode);
}
