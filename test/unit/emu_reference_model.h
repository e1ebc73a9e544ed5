/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The inside of the emulator's reference model; see emu_reference.c. */
#ifndef TEST_EMU_REFERENCE_MODEL_H
#define TEST_EMU_REFERENCE_MODEL_H

#include "emu_reference.h"
#include "dateline/link.h"

#define VLS 16
#define MAX_SOON 20000
#define MAX_PACKETS 1000000
#define NOBODY UINT32_MAX

/* In the order in which they happen when their time is the same. */
enum kind {
	TAIL,
	CREDIT,
	ARRIVE,
	WAKE,
	MESSAGE,
	ENDED,
	BECN,
	PACED,
	TIMEOUT,
	TAKEN,
	HOQ,
	DEADLINE
};

struct soon {
	uint64_t time;
	enum kind kind;
	uint32_t who;	/* port, channel or flow */
	uint64_t value; /* packet; credit; output; generation */
	uint64_t lost;	/* credit: what its sender has lost */
	unsigned int epoch;
};

/* What a packet is of a reliable connection. */
struct sequence {
	enum { NO_CONNECTION, DATA, ACK, NAK } kind;
	uint32_t number, flow; /* flow: that of the data */
	uint16_t dlid;	       /* of the data */
	uint8_t sl;	       /* that the message asks for */
};

/* A packet, or a flit of one. */
struct packet {
	uint64_t created, injected, tail_in, since;
	uint32_t flow, bytes, data, in, out; /* in, out: channels */
	int parent;			     /* of a copy; else -1 */
	unsigned int copies, epoch;
	uint16_t dlid;
	uint8_t sl, level;
	bool first, final; /* flit of its packet */
	bool last, waiting, damaged, marked;
	struct sequence q;
};

struct queue {
	int *packet;
	unsigned int n, cap;
};

struct channel {
	struct queue stored; /* as receiver */
	bool reading;
	bool open;	       /* the rest of a worm is still to come */
	int discard;	       /* throw away up to the tail, counted as this; or -1 */
	uint32_t to;	       /* of the worm that passes: its output */
	int64_t entered, told; /* units, as receiver; what was promised */
	int64_t held;	       /* chunks in use */
	int64_t healed;
	struct queue waiting; /* as sender */
	uint32_t owner;	      /* input channel of the worm that has it, or NOBODY */
	int64_t sent, limit;  /* units; that may be sent */
	int64_t lost;
	uint32_t unmarked; /* packets since the last mark */
};

struct port {
	struct dl_link_arbiter arb;
	struct dl_link_arb_program program;
	struct channel vl[VLS];
	unsigned int vls;
	unsigned int tell;    /* VLs with a flow-control packet to send */
	unsigned int unheard; /* VLs that lack credit since the link came up */
	uint64_t busy_until, due;
	uint64_t start; /* deadlines are whole spans later */
	int sending;	/* packet, or -1 */
	struct packet sent;
	unsigned int sent_vl, readers, epoch;
	bool wake, down;
	uint64_t delay;
	uint32_t fcp_loss, fcp_corrupt, damage; /* millionths */
	struct dl_random random;
	/* Switches with an SL table: the entry, what it has left, and whether it is in use. */
	unsigned int sl_entry;
	int64_t sl_left;
	bool sl_live;
	/* Adapters: flows, and the places in front of the link. */
	int flow, ack_flow;
	uint64_t tickets;
	bool taken[VLS];
	uint64_t started[VLS];
	struct queue arrived; /* to be taken in */
	bool stopped, draining;
	uint32_t rate;
};

struct flow {
	struct dl_emu_message m;
	uint32_t left, under_way;
	uint8_t sl;
	bool active, waiting, ended;
	uint32_t index; /* of congestion control */
	uint64_t ticks, paced;
	bool queued; /* for its turn, by ticket */
	uint64_t ticket;
	struct sender *sender; /* NULL: no reliable connections */
};

struct answer {
	struct sequence q;
	uint16_t to;
	uint8_t level;
};

/* The answers of an adapter that wait; that of its flow's message. */
struct answers {
	struct answer *list, now;
	unsigned int n;
};

struct model {
	struct emu_fixture *w;
	uint64_t now;
	struct dl_emu_rate rate;
	struct port *ports;
	struct flow flows[2 * EMU_MAX_FLOWS]; /* then those of acknowledgements, by adapter */
	struct answers answers[EMU_MAX_FLOWS];
	uint32_t *expected; /* by receiving adapter, then flow: numbers of packets; and ... */
	bool *asked;	    /* ... was the packet asked for? */
	struct soon *soon;
	unsigned int nsoon, ndeadlines;
	struct packet *packets;
	int npackets;
	bool losses; /* were asked for */
	struct dl_emu_totals totals;
};

static inline bool has_worms(const struct model *t)
{
	return t->w->c.switching == DL_EMU_WORMHOLE;
}

static inline bool has_voqs(const struct model *t)
{
	return t->w->c.queues == DL_EMU_VOQ;
}

static inline bool has_retries(const struct model *t)
{
	return t->w->c.retries.timeout_ps;
}

/* The port that sends a flow. */
static inline uint32_t port_of(const struct model *t, uint32_t flow)
{
	return flow < t->w->nflows ? t->w->flow_port[flow] : t->w->adapter[flow - t->w->nflows];
}

static inline unsigned int units(const struct model *t, uint32_t bytes)
{
	uint32_t unit = 64;

	if (t->w->c.flow_control == DL_LINK_CREDIT_PCIE) {
		if (!has_worms(t))
			return 1;
		unit = t->w->c.flit;
	}
	return ((has_worms(t) ? bytes : bytes - 10) + unit - 1) / unit;
}

static inline uint64_t wire_time(const struct model *t, uint32_t bytes)
{
	return dl_emu_rate_time(t->rate, bytes);
}

static inline struct soon *later(struct model *t, uint64_t time, enum kind kind, uint32_t who,
				 uint64_t value)
{
	assert_true(t->nsoon < MAX_SOON);
	t->soon[t->nsoon] = (struct soon){ .time = time, .kind = kind, .who = who, .value = value };
	t->ndeadlines += kind == DEADLINE;
	return &t->soon[t->nsoon++];
}

static inline void insert(struct queue *q, unsigned int at, int packet)
{
	if (q->n == q->cap) {
		q->cap = 2 * q->cap + 8;
		q->packet = realloc(q->packet, q->cap * sizeof(*q->packet));
		assert_non_null(q->packet);
	}
	for (unsigned int i = q->n++; i > at; i--)
		q->packet[i] = q->packet[i - 1];
	q->packet[at] = packet;
}

static inline int leave(struct queue *q, unsigned int at)
{
	int packet = q->packet[at];

	q->n--;
	for (unsigned int i = at; i < q->n; i++)
		q->packet[i] = q->packet[i + 1];
	return packet;
}

static inline void take_out(struct queue *q, int packet)
{
	unsigned int at = 0;

	while (q->packet[at] != packet)
		at++;
	leave(q, at);
}

static inline struct channel *channel(struct model *t, uint32_t number)
{
	return &t->ports[number / VLS].vl[number % VLS];
}

static inline bool is_switch(const struct model *t, uint32_t port)
{
	return dl_fabric_is_switch(t->w->f, t->w->f->ports[port].node);
}

static inline const struct dl_fabric_node *node_of(const struct model *t, uint32_t port)
{
	return &t->w->f->nodes[t->w->f->ports[port].node];
}

/* What is promised of so much room. */
static inline int64_t most(int64_t room)
{
	return room < 2048 ? room : 2048;
}

static inline int64_t promise(const struct model *t, const struct channel *c)
{
	return c->entered + most(t->w->c.buffer / t->w->c.chunk - c->held);
}

/* What a packet of so many units takes of the buffer. */
static inline int64_t chunks(const struct model *t, unsigned int n)
{
	return (n + t->w->c.chunk - 1) / t->w->c.chunk;
}

static inline uint64_t span(const struct model *t)
{
	return wire_time(t, DL_LINK_FCP_DEADLINE);
}

/* A link, both ends: emu_reference_link.c. */
void emu_ref_begin_losses(struct model *t);
void emu_ref_deadline(struct model *t, uint32_t port, uint64_t start);
void emu_ref_maybe_send_credit(struct model *t, uint32_t in);
void emu_ref_release(struct model *t, uint32_t in, unsigned int n);
void emu_ref_take_credit(struct model *t, const struct soon *s);
void emu_ref_transmit(struct model *t, uint32_t port);

/* Switches and adapters: emu_reference_node.c. */
void emu_ref_ask_next(struct model *t, uint32_t in, uint32_t out);
void emu_ref_arrive(struct model *t, uint32_t in, int id);
void emu_ref_drop_waiting(struct model *t, uint32_t out, unsigned int at, enum dl_emu_drop cause);
void emu_ref_enter(struct model *t, uint32_t in, int id);
void emu_ref_expire(struct model *t, uint32_t in, uint32_t out);
void emu_ref_fill(struct model *t, uint32_t port);
void emu_ref_becn(struct model *t, int flow);
void emu_ref_lose(struct model *t, int id, enum dl_emu_drop cause);
int emu_ref_new_packet(struct model *t, struct packet like);
void emu_ref_next_message(struct model *t, int flow);
void emu_ref_start(struct model *t, int flow);
void emu_ref_begin(struct model *t, int flow);
void emu_ref_line_up(struct model *t, int flow);
void emu_ref_again(struct model *t, int flow);
void emu_ref_tail(struct model *t, uint32_t port);
void emu_ref_take(struct model *t, int id);
void emu_ref_take_in(struct model *t, uint32_t port);

/* Reliable connections: emu_reference_retries.c. */
void emu_ref_rc_set_up(struct model *t);
void emu_ref_rc_free(struct model *t);
bool emu_ref_rc_next(struct model *t, int flow);
void emu_ref_rc_append(struct model *t, int flow);
void emu_ref_rc_due(struct model *t, int flow);
void emu_ref_rc_number(struct model *t, int flow, struct packet *pk);
void emu_ref_rc_sent(struct model *t, int flow);
void emu_ref_rc_timeout(struct model *t, int flow);
bool emu_ref_rc_has_broken(const struct model *t, int flow);
bool emu_ref_rc_next_ack(struct model *t, int flow);
bool emu_ref_rc_take(struct model *t, int id, uint32_t port);
const struct dl_emu_message *emu_ref_rc_message(struct model *t, int flow);

#endif
