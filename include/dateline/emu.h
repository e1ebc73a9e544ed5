/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The emulator: traffic over a fabric, as the tables make it run.
 *
 * It sees a fabric, tables and a source of messages, and nothing else; what
 * a torus is, it does not know.  Times are picoseconds since the start.
 * The same tables, configuration and messages give the same results, bit for
 * bit, on every machine.
 *
 *	dl_emu_config_init(&c);
 *	dl_emu_new(tables, &c, &source, log, &emu);
 *	dl_emu_run(emu, warm_up);
 *	dl_emu_reset_stats(emu);
 *	for (t = ...; ...; t += step)		progress, time series, faults
 *		if (dl_emu_run(emu, t) != DL_EMU_RUNNING)
 *			break;
 *	dl_emu_totals(emu); dl_emu_level(emu, 0); dl_emu_port(emu, p); ...
 *	dl_emu_free(emu);
 *
 * emu_traffic.h has patterns of traffic, emu_scenario.h programs, scenarios and sweeps; both
 * come with this one.  The essays are in engine.c (the model of switch, link and adapter, and its
 * closed forms), deadlock.c (when a deadlock is certain) and histogram.c.
 */
#ifndef DATELINE_EMU_H
#define DATELINE_EMU_H

#include "histogram.h"
#include "link.h"
#include "verify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- an adapter's SL arbitration -------------------------------------------- */

/*
 * The table by which a channel adapter chooses the SL that makes the next
 * packet, and a switch port the SL that leaves next (rules part D).
 */

#define DL_EMU_SLS 16
#define DL_EMU_SL_ENTRIES_MAX 4096
#define DL_EMU_TENURE_DEFAULT UINT32_MAX

struct dl_emu_sl_entry {
	uint8_t sl;	 /* 0..15 */
	uint32_t weight; /* bytes in a turn; 0: the entry is passed over */
};

struct dl_emu_sl_table {
	struct dl_emu_sl_entry entry[DL_EMU_SL_ENTRIES_MAX];
	uint16_t n; /* 64 is usual */
};

/* ---- the emulation ---------------------------------------------------------- */

#define DL_EMU_LEVELS 2
#define DL_EMU_MANAGEMENT DL_EMU_LEVELS /* dl_emu_level(): packets of VL 15 */
#define DL_EMU_NEVER UINT64_MAX
#define DL_EMU_BUFFER_MAX 32767 /* blocks */
#define DL_EMU_VLS 16		/* data VLs 0..14 and VL 15 */

/* Headers of a packet as on the wire, in bytes. */
#define DL_EMU_HEADERS 26	/* LRH 8, BTH 12, ICRC 4, VCRC 2 */
#define DL_EMU_MCAST_HEADERS 74 /* those, GRH 40 and DETH 8 */
#define DL_EMU_SMP_DATA 256	/* a MAD */
#define DL_EMU_SMP_BYTES 290	/* that, LRH, BTH, DETH, ICRC, VCRC */

enum dl_emu_switching { DL_EMU_STORE_AND_FORWARD, DL_EMU_CUT_THROUGH, DL_EMU_WORMHOLE };

/* How packets stand in the buffers of switches: first in, first out; or by output. */
enum dl_emu_queues { DL_EMU_FIFO, DL_EMU_VOQ };

/*
 * Congestion control as in annex A10 of the IBA.  A switch marks packets (FECN)
 * that leave through an output of which more wait than a threshold, unless its
 * link was idle before for lack of credit: then the congestion is elsewhere.  Their
 * destination tells the source (BECN), whose queue pair then waits after each
 * packet for so many times its length as its entry of the table says.
 */
#define DL_EMU_CCT_MAX 128

struct dl_emu_congestion {
	uint32_t threshold;    /* 1: nearly a buffer, to 15: a sixteenth of one; 0: all is off */
	uint32_t marking_rate; /* packets that pass between two marks */
	bool victims;	       /* mark also where credit was lacking */
	uint32_t increase;     /* of a queue pair's index, by each BECN */
	uint32_t limit;	       /* of the index; below DL_EMU_CCT_MAX */
	uint64_t timer_ps;     /* after which every index is one less */
	uint64_t becn_ps;      /* from the arrival of the marked packet to its source */
	uint32_t table[DL_EMU_CCT_MAX]; /* millionths of the packet's time on the link */
};

/* Reliable connections: see reliable.c. */
struct dl_emu_retries {
	uint64_t timeout_ps;  /* from when one was asked for; 0: there are no connections */
	uint32_t count;	      /* of times in a row that a connection goes back before it breaks */
	uint32_t ack_packets; /* every so many are acknowledged, besides the last of a message */
};

struct dl_emu_config {
	struct dl_emu_retries retries;	     /* not with wormhole switching */
	struct dl_emu_congestion congestion; /* not with wormhole switching */
	uint64_t seed;			     /* losses, undefined arbitration tables */
	enum dl_emu_switching switching;
	enum dl_emu_queues queues; /* VOQ: not with wormhole switching */
	enum dl_link_credit_scheme flow_control;
	uint32_t mtu;  /* bytes of data: 256 to 4096 */
	uint32_t flit; /* wormhole: bytes, a multiple of 64 */
	/*
	 * Buffer of one VL at an input port: blocks of 64 bytes (IBA; of those
	 * that are free at most 2048 are promised), or packets (PCIe; flits when
	 * wormhole).
	 */
	uint32_t buffer;
	uint32_t chunk; /* blocks of the buffer that are handed out together; PCIe: 1 */
	/*
	 * New credit for which a receiver sends a flow-control packet; 0: that of
	 * one packet of the MTU, in wormhole switching at most a quarter of the
	 * buffer.  It also sends one when its sender may lack credit for a packet.
	 */
	uint32_t credit;
	uint32_t smp_buffer;	    /* packets of VL 15; 1 or more */
	uint64_t switch_latency_ps; /* header in to header out */
	/*
	 * From room that is free to credit that the sender can use, beside the
	 * flow-control packet's own time; 0: at once.
	 */
	uint64_t credit_latency_ps;
	/*
	 * From the end of a message, delivered or lost, until its source knows
	 * and, in a closed loop, sends the next one; 0: at once.
	 */
	uint64_t ack_latency_ps;
	uint64_t message_overhead_ps; /* of a program: the CPU's time for each end of a message */
	uint32_t eager; /* ... sends of at most so many bytes are done with their first packet */
	/* Cable lengths by port index (either end), or one for all. */
	const uint32_t *cable_mm; /* NULL: cable_mm_all */
	uint32_t cable_mm_all;
	/*
	 * Packets that one input port can pass to outputs at a time; 0: one from
	 * each queue, that is one from each VL or, with VOQ, one to each output.
	 */
	uint32_t speedup;
	struct dl_link_arb_options arbitration; /* nvls and caps: by the port */
	/*
	 * Ports whose arbitration the tables do not hold: true: power-up
	 * contents (drawn from the seed, with a warning); false: all VLs in
	 * the low table with the same weight.
	 */
	bool undefined_arbitration;
	/* Channel adapters. */
	const struct dl_emu_sl_table *sl_table;	       /* NULL: plain round robin */
	const struct dl_emu_sl_table *switch_sl_table; /* of switch ports; NULL: none */
	/*
	 * Bytes of a queue pair's turn; 0: one packet.  DL_EMU_TENURE_DEFAULT: 4096 with an
	 * SL table; else one message of a program whose packets are not acknowledged, and one
	 * packet of others.
	 */
	uint32_t tenure;
	uint64_t qp_change_ps; /* cost of changing queue pair */
	/* How long the head of a queue may wait; 0: for ever. */
	uint64_t hoq_life_ps;
	/* ... and a packet may stay in a switch, from its last bit on (SwitchInfo:LifeTimeValue). */
	uint64_t lifetime_ps;
	uint64_t check_ps; /* sim time between looks for deadlock; 0: never */
	bool pairs;	   /* keep statistics of pairs */
	/*
	 * Threads that share the work (1); 0: as many as the process has cores
	 * and pay on such a fabric.  The results are the same.  Closed loops
	 * have one if `ack_latency_ps` is below 4096: a delivery asks for the
	 * next message then at once, wherever its source is.
	 */
	uint32_t threads;
};

/* SDR to NDR, cut-through, IBA credits, MTU 2048, 8 packets of buffer, ... */
void dl_emu_config_init(struct dl_emu_config *c);

/* ---- traffic ----------------------------------------------------------- */

struct dl_emu;
struct dl_emu_program;

struct dl_emu_message {
	uint64_t at;	 /* when it arrives at the adapter */
	uint32_t bytes;	 /* of data; 0: one packet of headers */
	uint16_t dlid;	 /* unicast or multicast LID */
	uint8_t level;	 /* QoS level: adds bit 3 to the path SL */
	uint8_t sl;	 /* DL_TABLES_NO_SL: the path SL of the tables */
	bool smp;	 /* one management packet on VL 15 */
	uint32_t number; /* of a program's: for source.arrived() */
};

/* A packet that has arrived, or (dropped) never will. */
struct dl_emu_delivery {
	uint64_t created;  /* its message's `at` */
	uint64_t injected; /* first bit on the adapter's link */
	uint64_t at;	   /* last bit received */
	uint32_t flow;
	uint32_t dst;	/* port index */
	uint32_t bytes; /* of data */
	uint16_t dlid;
	uint8_t level;
	uint8_t sl;
	bool last; /* of its message */
};

/* Why a packet did not arrive. */
enum dl_emu_drop {
	DL_EMU_DROP_NO_ENTRY,  /* no forwarding entry, or an empty group */
	DL_EMU_DROP_DEAD_LINK, /* the link is down, or there is no cable */
	DL_EMU_DROP_HOQ_LIFE,  /* waited too long at the head of a queue */
	DL_EMU_DROP_LIFETIME,  /* was in one switch for too long */
	DL_EMU_DROP_CORRUPT,   /* damaged on the wire */
	DL_EMU_DROP_SMP_FULL,  /* VL 15 has no credits */
	DL_EMU_DROP_NO_VL,     /* the SL maps to no VL of the output */
	DL_EMU_DROP_UNLISTED,  /* in no arbitration table, and `drop` is set */
	DL_EMU_DROP_WRONG_END, /* handed to an end port it is not for */
	DL_EMU_DROP_SEQUENCE,  /* discarded by its receiver, which expects another packet */
	DL_EMU_DROPS
};

/* What happens to a packet; in the order in which it may happen at one time. */
enum dl_emu_step_kind {
	DL_EMU_STEP_MADE,    /* by its adapter */
	DL_EMU_STEP_ARRIVED, /* its header at a switch, all of it at an adapter */
	DL_EMU_STEP_SENT,    /* its first bit leaves a port */
	DL_EMU_STEP_TAIL,    /* wormhole switching: its last flit leaves a port */
	DL_EMU_STEP_DELIVERED,
	DL_EMU_STEP_DROPPED,
	DL_EMU_STEP_CREDIT, /* of no packet: a port sends credit to its peer */
	DL_EMU_STEP_KINDS
};

/* Of a worm, the head's; but TAIL and its end are those of its last flit. */
struct dl_emu_step {
	uint64_t at;
	uint64_t waited;      /* MADE: since its message came; SENT: since it was first, or ready */
	uint32_t packet;      /* from 1, as they were made; copies have their packet's; 0: none */
	uint32_t flow;	      /* the packet's */
	uint32_t port;	      /* port index: where it happens */
	uint32_t credit;      /* units. SENT: left to send; ARRIVED, CREDIT: free in the buffer */
	uint16_t dlid, bytes; /* the packet's, with headers */
	uint8_t kind, vl, sl; /* enum dl_emu_step_kind */
	enum dl_emu_drop cause; /* DROPPED */
};

/*
 * Who sends what.  Each flow is a queue pair of one adapter port and sends
 * its messages one after the other.  In an open loop (window 0) messages come
 * at rising times; those that the adapter cannot send yet wait.  In a closed
 * loop the engine asks for `window` messages at the start, and for one more
 * whenever one has been delivered (or lost) and it knows of that; a multicast
 * message counts as delivered when it has left the adapter, which it knows at
 * once.
 */
struct dl_emu_source {
	void *context;
	uint32_t nflows;
	const uint32_t *port;	/* by flow: adapter port index */
	const uint32_t *window; /* by flow; NULL: open loops */
	/*
	 * A message.  Wormhole switching has no multicast: dl_emu_run() returns
	 * -EINVAL.  False: nothing more, ever.  An open loop ignores `now`.  Threads of
	 * the emulation call it at a time, but not for the same flow.
	 */
	bool (*next)(void *context, uint32_t flow, uint64_t now, struct dl_emu_message *out);
	/*
	 * Every packet delivered, in order of time; with several threads, by the
	 * end of dl_emu_run().  May be NULL.
	 */
	void (*delivered)(void *context, const struct dl_emu_delivery *d);
	/* Every step of every packet, in order of time; there is one thread then.  May be NULL. */
	void (*step)(void *context, const struct dl_emu_step *s);
	/*
	 * A program, or NULL.  Its flows, from `first` on, may have no message for a
	 * while.  What is wrong is left in the emulation.  Called by the thread that
	 * emulates the adapter concerned:
	 */
	struct dl_emu_program *program;
	uint32_t first;
	void (*begin)(struct dl_emu_program *p, struct dl_emu *emu); /* once, at the start */
	/* The time of an event of the program has come. */
	void (*due)(struct dl_emu_program *p, struct dl_emu *emu, uint64_t what);
	/* The first packet of a flow's message is before the link; or again, after a loss. */
	void (*leaves)(struct dl_emu_program *p, struct dl_emu *emu, uint32_t flow);
	/* The last bit of a flow's oldest message has left. */
	void (*sent)(struct dl_emu_program *p, struct dl_emu *emu, uint32_t flow);
	/* Bytes of a message with this number have come to a port. */
	void (*arrived)(struct dl_emu_program *p, struct dl_emu *emu, uint32_t flow, uint32_t port,
			uint32_t number, uint32_t bytes);
};

/* ---- running ----------------------------------------------------------- */

/*
 * Set up a run.  Everything given is borrowed, except the configuration
 * itself.  Returns 0; -EINVAL (reported: what the configuration or the tables
 * lack), -E2BIG (too many pairs for statistics), -ENOMEM.
 */
int dl_emu_new(const struct dl_tables *t, const struct dl_emu_config *c,
	       const struct dl_emu_source *source, const struct dl_log *log, struct dl_emu **out);
void dl_emu_free(struct dl_emu *emu);

enum dl_emu_state {
	DL_EMU_RUNNING, /* the time asked for is reached */
	DL_EMU_DONE,	/* nothing is left to happen, all is delivered */
	DL_EMU_STUCK,	/* nothing can move the packets in flight */
	DL_EMU_DEADLOCK
};

/*
 * Run until this time, all events at it included.  Returns enum dl_emu_state;
 * -EOVERFLOW when 2^22 packets are in flight; -EPROTO when a law of
 * conservation was broken (an error in the engine: reported).
 */
int dl_emu_run(struct dl_emu *emu, uint64_t until);

uint64_t dl_emu_now(const struct dl_emu *emu);

/*
 * New tables from now on, such as another snapshot of the same fabric: nodes
 * are matched by GUID, LIDs are taken to mean the same.  Switches that it
 * lacks keep what they have.  Borrowed.  Returns 0, -EINVAL (reported),
 * -ENOMEM.
 */
int dl_emu_swap_tables(struct dl_emu *emu, const struct dl_tables *t);

enum dl_emu_fault_kind {
	DL_EMU_LINK_DOWN, /* the cable at `port`, both directions */
	DL_EMU_LINK_UP,
	DL_EMU_FCP_LOSS,     /* `rate` of flow-control packets sent by `port` */
	DL_EMU_FCP_CORRUPT,  /* the same, found by their check sum */
	DL_EMU_DATA_CORRUPT, /* `rate` of data packets sent by `port` */
	DL_EMU_DRAIN_STOP,   /* the adapter port stops taking packets */
	DL_EMU_DRAIN_START,
	DL_EMU_DRAIN_RATE /* it takes `rate` millionths of its link rate */
};

struct dl_emu_fault {
	enum dl_emu_fault_kind kind;
	uint32_t port; /* port index */
	uint32_t rate; /* millionths */
};

/* Something happens now.  Returns 0 or -EINVAL (reported). */
int dl_emu_fault(struct dl_emu *emu, const struct dl_emu_fault *fault);

/* ---- results ----------------------------------------------------------- */

/*
 * Packets, counted as copies once multicast has split them: a packet that a
 * switch copies to n outputs is one delivered or dropped packet for each.
 */
struct dl_emu_totals {
	uint64_t injected; /* made by adapters, plus copies made */
	uint64_t delivered;
	uint64_t dropped; /* sum of drops[] */
	uint64_t drops[DL_EMU_DROPS];
	uint64_t delivered_bytes; /* of data, without headers */
	uint64_t messages;	  /* taken from the source */
	uint64_t packet_hops;	  /* packets put on a link */
	uint64_t events;
	uint64_t fcps; /* flow-control packets sent */
	uint64_t fcps_lost;
	uint64_t marked;     /* FECN, by switches */
	uint64_t acks, naks; /* acknowledgements made; those of them that ask for a packet */
	uint64_t resent;     /* packets that connections went back */
	uint64_t timeouts;
	uint64_t broken, lost_messages; /* connections; messages of them */
	uint64_t fcps_initialise;	/* of those sent: with Op 1, when a link comes up */
	uint64_t latency_sum;		/* of deliveries */
	/* Up to here they are counts, which add up. */
	uint64_t in_flight;	/* injected - delivered - dropped */
	uint64_t last_delivery; /* when; stays when counts are reset */
	uint64_t since;		/* when these counts began */
};

/* Packets of a kind that were delivered. */
struct dl_emu_delivered {
	uint64_t packets, bytes; /* bytes of data */
	uint64_t latency_sum, latency_max;
};

struct dl_emu_level {
	uint64_t packets, bytes; /* delivered; bytes of data */
	struct dl_emu_delivered sl[DL_EMU_SLS];
	struct dl_emu_histogram latency; /* from the message's arrival, ps */
	struct dl_emu_histogram network; /* from the first bit sent, ps */
	struct dl_emu_histogram message; /* whole messages of a program, ps */
};

struct dl_emu_port {
	uint64_t packets; /* data and VL 15 sent */
	uint64_t bytes;	  /* of these, with headers */
	uint64_t busy_ps; /* link time of these */
	uint64_t fcps;
	uint64_t wait_ps;   /* had data to send, and could not */
	uint64_t queued_ps; /* that packets have waited to be sent, in all */
	/* Dropped: see enum dl_emu_drop, and IBA 16.1.3.5. */
	uint32_t xmit_discards; /* at the output: dead, too late, unlisted */
	uint32_t rcv_errors;	/* at the input: damaged */
	uint32_t relay_errors;	/* at the input: no entry, no VL */
	uint32_t vl15_dropped;	/* at the input */
};

struct dl_emu_vl {
	uint64_t packets, bytes; /* sent, with headers */
};

/* A VL that could send, and that the arbiter does not serve. */
struct dl_emu_starved {
	uint32_t port;
	uint8_t vl;
	bool unlisted; /* no table names it */
	uint64_t since;
};

/* What packets wait for at an output that will not send them by itself. */
enum dl_emu_wait_kind {
	DL_EMU_WAIT_NOTHING,	  /* (is not reported) */
	DL_EMU_WAIT_FLOW_CONTROL, /* all flow-control packets of its peer are lost */
	DL_EMU_WAIT_LINK,	  /* the link is down */
	DL_EMU_WAIT_ADAPTER	  /* the adapter at the other end takes nothing in */
};

struct dl_emu_wait {
	enum dl_emu_wait_kind kind;
	uint32_t port; /* that would send */
	uint8_t vl;
	uint64_t since; /* of the first packet, which */
	uint32_t src;	/* this port sent */
	uint16_t dlid;	/* to this LID */
};

/* Good until the next call that changes the emulation. */
const struct dl_emu_totals *dl_emu_totals(struct dl_emu *emu);
const struct dl_emu_level *dl_emu_level(const struct dl_emu *emu, unsigned int level);
const struct dl_emu_port *dl_emu_port(struct dl_emu *emu, uint32_t port);
/* VL 0..15 of a port as sender; zeroes for one that it lacks. */
struct dl_emu_vl dl_emu_vl(const struct dl_emu *emu, uint32_t port, unsigned int vl);
/* NULL: none were kept.  Both are end ports. */
const struct dl_emu_delivered *dl_emu_pair(const struct dl_emu *emu, uint32_t src, uint32_t dst);

/* The deadlock's shortest cycle; without steps when there is no deadlock. */
const struct dl_cycle *dl_emu_cycle(const struct dl_emu *emu);

/* SLs with messages that no entry of the adapters' SL table serves: a mask. */
unsigned int dl_emu_unserved_sls(const struct dl_emu *emu);

/* VLs that starve now; at most `max` are written.  Returns how many do. */
uint32_t dl_emu_starved(const struct dl_emu *emu, struct dl_emu_starved *out, uint32_t max);

/* Outputs with packets for which these reasons hold now, the rest as above. */
uint32_t dl_emu_waits(const struct dl_emu *emu, struct dl_emu_wait *out, uint32_t max);

/*
 * Forget what was counted and measured (warm-up).  What is in flight counts
 * as injected from now on.
 */
void dl_emu_reset_stats(struct dl_emu *emu);

/* ---- link rates -------------------------------------------------------- */

/*
 * A link's data rate after 8b/10b (SDR, DDR, QDR) or 64b/66b coding, as the
 * time of a byte: num / den picoseconds, exactly.
 */
struct dl_emu_rate {
	uint32_t num, den;
};

/* The time of so many bytes, rounded up to a picosecond. */
static inline uint64_t dl_emu_rate_time(struct dl_emu_rate r, uint64_t bytes)
{
	bytes *= r.num;
	return r.den == 1 ? bytes : (bytes + r.den - 1) / r.den;
}

/* Bytes a second, rounded down. */
static inline uint64_t dl_emu_rate_bytes(struct dl_emu_rate r)
{
	return UINT64_C(1000000000000) * r.den / r.num;
}

/* What the fabric does not say: a port's speed, width, and data VLs. */
#define DL_EMU_DEFAULT_SPEED DL_FABRIC_QDR
#define DL_EMU_DEFAULT_WIDTH 4
#define DL_EMU_DEFAULT_VLS 8

/* The rate of a port's link: the slower of both ends.  0, or -EINVAL: there is none such. */
int dl_emu_link_rate(const struct dl_fabric *f, uint32_t port, struct dl_emu_rate *out);

/* What the cable at a port adds to a bit's time, in ps. */
uint64_t dl_emu_cable_delay(const struct dl_fabric *f, const struct dl_emu_config *c,
			    uint32_t port);

#ifdef __cplusplus
}
#endif

#include "emu_scenario.h"
#endif
