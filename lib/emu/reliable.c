/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reliable connections: acknowledgements as packets, and retransmission (IBA 9.7).
 *
 * Problem.  With a packet that is lost, an unreliable flow loses a message.  What
 * an application sees of a drop is the time until it has been sent again.
 *
 * Model.  A queue pair has a connection to each LID that it sends to.  Its packets
 * are numbered (PSN).  The receiver takes the one that it expects, and discards all
 * others: repeated ones, and those that come after a gap.  It acknowledges the last
 * packet of a message, each `ack_packets`-th packet, and what is repeated of these;
 * after a gap it asks once for the packet that it expects (NAK).  The sender
 * goes back to that packet, or to the oldest one that is not acknowledged when the
 * timer expires, and sends all from there again.  After `count` times without
 * progress the connection breaks: its messages are lost, and nothing more of them is
 * sent.
 *
 * The timer runs for `timeout_ps` from a packet that asks for an acknowledgement, if
 * no other such packet waits for one, and again from each acknowledgement of further
 * packets (IBA 9.7.6).  Packets that do not ask leave it alone: a queue pair among
 * many takes long from one that does to the next.
 *
 * Acknowledgements are packets of 30 bytes from a queue pair of the receiving
 * adapter, which takes its turns; one that waits there is replaced by a later one of
 * the same connection.  They use the path SL back.
 *
 * A message has ended for its source (closed loops, a program's send) when its last
 * packet is acknowledged.
 *
 * Invariants.  acked <= next <= end and asked <= next, but for one packet after a late
 * acknowledgement; the messages kept are those with packets from `acked` on.  Of an
 * adapter, all is changed in its shard.
 *
 * Complexity: O(log connections) a packet.
 */
#include "config.h"

#include <string.h>

#include "emu/node.h"

#define ACK_BYTES 4 /* AETH */

struct rc_message {
	struct dl_emu_message message;
	uint32_t first, end; /* PSNs */
};

struct rc_connection {
	uint16_t dlid;
	bool broken;
	uint8_t tries;		   /* without progress */
	uint32_t next, acked, end; /* PSNs: to be sent, expected by the receiver, of the messages */
	uint32_t asked;		   /* the PSN after that of the last packet that asks */
	uint64_t deadline;
	struct rc_message *messages; /* oldest first */
	uint32_t n, cap;
};

/* The sending end of a flow. */
struct dl_emu_sender {
	struct rc_connection *connections; /* by LID */
	uint32_t n, cap;
	uint32_t current; /* that of the flow's message, or NIL */
	uint32_t owing;	  /* connections that are not acknowledged */
	bool timer, idle; /* an event comes; for nothing, as it looks now */
	struct dl_emu_message due;
};

struct rc_expected {
	uint32_t flow, psn;
	uint16_t dlid;
	bool asked; /* a NAK was sent */
};

struct rc_ack {
	struct dl_emu_sequence what;
	uint16_t to; /* LID */
	uint8_t level;
};

/* The receiving end of an adapter. */
struct dl_emu_receiver {
	struct rc_expected *expected; /* by flow, then LID */
	uint32_t n, cap;
	struct rc_ack *acks; /* oldest first */
	uint32_t nacks, acks_cap;
	struct dl_emu_sequence ack; /* that is being made */
};

/* ---- sending ------------------------------------------------------------- */

static uint32_t rc_packets(const struct dl_emu *e, const struct dl_emu_message *m)
{
	return m->bytes ? (m->bytes - 1) / e->c.mtu + 1 : 1;
}

/* NULL: no memory. */
static struct rc_connection *rc_connection_to(struct dl_emu *e, struct dl_emu_sender *s,
					      uint16_t dlid)
{
	uint32_t at = dl_array_count_before(i, s->n, s->connections[i].dlid < dlid);

	if (at < s->n && s->connections[at].dlid == dlid)
		return &s->connections[at];
	if (!dl_array_room(s->connections, s->n, 1, &s->cap)) {
		e->err = -ENOMEM;
		return NULL;
	}
	memmove(&s->connections[at + 1], &s->connections[at],
		(s->n - at) * sizeof(*s->connections));
	s->connections[at] = (struct rc_connection){ .dlid = dlid };
	s->n++;
	s->current += s->current != DL_EMU_NIL && at <= s->current;
	return &s->connections[at];
}

/* A timer that will find nothing to do does not keep the run going. */
static void rc_count_idle(struct dl_emu *e, struct dl_emu_sender *s)
{
	bool idle = s->timer && !s->owing;

	e->background += idle - s->idle;
	s->idle = idle;
}

/* Is an acknowledgement due? */
static bool rc_owes(const struct rc_connection *c)
{
	return !c->broken && c->acked < c->asked;
}

/* Does a packet ask for an acknowledgement? */
static bool rc_asks(const struct dl_emu *e, uint32_t psn, bool last)
{
	return last || (psn + 1) % e->c.retries.ack_packets == 0;
}

static void rc_set_timer(struct dl_emu *e, uint32_t flow, uint64_t at)
{
	struct dl_emu_sender *s = &e->senders[flow];

	if (!s->timer)
		dl_emu_message_at(e, at, flow, DL_EMU_EV_TIMEOUT);
	s->timer = true;
	rc_count_idle(e, s);
}

/*
 * The flow's message is that of the next packet of its present connection.  One that
 * the flow has lined up for may have had another SL: see make_data().
 */
static void rc_take_up(struct dl_emu *e, struct dl_emu_flow *f, const struct rc_connection *c)
{
	const struct rc_message *m = c->messages;

	while (m->end <= c->next)
		m++;
	f->message = m->message;
	f->other = true;
	f->left = m->message.bytes - (c->next - m->first) * e->c.mtu;
}

bool dl_emu_rc_next(struct dl_emu *e, uint32_t flow)
{
	struct dl_emu_sender *s = &e->senders[flow];
	struct dl_emu_flow *f = &e->flows[flow];

	for (uint32_t i = 0; i < s->n; i++) {
		struct rc_connection *c = &s->connections[i];

		c->next = c->next < c->acked ? c->acked : c->next;
		if (c->broken || c->next >= c->end)
			continue;
		s->current = i;
		rc_take_up(e, f, c);
		return true;
	}
	return false;
}

/* Is the flow sending a message of this connection? */
static bool rc_is_under_way(const struct dl_emu *e, uint32_t flow, const struct rc_connection *c)
{
	const struct dl_emu_sender *s = &e->senders[flow];

	return e->flows[flow].active && s->current == c - s->connections;
}

void dl_emu_rc_due(struct dl_emu *e, uint32_t flow)
{
	e->senders[flow].due = e->flows[flow].message;
}

/* A closed loop, or a program, learns that a message has ended. */
static void rc_message_ended(struct dl_emu *e, uint32_t flow, bool lost)
{
	e->totals.lost_messages += lost;
	if (e->flows[flow].window)
		dl_emu_message_at(e, e->now + (lost ? e->c.retries.timeout_ps : 0), flow,
				  DL_EMU_EV_ENDED);
	else if (e->source.program && flow >= e->source.first && !lost)
		e->source.sent(e->source.program, e, flow);
}

/* The message that was due joins those of its connection. */
static void rc_append(struct dl_emu *e, uint32_t flow)
{
	struct dl_emu_sender *s = &e->senders[flow];
	struct rc_connection *c = rc_connection_to(e, s, s->due.dlid);
	uint32_t n = rc_packets(e, &s->due);

	if (c && c->broken) {
		rc_message_ended(e, flow, true);
		return;
	}
	if (!c || !dl_array_room(c->messages, c->n, 1, &c->cap)) {
		e->err = -ENOMEM;
		return;
	}
	c->messages[c->n++] = (struct rc_message){ s->due, c->end, c->end + n };
	c->end += n;
}

bool dl_emu_rc_start(struct dl_emu *e, uint32_t flow)
{
	struct dl_emu_sender *s = &e->senders[flow];

	if (s->due.smp || s->due.dlid >= DL_TABLES_MCAST_LID) {
		e->flows[flow].message = s->due;
		s->current = DL_EMU_NIL;
		return false;
	}
	rc_append(e, flow);
	return true;
}

void dl_emu_rc_number(struct dl_emu *e, uint32_t flow, uint32_t packet)
{
	struct dl_emu_sequence *q = &e->sequence[packet];

	if (flow >= e->source.nflows) {
		*q = e->receivers[e->flows[flow].adapter].ack;
		e->totals.acks++;
		e->totals.naks += q->kind == DL_EMU_RC_NAK;
		return;
	}
	*q = (struct dl_emu_sequence){ .flow = flow,
				       .dlid = e->flows[flow].message.dlid,
				       .sl = e->flows[flow].message.sl };
	if (!dl_emu_is_reliable(e, flow))
		return;
	q->kind = DL_EMU_RC_DATA;
	q->psn = e->senders[flow].connections[e->senders[flow].current].next;
}

void dl_emu_rc_sent(struct dl_emu *e, uint32_t flow)
{
	struct dl_emu_sender *s = &e->senders[flow];
	struct rc_connection *c = &s->connections[s->current];
	bool owed = rc_owes(c);

	c->next++;
	if (rc_asks(e, c->next - 1, !e->flows[flow].left))
		c->asked = c->next;
	if (!owed && rc_owes(c)) {
		s->owing++;
		c->deadline = e->now + e->c.retries.timeout_ps;
		rc_set_timer(e, flow, c->deadline);
	}
}

/* Send all packets from this one on again. */
static void rc_go_back(struct dl_emu *e, uint32_t flow, struct rc_connection *c, uint32_t psn)
{
	e->totals.resent += c->next > psn ? c->next - psn : 0;
	c->next = c->asked = psn;
	c->deadline = e->now + e->c.retries.timeout_ps;
	if (rc_is_under_way(e, flow, c))
		rc_take_up(e, &e->flows[flow], c);
}

bool dl_emu_rc_is_broken(const struct dl_emu *e, uint32_t flow)
{
	const struct dl_emu_sender *s = &e->senders[flow];

	return s->current != DL_EMU_NIL && s->connections[s->current].broken;
}

/* Too often in vain: a message under way ends at the flow's next turn. */
static void rc_break(struct dl_emu *e, uint32_t flow, struct rc_connection *c)
{
	uint32_t n = c->n;

	e->flows[flow].other |= rc_is_under_way(e, flow, c);
	c->broken = true;
	c->n = 0;
	e->totals.broken++;
	while (n--)
		rc_message_ended(e, flow, true);
}

/* Once more in vain. */
static void rc_try_again(struct dl_emu *e, uint32_t flow, struct rc_connection *c)
{
	struct dl_emu_sender *s = &e->senders[flow];

	s->owing -= rc_owes(c);
	if (c->tries++ == e->c.retries.count)
		rc_break(e, flow, c);
	else
		rc_go_back(e, flow, c, c->acked);
	s->owing += rc_owes(c);
}

void dl_emu_rc_timeout(struct dl_emu *e, uint32_t flow)
{
	struct dl_emu_sender *s = &e->senders[flow];
	uint64_t next = DL_EMU_NEVER;

	s->timer = false;
	rc_count_idle(e, s);
	for (uint32_t i = 0; i < s->n; i++) {
		struct rc_connection *c = &s->connections[i];

		if (rc_owes(c) && c->deadline <= e->now) {
			e->totals.timeouts++;
			rc_try_again(e, flow, c);
		}
		if (rc_owes(c) && c->deadline < next)
			next = c->deadline;
	}
	if (next != DL_EMU_NEVER)
		rc_set_timer(e, flow, next);
	dl_emu_flow_again(e, flow);
}

/* What was to be sent again has come late: of a message that has come whole, only the end. */
static void rc_skip(struct dl_emu *e, uint32_t flow, struct rc_connection *c)
{
	struct dl_emu_flow *f = &e->flows[flow];
	bool under_way = rc_is_under_way(e, flow, c);

	if (c->next >= c->acked)
		return;
	c->next = c->acked;
	if (under_way && c->n && c->messages->first <= c->next) {
		rc_take_up(e, f, c);
	} else if (under_way) {
		c->next--;
		f->left = f->left ? (f->left - 1) % e->c.mtu + 1 : 0;
	}
}

/* All packets below this one have come. */
static void rc_acknowledged(struct dl_emu *e, const struct dl_emu_sequence *q)
{
	struct dl_emu_sender *s = &e->senders[q->flow];
	struct rc_connection *c = rc_connection_to(e, s, q->dlid);
	uint32_t ended = 0;

	if (!c || c->broken)
		return;
	s->owing -= rc_owes(c);
	if (q->psn > c->acked) {
		c->acked = q->psn;
		c->tries = 0;
		c->deadline = e->now + e->c.retries.timeout_ps;
	}
	while (ended < c->n && c->messages[ended].end <= c->acked)
		ended++;
	c->n -= ended;
	if (ended && c->messages)
		memmove(c->messages, c->messages + ended, c->n * sizeof(*c->messages));
	rc_skip(e, q->flow, c);
	s->owing += rc_owes(c);
	if (q->kind == DL_EMU_RC_NAK && q->psn == c->acked && c->acked < c->next)
		rc_try_again(e, q->flow, c);
	rc_count_idle(e, s);
	while (ended--) /* may move connections */
		rc_message_ended(e, q->flow, false);
	dl_emu_flow_again(e, q->flow);
}

/* ---- receiving ----------------------------------------------------------- */

/* NULL: no memory. */
static struct rc_expected *rc_expected_of(struct dl_emu *e, struct dl_emu_receiver *r,
					  const struct dl_emu_sequence *q)
{
	uint32_t at = dl_array_count_before(i, r->n,
					    r->expected[i].flow < q->flow ||
						    (r->expected[i].flow == q->flow &&
						     r->expected[i].dlid < q->dlid));

	if (at < r->n && r->expected[at].flow == q->flow && r->expected[at].dlid == q->dlid)
		return &r->expected[at];
	if (!dl_array_room(r->expected, r->n, 1, &r->cap)) {
		e->err = -ENOMEM;
		return NULL;
	}
	memmove(&r->expected[at + 1], &r->expected[at], (r->n - at) * sizeof(*r->expected));
	r->expected[at] = (struct rc_expected){ .flow = q->flow, .dlid = q->dlid };
	r->n++;
	return &r->expected[at];
}

/* The receiver answers with the PSN that it expects. */
static void rc_answer(struct dl_emu *e, uint32_t adapter, const struct dl_emu_sequence *q,
		      const struct rc_expected *x, enum dl_emu_rc_kind kind, uint8_t level)
{
	struct dl_emu_receiver *r = &e->receivers[adapter];
	uint32_t source = e->adapters[e->flows[q->flow].adapter].port, i = 0;
	uint32_t flow = e->source.nflows + adapter;
	struct rc_ack ack = { .what = *q,
			      .to = e->f->ports[e->fabric_port[source]].lid,
			      .level = level };

	ack.what.kind = kind;
	ack.what.psn = x->psn;
	/* Also the one whose turn is next gives way. */
	if (e->flows[flow].active && r->ack.flow == q->flow && r->ack.dlid == q->dlid) {
		r->ack = ack.what;
		return;
	}
	while (i < r->nacks && (r->acks[i].what.flow != q->flow || r->acks[i].what.dlid != q->dlid))
		i++;
	if (i == r->nacks && !dl_array_room(r->acks, r->nacks, 1, &r->acks_cap)) {
		e->err = -ENOMEM;
		return;
	}
	r->nacks += i == r->nacks;
	r->acks[i] = ack;
	dl_emu_flow_again(e, flow);
}

bool dl_emu_rc_next_ack(struct dl_emu *e, uint32_t flow, struct dl_emu_message *out)
{
	struct dl_emu_receiver *r = &e->receivers[e->flows[flow].adapter];

	if (!r->nacks)
		return false;
	r->ack = r->acks[0].what;
	*out = (struct dl_emu_message){ .at = e->now,
					.bytes = ACK_BYTES,
					.dlid = r->acks[0].to,
					.level = r->acks[0].level,
					.sl = r->ack.sl };
	memmove(r->acks, r->acks + 1, --r->nacks * sizeof(*r->acks));
	return true;
}

bool dl_emu_rc_take(struct dl_emu *e, uint32_t packet, uint32_t port)
{
	struct dl_emu_sequence q = e->sequence[packet];
	const struct dl_emu_pkt *pk = &e->packets[packet];
	uint32_t adapter = e->ports[port].adapter;
	bool ends = rc_asks(e, q.psn, pk->flags & DL_EMU_PK_LAST);
	uint8_t level = pk->flags & DL_EMU_PK_LEVEL ? 1 : 0;
	struct rc_expected *x;

	if (q.kind == DL_EMU_RC_NONE)
		return true;
	if (q.kind != DL_EMU_RC_DATA) {
		dl_emu_deliver_ack(e, packet, port);
		rc_acknowledged(e, &q);
		return false;
	}
	x = rc_expected_of(e, &e->receivers[adapter], &q);
	if (!x)
		return true;
	if (q.psn == x->psn) {
		x->psn++;
		x->asked = false;
		if (ends)
			rc_answer(e, adapter, &q, x, DL_EMU_RC_ACK, level);
		return true;
	}
	dl_emu_lose(e, packet, DL_EMU_DROP_SEQUENCE);
	if (q.psn > x->psn && !x->asked)
		rc_answer(e, adapter, &q, x, DL_EMU_RC_NAK, level);
	else if (q.psn < x->psn && ends)
		rc_answer(e, adapter, &q, x, DL_EMU_RC_ACK, level);
	x->asked |= q.psn > x->psn;
	return false;
}

/* ---- setting up ---------------------------------------------------------- */

int dl_emu_rc_new(struct dl_emu *e)
{
	if (!e->c.retries.timeout_ps)
		return 0;
	e->senders = dl_arena_array(&e->arena, e->source.nflows + 1ul, sizeof(*e->senders));
	e->receivers = dl_arena_array(&e->arena, e->nadapters + 1ul, sizeof(*e->receivers));
	return e->senders && e->receivers ? 0 : -ENOMEM;
}

void dl_emu_rc_free(struct dl_emu *e)
{
	for (uint32_t f = 0; e->senders && f < e->source.nflows; f++) {
		for (uint32_t i = 0; i < e->senders[f].n; i++)
			free(e->senders[f].connections[i].messages);
		free(e->senders[f].connections);
	}
	for (uint32_t a = 0; e->receivers && a < e->nadapters; a++) {
		free(e->receivers[a].expected);
		free(e->receivers[a].acks);
	}
}
