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
 * It knows one flow an adapter, besides that of acknowledgements, and one speed
 * for all links.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu_reference_model.h"

/* ---- what happens ------------------------------------------------------ */

static void happen(struct model *t, const struct soon *s)
{
	switch (s->kind) {
	case TAIL:
		emu_ref_tail(t, s->who);
		break;
	case CREDIT:
		emu_ref_take_credit(t, s);
		break;
	case ARRIVE:
		emu_ref_arrive(t, s->who, s->value);
		break;
	case WAKE:
		t->ports[s->who].wake = false;
		emu_ref_transmit(t, s->who);
		break;
	case MESSAGE:
	case ENDED:
		if (s->kind == MESSAGE)
			emu_ref_start(t, s->who);
		else
			t->flows[s->who].under_way--;
		emu_ref_next_message(t, s->who);
		emu_ref_fill(t, port_of(t, s->who));
		emu_ref_transmit(t, port_of(t, s->who));
		break;
	case BECN:
		emu_ref_becn(t, s->who);
		break;
	case PACED:
		emu_ref_line_up(t, s->who);
		emu_ref_fill(t, port_of(t, s->who));
		emu_ref_transmit(t, port_of(t, s->who));
		break;
	case TIMEOUT:
		emu_ref_rc_timeout(t, s->who);
		break;
	case TAKEN:
		t->ports[s->who].draining = false;
		emu_ref_take(t, leave(&t->ports[s->who].arrived, 0));
		emu_ref_take_in(t, s->who);
		break;
	case HOQ:
		emu_ref_expire(t, s->who, s->value);
		break;
	case DEADLINE:
		emu_ref_deadline(t, s->who, s->value);
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
				emu_ref_lose(t, id, DL_EMU_DROP_DEAD_LINK);
			} while (!t->packets[id].final);
			p->taken[vl] = false;
		} else if (owner != NOBODY) {
			channel(t, owner)->discard = DL_EMU_DROP_DEAD_LINK;
			while (i < c->waiting.n && t->packets[c->waiting.packet[i]].in != owner)
				i++;
			if (i < c->waiting.n)
				emu_ref_drop_waiting(t, out, i, DL_EMU_DROP_DEAD_LINK);
		}
		if (c->open)
			emu_ref_enter(t, out, emu_ref_new_packet(t, end));
	}
	if (!is_switch(t, port))
		emu_ref_fill(t, port);
}

/* An adapter with reliable connections loses what waits for its own link. */
static void drop_own(struct model *t, uint32_t port)
{
	for (unsigned int vl = 0; vl < VLS; vl++) {
		struct queue *q = &t->ports[port].vl[vl].waiting;

		if (!q->n)
			continue;
		emu_ref_lose(t, leave(q, 0), DL_EMU_DROP_DEAD_LINK);
		t->ports[port].taken[vl] = false;
	}
	emu_ref_fill(t, port);
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
	for (unsigned int i = 0; i < 2 && has_retries(t); i++)
		if (!is_switch(t, port[i]))
			drop_own(t, port[i]);
	for (unsigned int i = 0; i < 2; i++)
		for (unsigned int vl = 0; vl < VLS; vl++)
			while (is_switch(t, port[i]) && !t->w->c.hoq_life_ps &&
			       t->ports[port[i]].vl[vl].waiting.n)
				emu_ref_drop_waiting(t, port[i] * VLS + vl, 0,
						     DL_EMU_DROP_DEAD_LINK);
}

static void link_up(struct model *t, const uint32_t port[2])
{
	for (unsigned int i = 0; i < 2; i++) {
		struct port *p = &t->ports[port[i]], *q = &t->ports[port[!i]];

		for (unsigned int vl = 0; vl < VLS; vl++) {
			p->vl[vl].entered = p->vl[vl].healed = 0;
			q->vl[vl].sent = q->vl[vl].lost = 0;
			p->vl[vl].told = q->vl[vl].limit = 0;
		}
		p->unheard = p->tell = (1u << p->vls) - 1;
		p->down = false;
		p->start = t->now;
		p->due = t->now + span(t);
		later(t, p->due, DEADLINE, port[i], p->start);
	}
	emu_ref_transmit(t, port[0]);
	emu_ref_transmit(t, port[1]);
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
		emu_ref_begin_losses(t);
		*(fault->kind == DL_EMU_FCP_LOSS    ? &p->fcp_loss :
		  fault->kind == DL_EMU_FCP_CORRUPT ? &p->fcp_corrupt :
						      &p->damage) = fault->rate;
		break;
	case DL_EMU_DRAIN_STOP:
	case DL_EMU_DRAIN_START:
		p->stopped = fault->kind == DL_EMU_DRAIN_STOP;
		emu_ref_take_in(t, fault->port);
		break;
	case DL_EMU_DRAIN_RATE:
		p->rate = fault->rate;
		emu_ref_take_in(t, fault->port);
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

	p->sending = p->flow = p->ack_flow = -1;
	p->rate = 1000000;
	p->random = (struct dl_random){ w->c.seed, 0xE8000000 + number, 0 };
	for (unsigned int vl = 0; vl < VLS; vl++) {
		p->vl[vl].discard = -1;
		p->vl[vl].owner = NOBODY;
		p->vl[vl].limit = p->vl[vl].told = most(w->c.buffer / w->c.chunk);
	}
	if (port->peer == DL_NONE)
		return;
	p->vls = o.nvls = port->vls ? port->vls : DL_EMU_DEFAULT_VLS;
	o.high_cap = o.low_cap = 64;
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
	assert_int_equal(dl_emu_link_rate(f, w->adapter[0], &t->rate), 0);
	for (uint32_t i = 0; i < f->nports; i++) {
		set_up_port(t, i, number);
		/* Random numbers are those of the emulator's numbers of ports. */
		number += f->ports[i].num ? !is_switch(t, i) || f->ports[i].peer != DL_NONE :
					    is_switch(t, i);
	}
	for (uint32_t i = 0; i < w->nflows; i++)
		t->ports[w->flow_port[i]].flow = i;
	if (has_retries(t))
		emu_ref_rc_set_up(t);
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

static void release(struct model *t)
{
	for (uint32_t i = 0; i < t->w->f->nports; i++) {
		for (unsigned int vl = 0; vl < VLS; vl++) {
			free(t->ports[i].vl[vl].stored.packet);
			free(t->ports[i].vl[vl].waiting.packet);
		}
		free(t->ports[i].arrived.packet);
	}
	emu_ref_rc_free(t);
	free(t->ports);
	free(t->soon);
	free(t->packets);
}

void emu_reference_run(struct emu_fixture *w, const struct emu_step *steps, uint32_t nsteps,
		       uint64_t until, struct dl_emu_totals *out)
{
	struct model t;

	set_up(&t, w);
	for (uint32_t i = 0; i < w->nflows; i++)
		emu_ref_next_message(&t, i);
	for (uint32_t i = 0; i < w->nadapters; i++) {
		emu_ref_fill(&t, w->adapter[i]);
		emu_ref_transmit(&t, w->adapter[i]);
	}
	for (uint32_t i = 0; i < nsteps; i++) {
		run_to(&t, steps[i].at);
		t.now = steps[i].at;
		fault(&t, &steps[i].fault);
	}
	run_to(&t, until);
	if (out)
		*out = t.totals;
	release(&t);
}
