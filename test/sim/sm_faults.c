/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory and files that fail, for the plugin: a call fails where it was made by
 * code of libosmdateline.so.  OpenSM's own calls never do, as it ends then.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sm.h"

/* glibc's own, under names that are not taken here. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

static uintptr_t plugin_start, plugin_end;

static int look_at_object(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size, (void)context;
	if (!strstr(info->dlpi_name, "libosmdateline"))
		return 0;
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];

		if (h->p_type != PT_LOAD || !(h->p_flags & PF_X))
			continue;
		plugin_start = info->dlpi_addr + h->p_vaddr;
		plugin_end = plugin_start + h->p_memsz;
	}
	return 1;
}

static bool is_plugin(const void *from)
{
	if (!plugin_end)
		dl_iterate_phdr(look_at_object, NULL);
	return (uintptr_t)from >= plugin_start && (uintptr_t)from < plugin_end;
}

/* ---- memory -------------------------------------------------------------------- */

static bool is_starved(const void *from)
{
	if (!sm_share->starve || !is_plugin(from) || --sm_share->starve)
		return false;
	sm_share->failed++;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return is_starved(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return is_starved(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return is_starved(__builtin_return_address(0)) ? NULL : __libc_realloc(p, size);
}

void sm_measure(void)
{
	struct mallinfo2 info = mallinfo2();

	sm_share->measure = false;
	sm_share->heap = info.uordblks + info.hblkhd;
}

/* ---- files --------------------------------------------------------------------- */

bool sm_is_denied(const void *from)
{
	if (!sm_share->deny || !is_plugin(from))
		return false;
	sm_share->deny--;
	sm_share->failed++;
	errno = ENOSPC;
	return true;
}

FILE *fopen(const char *path, const char *mode)
{
	static FILE *(*real)(const char *, const char *);

	if (*mode != 'r' && sm_is_denied(__builtin_return_address(0)))
		return NULL;
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "fopen");
	return real(path, mode);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
	static ssize_t (*real)(int, const void *, size_t);

	if (sm_is_denied(__builtin_return_address(0)))
		return -1;
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "write");
	return real(fd, bytes, n);
}

int rename(const char *from, const char *to)
{
	static int (*real)(const char *, const char *);

	if (sm_is_denied(__builtin_return_address(0)))
		return -1;
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "rename");
	return real(from, to);
}
