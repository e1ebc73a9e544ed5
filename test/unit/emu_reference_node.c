/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The emulator's reference model: switches and adapters; see emu_reference.c. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu_reference_model.h"

static void look(struct model *t, uint32_t in);

/* ---- what is lost ------------------------------------------------------ */

static void finish(struct model *t, const struct packet *pk)
{
	if (pk->last && pk->dlid < DL_TABLES_MCAST_LID && pk->flow < t->w->nflows &&
	    t->w->flow_window[pk->flow] && pk->q.kind == NO_CONNECTION)
		later(t, t->now + t->w->c.ack_latency_ps, ENDED, pk->flow, 0);
}

void emu_ref_lose(struct model *t, int id, enum dl_emu_drop cause)
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
	emu_ref_release(t, in, units(t, t->packets[id].bytes));
	emu_ref_lose(t, id, cause);
}

static void copy_gone(struct model *t, int parent)
{
	uint32_t in = t->packets[parent].in;

	if (--t->packets[parent].copies)
		return;
	if (!has_voqs(t)) {
		channel(t, in)->reading = false;
		leave(&channel(t, in)->stored, 0);
	}
	emu_ref_release(t, in, units(t, t->packets[parent].bytes));
	if (!has_voqs(t))
		look(t, in);
}

/* What stood in the queue of an output is dropped; the next one does not ask yet. */
static void voq_drop(struct model *t, int id, enum dl_emu_drop cause)
{
	uint32_t in = t->packets[id].in;

	take_out(&channel(t, in)->stored, id);
	if (t->packets[id].parent < 0)
		emu_ref_release(t, in, units(t, t->packets[id].bytes));
	emu_ref_lose(t, id, cause);
	if (t->packets[id].parent >= 0)
		copy_gone(t, t->packets[id].parent);
}

/* A packet that waits for an output. */
void emu_ref_drop_waiting(struct model *t, uint32_t out, unsigned int at, enum dl_emu_drop cause)
{
	int id = leave(&channel(t, out)->waiting, at);

	t->packets[id].waiting = false;
	if (has_voqs(t)) {
		voq_drop(t, id, cause);
		emu_ref_ask_next(t, t->packets[id].in, out);
		return;
	}
	if (t->packets[id].parent < 0) {
		drop_head(t, t->packets[id].in, cause);
		look(t, t->packets[id].in);
		return;
	}
	emu_ref_lose(t, id, cause);
	copy_gone(t, t->packets[id].parent);
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
	emu_ref_transmit(t, out / VLS);
}

/*
 * Virtual output queues: the first packet for an output that an input has
 * stored asks for it, unless one of them is just being sent.
 */
void emu_ref_ask_next(struct model *t, uint32_t in, uint32_t out)
{
	const struct port *p = &t->ports[out / VLS];
	struct queue *q = &channel(t, in)->stored;

	if (p->sending >= 0 && p->sent.in == in && p->sent_vl == out % VLS)
		return;
	for (unsigned int i = 0; i < q->n; i++) {
		int id = q->packet[i];

		if (t->packets[id].out != out)
			continue;
		if (t->packets[id].waiting)
			return;
		if (!p->down || t->w->c.hoq_life_ps) {
			ask(t, id, out);
			return;
		}
		voq_drop(t, id, DL_EMU_DROP_DEAD_LINK);
		i = -1;
	}
}

static void voq_join(struct model *t, int id, uint32_t out)
{
	struct queue *q = &channel(t, t->packets[id].in)->stored;

	t->packets[id].out = out;
	insert(q, q->n, id);
	emu_ref_ask_next(t, t->packets[id].in, out);
}

int emu_ref_new_packet(struct model *t, struct packet like)
{
	assert_true(t->npackets < MAX_PACKETS);
	t->packets[t->npackets] = like;
	return t->npackets++;
}

/* Copies of a multicast packet.  False: there are none, and it is gone. */
static bool spread(struct model *t, int id, uint32_t in)
{
	const struct dl_fabric_node *n = node_of(t, in / VLS);
	const uint64_t *mask = dl_tables_mask(&t->w->t->groups[0].masks, n->sw);
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
		made_id = emu_ref_new_packet(t, copy);
		cause = find_channel(t, made_id, i, &out);
		made++;
		if (cause >= 0) {
			emu_ref_lose(t, made_id, cause);
			continue;
		}
		t->packets[id].copies++;
		if (has_voqs(t))
			voq_join(t, made_id, out);
		else
			ask(t, made_id, out);
	}
	if (--t->packets[id].copies) {
		t->totals.injected += made - 1;
		return true;
	}
	if (!has_voqs(t)) {
		channel(t, in)->reading = false;
		leave(&channel(t, in)->stored, 0);
	}
	emu_ref_release(t, in, units(t, t->packets[id].bytes));
	if (made)
		t->totals.injected += made - 1;
	else
		emu_ref_lose(t, id, DL_EMU_DROP_NO_ENTRY);
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

/* A packet comes into a buffer with virtual output queues. */
static void voq_enter(struct model *t, int id, uint32_t in)
{
	unsigned int number = dl_tables_lft(t->w->t, node_of(t, in / VLS)->sw, t->packets[id].dlid);
	uint32_t out;
	int cause;

	if (t->packets[id].dlid >= DL_TABLES_MCAST_LID) {
		spread(t, id, in);
		return;
	}
	cause = number == DL_TABLES_NO_PORT ? DL_EMU_DROP_NO_ENTRY :
					      find_channel(t, id, number, &out);
	if (cause < 0) {
		voq_join(t, id, out);
		return;
	}
	emu_ref_release(t, in, units(t, t->packets[id].bytes));
	emu_ref_lose(t, id, cause);
}

/* The head of a buffer looks for its way. */
static void look(struct model *t, uint32_t in)
{
	struct channel *c = channel(t, in);

	while (c->stored.n && !c->reading && !t->packets[c->stored.packet[0]].waiting) {
		int id = c->stored.packet[0];

		if (c->discard >= 0 && !t->packets[id].first)
			drop_head(t, in, c->discard);
		else if (t->packets[id].dlid < DL_TABLES_MCAST_LID ? forward(t, id, in) :
								     spread(t, id, in))
			return;
	}
}

void emu_ref_expire(struct model *t, uint32_t in, uint32_t out)
{
	struct queue *q = &channel(t, out)->waiting;
	unsigned int i = 0;

	while (i < q->n && t->packets[q->packet[i]].in != in)
		i++;
	if (i == q->n || t->packets[q->packet[i]].since + t->w->c.hoq_life_ps != t->now)
		return;
	emu_ref_drop_waiting(
		t, out, i, t->ports[out / VLS].down ? DL_EMU_DROP_DEAD_LINK : DL_EMU_DROP_HOQ_LIFE);
	emu_ref_transmit(t, out / VLS);
}

/* ---- adapters ---------------------------------------------------------- */

static uint8_t sl_of(const struct model *t, int flow)
{
	const struct dl_emu_message *m = &t->flows[flow].m;
	unsigned int sl = m->dlid >= DL_TABLES_MCAST_LID ?
				  DL_TABLES_NO_SL :
				  dl_tables_path_sl(t->w->t, port_of(t, flow), m->dlid);

	if (m->sl != DL_TABLES_NO_SL)
		return m->sl;
	return (sl == DL_TABLES_NO_SL ? 0 : sl) | (m->level ? 8 : 0);
}

/* A flow takes its turn, unless it has to wait for congestion control. */
void emu_ref_line_up(struct model *t, int flow)
{
	struct flow *f = &t->flows[flow];

	if (t->now < f->paced) {
		later(t, f->paced, PACED, flow, 0);
	} else if (!f->queued) {
		f->queued = true;
		f->ticket = t->ports[port_of(t, flow)].tickets++;
	}
}

/* A flow has a message, and knows how much of it is left. */
void emu_ref_begin(struct model *t, int flow)
{
	struct flow *f = &t->flows[flow];

	if (f->active) /* it was sending again, and keeps its turn */
		return;
	f->active = true;
	f->sl = sl_of(t, flow);
	emu_ref_line_up(t, flow);
}

void emu_ref_start(struct model *t, int flow)
{
	struct flow *f = &t->flows[flow];

	f->waiting = false;
	if (f->sender && emu_ref_rc_message(t, flow)->dlid < DL_TABLES_MCAST_LID) {
		emu_ref_rc_append(t, flow);
		if (!f->active && emu_ref_rc_next(t, flow))
			emu_ref_begin(t, flow);
		return;
	}
	f->left = f->m.bytes;
	emu_ref_begin(t, flow);
}

static bool take_message(struct model *t, int flow)
{
	if (flow >= (int)t->w->nflows)
		return emu_ref_rc_next_ack(t, flow);
	if (!emu_fixture_message(t->w, flow, t->now, &t->flows[flow].m))
		return false;
	if (has_retries(t))
		emu_ref_rc_due(t, flow);
	return true;
}

void emu_ref_next_message(struct model *t, int flow)
{
	struct flow *f = &t->flows[flow];
	unsigned int window = flow < (int)t->w->nflows ? t->w->flow_window[flow] : 0;

	if (f->sender && !f->active && emu_ref_rc_next(t, flow))
		emu_ref_begin(t, flow);
	while (!f->active && !f->waiting && !f->ended) {
		if (window && f->under_way >= window)
			return;
		if (!take_message(t, flow)) {
			f->ended = true;
			return;
		}
		f->under_way++;
		if (f->m.at > t->now) {
			f->waiting = true;
			later(t, f->m.at, MESSAGE, flow, 0);
			return;
		}
		emu_ref_start(t, flow);
	}
}

/* A flow has something to send again. */
void emu_ref_again(struct model *t, int flow)
{
	t->flows[flow].ended = false;
	emu_ref_next_message(t, flow);
	emu_ref_fill(t, port_of(t, flow));
	emu_ref_transmit(t, port_of(t, flow));
}

/* A packet, or its flits, in front of the link. */
static void make_packet(struct model *t, struct packet pk)
{
	uint32_t total = pk.bytes, flit = has_worms(t) ? t->w->c.flit : total;
	struct queue *q = &channel(t, pk.in)->waiting;

	t->ports[pk.in / VLS].taken[pk.in % VLS] = true;
	for (uint32_t made = 0; made < total; made += pk.bytes) {
		pk.bytes = total - made < flit ? total - made : flit;
		pk.first = !made;
		pk.final = made + pk.bytes == total;
		insert(q, q->n, emu_ref_new_packet(t, pk));
	}
	t->totals.injected++;
}

/* The index of a flow falls with every tick of the timer. */
static void tick(const struct model *t, struct flow *f)
{
	uint64_t now = t->now / t->w->c.congestion.timer_ps;

	for (; f->ticks < now; f->ticks++)
		f->index -= f->index > 0;
}

void emu_ref_becn(struct model *t, int flow)
{
	struct flow *f = &t->flows[flow];

	tick(t, f);
	for (uint32_t i = 0; i < t->w->c.congestion.increase; i++)
		f->index += f->index < t->w->c.congestion.limit;
}

/* A packet was made: the next one must wait for so many times its length. */
static void pace(struct model *t, int flow, uint32_t bytes)
{
	struct flow *f = &t->flows[flow];
	uint64_t time = wire_time(t, bytes);

	if (!t->w->c.congestion.threshold)
		return;
	tick(t, f);
	if (!t->w->c.congestion.table[f->index])
		return;
	f->paced = t->now + time + time * t->w->c.congestion.table[f->index] / 1000000;
}

static unsigned int vl_of(const struct model *t, int flow)
{
	return dl_tables_sl2vl_get(t->w->t->rows[t->w->t->end_sl2vl[port_of(t, flow)]],
				   t->flows[flow].sl);
}

static bool has_turn(const struct model *t, const struct port *p, int flow)
{
	return flow >= 0 && t->flows[flow].queued && !p->taken[vl_of(t, flow)];
}

/* The link is down. */
static void lose_own(struct model *t, const struct packet *pk)
{
	t->totals.injected++;
	t->totals.dropped++;
	t->totals.drops[DL_EMU_DROP_DEAD_LINK]++;
	if (pk->flow >= t->w->nflows) {
		t->totals.acks--; /* it was not sent */
		t->totals.naks -= pk->q.kind == NAK;
	} else if (pk->last && t->w->flow_window[pk->flow] && pk->q.kind == NO_CONNECTION) {
		later(t, t->now + wire_time(t, pk->bytes), ENDED, pk->flow, 0);
	}
}

static void make_data(struct model *t, uint32_t port, int flow)
{
	struct port *p = &t->ports[port];
	struct flow *f = &t->flows[flow];
	unsigned int vl = vl_of(t, flow);
	bool multicast = f->m.dlid >= DL_TABLES_MCAST_LID;
	struct packet pk = {
		.created = f->m.at,
		.flow = flow,
		.parent = -1,
		.in = port * VLS + vl,
		.dlid = f->m.dlid,
		.sl = f->sl,
		.level = f->m.level,
		.waiting = true,
	};

	pk.data = f->left < t->w->c.mtu ? f->left : t->w->c.mtu;
	pk.bytes = pk.data + (multicast ? DL_EMU_MCAST_HEADERS : DL_EMU_HEADERS);
	f->left -= pk.data;
	pk.last = !f->left;
	if (has_retries(t))
		emu_ref_rc_number(t, flow, &pk);
	if (has_retries(t) && p->down)
		lose_own(t, &pk);
	else
		make_packet(t, pk);
	if (pk.q.kind == DATA)
		emu_ref_rc_sent(t, flow);
	pace(t, flow, pk.bytes);
	f->queued = false;
	if (!pk.last) {
		emu_ref_line_up(t, flow);
		return;
	}
	f->active = false;
	emu_ref_next_message(t, flow);
}

/* Make packets as long as there is a place for the next one. */
void emu_ref_fill(struct model *t, uint32_t port)
{
	struct port *p = &t->ports[port];

	for (;;) {
		int flow = has_turn(t, p, p->flow) ? p->flow : -1;

		if (has_turn(t, p, p->ack_flow) &&
		    (flow < 0 || t->flows[p->ack_flow].ticket < t->flows[flow].ticket))
			flow = p->ack_flow;
		if (flow < 0)
			return;
		if (emu_ref_rc_has_broken(t, flow)) {
			t->flows[flow].active = t->flows[flow].queued = false;
			emu_ref_next_message(t, flow);
			continue;
		}
		if (t->flows[flow].sl == sl_of(t, flow)) {
			make_data(t, port, flow);
			continue;
		}
		/* It has gone back to a message of another SL. */
		t->flows[flow].sl = sl_of(t, flow);
		t->flows[flow].queued = false;
		emu_ref_line_up(t, flow);
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
	if (pk->marked)
		later(t, t->now + t->w->c.congestion.becn_ps, BECN, pk->flow, 0);
	finish(t, pk);
}

/* All of a packet or flit is in the adapter. */
void emu_ref_take(struct model *t, int id)
{
	const struct packet *pk = &t->packets[id];
	struct channel *c = channel(t, pk->in);

	if (pk->damaged)
		c->discard = DL_EMU_DROP_CORRUPT;
	if (pk->final) {
		if (c->discard >= 0)
			emu_ref_lose(t, id, c->discard);
		else if (!has_retries(t) || emu_ref_rc_take(t, id, pk->in / VLS))
			deliver(t, id, pk->in);
		c->discard = -1;
	}
	emu_ref_release(t, pk->in, units(t, pk->bytes));
}

void emu_ref_take_in(struct model *t, uint32_t port)
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
		emu_ref_take(t, id);
		return;
	}
	insert(&p->arrived, p->arrived.n, id);
	emu_ref_take_in(t, port);
}

/* ---- arriving, leaving ------------------------------------------------- */

/* Into the buffer: of an adapter, or of a switch. */
void emu_ref_enter(struct model *t, uint32_t in, int id)
{
	struct channel *c = channel(t, in);

	c->open = !t->packets[id].final;
	if (!is_switch(t, in / VLS)) {
		receive(t, in / VLS, id);
		return;
	}
	if (has_voqs(t)) {
		voq_enter(t, id, in);
		return;
	}
	insert(&c->stored, c->stored.n, id);
	look(t, in);
}

void emu_ref_arrive(struct model *t, uint32_t in, int id)
{
	const struct packet *pk = &t->packets[id];

	if (pk->epoch != t->ports[in / VLS].epoch || (pk->damaged && !has_worms(t))) {
		emu_ref_lose(t, id,
			     pk->epoch == t->ports[in / VLS].epoch ? DL_EMU_DROP_CORRUPT :
								     DL_EMU_DROP_DEAD_LINK);
		return;
	}
	channel(t, in)->entered += units(t, pk->bytes);
	channel(t, in)->held += chunks(t, units(t, pk->bytes));
	emu_ref_maybe_send_credit(t, in);
	emu_ref_enter(t, in, id);
}

static void tail_of_adapter(struct model *t, uint32_t port)
{
	struct port *p = &t->ports[port];
	const struct packet *pk = &p->sent;

	if (!pk->final)
		return;
	if (pk->dlid >= DL_TABLES_MCAST_LID && pk->last && pk->flow < t->w->nflows &&
	    t->w->flow_window[pk->flow])
		later(t, t->now, ENDED, pk->flow, 0);
	p->taken[p->sent_vl] = false;
	emu_ref_fill(t, port);
}

void emu_ref_tail(struct model *t, uint32_t port)
{
	struct port *p = &t->ports[port];
	uint32_t in = p->sent.in;
	int parent = p->sent.parent;

	p->sending = -1;
	if (!is_switch(t, port)) {
		tail_of_adapter(t, port);
		emu_ref_transmit(t, port);
		return;
	}
	t->ports[in / VLS].readers--;
	if (parent < 0) {
		channel(t, in)->reading = false;
		emu_ref_release(t, in, units(t, p->sent.bytes));
		if (!has_voqs(t))
			look(t, in);
	} else {
		copy_gone(t, parent);
	}
	if (has_voqs(t))
		emu_ref_ask_next(t, in, port * VLS + p->sent_vl);
	for (uint32_t i = 1; t->w->c.speedup && i <= node_of(t, port)->nports; i++)
		emu_ref_transmit(t, node_of(t, port)->first_port + i);
	emu_ref_transmit(t, port);
}
