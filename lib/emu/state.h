/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The state of a running emulation; see engine.c for the model.
 *
 * Ports.  Those with a cable, adapters' ports and switches' ports 0 are
 * numbered without gaps, in the fabric's order: most switches have many unused
 * ports.  `port` is such a number; own_port[] and fabric_port[]
 * lead from the fabric's port indices to it and back.
 *
 * Channels.  Each port has one for each of the 16 VLs, twice: as sender and
 * as receiver, both in one cache line of the port.  What port p sends on VL v
 * comes to VL v of its peer.
 */
#ifndef DL_EMU_STATE_H
#define DL_EMU_STATE_H

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "dateline/emu.h"
#include "emu/events.h"
#include "emu/slarb.h"
#include "dateline/link.h"
#include "dateline/base.h"

#define DL_EMU_NIL UINT32_MAX
#define DL_EMU_ROUTE_BYTES 8 /* of the header: what a switch needs (LRH) */

/* ---- events ------------------------------------------------------------ */

/* In the order in which they happen when their time is the same. */
enum dl_emu_event_kind {
	DL_EMU_EV_TAIL,		/* a port has sent the last bit of a packet */
	DL_EMU_EV_CREDIT,	/* a flow-control packet has arrived */
	DL_EMU_EV_ARRIVE,	/* a packet can be looked at by a switch */
	DL_EMU_EV_TAKE,		/* a packet has come to an adapter */
	DL_EMU_EV_READY,	/* the head of a queue may be passed on */
	DL_EMU_EV_WAKE,		/* a link is free again */
	DL_EMU_EV_MESSAGE,	/* a flow's next message is due */
	DL_EMU_EV_DUE,		/* of a program: source.due() */
	DL_EMU_EV_QP_SWITCHED,	/* an adapter has changed queue pair */
	DL_EMU_EV_RECEIVE_DONE, /* an adapter has taken a packet in */
	DL_EMU_EV_HOQ,		/* the head of a queue has waited too long */
	DL_EMU_EV_DEADLINE	/* flow-control packets are due */
};

/*
 * The logs (events.h).  Arrivals at switches are looked at together when their
 * bucket is opened.  A link is free again so soon, and they come so nearly in order, that
 * nothing else should be in the way of these events.
 */
enum dl_emu_log { DL_EMU_LOG_TAIL, DL_EMU_LOG_ARRIVE, DL_EMU_LOG_WAKE, DL_EMU_LOG_OTHER };

/*
 * Whom an event concerns, below its kind; fewer ports take fewer bits, which
 * leaves more for the time.
 *
 *	              45            22 21           0
 *	ARRIVE, TAKE | input channel | packet       |
 *	READY, HOQ   | input channel | output       |
 *	CREDIT       | channel       | record       |
 *	TAIL         | port    | input channel      |
 *	WAKE,        | channel of VL 0              |
 *	DEADLINE
 *	MESSAGE      | what (32-35) | flow          |
 *	QP_SWITCHED, RECEIVE_DONE: adapter
 *	DUE: as the source likes
 *
 * A channel is port * 16 + VL.  The input channel that a packet has left, in
 * the event of its tail, takes the bits of the VL, too.  For example, packet 5
 * on its way to port 3, VL 2, that is to channel 0x32, arrives with 0x32 << 22
 * | 5.
 * What a flow-control packet carries stands in the record of a packet.  An
 * output is the number of a switch's port and a VL, for it must not matter
 * which records packets have; READY without one is about the buffer's head.
 */
#define DL_EMU_EV_CHANNEL 22
#define DL_EMU_EV_PACKET ((1u << DL_EMU_EV_CHANNEL) - 1)
#define DL_EMU_EV_INPUT (DL_EMU_PORTS_MAX * DL_EMU_VLS - 1) /* of a tail */
#define DL_EMU_EV_COPY (1u << 12)			    /* an output */
#define DL_EMU_EV_ENDED (UINT64_C(1) << 32)		    /* of MESSAGE: a message has ended, */
#define DL_EMU_EV_BECN (UINT64_C(1) << 33)		    /* a packet of the flow was marked, */
#define DL_EMU_EV_PACED (UINT64_C(1) << 34)		    /* it has waited long enough */
#define DL_EMU_EV_TIMEOUT (UINT64_C(1) << 35)		    /* of an acknowledgement */
#define DL_EMU_PORTS_MAX (1u << 20)
#define DL_EMU_LARGE 6000 /* ports, of some 400 bytes in use: a second-level cache is full */
#define DL_EMU_BUCKET_BITS_LEAST 14 /* 60 less those of a channel and a packet */

enum {
	DL_EMU_PK_HEAD = 1,
	DL_EMU_PK_TAIL = 2, /* of the packet; both, unless flits */
	DL_EMU_PK_LAST = 4, /* of the message */
	DL_EMU_PK_MCAST = 8,
	DL_EMU_PK_LEVEL = 16,
	DL_EMU_PK_LOST = 32,	/* damaged on the wire; or what is left of it */
	DL_EMU_PK_WAITING = 64, /* in the queue of an output */
	DL_EMU_PK_COPY = 128	/* of the packet at the head of a buffer */
};

/*
 * A packet or, in wormhole switching, a flit of one.  Half a cache line; what
 * only its ends ask for is in another place, `struct dl_emu_origin`.
 *
 *	 0 since            8 next  wait_next
 *	16 in     out      24 dlid bytes sl flags units epoch
 *
 * For example, the last packet of a message of 5000 bytes to LID 7 at an MTU
 * of 2048, while it waits in port 3, VL 2, for port 6, VL 4: bytes 930, units
 * 15, in 0x32, out 0x64, flags HEAD | TAIL | LAST | WAITING.  It stands in
 * two lists then: `next` leads on in the buffer, `wait_next` in the queue of
 * the output.
 */
struct dl_emu_pkt {
	uint64_t since;	    /* tail received; later: waiting since */
	uint32_t next;	    /* in its buffer */
	uint32_t wait_next; /* in the queue of an output */
	uint32_t in;	    /* channel where it stands, or is going to */
	uint32_t out;	    /* that it waits for, or will: see dl_emu_look_ahead() */
	uint16_t dlid;
	uint16_t bytes; /* on the wire; 0: the end of a cut worm */
	uint8_t sl;
	uint8_t flags;
	uint8_t units; /* of credit */
	uint8_t epoch; /* of the link that it was sent over */
};

struct dl_emu_origin {
	uint64_t created, injected;
	uint32_t flow;
	uint32_t parent; /* of a copy: the packet in the buffer */
	uint16_t data;
	uint8_t copies; /* that still have to leave */
	bool marked;	/* FECN */
	uint32_t early; /* copies that wait for their own bits; of unicast: message.number */
};

/* A packet of a reliable connection (reliable.c). */
enum dl_emu_rc_kind { DL_EMU_RC_NONE, DL_EMU_RC_DATA, DL_EMU_RC_ACK, DL_EMU_RC_NAK };

struct dl_emu_sequence {
	uint32_t psn;
	uint32_t flow; /* of the connection, whichever way the packet goes */
	uint16_t dlid; /* of its data */
	uint8_t kind;
	uint8_t sl; /* that its messages ask for, or DL_TABLES_NO_SL */
};

/*
 * A channel: its registers are those of dateline/link.h, on VL 15 but the free
 * places.  A packet counts in its sender's books when its first bit leaves, in
 * its receiver's when it arrives there: see transmit.c.
 */
struct dl_emu_vl_port {
	/* As sender. */
	struct dl_link_credit_tx tx;
	uint16_t units;	     /* of the first packet waiting */
	uint16_t credit;     /* under way, here at `credit_at`, or NEVER */
	uint32_t head, tail; /* packets waiting, in order */
	uint64_t served;     /* last time, or when waiting began */
	uint64_t credit_at;
	uint64_t bytes;
	uint32_t packets;
	/* As receiver. */
	struct dl_link_credit_rx rx;
	uint32_t in, in_tail; /* packets stored, in order */
	/* Where the wire loses data: units sent undamaged, units received. */
	uint16_t sound, entered;
} __attribute__((aligned(64)));

/* What a flow-control packet carries; and, so far, `sound` of its sender. */
struct dl_emu_fcp {
	uint16_t fccl, fctbs, sound;
	uint8_t op;
};

/* Wormhole: who has a channel. */
struct dl_emu_worm {
	uint32_t owner; /* of the output: input channel of the packet, or NIL */
	uint32_t bound; /* of the input: output of the packet, or NIL */
	/* As receiver. */
	uint8_t discard; /* throw away up to the tail: 1 + why; or 0 */
	bool open;	 /* the tail is still to arrive */
};

/* The copies of hop.c. */
enum hop_kind { HOP_ANY, HOP_PLAIN, HOP_CHOOSY, HOP_SPEEDUP };

enum { DL_EMU_SENDING = 1, DL_EMU_DOWN = 2 };

enum dl_emu_to { DL_EMU_TO_SWITCH, DL_EMU_TO_ADAPTER, DL_EMU_TO_SHARD };

/* A port.  Lines: deciding; sending; rare and fixed; channels. */
struct dl_emu_link_port {
	uint64_t busy_until;
	uint64_t fcp_due; /* their deadline; unless seen to, an earlier one */
	struct dl_link_arbiter arb;
	uint16_t waiting;    /* VLs with packets waiting */
	uint16_t fcp;	     /* VLs with a flow-control packet to send */
	uint16_t reading;    /* VLs whose head is leaving, or has copies waiting */
	uint16_t unreported; /* VLs with room that the sender may not know of */
	uint32_t sw;	     /* number, or NIL: an adapter's port */
	uint8_t num;	     /* of the port at its node */
	uint8_t hold;	     /* SENDING, DOWN: nothing can be sent */
	bool wake : 1;	     /* an event comes when the link is free */
	bool timer : 1;	     /* an event comes at the deadline, or before */
	bool starved : 1;    /* packets wait and nothing is sent, since `wait_since` */
	uint8_t readers;     /* as input: packets being passed on */

	uint32_t number;
	uint32_t peer;	  /* port, or NIL */
	uint32_t adapter; /* number, or NIL */
	uint32_t fcps;	  /* sent */
	struct dl_emu_rate rate;
	uint64_t look;	/* from first bit to where a switch looks at it */
	uint32_t delay; /* of the cable */
	uint32_t fcp_time;
	uint64_t busy_ps;	  /* see struct dl_emu_port */
	const uint8_t *far_route; /* of the switch at the other end, or NULL */
	uint8_t sending_vl, sending_units, sending_flags;
	uint8_t epoch; /* goes on whenever the link fails */
	uint8_t to;    /* enum dl_emu_to: what the peer is */
	bool lossy;    /* one of the rates of dl_emu_losses is not 0 */
	uint8_t vls;   /* data VLs */

	uint64_t wait_since, wait_ps;
	uint32_t discards;     /* see struct dl_emu_port; but for */
	uint32_t cut;	       /* what came from the peer when the link failed */
	uint32_t sending_what; /* of a copy: parent; of a message that ends: see adapter.c */
	/* Since the link came up: data VLs that have sent no Op 1, and received nothing. */
	uint16_t greet, unheard;
	uint64_t queued_ps;	       /* see struct dl_emu_port */
	struct dl_emu_sl_turn sl_turn; /* of a switch's output */

	struct dl_emu_vl_port vl[DL_EMU_VLS] __attribute__((aligned(64)));
} __attribute__((aligned(64)));

/* What goes wrong on a link, in millionths. */
struct dl_emu_losses {
	uint32_t fcp_loss, fcp_corrupt, damage;
	struct dl_random random;
};

/* What a switch was programmed with. */
struct dl_emu_switch {
	const uint8_t *lft;
	uint32_t top_lid;
	const uint16_t *sl2vl;
	const dl_tables_sl2vl_row *rows;
	const struct dl_tables *tables;
	uint32_t their_sw;     /* its number there */
	const uint32_t *ports; /* by port number: own port, or NIL */
	uint16_t nlinked;      /* from ports[0] on */
	uint16_t nports;       /* + 1: row length of sl2vl */
	uint8_t vls;	       /* data VLs that all its ports have */
	/* By port: outputs that found all inputs busy, or lacked credit (`speedup`). */
	uint64_t crossed[4], unpaid[4];
	uint32_t freed; /* 1 + an input, in this event; or 0 */
};

/* Lines: deciding, and receiving; the queues; maps. */
struct dl_emu_adapter {
	uint32_t port;
	uint16_t free_sls; /* those whose VL can take a packet */
	/* Receiving. */
	bool stopped, draining;
	uint32_t rate; /* millionths of the link's */
	uint32_t head; /* of the packets to be taken in */
	struct dl_emu_sl_sched sched;
	const uint8_t *path_sl;	      /* row of the tables' path SLs, or NULL */
	uint16_t vl_sls[DL_EMU_VLS];  /* SLs by VL */
	uint8_t sl_vl[16];	      /* DL_EMU_NO_VL: to none */
	uint32_t changing_to;	      /* a queue pair */
	bool changing;		      /* between queue pairs */
	uint64_t started[DL_EMU_VLS]; /* in flits: head of the present packet */
	uint32_t tail;
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct dl_emu_pkt) == 32 && sizeof(struct dl_emu_origin) == 32 &&
		       sizeof(struct dl_emu_vl_port) == 64 &&
		       offsetof(struct dl_emu_link_port, number) == 64 &&
		       offsetof(struct dl_emu_link_port, wait_since) == 128 &&
		       offsetof(struct dl_emu_adapter, sched.queue) == 64 &&
		       offsetof(struct dl_emu_adapter, path_sl) == 320 &&
		       offsetof(struct dl_emu_adapter, started) == 384,
	       "cache lines");

#define DL_EMU_NO_VL 0xFF

struct dl_emu_flow {
	struct dl_emu_message message;
	uint32_t left; /* bytes of it to be sent */
	uint32_t adapter;
	uint32_t window, under_way;
	uint8_t sl, ccti;   /* index into the table of congestion control ... */
	uint64_t ccti_tick; /* ... at this tick of the timer */
	uint64_t paced_until;
	bool active;  /* the message is being sent */
	bool other;   /* it is another one since, and may have another SL */
	bool waiting; /* for its time */
	bool ended;
};

/* What makes two ports have the same arbitration. */
struct dl_emu_arb_key {
	const struct dl_tables *tables;
	uint16_t arb; /* or DL_TABLES_NO_ROW */
	uint8_t nvls, high_cap, low_cap;
	uint32_t port; /* where each has its own; else 0 */
};

struct dl_emu_arb_program {
	struct dl_emu_arb_key key;
	struct dl_link_arb_program program;
	struct dl_emu_arb_program *next;
};

/*
 * What the layers below hop.c ask of it, the only calls upwards.  The layers,
 * from below: events.c and slarb.c; packet.c and mail.c; transmit.c, one end of
 * a link; forward.c, adapter.c and prefetch.c, switches and adapters; hop.c; all
 * that sets up, runs and examines an emulation (run.h).  A file includes the
 * headers of its own layer and of those below (test/doc/text.bats).
 */
struct dl_emu_handlers {
	/* A port may have something to send, and its link may be free. */
	void (*transmit)(struct dl_emu *e, struct dl_emu_link_port *p);
	/* A packet asks for its output. */
	void (*ask)(struct dl_emu *e, uint32_t packet, uint32_t out);
	/* Units of a buffer are free again. */
	void (*release)(struct dl_emu *e, uint32_t in, uint32_t units);
	/* Is there credit worth a flow-control packet? */
	void (*report)(struct dl_emu *e, struct dl_emu_link_port *p, unsigned int vl);
};

/* What kind of run it is; some of it changes with faults. */
struct dl_emu_mode {
	bool worms;	     /* wormhole switching */
	bool choosy;	     /* the first packet of a queue need not be the next */
	bool voq;	     /* virtual output queues */
	bool whole_messages; /* queue pairs of a program take turns message by message */
	uint8_t plain;	     /* see hop.c */
	bool looks_ahead;    /* the way of a packet that arrives, in pk->out */
	bool timers;	     /* flow-control packets may be lost */
	bool large;	     /* the processor's caches do not hold it */
};

/* The forwarding tables turned round: by LID, then switch, the port. */
struct dl_emu_routes {
	uint8_t *at; /* NULL: see looks_ahead */
	uint64_t row;
	uint32_t n;
};

/* The packets that an input channel has for an output channel (voq.c). */
struct dl_emu_voq {
	uint32_t head : 31, sending : 1; /* head: packet + 1; 0: none */
	uint32_t tail;
};

/* Congestion control at an output channel. */
struct dl_emu_mark {
	uint32_t queued; /* units in virtual output queues */
	uint32_t passed; /* packets since the last mark */
};

struct dl_emu_voqs {
	struct dl_emu_voq *at; /* NULL: buffers are first in, first out */
	uint64_t plane;	       /* places for a pair of VLs */
	uint64_t *first;       /* by switch, in a plane */
};

/* Memory in one place for all shards, which is large, and taken as it is used (packet.c). */
struct dl_emu_reserved {
	void *at;
	size_t bytes;
};

/* How an emulation is divided. */
struct dl_emu_split {
	struct dl_emu **shard;
	uint32_t n;
	uint64_t buckets; /* of a window */
	uint16_t *of;	  /* by port: its shard; NULL: there is one */
};

/* A shard's records of packets. */
struct dl_emu_stock {
	uint32_t fresh, end; /* given to it, and never used */
	uint32_t recycled;   /* a list */
	uint32_t given;	     /* of the emulation: to all shards so far */
	int64_t live;	     /* packets */
};

/* What a shard has for others, and for the source, at the end of a window. */
struct dl_emu_outbox {
	struct dl_emu_box *box[2]; /* by shard: mail of odd and even windows */
	bool even;		   /* the window */
	bool sent;		   /* mail, in this window */
	struct dl_emu_note *notes;
	uint32_t nnotes, notes_cap;
};

/* The search for deadlock. */
struct dl_emu_look {
	uint64_t next;
	bool blocked; /* something has lacked credit since the last one */
	struct dl_cycle cycle;
};

/* The sums of all shards. */
struct dl_emu_sum {
	struct dl_emu_totals totals;
	struct dl_emu_level *levels; /* NULL: there is one shard */
};

/*
 * An emulation, or one shard of it.  The first shard is the emulation itself.
 * What is above `shared_end` is the same in all: written by one thread while
 * no others run, copied by dl_emu_share(), or, behind pointers, each place by
 * one shard.
 */
struct dl_emu {
	/* What it was given. */
	const struct dl_fabric *f;
	struct dl_emu_config c;
	struct dl_emu_source source;
	const struct dl_log *log;
	const struct dl_tables *tables; /* for path SLs */
	uint32_t *port_there;		/* our port in the tables' fabric; NULL: same */

	const struct dl_emu_handlers *handlers;
	/* In a debug build, and with one shard; else NULL. */
	int (*after_event)(const struct dl_emu *e, const struct dl_log *log);
	struct dl_link_credit_terms terms; /* of all buffers of data VLs */
	struct dl_emu_mode mode;

	/* Ports and links. */
	struct dl_emu_link_port *ports;
	uint32_t nports;
	struct dl_emu_worm *worm;     /* by channel; NULL: no wormhole switching */
	struct dl_emu_losses *losses; /* by port */
	struct dl_emu_mark *marks;    /* by channel; NULL: no congestion control */
	struct dl_emu_port *counters; /* by port */
	uint32_t *fabric_port;	      /* by port: port of the fabric */
	uint32_t *own_port;	      /* by port of the fabric: own number, or NIL */
	/* Nodes. */
	struct dl_emu_switch *switches;
	struct dl_emu_routes routes;
	struct dl_emu_voqs voq;
	struct dl_emu_adapter *adapters;
	uint32_t nadapters;
	struct dl_emu_flow *flows;
	struct dl_emu_sl_qp *qps;
	struct dl_emu_delivered *pairs;
	struct dl_emu_sender *senders;	   /* by flow; NULL: no reliable connections */
	struct dl_emu_receiver *receivers; /* by adapter; their queue pairs follow the flows */
	/* Packets. */
	struct dl_emu_pkt *packets;
	struct dl_emu_origin *origins;	  /* by packet */
	struct dl_emu_sequence *sequence; /* by packet; NULL: no reliable connections */
	uint32_t *numbers;		  /* by packet, for source.step(); NULL: nobody asks */
	uint64_t *entered;		  /* by packet: when its switch had it; NULL: no limit */

	struct dl_emu_split split;

	uint64_t shared_end;
	uint32_t number; /* of the shard */
	uint64_t now;
	int err;
	uint64_t credited;   /* credit that came until then counts */
	uint64_t event;	     /* that is happening */
	uint32_t background; /* events that are deadlines */
	struct dl_emu_stock stock;
	uint32_t made; /* packets, where they are numbered */
	struct dl_emu_totals totals;
	struct dl_emu_level levels[DL_EMU_LEVELS + 1];
	struct dl_emu_outbox mail;
	struct dl_emu_look look; /* of the emulation, but for `blocked` */
	struct dl_emu_events events;

	/* Of the emulation alone. */
	struct dl_arena arena; /* arrays that neither move nor are large */
	struct dl_pool *pool;  /* threads of the other shards; NULL: there are none */
	struct dl_emu_reserved reserved[6];
	uint32_t nreserved;
	struct dl_emu_arb_program *programs;
	bool begun;
	struct dl_emu_sum sum;
};

#endif
