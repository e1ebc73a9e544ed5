/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Management datagrams, many in flight: queries to subnet management agents
 * and to the subnet administrator, through libibumad.
 *
 * Life.  dl_mads_open(), then any number of dl_mads_run(), each of which works
 * through one list of queries, then dl_mads_close().  Not for several threads.
 */
#ifndef DL_MADS_H
#define DL_MADS_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/mad.h>

#include "dateline.h"

struct dl_mads;

/* Opens the local port.  0, or a negative errno, reported. */
int dl_mads_open(const struct dl_live_options *o, const struct dl_log *log,
		 struct dl_mads **out);
void dl_mads_close(struct dl_mads *m);

/* One query: a Get of one attribute. */
struct dl_query {
	ib_portid_t to;		/* lid 0: by directed route */
	bool sa;		/* to the subnet administrator */
	uint16_t attr;
	uint32_t mod;
	uint64_t mask;		/* of components (subnet administrator) */
	uint8_t data[IB_SA_DATA_SIZE];	/* sent and, in an answer, received */
	uint32_t key[3];	/* the asker's own */
};

/* What became of a query. */
enum dl_answer {
	DL_ANSWERED,
	DL_REFUSED,	/* an answer with a status other than "good" */
	DL_SILENT	/* no answer, after all retries */
};

/* A list of queries, made one by one as there is room for them. */
struct dl_queries {
	const char *what;	/* for progress: "forwarding tables" */
	void *context;
	/* Start again from the beginning. */
	void (*rewind)(void *context);
	/* The next one, from zeroed memory; false: that was all. */
	bool (*next)(void *context, struct dl_query *q);
	void (*answer)(void *context, const struct dl_query *q,
		       enum dl_answer how, unsigned int status);
};

/* Ask them all.  0 or a negative errno, reported: the port is gone. */
int dl_mads_run(struct dl_mads *m, const struct dl_queries *list);

#endif
