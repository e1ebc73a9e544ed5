/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Messages for people, through the caller's log.  `log` may be NULL. */
#ifndef DL_LOG_H
#define DL_LOG_H

#include "dateline.h"

void dl_log(const struct dl_log *log, enum dl_level level, const char *format,
	    ...) __attribute__((format(printf, 3, 4)));

#endif
