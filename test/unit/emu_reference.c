/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The emulator's reference model.
 *
 * The same rules, written down once more as plainly as possible: a list of
 * what will happen, searched from one end to the other for what is next;
 * queues that are moved up when their head leaves; credit as three numbers
 * that are never taken modulo anything; an event for each flow-control
 * packet and for each deadline; flits that are packets of their own.  It
 * shares the arbiter with the emulator (which has a reference model of its
 * own), random numbers, and the order of what happens at the same time, which
 * is part of the rules.  Every delivery must be the same, to the picosecond.
 *
 * It knows one flow an adapter, and one speed for all links.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu_reference.h"
#include "dateline/link.h"

#define VLS 16
#define MAX_QUEUE 256
#define MAX_SOON 20000
#define MAX_PACKETS 1000000
#define NOBODY UINT32_MAX

/* In the order in which they happen when their time is the same. */
enum kind { TAIL, CREDIT, ARRIVE, WAKE, MESSAGE, ENDED, TAKEN, HOQ, DEADLINE };

struct soon {
	uint64_t time;
	enum kind kind;
	uint32_t who;	/* port, channel or flow */
	uint64_t value; /* packet; credit; output; generation */
	uint64_t lost;	/* credit: what its sender has lost */
	unsigned int epoch;
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
	bool last, waiting, damaged;
};

struct queue {
	int packet[MAX_QUEUE];
	unsigned int n;
};

struct channel {
	struct queue stored; /* as receiver */
	bool reading;
	bool open;		     /* the rest of a worm is still to come */
	int discard;		     /* throw away up to the tail, counted as this; or -1 */
	uint32_t to;		     /* of the worm that passes: its output */
	int64_t entered, gone, told; /* units, as receiver; what was promised */
	int64_t healed;
	struct queue waiting; /* as sender */
	uint32_t owner;	      /* input channel of the worm that has it, or NOBODY */
	int64_t sent, limit;  /* units; that may be sent */
	int64_t lost;
};

struct port {
	struct dl_link_arbiter arb;
	struct dl_link_arb_program program;
	struct channel vl[VLS];
	unsigned int vls;
	unsigned int tell; /* VLs with a flow-control packet to send */
	uint64_t busy_until, due;
	uint64_t start; /* deadlines are whole spans later */
	int sending;	/* packet, or -1 */
	struct packet sent;
	unsigned int sent_vl, readers, epoch;
	bool wake, down;
	uint64_t delay;
	uint32_t fcp_loss, fcp_corrupt, damage; /* millionths */
	struct dl_random random;
	/* Adapters: the flow, one each, and the places in front of the link. */
	int flow;
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
};

struct model {
	struct emu_fixture *w;
	uint64_t now;
	struct dl_emu_rate rate;
	struct port *ports;
	struct flow flows[EMU_MAX_FLOWS];
	struct soon *soon;
	unsigned int nsoon, ndeadlines;
	struct packet *packets;
	int npackets;
	bool losses; /* were asked for */
	struct dl_emu_totals totals;
};

static bool has_worms(const struct model *t)
{
	return t->w->c.switching == DL_EMU_WORMHOLE;
}

static unsigned int units(const struct model *t, uint32_t bytes)
{
	uint32_t unit = 64;

	if (t->w->c.flow_control == DL_LINK_CREDIT_PCIE) {
		if (!has_worms(t))
			return 1;
		unit = t->w->c.flit;
	}
	return ((has_worms(t) ? bytes : bytes - 10) + unit - 1) / unit;
}

static uint64_t wire_time(const struct model *t, uint32_t bytes)
{
	return dl_emu_rate_time(t->rate, bytes);
}

static struct soon *later(struct model *t, uint64_t time, enum kind kind, uint32_t who,
			  uint64_t value)
{
	assert_true(t->nsoon < MAX_SOON);
	t->soon[t->nsoon] = (struct soon){ .time = time, .kind = kind, .who = who, .value = value };
	t->ndeadlines += kind == DEADLINE;
	return &t->soon[t->nsoon++];
}

static void insert(struct queue *q, unsigned int at, int packet)
{
	assert_true(q->n < MAX_QUEUE);
	for (unsigned int i = q->n++; i > at; i--)
		q->packet[i] = q->packet[i - 1];
	q->packet[at] = packet;
}

static int leave(struct queue *q, unsigned int at)
{
	int packet = q->packet[at];

	q->n--;
	for (unsigned int i = at; i < q->n; i++)
		q->packet[i] = q->packet[i + 1];
	return packet;
}

static struct channel *channel(struct model *t, uint32_t number)
{
	return &t->ports[number / VLS].vl[number % VLS];
}

static bool is_switch(const struct model *t, uint32_t port)
{
	return dl_fabric_is_switch(t->w->f, t->w->f->ports[port].node);
}

static const struct dl_fabric_node *node_of(const struct model *t, uint32_t port)
{
	return &t->w->f->nodes[t->w->f->ports[port].node];
}

static void look(struct model *t, uint32_t in);
static void transmit(struct model *t, uint32_t port);

/* ---- credit ------------------------------------------------------------ */

/* What is promised of so much room. */
static int64_t most(int64_t room)
{
	return room < 2048 ? room : 2048;
}

static int64_t promise(const struct model *t, const struct channel *c)
{
	return c->entered + most(t->w->c.buffer + c->gone - c->entered);
}

static void maybe_send_credit(struct model *t, uint32_t in)
{
	struct channel *c = channel(t, in);
	int64_t fresh = promise(t, c) - c->told;
	unsigned int largest = units(t, t->w->c.mtu + DL_EMU_MCAST_HEADERS);

	if (largest > t->w->c.buffer)
		largest = units(t, t->w->c.flit);
	if (!fresh || t->ports[in / VLS].down)
		return;
	if (fresh < (most(t->w->c.buffer) + 3) / 4 && c->told - c->entered >= largest)
		return;
	if (t->ports[in / VLS].tell >> in % VLS & 1)
		return;
	t->ports[in / VLS].tell |= 1u << in % VLS;
	transmit(t, in / VLS);
}

static void release(struct model *t, uint32_t in, unsigned int n)
{
	channel(t, in)->gone += n;
	maybe_send_credit(t, in);
}

static uint64_t span(const struct model *t)
{
	return wire_time(t, DL_LINK_FCP_DEADLINE);
}

static bool has_news(const struct model *t, const struct port *p, unsigned int vl)
{
	return promise(t, &p->vl[vl]) != p->vl[vl].told;
}

/*
 * One or more of a port's deadlines have passed.  If the link was busy until
 * now all VLs are told; if it is free only those with news, and in time.
 */
static void pass_deadline(struct model *t, struct port *p, bool in_time)
{
	bool is_free = !t->losses && p->busy_until < t->now;

	for (unsigned int vl = 0; vl < p->vls; vl++)
		if (!is_free || (in_time && has_news(t, p, vl)))
			p->tell |= 1u << vl;
	while (p->due <= t->now)
		p->due += span(t);
}

static void deadline(struct model *t, uint32_t port, uint64_t start)
{
	struct port *p = &t->ports[port];
	bool news = t->losses;

	if (p->start != start) /* the link was down since */
		return;
	for (unsigned int vl = 0; vl < p->vls; vl++)
		news |= has_news(t, p, vl);
	if (news && !p->down) {
		pass_deadline(t, p, true);
		transmit(t, port);
	}
	later(t, t->now + span(t), DEADLINE, port, start);
}

/* ---- what is lost ------------------------------------------------------ */

static bool happens(struct port *p, uint32_t millionths)
{
	return millionths && dl_random_below(&p->random, 1000000) < millionths;
}

static void finish(struct model *t, const struct packet *pk)
{
	if (pk->last && pk->dlid < DL_TABLES_MCAST_LID && t->w->flow_window[pk->flow])
		later(t, t->now, ENDED, pk->flow, 0);
}

static void lose(struct model *t, int id, enum dl_emu_drop cause)
{
	const struct packet *pk = &t->packets[id];

	if (!pk->final || !pk->bytes)
		return;
	t->totals.dropped++;
	t->totals.drops[cause]++;
	finish(t, pk);
}

/* Throw away the head of a buffer, and what belongs to it. */
static void drop_head(struct model *t, uint32_t in, enum dl_emu_drop cause)
{
	struct channel *c = channel(t, in);
	int id = leave(&c->stored, 0);

	c->discard = t->packets[id].final ? -1 : (int)cause;
	release(t, in, units(t, t->packets[id].bytes));
	lose(t, id, cause);
}

static void copy_gone(struct model *t, int parent)
{
	uint32_t in = t->packets[parent].in;

	if (--t->packets[parent].copies)
		return;
	channel(t, in)->reading = false;
	leave(&channel(t, in)->stored, 0);
	release(t, in, units(t, t->packets[parent].bytes));
	look(t, in);
}

/* A packet that waits for an output. */
static void drop_waiting(struct model *t, uint32_t out, unsigned int at, enum dl_emu_drop cause)
{
	int id = leave(&channel(t, out)->waiting, at);

	t->packets[id].waiting = false;
	if (t->packets[id].parent < 0) {
		drop_head(t, t->packets[id].in, cause);
		look(t, t->packets[id].in);
		return;
	}
	lose(t, id, cause);
	copy_gone(t, t->packets[id].parent);
}

/* ---- the sending end --------------------------------------------------- */

static void tell(struct model *t, uint32_t port)
{
	struct port *p = &t->ports[port];
	unsigned int vl = __builtin_ctz(p->tell);
	struct channel *c = &p->vl[vl];
	uint32_t peer = t->w->f->ports[port].peer;
	struct soon *s;

	p->tell &= ~(1u << vl);
	c->told = promise(t, c);
	p->busy_until = t->now + wire_time(t, DL_LINK_FCP_SYMBOLS);
	if (happens(p, p->fcp_loss) || happens(p, p->fcp_corrupt))
		return;
	s = later(t, p->busy_until + p->delay + t->w->c.credit_latency_ps, CREDIT, peer * VLS + vl,
		  c->told);
	s->lost = c->lost;
	s->epoch = p->epoch;
}

static void take_credit(struct model *t, const struct soon *s)
{
	struct port *p = &t->ports[s->who / VLS];
	struct channel *c = channel(t, s->who);

	if (p->down || p->epoch != s->epoch)
		return;
	c->limit = s->value;
	if ((int64_t)s->lost != c->healed) {
		c->entered += s->lost - c->healed;
		c->gone += s->lost - c->healed;
		c->healed = s->lost;
		maybe_send_credit(t, s->who);
	}
	/* At the same time the link becomes free: that comes later. */
	if (!p->wake)
		transmit(t, s->who / VLS);
}

/* Which of those that wait for a channel can go, as far as inputs go; or -1. */
static int candidate(struct model *t, const struct channel *c)
{
	for (unsigned int i = 0; i < c->waiting.n; i++) {
		uint32_t in = t->packets[c->waiting.packet[i]].in;

		if (c->owner != NOBODY && (i || in != c->owner))
			return -1;
		if (!t->w->c.speedup || !is_switch(t, in / VLS) ||
		    t->ports[in / VLS].readers < t->w->c.speedup)
			return i;
	}
	return -1;
}

static void send(struct model *t, uint32_t port, unsigned int vl, unsigned int at)
{
	struct port *p = &t->ports[port];
	int id = leave(&p->vl[vl].waiting, at);
	struct packet *pk = &t->packets[id];
	uint32_t peer = t->w->f->ports[port].peer;

	pk->waiting = false;
	p->sending = id;
	p->sent = *pk;
	p->sent_vl = vl;
	if (has_worms(t))
		p->vl[vl].owner = pk->final ? NOBODY : pk->in;
	if (!is_switch(t, port)) {
		if (pk->first)
			p->started[vl] = t->now;
		pk->injected = p->started[vl];
	} else {
		t->ports[pk->in / VLS].readers++;
		if (pk->parent < 0) {
			leave(&channel(t, pk->in)->stored, 0);
			channel(t, pk->in)->reading = true;
		}
	}
	p->vl[vl].sent += units(t, pk->bytes);
	if (happens(p, p->damage)) {
		pk->damaged = true;
		if (!has_worms(t))
			p->vl[vl].lost += units(t, pk->bytes);
	}
	t->totals.packet_hops += pk->first;
	p->busy_until = t->now + wire_time(t, pk->bytes ? pk->bytes : 1);
	later(t, p->busy_until, TAIL, port, 0);
	pk->in = peer * VLS + vl;
	pk->parent = -1;
	pk->epoch = p->epoch;
	pk->tail_in = p->busy_until + p->delay;
	if (!is_switch(t, peer))
		later(t, pk->tail_in, ARRIVE, pk->in, id);
	else if (t->w->c.switching == DL_EMU_CUT_THROUGH)
		later(t, t->now + p->delay + wire_time(t, 8) + t->w->c.switch_latency_ps, ARRIVE,
		      pk->in, id);
	else
		later(t, pk->tail_in + t->w->c.switch_latency_ps, ARRIVE, pk->in, id);
}

/* What can be sent by each VL: which of its queue, or -1. */
static unsigned int find_able(struct model *t, const struct port *p, int at[VLS])
{
	unsigned int able = 0;

	for (unsigned int vl = 0; vl < VLS; vl++) {
		const struct channel *c = &p->vl[vl];

		at[vl] = candidate(t, c);
		if (at[vl] >= 0 &&
		    c->sent + units(t, t->packets[c->waiting.packet[at[vl]]].bytes) <= c->limit)
			able |= 1u << vl;
	}
	return able;
}

static bool is_wanted(const struct port *p)
{
	bool wanted = p->tell != 0;

	for (unsigned int vl = 0; vl < VLS; vl++)
		wanted |= p->vl[vl].waiting.n > 0;
	return wanted && p->sending < 0 && !p->down;
}

static void transmit(struct model *t, uint32_t port)
{
	struct port *p = &t->ports[port];
	struct dl_link_pick pick;
	int at[VLS];

	while (is_wanted(p)) {
		unsigned int able;

		if (t->now < p->busy_until) {
			if (!p->wake)
				later(t, p->busy_until, WAKE, port, 0);
			p->wake = true;
			return;
		}
		if (t->now >= p->due)
			pass_deadline(t, p, t->now == p->due);
		if (p->tell) {
			tell(t, port);
			continue;
		}
		able = find_able(t, p, at);
		if (dl_link_arbiter_pick(&p->arb, false, false, able, &pick) != DL_LINK_DATA)
			return;
		dl_link_arbiter_charge(&p->arb, &pick,
				       t->packets[p->vl[pick.vl].waiting.packet[at[pick.vl]]].bytes,
				       NULL);
		send(t, port, pick.vl, at[pick.vl]);
	}
}

/* ---- switches ---------------------------------------------------------- */

/*
 * The channel to a port of a packet's switch, in *out.  Returns -1; or why
 * there is none.
 */
static int find_channel(struct model *t, int id, unsigned int number, uint32_t *out)
{
	uint32_t in = t->packets[id].in;
	const struct dl_fabric_node *n = node_of(t, in / VLS);
	uint32_t port = n->first_port + number;
	unsigned int vl = dl_tables_sl2vl_get(
		t->w->t->rows[t->w->t->sl2vl[t->w->t->sl2vl_first[n->sw] +
					     t->w->f->ports[in / VLS].num * (n->nports + 1) +
					     number]],
		t->packets[id].sl);

	if (t->w->f->ports[port].peer == DL_NONE || (t->ports[port].down && !t->w->c.hoq_life_ps))
		return DL_EMU_DROP_DEAD_LINK;
	*out = port * VLS + vl;
	return -1;
}

static void ask(struct model *t, int id, uint32_t out)
{
	struct packet *pk = &t->packets[id];
	struct channel *c = channel(t, out);

	pk->waiting = true;
	pk->out = out;
	pk->since = t->now;
	/* The next flit of the worm that passes goes first. */
	insert(&c->waiting, !pk->first && c->owner == pk->in ? 0 : c->waiting.n, id);
	if (pk->first && t->w->c.hoq_life_ps)
		later(t, t->now + t->w->c.hoq_life_ps, HOQ, pk->in, out);
	transmit(t, out / VLS);
}

static int new_packet(struct model *t, struct packet like)
{
	assert_true(t->npackets < MAX_PACKETS);
	t->packets[t->npackets] = like;
	return t->npackets++;
}

/* Copies of a multicast packet.  False: there are none, and it is gone. */
static bool spread(struct model *t, int id, uint32_t in)
{
	const struct dl_fabric_node *n = node_of(t, in / VLS);
	const uint64_t *mask = &t->w->t->groups[0].masks[n->sw * DL_TABLES_MASK_WORDS];
	unsigned int made = 0;

	channel(t, in)->reading = true;
	t->packets[id].copies = 1; /* so that none is the last too early */
	for (unsigned int i = 1; i <= n->nports; i++) {
		struct packet copy = t->packets[id];
		uint32_t out;
		int made_id, cause;

		if (i == t->w->f->ports[in / VLS].num || !(mask[i / 64] >> i % 64 & 1))
			continue;
		copy.parent = id;
		made_id = new_packet(t, copy);
		cause = find_channel(t, made_id, i, &out);
		made++;
		if (cause >= 0) {
			lose(t, made_id, cause);
			continue;
		}
		t->packets[id].copies++;
		ask(t, made_id, out);
	}
	if (--t->packets[id].copies) {
		t->totals.injected += made - 1;
		return true;
	}
	channel(t, in)->reading = false;
	leave(&channel(t, in)->stored, 0);
	release(t, in, units(t, t->packets[id].bytes));
	if (made)
		t->totals.injected += made - 1;
	else
		lose(t, id, DL_EMU_DROP_NO_ENTRY);
	return false;
}

/* One packet or flit.  False: it was dropped. */
static bool forward(struct model *t, int id, uint32_t in)
{
	const struct packet *pk = &t->packets[id];
	unsigned int number = dl_tables_lft(t->w->t, node_of(t, in / VLS)->sw, pk->dlid);
	int cause;

	if (pk->first) {
		cause = number == DL_TABLES_NO_PORT ?
				DL_EMU_DROP_NO_ENTRY :
				find_channel(t, id, number, &channel(t, in)->to);
		if (cause >= 0) {
			drop_head(t, in, cause);
			return false;
		}
	}
	ask(t, id, channel(t, in)->to);
	return true;
}

/* The head of a buffer looks for its way. */
static void look(struct model *t, uint32_t in)
{
	struct channel *c = channel(t, in);

	while (c->stored.n && !c->reading && !t->packets[c->stored.packet[0]].waiting) {
		int id = c->stored.packet[0];

		if (c->discard >= 0 && !t->packets[id].first)
			drop_head(t, in, c->discard);
		else if (t->packets[id].dlid >= DL_TABLES_MCAST_LID ? spread(t, id, in) :
								      forward(t, id, in))
			return;
	}
}

static void expire(struct model *t, uint32_t in, uint32_t out)
{
	struct queue *q = &channel(t, out)->waiting;
	unsigned int i = 0;

	while (i < q->n && t->packets[q->packet[i]].in != in)
		i++;
	if (i < q->n && t->packets[q->packet[i]].since + t->w->c.hoq_life_ps == t->now)
		drop_waiting(t, out, i,
			     t->ports[out / VLS].down ? DL_EMU_DROP_DEAD_LINK :
							DL_EMU_DROP_HOQ_LIFE);
}

/* ---- adapters ---------------------------------------------------------- */

static void start(struct model *t, int flow)
{
	struct flow *f = &t->flows[flow];
	uint32_t port = t->w->flow_port[flow];
	unsigned int sl = f->m.dlid >= DL_TABLES_MCAST_LID ?
				  DL_TABLES_NO_SL :
				  dl_tables_path_sl(t->w->t, port, f->m.dlid);

	f->waiting = false;
	f->active = true;
	f->left = f->m.bytes;
	f->sl = (sl == DL_TABLES_NO_SL ? 0 : sl) | (f->m.level ? 8 : 0);
}

static void next_message(struct model *t, int flow)
{
	struct flow *f = &t->flows[flow];
	unsigned int window = t->w->flow_window[flow];

	while (!f->active && !f->waiting && !f->ended) {
		if (window && f->under_way >= window)
			return;
		if (!emu_fixture_message(t->w, flow, t->now, &f->m)) {
			f->ended = true;
			return;
		}
		f->under_way++;
		if (f->m.at > t->now) {
			f->waiting = true;
			later(t, f->m.at, MESSAGE, flow, 0);
			return;
		}
		start(t, flow);
	}
}

/* A packet, or its flits, in front of the link. */
static void make_packet(struct model *t, struct packet pk)
{
	bool worm = has_worms(t) && pk.dlid < DL_TABLES_MCAST_LID;
	uint32_t total = pk.bytes, flit = worm ? t->w->c.flit : total;
	struct queue *q = &channel(t, pk.in)->waiting;

	for (uint32_t made = 0; made < total; made += pk.bytes) {
		pk.bytes = total - made < flit ? total - made : flit;
		pk.first = !made;
		pk.final = made + pk.bytes == total;
		insert(q, q->n, new_packet(t, pk));
	}
	t->totals.injected++;
}

/* Make packets as long as there is a place for the next one. */
static void fill(struct model *t, uint32_t port)
{
	struct port *p = &t->ports[port];
	struct flow *f = &t->flows[p->flow];

	while (p->flow >= 0 && f->active) {
		unsigned int vl =
			dl_tables_sl2vl_get(t->w->t->rows[t->w->t->end_sl2vl[port]], f->sl);
		bool multicast = f->m.dlid >= DL_TABLES_MCAST_LID;
		struct packet pk = {
			.created = f->m.at,
			.flow = p->flow,
			.parent = -1,
			.in = port * VLS + vl,
			.dlid = f->m.dlid,
			.sl = f->sl,
			.level = f->m.level,
			.waiting = true,
		};

		if (p->taken[vl])
			return;
		p->taken[vl] = true;
		pk.data = f->left < t->w->c.mtu ? f->left : t->w->c.mtu;
		pk.bytes = pk.data + (multicast ? DL_EMU_MCAST_HEADERS : DL_EMU_HEADERS);
		f->left -= pk.data;
		pk.last = !f->left;
		make_packet(t, pk);
		if (pk.last) {
			f->active = false;
			next_message(t, p->flow);
		}
	}
}

static void deliver(struct model *t, int id, uint32_t in)
{
	const struct packet *pk = &t->packets[id];
	struct dl_emu_delivery d = {
		.created = pk->created,
		.injected = pk->injected,
		.at = t->now,
		.flow = pk->flow,
		.dst = in / VLS,
		.bytes = pk->data,
		.dlid = pk->dlid,
		.level = pk->level,
		.sl = pk->sl,
		.last = pk->last,
	};

	emu_fixture_note(t->w, &d);
	finish(t, pk);
}

/* All of a packet or flit is in the adapter. */
static void take(struct model *t, int id)
{
	const struct packet *pk = &t->packets[id];
	struct channel *c = channel(t, pk->in);

	if (pk->damaged)
		c->discard = DL_EMU_DROP_CORRUPT;
	if (pk->final) {
		if (c->discard >= 0)
			lose(t, id, c->discard);
		else
			deliver(t, id, pk->in);
		c->discard = -1;
	}
	release(t, pk->in, units(t, pk->bytes));
}

static void take_in(struct model *t, uint32_t port)
{
	struct port *p = &t->ports[port];
	uint64_t time;

	if (p->draining || p->stopped || !p->arrived.n || !p->rate)
		return;
	time = wire_time(t, t->packets[p->arrived.packet[0]].bytes);
	p->draining = true;
	later(t, t->now + time * 1000000 / p->rate, TAKEN, port, 0);
}

static void receive(struct model *t, uint32_t port, int id)
{
	struct port *p = &t->ports[port];

	if (!p->stopped && p->rate >= 1000000 && !p->arrived.n) {
		take(t, id);
		return;
	}
	insert(&p->arrived, p->arrived.n, id);
	take_in(t, port);
}

/* ---- what happens ------------------------------------------------------ */

/* Into the buffer: of an adapter, or of a switch. */
static void enter(struct model *t, uint32_t in, int id)
{
	struct channel *c = channel(t, in);

	c->open = !t->packets[id].final;
	if (!is_switch(t, in / VLS)) {
		receive(t, in / VLS, id);
		return;
	}
	insert(&c->stored, c->stored.n, id);
	look(t, in);
}

static void arrive(struct model *t, uint32_t in, int id)
{
	const struct packet *pk = &t->packets[id];

	if (pk->epoch != t->ports[in / VLS].epoch || (pk->damaged && !has_worms(t))) {
		lose(t, id,
		     pk->epoch == t->ports[in / VLS].epoch ? DL_EMU_DROP_CORRUPT :
							     DL_EMU_DROP_DEAD_LINK);
		return;
	}
	channel(t, in)->entered += units(t, pk->bytes);
	maybe_send_credit(t, in);
	enter(t, in, id);
}

static void tail_of_adapter(struct model *t, uint32_t port)
{
	struct port *p = &t->ports[port];
	const struct packet *pk = &p->sent;

	if (pk->dlid >= DL_TABLES_MCAST_LID && pk->last && t->w->flow_window[pk->flow])
		later(t, t->now, ENDED, pk->flow, 0);
	if (!pk->final)
		return;
	p->taken[p->sent_vl] = false;
	fill(t, port);
}

static void tail(struct model *t, uint32_t port)
{
	struct port *p = &t->ports[port];
	uint32_t in = p->sent.in;
	int parent = p->sent.parent;

	p->sending = -1;
	if (!is_switch(t, port)) {
		tail_of_adapter(t, port);
		transmit(t, port);
		return;
	}
	t->ports[in / VLS].readers--;
	if (parent < 0) {
		channel(t, in)->reading = false;
		release(t, in, units(t, p->sent.bytes));
		look(t, in);
	} else {
		copy_gone(t, parent);
	}
	for (uint32_t i = 1; t->w->c.speedup && i <= node_of(t, port)->nports; i++)
		transmit(t, node_of(t, port)->first_port + i);
	transmit(t, port);
}

static void happen(struct model *t, const struct soon *s)
{
	switch (s->kind) {
	case TAIL:
		tail(t, s->who);
		break;
	case CREDIT:
		take_credit(t, s);
		break;
	case ARRIVE:
		arrive(t, s->who, s->value);
		break;
	case WAKE:
		t->ports[s->who].wake = false;
		transmit(t, s->who);
		break;
	case MESSAGE:
	case ENDED:
		if (s->kind == MESSAGE)
			start(t, s->who);
		else
			t->flows[s->who].under_way--;
		next_message(t, s->who);
		fill(t, t->w->flow_port[s->who]);
		transmit(t, t->w->flow_port[s->who]);
		break;
	case TAKEN:
		t->ports[s->who].draining = false;
		take(t, leave(&t->ports[s->who].arrived, 0));
		take_in(t, s->who);
		break;
	case HOQ:
		expire(t, s->who, s->value);
		break;
	case DEADLINE:
		deadline(t, s->who, s->value);
		break;
	}
}

/* ---- faults ------------------------------------------------------------ */

/* The worms that are passing a port are cut in two. */
static void cut_worms(struct model *t, uint32_t port)
{
	struct port *p = &t->ports[port];

	for (unsigned int vl = 0; vl < VLS - 1; vl++) {
		struct channel *c = &p->vl[vl];
		uint32_t owner = c->owner, out = port * VLS + vl;
		struct packet end = { .final = true, .parent = -1, .in = out, .damaged = true };
		unsigned int i = 0;

		c->owner = NOBODY;
		if (owner != NOBODY && !is_switch(t, port)) {
			int id;

			do {
				id = leave(&c->waiting, 0);
				lose(t, id, DL_EMU_DROP_DEAD_LINK);
			} while (!t->packets[id].final);
			p->taken[vl] = false;
		} else if (owner != NOBODY) {
			channel(t, owner)->discard = DL_EMU_DROP_DEAD_LINK;
			while (i < c->waiting.n && t->packets[c->waiting.packet[i]].in != owner)
				i++;
			if (i < c->waiting.n)
				drop_waiting(t, out, i, DL_EMU_DROP_DEAD_LINK);
		}
		if (c->open)
			enter(t, out, new_packet(t, end));
	}
	if (!is_switch(t, port))
		fill(t, port);
}

static void link_down(struct model *t, const uint32_t port[2])
{
	for (unsigned int i = 0; i < 2; i++) {
		t->ports[port[i]].down = true;
		t->ports[port[i]].epoch++;
		t->ports[port[i]].tell = 0;
	}
	for (unsigned int i = 0; i < 2 && has_worms(t); i++)
		cut_worms(t, port[i]);
	for (unsigned int i = 0; i < 2; i++)
		for (unsigned int vl = 0; vl < VLS; vl++)
			while (is_switch(t, port[i]) && !t->w->c.hoq_life_ps &&
			       t->ports[port[i]].vl[vl].waiting.n)
				drop_waiting(t, port[i] * VLS + vl, 0, DL_EMU_DROP_DEAD_LINK);
}

static void link_up(struct model *t, const uint32_t port[2])
{
	for (unsigned int i = 0; i < 2; i++) {
		struct port *p = &t->ports[port[i]], *q = &t->ports[port[!i]];

		for (unsigned int vl = 0; vl < VLS; vl++) {
			p->vl[vl].gone -= p->vl[vl].entered;
			p->vl[vl].entered = p->vl[vl].healed = 0;
			q->vl[vl].sent = q->vl[vl].lost = 0;
			p->vl[vl].told = q->vl[vl].limit = promise(t, &p->vl[vl]);
		}
		p->down = false;
		p->start = t->now;
		p->due = t->now + span(t);
		later(t, p->due, DEADLINE, port[i], p->start);
	}
	transmit(t, port[0]);
	transmit(t, port[1]);
}

static void fault(struct model *t, const struct dl_emu_fault *fault)
{
	const uint32_t ends[2] = { fault->port, t->w->f->ports[fault->port].peer };
	struct port *p = &t->ports[fault->port];

	switch (fault->kind) {
	case DL_EMU_LINK_DOWN:
		if (!p->down)
			link_down(t, ends);
		break;
	case DL_EMU_LINK_UP:
		if (p->down)
			link_up(t, ends);
		break;
	case DL_EMU_FCP_LOSS:
	case DL_EMU_FCP_CORRUPT:
	case DL_EMU_DATA_CORRUPT:
		t->losses = true;
		*(fault->kind == DL_EMU_FCP_LOSS    ? &p->fcp_loss :
		  fault->kind == DL_EMU_FCP_CORRUPT ? &p->fcp_corrupt :
						      &p->damage) = fault->rate;
		break;
	case DL_EMU_DRAIN_STOP:
	case DL_EMU_DRAIN_START:
		p->stopped = fault->kind == DL_EMU_DRAIN_STOP;
		take_in(t, fault->port);
		break;
	case DL_EMU_DRAIN_RATE:
		p->rate = fault->rate;
		take_in(t, fault->port);
		break;
	}
}

/* ---- all --------------------------------------------------------------- */

static bool before(const struct soon *a, const struct soon *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	if (a->kind != b->kind)
		return a->kind < b->kind;
	return a->who != b->who ? a->who < b->who : a->value < b->value;
}

static void set_up_port(struct model *t, uint32_t i, uint32_t number)
{
	const struct emu_fixture *w = t->w;
	const struct dl_fabric_port *port = &w->f->ports[i];
	struct dl_link_arb_options o = w->c.arbitration;
	struct port *p = &t->ports[i];
	uint32_t mm = w->c.cable_mm_all;

	p->sending = p->flow = -1;
	p->rate = 1000000;
	p->random = (struct dl_random){ w->c.seed, 0xE8000000 + number, 0 };
	for (unsigned int vl = 0; vl < VLS; vl++) {
		p->vl[vl].discard = -1;
		p->vl[vl].owner = NOBODY;
		p->vl[vl].limit = p->vl[vl].told = most(w->c.buffer);
	}
	if (port->peer == DL_NONE)
		return;
	p->vls = o.nvls = port->vls ? port->vls : w->c.default_vls;
	o.high_cap = port->arb_high_cap;
	o.low_cap = port->arb_low_cap;
	dl_link_arb_compile(&w->t->arbs[w->t->vlarb[i]], &o, &p->program);
	dl_link_arbiter_init(&p->arb, &p->program);
	if (w->c.cable_mm)
		mm = w->c.cable_mm[i] ? w->c.cable_mm[i] : w->c.cable_mm[port->peer];
	p->delay = 5 * (uint64_t)mm;
	p->due = span(t);
	later(t, p->due, DEADLINE, i, 0);
}

static void set_up(struct model *t, struct emu_fixture *w)
{
	const struct dl_fabric *f = w->f;
	uint32_t number = 0;

	memset(t, 0, sizeof(*t));
	t->w = w;
	t->ports = calloc(f->nports, sizeof(*t->ports));
	t->soon = malloc(MAX_SOON * sizeof(*t->soon));
	t->packets = malloc(MAX_PACKETS * sizeof(*t->packets));
	assert_true(t->ports && t->soon && t->packets);
	assert_int_equal(dl_emu_link_rate(f, &w->c, w->adapter[0], &t->rate), 0);
	for (uint32_t i = 0; i < f->nports; i++) {
		set_up_port(t, i, number);
		/* Random numbers are those of the emulator's numbers of ports. */
		number += f->ports[i].num ? !is_switch(t, i) || f->ports[i].peer != DL_NONE :
					    is_switch(t, i);
	}
	for (uint32_t i = 0; i < w->nflows; i++)
		t->ports[w->flow_port[i]].flow = i;
}

/* All that happens until a time.  False: nothing is left, but deadlines. */
static bool run_to(struct model *t, uint64_t until)
{
	while (t->nsoon > t->ndeadlines || t->losses) {
		unsigned int first = 0;
		struct soon s;

		for (unsigned int i = 1; i < t->nsoon; i++)
			if (before(&t->soon[i], &t->soon[first]))
				first = i;
		s = t->soon[first];
		if (s.time > until) {
			t->now = until;
			return true;
		}
		t->soon[first] = t->soon[--t->nsoon];
		t->ndeadlines -= s.kind == DEADLINE;
		t->now = s.time;
		happen(t, &s);
	}
	return false;
}

void emu_reference_run(struct emu_fixture *w, const struct emu_step *steps, uint32_t nsteps,
		       uint64_t until, struct dl_emu_totals *out)
{
	struct model t;

	set_up(&t, w);
	for (uint32_t i = 0; i < w->nflows; i++)
		next_message(&t, i);
	for (uint32_t i = 0; i < w->nadapters; i++) {
		fill(&t, w->adapter[i]);
		transmit(&t, w->adapter[i]);
	}
	for (uint32_t i = 0; i < nsteps; i++) {
		run_to(&t, steps[i].at);
		t.now = steps[i].at;
		fault(&t, &steps[i].fault);
	}
	run_to(&t, until);
	if (out)
		*out = t.totals;
	free(t.ports);
	free(t.soon);
	free(t.packets);
}
