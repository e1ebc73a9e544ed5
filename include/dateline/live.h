/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The running fabric, read by subnet management datagrams.
 */
#ifndef DATELINE_LIVE_H
#define DATELINE_LIVE_H

#include "tables.h"
#include "torus.h"

#ifdef __cplusplus
extern "C" {
#endif

enum dl_live_paths {
	DL_LIVE_PATHS_SOME, /* all, up to DL_LIVE_PATHS_SWITCHES switches; else none */
	DL_LIVE_PATHS_NONE,
	DL_LIVE_PATHS_ADAPTERS, /* those between adapters */
	DL_LIVE_PATHS_ALL
};

/* With 16 adapters at each, the subnet administrator answers for 8 minutes. */
#define DL_LIVE_PATHS_SWITCHES 128u

struct dl_live_options {
	const char *ca;		  /* local adapter; NULL: any */
	int port;		  /* its port; 0: any that is up */
	unsigned int timeout_ms;  /* for one answer */
	unsigned int retries;	  /* after the first time */
	unsigned int in_flight;	  /* queries at a time, at most 4096 */
	enum dl_live_paths paths; /* path SLs to ask for */
	uint64_t cc_key;	  /* CC_Key, for congestion control */
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
 * that its subnet administrator grants.  What did not answer is listed in the
 * note dateline-partial.txt.  *marks are those of the switches, by number, for
 * free(); they may be stale.  Errors as above, and -ENOTCONN when no port has a
 * LID.
 */
int dl_live_read(const struct dl_live_options *o, const struct dl_log *log, struct dl_snapshot *out,
		 struct dl_torus_mark **marks);

/* ---- counters of ports ------------------------------------------------------- */

/*
 * Of PortCounters and PortCountersExtended (IBA volume 1, 16.1.3.5): data in
 * words of 4 bytes, waiting in ticks of the port, all else in events.  Errors
 * come last.
 */
enum dl_live_counter {
	DL_LIVE_XMIT_DATA,
	DL_LIVE_RCV_DATA,
	DL_LIVE_XMIT_PKTS,
	DL_LIVE_RCV_PKTS,
	DL_LIVE_XMIT_WAIT,
	DL_LIVE_FIRST_ERROR,
	DL_LIVE_COUNTERS = DL_LIVE_FIRST_ERROR + 13
};

/* Its name in the specification, such as "PortXmitWait". */
const char *dl_live_counter_name(unsigned int counter);

/* Is it at its maximum, where it stops? */
bool dl_live_counter_stopped(unsigned int counter, uint64_t value);

struct dl_live_counters {
	uint64_t (*value)[DL_LIVE_COUNTERS]; /* by port index */
	bool *known;			     /* by port index: has anything been read? */
	uint32_t nknown;
	uint32_t nodes; /* all ports of so many answered: those not known had no errors; 0: who knows? */
};

/*
 * Ask every cabled port of a fabric that is attached to this machine and has
 * LIDs.  Ports that do not answer stay unknown and are counted in a warning.
 * Returns 0, -ENODEV, -EACCES, -EIO, -ENOMEM, reported.  Release with
 * dl_live_counters_release() in either case.
 */
int dl_live_counters_ask(const struct dl_live_options *o, const struct dl_fabric *f,
			 const struct dl_log *log, struct dl_live_counters *out);

/*
 * The same from what ibqueryerrors (with --data) or perfquery printed.  Ports
 * that the fabric lacks are skipped.  0, -ENOENT and the like, -EINVAL (damaged,
 * or no counters in it), -ENOMEM; reported.
 */
int dl_live_counters_read(const char *path, const struct dl_fabric *f, const struct dl_log *log,
			  struct dl_live_counters *out);
void dl_live_counters_release(struct dl_live_counters *c);

/* ---- congestion control ------------------------------------------------------- */

/*
 * Ask every switch, and every port of an adapter that is cabled, of a fabric that is
 * attached to this machine and has LIDs, for its congestion control (IBA annex A10,
 * with o->cc_key), and write what most of them have to a stream, as options of OpenSM's
 * file.  Those that have something else, refuse or do not answer are counted in warnings,
 * which the stream gets as comments.  Returns 0; 1: some did not answer, or refused; or
 * -ENODEV, -EACCES, -EIO (the port), -ENOMEM, reported.  Errors of the stream are left to
 * the caller.
 */
int dl_live_congestion(const struct dl_live_options *o, const struct dl_fabric *f,
		       const struct dl_log *log, FILE *to);

#ifdef __cplusplus
}
#endif
#endif
