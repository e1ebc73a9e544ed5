/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the files of this room share. */
#ifndef DL_LIVE_INTERNAL_H
#define DL_LIVE_INTERNAL_H

#include <infiniband/mad.h>
#include "dateline/live.h"

/*
 * Management datagrams, many in flight: queries to subnet management agents
 * and to the subnet administrator, through libibumad.
 *
 * Life.  dl_live_mads_open(), then any number of dl_live_mads_run(), each of which works
 * through one list of queries, then dl_live_mads_close().  Not for several threads.
 */

struct dl_live_mads;

/* Opens the local port.  0, or a negative errno, reported; close in either case. */
int dl_live_mads_open(const struct dl_live_options *o, const struct dl_log *log,
		      struct dl_live_mads **out);
void dl_live_mads_close(struct dl_live_mads *m);

/*
 * Who answers: the agents of subnet management, performance and congestion control, and
 * the subnet administrator.
 */
enum dl_live_service { DL_LIVE_SMA, DL_LIVE_SA, DL_LIVE_PMA, DL_LIVE_CCA, DL_LIVE_SERVICES };

/* One query: a Get of one attribute. */
struct dl_live_query {
	ib_portid_t to; /* lid 0: by directed route */
	enum dl_live_service service;
	uint16_t attr;
	uint32_t mod;
	uint64_t mask;		       /* of components (subnet administrator) */
	uint8_t data[IB_SA_DATA_SIZE]; /* sent and, in an answer, received */
	uint32_t key[3];	       /* the asker's own */
};

#define DL_LIVE_SILENT (-1) /* no answer, after all retries */

/* A list of queries, made one by one as there is room for them. */
struct dl_live_queries {
	const char *what; /* shown as progress: "forwarding tables" */
	void *context;
	/* The next one, from zeroed memory; false: that was all.  `at` is its place, at first 0. */
	bool (*next)(void *context, uint32_t at[2], struct dl_live_query *q);
	/* With the status of an answer, 0 when it is good, or DL_LIVE_SILENT. */
	void (*answer)(void *context, const struct dl_live_query *q, int status);
};

/* Ask them all.  0 or a negative errno, reported: the port is gone. */
int dl_live_mads_run(struct dl_live_mads *m, const struct dl_live_queries *list);

/* What the parts of reading a live fabric share. */

#define LFT_BLOCK 64 /* LIDs in a LinearForwardingTable */
#define LINK_UP 5    /* PortInfo.PortPhysicalState */

/* What discovery knows of a switch or port beyond the fabric. */
struct dl_live_switch {
	ib_portid_t path; /* directed route to it */
	uint16_t lft_top; /* LinearFDBTop */
	uint16_t mft_cap; /* MulticastFDBCap */
	uint16_t mft_top; /* MulticastFDBTop; 0: not stated */
};

struct dl_live {
	const struct dl_log *log;
	struct dl_live_options o;
	struct dl_fabric *f;
	struct dl_live_switch *switches; /* by switch number */
	ib_portid_t self;		 /* route to the local port: no hops */
	ib_portid_t sm;			 /* the subnet manager; lid 0: none known */
	uint32_t *capabilities;		 /* by port index of an end port */
	uint8_t *high_limit;		 /* by port index */
	struct dl_live_mads *mads;
	struct dl_torus_mark *marks; /* by switch */
	/* What is missing: a line each. */
	FILE *gaps;
	char *gaps_text;
	size_t gaps_len;
	uint64_t ngaps;
};

/* What a walk over the fabric finds: a node, and what is behind its ports. */
struct dl_live_node {
	uint64_t guid;
	ib_portid_t path;
	uint32_t number, at; /* among those found, and in the fabric */
	uint8_t type, nports;
	bool left_out;
	char desc[IB_SMP_DATA_SIZE + 1];
	uint8_t info[IB_SMP_DATA_SIZE], switch_info[IB_SMP_DATA_SIZE];
	struct {
		uint64_t guid;	 /* of an adapter's port */
		uint32_t far;	 /* node number; DL_NONE: unknown */
		uint8_t far_num; /* and its port */
		bool met;	 /* reached by this port of an adapter */
		bool answered;	 /* is there PortInfo? */
		uint8_t info[IB_SMP_DATA_SIZE];
	} ports[]; /* 0 to nports */
};

/* A field of what a node or port has answered. */
static inline uint32_t dl_live_field(const void *info, enum MAD_FIELDS which)
{
	return mad_get_field((void *)info, 0, which);
}

struct dl_live_found {
	struct dl_live_node **nodes; /* the local one first */
	uint32_t n, cap;
};

/* 0 or a negative errno, reported.  Release in either case. */
int dl_live_walk(struct dl_live *l, struct dl_live_found *found);
void dl_live_found_free(struct dl_live_found *found);

/* Note something that is missing. */
void dl_live_gap(struct dl_live *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Read all tables, and the path SLs.  0 or a negative errno, reported. */
int dl_live_tables(struct dl_live *l, struct dl_tables *t);
int dl_live_path_sls(struct dl_live *l, struct dl_tables *t);

/* Room for the counters of a fabric, all unknown.  0 or -ENOMEM. */
int dl_live_counters_new(const struct dl_fabric *f, struct dl_live_counters *out);

#endif
