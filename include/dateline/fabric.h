/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The fabric: switches, channel adapters, routers and the cables between
 * them, as plain arrays.
 *
 * Representation.  A node's ports stand side by side in `ports`, from port
 * number 0 upwards, so that port `n` of node `i` is
 * `ports[nodes[i].first_port + n]`.  A switch's port 0 is its management
 * port; an adapter's port 0 is a place that is never used, which costs a few
 * bytes and saves every reader a subtraction.  Cables are stored at both
 * ends, as the index of the other port.
 *
 * Indices.  Nodes keep the order in which they were added (the order of the
 * netlist: ibsim attaches a client to the first one).  Switches are also
 * numbered densely, in the same order; everything that stores one row a
 * switch is indexed by that number.
 *
 * Life.  dl_fabric_new(), then dl_fabric_add_node() and dl_fabric_connect()
 * in any order, then dl_fabric_finish(); from then on the structure is
 * read-only except for the LIDs (who changes one calls dl_fabric_finish()
 * again).
 *
 * Limits (IBA volume 1): 254 external ports a switch, unicast LIDs 0x0001 to
 * 0xBFFF.
 */
#ifndef DATELINE_FABRIC_H
#define DATELINE_FABRIC_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DL_FABRIC_MAX_PORTS 254	 /* external ports of one node */
#define DL_FABRIC_MAX_LID 0xBFFF /* last unicast LID */
#define DL_FABRIC_MAX_LMC 7

/* The values of NodeInfo.NodeType. */
enum dl_fabric_node_type { DL_FABRIC_CA = 1, DL_FABRIC_SWITCH = 2, DL_FABRIC_ROUTER = 3 };

struct dl_fabric_node {
	uint64_t guid;	      /* NodeGUID; 0: none was given */
	uint64_t system_guid; /* SystemImageGUID; 0: none was given */
	uint32_t first_port;  /* index of port number 0 */
	uint32_t sw;	      /* dense number among switches, or DL_NONE */
	uint32_t id;	      /* offset of the netlist's node id in names */
	uint32_t desc;	      /* offset of the node description; 0: none */
	uint32_t vendor;
	uint16_t device;
	uint16_t lft_cap; /* LinearFDBCap: LIDs below it can be forwarded; 0: unknown */
	uint8_t type;	  /* enum dl_fabric_node_type */
	uint8_t nports;	  /* external ports, 1..DL_FABRIC_MAX_PORTS */
};

struct dl_fabric_port {
	uint64_t guid; /* PortGUID of an end port; 0: none given */
	uint32_t node;
	uint32_t peer; /* port at the cable's far end, or DL_NONE */
	uint16_t lid;  /* base LID of an end port; 0: none */
	uint8_t lmc;
	uint8_t num;	      /* port number within the node */
	uint8_t width;	      /* lanes: 1, 2, 4, 8, 12; 0: unknown */
	uint8_t speed;	      /* enum dl_fabric_speed */
	uint8_t vls;	      /* data VLs: 1, 2, 4, 8, 15; 0: unknown */
	uint8_t arb_high_cap; /* VLArbitrationHighCap, 0..64 */
	uint8_t arb_low_cap;  /* VLArbitrationLowCap, 0..64 */
};

enum dl_fabric_speed {
	DL_FABRIC_SPEED_UNKNOWN,
	DL_FABRIC_SDR,
	DL_FABRIC_DDR,
	DL_FABRIC_QDR,
	DL_FABRIC_FDR10,
	DL_FABRIC_FDR,
	DL_FABRIC_EDR,
	DL_FABRIC_HDR,
	DL_FABRIC_NDR,
	DL_FABRIC_XDR
};

struct dl_fabric {
	struct dl_fabric_node *nodes;
	struct dl_fabric_port *ports;
	uint32_t *switches; /* node index by switch number */
	uint32_t *lid_port; /* port index by LID 0..top_lid, or DL_NONE */
	uint32_t *by_guid;  /* node indices in order of GUID */
	char *names;	    /* all strings, ended by NUL; offset 0 is "" */
	uint32_t nnodes, nports, nswitches;
	uint32_t names_len;
	uint32_t nodes_cap, ports_cap, names_cap; /* while building */
	uint16_t top_lid;			  /* highest LID in use; 0: none assigned */
};

/*
 * An empty fabric.  Returns 0 or -ENOMEM; *out is the caller's, to be
 * released with dl_fabric_free() (public).
 */
int dl_fabric_new(struct dl_fabric **out);

/*
 * The number of ports to assume for a node that claims `claimed`: the nearest
 * possible number.  A correction is logged as a warning.
 */
unsigned int dl_fabric_ports(const struct dl_log *log, unsigned int claimed, uint64_t guid,
			     const char *name);

/*
 * Add a node with `nports` external ports.  `id` is copied, cleaned.  *out (may be
 * NULL) receives its index.  Returns 0, -EINVAL (ports out of range), -ENOMEM.
 */
int dl_fabric_add_node(struct dl_fabric *f, enum dl_fabric_node_type type, unsigned int nports,
		       uint64_t guid, const char *id, uint32_t *out);

/* The same with an id in ibnetdiscover's form, of type and GUID, and a description. */
int dl_fabric_add_guid_node(struct dl_fabric *f, enum dl_fabric_node_type type, unsigned int nports,
			    uint64_t guid, const char *desc, uint32_t *out);

/*
 * Set a node's description (copied, cleaned: dl_text_clean()).  Returns 0 or -ENOMEM.
 */
int dl_fabric_set_desc(struct dl_fabric *f, uint32_t node, const char *desc);

/*
 * Join two ports, given by index, with a cable.  Joining the same two again
 * is no error.  Returns 0, -EBUSY (one of them already has another cable),
 * -EINVAL (a port 0, or a port with itself).
 */
int dl_fabric_connect(struct dl_fabric *f, uint32_t a, uint32_t b);

/*
 * Number the switches and index the GUIDs and LIDs.  An end port whose LIDs
 * belong to another port, or are not unicast LIDs, is logged as a warning and left
 * without a LID, so that no port can keep the others from being routed.  (A port
 * without a LID reports 65535.)  Of two ports that claim a LID, the one that claims
 * fewer LIDs keeps it, then a switch, then the first.  The highest LID is chosen
 * so that the fewest end ports are lost: those with higher LIDs, or those of
 * switches with shorter forwarding tables, which dl_fabric_main_part() leaves out.
 * Returns 0, -EINVAL (two nodes share a GUID, reported), -ENOMEM.
 */
int dl_fabric_finish(struct dl_fabric *f, const struct dl_log *log);

/* Let a finished fabric have LIDs up to `top` that nobody has.  0 or -ENOMEM. */
int dl_fabric_widen(struct dl_fabric *f, uint16_t top);

/*
 * Give every end port that has no LID the lowest free, aligned range of 2^lmc
 * LIDs, in the order of the nodes, and index them.  A switch's port 0 gets a
 * single LID (IBA: base port 0 has LMC 0), an adapter's port without a cable
 * none.  Ports that have one keep it.  Returns 0, -ENOSPC (out of unicast
 * LIDs), -EINVAL (lmc above 7, or LIDs clash), -ENOMEM.
 */
int dl_fabric_assign_lids(struct dl_fabric *f, unsigned int lmc);

/* The node with this GUID, or DL_NONE.  O(log n). */
uint32_t dl_fabric_find_guid(const struct dl_fabric *f, uint64_t guid);

/*
 * For many look-ups by what a fabric has no index of: end ports by GUID (a
 * switch's port 0 also by that of its node), and nodes by name or id.  Of
 * several, the lowest number is found; DL_NONE: there is none.  Making an index
 * takes n log n, a look-up log n.  0 or -ENOMEM; released with
 * dl_fabric_index_free() in either case.
 */
struct dl_fabric_index {
	uint32_t *items, n;
};

int dl_fabric_index_ports(const struct dl_fabric *f, struct dl_fabric_index *x);
int dl_fabric_index_names(const struct dl_fabric *f, struct dl_fabric_index *x);
void dl_fabric_index_free(struct dl_fabric_index *x);
uint32_t dl_fabric_find_port(const struct dl_fabric *f, const struct dl_fabric_index *ports,
			     uint64_t guid);
uint32_t dl_fabric_find_name(const struct dl_fabric *f, const struct dl_fabric_index *names,
			     const char *text);

static inline const char *dl_fabric_node_id(const struct dl_fabric *f, uint32_t node)
{
	return f->names + f->nodes[node].id;
}

/* The node's description, or its id where there is none of its own. */
static inline const char *dl_fabric_node_name(const struct dl_fabric *f, uint32_t node)
{
	const struct dl_fabric_node *n = &f->nodes[node];

	return f->names + (n->desc ? n->desc : n->id);
}

static inline bool dl_fabric_is_switch(const struct dl_fabric *f, uint32_t node)
{
	return f->nodes[node].type == DL_FABRIC_SWITCH;
}

/* The node of a switch (dense number). */
static inline const struct dl_fabric_node *dl_fabric_switch_node(const struct dl_fabric *f,
								 uint32_t sw)
{
	return &f->nodes[f->switches[sw]];
}

/* Does this port own LIDs?  A switch's port 0, and every adapter port. */
static inline bool dl_fabric_is_end_port(const struct dl_fabric *f, uint32_t port)
{
	const struct dl_fabric_port *p = &f->ports[port];

	return (p->num == 0) == dl_fabric_is_switch(f, p->node);
}

/* The node at the far end of a port's cable, or DL_NONE. */
static inline uint32_t dl_fabric_peer_node(const struct dl_fabric *f, uint32_t port)
{
	uint32_t peer = f->ports[port].peer;

	return peer == DL_NONE ? DL_NONE : f->ports[peer].node;
}

/* The switch (dense number) at the far end of a port's cable, or DL_NONE. */
static inline uint32_t dl_fabric_peer_switch(const struct dl_fabric *f, uint32_t port)
{
	uint32_t node = dl_fabric_peer_node(f, port);

	return node == DL_NONE ? DL_NONE : f->nodes[node].sw;
}

/* Does a port's cable join two switches? */
static inline bool dl_fabric_joins_switches(const struct dl_fabric *f, uint32_t port)
{
	return f->nodes[f->ports[port].node].sw != DL_NONE &&
	       dl_fabric_peer_switch(f, port) != DL_NONE;
}

/* Can packets come in or leave at a node's port: has it a cable, or is it port 0? */
static inline bool dl_fabric_in_use(const struct dl_fabric *f, const struct dl_fabric_node *n,
				    unsigned int port)
{
	return !port || f->ports[n->first_port + port].peer != DL_NONE;
}

/* The end port at a switch's port: its own port 0, or that of an adapter; DL_NONE: none. */
static inline uint32_t dl_fabric_end_at(const struct dl_fabric *f, const struct dl_fabric_node *sw,
					unsigned int port)
{
	uint32_t end = port ? f->ports[sw->first_port + port].peer : sw->first_port;

	return end != DL_NONE && dl_fabric_is_end_port(f, end) ? end : DL_NONE;
}

/*
 * The switch (dense number) at which an end port enters the fabric: itself
 * for a switch's port 0, the far end of the cable for an adapter's port.
 * DL_NONE when it is attached to no switch.
 */
uint32_t dl_fabric_access_switch(const struct dl_fabric *f, uint32_t end_port);

/* The port of that switch. */
static inline unsigned int dl_fabric_access_port(const struct dl_fabric *f, uint32_t end_port)
{
	const struct dl_fabric_port *p = &f->ports[end_port];

	return p->num ? f->ports[p->peer].num : 0;
}

/* The access switch of a port, if it is an end port with a LID; else DL_NONE. */
static inline uint32_t dl_fabric_sender_switch(const struct dl_fabric *f, uint32_t port)
{
	return f->ports[port].lid && dl_fabric_is_end_port(f, port) ?
		       dl_fabric_access_switch(f, port) :
		       DL_NONE;
}

/* ---- one fabric in another (match.c) ---------------------------------------- */

/* The nodes of one fabric in another, matched by GUID and type. */
struct dl_fabric_match {
	const struct dl_fabric *from, *to; /* borrowed */
	uint32_t *node;			   /* in `to`, by node of `from`; DL_NONE: not there */
};

/* 0 or -ENOMEM; release in either case. */
int dl_fabric_match(const struct dl_fabric *from, const struct dl_fabric *to,
		    struct dl_fabric_match *out);
void dl_fabric_match_release(struct dl_fabric_match *m);

/* The same port in `to`, or DL_NONE. */
static inline uint32_t dl_fabric_match_port(const struct dl_fabric_match *m, uint32_t port)
{
	const struct dl_fabric_port *p = &m->from->ports[port];
	uint32_t node = m->node[p->node];

	return node == DL_NONE || p->num > m->to->nodes[node].nports ?
		       DL_NONE :
		       m->to->nodes[node].first_port + p->num;
}

/* The same switch (dense number) in `to`, or DL_NONE. */
static inline uint32_t dl_fabric_match_switch(const struct dl_fabric_match *m, uint32_t sw)
{
	uint32_t node = m->node[m->from->switches[sw]];

	return node == DL_NONE ? DL_NONE : m->to->nodes[node].sw;
}

/* The LID in `to` of the end port that has this one in `from`, or 0. */
uint16_t dl_fabric_match_lid(const struct dl_fabric_match *m, uint16_t lid);

/* Has a port in `from` a cable that is in `to` as well, between the same ports? */
bool dl_fabric_match_has_cable(const struct dl_fabric_match *m, uint32_t port);

/* Has a switch's port in `from` a cable that is not in `to`, or leads elsewhere there? */
bool dl_fabric_match_recabled(const struct dl_fabric_match *m, uint32_t sw, unsigned int port);

/* Have both the same nodes, ports, cables and LIDs, under the same numbers? */
bool dl_fabric_same_cables(const struct dl_fabric *a, const struct dl_fabric *b);

/* ---- links between switches ------------------------------------------------- */

/*
 * Every cable between two switches (or of one with itself) is two directed
 * links, one for each way.  They have dense numbers in the order of switches
 * and output ports, so that the links out of switch s are those from first[s]
 * to first[s + 1] - 1.
 *
 *	switch 0 --port 1--- port 3 of switch 1	link 0: 0 -> 1, back 2
 *	         --port 2--- port 4 of switch 1	link 1: 0 -> 1, back 3
 *	switch 1 --port 3--- port 1 of switch 0	link 2: 1 -> 0, back 0
 *	         --port 4--- port 2 of switch 0	link 3: 1 -> 0, back 1
 *
 *	first: 0 2 4
 */
struct dl_fabric_link {
	uint32_t port;	   /* output port, port index */
	uint32_t from, to; /* switches, dense numbers */
	uint32_t back;	   /* the link of the same cable the other way */
	uint8_t out, in;   /* port numbers at `from` and `to` */
};

struct dl_fabric_links {
	struct dl_fabric_link *link;
	uint32_t n;
	uint32_t *first;   /* by switch, nswitches + 1 of them */
	uint32_t *of_port; /* by port index: its link, or DL_NONE */
};

/*
 * List the links of a finished fabric.  0, -ENOMEM, or -EPROTO: a cable is not
 * stored at both ends.  Release in either case with dl_fabric_links_release().
 * O(ports).
 */
int dl_fabric_links_init(struct dl_fabric_links *l, const struct dl_fabric *f);
void dl_fabric_links_release(struct dl_fabric_links *l);

/* ---- netlists and subnet lists ---------------------------------------------- */

/*
 * Read a netlist: ibnetdiscover's output, ibsim's input, in one file.  Damage is reported
 * with file and line.  Returns 0, -ENOENT and the like (cannot be opened),
 * -EINVAL (damaged), -ENOMEM.
 */
int dl_fabric_read_netlist(const char *path, const struct dl_log *log, struct dl_fabric **out);

/* The same, with the files beside it that it includes. */
int dl_fabric_read_netlist_including(const char *path, const struct dl_log *log,
				     struct dl_fabric **out);

/* Without them, from an open stream; `name` stands in messages. */
int dl_fabric_read_netlist_stream(FILE *from, const char *name, const struct dl_log *log,
				  struct dl_fabric **out);

/*
 * Give nodes the names of a node name map of infiniband-diags: lines with a
 * GUID and a name in double quotes.  Nodes that the fabric lacks are skipped.
 * Returns 0, -ENOENT and the like, -EINVAL (damaged), -ENOMEM; reported.
 */
int dl_fabric_read_node_names(struct dl_fabric *f, const char *path, const struct dl_log *log);

/* Write a netlist that ibsim and dl_fabric_read_netlist() read.  0 or -EIO. */
int dl_fabric_write_netlist(const struct dl_fabric *f, FILE *to);

/* Write OpenSM's subnet list (opensm-subnet.lst).  0 or -EIO. */
int dl_fabric_write_subnet_list(const struct dl_fabric *f, FILE *to);

/* Read such a list, from a file or a stream; errors as with a netlist. */
int dl_fabric_read_subnet_list(const char *path, const struct dl_log *log, struct dl_fabric **out);
int dl_fabric_read_subnet_list_stream(FILE *from, const char *name, const struct dl_log *log,
				      struct dl_fabric **out);

void dl_fabric_free(struct dl_fabric *f);

/* ---- link speeds ------------------------------------------------------------ */

/* "4x", "QDR" and "10" (Gb/s a lane) as numbers of dl_fabric_port; 0: none such. */
unsigned int dl_fabric_width_of(const char *word, size_t len);
unsigned int dl_fabric_speed_of(const char *word, size_t len);
unsigned int dl_fabric_speed_of_rate(const char *word, size_t len);
/* And back; 0 becomes "??". */
const char *dl_fabric_speed_name(unsigned int speed);
const char *dl_fabric_speed_rate(unsigned int speed);
/* PortInfo's codes: LinkWidthActive, LinkSpeedActive and LinkSpeedExtActive, OperVLs; 0: none such. */
unsigned int dl_fabric_width_of_code(unsigned int code);
unsigned int dl_fabric_speed_of_codes(unsigned int plain, unsigned int extended);
unsigned int dl_fabric_vls_of_code(unsigned int code);

/* The data that a link carries, in 1/11 Gbit/s: in this unit all rates are whole; 0: unknown. */
#define DL_FABRIC_RATE_GBIT 11
uint32_t dl_fabric_rate(unsigned int speed, unsigned int width);

/* The best speed and width that both ends of a cable support; 0: unknown at both. */
struct dl_fabric_speed_width {
	uint8_t speed, width;
};

struct dl_fabric_speed_width dl_fabric_agreed(const struct dl_fabric *f, uint32_t port);

/* ---- failures --------------------------------------------------------------- */

/*
 * What is left of a finished fabric without the dead nodes (`dead`, by node)
 * and without the cables cut at a port (`cut`, by port index; one of the two
 * ends is enough).  Adapters and routers that are left without a single cable
 * go, too; ports that lose theirs lose their LIDs.  All else stays: order,
 * names, LIDs.  Returns 0 or -ENOMEM.
 */
int dl_fabric_degrade(const struct dl_fabric *f, const bool *dead, const bool *cut,
		      struct dl_fabric **out);

/*
 * Is there a path between all end ports that have a LID?  Returns 1, 0 (no, or
 * there are no such end ports) or -ENOMEM.  O(ports).
 */
int dl_fabric_is_connected(const struct dl_fabric *f);

/*
 * The part of a finished fabric that can be routed.  One device must not keep the
 * others from being routed, so two kinds of nodes are logged and left out: switches
 * whose forwarding tables are too short for the LIDs in use, and nodes that no cable
 * connects to the rest.  *out is NULL if nothing is left out, or if there is no
 * switch.  Returns the number of disconnected nodes, or -ENOMEM.  O(ports).
 */
struct dl_fabric_part {
	uint32_t from;		 /* the part of this end port; DL_NONE: the largest */
	bool two_vls;		 /* leave out cables with 1 data VL, too, if they are few */
	enum dl_log_level level; /* of messages about nodes */
};

int dl_fabric_main_part(const struct dl_fabric *f, const struct dl_fabric_part *o,
			const struct dl_log *log, struct dl_fabric **out);

#ifdef __cplusplus
}
#endif
#endif
