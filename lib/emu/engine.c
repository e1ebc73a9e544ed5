/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The emulator's engine.
 *
 * Problem.  Run traffic over a fabric as its tables make it run, fast enough
 * for thousands of switches, and exactly: what is measured must follow from
 * the rules, to the picosecond.
 *
 * Model.  Links carry bits at their data rate (rate.c) and delay them by 5 ns
 * a metre.  A switch has a buffer for each VL of each input port, first in,
 * first out, with credits (link/credit.h); a crossbar that does not limit
 * unless asked to (`speedup`); and an arbiter (link/arbiter.h) at each output
 * port.  There is no buffer at the output.  Adapters: see adapter.c.
 *
 * Times at no load, for a packet of B bytes with headers, over h links with
 * the same time t(B) for it, through h - 1 switches of latency L, the cables'
 * delays adding up to D:
 *
 *	store and forward	D + h t(B) + (h - 1) L
 *	cut-through		D + t(B) + (h - 1) (t(8) + L)
 *	wormhole		D + (h - 1) (t(F) + L) + (n - 1) t(F) + t(R)
 *
 * t(n) is the time of n bytes rounded up to a picosecond.  8 bytes are the
 * local route header, all that a switch needs.  The worm has n flits, the
 * last one of R bytes and the others of F; flits carry no header of their
 * own.  In cut-through a faster output waits so long that the last bit does
 * not leave before it is there.
 *
 * Headers are those of an unreliable datagram without its DETH: 26 bytes;
 * multicast has GRH and DETH as well.  A flow-control packet is 8 symbols
 * long and takes 8 bytes' time.
 *
 * Method.  Discrete events (events.h).  A packet costs two events a hop, that
 * it can be looked at and that its tail has left; flow-control packets only
 * those that something waits for, and that delay others.  Files: transmit.c is
 * a link's sender, forward.c the inside of a switch, adapter.c the adapters,
 * deadlock.c finds deadlocks.
 *
 * Invariants, checked by audit.c when a run comes to rest, and in a debug build
 * (configure --enable-debug) after every event: injected = delivered + dropped + in flight; for
 * each buffer, what is stored and what is free make up its
 * size; no sender holds more credit than is free.
 *
 * Limits: 2^20 ports, 2^22 packets and flow-control packets under way.
 */
#include "config.h"

#include <string.h>

#include "emu/internal.h"
#include "dateline/base.h"

/* ---- packets ----------------------------------------------------------- */

#define NO_PACKETS 1024 /* to begin with */

static int more_packets(struct dl_emu *e)
{
	uint64_t cap = e->packets_cap ? 2 * (uint64_t)e->packets_cap : NO_PACKETS;
	struct dl_emu_pkt *packets;
	struct dl_emu_origin *origins;

	if (e->c.max_packets && cap > e->c.max_packets)
		cap = e->c.max_packets;
	if (cap <= e->packets_cap || cap > DL_EMU_EV_PACKET)
		return -EOVERFLOW;
	packets = dl_array_large(cap, sizeof(*packets));
	origins = dl_array_large(cap, sizeof(*origins));
	if (!packets || !origins) {
		free(packets);
		free(origins);
		return -ENOMEM;
	}
	if (e->npackets) {
		memcpy(packets, e->packets, e->npackets * sizeof(*packets));
		memcpy(origins, e->origins, e->npackets * sizeof(*origins));
	}
	free(e->packets);
	free(e->origins);
	e->packets = packets;
	e->origins = origins;
	e->packets_cap = cap;
	return 0;
}

uint32_t dl_emu_packet(struct dl_emu *e)
{
	uint32_t packet = e->free_packet;

	if (packet != DL_EMU_NIL) {
		e->free_packet = e->packets[packet].next;
	} else {
		if (e->npackets == e->packets_cap) {
			int err = more_packets(e);

			if (err) {
				e->err = err;
				return DL_EMU_NIL;
			}
		}
		packet = e->npackets++;
	}
	e->live++;
	return packet;
}

/* ---- events ------------------------------------------------------------ */

static __attribute__((noinline)) void dispatch(struct dl_emu *e, uint64_t what)
{
	uint32_t channel = what >> DL_EMU_EV_CHANNEL & (DL_EMU_PORTS_MAX * DL_EMU_VLS - 1);
	uint32_t packet = what & DL_EMU_EV_PACKET;

	switch ((enum dl_emu_event_kind)(what >> DL_EMU_EV_KIND)) {
	case DL_EMU_EV_CREDIT:
		dl_emu_credit(e, channel, packet);
		break;
	case DL_EMU_EV_READY:
		dl_emu_ready(e, packet);
		break;
	case DL_EMU_EV_WAKE:
		e->ports[dl_emu_port_of(channel)].wake = false;
		dl_emu_transmit(e, dl_emu_port_of(channel));
		break;
	case DL_EMU_EV_MESSAGE:
		dl_emu_message(e, what & (2 * DL_EMU_EV_ENDED - 1));
		break;
	case DL_EMU_EV_QP_SWITCHED:
		dl_emu_qp_switched(e, what);
		break;
	case DL_EMU_EV_RECEIVE_DONE:
		dl_emu_receive_done(e, what);
		break;
	case DL_EMU_EV_HOQ:
		dl_emu_expire(e, packet);
		break;
	case DL_EMU_EV_PERIODIC:
		dl_emu_periodic(e, dl_emu_port_of(channel));
		break;
	case DL_EMU_EV_TAIL:
	case DL_EMU_EV_ARRIVE: /* in logs of their own */
		break;
	}
}

/*
 * Can something happen yet?  Timers alone bring nothing, unless there are
 * packets whose credit was lost.
 */
static bool goes_on(const struct dl_emu *e)
{
	return dl_emu_events_count(&e->events) > e->background || (e->timers && e->live);
}

/* Nothing can happen any more: why?  The books must balance then. */
static int at_rest(struct dl_emu *e)
{
	int err = dl_emu_audit(e, e->log);

	if (!err && !e->live)
		return DL_EMU_DONE;
	if (!err && !e->cycle.n && !e->c.hoq_life_ps)
		err = dl_emu_look_for_deadlock(e);
	if (err < 0)
		return err;
	return e->cycle.n ? DL_EMU_DEADLOCK : DL_EMU_STUCK;
}

/* The regular look.  Returns 1: stop, there is a deadlock. */
static int check(struct dl_emu *e)
{
	int found;

	e->next_check = e->now + e->c.check_ps;
	if (!e->live || e->cycle.n || e->c.hoq_life_ps)
		return 0;
	found = dl_emu_look_for_deadlock(e);
	return found > 0 ? e->c.stop_on_deadlock : found;
}

static int begin(struct dl_emu *e)
{
	for (uint32_t f = 0; f < e->source.nflows; f++)
		dl_emu_flow_next(e, f);
	for (uint32_t a = 0; a < e->nadapters; a++) {
		dl_emu_fill(e, &e->adapters[a]);
		dl_emu_transmit(e, e->adapters[a].port);
	}
	e->next_check = e->c.check_ps ? e->c.check_ps : DL_EMU_NEVER;
	return e->err;
}

/* All events up to a time. */
static void run_to(struct dl_emu *e, uint64_t until)
{
	struct dl_emu_event ev = { 0 };
	int found;

	while (!e->err && goes_on(e)) {
		uint32_t channel;

		found = dl_emu_events_pop(&e->events, until, &ev);
		if (found == 2) {
			dl_emu_look_ahead(e);
			continue;
		}
		if (found <= 0) {
			e->err = found;
			return;
		}
		channel = ev.what >> DL_EMU_EV_CHANNEL & (DL_EMU_PORTS_MAX * DL_EMU_VLS - 1);
		e->now = ev.time;
		/* Tails come before the credit of the same time. */
		e->credited = ev.time - (ev.log == DL_EMU_LOG_TAIL);
		e->totals.events++;
		switch (ev.log) {
		case DL_EMU_LOG_TAIL:
			dl_emu_tail_sent(e, dl_emu_port_of(channel));
			break;
		case DL_EMU_LOG_ARRIVE:
			dl_emu_arrive(e, channel, ev.what & DL_EMU_EV_PACKET);
			break;
		case DL_EMU_LOG_TAKE:
			dl_emu_take(e, channel, ev.what & DL_EMU_EV_PACKET);
			break;
		default:
			dispatch(e, ev.what);
		}
#ifdef DL_EMU_AUDIT
		if (!e->err)
			e->err = dl_emu_audit(e, e->log);
#endif
	}
}

int dl_emu_run(struct dl_emu *e, uint64_t until)
{
	int err = 0;

	if (!e->begun) {
		e->begun = true;
		err = begin(e);
	}
	while (!err && !e->err && goes_on(e) && e->next_check <= until) {
		run_to(e, e->next_check);
		if (!e->err && goes_on(e)) {
			e->now = e->credited = e->next_check;
			err = check(e);
		}
	}
	if (!err)
		run_to(e, until);
	if (err || e->err)
		return err > 0 ? DL_EMU_DEADLOCK : err ? err : e->err;
	e->credited = e->now;
	if (!goes_on(e))
		return at_rest(e);
	e->now = e->credited = until;
	return DL_EMU_RUNNING;
}

uint64_t dl_emu_now(const struct dl_emu *e)
{
	return e->now;
}
