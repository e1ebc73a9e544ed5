/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the parts of reading a live fabric share. */
#ifndef DL_LIVE_H
#define DL_LIVE_H

#include <infiniband/mad.h>

#include "fabric/fabric.h"
#include "fabric/mads.h"
#include "tables/tables.h"

/* What discovery knows of a switch or port beyond the fabric. */
struct dl_live_switch {
	ib_portid_t path;	/* directed route to it */
	uint16_t lft_top;	/* LinearFDBTop */
	uint16_t mft_cap;	/* MulticastFDBCap */
	uint16_t mft_top;	/* MulticastFDBTop; 0: not told */
};

struct dl_live {
	const struct dl_log *log;
	struct dl_live_options o;
	struct dl_fabric *f;
	struct dl_live_switch *switches;	/* by switch number */
	ib_portid_t self;	/* route to the local port: no hops */
	uint32_t *capabilities;	/* by port index of an end port */
	uint8_t *high_limit;	/* by port index */
	struct dl_mads *mads;
	/* What is missing: a line each. */
	FILE *gaps;
	char *gaps_text;
	size_t gaps_len;
	uint64_t ngaps;
};

/* Discover: fills f and all arrays.  0 or a negative errno, reported. */
int dl_live_discover(struct dl_live *l);

/* The directed route to an end port, or to a switch by its port 0. */
ib_portid_t dl_live_route(const struct dl_live *l, uint32_t end_port);

/* Note something that is missing. */
void dl_live_gap(struct dl_live *l, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Read all tables, and the path SLs.  0 or a negative errno, reported. */
int dl_live_tables(struct dl_live *l, struct dl_tables *t);
int dl_live_path_sls(struct dl_live *l, struct dl_tables *t);

#endif
