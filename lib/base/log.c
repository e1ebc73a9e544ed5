/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "dateline/base.h"

/* Longer messages are cut: no allocation, so that -ENOMEM can be reported. */
#define MESSAGE_MAX 1024

void dl_log(const struct dl_log *log, enum dl_log_level level, const char *format, ...)
{
	char message[MESSAGE_MAX];
	va_list args;

	if (!log || !log->write)
		return;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	/* It may quote a file, a host, or somebody's file name. */
	dl_text_clean(message);
	log->write(log->context, level, message);
}

bool dl_broken_at(const struct dl_log *log, const char *invariant, const char *file, int line)
{
	dl_log(log, DL_LOG_ERROR,
	       "%s:%d: broken invariant: %s; this is a fault of Dateline, please report it", file,
	       line, invariant);
#ifdef DL_DEBUG
	abort();
#endif
	return true;
}
