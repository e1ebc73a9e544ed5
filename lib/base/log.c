/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "dateline/base.h"

/* Longer messages are cut: no allocation, so that -ENOMEM can be reported. */
#define MESSAGE_MAX 1024

static void log_format(const struct dl_log *log, enum dl_log_level level, const char *format,
		       va_list args)
{
	char message[MESSAGE_MAX];

	if (!log || !log->write)
		return;
	vsnprintf(message, sizeof(message), format, args);
	/* It may quote a file, a host, or somebody's file name. */
	dl_text_clean(message);
	log->write(log->context, level, message);
}

void dl_log(const struct dl_log *log, enum dl_log_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_format(log, level, format, args);
	va_end(args);
}

int dl_fail(const struct dl_log *log, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_format(log, DL_LOG_ERROR, format, args);
	va_end(args);
	return err;
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
