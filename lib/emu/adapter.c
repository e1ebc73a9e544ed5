/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Channel adapters: where messages become packets, and packets end.
 *
 * Sending.  Each flow is a queue pair.  The adapter has room for one packet
 * of each VL in front of its link; whenever a VL's place is empty, the SL
 * table (slarb.h) says which queue pair makes the next packet, among the SLs
 * that map to such a VL.  Which of the packets goes first is up to the VL
 * arbiter of the port.  An SL table decides alone: with one, a packet is made when
 * the one before it has left, and of an SL that has credit for it.  (In wormhole
 * switching also while the one before it lacks credit for its next flit.)  A place
 * is empty again when the tail has left, so the time for changing queue pair is
 * not hidden behind the packet before it.
 *
 * Reliable connections (reliable.c) must fail if the adapter's own link stays down, so
 * what they send is lost then, as it would be on any other link; without them it waits.
 *
 * Messages are taken from the source when the flow has come to them: a
 * backlog of any length costs no memory.
 *
 * Receiving.  A packet is taken in as its bits arrive, so its room is free
 * with the last one; or at a slower rate, one after the other; or not at all.
 */
#include "config.h"

#include "emu/node.h"
#include "dateline/base.h"

/* ---- sending ----------------------------------------------------------- */

static unsigned int sl_of_message(const struct dl_emu *e, const struct dl_emu_adapter *a,
				  const struct dl_emu_message *m)
{
	unsigned int sl = m->sl;
	const uint8_t *path;

	if (sl != DL_TABLES_NO_SL)
		return sl & 15;
	path = dl_emu_path_sl(e, a, m->dlid);
	if (path && m->dlid < DL_TABLES_MCAST_LID)
		sl = *path;
	return (sl == DL_TABLES_NO_SL ? 0 : sl & 15) | (m->level ? 8 : 0);
}

/* Somebody wants to know what happens to packets; all flits have the packet's number. */
static void number_packet(struct dl_emu *e, uint32_t packet, bool first, uint64_t created)
{
	const struct dl_emu_pkt *pk = &e->packets[packet];

	e->made += first;
	e->numbers[packet] = e->made;
	if (first)
		dl_emu_report_step(e,
				   &(struct dl_emu_step){ .kind = DL_EMU_STEP_MADE,
							  .vl = dl_emu_vl_of(pk->in),
							  .waited = e->now - created },
				   packet, dl_emu_port_of(pk->in));
}

/* Put a packet, or the flits of one, in front of the link. */
static void make_packet(struct dl_emu *e, struct dl_emu_adapter *a, uint32_t flow, uint32_t data,
			uint32_t bytes, unsigned int vl, unsigned int flags)
{
	const struct dl_emu_flow *f = &e->flows[flow];
	bool multicast = f->message.dlid >= DL_TABLES_MCAST_LID;
	bool worm = e->mode.worms && vl != DL_LINK_VL_SMP;
	uint32_t flit = worm ? e->c.flit : bytes;
	uint32_t channel = dl_emu_channel(a->port, vl);
	uint16_t units = dl_emu_units(e, bytes);

	flags |= DL_EMU_PK_HEAD | (f->message.level ? DL_EMU_PK_LEVEL : 0) |
		 (multicast ? DL_EMU_PK_MCAST : 0);
	for (uint32_t sent = 0; sent < bytes; sent += flit) {
		uint32_t packet = dl_emu_packet(e);
		uint32_t left = bytes - sent;

		if (packet == DL_EMU_NIL)
			return;
		left = left < flit ? left : flit;
		e->packets[packet] = (struct dl_emu_pkt){
			.next = DL_EMU_NIL,
			.in = channel,
			.dlid = f->message.dlid,
			.bytes = left,
			.sl = f->sl,
			.flags = flags | (sent + left == bytes ? DL_EMU_PK_TAIL : 0),
			.units = left == bytes ? units : dl_emu_units(e, left),
		};
		e->origins[packet] = (struct dl_emu_origin){
			.created = f->message.at,
			.flow = flow,
			.data = data,
			.early = f->message.number,
		};
		dl_emu_wait_for(e, packet, channel);
		if (e->sequence)
			dl_emu_rc_number(e, flow, packet);
		if (e->numbers)
			number_packet(e, packet, flags & DL_EMU_PK_HEAD, f->message.at);
		flags &= ~DL_EMU_PK_HEAD;
	}
	e->totals.injected++;
}

/* The index of a flow now: one less with each tick of the timer. */
static unsigned int flow_ccti(const struct dl_emu *e, struct dl_emu_flow *f)
{
	uint64_t tick = e->now / e->c.congestion.timer_ps, less = tick - f->ccti_tick;

	f->ccti = f->ccti > less ? f->ccti - less : 0;
	f->ccti_tick = tick;
	return f->ccti;
}

/* A flow has made a packet of so long: when may it make the next one? */
static void pace_flow(const struct dl_emu *e, struct dl_emu_flow *f, uint64_t time)
{
	uint64_t times = e->c.congestion.table[flow_ccti(e, f)];

	f->paced_until = times ? e->now + time + time * times / 1000000 : 0;
}

static void flow_becn(const struct dl_emu *e, struct dl_emu_flow *f)
{
	uint32_t ccti = flow_ccti(e, f) + e->c.congestion.increase;

	f->ccti = ccti < e->c.congestion.limit ? ccti : e->c.congestion.limit;
}

/* A flow with a message asks for its turn, as soon as congestion control lets it. */
static void line_up_flow(struct dl_emu *e, struct dl_emu_adapter *a, uint32_t flow)
{
	struct dl_emu_flow *f = &e->flows[flow];

	if (f->paced_until > e->now)
		dl_emu_message_at(e, f->paced_until, flow, DL_EMU_EV_PACED);
	else
		dl_emu_sl_sched_work(&a->sched, flow, f->sl);
}

static void message_sent(struct dl_emu *e, uint32_t flow)
{
	e->flows[flow].active = false;
	dl_emu_flow_next(e, flow);
}

static uint32_t headers_of(const struct dl_emu_flow *f)
{
	return f->message.dlid >= DL_TABLES_MCAST_LID ? DL_EMU_MCAST_HEADERS : DL_EMU_HEADERS;
}

/* Of a flow's message, what the next packet carries. */
static uint32_t next_data(const struct dl_emu *e, const struct dl_emu_flow *f)
{
	return f->left < e->c.mtu ? f->left : e->c.mtu;
}

/*
 * A flow that has its turn has gone back to a message of another SL, and lines up there; or
 * its connection has broken, and it goes on to another one.
 */
static bool is_out_of_line(struct dl_emu *e, struct dl_emu_adapter *a, uint32_t flow)
{
	struct dl_emu_flow *f = &e->flows[flow];
	unsigned int sl = sl_of_message(e, a, &f->message);

	f->other = false;
	if (dl_emu_rc_is_broken(e, flow)) {
		dl_emu_sl_sched_charge(&a->sched, flow, 0, false);
		message_sent(e, flow);
		return true;
	}
	if (sl == f->sl)
		return false;
	f->sl = sl;
	dl_emu_sl_sched_charge(&a->sched, flow, 0, false);
	line_up_flow(e, a, flow);
	return true;
}

/* Is what an adapter sends lost at its own link? */
static bool is_cut_off(const struct dl_emu *e, const struct dl_emu_adapter *a)
{
	return e->senders && e->ports[a->port].hold & DL_EMU_DOWN;
}

static bool is_program_flow(const struct dl_emu *e, uint32_t flow)
{
	return e->source.program && flow >= e->source.first && flow < e->source.nflows;
}

/* The next packet of a queue pair that was given its turn. */
static void make_data(struct dl_emu *e, struct dl_emu_adapter *a, uint32_t flow)
{
	struct dl_emu_flow *f = &e->flows[flow];
	uint32_t data = next_data(e, f), bytes = data + headers_of(f);
	bool last = f->left <= e->c.mtu;
	bool program = is_program_flow(e, flow), first = program && f->left == f->message.bytes;
	unsigned int sl = f->sl, vl = a->sl_vl[sl];
	bool none = vl == DL_EMU_NO_VL, reliable = dl_emu_is_reliable(e, flow), more;

	f->left -= data;
	if (none || is_cut_off(e, a) || dl_link_arb_drops(e->ports[a->port].arb.program, vl)) {
		e->totals.injected++;
		e->totals.dropped++;
		e->totals.drops[none		 ? DL_EMU_DROP_NO_VL :
				is_cut_off(e, a) ? DL_EMU_DROP_DEAD_LINK :
						   DL_EMU_DROP_UNLISTED]++;
		e->ports[a->port].discards++;
		if (last && f->window && !reliable)
			dl_emu_message_at(e,
					  e->now + dl_emu_rate_time(e->ports[a->port].rate, bytes),
					  flow, DL_EMU_EV_ENDED);
	} else {
		a->free_sls &= ~a->vl_sls[vl];
		make_packet(e, a, flow, data, bytes, vl, last ? DL_EMU_PK_LAST : 0);
	}
	if (first)
		e->source.leaves(e->source.program, e, flow);
	if (reliable)
		dl_emu_rc_sent(e, flow);
	if (e->marks)
		pace_flow(e, f, dl_emu_rate_time(e->ports[a->port].rate, bytes));
	/* A message that is due already is work, too: the turn goes on. */
	if (last)
		message_sent(e, flow);
	more = f->active && f->sl == sl && f->paced_until <= e->now;
	/* A turn ends; a program's is a message. */
	dl_emu_sl_sched_charge(&a->sched, flow,
			       program && !last && e->mode.whole_messages ? 0 : data + !data, more);
	if (f->active && !more && (!last || f->paced_until <= e->now))
		line_up_flow(e, a, flow);
}

static void take_turn(struct dl_emu *e, struct dl_emu_adapter *a, uint32_t flow)
{
	if (!e->flows[flow].other || !is_out_of_line(e, a, flow))
		make_data(e, a, flow);
}

/* Could a port send the next packet of a queue pair, or must it throw it away? */
static bool next_can_go(struct dl_emu *e, const struct dl_emu_adapter *a, uint32_t flow)
{
	const struct dl_emu_flow *f = &e->flows[flow];
	struct dl_emu_link_port *p = &e->ports[a->port];
	unsigned int vl = a->sl_vl[f->sl];
	uint32_t bytes = next_data(e, f) + headers_of(f);

	if (vl == DL_EMU_NO_VL || dl_link_arb_drops(p->arb.program, vl))
		return true;
	bytes = e->mode.worms && bytes > e->c.flit ? e->c.flit : bytes;
	dl_emu_see_credit(e, &p->vl[vl]);
	return dl_link_credit_may_send(&p->vl[vl].tx, dl_emu_units(e, bytes));
}

/* The SLs that may make a packet now. */
static unsigned int sls_able(struct dl_emu *e, const struct dl_emu_adapter *a)
{
	unsigned int able = a->sched.ready & a->free_sls, ready = able;
	struct dl_emu_link_port *p = &e->ports[a->port];

	if (!a->sched.turn.table || is_cut_off(e, a))
		return able;
	for (unsigned int vls = p->waiting & ((1u << p->vls) - 1); vls; vls &= vls - 1)
		if (dl_link_arb_sends(p->arb.program, __builtin_ctz(vls)) &&
		    dl_emu_has_credit(e, &p->vl[__builtin_ctz(vls)]))
			return 0;
	if (p->hold || p->unheard)
		return 0;
	for (; ready; ready &= ready - 1) {
		unsigned int sl = __builtin_ctz(ready);

		if (!next_can_go(e, a, a->sched.queue[sl].head)) {
			able &= ~(1u << sl);
			dl_emu_wait_for_credit(e, p, 1u << a->sl_vl[sl]);
		}
	}
	if (!able)
		dl_emu_note_starved(e, p);
	return able;
}

/* See dl_emu_fill(). */
void dl_emu_fill_places(struct dl_emu *e, struct dl_emu_adapter *a)
{
	bool change;
	uint32_t flow;

	while (a->sched.ready & a->free_sls && !a->changing && !e->err) {
		flow = dl_emu_sl_sched_pick(&a->sched, sls_able(e, a), &change);
		if (flow == DL_EMU_NO_QP)
			break;
		if (change && e->c.qp_change_ps && a->sched.current != DL_EMU_NO_QP) {
			a->changing = true;
			a->changing_to = flow;
			dl_emu_at(e, e->now + e->c.qp_change_ps, DL_EMU_LOG_OTHER,
				  DL_EMU_EV_QP_SWITCHED, e->ports[a->port].adapter);
			return;
		}
		take_turn(e, a, flow);
	}
}

/* There may be packets to make, and to send. */
void dl_emu_send_more(struct dl_emu *e, struct dl_emu_adapter *a)
{
	dl_emu_fill(e, a);
	dl_emu_transmit(e, &e->ports[a->port]);
}

void dl_emu_qp_switched(struct dl_emu *e, uint32_t adapter)
{
	struct dl_emu_adapter *a = &e->adapters[adapter];

	a->changing = false;
	take_turn(e, a, a->changing_to);
	dl_emu_send_more(e, a);
}

/* A flow has a message, and knows how much of it is left. */
static void begin_sending(struct dl_emu *e, uint32_t flow)
{
	struct dl_emu_flow *f = &e->flows[flow];
	struct dl_emu_adapter *a = &e->adapters[f->adapter];

	f->other = f->active; /* instead of what is sent again */
	if (f->active)
		return;
	f->active = true;
	f->sl = sl_of_message(e, a, &f->message);
	line_up_flow(e, a, flow);
}

/* What a flow has to send over reliable connections. */
static void begin_reliable(struct dl_emu *e, uint32_t flow)
{
	if (e->senders && flow < e->source.nflows && !e->flows[flow].active &&
	    dl_emu_rc_next(e, flow))
		begin_sending(e, flow);
}

static void start_message(struct dl_emu *e, uint32_t flow)
{
	struct dl_emu_flow *f = &e->flows[flow];
	struct dl_emu_adapter *a = &e->adapters[f->adapter];
	bool traffic = flow < e->source.nflows;

	f->waiting = false;
	e->totals.messages += traffic;
	if (e->senders && traffic && dl_emu_rc_start(e, flow)) {
		begin_reliable(e, flow);
		return;
	}
	if (f->message.smp) {
		f->sl = 0;
		make_packet(e, a, flow, DL_EMU_SMP_DATA, DL_EMU_SMP_BYTES, DL_LINK_VL_SMP,
			    DL_EMU_PK_LAST);
		return;
	}
	f->left = f->message.bytes;
	begin_sending(e, flow);
}

/* The next message of a flow, or acknowledgement of an adapter. */
static bool take_message(struct dl_emu *e, uint32_t flow)
{
	struct dl_emu_message *m = &e->flows[flow].message;

	if (flow >= e->source.nflows)
		return dl_emu_rc_next_ack(e, flow, m);
	if (!e->source.next(e->source.context, flow, e->now, m))
		return false;
	if (e->senders)
		dl_emu_rc_due(e, flow);
	return true;
}

/* A flow without a message under way: take its next one. */
void dl_emu_flow_next(struct dl_emu *e, uint32_t flow)
{
	struct dl_emu_flow *f = &e->flows[flow];

	begin_reliable(e, flow);
	while (!f->active && !f->waiting && !f->ended && !e->err) {
		if (f->window && f->under_way >= f->window)
			return;
		if (!take_message(e, flow)) {
			f->ended = true;
			return;
		}
		if (e->mode.worms && f->message.dlid >= DL_TABLES_MCAST_LID && !f->message.smp)
			e->err = -EINVAL;
		f->under_way++;
		if (f->message.at > e->now) {
			f->waiting = true;
			dl_emu_message_at(e, f->message.at, flow, 0);
			return;
		}
		start_message(e, flow);
	}
}

/* See dl_emu_message_at(). */
void dl_emu_message(struct dl_emu *e, uint64_t what)
{
	uint32_t flow = what;
	struct dl_emu_flow *f = &e->flows[flow];
	struct dl_emu_adapter *a = &e->adapters[f->adapter];

	if (what & DL_EMU_EV_BECN) {
		flow_becn(e, f);
		return;
	}
	if (what & DL_EMU_EV_TIMEOUT) {
		dl_emu_rc_timeout(e, flow);
		return;
	}
	if (what & DL_EMU_EV_ENDED)
		f->under_way--;
	else if (what & DL_EMU_EV_PACED)
		line_up_flow(e, a, flow);
	else
		start_message(e, flow);
	if (!f->active)
		dl_emu_flow_next(e, flow);
	dl_emu_send_more(e, a);
}

/* A flow has something to send again. */
void dl_emu_flow_again(struct dl_emu *e, uint32_t flow)
{
	e->flows[flow].ended = false;
	dl_emu_flow_next(e, flow);
	dl_emu_send_more(e, &e->adapters[e->flows[flow].adapter]);
}

/*
 * The flow that is to learn when the last bit of a message leaves: that of
 * multicast in a closed loop, and that of a program, unless acknowledgements tell.
 */
static uint32_t flow_that_waits(const struct dl_emu *e, unsigned int flags, uint32_t flow)
{
	bool multicast = flags & DL_EMU_PK_MCAST && e->flows[flow].window;

	bool program = is_program_flow(e, flow) && !e->senders;

	return flags & DL_EMU_PK_LAST && (multicast || program) ? flow : DL_EMU_NIL;
}

/* An adapter's packet leaves: its place is free again when the tail has gone. */
void dl_emu_leave_adapter(struct dl_emu *e, struct dl_emu_link_port *p, uint32_t packet)
{
	const struct dl_emu_pkt *pk = &e->packets[packet];
	struct dl_emu_origin *from = &e->origins[packet];
	uint64_t *started = &e->adapters[p->adapter].started[dl_emu_vl_of(pk->out)];

	p->sending_what = flow_that_waits(e, pk->flags, from->flow);
	from->injected = pk->flags & DL_EMU_PK_HEAD ? e->now : *started;
	if (!(pk->flags & DL_EMU_PK_TAIL))
		*started = from->injected;
}

/* An adapter's packet has left: the next may be made. */
void dl_emu_left_adapter(struct dl_emu *e, struct dl_emu_link_port *p)
{
	struct dl_emu_adapter *a = &e->adapters[p->adapter];

	if (!(p->sending_flags & DL_EMU_PK_TAIL)) {
		if (a->sched.turn.table) /* the next flit may lack credit */
			dl_emu_fill(e, a);
		return;
	}
	a->free_sls |= a->vl_sls[p->sending_vl];
	if (p->sending_what != DL_EMU_NIL && is_program_flow(e, p->sending_what))
		e->source.sent(e->source.program, e, p->sending_what);
	else if (p->sending_what != DL_EMU_NIL)
		dl_emu_message_at(e, e->now, p->sending_what, DL_EMU_EV_ENDED);
	dl_emu_fill(e, a);
}

/* Which SL goes through which VL of an adapter's port. */
void dl_emu_adapter_maps(struct dl_emu *e, struct dl_emu_adapter *a)
{
	const struct dl_tables *t = e->tables;
	uint32_t there = dl_emu_their_port(e, a->port);
	uint16_t row = there == DL_NONE ? DL_TABLES_NO_ROW : t->end_sl2vl[there];
	const struct dl_emu_link_port *p = &e->ports[a->port];
	unsigned int vls = p->vls;

	a->path_sl = NULL;
	if (t->psl && there != DL_NONE && t->psl_src[there] != DL_NONE)
		a->path_sl = &t->psl[t->psl_src[there] * (size_t)t->npsl_dst];
	for (unsigned int v = 0; v < DL_EMU_VLS; v++)
		a->vl_sls[v] = 0;
	a->free_sls = 0;
	for (unsigned int sl = 0; sl < 16; sl++) {
		unsigned int vl = row == DL_TABLES_NO_ROW ? 0 :
							    dl_tables_sl2vl_get(t->rows[row], sl);

		a->sl_vl[sl] = vl < vls ? vl : DL_EMU_NO_VL;
		if (vl < vls)
			a->vl_sls[vl] |= 1u << sl;
		if (vl >= vls || (p->vl[vl].head == DL_EMU_NIL &&
				  !(p->hold & DL_EMU_SENDING && p->sending_vl == vl)))
			a->free_sls |= 1u << sl;
	}
}

/* ---- receiving --------------------------------------------------------- */

/* A packet's last bit has come to an adapter, which takes it in. */
static void take_packet(struct dl_emu *e, uint32_t packet)
{
	const struct dl_emu_pkt *pk = &e->packets[packet];
	uint32_t in = pk->in, port = dl_emu_port_of(in);
	uint8_t flags = pk->flags;
	uint32_t units = pk->units;
	unsigned int discard = 0;

	if (flags & DL_EMU_PK_LOST && e->mode.worms)
		e->worm[in].discard = 1 + DL_EMU_DROP_CORRUPT;
	if (e->mode.worms && flags & DL_EMU_PK_TAIL) {
		discard = e->worm[in].discard;
		e->worm[in].discard = 0;
	}
	if (!(flags & DL_EMU_PK_TAIL))
		dl_emu_recycle(e, packet);
	else if (discard)
		dl_emu_lose(e, packet, discard - 1);
	else if (!dl_emu_is_for(e, pk->dlid, port))
		dl_emu_lose(e, packet, DL_EMU_DROP_WRONG_END);
	else if (!e->sequence || dl_emu_rc_take(e, packet, port))
		dl_emu_deliver(e, packet, port);
	dl_emu_release(e, in, units);
}

/* Start to take in the next packet, where the adapter is slow. */
void dl_emu_take_in(struct dl_emu *e, struct dl_emu_adapter *a)
{
	uint64_t time;

	if (a->draining || a->stopped || a->head == DL_EMU_NIL || !a->rate)
		return;
	time = dl_emu_rate_time(e->ports[a->port].rate, e->packets[a->head].bytes);
	a->draining = true;
	dl_emu_at(e, e->now + (unsigned __int128)time * 1000000 / a->rate, DL_EMU_LOG_OTHER,
		  DL_EMU_EV_RECEIVE_DONE, e->ports[a->port].adapter);
}

void dl_emu_receive_done(struct dl_emu *e, uint32_t adapter)
{
	struct dl_emu_adapter *a = &e->adapters[adapter];
	uint32_t packet = a->head;

	a->head = e->packets[packet].next;
	a->draining = false;
	take_packet(e, packet);
	dl_emu_take_in(e, a);
}

void dl_emu_receive(struct dl_emu *e, uint32_t packet)
{
	uint32_t port = dl_emu_port_of(e->packets[packet].in);
	struct dl_emu_adapter *a = &e->adapters[e->ports[port].adapter];

	if (!a->stopped && a->rate >= 1000000 && a->head == DL_EMU_NIL) {
		take_packet(e, packet);
		return;
	}
	e->packets[packet].next = DL_EMU_NIL;
	if (a->head == DL_EMU_NIL)
		a->head = packet;
	else
		e->packets[a->tail].next = packet;
	a->tail = packet;
	dl_emu_take_in(e, a);
}
