/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The parts of the netlist reader; see netlist_read.c. */
#ifndef DL_NETLIST_H
#define DL_NETLIST_H

#include <stdbool.h>
#include <sys/types.h>

#include "fabric/draft.h"
#include "fabric/text.h"

#define DL_NETLIST_DEPTH 16	/* of files included by files */

struct dl_netlist {
	struct dl_draft d;
	struct dl_text *t;	/* of the file being read */
	/* Said ahead of a header. */
	struct dl_draft_node next;
	uint64_t guid[4], guid_base[4];	/* by node type */
	uint64_t port_guid[4];		/* of port 0; 0: not said */
	bool guid_said[4];
	uint32_t node;			/* of port lines, or DL_NONE */
	uint32_t port_line[DL_MAX_PORTS + 1];	/* of this node's ports */
	bool after_port, warned;
	/* Files being read, to refuse cycles. */
	struct {
		dev_t dev;
		ino_t ino;
	} open[DL_NETLIST_DEPTH];
	unsigned int depth, includes;
	uint32_t file;			/* this file's name in the strings */
};

/* Read the current line.  0, -ENOMEM, or -EINVAL after a message. */
int dl_netlist_line(struct dl_netlist *r);

/* After the word "include".  Results as above. */
int dl_netlist_include(struct dl_netlist *r);

/* What a comment says that ibnetdiscover wrote. */
struct dl_comment {
	const char *desc;	/* NULL: none; not ended by NUL */
	size_t desc_len;
	struct {
		uint64_t lid, lmc;
	} own, far;		/* before and after the description */
	unsigned int width, speed, vls;	/* 0: not said */
};

/*
 * Read the comment that may stand at `at`, up to the end of the line.  0, or
 * -EINVAL: a LID or LMC out of range, reported.
 */
int dl_netlist_comment(struct dl_text *t, struct dl_comment *c);

#endif
