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
 * first out, with credits; a crossbar that does not limit unless asked to
 * (`speedup`); and an arbiter at each output port.  Credits, flow-control packets
 * and arbiters are those of dateline/link.h.  There is no buffer at the output.  Adapters: see adapter.c.
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
 * those that something waits for, and that delay others.  The files form layers,
 * which state.h lists.
 *
 * Invariants, checked by audit.c when a run comes to rest, and in a debug build
 * (configure --enable-debug) after every event: injected = delivered + dropped + in flight; for
 * each buffer, what is stored and what is free make up its
 * size; no sender holds more credit than is free.
 *
 * Limits: 2^20 ports, 2^22 packets and flow-control packets under way.
 */
#include "config.h"

#include "emu/run.h"
#include "dateline/base.h"

/* ---- events ------------------------------------------------------------ */

/* No packet is under way; nor, with an SL table, one to be made as soon as there is credit. */
static bool is_empty(const struct dl_emu *e)
{
	unsigned int sls = dl_emu_sl_table_sls(e->c.sl_table);
	int64_t live = 0;

	for (uint32_t i = 0; i < e->split.n; i++)
		live += e->split.shard[i]->stock.live;
	for (uint32_t a = 0; sls && !live && a < e->nadapters; a++)
		live = e->adapters[a].sched.ready & sls;
	return !live;
}

/* Flow control alone brings nothing, unless there are packets. */
bool dl_emu_goes_on(const struct dl_emu *e)
{
	bool any = false;

	for (uint32_t i = 0; i < e->split.n; i++)
		any |= dl_emu_events_next(&e->split.shard[i]->events) != UINT64_MAX;
	return any && (!is_empty(e) || !dl_emu_only_reports(e));
}

/* Nothing can happen any more: why?  The books must balance then. */
static int at_rest(struct dl_emu *e)
{
	int err = dl_emu_audit(e, e->log);

	if (!err && is_empty(e))
		return DL_EMU_DONE;
	if (!err && !e->look.cycle.n && !e->c.hoq_life_ps && !e->entered)
		err = dl_emu_look_for_deadlock(e);
	if (err < 0)
		return err;
	return e->look.cycle.n ? DL_EMU_DEADLOCK : DL_EMU_STUCK;
}

/*
 * The regular look.  Returns 1: stop, there is a deadlock.  It needs somebody
 * who asked for credit in vain since the last one.
 */
static int check_regularly(struct dl_emu *e)
{
	bool blocked = false;

	e->look.next = e->now + e->c.check_ps;
	for (uint32_t i = 0; i < e->split.n; i++) {
		blocked |= e->split.shard[i]->look.blocked;
		e->split.shard[i]->look.blocked = false;
	}
	if (!blocked || e->look.cycle.n || e->c.hoq_life_ps || e->entered)
		return 0;
	return dl_emu_look_for_deadlock(e);
}

static void begin_run(struct dl_emu *e)
{
	for (uint32_t f = 0; f < e->source.nflows; f++)
		dl_emu_flow_next(dl_emu_shard(e, e->adapters[e->flows[f].adapter].port), f);
	for (uint32_t a = 0; a < e->nadapters; a++) {
		struct dl_emu *shard = dl_emu_shard(e, e->adapters[a].port);

		dl_emu_fill(shard, &e->adapters[a]);
		dl_emu_transmit(shard, &e->ports[e->adapters[a].port]);
	}
	if (e->source.program)
		e->source.begin(e->source.program, e);
	e->look.next = e->c.check_ps ? e->c.check_ps : DL_EMU_NEVER;
}

bool dl_emu_pauses(const struct dl_emu *e, uint64_t before, uint64_t after)
{
	return before >> DL_EMU_PAUSE_BITS != after >> DL_EMU_PAUSE_BITS && !dl_emu_goes_on(e);
}

/* (After an error what is left of a bucket means nothing.) */
void dl_emu_run_to(struct dl_emu *e, uint64_t until)
{
	int found;

	do {
		dl_emu_serve(e, dl_emu_events_end(&e->events, until));
		found = e->err ? e->err : dl_emu_events_open(&e->events, until);
		if (found <= 0) {
			e->err = found;
			return;
		}
		dl_emu_look_ahead(e);
	} while (e->split.n > 1 || !dl_emu_pauses(e, e->now, e->events.bucket << e->events.shift));
}

static void run_all_shards(struct dl_emu *e, uint64_t until)
{
	if (e->split.n == 1)
		dl_emu_run_to(e, until);
	else
		dl_emu_run_shards(e, until);
}

/* All has happened up to this time. */
static void set_clock(struct dl_emu *e, uint64_t now)
{
	for (uint32_t i = 0; i < e->split.n; i++)
		e->split.shard[i]->now = e->split.shard[i]->credited = now;
}

int dl_emu_run(struct dl_emu *e, uint64_t until)
{
	int err = 0;

	if (!e->begun) {
		e->begun = true;
		begin_run(e);
	}
	e->mode.plain = dl_emu_is_plain(e);
	dl_emu_share(e);
	while (!err && !e->err && dl_emu_goes_on(e) && e->look.next <= until) {
		run_all_shards(e, e->look.next);
		if (!e->err && dl_emu_goes_on(e)) {
			set_clock(e, e->look.next);
			err = check_regularly(e);
		}
	}
	if (!err && !e->err && dl_emu_goes_on(e))
		run_all_shards(e, until);
	if (err || e->err)
		return err > 0 ? DL_EMU_DEADLOCK : err ? err : e->err;
	if (!dl_emu_goes_on(e)) {
		set_clock(e, e->now);
		return at_rest(e);
	}
	set_clock(e, until);
	return DL_EMU_RUNNING;
}

uint64_t dl_emu_now(const struct dl_emu *e)
{
	return e->now;
}
