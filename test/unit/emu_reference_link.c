/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The emulator's reference model: a link, both ends; see emu_reference.c. */
#include "config.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu_reference_model.h"

/* ---- credit ------------------------------------------------------------ */

void emu_ref_maybe_send_credit(struct model *t, uint32_t in)
{
	struct channel *c = channel(t, in);
	int64_t fresh = promise(t, c) - c->told;
	unsigned int largest = units(t, t->w->c.mtu + DL_EMU_MCAST_HEADERS);
	unsigned int worth = units(t, t->w->c.mtu + DL_EMU_HEADERS);
	unsigned int size = t->w->c.buffer / t->w->c.chunk;

	if (largest > size)
		largest = units(t, t->w->c.flit);
	if (has_worms(t) && worth > (size + 3) / 4)
		worth = (size + 3) / 4;
	if (t->w->c.credit)
		worth = t->w->c.credit;
	if (!fresh || t->ports[in / VLS].down)
		return;
	if (fresh < worth && c->told - c->entered >= largest)
		return;
	if (t->ports[in / VLS].tell >> in % VLS & 1)
		return;
	t->ports[in / VLS].tell |= 1u << in % VLS;
	emu_ref_transmit(t, in / VLS);
}

void emu_ref_release(struct model *t, uint32_t in, unsigned int n)
{
	channel(t, in)->held -= chunks(t, n);
	emu_ref_maybe_send_credit(t, in);
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

void emu_ref_deadline(struct model *t, uint32_t port, uint64_t start)
{
	struct port *p = &t->ports[port];
	bool news = t->losses;

	if (p->start != start) /* the link was down since */
		return;
	for (unsigned int vl = 0; vl < p->vls; vl++)
		news |= has_news(t, p, vl);
	/* It may have passed when the link became free, a moment ago. */
	if (news && !p->down && t->now >= p->due) {
		pass_deadline(t, p, true);
		emu_ref_transmit(t, port);
	}
	later(t, t->now + span(t), DEADLINE, port, start);
}

/* Deadlines that have passed so far are those of a run without losses. */
void emu_ref_begin_losses(struct model *t)
{
	if (t->losses)
		return;
	for (uint32_t i = 0; i < t->w->f->nports; i++) {
		struct port *p = &t->ports[i];

		if (t->w->f->ports[i].peer != DL_NONE && !p->down && t->now >= p->due)
			pass_deadline(t, p, false);
	}
	t->losses = true;
	for (uint32_t i = 0; i < t->w->f->nports; i++)
		emu_ref_transmit(t, i);
}

/* ---- the sending end --------------------------------------------------- */

static bool happens(struct port *p, uint32_t millionths)
{
	return millionths && dl_random_below(&p->random, 1000000) < millionths;
}

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

void emu_ref_take_credit(struct model *t, const struct soon *s)
{
	struct port *p = &t->ports[s->who / VLS];
	struct channel *c = channel(t, s->who);

	if (p->down || p->epoch != s->epoch)
		return;
	c->limit = s->value;
	p->unheard &= ~(1u << s->who % VLS);
	if ((int64_t)s->lost != c->healed) {
		c->entered += s->lost - c->healed;
		c->healed = s->lost;
		emu_ref_maybe_send_credit(t, s->who);
	}
	/* At the same time the link becomes free: that comes later. */
	if (!p->wake)
		emu_ref_transmit(t, s->who / VLS);
}

/* Which of those that wait for a channel, with these SLs, can go as far as inputs go; or -1. */
static int candidate(struct model *t, const struct channel *c, unsigned int sls)
{
	for (unsigned int i = 0; i < c->waiting.n; i++) {
		uint32_t in = t->packets[c->waiting.packet[i]].in;

		if (c->owner != NOBODY && (i || in != c->owner))
			return -1;
		if (sls >> t->packets[c->waiting.packet[i]].sl & 1 &&
		    (!t->w->c.speedup || !is_switch(t, in / VLS) ||
		     t->ports[in / VLS].readers < t->w->c.speedup))
			return i;
	}
	return -1;
}

/*
 * What waits for an output when `pk` leaves: all that is stored for it; or what the buffers
 * hold that it leaves, or whose first packet waits for it.
 */
static int64_t queue_of(struct model *t, uint32_t out, const struct packet *pk)
{
	const struct dl_fabric_node *n = node_of(t, out / VLS);
	int64_t sum = 0;

	for (unsigned int i = 0; !has_voqs(t) && i < channel(t, out)->waiting.n; i++)
		sum += t->w->c.chunk *
		       channel(t, t->packets[channel(t, out)->waiting.packet[i]].in)->held;
	if (!has_voqs(t))
		sum += t->w->c.chunk * (channel(t, pk->in)->held - chunks(t, units(t, pk->bytes)));
	for (uint32_t c = n->first_port * VLS;
	     has_voqs(t) && c < (n->first_port + n->nports + 1) * VLS; c++)
		for (unsigned int i = 0; i < channel(t, c)->stored.n; i++) {
			const struct packet *q = &t->packets[channel(t, c)->stored.packet[i]];

			sum += q->out == out ? units(t, q->bytes) : 0;
		}
	return sum;
}

/* Congestion control: `pk` leaves, and waits for nothing any more. */
static void mark(struct model *t, uint32_t port, unsigned int vl, struct packet *pk)
{
	const struct dl_emu_congestion *c = &t->w->c.congestion;
	const struct port *p = &t->ports[port];
	bool idle = t->now > p->busy_until && t->now > pk->since;

	if (!c->threshold || pk->dlid >= DL_TABLES_MCAST_LID || (idle && !c->victims))
		return;
	if (queue_of(t, port * VLS + vl, pk) <= t->w->c.buffer * (16 - c->threshold) / 16)
		return;
	if (t->ports[port].vl[vl].unmarked++ < c->marking_rate)
		return;
	t->ports[port].vl[vl].unmarked = 0;
	pk->marked = true;
	t->totals.marked++;
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
		if (has_voqs(t)) {
			take_out(&channel(t, pk->in)->stored, id);
		} else if (pk->parent < 0) {
			leave(&channel(t, pk->in)->stored, 0);
			channel(t, pk->in)->reading = true;
		}
		mark(t, port, vl, pk);
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
	for (uint32_t i = 1; t->w->c.speedup && is_switch(t, port) && i <= node_of(t, port)->nports;
	     i++)
		emu_ref_transmit(t, node_of(t, port)->first_port + i);
}

/* What can be sent by each VL and these SLs: which of its queue, or -1. */
static unsigned int find_able(struct model *t, const struct port *p, unsigned int sls, int at[VLS])
{
	unsigned int able = 0;

	for (unsigned int vl = 0; vl < VLS; vl++) {
		const struct channel *c = &p->vl[vl];

		at[vl] = candidate(t, c, sls);
		if (at[vl] >= 0 &&
		    c->sent + units(t, t->packets[c->waiting.packet[at[vl]]].bytes) <= c->limit)
			able |= 1u << vl;
	}
	return able;
}

static const struct dl_emu_sl_table *sl_table(struct model *t, uint32_t port)
{
	return is_switch(t, port) ? t->w->c.switch_sl_table : NULL;
}

/* The SL whose turn it is at a switch's port, of those that the arbiter could send; or -1. */
static int turn_of(struct model *t, uint32_t port)
{
	const struct dl_emu_sl_table *table = sl_table(t, port);
	struct port *p = &t->ports[port];
	int at[VLS];

	for (unsigned int i = 0; i < table->n; i++) {
		unsigned int entry = (p->sl_entry + i) % table->n;
		unsigned int sl = table->entry[entry].sl;
		unsigned int able = find_able(t, p, 1u << sl, at);

		for (unsigned int vl = 0; vl < DL_LINK_VL_SMP; vl++)
			if (!dl_link_arb_sends(&p->program, vl))
				able &= ~(1u << vl);
		if (!able || !table->entry[entry].weight)
			continue;
		if (i || !p->sl_live)
			p->sl_left = table->entry[entry].weight;
		p->sl_entry = entry;
		p->sl_live = true;
		return sl;
	}
	return -1;
}

static void charge_turn(struct port *p, const struct dl_emu_sl_table *table, int64_t bytes)
{
	p->sl_left -= bytes ? bytes : 1;
	if (p->sl_left > 0)
		return;
	p->sl_live = false;
	p->sl_entry = (p->sl_entry + 1) % table->n;
}

static bool is_wanted(const struct port *p)
{
	bool wanted = p->tell != 0;

	for (unsigned int vl = 0; vl < VLS; vl++)
		wanted |= p->vl[vl].waiting.n > 0;
	return wanted && p->sending < 0 && !p->down;
}

void emu_ref_transmit(struct model *t, uint32_t port)
{
	const struct dl_emu_sl_table *table = sl_table(t, port);
	struct port *p = &t->ports[port];
	struct dl_link_pick pick;
	int at[VLS];

	while (is_wanted(p)) {
		const struct packet *pk;
		unsigned int able;
		int sl;

		if (t->now < p->busy_until) {
			if (!p->wake)
				later(t, p->busy_until, WAKE, port, 0);
			p->wake = true;
			return;
		}
		if (t->now > p->busy_until)
			dl_link_arbiter_idle(&p->arb);
		if (t->now >= p->due)
			pass_deadline(t, p, t->now == p->due);
		if (p->tell) {
			tell(t, port);
			continue;
		}
		sl = table ? turn_of(t, port) : 0;
		able = sl < 0 ? 0 : find_able(t, p, table ? 1u << sl : UINT_MAX, at);
		if (p->unheard)
			able = 0;
		if (dl_link_arbiter_pick(&p->arb, false, false, able, &pick) != DL_LINK_DATA)
			return;
		pk = &t->packets[p->vl[pick.vl].waiting.packet[at[pick.vl]]];
		/* Without the two bytes of the VCRC, which LRH:PktLen does not count. */
		dl_link_arbiter_charge(&p->arb, &pick, pk->bytes - 2, NULL);
		if (table)
			charge_turn(p, table, has_worms(t) ? pk->bytes : pk->data);
		send(t, port, pick.vl, at[pick.vl]);
	}
}
