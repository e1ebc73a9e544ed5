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
 * The essays are in engine.c (the model of switch, link and adapter, and its
 * closed forms), deadlock.c (when a deadlock is certain) and histogram.c.
 */
#ifndef DL_EMU_H
#define DL_EMU_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/histogram.h"
#include "emu/slarb.h"
#include "link/arbiter.h"
#include "link/credit.h"
#include "tables/tables.h"
#include "verify/verify.h"

#define DL_EMU_LEVELS 2
#define DL_EMU_NEVER UINT64_MAX
#define DL_EMU_VLS 16		/* data VLs 0..14 and VL 15 */

/* Headers of a packet as on the wire, in bytes. */
#define DL_EMU_HEADERS 26	/* LRH 8, BTH 12, ICRC 4, VCRC 2 */
#define DL_EMU_MCAST_HEADERS 74	/* those, GRH 40 and DETH 8 */
#define DL_EMU_SMP_BYTES 290	/* MAD of 256, LRH, BTH, DETH, ICRC, VCRC */

enum dl_switching { DL_STORE_AND_FORWARD, DL_CUT_THROUGH, DL_WORMHOLE };

struct dl_emu_config {
	uint64_t seed;			/* losses, undefined arbitration tables */
	enum dl_switching switching;
	enum dl_credit_scheme flow_control;
	uint32_t mtu;			/* bytes of data: 256 to 4096 */
	uint32_t flit;			/* wormhole: bytes, a multiple of 64 */
	/*
	 * Buffer of one VL at an input port: blocks of 64 bytes (IBA, at most
	 * 2048), or packets (PCIe; flits when wormhole).  Multicast packets
	 * go as a whole under wormhole switching, too, and must fit.
	 */
	uint32_t buffer;
	uint32_t smp_buffer;		/* packets of VL 15; 1 or more */
	uint32_t max_packets;		/* in flight at a time; 0: as buffers allow */
	uint64_t switch_latency_ps;	/* header in to header out */
	/* Cable lengths by port index (either end), or one for all. */
	const uint32_t *cable_mm;	/* NULL: cable_mm_all */
	uint32_t cable_mm_all;
	/*
	 * Packets that one input port can pass to outputs at a time, from
	 * different VLs; 0: one from each VL.
	 */
	uint32_t speedup;
	/* What the fabric does not say. */
	uint8_t default_speed;		/* enum dl_speed */
	uint8_t default_width;		/* lanes */
	uint8_t default_vls;		/* data VLs: 1, 2, 4, 8, 15 */
	struct dl_arb_options arbitration;	/* nvls and caps: by the port */
	/*
	 * Ports whose arbitration the tables do not hold: true: power-up
	 * contents (drawn from the seed, with a warning); false: all VLs in
	 * the low table with the same weight.
	 */
	bool undefined_arbitration;
	/* Channel adapters. */
	const struct dl_sl_table *sl_table;	/* NULL: plain round robin */
	uint32_t tenure;		/* bytes of a queue pair's turn */
	uint64_t qp_change_ps;		/* cost of changing queue pair */
	/* How long the head of a queue may wait; 0: for ever. */
	uint64_t hoq_life_ps;
	/* Sim time between looks for deadlock and starvation; 0: never. */
	uint64_t check_ps;
	uint64_t starvation_ps;		/* a VL that could send, but waits */
	bool stop_on_deadlock;
	bool pairs;			/* keep statistics of pairs */
};

/* SDR to NDR, cut-through, IBA credits, MTU 2048, 8 packets of buffer, ... */
void dl_emu_config_init(struct dl_emu_config *c);

/* ---- traffic ----------------------------------------------------------- */

struct dl_emu_message {
	uint64_t at;		/* when it arrives at the adapter */
	uint32_t bytes;		/* of data, 1 or more */
	uint16_t dlid;		/* unicast or multicast LID */
	uint8_t level;		/* QoS level: adds bit 3 to the path SL */
	uint8_t sl;		/* DL_NO_SL: the path SL of the tables */
	bool smp;		/* one management packet on VL 15 */
};

/* A packet that has arrived, or (dropped) never will. */
struct dl_emu_delivery {
	uint64_t created;	/* its message's `at` */
	uint64_t injected;	/* first bit on the adapter's link */
	uint64_t at;		/* last bit received */
	uint32_t flow;
	uint32_t dst;		/* port index */
	uint32_t bytes;		/* of data */
	uint16_t dlid;
	uint8_t level;
	uint8_t sl;
	bool last;		/* of its message */
};

/*
 * Who sends what.  Each flow is a queue pair of one adapter port and sends
 * its messages one after the other.  In an open loop (window 0) messages come
 * at rising times; those that the adapter cannot send yet wait.  In a closed
 * loop the engine asks for `window` messages at the start, and for one more
 * whenever one has been delivered (or lost); a multicast message counts as
 * delivered when it has left the adapter.
 */
struct dl_emu_source {
	void *context;
	uint32_t nflows;
	const uint32_t *port;		/* by flow: adapter port index */
	const uint32_t *window;		/* by flow; NULL: open loops */
	/* False: nothing more, ever.  An open loop ignores `now`. */
	bool (*next)(void *context, uint32_t flow, uint64_t now,
		     struct dl_emu_message *out);
	/* Every packet delivered, in order of time.  May be NULL. */
	void (*delivered)(void *context, const struct dl_emu_delivery *d);
};

/* ---- running ----------------------------------------------------------- */

struct dl_emu;

/*
 * Set up a run.  Everything given is borrowed, except the configuration
 * itself.  Returns 0; -EINVAL (reported: what the configuration or the tables
 * lack), -E2BIG (too many pairs for statistics), -ENOMEM.
 */
int dl_emu_new(const struct dl_tables *t, const struct dl_emu_config *c,
	       const struct dl_emu_source *source, const struct dl_log *log,
	       struct dl_emu **out);
void dl_emu_free(struct dl_emu *emu);

enum dl_emu_state {
	DL_EMU_RUNNING,		/* the time asked for is reached */
	DL_EMU_DONE,		/* nothing is left to happen, all is delivered */
	DL_EMU_STUCK,		/* nothing can happen, packets are in flight */
	DL_EMU_DEADLOCK		/* found, and stop_on_deadlock is set */
};

/*
 * Run until this time, all events at it included.  Returns enum dl_emu_state;
 * -EOVERFLOW when max_packets are in flight; -EPROTO when a law of
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
	DL_EMU_LINK_DOWN,	/* the cable at `port`, both directions */
	DL_EMU_LINK_UP,
	DL_EMU_FCP_LOSS,	/* `rate` of flow-control packets sent by `port` */
	DL_EMU_FCP_CORRUPT,	/* the same, found by their check sum */
	DL_EMU_DATA_CORRUPT,	/* `rate` of data packets sent by `port` */
	DL_EMU_DRAIN_STOP,	/* the adapter port stops taking packets */
	DL_EMU_DRAIN_START,
	DL_EMU_DRAIN_RATE	/* it takes `rate` millionths of its link rate */
};

struct dl_emu_fault {
	enum dl_emu_fault_kind kind;
	uint32_t port;		/* port index */
	uint32_t rate;		/* millionths */
};

/* Something happens now.  Returns 0 or -EINVAL (reported). */
int dl_emu_fault(struct dl_emu *emu, const struct dl_emu_fault *fault);

/* ---- results ----------------------------------------------------------- */

/* Why a packet did not arrive. */
enum dl_emu_drop {
	DL_EMU_DROP_NO_ENTRY,	/* no forwarding entry, or an empty group */
	DL_EMU_DROP_DEAD_LINK,	/* the link is down, or there is no cable */
	DL_EMU_DROP_HOQ_LIFE,	/* waited too long at the head of a queue */
	DL_EMU_DROP_CORRUPT,	/* damaged on the wire */
	DL_EMU_DROP_SMP_FULL,	/* VL 15 has no credits */
	DL_EMU_DROP_NO_VL,	/* the SL maps to no VL of the output */
	DL_EMU_DROP_UNLISTED,	/* in no arbitration table, and `drop` is set */
	DL_EMU_DROP_WRONG_END,	/* handed to an end port it is not for */
	DL_EMU_DROPS
};

/*
 * Packets, counted as copies once multicast has split them: a packet that a
 * switch copies to n outputs is one delivered or dropped packet for each.
 */
struct dl_emu_totals {
	uint64_t injected;	/* made by adapters, plus copies made */
	uint64_t delivered;
	uint64_t dropped;	/* sum of drops[] */
	uint64_t in_flight;	/* injected - delivered - dropped */
	uint64_t drops[DL_EMU_DROPS];
	uint64_t delivered_bytes;	/* of data, without headers */
	uint64_t messages;	/* taken from the source */
	uint64_t packet_hops;	/* packets put on a link */
	uint64_t events;
	uint64_t fcps;		/* flow-control packets sent */
	uint64_t fcps_lost;
	uint64_t since;		/* when these counts began */
	uint64_t at;
};

struct dl_emu_level {
	uint64_t packets, bytes;	/* delivered; bytes of data */
	uint16_t sls;			/* SLs that were delivered */
	struct dl_histogram latency;	/* from the message's arrival, ps */
	struct dl_histogram network;	/* from the first bit sent, ps */
};

struct dl_emu_port {
	uint64_t packets;	/* data and VL 15 sent */
	uint64_t bytes;		/* of these, with headers */
	uint64_t busy_ps;	/* link time of these */
	uint64_t fcps;
	uint64_t wait_ps;	/* had data to send, and could not */
	uint64_t received_bytes;	/* adapters: data delivered */
	/* Dropped: see enum dl_emu_drop, and IBA 16.1.3.5. */
	uint32_t xmit_discards;	/* at the output: dead, too late, unlisted */
	uint32_t rcv_errors;	/* at the input: damaged */
	uint32_t relay_errors;	/* at the input: no entry, no VL */
	uint32_t vl15_dropped;	/* at the input */
};

struct dl_emu_vl {
	uint64_t packets, bytes;	/* sent, with headers */
};

struct dl_emu_pair {
	uint64_t packets, bytes;	/* bytes of data */
	uint64_t latency_sum, latency_max;
};

/* A VL that could send, and that the arbiter does not serve. */
struct dl_emu_starved {
	uint32_t port;
	uint8_t vl;
	bool unlisted;		/* no table names it */
	uint64_t since;
};

/* Good until the next call that changes the emulation. */
const struct dl_emu_totals *dl_emu_totals(struct dl_emu *emu);
const struct dl_emu_level *dl_emu_level(const struct dl_emu *emu,
					unsigned int level);
const struct dl_emu_port *dl_emu_port(struct dl_emu *emu, uint32_t port);
/* VL 0..15 of a port as sender; zeroes for one that it lacks. */
struct dl_emu_vl dl_emu_vl(const struct dl_emu *emu, uint32_t port,
			   unsigned int vl);
/* Number of data VLs at a port's link. */
unsigned int dl_emu_port_vls(const struct dl_emu *emu, uint32_t port);
/* NULL: none were kept.  Both are end ports. */
const struct dl_emu_pair *dl_emu_pair(const struct dl_emu *emu, uint32_t src,
				      uint32_t dst);

/* The deadlock's shortest circle in verify's form; 0: there is none. */
uint32_t dl_emu_cycle(const struct dl_emu *emu,
		      const struct dl_cycle_step **cycle);

/* VLs that starve now; at most `max` are written.  Returns how many do. */
uint32_t dl_emu_starved(const struct dl_emu *emu, struct dl_emu_starved *out,
			uint32_t max);

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
struct dl_rate {
	uint32_t num, den;
};

/* Returns 0, or -EINVAL for a speed or width that does not exist. */
int dl_rate_of(unsigned int speed, unsigned int width, struct dl_rate *out);

/* The time of so many bytes, rounded up to a picosecond. */
static inline uint64_t dl_rate_time(struct dl_rate r, uint64_t bytes)
{
	bytes *= r.num;
	return r.den == 1 ? bytes : (bytes + r.den - 1) / r.den;
}

/* Bytes a second, rounded down. */
static inline uint64_t dl_rate_bytes(struct dl_rate r)
{
	return UINT64_C(1000000000000) * r.den / r.num;
}

/* The rate of a port's link: the slower of both ends, by the configuration. */
int dl_emu_link_rate(const struct dl_fabric *f, const struct dl_emu_config *c,
		     uint32_t port, struct dl_rate *out);

#endif
