/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What subcommands read: a netlist, a snapshot or the running fabric, a
 * torus-2QoS.conf, path SLs; and the coordinates that follow from them.
 */
#ifndef TOOL_INPUT_H
#define TOOL_INPUT_H

#include "tool.h"
#include "dateline/live.h"

/* The options and the argument that say what to read. */
struct tool_input_options {
	const char *from;		   /* netlist ("-": standard input) or snapshot */
	bool is_live;			   /* the running fabric instead */
	bool asks;			   /* is anything else read from it, such as counters? */
	struct dl_live_options live;	   /* adapter, port and paths count */
	const char *net, *psl;		   /* beside a snapshot */
	const char *config;		   /* torus-2QoS.conf */
	bool one_vl;			   /* TOOL_INPUT_PART: is enough between switches */
	bool any_fabric;		   /* for TOOL_INPUT_PART: also without coordinates */
	const struct dl_snapshot *earlier; /* what the fabric runs by: its coordinates stay */
	const char *earlier_from;
	bool cabling;	   /* find a torus by it alone, whatever a snapshot says */
	const char *names; /* node name map */
	bool include;	   /* may the netlist include files? */
};

/* What reads nothing from the running fabric: argp_error() if a port to it is given. */
void tool_refuse_port(const struct argp_state *state, const struct dl_live_options *live);

/*
 * The settings of a struct tool_input_options, but for `from`: for commands
 * that read a fabric, and for those that read tables; these take the third, too.
 */
extern const struct dl_setting tool_input_fabric[], tool_input_tables[], tool_input_live[];

struct tool_coords {
	struct dl_torus_grid grid;
	uint32_t *site; /* by switch, or DL_NONE; the torus's, if there is one; NULL: none known */
	bool certain;	/* as the routing engine saw them */
};

struct tool_input {
	struct dl_snapshot snapshot;	/* of a netlist, its fabric alone */
	struct dl_fabric *fabric;	/* of the snapshot, or `part` */
	struct dl_fabric *part;		/* of TOOL_INPUT_PART, or NULL */
	struct dl_torus_config *config; /* given, or found from the cabling */
	struct dl_torus *torus;
	struct tool_coords coords;
};

enum tool_input_kind {
	TOOL_INPUT_TORUS, /* fabric, configuration, torus and coordinates */
	/*
	 * The same of the part that can be routed: see dl_fabric_main_part().  Nodes
	 * that nothing connects to it are a finding.
	 */
	TOOL_INPUT_PART,
	TOOL_INPUT_COORDS, /* fabric and coordinates */
	TOOL_INPUT_HOPS,   /* fabric, and a snapshot's tables or else coordinates */
	/*
	 * A snapshot, and coordinates if they can be known: from the
	 * configuration, else from the list that a torus engine left in the
	 * directory, else from the cabling.  Without path SLs, it gets those
	 * of torus-2QoS's rule (rules A5) where the coordinates are certain.
	 */
	TOOL_INPUT_TABLES
};

/* Read it all.  0 or a negative errno, reported; free in either case. */
int tool_input_read(struct tool *tool, const struct tool_input_options *o,
		    enum tool_input_kind kind, struct tool_input *in);
void tool_input_free(struct tool_input *in);

/*
 * dl_live_read(), and what can be said of engine, mode and coordinates: that is
 * logged, too.
 */
int tool_read_live(const struct tool *tool, const struct dl_live_options *o, struct dl_snapshot *s);

/*
 * Route the groups of earlier tables to those of their members that are still there.
 * 0, -ENOMEM, or an error of dl_route_tree_group().
 */
int tool_keep_groups(const struct dl_tables *before, struct dl_route_result *out);

/* A node's coordinates, or null; {guid, name, coord}, and with a port's number. */
json_t *tool_json_place(const struct tool_coords *c, const struct dl_fabric *f, uint32_t node);
json_t *tool_json_placed_node(const struct tool_coords *c, const struct dl_fabric *f,
			      uint32_t node);
json_t *tool_json_placed_port(const struct tool_coords *c, const struct dl_fabric *f,
			      uint32_t port);

/* "4xEDR", or null. */
json_t *tool_json_speed(unsigned int width, unsigned int speed);

/* The slow cables (dl_torus_speeds_init()); NULL: no memory. */
json_t *tool_json_slow(const struct tool_coords *c, const struct dl_fabric *f);

/*
 * The work that makes a fabric's cabling that of a plan, and the nodes that stand for planned
 * ones under other GUIDs: {nodes, work} (cabling.c).  NULL: no memory.
 */
json_t *tool_json_cabling(const struct dl_fabric *plan, const struct dl_fabric *now);

#endif
