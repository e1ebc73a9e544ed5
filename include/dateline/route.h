/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From coordinates to tables.
 *
 * Unicast by dimension-order routing (DOR) with datelines (rules A4), path SLs
 * from coordinates alone (A5), SL-to-VL maps (A6), VL arbitration (A7), and
 * the spanning tree on which all multicast groups travel (A9).
 *
 *	dl_fabric_read_netlist("net", &log, &fabric);
 *	dl_fabric_assign_lids(fabric, 0);
 *	dl_torus_infer(fabric, &log, &config);
 *	dl_torus_discover(fabric, config, &log, &torus);
 *	dl_route_options_init(&options);
 *	dl_route(torus, config, &options, &log, &result);
 *	dl_route_tree_group_all(result.tree, result.tables);
 *	dl_verify(result.tables, NULL, &log, &verification);
 *	dl_route_result_release(&result);
 *
 * doc/examples/route-and-verify.c does this with all errors checked.
 */
#ifndef DATELINE_ROUTE_H
#define DATELINE_ROUTE_H

#include "tables.h"
#include "torus.h"
#include "verify.h"

#ifdef __cplusplus
extern "C" {
#endif

enum dl_route_mode {
	/* The rules of the torus-2QoS document, and its refusals (rules A8). */
	DL_ROUTE_CLASSIC,
	/*
	 * Every connected fabric (rules A12): path SLs and SL-to-VL maps of
	 * rules A5 and A6, forwarding as close to DOR as the search finds,
	 * verified with multicast groups of all end ports.
	 */
	DL_ROUTE_PROVEN,
	/*
	 * Every connected fabric, and no credit loop whatever SLs packets
	 * carry (rules A13): path SLs are 0, at QoS level 1 8.  Verified
	 * with all SLs.
	 */
	DL_ROUTE_ANY_SL,
	/*
	 * Plain DOR, also where classic mode refuses: entries that DOR cannot
	 * fill stay empty, the tree goes as far as it can, and nothing says
	 * that the result is safe.  For comparison.
	 */
	DL_ROUTE_UNCHECKED
};

/*
 * Proven mode: which way round a ring do packets go when both are equally
 * long?  Path SLs follow from it (rules A5).
 */
enum dl_route_ties {
	DL_ROUTE_TIES_CONFIGURED, /* as the torus configuration says */
	DL_ROUTE_TIES_TORUS_2QOS, /* the way that does not wrap */
	DL_ROUTE_TIES_BALANCED	  /* half of the LIDs one way, half the other */
};

struct dl_route_options {
	enum dl_route_mode mode;
	enum dl_route_ties ties;
	/* VL arbitration weights of QoS levels 0 and 1, 1..255. */
	unsigned int weights[2];
	unsigned int high_limit; /* VLHighLimit, 0..255 */
	/*
	 * Proven mode: after so many seconds by this clock what is not yet
	 * repaired is routed along the spanning tree.  NULL: no limit; then,
	 * or within the limit, the result depends on the fabric alone.  How
	 * cables are weighed goes by what is done in so many seconds, counted
	 * and not timed.
	 */
	unsigned int repair_seconds;
	double (*clock)(void);
	/* Proven and any-SL mode: what to avoid; NULL: nothing. */
	const struct dl_route_avoided *avoid;
};

/* ---- planned changes (avoid.c) ---------------------------------------------- */

/*
 * A list of cables and switches to avoid (rules A15), in lines such as
 *
 *	cable NAME/PORT
 *	switch NAME
 *
 * with a name, also in double quotes, or a GUID; # begins a comment.  Every bad line is
 * reported.  Returns 0, -EINVAL, -ENOMEM, or an error of reading.
 */
struct dl_route_avoid;

int dl_route_avoid_read(const char *path, const struct dl_log *log, struct dl_route_avoid **out);
int dl_route_avoid_read_stream(FILE *from, const char *name, const struct dl_log *log,
			       struct dl_route_avoid **out);
void dl_route_avoid_free(struct dl_route_avoid *a);

enum dl_route_avoid_state {
	DL_ROUTE_AVOID_ABSENT,	  /* the fabric has no such cable or switch */
	DL_ROUTE_AVOID_AMBIGUOUS, /* several nodes have this name */
	DL_ROUTE_AVOID_ADAPTER,	  /* a switch by the list, an adapter in the fabric */
	DL_ROUTE_AVOID_OUT,	  /* no packet is sent across it */
	DL_ROUTE_AVOID_ONLY_WAY	  /* it stays in use: some nodes are unreachable without it */
};

struct dl_route_avoided_item {
	uint32_t line;
	enum dl_route_avoid_state state;
	uint32_t port, sw;   /* the named end of a cable, or DL_NONE; the switch, or DL_NONE */
	const char *name;    /* as in the list */
	unsigned int number; /* of the port; 0: a switch */
	bool unused;	     /* set by the caller: switches have confirmed that nothing uses it */
	/*
	 * DL_ROUTE_AVOID_ONLY_WAY: whom it would cut off, and the node of one of them.
	 * DL_ROUTE_AVOID_ADAPTER: the node of its switch, or DL_NONE.
	 */
	uint32_t switches, adapters, example;
};

/* A list in a fabric. */
struct dl_route_avoided {
	struct dl_arena arena;
	uint32_t n;
	struct dl_route_avoided_item *items; /* by entry of the list */
	bool *cut;			     /* by port index: both ends of a cable */
	bool *leaf;			     /* by switch: passes nothing on */
};

/* 0 or -ENOMEM. */
int dl_route_avoid_resolve(const struct dl_route_avoid *list, const struct dl_fabric *f,
			   struct dl_route_avoided **out);
void dl_route_avoided_free(struct dl_route_avoided *a);

/* Describe an item and its state, or its name only, for people. */
#define DL_ROUTE_AVOID_TEXT 600
void dl_route_avoid_text(const struct dl_route_avoided_item *item, const struct dl_fabric *f,
			 char *out, size_t size);
void dl_route_avoid_name(const struct dl_route_avoided_item *item, const struct dl_fabric *f,
			 char *out, size_t size);

/*
 * How much of the tables uses an item: forwarding entries that lead across it, and groups.
 * O(switches x LIDs) for a switch.
 */
struct dl_route_avoid_use {
	uint64_t entries;
	uint32_t groups;
};

struct dl_route_avoid_use dl_route_avoid_count(const struct dl_route_avoided_item *item,
					       const struct dl_tables *t);

/* ---- routing ------------------------------------------------------------------ */

/* "classic", "proven": the word for a mode. */
const char *dl_route_mode_name(enum dl_route_mode mode);

/* The defaults: proven, ties as configured, 1:1, 16 KiB, 7 seconds but no clock. */
void dl_route_options_init(struct dl_route_options *o);

/* Why a fabric is refused; the log names the culprits. */
enum dl_route_refusal {
	DL_ROUTE_ACCEPTED,
	DL_ROUTE_TOO_FEW_VLS,	   /* a torus needs 2 data VLs on every cable,
				   * but in any-SL mode */
	DL_ROUTE_NO_TORUS,	   /* classic: switches or cables fit nowhere */
	DL_ROUTE_RING_CUT,	   /* classic: a ring is in several pieces */
	DL_ROUTE_SWITCHES_MISSING, /* classic: not side by side on one ring */
	DL_ROUTE_NOT_CONNECTED,	   /* proven: no path between some end ports */
	DL_ROUTE_UNSAFE,	   /* proven: verification failed, a defect */
	DL_ROUTE_NO_SWITCHES	   /* the fabric has none: nothing to route */
};

/*
 * A spanning tree of switches.  Every multicast group uses a part of it.
 */
struct dl_route_tree {
	uint32_t root;	    /* switch number */
	uint32_t nswitches; /* length of parent */
	uint32_t *parent;   /* by switch; DL_NONE: the root, or not in the tree */
	uint32_t *order;    /* switches of the tree, parents before children */
	uint32_t norder;
	/* Cables to the parent, as port indices at the child, ascending. */
	uint32_t *cable_first; /* nswitches + 1 of them */
	uint32_t *cables;
};

void dl_route_tree_free(struct dl_route_tree *tree);

/* What proven mode did to a fabric. */
struct dl_route_report {
	uint64_t entries;	  /* forwarding entries */
	uint64_t entries_changed; /* ... that differ from DOR */
	uint64_t entries_filled;  /* ... added by DOR's early turn, where a
					   ring is cut in two */
	uint32_t lost;		  /* pairs of switches that DOR cannot connect */
	uint32_t cyclic;	  /* ... whose packets would close a credit loop */
	uint32_t changed;	  /* ... at which packets take another next hop */
	uint32_t rerouted;	  /* destination switches with such hops */
	uint32_t tree_routed;	  /* destination switches routed along the tree */
	uint32_t moved;		  /* switches with another parent than in rules A9 */
	uint32_t attempts;	  /* trees tried */
	uint32_t rounds;	  /* times that the search started over */
	bool timed_out;		  /* did the time for repairs run out? */
	uint64_t pairs;		  /* of end ports and LIDs, all of them delivered */
	/* Of the whole time; 0 unless the options have a clock. */
	double search_seconds, verify_seconds;
};

/* The outcome of dl_route(); all of it belongs to the caller. */
struct dl_route_result {
	struct dl_tables *tables; /* without multicast groups */
	/*
	 * NULL: classic mode's tree cannot reach every switch that has
	 * coordinates (a warning names one).
	 */
	struct dl_route_tree *tree;
	struct dl_route_report report; /* proven mode; else zeroes */
	/*
	 * Proven mode: what dl_verify() says of the tables with groups of
	 * all end ports.  It is there, too, with the cycle, when it is the reason
	 * of a refusal.  Other modes: NULL; see dl_route_verify().
	 */
	struct dl_verify_result *verification;
	enum dl_route_refusal refusal;
};

/*
 * Route a torus: forwarding, SL to VL, VL arbitration, path SLs, multicast
 * tree.  The fabric needs LIDs.  The result refers to the fabric and is
 * released with dl_route_result_release(), after a failure too (then it holds
 * neither tables nor tree).  Returns 0; -ENOTSUP when the fabric is refused
 * (the reason stands in the result, and with the culprits in the log);
 * -EPROTO (logged) when verification found a defect of the router; -EINVAL
 * (no such mode, or one that avoids nothing); -ENOMEM.
 */
int dl_route(const struct dl_torus *t, const struct dl_torus_config *c,
	     const struct dl_route_options *o, const struct dl_log *log,
	     struct dl_route_result *out);
void dl_route_result_release(struct dl_route_result *r);

/*
 * Do two results, for fabrics with the same nodes, cables and LIDs, have the same
 * forwarding entries, SL-to-VL maps, path SLs and tree?
 */
bool dl_route_same_result(const struct dl_route_result *a, const struct dl_route_result *b);

/*
 * Fill in what a snapshot says about its routing: engine, mode ("proven-balanced"
 * with balanced ties), the source of the path SLs, and the coordinates, as the note
 * dateline-torus.dump.  0 or -ENOMEM.
 */
int dl_route_describe(const struct dl_torus *t, const struct dl_torus_config *c,
		      const struct dl_route_options *o, struct dl_snapshot *s);

/*
 * Data VLs that the routing may count on: the smallest number found on any
 * cable between switches, and on any end port (rules A6).
 */
struct dl_route_vls {
	unsigned int between; /* 2, 4 or 8; any-SL mode: also 1 */
	unsigned int end;     /* 1 or more */
	bool any_sl;	      /* the maps of any-SL mode (rules A13)? */
};

/*
 * Path SL at QoS level 0 from one site to another: bit d is set when the
 * shorter way round dimension d wraps (rules A5).  No failure enters into it.
 */
unsigned int dl_route_sl(const struct dl_torus_grid *g, uint32_t from, uint32_t to);

/*
 * By what path SLs are granted, as marks of switches hold it (struct dl_torus_mark): a mode,
 * or proven mode with balanced ties; and the mode and ties of a mark.
 */
#define DL_ROUTE_MARK_BALANCED 3

unsigned int dl_route_mark(const struct dl_route_options *o, const struct dl_torus_config *c);
void dl_route_options_of_mark(unsigned int mark, struct dl_route_options *o);

/* By what path SLs are granted: coordinates, and balanced ties or those of torus-2QoS. */
struct dl_route_sl_rule {
	const struct dl_torus_grid *grid;
	bool balanced;
};

/*
 * Between two switches with sites a[0] and a[1] by rule `is`, b[0] and b[1] by `was`: does
 * the path SL to any LID differ?
 */
bool dl_route_sl_differs(const struct dl_route_sl_rule *is, const uint32_t a[2],
			 const struct dl_route_sl_rule *was, const uint32_t b[2]);

/*
 * Port masks of one group: the branches from the root to every switch with a
 * member, over one cable a hop chosen by `mlid`, and the members' own ports.
 * `members` are port indices of end ports; `masks` is cleared first.  Returns 0, -ENOMEM, or -ENOTCONN when a
 * member is attached to no switch of the tree (the others are still served).
 */
int dl_route_tree_group(const struct dl_route_tree *tree, const struct dl_fabric *f, uint16_t mlid,
			const uint32_t *members, uint32_t nmembers, struct dl_tables_masks *masks);

/*
 * Add to tables the multicast group of all adapter and router ports, at MLID
 * DL_TABLES_MCAST_LID, on that tree.  Errors as above.
 */
int dl_route_tree_group_all(const struct dl_route_tree *tree, struct dl_tables *t);

/*
 * The forwarding tables of dimension-order routing alone, into tables made for
 * the torus's fabric: the part of dl_route() that grows with the square of the
 * fabric.  Returns 0 or -ENOMEM.
 */
int dl_route_forwarding(const struct dl_torus *t, const struct dl_torus_config *c,
			struct dl_tables *tables);

/*
 * Let dl_verify() check tables, in place of their groups with groups of all end ports
 * on the tree, one for each choice of parallel cables, which cause every dependency
 * that any group on the tree can cause.  Bit s of `sls` and `multicast_sls` is set when
 * unicast packets and groups may use SL s; `sls` 0: the path SLs.  The result is the
 * caller's, and lists a credit loop channel by channel.  0 or -ENOMEM.
 */
#define DL_ROUTE_MULTICAST_SLS (1u << 0 | 1u << 8)
int dl_route_verify_sls(const struct dl_tables *tables, const struct dl_route_tree *tree,
			uint16_t sls, uint16_t multicast_sls, struct dl_verify_result **out);

/*
 * Is every state safe in which switches hold entries of either set of tables of
 * one fabric, together with any groups on the tree, and with orphans (or NULL)?  SLs as
 * above; `held` has no groups.  0 or -ENOMEM.
 */
int dl_route_is_mixture_safe(const struct dl_tables *held, const struct dl_tables *tables,
			     const struct dl_route_tree *tree,
			     const struct dl_verify_orphans *orphans, uint16_t sls,
			     uint16_t multicast_sls, bool *safe);

/*
 * The report of proven mode in one line, without a newline: that the tables
 * are verified, and what was repaired.  `out` holds DL_ROUTE_REPORT_TEXT bytes.
 */
#define DL_ROUTE_REPORT_TEXT 400
void dl_route_report_text(const struct dl_route_report *r, char *out, size_t size);

/*
 * VL arbitration for one port, between switches or at an end port, whose
 * tables hold `high_cap` and `low_cap` entries (0..64).  A high table too
 * small for all VLs stays empty.
 */
void dl_route_vlarb(const struct dl_route_options *o, const struct dl_route_vls *vls, bool between,
		    unsigned int high_cap, unsigned int low_cap, struct dl_tables_vlarb *out);

/* ---- VL arbitration as opensm.conf has it (configured.c; rules A7) ------------ */

/* The kinds of ports with options of their own in opensm.conf. */
enum dl_route_port_kind {
	DL_ROUTE_CA_PORTS,
	DL_ROUTE_SW0_PORTS,
	DL_ROUTE_SWE_PORTS,
	DL_ROUTE_RTR_PORTS,
	DL_ROUTE_PORT_KINDS
};

/* The options of one kind; NULL or -1: not given. */
struct dl_route_arb_words {
	const char *high, *low; /* "VL:WEIGHT,VL:WEIGHT,..." */
	int high_limit;
};

struct dl_route_arb_config {
	struct dl_route_arb_words all; /* for kinds that say nothing */
	struct dl_route_arb_words kind[DL_ROUTE_PORT_KINDS];
	/*
	 * VLHighLimit of ports that have tables of the user's but no limit of
	 * the user's; -1: the routing's.
	 */
	int default_high_limit;
};

/* The middle of an option's name: "ca_" in qos_ca_vlarb_high; DL_ROUTE_PORT_KINDS: "". */
const char *dl_route_port_kind_name(enum dl_route_port_kind kind);

/*
 * Put the user's tables and limits in place of the routing's on every port
 * that has arbitration tables.  A table that the user did not write stays.  If VLs
 * in use would starve (rules B10), the user's tables are corrected, and one error
 * names the VLs.  Returns 0, -ENOMEM or -ENOSPC.
 */
int dl_route_arb_apply(const struct dl_route_arb_config *c, struct dl_tables *t,
		       const struct dl_log *log);

/*
 * Report what is malformed, unfair within a QoS level, too short, or lost on end
 * ports: at most one warning an option.  Without a fabric, no table is too short.
 */
void dl_route_arb_check(const struct dl_route_arb_config *c, const struct dl_fabric *f,
			const struct dl_log *log);

/*
 * As dl_setting_call, of a setting whose member is unsigned int[2]: "A:B", the weights of
 * both QoS levels, each 1 to 255.  The setting says what is expected.
 */
int dl_route_read_weights(const struct dl_setting *s, void *to, const char *text, char *why,
			  size_t size);

#ifdef __cplusplus
}
#endif
#endif
