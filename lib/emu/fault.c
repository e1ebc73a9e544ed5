/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What goes wrong during a run, and what a subnet manager does about it.
 *
 * A link that goes down loses what is on the wire; packets that wait for it
 * are dropped at once, or, with a lifetime limit in the switches, when that
 * is over; an adapter's wait until it is up, unless its connections are
 * reliable.  When it comes up again, both ends restart their flow control:
 * counters at zero, and a flow-control packet with Op 1 for each data VL, that
 * says what is free.  A port sends no data before it has heard of all
 * VLs, which is when the link is active for it.
 *
 * In wormhole switching a link cuts the worms in two that are passing it.
 * What has not left yet is thrown away, to the tail, at which the worm is
 * counted as lost.  What has arrived would keep the channels that it holds for
 * ever; so behind it goes a tail of no bytes, a mere symbol, which takes no room,
 * is counted nowhere, and sets them free.
 */
#include "config.h"

#include "emu/run.h"
#include "dateline/base.h"

/* ---- links ------------------------------------------------------------- */

static void port_down(struct dl_emu *e, uint32_t port)
{
	struct dl_emu_link_port *p = &e->ports[port];

	p->hold |= DL_EMU_DOWN;
	p->epoch++;
	p->fcp = 0;
}

/* An adapter's packet or, of a worm, the rest of it, which is in the queue. */
static void drop_rest(struct dl_emu *e, struct dl_emu_adapter *a, uint32_t out)
{
	uint32_t packet;
	bool tail = false;

	while (!tail && (packet = dl_emu_vl_at(e, out)->head) != DL_EMU_NIL) {
		tail = e->packets[packet].flags & DL_EMU_PK_TAIL;
		dl_emu_unwait(e, packet);
		e->packets[packet].flags |= DL_EMU_PK_WAITING; /* see count_drop() */
		if (tail)
			dl_emu_lose(e, packet, DL_EMU_DROP_DEAD_LINK);
		else
			dl_emu_recycle(e, packet);
	}
	a->free_sls |= a->vl_sls[dl_emu_vl_of(out)];
}

/* An adapter keeps what waits for its own link, but for reliable connections: see adapter.c. */
static void drop_own(struct dl_emu *e, const struct dl_emu_link_port *p)
{
	struct dl_emu_adapter *a = &e->adapters[p->adapter];

	for (unsigned int v = 0; v < DL_LINK_VL_SMP; v++)
		if (p->vl[v].head != DL_EMU_NIL)
			drop_rest(e, a, dl_emu_channel(p->number, v));
	dl_emu_fill(e, a);
}

/* Nothing can leave through this port: drop what waits for it. */
static void drop_queue(struct dl_emu *e, uint32_t port)
{
	struct dl_emu_link_port *p = &e->ports[port];

	if (p->adapter != DL_EMU_NIL && e->senders)
		drop_own(e, p);
	if (p->adapter != DL_EMU_NIL || e->c.hoq_life_ps)
		return;
	for (unsigned int v = 0; v < DL_EMU_VLS; v++)
		while (p->vl[v].head != DL_EMU_NIL)
			dl_emu_drop_waiting(e, p->vl[v].head, DL_EMU_DROP_DEAD_LINK);
}

/* A switch's worm: the rest may still have to arrive. */
static void discard_rest(struct dl_emu *e, uint32_t in, uint32_t out)
{
	uint32_t packet = dl_emu_vl_at(e, out)->head;

	e->worm[in].discard = 1 + DL_EMU_DROP_DEAD_LINK;
	while (packet != DL_EMU_NIL && e->packets[packet].in != in)
		packet = e->packets[packet].wait_next;
	if (packet != DL_EMU_NIL)
		dl_emu_drop_waiting(e, packet, DL_EMU_DROP_DEAD_LINK);
}

static void cut_worms(struct dl_emu *e, uint32_t port)
{
	uint32_t adapter = e->ports[port].adapter;

	for (unsigned int v = 0; v < DL_LINK_VL_SMP; v++) {
		uint32_t channel = dl_emu_channel(port, v), packet;
		uint32_t owner = e->worm[channel].owner;

		e->worm[channel].owner = DL_EMU_NIL;
		if (owner != DL_EMU_NIL && adapter != DL_EMU_NIL)
			drop_rest(e, &e->adapters[adapter], channel);
		else if (owner != DL_EMU_NIL)
			discard_rest(e, owner, channel);
		if (!e->worm[channel].open)
			continue;
		packet = dl_emu_packet(e);
		if (packet == DL_EMU_NIL)
			return;
		e->packets[packet] = (struct dl_emu_pkt){
			.since = e->now,
			.next = DL_EMU_NIL,
			.in = channel,
			.flags = DL_EMU_PK_TAIL | DL_EMU_PK_LOST,
		};
		dl_emu_enter(e, packet);
	}
	if (adapter != DL_EMU_NIL)
		dl_emu_fill(e, &e->adapters[adapter]);
}

static void port_up(struct dl_emu *e, uint32_t port)
{
	struct dl_emu_link_port *p = &e->ports[port], *q = &e->ports[p->peer];

	for (unsigned int v = 0; v < DL_LINK_VL_SMP; v++) {
		struct dl_emu_vl_port *in = &p->vl[v], *out = &q->vl[v];

		in->rx.received = in->rx.advertised = out->tx.sent = out->tx.limit = 0;
		out->sound = in->entered = 0;
		out->credit_at = DL_EMU_NEVER;
	}
	p->greet = p->unheard = (1u << (p->vls < q->vls ? p->vls : q->vls)) - 1;
	p->fcp = p->greet;
	p->fcp_due = e->now + dl_emu_rate_time(p->rate, DL_LINK_FCP_DEADLINE);
	p->hold &= ~DL_EMU_DOWN;
}

static int link_down(struct dl_emu *e, uint32_t a, uint32_t b)
{
	if (e->ports[a].hold & DL_EMU_DOWN)
		return 0;
	port_down(e, a);
	port_down(e, b);
	e->mode.looks_ahead = false;
	dl_emu_share(e);
	if (e->mode.worms) {
		cut_worms(dl_emu_shard(e, a), a);
		cut_worms(dl_emu_shard(e, b), b);
	}
	drop_queue(dl_emu_shard(e, a), a);
	drop_queue(dl_emu_shard(e, b), b);
	return e->err;
}

static int link_up(struct dl_emu *e, uint32_t a, uint32_t b)
{
	if (!(e->ports[a].hold & DL_EMU_DOWN))
		return 0;
	port_up(e, a);
	port_up(e, b);
	dl_emu_transmit(dl_emu_shard(e, a), &e->ports[a]);
	dl_emu_transmit(dl_emu_shard(e, b), &e->ports[b]);
	return e->err;
}

/* ---- losses and slow receivers ----------------------------------------- */

/*
 * A deadline that has passed, and that its port has not looked at yet, was one of a
 * run without losses: what was left out then must not be sent now.  If the link is
 * busy, its flow-control packets go out when it is free.
 */
static void pass_deadlines(struct dl_emu *e)
{
	for (uint32_t i = 0; i < e->nports; i++) {
		struct dl_emu_link_port *p = &e->ports[i];

		if (p->peer != DL_EMU_NIL && !(p->hold & DL_EMU_DOWN) && e->now >= p->fcp_due)
			dl_emu_pass_deadline(dl_emu_shard(e, i), p, false);
	}
}

/* From now on flow-control packets are sent in time, whether needed or not. */
static void start_timers(struct dl_emu *e)
{
	if (e->mode.timers)
		return;
	pass_deadlines(e);
	e->mode.timers = true;
	e->mode.plain = false;
	dl_emu_share(e);
	for (uint32_t c = 0; c < e->nports * DL_EMU_VLS; c++) {
		struct dl_emu_vl_port *v = dl_emu_vl_at(e, c);

		v->sound = v->tx.sent;
		v->entered = v->rx.received;
	}
	for (uint32_t i = 0; i < e->nports; i++) {
		dl_emu_report_later(dl_emu_shard(e, i), &e->ports[i]);
		if (e->ports[i].fcp)
			dl_emu_transmit(dl_emu_shard(e, i), &e->ports[i]);
	}
}

static int slow_down(struct dl_emu *e, const struct dl_emu_fault *fault, uint32_t port)
{
	struct dl_emu_adapter *a;

	if (e->ports[port].adapter == DL_EMU_NIL)
		return dl_emu_refuse(e->log, "only an adapter's port can stop draining");
	a = &e->adapters[e->ports[port].adapter];
	if (fault->kind == DL_EMU_DRAIN_RATE)
		a->rate = fault->rate;
	else
		a->stopped = fault->kind == DL_EMU_DRAIN_STOP;
	dl_emu_take_in(dl_emu_shard(e, port), a);
	return e->err;
}

static int apply_fault(struct dl_emu *e, const struct dl_emu_fault *fault)
{
	struct dl_emu_losses *loss;
	uint32_t port = DL_EMU_NIL, peer;

	if (fault->port < e->f->nports)
		port = e->own_port[fault->port];
	if (port == DL_EMU_NIL || e->ports[port].peer == DL_EMU_NIL)
		return dl_emu_refuse(e->log, "a fault needs a port with a cable");
	if (fault->rate > 1000000)
		return dl_emu_refuse(e->log, "a rate is at most 1000000 millionths");
	loss = &e->losses[port];
	peer = e->ports[port].peer;
	switch (fault->kind) {
	case DL_EMU_LINK_DOWN:
		return link_down(e, port, peer);
	case DL_EMU_LINK_UP:
		return link_up(e, port, peer);
	case DL_EMU_FCP_LOSS:
		loss->fcp_loss = fault->rate;
		break;
	case DL_EMU_FCP_CORRUPT:
		loss->fcp_corrupt = fault->rate;
		break;
	case DL_EMU_DATA_CORRUPT:
		loss->damage = fault->rate;
		break;
	default:
		return slow_down(e, fault, port);
	}
	e->ports[port].lossy = loss->fcp_loss || loss->fcp_corrupt || loss->damage;
	start_timers(e);
	return e->err;
}

int dl_emu_fault(struct dl_emu *e, const struct dl_emu_fault *fault)
{
	int err = e->err ? e->err : apply_fault(e, fault);

	dl_emu_open_mail(e);
	return err;
}

/* ---- new tables -------------------------------------------------------- */

/* By port of ours: the number there, or DL_NONE. */
static int match_ports(struct dl_emu *e, const struct dl_fabric *there, uint32_t *ports)
{
	const struct dl_fabric *f = e->f;
	uint32_t found = 0;

	for (uint32_t n = 0; n < f->nnodes; n++) {
		uint32_t m = dl_fabric_find_guid(there, f->nodes[n].guid);
		bool same = m != DL_NONE && f->nodes[n].type == there->nodes[m].type &&
			    f->nodes[n].nports == there->nodes[m].nports;

		found += same;
		for (uint32_t i = 0; i <= f->nodes[n].nports; i++)
			ports[f->nodes[n].first_port + i] = same ? there->nodes[m].first_port + i :
								   DL_NONE;
	}
	return found ? 0 : dl_emu_refuse(e->log, "the new tables are for another fabric");
}

int dl_emu_swap_tables(struct dl_emu *e, const struct dl_tables *t)
{
	uint32_t *ports = NULL;
	int err = e->err;

	if (!err && e->f != t->fabric) {
		ports = malloc((e->f->nports + 1ul) * sizeof(*ports));
		err = ports ? match_ports(e, t->fabric, ports) : -ENOMEM;
	}
	if (err) {
		free(ports);
		return err;
	}
	free(e->port_there);
	e->port_there = ports;
	e->tables = t;
	e->mode.looks_ahead = false;
	dl_emu_program_switches(e);
	err = dl_emu_program_ports(e);
	for (uint32_t a = 0; !err && a < e->nadapters; a++)
		dl_emu_adapter_maps(e, &e->adapters[a]);
	dl_emu_share(e);
	for (uint32_t a = 0; !err && a < e->nadapters; a++)
		dl_emu_fill(dl_emu_shard(e, e->adapters[a].port), &e->adapters[a]);
	for (uint32_t i = 0; !err && i < e->nports; i++)
		dl_emu_transmit(dl_emu_shard(e, i), &e->ports[i]);
	dl_emu_open_mail(e);
	return err;
}
