/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * End ports as people name them:
 *
 *	12, 0xc		a LID
 *	0x0002c9...	the GUID of a port or a node
 *	3,1,2		the switch at these coordinates
 *	host7, host7/2	a node by its description or the first word of it,
 *			and the number of its port
 */
#ifndef TOOL_FIND_H
#define TOOL_FIND_H

#include "input.h"

struct find_name;

/* An index of all names: O(log nodes) for each. */
struct find {
	const struct tool_input *in; /* borrowed */
	struct find_name *names;
	uint32_t n;
	struct dl_fabric_index ports; /* by GUID */
	bool adapters;		      /* in lists, a host's name stands for all of its adapters */
};

/* 0 or -ENOMEM; release in either case. */
int find_begin(struct find *f, const struct tool_input *in);
void find_end(struct find *f);

struct find_result {
	uint32_t port; /* port index of an end port */
	uint16_t lid;  /* the one that was named, else its base LID; 0: none */
};

/* The end port that a text names.  0, or -EINVAL, reported: none or several. */
int find_end_port(const struct find *f, const struct dl_log *log, const char *text,
		  struct find_result *out);

/*
 * A port of any kind as NODE/PORT, with the node named as above.  0, or
 * -EINVAL, reported.
 */
int find_port(const struct find *f, const struct dl_log *log, const char *text, uint32_t *port);

/*
 * What a text names as above that may fail: a node (*port is DL_NONE), or a port
 * of any kind as NODE/PORT.  0, or -EINVAL, reported.
 */
int find_node_or_port(const struct find *f, const struct dl_log *log, const char *text,
		      uint32_t *node, uint32_t *port);

#define FIND_ADAPTERS 16

/*
 * Of the adapters of a host, whose descriptions begin with this word and differ, the first
 * ports with LIDs, else their first ones.  Returns how many; 0: none, or these may be several
 * hosts.
 */
uint32_t find_host(const struct find *f, const char *host, struct find_result end[FIND_ADAPTERS]);

#endif
