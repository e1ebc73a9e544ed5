/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The parts of a running emulation; see engine.c for the model.
 *
 * Ports.  Those with a cable, adapters' ports and switches' ports 0 are
 * numbered without gaps, in the fabric's order: most switches have many ports
 * that nobody uses.  `port` is such a number; own_port[] and fabric_port[]
 * lead from the fabric's port indices to it and back.
 *
 * Channels.  Each port has one for each of the 16 VLs, twice: as sender
 * (`outs`) and as receiver (`ins`).  outs[dl_emu_channel(port, vl)] sends to
 * ins[dl_emu_channel(peer of the port, vl)].
 */
#ifndef DL_EMU_INTERNAL_H
#define DL_EMU_INTERNAL_H

#include <errno.h>
#include <stdlib.h>

#include "dateline/emu.h"
#include "emu/events.h"
#include "dateline/link.h"
#include "dateline/base.h"

#define DL_EMU_NIL UINT32_MAX
#define DL_EMU_ROUTE_BYTES 8 /* of the header: what a switch needs (LRH) */

/* ---- slarb.c: an adapter's scheduler ----------------------------------- */

/*
 * A `struct dl_emu_sl_sched` is one port's state; the table is read-only and
 * shared, the queue pairs are an array of the caller's, one place each.
 */

#define DL_EMU_NO_QP UINT32_MAX

/* One queue pair's place in the queues. */
struct dl_emu_sl_qp {
	uint64_t ticket; /* order of queueing */
	uint32_t next;
	uint8_t sl;
	bool queued;
};

struct dl_emu_sl_sched {
	const struct dl_emu_sl_table *table; /* NULL: plain round robin */
	struct dl_emu_sl_qp *qps;
	uint64_t ticket;
	uint32_t tenure;  /* bytes of a queue pair's turn */
	uint32_t current; /* the queue pair served last */
	int64_t left;	  /* bytes of the entry, while `live` */
	uint16_t at;	  /* the entry pointed to */
	uint16_t ready;	  /* SLs with queued queue pairs */
	bool live;
	uint32_t head[DL_EMU_SLS], tail[DL_EMU_SLS]; /* head: whose turn it is */
	int64_t tenure_left[DL_EMU_SLS];	     /* of the head */
};

/*
 * A port without work.  `table` NULL switches the SL table off: queue pairs
 * then take turns packet by packet (D3).  `tenure` 0 means one packet, too.
 * `qps` has a place for each queue pair and need not be initialised beyond
 * zeroes; both are borrowed.
 */
void dl_emu_sl_sched_init(struct dl_emu_sl_sched *s, const struct dl_emu_sl_table *table,
			  uint32_t tenure, struct dl_emu_sl_qp *qps);

/* Queue pair `qp` has work at this SL.  Nothing happens if it is queued. */
void dl_emu_sl_sched_work(struct dl_emu_sl_sched *s, uint32_t qp, unsigned int sl);

/*
 * The queue pair whose turn it is, among the SLs of the mask (those whose
 * packets the port can take now), or DL_EMU_NO_QP.  *change is set when the
 * adapter has to change from another queue pair, which costs it time (D2).
 * Asking again without a charge gives the same answer.
 */
uint32_t dl_emu_sl_sched_pick(struct dl_emu_sl_sched *s, unsigned int sls, bool *change);

/*
 * The picked queue pair has made a packet of `bytes`.  `more`: it has more to
 * send.
 */
void dl_emu_sl_sched_charge(struct dl_emu_sl_sched *s, uint32_t qp, uint32_t bytes, bool more);

/* ---- events ------------------------------------------------------------ */

/* In the order in which they happen when their time is the same. */
enum dl_emu_event_kind {
	DL_EMU_EV_TAIL,		/* a port has sent the last bit of a packet */
	DL_EMU_EV_CREDIT,	/* a flow-control packet has arrived */
	DL_EMU_EV_ARRIVE,	/* a packet can be looked at by a port */
	DL_EMU_EV_READY,	/* the head of a queue may be passed on */
	DL_EMU_EV_WAKE,		/* a link is free again */
	DL_EMU_EV_MESSAGE,	/* a flow's next message is due */
	DL_EMU_EV_QP_SWITCHED,	/* an adapter has changed queue pair */
	DL_EMU_EV_RECEIVE_DONE, /* an adapter has taken a packet in */
	DL_EMU_EV_HOQ,		/* the head of a queue has waited too long */
	DL_EMU_EV_PERIODIC	/* flow-control packets are due */
};

#define DL_EMU_EV_SHIFT 60

/*
 * An event is its time and a word: the kind in the four highest bits, below
 * it whom it concerns.  The channel is there so that what the event leads to
 * can be fetched from memory ahead of time.
 *
 *	          63  60 59       52 51      28 27   24 23      12 11       0
 *	CREDIT    | kind | epoch    | port     | VL    | credit   | lost     |
 *
 *	          63  60 59                         28 27                   0
 *	ARRIVE    | kind | input channel              | packet               |
 *	TAIL      | kind | port                       | channel being read   |
 *
 *	          63  60 57 56    55                    24 23               0
 *	MESSAGE   | kind |  | ended | flow               | adapter          |
 *
 *	READY, HOQ: packet; WAKE, PERIODIC: port; QP_SWITCHED, RECEIVE_DONE:
 *	adapter
 *
 * A channel is port * 16 + VL.  For example, packet 5 on its way to port 3,
 * VL 2, that is to channel 0x32, arrives with the word 0x2000000320000005:
 * ARRIVE is kind 2.  The port that sends it is the peer of port 3, say 7, an
 * adapter's, which reads no buffer: its TAIL is 0x000000007FFFFFFF.  The
 * receiver then advertises FCCL 0x108 for VL 2; in epoch 0 without losses
 * that is a CREDIT for port 7, 0x1000000072108000.
 */
#define DL_EMU_EV_PACKET 0xFFFFFFFu
#define DL_EMU_EV_PORT 0xFFFFFFu
#define DL_EMU_EV_CHANNEL 0xFFFFFFFu /* all ones: none */

enum {
	DL_EMU_PK_HEAD = 1,
	DL_EMU_PK_TAIL = 2, /* of the packet; both, unless flits */
	DL_EMU_PK_LAST = 4, /* of the message */
	DL_EMU_PK_MCAST = 8,
	DL_EMU_PK_LEVEL = 16,
	DL_EMU_PK_LOST = 32,	/* damaged on the wire; or what is left of it */
	DL_EMU_PK_WAITING = 64, /* in the queue of an output */
	DL_EMU_PK_SMP = 128
};

/*
 * A packet or, in wormhole switching, a flit of one.  A cache line:
 *
 *	 0 created         8 injected        16 since          24 next  wait_next
 *	32 flow   parent  40 in     out      48 dlid bytes data sl flags
 *	56 copies epoch
 *
 * For example, the last packet of a message of 5000 bytes to LID 7 at an MTU
 * of 2048, while it waits in port 3, VL 2, for port 6, VL 4: data 904, bytes
 * 930, in 0x32, out 0x64, flags HEAD | TAIL | LAST | WAITING.  It stands in
 * two lists then: `next` leads on in the buffer ins[0x32], `wait_next` in the
 * queue of outs[0x64].
 */
struct dl_emu_pkt {
	uint64_t created, injected;
	uint64_t since;	    /* tail received; later: waiting since */
	uint32_t next;	    /* in its buffer */
	uint32_t wait_next; /* in the queue of an output */
	uint32_t flow;
	uint32_t parent; /* a copy: the packet in the buffer; else NIL */
	uint32_t in;	 /* channel where it stands, or is going to */
	uint32_t out;	 /* channel that it waits for */
	uint16_t dlid;
	uint16_t bytes; /* on the wire; 0: the end of a cut worm */
	uint16_t data;
	uint8_t sl;
	uint8_t flags;
	uint8_t copies; /* that still have to leave */
	uint8_t epoch;	/* of the link that it was sent over */
} __attribute__((aligned(64)));

/* A channel at its sender. */
struct dl_emu_out {
	struct dl_link_credit_tx tx;
	uint32_t head, tail; /* packets waiting, in order */
	uint32_t owner;	     /* wormhole: input channel of the packet */
	uint16_t lost;	     /* units lost on the wire since link up */
	uint16_t credit;     /* under way, here at `credit_at`, or NEVER */
	uint64_t credit_at;
	uint64_t served; /* last time, or when waiting began */
	uint64_t packets, bytes;
} __attribute__((aligned(64)));

/* A channel at its receiver. */
struct dl_emu_in {
	struct dl_link_credit_rx rx;
	uint32_t head, tail; /* packets stored, in order */
	uint32_t advertised; /* credit last sent */
	uint16_t healed;     /* losses learnt of */
	uint8_t reading;     /* its head is leaving, or has copies waiting */
	uint8_t discard;     /* wormhole: throw away up to the tail */
	bool open;	     /* wormhole: the tail is still to arrive */
	uint32_t bound;	     /* wormhole: output of the packet, or NIL */
	uint32_t stored;     /* packets, VL 15 */
} __attribute__((aligned(64)));

/* What a port is, and never changes: few bytes, so that they stay at hand. */
struct dl_emu_wire {
	uint32_t peer;	  /* port, or NIL */
	uint32_t sw;	  /* switch number, or NIL */
	uint32_t adapter; /* number, or NIL */
	uint8_t num;	  /* of the port at its node */
	uint8_t vls;	  /* data VLs */
};

/* What happens at a port.  Two cache lines. */
struct dl_emu_link_port {
	struct dl_link_arbiter arb;
	uint64_t busy_until;
	uint64_t fcp_due; /* the earliest deadline */
	uint16_t waiting; /* VLs with packets waiting */
	uint16_t fcp;	  /* VLs with a flow-control packet to send */
	bool up;
	bool sending;
	bool wake;		 /* an event comes when the link is free */
	uint8_t epoch;		 /* goes on whenever the link fails */
	uint32_t sending_in;	 /* input channel being read, or NIL */
	uint32_t sending_parent; /* of the copy being sent, or NIL */

	uint64_t wait_since;	   /* or NEVER */
	uint64_t busy_ps, wait_ps; /* see struct dl_emu_port */
	struct dl_emu_rate rate;
	uint32_t delay;	     /* of the cable */
	uint32_t fcps;	     /* sent */
	uint32_t route_time; /* of DL_EMU_ROUTE_BYTES */
	uint32_t fcp_time;
	uint32_t sending_flow; /* whose multicast message ends, or NIL */
	uint16_t sending_units;
	uint8_t sending_vl;
	bool lossy;	 /* one of the rates of dl_emu_losses is not 0 */
	uint8_t readers; /* as input: packets being passed on */
	bool periodic;
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct dl_emu_link_port) == 128, "two cache lines");
_Static_assert(sizeof(struct dl_emu_pkt) == 64 && sizeof(struct dl_emu_out) == 64 &&
		       sizeof(struct dl_emu_in) == 64,
	       "a cache line each");

/* What goes wrong on a link, in millionths. */
struct dl_emu_losses {
	uint32_t fcp_loss, fcp_corrupt, damage;
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
};

struct dl_emu_adapter {
	struct dl_emu_sl_sched sched;
	uint32_t port;
	uint16_t free_sls;	      /* those whose VL can take a packet */
	uint16_t vl_sls[DL_EMU_VLS];  /* SLs by VL */
	uint64_t started[DL_EMU_VLS]; /* head of the present packet */
	uint8_t sl_vl[16];	      /* DL_EMU_NO_VL: to none */
	bool changing;		      /* between queue pairs */
	uint32_t changing_to;
	/* Receiving. */
	bool stopped, draining;
	uint32_t rate;	     /* millionths of the link's */
	uint32_t head, tail; /* packets to be taken in */
};

#define DL_EMU_NO_VL 0xFF

struct dl_emu_flow {
	struct dl_emu_message message;
	uint32_t left; /* bytes of it to be sent */
	uint32_t adapter;
	uint32_t window, under_way;
	uint8_t sl;
	bool active;  /* the message is being sent */
	bool waiting; /* for its time */
	bool ended;
};

/* What makes two ports have the same arbitration. */
struct dl_emu_program_key {
	const struct dl_tables *tables;
	uint16_t arb; /* or DL_TABLES_NO_ROW */
	uint8_t nvls, high_cap, low_cap;
	uint32_t port; /* where each has its own; else 0 */
};

struct dl_emu_program {
	struct dl_emu_program_key key;
	struct dl_link_arb_program program;
	struct dl_emu_program *next;
};

struct dl_emu {
	const struct dl_fabric *f;
	struct dl_emu_config c;
	struct dl_emu_source source;
	const struct dl_log *log;
	struct dl_arena arena; /* arrays that neither move nor are large */
	uint64_t now;
	uint64_t credited; /* credit that came until then counts */
	uint64_t next_check;
	struct dl_emu_events events;
	uint32_t background; /* periodic events among them */
	int err;
	uint16_t units_max; /* of what may go as a whole, the largest */

	struct dl_emu_pkt *packets;
	uint32_t npackets, packets_cap; /* below 2^28 */
	uint32_t free_packet, live;
	struct dl_emu_link_port *ports;
	struct dl_emu_wire *wires;    /* by port */
	struct dl_emu_losses *losses; /* by port */
	uint32_t *fabric_port;	      /* by port: port of the fabric */
	uint32_t nports;
	uint32_t *own_port;	 /* by port of the fabric: own number, or NIL */
	struct dl_emu_out *outs; /* by channel */
	struct dl_emu_in *ins;
	uint64_t *advertised_at; /* by input channel: when credit was last sent */
	struct dl_emu_switch *switches;
	struct dl_emu_adapter *adapters;
	uint32_t nadapters;
	struct dl_emu_flow *flows;
	struct dl_emu_sl_qp *qps;
	const struct dl_tables *tables; /* for path SLs */
	uint32_t *port_there;		/* our port in the tables' fabric; NULL: same */

	struct dl_emu_program *programs;

	struct dl_random random;
	struct dl_emu_totals totals;
	struct dl_emu_level levels[DL_EMU_LEVELS];
	struct dl_emu_port *counters;
	struct dl_emu_pair *pairs;

	struct dl_cycle cycle;
	bool begun;
	bool timers; /* flow-control packets may be lost */
};

/* ---- small things ------------------------------------------------------ */

static inline void dl_emu_at(struct dl_emu *e, uint64_t time, enum dl_emu_event_kind kind,
			     uint64_t what)
{
	int err = dl_emu_events_push(&e->events, time, (uint64_t)kind << DL_EMU_EV_SHIFT | what);

	if (err)
		e->err = err;
}

static inline uint32_t dl_emu_channel(uint32_t port, unsigned int vl)
{
	return port * DL_EMU_VLS + vl;
}

static inline uint32_t dl_emu_port_of(uint32_t channel)
{
	return channel / DL_EMU_VLS;
}

static inline unsigned int dl_emu_vl_of(uint32_t channel)
{
	return channel % DL_EMU_VLS;
}

/* Only data VLs have credit. */
static inline bool dl_emu_is_data(uint32_t channel)
{
	return dl_emu_vl_of(channel) != DL_LINK_VL_SMP;
}

static inline uint16_t dl_emu_units(const struct dl_emu *e, uint32_t bytes)
{
	if (e->c.switching != DL_EMU_WORMHOLE)
		return dl_link_credit_units(e->c.flow_control, bytes - 10);
	/* Flits have no headers; multicast packets count as many of them. */
	return e->c.flow_control == DL_LINK_CREDIT_PCIE ? (bytes + e->c.flit - 1) / e->c.flit :
							  (bytes + 63) / 64;
}

/* A new packet, not initialised; NIL: none to be had (e->err is set). */
uint32_t dl_emu_packet(struct dl_emu *e);

static inline void dl_emu_recycle(struct dl_emu *e, uint32_t packet)
{
	e->packets[packet].next = e->free_packet;
	e->free_packet = packet;
	e->live--;
}

/* setup.c: a port's index in the tables' fabric, or DL_NONE. */
uint32_t dl_emu_their_port(const struct dl_emu *e, uint32_t port);

/* transmit.c: the sender of a link. */
void dl_emu_send_next(struct dl_emu *e, uint32_t port);
void dl_emu_note_waiting(struct dl_emu *e, uint32_t port, bool waits);
void dl_emu_wait_for(struct dl_emu *e, uint32_t packet, uint32_t out);
void dl_emu_unwait(struct dl_emu *e, uint32_t packet);
void dl_emu_tail_sent(struct dl_emu *e, uint32_t port);
void dl_emu_release(struct dl_emu *e, uint32_t in, uint32_t units);
bool dl_emu_has_credit(const struct dl_emu *e, const struct dl_emu_out *o, uint32_t units);
void dl_emu_maybe_send_fccl(struct dl_emu *e, uint32_t in_channel);
void dl_emu_credit(struct dl_emu *e, uint64_t what);
void dl_emu_periodic(struct dl_emu *e, uint32_t port);

/* Does a port have something to send, and is its link free?  Then send. */
static inline void dl_emu_transmit(struct dl_emu *e, uint32_t port)
{
	const struct dl_emu_link_port *p = &e->ports[port];

	if (!(p->waiting | p->fcp)) {
		if (p->wait_since != DL_EMU_NEVER)
			dl_emu_note_waiting(e, port, false);
	} else if (p->up && !p->sending) { /* else the tail's event comes */
		dl_emu_send_next(e, port);
	}
}

/* The VL at an output of a switch, or DL_EMU_NO_VL. */
static inline unsigned int dl_emu_map_vl(const struct dl_emu_switch *s, unsigned int in,
					 unsigned int out, unsigned int sl, uint8_t vls)
{
	uint16_t row = s->sl2vl[in * (size_t)s->nports + out];
	unsigned int vl = row == DL_TABLES_NO_ROW ? 0 : dl_tables_sl2vl_get(s->rows[row], sl);

	return vl < vls ? vl : DL_EMU_NO_VL;
}

/* An event about a flow: its next message is due; or one has ended. */
static inline void dl_emu_message_at(struct dl_emu *e, uint64_t time, uint32_t flow, bool ended)
{
	dl_emu_at(e, time, DL_EMU_EV_MESSAGE,
		  (uint64_t)ended << 56 | (uint64_t)flow << 24 | e->flows[flow].adapter);
}

/* prefetch.c: of events behind the present one. */
void dl_emu_prefetch_far(const struct dl_emu *e, uint64_t event);
void dl_emu_prefetch_near(const struct dl_emu *e, uint64_t event);

/* forward.c: from a switch's input to its outputs. */
void dl_emu_arrive(struct dl_emu *e, uint32_t packet);
void dl_emu_enter(struct dl_emu *e, uint32_t packet);
void dl_emu_head(struct dl_emu *e, uint32_t in);
void dl_emu_ready(struct dl_emu *e, uint32_t packet);
void dl_emu_expire(struct dl_emu *e, uint32_t packet);
/* The head of a buffer, or a copy of it, has left or been thrown away. */
void dl_emu_copy_gone(struct dl_emu *e, uint32_t parent);
void dl_emu_unbuffer(struct dl_emu *e, uint32_t in);
/* Drop a packet that waits for an output. */
void dl_emu_drop_waiting(struct dl_emu *e, uint32_t packet, enum dl_emu_drop cause);

/* adapter.c */
void dl_emu_flow_next(struct dl_emu *e, uint32_t flow);
void dl_emu_message(struct dl_emu *e, uint64_t what);
void dl_emu_fill(struct dl_emu *e, struct dl_emu_adapter *a);
void dl_emu_qp_switched(struct dl_emu *e, uint32_t adapter);
void dl_emu_receive(struct dl_emu *e, uint32_t packet);
void dl_emu_receive_done(struct dl_emu *e, uint32_t adapter);
void dl_emu_take_in(struct dl_emu *e, struct dl_emu_adapter *a);
/* A packet has come to an end port: count it and free it. */
void dl_emu_deliver(struct dl_emu *e, uint32_t packet, uint32_t port);
void dl_emu_lose(struct dl_emu *e, uint32_t packet, enum dl_emu_drop cause);
bool dl_emu_is_for(const struct dl_emu *e, uint16_t dlid, uint32_t port);
void dl_emu_adapter_maps(struct dl_emu *e, struct dl_emu_adapter *a);

/* deadlock.c: fill in e->cycle; 0, 1 (there is one) or -ENOMEM. */
int dl_emu_look_for_deadlock(struct dl_emu *e);

/* setup.c */
int dl_emu_program_switches(struct dl_emu *e, const struct dl_tables *t, const uint32_t *there);
int dl_emu_program_ports(struct dl_emu *e, bool first);

/*
 * audit.c: do the laws of conservation hold?  O(everything).  0 or -EPROTO.
 */
int dl_emu_audit(const struct dl_emu *e, const struct dl_log *log);

#endif
