/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The emulator's reference model.
 *
 * The same rules, written down once more as plainly as possible: a list of
 * what will happen, searched from one end to the other for what is next;
 * queues that are moved up when their head leaves; credit as three numbers
 * that are never taken modulo anything; an event for each flow-control
 * packet.  It shares the arbiter with the emulator (which has a reference
 * model of its own), and the order of what happens at the same time, which is
 * part of the rules.  Every delivery must be the same, to the picosecond.
 *
 * It knows neither worms nor faults, and one speed for all links.  The
 * periodic flow-control packets are left out, so deliveries are compared up
 * to the time when the first of them would be due.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "draw.h"
#include "emu_fixture.h"
#include "dateline/link.h"

#define VLS 16
#define MAX_QUEUE 64
#define MAX_SOON 20000
#define MAX_PACKETS 60000

/* In the order in which they happen when their time is the same. */
enum kind { TAIL, CREDIT, ARRIVE, WAKE, MESSAGE, ENDED };

struct soon {
	uint64_t time;
	enum kind kind;
	uint32_t who;	/* port, channel or flow */
	uint64_t value; /* packet; credit */
};

struct packet {
	uint64_t created, injected, tail_in;
	uint32_t flow, bytes, data, in; /* in: channel */
	int parent;			/* of a copy; else -1 */
	unsigned int copies;
	uint16_t dlid;
	uint8_t sl, level;
	bool last, waiting;
};

struct queue {
	int packet[MAX_QUEUE];
	unsigned int n;
};

struct channel {
	struct queue stored; /* as receiver */
	bool reading;
	uint64_t entered, gone, told; /* units, as receiver; what was promised */
	struct queue waiting;	      /* as sender */
	uint64_t sent;		      /* units */
	uint64_t limit;		      /* units that may be sent */
};

struct port {
	struct dl_link_arbiter arb;
	struct dl_link_arb_program program;
	struct channel vl[VLS];
	unsigned int tell; /* VLs with a flow-control packet to send */
	uint64_t busy_until;
	int sending;   /* packet, or -1 */
	uint32_t read; /* channel that it is read from */
	unsigned int sent_vl, sent_units;
	bool wake;
	uint64_t delay;
	/* Adapters: the flow, one each, and the places in front of the link. */
	int flow;
	bool taken[VLS];
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
	unsigned int nsoon;
	struct packet *packets;
	int npackets;
};

static unsigned int units(const struct model *t, uint32_t bytes)
{
	return t->w->c.flow_control == DL_LINK_CREDIT_PCIE ? 1 : (bytes - 10 + 63) / 64;
}

static void later(struct model *t, uint64_t time, enum kind kind, uint32_t who, uint64_t value)
{
	assert_true(t->nsoon < MAX_SOON);
	t->soon[t->nsoon++] = (struct soon){ time, kind, who, value };
}

static void join(struct queue *q, int packet)
{
	assert_true(q->n < MAX_QUEUE);
	q->packet[q->n++] = packet;
}

static void leave(struct queue *q)
{
	for (unsigned int i = 1; i < q->n; i++)
		q->packet[i - 1] = q->packet[i];
	q->n--;
}

static struct channel *channel(struct model *t, uint32_t number)
{
	return &t->ports[number / VLS].vl[number % VLS];
}

static bool is_switch(const struct model *t, uint32_t port)
{
	return dl_fabric_is_switch(t->w->f, t->w->f->ports[port].node);
}

static void look(struct model *t, uint32_t in);
static void transmit(struct model *t, uint32_t port);

/* ---- credit ------------------------------------------------------------ */

/* What is promised of so much room. */
static uint64_t most(uint64_t room)
{
	return room < 2048 ? room : 2048;
}

static uint64_t promise(const struct model *t, const struct channel *c)
{
	return c->entered + most(t->w->c.buffer + c->gone - c->entered);
}

static void maybe_send_credit(struct model *t, uint32_t in)
{
	struct channel *c = channel(t, in);
	uint64_t fresh = promise(t, c) - c->told;
	unsigned int largest = units(t, t->w->c.mtu + DL_EMU_MCAST_HEADERS);

	if (!fresh)
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

/* ---- the sending end --------------------------------------------------- */

static void tell(struct model *t, uint32_t port)
{
	struct port *p = &t->ports[port];
	unsigned int vl = __builtin_ctz(p->tell);
	struct channel *c = &p->vl[vl];

	p->tell &= ~(1u << vl);
	c->told = promise(t, c);
	p->busy_until = t->now + dl_emu_rate_time(t->rate, DL_LINK_FCP_SYMBOLS);
	later(t, p->busy_until + p->delay, CREDIT, t->w->f->ports[port].peer * VLS + vl, c->told);
}

static void send(struct model *t, uint32_t port, unsigned int vl)
{
	struct port *p = &t->ports[port];
	int id = p->vl[vl].waiting.packet[0];
	struct packet *pk = &t->packets[id];
	uint32_t peer = t->w->f->ports[port].peer;

	leave(&p->vl[vl].waiting);
	p->read = pk->in;
	p->sent_vl = vl;
	p->sent_units = units(t, pk->bytes);
	p->sending = id;
	if (!is_switch(t, port)) {
		pk->injected = t->now;
	} else if (pk->parent < 0) {
		leave(&channel(t, pk->in)->stored);
		channel(t, pk->in)->reading = true;
	}
	pk->waiting = false;
	p->vl[vl].sent += p->sent_units;
	p->busy_until = t->now + dl_emu_rate_time(t->rate, pk->bytes);
	later(t, p->busy_until, TAIL, port, pk->parent);
	pk->in = peer * VLS + vl;
	pk->parent = -1;
	pk->tail_in = p->busy_until + p->delay;
	if (!is_switch(t, peer))
		later(t, pk->tail_in, ARRIVE, pk->in, id);
	else if (t->w->c.switching == DL_EMU_CUT_THROUGH)
		later(t,
		      t->now + p->delay + dl_emu_rate_time(t->rate, 8) + t->w->c.switch_latency_ps,
		      ARRIVE, pk->in, id);
	else
		later(t, pk->tail_in + t->w->c.switch_latency_ps, ARRIVE, pk->in, id);
}

static void transmit(struct model *t, uint32_t port)
{
	struct port *p = &t->ports[port];

	for (;;) {
		unsigned int waiting = 0, able = 0;
		struct dl_link_pick pick;

		for (unsigned int vl = 0; vl < VLS; vl++) {
			const struct queue *q = &p->vl[vl].waiting;

			if (!q->n)
				continue;
			waiting |= 1u << vl;
			if (p->vl[vl].sent + units(t, t->packets[q->packet[0]].bytes) <=
			    p->vl[vl].limit)
				able |= 1u << vl;
		}
		if ((!waiting && !p->tell) || p->sending >= 0)
			return;
		if (t->now < p->busy_until) {
			if (!p->wake)
				later(t, p->busy_until, WAKE, port, 0);
			p->wake = true;
			return;
		}
		if (p->tell) {
			tell(t, port);
			continue;
		}
		if (dl_link_arbiter_pick(&p->arb, false, false, able, &pick) != DL_LINK_DATA)
			return;
		dl_link_arbiter_charge(&p->arb, &pick,
				       t->packets[p->vl[pick.vl].waiting.packet[0]].bytes, NULL);
		send(t, port, pick.vl);
	}
}

/* ---- switches ---------------------------------------------------------- */

static void ask(struct model *t, int id, uint32_t in, unsigned int number)
{
	const struct dl_fabric_node *n = &t->w->f->nodes[t->w->f->ports[in / VLS].node];
	uint32_t out = n->first_port + number;
	unsigned int vl = dl_tables_sl2vl_get(
		t->w->t->rows[t->w->t->sl2vl[t->w->t->sl2vl_first[n->sw] +
					     t->w->f->ports[in / VLS].num * (n->nports + 1) +
					     number]],
		t->packets[id].sl);

	t->packets[id].waiting = true;
	join(&t->ports[out].vl[vl].waiting, id);
	transmit(t, out);
}

static int new_packet(struct model *t, struct packet like)
{
	assert_true(t->npackets < MAX_PACKETS);
	t->packets[t->npackets] = like;
	return t->npackets++;
}

static void spread(struct model *t, int id, uint32_t in)
{
	const struct dl_fabric_node *n = &t->w->f->nodes[t->w->f->ports[in / VLS].node];
	const uint64_t *mask = &t->w->t->groups[0].masks[n->sw * DL_TABLES_MASK_WORDS];

	channel(t, in)->reading = true;
	t->packets[id].copies = 0;
	for (unsigned int pass = 0; pass < 2; pass++)
		for (unsigned int i = 1; i <= n->nports; i++) {
			struct packet copy = t->packets[id];

			if (i == t->w->f->ports[in / VLS].num || !(mask[i / 64] >> i % 64 & 1))
				continue;
			copy.parent = id;
			if (pass)
				ask(t, new_packet(t, copy), in, i);
			else /* so that none is the last too early */
				t->packets[id].copies++;
		}
	assert_true(t->packets[id].copies > 0);
}

/* The head of a buffer looks for its way. */
static void look(struct model *t, uint32_t in)
{
	struct channel *c = channel(t, in);
	const struct dl_fabric_node *n = &t->w->f->nodes[t->w->f->ports[in / VLS].node];
	int id;

	if (c->reading || !c->stored.n)
		return;
	id = c->stored.packet[0];
	if (t->packets[id].waiting)
		return;
	if (t->packets[id].dlid >= DL_TABLES_MCAST_LID)
		spread(t, id, in);
	else
		ask(t, id, in, dl_tables_lft(t->w->t, n->sw, t->packets[id].dlid));
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

/* Make packets as long as there is a place for the next one. */
static void fill(struct model *t, uint32_t port)
{
	struct port *p = &t->ports[port];
	struct flow *f = &t->flows[p->flow];

	while (f->active) {
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
		};

		if (p->taken[vl])
			return;
		p->taken[vl] = true;
		pk.data = f->left < t->w->c.mtu ? f->left : t->w->c.mtu;
		pk.bytes = pk.data + (multicast ? DL_EMU_MCAST_HEADERS : DL_EMU_HEADERS);
		f->left -= pk.data;
		pk.last = !f->left;
		join(&p->vl[vl].waiting, new_packet(t, pk));
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
	if (pk->last && pk->dlid < DL_TABLES_MCAST_LID && t->w->flow_window[pk->flow])
		later(t, t->now, ENDED, pk->flow, 0);
	release(t, in, units(t, pk->bytes));
}

/* ---- what happens ------------------------------------------------------ */

static void tail(struct model *t, uint32_t port, int parent)
{
	struct port *p = &t->ports[port];
	uint32_t in = p->read;

	p->sending = -1;
	if (!is_switch(t, port)) {
		p->taken[p->sent_vl] = false;
		fill(t, port);
	} else if (parent < 0) {
		channel(t, in)->reading = false;
		release(t, in, p->sent_units);
		look(t, in);
	} else if (!--t->packets[parent].copies) {
		channel(t, in)->reading = false;
		leave(&channel(t, in)->stored);
		release(t, in, units(t, t->packets[parent].bytes));
		look(t, in);
	}
	transmit(t, port);
}

static void happen(struct model *t, const struct soon *s)
{
	switch (s->kind) {
	case TAIL:
		tail(t, s->who, (int)s->value);
		break;
	case CREDIT:
		channel(t, s->who)->limit = s->value;
		transmit(t, s->who / VLS);
		break;
	case ARRIVE:
		channel(t, s->who)->entered += units(t, t->packets[s->value].bytes);
		maybe_send_credit(t, s->who);
		if (!is_switch(t, s->who / VLS)) {
			deliver(t, s->value, s->who);
			break;
		}
		join(&channel(t, s->who)->stored, s->value);
		look(t, s->who);
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
	}
}

static bool before(const struct soon *a, const struct soon *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	return a->kind != b->kind ? a->kind < b->kind : a->who < b->who;
}

static void set_up(struct model *t, struct emu_fixture *w)
{
	const struct dl_fabric *f = w->f;

	memset(t, 0, sizeof(*t));
	t->w = w;
	t->ports = calloc(f->nports, sizeof(*t->ports));
	t->soon = malloc(MAX_SOON * sizeof(*t->soon));
	t->packets = malloc(MAX_PACKETS * sizeof(*t->packets));
	assert_true(t->ports && t->soon && t->packets);
	assert_int_equal(dl_emu_link_rate(f, &w->c, w->adapter[0], &t->rate), 0);
	for (uint32_t i = 0; i < f->nports; i++) {
		struct dl_link_arb_options o = w->c.arbitration;
		struct port *p = &t->ports[i];
		uint32_t mm = w->c.cable_mm_all;

		p->sending = -1;
		p->flow = -1;
		if (f->ports[i].peer == DL_NONE)
			continue;
		o.nvls = f->ports[i].vls ? f->ports[i].vls : w->c.default_vls;
		o.high_cap = f->ports[i].arb_high_cap;
		o.low_cap = f->ports[i].arb_low_cap;
		dl_link_arb_compile(&w->t->arbs[w->t->vlarb[i]], &o, &p->program);
		dl_link_arbiter_init(&p->arb, &p->program);
		if (w->c.cable_mm)
			mm = w->c.cable_mm[i] ? w->c.cable_mm[i] : w->c.cable_mm[f->ports[i].peer];
		p->delay = 5 * (uint64_t)mm;
		for (unsigned int vl = 0; vl < VLS; vl++)
			p->vl[vl].limit = p->vl[vl].told = most(w->c.buffer);
	}
	for (uint32_t i = 0; i < w->nflows; i++)
		t->ports[w->flow_port[i]].flow = i;
}

static void run_model(struct emu_fixture *w)
{
	struct model t;

	set_up(&t, w);
	for (uint32_t i = 0; i < w->nflows; i++)
		next_message(&t, i);
	for (uint32_t i = 0; i < w->nadapters; i++) {
		if (t.ports[w->adapter[i]].flow < 0)
			continue;
		fill(&t, w->adapter[i]);
		transmit(&t, w->adapter[i]);
	}
	while (t.nsoon) {
		unsigned int first = 0;
		struct soon s;

		for (unsigned int i = 1; i < t.nsoon; i++)
			if (before(&t.soon[i], &t.soon[first]))
				first = i;
		s = t.soon[first];
		t.soon[first] = t.soon[--t.nsoon];
		t.now = s.time;
		happen(&t, &s);
	}
	free(t.ports);
	free(t.soon);
	free(t.packets);
}

/* ---- the comparison ---------------------------------------------------- */

static uint64_t seed = 20261121;

#define FIXTURES 200
#define MAX_DELIVERIES 40000

static uint32_t *draw_cables(struct draw *d, const struct emu_fixture *w)
{
	uint32_t *mm = calloc(w->f->nports, sizeof(*mm));

	assert_non_null(mm);
	for (uint32_t i = 0; i < w->f->nports; i++)
		if (w->f->ports[i].peer != DL_NONE && w->f->ports[i].peer > i)
			mm[i] = 1 + draw_below(d, 30000);
	return mm;
}

static void draw_fixture(struct draw *d, struct emu_fixture *w)
{
	uint32_t radix[3];

	for (unsigned int i = 0; i < 3; i++)
		radix[i] = 1 + draw_below(d, i < 2 ? 4 : 2);
	if (radix[0] * radix[1] * radix[2] < 2)
		radix[0] = 2;
	emu_fixture_build(w, radix, draw_one_in(d, 4), 1 + draw_below(d, 2), NULL);
	emu_fixture_link(w, DL_FABRIC_SDR + draw_below(d, 8), 1u << 2 * draw_below(d, 2));
	w->c.seed = draw32(d);
	w->c.mtu = 256u << draw_below(d, 5);
	w->c.switching = draw_below(d, 2) ? DL_EMU_CUT_THROUGH : DL_EMU_STORE_AND_FORWARD;
	w->c.flow_control = draw_below(d, 2);
	w->c.switch_latency_ps = draw_below(d, 200000);
	w->c.cable_mm_all = draw_below(d, 20000);
	if (draw_below(d, 2))
		w->c.cable_mm = draw_cables(d, w);
	w->c.buffer = w->c.flow_control == DL_LINK_CREDIT_PCIE ?
			      1 + draw_below(d, 6) :
			      (w->c.mtu / 64 + 2) * (1 + draw_below(d, 6)) + draw_below(d, 10);
	if (w->c.flow_control == DL_LINK_CREDIT_IBA && draw_one_in(d, 4))
		w->c.buffer = 1900 + draw_below(d, 2000); /* more than is promised */
}

/* One flow an adapter, of any kind. */
static void draw_flows(struct draw *d, struct emu_fixture *w)
{
	for (uint32_t i = 0; i < w->nadapters; i++) {
		struct emu_flow *f = emu_fixture_flow(w, i, 0, 1 + draw_below(d, 2 * w->c.mtu),
						      1 + draw_below(d, 8));

		f->random = true;
		f->level = draw_below(d, 2);
		f->gap = draw_below(d, 2) * draw_below(d, 3000000);
		if (draw_one_in(d, 4))
			f->mlid = DL_TABLES_MCAST_LID;
		else if (draw_below(d, 2))
			f->window = 1 + draw_below(d, 3);
	}
}

static void show(const char *who, const struct dl_emu_delivery *d)
{
	print_message("%s: flow %u to port %u, %u bytes, SL %u: created %llu, "
		      "injected %llu, at %llu\n",
		      who, d->flow, d->dst, d->bytes, d->sl, (unsigned long long)d->created,
		      (unsigned long long)d->injected, (unsigned long long)d->at);
}

static bool same(const struct dl_emu_delivery *a, const struct dl_emu_delivery *b)
{
	return a->created == b->created && a->injected == b->injected && a->at == b->at &&
	       a->flow == b->flow && a->dst == b->dst && a->bytes == b->bytes &&
	       a->dlid == b->dlid && a->level == b->level && a->sl == b->sl && a->last == b->last;
}

/* Returns how many deliveries were compared. */
static uint32_t compare(uint32_t fixture, const struct emu_fixture *w, struct dl_emu_delivery *a,
			uint32_t na, struct dl_emu_delivery *b, uint32_t nb)
{
	struct dl_emu_rate rate;
	uint64_t until;

	assert_int_equal(dl_emu_link_rate(w->f, &w->c, w->adapter[0], &rate), 0);
	until = dl_emu_rate_time(rate, DL_LINK_FCP_DEADLINE);
	assert_int_equal(na, nb);
	for (uint32_t i = 0; i < na; i++) {
		if (a[i].at >= until)
			return i;
		if (!same(&a[i], &b[i])) {
			print_message("seed %llu, fixture %u, delivery %u\n",
				      (unsigned long long)seed, fixture, i);
			show("emulator", &a[i]);
			show("reference model", &b[i]);
			fail();
		}
	}
	return na;
}

static void test_model(void **state)
{
	struct dl_emu_delivery *fast, *slow;
	struct draw d = { .seed = seed };
	uint64_t compared = 0;

	(void)state;
	fast = malloc(MAX_DELIVERIES * sizeof(*fast));
	slow = malloc(MAX_DELIVERIES * sizeof(*slow));
	assert_true(fast && slow);
	for (uint32_t i = 0; i < FIXTURES; i++) {
		struct emu_fixture w;
		uint32_t n;

		draw_fixture(&d, &w);
		draw_flows(&d, &w);
		w.log = fast;
		w.log_size = MAX_DELIVERIES;
		emu_fixture_start(&w);
		assert_int_equal(dl_emu_run(w.emu, UINT64_C(1000000000000)), DL_EMU_DONE);
		n = w.delivered;
		emu_fixture_stop(&w);
		w.log = slow;
		emu_fixture_rewind(&w);
		run_model(&w);
		compared += compare(i, &w, fast, n, slow, w.delivered);
		free((void *)w.c.cable_mm);
		emu_fixture_free(&w);
	}
	print_message("%llu deliveries\n", (unsigned long long)compared);
	assert_true(compared > 20 * FIXTURES);
	free(fast);
	free(slow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_model),
	};
	const char *given = getenv("DATELINE_SEED");

	if (given)
		seed = strtoull(given, NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
