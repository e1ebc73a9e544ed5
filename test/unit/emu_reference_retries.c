/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The emulator's reference model: reliable connections; see emu_reference.c.
 *
 * Plainly: a connection for each LID, whether it is used or not; all messages that
 * it ever had; the message of a packet is searched for from the first one on.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu_reference_model.h"

struct connection {
	struct dl_emu_message *messages;
	uint32_t *first, n;	  /* of each message: the number of its first packet */
	uint32_t done;		  /* messages that have ended */
	uint32_t next, come, end; /* packets: to be sent, that have come, that there are */
	uint32_t asked;		  /* packets up to the last one that asks for an acknowledgement */
	uint32_t tries;
	bool broken;
	uint64_t deadline;
};

struct sender {
	struct connection *to; /* by LID */
	uint32_t nlids;
	struct connection *now; /* that of the flow's message, or NULL */
	struct dl_emu_message due;
	bool timer;
};

void emu_ref_rc_set_up(struct model *t)
{
	const struct emu_fixture *w = t->w;

	for (uint32_t i = 0; i < w->nflows; i++) {
		struct sender *s = t->flows[i].sender = calloc(1, sizeof(*s));

		assert_non_null(s);
		s->nlids = w->f->top_lid + 1u;
		s->to = calloc(s->nlids, sizeof(*s->to));
		assert_non_null(s->to);
	}
	for (uint32_t a = 0; a < w->nadapters; a++) {
		t->ports[w->adapter[a]].ack_flow = w->nflows + a;
		t->answers[a].list = calloc(w->nflows + 1ul, sizeof(*t->answers[a].list));
		assert_non_null(t->answers[a].list);
	}
	t->expected = calloc((size_t)w->nadapters * w->nflows + 1, sizeof(*t->expected));
	t->asked = calloc((size_t)w->nadapters * w->nflows + 1, sizeof(*t->asked));
	assert_true(t->expected && t->asked);
}

void emu_ref_rc_free(struct model *t)
{
	for (uint32_t i = 0; i < t->w->nflows && has_retries(t); i++) {
		struct sender *s = t->flows[i].sender;

		for (uint32_t lid = 0; lid < s->nlids; lid++) {
			free(s->to[lid].messages);
			free(s->to[lid].first);
		}
		free(s->to);
		free(s);
	}
	for (uint32_t a = 0; a < t->w->nadapters; a++)
		free(t->answers[a].list);
	free(t->expected);
	free(t->asked);
}

/* ---- sending ----------------------------------------------------------- */

static uint32_t packets_of(const struct model *t, const struct dl_emu_message *m)
{
	return (m->bytes + t->w->c.mtu - 1) / t->w->c.mtu;
}

static bool owes(const struct connection *c)
{
	return !c->broken && c->come < c->asked;
}

/* The flow's message is that of the connection's next packet. */
static void take_up(struct model *t, int flow, const struct connection *c)
{
	struct flow *f = &t->flows[flow];
	uint32_t i = 0;

	while (c->first[i] + packets_of(t, &c->messages[i]) <= c->next)
		i++;
	f->m = c->messages[i];
	f->left = f->m.bytes;
	for (uint32_t k = c->first[i]; k < c->next; k++)
		f->left -= t->w->c.mtu;
}

bool emu_ref_rc_next(struct model *t, int flow)
{
	struct sender *s = t->flows[flow].sender;

	for (uint32_t lid = 0; lid < s->nlids; lid++) {
		struct connection *c = &s->to[lid];

		if (c->next < c->come)
			c->next = c->come;
		if (c->broken || c->next >= c->end)
			continue;
		s->now = c;
		take_up(t, flow, c);
		return true;
	}
	return false;
}

void emu_ref_rc_due(struct model *t, int flow)
{
	t->flows[flow].sender->due = t->flows[flow].m;
}

/* One that is sent without a connection comes first. */
const struct dl_emu_message *emu_ref_rc_message(struct model *t, int flow)
{
	struct sender *s = t->flows[flow].sender;

	if (s->due.dlid >= DL_TABLES_MCAST_LID) {
		t->flows[flow].m = s->due;
		s->now = NULL;
	}
	return &s->due;
}

static void message_ended(struct model *t, int flow, bool lost)
{
	t->totals.lost_messages += lost;
	if (t->w->flow_window[flow])
		later(t, t->now + (lost ? t->w->c.retries.timeout_ps : 0), ENDED, flow, 0);
}

void emu_ref_rc_append(struct model *t, int flow)
{
	struct sender *s = t->flows[flow].sender;
	struct connection *c = &s->to[s->due.dlid];

	if (c->broken) {
		message_ended(t, flow, true);
		return;
	}
	c->messages = realloc(c->messages, (c->n + 1) * sizeof(*c->messages));
	c->first = realloc(c->first, (c->n + 1) * sizeof(*c->first));
	assert_true(c->messages && c->first);
	c->messages[c->n] = s->due;
	c->first[c->n++] = c->end;
	c->end += packets_of(t, &s->due);
}

void emu_ref_rc_number(struct model *t, int flow, struct packet *pk)
{
	const struct flow *f = &t->flows[flow];

	if (flow >= (int)t->w->nflows) {
		pk->q = t->answers[flow - t->w->nflows].now.q;
		t->totals.acks++;
		t->totals.naks += pk->q.kind == NAK;
	} else if (pk->dlid < DL_TABLES_MCAST_LID) {
		pk->q = (struct sequence){ DATA, f->sender->now->next, flow, pk->dlid, f->m.sl };
	}
}

static void set_timer(struct model *t, int flow, uint64_t at)
{
	if (!t->flows[flow].sender->timer)
		later(t, at, TIMEOUT, flow, 0);
	t->flows[flow].sender->timer = true;
}

void emu_ref_rc_sent(struct model *t, int flow)
{
	struct connection *c = t->flows[flow].sender->now;
	bool owed = owes(c);

	c->next++;
	if (!t->flows[flow].left || c->next % t->w->c.retries.ack_packets == 0)
		c->asked = c->next;
	if (owed || !owes(c))
		return;
	c->deadline = t->now + t->w->c.retries.timeout_ps;
	set_timer(t, flow, c->deadline);
}

static bool is_under_way(const struct model *t, int flow, const struct connection *c)
{
	return t->flows[flow].active && t->flows[flow].sender->now == c;
}

/* The flow's message is none any more. */
bool emu_ref_rc_has_broken(const struct model *t, int flow)
{
	const struct sender *s = t->flows[flow].sender;

	return s && s->now && s->now->broken;
}

/* Once more in vain. */
static void try_again(struct model *t, int flow, struct connection *c)
{
	if (c->tries++ == t->w->c.retries.count) {
		c->broken = true;
		t->totals.broken++;
		for (; c->done < c->n; c->done++)
			message_ended(t, flow, true);
		return;
	}
	for (; c->next > c->come; c->next--)
		t->totals.resent++;
	c->next = c->asked = c->come;
	c->deadline = t->now + t->w->c.retries.timeout_ps;
	if (is_under_way(t, flow, c))
		take_up(t, flow, c);
}

void emu_ref_rc_timeout(struct model *t, int flow)
{
	struct sender *s = t->flows[flow].sender;
	uint64_t next = UINT64_MAX;

	s->timer = false;
	for (uint32_t lid = 0; lid < s->nlids; lid++) {
		struct connection *c = &s->to[lid];

		if (owes(c) && c->deadline <= t->now) {
			t->totals.timeouts++;
			try_again(t, flow, c);
		}
		if (owes(c) && c->deadline < next)
			next = c->deadline;
	}
	if (next != UINT64_MAX)
		set_timer(t, flow, next);
	emu_ref_again(t, flow);
}

/* What was to be sent again has come late. */
static void come_late(struct model *t, int flow, struct connection *c)
{
	struct flow *f = &t->flows[flow];

	if (c->next >= c->come)
		return;
	c->next = c->come;
	if (is_under_way(t, flow, c) && c->next < c->end) {
		take_up(t, flow, c);
	} else if (is_under_way(t, flow, c)) { /* of the message, its last packet goes out */
		c->next--;
		while (f->left > t->w->c.mtu)
			f->left -= t->w->c.mtu;
	}
}

static void acknowledged(struct model *t, const struct sequence *q)
{
	struct connection *c = &t->flows[q->flow].sender->to[q->dlid];
	uint32_t ended = 0;

	if (c->broken)
		return;
	if (q->number > c->come) {
		c->come = q->number;
		c->tries = 0;
		c->deadline = t->now + t->w->c.retries.timeout_ps;
	}
	for (;
	     c->done < c->n && c->first[c->done] + packets_of(t, &c->messages[c->done]) <= c->come;
	     c->done++)
		ended++;
	come_late(t, q->flow, c);
	if (q->kind == NAK && q->number == c->come && c->come < c->next)
		try_again(t, q->flow, c);
	while (ended--)
		message_ended(t, q->flow, false);
	emu_ref_again(t, q->flow);
}

/* ---- receiving --------------------------------------------------------- */

static uint32_t adapter_at(const struct model *t, uint32_t port)
{
	return t->ports[port].ack_flow - t->w->nflows;
}

static void answer(struct model *t, uint32_t port, const struct packet *pk, uint32_t expected,
		   bool nak)
{
	struct answers *a = &t->answers[adapter_at(t, port)];
	struct answer it = { pk->q, t->w->f->ports[port_of(t, pk->flow)].lid, pk->level };
	unsigned int i = 0;

	it.q.kind = nak ? NAK : ACK;
	it.q.number = expected;
	if (t->flows[t->ports[port].ack_flow].active && a->now.q.flow == pk->flow) {
		a->now.q = it.q;
		return;
	}
	while (i < a->n && a->list[i].q.flow != pk->flow)
		i++;
	a->list[i] = it;
	a->n += i == a->n;
	emu_ref_again(t, t->ports[port].ack_flow);
}

bool emu_ref_rc_next_ack(struct model *t, int flow)
{
	struct answers *a = &t->answers[flow - t->w->nflows];

	if (!a->n)
		return false;
	a->now = a->list[0];
	a->n--;
	for (unsigned int i = 0; i < a->n; i++)
		a->list[i] = a->list[i + 1];
	t->flows[flow].m = (struct dl_emu_message){
		.at = t->now,
		.bytes = 4,
		.dlid = a->now.to,
		.level = a->now.level,
		.sl = a->now.q.sl,
	};
	return true;
}

bool emu_ref_rc_take(struct model *t, int id, uint32_t port)
{
	struct packet pk = t->packets[id];
	uint32_t *expected = &t->expected[adapter_at(t, port) * t->w->nflows + pk.q.flow];
	bool *asked = &t->asked[adapter_at(t, port) * t->w->nflows + pk.q.flow];
	bool ends = pk.last ||
		    pk.q.number % t->w->c.retries.ack_packets == t->w->c.retries.ack_packets - 1;

	if (pk.q.kind == ACK || pk.q.kind == NAK)
		acknowledged(t, &pk.q);
	if (pk.q.kind != DATA)
		return pk.q.kind == NO_CONNECTION;
	if (pk.q.number == *expected) {
		++*expected;
		*asked = false;
		if (ends)
			answer(t, port, &pk, *expected, false);
		return true;
	}
	emu_ref_lose(t, id, DL_EMU_DROP_SEQUENCE);
	if (pk.q.number > *expected && !*asked) {
		*asked = true;
		answer(t, port, &pk, *expected, true);
	} else if (pk.q.number < *expected && ends) {
		answer(t, port, &pk, *expected, false);
	}
	return false;
}
