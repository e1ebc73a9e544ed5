/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A fabric in virtual time, for subnet managers to route (README.md).
 *
 *	events.c	what happens when: a heap ordered by time, then by age
 *	nodes.c		the fabric from a netlist; links and nodes that fail and return
 *	agent.c		each node's subnet management agent
 *	carry.c		MADs hop by hop: delays, losses, timeouts, traps
 *	client.c	hosts that join groups and ask for paths
 *	rmpp.c		answers of several MADs
 *	process.c	the subnet managers' processes, and turns between them
 *	script.c	events as text; apply.c what each of them does
 *	avoid.c		what is taken out of use before it goes
 *	grow.c		a torus that grows or shrinks
 *	judge*.c	what the switches hold, judged at every write
 *	log.c		what the subnet managers say
 *	main.c		options, verdict
 */
#ifndef DL_SIM_SIM_H
#define DL_SIM_SIM_H

#include <inttypes.h>
#include <stdio.h>
#include <sys/types.h>

#include <iba/ib_types.h>

#include "dateline/fabric.h"
#include "share.h"

#define SIM_LFT_SIZE 0xC000 /* entries */
#define SIM_MLIDS 1024
#define SIM_MFT_POSITIONS 16
#define SIM_MOST_SMS 4
#define SIM_NO_PORT 0xFF

/* ---- what happens when (events.c) --------------------------------------------- */

struct sim;
struct sim_msg;

enum sim_event_kind {
	SIM_ARRIVE,  /* a request or a trap leaves `node`'s side of the wire */
	SIM_ANSWER,  /* an answer does */
	SIM_TIMEOUT, /* a request has waited long enough */
	SIM_TRAP,    /* a switch reports a change, again */
	SIM_ASK,     /* a host asks for a path, or again */
	SIM_JOIN,    /* a host joins its group, or again */
	SIM_STEP,    /* the script goes on */
	SIM_RMPP,    /* segments of an answer may have to be sent again */
	SIM_RAISE    /* the link of a port that flapped comes back */
};

struct sim_event {
	uint64_t time, order;
	enum sim_event_kind kind;
	uint32_t node, port;
	struct sim_msg *msg;
};

struct sim_events {
	struct sim_event *heap;
	uint32_t n, cap;
	uint64_t order;
};

void sim_events_add(struct sim *sim, uint64_t time, enum sim_event_kind kind, uint32_t node,
		    uint32_t port, struct sim_msg *msg);
struct sim_event sim_events_take(struct sim *sim);

/* The time of the first one; SIM_NEVER: there is none. */
uint64_t sim_events_next(const struct sim *sim);

/* ---- MADs under way ----------------------------------------------------------- */

struct sim_msg {
	struct sim_msg *next;
	struct sim_mad mad;
	int sm;	      /* whose request it is; -1: nobody's */
	uint32_t run; /* ... and of which start of it */
	bool done;    /* an answer has come */
};

/* ---- the fabric --------------------------------------------------------------- */

struct sim_port {
	uint32_t node;
	uint32_t peer; /* port at the cable's far end, or DL_NONE */
	uint32_t home; /* the same at the beginning */
	uint8_t num;
	bool cut;	  /* its cable is unplugged at this end */
	uint64_t down_at; /* when its link went down last */
	ib_port_info_t info;
	uint8_t vlarb[4][64];
	uint8_t pkeys[64];
	uint8_t *sl2vl;	      /* 8 bytes for each input port */
	uint64_t lease_ends;  /* an SMP without the M_Key has come; 0: none */
	uint64_t told_key_at; /* when trap 256 told the subnet manager last */
	bool joined, joining; /* a host: its group, */
	int joined_sm;	      /* ... with this subnet manager, */
	uint32_t joined_run;  /* ... and this start of it */
};

struct sim_node {
	const char *name;
	uint64_t guid;
	uint32_t first; /* index of port 0 */
	uint8_t nports;
	bool is_switch;
	bool dead;
	bool absent;	      /* ... as it is not placed yet, or not any more: grow.c */
	bool transient;	      /* ... or will not be at the end */
	bool mute;	      /* it forwards, but its agent does not answer, */
	bool sick;	      /* ... or answers for itself, and not for its ports and tables */
	bool is_keyed;	      /* it has an M_Key that no subnet manager here has set */
	unsigned int lie;     /* what its agent claims that is not so: agent.c; 0: nothing */
	bool lied;	      /* ever: nobody knows its maps, or which LID it has */
	ib_net16_t meant_lid; /* that it was last given, and not only as another node */
	unsigned int traps_due;
	int sm; /* which subnet manager runs here, or -1 */
	ib_switch_info_t switch_info;
	uint8_t *lft;
	uint16_t *mft; /* by group, then by position of 16 ports */
};

/* ---- subnet managers ---------------------------------------------------------- */

/* Where a directed path led when the subnet manager last asked there who it is. */
struct sim_way {
	uint64_t path; /* a hash of it */
	uint64_t at;   /* when it was asked */
	uint32_t node;
};

enum { SIM_WAYS = 4096, SIM_WAYS_ROW = 8 };

struct sim_sm {
	struct sim_share *share;
	pid_t pid; /* 0: not running */
	uint32_t node, run;
	bool any_sl; /* its mode */
	bool paused;
	uint64_t sweep_at, sweep_before; /* when its last heavy sweep began, and that before */
	struct sim_msg *pending;	 /* requests without an answer */
	struct sim_msg *waiting;	 /* MADs to be handed over... */
	uint64_t wake_at;		 /* ... then */
	uint64_t sweeps;		 /* SUBNET UP lines */
	uint64_t last_sent, last_up, up_before; /* the subnet was up, and the time before */
	uint64_t wrote_at;			/* entries of tables */
	uint64_t unproven; /* `sweep_at` of a sweep that the log does not call proven, until the next plan */
	bool misled;	 /* ... as OpenSM sees cables that are not there */
	uint64_t astray; /* when a write last reached another node than meant, or gave it
			      another's LID; 0: no */
	struct sim_way ways[SIM_WAYS];
	uint32_t failed; /* calls that have been made to fail */
	uint64_t heap;	 /* bytes in use when they were measured last; 0: never */
};

/* ---- hosts' path queries ------------------------------------------------------ */

enum sim_reconnect {
	SIM_NOBODY,
	SIM_TRANSIENT, /* those with a node that comes or goes */
	SIM_ALL
};

struct sim_query {
	uint32_t from, to; /* ports */
	uint32_t path;	   /* to the base LID of `to` plus this */
	uint64_t since;
	bool open;
};

/* A table of all paths from a host, asked for as a whole. */
#define SIM_SA_HEADER 20u
#define SIM_SA_DATA 200u /* bytes a segment */
#define SIM_MOST_SEGMENTS 1024

struct sim_inbox {
	uint32_t from; /* port */
	uint64_t since;
	ib_net64_t transaction; /* 0: none */
	uint32_t taken;		/* so many segments have come without a gap */
	uint32_t last, window;	/* the last one, 0: unknown; the last one that may come */
	bool has[SIM_MOST_SEGMENTS];
	uint8_t bytes[SIM_MOST_SEGMENTS * SIM_SA_DATA];
	uint32_t n; /* bytes */
};

/* ---- findings ----------------------------------------------------------------- */

enum sim_finding {
	SIM_LOOP,     /* a credit loop */
	SIM_CIRCLE,   /* packets in a circle */
	SIM_REVISED,  /* a map has changed the VL of packets under way */
	SIM_LOST,     /* a pair with a path does not work */
	SIM_SL,	      /* a granted SL changed */
	SIM_PATHS_OF, /* a table of paths is not what single queries say */
	SIM_UNPROVEN, /* a transition unproven though every switch answers */
	SIM_PAIRS,    /* interrupted pairs are not those that the log states */
	SIM_SLOW,     /* a path query without an answer */
	SIM_TABLES,   /* tables that the full verifier refuses */
	SIM_AVOIDED,  /* what is out of use, or called so, is not */
	SIM_HUNG,     /* the subnet manager does not sweep any more */
	SIM_LEAK,     /* it needs more memory than it did for the same */
	SIM_ENDED,    /* its program ended by itself */
	SIM_DEFECT,   /* the engine's log calls something a defect of its own */
	SIM_TWIN,     /* the judge and its reference model disagree: a fault of the rig */
	SIM_FINDINGS
};

extern const char *const sim_finding_names[SIM_FINDINGS];

/* ---- what is out of use (avoid.c) ----------------------------------------------- */

#define SIM_MOST_AVOIDED 4

struct sim_avoided {
	uint32_t port; /* of a cable; port 0: all of the switch */
	bool safe;     /* as the log says: nothing leads across it */
};

/* All tables of switches that are on. */
struct sim_sum {
	uint64_t time; /* 0: unknown */
	uint64_t entries, masks;
};

struct sim_avoid {
	struct sim_avoided entries[SIM_MOST_AVOIDED];
	uint32_t n;
	uint64_t changed;	 /* when it was last */
	bool refused;		 /* ... but the engine could not read it */
	struct sim_sum before;	 /* ... there was any entry, if nothing else has happened since */
	uint64_t said, compared; /* lines that call an entry safe; tables with those from before */
};

/* ---- options ------------------------------------------------------------------ */

struct sim_options {
	const char *torus;		      /* "6x5x1" */
	const char *netlist, *netlist_config; /* a fabric of the user's, and its torus_config */
	const char *grow;  /* the dimension in which it gets a plane, "-x": loses one; or NULL */
	uint32_t ports;	   /* of a switch */
	uint32_t parallel; /* cables between neighbours */
	const char *build; /* what has been built there is tried */
	const char *net, *torus_config, *engine, *mode, *plugin_dir, *opensm, *shim, *dir;
	const char *script;		     /* file of events; NULL: random ones */
	const char *plugin_options, *config; /* more words; a file of more lines */
	const char *opensm_options;	     /* such lines, separated by semicolons */
	uint64_t seed;
	uint32_t events, sms, gap_ms, settle_every, within_s, preempt, stall;
	int64_t stay_ms;      /* a packet's in a switch; -1: LifeTimeValue; 0: none */
	unsigned int verbose; /* 1: events and the engine's log; 2: writes as well */
	bool keep;
	FILE *record;	     /* each SMP that arrives at an agent; or NULL */
	bool bare;	     /* without torus_config */
	const char *more;    /* words: other kinds of events are drawn, too (script.c) */
	bool raise;	     /* OperVLs begin anywhere up to VLCap after power on */
	bool plain;	     /* ports without extended speeds */
	bool avoid;	     /* the engine has a list of what to avoid */
	bool enhanced;	     /* switches have an enhanced port 0, which takes an LMC */
	uint32_t queries_ms; /* between two path queries; 0: none */
	uint32_t tables_ms;  /* ... and between two of all paths from a host */
	bool any_sl;
	bool promises; /* does the engine say what it has proven? */
};

/* ---- unsafe moments, until the log says whether they were proven (log.c) ------- */

struct sim_held {
	enum sim_finding what;
	uint64_t time;
	char text[1024];
};

struct sim_log {
	struct sim_held held[16];
	uint32_t nheld;	 /* may be more than there is room for */
	bool admitted;	 /* packets may be left over from what was not called proven */
	bool lost_marks; /* path SLs that were granted were not known, and may change once more */
};

/* ---- all of it ---------------------------------------------------------------- */

struct sim_judge;
struct sim_script;

struct sim {
	struct sim_options o;
	uint64_t now, hash;
	uint64_t random_net, random_script;
	struct sim_events events;
	struct dl_fabric *fabric;
	struct sim_node *nodes;
	struct sim_port *ports;
	uint32_t nnodes, nports;
	struct sim_msg *spare;
	uint64_t sent, lost, late;
	uint32_t loss, delay, twice; /* of 1000 MADs; all three are for answers and requests */
	struct sim_sm sms[SIM_MOST_SMS];
	uint32_t nsms;
	struct sim_query *queries;
	enum sim_reconnect reconnect; /* who waits for the end of a change to do so */
	uint32_t nqueries, queries_cap;
	uint64_t asked, answered, refused, slowest;
	struct sim_inbox inbox;
	struct sim_transfer *transfers; /* rmpp.c */
	uint32_t ntransfers;
	uint64_t tables_asked, tables, records;
	struct sim_judge *judge;
	struct sim_script *script;
	struct sim_avoid avoid;
	uint32_t grown;	      /* steps of growth that are done */
	bool unplugged;	      /* ... and so is half of the next one */
	uint64_t last_join;   /* when a host joined its group last */
	uint64_t last_tree;   /* when entries of a group changed last */
	uint64_t last_change; /* when the fabric, or what answers in it, changed last */
	uint64_t swapped_at;  /* when cables were exchanged last */
	uint64_t disturbed;   /* when MADs were lost, delayed or not answered last */
	uint64_t found[SIM_FINDINGS];
	struct sim_log log;
	uint64_t last_sweep; /* when it began */
	bool clean;	     /* has the last sweep seen all that there was? */
	uint64_t transitions, unproven;
	uint64_t loops_kept; /* in tables that stay, of an engine that promises nothing */
	uint64_t pairs_said, pairs_seen, pairs_of_adapters; /* interrupted */
	uint64_t compared;				    /* times that both could be known */
	uint64_t settled_at; /* ... and no event has come since; 0: one has */
	uint32_t settled, unsettled, not_joined, desks;
	uint64_t slowest_settling;
	bool switches_granted; /* have SLs been granted to the switches' own ports? */
	uint64_t admitted;     /* unsafe moments of changes that the log does not call proven */
	FILE *out;
	bool over;
};

/* A line of the report, with the virtual time. */
void sim_say(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Something is wrong: counted, and printed. */
void sim_find(struct sim *sim, enum sim_finding what, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The rig itself cannot go on: print why, and exit with status 3. */
void sim_die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void *sim_alloc(size_t n, size_t size);

/* Seconds since the beginning. */
double sim_seconds(const struct sim *sim);

/* ---- nodes.c ------------------------------------------------------------------ */

void sim_nodes_load(struct sim *sim);

/* One that is placed; or NULL. */
struct sim_node *sim_nodes_find(struct sim *sim, const char *name);
void sim_nodes_link(struct sim *sim, uint32_t port, bool up);

/* So many lanes, 1 or 4, from when the cable comes up. */
void sim_nodes_train(struct sim *sim, uint32_t port, unsigned int lanes);
void sim_nodes_power(struct sim *sim, struct sim_node *n, bool up);

/* A cable goes for good, and comes between two ports that have none. */
void sim_nodes_unplug(struct sim *sim, uint32_t port);
void sim_nodes_plug(struct sim *sim, uint32_t a, uint32_t b);

/* Two cables of a switch are plugged in again, each where the other was. */
void sim_nodes_swap(struct sim *sim, uint32_t a, uint32_t b);

/* The link of a port trains again: both ends fall back to Initialize. */
void sim_nodes_bounce(struct sim *sim, uint32_t port);

static inline unsigned int sim_port_state(const struct sim_port *p)
{
	return p->info.state_info1 & 0xF;
}

/* Has it a cable, and is it trained? */
static inline bool sim_is_live(const struct sim_port *p)
{
	return p->peer != DL_NONE && sim_port_state(p) > IB_LINK_DOWN;
}

/* Does it send data that the far end takes? */
static inline bool sim_carries(const struct sim *sim, const struct sim_port *p)
{
	return p->peer != DL_NONE && sim_port_state(p) == IB_LINK_ACTIVE &&
	       sim_port_state(&sim->ports[p->peer]) >= IB_LINK_ARMED;
}

static inline struct sim_port *sim_port_at(const struct sim *sim, const struct sim_node *n,
					   unsigned int num)
{
	return &sim->ports[n->first + num];
}

/* The end port of a node that has LIDs: port 0 of a switch, else `num`. */
static inline struct sim_port *sim_end_port(const struct sim *sim, const struct sim_node *n,
					    unsigned int num)
{
	return sim_port_at(sim, n, n->is_switch ? 0 : num);
}

/*
 * The end port by which a node sends: port 0 of a switch, else the first one with a link,
 * or the first of all.
 */
static inline struct sim_port *sim_own_port(const struct sim *sim, const struct sim_node *n)
{
	for (unsigned int o = 1; !n->is_switch && o <= n->nports; o++)
		if (sim_is_live(sim_port_at(sim, n, o)))
			return sim_port_at(sim, n, o);
	return sim_end_port(sim, n, 1);
}

/* Does an end port own a LID? */
static inline bool sim_owns(const struct sim_port *p, uint16_t lid)
{
	uint16_t base = be16toh(p->info.base_lid);

	return base && lid >= base && lid < base + (1 << (p->info.mkey_lmc & 7));
}

/* The port of a forwarding entry; none behind LinearFDBTop. */
static inline unsigned int sim_lft(const struct sim_node *s, uint32_t lid)
{
	return lid < SIM_LFT_SIZE && lid <= be16toh(s->switch_info.lin_top) ? s->lft[lid] :
									      SIM_NO_PORT;
}

/* ---- agent.c ------------------------------------------------------------------ */

#define SIM_LIES 7

/* Answer in place.  The status, or -1: there is no answer. */
int sim_agent(struct sim *sim, struct sim_node *n, unsigned int at, ib_smp_t *smp);

/* The same of its performance management agent. */
int sim_agent_count(const struct sim *sim, const struct sim_node *n, ib_smp_t *mad);

/*
 * Somebody else sets a node's M_Key, with a protection level and a lease period in
 * seconds; key 0: and gives it up again.
 */
void sim_agent_key(struct sim *sim, struct sim_node *n, uint64_t key, unsigned int level,
		   uint16_t lease);

/* PortInfo.LinkWidthActive of 1 or 4 lanes. */
uint8_t sim_agent_width(unsigned int lanes);

/* What a node holds after power on. */
void sim_agent_reset(struct sim *sim, struct sim_node *n);

/* ---- carry.c ------------------------------------------------------------------ */

struct sim_msg *sim_msg_new(struct sim *sim);
void sim_msg_free(struct sim *sim, struct sim_msg *m);

/* Put a MAD on the wire at a node. */
void sim_transmit(struct sim *sim, struct sim_node *from, struct sim_msg *m);

/* A subnet manager sends one. */
void sim_carry_send(struct sim *sim, struct sim_sm *sm, const struct sim_mad *mad);
void sim_carry_event(struct sim *sim, const struct sim_event *e);
void sim_carry_forget(struct sim *sim, struct sim_sm *sm);

/* A switch's ports have changed: it sends traps until they are repressed. */
void sim_carry_report(struct sim *sim, struct sim_node *n);

/* Trap 256: an SMP has come to a port without its M_Key; at most once a second. */
void sim_carry_report_key(struct sim *sim, struct sim_node *n, unsigned int at,
			  const ib_smp_t *smp);

/* ---- client.c ----------------------------------------------------------------- */

void sim_client_start(struct sim *sim);
void sim_client_join(struct sim *sim, uint32_t port);

/* Have all queries been answered? */
bool sim_client_is_done(const struct sim *sim);

/* Ask for all paths to one of an end port's LIDs again: it was another's. */
void sim_client_ask_again(struct sim *sim, uint32_t port, uint32_t path);

/* Connections are closed, and opened again when the change is over. */
void sim_client_disconnect(struct sim *sim, enum sim_reconnect who);
void sim_client_reconnect(struct sim *sim);

/* A new node: open connections to it, and from it. */
void sim_client_welcome(struct sim *sim, uint32_t node);
void sim_client_event(struct sim *sim, const struct sim_event *e);
void sim_client_answer(struct sim *sim, struct sim_node *n, const struct sim_msg *m);

/* All records of a table have come, of so many bytes each; the last ones in `m`. */
void sim_client_table(struct sim *sim, const struct sim_msg *m, uint32_t size);

/* Queries that stay open for longer than `bound` although all is well since then. */
void sim_client_check(struct sim *sim, uint64_t since, uint64_t bound);

/* ---- rmpp.c ------------------------------------------------------------------- */

struct sim_transfer;

bool sim_rmpp_is_active(const struct sim_msg *m);

/* One more segment of an answer, which begins to be sent with the last one. */
void sim_rmpp_send(struct sim *sim, struct sim_node *n, struct sim_msg *m);
void sim_rmpp_event(struct sim *sim, const struct sim_event *e);

/* A segment or an acknowledgement has come to a node. */
void sim_rmpp_take(struct sim *sim, struct sim_node *n, struct sim_msg *m);

/* ---- process.c ---------------------------------------------------------------- */

void sim_process_start(struct sim *sim, uint32_t sm, uint32_t node);
void sim_process_kill(struct sim *sim, uint32_t sm);
void sim_process_deliver(struct sim *sim, uint32_t sm, struct sim_msg *m, int agent);

/* Another torus_config for all, by a name in the run's directory. */
void sim_process_configure(struct sim *sim, const char *name);

/* Let everything happen until sim->over. */
void sim_process_run(struct sim *sim);
void sim_process_end(struct sim *sim);

/* ---- script.c, apply.c -------------------------------------------------------- */

enum sim_step_kind {
	SIM_STEP_CUT,
	SIM_STEP_MEND,
	SIM_STEP_FLAP,
	SIM_STEP_KILL,
	SIM_STEP_REVIVE,
	SIM_STEP_MUTE,
	SIM_STEP_SICK,
	SIM_STEP_HEAR,
	SIM_STEP_SWAP,
	SIM_STEP_LIE,
	SIM_STEP_KEY,
	SIM_STEP_AVOID,
	SIM_STEP_UNAVOID,
	SIM_STEP_GROW,
	SIM_STEP_TRAIN,
	SIM_STEP_LOSS,
	SIM_STEP_SWEEP,
	SIM_STEP_STOP,
	SIM_STEP_START,
	SIM_STEP_DIE,
	SIM_STEP_PAUSE,
	SIM_STEP_RESUME,
	SIM_STEP_STARVE,
	SIM_STEP_DENY,
	SIM_STEP_MEASURE,
	SIM_STEP_WAIT,
	SIM_STEP_SETTLE,
	SIM_STEP_KINDS
};

struct sim_step {
	uint32_t after_ms; /* the step before */
	enum sim_step_kind kind;
	char node[64];
	uint32_t arg[3];
};

struct sim_script {
	struct sim_step *steps;
	uint32_t n, cap, next;
	bool random;	   /* draw more, until there are `events` */
	uint32_t since;	   /* settled last */
	uint64_t settling; /* since when; 0: not */
	uint32_t drawn;
	bool begun, asking; /* has a sweep ended; are SLs asked for? */
	uint64_t granted;   /* since when; 0: not yet */
	bool pending, over; /* is `step` waiting for its moment; is none left? */
	struct sim_step step;
};

/* Has it an event of a kind? */
bool sim_script_has(const struct sim_script *s, enum sim_step_kind kind);

/* Read a script.  It ends the program where it is damaged. */
void sim_script_read(struct sim_script *s, const char *path);
void sim_script_add(struct sim_script *s, const struct sim_step *step);
void sim_script_write(const struct sim_script *s, FILE *to);
void sim_script_print(const struct sim_step *step, FILE *to);

/* One at random, for the fabric as it is now. */
struct sim_step sim_script_draw(struct sim *sim);

/* Where it happens, and how. */
void sim_script_draw_args(struct sim *sim, struct sim_step *step);

/* The first sweep is over: begin. */
void sim_script_begin(struct sim *sim);
void sim_script_event(struct sim *sim);

/* Returns false where there is nothing to do: such a step counts for nothing. */
bool sim_apply(struct sim *sim, const struct sim_step *step);

/* ---- avoid.c -------------------------------------------------------------------- */

/* The file that the engine reads. */
void sim_avoid_write(const struct sim *sim);

/* One more entry, or one less; false: it is there already, or is not. */
bool sim_avoid_add(struct sim *sim, uint32_t port);
bool sim_avoid_remove(struct sim *sim, uint32_t port);

/* Something else has happened: the tables need not become those from before. */
void sim_avoid_forget(struct sim *sim);

/* A link is down: what the log said of its cable is over. */
void sim_avoid_unplugged(struct sim *sim, uint32_t port);

/* A line of the engine's log.  `excused`: nobody could know what the switches hold. */
void sim_avoid_line(struct sim *sim, const char *line, bool excused);

/* All is as it is to stay. */
void sim_avoid_settled(struct sim *sim);

/* ---- grow.c ---------------------------------------------------------------------- */

/* Plan the steps; returns the name of the netlist with all nodes. */
char *sim_grow_plan(const struct sim_options *o);

/* Only what there is at the beginning is cabled. */
void sim_grow_begin(struct sim *sim);

/* The next half step; false: there is none. */
bool sim_grow(struct sim *sim);

/* ---- judge_avoid.c --------------------------------------------------------------- */

/*
 * Does anything lead across a cable, or through the switch whose port 0 is given?  It is
 * described in `what`.  `behind`: packets that came that way may be under way, too.
 */
bool sim_judge_crossed(struct sim *sim, uint32_t port, bool behind, char *what, size_t size);

/* A write leads packets to a LID to a link between switches. */
void sim_judge_led(struct sim *sim, uint32_t lid, uint32_t link);

/* Would all switches that are on be reached without anything of the list? */
bool sim_judge_can_avoid(const struct sim *sim);
void sim_judge_sum(const struct sim *sim, struct sim_sum *sum);

/* ---- judge.c ------------------------------------------------------------------ */

struct sim_judge *sim_judge_new(struct sim *sim);

/* Forwarding entries [first, end) of a switch are other ones now. */
void sim_judge_lft(struct sim *sim, struct sim_node *n, uint32_t first, uint32_t end);

/*
 * The map between two ports of a switch is; or, without `before` and for SIM_NO_PORT,
 * OperVLs of the one that goes out.
 */
void sim_judge_map(struct sim *sim, struct sim_node *n, unsigned int in, unsigned int out,
		   const uint8_t *before, unsigned int vls_code);

/* The state of a port, or the LIDs of an end port, are.  `by_write`: by an SMP. */
void sim_judge_port(struct sim *sim, uint32_t port, bool by_write);

/* The port masks of 32 groups are; they were `before`. */
void sim_judge_mft(struct sim *sim, struct sim_node *n, uint32_t first, const uint16_t *before);

/* All is as after power on. */
void sim_judge_node(struct sim *sim, struct sim_node *n);

/*
 * Packets from an end port to another may carry these SLs, if they are sent to its base
 * LID plus `path`.
 */
void sim_judge_grant(struct sim *sim, uint32_t from, uint32_t to, uint32_t path, uint16_t sls);

/* A connection is closed: its packets are on their way still, but no more come. */
void sim_judge_revoke(struct sim *sim, uint32_t from, uint32_t to);
uint16_t sim_judge_granted(const struct sim *sim, uint32_t from, uint32_t to, uint32_t path);

/* Whose LID is it (DL_NONE: nobody's, or of several), and the how manieth of its LIDs? */
uint32_t sim_judge_owner(const struct sim *sim, uint16_t lid, uint32_t *path);

/* Has another node the LID of one of its ports, too? */
bool sim_judge_shares_lid(const struct sim *sim, const struct sim_node *n);

/* How many LIDs an end port has: 2 to the power of its LMC. */
uint32_t sim_judge_paths(const struct sim *sim, uint32_t to);

/* Pairs of end ports that a path connects, and those of them that do not work. */
uint64_t sim_judge_unreached(struct sim *sim, uint64_t *pairs, char *example, size_t size);

/* Has an end port a physical path to a running subnet manager? */
bool sim_judge_connected(const struct sim *sim, uint32_t port);

/* The same of the switches' own ports: a transition begins to be counted. */
void sim_judge_mark(struct sim *sim);
uint64_t sim_judge_interrupted(struct sim *sim, uint64_t *adapters);

/* What packets that met entries which are gone make PortXmitWait of a switch's port. */
uint32_t sim_judge_xmit_wait(const struct sim *sim, uint32_t port);

/* All that the switches hold is said to be safe. */
void sim_judge_trust(struct sim *sim);

bool sim_judge_has_leftovers(const struct sim *sim);

/* Compare with the full verifier. */
void sim_judge_verify(struct sim *sim, bool must_deliver);

/* ---- log.c -------------------------------------------------------------------- */

void sim_log_line(struct sim *sim, struct sim_sm *sm, const char *line);

/* Do several write tables, each as the master, or does one take a node for another? */
bool sim_log_is_confused(const struct sim *sim);

/* ... or does the log admit that what is written, or has been left over, is not proven? */
bool sim_log_is_doubtful(struct sim *sim);

/* Unsafe moments are held back until the log says whether the change is proven. */
void sim_log_unsafe(struct sim *sim, enum sim_finding what, const char *text);
void sim_log_flush(struct sim *sim, bool proven);

#endif
