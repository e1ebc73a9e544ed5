/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the files of this room share. */
#ifndef DL_FABRIC_INTERNAL_H
#define DL_FABRIC_INTERNAL_H

#include <sys/types.h>

#include "dateline/fabric.h"

/* Nodes sorted by GUID, equal ones by number: a key, and for qsort(). */
struct dl_fabric_guid_key {
	uint64_t guid;
	uint32_t node;
};

int dl_fabric_compare_guids(const void *left, const void *right);

/* Of a node's type, as ids in ibnetdiscover's form begin. */
static inline char dl_fabric_letter(enum dl_fabric_node_type type)
{
	return type == DL_FABRIC_SWITCH ? 'S' : type == DL_FABRIC_CA ? 'H' : 'R';
}

/* Open a file, have it read as a fabric, close it. */
int dl_fabric_read_file(const char *path,
			int (*read)(FILE *from, const char *name, const struct dl_log *log,
				    struct dl_fabric **out),
			const struct dl_log *log, struct dl_fabric **out);

/*
 * A parsed fabric: what a file says, before any of it is believed.
 *
 * Readers fill it line by line and then have it built.  Statements
 * remember their file and line, so that what only shows up at the end (a
 * GUID used twice, two ends of a cable that disagree) is reported with the
 * lines that say so.
 */

/* What no subnet has: more nodes than LIDs of 16 bits, 64 ports at each of them. */
#define DL_FABRIC_PARSED_NODES 65535
#define DL_FABRIC_PARSED_PORTS (1u << 22)
#define DL_FABRIC_PARSED_PAIRS (1u << 28) /* in and out port, of all switches */

struct dl_fabric_parsed_place {
	uint32_t file; /* its name's offset in strings */
	uint32_t line;
};

struct dl_fabric_parsed_node {
	uint64_t guid, system_guid;
	uint32_t id, desc; /* offsets in strings; desc 0: none */
	uint32_t vendor;
	struct dl_fabric_parsed_place place;
	uint16_t device;
	uint8_t type, nports; /* nports 0: to be left out */
};

/* What is said about an end port. */
struct dl_fabric_parsed_end {
	uint64_t guid; /* 0: not said */
	uint32_t node;
	struct dl_fabric_parsed_place place;
	uint16_t lid; /* 0: not said */
	uint8_t lmc, num;
};

/*
 * What one end says about a cable.  Widths and speeds are the sets that the
 * port can run, the cable runs the best that both ends can; 0: not said.
 */
struct dl_fabric_parsed_link {
	uint32_t node, peer; /* peer DL_NONE: to be left out */
	struct dl_fabric_parsed_place place;
	uint16_t speeds, widths; /* bits by enum dl_fabric_speed, by lanes */
	uint8_t vls;		 /* 0: not said */
	uint8_t num, peer_num;
};

struct dl_fabric_parsed {
	struct dl_fabric_parsed_node *nodes;
	struct dl_fabric_parsed_end *ends;
	struct dl_fabric_parsed_link *links;
	char *strings; /* each ended by NUL; offset 0 is "" */
	uint32_t nnodes, nends, nlinks, strings_len;
	uint32_t nodes_cap, ends_cap, links_cap, strings_cap;
	uint32_t nports, npairs; /* of all nodes, of all switches */
	const struct dl_log *log;
};

/* Zero but for the log; 0 or -ENOMEM.  Release with dl_fabric_parsed_end(). */
int dl_fabric_parsed_begin(struct dl_fabric_parsed *d, const struct dl_log *log);
void dl_fabric_parsed_end(struct dl_fabric_parsed *d);

/* Copy `len` bytes, cleaned.  0 or -ENOMEM. */
int dl_fabric_parsed_string(struct dl_fabric_parsed *d, const char *s, size_t len, uint32_t *out);

/* Add copies.  0, -ENOMEM, or -EINVAL (reported): more than a subnet holds. */
int dl_fabric_parsed_add_node(struct dl_fabric_parsed *d, const struct dl_fabric_parsed_node *node);
int dl_fabric_parsed_add_end(struct dl_fabric_parsed *d, const struct dl_fabric_parsed_end *end);
int dl_fabric_parsed_add_link(struct dl_fabric_parsed *d, const struct dl_fabric_parsed_link *link);

/* Report an error at a place.  -EINVAL. */
#define dl_fabric_parsed_error(d, place, format, ...)                                           \
	dl_fail((d)->log, -EINVAL, "%s:%u: " format, (d)->strings + (place).file, (place).line, \
		##__VA_ARGS__)

/* Name what contradicts the rest, and is left out of the fabric. */
#define dl_fabric_parsed_left_out(d, place, format, ...)                \
	dl_log((d)->log, DL_LOG_WARNING, "%s:%u: " format ": left out", \
	       (d)->strings + (place).file, (place).line, ##__VA_ARGS__)

/* The sets of all widths and speeds up to one; of 0: none. */
static inline uint16_t dl_fabric_widths_up_to(unsigned int lanes)
{
	return (1u << 1 | 1u << 2 | 1u << 4 | 1u << 8 | 1u << 12) & ((2u << lanes) - 1);
}

static inline uint16_t dl_fabric_speeds_up_to(unsigned int speed)
{
	return (2u << speed) - 2;
}

/* Build the fabric, without what contradicts the rest.  0 or -ENOMEM. */
int dl_fabric_parsed_build(const struct dl_fabric_parsed *d, struct dl_fabric **out);

/*
 * A list of ports: what each says of itself and of its cable's far end; see
 * records.c.
 */
struct dl_fabric_record {
	uint64_t guid, system_guid, port_guid; /* guid, the node's: 0: no such end */
	uint32_t desc;			       /* offset in the strings */
	uint32_t vendor;
	uint32_t line;
	uint32_t node; /* its number, once known */
	uint16_t device, lid;
	uint16_t speeds, widths; /* of the cable, at its near end */
	uint8_t type, nports, num;
	bool refers; /* to the near end that has this port GUID, or LID and name */
};

struct dl_fabric_records {
	struct dl_fabric_parsed *d;
	struct dl_fabric_record *record; /* two a port: near end, far end; free() */
	uint32_t n, cap;
	uint32_t file; /* its name in the strings */
	bool by_name;  /* what refers, does so by LID and name */
};

int dl_fabric_records_add(struct dl_fabric_records *r, const struct dl_fabric_record *near,
			  const struct dl_fabric_record *far);

/* Look up the far ends that refer.  0, -ENOMEM, or -EINVAL (reported). */
int dl_fabric_records_resolve(struct dl_fabric_records *r);

/* Fill the parsed fabric, without what is at odds with the rest.  0 or -ENOMEM, ... */
int dl_fabric_records_fill(struct dl_fabric_records *r);

/* Formats of infiniband-diags other than the netlist, into a parsed fabric. */

/* Does a report of ports begin with the line at `at`?  See ports_read.c. */
bool dl_fabric_is_port_report(const char *at);
/* Read it, from the current line on. */
int dl_fabric_read_port_report(struct dl_text *t, struct dl_fabric_parsed *d, uint32_t file);

/* The parts of the netlist reader; see netlist_read.c. */

#define DL_FABRIC_NETLIST_DEPTH 16 /* of files included by files */

struct dl_fabric_netlist {
	struct dl_fabric_parsed d;
	struct dl_text *t; /* of the file being read */
	/* Said ahead of a header. */
	struct dl_fabric_parsed_node next;
	uint64_t guid[4], guid_base[4]; /* by node type */
	uint64_t port_guid[4];		/* of port 0; 0: not said */
	bool guid_said[4];
	uint32_t node;				     /* of port lines, or DL_NONE */
	uint32_t port_line[DL_FABRIC_MAX_PORTS + 1]; /* of this node's ports */
	bool after_port, warned;
	/* Files being read, to refuse cycles. */
	struct {
		dev_t dev;
		ino_t ino;
	} open[DL_FABRIC_NETLIST_DEPTH];
	unsigned int depth, includes;
	bool may_include, begun;
	bool complete; /* another format, whose far ends are nodes already */
	uint32_t file; /* this file's name in the strings */
};

/* Read the current line.  0, -ENOMEM, or -EINVAL after a message. */
int dl_fabric_netlist_line(struct dl_fabric_netlist *r);

/* After the word "include".  Results as above. */
int dl_fabric_netlist_include(struct dl_fabric_netlist *r);

#endif
