/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A draft of a fabric: what a file says, before any of it is believed.
 *
 * Readers fill a draft line by line and then have it built.  Statements
 * remember their file and line, so that what only shows up at the end (a
 * GUID used twice, two ends of a cable that disagree) is reported with the
 * lines that say so.
 */
#ifndef DL_DRAFT_H
#define DL_DRAFT_H

#include <stdint.h>

#include "fabric/fabric.h"

#define DL_DRAFT_NODES (1u << 17)	/* well above all unicast LIDs */
#define DL_DRAFT_PORTS (1u << 24)	/* the same times 254, about */

struct dl_place {
	uint32_t file;		/* its name's offset in strings */
	uint32_t line;
};

struct dl_draft_node {
	uint64_t guid, system_guid;
	uint32_t id, desc;	/* offsets in strings; desc 0: none */
	uint32_t vendor;
	struct dl_place place;
	uint16_t device;
	uint8_t type, nports;
};

/* What is said about an end port. */
struct dl_draft_end {
	uint64_t guid;		/* 0: not said */
	uint32_t node;
	struct dl_place place;
	uint16_t lid;		/* 0: not said */
	uint8_t lmc, num;
};

/*
 * What one end says about a cable.  Widths and speeds are the sets that the
 * port can run, the cable runs the best that both ends can; 0: not said.
 */
struct dl_draft_link {
	uint32_t node, peer;
	struct dl_place place;
	uint16_t speeds;	/* bits by enum dl_speed */
	uint8_t widths;		/* bits as in DL_WIDTH_* */
	uint8_t vls;		/* 0: not said */
	uint8_t num, peer_num;
};

/* In order of lanes, so that the highest bit is the widest. */
enum {
	DL_WIDTH_1X = 1, DL_WIDTH_2X = 2, DL_WIDTH_4X = 4, DL_WIDTH_8X = 8,
	DL_WIDTH_12X = 16
};

struct dl_draft {
	struct dl_draft_node *nodes;
	struct dl_draft_end *ends;
	struct dl_draft_link *links;
	char *strings;		/* each ended by NUL; offset 0 is "" */
	uint32_t nnodes, nends, nlinks, strings_len;
	uint32_t nodes_cap, ends_cap, links_cap, strings_cap;
	uint32_t nports;	/* of all nodes */
	const struct dl_log *log;
};

/* Zero but for the log; 0 or -ENOMEM.  Release with dl_draft_end(). */
int dl_draft_begin(struct dl_draft *d, const struct dl_log *log);
void dl_draft_end(struct dl_draft *d);

/*
 * Copy `len` bytes; control characters, which would not survive being written
 * out again, become blanks.  0 or -ENOMEM.
 */
int dl_draft_string(struct dl_draft *d, const char *s, size_t len,
		    uint32_t *out);

/* Add copies.  0, -ENOMEM, or -EINVAL (reported): more than a subnet holds. */
int dl_draft_add_node(struct dl_draft *d, const struct dl_draft_node *node);
int dl_draft_add_end(struct dl_draft *d, const struct dl_draft_end *end);
int dl_draft_add_link(struct dl_draft *d, const struct dl_draft_link *link);

/* Report an error at a place.  Returns -EINVAL. */
int dl_draft_error(const struct dl_draft *d, struct dl_place place,
		   const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The sets of all widths and speeds up to one; of 0: none. */
uint8_t dl_widths_up_to(unsigned int lanes);
uint16_t dl_speeds_up_to(unsigned int speed);

/*
 * Build the fabric.  0; -EINVAL: the draft contradicts itself, which is
 * reported; -ENOMEM.
 */
int dl_draft_build(const struct dl_draft *d, struct dl_fabric **out);

#endif
