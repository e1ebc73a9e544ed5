/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The running fabric, read by subnet management datagrams.
 */
#ifndef DATELINE_LIVE_H
#define DATELINE_LIVE_H

#include "tables.h"

#ifdef __cplusplus
extern "C" {
#endif

enum dl_live_paths {
	DL_LIVE_PATHS_SOME, /* all, if there are not more than two million */
	DL_LIVE_PATHS_NONE,
	DL_LIVE_PATHS_ADAPTERS, /* those between adapters */
	DL_LIVE_PATHS_ALL
};

struct dl_live_options {
	const char *ca;		  /* local adapter; NULL: any */
	int port;		  /* its port; 0: any that is up */
	unsigned int timeout_ms;  /* for one answer */
	unsigned int retries;	  /* after the first time */
	unsigned int in_flight;	  /* queries at a time, at most 4096 */
	enum dl_live_paths paths; /* path SLs to ask for */
	/* Called now and then while something is read.  NULL: no need. */
	void (*progress)(void *context, const char *what, uint64_t done, uint64_t total);
	void *context;
};

/* The defaults: any port, half a second, 4 retries, 64 in flight. */
void dl_live_options_init(struct dl_live_options *o);

/*
 * Discover the fabric that this machine is attached to.  Needs the right to
 * send management datagrams.  Returns 0; -ENODEV, -EACCES (no port, or not
 * allowed), -EAGAIN (it changed meanwhile), -EIO, -ENOMEM.  All reported.
 */
int dl_live_fabric(const struct dl_live_options *o, const struct dl_log *log,
		   struct dl_fabric **out);

/*
 * The same, and read all tables that are programmed into it, and the path SLs
 * that its subnet administrator grants.  *gaps becomes NULL, or a text that
 * lists what did not answer, for free().  Errors as above, and -ENOTCONN when
 * no port has a LID.
 */
int dl_live_read(const struct dl_live_options *o, const struct dl_log *log, struct dl_snapshot *out,
		 char **gaps);

#ifdef __cplusplus
}
#endif
#endif
